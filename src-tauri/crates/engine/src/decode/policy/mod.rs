//! How many drafts pay.
//!
//! What is maximised: the expected tokens per second of the next step over all rows, none drafted included, by what
//! steps of each width take now (`cost`) and how often drafts are right at each position (`acceptance`). Drafts
//! begin where they promise `LEAST_GAIN`, and end where they promise no gain at all.
//!
//! What bounds the price of finding out:
//! - Plain steps are measured before anything else. While drafts are in use, every `PLAIN_INTERVAL` steps at the
//!   latest one does without them; that alone can cost at most one step's time in so many.
//! - Every other step that differs from the best known one is a *look*. Looks lose at most `FIRST_SAVINGS` plain
//!   steps plus `EXPLORATION` of the time; one that costs more than expected keeps the next ones waiting.
//! - A look comes after `FIRST_LOOK` steps, then after twice as many each time up to `LAST_LOOK`, and from the
//!   start again once anything has changed.
//! - Rows whose requests switched drafts off pay at most `TAX` of each step for those of others, and looks at steps
//!   that may be longer lose by the time those rows lose, whatever others gain.
//! - A row that asks for a fixed depth gets it as long as all rows beside it ask for one too. In other company it gets
//!   what stays within the tax, and up to its depth what pays.
//!
//! What bounds how long an old figure misleads: a figure in use that three steps in a row contradict is replaced, all
//! others are scaled with it and measured again before they are trusted. A change that shows only without drafts shows
//! after `PLAIN_INTERVAL` steps, one that shows only with drafts at the next look.

mod acceptance;
mod choice;
mod cost;
mod looks;
mod state;

use std::fmt;
use std::time::Duration;

use foretoken_protocol::Drafting;

pub(super) use acceptance::Acceptance;
use acceptance::DEPTHS;
use choice::{Plan, best};
use cost::MAX_WIDTH;
use looks::Looks;
pub use state::PolicyState;

/// Drafts must promise this much more than none to begin with them.
const LEAST_GAIN: f64 = 1.03;
/// What drafts may cost rows that did not ask for them: this much of a step.
const TAX: f64 = 0.10;
/// Steps with drafts after which one without is made, so that the comparison holds.
const PLAIN_INTERVAL: u64 = 24;

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
    /// Drafts that it asks for.
    fn fixed(&self) -> usize {
        match self.drafting {
            Drafting::Fixed { depth } => usize::from(depth).min(self.room),
            Drafting::Off | Drafting::Auto => 0,
        }
    }

    /// The most drafts that it may get.
    fn most(&self) -> usize {
        match self.drafting {
            Drafting::Auto => self.room.min(DEPTHS),
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
    /// The whole step, without the reading of prompts before it.
    pub(super) took: Duration,
    /// Waiting for the drafts alone, where the step was held up to learn it.
    pub(super) drafting: Option<Duration>,
}

/// Chooses how many drafts each row gets in each step.
#[derive(Debug, Clone)]
pub struct Policy {
    figures: PolicyState,
    /// Widths that were ever used: the first step of one may compile kernels and is not counted.
    warm: [bool; MAX_WIDTH + 1],
    looks: Looks,
    /// Whether the step at hand is another than the best known one.
    looking: bool,
    /// Whether the last choice had drafts.
    drafts: bool,
    /// Why the last choice had no drafts, if it had none.
    refused: Option<Refused>,
}

/// Why there are no drafts.
#[derive(Debug, Clone, Copy)]
enum Refused {
    /// Even the best ones do not pay, by comparison with a step without drafts.
    NotPaying { drafts: usize, times_as_long: f64, times_as_many_tokens: f64 },
    /// They would cost rows that asked for none more than the tax.
    Taxed,
    /// Those of other rows pay more.
    OthersFirst,
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
            looks: Looks::default(),
            looking: false,
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
        self.looking = false;
        let fixed: Vec<usize> = rows.iter().map(RowView::fixed).collect();
        let is_fixed = |row: &RowView<'_>| matches!(row.drafting, Drafting::Fixed { .. });
        if rows.iter().all(|row| row.most() == 0) {
            // Nothing to choose, as in a reply's last step: what was said of the choice before still holds.
            return fixed;
        }
        self.refused = None;
        if rows.iter().all(is_fixed) {
            return fixed;
        }
        let survivals: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| row.acceptance.survivals(&self.figures.accepted, row.most()).collect())
            .collect();
        let cost = &self.figures.cost;
        let plain = Plan::new(vec![0; rows.len()], &survivals, cost);
        let Some(plain_seconds) =
            plain.seconds.filter(|_| plain.width() < MAX_WIDTH && cost.is_trusted(plain.width()))
        else {
            self.looking = self.drafts;
            return plain.depths;
        };

        let taxed = (1.0 + TAX) * plain_seconds;
        let base = within(taxed, &fixed, &survivals, cost).unwrap_or_else(|| plain.clone());
        let has_off = rows.iter().any(|row| row.drafting == Drafting::Off);
        let most_seconds = if has_off { taxed } else { f64::INFINITY };
        let best = best(&base, &survivals, cost, most_seconds);
        let chosen = self.choose(&base, best, has_off);
        let cost = &self.figures.cost;
        let plain_is_due = cost.is_odd(plain.width()) || cost.age(plain.width()) >= PLAIN_INTERVAL;
        if chosen.drafts() > 0 && plain_is_due {
            self.looking = true;
            return plain.depths;
        }
        let scene = looks::Scene {
            plain: &plain,
            base: &base,
            chosen: &chosen,
            survivals: &survivals,
            most_seconds,
            cost: &self.figures.cost,
        };
        match self.looks.next(&scene) {
            Some(depths) => {
                self.looking = true;
                depths
            }
            None => chosen.depths,
        }
    }

    /// The best plan, if it promises enough.
    fn choose(&mut self, base: &Plan, best: Option<Plan>, taxed: bool) -> Plan {
        let rate = |plan: &Plan| plan.rate().unwrap_or(0.0);
        let least = if self.drafts { 1.0 } else { LEAST_GAIN };
        let pays = best.as_ref().is_some_and(|best| rate(best) > least * rate(base));
        let chosen = match best {
            Some(best) if pays => best,
            Some(best) => {
                self.refused = Refused::new(base, &best);
                base.clone()
            }
            None => {
                self.refused = taxed.then_some(Refused::Taxed);
                base.clone()
            }
        };
        if pays != self.drafts {
            self.drafts = pays;
            self.looks.begin_again();
        }
        chosen
    }

    /// Learns from a step.
    pub(super) fn observe(&mut self, step: &StepView<'_>) {
        for &(drafted, accepted) in step.drafts {
            self.figures.accepted.observe(drafted, accepted);
        }
        self.looks.observe(step.drafts, step.took.as_secs_f64());
        let cost = &mut self.figures.cost;
        cost.tick();
        if let Some(drafting) = step.drafting {
            // Such a step was held up, which makes it longer than others.
            return cost.observe_drafting(step.depth, drafting.as_secs_f64());
        }
        let warm = step.width > MAX_WIDTH || std::mem::replace(&mut self.warm[step.width], true);
        if warm && cost.observe_step(step.width, step.depth, step.took.as_secs_f64(), !self.looking) {
            self.looks.begin_again();
        }
    }

    /// Why a row gets no drafts, or `None` while that is being found out. `drafted`: whether it does get them.
    pub(crate) fn note(&self, drafted: bool) -> Option<String> {
        let refused = self.refused.or(self.drafts.then_some(Refused::OthersFirst));
        refused.filter(|_| !drafted).map(|refused| refused.to_string())
    }

    /// Why `depth` drafts for a row by itself are slower than none; `None` where they are not, or where nobody knows.
    pub(crate) fn verdict(&self, depth: usize) -> Option<String> {
        let PolicyState { cost, accepted } = &self.figures;
        let is_known = |width| cost.known(width).next() == Some(width);
        if !is_known(1) || !is_known(1 + depth) {
            return None;
        }
        let times_as_long = (cost.estimated(1 + depth)? + cost.draft_seconds(depth)) / cost.estimated(1)?;
        let times_as_many_tokens = 1.0 + accepted.survivals(accepted, depth).sum::<f64>();
        let refused = Refused::NotPaying { drafts: depth, times_as_long, times_as_many_tokens };
        (times_as_long > times_as_many_tokens).then(|| refused.to_string())
    }
}

/// The drafts that rows ask for, as deep as a step of `most_seconds` allows; `None` if not even one each.
fn within(most_seconds: f64, fixed: &[usize], survivals: &[Vec<f64>], cost: &cost::Cost) -> Option<Plan> {
    let deepest = fixed.iter().copied().max().unwrap_or(0);
    let plans = (1..=deepest)
        .rev()
        .map(|cap| Plan::new(fixed.iter().map(|&depth| depth.min(cap)).collect(), survivals, cost));
    plans
        .into_iter()
        .find(|plan| plan.is_known(cost) && plan.seconds.is_some_and(|seconds| seconds <= most_seconds))
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
            Self::OthersFirst => {
                write!(f, "Drafts were held back: those of the replies beside this one are right more often.")
            }
        }
    }
}

#[cfg(test)]
mod tests;
