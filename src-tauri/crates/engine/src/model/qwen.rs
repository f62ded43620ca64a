//! The network of Qwen3-Next, Qwen3.5 and Qwen3.6: embedding, decoder layers with Gated DeltaNet or gated attention,
//! final norm, output head, MTP head; and its forward passes for prefill and for decode steps.

use std::ops::Range;

use foretoken_protocol::KvPrecision;

use super::kernel_part::KernelPart;
use super::linear::Linear;
use super::matrix::Embedding;
use super::packed::Packed;
use super::{DraftLmHead, DraftModel, Layer, Mixer, MtpHead, Vision};
use crate::cache::{DeltaState, RowCache, RowKv};
use crate::checkpoint::{HiddenMode, QuantSpec};
use crate::memory::RowMemory;
use crate::mlx::kernels::AddNorm;
use crate::mlx::{self, Array, DeviceKind, Result, TopK};

/// How a forward pass treats the recurrent layers.
#[derive(Debug, Clone, Copy)]
pub enum Phase<'a> {
    /// Many tokens of one row, in chunks; afterwards all of them are committed.
    Prefill,
    /// A few tokens of each row, token by token, whose updates are left on the tape.
    Step {
        /// The number of tokens of the previous step that each row committed.
        committed: &'a [usize],
        /// Where the device still computes the previous step, that one's [`Hidden::pieces`]. A piece is handed over
        /// once the device is done with the previous step's next one: from then on nothing reads what this one writes
        /// to, which would be copied otherwise. The last piece is left to the caller.
        behind: Option<&'a [Array]>,
    },
}

/// What layers leave beside their output.
#[derive(Debug, Default)]
pub struct LayerOutputs {
    /// The outputs of those layers that the draft model reads, `[T, H]` each.
    pub taps: Vec<Array>,
    /// In [`Phase::Step`], the outputs of the layers that end a piece, `[T, H]` each.
    pub pieces: Vec<Array>,
}

/// The whole network with its MTP head, if it has one.
#[derive(Debug, Clone)]
pub struct Qwen {
    /// Token ids to vectors.
    pub embed_tokens: Embedding,
    /// The decoder layers.
    pub layers: Vec<Layer>,
    /// The final norm.
    pub norm: Array,
    /// Vectors to logits; the embedding itself where the two are tied.
    pub lm_head: Linear,
    /// The copy of `lm_head` that drafts are drawn by.
    pub draft_head: Option<DraftLmHead>,
    /// How a copy is quantized where drafts are to be drawn by one; `None` for as `lm_head` is.
    pub draft_spec: Option<QuantSpec>,
    /// The MTP head, which drafts.
    pub mtp: Option<MtpHead>,
    /// The draft model that belongs to it, where one was loaded.
    pub draft: Option<DraftModel>,
    /// What it sees with, once it was loaded.
    pub vision: Option<Vision>,
    /// Which hidden state the MTP head reads.
    pub hidden_mode: HiddenMode,
    /// Added to the mean square in norms.
    pub eps: f32,
    /// What adds the residual and norms at once; operations where there is none.
    pub add_norm: Option<AddNorm>,
    /// Who finds the most likely tokens.
    pub top_k: TopK,
    /// What of it kernels run.
    pub kernels: Vec<KernelPart>,
    /// How many layers of a step are handed to the device together, which computes them while the host builds the next
    /// ones; the first pieces are smaller, for it to begin early. Each draft is handed over as soon as it is built,
    /// too. `None`: all at once, when all is built.
    pub layers_per_piece: Option<usize>,
    /// How its rows keep the trunk's keys and values.
    pub kv_precision: KvPrecision,
    /// The memory that a row of it takes, without what a draft model keeps of it.
    pub row_memory: RowMemory,
}

/// What a forward pass gives for its T tokens.
#[derive(Debug)]
pub struct Hidden {
    /// After the final norm: what the output head reads. `[T, H]`.
    pub normed: Array,
    /// What the MTP head reads. `[T, H]`.
    pub for_mtp: Array,
    /// What the draft model reads, where there is one: the outputs of the layers that it taps, side by side.
    /// `[T, taps · H]`.
    pub features: Option<Array>,
    /// What the pieces end with in which the pass goes to the device, in order, `[T, H]` each; none where it goes there
    /// all at once.
    pub pieces: Vec<Array>,
}

impl Hidden {
    /// What is read of it after the step: what is drafted from, and what the next step's pieces wait for.
    pub fn read_later(&self) -> impl Iterator<Item = &Array> {
        [&self.for_mtp].into_iter().chain(&self.features).chain(&self.pieces)
    }
}

impl Qwen {
    /// ids `[T]` of the rows in `packed` through all layers; appends to `rows` and `states`.
    pub fn forward(
        &self,
        ids: &Array,
        packed: &Packed,
        rows: &mut [&mut RowCache],
        states: &mut [DeltaState],
        phase: Phase<'_>,
    ) -> Result<Hidden> {
        self.forward_embedded(self.embed_tokens.forward(ids)?, packed, rows, states, phase)
    }

    /// The same from the vectors `[T, H]` that the tokens go in with.
    pub fn forward_embedded(
        &self,
        x: Array,
        packed: &Packed,
        rows: &mut [&mut RowCache],
        states: &mut [DeltaState],
        phase: Phase<'_>,
    ) -> Result<Hidden> {
        let mut outputs = LayerOutputs::default();
        let x = self.run_layers(x, 0..self.layers.len(), packed, rows, states, phase, &mut outputs)?;
        self.hidden(x, outputs)
    }

    /// Runs some of the layers: x `[T, H]` → `[T, H]`. Running all of them piece by piece is the same as at once. In
    /// [`Phase::Prefill`] it waits for the last one, unless nothing reads its output: without an MTP head only the
    /// caches of the model's last layer are needed of a prompt.
    #[expect(clippy::too_many_arguments, reason = "what a pass reads and what it changes")]
    pub fn run_layers(
        &self,
        mut x: Array,
        layers: Range<usize>,
        packed: &Packed,
        rows: &mut [&mut RowCache],
        states: &mut [DeltaState],
        phase: Phase<'_>,
        outputs: &mut LayerOutputs,
    ) -> Result<Array> {
        let tapped = self.draft.as_ref().map_or(&[][..], DraftModel::taps);
        let is_attention = |layer: &&Layer| matches!(layer.mixer, Mixer::Attention(_));
        let attention_before = self.layers[..layers.start].iter().filter(is_attention).count();
        let mut states = states.iter_mut().skip(layers.start - attention_before);
        let mut attention_layers = attention_before..;
        let mut in_flight: Option<Array> = None;
        // States and layers of the piece that is being built, and how many it will have at most.
        let (mut unsent, mut layers_unsent, mut piece): (Vec<Array>, usize, usize) = (Vec::new(), 0, 1);
        // By the kernel that added the residual before.
        let mut normed_before: Option<Array> = None;
        let last_is_read = self.mtp.is_some() || layers.end < self.layers.len();
        let read = layers.len() - usize::from(!last_is_read);
        for (index, layer) in self.layers[layers.clone()].iter().enumerate() {
            let mut recurrent = None;
            let normed = match (normed_before.take(), &self.add_norm) {
                (Some(normed), _) => normed,
                (None, Some(add_norm)) => add_norm.norm(&x, &layer.input_layernorm)?,
                (None, None) => mlx::rms_norm(&x, Some(&layer.input_layernorm), self.eps)?,
            };
            let mixed = match &layer.mixer {
                Mixer::Attention(attention) => {
                    let index = attention_layers.next().expect("endless");
                    let caches = rows.iter_mut().map(|row| &mut row.kv[index]);
                    attention.forward(&normed, packed, caches)?
                }
                Mixer::Delta(delta) => {
                    let state = states.next().expect("one state per linear-attention layer");
                    let mixed = match phase {
                        Phase::Prefill => delta.prefill(&normed, packed, state)?,
                        Phase::Step { committed, .. } => delta.step(&normed, packed, state, committed)?,
                    };
                    recurrent = Some(state);
                    mixed
                }
            };
            x = match &self.add_norm {
                Some(add_norm) => {
                    let [h, normed] = add_norm.run(&x, &mixed, &layer.post_attention_layernorm)?;
                    let y = layer.mlp.forward(&normed)?;
                    match self.layers[..layers.end].get(layers.start + index + 1) {
                        Some(next) => {
                            let [x, normed] = add_norm.run(&h, &y, &next.input_layernorm)?;
                            normed_before = Some(normed);
                            x
                        }
                        None => h.add(&y)?,
                    }
                }
                None => layer.feed_forward(&x.add(&mixed)?, self.eps)?,
            };
            if tapped.contains(&(layers.start + index)) {
                outputs.taps.push(x.clone());
            }
            // Intermediate results must not pile up over all layers: one layer is computed while the next one's graph
            // is built, and memory is only taken for that one when the first is done.
            if let Phase::Prefill = phase
                && index < read
            {
                if let Some(before) = in_flight.replace(x.clone()) {
                    mlx::eval([&before])?;
                }
                let states = recurrent.iter().flat_map(|state| state.arrays());
                mlx::async_eval(std::iter::once(&x).chain(states))?;
            }
            if let (Phase::Step { behind, .. }, Some(most)) = (phase, self.layers_per_piece) {
                unsent.extend(recurrent.iter().flat_map(|state| state.arrays()).cloned());
                layers_unsent += 1;
                if layers_unsent == piece.min(most) {
                    outputs.pieces.push(x.clone());
                    let done = behind.map(|before| before.get(outputs.pieces.len()));
                    if let Some(Some(done)) = done {
                        mlx::eval([done])?;
                    }
                    if !matches!(done, Some(None)) {
                        mlx::async_eval(unsent.iter().chain([&x]))?;
                    }
                    unsent.clear();
                    (layers_unsent, piece) = (0, 2 * piece);
                }
            }
        }
        if let Some(last) = &in_flight {
            mlx::eval([last])?;
        }
        Ok(x)
    }

    /// The same network, of which nothing is handed to the device before it is asked for: its graphs can be looked at.
    pub fn lazy(&self) -> Self {
        Self { layers_per_piece: None, ..self.clone() }
    }

    /// The final norm of the last layer's output `[T, H]`, and what the MTP head and the draft model read. `outputs`:
    /// what the layers left beside it.
    pub fn hidden(&self, x: Array, LayerOutputs { taps, pieces }: LayerOutputs) -> Result<Hidden> {
        let normed = mlx::rms_norm(&x, Some(&self.norm), self.eps)?;
        let for_mtp = match self.hidden_mode {
            HiddenMode::PostNorm => normed.clone(),
            HiddenMode::PreNorm => x,
        };
        let features = match taps.as_slice() {
            [] => None,
            taps => Some(mlx::concatenate(&taps.iter().collect::<Vec<_>>(), -1)?),
        };
        Ok(Hidden { normed, for_mtp, features, pieces })
    }

    /// `[T, H]` → logits `[T, V]` in the compute type.
    pub fn logits(&self, normed: &Array) -> Result<Array> {
        self.lm_head.forward(normed)
    }

    /// Output of the MTP head `[T, H]` → logits `[T, V]` to draft from, by the draft head where there is one.
    pub fn draft_logits(&self, normed: &Array) -> Result<Array> {
        match &self.draft_head {
            Some(head) => head.forward(normed),
            None => self.lm_head.forward(normed),
        }
    }

    /// Has drafts chosen from these tokens alone, ascending, or from all.
    pub fn set_draft_vocabulary(&mut self, ids: Option<&[u32]>) -> Result<()> {
        // Two copies at once may not fit.
        self.draft_head = None;
        self.draft_head = match (ids, self.draft_spec) {
            (None, None) => None,
            (ids, spec) => DraftLmHead::of(self.lm_head.matrix(), spec, ids, self.norm.dtype())?,
        };
        Ok(())
    }

    /// An empty row: caches of the attention layers, and of the head if there is one.
    pub fn empty_row(&self) -> RowCache {
        self.empty_row_with(self.kv_precision)
    }

    /// An empty row that keeps the trunk's keys and values in this precision, which the size of the heads must allow.
    pub fn empty_row_with(&self, kv_precision: KvPrecision) -> RowCache {
        let attention = self.layers.iter().filter(|layer| matches!(layer.mixer, Mixer::Attention(_)));
        RowCache {
            kv: attention.map(|_| RowKv::new(kv_precision)).collect(),
            head: self.mtp.as_ref().map(|_| RowKv::default()),
            draft: self.draft.as_ref().map(DraftModel::empty_context),
        }
    }

    /// Recurrent states of `rows` rows that have seen nothing, one per linear-attention layer.
    pub fn empty_states(&self, rows: i32) -> Result<Vec<DeltaState>> {
        self.layers
            .iter()
            .filter_map(|layer| match &layer.mixer {
                Mixer::Delta(delta) => Some(delta.empty_state(rows)),
                Mixer::Attention(_) => None,
            })
            .collect()
    }

    /// The most drafts of a row that a GPU verifies with the attention of plain steps; with more it takes a slower one,
    /// which stores all scores.
    pub fn most_quick_drafts(&self) -> usize {
        let quick = |layer: &Layer| match &layer.mixer {
            Mixer::Attention(attention) => Some(attention.most_quick_queries(self.kv_precision)),
            Mixer::Delta(_) => None,
        };
        let least = self.layers.iter().filter_map(quick).min();
        match mlx::device() {
            DeviceKind::Cpu => usize::MAX,
            DeviceKind::Metal | DeviceKind::Cuda => least.map_or(usize::MAX, |queries| queries - 1),
        }
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let mut arrays = [self.embed_tokens.arrays(), vec![&self.norm], self.lm_head.arrays()].concat();
        arrays.extend(self.layers.iter().flat_map(Layer::arrays));
        arrays.extend(self.draft_head.iter().flat_map(DraftLmHead::arrays));
        arrays.extend(self.mtp.iter().flat_map(MtpHead::arrays));
        arrays.extend(self.draft.iter().flat_map(DraftModel::arrays));
        arrays
    }
}
