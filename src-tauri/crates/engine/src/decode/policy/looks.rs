//! Steps that are made to learn, and what they may lose.

use super::choice::{Plan, most_likely, uniform};
use super::cost::{Cost, MAX_WIDTH};
use super::{DEPTHS, LEAST_GAIN};

/// Steps until the first look at another depth; doubled each time, until something changes.
const FIRST_LOOK: u32 = 32;
/// The most steps between two such looks.
const LAST_LOOK: u32 = 512;
/// The most steps of a look.
const LOOK_STEPS: u32 = 8;
/// Share of the time that looks may lose.
const EXPLORATION: f64 = 0.02;
/// Plain steps' worth of time that looks may lose at the start.
const FIRST_SAVINGS: f64 = 1.5;
/// The most plain steps' worth of time that is saved up for looks.
const MOST_SAVINGS: f64 = 4.0;

/// When to look where.
#[derive(Debug, Clone)]
pub(super) struct Looks {
    look: Option<Look>,
    until_next: u32,
    interval: u32,
    /// The depth whose turn is next, as a power of two.
    next_rival: usize,
    /// What looks may lose, in plain steps.
    savings: f64,
    /// What the step at hand was taken to last, and a plain one, in seconds; `None` where it is no look.
    paid: Option<(f64, f64)>,
}

/// A few steps with other drafts than the best known ones.
#[derive(Debug, Clone, Copy)]
struct Look {
    rival: Rival,
    left: u32,
    /// Whether all its drafts have been right so far.
    right: bool,
}

/// Other drafts than the best known ones.
#[derive(Debug, Clone, Copy)]
enum Rival {
    /// A chain of this length for each row.
    Depth(usize),
    /// So many drafts, because nobody has measured such a step.
    Drafts(usize),
}

/// What is known when a step is chosen.
pub(super) struct Scene<'a> {
    /// The step without drafts.
    pub(super) plain: &'a Plan,
    /// The step with the drafts that rows get in any case.
    pub(super) base: &'a Plan,
    /// The best known step.
    pub(super) chosen: &'a Plan,
    /// The chances of each row's drafts.
    pub(super) survivals: &'a [Vec<f64>],
    /// The longest that the step may take.
    pub(super) most_seconds: f64,
    pub(super) cost: &'a Cost,
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            look: None,
            until_next: FIRST_LOOK,
            interval: FIRST_LOOK,
            next_rival: 0,
            savings: FIRST_SAVINGS,
            paid: None,
        }
    }
}

impl Looks {
    /// Something has changed: what was looked at before tells little now.
    pub(super) fn begin_again(&mut self) {
        (self.until_next, self.interval) = (FIRST_LOOK, FIRST_LOOK);
    }

    /// A step has ended, a look or not. One that took more or less than expected pays the rest or gets it back.
    pub(super) fn observe(&mut self, drafts: &[(usize, usize)], seconds: f64) {
        // What takes more than twice as long as expected is a pause of the machine.
        let change = |(expected, plain): (f64, f64)| (expected - seconds.min(2.0 * expected)) / plain;
        let change = self.paid.take().map_or(0.0, change);
        self.savings = (self.savings + EXPLORATION + change).clamp(-MOST_SAVINGS, MOST_SAVINGS);
        if let Some(look) = &mut self.look {
            look.right &= drafts.iter().all(|(drafted, accepted)| drafted == accepted);
        }
    }

    /// The drafts of a look, if it is time for one and it can be afforded.
    pub(super) fn next(&mut self, scene: &Scene<'_>) -> Option<Vec<usize>> {
        self.until_next = self.until_next.saturating_sub(1);
        let going_on = self.look.take().filter(|look| look.goes_on(scene));
        let look = going_on.or_else(|| scene.unmeasured().map(Look::at));
        let look = look.filter(|look| self.affords(scene, look.rival)).or_else(|| self.turn(scene))?;
        let plan = scene.plan(look.rival);
        self.savings -= scene.loss(&plan)?;
        self.paid = plan.seconds.zip(scene.plain.seconds);
        self.look = Some(Look { left: look.left - 1, ..look });
        Some(plan.depths)
    }

    fn affords(&self, scene: &Scene<'_>, rival: Rival) -> bool {
        scene.loss(&scene.plan(rival)).is_some_and(|loss| loss <= self.savings)
    }

    /// A look at the next depth, when it is time.
    fn turn(&mut self, scene: &Scene<'_>) -> Option<Look> {
        if self.until_next > 0 {
            return None;
        }
        let turns = DEPTHS.ilog2() as usize + 1;
        let affordable = |turn: &usize| {
            let rival = Rival::Depth(1 << turn);
            let depths = scene.plan(rival).depths;
            depths != scene.chosen.depths && depths != scene.plain.depths && self.affords(scene, rival)
        };
        let turn = (0..turns).map(|i| (self.next_rival + i) % turns).find(affordable)?;
        self.next_rival = turn + 1;
        self.until_next = self.interval;
        self.interval = (self.interval * 2).min(LAST_LOOK);
        Some(Look::at(Rival::Depth(1 << turn)))
    }
}

impl Look {
    fn at(rival: Rival) -> Self {
        Self { rival, left: LOOK_STEPS, right: true }
    }

    /// Whether another step would tell more: until the time is known, and as long as all drafts are right where none
    /// are in use.
    fn goes_on(&self, scene: &Scene<'_>) -> bool {
        let width = scene.plan(self.rival).width();
        let unclear = !scene.cost.is_trusted(width) || scene.cost.is_odd(width);
        let promising = self.right && scene.chosen.drafts() == 0;
        self.left > 0 && (unclear || promising)
    }
}

impl Scene<'_> {
    fn plan(&self, rival: Rival) -> Plan {
        match rival {
            Rival::Depth(depth) => uniform(self.base, self.survivals, depth, self.cost),
            Rival::Drafts(count) => most_likely(self.base, self.survivals, count, self.cost),
        }
    }

    /// What a step loses beside the best known one, in plain steps; `None` if it may take too long. Where the length of
    /// the step is bounded, those for whose sake it is gain nothing by its drafts.
    fn loss(&self, plan: &Plan) -> Option<f64> {
        let (seconds, plain) = (plan.seconds?, self.plain.seconds?);
        let bounded = self.most_seconds.is_finite();
        let hopeful = if plan.is_known(self.cost) { seconds } else { self.hopeful_seconds(plan) };
        if hopeful > self.most_seconds {
            return None;
        }
        let worth = if bounded { plain } else { plan.tokens / self.chosen.rate()? };
        Some(((seconds - worth) / plain).max(0.0))
    }

    /// Seconds of a step if it is no longer than the next narrower one that was measured.
    fn hopeful_seconds(&self, plan: &Plan) -> f64 {
        let narrower = self.cost.known(self.plain.width()).take_while(|&width| width < plan.width()).last();
        let pass = narrower.and_then(|width| self.cost.estimated(width)).unwrap_or(f64::INFINITY);
        pass + self.cost.draft_seconds(plan.depth())
    }

    /// A step that nobody has measured and that would be the best if it took no longer than the next narrower measured
    /// one: halfway between two of those, or twice as deep as the widest. Machines have stairs that lines do not show.
    fn unmeasured(&self) -> Option<Rival> {
        let (from, rate) = (self.base.width(), self.chosen.rate()?);
        let known: Vec<usize> = self.cost.known(from).collect();
        let between = known.windows(2).map(|gap| gap[0].midpoint(gap[1]));
        let widest = known.last().copied().unwrap_or(from);
        let wider = if self.most_seconds.is_finite() {
            widest + 1
        } else {
            widest + (widest - from).max(self.survivals.iter().filter(|chances| !chances.is_empty()).count())
        };
        between
            .chain([wider.min(MAX_WIDTH)])
            .filter(|width| !known.contains(width) && *width > from)
            .map(|width| (width, Rival::Drafts(width - from)))
            .map(|(width, rival)| (width, rival, self.plan(rival)))
            .find(|(width, _, plan)| {
                let hopeful = self.hopeful_seconds(plan);
                plan.width() == *width
                    && plan.tokens / hopeful > LEAST_GAIN * rate
                    && hopeful <= self.most_seconds
            })
            .map(|(_, rival, _)| rival)
    }
}
