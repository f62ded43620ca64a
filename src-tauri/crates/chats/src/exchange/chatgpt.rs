//! The `conversations.json` of a ChatGPT export.
//!
//! A conversation is a tree of nodes, most of them a message. Nodes of tools and hidden ones are passed over: what
//! follows them then follows what they followed. Thoughts stand in nodes of their own before the reply that they belong
//! to. Pictures lie beside the file, and their names begin with the ids by which messages name them.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use foretoken_protocol::{FinishReason, MessagePicture, MessageStatus, Role};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer};
use serde_json::Value;

use super::importer::{Aside, Chats, Importer, or_default};
use super::record::{ChatRecord, MessageRecord, number_after};
use crate::sql::now;
use crate::title::one_line;

/// Adds the chats of a file.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    importer: &mut Importer<'_>,
) -> Result<(), D::Error> {
    Chats { importer, convert: Conversation::into_record }.deserialize(deserializer)
}

#[derive(Deserialize)]
struct Conversation {
    title: Option<String>,
    create_time: Option<f64>,
    update_time: Option<f64>,
    mapping: BTreeMap<String, Node>,
    current_node: Option<String>,
}

#[derive(Deserialize)]
struct Node {
    message: Option<NodeMessage>,
    parent: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    children: Vec<String>,
}

#[derive(Deserialize)]
struct NodeMessage {
    author: Author,
    create_time: Option<f64>,
    content: Content,
    #[serde(default, deserialize_with = "or_default")]
    metadata: Metadata,
    recipient: Option<String>,
}

#[derive(Deserialize)]
struct Author {
    role: String,
}

#[derive(Deserialize, Default)]
struct Metadata {
    model_slug: Option<String>,
    is_visually_hidden_from_conversation: Option<bool>,
    #[serde(default, deserialize_with = "or_default")]
    attachments: Vec<Attachment>,
}

/// A file that goes with a message.
#[derive(Deserialize)]
struct Attachment {
    id: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default, deserialize_with = "or_default")]
    content_type: String,
    #[serde(default, deserialize_with = "or_default")]
    parts: Vec<Value>,
    text: Option<String>,
    language: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    thoughts: Vec<Thought>,
}

#[derive(Deserialize)]
struct Thought {
    summary: Option<String>,
    content: Option<String>,
}

impl Conversation {
    fn into_record(self, aside: &mut Aside<'_>) -> Result<ChatRecord, String> {
        let created_at = milliseconds(self.create_time.or(self.update_time)).unwrap_or_else(now);
        let title = one_line(self.title.as_deref().unwrap_or_default());
        let walk = Walk::through(&self.mapping, created_at, aside)
            .map_err(|stray| format!("“{title}”: {stray} messages follow one another in a circle"))?;
        let shown = self.current_node.and_then(|node| walk.numbers.get(node.as_str()).copied().flatten());
        let question = walk.messages.iter().find(|message| message.role == Role::User);
        Ok(ChatRecord {
            named: !title.is_empty(),
            title: match title.is_empty() {
                true => question.map_or_else(String::new, MessageRecord::title),
                false => title,
            },
            created_at,
            updated_at: milliseconds(self.update_time).unwrap_or(created_at),
            shown,
            messages: walk.messages,
            ..ChatRecord::default()
        })
    }
}

/// What a walk from the roots to the leaves has collected.
struct Walk<'a> {
    messages: Vec<MessageRecord>,
    /// Each node, with its own message or the one that it follows.
    numbers: HashMap<&'a str, Option<u32>>,
}

/// A node that is yet to be visited.
struct Visit<'a> {
    node: &'a str,
    parent: Option<u32>,
    /// Thoughts that wait for their reply.
    thinking: String,
}

impl<'a> Walk<'a> {
    /// Visits every node. Fails with the number of those that no root leads to.
    fn through(
        mapping: &'a BTreeMap<String, Node>,
        created_at: u64,
        aside: &mut Aside<'_>,
    ) -> Result<Self, usize> {
        let children = children(mapping);
        let mut walk = Self { messages: Vec::new(), numbers: HashMap::new() };
        // A stack in reverse, so that versions keep their order.
        let start = |nodes: &[&'a str], parent, thinking: &str| {
            let visit = |&node: &&'a str| Visit { node, parent, thinking: thinking.to_owned() };
            nodes.iter().rev().map(visit).collect::<Vec<_>>()
        };
        let none: &[&str] = &[];
        let after = |node| children.get(&node).map_or(none, Vec::as_slice);
        let mut stack = start(after(None), None, "");
        while let Some(Visit { node, parent, mut thinking }) = stack.pop() {
            let mut last = parent;
            let at = |message: &NodeMessage| milliseconds(message.create_time).unwrap_or(created_at);
            if let Some(message) = &mapping[node].message {
                match message.read(aside) {
                    Piece::Nothing => {}
                    Piece::Thinking(more) => join(&mut thinking, &more),
                    Piece::Said { role, text, pictures } => {
                        if role != Role::Assistant && !thinking.is_empty() {
                            last = Some(walk.push(
                                last,
                                Role::Assistant,
                                String::new(),
                                &mut thinking,
                                None,
                                at(message),
                            ));
                        }
                        let model = message.metadata.model_slug.clone().filter(|_| role == Role::Assistant);
                        last = Some(walk.push(last, role, text, &mut thinking, model, at(message)));
                        walk.messages
                            .last_mut()
                            .into_iter()
                            .for_each(|said| said.pictures = pictures.clone());
                    }
                }
                // Thoughts that no reply came of.
                if after(Some(node)).is_empty() && !thinking.is_empty() {
                    let model = message.metadata.model_slug.clone();
                    last = Some(walk.push(
                        last,
                        Role::Assistant,
                        String::new(),
                        &mut thinking,
                        model,
                        at(message),
                    ));
                }
            }
            walk.numbers.insert(node, last);
            stack.extend(start(after(Some(node)), last, &thinking));
        }
        match mapping.len() - walk.numbers.len() {
            0 => Ok(walk),
            stray => Err(stray),
        }
    }

    /// Adds a message with the thoughts that wait for it, and returns its number.
    fn push(
        &mut self,
        parent: Option<u32>,
        role: Role,
        text: String,
        thinking: &mut String,
        model: Option<String>,
        created_at: u64,
    ) -> u32 {
        self.messages.push(MessageRecord {
            parent,
            role,
            text,
            pictures: Vec::new(),
            thinking: std::mem::take(thinking),
            edited: false,
            status: MessageStatus::Finished { reason: FinishReason::Stop },
            stats: None,
            error: None,
            model,
            settings: None,
            provenance: None,
            steps: Vec::new(),
            edit: None,
            created_at,
        });
        number_after(self.messages.len() - 1)
    }
}

/// The nodes after each, and first of all (`None`), in the order in which they were written.
fn children(mapping: &BTreeMap<String, Node>) -> HashMap<Option<&str>, Vec<&str>> {
    let mut children: HashMap<Option<&str>, Vec<&str>> = HashMap::new();
    for (id, node) in mapping {
        // A parent that is not there is none.
        let parent = node.parent.as_deref().filter(|&parent| mapping.contains_key(parent));
        children.entry(parent).or_default().push(id);
    }
    for (parent, nodes) in &mut children {
        let listed = parent.map_or(&[][..], |parent| mapping[parent].children.as_slice());
        nodes.sort_by_cached_key(|&node| listed.iter().position(|child| child == node).unwrap_or(usize::MAX));
    }
    children
}

/// What a message adds to a chat.
enum Piece {
    Said { role: Role, text: String, pictures: Vec<MessagePicture> },
    Thinking(String),
    Nothing,
}

impl NodeMessage {
    fn read(&self, aside: &mut Aside<'_>) -> Piece {
        let role = match self.author.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            // Instructions of the program, and what tools say.
            other => {
                aside.left_out += u32::from(other != "system");
                return Piece::Nothing;
            }
        };
        if self.metadata.is_visually_hidden_from_conversation == Some(true) {
            return Piece::Nothing;
        }
        if self.recipient.as_deref().is_some_and(|recipient| recipient != "all") {
            aside.left_out += 1;
            return Piece::Nothing;
        }
        let mut pictures = Vec::new();
        let text = match self.content.content_type.as_str() {
            "thoughts" => return Piece::Thinking(self.content.thinking()),
            // How long it thought, in words.
            "reasoning_recap" => return Piece::Nothing,
            "code" => {
                let language = self.content.language.as_deref().filter(|&language| language != "unknown");
                let code = self.content.text.as_deref().unwrap_or_default();
                format!("```{}\n{code}\n```", language.unwrap_or_default())
            }
            "text" | "multimodal_text" => {
                // Only the person's messages have pictures.
                let pictures = Some(&mut pictures).filter(|_| role == Role::User);
                self.content.text(&self.metadata.attachments, pictures, aside)
            }
            _ => {
                aside.left_out += 1;
                return Piece::Nothing;
            }
        };
        if text.is_empty() && pictures.is_empty() {
            Piece::Nothing
        } else {
            Piece::Said { role, text, pictures }
        }
    }
}

impl Content {
    /// Its text. Pictures go to the others of the message, where it has some.
    fn text(
        &self,
        attachments: &[Attachment],
        mut pictures: Option<&mut Vec<MessagePicture>>,
        aside: &mut Aside<'_>,
    ) -> String {
        let mut text = String::new();
        for part in &self.parts {
            if let Some(words) = part.as_str().or_else(|| part["text"].as_str()) {
                join(&mut text, &without_citations(words));
            } else if part["content_type"] != "image_asset_pointer" {
                aside.left_out += 1;
                join(&mut text, "[attachment]");
            } else if let Some(pictures) = &mut pictures
                && let Some(id) = part["asset_pointer"].as_str().and_then(file_id)
            {
                let name = |file: &Path| name_of(id, attachments, file);
                if !aside.attach(pictures, |beside| beside.of_id(id), name) {
                    join(&mut text, "[image]");
                }
            } else {
                aside.left_out += 1;
                join(&mut text, "[image]");
            }
        }
        text
    }

    fn thinking(&self) -> String {
        let mut thinking = String::new();
        for Thought { summary, content } in &self.thoughts {
            for words in [summary, content].into_iter().flatten() {
                join(&mut thinking, words);
            }
        }
        thinking
    }
}

/// The id in what points to a file, with which the file's name begins.
fn file_id(pointer: &str) -> Option<&str> {
    let (_, id) = pointer.split_once("://")?;
    let rest = id.strip_prefix("file-").or_else(|| id.strip_prefix("file_"))?;
    (!rest.is_empty()).then_some(id)
}

/// What the person called a file, or what follows the id in its name.
fn name_of(id: &str, attachments: &[Attachment], file: &Path) -> String {
    let given = attachments.iter().find(|attachment| attachment.id.as_deref() == Some(id));
    if let Some(name) = given.and_then(|attachment| attachment.name.clone()) {
        return name;
    }
    let whole = file.file_name().unwrap_or_default().to_string_lossy();
    match whole.strip_prefix(id).map(|rest| rest.trim_start_matches(['-', '_'])) {
        Some(rest) if !rest.is_empty() && !rest.starts_with('.') => rest.to_owned(),
        _ => whole.into_owned(),
    }
}

/// Adds a paragraph.
fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// The text without references to sources that stand elsewhere: they are between two private characters.
fn without_citations(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once('\u{e200}') {
        let Some((_, after)) = reference.split_once('\u{e201}') else { break };
        plain.push_str(before);
        rest = after;
    }
    plain + rest
}

/// Seconds since 1970 in milliseconds.
fn milliseconds(seconds: Option<f64>) -> Option<u64> {
    // A cast of a float stops at the bounds of the integer.
    seconds.map(|seconds| (seconds * 1000.0).round().min(i64::MAX as f64 / 2.0) as u64)
}
