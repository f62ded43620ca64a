//! Log-probabilities of emitted tokens and of the most likely alternatives, ln softmax(logits), packed into the u32
//! words that the host reads back with a step's tokens.

use crate::mlx::{self, Array, Dtype, Result, TopK};

/// Natural logarithms of the probabilities of a token and of its most likely alternatives, by the model's own
/// distribution, before penalties, temperature and filters.
#[derive(Debug, Clone, PartialEq)]
pub struct Logprobs {
    /// Of the emitted token.
    pub emitted: f32,
    /// The most likely tokens, the likeliest first.
    pub top: Vec<(u32, f32)>,
}

impl Logprobs {
    /// The report for logits `[m, V]`, emitted ids u32 `[m]` and the `top` most likely tokens: u32 words for one
    /// read-back with the ids, m · (1 + 2 · top) of them.
    pub fn report(logits: &Array, ids: &Array, top: usize, select: &TopK) -> Result<Array> {
        let logits = logits.astype(Dtype::Float32)?;
        let log_p = logits.subtract(&mlx::logsumexp(&logits, -1)?)?;
        let emitted = mlx::take_along_axis(&log_p, &ids.expand_dims(1)?, 1)?.view(Dtype::Uint32)?;
        if top == 0 {
            return emitted.reshape(&[-1]);
        }
        let (values, ids) = select.most_likely(&logits, top as i32)?;
        mlx::concatenate(&[&emitted, &values.view(Dtype::Uint32)?, &ids], 1)?.reshape(&[-1])
    }

    /// Takes the report on `count` tokens from the front of the words that were read back.
    pub fn read(words: &mut &[u32], count: usize, top: usize) -> Vec<Self> {
        let (report, rest) = words.split_at(count * (1 + 2 * top));
        *words = rest;
        let token = |words: &[u32]| {
            let (values, ids) = words[1..].split_at(top);
            let value = |&bits: &u32| f32::from_bits(bits);
            Self {
                emitted: value(&words[0]),
                top: ids.iter().copied().zip(values.iter().map(value)).collect(),
            }
        };
        report.chunks(1 + 2 * top).map(token).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_the_softmax_and_its_largest() {
        let logits = Array::from_slice(&[0.0f32, 2.0, 1.0, -1.0, 5.0, 5.5, -3.0, 0.0], &[2, 4]).unwrap();
        let ids = Array::from_slice(&[2u32, 0], &[2]).unwrap();
        let mass = |row: [f32; 4]| row.iter().map(|l| l.exp()).sum::<f32>().ln();
        let masses = [mass([0.0, 2.0, 1.0, -1.0]), mass([5.0, 5.5, -3.0, 0.0])];
        for top in [0, 1, 3] {
            let words =
                Logprobs::report(&logits, &ids, top, &TopK::default()).unwrap().to_vec::<u32>().unwrap();
            let mut rest = words.as_slice();
            let read = Logprobs::read(&mut rest, 2, top);
            assert!(rest.is_empty());
            let close = |a: f32, b: f32| assert!((a - b).abs() < 1e-5, "{a} and {b}");
            close(read[0].emitted, 1.0 - masses[0]);
            close(read[1].emitted, 5.0 - masses[1]);
            let order: [[(u32, f32); 3]; 2] =
                [[(1, 2.0), (2, 1.0), (0, 0.0)], [(1, 5.5), (0, 5.0), (3, 0.0)]];
            for ((read, expected), mass) in read.iter().zip(order).zip(masses) {
                assert_eq!(read.top.len(), top);
                for (&(id, value), (expected_id, logit)) in read.top.iter().zip(expected) {
                    assert_eq!(id, expected_id);
                    close(value, logit - mass);
                }
            }
        }
    }
}
