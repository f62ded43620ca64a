//! A conversion that chooses bits, from the first text that is read to the record of what has come of it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use foretoken_protocol::{ConversionReport, ConversionSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::aim::Aim;
use super::kept::{self, Kept, replace};
use super::offer::{HEAD_BITS, Offer, Offered, Offers};
use super::parts::{Parts, probed};
use super::request::{Observe, PROBED_BITS, Progress, Request, Texts};
use super::{QualityError, heads, outlook, replies};
use crate::checkpoint::{Files, Metadata};
use crate::convert::{Conversion, Importance, Limits, Plan, RECORD};
use crate::error::EngineError;
use crate::observe::{Batch, Divergence, Probe, Probing, Source, evidence};

/// Where the record of a result says how far it is from the original.
const EVIDENCE: &str = "evidence";

/// What came of it.
#[derive(Debug)]
pub struct Made {
    /// `None` where the result had been written before, and only its evidence was missing.
    pub report: Option<ConversionReport>,
    /// How far the result is from the original, on texts that took no part in choosing.
    pub evidence: Divergence,
}

/// Measures, plans, writes and measures again. What an interruption leaves is gone on with by whoever asks for the
/// same.
pub fn convert(request: &Request<'_>, observe: Observe<'_>) -> Result<Made, EngineError> {
    if !lacks_evidence(request.out) {
        check(request)?;
    }
    let mut kept = open(request)?;
    let is_written = is_written(request, &kept);
    if !is_written {
        check(request)?;
    }
    let parts = Parts::of(request, &mut kept, observe)?;
    let report = match is_written {
        true => None,
        false => Some(write(request, &parts, &mut kept, observe)?),
    };
    let [original, result] = [request.source, request.out].map(Source::read);
    let found = evidence(&original?, &result?, &parts.report, &mut |done, total| {
        observe(Progress::Comparing { done, total })
    })?;
    note(request, &parts, &found)?;
    if request.measured.is_none() {
        kept.remove();
    }
    Ok(Made { report, evidence: found })
}

/// The plan of such a conversion alone, and what is expected of it.
pub fn plan(request: &Request<'_>, observe: Observe<'_>) -> Result<(Plan, Offered), EngineError> {
    check(request)?;
    let mut kept = open(request)?;
    let parts = Parts::of(request, &mut kept, observe)?;
    let (plan, offered, _) = chosen(request, &parts, &mut kept, observe)?;
    Ok((plan, offered))
}

/// What the model can be converted to, whatever the request aims at.
pub fn offers(request: &Request<'_>, observe: Observe<'_>) -> Result<Offers, EngineError> {
    check(request)?;
    let mut kept = open(request)?;
    let parts = Parts::of(request, &mut kept, observe)?;
    let probe = probe(request, &parts, &mut kept, observe)?;
    Offer::new(request.source, request.out, &request.settings, &probe, HEAD_BITS)?.offers()
}

/// What was measured before, and what will be.
fn open(request: &Request<'_>) -> Result<Kept, EngineError> {
    let file = match request.measured {
        Some(file) => file.to_owned(),
        None => kept::beside(request.out, ".measured")?,
    };
    Ok(Kept::open(&file, &about(request)?)?)
}

/// Refuses what could not be written, before anything is measured for it.
fn check(request: &Request<'_>) -> Result<(), EngineError> {
    let Request { source, out, ref settings, revision, texts, .. } = *request;
    Conversion::plan(source, out, settings, revision, Limits::default())?;
    outlook::check(request)?;
    match texts {
        Texts::Given(_) => Ok(()),
        Texts::Replies { max_tokens, .. } => replies::check(request, max_tokens),
    }
}

fn write(
    request: &Request<'_>,
    parts: &Parts,
    kept: &mut Kept,
    observe: Observe<'_>,
) -> Result<ConversionReport, EngineError> {
    let Request { source, out, settings, revision, .. } = *request;
    let (plan, offered, importance) = chosen(request, parts, kept, observe)?;
    if observe(Progress::Planned(offered)).is_break() {
        return Err(EngineError::Cancelled);
    }
    let chosen = Chosen::of(request, plan.hash());
    if !kept.holds(&chosen) {
        kept.add(&chosen)?;
    }
    let planned = (Arc::new(plan), Some(Arc::new(importance)));
    let conversion = Conversion::planned(source, out, planned, &settings, revision, Limits::default())?;
    conversion.run(&mut |progress| observe(Progress::Writing(*progress)))
}

/// The plan, what is expected of it, and what the columns of the matrices count.
fn chosen(
    request: &Request<'_>,
    parts: &Parts,
    kept: &mut Kept,
    observe: Observe<'_>,
) -> Result<(Plan, Offered, Importance), EngineError> {
    let Request { source, out, settings, aim, .. } = *request;
    let mut probe = probe(request, parts, kept, observe)?;
    let offer = Offer::new(source, out, &settings, &probe, HEAD_BITS)?;
    let Some(head) =
        heads::measured(request, (&offer.choose(aim)?.modules, &probe.importance), parts, kept, observe)?
    else {
        let (plan, offered) = offer.plan(aim, &Value::Null)?;
        return Ok((plan, offered, probe.importance));
    };
    head.add_to(&mut probe.importance);
    let table = heads::table(&head);
    let (plan, offered) =
        match Offer::new(source, out, &settings, &probe, heads::choose(&head))?.plan(aim, &table) {
            Ok(planned) => planned,
            // With more bits in the head, the smallest results are no longer as small.
            Err(_) => Offer::new(source, out, &settings, &probe, HEAD_BITS)?.plan(aim, &table)?,
        };
    Ok((plan, offered, probe.importance))
}

/// What each group of matrices costs, measured as far as it was not before.
fn probe(
    request: &Request<'_>,
    parts: &Parts,
    kept: &mut Kept,
    observe: Observe<'_>,
) -> Result<Probe, EngineError> {
    let source = Source::read(request.source)?;
    let probing = Probing::new(&source, probed(&parts.calibrate), PROBED_BITS, request.memory)?;
    let mut found: Vec<Batch> = Vec::new();
    for batch in 0..probing.batches() {
        let progress = &mut |done, total| observe(Progress::Probing { done, total });
        found.push(kept.next(|| probing.measure(batch, progress))?);
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
fn note(request: &Request<'_>, parts: &Parts, found: &Divergence) -> Result<(), EngineError> {
    let path = request.out.join(RECORD);
    let failed = |source| QualityError::Kept { path: path.clone(), source };
    let bytes = fs::read(&path).map_err(failed)?;
    let mut record: Value = serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))?;
    record["quality"][EVIDENCE] = json!(found);
    record["quality"]["texts"] = parts.record.clone();
    replace(&path, format!("{record:#}\n").as_bytes()).map_err(failed)?;
    Ok(())
}

/// What must be the same for what was measured to count: the program, the model, the texts, how they are read.
fn about(request: &Request<'_>) -> Result<Value, EngineError> {
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "source": Metadata::read(request.source, Files::Whole)?.fingerprint()?,
        "texts": request.texts.identity(),
        "bits": PROBED_BITS,
        "memory": request.memory,
    }))
}
