//! Affine groups of weights with few bits each: scales and biases that lie closer to the weights than those of
//! `mlx.quantize`, which sets them by the extremes of a group and computes codes with a scale that it then rounds.
//!
//! Each group tries narrower ranges of codes; from each, codes and the least-squares line through them take turns. A
//! scale and a bias are rounded to the stored type before codes are derived from them. The best of all is kept, that of
//! `mlx.quantize` among them, so no group is worse than there. A group's result depends on nothing beside it.
//!
//! It runs on the host: a group stays in the nearest cache through all its hundreds of steps, which as operations on
//! arrays would each pass through memory. Sums are in a few lanes in a fixed order, so that they become vector
//! instructions, and the same bytes on every machine.

mod line;
mod packing;

use rayon::prelude::*;

use line::Group;

pub use line::of_extremes;
pub use packing::pack;

/// What a column counts at least, as a share of the mean of all.
pub const LEAST_WEIGHT: f32 = 1e-3;

/// What columns count by their importance: of mean 1, none far below; a row of which nothing is known is even.
pub fn weights(importance: &[f32]) -> Vec<f32> {
    let mean = importance.iter().sum::<f32>() / importance.len() as f32;
    let weight = |value: &f32| if mean > 0.0 { value / mean + LEAST_WEIGHT } else { 1.0 };
    importance.iter().map(weight).collect()
}

/// How the weights of a matrix lie in groups.
#[derive(Debug, Clone, Copy)]
pub struct Groups {
    /// Weights of a row, whole groups.
    pub columns: usize,
    /// Weights of a group, a multiple of 32.
    pub size: usize,
    /// Bits of a code, at most 8.
    pub bits: usize,
    /// What scales and biases are rounded to.
    pub stored: Stored,
}

/// A type of scales and biases.
#[derive(Debug, Clone, Copy)]
pub enum Stored {
    /// 16 bits with the range of 32.
    Bfloat16,
    /// 16 bits.
    Float16,
    /// 32 bits.
    Float32,
}

/// Groups that are fitted, one after the other.
#[derive(Debug, Default)]
pub struct Fitted {
    /// Their codes, packed.
    pub words: Vec<u32>,
    /// What takes a code to a weight, exact in the stored type.
    pub scales: Vec<f32>,
    /// And what is added then.
    pub biases: Vec<f32>,
}

impl Fitted {
    /// Fits some rows. `weights` says what each weight counts: in every row, or row by row.
    pub fn extend(&mut self, values: &[f32], weights: &[f32], of: Groups) {
        let rows: Vec<_> = values.chunks(of.columns).zip(weights.chunks(of.columns).cycle()).collect();
        let fit_row = |(values, weights): (&[f32], &[f32])| {
            let mut row = Self::default();
            for (values, weights) in values.chunks(of.size).zip(weights.chunks(of.size)) {
                row.push(&Group::new(values, weights, of.bits, of.stored), of.bits);
            }
            row
        };
        let rows: Vec<Self> = rows.into_par_iter().map(fit_row).collect();
        for row in rows {
            self.words.extend(row.words);
            self.scales.extend(row.scales);
            self.biases.extend(row.biases);
        }
    }

    fn push(&mut self, group: &Group<'_>, bits: usize) {
        let line = group.best();
        self.words.extend(pack(group.codes(line), bits));
        self.scales.push(line.scale);
        self.biases.push(line.bias);
    }
}
