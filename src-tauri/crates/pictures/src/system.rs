//! HEIC, HEIF and AVIF, which macOS reads: its own converter makes them PNG, in a process of its own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use foretoken_protocol::PictureFormat;

use crate::decode::check_size;
use crate::error::PictureError;
use crate::files;
use crate::limits::MEMORY;

const SIPS: &str = "/usr/bin/sips";

/// The bytes of a PNG of the picture, by way of a temporary file in the folder `out`.
pub(crate) fn as_png(file: &Path, format: PictureFormat, out: &Path) -> Result<Vec<u8>, PictureError> {
    // Nothing that it could take for an option.
    let file = file
        .canonicalize()
        .map_err(|error| PictureError::Input { path: file.to_owned(), detail: error.to_string() })?;
    // What its header says, before any pixel is decoded.
    let told = sips(
        format,
        ["-g".as_ref(), "pixelWidth".as_ref(), "-g".as_ref(), "pixelHeight".as_ref(), file.as_os_str()],
    )?;
    check_size((number(&told, "pixelWidth:"), number(&told, "pixelHeight:")))?;
    let png = tempfile::Builder::new().suffix(".png").tempfile_in(out).map_err(files::output(out))?;
    let arguments: [&OsStr; 6] = [
        "-s".as_ref(),
        "format".as_ref(),
        "png".as_ref(),
        file.as_os_str(),
        "--out".as_ref(),
        png.path().as_os_str(),
    ];
    sips(format, arguments)?;
    // Photos are larger without loss than as they came.
    files::read(png.path(), MEMORY)
}

/// What the converter prints.
fn sips<const N: usize>(format: PictureFormat, arguments: [&OsStr; N]) -> Result<String, PictureError> {
    let failed = |detail: String| PictureError::System { format, detail };
    let output = Command::new(SIPS).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(format!("{SIPS}: {error}")))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let line = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        return Err(failed(line.trim().trim_end_matches('.').to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number behind a word; 0, which no picture has, if there is none.
fn number(told: &str, word: &str) -> u32 {
    let mut words = told.split_whitespace().skip_while(|other| *other != word);
    words.nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;
    use crate::{SizeRule, prepare};

    #[test]
    fn a_phones_picture_is_read_by_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let [png, heic, out] = ["a.png", "a.heic", "out"].map(|name| folder.path().join(name));
        RgbImage::from_pixel(128, 96, Rgb([200, 40, 90])).save(&png).unwrap();
        let arguments: [&OsStr; 6] = [
            "-s".as_ref(),
            "format".as_ref(),
            "heic".as_ref(),
            png.as_os_str(),
            "--out".as_ref(),
            heic.as_os_str(),
        ];
        sips(PictureFormat::Heic, arguments).unwrap();
        let facts = prepare(&heic, &out, SizeRule::default()).unwrap();
        assert_eq!((facts.format, facts.width, facts.height), (PictureFormat::Heic, 128, 96));
        let mut names: Vec<_> =
            out.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["pixels.rgb", "view.jpg"]);
    }
}
