//! How fast a model is expected to write on a computer where nobody has measured it yet.
//!
//! Each pass reads all weights that a token goes through, and waits for memory more than for anything else:
//!
//! ```text
//! bytes per token = bytes of the weights × active parameters / all parameters
//! plain           = memory speed / bytes per token
//! guessing        = plain × gain of the head
//! ```
//!
//! Keys and values are left out: in a short chat, as models are measured in, they are a small part of what is read.
//! The memory speed is what measured models have shown on this computer, or else a part of the chip's published one;
//! the gain is what heads have shown on this computer, or else what is published of them. What is not known of the
//! model or of the computer is not made up: then there is no expectation.

/// A model says something of another one only if it reads at most so many times as much for a token, or as little: the
/// smaller a model, the more of its time goes into what each pass costs at any size.
const ALIKE: f64 = 4.0;
/// By how much the memory speed of one model differs from that of another one that is like it.
const TOLERANCE: f64 = 0.1;
/// The least that a model must read for a token, in bytes, for the chip's memory alone to tell its speed.
const LEAST_BYTES: f64 = 1e9;
/// The part of a chip's published memory speed that writing reaches under MLX and llama.cpp with weights of 4 bits:
/// from 0.55 (7 B on Max chips, where fixed costs of a pass weigh most) to 0.85 (27 B on an M4 Pro).
const EFFICIENCY: Range = Range { low: 0.55, high: 0.85 };
/// The same of models with experts, whose passes are made of many more and smaller steps: from 0.2 (35 B-A3B on an
/// Ultra) to 0.5 (30 B-A3B on an M4 Pro).
const EFFICIENCY_WITH_EXPERTS: Range = Range { low: 0.2, high: 0.5 };
/// What is published of the MTP heads of Qwen's models under MLX: from 1.1 times plain decoding (4 B) over 1.5 (27 B)
/// to 1.7 (80 B-A3B).
const HEAD_GAIN: Range = Range { low: 1.1, high: 1.7 };

/// The memory speed that Apple publishes of its chips, in GB/s: of the smallest and of the largest version.
const CHIPS: [(&str, f64, f64); 18] = [
    ("Apple M1", 68.0, 68.0),
    ("Apple M1 Pro", 200.0, 200.0),
    ("Apple M1 Max", 400.0, 400.0),
    ("Apple M1 Ultra", 800.0, 800.0),
    ("Apple M2", 100.0, 100.0),
    ("Apple M2 Pro", 200.0, 200.0),
    ("Apple M2 Max", 400.0, 400.0),
    ("Apple M2 Ultra", 800.0, 800.0),
    ("Apple M3", 100.0, 100.0),
    ("Apple M3 Pro", 150.0, 150.0),
    ("Apple M3 Max", 300.0, 400.0),
    ("Apple M3 Ultra", 819.0, 819.0),
    ("Apple M4", 120.0, 120.0),
    ("Apple M4 Pro", 273.0, 273.0),
    ("Apple M4 Max", 410.0, 546.0),
    ("Apple M5", 153.0, 153.0),
    ("Apple M5 Pro", 307.0, 307.0),
    ("Apple M5 Max", 460.0, 614.0),
];

/// From the least to the most of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

/// What one token makes a model read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenCost {
    bytes: f64,
    has_experts: bool,
}

/// How fast a model was on this computer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredSpeed {
    /// What one token makes it read.
    pub cost: TokenCost,
    /// Tokens per second without guesses.
    pub plain: f64,
    /// How many times as fast its head made it; `None` where that was not measured.
    pub gain: Option<Range>,
}

/// How fast a model is expected to write, in tokens per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedSpeed {
    /// Without guesses.
    pub plain: Range,
    /// With those of its MTP head; `None` without one.
    pub guessing: Option<Range>,
}

impl TokenCost {
    /// Of a model whose tensors take `weight_bytes` and of whose parameters `active` take part in one token. `None`
    /// where these numbers cannot be.
    pub fn of(weight_bytes: u64, parameters: u64, active: u64) -> Option<Self> {
        let is_known = weight_bytes > 0 && 0 < active && active <= parameters;
        is_known.then(|| Self {
            bytes: weight_bytes as f64 * active as f64 / parameters as f64,
            has_experts: active < parameters,
        })
    }

    /// Whether the speed of a model that costs this tells something of one that costs `other`.
    fn is_like(&self, other: &Self) -> bool {
        self.has_experts == other.has_experts && (1.0 / ALIKE..=ALIKE).contains(&(self.bytes / other.bytes))
    }
}

/// How fast a model is expected to write on a computer with a processor of the name `chip` where these were `measured`.
/// `has_head`: whether it guesses with an MTP head.
pub fn expected_speed(
    cost: &TokenCost,
    has_head: bool,
    chip: &str,
    measured: &[MeasuredSpeed],
) -> Option<ExpectedSpeed> {
    let alike = || measured.iter().filter(|other| other.cost.is_like(cost));
    let shown = median(alike().map(|other| other.cost.bytes * other.plain).collect());
    let memory = match shown {
        Some(speed) => Range { low: speed * (1.0 - TOLERANCE), high: speed * (1.0 + TOLERANCE) },
        None => published(chip).filter(|_| cost.bytes >= LEAST_BYTES).map(|speed| {
            let part = if cost.has_experts { EFFICIENCY_WITH_EXPERTS } else { EFFICIENCY };
            Range { low: speed.low * part.low, high: speed.high * part.high }
        })?,
    };
    let plain = Range { low: memory.low / cost.bytes, high: memory.high / cost.bytes };
    let gains = alike().filter_map(|other| other.gain);
    let gain = gains.reduce(|all, one| Range { low: all.low.min(one.low), high: all.high.max(one.high) });
    let gain = gain.unwrap_or(HEAD_GAIN);
    let guessing = Range { low: plain.low * gain.low, high: plain.high * gain.high };
    Some(ExpectedSpeed { plain, guessing: has_head.then_some(guessing) })
}

/// The memory speed that a chip's maker publishes, in bytes per second.
fn published(chip: &str) -> Option<Range> {
    let (_, low, high) = CHIPS.into_iter().find(|(name, ..)| *name == chip)?;
    Some(Range { low: low * 1e9, high: high * 1e9 })
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 0 => Some(f64::midpoint(values[middle - 1], values[middle])),
        _ => Some(values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    /// A model without experts.
    fn dense(gigabytes: u64) -> TokenCost {
        TokenCost::of(gigabytes * GB, 2 * gigabytes * GB, 2 * gigabytes * GB).unwrap()
    }

    fn is_about(is: f64, wanted: f64) -> bool {
        (is / wanted - 1.0).abs() < 1e-9
    }

    #[test]
    fn of_many_experts_only_the_chosen_are_read() {
        let sparse = TokenCost::of(20 * GB, 35 * GB, 35 * GB / 10).unwrap();
        assert!(is_about(sparse.bytes, 2e9) && sparse.has_experts);
        assert!(!dense(2).has_experts);
        assert_eq!(TokenCost::of(0, 1, 1), None);
        assert_eq!(TokenCost::of(1, 1, 2), None);
        assert_eq!(TokenCost::of(1, 1, 0), None);
    }

    #[test]
    fn measured_models_tell_the_memory_speed_and_what_a_head_gains() {
        let measured = [
            MeasuredSpeed { cost: dense(10), plain: 40.0, gain: Some(Range { low: 1.5, high: 2.0 }) },
            MeasuredSpeed { cost: dense(5), plain: 60.0, gain: Some(Range { low: 1.2, high: 1.4 }) },
            MeasuredSpeed { cost: dense(20), plain: 25.0, gain: None },
        ];
        // 400, 300 and 500 GB/s: 400 in the middle.
        let expected = expected_speed(&dense(8), true, "", &measured).unwrap();
        assert!(is_about(expected.plain.low, 45.0) && is_about(expected.plain.high, 55.0), "{expected:?}");
        let guessing = expected.guessing.unwrap();
        assert!(is_about(guessing.low, 45.0 * 1.2) && is_about(guessing.high, 55.0 * 2.0), "{expected:?}");
        assert_eq!(expected_speed(&dense(8), false, "", &measured).unwrap().guessing, None);
        // What was measured counts for more than what is published.
        assert_eq!(expected_speed(&dense(8), true, "Apple M1", &measured), Some(expected));
    }

    #[test]
    fn only_models_that_are_alike_tell_of_each_other() {
        let tiny = TokenCost::of(10_000_000, 5_000_000, 5_000_000).unwrap();
        let experts = TokenCost::of(80 * GB, 80 * GB, 8 * GB).unwrap();
        for cost in [tiny, experts] {
            let measured = [MeasuredSpeed { cost, plain: 40.0, gain: None }];
            assert_eq!(expected_speed(&dense(8), true, "", &measured), None);
            assert!(expected_speed(&cost, true, "", &measured).is_some());
        }
    }

    #[test]
    fn without_measurements_the_chip_tells_a_range_and_nothing_where_it_is_unknown() {
        let expected = expected_speed(&dense(15), true, "Apple M4 Pro", &[]).unwrap();
        // 15.3 tok/s and 23.3 with the head are published of this model on this chip.
        let guessing = expected.guessing.unwrap();
        assert!((expected.plain.low..expected.plain.high).contains(&15.3), "{expected:?}");
        assert!((guessing.low..guessing.high).contains(&23.3), "{expected:?}");
        assert_eq!(expected_speed(&dense(15), true, "AMD EPYC", &[]), None);
        assert_eq!(expected_speed(&dense(15), true, "", &[]), None);
        let small = TokenCost::of(GB / 2, GB, GB).unwrap();
        assert_eq!(expected_speed(&small, true, "Apple M4 Pro", &[]), None, "other things than memory count");
    }

    #[test]
    fn it_is_always_a_range_and_a_model_that_reads_more_is_slower() {
        for (chip, ..) in CHIPS {
            let of = |gigabytes| expected_speed(&dense(gigabytes), true, chip, &[]).unwrap();
            let (small, large) = (of(2), of(20));
            for range in [small.plain, large.plain, small.guessing.unwrap(), large.guessing.unwrap()] {
                assert!(0.0 < range.low && range.low < range.high, "{chip}: {range:?}");
            }
            assert!(large.plain.high < small.plain.low, "{chip}");
        }
    }
}
