//! What steps take: a curve over their width that follows a machine whose speed changes at any moment.

use serde::{Deserialize, Serialize};

/// The most tokens that a step may have for the policy to add drafts to it.
pub(super) const MAX_WIDTH: usize = 32;

/// What a figure's doubt grows by with each step that does not renew it. A doubt of 1 is that of a single measurement;
/// in use, a figure is a running average over about ten.
const DRIFT: f64 = 0.01;
/// Figures with more doubt do not count as measured.
const TRUSTED: f64 = 0.45;
/// Doubt of a figure that only follows from others: the first measurement replaces it.
const GUESS: f64 = 1e3;
/// What departs from a figure by more than this factor is odd: the machine paused, or it is another machine now.
const ODD: f64 = 1.4;
/// So many odd ones in a row, all longer or all shorter, are believed.
const BELIEVED: usize = 3;
/// Figures that were not renewed for so many steps follow those that were.
const FRESH: u64 = 16;
/// The head's share of a drafting step is never taken for more than this.
const MOST_DRAFTING: f64 = 0.9;

/// A time, and how far to trust it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Time {
    /// Seconds; 0 where nothing is known.
    seconds: f64,
    /// Variance of the figure over that of one measurement.
    doubt: f64,
    /// When it was last measured.
    #[serde(skip)]
    seen: u64,
    /// The last measurements as far as they were odd in the same direction, and when they began.
    #[serde(skip)]
    odd: Vec<f64>,
    #[serde(skip)]
    odd_since: u64,
    /// Whether the figure was trusted then.
    #[serde(skip)]
    was_trusted: bool,
}

/// What a measurement did to a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moved {
    factor: f64,
    /// Whether all that was known before is over.
    sudden: bool,
}

const UNMOVED: Moved = Moved { factor: 1.0, sudden: false };

impl Time {
    fn is_known(&self) -> bool {
        self.seconds > 0.0
    }

    fn is_trusted(&self) -> bool {
        self.is_known() && self.doubt <= TRUSTED
    }

    /// Adds a measurement: a running average whose newest figure counts the more the older the average is.
    /// The first one counts for `most` seconds at most.
    fn add(&mut self, seconds: f64, most: f64, now: u64) -> Moved {
        let age = now.saturating_sub(std::mem::replace(&mut self.seen, now));
        if !self.is_known() || self.doubt >= GUESS {
            *self = Self { seconds: seconds.min(most), doubt: 1.0, seen: now, ..Self::default() };
            return UNMOVED;
        }
        let before = self.seconds;
        if self.odd.is_empty() {
            self.was_trusted = self.is_trusted();
        }
        self.doubt = (self.doubt + DRIFT * age as f64).min(GUESS / 2.0);
        if seconds > before * ODD || seconds < before / ODD {
            return self.add_odd(seconds, now);
        }
        self.odd.clear();
        self.doubt /= 1.0 + self.doubt;
        self.seconds += self.doubt * (seconds - before);
        Moved { factor: self.seconds / before, sudden: false }
    }

    fn add_odd(&mut self, seconds: f64, now: u64) -> Moved {
        let before = self.seconds;
        if self.odd.last().is_some_and(|&last| (last > before) != (seconds > before)) {
            self.odd.clear();
        }
        if self.odd.is_empty() {
            self.odd_since = now;
        }
        self.odd.push(seconds);
        if self.odd.len() < BELIEVED {
            return UNMOVED;
        }
        self.odd.sort_by(f64::total_cmp);
        // A figure that was hardly known was wrong; one that was known well does not hold any more.
        let sudden = self.was_trusted;
        self.seconds = self.odd[BELIEVED / 2];
        self.doubt = 1.0 / BELIEVED as f64;
        self.odd.clear();
        if sudden { Moved { factor: self.seconds / before, sudden } } else { UNMOVED }
    }
}

/// What was measured of a model's steps on a machine: seconds by width and of drafting.
///
/// Load, heat and the length of the chats change the speed of all widths alike most of the time. So figures that are
/// not renewed follow the width in use in proportion, until a look tells better.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    /// A step without its drafting, by the number of its tokens, from 1.
    passes: Vec<Time>,
    /// One pass of the drafter; a chain of k drafts takes k of them.
    drafting: Time,
    /// Steps so far.
    #[serde(skip)]
    now: u64,
}

impl Cost {
    /// The same without figures that no measurement gives.
    pub(super) fn checked(mut self) -> Self {
        self.passes.truncate(MAX_WIDTH);
        let possible =
            |time: &Time| (0.0..1e6).contains(&time.seconds) && (0.0..=GUESS).contains(&time.doubt);
        let times = self.passes.iter_mut().chain([&mut self.drafting]);
        times.filter(|time| !possible(time)).for_each(|time| *time = Time::default());
        self
    }

    /// A step has ended, whether it is measured or not.
    pub(super) fn tick(&mut self) {
        self.now += 1;
    }

    /// Learns what a step of `width` tokens took whose longest chain had `depth` drafts, and says whether it is another
    /// machine than before. `usual`: whether such steps are in use, so that their speed is the machine's; else the step
    /// was a look at one width.
    pub(super) fn observe_step(&mut self, width: usize, depth: usize, seconds: f64, usual: bool) -> bool {
        if width > MAX_WIDTH || (depth > 0 && !self.drafting.is_known()) {
            return false;
        }
        if self.passes.len() < width {
            self.passes.resize(width, Time::default());
        }
        let drafting = self.draft_seconds(depth).min(MOST_DRAFTING * seconds);
        // A step takes no longer than narrow ones for as many tokens: more than that is a pause of the machine.
        let narrowest = self.known(1).next().filter(|&narrowest| narrowest < width);
        let most = narrowest.map_or(f64::INFINITY, |narrowest| {
            self.passes[narrowest - 1].seconds * width as f64 / narrowest as f64
        });
        let moved = self.passes[width - 1].add(seconds - drafting, most, self.now);
        self.spread(width, moved, usual);
        moved.sudden
    }

    /// Lets the figures that are older than a change follow it.
    fn spread(&mut self, width: usize, moved: Moved, usual: bool) {
        let Moved { factor, sudden } = moved;
        if !usual && !sudden {
            return;
        }
        let Time { seconds, odd_since, .. } = self.passes[width - 1];
        let renewed = if sudden { odd_since } else { self.now.saturating_sub(FRESH) };
        let follow = |time: &mut Time, factor: f64| {
            time.seconds *= factor;
            time.odd.clear();
            if sudden {
                time.doubt = GUESS;
            }
        };
        for (index, time) in self.passes.iter_mut().enumerate() {
            if index + 1 == width || !time.is_known() || time.seen >= renewed {
                continue;
            }
            if usual || index >= width {
                follow(time, factor);
            } else if time.seconds > seconds {
                // A look at more tokens found less.
                let factor = seconds / time.seconds;
                follow(time, factor);
            }
        }
        if usual && self.drafting.is_known() && self.drafting.seen < renewed {
            self.drafting.seconds *= factor;
        }
    }

    /// Learns what waiting for a chain of `depth` drafts took.
    pub(super) fn observe_drafting(&mut self, depth: usize, seconds: f64) {
        self.drafting.add(seconds / depth as f64, f64::INFINITY, self.now);
    }

    /// Seconds of drafting a chain.
    pub(super) fn draft_seconds(&self, depth: usize) -> f64 {
        self.drafting.seconds * depth as f64
    }

    /// Whether a step of this width was measured, often enough and not too long ago.
    pub(super) fn is_trusted(&self, width: usize) -> bool {
        self.passes.get(width - 1).is_some_and(Time::is_trusted)
    }

    /// Whether the last steps of this width were not what they were expected to be.
    pub(super) fn is_odd(&self, width: usize) -> bool {
        self.passes.get(width - 1).is_some_and(|time| !time.odd.is_empty())
    }

    /// Steps since one of this width.
    pub(super) fn age(&self, width: usize) -> u64 {
        self.now - self.passes.get(width - 1).map_or(0, |time| time.seen)
    }

    /// Widths from `least` on of which there are figures.
    pub(super) fn known(&self, least: usize) -> impl Iterator<Item = usize> {
        (least..=self.passes.len()).filter(|&width| self.passes[width - 1].is_known())
    }

    /// The widest step of which there is a figure.
    pub(super) fn widest(&self) -> usize {
        self.known(1).last().unwrap_or(0)
    }

    /// Seconds of a step of this width without its drafting: its figure, or else the line between its neighbours, or
    /// that through the two widest. With a single figure, each token is taken to cost as much as any other. `None` where
    /// nothing is known.
    pub(super) fn estimated(&self, width: usize) -> Option<f64> {
        let known = |width: usize| {
            let time = self.passes.get(width - 1)?;
            time.is_known().then_some((width, time.seconds))
        };
        if let Some((_, seconds)) = known(width) {
            return Some(seconds);
        }
        let line = |(a, at_a): (usize, f64), (b, at_b): (usize, f64)| {
            at_a + ((at_b - at_a) / (b - a) as f64).max(0.0) * (width - a) as f64
        };
        let below = (1..width).rev().find_map(known);
        let above = (width + 1..=MAX_WIDTH).find_map(known);
        match (below, above) {
            (Some(below), Some(above)) => Some(line(below, above)),
            (None, above) => above.map(|(_, seconds)| seconds),
            (Some((widest, seconds)), None) => match (1..widest).rev().find_map(known) {
                Some((next, at_next)) => {
                    let slope = ((seconds - at_next) / (widest - next) as f64).max(0.0);
                    Some(seconds + slope * (width - widest) as f64)
                }
                None => Some(seconds * width as f64 / widest as f64),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(widths: &[(usize, f64)]) -> Cost {
        let mut cost = Cost::default();
        for &(width, seconds) in widths {
            observe(&mut cost, width, seconds, 3);
        }
        cost
    }

    fn observe(cost: &mut Cost, width: usize, seconds: f64, times: usize) -> bool {
        (0..times).fold(false, |sudden, _| {
            cost.tick();
            sudden | cost.observe_step(width, 0, seconds, true)
        })
    }

    fn estimates<const N: usize>(cost: &Cost, widths: [usize; N]) -> [f64; N] {
        widths.map(|width| cost.estimated(width).unwrap())
    }

    #[test]
    fn widths_between_measured_ones_lie_on_a_line_and_wider_ones_go_on_with_it() {
        let cost = measured(&[(2, 10.0), (4, 12.0), (8, 20.0)]);
        assert_eq!(estimates(&cost, [1, 2, 3, 6, 8, 10]), [10.0, 10.0, 11.0, 16.0, 20.0, 24.0]);
        assert_eq!(estimates(&measured(&[(3, 6.0)]), [4]), [8.0], "each token costs the same");
        assert_eq!(estimates(&measured(&[(1, 5.0), (3, 4.0)]), [6]), [4.0], "noise is no trend");
        assert_eq!(Cost::default().estimated(1), None);
    }

    #[test]
    fn one_odd_step_changes_nothing_and_three_in_a_row_are_believed() {
        let mut cost = measured(&[(1, 2.0)]);
        for seconds in [1000.0, 2.0, 1000.0, 1000.0, 0.1] {
            assert!(!observe(&mut cost, 1, seconds, 1));
            assert_eq!(estimates(&cost, [1]), [2.0]);
        }
        observe(&mut cost, 1, 2.0, 1);
        assert!(observe(&mut cost, 1, 6.0, 3));
        assert_eq!(estimates(&cost, [1]), [6.0]);
    }

    #[test]
    fn a_first_pause_is_not_taken_for_the_time_of_a_width() {
        let mut cost = measured(&[(1, 2.0)]);
        observe(&mut cost, 4, 1000.0, 1);
        assert_eq!(estimates(&cost, [4]), [8.0]);
    }

    #[test]
    fn what_is_not_renewed_follows_what_is_in_use() {
        let mut cost = measured(&[(1, 2.0), (4, 3.0)]);
        observe(&mut cost, 1, 2.0, FRESH as usize + 1);
        observe(&mut cost, 1, 2.2, 100);
        let [one, four] = estimates(&cost, [1, 4]);
        assert!((one - 2.2).abs() < 1e-3 && (four / one - 1.5) < 0.01, "{one}, {four}");
        assert!(cost.is_trusted(4));
        // Another machine: the others are guesses now, and the first measurement replaces them.
        assert!(observe(&mut cost, 1, 22.0, 3));
        assert!(!cost.is_trusted(4) && (estimates(&cost, [4])[0] / four - 22.0 / one).abs() < 1e-9);
        observe(&mut cost, 4, 23.0, 1);
        assert_eq!(estimates(&cost, [4]), [23.0]);
    }

    #[test]
    fn a_look_that_finds_another_time_casts_doubt_on_its_neighbours() {
        let mut cost = measured(&[(1, 2.0), (2, 4.0), (3, 6.0), (4, 8.0)]);
        for _ in 0..3 {
            cost.tick();
            cost.observe_step(3, 0, 3.0, false);
        }
        assert_eq!(estimates(&cost, [1, 2, 3, 4]), [2.0, 3.0, 3.0, 4.0]);
        assert_eq!([1, 2, 3, 4].map(|width| cost.is_trusted(width)), [true, false, true, false]);
    }
}
