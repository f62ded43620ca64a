//! The choice of draft lengths for a step: of all plans, one chain length a row, the one with the most expected tokens
//! per second,
//!
//! `(rows + Σ_b Σ_{i < depth_b} survival_{b,i}) / seconds`,
//!
//! where `survival_{b,i}` is the probability that draft i of row b and all before it are accepted, and the seconds are
//! those of a step of that shape ([`Cost::step`]): they grow with the tokens, the longest row, the longest chain of the
//! MTP head and the number of its drafts, and there are those of the draft model where it drafts for any row.

use super::cost::Cost;
use crate::decode::plan::{DraftPlan, DrafterKind, MAX_WIDTH, StepShape};

/// The drafts that a row may get.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chain {
    /// Whose they are.
    pub(super) drafter: DrafterKind,
    /// The probability that drafts 0 to i are all accepted; as many as there may be drafts.
    pub(super) survivals: Vec<f64>,
}

impl Chain {
    /// No drafts.
    pub(super) fn none() -> Self {
        Self { drafter: DrafterKind::Head, survivals: Vec::new() }
    }
}

/// What each row of a step drafts, and the tokens and the time that are expected of the step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Drafts by row.
    pub(super) drafts: Vec<DraftPlan>,
    /// Expected tokens: one a row, and for each draft the probability that it and all before it are accepted.
    pub(super) tokens: f64,
    /// Expected seconds.
    pub(super) seconds: f64,
}

impl Plan {
    /// The plan with so many drafts of each row's chain; `None` where costs were not measured.
    pub(super) fn new(depths: &[usize], chains: &[Chain], cost: &Cost) -> Option<Self> {
        let right = |(&depth, chain): (&usize, &Chain)| chain.survivals[..depth].iter().sum::<f64>();
        let tokens = depths.len() as f64 + depths.iter().zip(chains).map(right).sum::<f64>();
        let drafts =
            depths.iter().zip(chains).map(|(&depth, chain)| DraftPlan { drafter: chain.drafter, depth });
        let drafts: Vec<DraftPlan> = drafts.collect();
        Some(Self { seconds: cost.step(StepShape::of(&drafts))?, drafts, tokens })
    }

    /// Expected tokens per second.
    pub(super) fn rate(&self) -> f64 {
        self.tokens / self.seconds
    }

    /// Tokens of the step.
    pub(super) fn width(&self) -> usize {
        StepShape::of(&self.drafts).width
    }

    /// Drafts of all rows.
    pub(super) fn count(&self) -> usize {
        self.width() - self.drafts.len()
    }

    /// Drafts of each row.
    pub(super) fn depths(&self) -> Vec<usize> {
        self.drafts.iter().map(|draft| draft.depth).collect()
    }
}

/// The plan with the most expected tokens per second among those that add drafts to `base` and take at most
/// `most_seconds`; `None` if there is none.
///
/// Exact where one drafter drafts: survivals never rise along a chain, so the n likeliest drafts within a depth always
/// are beginnings of chains. Where the head drafts beside others, whose drafts cost less, the likeliest of both come
/// first all the same: such a plan yields at least what the head alone or the others alone would.
pub(super) fn best(base: &Plan, chains: &[Chain], cost: &Cost, most_seconds: f64) -> Option<Plan> {
    let of = |kind| chains.iter().filter(move |chain| chain.drafter == kind);
    let longest =
        |of: &mut dyn Iterator<Item = &Chain>| of.map(|chain| chain.survivals.len()).max().unwrap_or(0);
    let of_head = longest(&mut of(DrafterKind::Head));
    let has_blocks = of(DrafterKind::Dflash).any(|chain| !chain.survivals.is_empty());
    let of_others = longest(&mut chains.iter().filter(|chain| chain.drafter != DrafterKind::Head));
    // A single row is as long as it is; of several, the longest keeps the others waiting.
    let shortest = if chains.len() > 1 { 0 } else { of_others };
    let caps = (0..=of_head).flat_map(|head| (shortest..=of_others).map(move |others| (head, others)));
    let mut best: Option<Plan> = None;
    for ((head, others), blocks) in caps.flat_map(|caps| [(caps, false), (caps, true)]) {
        if blocks && !has_blocks {
            continue;
        }
        let drafts = by_chance(base, chains, |drafter| match drafter {
            DrafterKind::Head => head,
            DrafterKind::Dflash if !blocks => 0,
            DrafterKind::Dflash | DrafterKind::Lookup | DrafterKind::Forced => others,
        });
        let (mut plan, mut shape) = (base.clone(), StepShape::of(&base.drafts));
        for (chance, position, row) in drafts.into_iter().take(MAX_WIDTH.saturating_sub(shape.width)) {
            let draft = DraftPlan { drafter: chains[row].drafter, depth: position + 1 };
            shape = shape.with(draft.drafter, position, position + 1);
            plan.drafts[row] = draft;
            plan.tokens += chance;
            plan.seconds = cost.step(shape)?;
            if plan.seconds <= most_seconds && best.as_ref().is_none_or(|best| plan.rate() > best.rate()) {
                best = Some(plan.clone());
            }
        }
    }
    best
}

/// `plan` with one draft more, the likeliest that may be added; `None` if there is none.
pub(super) fn one_more(plan: &Plan, chains: &[Chain], cost: &Cost) -> Option<Plan> {
    let &(_, position, row) = by_chance(plan, chains, |_| usize::MAX).first()?;
    let mut depths = plan.depths();
    depths[row] = position + 1;
    Plan::new(&depths, chains, cost).filter(|plan| plan.width() <= MAX_WIDTH)
}

/// `plan` with one draft less than it adds to `base`, the least likely; `None` if it adds none.
pub(super) fn one_less(plan: &Plan, base: &Plan, chains: &[Chain], cost: &Cost) -> Option<Plan> {
    let (mut depths, least) = (plan.depths(), base.depths());
    let chance = |&row: &usize| chains[row].survivals[depths[row] - 1];
    let added = (0..depths.len()).filter(|&row| depths[row] > least[row]);
    let row = added.min_by(|a, b| chance(a).total_cmp(&chance(b)))?;
    depths[row] -= 1;
    Plan::new(&depths, chains, cost)
}

/// The drafts that may be added to `base`, of each row at most as many in all as its drafter may have: survival,
/// position and row of each, the likeliest first.
fn by_chance(base: &Plan, chains: &[Chain], most: impl Fn(DrafterKind) -> usize) -> Vec<(f64, usize, usize)> {
    let mut drafts: Vec<(f64, usize, usize)> = Vec::new();
    for (row, Chain { drafter, survivals }) in chains.iter().enumerate() {
        let added = survivals.iter().enumerate().take(most(*drafter)).skip(base.drafts[row].depth);
        drafts.extend(added.map(|(position, &chance)| (chance, position, row)));
    }
    // Equal chances in the order of the chain.
    drafts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    drafts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The plans of all combinations of chain lengths.
    fn all_plans(chains: &[Chain], cost: &Cost) -> Vec<Plan> {
        let mut all = vec![Vec::new()];
        for chain in chains {
            all = all
                .into_iter()
                .flat_map(|plan: Vec<usize>| {
                    (0..=chain.survivals.len()).map(move |depth| [plan.clone(), vec![depth]].concat())
                })
                .collect();
        }
        all.into_iter().map(|depths| Plan::new(&depths, chains, cost).unwrap()).collect()
    }

    proptest! {
        #[test]
        fn no_plan_is_better_than_the_one_chosen(
            rates in prop::collection::vec((0usize..3, prop::collection::vec(0.0f64..=1.0, 0..4)), 1..5),
            padding in prop::option::of(0.0f64..0.5),
            times in prop::collection::vec(0.01f64..2.0, 20),
            head in 0.0f64..0.5,
            block in 0.0f64..1.0,
            overhead in 1.0f64..3.0,
        ) {
            let chains: Vec<Chain> = rates
                .iter()
                .map(|&(drafter, ref row)| Chain {
                    drafter: [DrafterKind::Head, DrafterKind::Dflash, DrafterKind::Lookup][drafter],
                    survivals: row.iter().scan(1.0, |s, rate| { *s *= rate; Some(*s) }).collect(),
                })
                .collect();
            // A staircase of any shape that never falls.
            let mut pass = 0.1;
            let stairs = times.iter().enumerate().map(|(width, time)| {
                pass += if *time > 1.0 { time - 1.0 } else { 0.0 };
                (width + 1, pass)
            });
            let cost = Cost::default().with(stairs, head).with_block(block).with_padding(padding);
            let base = Plan::new(&vec![0; chains.len()], &chains, &cost).unwrap();
            let most = overhead * base.seconds;
            let allowed = |plan: &Plan| plan.count() > 0 && plan.seconds <= most;
            let highest = |plans: &dyn Fn(&Plan) -> bool| {
                let plans = all_plans(&chains, &cost).into_iter().filter(|plan| allowed(plan) && plans(plan));
                plans.map(|plan| plan.rate()).fold(0.0, f64::max)
            };
            let is_by_head = |plan: &Plan| {
                plan.drafts.iter().filter(|draft| draft.depth > 0).all(|draft| draft.drafter == DrafterKind::Head)
            };
            let is_by_others = |plan: &Plan| {
                plan.drafts.iter().all(|draft| draft.depth == 0 || draft.drafter != DrafterKind::Head)
            };
            let chosen = best(&base, &chains, &cost, most);
            let rate = chosen.as_ref().map_or(0.0, Plan::rate);
            let expected = highest(&|_| true);
            // The head beside others: at least as good as either alone.
            let of_one = highest(&is_by_head).max(highest(&is_by_others));
            let is_mixed = chains.iter().any(|chain| chain.drafter == DrafterKind::Head)
                && chains.iter().any(|chain| chain.drafter != DrafterKind::Head);
            let least = if is_mixed { of_one } else { expected };
            prop_assert!(rate <= expected * (1.0 + 1e-9), "{rate} and not {expected}");
            prop_assert!(rate >= least * (1.0 - 1e-9), "{rate} instead of {least}");
            if let Some(plan) = chosen {
                prop_assert!(allowed(&plan));
                let again = Plan::new(&plan.depths(), &chains, &cost).unwrap();
                prop_assert!((again.tokens - plan.tokens).abs() < 1e-9 && again.seconds == plan.seconds);
            }
        }
    }
}
