use std::collections::BTreeMap;

use foretoken_protocol::MtpState;
use safetensors::Dtype;
use serde::Serialize;

use super::CheckpointError;
use super::config::{Config, FloatType, LayerKind, NormEncoding};
use super::expected::{Role, Slot, slots};
use super::index::{Index, TensorInfo};
use super::names::{Name, classify, is_mtp, trunk_layer};
use super::norms::{self, Encodings};
use super::plan::{Rows, Source, TensorPlan, Transform};
use super::quantization::QuantSpec;
use crate::mlx::QuantMode;

/// The tensors of the language model by canonical name, with their names in the files.
pub(super) type TextTensors<'a> = BTreeMap<String, (&'a str, &'a TensorInfo)>;

/// How the weight of a linear layer or an embedding is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WeightKind {
    /// One tensor, `weight`, of the compute type.
    Dense,
    /// Packed `weight` with `scales` and `biases`.
    Quantized(QuantSpec),
}

/// A linear layer, an embedding, or the same layer of every expert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// How it is stored.
    pub kind: WeightKind,
    /// How many matrices are stacked, `[experts, rows, columns]`; `None` for a single one.
    pub experts: Option<usize>,
    /// Output width, or rows of an embedding.
    pub rows: usize,
    /// Input width, or width of an embedding.
    pub columns: usize,
}

/// Why a tensor in the files is not loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It belongs to the vision tower.
    Vision,
    /// It is an output head beside an embedding that is the output head already.
    TiedHead,
}

/// A tensor in the files that is not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its name in the file.
    pub name: String,
    /// Its size in the file.
    pub bytes: u64,
    /// Why.
    pub reason: SkipReason,
}

/// What to read from where, and what to make of it. Decided from headers alone; a plan that exists is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Every tensor to read, in the order of the network.
    pub tensors: Vec<TensorPlan>,
    /// Every linear layer and embedding, by module path, as `layers.0.mlp.up_proj`.
    pub weights: BTreeMap<String, Weight>,
    /// What the model computes in.
    pub compute: FloatType,
    /// How the trunk's norms are stored.
    pub trunk_norms: NormEncoding,
    /// How the MTP head's norms are stored, where there is a head.
    pub mtp_norms: Option<NormEncoding>,
    /// The MTP head.
    pub mtp: MtpState,
    /// What is in the files but not loaded, sorted by name.
    pub skipped: Vec<Skipped>,
    /// What is odd about the checkpoint though it loads, a sentence each.
    pub notes: Vec<String>,
    parameters: u64,
}

impl Layout {
    /// Decides how to load the tensors of `index` as the model of `config`.
    pub fn plan(config: &Config, index: &Index) -> Result<Self, CheckpointError> {
        let (mut tensors, mut skipped) = sort_out(index)?;
        check_layers(config, &tensors)?;
        let has_mtp = tensors.keys().any(|name| is_mtp(name));
        let mut notes = check_mtp(config, index, has_mtp)?;
        if config.tied {
            let heads: Vec<_> = tensors.extract_if(.., |name, _| name.starts_with("lm_head.")).collect();
            if !heads.is_empty() {
                notes.push(
                    "The files hold an output head although it is tied to the embedding; it is left out."
                        .into(),
                );
            }
            skipped.extend(heads.into_iter().map(|(_, (name, info))| Skipped {
                name: name.into(),
                bytes: info.bytes,
                reason: SkipReason::TiedHead,
            }));
            skipped.sort_by(|a, b| a.name.cmp(&b.name));
        }

        let encodings = norms::decide(config, index, &tensors)?;
        let compute = compute_type(&tensors)?;
        let mut planner = Planner {
            config,
            encodings,
            compute,
            left: tensors,
            tensors: Vec::new(),
            weights: BTreeMap::new(),
            parameters: 0,
        };
        for slot in slots(config, has_mtp) {
            planner.place(&slot)?;
        }
        if let Some((name, info)) = planner.left.values().next() {
            return Err(CheckpointError::UnexpectedTensor { name: (*name).into(), file: info.file.clone() });
        }
        let Planner { tensors, weights, parameters, .. } = planner;
        let declared = config.mtp_layers > 0;
        let mtp = if has_mtp {
            MtpState::Present {
                tensors: tensors.iter().filter(|tensor| is_mtp(&tensor.name)).count() as u32,
                format: describe(
                    weights.iter().filter(|(path, _)| is_mtp(path)).map(|(_, weight)| weight),
                    compute,
                ),
                declared,
            }
        } else if declared {
            MtpState::Stripped
        } else {
            MtpState::Absent
        };
        Ok(Self {
            tensors,
            weights,
            compute,
            trunk_norms: encodings.trunk,
            mtp_norms: has_mtp.then_some(encodings.mtp),
            mtp,
            skipped,
            notes,
            parameters,
        })
    }

    /// How a linear layer or an embedding is stored, by module path.
    pub fn kind(&self, path: &str) -> Option<WeightKind> {
        self.weights.get(path).map(|weight| weight.kind)
    }

    /// Whether there is an MTP head to load.
    pub fn has_mtp(&self) -> bool {
        self.mtp_norms.is_some()
    }

    /// Parameters of the language model, MTP head included; a packed weight counts each of its numbers.
    pub fn parameters(&self) -> u64 {
        self.parameters
    }

    /// Memory that the loaded tensors take.
    pub fn weight_bytes(&self) -> u64 {
        self.tensors.iter().map(TensorPlan::loaded_bytes).fold(0, u64::saturating_add)
    }

    /// The data type or quantization of the weights, as `bfloat16` or `4-bit, group 64`.
    pub fn format(&self) -> String {
        describe(self.weights.values(), self.compute)
    }
}

/// Gives every tensor its canonical name and sets the vision tower aside.
fn sort_out(index: &Index) -> Result<(TextTensors<'_>, Vec<Skipped>), CheckpointError> {
    let mut tensors = TextTensors::new();
    let mut skipped = Vec::new();
    for (raw, info) in &index.tensors {
        match classify(raw) {
            Name::Text(name) => {
                if let Some((_, other)) = tensors.insert(name.clone(), (raw, info)) {
                    let (first, second) = (other.file.clone(), info.file.clone());
                    return Err(CheckpointError::DuplicateTensor { name, first, second });
                }
            }
            Name::Vision => {
                skipped.push(Skipped { name: raw.clone(), bytes: info.bytes, reason: SkipReason::Vision });
            }
            Name::Unknown => {
                let (name, file) = (raw.clone(), info.file.clone());
                return Err(CheckpointError::UnexpectedTensor { name, file });
            }
        }
    }
    Ok((tensors, skipped))
}

/// Says in the config's terms what hundreds of missing and unexpected tensors would say one by one.
fn check_layers(config: &Config, tensors: &TextTensors<'_>) -> Result<(), CheckpointError> {
    let last = tensors.keys().filter_map(|name| trunk_layer(name)).max();
    let count = last.map_or(0, |last| last.saturating_add(1));
    if count != config.layers.len() {
        return Err(CheckpointError::Contradiction {
            config: format!("num_hidden_layers {}", config.layers.len()),
            tensors: format!("{count} layers"),
        });
    }
    for (index, kind) in config.layers.iter().enumerate() {
        let has = |module: &str| {
            let path = format!("layers.{index}.{module}.");
            tensors.range(path.clone()..).next().is_some_and(|(name, _)| name.starts_with(&path))
        };
        let (said, other) = match (kind, has("linear_attn"), has("self_attn")) {
            (LayerKind::LinearAttention, false, true) => ("linear", "full"),
            (LayerKind::FullAttention, true, false) => ("full", "linear"),
            _ => continue,
        };
        return Err(CheckpointError::Contradiction {
            config: format!("that layer {index} is {said} attention"),
            tensors: format!("that it is {other} attention"),
        });
    }
    Ok(())
}

/// Compares what the config says about an MTP head with what the files hold; returns what is worth a note.
fn check_mtp(config: &Config, index: &Index, has_mtp: bool) -> Result<Vec<String>, CheckpointError> {
    let declared = config.mtp_layers > 0;
    let mut notes = Vec::new();
    if has_mtp {
        if config.mtp_layers > 1 {
            return Err(CheckpointError::UnsupportedConfig {
                key: "mtp_num_hidden_layers".into(),
                value: config.mtp_layers.to_string(),
                supported: "1",
            });
        }
        if !declared {
            notes.push("The config does not declare the MTP head that the files hold; it is used.".into());
        }
        for sidecar in &index.sidecars {
            let sidecar = sidecar.display();
            notes.push(format!("The main files hold an MTP head already, so {sidecar} is left out."));
        }
        return Ok(notes);
    }
    let sidecar = index.sidecars.first().map(|path| path.display().to_string());
    if let Some(sidecar) = sidecar.or_else(|| config.mtp_file.clone()) {
        let what = format!("MTP heads in a file of their own ({sidecar})");
        return Err(CheckpointError::NotSupportedYet { what });
    }
    if declared {
        notes.push(
            "The config declares an MTP head, but its tensors were removed when the checkpoint was converted, so it \
             writes one token per pass. Convert the source repository again to get the head back."
                .into(),
        );
    }
    Ok(notes)
}

/// The model computes in the type of the embedding, or of its scales where it is quantized.
fn compute_type(tensors: &TextTensors<'_>) -> Result<FloatType, CheckpointError> {
    let missing = || CheckpointError::MissingTensor { name: "embed_tokens.weight".into() };
    let (name, info) = tensors
        .get("embed_tokens.scales")
        .or_else(|| tensors.get("embed_tokens.weight"))
        .ok_or_else(missing)?;
    FloatType::from_dtype(info.dtype).ok_or_else(|| CheckpointError::WrongDtype {
        name: (*name).into(),
        found: info.dtype,
        expected: "bfloat16, float16 or float32".into(),
    })
}

/// Names the kind that most parameters have, and what else there is.
fn describe<'a>(weights: impl Iterator<Item = &'a Weight>, compute: FloatType) -> String {
    let mut sizes: BTreeMap<WeightKind, u64> = BTreeMap::new();
    for weight in weights {
        let size = weight.experts.unwrap_or(1) as u64 * weight.rows as u64 * weight.columns as u64;
        let total = sizes.entry(weight.kind).or_default();
        *total = total.saturating_add(size);
    }
    let name = |kind: &WeightKind| match kind {
        WeightKind::Dense => compute.to_string(),
        WeightKind::Quantized(spec) => spec.to_string(),
    };
    let mut kinds: Vec<(WeightKind, u64)> = sizes.into_iter().collect();
    kinds.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    match &kinds[..] {
        [] => compute.to_string(),
        [(only, _)] => name(only),
        [(most, _), rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|(kind, _)| name(kind)).collect();
            format!("{}; parts {}", name(most), rest.join("; "))
        }
    }
}

/// Takes tensors out of `left` and puts them where the model wants them.
struct Planner<'a> {
    config: &'a Config,
    encodings: Encodings,
    compute: FloatType,
    left: TextTensors<'a>,
    tensors: Vec<TensorPlan>,
    weights: BTreeMap<String, Weight>,
    parameters: u64,
}

impl Planner<'_> {
    fn place(&mut self, slot: &Slot) -> Result<(), CheckpointError> {
        let parameters: u64 = slot.shape.iter().map(|size| *size as u64).product();
        self.parameters = self.parameters.saturating_add(parameters);
        let compute = [self.compute.dtype()];
        match (slot.role, &slot.shape[..]) {
            (Role::Matrix, &[rows, columns]) => self.matrix(slot, rows, columns),
            (Role::Norm, shape) if self.encodings.of(&slot.name) == NormEncoding::Delta => {
                self.take(&slot.name, shape, slot.because, &compute, Transform::AddOne)
            }
            (Role::Conv, &[channels, kernel, _]) if self.encodings.trunk == NormEncoding::Delta => {
                let shape = [channels, 1, kernel];
                self.take(&slot.name, &shape, slot.because, &compute, Transform::ConvTranspose)
            }
            (Role::Recurrence, shape) => {
                let types = [compute[0], Dtype::F32];
                self.take(&slot.name, shape, slot.because, &types, Transform::None)
            }
            (_, shape) => self.take(&slot.name, shape, slot.because, &compute, Transform::None),
        }
    }

    fn matrix(&mut self, slot: &Slot, rows: usize, columns: usize) -> Result<(), CheckpointError> {
        let part = |part: &str| format!("{}.{part}", slot.name);
        let float = [self.compute.dtype()];
        let kind = match self.quantization_of(&slot.name)? {
            Some(spec) => {
                if spec.mode != QuantMode::Affine {
                    let what = format!("Weights quantized as {spec} ({})", slot.name);
                    return Err(CheckpointError::NotSupportedYet { what });
                }
                let (Some(packed), Some(groups)) = (spec.packed_columns(columns), spec.groups(columns))
                else {
                    return Err(CheckpointError::Contradiction {
                        config: format!("{spec} for {}", slot.name),
                        tensors: format!("that its rows of {columns} weights do not divide into such groups"),
                    });
                };
                let because = format!("{}; {spec}", slot.because);
                self.take(&part("weight"), &[rows, packed], &because, &[Dtype::U32], Transform::None)?;
                self.take(&part("scales"), &[rows, groups], &because, &float, Transform::None)?;
                self.take(&part("biases"), &[rows, groups], &because, &float, Transform::None)?;
                WeightKind::Quantized(spec)
            }
            None => {
                self.take(&part("weight"), &slot.shape, slot.because, &float, Transform::None)?;
                WeightKind::Dense
            }
        };
        self.weights.insert(slot.name.clone(), Weight { kind, experts: None, rows, columns });
        Ok(())
    }

    /// An entry of its own in the config decides; else a module is quantized if it has scales.
    fn quantization_of(&self, path: &str) -> Result<Option<QuantSpec>, CheckpointError> {
        let has_scales = self.left.contains_key(&format!("{path}.scales"));
        let contradiction = |config: String| {
            let tensors = format!("that {path} is quantized");
            Err(CheckpointError::Contradiction { config, tensors })
        };
        let Some(quantization) = &self.config.quantization else {
            return if has_scales { contradiction("nothing of quantization".into()) } else { Ok(None) };
        };
        match quantization.overrides.get(path) {
            Some(None) if has_scales => contradiction("that it is not".into()),
            Some(entry) => Ok(*entry),
            None if has_scales => Ok(Some(quantization.default)),
            // A packed weight cannot be anything else: its scales are what is missing.
            None => match self.left.get(&format!("{path}.weight")) {
                Some((_, info)) if info.dtype == Dtype::U32 => {
                    Err(CheckpointError::MissingTensor { name: format!("{path}.scales") })
                }
                _ => Ok(None),
            },
        }
    }

    fn take(
        &mut self,
        name: &str,
        shape: &[usize],
        because: &str,
        types: &[Dtype],
        transform: Transform,
    ) -> Result<(), CheckpointError> {
        let Some((source, info)) = self.left.remove(name) else {
            return Err(CheckpointError::MissingTensor { name: name.into() });
        };
        if !types.contains(&info.dtype) {
            let mut names: Vec<String> = types.iter().map(Dtype::to_string).collect();
            names.dedup();
            return Err(CheckpointError::WrongDtype {
                name: source.into(),
                found: info.dtype,
                expected: names.join(" or "),
            });
        }
        if info.shape != shape {
            return Err(CheckpointError::MisshapenTensor {
                name: source.into(),
                found: info.shape.clone(),
                expected: shape.into(),
                because: because.into(),
            });
        }
        self.tensors.push(TensorPlan {
            name: name.into(),
            sources: vec![Source {
                name: source.into(),
                file: info.file.clone(),
                offset: info.offset,
                bytes: info.bytes,
                shape: info.shape.clone(),
                rows: Rows::All,
            }],
            stored: info.dtype,
            dtype: info.dtype,
            shape: info.shape.clone(),
            transform,
        });
        Ok(())
    }
}
