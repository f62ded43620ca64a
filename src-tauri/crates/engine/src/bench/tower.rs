//! What the vision tower takes for the pictures of the question.

use std::time::Instant;

use serde::Serialize;

use super::spread::{Spread, spread};
use super::texts::Prompt;
use crate::decode::RowError;
use crate::error::EngineError;
use crate::mlx;
use crate::model::Qwen;

/// The figures of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tower {
    /// Pictures that it looked at, one after the other.
    pub pictures: usize,
    /// Pixels of all of them, as the model reads them.
    pub pixels: u64,
    /// Tokens of all of them.
    pub tokens: usize,
    /// Seconds for all of them.
    pub seconds: Spread,
    /// The most memory that arrays took beside the weights and what was there before.
    pub working_set_bytes: Spread,
}

/// The figures of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Looked {
    seconds: f64,
    working_set_bytes: f64,
}

/// Looks at the pictures of a prompt; `None` where there are none.
pub(super) fn look(model: &Qwen, prompt: &Prompt) -> Result<Option<Looked>, EngineError> {
    if prompt.pictures.is_empty() {
        return Ok(None);
    }
    let vision = model.vision.as_ref().ok_or(RowError::NoTower)?;
    let pictures = prompt.pictures.iter().map(|picture| Ok(picture.pixels.read()?));
    let pictures = pictures.collect::<Result<Vec<_>, RowError>>()?;
    mlx::reset_peak_memory();
    let (before, begin) = (mlx::active_memory(), Instant::now());
    for pixels in &pictures {
        vision.tower.forward(pixels)?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Some(Looked { seconds, working_set_bytes: mlx::peak_memory().saturating_sub(before) as f64 }))
}

impl Tower {
    /// Over all runs that looked at a prompt's pictures.
    pub(super) fn over(prompt: &Prompt, runs: &[Looked]) -> Option<Self> {
        let spans = || prompt.pictures.iter().map(|picture| &picture.pixels);
        (!runs.is_empty()).then(|| Self {
            pictures: prompt.pictures.len(),
            pixels: spans().map(|pixels| u64::from(pixels.width) * u64::from(pixels.height)).sum(),
            tokens: prompt.pictures.iter().map(|picture| picture.span.range().len()).sum(),
            seconds: spread(runs.iter().map(|run| run.seconds)),
            working_set_bytes: spread(runs.iter().map(|run| run.working_set_bytes)),
        })
    }
}
