//! What a file is, by its first bytes. Its name is not asked: a picture keeps being one under any name.

use foretoken_protocol::PictureFormat;

use crate::error::PictureError;
use crate::foreign::Foreign;

/// How far into a text an SVG drawing is looked for, in bytes.
const TEXT: usize = 4096;

/// First bytes and what they tell. Of two that both fit, the first counts.
const FOREIGN: &[(&[u8], Foreign)] = &[
    (b"%PDF-", Foreign::Pdf),
    (b"%!PS", Foreign::Eps),
    (b"\xc5\xd0\xd3\xc6", Foreign::Eps),
    (b"8BPS", Foreign::Psd),
    (b"FUJIFILMCCD-RAW", Foreign::Raw),
    (b"IIRO", Foreign::Raw),
    (b"IIRS", Foreign::Raw),
    (b"MMOR", Foreign::Raw),
    (b"IIU\0", Foreign::Raw),
    (b"\0\0\x01\0", Foreign::Icon),
    (b"\0\0\x02\0", Foreign::Icon),
    (b"\xff\x0a", Foreign::JpegXl),
    (b"\0\0\0\x0cJXL ", Foreign::JpegXl),
    (b"\0\0\0\x0cjP  ", Foreign::Jpeg2000),
    (b"PK\x03\x04", Foreign::Zip),
    (b"PK\x05\x06", Foreign::Zip),
];

/// As what a file is to be decoded, or why it is not.
pub(crate) fn sniff(bytes: &[u8]) -> Result<PictureFormat, PictureError> {
    if let Some(format) = format(bytes) {
        return Ok(format);
    }
    let foreign = FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, foreign)| *foreign);
    let kind = foreign.or_else(|| of_media_file(bytes)).or_else(|| is_svg(bytes).then_some(Foreign::Svg));
    Err(kind.map_or(PictureError::Unknown, |kind| PictureError::Foreign { kind }))
}

/// Whether a file that begins with these bytes is to be taken for a picture, if only to say why it cannot be read. What
/// may be read as a text is none.
pub fn is_picture(bytes: &[u8]) -> bool {
    match sniff(bytes) {
        Ok(_) => true,
        Err(PictureError::Foreign { kind }) => {
            !matches!(kind, Foreign::Svg | Foreign::Eps | Foreign::Pdf | Foreign::Zip)
        }
        Err(_) => false,
    }
}

fn format(bytes: &[u8]) -> Option<PictureFormat> {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let at = |place: usize, magic: &[u8]| bytes.get(place..).is_some_and(|rest| rest.starts_with(magic));
    let format = match bytes {
        _ if begins(b"\x89PNG\r\n\x1a\n") => PictureFormat::Png,
        _ if begins(b"\xff\xd8\xff") => PictureFormat::Jpeg,
        _ if begins(b"RIFF") && at(8, b"WEBP") => PictureFormat::Webp,
        _ if begins(b"GIF87a") || begins(b"GIF89a") => PictureFormat::Gif,
        // Texts may begin so as well; the length of the second header is one of few.
        _ if begins(b"BM")
            && matches!(bytes.get(14..18), Some([12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0])) =>
        {
            PictureFormat::Bmp
        }
        // Canon's raw files are TIFF with a mark.
        _ if at(8, b"CR\x02") => return None,
        _ if begins(b"II*\0") || begins(b"MM\0*") || begins(b"II+\0") || begins(b"MM\0+") => {
            PictureFormat::Tiff
        }
        #[cfg(target_os = "macos")]
        _ if of_media_file(bytes) == Some(Foreign::Heic) => PictureFormat::Heic,
        #[cfg(target_os = "macos")]
        _ if of_media_file(bytes) == Some(Foreign::Avif) => PictureFormat::Avif,
        _ => return None,
    };
    Some(format)
}

/// What the brands of a file in ISO's media format say.
fn of_media_file(bytes: &[u8]) -> Option<Foreign> {
    if bytes.get(8..11) == Some(b"CR\x02") {
        return Some(Foreign::Raw);
    }
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let end = (u32::from_be_bytes(*length) as usize).min(bytes.len());
    let brands = rest.strip_prefix(b"ftyp").and(bytes.get(8..end))?.as_chunks::<4>().0;
    let one_of = |known: &[&[u8; 4]]| brands.iter().any(|brand| known.contains(&brand));
    Some(match brands.first()? {
        b"crx " => Foreign::Raw,
        _ if one_of(&[b"avif", b"avis"]) => Foreign::Avif,
        _ if one_of(&[b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"]) => {
            Foreign::Heic
        }
        _ => Foreign::Film,
    })
}

fn is_svg(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(TEXT)]);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let begins = ["<svg", "<?xml", "<!--", "<!DOCTYPE svg"].iter().any(|begin| text.starts_with(begin));
    begins && text.contains("<svg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_known_by_its_first_bytes() {
        let pictures: [(&[u8], PictureFormat); 8] = [
            (b"\x89PNG\r\n\x1a\n\0\0", PictureFormat::Png),
            (b"\xff\xd8\xff\xe0", PictureFormat::Jpeg),
            (b"RIFF\x10\0\0\0WEBPVP8L", PictureFormat::Webp),
            (b"GIF87a", PictureFormat::Gif),
            (b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0", PictureFormat::Bmp),
            (b"II*\0\x08\0\0\0", PictureFormat::Tiff),
            (b"MM\0*\0\0\0\x08", PictureFormat::Tiff),
            (b"II+\0\x08\0\0\0", PictureFormat::Tiff),
        ];
        for (bytes, format) in pictures {
            assert_eq!(sniff(bytes), Ok(format), "{bytes:?}");
        }
        let foreign: [(&[u8], Foreign); 21] = [
            (b"%PDF-1.7", Foreign::Pdf),
            (b"%!PS-Adobe-3.0 EPSF-3.0", Foreign::Eps),
            (b"\xc5\xd0\xd3\xc6\x20", Foreign::Eps),
            (b"8BPS\0\x01", Foreign::Psd),
            (b"FUJIFILMCCD-RAW 0201", Foreign::Raw),
            (b"IIRO\x08\0\0\0", Foreign::Raw),
            (b"IIU\0\x18\0\0\0", Foreign::Raw),
            (b"II*\0\x10\0\0\0CR\x02\0", Foreign::Raw),
            (b"\0\0\0\x18ftypcrx \0\0\0\x01crx isom", Foreign::Raw),
            (b"\0\0\x01\0\x01\0", Foreign::Icon),
            (b"\0\0\x02\0\x01\0", Foreign::Icon),
            (b"\xff\x0a\xfa", Foreign::JpegXl),
            (b"\0\0\0\x0cJXL \r\n", Foreign::JpegXl),
            (b"\0\0\0\x0cjP  \r\n", Foreign::Jpeg2000),
            (b"\0\0\0\x18ftypmp42\0\0\0\0isommp42", Foreign::Film),
            (b"\0\0\0\x14ftypqt  \0\0\0\0qt  ", Foreign::Film),
            (b"PK\x03\x04\x14\0", Foreign::Zip),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", Foreign::Svg),
            (b"\xef\xbb\xbf \n<?xml version='1.0'?>\n<svg/>", Foreign::Svg),
            (b"<!-- drawn --><svg/>", Foreign::Svg),
            (b"<!DOCTYPE svg PUBLIC ''><svg/>", Foreign::Svg),
        ];
        for (bytes, kind) in foreign {
            assert_eq!(sniff(bytes), Err(PictureError::Foreign { kind }), "{bytes:?}");
        }
        let unknown: [&[u8]; 8] = [
            b"",
            b"B",
            b"BMW is a maker of cars and more",
            b"hello",
            b"<html>",
            b"\0\0\0",
            b"RIFF\0\0\0\0WAVE",
            b"\x1f\x8b",
        ];
        for bytes in unknown {
            assert_eq!(sniff(bytes), Err(PictureError::Unknown), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_no_picture_is_left_to_others() {
        let pictures: [&[u8]; 4] =
            [b"\x89PNG\r\n\x1a\n", b"8BPS\0\x01", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", b"\xff\x0a\xfa"];
        assert!(pictures.iter().all(|bytes| is_picture(bytes)));
        let others: [&[u8]; 6] =
            [b"", b"BMW is a maker", b"%PDF-1.7", b"<svg xmlns=''/>", b"PK\x03\x04\x14\0", b"%!PS-Adobe"];
        assert!(!others.iter().any(|bytes| is_picture(bytes)));
    }

    #[test]
    fn phones_pictures_are_left_to_the_system() {
        let files: [(&[u8], PictureFormat, Foreign); 4] = [
            (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", PictureFormat::Heic, Foreign::Heic),
            (b"\0\0\0\x14ftypmif1\0\0\0\0mif1", PictureFormat::Heic, Foreign::Heic),
            (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", PictureFormat::Avif, Foreign::Avif),
            (b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf", PictureFormat::Avif, Foreign::Avif),
        ];
        for (bytes, format, kind) in files {
            let expected =
                if cfg!(target_os = "macos") { Ok(format) } else { Err(PictureError::Foreign { kind }) };
            assert_eq!(sniff(bytes), expected);
        }
    }
}
