//! A conversion that chooses bits, from the first text that is read to the record of what has come of it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use foretoken_protocol::ConversionReport;
use serde_json::{Value, json};

use super::aim::{Aim, Closeness};
use super::kept::{self, Kept, replace};
use super::offer::{HEAD_BITS, LEAST_HEAD_BITS, Offer, Offered, Offers};
use super::parts::{Parts, probed};
use super::request::{Observe, PROBED_BITS, Progress, Request, Texts};
use super::{QualityError, heads, outlook, replies};
use crate::checkpoint::{Files, Metadata};
use crate::convert::{Conversion, Importance, Limits, Plan, RECORD};
use crate::error::EngineError;
use crate::observe::{Batch, Divergence, Probe, Probing, Source, evidence};

/// Where the record of a result says how far it is from the original.
const EVIDENCE: &str = "evidence";
/// Goes up with every change of what is measured or how it is kept.
const FORMAT: u32 = 1;

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
    // As this request would have it, or it is in the way.
    let is_written = unproved(request.out) == Some(wanted(request)?);
    if !is_written {
        check(request)?;
    }
    let mut kept = open(request)?;
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
    offer(request, &parts, &probe, &mut kept, observe)?.offers()
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
    if let Texts::Replies { max_tokens, .. } = texts {
        replies::check(request, max_tokens)?;
    }
    outlook::check(request)?;
    // Whatever will be measured, less than this cannot be made.
    let (model, texts) = (Source::read(source)?, [vec![0]]);
    let least = Probing::new(&model, &texts, PROBED_BITS, request.memory)?.least();
    Offer::new(source, out, settings, least, LEAST_HEAD_BITS)?.reach(request.aim)
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
    let mut probe = probe(request, parts, kept, observe)?;
    let mut offer = offer(request, parts, &probe, kept, observe)?;
    if offer.reach(request.aim).is_err() {
        // So small it becomes with the fewest bits in the head alone.
        let Request { source, out, ref settings, .. } = *request;
        offer = Offer::new(source, out, settings, probe.choices(), LEAST_HEAD_BITS)?;
    }
    let trunk = offer.choose(request.aim)?.modules;
    let head = heads::measured(request, (&trunk, &probe.importance), parts, kept, observe)?;
    let told = json!({ "request": wanted(request)?, "head": head.as_ref().map(heads::table) });
    if let Some(head) = head {
        head.add_to(&mut probe.importance);
    }
    let (plan, offered) = offer.plan(request.aim, told)?;
    Ok((plan, offered, probe.importance))
}

/// Every plan that can be made, whatever the request aims at: with as many bits in the MTP head as pay behind a trunk
/// of middle size.
fn offer(
    request: &Request<'_>,
    parts: &Parts,
    probe: &Probe,
    kept: &mut Kept,
    observe: Observe<'_>,
) -> Result<Offer, EngineError> {
    let Request { source, out, ref settings, .. } = *request;
    let plain = Offer::new(source, out, settings, probe.choices(), HEAD_BITS)?;
    let trunk = plain.choose(Aim::Closeness(Closeness::Balanced))?.modules;
    match heads::measured(request, (&trunk, &probe.importance), parts, kept, observe)? {
        None => Ok(plain),
        Some(head) => Offer::new(source, out, settings, probe.choices(), heads::choose(&head)),
    }
}

/// What each group of matrices costs, measured as far as it was not before.
fn probe(
    request: &Request<'_>,
    parts: &Parts,
    kept: &mut Kept,
    observe: Observe<'_>,
) -> Result<Probe, EngineError> {
    let source = Source::read(request.source)?;
    let probing = Probing::new(&source, probed(&source, &parts.calibrate), PROBED_BITS, request.memory)?;
    let mut found: Vec<Batch> = Vec::new();
    for batch in 0..probing.batches() {
        let progress = &mut |done, total| observe(Progress::Probing { done, total });
        found.push(kept.next(|| probing.measure(batch, progress))?);
    }
    Ok(probing.finish(found))
}

/// What is kept of a request in the record of its result.
fn wanted(request: &Request<'_>) -> Result<Value, EngineError> {
    let Request { source, aim, settings, revision, .. } = *request;
    let source = Metadata::read(source, Files::Whole)?.fingerprint()?;
    let wanted = json!({ "source": source, "aim": aim, "settings": settings, "revision": revision });
    // As it will be read.
    Ok(serde_json::from_str(&wanted.to_string()).unwrap_or(wanted))
}

/// What was wanted of a whole result whose bits were chosen, and that has no evidence yet.
fn unproved(out: &Path) -> Option<Value> {
    let record = fs::read(out.join(RECORD)).ok()?;
    let record: Value = serde_json::from_slice(&record).ok()?;
    let quality = record.get("quality").filter(|quality| quality.get(EVIDENCE).is_none())?;
    // What has no config yet is still to be finished.
    out.join("config.json").exists().then(|| quality["measured"]["request"].clone())
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

/// What must be the same for what was measured to count: how it is kept, the model, the texts, how they are read.
fn about(request: &Request<'_>) -> Result<Value, EngineError> {
    Ok(json!({
        "format": FORMAT,
        "source": Metadata::read(request.source, Files::Whole)?.fingerprint()?,
        "texts": request.texts.identity(),
        "bits": PROBED_BITS,
        "memory": request.memory,
    }))
}
