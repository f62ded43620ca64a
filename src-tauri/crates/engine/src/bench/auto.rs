//! Decoding with as many drafts a step as the engine itself chooses, by any drafter or by look-up alone.

use std::time::Instant;

use foretoken_protocol::{Counters, Drafting, DraftingNote, PositionStats};
use serde::Serialize;

use super::spread::{Spread, all_positions, spread};
use super::{Bench, Text, TextRun};
use crate::decode::{DrafterKind, Limits, Policy, RowSpec, Scheduler, SchedulerEvent};
use crate::error::EngineError;

/// Decoding with drafts where they pay.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Auto {
    /// Decoded tokens per second.
    pub tokens_per_second: Spread,
    /// Over plain decoding in the same run; `None` where that was not measured.
    pub speed_up: Option<Spread>,
    /// Decoded tokens per step.
    pub tokens_per_pass: Spread,
    /// Drafts of all runs, by position.
    pub positions: Vec<PositionStats>,
    /// Why no drafts were used in the end, if none were.
    pub note: Option<DraftingNote>,
}

/// The figures of one run.
#[derive(Debug, Clone)]
pub(super) struct Decoded {
    tokens_per_second: f64,
    tokens_per_pass: f64,
    /// Whether most of its steps had drafts.
    drafted: bool,
    positions: Vec<PositionStats>,
    pub(super) counters: Counters,
}

impl Bench<'_> {
    /// A reply to each prompt of a text, one after the other, each timed from its first step's end on. `policy` learns
    /// from it, as it does from one reply to the next.
    pub(super) fn chosen(
        &self,
        drafting: Drafting,
        text: &Text,
        policy: &mut Policy,
    ) -> Result<Decoded, EngineError> {
        let probes_before = policy.probes();
        let mut scheduler = Scheduler::new(self.model(), Limits::default(), std::mem::take(policy));
        let (mut seconds, mut tokens, mut steps, mut drafting_steps) = (0.0, 0, 0, 0);
        let mut positions = Vec::new();
        for (id, prompt) in (0..).zip(&text.prompts) {
            let spec = RowSpec { drafts: true, ..self.spec(prompt, self.deepest(DrafterKind::Head)) };
            scheduler.submit(id, spec, drafting)?;
            let mut first = None;
            while !scheduler.is_idle() {
                for event in scheduler.pump(self.model()) {
                    match event {
                        SchedulerEvent::Advanced { advance, .. } if first.is_some() => {
                            tokens += advance.tokens.len();
                            steps += 1;
                            drafting_steps += u32::from(advance.drafted > 0);
                            PositionStats::count(&mut positions, advance.drafted, advance.accepted);
                        }
                        SchedulerEvent::Advanced { .. } => first = Some(Instant::now()),
                        SchedulerEvent::Failed { error, .. } => return Err(error.into()),
                        SchedulerEvent::Waiting { .. }
                        | SchedulerEvent::Prefilling { .. }
                        | SchedulerEvent::Looked { .. } => {}
                    }
                }
            }
            seconds += first.map_or(0.0, |first| first.elapsed().as_secs_f64());
        }
        *policy = scheduler.policy().clone();
        let counters = scheduler.counters();
        Ok(Decoded {
            tokens_per_second: tokens as f64 / seconds.max(f64::MIN_POSITIVE),
            tokens_per_pass: tokens as f64 / f64::from(steps).max(1.0),
            drafted: 2 * drafting_steps >= steps,
            positions,
            counters: Counters { probes: counters.probes - probes_before, ..counters },
        })
    }
}

/// Over all runs of a text, beside their plain decoding. `why_not` tells why nothing is drafted, where nothing is.
/// `None` where nothing could be drafted.
pub(super) fn report(
    runs: &[&TextRun],
    of: fn(&TextRun) -> Option<&Decoded>,
    plain: Option<usize>,
    why_not: &dyn Fn() -> Option<DraftingNote>,
) -> Option<Auto> {
    let measured: Vec<(&TextRun, &Decoded)> = runs.iter().filter_map(|&run| Some((run, of(run)?))).collect();
    let (_, last) = measured.last()?;
    let over_runs = |pick: &dyn Fn(&TextRun, &Decoded) -> f64| {
        spread(measured.iter().map(|(run, decoded)| pick(run, decoded)))
    };
    Some(Auto {
        tokens_per_second: over_runs(&|_, decoded| decoded.tokens_per_second),
        speed_up: plain.map(|plain| {
            over_runs(&|run, decoded| decoded.tokens_per_second / run.plans[plain].tokens_per_second())
        }),
        tokens_per_pass: over_runs(&|_, decoded| decoded.tokens_per_pass),
        positions: all_positions(measured.iter().map(|(_, decoded)| &decoded.positions)),
        note: if last.drafted { None } else { why_not() },
    })
}
