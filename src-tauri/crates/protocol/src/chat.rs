//! The messages of a chat as the engine gets them, the parts of a reply, and the beginning of a reply to be continued.

use serde::{Deserialize, Serialize};
use specta::Type;

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions that hold for the whole chat.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// One message of a chat, as the chat template sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChatMessage {
    /// Who wrote it.
    pub role: Role,
    /// Its text, without the model's thinking.
    pub content: String,
}

/// Which part of a reply a piece of text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Inside the model's thinking block.
    Thinking,
    /// The reply itself.
    Answer,
}

/// The beginning of a reply that is to be continued.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
pub struct PartialReply {
    /// The thinking written so far.
    pub thinking: String,
    /// The answer written so far.
    pub answer: String,
    /// Whether the thinking is over although no answer has begun.
    #[serde(default)]
    pub thought_through: bool,
}
