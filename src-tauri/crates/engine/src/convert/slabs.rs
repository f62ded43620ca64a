//! Weights on their way through memory, some rows at a time.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::ConvertError;
use super::output::Module;
use crate::checkpoint::{CheckpointError, Run, TensorPlan, Transform};
use crate::error::EngineError;
use crate::mlx::{self, Array, Dtype};
use crate::model::{dtype, transform};

/// Files that are open for reading.
#[derive(Debug, Default)]
pub(super) struct SourceFiles(HashMap<PathBuf, File>);

impl SourceFiles {
    fn read(&mut self, path: &Path, offset: u64, buffer: &mut [u8]) -> Result<(), CheckpointError> {
        let io = |source| CheckpointError::Io { path: path.to_owned(), source };
        if !self.0.contains_key(path) {
            self.0.insert(path.to_owned(), File::open(path).map_err(io)?);
        }
        self.0[path].read_exact_at(buffer, offset).map_err(io)
    }
}

/// A tensor cut into slabs of whole rows.
#[derive(Debug)]
pub(super) struct Slabs<'a> {
    tensor: &'a TensorPlan,
    /// What cannot be cut further, as a shape: a row, or the kernel of one channel.
    row: &'a [usize],
    rows: usize,
    row_bytes: usize,
    rows_of_slab: usize,
}

impl<'a> Slabs<'a> {
    pub(super) fn new(tensor: &'a TensorPlan, slab_bytes: u64) -> Self {
        let axes = match tensor.transform {
            Transform::ConvTranspose => 2,
            Transform::None | Transform::AddOne => 1,
        };
        let (outer, row) = tensor.shape.split_at(tensor.shape.len().saturating_sub(axes));
        let row_bytes = row.iter().product::<usize>() * tensor.stored.bitsize() / 8;
        let rows_of_slab = (slab_bytes as usize / row_bytes.max(1)).max(1);
        Self { tensor, row, rows: outer.iter().product(), row_bytes, rows_of_slab }
    }

    /// Rows of the whole tensor.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Reads one slab after the other. `each` gets the first row's number and the slab `[rows, …row]`.
    pub(super) fn read(
        &self,
        files: &mut SourceFiles,
        each: &mut dyn FnMut(usize, &Array) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut runs = Stretch { runs: self.tensor.runs(), left: None };
        let mut buffer = Vec::new();
        for start in (0..self.rows).step_by(self.rows_of_slab) {
            let rows = self.rows_of_slab.min(self.rows - start);
            buffer.resize(rows * self.row_bytes, 0);
            runs.fill(files, &mut buffer)?;
            let shape: Vec<i32> =
                std::iter::once(rows).chain(self.row.iter().copied()).map(|size| size as i32).collect();
            each(start, &Array::from_bytes(&buffer, &shape, dtype(self.tensor.stored))?)?;
        }
        Ok(())
    }
}

/// Runs of bytes, read as if they were one.
struct Stretch<'a, I> {
    runs: I,
    left: Option<Run<'a>>,
}

impl<'a, I: Iterator<Item = Run<'a>>> Stretch<'a, I> {
    /// A layout's shapes and runs agree, so there is always as much as a slab asks for.
    fn fill(&mut self, files: &mut SourceFiles, mut buffer: &mut [u8]) -> Result<(), CheckpointError> {
        while !buffer.is_empty() {
            let Some(run) = self.left.take().or_else(|| self.runs.next()) else { break };
            let count = buffer.len().min(run.bytes as usize);
            let (now, later) = buffer.split_at_mut(count);
            files.read(run.file, run.offset, now)?;
            buffer = later;
            let count = count as u64;
            self.left = (count < run.bytes).then(|| Run {
                offset: run.offset + count,
                bytes: run.bytes - count,
                ..run
            });
        }
        Ok(())
    }
}

/// Makes of a slab what the result holds of it, as bytes: the slab, or packed weights, scales and biases.
pub(super) fn convert(module: &Module, slab: &Array) -> Result<Vec<Vec<u8>>, EngineError> {
    let tensor = &module.tensor;
    let overflow = || ConvertError::Overflow { name: tensor.name.clone(), float: module.float };
    let loaded = transform(slab.astype(dtype(tensor.dtype))?, tensor.transform)?;
    let value = loaded.astype(dtype(module.float.dtype()))?;
    if !is_finite(&value)? {
        return Err(match is_finite(&loaded)? {
            true => overflow().into(),
            false => CheckpointError::NonFiniteTensor { name: tensor.name.clone() }.into(),
        });
    }
    let Some(spec) = module.quantized else { return Ok(vec![value.to_bytes()?]) };
    let parts = mlx::quantize(&value, spec.group_size as i32, spec.bits as i32, spec.mode)?;
    mlx::eval(&parts)?;
    for part in parts.iter().filter(|part| !matches!(part.dtype(), Dtype::Uint32 | Dtype::Uint8)) {
        if !is_finite(part)? {
            return Err(overflow().into());
        }
    }
    Ok(parts.iter().map(Array::to_bytes).collect::<Result<_, _>>()?)
}

fn is_finite(array: &Array) -> mlx::Result<bool> {
    Ok(array.is_finite()?.all()?.to_vec::<bool>()? == [true])
}
