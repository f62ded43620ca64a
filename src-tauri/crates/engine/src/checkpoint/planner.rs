//! Puts stored tensors where the model wants them.

use std::collections::{BTreeMap, BTreeSet};

use safetensors::Dtype;

use super::CheckpointError;
use super::expected::{Role, Slot};
use super::forms::{self, Family, Form, Piece};
use super::kinds::{FloatType, NormEncoding};
use super::plan::{Rows, Source, TensorPlan, Transform};
use super::plan::{Weight, WeightKind};
use super::quantization::{QuantSpec, Quantization};
use super::sort::TextTensors;
use crate::mlx::QuantMode;

/// A planned part of a checkpoint.
#[derive(Debug, Default)]
pub(super) struct Planned {
    /// Every tensor to read, in the order of the slots.
    pub(super) tensors: Vec<TensorPlan>,
    /// Every linear layer and embedding, by module path.
    pub(super) weights: BTreeMap<String, Weight>,
    pub(super) parameters: u64,
    /// Whether the quantization was told by the tensors alone.
    pub(super) inferred: bool,
}

/// What is the same for all tensors of a part of a checkpoint.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckpointPart<'a> {
    pub(super) family: Family<'a>,
    pub(super) compute: FloatType,
    pub(super) norms: NormEncoding,
    /// What is said about quantization; where nothing is, the tensors tell.
    pub(super) quantization: Option<&'a Quantization>,
}

impl CheckpointPart<'_> {
    /// Fills all slots, and refuses tensors that are left over.
    pub(super) fn plan(self, slots: &[Slot], stored: &TextTensors<'_>) -> Result<Planned, CheckpointError> {
        let mut planner = Planner { part: self, stored, used: BTreeSet::new(), planned: Planned::default() };
        for slot in slots {
            planner.place(slot)?;
        }
        match stored.iter().find(|(name, _)| !planner.used.contains(*name)) {
            Some((_, (name, info))) => {
                Err(CheckpointError::UnexpectedTensor { name: (*name).into(), file: info.file.clone() })
            }
            None => Ok(planner.planned),
        }
    }
}

/// The data types that a tensor may have in a file.
#[derive(Debug, Clone, Copy)]
enum Types {
    /// Any that a model can compute in; loaded in the compute type.
    Float,
    /// Any that a model can compute in; kept precise where it is not the compute type.
    Precise,
    /// Just this one.
    Exactly(Dtype),
}

struct Planner<'a> {
    part: CheckpointPart<'a>,
    stored: &'a TextTensors<'a>,
    used: BTreeSet<String>,
    planned: Planned,
}

impl Planner<'_> {
    fn place(&mut self, slot: &Slot) -> Result<(), CheckpointError> {
        let parameters = slot.shape.iter().fold(1u64, |product, size| product.saturating_mul(*size as u64));
        self.planned.parameters = self.planned.parameters.saturating_add(parameters);
        let raw = self.part.norms == NormEncoding::Delta;
        match (slot.role, &slot.shape[..]) {
            (Role::Matrix, _) => self.matrix(slot),
            (Role::Norm, shape) if raw => self.take(slot, shape, Types::Float, Transform::AddOne),
            (Role::Conv, &[channels, kernel, _]) if raw => {
                self.take(slot, &[channels, 1, kernel], Types::Float, Transform::ConvTranspose)
            }
            (Role::PatchKernel, &[out, channels, frames, rows, columns]) => {
                let last = [out, frames, rows, columns, channels];
                let stored = self.stored.get(&slot.name).map(|(_, info)| &info.shape[..]);
                match stored == Some(&last) {
                    true => self.take(slot, &last, Types::Float, Transform::ChannelsFirst),
                    false => self.take(slot, &slot.shape, Types::Float, Transform::None),
                }
            }
            (Role::Recurrence, shape) => self.take(slot, shape, Types::Precise, Transform::None),
            (_, shape) => self.take(slot, shape, Types::Float, Transform::None),
        }
    }

    /// A tensor under its own name.
    fn take(
        &mut self,
        slot: &Slot,
        shape: &[usize],
        types: Types,
        transform: Transform,
    ) -> Result<(), CheckpointError> {
        let mut sources = Vec::new();
        let dtypes = self.source(&slot.name, shape, &[Rows::All], &slot.because, types, &mut sources)?;
        self.push(slot.name.clone(), shape.to_vec(), sources, dtypes, transform);
        Ok(())
    }

    fn matrix(&mut self, slot: &Slot) -> Result<(), CheckpointError> {
        let form = forms::find(slot, self.part.family, self.stored)?;
        let (&columns, outer) = slot.shape.split_last().expect("a matrix has columns");
        let kind = match self.quantization_of(slot, &form, columns)? {
            Some(spec) => {
                let (Some(packed), Some(groups)) = (spec.packed_columns(columns), spec.groups(columns))
                else {
                    return Err(CheckpointError::Contradiction {
                        config: format!("{spec} for {}", slot.name),
                        tensors: format!("that its rows of {columns} weights do not divide into such groups"),
                    });
                };
                let because = format!("{}; {spec}", slot.because);
                let affine = spec.mode == QuantMode::Affine;
                self.check_biases(slot, &form, spec)?;
                let scales = if affine { Types::Float } else { Types::Exactly(Dtype::U8) };
                self.part_of(slot, &form, "weight", packed, &because, Types::Exactly(Dtype::U32))?;
                self.part_of(slot, &form, "scales", groups, &because, scales)?;
                if affine {
                    self.part_of(slot, &form, "biases", groups, &because, Types::Float)?;
                }
                WeightKind::Quantized(spec)
            }
            None => {
                self.part_of(slot, &form, "weight", columns, &slot.because, Types::Float)?;
                WeightKind::Dense
            }
        };
        let (experts, rows) = match *outer {
            [experts, rows] => (Some(experts), rows),
            _ => (None, outer[0]),
        };
        self.planned.weights.insert(slot.name.clone(), Weight { kind, experts, rows, columns });
        Ok(())
    }

    /// An entry of its own in the config decides; else a module is quantized if it has scales.
    fn quantization_of(
        &mut self,
        slot: &Slot,
        form: &Form,
        columns: usize,
    ) -> Result<Option<QuantSpec>, CheckpointError> {
        let module = form.module();
        let stored = |part: &str| self.stored.get(&format!("{module}.{part}")).map(|(_, info)| *info);
        let (weight, scales) = (stored("weight"), stored("scales"));
        let entry = self.part.quantization.and_then(|quantization| {
            [slot.name.as_str(), module].into_iter().find_map(|path| quantization.overrides.get(path))
        });
        match (entry, self.part.quantization, scales) {
            (Some(None), _, Some(_)) => Err(CheckpointError::Contradiction {
                config: "that it is not".into(),
                tensors: format!("that {module} is quantized"),
            }),
            (Some(entry), _, _) => Ok(*entry),
            (None, Some(quantization), Some(_)) => Ok(Some(quantization.default)),
            (None, None, Some(scales)) => {
                let Some(weight) = weight else { return Err(missing(&format!("{module}.weight"))) };
                let width = |shape: &[usize]| shape.last().copied().unwrap_or_default();
                let (packed, groups) = (width(&weight.shape), width(&scales.shape));
                let biases = stored("biases").is_some();
                self.planned.inferred = true;
                match QuantSpec::infer(columns, packed, groups, scales.dtype, biases) {
                    Some(spec) => Ok(Some(spec)),
                    None => Err(CheckpointError::Contradiction {
                        config: format!("rows of {columns} weights for {}", slot.name),
                        tensors: format!(
                            "that they are packed into {packed} words with {groups} scales of {}, as no \
                             quantization does",
                            scales.dtype
                        ),
                    }),
                }
            }
            // A packed weight cannot be anything else: its scales are what is missing.
            (None, _, None) => match weight {
                Some(weight) if weight.dtype == Dtype::U32 => Err(missing(&format!("{module}.scales"))),
                _ => Ok(None),
            },
        }
    }

    /// Integers have biases beside their scales, small floats do not.
    fn check_biases(&self, slot: &Slot, form: &Form, spec: QuantSpec) -> Result<(), CheckpointError> {
        let stored = |part: &str| self.stored.get(&format!("{}.{part}", form.module()));
        let small_scales = stored("scales").is_some_and(|(_, info)| info.dtype == Dtype::U8);
        let tensors = match (spec.mode, stored("biases").is_some()) {
            (QuantMode::Affine, false) if small_scales => {
                "U8 scales without biases, as mxfp4, mxfp8 and nvfp4 have"
            }
            (QuantMode::Affine, _) | (_, false) => return Ok(()),
            (_, true) => "biases, as only affine quantization has",
        };
        Err(CheckpointError::Contradiction {
            config: format!("{spec} for {}", slot.name),
            tensors: tensors.into(),
        })
    }

    /// One tensor of a module, put together from that tensor of each piece.
    fn part_of(
        &mut self,
        slot: &Slot,
        form: &Form,
        part: &str,
        width: usize,
        because: &str,
        types: Types,
    ) -> Result<(), CheckpointError> {
        let with_width = |shape: &[usize]| [&shape[..shape.len() - 1], &[width]].concat();
        let mut sources = Vec::new();
        let mut dtypes = None;
        for Piece { module, shape, rows } in &form.pieces {
            let name = format!("{module}.{part}");
            let found = self.source(&name, &with_width(shape), rows, because, types, &mut sources)?;
            let (first, _) = *dtypes.get_or_insert(found);
            if found.0 != first {
                let name = self.stored.get(&name).map_or(name.as_str(), |(raw, _)| raw).to_owned();
                return Err(CheckpointError::WrongDtype {
                    name,
                    found: found.0,
                    expected: format!("{first} like the others"),
                });
            }
        }
        let dtypes = dtypes.expect("a form has a piece");
        self.push(format!("{}.{part}", slot.name), with_width(&slot.shape), sources, dtypes, Transform::None);
        Ok(())
    }

    /// Finds a stored tensor and checks it; gives the data types that it is stored and loaded in.
    fn source(
        &mut self,
        name: &str,
        shape: &[usize],
        rows: &[Rows],
        because: &str,
        types: Types,
        sources: &mut Vec<Source>,
    ) -> Result<(Dtype, Dtype), CheckpointError> {
        let Some(&(raw, info)) = self.stored.get(name) else { return Err(missing(name)) };
        let loaded = self.loaded_type(raw, info.dtype, types)?;
        if info.shape != shape {
            return Err(CheckpointError::MisshapenTensor {
                name: raw.into(),
                found: info.shape.clone(),
                expected: shape.into(),
                because: because.into(),
            });
        }
        self.used.insert(name.to_owned());
        sources.extend(rows.iter().map(|rows| Source {
            name: raw.into(),
            file: info.file.clone(),
            offset: info.offset,
            bytes: info.bytes,
            shape: info.shape.clone(),
            rows: *rows,
        }));
        Ok((info.dtype, loaded))
    }

    /// The data type that a tensor of a stored one is loaded in.
    fn loaded_type(&self, raw: &str, stored: Dtype, types: Types) -> Result<Dtype, CheckpointError> {
        let float = FloatType::from_dtype(stored);
        let (loaded, expected) = match types {
            Types::Float => (float.map(|_| self.part.compute), "BF16, F16 or F32".to_owned()),
            Types::Precise if float == Some(self.part.compute) => (float, String::new()),
            Types::Precise => (float.map(|_| FloatType::Float32), "BF16, F16 or F32".to_owned()),
            Types::Exactly(only) if stored == only => return Ok(only),
            Types::Exactly(only) => (None, only.to_string()),
        };
        match loaded {
            Some(loaded) => Ok(loaded.dtype()),
            None if matches!(stored, Dtype::F8_E4M3 | Dtype::F8_E5M2) => {
                Err(CheckpointError::ForeignQuantization { key: raw.into(), method: "fp8".into() })
            }
            None => Err(CheckpointError::WrongDtype { name: raw.into(), found: stored, expected }),
        }
    }

    fn push(
        &mut self,
        name: String,
        shape: Vec<usize>,
        sources: Vec<Source>,
        (stored, dtype): (Dtype, Dtype),
        transform: Transform,
    ) {
        self.planned.tensors.push(TensorPlan { name, sources, stored, dtype, shape, transform });
    }
}

fn missing(name: &str) -> CheckpointError {
    CheckpointError::MissingTensor { name: name.into() }
}
