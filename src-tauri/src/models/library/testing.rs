//! A draft model for the demo model, and measurements and the result of one, for the tests of the shell.

use std::fs;
use std::path::Path;

use foretoken_protocol::Tuning;
use serde_json::{Map, Value, json};

use super::{MEASUREMENT, ModelLibrary};
use crate::benchmarks::Sizes;

/// A measurement of everything that is measured for a person, once, over as few tokens as leave room for each depth.
pub(crate) const SHORT_MEASUREMENT: Sizes =
    Sizes { prompt_tokens: 16, gen_tokens: 8, runs: 1, ..MEASUREMENT };

/// Of the demo model.
const HIDDEN: usize = 192;
const VOCAB: usize = 2048;
const HEAD: usize = 32;

/// A draft model of one layer for the demo model, all zeros, which reads the output of these layers.
pub(crate) fn write_draft_model(folder: &Path, layers_read: &[usize]) {
    let square = [
        "layers.0.self_attn.q_proj",
        "layers.0.self_attn.k_proj",
        "layers.0.self_attn.v_proj",
        "layers.0.self_attn.o_proj",
        "layers.0.mlp.gate_proj",
        "layers.0.mlp.up_proj",
        "layers.0.mlp.down_proj",
    ];
    let norms = ["hidden_norm", "norm", "layers.0.input_layernorm", "layers.0.post_attention_layernorm"];
    let heads = ["layers.0.self_attn.q_norm", "layers.0.self_attn.k_norm"];
    let tensors = [("fc", vec![HIDDEN, layers_read.len() * HIDDEN])]
        .into_iter()
        .chain(square.map(|name| (name, vec![HIDDEN, HIDDEN])))
        .chain(norms.map(|name| (name, vec![HIDDEN])))
        .chain(heads.map(|name| (name, vec![HEAD])));
    let (mut header, mut end) = (Map::new(), 0);
    for (name, shape) in tensors {
        let start = end;
        end += 2 * shape.iter().product::<usize>();
        let entry = json!({"dtype": "BF16", "shape": shape, "data_offsets": [start, end]});
        header.insert(format!("{name}.weight"), entry);
    }
    let header = Value::Object(header).to_string().into_bytes();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header, &vec![0; end]].concat();
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("model.safetensors"), file).unwrap();
    let config = json!({
        "architectures": ["DFlashDraftModel"], "model_type": "qwen3", "hidden_size": HIDDEN, "vocab_size": VOCAB,
        "intermediate_size": HIDDEN, "num_hidden_layers": 1, "num_attention_heads": HIDDEN / HEAD,
        "num_key_value_heads": HIDDEN / HEAD, "head_dim": HEAD, "rope_theta": 1e7, "block_size": 16,
        "dflash_config": {"mask_token_id": VOCAB - 1, "target_layer_ids": layers_read},
    });
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

impl ModelLibrary {
    /// Notes the result of a measurement, as a finished one does.
    pub(crate) fn note_tuning(&self, folder: &Path, tuning: Tuning) {
        self.statistics.tuned(folder, tuning);
        self.request_rescan();
    }
}
