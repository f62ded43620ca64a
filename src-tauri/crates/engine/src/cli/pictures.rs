//! Pictures that are named on the command line: each is prepared in a process of its own, as the app does it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use foretoken_protocol::{ChatMessage, Content, ContentPart, ModelInfo, PictureInput};
use tempfile::TempDir;

use super::CliError;
use super::picture::Detail;

/// A question with pictures before it, and the folder that their pixels are in as long as it lives.
pub(super) fn question(
    text: &str,
    pictures: &[PathBuf],
    detail: Detail,
    model: &ModelInfo,
) -> Result<(ChatMessage, Option<TempDir>), CliError> {
    if pictures.is_empty() {
        return Ok((ChatMessage::user(text), None));
    }
    let (least, most) = match &*model.pictures {
        PictureInput::Available { least_pixels, most_pixels, .. } => (*least_pixels, *most_pixels),
        PictureInput::Unavailable { reason } => {
            return Err(CliError::Usage(format!("{} cannot see pictures: {reason}", model.name)));
        }
    };
    let folder = tempfile::tempdir()?;
    let mut parts = Vec::new();
    for (number, picture) in pictures.iter().enumerate() {
        let out = folder.path().join(number.to_string());
        prepare(picture, &out, detail, [least, most])?;
        parts.push(ContentPart::Image { pixels: out.join(foretoken_pictures::PIXELS_FILE) });
    }
    parts.push(ContentPart::Text { text: text.to_owned() });
    Ok((ChatMessage::User { content: Content::Parts(parts) }, Some(folder)))
}

fn prepare(picture: &Path, out: &Path, detail: Detail, [least, most]: [u64; 2]) -> Result<(), CliError> {
    let output = Command::new(std::env::current_exe()?)
        .arg("picture")
        .arg(picture)
        .arg("--out")
        .arg(out)
        .args(["--detail", detail.name(), "--least", &least.to_string(), "--most", &most.to_string()])
        .stdin(Stdio::null())
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().trim_start_matches("foretoken-engine: ");
            let problem = match said {
                "" => format!("its decoder ended ({}).", output.status),
                said => said.to_owned(),
            };
            Err(CliError::Usage(format!("{}: {problem}", picture.display())))
        }
    }
}
