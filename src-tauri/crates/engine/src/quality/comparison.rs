//! A quantized model beside its original, whoever has quantized it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::parts::Parts;
use super::request::{Observe, Progress};
use crate::calibration;
use crate::checkpoint::WeightKind;
use crate::error::EngineError;
use crate::observe::{Divergence, Source, evidence};

/// How far a model is from its original.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// What was found.
    pub evidence: Divergence,
    /// What people may know of the texts that it was found on: nothing of what they say.
    pub texts: Value,
    /// How each matrix of the model is stored, by path; `false` for one that is not quantized.
    pub modules: BTreeMap<String, Value>,
}

/// Compares a model with its original on such a part of these texts as conversions are measured on. Of neither is more
/// in memory than a part, and `memory` bytes for the texts.
pub fn compare(
    original: &Path,
    model: &Path,
    texts: &calibration::Texts,
    memory: u64,
    observe: Observe<'_>,
) -> Result<Comparison, EngineError> {
    let (reference, found) = (Source::read(original)?, Source::read(model)?);
    let parts = Parts::report(original, texts, memory, observe)?;
    let evidence = evidence(&reference, &found, &parts.report, &mut |done, total| {
        observe(Progress::Comparing { done, total })
    })?;
    let modules = found.layout.weights.iter().map(|(path, weight)| {
        let stored = match weight.kind {
            WeightKind::Quantized(spec) => json!(spec),
            WeightKind::Dense => json!(false),
        };
        (path.to_string(), stored)
    });
    Ok(Comparison { evidence, texts: parts.record, modules: modules.collect() })
}
