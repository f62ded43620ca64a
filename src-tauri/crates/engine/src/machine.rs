//! What the engine knows of the machine it runs on.

use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::checkpoint::FloatType;
use crate::mlx;

/// The name of the processor, as `Apple M1 Max`.
pub(crate) fn chip() -> Option<String> {
    let system =
        System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing())).ok()?;
    let brand = system.cpus().first()?.brand().trim();
    (!brand.is_empty()).then(|| brand.to_owned())
}

/// Prepares the process for MLX on this machine. To be called first in `main`, while there is one thread.
pub fn prepare() {
    mlx::environment::prepare(chip().as_deref());
}

/// The type in which a model whose weights have the type `source` computes best on a chip, and why it is another.
pub(crate) fn best_float(source: FloatType, chip: Option<&str>) -> (FloatType, Option<String>) {
    match chip {
        Some(chip) if source == FloatType::Bfloat16 && emulates_bfloat16(chip) => {
            let note = format!(
                "{chip} computes bfloat16 in software, which is slow, so the model computes in float16; \
                 choose bfloat16 yourself to keep the type of the source."
            );
            (FloatType::Float16, Some(note))
        }
        _ => (source, None),
    }
}

/// The M1 family; all later chips compute bfloat16 themselves.
fn emulates_bfloat16(chip: &str) -> bool {
    chip.strip_prefix("Apple M1").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bfloat16_on_the_m1_family_becomes_float16() {
        for chip in ["Apple M1", "Apple M1 Pro", "Apple M1 Max", "Apple M1 Ultra"] {
            let (float, note) = best_float(FloatType::Bfloat16, Some(chip));
            assert_eq!(float, FloatType::Float16, "{chip}");
            assert!(note.is_some_and(|note| note.contains(chip)));
            for source in [FloatType::Float16, FloatType::Float32] {
                assert_eq!(best_float(source, Some(chip)), (source, None));
            }
        }
        for chip in ["Apple M2", "Apple M4 Max", "Apple M10", "Apple M1X", "AMD EPYC 9B14", ""] {
            assert_eq!(best_float(FloatType::Bfloat16, Some(chip)), (FloatType::Bfloat16, None), "{chip}");
        }
        assert_eq!(best_float(FloatType::Bfloat16, None), (FloatType::Bfloat16, None));
    }

    #[cfg(target_os = "macos")]
    #[test]
    fn the_chip_has_the_name_that_sysctl_prints() {
        let printed = std::process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output();
        let printed = String::from_utf8(printed.unwrap().stdout).unwrap();
        assert_eq!(chip().as_deref(), Some(printed.trim()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_chip_has_the_name_of_the_first_processor() {
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let name = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        assert_eq!(chip().as_deref(), name.map(|(_, name)| name.trim()));
    }
}
