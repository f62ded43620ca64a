//! The tensors that a config calls for.

use super::CheckpointError;
use super::config::Config;
use super::dims::{AttentionDims, MoeDims};
use super::json::invalid;
use super::kinds::{LayerKind, MlpKind};
use super::vision_config::{CHANNELS, FRAMES, MERGE, PATCH, VisionDims};

/// What a tensor is to the model, which decides how it may be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The weight of a linear layer or an embedding, or of the same layer of all experts: may be quantized.
    Matrix,
    /// An RMSNorm weight that raw checkpoints store minus one.
    Norm,
    /// The kernel of the causal convolution, channels first.
    Conv,
    /// A small parameter of the recurrence, used as it is stored: often float32 beside bfloat16 weights.
    Recurrence,
    /// The kernel of a vision tower's patches, `[out, channel, frame, row, column]`; conversions to MLX put the channel
    /// last.
    PatchKernel,
    /// Any other parameter, used in the compute type.
    Parameter,
}

/// A tensor that must be there.
#[derive(Debug)]
pub(super) struct Slot {
    /// Its canonical name; of a matrix, its module's.
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) role: Role,
    /// The config keys behind each dimension.
    pub(super) because: String,
}

/// Lists every tensor of the trunk.
pub(super) fn trunk(config: &Config) -> Result<Vec<Slot>, CheckpointError> {
    let hidden = config.hidden_size;
    let mut slots = Slots::default();
    slots.matrix("embed_tokens", [config.vocab_size, hidden], "vocab_size, hidden_size");
    for (index, (mixer, mlp)) in config.layers.iter().zip(&config.mlps).enumerate() {
        slots.layer(&format!("layers.{index}"), *mixer, *mlp, config)?;
    }
    slots.norm("norm.weight", hidden, "hidden_size");
    if !config.tied {
        slots.matrix("lm_head", [config.vocab_size, hidden], "vocab_size, hidden_size");
    }
    Ok(slots.0)
}

/// Lists every tensor of the MTP head, whose layer is dense or sparse.
pub(super) fn mtp_head(config: &Config, mlp: MlpKind) -> Result<Vec<Slot>, CheckpointError> {
    let hidden = config.hidden_size;
    let mut slots = Slots::default();
    slots.matrix("mtp.fc", [hidden, 2 * hidden], "hidden_size, 2 × hidden_size");
    slots.layer("mtp.layers.0", LayerKind::FullAttention, mlp, config)?;
    for norm in ["mtp.norm.weight", "mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight"] {
        slots.norm(norm, hidden, "hidden_size");
    }
    Ok(slots.0)
}

/// Lists every tensor of a vision tower.
pub(super) fn vision_tower(dims: &VisionDims) -> Vec<Slot> {
    let (hidden, inner) = (dims.hidden_size, dims.intermediate_size);
    let width = "vision_config.hidden_size";
    let mut slots = Slots::default();
    slots.push(
        "visual.patch_embed.proj.weight".into(),
        vec![hidden, CHANNELS, FRAMES, PATCH, PATCH],
        Role::PatchKernel,
        "vision_config.hidden_size, in_channels, temporal_patch_size and twice patch_size",
    );
    slots.parameter("visual.patch_embed.proj.bias", &[hidden], width);
    let positions = [dims.position_side * dims.position_side, hidden];
    slots.matrix("visual.pos_embed", positions, "vision_config.num_position_embeddings, hidden_size");
    for block in 0..dims.depth {
        let path = format!("visual.blocks.{block}");
        for norm in ["norm1", "norm2"] {
            slots.layer_norm(&format!("{path}.{norm}"), hidden);
        }
        slots.biased(&format!("{path}.attn.qkv"), [3 * hidden, hidden], width);
        slots.biased(&format!("{path}.attn.proj"), [hidden, hidden], width);
        let up = "vision_config.intermediate_size, hidden_size";
        slots.biased(&format!("{path}.mlp.linear_fc1"), [inner, hidden], up);
        slots.biased(&format!("{path}.mlp.linear_fc2"), [hidden, inner], up);
    }
    slots.layer_norm("visual.merger.norm", hidden);
    let together = MERGE * MERGE * hidden;
    let because = "vision_config.hidden_size, spatial_merge_size, out_hidden_size";
    slots.biased("visual.merger.linear_fc1", [together, together], because);
    slots.biased("visual.merger.linear_fc2", [dims.out_hidden_size, together], because);
    slots.0
}

/// A list of tensors that grows.
#[derive(Default)]
pub(super) struct Slots(pub(super) Vec<Slot>);

impl Slots {
    fn layer(
        &mut self,
        path: &str,
        mixer: LayerKind,
        mlp: MlpKind,
        config: &Config,
    ) -> Result<(), CheckpointError> {
        self.norm(&format!("{path}.input_layernorm.weight"), config.hidden_size, "hidden_size");
        match mixer {
            LayerKind::LinearAttention => self.linear_attention(&format!("{path}.linear_attn"), config),
            LayerKind::FullAttention => self.full_attention(&format!("{path}.self_attn"), config),
        }
        self.norm(&format!("{path}.post_attention_layernorm.weight"), config.hidden_size, "hidden_size");
        let (path, hidden) = (format!("{path}.mlp"), config.hidden_size);
        match (mlp, &config.moe, config.intermediate_size) {
            (MlpKind::Dense, _, Some(inner)) => self.mlp(&path, [inner, hidden], "intermediate_size"),
            (MlpKind::Dense, _, None) => {
                return Err(invalid("intermediate_size", None, format!("the width of {path}")));
            }
            (MlpKind::Sparse, Some(moe), _) => self.experts(&path, moe, hidden),
            (MlpKind::Sparse, None, _) => {
                return Err(invalid("num_experts", None, format!("the number of experts in {path}")));
            }
        }
        Ok(())
    }

    fn full_attention(&mut self, path: &str, config: &Config) {
        let (dims, hidden) = (&config.attention, config.hidden_size);
        let query = "2 × num_attention_heads × head_dim, hidden_size";
        self.attention(path, dims, hidden, (dims.query_and_gate_dim(), query));
    }

    /// Attention whose query projection carries no gate.
    pub(super) fn ungated_attention(&mut self, path: &str, dims: &AttentionDims, hidden: usize) {
        let query = "num_attention_heads × head_dim, hidden_size";
        self.attention(path, dims, hidden, (dims.query_dim(), query));
    }

    fn attention(
        &mut self,
        path: &str,
        dims: &AttentionDims,
        hidden: usize,
        (query_rows, query): (usize, &str),
    ) {
        let kv = "num_key_value_heads × head_dim, hidden_size";
        let output = "hidden_size, num_attention_heads × head_dim";
        self.matrix(&format!("{path}.q_proj"), [query_rows, hidden], query);
        self.matrix(&format!("{path}.k_proj"), [dims.kv_dim(), hidden], kv);
        self.matrix(&format!("{path}.v_proj"), [dims.kv_dim(), hidden], kv);
        self.matrix(&format!("{path}.o_proj"), [hidden, dims.query_dim()], output);
        self.norm(&format!("{path}.q_norm.weight"), dims.head_dim, "head_dim");
        self.norm(&format!("{path}.k_norm.weight"), dims.head_dim, "head_dim");
    }

    fn linear_attention(&mut self, path: &str, config: &Config) {
        let (dims, hidden) = (&config.linear, config.hidden_size);
        let qkv = "2 × linear key width + linear value width, hidden_size";
        let value = "linear_num_value_heads × linear_value_head_dim, hidden_size";
        let heads = "linear_num_value_heads, hidden_size";
        let output = "hidden_size, linear_num_value_heads × linear_value_head_dim";
        self.matrix(&format!("{path}.in_proj_qkv"), [dims.conv_dim(), hidden], qkv);
        self.matrix(&format!("{path}.in_proj_z"), [dims.value_dim(), hidden], value);
        self.matrix(&format!("{path}.in_proj_b"), [dims.value_heads, hidden], heads);
        self.matrix(&format!("{path}.in_proj_a"), [dims.value_heads, hidden], heads);
        self.matrix(&format!("{path}.out_proj"), [hidden, dims.value_dim()], output);
        self.push(
            format!("{path}.conv1d.weight"),
            vec![dims.conv_dim(), dims.conv_kernel, 1],
            Role::Conv,
            "linear key and value widths and linear_conv_kernel_dim",
        );
        for name in ["A_log", "dt_bias"] {
            let name = format!("{path}.{name}");
            self.push(name, vec![dims.value_heads], Role::Recurrence, "linear_num_value_heads");
        }
        let norm = format!("{path}.norm.weight");
        self.push(norm, vec![dims.value_head_dim], Role::Recurrence, "linear_value_head_dim");
    }

    pub(super) fn mlp(&mut self, path: &str, [inner, hidden]: [usize; 2], key: &str) {
        let (up, down) = (format!("{key}, hidden_size"), format!("hidden_size, {key}"));
        self.matrix(&format!("{path}.gate_proj"), [inner, hidden], &up);
        self.matrix(&format!("{path}.up_proj"), [inner, hidden], &up);
        self.matrix(&format!("{path}.down_proj"), [hidden, inner], &down);
    }

    fn experts(&mut self, path: &str, moe: &MoeDims, hidden: usize) {
        let (experts, inner) = (moe.experts, moe.intermediate_size);
        self.matrix(&format!("{path}.gate"), [experts, hidden], "num_experts, hidden_size");
        let up = "num_experts, moe_intermediate_size, hidden_size";
        let down = "num_experts, hidden_size, moe_intermediate_size";
        for (projection, shape, because) in [
            ("gate_proj", [experts, inner, hidden], up),
            ("up_proj", [experts, inner, hidden], up),
            ("down_proj", [experts, hidden, inner], down),
        ] {
            self.push(format!("{path}.switch_mlp.{projection}"), shape.into(), Role::Matrix, because);
        }
        if let Some(shared) = moe.shared_intermediate_size {
            let key = "shared_expert_intermediate_size";
            self.mlp(&format!("{path}.shared_expert"), [shared, hidden], key);
            self.matrix(&format!("{path}.shared_expert_gate"), [1, hidden], "1, hidden_size");
        }
    }

    pub(super) fn matrix(&mut self, path: &str, shape: [usize; 2], because: &str) {
        self.push(path.into(), shape.into(), Role::Matrix, because);
    }

    /// A matrix with a bias for each of its rows.
    fn biased(&mut self, path: &str, shape: [usize; 2], because: &str) {
        self.matrix(path, shape, because);
        self.parameter(&format!("{path}.bias"), &shape[..1], because);
    }

    fn layer_norm(&mut self, path: &str, size: usize) {
        for part in ["weight", "bias"] {
            self.parameter(&format!("{path}.{part}"), &[size], "vision_config.hidden_size");
        }
    }

    pub(super) fn norm(&mut self, name: &str, size: usize, because: &str) {
        self.push(name.into(), vec![size], Role::Norm, because);
    }

    pub(super) fn parameter(&mut self, name: &str, shape: &[usize], because: &str) {
        self.push(name.into(), shape.into(), Role::Parameter, because);
    }

    fn push(&mut self, name: String, shape: Vec<usize>, role: Role, because: &str) {
        self.0.push(Slot { name, shape, role, because: because.into() });
    }
}
