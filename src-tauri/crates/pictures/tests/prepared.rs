//! What is made of pictures of every kind: pixels for a model, a view for people.

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::fs;
use std::path::Path;

use foretoken_pictures::{Foreign, LARGEST_AREA, PIXELS_FILE, PictureError, Pixels, SizeRule, prepare};
use foretoken_protocol::{PictureFacts, PictureFormat};
use image::{DynamicImage, ImageFormat, LumaA, Rgb, RgbImage, Rgba, RgbaImage};
use support::{animated_png, animated_webp, exif, fields, gif, jpeg, plainly, png, png_of, tiff, webp};
use tempfile::TempDir;
use tiff::encoder::{TiffEncoder, colortype};
use tiff::tags::Tag;

/// Pictures whose sides are multiples of 32 stay as they are.
fn as_it_is() -> SizeRule {
    SizeRule::new(1024, LARGEST_AREA)
}

struct Made {
    facts: PictureFacts,
    /// What the model sees.
    seen: RgbImage,
    view: DynamicImage,
    view_file: Vec<u8>,
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn try_made(file: &[u8], rule: SizeRule) -> Result<Made, PictureError> {
    let folder = TempDir::new().unwrap();
    let (path, out) = (folder.path().join("picture"), folder.path().join("new").join("out"));
    fs::write(&path, file).unwrap();
    let facts = match prepare(&path, &out, rule) {
        Ok(facts) => facts,
        Err(error) => {
            assert!(!out.exists(), "nothing is written of a picture that is refused");
            return Err(error);
        }
    };
    assert_eq!(names(&out), [PIXELS_FILE, &facts.view]);
    let pixels = Pixels::read(&out.join(PIXELS_FILE)).unwrap();
    assert_eq!((facts.resized_width, facts.resized_height), (pixels.width, pixels.height));
    assert_eq!(facts.tokens, pixels.width * pixels.height / 1024);
    let digest: String = pixels.digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(facts.digest, digest);
    let view_file = fs::read(out.join(&facts.view)).unwrap();
    let is_png = view_file.starts_with(b"\x89PNG");
    assert_eq!(facts.view, if is_png { "view.png" } else { "view.jpg" });
    let view = image::load_from_memory(&view_file).unwrap();
    let seen = RgbImage::from_raw(pixels.width, pixels.height, pixels.rgb).unwrap();
    Ok(Made { facts, seen, view, view_file })
}

fn made(file: &[u8]) -> Made {
    try_made(file, as_it_is()).unwrap()
}

fn refused(file: &[u8]) -> PictureError {
    try_made(file, as_it_is()).err().expect("it is refused")
}

/// Refuses values that are further apart than what JPEG loses of these smooth pictures.
fn assert_near(a: &RgbImage, b: &RgbImage) {
    assert_eq!(a.dimensions(), b.dimensions());
    let apart: u32 = a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    assert!(apart < 3 * a.as_raw().len() as u32, "{apart} over {}", a.as_raw().len());
}

/// How a camera that was held so stores the upright picture.
fn stored(upright: &RgbImage, orientation: u16) -> RgbImage {
    let (w, h) = upright.dimensions();
    let (width, height) = if orientation < 5 { (w, h) } else { (h, w) };
    RgbImage::from_fn(width, height, |x, y| {
        let (x, y) = match orientation {
            1 => (x, y),
            2 => (w - 1 - x, y),
            3 => (w - 1 - x, h - 1 - y),
            4 => (x, h - 1 - y),
            5 => (y, x),
            6 => (w - 1 - y, x),
            7 => (w - 1 - y, h - 1 - x),
            _ => (y, h - 1 - x),
        };
        upright[(x, y)]
    })
}

#[test]
fn every_picture_stands_upright_however_the_camera_was_held() {
    let upright = fields(64, 32);
    for orientation in 1..=8 {
        let stored = stored(&upright, orientation);
        let picture = DynamicImage::from(stored.clone());
        let with_prefix = [b"Exif\0\0".to_vec(), exif(orientation, true)].concat();
        let without_loss = [
            png(&picture, Some(exif(orientation, false))),
            png(&picture, Some(exif(orientation, true))),
            webp(&picture, Some(exif(orientation, true))),
            webp(&picture, Some(with_prefix)),
            tiff(&[&stored], &[(Tag::Orientation.to_u16(), u32::from(orientation))]),
        ];
        for file in without_loss {
            let made = made(&file);
            assert!(made.seen == upright, "{} {orientation}", made.facts.format);
            assert_eq!((made.facts.width, made.facts.height), (64, 32));
            assert_near(&made.view.into_rgb8(), &upright);
        }
        for big_endian in [true, false] {
            let made = made(&jpeg(&stored, Some(exif(orientation, big_endian))));
            assert_near(&made.seen, &upright);
            assert_near(&made.view.into_rgb8(), &upright);
        }
    }
    // What no camera writes turns nothing.
    for damaged in [vec![], exif(0, true), exif(9, false), exif(65_535, true), exif(6, true)[..12].to_vec()] {
        assert!(made(&png(&upright.clone().into(), Some(damaged))).seen == upright);
    }
}

#[test]
fn transparent_parts_lie_on_white_for_the_model_and_stay_transparent_for_people() {
    let note = ["Transparent parts are put on white."];
    let values = [
        ([0, 0, 0, 0], [255, 255, 255]),
        ([10, 20, 30, 255], [10, 20, 30]),
        ([200, 0, 100, 51], [244, 204, 224]),
    ];
    for (rgba, rgb) in values {
        let picture = DynamicImage::from(RgbaImage::from_pixel(32, 32, Rgba(rgba)));
        for file in [png(&picture, None), webp(&picture, None), plainly(&picture, ImageFormat::Tiff)] {
            let Made { facts, seen, view, .. } = made(&file);
            assert_eq!(seen, RgbImage::from_pixel(32, 32, Rgb(rgb)));
            if rgba[3] == 255 {
                assert!(facts.notes.is_empty() && !view.color().has_alpha(), "{facts:?}");
            } else {
                assert_eq!(
                    (&facts.notes[..], facts.view.as_str()),
                    (&note.map(str::to_owned)[..], "view.png")
                );
                assert_eq!(view.into_rgba8()[(5, 5)][3], rgba[3]);
            }
        }
    }
    // Black strokes on black that nobody sees are not a black picture.
    let mut strokes = RgbaImage::new(64, 64);
    (0..64).for_each(|x| strokes[(x, 20)] = Rgba([0, 0, 0, 255]));
    let seen = made(&png(&strokes.into(), None)).seen;
    assert_eq!((seen[(9, 19)], seen[(9, 20)]), (Rgb([255; 3]), Rgb([0; 3])));
    let grey = image::ImageBuffer::from_pixel(32, 32, LumaA([0_u8, 0]));
    assert_eq!(made(&png(&DynamicImage::ImageLumaA8(grey), None)).seen[(0, 0)], Rgb([255; 3]));
    // Where a view is made smaller, colours that nobody sees do not run into those that one does.
    let half =
        RgbaImage::from_fn(
            4096,
            32,
            |x, _| if x < 2048 { Rgba([255, 0, 0, 255]) } else { Rgba([0, 255, 0, 0]) },
        );
    let view = made(&png(&half.into(), None)).view.into_rgba8();
    assert_eq!(view.dimensions(), (2048, 16));
    assert!(view.pixels().all(|pixel| pixel[3] == 0 || (pixel[0] > 250 && pixel[1] == 0)));
}

#[test]
fn every_depth_and_colour_becomes_rgb_of_8_bits() {
    use png::{BitDepth, ColorType};
    let shorts =
        |values: [u16; 3]| values.into_iter().flat_map(u16::to_be_bytes).collect::<Vec<u8>>().repeat(32 * 32);
    let one = |of: ColorType, depth: BitDepth, palette: Option<&[u8]>, data: &[u8]| {
        made(&png_of((32, 32), of, depth, palette, data)).seen[(7, 9)]
    };
    // 16 bits are scaled: 0x8080 is the middle as 0x80 is.
    assert_eq!(
        one(ColorType::Rgb, BitDepth::Sixteen, None, &shorts([0, 0x8080, 65_535])),
        Rgb([0, 128, 255])
    );
    let grey = [0x40, 0x40].repeat(32 * 32);
    assert_eq!(one(ColorType::Grayscale, BitDepth::Sixteen, None, &grey), Rgb([64; 3]));
    assert_eq!(one(ColorType::Grayscale, BitDepth::One, None, &[0xff; 128]), Rgb([255; 3]));
    assert_eq!(one(ColorType::Grayscale, BitDepth::Four, None, &[0x55; 512]), Rgb([0x55; 3]));
    let palette: Vec<u8> = (0..48).collect();
    assert_eq!(one(ColorType::Indexed, BitDepth::Four, Some(&palette), &[0x22; 512]), Rgb([6, 7, 8]));
    let tiff_of = |write: &dyn Fn(&mut std::io::Cursor<Vec<u8>>)| {
        let mut file = std::io::Cursor::new(Vec::new());
        write(&mut file);
        made(&file.into_inner()).seen[(7, 9)]
    };
    let cmyk = tiff_of(&|file| {
        let ink = [0, 255, 255, 0].repeat(32 * 32);
        TiffEncoder::new(file).unwrap().write_image::<colortype::CMYK8>(32, 32, &ink).unwrap();
    });
    assert_eq!(cmyk, Rgb([255, 0, 0]));
    // Another program's JPEG in four colours of ink, which are stored inverted: red beside cyan.
    let inks = made(include_bytes!("reference/cmyk.jpg")).seen;
    let expected = RgbImage::from_fn(64, 32, |x, _| Rgb(if x < 32 { [255, 0, 0] } else { [0, 255, 255] }));
    assert_near(&inks, &expected);
    let deep = tiff_of(&|file| {
        let values = [0, 0x8080, 65_535].repeat(32 * 32);
        TiffEncoder::new(file).unwrap().write_image::<colortype::RGB16>(32, 32, &values).unwrap();
    });
    assert_eq!(deep, Rgb([0, 128, 255]));
    let grey = image::GrayImage::from_pixel(32, 32, image::Luma([77]));
    assert_near(
        &made(&plainly(&grey.into(), ImageFormat::Jpeg)).seen,
        &RgbImage::from_pixel(32, 32, Rgb([77; 3])),
    );
}

#[test]
fn of_several_frames_or_pages_the_first_is_used_and_that_is_said() {
    let first = RgbImage::from_pixel(64, 32, Rgb([250, 10, 20]));
    let second = RgbImage::from_pixel(64, 32, Rgb([0, 90, 200]));
    let frames = [first.clone(), second.clone(), second.clone()];
    let files = [
        (gif(&frames), "Only the first of 3 frames is used."),
        (animated_png(&frames), "Only the first frame of the animation is used."),
        (animated_webp(&frames), "Only the first frame of the animation is used."),
        (tiff(&[&first, &second], &[]), "Only the first page is used."),
    ];
    for (file, note) in files {
        let Made { facts, seen, .. } = made(&file);
        assert_eq!(facts.notes, [note], "{}", facts.format);
        assert!(seen == first, "{}", facts.format);
    }
    for file in [gif(&frames[..1]), tiff(&[&first], &[]), animated_webp(&frames[..1])] {
        let made = made(&file);
        assert!(made.facts.notes.is_empty() || made.facts.format == PictureFormat::Webp, "{:?}", made.facts);
    }
}

#[test]
fn the_view_is_small_and_tells_nothing_but_the_picture() {
    let picture = fields(2400, 600);
    let secret = b"Exif data of 52.5 N 13.4 E".to_vec();
    let as_jpeg = made(&jpeg(&picture, Some(secret.clone())));
    let as_png = made(&png(&picture.clone().into(), Some(secret.clone())));
    let as_webp = made(&webp(&picture.clone().into(), Some(secret)));
    for (made, view) in [(&as_jpeg, "view.jpg"), (&as_png, "view.png"), (&as_webp, "view.jpg")] {
        assert_eq!((made.view.width(), made.view.height()), (2048, 512));
        assert_eq!(made.facts.view, view);
        assert!(!made.view_file.windows(6).any(|part| part == b"13.4 E"));
    }
    // Markers up to the picture itself: tables and frames, and of application data only the mark of JFIF.
    let markers: Vec<u8> = segments(&as_jpeg.view_file);
    assert!(markers.iter().all(|marker| matches!(marker, 0xc0 | 0xc4 | 0xdb | 0xda | 0xe0)), "{markers:x?}");
    assert_eq!(chunks(&as_png.view_file), ["IHDR", "IDAT", "IEND"]);
    assert_near(&as_png.view.clone().into_rgb8(), &foretoken_pictures::bicubic(&picture, (2048, 512)));
    for format in [ImageFormat::Gif, ImageFormat::Bmp] {
        assert_eq!(made(&plainly(&fields(64, 64).into(), format)).facts.view, "view.png");
    }
    assert_eq!(made(&tiff(&[&fields(64, 64)], &[])).facts.view, "view.jpg");
}

/// The markers of a JPEG's segments up to its first scan.
fn segments(jpeg: &[u8]) -> Vec<u8> {
    let (mut markers, mut at) = (Vec::new(), 2);
    while markers.last() != Some(&0xda) {
        assert_eq!(jpeg[at], 0xff);
        markers.push(jpeg[at + 1]);
        at += 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
    }
    markers
}

/// The kinds of a PNG's chunks, those that follow their like left out.
fn chunks(png: &[u8]) -> Vec<String> {
    let (mut kinds, mut at) = (Vec::new(), 8);
    while at < png.len() {
        let length = u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
        kinds.push(String::from_utf8(png[at + 4..at + 8].to_vec()).unwrap());
        at += 12 + length;
    }
    kinds.dedup();
    kinds
}

#[test]
fn the_model_gets_the_size_that_the_rule_says() {
    let standard = SizeRule::default();
    let of = |width, height| {
        let file = png(&RgbImage::from_pixel(width, height, Rgb([9, 8, 7])).into(), None);
        let made = try_made(&file, standard)?;
        assert!(made.seen.pixels().all(|pixel| *pixel == Rgb([9, 8, 7])));
        Ok(made.seen.dimensions())
    };
    assert_eq!(of(1, 1), Ok((256, 256)));
    assert_eq!(of(200, 1), Ok((3648, 32)));
    assert_eq!(of(1, 200), Ok((32, 3648)));
    assert_eq!(of(150, 100), Ok((320, 224)));
    assert_eq!(of(201, 1), Err(PictureError::Narrow { width: 201, height: 1 }));
    assert_eq!(of(1, 201), Err(PictureError::Narrow { width: 1, height: 201 }));
}

#[test]
fn what_the_models_preprocessor_sees_is_seen_here_byte_for_byte() {
    // These were made with 4096 to 147456 pixels.
    let rule = SizeRule::new(4096, 147_456);
    for name in ["a", "b", "d"] {
        let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
        let read = |end: &str| fs::read(reference.join(format!("{name}{end}"))).unwrap();
        let expected = image::load_from_memory(&read(".resized.png")).unwrap().into_rgb8();
        assert!(try_made(&read(".png"), rule).unwrap().seen == expected, "{name}");
    }
}

#[test]
fn what_cameras_record_is_refused_though_it_is_a_tiff() {
    let raw = PictureError::Foreign { kind: Foreign::Raw };
    let preview = fields(64, 32);
    assert_eq!(refused(&tiff(&[&preview], &[(0xc612, 0x0104_0000)])), raw);
    assert_eq!(refused(&tiff(&[&preview], &[(Tag::NewSubfileType.to_u16(), 1)])), raw);
    assert_eq!(
        made(&tiff(&[&preview], &[(Tag::NewSubfileType.to_u16(), 0)])).facts.format,
        PictureFormat::Tiff
    );
}

#[test]
fn a_folder_holds_what_was_made_last() {
    let folder = TempDir::new().unwrap();
    let [first, second, out] = ["first", "second", "out"].map(|name| folder.path().join(name));
    fs::write(&first, jpeg(&fields(64, 32), None)).unwrap();
    fs::write(&second, png(&fields(32, 64).into(), None)).unwrap();
    let prepare = |file| prepare(file, &out, as_it_is()).unwrap();
    assert_eq!(
        (prepare(&first).view, names(&out)),
        ("view.jpg".into(), vec!["pixels.rgb".into(), "view.jpg".into()])
    );
    assert_eq!(
        (prepare(&second).view, names(&out)),
        ("view.png".into(), vec!["pixels.rgb".into(), "view.png".into()])
    );
    assert_eq!(Pixels::read(&out.join(PIXELS_FILE)).unwrap().height, 64);
}

#[test]
fn what_is_no_file_or_cannot_be_written_is_named() {
    let folder = TempDir::new().unwrap();
    let [file, missing, taken] = ["file", "missing", "taken"].map(|name| folder.path().join(name));
    fs::write(&file, png(&fields(64, 32).into(), None)).unwrap();
    fs::write(&taken, "").unwrap();
    let error = |file, out| prepare(file, out, as_it_is()).unwrap_err();
    assert!(matches!(error(&missing, &taken), PictureError::Input { .. }));
    assert!(matches!(error(folder.path(), &taken), PictureError::NotAFile { .. }));
    assert!(matches!(error(&file, &taken), PictureError::Output { .. }));
}
