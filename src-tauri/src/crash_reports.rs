//! Reports of crashes that macOS has written about the app and its engine. They are shown, and sent nowhere.

use std::fs;
use std::path::{Path, PathBuf};

use foretoken_protocol::CrashReport;
use serde::Deserialize;

/// How many are told of, the newest.
const MOST: usize = 5;
/// Larger files are none that macOS writes.
const MAX_BYTES: u64 = 16 << 20;
/// What the names of our programs begin with.
const OURS: &str = "foretoken";
/// The kind of report that is about a crash.
const CRASH: &str = "309";

/// The first line of a report.
#[derive(Deserialize)]
struct Header {
    name: String,
    timestamp: String,
    bug_type: String,
}

/// As much as is told of what follows.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    exception: Exception,
    termination: Termination,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Exception {
    #[serde(rename = "type")]
    kind: String,
    signal: String,
    subtype: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Termination {
    indicator: String,
}

/// Where macOS puts them; `None` elsewhere.
pub(crate) fn folder() -> Option<PathBuf> {
    if !cfg!(target_os = "macos") {
        return None;
    }
    Some(directories::UserDirs::new()?.home_dir().join("Library/Logs/DiagnosticReports"))
}

/// The newest reports about our programs in a folder, the newest first. A file that cannot be read is as none.
pub(crate) fn newest(folder: &Path) -> Vec<CrashReport> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    // Names hold the time, but begin with the program; so all are read, of which macOS keeps few.
    let mut reports: Vec<CrashReport> = names
        .filter(|name| name.starts_with(OURS) && name.ends_with(".ips"))
        .filter_map(|file| {
            let path = folder.join(&file);
            let is_short = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= MAX_BYTES);
            let text = is_short.then(|| fs::read_to_string(&path).ok()).flatten()?;
            read(file, &text)
        })
        .collect();
    reports.sort_by(|a, b| b.at.cmp(&a.at));
    reports.truncate(MOST);
    reports
}

/// The report in a file; `None` if it is no crash of ours. Of one whose second part has another form the exception is
/// unknown.
fn read(file: String, text: &str) -> Option<CrashReport> {
    let (header, body) = text.split_once('\n')?;
    let Header { name, timestamp, bug_type } = serde_json::from_str(header).ok()?;
    if bug_type != CRASH || !name.starts_with(OURS) {
        return None;
    }
    let Body { exception, termination } = serde_json::from_str(body).unwrap_or_default();
    let mut words = exception.kind;
    if !exception.signal.is_empty() {
        words.push_str(&format!(" ({})", exception.signal));
    }
    for more in [exception.subtype, termination.indicator] {
        if !more.is_empty() {
            words.push_str(if words.is_empty() { "" } else { ", " });
            words.push_str(&more);
        }
    }
    // Seconds and what is behind them say nothing to anybody.
    let at = timestamp.chars().take("2026-11-20 10:11".len()).collect();
    let exception = if words.is_empty() { "unknown".into() } else { words };
    Some(CrashReport { file, program: name, at, exception })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As macOS 15 writes them, much shortened.
    fn report(name: &str, bug_type: &str, at: &str) -> String {
        let header = format!(
            r#"{{"app_name":"{name}","timestamp":"{at}:12.00 +0100","app_version":"0.1.0","slice_uuid":"1b7c","build_version":"412","platform":1,"bundleID":"dev.foretoken.Foretoken","share_with_app_devs":0,"is_first_party":0,"bug_type":"{bug_type}","os_version":"macOS 15.1 (24B83)","roots_installed":0,"name":"{name}","incident_id":"5D1F"}}"#
        );
        let body = r#"{
  "uptime" : 86000,
  "procRole" : "Foreground",
  "version" : 2,
  "procName" : "foretoken-engine-14",
  "procPath" : "\/Applications\/Foretoken.app\/Contents\/MacOS\/foretoken-engine-14",
  "exception" : {"codes":"0x0000000000000000, 0x0000000000000000","rawCodes":[0,0],"type":"EXC_CRASH","signal":"SIGABRT"},
  "termination" : {"flags":0,"code":6,"namespace":"SIGNAL","indicator":"Abort trap: 6","byProc":"foretoken-engine","byPid":812},
  "asi" : {"libsystem_c.dylib":["abort() called"]},
  "faultingThread" : 0,
  "threads" : [{"triggered":true,"id":9012,"frames":[{"imageOffset":37000,"symbol":"__pthread_kill","imageIndex":3}]}]
}"#;
        format!("{header}\n{body}\n")
    }

    #[test]
    fn crashes_of_ours_are_told_the_newest_first_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        write("foretoken-2026-11-20-101112.ips", &report("foretoken", "309", "2026-11-20 10:11"));
        write(
            "foretoken-engine-14-2026-11-21-090012.ips",
            &report("foretoken-engine-14", "309", "2026-11-21 09:00"),
        );
        write("foretoken-2026-11-22-090012.ips", &report("foretoken", "288", "2026-11-22 09:00"));
        write("Safari-2026-11-22-090012.ips", &report("Safari", "309", "2026-11-22 09:00"));
        write("foretoken-cut.ips", "{\"name\":\"foretoken\"");
        write("foretoken.log", &report("foretoken", "309", "2026-11-23 09:00"));
        fs::create_dir(folder.path().join("foretoken-folder.ips")).unwrap();
        let told = newest(folder.path());
        let files: Vec<&str> = told.iter().map(|report| report.file.as_str()).collect();
        assert_eq!(files, ["foretoken-engine-14-2026-11-21-090012.ips", "foretoken-2026-11-20-101112.ips"]);
        assert_eq!(told[0].program, "foretoken-engine-14");
        assert_eq!(told[0].at, "2026-11-21 09:00");
        assert_eq!(told[0].exception, "EXC_CRASH (SIGABRT), Abort trap: 6");
        assert_eq!(newest(&folder.path().join("none")), []);
    }

    #[test]
    fn what_the_exception_was_is_told_as_far_as_the_report_says_so() {
        let header = r#"{"name":"foretoken","timestamp":"2026-11-20 10:11:12.00 +0100","bug_type":"309"}"#;
        let told = |body: &str| read("a.ips".into(), &format!("{header}\n{body}")).unwrap().exception;
        let fault = r#"{"exception":{"type":"EXC_BAD_ACCESS","signal":"SIGSEGV","subtype":"KERN_INVALID_ADDRESS at 0x8"}}"#;
        assert_eq!(told(fault), "EXC_BAD_ACCESS (SIGSEGV), KERN_INVALID_ADDRESS at 0x8");
        assert_eq!(told(r#"{"termination":{"indicator":"Library missing"}}"#), "Library missing");
        assert_eq!(told("{"), "unknown");
    }
}
