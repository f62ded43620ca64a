//! Pictures are decoded by the engine program, in a process of its own each, since a picture may damage what reads it.
//! What a model reads of a picture is kept in the cache and can be made again.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use foretoken_chats::SeenPicture;
use foretoken_host::{ENGINE_DIED, Tool};
use foretoken_pictures::{LARGEST_AREA, LARGEST_FILE, LEAST_AREA, PIXELS_FILE, SizeRule};
use foretoken_protocol::{ErrorReport, MessagePicture, ModelInfo, PictureDetail, PictureFacts, PictureInput};
use tempfile::TempDir;
use thiserror::Error;
use tokio::time::timeout;

use crate::blocking::blocking;

/// How long a picture is decoded at most.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How long pixels are kept that no model is given.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Why a picture cannot be used.
#[derive(Debug, Error)]
enum PictureError {
    #[error("{name} cannot be decoded within {} seconds.", TIMEOUT.as_secs())]
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

    /// The detail, as the engine program calls it.
    fn detail(self) -> &'static str {
        match self.detail {
            PictureDetail::Low => "low",
            PictureDetail::Standard => "standard",
            PictureDetail::High => "high",
            PictureDetail::Original => "original",
        }
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
    tool: Tool,
    folder: PathBuf,
}

impl Pictures {
    /// Pictures that `tool` decodes; pixels go into a folder of `cache`.
    pub(crate) fn new(tool: Tool, cache: &Path) -> Self {
        Self { tool, folder: cache.join("pictures") }
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
        let cache = self.folder.clone();
        // In the folder of the pixels, so that they are moved and not copied when they are kept.
        let written = blocking(move || {
            fs::create_dir_all(&cache)?;
            let folder = TempDir::new_in(&cache)?;
            fs::write(folder.path().join("original"), bytes)?;
            Ok(folder)
        });
        let folder = written.await.map_err(io)?;
        let facts = self.run(&folder.path().join("original"), folder.path(), name, look).await?;
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
        let pixels = self.pixels_of(hash, decoded.look);
        blocking(move || fs::rename(decoded.folder.path().join(PIXELS_FILE), pixels)).await
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
        let file = File::options().append(true).open(&pixels);
        if file.and_then(|file| file.set_modified(SystemTime::now())).is_ok() {
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
        let folder = self.folder.clone();
        blocking(move || {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let made = entry.metadata().and_then(|about| about.modified());
                if made.is_ok_and(|made| made + WEEK < SystemTime::now()) {
                    let path = entry.path();
                    let removed =
                        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                    if let Err(error) = removed {
                        tracing::info!("{} is left: {error}", path.display());
                    }
                }
            }
        })
        .await;
    }

    fn pixels_of(&self, hash: &str, look: Look) -> PathBuf {
        self.folder.join(format!("{hash}.{}.{}-{}.rgb", look.detail(), look.least, look.most))
    }

    async fn run(
        &self,
        original: &Path,
        folder: &Path,
        name: &str,
        look: Look,
    ) -> Result<PictureFacts, ErrorReport> {
        let (least, most) = (look.least.to_string(), look.most.to_string());
        let arguments: [&OsStr; 10] = [
            "picture".as_ref(),
            original.as_ref(),
            "--out".as_ref(),
            folder.as_ref(),
            "--detail".as_ref(),
            look.detail().as_ref(),
            "--least".as_ref(),
            least.as_ref(),
            "--most".as_ref(),
            most.as_ref(),
        ];
        let said = timeout(TIMEOUT, self.tool.output(arguments)).await;
        let said = said.map_err(|_| PictureError::Slow { name: name.to_owned() })?;
        let said = said.map_err(|error| match error.code == ENGINE_DIED {
            true => PictureError::Died { name: name.to_owned() }.into(),
            // The engine knows the picture by a name that nobody else does.
            false => ErrorReport { message: format!("{name}: {}", error.message), ..error },
        })?;
        serde_json::from_str(&said).map_err(|error| {
            let source = io::Error::other(error);
            PictureError::Io { name: name.to_owned(), source }.into()
        })
    }
}
