//! Pictures are decoded by the engine program, in a process of its own each, since a picture may damage what reads it.
//! What a model reads of a picture is kept in the cache and can be made again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use foretoken_chats::SeenPicture;
use foretoken_host::{DECODING_LIMIT, DecodeError, Decoders, Sight};
use foretoken_pictures::{LARGEST_AREA, LARGEST_FILE, LEAST_AREA, PIXELS_FILE, PixelsFile, SizeRule};
use foretoken_protocol::{ErrorReport, MessagePicture, ModelInfo, PictureDetail, PictureFacts, PictureInput};
use tempfile::TempDir;
use thiserror::Error;

use crate::blocking::blocking;

/// How long pixels are kept that no model is given.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Why a picture cannot be used.
#[derive(Debug, Error)]
enum PictureError {
    #[error("{name} cannot be decoded within {} seconds.", DECODING_LIMIT.as_secs())]
    Slow { name: String },
    #[error("{name} is damaged, or needs too much memory: what decoded it came to its end.")]
    Died { name: String },
    #[error("{name} is larger than {} MB.", LARGEST_FILE >> 20)]
    Large { name: String },
    #[error("{name} cannot be prepared: {source}.")]
    Io { name: String, source: io::Error },
}

impl From<PictureError> for ErrorReport {
    fn from(error: PictureError) -> Self {
        let (code, hint) = match &error {
            PictureError::Slow { .. } => {
                ("picture_slow", "Save it as PNG or JPEG, or smaller, and add that.")
            }
            PictureError::Died { .. } => ("picture_damaged", "Open it in another program and save it anew."),
            PictureError::Large { .. } => ("picture_too_large", "Save it as JPEG, or smaller, and add that."),
            PictureError::Io { .. } => {
                ("picture_not_prepared", "Check that there is room on the disk, and try again.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// Between which areas a model reads pictures, and in which detail it is to see one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    detail: PictureDetail,
    least: u32,
    most: u32,
}

impl Look {
    /// In this detail, by a model, or where there is none by what the models of the family read.
    pub(crate) fn new(detail: PictureDetail, model: Option<&ModelInfo>) -> Self {
        let side = |pixels: u64| u32::try_from(pixels).unwrap_or(LARGEST_AREA).min(LARGEST_AREA);
        let (least, most) = match model.map(|model| &*model.pictures) {
            Some(PictureInput::Available { least_pixels, most_pixels, .. }) => {
                (side(*least_pixels), side(*most_pixels))
            }
            Some(PictureInput::Unavailable { .. }) | None => (LEAST_AREA, LARGEST_AREA),
        };
        Self { detail, least, most }
    }

    /// How many tokens a picture of this width and height is, without the two marks around it; `None` if no model reads
    /// one like it.
    pub(crate) fn tokens(self, width: u32, height: u32) -> Option<u32> {
        let rule = SizeRule::new(self.least, self.most).within(self.detail);
        let (width, height) = rule.resized((width, height)).ok()?;
        Some((width / foretoken_pictures::FACTOR) * (height / foretoken_pictures::FACTOR))
    }

    fn sight(self) -> Sight {
        Sight { detail: self.detail, least: self.least.into(), most: self.most.into() }
    }
}

/// A picture that was decoded.
#[derive(Debug)]
pub(crate) struct Decoded {
    /// What is known of it now.
    pub(crate) facts: PictureFacts,
    /// What people see, PNG or JPEG as its name in the facts says.
    pub(crate) view: Vec<u8>,
    /// Where the pixels are, until they are kept.
    folder: TempDir,
    look: Look,
}

/// What decodes pictures, and the folder of what models read of them.
#[derive(Debug, Clone)]
pub(crate) struct Pictures {
    decoders: Decoders,
    folder: PathBuf,
}

impl Pictures {
    /// Pictures that `decoders` decode; pixels go into a folder of `cache`.
    pub(crate) fn new(decoders: Decoders, cache: &Path) -> Self {
        Self { decoders, folder: cache.join("pictures") }
    }

    /// Decodes a picture of which these are the bytes and that the person knows as `name`.
    pub(crate) async fn decode(
        &self,
        bytes: Vec<u8>,
        name: &str,
        look: Look,
    ) -> Result<Decoded, ErrorReport> {
        let io = |source| PictureError::Io { name: name.to_owned(), source };
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(PictureError::Large { name: name.to_owned() }.into());
        }
        let folder = self.decoders.folder().await.map_err(io)?;
        let original = folder.path().join("original");
        let written = {
            let original = original.clone();
            blocking(move || fs::write(original, bytes))
        };
        written.await.map_err(io)?;
        let facts = self.decoders.decode(&original, folder.path(), look.sight()).await;
        let facts = facts.map_err(|error| refusal(name, error))?;
        let view = folder.path().join(&facts.view);
        let view = blocking(move || fs::read(view)).await.map_err(io)?;
        Ok(Decoded { facts, view, folder, look })
    }

    /// What people see of the picture in a file, and what is known of it where a model of the family sees it.
    pub(crate) async fn seen(&self, file: &Path, detail: PictureDetail) -> Result<SeenPicture, ErrorReport> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let path = file.to_owned();
        let io = |source| PictureError::Io { name: name.to_string(), source };
        let bytes = blocking(move || fs::read(path)).await.map_err(io)?;
        let Decoded { facts, view, .. } = self.decode(bytes, &name, Look::new(detail, None)).await?;
        Ok(SeenPicture { facts, view })
    }

    /// Keeps what a model reads of a picture, so that it need not be decoded again.
    pub(crate) async fn keep(&self, hash: &str, decoded: Decoded) -> io::Result<()> {
        let (folder, pixels) = (self.folder.clone(), self.pixels_of(hash, decoded.look));
        // Both are in the cache, so that they are moved and not copied.
        blocking(move || {
            fs::create_dir_all(folder)?;
            fs::rename(decoded.folder.path().join(PIXELS_FILE), pixels)
        })
        .await
    }

    /// The file of what a model reads of a picture. Where it is gone, it is made of `original`.
    pub(crate) async fn pixels(
        &self,
        picture: &MessagePicture,
        original: &Path,
        look: Look,
    ) -> Result<PathBuf, ErrorReport> {
        let MessagePicture { hash, name, .. } = picture;
        let pixels = self.pixels_of(hash, look);
        // What is in use is not swept.
        let kept = pixels.clone();
        let is_whole = blocking(move || {
            let whole = PixelsFile::open(&kept).is_ok();
            let file = File::options().append(true).open(&kept);
            whole && file.and_then(|file| file.set_modified(SystemTime::now())).is_ok()
        });
        if is_whole.await {
            return Ok(pixels);
        }
        let original = original.to_owned();
        let io = |source| PictureError::Io { name: name.to_owned(), source };
        let bytes = blocking(move || fs::read(original)).await.map_err(io)?;
        let decoded = self.decode(bytes, name, look).await?;
        self.keep(hash, decoded).await.map_err(io)?;
        Ok(pixels)
    }

    /// Removes what was left by an app that came to a sudden end, and pixels that are older than a week.
    pub(crate) async fn sweep(&self) {
        self.decoders.sweep().await;
        let folder = self.folder.clone();
        blocking(move || {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let made = entry.metadata().and_then(|about| about.modified());
                if made.is_ok_and(|made| made + WEEK < SystemTime::now()) {
                    let path = entry.path();
                    if let Err(error) = fs::remove_file(&path) {
                        tracing::info!("{} is left: {error}", path.display());
                    }
                }
            }
        })
        .await;
    }

    fn pixels_of(&self, hash: &str, look: Look) -> PathBuf {
        let Look { detail, least, most } = look;
        self.folder.join(format!("{hash}.{detail:?}.{least}-{most}.rgb").to_lowercase())
    }
}

/// Why a picture that the person knows as `name` cannot be used.
fn refusal(name: &str, error: DecodeError) -> ErrorReport {
    let name = name.to_owned();
    match error {
        DecodeError::Slow => PictureError::Slow { name }.into(),
        DecodeError::Died => PictureError::Died { name }.into(),
        // The engine knows the picture by a name that nobody else does.
        DecodeError::Refused(error) | DecodeError::Unable(error) => {
            ErrorReport { message: format!("{name}: {}", error.message), ..error }
        }
        DecodeError::Unread(error) => PictureError::Io { name, source: io::Error::other(error) }.into(),
    }
}
