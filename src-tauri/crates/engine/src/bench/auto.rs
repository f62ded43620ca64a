//! Decoding with as many drafts a step as the engine itself chooses.

use std::time::Instant;

use foretoken_protocol::{Counters, Drafting};
use serde::Serialize;

use super::{Bench, Run, Spread};
use crate::decode::{Limits, Policy, PolicyState, Scheduler, SchedulerEvent};
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
    /// Why no drafts were used in the end, if none were.
    pub note: Option<String>,
}

/// The figures of one run.
#[derive(Debug, Clone)]
pub(super) struct Decoded {
    tokens_per_second: f64,
    tokens_per_pass: f64,
    /// Whether most of its steps had drafts.
    drafted: bool,
    pub(super) counters: Counters,
}

impl Bench<'_> {
    /// One reply, timed from its first step's end on. `policy` learns from it, as it does from one reply to the next.
    pub(super) fn auto(&self, policy: &mut Policy) -> Result<Decoded, EngineError> {
        let probes_before = policy.probes();
        let mut scheduler = Scheduler::new(self.model(), Limits::default(), std::mem::take(policy));
        scheduler.submit(0, self.spec(&self.prompt, self.deepest()), Drafting::Auto)?;
        let (mut first, mut tokens, mut steps, mut drafting_steps) = (None, 0, 0, 0);
        while !scheduler.is_idle() {
            for event in scheduler.pump(self.model()) {
                match event {
                    SchedulerEvent::Advanced { advance, .. } if first.is_some() => {
                        tokens += advance.tokens.len();
                        steps += 1;
                        drafting_steps += u32::from(advance.drafted > 0);
                    }
                    SchedulerEvent::Advanced { .. } => first = Some(Instant::now()),
                    SchedulerEvent::Failed { error, .. } => return Err(error.into()),
                    SchedulerEvent::Waiting { .. } | SchedulerEvent::Prefilling { .. } => {}
                }
            }
        }
        let seconds = first.map_or(0.0, |first| first.elapsed().as_secs_f64());
        *policy = scheduler.policy().clone();
        let counters = scheduler.counters();
        Ok(Decoded {
            tokens_per_second: tokens as f64 / seconds.max(f64::MIN_POSITIVE),
            tokens_per_pass: tokens as f64 / f64::from(steps).max(1.0),
            drafted: 2 * drafting_steps >= steps,
            counters: Counters { probes: counters.probes - probes_before, ..counters },
        })
    }
}

/// Over all runs, beside their plain decoding; why it does not draft follows from the `figures` of the report. `None`
/// where nothing could be drafted.
pub(super) fn report(runs: &[Run], plain: Option<usize>, figures: &PolicyState) -> Option<Auto> {
    let measured: Vec<(&Run, &Decoded)> =
        runs.iter().filter_map(|run| Some((run, run.auto.as_ref()?))).collect();
    let (_, last) = measured.last()?;
    let over_runs = |pick: &dyn Fn(&Run, &Decoded) -> f64| {
        super::spread(measured.iter().map(|(run, decoded)| pick(run, decoded)))
    };
    Some(Auto {
        tokens_per_second: over_runs(&|_, decoded| decoded.tokens_per_second),
        speed_up: plain.map(|plain| {
            over_runs(&|run, decoded| decoded.tokens_per_second / run.depths[plain].tokens_per_second())
        }),
        tokens_per_pass: over_runs(&|_, decoded| decoded.tokens_per_pass),
        note: if last.drafted { None } else { figures.why_not() },
    })
}
