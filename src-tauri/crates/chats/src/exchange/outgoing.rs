//! Pictures on their way into a file, one at a time in memory.

use std::fs;
use std::path::PathBuf;

use foretoken_protocol::{ExportReport, ExportedPictures, MessagePicture, PictureFormat};

use super::metadata::without_metadata;
use crate::pictures::PictureFiles;

/// Gives out what goes into a file, and counts it.
pub(super) struct Outgoing {
    files: PictureFiles,
    choice: ExportedPictures,
    pub(super) report: ExportReport,
}

/// A picture as it goes into a file.
pub(super) struct Sent {
    pub(super) content: Vec<u8>,
    pub(super) format: PictureFormat,
}

impl Outgoing {
    pub(super) fn new(files: PictureFiles, choice: ExportedPictures) -> Self {
        Self { files, choice, report: ExportReport::default() }
    }

    /// What goes out of a picture, which is asked for once; `None` if it is left out or gone.
    pub(super) fn take(&mut self, picture: &MessagePicture) -> Option<Sent> {
        let &MessagePicture { ref hash, format, .. } = picture;
        let sent = match self.choice {
            ExportedPictures::LeftOut => return None,
            ExportedPictures::AsTheyAre => {
                read(self.files.original(hash)).map(|content| Sent { content, format })
            }
            ExportedPictures::WithoutMetadata => read(self.files.original(hash)).and_then(|original| {
                let stripped = without_metadata(&original, format);
                stripped.map(|content| Sent { content, format }).or_else(|| self.view(hash))
            }),
        };
        match sent {
            Some(_) => self.report.pictures += 1,
            None => self.report.missing += 1,
        }
        sent
    }

    fn view(&mut self, hash: &str) -> Option<Sent> {
        let file = self.files.view(hash)?;
        let is_png = file.extension().is_some_and(|extension| extension == "png");
        let content = read(Some(file))?;
        self.report.views += 1;
        Some(Sent { content, format: if is_png { PictureFormat::Png } else { PictureFormat::Jpeg } })
    }
}

fn read(file: Option<PathBuf>) -> Option<Vec<u8>> {
    let file = file?;
    fs::read(&file).inspect_err(|error| tracing::warn!("{} cannot be read: {error}", file.display())).ok()
}
