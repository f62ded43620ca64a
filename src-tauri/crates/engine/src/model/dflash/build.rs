//! From a draft model's checkpoint to its network.

use super::super::LoadError;
use super::super::heads::AttentionDims;
use super::super::linear::Linear;
use super::super::rope::Rope;
use super::super::weights::{LoadProgress, Weights, compute_dtype, report};
use super::attention::BlockAttention;
use super::conv::BlockConv;
use super::layer::DraftLayer;
use super::network::DraftModel;
use super::selector::CandidateSelector;
use crate::checkpoint::{Convolutions, DraftConfig, DraftLayout, Visibility};
use crate::memory::DraftMemory;
use crate::mlx::{self, Pairing};

impl DraftModel {
    /// Reads the weights and puts the network together.
    pub fn load(
        config: &DraftConfig,
        layout: &DraftLayout,
        progress: &mut LoadProgress<'_>,
    ) -> Result<Self, LoadError> {
        let weights = Weights::read(&layout.tensors, &layout.weights, progress)?;
        let mut builder = Builder { config, weights };
        let fc = Linear::new(builder.weights.linear("fc")?)?;
        let hidden_norm = builder.weights.tensor("hidden_norm.weight")?;
        let bytes = layout.weight_bytes();
        let mut layers = Vec::with_capacity(config.layers.len());
        for (index, visibility) in config.layers.iter().enumerate() {
            layers.push(builder.layer(&format!("layers.{index}"), *visibility)?);
            report(progress, bytes, bytes)?;
        }
        let norm = builder.weights.tensor("norm.weight")?;
        let selector = match config.dflash2 {
            Some((_, dims)) => {
                let names = ["predecessor_codebook", "successor_codebook", "hidden_projection"];
                let matrices = builder.weights.linears("candidate_selector", names)?;
                Some(CandidateSelector::new(dims.top_k, matrices, compute_dtype(layout.compute))?)
            }
            None => None,
        };
        let model = Self {
            fc,
            hidden_norm,
            layers,
            norm,
            selector,
            eps: config.rms_norm_eps,
            features: config.features(),
            taps: config.target_layer_ids.clone(),
            block_size: config.block_size,
            mask_token_id: config.mask_token_id,
            embedding_scale: config.embedding_scale,
            logit_scale: config.logit_scale,
            logit_softcap: config.logit_softcap,
            memory: DraftMemory::of(config, layout),
        };
        mlx::eval(model.arrays())?;
        mlx::clear_cache();
        Ok(model)
    }
}

struct Builder<'a> {
    config: &'a DraftConfig,
    weights: Weights,
}

impl Builder<'_> {
    fn layer(&mut self, path: &str, visibility: Visibility) -> Result<DraftLayer, LoadError> {
        let convs = match self.config.dflash2 {
            Some((dims, _)) => Some([
                self.conv(&format!("{path}.attention_conv"), dims)?,
                self.conv(&format!("{path}.mlp_conv"), dims)?,
            ]),
            None => None,
        };
        let layer = DraftLayer {
            input_layernorm: self.weights.tensor(&format!("{path}.input_layernorm.weight"))?,
            attention: self.attention(&format!("{path}.self_attn"), visibility)?,
            post_attention_layernorm: self
                .weights
                .tensor(&format!("{path}.post_attention_layernorm.weight"))?,
            mlp: self.weights.mlp(&format!("{path}.mlp"))?,
            convs,
        };
        // Projections are put together here, and what they were made of goes at once.
        mlx::eval(layer.arrays())?;
        Ok(layer)
    }

    fn attention(&mut self, path: &str, visibility: Visibility) -> Result<BlockAttention, LoadError> {
        let dims = &self.config.attention;
        let pairing = if self.config.rope_interleaved { Pairing::Neighbours } else { Pairing::Halves };
        let rope = Rope::of(dims)?.with_pairing(pairing);
        let dims = AttentionDims {
            heads: dims.heads as i32,
            kv_heads: dims.kv_heads as i32,
            head_dim: dims.head_dim as i32,
            eps: self.config.rms_norm_eps,
        };
        let projections = self.weights.linears(path, ["q_proj", "k_proj", "v_proj", "o_proj"])?;
        let q_norm = self.weights.tensor(&format!("{path}.q_norm.weight"))?;
        let k_norm = self.weights.tensor(&format!("{path}.k_norm.weight"))?;
        Ok(BlockAttention::new(dims, rope, projections, [q_norm, k_norm], visibility)?)
    }

    fn conv(&mut self, path: &str, dims: Convolutions) -> Result<BlockConv, LoadError> {
        let base = self.weights.tensor(&format!("{path}.base_kernel"))?;
        let projection = self.weights.linear(&format!("{path}.kernel_projection"))?;
        Ok(BlockConv::new(dims, &base, projection)?)
    }
}
