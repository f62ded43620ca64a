//! Which parts of a model are run by kernels: those that give on this device what the operations give. Trying them also
//! compiles them, so that no reply waits for that.

use std::rc::Rc;

use thiserror::Error;

use super::DeltaNet;
use super::packed::Packed;
use super::qwen::{Mixer, Qwen};
use crate::mlx::kernels::Launch;
use crate::mlx::{Array, Dtype, MlxError};

/// Why operations run a part of a model.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum KernelProblem {
    /// Its sizes are not those that the kernels are written for.
    #[error("the kernels do not fit this model's sizes")]
    Sizes,
    /// They gave something else.
    #[error("{what} differ from those of the operations by {apart:e} of the largest, more than {limit:e}")]
    Differs {
        /// What.
        what: &'static str,
        /// The largest difference over the largest value.
        apart: f32,
        /// What rounding explains.
        limit: f32,
    },
    /// The device refused them.
    #[error(transparent)]
    Mlx(#[from] MlxError),
}

impl Qwen {
    /// Lets kernels run the recurrence of all linear-attention layers, if they run that of the first one as its
    /// operations do. Otherwise everything stays as it is.
    pub fn choose_kernels(&mut self, launch: &Rc<dyn Launch>) -> Result<(), KernelProblem> {
        let hidden = self.norm.dim(0);
        let mut checked = false;
        for layer in &mut self.layers {
            let Mixer::Delta(delta) = &mut layer.mixer else { continue };
            let by_kernels = delta.with_kernels(Some(launch))?;
            if !by_kernels.has_kernels() {
                return Err(KernelProblem::Sizes);
            }
            if !checked {
                check(delta, &by_kernels, hidden)?;
                checked = true;
            }
            *delta = by_kernels;
        }
        Ok(())
    }

    /// Whether kernels run its linear-attention layers.
    pub fn has_kernels(&self) -> bool {
        self.layers.iter().any(|layer| matches!(&layer.mixer, Mixer::Delta(delta) if delta.has_kernels()))
    }
}

/// Runs two rows through drafted steps of which some tokens are rejected, and one through a prompt, and compares what
/// comes out and the states that are left.
fn check(operations: &DeltaNet, kernels: &DeltaNet, hidden: i32) -> Result<(), KernelProblem> {
    let dtype = operations.dtype();
    let steps = |layer: &DeltaNet| -> Result<[Vec<Array>; 2], MlxError> {
        let mut state = layer.empty_state(2)?;
        let mut outputs = Vec::new();
        for (step, (lens, committed)) in [([3, 1], [0, 0]), ([1, 4], [2, 1])].into_iter().enumerate() {
            let packed = Packed::new(&lens.map(|len| (0, len)))?;
            let x = noise(packed.lens().iter().sum(), hidden, step as u32, dtype)?;
            outputs.push(layer.step(&x, &packed, &mut state, &committed)?);
        }
        let (ragged, ragged_tail) = state.resolve(&[1, 3])?;
        let mut state = layer.empty_state(1)?;
        let packed = Packed::new(&[(0, 5)])?;
        outputs.push(layer.prefill(&noise(5, hidden, 7, dtype)?, &packed, &mut state)?);
        let (end, end_tail) = state.resolve(&[0])?;
        Ok([outputs, vec![ragged, ragged_tail, end, end_tail]])
    };
    let limit = match dtype {
        Dtype::Float32 => 1e-4,
        Dtype::Float16 => 1e-2,
        _ => 6e-2,
    };
    let (expected, got) = (steps(operations)?, steps(kernels)?);
    for (what, (expected, got)) in ["outputs", "states"].into_iter().zip(expected.iter().zip(&got)) {
        for (expected, got) in expected.iter().zip(got) {
            let apart = apart(got, expected)?;
            // Not a number is not within any limit.
            if !(apart <= limit) {
                return Err(KernelProblem::Differs { what, apart, limit });
            }
        }
    }
    Ok(())
}

/// The largest difference over the largest value; not a number where there is one that is none.
fn apart(got: &Array, expected: &Array) -> Result<f32, MlxError> {
    let host = |array: &Array| array.astype(Dtype::Float32)?.to_vec::<f32>();
    let (got, expected) = (host(got)?, host(expected)?);
    let largest = expected.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let most = |most: f32, off: f32| if most.is_nan() || off.is_nan() { f32::NAN } else { most.max(off) };
    let off = got.iter().zip(&expected).map(|(a, b)| (a - b).abs() / largest);
    Ok(if got.len() == expected.len() { off.fold(0.0, most) } else { f32::NAN })
}

/// Numbers around 0 that look random and are the same each time, `[T, H]`.
fn noise(tokens: i32, hidden: i32, seed: u32, dtype: Dtype) -> Result<Array, MlxError> {
    let value = |i: u32| {
        let mixed = (i.wrapping_add(seed << 20)).wrapping_mul(0x9e37_79b9);
        let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
        (mixed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let values: Vec<f32> = (0..(tokens * hidden) as u32).map(value).collect();
    Array::from_slice(&values, &[tokens, hidden])?.astype(dtype)
}
