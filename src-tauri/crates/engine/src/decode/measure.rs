//! What a model's passes take and how often its drafts are right, found out while nothing else runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use foretoken_protocol::{MAX_DEPTH, Priority, Sampling};

use super::batch::Batch;
use super::drafters::Drafted;
use super::plan::{DraftPlan, DrafterKind, MAX_CHAIN};
use super::prefill_task::PrefillTask;
use super::row::Row;
use super::row_error::RowError;
use super::spec::RowSpec;
use super::verify_graph::VerifyGraph;
use crate::mlx;
use crate::model::Qwen;

type Result<T> = std::result::Result<T, RowError>;

/// Widths that every model is measured at, one row's with up to three drafts, and how often.
const NARROW: (&[usize], usize) = (&[1, 2, 3, 4], 8);
/// Those of several rows, for models that are quick.
const WIDE: (&[usize], usize) = (&[6, 8, 12, 16], 3);
/// Those that look-up may draft, for models that are not, unless they compute row by row: then the line through the
/// narrow ones must do.
const WIDEST: (&[usize], usize) = (&[8, 16], 1);
/// How often a block of a draft model is timed.
const BLOCK_ROUNDS: usize = 6;
/// After this long no further round begins but the first two of each, of which one counts.
const BUDGET: Duration = Duration::from_millis(600);

/// What passes take.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTimes {
    /// Seconds of a pass by the number of its tokens, drafts not included.
    pub passes: Vec<(usize, f64)>,
    /// Seconds of one pass of the MTP head; `None` where it drafted nothing.
    pub draft: Option<f64>,
    /// Seconds of one pass of the draft model; `None` where none was loaded.
    pub block: Option<f64>,
}

/// A short reply that nobody reads, written with no drafts, one, two and three in turns, and then with blocks of the
/// draft model, where there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// What its passes took.
    pub times: PassTimes,
    /// Who drafted, drafts verified and drafts accepted, by step.
    pub verdicts: Vec<(DrafterKind, usize, usize)>,
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
        meter.block_rounds(BLOCK_ROUNDS, begin + BUDGET)?;
        Ok(Self { verdicts: std::mem::take(&mut meter.verdicts), times: meter.finish() })
    }
}

impl PassTimes {
    /// Measures these widths, each so often.
    pub fn thoroughly(model: &Qwen, widths: &[usize], rounds: usize) -> Result<Self> {
        let mut meter = Meter::new(model, &[0; 16])?;
        let never = Instant::now() + Duration::from_secs(3600);
        meter.rounds(widths, rounds, never)?;
        meter.block_rounds(rounds, never)?;
        Ok(meter.finish())
    }
}

/// A row and what its steps took.
struct Meter<'a> {
    model: &'a Qwen,
    batch: Batch,
    drafts: Vec<f64>,
    blocks: Vec<f64>,
    passes: Vec<(usize, Vec<f64>)>,
    verdicts: Vec<(DrafterKind, usize, usize)>,
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
            constraint: None,
            priority: Priority::default(),
            prediction: Arc::default(),
            pictures: Vec::new(),
            known_drafts: None,
            widths: 1..=usize::MAX,
            remember: None,
        };
        let mut task = PrefillTask::new(model, Row::new(0, spec))?;
        task.read_all(model)?;
        let batch = Batch::of(task);
        let (drafts, blocks, passes, verdicts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { model, batch, drafts, blocks, passes, verdicts })
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
                let depth = width - 1;
                let (drafting, pass) = self.step(depth.into())?;
                if round > 0 {
                    passes.push(pass);
                    self.drafts.extend(drafting.map(|seconds| seconds / depth as f64));
                }
            }
        }
        self.passes.extend(widths.iter().copied().zip(passes));
        Ok(())
    }

    /// The same with blocks of the draft model, as long as they may be where that is quick, whose passes do not count.
    fn block_rounds(&mut self, rounds: usize, until: Instant) -> Result<()> {
        let Some(draft) = &self.model.draft else { return Ok(()) };
        let most = draft.most_guesses().min(MAX_CHAIN);
        let quick = self.expected(&[1 + most]) < BUDGET.as_secs_f64();
        let depth = if quick { most } else { most.min(NARROW.0.len() - 1) };
        for round in 0..=rounds {
            if round > 1 && Instant::now() >= until {
                break;
            }
            let (drafting, _) = self.step(DraftPlan { drafter: DrafterKind::Dflash, depth })?;
            if round > 0 {
                self.blocks.extend(drafting);
            }
        }
        Ok(())
    }

    /// Seconds of two steps of each of these widths, by the line through the narrowest and the widest that were
    /// measured.
    fn expected(&self, widths: &[usize]) -> f64 {
        let of = |(width, times): &(usize, Vec<f64>)| Some((*width as f64, lower_quartile(times.clone())?));
        let measured = || self.passes.iter().filter_map(of);
        let (Some((a, at_a)), Some((b, at_b))) = (measured().next(), measured().next_back()) else {
            return f64::INFINITY;
        };
        let slope = if b > a { (at_b - at_a) / (b - a) } else { at_a };
        widths.iter().map(|&width| 2.0 * (at_a + slope * (width as f64 - a))).sum()
    }

    /// Seconds of drafting, and of the pass that verifies the drafts. More than the head can give are stood in for.
    fn step(&mut self, plan: DraftPlan) -> Result<(Option<f64>, f64)> {
        let begin = Instant::now();
        let can_draft = match plan.drafter {
            DrafterKind::Head => self.model.mtp.is_some() && plan.depth <= usize::from(MAX_DEPTH),
            DrafterKind::Dflash => true,
            DrafterKind::Lookup | DrafterKind::Forced => false,
        };
        let drafts = can_draft && plan.depth > 0;
        let drafted = match drafts {
            true => self.batch.draft(self.model, &[plan])?,
            false => {
                // Whoever does not draft may have to read on.
                self.batch.draft(self.model, &[0.into()])?;
                Drafted::given(&vec![0; plan.depth])?
            }
        };
        mlx::eval(&drafted.drafts().tokens)?;
        let drafting = drafts.then(|| begin.elapsed().as_secs_f64());

        let begin = Instant::now();
        let VerifyGraph { host_tokens, hidden, .. } = self.batch.verify_graph(self.model, &drafted)?;
        let read_later = hidden.read_later().chain(self.batch.arrays());
        mlx::async_eval([&host_tokens].into_iter().chain(read_later))?;
        let (advances, _) = self.batch.commit(&host_tokens.to_vec()?, &drafted, &hidden)?;
        let pass = begin.elapsed().as_secs_f64();
        if drafts {
            let verdicts =
                advances.iter().map(|advance| (advance.drafter, advance.drafted, advance.accepted));
            self.verdicts.extend(verdicts);
        }
        Ok((drafting, pass))
    }

    fn finish(self) -> PassTimes {
        drop(self.batch);
        mlx::clear_cache();
        let passes = self.passes.into_iter();
        PassTimes {
            passes: passes.filter_map(|(width, times)| Some((width, lower_quartile(times)?))).collect(),
            draft: lower_quartile(self.drafts),
            block: lower_quartile(self.blocks),
        }
    }
}

/// What else a machine does only ever adds to a time.
fn lower_quartile(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 4).copied()
}
