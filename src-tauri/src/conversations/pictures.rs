//! Pictures of messages: from the file that a person hands over into the store, and from there to what a model reads.

use std::path::PathBuf;

use foretoken_chats::{ChatsError, PictureFiles, Store};
use foretoken_host::InputFor;
use foretoken_protocol::{
    ChatInput, ChatMessage, Content, ContentPart, EngineState, ErrorReport, Input, Message, MessageId,
    MessagePicture, ModelInfo, PartialReply, PictureDetail, PictureInput, Role,
};
use thiserror::Error;

use crate::blocking::blocking;
use crate::conversations::Conversations;
use crate::pictures::Look;

#[cfg(test)]
mod tests;

/// Why there is nothing to show of a picture.
#[derive(Debug, Error)]
enum PictureError {
    #[error("The file of this picture is gone.")]
    Missing,
    #[error("The file of this picture cannot be read: {0}.")]
    Unread(std::io::Error),
    #[error("{} cannot be written: {source}.", to.display())]
    NotSaved { to: PathBuf, source: std::io::Error },
    #[error("A picture of {width} × {height} pixels is one that no model reads.")]
    NoSize { width: u32, height: u32 },
}

impl From<PictureError> for ErrorReport {
    fn from(error: PictureError) -> Self {
        let (code, hint) = match &error {
            PictureError::Missing => ("picture_missing", "Add it again, if you still have it elsewhere."),
            PictureError::Unread(_) => ("picture_not_read", "Check that you may read the app's files."),
            PictureError::NotSaved { .. } => {
                ("picture_not_saved", "Choose another folder, or make room on the disk.")
            }
            PictureError::NoSize { .. } => ("picture_size", "Add a picture that is less narrow."),
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// What was said, up to what is to be answered.
#[derive(Debug, Clone)]
pub(crate) struct Conversation(Vec<Said>);

/// A message and its pictures.
#[derive(Debug, Clone)]
struct Said {
    message: ChatMessage,
    pictures: Vec<Shown>,
}

/// A picture of a message.
#[derive(Debug, Clone)]
struct Shown {
    picture: MessagePicture,
    /// The file of what a model reads of it, where there is one.
    pixels: Option<PathBuf>,
}

impl Conversation {
    /// One question.
    pub(crate) fn question(text: String) -> Self {
        Self(vec![Said { message: ChatMessage::user(text), pictures: Vec::new() }])
    }

    /// The messages of a chat up to and including `last`.
    pub(crate) fn of(store: &Store, last: MessageId) -> Result<Self, ChatsError> {
        let settings = store.chat_settings(store.chat_of(last)?)?;
        let instructions = Some(settings.system_prompt).filter(|prompt| !prompt.trim().is_empty());
        // A reply that never came to an answer would teach the model to say nothing.
        let said = store
            .path_to(last)?
            .into_iter()
            .filter(|message| message.role != Role::Assistant || !message.text.is_empty())
            .map(|Message { role, text, pictures, .. }| {
                let shown = |picture| Shown { picture, pixels: None };
                Said {
                    message: ChatMessage::new(role, text),
                    pictures: pictures.into_iter().map(shown).collect(),
                }
            });
        let instructions =
            instructions.map(|prompt| Said { message: ChatMessage::system(prompt), pictures: Vec::new() });
        Ok(Self(instructions.into_iter().chain(said).collect()))
    }

    /// What was said last, without pictures.
    pub(crate) fn last_text(&self) -> String {
        self.0.last().map(|said| said.message.content().into_owned()).unwrap_or_default()
    }

    /// As a model reads it: pictures that it cannot see, or that are gone, are named.
    pub(crate) fn read_by(&self, model: &ModelInfo) -> Vec<ChatMessage> {
        let sees = matches!(*model.pictures, PictureInput::Available { .. });
        self.0.iter().map(|said| said.read(sees)).collect()
    }

    /// The same for the model that comes to answer, which goes on with a reply where there is one.
    pub(crate) fn input(self, resume: Option<PartialReply>) -> InputFor {
        InputFor::model(move |model| {
            Input::Chat(ChatInput { messages: self.read_by(model), resume, ..ChatInput::default() })
        })
    }
}

impl Said {
    fn read(&self, sees: bool) -> ChatMessage {
        if self.pictures.is_empty() {
            return self.message.clone();
        }
        let part = |shown: &Shown| {
            let name = &shown.picture.name;
            match &shown.pixels {
                Some(pixels) if sees => ContentPart::Image { pixels: pixels.clone() },
                Some(_) => ContentPart::Text { text: format!("[picture: {name}]\n") },
                None => ContentPart::Text { text: format!("[picture: {name}, missing]\n") },
            }
        };
        let mut parts: Vec<ContentPart> = self.pictures.iter().map(part).collect();
        let text = self.message.content().into_owned();
        if !text.is_empty() {
            parts.push(ContentPart::Text { text });
        }
        ChatMessage::User { content: Content::Parts(parts).joined() }
    }
}

impl Conversations {
    /// Adds a picture, of which these are the bytes, for a message or a draft to have. Returns it with what people
    /// should know of it.
    pub(crate) async fn add_picture(
        &self,
        bytes: Vec<u8>,
        name: String,
    ) -> Result<(MessagePicture, Vec<String>), ErrorReport> {
        let detail = PictureDetail::default();
        let decoded = self.pictures.decode(bytes.clone(), &name, self.look(detail)).await?;
        let files = self.picture_files().await?;
        let (facts, view) = (decoded.facts.clone(), decoded.view.clone());
        let kept = blocking(move || files.keep(&bytes, &view, &facts)).await?;
        let picture = self.store.call(move |store| store.add_picture(&kept, &name, detail)).await?;
        let notes = decoded.facts.notes.iter().map(|note| format!("{}: {note}", picture.name)).collect();
        if let Err(error) = self.pictures.keep(&picture.hash, decoded).await {
            tracing::info!("a picture will be decoded again: {error}");
        }
        Ok((picture, notes))
    }

    /// A picture in another detail.
    pub(crate) fn in_detail(
        &self,
        picture: MessagePicture,
        detail: PictureDetail,
    ) -> Result<MessagePicture, ErrorReport> {
        let MessagePicture { width, height, .. } = picture;
        let tokens = self.look(detail).tokens(width, height);
        let tokens = tokens.ok_or(PictureError::NoSize { width, height })?;
        Ok(MessagePicture { detail, tokens, ..picture })
    }

    /// What people see of a picture, and whether it is a PNG; a JPEG otherwise.
    pub(crate) async fn picture_view(&self, hash: String) -> Result<(Vec<u8>, bool), ErrorReport> {
        let view = self.picture_files().await?.view(&hash).ok_or(PictureError::Missing)?;
        let is_png = view.extension().is_some_and(|ending| ending == "png");
        let bytes = blocking(move || std::fs::read(view)).await.map_err(PictureError::Unread)?;
        Ok((bytes, is_png))
    }

    /// Copies the file of a picture as it was given.
    pub(crate) async fn save_picture(&self, hash: &str, to: PathBuf) -> Result<(), ErrorReport> {
        let original = self.picture_files().await?.original(hash).ok_or(PictureError::Missing)?;
        let copied = blocking(move || match std::fs::copy(original, &to) {
            Ok(_) => Ok(()),
            Err(source) => Err(PictureError::NotSaved { to, source }),
        });
        Ok(copied.await?)
    }

    /// Has the pictures of a question ready for the model, if it sees, so that none goes unseen for want of room or
    /// time. One whose file is gone is named later.
    pub(crate) async fn prepare(&self, pictures: &[MessagePicture]) -> Result<(), ErrorReport> {
        let blind = match self.engine.state() {
            EngineState::Ready { model, .. } => {
                matches!(*model.pictures, PictureInput::Unavailable { .. })
            }
            _ => false,
        };
        if pictures.is_empty() || blind {
            return Ok(());
        }
        let files = self.picture_files().await?;
        for picture in pictures {
            if let Some(original) = files.original(&picture.hash) {
                self.pictures.pixels(picture, &original, self.look(picture.detail)).await?;
            }
        }
        Ok(())
    }

    /// Has the pictures of a conversation ready for a model. One that cannot be decoded any more counts as missing.
    pub(crate) async fn with_pictures(&self, mut conversation: Conversation) -> Conversation {
        let Ok(files) = self.picture_files().await else { return conversation };
        for said in &mut conversation.0 {
            for Shown { picture, pixels } in &mut said.pictures {
                let Some(original) = files.original(&picture.hash) else { continue };
                let ready = self.pictures.pixels(picture, &original, self.look(picture.detail)).await;
                *pixels = ready.inspect_err(|error| tracing::warn!("a model does not see it: {error}")).ok();
            }
        }
        conversation
    }

    fn look(&self, detail: PictureDetail) -> Look {
        let state = self.engine.state();
        let model = match &state {
            EngineState::Ready { model, .. } => Some(&**model),
            _ => None,
        };
        Look::new(detail, model)
    }

    async fn picture_files(&self) -> Result<PictureFiles, ErrorReport> {
        self.store.call(|store| Ok(store.picture_files())).await
    }
}
