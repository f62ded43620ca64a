//! What is promised of a reply's text.

use std::ops::Range;

use foretoken_protocol::{AcceptanceRule, Exactness, Sampling};

use crate::model::{BatchInvariance, InvariantSteps};

/// The steps that write a reply.
#[derive(Debug)]
pub(super) struct ExactSteps {
    /// Whether its tokens follow from its seed and the model's logits, whatever is drafted.
    by_seed: bool,
    /// Tokens of its own in each step, the fewest, and of all rows, the most; `None` before the first.
    widths: Option<(usize, usize)>,
    /// Whether tokens of the reply were read as if they had been in the prompt, behind a step that failed.
    read_again: bool,
}

impl ExactSteps {
    /// None yet, of a reply that is drawn so.
    pub(super) fn of(sampling: &Sampling) -> Self {
        let by_seed = sampling.temperature == 0.0 || sampling.acceptance != AcceptanceRule::Rejection;
        Self { by_seed, widths: None, read_again: false }
    }

    /// One more, of `own` tokens of the reply's and `all` of all rows.
    pub(super) fn step(&mut self, own: usize, all: usize) {
        let (least, most) = self.widths.unwrap_or((own, all));
        self.widths = Some((least.min(own), most.max(all)));
    }

    /// What was written is read like a prompt.
    pub(super) fn read_again(&mut self) {
        self.read_again = true;
    }

    /// What drafts and neighbours leave of the text at these positions: the same one where the device gave its tokens
    /// the bits that other steps would have given them, and no part of it was read like a prompt.
    pub(super) fn promised(&self, invariance: &BatchInvariance, positions: Range<usize>) -> Exactness {
        let same_bits = self.widths.is_none_or(|(least, most)| {
            let steps = InvariantSteps { least, most, context: positions.end };
            invariance.holds(steps, positions.start)
        });
        if self.by_seed && same_bits && !self.read_again {
            Exactness::Bitwise
        } else {
            Exactness::Distribution
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A GPU that computes a single token in a way of its own, and more than five in another.
    fn few() -> BatchInvariance {
        BatchInvariance::Tried(vec![InvariantSteps { least: 2, most: 5, context: 9000 }])
    }

    fn promised(invariance: &BatchInvariance, widths: &[(usize, usize)], sampling: Sampling) -> Exactness {
        let mut steps = ExactSteps::of(&sampling);
        widths.iter().for_each(|&(own, all)| steps.step(own, all));
        steps.promised(invariance, 200..300)
    }

    #[test]
    fn only_texts_that_follow_their_seed_are_promised_bit_by_bit() {
        let greedy = Sampling::default();
        let coupled = Sampling { temperature: 0.7, acceptance: AcceptanceRule::Coupled, ..greedy };
        let strict = Sampling { acceptance: AcceptanceRule::Strict, ..coupled };
        let by_chance = Sampling { acceptance: AcceptanceRule::Rejection, ..coupled };
        for (sampling, promise) in [
            (greedy, Exactness::Bitwise),
            (coupled, Exactness::Bitwise),
            (strict, Exactness::Bitwise),
            (by_chance, Exactness::Distribution),
        ] {
            assert_eq!(promised(&BatchInvariance::Complete, &[(1, 1), (4, 9)], sampling), promise);
            assert_eq!(promised(&few(), &[(2, 2), (3, 5)], sampling), promise);
        }
    }

    #[test]
    fn one_step_of_another_kind_is_enough_to_promise_less() {
        let greedy = Sampling::default();
        assert_eq!(promised(&few(), &[(3, 3), (1, 2), (3, 3)], greedy), Exactness::Distribution);
        assert_eq!(promised(&few(), &[(3, 3), (2, 6), (3, 3)], greedy), Exactness::Distribution);
        assert_eq!(promised(&few(), &[], greedy), Exactness::Bitwise);
        let mut long = ExactSteps::of(&greedy);
        long.step(2, 2);
        assert_eq!(long.promised(&few(), 8500..9000), Exactness::Bitwise);
        assert_eq!(long.promised(&few(), 8500..9001), Exactness::Distribution);
    }

    #[test]
    fn what_is_read_again_has_the_bits_of_a_prompt() {
        let mut steps = ExactSteps::of(&Sampling::default());
        steps.step(2, 2);
        steps.read_again();
        assert_eq!(steps.promised(&few(), 200..300), Exactness::Distribution);
        assert_eq!(steps.promised(&BatchInvariance::Complete, 200..300), Exactness::Distribution);
    }
}
