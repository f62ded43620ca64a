//! Where operations run: one stream for each thread, and more of them where the device computes a stream on one
//! processor.

use std::cell::{Cell, OnceCell};

use mlx_sys::mlx_stream;

use super::for_metal::{gpu_stream, is_for_metal};
use super::runtime::{DeviceKind, default_device, device};

/// More streams than this have not been tried.
const MOST_STREAMS: usize = 8;

thread_local! {
    // Streams belong to their thread and cost a lookup, so each thread asks once.
    static STREAMS: OnceCell<Vec<mlx_stream>> = const { OnceCell::new() };
    /// The stream of [`on_stream`]; `None` outside of it.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The stream that this thread builds operations for.
pub(super) fn stream() -> mlx_stream {
    if is_for_metal() {
        return gpu_stream();
    }
    with_streams(|streams| streams[CURRENT.get().unwrap_or(0)])
}

/// How many streams the thread has. MLX runs a stream of the CPU on one processor; GPUs use all they have for a single
/// operation.
pub(super) fn streams() -> usize {
    if is_for_metal() { 1 } else { with_streams(<[_]>::len) }
}

/// Builds what another stream than the thread's own may compute beside it.
pub(super) fn on_stream<T>(index: usize, build: impl FnOnce() -> T) -> T {
    let _before = On(CURRENT.replace(Some(index)));
    build()
}

/// Whether the thread is within [`on_stream`].
pub(super) fn is_on_stream() -> bool {
    CURRENT.get().is_some()
}

/// Goes back to the stream before when it is dropped.
struct On(Option<usize>);

impl Drop for On {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

fn with_streams<T>(read: impl FnOnce(&[mlx_stream]) -> T) -> T {
    STREAMS.with(|cell| read(cell.get_or_init(new_streams)))
}

/// The thread's own stream, and more on a CPU with more processors.
fn new_streams() -> Vec<mlx_stream> {
    let more = match device() {
        DeviceKind::Cpu => std::thread::available_parallelism().map_or(1, usize::from).min(MOST_STREAMS) - 1,
        DeviceKind::Metal | DeviceKind::Cuda => 0,
    };
    let device = default_device();
    // SAFETY: the handles are valid. MLX keeps streams until the process ends; no other thread uses these.
    unsafe {
        let mut own = mlx_sys::mlx_stream_new();
        mlx_sys::mlx_get_default_stream(&mut own, device);
        let more = (0..more).map(|_| mlx_sys::mlx_stream_new_device(device));
        let streams = std::iter::once(own).chain(more).collect();
        mlx_sys::mlx_device_free(device);
        streams
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_goes_back_to_its_own_stream_whatever_happens() {
        assert!(!is_on_stream());
        on_stream(0, || {
            on_stream(streams() - 1, || assert_eq!(CURRENT.get(), Some(streams() - 1)));
            assert_eq!(CURRENT.get(), Some(0));
        });
        assert!(!is_on_stream());
        let panicked = std::panic::catch_unwind(|| on_stream(0, || panic!()));
        assert!(panicked.is_err());
        assert!(!is_on_stream());
    }
}
