//! Whether a model runs on this machine.

use foretoken_library::Fit as Verdict;
use foretoken_protocol::{Fit, FitVerdict};

/// The context that models are judged at, in tokens: a long chat, or a document and a few questions about it.
pub(super) const CONTEXT: u32 = 16_384;
/// The part of the memory that Metal lets a program use on most Macs; the rest is the system's.
pub(super) const GPU_SHARE: f64 = 0.75;

/// The verdict for a model that needs so many bytes at [`CONTEXT`], on a machine with `ram` bytes.
pub(super) fn fit(need_bytes: u64, ram: u64) -> Fit {
    let verdict = match foretoken_library::fit(need_bytes, ram, GPU_SHARE) {
        Verdict::Well => FitVerdict::FitsWell,
        Verdict::Tight => FitVerdict::Tight,
        Verdict::TooBig => FitVerdict::TooBig,
    };
    Fit { verdict, need_bytes, available_bytes: available(ram), context: CONTEXT }
}

/// Bytes that models can have on a machine with `ram` bytes.
pub(super) fn available(ram: u64) -> u64 {
    (ram as f64 * GPU_SHARE) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_says_what_it_follows_from() {
        let verdict = fit(700, 1000);
        assert_eq!(verdict.verdict, FitVerdict::Tight);
        assert_eq!((verdict.need_bytes, verdict.available_bytes), (700, 750));
        assert_eq!(fit(100, 1000).verdict, FitVerdict::FitsWell);
        assert_eq!(fit(800, 1000).verdict, FitVerdict::TooBig);
    }
}
