//! Computes how many bytes of memory a model needs for a chat of a given length, and judges whether that fits what a
//! computer has for models.

use serde::{Deserialize, Serialize};

/// A model that takes more of the memory for models than this leaves too little for longer chats.
const COMFORTABLE: f64 = 0.8;

/// What a model takes in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryNeed {
    /// Its tensors, in bytes.
    pub weight_bytes: u64,
    /// What one more token of context takes, in bytes: keys and values of the trunk and of the MTP head, and its scores
    /// with each of the 512 tokens of a prompt that are read at a time, which the GPU keeps for heads of 256 numbers.
    pub bytes_per_token: u64,
    /// What a chat takes whatever its length, in bytes: the recurrent states and their checkpoint.
    pub state_bytes: u64,
}

impl MemoryNeed {
    /// Bytes in all for one chat of `context` tokens.
    pub fn at(&self, context: u64) -> u64 {
        self.weight_bytes
            .saturating_add(self.bytes_per_token.saturating_mul(context))
            .saturating_add(self.state_bytes)
    }
}

/// Whether a model fits a computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// With room for other programs and longer chats.
    Well,
    /// Only just.
    Tight,
    /// Not at all.
    TooBig,
}

/// Whether something that needs `need` bytes fits a computer that has `available` bytes for models.
pub fn fit(need: u64, available: u64) -> Fit {
    match need {
        need if need as f64 <= available as f64 * COMFORTABLE => Fit::Well,
        need if need <= available => Fit::Tight,
        _ => Fit::TooBig,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_changes_at_the_budget_and_below_it() {
        let of = |need| fit(need, 750);
        assert_eq!(
            [of(0), of(600), of(601), of(750), of(751)],
            [Fit::Well, Fit::Well, Fit::Tight, Fit::Tight, Fit::TooBig]
        );
        assert_eq!(fit(1, 0), Fit::TooBig);
        assert_eq!(fit(u64::MAX, u64::MAX), Fit::Tight);
    }

    #[test]
    fn context_counts_by_the_token() {
        let need = MemoryNeed { weight_bytes: 100, bytes_per_token: 3, state_bytes: 7 };
        assert_eq!((need.at(0), need.at(10)), (107, 137));
        assert_eq!(need.at(u64::MAX), u64::MAX);
    }
}
