//! Groups of matrices that get bits together: those that read the same vectors, so that they can still be run as one
//! product, and those that read what these have made.

use crate::checkpoint::{Layout, QuantSpec, Weight, is_mtp, is_small};
use crate::mlx::QuantMode;
use crate::model::Part;

/// The widths that a group can have, in bits a weight.
pub const WIDTHS: [usize; 6] = [2, 3, 4, 5, 6, 8];

/// How many weights may share a scale, where the rows of a group divide into so many: the first that does is measured,
/// the others are compared with it.
const GROUP_SIZES: [usize; 3] = [64, 32, 128];

/// The groups of a layer, by the modules below it. Routers, the shared expert's gate and the inputs of the decay are in
/// none: they are tiny, and what they decide is not to be coarse.
const IN_LAYER: [&[&str]; 10] = [
    &["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
    &["self_attn.o_proj"],
    &["linear_attn.in_proj_qkv", "linear_attn.in_proj_z"],
    &["linear_attn.out_proj"],
    &["mlp.gate_proj", "mlp.up_proj"],
    &["mlp.down_proj"],
    &["mlp.shared_expert.gate_proj", "mlp.shared_expert.up_proj"],
    &["mlp.shared_expert.down_proj"],
    &["mlp.switch_mlp.gate_proj", "mlp.switch_mlp.up_proj"],
    &["mlp.switch_mlp.down_proj"],
];

/// A matrix, or the stack of all experts' matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its path, as `layers.0.mlp.up_proj`.
    pub path: String,
    /// Its sizes.
    pub weight: Weight,
}

impl Module {
    /// Bytes that it takes when it is quantized, with scales and biases of `float_bytes` each.
    fn bytes(&self, spec: QuantSpec, float_bytes: usize) -> u64 {
        bytes(&self.weight, Some(spec), float_bytes)
    }
}

/// Bytes that a matrix takes, quantized or as it is, with other numbers of `float_bytes` each.
pub(super) fn bytes(weight: &Weight, spec: Option<QuantSpec>, float_bytes: usize) -> u64 {
    let Weight { experts, rows, columns, .. } = *weight;
    let row = match spec {
        None => columns * float_bytes,
        Some(spec) => columns * spec.bits / 8 + columns / spec.group_size * 2 * float_bytes,
    };
    (experts.unwrap_or(1) * rows * row) as u64
}

/// Matrices of one part of the network that get bits together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Where they are; the embedding where it is the output head too.
    pub part: Part,
    /// The matrices.
    pub modules: Vec<Module>,
    /// Weights that share a scale where it is measured.
    pub group_size: usize,
    /// How many else may share one.
    pub other_sizes: Vec<usize>,
}

impl Group {
    /// Of those of the modules that there are; `None` where there are none or their rows do not divide into groups.
    fn of(layout: &Layout, part: Part, paths: impl Iterator<Item = String>) -> Option<Self> {
        let module = |path: String| Some(Module { weight: *layout.weights.get(&path)?, path });
        let modules: Vec<Module> = paths.filter_map(module).collect();
        let divides = |size: &usize| modules.iter().all(|module| module.weight.columns.is_multiple_of(*size));
        let mut sizes = GROUP_SIZES.into_iter().filter(divides);
        let group_size = sizes.next()?;
        let other_sizes = sizes.collect();
        (!modules.is_empty()).then_some(Self { part, modules, group_size, other_sizes })
    }

    /// How its matrices are stored with this many bits where it is measured.
    pub fn spec(&self, bits: usize) -> QuantSpec {
        affine(bits, self.group_size)
    }

    /// Every way to store its matrices.
    pub(super) fn specs(&self) -> impl Iterator<Item = QuantSpec> {
        let sizes = [&[self.group_size], &self.other_sizes[..]].concat();
        sizes.into_iter().flat_map(|size| WIDTHS.map(|bits| affine(bits, size)))
    }

    /// Weights of all its matrices.
    pub fn weights(&self) -> u64 {
        let of_module = |Module { weight, .. }: &Module| {
            (weight.experts.unwrap_or(1) * weight.rows * weight.columns) as u64
        };
        self.modules.iter().map(of_module).sum()
    }

    /// Bytes that it takes stored like this, with scales and biases of `float_bytes` each.
    pub fn bytes(&self, spec: QuantSpec, float_bytes: usize) -> u64 {
        self.modules.iter().map(|module| module.bytes(spec, float_bytes)).sum()
    }
}

pub(super) fn affine(bits: usize, group_size: usize) -> QuantSpec {
    QuantSpec { group_size, bits, mode: QuantMode::Affine }
}

/// The groups of a model's trunk, in its order.
pub fn groups(layout: &Layout, layers: usize) -> Vec<Group> {
    let whole = |part, path: &str| Group::of(layout, part, [path.to_owned()].into_iter());
    let in_layer = (0..layers).flat_map(|index| {
        IN_LAYER.iter().filter_map(move |modules| {
            let paths = modules.iter().map(|module| format!("layers.{index}.{module}"));
            Group::of(layout, Part::Layer(index), paths)
        })
    });
    whole(Part::Embedding, "embed_tokens")
        .into_iter()
        .chain(in_layer)
        .chain(whole(Part::OutputHead, "lm_head"))
        .collect()
}

/// The matrices of a model's trunk that always have 8 bits, with their bytes.
pub(super) fn small(layout: &Layout, float_bytes: usize) -> Vec<(Module, QuantSpec, u64)> {
    let spec = QuantSpec::OF_SMALL;
    let of_trunk = layout
        .weights
        .iter()
        .filter(|(path, weight)| is_small(path) && !is_mtp(path) && spec.divides(weight.columns));
    of_trunk
        .map(|(path, weight)| {
            let module = Module { path: path.clone(), weight: *weight };
            let bytes = module.bytes(spec, float_bytes);
            (module, spec, bytes)
        })
        .collect()
}
