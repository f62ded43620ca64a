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
    pub(crate) fn new(operation: &'static str, message: impl Into<String>) -> Self {
        Self { operation, message: message.into() }
    }

    /// The message that MLX left on this thread.
    pub(super) fn last(operation: &'static str) -> Self {
        let message = LAST.with_borrow_mut(std::mem::take);
        Self { operation, message: without_place(&message).into() }
    }

    /// Whether there was too little memory for it.
    pub fn is_out_of_memory(&self) -> bool {
        let words = self.message.to_ascii_lowercase();
        OUT_OF_MEMORY.iter().any(|sign| words.contains(sign))
    }

    /// Whether the GPU has failed, so that this process can compute nothing more on it: macOS ignores what a process
    /// hands over after several faults. Or the ring in which several machines compute, which is never mended.
    pub fn is_device_fault(&self) -> bool {
        self.operation == BROKEN_RING
            || !self.is_out_of_memory() && DEVICE_FAULTS.iter().any(|sign| self.message.contains(sign))
    }

    /// Whether it was more than the device takes in one piece, however much is free.
    pub fn is_too_large(&self) -> bool {
        self.message.contains("maximum allowed buffer size")
    }

    /// Bytes that were asked for in vain, where MLX says how many.
    pub fn bytes_wanted(&self) -> Option<u64> {
        let (_, wanted) = self.message.split_once("allocate ")?;
        let (bytes, _) = wanted.split_once(" bytes")?;
        bytes.parse().ok()
    }
}

/// What MLX's allocators, Metal's command buffers and CUDA say of memory that there is not, in lower case.
const OUT_OF_MEMORY: [&str; 4] = ["allocate", "out of memory", "outofmemory", "insufficient memory"];

/// What MLX says where a command buffer of Metal, or a kernel of CUDA, did not come to its end.
const DEVICE_FAULTS: [&str; 3] = ["Command buffer execution failed", "IOGPUCommandBuffer", "CUDA error"];

/// The operation of an error after which a ring of machines is of no use any more.
pub(crate) const BROKEN_RING: &str = "ring";

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

    #[test]
    fn a_gpu_that_has_failed_is_told_from_what_an_operation_refuses() {
        for message in [
            "[METAL] Command buffer execution failed: Caused GPU Hang Error (00000003:kIOGPUCommandBufferCallbackErrorHang)",
            "[METAL] Command buffer execution failed: Ignored (for causing prior/excessive GPU errors) \
             (00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)",
            "cudaGraphLaunch failed: CUDA error: an illegal memory access was encountered",
        ] {
            assert!(MlxError::new("eval", message).is_device_fault(), "{message}");
        }
        for message in
            ["[matmul] Last dimension of first input with shape (1,2) must match", "[Load] a file ends"]
        {
            assert!(!MlxError::new("eval", message).is_device_fault(), "{message}");
        }
    }

    #[test]
    fn a_want_of_memory_is_told_from_other_failures_and_says_how_much_was_wanted() {
        let found = |message: &str| {
            let error = MlxError::new("eval", message);
            (error.is_out_of_memory(), error.bytes_wanted())
        };
        assert!(MlxError::new("eval", "… the maximum allowed buffer size of 9 bytes.").is_too_large());
        assert!(!MlxError::new("eval", "Unable to allocate 9 bytes.").is_too_large());
        assert_eq!(found("[malloc] Unable to allocate 12884901888 bytes."), (true, Some(12_884_901_888)));
        let largest = "[metal::malloc] Attempting to allocate 99 bytes which is greater than the maximum allowed \
                       buffer size of 9 bytes.";
        assert_eq!(found(largest), (true, Some(99)));
        let buffer = "[METAL] Command buffer execution failed: Insufficient Memory \
                      (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)";
        assert_eq!(found(buffer), (true, None));
        assert!(!MlxError::new("eval", buffer).is_device_fault());
        assert_eq!(found("cudaMallocAsync failed: out of memory"), (true, None));
        assert_eq!(
            found("[matmul] Last dimension of first input with shape (1,2) must match"),
            (false, None)
        );
    }
}
