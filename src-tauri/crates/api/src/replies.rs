//! The replies to one request, in the making. Whoever drops them ends them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use foretoken_host::{Engine, Generation, Prompt, ReplyProgress, SettingsFor};
use foretoken_protocol::{
    Drafting, EngineState, ErrorReport, Event, FinishReason, ModelInfo, MtpState, Priority, ReplyStats,
    RequestId, Sampling, StopScope, TokenLogprobs, TokenText,
};

use crate::admission::Entered;
use crate::api::Api;
use crate::ask::Ask;
use crate::content::{Content, Reader};
use crate::error::ApiError;
use crate::fields::invalid;
use crate::live::LiveRequest;
use crate::models::{self, Found};
use crate::pictures::Shown;
use crate::redacted::redacted;

redacted!(Step, EndReason);

/// That a tool which must be called may get any arguments, since its schema cannot be enforced.
const UNBOUND_TOOL: &str = "unbound-tool";

/// What happens to a reply once the engine has taken it on.
#[derive(Debug)]
pub(crate) enum Progress {
    /// How much of the prompt was found read already. Comes once, before any text.
    Begun(PromptSize),
    /// A step has ended.
    Step(Step),
    /// It has ended.
    End(End),
}

/// The tokens of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PromptSize {
    pub(crate) tokens: u32,
    /// Those of them that were not read again.
    pub(crate) cached: u32,
}

/// What a step adds to a reply.
#[derive(Clone, Default)]
pub(crate) struct Step {
    pub(crate) contents: Vec<Content>,
    pub(crate) tokens: Vec<TokenText>,
    pub(crate) logprobs: Vec<TokenLogprobs>,
}

/// How a reply ended.
#[derive(Debug, Clone)]
pub(crate) struct End {
    /// What was held back until then.
    pub(crate) contents: Vec<Content>,
    pub(crate) reason: EndReason,
    pub(crate) stats: Box<ReplyStats>,
    /// What its program may not expect of it, a word each.
    pub(crate) warnings: Vec<&'static str>,
    /// How long it waited until its prompt was read, in milliseconds.
    pub(crate) queue_ms: u64,
}

/// Why a reply ended.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// The model was done.
    Done,
    /// It calls tools.
    Calls,
    /// This stop text came.
    StopText(String),
    /// It is as long as was asked for.
    Length,
    /// Nothing more fits into the context.
    ContextFull,
}

/// The replies to one request.
#[derive(Debug)]
pub(crate) struct Replies {
    api: Arc<Api>,
    ask: Ask,
    model: Found,
    /// The seed of the first reply; the others have those that follow.
    seed: u64,
    arrived: Instant,
    running: Vec<Running>,
    /// What was learned of the first reply while it was taken on.
    pending: Option<Progress>,
    /// The pictures that the model is shown.
    _shown: Shown,
    /// Keeps the place of the request among those that are with the engine.
    _entered: Entered,
    /// Keeps it on the list of those that are there.
    live: LiveRequest,
}

#[derive(Debug)]
struct Running {
    engine: Arc<Engine>,
    id: RequestId,
    generation: Generation,
    reader: Reader,
    /// The model that is to write it.
    model: Found,
    /// Who is to draft, and the field that says so, where the request names somebody.
    drafter: Option<(Drafting, String)>,
    /// Whether a tool that must be called may get any arguments.
    has_unbound_tools: bool,
    /// The tokens of its prompt, and those that the model can read and write in all.
    size: Option<(u32, u32)>,
    /// How long it waited until its prompt was read.
    queued: Option<Duration>,
    ended: bool,
}

impl Running {
    /// What the engine has said, as far as anybody has to know.
    fn heed(
        &mut self,
        progress: Option<ReplyProgress>,
        arrived: Instant,
    ) -> Result<Option<Progress>, ApiError> {
        match progress {
            // A person has chosen another one in the meantime.
            Some(ReplyProgress::Begun(begun)) if self.model.folder != begun.model.path => {
                Err(ApiError::ModelBusy { name: self.model.id.clone() })
            }
            Some(ReplyProgress::Begun(begun)) => match &self.drafter {
                Some((drafting, field)) => check_drafter(*drafting, field, &begun.model).map(|()| None),
                None => Ok(None),
            },
            Some(ReplyProgress::Event(Event::Prepared { tokens, context, unbound_tools, .. })) => {
                self.size = Some((tokens, context));
                self.has_unbound_tools = !unbound_tools.is_empty();
                Ok(None)
            }
            Some(ReplyProgress::Event(Event::Reading { done, total, .. })) if self.queued.is_none() => {
                self.queued = Some(arrived.elapsed());
                // The last token is not read with the others: it is what the first step starts from.
                let tokens = self.size.map_or(total, |(tokens, _)| tokens);
                Ok(Some(Progress::Begun(PromptSize { tokens, cached: done })))
            }
            Some(ReplyProgress::Event(Event::Tokens { tokens, logprobs, .. })) => {
                let contents = self.reader.tokens(&tokens);
                Ok(Some(Progress::Step(Step { contents, tokens, logprobs })))
            }
            Some(ReplyProgress::Event(Event::Finished { reason, stop, stats, .. })) => {
                self.ended = true;
                Ok(Some(Progress::End(self.end(reason, stop, stats)?)))
            }
            Some(ReplyProgress::Event(Event::Failed { error, .. })) => {
                self.ended = true;
                Err(refusal(&error, self.size))
            }
            Some(ReplyProgress::Interrupted(_)) | None => {
                self.ended = true;
                Err(ApiError::EngineStopped)
            }
            Some(ReplyProgress::Event(_)) => Ok(None),
        }
    }

    fn end(
        &mut self,
        reason: FinishReason,
        stop: Option<String>,
        stats: Box<ReplyStats>,
    ) -> Result<End, ApiError> {
        let contents = self.reader.finish();
        let full = self.size.is_some_and(|(_, context)| stats.prompt_tokens + stats.emitted >= context);
        let reason = match (reason, stop) {
            (FinishReason::Cancelled, _) => return Err(ApiError::Cancelled),
            (FinishReason::Error, _) => return Err(ApiError::Internal { code: "reply_failed".into() }),
            (FinishReason::Stop, Some(text)) => EndReason::StopText(text),
            (FinishReason::Stop, None) if self.reader.has_calls() => EndReason::Calls,
            // Programs do not run what they are told is not whole.
            (FinishReason::Stop, None) if self.reader.is_cut() => EndReason::Length,
            (FinishReason::Stop, None) => EndReason::Done,
            (FinishReason::Length, _) if full => EndReason::ContextFull,
            (FinishReason::Length, _) => EndReason::Length,
        };
        let queue_ms = self.queued.unwrap_or_default().as_millis() as u64;
        let mut warnings = self.reader.warnings().to_vec();
        warnings.extend(self.has_unbound_tools.then_some(UNBOUND_TOOL));
        Ok(End { contents, reason, stats, warnings, queue_ms })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.engine.cancel(self.id);
        }
    }
}

impl Replies {
    /// Waits for a place, for the model, and until the engine has taken on the first reply: what it refuses is refused
    /// here.
    pub(crate) async fn begin(
        api: Arc<Api>,
        mut ask: Ask,
        model: Found,
        client: String,
        mut live: LiveRequest,
    ) -> Result<Self, ApiError> {
        let arrived = Instant::now();
        let entered = tokio::select! {
            entered = enter(&api, &client, &model, &mut ask) => entered,
            () = live.stopped() => Err(ApiError::Cancelled),
        };
        let (entered, shown) = entered.inspect_err(|error| live.failed(error))?;
        let seed = ask.settings.seed.unwrap_or_else(Sampling::random_seed);
        let mut replies = Self {
            api,
            ask,
            model,
            seed,
            arrived,
            running: Vec::new(),
            pending: None,
            _shown: shown,
            _entered: entered,
            live,
        };
        replies.submit();
        let stopped = replies.live.stopped();
        let taken_on = tokio::select! {
            taken_on = replies.taken_on() => taken_on,
            () = stopped => Err(ApiError::Cancelled),
        };
        match taken_on {
            Ok(()) => Ok(replies),
            Err(error) => {
                replies.live.failed(&error);
                Err(error)
            }
        }
    }

    /// What their program may not expect of them, as far as that is known before they are written.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &'static str> {
        let has_unbound_tools = self.running.iter().any(|running| running.has_unbound_tools);
        has_unbound_tools.then_some(UNBOUND_TOOL).into_iter().chain(self.ask.pictures.warning())
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
            stop_scope: StopScope::Answer,
            logprobs: self.ask.logprobs,
            constraint: self.ask.settings.constraint.clone(),
            prediction: self.ask.settings.prediction.clone(),
            remember: self.ask.settings.remember.then_some(0),
            priority: if self.ask.settings.in_background { Priority::Background } else { Priority::Normal },
            ..Prompt::new(self.ask.input.clone(), settings)
        };
        let engine = Arc::clone(&self.api.engine);
        let generation = engine.generate(prompt);
        let (id, reader) = (generation.id, Reader::new(&self.ask.tools).with_one_call(self.ask.one_call()));
        let settings = &self.ask.settings;
        self.running.push(Running {
            engine,
            id,
            generation,
            reader,
            model: self.model.clone(),
            drafter: settings.drafting.zip(settings.names_drafter.clone()),
            has_unbound_tools: false,
            size: None,
            queued: None,
            ended: false,
        });
    }

    /// Waits until the engine has made the prompt of the first reply and found that it can be read.
    async fn taken_on(&mut self) -> Result<(), ApiError> {
        let arrived = self.arrived;
        let Some(first) = self.running.first_mut() else { return Ok(()) };
        while self.pending.is_none() {
            match first.generation.progress.recv().await {
                Some(ReplyProgress::Event(Event::Waiting { .. })) => return Ok(()),
                progress => {
                    if let Some(progress) = &progress {
                        self.live.heed(0, progress);
                    }
                    self.pending = first.heed(progress, arrived)?;
                }
            }
        }
        Ok(())
    }

    /// What happens next, and to which reply; `None` once all have ended. The replies behind the first are asked for
    /// when that has read the prompt, so that it is read once.
    pub(crate) async fn next(&mut self) -> Option<Result<(usize, Progress), ApiError>> {
        let stopped = self.live.stopped();
        let next = tokio::select! {
            next = self.next_of_all() => next,
            () = stopped => Some(Err(ApiError::Cancelled)),
        };
        match &next {
            Some(Ok(_)) => {}
            Some(Err(error)) => self.live.failed(error),
            None => self.live.done(),
        }
        next
    }

    async fn next_of_all(&mut self) -> Option<Result<(usize, Progress), ApiError>> {
        if let Some(progress) = self.pending.take() {
            return Some(Ok((0, progress)));
        }
        loop {
            if self.running.iter().all(|running| running.ended) && self.running.len() == self.count() {
                return None;
            }
            let (index, progress) = self.progress().await;
            if let Some(progress) = &progress {
                self.live.heed(index, progress);
            }
            let arrived = self.arrived;
            let progress = match self.running.get_mut(index)?.heed(progress, arrived) {
                Ok(None) => continue,
                Ok(Some(progress)) => progress,
                Err(error) => return Some(Err(error)),
            };
            while !matches!(progress, Progress::Begun(_)) && self.running.len() < self.count() {
                self.submit();
            }
            return Some(Ok((index, progress)));
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

/// Refuses a drafter that is not loaded with the model.
fn check_drafter(drafting: Drafting, field: &str, model: &ModelInfo) -> Result<(), ApiError> {
    let has_head = matches!(model.mtp, MtpState::Present { .. });
    let missing = if drafting.needs_draft_model() && model.draft_model.is_none() {
        "no draft model is loaded with the model"
    } else if drafting.needs_head() && !has_head {
        "the model has no MTP head"
    } else {
        return Ok(());
    };
    let drafters = [("mtp", has_head), ("dflash", model.draft_model.is_some()), ("lookup", true)];
    let there: Vec<_> =
        drafters.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| format!("{name:?}")).collect();
    Err(invalid(field, format!("{missing}; there is {}", there.join(" and "))))
}

/// Waits for a place, and for the model if another one is loaded, which is shown the pictures. What can be refused
/// without decoding them is refused before.
async fn enter(
    api: &Arc<Api>,
    client: &str,
    model: &Found,
    ask: &mut Ask,
) -> Result<(Entered, Shown), ApiError> {
    // Whoever's pictures cannot be shown takes no place and has nothing loaded.
    if !ask.pictures.is_empty() {
        ask.pictures.admit(models::sight(api, &model.folder).as_ref(), &mut ask.input)?;
    }
    let (replies, in_background) = (usize::from(ask.choices), ask.settings.in_background);
    let entered = tokio::select! {
        // Whoever goes on at once is not looked at beforehand.
        biased;
        entered = api.admission.enter(client, &model.folder, replies, in_background) => entered?,
        error = refused_while_waiting(api, model, ask) => return Err(error),
    };
    models::have(api, model).await?;
    let mut shown = Shown::default();
    if !ask.pictures.is_empty() {
        models::try_again(api).await?;
        let info = models::loaded(api).await?;
        if info.path != model.folder {
            return Err(ApiError::ModelBusy { name: model.id.clone() });
        }
        if let Some(error) = unreadable(api, model, ask).await {
            return Err(error);
        }
        shown = ask.pictures.show(api, &info.pictures, &mut ask.input).await?;
    }
    Ok((entered, shown))
}

/// Refuses what the model that is loaded could never read, even without its pictures, while it waits for its turn:
/// whoever waits for long has got a status before the turn comes. Waits for ever where there is nothing to refuse.
async fn refused_while_waiting(api: &Api, model: &Found, ask: &Ask) -> ApiError {
    match unreadable(api, model, ask).await {
        Some(error) => error,
        None => std::future::pending().await,
    }
}

async fn unreadable(api: &Api, model: &Found, ask: &Ask) -> Option<ApiError> {
    let EngineState::Ready { model: info, .. } = api.engine.state() else { return None };
    if info.path != model.folder {
        return None;
    }
    let input = ask.pictures.left_out_of(&ask.input);
    let _place = api.counts.acquire().await;
    let thinking = ask.settings.thinking.unwrap_or_else(|| api.models.settings(&info).thinking.is_on());
    let error = match api.engine.count_input(input, thinking).await {
        Ok(tokens) if tokens < info.context_length => return None,
        Ok(tokens) => ApiError::PromptTooLong { tokens, most: info.context_length },
        Err(error) => refusal(&error, None),
    };
    // Others may have come to write meanwhile, and what failed may go another time.
    let is_loaded = api.current_model().as_ref() == Some(&model.folder);
    Some(error).filter(|error| is_loaded && error.status() == StatusCode::BAD_REQUEST)
}

/// What the engine's refusal says to programs. Its own words may name folders. `size`: the tokens of the prompt, and
/// those that the model can read.
pub(crate) fn refusal(error: &ErrorReport, size: Option<(u32, u32)>) -> ApiError {
    match (error.code.as_str(), size) {
        ("prompt_too_long", Some((tokens, most))) => ApiError::PromptTooLong { tokens, most },
        ("template_failed", _) => ApiError::TemplateRefused,
        ("template_without_tools" | "template_with_other_calls", _) => ApiError::NoTools,
        ("no_fill_in", _) => ApiError::NoFillIn,
        ("sees_no_pictures" | "template_without_pictures", _) => {
            ApiError::SeesNoPictures { field: None, reason: error.message.clone() }
        }
        // These words are about what the program has sent, and name nothing else.
        (
            "invalid_grammar"
            | "form_of_resumed_reply"
            | "thinking_unknown"
            | "calls_unknown"
            | "unknown_biased_token",
            _,
        ) => ApiError::NotEnforceable { reason: error.message.clone(), hint: error.hint.clone() },
        ("grammar_failed", _) => {
            ApiError::FormGaveOut { reason: error.message.clone(), hint: error.hint.clone() }
        }
        ("unknown_token" | "empty_prompt", _) => ApiError::PromptInvalid,
        ("no_model" | "engine_not_started", _) => ApiError::NoModelLoaded,
        ("out_of_memory" | "prompt_too_large", _) => ApiError::OutOfMemory,
        ("engine_stopped" | "engine_hung" | "app_closed", _) => ApiError::EngineStopped,
        (code, _) => ApiError::Internal { code: code.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use foretoken_calls::Tools;
    use foretoken_host::{Begun, Timeouts};
    use foretoken_protocol::{ChatMessage, DraftModelInfo, GenerationSettings, KvPrecision, Thinking};

    use super::*;

    fn info(path: &str) -> ModelInfo {
        ModelInfo {
            name: "m".into(),
            path: path.into(),
            architecture: "qwen3_5".into(),
            parameters: 1,
            format: "bfloat16".into(),
            mtp: MtpState::Absent,
            context_length: 64,
            defaults: Sampling::default(),
            thinking: false,
            thinking_effort: false,
            opens_thinking: false,
            tools: false,
            json_calls: false,
            pictures: Box::default(),
            fingerprint: String::new(),
            weight_bytes: 1,
            kv_precision: KvPrecision::Full,
            draft_model: None,
            draft_model_refused: None,
            macs: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn settings() -> GenerationSettings {
        GenerationSettings {
            sampling: Sampling::default(),
            drafting: Drafting::Auto,
            max_tokens: 1,
            thinking: Thinking::Off,
            stop: Vec::new(),
        }
    }

    /// Between the moment when a request is let in and the one when its reply begins, a person may choose another
    /// model: that one must not write under the name of the one before.
    #[tokio::test]
    async fn a_reply_that_another_model_has_come_to_write_is_refused() {
        let (engine, _supervisor) =
            Engine::new(std::path::PathBuf::from("/nowhere"), "/nowhere".into(), Timeouts::default());
        let engine = Arc::new(engine);
        let prompt = Prompt::new(vec![ChatMessage::user("Hi")], settings());
        let generation = engine.generate(prompt);
        let model = Found { id: "a".into(), folder: "/models/a".into(), is_alias: false };
        let (reader, id) = (Reader::new(&Tools::default()), generation.id);
        let mut running = Running {
            engine,
            id,
            generation,
            reader,
            model,
            drafter: None,
            has_unbound_tools: false,
            size: None,
            queued: None,
            ended: false,
        };
        let begun = |path: &str| {
            let begun = Begun { model: info(path), settings: settings() };
            Some(ReplyProgress::Begun(Box::new(begun)))
        };
        assert!(running.heed(begun("/models/a"), Instant::now()).unwrap().is_none());
        let refused = running.heed(begun("/models/b"), Instant::now()).unwrap_err();
        assert_eq!(refused, ApiError::ModelBusy { name: "a".into() });
    }

    #[test]
    fn a_drafter_that_is_not_loaded_is_refused_and_those_that_are_there_are_named() {
        let alone = info("/models/a");
        let head = MtpState::Present { tensors: 1, format: "4-bit".into(), declared: true };
        let draft = DraftModelInfo { name: "d".into(), path: "/d".into(), weight_bytes: 1, most_guesses: 7 };
        let both = ModelInfo { mtp: head.clone(), draft_model: Some(Box::new(draft)), ..info("/models/b") };
        let with_head = ModelInfo { mtp: head, ..info("/models/c") };
        let (mtp, dflash) = (Drafting::Mtp, Drafting::Dflash { depth: Some(7) });
        for (model, drafting, said) in [
            (&alone, mtp, Some("f: the model has no MTP head; there is \"lookup\".")),
            (
                &alone,
                Drafting::Fixed { depth: 2 },
                Some("f: the model has no MTP head; there is \"lookup\"."),
            ),
            (
                &with_head,
                dflash,
                Some("f: no draft model is loaded with the model; there is \"mtp\" and \"lookup\"."),
            ),
            (&alone, Drafting::Lookup, None),
            (&with_head, mtp, None),
            (&both, dflash, None),
        ] {
            let refused = check_drafter(drafting, "f", model).err();
            assert_eq!(refused.as_ref().map(ToString::to_string).as_deref(), said);
            assert!(refused.is_none_or(|error| error.field() == Some("f")));
        }
    }
}
