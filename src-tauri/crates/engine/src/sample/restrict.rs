//! What binds tokens before they are drawn: a number added to logits, and tokens that may not come.

use super::sampler::restored;
use crate::constrain::Mask;
use crate::mlx::{self, Array, Dtype, Result};

/// What binds the token of one position.
#[derive(Debug, Clone, Default)]
pub struct Restriction {
    /// Added to the logits, f32 `[1, V]`.
    pub bias: Option<Array>,
    /// The tokens that may come.
    pub mask: Option<Mask>,
}

impl Restriction {
    /// Whether it binds nothing.
    pub fn is_none(&self) -> bool {
        self.bias.is_none() && self.mask.is_none()
    }
}

/// Logits `[m, V]` with what binds each of their m positions: first the bias, then −∞ for tokens that may not come.
/// Positions that nothing binds keep their logits, bit for bit.
pub fn restricted(logits: &Array, restrictions: &[Restriction]) -> Result<Array> {
    let (bound, free): (Vec<usize>, Vec<usize>) =
        (0..restrictions.len()).partition(|&position| !restrictions[position].is_none());
    if bound.is_empty() {
        return Ok(logits.clone());
    }
    let own: Vec<&Restriction> = bound.iter().map(|&position| &restrictions[position]).collect();
    let rows = biased(mlx::take_rows(logits, &bound)?, &own)?;
    let rows = masked(&rows, &own)?;
    if free.is_empty() {
        return Ok(rows);
    }
    restored(&[rows, mlx::take_rows(logits, &free)?], &[bound, free].concat())
}

fn biased(logits: Array, restrictions: &[&Restriction]) -> Result<Array> {
    if restrictions.iter().all(|restriction| restriction.bias.is_none()) {
        return Ok(logits);
    }
    let none = Array::zeros(&[1, logits.dim(-1)], Dtype::Float32)?;
    let biases: Vec<&Array> =
        restrictions.iter().map(|restriction| restriction.bias.as_ref().unwrap_or(&none)).collect();
    logits.astype(Dtype::Float32)?.add(&mlx::concatenate(&biases, 0)?)
}

fn masked(logits: &Array, restrictions: &[&Restriction]) -> Result<Array> {
    if restrictions.iter().all(|restriction| restriction.mask.is_none()) {
        return Ok(logits.clone());
    }
    let vocab = logits.dim(-1);
    let all = Mask::all(vocab as usize);
    let masks: Vec<&Mask> =
        restrictions.iter().map(|restriction| restriction.mask.as_ref().unwrap_or(&all)).collect();
    let never = Array::scalar(f32::NEG_INFINITY, logits.dtype())?;
    mlx::where_(&Mask::unpack(&masks, vocab)?, logits, &never)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 70 logits a row, so that a mask ends within a word.
    fn logits(rows: usize) -> Array {
        let values: Vec<f32> = (0..rows * 70).map(|i| i as f32).collect();
        Array::from_slice(&values, &[rows as i32, 70]).unwrap().astype(Dtype::Bfloat16).unwrap()
    }

    #[test]
    fn only_what_is_bound_changes() {
        let bias: Vec<f32> = (0..70).map(|id| if id == 3 { -2.5 } else { 0.0 }).collect();
        let bias = Array::from_slice(&bias, &[1, 70]).unwrap();
        let restrictions = [
            Restriction::default(),
            Restriction { mask: Some(Mask::of(&[0, 31, 32, 69])), bias: None },
            Restriction { mask: Some(Mask::of(&[3])), bias: Some(bias) },
        ];
        let before = logits(3).astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
        let after = restricted(&logits(3), &restrictions).unwrap();
        let after = after.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
        assert_eq!(after[..70], before[..70]);
        for id in 0..70 {
            let (second, third) = (after[70 + id], after[140 + id]);
            if [0, 31, 32, 69].contains(&id) {
                assert_eq!(second, before[70 + id]);
            } else {
                assert_eq!(second, f32::NEG_INFINITY, "{id}");
            }
            assert_eq!(third, if id == 3 { before[143] - 2.5 } else { f32::NEG_INFINITY }, "{id}");
        }
    }

    #[test]
    fn where_nothing_binds_nothing_is_computed() {
        let logits = logits(2);
        let same = restricted(&logits, &[Restriction::default(), Restriction::default()]).unwrap();
        assert_eq!(same.dtype(), Dtype::Bfloat16);
        assert_eq!(same.to_bytes().unwrap(), logits.to_bytes().unwrap());
    }
}
