//! Small checkpoints on disk, complete and correct, for tests to damage. Their tensor lists are written out here from
//! the published layout, not derived from the code under test.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CheckpointError, Config, Index, Layout};

pub(crate) const HIDDEN: usize = 64;
const VOCAB: usize = 256;
const MLP: usize = 128;
pub(crate) const EXPERTS: usize = 4;
/// Width of an expert.
pub(crate) const EXPERT: usize = 64;

/// Data type, as in a header, and shape.
type Entry = (String, Vec<usize>);

/// A checkpoint before it is written.
#[derive(Debug, Clone)]
pub(crate) struct Fixture {
    pub(crate) config: Value,
    pub(crate) files: BTreeMap<String, Shard>,
    /// Other JSON files, by name.
    pub(crate) json: BTreeMap<String, Value>,
    /// What the bfloat16 tensors with such a part in their names hold, the first that fits; all others hold zeros.
    pub(crate) values: Vec<(&'static str, f32)>,
}

/// A tensor file before it is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shard {
    pub(crate) format: Option<&'static str>,
    pub(crate) tensors: BTreeMap<String, Entry>,
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

/// Names and shapes.
type Tensors = Vec<(String, Vec<usize>)>;

fn mlp(list: &mut Tensors, path: &str) {
    list.push((format!("{path}.mlp.gate_proj.weight"), vec![MLP, HIDDEN]));
    list.push((format!("{path}.mlp.up_proj.weight"), vec![MLP, HIDDEN]));
    list.push((format!("{path}.mlp.down_proj.weight"), vec![HIDDEN, MLP]));
    list.push((format!("{path}.input_layernorm.weight"), vec![HIDDEN]));
    list.push((format!("{path}.post_attention_layernorm.weight"), vec![HIDDEN]));
}

fn full_attention(list: &mut Tensors, path: &str) {
    list.push((format!("{path}.self_attn.q_proj.weight"), vec![512, HIDDEN]));
    list.push((format!("{path}.self_attn.k_proj.weight"), vec![128, HIDDEN]));
    list.push((format!("{path}.self_attn.v_proj.weight"), vec![128, HIDDEN]));
    list.push((format!("{path}.self_attn.o_proj.weight"), vec![HIDDEN, 256]));
    list.push((format!("{path}.self_attn.q_norm.weight"), vec![64]));
    list.push((format!("{path}.self_attn.k_norm.weight"), vec![64]));
    mlp(list, path);
}

fn linear_attention(list: &mut Tensors, path: &str) {
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
fn text_tensors() -> Tensors {
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
    pub(crate) fn raw() -> Self {
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
        Self {
            config: config(),
            files: files.map(|(name, shard)| (name.into(), shard)).into(),
            ..Self::empty()
        }
    }

    fn empty() -> Self {
        Self { config: Value::Null, files: BTreeMap::new(), json: BTreeMap::new(), values: Vec::new() }
    }

    /// [`Self::raw`] with experts in place of every MLP: `experts.gate_up_proj` and `experts.down_proj` as Qwen3.6 has
    /// them.
    pub(crate) fn moe() -> Self {
        let fixture = Self::raw().set("intermediate_size", Value::Null);
        let mut fixture = fixture.with_experts(|mlp| {
            vec![
                (format!("{mlp}.experts.gate_up_proj"), vec![EXPERTS, 2 * EXPERT, HIDDEN]),
                (format!("{mlp}.experts.down_proj"), vec![EXPERTS, HIDDEN, EXPERT]),
            ]
        });
        fixture.config["model_type"] = json!("qwen3_5_moe");
        fixture
    }

    /// Takes stacks of experts whose paths hold `part` apart: a tensor for each expert.
    pub(crate) fn one_by_one(self, part: &str) -> Self {
        self.map_tensors(|name, shape| {
            let Some((mlp, projection)) = name.split_once(".experts.").filter(|_| name.contains(part)) else {
                return vec![(name, shape)];
            };
            let projections = match projection {
                "gate_up_proj" => vec![("gate_proj", [EXPERT, HIDDEN]), ("up_proj", [EXPERT, HIDDEN])],
                _ => vec![("down_proj", [HIDDEN, EXPERT])],
            };
            (0..EXPERTS)
                .flat_map(|expert| projections.iter().map(move |projection| (expert, *projection)))
                .map(|(expert, (name, shape))| {
                    (format!("{mlp}.experts.{expert}.{name}.weight"), shape.to_vec())
                })
                .collect()
        })
    }

    /// [`Self::moe`] as a conversion to MLX writes it.
    pub(crate) fn converted_moe(bits: Option<usize>) -> Self {
        let fixture = Self::converted(None).set("intermediate_size", Value::Null);
        let mut fixture = fixture.with_experts(|mlp| {
            let stack = |name: &str, shape: [usize; 2]| {
                (format!("{mlp}.switch_mlp.{name}.weight"), vec![EXPERTS, shape[0], shape[1]])
            };
            vec![
                stack("gate_proj", [EXPERT, HIDDEN]),
                stack("up_proj", [EXPERT, HIDDEN]),
                stack("down_proj", [HIDDEN, EXPERT]),
            ]
        });
        fixture.config["model_type"] = json!("qwen3_5_moe");
        match bits {
            Some(bits) => fixture.quantized(bits, 64, "affine"),
            None => fixture,
        }
    }

    /// Qwen3-Next: a flat config, fused projections, every expert a tensor.
    pub(crate) fn next() -> Self {
        let mut fixture = Self::moe().one_by_one("").without("model.visual").map_tensors(|name, shape| {
            let Some((layer, projection)) = name.split_once(".linear_attn.in_proj_") else {
                return vec![(name.replace("model.language_model.", "model."), shape)];
            };
            let layer = layer.replace("model.language_model.", "model.");
            match projection {
                "qkv.weight" => vec![(format!("{layer}.linear_attn.in_proj_qkvz.weight"), vec![384, HIDDEN])],
                "b.weight" => vec![(format!("{layer}.linear_attn.in_proj_ba.weight"), vec![8, HIDDEN])],
                _ => vec![],
            }
        });
        fixture.config = fixture.config["text_config"].take();
        for (key, value) in [
            ("model_type", json!("qwen3_next")),
            ("rope_parameters", Value::Null),
            ("rope_theta", json!(1e7)),
            ("partial_rotary_factor", json!(0.25)),
            ("tie_word_embeddings", json!(true)),
            ("mtp_num_hidden_layers", json!(1)),
        ] {
            fixture.config[key] = value;
        }
        fixture
    }

    /// A draft model for [`Self::raw`], as published: two layers, the first with a window.
    pub(crate) fn draft() -> Self {
        let mut list = Tensors::new();
        list.push(("fc.weight".into(), vec![HIDDEN, 3 * HIDDEN]));
        for norm in ["hidden_norm.weight", "norm.weight"] {
            list.push((norm.into(), vec![HIDDEN]));
        }
        for layer in ["layers.0", "layers.1"] {
            for (projection, shape) in [
                ("q_proj", [256, HIDDEN]),
                ("k_proj", [128, HIDDEN]),
                ("v_proj", [128, HIDDEN]),
                ("o_proj", [HIDDEN, 256]),
            ] {
                list.push((format!("{layer}.self_attn.{projection}.weight"), shape.into()));
            }
            list.push((format!("{layer}.self_attn.q_norm.weight"), vec![64]));
            list.push((format!("{layer}.self_attn.k_norm.weight"), vec![64]));
            mlp(&mut list, layer);
        }
        let tensors = list.into_iter().map(|(name, shape)| (name, ("BF16".into(), shape))).collect();
        let config = json!({
            "architectures": ["DFlashDraftModel"],
            "model_type": "qwen3",
            "hidden_size": HIDDEN,
            "intermediate_size": MLP,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 64,
            "rms_norm_eps": 1e-6,
            "rope_theta": 1e7,
            "max_position_embeddings": 4096,
            "vocab_size": VOCAB,
            "block_size": 16,
            "num_target_layers": 4,
            "layer_types": ["sliding_attention", "full_attention"],
            "sliding_window": 32,
            "dflash_config": {"mask_token_id": 255, "target_layer_ids": [0, 1, 3]},
            "dtype": "bfloat16"
        });
        let files = [("model.safetensors".into(), Shard { format: Some("pt"), tensors })].into();
        Self { config, files, ..Self::empty() }
    }

    /// Sets a key at the top of the config, or, behind `dflash_config.`, of a draft model's own; `null` takes it out.
    pub(crate) fn set_top(mut self, key: &str, value: impl Into<Value>) -> Self {
        match key.strip_prefix("dflash_config.") {
            Some(key) => self.config["dflash_config"][key] = value.into(),
            None => self.config[key] = value.into(),
        }
        self
    }

    fn with_experts(mut self, experts: impl Fn(&str) -> Tensors) -> Self {
        for (key, value) in [
            ("num_experts", EXPERTS),
            ("num_experts_per_tok", 2),
            ("moe_intermediate_size", EXPERT),
            ("shared_expert_intermediate_size", EXPERT),
        ] {
            self = self.set(key, value);
        }
        self.map_tensors(|name, shape| {
            let Some((layer, projection)) = name.split_once(".mlp.") else { return vec![(name, shape)] };
            let mlp = format!("{layer}.mlp");
            match projection {
                "gate_proj.weight" => [
                    experts(&mlp),
                    vec![
                        (format!("{mlp}.gate.weight"), vec![EXPERTS, HIDDEN]),
                        (format!("{mlp}.shared_expert_gate.weight"), vec![1, HIDDEN]),
                        (format!("{mlp}.shared_expert.gate_proj.weight"), vec![EXPERT, HIDDEN]),
                        (format!("{mlp}.shared_expert.up_proj.weight"), vec![EXPERT, HIDDEN]),
                        (format!("{mlp}.shared_expert.down_proj.weight"), vec![HIDDEN, EXPERT]),
                    ],
                ]
                .concat(),
                _ => vec![],
            }
        })
    }

    /// Puts other tensors in the place of each.
    pub(crate) fn map_tensors(mut self, map: impl Fn(String, Vec<usize>) -> Tensors) -> Self {
        for shard in self.files.values_mut() {
            shard.tensors = std::mem::take(&mut shard.tensors)
                .into_iter()
                .flat_map(|(name, (dtype, shape))| {
                    map(name, shape).into_iter().map(move |(name, shape)| (name, (dtype.clone(), shape)))
                })
                .collect();
        }
        self
    }

    /// Quantizes every matrix, and says so.
    pub(crate) fn quantized(mut self, bits: usize, group_size: usize, mode: &str) -> Self {
        for shard in self.files.values_mut() {
            shard.quantize(bits, group_size, mode == "affine");
        }
        self.config["quantization"] = json!({"group_size": group_size, "bits": bits, "mode": mode});
        self.config["quantization_config"] = self.config["quantization"].clone();
        self
    }

    /// Takes the MTP head out, as a file of its own.
    pub(crate) fn split_head(mut self) -> (Self, Shard) {
        let mut head = Shard::default();
        for shard in self.files.values_mut() {
            head.format = shard.format;
            head.tensors.extend(shard.tensors.extract_if(.., |name, _| name.contains("mtp.")));
        }
        (self, head)
    }

    /// Adds a file with tensors, as an MTP head may come in one of its own.
    pub(crate) fn with_file(mut self, name: &str, shard: Shard) -> Self {
        self.files.insert(name.into(), shard);
        self
    }

    /// As a conversion to MLX writes it: one file, other names, other layouts, norms of one; quantized where `bits` is
    /// given.
    pub(crate) fn converted(bits: Option<usize>) -> Self {
        let mut shard = Shard { format: Some("mlx"), ..Shard::default() };
        for (name, mut shape) in text_tensors() {
            let raw = match name.starts_with("mtp.") {
                true => format!("language_model.{name}"),
                false => format!("language_model.model.{name}"),
            };
            if name.ends_with("conv1d.weight") {
                shape.swap(1, 2);
            }
            shard.tensors.insert(raw, ("BF16".into(), shape));
        }
        let files = [("model.safetensors".into(), shard)].into();
        let values = vec![("norm", 1.0)];
        let fixture = Self { config: config(), files, values, ..Self::empty() };
        match bits {
            Some(bits) => fixture.quantized(bits, 64, "affine"),
            None => fixture,
        }
    }

    /// Sets a key of the text config; `null` takes it out.
    pub(crate) fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config["text_config"][key] = value.into();
        self
    }

    /// Takes out every tensor whose name contains `part`.
    pub(crate) fn without(mut self, part: &str) -> Self {
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
    pub(crate) fn with(mut self, name: &str, dtype: &str, shape: &[usize]) -> Self {
        let shard = self.files.values_mut().next().expect("a fixture has a file");
        shard.tensors.insert(name.into(), (dtype.into(), shape.into()));
        self
    }

    /// Changes a tensor in whatever file it is.
    pub(crate) fn change(mut self, name: &str, dtype: &str, shape: &[usize]) -> Self {
        let entry = self.files.values_mut().find_map(|shard| shard.tensors.get_mut(name)).expect(name);
        *entry = (dtype.into(), shape.into());
        self
    }

    /// Writes config and files; the tensors are all zeros.
    pub(crate) fn write(&self) -> TempDir {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("config.json"), self.config.to_string()).expect("config.json");
        for (name, value) in &self.json {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, value.to_string()).expect("a JSON file");
        }
        for (name, shard) in &self.files {
            let (header, data) = shard.header();
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            write_file(&path, header.to_string().as_bytes(), data);
            self.fill(&path, &header);
        }
        dir
    }

    /// Writes values in place of zeros.
    fn fill(&self, path: &Path, header: &Value) {
        let start = 8 + header.to_string().len() as u64;
        for (name, entry) in header.as_object().expect("a header") {
            let value = self.values.iter().find(|(part, _)| name.contains(part) && entry["dtype"] == "BF16");
            let Some((_, value)) = value else { continue };
            let [from, to] = [0, 1].map(|index| entry["data_offsets"][index].as_u64().expect("an offset"));
            let bytes = ((value.to_bits() >> 16) as u16).to_le_bytes().repeat((to - from) as usize / 2);
            let file = File::options().write(true).open(path).expect("a tensor file");
            file.write_all_at(&bytes, start + from).expect("values");
        }
    }

    /// Writes it and plans its loading.
    pub(crate) fn plan(&self) -> Result<Layout, CheckpointError> {
        plan(self.write().path())
    }
}

impl Shard {
    /// As a tool writes it that gives all names another prefix than `from`.
    pub(crate) fn renamed(mut self, from: &str, to: &str, format: Option<&'static str>) -> Self {
        self.format = format;
        let names = std::mem::take(&mut self.tensors).into_iter();
        let renamed = |name: String| format!("{to}{}", name.strip_prefix(from).expect(from));
        self.tensors = names.map(|(name, entry)| (renamed(name), entry)).collect();
        self
    }

    /// Packs every matrix; affine mode has scales of a float type and biases, the others 8-bit scales.
    pub(crate) fn quantize(&mut self, bits: usize, group_size: usize, affine: bool) {
        let matrices = self.tensors.extract_if(.., |name, (_, shape)| {
            shape.len() > 1 && !name.ends_with("conv1d.weight") && !name.contains("visual")
        });
        let matrices: Vec<_> = matrices.collect();
        for (name, (_, shape)) in matrices {
            let module = name.trim_end_matches(".weight").to_owned();
            let with_width = |width: usize| [&shape[..shape.len() - 1], &[width]].concat();
            let columns = shape[shape.len() - 1];
            let mut insert = |part: &str, dtype: &str, width: usize| {
                self.tensors.insert(format!("{module}.{part}"), (dtype.into(), with_width(width)));
            };
            insert("weight", "U32", columns * bits / 32);
            insert("scales", if affine { "BF16" } else { "U8" }, columns / group_size);
            if affine {
                insert("biases", "BF16", columns / group_size);
            }
        }
    }

    /// The header, and how many bytes of data it describes.
    pub(crate) fn header(&self) -> (Value, u64) {
        let mut header = serde_json::Map::new();
        if let Some(format) = self.format {
            header.insert("__metadata__".into(), json!({"format": format}));
        }
        let mut end = 0;
        for (name, (dtype, shape)) in &self.tensors {
            let width = match dtype.as_str() {
                "I8" | "U8" | "F8_E4M3" => 1,
                "BF16" | "F16" => 2,
                "F32" | "U32" | "I32" => 4,
                "F64" => 8,
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
pub(crate) fn write_file(path: &Path, header: &[u8], data: u64) {
    let mut file = File::create(path).expect("a tensor file");
    file.write_all(&(header.len() as u64).to_le_bytes()).expect("the length");
    file.write_all(header).expect("the header");
    file.set_len(8 + header.len() as u64 + data).expect("the data");
}

/// Plans the loading of a folder.
pub(crate) fn plan(dir: &Path) -> Result<Layout, CheckpointError> {
    let config = Config::read(dir)?;
    Layout::plan(&config, &Index::read(dir, &config)?)
}

/// The demo checkpoint that the app ships.
pub(crate) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../resources/demo-model/checkpoint")
}
