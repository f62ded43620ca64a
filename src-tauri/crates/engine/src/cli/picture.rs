//! The `picture` command: makes of a picture's file the pixels that a model reads and a view for people. The app runs
//! it in a process of its own that may take at most 1.5 GiB, so that a hostile picture ends only this process.

use std::io::{self, Write};
use std::panic::catch_unwind;
use std::path::PathBuf;

use clap::Args;
use foretoken_pictures::{FACTOR, LARGEST_AREA, LEAST_AREA, PictureError, SizeRule, prepare};
use foretoken_protocol::{ErrorReport, PictureDetail};

use super::CliError;

/// What the largest pictures take while they are decoded. Asked of the allocator: macOS limits no process's address
/// space.
const MEMORY: usize = 3 << 29;
/// The smallest area that has a token.
const TOKEN: i64 = (FACTOR * FACTOR) as i64;

/// Make of a picture what a model reads. A process of its own, which may end over a damaged file.
///
/// Writes pixels.rgb for the model and view.jpg or view.png for people, and prints a line of JSON.
#[derive(Debug, Args)]
pub(super) struct Picture {
    /// The picture: PNG, JPEG, WebP, GIF, BMP, TIFF; on macOS also HEIC, HEIF and AVIF.
    file: PathBuf,
    /// Write into this folder.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// In which detail the model sees it.
    #[arg(long, value_enum, default_value_t)]
    detail: Detail,
    /// The smallest area that the model reads, in pixels.
    #[arg(long, value_name = "PIXELS", default_value_t = LEAST_AREA)]
    #[arg(value_parser = clap::value_parser!(u32).range(TOKEN..=i64::from(LARGEST_AREA)))]
    least: u32,
    /// The largest, in pixels; less with a lower detail.
    #[arg(long, value_name = "PIXELS", default_value_t = LARGEST_AREA)]
    #[arg(value_parser = clap::value_parser!(u32).range(TOKEN..=i64::from(LARGEST_AREA)))]
    most: u32,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(super) enum Detail {
    /// At most 256 tokens.
    Low,
    /// At most 1024 tokens.
    #[default]
    Standard,
    /// At most 4096 tokens.
    High,
    /// As much as the model reads.
    Original,
}

impl Detail {
    /// As it is named on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Standard => "standard",
            Self::High => "high",
            Self::Original => "original",
        }
    }
}

impl From<Detail> for PictureDetail {
    fn from(detail: Detail) -> Self {
        match detail {
            Detail::Low => Self::Low,
            Detail::Standard => Self::Standard,
            Detail::High => Self::High,
            Detail::Original => Self::Original,
        }
    }
}

impl Picture {
    pub(super) fn run(self) -> Result<(), CliError> {
        crate::limit_memory(MEMORY);
        // Decoders panic at some of what damaged files hold, and say so on standard error, where one line is expected.
        std::panic::set_hook(Box::new(|_| {}));
        let rule = SizeRule::new(self.least, self.most).within(self.detail.into());
        let prepared = catch_unwind(|| prepare(&self.file, &self.out, rule));
        let facts = prepared.unwrap_or(Err(PictureError::GaveUp));
        let facts = facts.map_err(|error| CliError::Engine(ErrorReport::from(&error)))?;
        Ok(writeln!(io::stdout().lock(), "{}", serde_json::to_string(&facts).map_err(io::Error::from)?)?)
    }
}
