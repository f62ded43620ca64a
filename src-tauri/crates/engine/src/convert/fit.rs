//! Scales and biases of affine groups that lie closer to the weights than those of `mlx.quantize`, which sets them by
//! the extremes of a group and computes codes with a scale that it then rounds.
//!
//! Each group tries narrower ranges of codes; from each, codes and the least-squares line through them take turns. A
//! scale and a bias are rounded to the stored type before codes are derived from them. The best of all is kept, that of
//! `mlx.quantize` among them, so no group is worse than there. A group's result depends on nothing beside it.

use super::packing;
use crate::checkpoint::QuantSpec;
use crate::mlx::{self, Array, Dtype, QuantMode, Result, where_};

/// How much of the distance from the mean of a group to its extremes the codes span at first.
const SPANS: [f32; 7] = [1.0, 0.95, 0.9, 0.85, 0.8, 0.72, 0.64];
/// What is left of one side of that.
const SIDES: [f32; 2] = [1.0, 0.92];
/// How often codes and line take turns.
const ROUNDS: usize = 3;
/// What a column counts at least, as a share of the mean of all.
const LEAST_WEIGHT: f32 = 1e-3;
/// Weights that are worked on at a time; each takes 4 bytes for every beginning and step.
const PIECE: usize = 1 << 18;
/// A fit must be better by more than its error sums are rounded.
const CLEARLY: f32 = 0.9999;

/// Quantizes `value` `[…, columns]` in affine groups: packed codes, scales and biases as [`mlx::quantize`] gives them,
/// with the least weighted squared error that was found in each group. `importance`, f32 `[columns]` or
/// `[rows, columns]` with the rows counted over all axes but the last, weights the columns; without it all are equal.
pub fn fit(value: &Array, spec: QuantSpec, importance: Option<&Array>) -> Result<Vec<Array>> {
    let columns = value.dim(-1);
    let rows = (value.size() / columns.max(1) as usize) as i32;
    let flat = value.reshape(&[rows, columns])?;
    let importance = importance.map(|importance| importance.reshape(&[-1, columns])).transpose()?;
    let step = (PIECE as i32 / columns.max(1)).max(1);
    let mut pieces = Vec::new();
    for start in (0..rows).step_by(step as usize) {
        let end = rows.min(start + step);
        let of_rows = |weights: &Array| match weights.dim(0) {
            1 => Ok(weights.clone()),
            _ => weights.slice_axis(0, start, end),
        };
        let weights = importance.as_ref().map(of_rows).transpose()?;
        pieces.push(fit_rows(&flat.slice_axis(0, start, end)?, spec, weights.as_ref())?);
    }
    let outer = &value.shape()[..value.shape().len() - 1];
    (0..3)
        .map(|part| {
            let parts: Vec<&Array> = pieces.iter().map(|piece| &piece[part]).collect();
            let joined = mlx::concatenate(&parts, 0)?;
            joined.reshape(&[outer, &[joined.dim(-1)]].concat())
        })
        .collect()
}

/// [`fit`] of `[rows, columns]`, all at once and evaluated.
fn fit_rows(value: &Array, spec: QuantSpec, importance: Option<&Array>) -> Result<[Array; 3]> {
    let (group_size, bits) = (spec.group_size as i32, spec.bits as i32);
    let (rows, groups) = (value.dim(0), value.dim(1) / group_size);
    let stored = value.dtype();
    let nearest = mlx::quantize(value, group_size, bits, QuantMode::Affine)?;
    let (words, scales, biases) = (&nearest[0], &nearest[1], &nearest[2]);

    let grouped = |array: &Array, size: i32| array.reshape(&[-1, groups, size]);
    let groups = Groups::new(
        grouped(&value.astype(Dtype::Float32)?, group_size)?,
        importance.map(|importance| grouped(&weighting(importance)?, group_size)).transpose()?,
        stored,
        bits,
    )?;
    let unpacked = mlx::dequantize(
        words,
        &scales.astype(Dtype::Float32)?,
        Some(&biases.astype(Dtype::Float32)?),
        group_size,
        bits,
        QuantMode::Affine,
        Dtype::Float32,
    )?;
    let nearest_error = groups.error(&unpacked.reshape(groups.values.shape())?)?;
    let fitted = groups.best()?;
    let codes = groups.codes(&fitted.scale, &fitted.bias)?;
    let clearly = Array::scalar(CLEARLY, Dtype::Float32)?;
    let better = fitted.error.less(&nearest_error.multiply(&clearly)?)?;
    let choose = |ours: &Array, theirs: &Array| {
        let theirs = grouped(theirs, theirs.dim(1) / better.dim(1))?;
        where_(&better, ours, &theirs)?.reshape(&[rows, -1])
    };
    let codes = codes.astype(Dtype::Uint8)?.with_elements(|codes| packing::pack(codes, spec.bits))?;
    let codes = Array::from_slice(&codes, &[rows, better.dim(1), group_size * bits / 32])?;
    let parts = [
        choose(&codes, words)?,
        choose(&fitted.scale.astype(stored)?, scales)?,
        choose(&fitted.bias.astype(stored)?, biases)?,
    ];
    mlx::eval(&parts)?;
    Ok(parts)
}

/// Importance as it weights errors: of mean 1 in each row, none far below; rows of which nothing is known are even.
fn weighting(importance: &Array) -> Result<Array> {
    let one = Array::scalar(1.0, Dtype::Float32)?;
    let count = Array::scalar(importance.dim(-1) as f32, Dtype::Float32)?;
    let mean = importance.sum(-1, true)?.divide(&count)?;
    let known = Array::scalar(0.0, Dtype::Float32)?.less(&mean)?;
    let relative = importance.divide(&where_(&known, &mean, &one)?)?;
    where_(&known, &relative.add(&Array::scalar(LEAST_WEIGHT, Dtype::Float32)?)?, &one)
}

/// The line through the codes of each group, `[rows, groups, 1]`: a weight is about its code times `scale` plus `bias`,
/// both f32 and exact in the stored type.
struct Lines {
    scale: Array,
    bias: Array,
    /// Sum of weighted squared errors.
    error: Array,
}

/// Weights in groups `[rows, groups, size]`, f32, and how much each counts.
struct Groups {
    values: Array,
    /// Broadcasts over the values.
    weights: Option<Array>,
    /// Weighted means of the groups, `[rows, groups, 1]`.
    means: Array,
    /// The type of scales and biases.
    stored: Dtype,
    /// The largest code.
    last: Array,
    zero: Array,
}

impl Groups {
    fn new(values: Array, weights: Option<Array>, stored: Dtype, bits: i32) -> Result<Self> {
        let last = Array::scalar(((1 << bits) - 1) as f32, Dtype::Float32)?;
        let zero = Array::scalar(0.0, Dtype::Float32)?;
        let mut groups = Self { means: zero.clone(), values, weights, stored, last, zero };
        groups.means = groups.mean(&groups.values)?;
        Ok(groups)
    }

    fn weighted(&self, values: &Array) -> Result<Array> {
        self.weights.as_ref().map_or_else(|| Ok(values.clone()), |weights| values.multiply(weights))
    }

    fn mean(&self, values: &Array) -> Result<Array> {
        let count = Array::scalar(values.dim(-1) as f32, Dtype::Float32)?;
        let total = self.weights.as_ref().map_or(Ok(count), |weights| weights.sum(-1, true))?;
        self.weighted(values)?.sum(-1, true)?.divide(&total)
    }

    /// Sums of weighted squared differences from the values.
    fn error(&self, values: &Array) -> Result<Array> {
        let off = self.values.subtract(values)?;
        self.weighted(&off.multiply(&off)?)?.sum(-1, true)
    }

    fn rounded(&self, values: &Array) -> Result<Array> {
        values.astype(self.stored)?.astype(Dtype::Float32)
    }

    /// The codes whose points on the line are nearest, f32.
    fn codes(&self, scale: &Array, bias: &Array) -> Result<Array> {
        // A scale that the stored type rounds to zero leaves the bias alone.
        let divisor = where_(&scale.equal(&self.zero)?, &Array::scalar(1.0, Dtype::Float32)?, scale)?;
        let codes = self.values.subtract(bias)?.divide(&divisor)?.round()?;
        codes.maximum(&self.zero)?.minimum(&self.last)
    }

    /// The best line of every group.
    fn best(&self) -> Result<Lines> {
        let (low, high) = self.spans()?;
        let mut scale = self.rounded(&high.subtract(&low)?.divide(&self.last)?)?;
        let mut bias = self.rounded(&low)?;
        for _ in 0..ROUNDS {
            let codes = self.codes(&scale, &bias)?;
            let mean = self.mean(&codes)?;
            let off = codes.subtract(&mean)?;
            let weighted = self.weighted(&off)?;
            let spread = weighted.multiply(&off)?.sum(-1, true)?;
            let common = weighted.multiply(&self.values.subtract(&self.means)?)?.sum(-1, true)?;
            let spreads = self.zero.less(&spread)?;
            let slope = common.divide(&where_(&spreads, &spread, &self.last)?)?;
            scale = self.rounded(&where_(&spreads, &slope, &scale)?)?;
            bias = self.rounded(&self.means.subtract(&scale.multiply(&mean)?)?)?;
        }
        let error = self.error(&self.codes(&scale, &bias)?.multiply(&scale)?.add(&bias)?)?;
        let worst = Array::scalar(f32::INFINITY, Dtype::Float32)?;
        let error = where_(&error.is_finite()?, &error, &worst)?;
        let index = mlx::argmax_axis(&error.negative()?, 0)?.expand_dims(0)?;
        let pick = |array: &Array| mlx::take_along_axis(array, &index, 0)?.squeeze(0);
        Ok(Lines { scale: pick(&scale)?, bias: pick(&bias)?, error: pick(&error)? })
    }

    /// The ranges to begin with, `[beginnings, rows, groups, 1]`.
    fn spans(&self) -> Result<(Array, Array)> {
        let sides: Vec<(f32, f32)> =
            SPANS.iter().flat_map(|span| SIDES.map(|side| (*span, span * side))).collect();
        let factors = |values: Vec<f32>| Array::from_slice(&values, &[values.len() as i32, 1, 1, 1]);
        let low = factors(sides.iter().map(|(low, _)| *low).collect())?;
        let high = factors(sides.iter().map(|(_, high)| *high).collect())?;
        let towards = |extreme: Array, factors: Array| {
            extreme.subtract(&self.means)?.multiply(&factors)?.add(&self.means)
        };
        Ok((towards(self.values.min(-1, true)?, low)?, towards(self.values.max(-1, true)?, high)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(bits: usize, group_size: usize) -> QuantSpec {
        QuantSpec { group_size, bits, mode: QuantMode::Affine }
    }

    /// Rows of 128: bell-shaped, the same with outliers, constant, zero, all negative, far from zero, next to nothing.
    fn matrix(dtype: Dtype) -> Array {
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / (1 << 24) as f32
        };
        let mut bell = || (0..6).map(|_| uniform()).sum::<f32>() - 3.0;
        let mut values = Vec::new();
        for row in 0..14 {
            values.extend((0..128).map(|column| match row % 7 {
                0 => 0.04 * bell(),
                1 => bell() * if column % 50 == 7 { 9.0 } else { 0.3 },
                2 => 0.37,
                3 => 0.0,
                4 => -2.0 - bell().abs(),
                5 => 100.0 + bell(),
                _ => 1e-9 * bell(),
            }));
        }
        Array::from_slice(&values, &[14, 128]).unwrap().astype(dtype).unwrap()
    }

    fn numbers(array: &Array) -> Vec<f64> {
        let array = array.astype(Dtype::Float32).unwrap();
        array.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect()
    }

    fn same(one: &[Array], other: &[Array]) -> bool {
        std::iter::zip(one, other).all(|(one, other)| one.to_bytes().unwrap() == other.to_bytes().unwrap())
    }

    /// Weighted squared errors of groups, in f64.
    fn errors(value: &Array, parts: &[Array], spec: QuantSpec, weights: &[f64]) -> Vec<f64> {
        let wide = |part: &Array| part.astype(Dtype::Float32).unwrap();
        let ones = Array::zeros(parts[1].shape(), Dtype::Float32).unwrap();
        let codes = mlx::dequantize(
            &parts[0],
            &ones.exp().unwrap(),
            Some(&ones),
            spec.group_size as i32,
            spec.bits as i32,
            QuantMode::Affine,
            Dtype::Float32,
        );
        let (codes, values) = (numbers(&codes.unwrap()), numbers(value));
        let (scales, biases) = (numbers(&wide(&parts[1])), numbers(&wide(&parts[2])));
        let error = |at: usize| {
            let group = at / spec.group_size;
            weights[at % weights.len()] * (values[at] - scales[group] * codes[at] - biases[group]).powi(2)
        };
        let groups = values.len() / spec.group_size;
        (0..groups)
            .map(|group| (group * spec.group_size..(group + 1) * spec.group_size).map(error).sum())
            .collect()
    }

    #[test]
    fn no_group_is_worse_than_rounded_and_few_are_as_bad() {
        let importance: Vec<f32> = (0..128).map(|column| ((column * 37 % 11) as f32).powi(2)).collect();
        let mean = importance.iter().sum::<f32>() / 128.0;
        let weighted: Vec<f64> =
            importance.iter().map(|value| f64::from(value / mean + LEAST_WEIGHT)).collect();
        let importance = Array::from_slice(&importance, &[128]).unwrap();
        for dtype in [Dtype::Bfloat16, Dtype::Float16, Dtype::Float32] {
            let value = matrix(dtype);
            for spec in
                [2, 3, 4, 5, 6, 8].into_iter().flat_map(|bits| [32, 64, 128].map(|group| spec(bits, group)))
            {
                let rounded =
                    mlx::quantize(&value, spec.group_size as i32, spec.bits as i32, QuantMode::Affine)
                        .unwrap();
                for (importance, weights) in [(None, &vec![1.0; 128]), (Some(&importance), &weighted)] {
                    let fitted = fit(&value, spec, importance).unwrap();
                    for (ours, theirs) in std::iter::zip(&fitted, &rounded) {
                        assert_eq!((ours.shape(), ours.dtype()), (theirs.shape(), theirs.dtype()));
                    }
                    let (ours, theirs) =
                        (errors(&value, &fitted, spec, weights), errors(&value, &rounded, spec, weights));
                    let never = std::iter::zip(&ours, &theirs).all(|(ours, theirs)| ours <= theirs);
                    assert!(never, "{dtype:?}, {spec}: {ours:?} of {theirs:?}");
                    // Coarse codes of bell-shaped rows have much to gain.
                    let groups = 128 / spec.group_size;
                    let (ours, theirs) =
                        (ours[..groups].iter().sum::<f64>(), theirs[..groups].iter().sum::<f64>());
                    let bound = if spec.bits <= 3 { 0.95 } else { 1.0 };
                    assert!(ours <= bound * theirs, "{dtype:?}, {spec}: {ours} of {theirs}");
                }
            }
        }
    }

    #[test]
    fn groups_without_a_spread_stay_as_they_are_rounded() {
        let value = matrix(Dtype::Bfloat16);
        for row in [2, 3] {
            let row = value.slice_axis(0, row, row + 1).unwrap();
            let rounded = mlx::quantize(&row, 64, 3, QuantMode::Affine).unwrap();
            let fitted = fit(&row, spec(3, 64), None).unwrap();
            assert!(same(&fitted, &rounded));
        }
    }

    #[test]
    fn importance_of_rows_is_that_of_each_and_unknown_rows_are_even() {
        let value = matrix(Dtype::Bfloat16);
        let counts = |row: usize, column: usize| if row == 0 { 0.0 } else { (1 + column * row % 5) as f32 };
        let all: Vec<f32> = (0..14).flat_map(|row| (0..128).map(move |column| counts(row, column))).collect();
        let together = fit(&value, spec(3, 32), Some(&Array::from_slice(&all, &[14, 128]).unwrap())).unwrap();
        for (row, weights) in all.chunks(128).enumerate() {
            let weights = Array::from_slice(weights, &[128]).unwrap();
            let of_row = |array: &Array| {
                array.slice_axis(0, row as i32, row as i32 + 1).unwrap().contiguous().unwrap()
            };
            let alone = fit(&of_row(&value), spec(3, 32), (row > 0).then_some(&weights)).unwrap();
            let rows: Vec<Array> = together.iter().map(of_row).collect();
            assert!(same(&alone, &rows), "row {row}");
        }
    }
}
