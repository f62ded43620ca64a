//! Reading ahead: while nobody asks for anything, what the next prompt will begin with goes into the prefix cache. It
//! ends when a request comes.

use std::time::Instant;

use super::Scheduler;
use crate::decode::prefill_task::PrefillTask;
use crate::decode::prefill_throttle::LayerTime;
use crate::decode::row::Row;
use crate::decode::row_error::RowError;
use crate::decode::spec::RowSpec;
use crate::model::Qwen;

/// Reading on takes this part of what other prefill may hold up rows: a request waits for the end of it.
const SHARE_OF_STALL: usize = 4;

/// A prompt that may come.
#[derive(Debug)]
pub(super) struct Ahead {
    task: PrefillTask,
    layer_time: LayerTime,
    /// Set aside for it.
    pub(super) bytes: u64,
}

impl Scheduler {
    /// Begins to read what a prompt may begin with, if nobody asks for anything and there is memory and a prefix cache
    /// to keep it in. [`Self::read_on`] goes on with it.
    pub fn read_ahead(&mut self, model: &Qwen, spec: RowSpec) {
        self.stop_reading_ahead();
        let needed = self.footprint.row(spec.prompt.len() + 1);
        if !self.is_idle() || self.limits.prefix_cache_bytes == 0 || needed > self.limits.memory {
            return;
        }
        let prefix = self.find_prefix(&spec, &spec.keys(&spec.prompt));
        self.rebalance(needed);
        // Its name is nobody's: it never becomes a row of the batch.
        let row = Row::new(0, spec);
        let task = match prefix {
            Some(prefix) => PrefillTask::resume(row, &prefix).map_err(|lost| lost.error.to_string()),
            None => PrefillTask::new(model, row).map_err(|error| error.to_string()),
        };
        match task {
            // All of it may be cached.
            Ok(task) if task.is_read() => self.rebalance(0),
            Ok(mut task) => {
                task.is_stored = true;
                self.ahead = Some(Ahead { task, layer_time: self.throttle.expected(), bytes: needed });
            }
            Err(error) => {
                tracing::debug!("nothing is read ahead: {error}");
                self.rebalance(0);
            }
        }
    }

    /// Whether there is something to read on with.
    pub fn reads_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// Reads on for a moment: some layers over a chunk of tokens, at least one. Fails only where the device has.
    pub fn read_on(&mut self, model: &Qwen) -> Result<(), RowError> {
        let Some(Ahead { mut task, mut layer_time, bytes }) = self.ahead.take() else { return Ok(()) };
        if task.unseen().is_some() {
            let looked = self.look(model, &mut task, false);
            self.ahead = Some(Ahead { task, layer_time, bytes });
            return looked.map(|_| ()).or_else(|error| self.end_reading_ahead(error));
        }
        let (tokens, before) = (task.chunk_tokens(), task.progress().0);
        let layers = (self.throttle.layers(layer_time, tokens, false) / SHARE_OF_STALL).max(1);
        let _span = tracing::debug_span!("read ahead", tokens, layers).entered();
        let begin = Instant::now();
        match task.advance(model, layers, 1) {
            Ok(layers) => {
                let took = begin.elapsed();
                self.throttle.record_prefill(&mut layer_time, layers, tokens, took, false);
            }
            Err(error) => return self.end_reading_ahead(error),
        }
        if task.progress().0 != before {
            self.cache_prompt(&task);
        }
        if task.is_read() {
            drop(task);
            self.stop_reading_ahead();
            self.tidy(model);
        } else {
            self.ahead = Some(Ahead { task, layer_time, bytes });
        }
        Ok(())
    }

    fn end_reading_ahead(&mut self, error: RowError) -> Result<(), RowError> {
        tracing::debug!("reading ahead ends: {error}");
        self.stop_reading_ahead();
        if error.is_device_fault() { Err(error) } else { Ok(()) }
    }

    /// Gives back what reading ahead holds, but for what is in the prefix cache.
    pub(super) fn stop_reading_ahead(&mut self) {
        self.ahead = None;
        self.rebalance(0);
    }
}
