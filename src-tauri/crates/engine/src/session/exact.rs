//! What is promised of a reply's text.

use foretoken_protocol::{AcceptanceRule, Exactness, Sampling};

use crate::model::{BatchInvariance, InvariantSteps};

/// The steps that wrote a reply.
#[derive(Debug, Default)]
pub(super) struct ExactSteps {
    /// Tokens of the reply's own in each, the fewest, and of all rows, the most; `None` before the first.
    widths: Option<(usize, usize)>,
    /// Whether tokens of the reply were read as if they had been in the prompt, behind a step that failed.
    read_again: bool,
}

impl ExactSteps {
    /// One more, of `own` tokens of the reply's and `all` of all rows.
    pub(super) fn step(&mut self, own: usize, all: usize) {
        let (least, most) = self.widths.unwrap_or((own, all));
        self.widths = Some((least.min(own), most.max(all)));
    }

    /// What was written is read like a prompt.
    pub(super) fn read_again(&mut self) {
        self.read_again = true;
    }

    /// What drafts and neighbours leave of the text, which was drawn so and ends at so many positions: the same one
    /// where the device gave its tokens the bits that any other steps would have given them.
    pub(super) fn promised(
        &self,
        invariance: &BatchInvariance,
        positions: usize,
        sampling: &Sampling,
    ) -> Exactness {
        let by_seed = sampling.temperature == 0.0 || sampling.acceptance == AcceptanceRule::Coupled;
        let same_bits = self
            .widths
            .is_none_or(|(least, most)| invariance.holds(InvariantSteps { least, most, context: positions }));
        let as_if_never_read = !self.read_again || *invariance == BatchInvariance::complete();
        if by_seed && same_bits && as_if_never_read { Exactness::Bitwise } else { Exactness::Distribution }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A GPU that computes a single token in a way of its own, and more than five in another.
    fn few() -> BatchInvariance {
        BatchInvariance::new(vec![InvariantSteps { least: 2, most: 5, context: 9000 }])
    }

    fn promised(invariance: &BatchInvariance, widths: &[(usize, usize)], sampling: Sampling) -> Exactness {
        let mut steps = ExactSteps::default();
        widths.iter().for_each(|&(own, all)| steps.step(own, all));
        steps.promised(invariance, 300, &sampling)
    }

    #[test]
    fn only_texts_that_follow_their_seed_are_promised_bit_by_bit() {
        let greedy = Sampling::default();
        let coupled = Sampling { temperature: 0.7, acceptance: AcceptanceRule::Coupled, ..greedy };
        let by_chance = Sampling { acceptance: AcceptanceRule::Rejection, ..coupled };
        for (sampling, promise) in [
            (greedy, Exactness::Bitwise),
            (coupled, Exactness::Bitwise),
            (by_chance, Exactness::Distribution),
        ] {
            assert_eq!(promised(&BatchInvariance::complete(), &[(1, 1), (4, 9)], sampling), promise);
            assert_eq!(promised(&few(), &[(2, 2), (3, 5)], sampling), promise);
        }
    }

    #[test]
    fn one_step_of_another_kind_is_enough_to_promise_less() {
        let greedy = Sampling::default();
        assert_eq!(promised(&few(), &[(3, 3), (1, 2), (3, 3)], greedy), Exactness::Distribution);
        assert_eq!(promised(&few(), &[(3, 3), (2, 6), (3, 3)], greedy), Exactness::Distribution);
        assert_eq!(promised(&few(), &[], greedy), Exactness::Bitwise);
        let mut long = ExactSteps::default();
        long.step(2, 2);
        assert_eq!(long.promised(&few(), 9000, &greedy), Exactness::Bitwise);
        assert_eq!(long.promised(&few(), 9001, &greedy), Exactness::Distribution);
    }

    #[test]
    fn what_is_read_again_has_the_bits_of_a_prompt() {
        let mut steps = ExactSteps::default();
        steps.step(2, 2);
        steps.read_again();
        assert_eq!(steps.promised(&few(), 300, &Sampling::default()), Exactness::Distribution);
        let everywhere = BatchInvariance::complete();
        assert_eq!(steps.promised(&everywhere, 300, &Sampling::default()), Exactness::Bitwise);
    }
}
