//! The command `picture` over hostile files: each is prepared or refused in one line that names what is wrong, the
//! process ends by itself within its memory, and of what is refused no file is left.

use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use foretoken_pictures::{PIXELS_FILE, Pixels};
use foretoken_protocol::{PictureFacts, PictureFormat};
use foretoken_tests::programs::built;
use foretoken_tests::rng::Rng;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use tempfile::TempDir;

/// What a process may map, in kB; the pages that it touches are fewer. macOS knows no such limit.
const ADDRESS_SPACE: u32 = 2 << 20;

/// What is to come of a file.
enum End {
    Prepared(PictureFormat),
    /// Some of these words are told.
    Refused(&'static str),
    /// Decoders may differ in what they bear.
    Either,
}

use End::{Either, Prepared, Refused};

struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    end: End,
}

fn case(name: &'static str, bytes: impl Into<Vec<u8>>, end: End) -> Case {
    Case { name, bytes: bytes.into(), end }
}

fn picture(arguments: &[&Path]) -> Output {
    let mut command = Command::new("sh");
    let limit = if cfg!(target_os = "linux") { format!("ulimit -v {ADDRESS_SPACE};") } else { String::new() };
    command.arg("-c").arg(format!(r#"{limit} exec "$0" picture "$@""#));
    command.arg(built("foretoken-engine")).args(arguments).output().unwrap()
}

/// What the process made of the file, or the line in which it refused it. Checks what holds for every file.
fn prepare(folder: &TempDir, file: &Path, name: &str) -> Result<PictureFacts, String> {
    let out = folder.path().join(format!("out of {name}"));
    let output = picture(&[file, "--out".as_ref(), &out]);
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    match output.status.code() {
        Some(0) => {
            assert_eq!((stdout.lines().count(), stderr.as_str()), (1, ""), "{name}");
            let facts: PictureFacts = serde_json::from_str(&stdout).unwrap();
            assert_eq!(names(&out), [PIXELS_FILE, &facts.view], "{name}");
            let pixels = Pixels::read(&out.join(PIXELS_FILE)).unwrap();
            assert_eq!((pixels.width, pixels.height), (facts.resized_width, facts.resized_height), "{name}");
            assert!(facts.tokens <= 1024, "{name}: {facts:?}");
            image::open(out.join(&facts.view)).unwrap();
            Ok(facts)
        }
        Some(1) => {
            assert_eq!((stdout.as_str(), stderr.lines().count()), ("", 1), "{name}: {stderr}");
            assert!(stderr.starts_with("foretoken-engine: ") && stderr.ends_with(".\n"), "{name}: {stderr}");
            assert!(!out.exists(), "{name} leaves {:?}", names(&out));
            Err(stderr)
        }
        _ => panic!("{name}: {}, {stderr}", output.status),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn fields(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| Rgb([(x % 256) as u8, (y % 256) as u8, 90]))
}

fn file(picture: &RgbImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    DynamicImage::from(picture.clone()).write_to(&mut file, format).unwrap();
    file.into_inner()
}

fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let named = [name, content].concat();
    let (length, sum) = (content.len() as u32, crc32fast::hash(&named));
    [&length.to_be_bytes()[..], &named, &sum.to_be_bytes()].concat()
}

/// The beginning of a PNG that claims this much.
fn png_header(width: u32, height: u32, depth: u8, colour: u8) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, colour, 0, 0, 0]].concat();
    [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IHDR", &header)].concat()
}

/// Zeros in the format of zlib: `megabytes` of them in a thousandth of that.
fn zeros(megabytes: usize) -> Vec<u8> {
    // A PNG of as many bytes holds them; its rows begin with a byte that says how they are filtered, which is 0 here.
    let (width, height) = (1 << 12, megabytes << 8);
    let grey = image::GrayImage::new(width - 1, height as u32);
    let mut png = Cursor::new(Vec::new());
    let encoder = image::codecs::png::PngEncoder::new_with_quality(
        &mut png,
        image::codecs::png::CompressionType::Fast,
        image::codecs::png::FilterType::NoFilter,
    );
    grey.write_with_encoder(encoder).unwrap();
    let (png, mut at, mut data) = (png.into_inner(), 8, Vec::new());
    while at < png.len() {
        let length = u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
        if &png[at + 4..at + 8] == b"IDAT" {
            data.extend(&png[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    data
}

/// A PNG of black pixels.
fn black_png(width: u32, height: u32, depth: u8, colour: u8, megabytes: usize) -> Vec<u8> {
    [png_header(width, height, depth, colour), chunk(b"IDAT", &zeros(megabytes)), chunk(b"IEND", &[])]
        .concat()
}

fn pngs() -> Vec<Case> {
    let png = file(&fields(90, 60), ImageFormat::Png);
    let whole = png.len();
    let (mut of_data, mut of_header) = (png.clone(), png.clone());
    of_data[whole - 20] ^= 0x55;
    of_header[29] ^= 0x55;
    let profile = [&b"bomb\0\0"[..], &zeros(20)].concat();
    let with_profile = [&png[..33], &chunk(b"iCCP", &profile), &png[33..]].concat();
    vec![
        case("a bomb of 60000 × 60000", black_png(60_000, 60_000, 1, 0, 1), Refused("60000 × 60000 pixels")),
        case("a bomb of 30000 × 30000", black_png(30_000, 30_000, 1, 0, 1), Refused("30000 × 30000 pixels")),
        case("as much as is allowed", black_png(10_000, 10_000, 1, 0, 12), Prepared(PictureFormat::Png)),
        case("more memory than is allowed", black_png(10_000, 10_000, 16, 6, 1), Refused("more than 512 MB")),
        case("1 × 65535", black_png(1, 65_535, 8, 0, 1), Refused("1 × 65535 pixels")),
        case("a line", black_png(32_000, 100, 8, 0, 1), Refused("200 times")),
        case("no width", black_png(0, 100, 8, 0, 1), Refused("PNG is damaged")),
        case("negative sides", black_png(u32::MAX, u32::MAX, 8, 0, 1), Refused("PNG")),
        case("a signature alone", &png[..8], Refused("PNG is damaged")),
        case("cut in its header", &png[..20], Refused("PNG is damaged")),
        case("cut before its pixels", &png[..33], Refused("PNG is damaged")),
        case("cut in its pixels", &png[..whole / 2], Refused("PNG is damaged")),
        case("cut before its end", &png[..whole - 12], Either),
        case("a wrong checksum of pixels", of_data, Refused("PNG is damaged")),
        case("a wrong checksum of the header", of_header, Refused("PNG is damaged")),
        case("a profile that is a bomb", with_profile, Either),
        case(
            "a chunk longer than the file",
            [&png[..33], b"\x7f\xff\xff\xffIDAT"].concat(),
            Refused("PNG is damaged"),
        ),
    ]
}

/// A segment of a JPEG.
fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() + 2) as u16;
    [&[0xff, marker][..], &length.to_be_bytes(), content].concat()
}

fn jpegs() -> Vec<Case> {
    let jpeg = file(&fields(90, 60), ImageFormat::Jpeg);
    let with = |content: &[u8]| [&jpeg[..2], &segment(0xe1, content), &jpeg[2..]].concat();
    let looping = |entries: u16, next: u32| {
        let mut exif = b"Exif\0\0MM\0\x2a\0\0\0\x08".to_vec();
        exif.extend(entries.to_be_bytes());
        // A folder in the folder that it is in.
        exif.extend([&[0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8][..], &next.to_be_bytes()].concat());
        with(&exif)
    };
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    let sized = |height: u16, width: u16| {
        let mut jpeg = jpeg.clone();
        jpeg[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
        jpeg[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
        jpeg
    };
    vec![
        case("named.png", jpeg.clone(), Prepared(PictureFormat::Jpeg)),
        case("EXIF folders in a circle", looping(1, 8), Prepared(PictureFormat::Jpeg)),
        case("an EXIF folder of 65535 entries", looping(65_535, 8), Prepared(PictureFormat::Jpeg)),
        case("an EXIF folder outside", with(b"Exif\0\0II*\0\xff\xff\xff\xff"), Prepared(PictureFormat::Jpeg)),
        case("a JPEG of 65535 × 65535", sized(65_535, 65_535), Refused("65535 × 65535 pixels")),
        case("a JPEG without height", sized(0, 90), Refused("JPEG")),
        case("a JPEG larger than its data", sized(4000, 4000), Either),
        case("a JPEG cut in its tables", &jpeg[..frame], Refused("JPEG is damaged")),
        case("a JPEG cut in its pixels", &jpeg[..jpeg.len() - 40], Either),
        case("a beginning and an end", b"\xff\xd8\xff\xd9".to_vec(), Refused("JPEG")),
    ]
}

/// A GIF of one-pixel frames.
fn gif(width: u16, height: u16, frames: usize) -> Vec<u8> {
    let mut gif = b"GIF89a".to_vec();
    gif.extend([width.to_le_bytes(), height.to_le_bytes()].concat());
    gif.extend([0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
    // A place, a size of 1 × 1, and codes of 2 bits: clear, the pixel, end.
    let frame = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 0x01, 0];
    gif.extend(frame.repeat(frames));
    gif.push(0x3b);
    gif
}

/// A little-endian TIFF of one folder with these entries of one number each, and what lies behind it.
fn tiff(entries: &[(u16, u32)], next: u32, behind: &[u8]) -> Vec<u8> {
    let mut tiff = b"II*\0\x08\0\0\0".to_vec();
    tiff.extend((entries.len() as u16).to_le_bytes());
    for (tag, value) in entries {
        tiff.extend([&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0], &value.to_le_bytes()].concat());
    }
    tiff.extend(next.to_le_bytes());
    tiff.extend(behind);
    tiff
}

fn others() -> Vec<Case> {
    let webp = file(&fields(90, 60), ImageFormat::WebP);
    let bmp = file(&fields(90, 60), ImageFormat::Bmp);
    let sized = |width: i32, height: i32| {
        let mut bmp = bmp.clone();
        bmp[18..22].copy_from_slice(&width.to_le_bytes());
        bmp[22..26].copy_from_slice(&height.to_le_bytes());
        bmp
    };
    // Width, height, bits, no compression, black is 0, where the pixels are, one sample, and how many bytes they take.
    let grey = |width, height, at, bytes| {
        [
            (256, width),
            (257, height),
            (258, 8),
            (259, 1),
            (262, 1),
            (273, at),
            (277, 1),
            (278, height),
            (279, bytes),
        ]
    };
    let canvas = b"RIFF\x2a\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\x3f\0\xff\x3f\0\
        VP8L\x08\0\0\0\x2f\xff\xff\xff\x0f\0\0\0";
    let claiming = [&webp[..4], &[0xff; 4], &webp[8..16], &[0xfe, 0xff, 0xff, 0xff], &webp[20..]].concat();
    vec![
        case("10000 frames", gif(64, 64, 10_000), Prepared(PictureFormat::Gif)),
        case("no frame", gif(64, 64, 0), Refused("GIF")),
        case("a GIF without sides", gif(0, 0, 1), Refused("0 × 0")),
        case("a GIF of 65535 × 65535", gif(65_535, 65_535, 1), Refused("65535 × 65535 pixels")),
        case("a GIF cut in a frame", &gif(64, 64, 1)[..30], Refused("GIF")),
        case("a sound TIFF", tiff(&grey(64, 64, 122, 4096), 0, &[9; 4096]), Prepared(PictureFormat::Tiff)),
        case(
            "TIFF folders in a circle",
            tiff(&grey(64, 64, 122, 4096), 8, &[9; 4096]),
            Refused("TIFF is damaged"),
        ),
        case(
            "a TIFF larger than its data",
            tiff(&grey(9000, 9000, 122, u32::MAX), 0, &[9; 64]),
            Refused("TIFF"),
        ),
        case(
            "a TIFF of 4 billion rows",
            tiff(&grey(64, u32::MAX, 122, 64), 0, &[9; 64]),
            Refused("too large"),
        ),
        case("a TIFF folder outside", b"II*\0\xf0\xff\xff\xff".to_vec(), Refused("TIFF is damaged")),
        case("a TIFF folder that is its header", b"II*\0\0\0\0\0".to_vec(), Refused("TIFF")),
        case("a BMP of negative width", sized(i32::MIN, 60), Refused("BMP")),
        case("a BMP of the least height", sized(90, i32::MIN), Refused("BMP")),
        case("a BMP of 30000 × 30000", sized(30_000, 30_000), Refused("30000 × 30000 pixels")),
        case("a BMP larger than its data", sized(9000, 9000), Refused("BMP")),
        case("a WebP of 16384 × 16384", canvas.to_vec(), Refused("16384 × 16384 pixels")),
        case("a WebP that claims 4 GB", claiming, Either),
        case("a WebP cut in its pixels", &webp[..webp.len() / 2], Refused("WebP")),
        case("a WebP's name alone", &webp[..12], Refused("WebP")),
    ]
}

fn no_pictures() -> Vec<Case> {
    let large = [&png_header(64, 64, 8, 0)[..], &vec![0; 33 << 20]].concat();
    let phone = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic\0\0\0\x08mdat";
    let heic = if cfg!(target_os = "macos") {
        "macOS cannot read this HEIC"
    } else {
        "HEIC, which only macOS can read"
    };
    vec![
        case("33 MB", large, Refused("larger than 32 MB")),
        case("nothing", b"".to_vec(), Refused("no picture")),
        case("a text", b"BMW makes cars.".to_vec(), Refused("no picture")),
        case("a page", b"<!DOCTYPE html><img src='http://example.org'>".to_vec(), Refused("no picture")),
        case("an archive", b"PK\x03\x04\x14\0\0\0\x08\0".to_vec(), Refused("ZIP archive")),
        case("a drawing", b"<?xml version='1.0'?><svg><script>1</script></svg>".to_vec(), Refused("SVG")),
        case("a document", b"%PDF-1.7\n".to_vec(), Refused("a PDF")),
        case("an icon", b"\0\0\x01\0\x01\0\x10\x10".to_vec(), Refused("Windows icon")),
        case("a phone's picture", phone.to_vec(), Refused(heic)),
    ]
}

#[test]
fn hostile_files_are_prepared_or_refused_by_name_and_leave_nothing() {
    let folder = TempDir::new().unwrap();
    for case in pngs().into_iter().chain(jpegs()).chain(others()).chain(no_pictures()) {
        let name = case.name;
        let path = folder.path().join(name);
        fs::write(&path, case.bytes).unwrap();
        match (prepare(&folder, &path, name), case.end) {
            (Ok(facts), Prepared(format)) => assert_eq!(facts.format, format, "{name}"),
            (Err(told), Refused(words)) => assert!(told.contains(words), "{name}: {told}"),
            (_, Either) => {}
            (Ok(facts), Refused(_)) => panic!("{name}: {facts:?}"),
            (Err(told), Prepared(_)) => panic!("{name}: {told}"),
        }
    }
}

#[test]
fn what_is_no_file_is_refused_without_being_read() {
    let folder = TempDir::new().unwrap();
    let [zeros, pipe, taken] = ["zeros", "pipe", "taken"].map(|name| folder.path().join(name));
    symlink("/dev/zero", &zeros).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let nowhere: PathBuf = folder.path().join("nowhere");
    let cases = [(&zeros, "is not a file"), (&pipe, "is not a file"), (&nowhere, "cannot be read")];
    for (path, words) in cases {
        let told = prepare(&folder, path, words).unwrap_err();
        assert!(told.contains(words), "{told}");
    }
    let png = folder.path().join("a.png");
    fs::write(&png, file(&fields(64, 64), ImageFormat::Png)).unwrap();
    fs::write(&taken, "mine").unwrap();
    let output = picture(&[&png, "--out".as_ref(), &taken]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
}

#[test]
fn detail_and_areas_say_how_many_tokens_a_picture_is() {
    let folder = TempDir::new().unwrap();
    let (jpeg, out) = (folder.path().join("a.jpg"), folder.path().join("out"));
    fs::write(&jpeg, file(&fields(1920, 1080), ImageFormat::Jpeg)).unwrap();
    let tokens = |options: &[&str]| {
        let mut arguments: Vec<&Path> = vec![&jpeg, "--out".as_ref(), &out];
        arguments.extend(options.iter().map(Path::new));
        let output = picture(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let facts: PictureFacts = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((facts.width, facts.height, facts.format), (1920, 1080, PictureFormat::Jpeg));
        facts.tokens
    };
    assert_eq!(tokens(&[]), 1008);
    assert_eq!(tokens(&["--detail", "low"]), 252);
    assert_eq!(tokens(&["--detail", "original"]), 2040);
    assert_eq!(tokens(&["--detail", "original", "--most", "147456"]), 144);
    for wrong in [["--most", "16777217"], ["--least", "1023"], ["--detail", "utmost"]] {
        let mut arguments: Vec<&Path> = vec![&jpeg, "--out".as_ref(), &out];
        arguments.extend(wrong.map(Path::new));
        assert_eq!(picture(&arguments).status.code(), Some(2), "{wrong:?}");
    }
}

/// A sample: the crate's own tests change many more.
#[test]
fn mutated_pictures_end_no_other_way() {
    let folder = TempDir::new().unwrap();
    let formats = [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::WebP,
        ImageFormat::Gif,
        ImageFormat::Bmp,
        ImageFormat::Tiff,
    ];
    let mut rng = Rng::new(7);
    let path = folder.path().join("picture");
    for number in 0..30 {
        let mut bytes = file(&fields(48, 40), formats[number % formats.len()]);
        for _ in 0..=rng.below(4) {
            let at = rng.below(bytes.len());
            bytes[at] = rng.below(256) as u8;
        }
        if rng.below(4) == 0 {
            bytes.truncate(rng.below(bytes.len()));
        }
        fs::File::create(&path).unwrap().write_all(&bytes).unwrap();
        // Whichever it is, it is checked there.
        let _ = prepare(&folder, &path, &number.to_string());
    }
}
