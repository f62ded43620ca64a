//! Whether a model runs on this machine.

use foretoken_models::Fit as Verdict;
use foretoken_protocol::{ErrorReport, Fit, FitContext, FitVerdict};
use serde::{Deserialize, Serialize};

/// The contexts that models can be judged at, in tokens, from a short chat to the longest that the models know.
pub(super) const CONTEXTS: [u32; 6] = [4_096, 16_384, 32_768, 65_536, 131_072, 262_144];
/// The one until another is chosen: a long chat, or a document and a few questions about it.
const USUAL: u32 = 16_384;

/// What a model takes in memory for one chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Need {
    /// The length of the chat in tokens.
    pub(super) context: u32,
    /// All of it, in bytes.
    pub(super) bytes: u64,
}

/// The verdict for a model that needs so much, on a machine with `available` bytes for models.
pub(super) fn fit(need: Need, available: u64) -> Fit {
    let verdict = match foretoken_models::fit(need.bytes, available) {
        Verdict::Well => FitVerdict::FitsWell,
        Verdict::Tight => FitVerdict::Tight,
        Verdict::TooBig => FitVerdict::TooBig,
    };
    Fit { verdict, need_bytes: need.bytes, available_bytes: available, context: need.context }
}

/// The context that the settings choose, if it is one to choose from, else the usual one.
pub(super) fn context(chosen: Option<u32>) -> FitContext {
    let chosen = chosen.filter(|chosen| CONTEXTS.contains(chosen)).unwrap_or(USUAL);
    FitContext { chosen, choices: CONTEXTS.into() }
}

/// Refuses a context that is none to choose from.
pub(super) fn check(context: u32) -> Result<(), ErrorReport> {
    if CONTEXTS.contains(&context) {
        return Ok(());
    }
    let choices: Vec<_> = CONTEXTS.iter().map(u32::to_string).collect();
    Err(ErrorReport {
        code: "unknown_context".into(),
        message: format!("Models are not judged at a context of {context} tokens."),
        hint: format!("Choose one of {}.", choices.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_says_what_it_follows_from() {
        let fit = |bytes| fit(Need { context: 4096, bytes }, 750);
        let verdict = fit(700);
        assert_eq!(verdict.verdict, FitVerdict::Tight);
        assert_eq!((verdict.need_bytes, verdict.available_bytes, verdict.context), (700, 750, 4096));
        assert_eq!(fit(100).verdict, FitVerdict::FitsWell);
        assert_eq!(fit(800).verdict, FitVerdict::TooBig);
    }

    #[test]
    fn only_what_is_offered_is_taken() {
        assert_eq!(context(None).chosen, USUAL);
        assert_eq!(context(Some(131_072)).chosen, 131_072);
        assert_eq!(context(Some(7)).chosen, USUAL, "from a settings file that somebody edited");
        assert!(CONTEXTS.iter().all(|&context| check(context).is_ok()));
        let refused = check(7).unwrap_err();
        assert!(refused.hint.contains("16384"), "{refused}");
    }
}
