//! Draft models of random weights, and a small model that drafts with one.

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use foretoken_engine::cache::{ContextKv, DraftContext};
use foretoken_engine::checkpoint::{DraftConfig, DraftLayout, Files, Metadata};
use foretoken_engine::decode::{Batch, DraftPlan, DrafterKind};
use foretoken_engine::mlx::{Array, Dtype, save_safetensors};
use foretoken_engine::model::{DraftModel, Qwen};
use serde_json::{Value, json};

use crate::fixtures::{Stored, tiny_dense};
use crate::rng::Rng;
use crate::runs::{greedy, read};

/// Hidden size of the small dense model.
pub const HIDDEN: i32 = 64;
/// Its layers whose outputs are read: behind recurrent layers and behind an attention layer.
pub const TAPS: [usize; 3] = [0, 3, 6];
/// Places of a block.
pub const BLOCK: usize = 8;

const VOCAB: u32 = 1024;

/// The config of a draft model for the small dense model: one layer with this window, one without.
pub fn draft_config(window: usize) -> Value {
    json!({
        "architectures": ["DFlashDraftModel"], "model_type": "qwen3", "hidden_size": HIDDEN, "vocab_size": VOCAB,
        "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 16, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "max_position_embeddings": 4096,
        "dtype": "float32", "layer_types": ["sliding_attention", "full_attention"], "sliding_window": window,
        "dflash_config": { "block_size": BLOCK, "mask_token_id": VOCAB - 1, "target_layer_ids": TAPS },
    })
}

/// Writes a draft model of this config with random weights in f32.
pub fn write_draft(folder: &Path, config: &Value) {
    save(folder, config, &random_tensors(config));
}

fn save(folder: &Path, config: &Value, tensors: &HashMap<String, Array>) {
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let named = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor));
    save_safetensors(&folder.join("model.safetensors"), named).unwrap();
}

/// What a DFlash model of this config has, by name.
fn random_tensors(config: &Value) -> HashMap<String, Array> {
    let size = |key: &str| config[key].as_i64().unwrap() as i32;
    let [hidden, mlp, head_dim] = ["hidden_size", "intermediate_size", "head_dim"].map(size);
    let [heads, kv_heads] = ["num_attention_heads", "num_key_value_heads"].map(size);
    let taps = config["dflash_config"]["target_layer_ids"].as_array().unwrap().len() as i32;
    let mut rng = Rng::new(77);
    let mut tensors: HashMap<String, Array> = HashMap::new();
    let mut add = |name: &str, shape: &[i32]| {
        let norm = shape.len() == 1;
        let value = |_| if norm { 1.0 } else { 0.15 * rng.normal() };
        let values: Vec<f32> = (0..shape.iter().product::<i32>()).map(value).collect();
        tensors.insert(format!("{name}.weight"), Array::from_slice(&values, shape).unwrap());
    };
    add("fc", &[hidden, taps * hidden]);
    add("hidden_norm", &[hidden]);
    add("norm", &[hidden]);
    for layer in 0..size("num_hidden_layers") {
        for (name, shape) in [
            ("input_layernorm", &[hidden][..]),
            ("post_attention_layernorm", &[hidden]),
            ("self_attn.q_norm", &[head_dim]),
            ("self_attn.k_norm", &[head_dim]),
            ("self_attn.q_proj", &[heads * head_dim, hidden]),
            ("self_attn.k_proj", &[kv_heads * head_dim, hidden]),
            ("self_attn.v_proj", &[kv_heads * head_dim, hidden]),
            ("self_attn.o_proj", &[hidden, heads * head_dim]),
            ("mlp.gate_proj", &[mlp, hidden]),
            ("mlp.up_proj", &[mlp, hidden]),
            ("mlp.down_proj", &[hidden, mlp]),
        ] {
            add(&format!("layers.{layer}.{name}"), shape);
        }
    }
    tensors
}

/// The small dense model with a DFlash2 model that knows nothing but which token follows which, as in `text`: its
/// layers add nothing to a mask token's embedding, and its selector outweighs all logits.
pub fn drafted_by_pairs(text: &[u32]) -> Qwen {
    const KERNEL: i32 = 2;
    const GROUP: i32 = 32;
    let target = tiny_dense(Stored::F32);
    let rank = text.len() as i32 - 1;
    let mut config = draft_config(64);
    config["architectures"] = json!(["DFlash2DraftModel"]);
    config["is_causal"] = json!(false);
    let sizes = [
        ("conv_kernel_size", KERNEL),
        ("conv_group_size", GROUP),
        ("selector_rank", rank),
        ("selector_top_k", VOCAB as i32),
    ];
    for (key, size) in sizes {
        config["dflash_config"][key] = json!(size);
    }
    let mut tensors = random_tensors(&config);
    let mut set = |name: &str, shape: &[i32], value: &dyn Fn(i32) -> f32| {
        let values: Vec<f32> = (0..shape.iter().product::<i32>()).map(value).collect();
        tensors.insert(name.to_owned(), Array::from_slice(&values, shape).unwrap());
    };
    let mlp = config["intermediate_size"].as_i64().unwrap() as i32;
    for layer in 0..2 {
        set(&format!("layers.{layer}.self_attn.o_proj.weight"), &[HIDDEN, HIDDEN], &|_| 0.0);
        set(&format!("layers.{layer}.mlp.down_proj.weight"), &[HIDDEN, mlp], &|_| 0.0);
        for conv in ["attention_conv", "mlp_conv"] {
            let conv = format!("layers.{layer}.{conv}");
            set(&format!("{conv}.base_kernel"), &[2, KERNEL, HIDDEN], &|_| 0.5);
            let shape = [2 * KERNEL * HIDDEN / GROUP, HIDDEN];
            set(&format!("{conv}.kernel_projection.weight"), &shape, &|_| 0.0);
        }
    }
    // A projection to ones of what the final norm makes of a mask token's embedding.
    let mask = Array::from_slice(&[VOCAB - 1], &[1]).unwrap();
    let mask = floats(&target.embed_tokens.forward(&mask).unwrap());
    let norm = mask.iter().map(|x| x * x).sum::<f32>();
    let size = (norm / HIDDEN as f32).sqrt();
    set("candidate_selector.hidden_projection.weight", &[rank, HIDDEN], &|i| {
        mask[(i % HIDDEN) as usize] * size / norm
    });
    let table = |place: usize, weight: f32| {
        move |i: i32| if text[(i % rank) as usize + place] == (i / rank) as u32 { weight } else { 0.0 }
    };
    set("candidate_selector.predecessor_codebook", &[VOCAB as i32, rank], &table(0, 1.0));
    set("candidate_selector.successor_codebook", &[VOCAB as i32, rank], &table(1, 1000.0));
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), &config, &tensors);
    Qwen { draft: Some(load_draft(folder.path())), ..target }
}

/// Loads the draft model in a folder.
pub fn load_draft(folder: &Path) -> DraftModel {
    let metadata = Metadata::read(folder, Files::Whole).unwrap();
    let config = DraftConfig::of(&metadata).unwrap().expect("a draft model");
    let layout = DraftLayout::of(&metadata, &config).unwrap();
    DraftModel::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

/// The small dense model with a draft model: one layer with this window, one without.
pub fn drafted(window: usize) -> Qwen {
    let folder = tempfile::tempdir().unwrap();
    write_draft(folder.path(), &draft_config(window));
    Qwen { draft: Some(load_draft(folder.path())), ..tiny_dense(Stored::F32) }
}

/// So many drafts by the draft model.
pub fn dflash(depth: usize) -> DraftPlan {
    DraftPlan { drafter: DrafterKind::Dflash, depth }
}

/// What the draft model reads of a fresh prefill, up to `end`.
pub fn fresh_context(model: &Qwen, tokens: &[u32], end: usize) -> DraftContext {
    let mut batch = Batch::default();
    batch.join(read(model, 0, &greedy(&tokens[..=end], 1))).unwrap();
    let context = batch.rows()[0].cache().draft.clone().expect("a context");
    assert_eq!(context.end(), end);
    context
}

/// What is seen of a context in each layer.
pub fn visible(context: &DraftContext) -> Vec<Vec<f32>> {
    let of = |layer: &ContextKv| layer.visible().unwrap().map_or(Vec::new(), |seen| floats(&seen));
    context.layers().iter().map(of).collect()
}

/// The values of an array.
pub fn floats(array: &Array) -> Vec<f32> {
    array.astype(Dtype::Float32).unwrap().to_vec().unwrap()
}
