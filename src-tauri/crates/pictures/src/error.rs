//! What can be wrong with a picture, and with the pixels that were made of one; each with a stable code for programs
//! and a hint for people. The file's name is not told where it is the picture that is wrong: whoever asked knows it,
//! and it may be that of a temporary file.

use std::error::Error;
use std::path::PathBuf;

use foretoken_protocol::{ErrorReport, PictureFormat};
use image::ImageError;

use crate::foreign::Foreign;
use crate::limits::{LARGEST_AREA, LARGEST_SIDE, MEMORY};

/// Why no picture could be prepared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// The file is not there, or may not be read.
    #[error("{} cannot be read: {detail}.", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// It is a folder, a pipe or a device.
    #[error("{} is not a file.", path.display())]
    NotAFile {
        /// What it is called.
        path: PathBuf,
    },
    /// The file is larger than what is read.
    #[error("The picture's file is larger than {} MB.", most >> 20)]
    LargeFile {
        /// The most bytes that are read.
        most: u64,
    },
    /// The file is known, and nothing that is read here.
    #[error("This file is {kind}.")]
    Foreign {
        /// What it is.
        kind: Foreign,
    },
    /// The file begins like no picture that is known.
    #[error("This file is no picture of a kind that is known here.")]
    Unknown,
    /// The picture has too many pixels.
    #[error(
        "The picture is too large: {width} × {height} pixels, where a side may have {LARGEST_SIDE} and all of it \
         {} million.",
        LARGEST_AREA / 1_000_000
    )]
    Large {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// One side is more than 200 times as long as the other, or there is none.
    #[error(
        "The picture is {width} × {height} pixels; no side may have more than 200 times as many as the other."
    )]
    Narrow {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// Decoding would take too much memory.
    #[error("Decoding this {format} would take more than {} MB of memory.", MEMORY >> 20)]
    Memory {
        /// As what it came.
        format: PictureFormat,
    },
    /// The file contradicts itself, or ends early.
    #[error("This {format} is damaged: {detail}.")]
    Damaged {
        /// As what it came.
        format: PictureFormat,
        /// What the decoder says.
        detail: String,
    },
    /// The file uses a part of its format that few programs know.
    #[error("This {format} uses what cannot be read here: {detail}.")]
    Unsupported {
        /// As what it came.
        format: PictureFormat,
        /// What the decoder says.
        detail: String,
    },
    /// The decoder came to its own end.
    #[error("This file is damaged so badly that the program which read it gave up.")]
    GaveUp,
    /// The system's own converter failed.
    #[error("macOS cannot read this {format}: {detail}.")]
    System {
        /// As what it came.
        format: PictureFormat,
        /// What it says.
        detail: String,
    },
    /// What was made cannot be written.
    #[error("{} cannot be written: {detail}.", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
}

impl PictureError {
    /// What a decoder says of a file.
    pub(crate) fn decoding(format: PictureFormat, error: &ImageError) -> Self {
        // The decoder's own words, if it has any; they stand within a sentence.
        let detail = || within_a_sentence(error.source().unwrap_or(error));
        match error {
            ImageError::Limits(_) => Self::Memory { format },
            ImageError::Unsupported(_) => Self::Unsupported { format, detail: detail() },
            _ => Self::Damaged { format, detail: detail() },
        }
    }

    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Input { .. } => "picture_not_read",
            Self::NotAFile { .. } => "picture_not_a_file",
            Self::LargeFile { .. } => "picture_file_too_large",
            Self::Foreign { .. } => "picture_format",
            Self::Unknown => "picture_unknown",
            Self::Large { .. } => "picture_too_large",
            Self::Narrow { .. } => "picture_too_narrow",
            Self::Memory { .. } => "picture_memory",
            Self::Damaged { .. } => "picture_damaged",
            Self::Unsupported { .. } => "picture_unsupported",
            Self::GaveUp => "picture_gave_up",
            Self::System { .. } => "picture_system",
            Self::Output { .. } => "picture_not_written",
        }
    }

    /// What people can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Input { .. } => "Check that the file is there and that you may read it.",
            Self::NotAFile { .. } => "Choose a picture's file.",
            Self::LargeFile { .. } | Self::Large { .. } | Self::Memory { .. } => {
                "Make it smaller in another program; no model sees as much."
            }
            Self::Foreign { kind } => kind.hint(),
            Self::Unknown => "PNG, JPEG, WebP, GIF, BMP and TIFF can be read; save it as one of them.",
            Self::Narrow { .. } => "Cut it into pieces, or leave off what is empty.",
            Self::Damaged { .. } | Self::Unsupported { .. } | Self::GaveUp | Self::System { .. } => {
                "Open it in another program and save it anew as PNG or JPEG."
            }
            Self::Output { .. } => {
                "Check that the folder exists, that you may write in it and that its disk has room."
            }
        }
    }
}

/// What another program says, on one line and without a full stop.
pub(crate) fn within_a_sentence(error: &dyn Error) -> String {
    let words = error.to_string();
    words.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

/// Why a file of pixels is not what [`Pixels::write`](crate::Pixels::write) made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PixelsError {
    /// The file is not there, or may not be read.
    #[error("The pixels in {} cannot be read: {detail}.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// It is a link, a folder, a pipe or a device.
    #[error("{} is not a file of pixels, but a link or a folder.", path.display())]
    NotAFile {
        /// What it is called.
        path: PathBuf,
    },
    /// The file begins otherwise.
    #[error("{} is not a file of pixels.", path.display())]
    Magic {
        /// The file.
        path: PathBuf,
    },
    /// A side is 0 or no multiple of 32, or there are more pixels than any model reads.
    #[error("{} claims {width} × {height} pixels, which no picture for a model has.", path.display())]
    Sides {
        /// The file.
        path: PathBuf,
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// The file is longer or shorter than its sides say.
    #[error("{} has {found} bytes where its pixels take {expected}.", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// What its sides take, header included.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// The pixels are others than those that were written.
    #[error("The pixels in {} are damaged: their digest is another.", path.display())]
    Digest {
        /// The file.
        path: PathBuf,
    },
}

impl PixelsError {
    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "pixels_not_read",
            Self::NotAFile { .. } => "pixels_not_a_file",
            Self::Magic { .. } => "pixels_unknown",
            Self::Sides { .. } => "pixels_sides",
            Self::Length { .. } => "pixels_length",
            Self::Digest { .. } => "pixels_damaged",
        }
    }

    /// What people can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        "Add the picture again."
    }
}

impl From<&PictureError> for ErrorReport {
    fn from(error: &PictureError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

impl From<&PixelsError> for ErrorReport {
    fn from(error: &PixelsError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}
