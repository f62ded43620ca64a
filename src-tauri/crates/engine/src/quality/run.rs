//! A conversion that chooses bits, from the first text that is read to the record of what has come of it.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use foretoken_protocol::{ConversionProgress, ConversionReport, ConversionSettings};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::QualityError;
use super::aim::Aim;
use super::kept::{self, Kept, replace};
use super::offer::{Offer, Offered, Offers};
use crate::checkpoint::{Files, Metadata};
use crate::convert::{Conversion, Limits, Plan, RECORD};
use crate::error::EngineError;
use crate::observe::{Batch, Divergence, Probe, Probing, Source, evidence};

/// Where the record of a result says how far it is from the original.
const EVIDENCE: &str = "evidence";
/// Tokens of the first texts that it is measured on: more take longer and say little more.
const PROBED_TOKENS: usize = 8192;
/// Bits to which each group is quantized to see what that costs.
const PROBED_BITS: usize = 3;

/// Texts, as token ids.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// Bits are chosen by these.
    pub calibrate: Vec<Vec<u32>>,
    /// What has come of it is measured on these, which are not read before.
    pub report: Vec<Vec<u32>>,
    /// What people may know of them: where they are from, how many tokens; nothing of what they say.
    pub record: Value,
}

/// What is to be converted, and to what.
#[derive(Debug)]
pub struct Request<'a> {
    /// The unquantized model.
    pub source: &'a Path,
    /// The folder to write.
    pub out: &'a Path,
    /// Vision tower and data type; the rest is chosen.
    pub settings: ConversionSettings,
    /// The source's revision, where its path does not tell.
    pub revision: Option<&'a str>,
    /// What it is to come to.
    pub aim: Aim,
    /// What is read.
    pub texts: &'a Texts,
    /// Bytes that versions of the texts may take while it is measured what groups of matrices cost.
    pub memory: u64,
    /// The file that keeps what was measured, and stays; without one it lies beside the result until that is whole.
    pub measured: Option<&'a Path>,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// It is measured what each group of matrices costs: layers read in all batches of texts.
    Probing {
        /// Layers so far.
        done: u64,
        /// Layers in all.
        total: u64,
    },
    /// The plan is made.
    Planned(Offered),
    /// The result is written.
    Writing(ConversionProgress),
    /// It is measured what has come of it: layers read of both models.
    Comparing {
        /// Layers so far.
        done: u64,
        /// Layers in all.
        total: u64,
    },
}

/// What came of it.
#[derive(Debug)]
pub struct Made {
    /// `None` where the result had been written before, and only its evidence was missing.
    pub report: Option<ConversionReport>,
    /// How far the result is from the original, on texts that took no part in choosing.
    pub evidence: Divergence,
}

type Observe<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Measures, plans, writes and measures again. What an interruption leaves is gone on with by whoever asks for the
/// same.
pub fn convert(request: &Request<'_>, observe: Observe<'_>) -> Result<Made, EngineError> {
    if !lacks_evidence(request.out) {
        check(request)?;
    }
    let mut kept = open(request)?;
    let report = match is_written(request, &kept) {
        true => None,
        false => {
            check(request)?;
            Some(write(request, &mut kept, observe)?)
        }
    };
    let [original, result] = [request.source, request.out].map(Source::read);
    let found = evidence(&original?, &result?, &request.texts.report, &mut |done, total| {
        observe(Progress::Comparing { done, total })
    })?;
    note(request, &found)?;
    if request.measured.is_none() {
        kept.remove();
    }
    Ok(Made { report, evidence: found })
}

/// The plan of such a conversion alone, and what is expected of it.
pub fn plan(request: &Request<'_>, observe: Observe<'_>) -> Result<(Plan, Offered), EngineError> {
    offer(request, observe)?.plan(request.aim)
}

/// What the model can be converted to, whatever the request aims at.
pub fn offers(request: &Request<'_>, observe: Observe<'_>) -> Result<Offers, EngineError> {
    offer(request, observe)?.offers()
}

fn offer(request: &Request<'_>, observe: Observe<'_>) -> Result<Offer, EngineError> {
    check(request)?;
    let probe = probe(request, &mut open(request)?, observe)?;
    Offer::new(request.source, request.out, &request.settings, &probe)
}

/// What was measured before, and what will be.
fn open(request: &Request<'_>) -> Result<Kept, EngineError> {
    let beside = || kept::beside(request.out);
    let file = request.measured.map_or_else(beside, Path::to_owned);
    Ok(Kept::open(&file, &about(request)?)?)
}

/// Refuses what could not be written, before anything is measured for it.
fn check(request: &Request<'_>) -> Result<(), EngineError> {
    let Request { source, out, ref settings, revision, .. } = *request;
    Conversion::plan(source, out, settings, revision, Limits::default()).map(drop)
}

fn write(
    request: &Request<'_>,
    kept: &mut Kept,
    observe: Observe<'_>,
) -> Result<ConversionReport, EngineError> {
    let Request { source, out, settings, revision, .. } = *request;
    let probe = probe(request, kept, observe)?;
    let (plan, offered) = Offer::new(source, out, &settings, &probe)?.plan(request.aim)?;
    if observe(Progress::Planned(offered)).is_break() {
        return Err(EngineError::Cancelled);
    }
    let chosen = Chosen::of(request, plan.hash());
    if !kept.holds(&chosen) {
        kept.add(&chosen)?;
    }
    let planned = (Arc::new(plan), None);
    let conversion = Conversion::planned(source, out, planned, &settings, revision, Limits::default())?;
    conversion.run(&mut |progress| observe(Progress::Writing(*progress)))
}

/// What each group of matrices costs, measured as far as it was not before.
fn probe(request: &Request<'_>, kept: &mut Kept, observe: Observe<'_>) -> Result<Probe, EngineError> {
    let source = Source::read(request.source)?;
    let texts = &request.texts.calibrate;
    let sums = texts.iter().scan(0, |tokens, text| {
        *tokens += text.len();
        Some(*tokens)
    });
    let probed = sums.take_while(|tokens| *tokens <= PROBED_TOKENS).count().max(1);
    let probing = Probing::new(&source, &texts[..probed.min(texts.len())], PROBED_BITS, request.memory)?;
    let mut found: Vec<Batch> = Vec::new();
    for batch in 0..probing.batches() {
        found.push(match kept.get(batch) {
            Some(known) => known,
            None => {
                let progress = &mut |done, total| observe(Progress::Probing { done, total });
                kept.add(&probing.measure(batch, progress)?)?
            }
        });
    }
    Ok(probing.finish(found))
}

/// What was chosen for a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Chosen {
    aim: Aim,
    settings: ConversionSettings,
    revision: Option<String>,
    /// The plan's hash.
    plan: String,
}

impl Chosen {
    fn of(request: &Request<'_>, plan: String) -> Self {
        let Request { aim, settings, revision, .. } = *request;
        Self { aim, settings, revision: revision.map(str::to_owned), plan }
    }
}

/// The plan's hash, of a whole model whose record has one but no evidence.
fn unproved(out: &Path) -> Option<String> {
    let record = fs::read(out.join(RECORD)).ok()?;
    let record: Value = serde_json::from_slice(&record).ok()?;
    let quality = record.get("quality").filter(|quality| quality.get(EVIDENCE).is_none())?;
    // What has no config yet is still to be finished.
    let plan = out.join("config.json").exists().then(|| quality["plan"].as_str())?;
    plan.map(str::to_owned)
}

fn lacks_evidence(out: &Path) -> bool {
    unproved(out).is_some()
}

/// Whether the result is there already as this request would have it, and only its evidence is missing.
fn is_written(request: &Request<'_>, kept: &Kept) -> bool {
    unproved(request.out).is_some_and(|plan| kept.holds(&Chosen::of(request, plan)))
}

/// Adds to the record of a result how far it is from the original.
fn note(request: &Request<'_>, found: &Divergence) -> Result<(), EngineError> {
    let path = request.out.join(RECORD);
    let failed = |source| QualityError::Kept { path: path.clone(), source };
    let bytes = fs::read(&path).map_err(failed)?;
    let mut record: Value = serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))?;
    record["quality"][EVIDENCE] = json!(found);
    record["quality"]["texts"] = request.texts.record.clone();
    replace(&path, format!("{record:#}\n").as_bytes()).map_err(failed)?;
    Ok(())
}

/// What must be the same for what was measured to count: the program, the model, the texts, how they are read.
fn about(request: &Request<'_>) -> Result<Value, EngineError> {
    let ids = serde_json::to_vec(&[&request.texts.calibrate, &request.texts.report]).unwrap_or_default();
    let texts: String = digest(&SHA256, &ids).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "source": Metadata::read(request.source, Files::Whole)?.fingerprint()?,
        "texts": texts,
        "bits": PROBED_BITS,
        "memory": request.memory,
    }))
}
