//! The engine program as a tool: a command in a process of its own, beside the one that writes replies.

use std::ffi::OsStr;
use std::future::pending;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};

use foretoken_protocol::ErrorReport;
use tokio::io::AsyncRead;
use tokio::process::Command;

use crate::lines::Lines;
use crate::program::EngineProgram;

/// The code of a command that ended with an error, which the engine explains on standard error.
pub const ENGINE_REFUSED: &str = "engine_refused";
/// The code of a command whose process was killed by a signal.
pub const ENGINE_DIED: &str = "engine_died";

/// The longest line of output that is read whole, in bytes: more than any file's text that is sent with a message.
const LONGEST_OUTPUT: usize = 16 << 20;
/// The longest line of standard error that is read whole, in bytes.
const MAX_STDERR_LINE: usize = 2048;

/// What a command is told for keys and values in 8 bits.
pub const KV_IN_8_BITS: [&str; 2] = ["--kv-bits", "8"];

/// Runs commands of the engine program.
#[derive(Debug, Clone)]
pub struct Tool {
    program: EngineProgram,
}

impl Tool {
    /// Runs commands of `program`.
    pub fn new(program: impl Into<EngineProgram>) -> Self {
        Self { program: program.into() }
    }

    /// Where the program is.
    pub async fn program(&self) -> &Path {
        self.program.path().await
    }

    /// Runs a command and returns what it wrote. Dropping the future ends the process.
    pub async fn output<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<String, ErrorReport> {
        let mut output = String::new();
        let keep = |line: &str| {
            output.push_str(line);
            output.push('\n');
        };
        self.lines(arguments, keep, pending()).await?;
        Ok(output)
    }

    /// Runs a command and hands over each line as it is written. False if `stop` came before its end. When this
    /// returns, the process is gone with all that it holds; dropping the future only tells it to end.
    pub async fn lines<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        mut on_line: impl FnMut(&str),
        stop: impl Future<Output = ()>,
    ) -> Result<bool, ErrorReport> {
        let mut stop = pin!(stop);
        let program = tokio::select! {
            program = self.program() => program,
            () = &mut stop => return Ok(false),
        };
        let not_run = |error| not_run(program, &error);
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(not_run)?;
        let last_stderr_line = child.stderr.take().map(|stderr| tokio::spawn(last_line(stderr)));
        let stdout = child.stdout.take();
        let running = async {
            if let Some(stdout) = stdout {
                let mut lines = Lines::new(stdout, LONGEST_OUTPUT);
                while let Some(line) = lines.next().await? {
                    on_line(&line.text());
                }
            }
            child.wait().await
        };
        let ended = tokio::select! {
            ended = running => Some(ended),
            () = &mut stop => None,
        };
        let Some(ended) = ended else {
            child.kill().await.map_err(not_run)?;
            return Ok(false);
        };
        let status = ended.map_err(not_run)?;
        if status.success() {
            return Ok(true);
        }
        if status.code().is_none() {
            return Err(killed(status));
        }
        let words = match last_stderr_line {
            Some(reading) => reading.await.ok().flatten(),
            None => None,
        };
        Err(refused(&words.unwrap_or_else(|| format!("The engine stopped ({status}). Try again."))))
    }
}

fn not_run(program: &Path, error: &std::io::Error) -> ErrorReport {
    ErrorReport {
        code: "engine_not_started".into(),
        message: format!("The engine at {} cannot be run: {error}.", program.display()),
        hint: "Install Foretoken again.".into(),
    }
}

/// A process that was ended from outside, as for want of memory, has said nothing.
fn killed(status: ExitStatus) -> ErrorReport {
    ErrorReport {
        code: ENGINE_DIED.into(),
        message: format!("The engine stopped ({status})."),
        hint: "Try again.".into(),
    }
}

/// The engine's one line about what is wrong. Its last sentence says what to do.
fn refused(line: &str) -> ErrorReport {
    let line = line.strip_prefix("foretoken-engine: ").unwrap_or(line).trim();
    let (message, hint) = match line.trim_end_matches('.').rsplit_once(". ") {
        Some((message, _)) => line.split_at(message.len() + 1),
        None => (line, ""),
    };
    ErrorReport { code: ENGINE_REFUSED.into(), message: message.into(), hint: hint.trim().into() }
}

async fn last_line(stderr: impl AsyncRead + Unpin) -> Option<String> {
    let mut lines = Lines::new(stderr, MAX_STDERR_LINE);
    let mut last = None;
    while let Ok(Some(line)) = lines.next().await {
        last = Some(line.text()).filter(|line| !line.trim().is_empty()).or(last);
    }
    last
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::testing::{demo_model, engine_program, process_of};

    #[test]
    fn the_last_sentence_says_what_to_do() {
        let report =
            refused("foretoken-engine: The folder a.b holds no config. It has 3 files. Choose another.");
        assert_eq!(report.message, "The folder a.b holds no config. It has 3 files.");
        assert_eq!(report.hint, "Choose another.");
        assert_eq!(refused("Broken.").message, "Broken.");
        assert_eq!(refused("Broken.").hint, "");
    }

    #[tokio::test]
    async fn a_command_gives_its_output_or_its_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let model = demo_model();
        let output =
            tool.output([OsStr::new("inspect"), model.as_os_str(), "--json".as_ref()]).await.unwrap();
        assert!(output.contains("\"parameters\""), "{output}");
        let refusal = tool.output(["inspect", "/no/such/folder"]).await.unwrap_err();
        assert!(refusal.message.contains("/no/such/folder"), "{refusal}");
        assert!(!refusal.hint.is_empty(), "{refusal}");
        let missing = Tool::new(folder.path().join("nothing")).output(["inspect"]).await.unwrap_err();
        assert_eq!(missing.code, "engine_not_started");
    }

    #[tokio::test]
    async fn output_that_is_no_text_holds_no_command_up() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("rubbish");
        let script = "#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' '\\377' >&2\nprintf '\\n\\376 last\\n' >&2\n\
                      printf 'a\\377b\\n'\nexit $1\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let tool = Tool::new(program);
        assert_eq!(tool.output(["0"]).await.unwrap(), "a\u{fffd}b\n");
        assert_eq!(tool.output(["1"]).await.unwrap_err().message, "\u{fffd} last");
    }

    #[tokio::test]
    async fn a_command_that_is_stopped_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let program = engine_program(folder.path());
        let model = demo_model();
        let endless = [
            OsStr::new("bench"),
            "--runs".as_ref(),
            "100000".as_ref(),
            "--model".as_ref(),
            model.as_os_str(),
        ];
        let begun = async {
            while process_of(&program).is_none() {
                tokio::task::yield_now().await;
            }
        };
        let tool = Tool::new(program.clone());
        assert!(!tool.lines(endless, |_| (), begun).await.unwrap(), "it did not come to its end");
        assert_eq!(process_of(&program), None);
    }
}
