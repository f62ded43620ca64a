//! The system's clipboard, for what the page must not see.

use std::sync::{Mutex, PoisonError};

#[cfg(target_os = "macos")]
use arboard::SetExtApple as _;
#[cfg(target_os = "linux")]
use arboard::SetExtLinux as _;
use foretoken_protocol::ErrorReport;
use thiserror::Error;

/// Why nothing was copied.
#[derive(Debug, Error)]
#[error("The clipboard cannot be used: {0}.")]
pub(crate) struct ClipboardError(#[from] arboard::Error);

impl From<ClipboardError> for ErrorReport {
    fn from(error: ClipboardError) -> Self {
        Self {
            code: "clipboard_unavailable".into(),
            message: error.to_string(),
            hint: "Try again; another program may hold it.".into(),
        }
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
