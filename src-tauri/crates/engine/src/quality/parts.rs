//! What a conversion reads: documents, of which the model finds some odd, and their parts.

use std::path::Path;

use serde_json::{Value, json};

use super::kept::Kept;
use super::replies;
use super::request::{Observe, Progress, Request, Texts};
use crate::calibration::{self, Document, Record, Split, odd, sequences};
use crate::error::EngineError;
use crate::observe::{Source, groups, likelihoods};

/// Tokens of the first texts that it is measured on what groups of matrices cost: more take longer and say little more,
/// fewer say too little.
const PROBED_TOKENS: (usize, usize) = (1024, 8192);
/// Products of weights that this may take beyond the fewest tokens: an hour on the slowest chips.
const PROBED_WORK: f64 = 4e15;

/// The parts that are read, each a list of sequences.
#[derive(Debug)]
pub(super) struct Parts {
    /// Bits are chosen by these.
    pub(super) calibrate: Vec<Vec<u32>>,
    /// What has come of it is measured on these.
    pub(super) report: Vec<Vec<u32>>,
    /// What people may know of them: where they are from, how many tokens; nothing of what they say.
    pub(super) record: Value,
}

impl Parts {
    /// Divides the documents of a request but those that its model finds odd, which `observe` is told.
    pub(super) fn of(
        request: &Request<'_>,
        kept: &mut Kept,
        observe: Observe<'_>,
    ) -> Result<Self, EngineError> {
        let written;
        let texts = match request.texts {
            Texts::Given(texts) => texts,
            Texts::Replies { seed, max_tokens } => {
                written = replies::texts(request, (seed, max_tokens), kept, observe)?;
                &written
            }
        };
        let documents = predicted(texts);
        let perplexities = kept.next(|| perplexities(request.source, request.memory, &documents, observe))?;
        Self::divide(texts, documents, &perplexities, observe)
    }

    /// The part of texts that conversions are measured on where none of them is odd, without what `model` finds odd of
    /// it: reading no more than that takes a fraction of the time. Versions of it take so many bytes of memory.
    pub(super) fn report(
        model: &Path,
        texts: &calibration::Texts,
        memory: u64,
        observe: Observe<'_>,
    ) -> Result<Self, EngineError> {
        let mut split = Split::of(&predicted(texts))?;
        let documents: Vec<Document> =
            (0..).zip(split.report).map(|(place, ids)| Document { ids, place }).collect();
        let perplexities = perplexities(model, memory, &documents, observe)?;
        let odd = odd_among(&perplexities);
        let is_usual = |document: &Document| !odd.contains(&document.place);
        split.report = documents.into_iter().filter(is_usual).map(|document| document.ids).collect();
        let record = json!(Record::of(texts, odd.len(), &split));
        Ok(Self { calibrate: split.calibrate, report: split.report, record })
    }

    fn divide(
        texts: &calibration::Texts,
        mut documents: Vec<Document>,
        perplexities: &[Option<f64>],
        observe: Observe<'_>,
    ) -> Result<Self, EngineError> {
        let odd = odd_among(perplexities);
        for &index in odd.iter().rev() {
            let Document { place, .. } = documents.remove(index);
            let perplexity = perplexities[index];
            if observe(Progress::LeftOut { place, perplexity }).is_break() {
                return Err(EngineError::Cancelled);
            }
        }
        let split = Split::of(&documents)?;
        let record = json!(Record::of(texts, odd.len(), &split));
        Ok(Self { calibrate: split.calibrate, report: split.report, record })
    }
}

/// The places of those that are odd; what is no number is.
fn odd_among(perplexities: &[Option<f64>]) -> Vec<usize> {
    odd(&perplexities.iter().map(|perplexity| perplexity.unwrap_or(f64::NAN)).collect::<Vec<_>>())
}

/// The documents in which something is predicted: not those of a single token.
fn predicted(texts: &calibration::Texts) -> Vec<Document> {
    texts.documents.iter().filter(|document| document.ids.len() > 1).cloned().collect()
}

/// The unquantized model's perplexity of each document; `None` where it is no number.
fn perplexities(
    source: &Path,
    memory: u64,
    documents: &[Document],
    observe: Observe<'_>,
) -> Result<Vec<Option<f64>>, EngineError> {
    let source = Source::read(source)?;
    let (mut texts, mut owners) = (Vec::new(), Vec::new());
    for (index, document) in documents.iter().enumerate() {
        texts.extend(sequences(&document.ids));
        owners.resize(texts.len(), index);
    }
    let found =
        likelihoods(&source, &texts, memory, &mut |done, total| observe(Progress::Reading { done, total }))?;
    let mut sums = vec![(0.0, 0.0); documents.len()];
    for ((owner, text), figures) in owners.into_iter().zip(&texts).zip(found) {
        let predicted = (text.len() - 1) as f64;
        let (nll, tokens) = &mut sums[owner];
        *nll += predicted * figures.mean_nll.unwrap_or_default();
        *tokens += predicted;
    }
    let perplexity = |(nll, tokens): (f64, f64)| Some((nll / tokens).exp()).filter(|found| found.is_finite());
    Ok(sums.into_iter().map(perplexity).collect())
}

/// The texts that it is measured on what groups of matrices cost.
pub(super) fn probed<'a>(source: &Source, texts: &'a [Vec<u32>]) -> &'a [Vec<u32>] {
    let Source { config, layout } = source;
    let read = layout.weights.values().map(|weight| {
        let experts = weight.experts.and(config.moe.as_ref()).map_or(1, |moe| moe.experts_per_token);
        (experts * weight.rows * weight.columns) as f64
    });
    // A version that begins in a layer goes through those behind it, half of them on average.
    let of_token = read.sum::<f64>() * groups(layout, config.layers.len()).len() as f64 / 2.0;
    let most = ((PROBED_WORK / of_token) as usize).clamp(PROBED_TOKENS.0, PROBED_TOKENS.1);
    let sums = texts.iter().scan(0, |tokens, text| {
        *tokens += text.len();
        Some(*tokens)
    });
    let count = sums.take_while(|tokens| *tokens <= most).count().max(1);
    &texts[..count.min(texts.len())]
}
