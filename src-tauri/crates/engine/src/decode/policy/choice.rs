use std::cmp::Ordering;

use super::cost::{Cost, MAX_WIDTH};

/// How many drafts each row of a step gets, and what is expected of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Drafts by row.
    pub(super) depths: Vec<usize>,
    /// Expected tokens: one a row, and each draft if it and all before it are right.
    pub(super) tokens: f64,
    /// Expected seconds; `None` where nothing was measured.
    pub(super) seconds: Option<f64>,
}

impl Plan {
    pub(super) fn new(depths: Vec<usize>, survivals: &[Vec<f64>], cost: &Cost) -> Self {
        let right = |(depth, survivals): (&usize, &Vec<f64>)| survivals[..*depth].iter().sum::<f64>();
        let tokens = depths.len() as f64 + depths.iter().zip(survivals).map(right).sum::<f64>();
        let drafting = cost.draft_seconds(depths.iter().copied().max().unwrap_or(0));
        let width = depths.len() + depths.iter().sum::<usize>();
        let seconds = cost.estimated(width).map(|pass| pass + drafting);
        Self { depths, tokens, seconds }
    }

    /// Expected tokens per second.
    pub(super) fn rate(&self) -> Option<f64> {
        Some(self.tokens / self.seconds?)
    }

    /// Tokens of the step.
    pub(super) fn width(&self) -> usize {
        self.depths.len() + self.drafts()
    }

    /// Whether its time lies within what was measured.
    pub(super) fn is_known(&self, cost: &Cost) -> bool {
        self.width() <= cost.widest()
    }

    /// The longest chain.
    pub(super) fn depth(&self) -> usize {
        self.depths.iter().copied().max().unwrap_or(0)
    }

    /// Drafts of all rows.
    pub(super) fn drafts(&self) -> usize {
        self.depths.iter().sum()
    }
}

/// The plan with the most expected tokens per second among those that add drafts to `base` and take at most
/// `most_seconds`; `None` if there is none within the widths that were measured. `survivals[b]`: the chances of row b's drafts, as many
/// as it may have; a row that keeps what `base` gives it has none beyond that.
///
/// Exact for times that depend on the step's width and its longest chain only: survivals fall along a chain, so the n
/// best drafts below a depth always are beginnings of chains.
pub(super) fn best(base: &Plan, survivals: &[Vec<f64>], cost: &Cost, most_seconds: f64) -> Option<Plan> {
    let mut best: Option<Plan> = None;
    let deepest = survivals.iter().map(Vec::len).max().unwrap_or(0);
    let widest = cost.widest().min(MAX_WIDTH);
    for cap in 1..=deepest {
        let drafts = by_chance(base, survivals, cap);
        let mut plan = base.clone();
        let mut longest = plan.depth();
        for (chance, position, row) in drafts.into_iter().take(widest.saturating_sub(base.width())) {
            plan.depths[row] = position + 1;
            plan.tokens += chance;
            longest = longest.max(position + 1);
            plan.seconds = cost.estimated(plan.width()).map(|pass| pass + cost.draft_seconds(longest));
            let allowed = plan.seconds.is_some_and(|seconds| seconds <= most_seconds);
            if allowed && best.as_ref().is_none_or(|best| faster(&plan, best) == Ordering::Greater) {
                best = Some(plan.clone());
            }
        }
    }
    best
}

/// `base` with the `count` most likely drafts besides its own.
pub(super) fn most_likely(base: &Plan, survivals: &[Vec<f64>], count: usize, cost: &Cost) -> Plan {
    let mut depths = base.depths.clone();
    for (_, position, row) in by_chance(base, survivals, usize::MAX).into_iter().take(count) {
        depths[row] = position + 1;
    }
    Plan::new(depths, survivals, cost)
}

/// `base` with chains of at least `depth` drafts for each row that may have them.
pub(super) fn uniform(base: &Plan, survivals: &[Vec<f64>], depth: usize, cost: &Cost) -> Plan {
    let mut left = MAX_WIDTH.saturating_sub(base.width());
    let deeper = |(&fixed, chances): (&usize, &Vec<f64>)| {
        let more = depth.min(chances.len()).saturating_sub(fixed).min(left);
        left -= more;
        fixed + more
    };
    let depths = base.depths.iter().zip(survivals).map(deeper).collect();
    Plan::new(depths, survivals, cost)
}

/// The drafts that may be added: chance, position and row of each, the likeliest first.
fn by_chance(base: &Plan, survivals: &[Vec<f64>], cap: usize) -> Vec<(f64, usize, usize)> {
    let mut drafts: Vec<(f64, usize, usize)> = Vec::new();
    for (row, chances) in survivals.iter().enumerate() {
        let chain = chances.iter().enumerate().take(cap).skip(base.depths[row]);
        drafts.extend(chain.map(|(position, &chance)| (chance, position, row)));
    }
    // Equal chances in the order of the chain.
    drafts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    drafts
}

fn faster(a: &Plan, b: &Plan) -> Ordering {
    a.rate().unwrap_or(0.0).total_cmp(&b.rate().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every way to give each row a chain.
    fn all_plans(survivals: &[Vec<f64>], cost: &Cost) -> Vec<Plan> {
        let mut all = vec![Vec::new()];
        for chances in survivals {
            all = all
                .into_iter()
                .flat_map(|plan: Vec<usize>| {
                    (0..=chances.len()).map(move |depth| [plan.clone(), vec![depth]].concat())
                })
                .collect();
        }
        all.into_iter().map(|depths| Plan::new(depths, survivals, cost)).collect()
    }

    proptest! {
        #[test]
        fn no_plan_is_better_than_the_one_chosen(
            rates in prop::collection::vec(prop::collection::vec(0.0f64..=1.0, 0..4), 1..5),
            times in prop::collection::vec(0.01f64..2.0, 20),
            head in 0.0f64..0.5,
            tax in 1.0f64..3.0,
        ) {
            let survivals: Vec<Vec<f64>> = rates
                .iter()
                .map(|row| row.iter().scan(1.0, |s, rate| { *s *= rate; Some(*s) }).collect())
                .collect();
            let mut cost = Cost::default();
            // A staircase of any shape that never falls.
            let mut pass = 0.1;
            for (width, time) in times.iter().enumerate() {
                pass += if *time > 1.0 { time - 1.0 } else { 0.0 };
                for _ in 0..3 {
                    cost.observe_step(width + 1, 0, pass, true);
                }
            }
            if head > 0.0 {
                cost.observe_drafting(1, head);
            }
            let base = Plan::new(vec![0; survivals.len()], &survivals, &cost);
            let most = tax * base.seconds.unwrap();
            let allowed = |plan: &Plan| plan.drafts() > 0 && plan.seconds.unwrap() <= most;
            let expected = all_plans(&survivals, &cost)
                .into_iter()
                .filter(allowed)
                .map(|plan| plan.rate().unwrap())
                .fold(0.0, f64::max);
            let chosen = best(&base, &survivals, &cost, most);
            let rate = chosen.as_ref().map_or(0.0, |plan| plan.rate().unwrap());
            prop_assert!((rate - expected).abs() <= 1e-9 * expected, "{rate} instead of {expected}");
            if let Some(plan) = chosen {
                prop_assert!(allowed(&plan));
                let again = Plan::new(plan.depths.clone(), &survivals, &cost);
                prop_assert!((again.tokens - plan.tokens).abs() < 1e-9 && again.seconds == plan.seconds);
            }
        }
    }
}
