//! A rank's process: what it is told over its channel, from the first word to the last.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foretoken_protocol::ErrorReport;

use super::run::{WorkerError, serve};
use super::stage::Stage;
use crate::checkpoint::{Config, Layout};
use crate::error::EngineError;
use crate::link::{
    Deadline, Heard, Order, PartOrder, RankMemory, Served, Speaker, Word, Worked, end_process, listen,
};
use crate::memory::{MemoryBudget, MemoryEstimate, RowMemory};
use crate::mlx::kernels::of_device;
use crate::mlx::{self, Ring};
use crate::model::Stack;

/// How long rank 0 may take to say what is to be done.
const FIRST_ORDER: Duration = Duration::from_secs(60);

/// The shortest context for which it must have room, in tokens.
const LEAST_CONTEXT: u64 = 4096;

/// A rank at its channel.
#[derive(Debug)]
pub struct Member {
    words: Speaker,
    orders: Receiver<Order>,
    go: Receiver<()>,
    /// Whether it was told to end.
    is_dismissed: Arc<AtomicBool>,
    /// How much it has worked, as it tells with each beat.
    worked: Arc<Mutex<Worked>>,
}

/// Computes a part of the model in a folder, as rank 0 tells it over a channel, until it is told to end. Where rank 0
/// is heard of no more, the process ends. `memory`: bytes that it may take of the machine's.
pub fn run(
    dir: &Path,
    memory: Option<u64>,
    orders: impl Read + Send + 'static,
    words: impl Write + Send + 'static,
) -> Result<(), ErrorReport> {
    Member::new(orders, words).run(dir, memory, |_| {})
}

impl Member {
    /// Begins to listen, and says that it is there.
    pub fn new(orders: impl Read + Send + 'static, words: impl Write + Send + 'static) -> Self {
        let words = Speaker::new(words);
        words.say(&Word::Hello { version: env!("CARGO_PKG_VERSION").to_owned() });
        let worked = Arc::new(Mutex::new(Worked::default()));
        let said = Arc::clone(&worked);
        words.repeat(move || Word::Beat(*said.lock().unwrap_or_else(PoisonError::into_inner)));
        let ((sender, received), (bell, go)) = (channel(), channel());
        let is_dismissed = Arc::new(AtomicBool::new(false));
        let may_end = Arc::clone(&is_dismissed);
        let watch = Deadline::new(|| {
            tracing::warn!("nothing is heard of rank 0");
            end_process();
        });
        let mut silence = FIRST_ORDER;
        watch.put_off(silence);
        listen(orders, move |heard| {
            if let Heard::Line(Order::Load(part)) = &heard {
                silence = part.silence;
            }
            watch.put_off(silence);
            match heard {
                Heard::Line(Order::Beat) => {}
                Heard::Line(Order::Go) => _ = bell.send(()),
                Heard::Line(order) => _ = sender.send(order),
                Heard::Garbled(problem) => {
                    tracing::warn!("rank 0 cannot be understood: {problem}");
                    end_process();
                }
                Heard::End if may_end.load(Ordering::SeqCst) => watch.lift(),
                Heard::End => {
                    tracing::warn!("rank 0 has gone");
                    end_process();
                }
            }
        });
        Self { words, orders: received, go, is_dismissed, worked }
    }

    /// Does what it is told, with the model in a folder, to the end. `memory`: bytes that it may take of the machine's;
    /// `adapt` may change the stage, for tests.
    pub fn run(
        &self,
        dir: &Path,
        memory: Option<u64>,
        adapt: impl FnOnce(&mut Stage),
    ) -> Result<(), ErrorReport> {
        let served = self.serve(dir, memory, adapt);
        match &served {
            Ok(served) => {
                self.is_dismissed.store(true, Ordering::SeqCst);
                self.words.say(&Word::Left(*served));
            }
            Err(report) => self.words.say(&Word::Failed(report.clone())),
        }
        served.map(|_| ())
    }

    fn serve(
        &self,
        dir: &Path,
        memory: Option<u64>,
        adapt: impl FnOnce(&mut Stage),
    ) -> Result<Served, ErrorReport> {
        let part = self.order(|order| match order {
            Order::Load(part) => Some(part),
            _ => None,
        })?;
        let usable = match (mlx::usable_memory(), memory) {
            (0, memory) => memory.unwrap_or(0),
            (usable, memory) => memory.map_or(usable, |memory| memory.min(usable)),
        };
        let (config, layout) = read(dir, &part, usable).map_err(|error| ErrorReport::from(&error))?;
        self.words.say(&Word::Able);
        self.order(|order| matches!(order, Order::Join).then_some(()))?;
        let epoch = part.epoch;
        let (ring, mut stage) =
            self.load(part, &config, &layout, usable).map_err(|error| ErrorReport::from(&error))?;
        adapt(&mut stage);
        serve(&ring, &mut stage, epoch, &self.go, &self.worked).map_err(|error| ErrorReport::from(&error))
    }

    /// Joins the ring, and loads what it is to compute.
    fn load(
        &self,
        part: PartOrder,
        config: &Config,
        layout: &Layout,
        usable: u64,
    ) -> Result<(Ring, Stage), EngineError> {
        let ring = Ring::join()?;
        let mut stack = Stack::load(config, layout, &mut |done, total| {
            self.words.say(&Word::Loading { done, total });
            ControlFlow::Continue(())
        })?;
        // Steps are computed as they come.
        stack.layers_per_piece = None;
        if let Some(launch) = of_device() {
            for (part, problem) in stack.choose_kernels(&launch) {
                tracing::warn!("operations run {part}, not kernels: {problem}");
            }
        }
        let rows = MemoryBudget::of(config, layout, usable).rows;
        let RowMemory { kv_per_token, recurrent_state, .. } = RowMemory::of(config, layout);
        mlx::clear_cache();
        self.words.say(&Word::Ready(RankMemory { rows, kv_per_token, recurrent_state }));
        let rotated = config.attention.rope_dims as i32;
        Ok((ring, Stage::new(stack, part.kv_precision, rotated, part.taps, rows)))
    }

    /// The next order, which must be the one that is due.
    fn order<T>(&self, due: impl FnOnce(Order) -> Option<T>) -> Result<T, ErrorReport> {
        let order = self.orders.recv().ok().and_then(due);
        order.ok_or_else(|| (&WorkerError::Alone).into())
    }
}

/// Configuration and layout of a part of the model in a folder, which must be the one that is meant, and have room in
/// `usable` bytes; 0 if it is not known how many there are.
fn read(dir: &Path, order: &PartOrder, usable: u64) -> Result<(Config, Layout), EngineError> {
    let (config, layout) = order.part.read(dir)?.map_err(|difference| EngineError::Request {
        code: "mac_differs",
        message: format!("{difference}."),
        hint: "Remove this model on that Mac, then load it again: it gets its layers from here.",
    })?;
    let (layers, layout) = (&order.part.layers, layout.keeping_kv(&config, order.kv_precision)?);
    let config = config.of_layers(layers)?;
    let needed = MemoryEstimate::of(&config, &layout, None, LEAST_CONTEXT).total;
    if usable > 0 && needed > usable {
        let [needed, usable] = [needed, usable].map(|bytes| bytes as f64 / 1e9);
        return Err(EngineError::Request {
            code: "mac_too_small",
            message: format!(
                "Its {} layers need {needed:.1} GB, and {usable:.1} GB are there for them.",
                layers.len()
            ),
            hint: "Give it fewer layers or more memory, or choose a smaller model.",
        });
    }
    Ok((config, layout))
}
