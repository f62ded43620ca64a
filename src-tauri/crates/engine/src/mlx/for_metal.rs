//! Graphs for Metal where there is none: a thread may build, though not compute, what a Mac would be handed.

use std::cell::Cell;

use mlx_sys::mlx_stream;

thread_local! {
    /// Whether the thread is within [`for_metal`].
    static FOR_METAL: Cell<bool> = const { Cell::new(false) };
}

/// A `mlx::core::Stream` of a GPU: its index, then kind and index of the device. Nothing is computed on it.
static GPU_STREAM: [i32; 3] = [-1, 1, 0];

/// Builds a graph as it would be on Metal, where there is none; it cannot be computed.
pub(super) fn for_metal<T>(build: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            FOR_METAL.set(self.0);
        }
    }
    let _before = Before(FOR_METAL.replace(true));
    build()
}

/// Whether the thread is within [`for_metal`].
pub(super) fn is_for_metal() -> bool {
    FOR_METAL.get()
}

/// The stream of what is built for Metal.
pub(super) fn gpu_stream() -> mlx_stream {
    mlx_stream { ctx: GPU_STREAM.as_ptr().cast_mut().cast() }
}
