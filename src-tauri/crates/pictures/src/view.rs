//! What people see of a picture: small enough for a page, upright, and without anything that its file told beside it.

use foretoken_protocol::PictureFormat;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageResult};

use crate::decode::Decoded;
use crate::resize::resize;

/// The longer side of a view at most, in pixels.
const SIDE: u32 = 2048;
/// Of 100.
const QUALITY: u8 = 90;

pub(crate) const JPEG_FILE: &str = "view.jpg";
pub(crate) const PNG_FILE: &str = "view.png";

/// A file for people.
pub(crate) struct View {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl View {
    /// Photos become JPEG; what is transparent or came without loss becomes PNG.
    pub(crate) fn of(picture: &Decoded, format: PictureFormat) -> ImageResult<Self> {
        let from = picture.on_white.dimensions();
        let (width, height) = size(from);
        let mut bytes = Vec::new();
        if let Some(transparent) = &picture.transparent {
            let mut premultiplied = transparent.as_raw().clone();
            premultiply(&mut premultiplied);
            let mut pixels = resize::<4>(&premultiplied, from, (width, height));
            divide(&mut pixels);
            PngEncoder::new(&mut bytes).write_image(&pixels, width, height, ExtendedColorType::Rgba8)?;
            return Ok(Self { name: PNG_FILE, bytes });
        }
        let pixels = resize::<3>(picture.on_white.as_raw(), from, (width, height));
        let colour = ExtendedColorType::Rgb8;
        if matches!(format, PictureFormat::Png | PictureFormat::Gif | PictureFormat::Bmp) {
            PngEncoder::new(&mut bytes).write_image(&pixels, width, height, colour)?;
            return Ok(Self { name: PNG_FILE, bytes });
        }
        JpegEncoder::new_with_quality(&mut bytes, QUALITY).write_image(&pixels, width, height, colour)?;
        Ok(Self { name: JPEG_FILE, bytes })
    }
}

/// Width and height of the view of a picture that has these.
fn size((width, height): (u32, u32)) -> (u32, u32) {
    let longer = width.max(height);
    let scaled = |side: u32| (f64::from(side) * f64::from(SIDE) / f64::from(longer)).round().max(1.0) as u32;
    if longer <= SIDE { (width, height) } else { (scaled(width), scaled(height)) }
}

/// Colours that nobody sees must not run into their neighbours.
fn premultiply(rgba: &mut [u8]) {
    for [colour @ .., alpha] in rgba.as_chunks_mut::<4>().0 {
        *colour = colour.map(|value| ((u32::from(value) * u32::from(*alpha) + 127) / 255) as u8);
    }
}

fn divide(rgba: &mut [u8]) {
    for [colour @ .., alpha] in rgba.as_chunks_mut::<4>().0 {
        let alpha = u32::from(*alpha).max(1);
        *colour = colour.map(|value| ((u32::from(value) * 255 + alpha / 2) / alpha).min(255) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_side_is_at_most_2048() {
        let sizes = [
            ((1, 1), (1, 1)),
            ((2048, 2048), (2048, 2048)),
            ((4032, 3024), (2048, 1536)),
            ((3024, 4032), (1536, 2048)),
            ((32_768, 164), (2048, 10)),
        ];
        for (from, to) in sizes {
            assert_eq!(size(from), to);
        }
    }
}
