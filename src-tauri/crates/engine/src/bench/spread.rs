//! Figures over all runs.

use std::time::Duration;

use foretoken_protocol::PositionStats;
use serde::Serialize;

/// A figure over all runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Half of the runs are below.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// The sums over all runs.
pub(super) fn all_positions<'a>(runs: impl Iterator<Item = &'a Vec<PositionStats>>) -> Vec<PositionStats> {
    let mut sums: Vec<PositionStats> = Vec::new();
    for positions in runs {
        sums.resize(sums.len().max(positions.len()), PositionStats::default());
        for (sum, position) in sums.iter_mut().zip(positions) {
            sum.drafted += position.drafted;
            sum.accepted += position.accepted;
        }
    }
    sums
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

pub(super) fn spread(values: impl IntoIterator<Item = f64>) -> Spread {
    let values: Vec<f64> = values.into_iter().collect();
    let (min, max) = values.iter().fold((f64::MAX, f64::MIN), |(min, max), &v| (min.min(v), max.max(v)));
    Spread { median: median(values), min, max }
}

pub(super) fn spread_of_known(values: impl Iterator<Item = f64>) -> Option<Spread> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| spread(values))
}
