//! The line of a group.

use half::{bf16, f16};

use crate::Stored;

/// How much of the distance from the mean of a group to its extremes the codes span at first.
const SPANS: [f32; 7] = [1.0, 0.95, 0.9, 0.85, 0.8, 0.72, 0.64];
/// What is left of one side of that.
const SIDES: [f32; 2] = [1.0, 0.92];
/// How often codes and line take turns.
const ROUNDS: usize = 3;
/// A fit must be better by more than its error sums are rounded.
const CLEARLY: f32 = 0.9999;
/// The least range of a group by which `mlx.quantize` divides.
const LEAST_STEP: f32 = 1e-7;
/// Sums that are added up side by side; groups are multiples of it.
const LANES: usize = 8;

/// A line through the codes of a group: a weight is about its code times `scale` plus `bias`, both exact in the stored
/// type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) scale: f32,
    pub(crate) bias: f32,
    /// What takes distances from the bias to codes.
    inverse: f32,
}

impl Line {
    /// The line through these, rounded to the stored type.
    fn stored(scale: f32, bias: f32, stored: Stored) -> Self {
        let (scale, bias) = (rounded(scale, stored), rounded(bias, stored));
        // A scale that the stored type rounds to zero leaves the bias alone.
        Self { scale, bias, inverse: if scale == 0.0 { 1.0 } else { 1.0 / scale } }
    }

    /// The code whose point on the line is nearest. Comparisons instead of `clamp` become single instructions.
    #[inline]
    pub(crate) fn code(self, value: f32, last: f32) -> f32 {
        /// Beyond it an f32 has no places behind the point, so adding it rounds to even.
        const WHOLE: f32 = 8_388_608.0;
        let code = (value - self.bias) * self.inverse;
        let code = if code > 0.0 { code } else { 0.0 };
        let code = if code < last { code } else { last };
        (code + WHOLE) - WHOLE
    }

    #[inline]
    fn point(self, code: f32) -> f32 {
        code * self.scale + self.bias
    }
}

fn rounded(value: f32, stored: Stored) -> f32 {
    match stored {
        Stored::Bfloat16 => bf16::from_f32(value).to_f32(),
        Stored::Float16 => f16::from_f32(value).to_f32(),
        Stored::Float32 => value,
    }
}

/// The scale and the bias that `mlx.quantize` computes from the extremes of a group, before they are rounded.
pub fn of_extremes(low: f32, high: f32, last: f32) -> (f32, f32) {
    let size = ((high - low) / last).max(LEAST_STEP);
    let (edge, step) = if low.abs() > high.abs() { (low, size) } else { (high, -size) };
    let zero = (edge / step).round_ties_even();
    if zero == 0.0 { (step, 0.0) } else { (edge / zero, edge) }
}

/// The weights of a group and what each counts.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    values: &'a [[f32; LANES]],
    weights: &'a [[f32; LANES]],
    /// All that they count.
    total: f32,
    /// Their weighted mean.
    mean: f32,
    low: f32,
    high: f32,
    /// The largest code.
    last: f32,
    stored: Stored,
}

impl<'a> Group<'a> {
    /// The weights and what they count, in codes of so many bits.
    pub(crate) fn new(values: &'a [f32], weights: &'a [f32], bits: usize, stored: Stored) -> Self {
        let extreme = |pick: fn(f32, f32) -> f32| values.iter().copied().reduce(pick).unwrap_or(0.0);
        let (low, high) = (extreme(f32::min), extreme(f32::max));
        let (values, weights) = (values.as_chunks().0, weights.as_chunks().0);
        let last = ((1_u32 << bits) - 1) as f32;
        let mut group = Self { values, weights, total: 0.0, mean: 0.0, low, high, last, stored };
        let [total, sum] = group.sums(|value, weight| [weight, weight * value]);
        (group.total, group.mean) = (total, sum / total);
        group
    }

    /// Sums over the group of what `of` makes of a value and its weight.
    #[inline]
    fn sums<const N: usize>(&self, of: impl Fn(f32, f32) -> [f32; N]) -> [f32; N] {
        let mut sums = [[0.0; LANES]; N];
        for (values, weights) in self.values.iter().zip(self.weights) {
            for lane in 0..LANES {
                let terms = of(values[lane], weights[lane]);
                for (sum, term) in sums.iter_mut().zip(terms) {
                    sum[lane] += term;
                }
            }
        }
        sums.map(|lanes| lanes.iter().sum())
    }

    /// Sum of weighted squared errors.
    fn error(&self, line: Line) -> f32 {
        let [error] = self.sums(|value, weight| {
            let off = value - line.point(line.code(value, self.last));
            [weight * (off * off)]
        });
        error
    }

    /// The least-squares line through the codes that this one gives.
    fn refined(&self, line: Line) -> Line {
        let [sum] = self.sums(|value, weight| [weight * line.code(value, self.last)]);
        let mean = sum / self.total;
        let [spread, common] = self.sums(|value, weight| {
            let off = line.code(value, self.last) - mean;
            let weighted = weight * off;
            [weighted * off, weighted * (value - self.mean)]
        });
        let scale = if spread > 0.0 { rounded(common / spread, self.stored) } else { line.scale };
        Line::stored(scale, self.mean - scale * mean, self.stored)
    }

    /// The weights' codes on a line.
    pub(crate) fn codes(&self, line: Line) -> impl Iterator<Item = u8> {
        self.values.as_flattened().iter().map(move |value| line.code(*value, self.last) as u8)
    }

    /// The best line.
    pub(crate) fn best(&self) -> Line {
        let (scale, bias) = of_extremes(self.low, self.high, self.last);
        let nearest = Line::stored(scale, bias, self.stored);
        let mut best = (nearest, self.error(nearest) * CLEARLY);
        for (span, side) in SPANS.iter().flat_map(|span| SIDES.map(|side| (span, side))) {
            let low = self.mean + (self.low - self.mean) * span;
            let high = self.mean + (self.high - self.mean) * (span * side);
            let begun = Line::stored((high - low) / self.last, low, self.stored);
            let line = (0..ROUNDS).fold(begun, |line, _| self.refined(line));
            let error = self.error(line);
            if error < best.1 {
                best = (line, error);
            }
        }
        best.0
    }
}
