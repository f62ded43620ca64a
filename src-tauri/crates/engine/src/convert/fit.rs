//! Quantizes matrices in affine groups that are fitted to the weights.

use foretoken_affine::{Fitted, Groups, Stored, weights};

use crate::checkpoint::QuantSpec;
use crate::mlx::{Array, Dtype, Result};

/// Weights that are worked on at a time, and the bytes that each takes meanwhile: as f32, and what it counts, twice.
pub(crate) const PIECE: (usize, usize) = (1 << 20, 12);

/// Quantizes `value` `[…, columns]` in affine groups: packed codes, scales and biases as [`crate::mlx::quantize`] gives
/// them, with the least weighted squared error that was found in each group. `importance`, f32 `[columns]` or
/// `[rows, columns]` with the rows counted over all axes but the last, weights the columns; without it all are equal.
pub fn fit(value: &Array, spec: QuantSpec, importance: Option<&Array>) -> Result<Vec<Array>> {
    let columns = value.dim(-1).max(1);
    let rows = (value.size() / columns as usize) as i32;
    let flat = value.reshape(&[rows, columns])?;
    let importance = importance.map(|importance| importance.reshape(&[-1, columns])).transpose()?;
    let groups = Groups {
        columns: columns as usize,
        size: spec.group_size,
        bits: spec.bits,
        stored: match value.dtype() {
            Dtype::Bfloat16 => Stored::Bfloat16,
            Dtype::Float16 => Stored::Float16,
            _ => Stored::Float32,
        },
    };
    let step = (PIECE.0 as i32 / columns).max(1);
    let mut fitted = Fitted::default();
    for start in (0..rows).step_by(step as usize) {
        let end = rows.min(start + step);
        let of_rows = |importance: &Array| match importance.dim(0) {
            1 => importance.with_elements(weights),
            _ => importance.slice_axis(0, start, end)?.with_elements(|importance: &[f32]| {
                importance.chunks(groups.columns).flat_map(weights).collect()
            }),
        };
        let weights = importance.as_ref().map(of_rows).transpose()?;
        let weights = weights.unwrap_or_else(|| vec![1.0; groups.columns]);
        let values = flat.slice_axis(0, start, end)?.astype(Dtype::Float32)?;
        values.with_elements(|values| fitted.extend(values, &weights, groups))?;
    }
    let outer = &value.shape()[..value.shape().len() - 1];
    let shape = |last: usize| [outer, &[last as i32]].concat();
    let of_row = groups.columns / groups.size;
    Ok(vec![
        Array::from_slice(&fitted.words, &shape(groups.columns * groups.bits / u32::BITS as usize))?,
        Array::from_slice(&fitted.scales, &shape(of_row))?.astype(value.dtype())?,
        Array::from_slice(&fitted.biases, &shape(of_row))?.astype(value.dtype())?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretoken_affine::{LEAST_WEIGHT, of_extremes, pack};

    use crate::mlx::{self, DeviceKind, QuantMode};

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

    /// Groups of one kind a row: random, constant, all negative, all positive, zero, one outlier, next to nothing.
    fn groups(columns: usize) -> Vec<f32> {
        let random = |i: usize| ((i * 7919 + 13) % 1009) as f32 / 504.5 - 1.0;
        let rows: [&dyn Fn(usize) -> f32; 8] = [
            &random,
            &|i| 0.02 * random(i + columns),
            &|_| 0.37,
            &|i| -1.5 - random(i),
            &|i| 2.0 + random(i + 3),
            &|_| 0.0,
            &|i| if i % 32 == 5 { -3.0 } else { 0.01 * random(i) },
            &|i| 1e-9 * random(i),
        ];
        rows.iter().flat_map(|row| (0..columns).map(row)).collect()
    }

    /// Codes, scale and bias of a group as MLX computes them on a CPU.
    fn round_to_nearest(group: &[f32], bits: usize) -> (Vec<u8>, f32, f32) {
        let (low, high) = group
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &w| (w.min(low), w.max(high)));
        let last = ((1 << bits) - 1) as f32;
        let (scale, bias) = of_extremes(low, high, last);
        let code = |w: &f32| ((w - bias) / scale).round_ties_even().clamp(0.0, last) as u8;
        (group.iter().map(code).collect(), scale, bias)
    }

    #[test]
    fn codes_are_packed_as_mlx_packs_them() {
        for (bits, group_size, dtype) in [2, 3, 4, 5, 6, 8].into_iter().flat_map(|bits| {
            [32, 64, 128].into_iter().flat_map(move |group_size| {
                [Dtype::Bfloat16, Dtype::Float16, Dtype::Float32].map(|dtype| (bits, group_size, dtype))
            })
        }) {
            let what = format!("{bits} bits in groups of {group_size}, {dtype:?}");
            let values = Array::from_slice(&groups(2 * group_size), &[8, 2 * group_size as i32])
                .unwrap()
                .astype(dtype)
                .unwrap();
            let parts = mlx::quantize(&values, group_size as i32, bits as i32, QuantMode::Affine).unwrap();
            let words = parts[0].to_vec::<u32>().unwrap();

            // With a scale of one and no bias a matrix is its codes.
            let zeros = Array::zeros(parts[1].shape(), Dtype::Float32).unwrap();
            let ones = zeros.exp().unwrap();
            let codes = mlx::dequantize(
                &parts[0],
                &ones,
                Some(&zeros),
                group_size as i32,
                bits as i32,
                QuantMode::Affine,
                Dtype::Float32,
            );
            let codes: Vec<u8> =
                codes.unwrap().to_vec::<f32>().unwrap().iter().map(|&code| code as u8).collect();
            assert!(pack(codes, bits).eq(words.iter().copied()), "{what}");

            if mlx::device() == DeviceKind::Cpu {
                let values = values.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
                let own = values.chunks(group_size).map(|group| round_to_nearest(group, bits));
                let (codes, scales, biases) = own.fold(
                    (Vec::new(), Vec::new(), Vec::new()),
                    |(mut codes, mut scales, mut biases), (group, scale, bias)| {
                        codes.extend(group);
                        scales.push(scale);
                        biases.push(bias);
                        (codes, scales, biases)
                    },
                );
                let stored = |own: &[f32], theirs: &Array| {
                    let own = Array::from_slice(own, theirs.shape()).unwrap().astype(dtype).unwrap();
                    own.to_bytes().unwrap() == theirs.to_bytes().unwrap()
                };
                assert!(pack(codes, bits).eq(words.iter().copied()), "{what}");
                assert!(stored(&scales, &parts[1]) && stored(&biases, &parts[2]), "{what}");
            }
        }
    }
}
