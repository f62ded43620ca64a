//! What the choice of a model depends on, asked of the operating system: memory, the part of it that models may take,
//! the name of the processor, and the free space where the library is. All sizes are in bytes.

use std::path::Path;

use serde::Serialize;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::disk::free_bytes;

/// The computer, as far as the choice of a model depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Memory in bytes; 0 if the system does not say.
    pub ram_bytes: u64,
    /// Bytes of it that models may take: nearly all that Metal recommends, elsewhere three quarters.
    pub model_bytes: u64,
    /// What its maker calls the processor: `Apple M4 Pro`; empty if the system does not say.
    pub chip: String,
    /// Bytes free where the library is; `None` while it is offline.
    pub free_disk_bytes: Option<u64>,
}

impl Machine {
    /// Looks at this computer.
    pub fn detect(library: &Path) -> Self {
        let what = RefreshKind::nothing()
            .with_memory(MemoryRefreshKind::nothing().with_ram())
            .with_cpu(CpuRefreshKind::nothing());
        let (ram_bytes, chip) = match System::new_with_specifics(what) {
            Ok(system) => {
                let chip = system.cpus().first().map(|cpu| cpu.brand().trim().to_owned());
                (system.total_memory(), chip.unwrap_or_default())
            }
            Err(error) => {
                tracing::warn!(%error, "this computer does not say what it is");
                (0, String::new())
            }
        };
        let model_bytes = gpu_bytes().unwrap_or(ram_bytes / 4 * 3);
        Self { ram_bytes, model_bytes, chip, free_disk_bytes: free_bytes(library).ok() }
    }
}

/// What the engine gives to models and chats: of what the GPU may use before it slows down, the part that MLX fills
/// before it stops to reuse buffers.
#[cfg(target_os = "macos")]
fn gpu_bytes() -> Option<u64> {
    // Metal finds a default device only in programs that are linked with it.
    use objc2_core_graphics as _;
    use objc2_metal::{MTLCreateSystemDefaultDevice, MTLDevice};
    let recommended = MTLCreateSystemDefaultDevice()?.recommendedMaxWorkingSetSize();
    (recommended > 0).then_some(recommended / 100 * 95)
}

#[cfg(not(target_os = "macos"))]
fn gpu_bytes() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_computer_has_memory_a_processor_and_a_disk() {
        let here = Machine::detect(&std::env::temp_dir());
        assert!(here.ram_bytes > 1 << 28, "{here:?}");
        assert!(here.model_bytes > 0 && here.model_bytes < here.ram_bytes, "{here:?}");
        assert!(!here.chip.is_empty(), "{here:?}");
        assert!(here.free_disk_bytes.is_some());
        assert_eq!(Machine::detect(Path::new("/no/such/folder")).free_disk_bytes, None);
    }
}
