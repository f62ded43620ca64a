//! Names of a draft model's tensors: those that it publishes, perhaps behind `model.`, or behind `draft.` where it was
//! packed into one file with its target.

use super::super::names::Name;

const PREFIXES: [&str; 2] = ["draft.", "model."];
const PARTS: [&str; 5] = ["fc", "hidden_norm", "layers", "norm", "candidate_selector"];
/// What the target lends, and some exports hold all the same.
const BORROWED: [&str; 2] = ["embed_tokens", "lm_head"];
const DERIVED: &str = "rotary_emb.inv_freq";

/// Tells what a tensor or module is from its name in a file or config.
pub(super) fn classify(raw: &str) -> Name {
    let rest = PREFIXES.iter().fold(raw, |rest, prefix| rest.strip_prefix(prefix).unwrap_or(rest));
    let first = rest.split('.').next().unwrap_or_default();
    if rest.ends_with(DERIVED) {
        Name::Derived
    } else if BORROWED.contains(&first) || PARTS.contains(&first) {
        Name::Text(rest.to_owned())
    } else {
        Name::Unknown
    }
}

/// Whether a canonical name is that of something the target lends.
pub(super) fn is_borrowed(canonical: &str) -> bool {
    BORROWED.iter().any(|module| canonical.strip_prefix(module).is_some_and(|rest| rest.starts_with('.')))
}
