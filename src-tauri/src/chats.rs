//! The store of chats on a thread of its own: SQLite never holds up the window.

use std::path::PathBuf;
use std::sync::mpsc;

use foretoken_chats::{ChatsError, Store};
use foretoken_protocol::{ChatMessage, ErrorReport, Message, MessageId, Role};
use tokio::sync::oneshot;

/// Does one thing with the store, or learns why there is none.
type Job = Box<dyn FnOnce(Result<&mut Store, &ErrorReport>) + Send>;

/// Hands jobs to the thread that owns the store. They are done in the order in which they were called for.
#[derive(Debug, Clone)]
pub(crate) struct Chats {
    jobs: mpsc::Sender<Job>,
}

impl Chats {
    /// Opens the chats at `path`. If that fails, every call says why.
    pub(crate) fn open(path: PathBuf) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        std::thread::Builder::new().name("chats".into()).spawn(move || {
            let mut store = Store::open(&path).map_err(ErrorReport::from);
            if let Err(error) = &store {
                tracing::error!("{error}");
            }
            for job in queue {
                job(store.as_mut().map_err(|error| &*error));
            }
        })?;
        Ok(Self { jobs })
    }

    /// Does one thing with the store.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Store) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        let (answer, done) = oneshot::channel();
        let job: Job = Box::new(move |store| {
            let outcome = match store {
                Ok(store) => job(store).map_err(ErrorReport::from),
                Err(error) => Err(error.clone()),
            };
            let _ = answer.send(outcome);
        });
        let stopped = |()| ErrorReport {
            code: "chats_stopped".into(),
            message: "The chats can no longer be read or written.".into(),
            hint: "Quit Foretoken and open it again.".into(),
        };
        self.jobs.send(job).map_err(|_| stopped(()))?;
        done.await.unwrap_or_else(|_| Err(stopped(())))
    }
}

/// The messages up to and including `last`, as the model's chat template reads them.
pub(crate) fn conversation(store: &Store, last: MessageId) -> Result<Vec<ChatMessage>, ChatsError> {
    let mut messages = Vec::new();
    let mut next = Some(last);
    while let Some(id) = next {
        let Message { role, text, parent, .. } = store.message(id)?;
        // A reply that never came to an answer would teach the model to say nothing.
        if role != Role::Assistant || !text.is_empty() {
            messages.push(ChatMessage { role, content: text });
        }
        next = parent;
    }
    messages.reverse();
    Ok(messages)
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
}
