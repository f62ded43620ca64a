//! The memory that a model takes, from its config and layout alone.
//!
//! What is told is what MLX counts as its peak over loading the model and writing a reply at the end of a context: live
//! arrays, weights included. What the process takes beyond that is left out: the program itself, the tokenizer, buffers
//! that MLX keeps for reuse.

use foretoken_protocol::KvPrecision;
use serde::Serialize;

use super::at_once::{FINITE_BLOCK, PREFILL_CHUNK, delta_chunk};
use super::draft_head::DraftHead;
use super::row::RowMemory;
use crate::cache::RowKv;
use crate::checkpoint::{AttentionDims, Config, LayerKind, Layout, Rows, TensorPlan, Transform};
use crate::mlx::{self, DeviceKind, Span};

/// Drafts of a step that the numbers are for; more add little.
const DRAFTS: u64 = 3;
const F32: u64 = 4;
/// What a Gated DeltaNet layer has in memory at once while it reads a piece, as measured: MLX frees in the order in
/// which the device finishes, some fifty operations behind the host. Keys and values of all tokens, in float32, in
/// several layouts.
const DELTA_VECTORS: u64 = 9;
/// Matrices between the tokens of each chunk.
const DELTA_MATRICES: u64 = 3;
/// For each chunk the state before it and what is added.
const DELTA_STATES: u64 = 2;

/// Memory for the weights and for one row, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryEstimate {
    /// The context that the numbers are for, in tokens: prompt and reply.
    pub context: u64,
    /// The loaded tensors.
    pub weights: u64,
    /// The output head's copy that drafts are made with; 0 without one.
    pub draft_head: u64,
    /// Keys and values of the trunk.
    pub kv: u64,
    /// Keys and values of the MTP head.
    pub head_cache: u64,
    /// States of the Gated DeltaNet layers, whatever the context.
    pub recurrent_state: u64,
    /// The most that is computed in passing, while a piece of the prompt is read or a step is made.
    pub working_set: u64,
    /// The most that loading takes beside the weights, before there is a row.
    pub loading: u64,
    /// The peak: weights and the larger of what loading takes, and what a row takes with the copy of the head.
    pub total: u64,
    /// Keys and values of the trunk, per token.
    pub kv_per_token: u64,
    /// Keys and values of the MTP head, per token.
    pub head_cache_per_token: u64,
}

impl MemoryEstimate {
    /// The need of a row of `context` tokens.
    pub fn of(config: &Config, layout: &Layout, context: u64) -> Self {
        let RowMemory { kv_per_token, head_cache_per_token, recurrent_state } = RowMemory::of(config, layout);
        let positions = RowKv::positions_for(context);
        let copy = DraftHead::of(config, layout, mlx::device());
        let making_copy = copy.map_or(0, |copy| copy.bytes().saturating_add(copy.making()));
        let mut need = Self {
            context,
            weights: layout.weight_bytes(),
            draft_head: copy.map_or(0, |copy| copy.bytes()),
            kv: kv_per_token.saturating_mul(positions),
            head_cache: head_cache_per_token.saturating_mul(positions),
            recurrent_state,
            working_set: 0,
            loading: loading(layout).max(making_copy),
            total: 0,
            kv_per_token,
            head_cache_per_token,
        };
        let passing = Passing { config, layout, size: layout.compute.bytes() };
        need.working_set = passing.prefill(context).max(passing.step(need.recurrent_state));
        let row = [need.draft_head, need.kv, need.head_cache, need.recurrent_state, need.working_set];
        let row = row.into_iter().fold(0, u64::saturating_add);
        need.total = need.weights.saturating_add(row.max(need.loading));
        need
    }
}

/// What loading takes beside the weights: tensors are read one after the other and checked block by block, then the
/// projections of a layer that read the same input are put together.
fn loading(layout: &Layout) -> u64 {
    let reading = layout.tensors.iter().map(|plan| {
        let parts = match &plan.sources[..] {
            [only] if only.rows == Rows::All && plan.stored == plan.dtype => 0,
            sources => sources.iter().map(|source| source.bytes).fold(0, u64::saturating_add),
        };
        let changed = if plan.transform == Transform::None { 0 } else { plan.loaded_bytes() };
        // Three truth values for each number: infinite either way, no number.
        let checked = 3 * (plan.loaded_bytes() * 8 / plan.dtype.bitsize() as u64).min(FINITE_BLOCK as u64);
        parts.saturating_add(changed).saturating_add(checked)
    });
    let fused = layer_paths(layout).map(|path| {
        let tensors =
            layout.tensors.iter().filter(|plan| plan.name.starts_with(&path) && is_fused(&plan.name));
        // Queries and gates are taken apart first.
        let copies = |plan: &TensorPlan| if plan.name.contains("q_proj") { 2 } else { 1 };
        tensors.map(|plan| plan.loaded_bytes().saturating_mul(copies(plan))).fold(0, u64::saturating_add)
    });
    reading.chain(fused).max().unwrap_or(0)
}

/// Whether a tensor is put together with others that read the same input.
fn is_fused(name: &str) -> bool {
    const FUSED: [&str; 7] =
        ["q_proj", "k_proj", "v_proj", "in_proj_", "mlp.gate_proj", "mlp.up_proj", "shared_expert."];
    FUSED.iter().any(|module| name.contains(module))
}

/// The beginnings of the names of each layer's tensors.
fn layer_paths(layout: &Layout) -> impl Iterator<Item = String> {
    let mut paths: Vec<String> = Vec::new();
    for plan in &layout.tensors {
        let depth = if plan.name.starts_with("mtp.") { 3 } else { 2 };
        let path = plan.name.split('.').take(depth).collect::<Vec<_>>().join(".") + ".";
        if path.contains("layers.") && paths.last() != Some(&path) {
            paths.push(path);
        }
    }
    paths.into_iter()
}

/// What is computed in passing. A layer is waited for before the next begins, so the largest one counts.
struct Passing<'a> {
    config: &'a Config,
    layout: &'a Layout,
    /// Bytes of a number of the compute type.
    size: u64,
}

impl Passing<'_> {
    /// The most that a piece of the prompt takes: the last whole one, or the rest behind it that sees more keys.
    fn prefill(&self, context: u64) -> u64 {
        let piece = PREFILL_CHUNK as u64;
        let prompt = context.saturating_sub(1).max(1);
        let whole = prompt / piece * piece;
        let pieces = [(piece.min(whole), whole), (prompt - whole, prompt)];
        pieces
            .into_iter()
            .map(|(rows, keys)| self.attention(rows, keys).max(self.delta(rows)))
            .max()
            .unwrap_or(0)
    }

    /// A full-attention layer over `rows` tokens and `keys` positions.
    fn attention(&self, rows: u64, keys: u64) -> u64 {
        let AttentionDims { heads, head_dim, .. } = self.config.attention;
        let hidden = self.config.hidden_size as u64;
        let (query, kv) = (self.config.attention.query_dim() as u64, self.config.attention.kv_dim() as u64);
        // Two norms, two sums, the outputs of the mixer and the MLP.
        let residual = 6 * hidden;
        // The projections; queries and keys joined and rotated; keys joined with values; the output in two layouts, its
        // gate. Queries and keys are normed in float32.
        let mixer = 4 * (query + kv) + 2 * kv + 3 * query;
        let of_token = (residual + mixer + self.mlp()).saturating_mul(self.size) + F32 * (query + kv);
        let scores = match has_fused_attention(head_dim) {
            true => 0,
            // The scores of every head in the compute type, and a truth value for the mask of each part.
            false => {
                let masks = Span::Heads(self.config.attention.kv_heads as i32).most_parts() as u64;
                rows.saturating_mul(keys).saturating_mul(heads as u64 * self.size + masks)
            }
        };
        let apart = match self.layout.kv_precision {
            KvPrecision::Full => 0,
            // All keys and values, taken apart for as long as the layer is computed.
            KvPrecision::Eight => keys.saturating_mul(2 * kv * self.size),
        };
        of_token.saturating_mul(rows).saturating_add(scores).saturating_add(apart)
    }

    /// A Gated DeltaNet layer over `rows` tokens, in chunks.
    fn delta(&self, rows: u64) -> u64 {
        let dims = &self.config.linear;
        if self.config.count(LayerKind::LinearAttention) == 0 {
            return 0;
        }
        let (heads, channels, value) =
            (dims.value_heads as u64, dims.conv_dim() as u64, dims.value_dim() as u64);
        let key = heads * dims.key_head_dim as u64;
        let chunk = u64::from(delta_chunk(rows.min(PREFILL_CHUNK as u64) as u32, dims.key_head_dim as u32));
        // The norm, the projections, the window and the convolution.
        let narrow = (self.config.hidden_size as u64 + 3 * channels + value).saturating_mul(self.size);
        let vectors = DELTA_VECTORS * (key + value);
        let matrices = DELTA_MATRICES * heads * chunk;
        let states = DELTA_STATES * value * dims.key_head_dim as u64 / chunk;
        let wide = F32 * (vectors + matrices + states);
        rows.saturating_mul(narrow.saturating_add(wide))
    }

    /// Numbers that the token-wise part of a layer computes for a token: the outputs of its projections and what lies
    /// between them, of each expert that the token goes through.
    fn mlp(&self) -> u64 {
        let hidden = self.config.hidden_size as u64;
        let width = |path: String| self.layout.weights.get(&path).map_or(0, |weight| weight.rows as u64);
        let chosen = self.config.moe.as_ref().map_or(0, |moe| moe.experts_per_token as u64);
        (0..self.config.layers.len())
            .map(|layer| {
                let path = format!("layers.{layer}.mlp");
                let expert = width(format!("{path}.switch_mlp.up_proj"));
                // Its input in the order of the experts, and its output in either order.
                let experts = if expert > 0 { chosen * (3 * expert + 3 * hidden) } else { 0 };
                let shared = 3 * width(format!("{path}.shared_expert.up_proj"));
                3 * width(format!("{path}.up_proj")) + experts + shared
            })
            .max()
            .unwrap_or(0)
    }

    /// A step: the states before and after it, and the logits of its tokens, which sampling sees in float32.
    fn step(&self, recurrent_state: u64) -> u64 {
        let logits = (1 + DRAFTS) * self.config.vocab_size as u64 * (self.size + 2 * F32);
        recurrent_state.saturating_mul(2).saturating_add(logits)
    }
}

/// Whether scores of many queries are computed without being stored.
fn has_fused_attention(head_dim: usize) -> bool {
    mlx::device() != DeviceKind::Cpu && [64, 80, 128].contains(&head_dim)
}
