//! A loaded model and the replies it writes.

use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use foretoken_protocol::{
    ChatMessage, Drafting, FinishReason, GenerationSettings, LiveStats, MAX_DEPTH, ModelInfo, Part,
    PartialReply, ReplyStats, Sampling, TokenText,
};

use crate::checkpoint::{Config, Files, Index, Layout, Metadata, model_info};
use crate::decode::{Advance, Batch, DepthPolicy, Lane, Recorder, RowSpec};
use crate::error::EngineError;
use crate::mlx;
use crate::model::Qwen;
use crate::text::{ChatTemplate, ReplyStart, ReplyText, Tokenizer, render_prompt, stop_ids};

/// Prompt tokens read at a time; between two pieces a reply can be cancelled.
pub(crate) const PREFILL_CHUNK: usize = 512;
/// Seeds that are picked here survive a trip through JavaScript's numbers.
const SEED_BITS: u32 = 53;
/// How a prompt without a template is continued.
pub const PLAIN_TEXT: ReplyStart = ReplyStart { part: Part::Answer, resumed: true };

/// A model in memory with everything that belongs to it.
#[derive(Debug)]
pub struct Session {
    /// What was loaded.
    pub info: ModelInfo,
    model: Qwen,
    tokenizer: Tokenizer,
    template: ChatTemplate,
    stop_ids: Vec<u32>,
    vocab: usize,
    policy: DepthPolicy,
}

/// A prompt as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPrompt {
    /// Its tokens.
    pub ids: Vec<u32>,
    /// Where what the model writes begins.
    pub start: ReplyStart,
}

/// One emitted token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyToken {
    /// Its id.
    pub id: u32,
    /// What became readable with it; several entries where it ends the thinking.
    pub text: Vec<TokenText>,
    /// Its place in the chain of drafts, from 1; `None` for the model's own token.
    pub draft_position: Option<u8>,
}

/// What happens while a reply is written.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The prompt is being read.
    Reading {
        /// Tokens read so far.
        done: usize,
        /// Tokens to read.
        total: usize,
    },
    /// A step has ended.
    Tokens {
        /// Its tokens, the stop token left out.
        tokens: &'a [ReplyToken],
        /// The numbers so far.
        live: LiveStats,
    },
    /// The reply has ended, which released text that was held back: an unfinished character, what might have become a
    /// stop text.
    Rest(&'a [TokenText]),
}

/// A finished reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Why it ended.
    pub reason: FinishReason,
    /// Its tokens, the stop token left out.
    pub ids: Vec<u32>,
    /// What it took.
    pub stats: ReplyStats,
}

/// Everything about a model but its weights: read and checked, so that loading them cannot be in vain.
#[derive(Debug)]
pub struct Prepared {
    config: Config,
    layout: Layout,
    info: ModelInfo,
    tokenizer: Tokenizer,
    template: ChatTemplate,
    stop_ids: Vec<u32>,
}

impl Prepared {
    /// Reads the small files of a model folder and the headers of the large ones.
    pub fn read(dir: &Path) -> Result<Self, EngineError> {
        let metadata = Metadata::read(dir, Files::Whole)?;
        let config = Config::of(&metadata)?;
        let layout = Layout::plan(&config, &Index::of(&metadata)?)?;
        let tokenizer = Tokenizer::load(dir)?;
        let template = ChatTemplate::load(dir)?;
        let stop_ids = stop_ids(dir, &tokenizer)?;
        let info = model_info(dir, &config, &layout, template.has_thinking_switch())?;
        Ok(Self { config, layout, info, tokenizer, template, stop_ids })
    }

    /// Reads the weights. `progress` gets bytes read and bytes to read.
    pub fn load(self, progress: &mut dyn FnMut(u64, u64)) -> Result<Session, EngineError> {
        let Self { config, layout, info, tokenizer, template, stop_ids } = self;
        let model = Qwen::load(&config, &layout, progress)?;
        let policy = DepthPolicy::default();
        Ok(Session { info, model, tokenizer, template, stop_ids, vocab: config.vocab_size, policy })
    }
}

impl Session {
    /// Loads the model in a folder. `progress` gets bytes read and bytes to read.
    pub fn load(dir: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<Self, EngineError> {
        Prepared::read(dir)?.load(progress)
    }

    /// The network.
    pub fn model(&self) -> &Qwen {
        &self.model
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// A chat as the model's template writes it.
    pub fn chat_prompt(
        &self,
        messages: &[ChatMessage],
        resume: Option<&PartialReply>,
        thinking: bool,
    ) -> Result<TokenPrompt, EngineError> {
        let prompt = render_prompt(&self.template, messages, resume, thinking)?;
        let ids = self.tokenizer.encode(&prompt.text)?;
        Ok(TokenPrompt { ids, start: prompt.start })
    }

    /// Writes a reply. `asked` is when the request came; `observe` is told what happens and can end the reply early.
    pub fn reply(
        &mut self,
        prompt: &TokenPrompt,
        settings: &GenerationSettings,
        asked: Instant,
        observe: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, EngineError> {
        self.check(prompt, settings)?;
        let mut text = ReplyText::new(self.tokenizer.clone(), prompt.start, settings.stop.clone())?;
        let seed = settings.sampling.seed.unwrap_or_else(random_seed);
        let mut recorder = Recorder::start(asked, prompt.ids.len(), seed);
        let room = self.info.context_length as usize - prompt.ids.len();
        let spec = RowSpec {
            prompt: prompt.ids.clone(),
            sampling: settings.sampling,
            seed,
            max_tokens: room.min(settings.max_tokens as usize),
            stop_ids: self.stop_ids.clone(),
            drafts: settings.drafting != Drafting::Off,
            known_drafts: None,
        };
        let mut ids = Vec::new();

        let mut lane = Lane::new(&self.model, 0, spec)?;
        loop {
            let (done, total) = lane.progress();
            if observe(Progress::Reading { done, total }).is_break() {
                return Ok(self.end(FinishReason::Cancelled, ids, &recorder, settings));
            }
            if lane.advance(&self.model, PREFILL_CHUNK)? {
                break;
            }
        }
        recorder.prefilled();
        let mut batch = Batch::default();
        batch.join(lane)?;

        loop {
            let depth = match settings.drafting {
                Drafting::Off => 0,
                Drafting::Auto => self.policy.depth(),
                Drafting::Fixed { depth } => usize::from(depth),
            };
            let (mut advances, timing) = batch.step(&self.model, &[depth])?;
            let mut advance = advances.remove(0);
            // A step that ended the reply says little about drafts: those behind the end had no chance. The first step
            // of a reply also grows buffers.
            if advance.finish.is_none() && !ids.is_empty() {
                self.policy.observe(advance.drafted, advance.accepted, timing.total);
            }
            let mut reason = advance.finish;
            let tokens = read(&mut advance, &mut text, &mut reason);
            recorder.step(&advance, timing, advance.tokens.len() > tokens.len());
            ids.extend(tokens.iter().map(|token| token.id));
            let stopped = observe(Progress::Tokens { tokens: &tokens, live: recorder.live() }).is_break();
            if let Some(reason) = reason.or(stopped.then_some(FinishReason::Cancelled)) {
                // The reply is over either way.
                let _ = observe(Progress::Rest(&text.finish()));
                mlx::clear_cache();
                return Ok(self.end(reason, ids, &recorder, settings));
            }
        }
    }

    fn end(
        &self,
        reason: FinishReason,
        ids: Vec<u32>,
        recorder: &Recorder,
        settings: &GenerationSettings,
    ) -> Reply {
        let note = match settings.drafting {
            Drafting::Off => Some("Drafts were switched off.".to_owned()),
            _ if self.model.mtp.is_none() => Some("This model has no MTP head to draft with.".to_owned()),
            Drafting::Auto => self.policy.note(),
            Drafting::Fixed { depth } => self.policy.verdict(usize::from(depth)),
        };
        Reply { reason, ids, stats: recorder.finish(note) }
    }

    /// Refuses ids that the model cannot read.
    pub fn check_ids(&self, ids: &[u32]) -> Result<(), EngineError> {
        let refuse = |code, message: String, hint| Err(EngineError::Request { code, message, hint });
        if ids.is_empty() {
            return refuse("empty_prompt", "The prompt is empty.".into(), "Write something first.");
        }
        match ids.iter().find(|&&id| id as usize >= self.vocab) {
            Some(id) => refuse(
                "unknown_token",
                format!("The prompt holds token {id}, but the model knows only {} tokens.", self.vocab),
                "Check that the ids belong to this model's tokenizer.",
            ),
            None => Ok(()),
        }
    }

    fn check(&self, prompt: &TokenPrompt, settings: &GenerationSettings) -> Result<(), EngineError> {
        let refuse = |code, message: String, hint| Err(EngineError::Request { code, message, hint });
        self.check_ids(&prompt.ids)?;
        let (length, limit) = (prompt.ids.len(), self.info.context_length as usize);
        if length >= limit {
            return refuse(
                "prompt_too_long",
                format!("The chat is {length} tokens long, but the model can read {limit}."),
                "Start a new chat, or shorten the question.",
            );
        }
        if let Some(message) = invalid_setting(settings) {
            return refuse("invalid_setting", message, "Correct the setting and try again.");
        }
        Ok(())
    }
}

/// Turns a step's tokens into text. Cuts the step where a stop text is complete.
fn read(advance: &mut Advance, text: &mut ReplyText, reason: &mut Option<FinishReason>) -> Vec<ReplyToken> {
    let visible = advance.tokens.len() - usize::from(*reason == Some(FinishReason::Stop));
    let mut tokens = Vec::with_capacity(visible);
    for (i, &id) in advance.tokens[..visible].iter().enumerate() {
        let draft_position = (i < advance.accepted).then_some(i as u8 + 1);
        let (pieces, stopped) = text.push(id, draft_position);
        tokens.push(ReplyToken { id, text: pieces, draft_position });
        if stopped {
            advance.cut(i + 1);
            *reason = Some(FinishReason::Stop);
            break;
        }
    }
    tokens
}

fn invalid_setting(settings: &GenerationSettings) -> Option<String> {
    let Sampling {
        temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty, ..
    } = settings.sampling;
    let rules = [
        ("Temperature", temperature, 0.0, 100.0),
        ("Top-p", top_p, 0.0, 1.0),
        ("Min-p", min_p, 0.0, 1.0),
        ("The repetition penalty", repetition_penalty, 0.01, 100.0),
        ("The presence penalty", presence_penalty, -100.0, 100.0),
        ("The frequency penalty", frequency_penalty, -100.0, 100.0),
    ];
    for (name, value, least, most) in rules {
        if !(least..=most).contains(&value) {
            return Some(format!("{name} is {value}; it must lie between {least} and {most}."));
        }
    }
    if settings.max_tokens == 0 {
        return Some("The token limit is 0; it must be at least 1.".into());
    }
    match settings.drafting {
        Drafting::Fixed { depth } if !(1..=MAX_DEPTH).contains(&depth) => {
            Some(format!("The draft depth is {depth}; it must lie between 1 and {MAX_DEPTH}."))
        }
        _ => None,
    }
}

fn random_seed() -> u64 {
    // The standard library seeds its hashers from the system's randomness.
    RandomState::new().hash_one(()) >> (u64::BITS - SEED_BITS)
}
