//! How close quantized models are to their originals, as the records of their conversions say, or of comparisons that
//! were made here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use foretoken_models::Library;
use foretoken_protocol::{Evidence, EvidenceFigures, EvidenceText, MatrixBits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::offers::place;

/// The record that a conversion leaves beside its result.
const RECORD: &str = "foretoken.json";

/// What the record of a conversion says that has measured what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Proven {
    pub(super) evidence: Evidence,
    /// The folder of the original, where that was when it was converted.
    pub(super) original: PathBuf,
}

/// The record, in the engine's words.
#[derive(Debug, Deserialize)]
struct Record {
    source: Origin,
    quality: Quality,
}

#[derive(Debug, Deserialize)]
struct Origin {
    path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Quality {
    evidence: Divergence,
    texts: Texts,
    measured: Option<Planned>,
    /// By path, how a matrix is stored; `false` for one that is not quantized.
    modules: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Divergence {
    tokens: u64,
    kl: f64,
    kl_error: Option<f64>,
    kl_p99: f64,
    same_choice: f64,
    reference: Figures,
    model: Figures,
}

#[derive(Debug, Deserialize)]
struct Figures {
    mean_nll: Option<f64>,
    mtp_acceptance: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Texts {
    source: Source,
}

#[derive(Debug, Deserialize)]
struct Source {
    kind: EvidenceText,
}

#[derive(Debug, Deserialize)]
struct Planned {
    bytes: u64,
    bits_per_weight: f64,
}

/// Reads the record in a model's folder; `None` where there is none that tells of a measurement.
pub(super) fn read(folder: &Path) -> Option<Proven> {
    serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok().map(Record::told)
}

impl Record {
    fn told(self) -> Proven {
        let Quality { evidence: found, texts, measured, modules } = self.quality;
        let evidence = Evidence {
            tokens: found.tokens,
            kl: found.kl,
            kl_error: found.kl_error,
            kl_p99: found.kl_p99,
            same_choice: found.same_choice,
            before: found.reference.told(),
            after: found.model.told(),
            text: texts.source.kind,
            bytes: measured.as_ref().map(|planned| planned.bytes),
            bits_per_weight: measured.as_ref().map(|planned| planned.bits_per_weight),
            matrices: matrices(&modules),
        };
        Proven { evidence, original: self.source.path }
    }
}

/// What tells a model from others, and this state of its files from later ones. What has a revision does not change; of
/// other files the time counts.
pub(super) fn identity(library: &Library, model: &Path, revision: Option<&str>) -> Value {
    let mut files: Vec<(String, u64, Option<u64>)> = fs::read_dir(model)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_read = name.ends_with(".safetensors") || name == "config.json";
            // Behind links, as the Hugging Face cache has them.
            let found = fs::metadata(entry.path()).ok().filter(|_| is_read)?;
            let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_millis() as u64;
            Some((name, found.len(), revision.is_none().then_some(changed)))
        })
        .collect();
    files.sort();
    // One of the library may move with it.
    let folder = (model.parent() != Some(library.root())).then_some(model);
    json!({ "folder": folder, "revision": revision, "files": files })
}

/// What was found of a model that somebody else has converted, unless its files have changed since.
pub(super) fn compared(library: &Library, model: &Path, revision: Option<&str>) -> Option<Proven> {
    let kept = fs::read(place(library, model).ok()?.evidence).ok()?;
    let kept: Value = serde_json::from_slice(&kept).ok()?;
    if kept["of"] != identity(library, model, revision) {
        return None;
    }
    serde_json::from_value(kept).ok().map(Record::told)
}

impl Figures {
    fn told(&self) -> EvidenceFigures {
        EvidenceFigures { perplexity: self.mean_nll.map(f64::exp), drafts_accepted: self.mtp_acceptance }
    }
}

fn matrices(modules: &BTreeMap<String, Value>) -> Vec<MatrixBits> {
    let mut counts: BTreeMap<u8, u32> = BTreeMap::new();
    for module in modules.values() {
        let bits = module.get("bits").and_then(Value::as_u64).and_then(|bits| u8::try_from(bits).ok());
        // What is not quantized comes last.
        *counts.entry(bits.unwrap_or(u8::MAX)).or_default() += 1;
    }
    let told = |(bits, count)| MatrixBits { bits: (bits != u8::MAX).then_some(bits), count };
    counts.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_tells_of_a_measurement_or_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        let mut record = json!({
            "source": { "path": "/models/a", "repository": null, "revision": null },
            "quality": {
                "method": "fit",
                "measured": { "bytes": 100, "bits_per_weight": 4.25, "kl": 0.02 },
                "modules": {
                    "a": { "bits": 4, "group_size": 64, "mode": "affine" },
                    "b": { "bits": 3, "group_size": 64, "mode": "affine" },
                    "c": { "bits": 4, "group_size": 32, "mode": "affine" },
                    "d": false,
                },
            },
        });
        let write = |record: &Value| fs::write(folder.path().join(RECORD), record.to_string()).unwrap();
        write(&record);
        assert_eq!(read(folder.path()), None, "nobody has measured what came of it");
        record["quality"]["evidence"] = json!({
            "tokens": 3439, "kl": 0.031, "kl_error": 0.004, "kl_p99": 0.3, "same_choice": 0.97, "texts": [0.03],
            "reference": { "mean_nll": 2.0, "mtp_acceptance": null },
            "model": { "mean_nll": null, "mtp_acceptance": 0.5 },
        });
        record["quality"]["texts"] = json!({ "source": { "kind": "built_in" }, "tokens": {} });
        write(&record);
        let Proven { evidence, original } = read(folder.path()).unwrap();
        assert_eq!(original, Path::new("/models/a"));
        assert_eq!((evidence.tokens, evidence.bits_per_weight), (3439, Some(4.25)));
        assert_eq!(evidence.before.perplexity.map(f64::ln), Some(2.0));
        assert_eq!(evidence.after, EvidenceFigures { perplexity: None, drafts_accepted: Some(0.5) });
        let matrices: Vec<_> = evidence.matrices.iter().map(|it| (it.bits, it.count)).collect();
        assert_eq!(matrices, [(Some(3), 1), (Some(4), 2), (None, 1)]);
        fs::write(folder.path().join(RECORD), "{}").unwrap();
        assert_eq!(read(folder.path()), None);
    }
}
