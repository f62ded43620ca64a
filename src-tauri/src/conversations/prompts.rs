//! The texts that a person keeps for messages: changed, and moved between files.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretoken_chats::WholeFile;
use foretoken_protocol::{AppEvent, ErrorReport, Prompt};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::blocking::blocking;
use crate::conversations::Conversations;

/// What a file with prompts says that it is.
const FORMAT: &str = "foretoken-prompts";
/// The most bytes of a file that are read.
const MOST_BYTES: u64 = 5_000_000;

/// Why prompts were not moved between files.
#[derive(Debug, Error)]
pub(crate) enum PromptsError {
    /// The file was not written.
    #[error("The prompts cannot be written to {}: {source}.", path.display())]
    NotSaved {
        /// Where it was to be.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file was not read.
    #[error("{} cannot be read: {source}.", path.display())]
    NotRead {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("{} holds no prompts: {why}.", path.display())]
    NoPrompts {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl From<PromptsError> for ErrorReport {
    fn from(error: PromptsError) -> Self {
        let (code, hint) = match &error {
            PromptsError::NotSaved { .. } => {
                ("prompts_not_saved", "Choose another folder, or make room on the disk.")
            }
            PromptsError::NotRead { .. } => {
                ("prompts_not_read", "Check that the file is there and may be read.")
            }
            PromptsError::NoPrompts { .. } => {
                ("no_prompts", "Choose a JSON file that was exported from Settings, Prompts.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// A file with prompts.
#[derive(Debug, Serialize, Deserialize)]
struct PromptFile {
    format: String,
    prompts: Vec<Prompt>,
}

impl Conversations {
    /// Keeps these prompts, in this order, and no others.
    pub(crate) async fn set_prompts(&self, prompts: Vec<Prompt>) -> Result<(), ErrorReport> {
        let events = Arc::clone(&self.events);
        self.store
            .call(move |store| {
                store.set_prompts(&prompts)?;
                events.publish(&AppEvent::Prompts { prompts });
                Ok(())
            })
            .await
    }

    /// Adds the prompts of a file behind the others, but for those that are there already.
    pub(crate) async fn import_prompts(&self, path: PathBuf) -> Result<(), ErrorReport> {
        let found = blocking(move || read(&path)).await?;
        let events = Arc::clone(&self.events);
        self.store
            .call(move |store| {
                let mut prompts = store.prompts()?;
                for prompt in found {
                    if !prompts.contains(&prompt) {
                        prompts.push(prompt);
                    }
                }
                store.set_prompts(&prompts)?;
                events.publish(&AppEvent::Prompts { prompts });
                Ok(())
            })
            .await
    }

    /// Writes all prompts into a file, which appears when it is whole.
    pub(crate) async fn export_prompts(&self, path: PathBuf) -> Result<(), ErrorReport> {
        let prompts = self.store.call(|store| store.prompts()).await?;
        Ok(blocking(move || write(&path, prompts)).await?)
    }
}

fn write(path: &Path, prompts: Vec<Prompt>) -> Result<(), PromptsError> {
    let save = || {
        let mut file = WholeFile::begin(path)?;
        serde_json::to_writer_pretty(&mut file, &PromptFile { format: FORMAT.into(), prompts })?;
        file.write_all(b"\n")?;
        file.finish()
    };
    save().map_err(|source| PromptsError::NotSaved { path: path.to_owned(), source })
}

fn read(path: &Path) -> Result<Vec<Prompt>, PromptsError> {
    let no_prompts = |why: String| PromptsError::NoPrompts { path: path.to_owned(), why };
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text))
        .map_err(|source| PromptsError::NotRead { path: path.to_owned(), source })?;
    if text.len() as u64 > MOST_BYTES {
        return Err(no_prompts(format!("it has more than {MOST_BYTES} bytes")));
    }
    let file: PromptFile = serde_json::from_slice(&text).map_err(|error| no_prompts(error.to_string()))?;
    if file.format != FORMAT {
        return Err(no_prompts(format!("its format is {:?}", file.format)));
    }
    let named = file.prompts.into_iter().filter(|prompt| !prompt.name.trim().is_empty());
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_go_through_a_file_and_other_files_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prompts.json");
        let prompt =
            |name: &str, text: &str| Prompt { name: name.into(), text: text.into(), ..Prompt::default() };
        let prompts = vec![prompt("Translate", "Into {{language}}:\n"), prompt("Übersetzen", "\u{0}\"")];
        write(&path, prompts.clone()).unwrap();
        assert_eq!(read(&path).unwrap(), prompts);

        for (content, why) in [
            ("[]", "invalid"),
            (r#"{"format": "other", "prompts": []}"#, "its format is"),
            (r#"{"format": "foretoken-prompts", "prompts": [{"name": "x"}]}"#, "missing field `text`"),
        ] {
            std::fs::write(&path, content).unwrap();
            let report = ErrorReport::from(read(&path).unwrap_err());
            assert_eq!(report.code, "no_prompts");
            assert!(report.message.contains(why), "{}", report.message);
        }
        std::fs::write(&path, r#"{"format": "foretoken-prompts", "prompts": [{"name": " ", "text": "x"}]}"#)
            .unwrap();
        assert_eq!(read(&path).unwrap(), []);
        assert_eq!(ErrorReport::from(read(folder.path()).unwrap_err()).code, "prompts_not_read");
    }
}
