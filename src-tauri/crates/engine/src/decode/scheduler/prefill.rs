//! Chunked prefill between decode steps: at most [`MAX_PREFILLS`] prompts are read by turns, some layers at a time,
//! from the end of what the prefix cache has of them.

use std::time::{Duration, Instant};

use tracing::Span;

use super::request::{Prefill, PrefixLookup, Request, Stage};
use super::{Scheduler, SchedulerEvent};
use crate::decode::batch::Batch;
use crate::decode::prefill_task::PrefillTask;
use crate::decode::row::Row;
use crate::decode::row_error::RowError;
use crate::decode::spec::RowId;
use crate::memory::PREFILL_CHUNK;
use crate::mlx;
use crate::model::Qwen;

/// Prompts that are prefilled by turns: two, so that a short one need not wait for the end of a long one.
pub(super) const MAX_PREFILLS: usize = 2;

/// How far the pictures of a prompt's next chunk are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// All of them have been seen.
    Over,
    /// One has gone some way through the tower, for so long.
    For(Duration),
    /// Rows may not be held up now.
    HeldUp,
    /// Another prompt looks at the same picture, and will keep what it sees.
    Elsewhere,
}

impl Scheduler {
    /// Starts the prefill of a row, behind the longest prefix of it that is cached.
    pub(super) fn start_prefill(&mut self, model: &Qwen, row: Row, events: &mut Vec<SchedulerEvent>) {
        let id = row.id;
        let Some(&Request { bytes, lookup, .. }) = self.requests.get(&id) else { return };
        let prefix = match lookup {
            PrefixLookup::Bypassed => None,
            PrefixLookup::Allowed | PrefixLookup::Hit => {
                self.counters.prefix_lookups += u64::from(self.limits.prefix_cache_bytes > 0);
                self.find_prefix(&row.spec, &row.keys())
            }
        };
        self.rebalance(bytes);
        let (task, lookup) = match prefix {
            Some(prefix) => match PrefillTask::resume(row, &prefix) {
                Ok(task) => (Ok(task), PrefixLookup::Hit),
                Err(lost) => return self.distrust(lost.recompute()),
            },
            None => (PrefillTask::new(model, row), lookup),
        };
        let task = match task {
            Ok(mut task) => {
                task.is_stored = self.limits.prefix_cache_bytes > 0;
                task
            }
            Err(error) => return self.fail(id, error, events),
        };
        let (done, total) = task.progress();
        if done > 0 {
            self.counters.prefix_hits += 1;
            self.counters.prefix_hit_tokens += done as u64;
        }
        events.push(SchedulerEvent::Prefilling { row: id, done, total });
        let prefill =
            Box::new(Prefill { task, layer_time: self.throttle.expected(), turn: self.next_turn() });
        if let Some(request) = self.requests.get_mut(&id) {
            (request.stage, request.lookup) = (Stage::Prefilling(prefill), lookup);
        }
    }

    /// The number of prompts that are being read.
    pub(super) fn prefills(&self) -> usize {
        self.requests.values().filter(|request| matches!(request.stage, Stage::Prefilling(_))).count()
    }

    /// Runs some layers of the prompt whose turn it is. After each chunk it is the next prompt's turn.
    pub(super) fn prefill(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        let Some((id, mut prefill)) = self.take_prefill() else { return };
        let decoding = self.is_decoding();
        let tokens = prefill.task.chunk_tokens();
        let before = prefill.task.progress();
        match self.look(model, &mut prefill.task, decoding) {
            Ok(Look::Over) => {}
            Ok(look) => {
                if let Look::For(took) = look {
                    events.push(SchedulerEvent::Looked { row: id, took, looked: prefill.task.looked(model) });
                }
                if look != Look::HeldUp {
                    // A chunk may hold many pictures.
                    prefill.turn = self.next_turn();
                }
                return self.set_stage(id, Stage::Prefilling(prefill));
            }
            Err(error) => return self.fail(id, error, events),
        }
        if !prefill.task.is_read() {
            let layers = self.throttle.layers(prefill.layer_time, tokens, decoding);
            if layers == 0 {
                return self.set_stage(id, Stage::Prefilling(prefill));
            }
            let parent = self.requests.get(&id).map(|request| &request.span);
            let parent = parent.and_then(Span::id);
            let _span = tracing::debug_span!(parent: parent, "prefill", tokens, layers).entered();
            let begin = Instant::now();
            // While rows decode, their steps are what other machines have to do meanwhile.
            let most_in_flight = if decoding { 1 } else { model.most_in_flight() };
            match prefill.task.advance(model, layers, most_in_flight) {
                Ok(0) => self.throttle.record_swap(begin.elapsed(), decoding),
                Ok(layers) => {
                    let took = begin.elapsed();
                    self.throttle.record_prefill(&mut prefill.layer_time, layers, tokens, took, decoding);
                    self.layers_run += layers as u64;
                }
                Err(error) if self.begins_anew(id, &error) => {
                    tracing::warn!("a prompt is read anew: {error}");
                    return self.distrust(prefill.task.into_row());
                }
                Err(error) => return self.fail(id, error, events),
            }
        }
        if self.request(id).is_some_and(|request| request.drafting.looks_up()) {
            prefill.task.index_text();
        }
        let (done, total) = prefill.task.progress();
        if (done, total) != before {
            self.cache_prompt(&prefill.task);
            events.push(SchedulerEvent::Prefilling { row: id, done, total });
        }
        if !prefill.task.is_read() {
            if done != before.0 {
                prefill.turn = self.next_turn();
            }
            return self.set_stage(id, Stage::Prefilling(prefill));
        }
        self.join_batch(model, id, Batch::of(prefill.task), events);
        if total > PREFILL_CHUNK {
            // The buffers of a prefill are larger than any that a step needs.
            mlx::clear_cache();
        }
    }

    /// Looks on at the pictures of a prompt's next chunk for as long as rows may be held up; not at those that have
    /// been seen lately.
    pub(super) fn look(
        &mut self,
        model: &Qwen,
        task: &mut PrefillTask,
        decoding: bool,
    ) -> Result<Look, RowError> {
        let key = loop {
            let Some(key) = task.unseen().map(|picture| picture.key) else { return Ok(Look::Over) };
            match self.features.get(key) {
                Some(features) => task.recall(features),
                None => break key,
            }
        };
        let vision = model.vision.as_ref().ok_or(RowError::NoTower)?;
        if self.is_looked_at(key) {
            return Ok(Look::Elsewhere);
        }
        let Some(allowed) = self.throttle.allowed(decoding) else { return Ok(Look::HeldUp) };
        let begin = Instant::now();
        loop {
            if let Some(features) = task.look(vision, 1)? {
                self.features.put(key, features);
                self.rebalance(0);
                break;
            }
            if begin.elapsed() >= allowed {
                break;
            }
        }
        let took = begin.elapsed();
        self.throttle.record_swap(took, decoding);
        Ok(Look::For(took))
    }

    /// Whether another prompt has this picture on its way through the tower.
    fn is_looked_at(&self, key: u32) -> bool {
        self.requests.values().any(|request| match &request.stage {
            Stage::Prefilling(prefill) => prefill.task.looks_at() == Some(key),
            _ => false,
        })
    }

    /// Takes the prompt whose turn it is out of its request.
    fn take_prefill(&mut self) -> Option<(RowId, Box<Prefill>)> {
        let turn = |request: &Request| match &request.stage {
            Stage::Prefilling(prefill) => Some(prefill.turn),
            _ => None,
        };
        let prefills =
            self.requests.iter_mut().filter_map(|(&id, request)| Some((turn(request)?, id, request)));
        let (_, id, request) = prefills.min_by_key(|&(turn, ..)| turn)?;
        match std::mem::take(&mut request.stage) {
            Stage::Prefilling(prefill) => Some((id, prefill)),
            _ => None,
        }
    }

    /// A turn behind those of all prompts that are being read.
    fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Puts a prompt that is being read into the prefix cache, as far as it was read.
    pub(super) fn cache_prompt(&mut self, task: &PrefillTask) {
        if self.prefixes.budget() > 0
            && let Some((tokens, cache, snapshot, likely)) = task.to_store()
        {
            match self.prefixes.insert(&tokens, cache, &snapshot, likely) {
                Ok(()) if likely => self.remember(task.spec(), &tokens),
                Ok(()) => {}
                Err(error) => tracing::warn!("a prompt could not be cached: {error}"),
            }
        }
    }
}
