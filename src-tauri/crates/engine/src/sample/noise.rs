//! Random numbers as pure functions of (stream, seed, position), and Gumbel noise as one of (stream, seed, position,
//! token id). The MTP head and the model draw with the same noise, so their tokens often agree, and noise for any set
//! of tokens can be computed by itself.

use crate::mlx::{self, Array, Dtype, Result};

/// Rounds of (shift, multiplier) of a 32-bit hash with low bias, from hash-prospector
/// (github.com/skeeto/hash-prospector), followed by a last shift.
const ROUNDS: [(u32, u32); 2] = [(16, 0x21f0_aaad), (15, 0xd35a_2d97)];
/// The shift behind the rounds.
const LAST_SHIFT: u32 = 15;
/// Spreads neighbouring token ids: 2³² over the golden ratio, made odd.
const SPREAD: u32 = 0x9e37_79b1;

/// What a random number decides. Numbers of different streams are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Which token is drawn.
    Token,
    /// Whether XTC excludes the top choices.
    Xtc,
    /// Whether a draft is accepted, in rejection sampling.
    Verdict,
    /// Which token replaces a rejected draft.
    Residual,
}

/// One noise key per position.
#[derive(Debug)]
pub struct NoiseKeys {
    first: Array,
    second: Array,
}

impl NoiseKeys {
    /// Keys of `count` positions from `position` on, counted from the start of the context.
    pub fn new(stream: Stream, seed: u64, position: usize, count: usize) -> Result<Self> {
        Self::of(stream, (position..position + count).map(|position| (seed, position)))
    }

    /// Keys of any positions, given as seed and position in the context.
    pub fn of(stream: Stream, places: impl IntoIterator<Item = (u64, usize)>) -> Result<Self> {
        let keys: Vec<u64> = places.into_iter().map(|(seed, position)| key(stream, seed, position)).collect();
        let column = |half: fn(u64) -> u32| {
            let halves: Vec<u32> = keys.iter().map(|&key| half(key)).collect();
            Array::from_slice(&halves, &[keys.len() as i32, 1])
        };
        Ok(Self { first: column(|key| key as u32)?, second: column(|key| (key >> 32) as u32)? })
    }
}

/// The 64-bit key of a stream, seed and position.
fn key(stream: Stream, seed: u64, position: usize) -> u64 {
    let token = scramble(seed, position as u64);
    match stream {
        Stream::Token => token,
        other => scramble(token, other as u64),
    }
}

/// SplitMix64's output function (Steele, Lea and Flood, 2014) over a combination of two numbers.
fn scramble(a: u64, b: u64) -> u64 {
    let mut z = a ^ b.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number from a uniform distribution over [0, 1).
pub fn uniform(stream: Stream, seed: u64, position: usize) -> f32 {
    // As many bits as an f32 holds exactly.
    (key(stream, seed, position) >> 40) as f32 * (-24f32).exp2()
}

/// Standard Gumbel noise for token `ids` (u32, `[m, K]` or `[1, K]`) at m positions, f32 `[m, K]`.
///
/// The same key and id give the same number, whatever else is in the arrays.
pub fn gumbel(keys: &NoiseKeys, ids: &Array) -> Result<Array> {
    let word = |value: u32| Array::from_slice(&[value], &[1]);
    let mixed = mix(&ids.multiply(&word(SPREAD)?)?.bitwise_xor(&keys.first)?)?;
    let bits = mix(&mixed.add(&keys.second)?)?;
    // Uniform in (0, 1], dense near 0, where −ln(1 − u) decides the largest noise.
    let u = bits.astype(Dtype::Float32)?.add(&Array::scalar(0.5, Dtype::Float32)?)?;
    let u = u.multiply(&Array::scalar((-32f32).exp2(), Dtype::Float32)?)?;
    // The largest words round up to 1, whose noise would be infinite.
    let u = u.minimum(&Array::scalar(1.0 - f32::EPSILON, Dtype::Float32)?)?;
    u.negative()?.log1p()?.negative()?.log()?.negative()
}

/// The 32-bit hash of each word.
fn mix(x: &Array) -> Result<Array> {
    let word = |value: u32| Array::from_slice(&[value], &[1]);
    let mut x = x.clone();
    for (shift, multiplier) in ROUNDS {
        x = x.bitwise_xor(&x.right_shift(&word(shift)?)?)?.multiply(&word(multiplier)?)?;
    }
    x.bitwise_xor(&x.right_shift(&word(LAST_SHIFT)?)?)
}

/// 0, 1, …, V − 1 as u32 `[1, V]`.
pub(super) fn all_ids(vocab: i32) -> Result<Array> {
    mlx::arange(vocab, Dtype::Uint32)?.expand_dims(0)
}

/// Values, one for each position, as f32 `[m, 1]`.
pub(super) fn column(values: impl IntoIterator<Item = f32>) -> Result<Array> {
    let values: Vec<f32> = values.into_iter().collect();
    Array::from_slice(&values, &[values.len() as i32, 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_belongs_to_the_token_and_the_position() {
        let all = gumbel(&NoiseKeys::new(Stream::Token, 7, 100, 3).unwrap(), &all_ids(50).unwrap()).unwrap();
        let some = Array::from_slice(&[49u32, 3, 12], &[1, 3]).unwrap();
        let one = gumbel(&NoiseKeys::new(Stream::Token, 7, 101, 1).unwrap(), &some)
            .unwrap()
            .to_vec::<f32>()
            .unwrap();
        let all = all.to_vec::<f32>().unwrap();
        assert_eq!(one, [all[50 + 49], all[50 + 3], all[50 + 12]]);
        assert_ne!(all[..50], all[50..100]);
    }

    #[test]
    fn noise_has_the_moments_of_the_gumbel_distribution() {
        let values =
            gumbel(&NoiseKeys::new(Stream::Token, 1, 0, 200).unwrap(), &all_ids(2000).unwrap()).unwrap();
        let values = values.to_vec::<f32>().unwrap();
        let n = values.len() as f64;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        assert!(values.iter().all(|x| x.is_finite()));
        // Euler's constant and π²/6, within five standard errors.
        assert!((mean - 0.577_216).abs() < 5.0 * (1.644_934 / n).sqrt(), "{mean}");
        assert!((variance - 1.644_934).abs() < 5.0 * (4.4 * 1.644_934f64.powi(2) / n).sqrt(), "{variance}");
    }

    #[test]
    fn streams_are_uniform_and_say_nothing_about_each_other() {
        let n = 20_000;
        let of = |stream| (0..n).map(|p| f64::from(uniform(stream, 3, p))).collect::<Vec<_>>();
        let streams = [Stream::Token, Stream::Xtc, Stream::Verdict, Stream::Residual].map(of);
        let n = n as f64;
        for values in &streams {
            assert!(values.iter().all(|u| (0.0..1.0).contains(u)));
            let mean = values.iter().sum::<f64>() / n;
            assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / n).sqrt(), "{mean}");
        }
        for (i, one) in streams.iter().enumerate() {
            for other in &streams[..i] {
                let products = one.iter().zip(other).map(|(a, b)| (a - 0.5) * (b - 0.5));
                let correlation = products.sum::<f64>() * 12.0 / n;
                assert!(correlation.abs() < 5.0 / n.sqrt(), "{correlation}");
            }
        }
    }
}
