//! Runs of the decoder.

use foretoken_engine::decode::{
    Advance, Batch, KnownDrafts, PassTimes, Policy, PolicyState, PrefillTask, Row, RowId, RowSpec,
};
use foretoken_engine::model::Qwen;
use foretoken_protocol::{Priority, Sampling};
use std::sync::Arc;

/// A greedy row that drafts by its head and ends by length.
pub fn greedy(prompt: &[u32], max_tokens: usize) -> RowSpec {
    RowSpec {
        prompt: prompt.to_vec(),
        reply_from: prompt.len(),
        sampling: Sampling::default(),
        seed: 0,
        xtc_exempt: Vec::new(),
        max_tokens,
        stop_ids: Vec::new(),
        message_starts: Vec::new(),
        drafts: true,
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

/// `spec` with known drafts that are right at a given rate.
pub fn forced(spec: &RowSpec, continuation: &[u32], rate: f64) -> RowSpec {
    RowSpec { known_drafts: Some(KnownDrafts { continuation: continuation.to_vec(), rate }), ..spec.clone() }
}

/// A policy that drafts for rows which leave it the choice: it was told that drafts cost hardly anything.
pub fn eager_policy() -> Policy {
    let passes = (1..=32).map(|width| (width, 0.01)).collect();
    Policy::new(PolicyState::default().with_costs(PassTimes { passes, draft: Some(1e-4), block: None }))
}

/// A row whose prompt has been read.
pub fn read(model: &Qwen, id: RowId, spec: &RowSpec) -> PrefillTask {
    let mut task = PrefillTask::new(model, Row::new(id, spec.clone())).unwrap();
    task.read_all(model).unwrap();
    task
}

/// What became of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// Emitted tokens, a stop token included.
    pub tokens: Vec<u32>,
    /// Steps it took part in.
    pub steps: usize,
    /// By position: drafts verified.
    pub drafted: Vec<usize>,
    /// By position: drafts accepted.
    pub accepted: Vec<usize>,
}

impl Reply {
    /// Adds a step.
    pub fn add(&mut self, advance: &Advance) {
        assert!(!advance.tokens.is_empty(), "a row that takes part advances");
        self.tokens.extend(&advance.tokens);
        self.steps += 1;
        if self.drafted.len() < advance.drafted {
            self.drafted.resize(advance.drafted, 0);
            self.accepted.resize(advance.drafted, 0);
        }
        for position in 0..advance.drafted {
            self.drafted[position] += 1;
            self.accepted[position] += usize::from(position < advance.accepted);
        }
    }
}

/// Runs one row to its end.
pub fn alone(model: &Qwen, spec: &RowSpec, depth: usize) -> Reply {
    let mut batch = Batch::default();
    batch.join(read(model, 0, spec)).unwrap();
    let mut reply = Reply::default();
    while !batch.rows().is_empty() {
        let advances = batch.step(model, &[depth]).unwrap().advances;
        reply.add(&advances[0]);
    }
    reply
}
