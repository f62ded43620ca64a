//! What is promised of a reply's text.

use foretoken_protocol::{AcceptanceRule, Exactness, Sampling};

use crate::mlx::DeviceKind;

/// What drafts and neighbours leave of a text that is drawn so on a device. The processor gives a row the same bits
/// however many others stand beside it; no GPU has been shown to.
pub(super) fn promised(device: DeviceKind, sampling: &Sampling) -> Exactness {
    let by_seed = sampling.temperature == 0.0 || sampling.acceptance == AcceptanceRule::Coupled;
    match device {
        DeviceKind::Cpu if by_seed => Exactness::Bitwise,
        DeviceKind::Cpu | DeviceKind::Metal | DeviceKind::Cuda => Exactness::Distribution,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_processor_and_texts_that_follow_their_seed_are_promised_bit_by_bit() {
        let coupled = Sampling { temperature: 0.7, ..Sampling::default() };
        let by_chance = Sampling { acceptance: AcceptanceRule::Rejection, ..coupled };
        let greedy = Sampling { temperature: 0.0, ..by_chance };
        for (device, sampling, promise) in [
            (DeviceKind::Cpu, coupled, Exactness::Bitwise),
            (DeviceKind::Cpu, greedy, Exactness::Bitwise),
            (DeviceKind::Cpu, by_chance, Exactness::Distribution),
            (DeviceKind::Metal, coupled, Exactness::Distribution),
            (DeviceKind::Cuda, greedy, Exactness::Distribution),
        ] {
            assert_eq!(promised(device, &sampling), promise, "{device:?} {sampling:?}");
        }
    }
}
