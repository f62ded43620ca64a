//! The content of a message: a text, or parts of which texts and pictures count.

use foretoken_protocol::{Content, ContentPart};
use serde_json::Value;

use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};
use crate::pictures::{Encoded, IN_ITS_PLACE, LEFT_OUT};
use crate::redacted::redacted;
use crate::turns::Turns;

redacted!(Said, Piece);

/// What a message says, and what else there is in it.
#[derive(Default)]
pub(crate) struct Said {
    pieces: Vec<Piece>,
    /// Why what is neither text nor picture, or a picture that did not come, cannot be what is to be answered. In its
    /// place stands that it is left out.
    other: Option<ApiError>,
    /// The parts of which nobody here knows what they are.
    unknown: Vec<Unknown>,
}

enum Piece {
    Text(String),
    Picture(Encoded),
}

/// A part of an unknown type.
struct Unknown {
    /// The field of its type.
    field: String,
    kind: String,
}

impl Said {
    /// A text, and nothing else.
    pub(crate) fn plain(text: String) -> Self {
        Self { pieces: vec![Piece::Text(text)], ..Self::default() }
    }

    /// Adds more, with `between` between two texts.
    pub(crate) fn add(&mut self, more: Self, between: &str) {
        for piece in more.pieces {
            match (self.pieces.last_mut(), piece) {
                (Some(Piece::Text(text)), Piece::Text(more)) => {
                    text.push_str(between);
                    text.push_str(&more);
                }
                (_, piece) => self.pieces.push(piece),
            }
        }
        self.other = self.other.take().or(more.other);
        self.unknown.extend(more.unknown);
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

    /// Why this cannot be what is to be answered: something in it would have to be seen and cannot be.
    pub(crate) fn unread(&self) -> Option<ApiError> {
        if let Some(Unknown { field, kind }) = self.unknown.first() {
            return Some(invalid(field, format!("it is {kind:?}, not \"text\"")));
        }
        self.other.clone()
    }

    /// Whether it stands for nothing that the model could be told of.
    pub(crate) fn is_nothing(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Its text where there can be no pictures: that they are left out stands in their place.
    pub(crate) fn text(self, turns: &mut Turns) -> String {
        let text = |piece| match piece {
            Piece::Text(text) => text,
            Piece::Picture(_) => {
                turns.warn(LEFT_OUT);
                IN_ITS_PLACE.to_owned()
            }
        };
        self.pieces.into_iter().map(text).collect()
    }

    /// Its text where nothing else can be.
    pub(crate) fn only_text(self, place: &str) -> Result<String, ApiError> {
        if let Some(error) = self.unread() {
            return Err(error);
        }
        let text = |piece| match piece {
            Piece::Text(text) => Ok(text),
            Piece::Picture(_) => Err(unsupported(place, "image")),
        };
        self.pieces.into_iter().map(text).collect()
    }

    /// Texts and pictures, in order.
    pub(crate) fn content(self, turns: &mut Turns) -> Content {
        let part = |piece| match piece {
            Piece::Text(text) => ContentPart::Text { text },
            Piece::Picture(picture) => turns.picture(picture),
        };
        Content::Parts(self.pieces.into_iter().map(part).collect()).joined()
    }
}

/// What stands at `place`, its texts with `between` between them; nothing is the empty text.
pub(crate) fn read(place: &str, value: Option<Value>, between: &str) -> Result<Said, ApiError> {
    match value {
        None => Ok(Said::default()),
        Some(Value::String(text)) => Ok(Said::plain(text)),
        Some(Value::Array(parts)) => {
            let mut all = Said::default();
            for (index, value) in parts.into_iter().enumerate() {
                all.add(part(&format!("{place}[{index}]"), value)?, between);
            }
            Ok(all)
        }
        Some(other) => Err(invalid(place, format!("it is {}, not a string or parts", kind(&other)))),
    }
}

/// One part.
pub(crate) fn part(place: &str, value: Value) -> Result<Said, ApiError> {
    let mut part = Fields::at(place, value)?;
    let kind = part.required_string("type")?;
    let key = match kind.as_str() {
        "text" | "input_text" | "output_text" => "text",
        "refusal" => "refusal",
        "image_url" | "input_image" | "image" => {
            return Ok(match Encoded::of_part(place, &kind, &mut part) {
                Ok(picture) => Said { pieces: vec![Piece::Picture(picture)], ..Said::default() },
                Err(error) => left_out("image", error),
            });
        }
        "input_audio" | "audio" => return Ok(left_out("audio", unsupported(place, "audio"))),
        "file" | "input_file" | "document" | "video_url" => {
            return Ok(left_out("file", unsupported(place, "file")));
        }
        other => {
            let unknown = Unknown { field: part.name("type"), kind: other.to_owned() };
            return Ok(Said { unknown: vec![unknown], ..Said::default() });
        }
    };
    Ok(Said::plain(part.required_string(key)?))
}

fn left_out(kind: &str, error: ApiError) -> Said {
    Said { other: Some(error), ..Said::plain(format!("[{kind} left out]")) }
}

fn unsupported(place: &str, kind: &str) -> ApiError {
    let hint = "The model reads text and pictures only.".into();
    ApiError::Unsupported { field: format!("{place} ({kind})"), hint }
}
