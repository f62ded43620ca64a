//! The answer to a request for a chat completion, whole or as the events of a stream.

#[cfg(test)]
mod tests;

use foretoken_protocol::{
    FinishReason, Part, PositionStats, ReplyStats, TokenLogprob, TokenLogprobs, TokenText,
};
use serde_json::{Map, Value, json};

use crate::error::ApiError;

/// What all parts of one answer say.
#[derive(Debug, Clone)]
pub(crate) struct Meta {
    pub(crate) id: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
    pub(crate) model: String,
    pub(crate) fingerprint: String,
}

/// What an answer is to tell besides its text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// The use of tokens at the end of a stream.
    pub(crate) include_usage: bool,
    /// Of each token in a stream whether it was drafted.
    pub(crate) trace: bool,
    /// How likely each token was.
    pub(crate) logprobs: bool,
}

/// One of the replies to a request.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    thinking: String,
    answer: String,
    logprobs: Vec<TokenLogprobs>,
    pub(crate) reason: FinishReason,
    pub(crate) stats: ReplyStats,
    /// How long it waited until its prompt was read, in milliseconds.
    pub(crate) queue_ms: u64,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            thinking: String::new(),
            answer: String::new(),
            logprobs: Vec::new(),
            reason: FinishReason::Stop,
            stats: ReplyStats::default(),
            queue_ms: 0,
        }
    }
}

impl Choice {
    /// Adds what a step wrote.
    pub(crate) fn take(&mut self, tokens: &[TokenText], logprobs: Vec<TokenLogprobs>) {
        for TokenText { text, part, .. } in tokens {
            match part {
                Part::Thinking => self.thinking.push_str(text),
                Part::Answer => self.answer.push_str(text),
            }
        }
        self.logprobs.extend(logprobs);
    }
}

/// The whole answer.
pub(crate) fn whole(meta: &Meta, options: Options, choices: &[Choice]) -> Value {
    let written = choices.iter().enumerate().map(|(index, choice)| {
        let mut message = json!({"role": "assistant", "content": choice.answer, "refusal": null});
        if !choice.thinking.is_empty() {
            message["reasoning_content"] = choice.thinking.as_str().into();
            message["reasoning"] = choice.thinking.as_str().into();
        }
        json!({
            "index": index,
            "message": message,
            "logprobs": options.logprobs.then(|| chances(&choice.logprobs)),
            "finish_reason": reason(choice.reason),
        })
    });
    let mut answer = head(meta, "chat.completion");
    answer.insert("choices".into(), written.collect());
    let ends: Vec<End<'_>> =
        choices.iter().map(|choice| End { stats: &choice.stats, queue_ms: choice.queue_ms }).collect();
    answer.insert("usage".into(), usage(&ends));
    answer.extend(figures(&ends));
    answer.into()
}

/// The events of a stream, but for their framing.
#[derive(Debug)]
pub(crate) struct Stream {
    meta: Meta,
    options: Options,
    /// The figures of each reply that has ended.
    ended: Vec<Option<(ReplyStats, u64)>>,
}

impl Stream {
    /// For so many replies.
    pub(crate) fn new(meta: Meta, options: Options, choices: usize) -> Self {
        Self { meta, options, ended: vec![None; choices] }
    }

    /// The engine has taken a reply on.
    pub(crate) fn begin(&self, index: usize) -> Value {
        self.chunk(index, json!({"role": "assistant", "content": ""}), None).into()
    }

    /// A step has written something: an event for each stretch of one part.
    pub(crate) fn tokens(
        &self,
        index: usize,
        tokens: &[TokenText],
        logprobs: &[TokenLogprobs],
    ) -> Vec<Value> {
        let mut events: Vec<Value> = tokens
            .chunk_by(|one, next| one.part == next.part)
            .filter_map(|stretch| {
                let text: String = stretch.iter().map(|token| token.text.as_str()).collect();
                if text.is_empty() {
                    return None;
                }
                let delta = match stretch.first()?.part {
                    Part::Thinking => json!({"reasoning_content": text, "reasoning": text}),
                    Part::Answer => json!({"content": text}),
                };
                let mut event = self.chunk(index, delta, None);
                if self.options.trace {
                    let traced = |token: &TokenText| json!([token.text, token.draft_position]);
                    let tokens: Vec<Value> = stretch.iter().map(traced).collect();
                    event.insert("foretoken".into(), json!({"tokens": tokens}));
                }
                Some(event.into())
            })
            .collect();
        if self.options.logprobs && !logprobs.is_empty() {
            // What a token without text yet is likely is told all the same.
            if events.is_empty() {
                events.push(self.chunk(index, json!({"content": ""}), None).into());
            }
            if let Some(event) = events.last_mut() {
                event["choices"][0]["logprobs"] = chances(logprobs);
            }
        }
        events
    }

    /// A reply has ended.
    pub(crate) fn finished(
        &mut self,
        index: usize,
        reason: FinishReason,
        stats: ReplyStats,
        queue_ms: u64,
    ) -> Value {
        let mut event = self.chunk(index, json!({}), Some(reason));
        if !self.options.include_usage {
            event.extend(figures(&[End { stats: &stats, queue_ms }]));
        }
        if let Some(ended) = self.ended.get_mut(index) {
            *ended = Some((stats, queue_ms));
        }
        event.into()
    }

    /// All have ended.
    pub(crate) fn end(&self) -> Option<Value> {
        if !self.options.include_usage {
            return None;
        }
        let ended = self.ended.iter().flatten();
        let ends: Vec<End<'_>> = ended.map(|(stats, queue_ms)| End { stats, queue_ms: *queue_ms }).collect();
        let mut event = head(&self.meta, "chat.completion.chunk");
        event.insert("choices".into(), json!([]));
        event.insert("usage".into(), usage(&ends));
        event.extend(figures(&ends));
        Some(event.into())
    }

    fn chunk(&self, index: usize, delta: Value, ended: Option<FinishReason>) -> Map<String, Value> {
        let choice = json!({
            "index": index, "delta": delta, "logprobs": null, "finish_reason": ended.map(reason),
        });
        let mut event = head(&self.meta, "chat.completion.chunk");
        event.insert("choices".into(), json!([choice]));
        if self.options.include_usage {
            event.insert("usage".into(), Value::Null);
        }
        event
    }
}

/// Why there is no answer.
pub(crate) fn error_body(error: &ApiError) -> Value {
    let (kind, code) = error.kind_and_code();
    json!({"error": {"message": error.to_string(), "type": kind, "param": error.field(), "code": code}})
}

fn head(meta: &Meta, object: &str) -> Map<String, Value> {
    let Meta { id, created, model, fingerprint } = meta;
    let fields = [
        ("id", id.as_str().into()),
        ("object", object.into()),
        ("created", (*created).into()),
        ("model", model.as_str().into()),
        ("system_fingerprint", fingerprint.as_str().into()),
    ];
    fields.into_iter().map(|(name, value): (_, Value)| (name.to_owned(), value)).collect()
}

fn reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Length => "length",
        FinishReason::Stop | FinishReason::Cancelled | FinishReason::Error => "stop",
    }
}

fn chances(logprobs: &[TokenLogprobs]) -> Value {
    let content: Vec<Value> = logprobs
        .iter()
        .map(|TokenLogprobs { token, top }| {
            let mut entry = chance(token);
            entry["top_logprobs"] = top.iter().map(chance).collect();
            entry
        })
        .collect();
    json!({"content": content, "refusal": null})
}

fn chance(token: &TokenLogprob) -> Value {
    let TokenLogprob { text, bytes, logprob, .. } = token;
    json!({"token": text, "logprob": finite(f64::from(*logprob)), "bytes": bytes})
}

/// A number that JSON can say; a chance of nothing at all is OpenAI's -9999.
fn finite(logprob: f64) -> f64 {
    if logprob.is_finite() { logprob } else { -9999.0 }
}

/// The figures of a reply that has ended.
#[derive(Debug, Clone, Copy)]
struct End<'a> {
    stats: &'a ReplyStats,
    queue_ms: u64,
}

/// Tokens of a request: its prompt was read once, however many replies there are.
fn usage(ends: &[End<'_>]) -> Value {
    let sum =
        |count: fn(&ReplyStats) -> u32| -> u64 { ends.iter().map(|end| u64::from(count(end.stats))).sum() };
    let first = ends.first().map(|end| end.stats);
    let prompt = first.map_or(0, |stats| u64::from(stats.prompt_tokens));
    let written = sum(|stats| stats.emitted);
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
        "prompt_tokens_details": {"cached_tokens": first.map_or(0, |stats| stats.cached_tokens)},
        "completion_tokens_details": {"reasoning_tokens": sum(|stats| stats.thinking.emitted)},
    })
}

/// `timings`, in llama.cpp's names, of the first reply, and `foretoken`, of each where there are several.
fn figures(ends: &[End<'_>]) -> [(String, Value); 2] {
    let timings = ends.first().map(|end| timings(end.stats));
    let own: Value = match ends {
        [end] => foretoken(end),
        several => several.iter().map(foretoken).collect(),
    };
    [("timings".into(), timings.into()), ("foretoken".into(), own)]
}

fn timings(stats: &ReplyStats) -> Value {
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

fn foretoken(end: &End<'_>) -> Value {
    let stats = end.stats;
    let mut own = json!({
        "positions": stats.positions,
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
    if let Some(plain) = &stats.plain {
        own["plain_tokens_per_second"] = rounded(plain.tokens_per_second).into();
    }
    if let Some(note) = &stats.drafting_note {
        own["note"] = note.as_str().into();
    }
    own
}

fn milliseconds(seconds: f64) -> f64 {
    rounded(seconds * 1e3)
}

/// With two decimals; 0 for what JSON cannot say.
fn rounded(number: f64) -> f64 {
    let rounded = (number * 100.0).round() / 100.0;
    if rounded.is_finite() { rounded } else { 0.0 }
}
