//! Whether a picture of the page is whole. WebKit hands out what it has drawn so far, and where it has not drawn yet
//! since the window has had its size, that is black or white.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder};

/// Red, green and blue.
pub(crate) type Colour = [u8; 3];

/// What may stand where nothing has been drawn.
const BLANK: [Colour; 2] = [[0; 3], [255; 3]];
/// One in so many pixels may have such a colour all the same: a glyph, the edge of an icon.
const MOST: usize = 50;

/// Whether a PNG file in full colour shows a page with this background, which is drawn everywhere. No theme has a
/// surface that is black, and only the light one has white ones, its background.
pub(crate) fn is_painted(png: &[u8], background: Colour) -> bool {
    let pixels = pixels(png);
    let is_blank = |pixel: &&Colour| **pixel != background && BLANK.contains(pixel);
    pixels.iter().filter(is_blank).count() * MOST < pixels.len()
}

fn pixels(png: &[u8]) -> Vec<Colour> {
    let mut reader = Decoder::new(Cursor::new(png)).read_info().expect("a PNG file");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a picture that fits into memory")];
    let frame = reader.next_frame(&mut bytes).expect("a whole PNG file");
    assert_eq!((frame.color_type, frame.bit_depth), (ColorType::Rgb, BitDepth::Eight));
    bytes.truncate(frame.buffer_size());
    bytes.as_chunks().0.to_vec()
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
