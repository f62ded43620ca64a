//! Conversion of a checkpoint to the MLX layout, quantized as a [`Recipe`] says, with its MTP head.
//!
//! Everything about the result is decided from headers before a byte is written: `Output` knows each tensor's name,
//! type, shape, file and place. The weights then pass through memory in slabs of rows, so the peak does not depend on
//! the size of a tensor or a model. The result grows in a work folder beside its place, which never looks like a model;
//! a journal of finished tensors lets an interrupted conversion go on. At the end every tensor is read again and
//! compared with its checksum, and only then the folder gets its config and its name.

mod companions;
mod config;
mod error;
mod fit;
mod importance;
mod journal;
mod output;
mod plan;
mod recipe;
mod run;
mod slabs;
mod source;
mod work;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretoken_protocol::{Blindness, ConversionProgress, ConversionReport, ConversionSettings, VisionFormat};
use serde_json::{Map, Value};

use crate::checkpoint::{Config, FloatType, Layout, NormEncoding, Skipped, VisionPlan, WeightKind};
use crate::error::EngineError;
use crate::machine;
use output::Output;
use source::Source;

pub use companions::RECORD;
pub use error::ConvertError;
pub(crate) use fit::PIECE;
pub use fit::fit;
pub use importance::Importance;
pub use plan::{FUSION, Method, Plan, PlanError};
pub use recipe::Recipe;

pub(crate) use work::lock;

/// How a conversion is cut up. No byte of a tensor depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A file of the result is closed before it would grow beyond this; only a single larger tensor exceeds it.
    pub shard_bytes: u64,
    /// How much of the source is in memory at a time; what is made of it takes a few times as much.
    pub slab_bytes: u64,
    /// How much may be written between two entries in the journal, and is done again after an interruption.
    pub journal_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { shard_bytes: 5 << 30, slab_bytes: 32 << 20, journal_bytes: 256 << 20 }
    }
}

/// A conversion that is known to fit together: everything but the weights is read, and nothing is written.
#[derive(Debug)]
pub struct Conversion {
    source: Source,
    recipe: Recipe,
    output: Output,
    config: Map<String, Value>,
    settings: ConversionSettings,
    float: FloatType,
    limits: Limits,
    out: PathBuf,
    notes: Vec<String>,
}

impl Conversion {
    /// Plans the conversion of the model folder `source` into the folder `out`, which must not exist or be empty.
    /// `revision` is that of the source, where its path does not tell.
    pub fn plan(
        source: &Path,
        out: &Path,
        settings: &ConversionSettings,
        revision: Option<&str>,
        limits: Limits,
    ) -> Result<Self, EngineError> {
        Self::with(Recipe::new(settings)?, source, out, settings, revision, limits)
    }

    /// [`Self::plan`] of a mixed conversion: `plan` says how each matrix of the text is quantized, `importance` what
    /// its columns count where it is fitted. Of the settings only those of the vision tower and the data type hold.
    pub fn planned(
        source: &Path,
        out: &Path,
        (plan, importance): (Arc<Plan>, Option<Arc<Importance>>),
        settings: &ConversionSettings,
        revision: Option<&str>,
        limits: Limits,
    ) -> Result<Self, EngineError> {
        let recipe = Recipe::planned(plan, importance, settings.vision)?;
        Self::with(recipe, source, out, settings, revision, limits)
    }

    fn with(
        recipe: Recipe,
        source: &Path,
        out: &Path,
        settings: &ConversionSettings,
        revision: Option<&str>,
        limits: Limits,
    ) -> Result<Self, EngineError> {
        work::check_target(out)?;
        let mut source = Source::read(source, revision)?;
        recipe.check(&source)?;
        let found = std::mem::take(&mut source.layout.notes);
        let mut notes: Vec<String> = found.iter().map(ToString::to_string).collect();
        match (&source.layout.vision, settings.vision) {
            (VisionPlan::Present(_), VisionFormat::None) => {
                source.layout.vision = VisionPlan::Unavailable(Blindness::LeftOut);
            }
            (VisionPlan::Unavailable(reason), VisionFormat::Float | VisionFormat::Affine { .. })
                if source.config.vision.is_some() || source.layout.skipped.iter().any(Skipped::is_vision) =>
            {
                notes.push(format!("The result sees no pictures. {reason}"));
            }
            _ => {}
        }
        let float = match settings.dtype {
            Some(dtype) => recipe::float_type(dtype),
            None => {
                let (float, note) = machine::best_float(source.layout.compute, machine::chip().as_deref());
                notes.extend(note);
                float
            }
        };
        let output = Output::plan(&source.layout, &recipe, float, limits.shard_bytes)?;
        let config = config::rewrite(&source, &recipe, &output, float);
        let conversion = Self {
            source,
            recipe,
            output,
            config,
            settings: *settings,
            float,
            limits,
            out: out.to_owned(),
            notes,
        };
        conversion
            .check_result(&Layout::plan(&conversion.result_config()?, &conversion.output.index(out))?)?;
        Ok(conversion)
    }

    /// Writes the result, or what is missing of it after an interruption. `observe` is told about the progress and can
    /// end the conversion early, which keeps what is done.
    pub fn run(
        &self,
        observe: &mut dyn FnMut(&ConversionProgress) -> ControlFlow<()>,
    ) -> Result<ConversionReport, EngineError> {
        run::run(self, observe)
    }

    /// Bytes of all tensors of the result.
    pub fn bytes(&self) -> u64 {
        self.output.bytes()
    }

    /// Parameters of the result, its vision tower included.
    pub fn parameters(&self) -> u64 {
        self.output.parameters
    }

    /// What a person should know before it begins, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What the model of the result computes in.
    pub fn float(&self) -> FloatType {
        self.float
    }

    /// The result's config as the engine reads it.
    fn result_config(&self) -> Result<Config, EngineError> {
        Ok(Config::parse(&self.config)?)
    }

    /// Compares how the engine will load the result with what was meant: each matrix in its format, all norms as they
    /// are, the head there.
    fn check_result(&self, layout: &Layout) -> Result<(), EngineError> {
        let norms_are_plain = layout.trunk_norms == NormEncoding::Gamma
            && layout.mtp_norms.is_none_or(|norms| norms == NormEncoding::Gamma);
        let formats_agree = self.output.matrices().all(|(path, quantized)| {
            let kind = quantized.map_or(WeightKind::Dense, WeightKind::Quantized);
            let tower = || Some(layout.vision.tower()?.weights.get(path)?.kind);
            layout.kind(path).or_else(tower) == Some(kind)
        });
        if norms_are_plain
            && formats_agree
            && layout.compute == self.float
            && layout.has_mtp() == self.source.layout.has_mtp()
            && layout.parameters() == self.source.layout.parameters()
            && layout.vision.tower().is_some() == self.source.layout.vision.tower().is_some()
        {
            Ok(())
        } else {
            Err(ConvertError::Unfaithful.into())
        }
    }
}
