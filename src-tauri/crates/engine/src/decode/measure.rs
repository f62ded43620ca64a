//! What a model's passes take and how often its drafts are right, found out while nothing else runs.

use std::time::{Duration, Instant};

use foretoken_protocol::{MAX_DEPTH, Sampling};

use super::batch::Batch;
use super::drafters::Drafted;
use super::prefill_task::PrefillTask;
use super::row::Row;
use super::spec::RowSpec;
use super::verify::VerifyGraph;
use crate::mlx::{self, Result};
use crate::model::Qwen;

/// Widths that every model is measured at, one row's with up to three drafts, and how often.
const NARROW: (&[usize], usize) = (&[1, 2, 3, 4], 8);
/// Those of several rows, for models that are quick.
const WIDE: (&[usize], usize) = (&[6, 8, 12, 16], 3);
/// Those that look-up may draft, for models that are not, unless they compute row by row: then the line through the
/// narrow ones must do.
const WIDEST: (&[usize], usize) = (&[8, 16], 1);
/// After this long no further round begins but the first two of each, of which one counts.
const BUDGET: Duration = Duration::from_millis(600);

/// What passes take.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTimes {
    /// Seconds of a pass by the number of its tokens, drafts not included.
    pub passes: Vec<(usize, f64)>,
    /// Seconds of one pass of the drafter; 0 where the model has none.
    pub draft: f64,
}

/// A short reply that nobody reads, written with no drafts, one, two and three in turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// What its passes took.
    pub times: PassTimes,
    /// Drafts verified and drafts accepted, by step.
    pub verdicts: Vec<(usize, usize)>,
}

impl Calibration {
    /// Goes on with a prompt for a fraction of a second.
    pub fn run(model: &Qwen, prompt: &[u32]) -> Result<Self> {
        let begin = Instant::now();
        let mut meter = Meter::new(model, prompt)?;
        meter.rounds(NARROW.0, NARROW.1, begin + BUDGET / 2)?;
        if begin.elapsed() < BUDGET / 2 {
            meter.rounds(WIDE.0, WIDE.1, begin + BUDGET)?;
        } else if meter.expected(WIDEST.0) < BUDGET.as_secs_f64() {
            meter.rounds(WIDEST.0, WIDEST.1, begin + BUDGET)?;
        }
        Ok(Self { verdicts: std::mem::take(&mut meter.verdicts), times: meter.finish() })
    }
}

impl PassTimes {
    /// Measures these widths, each so often.
    pub fn thoroughly(model: &Qwen, widths: &[usize], rounds: usize) -> Result<Self> {
        let mut meter = Meter::new(model, &[0; 16])?;
        let never = Instant::now() + Duration::from_secs(3600);
        meter.rounds(widths, rounds, never)?;
        Ok(meter.finish())
    }
}

/// A row and what its steps took.
struct Meter<'a> {
    model: &'a Qwen,
    batch: Batch,
    drafts: Vec<f64>,
    passes: Vec<(usize, Vec<f64>)>,
    verdicts: Vec<(usize, usize)>,
}

impl<'a> Meter<'a> {
    fn new(model: &'a Qwen, prompt: &[u32]) -> Result<Self> {
        let spec = RowSpec {
            prompt: prompt.to_vec(),
            reply_from: prompt.len(),
            sampling: Sampling::default(),
            seed: 0,
            xtc_exempt: Vec::new(),
            max_tokens: usize::MAX >> 1,
            stop_ids: Vec::new(),
            message_starts: Vec::new(),
            drafts: true,
            logprobs: None,
            known_drafts: None,
        };
        let mut task = PrefillTask::new(model, Row::new(0, spec))?;
        task.read_all(model)?;
        let (drafts, passes, verdicts) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { model, batch: Batch::of(task), drafts, passes, verdicts })
    }

    /// Makes steps of each of these widths in turns, so that what else the machine does hits all of them alike. Of the
    /// first round, which compiles kernels and fills caches, the verdicts count and the times do not.
    fn rounds(&mut self, widths: &[usize], rounds: usize, until: Instant) -> Result<()> {
        let mut passes = vec![Vec::with_capacity(rounds); widths.len()];
        for round in 0..=rounds {
            if round > 1 && Instant::now() >= until {
                break;
            }
            for (&width, passes) in widths.iter().zip(&mut passes) {
                let (draft, pass) = self.step(width - 1)?;
                if round > 0 {
                    passes.push(pass);
                    self.drafts.extend(draft);
                }
            }
        }
        self.passes.extend(widths.iter().copied().zip(passes));
        Ok(())
    }

    /// Seconds of two steps of each of these widths, by the line through the narrowest and the widest that were
    /// measured.
    fn expected(&self, widths: &[usize]) -> f64 {
        let of = |(width, times): &(usize, Vec<f64>)| (*width as f64, lower_quartile(times.clone()));
        let measured = || self.passes.iter().filter(|(_, times)| !times.is_empty()).map(of);
        let (Some((a, at_a)), Some((b, at_b))) = (measured().next(), measured().next_back()) else {
            return f64::INFINITY;
        };
        let slope = if b > a { (at_b - at_a) / (b - a) } else { at_a };
        widths.iter().map(|&width| 2.0 * (at_a + slope * (width as f64 - a))).sum()
    }

    /// Seconds of each of a chain of drafts, and of the pass that verifies them. More than there can be are stood in
    /// for.
    fn step(&mut self, depth: usize) -> Result<(Option<f64>, f64)> {
        let begin = Instant::now();
        let drafts = (1..=usize::from(MAX_DEPTH)).contains(&depth) && self.model.mtp.is_some();
        let drafted = match drafts {
            true => self.batch.draft(self.model, &[depth.into()])?,
            false => Drafted::given(&vec![0; depth])?,
        };
        mlx::eval(&drafted.drafts().tokens)?;
        let draft = drafts.then(|| begin.elapsed().as_secs_f64() / depth as f64);

        let begin = Instant::now();
        let VerifyGraph { host_tokens, hidden, .. } = self.batch.verify_graph(self.model, &drafted)?;
        let read_later = hidden.for_drafts().chain(self.batch.arrays());
        mlx::async_eval([&host_tokens].into_iter().chain(read_later))?;
        let (advances, _) = self.batch.commit(&host_tokens.to_vec()?, &drafted, &hidden)?;
        let pass = begin.elapsed().as_secs_f64();
        if drafts {
            self.verdicts.extend(advances.iter().map(|advance| (advance.drafted, advance.accepted)));
        }
        Ok((draft, pass))
    }

    fn finish(self) -> PassTimes {
        drop(self.batch);
        mlx::clear_cache();
        let passes = self.passes.into_iter().filter(|(_, times)| !times.is_empty());
        PassTimes {
            passes: passes.map(|(width, times)| (width, lower_quartile(times))).collect(),
            draft: if self.drafts.is_empty() { 0.0 } else { lower_quartile(self.drafts) },
        }
    }
}

/// What else a machine does only ever adds to a time.
fn lower_quartile(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 4]
}
