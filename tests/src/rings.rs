//! What a ring and a single process are compared by: a model, requests that come and go, and what became of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::time::Duration;

use foretoken_engine::checkpoint::{Config, Index, Layout, PartFile, PartPiece, part_files};
use foretoken_engine::decode::{
    Footprint, Limits, PREFILL_CHUNK, Policy, RowId, RowSpec, Scheduler, SchedulerEvent,
};
use foretoken_engine::link::Served;
use foretoken_engine::model::Qwen;
use foretoken_protocol::{Drafting, KvPrecision, Sampling};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::drafted::load_draft;
use crate::rng::Rng;
use crate::runs::{forced, greedy};

/// What rank 0 of a ring is told.
#[derive(Debug, Serialize, Deserialize)]
pub struct RingPlan {
    /// The model's folder.
    pub model: PathBuf,
    /// How many of its layers each rank gets.
    pub layers: Vec<usize>,
    /// Sockets at whose other ends the other ranks are.
    pub channels: Vec<PathBuf>,
    /// How keys and values are kept.
    pub kv_precision: KvPrecision,
    /// The draft model's folder, where there is one.
    pub draft_model: Option<PathBuf>,
    /// The most steps, and chunks of a prompt, that are to be under way at a time; as many as there are ranks where
    /// none is given.
    pub most_in_flight: Option<usize>,
    /// How long nobody may be heard of, and how long the ring may take for one hidden state.
    pub patience: Duration,
    /// What it plays.
    pub scene: Scene,
    /// How often, each time with other requests.
    pub times: usize,
    /// What its requests come to, where that is what they draft.
    pub known: BTreeMap<RowId, Vec<u32>>,
}

/// What rank 0 says at its end.
#[derive(Debug, Serialize, Deserialize)]
pub struct RingReport {
    /// What its scene came to.
    pub played: Played,
    /// Messages that it has sent.
    pub messages: u64,
    /// The most steps, and chunks of a prompt, that were under way at a time.
    pub deepest: usize,
    /// What the others have done.
    pub others: Vec<Served>,
}

/// Requests that come and go.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Where its chances begin.
    pub seed: u64,
    /// Requests at a time.
    pub requests: usize,
    /// How often their drafts are right, where they are not those of the MTP head.
    pub rate: Option<f64>,
    /// Whether some are cancelled on their way.
    pub cancels: bool,
    /// Whether memory is short, so that rows are swapped out.
    pub is_short: bool,
    /// Whether the draft model drafts.
    pub dflash: bool,
    /// Whether some first questions are of several chunks.
    pub is_long: bool,
    /// Whether requests may fail.
    pub may_fail: bool,
    /// Questions of each chat, of which every one goes on from what was remembered.
    pub questions: usize,
}

/// What a scene came to.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// What was written for each request.
    pub replies: BTreeMap<RowId, Vec<u32>>,
    /// Layers that prompts were run through, each over a chunk.
    pub layers_run: u64,
    /// How often a request was preempted.
    pub preemptions: u64,
    /// The requests that failed.
    pub failed: BTreeSet<RowId>,
}

/// Configuration and layout of a model.
pub fn layout(model: &Path, kv_precision: KvPrecision) -> (Config, Layout) {
    let config = Config::read(model).unwrap();
    let layout = Layout::plan(&config, &Index::read(model, &config).unwrap()).unwrap();
    let layout = layout.keeping_kv(&config, kv_precision).unwrap();
    (config, layout)
}

/// A model with the first of its layers, and its draft model.
pub fn first_layers(
    model: &Path,
    layers: usize,
    kv_precision: KvPrecision,
    draft_model: Option<&Path>,
) -> Qwen {
    let (config, layout) = layout(model, kv_precision);
    let (config, layout) = (config.of_layers(&(0..layers)).unwrap(), layout.of_layers(&(0..layers)));
    let mut qwen = Qwen::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap();
    qwen.draft = draft_model.map(load_draft);
    qwen
}

impl Scene {
    /// Plays it on a model. `known`: what each request comes to, for those that draft it.
    pub fn play(self, model: &Qwen, known: &BTreeMap<RowId, Vec<u32>>) -> Played {
        let mut rng = Rng::new(self.seed);
        let few = Footprint::of(model).row(150) * 2;
        let limits = Limits {
            memory: if self.is_short { few } else { u64::MAX },
            reserve: if self.is_short { 0 } else { 4096 },
            prefix_cache_bytes: if self.questions > 1 { u64::MAX } else { 0 },
            ..Limits::default()
        };
        let mut scheduler = Scheduler::new(model, limits, Policy::default());
        let mut played = Played::default();
        for question in 0..self.questions {
            let requests: Vec<Request> = (0..self.requests)
                .map(|chat| self.request(chat, question, &played.replies, known, &mut rng))
                .collect();
            self.answer(model, &mut scheduler, requests, &mut played);
        }
        played.layers_run = scheduler.layers_run();
        played.preemptions = scheduler.counters().preemptions;
        played
    }

    /// Lets requests come one after the other, until all are answered.
    fn answer(
        self,
        model: &Qwen,
        scheduler: &mut Scheduler,
        requests: Vec<Request>,
        Played { replies, failed, .. }: &mut Played,
    ) {
        let (mut coming, mut turn) = (requests.into_iter().peekable(), 0);
        while coming.peek().is_some() || !scheduler.is_idle() {
            if let Some(Request { id, spec, drafting, .. }) =
                coming.next_if(|request| request.turn <= turn || scheduler.is_idle())
            {
                scheduler.submit(id, spec, drafting).unwrap();
            }
            for event in scheduler.pump(model) {
                match event {
                    SchedulerEvent::Advanced { advance, .. } => {
                        replies.entry(advance.row).or_default().extend(advance.tokens);
                    }
                    SchedulerEvent::Failed { row, .. } if self.may_fail => _ = failed.insert(row),
                    SchedulerEvent::Failed { error, .. } => panic!("{error}"),
                    _ => {}
                }
            }
            let is_cancelled = |id: &RowId| self.cancels && id % 4 == 3;
            let long =
                |(&id, reply): (&RowId, &Vec<u32>)| (is_cancelled(&id) && reply.len() >= 5).then_some(id);
            let cancelled: Vec<RowId> = replies.iter().filter_map(long).collect();
            scheduler.cancel(model, &cancelled);
            for (id, reply) in replies.iter_mut() {
                // How many it had by then does not matter.
                if is_cancelled(id) {
                    reply.truncate(5);
                }
            }
            turn += 1;
        }
    }

    fn request(
        self,
        chat: usize,
        question: usize,
        replies: &BTreeMap<RowId, Vec<u32>>,
        known: &BTreeMap<RowId, Vec<u32>>,
        rng: &mut Rng,
    ) -> Request {
        let id = |question: usize| (question * self.requests + chat) as RowId;
        let earlier = (0..question).flat_map(|before| {
            let asked = self.asked(chat, before);
            [asked, replies[&id(before)].clone()]
        });
        let earlier: Vec<u32> = earlier.flatten().collect();
        let prompt = [earlier.clone(), self.asked(chat, question)].concat();
        let sampling = match chat % 3 {
            0 => Sampling::default(),
            1 => Sampling { temperature: 0.8, ..Sampling::default() },
            _ => Sampling { temperature: 1.0, top_k: 20, presence_penalty: 0.5, ..Sampling::default() },
        };
        let within = |start: &usize| (1..prompt.len()).contains(start);
        let starts: BTreeSet<usize> = [50, 100, earlier.len()].into_iter().filter(within).collect();
        let spec = RowSpec {
            sampling,
            seed: rng.below(1000) as u64,
            message_starts: starts.into_iter().collect(),
            ..greedy(&prompt, if self.is_short { 140 } else { 12 + 3 * chat })
        };
        let drafting = match chat % 4 {
            1 | 2 if self.dflash => Drafting::Dflash { depth: Some(3 + chat as u8) },
            0 => Drafting::Off,
            1 => Drafting::Fixed { depth: 3 },
            2 => Drafting::Fixed { depth: 1 },
            _ => Drafting::Fixed { depth: 2 },
        };
        let spec = match (self.rate, known.get(&id(question))) {
            (Some(rate), Some(known)) => forced(&spec, known, rate),
            _ => spec,
        };
        Request { id: id(question), spec, drafting, turn: 4 * chat }
    }

    /// The tokens of a question.
    fn asked(self, chat: usize, question: usize) -> Vec<u32> {
        let chunks = if self.is_long && chat.is_multiple_of(4) && question == 0 { 2 } else { 0 };
        let length = [1, 7, 40, 130, 2, 90][chat % 6] + chunks * (PREFILL_CHUNK + 20);
        Rng::new(self.seed + 100 * chat as u64 + 7 * question as u64).prompt(length + 40 * question)
    }
}

/// A request, and the turn that it comes at.
struct Request {
    id: RowId,
    spec: RowSpec,
    drafting: Drafting,
    turn: usize,
}

/// A folder with the files that a lent machine gets for some layers of a model, and no more.
pub fn part_folder(model: &Path, layers: Range<usize>) -> TempDir {
    let (_, layout) = layout(model, KvPrecision::Full);
    let folder = tempfile::tempdir().unwrap();
    for PartFile { name, header, length_first, pieces } in part_files(model, &layout, layers).unwrap() {
        let mut file = File::create(folder.path().join(name)).unwrap();
        if length_first {
            file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
        }
        file.write_all(header.as_bytes()).unwrap();
        for PartPiece { file: source, offset, bytes } in pieces {
            let mut source = File::open(source).unwrap();
            source.seek(SeekFrom::Start(offset)).unwrap();
            std::io::copy(&mut source.take(bytes), &mut file).unwrap();
        }
    }
    folder
}
