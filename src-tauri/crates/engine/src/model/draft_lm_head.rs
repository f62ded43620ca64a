//! The output head that drafts are drawn by, where it is not the model's own.

use super::linear::Linear;
use super::matrix::Matrix;
use crate::checkpoint::QuantSpec;
use crate::memory::DraftHead;
use crate::mlx::{self, Array, Dtype, Result};

/// A copy of the output head in fewer bits, of the rows of some tokens alone, or both.
#[derive(Debug, Clone)]
pub struct DraftLmHead {
    head: Linear,
    /// By token, which of the head's rows is its own, u32 `[V]`; one more than there are where it has none. `None`
    /// where all have.
    places: Option<Array>,
}

impl DraftLmHead {
    /// Of an output head, for these tokens alone where `ids`, ascending, are given, and in fewer bits where `spec`
    /// says how. `None` where the copy is empty: a GPU that runs out of memory has been seen to leave zeros without an
    /// error.
    pub fn of(
        head: &Matrix,
        spec: Option<QuantSpec>,
        ids: Option<&[u32]>,
        dtype: Dtype,
    ) -> Result<Option<Self>> {
        let tokens = head.out_features() as usize;
        let rows = match ids {
            Some(ids) => {
                let ids = Array::from_slice(ids, &[ids.len() as i32])?;
                &head.with_rows(|rows| mlx::take(rows, &ids, -2)?.contiguous())?
            }
            None => head,
        };
        let copy = match spec {
            Some(QuantSpec { group_size, bits, .. }) => {
                rows.quantized_copy(group_size as i32, bits as i32, DraftHead::ROWS_AT_ONCE, dtype)?
            }
            None => rows.clone(),
        };
        mlx::eval(copy.arrays())?;
        if let (Some(_), Matrix::Quantized { scales, .. }) = (spec, &copy) {
            let scales = scales.astype(Dtype::Float32)?.reshape(&[-1])?;
            if scales.multiply(&scales)?.max(0, false)?.to_vec::<f32>()? == [0.0] {
                tracing::warn!("the copy of the output head is empty; drafts are made with the head itself");
                return Ok(None);
            }
        }
        let places = ids.map(|ids| {
            let mut places = vec![ids.len() as u32; tokens];
            ids.iter().enumerate().for_each(|(place, &id)| places[id as usize] = place as u32);
            Array::from_slice(&places, &[tokens as i32])
        });
        Ok(Some(Self { head: Linear::new(copy)?, places: places.transpose()? }))
    }

    /// Whether there are tokens that it never gives.
    pub fn is_reduced(&self) -> bool {
        self.places.is_some()
    }

    /// `[T, H]` → logits `[T, V]`, −∞ for tokens that have no row.
    pub fn forward(&self, normed: &Array) -> Result<Array> {
        let logits = self.head.forward(normed)?;
        let Some(places) = &self.places else { return Ok(logits) };
        let never = Array::scalar(f32::NEG_INFINITY, logits.dtype())?;
        let never = mlx::broadcast_to(&never, &[logits.dim(0), 1])?;
        mlx::take(&mlx::concatenate(&[&logits, &never], -1)?, places, -1)
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        self.head.arrays().into_iter().chain(&self.places).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_without_a_row_are_never_drafted_and_the_others_as_by_the_whole_head() {
        let values: Vec<f32> = (0..10 * 64).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
        let head = Matrix::dense(Array::from_slice(&values, &[10, 64]).unwrap()).unwrap();
        let x = Array::from_slice(&values[100..228], &[2, 64]).unwrap();
        let ids = [0u32, 3, 4, 9];
        let floats = |array: Array| array.to_vec::<f32>().unwrap();
        let whole = floats(head.forward(&x).unwrap());
        let reduced = DraftLmHead::of(&head, None, Some(&ids), Dtype::Float32).unwrap().unwrap();
        for (i, (found, whole)) in floats(reduced.forward(&x).unwrap()).into_iter().zip(whole).enumerate() {
            match ids.contains(&(i as u32 % 10)) {
                true => assert!((found - whole).abs() < 1e-5, "{i}: {found} instead of {whole}"),
                false => assert_eq!(found, f32::NEG_INFINITY, "{i}"),
            }
        }
    }
}
