//! Errors of MLX. mlx-c reports a failure as a status and passes the message to an error handler; the one here keeps
//! the message of each thread for the [`MlxError`] that is made from the status.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Once;

use thiserror::Error;

/// An operation that MLX refused or failed to evaluate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{operation}: {message}")]
pub struct MlxError {
    /// The operation, as mlx-c names it.
    pub operation: &'static str,
    /// MLX's own words.
    pub message: String,
}

impl MlxError {
    pub(super) fn new(operation: &'static str, message: impl Into<String>) -> Self {
        Self { operation, message: message.into() }
    }

    /// The message that MLX left on this thread.
    pub(super) fn last(operation: &'static str) -> Self {
        let message = LAST.with_borrow_mut(std::mem::take);
        Self { operation, message: without_place(&message).into() }
    }
}

/// The message without its end, the source line that threw, which tells people nothing.
pub(super) fn without_place(message: &str) -> &str {
    match message.rsplit_once(" at ") {
        Some((words, place)) if place.starts_with('/') => words,
        _ => message,
    }
}

thread_local! {
    /// The last message of this thread that no error has taken.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

unsafe extern "C" {
    // mlx-rs exports its handler, so its own calls keep their messages too.
    fn default_mlx_error_handler(message: *const c_char, data: *mut c_void);
}

/// The error handler: keeps the message for this thread and passes it on to the handler of mlx-rs.
unsafe extern "C" fn keep_message(message: *const c_char, data: *mut c_void) {
    // SAFETY: MLX passes a NUL-terminated string that lives for the call; the other handler copies it.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LAST.with_borrow_mut(|last| *last = text);
        default_mlx_error_handler(message, data);
    }
}

/// Installs the handler, once; without one mlx-c prints the message and exits. mlx-rs installs its own at its first
/// call, so that call is made first.
pub(super) fn install_handler() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let _ = mlx_rs::memory::active_memory();
        // SAFETY: the handler is a function of this program and needs no data.
        unsafe { mlx_sys::mlx_set_error_handler(Some(keep_message), std::ptr::null_mut(), None) };
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_the_source_line_and_nothing_else() {
        assert_eq!(without_place("Bad shapes. at /src/mlx/c/ops.cpp:12"), "Bad shapes.");
        assert_eq!(without_place("Look at this"), "Look at this");
    }
}
