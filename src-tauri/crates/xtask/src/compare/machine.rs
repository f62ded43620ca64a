//! What a measurement ran on, in words: processor, cores, memory, system.

use std::fs;
use std::thread;

use crate::process;
use crate::workspace::Workspace;

/// One line. What the system does not tell is left out.
pub(super) fn describe(workspace: &Workspace) -> String {
    let read = |program: &str, arguments: &[&str]| {
        let text = process::read(workspace.command(program).args(arguments)).ok()?;
        Some(text.trim().to_owned())
    };
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (processor, memory, system) = if cfg!(target_os = "macos") {
        let bytes = read("sysctl", &["-n", "hw.memsize"]).and_then(|text| text.parse().ok());
        let version = read("sw_vers", &["-productVersion"]).map(|version| format!("macOS {version}"));
        (read("sysctl", &["-n", "machdep.cpu.brand_string"]), bytes, version)
    } else {
        let processor = field(&file("/proc/cpuinfo"), "model name", ':');
        let memory = field(&file("/proc/meminfo"), "MemTotal", ':');
        (
            processor,
            memory.and_then(|memory| bytes(&memory)),
            field(&file("/etc/os-release"), "PRETTY_NAME", '='),
        )
    };
    let cores = thread::available_parallelism().ok().map(|cores| format!("{cores} cores"));
    let memory = memory.map(|bytes: u64| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30)));
    let kernel = read("uname", &["-srm"]);
    let told: Vec<String> = [processor, cores, memory, system, kernel].into_iter().flatten().collect();
    told.join(", ")
}

/// Today, as the world's clock has it.
pub(super) fn date(workspace: &Workspace) -> String {
    let date = process::read(workspace.command("date").args(["-u", "+%Y-%m-%d"]));
    date.map_or_else(|_| "unknown date".into(), |date| date.trim().to_owned())
}

/// The first value of a name in lines of names and values, without quotation marks.
fn field(text: &str, name: &str, separator: char) -> Option<String> {
    let mut fields = text.lines().filter_map(|line| line.split_once(separator));
    let (_, value) = fields.find(|(other, _)| other.trim() == name)?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// Of a figure as `/proc/meminfo` has it.
fn bytes(memory: &str) -> Option<u64> {
    memory.strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| 1024 * kibibytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_tells_is_read() {
        let processor = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Owl 9: Fast\n\nmodel name\t: Bell\n";
        assert_eq!(field(processor, "model name", ':').as_deref(), Some("Owl 9: Fast"));
        let system = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n";
        assert_eq!(field(system, "PRETTY_NAME", '=').as_deref(), Some("Debian GNU/Linux 12"));
        let memory = field("MemTotal:       16384 kB\nMemFree: 1 kB\n", "MemTotal", ':');
        assert_eq!(memory.and_then(|memory| bytes(&memory)), Some(16 << 20));
        assert_eq!(field("", "MemTotal", ':'), None);
    }
}
