//! The memory that a model takes, from its config and layout alone.
//!
//! What is told is what MLX counts as its peak over loading the model and writing a reply at the end of a context: live
//! arrays, weights included. What the process takes beyond that is left out: the program itself, the tokenizer, buffers
//! that MLX keeps for reuse.

use foretoken_protocol::{KvPrecision, PictureDetail};
use serde::Serialize;

use super::at_once::{ChunkSizes, PREFILL_CHUNK, UNREAD_FEATURES, delta_chunk, has_fused_attention};
use super::draft_head::DraftHead;
use super::draft_model::DraftMemory;
use super::loading::loading;
use super::row::RowMemory;
use super::vision::TowerMemory;
use crate::cache::RowKv;
use crate::checkpoint::{AttentionDims, Config, LayerKind, Layout};
use crate::mlx::{self, Span};

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
    /// The peak: all weights and the larger of what loading takes, and what a row takes with the copy of the head.
    pub total: u64,
    /// Keys and values of the trunk, per token.
    pub kv_per_token: u64,
    /// Keys and values of the MTP head, per token.
    pub head_cache_per_token: u64,
    /// What a draft model takes; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_model: Option<DraftNeed>,
    /// What seeing takes; `None` for a model that sees nothing. It is not in the other numbers: the tower is read with
    /// the first picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<VisionNeed>,
}

/// Memory for the vision tower and a picture in the prompt, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct VisionNeed {
    /// Pixels of the picture that the numbers are for.
    pub pixels: u64,
    /// The tower.
    pub weights: u64,
    /// The most that is computed in passing while a picture goes through it, before the prompt is read.
    pub working_set: u64,
    /// What it makes of the picture.
    pub features: u64,
    /// The peak of a chat with such a picture.
    pub total: u64,
    /// The peak of a chat with a small one, as it is seen in low detail.
    pub least_total: u64,
}

/// Memory for a draft model and what it keeps of one row, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DraftNeed {
    /// The loaded tensors.
    pub weights: u64,
    /// Keys and values of what it has read.
    pub context: u64,
    /// Those that grow with the context, per token.
    pub context_per_token: u64,
    /// What the model has put out and the draft model has not read yet.
    pub unread: u64,
}

impl MemoryEstimate {
    /// The need of a row of `context` tokens. `draft`: the draft model that is loaded beside the model.
    pub fn of(config: &Config, layout: &Layout, draft: Option<DraftMemory>, context: u64) -> Self {
        let standard = PictureDetail::Standard.most_pixels().map_or(u64::MAX, u64::from);
        Self::seeing(config, layout, draft, context, standard)
    }

    /// The same with a picture of so many pixels in the prompt, or as many as the model reads.
    pub(super) fn seeing(
        config: &Config,
        layout: &Layout,
        draft: Option<DraftMemory>,
        context: u64,
        pixels: u64,
    ) -> Self {
        let row = RowMemory::of(config, layout);
        let RowMemory { kv_per_token, head_cache_per_token, recurrent_state, .. } = row;
        let positions = RowKv::positions_for(context);
        let copy = DraftHead::of(config, layout, mlx::device());
        let making_copy = copy.map_or(0, |copy| copy.bytes().saturating_add(copy.making()));
        // The draft model is loaded behind the copy.
        let loading_draft = draft.map_or(0, |draft| draft.loading + copy.map_or(0, |copy| copy.bytes()));
        let mut need = Self {
            context,
            weights: layout.weight_bytes(),
            draft_head: copy.map_or(0, |copy| copy.bytes()),
            kv: kv_per_token.saturating_mul(positions),
            head_cache: head_cache_per_token.saturating_mul(positions),
            recurrent_state,
            working_set: 0,
            loading: loading(&layout.tensors).max(making_copy).max(loading_draft),
            total: 0,
            kv_per_token,
            head_cache_per_token,
            vision: None,
            draft_model: draft.map(|draft| DraftNeed {
                weights: draft.weights,
                context: draft.context(context),
                context_per_token: draft.context_per_token,
                unread: row.features(&draft, UNREAD_FEATURES as u64),
            }),
        };
        let passing = Passing {
            config,
            layout,
            draft,
            size: layout.compute.bytes(),
            chunks: ChunkSizes::on(mlx::device()),
        };
        need.working_set = passing.prefill(context).max(passing.step(need.recurrent_state));
        let (weights, of_draft) = need
            .draft_model
            .map_or((0, 0), |draft| (draft.weights, draft.context.saturating_add(draft.unread)));
        let row = [need.draft_head, need.kv, need.head_cache, need.recurrent_state, of_draft];
        let row = row.into_iter().fold(0, u64::saturating_add);
        let weights = need.weights.saturating_add(weights);
        let writing = row.saturating_add(need.working_set);
        need.total = weights.saturating_add(writing.max(need.loading));
        need.vision = layout.vision.tower().map(|tower| {
            let tower = TowerMemory::of(tower, layout.compute, mlx::device());
            let pixels = pixels.min(tower.most_pixels());
            let total = |pixels| {
                let reading = need.working_set.saturating_add(tower.features(pixels));
                let seeing = reading.max(tower.working_set(pixels)).max(tower.loading);
                [weights, tower.weights, row, seeing].into_iter().fold(0, u64::saturating_add).max(need.total)
            };
            let small = PictureDetail::Low.most_pixels().map_or(pixels, |small| pixels.min(small.into()));
            VisionNeed {
                pixels,
                weights: tower.weights,
                working_set: tower.working_set(pixels),
                features: tower.features(pixels),
                total: total(pixels),
                least_total: total(small),
            }
        });
        need
    }

    /// The peak of a chat with a picture, where the model sees, or else of one without.
    pub fn most(&self) -> u64 {
        self.vision.map_or(self.total, |vision| vision.total)
    }
}

/// What is computed in passing. A layer is waited for before the next begins, so the largest one counts.
struct Passing<'a> {
    config: &'a Config,
    layout: &'a Layout,
    draft: Option<DraftMemory>,
    /// Bytes of a number of the compute type.
    size: u64,
    chunks: ChunkSizes,
}

impl Passing<'_> {
    /// The most that a chunk of the prompt takes: of each size the last one, or the rest that sees more keys.
    fn prefill(&self, context: u64) -> u64 {
        let prompt = context.saturating_sub(1).max(1);
        let chunk = |(rows, keys)| {
            let layer = self.attention(rows, keys).max(self.delta(rows));
            // What the draft model reads is kept from layer to layer, and put together at the end.
            let taps = self.features(rows);
            let reading = self.draft.map_or(0, |draft| taps.saturating_add(draft.reading(rows, keys)));
            layer.max(reading).saturating_add(taps)
        };
        last_chunks(prompt, self.chunks).into_iter().map(chunk).max().unwrap_or(0)
    }

    /// What the draft model reads of so many tokens.
    fn features(&self, tokens: u64) -> u64 {
        self.draft.map_or(0, |draft| draft.features.saturating_mul(self.size).saturating_mul(tokens))
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
        let scores = match has_fused_attention(mlx::device(), head_dim) {
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
        self.config
            .layer_numbers()
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

    /// A step: the states before and after it, and the logits of its tokens, which sampling sees in float32; those of
    /// a block before them.
    fn step(&self, recurrent_state: u64) -> u64 {
        let (drafts, block) =
            self.draft.map_or((DRAFTS, 0), |draft| (draft.guesses.max(DRAFTS), draft.guesses));
        let logits = (1 + drafts + block) * self.config.vocab_size as u64 * (self.size + 2 * F32);
        recurrent_state.saturating_mul(2).saturating_add(logits).saturating_add(self.features(1 + drafts))
    }
}

/// Tokens of a chunk and the positions that they see: of each size the last chunk in a prompt of so many tokens, and
/// what is left behind all.
fn last_chunks(prompt: u64, chunks: ChunkSizes) -> Vec<(u64, u64)> {
    let (mut last, mut read) = (Vec::<(u64, u64)>::new(), 0);
    loop {
        let size = chunks.at(read as usize) as u64;
        if prompt - read < size {
            last.extend((prompt > read).then_some((prompt - read, prompt)));
            return last;
        }
        // Chunks of the smallest size go on like this to the end.
        read += match size > PREFILL_CHUNK as u64 {
            true => size,
            false => (prompt - read) / size * size,
        };
        last.retain(|&(rows, _)| rows != size);
        last.push((size, read));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx::DeviceKind;

    #[test]
    fn of_each_size_the_last_chunk_counts_and_what_is_left() {
        let (gpu, cpu) = (ChunkSizes::on(DeviceKind::Metal), ChunkSizes::on(DeviceKind::Cpu));
        assert_eq!(last_chunks(1300, cpu), [(512, 1024), (276, 1300)]);
        assert_eq!(last_chunks(1024, cpu), [(512, 1024)]);
        assert_eq!(last_chunks(100, gpu), [(100, 100)]);
        assert_eq!(last_chunks(5000, gpu), [(2048, 4096), (904, 5000)]);
        let far = [(2048, 8192), (1024, 16_384), (512, 32_768), (1, 32_769)];
        assert_eq!(last_chunks(32_769, gpu), far);
        // The largest scores are those of 512 tokens at the end of 32,768.
        assert!(far.iter().all(|(rows, keys)| rows * keys <= 512 * 32_768));
    }
}
