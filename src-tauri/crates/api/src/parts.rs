//! The content of a message: a text, or parts of which the texts count.

use serde_json::Value;

use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};
use crate::redacted::redacted;
use crate::turns::Turns;

redacted!(Text);

/// That something of an earlier turn is no text, and is left out.
const LEFT_OUT: &str = "image-left-out";

/// The text of a message, and what else there is in it.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// What is no text, in a word: in its place stands that it is left out.
    pub(crate) other: Option<&'static str>,
    /// The parts of which nobody here knows what they are.
    unknown: Vec<Unknown>,
}

/// A part of an unknown type.
struct Unknown {
    /// The field of its type.
    field: String,
    kind: String,
}

impl Text {
    /// A text, and nothing else.
    fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// Says what is left out of an earlier turn. Programs send it again each time: refusing it would end the chat.
    pub(crate) fn left_out(&self, turns: &mut Turns, ignored: &mut Vec<String>) {
        if self.other.is_some() {
            turns.warn(LEFT_OUT);
        }
        for Unknown { kind, .. } in &self.unknown {
            let name = format!("content:{kind}");
            if !ignored.contains(&name) {
                ignored.push(name);
            }
        }
    }

    /// Why this cannot be what is to be answered: something in it would have to be seen.
    pub(crate) fn unread(&self, place: &str) -> Option<ApiError> {
        if let Some(Unknown { field, kind }) = self.unknown.first() {
            return Some(invalid(field, format!("it is {kind:?}, not \"text\"")));
        }
        let hint = "The model reads text only.";
        self.other.map(|kind| ApiError::Unsupported { field: format!("{place} ({kind})"), hint: hint.into() })
    }

    /// Whether it stands for nothing that the model could be told of.
    pub(crate) fn is_unknown(&self) -> bool {
        self.text.is_empty() && !self.unknown.is_empty()
    }
}

/// The content that stands at `place`, its texts with `between` between them; nothing is the empty text.
pub(crate) fn text(place: &str, value: Option<Value>, between: &str) -> Result<Text, ApiError> {
    match value {
        None => Ok(Text::default()),
        Some(Value::String(text)) => Ok(Text::plain(text)),
        Some(Value::Array(parts)) => joined(place, parts, between),
        Some(other) => Err(invalid(place, format!("it is {}, not a string or parts", kind(&other)))),
    }
}

fn joined(place: &str, parts: Vec<Value>, between: &str) -> Result<Text, ApiError> {
    let (mut all, mut is_first) = (Text::default(), true);
    for (index, value) in parts.into_iter().enumerate() {
        let part = part(&format!("{place}[{index}]"), value)?;
        if !part.is_unknown() {
            if !is_first {
                all.text.push_str(between);
            }
            is_first = false;
            all.text.push_str(&part.text);
        }
        all.other = part.other.or(all.other);
        all.unknown.extend(part.unknown);
    }
    Ok(all)
}

/// One part.
pub(crate) fn part(place: &str, value: Value) -> Result<Text, ApiError> {
    let mut part = Fields::at(place, value)?;
    let key = match part.required_string("type")?.as_str() {
        "text" | "input_text" | "output_text" => "text",
        "refusal" => "refusal",
        "image_url" | "input_image" | "image" => return Ok(left_out("image")),
        "input_audio" | "audio" => return Ok(left_out("audio")),
        "file" | "input_file" | "document" | "video_url" => return Ok(left_out("file")),
        other => {
            let unknown = Unknown { field: part.name("type"), kind: other.to_owned() };
            return Ok(Text { unknown: vec![unknown], ..Text::default() });
        }
    };
    Ok(Text::plain(part.required_string(key)?))
}

fn left_out(kind: &'static str) -> Text {
    Text { text: format!("[{kind} left out]"), other: Some(kind), unknown: Vec::new() }
}
