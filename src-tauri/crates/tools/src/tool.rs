//! A tool as all parts of the app see it, whoever provides it: what it is called, what it takes, what it reaches, and
//! what came of a call.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a tool is, in the words of whoever provides it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name within its server.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the model reads of it.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Map<String, Value>,
    /// The JSON Schema of its structured results, where it tells one.
    pub results: Option<Map<String, Value>>,
    /// What it says of itself; never a reason not to ask.
    pub claims: Claims,
}

/// What a server claims of a tool; `None` where it says nothing. Nothing of it can be relied on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// It changes nothing.
    pub reads_only: Option<bool>,
    /// It may delete or replace.
    pub destroys: Option<bool>,
    /// To call it once more with the same arguments does nothing more.
    pub repeatable: Option<bool>,
    /// It reaches beyond this machine.
    pub reaches_out: Option<bool>,
}

/// What a call may do beside giving a result. Of tools of others all is assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// What it reads may be the person's alone.
    pub reads_private: bool,
    /// What it reads was written by strangers, who may want the model to do something.
    pub reads_untrusted: bool,
    /// It changes something that stays.
    pub changes: bool,
    /// Something of its arguments leaves the machine.
    pub sends_out: bool,
}

impl Effects {
    /// None: it computes.
    pub const NONE: Self =
        Self { reads_private: false, reads_untrusted: false, changes: false, sends_out: false };
    /// All: nothing is known of it.
    pub const ALL: Self = Self { reads_private: true, reads_untrusted: true, changes: true, sends_out: true };
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The parts of the result, in order.
    pub parts: Vec<ResultPart>,
    /// Whether the tool says that it failed. The model reads that, and can mend its call.
    pub failed: bool,
}

impl Outcome {
    /// A result that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![ResultPart::Text { text: text.into() }], failed: false }
    }

    /// A failure that the model can mend, in a sentence for it.
    pub fn failure(text: impl Into<String>) -> Self {
        Self { failed: true, ..Self::text(text) }
    }
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ResultPart {
    /// A text.
    Text {
        /// As it came.
        text: String,
    },
    /// A picture; the person sees it, the model is told that there is one.
    Picture {
        /// What it is said to be, such as `image/png`.
        media_type: String,
        /// In base64, as it came.
        data: String,
    },
    /// Something that is neither: a sound, a file. It is named, not kept.
    Other {
        /// What it is said to be.
        media_type: String,
        /// What it is called.
        name: String,
        /// Bytes that came.
        bytes: u64,
    },
    /// The address of something. It is shown as a text and never fetched.
    Link {
        /// As it came.
        address: String,
        /// What it is called.
        name: String,
    },
}
