//! How many drafts pay.
//!
//! What is maximised: the expected tokens per second of the next step over all rows, none drafted included, by what
//! steps of each width take (`cost`) and how often drafts are right at each position (`acceptance`).
//!
//! - Costs are measured when a model is loaded (`measure`). A step corrects them only by comparison with the steps
//!   before it, so a machine that is slow for a while changes none. What differs a little moves a figure a little, and
//!   what differs much must come several times in a row, so a slow step decides nothing.
//! - Acceptance is learned in each chat; what is expected of a new one is the model's.
//! - Every step that differs from the best known one is a *probe* (`explorer`). Probes lose a small share of the time.
//!   When the machine turns out not to be what it was when the costs were measured, all candidates are probed again, a
//!   few times at once and then rarely, and each figure counts for one measurement.
//! - Rows whose requests switched drafts off pay at most `MAX_BYSTANDER_SLOWDOWN` of each step for those of others,
//!   probes included.
//! - A row that asks for a fixed depth gets it as long as all rows beside it ask for one too. In other company it gets
//!   what stays within `MAX_BYSTANDER_SLOWDOWN`, and up to its depth what pays.

mod acceptance;
mod chats;
mod choice;
mod cost;
mod explorer;
mod outcome;
mod state;

use std::time::Duration;

use foretoken_protocol::Drafting;

use acceptance::DEPTHS;
pub use chats::Chat;
use chats::Chats;
use choice::{Plan, best, one_less, one_more};
use cost::{MAX_WIDTH, Speed};
use explorer::Explorer;
use outcome::Outcome;
pub use state::PolicyState;

/// What drafts may cost rows that did not ask for them: this much of a step.
const MAX_BYSTANDER_SLOWDOWN: f64 = 0.10;

/// A row as the policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct RowView {
    /// What its request asks for.
    pub drafting: Drafting,
    /// The most drafts that it can use now.
    pub room: usize,
    /// Where it belongs.
    pub chat: Chat,
}

impl RowView {
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
pub struct StepView<'a> {
    /// Chat, drafts verified and drafts accepted, by row.
    pub rows: &'a [(Chat, usize, usize)],
    /// Tokens that went through the model.
    pub width: usize,
    /// The longest chain.
    pub depth: usize,
    /// The whole step, without the reading of prompts before it; `None` where it was held up to time its parts.
    pub took: Option<Duration>,
}

/// Chooses how many drafts each row gets in each step.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    figures: PolicyState,
    chats: Chats,
    speed: Speed,
    explorer: Explorer,
    /// What became of drafts in the last choice.
    outcome: Outcome,
}

impl Policy {
    /// A policy that goes on with what was learned before.
    pub fn new(figures: PolicyState) -> Self {
        Self { figures, ..Self::default() }
    }

    /// What it has learned.
    pub fn state(&self) -> &PolicyState {
        &self.figures
    }

    /// Goes on with other figures; what is known of chats stays.
    pub fn set_state(&mut self, figures: PolicyState) {
        (self.figures, self.speed) = (figures, Speed::default());
    }

    /// Steps that it made others than the best known ones.
    pub fn probes(&self) -> u64 {
        self.explorer.probes()
    }

    /// The chat that a request belongs to.
    pub fn join(&mut self, prompt: &[u32], message_starts: &[usize]) -> Chat {
        self.chats.join(prompt, message_starts)
    }

    /// Drafts for each row of the next step.
    pub fn depths(&mut self, rows: &[RowView]) -> Vec<usize> {
        let fixed: Vec<usize> = rows.iter().map(RowView::fixed).collect();
        let is_fixed = |row: &RowView| matches!(row.drafting, Drafting::Fixed { .. });
        if rows.iter().all(|row| row.most() == 0) {
            // Nothing to choose, as in a reply's last step: what was said of the choice before still holds.
            return fixed;
        }
        self.outcome = Outcome::Open;
        if rows.iter().all(is_fixed) {
            return fixed;
        }
        let PolicyState { cost, accepted } = &self.figures;
        let survivals: Vec<Vec<f64>> =
            rows.iter().map(|row| self.chats.acceptance(row.chat).survivals(accepted, row.most())).collect();
        let none = vec![0; rows.len()];
        let Some(plain) = Plan::new(none.clone(), &survivals, cost).filter(|plain| plain.width() < MAX_WIDTH)
        else {
            return none;
        };

        let bystander_limit = (1.0 + MAX_BYSTANDER_SLOWDOWN) * plain.seconds;
        let has_off = rows.iter().any(|row| row.drafting == Drafting::Off);
        let most_seconds = if has_off { bystander_limit } else { f64::INFINITY };
        let deepest = fixed.iter().copied().max().unwrap_or(0);
        let base = (1..=deepest)
            .rev()
            .filter_map(|cap| Plan::new(fixed.iter().map(|&k| k.min(cap)).collect(), &survivals, cost))
            .find(|plan| plan.seconds <= bystander_limit)
            .unwrap_or_else(|| plain.clone());
        let best = best(&base, &survivals, cost, most_seconds);
        self.outcome = match &best {
            Some(best) => Outcome::of(&base, best),
            None if has_off => Outcome::HeldForBystanders,
            None => Outcome::Open,
        };
        let (chosen, candidates) = match best {
            Some(best) if best.rate() > base.rate() => {
                let less = one_less(&best, &base, &survivals, cost).filter(|less| *less != base);
                let more = one_more(&best, &survivals, cost).filter(|more| more.seconds <= most_seconds);
                (best, [Some(base), less, more])
            }
            refused => {
                let first = one_more(&base, &survivals, cost)
                    .filter(|first| first.seconds <= most_seconds && refused.as_ref() != Some(first));
                (base, [None, refused, first])
            }
        };
        self.explorer.next(candidates, &chosen).unwrap_or(chosen).depths
    }

    /// Learns from a step.
    pub fn observe(&mut self, step: &StepView<'_>) {
        let PolicyState { cost, accepted } = &mut self.figures;
        for &(chat, drafted, right) in step.rows {
            accepted.observe(drafted, right);
            self.chats.observe(chat, drafted, right);
        }
        let tokens = step.rows.iter().map(|(_, _, right)| 1 + right).sum();
        let took = step.took.map(|took| took.as_secs_f64());
        let told = self.speed.observe(cost, step.width, step.depth, took);
        self.explorer.observe(tokens, told);
    }

    /// Why a row gets no drafts, or `None` while that is being found out. `drafted`: whether it does get them.
    pub(crate) fn note(&self, drafted: bool) -> Option<String> {
        if drafted { None } else { self.outcome.why_not() }
    }
}

#[cfg(test)]
mod tests;
