//! Steps that are made to learn.

use super::choice::Plan;
use super::cost::{RECENT, Told};

/// While drafts pay, one in so many steps does without them, so that the comparison holds.
const PLAIN_INTERVAL: u32 = 24;
/// Share of the time that all other probes may lose, but for those that follow a surprise.
const PROBE_SHARE: f64 = 0.0075;
/// Probes of each candidate when the machine is not what it was, whenever there is such a candidate.
const REPEATED: u32 = 3;
/// Steps before the first of them, so that most of those that it is compared with are the new machine's.
pub(super) const PAUSE: u32 = RECENT as u32 / 2 + 1;

/// Other steps than the chosen one: without drafts, with one less, with one more; where no drafts pay, the best ones
/// and a single one; and the best one with other drafters. They keep the comparison true, and all but the first also
/// tell whether such drafts would be right.
pub(super) type Candidates = [Option<Plan>; CANDIDATES];

const CANDIDATES: usize = 4;

/// When a step is made with other drafts than those that pay.
#[derive(Debug, Clone)]
pub(super) struct Explorer {
    /// Probes of each candidate that are to be made.
    due: [u32; CANDIDATES],
    /// Steps until one may be made.
    pause: u32,
    /// Steps since the last probe, and since the last one without drafts.
    since: u32,
    since_plain: u32,
    /// Seconds that probes of other drafts may lose now.
    budget: f64,
    /// Which of them was last.
    last: usize,
    /// The step at hand, if it is a probe.
    probe: Option<Probe>,
    /// Whether one that can be made is due, and waits for the end of the pause.
    waits: bool,
    /// Probes so far.
    probes: u64,
}

/// A step that is made to learn.
#[derive(Debug, Clone, Copy)]
struct Probe {
    candidate: usize,
    /// What each of its tokens is worth in seconds.
    worth: f64,
    /// Seconds that the steps around it lose.
    around: f64,
}

impl Default for Explorer {
    /// What was measured a moment ago needs no probe: it begins with the largest debt.
    fn default() -> Self {
        let budget = f64::NEG_INFINITY;
        Self {
            due: [0; CANDIDATES],
            pause: 0,
            since: 0,
            since_plain: 0,
            budget,
            last: 0,
            probe: None,
            waits: false,
            probes: 0,
        }
    }
}

impl Explorer {
    /// Probes so far.
    pub(super) fn probes(&self) -> u64 {
        self.probes
    }

    /// The probe that is made instead of the `chosen` step, if one is. `around`: seconds that the steps around it lose,
    /// since they are not told beforehand.
    pub(super) fn next(&mut self, mut candidates: Candidates, chosen: &Plan, around: f64) -> Option<Plan> {
        // A step that failed was never observed.
        self.probe = None;
        let worth = 1.0 / chosen.rate();
        (self.since, self.since_plain) = (self.since + 1, self.since_plain + 1);
        if self.since_plain >= PLAIN_INTERVAL {
            self.request(0);
        }
        // Each but the first in its turn, from the one behind the last on.
        let turns = (0..CANDIDATES - 1).map(|turn| 1 + (self.last + turn) % (CANDIDATES - 1));
        if let Some((next, plan)) =
            turns.into_iter().find_map(|next| Some((next, candidates[next].as_ref()?)))
        {
            // A pause of the machine during a probe must not use up what later probes may lose.
            self.budget = self.budget.clamp(-chosen.seconds, chosen.seconds) + PROBE_SHARE * chosen.seconds;
            // However dear it is believed to be, it is affordable some day: the belief may be wrong.
            let loss = (plan.seconds - plan.tokens * worth + around).min(chosen.seconds);
            if self.since > RECENT as u32 && loss <= self.budget {
                self.request(next);
            }
        }
        let due = (0..candidates.len())
            .rev()
            .filter(|&candidate| self.due[candidate] > 0 && candidates[candidate].is_some());
        let due = due.max_by_key(|&candidate| self.due[candidate]);
        // The steps in between tell what it is compared with.
        self.waits = self.pause > 0 && due.is_some();
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        let candidate = due?;
        let plan = candidates[candidate].take()?;
        self.due[candidate] -= 1;
        (self.pause, self.since) = (1, 0);
        if candidate == 0 {
            self.since_plain = 0;
        } else {
            self.last = candidate;
        }
        self.probe = Some(Probe { candidate, worth, around });
        self.probes += 1;
        Some(plan)
    }

    /// The step at hand is made as usual, though a probe was to be made: it is made later, once the steps in between
    /// have told what it is compared with.
    pub(super) fn defer(&mut self) {
        if let Some(Probe { candidate, .. }) = self.probe.take() {
            self.request(candidate);
            (self.pause, self.waits, self.probes) = (PAUSE, true, self.probes - 1);
        }
    }

    /// Whether the step at hand is a probe.
    pub(super) fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// Whether a probe waits.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// A step is made in which there is nothing to draft: one without drafts need not be made for the comparison.
    pub(super) fn plain_step(&mut self) {
        (self.since_plain, self.due[0]) = (0, 0);
    }

    /// A step has ended that emitted so many tokens, a probe or not. A probe that surprises is repeated, and so is one
    /// in which a drafter first caught up, as it tells no time; another machine is probed on all sides.
    pub(super) fn observe(&mut self, tokens: usize, told: Told, caught_up: bool) {
        if let Some(Probe { candidate, worth, around }) = self.probe.take() {
            if candidate > 0 && !told.width {
                self.budget -= told.seconds - tokens as f64 * worth + around;
            }
            if told.width || caught_up {
                self.request(candidate);
            }
        }
        if told.machine {
            (self.due, self.pause) = ([REPEATED; CANDIDATES], PAUSE);
        }
    }

    fn request(&mut self, candidate: usize) {
        self.due[candidate] = self.due[candidate].max(1);
    }
}
