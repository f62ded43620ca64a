//! Decodes a file's bytes: within limits that its header is held to before any pixel is decoded, upright, in 8 bits.
//! Colour profiles are left aside: models were shown the values as they stand.

use std::io::Cursor;

use foretoken_protocol::PictureFormat;
use image::codecs::bmp::BmpDecoder;
use image::codecs::gif::GifDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::tiff::TiffDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, Limits, RgbImage, RgbaImage};
use tiff::tags::Tag;

use crate::error::{PictureError, within_a_sentence};
use crate::foreign::Foreign;
use crate::limits::{LARGEST_AREA, LARGEST_SIDE, MEMORY};
use crate::size::check_ratio;

/// What some programs write before EXIF data, and others do not.
const EXIF: &[u8] = b"Exif\0\0";
/// A tag that every DNG has in its first folder.
const DNG_VERSION: Tag = Tag::Unknown(0xc612);

/// A picture, upright.
pub(crate) struct Decoded {
    /// What a model sees: what is transparent lies on white.
    pub(crate) on_white: RgbImage,
    /// The picture itself, if any of it is transparent.
    pub(crate) transparent: Option<RgbaImage>,
    /// What people should know of it.
    pub(crate) notes: Vec<String>,
}

/// Decodes a file that was found to be of this format; HEIC and AVIF are decoded elsewhere.
pub(crate) fn decode(bytes: &[u8], format: PictureFormat) -> Result<Decoded, PictureError> {
    let told = |error: ImageError| PictureError::decoding(format, &error);
    let file = || Cursor::new(bytes);
    let one_frame =
        |several: bool| several.then(|| "Only the first frame of the animation is used.".to_owned());
    let (image, note) = match format {
        PictureFormat::Png => {
            let decoder = PngDecoder::with_limits(file(), limits()).map_err(told)?;
            let several = decoder.is_apng().map_err(told)?;
            (pixels(decoder, bytes, format)?, one_frame(several))
        }
        PictureFormat::Jpeg => (pixels(JpegDecoder::new(file()).map_err(told)?, bytes, format)?, None),
        PictureFormat::Webp => {
            let decoder = WebPDecoder::new(file()).map_err(told)?;
            let several = decoder.has_animation();
            (pixels(decoder, bytes, format)?, one_frame(several))
        }
        PictureFormat::Gif => {
            let image = pixels(GifDecoder::new(file()).map_err(told)?, bytes, format)?;
            let frames = frames(bytes);
            (image, (frames > 1).then(|| format!("Only the first of {frames} frames is used.")))
        }
        PictureFormat::Bmp => (pixels(BmpDecoder::new(file()).map_err(told)?, bytes, format)?, None),
        PictureFormat::Tiff => {
            let several = tiff_pages(bytes)?;
            let image = pixels(TiffDecoder::new(file()).map_err(told)?, bytes, format)?;
            (image, several.then(|| "Only the first page is used.".to_owned()))
        }
        PictureFormat::Heic => return Err(PictureError::Foreign { kind: Foreign::Heic }),
        PictureFormat::Avif => return Err(PictureError::Foreign { kind: Foreign::Avif }),
    };
    let mut notes = Vec::from_iter(note);
    if !image.color().has_alpha() {
        return Ok(Decoded { on_white: image.into_rgb8(), transparent: None, notes });
    }
    let image = image.into_rgba8();
    let on_white = on_white(&image);
    let transparent = image.pixels().any(|pixel| pixel[3] < u8::MAX).then_some(image);
    if transparent.is_some() {
        notes.push("Transparent parts are put on white.".to_owned());
    }
    Ok(Decoded { on_white, transparent, notes })
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MEMORY);
    limits
}

/// Refuses a picture of which a header claims too much.
pub(crate) fn check_size((width, height): (u32, u32)) -> Result<(), PictureError> {
    let area = u64::from(width) * u64::from(height);
    if width.max(height) > LARGEST_SIDE || area > LARGEST_AREA {
        return Err(PictureError::Large { width, height });
    }
    check_ratio((width, height))
}

/// What a decoder that has read the header gives, upright.
fn pixels(
    mut decoder: impl ImageDecoder,
    file: &[u8],
    format: PictureFormat,
) -> Result<DynamicImage, PictureError> {
    let told = |error: ImageError| PictureError::decoding(format, &error);
    check_size(decoder.dimensions())?;
    if decoder.total_bytes() > MEMORY {
        return Err(PictureError::Memory { format });
    }
    decoder.set_limits(limits()).map_err(told)?;
    let orientation = orientation(&mut decoder, file, format);
    let mut image = DynamicImage::from_decoder(decoder).map_err(told)?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// How to turn the picture; one whose EXIF data are damaged stands as it is.
fn orientation(decoder: &mut impl ImageDecoder, file: &[u8], format: PictureFormat) -> Orientation {
    let of_exif = |exif: &[u8]| Orientation::from_exif_chunk(exif.strip_prefix(EXIF).unwrap_or(exif));
    let found = match format {
        PictureFormat::Tiff => decoder.orientation().ok(),
        // Its decoder takes as much memory as the chunk claims to need.
        PictureFormat::Webp => webp_exif(file).and_then(of_exif),
        _ => decoder.exif_metadata().ok().flatten().and_then(|exif| of_exif(&exif)),
    };
    found.unwrap_or(Orientation::NoTransforms)
}

/// The content of a WebP's chunk of EXIF data.
fn webp_exif(file: &[u8]) -> Option<&[u8]> {
    let mut rest = file.get(12..)?;
    loop {
        let (name, behind) = rest.split_first_chunk::<4>()?;
        let (length, behind) = behind.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        if name == b"EXIF" {
            return behind.get(..length);
        }
        rest = behind.get(length.next_multiple_of(2)..)?;
    }
}

/// How many frames a GIF has, as far as it is not damaged; none is decoded.
fn frames(bytes: &[u8]) -> usize {
    let mut options = gif::DecodeOptions::new();
    options.skip_frame_decoding(true);
    let Ok(mut decoder) = options.read_info(bytes) else { return 0 };
    std::iter::from_fn(|| decoder.next_frame_info().ok().flatten().map(drop)).count()
}

/// Whether a TIFF has several pages. What cameras record is refused: its first page is a small preview.
fn tiff_pages(bytes: &[u8]) -> Result<bool, PictureError> {
    let told = |error: tiff::TiffError| PictureError::Damaged {
        format: PictureFormat::Tiff,
        detail: within_a_sentence(&error),
    };
    let mut decoder = tiff::decoder::Decoder::new(Cursor::new(bytes)).map_err(told)?;
    let is_raw = decoder.find_tag(DNG_VERSION).map_err(told)?.is_some();
    let kind = decoder.find_tag_unsigned::<u32>(Tag::NewSubfileType).map_err(told)?;
    let is_preview = kind.is_some_and(|kind| kind & 1 == 1);
    if is_raw || is_preview {
        return Err(PictureError::Foreign { kind: Foreign::Raw });
    }
    Ok(decoder.more_images())
}

fn on_white(image: &RgbaImage) -> RgbImage {
    let mut out = RgbImage::new(image.width(), image.height());
    for (to, from) in out.pixels_mut().zip(image.pixels()) {
        let [red, green, blue, alpha] = from.0.map(u32::from);
        let white = 255 * (255 - alpha);
        to.0 = [red, green, blue].map(|value| ((value * alpha + white + 127) / 255) as u8);
    }
    out
}
