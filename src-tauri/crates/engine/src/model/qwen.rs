//! The network of Qwen3-Next, Qwen3.5 and Qwen3.6: embedding, decoder layers, final norm, output head, MTP head; and
//! its forward passes for prefill and for decode steps.

use std::ops::Range;
use std::rc::Rc;

use foretoken_protocol::KvPrecision;

use super::kernel_part::KernelPart;
use super::linear::Linear;
use super::matrix::Embedding;
use super::packed::Packed;
use super::rope::Rotation;
use super::stack::{LayerOutputs, Phase, Read, Stack};
use super::{DraftLmHead, DraftModel, Layer, Mixer, MtpHead, Vision};
use crate::cache::{DeltaState, RowCache, RowKv};
use crate::checkpoint::{HiddenMode, QuantSpec};
use crate::link::{Flight, FrameKind, Link, REST};
use crate::memory::RowMemory;
use crate::mlx::{self, Array, DeviceKind, MlxError, Result, TopK};

/// The whole network with its MTP head, if it has one.
#[derive(Debug, Clone)]
pub struct Qwen {
    /// Token ids to vectors.
    pub embed_tokens: Embedding,
    /// The decoder layers, or the first ones, where the rest lies on other machines.
    pub stack: Stack,
    /// The machines that have the other layers.
    pub rest: Option<Rc<Link>>,
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
    /// Who finds the most likely tokens.
    pub top_k: TopK,
    /// What of it kernels run.
    pub kernels: Vec<KernelPart>,
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

/// A forward pass on its way: what the layers here have made of it.
#[derive(Debug)]
pub struct Trunk {
    /// The output of the last of them, `[T, H]`.
    x: Array,
    outputs: LayerOutputs,
    /// Where other machines compute the other layers.
    elsewhere: Option<Flight>,
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
        let (layers, outputs) = (0..self.stack.layers.len(), LayerOutputs::default());
        self.land(self.launch(x, layers, packed, rows, states, phase, outputs)?)
    }

    /// Runs some of the layers here: x `[T, H]` → `[T, H]`. Running all of them piece by piece is the same as at once.
    /// In [`Phase::Prefill`] it waits for the last one, unless nothing reads its output: without an MTP head only the
    /// caches of the model's last layer are needed of a prompt.
    #[expect(clippy::too_many_arguments, reason = "what a pass reads and what it changes")]
    pub fn run_layers(
        &self,
        x: Array,
        layers: Range<usize>,
        packed: &Packed,
        rows: &mut [&mut RowCache],
        states: &mut [DeltaState],
        phase: Phase<'_>,
        outputs: &mut LayerOutputs,
    ) -> Result<Array> {
        let last = self.mtp.is_some() || self.rest.is_some() || layers.end < self.stack.layers.len();
        let read = Read { last, taps: self.taps() };
        self.stack.run(x, layers, packed, rows, states, phase, read, outputs)
    }

    /// The layers whose outputs the draft model reads.
    fn taps(&self) -> &[usize] {
        self.draft.as_ref().map_or(&[][..], DraftModel::taps)
    }

    /// Runs the last of the layers here, and has other machines run those that lie there: [`Self::land`] waits for
    /// them. `outputs`: what the layers before have left beside x.
    #[expect(clippy::too_many_arguments, reason = "what a pass reads and what it changes")]
    pub fn launch(
        &self,
        x: Array,
        layers: Range<usize>,
        packed: &Packed,
        rows: &mut [&mut RowCache],
        states: &mut [DeltaState],
        phase: Phase<'_>,
        mut outputs: LayerOutputs,
    ) -> Result<Trunk> {
        let Some(rest) = &self.rest else {
            let x = self.run_layers(x, layers, packed, rows, states, phase, &mut outputs)?;
            return Ok(Trunk { x, outputs, elsewhere: None });
        };
        let rotation = packed.rotation().map(|Rotation(turned)| turned);
        let kind = match phase {
            Phase::Prefill => FrameKind::Chunk { is_turned: rotation.is_some() },
            Phase::Step { .. } => FrameKind::Step,
        };
        let in_pass = |(row, (tokens, position)): (&&mut RowCache, (usize, usize))| {
            Some(row.remote.as_ref()?.in_pass(tokens, position))
        };
        let told: Option<Vec<_>> = rows.iter().zip(packed.spans()).map(in_pass).collect();
        let told = told.ok_or_else(|| MlxError::new(REST, "a row is not known there"))?;
        let announced = rest.announce(kind, told, rotation)?;
        let (tokens, hidden, dtype) = (x.dim(0), x.dim(1), x.dtype());
        let taps = self.taps();
        let width = |taps: usize| (1 + taps as i32) * hidden;
        let own = taps.iter().filter(|&&tap| tap < self.stack.layers.len()).count();
        let run = || -> Result<Array> {
            let x = self.run_layers(x, layers, packed, rows, states, phase, &mut outputs)?;
            let x = mlx::concatenate(&[&x].into_iter().chain(&outputs.taps).collect::<Vec<_>>(), -1)?;
            // Computed here, so that what fails fails before anybody is sent anything of it.
            mlx::eval([&x])?;
            Ok(x)
        };
        match run() {
            Ok(x) => {
                let elsewhere = Some(rest.launch(announced, &x, width(taps.len())));
                if let Phase::Prefill = phase {
                    rows.iter().zip(packed.lens()).for_each(|(row, &tokens)| row.tell_read(tokens as usize));
                }
                Ok(Trunk { x, outputs, elsewhere })
            }
            Err(error) => {
                rest.give_up(announced, [tokens, width(own)], dtype, width(taps.len()));
                Err(error)
            }
        }
    }

    /// Waits for what other machines make of a pass, where some layers lie there.
    pub fn land(&self, trunk: Trunk) -> Result<Hidden> {
        let Trunk { x, mut outputs, elsewhere } = trunk;
        let Some(flight) = elsewhere else { return self.hidden(x, outputs) };
        let (all, hidden) = (flight.land()?, self.norm.dim(0));
        let part = |index: i32| all.slice_axis(1, index * hidden, (index + 1) * hidden);
        outputs.taps = (1..=self.taps().len() as i32).map(part).collect::<Result<_>>()?;
        self.hidden(part(0)?, outputs)
    }

    /// How many steps, or chunks of a prompt, it computes at a time: one, unless other machines have layers of it.
    pub fn most_in_flight(&self) -> usize {
        self.rest.as_ref().map_or(1, |rest| rest.most_in_flight())
    }

    /// The same network, of which nothing is handed to the device before it is asked for: its graphs can be looked at.
    pub fn lazy(&self) -> Self {
        Self { stack: Stack { layers_per_piece: None, ..self.stack.clone() }, ..self.clone() }
    }

    /// The final norm of the last layer's output `[T, H]`, and what the MTP head and the draft model read. `outputs`:
    /// what the layers left beside it.
    fn hidden(&self, x: Array, LayerOutputs { taps, pieces }: LayerOutputs) -> Result<Hidden> {
        let normed = mlx::rms_norm(&x, Some(&self.norm), self.stack.eps)?;
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
        RowCache {
            kv: self.stack.empty_kv(kv_precision),
            head: self.mtp.as_ref().map(|_| RowKv::default()),
            draft: self.draft.as_ref().map(DraftModel::empty_context),
            remote: self.rest.as_ref().map(Link::row),
        }
    }

    /// Recurrent states of `rows` rows that have seen nothing, one per linear-attention layer.
    pub fn empty_states(&self, rows: i32) -> Result<Vec<DeltaState>> {
        self.stack.empty_states(rows)
    }

    /// The most drafts of a row that a GPU verifies with the attention of plain steps; with more it takes a slower one,
    /// which stores all scores.
    pub fn most_quick_drafts(&self) -> usize {
        let quick = |layer: &Layer| match &layer.mixer {
            Mixer::Attention(attention) => Some(attention.most_quick_queries(self.kv_precision)),
            Mixer::Delta(_) => None,
        };
        let least = self.stack.layers.iter().filter_map(quick).min();
        match mlx::device() {
            DeviceKind::Cpu => usize::MAX,
            DeviceKind::Metal | DeviceKind::Cuda => least.map_or(usize::MAX, |queries| queries - 1),
        }
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let mut arrays = [self.embed_tokens.arrays(), vec![&self.norm], self.lm_head.arrays()].concat();
        arrays.extend(self.stack.layers.iter().flat_map(Layer::arrays));
        arrays.extend(self.draft_head.iter().flat_map(DraftLmHead::arrays));
        arrays.extend(self.mtp.iter().flat_map(MtpHead::arrays));
        arrays.extend(self.draft.iter().flat_map(DraftModel::arrays));
        arrays
    }
}
