//! The replies to one request, in the making. Whoever drops them ends them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use foretoken_host::{Engine, Generation, Prompt, ReplyProgress, SettingsFor};
use foretoken_protocol::{
    ErrorReport, Event, FinishReason, ReplyStats, RequestId, Sampling, StopScope, TokenLogprobs, TokenText,
};

use crate::admission::Entered;
use crate::api::Api;
use crate::ask::Ask;
use crate::error::ApiError;

/// What happens to a reply once the engine has taken it on.
#[derive(Debug)]
pub(crate) enum Progress {
    /// It has more text.
    Tokens { tokens: Vec<TokenText>, logprobs: Vec<TokenLogprobs> },
    /// It has ended.
    Finished { reason: FinishReason, stats: Box<ReplyStats>, queued: Duration },
}

/// The replies to one request.
#[derive(Debug)]
pub(crate) struct Replies {
    api: Arc<Api>,
    ask: Ask,
    /// The seed of the first reply; the others have those that follow.
    seed: u64,
    arrived: Instant,
    running: Vec<Running>,
    /// Keeps the place of the request among those that are with the engine.
    _entered: Entered,
}

#[derive(Debug)]
struct Running {
    engine: Arc<Engine>,
    id: RequestId,
    generation: Generation,
    /// How long it waited until its prompt was read.
    queued: Option<Duration>,
    ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.engine.cancel(self.id);
        }
    }
}

impl Replies {
    /// Waits for a place, and until the engine has taken on the first reply: what it refuses is refused here.
    pub(crate) async fn begin(api: Arc<Api>, ask: Ask, client: String) -> Result<Self, ApiError> {
        let arrived = Instant::now();
        let entered = api.admission.enter(&client, usize::from(ask.choices)).await?;
        let seed = ask.settings.seed.unwrap_or_else(Sampling::random_seed);
        let mut replies = Self { api, ask, seed, arrived, running: Vec::new(), _entered: entered };
        replies.submit();
        replies.taken_on().await?;
        Ok(replies)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        usize::from(self.ask.choices)
    }

    /// Asks the engine for the next one.
    fn submit(&mut self) {
        let index = self.running.len() as u64;
        let mut asked = self.ask.settings.clone();
        asked.seed = Some(self.seed.wrapping_add(index));
        let models = Arc::clone(&self.api.models);
        let settings = SettingsFor::model(move |model| asked.applied_to(models.settings(model)));
        let prompt = Prompt {
            resume: self.ask.resume.clone(),
            stop_scope: StopScope::Answer,
            logprobs: self.ask.logprobs,
            ..Prompt::new(self.ask.messages.clone(), settings)
        };
        let engine = Arc::clone(&self.api.engine);
        let generation = engine.generate(prompt);
        self.running.push(Running { engine, id: generation.id, generation, queued: None, ended: false });
    }

    /// Waits until the engine has made the prompt of the first reply and found that it can be read.
    async fn taken_on(&mut self) -> Result<(), ApiError> {
        let Some(first) = self.running.first_mut() else { return Ok(()) };
        let mut size = None;
        loop {
            match first.generation.progress.recv().await {
                Some(ReplyProgress::Begun(_)) => {}
                Some(ReplyProgress::Event(Event::Prepared { tokens, context, .. })) => {
                    size = Some((tokens, context))
                }
                Some(ReplyProgress::Event(Event::Waiting { .. })) => return Ok(()),
                Some(ReplyProgress::Event(Event::Failed { error, .. })) => {
                    first.ended = true;
                    return Err(refusal(&error, size));
                }
                Some(ReplyProgress::Event(Event::Finished { .. })) => {
                    first.ended = true;
                    return Err(ApiError::Cancelled);
                }
                Some(ReplyProgress::Event(_)) => {
                    first.queued = Some(self.arrived.elapsed());
                    return Ok(());
                }
                Some(ReplyProgress::Interrupted(_)) | None => {
                    first.ended = true;
                    return Err(ApiError::EngineStopped);
                }
            }
        }
    }

    /// What happens next, and to which reply; `None` once all have ended. The replies behind the first are asked for
    /// when that has read the prompt, so that it is read once.
    pub(crate) async fn next(&mut self) -> Option<Result<(usize, Progress), ApiError>> {
        loop {
            if self.running.iter().all(|running| running.ended) && self.running.len() == self.count() {
                return None;
            }
            let (index, progress) = self.progress().await;
            let arrived = self.arrived;
            let running = self.running.get_mut(index)?;
            let queued = &mut running.queued;
            let progress = match progress {
                Some(ReplyProgress::Event(Event::Tokens { tokens, logprobs, .. })) => {
                    Ok((index, Progress::Tokens { tokens, logprobs }))
                }
                Some(ReplyProgress::Event(Event::Finished { reason, stats, .. })) => {
                    running.ended = true;
                    let queued = queued.unwrap_or_default();
                    match reason {
                        FinishReason::Cancelled => Err(ApiError::Cancelled),
                        FinishReason::Error => Err(ApiError::Internal { code: "reply_failed".into() }),
                        FinishReason::Stop | FinishReason::Length => {
                            Ok((index, Progress::Finished { reason, stats, queued }))
                        }
                    }
                }
                Some(ReplyProgress::Event(Event::Failed { error, .. })) => {
                    running.ended = true;
                    Err(refusal(&error, None))
                }
                Some(ReplyProgress::Interrupted(_)) | None => {
                    running.ended = true;
                    Err(ApiError::EngineStopped)
                }
                Some(ReplyProgress::Event(Event::Reading { .. })) => {
                    queued.get_or_insert_with(|| arrived.elapsed());
                    continue;
                }
                Some(ReplyProgress::Begun(_) | ReplyProgress::Event(_)) => continue,
            };
            while progress.is_ok() && self.running.len() < self.count() {
                self.submit();
            }
            return Some(progress);
        }
    }

    /// What the engine says next of any of them.
    async fn progress(&mut self) -> (usize, Option<ReplyProgress>) {
        poll_fn(|context| {
            for (index, running) in self.running.iter_mut().enumerate().filter(|(_, running)| !running.ended)
            {
                if let Poll::Ready(progress) = pin!(running.generation.progress.recv()).poll(context) {
                    return Poll::Ready((index, progress));
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// What the engine's refusal says to programs. Its own words may name folders. `size`: the tokens of the prompt, and
/// those that the model can read.
fn refusal(error: &ErrorReport, size: Option<(u32, u32)>) -> ApiError {
    match (error.code.as_str(), size) {
        ("prompt_too_long", Some((tokens, most))) => ApiError::PromptTooLong { tokens, most },
        ("template_failed", _) => ApiError::TemplateRefused,
        ("no_model" | "engine_not_started", _) => ApiError::NoModelLoaded,
        ("out_of_memory" | "prompt_too_large", _) => ApiError::OutOfMemory,
        ("engine_stopped" | "engine_hung" | "app_closed", _) => ApiError::EngineStopped,
        (code, _) => ApiError::Internal { code: code.to_owned() },
    }
}
