//! The device, evaluation, memory and files.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::path::Path;
use std::time::{Duration, Instant};

use mlx_rs::error::IoError;
use mlx_sys::mlx_device;

use super::array::vector_of;
use super::error::{install_handler, without_place};
use super::for_metal::is_for_metal;
use super::{Array, MlxError, Result};

/// What computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// Apple's GPU.
    Metal,
    /// An NVIDIA GPU.
    Cuda,
    /// The processor.
    Cpu,
}

impl DeviceKind {
    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metal => "metal",
            Self::Cuda => "cuda",
            Self::Cpu => "cpu",
        }
    }
}

pub(super) fn default_device() -> mlx_device {
    install_handler();
    // SAFETY: the out-pointer is a fresh handle; a failure leaves it null, which later calls report.
    unsafe {
        let mut device = mlx_sys::mlx_device_new();
        mlx_sys::mlx_get_default_device(&mut device);
        device
    }
}

/// What MLX computes on by default.
pub fn device() -> DeviceKind {
    if is_for_metal() {
        return DeviceKind::Metal;
    }
    let device = default_device();
    let mut kind = mlx_sys::mlx_device_type__MLX_CPU;
    let mut cuda = false;
    // SAFETY: out-pointers to locals; the device handle is freed once.
    unsafe {
        mlx_sys::mlx_device_get_type(&mut kind, device);
        mlx_sys::mlx_cuda_is_available(&mut cuda);
        mlx_sys::mlx_device_free(device);
    }
    match (kind == mlx_sys::mlx_device_type__MLX_GPU, cuda) {
        (true, true) => DeviceKind::Cuda,
        (true, false) => DeviceKind::Metal,
        (false, _) => DeviceKind::Cpu,
    }
}

thread_local! {
    static WAITS: Cell<u64> = const { Cell::new(0) };
    static WAITED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static HANDED_OVER: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// When this thread first gave the device something since it last asked; `None` if it has not.
pub fn take_handed_over() -> Option<Instant> {
    HANDED_OVER.take()
}

fn note_handing_over() {
    HANDED_OVER.set(HANDED_OVER.get().or_else(|| Some(Instant::now())));
}

/// How often this thread has waited for the device: once for all arrays that are computed or read together.
pub fn waits() -> u64 {
    WAITS.get()
}

/// How long this thread has waited for the device.
pub fn waited() -> Duration {
    WAITED.get()
}

/// Computes the arrays and waits for them.
pub fn eval<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<()> {
    WAITS.set(WAITS.get() + 1);
    note_handing_over();
    let arrays = vector_of(arrays);
    let from = Instant::now();
    // SAFETY: the vector holds valid handles and is freed by its guard.
    let status = unsafe { mlx_sys::mlx_eval(arrays.raw()) };
    WAITED.set(WAITED.get() + from.elapsed());
    match status {
        0 => Ok(()),
        _ => Err(MlxError::last("eval")),
    }
}

/// Starts to compute the arrays and does not wait for them. Reading one waits for it.
pub fn async_eval<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<()> {
    note_handing_over();
    let arrays = vector_of(arrays);
    // SAFETY: the vector holds valid handles and is freed by its guard.
    match unsafe { mlx_sys::mlx_async_eval(arrays.raw()) } {
        0 => Ok(()),
        _ => Err(MlxError::last("async_eval")),
    }
}

/// Waits until the device has done all that it was handed. A process that ends before may crash as it ends.
pub fn synchronize() -> Result<()> {
    let device = default_device();
    // SAFETY: the out-pointer is a fresh handle; device and stream are freed once.
    let status = unsafe {
        let mut stream = mlx_sys::mlx_stream_new();
        mlx_sys::mlx_get_default_stream(&mut stream, device);
        let status = mlx_sys::mlx_synchronize(stream);
        mlx_sys::mlx_stream_free(stream);
        mlx_sys::mlx_device_free(device);
        status
    };
    match status {
        0 => Ok(()),
        _ => Err(MlxError::last("synchronize")),
    }
}

/// The tensors of a safetensors file, lazy: their bytes are read when they are evaluated.
pub fn load_safetensors(path: &Path) -> Result<HashMap<String, Array>> {
    install_handler();
    let tensors =
        mlx_rs::Array::load_safetensors(path).map_err(|e| file_error("load_safetensors", path, &e))?;
    Ok(tensors.into_iter().map(|(name, array)| (name, Array::from_inner(array))).collect())
}

/// Writes evaluated copies of the arrays to a safetensors file.
pub fn save_safetensors<'a>(
    path: &Path,
    arrays: impl IntoIterator<Item = (&'a str, &'a Array)>,
) -> Result<()> {
    install_handler();
    let arrays = arrays.into_iter().map(|(name, array)| (name, array.inner()));
    mlx_rs::Array::save_safetensors(arrays, None, path).map_err(|e| file_error("save_safetensors", path, &e))
}

fn file_error(operation: &'static str, path: &Path, error: &IoError) -> MlxError {
    let problem = match error {
        IoError::Exception(exception) => without_place(exception.what()).to_owned(),
        other => other.to_string(),
    };
    MlxError::new(operation, format!("{}: {problem}", path.display()))
}

/// Bytes that live arrays hold.
pub fn active_memory() -> usize {
    mlx_rs::memory::active_memory().unwrap_or(0)
}

/// The most bytes held since the last reset.
pub fn peak_memory() -> usize {
    mlx_rs::memory::peak_memory().unwrap_or(0)
}

/// Bytes that models and chats may take together: on Metal nearly all that the system recommends, since MLX stops to
/// reuse buffers at 95 % of it; elsewhere what MLX takes before it waits for memory to be freed. 0 if neither is known.
pub fn usable_memory() -> u64 {
    let recommended = if device() == DeviceKind::Metal { recommended_working_set() } else { None };
    match recommended {
        Some(bytes) => bytes as u64 / 100 * 95,
        None => mlx_rs::memory::memory_limit().unwrap_or(0) as u64,
    }
}

/// What Metal's `recommendedMaxWorkingSetSize` says.
fn recommended_working_set() -> Option<usize> {
    const KEY: &CStr = c"max_recommended_working_set_size";
    let device = default_device();
    let mut bytes = 0;
    // SAFETY: all handles are made here and freed once; the key is a C string; an unknown key leaves `bytes` as it is.
    let found = unsafe {
        let mut info = mlx_sys::mlx_device_info_new();
        let mut known = false;
        let found = mlx_sys::mlx_device_info_get(&mut info, device) == 0
            && mlx_sys::mlx_device_info_has_key(&mut known, info, KEY.as_ptr()) == 0
            && known
            && mlx_sys::mlx_device_info_get_size(&mut bytes, info, KEY.as_ptr()) == 0;
        mlx_sys::mlx_device_info_free(info);
        mlx_sys::mlx_device_free(device);
        found
    };
    Some(bytes).filter(|&bytes| found && bytes > 0)
}

/// Keeps what models use in memory while it lives: on Metal, from macOS 15 on, the system may otherwise take the
/// weights out of the GPU's reach between two passes, and bring them back while somebody waits. There is one at a time.
#[derive(Debug)]
pub struct Residency(());

impl Residency {
    /// Holds as much as Metal recommends; other devices have nothing to hold.
    pub fn hold() -> Self {
        if let (DeviceKind::Metal, Some(bytes)) = (device(), recommended_working_set()) {
            // Without it models run as well as the system lets them.
            let _ = mlx_rs::memory::set_wired_limit(bytes);
        }
        Self(())
    }
}

impl Drop for Residency {
    fn drop(&mut self) {
        if device() == DeviceKind::Metal {
            let _ = mlx_rs::memory::set_wired_limit(0);
        }
    }
}

/// Starts a new peak measurement.
pub fn reset_peak_memory() {
    let _ = mlx_rs::memory::reset_peak_memory();
}

/// Bounds the buffers that are kept for reuse, so that keys and values which have grown out of theirs do not pile up,
/// on a device that gives models `usable` bytes; 0 if that is not known.
pub fn set_cache_limit(usable: u64) {
    const SHARE: u64 = 8;
    // A step makes the recurrent states anew, and lets go of those of the step before.
    let limit = (usable / SHARE).max(512 << 20);
    let _ = mlx_rs::memory::set_cache_limit(limit as usize);
}

/// Gives cached buffers back to the system.
pub fn clear_cache() {
    let _ = mlx_rs::memory::clear_cache();
}
