//! How many drafts pay.
//!
//! What is maximised: the expected tokens per second of the next step over all rows, none drafted included, by what
//! steps of each width take (`cost`) and how often drafts are right at each position (`acceptance`).
//!
//! - Costs are measured when a model is loaded (`measure`). A step corrects them only by comparison with the steps
//!   before it, so a machine that is slow for a while changes none. What differs a little moves a figure a little, and
//!   what differs much must come several times in a row, so a slow step decides nothing.
//! - Acceptance is learned in each chat; what is expected of a new one is the model's.
//! - A row has one drafter in a step: the MTP head, or look-up in its text, whichever would gain more. What look-up
//!   proposes is judged by every step, used or not, so its acceptance is known without probes.
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

use foretoken_protocol::{Drafting, MAX_DEPTH};

use acceptance::Source;
pub use chats::Chat;
use chats::Chats;
use choice::{Chain, Plan, best, one_less, one_more};
use cost::{MAX_WIDTH, Speed};
use explorer::Explorer;
use outcome::Outcome;
pub use state::PolicyState;

use super::lookup::{LookupVerdict, MatchClass};
use super::plan::{DraftPlan, DrafterKind};

/// What drafts may cost rows that did not ask for them: this much of a step.
const MAX_BYSTANDER_SLOWDOWN: f64 = 0.10;

/// A row as the policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct RowView {
    /// What its request asks for.
    pub drafting: Drafting,
    /// The most drafts that it can use now.
    pub room: usize,
    /// Whether the MTP head has what it drafts from.
    pub head: bool,
    /// What kind of an earlier occurrence of its last tokens look-up found, and how many tokens it proposes.
    pub lookup: Option<(MatchClass, usize)>,
    /// Where it belongs.
    pub chat: Chat,
}

impl RowView {
    /// Drafts that it asks for.
    fn fixed(&self) -> usize {
        match self.drafting {
            Drafting::Fixed { depth } if self.head => usize::from(depth).min(self.room),
            _ => 0,
        }
    }

    /// Who may draft for it, and the most drafts that it may get of each.
    fn sources(&self) -> impl Iterator<Item = (Source, usize)> {
        let head = match self.drafting {
            Drafting::Auto | Drafting::Mtp if self.head => self.room.min(usize::from(MAX_DEPTH)),
            _ => self.fixed(),
        };
        let lookup = self.lookup.filter(|_| self.drafting.looks_up());
        let lookup = lookup.map(|(class, proposed)| (Source::Lookup(class), self.room.min(proposed)));
        [Some((Source::Head, head)), lookup].into_iter().flatten().filter(|&(_, most)| most > 0)
    }
}

/// What a step did for a row.
#[derive(Debug, Clone, Copy)]
pub struct RowOutcome {
    /// Where the row belongs.
    pub chat: Chat,
    /// The drafts that were verified.
    pub drafts: DraftPlan,
    /// Those that were accepted.
    pub accepted: usize,
    /// How look-up did, or would have done.
    pub lookup: Option<LookupVerdict>,
}

/// What a step did, as the policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct StepView<'a> {
    /// By row.
    pub rows: &'a [RowOutcome],
    /// Tokens that went through the model.
    pub width: usize,
    /// The longest chain of the head.
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
    /// What became of the head's drafts in the last choice that was about them.
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

    /// Who drafts how many tokens for each row of the next step.
    pub fn choose(&mut self, rows: &[RowView]) -> Vec<DraftPlan> {
        let fixed: Vec<usize> = rows.iter().map(RowView::fixed).collect();
        let is_fixed = |row: &RowView| matches!(row.drafting, Drafting::Fixed { .. });
        if rows.iter().all(|row| row.sources().next().is_none()) {
            // Nothing to choose, as in a reply's last step: what was said of the choice before still holds.
            self.explorer.plain_step();
            return fixed.into_iter().map(DraftPlan::from).collect();
        }
        if rows.iter().all(is_fixed) {
            self.outcome = Outcome::Open;
            return fixed.into_iter().map(DraftPlan::from).collect();
        }
        let chains: Vec<Chain> = rows.iter().map(|row| self.chain(row)).collect();
        let depths = self.depths(rows, &fixed, &chains);
        let plan = |(chain, depth): (&Chain, usize)| DraftPlan { drafter: chain.drafter, depth };
        chains.iter().zip(depths).map(plan).collect()
    }

    /// The drafts that a row may get: of all drafters the one whose would gain most if it were alone.
    fn chain(&self, row: &RowView) -> Chain {
        let PolicyState { cost, records } = &self.figures;
        let own = self.chats.records(row.chat);
        let mut chains = row.sources().map(|(source, most)| Chain {
            drafter: source.drafter(),
            survivals: own.survivals(records, source, most),
        });
        let Some(first) = chains.next() else { return Chain::none() };
        let rate = |chain: &Chain| {
            let alone = std::slice::from_ref(chain);
            let plain = Plan::new(vec![0], alone, cost)?;
            best(&plain, alone, cost, f64::INFINITY).map(|best| best.rate())
        };
        chains.fold(first, |best, other| if rate(&other) > rate(&best) { other } else { best })
    }

    /// The drafts for each row of the next step, where a row may have those of its chain and gets those that it asks
    /// for.
    fn depths(&mut self, rows: &[RowView], fixed: &[usize], chains: &[Chain]) -> Vec<usize> {
        let cost = &self.figures.cost;
        let none = vec![0; rows.len()];
        let Some(plain) = Plan::new(none.clone(), chains, cost).filter(|plain| plain.width() < MAX_WIDTH)
        else {
            self.outcome = Outcome::Open;
            return none;
        };

        let bystander_limit = (1.0 + MAX_BYSTANDER_SLOWDOWN) * plain.seconds;
        let has_off = rows.iter().any(|row| row.drafting == Drafting::Off);
        let most_seconds = if has_off { bystander_limit } else { f64::INFINITY };
        let deepest = fixed.iter().copied().max().unwrap_or(0);
        let base = (1..=deepest)
            .rev()
            .filter_map(|cap| Plan::new(fixed.iter().map(|&k| k.min(cap)).collect(), chains, cost))
            .find(|plan| plan.seconds <= bystander_limit)
            .unwrap_or_else(|| plain.clone());
        let best = best(&base, chains, cost, most_seconds);
        // People are told why the head does not draft; whether looked-up drafts pay tells nothing about that.
        let is_of_head = |chain: &Chain| chain.drafter == DrafterKind::Head && !chain.survivals.is_empty();
        if chains.iter().any(is_of_head) {
            let of_head = |chain: &Chain| if is_of_head(chain) { chain.clone() } else { Chain::none() };
            let of_head: Vec<Chain> = chains.iter().map(of_head).collect();
            self.outcome = match choice::best(&base, &of_head, cost, most_seconds) {
                Some(best) => Outcome::of(&base, &best),
                None if has_off => Outcome::HeldForBystanders,
                None => Outcome::Open,
            };
        }
        let (chosen, candidates) = match best {
            Some(best) if best.rate() > base.rate() => {
                let less = one_less(&best, &base, chains, cost).filter(|less| *less != base);
                let more = one_more(&best, chains, cost).filter(|more| more.seconds <= most_seconds);
                (best, [Some(base), less, more])
            }
            refused => {
                let first = one_more(&base, chains, cost)
                    .filter(|first| first.seconds <= most_seconds && refused.as_ref() != Some(first));
                (base, [None, refused, first])
            }
        };
        self.explorer.next(candidates, &chosen).unwrap_or(chosen).depths
    }

    /// Learns from a step.
    pub fn observe(&mut self, step: &StepView<'_>) {
        let PolicyState { cost, records } = &mut self.figures;
        for &RowOutcome { chat, drafts, accepted, lookup } in step.rows {
            let of_head = if drafts.drafter == DrafterKind::Head { drafts.depth } else { 0 };
            let lookup = lookup.map(|verdict| (Source::Lookup(verdict.class), verdict.judged, verdict.right));
            for (source, judged, right) in [(Source::Head, of_head, accepted)].into_iter().chain(lookup) {
                records.of_mut(source).observe(judged, right);
                self.chats.observe(chat, source, judged, right);
            }
        }
        let tokens = step.rows.iter().map(|row| 1 + row.accepted).sum();
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
