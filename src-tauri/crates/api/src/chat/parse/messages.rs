//! The messages of a request, made to fit what chat templates of the family take: one system message at most, and that
//! first; a user message somewhere; texts alone.

use foretoken_protocol::{ChatMessage, PartialReply, Role};
use serde_json::Value;

use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};

/// That something of an earlier turn is no text, and is left out.
const WARNING: &str = "image-left-out";
/// That a message had the name of who wrote it, which templates have no place for.
const NAME_WARNING: &str = "name-left-out";

/// Messages as the engine takes them.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) messages: Vec<ChatMessage>,
    /// The last message, where that is the model's: it is gone on with.
    pub(super) resume: Option<PartialReply>,
    pub(super) warnings: Vec<&'static str>,
}

/// A message as it was given.
struct Given {
    role: Role,
    text: String,
    thinking: String,
    /// Whether something of it is no text.
    other: Option<&'static str>,
    /// Whether it says who of several wrote it.
    named: bool,
}

/// Reads the messages of a request.
pub(super) fn read(values: Vec<Value>) -> Result<Messages, ApiError> {
    let mut given = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        given.push(one(&format!("messages[{index}]"), value)?);
    }
    let mut all = Messages::default();
    for message in &given {
        if message.other.is_some() {
            all.warn(WARNING);
        }
        if message.named {
            all.warn(NAME_WARNING);
        }
    }
    if let Some(last) = given.pop_if(|last| last.role == Role::Assistant) {
        let thought_through = true;
        all.resume = Some(PartialReply { thinking: last.thinking, answer: last.text, thought_through });
    }
    let Some(question) = given.iter().rposition(|message| message.role == Role::User) else {
        return Err(invalid("messages", "there is no user message to answer"));
    };
    for (index, message) in given.into_iter().enumerate() {
        if let Some(field) = message.other
            && index == question
        {
            let field = format!("messages[{index}].content ({field})");
            return Err(ApiError::Unsupported { field, hint: "The model reads text only.".into() });
        }
        all.push(message.role, message.text);
    }
    Ok(all)
}

impl Messages {
    fn warn(&mut self, warning: &'static str) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Adds a message. Instructions in the middle stay where they are, inside what people say: at the front they would
    /// change all that was read before.
    fn push(&mut self, role: Role, content: String) {
        let before = self.messages.last_mut();
        match (role, before) {
            (Role::System, Some(system)) if system.role == Role::System => {
                system.content.push_str("\n\n");
                system.content.push_str(&content);
            }
            (Role::System, Some(user)) if user.role == Role::User => {
                user.content.push_str("\n\n");
                user.content.push_str(&note(&content));
            }
            (Role::System, Some(_)) => {
                self.messages.push(ChatMessage { role: Role::User, content: note(&content) });
            }
            _ => self.messages.push(ChatMessage { role, content }),
        }
    }
}

fn note(text: &str) -> String {
    format!("<system-note>\n{text}\n</system-note>")
}

fn one(place: &str, value: Value) -> Result<Given, ApiError> {
    let mut fields = Fields::at(place, value)?;
    let role = match fields.string("role")?.as_deref() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => return Err(no_tools(fields.name("role"))),
        Some(other) => {
            let reason = format!("it is {other:?}, not system, developer, user or assistant");
            return Err(fields.refuse("role", reason));
        }
        None => return Err(fields.refuse("role", "it is missing")),
    };
    if fields.array("tool_calls")?.is_some_and(|calls| !calls.is_empty()) {
        return Err(no_tools(fields.name("tool_calls")));
    }
    if fields.take("function_call").is_some() {
        return Err(no_tools(fields.name("function_call")));
    }
    let named = fields.take("name").is_some();
    let thinking = match fields.string("reasoning_content")? {
        Some(thinking) => thinking,
        None => fields.string("reasoning")?.unwrap_or_default(),
    };
    let content = fields.name("content");
    let (text, other) = match fields.take("content") {
        None if role == Role::Assistant => (String::new(), None),
        None => return Err(invalid(&content, "it is missing")),
        Some(Value::String(text)) => (text, None),
        Some(Value::Array(parts)) => joined(&content, parts)?,
        Some(other) => {
            return Err(invalid(&content, format!("it is {}, not a string or parts", kind(&other))));
        }
    };
    Ok(Given { role, text, thinking, other, named })
}

fn no_tools(field: String) -> ApiError {
    ApiError::Unsupported { field, hint: "Tools are not offered yet.".into() }
}

/// The texts of parts, with nothing between them, and what else there is.
fn joined(place: &str, parts: Vec<Value>) -> Result<(String, Option<&'static str>), ApiError> {
    let (mut text, mut other) = (String::new(), None);
    for (index, part) in parts.into_iter().enumerate() {
        let mut part = Fields::at(&format!("{place}[{index}]"), part)?;
        let kind = part.string("type")?;
        let (key, left_out) = match kind.as_deref() {
            Some("text" | "input_text" | "output_text") => ("text", None),
            Some("refusal") => ("refusal", None),
            Some("image_url" | "input_image" | "image") => ("", Some("image")),
            Some("input_audio" | "audio") => ("", Some("audio")),
            Some("file" | "input_file" | "document" | "video_url") => ("", Some("file")),
            _ => return Err(part.refuse("type", "it is not \"text\"")),
        };
        if let Some(kind) = left_out {
            text.push_str(&format!("[{kind} left out]"));
            other = left_out;
            continue;
        }
        let words = part.string(key)?.ok_or_else(|| part.refuse(key, "it is missing"))?;
        text.push_str(&words);
    }
    Ok((text, other))
}
