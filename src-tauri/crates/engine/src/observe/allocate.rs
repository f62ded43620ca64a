//! Which group gets how many bits: the most that a budget of bytes can save in KL divergence, as far as costs of groups
//! add up. Of all steps of all groups from what they have to something larger, the one that saves most for its bytes is
//! taken, again and again, as long as one fits. While all fit, those are the steps along the lower convex hulls of
//! bytes and cost, by their slope; what is left behind the last of them goes to the best single steps.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::ObserveError;
use super::divergence::standard_error;
use crate::checkpoint::QuantSpec;

/// Standard errors over the texts below which a saving counts as none: bits would go to what only chance has shown.
const NOISE: f64 = 2.0;

/// One way to store a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// How.
    pub spec: QuantSpec,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Mean KL divergence of each text, in nats; the same texts in all points of an allocation.
    pub kl: Vec<f64>,
}

/// A group and the ways to store it; one way where there is no choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Paths of its modules.
    pub modules: Vec<String>,
    /// At least one, in any order.
    pub points: Vec<Point>,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// By module path, how it is stored.
    pub modules: BTreeMap<String, QuantSpec>,
    /// Bytes that all of them take.
    pub bytes: u64,
    /// Sum of what the groups cost, in nats: an estimate, good for choosing only.
    pub kl: f64,
}

impl Point {
    fn mean(&self) -> f64 {
        self.kl.iter().sum::<f64>() / self.kl.len().max(1) as f64
    }

    /// KL that `other` saves, mean over the texts; 0 where that may be chance.
    fn saving(&self, other: &Self) -> f64 {
        let savings: Vec<f64> = self.kl.iter().zip(&other.kl).map(|(own, other)| own - other).collect();
        let saving = self.mean() - other.mean();
        let noise = standard_error(&savings).unwrap_or(0.0);
        if saving < NOISE * noise { 0.0 } else { saving }
    }
}

/// A step of a group to a larger point.
struct Step<'a> {
    group: usize,
    to: &'a Point,
    bytes: u64,
    /// KL saved by each byte.
    slope: f64,
}

/// Chooses a point for each group within a budget of bytes.
pub fn allocate(choices: &[Choice], budget: u64) -> Result<Allocation, ObserveError> {
    let mut groups: Vec<&Choice> = choices.iter().filter(|choice| !choice.points.is_empty()).collect();
    // Of steps that are worth the same, the first is taken, whatever order the groups came in.
    groups.sort_by(|a, b| a.modules.cmp(&b.modules));
    let mut chosen: Vec<&Point> =
        groups.iter().filter_map(|choice| choice.points.iter().min_by(|a, b| order(a, b))).collect();
    let least: u64 = chosen.iter().map(|point| point.bytes).sum();
    let mut left = budget.checked_sub(least).ok_or(ObserveError::BudgetTooSmall { budget, least })?;
    while let Some(step) = best_step(&groups, &chosen, left) {
        left -= step.bytes;
        chosen[step.group] = step.to;
    }
    let modules = groups
        .iter()
        .zip(&chosen)
        .flat_map(|(choice, point)| choice.modules.iter().map(|module| (module.clone(), point.spec)));
    Ok(Allocation {
        modules: modules.collect(),
        bytes: budget - left,
        kl: chosen.iter().map(|point| point.mean()).sum(),
    })
}

/// By bytes, then by cost.
fn order(a: &Point, b: &Point) -> Ordering {
    a.bytes.cmp(&b.bytes).then(a.mean().total_cmp(&b.mean()))
}

/// The step that saves most for its bytes of those that fit; the shortest of equals.
fn best_step<'a>(groups: &[&'a Choice], chosen: &[&Point], left: u64) -> Option<Step<'a>> {
    let steps = groups.iter().zip(chosen).enumerate().flat_map(|(group, (choice, from))| {
        choice.points.iter().filter(|to| to.bytes > from.bytes).map(move |to| {
            let bytes = to.bytes - from.bytes;
            Step { group, to, bytes, slope: from.saving(to) / bytes as f64 }
        })
    });
    let fitting = steps.filter(|step| step.bytes <= left && step.slope > 0.0);
    fitting.min_by(|a, b| b.slope.total_cmp(&a.slope).then(a.bytes.cmp(&b.bytes)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mlx::QuantMode;

    fn point(bits: usize, bytes: u64, kl: Vec<f64>) -> Point {
        Point { spec: QuantSpec { group_size: 64, bits, mode: QuantMode::Affine }, bytes, kl }
    }

    fn choice(name: usize, points: Vec<Point>) -> Choice {
        Choice { modules: vec![format!("layers.{name}.mlp.down_proj")], points }
    }

    /// Groups of random sizes and costs, which fall with the bits but not evenly; the same in all texts.
    fn random_choices(most: usize) -> impl Strategy<Value = Vec<Choice>> {
        let group = (1..40u64, proptest::collection::vec(0.0..1.0f64, 4));
        proptest::collection::vec(group, 1..=most).prop_map(|groups| {
            let points = |(size, falls): (u64, Vec<f64>)| {
                let costs = falls.iter().scan(falls.iter().sum::<f64>(), |cost, fall| {
                    let now = *cost;
                    *cost -= fall;
                    Some(now)
                });
                let points = costs.enumerate();
                points
                    .map(|(index, cost)| point(2 + index, size * (2 + index as u64), vec![cost; 2]))
                    .collect()
            };
            groups.into_iter().map(points).enumerate().map(|(name, points)| choice(name, points)).collect()
        })
    }

    /// Bytes and cost of every way to choose.
    fn all_ways(choices: &[Choice]) -> Vec<(u64, f64)> {
        choices.iter().fold(vec![(0, 0.0)], |ways, choice| {
            let add = |(bytes, kl): &(u64, f64)| -> Vec<(u64, f64)> {
                choice.points.iter().map(|point| (bytes + point.bytes, kl + point.mean())).collect()
            };
            ways.iter().flat_map(add).collect()
        })
    }

    fn best_way(ways: &[(u64, f64)], budget: u64) -> Option<f64> {
        ways.iter().filter(|(bytes, _)| *bytes <= budget).map(|(_, kl)| *kl).min_by(f64::total_cmp)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_is_the_best_way_where_steps_fit_and_never_far_from_it(
            choices in random_choices(6), share in 0.0..1.1f64,
        ) {
            let ways = all_ways(&choices);
            let largest = ways.iter().map(|(bytes, _)| *bytes).max().unwrap();
            let budget = (largest as f64 * share) as u64;
            let Some(best) = best_way(&ways, budget) else {
                let least = ways.iter().map(|(bytes, _)| *bytes).min().unwrap();
                prop_assert_eq!(allocate(&choices, budget), Err(ObserveError::BudgetTooSmall { budget, least }));
                return Ok(());
            };
            let found = allocate(&choices, budget).unwrap();
            prop_assert!(found.bytes <= budget);
            // The first step that no longer fits would have saved more than whatever the best way has more.
            let fall = |choice: &Choice| choice.points[0].mean() - choice.points[3].mean();
            let most = choices.iter().map(fall).fold(0.0, f64::max);
            prop_assert!(found.kl <= best + most + 1e-9, "{} for {best}", found.kl);
            // No way of as many bytes is better where the last step along the hulls fills the budget.
            let along_hulls = allocate(&choices, found.bytes).unwrap();
            prop_assert!(along_hulls.kl <= found.kl + 1e-9);
        }

        #[test]
        fn more_bytes_never_cost_more(
            choices in random_choices(8), budgets in proptest::collection::vec(0.0..1.0f64, 2),
        ) {
            let largest: u64 = choices.iter().map(|choice| choice.points[3].bytes).sum();
            let budget = |share: &f64| (largest as f64 * (0.4 + 0.6 * share)) as u64;
            let mut budgets: Vec<u64> = budgets.iter().map(budget).collect();
            budgets.sort_unstable();
            let found: Vec<_> = budgets.iter().map(|&budget| allocate(&choices, budget)).collect();
            if let [Ok(less), Ok(more)] = &found[..] {
                prop_assert!(more.kl <= less.kl + 1e-9, "{budgets:?}: {} after {}", more.kl, less.kl);
            }
        }

        #[test]
        fn the_order_of_groups_and_points_does_not_matter(choices in random_choices(8), share in 0.4..1.0f64) {
            let largest: u64 = choices.iter().map(|choice| choice.points[3].bytes).sum();
            let budget = (largest as f64 * share) as u64;
            let mut turned = choices.clone();
            turned.reverse();
            turned.iter_mut().for_each(|choice| choice.points.reverse());
            prop_assert_eq!(allocate(&choices, budget), allocate(&turned, budget));
        }
    }

    #[test]
    fn convex_costs_are_shared_out_as_well_as_can_be() {
        // Each bit more saves half of what the bit before has: all points are on the hulls.
        let sizes = [10, 7, 12, 9, 10, 3, 5, 8];
        let scales = [1.0, 0.3, 5.0, 0.01, 2.0, 9.0, 0.5, 0.05];
        let choices: Vec<Choice> = (0..8)
            .map(|index| {
                let kl = |bits: i32| scales[index] * 0.5f64.powi(bits);
                let points =
                    [2, 3, 4, 5].map(|bits| point(bits, sizes[index] * bits as u64, vec![kl(bits as i32)]));
                choice(index, points.into())
            })
            .collect();
        let ways = all_ways(&choices);
        let largest = ways.iter().map(|(bytes, _)| *bytes).max().unwrap();
        let mut exact = 0;
        for budget in 128..=largest {
            let found = allocate(&choices, budget).unwrap();
            let best = best_way(&ways, budget).unwrap();
            assert!(found.kl <= 1.15 * best, "{budget}: {} for {best}", found.kl);
            exact += usize::from(found.kl <= best + 1e-12);
        }
        assert!(exact > (largest - 128) as usize / 4, "{exact}");
    }

    #[test]
    fn savings_that_may_be_chance_get_no_bytes() {
        let certain = choice(0, vec![point(2, 20, vec![0.4, 0.5, 0.6]), point(4, 40, vec![0.1, 0.1, 0.2])]);
        // As much on average, all of it in one text.
        let by_chance = choice(1, vec![point(2, 20, vec![0.0, 0.0, 1.5]), point(4, 40, vec![0.0, 0.1, 0.3])]);
        let found = allocate(&[certain.clone(), by_chance], 1000).unwrap();
        let bits = |name: usize| found.modules[&format!("layers.{name}.mlp.down_proj")].bits;
        assert_eq!((bits(0), bits(1), found.bytes), (4, 2, 60));
    }

    #[test]
    fn what_has_no_choice_counts_and_stays() {
        let router =
            Choice { modules: vec!["layers.0.mlp.gate".into()], points: vec![point(8, 15, vec![0.0])] };
        let group = choice(1, vec![point(2, 20, vec![0.5]), point(3, 30, vec![0.1])]);
        let found = allocate(&[router.clone(), group.clone()], 44).unwrap();
        assert_eq!((found.modules["layers.0.mlp.gate"].bits, found.bytes), (8, 35));
        assert_eq!(allocate(&[router, group], 45).unwrap().bytes, 45);
    }
}
