//! Whether a folder holds a whole model, found without reading its weights.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

const INDEX: &str = "model.safetensors.index.json";
/// The longest header that the safetensors format allows.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// What a whole model's folder says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FolderFacts {
    /// Whether the tensors are as published for other programs, not as MLX programs keep them.
    pub(crate) raw: bool,
}

#[derive(Deserialize)]
struct Index {
    weight_map: std::collections::HashMap<String, String>,
}

/// Whether `folder` holds a model at first sight: `config.json` and a safetensors file.
pub(crate) fn looks_like_a_model(folder: &Path) -> bool {
    folder.join("config.json").is_file() && !shards(folder).is_empty()
}

/// Checks that the parts of a model are all there and none is cut off. The error says what is wrong.
pub(crate) fn check(folder: &Path) -> Result<FolderFacts, String> {
    let config = fs::read(folder.join("config.json")).map_err(|_| "config.json is missing".to_owned())?;
    let config: Value =
        serde_json::from_slice(&config).map_err(|error| format!("config.json is not readable: {error}"))?;
    let mut files = shards(folder);
    if let Ok(text) = fs::read(folder.join(INDEX)) {
        let index: Index =
            serde_json::from_slice(&text).map_err(|error| format!("{INDEX} is not readable: {error}"))?;
        files.extend(index.weight_map.into_values());
    }
    if files.is_empty() {
        return Err("there are no safetensors files".to_owned());
    }
    let mut raw = config.get("quantization").is_none();
    for file in files {
        raw &= !check_shard(&folder.join(&file)).map_err(|reason| format!("{file} {reason}"))?;
    }
    Ok(FolderFacts { raw })
}

/// The safetensors files directly in a folder.
fn shards(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // Copies from other systems bring files with attributes: `._model.safetensors`.
    names.filter(|name| name.ends_with(".safetensors") && !name.starts_with('.')).collect()
}

/// Checks that a file is as long as its header says. True if an MLX program wrote it.
fn check_shard(path: &Path) -> Result<bool, String> {
    let mut file = File::open(path).map_err(|_| "is missing".to_owned())?;
    let size = file.metadata().map_err(|error| error.to_string())?.len();
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|_| "is cut off".to_owned())?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER_BYTES || length + 8 > size {
        return Err("is no safetensors file, or is cut off".to_owned());
    }
    let mut header = vec![0; length as usize];
    file.read_exact(&mut header).map_err(|_| "is cut off".to_owned())?;
    let header: serde_json::Map<String, Value> =
        serde_json::from_slice(&header).map_err(|_| "has a damaged header".to_owned())?;
    let end = |tensor: &Value| tensor.get("data_offsets")?.get(1)?.as_u64();
    let data =
        header.iter().filter(|(name, _)| *name != "__metadata__").filter_map(|(_, tensor)| end(tensor)).max();
    if size != 8 + length + data.unwrap_or(0) {
        return Err("is not as long as its header says".to_owned());
    }
    let format = header.get("__metadata__").and_then(|metadata| metadata.get("format"));
    Ok(format.and_then(Value::as_str) == Some("mlx"))
}
