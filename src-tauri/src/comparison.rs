//! One question answered twice, without drafts and with them: one after the other, alone in the engine, each token with
//! the time at which it came.

use std::sync::Arc;
use std::time::{Duration, Instant};

use foretoken_chats::{ChatsError, Store};
use foretoken_host::{Engine, Prompt, ReplyProgress, closed};
use foretoken_protocol::{
    AcceptanceRule, ChatId, ComparedReply, Comparison, ComparisonProgress, ComparisonSource,
    ComparisonVerdict, Drafting, EngineState, ErrorReport, Event, Exactness, GenerationSettings, MessageId,
    MtpState, Role, Sampling, TimedToken,
};
use tauri::ipc::Channel;
use tokio::sync::watch;

use crate::conversations::Conversations;
use crate::conversations::asking::{no_question, not_a_question};
use crate::conversations::pictures::Conversation;
use crate::models::Models;
use crate::settings::AppSettings;

/// The page hears of progress no more often than this.
const PULSE: Duration = Duration::from_millis(250);
/// Tokens of a reply that does not count. It reads the prompt, which both others then find in the engine's memory, and
/// lets the engine prepare all that it needs.
const WARM_UP: u32 = 16;

/// Compares, one question at a time.
pub(crate) struct Comparisons {
    engine: Arc<Engine>,
    conversations: Arc<Conversations>,
    models: Arc<Models>,
    settings: Arc<AppSettings>,
    /// Ends the comparison that runs.
    cancelled: watch::Sender<()>,
}

impl Comparisons {
    /// Comparisons by this engine.
    pub(crate) fn new(
        engine: Arc<Engine>,
        conversations: Arc<Conversations>,
        models: Arc<Models>,
        settings: Arc<AppSettings>,
    ) -> Self {
        Self { engine, conversations, models, settings, cancelled: watch::Sender::default() }
    }

    /// Answers a question without drafts and then with them. `None` if it was cancelled.
    pub(crate) async fn compare(
        &self,
        source: ComparisonSource,
        page: Channel<ComparisonProgress>,
    ) -> Result<Option<Comparison>, ErrorReport> {
        let mut cancelled = self.cancelled.subscribe();
        let _occupied = self.conversations.replies.lease_engine().ok_or_else(engine_busy)?;
        if self.models.library.is_converting() {
            return Err(converting());
        }
        let ready = self.engine.state();
        let model = match &ready {
            EngineState::Ready { model, .. } => model.clone(),
            EngineState::Failed { error, .. } => return Err(error.clone()),
            EngineState::Starting | EngineState::Loading { .. } => return Err(not_ready()),
        };
        let (conversation, settings) = self.compared(source).await?;
        let question = conversation.last_text();
        // Pictures whose pixels are gone are decoded again, which takes a while.
        let messages = tokio::select! {
            read = self.conversations.read_by(&conversation, &model) => read?.messages,
            Ok(()) = cancelled.changed() => return Ok(None),
        };
        let sampling = Sampling {
            seed: settings.sampling.seed.or_else(|| Some(Sampling::random_seed())),
            ..settings.sampling
        };
        let drafting = match settings.drafting {
            Drafting::Off => Drafting::Auto,
            drafting => drafting,
        };
        if !matches!(model.mtp, MtpState::Present { .. }) && drafting.needs_head() {
            return Err(no_head(&model.name));
        }
        if model.draft_model.is_none() && drafting.needs_draft_model() {
            return Err(no_draft_model(&model.name));
        }
        let settings = GenerationSettings { sampling, drafting, ..settings };
        let page = Page { channel: page, told: None };
        let (replies, state) = (self.conversations.replies.watch(), self.engine.watch());
        let mut writer = Writer { engine: &self.engine, ready, state, cancelled, replies, page };
        let warm_up = GenerationSettings { max_tokens: WARM_UP.min(settings.max_tokens), ..settings.clone() };
        let plain = GenerationSettings { drafting: Drafting::Off, ..settings.clone() };
        let written = async {
            writer.write(Prompt::new(messages.clone(), warm_up)).await?;
            let plain = writer.write(Prompt::new(messages.clone(), plain)).await?;
            Ok((plain, writer.write(Prompt::new(messages, settings)).await?))
        };
        let (plain, drafted) = match written.await {
            Ok(both) => both,
            Err(Ended::Cancelled) => return Ok(None),
            Err(Ended::Failed(error)) => return Err(error),
        };
        let model = self.models.name(&model.path);
        let verdict = verdict(&sampling, &plain, &drafted);
        Ok(Some(Comparison { question, model, sampling, drafting, plain, drafted, verdict }))
    }

    /// Ends the comparison that runs, if there is one.
    pub(crate) fn cancel(&self) {
        self.cancelled.send_replace(());
    }

    /// What is to be answered, and how.
    async fn compared(
        &self,
        source: ComparisonSource,
    ) -> Result<(Conversation, GenerationSettings), ErrorReport> {
        let settings = self.settings.current();
        let (general, standing) = (settings.generation, settings.preferences.standing_instructions);
        match source {
            ComparisonSource::Prompt { text } if text.trim().is_empty() => Err(no_question()),
            ComparisonSource::Prompt { text } => Ok((Conversation::question(text), general)),
            ComparisonSource::Message { message } => {
                let (role, conversation, own, seed) = self
                    .conversations
                    .store
                    .call_for(message, move |store| {
                        let chat = store.chat_of(message)?;
                        let own = store.chat_settings(chat)?.generation;
                        let seed = shown_seed(store, chat, message)?;
                        Ok((
                            store.message(message)?.role,
                            Conversation::of(store, message, &standing)?,
                            own,
                            seed,
                        ))
                    })
                    .await?;
                if role != Role::User {
                    return Err(not_a_question(message));
                }
                let settings = own.unwrap_or(general);
                let sampling = Sampling { seed: settings.sampling.seed.or(seed), ..settings.sampling };
                Ok((conversation, GenerationSettings { sampling, ..settings }))
            }
        }
    }
}

/// Why there is no reply.
enum Ended {
    /// Somebody wanted it so.
    Cancelled,
    /// Something did not work.
    Failed(ErrorReport),
}

/// Lets the engine write, one reply after the other.
struct Writer<'a> {
    engine: &'a Engine,
    /// The model of all replies, and how it was loaded.
    ready: EngineState,
    state: watch::Receiver<EngineState>,
    cancelled: watch::Receiver<()>,
    replies: watch::Receiver<usize>,
    page: Page,
}

/// Whoever waits for the comparison.
struct Page {
    channel: Channel<ComparisonProgress>,
    /// When it was last told how far it is.
    told: Option<Instant>,
}

impl Writer<'_> {
    /// Writes a reply. Returns when the engine is free again.
    async fn write(&mut self, prompt: Prompt) -> Result<ComparedReply, Ended> {
        let mut drafts = false;
        let mut generation = self.engine.generate(prompt);
        let mut tokens: Vec<TimedToken> = Vec::new();
        let (mut first, mut ended) = (None, None);
        loop {
            tokio::select! {
                // In this order: a reply of another model must not end as one of this.
                biased;
                _ = self.cancelled.changed(), if ended.is_none() => {
                    self.engine.cancel(generation.id);
                    ended = Some(Ended::Cancelled);
                }
                // One is this comparison.
                _ = self.replies.wait_for(|&count| count > 1), if ended.is_none() => {
                    self.engine.cancel(generation.id);
                    ended = Some(Ended::Failed(chat_goes_first()));
                }
                _ = self.state.wait_for(|state| *state != self.ready), if ended.is_none() => {
                    self.engine.cancel(generation.id);
                    ended = Some(Ended::Failed(model_changed()));
                }
                progress = generation.progress.recv() => match progress {
                    Some(ReplyProgress::Begun(begun)) => drafts = begun.settings.drafting != Drafting::Off,
                    Some(ReplyProgress::Event(Event::Tokens { tokens: texts, .. })) => {
                        let now = Instant::now();
                        let at = 1e3 * (now - *first.get_or_insert(now)).as_secs_f64();
                        tokens.extend(texts.into_iter().map(|token| TimedToken {
                            at,
                            text: token.text,
                            part: token.part,
                            draft_position: token.draft_position,
                        }));
                        self.page.tell(ComparisonProgress::Writing { drafts, tokens: tokens.len() as u32 });
                    }
                    Some(ReplyProgress::Event(Event::Reading { done, total, .. })) => {
                        self.page.tell(ComparisonProgress::Reading { done, total });
                    }
                    Some(ReplyProgress::Event(Event::Finished { reason, stats, .. })) => {
                        return ended.map_or(Ok(ComparedReply { tokens, reason, stats: *stats }), Err);
                    }
                    Some(ReplyProgress::Event(Event::Failed { error, .. }) | ReplyProgress::Interrupted(error)) => {
                        return Err(ended.unwrap_or(Ended::Failed(error)));
                    }
                    Some(ReplyProgress::Event(_)) => {}
                    None => return Err(Ended::Failed(closed())),
                },
            }
        }
    }
}

impl Page {
    fn tell(&mut self, progress: ComparisonProgress) {
        if self.told.is_none_or(|told| told.elapsed() >= PULSE) {
            self.told = Some(Instant::now());
            // A page that is gone needs to know nothing.
            let _ = self.channel.send(progress);
        }
    }
}

/// The seed of the reply that is shown below a question, if it has one.
fn shown_seed(store: &Store, chat: ChatId, question: MessageId) -> Result<Option<u64>, ChatsError> {
    let reply = store.branch(chat)?.into_iter().find(|below| below.message.parent == Some(question));
    Ok(reply.and_then(|reply| reply.message.stats).map(|stats| stats.seed))
}

/// How two texts by the same settings relate.
fn verdict(sampling: &Sampling, plain: &ComparedReply, drafted: &ComparedReply) -> ComparisonVerdict {
    if sampling.temperature > 0.0 && sampling.acceptance == AcceptanceRule::Rejection {
        return ComparisonVerdict::SameChances;
    }
    let said =
        |reply: &ComparedReply| reply.tokens.iter().map(|token| (token.part, token.text.clone())).collect();
    let (plain_said, drafted_said): (Vec<_>, Vec<_>) = (said(plain), said(drafted));
    if plain_said == drafted_said && plain.reason == drafted.reason {
        return ComparisonVerdict::Equal;
    }
    let same = plain_said.iter().zip(&drafted_said).take_while(|(plain, drafted)| plain == drafted).count();
    let after = same as u32;
    let rounded = [plain, drafted].iter().any(|reply| reply.stats.exact == Some(Exactness::Distribution));
    if rounded { ComparisonVerdict::Rounded { after } } else { ComparisonVerdict::Different { after } }
}

fn engine_busy() -> ErrorReport {
    ErrorReport {
        code: "engine_busy".into(),
        message: "The engine is writing, and both replies must be measured alone.".into(),
        hint: "Wait until the reply is complete, or stop it.".into(),
    }
}

fn chat_goes_first() -> ErrorReport {
    ErrorReport {
        code: "chat_goes_first".into(),
        message: "A reply was asked for in the meantime, so the two were no longer alone.".into(),
        hint: "Compare again when it is complete.".into(),
    }
}

fn model_changed() -> ErrorReport {
    ErrorReport {
        code: "model_changed".into(),
        message: "The model changed in the meantime, so the two would not be of the same one.".into(),
        hint: "Compare again when the model is ready.".into(),
    }
}

fn converting() -> ErrorReport {
    ErrorReport {
        code: "converting".into(),
        message: "A model is being converted or measured for that, which would slow the replies down.".into(),
        hint: "Wait until it has ended, or pause it.".into(),
    }
}

fn not_ready() -> ErrorReport {
    ErrorReport {
        code: "model_not_ready".into(),
        message: "The model is still being loaded.".into(),
        hint: "Try again when it is ready.".into(),
    }
}

fn no_draft_model(name: &str) -> ErrorReport {
    ErrorReport {
        code: "no_draft_model".into(),
        message: format!("{name} has no draft model beside it, so there is nothing to compare."),
        hint: "Get its draft model on the model's page, or choose other drafts.".into(),
    }
}

fn no_head(name: &str) -> ErrorReport {
    ErrorReport {
        code: "no_mtp_head".into(),
        message: format!("{name} has no MTP head that can be used, so there is nothing to compare."),
        hint: "Choose a model with an MTP head, or Auto or Look-up, which draft from the text.".into(),
    }
}

#[cfg(test)]
mod tests {
    use foretoken_host::testing::{ENDLESS_QUESTION, endless};
    use foretoken_protocol::{Beginning, Destination, FinishReason, KvPrecision, Part, ReplyStats};

    use super::*;
    use crate::testing::{Running, page, running, some_text, write};

    const QUESTION: &str = "Tell me a story about an owl and a bell.";

    fn prompt(text: &str) -> ComparisonSource {
        ComparisonSource::Prompt { text: text.into() }
    }

    fn text(reply: &ComparedReply) -> String {
        reply.tokens.iter().map(|token| token.text.as_str()).collect()
    }

    fn check_times(reply: &ComparedReply) {
        assert_eq!(reply.tokens[0].at, 0.0);
        assert!(reply.tokens.is_sorted_by_key(|token| token.at));
        assert!(reply.tokens.last().unwrap().at > 0.0);
        let accepted = reply.tokens.iter().filter(|token| token.draft_position.is_some()).count();
        let counted: u32 = reply.stats.positions.iter().map(|position| position.accepted).sum();
        assert!(accepted <= counted as usize, "{accepted} of {counted}");
    }

    #[tokio::test]
    async fn both_texts_are_equal_and_their_times_rise() {
        let Running { app, .. } = &running().await;
        for sampling in [Sampling::default(), Sampling { temperature: 0.8, ..Sampling::default() }] {
            write(app, 48, sampling).await;
            let settings = GenerationSettings {
                drafting: Drafting::Fixed { depth: 2 },
                ..app.settings.current().generation
            };
            app.settings.set_generation(settings).await.unwrap();
            let (channel, mut told) = page();
            let compared = app.comparisons.compare(prompt(QUESTION), channel).await.unwrap().unwrap();
            assert_eq!(compared.verdict, ComparisonVerdict::Equal);
            assert_eq!(text(&compared.plain), text(&compared.drafted));
            assert!(!text(&compared.plain).is_empty());
            assert_eq!((compared.question.as_str(), compared.model.as_str()), (QUESTION, "Demo model"));
            check_times(&compared.plain);
            check_times(&compared.drafted);
            assert!(compared.plain.tokens.iter().all(|token| token.draft_position.is_none()));
            assert!(compared.drafted.tokens.iter().any(|token| token.draft_position == Some(2)));
            assert_eq!(compared.plain.stats.tokens_per_pass, 1.0);
            assert!(compared.drafted.stats.tokens_per_pass > 1.2);
            let seed = compared.sampling.seed.unwrap();
            assert_eq!((compared.plain.stats.seed, compared.drafted.stats.seed), (seed, seed));
            assert!(told.try_recv().is_ok(), "the page is told how far it is");
            assert_eq!(app.settings.current().generation.sampling, sampling, "the drawn seed is not kept");
        }
        assert!(app.snapshot().await.unwrap().chats.chats.is_empty(), "nothing is stored");
    }

    #[tokio::test]
    async fn a_question_of_a_chat_is_compared_with_its_settings_and_what_came_before() {
        let Running { app, .. } = &running().await;
        write(app, 24, Sampling::default()).await;
        let (channel, mut events) = page();
        let sent =
            app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
        let (_, reply) = crate::testing::rest(&mut events).await;
        let question = sent.messages[0].message.id;
        let (channel, _told) = page();
        let source = ComparisonSource::Message { message: question };
        let compared = app.comparisons.compare(source, channel).await.unwrap().unwrap();
        assert_eq!(text(&compared.plain), reply.text);
        assert_eq!(compared.sampling.seed, reply.stats.map(|stats| stats.seed), "it is the same reply again");
        let (channel, _told) = page();
        let of_a_reply = ComparisonSource::Message { message: reply.id };
        assert_eq!(app.comparisons.compare(of_a_reply, channel).await.unwrap_err().code, "not_a_question");
        let (channel, _told) = page();
        assert_eq!(app.comparisons.compare(prompt("  "), channel).await.unwrap_err().code, "no_question");
    }

    #[tokio::test]
    async fn the_chat_goes_first_and_is_waited_for() {
        let Running { app, .. } = &running().await;
        write(app, 4000, endless()).await;
        let (channel, mut events) = page();
        let sent = app
            .conversations
            .ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel)
            .await
            .unwrap();
        some_text(&mut events).await;
        let (channel, _told) = page();
        assert_eq!(app.comparisons.compare(prompt(QUESTION), channel).await.unwrap_err().code, "engine_busy");
        app.conversations.stop(sent.messages[1].message.id).await.unwrap();
        app.conversations.replies.all_ended().await;

        let (channel, mut told) = page();
        let (page_of_another, _told) = page();
        let compare = app.comparisons.compare(prompt(ENDLESS_QUESTION), channel);
        let ask = async {
            while !matches!(told.recv().await.unwrap(), ComparisonProgress::Writing { drafts: false, .. }) {}
            let another = app.comparisons.compare(prompt(QUESTION), page_of_another).await;
            assert_eq!(another.unwrap_err().code, "engine_busy", "one comparison at a time");
            let (channel, events) = page();
            (
                app.conversations
                    .ask(Destination::New(Beginning::default()), ENDLESS_QUESTION.into(), channel)
                    .await
                    .unwrap(),
                events,
            )
        };
        let (compared, (sent, mut events)) = tokio::join!(compare, ask);
        assert_eq!(compared.unwrap_err().code, "chat_goes_first");
        some_text(&mut events).await;
        app.conversations.stop(sent.messages[1].message.id).await.unwrap();
        app.conversations.replies.all_ended().await;
    }

    #[tokio::test]
    async fn a_comparison_can_be_cancelled_and_leaves_the_engine_free() {
        let Running { app, .. } = &running().await;
        write(app, 4000, endless()).await;
        let (channel, mut told) = page();
        let compare = app.comparisons.compare(prompt(ENDLESS_QUESTION), channel);
        let cancel = async {
            while !matches!(told.recv().await.unwrap(), ComparisonProgress::Writing { drafts: false, .. }) {}
            app.comparisons.cancel();
        };
        let (compared, ()) = tokio::join!(compare, cancel);
        assert_eq!(compared.unwrap(), None);
        app.conversations.replies.all_ended().await;
        write(app, 8, Sampling::default()).await;
        let (channel, _told) = page();
        assert!(app.comparisons.compare(prompt(QUESTION), channel).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_model_that_is_loaded_in_another_way_meanwhile_is_not_compared_with_itself() {
        let Running { app, .. } = &running().await;
        write(app, 4000, endless()).await;
        let (channel, mut told) = page();
        let compare = app.comparisons.compare(prompt(ENDLESS_QUESTION), channel);
        let change = async {
            while !matches!(told.recv().await.unwrap(), ComparisonProgress::Writing { drafts: false, .. }) {}
            app.models.set_kv_precision(KvPrecision::Eight).await
        };
        let (compared, changed) = tokio::join!(compare, change);
        assert_eq!(compared.unwrap_err().code, "model_changed");
        changed.unwrap();
        write(app, 8, Sampling::default()).await;
        let (channel, _told) = page();
        assert!(app.comparisons.compare(prompt(QUESTION), channel).await.unwrap().is_some());
    }

    #[test]
    fn what_differs_is_said_and_what_may_differ_is_not_held_against_it() {
        let reply = |words: &[&str]| ComparedReply {
            tokens: words
                .iter()
                .map(|&word| TimedToken {
                    at: 0.0,
                    text: word.into(),
                    part: Part::Answer,
                    draft_position: None,
                })
                .collect(),
            reason: FinishReason::Stop,
            stats: ReplyStats::default(),
        };
        let (one, other) = (reply(&["a", "b", "c"]), reply(&["a", "b", "d"]));
        let greedy = Sampling { acceptance: AcceptanceRule::Rejection, ..Sampling::default() };
        assert_eq!(verdict(&greedy, &one, &one), ComparisonVerdict::Equal);
        assert_eq!(verdict(&greedy, &one, &other), ComparisonVerdict::Different { after: 2 });
        assert_eq!(verdict(&greedy, &one, &reply(&["a"])), ComparisonVerdict::Different { after: 1 });
        let cut = ComparedReply { reason: FinishReason::Length, ..one.clone() };
        assert_eq!(verdict(&greedy, &one, &cut), ComparisonVerdict::Different { after: 3 });
        let exact = Some(Exactness::Distribution);
        let rounded = ComparedReply { stats: ReplyStats { exact, ..ReplyStats::default() }, ..other.clone() };
        assert_eq!(verdict(&greedy, &one, &rounded), ComparisonVerdict::Rounded { after: 2 });
        assert_eq!(verdict(&greedy, &rounded, &one), ComparisonVerdict::Rounded { after: 2 });
        let drawn = Sampling { temperature: 1.0, ..greedy };
        assert_eq!(verdict(&drawn, &one, &other), ComparisonVerdict::SameChances);
        let coupled = Sampling { acceptance: AcceptanceRule::Coupled, ..drawn };
        assert_eq!(verdict(&coupled, &one, &other), ComparisonVerdict::Different { after: 2 });
    }
}
