//! What MLX reads of the process's environment, once, before it makes a device.

use std::path::Path;

/// f32 products in TF32, with 10 bits of 23: MLX's default on M5 and on NVIDIA's GPUs. The recurrence of a prompt by
/// operations does not stand that: on an H100 without the setting, states were 1e-3 of the largest off.
const TF32: &str = "MLX_ENABLE_TF32";
/// Kernels in a command buffer, and megabytes that they read, after which it is handed over.
const MOST_OPS: &str = "MLX_MAX_OPS_PER_BUFFER";
const MOST_MEGABYTES: &str = "MLX_MAX_MB_PER_BUFFER";

/// A process's place in a ring, and where the ranks listen.
pub const RANK: &str = "MLX_RANK";
/// See [`RANK`].
pub const HOSTS: &str = "MLX_HOSTFILE";

/// The settings of MLX that this program knows.
const KNOWN: [&str; 3] = [TF32, MOST_OPS, MOST_MEGABYTES];

/// Sets what suits a chip. What a person has set stays.
///
/// To be called first in `main`: before anything of MLX, and while there is one thread.
pub fn prepare(chip: Option<&str>) {
    for (name, value) in settings(chip) {
        if std::env::var_os(name).is_none() {
            // SAFETY: no other thread reads the environment yet, as the caller grants.
            unsafe { std::env::set_var(name, value) };
        }
    }
}

/// Gives this process a place in a ring of MLX. `hosts`: a JSON file with a list of addresses for each rank, of which
/// only its own and the next one's count.
///
/// To be called while there is one thread.
pub fn set_ring(rank: usize, hosts: &Path) {
    // SAFETY: no other thread reads the environment yet, as the caller grants.
    unsafe {
        std::env::set_var(RANK, rank.to_string());
        std::env::set_var(HOSTS, hosts);
    }
}

/// The settings that are in effect, by name.
pub fn in_effect() -> Vec<(&'static str, String)> {
    KNOWN.into_iter().filter_map(|name| Some((name, std::env::var(name).ok()?))).collect()
}

/// From M1 to M4 a boundary between two command buffers costs some 20 µs, and MLX's own bounds make one in nearly every
/// layer of a large model; M5 gains nothing.
fn settings(chip: Option<&str>) -> Vec<(&'static str, &'static str)> {
    let generation = chip.and_then(|chip| chip.strip_prefix("Apple M")).and_then(|rest| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok()
    });
    let mut settings = vec![(TF32, "0")];
    if generation.is_some_and(|generation| (1..=4).contains(&generation)) {
        settings.extend([(MOST_OPS, "1000"), (MOST_MEGABYTES, "400")]);
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_command_buffers_are_for_chips_that_gain_by_them() {
        for chip in ["Apple M1", "Apple M2 Pro", "Apple M3 Max", "Apple M4 Ultra"] {
            assert_eq!(settings(Some(chip)), [(TF32, "0"), (MOST_OPS, "1000"), (MOST_MEGABYTES, "400")]);
        }
        for chip in ["Apple M5", "Apple M5 Max", "Apple M12", "Apple M", "AMD EPYC 9B14", "Apple"] {
            assert_eq!(settings(Some(chip)), [(TF32, "0")], "{chip}");
        }
        assert_eq!(settings(None), [(TF32, "0")]);
    }
}
