//! MLX quantization as a config declares it: mode (affine, mxfp4, mxfp8, nvfp4), group size and bits, for the whole
//! model and for single modules. Where a config is silent it is inferred from tensor shapes; packings of other tools
//! are refused.

use std::collections::BTreeMap;
use std::fmt;

use foretoken_protocol::ErrorReport;
use safetensors::Dtype;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CheckpointError;
use super::json::{Keys, Object, excerpt, invalid};
use super::names::Name;
use crate::mlx::QuantMode;

/// Matrices that are tiny and cost much when they are coarse: routers of experts, and what the gates of a recurrence
/// are made from.
const SMALL: [&str; 4] = [".mlp.gate", ".shared_expert_gate", ".in_proj_a", ".in_proj_b"];

/// Whether the matrix of a module is one of those.
pub fn is_small(path: &str) -> bool {
    SMALL.iter().any(|end| path.ends_with(end))
}

/// Group sizes and bits that a mode has; the first of each is meant where a config leaves them out.
fn variants(mode: QuantMode) -> (&'static [u64], &'static [u64]) {
    match mode {
        QuantMode::Affine => (&[64, 32, 128], &[4, 2, 3, 5, 6, 8]),
        QuantMode::Mxfp4 => (&[32], &[4]),
        QuantMode::Mxfp8 => (&[32], &[8]),
        QuantMode::Nvfp4 => (&[16], &[4]),
    }
}

/// How the weights of one module are quantized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuantSpec {
    /// Weights along the input axis that share a scale.
    pub group_size: usize,
    /// Bits of one weight.
    pub bits: usize,
    /// What the bits mean, and how they are packed.
    pub mode: QuantMode,
}

impl QuantSpec {
    /// How small matrices are quantized where nothing else is said of them, see [`is_small`].
    pub const OF_SMALL: Self = Self { group_size: 64, bits: 8, mode: QuantMode::Affine };

    /// 32-bit words that hold a row of `inputs` weights; `None` if they do not fit whole.
    pub fn packed_columns(&self, inputs: usize) -> Option<usize> {
        let bits = inputs.checked_mul(self.bits)?;
        bits.is_multiple_of(32).then_some(bits / 32)
    }

    /// Groups in a row of `inputs` weights; `None` if they do not fit whole.
    pub fn groups(&self, inputs: usize) -> Option<usize> {
        inputs.is_multiple_of(self.group_size).then(|| inputs / self.group_size)
    }

    /// Whether rows of `inputs` weights divide into groups and fill words.
    pub fn divides(&self, inputs: usize) -> bool {
        self.groups(inputs).is_some() && self.packed_columns(inputs).is_some()
    }

    /// Whether the mode has these bits and this group size.
    pub fn is_valid(&self) -> bool {
        let (group_sizes, bits) = variants(self.mode);
        group_sizes.contains(&(self.group_size as u64)) && bits.contains(&(self.bits as u64))
    }

    fn parse(path: &str, object: &Object) -> Result<Self, CheckpointError> {
        let get = |key: &str| object.get(key).filter(|value| !value.is_null());
        let refuse = |key: &str, expected: &str| invalid(&format!("{path}.{key}"), get(key), expected);
        let mode = match get("mode").map(|mode| mode.as_str()) {
            None | Some(Some("affine")) => QuantMode::Affine,
            Some(Some("mxfp4")) => QuantMode::Mxfp4,
            Some(Some("mxfp8")) => QuantMode::Mxfp8,
            Some(Some("nvfp4")) => QuantMode::Nvfp4,
            Some(_) => return Err(refuse("mode", "affine, mxfp4, mxfp8 or nvfp4")),
        };
        let (group_sizes, bits) = variants(mode);
        let one_of = |key: &str, allowed: &[u64]| match get(key).map(Value::as_u64) {
            None => Ok(allowed[0] as usize),
            Some(Some(number)) if allowed.contains(&number) => Ok(number as usize),
            Some(_) => {
                let mut allowed = allowed.to_vec();
                allowed.sort_unstable();
                let allowed: Vec<String> = allowed.iter().map(u64::to_string).collect();
                Err(refuse(key, &format!("{} in mode {}", allowed.join(" or "), mode_name(mode))))
            }
        };
        Ok(Self { group_size: one_of("group_size", group_sizes)?, bits: one_of("bits", bits)?, mode })
    }

    /// The quantization of a matrix with rows of `columns` weights whose packed weight has rows of `packed_columns`
    /// words and whose scales, of type `scales`, have rows of `groups` entries. At most one fits; `None` if none does.
    pub(super) fn infer(
        columns: usize,
        packed_columns: usize,
        groups: usize,
        scales: Dtype,
        has_biases: bool,
    ) -> Option<Self> {
        let modes: &[QuantMode] = match (scales, has_biases) {
            (Dtype::U8, false) => &[QuantMode::Mxfp4, QuantMode::Mxfp8, QuantMode::Nvfp4],
            (Dtype::BF16 | Dtype::F16 | Dtype::F32, true) => &[QuantMode::Affine],
            _ => return None,
        };
        modes.iter().find_map(|mode| {
            let (group_sizes, bits) = variants(*mode);
            let specs = group_sizes.iter().flat_map(|group_size| {
                bits.iter().map(|bits| Self {
                    group_size: *group_size as usize,
                    bits: *bits as usize,
                    mode: *mode,
                })
            });
            let fits = |spec: &Self| {
                spec.packed_columns(columns) == Some(packed_columns) && spec.groups(columns) == Some(groups)
            };
            specs.into_iter().find(fits)
        })
    }
}

fn mode_name(mode: QuantMode) -> &'static str {
    match mode {
        QuantMode::Affine => "affine",
        QuantMode::Mxfp4 => "mxfp4",
        QuantMode::Mxfp8 => "mxfp8",
        QuantMode::Nvfp4 => "nvfp4",
    }
}

impl fmt::Display for QuantSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            QuantMode::Affine => write!(f, "{}-bit, group {}", self.bits, self.group_size),
            mode => f.write_str(mode_name(mode)),
        }
    }
}

/// What the config says about quantized weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantization {
    /// Holds for every module that has scales and no entry of its own.
    pub default: QuantSpec,
    /// Modules that differ, by canonical path; `None` is a module that is not quantized.
    pub overrides: BTreeMap<String, Option<QuantSpec>>,
    /// Why what is said of the vision tower cannot be understood, if that is so.
    pub vision: Result<(), ErrorReport>,
}

impl Quantization {
    /// Reads `quantization`, or `quantization_config` where only that exists. `classify` knows the names of modules.
    pub(super) fn parse(
        keys: &Keys<'_>,
        classify: fn(&str) -> Name,
    ) -> Result<Option<Self>, CheckpointError> {
        let present = |key: &'static str| keys.get(key).filter(|value| value.as_bool() != Some(false));
        let Some((key, value)) = ["quantization", "quantization_config"]
            .into_iter()
            .find_map(|key| present(key).map(|value| (key, value)))
        else {
            return Ok(None);
        };
        let object = value.as_object().ok_or_else(|| invalid(key, Some(value), "an object"))?;
        if let Some(method) = foreign_method(object) {
            return Err(CheckpointError::ForeignQuantization { key: key.into(), method });
        }
        let default = QuantSpec::parse(key, object)?;
        let mut quantization = Self { default, overrides: BTreeMap::new(), vision: Ok(()) };
        for (path, value) in object {
            match classify(path) {
                Name::Text(module) => quantization.add(key, path, module, value)?,
                Name::Visual(module) => {
                    let added = quantization.add(key, path, module, value).map_err(ErrorReport::from);
                    quantization.vision = quantization.vision.and(added);
                }
                Name::Derived | Name::Unknown => {}
            }
        }
        Ok(Some(quantization))
    }

    /// Adds what is said under `path` of a module.
    fn add(&mut self, key: &str, path: &str, module: String, value: &Value) -> Result<(), CheckpointError> {
        let spec = match value {
            Value::Object(entry) => Some(QuantSpec::parse(&format!("{key}.{path}"), entry)?),
            Value::Bool(true) => Some(self.default),
            Value::Bool(false) => None,
            _ => return Ok(()),
        };
        match self.overrides.insert(module.clone(), spec) {
            Some(other) if other != spec => {
                Err(invalid(&format!("{key}.{module}"), Some(value), "the same under each of its names"))
            }
            _ => Ok(()),
        }
    }
}

/// The name of the tool that quantized the weights, where it is not MLX: its packing is another.
fn foreign_method(object: &Object) -> Option<String> {
    let text = |key: &str| object.get(key).filter(|value| !value.is_null()).map(excerpt);
    if let Some(method) = text("quant_method") {
        return (method != "\"mlx\"").then(|| method.trim_matches('"').to_owned());
    }
    if object.contains_key("bits") || object.contains_key("group_size") || object.contains_key("mode") {
        return None;
    }
    let signs = [
        ("config_groups", "compressed-tensors"),
        ("load_in_4bit", "bitsandbytes"),
        ("load_in_8bit", "bitsandbytes"),
        ("weight_block_size", "fp8"),
        ("quant_algo", "modelopt"),
    ];
    signs.into_iter().find(|(key, _)| object.contains_key(*key)).map(|(_, method)| method.to_owned())
}
