//! Checkpoints and prompts that the tests read.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use foretoken_engine::checkpoint::{Config, Index, Layout};
use foretoken_engine::mlx::{self, Array, Dtype, QuantMode};
use foretoken_engine::model::Qwen;
use foretoken_protocol::KvPrecision;
use serde_json::{Value, json};

/// Weights that share a scale in the quantized fixtures.
const GROUP: i32 = 64;
/// The file that holds all tensors of the demo model, and of what is written here.
const TENSORS: &str = "model.safetensors";
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

/// How the weights of the small random model are stored for comparison with reference values; activations are f32 in
/// each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The raw layout in f32.
    F32,
    /// The converted layout, 4 bits in groups of 64, as the reference converter wrote it.
    Q4,
    /// The converted layout in 8 bits, written by [`write_converted`].
    Q8,
}

impl Stored {
    /// Its reference values' folder.
    pub fn goldens(self) -> PathBuf {
        fixture("goldens").join(match self {
            Self::F32 => "tiny-dense-f32",
            Self::Q4 => "tiny-dense-q4f32",
            Self::Q8 => "tiny-dense-q8f32",
        })
    }
}

/// A file or folder of `tests/fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The checkpoint that the app ships.
pub fn demo_model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("src-tauri/resources/demo-model/checkpoint")
}

/// The draft model that the app ships for it.
pub fn demo_draft_model() -> PathBuf {
    demo_model().with_file_name("dflash")
}

/// Loads the network in a folder.
pub fn load(dir: &Path) -> Qwen {
    load_keeping(dir, KvPrecision::Full)
}

/// Loads a model that keeps keys and values in this precision.
pub fn load_keeping(dir: &Path, kv_precision: KvPrecision) -> Qwen {
    let config = Config::read(dir).unwrap();
    let layout = Layout::plan(&config, &Index::read(dir, &config).unwrap()).unwrap();
    let layout = layout.keeping_kv(&config, kv_precision).unwrap();
    Qwen::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

/// The small random model: 8 layers, 2 of them with full attention, and an MTP head.
pub fn tiny_dense(stored: Stored) -> Qwen {
    let dir = tempfile::tempdir().unwrap();
    match stored {
        Stored::F32 => write_raw(&fixture("tiny-dense"), dir.path(), Dtype::Float32),
        Stored::Q4 => return load(&fixture("tiny-dense-q4f32")),
        Stored::Q8 => write_converted(&fixture("tiny-dense"), dir.path(), 8, Dtype::Float32),
    }
    load(dir.path())
}

/// The demo model with its weights in f32, so that what it computes can be compared closely.
pub fn demo_in_f32() -> Qwen {
    let dir = tempfile::tempdir().unwrap();
    write_raw(&demo_model(), dir.path(), Dtype::Float32);
    load(dir.path())
}

/// The demo model, with names for its end tokens that nobody looks for: a reply goes on until something ends it.
pub fn endless_model(parent: &Path) -> PathBuf {
    let path = parent.join("endless");
    copy_demo_model(&path);
    for file in ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"] {
        let text = fs::read_to_string(path.join(file)).unwrap();
        let text = text.replace("<|im_end|>", "<|im_stop|>").replace("<|endoftext|>", "<|textstop|>");
        fs::write(path.join(file), text).unwrap();
    }
    let forget = |config: &mut Value| {
        config.as_object_mut().unwrap().remove("eos_token_id");
    };
    edit_json(&path, "generation_config.json", forget);
    edit_json(&path, "config.json", |config| forget(&mut config["text_config"]));
    edit_json(&path, "tokenizer_config.json", |config| config["eos_token"] = Value::Null);
    path
}

/// Copies the demo model.
pub fn copy_demo_model(to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(demo_model()).unwrap() {
        let file = entry.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Changes a JSON file of a model.
pub fn edit_json(folder: &Path, file: &str, edit: impl FnOnce(&mut Value)) {
    let path = folder.join(file);
    let mut value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    edit(&mut value);
    fs::write(path, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
}

/// Copies the demo model with its tensors changed.
pub fn write_demo_with(out: &Path, change: impl FnOnce(&mut HashMap<String, Array>)) {
    copy_demo_model(out);
    // Tensors are read when they are needed, so not from the file that they are written to.
    let mut tensors = mlx::load_safetensors(&demo_model().join(TENSORS)).unwrap();
    change(&mut tensors);
    save(out, &tensors);
}

/// Copies the demo model with another last value in a tensor.
pub fn write_demo_with_value(out: &Path, tensor: &str, value: f32) {
    write_demo_with(out, |tensors| {
        let stored = &tensors[tensor];
        let mut values = stored.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
        *values.last_mut().unwrap() = value;
        let changed = Array::from_slice(&values, stored.shape()).unwrap().astype(stored.dtype()).unwrap();
        tensors.insert(tensor.to_owned(), changed);
    });
}

/// Copies a raw checkpoint with all its tensors cast.
pub fn write_raw(raw: &Path, out: &Path, dtype: Dtype) {
    save(out, &read_as(raw, dtype));
    let mut config = read_json(&raw.join("config.json"));
    config["text_config"]["dtype"] = json!(config_name(dtype));
    fs::write(out.join("config.json"), config.to_string()).unwrap();
}

/// Writes the text part of a raw checkpoint as the reference converter does: MLX names, norms with their one added,
/// convolutions as `[C, K, 1]`, everything cast, matrices quantized with scales and biases of the same type.
pub fn write_converted(raw: &Path, out: &Path, bits: i32, dtype: Dtype) {
    let mut tensors = HashMap::new();
    for (name, tensor) in read_as(raw, dtype) {
        if name.starts_with("model.visual.") {
            continue;
        }
        let tensor = if name.ends_with("conv1d.weight") {
            tensor.swapaxes(1, 2).unwrap().contiguous().unwrap()
        } else if SHIFTED_NORMS.iter().any(|norm| name.ends_with(norm)) {
            tensor.add(&Array::scalar(1.0, dtype).unwrap()).unwrap()
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
    config["text_config"]["dtype"] = json!(config_name(dtype));
    config.as_object_mut().unwrap().remove("vision_config");
    fs::write(out.join("config.json"), config.to_string()).unwrap();
}

/// Compares all tensors of two checkpoints, bit for bit.
pub fn same_tensors(ours: &Path, theirs: &Path) {
    let (ours, theirs) = (read_all(ours), read_all(theirs));
    let names = |tensors: &HashMap<String, Array>| tensors.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&ours), names(&theirs));
    for (name, expected) in &theirs {
        let got = &ours[name];
        assert_eq!((got.shape(), got.dtype()), (expected.shape(), expected.dtype()), "{name}");
        match got.dtype() {
            // Each value of a smaller float is one of f32.
            Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 => {
                let values = |a: &Array| a.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
                assert_eq!(values(got), values(expected), "{name}");
            }
            _ => {
                let values = |a: &Array| a.astype(Dtype::Uint32).unwrap().to_vec::<u32>().unwrap();
                assert_eq!(values(got), values(expected), "{name}");
            }
        }
    }
}

/// Questions drawn from the corpus that the demo model learned.
pub fn demo_questions() -> Vec<String> {
    serde_json::from_value(read_json(&fixture("demo-questions.json"))).unwrap()
}

fn quantizable(tensor: &Array) -> bool {
    tensor.shape().len() == 2 && tensor.dim(1) % GROUP == 0
}

fn config_name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Float16 => "float16",
        Dtype::Bfloat16 => "bfloat16",
        Dtype::Float32 => "float32",
        _ => panic!("no model computes in {dtype:?}"),
    }
}

fn read_as(raw: &Path, dtype: Dtype) -> HashMap<String, Array> {
    read_all(raw).into_iter().map(|(name, tensor)| (name, tensor.astype(dtype).unwrap())).collect()
}

fn read_all(checkpoint: &Path) -> HashMap<String, Array> {
    let files = fs::read_dir(checkpoint).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "safetensors"))
        .flat_map(|file| mlx::load_safetensors(&file).unwrap())
        .collect()
}

fn save(out: &Path, tensors: &HashMap<String, Array>) {
    let tensors = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor));
    mlx::save_safetensors(&out.join(TENSORS), tensors).unwrap();
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The small random model in the raw layout with a vocabulary of another size, whose embedding is zero and takes no
/// room on the disk: 128 bytes a token to read.
pub fn write_with_vocab(out: &Path, vocab: u64) {
    const EMBEDDING: &str = "model.language_model.embed_tokens.weight";
    let raw = fixture("tiny-dense");
    let mut config = read_json(&raw.join("config.json"));
    config["text_config"]["vocab_size"] = json!(vocab);
    fs::write(out.join("config.json"), config.to_string()).unwrap();

    let mut header = serde_json::Map::new();
    let mut data = Vec::<u8>::new();
    let index = Index::read(&raw, &Config::read(&raw).unwrap()).unwrap();
    for (name, tensor) in index.tensors.iter().filter(|(name, _)| *name != EMBEDDING) {
        let file = fs::read(&tensor.file).unwrap();
        let start = data.len();
        data.extend(&file[tensor.offset as usize..][..tensor.bytes as usize]);
        let offsets = [start, data.len()];
        header.insert(
            name.clone(),
            json!({ "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": offsets }),
        );
    }
    let (start, columns) = (data.len() as u64, index.tensors[EMBEDDING].shape[1] as u64);
    let end = start + vocab * columns * 2;
    header.insert(
        EMBEDDING.into(),
        json!({ "dtype": "BF16", "shape": [vocab, columns], "data_offsets": [start, end] }),
    );
    let header = Value::Object(header).to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    let length = bytes.len() as u64 + end;
    bytes.extend(data);
    fs::write(out.join(TENSORS), bytes).unwrap();
    fs::OpenOptions::new().write(true).open(out.join(TENSORS)).unwrap().set_len(length).unwrap();
}
