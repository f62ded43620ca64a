//! How fast models decode without drafts on this machine, which replies with drafts are compared with.

use foretoken_protocol::{AcceptanceRule, KvPrecision, PlainSource, PlainSpeed, ReplyStats, Tuning};
use serde::{Deserialize, Serialize};

/// Replies with fewer tokens say little about speed.
const MIN_TOKENS: u32 = 40;
/// Replies of one kind whose speeds are kept.
const KEPT: usize = 5;
/// Where the next band of contexts begins, in tokens: a longer context makes every pass slower.
const BANDS: [u32; 3] = [2048, 8192, 32_768];

/// What two replies must have in common for their speeds to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Kind {
    /// Whether tokens are drawn; otherwise the likeliest is taken.
    sampled: bool,
    /// How many of [`BANDS`] the context has passed, in the middle of the reply.
    band: usize,
    /// How keys and values are kept; before versions that tell, as computed.
    #[serde(default)]
    kv_precision: KvPrecision,
}

impl Kind {
    /// What the first-run tune measures: greedy decoding after a short prompt.
    fn of_tune(tuning: &Tuning) -> Self {
        Self { sampled: false, band: 0, kv_precision: tuning.kv_precision }
    }

    fn of(stats: &ReplyStats, kv_precision: KvPrecision) -> Self {
        let context = stats.prompt_tokens.saturating_add(stats.emitted / 2);
        let band = BANDS.iter().filter(|&&begin| begin <= context).count();
        Self { sampled: stats.sampling.temperature > 0.0, band, kv_precision }
    }
}

/// The speeds of a model's replies without drafts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PlainReplies(Vec<Speeds>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Speeds {
    kind: Kind,
    /// Tokens per second, the newest last.
    tokens_per_second: Vec<f64>,
    measured_at: u64,
}

impl PlainReplies {
    /// Keeps the speed of a reply that ended at `now`, by a model with keys and values of this precision, if it was
    /// written without drafts and [`tells_speed`]. Returns whether the speed was kept.
    pub(super) fn learn(&mut self, stats: &ReplyStats, kv_precision: KvPrecision, now: u64) -> bool {
        // Steps that are padded are slower than plain ones.
        let padded = stats.sampling.acceptance == AcceptanceRule::Strict;
        if has_drafts(stats) || padded || !tells_speed(stats) {
            return false;
        }
        let kind = Kind::of(stats, kv_precision);
        let at = self.0.iter().position(|speeds| speeds.kind == kind).unwrap_or_else(|| {
            self.0.push(Speeds { kind, tokens_per_second: Vec::new(), measured_at: now });
            self.0.len() - 1
        });
        let speeds = &mut self.0[at];
        speeds.measured_at = now;
        speeds.tokens_per_second.push(stats.tokens_per_second);
        let surplus = speeds.tokens_per_second.len().saturating_sub(KEPT);
        speeds.tokens_per_second.drain(..surplus);
        true
    }

    fn speed(&self, kind: Kind) -> Option<PlainSpeed> {
        let speeds = self.0.iter().find(|speeds| speeds.kind == kind)?;
        let mut sorted = speeds.tokens_per_second.clone();
        sorted.sort_by(f64::total_cmp);
        let tokens_per_second = *sorted.get(sorted.len() / 2)?;
        Some(PlainSpeed { tokens_per_second, source: PlainSource::Replies, measured_at: speeds.measured_at })
    }
}

/// What a reply with drafts can be compared with: replies of its kind, or else the tune where that was of its kind.
pub(super) fn comparison(
    stats: &ReplyStats,
    kv_precision: KvPrecision,
    replies: &PlainReplies,
    tuning: Option<&Tuning>,
) -> Option<PlainSpeed> {
    if !has_drafts(stats) || !tells_speed(stats) {
        return None;
    }
    let kind = Kind::of(stats, kv_precision);
    replies.speed(kind).or_else(|| {
        let tuning = tuning.filter(|tuning| kind == Kind::of_tune(tuning) && !tuning.strained)?;
        let tokens_per_second = *tuning.tokens_per_second.first().filter(|&&speed| speed > 0.0)?;
        Some(PlainSpeed { tokens_per_second, source: PlainSource::Tune, measured_at: tuning.measured_at })
    })
}

fn has_drafts(stats: &ReplyStats) -> bool {
    stats.positions.iter().any(|position| position.drafted > 0)
}

/// Whether a reply says how fast its model is: it is long enough, and shared no step with other replies.
fn tells_speed(stats: &ReplyStats) -> bool {
    stats.emitted >= MIN_TOKENS && stats.shared_steps == 0 && stats.tokens_per_second > 0.0
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{PositionStats, Sampling};

    use super::*;

    fn plain(tokens_per_second: f64) -> ReplyStats {
        ReplyStats { prompt_tokens: 100, emitted: 60, tokens_per_second, ..ReplyStats::default() }
    }

    fn drafted() -> ReplyStats {
        ReplyStats { positions: vec![PositionStats { drafted: 30, accepted: 20 }], ..plain(50.0) }
    }

    fn tuning() -> Tuning {
        let kv_precision = KvPrecision::Full;
        Tuning {
            tokens_per_second: vec![18.0, 30.0],
            best_depth: 1,
            kv_precision,
            draft_vocabulary: None,
            strained: false,
            measured_at: 7,
        }
    }

    fn speed(
        replies: &PlainReplies,
        stats: &ReplyStats,
        tuning: Option<&Tuning>,
    ) -> Option<(f64, PlainSource)> {
        comparison(stats, KvPrecision::Full, replies, tuning)
            .map(|plain| (plain.tokens_per_second, plain.source))
    }

    #[test]
    fn a_reply_is_compared_with_plain_ones_of_its_kind_only() {
        let mut replies = PlainReplies::default();
        for (n, tokens_per_second) in [9.0, 30.0, 20.0, 24.0, 22.0, 26.0].into_iter().enumerate() {
            assert!(replies.learn(&plain(tokens_per_second), KvPrecision::Full, n as u64));
        }
        // The first of the six is forgotten.
        let known = Some((24.0, PlainSource::Replies));
        assert_eq!(speed(&replies, &drafted(), None), known);
        assert_eq!(comparison(&drafted(), KvPrecision::Full, &replies, None).unwrap().measured_at, 5);

        let greedy = drafted();
        let sampling = Sampling { temperature: 0.7, ..Sampling::default() };
        assert_eq!(speed(&replies, &ReplyStats { sampling, ..greedy.clone() }, None), None);
        for (prompt_tokens, expected) in [(0, known), (2017, known), (2018, None), (90_000, None)] {
            assert_eq!(speed(&replies, &ReplyStats { prompt_tokens, ..greedy.clone() }, None), expected);
        }
        assert_eq!(speed(&replies, &ReplyStats { emitted: 39, ..greedy.clone() }, None), None);
        assert_eq!(speed(&replies, &ReplyStats { shared_steps: 1, ..greedy.clone() }, None), None);
        assert_eq!(speed(&replies, &plain(50.0), None), None, "it is plain itself");
    }

    #[test]
    fn keys_and_values_in_fewer_bits_are_another_kind() {
        let (full, eight) = (KvPrecision::Full, KvPrecision::Eight);
        // As it was written before there were others.
        let old = r#"[{"kind":{"sampled":false,"band":0},"tokens_per_second":[20.0],"measured_at":1}]"#;
        let mut replies: PlainReplies = serde_json::from_str(old).unwrap();
        let in_full = tuning();
        let in_8_bits = Tuning { kv_precision: eight, ..tuning() };
        let speed = |replies: &PlainReplies, kv_precision, tuning| {
            comparison(&drafted(), kv_precision, replies, tuning).map(|plain| plain.tokens_per_second)
        };
        assert_eq!(speed(&replies, full, None), Some(20.0));
        assert_eq!(speed(&replies, eight, Some(&in_full)), None);
        assert_eq!(speed(&replies, eight, Some(&in_8_bits)), Some(18.0));
        assert_eq!(speed(&PlainReplies::default(), full, Some(&in_8_bits)), None);
        let strained = Tuning { strained: true, ..tuning() };
        assert_eq!(speed(&PlainReplies::default(), full, Some(&in_full)), Some(18.0));
        assert_eq!(speed(&PlainReplies::default(), full, Some(&strained)), None);
        assert!(replies.learn(&plain(16.0), eight, 2));
        assert_eq!(speed(&replies, full, None), Some(20.0));
        assert_eq!(speed(&replies, eight, None), Some(16.0));
    }

    #[test]
    fn replies_that_say_nothing_of_plain_speed_are_not_learned_from() {
        let mut replies = PlainReplies::default();
        let padded = Sampling { acceptance: AcceptanceRule::Strict, ..Sampling::default() };
        let others = [
            drafted(),
            ReplyStats { emitted: 39, ..plain(20.0) },
            ReplyStats { shared_steps: 3, ..plain(20.0) },
            plain(0.0),
            ReplyStats { sampling: padded, ..plain(20.0) },
        ];
        assert!(others.iter().all(|stats| !replies.learn(stats, KvPrecision::Full, 1)));
        assert_eq!(replies, PlainReplies::default());
    }

    #[test]
    fn the_tune_counts_where_it_measured_the_same_and_no_reply_did() {
        let tuning = tuning();
        let mut replies = PlainReplies::default();
        let by_tune = Some((18.0, PlainSource::Tune));
        assert_eq!(speed(&replies, &drafted(), Some(&tuning)), by_tune);
        let long = ReplyStats { prompt_tokens: 5000, ..drafted() };
        assert_eq!(speed(&replies, &long, Some(&tuning)), None);
        replies.learn(&plain(20.0), KvPrecision::Full, 8);
        assert_eq!(speed(&replies, &drafted(), Some(&tuning)), Some((20.0, PlainSource::Replies)));
    }
}
