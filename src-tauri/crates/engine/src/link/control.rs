//! What rank 0 and the other ranks say to each other beside the ring, over a channel of their own for each: lines of
//! JSON both ways. The ring carries what is computed; the channel tells who is there at all.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use foretoken_protocol::{ErrorReport, KvPrecision};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Part;

/// How often each side says that it is there.
const BEAT: Duration = Duration::from_millis(250);
/// The longest line.
const MOST_BYTES: u64 = 1 << 20;

/// What rank 0 says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// What the rank is to compute.
    Load(PartOrder),
    /// All ranks can: it joins the ring, and loads.
    Join,
    /// Frames come until one says that the ranks rest.
    Go,
    /// It is there.
    Beat,
}

/// What a rank is to compute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartOrder {
    /// Its layers, and what tells whether they are the right ones.
    pub part: Part,
    /// How keys and values are kept.
    pub kv_precision: KvPrecision,
    /// The layers of the model whose outputs the draft model reads, ascending.
    pub taps: Vec<usize>,
    /// The ring's number.
    pub epoch: u32,
    /// How long rank 0 may say nothing before it counts as gone.
    pub silence: Duration,
}

impl PartOrder {
    /// This order, for each rank but the first, with the layers that it gets. `layers`: how many each rank gets.
    pub fn spread(&self, layers: &[usize]) -> Vec<Self> {
        let mut begin = layers.first().copied().unwrap_or(0);
        let of_rank = |&layers: &usize| {
            let part = Self { part: self.part.only(begin..begin + layers), ..self.clone() };
            begin += layers;
            part
        };
        layers.iter().skip(1).map(of_rank).collect()
    }
}

/// What a rank says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The first: it is there, and of this version.
    Hello {
        /// Of the program.
        version: String,
    },
    /// It can compute what it is to.
    Able,
    /// It loads: so many bytes of all.
    Loading {
        /// Bytes.
        done: u64,
        /// Of so many.
        total: u64,
    },
    /// It waits for frames.
    Ready(RankMemory),
    /// It is there, and has worked so much.
    Beat(Worked),
    /// It ends, since it cannot do what it is told.
    Failed(ErrorReport),
    /// It ends, since it was told to.
    Left(Served),
}

/// The memory of a rank's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankMemory {
    /// Bytes that all rows may take there.
    pub rows: u64,
    /// Bytes of a row's keys and values, per token.
    pub kv_per_token: u64,
    /// Bytes of a row's recurrent states, whatever its length.
    pub recurrent_state: u64,
}

/// How much a rank has worked since it joined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worked {
    /// Steps whose hidden state it has computed; chunks of prompts do not count.
    pub steps: u64,
    /// What these took it, in microseconds.
    pub micros: u64,
    /// Hidden states that it has passed on, those of chunks and those that it could not compute included.
    #[serde(default)]
    pub passes: u64,
}

impl Worked {
    /// Counts a step.
    pub fn count(&mut self, took: Duration) {
        self.steps += 1;
        self.micros += took.as_micros() as u64;
    }

    /// What a step has taken since `before`, in milliseconds: the mean, if there was one.
    pub fn mean_since(&self, before: Self) -> Option<f64> {
        let (steps, micros) =
            (self.steps.checked_sub(before.steps)?, self.micros.checked_sub(before.micros)?);
        (steps > 0).then(|| micros as f64 / steps as f64 / 1e3)
    }
}

/// What a rank has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Hidden states that it has passed on.
    pub passes: u64,
    /// Those of them that it could not compute.
    pub failed: u64,
    /// Messages that it has sent.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Rows, and places to go on from, that it still has.
    pub rows: usize,
}

/// One end of a channel, on which several threads write.
#[derive(Clone)]
pub struct Speaker(Arc<Mutex<Box<dyn Write + Send>>>);

impl std::fmt::Debug for Speaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Speaker")
    }
}

impl Speaker {
    /// One that writes there.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(out))))
    }

    /// Says something. Whoever does not hear it has gone, which its own end of the channel tells.
    pub fn say(&self, line: &impl Serialize) {
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut bytes| {
            bytes.push(b'\n');
            let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            out.write_all(&bytes)?;
            out.flush()
        });
        if let Err(error) = written {
            tracing::debug!("nobody hears a word: {error}");
        }
    }

    /// Says again and again what `line` returns, from a thread of its own, for as long as the process lives.
    pub fn repeat<T: Serialize>(&self, line: impl Fn() -> T + Send + 'static) {
        let speaker = self.clone();
        thread::spawn(move || {
            loop {
                speaker.say(&line());
                thread::sleep(BEAT);
            }
        });
    }
}

/// Why nothing more is heard.
#[derive(Debug)]
pub enum Heard<T> {
    /// Something was said.
    Line(T),
    /// The other end is closed.
    End,
    /// What was said makes no sense.
    Garbled(String),
}

/// Reads a channel to its end, from a thread of its own. `hear` is called with each line, and at last with why there
/// are no more.
pub fn listen<T: DeserializeOwned>(
    channel: impl Read + Send + 'static,
    mut hear: impl FnMut(Heard<T>) + Send + 'static,
) {
    thread::spawn(move || {
        let mut channel = BufReader::new(channel);
        loop {
            let mut line = Vec::new();
            match channel.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line) {
                // A line that was cut off is no line.
                Ok(read) if read < MOST_BYTES as usize && line.last() != Some(&b'\n') => {
                    return hear(Heard::End);
                }
                Err(_) => return hear(Heard::End),
                Ok(_) => match serde_json::from_slice(&line) {
                    Ok(said) => hear(Heard::Line(said)),
                    Err(error) => return hear(Heard::Garbled(error.to_string())),
                },
            }
        }
    });
}
