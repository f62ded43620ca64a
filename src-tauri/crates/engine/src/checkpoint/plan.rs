//! The parts of a plan: how one tensor of the model is made from what the files hold, how a matrix is stored, and why a
//! tensor in the files is left out.

use std::path::{Path, PathBuf};

use safetensors::Dtype;
use serde::Serialize;

use super::quantization::QuantSpec;

/// What is done to a tensor once its parts are together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// Nothing.
    None,
    /// Adds one, in the stored data type: a norm stored as weight minus one.
    AddOne,
    /// Swaps the last two axes: a convolution kernel `[C, 1, K]` becomes `[C, K, 1]`.
    ConvTranspose,
    /// Moves the last axis behind the first: a kernel `[out, frame, row, column, channel]` becomes `[out, channel,
    /// frame, row, column]`.
    ChannelsFirst,
    /// The reverse of that.
    ChannelsLast,
}

/// Which rows of a stored tensor are meant. Rows are counted over all axes but the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Every row.
    All,
    /// Rows `start..end` of every block of `block` rows: one half of fused expert matrices, one projection of those
    /// that are interleaved head by head.
    OfBlocks {
        /// Rows of a block; divides the rows of the tensor.
        block: usize,
        /// The first row taken.
        start: usize,
        /// The row after the last taken, at most `block`.
        end: usize,
    },
}

/// A stored tensor, or rows of one, that a tensor of the model is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name in the file.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Where its data begins in the file.
    pub offset: u64,
    /// The size of all of it in the file.
    pub bytes: u64,
    /// The shape of all of it, in the file.
    pub shape: Vec<usize>,
    /// What is taken of it.
    pub rows: Rows,
}

/// Bytes that lie side by side in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run<'a> {
    /// The file.
    pub file: &'a Path,
    /// Where they begin.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

impl Source {
    /// Rows of the stored tensor: the product of all axes but the last.
    fn stored_rows(&self) -> usize {
        self.shape.split_last().map_or(1, |(_, outer)| outer.iter().product())
    }

    /// Size of what is taken.
    pub fn taken_bytes(&self) -> u64 {
        match self.rows {
            Rows::All => self.bytes,
            Rows::OfBlocks { block, start, end } => self.bytes / block as u64 * (end - start) as u64,
        }
    }

    /// What is taken, in order.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let rows = self.stored_rows();
        let (block, start, end) = match self.rows {
            Rows::All => (rows.max(1), 0, rows.max(1)),
            Rows::OfBlocks { block, start, end } => (block, start, end),
        };
        let row_bytes = self.bytes / rows.max(1) as u64;
        (0..rows.max(1) / block).map(move |index| Run {
            file: &self.file,
            offset: self.offset + row_bytes * (index * block + start) as u64,
            bytes: row_bytes * (end - start) as u64,
        })
    }
}

/// One tensor of the model: the bytes of its sources one after the other, seen in `shape`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorPlan {
    /// Its canonical name, as `layers.0.mlp.up_proj.weight`.
    pub name: String,
    /// What it is made of, in order. One, except where experts or fused projections are put together.
    pub sources: Vec<Source>,
    /// The data type of every source.
    pub stored: Dtype,
    /// The data type it is loaded in.
    pub dtype: Dtype,
    /// Its shape before the transform.
    pub shape: Vec<usize>,
    /// What to do to it.
    pub transform: Transform,
}

impl TensorPlan {
    /// Its bytes before the transform, in order.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        self.sources.iter().flat_map(Source::runs)
    }

    /// The shape it is loaded in.
    pub fn loaded_shape(&self) -> Vec<usize> {
        let mut shape = self.shape.clone();
        match self.transform {
            Transform::None | Transform::AddOne => {}
            Transform::ConvTranspose => {
                let last = shape.len() - 1;
                shape.swap(last - 1, last);
            }
            Transform::ChannelsFirst => shape[1..].rotate_right(1),
            Transform::ChannelsLast => shape[1..].rotate_left(1),
        }
        shape
    }

    /// Which of the trunk's layers it belongs to, if it does to one.
    pub fn layer(&self) -> Option<usize> {
        layer_of(&self.name)
    }

    /// The memory it takes when loaded.
    pub fn loaded_bytes(&self) -> u64 {
        let elements = self.shape.iter().fold(1u64, |product, size| product.saturating_mul(*size as u64));
        elements.saturating_mul(self.dtype.bitsize() as u64) / 8
    }
}

/// Which of the trunk's layers a tensor or a module belongs to, if it does to one.
pub(super) fn layer_of(name: &str) -> Option<usize> {
    name.strip_prefix("layers.")?.split('.').next()?.parse().ok()
}

/// How the weight of a linear layer or an embedding is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WeightKind {
    /// One tensor, `weight`, of the compute type.
    Dense,
    /// Packed `weight` with `scales`, and `biases` in affine mode.
    Quantized(QuantSpec),
}

/// A linear layer, an embedding, or the same layer of every expert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// How it is stored.
    pub kind: WeightKind,
    /// How many matrices are stacked, `[experts, rows, columns]`; `None` for a single one.
    pub experts: Option<usize>,
    /// Output width, or rows of an embedding.
    pub rows: usize,
    /// Input width, or width of an embedding.
    pub columns: usize,
}

/// Why a tensor in the files is not loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It belongs to a vision tower that cannot be used.
    Vision,
    /// It is an output head beside an embedding that is the output head already.
    TiedHead,
    /// It is a table that follows from the config.
    Derived,
    /// It belongs to an MTP head that cannot be used.
    UnusedHead,
    /// It is an embedding or an output head, which a draft model borrows from its target.
    Borrowed,
}

/// A tensor in the files that is not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its name in the file.
    pub name: String,
    /// Its size in the file.
    pub bytes: u64,
    /// Why.
    pub reason: SkipReason,
}

impl Skipped {
    /// Whether it belongs to a vision tower.
    pub fn is_vision(&self) -> bool {
        self.reason == SkipReason::Vision
    }
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To load the model: what depends on tensor values is decided by reading them.
    Load,
    /// To describe the model: the values may not be on this machine, and what depends on them is then assumed.
    Inspect,
}
