//! How many drafts pay.
//!
//! What is maximised: the expected tokens per second of the next step over all rows, none drafted included, by what
//! steps of each width take (`cost`) and how often drafts are right at each position (`acceptance`).
//!
//! - Costs are measured when a model is loaded (`measure`). A step corrects them only by comparison with the steps
//!   before it, so a machine that is slow for a while changes none. What differs a little moves a figure a little, and
//!   what differs much must come several times in a row, so a slow step decides nothing.
//! - Acceptance is learned in each chat; what is expected of a new one is the model's.
//! - A row has one drafter in a step: the MTP head, the draft model, or look-up in its text, whichever would gain most.
//!   What look-up proposes is judged by every step, used or not, so its acceptance is known without probes. Of
//!   the other two, the one that is not chosen is probed while the other drafts.
//! - Every step that differs from the best known one is a *probe* (`explorer`). Probes lose a small share of the time.
//!   When the machine turns out not to be what it was when the costs were measured, all candidates are probed again, a
//!   few times at once and then rarely, and each figure counts for one measurement.
//! - While no drafts pay, drafting is *parked*: plain steps are told beforehand, so that a GPU has the next one before
//!   the last is read. Drafts are then compared with what such steps take; a choice that comes in between waits a step.
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

use std::collections::BTreeMap;
use std::time::Duration;

use foretoken_protocol::{Drafting, DraftingNote, MAX_DEPTH};

use acceptance::Source;
pub use chats::Chat;
use chats::Chats;
use choice::{Chain, Plan, best, one_less, one_more};
use cost::Speed;
use explorer::{Explorer, PAUSE};
use outcome::Outcome;
pub use state::PolicyState;

use super::lookup::{LookupVerdict, MatchClass};
use super::plan::{DraftPlan, DrafterKind, MAX_CHAIN, MAX_WIDTH, StepShape};

/// What drafts may cost rows that did not ask for them: this much of a step.
const MAX_BYSTANDER_SLOWDOWN: f64 = 0.10;
/// Steps without drafts, and without an earlier occurrence to draft from, after which drafting is parked.
const PARKED: u32 = 6;
/// Weight of a measurement of steps that are told beforehand, and the least that they take of what others do.
const AHEAD: (f64, f64) = (0.1, 0.5);

/// A row as the policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct RowView {
    /// What its request asks for.
    pub drafting: Drafting,
    /// The most drafts that it can use now.
    pub room: usize,
    /// The most drafts of the MTP head that are worth a choice; 0 where it has nothing to draft from.
    pub head: usize,
    /// The most drafts that the draft model can guess for it now; 0 where there is none.
    pub block: usize,
    /// What kind of an earlier occurrence of its last tokens look-up found, and how many tokens it proposes.
    pub lookup: Option<(MatchClass, usize)>,
    /// Where it belongs.
    pub chat: Chat,
}

impl RowView {
    /// The drafts that it asks for, where it asks for a number of them.
    fn fixed(&self) -> Option<(Source, usize)> {
        let (source, depth, most) = match self.drafting {
            Drafting::Fixed { depth } => (Source::Head, depth, if self.head > 0 { self.room } else { 0 }),
            Drafting::Dflash { depth: Some(depth) } => (Source::Dflash, depth, self.block),
            Drafting::Off
            | Drafting::Auto
            | Drafting::Mtp
            | Drafting::Dflash { depth: None }
            | Drafting::Lookup => return None,
        };
        Some((source, usize::from(depth).min(most).min(MAX_CHAIN)))
    }

    /// How many that is.
    fn fixed_depth(&self) -> usize {
        self.fixed().map_or(0, |(_, depth)| depth)
    }

    /// Who may draft for it, and the most drafts that it may get of each.
    fn sources(&self) -> impl Iterator<Item = (Source, usize)> {
        let of_head = self.room.min(self.head).min(MAX_DEPTH.into());
        let head = matches!(self.drafting, Drafting::Auto | Drafting::Mtp).then_some((Source::Head, of_head));
        let block = matches!(self.drafting, Drafting::Auto | Drafting::Dflash { depth: None })
            .then_some((Source::Dflash, self.block));
        let lookup = self.lookup.filter(|_| self.drafting.looks_up());
        let lookup = lookup.map(|(class, proposed)| (Source::Lookup(class), self.room.min(proposed)));
        let sources = [self.fixed(), head, block, lookup].into_iter().flatten();
        sources.map(|(source, most)| (source, most.min(MAX_CHAIN))).filter(|&(_, most)| most > 0)
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
    /// What it went through.
    pub shape: StepShape,
    /// The whole step, without the reading of prompts before it; `None` where it was held up to time its parts.
    pub took: Option<Duration>,
    /// Whether a drafter first read what many steps without it had left unread.
    pub caught_up: bool,
    /// Whether steps of other rows were under way when it was chosen, so that nothing was probed.
    pub in_company: bool,
    /// The whole step where the device had it before the last one was read, and the next one before it was.
    pub pipelined: Option<Duration>,
}

/// What drafts are added to, and how long the step may then take.
struct Bounds {
    /// No drafts, or those that rows ask for a number of.
    base: Plan,
    most_seconds: f64,
}

/// Chooses how many drafts each row gets in each step.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    figures: PolicyState,
    chats: Chats,
    speed: Speed,
    explorer: Explorer,
    /// What became of drafts of the head and of the draft model in the last choice that was about them.
    outcome: Outcome,
    /// Steps without drafts so far.
    plain_steps: u32,
    /// Whether the rows at hand could have their next plain step told beforehand.
    can_be_told: bool,
    /// Whether steps of other rows are under way.
    in_company: bool,
    /// Time of such a step as a share of what it takes otherwise, by the number of rows.
    ahead: BTreeMap<usize, f64>,
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
        self.ahead.clear();
    }

    /// Steps that it made others than the best known ones.
    pub fn probes(&self) -> u64 {
        self.explorer.probes()
    }

    /// The chat that a request belongs to.
    pub fn join(&mut self, prompt: &[u32], message_starts: &[usize]) -> Chat {
        self.chats.join(prompt, message_starts)
    }

    /// Says whether the device could have the next step of the rows at hand before this one is read, if that is plain.
    pub fn set_can_be_told(&mut self, can_be_told: bool) {
        self.can_be_told = can_be_told;
    }

    /// Says whether steps of other rows are under way. Then a step tells nothing of what it costs, and nothing is
    /// probed.
    pub fn set_in_company(&mut self, in_company: bool) {
        self.in_company = in_company;
    }

    /// What a plain step of so many rows takes that is told beforehand, as a share of another.
    fn share(&self, rows: usize) -> f64 {
        if self.can_be_told { self.ahead.get(&rows).copied().unwrap_or(1.0) } else { 1.0 }
    }

    /// Who drafts how many tokens for each row of the next step.
    pub fn choose(&mut self, rows: &[RowView]) -> Vec<DraftPlan> {
        let plans = self.plans(rows);
        let is_plain =
            plans.iter().all(|plan| plan.depth == 0) && rows.iter().all(|row| row.lookup.is_none());
        // A probe where nothing pays tells whether it still does not.
        if !(self.explorer.is_probing() && matches!(self.outcome, Outcome::NotPaying { .. })) {
            self.plain_steps = if is_plain { self.plain_steps.saturating_add(1) } else { 0 };
        }
        plans
    }

    /// The next step has begun without drafts, as it was told: those that were chosen for it come a step later.
    pub fn defer(&mut self, plans: &mut [DraftPlan]) {
        if plans.iter().any(|plan| plan.depth > 0) {
            plans.iter_mut().for_each(|plan| plan.depth = 0);
            self.explorer.defer();
            self.plain_steps = 0;
        }
    }

    /// Whether the step behind the one at hand has no drafts either.
    pub fn is_parked(&self) -> bool {
        self.plain_steps >= PARKED && !self.explorer.waits()
    }

    fn plans(&mut self, rows: &[RowView]) -> Vec<DraftPlan> {
        let as_asked = || {
            let none = || DraftPlan::from(0);
            let plan = |(source, depth): (Source, usize)| DraftPlan { drafter: source.drafter(), depth };
            rows.iter().map(|row| row.fixed().map_or_else(none, plan)).collect()
        };
        if rows.iter().all(|row| row.sources().next().is_none()) {
            // Nothing to choose, as in a reply's last step: what was said of the choice before still holds.
            self.explorer.plain_step();
            return as_asked();
        }
        if rows.iter().all(|row| row.fixed().is_some()) {
            self.outcome = Outcome::Open;
            return as_asked();
        }
        let own: Vec<(Chain, Option<Chain>)> = rows.iter().map(|row| self.chains(row)).collect();
        let fixed: Vec<usize> = rows.iter().map(RowView::fixed_depth).collect();
        let has_off = rows.iter().any(|row| row.drafting == Drafting::Off);
        let (chains, others) = self.assign(own, &fixed, has_off).into_iter().unzip();
        self.plan(&fixed, chains, others, has_off)
    }

    /// Whose drafts each row may get, and whose else. Rows share the passes of head and draft model, so where several
    /// could have either, each gets its own choice, all get the head's, or all get the draft model's, whichever yields
    /// most together.
    fn assign(
        &self,
        own: Vec<(Chain, Option<Chain>)>,
        fixed: &[usize],
        has_off: bool,
    ) -> Vec<(Chain, Option<Chain>)> {
        let kinds = [DrafterKind::Head, DrafterKind::Dflash];
        let could = |kind| own.iter().any(|(best, other)| other.is_some() && best.drafter == kind);
        if !kinds.into_iter().all(could) {
            return own;
        }
        let all_by = |kind| {
            let swap = |(best, other): &(Chain, Option<Chain>)| match other {
                Some(other) if other.drafter == kind => (other.clone(), Some(best.clone())),
                _ => (best.clone(), other.clone()),
            };
            own.iter().map(swap).collect::<Vec<_>>()
        };
        let rate = |assigned: &[(Chain, Option<Chain>)]| {
            let chains: Vec<Chain> = assigned.iter().map(|(chain, _)| chain.clone()).collect();
            let Bounds { base, most_seconds } = self.bounds(fixed, &chains, has_off)?;
            let best = best(&base, &chains, &self.figures.cost, most_seconds);
            Some(best.map_or(base.rate(), |best| best.rate().max(base.rate())))
        };
        let together = kinds.map(all_by);
        let candidates = std::iter::once(own).chain(together).map(|assigned| (rate(&assigned), assigned));
        // Of equals the first.
        let better = |best: (Option<f64>, Vec<_>), next: (Option<f64>, Vec<_>)| {
            if next.0 > best.0 { next } else { best }
        };
        candidates.reduce(better).map_or_else(Vec::new, |(_, assigned)| assigned)
    }

    /// What a choice of drafts for rows with these chains starts from; `None` where there is none to make.
    fn bounds(&self, fixed: &[usize], chains: &[Chain], has_off: bool) -> Option<Bounds> {
        let cost = &self.figures.cost;
        let plain =
            Plan::new(&vec![0; chains.len()], chains, cost).filter(|plain| plain.width() < MAX_WIDTH)?;
        let plain = Plan { seconds: self.share(chains.len()) * plain.seconds, ..plain };
        let bystander_limit = (1.0 + MAX_BYSTANDER_SLOWDOWN) * plain.seconds;
        let deepest = fixed.iter().copied().max().unwrap_or(0);
        let base = (1..=deepest)
            .rev()
            .filter_map(|cap| Plan::new(&fixed.iter().map(|&k| k.min(cap)).collect::<Vec<_>>(), chains, cost))
            .find(|plan| plan.seconds <= bystander_limit)
            .unwrap_or(plain);
        Some(Bounds { base, most_seconds: if has_off { bystander_limit } else { f64::INFINITY } })
    }

    /// The drafts that a row may get: of all drafters the one whose would gain most if it were alone; and the other of
    /// the head and the draft model, where it is one of them and both can draft.
    fn chains(&self, row: &RowView) -> (Chain, Option<Chain>) {
        let PolicyState { cost, records } = &self.figures;
        let own = self.chats.records(row.chat);
        let mut chains: Vec<Chain> = row
            .sources()
            .map(|(source, most)| Chain {
                drafter: source.drafter(),
                survivals: own.survivals(records, source, most),
            })
            .collect();
        let rate = |chain: &Chain| {
            let alone = std::slice::from_ref(chain);
            let best =
                Plan::new(&[0], alone, cost).and_then(|plain| best(&plain, alone, cost, f64::INFINITY));
            best.map_or(0.0, |best| best.rate())
        };
        // Of equals the first.
        let rates = chains.iter().map(rate).enumerate();
        let Some((best, _)) = rates.reduce(|best, other| if other.1 > best.1 { other } else { best }) else {
            return (Chain::none(), None);
        };
        let best = chains.remove(best);
        let is_probed =
            |chain: &Chain| best.drafter != DrafterKind::Lookup && chain.drafter != DrafterKind::Lookup;
        let other = chains.into_iter().find(is_probed);
        (best, other)
    }

    /// The drafts of each row of the next step, where a row may have those of its chain and gets those that it asks
    /// for. `others`: chains of other drafters, to be probed.
    fn plan(
        &mut self,
        fixed: &[usize],
        chains: Vec<Chain>,
        others: Vec<Option<Chain>>,
        has_off: bool,
    ) -> Vec<DraftPlan> {
        let chains = &chains[..];
        let Some(Bounds { base, most_seconds }) = self.bounds(fixed, chains, has_off) else {
            self.outcome = Outcome::Open;
            return chains.iter().map(|_| DraftPlan::from(0)).collect();
        };
        let plain_seconds = base.seconds;
        let cost = &self.figures.cost;
        let best = best(&base, chains, cost, most_seconds);
        // People are told why the head or the draft model does not draft; whether looked-up drafts pay tells nothing
        // about that.
        let is_of_model = |chain: &Chain| chain.drafter != DrafterKind::Lookup && !chain.survivals.is_empty();
        if chains.iter().any(is_of_model) {
            let of_model = |chain: &Chain| if is_of_model(chain) { chain.clone() } else { Chain::none() };
            let of_model: Vec<Chain> = chains.iter().map(of_model).collect();
            self.outcome = match choice::best(&base, &of_model, cost, most_seconds) {
                Some(best) => Outcome::of(&base, &best),
                None if has_off => Outcome::HeldForBystanders,
                None => Outcome::Open,
            };
        }
        let other = match others.iter().any(Option::is_some) {
            true => {
                // Alone: drafts of other rows would tell nothing of these.
                let others: Vec<Chain> =
                    others.into_iter().map(|other| other.unwrap_or_else(Chain::none)).collect();
                choice::best(&base, &others, cost, most_seconds)
            }
            false => None,
        };
        let (chosen, candidates) = match best {
            Some(best) if best.rate() > base.rate() => {
                let less = one_less(&best, &base, chains, cost).filter(|less| *less != base);
                let more = one_more(&best, chains, cost).filter(|more| more.seconds <= most_seconds);
                (best, [Some(base), less, more, other])
            }
            refused => {
                let first = one_more(&base, chains, cost)
                    .filter(|first| first.seconds <= most_seconds && refused.as_ref() != Some(first));
                (base, [None, refused, first, other])
            }
        };
        if self.in_company {
            return chosen.drafts;
        }
        let around = match self.plain_steps >= PARKED {
            true => f64::from(PAUSE + 2) * plain_seconds * (1.0 / self.share(chains.len()) - 1.0),
            false => 0.0,
        };
        self.explorer.next(candidates, &chosen, around).unwrap_or(chosen).drafts
    }

    /// Learns from a step.
    pub fn observe(&mut self, step: &StepView<'_>) {
        let PolicyState { cost, records } = &mut self.figures;
        for &RowOutcome { chat, drafts, accepted, lookup } in step.rows {
            // Who did not draft hears of the step too: what was seen before a pause counts for less.
            let of_model = [Source::Head, Source::Dflash].map(|source| {
                let judged = if source.drafter() == drafts.drafter { drafts.depth } else { 0 };
                (source, judged, accepted)
            });
            let lookup = lookup.map(|verdict| (Source::Lookup(verdict.class), verdict.judged, verdict.right));
            for (source, judged, right) in of_model.into_iter().chain(lookup) {
                records.of_mut(source).observe(judged, right);
                self.chats.observe(chat, source, judged, right);
            }
        }
        if step.in_company {
            return;
        }
        let tokens = step.rows.iter().map(|row| 1 + row.accepted).sum();
        // What was read is not what drafting takes.
        let took = step.took.filter(|_| !step.caught_up).map(|took| took.as_secs_f64());
        if let (Some(took), Some(expected)) = (step.pipelined, cost.step(step.shape)) {
            let (weight, least) = AHEAD;
            let share = took.as_secs_f64() / (expected * self.speed.now());
            let known = self.ahead.entry(step.rows.len()).or_insert(1.0);
            *known += weight * (share.clamp(least, 1.0) - *known);
        }
        let told = self.speed.observe(cost, step.shape, took);
        self.explorer.observe(tokens, told, step.caught_up);
    }

    /// Why a row gets no drafts, or `None` while that is being found out. `drafted`: whether it does get them.
    pub(crate) fn note(&self, drafted: bool) -> Option<DraftingNote> {
        if drafted { None } else { self.outcome.why_not() }
    }
}

#[cfg(test)]
mod tests;
