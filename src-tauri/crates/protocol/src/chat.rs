//! What a reply is written behind, as the engine gets it: a chat, in which tools may be called, a text or tokens. The
//! parts of a reply, and the beginning of a reply to be continued.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    /// Instructions that hold for the whole chat.
    System {
        /// Its text.
        content: String,
    },
    /// What the person writes.
    User {
        /// What it says.
        content: Content,
    },
    /// What the model writes.
    Assistant {
        /// Its text, without thinking and calls; `null` reads as none.
        #[serde(default, deserialize_with = "null_is_empty")]
        content: String,
        /// The model's thinking, if the template is to have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        /// The calls behind the text; `null` reads as none.
        #[serde(default, deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a call; results stand in the order of the calls.
    Tool {
        /// What it says.
        content: Content,
    },
}

impl ChatMessage {
    /// What this one wrote; without calls.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        let content = content.into();
        match role {
            Role::System => Self::System { content },
            Role::User => Self::User { content: content.into() },
            Role::Assistant => Self::Assistant { content, reasoning_content: None, tool_calls: Vec::new() },
        }
    }

    /// Instructions.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }

    /// What the person wrote.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    /// What the model wrote; without calls.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// Its text, without pictures.
    pub fn content(&self) -> Cow<'_, str> {
        match self {
            Self::System { content } | Self::Assistant { content, .. } => content.into(),
            Self::User { content } | Self::Tool { content } => content.text(),
        }
    }

    /// The same with neighbouring texts of its content as one.
    #[must_use]
    pub fn joined(self) -> Self {
        match self {
            Self::User { content } => Self::User { content: content.joined() },
            Self::Tool { content } => Self::Tool { content: content.joined() },
            other => other,
        }
    }

    /// Its pictures, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Path> {
        let content = match self {
            Self::User { content } | Self::Tool { content } => Some(content),
            Self::System { .. } | Self::Assistant { .. } => None,
        };
        content.into_iter().flat_map(Content::pictures)
    }
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(String),
    /// Texts and pictures, in order.
    Parts(Vec<ContentPart>),
}

/// A part of what a message says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// The file of its pixels, which `foretoken-engine picture` has made. It stays as it is until the reply has
        /// ended: a prompt may be read again.
        pixels: PathBuf,
    },
}

impl Content {
    /// The same with neighbouring texts as one, and as a text where there is nothing else: templates write parts one
    /// after the other, so that what two of them look like together must be seen as one.
    #[must_use]
    pub fn joined(self) -> Self {
        let Self::Parts(parts) = self else { return self };
        let mut joined: Vec<ContentPart> = Vec::with_capacity(parts.len());
        for part in parts {
            match (joined.last_mut(), part) {
                (Some(ContentPart::Text { text }), ContentPart::Text { text: more }) => text.push_str(&more),
                (_, part) => joined.push(part),
            }
        }
        match &mut joined[..] {
            [] => Self::Text(String::new()),
            [ContentPart::Text { text }] => Self::Text(std::mem::take(text)),
            _ => Self::Parts(joined),
        }
    }

    /// Its texts, without what is between them.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Parts(parts) => {
                let text = |part: &ContentPart| match part {
                    ContentPart::Text { text } => Some(text.clone()),
                    ContentPart::Image { .. } => None,
                };
                parts.iter().filter_map(text).collect::<String>().into()
            }
        }
    }

    /// Adds text at its end.
    pub fn push_str(&mut self, more: &str) {
        match self {
            Self::Text(text) => text.push_str(more),
            Self::Parts(parts) => match parts.last_mut() {
                Some(ContentPart::Text { text }) => text.push_str(more),
                _ => parts.push(ContentPart::Text { text: more.to_owned() }),
            },
        }
    }

    /// Its pictures, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Path> {
        let parts = match self {
            Self::Text(_) => &[][..],
            Self::Parts(parts) => parts,
        };
        parts.iter().filter_map(|part| match part {
            ContentPart::Image { pixels } => Some(pixels.as_path()),
            ContentPart::Text { .. } => None,
        })
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A call in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolCall {
    /// The only kind.
    Function {
        /// What is called.
        function: FunctionCall,
    },
}

/// A tool, and what it is called with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The tool.
    pub name: String,
    /// The values, in the order of the call. A text that is an object in JSON, which is OpenAI's form, is read as that,
    /// and `null` as none.
    #[serde(default, deserialize_with = "object")]
    pub arguments: Map<String, Value>,
}

fn null_is_empty<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(Map::new()),
        Value::Object(arguments) => Ok(arguments),
        Value::String(json) => serde_json::from_str(&json)
            .map_err(|error| D::Error::custom(format!("the arguments {json:?} are no JSON object: {error}"))),
        other => Err(D::Error::custom(format!("the arguments {other} are no JSON object"))),
    }
}

/// What a reply is written behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Input {
    /// A chat, as the chat template writes it.
    Chat(ChatInput),
    /// A text as it is, in which control tokens count.
    Text {
        /// The text.
        text: String,
        /// What is to stand behind the reply, for models that fill in the middle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suffix: Option<String>,
    },
    /// Tokens.
    Ids {
        /// Their ids.
        ids: Vec<u32>,
    },
}

/// A chat that is to be answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatInput {
    /// What was said so far, ending with what is to be answered.
    pub messages: Vec<ChatMessage>,
    /// A reply to go on with, as after an interruption; only what follows it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<PartialReply>,
    /// The tools that the model may call, in OpenAI's form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
    /// Whether the reply ends behind the first call of a tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_call: bool,
    /// What the template is asked for beside its thinking switch.
    #[serde(default)]
    pub template: TemplateOptions,
}

/// What templates are asked for that know of it; others write the prompt as they do without.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TemplateOptions {
    /// Whether the thinking of all turns stays in the prompt. `None` leaves it there while tools are at work and all of
    /// it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserve_thinking: Option<bool>,
    /// How much the model is to think, in OpenAI's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
}

impl From<Vec<ChatMessage>> for Input {
    fn from(messages: Vec<ChatMessage>) -> Self {
        Self::Chat(ChatInput { messages, ..ChatInput::default() })
    }
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

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn plain_messages_are_role_and_content() {
        for role in ["system", "user", "assistant", "tool"] {
            let message = json!({"role": role, "content": "Hi"});
            let read: ChatMessage = from_value(message.clone()).unwrap();
            assert_eq!(json!(read).to_string(), message.to_string(), "and in this order");
        }
    }

    #[test]
    fn calls_are_read_in_the_form_of_openai() {
        let function = json!({"name": "f", "arguments": {"b": "1", "a": "x"}});
        let message = json!({
            "role": "assistant", "content": null, "reasoning_content": "Hm.",
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        });
        let read: ChatMessage = from_value(message).unwrap();
        assert_eq!(
            json!(read).to_string(),
            "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"Hm.\",\"tool_calls\":[\
             {\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"b\":\"1\",\"a\":\"x\"}}}]}"
        );
    }

    #[test]
    fn arguments_are_an_object_or_its_json() {
        let read = |arguments: Value| {
            let call = json!({"type": "function", "function": {"name": "f", "arguments": arguments}});
            from_value::<ChatMessage>(json!({"role": "assistant", "tool_calls": [call]}))
        };
        let typed = json!({"b": 3, "a": "3", "c": [1, "é"], "d": null, "e": true, "f": {"x": 1.5}});
        for (arguments, is) in [
            (typed.clone(), &typed),
            (typed.to_string().into(), &typed),
            (json!("{}"), &json!({})),
            (json!(null), &json!({})),
        ] {
            let read = json!(read(arguments).unwrap());
            assert_eq!(read["tool_calls"][0]["function"]["arguments"].to_string(), is.to_string());
        }
        for (arguments, told) in [
            (json!("3"), "the arguments \"3\" are no JSON object: invalid type: integer `3`"),
            (
                json!("{\"a\": "),
                "the arguments \"{\\\"a\\\": \" are no JSON object: EOF while parsing a value",
            ),
            (json!([1]), "the arguments [1] are no JSON object"),
        ] {
            let error = read(arguments).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn what_is_null_is_absent() {
        let null =
            json!({"role": "assistant", "content": null, "reasoning_content": null, "tool_calls": null});
        let absent: ChatMessage = from_value(json!({"role": "assistant"})).unwrap();
        assert_eq!(from_value::<ChatMessage>(null).unwrap(), absent);
    }

    #[test]
    fn other_roles_and_a_question_without_text_are_refused() {
        for (message, told) in [
            (json!({"role": "robot", "content": "x"}), "unknown variant `robot`"),
            (json!({"role": "user"}), "missing field `content`"),
        ] {
            let error = from_value::<ChatMessage>(message).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }
}
