//! A conversation file of LM Studio.
//!
//! It is a list of messages, each with its versions, one of them selected. What follows a message is taken to follow
//! the version that is selected there. Its pictures lie in a folder of their own, under the names by which messages
//! name them.

use std::path::Path;

use foretoken_protocol::{ChatSettings, FinishReason, MessagePicture, MessageStatus, Role};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;

use super::importer::{Aside, Importer, or_default};
use super::record::{ChatRecord, MessageRecord, number_after};
use crate::sql::now;
use crate::title::one_line;

/// Adds the chat of a file.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    importer: &mut Importer<'_>,
) -> Result<(), D::Error> {
    let conversation = Conversation::deserialize(deserializer)?;
    let record = conversation.into_record(&mut importer.aside).map_err(D::Error::custom)?;
    importer.add(record)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Conversation {
    name: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pinned: bool,
    created_at: Option<f64>,
    user_last_messaged_at: Option<f64>,
    assistant_last_messaged_at: Option<f64>,
    system_prompt: Option<String>,
    per_chat_prediction_config: Option<Config>,
    client_input: Option<String>,
    last_used_model: Option<UsedModel>,
    messages: Vec<VersionedMessage>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default, deserialize_with = "or_default")]
    fields: Vec<Field>,
}

#[derive(Deserialize)]
struct Field {
    key: String,
    #[serde(default, deserialize_with = "or_default")]
    value: Value,
}

#[derive(Deserialize)]
struct UsedModel {
    identifier: Option<String>,
}

/// The versions of one message. Older files have only one, whose fields stand here.
#[derive(Deserialize)]
struct VersionedMessage {
    #[serde(default, deserialize_with = "or_default")]
    versions: Vec<Version>,
    #[serde(default, rename = "currentlySelected", deserialize_with = "or_default")]
    selected: usize,
    role: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    content: Content,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    role: String,
    #[serde(default, deserialize_with = "or_default")]
    content: Content,
    #[serde(default, deserialize_with = "or_default")]
    steps: Vec<Step>,
    sender_info: Option<Sender>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sender {
    sender_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a content is neither a text nor a list of parts with a type")]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Parts(Vec::new())
    }
}

#[derive(Deserialize)]
struct ContentPart {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    #[serde(rename = "fileIdentifier")]
    file: Option<String>,
    #[serde(rename = "fileType")]
    file_type: Option<String>,
}

/// A part of a reply: text, thinking, or what a tool did.
#[derive(Deserialize)]
struct Step {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, deserialize_with = "or_default")]
    content: Content,
    style: Option<Style>,
}

#[derive(Deserialize)]
struct Style {
    #[serde(rename = "type")]
    kind: String,
}

impl Conversation {
    fn into_record(self, aside: &mut Aside<'_>) -> Result<ChatRecord, String> {
        let created_at = milliseconds(self.created_at).unwrap_or_else(now);
        let last = [self.user_last_messaged_at, self.assistant_last_messaged_at];
        let updated_at = last.into_iter().filter_map(milliseconds).max().unwrap_or(created_at);
        let model = self.last_used_model.and_then(|model| model.identifier);
        let mut messages: Vec<MessageRecord> = Vec::new();
        let mut shown = None;
        for (before, message) in self.messages.into_iter().enumerate() {
            let number = number_after(before);
            let VersionedMessage { mut versions, selected, role, content } = message;
            versions.extend(role.map(|role| Version { role, content, steps: Vec::new(), sender_info: None }));
            if selected >= versions.len() {
                return Err(format!("message {number} has no version {}", selected + 1));
            }
            let parent = shown;
            for (index, version) in versions.into_iter().enumerate() {
                let message = version
                    .into_record(parent, model.as_ref(), created_at, aside)
                    .map_err(|role| format!("message {number} is written by {role:?}"))?;
                messages.push(message);
                if index == selected {
                    shown = Some(number_after(messages.len() - 1));
                }
            }
        }
        let title = one_line(self.name.as_deref().unwrap_or_default());
        let question = messages.iter().find(|message| message.role == Role::User);
        let configured = self.per_chat_prediction_config.into_iter().flat_map(|config| config.fields);
        let configured = configured
            .filter(|field| field.key == "llm.prediction.systemPrompt")
            .find_map(|field| field.value.as_str().map(str::to_owned));
        Ok(ChatRecord {
            named: !title.is_empty(),
            title: match title.is_empty() {
                true => question.map_or_else(String::new, MessageRecord::title),
                false => title,
            },
            pinned: self.pinned,
            created_at,
            updated_at,
            settings: ChatSettings {
                system_prompt: configured.or(self.system_prompt).unwrap_or_default(),
                ..ChatSettings::default()
            },
            draft: self.client_input.unwrap_or_default(),
            shown,
            messages,
            ..ChatRecord::default()
        })
    }
}

impl Version {
    /// Fails with the role if it is not known.
    fn into_record(
        self,
        parent: Option<u32>,
        model: Option<&String>,
        created_at: u64,
        aside: &mut Aside<'_>,
    ) -> Result<MessageRecord, String> {
        let role = match self.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => return Err(self.role),
        };
        let mut pictures = Vec::new();
        let own = Some(&mut pictures).filter(|_| role == Role::User);
        let (mut text, mut thinking) = (self.content.text(own, aside), String::new());
        for step in self.steps {
            match (step.kind.as_str(), step.style.as_ref().map(|style| style.kind.as_str())) {
                ("contentBlock", Some("thinking")) => join(&mut thinking, &step.content.text(None, aside)),
                ("contentBlock", _) => join(&mut text, &step.content.text(None, aside)),
                ("debugInfoBlock", _) => {}
                _ => aside.left_out += 1,
            }
        }
        let sender = self.sender_info.and_then(|sender| sender.sender_name);
        Ok(MessageRecord {
            parent,
            role,
            text,
            pictures,
            thinking: without_tags(&thinking).to_owned(),
            edited: false,
            status: MessageStatus::Finished { reason: FinishReason::Stop },
            stats: None,
            error: None,
            model: sender.or_else(|| model.cloned()).filter(|_| role == Role::Assistant),
            settings: None,
            provenance: None,
            steps: Vec::new(),
            edit: None,
            created_at,
        })
    }
}

impl Content {
    /// Its text. Pictures go to the others of the message, where it has some.
    fn text(&self, mut pictures: Option<&mut Vec<MessagePicture>>, aside: &mut Aside<'_>) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => {
                let mut text = String::new();
                for part in parts {
                    match (part.kind.as_str(), &part.text) {
                        ("text", Some(words)) => join(&mut text, words),
                        ("file", _) if part.file_type.as_deref() == Some("image") => {
                            let (find, name) = (part.file.as_deref(), |file: &Path| name_of(file));
                            let is_there = match pictures.as_deref_mut() {
                                Some(pictures) => aside.attach(pictures, |beside| beside.called(find?), name),
                                None => {
                                    aside.left_out += 1;
                                    false
                                }
                            };
                            if !is_there {
                                join(&mut text, "[image]");
                            }
                        }
                        ("file", _) => {
                            aside.left_out += 1;
                            join(&mut text, "[attachment]");
                        }
                        _ => aside.left_out += 1,
                    }
                }
                text
            }
        }
    }
}

/// A file's name without the time at which it was added.
fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match name.split_once(" - ") {
        Some((time, rest)) if time.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
        _ => name.into_owned(),
    }
}

/// Adds a paragraph.
fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// Thinking without the marks around it.
fn without_tags(thinking: &str) -> &str {
    let inner = thinking.trim();
    let inner = inner.strip_prefix("<think>").unwrap_or(inner);
    inner.strip_suffix("</think>").unwrap_or(inner).trim()
}

/// Milliseconds since 1970.
fn milliseconds(time: Option<f64>) -> Option<u64> {
    // A cast of a float stops at the bounds of the integer.
    time.map(|time| time.round().min(i64::MAX as f64 / 2.0) as u64)
}
