//! What all requests share.

use std::sync::Arc;

use foretoken_host::Engine;
use foretoken_protocol::{EngineState, PictureInput};
use tokio::sync::{Mutex, Semaphore};

use crate::admission::Admission;
use crate::counted::Counted;
use crate::guard::{Access, Guard, MOST_BODY, MOST_BODY_WITH_PICTURES};
use crate::live::Live;
use crate::models::Models;
use crate::retries::Unanswered;
use crate::signing::Signer;

/// How much is taken on at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Replies that are with the engine.
    pub rows: usize,
    /// Requests that wait.
    pub queue: usize,
}

/// Requests whose tokens are counted at a time.
const COUNTS_AT_ONCE: usize = 8;
/// Those with pictures.
const PICTURE_COUNTS_AT_ONCE: usize = 2;

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 4, queue: 32 }
    }
}

/// What is behind the server: an engine, its models, and who may use them.
#[derive(Debug)]
pub struct Api {
    pub(crate) engine: Arc<Engine>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) admission: Arc<Admission>,
    /// Places for requests whose tokens are counted.
    pub(crate) counts: Semaphore,
    /// What was counted before.
    pub(crate) counted: Counted,
    pub(crate) guard: Guard,
    /// The requests that are there.
    pub(crate) live: Arc<Live>,
    /// Those of them to which nothing was sent yet.
    pub(crate) unanswered: Arc<Unanswered>,
    /// Signs thinking.
    pub(crate) signer: Signer,
    /// Held while a model is loaded for a program.
    pub(crate) switching: Mutex<()>,
    /// Places for requests whose pictures are decoded to be counted: what is decoded takes room on the disk.
    pub(crate) picture_counts: Semaphore,
}

impl Api {
    /// For a server at `port`, for those who have `access`. Requests are listed in `live`; `signer` signs thinking.
    pub fn new(
        engine: Arc<Engine>,
        models: Arc<dyn Models>,
        limits: Limits,
        port: u16,
        access: Access,
        live: Arc<Live>,
        signer: Signer,
    ) -> Self {
        let admission = Arc::new(Admission::new(limits.rows, limits.queue));
        let counts = Semaphore::new(COUNTS_AT_ONCE);
        let guard = Guard::new(port, access);
        Self {
            engine,
            models,
            admission,
            counts,
            counted: Counted::default(),
            guard,
            live,
            unanswered: Arc::default(),
            signer,
            switching: Mutex::default(),
            picture_counts: Semaphore::new(PICTURE_COUNTS_AT_ONCE),
        }
    }

    /// The longest body, in bytes: where a model sees, pictures may come in it.
    pub(crate) fn most_body(&self) -> usize {
        match self.engine.state() {
            EngineState::Ready { model, .. } if matches!(*model.pictures, PictureInput::Available { .. }) => {
                MOST_BODY_WITH_PICTURES
            }
            _ => MOST_BODY,
        }
    }

    /// The folder of the model that answers, or will once it is loaded.
    pub(crate) fn current_model(&self) -> Option<String> {
        match self.engine.state() {
            EngineState::Ready { model, .. } => Some(model.path),
            EngineState::Loading { path, .. } => Some(path),
            EngineState::Starting => self.models.chosen(),
            // One that could not be loaded again is tried once more by whoever asks.
            EngineState::Failed { model, .. } => model,
        }
    }
}
