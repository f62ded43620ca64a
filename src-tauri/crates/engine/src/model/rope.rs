//! Rotary position embedding (arXiv 2104.09864) of the leading entries of each head, in pairs of halves or neighbours;
//! for longer contexts with the frequencies and the attention factor of YaRN (arXiv 2309.00071).

use std::f64::consts::TAU;

use crate::checkpoint::{AttentionDims, RopeScaling};
use crate::mlx::{self, Array, Dtype, Frequencies, Pairing, Result};

/// Rotary position embedding (arXiv 2104.09864) of the leading entries of a head.
#[derive(Debug, Clone)]
pub struct Rope {
    dims: i32,
    pairing: Pairing,
    frequencies: Frequencies,
    attention_factor: f32,
}

impl Rope {
    /// The rotation that a config asks for.
    pub fn of(dims: &AttentionDims) -> Result<Self> {
        match &dims.rope_scaling {
            None => Ok(Self::new(dims.rope_dims as i32, dims.rope_theta)),
            Some(yarn) => Self::with_yarn(dims.rope_dims as i32, dims.rope_theta, yarn),
        }
    }

    /// Pair i of the first `dims` entries turns by theta^(−2i/dims) radians a token; a pair is entries i and i +
    /// dims/2.
    pub fn new(dims: i32, theta: f32) -> Self {
        let frequencies = Frequencies::Base(theta);
        Self { dims, pairing: Pairing::Halves, frequencies, attention_factor: 1.0 }
    }

    /// The embedding with the frequencies and the attention factor of YaRN.
    pub fn with_yarn(dims: i32, theta: f32, yarn: &RopeScaling) -> Result<Self> {
        let periods = yarn.periods(dims, f64::from(theta));
        Ok(Self {
            dims,
            pairing: Pairing::Halves,
            frequencies: Frequencies::Periods(Array::from_slice(&periods, &[dims / 2])?),
            attention_factor: yarn.attention_factor() as f32,
        })
    }

    /// The same with other pairs.
    pub fn with_pairing(self, pairing: Pairing) -> Self {
        Self { pairing, ..self }
    }

    /// The weight `[…, D]` of the norm before the rotation, multiplied by the attention factor in its first `dims`
    /// entries: scaling before the rotation is the same as behind it.
    pub fn scale(&self, weight: &Array) -> Result<Array> {
        if self.attention_factor == 1.0 {
            return Ok(weight.clone());
        }
        let entry = |i| if i < self.dims { self.attention_factor } else { 1.0 };
        let factors: Vec<f32> = (0..weight.dim(-1)).map(entry).collect();
        let factors = Array::from_slice(&factors, &[weight.dim(-1)])?;
        weight.astype(Dtype::Float32)?.multiply(&factors)?.astype(weight.dtype())
    }

    /// Rotates x `[B, heads, L, D]`; `offset`, int32 `[B]`: the position of the first of the L entries, for each of the
    /// B.
    pub fn rotate(&self, x: &Array, offset: &Array) -> Result<Array> {
        mlx::rope(x, self.dims, self.pairing, &self.frequencies, offset)
    }

    /// How the tokens of pictures turn, each of which has a position in time, one by its row and one by its column:
    /// three `streams` of T. `section`: how many pairs turn by each; those by rows and columns are interleaved with the
    /// others (`apply_interleaved_mrope` of Hugging Face transformers).
    ///
    /// Cosines and sines come from the operation that rotates text, or keys of pictures and queries of text would be
    /// off in different ways.
    pub fn rotation(&self, streams: &[Vec<i32>; 3], section: [usize; 3]) -> Result<Rotation> {
        let (tokens, pairs) = (streams[0].len() as i32, self.dims / 2);
        let unit: Vec<f32> = (0..self.dims).map(|entry| if entry < pairs { 1.0 } else { 0.0 }).collect();
        let unit =
            mlx::broadcast_to(&Array::from_slice(&unit, &[1, 1, 1, self.dims])?, &[tokens, 1, 1, self.dims])?;
        let stream_of = |pair: usize| match pair % 3 {
            stream @ (1 | 2) if pair < 3 * section[stream] => stream,
            _ => 0,
        };
        let mut turned: Option<Array> = None;
        for (which, stream) in streams.iter().enumerate() {
            let own = self.clone().with_pairing(Pairing::Halves);
            let by_stream = own.rotate(&unit, &Array::from_slice(stream, &[tokens])?)?;
            let is_own: Vec<bool> =
                (0..2 * pairs as usize).map(|entry| stream_of(entry % pairs as usize) == which).collect();
            turned = Some(match turned {
                None => by_stream,
                Some(others) => mlx::where_(&Array::from_slice(&is_own, &[self.dims])?, &by_stream, &others)?,
            });
        }
        let turned = turned.expect("three streams");
        mlx::eval([&turned])?;
        Ok(Rotation(turned))
    }

    /// How many entries are rotated, and by how many radians a token each pair of halves turns, f32 `[dims / 2]`;
    /// `None` where neighbours are pairs.
    pub fn inverse_periods(&self) -> Result<Option<(i32, Array)>> {
        if self.pairing != Pairing::Halves {
            return Ok(None);
        }
        let inverse: Vec<f32> = match &self.frequencies {
            Frequencies::Periods(periods) => {
                periods.to_vec::<f32>()?.iter().map(|period| 1.0 / period).collect()
            }
            Frequencies::Base(base) => (0..self.dims / 2)
                .map(|pair| f64::from(*base).powf(f64::from(-2 * pair) / f64::from(self.dims)) as f32)
                .collect(),
        };
        Ok(Some((self.dims, Array::from_slice(&inverse, &[self.dims / 2])?)))
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        match &self.frequencies {
            Frequencies::Base(_) => Vec::new(),
            Frequencies::Periods(periods) => vec![periods],
        }
    }
}

/// The rotation of tokens whose positions have several parts: for each token the cosines of all pairs of halves, and
/// then their sines, f32 `[T, 1, 1, dims]`.
#[derive(Debug, Clone)]
pub struct Rotation(pub Array);

impl Rotation {
    /// Rotates x `[T, heads, 1, D]`, in f32.
    pub fn rotate(&self, x: &Array) -> Result<Array> {
        let pairs = self.0.dim(3) / 2;
        let (cos, sin) = (self.0.slice_axis(3, 0, pairs)?, self.0.slice_axis(3, pairs, 2 * pairs)?);
        let part = |begin, end| x.slice_axis(3, begin, end)?.astype(Dtype::Float32);
        let (a, b) = (part(0, pairs)?, part(pairs, 2 * pairs)?);
        let turned = [
            a.multiply(&cos)?.subtract(&b.multiply(&sin)?)?.astype(x.dtype())?,
            b.multiply(&cos)?.add(&a.multiply(&sin)?)?.astype(x.dtype())?,
            x.slice_axis(3, 2 * pairs, x.dim(3))?,
        ];
        mlx::concatenate(&turned.iter().filter(|part| part.size() > 0).collect::<Vec<_>>(), 3)
    }
}

/// The frequencies and the attention factor of YaRN.
impl RopeScaling {
    /// Tokens in which each pair turns by one radian, by "NTK-by-parts" (arXiv 2309.00071, section 3.2), in the form
    /// of `_compute_yarn_parameters` of Hugging Face transformers: the ramp runs over the pairs' indices.
    fn periods(&self, dims: i32, theta: f64) -> Vec<f32> {
        let size = f64::from(dims);
        // The index of the pair that turns `turns` times within the original context; not a whole number.
        let pair = |turns: f64| {
            size * (f64::from(self.original_max_position_embeddings) / (turns * TAU)).ln()
                / (2.0 * theta.ln())
        };
        let (low, high) = (pair(self.beta_fast), pair(self.beta_slow));
        let (low, high) = if self.truncate { (low.floor(), high.ceil()) } else { (low, high) };
        let (low, high) = (low.max(0.0), high.min(size - 1.0));
        // A range of no width would divide by zero.
        let width = if low == high { 0.001 } else { high - low };
        (0..dims / 2)
            .map(|i| {
                let slowed = ((f64::from(i) - low) / width).clamp(0.0, 1.0);
                let frequency = theta.powf(f64::from(-2 * i) / size);
                (1.0 / (frequency * (1.0 - slowed) + frequency / self.factor * slowed)) as f32
            })
            .collect()
    }

    /// The factor on the rotated part of queries and keys, whose product is so divided by the paper's temperature t:
    /// √(1/t) = 0.1 ln(factor) + 1 (section 3.4).
    ///
    /// This is the rule of transformers. mlx-lm 0.32.2 differs: it does not know `attention_factor` and `truncate`, and
    /// it uses `mscale` or `mscale_all_dim` where only one of them is given.
    fn attention_factor(&self) -> f64 {
        let magnitude =
            |scale: f64| if self.factor <= 1.0 { 1.0 } else { 0.1 * scale * self.factor.ln() + 1.0 };
        let given = |scale: Option<f64>| scale.filter(|scale| *scale != 0.0);
        self.attention_factor.unwrap_or_else(|| match (given(self.mscale), given(self.mscale_all_dim)) {
            (Some(over), Some(under)) => magnitude(over) / magnitude(under),
            _ => magnitude(1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text and pictures turn alike: in f32 to the bit, in bf16 to its last place.
    #[test]
    fn streams_that_are_the_same_turn_as_one_position_does() {
        let yarn = RopeScaling::new(4.0, 4096);
        for rope in [Rope::new(64, 1e7), Rope::with_yarn(64, 1e6, &yarn).unwrap()] {
            let positions: Vec<i32> = vec![0, 1, 2, 17, 1000, 4095, 30_000, 131_071, 199_999, 200_000];
            let count = positions.len() as i32;
            let values: Vec<f32> =
                (0..count * 3 * 80).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
            let x = Array::from_slice(&values, &[count, 3, 1, 80]).unwrap();
            let offset = Array::from_slice(&positions, &[count]).unwrap();
            let streams = [positions.clone(), positions.clone(), positions];
            let rotation = rope.rotation(&streams, [11, 11, 10]).unwrap();
            for (dtype, most) in [(Dtype::Float32, 0.0), (Dtype::Bfloat16, 2f32.powi(-7))] {
                let x = x.astype(dtype).unwrap();
                let values = |array: Array| array.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
                let (one, three) =
                    (values(rope.rotate(&x, &offset).unwrap()), values(rotation.rotate(&x).unwrap()));
                let off = one.iter().zip(&three).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(off <= most, "{dtype:?}: {off}");
            }
        }
    }

    /// Rows turn the second pair of three, columns the third, time the first and what is left at the end.
    #[test]
    fn streams_are_interleaved() {
        let rope = Rope::new(16, 1e4);
        let turned = |streams: [i32; 3]| {
            let ones = Array::from_slice(&[1.0f32; 16], &[1, 1, 1, 16]).unwrap();
            let rotation = rope.rotation(&streams.map(|at| vec![at]), [3, 3, 2]).unwrap();
            let values = rotation.rotate(&ones).unwrap().to_vec::<f32>().unwrap();
            (0..8).filter(|&pair| (values[pair] - 1.0).abs() > 1e-6).collect::<Vec<_>>()
        };
        assert_eq!(turned([1, 0, 0]), [0, 3, 6]);
        assert_eq!(turned([0, 1, 0]), [1, 4, 7]);
        assert_eq!(turned([0, 0, 1]), [2, 5]);
    }

    #[test]
    fn yarn_slows_pairs_as_its_reference_does() {
        // From NumPy in f32, after the formula in transformers 5.23.
        let qwen = RopeScaling::new(4.0, 262_144);
        let other =
            RopeScaling { beta_fast: 16.0, beta_slow: 2.0, truncate: false, ..RopeScaling::new(8.0, 4096) };
        let cases: [(RopeScaling, f64, [f64; 8]); 2] = [
            (
                qwen,
                1e7,
                [
                    1.0,
                    0.133_352_15,
                    0.017_782_794,
                    0.002_371_373_8,
                    0.000_237_170_84,
                    2.108_482_7e-5,
                    1.405_853_4e-6,
                    1.874_735_6e-7,
                ],
            ),
            (
                other,
                1e4,
                [
                    1.0,
                    0.316_227_76,
                    0.1,
                    0.031_622_78,
                    0.006_221_889,
                    0.000_435_575_58,
                    0.000_125,
                    3.952_847_3e-5,
                ],
            ),
        ];
        for (yarn, theta, frequencies) in cases {
            let periods = yarn.periods(16, theta);
            assert_eq!(periods.len(), frequencies.len());
            for (period, frequency) in periods.into_iter().zip(frequencies) {
                assert!((f64::from(period) * frequency - 1.0).abs() < 1e-6, "{period} {frequency}");
            }
        }
    }

    #[test]
    fn the_attention_factor_of_yarn_follows_transformers() {
        let base = RopeScaling::new(4.0, 4096);
        for (yarn, expected) in [
            (base, 1.138_629_436),
            (RopeScaling { factor: 1.0, ..base }, 1.0),
            (
                RopeScaling {
                    attention_factor: Some(0.9),
                    mscale: Some(2.0),
                    mscale_all_dim: Some(1.0),
                    ..base
                },
                0.9,
            ),
            // 1.097040605 / 1.138629436
            (RopeScaling { mscale: Some(0.7), mscale_all_dim: Some(1.0), ..base }, 0.963_474_657),
            (RopeScaling { mscale: Some(0.7), ..base }, 1.138_629_436),
            (RopeScaling { mscale_all_dim: Some(0.7), ..base }, 1.138_629_436),
            (RopeScaling { mscale: Some(0.7), mscale_all_dim: Some(0.0), ..base }, 1.138_629_436),
        ] {
            assert!((yarn.attention_factor() - expected).abs() < 1e-8, "{yarn:?}");
        }
    }

    #[test]
    fn it_turns_and_scales_the_leading_entries_and_leaves_the_rest() {
        let (dims, size, theta) = (8, 12, 1e4f32);
        let x: Vec<f32> = (0..2 * size).map(|i| (i * 7 % 5) as f32 - 1.5).collect();
        let positions = [3, 1000];
        let input = Array::from_slice(&x, &[2, 1, 1, size]).unwrap();
        let offset = Array::from_slice(&positions, &[2]).unwrap();
        let stretched = RopeScaling::new(8.0, 512);
        let plain: Vec<f32> = (0..4).map(|i| theta.powf(i as f32 / 4.0)).collect();
        for (rope, periods, factor) in [
            (Rope::new(dims, theta), plain, 1.0),
            (
                Rope::with_yarn(dims, theta, &stretched).unwrap(),
                stretched.periods(dims, f64::from(theta)),
                stretched.attention_factor() as f32,
            ),
        ] {
            let weight = mlx::broadcast_to(&Array::scalar(1.0, Dtype::Float32).unwrap(), &[size]).unwrap();
            let scaled = input.multiply(&rope.scale(&weight).unwrap()).unwrap();
            let y = rope.rotate(&scaled, &offset).unwrap().to_vec::<f32>().unwrap();
            for ((x, y), position) in x.chunks(size as usize).zip(y.chunks(size as usize)).zip(positions) {
                for (i, period) in periods.iter().enumerate() {
                    let (sin, cos) = (position as f32 / period).sin_cos();
                    let turned = [x[i] * cos - x[i + 4] * sin, x[i] * sin + x[i + 4] * cos];
                    assert!((y[i] - factor * turned[0]).abs() < 1e-3, "{y:?}");
                    assert!((y[i + 4] - factor * turned[1]).abs() < 1e-3, "{y:?}");
                }
                assert_eq!(x[8..], y[8..]);
            }
        }
    }
}
