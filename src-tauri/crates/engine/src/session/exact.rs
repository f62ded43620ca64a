//! What is promised of a reply's text.

use foretoken_protocol::{AcceptanceRule, Exactness, Sampling};

use crate::mlx::{self, DeviceKind};
use crate::model::Qwen;

/// Whether this device gives a row of the model the same bits however many others stand beside it. That the processor
/// does is tested; others are tried.
pub(super) fn is_bitwise(model: &Qwen) -> bool {
    mlx::device() == DeviceKind::Cpu
        || model.gives_same_bits().unwrap_or_else(|error| {
            tracing::warn!("texts are not promised to be the same bit by bit: {error}");
            false
        })
}

/// What drafts and neighbours leave of a text that is drawn so, `bitwise` where a row gets the same bits in any company.
pub(super) fn promised(bitwise: bool, sampling: &Sampling) -> Exactness {
    let by_seed = sampling.temperature == 0.0 || sampling.acceptance == AcceptanceRule::Coupled;
    if bitwise && by_seed { Exactness::Bitwise } else { Exactness::Distribution }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_that_follow_their_seed_are_promised_bit_by_bit() {
        let coupled = Sampling { temperature: 0.7, ..Sampling::default() };
        let by_chance = Sampling { acceptance: AcceptanceRule::Rejection, ..coupled };
        let greedy = Sampling { temperature: 0.0, ..by_chance };
        for (bitwise, sampling, promise) in [
            (true, coupled, Exactness::Bitwise),
            (true, greedy, Exactness::Bitwise),
            (true, by_chance, Exactness::Distribution),
            (false, coupled, Exactness::Distribution),
            (false, greedy, Exactness::Distribution),
        ] {
            assert_eq!(promised(bitwise, &sampling), promise, "{bitwise} {sampling:?}");
        }
    }
}
