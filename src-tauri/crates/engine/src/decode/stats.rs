//! The figures of one reply, collected step by step: times, tokens per second and per pass, acceptance by draft
//! position, and the course of the draft length.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use foretoken_protocol::{
    DepthTrace, DraftingNote, LiveStats, Part, PositionStats, RECENT_PASSES, ReplyStats, Sampling,
};

use super::plan::DrafterKind;
use super::row::Advance;
use super::step::StepTiming;
use crate::mlx;

/// Entries that a [`DepthTrace`] has at most.
const MAX_TRACE: usize = 64;
/// What the live numbers are means over.
const LIVE_WINDOW: Duration = Duration::from_secs(2);

/// Collects the figures of one reply.
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
    timing_samples: TimingSamples,
    trace: Trace,
    recent: Recent,
    /// Steps in which look-up found something.
    found: u32,
    /// Whether it was preempted or read again since the last step.
    interrupted: bool,
    /// Time of all such interruptions, reading again included; not decoding time.
    pauses: Duration,
}

/// Drafting and sampling in the steps that timed them by themselves.
#[derive(Debug, Default)]
struct TimingSamples {
    draft: Share,
    sample: Share,
}

/// The time of one part of some steps, and the whole time that these steps waited for the device.
#[derive(Debug, Default)]
struct Share {
    part: Duration,
    wait: Duration,
}

impl Share {
    fn add(&mut self, part: Option<Duration>, wait: Duration) {
        if let Some(part) = part {
            self.part += part;
            self.wait += wait;
        }
    }

    /// The part's share applied to `whole`, in seconds.
    fn of(&self, whole: Duration) -> f64 {
        match self.wait.as_secs_f64() {
            0.0 => 0.0,
            wait => self.part.as_secs_f64() / wait * whole.as_secs_f64(),
        }
    }
}

/// Drafts verified in the course of the reply: sums over `steps_per_entry` steps each; the last entry may have fewer.
#[derive(Debug)]
struct Trace {
    steps_per_entry: u32,
    sums: Vec<u32>,
    /// Steps in the last entry.
    last: u32,
}

impl Trace {
    fn new() -> Self {
        Self { steps_per_entry: 1, sums: Vec::new(), last: 1 }
    }

    fn push(&mut self, drafted: usize) {
        if self.last == self.steps_per_entry {
            if self.sums.len() == MAX_TRACE {
                self.sums = self.sums.chunks(2).map(|pair| pair.iter().sum()).collect();
                self.steps_per_entry *= 2;
            }
            self.sums.push(0);
            self.last = 0;
        }
        if let Some(sum) = self.sums.last_mut() {
            *sum += drafted as u32;
        }
        self.last += 1;
    }

    fn means(&self) -> DepthTrace {
        let entries = self.sums.len();
        let steps = |entry| if entry + 1 == entries { self.last } else { self.steps_per_entry };
        let mean = |(entry, &sum): (usize, &u32)| sum as f32 / steps(entry) as f32;
        DepthTrace {
            steps_per_entry: self.steps_per_entry,
            depths: self.sums.iter().enumerate().map(mean).collect(),
        }
    }
}

/// The steps of the last [`LIVE_WINDOW`] of decoding; after an interruption they begin anew.
#[derive(Debug, Default)]
struct Recent {
    steps: VecDeque<RecentStep>,
}

#[derive(Debug, Clone, Copy)]
struct RecentStep {
    at: Instant,
    tokens: u32,
    drafted: u32,
    accepted: u32,
}

impl Recent {
    fn push(&mut self, step: RecentStep) {
        while self.steps.front().is_some_and(|first| step.at - first.at > LIVE_WINDOW) {
            self.steps.pop_front();
        }
        self.steps.push_back(step);
    }

    /// Tokens per second; `None` of fewer than two steps. The first one only tells when the time begins.
    fn tokens_per_second(&self) -> Option<f64> {
        let (first, last) = (self.steps.front()?, self.steps.back()?);
        let seconds = (last.at - first.at).as_secs_f64();
        let tokens: u32 = self.steps.iter().skip(1).map(|step| step.tokens).sum();
        (seconds > 0.0).then(|| f64::from(tokens) / seconds)
    }

    fn sum(&self, pick: fn(&RecentStep) -> u32) -> f64 {
        f64::from(self.steps.iter().map(pick).sum::<u32>())
    }
}

impl Recorder {
    /// Starts to record a reply that was asked for at `asked`.
    pub fn start(asked: Instant, prompt_tokens: usize, sampling: Sampling, seed: u64) -> Self {
        Self {
            asked,
            begun: None,
            prefilled: None,
            first: None,
            last: asked,
            stats: ReplyStats {
                prompt_tokens: prompt_tokens as u32,
                sampling,
                seed,
                version: env!("CARGO_PKG_VERSION").into(),
                ..ReplyStats::default()
            },
            first_tokens: 0,
            tokens: 0,
            waited: Duration::ZERO,
            drafting: Duration::ZERO,
            timing_samples: TimingSamples::default(),
            trace: Trace::new(),
            recent: Recent::default(),
            found: 0,
            interrupted: false,
            pauses: Duration::ZERO,
        }
    }

    /// Records that the prompt has so many pictures, and how many of its tokens stand for them.
    pub fn sees(&mut self, pictures: usize, tokens: usize) {
        self.stats.pictures = pictures as u32;
        self.stats.picture_tokens = tokens as u32;
    }

    /// Records time in the vision tower.
    pub fn looked(&mut self, took: Duration) {
        self.stats.tower_seconds += took.as_secs_f64();
    }

    /// Records that `done` of `total` tokens are read. After the first step that means an interruption: a preempted row
    /// comes back, or a row is read again.
    pub fn reads(&mut self, done: usize, total: usize) {
        let now = Instant::now();
        if self.first.is_some() {
            self.interrupted = true;
            return;
        }
        if self.begun.is_none() {
            self.begun = Some(now);
            // Tokens that are read when the reading begins came from the prefix cache.
            self.stats.cached_tokens = done as u32;
        }
        if done == total {
            self.prefilled = Some(now);
        }
    }

    /// Has the drafts counted that come from what was predicted of the reply.
    pub fn count_predicted(&mut self) {
        self.stats.predicted = Some(PositionStats::default());
    }

    /// Records a step that began in `part` of the reply. `stop_token`: whether its last token only ended the reply.
    pub fn step(&mut self, advance: &Advance, timing: StepTiming, part: Part, stop_token: bool) {
        let now = Instant::now();
        if std::mem::take(&mut self.interrupted) {
            self.pauses += (now - self.last).saturating_sub(timing.total);
            self.recent = Recent::default();
        }
        self.last = now;
        let count = advance.tokens.len() as u32;
        self.tokens += count;
        let emitted = count - u32::from(stop_token);
        self.stats.emitted += emitted;
        self.stats.steps += 1;
        self.stats.shared_steps += u32::from(timing.rows > 1);
        let (drafted, accepted) = match advance.drafter {
            // What is certain tells nothing of how good guesses are.
            DrafterKind::Forced => (0, 0),
            _ => (advance.drafted, advance.accepted),
        };
        self.stats.forced += (advance.accepted - accepted) as u32;
        self.stats.refused_drafts += advance.refused as u32;
        self.trace.push(drafted);
        PositionStats::count(&mut self.stats.positions, drafted, accepted);
        let (drafted, accepted) = (drafted as u32, accepted as u32);
        self.recent.push(RecentStep { at: now, tokens: count, drafted, accepted });
        if self.stats.passes.len() == RECENT_PASSES {
            self.stats.passes.remove(0);
        }
        self.stats.passes.push(accepted);
        let is_first = self.first.is_none();
        let first = *self.first.get_or_insert(now);
        if part == Part::Thinking {
            let thinking = &mut self.stats.thinking;
            thinking.seconds = (now - first).as_secs_f64();
            thinking.emitted += emitted;
            thinking.steps += 1;
            thinking.drafted += drafted;
            thinking.accepted += accepted;
        }
        self.found += u32::from(advance.lookup.is_some());
        let of_drafter = match advance.drafter {
            DrafterKind::Head | DrafterKind::Forced => None,
            DrafterKind::Dflash => Some(&mut self.stats.by_draft_model),
            DrafterKind::Lookup => Some(&mut self.stats.looked_up),
        };
        let of_prediction = self.stats.predicted.as_mut().filter(|_| advance.predicted);
        for counts in of_drafter.into_iter().chain(of_prediction) {
            counts.drafted += drafted;
            counts.accepted += accepted;
        }
        if is_first {
            self.first_tokens = count;
            return;
        }
        let wait = timing.total.saturating_sub(timing.host);
        self.waited += wait;
        if drafted > 0 {
            self.drafting += wait;
        }
        self.timing_samples.draft.add(timing.draft, wait);
        self.timing_samples.sample.add(timing.sample, wait);
        self.stats.host_seconds += timing.host.as_secs_f64();
    }

    /// Whether at least half of the steps verified drafts.
    pub fn mostly_drafts(&self) -> bool {
        self.stats.positions.first().is_some_and(|first| 2 * first.drafted >= self.stats.steps)
    }

    /// Why little of the reply was looked up, where that was asked for; `None` where half of its steps or of its tokens
    /// came from there.
    pub fn lookup_note(&self) -> Option<DraftingNote> {
        let ReplyStats { looked_up, emitted, steps, .. } = &self.stats;
        if self.mostly_drafts() || 2 * looked_up.accepted >= *emitted {
            None
        } else if 2 * self.found < *steps {
            Some(DraftingNote::LittleInText)
        } else {
            Some(DraftingNote::LookupNotPaying)
        }
    }

    /// The numbers of the last two seconds of decoding.
    pub fn live(&self) -> LiveStats {
        let Recent { steps } = &self.recent;
        let drafted = self.recent.sum(|step| step.drafted);
        LiveStats {
            tokens_per_second: self.recent.tokens_per_second().unwrap_or_else(|| self.tokens_per_second()),
            tokens_per_pass: self.recent.sum(|step| step.tokens) / steps.len().max(1) as f64,
            acceptance: (drafted > 0.0).then(|| self.recent.sum(|step| step.accepted) / drafted),
            passes: self.stats.passes.clone(),
        }
    }

    /// All numbers. The shares of drafting and sampling in the waiting time were measured in some steps; they are
    /// applied to the waiting time of all steps with drafts, and of all steps.
    pub fn finish(&self, drafting_note: Option<DraftingNote>) -> ReplyStats {
        let between = |begin: Option<Instant>, end: Option<Instant>| match (begin, end) {
            (Some(begin), Some(end)) => (end - begin).as_secs_f64(),
            _ => 0.0,
        };
        let waited = self.waited.as_secs_f64();
        let draft_seconds = self.timing_samples.draft.of(self.drafting);
        let sample_seconds = self.timing_samples.sample.of(self.waited).min(waited - draft_seconds);
        ReplyStats {
            tokens_per_pass: self.tokens_per_pass(),
            tokens_per_second: self.tokens_per_second(),
            prefill_seconds: between(self.begun, self.prefilled),
            decode_seconds: self.decode_time().as_secs_f64(),
            time_to_first_token_seconds: between(Some(self.asked), self.first),
            draft_seconds,
            verify_seconds: waited - draft_seconds - sample_seconds,
            sample_seconds,
            peak_memory_bytes: mlx::peak_memory() as u64,
            depth: self.trace.means(),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The advance of a step with `drafted` drafts of which `accepted` were accepted.
    fn advance(drafted: usize, accepted: usize, drafter: DrafterKind) -> Advance {
        let tokens = vec![0; accepted + 1];
        Advance {
            row: 0,
            tokens,
            logprobs: Vec::new(),
            drafter,
            drafted,
            width: 1 + drafted,
            refused: 0,
            accepted,
            predicted: false,
            lookup: None,
            finish: None,
        }
    }

    fn drafts() -> impl Strategy<Value = (usize, usize)> {
        (0usize..=4).prop_flat_map(|drafted| (Just(drafted), 0..=drafted))
    }

    #[test]
    fn live_numbers_are_those_of_the_last_two_seconds() {
        let begin = Instant::now();
        let mut recent = Recent::default();
        assert_eq!(recent.tokens_per_second(), None);
        let mut push = |tenths: u64, tokens, drafted, accepted| {
            let at = begin + Duration::from_millis(100 * tenths);
            recent.push(RecentStep { at, tokens, drafted, accepted });
            (recent.tokens_per_second(), recent.sum(|step| step.tokens), recent.steps.len())
        };
        assert_eq!(push(0, 9, 8, 8), (None, 9.0, 1));
        assert_eq!(push(5, 1, 0, 0), (Some(2.0), 10.0, 2));
        assert_eq!(push(20, 3, 3, 2), (Some(2.0), 13.0, 3));
        // The first one is more than two seconds ago.
        assert_eq!(push(25, 4, 3, 3), (Some(3.5), 8.0, 3));
        assert_eq!((recent.sum(|step| step.accepted), recent.sum(|step| step.drafted)), (5.0, 6.0));
    }

    proptest! {
        #[test]
        fn the_counts_of_a_reply_fit_together(
            steps in prop::collection::vec((drafts(), 1usize..3), 1..300),
            thinking in 0usize..300,
        ) {
            let drafter = |step: usize| if step.is_multiple_of(3) { DrafterKind::Lookup } else { DrafterKind::Head };
            let mut recorder = Recorder::start(Instant::now(), 1, Sampling::default(), 0);
            for (i, &((drafted, accepted), rows)) in steps.iter().enumerate() {
                let part = if i < thinking { Part::Thinking } else { Part::Answer };
                let timing = StepTiming { rows, ..StepTiming::default() };
                recorder.step(&advance(drafted, accepted, drafter(i)), timing, part, false);
            }
            let stats = recorder.finish(None);
            prop_assert_eq!(stats.steps as usize, steps.len());
            let accepted: u32 = stats.positions.iter().map(|position| position.accepted).sum();
            prop_assert_eq!(accepted + stats.steps, stats.emitted);
            // Of all passes, never more keep a further draft than a nearer one.
            prop_assert!(stats.positions.is_sorted_by(|near, far| near.accepted >= far.accepted));
            prop_assert!(stats.positions.is_sorted_by(|near, far| near.drafted >= far.drafted));
            prop_assert!(stats.positions.iter().all(|position| position.accepted <= position.drafted));
            prop_assert_eq!(stats.shared_steps as usize, steps.iter().filter(|(_, rows)| *rows > 1).count());

            let last = &steps[steps.len().saturating_sub(RECENT_PASSES)..];
            prop_assert_eq!(stats.passes, last.iter().map(|&((_, kept), _)| kept as u32).collect::<Vec<_>>());

            let looked_up = steps.iter().step_by(3).map(|&((drafted, accepted), _)| (drafted as u32, accepted as u32));
            let looked_up = looked_up.fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
            prop_assert_eq!((stats.looked_up.drafted, stats.looked_up.accepted), looked_up);

            let thought = stats.thinking;
            prop_assert_eq!(thought.steps as usize, thinking.min(steps.len()));
            prop_assert_eq!(thought.accepted + thought.steps, thought.emitted);
            prop_assert!(thought.seconds <= stats.decode_seconds);
            prop_assert!(thinking > 0 || thought.seconds == 0.0);
            prop_assert!(thinking < steps.len() || thought.seconds == stats.decode_seconds);

            let DepthTrace { steps_per_entry, depths } = stats.depth;
            let per_entry = steps_per_entry as usize;
            prop_assert!(depths.len() <= MAX_TRACE);
            prop_assert_eq!(depths.len(), steps.len().div_ceil(per_entry));
            for (entry, depth) in depths.iter().enumerate() {
                let of_entry = &steps[entry * per_entry..steps.len().min((entry + 1) * per_entry)];
                let sum: usize = of_entry.iter().map(|((drafted, _), _)| drafted).sum();
                prop_assert!((depth - sum as f32 / of_entry.len() as f32).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn what_was_timed_in_some_steps_is_a_share_of_all() {
        let ms = Duration::from_millis;
        let mut recorder = Recorder::start(Instant::now(), 1, Sampling::default(), 0);
        let step = StepTiming { total: ms(12), host: ms(2), rows: 1, ..StepTiming::default() };
        let timed = StepTiming { draft: Some(ms(2)), sample: Some(ms(1)), ..step };
        // The first is no decoding time.
        for timing in [step, step, timed, step] {
            recorder.step(&advance(1, 1, DrafterKind::Head), timing, Part::Answer, false);
        }
        recorder.step(&advance(0, 0, DrafterKind::Head), step, Part::Answer, false);
        let stats = recorder.finish(None);
        let parts = [stats.draft_seconds, stats.sample_seconds, stats.verify_seconds, stats.host_seconds];
        for (part, milliseconds) in parts.into_iter().zip([6.0, 4.0, 30.0, 8.0]) {
            assert!((part - milliseconds / 1e3).abs() < 1e-9, "{parts:?}");
        }
    }
}
