//! How many drafts pay.

mod choice;
mod figures;

use std::fmt;
use std::time::Duration;

use foretoken_protocol::Drafting;

use choice::{Plan, best, most_likely};
pub(super) use figures::Acceptance;
use figures::MAX_WIDTH;
pub use figures::PolicyState;

/// The deepest chain that the policy tries by itself.
const MAX_AUTO_DEPTH: usize = 3;
/// Drafts must promise this much more than none.
const LEAST_GAIN: f64 = 1.03;
/// What drafts may cost rows whose requests switched them off: this much of a step.
const TAX: f64 = 0.10;
/// Steps until the first look at another plan; doubled each time, until a look changes something.
const FIRST_PROBE: u32 = 32;
const LAST_PROBE: u32 = 512;
/// Steps of such a look.
const PROBE_STEPS: u32 = 2;
/// Steps after which the time of a width that was never used counts.
const TRIAL_STEPS: u32 = 4;
/// Share of the time that looks may lose.
const EXPLORATION: f64 = 0.02;
/// The most steps' worth of time that is saved up for looks.
const SAVINGS: f64 = 16.0;

/// A row as the policy sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowView<'a> {
    /// What its request asks for.
    pub(super) drafting: Drafting,
    /// The most drafts that it can use now.
    pub(super) room: usize,
    /// How often its drafts were right.
    pub(super) acceptance: &'a Acceptance,
}

impl RowView<'_> {
    /// Drafts that it gets whatever they cost.
    fn fixed(&self) -> usize {
        match self.drafting {
            Drafting::Fixed { depth } => usize::from(depth).min(self.room),
            Drafting::Off | Drafting::Auto => 0,
        }
    }

    /// The most drafts that it may get.
    fn most(&self) -> usize {
        match self.drafting {
            Drafting::Auto => self.room.min(MAX_AUTO_DEPTH),
            Drafting::Off | Drafting::Fixed { .. } => self.fixed(),
        }
    }
}

/// What a step did, as the policy sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepView<'a> {
    /// Drafts verified and accepted, by row.
    pub(super) drafts: &'a [(usize, usize)],
    /// Tokens that went through the model.
    pub(super) width: usize,
    /// The longest chain.
    pub(super) depth: usize,
    /// The whole step.
    pub(super) took: Duration,
    /// Waiting for the drafts alone, where the step was held up to learn it.
    pub(super) drafting: Option<Duration>,
    /// Whether nothing happened around the step that may have made it longer.
    pub(super) steady: bool,
}

/// Chooses how many drafts each row gets in each step: those with the most expected tokens per second, none included,
/// by what steps of each width took on this machine and how often drafts were right at each position.
#[derive(Debug, Clone)]
pub struct Policy {
    figures: PolicyState,
    /// Widths that were ever used: the first step of one may compile kernels and is not counted.
    warm: [bool; MAX_WIDTH + 1],
    probe: Option<Probe>,
    until_probe: u32,
    interval: u32,
    next_rival: usize,
    /// Seconds that looks may lose.
    savings: f64,
    /// Whether the last choice had drafts.
    drafts: bool,
    /// Why the last choice had no drafts, if it had none.
    refused: Option<Refused>,
}

/// A few steps with other drafts.
#[derive(Debug, Clone, Copy)]
struct Probe {
    rival: Rival,
    left: u32,
}

/// Other drafts than those that seem best.
#[derive(Debug, Clone, Copy)]
enum Rival {
    /// A chain of this length for each row.
    Depth(usize),
    /// As many drafts as make a step that nobody has measured.
    Drafts(usize),
}

impl Rival {
    fn plan(self, base: &Plan, survivals: &[Vec<f64>], figures: &PolicyState) -> Plan {
        let depths = match self {
            Self::Depth(depth) => uniform(base, survivals, depth, MAX_WIDTH),
            Self::Drafts(count) => most_likely(base, survivals, MAX_AUTO_DEPTH, count),
        };
        Plan::new(depths, survivals, figures)
    }
}

/// Why there are no drafts.
#[derive(Debug, Clone, Copy)]
enum Refused {
    /// Even the best ones do not pay, by comparison with a step without drafts.
    NotPaying { drafts: usize, times_as_long: f64, times_as_many_tokens: f64 },
    /// They would cost rows that asked for none more than the tax.
    Taxed,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(PolicyState::default())
    }
}

impl Policy {
    /// A policy that goes on with what was learned before.
    pub fn new(figures: PolicyState) -> Self {
        Self {
            figures: figures.checked(),
            warm: [false; MAX_WIDTH + 1],
            probe: None,
            until_probe: FIRST_PROBE,
            interval: FIRST_PROBE,
            next_rival: 0,
            savings: 0.0,
            drafts: false,
            refused: None,
        }
    }

    /// What it has learned.
    pub fn state(&self) -> &PolicyState {
        &self.figures
    }

    /// Drafts for each row of the next step.
    pub(super) fn depths(&mut self, rows: &[RowView<'_>]) -> Vec<usize> {
        let base: Vec<usize> = rows.iter().map(RowView::fixed).collect();
        if rows.iter().all(|row| row.most() == row.fixed()) {
            return base;
        }
        let survivals: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| row.acceptance.survivals(&self.figures.accepted, row.most()).collect())
            .collect();
        let base = Plan::new(base, &survivals, &self.figures);
        if base.width() >= MAX_WIDTH {
            return base.depths;
        }
        // First what a step takes without drafts, then with the fewest.
        let taxed = rows.iter().any(|row| row.drafting == Drafting::Off);
        let Some(base_seconds) = base.seconds.filter(|_| self.figures.measured(base.width()).is_some())
        else {
            return base.depths;
        };
        let next_is_known = self.figures.measured(base.width() + 1).is_some();
        if !self.figures.knows_wider(base.width()) || (taxed && !next_is_known) {
            return uniform(&base, &survivals, 1, if taxed { 1 } else { MAX_WIDTH });
        }
        let most_seconds = if taxed { (1.0 + TAX) * base_seconds } else { f64::INFINITY };
        let best = best(&base, &survivals, MAX_AUTO_DEPTH, &self.figures, most_seconds);
        let chosen = self.choose(&base, best, taxed);
        match self.probe(&base, &chosen, &survivals, most_seconds) {
            Some(depths) => depths,
            None => chosen.depths,
        }
    }

    /// The best plan, if it promises enough.
    fn choose(&mut self, base: &Plan, best: Option<Plan>, taxed: bool) -> Plan {
        let rate = |plan: &Plan| plan.rate().unwrap_or(0.0);
        let pays = best.as_ref().is_some_and(|best| rate(best) > LEAST_GAIN * rate(base));
        if pays != self.drafts {
            (self.interval, self.until_probe) = (FIRST_PROBE, FIRST_PROBE);
        }
        self.drafts = pays;
        self.refused = match &best {
            Some(best) if !pays => Refused::new(base, best),
            None if taxed => Some(Refused::Taxed),
            _ => None,
        };
        best.filter(|_| pays).unwrap_or_else(|| base.clone())
    }

    /// Now and then another plan, so that figures do not grow old: as often as it can be afforded.
    fn probe(
        &mut self,
        base: &Plan,
        chosen: &Plan,
        survivals: &[Vec<f64>],
        most_seconds: f64,
    ) -> Option<Vec<usize>> {
        if self.probe.is_none() {
            self.until_probe = self.until_probe.saturating_sub(1);
            self.probe = self
                .unmeasured(base, chosen, survivals, most_seconds)
                .or_else(|| self.refresh(base, chosen, survivals, most_seconds));
        }
        let probe = self.probe.as_mut()?;
        let rival = probe.rival;
        probe.left -= 1;
        if probe.left == 0 {
            self.probe = None;
        }
        let plan = rival.plan(base, survivals, &self.figures);
        // Rows may have come since.
        plan.seconds.is_some_and(|seconds| seconds <= most_seconds).then_some(plan.depths)
    }

    /// A step halfway between two measured ones, where the time of the shorter one would make it the best: the times
    /// of a machine may have stairs, and lines between them do not show those.
    fn unmeasured(
        &mut self,
        base: &Plan,
        chosen: &Plan,
        survivals: &[Vec<f64>],
        most_seconds: f64,
    ) -> Option<Probe> {
        let measured: Vec<usize> =
            (base.width()..=MAX_WIDTH).filter(|&width| self.figures.measured(width).is_some()).collect();
        let rate = chosen.rate()?;
        let promising = measured.windows(2).find_map(|gap| {
            let halfway = gap[0].midpoint(gap[1]);
            let rival = Rival::Drafts(halfway - base.width());
            let plan = rival.plan(base, survivals, &self.figures);
            let depth = plan.depths.iter().copied().max()?;
            let least = self.figures.measured(gap[0])? + self.figures.draft_seconds(depth);
            let pays = plan.width() == halfway && plan.tokens / least > LEAST_GAIN * rate;
            (halfway > gap[0] && pays).then_some((rival, plan))
        });
        let (rival, plan) = promising?;
        self.afford(rival, &plan, rate, TRIAL_STEPS, most_seconds)
    }

    /// Another depth for all, when it is time.
    fn refresh(
        &mut self,
        base: &Plan,
        chosen: &Plan,
        survivals: &[Vec<f64>],
        most_seconds: f64,
    ) -> Option<Probe> {
        if self.until_probe > 0 {
            return None;
        }
        let order = (0..=MAX_AUTO_DEPTH).map(|i| (self.next_rival + i) % (MAX_AUTO_DEPTH + 1));
        let plans = order.map(|depth| (depth, Rival::Depth(depth).plan(base, survivals, &self.figures)));
        let (depth, plan) = plans.into_iter().find(|(_, plan)| plan.depths != chosen.depths)?;
        self.next_rival = depth + 1;
        let probe = self.afford(Rival::Depth(depth), &plan, chosen.rate()?, PROBE_STEPS, most_seconds);
        if probe.is_some() {
            self.interval = (self.interval * 2).min(LAST_PROBE);
            self.until_probe = self.interval;
        } else {
            // Another one may be cheaper.
            self.until_probe = FIRST_PROBE / 4;
        }
        probe
    }

    /// Pays for some steps with what the others saved up.
    fn afford(
        &mut self,
        rival: Rival,
        plan: &Plan,
        rate: f64,
        steps: u32,
        most_seconds: f64,
    ) -> Option<Probe> {
        let seconds = plan.seconds.filter(|&seconds| seconds <= most_seconds)?;
        let loss = f64::from(steps) * (seconds - plan.tokens / rate).max(0.0);
        if loss > self.savings {
            return None;
        }
        self.savings -= loss;
        Some(Probe { rival, left: steps })
    }

    /// Learns from a step.
    pub(super) fn observe(&mut self, step: &StepView<'_>) {
        for &(drafted, accepted) in step.drafts {
            self.figures.accepted.observe(drafted, accepted);
        }
        let seconds = step.took.as_secs_f64();
        self.savings = (self.savings + EXPLORATION * seconds).min(SAVINGS * seconds);
        if let Some(drafting) = step.drafting {
            // Such a step was held up, which makes it longer than others.
            return self.figures.observe_drafting(step.depth, drafting.as_secs_f64());
        }
        let warm = step.width > MAX_WIDTH || std::mem::replace(&mut self.warm[step.width], true);
        if warm && step.steady {
            self.figures.observe_step(step.width, step.depth, seconds);
        }
    }

    /// Why rows get no drafts; `None` while they do, or while that is being found out.
    pub(crate) fn note(&self) -> Option<String> {
        self.refused.map(|refused| refused.to_string())
    }

    /// Why `depth` drafts for a row by itself are slower than none; `None` where they are not, or where nobody knows.
    pub(crate) fn verdict(&self, depth: usize) -> Option<String> {
        let (plain, pass) = (self.figures.measured(1)?, self.figures.measured(1 + depth)?);
        let times_as_long = (pass + self.figures.draft_seconds(depth)) / plain;
        let model = &self.figures.accepted;
        let times_as_many_tokens = 1.0 + model.survivals(model, depth).sum::<f64>();
        let refused = Refused::NotPaying { drafts: depth, times_as_long, times_as_many_tokens };
        (times_as_long > times_as_many_tokens).then(|| refused.to_string())
    }
}

impl Refused {
    fn new(base: &Plan, best: &Plan) -> Option<Self> {
        Some(Self::NotPaying {
            drafts: best.drafts() - base.drafts(),
            times_as_long: best.seconds? / base.seconds?,
            times_as_many_tokens: best.tokens / base.tokens,
        })
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPaying { drafts, times_as_long, times_as_many_tokens } => write!(
                f,
                "Drafts do not pay here: a pass that checks {drafts} takes {times_as_long:.1} times as long as one \
                 without, and yields {times_as_many_tokens:.1} times the tokens."
            ),
            Self::Taxed => {
                write!(f, "Drafts were held back: they would slow down the replies beside this one.")
            }
        }
    }
}

/// `depth` drafts for each row that may have them, at most `most` more than `base`.
fn uniform(base: &Plan, survivals: &[Vec<f64>], depth: usize, most: usize) -> Vec<usize> {
    let mut left = most.min(MAX_WIDTH.saturating_sub(base.width()));
    let more = |(&fixed, chances): (&usize, &Vec<f64>)| {
        let more = depth.min(chances.len()).saturating_sub(fixed).min(left);
        left -= more;
        fixed + more
    };
    base.depths.iter().zip(survivals).map(more).collect()
}

#[cfg(test)]
mod tests;
