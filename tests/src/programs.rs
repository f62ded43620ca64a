//! Where the programs under test are.

use std::path::PathBuf;

/// A program of this workspace, as it was built beside these tests.
pub fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let folder = test.ancestors().nth(2).expect("tests lie in a folder beside the programs");
    let program = folder.join(name);
    assert!(
        program.is_file(),
        "{} is missing: build the page (`npm run build` in ui/), then `cargo build -p foretoken -p foretoken-engine`",
        program.display()
    );
    program
}

/// What a process of this machine has computed so far, in hundredths of a second.
#[cfg(target_os = "linux")]
pub fn processor_time(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    // The fields are behind its name, which may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(") ").expect("it has a name").1.split(' ').collect();
    fields[11..13].iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// Bytes that a process of this machine has in memory.
#[cfg(target_os = "linux")]
pub fn resident_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("that is a number")
}

/// A program of this workspace as `cargo build --release` makes it, for measurements.
pub fn released(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let folder = test.ancestors().nth(3).expect("tests lie three folders below cargo's target folder");
    let program = folder.join("release").join(name);
    assert!(program.is_file(), "{} is missing: `cargo build --release -p {name}`", program.display());
    program
}
