//! Packs the codes of quantized weights into 32-bit words as MLX lays them out, for every width from 1 to 8 bits: one
//! stream of bits, the first code lowest.

/// Bits of a word.
const WORD: usize = 32;

/// The words that hold these codes of `bits` bits each, which must fill them: groups of 32 codes always do.
pub(super) fn pack(codes: &[u8], bits: usize) -> Vec<u32> {
    let mut words = Vec::with_capacity(codes.len() * bits / WORD);
    let (mut held, mut count) = (0_u64, 0);
    for &code in codes {
        held |= u64::from(code) << count;
        count += bits;
        if count >= WORD {
            words.push(held as u32);
            held >>= WORD;
            count -= WORD;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx::{self, Array, DeviceKind, Dtype, QuantMode};

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
        let size = ((high - low) / last).max(1e-7);
        let (edge, step) = if low.abs() > high.abs() { (low, size) } else { (high, -size) };
        let zero = (edge / step).round_ties_even();
        let (scale, bias) = if zero == 0.0 { (step, 0.0) } else { (edge / zero, edge) };
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
            assert!(pack(&codes, bits) == words, "{what}");

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
                assert!(pack(&codes, bits) == words, "{what}");
                assert!(stored(&scales, &parts[1]) && stored(&biases, &parts[2]), "{what}");
            }
        }
    }
}
