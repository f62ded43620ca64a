//! Small checkpoints on disk, complete and correct, for tests to damage. Their tensor lists are written out here from
//! the published layout, not derived from the code under test.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CheckpointError, Config, Index, Layout};

pub(super) const HIDDEN: usize = 64;
const VOCAB: usize = 256;
const MLP: usize = 128;

/// Data type, as in a header, and shape.
type Entry = (String, Vec<usize>);

/// A checkpoint before it is written.
#[derive(Debug, Clone)]
pub(super) struct Fixture {
    pub(super) config: Value,
    pub(super) files: BTreeMap<String, Shard>,
}

/// A tensor file before it is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Shard {
    pub(super) format: Option<&'static str>,
    pub(super) tensors: BTreeMap<String, Entry>,
}

fn config() -> Value {
    json!({
        "model_type": "qwen3_5",
        "tie_word_embeddings": true,
        "text_config": {
            "model_type": "qwen3_5_text",
            "hidden_size": HIDDEN,
            "intermediate_size": MLP,
            "num_hidden_layers": 4,
            "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
            "full_attention_interval": 4,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 64,
            "attn_output_gate": true,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "linear_key_head_dim": 32,
            "linear_value_head_dim": 32,
            "linear_conv_kernel_dim": 4,
            "rms_norm_eps": 1e-6,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25},
            "max_position_embeddings": 4096,
            "mtp_num_hidden_layers": 1,
            "dtype": "bfloat16",
            "vocab_size": VOCAB
        }
    })
}

fn mlp(list: &mut Vec<(String, Vec<usize>)>, path: &str) {
    list.push((format!("{path}.mlp.gate_proj.weight"), vec![MLP, HIDDEN]));
    list.push((format!("{path}.mlp.up_proj.weight"), vec![MLP, HIDDEN]));
    list.push((format!("{path}.mlp.down_proj.weight"), vec![HIDDEN, MLP]));
    list.push((format!("{path}.input_layernorm.weight"), vec![HIDDEN]));
    list.push((format!("{path}.post_attention_layernorm.weight"), vec![HIDDEN]));
}

fn full_attention(list: &mut Vec<(String, Vec<usize>)>, path: &str) {
    list.push((format!("{path}.self_attn.q_proj.weight"), vec![512, HIDDEN]));
    list.push((format!("{path}.self_attn.k_proj.weight"), vec![128, HIDDEN]));
    list.push((format!("{path}.self_attn.v_proj.weight"), vec![128, HIDDEN]));
    list.push((format!("{path}.self_attn.o_proj.weight"), vec![HIDDEN, 256]));
    list.push((format!("{path}.self_attn.q_norm.weight"), vec![64]));
    list.push((format!("{path}.self_attn.k_norm.weight"), vec![64]));
    mlp(list, path);
}

fn linear_attention(list: &mut Vec<(String, Vec<usize>)>, path: &str) {
    list.push((format!("{path}.linear_attn.A_log"), vec![4]));
    list.push((format!("{path}.linear_attn.dt_bias"), vec![4]));
    list.push((format!("{path}.linear_attn.conv1d.weight"), vec![256, 1, 4]));
    list.push((format!("{path}.linear_attn.in_proj_a.weight"), vec![4, HIDDEN]));
    list.push((format!("{path}.linear_attn.in_proj_b.weight"), vec![4, HIDDEN]));
    list.push((format!("{path}.linear_attn.in_proj_qkv.weight"), vec![256, HIDDEN]));
    list.push((format!("{path}.linear_attn.in_proj_z.weight"), vec![128, HIDDEN]));
    list.push((format!("{path}.linear_attn.norm.weight"), vec![32]));
    list.push((format!("{path}.linear_attn.out_proj.weight"), vec![HIDDEN, 128]));
    mlp(list, path);
}

/// Canonical names and raw shapes of the language model.
fn text_tensors() -> Vec<(String, Vec<usize>)> {
    let mut list = vec![
        ("embed_tokens.weight".into(), vec![VOCAB, HIDDEN]),
        ("norm.weight".into(), vec![HIDDEN]),
        ("mtp.fc.weight".into(), vec![HIDDEN, 2 * HIDDEN]),
        ("mtp.norm.weight".into(), vec![HIDDEN]),
        ("mtp.pre_fc_norm_embedding.weight".into(), vec![HIDDEN]),
        ("mtp.pre_fc_norm_hidden.weight".into(), vec![HIDDEN]),
    ];
    for layer in 0..3 {
        linear_attention(&mut list, &format!("layers.{layer}"));
    }
    full_attention(&mut list, "layers.3");
    full_attention(&mut list, "mtp.layers.0");
    list
}

impl Fixture {
    /// As Qwen publishes: bfloat16, two files, a vision tower.
    pub(super) fn raw() -> Self {
        let mut trunk = Shard { format: Some("pt"), ..Shard::default() };
        let mut rest = trunk.clone();
        for (name, shape) in text_tensors() {
            let float32 = name.ends_with("A_log") || name.ends_with("linear_attn.norm.weight");
            let dtype = if float32 { "F32" } else { "BF16" };
            let (shard, raw) = match name.starts_with("mtp.") {
                true => (&mut rest, name),
                false => (&mut trunk, format!("model.language_model.{name}")),
            };
            shard.tensors.insert(raw, (dtype.into(), shape));
        }
        for name in ["blocks.0.norm1.weight", "merger.norm.bias"] {
            rest.tensors.insert(format!("model.visual.{name}"), ("BF16".into(), vec![32]));
        }
        let files = [
            ("model.safetensors-00001-of-00002.safetensors", trunk),
            ("model.safetensors-00002-of-00002.safetensors", rest),
        ];
        Self { config: config(), files: files.map(|(name, shard)| (name.into(), shard)).into() }
    }

    /// As a conversion to MLX writes it: one file, other names, other layouts; quantized where `bits` is given.
    pub(super) fn converted(bits: Option<usize>) -> Self {
        let mut shard = Shard { format: Some("mlx"), ..Shard::default() };
        for (name, mut shape) in text_tensors() {
            let raw = match name.starts_with("mtp.") {
                true => format!("language_model.{name}"),
                false => format!("language_model.model.{name}"),
            };
            if name.ends_with("conv1d.weight") {
                shape.swap(1, 2);
            }
            let (Some(bits), [rows, columns]) = (bits, &shape[..]) else {
                shard.tensors.insert(raw, ("BF16".into(), shape));
                continue;
            };
            let module = raw.trim_end_matches(".weight").to_owned();
            shard.tensors.insert(raw, ("U32".into(), vec![*rows, columns * bits / 32]));
            for part in ["scales", "biases"] {
                shard.tensors.insert(format!("{module}.{part}"), ("BF16".into(), vec![*rows, columns / 64]));
            }
        }
        let mut config = config();
        if let Some(bits) = bits {
            config["quantization"] = json!({"group_size": 64, "bits": bits, "mode": "affine"});
            config["quantization_config"] = config["quantization"].clone();
        }
        Self { config, files: [("model.safetensors".into(), shard)].into() }
    }

    /// Sets a key of the text config; `null` takes it out.
    pub(super) fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config["text_config"][key] = value.into();
        self
    }

    /// Takes out every tensor whose name contains `part`.
    pub(super) fn without(mut self, part: &str) -> Self {
        let mut removed = 0;
        for shard in self.files.values_mut() {
            let before = shard.tensors.len();
            shard.tensors.retain(|name, _| !name.contains(part));
            removed += before - shard.tensors.len();
        }
        assert!(removed > 0, "no tensor is called {part}");
        self
    }

    /// Adds a tensor to the first file.
    pub(super) fn with(mut self, name: &str, dtype: &str, shape: &[usize]) -> Self {
        let shard = self.files.values_mut().next().expect("a fixture has a file");
        shard.tensors.insert(name.into(), (dtype.into(), shape.into()));
        self
    }

    /// Changes a tensor in whatever file it is.
    pub(super) fn change(mut self, name: &str, dtype: &str, shape: &[usize]) -> Self {
        let entry = self.files.values_mut().find_map(|shard| shard.tensors.get_mut(name)).expect(name);
        *entry = (dtype.into(), shape.into());
        self
    }

    /// Writes config and files; the tensors are all zeros.
    pub(super) fn write(&self) -> TempDir {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("config.json"), self.config.to_string()).expect("config.json");
        for (name, shard) in &self.files {
            let (header, data) = shard.header();
            write_file(&dir.path().join(name), header.to_string().as_bytes(), data);
        }
        dir
    }

    /// Writes it and plans its loading.
    pub(super) fn plan(&self) -> Result<Layout, CheckpointError> {
        plan(self.write().path())
    }
}

impl Shard {
    /// The header, and how many bytes of data it describes.
    pub(super) fn header(&self) -> (Value, u64) {
        let mut header = serde_json::Map::new();
        if let Some(format) = self.format {
            header.insert("__metadata__".into(), json!({"format": format}));
        }
        let mut end = 0;
        for (name, (dtype, shape)) in &self.tensors {
            let width = match dtype.as_str() {
                "I8" => 1,
                "BF16" | "F16" => 2,
                "F32" | "U32" | "I32" => 4,
                other => panic!("{other} is not used in tests"),
            };
            let start = end;
            end += width * shape.iter().product::<usize>() as u64;
            header
                .insert(name.clone(), json!({"dtype": dtype, "shape": shape, "data_offsets": [start, end]}));
        }
        (Value::Object(header), end)
    }
}

/// Writes a tensor file with any header and `data` zeros.
pub(super) fn write_file(path: &Path, header: &[u8], data: u64) {
    let mut file = File::create(path).expect("a tensor file");
    file.write_all(&(header.len() as u64).to_le_bytes()).expect("the length");
    file.write_all(header).expect("the header");
    file.set_len(8 + header.len() as u64 + data).expect("the data");
}

/// Plans the loading of a folder.
pub(super) fn plan(dir: &Path) -> Result<Layout, CheckpointError> {
    Layout::plan(&Config::read(dir)?, &Index::read(dir)?)
}

/// The demo checkpoint that the app ships.
pub(super) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../resources/demo-model/checkpoint")
}
