//! What a lending Mac has and does, in the eyes of its listener: whoever starts the listener says it.

use std::fmt;
use std::io;

use async_trait::async_trait;
use foretoken_protocol::ErrorReport;
use serde::{Deserialize, Serialize};
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Child;

use super::store::{LayerStore, StoreError};
use crate::book::Terms;
use crate::files::ModelFile;
use crate::gift::ModelId;
use crate::identity::PublicKey;
use crate::loopback::RingPlace;
use crate::text;

/// The longest line and the longest name of a model that another Mac is believed, in characters.
const LONGEST_LINE: usize = 64;
const LONGEST_ID: usize = 256;

/// What a lending Mac has. It learns of a worker's load only through the worker.
#[async_trait]
pub trait Host: Send + Sync {
    /// What a paired Mac may know of this one.
    async fn inventory(&self) -> Inventory;

    /// Starts a worker at its place in a ring, with pipes for its input and output. Refuses with a reason for people,
    /// as when the terms are not met. The worker is killed when the ring ends; if the borrower is removed meanwhile,
    /// this is dropped before it is done.
    async fn start(&self, loan: Loan) -> Result<Worker, ErrorReport>;

    /// The files of a model of the inventory, in any order: those in its folder whose names are plain, none of folders
    /// within it. Hashes that it does not know it leaves out: it is asked before each file, too. Refuses with a reason
    /// for people where there is no such model.
    async fn files(&self, model: &str) -> Result<Vec<ModelFile>, ErrorReport>;

    /// Opens a file for reading that [`Self::files`] has just named, and no other: the name is one of that list. Where
    /// it is a link, it is the host's to know whether it may be followed.
    async fn open(&self, model: &str, name: &str) -> Result<File, ErrorReport>;

    /// Where layers of a model are kept that a Mac wants to give. Refuses with a reason for people; none are kept where
    /// nothing else is said.
    async fn keep(&self, _offer: &Offer) -> Result<Keep, ErrorReport> {
        Err(StoreError::Off.into())
    }

    /// How many workers there may be at a time.
    fn most_workers(&self) -> usize {
        1
    }
}

/// What a Mac has to offer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Its chip: `Apple M4 Max`.
    pub chip: String,
    /// The version of its engine.
    pub engine: String,
    /// Memory that a worker could have, in bytes.
    pub free_bytes: u64,
    /// Bytes of weights that it reads in a second, as it was measured there.
    pub bytes_per_second: u64,
    /// The models in its library.
    pub models: Vec<InventoryModel>,
    /// Bytes that layers of other models may take there; `None`: it keeps none.
    #[serde(default)]
    pub keeps_bytes: Option<u64>,
}

impl Inventory {
    /// Memory that a worker could have for a model of this name, in bytes. What it would have to be given of it is no
    /// more than what it may keep; a Mac that keeps nothing says so when it is given something.
    pub fn usable_for(&self, model: &str) -> u64 {
        let has_it = self.models.iter().any(|other| other.id == model);
        let keeps = self.keeps_bytes.filter(|_| !has_it);
        keeps.map_or(self.free_bytes, |keeps| keeps.min(self.free_bytes))
    }

    /// What may be shown of another Mac's: short lines, and models whose names are such.
    pub(crate) fn cleaned(self) -> Self {
        let is_clean = |model: &InventoryModel| text::line(&model.id, LONGEST_ID) == model.id;
        Self {
            chip: text::line(&self.chip, LONGEST_LINE),
            engine: text::line(&self.engine, LONGEST_LINE),
            models: self.models.into_iter().filter(is_clean).collect(),
            ..self
        }
    }
}

/// A model in the library of a lending Mac.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryModel {
    /// By what it is asked for.
    pub id: String,
    /// The size of its weights.
    pub bytes: u64,
}

/// Who wants to give layers of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The Mac that gives.
    pub borrower: PublicKey,
    /// The model.
    pub model: ModelId,
}

/// What becomes of an offer.
pub enum Keep {
    /// The model itself is here: nothing is needed.
    Model,
    /// They are kept here, as long as all that is kept takes at most so many bytes. What is held is dropped once
    /// nothing more arrives.
    In(LayerStore, u64, Box<dyn Send>),
}

impl fmt::Debug for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Model) { "Model" } else { "In(..)" })
    }
}

/// Who wants a worker, on what terms, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loan {
    /// The Mac that asks.
    pub borrower: PublicKey,
    /// What its owner was allowed.
    pub terms: Terms,
    /// The model that it names, which may be none of this Mac's.
    pub model: ModelId,
    /// The worker's place in the ring.
    pub place: RingPlace,
}

/// A process that can be ended.
pub trait Process: Send {
    /// Ends it at once, without waiting. Does nothing if it has ended.
    fn kill(&mut self);
}

impl Process for Child {
    fn kill(&mut self) {
        // It has ended if this fails.
        let _ = self.start_kill();
    }
}

/// A worker that runs, killed when this is dropped.
pub struct Worker {
    pub(super) input: Box<dyn AsyncWrite + Send + Unpin>,
    pub(super) output: Box<dyn AsyncRead + Send + Unpin>,
    process: Box<dyn Process>,
    /// What lasts as long as it.
    holds: Vec<Box<dyn Send>>,
}

impl Worker {
    /// The same, with something that is dropped once it has been killed.
    pub fn holding(mut self, what: impl Send + 'static) -> Self {
        self.holds.push(Box::new(what));
        self
    }

    /// A process with its input and its output. The end of the output is taken for the end of the process.
    pub fn new(
        input: impl AsyncWrite + Send + Unpin + 'static,
        output: impl AsyncRead + Send + Unpin + 'static,
        process: impl Process + 'static,
    ) -> Self {
        let (input, output, process) = (Box::new(input), Box::new(output), Box::new(process));
        Self { input, output, process, holds: Vec::new() }
    }

    /// A child with pipes. Kills it and fails where its input or its output is no pipe.
    pub fn of_child(mut child: Child) -> io::Result<Self> {
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self::new(input, output, child)),
            _ => {
                Process::kill(&mut child);
                Err(io::Error::other("the worker has no pipes"))
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.process.kill();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
