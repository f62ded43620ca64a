//! What a conversion is to come to.

use serde::{Deserialize, Serialize};

/// How large or how close to the original a result is to be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// So many bits a weight at most, over all tensors of the result.
    Bits(f64),
    /// So many bytes at most, all tensors together.
    Bytes(u64),
    /// As few bytes as it takes to be as close as this.
    Closeness(Closeness),
}

/// How close to the original, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closeness {
    /// A small model, whose words differ now and then.
    Small,
    /// A model that few tell from the original.
    Balanced,
    /// A model that is nearly the original.
    Close,
}

impl Closeness {
    /// The KL divergence from the original that it stands for, in nats a token.
    pub fn most_kl(self) -> f64 {
        match self {
            Self::Small => 0.1,
            Self::Balanced => 0.03,
            Self::Close => 0.006,
        }
    }
}
