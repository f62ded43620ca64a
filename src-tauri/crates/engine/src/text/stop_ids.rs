//! The token ids that end a reply, from the configs of a model folder and its tokenizer.

use std::path::Path;

use serde_json::Value;

use super::{TextError, Tokenizer, json_file};

/// The ids that end a reply: every one that a file of the checkpoint names, since files are known to disagree, and
/// the family's own end tokens.
pub fn stop_ids(dir: &Path, tokenizer: &Tokenizer) -> Result<Vec<u32>, TextError> {
    let mut ids = Vec::new();
    for name in ["generation_config.json", "config.json"] {
        let Some(config) = json_file::read(dir, name)? else { continue };
        for part in [Some(&config), config.get("text_config")].into_iter().flatten() {
            let named = named_ids(part).ok_or_else(|| TextError::FileUnreadable {
                path: dir.join(name),
                reason: format!("eos_token_id is {}, not a token id or a list of them", part["eos_token_id"]),
            })?;
            ids.extend(named);
        }
    }
    let tokenizer_config = json_file::read(dir, "tokenizer_config.json")?;
    let own = tokenizer_config.as_ref().and_then(|config| json_file::special_token(config, "eos_token"));
    let family = ["<|im_end|>", "<|endoftext|>"];
    ids.extend(own.into_iter().chain(family).filter_map(|token| tokenizer.token_id(token)));
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// `eos_token_id` of one config object: absent, one id or several. `None` if it is something else.
fn named_ids(config: &Value) -> Option<Vec<u32>> {
    let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    match config.get("eos_token_id") {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(id).collect(),
        Some(one) => Some(vec![id(one)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TOKENIZER, demo};
    use super::*;

    /// The stop ids of a folder with these files, with the demo vocabulary.
    fn ids_of(files: &[(&str, &str)]) -> Result<Vec<u32>, TextError> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        stop_ids(dir.path(), &TOKENIZER)
    }

    #[test]
    fn the_demo_model_stops_at_its_two_end_tokens() {
        assert_eq!(stop_ids(demo(), &TOKENIZER).unwrap(), [2038, 2040]);
    }

    #[test]
    fn all_files_are_heard() {
        let files = [
            ("generation_config.json", r#"{"eos_token_id": [3, 2]}"#),
            ("config.json", r#"{"eos_token_id": 5, "text_config": {"eos_token_id": 4}}"#),
            ("tokenizer_config.json", r#"{"eos_token": {"content": "!"}}"#),
        ];
        assert_eq!(ids_of(&files).unwrap(), [0, 2, 3, 4, 5, 2038, 2040]);
        assert_eq!(ids_of(&[]).unwrap(), [2038, 2040]);
        assert_eq!(ids_of(&[("config.json", r#"{"eos_token_id": null}"#)]).unwrap(), [2038, 2040]);
    }

    #[test]
    fn a_wrong_file_is_named() {
        for text in ["{", "[]", r#"{"eos_token_id": "x"}"#, r#"{"eos_token_id": [-1]}"#] {
            let error = ids_of(&[("generation_config.json", text)]).unwrap_err();
            assert!(
                matches!(&error, TextError::FileUnreadable { path, .. } if path.ends_with("generation_config.json"))
            );
        }
    }
}
