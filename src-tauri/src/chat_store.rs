//! The store of chats on a thread of its own, so that SQLite never holds up the window; beside it, those who only read
//! and take long.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime};

use foretoken_chats::{
    ChatsError, Piece, Reader, SeenPicture, Store, backups, import, is_temporary, restorable, restore_backup,
};
use foretoken_protocol::{
    ChatId, ChatSummary, ChatsBackup, ChatsTrouble, ErrorReport, ImportReport, PictureDetail,
};
use tokio::sync::{Mutex, RwLock, oneshot, watch};

use crate::blocking::blocking;

#[cfg(test)]
pub(crate) mod tests;

/// The code of a store that a backup can take the place of.
const DAMAGED: &str = "chats_corrupt";
/// The same of one that a newer version of the app has written.
const NEWER: &str = "chats_newer";
/// How old the newest backup may be.
const BACKUP_EVERY: Duration = Duration::from_hours(24);

/// Does one thing with the store, or learns why there is none.
type Job = Box<dyn FnOnce(&mut Held) + Send>;

/// Whether there is a store, or why there is none; `None` while it is being opened.
pub(crate) type State = Option<Result<(), ErrorReport>>;

/// What the thread of the store has.
struct Held {
    store: Result<Store, ChatsError>,
    /// The temporary chats, since the first one was begun.
    temporary: Option<Store>,
    state: watch::Sender<State>,
}

impl Held {
    /// Takes another store, or the reason why there is none, and gives up the one before.
    fn hold(&mut self, store: Result<Store, ChatsError>) {
        if let Err(error) = &store {
            tracing::error!("{error}");
        }
        self.state.send_replace(Some(store.as_ref().map(|_| ()).map_err(ErrorReport::from)));
        self.store = store;
    }

    fn store(&mut self) -> Result<&mut Store, ChatsError> {
        self.store.as_mut().map_err(|error| error.clone())
    }

    /// The store that has the chat, the message or the deletion of this number.
    fn store_for(&mut self, number: Option<u32>) -> Result<&mut Store, ChatsError> {
        match number.filter(|&number| is_temporary(number)) {
            Some(id) => self.temporary.as_mut().ok_or(ChatsError::UnknownChat { id }),
            None => self.store(),
        }
    }

    /// Gives up a store whose file is damaged, and leaves the file as it is.
    fn refuse(&mut self, error: ChatsError) {
        if let Ok(store) = std::mem::replace(&mut self.store, Err(error.clone()))
            && let Err(error) = store.leave()
        {
            tracing::warn!("damaged chats were not left as they are: {error}");
        }
        self.hold(Err(error));
    }
}

/// Hands jobs to the thread that owns the store. They are done in the order in which they were called for.
#[derive(Debug, Clone)]
pub(crate) struct ChatStore {
    path: PathBuf,
    jobs: mpsc::Sender<Job>,
    state: watch::Receiver<State>,
    /// Shared by those who read beside the store, and taken whole where another file takes its place.
    reading: Arc<RwLock<()>>,
    /// Held by the one who looks for damage.
    checking: Arc<Mutex<()>>,
}

impl ChatStore {
    /// Opens the chats at `path`. If that fails, every call says why.
    pub(crate) fn open(path: PathBuf) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (told, state) = watch::channel(None);
        let chats =
            Self { path: path.clone(), jobs, state, reading: Arc::default(), checking: Arc::default() };
        std::thread::Builder::new().name("chats".into()).spawn(move || {
            let store = Store::open(&path);
            let mut held = Held { store: Err(gone(&path)), temporary: None, state: told };
            held.hold(store);
            for job in queue {
                job(&mut held);
            }
        })?;
        Ok(chats)
    }

    /// Does one thing with the store, short enough for everybody else to wait.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Store) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        let done = self.run(|held| job(held.store()?)).await;
        self.report(done).await
    }

    /// Does one thing with the store that has a chat, a message or a deletion, by its number: what is of a temporary
    /// chat is not where the others are. A chat that is not begun yet is among the others.
    pub(crate) async fn call_for<T: Send + 'static>(
        &self,
        number: impl Into<Option<u32>>,
        job: impl FnOnce(&mut Store) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        let number = number.into();
        let done = self.run(move |held| job(held.store_for(number)?)).await;
        self.report(done).await
    }

    /// Begins a temporary chat. The store of such chats is in memory; it is called `path`, and its pictures are beside
    /// that. `begun` runs before anything else is done in a store.
    pub(crate) async fn begin_temporary(
        &self,
        path: PathBuf,
        title: String,
        begun: impl FnOnce(ChatId) + Send + 'static,
    ) -> Result<ChatId, ErrorReport> {
        let chat = self.run(move |held| {
            if held.temporary.is_none() {
                held.temporary = Some(Store::temporary(&path)?);
            }
            let store = held.temporary.as_mut().ok_or_else(|| gone(&path))?;
            let chat = store.create_chat(&title)?.id;
            begun(chat);
            Ok(chat)
        });
        Ok(chat.await?)
    }

    /// Ends all temporary chats but the one that is open by then, and returns which those were, and that one.
    pub(crate) async fn end_temporary(
        &self,
        open: impl FnOnce() -> Option<ChatId> + Send + 'static,
    ) -> Result<(Vec<ChatId>, Option<ChatId>), ErrorReport> {
        let ended = self.run(move |held| {
            let open = open();
            let Some(store) = &mut held.temporary else { return Ok((Vec::new(), open)) };
            let chats = store.chats()?.into_iter().map(|chat| chat.id);
            let ended = chats.filter(|&chat| Some(chat) != open).collect();
            store.remove_all_but(open)?;
            Ok((ended, open))
        });
        Ok(ended.await?)
    }

    /// Copies a temporary chat to those that are stored.
    pub(crate) async fn keep(&self, chat: ChatId) -> Result<ChatSummary, ErrorReport> {
        let kept = self.run(move |held| {
            let from = held.temporary.as_ref().ok_or(ChatsError::UnknownChat { id: chat })?;
            held.store.as_mut().map_err(|error| error.clone())?.adopt(from, chat)
        });
        let kept = kept.await;
        self.report(kept).await
    }

    /// Does something that only reads, beside the store and however long it takes. It sees what was committed when it
    /// began.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Reader) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        self.opened().await?;
        let done = self.beside(job).await;
        self.report(done).await
    }

    /// Adds the chats of a file, by pieces between which others have their turn. Its pictures are looked at by `look`,
    /// on a thread that may wait.
    pub(crate) async fn import(
        &self,
        file: PathBuf,
        look: impl Fn(&Path, PictureDetail) -> Result<SeenPicture, ErrorReport> + Send + 'static,
    ) -> Result<ImportReport, ErrorReport> {
        let chats = self.clone();
        let done = blocking(move || import(&file, &look, &|piece| chats.turn(piece))).await;
        self.report(done).await
    }

    /// Removes for good what was deleted before the app was started.
    pub(crate) async fn purge(&self) -> Result<(), ErrorReport> {
        while self.call(Store::purge_deleted).await? {}
        Ok(())
    }

    /// Why there is no store, and what could take its place.
    pub(crate) async fn trouble(&self) -> Option<ChatsTrouble> {
        let error = self.opened().await.err()?;
        let is_replaceable = [DAMAGED, NEWER].contains(&error.code.as_str());
        let backups = if is_replaceable { restorable(&self.path) } else { Vec::new() };
        Some(ChatsTrouble { error, backups })
    }

    /// Tells of every change in whether there is a store.
    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// Reads the whole file, to find damage before anybody meets it. Where there is some, every call says so until
    /// [`ChatStore::restore`].
    pub(crate) async fn check(&self) -> Result<(), ErrorReport> {
        // Many may come upon the same damage.
        let _one_at_a_time = self.checking.lock().await;
        self.opened().await?;
        let found = self.beside(Reader::check).await;
        if let Err(damage @ ChatsError::Corrupt { .. }) = &found {
            let damage = damage.clone();
            let refuse = self.run(move |held| {
                held.refuse(damage);
                Ok(())
            });
            refuse.await?;
        }
        Ok(found?)
    }

    /// Puts the newest sound copy in the place of chats that are damaged or of a newer version of the app. Those are
    /// kept beside it.
    pub(crate) async fn restore(&self) -> Result<(), ErrorReport> {
        // Who still reads the damaged file would not know which one its log belongs to.
        let _nobody_reads = self.reading.write().await;
        let path = self.path.clone();
        let restored = self.run(move |held| {
            if !matches!(held.store, Err(ChatsError::Corrupt { .. } | ChatsError::Newer { .. })) {
                return Ok(Err(not_damaged()));
            }
            let restored = restore_backup(&path)?;
            tracing::warn!(
                "the chats of {} took the place of those that were there",
                restored.backup.display()
            );
            held.hold(Store::open(&path));
            held.store()?;
            Ok(Ok(()))
        });
        restored.await?
    }

    /// Copies all chats for the case that they are damaged, unless there is a copy of today.
    pub(crate) async fn back_up(&self) -> Result<(), ErrorReport> {
        if is_due(backups(&self.path).first(), now()) {
            self.read(Reader::back_up).await?;
        }
        Ok(())
    }

    /// What an error is to those who asked. Where it speaks of damage, the whole file is looked at first.
    async fn report<T>(&self, done: Result<T, ChatsError>) -> Result<T, ErrorReport> {
        if matches!(done, Err(ChatsError::Corrupt { .. }))
            && let Err(error) = self.check().await
        {
            tracing::debug!("{error}");
        }
        Ok(done?)
    }

    /// Waits until the store is opened, or tells why it is not.
    async fn opened(&self) -> Result<(), ErrorReport> {
        let mut state = self.state.clone();
        let known = state.wait_for(Option::is_some).await.ok().and_then(|state| state.clone());
        known.unwrap_or_else(|| Err(gone(&self.path).into()))
    }

    /// Reads beside the store.
    async fn beside<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Reader) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ChatsError> {
        let reading = Arc::clone(&self.reading).read_owned().await;
        let path = self.path.clone();
        blocking(move || {
            let _reading = reading;
            job(&Reader::open(&path)?)
        })
        .await
    }

    /// Does one thing where the store is, or would be.
    async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Held) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ChatsError> {
        self.submit(job).await.unwrap_or_else(|_| Err(gone(&self.path)))
    }

    /// Does a piece of long work when its turn comes, and waits for it without giving the thread to others.
    fn turn(&self, piece: Piece) -> Result<(), ChatsError> {
        let done = self.submit(|held| piece(held.store()?)).blocking_recv();
        done.unwrap_or_else(|_| Err(gone(&self.path)))
    }

    fn submit<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Held) -> Result<T, ChatsError> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, ChatsError>> {
        let (answer, done) = oneshot::channel();
        // Where the thread is gone, so is the answer.
        let _ = self.jobs.send(Box::new(move |held| drop(answer.send(job(held)))));
        done
    }
}

/// Whether a backup is to be made: there is none, or the newest is of another day by a clock that may have been
/// changed.
fn is_due(newest: Option<&ChatsBackup>, now: Duration) -> bool {
    let made_at = newest.map(|backup| Duration::from_millis(backup.made_at));
    made_at.is_none_or(|made_at| made_at > now || now - made_at > BACKUP_EVERY)
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// The thread of the store has ended, which only a bug does.
fn gone(path: &Path) -> ChatsError {
    ChatsError::Io { path: path.to_owned(), detail: "they are no longer open".into() }
}

fn not_damaged() -> ErrorReport {
    ErrorReport {
        code: "chats_not_damaged".into(),
        message: "The chats can be read as they are.".into(),
        hint: "Nothing was changed.".into(),
    }
}
