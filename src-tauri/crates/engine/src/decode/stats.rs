use std::time::{Duration, Instant};

use foretoken_protocol::{LiveStats, PositionStats, ReplyStats};

use super::batch::{Advance, StepTiming};
use crate::mlx;

/// Collects what one reply took.
#[derive(Debug)]
pub struct Recorder {
    asked: Instant,
    begun: Option<Instant>,
    prefilled: Option<Instant>,
    first: Option<Instant>,
    last: Instant,
    stats: ReplyStats,
    /// Tokens of the first step, whose time is not decoding time.
    first_tokens: u32,
    /// Every token, the stop token included.
    tokens: u32,
    waited: Duration,
    drafting: Duration,
    probes: Probes,
    /// Whether it had to wait since the last step, and how long it has in all, being read again included.
    interrupted: bool,
    pauses: Duration,
}

/// Steps in which the drafts were timed by themselves, and how long those waited in all.
#[derive(Debug, Default)]
struct Probes {
    draft: Duration,
    wait: Duration,
}

impl Recorder {
    /// Starts to record a reply that was asked for at `asked`.
    pub fn start(asked: Instant, prompt_tokens: usize, seed: u64) -> Self {
        Self {
            asked,
            begun: None,
            prefilled: None,
            first: None,
            last: asked,
            stats: ReplyStats { prompt_tokens: prompt_tokens as u32, seed, ..ReplyStats::default() },
            first_tokens: 0,
            tokens: 0,
            waited: Duration::ZERO,
            drafting: Duration::ZERO,
            probes: Probes::default(),
            interrupted: false,
            pauses: Duration::ZERO,
        }
    }

    /// The prompt is being read, or read again after others needed the memory.
    pub fn reads(&mut self, done: usize, total: usize) {
        let now = Instant::now();
        if self.first.is_some() {
            self.interrupted = true;
            return;
        }
        if self.begun.is_none() {
            self.begun = Some(now);
            // What is read before the reading begins was remembered.
            self.stats.cached_tokens = done as u32;
        }
        if done == total {
            self.prefilled = Some(now);
        }
    }

    /// A step has ended. `stop_token`: whether the last token only ended the reply.
    pub fn step(&mut self, advance: &Advance, timing: StepTiming, stop_token: bool) {
        let now = Instant::now();
        if std::mem::take(&mut self.interrupted) {
            self.pauses += (now - self.last).saturating_sub(timing.total);
        }
        self.last = now;
        let count = advance.tokens.len() as u32;
        self.tokens += count;
        self.stats.emitted += count - u32::from(stop_token);
        self.stats.steps += 1;
        let positions = &mut self.stats.positions;
        if positions.len() < advance.drafted {
            positions.resize(advance.drafted, PositionStats::default());
        }
        for (i, position) in positions.iter_mut().enumerate() {
            position.drafted += u32::from(i < advance.drafted);
            position.accepted += u32::from(i < advance.accepted);
        }
        if self.first.is_none() {
            self.first = Some(self.last);
            self.first_tokens = count;
            return;
        }
        let wait = timing.total.saturating_sub(timing.host);
        self.waited += wait;
        if advance.drafted > 0 {
            self.drafting += wait;
        }
        if let Some(draft) = timing.draft {
            self.probes.draft += draft;
            self.probes.wait += wait;
        }
        self.stats.host_seconds += timing.host.as_secs_f64();
    }

    /// Whether most steps verified drafts.
    pub fn mostly_drafts(&self) -> bool {
        self.stats.positions.first().is_some_and(|first| 2 * first.drafted >= self.stats.steps)
    }

    /// The numbers so far.
    pub fn live(&self) -> LiveStats {
        let sum = |pick: fn(&PositionStats) -> u32| self.stats.positions.iter().map(pick).sum::<u32>();
        let (drafted, accepted) = (sum(|p| p.drafted), sum(|p| p.accepted));
        LiveStats {
            tokens_per_second: self.tokens_per_second(),
            tokens_per_pass: self.tokens_per_pass(),
            acceptance: (drafted > 0).then(|| f64::from(accepted) / f64::from(drafted)),
        }
    }

    /// All numbers. The share of the drafts in the waiting time is measured on some steps and applied to all that drafted.
    pub fn finish(&self, drafting_note: Option<String>) -> ReplyStats {
        let between = |begin: Option<Instant>, end: Option<Instant>| match (begin, end) {
            (Some(begin), Some(end)) => (end - begin).as_secs_f64(),
            _ => 0.0,
        };
        let share = match self.probes.wait.as_secs_f64() {
            0.0 => 0.0,
            wait => self.probes.draft.as_secs_f64() / wait,
        };
        let draft_seconds = share * self.drafting.as_secs_f64();
        ReplyStats {
            tokens_per_pass: self.tokens_per_pass(),
            tokens_per_second: self.tokens_per_second(),
            prefill_seconds: between(self.begun, self.prefilled),
            decode_seconds: self.decode_time().as_secs_f64(),
            time_to_first_token_seconds: between(Some(self.asked), self.first),
            draft_seconds,
            verify_seconds: self.waited.as_secs_f64() - draft_seconds,
            peak_memory_bytes: mlx::peak_memory() as u64,
            drafting_note,
            ..self.stats.clone()
        }
    }

    fn decode_time(&self) -> Duration {
        self.first.map_or(Duration::ZERO, |first| (self.last - first).saturating_sub(self.pauses))
    }

    fn tokens_per_second(&self) -> f64 {
        match self.decode_time().as_secs_f64() {
            0.0 => 0.0,
            seconds => f64::from(self.tokens - self.first_tokens) / seconds,
        }
    }

    fn tokens_per_pass(&self) -> f64 {
        if self.stats.steps == 0 { 0.0 } else { f64::from(self.tokens) / f64::from(self.stats.steps) }
    }
}
