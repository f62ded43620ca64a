//! The config of the result.

use serde_json::{Map, Value, json};

use super::output::Output;
use super::recipe::Recipe;
use super::source::Source;
use crate::checkpoint::{FloatType, HiddenMode, QuantSpec, mlx_name};

/// What no longer holds: the result has no vision tower, no tensor file beside its shards, and plain norms.
const DROPPED: [&str; 9] = [
    "_name_or_path",
    "audio_config",
    "mlx_lm_extra_tensors",
    "mtp_norm_encoding",
    "mtplx_mtp_norm_encoding",
    "mtplx_mtp_quantization",
    "quantization",
    "quantization_config",
    "vision_config",
];
const DTYPES: [&str; 2] = ["dtype", "torch_dtype"];

/// Writes down what the conversion changes. Keys come sorted.
pub(super) fn rewrite(
    source: &Source,
    recipe: &Recipe,
    output: &Output,
    float: FloatType,
) -> Map<String, Value> {
    let mut config = source.object.clone();
    let mut dtype_is_set = false;
    let mut correct = |object: &mut Map<String, Value>| {
        object.retain(|key, _| !DROPPED.contains(&key.as_str()));
        for key in DTYPES {
            if let Some(value) = object.get_mut(key) {
                *value = json!(float.name());
                dtype_is_set = true;
            }
        }
    };
    correct(&mut config);
    if let Some(text) = config.get_mut("text_config").and_then(Value::as_object_mut) {
        correct(text);
    }
    let text = match config.get("text_config").is_some_and(Value::is_object) {
        true => config.get_mut("text_config").and_then(Value::as_object_mut),
        false => Some(&mut config),
    };
    if let Some(text) = text {
        if !dtype_is_set {
            text.insert("dtype".into(), json!(float.name()));
        }
        if source.layout.has_mtp() && source.config.mtp_layers == 0 {
            text.insert("mtp_num_hidden_layers".into(), json!(1));
        }
    }
    if source.layout.has_mtp() && source.config.hidden_mode == HiddenMode::PreNorm {
        config.insert("mtp_hidden_state_mode".into(), json!("pre_norm"));
    }
    if let Some(default) = recipe.default_spec() {
        let quantization = quantization(default, output);
        config.insert("quantization".into(), quantization.clone());
        config.insert("quantization_config".into(), quantization);
    }
    let mut config = Value::Object(config);
    config.sort_all_objects();
    match config {
        Value::Object(config) => config,
        _ => Map::new(),
    }
}

/// The default, and an entry for every matrix that differs from it.
fn quantization(default: QuantSpec, output: &Output) -> Value {
    let spec =
        |spec: QuantSpec| json!({ "bits": spec.bits, "group_size": spec.group_size, "mode": spec.mode });
    let mut quantization = spec(default);
    for (path, quantized) in output.matrices().filter(|(_, quantized)| *quantized != Some(default)) {
        quantization[mlx_name(path)] = quantized.map_or(Value::Bool(false), spec);
    }
    quantization
}
