//! Pictures of the page: whether one is whole, and how far two are alike. WebKit hands out what it has drawn so far,
//! and where it has not drawn yet since the window has had its size, that is black or white.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::Cursor;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Filter, Transformations};

/// Red, green and blue.
pub(crate) type Colour = [u8; 3];

/// What may stand where nothing has been drawn.
const BLANK: [Colour; 2] = [[0; 3], [255; 3]];
/// One in so many pixels may have such a colour all the same: a glyph, the edge of an icon.
const MOST: usize = 50;

/// The colours of a PNG file whose pixels are a byte each.
const PALETTE: usize = 256;

/// Red, green and blue of every pixel.
pub(crate) struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<Colour>,
}

impl Picture {
    /// Reads a PNG file, in full colour or with a palette.
    pub(crate) fn read(png: &[u8]) -> Self {
        let mut decoder = Decoder::new(Cursor::new(png));
        decoder.set_transformations(Transformations::EXPAND);
        let mut reader = decoder.read_info().expect("a PNG file");
        let mut bytes = vec![0; reader.output_buffer_size().expect("a picture that fits into memory")];
        let frame = reader.next_frame(&mut bytes).expect("a whole PNG file");
        assert_eq!((frame.color_type, frame.bit_depth), (ColorType::Rgb, BitDepth::Eight));
        bytes.truncate(frame.buffer_size());
        Self { width: frame.width, height: frame.height, pixels: bytes.as_chunks().0.to_vec() }
    }

    /// As a PNG file that is small: with few colours, to one of which each of its own is near.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut counts = HashMap::new();
        for pixel in &self.pixels {
            *counts.entry(*pixel).or_insert(0_u32) += 1;
        }
        let mut colours: Vec<_> =
            counts.into_iter().map(|(colour, count)| (Reverse(count), colour)).collect();
        colours.sort_unstable();
        let colours: Vec<_> = colours.into_iter().map(|(_, colour)| colour).collect();
        let palette = palette(&colours);
        let places: HashMap<_, _> =
            colours.iter().map(|&colour| (colour, nearest(&palette, colour))).collect();
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(ColorType::Indexed);
        encoder.set_palette(palette.as_flattened());
        encoder.set_compression(Compression::High);
        encoder.set_filter(Filter::NoFilter);
        let mut writer = encoder.write_header().expect("a header");
        let bytes: Vec<_> = self.pixels.iter().map(|pixel| places[pixel]).collect();
        writer.write_image_data(&bytes).expect("as many pixels as the header says");
        drop(writer);
        file
    }

    /// In how many pixels of two pictures a channel differs by more than `tolerance`; in all where the sizes differ.
    pub(crate) fn unlike(&self, other: &Self, tolerance: u8) -> usize {
        if (self.width, self.height) != (other.width, other.height) {
            return self.pixels.len().max(other.pixels.len());
        }
        let differs = |(a, b): &(&Colour, &Colour)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > tolerance);
        self.pixels.iter().zip(&other.pixels).filter(differs).count()
    }

    /// The same with all from a line on moved down by some lines.
    pub(crate) fn moved_down(&self, from: u32, by: u32) -> Self {
        let width = self.width as usize;
        let (from, by) = (from as usize * width, by as usize * width);
        let mut pixels = self.pixels.clone();
        pixels.copy_within(from..self.pixels.len() - by, from + by);
        Self { pixels, ..*self }
    }
}

/// The place of the colour of a palette that is most like another.
fn nearest(palette: &[Colour], colour: Colour) -> u8 {
    let (place, _) =
        palette.iter().enumerate().min_by_key(|(_, other)| distance(&colour, other)).expect("a colour");
    u8::try_from(place).expect("a palette has as many colours as a byte has values")
}

/// Of colours, the most frequent first, those that fit into a PNG file and stand for the others, as near as it goes.
fn palette(colours: &[Colour]) -> Vec<Colour> {
    let mut apart = 0;
    loop {
        let mut palette: Vec<Colour> = Vec::new();
        for colour in colours {
            if palette.len() <= PALETTE && palette.iter().all(|other| distance(colour, other) > apart) {
                palette.push(*colour);
            }
        }
        if palette.len() <= PALETTE {
            return palette;
        }
        apart = apart * 5 / 4 + 8;
    }
}

/// How unlike two colours are: the square of their distance.
fn distance(a: &Colour, b: &Colour) -> u32 {
    a.iter().zip(b).map(|(&a, &b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

/// Whether a PNG file in full colour shows a page with this background, which is drawn everywhere. No theme has a
/// surface that is black, and only the light one has white ones, its background.
pub(crate) fn is_painted(png: &[u8], background: Colour) -> bool {
    let Picture { pixels, .. } = Picture::read(png);
    let is_blank = |pixel: &&Colour| **pixel != background && BLANK.contains(pixel);
    pixels.iter().filter(is_blank).count() * MOST < pixels.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 120;
    const HEIGHT: usize = 80;
    const LIGHT: Colour = [0xff, 0xff, 0xff];
    const DARK: Colour = [0x1c, 0x1c, 0x1e];
    const BLACK: Colour = [0; 3];

    /// A picture of a page with a sidebar and some text.
    fn page(background: Colour, sidebar: Colour, text: Colour) -> Vec<Colour> {
        let pixel = |at: usize| match (at % WIDTH, at / WIDTH) {
            (0..20, _) => sidebar,
            (x, y) if x % 3 == 0 && y % 8 == 0 => text,
            _ => background,
        };
        (0..WIDTH * HEIGHT).map(pixel).collect()
    }

    fn light() -> Vec<Colour> {
        page(LIGHT, [0xf6, 0xf6, 0xf4], [0x1d, 0x1d, 0x1f])
    }

    fn dark() -> Vec<Colour> {
        page(DARK, [0x23, 0x23, 0x25], [0xf2, 0xf2, 0xf3])
    }

    /// The picture with its upper lines in one colour.
    fn covered(mut picture: Vec<Colour>, lines: usize, colour: Colour) -> Vec<Colour> {
        picture[..lines * WIDTH].fill(colour);
        picture
    }

    fn is_painted(picture: &[Colour], background: Colour) -> bool {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, WIDTH as u32, HEIGHT as u32);
        encoder.set_color(ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(picture.as_flattened()).unwrap();
        drop(writer);
        super::is_painted(&file, background)
    }

    #[test]
    fn a_page_that_is_drawn_everywhere_is_painted() {
        assert!(is_painted(&light(), LIGHT));
        assert!(is_painted(&dark(), DARK));
        // Black letters, and an empty page.
        assert!(is_painted(&covered(light(), 1, BLACK), LIGHT));
        assert!(is_painted(&covered(light(), HEIGHT, LIGHT), LIGHT));
        assert!(is_painted(&covered(dark(), HEIGHT, DARK), DARK));
    }

    #[test]
    fn a_page_of_which_a_part_is_missing_is_not_painted() {
        for lines in [4, HEIGHT / 2, HEIGHT] {
            assert!(!is_painted(&covered(light(), lines, BLACK), LIGHT), "{lines} lines");
            assert!(!is_painted(&covered(dark(), lines, BLACK), DARK), "{lines} lines");
            assert!(!is_painted(&covered(dark(), lines, LIGHT), DARK), "{lines} lines");
        }
    }
}
