//! The pictures of a request. Until it is known which model looks at them, they stay as they came, and messages name
//! them by number. Then each is decoded by a process of its own, which may end over it, into a folder of the request.

use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, mem};

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::read::DecoderReader;
use foretoken_host::{DecodeError, Sight};
use foretoken_pictures::PIXELS_FILE;
use foretoken_protocol::{ChatMessage, Content, ContentPart, Input, PictureDetail, PictureInput};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::api::Api;
use crate::error::ApiError;
use crate::fields::{Fields, kind};
use crate::redacted::redacted;

redacted!(Encoded, Pictures);

/// The most pictures that a model is shown with one request, and that a question has.
const MOST: usize = 20;
/// Programs leave the padding out at times.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// That something of an earlier turn was left out, and what stands in the place of a picture.
pub(crate) const LEFT_OUT: &str = "image-left-out";
pub(crate) const IN_ITS_PLACE: &str = "[image left out]";

/// A picture as it came.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// Where it stands in the request.
    field: String,
    /// Its file.
    base64: String,
    detail: PictureDetail,
    /// Whether it goes with the last question, which cannot be answered without it.
    is_asked_about: bool,
}

impl Encoded {
    /// What the part at `place` shows, which is of this type in one of the dialects. What kind of file it is, its bytes
    /// say.
    pub(crate) fn of_part(place: &str, kind_of_part: &str, part: &mut Fields) -> Result<Self, ApiError> {
        let field = place.to_owned();
        let (base64, detail) = if let Some(mut source) = part.object("source")? {
            if source.required_string("type")? != "base64" {
                let hint = "Send the picture itself, as a source of the type base64.";
                return Err(ApiError::PictureNotFetched { field, hint });
            }
            (source.required_string("data")?, PictureDetail::default())
        } else {
            let (url, detail) = match part.take("image_url") {
                Some(Value::String(url)) => (url, detail(part)?),
                Some(Value::Object(url)) => {
                    let mut url = Fields::at(&part.name("image_url"), Value::Object(url))?;
                    (url.required_string("url")?, detail(&mut url)?)
                }
                Some(other) => {
                    return Err(part.refuse("image_url", format!("it is {}, not a data URL", kind(&other))));
                }
                None if part.has("file_id") => (String::new(), PictureDetail::default()),
                None => {
                    let field = if kind_of_part == "image" { "source" } else { "image_url" };
                    return Err(part.refuse(field, "it is missing"));
                }
            };
            (base64_of(field.clone(), url)?, detail)
        };
        Ok(Self { field, base64, detail, is_asked_about: false })
    }

    /// Writes the file that came.
    fn write(&self, path: &Path) -> Result<(), ApiError> {
        let mut decoder = DecoderReader::new(self.base64.as_bytes(), &BASE64);
        let copied = File::create_new(path).and_then(|mut file| io::copy(&mut decoder, &mut file));
        copied.map(drop).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => {
                let words = error.to_string();
                self.refused(format!("it is not base64: {}.", words.trim_end_matches('.')))
            }
            _ => not_kept(&error),
        })
    }

    fn refused(&self, reason: String) -> ApiError {
        ApiError::Picture { field: self.field.clone(), reason }
    }
}

/// The data of a URL that holds them itself.
fn base64_of(field: String, mut url: String) -> Result<String, ApiError> {
    const SCHEME: &[u8] = b"data:";
    const CODING: &[u8] = b";base64";
    if !url.as_bytes().get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME)) {
        let hint = "Send the picture itself, as a data URL.";
        return Err(ApiError::PictureNotFetched { field, hint });
    }
    let head = url.bytes().position(|byte| byte == b',').unwrap_or(url.len());
    let coding = head.checked_sub(CODING.len()).and_then(|begin| url.as_bytes().get(begin..head));
    if head == url.len() || !coding.is_some_and(|coding| coding.eq_ignore_ascii_case(CODING)) {
        let reason = "its data URL is not of the form data:image/…;base64,….".into();
        return Err(ApiError::Picture { field, reason });
    }
    url.drain(..=head);
    Ok(url)
}

fn detail(fields: &mut Fields) -> Result<PictureDetail, ApiError> {
    match fields.string("detail")?.as_deref() {
        None | Some("auto") => Ok(PictureDetail::Standard),
        Some("low") => Ok(PictureDetail::Low),
        Some("high") => Ok(PictureDetail::High),
        Some("original") => Ok(PictureDetail::Original),
        Some(other) => Err(fields.refuse("detail", format!("it is {other:?}, not low, high or auto"))),
    }
}

/// The pictures of a request that no model has been shown yet.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Pictures {
    list: Vec<Encoded>,
    /// Whether there were others, in whose places stands that they are left out.
    left_out: bool,
}

/// What a model is shown. The files are there as long as this is.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    _folder: Option<Arc<TempDir>>,
}

impl Pictures {
    /// Takes in a picture, and gives the part of a message that names it.
    pub(crate) fn add(&mut self, picture: Encoded) -> ContentPart {
        self.list.push(picture);
        ContentPart::Image { pixels: name(self.list.len() - 1) }
    }

    /// Notes which of them go with the last question.
    pub(crate) fn note_question(&mut self, messages: &[ChatMessage]) {
        let question = messages.iter().rfind(|message| matches!(message, ChatMessage::User { .. }));
        for number in question.into_iter().flat_map(ChatMessage::pictures).filter_map(number) {
            self.list.get_mut(number).into_iter().for_each(|picture| picture.is_asked_about = true);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Where they stand, what came, in which detail, and whether they go with the question.
    #[cfg(test)]
    pub(crate) fn told(&self) -> Vec<(&str, &str, PictureDetail, bool)> {
        self.list.iter().map(|one| (&*one.field, &*one.base64, one.detail, one.is_asked_about)).collect()
    }

    /// What their program may not expect, in a word.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        self.left_out.then_some(LEFT_OUT)
    }

    /// Leaves those in the messages of `input` that a model is to be shown which sees so, as far as that is known.
    /// Nothing is decoded. A question with too many pictures is refused, and one with any for a model that sees none;
    /// in the place of earlier ones, the oldest first, stands that they are left out: programs send them again each
    /// time, and refusing them would end the chat.
    pub(crate) fn admit(&mut self, model: Option<&PictureInput>, input: &mut Input) -> Result<(), ApiError> {
        if let Some(PictureInput::Unavailable { reason }) = model {
            if let Some(Encoded { field, .. }) = self.list.iter().find(|picture| picture.is_asked_about) {
                return Err(ApiError::SeesNoPictures {
                    field: Some(field.clone()),
                    reason: reason.to_string(),
                });
            }
            self.retain(input, |_| false);
            return Ok(());
        }
        let asked_about = self.list.iter().filter(|picture| picture.is_asked_about).count();
        let mut others = MOST
            .checked_sub(asked_about)
            .ok_or(ApiError::TooManyPictures { count: asked_about, most: MOST })?;
        self.retain(input, |picture| {
            picture.is_asked_about || others.checked_sub(1).map(|left| others = left).is_some()
        });
        Ok(())
    }

    /// Keeps some, for which it asks from the last to the first, and writes in the place of others that they are left
    /// out.
    fn retain(&mut self, input: &mut Input, keep: impl FnMut(&Encoded) -> bool) {
        let mut kept: Vec<bool> = self.list.iter().rev().map(keep).collect();
        kept.reverse();
        let mut next = 0..;
        let numbers: Vec<_> = kept.iter().map(|&kept| kept.then(|| next.next()).flatten()).collect();
        replace(input, |number| numbers.get(number).copied().flatten().map(name));
        self.left_out |= kept.contains(&false);
        let mut kept = kept.into_iter();
        self.list.retain(|_| kept.next().unwrap_or_default());
    }

    /// `input` as it is without them.
    pub(crate) fn left_out_of(&self, input: &Input) -> Input {
        let mut input = input.clone();
        if !self.is_empty() {
            replace(&mut input, |_| None);
        }
        input
    }

    /// Has them ready in the messages of `input` for a model that sees so, as far as [`Self::admit`] leaves them; there
    /// are none left then.
    pub(crate) async fn show(
        &mut self,
        api: &Api,
        model: &PictureInput,
        input: &mut Input,
    ) -> Result<Shown, ApiError> {
        self.admit(Some(model), input)?;
        let pictures = mem::take(&mut self.list);
        let PictureInput::Available { least_pixels, most_pixels, .. } = *model else {
            return Ok(Shown::default());
        };
        if pictures.is_empty() {
            return Ok(Shown::default());
        }
        let folder = api.engine.decoders().folder().await.map_err(|error| not_kept(&error))?;
        let folder = Arc::new(folder);
        let mut pixels = Vec::with_capacity(pictures.len());
        for (number, picture) in pictures.into_iter().enumerate() {
            pixels.push(decode(api, &folder, number, picture, [least_pixels, most_pixels]).await?);
        }
        replace(input, |number| pixels.get(number).cloned());
        Ok(Shown { _folder: Some(folder) })
    }
}

/// How a message names a picture until it is decoded.
fn name(number: usize) -> PathBuf {
    number.to_string().into()
}

/// The number by which a message names a picture.
fn number(pixels: &Path) -> Option<usize> {
    pixels.to_str()?.parse().ok()
}

/// Puts what stands for the picture of each number where messages name it, or that it is left out where there is
/// nothing.
fn replace(input: &mut Input, by: impl Fn(usize) -> Option<PathBuf>) {
    let Input::Chat(chat) = input else { return };
    for message in &mut chat.messages {
        let (ChatMessage::User { content } | ChatMessage::Tool { content }) = message else { continue };
        let Content::Parts(parts) = content else { continue };
        for part in &mut *parts {
            let ContentPart::Image { pixels: named } = part else { continue };
            match number(named).and_then(&by) {
                Some(file) => *named = file,
                None => *part = ContentPart::Text { text: IN_ITS_PLACE.into() },
            }
        }
        *content = Content::Parts(mem::take(parts)).joined();
    }
}

/// Decodes a picture for a model that sees between so many pixels, and gives the file that it reads.
async fn decode(
    api: &Api,
    folder: &Arc<TempDir>,
    number: usize,
    picture: Encoded,
    [least, most]: [u64; 2],
) -> Result<PathBuf, ApiError> {
    let out = folder.path().join(number.to_string());
    let (file, pixels) = (out.with_extension("file"), out.with_extension("rgb"));
    let writing = {
        // The folder stays until this is done, whoever leaves meanwhile: nothing is written behind its removal.
        let (file, folder) = (file.clone(), Arc::clone(folder));
        spawn_blocking(move || {
            let written = picture.write(&file);
            drop(folder);
            written.map(|()| Encoded { base64: String::new(), ..picture })
        })
    };
    let picture = writing.await.map_err(|error| not_kept(&error))??;
    let sight = Sight { detail: picture.detail, least, most };
    let decoded = api.engine.decoders().decode(&file, &out, sight).await;
    let names_a_folder = |words: &str| words.contains(&*folder.path().to_string_lossy());
    match decoded {
        Ok(_) => {}
        Err(error @ (DecodeError::Slow | DecodeError::Died)) => {
            return Err(picture.refused(format!("{error}.")));
        }
        Err(DecodeError::Refused(error)) if !names_a_folder(&error.message) => {
            return Err(picture.refused(format!("{} {}", error.message, error.hint)));
        }
        Err(error) => return Err(not_kept(&error)),
    }
    // Nobody looks at anything else of it.
    let keep = || {
        fs::rename(out.join(PIXELS_FILE), &pixels)?;
        fs::remove_dir_all(&out)?;
        fs::remove_file(&file)
    };
    keep().map_err(|error| not_kept(&error))?;
    Ok(pixels)
}

/// What keeps pictures from being written or decoded, and is no fault of theirs.
fn not_kept(error: &dyn Display) -> ApiError {
    tracing::warn!("a picture of a request cannot be decoded: {error}");
    ApiError::Internal { code: "picture_not_decoded".into() }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::ChatInput;

    use super::*;

    /// A chat of messages with so many pictures each, the last of which asks.
    fn chat(counts: &[usize]) -> (Pictures, Input) {
        let mut pictures = Pictures::default();
        let mut messages = Vec::new();
        for (turn, &count) in counts.iter().enumerate() {
            let picture = |number| Encoded {
                field: format!("{turn:02}.{number:02}"),
                base64: String::new(),
                detail: PictureDetail::Standard,
                is_asked_about: false,
            };
            let parts = (0..count).map(|number| pictures.add(picture(number))).collect();
            messages.push(ChatMessage::User { content: Content::Parts(parts) });
        }
        pictures.note_question(&messages);
        (pictures, Input::Chat(ChatInput { messages, ..ChatInput::default() }))
    }

    const SEES: PictureInput = PictureInput::Available { least_pixels: 1, most_pixels: 2, tower_bytes: 3 };

    #[test]
    fn of_earlier_pictures_the_latest_are_shown_beside_those_of_the_question() {
        for (counts, kept, left_out) in [
            (vec![3, 2], vec![3, 2], false),
            (vec![20, 0], vec![20, 0], false),
            (vec![12, 9], vec![11, 9], true),
            (vec![15, 5, 20], vec![0, 0, 20], true),
            (vec![15, 5, 1], vec![14, 5, 1], true),
        ] {
            let (mut pictures, mut input) = chat(&counts);
            pictures.admit(Some(&SEES), &mut input).unwrap();
            let Input::Chat(ChatInput { messages, .. }) = &input else { panic!("a chat") };
            let left: Vec<usize> = messages.iter().map(|message| message.pictures().count()).collect();
            assert_eq!((left, pictures.warning()), (kept, left_out.then_some(LEFT_OUT)), "{counts:?}");
            // Messages name those that are left, in their order.
            let names = messages.iter().flat_map(ChatMessage::pictures).filter_map(number);
            assert!(names.eq(0..pictures.list.len()), "{counts:?}");
            assert!(pictures.list.is_sorted_by_key(|picture| &*picture.field), "{counts:?}");
            let first = messages[0].content();
            assert_eq!(first.matches(IN_ITS_PLACE).count(), counts[0] - messages[0].pictures().count());
        }
        let (mut pictures, mut input) = chat(&[1, 21]);
        let refused = pictures.admit(None, &mut input).unwrap_err();
        assert_eq!(refused, ApiError::TooManyPictures { count: 21, most: 20 });
    }
}
