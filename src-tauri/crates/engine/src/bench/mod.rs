//! What a model costs on this machine: the figures of the `bench` command.
//!
//! Every figure is measured once per run. The ways to decode one kind of text follow each other in a run, so that
//! whatever else the machine does hits all of them alike, and a speed-up compares ways of the same run and text.

mod auto;
mod report;
mod ring;
mod rows;
mod second_turn;
mod spread;
mod texts;
mod tower;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use foretoken_protocol::{
    Drafting, KvPrecision, MAX_BLOCK_DEPTH, MAX_DEPTH, PositionStats, Priority, Sampling, TextKind,
};

use crate::decode::{
    Batch, Calibration, DraftPlan, DrafterKind, KnownDrafts, NextStep, PassTimes, Policy, PolicyState,
    PrefillTask, Row, RowId, RowSpec, StepTiming, Stepped,
};
use crate::error::EngineError;
use crate::learned::Learned;
use crate::mlx::{self, DeviceKind};
use crate::model::Qwen;
use crate::session::{Prepared, RingSeat, Session};
use report::medians;
use rows::Steps;
use spread::{median, milliseconds, spread};
use texts::{Prompt, Text};
use tower::Looked;

pub use crate::decode::HeadInput;
pub use auto::Auto;
pub use report::{Depth, Report, TextFigures, Width};
pub use ring::{CalculatedStep, RingFigures};
pub use rows::Rows;
pub use second_turn::SecondTurn;
pub use spread::Spread;
pub use texts::Questions;
pub use tower::Tower;

/// Drafts of a draft model that are measured.
const BLOCK_DEPTHS: [usize; 2] = [3, 7];
/// Passes of each packed width in a run.
const PASSES_PER_WIDTH: usize = 8;
/// Widths beyond those of the depths, up to that of the longest looked-up chain and of most blocks.
const WIDE: [usize; 2] = [8, 16];

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Length of the prompt whose reading is timed.
    pub prompt_tokens: usize,
    /// What decoding continues, unless the drafts are known ones: acceptance needs texts that the model expects.
    pub questions: Questions,
    /// Tokens to decode behind each question in each way.
    pub gen_tokens: usize,
    /// Length of the chat whose second turn is timed; shorter where the model cannot read so much.
    pub chat_tokens: usize,
    /// Only what tells the ways to decode apart: no second turn, no steps of several rows.
    pub decoding_only: bool,
    /// How often everything is measured, besides a first time that does not count.
    pub runs: usize,
    /// Who drafts; `None` for everybody who can, each in turn.
    pub speculation: Option<Speculation>,
    /// The folder of a draft model to load with the model.
    pub draft_model: Option<PathBuf>,
    /// Drafts of the MTP head per step, 0 for plain decoding; `None` for 0 to 3 where the model can draft.
    pub depths: Option<Vec<usize>>,
    /// Drafts of the draft model per step; `None` for 3 and 7, as far as its blocks are that long.
    pub block_depths: Option<Vec<usize>>,
    /// Replace the drafts by the known continuation, right at this rate.
    pub force_acceptance: Option<f64>,
    /// How keys and values are kept.
    pub kv_precision: KvPrecision,
    /// Where what was measured is kept for those who write replies, if it is.
    pub state_dir: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            prompt_tokens: 512,
            questions: Questions::default(),
            gen_tokens: 64,
            chat_tokens: 4096,
            decoding_only: false,
            runs: 5,
            speculation: None,
            draft_model: None,
            depths: None,
            block_depths: None,
            force_acceptance: None,
            kv_precision: KvPrecision::Full,
            state_dir: None,
        }
    }
}

/// Whose drafts are measured. Plain decoding always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speculation {
    /// Nobody's.
    Off,
    /// The MTP head's, at fixed depths.
    Mtp,
    /// The draft model's, at fixed depths.
    Dflash,
    /// Look-up's.
    Lookup,
    /// Those of whoever pays.
    Auto,
}

/// Loads the model in a folder and measures it. `seat`: the place of this process in the ring that the model is spread
/// over, if it is. `observe` is told after each load and each run how many of them are done, and how many there are.
pub fn bench(
    dir: &Path,
    options: &Options,
    seat: Option<RingSeat>,
    observe: &mut dyn FnMut(usize, usize),
) -> Result<Report, EngineError> {
    options.check()?;
    // Each run that counts has a load of its own, and there is a run more. A ring is loaded once.
    let loads = if seat.is_some() { 1 } else { options.runs };
    let parts = loads + options.runs + 1;
    let (mut session, load_seconds) =
        timed_loads(dir, options, loads, seat, &mut |loads| observe(loads, parts))?;
    // As in a chat, or the figures would be another machine's.
    let _residency = mlx::Residency::hold();
    let asked = match options.force_acceptance {
        Some(_) => Vec::new(),
        None => options.questions.texts(&mut session)?,
    };
    let bench = Bench::new(&session, options, asked)?;
    // What loading found out about the model's own drafts says nothing of known ones.
    let mut policy = Policy::new(match options.force_acceptance {
        Some(_) => PolicyState::default(),
        None => session.policy_state().clone(),
    });
    let mut runs = Vec::with_capacity(options.runs);
    // Compiles kernels and fills caches; for that a prompt of each kind is enough.
    let first_prompts: Vec<Text> = bench.texts.iter().map(Text::first_prompt).collect();
    bench.run(&first_prompts, &mut policy)?;
    observe(loads + 1, parts);
    for run in 0..options.runs {
        runs.push(bench.run(&bench.texts, &mut policy)?);
        observe(loads + run + 2, parts);
    }
    let figures = policy.state().clone().with_costs(medians(&runs));
    if let Some(dir) = &options.state_dir {
        let mut learned = Learned::of(dir, &session.info);
        // What replies have shown of the drafts stays.
        let known = learned.read().unwrap_or_else(|| session.policy_state().clone());
        learned.keep_now(&known.with_costs(medians(&runs)));
    }
    let (report, counted) = (bench.report(spread(load_seconds), &figures, &runs)?, bench.count_sent()?);
    let deepest = session.model().rest.as_ref().map_or(0, |rest| rest.deepest());
    let ring =
        session.ring().zip(counted).map(|(view, counted)| counted.of(view.macs, view.link_ms, deepest));
    Ok(Report { ring, ..report })
}

impl Options {
    fn check(&self) -> Result<(), EngineError> {
        let counts = [
            ("--prompt-tokens", self.prompt_tokens),
            ("--gen-tokens", self.gen_tokens),
            ("--chat-tokens", self.chat_tokens),
            ("--runs", self.runs),
        ];
        for (name, count) in counts {
            if count == 0 {
                return refuse(format!("{name} is 0."), "Give a number of 1 or more.");
            }
        }
        let depths = self.depths.as_deref().unwrap_or_default();
        if self.depths.is_some() && depths.is_empty() {
            return refuse("--depths is empty.".into(), "Give numbers like 0,1,2.");
        }
        for (i, &depth) in depths.iter().enumerate() {
            if depth > usize::from(MAX_DEPTH) {
                let hint = "The deepest chain that can be measured has 8 drafts.";
                return refuse(format!("--depths names {depth}."), hint);
            }
            if depths[..i].contains(&depth) {
                return refuse(format!("--depths names {depth} twice."), "Name each depth once.");
            }
        }
        for &depth in self.block_depths.iter().flatten() {
            if !(1..=usize::from(MAX_BLOCK_DEPTH)).contains(&depth) {
                let hint = "A draft model is measured with 1 to 15 drafts a step.";
                return refuse(format!("--block-depths names {depth}."), hint);
            }
        }
        if let Questions::Kinds(kinds) = &self.questions {
            if kinds.is_empty() {
                return refuse("--texts is empty.".into(), "Give prose, code, or both.");
            }
            if let Some(i) = (1..kinds.len()).find(|&i| kinds[..i].contains(&kinds[i])) {
                return refuse(format!("--texts names {:?} twice.", kinds[i]), "Name each kind once.");
            }
        }
        match self.force_acceptance {
            Some(rate) if !(0.0..=1.0).contains(&rate) => {
                refuse(format!("--force-acceptance is {rate}."), "Give a rate between 0 and 1.")
            }
            _ => Ok(()),
        }
    }
}

impl Options {
    /// Fixed numbers of drafts, the draft model's behind the head's.
    fn plans(&self, session: &Session) -> Result<Vec<DraftPlan>, EngineError> {
        let (name, model) = (&session.info.name, session.model());
        let measures = |who| self.speculation.is_none_or(|only| only == who);
        let has_head = model.mtp.is_some();
        let depths = match &self.depths {
            Some(depths) => depths.clone(),
            None if has_head && measures(Speculation::Mtp) => vec![0, 1, 2, 3],
            None => vec![0],
        };
        if let Some(depth) = depths.iter().find(|&&depth| depth > 0 && !has_head) {
            let message = format!("{name} has no MTP head and cannot be measured at depth {depth}.");
            return refuse(message, "Use --depths 0, or a checkpoint with a head.");
        }
        if self.speculation == Some(Speculation::Mtp) && !has_head {
            let message = format!("{name} has no MTP head to draft with.");
            return refuse(message, "Leave out --speculation mtp, or use a checkpoint with a head.");
        }
        let most = model.draft.as_ref().map_or(0, |draft| draft.most_guesses());
        if most == 0 && self.draft_model.is_some() {
            let why = session.info.without_draft_model().unwrap_or_default();
            return refuse(why, "Give another draft model, or leave out --draft-model.");
        }
        if most == 0 && (self.block_depths.is_some() || self.speculation == Some(Speculation::Dflash)) {
            return refuse(
                "There is no draft model to measure.".into(),
                "Give --draft-model and the folder of a draft model that was made for the model.",
            );
        }
        let blocks = match &self.block_depths {
            Some(depths) => depths.clone(),
            None if measures(Speculation::Dflash) => {
                let mut depths = BLOCK_DEPTHS.map(|depth| depth.min(most)).to_vec();
                depths.dedup();
                depths.retain(|&depth| depth > 0);
                depths
            }
            None => Vec::new(),
        };
        if let Some(depth) = blocks.iter().find(|&&depth| depth > most) {
            let message =
                format!("--block-depths names {depth}, but the draft model guesses {most} tokens at most.");
            return refuse(message, "Name smaller numbers.");
        }
        let blocks = blocks.into_iter().map(|depth| DraftPlan { drafter: DrafterKind::Dflash, depth });
        Ok(depths.into_iter().map(DraftPlan::from).chain(blocks).collect())
    }
}

fn refuse<T>(message: String, hint: &'static str) -> Result<T, EngineError> {
    Err(EngineError::Request { code: "invalid_option", message, hint })
}

/// Loads the model so many times and keeps the last one. Only one is in memory at a time.
fn timed_loads(
    dir: &Path,
    options: &Options,
    loads: usize,
    mut seat: Option<RingSeat>,
    observe: &mut dyn FnMut(usize),
) -> Result<(Session, Vec<f64>), EngineError> {
    let mut seconds = Vec::with_capacity(loads);
    loop {
        let begin = Instant::now();
        let mut prepared = Prepared::read(dir, options.kv_precision)?;
        options.draft_model.as_deref().map_or(Ok(()), |draft| prepared.set_draft_model(draft))?;
        seat.take().map_or(Ok(()), |seat| prepared.spread(seat))?;
        let session = prepared.load(None, &mut |_, _| ControlFlow::Continue(()))?;
        seconds.push(begin.elapsed().as_secs_f64());
        observe(seconds.len());
        if seconds.len() == loads {
            return Ok((session, seconds));
        }
        drop(session);
        mlx::clear_cache();
    }
}

/// Everything that the runs have in common.
struct Bench<'a> {
    session: &'a Session,
    options: &'a Options,
    /// Fixed numbers of drafts, the draft model's behind the head's.
    plans: Vec<DraftPlan>,
    /// What prefill reads.
    ordinary: Prompt,
    /// What decoding continues; at least one prompt of one kind.
    texts: Vec<Text>,
    known_drafts: Option<KnownDrafts>,
}

/// The figures of one run.
struct Run {
    looked: Option<Looked>,
    prefill_tokens_per_second: f64,
    peak_memory_bytes: f64,
    second_turn: Option<second_turn::Timed>,
    times: PassTimes,
    /// In the order of the texts.
    texts: Vec<TextRun>,
    rows: Vec<Steps>,
}

/// The figures of one run for one kind of text.
struct TextRun {
    /// In the order of the plans.
    plans: Vec<Decoded>,
    auto: Option<auto::Decoded>,
    lookup: Option<auto::Decoded>,
}

/// What decoding at one depth gave, behind all prompts of a text.
struct Decoded {
    /// All that was decoded, the tokens behind the first prompt first.
    ids: Vec<u32>,
    seconds: f64,
    steps: usize,
    /// Of the steps that had as many drafts as asked for; near the end there is no room for all.
    timings: Vec<StepTiming>,
    positions: Vec<PositionStats>,
    /// Who drafted how many tokens in each step, and how many of them were right.
    verdicts: Vec<(DrafterKind, usize, usize)>,
}

impl<'a> Bench<'a> {
    /// `asked`: what is decoded, unless the drafts are known ones.
    fn new(session: &'a Session, options: &'a Options, asked: Vec<Text>) -> Result<Self, EngineError> {
        let plans = options.plans(session)?;
        let deepest = plans.iter().map(|plan| plan.depth).max().unwrap_or(0);
        if options.gen_tokens <= deepest {
            let message = format!("{} tokens leave no room for {deepest} drafts.", options.gen_tokens);
            return refuse(message, "Raise --gen-tokens above every depth.");
        }
        if options.force_acceptance.is_some() && deepest == 0 {
            return refuse(
                "--force-acceptance needs drafts, but every depth is 0.".into(),
                "Name a depth above 0.",
            );
        }
        let limit = session.info.context_length as usize;
        let too_long = |tokens: usize| {
            let message = format!("These options take {tokens} tokens, but the model can read {limit}.");
            refuse(message, "Lower --prompt-tokens or --gen-tokens.")
        };
        let least = options.prompt_tokens.saturating_add(1).max(options.gen_tokens);
        if least > limit {
            return too_long(least);
        }
        let ordinary = ordinary_tokens(session, options.prompt_tokens + 1);
        session.check_ids(&ordinary)?;
        let texts = match options.force_acceptance {
            Some(_) => {
                let prompts = vec![Prompt::plain(ordinary.clone())];
                vec![Text { kind: TextKind::Any, prompts, head_input: None }]
            }
            None => asked,
        };
        let prompts = texts.iter().flat_map(|text| &text.prompts);
        let longest = prompts.map(|prompt| prompt.ids.len() + options.gen_tokens).max().unwrap_or(0);
        if longest.max(ordinary.len()) > limit {
            return too_long(longest.max(ordinary.len()));
        }
        let ordinary = Prompt::plain(ordinary);
        let mut bench = Self { session, options, plans, ordinary, texts, known_drafts: None };
        if let Some(rate) = options.force_acceptance {
            let continuation = bench.decode(0.into(), &bench.texts[0])?.ids;
            bench.known_drafts = Some(KnownDrafts { continuation, rate });
        }
        Ok(bench)
    }

    fn model(&self) -> &Qwen {
        self.session.model()
    }

    fn run(&self, texts: &[Text], policy: &mut Policy) -> Result<Run, EngineError> {
        let looked = tower::look(self.model(), self.any_prompt())?;
        mlx::reset_peak_memory();
        let prefill_tokens_per_second = self.prefill()?;
        let deepest = self.deepest(DrafterKind::Head);
        // Look-up and the draft model may draft more than any depth.
        let is_wide = self.looks_up() || self.session.model().draft.is_some();
        let wide = WIDE.into_iter().filter(|&width| is_wide && width > deepest + 1);
        let widths: Vec<usize> = (1..=deepest + 1).chain(wide).collect();
        let times = PassTimes::thoroughly(self.model(), &widths, PASSES_PER_WIDTH)?;
        let texts =
            texts.iter().map(|text| self.decode_all_ways(text, &times, policy)).collect::<Result<_, _>>()?;
        let peak_memory_bytes = mlx::peak_memory() as f64;
        // Last, so that the peak is that of one row.
        let (rows, second_turn) = match self.options.decoding_only {
            true => (Vec::new(), None),
            false => (self.rows()?, Some(second_turn::time(self.session, self.options.chat_tokens)?)),
        };
        Ok(Run { looked, prefill_tokens_per_second, peak_memory_bytes, second_turn, times, texts, rows })
    }

    /// Whether the drafts of this drafter are measured.
    fn measures(&self, who: Speculation) -> bool {
        self.options.speculation.is_none_or(|only| only == who)
    }

    fn looks_up(&self) -> bool {
        self.known_drafts.is_none() && self.measures(Speculation::Lookup)
    }

    /// `times`: what passes take in this run, from which Auto begins with each text.
    fn decode_all_ways(
        &self,
        text: &Text,
        times: &PassTimes,
        policy: &mut Policy,
    ) -> Result<TextRun, EngineError> {
        // What one input of the head teaches is not what the other begins with.
        let mut own = policy.clone();
        let policy = if text.head_input.is_some() { &mut own } else { policy };
        let plans: Vec<Decoded> =
            self.plans.iter().map(|&plan| self.decode(plan, text)).collect::<Result<_, _>>()?;
        // Of known drafts no load has told how often they are right.
        let verdicts = match self.known_drafts {
            Some(_) => plans.iter().flat_map(|decoded| &decoded.verdicts).copied().collect(),
            None => Vec::new(),
        };
        let calibration = Calibration { times: times.clone(), verdicts };
        policy.set_state(policy.state().clone().calibrated(&calibration));
        let drafts = self.plans.iter().any(|plan| plan.depth > 0) || self.looks_up();
        let auto = ((drafts || self.options.speculation.is_some()) && self.measures(Speculation::Auto))
            .then(|| self.chosen(Drafting::Auto, text, policy))
            .transpose()?;
        let lookup = self.looks_up().then(|| self.chosen(Drafting::Lookup, text, policy)).transpose()?;
        Ok(TextRun { plans, auto, lookup })
    }

    /// Decoding that is not about what is decoded goes on behind this.
    fn any_prompt(&self) -> &Prompt {
        &self.texts[0].prompts[0]
    }

    fn spec(&self, Prompt { ids, pictures }: &Prompt, depth: usize) -> RowSpec {
        RowSpec {
            prompt: ids.clone(),
            reply_from: ids.len(),
            sampling: Sampling::default(),
            seed: 0,
            xtc_exempt: Vec::new(),
            max_tokens: self.options.gen_tokens,
            // Nothing ends a reply before its time.
            stop_ids: Vec::new(),
            message_starts: Vec::new(),
            drafts: depth > 0,
            logprobs: None,
            constraint: None,
            priority: Priority::default(),
            prediction: Arc::default(),
            pictures: pictures.clone(),
            known_drafts: self.known_drafts.clone(),
            widths: 1..=usize::MAX,
            remember: None,
        }
    }

    /// The longest chain of this drafter's.
    fn deepest(&self, drafter: DrafterKind) -> usize {
        let own = self.plans.iter().filter(|plan| plan.drafter == drafter);
        own.map(|plan| plan.depth).max().unwrap_or(0)
    }

    fn read(&self, id: RowId, spec: RowSpec) -> Result<PrefillTask, EngineError> {
        let mut task = PrefillTask::new(self.model(), Row::new(id, spec))?;
        task.read_all(self.model())?;
        Ok(task)
    }

    /// Prompt tokens per second. The MTP head reads along.
    fn prefill(&self) -> Result<f64, EngineError> {
        let begin = Instant::now();
        self.read(0, self.spec(&self.ordinary, self.deepest(DrafterKind::Head)))?;
        Ok(self.options.prompt_tokens as f64 / begin.elapsed().as_secs_f64())
    }

    /// Behind each prompt of a text, one after the other.
    fn decode(&self, plan: DraftPlan, text: &Text) -> Result<Decoded, EngineError> {
        let depth = plan.depth;
        let mut decoded = Decoded {
            ids: Vec::with_capacity(text.prompts.len() * self.options.gen_tokens),
            seconds: 0.0,
            steps: 0,
            timings: Vec::new(),
            positions: vec![PositionStats::default(); depth],
            verdicts: Vec::new(),
        };
        for prompt in &text.prompts {
            let mut batch = Batch::default();
            batch.join(self.read(0, self.spec(prompt, depth))?)?;
            let begin = Instant::now();
            while !batch.rows().is_empty() {
                let stepped = batch.step_with(self.model(), &[plan], NextStep::Alike)?;
                let Stepped { advances, timing, .. } = stepped;
                decoded.steps += 1;
                for advance in advances {
                    if advance.drafted == depth {
                        decoded.timings.push(timing);
                    }
                    PositionStats::count(&mut decoded.positions, advance.drafted, advance.accepted);
                    decoded.verdicts.push((plan.drafter, advance.drafted, advance.accepted));
                    decoded.ids.extend(advance.tokens);
                }
            }
            decoded.seconds += begin.elapsed().as_secs_f64();
        }
        Ok(decoded)
    }

    /// Primitives of the second step of a row by itself, by name: the first one has the whole prompt's last pair alone.
    fn primitives(&self, plan: DraftPlan) -> Result<BTreeMap<String, usize>, EngineError> {
        if self.model().rest.is_some() {
            // There is no such graph: it is computed piece by piece.
            return Ok(BTreeMap::new());
        }
        let mut batch = Batch::default();
        batch.join(self.read(0, self.spec(self.any_prompt(), plan.depth))?)?;
        batch.step(self.model(), &[plan])?;
        Ok(batch.into_primitives(self.model(), &[plan])?)
    }

    /// Kernels that a second step of a row by itself hands to a GPU of Apple, with no draft and more.
    fn dispatches(&self) -> Result<Vec<usize>, EngineError> {
        if self.model().rest.is_some() {
            return Ok(Vec::new());
        }
        let on_metal = match mlx::device() {
            // As it was chosen there.
            DeviceKind::Metal => self.model().clone(),
            DeviceKind::Cuda | DeviceKind::Cpu => self.model().for_metal()?,
        };
        let most = if on_metal.mtp.is_some() { 3 } else { 0 };
        (0..=most)
            .map(|depth| {
                let mut batch = Batch::default();
                batch.join(self.read(0, self.spec(self.any_prompt(), depth))?)?;
                batch.step(self.model(), &[depth])?;
                Ok(batch.into_dispatches(&on_metal, &[depth])?.values().sum())
            })
            .collect()
    }
}

impl Decoded {
    fn tokens_per_second(&self) -> f64 {
        self.ids.len() as f64 / self.seconds
    }

    fn median_of(&self, time: impl Fn(&StepTiming) -> Duration) -> f64 {
        median(self.timings.iter().map(|timing| milliseconds(time(timing))).collect())
    }

    fn draft_milliseconds(&self) -> Option<f64> {
        let probes: Vec<f64> =
            self.timings.iter().filter_map(|timing| timing.draft).map(milliseconds).collect();
        (!probes.is_empty()).then(|| median(probes))
    }
}

/// Always the same tokens for a vocabulary, spread over it.
fn ordinary_tokens(session: &Session, count: usize) -> Vec<u32> {
    let ordinary = session.tokenizer().ordinary_vocab_size() as u64;
    // A linear congruential generator (Knuth's MMIX constants); its upper half is the better one.
    let mut state = 1u64;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 32) % ordinary) as u32
    })
    .take(count)
    .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use foretoken_protocol::{ChatMessage, DraftingNote};

    use super::*;

    fn demo() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../resources/demo-model/checkpoint")
    }

    /// 12 tokens are a whole number of steps at each depth from 0 to 3 when every draft is right.
    fn small(force_acceptance: Option<f64>) -> Options {
        Options {
            prompt_tokens: 20,
            questions: Questions::default(),
            gen_tokens: 12,
            chat_tokens: 100,
            decoding_only: false,
            runs: 2,
            speculation: None,
            draft_model: None,
            depths: Some(vec![0, 1, 2, 3]),
            block_depths: None,
            force_acceptance,
            kv_precision: KvPrecision::Full,
            state_dir: None,
        }
    }

    fn check(spread: Spread) {
        let Spread { median, min, max } = spread;
        assert!(0.0 < min && min <= median && median <= max && max.is_finite(), "{spread:?}");
    }

    fn check_sums(report: &Report) {
        let looked_up = report.texts.iter().all(|text| text.lookup.is_some());
        let widths: &[usize] = if looked_up { &[1, 2, 3, 4, 8, 16] } else { &[1, 2, 3, 4] };
        assert_eq!(report.widths.iter().map(|width| width.width).collect::<Vec<_>>(), widths);
        let SecondTurn { seconds_without, seconds_with, gain, .. } = report.second_turn.unwrap();
        let whole = [report.load_seconds, report.prefill_tokens_per_second, report.peak_memory_bytes];
        let widths = report.widths.iter().flat_map(|width| [width.milliseconds, width.relative]);
        widths.chain(whole).chain([seconds_without, seconds_with, gain]).for_each(check);
        assert_eq!(report.widths[0].relative, Spread { median: 1.0, min: 1.0, max: 1.0 });
        report.texts.iter().for_each(|text| check_text(report, text));
        assert_eq!(report.rows.iter().map(|rows| rows.rows).collect::<Vec<_>>(), [1, 2, 4, 8]);
        let plain: usize = report.primitives.values().sum();
        assert_eq!(report.rows[0].primitives, plain);
        assert!(report.rows.is_sorted_by_key(|rows| rows.primitives), "a row costs primitives");
        assert!(report.rows[3].primitives < 8 * plain, "rows share them");
    }

    fn check_text(report: &Report, text: &TextFigures) {
        assert_eq!(text.depths.iter().map(|depth| depth.depth).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for depth in &text.depths {
            [depth.tokens_per_second, depth.tokens_per_pass, depth.step_milliseconds]
                .into_iter()
                .for_each(check);
            [depth.host_milliseconds, depth.idle_milliseconds, depth.host_share].into_iter().for_each(check);
            depth.speed_up.into_iter().chain(depth.draft_milliseconds).for_each(check);
            assert!(depth.host_milliseconds.median < depth.step_milliseconds.median);
            assert!(depth.idle_milliseconds.median < depth.step_milliseconds.median);
            assert!(depth.host_share.max < 1.0);
            assert_eq!(depth.draft_milliseconds.is_some(), depth.depth > 0);
            assert_eq!(depth.positions.len(), depth.depth);
            let passes = text.tokens as f64 / depth.tokens_per_pass.median;
            // Each pass emits its own token and the accepted drafts; all runs decode the same text.
            let accepted: u32 = depth.positions.iter().map(|position| position.accepted).sum();
            let emitted = f64::from(accepted) / report.runs as f64 + passes;
            assert!((emitted - text.tokens as f64).abs() < 1e-6, "{depth:?}");
        }
        for spread in [text.depths[0].tokens_per_pass, text.depths[0].speed_up.unwrap()] {
            assert_eq!(spread, Spread { median: 1.0, min: 1.0, max: 1.0 });
        }
        let auto = text.auto.as_ref().unwrap();
        [auto.tokens_per_second, auto.tokens_per_pass, auto.speed_up.unwrap()].into_iter().for_each(check);
        assert!(auto.tokens_per_pass.min >= 1.0, "{auto:?}");
        assert_eq!(text.depths[0].primitives, report.primitives.values().sum::<usize>());
        assert!(text.depths.is_sorted_by_key(|depth| depth.primitives), "a draft costs primitives");
    }

    #[test]
    fn the_demo_model_is_measured_and_the_figures_agree() {
        let report = bench(&demo(), &small(None), None, &mut |_, _| {}).unwrap();
        check_sums(&report);
        let SecondTurn { prompt_tokens, cached_tokens, .. } = report.second_turn.unwrap();
        assert!(100 < cached_tokens + 8 && cached_tokens < prompt_tokens && prompt_tokens < 300);
        let kinds: Vec<TextKind> = report.texts.iter().map(|text| text.kind).collect();
        assert_eq!(kinds, [TextKind::Prose, TextKind::Code]);
        for text in &report.texts {
            assert_eq!(text.tokens, 3 * 12, "three questions");
            let Auto { tokens_per_pass, positions, note, .. } = text.lookup.as_ref().unwrap();
            assert!(tokens_per_pass.min >= 1.0 && positions.len() <= 15 && note.is_none(), "{positions:?}");
            assert!(text.auto.as_ref().unwrap().positions[0].accepted > 0);
            let first = text.depths[1].positions[0];
            assert!(first.accepted * 2 > first.drafted, "{first:?}");
        }
        assert_ne!(report.texts[0].depths[1].positions, report.texts[1].depths[1].positions, "other texts");
        let json = serde_json::to_value(&report).unwrap();
        let drafted = report.texts[1].depths[2].positions[1].drafted;
        assert_eq!(json["texts"][1]["depths"][2]["positions"][1]["drafted"], drafted);
        assert_eq!(json["texts"][1]["kind"], "code");
        assert_eq!(json["widths"][3]["width"], 4);
    }

    #[test]
    fn known_drafts_are_all_right_or_all_wrong() {
        for rate in [0.0, 1.0] {
            let report =
                bench(&demo(), &Options { runs: 1, ..small(Some(rate)) }, None, &mut |_, _| {}).unwrap();
            check_sums(&report);
            let [text] = &report.texts[..] else { panic!("{report:?}") };
            assert_eq!(
                (report.forced_acceptance, text.kind, &text.lookup),
                (Some(rate), TextKind::Any, &None)
            );
            // What people read is a figure of the table; drafts that pay, or seem to on a busy machine, leave nothing
            // to say.
            if let Some(note) = &text.auto.as_ref().unwrap().note {
                let DraftingNote::NotPaying { drafts, times_as_long, .. } = *note else { panic!("{note}") };
                let figure = report.widths[drafts as usize].with_drafts.unwrap();
                assert_eq!(format!("{times_as_long:.2}"), format!("{figure:.2}"), "{report:?}");
            }
            for depth in &text.depths[1..] {
                assert_eq!(depth.tokens_per_pass.median, 1.0 + rate * depth.depth as f64);
                for position in &depth.positions {
                    assert!(position.drafted > 0);
                    assert_eq!(f64::from(position.accepted), rate * f64::from(position.drafted));
                }
            }
        }
    }

    #[test]
    fn decoding_one_kind_of_text_or_behind_one_question_can_be_measured_alone() {
        let code = Questions::Kinds(vec![TextKind::Code]);
        let options = Options { questions: code, decoding_only: true, runs: 1, ..small(None) };
        let mut told = Vec::new();
        let report = bench(&demo(), &options, None, &mut |done, total| told.push((done, total))).unwrap();
        assert_eq!(told, [(1, 3), (2, 3), (3, 3)], "a load, a run that does not count and one that does");
        assert_eq!((report.second_turn, report.rows.len(), report.texts.len()), (None, 0, 1));
        assert_eq!((report.texts[0].kind, report.texts[0].depths.len()), (TextKind::Code, 4));
        assert!(report.texts[0].lookup.is_some());

        let question = ChatMessage::user("Tell me a story about an owl and a bell.");
        let questions = Questions::One(Box::new(question));
        let off = Some(Speculation::Off);
        let options = Options { questions, speculation: off, depths: None, ..options };
        let report = bench(&demo(), &options, None, &mut |_, _| {}).unwrap();
        let [text] = &report.texts[..] else { panic!("{report:?}") };
        assert_eq!((text.kind, text.tokens, text.depths.len()), (TextKind::Any, 12, 1));
        assert_eq!((&text.auto, &text.lookup), (&None, &None));
    }

    #[test]
    fn no_way_to_decode_changes_a_text() {
        let draft_model = demo().parent().unwrap().join("dflash");
        let options = Options { draft_model: Some(draft_model), depths: None, gen_tokens: 24, ..small(None) };
        let (mut session, _) = timed_loads(&demo(), &options, 1, None, &mut |_| {}).unwrap();
        let texts = options.questions.texts(&mut session).unwrap();
        let bench = Bench::new(&session, &options, texts).unwrap();
        assert_eq!(bench.plans.len(), 6, "plain, 1 to 3 drafts of the head, 3 and 7 of the draft model");
        for text in &bench.texts {
            let [plain, drafted @ ..] = &bench
                .plans
                .iter()
                .map(|&plan| bench.decode(plan, text).unwrap().ids)
                .collect::<Vec<_>>()[..]
            else {
                panic!("nothing was decoded")
            };
            assert_eq!(plain.len(), 3 * 24);
            assert!(drafted.iter().all(|ids| ids == plain), "{:?}", text.kind);
        }
    }

    #[test]
    fn options_that_make_no_sense_are_refused_by_name() {
        let base = small(None);
        let cases = [
            (Options { runs: 0, ..base.clone() }, "--runs"),
            (Options { prompt_tokens: 0, ..base.clone() }, "--prompt-tokens"),
            (Options { gen_tokens: 0, ..base.clone() }, "--gen-tokens"),
            (Options { chat_tokens: 0, ..base.clone() }, "--chat-tokens"),
            (Options { gen_tokens: 3, ..base.clone() }, "3 drafts"),
            (Options { depths: Some(vec![0, 9]), ..base.clone() }, "names 9"),
            (Options { depths: Some(vec![1, 1]), ..base.clone() }, "1 twice"),
            (Options { depths: Some(vec![]), ..base.clone() }, "--depths is empty"),
            (
                Options { depths: Some(vec![0]), force_acceptance: Some(1.0), ..base.clone() },
                "--force-acceptance",
            ),
            (Options { force_acceptance: Some(1.5), ..base.clone() }, "1.5"),
            (Options { force_acceptance: Some(f64::NAN), ..base.clone() }, "NaN"),
            (Options { questions: Questions::Kinds(vec![]), ..base.clone() }, "--texts is empty"),
            (Options { questions: Questions::Kinds(vec![TextKind::Code; 2]), ..base.clone() }, "Code twice"),
            (Options { prompt_tokens: 10_000_000, ..base.clone() }, "can read"),
        ];
        for (options, named) in cases {
            let error = bench(&demo(), &options, None, &mut |_, _| {}).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
