//! What a model costs that several machines compute together.

use foretoken_protocol::RingMac;
use serde::Serialize;

use super::spread::{median, milliseconds};
use super::{Bench, Decoded};
use crate::error::EngineError;
use crate::mlx::Sent;

/// The machines of a ring, and what goes between them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RingFigures {
    /// Who has which layers, this one first, and what its part of a step took on average.
    pub macs: Vec<RingMac>,
    /// What was between them in a step, in milliseconds: the time until a hidden state is back, less what the others
    /// say that they computed.
    pub link_ms: Option<f64>,
    /// The most steps, and chunks of a prompt, that were under way at a time.
    pub deepest_in_flight: usize,
    /// Messages that this machine sent for a plain step, counted.
    pub messages_per_step: f64,
    /// Their bytes, counted.
    pub bytes_per_step: f64,
    /// A plain step of one row, in milliseconds, measured: the median.
    pub step_ms: f64,
    /// The same as the planner has it; `None` where it is not known how fast the machines are.
    pub calculated: Option<CalculatedStep>,
}

/// What a step takes by calculation, and what is assumed for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalculatedStep {
    /// Milliseconds: each machine reads the weights that a token needs of its layers once, and its hidden state goes
    /// over each hop once.
    pub step_ms: f64,
    /// How many bytes of weights each machine reads in a second, this one first.
    pub bytes_per_second: Vec<u64>,
    /// What a short message takes from one to the next, in milliseconds.
    pub hop_latency_ms: f64,
    /// How many bytes go from one to the next in a second.
    pub hop_bytes_per_second: f64,
}

/// What a plain step costs on a ring.
pub(super) struct Counted {
    messages_per_step: f64,
    bytes_per_step: f64,
    step_ms: f64,
}

impl Bench<'_> {
    /// Decodes once more, and counts what this machine sends; `None` where it computes alone.
    pub(super) fn count_sent(&self) -> Result<Option<Counted>, EngineError> {
        let Some(link) = &self.model().rest else { return Ok(None) };
        let text = self.texts[0].first_prompt();
        let before = link.sent();
        // What reading the prompt sends is in both.
        drop(self.read(0, self.spec(self.any_prompt(), 0))?);
        let Sent { messages, bytes } = link.sent();
        let read = Sent { messages: messages - before.messages, bytes: bytes - before.bytes };
        let Decoded { steps, timings, .. } = self.decode(0.into(), &text)?;
        let after = link.sent();
        let per_step = |all: u64, read: u64| all.saturating_sub(read) as f64 / steps.max(1) as f64;
        Ok(Some(Counted {
            messages_per_step: per_step(after.messages - messages, read.messages),
            bytes_per_step: per_step(after.bytes - bytes, read.bytes),
            step_ms: median(timings.iter().map(|timing| milliseconds(timing.total)).collect()),
        }))
    }
}

impl Counted {
    /// The figures, with who the machines are.
    pub(super) fn of(
        self,
        macs: Vec<RingMac>,
        link_ms: Option<f64>,
        deepest_in_flight: usize,
    ) -> RingFigures {
        let Self { messages_per_step, bytes_per_step, step_ms } = self;
        RingFigures {
            macs,
            link_ms,
            deepest_in_flight,
            messages_per_step,
            bytes_per_step,
            step_ms,
            calculated: None,
        }
    }
}
