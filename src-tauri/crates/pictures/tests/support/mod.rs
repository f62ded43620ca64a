//! Pictures in every format, small and made here.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ImageEncoder, ImageFormat, Rgb, RgbImage};
use tiff::encoder::{TiffEncoder, colortype};
use tiff::tags::Tag;

/// Four fields of different colours, with a ramp in each, so that no turn of it is another.
pub(crate) fn fields(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let (right, low) = (2 * x >= width, 2 * y >= height);
        let ramp = (x * 90 / width) as u8;
        Rgb([if right { 220 } else { 20 }, if low { 200 } else { 40 }, 60 + ramp])
    })
}

/// EXIF data that say how the picture is to be turned, in either order of bytes.
pub(crate) fn exif(orientation: u16, big_endian: bool) -> Vec<u8> {
    let short = |number: u16| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let long = |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let mut exif = if big_endian { b"MM".to_vec() } else { b"II".to_vec() };
    exif.extend(short(42));
    exif.extend(long(8));
    exif.extend(short(1));
    exif.extend([short(0x112), short(3)].concat());
    exif.extend(long(1));
    exif.extend([short(orientation), short(0)].concat());
    exif.extend(long(0));
    exif
}

pub(crate) fn png(picture: &DynamicImage, exif: Option<Vec<u8>>) -> Vec<u8> {
    let mut file = Vec::new();
    write(PngEncoder::new(&mut file), picture, exif);
    file
}

pub(crate) fn jpeg(picture: &RgbImage, exif: Option<Vec<u8>>) -> Vec<u8> {
    let mut file = Vec::new();
    write(JpegEncoder::new_with_quality(&mut file, 98), &DynamicImage::from(picture.clone()), exif);
    file
}

pub(crate) fn webp(picture: &DynamicImage, exif: Option<Vec<u8>>) -> Vec<u8> {
    let mut file = Vec::new();
    write(WebPEncoder::new_lossless(&mut file), picture, exif);
    file
}

fn write(mut encoder: impl ImageEncoder, picture: &DynamicImage, exif: Option<Vec<u8>>) {
    if let Some(exif) = exif {
        encoder.set_exif_metadata(exif).unwrap();
    }
    encoder
        .write_image(picture.as_bytes(), picture.width(), picture.height(), picture.color().into())
        .unwrap();
}

/// As the crate `image` writes a format.
pub(crate) fn plainly(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format).unwrap();
    file.into_inner()
}

/// A TIFF of these pages, each of one size and with these tags.
pub(crate) fn tiff(pages: &[&RgbImage], tags: &[(u16, u32)]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    for page in pages {
        let mut image = encoder.new_image::<colortype::RGB8>(page.width(), page.height()).unwrap();
        for (tag, value) in tags {
            // As cameras write it.
            match u16::try_from(*value) {
                Ok(short) if *tag == Tag::Orientation.to_u16() => {
                    image.encoder().write_tag(Tag::Orientation, short).unwrap()
                }
                _ => image.encoder().write_tag(Tag::from_u16_exhaustive(*tag), *value).unwrap(),
            }
        }
        image.write_data(page.as_raw()).unwrap();
    }
    file.into_inner()
}

/// A GIF of these frames.
pub(crate) fn gif(frames: &[RgbImage]) -> Vec<u8> {
    let mut file = Vec::new();
    let size = |side: u32| u16::try_from(side).unwrap();
    let (width, height) = (size(frames[0].width()), size(frames[0].height()));
    let mut encoder = gif::Encoder::new(&mut file, width, height, &[]).unwrap();
    for frame in frames {
        encoder.write_frame(&gif::Frame::from_rgb(width, height, frame.as_raw())).unwrap();
    }
    drop(encoder);
    file
}

/// A PNG with an animation of these frames.
pub(crate) fn animated_png(frames: &[RgbImage]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, frames[0].width(), frames[0].height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_animated(frames.len() as u32, 0).unwrap();
    let mut writer = encoder.write_header().unwrap();
    frames.iter().for_each(|frame| writer.write_image_data(frame.as_raw()).unwrap());
    writer.finish().unwrap();
    file
}

/// A WebP with an animation of these frames, without loss.
pub(crate) fn animated_webp(frames: &[RgbImage]) -> Vec<u8> {
    let chunk = |name: &[u8; 4], content: &[u8]| {
        let mut chunk = [name, &(content.len() as u32).to_le_bytes()[..], content].concat();
        chunk.resize(chunk.len().next_multiple_of(2), 0);
        chunk
    };
    let (width, height) = frames[0].dimensions();
    let side = |side: u32| (side - 1).to_le_bytes()[..3].to_vec();
    let size = [side(width), side(height)].concat();
    let mut chunks = b"WEBP".to_vec();
    chunks.extend(chunk(b"VP8X", &[&[2, 0, 0, 0], &size[..]].concat()));
    chunks.extend(chunk(b"ANIM", &[255, 255, 255, 255, 0, 0]));
    for frame in frames {
        // The picture's own chunk stands behind the twelve bytes that every WebP begins with.
        let still = webp(&frame.clone().into(), None)[12..].to_vec();
        chunks.extend(chunk(b"ANMF", &[&[0; 6], &size[..], &[100, 0, 0, 2], &still].concat()));
    }
    chunk(b"RIFF", &chunks)
}

/// A PNG of the crate `png`, which has more forms than `image` writes.
pub(crate) fn png_of(
    (width, height): (u32, u32),
    colour: png::ColorType,
    depth: png::BitDepth,
    palette: Option<&[u8]>,
    data: &[u8],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    if let Some(palette) = palette {
        encoder.set_palette(palette);
    }
    encoder.write_header().unwrap().write_image_data(data).unwrap();
    file
}
