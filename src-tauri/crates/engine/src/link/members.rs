//! The other ranks as rank 0 hears of them: who is there, and what each says.

use std::fmt;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use foretoken_protocol::ErrorReport;
use thiserror::Error;

use super::control::{Heard, Order, PartOrder, RankMemory, Served, Speaker, Word, Worked, listen};
use super::deadline::Deadline;
use super::ending::{end_process, end_soon};
use crate::mlx::MlxError;

/// The code of the error of a rank whose neighbour has gone.
pub(crate) const RING_BROKEN: &str = "ring_broken";

/// How long it is waited for a rank to say why it breaks the ring.
const GRACE: Duration = Duration::from_secs(1);

/// How long a process may take to say why it ends.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// A way to another rank, and what people call it.
pub struct Channel {
    /// As "Studio".
    pub name: String,
    /// What it says.
    pub words: Box<dyn Read + Send>,
    /// What it is told.
    pub orders: Box<dyn Write + Send>,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a ring is no more, or does not come about.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Loss {
    /// A rank's process, or the way to it, has ended.
    #[error("{0} has ended")]
    Ended(String),
    /// Nothing is heard of a rank.
    #[error("{0} does not answer")]
    Silent(String),
    /// A rank says what makes no sense.
    #[error("{name} cannot be understood: {problem}")]
    Garbled {
        /// Which.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A rank cannot do what it is told.
    #[error("{name}: {}", .report.message)]
    Failed {
        /// Which.
        name: String,
        /// Why.
        report: ErrorReport,
    },
    /// A rank has another version of the program.
    #[error("{name} has version {theirs}, not {ours}")]
    Version {
        /// Which.
        name: String,
        /// What it has.
        theirs: String,
        /// What is here.
        ours: &'static str,
    },
    /// A rank is there, and does not pass on what has reached it.
    #[error("{0} has stopped computing")]
    Stopped(String),
    /// The ranks take too long for what they do together, and it is not known which of them.
    #[error("the ring stands still")]
    Stuck,
    /// What came over the ring is not what was due, or nothing came. Nobody has said why.
    #[error("the ring is broken: {0}")]
    Broken(String),
}

impl From<&Loss> for ErrorReport {
    fn from(loss: &Loss) -> Self {
        let (code, hint) = match loss {
            Loss::Ended(_) | Loss::Silent(_) | Loss::Stopped(_) | Loss::Stuck | Loss::Broken(_) => (
                "mac_lost",
                "Check that the other Macs are awake, connected and running Foretoken, then load the model again.",
            ),
            Loss::Version { .. } | Loss::Garbled { .. } => {
                ("mac_differs", "Install the same version of Foretoken on all Macs.")
            }
            Loss::Failed { report, .. } => ("mac_refused", report.hint.as_str()),
        };
        Self { code: code.into(), message: format!("{loss}."), hint: hint.into() }
    }
}

/// What is done before the process ends, since a rank is lost.
pub type OnLoss = Box<dyn Fn(&Loss) + Send + Sync>;

/// The ways to all ranks but the first, in order.
pub struct Members {
    names: Vec<String>,
    speakers: Vec<Speaker>,
    words: Vec<Receiver<Word>>,
    /// What each has said last of its work.
    worked: Vec<Arc<Mutex<Worked>>>,
    /// Hidden states that rank 0 has sent.
    sent: Arc<AtomicU64>,
    end: Arc<RingEnd>,
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Members").field("names", &self.names).finish_non_exhaustive()
    }
}

/// How a ring ends, in good order or not.
struct RingEnd {
    /// Whether the ranks may end.
    is_dismissed: Mutex<bool>,
    on_loss: OnLoss,
}

impl RingEnd {
    /// Ends this process, unless it is for a rank that may end. The first loss counts, since others follow from it:
    /// whoever comes later waits here for the end.
    fn lose(&self, loss: &Loss) {
        let is_dismissed = self.is_dismissed.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_dismissed || matches!(loss, Loss::Stopped(_) | Loss::Stuck) {
            // Nothing that is done on the way may hold it up.
            end_soon(LAST_WORDS);
            (self.on_loss)(loss);
            end_process();
        }
    }
}

impl Members {
    /// Listens to the ranks. Once one of them has ended, says nothing for longer than `silence` or fails, `on_loss` is
    /// called, and then the process ends: whoever waits within MLX for another rank never returns.
    pub fn new(channels: Vec<Channel>, silence: Duration, on_loss: OnLoss) -> Self {
        let end = Arc::new(RingEnd { is_dismissed: Mutex::new(false), on_loss });
        let (mut names, mut speakers, mut all_words) = (Vec::new(), Vec::new(), Vec::new());
        let mut worked = Vec::new();
        for Channel { name, words, orders } in channels {
            let speaker = Speaker::new(orders);
            speaker.repeat(|| Order::Beat);
            let (sender, receiver) = channel();
            let (end, rank) = (Arc::clone(&end), name.clone());
            let heard_of = Arc::new(Mutex::new(Worked::default()));
            worked.push(Arc::clone(&heard_of));
            let watch = {
                let (end, name) = (Arc::clone(&end), name.clone());
                Deadline::new(move || end.lose(&Loss::Silent(name)))
            };
            watch.put_off(silence);
            listen(words, move |heard| {
                watch.put_off(silence);
                let name = || rank.clone();
                match heard {
                    Heard::Line(Word::Beat(now)) => {
                        *heard_of.lock().unwrap_or_else(PoisonError::into_inner) = now
                    }
                    Heard::Line(Word::Failed(report)) => {
                        if report.code == RING_BROKEN {
                            // It may be the first to tell of what became of its neighbour.
                            watch.lift();
                            thread::sleep(GRACE);
                        }
                        end.lose(&Loss::Failed { name: name(), report });
                    }
                    // Nobody may wait for it any more.
                    Heard::Line(word) => _ = sender.send(word),
                    Heard::Garbled(problem) => end.lose(&Loss::Garbled { name: name(), problem }),
                    Heard::End => {
                        watch.lift();
                        end.lose(&Loss::Ended(name()));
                    }
                }
            });
            names.push(name);
            speakers.push(speaker);
            all_words.push(receiver);
        }
        Self { names, speakers, words: all_words, worked, sent: Arc::default(), end }
    }

    /// What people call each rank, and how much it has worked as it said last.
    pub fn worked(&self) -> impl Iterator<Item = (&str, Worked)> {
        let worked = self.worked.iter().map(|worked| *worked.lock().unwrap_or_else(PoisonError::into_inner));
        self.names.iter().map(String::as_str).zip(worked)
    }

    /// Has each rank get ready to compute a part, and has all of them join the ring once all can.
    pub fn prepare(&self, parts: &[PartOrder]) {
        let ours = env!("CARGO_PKG_VERSION");
        for rank in 0..self.names.len() {
            self.next(rank, |word, name| match word {
                Word::Hello { version } if version == ours => Ok(Some(())),
                Word::Hello { version: theirs } => Err(Loss::Version { name, theirs, ours }),
                word => Err(unexpected(name, &word)),
            });
        }
        self.speakers.iter().zip(parts).for_each(|(speaker, part)| speaker.say(&Order::Load(part.clone())));
        for rank in 0..self.names.len() {
            self.next(rank, |word, name| match word {
                Word::Able => Ok(Some(())),
                word => Err(unexpected(name, &word)),
            });
        }
        self.tell(&Order::Join);
    }

    /// Waits until all ranks have loaded their parts: the memory of their rows. `progress` hears of each rank how many
    /// bytes of how many it has.
    pub fn ready(&self, mut progress: impl FnMut(usize, u64, u64)) -> Vec<RankMemory> {
        let ready = |rank: usize| {
            self.next(rank, |word, name| match word {
                Word::Loading { done, total } => {
                    progress(rank + 1, done, total);
                    Ok(None)
                }
                Word::Ready(memory) => Ok(Some(memory)),
                word => Err(unexpected(name, &word)),
            })
        };
        (0..self.names.len()).map(ready).collect()
    }

    /// Tells all ranks that frames come.
    pub fn bell(&self) {
        self.tell(&Order::Go);
    }

    /// From now on ranks may end.
    pub fn dismiss(&self) {
        *self.end.is_dismissed.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// What each rank says that it has done, once it was told to end; `None` of one that says nothing for so long.
    pub fn farewell(&self, patience: Duration) -> Vec<Option<Served>> {
        let left = |words: &Receiver<Word>| match words.recv_timeout(patience) {
            Ok(Word::Left(served)) => Some(served),
            _ => None,
        };
        self.words.iter().map(left).collect()
    }

    /// Ends the process, since the ring is of no use any more. A rank that is to blame says so on its own channel,
    /// which is waited for.
    pub fn broken(&self, error: &MlxError) -> ! {
        thread::sleep(GRACE);
        self.end.lose(&Loss::Broken(error.message.clone()));
        end_process()
    }

    /// Counts a hidden state that has been sent to the first of them.
    pub fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// A limit for what the ranks do together. The process ends once they take longer.
    pub fn deadline(&self) -> Deadline {
        let (end, sent) = (Arc::clone(&self.end), Arc::clone(&self.sent));
        let (names, worked) = (self.names.clone(), self.worked.clone());
        Deadline::new(move || {
            // Whoever is the first to have passed on less than has reached it.
            let mut reached = sent.load(Ordering::Relaxed);
            let stopped = names.into_iter().zip(worked).find(|(_, worked)| {
                let passed = worked.lock().unwrap_or_else(PoisonError::into_inner).passes;
                passed < std::mem::replace(&mut reached, passed)
            });
            end.lose(&stopped.map_or(Loss::Stuck, |(name, _)| Loss::Stopped(name)));
        })
    }

    fn tell(&self, order: &Order) {
        self.speakers.iter().for_each(|speaker| speaker.say(order));
    }

    /// What a rank says next that tells what is wanted. On anything else the process ends.
    fn next<T>(&self, rank: usize, mut wanted: impl FnMut(Word, String) -> Result<Option<T>, Loss>) -> T {
        let name = || self.names[rank].clone();
        loop {
            let told = self.words[rank].recv().map_err(|_| Loss::Ended(name()));
            match told.and_then(|word| wanted(word, name())) {
                Ok(Some(told)) => return told,
                Ok(None) => {}
                Err(loss) => {
                    self.end.lose(&loss);
                    end_process();
                }
            }
        }
    }
}

fn unexpected(name: String, word: &Word) -> Loss {
    Loss::Garbled { name, problem: format!("it says {word:?}") }
}
