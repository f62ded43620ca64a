//! The tools that models may use: the app's own, and those of servers that the person has configured.

mod consent;
mod entry;
mod error;
mod import;
mod offers;
mod own;
mod questions;
mod secrets;
mod servers;
mod shown;
mod sign_in;
mod surroundings;
#[cfg(test)]
mod tests;
mod using;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foretoken_chats::{ChatsError, FIRST_TEMPORARY, Store};
use foretoken_protocol::{ErrorReport, PermissionId, PermittedTools, ServerAnswer, ToolPermission};
use foretoken_tools::built_in::web::Web;
use foretoken_tools::{Asked, Limits, Servers, visible};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard, OnceCell, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use self::questions::Questions;
use self::secrets::Secrets;
use self::surroundings::Surroundings;
use crate::chat_store::ChatStore;
use crate::events::AppEvents;
use crate::keychain::{SecretStore, TOOL_SERVERS};
use crate::settings::AppSettings;

pub(crate) use self::error::ToolboxError;
pub(crate) use self::own::OWN;

/// The page hears of changes this often at most.
const TOLD: Duration = Duration::from_millis(250);
/// How long servers may take to end with the app: one that does not heed the end of its input is told, and killed.
const CLOSING: Duration = Duration::from_secs(10);
/// How long they wait before that for who is changing the list, whom a keychain may keep waiting.
const CHANGING: Duration = Duration::from_millis(200);

/// The fingerprints of a server's tools by name, as they were seen last.
type Seen = BTreeMap<String, String>;

/// The tools, their servers and what the person has allowed.
pub(crate) struct Toolbox {
    store: ChatStore,
    settings: Arc<AppSettings>,
    events: Arc<AppEvents>,
    /// Has a folder for each server that names none.
    folder: PathBuf,
    surroundings: Surroundings,
    secrets: Arc<Secrets>,
    servers: Servers,
    /// What reads the web, once it was needed.
    web: OnceCell<Web>,
    /// What servers ask, until somebody follows it.
    asked: Mutex<Option<mpsc::Receiver<(String, Asked)>>>,
    /// Of that, what the person has not answered.
    questions: Questions,
    /// How often the list of servers has been changed; held while it is, and while a server that was looked up in it
    /// begins to be used, so that nothing is used that is switched off.
    changing: AsyncMutex<u64>,
    /// Whether the app ends, and no server is used any more.
    closed: AtomicBool,
    /// Whose sign-in is under way, by slug: what is sent there, or is dropped, gives it up.
    signing_in: Mutex<BTreeMap<String, oneshot::Sender<()>>>,
    /// Held while a dialog is with the person.
    asking: AsyncMutex<()>,
    /// By the slug of their server, since the app was started.
    seen: Mutex<BTreeMap<String, Seen>>,
}

impl Toolbox {
    /// Tools whose servers and permissions are in `store`; servers without a folder of their own get one in `folder`.
    pub(crate) fn new(
        store: ChatStore,
        settings: Arc<AppSettings>,
        events: Arc<AppEvents>,
        folder: PathBuf,
    ) -> Self {
        let surroundings = Surroundings::of_this_person();
        Self::within(store, settings, events, folder, surroundings, Box::new(TOOL_SERVERS))
    }

    /// The same with these surroundings and this keychain.
    fn within(
        store: ChatStore,
        settings: Arc<AppSettings>,
        events: Arc<AppEvents>,
        folder: PathBuf,
        surroundings: Surroundings,
        keychain: Box<dyn SecretStore>,
    ) -> Self {
        let (questions, asked) = mpsc::channel(1);
        Self {
            store,
            settings,
            events,
            folder,
            surroundings,
            secrets: Arc::new(Secrets::new(keychain)),
            servers: Servers::new(Limits::default(), questions),
            web: OnceCell::new(),
            asked: Mutex::new(Some(asked)),
            questions: Questions::default(),
            changing: AsyncMutex::default(),
            closed: AtomicBool::new(false),
            signing_in: Mutex::default(),
            asking: AsyncMutex::default(),
            seen: Mutex::default(),
        }
    }

    /// The end of what a server's program has written to its standard error, with what nobody would see made visible.
    pub(crate) fn errors(&self, slug: &str) -> String {
        visible(&self.servers.errors(slug)).0
    }

    /// Takes back a permission.
    pub(crate) async fn revoke(&self, permission: PermissionId) -> Result<(), ErrorReport> {
        let revoked = self.store.call(move |store| store.revoke(permission)).await;
        self.publish().await;
        revoked
    }

    /// Ends all calls that run, stops all servers and takes back all permissions.
    pub(crate) async fn stop_all(&self) -> Result<(), ErrorReport> {
        let mut changing = self.changing().await;
        let stopping = begun(self.servers.stop_all());
        let revoked = self.store.call(|store| store.revoke_all()).await;
        self.of_temporary_chats(|store| store.revoke_all()).await;
        // What was looked up before is looked up again.
        *changing += 1;
        drop(changing);
        stopping.await;
        self.publish().await;
        revoked
    }

    /// Answers what a server asks. Returns the address that the person has agreed to open.
    pub(crate) async fn answer(
        &self,
        question: u32,
        answer: ServerAnswer,
    ) -> Result<Option<String>, ErrorReport> {
        let answered = self.questions.answer(question, answer);
        self.publish().await;
        answered
    }

    /// Shows the person what servers ask.
    async fn follow_questions(&self) {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut asked) = asked else { return };
        let mut standing = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some((server, asked)) = asked.recv() => {
                    let Some(stands) = self.questions.stand(server, asked) else { continue };
                    standing.push(self.questions.settle(stands));
                }
                Some(()) = standing.next() => {}
                else => return,
            }
            self.publish().await;
        }
    }

    /// Follows how servers are and what they ask, tells the page, and stops those that nobody uses, for as long as the
    /// app runs.
    pub(crate) async fn follow(&self) {
        let telling = async {
            let mut states = self.servers.watch();
            // Where programs are is known a while after the start only, as far as somebody needs to know.
            if self.taken().await.is_ok_and(|taken| !taken.is_empty()) {
                self.surroundings.path().await;
                self.publish().await;
            }
            while states.changed().await.is_ok() {
                sleep(TOLD).await;
                states.mark_unchanged();
                self.publish().await;
            }
        };
        tokio::join!(telling, self.follow_questions(), self.servers.clone().look_after());
    }

    /// Whether the app ends, and no server is used any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Stops all servers for good, as far as they end in time.
    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.give_up_sign_ins();
        let changing = timeout(CHANGING, self.changing()).await;
        let stopping = begun(self.servers.stop_all());
        drop(changing);
        if timeout(CLOSING, stopping).await.is_err() {
            tracing::error!("a server of tools has not ended");
        }
    }

    /// Does something with what was allowed in temporary chats, if there are any.
    async fn of_temporary_chats(
        &self,
        job: impl FnOnce(&mut Store) -> Result<(), ChatsError> + Send + 'static,
    ) {
        if let Err(error) = self.store.call_for(FIRST_TEMPORARY, job).await {
            // Mostly that there are none.
            tracing::debug!("{error}");
        }
    }

    /// Takes back what was allowed in temporary chats of tools of a server; of all of them without names.
    async fn revoke_temporary(&self, slug: &str, tools: Option<BTreeSet<String>>) {
        let slug = slug.to_owned();
        self.of_temporary_chats(move |store| revoke_of(store, &slug, tools.as_ref())).await;
    }

    async fn changing(&self) -> AsyncMutexGuard<'_, u64> {
        self.changing.lock().await
    }

    /// Forgets what tools a server has.
    fn forget(&self, slug: &str) {
        self.seen().remove(slug);
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes back what was allowed of tools of a server; of all of them without names.
fn revoke_of(store: &mut Store, slug: &str, tools: Option<&BTreeSet<String>>) -> Result<(), ChatsError> {
    let is_of = |permission: &ToolPermission| {
        let permitted = match &permission.tools {
            PermittedTools::One { tool } => std::slice::from_ref(tool),
            PermittedTools::Every { tools } => tools,
        };
        permission.server == slug
            && tools.is_none_or(|names| permitted.iter().any(|one| names.contains(&one.tool)))
    };
    let given = store.tool_permissions()?;
    given.iter().filter(|one| is_of(one)).try_for_each(|one| store.revoke(one.id))
}

/// Work that has begun when this returns, and goes on when it is waited for. What is only to begin under a lock does
/// not hold it to its end.
fn begun<'a, T: Send + 'a>(work: impl Future<Output = T> + Send + 'a) -> Begun<'a, T> {
    let mut work = Box::pin(work);
    match work.as_mut().now_or_never() {
        Some(done) => Box::pin(std::future::ready(done)),
        None => work,
    }
}

type Begun<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
