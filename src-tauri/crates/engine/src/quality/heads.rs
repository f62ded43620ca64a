//! How many bits an MTP head gets: as many as pay, by the share of its guesses that are right and the bytes that a
//! draft reads for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kept::Kept;
use super::parts::{Parts, probed};
use super::request::{Observe, Progress, Request};
use crate::checkpoint::QuantSpec;
use crate::convert::Importance;
use crate::error::EngineError;
use crate::observe::{HeadFound, HeadPoint, Source, head, standard_error};

/// Standard errors over the texts below which more speed counts as none.
const NOISE: f64 = 2.0;
/// Share of guesses that fewer bits may lose against the head as it is: below that, what is a tie here may be none on
/// other texts.
const MOST_LOST: f64 = 0.005;

/// What was found of a head behind one trunk.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Behind {
    trunk: BTreeMap<String, QuantSpec>,
    head: HeadFound,
}

/// What each width of the MTP head is worth behind this trunk, where there is a head, measured if it was not before.
pub(super) fn measured(
    request: &Request<'_>,
    trunk: (&BTreeMap<String, QuantSpec>, &Importance),
    parts: &Parts,
    kept: &mut Kept,
    observe: Observe<'_>,
) -> Result<Option<HeadFound>, EngineError> {
    let source = Source::read(request.source)?;
    if !source.layout.has_mtp() {
        return Ok(None);
    }
    if let Some(known) = kept.find(|known: &Behind| known.trunk == *trunk.0) {
        return Ok(Some(known.head));
    }
    let progress = &mut |done, total| observe(Progress::Guessing { done, total });
    let found = head(&source, trunk, probed(&source, &parts.calibrate), progress)?;
    Ok(Some(kept.add(&Behind { trunk: trunk.0.clone(), head: found })?.head))
}

/// What is kept of it beside the result: at each width, the share of guesses that were right.
pub(super) fn table(found: &HeadFound) -> Value {
    let of_point =
        |point: &HeadPoint| json!({ "bits": point.bits, "bytes": point.bytes, "accepted": accepted(point) });
    found.points.iter().map(of_point).collect()
}

/// Share of guesses that were right.
fn accepted(point: &HeadPoint) -> f64 {
    let (right, all) = point.guesses.iter().fold((0, 0), |sum, text| (sum.0 + text.0, sum.1 + text.1));
    right as f64 / all.max(1) as f64
}

/// Bits of the head with which decoding is fastest, `None` as it is: the fewest of those that are about as fast.
pub(super) fn choose(found: &HeadFound) -> Option<usize> {
    let whole = found.points.iter().find(|point| point.bits.is_none()).map_or(0.0, accepted);
    let mut points: Vec<&HeadPoint> =
        found.points.iter().filter(|point| accepted(point) >= whole - MOST_LOST).collect();
    points.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let mut points = points.into_iter();
    let first = points.next()?;
    let best = points.fold(first, |best, point| if is_faster(found, point, best) { point } else { best });
    best.bits
}

fn is_faster(found: &HeadFound, point: &HeadPoint, than: &HeadPoint) -> bool {
    let gains = speeds(found, point).zip(speeds(found, than)).map(|(speed, than)| speed - than);
    let gains: Vec<f64> = gains.collect();
    let mean = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
    mean > NOISE * standard_error(&gains).unwrap_or(0.0)
}

/// Tokens of each text in the time of a step without drafts, at one draft a step: a step writes one token and the guess
/// that is right, and takes the bytes that trunk and draft read.
fn speeds<'a>(found: &HeadFound, point: &'a HeadPoint) -> impl Iterator<Item = f64> + 'a {
    let cost = 1.0 + (point.bytes + found.output_bytes) / found.trunk_bytes;
    let guessed = point.guesses.iter().filter(|(_, all)| *all > 0);
    guessed.map(move |(right, all)| (1.0 + *right as f64 / *all as f64) / cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head whose matrices take as many bytes as they have bits, behind a trunk of so many.
    fn found(trunk_bytes: f64, shares: &[(usize, [usize; 4])]) -> HeadFound {
        let point = |(bits, right): &(usize, [usize; 4])| HeadPoint {
            bits: Some(*bits).filter(|bits| *bits < 16),
            bytes: *bits as f64,
            guesses: right.map(|right| (right, 1000)).to_vec(),
        };
        HeadFound { points: shares.iter().map(point).collect(), trunk_bytes, ..HeadFound::default() }
    }

    #[test]
    fn more_bits_must_earn_their_bytes() {
        let better = [
            (2, [600, 620, 610, 600]),
            (4, [810, 830, 815, 805]),
            (8, [813, 833, 818, 808]),
            (16, [813, 833, 818, 808]),
        ];
        assert_eq!(choose(&found(100.0, &better)), Some(4));
        // Behind a trunk of many bytes, those of the head cost next to nothing.
        assert_eq!(choose(&found(1e6, &better)), Some(8));
        assert_eq!(choose(&found(1e6, &[(4, [800; 4]), (16, [850; 4])])), None);
        // However cheap they are, they may not lose much.
        let lossy = [(3, [700, 900, 700, 900]), (4, [810, 820, 810, 820]), (16, [812, 822, 812, 822])];
        assert_eq!(choose(&found(20.0, &lossy)), Some(4));
    }

    #[test]
    fn what_may_be_chance_earns_none() {
        let by_chance = [(3, [800, 800, 800, 800]), (8, [800, 800, 800, 880])];
        assert_eq!(choose(&found(1e6, &by_chance)), Some(3));
        assert_eq!(choose(&HeadFound::default()), None);
    }
}
