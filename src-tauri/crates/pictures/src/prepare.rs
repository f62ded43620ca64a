//! From a picture's file to a folder with what a model reads and what people see.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use foretoken_protocol::{PictureFacts, PictureFormat};

use crate::decode::{Decoded, decode};
use crate::error::PictureError;
use crate::files;
use crate::limits::LARGEST_FILE;
use crate::pixels::Pixels;
use crate::resize::bicubic;
use crate::size::{SizeRule, tokens};
use crate::sniff::sniff;
use crate::view::{JPEG_FILE, PNG_FILE, View};

/// Reads the picture in `file` and writes into the folder `out`, which is made if it is missing,
/// [`PIXELS_FILE`](crate::PIXELS_FILE) for a model and a view for people. Of a picture that is refused nothing is
/// written. It decodes what others have written: the process that calls it should hold nothing dear and have limits.
pub fn prepare(file: &Path, out: &Path, rule: SizeRule) -> Result<PictureFacts, PictureError> {
    let bytes = files::read(file, LARGEST_FILE)?;
    let format = sniff(&bytes)?;
    let picture = decoded(file, &bytes, format, out)?;
    drop(bytes);
    let (width, height) = picture.on_white.dimensions();
    let resized = rule.resized((width, height))?;
    let pixels = Pixels::new(resized.0, resized.1, bicubic(&picture.on_white, resized).into_raw());
    let view = View::of(&picture, format).map_err(|error| PictureError::decoding(format, &error))?;
    files::make_folder(out)?;
    files::write(out, view.name, &[&view.bytes])?;
    let other = out.join(if view.name == PNG_FILE { JPEG_FILE } else { PNG_FILE });
    match fs::remove_file(&other) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(files::output(&other)(error)),
        _ => pixels.write(out)?,
    }
    Ok(PictureFacts {
        format,
        width,
        height,
        resized_width: pixels.width,
        resized_height: pixels.height,
        tokens: tokens(resized),
        digest: pixels.digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        view: view.name.to_owned(),
        notes: picture.notes,
    })
}

#[cfg(target_os = "macos")]
fn decoded(file: &Path, bytes: &[u8], format: PictureFormat, out: &Path) -> Result<Decoded, PictureError> {
    if matches!(format, PictureFormat::Heic | PictureFormat::Avif) {
        files::make_folder(out)?;
        let png = crate::system::as_png(file, format, out)?;
        return decode(&png, PictureFormat::Png);
    }
    decode(bytes, format)
}

#[cfg(not(target_os = "macos"))]
fn decoded(_: &Path, bytes: &[u8], format: PictureFormat, _: &Path) -> Result<Decoded, PictureError> {
    decode(bytes, format)
}
