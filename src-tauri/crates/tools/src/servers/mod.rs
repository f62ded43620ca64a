//! The servers that run, shared by all chats: each is started when it is first used, at most one process of it at a
//! time, and stopped when nobody has used it for a while.

mod restarts;
mod run;
mod server;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use foretoken_protocol::ErrorReport;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::sleep;

use self::run::Run;
use self::server::{Server, Shared};
use crate::connection::{Asked, Connection, Limits, Progress, Reach};
use crate::error::ServerError;
use crate::tool::{Definition, Outcome};

/// How long a call that is not wanted any more may take to tell the server so.
const CANCELLING: Duration = Duration::from_secs(2);
/// The shortest and the longest between two looks for servers that nobody uses.
const SOON: Duration = Duration::from_millis(10);
const LOOKING: Duration = Duration::from_secs(15);

/// A server as it is to be started, with the values of its secrets, which `Debug` does not show.
#[derive(Debug, Clone)]
pub struct Configured {
    /// Its slug, by which it is known here.
    pub slug: String,
    /// Where it is.
    pub reach: Reach,
}

/// How long servers are kept, and how often those that fail are started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// A server that nobody has used for so long is stopped.
    pub idle: Duration,
    /// How often one that ended by itself, or did not start, is started again.
    pub restarts: usize,
    /// In how long it is started so often.
    pub within: Duration,
}

impl Default for Keep {
    fn default() -> Self {
        Self { idle: Duration::from_secs(15 * 60), restarts: 3, within: Duration::from_secs(10 * 60) }
    }
}

/// How a server is.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerState {
    /// It does not run, and starts when it is used.
    Stopped,
    /// It is being started.
    Starting,
    /// It answers.
    Running {
        /// How many tools it has.
        tools: usize,
    },
    /// It ended by itself or did not start.
    Failed {
        /// Why.
        error: ErrorReport,
    },
}

/// All servers of the person. Clones are the same servers; once the last is dropped, they end.
#[derive(Debug, Clone)]
pub struct Servers(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    shared: Arc<Shared>,
    /// Also those that are removed: one that is added again waits until the one before is gone.
    servers: Mutex<BTreeMap<String, Arc<Server>>>,
}

impl Servers {
    /// None yet. What calls ask back is sent to `questions`, with the slug of the server that asks.
    pub fn new(limits: Limits, questions: mpsc::Sender<(String, Asked)>) -> Self {
        Self::keeping(Keep::default(), limits, questions)
    }

    /// The same, kept otherwise than is usual.
    pub fn keeping(keep: Keep, limits: Limits, questions: mpsc::Sender<(String, Asked)>) -> Self {
        let shared = Shared { limits, keep, questions, states: watch::Sender::default() };
        Self(Arc::new(Pool { shared: Arc::new(shared), servers: Mutex::default() }))
    }

    /// Takes the place of what is known of the server of this slug. One that is reached otherwise than before is
    /// stopped, and waited for; of one that is reached as before nothing changes, but the next start has the new HTTP
    /// client.
    pub async fn configure(&self, configured: Configured) {
        let Configured { slug, reach } = configured;
        let server = Arc::clone(
            self.0
                .all()
                .entry(slug)
                .or_insert_with_key(|slug| Arc::new(Server::new(slug.clone(), Arc::clone(&self.0.shared)))),
        );
        gone(server.configure(reach)).await;
    }

    /// Forgets a server and stops it.
    pub async fn remove(&self, slug: &str) {
        if let Some(server) = self.0.get(slug) {
            gone(server.remove()).await;
        }
    }

    /// The tools that a server has now, by name. It is started if it does not run; who asks meanwhile waits for the
    /// same start. They are asked for once, and again after it has said that they have changed.
    ///
    /// # Errors
    ///
    /// [`ServerError`].
    pub async fn tools(&self, slug: &str) -> Result<Vec<Definition>, ServerError> {
        let claim = self.0.claim(slug)?;
        let connection = claim.connection().await?;
        let listed = tokio::select! {
            biased;
            listed = claim.run().tools(&connection) => listed,
            error = claim.run().ended() => Err(error),
        };
        match &listed {
            Ok(tools) => claim.listed(tools.len()),
            Err(error) => claim.failed(&connection, error).await,
        }
        listed
    }

    /// Asks a server, which is started if it does not run, for something that changes nothing.
    ///
    /// # Errors
    ///
    /// [`ServerError`]; [`ServerError::Stopped`] also where the server is stopped.
    pub async fn ask<T, Asking>(
        &self,
        slug: &str,
        ask: impl FnOnce(Arc<Connection>) -> Asking,
    ) -> Result<T, ServerError>
    where
        Asking: Future<Output = Result<T, ServerError>>,
    {
        let claim = self.0.claim(slug)?;
        let connection = claim.connection().await?;
        let answer = tokio::select! {
            biased;
            answer = ask(Arc::clone(&connection)) => answer,
            error = claim.run().ended() => Err(error),
        };
        if let Err(error) = &answer {
            claim.failed(&connection, error).await;
        }
        answer
    }

    /// Calls a tool of a server, which is started if it does not run. The call is sent at most once, whatever becomes
    /// of the server. `progress` hears how far it is; the call ends early when `stop` does.
    ///
    /// # Errors
    ///
    /// [`ServerError`], as [`Connection::call`](crate::Connection::call) tells it; [`ServerError::Stopped`] also where
    /// the server is stopped.
    pub async fn call(
        &self,
        slug: &str,
        tool: &str,
        arguments: Map<String, Value>,
        progress: impl FnMut(Progress),
        stop: impl Future<Output = ()>,
    ) -> Result<Outcome, ServerError> {
        let mut stop = pin!(stop);
        let claim = self.0.claim(slug)?;
        let connection = tokio::select! {
            biased;
            () = stop.as_mut() => return Err(ServerError::Stopped),
            connection = claim.connection() => connection?,
        };
        let (halt, halted) = oneshot::channel::<()>();
        let why = OnceLock::new();
        let stopping = async {
            let error = tokio::select! {
                () = stop => ServerError::Stopped,
                error = claim.run().ended() => error,
            };
            let _ = why.set(error);
            let _ = halt.send(());
            // A server that reads nothing any more must not keep anybody waiting.
            sleep(CANCELLING).await;
        };
        let stop = async {
            let _ = halted.await;
        };
        let outcome = tokio::select! {
            biased;
            outcome = connection.call(tool, arguments, progress, stop) => outcome,
            () = stopping => Err(ServerError::Stopped),
        };
        match outcome {
            Ok(outcome) => Ok(outcome),
            Err(ServerError::Stopped) => Err(why.into_inner().unwrap_or(ServerError::Stopped)),
            Err(error) => {
                claim.failed(&connection, &error).await;
                Err(error)
            }
        }
    }

    /// How each configured server is, by slug; changes are told.
    pub fn watch(&self) -> watch::Receiver<BTreeMap<String, ServerState>> {
        self.0.shared.states.subscribe()
    }

    /// The newest 64 KiB of what a server wrote to its standard error since it is reached as it is; what is no UTF-8 is
    /// replaced.
    pub fn errors(&self, slug: &str) -> String {
        self.0.get(slug).map(|server| server.errors()).unwrap_or_default()
    }

    /// Stops a server; calls under way end with [`ServerError::Stopped`]. Returns when no process of it is left. It
    /// starts again when it is next used, however often it has failed before.
    pub async fn stop(&self, slug: &str) {
        if let Some(server) = self.0.get(slug) {
            gone(server.stop()).await;
        }
    }

    /// Stops all servers at once, as [`Self::stop`] does. Returns when no process is left.
    pub async fn stop_all(&self) {
        gone(self.0.stop_all()).await;
    }

    /// Stops servers that nobody has used for [`Keep::idle`], until all other clones are dropped.
    pub async fn look_after(self) {
        let pool = Arc::downgrade(&self.0);
        let idle = self.0.shared.keep.idle;
        drop(self);
        loop {
            sleep(LOOKING.min(idle / 4).max(SOON)).await;
            let Some(pool) = pool.upgrade() else { return };
            let servers: Vec<_> = pool.all().values().cloned().collect();
            servers.iter().for_each(|server| server.stop_if_idle());
        }
    }
}

impl Pool {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Server>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, slug: &str) -> Option<Arc<Server>> {
        self.all().get(slug).cloned()
    }

    fn claim(&self, slug: &str) -> Result<server::Claim, ServerError> {
        let unknown = || ServerError::NotConfigured { slug: slug.to_owned() };
        self.get(slug).ok_or_else(unknown)?.claim()
    }

    /// Stops all of them and returns what is not gone yet.
    fn stop_all(&self) -> Vec<Arc<Run>> {
        let servers: Vec<_> = self.all().values().cloned().collect();
        servers.iter().flat_map(|server| server.stop()).collect()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Each run ends by itself once it is told to.
        self.stop_all();
    }
}

/// Waits until nothing of these is left. They end side by side.
async fn gone(runs: Vec<Arc<Run>>) {
    for run in runs {
        run.gone().await;
    }
}
