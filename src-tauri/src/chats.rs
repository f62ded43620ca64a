//! The store of chats on a thread of its own: SQLite never holds up the window.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use foretoken_chats::{ChatsError, Store, backups, restore_backup};
use foretoken_protocol::{ChatMessage, ChatsTrouble, ErrorReport, Message, MessageId, Role};
use tokio::sync::oneshot;

/// The code of a store that a backup can take the place of.
const DAMAGED: &str = "chats_corrupt";
/// How old the newest backup may be.
const BACKUP_EVERY: Duration = Duration::from_hours(24);

/// Does one thing with the store, or learns why there is none.
type Job = Box<dyn FnOnce(&mut Result<Store, ErrorReport>) + Send>;

/// Hands jobs to the thread that owns the store. They are done in the order in which they were called for.
#[derive(Debug, Clone)]
pub(crate) struct Chats {
    path: PathBuf,
    jobs: mpsc::Sender<Job>,
}

impl Chats {
    /// Opens the chats at `path`. If that fails, every call says why.
    pub(crate) fn open(path: PathBuf) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let chats = Self { path: path.clone(), jobs };
        std::thread::Builder::new().name("chats".into()).spawn(move || {
            let mut store = open(&path);
            for job in queue {
                job(&mut store);
            }
        })?;
        Ok(chats)
    }

    /// Does one thing with the store.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Store) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        self.run(|store| match store {
            Ok(store) => job(store).map_err(ErrorReport::from),
            Err(error) => Err(error.clone()),
        })
        .await?
    }

    /// Why there is no store, and what could take its place.
    pub(crate) async fn trouble(&self) -> Option<ChatsTrouble> {
        let error = match self.run(|store| store.as_ref().err().cloned()).await {
            Ok(error) => error?,
            Err(stopped) => stopped,
        };
        let backups = if error.code == DAMAGED { backups(&self.path) } else { Vec::new() };
        Some(ChatsTrouble { error, backups })
    }

    /// Puts the newest sound backup in the place of chats that are damaged. Those are kept beside it.
    pub(crate) async fn restore(&self) -> Result<(), ErrorReport> {
        let path = self.path.clone();
        self.run(move |store| {
            if store.as_ref().err().is_none_or(|error| error.code != DAMAGED) {
                return Err(not_damaged());
            }
            let restored = restore_backup(&path)?;
            tracing::warn!("the chats of {} took the place of damaged ones", restored.backup.display());
            *store = open(&path);
            store.as_ref().map(|_| ()).map_err(Clone::clone)
        })
        .await?
    }

    /// Copies all chats for the case that they are damaged, unless there is a copy of today.
    pub(crate) async fn back_up(&self) -> Result<(), ErrorReport> {
        let path = self.path.clone();
        self.call(move |store| {
            let newest = backups(&path).first().map(|backup| Duration::from_millis(backup.made_at));
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            if newest.is_none_or(|made_at| now.saturating_sub(made_at) > BACKUP_EVERY) {
                store.back_up()?;
            }
            Ok(())
        })
        .await
    }

    /// Does one thing where the store is, or would be.
    async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Result<Store, ErrorReport>) -> T + Send + 'static,
    ) -> Result<T, ErrorReport> {
        let (answer, done) = oneshot::channel();
        let job: Job = Box::new(move |store| drop(answer.send(job(store))));
        self.jobs.send(job).map_err(|_| stopped())?;
        done.await.map_err(|_| stopped())
    }
}

fn open(path: &Path) -> Result<Store, ErrorReport> {
    Store::open(path).map_err(|error| {
        tracing::error!("{error}");
        ErrorReport::from(error)
    })
}

fn stopped() -> ErrorReport {
    ErrorReport {
        code: "chats_stopped".into(),
        message: "The chats can no longer be read or written.".into(),
        hint: "Quit Foretoken and open it again.".into(),
    }
}

fn not_damaged() -> ErrorReport {
    ErrorReport {
        code: "chats_not_damaged".into(),
        message: "The chats are not damaged.".into(),
        hint: "Nothing was changed.".into(),
    }
}

/// The messages up to and including `last`, as the model's chat template reads them.
pub(crate) fn conversation(store: &Store, last: MessageId) -> Result<Vec<ChatMessage>, ChatsError> {
    let settings = store.chat_settings(store.chat_of(last)?)?;
    let instructions = Some(settings.system_prompt)
        .filter(|prompt| !prompt.trim().is_empty())
        .map(|content| ChatMessage { role: Role::System, content });
    // A reply that never came to an answer would teach the model to say nothing.
    let said = store
        .path_to(last)?
        .into_iter()
        .filter(|message| message.role != Role::Assistant || !message.text.is_empty())
        .map(|Message { role, text, .. }| ChatMessage { role, content: text });
    Ok(instructions.into_iter().chain(said).collect())
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{Drafting, GenerationSettings, MessageStatus, Sampling};

    use super::*;

    #[test]
    fn replies_without_an_answer_are_left_out_of_the_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("chats.sqlite")).unwrap();
        let settings = GenerationSettings {
            sampling: Sampling::default(),
            drafting: Drafting::Off,
            max_tokens: 1,
            thinking: false,
            stop: Vec::new(),
        };
        let chat = store.create_chat("A chat").unwrap().id;
        let mut last = None;
        for answer in ["One.", "", "Three."] {
            let question = store.add_user_message(chat, last, &format!("Before {answer:?}")).unwrap().id;
            let reply = store.begin_reply(chat, question, "model", &settings).unwrap().id;
            store.update_reply(reply, answer, "").unwrap();
            store.finish_reply(reply, MessageStatus::Interrupted, None, None).unwrap();
            last = Some(reply);
        }
        let texts: Vec<String> =
            conversation(&store, last.unwrap()).unwrap().into_iter().map(|message| message.content).collect();
        assert_eq!(texts, ["Before \"One.\"", "One.", "Before \"\"", "Before \"Three.\"", "Three."]);
    }

    #[tokio::test]
    async fn damaged_chats_give_way_to_the_newest_copy_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats.sqlite");
        let mut store = Store::open(&path).unwrap();
        store.create_chat("A chat").unwrap();
        store.back_up().unwrap();
        drop(store);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[..64].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();

        let chats = Chats::open(path.clone()).unwrap();
        let trouble = chats.trouble().await.unwrap();
        assert_eq!((trouble.error.code.as_str(), trouble.backups.len()), (DAMAGED, 1));
        assert_eq!(chats.call(|store| store.tags()).await.unwrap_err(), trouble.error);
        chats.restore().await.unwrap();
        assert_eq!(chats.trouble().await, None);
        let page = chats.call(|store| store.chat_page(None, None, 9)).await.unwrap();
        assert_eq!(page.chats[0].title, "A chat");
        assert_eq!(chats.restore().await.unwrap_err().code, "chats_not_damaged");
    }
}
