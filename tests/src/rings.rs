//! What a ring and a single process are compared by: a model, requests that come and go, and what became of them.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use foretoken_engine::checkpoint::{Config, Index, Layout};
use foretoken_engine::decode::{Limits, Policy, RowId, RowSpec, Scheduler, SchedulerEvent};
use foretoken_engine::mlx::Sent;
use foretoken_engine::model::Qwen;
use foretoken_protocol::{Drafting, KvPrecision, Sampling};
use serde::{Deserialize, Serialize};

use crate::rng::Rng;
use crate::runs::{forced, greedy};

/// What one rank of a ring is told.
#[derive(Debug, Serialize, Deserialize)]
pub struct RankPlan {
    /// The model's folder.
    pub model: PathBuf,
    /// Its layers.
    pub layers: Range<usize>,
    /// How keys and values are kept.
    pub kv_precision: KvPrecision,
    /// The ring's number.
    pub epoch: u32,
    /// What rank 0 writes.
    pub scene: Scene,
}

/// What one rank says at its end.
#[derive(Debug, Serialize, Deserialize)]
pub struct RankReport {
    /// What rank 0 has written.
    pub replies: BTreeMap<RowId, Vec<u32>>,
    /// Messages that it has sent.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Rows that it still has anything of.
    pub rows: usize,
    /// Of its rank 0: layers of prompts that were run here.
    pub layers_run: u64,
}

impl RankReport {
    /// One of a rank that has sent this.
    pub fn of(sent: Sent, rows: usize) -> Self {
        let Sent { messages, bytes } = sent;
        Self { replies: BTreeMap::new(), messages, bytes, rows, layers_run: 0 }
    }
}

/// Requests that come and go.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Where its chances begin.
    pub seed: u64,
    /// Requests.
    pub requests: usize,
    /// How often their drafts are right; `None` for those of the MTP head itself.
    pub rate: Option<f64>,
    /// Whether some are cancelled on their way, and memory runs short.
    pub rough: bool,
}

/// Configuration and layout of a model.
pub fn layout(model: &Path, kv_precision: KvPrecision) -> (Config, Layout) {
    let config = Config::read(model).unwrap();
    let layout = Layout::plan(&config, &Index::read(model, &config).unwrap()).unwrap();
    let layout = layout.keeping_kv(&config, kv_precision).unwrap();
    (config, layout)
}

/// A model with the first of its layers.
pub fn first_layers(model: &Path, layers: usize, kv_precision: KvPrecision) -> Qwen {
    let (config, layout) = layout(model, kv_precision);
    Qwen::load_first(&config, &layout, layers, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

impl Scene {
    /// Plays it on a model. Returns what each request has written, and the layers that prompts were run through.
    pub fn play(self, model: &Qwen) -> (BTreeMap<RowId, Vec<u32>>, u64) {
        let mut rng = Rng::new(self.seed);
        // The same chances, whatever the model's memory is like.
        let specs: Vec<(RowSpec, Drafting, usize)> =
            (0..self.requests).map(|id| self.request(id, &mut rng)).collect();
        let limits = Limits { prefix_cache_bytes: 0, ..Limits::default() };
        let mut scheduler = Scheduler::new(model, limits, Policy::default());
        let mut replies: BTreeMap<RowId, Vec<u32>> = BTreeMap::new();
        let (mut next, mut turn) = (0, 0);
        while next < specs.len() || !scheduler.is_idle() {
            if let Some((spec, drafting, at)) = specs.get(next)
                && (*at <= turn || scheduler.is_idle())
            {
                scheduler.submit(next as RowId, spec.clone(), *drafting).unwrap();
                next += 1;
            }
            for event in scheduler.pump(model) {
                match event {
                    SchedulerEvent::Advanced { advance, .. } => {
                        replies.entry(advance.row).or_default().extend(advance.tokens);
                    }
                    SchedulerEvent::Failed { error, .. } => panic!("{error}"),
                    _ => {}
                }
            }
            // By what was written, so that the turns that it took do not matter.
            if self.rough {
                let long =
                    |(id, reply): (&RowId, &Vec<u32>)| (*id % 4 == 3 && reply.len() >= 5).then_some(*id);
                let cancelled: Vec<RowId> = replies.iter().filter_map(long).collect();
                scheduler.cancel(model, &cancelled);
            }
            turn += 1;
        }
        for (id, reply) in &mut replies {
            if self.rough && id % 4 == 3 {
                reply.truncate(5);
            }
        }
        (replies, scheduler.layers_run())
    }

    fn request(self, id: usize, rng: &mut Rng) -> (RowSpec, Drafting, usize) {
        let length = [1, 7, 40, 130, 2][id % 5];
        let prompt = rng.prompt(length);
        let sampling = match id % 3 {
            0 => Sampling::default(),
            1 => Sampling { temperature: 0.8, ..Sampling::default() },
            _ => Sampling { temperature: 1.0, top_k: 20, presence_penalty: 0.5, ..Sampling::default() },
        };
        let spec = RowSpec {
            sampling,
            seed: id as u64,
            message_starts: (0..length).step_by(50).skip(1).collect(),
            ..greedy(&prompt, 10 + 3 * id)
        };
        let drafting = match id % 4 {
            0 => Drafting::Off,
            1 => Drafting::Fixed { depth: 3 },
            2 => Drafting::Fixed { depth: 1 },
            _ => Drafting::Fixed { depth: 2 },
        };
        // What they come to is found out by the first run; drafts of a wrong text are wrong.
        let known: Vec<u32> = rng.prompt(60);
        let spec = match self.rate {
            Some(rate) => forced(&spec, &known, rate),
            None => spec,
        };
        (spec, drafting, 4 * id)
    }
}
