//! What the prefix cache gains in the second turn of a chat.

use std::sync::Arc;
use std::time::{Duration, Instant};

use foretoken_protocol::{Counters, Drafting, Priority, Sampling};
use serde::Serialize;

use super::ordinary_tokens;
use super::spread::{Spread, spread};
use crate::decode::{Limits, Policy, RowSpec, Scheduler, SchedulerEvent};
use crate::error::EngineError;
use crate::model::Qwen;
use crate::session::Session;

/// What a template writes before a reply. When the chat goes on it is not there any more, as the mark of a thought is
/// not.
const REPLY_BEGIN: usize = 6;
/// The first reply as the second prompt has it.
const REPLY: usize = 40;
/// The second question.
const QUESTION: usize = 20;

/// The time from a second question in a chat to the first token of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SecondTurn {
    /// Tokens of the second prompt.
    pub prompt_tokens: usize,
    /// Of those, how many the first turn had read.
    pub cached_tokens: usize,
    /// Where the whole prompt is read.
    pub seconds_without: Spread,
    /// Where the first turn is in the prefix cache.
    pub seconds_with: Spread,
    /// Without over with, in the same run.
    pub gain: Spread,
}

/// The figures of one run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    prompt_tokens: usize,
    cached_tokens: usize,
    without: Duration,
    with: Duration,
    pub(super) counters: Counters,
}

impl SecondTurn {
    /// Over all runs; `None` without any.
    pub(super) fn over(runs: impl Iterator<Item = Timed> + Clone) -> Option<Self> {
        let Timed { prompt_tokens, cached_tokens, .. } = runs.clone().next()?;
        let over = |figure: fn(Timed) -> f64| spread(runs.clone().map(figure));
        Some(Self {
            prompt_tokens,
            cached_tokens,
            seconds_without: over(|run| run.without.as_secs_f64()),
            seconds_with: over(|run| run.with.as_secs_f64()),
            gain: over(|run| run.without.as_secs_f64() / run.with.as_secs_f64()),
        })
    }
}

/// Times the second turn of a chat of so many tokens, or of as many as the model can read.
pub(super) fn time(session: &Session, chat_tokens: usize) -> Result<Timed, EngineError> {
    let more = REPLY + QUESTION + 2 * REPLY_BEGIN;
    let room = (session.info.context_length as usize).saturating_sub(more + 1);
    let chat = chat_tokens.min(room).max(1);
    let text = ordinary_tokens(session, chat + more);
    // Any other tokens than those behind the chat.
    let reply_begin = text[..REPLY_BEGIN].iter().rev();
    let first: Vec<u32> = text[..chat].iter().chain(reply_begin).copied().collect();
    let (first, second) = (request(first, vec![0, chat]), request(text, vec![0, chat, chat + REPLY]));

    let model = session.model();
    let (without, _) = first_token(model, &mut scheduler(model, 0), &second)?;
    let mut caching = scheduler(model, u64::MAX);
    first_token(model, &mut caching, &first)?;
    let (with, cached_tokens) = first_token(model, &mut caching, &second)?;
    let (prompt_tokens, counters) = (second.prompt.len(), caching.counters());
    Ok(Timed { prompt_tokens, cached_tokens, without, with, counters })
}

fn scheduler(model: &Qwen, prefix_cache_bytes: u64) -> Scheduler {
    Scheduler::new(model, Limits { prefix_cache_bytes, ..Limits::default() }, Policy::default())
}

fn request(prompt: Vec<u32>, message_starts: Vec<usize>) -> RowSpec {
    RowSpec {
        reply_from: prompt.len(),
        prompt,
        sampling: Sampling::default(),
        seed: 0,
        max_tokens: 1,
        stop_ids: Vec::new(),
        xtc_exempt: Vec::new(),
        message_starts,
        drafts: false,
        logprobs: None,
        constraint: None,
        priority: Priority::default(),
        prediction: Arc::default(),
        pictures: Vec::new(),
        known_drafts: None,
        widths: 1..=usize::MAX,
        remember: None,
    }
}

/// The time to a prompt's first token, and how many of its tokens were cached.
fn first_token(
    model: &Qwen,
    scheduler: &mut Scheduler,
    request: &RowSpec,
) -> Result<(Duration, usize), EngineError> {
    let begin = Instant::now();
    scheduler.submit(0, request.clone(), Drafting::Off)?;
    let mut cached = None;
    loop {
        for event in scheduler.pump(model) {
            match event {
                SchedulerEvent::Prefilling { done, .. } => _ = cached.get_or_insert(done),
                SchedulerEvent::Advanced { .. } => return Ok((begin.elapsed(), cached.unwrap_or(0))),
                SchedulerEvent::Failed { error, .. } => return Err(error.into()),
                SchedulerEvent::Waiting { .. } | SchedulerEvent::Looked { .. } => {}
            }
        }
    }
}
