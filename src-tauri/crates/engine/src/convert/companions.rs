//! The files beside the tensors: the tokenizer's, the template, the licence, and what tells how the result was made.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Conversion;
use super::importance::Importance;
use crate::checkpoint::CheckpointError;
use crate::error::EngineError;

/// The index that tools look for beside the tensor files.
pub(super) const INDEX: &str = "model.safetensors.index.json";
/// The record of how the result was made.
pub const RECORD: &str = "foretoken.json";
/// How pictures and films are prepared for the model.
const PREPROCESSORS: [&str; 2] = ["preprocessor_config.json", "video_preprocessor_config.json"];
const NAMES: [&str; 13] = [
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "generation_config.json",
    "merges.txt",
    PREPROCESSORS[0],
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    PREPROCESSORS[1],
    "vocab.json",
    "vocab.txt",
];
/// In any spelling, with any ending.
const LICENCES: [&str; 4] = ["LICENSE", "LICENCE", "NOTICE", "COPYING"];

/// Reads the files of a source that a result needs too, with their names. `sees`: whether it has a vision tower.
pub(super) fn read(dir: &Path, sees: bool) -> Result<Vec<(String, Vec<u8>)>, EngineError> {
    let io = |path: &Path, source| CheckpointError::Io { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(|error| io(dir, error))?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        // Links count as what they lead to, as in the cache of the Hub.
        let wanted = |name: &&str| belongs(name) && (sees || !PREPROCESSORS.contains(name));
        if let Some(name) = name.to_str().filter(wanted)
            && path.is_file()
        {
            files.push((name.to_owned(), fs::read(&path).map_err(|error| io(&path, error))?));
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file of this name beside a source is copied.
pub(super) fn belongs(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_uppercase();
    NAMES.contains(&name) || LICENCES.contains(&stem.as_str())
}

/// [`RECORD`]: what the result was made of, by what, and how.
pub(super) fn record(conversion: &Conversion) -> Value {
    let Conversion { source, recipe, output, settings, float, .. } = conversion;
    let (bits, mtp_bits) = output.bits_per_weight();
    let mut record = json!({
        "source": source.origin,
        "tool": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") },
        "settings": { "vision": settings.vision, "dtype": float.name() },
        "sizes": { "bytes": output.bytes(), "bits_per_weight": bits, "mtp_bits_per_weight": mtp_bits },
    });
    match recipe.plan() {
        None => {
            record["settings"]["weights"] = json!(settings.weights);
            record["settings"]["mtp_head"] = json!(settings.mtp_head);
        }
        Some((plan, importance)) => {
            let mut quality = plan.to_json();
            if let Some(quality) = quality.as_object_mut() {
                quality.retain(|key, _| ["measured", "method", "modules"].contains(&key.as_str()));
            }
            quality["plan"] = json!(plan.hash());
            quality["importance"] = json!(importance.map(Importance::hash));
            record["quality"] = quality;
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokenizer_template_and_licence_belong_to_a_model_and_other_files_do_not() {
        for name in ["tokenizer.json", "chat_template.jinja", "LICENSE", "License.md", "NOTICE.txt"] {
            assert!(belongs(name), "{name}");
        }
        for name in ["config.json", "model.safetensors", "README.md", ".gitattributes", "licenses.py", "x"] {
            assert!(!belongs(name), "{name}");
        }
    }
}
