//! How the next reply is written: by which model, with which settings and instructions.

use std::sync::Arc;

use foretoken_chats::{ChatsError, Store};
use foretoken_host::SettingsFor;
use foretoken_protocol::{ChatId, GenerationSettings};

use crate::conversations::Conversations;
use crate::models::Models;

/// What is known about the next reply before the engine begins it: the name of the selected model, and the app's
/// settings, which hold where the chat has none of its own.
#[derive(Clone)]
pub(super) struct Answering {
    models: Arc<Models>,
    pub(super) model: String,
    generation: GenerationSettings,
    /// The instructions that hold for all chats.
    pub(super) standing: String,
}

/// How a reply is written.
pub(super) struct Manner {
    /// The ones that the reply is stored with before it is known which model begins it.
    pub(super) expected: GenerationSettings,
    /// The ones that the engine is given, which depend on the model that begins the reply.
    pub(super) settings: SettingsFor,
}

impl Answering {
    /// How the next reply in a chat is written. Where the chat follows the app, the sampling is that of the model which
    /// comes to write it.
    pub(super) fn manner(&self, store: &Store, chat: ChatId) -> Result<Manner, ChatsError> {
        if let Some(own) = store.chat_settings(chat)?.generation {
            return Ok(Manner { expected: own.clone(), settings: own.into() });
        }
        let (models, general) = (Arc::clone(&self.models), self.generation.clone());
        let settings = SettingsFor::model(move |model| GenerationSettings {
            sampling: models.sampling_of(model),
            ..general
        });
        Ok(Manner { expected: self.generation.clone(), settings })
    }
}

impl Conversations {
    /// The model that is chosen now, and the app's settings.
    pub(super) fn answering(&self) -> Answering {
        let settings = self.settings.current();
        let model = self.models.name(&self.models.selected(&settings));
        let standing = settings.preferences.standing_instructions;
        Answering { models: Arc::clone(&self.models), model, generation: settings.generation, standing }
    }
}
