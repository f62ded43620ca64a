//! The config of the result.

use serde_json::{Map, Value, json};

use super::output::Output;
use super::recipe::Recipe;
use super::source::Source;
use crate::checkpoint::{FloatType, HiddenMode, QuantSpec, mlx_name};

/// What the config says of a vision tower.
const VISION: &str = "vision_config";
/// What no longer holds: the result has no tensor file beside its shards, and plain norms.
const DROPPED: [&str; 8] = [
    "_name_or_path",
    "audio_config",
    "mlx_lm_extra_tensors",
    "mtp_norm_encoding",
    "mtplx_mtp_norm_encoding",
    "mtplx_mtp_quantization",
    "quantization",
    "quantization_config",
];
const NEXT: &str = "qwen3_next";
const TEXT_ONLY: &str = "_text";
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
    let sees = source.layout.vision.tower().is_some();
    let mut correct = |object: &mut Map<String, Value>| {
        object.retain(|key, _| !DROPPED.contains(&key.as_str()));
        if let Some(tower) = object.get_mut(VISION).filter(|_| !sees) {
            *tower = Value::Null;
        }
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
    if source.config.architecture == NEXT {
        rename_next(&mut config, source);
    } else if let Some(name) = source.config.architecture.strip_suffix(TEXT_ONLY) {
        // Other tools know the names of whole models only.
        config.insert("model_type".into(), json!(name));
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
    if source.layout.has_mtp() && source.layout.hidden_mode == HiddenMode::PreNorm {
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

/// With its fused projections taken apart, Qwen3-Next is a Qwen3.5 model, whose config keeps the rotation in an object.
fn rename_next(config: &mut Map<String, Value>, source: &Source) {
    let dims = &source.config.attention;
    let name = if source.config.moe.is_some() { "qwen3_5_moe" } else { "qwen3_5" };
    config.insert("model_type".into(), json!(name));
    config.remove("architectures");
    let mut rope = config
        .remove("rope_scaling")
        .into_iter()
        .chain(config.remove("rope_parameters"))
        .find_map(|rope| rope.as_object().cloned())
        .unwrap_or_else(|| Map::from_iter([("rope_type".to_owned(), json!("default"))]));
    rope.insert("rope_theta".into(), json!(dims.rope_theta));
    rope.insert("partial_rotary_factor".into(), json!(dims.rope_dims as f64 / dims.head_dim as f64));
    config.insert("rope_parameters".into(), Value::Object(rope));
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
