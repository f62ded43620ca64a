//! A loaded model and the replies it writes.

mod exact;
mod replies;
mod sight;
mod spread;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use foretoken_calls::{CallForm, Tools};
use foretoken_pictures::FACTOR;
use foretoken_prefixes::PrefixFiles;
use foretoken_protocol::{
    Blindness, ChatMessage, Counters, DraftModelInfo, Drafting, GenerationSettings, KvPrecision,
    MAX_BLOCK_DEPTH, MAX_DEPTH, MAX_TEMPERATURE, MAX_TOP_LOGPROBS, MAX_XTC_THRESHOLD, ModelInfo,
    PartialReply, PictureInput, Priority, RingView, Sampling,
};

use crate::cache::DiskTier;
use crate::checkpoint::{
    CheckpointError, Config, DraftConfig, DraftLayout, Files, Index, Layout, Metadata, VisionPlan,
};
use crate::constrain::Compiler;
use crate::decode::{Calibration, Limits, Policy, PolicyState, PromptPicture, RowSpec, Scheduler};
use crate::error::EngineError;
use crate::inspect::{model_info, model_name};
use crate::memory::{MemoryBudget, PictureRoom};
use crate::mlx::{self, kernels};
use crate::model::{BatchInvariance, DraftModel, LoadError, LoadProgress, Placed, Qwen};
use crate::text::{ChatTemplate, MESSAGE_START, Prompter, Tokenizer, stop_ids};
pub use crate::text::{PLAIN_TEXT, TokenPicture, TokenPrompt};
pub use replies::{Calls, Progress, Reply, ReplyId, ReplyRequest, ReplyToken};
use sight::Sight;
pub use spread::RingSeat;
use spread::{Rest, RingWatch};

/// What a model is asked whose drafts nobody knows.
const CALIBRATION_QUESTION: &str = "Tell me something about the sea.";

/// A model in memory with everything that belongs to it.
#[derive(Debug)]
pub struct Session {
    /// What was loaded.
    pub info: ModelInfo,
    model: Qwen,
    prompter: Prompter,
    compiler: Compiler,
    stop_ids: Vec<u32>,
    message_start: Option<u32>,
    xtc_exempt: Vec<u32>,
    vocab: usize,
    scheduler: Scheduler,
    writing: replies::Writing,
    /// In which steps the device gives this model's tokens the same bits.
    invariance: BatchInvariance,
    sight: Sight,
    /// What rows and earlier turns may take once the vision tower is in memory, in bytes.
    rows_seeing: u64,
    /// Held from the first reply until [`Session::rest`]: whoever pauses for an hour gets the memory for other
    /// programs.
    residency: Option<mlx::Residency>,
    /// What is told of the ranks; `None` where this machine has all layers.
    ring: Option<RingWatch>,
}

/// Everything about a model but its weights: read and checked, so that loading them cannot be in vain.
#[derive(Debug)]
pub struct Prepared {
    config: Config,
    layout: Layout,
    draft_model: Option<(DraftConfig, DraftLayout)>,
    info: ModelInfo,
    /// How many of the notes are of the model itself: those behind are of its draft model.
    own_notes: usize,
    prompter: Prompter,
    stop_ids: Vec<u32>,
    xtc_exempt: Vec<u32>,
    /// Who has the rest of the layers; `None` where this machine has all.
    rest: Option<Rest>,
}

impl Prepared {
    /// Reads the small files of a model folder and the headers of the large ones.
    pub fn read(dir: &Path, kv_precision: KvPrecision) -> Result<Self, EngineError> {
        let metadata = Metadata::read(dir, Files::Whole)?;
        let config = Config::of(&metadata)?;
        let layout = Layout::plan(&config, &Index::of(&metadata, &config)?)?;
        let layout = layout.keeping_kv(&config, kv_precision)?.with_draft_vocabulary(dir, &config);
        let tokenizer = Tokenizer::load(dir)?;
        let template = ChatTemplate::load(dir)?;
        let stop_ids = stop_ids(dir, &tokenizer)?;
        // A reply must be able to end, and its lines too.
        let xtc_exempt = [stop_ids.clone(), tokenizer.encode("\n")?].concat();
        let mut info = model_info(dir, &config, &layout, template.has_thinking_switch())?;
        info.thinking_effort = template.has_thinking_effort();
        info.tools = template.takes_tools();
        info.json_calls = template.call_form() == Some(CallForm::Json);
        info.fingerprint = format!("{:08x}", metadata.fingerprint()?);
        let own_notes = info.notes.len();
        let picture_token = match &layout.vision {
            VisionPlan::Present(tower) => Ok(tower.dims.image_token),
            VisionPlan::Unavailable(reason) => Err(reason.clone()),
        };
        let prompter = Prompter::new(tokenizer, template).with_pictures(picture_token);
        info.opens_thinking = prompter.opens_thinking();
        Ok(Self {
            config,
            layout,
            draft_model: None,
            info,
            own_notes,
            prompter,
            stop_ids,
            xtc_exempt,
            rest: None,
        })
    }

    /// Has the draft model in a folder loaded as well. On an error there is none.
    pub fn set_draft_model(&mut self, dir: &Path) -> Result<(), EngineError> {
        self.drop_draft_model();
        let metadata = Metadata::read(dir, Files::Whole)?;
        let Some(config) = DraftConfig::of(&metadata)? else {
            return Err(CheckpointError::NoDraftModel { name: model_name(dir) }.into());
        };
        let notes = config.check_target(&self.config)?;
        let layout = DraftLayout::of(&metadata, &config)?;
        self.info.notes.extend(notes);
        self.info.weight_bytes += layout.weight_bytes();
        self.layout.draft_model_bytes = layout.weight_bytes();
        self.info.draft_model = Some(Box::new(DraftModelInfo {
            name: model_name(dir),
            path: dir.display().to_string(),
            weight_bytes: layout.weight_bytes(),
            most_guesses: config.block_size as u32 - 1,
        }));
        self.draft_model = Some((config, layout));
        Ok(())
    }

    /// Tells people why the model goes without its draft model: it would only have saved time.
    pub fn without_draft_model(&mut self, error: &EngineError) {
        self.drop_draft_model();
        self.info.draft_model_refused = Some(Box::new(error.into()));
    }

    fn drop_draft_model(&mut self) {
        (self.draft_model, self.layout.draft_model_bytes) = (None, 0);
        self.info.draft_model_refused = None;
        self.info.notes.truncate(self.own_notes);
        if let Some(draft) = self.info.draft_model.take() {
            self.info.weight_bytes -= draft.weight_bytes;
        }
    }

    /// How many layers it has.
    pub fn layers(&self) -> usize {
        self.config.layers.len()
    }

    /// What is about to be loaded.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// Has pictures seen as large as there is memory for, and none where there is too little. Returns what rows and
    /// earlier turns may take, in bytes, once one is seen.
    pub fn limit_pictures(&mut self, room: Option<PictureRoom>) -> u64 {
        match (room, &mut *self.info.pictures) {
            (Some(PictureRoom::UpTo { pixels, rows }), PictureInput::Available { most_pixels, .. }) => {
                *most_pixels = pixels.min(*most_pixels);
                rows
            }
            (Some(PictureRoom::TooLittle { needed, available }), pictures) => {
                let reason = Blindness::TooLittleMemory { needed, available };
                self.prompter = self.prompter.clone().with_pictures(Err(reason.clone()));
                self.layout.vision = VisionPlan::Unavailable(reason.clone());
                *pictures = PictureInput::Unavailable { reason };
                u64::MAX
            }
            _ => u64::MAX,
        }
    }

    /// Reads the weights, and finds out what drafts cost and yield unless that was `learned` before.
    pub fn load(
        mut self,
        learned: Option<PolicyState>,
        progress: &mut LoadProgress<'_>,
    ) -> Result<Session, EngineError> {
        let _span = tracing::info_span!("load", model = self.info.name).entered();
        let draft_bytes = self.draft_model.as_ref().map_or(0, |(_, layout)| layout.weight_bytes());
        let all = self.layout.weight_bytes() + draft_bytes;
        if let Some(rest) = &self.rest {
            let layers = 0..rest.watch.own_layers();
            (self.config, self.layout) = (self.config.of_layers(&layers)?, self.layout.of_layers(&layers));
        }
        let own = self.layout.weight_bytes();
        let mut model = Qwen::load(&self.config, &self.layout, &mut |done, _| progress(done, all))?;
        let (rest, ring) = self.rest.take().map(|Rest { link, watch }| (link, watch)).unzip();
        if let Some(rest) = &rest {
            model.stack.layers_per_piece = None;
            model.rest = Some(Rc::clone(rest));
        }
        if let Some(launch) = kernels::of_device() {
            for (part, problem) in model.choose_kernels(&launch) {
                tracing::warn!("operations run {part}, not kernels: {problem}");
            }
        }
        if let Some((config, layout)) = &self.draft_model {
            match DraftModel::load(config, layout, &mut |done, _| progress(own + done, all)) {
                Ok(draft) => model.draft = Some(draft),
                Err(LoadError::Cancelled) => return Err(EngineError::Cancelled),
                Err(error) => self.without_draft_model(&error.into()),
            }
        }
        let draft = model.draft.as_ref().map(DraftModel::memory);
        let budget = MemoryBudget::with_draft(&self.config, &self.layout, draft, mlx::usable_memory());
        let rows_seeing = self.limit_pictures(budget.pictures);
        let Self { config, layout, info, prompter, stop_ids, xtc_exempt, .. } = self;
        let MemoryBudget { mut rows, prefix_cache, .. } = budget;
        if let Some(rest) = &rest {
            // A number that memory elsewhere can be compared with, also where it is not known.
            rows = rows.min(1 << 48);
            let mut loaded = Vec::new();
            let others = rest.ready(|rank, done, _| {
                loaded.resize(loaded.len().max(rank + 1), 0);
                loaded[rank] = done;
                // Whoever gives the load up ends this process.
                let _ = progress((own + draft_bytes + loaded.iter().sum::<u64>()).min(all), all);
            });
            model.row_memory = model.row_memory.with_elsewhere(rows, &others);
        }
        let limits = Limits { memory: rows, prefix_cache_bytes: prefix_cache, ..Limits::default() };
        let message_start = prompter.tokenizer().token_id(MESSAGE_START);
        let figures = calibrated(&model, &prompter, learned.unwrap_or_default());
        let scheduler = Scheduler::new(&model, limits, Policy::new(figures));
        let invariance = model.batch_invariance().unwrap_or_else(|error| {
            tracing::warn!("in which steps tokens have the same bits could not be tried: {error}");
            BatchInvariance::Tried(Vec::new())
        });
        mlx::clear_cache();
        if let Some(rest) = &model.rest {
            // Until somebody asks.
            rest.rest();
        }
        tracing::debug!(?invariance, "steps whose tokens have the same bits");
        let (vocab, writing) = (config.vocab_size, replies::Writing::new());
        let compiler =
            Compiler::new(prompter.tokenizer().clone(), &stop_ids, vocab).with_calls_in(prompter.call_form());
        mlx::set_cache_limit(mlx::usable_memory());
        Ok(Session {
            info,
            model,
            prompter,
            compiler,
            stop_ids,
            message_start,
            xtc_exempt,
            vocab,
            scheduler,
            writing,
            invariance,
            sight: Sight::new(config, layout),
            rows_seeing,
            residency: None,
            ring,
        })
    }
}

impl Session {
    /// Loads the model in a folder, to keep keys and values as they are computed.
    pub fn load(dir: &Path, progress: &mut LoadProgress<'_>) -> Result<Self, EngineError> {
        Prepared::read(dir, KvPrecision::Full)?.load(None, progress)
    }

    /// The session with other limits than those of the machine.
    pub fn with_limits(self, limits: Limits) -> Self {
        let policy = self.scheduler.policy().clone();
        Self { scheduler: Scheduler::new(&self.model, limits, policy), ..self }
    }

    /// Goes on with what was learned of this model on this machine elsewhere.
    pub fn set_policy_state(&mut self, state: PolicyState) {
        self.scheduler.set_policy_state(state);
    }

    /// What was learned about when drafts pay, to be kept for the next time.
    pub fn policy_state(&self) -> &PolicyState {
        self.scheduler.policy().state()
    }

    /// The processes that compute the model, and how they work now; `None` where this one computes alone.
    pub fn ring(&mut self) -> Option<RingView> {
        let link = self.model.rest.as_ref()?;
        Some(self.ring.as_mut()?.look(link))
    }

    /// What has been done since it was loaded.
    pub fn counters(&self) -> Counters {
        self.scheduler.counters()
    }

    /// The network.
    pub fn model(&self) -> &Qwen {
        &self.model
    }

    /// Has drafts of the MTP head chosen from these tokens alone, ascending, or from all.
    pub fn set_draft_vocabulary(&mut self, ids: Option<&[u32]>) -> Result<(), EngineError> {
        Ok(self.model.set_draft_vocabulary(ids)?)
    }

    /// Tokens that the model knows.
    pub fn vocab(&self) -> usize {
        self.vocab
    }

    /// Tokens that end a reply.
    pub fn stop_ids(&self) -> &[u32] {
        &self.stop_ids
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        self.prompter.tokenizer()
    }

    /// What turns chats into prompts, to be used on another thread: a long chat takes seconds.
    pub fn prompter(&self) -> &Prompter {
        &self.prompter
    }

    /// What compiles the constraints of replies, to be used on another thread.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// A chat as the model's template writes it.
    pub fn chat_prompt(
        &self,
        messages: &[ChatMessage],
        resume: Option<&PartialReply>,
        thinking: bool,
    ) -> Result<TokenPrompt, EngineError> {
        Ok(self.prompter.prompt(messages, resume, thinking)?)
    }

    /// A chat in which the model may call tools, as the model's template writes it.
    pub fn chat_prompt_with_tools(
        &self,
        messages: &[ChatMessage],
        tools: &Tools,
        thinking: bool,
    ) -> Result<TokenPrompt, EngineError> {
        Ok(self.prompter.prompt_with_tools(messages, tools, thinking)?)
    }

    /// A prompt's pictures, ready for a row of the model.
    pub(crate) fn look_up(&mut self, pictures: Vec<TokenPicture>) -> Result<Vec<PromptPicture>, EngineError> {
        let too_large = pictures.iter().find_map(|TokenPicture { pixels, .. }| match *self.info.pictures {
            PictureInput::Available { most_pixels, .. } => {
                let area = u64::from(pixels.width) * u64::from(pixels.height);
                // A side is never less than a token, so that narrow pictures may be larger than was asked for.
                let is_narrow = pixels.width.min(pixels.height) == FACTOR;
                (area > most_pixels && !is_narrow).then_some((pixels, most_pixels))
            }
            PictureInput::Unavailable { .. } => None,
        });
        if let Some((pixels, most)) = too_large {
            return Err(EngineError::Request {
                code: "picture_too_detailed",
                message: format!(
                    "A picture was made ready with {} × {} pixels, but {most} are the most that {} may read here.",
                    pixels.width, pixels.height, self.info.name
                ),
                hint: "Ask again.",
            });
        }
        let was_blind = self.model.vision.is_none();
        let found = self.sight.look_up(&mut self.model, pictures)?;
        if was_blind && self.model.vision.is_some() {
            self.scheduler.lower_memory(self.rows_seeing);
        }
        Ok(found)
    }

    /// The vectors that a prompt's pictures go in with.
    pub fn look(&mut self, pictures: &[TokenPicture]) -> Result<Vec<Placed>, EngineError> {
        self.sight.look(&mut self.model, pictures)
    }

    /// Where messages begin in a prompt.
    pub fn message_starts(&self, ids: &[u32]) -> Vec<usize> {
        (0..ids.len()).filter(|&position| Some(ids[position]) == self.message_start).collect()
    }

    /// The token that begins messages.
    pub fn message_start(&self) -> Option<u32> {
        self.message_start
    }

    /// Begins to read what a prompt may begin with, if no reply is in the making; [`Self::read_on`] goes on with it.
    /// `remember`: whose it is, where it is kept on disk too.
    pub fn read_ahead(&mut self, prompt: TokenPrompt, remember: Option<u64>) {
        let TokenPrompt { ids, pictures, .. } = prompt;
        if ids.len() >= self.info.context_length as usize || self.check_ids(&ids).is_err() {
            return;
        }
        let Ok(pictures) = self.look_up(pictures) else { return };
        let spec = RowSpec {
            message_starts: self.message_starts(&ids),
            reply_from: ids.len(),
            prompt: ids,
            pictures,
            sampling: Sampling::default(),
            seed: 0,
            xtc_exempt: Vec::new(),
            max_tokens: 1,
            stop_ids: Vec::new(),
            drafts: false,
            logprobs: None,
            constraint: None,
            priority: Priority::Background,
            prediction: Arc::default(),
            known_drafts: None,
            widths: 1..=usize::MAX,
            remember,
        };
        self.scheduler.read_ahead(&self.model, spec);
    }

    /// Keeps what is to be remembered in files too, and looks there.
    pub fn set_prefix_files(&mut self, files: PrefixFiles, model: &str) {
        // Files of this machine have nothing of layers that lie on others.
        if self.model.rest.is_none() {
            self.scheduler.set_disk(DiskTier::new(files, model));
        }
    }

    /// Whether something waits to be written to the files.
    pub fn has_to_keep(&self) -> bool {
        self.scheduler.has_to_keep()
    }

    /// Has a thread write some of it, unless it is at work.
    pub fn keep_some(&mut self) {
        self.scheduler.keep_some();
    }

    /// Writes all of it, and returns when it is on the disk.
    pub fn keep_all(&mut self) {
        self.scheduler.keep_all();
    }

    /// Whether something is being read ahead.
    pub fn reads_ahead(&self) -> bool {
        self.scheduler.reads_ahead()
    }

    /// Reads on for a moment. Fails only where the device has.
    pub fn read_on(&mut self) -> Result<(), EngineError> {
        Ok(self.scheduler.read_on(&self.model)?)
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

    fn check(&self, request: &ReplyRequest) -> Result<(), EngineError> {
        let ReplyRequest { prompt, settings, .. } = request;
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
        // The last token is the first that a step feeds, behind a pair of the head: both must be text.
        let end = prompt
            .pictures
            .last()
            .map_or(0, |picture| picture.begin + picture.grid().iter().product::<usize>());
        if end + 2 > length && end > 0 {
            return refuse(
                "prompt_ends_in_picture",
                "The prompt ends in a picture.".into(),
                "Choose a model whose chat template writes text behind pictures.",
            );
        }
        if let Some(message) = invalid_setting(settings).or_else(|| invalid_logprobs(request.logprobs?)) {
            return refuse("invalid_setting", message, "Correct the setting and try again.");
        }
        Ok(())
    }
}

/// `figures` with those of a calibration, if there was none before. Without an MTP head drafts still may come from the
/// text.
fn calibrated(model: &Qwen, prompter: &Prompter, figures: PolicyState) -> PolicyState {
    let knows_drafters = (model.mtp.is_none() || figures.knows_head())
        && (model.draft.is_none() || figures.knows_draft_model());
    if figures.is_measured() && knows_drafters {
        return figures;
    }
    // As where replies are written, or the figures would be another machine's.
    let _residency = mlx::Residency::hold();
    let question = ChatMessage::user(CALIBRATION_QUESTION);
    // Any tokens take the same time.
    let prompt = prompter.prompt(&[question], None, true).map_or_else(|_| vec![0], |prompt| prompt.ids);
    match Calibration::run(model, &prompt) {
        Ok(calibration) => figures.calibrated(&calibration),
        Err(error) => {
            tracing::warn!(
                "there will be no drafts unless a number of them is asked for; their cost cannot be measured: {error}"
            );
            figures
        }
    }
}

fn invalid_logprobs(top: u32) -> Option<String> {
    (top > MAX_TOP_LOGPROBS)
        .then(|| format!("{top} log-probabilities a token; the most is {MAX_TOP_LOGPROBS}."))
}

/// What makes a reply impossible to write: the setting, its value and its bounds, in a sentence.
pub fn invalid_setting(settings: &GenerationSettings) -> Option<String> {
    let Sampling {
        temperature,
        top_p,
        min_p,
        xtc_probability,
        xtc_threshold,
        repetition_penalty,
        presence_penalty,
        frequency_penalty,
        ..
    } = settings.sampling;
    let rules = [
        ("Temperature", temperature, 0.0, MAX_TEMPERATURE),
        ("Top-p", top_p, 0.0, 1.0),
        ("Min-p", min_p, 0.0, 1.0),
        ("The XTC probability", xtc_probability, 0.0, 1.0),
        ("The XTC threshold", xtc_threshold, 0.0, MAX_XTC_THRESHOLD),
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
        Drafting::Dflash { depth: Some(depth) } if !(1..=MAX_BLOCK_DEPTH).contains(&depth) => Some(format!(
            "The draft depth is {depth}; with a draft model it must lie between 1 and {MAX_BLOCK_DEPTH}."
        )),
        _ => None,
    }
}
