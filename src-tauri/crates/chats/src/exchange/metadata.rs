//! Pictures without what their files tell beside the pixels: place, time, camera, texts, small copies of what was cut
//! away. Nothing is encoded anew. What is known to be needed stays, so that what nobody knows goes.

use foretoken_protocol::PictureFormat;

/// What EXIF data begin with in a JPEG, and in some WebPs.
const EXIF: &[u8] = b"Exif\0\0";
/// The tag of EXIF data that says how a picture is to be turned, and the type of its value.
const ORIENTATION: u16 = 0x112;
const SHORT: u16 = 3;

/// Markers of a JPEG, without the byte 255 before each.
mod marker {
    use std::ops::RangeInclusive;

    /// Those below are followed by nothing that is known.
    pub(super) const FIRST: u8 = 0xc0;
    /// Of tables, frames and scans.
    pub(super) const PIXELS: RangeInclusive<u8> = FIRST..=0xdf;
    pub(super) const RESTARTS: RangeInclusive<u8> = 0xd0..=0xd7;
    pub(super) const START: u8 = 0xd8;
    pub(super) const END: u8 = 0xd9;
    pub(super) const SCAN: u8 = 0xda;
    pub(super) const APP0: u8 = 0xe0;
    pub(super) const APP1: u8 = 0xe1;
    pub(super) const APP2: u8 = 0xe2;
    pub(super) const APP14: u8 = 0xee;
}

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The chunks of a PNG that are needed to show it in its colours and as it moves.
const PNG_CHUNKS: [&[u8; 4]; 18] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB", b"cICP",
    b"mDCV", b"cLLI", b"bKGD", b"pHYs", b"acTL", b"fcTL", b"fdAT",
];
/// The same of a WebP.
const WEBP_CHUNKS: [&[u8; 4]; 6] = [b"VP8X", b"ICCP", b"ANIM", b"ALPH", b"VP8 ", b"VP8L"];
/// The same of a frame in it.
const WEBP_PIXELS: [&[u8; 4]; 3] = [b"ALPH", b"VP8 ", b"VP8L"];
/// The bits of the first chunk of a WebP that say that there are EXIF and XMP data.
const WEBP_EXIF: u8 = 0b1000;
const WEBP_XMP: u8 = 0b100;

/// A picture's file without metadata, but for how it is to be turned. `None` where what is metadata cannot be told: in
/// other formats than PNG, JPEG and WebP, and in damaged files.
pub(super) fn without_metadata(file: &[u8], format: PictureFormat) -> Option<Vec<u8>> {
    match format {
        PictureFormat::Jpeg => jpeg(file),
        PictureFormat::Png => png(file),
        PictureFormat::Webp => webp(file),
        PictureFormat::Gif
        | PictureFormat::Bmp
        | PictureFormat::Tiff
        | PictureFormat::Heic
        | PictureFormat::Avif => None,
    }
}

/// Ends with the picture: cameras put others behind it, with metadata of their own.
fn jpeg(file: &[u8]) -> Option<Vec<u8>> {
    let mut kept = vec![0xff, marker::START];
    let mut rest = file.strip_prefix(&kept[..])?;
    let mut in_scan = false;
    loop {
        // Among pixels, a 255 has a 0 or the mark of a restart behind it.
        let is_marker = |pair: &[u8]| {
            pair[0] == 0xff && !matches!(pair[1], 0 | 0xff) && !marker::RESTARTS.contains(&pair[1])
        };
        let (pixels, behind) = rest.split_at(rest.windows(2).position(is_marker)?);
        if in_scan {
            kept.extend(pixels);
        }
        let (&[_, marker], behind) = behind.split_first_chunk::<2>()?;
        match marker {
            marker::END => {
                kept.extend([0xff, marker]);
                return Some(kept);
            }
            // These have no length.
            ..marker::FIRST | marker::START => return None,
            _ => {}
        }
        let (length, behind) = behind.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length)).checked_sub(2)?;
        let content;
        (content, rest) = behind.split_at_checked(length)?;
        if let Some(content) = segment(marker, content) {
            kept.extend([0xff, marker]);
            kept.extend(u16::try_from(content.len() + 2).ok()?.to_be_bytes());
            kept.extend(content);
        }
        in_scan = marker == marker::SCAN;
    }
}

/// What is needed of a JPEG's segment.
fn segment(marker: u8, content: &[u8]) -> Option<Vec<u8>> {
    match marker {
        // Without the small copy of the picture that may follow.
        marker::APP0 if content.starts_with(b"JFIF\0") => Some([content.get(..12)?, &[0, 0]].concat()),
        marker::APP1 => Some([EXIF, &orientation(content.strip_prefix(EXIF)?)?].concat()),
        // The colours of the pixels.
        marker::APP2 if content.starts_with(b"ICC_PROFILE\0") => Some(content.to_vec()),
        marker::APP14 if content.starts_with(b"Adobe") => Some(content.get(..12)?.to_vec()),
        _ => marker::PIXELS.contains(&marker).then(|| content.to_vec()),
    }
}

fn png(file: &[u8]) -> Option<Vec<u8>> {
    let mut kept = PNG_SIGNATURE.to_vec();
    let mut rest = file.strip_prefix(PNG_SIGNATURE)?;
    loop {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (name, content) = behind.split_first_chunk::<4>()?;
        let content = content.get(..length)?;
        // Its length, its name and its checksum are four bytes each.
        let chunk;
        (chunk, rest) = rest.split_at_checked(length + 12)?;
        if name == b"eXIf" {
            let Some(orientation) = orientation(content) else { continue };
            let named = [name, &orientation[..]].concat();
            kept.extend(u32::try_from(orientation.len()).ok()?.to_be_bytes());
            kept.extend(&named);
            kept.extend(crc32fast::hash(&named).to_be_bytes());
        } else if PNG_CHUNKS.contains(&name) {
            kept.extend(chunk);
        }
        if name == b"IEND" {
            return Some(kept);
        }
    }
}

fn webp(file: &[u8]) -> Option<Vec<u8>> {
    let (length, behind) = file.strip_prefix(b"RIFF")?.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let chunks = behind.get(..length)?.strip_prefix(b"WEBP")?;
    let (mut kept, mut is_turned) = (b"WEBP".to_vec(), false);
    each_of_webp(chunks, |name, content| {
        let content = match name {
            b"EXIF" => {
                let orientation = orientation(content.strip_prefix(EXIF).unwrap_or(content));
                is_turned |= orientation.is_some();
                orientation
            }
            // Chunks of a frame follow its place and time.
            b"ANMF" => {
                let (head, chunks) = content.split_first_chunk::<16>()?;
                let mut frame = head.to_vec();
                each_of_webp(chunks, |name, content| {
                    if WEBP_PIXELS.contains(&name) {
                        chunk_of_webp(&mut frame, name, content)
                    } else {
                        Some(())
                    }
                })?;
                Some(frame)
            }
            _ => WEBP_CHUNKS.contains(&name).then(|| content.to_vec()),
        };
        content.map_or(Some(()), |content| chunk_of_webp(&mut kept, name, &content))
    })?;
    // Behind the head of the first chunk, which is the only one that says what others there are.
    if kept.get(4..8) == Some(b"VP8X")
        && let Some(flags) = kept.get_mut(12)
    {
        *flags = *flags & !(WEBP_EXIF | WEBP_XMP) | if is_turned { WEBP_EXIF } else { 0 };
    }
    Some([&b"RIFF"[..], &u32::try_from(kept.len()).ok()?.to_le_bytes(), &kept].concat())
}

/// Hands over the names and contents of a WebP's chunks, one after the other.
fn each_of_webp(mut chunks: &[u8], mut take: impl FnMut(&[u8; 4], &[u8]) -> Option<()>) -> Option<()> {
    while !chunks.is_empty() {
        let (name, behind) = chunks.split_first_chunk::<4>()?;
        let (length, behind) = behind.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        take(name, behind.get(..length)?)?;
        // Some leave out the byte that makes the last one even.
        chunks = behind.get(length.next_multiple_of(2)..).unwrap_or_default();
    }
    Some(())
}

/// Adds a chunk to a WebP.
fn chunk_of_webp(file: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) -> Option<()> {
    file.extend(name);
    file.extend(u32::try_from(content.len()).ok()?.to_le_bytes());
    file.extend(content);
    file.resize(file.len().next_multiple_of(2), 0);
    Some(())
}

/// EXIF data that say alone how these turn a picture; `None` if they leave it as it is.
fn orientation(exif: &[u8]) -> Option<Vec<u8>> {
    let is_big_endian = exif.starts_with(b"MM\0\x2a");
    if !is_big_endian && !exif.starts_with(b"II\x2a\0") {
        return None;
    }
    let short = |place: usize| {
        let bytes = *exif.get(place..)?.first_chunk::<2>()?;
        Some(if is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    };
    let long = |place: usize| {
        let bytes = *exif.get(place..)?.first_chunk::<4>()?;
        Some(if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    };
    let first = usize::try_from(long(4)?).ok()?;
    let mut entries = (0..usize::from(short(first)?)).map(|number| first + 2 + 12 * number);
    let turns = |&entry: &usize| {
        [short(entry), short(entry + 2)] == [Some(ORIENTATION), Some(SHORT)] && long(entry + 4) == Some(1)
    };
    let value = short(entries.find(turns)? + 8).filter(|value| (2..=8).contains(value))?;
    // One entry of a first table that is at 8 and has no other behind it, in the order of small machines.
    let mut alone = b"II\x2a\0\x08\0\0\0\x01\0".to_vec();
    for bytes in [ORIENTATION.to_le_bytes(), SHORT.to_le_bytes(), [1, 0], [0, 0], value.to_le_bytes()] {
        alone.extend(bytes);
    }
    alone.resize(26, 0);
    Some(alone)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use foretoken_pictures::{SizeRule, prepare};
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    /// Pictures of other programs: one with several scans, one with four inks, and so on.
    const FILES: [(&str, PictureFormat); 4] = [
        ("progressive.jpg", PictureFormat::Jpeg),
        ("cmyk.jpg", PictureFormat::Jpeg),
        ("a.png", PictureFormat::Png),
        ("lossy.webp", PictureFormat::Webp),
    ];

    fn file(name: &str) -> Vec<u8> {
        fs::read(Path::new("../pictures/tests/reference").join(name)).unwrap()
    }

    /// What a model and people see.
    fn seen(file: &[u8]) -> (String, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture");
        fs::write(&path, file).unwrap();
        let facts = prepare(&path, folder.path(), SizeRule::default()).unwrap();
        (facts.digest, fs::read(folder.path().join(facts.view)).unwrap())
    }

    #[test]
    fn pictures_of_other_programs_look_as_before() {
        for (name, format) in FILES {
            let original = file(name);
            let stripped = without_metadata(&original, format).expect(name);
            assert_eq!(seen(&stripped), seen(&original), "{name}");
        }
    }

    #[test]
    fn formats_that_are_not_known_here_and_half_files_are_refused() {
        let original = file("a.png");
        assert_eq!(without_metadata(&original, PictureFormat::Tiff), None);
        assert_eq!(without_metadata(&original, PictureFormat::Jpeg), None);
        for (name, format) in FILES {
            let original = file(name);
            assert_eq!(without_metadata(&original[..original.len() / 2], format), None, "{name}");
        }
    }

    #[test]
    fn frames_of_a_webp_lose_what_is_no_pixel_too() {
        let chunk = |name: &[u8; 4], content: &[u8]| {
            let mut file = Vec::new();
            chunk_of_webp(&mut file, name, content).unwrap();
            file
        };
        let file = |behind_frame: &[u8], flags: u8| {
            let frame = [&[7; 16], &chunk(b"VP8L", b"pixel")[..], behind_frame].concat();
            let canvas = chunk(b"VP8X", &[flags, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
            let chunks = [b"WEBP".to_vec(), canvas, chunk(b"ANIM", &[0; 6]), chunk(b"ANMF", &frame)];
            chunk(b"RIFF", &chunks.concat())
        };
        let told = file(&chunk(b"XMP ", b"<x>"), 0b1110);
        assert_eq!(without_metadata(&told, PictureFormat::Webp), Some(file(&[], 0b10)));
    }

    proptest! {
        #[test]
        fn damaged_files_end_nothing_and_what_is_stripped_stays_so(
            which in any::<Index>(),
            changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..8),
            cut in prop::option::of(any::<Index>()),
        ) {
            let (name, format) = FILES[which.index(FILES.len())];
            let mut damaged = file(name);
            for (at, byte) in changes {
                // Where the structure is.
                let at = at.index(damaged.len().min(1024));
                damaged[at] = byte;
            }
            if let Some(cut) = cut {
                damaged.truncate(cut.index(damaged.len()));
            }
            if let Some(stripped) = without_metadata(&damaged, format) {
                let again = without_metadata(&stripped, format);
                prop_assert_eq!(again, Some(stripped));
            }
        }
    }
}
