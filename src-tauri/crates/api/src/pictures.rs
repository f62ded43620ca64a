//! The pictures of a request. Until it is known which model looks at them, they stay as they came, and messages name
//! them by number. Then each is decoded by a process of its own, which may end over it, into a folder of the request.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{io, mem};

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::read::DecoderReader;
use foretoken_host::{ENGINE_DIED, ENGINE_REFUSED};
use foretoken_pictures::PIXELS_FILE;
use foretoken_protocol::{ChatMessage, Content, ContentPart, Input, PictureDetail, PictureInput};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::api::Api;
use crate::error::ApiError;
use crate::fields::{Fields, kind};
use crate::redacted::redacted;

redacted!(Encoded, Pictures);

/// The most pictures that a model is shown with one request.
const MOST: usize = 20;
/// How long one is decoded.
const PATIENCE: Duration = Duration::from_secs(20);
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

/// As it is named on the command line.
fn name(detail: PictureDetail) -> &'static str {
    match detail {
        PictureDetail::Low => "low",
        PictureDetail::Standard => "standard",
        PictureDetail::High => "high",
        PictureDetail::Original => "original",
    }
}

/// The pictures of a request that no model has been shown yet.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Pictures(Vec<Encoded>);

/// What a model is shown. The files are there as long as this is.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    _folder: Option<Arc<TempDir>>,
    left_out: bool,
}

impl Shown {
    /// What its program may not expect, in a word.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        self.left_out.then_some(LEFT_OUT)
    }
}

impl Pictures {
    /// Takes in a picture, and gives the part of a message that names it.
    pub(crate) fn add(&mut self, picture: Encoded) -> ContentPart {
        self.0.push(picture);
        ContentPart::Image { pixels: PathBuf::from((self.0.len() - 1).to_string()) }
    }

    /// Notes which of them go with the last question.
    pub(crate) fn note_question(&mut self, messages: &[ChatMessage]) {
        let question = messages.iter().rfind(|message| matches!(message, ChatMessage::User { .. }));
        for number in question.into_iter().flat_map(ChatMessage::pictures).filter_map(number) {
            self.0.get_mut(number).into_iter().for_each(|picture| picture.is_asked_about = true);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where they stand, what came, in which detail, and whether they go with the question.
    #[cfg(test)]
    pub(crate) fn told(&self) -> Vec<(&str, &str, PictureDetail, bool)> {
        self.0.iter().map(|one| (&*one.field, &*one.base64, one.detail, one.is_asked_about)).collect()
    }

    /// Has them ready in the messages of `input` for a model that sees so; there are none left then. For one that does
    /// not, a question with pictures is refused, and in the place of earlier ones stands that they are left out:
    /// programs send them again each time, and refusing them would end the chat.
    pub(crate) async fn show(
        &mut self,
        api: &Api,
        model: &PictureInput,
        input: &mut Input,
    ) -> Result<Shown, ApiError> {
        let pictures = mem::take(&mut self.0);
        if pictures.is_empty() {
            return Ok(Shown::default());
        }
        let sides = match model {
            PictureInput::Available { least_pixels, most_pixels, .. } => [*least_pixels, *most_pixels],
            PictureInput::Unavailable { reason } => {
                return match pictures.into_iter().find(|picture| picture.is_asked_about) {
                    Some(Encoded { field, .. }) => {
                        Err(ApiError::SeesNoPictures { field: Some(field), reason: reason.clone() })
                    }
                    None => {
                        replace(input, &[]);
                        Ok(Shown { left_out: true, ..Shown::default() })
                    }
                };
            }
        };
        if pictures.len() > MOST {
            return Err(ApiError::TooManyPictures { count: pictures.len(), most: MOST });
        }
        let folder = tempfile::Builder::new()
            .prefix("foretoken-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .map_err(|error| not_kept(&error))?;
        let folder = Arc::new(folder);
        let mut pixels = Vec::with_capacity(pictures.len());
        for (number, picture) in pictures.into_iter().enumerate() {
            pixels.push(decode(api, &folder, number, picture, sides).await?);
        }
        replace(input, &pixels);
        Ok(Shown { _folder: Some(folder), left_out: false })
    }
}

/// The number by which a message names a picture.
fn number(pixels: &Path) -> Option<usize> {
    pixels.to_str()?.parse().ok()
}

/// Puts the files of pixels where messages name pictures by number, or that they are left out where there are none.
fn replace(input: &mut Input, pixels: &[PathBuf]) {
    let Input::Chat(chat) = input else { return };
    for message in &mut chat.messages {
        let (ChatMessage::User { content } | ChatMessage::Tool { content }) = message else { continue };
        let Content::Parts(parts) = content else { continue };
        for part in &mut *parts {
            let ContentPart::Image { pixels: named } = part else { continue };
            match number(named).and_then(|number| pixels.get(number)) {
                Some(file) => file.clone_into(named),
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
    let file = out.with_extension("file");
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
    let (least, most) = (least.to_string(), most.to_string());
    let arguments: [&OsStr; 10] = [
        "picture".as_ref(),
        file.as_ref(),
        "--out".as_ref(),
        out.as_ref(),
        "--detail".as_ref(),
        name(picture.detail).as_ref(),
        "--least".as_ref(),
        least.as_ref(),
        "--most".as_ref(),
        most.as_ref(),
    ];
    let ended = {
        // Each may take more than a gigabyte.
        let _one_at_a_time = api.decoding.lock().await;
        api.engine.tool().lines(arguments, |_| (), sleep(PATIENCE)).await
    };
    let _ = fs::remove_file(&file);
    let names_a_folder = |words: &str| words.contains(&*folder.path().to_string_lossy());
    match ended {
        Ok(true) => Ok(out.join(PIXELS_FILE)),
        Ok(false) => Err(picture.refused(format!("decoding it took more than {} s.", PATIENCE.as_secs()))),
        Err(error) if error.code == ENGINE_DIED => {
            Err(picture.refused("it is damaged, or takes too much memory: what decoded it ended.".into()))
        }
        Err(error) if error.code == ENGINE_REFUSED && !names_a_folder(&error.message) => {
            Err(picture.refused(format!("{} {}", error.message, error.hint)))
        }
        Err(error) => Err(not_kept(&error)),
    }
}

/// What keeps pictures from being written or decoded, and is no fault of theirs.
fn not_kept(error: &dyn Display) -> ApiError {
    tracing::warn!("a picture of a request cannot be decoded: {error}");
    ApiError::Internal { code: "picture_not_decoded".into() }
}
