//! What the engine knows of the machine it runs on.

use std::process::{Command, Stdio};

use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::checkpoint::FloatType;

/// The name of the processor, as `Apple M1 Max`.
pub fn chip() -> Option<String> {
    let system =
        System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing())).ok()?;
    let brand = system.cpus().first()?.brand().trim();
    (!brand.is_empty()).then(|| brand.to_owned())
}

/// Whether work that nobody waits for may run: neither in low-power mode nor from a battery that is below
/// [`LEAST_CHARGE`]. What cannot be found out does not forbid it.
pub(crate) fn may_spend_energy() -> bool {
    !cfg!(target_os = "macos") || spares_energy(&pmset(&["-g", "batt"]), &pmset(&["-g"]))
}

/// Whether the machine draws from its battery, as far as that is known.
pub fn is_on_battery() -> bool {
    cfg!(target_os = "macos") && pmset(&["-g", "batt"]).contains(ON_BATTERY)
}

/// What `pmset` says where the machine draws from its battery.
const ON_BATTERY: &str = "'Battery Power'";

fn pmset(arguments: &[&str]) -> String {
    let told =
        Command::new("/usr/bin/pmset").args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
    told.map_or_else(|_| String::new(), |told| String::from_utf8_lossy(&told.stdout).into_owned())
}

/// The least charge of a battery, in percent, at which it is drawn from for what nobody waits for.
const LEAST_CHARGE: u32 = 20;

/// By what `pmset` says of the battery and of the settings.
fn spares_energy(battery: &str, settings: &str) -> bool {
    let low_power = settings.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("lowpowermode") && words.next() == Some("1")
    });
    let charge = battery.split_once('%').and_then(|(before, _)| {
        let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok()
    });
    let is_low = battery.contains(ON_BATTERY) && charge.is_some_and(|charge| charge < LEAST_CHARGE);
    !low_power && !is_low
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

    #[test]
    fn a_battery_that_is_low_is_spared_and_so_is_whoever_saves_power() {
        let battery = |from: &str, charge: u32| {
            format!(
                "Now drawing from '{from}'\n -InternalBattery-0 (id=22806627)\t{charge}%; discharging; 3:12 remaining \
                 present: true\n"
            )
        };
        let settings = |mode: u32| {
            format!(
                "System-wide power settings:\nCurrently in use:\n lowpowermode         {mode}\n hibernatemode 3\n"
            )
        };
        for (battery, settings, spares) in [
            (battery("Battery Power", 80), settings(0), true),
            (battery("Battery Power", 20), settings(0), true),
            (battery("Battery Power", 19), settings(0), false),
            (battery("AC Power", 5), settings(0), true),
            (battery("AC Power", 100), settings(1), false),
            (battery("Battery Power", 100), settings(1), false),
            // A Mac without a battery.
            ("Now drawing from 'AC Power'\n".into(), " hibernatemode 0\n".into(), true),
            (String::new(), String::new(), true),
        ] {
            assert_eq!(spares_energy(&battery, &settings), spares, "{battery}{settings}");
        }
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
