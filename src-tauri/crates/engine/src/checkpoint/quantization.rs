use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::CheckpointError;
use super::json::{Keys, Object, excerpt, invalid};
use super::names::{Name, classify};
use crate::mlx::QuantMode;

/// Group size and bits where a config leaves them out.
fn defaults(mode: QuantMode) -> (usize, usize) {
    match mode {
        QuantMode::Affine => (64, 4),
        QuantMode::Mxfp4 => (32, 4),
        QuantMode::Mxfp8 => (32, 8),
        QuantMode::Nvfp4 => (16, 4),
    }
}

/// How the weights of one module are quantized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct QuantSpec {
    /// Weights along the input axis that share a scale.
    pub group_size: usize,
    /// Bits of one weight.
    pub bits: usize,
    /// How they are packed.
    pub mode: QuantMode,
}

impl QuantSpec {
    /// 32-bit words that hold a row of `inputs` weights; `None` if they do not fit whole.
    pub fn packed_columns(&self, inputs: usize) -> Option<usize> {
        let bits = inputs.checked_mul(self.bits)?;
        bits.is_multiple_of(32).then_some(bits / 32)
    }

    /// Groups in a row of `inputs` weights; `None` if they do not fit whole.
    pub fn groups(&self, inputs: usize) -> Option<usize> {
        inputs.is_multiple_of(self.group_size).then(|| inputs / self.group_size)
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
        let (group_size, bits) = defaults(mode);
        let one_of =
            |key: &str, default: usize, allowed: &[u64], expected: &str| match get(key).map(Value::as_u64) {
                None => Ok(default),
                Some(Some(number)) if allowed.contains(&number) => Ok(number as usize),
                Some(_) => Err(refuse(key, expected)),
            };
        Ok(Self {
            group_size: one_of("group_size", group_size, &[16, 32, 64, 128], "16, 32, 64 or 128")?,
            bits: one_of("bits", bits, &[2, 3, 4, 5, 6, 8], "2, 3, 4, 5, 6 or 8")?,
            mode,
        })
    }
}

impl fmt::Display for QuantSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            QuantMode::Affine => write!(f, "{}-bit, group {}", self.bits, self.group_size),
            QuantMode::Mxfp4 => f.write_str("mxfp4"),
            QuantMode::Mxfp8 => f.write_str("mxfp8"),
            QuantMode::Nvfp4 => f.write_str("nvfp4"),
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
}

impl Quantization {
    /// Reads `quantization`, or `quantization_config` where only that exists.
    pub(super) fn parse(keys: &Keys<'_>) -> Result<Option<Self>, CheckpointError> {
        let present = |key: &'static str| keys.get(key).filter(|value| value.as_bool() != Some(false));
        let Some((key, value)) = ["quantization", "quantization_config"]
            .into_iter()
            .find_map(|key| present(key).map(|value| (key, value)))
        else {
            return Ok(None);
        };
        let object = value.as_object().ok_or_else(|| invalid(key, Some(value), "an object"))?;
        // Other tools name themselves here; their packing is not MLX's.
        if let Some(method) = object.get("quant_method").filter(|method| method.as_str() != Some("mlx")) {
            return Err(CheckpointError::UnsupportedConfig {
                key: format!("{key}.quant_method"),
                value: excerpt(method),
                supported: "MLX quantization",
            });
        }
        let default = QuantSpec::parse(key, object)?;
        let mut overrides = BTreeMap::new();
        for (path, value) in object {
            let spec = match value {
                Value::Object(entry) => Some(QuantSpec::parse(&format!("{key}.{path}"), entry)?),
                Value::Bool(true) => Some(default),
                Value::Bool(false) => None,
                _ => continue,
            };
            let Name::Text(path) = classify(path) else { continue };
            if let Some(other) = overrides.insert(path.clone(), spec)
                && other != spec
            {
                return Err(invalid(
                    &format!("{key}.{path}"),
                    Some(value),
                    "the same under each of its names",
                ));
            }
        }
        Ok(Some(Self { default, overrides }))
    }
}
