//! One run of a server: from its start until nothing of it is left.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::connection::Connection;
use crate::error::ServerError;
use crate::tool::Definition;

/// How far a run is. It goes from one to the next, and from any to the last.
#[derive(Debug)]
enum Phase {
    Starting,
    Ready(Arc<Connection>),
    Ended(ServerError),
}

/// A run of a server.
#[derive(Debug)]
pub(super) struct Run {
    phase: watch::Sender<Phase>,
    /// How many use it or wait for it.
    users: watch::Sender<usize>,
    /// When the last of them began or was done.
    used: Mutex<Instant>,
    listed: Mutex<Option<Listed>>,
    /// Whether nothing of it is left.
    gone: watch::Sender<bool>,
}

/// The tools that a server told.
#[derive(Debug)]
struct Listed {
    tools: Vec<Definition>,
    /// How often it had said before that they have changed.
    changes: u64,
}

impl Run {
    pub(super) fn new() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Starting),
            users: watch::Sender::new(0),
            used: Mutex::new(Instant::now()),
            listed: Mutex::default(),
            gone: watch::Sender::new(false),
        }
    }

    /// The connection, once there is one.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, ServerError> {
        let mut phases = self.phase.subscribe();
        let phase = phases.wait_for(|phase| !matches!(phase, Phase::Starting)).await;
        match phase.as_deref() {
            Ok(Phase::Ready(connection)) => Ok(Arc::clone(connection)),
            Ok(Phase::Ended(error)) => Err(error.clone()),
            Ok(Phase::Starting) | Err(_) => Err(ServerError::Gone),
        }
    }

    /// Waits for its end, and tells why it is one.
    pub(super) async fn ended(&self) -> ServerError {
        let mut phases = self.phase.subscribe();
        let phase = phases.wait_for(|phase| matches!(phase, Phase::Ended(_))).await;
        match phase.as_deref() {
            Ok(Phase::Ended(error)) => error.clone(),
            _ => ServerError::Gone,
        }
    }

    /// It has started, unless it was ended meanwhile.
    pub(super) fn ready(&self, connection: &Arc<Connection>) {
        self.phase.send_if_modified(|phase| {
            let starting = matches!(phase, Phase::Starting);
            if starting {
                *phase = Phase::Ready(Arc::clone(connection));
            }
            starting
        });
    }

    /// Ends it: who uses it is told, and what runs of it ends by itself.
    pub(super) fn end(&self, error: ServerError) {
        self.phase.send_if_modified(|phase| {
            let ends = !matches!(phase, Phase::Ended(_));
            if ends {
                *phase = Phase::Ended(error);
            }
            ends
        });
    }

    /// Whether it has ended.
    pub(super) fn is_ended(&self) -> bool {
        matches!(&*self.phase.borrow(), Phase::Ended(_))
    }

    /// Whether it was ready and its connection has broken.
    pub(super) fn is_broken(&self) -> bool {
        matches!(&*self.phase.borrow(), Phase::Ready(connection) if connection.is_gone())
    }

    /// Whether it is ready, and nobody has used it for so long.
    pub(super) fn is_idle(&self, idle: Duration) -> bool {
        matches!(&*self.phase.borrow(), Phase::Ready(_))
            && *self.users.borrow() == 0
            && self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= idle
    }

    /// One more uses it.
    pub(super) fn enter(&self) {
        self.users.send_modify(|users| *users += 1);
        self.touch();
    }

    /// One of those who used it is done.
    pub(super) fn leave(&self) {
        self.touch();
        self.users.send_modify(|users| *users -= 1);
    }

    /// Waits until nobody uses it.
    pub(super) async fn unused(&self) {
        let _ = self.users.subscribe().wait_for(|users| *users == 0).await;
    }

    /// The tools that the server has now.
    pub(super) async fn tools(&self, connection: &Connection) -> Result<Vec<Definition>, ServerError> {
        // Read first: a change while the server lists them is then one that is not in the list.
        let changes = *connection.tools_changed().borrow();
        if let Some(listed) = &*self.listed.lock().unwrap_or_else(PoisonError::into_inner)
            && listed.changes == changes
        {
            return Ok(listed.tools.clone());
        }
        let tools = connection.tools().await?;
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.as_ref().is_none_or(|listed| listed.changes <= changes) {
            *listed = Some(Listed { tools: tools.clone(), changes });
        }
        Ok(tools)
    }

    /// Waits until nothing of it is left.
    pub(super) async fn gone(&self) {
        let _ = self.gone.subscribe().wait_for(|gone| *gone).await;
    }

    /// Nothing of it is left.
    pub(super) fn is_gone(&self) {
        self.gone.send_replace(true);
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}
