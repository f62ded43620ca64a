//! One server of the pool: how it is reached, the run that is its present one, and what is left of earlier ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use super::restarts::Restarts;
use super::run::Run;
use super::{Keep, ServerState};
use crate::connection::{Asked, Connection, Limits, Reach};
use crate::error::ServerError;
use crate::process::Errors;

/// How often it is looked whether a server that runs has ended by itself.
const LOOKING: Duration = Duration::from_secs(1);
/// How long those who use a server have to be done once it is stopped: longer than a call takes to be cancelled.
const LEAVING: Duration = Duration::from_secs(3);
/// How long a connection that breaks a call may take to be seen as broken.
const BREAKING: Duration = Duration::from_millis(50);

/// What all servers of a pool have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) limits: Limits,
    pub(super) keep: Keep,
    pub(super) questions: mpsc::Sender<(String, Asked)>,
    pub(super) states: watch::Sender<BTreeMap<String, ServerState>>,
}

/// A server of the pool.
#[derive(Debug)]
pub(super) struct Server {
    slug: String,
    shared: Arc<Shared>,
    /// Held by a run as long as anything of it may be left: the next one starts after that.
    turn: tokio::sync::Mutex<()>,
    /// Never held while anything is waited for. A state is told while it is held, so that the newest is told last.
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// `None` of one that was removed.
    reach: Option<Reach>,
    errors: Errors,
    /// The one that is starting or ready. Whoever ends it takes it from here.
    run: Option<Arc<Run>>,
    /// Those of which something may be left, `run` among them.
    left: Vec<Arc<Run>>,
    restarts: Restarts,
}

impl Server {
    /// One that is not configured yet.
    pub(super) fn new(slug: String, shared: Arc<Shared>) -> Self {
        Self { slug, shared, turn: tokio::sync::Mutex::default(), inner: Mutex::default() }
    }

    /// It is reached so from now on. Returns the runs that end for it.
    pub(super) fn configure(&self, reach: Reach) -> Vec<Arc<Run>> {
        let mut inner = self.lock();
        if inner.reach.as_ref().is_some_and(|before| same(before, &reach)) {
            inner.reach = Some(reach);
            return Vec::new();
        }
        self.forget(&mut inner);
        inner.reach = Some(reach);
        self.tell(&inner, ServerState::Stopped);
        inner.left.clone()
    }

    /// It is not there any more. Returns what is left of it.
    pub(super) fn remove(&self) -> Vec<Arc<Run>> {
        let mut inner = self.lock();
        self.forget(&mut inner);
        self.shared.states.send_if_modified(|states| states.remove(&self.slug).is_some());
        inner.left.clone()
    }

    /// Stops it for the person, who may start it again however often it has failed. Returns what is left of it.
    pub(super) fn stop(&self) -> Vec<Arc<Run>> {
        let mut inner = self.lock();
        inner.restarts = Restarts::default();
        self.end(&mut inner, ServerError::Stopped);
        self.tell(&inner, ServerState::Stopped);
        inner.left.clone()
    }

    /// Stops it if nobody has used it for a while.
    pub(super) fn stop_if_idle(&self) {
        let mut inner = self.lock();
        if inner.run.as_ref().is_some_and(|run| run.is_idle(self.shared.keep.idle)) {
            self.end(&mut inner, ServerError::Stopped);
            self.tell(&inner, ServerState::Stopped);
        }
    }

    /// What it wrote to its standard error.
    pub(super) fn errors(&self) -> String {
        self.lock().errors.text()
    }

    /// Its present run, which is begun if there is none.
    pub(super) fn claim(self: Arc<Self>) -> Result<Claim, ServerError> {
        let mut inner = self.lock();
        if let Some(run) = inner.run.clone().filter(|run| run.is_broken()) {
            self.fail(&mut inner, &run, ServerError::Gone);
        }
        let run = match &inner.run {
            Some(run) => Arc::clone(run),
            None => self.start(&mut inner)?,
        };
        // Within the lock, so that it is not stopped as one that nobody uses.
        run.enter();
        drop(inner);
        Ok(Claim { server: self, run })
    }

    fn start(self: &Arc<Self>, inner: &mut Inner) -> Result<Arc<Run>, ServerError> {
        let Some(reach) = inner.reach.clone() else {
            return Err(ServerError::NotConfigured { slug: self.slug.clone() });
        };
        if let Err(error) = inner.restarts.start(&self.shared.keep, Instant::now()) {
            self.tell(inner, ServerState::Failed { error: error.clone().into() });
            return Err(error);
        }
        let run = Arc::new(Run::new());
        inner.run = Some(Arc::clone(&run));
        inner.left.push(Arc::clone(&run));
        self.tell(inner, ServerState::Starting);
        tokio::spawn(Arc::clone(self).carry(Arc::clone(&run), reach, inner.errors.clone()));
        Ok(run)
    }

    /// Carries a run from its start until nothing of it is left.
    async fn carry(self: Arc<Self>, run: Arc<Run>, reach: Reach, errors: Errors) {
        let _over = Over { server: Arc::clone(&self), run: Arc::clone(&run) };
        let _turn = self.turn.lock().await;
        if run.is_ended() {
            return;
        }
        let stop = async {
            run.ended().await;
        };
        let opening = Connection::open_until(reach, self.shared.limits, self.questions(), errors, stop);
        let connection = match opening.await {
            Ok(connection) => Arc::new(connection),
            // Nothing that was stopped fails.
            Err(error) => {
                self.fail(&mut self.lock(), &run, error);
                return;
            }
        };
        tokio::select! {
            biased;
            _ = run.ended() => {}
            listed = run.tools(&connection) => match listed {
                Ok(tools) => self.ready(&run, &connection, tools.len()),
                Err(error) => self.fail(&mut self.lock(), &run, error),
            }
        }
        while timeout(LOOKING, run.ended()).await.is_err() {
            self.look(&run);
        }
        let _ = timeout(LEAVING, run.unused()).await;
        match Arc::try_unwrap(connection) {
            Ok(connection) => connection.close().await,
            // Somebody neither goes on nor lets go.
            Err(connection) => connection.killed().await,
        }
    }

    /// Where a connection sends what its server asks, which goes on with the server's slug.
    fn questions(&self) -> mpsc::Sender<Asked> {
        let (asking, mut asked) = mpsc::channel(1);
        let (questions, slug) = (self.shared.questions.clone(), self.slug.clone());
        tokio::spawn(async move {
            while let Some(asked) = asked.recv().await {
                if questions.send((slug.clone(), asked)).await.is_err() {
                    return;
                }
            }
        });
        asking
    }

    fn ready(&self, run: &Arc<Run>, connection: &Arc<Connection>, tools: usize) {
        let inner = self.lock();
        if is(&inner.run, run) {
            self.tell(&inner, ServerState::Running { tools });
            run.ready(connection);
        }
    }

    /// A run has so many tools now.
    fn listed(&self, run: &Arc<Run>, tools: usize) {
        let inner = self.lock();
        if is(&inner.run, run) {
            self.tell(&inner, ServerState::Running { tools });
        }
    }

    /// Sees whether a run has ended by itself.
    fn look(&self, run: &Arc<Run>) {
        let mut inner = self.lock();
        if run.is_broken() {
            self.fail(&mut inner, run, ServerError::Gone);
        }
    }

    /// A run did not start, or ended by itself; nothing happens to one that was ended before.
    fn fail(&self, inner: &mut Inner, run: &Arc<Run>, error: ServerError) {
        if is(&inner.run, run) {
            inner.restarts.failed(&error);
            self.end(inner, error.clone());
            self.tell(inner, ServerState::Failed { error: error.into() });
        }
    }

    /// Nothing is known of it any more.
    fn forget(&self, inner: &mut Inner) {
        self.end(inner, ServerError::Stopped);
        (inner.reach, inner.errors, inner.restarts) = (None, Errors::default(), Restarts::default());
    }

    /// Ends the present run, if there is one.
    fn end(&self, inner: &mut Inner, error: ServerError) {
        if let Some(run) = inner.run.take() {
            run.end(error);
        }
    }

    fn tell(&self, inner: &Inner, state: ServerState) {
        if inner.reach.is_none() {
            return;
        }
        self.shared.states.send_if_modified(|states| {
            let changed = states.get(&self.slug) != Some(&state);
            if changed {
                states.insert(self.slug.clone(), state);
            }
            changed
        });
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a run whatever becomes of the task that carries it.
struct Over {
    server: Arc<Server>,
    run: Arc<Run>,
}

impl Drop for Over {
    fn drop(&mut self) {
        let mut inner = self.server.lock();
        self.server.fail(&mut inner, &self.run, ServerError::Gone);
        inner.left.retain(|run| !Arc::ptr_eq(run, &self.run));
        drop(inner);
        self.run.is_gone();
    }
}

/// The use of a run by somebody, until it is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    server: Arc<Server>,
    run: Arc<Run>,
}

impl Claim {
    pub(super) fn run(&self) -> &Run {
        &self.run
    }

    /// The connection, once there is one.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, ServerError> {
        self.run.connection().await
    }

    /// The server has so many tools now.
    pub(super) fn listed(&self, tools: usize) {
        self.server.listed(&self.run, tools);
    }

    /// Something that was asked of the connection came to nothing: sees whether that was its end.
    pub(super) async fn failed(&self, connection: &Connection, error: &ServerError) {
        if matches!(error, ServerError::Gone) && !connection.is_gone() {
            sleep(BREAKING).await;
        }
        if matches!(error, ServerError::SignInNeeded) {
            // Nothing more is to be had of it like this.
            self.server.fail(&mut self.server.lock(), &self.run, error.clone());
        }
        self.server.look(&self.run);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.run.leave();
    }
}

fn is(present: &Option<Arc<Run>>, run: &Arc<Run>) -> bool {
    present.as_ref().is_some_and(|present| Arc::ptr_eq(present, run))
}

/// Whether the same server is reached in the same way. Of HTTP clients nobody can tell.
fn same(one: &Reach, other: &Reach) -> bool {
    match (one, other) {
        (Reach::Program(one), Reach::Program(other)) => one == other,
        (
            Reach::Http { address: one, headers: with, client: _, access: of },
            Reach::Http { address: other, headers: and, client: _, access },
        ) => one == other && with == and && of.is_some() == access.is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Launch;

    #[test]
    fn no_secret_of_a_server_is_shown() {
        let launch = Launch {
            program: "/bin/server".into(),
            arguments: vec!["--all".into()],
            environment: BTreeMap::from([("TOKEN".into(), "hunter2".into())]),
            folder: "/".into(),
        };
        let http = Reach::Http {
            address: "https://example.org/mcp".into(),
            headers: vec![("Authorization".into(), "hunter2".into())],
            client: crate::http::client(None).unwrap(),
            access: None,
        };
        for (reach, seen) in [(Reach::Program(launch), "TOKEN"), (http, "Authorization")] {
            let configured = super::super::Configured { slug: "s".into(), reach };
            let shown = format!("{configured:?}");
            assert!(shown.contains(seen) && !shown.contains("hunter2"), "{shown}");
        }
    }
}
