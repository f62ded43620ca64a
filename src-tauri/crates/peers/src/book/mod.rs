//! Which Macs are paired with this one, and on what terms; and that which ends with a pairing.

mod shared;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::identity::PublicKey;

pub(crate) use shared::Stay;
pub use shared::{Changes, Peers};

/// The paired Macs. Whoever has it stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Book {
    /// Each by its key.
    pub peers: BTreeMap<PublicKey, Peer>,
}

/// A paired Mac.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// What it calls itself: one line of at most 64 characters.
    pub name: String,
    /// On what terms it may use this Mac; `None`: not at all.
    #[serde(default)]
    pub borrows: Option<Terms>,
    /// Whether it lets this Mac use it.
    #[serde(default)]
    pub lends: bool,
}

/// On what terms a Mac may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The most memory, in bytes; `None`: as much as is free.
    #[serde(default)]
    pub most_bytes: Option<u64>,
    /// Not on battery.
    #[serde(default)]
    pub only_on_power: bool,
}

/// What a paired Mac is to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// It uses this Mac.
    Borrower,
    /// It is used by this Mac.
    Lender,
}

impl Book {
    fn has(&self, key: &PublicKey, role: Role) -> bool {
        self.peers.get(key).is_some_and(|peer| match role {
            Role::Borrower => peer.borrows.is_some(),
            Role::Lender => peer.lends,
        })
    }
}
