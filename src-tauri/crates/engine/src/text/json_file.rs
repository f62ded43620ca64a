//! The JSON files of a model folder that concern text, as `tokenizer_config.json`.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use super::TextError;

/// Reads `dir/name` as a JSON object; `None` if there is no such file.
pub(super) fn read(dir: &Path, name: &str) -> Result<Option<Value>, TextError> {
    let path = dir.join(name);
    let unreadable = |reason: String| TextError::FileUnreadable { path: path.clone(), reason };
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let value: Value = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    if !value.is_object() {
        return Err(unreadable("it does not hold a JSON object".into()));
    }
    Ok(Some(value))
}

/// A special token of `tokenizer_config.json`, which is written as a text or as an object with its `content`.
pub(super) fn special_token<'a>(tokenizer_config: &'a Value, key: &str) -> Option<&'a str> {
    let token = tokenizer_config.get(key)?;
    token.as_str().or_else(|| token.get("content")?.as_str())
}
