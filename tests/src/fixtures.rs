//! Checkpoints and prompts that the tests read.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use foretoken_engine::checkpoint::{Config, Index, Layout};
use foretoken_engine::mlx::{self, Array, Dtype, QuantMode};
use foretoken_engine::model::Qwen;
use serde_json::{Value, json};

/// Weights that share a scale in the quantized fixtures.
const GROUP: i32 = 64;
/// Norms that raw files store as weight minus one.
const SHIFTED_NORMS: [&str; 8] = [
    "input_layernorm.weight",
    "post_attention_layernorm.weight",
    "language_model.norm.weight",
    "q_norm.weight",
    "k_norm.weight",
    "pre_fc_norm_hidden.weight",
    "pre_fc_norm_embedding.weight",
    "mtp.norm.weight",
];

/// How the weights of the small random model are stored; activations are f32 in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The raw layout in f32.
    F32,
    /// The converted layout, 4 bits in groups of 64, as the reference converter wrote it.
    Q4,
    /// The same with 8 bits, written by [`write_converted`].
    Q8,
}

impl Stored {
    /// Its reference values' folder.
    pub fn goldens(self) -> &'static str {
        match self {
            Self::F32 => "tiny-dense-f32",
            Self::Q4 => "tiny-dense-q4f32",
            Self::Q8 => "tiny-dense-q8f32",
        }
    }
}

/// A file or folder of `tests/fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The checkpoint that the app ships.
pub fn demo_model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/resources/demo-model/checkpoint")
}

/// Loads the network in a folder.
pub fn load(dir: &Path) -> Qwen {
    let config = Config::read(dir).unwrap();
    let layout = Layout::plan(&config, &Index::read(dir).unwrap()).unwrap();
    Qwen::load(&config, &layout, &mut |_, _| ()).unwrap()
}

/// The small random model: 8 layers, 2 of them with full attention, and an MTP head.
pub fn tiny_dense(stored: Stored) -> Qwen {
    let dir = tempfile::tempdir().unwrap();
    match stored {
        Stored::F32 => write_f32(&fixture("tiny-dense"), dir.path()),
        Stored::Q4 => return load(&fixture("tiny-dense-q4f32")),
        Stored::Q8 => write_converted(&fixture("tiny-dense"), dir.path(), 8),
    }
    load(dir.path())
}

/// The demo model with its weights in f32, so that what it computes can be compared closely.
pub fn demo_in_f32() -> Qwen {
    let dir = tempfile::tempdir().unwrap();
    write_f32(&demo_model(), dir.path());
    load(dir.path())
}

/// Copies a raw checkpoint with all its tensors cast to f32.
pub fn write_f32(raw: &Path, out: &Path) {
    let tensors = read_f32(raw);
    save(out, &tensors);
    let mut config = read_json(&raw.join("config.json"));
    config["text_config"]["dtype"] = json!("float32");
    fs::write(out.join("config.json"), config.to_string()).unwrap();
}

/// Writes the text part of a raw checkpoint as the reference converter does: MLX names, norms with their one added,
/// convolutions as `[C, K, 1]`, matrices quantized from f32 with scales and biases in f32.
pub fn write_converted(raw: &Path, out: &Path, bits: i32) {
    let mut tensors = HashMap::new();
    for (name, tensor) in read_f32(raw) {
        if name.starts_with("model.visual.") {
            continue;
        }
        let tensor = if name.ends_with("conv1d.weight") {
            tensor.swapaxes(1, 2).unwrap().contiguous().unwrap()
        } else if SHIFTED_NORMS.iter().any(|norm| name.ends_with(norm)) {
            tensor.add(&Array::scalar(1.0, Dtype::Float32).unwrap()).unwrap()
        } else {
            tensor
        };
        let name = match name.strip_prefix("model.language_model.") {
            Some(rest) => format!("language_model.model.{rest}"),
            None => format!("language_model.{name}"),
        };
        let Some(path) = name.strip_suffix(".weight").filter(|_| quantizable(&tensor)) else {
            tensors.insert(name, tensor);
            continue;
        };
        let parts = mlx::quantize(&tensor, GROUP, bits, QuantMode::Affine).unwrap();
        for (part, suffix) in parts.into_iter().zip(["weight", "scales", "biases"]) {
            tensors.insert(format!("{path}.{suffix}"), part);
        }
    }
    save(out, &tensors);
    let mut config = read_json(&raw.join("config.json"));
    let quantization = json!({ "group_size": GROUP, "bits": bits, "mode": "affine" });
    config["quantization"] = quantization.clone();
    config["quantization_config"] = quantization;
    config.as_object_mut().unwrap().remove("vision_config");
    fs::write(out.join("config.json"), config.to_string()).unwrap();
}

/// Questions drawn from the corpus that the demo model learned.
pub fn demo_questions() -> Vec<String> {
    serde_json::from_value(read_json(&fixture("demo-questions.json"))).unwrap()
}

fn quantizable(tensor: &Array) -> bool {
    tensor.shape().len() == 2 && tensor.dim(1) % GROUP == 0
}

fn read_f32(raw: &Path) -> HashMap<String, Array> {
    let files = fs::read_dir(raw).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "safetensors"))
        .flat_map(|file| mlx::load_safetensors(&file).unwrap())
        .map(|(name, tensor)| (name, tensor.astype(Dtype::Float32).unwrap()))
        .collect()
}

fn save(out: &Path, tensors: &HashMap<String, Array>) {
    let tensors = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor));
    mlx::save_safetensors(&out.join("model.safetensors"), tensors).unwrap();
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
