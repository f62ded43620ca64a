//! Decoder layers one behind the other, with Gated DeltaNet or gated attention: all of a model's, or those that one of
//! several machines has.

use std::ops::Range;

use foretoken_protocol::KvPrecision;

use super::packed::Packed;
use super::{Layer, Mixer};
use crate::cache::{DeltaState, RowCache, RowKv};
use crate::mlx::kernels::AddNorm;
use crate::mlx::{self, Array, Dtype, Result};

/// How a forward pass treats the recurrent layers.
#[derive(Debug, Clone, Copy)]
pub enum Phase<'a> {
    /// Many tokens of one row, in chunks; afterwards all of them are committed.
    Prefill,
    /// A few tokens of each row, token by token, whose updates are left on the tape.
    Step {
        /// The number of tokens of the previous step that each row committed.
        committed: &'a [usize],
        /// Where the device still computes the previous step, that one's [`LayerOutputs::pieces`]. A piece is handed
        /// over once the device is done with the previous step's next one: from then on nothing reads what this one
        /// writes to, which would be copied otherwise. The last piece is left to the caller.
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

/// What is read of a pass beside caches and states.
#[derive(Debug, Clone, Copy)]
pub struct Read<'a> {
    /// Whether the output of the last layer is.
    pub last: bool,
    /// The layers whose outputs the draft model reads, counted from the model's first.
    pub taps: &'a [usize],
}

/// Decoder layers in a row.
#[derive(Debug, Clone)]
pub struct Stack {
    /// Which one of the model the first of them is.
    pub first: usize,
    /// The layers.
    pub layers: Vec<Layer>,
    /// Added to the mean square in norms.
    pub eps: f32,
    /// What adds the residual and norms at once; operations where there is none.
    pub add_norm: Option<AddNorm>,
    /// How many layers of a step are handed to the device together, which computes them while the host builds the next
    /// ones; the first pieces are smaller, for it to begin early. Each draft is handed over as soon as it is built,
    /// too. `None`: all at once, when all is built.
    pub layers_per_piece: Option<usize>,
}

impl Stack {
    /// Runs some of the layers, counted from the first one here: x `[T, H]` → `[T, H]`. Running all of them piece by
    /// piece is the same as at once. In [`Phase::Prefill`] it waits for the last one, unless nothing reads its output.
    #[expect(clippy::too_many_arguments, reason = "what a pass reads and what it changes")]
    pub fn run(
        &self,
        mut x: Array,
        layers: Range<usize>,
        packed: &Packed,
        rows: &mut [&mut RowCache],
        states: &mut [DeltaState],
        phase: Phase<'_>,
        read: Read<'_>,
        outputs: &mut LayerOutputs,
    ) -> Result<Array> {
        let is_attention = |layer: &&Layer| matches!(layer.mixer, Mixer::Attention(_));
        let attention_before = self.layers[..layers.start].iter().filter(is_attention).count();
        let mut states = states.iter_mut().skip(layers.start - attention_before);
        let mut attention_layers = attention_before..;
        let mut in_flight: Option<Array> = None;
        // States and layers of the piece that is being built, and how many it will have at most.
        let (mut unsent, mut layers_unsent, mut piece): (Vec<Array>, usize, usize) = (Vec::new(), 0, 1);
        // By the kernel that added the residual before.
        let mut normed_before: Option<Array> = None;
        let waited_for = layers.len() - usize::from(!read.last);
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
            if read.taps.contains(&(self.first + layers.start + index)) {
                outputs.taps.push(x.clone());
            }
            // Intermediate results must not pile up over all layers: one layer is computed while the next one's graph
            // is built, and memory is only taken for that one when the first is done.
            if let Phase::Prefill = phase
                && index < waited_for
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

    /// Width and type of the hidden states that it reads and makes; `None` where it has no layer.
    pub fn hidden(&self) -> Option<(i32, Dtype)> {
        let norm = &self.layers.first()?.input_layernorm;
        Some((norm.dim(0), norm.dtype()))
    }

    /// Empty keys and values of a row, one for each layer with attention.
    pub fn empty_kv(&self, precision: KvPrecision) -> Vec<RowKv> {
        let attention = self.layers.iter().filter(|layer| matches!(layer.mixer, Mixer::Attention(_)));
        attention.map(|_| RowKv::new(precision)).collect()
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
}
