//! How much the columns of each matrix count when it is fitted: the mean squares of its inputs over a text.

use std::collections::BTreeMap;
use std::ops::Range;

use super::plan::{PlanError, hexadecimal};
use crate::checkpoint::Weight;
use crate::mlx::{Array, Result};

/// Mean squares of the inputs of matrices, by canonical path. Matrices that it does not hold are fitted with equal
/// columns; a tied embedding, which is looked up as well as multiplied by, is best one of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Importance(BTreeMap<String, Vec<f32>>);

impl Importance {
    /// Sets those of a matrix: `[columns]`, or `[experts, columns]` row by row where each expert has its own.
    pub fn insert(&mut self, path: &str, mean_squares: Vec<f32>) {
        self.0.insert(path.to_owned(), mean_squares);
    }

    /// Those of a matrix, where they are known.
    pub fn get(&self, path: &str) -> Option<&[f32]> {
        self.0.get(path).map(Vec::as_slice)
    }

    /// SHA-256 of all of it, in hexadecimal digits.
    pub(super) fn hash(&self) -> String {
        let mut bytes = Vec::new();
        for (path, values) in &self.0 {
            bytes.extend((path.len() as u64).to_le_bytes());
            bytes.extend(path.as_bytes());
            bytes.extend((values.len() as u64).to_le_bytes());
            values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        }
        hexadecimal(&bytes)
    }

    /// Compares it with the matrices of a checkpoint.
    pub(super) fn check(&self, weights: &BTreeMap<String, Weight>) -> std::result::Result<(), PlanError> {
        for (path, values) in &self.0 {
            let refuse = |problem: String| Err(PlanError::Importance { path: path.clone(), problem });
            let Some(weight) = weights.get(path) else {
                return refuse("the text part of the checkpoint has no such matrix".into());
            };
            let of_experts = weight.experts.map(|experts| experts * weight.columns);
            if values.len() != weight.columns && Some(values.len()) != of_experts {
                return refuse(format!("{} values do not fit rows of {}", values.len(), weight.columns));
            }
            if let Some(value) = values.iter().find(|value| !(value.is_finite() && **value >= 0.0)) {
                return refuse(format!("{value} is no mean square"));
            }
        }
        Ok(())
    }

    /// What the columns count in some rows of a matrix of `columns` columns, f32 `[columns]` or `[rows, columns]`.
    /// Rows are counted over all experts, of `all` rows together.
    pub(crate) fn rows(
        &self,
        path: &str,
        columns: usize,
        rows: Range<usize>,
        all: usize,
    ) -> Result<Option<Array>> {
        let Some(values) = self.0.get(path) else { return Ok(None) };
        let experts = (values.len() / columns).max(1);
        if experts == 1 {
            return Array::from_slice(values, &[columns as i32]).map(Some);
        }
        let of_expert = (all / experts).max(1);
        let shape = [rows.len() as i32, columns as i32];
        let taken: Vec<f32> =
            rows.flat_map(|row| &values[row / of_expert * columns..][..columns]).copied().collect();
        Array::from_slice(&taken, &shape).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::WeightKind;

    #[test]
    fn rows_have_the_importance_of_their_expert() {
        let mut importance = Importance::default();
        importance.insert("experts", vec![1.0, 2.0, 3.0, 4.0]);
        importance.insert("dense", vec![5.0, 6.0]);
        let rows = |path: &str, rows: Range<usize>| {
            importance.rows(path, 2, rows, 6).unwrap().map(|rows| rows.to_vec::<f32>().unwrap())
        };
        assert_eq!(rows("experts", 2..4), Some(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(rows("dense", 2..4), Some(vec![5.0, 6.0]));
        assert_eq!(rows("other", 2..4), None);
        let other = Importance(BTreeMap::from([("dense".to_owned(), vec![5.0, 6.0])]));
        assert!(importance.hash() != other.hash() && importance.hash() == importance.clone().hash());
    }

    #[test]
    fn what_does_not_fit_a_matrix_is_refused() {
        let weight = Weight { kind: WeightKind::Dense, experts: Some(3), rows: 4, columns: 2 };
        let weights = BTreeMap::from([("experts".to_owned(), weight)]);
        let checked = |path: &str, values: Vec<f32>| {
            Importance(BTreeMap::from([(path.to_owned(), values)])).check(&weights)
        };
        checked("experts", vec![0.5; 6]).unwrap();
        checked("experts", vec![0.0; 2]).unwrap();
        for (path, values, said) in [
            ("experts", vec![1.0; 4], "4 values"),
            ("experts", vec![1.0, -1.0], "-1"),
            ("experts", vec![1.0, f32::NAN], "NaN"),
            ("lm_head", vec![1.0; 2], "no such matrix"),
        ] {
            let error = checked(path, values).unwrap_err();
            assert_eq!(error.code(), "invalid_importance");
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
