//! Kinds of files that are known, and that are not read.

use std::fmt;

/// A file that is known, and that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// A drawing in SVG, which is a program.
    Svg,
    /// A PDF.
    Pdf,
    /// Encapsulated or other PostScript.
    Eps,
    /// A file of Photoshop.
    Psd,
    /// What a camera has recorded, before it is developed.
    Raw,
    /// An icon or a cursor of Windows.
    Icon,
    /// HEIC or HEIF where the system reads none.
    Heic,
    /// AVIF where the system reads none.
    Avif,
    /// JPEG XL.
    JpegXl,
    /// JPEG 2000.
    Jpeg2000,
    /// A film.
    Film,
    /// A ZIP archive, which documents of many programs are too.
    Zip,
}

impl Foreign {
    /// What people can do: one sentence.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Svg | Self::Eps | Self::Psd => "Export it as PNG and add that.",
            Self::Pdf => "Attach it as a file, and its text is read; or export a page as PNG.",
            Self::Raw => "Export it as JPEG and add that.",
            Self::Icon | Self::Heic | Self::Avif | Self::JpegXl | Self::Jpeg2000 => {
                "Save it as PNG or JPEG and add that."
            }
            Self::Film => "Add a single frame of it as PNG or JPEG.",
            Self::Zip => "Unpack it and add the pictures that are in it.",
        }
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Svg => "a drawing in SVG, not a picture of pixels",
            Self::Pdf => "a PDF, not a picture",
            Self::Eps => "a page in PostScript, not a picture of pixels",
            Self::Psd => "a Photoshop document, which cannot be read here",
            Self::Raw => "a camera's raw recording, which cannot be read here",
            Self::Icon => "a Windows icon, which cannot be read here",
            Self::Heic => "a picture in HEIC, which only macOS can read",
            Self::Avif => "a picture in AVIF, which only macOS can read",
            Self::JpegXl => "a picture in JPEG XL, which cannot be read here",
            Self::Jpeg2000 => "a picture in JPEG 2000, which cannot be read here",
            Self::Film => "a film, not a picture",
            Self::Zip => "a ZIP archive, or a document that is one",
        })
    }
}
