//! What steps take: a curve over their width, measured before anything is decoded and corrected while it is, and what
//! rows of different lengths add to it.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::decode::plan::{MAX_WIDTH, StepShape};

/// Steps that tell the machine's speed.
pub(super) const RECENT: usize = 5;
/// What departs from what was expected by more than this factor is a surprise.
const SURPRISE: f64 = 1.4;
/// So many surprises in a row that agree are believed.
const BELIEVED: usize = 3;
/// Weight of a measurement that is no surprise.
const NEWEST: f64 = 0.1;
/// Steps that a machine that has changed gets to settle before it may have changed again.
const SETTLING: usize = 8;
/// So often may it have changed at once, and once more in so many steps: finding out what steps cost then takes time.
const CHANGES: (f64, f64) = (4.0, 100.0);

fn is_surprise(ratio: f64) -> bool {
    !(1.0 / SURPRISE..=SURPRISE).contains(&ratio)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// What a model's steps take on a machine at the speed that it had when they were measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cost {
    /// Seconds of a pass without its drafting, by the number of its tokens.
    passes: BTreeMap<usize, f64>,
    /// Seconds of one pass of the MTP head over one row, of which a chain of k drafts takes k; `None` where none was
    /// measured.
    #[serde(default)]
    draft: Option<f64>,
    /// Seconds that each place adds which a shorter row leaves empty; `None` where no step has told.
    #[serde(default)]
    padding: Option<f64>,
    /// Seconds of one pass of the draft model, which guesses a block; `None` where none was measured.
    #[serde(default)]
    block: Option<f64>,
    /// The last measurements of a width as far as they surprised.
    #[serde(skip)]
    surprises: BTreeMap<usize, Vec<f64>>,
    /// Weight of the next measurement of each width since the machine was last found to have changed.
    #[serde(skip)]
    doubts: BTreeMap<usize, f64>,
}

impl Cost {
    /// Takes in what was measured of some widths and, if it was, of one pass of the MTP head, in place of what was
    /// known of them.
    pub(super) fn with(
        mut self,
        passes: impl IntoIterator<Item = (usize, f64)>,
        draft: impl Into<Option<f64>>,
    ) -> Self {
        self.passes.extend(passes);
        let draft = draft.into().or(self.draft);
        Self { passes: self.passes, draft, padding: self.padding, block: self.block, ..Self::default() }
    }

    /// Takes in what one pass of the draft model was measured to take.
    pub(super) fn with_block(self, seconds: f64) -> Self {
        Self { block: Some(seconds), ..self }
    }

    /// Takes it that an empty place adds so many seconds.
    #[cfg(test)]
    pub(super) fn with_padding(self, seconds: Option<f64>) -> Self {
        Self { padding: seconds, ..self }
    }

    /// Whether measurements may have given all figures.
    pub(super) fn is_possible(&self) -> bool {
        let possible = |(width, &seconds): (&usize, &f64)| {
            (1..=MAX_WIDTH).contains(width) && seconds > 0.0 && seconds < 1e6
        };
        self.passes.iter().all(possible)
            && [self.draft, self.block].into_iter().flatten().all(|seconds| seconds > 0.0 && seconds < 1e6)
            && self.padding.is_none_or(|seconds| (0.0..1e6).contains(&seconds))
    }

    /// Whether anything was measured.
    pub(super) fn is_known(&self) -> bool {
        !self.passes.is_empty()
    }

    /// Whether it is known what the MTP head takes.
    pub(super) fn knows_head(&self) -> bool {
        self.draft.is_some()
    }

    /// Whether it is known what the draft model takes.
    pub(super) fn knows_block(&self) -> bool {
        self.block.is_some()
    }

    /// Seconds of a step: its pass, and before it the drafts.
    pub(super) fn step(&self, shape: StepShape) -> Option<f64> {
        let pass = self.pass(shape.width)?;
        Some(pass + self.padding(shape, pass) + self.drafting(shape))
    }

    /// Seconds of a step's drafts. Further rows in a pass of the head add the share of it that they add to a pass of
    /// the model, and no more than a pass of their own would take.
    fn drafting(&self, StepShape { rows, chain, guesses, block, .. }: StepShape) -> f64 {
        let block = if block { self.block.unwrap_or(0.0) } else { 0.0 };
        let share = match (self.pass(rows), self.pass(1)) {
            (Some(all), Some(one)) if rows > 1 => ((all / one - 1.0) / (rows - 1) as f64).clamp(0.0, 1.0),
            _ => 0.0,
        };
        self.draft.unwrap_or(0.0) * (chain as f64 + share * (guesses - chain.min(guesses)) as f64) + block
    }

    /// Seconds that empty places add to a step with this pass. As long as no step has told, each is taken to add half
    /// of what a token does: the recurrence takes about that share where it is computed step by step.
    fn padding(&self, shape: StepShape, pass: f64) -> f64 {
        let half_a_token = || {
            let one = self.pass(1).unwrap_or(pass);
            (pass - one).max(0.0) / (shape.width.max(2) - 1) as f64 / 2.0
        };
        match shape.padding() {
            0 => 0.0,
            places => places as f64 * self.padding.unwrap_or_else(half_a_token),
        }
    }

    /// Seconds of a pass: its figure, or else the line between its neighbours, or that through the two widest. With a
    /// single figure, each token is taken to cost as much as any other. `None` where nothing is known.
    pub(super) fn pass(&self, width: usize) -> Option<f64> {
        if let Some(&seconds) = self.passes.get(&width) {
            return Some(seconds);
        }
        let slope = |(&a, at_a): (&usize, &f64), (&b, at_b): (&usize, &f64)| {
            ((at_b - at_a) / (b - a) as f64).max(0.0)
        };
        let mut below = self.passes.range(..width).rev();
        let above = self.passes.range(width..).next();
        let Some(narrower) = below.next() else { return above.map(|(_, &seconds)| seconds) };
        let each = match (above, below.next()) {
            (Some(wider), _) => slope(narrower, wider),
            (None, Some(next)) => slope(next, narrower),
            (None, None) => narrower.1 / *narrower.0 as f64,
        };
        Some(narrower.1 + each * (width - narrower.0) as f64)
    }

    /// The machine is not what it was: each figure counts for one measurement.
    fn doubt(&mut self) {
        self.doubts = self.passes.keys().map(|&width| (width, 0.5)).collect();
    }

    /// Learns what a step took at the speed of the measurements. A width that nobody has measured is a surprise, too.
    /// `widest`: whether steps as wide are the widest that there were lately.
    fn learn(&mut self, shape: StepShape, seconds: f64, widest: bool) {
        let width = shape.width;
        if let (true, Some(block), Some(pass)) = (shape.block, self.block, self.passes.get(&width)) {
            // What a block takes grows with the chat; a pass whose figure is known takes what it does in any step,
            // unless that leaves no time for the block.
            let took = seconds - pass - self.padding(shape, *pass) - (self.drafting(shape) - block);
            if took > 0.0 {
                self.block = Some(block + NEWEST * (took.clamp(block / SURPRISE, block * SURPRISE) - block));
                return;
            }
        }
        let pass = seconds - self.drafting(shape);
        if width > MAX_WIDTH || pass <= 0.0 {
            return;
        }
        if let (places @ 1.., Some(full)) =
            (shape.padding(), self.pass(width).filter(|full| pass > full / SURPRISE))
        {
            // What takes far less than without empty places tells of the width. An empty place takes no longer than a
            // token, so that a slow step decides nothing.
            self.surprises.remove(&width);
            let told = ((pass - full) / places as f64).clamp(0.0, full / width as f64);
            let known = self.padding(shape, full) / places as f64;
            self.padding = Some(known + NEWEST * (told - known));
            return;
        }
        let surprises = self.surprises.entry(width).or_default();
        match self.passes.get_mut(&width) {
            Some(known) if !is_surprise(pass / *known) => {
                surprises.clear();
                let weight = self.doubts.get(&width).map_or(NEWEST, |doubt| doubt.max(NEWEST));
                *known += weight * (pass - *known);
                self.doubts.entry(width).and_modify(|doubt| *doubt /= 1.0 + *doubt);
            }
            _ => {
                surprises.push(pass);
                surprises.drain(..surprises.len().saturating_sub(BELIEVED));
                let agree = |(a, b): (f64, f64)| !is_surprise(a / b);
                let all_agree = surprises.iter().zip(&surprises[1..]).all(|(&a, &b)| agree((a, b)));
                if surprises.len() == BELIEVED && all_agree {
                    let believed = median(surprises.drain(..));
                    // More tokens never take less. Where the widest ones take less than was thought, those beyond do
                    // too: what is thought to be far too dear is never probed.
                    let known = self.passes.get(&width).filter(|_| widest);
                    let factor = known.map_or(1.0, |known| (believed / known).min(1.0));
                    for (&other, seconds) in &mut self.passes {
                        *seconds = if other < width {
                            seconds.min(believed)
                        } else {
                            (factor * *seconds).max(believed)
                        };
                    }
                    self.passes.insert(width, believed);
                }
            }
        }
    }
}

/// How fast the machine is now. Load, heat and the length of the chats change the time of all widths alike most of the
/// time, so steps of different widths are compared only where they follow each other.
#[derive(Debug, Clone)]
pub(super) struct Speed {
    /// Of the last steps, the width and the time in units of what was expected.
    recent: VecDeque<(usize, f64)>,
    /// What that was when it last surprised: at first, when the costs were measured.
    usual: f64,
    /// Steps since then.
    since: usize,
    /// How often it may surprise now.
    changes: f64,
}

impl Default for Speed {
    fn default() -> Self {
        Self { recent: VecDeque::new(), usual: 1.0, since: SETTLING, changes: CHANGES.0 }
    }
}

/// What a step told.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Told {
    /// What it took at the speed of the measurements, or what was expected where that is not known.
    pub(super) seconds: f64,
    /// Whether steps of its width are not what they were.
    pub(super) width: bool,
    /// Whether the machine is not what it was.
    pub(super) machine: bool,
}

impl Speed {
    /// The time that the last steps took, in units of what was expected.
    pub(super) fn now(&self) -> f64 {
        if self.recent.is_empty() { 1.0 } else { median(self.recent.iter().map(|(_, ratio)| *ratio)) }
    }

    /// Corrects the costs by a step, if it was timed.
    pub(super) fn observe(&mut self, cost: &mut Cost, shape: StepShape, took: Option<f64>) -> Told {
        let width = shape.width;
        let Some(expected) = cost.step(shape) else { return Told::default() };
        let mut told = Told { seconds: expected, ..Told::default() };
        let Some(took) = took else { return told };
        let others = || self.recent.iter().filter(|(other, _)| *other != width).map(|(_, ratio)| *ratio);
        let follows_another = self.recent.back().is_some_and(|(last, _)| *last != width);
        if follows_another && others().count() > RECENT / 2 {
            let seconds = took / median(others());
            let widest = self.recent.iter().all(|(other, _)| *other <= width);
            cost.learn(shape, seconds, widest);
            told.seconds = seconds;
            told.width = is_surprise(seconds / expected) && seconds > cost.drafting(shape);
        }
        self.recent.push_back((width, took / expected));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
            let now = self.now();
            self.since += 1;
            self.changes = (self.changes + 1.0 / CHANGES.1).min(CHANGES.0);
            told.machine = self.since > SETTLING && self.changes >= 1.0 && is_surprise(now / self.usual);
            if told.machine {
                self.changes -= 1.0;
                (self.usual, self.since) = (now, 0);
                cost.doubt();
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimates<const N: usize>(cost: &Cost, widths: [usize; N]) -> [f64; N] {
        widths.map(|width| cost.pass(width).unwrap())
    }

    #[test]
    fn widths_between_measured_ones_lie_on_a_line_and_wider_ones_go_on_with_it() {
        let cost = Cost::default().with([(2, 10.0), (4, 12.0), (8, 20.0)], 0.5);
        assert_eq!(estimates(&cost, [1, 2, 3, 6, 8, 10]), [10.0, 10.0, 11.0, 16.0, 20.0, 24.0]);
        let shape = StepShape { rows: 1, width: 3, longest: 3, chain: 2, guesses: 2, block: false };
        assert_eq!(cost.step(shape), Some(12.0));
        let cost = cost.with_block(4.0);
        assert_eq!(cost.step(StepShape { block: true, ..shape }), Some(16.0));
        assert_eq!(cost.step(shape), Some(12.0));
        let single = Cost::default().with([(3, 6.0)], 0.0);
        assert_eq!(estimates(&single, [4]), [8.0], "each token costs the same");
        let noisy = Cost::default().with([(1, 5.0), (3, 4.0)], 0.0);
        assert_eq!(estimates(&noisy, [6]), [4.0], "noise is no trend");
        assert_eq!(Cost::default().pass(1), None);
    }

    /// Steps of these widths, one after the other, that take so many seconds.
    fn observe(cost: &mut Cost, speed: &mut Speed, steps: &[(usize, f64)]) -> Vec<Told> {
        let shape = |width| StepShape { rows: 1, width, longest: width, ..StepShape::default() };
        steps.iter().map(|&(width, seconds)| speed.observe(cost, shape(width), Some(seconds))).collect()
    }

    /// Two rows of one token beside one of three; the head drafts for it, and for a second one.
    #[test]
    fn empty_places_and_further_rows_of_the_head_take_time() {
        let cost = Cost::default().with([(1, 10.0), (3, 16.0), (5, 22.0)], 2.0);
        let shape = StepShape { rows: 3, width: 5, longest: 3, chain: 2, guesses: 2, block: false };
        assert_eq!((shape.padding(), cost.step(shape)), (4, Some(22.0 + 4.0 * 3.0 / 2.0 + 2.0 * 2.0)));
        let mut cost = cost.with_padding(Some(0.5));
        assert_eq!(cost.step(shape), Some(22.0 + 4.0 * 0.5 + 2.0 * 2.0));
        let shape = StepShape { width: 6, guesses: 3, ..shape };
        assert_eq!(cost.step(shape), Some(25.0 + 3.0 * 0.5 + 2.0 * (2.0 + 0.3)));

        // Steps of such a shape tell what it is that they take, and change no other figure.
        let mut speed = Speed::default();
        for _ in 0..60 {
            let plain = StepShape { rows: 3, width: 3, longest: 1, ..StepShape::default() };
            for _ in 0..RECENT {
                speed.observe(&mut cost, plain, Some(16.0));
            }
            speed.observe(&mut cost, shape, Some(25.0 + 3.0 * 2.0 + 2.0 * 2.3));
        }
        assert!((1.95..2.01).contains(&cost.padding.unwrap()), "{:?}", cost.padding);
        assert_eq!(estimates(&cost, [1, 3, 5]), [10.0, 16.0, 22.0]);
        speed.observe(&mut cost, shape, Some(1000.0));
        assert!(cost.padding.unwrap() < 2.3, "a slow step decides nothing: {:?}", cost.padding);
    }

    #[test]
    fn what_was_not_measured_again_stays_as_it_was() {
        let cost = Cost::default().with([(1, 2.0), (2, 3.0)], 0.5).with_block(4.0).with([(1, 2.5)], None);
        let shape = StepShape { rows: 1, width: 2, longest: 2, chain: 1, guesses: 1, block: true };
        assert_eq!(cost.step(shape), Some(3.0 + 0.5 + 4.0));
        assert!(cost.knows_head() && cost.is_possible());
        assert!(!Cost::default().with([(1, 2.0)], 0.0).is_possible(), "no draft is free");
    }

    /// A pass that is thought to take longer than the whole step leaves the draft model's figure alone.
    #[test]
    fn a_pass_that_is_thought_too_dear_makes_no_block_cheap() {
        let mut cost = Cost::default().with([(1, 2.0), (8, 30.0)], None).with_block(4.0);
        let mut speed = Speed::default();
        for _ in 0..8 {
            observe(&mut cost, &mut speed, &[(1, 2.0); RECENT]);
            let shape = StepShape { rows: 1, width: 8, longest: 8, block: true, ..StepShape::default() };
            speed.observe(&mut cost, shape, Some(12.0));
        }
        assert_eq!(cost.block, Some(4.0));
        assert_eq!(estimates(&cost, [8]), [8.0]);
    }

    #[test]
    fn one_odd_step_changes_nothing_and_three_in_a_row_are_believed() {
        let (mut cost, mut speed) = (Cost::default().with([(1, 2.0), (2, 3.0)], 0.0), Speed::default());
        let plain = [(1, 2.0); RECENT];
        for seconds in [1000.0, 3.0, 0.1] {
            observe(&mut cost, &mut speed, &plain);
            assert_eq!(observe(&mut cost, &mut speed, &[(2, seconds)])[0].width, seconds != 3.0);
            assert_eq!(estimates(&cost, [1, 2]), [2.0, 3.0]);
        }
        for _ in 0..3 {
            observe(&mut cost, &mut speed, &plain);
            observe(&mut cost, &mut speed, &[(2, 6.0)]);
        }
        assert_eq!(estimates(&cost, [1, 2]), [2.0, 6.0]);
        // A width that nobody has measured stays on the line until enough steps agree.
        for (steps, expected) in [(1, 10.0), (2, 10.0), (3, 7.0)] {
            observe(&mut cost, &mut speed, &plain);
            observe(&mut cost, &mut speed, &[(3, 7.0)]);
            assert_eq!(estimates(&cost, [3]), [expected], "after {steps}");
        }
    }

    /// Once the machine is found to be another one, a figure counts as one measurement among those that follow.
    #[test]
    fn what_was_measured_of_another_machine_counts_little() {
        let corrected = |slower: f64| {
            let (mut cost, mut speed) = (Cost::default().with([(1, 2.0), (2, 3.0)], 0.0), Speed::default());
            observe(&mut cost, &mut speed, &[(1, 2.0); 2 * RECENT]);
            observe(&mut cost, &mut speed, &[(1, 2.0 * slower); 2 * RECENT]);
            [(2, 3.6 * slower); 3].map(|step| {
                observe(&mut cost, &mut speed, &[step, (1, 2.0 * slower)]);
                let [figure] = estimates(&cost, [2]);
                (figure * 100.0).round() / 100.0
            })
        };
        assert_eq!(corrected(1.0), [3.06, 3.11, 3.16]);
        assert_eq!(corrected(3.0), [3.3, 3.4, 3.45]);
    }

    /// Widths that are thought to be far too dear are never probed: they follow those that are.
    #[test]
    fn what_the_widest_steps_are_wrong_by_those_beyond_are_as_well() {
        let figures = [(1, 2.0), (2, 6.0), (4, 10.0), (8, 20.0)];
        let after = |width, seconds| {
            let (mut cost, mut speed) = (Cost::default().with(figures, 0.0), Speed::default());
            for _ in 0..3 {
                observe(&mut cost, &mut speed, &[(1, 2.0); RECENT]);
                observe(&mut cost, &mut speed, &[(width, seconds)]);
            }
            estimates(&cost, [1, 2, 4, 8])
        };
        assert_eq!(after(2, 3.0), [2.0, 3.0, 5.0, 10.0]);
        assert_eq!(after(4, 3.0), [2.0, 3.0, 3.0, 6.0], "more tokens never take less");
    }

    #[test]
    fn another_speed_of_the_machine_changes_no_cost() {
        let (mut cost, mut speed) = (Cost::default().with([(1, 2.0), (2, 3.0)], 0.0), Speed::default());
        let (steps, slower) = ([(1, 2.0), (2, 3.0), (2, 3.0)], [(2, 9.0), (2, 9.0), (1, 6.0)]);
        observe(&mut cost, &mut speed, &steps.repeat(10));
        assert!(observe(&mut cost, &mut speed, &slower.repeat(10)).iter().any(|told| told.machine));
        assert_eq!(estimates(&cost, [1, 2]), [2.0, 3.0]);
        // One step that takes long is not another machine.
        let stalled = [vec![(1, 6.0); 10], vec![(1, 600.0)], vec![(1, 6.0); 10]].concat();
        observe(&mut cost, &mut speed, &stalled);
        assert!(observe(&mut cost, &mut speed, &stalled).iter().all(|told| !told.machine));
    }
}
