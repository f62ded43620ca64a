//! What a reply took, for programs: in llama.cpp's names, which others read too, and in full.

use foretoken_protocol::{PositionStats, ReplyStats};
use serde_json::{Value, json};

use crate::content::Gathered;
use crate::replies::End;

/// The use of tokens, `timings` of the first reply, and `foretoken` of each where there are several.
pub(crate) fn figures<'a>(
    ended: impl Iterator<Item = (&'a End, &'a Gathered)> + Clone,
) -> [(String, Value); 3] {
    let mut own: Vec<Value> = ended.clone().map(|(end, reply)| foretoken(end, reply)).collect();
    let own = if own.len() == 1 { own.remove(0) } else { own.into() };
    let mut stats = ended.map(|(end, _)| &*end.stats);
    [
        ("usage".into(), usage(stats.clone())),
        ("timings".into(), stats.next().map(timings).into()),
        ("foretoken".into(), own),
    ]
}

/// In llama.cpp's names.
pub(crate) fn timings(stats: &ReplyStats) -> Value {
    let read = stats.prompt_tokens.saturating_sub(stats.cached_tokens);
    let all = |count: fn(&PositionStats) -> u32| -> u64 {
        stats.positions.iter().map(|position| u64::from(count(position))).sum()
    };
    let rate =
        |tokens: u32, seconds: f64| if seconds > 0.0 { rounded(f64::from(tokens) / seconds) } else { 0.0 };
    json!({
        "cache_n": stats.cached_tokens,
        "prompt_n": read,
        "prompt_ms": milliseconds(stats.prefill_seconds),
        "prompt_per_second": rate(read, stats.prefill_seconds),
        "predicted_n": stats.emitted,
        "predicted_ms": milliseconds(stats.decode_seconds),
        "predicted_per_second": rounded(stats.tokens_per_second),
        "draft_n": all(|position| position.drafted),
        "draft_n_accepted": all(|position| position.accepted),
    })
}

/// What only this server tells: drafts by position, where the time went, what it would have been without drafts, and
/// what in the reply's calls does not fit their tools.
pub(crate) fn foretoken(end: &End, reply: &Gathered) -> Value {
    let stats = &end.stats;
    let mut own = json!({
        "positions": stats.positions,
        "forced": stats.forced,
        "refused_drafts": stats.refused_drafts,
        "steps": stats.steps,
        "tokens_per_pass": rounded(stats.tokens_per_pass),
        "draft_ms": milliseconds(stats.draft_seconds),
        "verify_ms": milliseconds(stats.verify_seconds),
        "sample_ms": milliseconds(stats.sample_seconds),
        "seed": stats.seed,
        "cached_tokens": stats.cached_tokens,
        "queue_ms": end.queue_ms,
        "time_to_first_token_ms": milliseconds(stats.time_to_first_token_seconds),
    });
    for (name, counts) in [("by_draft_model", stats.by_draft_model), ("looked_up", stats.looked_up)] {
        if counts.drafted > 0 {
            own[name] = json!(counts);
        }
    }
    if let Some(exact) = stats.exact {
        own["exact"] = json!(exact);
    }
    if let Some(plain) = &stats.plain {
        own["plain_tokens_per_second"] = rounded(plain.tokens_per_second).into();
    }
    if let Some(note) = &stats.drafting_note {
        own["note"] = note.to_string().into();
    }
    if !reply.misfits().is_empty() {
        own["misfits"] = json!(reply.misfits());
    }
    if !end.warnings.is_empty() {
        own["warnings"] = json!(end.warnings);
    }
    own
}

fn milliseconds(seconds: f64) -> f64 {
    rounded(seconds * 1e3)
}

/// With two decimals; 0 for what JSON cannot say.
pub(crate) fn rounded(number: f64) -> f64 {
    let rounded = (number * 100.0).round() / 100.0;
    if rounded.is_finite() { rounded } else { 0.0 }
}

/// Tokens of a request, in OpenAI's sense: its prompt was read once, however many replies there are.
fn usage<'a>(replies: impl Iterator<Item = &'a ReplyStats> + Clone) -> Value {
    let sum =
        |count: fn(&ReplyStats) -> u32| -> u64 { replies.clone().map(|stats| u64::from(count(stats))).sum() };
    let first = replies.clone().next();
    let prompt = first.map_or(0, |stats| u64::from(stats.prompt_tokens));
    let written = sum(|stats| stats.emitted);
    let mut details = json!({"reasoning_tokens": sum(|stats| stats.thinking.emitted)});
    if first.is_some_and(|stats| stats.predicted.is_some()) {
        let of = |stats: &ReplyStats| stats.predicted.unwrap_or_default();
        let accepted: u32 = replies.clone().map(|stats| of(stats).accepted).sum();
        let drafted: u32 = replies.clone().map(|stats| of(stats).drafted).sum();
        details["accepted_prediction_tokens"] = accepted.into();
        details["rejected_prediction_tokens"] = (drafted - accepted).into();
    }
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
        "prompt_tokens_details": {"cached_tokens": first.map_or(0, |stats| stats.cached_tokens)},
        "completion_tokens_details": details,
    })
}
