//! The model's own replies as texts to choose by. A plain conversion of the model writes them, which is made beside the
//! place of the result for that and removed behind it.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use foretoken_protocol::{ConversionSettings, HeadFormat, VisionFormat, WeightFormat};

use super::QualityError;
use super::kept::{Kept, beside};
use super::request::{Observe, Progress, Request};
use crate::calibration::{self, Document, REPLY_ROWS, Written, own_replies};
use crate::convert::{Conversion, Limits};
use crate::error::EngineError;
use crate::memory::RowMemory;
use crate::mlx;
use crate::observe::Source;
use crate::session::Session;

/// How the model is converted that writes: next to nothing is lost, and it takes half the memory.
const SETTINGS: ConversionSettings = ConversionSettings {
    weights: WeightFormat::Affine { bits: 8, group_size: 64 },
    mtp_head: HeadFormat::Same,
    vision: VisionFormat::None,
    dtype: None,
};
/// Tokens of the longest of the program's prompts, and more.
pub(super) const PROMPT: usize = 1024;

/// Refuses a model that cannot write in the memory of this machine, before anything is made.
pub(super) fn check(request: &Request<'_>, max_tokens: u32) -> Result<(), EngineError> {
    let usable = mlx::usable_memory();
    let needed = memory(request, max_tokens)?;
    match usable == 0 || needed <= usable {
        true => Ok(()),
        false => Err(QualityError::CannotReply { needed, usable }.into()),
    }
}

/// Bytes that it takes to have the model reply.
pub(super) fn memory(request: &Request<'_>, max_tokens: u32) -> Result<u64, EngineError> {
    let source = Source::read(request.source)?;
    let rows = RowMemory::of(&source.config, &source.layout).row(PROMPT + max_tokens as usize);
    Ok(bytes(&source) + REPLY_ROWS as u64 * rows)
}

/// Bytes of the conversion that writes, about.
pub(super) fn bytes(source: &Source) -> u64 {
    // A byte a weight, and a scale and a bias of two bytes each for 64 of them.
    source.layout.parameters() * 17 / 16
}

/// The replies with their prompts, written as far as they were not before.
pub(super) fn texts(
    request: &Request<'_>,
    (seed, max_tokens): (u64, u32),
    kept: &mut Kept,
    observe: Observe<'_>,
) -> Result<calibration::Texts, EngineError> {
    // Whoever keeps what was measured for several results keeps this too.
    let place = beside(request.measured.unwrap_or(request.out), ".replies")?;
    // From here on what is there is ours, whatever it is.
    kept.next(|| plan(request, &place).map(|_| true))?;
    let documents = kept.next(|| {
        if !place.join("config.json").exists() {
            plan(request, &place)?.run(&mut |progress| observe(Progress::Writing(*progress)))?;
        }
        let mut session = Session::load(&place, &mut |_, _| ControlFlow::Continue(()))?;
        let texts = own_replies(&mut session, seed, max_tokens, &mut |written: Written| {
            observe(Progress::Replying(written))
        })?;
        Ok(texts.documents.into_iter().map(|document| document.ids).collect::<Vec<Vec<u32>>>())
    })?;
    if let Err(error) = fs::remove_dir_all(&place)
        && place.exists()
    {
        tracing::warn!(%error, path = %place.display(), "the model that wrote replies stays");
    }
    let documents = (1..).zip(documents).map(|(place, ids)| Document { ids, place }).collect();
    Ok(calibration::Texts::of_replies(documents, seed, max_tokens))
}

fn plan(request: &Request<'_>, place: &Path) -> Result<Conversion, EngineError> {
    let settings = ConversionSettings { dtype: request.settings.dtype, ..SETTINGS };
    Conversion::plan(request.source, place, &settings, request.revision, Limits::default())
}
