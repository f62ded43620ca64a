//! Conversations: the chats as they are kept, the questions that are asked in them, and the replies that are written.

mod answering;
pub(crate) mod asking;
mod call_results;
mod chat_tools;
mod filing;
pub(crate) mod open;
pub(crate) mod pictures;
mod projects;
mod prompts;
pub(crate) mod replies;
mod summaries;
mod temporary;
mod titles;
mod turn;
mod unsent;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use foretoken_chats::{ChatsError, is_temporary};
use foretoken_host::Engine;
use foretoken_protocol::{ChatId, ErrorReport, ProjectId, Snapshot};
use tokio::sync::{mpsc, watch};

use crate::chat_store::ChatStore;
use crate::events::AppEvents;
use crate::kept_prefixes::KeptPrefixes;
use crate::language::Texts;
use crate::models::Models;
use crate::pictures::Pictures;
use crate::settings::AppSettings;
use crate::tools::Toolbox;
use open::{OpenChat, OpenPlace};
use replies::Replies;
use summaries::Summaries;
pub(crate) use temporary::TemporaryFiles;
use unsent::Unsent;

/// How many chats the page is given when it opens; it asks for more when they are looked at.
const CHATS_AT_FIRST: u32 = 200;

/// What is kept of conversations and can be made again.
pub(crate) struct Caches {
    pub(crate) prefixes: KeptPrefixes,
    pub(crate) pictures: Pictures,
    pub(crate) temporary: TemporaryFiles,
}

/// What writes in conversations.
pub(crate) struct Means {
    pub(crate) engine: Arc<Engine>,
    pub(crate) models: Arc<Models>,
    pub(crate) toolbox: Arc<Toolbox>,
}

/// The conversations of the running app. What they depend on is what they hold.
pub(crate) struct Conversations {
    pub(crate) store: ChatStore,
    pub(crate) replies: Arc<Replies>,
    engine: Arc<Engine>,
    models: Arc<Models>,
    settings: Arc<AppSettings>,
    toolbox: Arc<Toolbox>,
    prefixes: KeptPrefixes,
    pictures: Pictures,
    pub(crate) temporary: TemporaryFiles,
    /// Whether something was asked in a temporary chat that is still there.
    asked_temporarily: AtomicBool,
    /// Shared with the jobs of the store, which publish changes on its thread: the page hears of changes in the order
    /// in which they are made.
    events: Arc<AppEvents>,
    /// Shared with the jobs of the store, so that the one that marks a chat with an unseen reply knows whether the chat
    /// is open by then.
    open: OpenChat,
    /// What waits to be sent.
    pub(crate) unsent: Unsent,
    /// Whether the page has everything that it shows when it opens.
    shown: watch::Sender<bool>,
    /// Held while chats are imported: what is dropped meanwhile comes after.
    importing: tokio::sync::Mutex<()>,
    /// Of each project, what is held while its folder is read.
    reading_folders: Mutex<HashMap<ProjectId, Arc<tokio::sync::Mutex<()>>>>,
    /// Held while a reply is begun, so that a chat never has two at a time.
    asking: tokio::sync::Mutex<()>,
    /// The summaries that are being written.
    summaries: Arc<Summaries>,
    /// Sends chats that may get an automatic title to [`Conversations::make_titles`].
    untitled: mpsc::UnboundedSender<ChatId>,
    /// The receiving end of `untitled`, until [`Conversations::make_titles`] takes it.
    titles: Mutex<Option<mpsc::UnboundedReceiver<ChatId>>>,
}

impl Conversations {
    /// Conversations that are kept in `store`.
    pub(crate) fn new(
        store: ChatStore,
        replies: Arc<Replies>,
        Means { engine, models, toolbox }: Means,
        settings: Arc<AppSettings>,
        Caches { prefixes, pictures, temporary }: Caches,
        events: Arc<AppEvents>,
    ) -> Self {
        let (untitled, titles) = mpsc::unbounded_channel();
        let summaries = Arc::new(Summaries::new(Arc::clone(&events)));
        Self {
            store,
            replies,
            engine,
            models,
            settings,
            toolbox,
            prefixes,
            pictures,
            temporary,
            events,
            open: OpenChat::default(),
            unsent: Unsent::default(),
            shown: watch::Sender::default(),
            importing: tokio::sync::Mutex::new(()),
            reading_folders: Mutex::default(),
            asking: tokio::sync::Mutex::new(()),
            asked_temporarily: AtomicBool::new(false),
            summaries,
            untitled,
            titles: Mutex::new(Some(titles)),
        }
    }

    /// What is said of chats, in the language of whoever uses the app.
    pub(crate) fn texts(&self) -> &'static Texts {
        Texts::preferred(&self.settings.current().preferences)
    }

    /// Adds what the page shows of conversations when it opens. From then on the store is looked after in the
    /// background.
    pub(crate) async fn complete(&self, mut snapshot: Snapshot) -> Result<Snapshot, ErrorReport> {
        snapshot.trouble = self.store.trouble().await;
        if snapshot.trouble.is_none() {
            let (open, mut whole) = (self.open.clone(), snapshot.clone());
            let stored = self.store.call(move |store| {
                let OpenPlace { navigation, chat } = open.place();
                whole.navigation = navigation;
                let stored = chat.filter(|&chat| !is_temporary(chat));
                whole.open = match stored.map(|chat| store.open_chat(chat)).transpose() {
                    // As where other chats have taken the place of damaged ones.
                    Err(ChatsError::UnknownChat { id }) => {
                        open.leave(id);
                        None
                    }
                    opened => opened?,
                };
                whole.chats = store.chat_page(None, None, CHATS_AT_FIRST)?;
                whole.tags = store.tags()?;
                whole.presets = store.presets()?;
                whole.deleted_presets = store.deleted_presets();
                whole.prompts = store.prompts()?;
                whole.projects = store.projects()?;
                whole.deleted_projects = store.deleted_projects()?;
                whole.deletions = store.deletions()?;
                whole.draft = store.draft(None)?;
                Ok(whole)
            });
            snapshot = match stored.await {
                Ok(whole) => whole,
                // It may be that this was the first to meet damage.
                Err(error) => match self.store.trouble().await {
                    Some(trouble) => Snapshot { trouble: Some(trouble), ..snapshot },
                    None => return Err(error),
                },
            };
        }
        if let Some(chat) = self.open_chat().chat.filter(|&chat| is_temporary(chat)) {
            snapshot.open = self.store.call_for(chat, move |store| store.open_chat(chat)).await.ok();
        }
        if snapshot.trouble.is_some() {
            snapshot.navigation = self.open_chat().navigation;
        }
        snapshot.summaries = self.summaries.running();
        self.shown.send_replace(true);
        Ok(snapshot)
    }
}
