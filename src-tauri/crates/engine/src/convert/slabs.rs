//! Weights on their way through memory, some rows at a time.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::ConvertError;
use super::fit::fit;
use super::output::Module;
use super::plan::Method;
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
            Transform::ChannelsFirst | Transform::ChannelsLast => 4,
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

/// Makes of a slab what the result holds of it, as bytes: the slab, or packed weights, scales and biases. `importance`
/// is what its columns count where it is fitted, f32 `[columns]` or `[rows, columns]`.
pub(super) fn convert(
    module: &Module,
    slab: &Array,
    importance: Option<&Array>,
) -> Result<Vec<Vec<u8>>, EngineError> {
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
    let parts = match module.method {
        Method::Rtn => mlx::quantize(&value, spec.group_size as i32, spec.bits as i32, spec.mode)?,
        Method::Fit => fit(&value, spec, importance)?,
    };
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::checkpoint::{FloatType, QuantSpec, Rows, Source};
    use crate::mlx::QuantMode;

    fn source(file: &Path, offset: u64, shape: &[usize], rows: Rows) -> Source {
        let bytes = shape.iter().product::<usize>() as u64 * 4;
        Source { name: "w".into(), file: file.to_owned(), offset, bytes, shape: shape.to_vec(), rows }
    }

    fn plan(sources: Vec<Source>, shape: &[usize], transform: Transform) -> TensorPlan {
        let (stored, shape) = (safetensors::Dtype::F32, shape.to_vec());
        TensorPlan { name: "w".into(), sources, stored, dtype: stored, shape, transform }
    }

    fn write(path: &Path, values: &[f32]) {
        fs::write(path, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    }

    fn read(tensor: &TensorPlan, slab_bytes: u64) -> Vec<f32> {
        let (mut values, mut next) = (Vec::new(), 0);
        let slabs = Slabs::new(tensor, slab_bytes);
        let mut each = |start: usize, slab: &Array| {
            assert_eq!(start, next);
            next += slab.dim(0) as usize;
            assert!(slab.nbytes() as u64 <= slab_bytes.max(slabs.row_bytes as u64));
            values.extend(transform(slab.clone(), tensor.transform)?.to_vec::<f32>()?);
            Ok(())
        };
        slabs.read(&mut SourceFiles::default(), &mut each).unwrap();
        assert_eq!(next, slabs.rows());
        values
    }

    /// Two experts of two fused matrices each, in two files: halves of `[4, 3]` blocks, one after the other.
    #[test]
    fn halves_of_experts_from_several_files_make_one_tensor() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| dir.path().join(name));
        write(&a, &(0..24).map(|i| i as f32).collect::<Vec<_>>());
        write(&b, &(100..112).map(|i| i as f32).collect::<Vec<_>>());
        let upper = Rows::OfBlocks { block: 4, start: 2, end: 4 };
        let tensor = plan(
            vec![source(&a, 0, &[2, 4, 3], upper), source(&b, 0, &[4, 3], upper)],
            &[3, 2, 3],
            Transform::None,
        );
        let expected: Vec<f32> = (6..12).chain(18..24).chain(106..112).map(|i| i as f32).collect();
        for slab_bytes in [1, 12, 24, 30, 36, 48, 60, 72, 1000] {
            assert_eq!(read(&tensor, slab_bytes), expected, "{slab_bytes}");
        }
    }

    #[test]
    fn kernels_are_turned_and_norms_shifted_whole() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        write(&file, &(0..24).map(|i| i as f32).collect::<Vec<_>>());
        let kernel =
            plan(vec![source(&file, 0, &[3, 2, 4], Rows::All)], &[3, 2, 4], Transform::ConvTranspose);
        let turned: Vec<f32> = (0..3)
            .flat_map(|c| (0..4).flat_map(move |k| (0..2).map(move |i| (c * 8 + i * 4 + k) as f32)))
            .collect();
        let norm = plan(vec![source(&file, 16, &[5], Rows::All)], &[5], Transform::AddOne);
        for slab_bytes in [1, 32, 70, 1000] {
            assert_eq!(read(&kernel, slab_bytes), turned, "{slab_bytes}");
            assert_eq!(read(&norm, slab_bytes), [5.0, 6.0, 7.0, 8.0, 9.0]);
        }
    }

    #[test]
    fn quantized_slabs_are_rows_of_the_quantized_matrix() {
        let values: Vec<f32> = (0..12 * 128).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect();
        let matrix = Array::from_slice(&values, &[12, 128]).unwrap();
        for (mode, group_size, bits) in [
            (QuantMode::Affine, 32, 2),
            (QuantMode::Affine, 64, 3),
            (QuantMode::Affine, 128, 5),
            (QuantMode::Affine, 64, 6),
            (QuantMode::Mxfp4, 32, 4),
            (QuantMode::Mxfp8, 32, 8),
            (QuantMode::Nvfp4, 16, 4),
        ] {
            let spec = QuantSpec { group_size, bits, mode };
            let quantized = Some(spec);
            let tensor = plan(Vec::new(), &[12, 128], Transform::None);
            let float = FloatType::Bfloat16;
            let bf16 = matrix.astype(Dtype::Bfloat16).unwrap();
            for method in [Method::Rtn, Method::Fit] {
                let whole = match (method, mode) {
                    (Method::Fit, QuantMode::Affine) => fit(&bf16, spec, None).unwrap(),
                    (Method::Fit, _) => continue,
                    _ => mlx::quantize(&bf16, group_size as i32, bits as i32, mode).unwrap(),
                };
                let (tensor, matrix_path) = (tensor.clone(), Some("w".into()));
                let parts = Vec::new();
                let module = Module { tensor, matrix: matrix_path, float, quantized, method, parts };
                let mut joined = vec![Vec::new(); whole.len()];
                for (start, end) in [(0, 1), (1, 6), (6, 12)] {
                    let slab = matrix.slice_axis(0, start, end).unwrap();
                    let pieces = convert(&module, &slab, None).unwrap();
                    assert_eq!(pieces.len(), whole.len());
                    joined.iter_mut().zip(pieces).for_each(|(all, piece)| all.extend(piece));
                }
                for (joined, whole) in joined.iter().zip(&whole) {
                    assert_eq!(joined, &whole.to_bytes().unwrap(), "{method:?}, {mode:?}, {bits} bits");
                }
            }
        }
    }
}
