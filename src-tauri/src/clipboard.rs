//! The system's clipboard: what is copied there that the page must not see, and what is read of it for a prompt.

use std::sync::{Mutex, PoisonError};

#[cfg(target_os = "macos")]
use arboard::SetExtApple as _;
#[cfg(target_os = "linux")]
use arboard::SetExtLinux as _;
use foretoken_protocol::ErrorReport;
use thiserror::Error;

/// Why nothing was copied or read.
#[derive(Debug, Error)]
pub(crate) enum ClipboardError {
    #[error("The clipboard cannot be used: {0}.")]
    Unavailable(#[from] arboard::Error),
    #[error("The text on the clipboard is larger than {} MB.", most >> 20)]
    Large { most: usize },
}

impl From<ClipboardError> for ErrorReport {
    fn from(error: ClipboardError) -> Self {
        let (code, hint) = match &error {
            ClipboardError::Unavailable(_) => {
                ("clipboard_unavailable", "Try again; another program may hold it.")
            }
            ClipboardError::Large { .. } => {
                ("attachment_too_large", "Copy a part of it; no model reads as much.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// The text on the clipboard, of `most` bytes at most; `None` where there is none. Blocks.
pub(crate) fn text(most: usize) -> Result<Option<String>, ClipboardError> {
    usable(arboard::Clipboard::new()?.get_text(), most)
}

/// What was found, if it says something.
fn usable(found: Result<String, arboard::Error>, most: usize) -> Result<Option<String>, ClipboardError> {
    match found {
        Err(arboard::Error::ContentNotAvailable) => Ok(None),
        found => match found? {
            text if text.len() > most => Err(ClipboardError::Large { most }),
            text => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        },
    }
}

/// The clipboard. On some systems what was copied is there only for as long as this is.
#[derive(Default)]
pub(crate) struct Clipboard {
    opened: Mutex<Option<arboard::Clipboard>>,
}

impl Clipboard {
    /// Puts a secret there, which programs that keep what was copied leave out. Blocks.
    pub(crate) fn set_secret(&self, text: String) -> Result<(), ClipboardError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let clipboard = match &mut *opened {
            Some(clipboard) => clipboard,
            none => none.insert(arboard::Clipboard::new()?),
        };
        Ok(clipboard.set().exclude_from_history().text(text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_that_says_something_and_is_not_too_long() {
        let read = |text: &str| usable(Ok(text.into()), 8);
        assert_eq!(read("An owl\n").unwrap().as_deref(), Some("An owl\n"), "as it is");
        assert_eq!(read(" \n").unwrap(), None);
        assert_eq!(usable(Err(arboard::Error::ContentNotAvailable), 8).unwrap(), None, "a picture");
        let code = |refused: ClipboardError| ErrorReport::from(refused).code;
        assert_eq!(code(read("Nine owls").unwrap_err()), "attachment_too_large");
        let held = usable(Err(arboard::Error::ClipboardOccupied), 8);
        assert_eq!(code(held.unwrap_err()), "clipboard_unavailable");
    }
}
