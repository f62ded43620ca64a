//! What the engine's events change.

use foretoken_protocol::{Counters, EngineState, ErrorReport, Event, ModelInfo, RequestId};
use tokio::time::Instant;

use super::{Link, Load, Supervisor};
use crate::process::Process;
use crate::progress::ReplyProgress;

impl Supervisor {
    /// Says whether the event belongs to anything.
    pub(super) fn on_event(&mut self, process: &Process, event: Event) -> bool {
        match event {
            Event::Ready { version, device } if self.link.is_none() => {
                tracing::info!("engine {version} runs on {device}");
                let (spread, used) = (self.process_spread.clone(), Instant::now());
                let requests = process.requests();
                self.link = Some(Link { requests, device, spread, is_taken: false, loaded: None, used });
                if self.loading.is_some() {
                    self.send_load();
                } else if let Some(model) = self.model.clone() {
                    self.load(model, None);
                } else {
                    self.fail(self.failure.clone());
                }
                true
            }
            Event::Loading { id, done, total } => {
                let Some(load) = self.loading.as_mut().filter(|load| load.id == id) else { return false };
                load.left = total.saturating_sub(done);
                let path = load.model.folder.clone();
                self.state.send_replace(EngineState::Loading { path, done, total });
                true
            }
            Event::Loaded { id, model } => match self.loading.take_if(|load| load.id == id) {
                Some(load) => {
                    self.loaded(load, model);
                    true
                }
                None => self.superseded.remove(&id).is_some(),
            },
            Event::Counted { id, tokens } => self.counted(id, Ok(tokens)),
            Event::Prepared { id, .. }
            | Event::Waiting { id, .. }
            | Event::Reading { id, .. }
            | Event::Looking { id, .. } => self.report(id, event),
            Event::Live { id, ref stats } => {
                let Some(running) = self.running.get_mut(&id) else { return false };
                running.speed = stats.tokens_per_second;
                self.publish_speed();
                self.report(id, event)
            }
            Event::Tokens { id, ref tokens, ref logprobs } => {
                let Some(running) = self.running.get_mut(&id) else { return false };
                match running.room.checked_sub((tokens.len() + logprobs.len()).max(1) as u64) {
                    Some(room) => running.room = room,
                    None => return false,
                }
                self.report(id, event)
            }
            Event::Finished { id, .. } => {
                let known = self.report_end(id, event);
                if known {
                    self.failures = 0;
                }
                known
            }
            Event::Failed { id: Some(id), .. } if self.running.contains_key(&id) => {
                self.report_end(id, event)
            }
            Event::Failed { id: Some(id), error } => {
                if let Some(load) = self.loading.take_if(|load| load.id == id) {
                    self.load_failed(load, error);
                    true
                } else if self.counting.contains_key(&id) {
                    self.counted(id, Err(error))
                } else {
                    self.superseded.remove(&id).is_some()
                }
            }
            Event::Failed { id: None, error } => {
                tracing::error!("the engine could not read a request: {error}");
                false
            }
            Event::Counters { counters } => {
                self.activity.send_modify(|activity| activity.counters = counters);
                false
            }
            Event::Ring { ring } => {
                self.ring.send_replace(ring);
                false
            }
            // Heartbeats have been heard.
            Event::Ready { .. } | Event::Heartbeat => false,
        }
    }

    fn counted(&mut self, id: RequestId, counted: Result<Vec<u32>, ErrorReport>) -> bool {
        let answer = self.counting.remove(&id);
        let known = answer.is_some();
        self.used();
        if let Some(answer) = answer {
            let _ = answer.send(counted);
        }
        known
    }

    /// Passes on what the engine says of a reply.
    fn report(&self, id: RequestId, event: Event) -> bool {
        let Some(running) = self.running.get(&id) else { return false };
        running.progress.send(ReplyProgress::Event(event));
        true
    }

    /// Passes on the last that it says of it.
    fn report_end(&mut self, id: RequestId, event: Event) -> bool {
        let known = self.report(id, event);
        self.running.remove(&id);
        self.publish_speed();
        self.used();
        known
    }

    /// Tells how fast all replies together are written.
    pub(super) fn publish_speed(&self) {
        let speed = self.running.values().map(|running| running.speed).sum();
        self.activity
            .send_if_modified(|activity| std::mem::replace(&mut activity.tokens_per_second, speed) != speed);
    }

    fn loaded(&mut self, load: Load, model: Box<ModelInfo>) {
        self.model = Some(load.model);
        self.activity.send_modify(|activity| activity.counters = Counters::default());
        if let Some(link) = &mut self.link {
            link.loaded = Some(Instant::now());
            link.used = Instant::now();
            let (model, device) = (model.clone(), link.device.clone());
            self.state.send_replace(EngineState::Ready { model, device, in_memory: true });
        }
        if let Some(answer) = load.answer {
            let _ = answer.send(Ok(*model));
        }
        for job in std::mem::take(&mut self.waiting) {
            self.generate(job);
        }
        for (what, answer) in std::mem::take(&mut self.uncounted) {
            self.count(what, answer);
        }
    }

    /// Goes back to the model before, if there is one and it is not the one that failed. That one is tried again by
    /// whoever asks it next.
    pub(super) fn load_failed(&mut self, load: Load, error: ErrorReport) {
        if let Some(answer) = load.answer {
            let _ = answer.send(Err(error.clone()));
            if let Some(before) = self.model.clone() {
                return self.load(before, None);
            }
        }
        self.fail(error);
    }
}
