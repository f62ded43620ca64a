use std::collections::HashMap;

use crate::checkpoint::{CheckpointError, Layout, Transform, WeightKind};
use crate::error::EngineError;
use crate::mlx::{self, Array, Dtype, QuantMode};
use crate::model::Linear;

/// The tensors of a checkpoint by canonical name, in memory and checked.
#[derive(Debug)]
pub(super) struct Weights {
    tensors: HashMap<String, Array>,
    kinds: HashMap<String, WeightKind>,
}

impl Weights {
    /// Reads everything that the layout names, file by file. `progress` gets bytes read and bytes to read.
    pub(super) fn read(layout: &Layout, progress: &mut dyn FnMut(u64, u64)) -> Result<Self, EngineError> {
        let total = layout.weight_bytes();
        let mut done = 0;
        progress(done, total);
        let mut tensors = HashMap::new();
        for (file, plans) in layout.by_file() {
            let mut stored = mlx::load_safetensors(file)?;
            for plan in plans {
                let missing = || CheckpointError::MissingTensor { name: plan.name.clone() };
                let tensor = stored.remove(&plan.source).ok_or_else(missing)?;
                let tensor = transform(tensor, plan.transform)?;
                check_finite(&tensor, &plan.name)?;
                tensors.insert(plan.name.clone(), tensor);
                done += plan.bytes;
                progress(done, total);
            }
        }
        let kinds = layout.weights.iter().map(|(path, weight)| (path.clone(), weight.kind)).collect();
        Ok(Self { tensors, kinds })
    }

    /// Takes a tensor out.
    pub(super) fn tensor(&mut self, name: &str) -> Result<Array, EngineError> {
        Ok(self.tensors.remove(name).ok_or_else(|| CheckpointError::MissingTensor { name: name.into() })?)
    }

    /// Takes the matrix of a module out.
    pub(super) fn linear(&mut self, path: &str) -> Result<Linear, EngineError> {
        let weight = self.tensor(&format!("{path}.weight"))?;
        let Some(WeightKind::Quantized(spec)) = self.kinds.get(path).copied() else {
            return Ok(Linear::dense(weight)?);
        };
        let biases = match spec.mode {
            QuantMode::Affine => Some(self.tensor(&format!("{path}.biases"))?),
            _ => None,
        };
        Ok(Linear::Quantized {
            weight,
            scales: self.tensor(&format!("{path}.scales"))?,
            biases,
            group_size: spec.group_size as i32,
            bits: spec.bits as i32,
            mode: spec.mode,
        })
    }
}

fn transform(tensor: Array, transform: Transform) -> mlx::Result<Array> {
    match transform {
        Transform::None => Ok(tensor),
        Transform::AddOne => tensor.add(&Array::scalar(1.0, tensor.dtype())?),
        Transform::ConvTranspose => tensor.swapaxes(1, 2)?.contiguous(),
    }
}

/// Reads the tensor, and refuses it if it holds a NaN or an infinity.
fn check_finite(tensor: &Array, name: &str) -> Result<(), EngineError> {
    if matches!(tensor.dtype(), Dtype::Bfloat16 | Dtype::Float16 | Dtype::Float32) {
        let finite = tensor.is_finite()?.all()?;
        mlx::eval([tensor, &finite])?;
        if finite.to_vec::<bool>()? != [true] {
            return Err(CheckpointError::NonFiniteTensor { name: name.into() }.into());
        }
    } else {
        mlx::eval([tensor])?;
    }
    Ok(())
}
