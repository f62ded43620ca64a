use foretoken_protocol::MAX_DEPTH;
use serde::{Deserialize, Serialize};

/// The most tokens that a step may have for the policy to add drafts to it.
pub(super) const MAX_WIDTH: usize = 32;
/// Deepest chain there is.
const DEPTHS: usize = MAX_DEPTH as usize;

/// Weight of the newest figure in a running average.
const NEWEST: f64 = 0.1;
/// Figures that a time needs before it counts.
const TRUSTED: u32 = 3;
/// The most by which one figure may differ from the average: a machine that paused says nothing about drafts.
const INNOVATION: f64 = 0.25;
/// Figures of a row after which its own acceptance counts alone.
const OWN: f64 = 10.0;
/// What is taken for the acceptance of drafts that nobody has seen.
const HOPE: f64 = 0.75;
/// The head's share of a drafting step is never taken for more than this.
const MOST_DRAFTING: f64 = 0.9;

/// A running average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Average {
    pub(super) value: f64,
    pub(super) count: u32,
}

impl Average {
    /// Adds a share: the plain mean until there are enough figures for the running one.
    fn add_share(&mut self, value: f64) {
        self.count = self.count.saturating_add(1);
        self.value += (value - self.value) * NEWEST.max(1.0 / f64::from(self.count));
    }

    /// Adds a time: at first the shortest, since whatever else a machine does makes a step longer.
    fn add_time(&mut self, seconds: f64) {
        self.count = self.count.saturating_add(1);
        if self.count <= TRUSTED {
            self.value = if self.count == 1 { seconds } else { self.value.min(seconds) };
            return;
        }
        let most = INNOVATION * self.value;
        self.value += NEWEST * (seconds - self.value).clamp(-most, most);
    }

    fn trusted_time(&self) -> Option<f64> {
        (self.count >= TRUSTED).then_some(self.value)
    }
}

/// How often drafts were right, by position, given that all before them were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::decode) struct Acceptance([Average; DEPTHS]);

impl Acceptance {
    /// Learns from a step. Positions behind the first wrong draft were not up for a verdict.
    pub(in crate::decode) fn observe(&mut self, drafted: usize, accepted: usize) {
        for (position, rate) in self.0.iter_mut().enumerate().take(drafted.min(accepted + 1)) {
            rate.add_share(if position < accepted { 1.0 } else { 0.0 });
        }
    }

    /// The rate at a position; `model`'s, or hope, as far as there are too few figures.
    fn rate(&self, position: usize, model: Option<&Self>) -> f64 {
        let fallback = model.map_or(HOPE, |model| model.rate(position, None));
        let Average { value, count } = self.0[position];
        let own = (f64::from(count) / OWN).min(1.0);
        own * value + (1.0 - own) * fallback
    }

    /// The chance that a draft and all before it are right, by position, up to `depth`.
    pub(super) fn survivals(&self, model: &Self, depth: usize) -> impl Iterator<Item = f64> {
        (0..depth.min(DEPTHS)).scan(1.0, |all_right, position| {
            *all_right *= self.rate(position, Some(model));
            Some(*all_right)
        })
    }
}

/// What was measured of a model on a machine. Worth keeping: it saves the next start the trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyState {
    /// Seconds of a step without its drafting, by the number of its tokens, from 1.
    passes: Vec<Average>,
    /// Seconds of one pass of the drafter; a chain of k drafts takes k of them.
    drafting: Average,
    /// Over all rows.
    pub(super) accepted: Acceptance,
}

impl PolicyState {
    /// The same without figures that no measurement gives.
    pub(super) fn checked(mut self) -> Self {
        self.passes.truncate(MAX_WIDTH);
        let times = self.passes.iter_mut().chain([&mut self.drafting]);
        let absurd_time = |time: &Average| !(time.value.is_finite() && time.value > 0.0);
        times.filter(|time| absurd_time(time)).for_each(|time| *time = Average::default());
        let absurd_rate = |rate: &Average| !(0.0..=1.0).contains(&rate.value);
        self.accepted
            .0
            .iter_mut()
            .filter(|rate| absurd_rate(rate))
            .for_each(|rate| *rate = Average::default());
        self
    }

    /// Learns what a step of `width` tokens took whose longest chain had `depth` drafts.
    pub(super) fn observe_step(&mut self, width: usize, depth: usize, seconds: f64) {
        if width > MAX_WIDTH || (depth > 0 && self.drafting.count == 0) {
            return;
        }
        if self.passes.len() < width {
            self.passes.resize(width, Average::default());
        }
        let drafting = self.draft_seconds(depth).min(MOST_DRAFTING * seconds);
        self.passes[width - 1].add_time(seconds - drafting);
    }

    /// Learns what waiting for a chain of `depth` drafts took.
    pub(super) fn observe_drafting(&mut self, depth: usize, seconds: f64) {
        self.drafting.add_time(seconds / depth as f64);
    }

    /// Seconds of drafting a chain.
    pub(super) fn draft_seconds(&self, depth: usize) -> f64 {
        self.drafting.value * depth as f64
    }

    /// Seconds of a step of this width without its drafting, as measured.
    pub(super) fn measured(&self, width: usize) -> Option<f64> {
        self.passes.get(width - 1)?.trusted_time()
    }

    /// The same, by its neighbours where it was not measured: on the line between them, or on the line through the two
    /// widest. `None` for what is wider than the only one.
    pub(super) fn estimated(&self, width: usize) -> Option<f64> {
        if let Some(seconds) = self.measured(width) {
            return Some(seconds);
        }
        let known = |width: usize| Some((width, self.measured(width)?));
        let below = (1..width).rev().find_map(known);
        let above = (width + 1..=MAX_WIDTH).find_map(known);
        let slope =
            |(a, at_a): (usize, f64), (b, at_b): (usize, f64)| ((at_b - at_a) / (b - a) as f64).max(0.0);
        match (below, above) {
            (Some(below), Some(above)) => Some(below.1 + slope(below, above) * (width - below.0) as f64),
            (None, Some((_, seconds))) => Some(seconds),
            (Some(widest), None) => {
                let next = (1..widest.0).rev().find_map(known)?;
                Some(widest.1 + slope(next, widest) * (width - widest.0) as f64)
            }
            (None, None) => None,
        }
    }

    /// Whether a step wider than this was measured.
    pub(super) fn knows_wider(&self, width: usize) -> bool {
        (width + 1..=MAX_WIDTH).any(|width| self.measured(width).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(widths: &[(usize, f64)]) -> PolicyState {
        let mut state = PolicyState::default();
        for &(width, seconds) in widths {
            (0..TRUSTED).for_each(|_| state.observe_step(width, 0, seconds));
        }
        state
    }

    #[test]
    fn widths_between_measured_ones_lie_on_a_line_and_wider_ones_go_on_with_it() {
        let state = measured(&[(2, 10.0), (4, 12.0), (8, 20.0)]);
        assert_eq!(
            [1, 2, 3, 6, 8, 10].map(|width| state.estimated(width).unwrap()),
            [10.0, 10.0, 11.0, 16.0, 20.0, 24.0]
        );
        assert_eq!(measured(&[(3, 5.0)]).estimated(4), None);
        assert_eq!(measured(&[(1, 5.0), (3, 4.0)]).estimated(6), Some(4.0), "noise is no trend");
    }

    #[test]
    fn one_long_step_moves_a_time_by_little_and_a_short_first_one_is_believed() {
        let mut state = measured(&[(1, 2.0)]);
        state.observe_step(1, 0, 1000.0);
        assert_eq!(state.measured(1), Some(2.05));
        let mut spiked = PolicyState::default();
        [9.0, 1.0, 7.0].into_iter().for_each(|seconds| spiked.observe_step(1, 0, seconds));
        assert_eq!(spiked.measured(1), Some(1.0));
    }

    #[test]
    fn only_reached_positions_learn_and_few_figures_lean_on_the_model() {
        let (mut row, mut model) = (Acceptance::default(), Acceptance::default());
        (0..20).for_each(|_| model.observe(3, 1));
        assert_eq!(model.0.map(|rate| rate.count), [20, 20, 0, 0, 0, 0, 0, 0]);
        assert_eq!(row.survivals(&model, 3).collect::<Vec<_>>(), [1.0, 0.0, 0.0]);
        (0..5).for_each(|_| row.observe(1, 0));
        assert_eq!(row.survivals(&model, 1).collect::<Vec<_>>(), [0.5]);
        (0..5).for_each(|_| row.observe(1, 0));
        assert_eq!(row.survivals(&model, 1).collect::<Vec<_>>(), [0.0]);
    }

    #[test]
    fn figures_survive_storage_and_absurd_ones_do_not() {
        let mut state = measured(&[(1, 0.25), (2, 0.5)]);
        state.observe_drafting(2, 0.125);
        state.accepted.observe(2, 1);
        let stored = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<PolicyState>(&stored).unwrap().checked(), state);
        let absurd = stored.replace("0.25", "-3.0");
        let read = serde_json::from_str::<PolicyState>(&absurd).unwrap().checked();
        assert_eq!((read.measured(1), read.measured(2)), (None, Some(0.5)));
    }
}
