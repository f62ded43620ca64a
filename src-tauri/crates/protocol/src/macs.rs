//! Other Macs: those that lend themselves to this one, those that may use this one, and how a model is spread over
//! several.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::ErrorReport;

/// The port at which a Mac lends itself until its owner chooses another.
pub const LENDING_PORT: u16 = 7421;

/// How much of its disk a Mac that lends itself gives to layers until its owner says something else, in GB.
pub const KEPT_GIGABYTES: u32 = 100;

/// On what terms this Mac lends itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct LendingSettings {
    /// Whether paired Macs may use this one.
    pub on: bool,
    /// Where it listens.
    pub port: u16,
    /// The most memory that a model may take here, in GB (10⁹ bytes); `None`: as much as this Mac gives models.
    pub most_gigabytes: Option<u32>,
    /// How much of the disk layers of models may take that others give this Mac, in GB; `None`: it keeps none.
    pub keep_gigabytes: Option<u32>,
    /// Not on battery.
    pub only_on_power: bool,
    /// Its owner comes first: nobody gets it while a model writes for them, and a loan ends when theirs is loaded.
    pub only_unused: bool,
}

impl Default for LendingSettings {
    fn default() -> Self {
        Self {
            on: false,
            port: LENDING_PORT,
            most_gigabytes: None,
            keep_gigabytes: Some(KEPT_GIGABYTES),
            only_on_power: true,
            only_unused: true,
        }
    }
}

/// Other Macs as the page shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct OtherMacs {
    /// What this Mac calls itself.
    pub name: String,
    /// Its chip, where the system tells.
    pub chip: Option<String>,
    /// Memory that it gives models, in bytes.
    pub usable_bytes: u64,
    /// Whether it lends itself.
    pub lending: Lending,
    /// The paired Macs, by name.
    pub paired: Vec<PairedMac>,
    /// Macs of the network that lend themselves and are not paired yet. Empty unless somebody looks for them.
    pub near: Vec<NearMac>,
    /// The pairing that is under way, or what became of the last.
    pub pairing: Option<MacPairing>,
    /// Another Mac that is being given layers, so that a model can be loaded.
    pub giving: Option<Giving>,
    /// The models that are loaded over several Macs.
    pub spread: Vec<SpreadModel>,
}

/// How far another Mac has been given its layers of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Giving {
    /// The model's folder.
    pub path: String,
    /// What the other Mac calls itself.
    pub mac: String,
    /// Bytes that are there.
    pub done_bytes: u64,
    /// Of so many.
    pub all_bytes: u64,
    /// How fast they go there; 0 until it is known.
    pub bytes_per_second: f64,
}

/// Layers of a model that another Mac has given to this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct StoredLayers {
    /// By what they are removed.
    pub id: String,
    /// The name of the model.
    pub model: String,
    /// What the other Mac called itself then.
    pub mac: String,
    /// How many layers.
    pub layers: u32,
    /// What they take on the disk.
    pub bytes: u64,
    /// Whether they are in use, or more of them are arriving.
    pub in_use: bool,
}

/// A model that is loaded over several Macs whenever it is loaded, as its owner has chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SpreadModel {
    /// Its folder.
    pub path: String,
    /// The Macs in the order of their layers; this one is the first.
    pub parts: Vec<SpreadPart>,
}

/// Whether this Mac lends itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Lending {
    /// What its owner chose.
    pub settings: LendingSettings,
    /// Where others find it, `host:port`; `None` while it does not listen.
    pub address: Option<String>,
    /// Why it does not listen though it should.
    pub error: Option<ErrorReport>,
    /// Who uses it now.
    pub in_use: Option<Loan>,
    /// Until when others may pair with it, milliseconds since 1970; `None`: nobody may.
    pub open_until: Option<u64>,
    /// Layers of models that others have given it, those that were used last at first.
    pub stored: Vec<StoredLayers>,
}

/// That another Mac uses this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Loan {
    /// Its key.
    pub key: String,
    /// What it calls itself.
    pub mac: String,
    /// The model of which this Mac computes a part.
    pub model: String,
    /// Since when, milliseconds since 1970.
    pub since: u64,
}

/// A paired Mac.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct PairedMac {
    /// The digest of its key, which names it.
    pub key: String,
    /// What it calls itself.
    pub name: String,
    /// Where it was last found, `host:port`; `None` for one that does not lend itself to this one.
    pub address: Option<String>,
    /// Whether this Mac may use it.
    pub lends: bool,
    /// Whether it may use this one.
    pub borrows: bool,
    /// What is known of it now.
    pub state: MacState,
    /// How fast the way to it was when it was last measured.
    pub link: Option<MacLink>,
}

/// What is known of a paired Mac.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum MacState {
    /// It was not asked.
    #[default]
    Unknown,
    /// It is being asked, or the way to it is being measured.
    Asking,
    /// It answers.
    Here {
        /// Its chip.
        chip: String,
        /// Memory that it gives a model of this Mac's, in bytes.
        free_bytes: u64,
        /// Models in its library.
        models: u32,
    },
    /// It does not.
    Away {
        /// Why.
        error: ErrorReport,
    },
}

/// How fast the way to another Mac is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct MacLink {
    /// There and back, in milliseconds.
    pub round_trip_ms: f64,
    /// Bytes a second there.
    pub sent_per_second: f64,
    /// Bytes a second back.
    pub received_per_second: f64,
    /// When, milliseconds since 1970.
    pub measured_at: u64,
}

/// A Mac of the network that lends itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct NearMac {
    /// What it calls itself.
    pub name: String,
    /// Where it is, `host:port`.
    pub address: String,
}

/// How far a pairing has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum MacPairing {
    /// The other Mac is being asked.
    Asking {
        /// Where it is, or what it calls itself.
        whom: String,
    },
    /// Both show the digits.
    Compare {
        /// What the other Mac calls itself.
        name: String,
        /// Six of them.
        digits: String,
        /// Until when, milliseconds since 1970.
        until: u64,
        /// Whether the other Mac is to use this one; otherwise this one is to use it.
        borrows: bool,
        /// Whether this Mac's person has said that they are the same.
        confirmed: bool,
    },
    /// The two are paired.
    Paired {
        /// What the other Mac calls itself.
        name: String,
        /// Whether it may use this one; otherwise this one may use it.
        borrows: bool,
    },
    /// They are not.
    Failed {
        /// Why.
        error: ErrorReport,
    },
}

/// How a model would lie on several Macs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Spreading {
    /// The Macs in the order of their layers; this one is the first.
    pub parts: Vec<SpreadPart>,
    /// The longest chat that fits, in tokens.
    pub context: u32,
    /// Tokens a second without drafts, calculated from memory bandwidths and links.
    pub tokens_per_second: f64,
}

/// What one Mac has of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SpreadPart {
    /// The Mac's key; `None` is this one.
    pub key: Option<String>,
    /// What it calls itself.
    pub name: String,
    /// How many layers.
    pub layers: u32,
    /// Memory that they take at that context, in bytes.
    pub bytes: u64,
    /// Memory that it gives models, in bytes.
    pub usable_bytes: u64,
}

/// What paired Macs could do for a model of this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "outlook", rename_all = "snake_case")]
pub enum SpreadOutlook {
    /// It fits on them.
    Fits {
        /// How.
        spreading: Spreading,
        /// Paired Macs that it fits without.
        left_out: Vec<String>,
    },
    /// None of them has it or keeps layers.
    Lacking {
        /// These Macs.
        macs: Vec<String>,
    },
    /// It does not fit on all of them together.
    TooBig {
        /// Memory that all of them give models, in bytes.
        usable_bytes: u64,
    },
    /// No paired Mac answers.
    Nobody,
}

/// A Mac of those that compute the loaded model, as it works now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct RingMac {
    /// What it calls itself; the first is this one.
    pub name: String,
    /// How many layers it has.
    pub layers: u32,
    /// Memory that its part of the model takes, in bytes.
    pub bytes: u64,
    /// What a step takes it, in milliseconds: a mean of the last ones; `None` before the first.
    pub step_ms: Option<f64>,
}

/// The Macs that compute the loaded model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct RingView {
    /// In the order of their layers; empty where this Mac computes alone.
    pub macs: Vec<RingMac>,
    /// What a step takes between them, in milliseconds: a mean of the last ones.
    pub link_ms: Option<f64>,
}
