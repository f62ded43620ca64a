//! The content of a message: a text, or parts of which the texts count.

use serde_json::Value;

use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};

/// That something of an earlier turn is no text, and is left out.
pub(crate) const LEFT_OUT: &str = "image-left-out";

/// The text of a message, and what else there is in it.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// What is no text, in a word: in its place stands that it is left out.
    pub(crate) other: Option<&'static str>,
}

/// The content that stands at `place`, its texts with `between` between them; nothing is the empty text.
pub(crate) fn text(place: &str, value: Option<Value>, between: &str) -> Result<Text, ApiError> {
    match value {
        None => Ok(Text::default()),
        Some(Value::String(text)) => Ok(Text { text, other: None }),
        Some(Value::Array(parts)) => joined(place, parts, between),
        Some(other) => Err(invalid(place, format!("it is {}, not a string or parts", kind(&other)))),
    }
}

/// That what is to be answered has something in it that is no text.
pub(crate) fn refused(place: &str, kind: &str) -> ApiError {
    ApiError::Unsupported { field: format!("{place} ({kind})"), hint: "The model reads text only.".into() }
}

fn joined(place: &str, parts: Vec<Value>, between: &str) -> Result<Text, ApiError> {
    let mut all = Text::default();
    for (index, value) in parts.into_iter().enumerate() {
        let Text { text, other } = part(&format!("{place}[{index}]"), value)?;
        if index > 0 {
            all.text.push_str(between);
        }
        all.text.push_str(&text);
        all.other = other.or(all.other);
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
        other => return Err(part.refuse("type", format!("it is {other:?}, not \"text\""))),
    };
    Ok(Text { text: part.required_string(key)?, other: None })
}

fn left_out(kind: &'static str) -> Text {
    Text { text: format!("[{kind} left out]"), other: Some(kind) }
}
