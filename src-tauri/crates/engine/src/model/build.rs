//! From a checkpoint to a network.

use super::LoadError;
use super::linear::Linear;
use super::stack::Stack;
use super::weights::{LoadProgress, Weights, compute_dtype, report};
use super::{
    Attention, AttentionDims, DeltaDims, DeltaNet, DraftLmHead, Embedding, FeedForward, Layer, Mixer, Moe,
    MoeDims, MtpHead, Qwen, Rope,
};
use crate::checkpoint::{CheckpointError, Config, LayerKind, Layout};
use crate::memory::{DraftHead, RowMemory};
use crate::mlx::{self, DeviceKind, Dtype, TopK};

/// Layers of a step that a GPU is handed together: two periods of three recurrent layers and one with attention. Each
/// piece ends a command buffer, which costs some 20 µs; building one takes the host several times as long.
const LAYERS_PER_PIECE: usize = 8;

impl Qwen {
    /// Reads the weights and puts the network together.
    pub fn load(
        config: &Config,
        layout: &Layout,
        progress: &mut LoadProgress<'_>,
    ) -> Result<Self, LoadError> {
        let weights = Weights::read(layout.tensors.iter(), &layout.weights, progress)?;
        let mut builder = Builder::new(config, layout, weights);
        let model = builder.qwen(layout, progress)?;
        mlx::eval(model.arrays())?;
        mlx::clear_cache();
        Ok(model)
    }
}

impl Stack {
    /// Reads the weights of a model's layers, where there is nothing else of it in the layout.
    pub fn load(
        config: &Config,
        layout: &Layout,
        progress: &mut LoadProgress<'_>,
    ) -> Result<Self, LoadError> {
        let bytes = layout.weight_bytes();
        let weights = Weights::read(layout.tensors.iter(), &layout.weights, progress)?;
        let stack = Builder::new(config, layout, weights).stack(&mut || report(progress, bytes, bytes))?;
        mlx::clear_cache();
        Ok(stack)
    }
}

/// What puts parts of a network together from the weights that it has.
#[derive(Debug, Clone)]
pub(super) struct Builder<'a> {
    config: &'a Config,
    dtype: Dtype,
    weights: Weights,
}

impl<'a> Builder<'a> {
    /// From weights of the model that `config` and `layout` describe.
    pub(super) fn new(config: &'a Config, layout: &Layout, weights: Weights) -> Self {
        Self { config, dtype: compute_dtype(layout.compute), weights }
    }

    /// The weights that are left.
    pub(super) fn weights(&mut self) -> &mut Weights {
        &mut self.weights
    }

    /// Puts the network together; `progress` hears of each layer, and that all bytes are read.
    fn qwen(&mut self, layout: &Layout, progress: &mut LoadProgress<'_>) -> Result<Qwen, LoadError> {
        let config = self.config;
        let bytes = layout.weight_bytes();
        let embed_tokens = self.embedding()?;
        let stack = self.stack(&mut || report(progress, bytes, bytes))?;
        let norm = self.weights.tensor("norm.weight")?;
        let lm_head = if config.tied { embed_tokens.as_head() } else { self.weights.linear("lm_head")? };
        let mtp = if layout.has_mtp() { Some(self.mtp_head()?) } else { None };
        let lm_head = Linear::new(lm_head)?;
        let copy = DraftHead::of(config, layout, mlx::device());
        let draft_spec = copy.and_then(|copy| copy.spec);
        let ids = layout.draft_vocabulary.as_ref().map(|vocabulary| vocabulary.ids.as_slice());
        let draft_head = match copy {
            Some(_) => DraftLmHead::of(lm_head.matrix(), draft_spec, ids, self.dtype)?,
            None => None,
        };
        Ok(Qwen {
            embed_tokens,
            stack,
            rest: None,
            norm,
            lm_head,
            draft_head,
            draft_spec,
            mtp,
            draft: None,
            vision: None,
            hidden_mode: layout.hidden_mode,
            top_k: TopK::default(),
            kernels: Vec::new(),
            kv_precision: layout.kv_precision,
            row_memory: RowMemory::of(config, layout),
        })
    }

    /// The decoder layers; `done` hears of each.
    fn stack(&mut self, done: &mut dyn FnMut() -> Result<(), LoadError>) -> Result<Stack, LoadError> {
        let config = self.config;
        let layer = |(index, &kind): (usize, &LayerKind)| {
            let layer = self.layer(&format!("layers.{index}"), kind)?;
            done()?;
            Ok(layer)
        };
        let layers = config.layer_numbers().zip(&config.layers).map(layer);
        Ok(Stack {
            first: config.first_layer,
            layers: layers.collect::<Result<_, LoadError>>()?,
            eps: config.rms_norm_eps,
            add_norm: None,
            layers_per_piece: (mlx::device() != DeviceKind::Cpu).then_some(LAYERS_PER_PIECE),
        })
    }

    /// Token ids to vectors.
    pub(super) fn embedding(&mut self) -> Result<Embedding, LoadError> {
        Ok(Embedding::new(self.weights.linear("embed_tokens")?, self.dtype))
    }

    /// The decoder layer of this kind below a path.
    pub(super) fn layer(&mut self, path: &str, kind: LayerKind) -> Result<Layer, LoadError> {
        let mixer = match kind {
            LayerKind::FullAttention => Mixer::Attention(self.attention(&format!("{path}.self_attn"))?),
            LayerKind::LinearAttention => Mixer::Delta(self.delta_net(&format!("{path}.linear_attn"))?),
        };
        let layer = Layer {
            input_layernorm: self.weights.tensor(&format!("{path}.input_layernorm.weight"))?,
            mixer,
            post_attention_layernorm: self
                .weights
                .tensor(&format!("{path}.post_attention_layernorm.weight"))?,
            mlp: self.feed_forward(&format!("{path}.mlp"))?,
        };
        // Projections are put together here, and what they were made of goes at once.
        mlx::eval(layer.arrays())?;
        Ok(layer)
    }

    fn attention(&mut self, path: &str) -> Result<Attention, LoadError> {
        let dims = &self.config.attention;
        let rope = Rope::of(dims)?;
        let dims = AttentionDims {
            heads: dims.heads as i32,
            kv_heads: dims.kv_heads as i32,
            head_dim: dims.head_dim as i32,
            eps: self.config.rms_norm_eps,
        };
        let projections = self.weights.linears(path, ["q_proj", "k_proj", "v_proj", "o_proj"])?;
        let q_norm = self.weights.tensor(&format!("{path}.q_norm.weight"))?;
        let k_norm = self.weights.tensor(&format!("{path}.k_norm.weight"))?;
        Ok(Attention::new(dims, rope, projections, q_norm, k_norm)?)
    }

    fn delta_net(&mut self, path: &str) -> Result<DeltaNet, LoadError> {
        let dims = &self.config.linear;
        let dims = DeltaDims {
            key_heads: dims.key_heads as i32,
            value_heads: dims.value_heads as i32,
            key_dim: dims.key_head_dim as i32,
            value_dim: dims.value_head_dim as i32,
            conv_kernel: dims.conv_kernel as i32,
            eps: self.config.rms_norm_eps,
        };
        let projections =
            self.weights.linears(path, ["in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"])?;
        let out_proj = self.weights.linear(&format!("{path}.out_proj"))?;
        // Raw files keep some of these in f32; the reference conversion computes with them in the model's type.
        let mut tensor = |name: &str| -> Result<_, LoadError> {
            Ok(self.weights.tensor(&format!("{path}.{name}"))?.astype(self.dtype)?)
        };
        let (conv1d, dt_bias, norm) = (tensor("conv1d.weight")?, tensor("dt_bias")?, tensor("norm.weight")?);
        let a_log = self.weights.tensor(&format!("{path}.A_log"))?;
        Ok(DeltaNet::new(dims, self.dtype, projections, [conv1d, a_log, dt_bias, norm], out_proj)?)
    }

    /// The token-wise part of a layer: a mixture of experts where there are stacks of them.
    fn feed_forward(&mut self, path: &str) -> Result<FeedForward, LoadError> {
        if !self.weights.has(&format!("{path}.switch_mlp.gate_proj.weight")) {
            return Ok(FeedForward::Dense(self.weights.mlp(path)?));
        }
        let moe = self.config.moe.as_ref().ok_or_else(|| CheckpointError::Contradiction {
            config: "nothing of experts".into(),
            tensors: format!("that {path} has some"),
        })?;
        let dims =
            MoeDims { experts_per_token: moe.experts_per_token as i32, norm_topk_prob: moe.norm_topk_prob };
        let gate = self.weights.linear(&format!("{path}.gate"))?;
        let experts =
            self.weights.linears(&format!("{path}.switch_mlp"), ["gate_proj", "up_proj", "down_proj"])?;
        let shared = match moe.shared_intermediate_size {
            None => None,
            Some(_) => Some((
                self.weights.mlp(&format!("{path}.shared_expert"))?,
                self.weights.linear(&format!("{path}.shared_expert_gate"))?,
            )),
        };
        Ok(FeedForward::Moe(Box::new(Moe::new(dims, gate, experts, shared)?)))
    }

    /// The MTP head.
    pub(super) fn mtp_head(&mut self) -> Result<MtpHead, LoadError> {
        let layer = "mtp.layers.0";
        let embedding_norm = self.weights.tensor("mtp.pre_fc_norm_embedding.weight")?;
        let hidden_norm = self.weights.tensor("mtp.pre_fc_norm_hidden.weight")?;
        Ok(MtpHead {
            pre_fc_norms: mlx::stack(&[&embedding_norm, &hidden_norm], 0)?,
            fc: Linear::new(self.weights.linear("mtp.fc")?)?,
            input_layernorm: self.weights.tensor(&format!("{layer}.input_layernorm.weight"))?,
            self_attn: self.attention(&format!("{layer}.self_attn"))?,
            post_attention_layernorm: self
                .weights
                .tensor(&format!("{layer}.post_attention_layernorm.weight"))?,
            mlp: self.feed_forward(&format!("{layer}.mlp"))?,
            norm: self.weights.tensor("mtp.norm.weight")?,
            eps: self.config.rms_norm_eps,
            add_norm: None,
            guesses_apart: mlx::device() != DeviceKind::Cpu,
        })
    }
}
