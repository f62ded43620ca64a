//! Reads the tensors of a checkpoint into memory as they are planned: puts stored parts together, transforms and
//! casts them, and refuses tensors that hold a NaN or an infinity.

use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::rc::Rc;

use super::LoadError;
use super::rows::read_rows;
use crate::checkpoint::{
    CheckpointError, FloatType, QuantSpec, Rows, Source, TensorPlan, Transform, Weight, WeightKind,
};
use crate::memory::FINITE_BLOCK;
use crate::mlx::{self, Array, Dtype, QuantMode};
use crate::model::{Inputs, Matrix, Mlp};

/// Called with bytes read and bytes to read, between tensors and then between layers; may end the loading.
pub type LoadProgress<'a> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'a;

/// The tensors of a checkpoint by canonical name, in memory and checked. A clone shares the memory.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    tensors: HashMap<String, Array>,
    kinds: HashMap<String, WeightKind>,
    /// By module, what adds up the inputs of its matrix.
    observed: HashMap<String, Rc<Inputs>>,
}

impl Weights {
    /// Reads everything that is planned. `weights` says of each matrix how it is stored.
    pub(super) fn read<'a>(
        plans: impl IntoIterator<Item = &'a TensorPlan>,
        weights: &BTreeMap<String, Weight>,
        progress: &mut LoadProgress<'_>,
    ) -> Result<Self, LoadError> {
        let plans: Vec<&TensorPlan> = plans.into_iter().collect();
        let total = plans.iter().map(|plan| plan.loaded_bytes()).fold(0, u64::saturating_add);
        let mut done = 0;
        report(progress, done, total)?;
        let mut stored = Stored::open(&plans)?;
        let mut tensors = HashMap::new();
        for plan in plans {
            tensors.insert(plan.name.clone(), as_planned(plan, stored.assemble(plan)?)?);
            done += plan.loaded_bytes();
            report(progress, done, total)?;
        }
        Ok(Self::new(tensors, weights))
    }

    /// Reads some rows of everything that is planned, one range after the other, and nothing else.
    pub(super) fn read_rows<'a>(
        plans: impl IntoIterator<Item = &'a TensorPlan>,
        weights: &BTreeMap<String, Weight>,
        rows: &[Range<usize>],
    ) -> Result<Self, LoadError> {
        let read = |plan: &TensorPlan| {
            Ok((plan.name.clone(), as_planned(plan, read_rows(plan, rows, dtype(plan.stored))?)?))
        };
        let tensors = plans.into_iter().map(read).collect::<Result<_, LoadError>>()?;
        Ok(Self::new(tensors, weights))
    }

    fn new(tensors: HashMap<String, Array>, weights: &BTreeMap<String, Weight>) -> Self {
        let kinds = weights.iter().map(|(path, weight)| (path.clone(), weight.kind)).collect();
        Self { tensors, kinds, observed: HashMap::new() }
    }

    /// Whether there is a tensor that has not been taken out.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// Takes a tensor out.
    pub(super) fn tensor(&mut self, name: &str) -> Result<Array, LoadError> {
        Ok(self.tensors.remove(name).ok_or_else(|| CheckpointError::MissingTensor { name: name.into() })?)
    }

    /// A tensor that has not been taken out.
    pub(super) fn get(&self, name: &str) -> Result<&Array, LoadError> {
        Ok(self.tensors.get(name).ok_or_else(|| CheckpointError::MissingTensor { name: name.into() })?)
    }

    /// Puts packed weight, scales and biases, in this order, in the place of a module's matrix.
    pub(super) fn set_quantized(&mut self, path: &str, spec: QuantSpec, parts: Vec<Array>) {
        let names = ["weight", "scales", "biases"].map(|part| format!("{path}.{part}"));
        self.tensors.extend(names.into_iter().zip(parts));
        self.kinds.insert(path.to_owned(), WeightKind::Quantized(spec));
    }

    /// Puts floats in the place of a module's matrix.
    pub(super) fn set_dense(&mut self, path: &str, weight: Array) {
        self.tensors.insert(format!("{path}.weight"), weight);
        self.kinds.insert(path.to_owned(), WeightKind::Dense);
    }

    /// Has the inputs of a module's matrix added up.
    pub(super) fn observe(&mut self, path: &str) -> Rc<Inputs> {
        Rc::clone(self.observed.entry(path.to_owned()).or_default())
    }

    /// Takes the matrix of a module out, or the stack of its experts' matrices; a dense one if the layout does not say
    /// otherwise.
    pub(super) fn linear(&mut self, path: &str) -> Result<Matrix, LoadError> {
        let matrix = self.stored(path)?;
        Ok(match self.observed.remove(path) {
            None => matrix,
            Some(inputs) => Matrix::Observed { matrix: Box::new(matrix), inputs },
        })
    }

    fn stored(&mut self, path: &str) -> Result<Matrix, LoadError> {
        let weight = self.tensor(&format!("{path}.weight"))?;
        let Some(WeightKind::Quantized(spec)) = self.kinds.get(path).copied() else {
            return Ok(Matrix::dense(weight)?);
        };
        let biases = match spec.mode {
            QuantMode::Affine => Some(self.tensor(&format!("{path}.biases"))?),
            _ => None,
        };
        Ok(Matrix::Quantized {
            weight,
            scales: self.tensor(&format!("{path}.scales"))?,
            biases,
            group_size: spec.group_size as i32,
            bits: spec.bits as i32,
            mode: spec.mode,
        })
    }

    /// Takes out the matrices of several modules of one path.
    pub(super) fn linears<const N: usize>(
        &mut self,
        path: &str,
        names: [&str; N],
    ) -> Result<[Matrix; N], LoadError> {
        let linears: Vec<_> =
            names.iter().map(|name| self.linear(&format!("{path}.{name}"))).collect::<Result<_, _>>()?;
        Ok(linears.try_into().expect("one for each name"))
    }

    /// Takes out a gated MLP.
    pub(super) fn mlp(&mut self, path: &str) -> Result<Mlp, LoadError> {
        let [gate_proj, up_proj, down_proj] = self.linears(path, ["gate_proj", "up_proj", "down_proj"])?;
        Ok(Mlp::new(gate_proj, up_proj, down_proj)?)
    }
}

/// The MLX type that a model computes in.
pub(crate) fn compute_dtype(compute: FloatType) -> Dtype {
    match compute {
        FloatType::Bfloat16 => Dtype::Bfloat16,
        FloatType::Float16 => Dtype::Float16,
        FloatType::Float32 => Dtype::Float32,
    }
}

pub(super) fn report(progress: &mut LoadProgress<'_>, done: u64, total: u64) -> Result<(), LoadError> {
    match progress(done, total) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(LoadError::Cancelled),
    }
}

/// The tensors as the files hold them, lazy; each is dropped at its last use.
struct Stored {
    files: HashMap<PathBuf, HashMap<String, Array>>,
    uses: HashMap<(PathBuf, String), usize>,
}

impl Stored {
    fn open(plans: &[&TensorPlan]) -> Result<Self, LoadError> {
        let (mut files, mut uses) = (HashMap::new(), HashMap::new());
        for source in plans.iter().flat_map(|plan| &plan.sources) {
            if !files.contains_key(&source.file) {
                files.insert(source.file.clone(), mlx::load_safetensors(&source.file)?);
            }
            *uses.entry((source.file.clone(), source.name.clone())).or_insert(0) += 1;
        }
        Ok(Self { files, uses })
    }

    /// The tensor of a plan before its transform, as it is stored.
    fn assemble(&mut self, plan: &TensorPlan) -> Result<Array, LoadError> {
        if let [Source { rows: Rows::All, .. }] = &plan.sources[..] {
            return self.take(&plan.sources[0]);
        }
        let parts: Vec<Array> =
            plan.sources.iter().map(|source| self.rows_of(source)).collect::<Result<_, _>>()?;
        let shape: Vec<i32> = plan.shape.iter().map(|&size| size as i32).collect();
        Ok(mlx::concatenate(&parts.iter().collect::<Vec<_>>(), 0)?.reshape(&shape)?)
    }

    /// The rows that a source names, `[rows, columns]`.
    fn rows_of(&mut self, source: &Source) -> Result<Array, LoadError> {
        let stored = self.take(source)?;
        let columns = *stored.shape().last().unwrap_or(&1);
        Ok(match source.rows {
            Rows::All => stored.reshape(&[-1, columns])?,
            Rows::OfBlocks { block, start, end } => stored
                .reshape(&[-1, block as i32, columns])?
                .slice_axis(1, start as i32, end as i32)?
                .reshape(&[-1, columns])?,
        })
    }

    /// The stored tensor of a source; dropped from here with its last use.
    fn take(&mut self, source: &Source) -> Result<Array, LoadError> {
        let missing = || CheckpointError::MissingTensor { name: source.name.clone() };
        let tensors = self.files.get_mut(&source.file).ok_or_else(missing)?;
        let key = (source.file.clone(), source.name.clone());
        let left = self.uses.get_mut(&key).ok_or_else(missing)?;
        *left -= 1;
        let tensor = match *left {
            0 => tensors.remove(&source.name),
            _ => tensors.get(&source.name).cloned(),
        };
        Ok(tensor.ok_or_else(missing)?)
    }
}

/// The MLX type for a type of tensor files; u32, that of packed weights, for all that are not listed.
pub(crate) fn dtype(dtype: safetensors::Dtype) -> Dtype {
    match dtype {
        safetensors::Dtype::BF16 => Dtype::Bfloat16,
        safetensors::Dtype::F16 => Dtype::Float16,
        safetensors::Dtype::F32 => Dtype::Float32,
        safetensors::Dtype::U8 => Dtype::Uint8,
        _ => Dtype::Uint32,
    }
}

/// Applies a transform to a stored tensor. The 1 that is added to norms is added in the tensor's own type.
pub(crate) fn transform(tensor: Array, transform: Transform) -> mlx::Result<Array> {
    match transform {
        Transform::None => Ok(tensor),
        Transform::AddOne => tensor.add(&Array::scalar(1.0, tensor.dtype())?),
        Transform::ConvTranspose => tensor.swapaxes(1, 2)?.contiguous(),
        Transform::ChannelsFirst => tensor.transpose(&[0, 4, 1, 2, 3])?.contiguous(),
        Transform::ChannelsLast => tensor.transpose(&[0, 2, 3, 4, 1])?.contiguous(),
    }
}

/// The tensor of a plan from what is stored of it, checked.
fn as_planned(plan: &TensorPlan, stored: Array) -> Result<Array, LoadError> {
    let tensor = transform(stored, plan.transform)?.astype(dtype(plan.dtype))?;
    check_finite(&tensor, &plan.name)?;
    Ok(tensor)
}

/// Evaluates a tensor, and refuses it if it holds a NaN or an infinity.
fn check_finite(tensor: &Array, name: &str) -> Result<(), LoadError> {
    mlx::eval([tensor])?;
    let float = matches!(tensor.dtype(), Dtype::Bfloat16 | Dtype::Float16 | Dtype::Float32);
    if float && !is_finite(tensor)? {
        return Err(CheckpointError::NonFiniteTensor { name: name.into() }.into());
    }
    Ok(())
}

/// Whether all numbers of a tensor in memory are finite. Looks at blocks of its leading axis, because the answers for a
/// whole embedding would take as much memory as the embedding, and one axis of all its numbers may be longer than an
/// axis can be.
fn is_finite(tensor: &Array) -> mlx::Result<bool> {
    let Some((&rows, inner)) = tensor.shape().split_first() else { return all_finite(tensor) };
    let row = inner.iter().map(|&size| size as usize).product::<usize>().max(1);
    if row > FINITE_BLOCK {
        for start in 0..rows {
            if !is_finite(&tensor.slice_axis(0, start, start + 1)?.reshape(inner)?)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let block = (FINITE_BLOCK / row) as i32;
    for start in (0..rows).step_by(block as usize) {
        if !all_finite(&tensor.slice_axis(0, start, rows.min(start.saturating_add(block)))?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn all_finite(block: &Array) -> mlx::Result<bool> {
    Ok(block.is_finite()?.all()?.to_vec::<bool>()? == [true])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(tensor: &Array) -> Option<&'static str> {
        match check_finite(tensor, "x") {
            Ok(()) => None,
            Err(LoadError::Checkpoint(error)) => Some(error.code()),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_number_that_is_not_finite_is_found_in_any_block() {
        let block = FINITE_BLOCK as i32;
        for shape in [vec![2, block + 3], vec![2 * block + 6], vec![2, 2, block / 2 + 1], vec![block + 3, 2]]
        {
            let count: usize = shape.iter().map(|&size| size as usize).product();
            let mut values = vec![0.5f32; count];
            assert_eq!(code(&Array::from_slice(&values, &shape).unwrap()), None, "{shape:?}");
            for at in [0, FINITE_BLOCK + 1, count - 1] {
                let kept = std::mem::replace(&mut values[at], f32::INFINITY);
                let found = code(&Array::from_slice(&values, &shape).unwrap());
                assert_eq!(found, Some("non_finite_tensor"), "{shape:?} {at}");
                values[at] = kept;
            }
        }
        assert_eq!(code(&Array::scalar(1.0, Dtype::Float32).unwrap()), None);
        assert_eq!(code(&Array::from_slice(&[0u32; 0], &[0, 4]).unwrap()), None);
        assert_eq!(code(&Array::from_slice(&[0f32; 0], &[0, 4]).unwrap()), None);
    }

    /// Far more numbers than an axis can have, none of them in memory of its own.
    #[test]
    fn tensors_may_have_more_numbers_than_an_axis() {
        let one = Array::scalar(f32::NAN, Dtype::Bfloat16).unwrap();
        for shape in [&[1 << 17, 1 << 15][..], &[1 << 9, 1 << 11, 1 << 12]] {
            let tensor = mlx::broadcast_to(&one, shape).unwrap();
            assert_eq!(code(&tensor), Some("non_finite_tensor"), "{shape:?}");
        }
    }
}
