//! Running commands: shown, logged or read; a failure always names the command line.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::error::{Error, Result};

/// Lines of a log that an error repeats.
const TAIL: usize = 60;

/// Runs a command whose output the reader sees.
pub(crate) fn show(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    succeeded(command, status, String::new)
}

/// Runs a command whose output the reader sees, and says how it ended.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().map_err(|source| start_error(command, source))
}

/// Runs a command whose output goes to the end of a log file; an error repeats the last lines.
pub(crate) fn log(command: &mut Command, log: &Path) -> Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(log).map_err(Error::file(log))?;
    let copy = file.try_clone().map_err(Error::file(log))?;
    let before = file.metadata().map_err(Error::file(log))?.len();
    let status = command.stdout(file).stderr(copy).status().map_err(|source| start_error(command, source))?;
    succeeded(command, status, || {
        let bytes = fs::read(log).unwrap_or_default();
        let own = String::from_utf8_lossy(bytes.get(before as usize..).unwrap_or_default()).into_owned();
        let lines: Vec<_> = own.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL)..].join("\n");
        format!(", its last lines (all of them are in {}):\n{tail}", log.display())
    })
}

/// Runs a command and returns what it printed; its error output is part of the error.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .map_err(|source| start_error(command, source))?;
    succeeded(command, output.status, || {
        format!(":\n{}", String::from_utf8_lossy(&output.stderr).trim_end())
    })?;
    String::from_utf8(output.stdout)
        .map_err(|error| Error::Output { line: line(command), why: error.to_string() })
}

/// Whether a command exists and says yes.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command line as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| {
        let word = word.to_string_lossy();
        if word.is_empty() || word.contains(|c: char| c.is_whitespace() || "'\"$&|;<>()*".contains(c)) {
            format!("'{}'", word.replace('\'', r"'\''"))
        } else {
            word.into_owned()
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn succeeded(command: &Command, status: ExitStatus, output: impl FnOnce() -> String) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed { line: line(command), status, output: output() })
}

fn start_error(command: &Command, source: std::io::Error) -> Error {
    let hint = match command.get_program().to_str() {
        Some("npm" | "node") => "; install Node.js 20.19, 22.12, or 24 or later",
        Some("curl") => "; install curl",
        Some("python3") => "; install Python 3.11 or later",
        Some("rustup") => "; install Rust with rustup",
        _ => "",
    };
    Error::Start { line: line(command), hint, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        let mut command = Command::new("cmake");
        command.args(["-S", "/a b/c", "-DX=it's", ""]);
        assert_eq!(line(&command), r"cmake -S '/a b/c' '-DX=it'\''s' ''");
    }

    #[test]
    fn a_failed_command_repeats_its_own_last_lines_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        log(Command::new("sh").args(["-c", "echo first"]), &file).unwrap();
        let error =
            log(Command::new("sh").args(["-c", "echo second; exit 3"]), &file).unwrap_err().to_string();
        assert!(error.contains("second") && error.contains("exit status: 3"), "{error}");
        assert!(!error.contains("first"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = read(&mut Command::new("no-such-program-here")).unwrap_err().to_string();
        assert!(error.contains("no-such-program-here"), "{error}");
    }
}
