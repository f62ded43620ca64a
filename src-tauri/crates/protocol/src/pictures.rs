//! Pictures: in which detail a model sees one, and what is told of one that was prepared.

use serde::{Deserialize, Serialize};
use specta::Type;

/// In which detail a model sees a picture: the largest area that it is resized to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum PictureDetail {
    /// 262 144 pixels, 256 tokens.
    Low,
    /// 1 048 576 pixels, 1024 tokens.
    #[default]
    Standard,
    /// 4 194 304 pixels, 4096 tokens.
    High,
    /// As much as the model reads.
    Original,
}

impl PictureDetail {
    /// The largest area in pixels; `None` where the model alone limits it.
    pub fn most_pixels(self) -> Option<u32> {
        match self {
            Self::Low => Some(1 << 18),
            Self::Standard => Some(1 << 20),
            Self::High => Some(1 << 22),
            Self::Original => None,
        }
    }
}

/// As what a picture came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum PictureFormat {
    /// Portable Network Graphics, animated or not.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP, lossy or not.
    Webp,
    /// GIF.
    Gif,
    /// A Windows bitmap.
    Bmp,
    /// TIFF.
    Tiff,
    /// HEIC or HEIF, as iPhones write it.
    Heic,
    /// AVIF.
    Avif,
}

impl PictureFormat {
    /// How the names of its files end, without the dot. Behind `image/` it is their media type.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
            Self::Gif => "gif",
            Self::Bmp => "bmp",
            Self::Tiff => "tiff",
            Self::Heic => "heic",
            Self::Avif => "avif",
        }
    }
}

impl std::fmt::Display for PictureFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Webp => "WebP",
            Self::Gif => "GIF",
            Self::Bmp => "BMP",
            Self::Tiff => "TIFF",
            Self::Heic => "HEIC",
            Self::Avif => "AVIF",
        })
    }
}

/// A picture that was prepared for a model and for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct PictureFacts {
    /// As what it came; the file's bytes say so, not its name.
    pub format: PictureFormat,
    /// Its width in pixels, upright.
    pub width: u32,
    /// Its height in pixels, upright.
    pub height: u32,
    /// The width that the model sees.
    pub resized_width: u32,
    /// The height that the model sees.
    pub resized_height: u32,
    /// How many tokens it is to the model, without the two marks around it.
    pub tokens: u32,
    /// The SHA-256 of the bytes that the model sees, in hexadecimal digits.
    pub digest: String,
    /// The name of the file that people see.
    pub view: String,
    /// What people should know: sentences about what the model does not see, or sees otherwise.
    pub notes: Vec<String>,
}

/// A picture that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MessagePicture {
    /// The SHA-256 of its file, in hexadecimal digits, by which it is found.
    pub hash: String,
    /// Its file's name, without the folder.
    pub name: String,
    /// As what it came.
    pub format: PictureFormat,
    /// In which detail the model sees it.
    pub detail: PictureDetail,
    /// Its width in pixels, upright.
    pub width: u32,
    /// Its height in pixels, upright.
    pub height: u32,
    /// How many tokens it is to the model in this detail, without the two marks around it.
    pub tokens: u32,
    /// The size of its file.
    pub bytes: u64,
    /// Whether its file is gone, so that nobody can see it.
    pub missing: bool,
}
/// How far a prompt's pictures have come through the vision tower, in its blocks; of several pictures all count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Looked {
    /// Blocks that are done.
    pub done: u32,
    /// Blocks in all.
    pub total: u32,
}
