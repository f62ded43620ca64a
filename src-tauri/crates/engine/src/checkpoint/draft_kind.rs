//! Draft models among other models, by their config.

use super::json::Object;

/// The object in which the configs of such models keep what is theirs alone.
pub(super) const OWN_KEYS: &str = "dflash_config";
/// What draft models call themselves begins like this; and one that does not.
const NAMES: [&str; 2] = ["DFlash", "MuseGlimmerAssistant"];

/// What a draft model calls itself, or `dflash` where it says nothing; `None` for any other model. The model type tells
/// nothing: that of published draft models is `qwen3`.
pub(super) fn draft_architecture(config: &Object) -> Option<&str> {
    let named = config.get("architectures").and_then(|names| names.get(0)?.as_str());
    let is_draft = config.get(OWN_KEYS).is_some_and(|own| own.is_object())
        || named.is_some_and(|name| NAMES.iter().any(|prefix| name.starts_with(prefix)));
    is_draft.then(|| named.unwrap_or("dflash"))
}
