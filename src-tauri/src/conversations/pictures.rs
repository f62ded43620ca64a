//! Pictures of messages: from the file that a person hands over into the store, and from there to what a model reads.

use std::path::PathBuf;
use std::sync::Arc;

use foretoken_chats::{ChatsError, PictureFiles, Store, is_temporary};
use foretoken_host::{Engine, InputFor};
use foretoken_protocol::{
    ChatId, ChatInput, ChatMessage, Content, ContentPart, EngineState, ErrorReport, Input, Message,
    MessageId, MessagePicture, ModelInfo, PartialReply, PictureDetail, PictureInput, Role, UnseenPictures,
};
use thiserror::Error;
use tokio::sync::watch;

use crate::blocking::blocking;
use crate::chat_store::ChatStore;
use crate::conversations::Conversations;
use crate::conversations::call_results::messages;
use crate::conversations::chat_tools::ChatTools;
use crate::pictures::{Look, Pictures};

#[cfg(test)]
pub(super) mod tests;

/// The part of the context that stays for the reply, one in so many.
const REPLY: u64 = 8;
/// The most tokens that a chat template writes around a turn.
const TURN: u64 = 16;
/// The tokens around a picture.
const MARKS: u64 = 2;

/// What stands before the summary of the older part of a chat.
const SUMMARY_HEAD: &str = "This conversation goes on from a longer one. What was said before, in short:";

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
pub(crate) struct Conversation {
    /// Whose it is; `None` of a question alone.
    chat: Option<ChatId>,
    said: Vec<Said>,
}

/// A message and its pictures.
#[derive(Debug, Clone)]
struct Said {
    message: ChatMessage,
    pictures: Vec<MessagePicture>,
}

/// What a model is given of a picture.
#[derive(Debug, Clone)]
enum Shown {
    /// The file of what it sees.
    Pixels(PathBuf),
    /// What it is called.
    Name,
    /// That it is missing.
    Missing,
}

impl Conversation {
    /// One question.
    pub(crate) fn question(text: String) -> Self {
        Self { chat: None, said: vec![Said { message: ChatMessage::user(text), pictures: Vec::new() }] }
    }

    /// The messages of a chat up to and including `last`, behind its instructions. Those of all chats, `standing`, come
    /// first, then those of its project: what one chat is told may say more. A summary of what was said before comes
    /// last: templates want all instructions in one place.
    pub(crate) fn of(store: &Store, last: MessageId, standing: &str) -> Result<Self, ChatsError> {
        let chat = store.chat_of(last)?;
        let settings = store.chat_settings(chat)?;
        let standing = if settings.without_standing { "" } else { standing };
        let (summaries, said): (Vec<Message>, Vec<Message>) =
            store.path_to(last)?.into_iter().partition(Message::is_summary);
        let summaries = summaries.into_iter().map(|summary| format!("{SUMMARY_HEAD}\n\n{}", summary.text));
        let project = store.project_instructions(chat)?;
        let instructions: Vec<String> = [standing.to_owned(), project, settings.system_prompt]
            .into_iter()
            .chain(summaries)
            .filter(|prompt| !prompt.trim().is_empty())
            .collect();
        let instructions = Some(instructions.join("\n\n")).filter(|prompt| !prompt.is_empty());
        let system = instructions.map(|prompt| Said::text(ChatMessage::system(prompt)));
        let mut all: Vec<Said> = system.into_iter().collect();
        for Message { id, role, text, pictures, steps, .. } in said {
            match role {
                Role::Assistant if !steps.is_empty() => {
                    all.extend(messages(&store.steps(id)?).into_iter().map(Said::text));
                }
                // A reply that never came to an answer would teach the model to say nothing.
                Role::Assistant if text.is_empty() => {}
                _ => all.push(Said { message: ChatMessage::new(role, text), pictures }),
            }
        }
        Ok(Self { chat: Some(chat), said: all })
    }

    /// With what the model has written since and what its calls gave.
    #[must_use]
    pub(crate) fn and(mut self, rounds: Vec<ChatMessage>) -> Self {
        self.said.extend(rounds.into_iter().map(Said::text));
        self
    }

    /// What was said last, without pictures.
    pub(crate) fn last_text(&self) -> String {
        self.said.last().map(|said| said.message.content().into_owned()).unwrap_or_default()
    }

    /// Its pictures, in order.
    fn pictures(&self) -> impl DoubleEndedIterator<Item = &MessagePicture> {
        self.said.iter().flat_map(|said| &said.pictures)
    }

    /// How many of its pictures, the last ones, belong to the last question.
    fn asked_about(&self) -> usize {
        let is_question = |said: &&Said| matches!(said.message, ChatMessage::User { .. });
        self.said.iter().rfind(is_question).map_or(0, |said| said.pictures.len())
    }

    /// As a model reads it that is given this of the pictures, in their order.
    fn read(&self, shown: impl IntoIterator<Item = Shown>) -> Vec<ChatMessage> {
        let mut shown = shown.into_iter();
        self.said.iter().map(|said| said.read(&mut shown)).collect()
    }
}

impl Said {
    fn text(message: ChatMessage) -> Self {
        Self { message, pictures: Vec::new() }
    }

    fn read(&self, shown: &mut impl Iterator<Item = Shown>) -> ChatMessage {
        if self.pictures.is_empty() {
            return self.message.clone();
        }
        let part = |(MessagePicture { name, .. }, shown): (&MessagePicture, Shown)| match shown {
            Shown::Pixels(pixels) => ContentPart::Image { pixels },
            Shown::Name => ContentPart::Text { text: format!("[picture: {name}]\n") },
            Shown::Missing => ContentPart::Text { text: format!("[picture: {name}, missing]\n") },
        };
        let mut parts: Vec<ContentPart> = self.pictures.iter().zip(shown).map(part).collect();
        let text = self.message.content().into_owned();
        if !text.is_empty() {
            parts.push(ContentPart::Text { text });
        }
        ChatMessage::User { content: Content::Parts(parts).joined() }
    }
}

/// What a model reads of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Read {
    pub(crate) messages: Vec<ChatMessage>,
    /// Pictures that it reads the names of.
    pub(crate) unseen: UnseenPictures,
}

/// Has pictures ready for the models that read them.
#[derive(Clone)]
struct Gallery {
    store: ChatStore,
    pictures: Pictures,
    engine: Arc<Engine>,
}

impl Gallery {
    /// A conversation as `model` reads it, with the reply that is to be gone on with behind it. Pictures that it cannot
    /// see, that are gone, or that its context has no room for, are named; of these the oldest. They are not decoded.
    /// So are those of earlier turns that cannot be decoded; nothing is answered about one that cannot.
    async fn read(
        &self,
        conversation: &Conversation,
        resume: Option<&PartialReply>,
        model: &ModelInfo,
    ) -> Result<Read, ErrorReport> {
        let mut unseen = UnseenPictures::default();
        if conversation.pictures().next().is_none() {
            return Ok(Read { messages: conversation.read([]), unseen });
        }
        let files = self.store.call_for(conversation.chat, |store| Ok(store.picture_files())).await?;
        let cannot = matches!(*model.pictures, PictureInput::Unavailable { .. });
        let unfit = if cannot { 0 } else { self.unfit(conversation, resume, model).await };
        let earlier = conversation.pictures().count() - conversation.asked_about();
        let mut shown = Vec::new();
        for (number, picture) in conversation.pictures().enumerate() {
            let Some(original) = files.original(&picture.hash) else {
                unseen.missing += 1;
                shown.push(Shown::Missing);
                continue;
            };
            if cannot || number < unfit {
                *if cannot { &mut unseen.no_sight } else { &mut unseen.no_room } += 1;
                shown.push(Shown::Name);
                continue;
            }
            let look = Look::new(picture.detail, Some(model));
            shown.push(match self.pictures.pixels(picture, &original, look).await {
                Ok(pixels) => Shown::Pixels(pixels),
                Err(error) if number >= earlier => return Err(error),
                Err(error) => {
                    tracing::warn!("a picture of an earlier turn is not seen: {error}");
                    unseen.undecoded += 1;
                    Shown::Missing
                }
            });
        }
        Ok(Read { messages: conversation.read(shown), unseen })
    }

    /// How many of the first pictures the context has no room for, beside all that is said and a part for the reply.
    /// Those that are asked about always count as seen: the engine refuses them with words where they do not fit.
    async fn unfit(
        &self,
        conversation: &Conversation,
        resume: Option<&PartialReply>,
        model: &ModelInfo,
    ) -> usize {
        let tokens = |picture: &MessagePicture| {
            let look = Look::new(picture.detail, Some(model));
            look.tokens(picture.width, picture.height).map_or(0, |tokens| u64::from(tokens) + MARKS)
        };
        let context = u64::from(model.context_length);
        let room = context - context / REPLY;
        // No token is less than a byte, and to count them takes a while.
        let written = resume.map_or(0, |reply| reply.thinking.len() + reply.answer.len());
        let said = conversation.said.iter().map(|said| said.message.content().len() as u64 + TURN);
        let bytes = said.sum::<u64>() + written as u64;
        if bytes + conversation.pictures().map(tokens).sum::<u64>() <= room {
            return 0;
        }
        let messages = conversation.read(conversation.pictures().map(|_| Shown::Name));
        let input = ChatInput { messages, resume: resume.cloned(), ..ChatInput::default() };
        let text = self.engine.count_input(Input::Chat(input), true).await.map_or(bytes, u64::from);
        let fit = fitting(conversation.pictures().rev().map(tokens), room.saturating_sub(text));
        let all = conversation.pictures().count();
        let unfit = all - fit.max(conversation.asked_about());
        if unfit > 0 {
            tracing::info!("{unfit} of {all} pictures are named, since the context has no room for them");
        }
        unfit
    }
}

/// How many of these fit in, one after the other.
fn fitting(tokens: impl Iterator<Item = u64>, mut room: u64) -> usize {
    let fits = |tokens: &u64| room.checked_sub(*tokens).map(|left| room = left).is_some();
    tokens.take_while(fits).count()
}

impl Conversations {
    /// Adds a picture, of which these are the bytes, for a message or a draft of a chat to have. Returns it with what
    /// people should know of it.
    pub(crate) async fn add_picture(
        &self,
        chat: Option<ChatId>,
        bytes: Vec<u8>,
        name: String,
    ) -> Result<(MessagePicture, Vec<String>), ErrorReport> {
        let detail = PictureDetail::default();
        let pictures = self.pictures_of(chat);
        let decoded = pictures.decode(bytes.clone(), &name, self.look(detail)).await?;
        let files = self.picture_files(chat).await?;
        let (facts, view) = (decoded.facts.clone(), decoded.view.clone());
        let kept = blocking(move || files.keep(&bytes, &view, &facts)).await?;
        let picture = self.store.call_for(chat, move |store| store.add_picture(&kept, &name, detail)).await?;
        let notes = decoded.facts.notes.iter().map(|note| format!("{}: {note}", picture.name)).collect();
        if let Err(error) = pictures.keep(&picture.hash, decoded).await {
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
        let view = self.found(|files| files.view(&hash)).await?;
        let is_png = view.extension().is_some_and(|ending| ending == "png");
        let bytes = blocking(move || std::fs::read(view)).await.map_err(PictureError::Unread)?;
        Ok((bytes, is_png))
    }

    /// Copies the file of a picture as it was given.
    pub(crate) async fn save_picture(&self, hash: &str, to: PathBuf) -> Result<(), ErrorReport> {
        let original = self.found(|files| files.original(hash)).await?;
        let copied = blocking(move || match std::fs::copy(original, &to) {
            Ok(_) => Ok(()),
            Err(source) => Err(PictureError::NotSaved { to, source }),
        });
        Ok(copied.await?)
    }

    /// Has the pictures of a question in a chat ready for the model, if it sees, so that none goes unseen for want of
    /// room or time. One whose file is gone is named later.
    pub(crate) async fn prepare(
        &self,
        pictures: &[MessagePicture],
        chat: Option<ChatId>,
    ) -> Result<(), ErrorReport> {
        let blind = match self.engine.state() {
            EngineState::Ready { model, .. } => {
                matches!(*model.pictures, PictureInput::Unavailable { .. })
            }
            _ => false,
        };
        if pictures.is_empty() || blind {
            return Ok(());
        }
        let files = self.picture_files(chat).await?;
        for picture in pictures {
            if let Some(original) = files.original(&picture.hash) {
                self.pictures_of(chat).pixels(picture, &original, self.look(picture.detail)).await?;
            }
        }
        Ok(())
    }

    /// A conversation as `model` reads it.
    pub(crate) async fn read_by(
        &self,
        conversation: &Conversation,
        model: &ModelInfo,
    ) -> Result<Read, ErrorReport> {
        self.gallery(conversation.chat).read(conversation, None, model).await
    }

    /// The same for the model that comes to answer, which goes on with a reply where there is one and may use tools;
    /// and, once it is made, what that model does not see.
    pub(crate) fn input(
        &self,
        conversation: Conversation,
        resume: Option<PartialReply>,
        tools: Option<Arc<ChatTools>>,
    ) -> (InputFor, watch::Receiver<UnseenPictures>) {
        let (unseen, watched) = watch::channel(UnseenPictures::default());
        if conversation.pictures().next().is_none() && tools.is_none() {
            let messages = conversation.read([]);
            return (Input::Chat(ChatInput { messages, resume, ..ChatInput::default() }).into(), watched);
        }
        let (gallery, conversation) = (self.gallery(conversation.chat), Arc::new(conversation));
        let input = InputFor::model(move |model| {
            let (gallery, conversation) = (gallery.clone(), Arc::clone(&conversation));
            let (resume, unseen, tools) = (resume.clone(), unseen.clone(), tools.clone());
            async move {
                let read = gallery.read(&conversation, resume.as_ref(), &model).await?;
                unseen.send_replace(read.unseen);
                let tools = match tools {
                    Some(tools) => tools.for_model(&model).await,
                    None => Vec::new(),
                };
                Ok(Input::Chat(ChatInput { messages: read.messages, resume, tools, ..ChatInput::default() }))
            }
        });
        (input, watched)
    }

    fn gallery(&self, chat: Option<ChatId>) -> Gallery {
        let (store, pictures) = (self.store.clone(), self.pictures_of(chat).clone());
        Gallery { store, pictures, engine: Arc::clone(&self.engine) }
    }

    fn look(&self, detail: PictureDetail) -> Look {
        let state = self.engine.state();
        let model = match &state {
            EngineState::Ready { model, .. } => Some(&**model),
            _ => None,
        };
        Look::new(detail, model)
    }

    /// What decodes the pictures of a chat and keeps their pixels.
    fn pictures_of(&self, chat: Option<ChatId>) -> &Pictures {
        if chat.is_some_and(is_temporary) { &self.temporary.pictures } else { &self.pictures }
    }

    async fn picture_files(&self, chat: Option<ChatId>) -> Result<PictureFiles, ErrorReport> {
        self.store.call_for(chat, |store| Ok(store.picture_files())).await
    }

    /// A file of a picture, which may be of the open chat alone if that is temporary.
    async fn found(&self, find: impl Fn(&PictureFiles) -> Option<PathBuf>) -> Result<PathBuf, ErrorReport> {
        if let Some(chat) = self.open.place().chat.filter(|&chat| is_temporary(chat))
            && let Some(file) = find(&self.picture_files(Some(chat)).await?)
        {
            return Ok(file);
        }
        Ok(find(&self.picture_files(None).await?).ok_or(PictureError::Missing)?)
    }
}
