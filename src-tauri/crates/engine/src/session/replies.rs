//! The replies of a session. Each reply is submitted to the scheduler as a row; the tokens that a step emits for it are
//! decoded to text, cut where a stop text is complete or calls end, and reported with the statistics so far. Several
//! replies are in the making at a time, and each [`Session::pump`] advances all of them by at most one step.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use foretoken_calls::Call;
use foretoken_protocol::{
    AcceptanceRule, Drafting, DraftingNote, FinishReason, GenerationSettings, LiveStats, Looked, Priority,
    ReplyStats, Sampling, StopScope, TokenLogprob, TokenLogprobs, TokenText,
};

use super::exact::ExactSteps;
use super::{Session, TokenPrompt};
use crate::constrain::{Constraint, ConstraintError};
use crate::decode::{
    Advance, DraftPlan, DrafterKind, Footprint, Recorder, RowId, RowSpec, SchedulerEvent, StepTiming,
};
use crate::error::EngineError;
use crate::mlx;
use crate::model::DraftModel;
use crate::sample::Logprobs;
use crate::text::{ChatKey, ReplyEnd, ReplyText, Tokenizer};

/// What a reply is asked for with.
#[derive(Debug, Clone)]
pub struct ReplyRequest {
    /// What it answers.
    pub prompt: TokenPrompt,
    /// How to write it.
    pub settings: GenerationSettings,
    /// Tell how likely each token was, and this many most likely ones in its place.
    pub logprobs: Option<u32>,
    /// Whether the prompt offers tools, and the reply may call them.
    pub calls: Calls,
    /// Where stop texts end it.
    pub stop_scope: StopScope,
    /// What binds it.
    pub constraint: Option<Constraint>,
    /// Whether others come first.
    pub priority: Priority,
    /// What whoever asks predicts of it, if anything. It never changes the reply.
    pub prediction: Option<Arc<[u32]>>,
    /// Whose what is read of it is, where that is kept on disk too.
    pub remember: Option<u64>,
    /// When it was asked for.
    pub asked: Instant,
}

/// Which calls of tools are looked for in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// None: what looks like one is text.
    None,
    /// One; the reply ends behind it.
    One,
    /// Any number; the reply ends behind the last.
    Any,
}

/// Names a reply.
pub type ReplyId = RowId;

/// One emitted token.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyToken {
    /// Its id.
    pub id: u32,
    /// What became readable with it; several entries where it ends the thinking.
    pub text: Vec<TokenText>,
    /// Its place in the chain of drafts, from 1; `None` for the model's own token.
    pub draft_position: Option<u8>,
    /// How likely it was, where that was asked for.
    pub logprobs: Option<TokenLogprobs>,
}

/// What happens while a reply is written. One of the last two ends it.
#[derive(Debug)]
pub enum Progress {
    /// It waits for others.
    Waiting {
        /// Replies that come before it.
        ahead: usize,
    },
    /// The prompt is being read.
    Reading {
        /// Tokens read so far.
        done: usize,
        /// Tokens to read.
        total: usize,
    },
    /// The prompt's pictures go through the vision tower.
    Looking(Looked),
    /// A step has ended.
    Tokens {
        /// Its tokens, the stop token left out.
        tokens: Vec<ReplyToken>,
        /// The numbers so far.
        live: LiveStats,
    },
    /// The reply is about to end, which released text that was held back, as what might have become a stop text. An
    /// unfinished character is left out where the reply could go on.
    Rest(Vec<TokenText>),
    /// It has ended.
    Finished(Box<Reply>),
    /// It could not be written to its end.
    Failed(EngineError),
}

/// A finished reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Why it ended.
    pub reason: FinishReason,
    /// Its tokens, the stop token left out.
    pub ids: Vec<u32>,
    /// The stop text that ended it.
    pub stop: Option<String>,
    /// The calls of tools in it, where they were looked for. Its text holds them as they were written.
    pub calls: Vec<Call>,
    /// What it took.
    pub stats: ReplyStats,
}

/// Replies in the making.
pub(super) type Writing = BTreeMap<ReplyId, Writer>;

/// The text and the numbers of one of them.
#[derive(Debug)]
pub(super) struct Writer {
    text: ReplyText,
    recorder: Recorder,
    ids: Vec<u32>,
    /// The chat that it answers, and the end of the prompt, from behind the token that begins messages.
    turn: Option<(ChatKey, Vec<u32>)>,
    drafting: Drafting,
    /// What limits its thinking.
    limited: Option<Constraint>,
    exact: ExactSteps,
}

impl ReplyRequest {
    /// A request of this moment.
    pub fn new(prompt: TokenPrompt, settings: GenerationSettings) -> Self {
        Self {
            prompt,
            settings,
            logprobs: None,
            calls: Calls::None,
            stop_scope: StopScope::All,
            constraint: None,
            priority: Priority::default(),
            prediction: None,
            remember: None,
            asked: Instant::now(),
        }
    }
}

impl Session {
    /// Takes in a request for a reply; [`Session::pump`] writes it, beside all others. `id` must be new.
    pub fn submit(&mut self, id: ReplyId, request: ReplyRequest) -> Result<(), EngineError> {
        self.check(&request)?;
        let ReplyRequest { prompt, settings, logprobs, calls, stop_scope, constraint, priority, .. } =
            request;
        let (prediction, asked) = (request.prediction, request.asked);
        let stops = (settings.stop, stop_scope);
        let mut text = ReplyText::new(self.tokenizer().clone(), prompt.start, stops)?;
        if calls != Calls::None {
            text = text.with_calls(self.tokenizer(), &prompt.tools, calls == Calls::One);
        }
        let seed = settings.sampling.seed.unwrap_or_else(Sampling::random_seed);
        let mut recorder = Recorder::start(asked, prompt.ids.len(), settings.sampling, seed);
        if prediction.is_some() {
            recorder.count_predicted();
        }
        let pictures = self.look_up(prompt.pictures)?;
        recorder.sees(pictures.len(), pictures.iter().map(|picture| picture.span.range().len()).sum());
        let room = self.info.context_length as usize - prompt.ids.len();
        let begin = prompt.ids.iter().rposition(|&id| Some(id) == self.message_start);
        let turn = prompt.chat.zip(begin.map(|begin| prompt.ids[begin + 1..].to_vec()));
        let widths = match settings.sampling.acceptance {
            AcceptanceRule::Strict => self.invariance.widths(),
            AcceptanceRule::Coupled | AcceptanceRule::Rejection => 1..=usize::MAX,
        };
        let spec = RowSpec {
            message_starts: self.message_starts(&prompt.ids),
            prompt: prompt.ids,
            pictures,
            reply_from: prompt.reply_from,
            sampling: settings.sampling,
            seed,
            xtc_exempt: self.xtc_exempt.clone(),
            max_tokens: room.min(settings.max_tokens as usize),
            stop_ids: [&self.stop_ids[..], &prompt.stop_ids].concat(),
            widths,
            drafts: settings.drafting != Drafting::Off,
            logprobs: logprobs.map(|top| (top as usize).min(self.vocab - 1)),
            constraint,
            priority,
            prediction: prediction
                .map_or_else(Arc::default, |tokens| tokens[..tokens.len().min(room)].into()),
            known_drafts: None,
            remember: request.remember,
        };
        if self.scheduler.is_idle() {
            mlx::reset_peak_memory();
        }
        let drafting = settings.drafting;
        let limited = spec.constraint.as_ref().filter(|constraint| constraint.limits_thinking()).cloned();
        self.scheduler.submit(id, spec, drafting)?;
        self.writing.insert(
            id,
            Writer {
                text,
                recorder,
                ids: Vec::new(),
                turn,
                drafting,
                limited,
                exact: ExactSteps::of(&settings.sampling),
            },
        );
        Ok(())
    }

    /// Whether no reply is in the making.
    pub fn is_idle(&self) -> bool {
        self.writing.is_empty()
    }

    /// Replies in the making.
    pub fn replies(&self) -> impl Iterator<Item = ReplyId> {
        self.writing.keys().copied()
    }

    /// Moves all replies forward by a step at most, and says what happened to each, in order.
    pub fn pump(&mut self) -> Vec<(ReplyId, Progress)> {
        self.residency.get_or_insert_with(mlx::Residency::hold);
        let mut progress = Vec::new();
        let mut stopped = Vec::new();
        for event in self.scheduler.pump(&self.model) {
            match event {
                SchedulerEvent::Waiting { row, ahead } => progress.push((row, Progress::Waiting { ahead })),
                SchedulerEvent::Prefilling { row, done, total } => {
                    if let Some(writer) = self.writing.get_mut(&row) {
                        writer.recorder.reads(done, total);
                        if done < total && !writer.ids.is_empty() {
                            writer.exact.read_again();
                        }
                    }
                    progress.push((row, Progress::Reading { done, total }));
                }
                SchedulerEvent::Looked { row, took, looked } => {
                    if let Some(writer) = self.writing.get_mut(&row) {
                        writer.recorder.looked(took);
                    }
                    progress.push((row, Progress::Looking(looked)));
                }
                SchedulerEvent::Advanced { advance, timing } => {
                    let row = advance.row;
                    let in_batch = advance.finish.is_none();
                    let Some(writer) = self.writing.get_mut(&row) else { continue };
                    let (tokens, reason) = writer.write(advance, timing, self.prompter.tokenizer());
                    let live = writer.recorder.live();
                    progress.push((row, Progress::Tokens { tokens, live }));
                    // Only its form ends a row so.
                    if reason == Some(FinishReason::Error) {
                        self.fail(row, ConstraintError::GaveOut.into(), &mut progress);
                    } else if let Some(reason) = reason {
                        if in_batch {
                            stopped.push(row);
                        }
                        self.end(row, reason, &mut progress);
                    }
                }
                SchedulerEvent::Failed { row, error } => {
                    self.fail(row, error.into(), &mut progress);
                }
            }
        }
        if !stopped.is_empty() {
            self.scheduler.cancel(&self.model, &stopped);
        }
        progress
    }

    /// Lets the system give the model's memory to other programs until somebody asks for a reply. For when none has
    /// been asked for a while.
    pub fn rest(&mut self) {
        self.residency = None;
    }

    /// Ends replies early, whatever they are doing. Unknown ids are ignored.
    pub fn cancel(&mut self, ids: &[ReplyId]) -> Vec<(ReplyId, Progress)> {
        self.scheduler.cancel(&self.model, ids);
        let mut progress = Vec::new();
        for &id in ids {
            self.end(id, FinishReason::Cancelled, &mut progress);
        }
        progress
    }

    /// Writes one reply to its end. `observe` is told what happens until then and can end it early. There must be no
    /// other replies in the making.
    pub fn reply(
        &mut self,
        request: ReplyRequest,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Reply, EngineError> {
        const ID: ReplyId = 0;
        self.submit(ID, request)?;
        let mut progress = Vec::new();
        loop {
            for (_, progress) in progress {
                match progress {
                    Progress::Finished(reply) => return Ok(*reply),
                    Progress::Failed(error) => return Err(error),
                    progress => {
                        if observe(&progress).is_break() && !self.is_idle() {
                            return self.end_early(ID, observe);
                        }
                    }
                }
            }
            progress = self.pump();
        }
    }

    fn end_early(
        &mut self,
        id: ReplyId,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Reply, EngineError> {
        for (_, progress) in self.cancel(&[id]) {
            match progress {
                Progress::Finished(reply) => return Ok(*reply),
                // It is over either way.
                progress => _ = observe(&progress),
            }
        }
        Err(EngineError::Cancelled)
    }

    fn fail(&mut self, id: ReplyId, error: EngineError, progress: &mut Vec<(ReplyId, Progress)>) {
        // Its text may have ended it already, in the step before.
        if let Some(mut writer) = self.writing.remove(&id) {
            progress.extend(rest(id, &mut writer, true));
            progress.push((id, Progress::Failed(error)));
        }
    }

    fn end(&mut self, id: ReplyId, reason: FinishReason, progress: &mut Vec<(ReplyId, Progress)>) {
        let Some(mut writer) = self.writing.remove(&id) else { return };
        progress.extend(rest(id, &mut writer, reason != FinishReason::Stop));
        let mut stats = writer.recorder.finish(self.drafting_note(writer.drafting, &writer.recorder));
        stats.thinking.cut = writer.limited.is_some_and(|limit| limit.has_cut_thinking(&writer.ids));
        let positions = (stats.prompt_tokens + stats.emitted) as usize;
        stats.exact = Some(writer.exact.promised(&self.invariance, stats.prompt_tokens as usize..positions));
        stats.chat_bytes = Footprint::of(&self.model).row(positions);
        let stop = writer.text.stop_text().map(str::to_owned);
        if let (FinishReason::Stop, None, Some(turn)) = (reason, &stop, writer.turn.take()) {
            let (chat, begin) = turn;
            self.prompter.kept().keep(self.prompter.tokenizer(), chat, [&begin[..], &writer.ids].concat());
        }
        let reply = Reply { reason, ids: writer.ids, stop, calls: writer.text.take_calls(), stats };
        progress.push((id, Progress::Finished(Box::new(reply))));
    }

    /// Why a reply was not drafted, or why it was slower for its drafts.
    fn drafting_note(&self, drafting: Drafting, recorder: &Recorder) -> Option<DraftingNote> {
        let (policy, drafted) = (self.scheduler.policy(), recorder.mostly_drafts());
        match drafting {
            Drafting::Off => Some(DraftingNote::SwitchedOff),
            Drafting::Lookup => recorder.lookup_note(),
            Drafting::Dflash { .. } if self.model.draft.is_none() => Some(DraftingNote::NoDraftModel),
            Drafting::Dflash { depth: Some(depth) } => {
                let most = self.model.draft.as_ref().map_or(0, DraftModel::most_guesses);
                let plan = DraftPlan { drafter: DrafterKind::Dflash, depth: usize::from(depth).min(most) };
                policy.note(drafted).or_else(|| policy.state().verdict(plan))
            }
            Drafting::Auto | Drafting::Dflash { depth: None } if self.model.draft.is_some() => {
                policy.note(drafted)
            }
            _ if self.model.mtp.is_none() => (!drafted).then_some(DraftingNote::NoHead),
            Drafting::Fixed { depth } => {
                policy.note(drafted).or_else(|| policy.state().verdict(usize::from(depth).into()))
            }
            Drafting::Auto | Drafting::Mtp | Drafting::Dflash { depth: None } => policy.note(drafted),
        }
    }
}

/// The text that was held back of a reply that ends; `cut`: it could go on.
fn rest(id: ReplyId, writer: &mut Writer, cut: bool) -> Option<(ReplyId, Progress)> {
    let rest = writer.text.finish(cut);
    (!rest.is_empty()).then_some((id, Progress::Rest(rest)))
}

impl Writer {
    /// Turns a step's tokens into text, and says whether the reply ends with them. Cuts the step where its text ends
    /// the reply.
    fn write(
        &mut self,
        mut advance: Advance,
        timing: StepTiming,
        tokenizer: &Tokenizer,
    ) -> (Vec<ReplyToken>, Option<FinishReason>) {
        self.exact.step(advance.width, timing.tokens);
        let mut reason = advance.finish;
        let part = self.text.part();
        let visible = advance.tokens.len() - usize::from(reason == Some(FinishReason::Stop));
        let mut tokens = Vec::with_capacity(visible);
        for i in 0..visible {
            let id = advance.tokens[i];
            let is_guess = i < advance.accepted && advance.drafter != DrafterKind::Forced;
            let draft_position = is_guess.then_some(i as u8 + 1);
            let (text, end) = self.text.push(id, draft_position);
            if end.is_some() {
                advance.cut(i + 1);
                reason = Some(FinishReason::Stop);
            }
            if end == Some(ReplyEnd::Before) {
                break;
            }
            let logprobs = advance.logprobs.get(i).map(|logprobs| readable(id, logprobs, tokenizer));
            tokens.push(ReplyToken { id, text, draft_position, logprobs });
            if end.is_some() {
                break;
            }
        }
        self.recorder.step(&advance, timing, part, advance.tokens.len() > tokens.len());
        self.ids.extend(tokens.iter().map(|token| token.id));
        (tokens, reason)
    }
}

fn readable(id: u32, logprobs: &Logprobs, tokenizer: &Tokenizer) -> TokenLogprobs {
    let entry = |id, logprob| TokenLogprob {
        id,
        text: tokenizer.decode(&[id]),
        bytes: tokenizer.token_bytes(id),
        logprob,
    };
    TokenLogprobs {
        token: entry(id, logprobs.emitted),
        top: logprobs.top.iter().map(|&(id, logprob)| entry(id, logprob)).collect(),
    }
}
