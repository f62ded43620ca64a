//! Plans the result of a conversion before any weight is read: the name, type, shape, shard and byte offset of each
//! tensor, the header of each safetensors shard, and the index of all shards.

use std::collections::BTreeMap;
use std::path::Path;

use safetensors::Dtype;
use serde_json::{Map, Value, json};

use super::plan::Method;
use super::recipe::Recipe;
use crate::checkpoint::{
    CheckpointError, FloatType, Index, Layout, QuantSpec, TensorFile, TensorInfo, TensorPlan, Transform,
    Weight, is_mtp, mlx_name,
};
use crate::mlx::QuantMode;

/// Parameters of a recurrence's decay, computed with in f32 and never rounded.
const UNROUNDED: &str = ".A_log";

/// Everything about the result but its bytes.
#[derive(Debug)]
pub(super) struct Output {
    /// What becomes of each tensor of the source, in the order of the network.
    pub(super) modules: Vec<Module>,
    /// The files.
    pub(super) shards: Vec<Shard>,
    /// Parameters of the model, its vision tower included.
    pub(super) parameters: u64,
}

/// A tensor of the source and the one or three that it becomes.
#[derive(Debug)]
pub(super) struct Module {
    /// The tensor of the source.
    pub(super) tensor: TensorPlan,
    /// The module's path, if the tensor is its matrix.
    pub(super) matrix: Option<String>,
    /// What it is cast to.
    pub(super) float: FloatType,
    /// How it is quantized after that.
    pub(super) quantized: Option<QuantSpec>,
    /// How its scales are found.
    pub(super) method: Method,
    /// The tensor, or packed weights, scales and biases.
    pub(super) parts: Vec<OutputTensor>,
}

/// A tensor of the result.
#[derive(Debug)]
pub(super) struct OutputTensor {
    /// Its name in the file.
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: u64,
    /// The file it is in, counted from 0.
    pub(super) shard: usize,
    /// Where it begins in that file.
    pub(super) offset: u64,
}

/// A tensor file of the result.
#[derive(Debug)]
pub(super) struct Shard {
    /// Its name.
    pub(super) name: String,
    /// What comes before the tensors.
    pub(super) header: Vec<u8>,
    /// Its length.
    pub(super) bytes: u64,
}

impl Output {
    /// Decides what becomes of each tensor of a source, and where it goes.
    pub(super) fn plan(
        source: &Layout,
        recipe: &Recipe,
        float: FloatType,
        shard_bytes: u64,
    ) -> Result<Self, CheckpointError> {
        let text = source.tensors.iter().map(|tensor| module(&source.weights, tensor.clone(), recipe, float));
        let tower = source.vision.tower();
        let tensors =
            tower.into_iter().flat_map(|tower| tower.tensors.iter().map(move |tensor| (tower, tensor)));
        let vision =
            tensors.map(|(tower, tensor)| module(&tower.weights, channels_last(tensor), recipe, float));
        let mut modules = text.chain(vision).collect::<Result<Vec<_>, _>>()?;
        let shards = place(&mut modules, shard_bytes);
        let parameters = source.parameters() + tower.map_or(0, |tower| tower.parameters);
        Ok(Self { modules, shards, parameters })
    }

    /// All tensors.
    pub(super) fn parts(&self) -> impl Iterator<Item = &OutputTensor> {
        self.modules.iter().flat_map(|module| &module.parts)
    }

    /// Every matrix, by its module's path.
    pub(super) fn matrices(&self) -> impl Iterator<Item = (&str, Option<QuantSpec>)> {
        self.modules.iter().filter_map(|module| Some((module.matrix.as_deref()?, module.quantized)))
    }

    /// Size of all tensors.
    pub(super) fn bytes(&self) -> u64 {
        self.parts().map(|part| part.bytes).sum()
    }

    /// Bits per parameter, all told and of the MTP head alone.
    pub(super) fn bits_per_weight(&self) -> (f64, Option<f64>) {
        let head = self.modules.iter().filter(|module| is_mtp(&module.tensor.name));
        let (mut bytes, mut parameters) = (0, 0);
        for module in head {
            bytes += module.parts.iter().map(|part| part.bytes).sum::<u64>();
            parameters += module.tensor.shape.iter().product::<usize>();
        }
        let bits = |bytes: u64, parameters: u64| 8.0 * bytes as f64 / parameters as f64;
        (bits(self.bytes(), self.parameters), (parameters > 0).then(|| bits(bytes, parameters as u64)))
    }

    /// The index that tools look for beside the files.
    pub(super) fn index_file(&self) -> Value {
        let files: BTreeMap<&str, &str> =
            self.parts().map(|part| (part.name.as_str(), self.shards[part.shard].name.as_str())).collect();
        json!({
            "metadata": { "total_size": self.bytes(), "total_parameters": self.parameters },
            "weight_map": files,
        })
    }

    /// What the headers of the files in `dir` will say.
    pub(super) fn index(&self, dir: &Path) -> Index {
        let info = |part: &OutputTensor| TensorInfo {
            file: dir.join(&self.shards[part.shard].name),
            dtype: part.dtype,
            shape: part.shape.clone(),
            offset: part.offset,
            bytes: part.bytes,
        };
        let file = |shard: &Shard| TensorFile {
            path: dir.join(&shard.name),
            bytes: shard.bytes,
            format: Some("mlx".into()),
        };
        Index {
            tensors: self.parts().map(|part| (part.name.clone(), info(part))).collect(),
            files: self.shards.iter().map(file).collect(),
            sidecars: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

/// The kernel of a vision tower's patches with its channels last, as tools for MLX want it.
fn channels_last(tensor: &TensorPlan) -> TensorPlan {
    let transform = match (tensor.transform, tensor.shape.len()) {
        (Transform::None, 5) => Transform::ChannelsLast,
        (Transform::ChannelsFirst, _) => Transform::None,
        (transform, _) => transform,
    };
    TensorPlan { transform, ..tensor.clone() }
}

/// `weights`: the matrices of the part of the model that the tensor belongs to.
fn module(
    weights: &BTreeMap<String, Weight>,
    tensor: TensorPlan,
    recipe: &Recipe,
    float: FloatType,
) -> Result<Module, CheckpointError> {
    let stored = FloatType::from_dtype(tensor.dtype).ok_or_else(|| CheckpointError::WrongDtype {
        name: tensor.name.clone(),
        found: tensor.dtype,
        expected: "bfloat16, float16 or float32".into(),
    })?;
    let float = match tensor.name.ends_with(UNROUNDED) {
        true if stored != float => FloatType::Float32,
        _ => float,
    };
    let matrix = tensor.name.strip_suffix(".weight").and_then(|path| weights.get_key_value(path));
    let quantized = matrix.and_then(|(path, weight)| recipe.spec(path, weight.columns));
    let method = matrix.map_or(Method::Rtn, |(path, _)| recipe.method(path));
    let shape = tensor.loaded_shape();
    let part = |name: String, dtype: Dtype, shape: Vec<usize>| {
        let elements = shape.iter().map(|size| *size as u64).product::<u64>();
        let bytes = elements * dtype.bitsize() as u64 / 8;
        OutputTensor { name: mlx_name(&name), dtype, shape, bytes, shard: 0, offset: 0 }
    };
    let parts = match (quantized, matrix) {
        (Some(spec), Some((path, weight))) => {
            let with_columns = |columns: Option<usize>| {
                let outer = shape.split_last().map_or(&[][..], |(_, outer)| outer);
                outer.iter().copied().chain(columns).collect::<Vec<usize>>()
            };
            let packed = with_columns(spec.packed_columns(weight.columns));
            let groups = with_columns(spec.groups(weight.columns));
            let named = |part: &str| format!("{path}.{part}");
            let mut parts = vec![part(named("weight"), Dtype::U32, packed)];
            if spec.mode == QuantMode::Affine {
                parts.push(part(named("scales"), float.dtype(), groups.clone()));
                parts.push(part(named("biases"), float.dtype(), groups));
            } else {
                parts.push(part(named("scales"), Dtype::U8, groups));
            }
            parts
        }
        _ => vec![part(tensor.name.clone(), float.dtype(), shape)],
    };
    Ok(Module { matrix: matrix.map(|(path, _)| path.clone()), tensor, float, quantized, method, parts })
}

/// Fills files in order, each until the next tensor would make it too large.
fn place(modules: &mut [Module], shard_bytes: u64) -> Vec<Shard> {
    let mut sizes = vec![0];
    for part in modules.iter_mut().flat_map(|module| &mut module.parts) {
        let last = sizes.len() - 1;
        if sizes[last] > 0 && sizes[last] + part.bytes > shard_bytes {
            sizes.push(0);
        }
        part.shard = sizes.len() - 1;
        part.offset = sizes[part.shard];
        sizes[part.shard] += part.bytes;
    }
    let count = sizes.len();
    let mut headers = vec![Map::from_iter([("__metadata__".to_owned(), json!({ "format": "mlx" }))]); count];
    for part in modules.iter().flat_map(|module| &module.parts) {
        let entry = json!({
            "dtype": part.dtype,
            "shape": part.shape,
            "data_offsets": [part.offset, part.offset + part.bytes],
        });
        headers[part.shard].insert(part.name.clone(), entry);
    }
    let shards: Vec<Shard> = headers
        .into_iter()
        .zip(sizes)
        .enumerate()
        .map(|(index, (entries, size))| {
            let name = match count {
                1 => "model.safetensors".to_owned(),
                _ => format!("model-{:05}-of-{count:05}.safetensors", index + 1),
            };
            let header = header(&Value::Object(entries));
            Shard { name, bytes: header.len() as u64 + size, header }
        })
        .collect();
    for part in modules.iter_mut().flat_map(|module| &mut module.parts) {
        part.offset += shards[part.shard].header.len() as u64;
    }
    shards
}

/// The length of the header, then the header, filled up so that the tensors begin at a multiple of 8.
fn header(entries: &Value) -> Vec<u8> {
    let mut text = entries.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    [&(text.len() as u64).to_le_bytes()[..], &text].concat()
}
