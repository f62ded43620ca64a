//! What passes of a model take, measured while nothing else runs.

use std::time::{Duration, Instant};

use foretoken_protocol::Sampling;

use super::batch::Batch;
use super::draft::Drafted;
use super::lane::Lane;
use super::row::{Row, RowSpec};
use super::verify::Answer;
use crate::mlx::{self, Result};
use crate::model::Qwen;

/// Tokens of the text that is gone on with.
const PROMPT: usize = 16;
/// Widths that every model is measured at, and those of several rows for models that are quick.
const WIDTHS: [&[usize]; 2] = [&[1, 2, 3, 4], &[6, 8, 12, 16]];
/// Measurements of each.
const ROUNDS: usize = 5;
/// After this long no further ones begin.
const BUDGET: Duration = Duration::from_millis(600);

/// What passes take.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTimes {
    /// Seconds of a pass by the number of its tokens, drafts not included; medians.
    pub passes: Vec<(usize, f64)>,
    /// Seconds of one pass of the drafter; 0 where the model has none.
    pub draft: f64,
}

/// A row that nobody reads, and what its passes took.
struct Meter<'a> {
    model: &'a Qwen,
    batch: Batch,
    drafts: Vec<f64>,
    passes: Vec<(usize, Vec<f64>)>,
}

impl PassTimes {
    /// Measures some widths in a fraction of a second, large models at fewer.
    pub fn briefly(model: &Qwen) -> Result<Self> {
        let begin = Instant::now();
        let mut meter = Meter::new(model)?;
        for (widths, share) in WIDTHS.into_iter().zip([2, 1]) {
            if begin.elapsed() < BUDGET / 2 || widths == WIDTHS[0] {
                meter.rounds(widths, ROUNDS, begin + BUDGET / share)?;
            }
        }
        Ok(meter.finish())
    }

    /// Measures all widths up to `widest`, and each so often.
    pub fn thoroughly(model: &Qwen, widest: usize, rounds: usize) -> Result<Self> {
        let widths: Vec<usize> = (1..=widest).collect();
        let mut meter = Meter::new(model)?;
        let never = Instant::now() + Duration::from_secs(3600);
        meter.rounds(&widths, rounds, never)?;
        Ok(meter.finish())
    }
}

impl<'a> Meter<'a> {
    fn new(model: &'a Qwen) -> Result<Self> {
        let spec = RowSpec {
            prompt: vec![0; PROMPT],
            reply_from: PROMPT,
            sampling: Sampling::default(),
            seed: 0,
            xtc_exempt: Vec::new(),
            max_tokens: usize::MAX >> 1,
            stop_ids: Vec::new(),
            marks: Vec::new(),
            drafts: true,
            logprobs: None,
            known_drafts: None,
        };
        let mut lane = Lane::new(model, Row::new(0, spec))?;
        lane.read_all(model)?;
        Ok(Self { model, batch: Batch::of(lane), drafts: Vec::new(), passes: Vec::new() })
    }

    /// Measures each of these widths and the drafter, in turns, so that what else the machine does hits all of them
    /// alike. The first round compiles kernels and fills caches, so it does not count.
    fn rounds(&mut self, widths: &[usize], rounds: usize, until: Instant) -> Result<()> {
        // It then has two positions to read, as where the draft of the step before was right.
        let drafted_after = if self.drafts.is_empty() { widths.iter().take(2).next_back() } else { None };
        let mut passes = vec![Vec::with_capacity(rounds); widths.len()];
        for round in 0..=rounds {
            if round > 1 && Instant::now() >= until {
                break;
            }
            // First all that the round before has left.
            if round == 0 || drafted_after != widths.last() {
                self.draft()?;
            }
            for (width, passes) in widths.iter().zip(&mut passes) {
                let pass = timed(|| self.pass(*width))?;
                let draft = match drafted_after == Some(width) && self.model.mtp.is_some() {
                    true => Some(timed(|| self.draft())?),
                    false => None,
                };
                if round > 0 {
                    passes.push(pass);
                    self.drafts.extend(draft);
                }
            }
        }
        self.passes.extend(widths.iter().copied().zip(passes));
        Ok(())
    }

    /// One draft, which nobody checks.
    fn draft(&mut self) -> Result<()> {
        let drafted = self.batch.draft(self.model, &[1])?;
        mlx::eval(drafted.drafts().tokens.iter().chain(self.batch.arrays()))
    }

    /// A step over `width` tokens, without its drafting.
    fn pass(&mut self, width: usize) -> Result<()> {
        let drafted = Drafted::given(&vec![0; width - 1])?;
        let Answer { words, hidden, .. } = self.batch.answer(self.model, &drafted)?;
        mlx::async_eval([&words, &hidden].into_iter().chain(self.batch.arrays()))?;
        self.batch.commit(&words.to_vec()?, &drafted, &hidden)?;
        Ok(())
    }

    fn finish(self) -> PassTimes {
        drop(self.batch);
        mlx::clear_cache();
        let passes = self.passes.into_iter().filter(|(_, times)| !times.is_empty());
        PassTimes {
            passes: passes.map(|(width, times)| (width, median(times))).collect(),
            draft: if self.drafts.is_empty() { 0.0 } else { median(self.drafts) },
        }
    }
}

/// Seconds of some work.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
