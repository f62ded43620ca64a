//! The plan of a mixed conversion: how each matrix of the text is quantized, by the path of its module, and how its
//! scales are found. It is a JSON file that whoever measures a checkpoint writes, and holds for that checkpoint alone.

use std::collections::BTreeMap;

use ring::digest::{SHA256, digest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::checkpoint::{QuantSpec, Weight, is_small};
use crate::mlx::QuantMode;

/// The only format so far.
const FORMAT: u64 = 1;
/// The first layer of the MTP head, which every draft passes through: not quantized unless a plan names it.
pub const FUSION: &str = "mtp.fc";
/// Characters of a wrong value that a message shows.
const SHOWN: usize = 60;

/// How the scales and biases of affine groups are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// From the extremes of a group, each weight rounded to the nearest code: what `mlx.quantize` does.
    #[default]
    Rtn,
    /// By least squares ([`super::fit()`]).
    Fit,
}

/// How one matrix is quantized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrix {
    bits: usize,
    group_size: usize,
    mode: QuantMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<Method>,
}

impl Matrix {
    fn spec(self) -> QuantSpec {
        QuantSpec { group_size: self.group_size, bits: self.bits, mode: self.mode }
    }
}

/// How each matrix of one checkpoint is quantized.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// [`crate::checkpoint::Metadata::fingerprint`] of the checkpoint that it is for, as 8 hexadecimal digits.
    source: String,
    /// What most of the quantized modules have.
    default: QuantSpec,
    /// By canonical path, as `layers.0.mlp.up_proj`; `None` stays as it is.
    modules: BTreeMap<String, Option<Matrix>>,
    /// Holds for affine modules that name none.
    method: Method,
    /// What was measured when it was made, for people and other programs.
    measured: Value,
}

/// The file. Parts are read one by one, so that an error names the part.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Value,
    source: Value,
    default: Value,
    modules: BTreeMap<String, Value>,
    method: Value,
    #[serde(default)]
    measured: Value,
}

/// Why a plan cannot be followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The text is no plan.
    #[error("This is no plan of a conversion: {reason}.")]
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// A value that no plan can have.
    #[error("In the plan, {path} is {value}. {problem}")]
    Invalid {
        /// Where, as `modules.lm_head`.
        path: String,
        /// What is there.
        value: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It was made for other weights.
    #[error(
        "The plan was made for another checkpoint: its source is {planned}, and that of this one {found}."
    )]
    OtherSource {
        /// Fingerprint in the plan.
        planned: String,
        /// Fingerprint of the checkpoint.
        found: String,
    },
    /// It names a matrix that there is none of.
    #[error("The plan names {path}, but the text part of the checkpoint has no such matrix.")]
    UnknownModule {
        /// The module.
        path: String,
    },
    /// It does not say what becomes of a matrix.
    #[error("The plan does not name {path}.")]
    MissingModule {
        /// The module.
        path: String,
    },
    /// Rows of a matrix do not divide into the groups.
    #[error(
        "The plan gives {path} groups of {group_size} weights, which its rows of {columns} do not divide into."
    )]
    Width {
        /// The module.
        path: String,
        /// Weights that share a scale.
        group_size: usize,
        /// Weights of a row.
        columns: usize,
    },
    /// Weights of the errors of a matrix do not fit it.
    #[error("The importance of {path} cannot be used: {problem}.")]
    Importance {
        /// The module.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl PlanError {
    /// Stable name of the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } | Self::Invalid { .. } => "invalid_plan",
            Self::OtherSource { .. } => "plan_of_another_source",
            Self::UnknownModule { .. } | Self::MissingModule { .. } | Self::Width { .. } => {
                "plan_does_not_fit"
            }
            Self::Importance { .. } => "invalid_importance",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } | Self::Invalid { .. } => "Correct the plan, or make it again.",
            Self::OtherSource { .. } => {
                "Convert the checkpoint that it was made for, or make a plan for this one."
            }
            Self::UnknownModule { .. } | Self::MissingModule { .. } => {
                "Make the plan again for this checkpoint; it must name each matrix of the text."
            }
            Self::Width { .. } => "Give it smaller groups, or false to leave it unquantized.",
            Self::Importance { .. } => "Measure it again on this checkpoint.",
        }
    }
}

impl Plan {
    /// A plan for the checkpoint with this fingerprint; a module without a quantization stays as it is.
    pub fn new(
        source: u32,
        modules: BTreeMap<String, Option<QuantSpec>>,
        method: Method,
        measured: Value,
    ) -> Result<Self, PlanError> {
        let matrix = |spec: QuantSpec| {
            let QuantSpec { group_size, bits, mode } = spec;
            Matrix { bits, group_size, mode, method: None }
        };
        let modules: BTreeMap<_, _> =
            modules.into_iter().map(|(path, spec)| (path, spec.map(matrix))).collect();
        let default = commonest(&modules).unwrap_or(QuantSpec::OF_SMALL);
        let plan = Self { source: format!("{source:08x}"), default, modules, method, measured };
        plan.validated()
    }

    /// Reads a plan.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let File { format, source, default, modules, method, measured } = serde_json::from_str(text)
            .map_err(|error| PlanError::Unreadable { reason: error.to_string() })?;
        if format != FORMAT {
            return Err(invalid("format", &format, format!("This version reads format {FORMAT}.")));
        }
        let modules = modules.into_iter().map(|(path, value)| {
            let matrix = match &value {
                Value::Bool(false) => None,
                value => Some(typed(&format!("modules.{path}"), value)?),
            };
            Ok((path, matrix))
        });
        let plan = Self {
            source: typed("source", &source)?,
            default: typed::<Matrix>("default", &default)?.spec(),
            modules: modules.collect::<Result<_, _>>()?,
            method: typed("method", &method)?,
            measured,
        };
        plan.validated()
    }

    /// The plan as a file holds it, keys sorted.
    pub fn to_json(&self) -> Value {
        let modules: BTreeMap<_, _> = self
            .modules
            .iter()
            .map(|(path, matrix)| (path, matrix.map_or(Value::Bool(false), |matrix| json!(matrix))))
            .collect();
        let mut value = json!({
            "format": FORMAT,
            "source": self.source,
            "default": self.default,
            "modules": modules,
            "method": self.method,
            "measured": self.measured,
        });
        value.sort_all_objects();
        value
    }

    /// SHA-256 of the plan's JSON without spaces, in hexadecimal digits. Its order in the file does not count.
    pub fn hash(&self) -> String {
        hexadecimal(self.to_json().to_string().as_bytes())
    }

    /// How scales are found where a module says nothing else.
    pub fn method(&self) -> Method {
        self.method
    }

    fn validated(self) -> Result<Self, PlanError> {
        let entries = self.modules.iter().filter_map(|(path, matrix)| Some((path, (*matrix)?)));
        for (path, matrix) in entries {
            let refuse =
                |problem: &str| Err(invalid(&format!("modules.{path}"), &json!(matrix), problem.into()));
            if !matrix.spec().is_valid() {
                return refuse("No quantization has these bits and groups in this mode.");
            }
            if matrix.method == Some(Method::Fit) && matrix.mode != QuantMode::Affine {
                return refuse("Only affine groups can be fitted.");
            }
        }
        let specs = || self.modules.values().flatten().map(|matrix| matrix.spec());
        let count = |spec: QuantSpec| specs().filter(|other| *other == spec).count();
        match commonest(&self.modules) {
            Some(most) if count(most) > count(self.default) => Err(invalid(
                "default",
                &json!(self.default),
                format!("It must be what most modules have: {most}."),
            )),
            _ => Ok(self),
        }
    }

    /// Compares the plan with the checkpoint that is to be converted: the matrices of its text, and its fingerprint.
    pub(super) fn check(&self, weights: &BTreeMap<String, Weight>, source: u32) -> Result<(), PlanError> {
        let found = format!("{source:08x}");
        if self.source != found {
            return Err(PlanError::OtherSource { planned: self.source.clone(), found });
        }
        if let Some(path) = self.modules.keys().find(|path| !weights.contains_key(*path)) {
            return Err(PlanError::UnknownModule { path: path.clone() });
        }
        for (path, weight) in weights {
            match self.modules.get(path) {
                None if !is_small(path) && path != FUSION => {
                    return Err(PlanError::MissingModule { path: path.clone() });
                }
                Some(Some(matrix)) if !matrix.spec().divides(weight.columns) => {
                    let (group_size, columns) = (matrix.group_size, weight.columns);
                    return Err(PlanError::Width { path: path.clone(), group_size, columns });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// How a matrix is stored; `None` leaves it as it is.
    pub(super) fn spec(&self, path: &str, columns: usize) -> Option<QuantSpec> {
        match self.modules.get(path) {
            Some(matrix) => matrix.map(Matrix::spec),
            None => Some(QuantSpec::OF_SMALL)
                .filter(|spec| self.quantizes() && is_small(path) && spec.divides(columns)),
        }
    }

    /// How the scales of a matrix are found.
    pub(super) fn method_of(&self, path: &str) -> Method {
        let matrix = self.modules.get(path).copied().flatten();
        match matrix {
            Some(Matrix { mode, .. }) if mode != QuantMode::Affine => Method::Rtn,
            matrix => matrix.and_then(|matrix| matrix.method).unwrap_or(self.method),
        }
    }

    /// Whether it quantizes anything.
    pub(super) fn quantizes(&self) -> bool {
        self.modules.values().any(Option::is_some)
    }

    /// What holds for every module that has no entry of its own in the config.
    pub(super) fn default_spec(&self) -> Option<QuantSpec> {
        self.quantizes().then_some(self.default)
    }
}

/// What most quantized modules have; of several the least.
fn commonest(modules: &BTreeMap<String, Option<Matrix>>) -> Option<QuantSpec> {
    let mut counts: BTreeMap<QuantSpec, usize> = BTreeMap::new();
    modules.values().flatten().for_each(|matrix| *counts.entry(matrix.spec()).or_default() += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(spec, _)| spec)
}

/// SHA-256, in hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn typed<T: DeserializeOwned>(path: &str, value: &Value) -> Result<T, PlanError> {
    T::deserialize(value).map_err(|error| invalid(path, value, format!("It cannot be: {error}.")))
}

fn invalid(path: &str, value: &Value, problem: String) -> PlanError {
    let text = value.to_string();
    let value = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    PlanError::Invalid { path: path.into(), value, problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::WeightKind;

    fn affine(bits: usize, group_size: usize) -> QuantSpec {
        QuantSpec { group_size, bits, mode: QuantMode::Affine }
    }

    fn modules() -> BTreeMap<String, Option<QuantSpec>> {
        let specs = [Some(affine(3, 64)), Some(affine(3, 64)), Some(affine(6, 32)), None];
        let paths =
            ["layers.0.mlp.up_proj", "layers.0.mlp.gate_proj", "embed_tokens", "layers.0.mlp.down_proj"];
        std::iter::zip(paths.map(str::to_owned), specs).collect()
    }

    fn plan() -> Plan {
        Plan::new(0x1234, modules(), Method::Fit, json!({ "kl": 0.25 })).unwrap()
    }

    fn weights(columns: usize) -> BTreeMap<String, Weight> {
        let weight = Weight { rows: 8, columns, kind: WeightKind::Dense, experts: None };
        modules().into_keys().map(|path| (path, weight)).collect()
    }

    fn refused(pointer: &str, value: Value) -> PlanError {
        let mut plan = plan().to_json();
        *plan.pointer_mut(pointer).unwrap() = value;
        Plan::parse(&plan.to_string()).unwrap_err()
    }

    #[test]
    fn a_plan_reads_as_it_was_written_in_any_order() {
        let plan = plan();
        let mut value = plan.to_json();
        assert_eq!(value["default"], json!({ "bits": 3, "group_size": 64, "mode": "affine" }));
        assert_eq!(value["modules"]["layers.0.mlp.down_proj"], false);
        let read = Plan::parse(&format!("{value:#}")).unwrap();
        assert_eq!((&read, read.hash()), (&plan, plan.hash()));
        let source = value.as_object_mut().unwrap().remove("source").unwrap();
        value["source"] = source;
        assert_eq!(Plan::parse(&value.to_string()).unwrap().hash(), plan.hash());
        let other = Plan::new(0x1234, modules(), Method::Rtn, json!({ "kl": 0.25 })).unwrap();
        assert!(other.hash() != plan.hash() && plan.hash().len() == 64);
    }

    #[test]
    fn what_no_plan_can_say_is_named() {
        const UP: &str = "modules.layers.0.mlp.up_proj";
        let up = "/modules/layers.0.mlp.up_proj";
        let of_float = json!({ "bits": 4, "group_size": 32, "mode": "mxfp4", "method": "fit" });
        let unknown = json!({ "bits": 4, "group_size": 32, "mode": "affine", "zeros": true });
        let rare = json!({ "bits": 6, "group_size": 32, "mode": "affine" });
        for (pointer, value, path, said) in [
            ("/format", json!(2), "format", "2"),
            ("/source", json!(7), "source", "7"),
            ("/method", json!("gptq"), "method", "gptq"),
            (&format!("{up}/bits"), json!(7), UP, "\"bits\":7"),
            (up, json!(true), UP, "true"),
            (up, unknown, UP, "zeros"),
            (up, of_float, UP, "fitted"),
            ("/default", rare, "default", "3-bit"),
        ] {
            let error = refused(pointer, value);
            let message = error.to_string();
            assert_eq!(error.code(), "invalid_plan");
            assert!(message.contains(&format!("{path} is ")) && message.contains(said), "{message}");
        }
        let mut folded = plan().to_json();
        folded["folds"] = json!([]);
        assert!(Plan::parse(&folded.to_string()).unwrap_err().to_string().contains("folds"));
        assert!(Plan::parse("[").unwrap_err().to_string().contains("no plan"));
    }

    #[test]
    fn a_plan_fits_its_checkpoint_alone() {
        let plan = plan();
        plan.check(&weights(128), 0x1234).unwrap();
        assert_eq!(plan.check(&weights(128), 1).unwrap_err().code(), "plan_of_another_source");
        let fails = |weights: BTreeMap<String, Weight>| plan.check(&weights, 0x1234).unwrap_err().to_string();
        let mut less = weights(128);
        less.remove("embed_tokens");
        assert!(fails(less).contains("names embed_tokens"));
        let mut more = weights(128);
        for small in ["layers.0.linear_attn.in_proj_a", "layers.0.mlp.gate", FUSION] {
            more.insert(small.into(), more["embed_tokens"]);
        }
        plan.check(&more, 0x1234).unwrap();
        more.insert("lm_head".into(), more["embed_tokens"]);
        assert!(fails(more).contains("does not name lm_head"));
        assert!(fails(weights(96)).contains("groups of 64 weights, which its rows of 96"));
    }

    #[test]
    fn what_a_plan_does_not_name_is_kept_fine() {
        let plan = plan();
        assert_eq!(plan.spec("embed_tokens", 128), Some(affine(6, 32)));
        assert_eq!(plan.spec("layers.0.mlp.down_proj", 128), None);
        assert_eq!(plan.spec("layers.0.mlp.gate", 128), Some(affine(8, 64)));
        assert_eq!((plan.spec("layers.0.mlp.gate", 96), plan.spec(FUSION, 128)), (None, None));
        let named = BTreeMap::from([(FUSION.to_owned(), Some(affine(4, 64)))]);
        let named = Plan::new(1, named, Method::Rtn, Value::Null).unwrap();
        assert_eq!(named.spec(FUSION, 128), Some(affine(4, 64)));
        let float =
            Plan::new(1, BTreeMap::from([("lm_head".to_owned(), None)]), Method::Fit, Value::Null).unwrap();
        assert_eq!((float.spec("layers.0.mlp.gate", 128), float.default_spec()), (None, None));
    }
}
