//! One run of the engine program: requests go to its stdin, events come from its stdout, a line of JSON each.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use foretoken_protocol::{Event, Request};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a process that has closed its output may take to end.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// The running program. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    requests: mpsc::UnboundedSender<Request>,
    events: Lines<BufReader<ChildStdout>>,
    last_words: JoinHandle<Option<String>>,
}

/// How a run came to its end.
#[derive(Debug)]
pub(super) enum Ending {
    /// The program ended by itself, or something killed it.
    Exited {
        status: ExitStatus,
        /// The last line it wrote to stderr.
        last_words: Option<String>,
    },
    /// It wrote something that is no event.
    Unreadable { line: String },
    /// Its output could not be read, or its exit not awaited.
    Io(std::io::Error),
}

impl Process {
    /// Starts the program as `PROGRAM serve --state-dir STATE_DIR`.
    pub(super) fn spawn(program: &Path, state_dir: &Path) -> std::io::Result<Self> {
        let mut child = Command::new(program)
            .args(["serve", "--state-dir"])
            .arg(state_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let missing = || std::io::Error::other("the process has no pipe");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let (requests, queue) = mpsc::unbounded_channel();
        tokio::spawn(write_requests(stdin, queue));
        let last_words = tokio::spawn(log_lines(stderr));
        Ok(Self { child, requests, events: BufReader::new(stdout).lines(), last_words })
    }

    /// Queues a request. If the process is ending, [`Process::next_event`] tells.
    pub(super) fn send(&self, request: Request) {
        let _ = self.requests.send(request);
    }

    /// The next event. Nothing is lost if the future is dropped before it is ready.
    pub(super) async fn next_event(&mut self) -> Result<Event, Ending> {
        match self.events.next_line().await {
            Ok(Some(line)) => serde_json::from_str(&line).map_err(|_| Ending::Unreadable { line }),
            Ok(None) => Err(self.exited().await),
            Err(error) => Err(Ending::Io(error)),
        }
    }

    async fn exited(&mut self) -> Ending {
        if timeout(LAST_BREATH, self.child.wait()).await.is_err() {
            let _ = self.child.start_kill();
        }
        match self.child.wait().await {
            Ok(status) => {
                let last_words = timeout(LAST_BREATH, &mut self.last_words).await;
                Ending::Exited { status, last_words: last_words.ok().and_then(Result::ok).flatten() }
            }
            Err(error) => Ending::Io(error),
        }
    }

    /// Ends the program and waits until it is gone.
    pub(super) async fn kill(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::warn!("the engine could not be ended: {error}");
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { status, last_words: None } => {
                write!(f, "The engine stopped ({}).", cause(*status))
            }
            Self::Exited { status, last_words: Some(words) } => {
                write!(f, "The engine stopped ({}): {words}", cause(*status))
            }
            Self::Unreadable { line } => {
                // Not the line itself: it may hold what was said in a chat.
                write!(f, "The engine wrote a line of {} bytes that is no message.", line.len())
            }
            Self::Io(error) => write!(f, "The engine cannot be reached: {error}."),
        }
    }
}

/// Why a process ended, in two words.
fn cause(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => format!("exit code {}", status.code().unwrap_or_default()),
    }
}

async fn write_requests(mut stdin: ChildStdin, mut queue: mpsc::UnboundedReceiver<Request>) {
    while let Some(request) = queue.recv().await {
        let mut line = match serde_json::to_vec(&request) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!("a request could not be written: {error}");
                continue;
            }
        };
        line.push(b'\n');
        // A pipe that is closed means that the process ends; the reader of its events reports that.
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

/// Logs what the engine says on stderr and returns its last line.
async fn log_lines(stderr: impl AsyncRead + Unpin) -> Option<String> {
    let mut lines = BufReader::new(stderr).lines();
    let mut last = None;
    while let Ok(Some(line)) = lines.next_line().await {
        // After the time, the engine's own log names the level.
        match line.split_whitespace().nth(1) {
            Some("ERROR") => tracing::error!(target: "foretoken_engine", "{line}"),
            Some("WARN") => tracing::warn!(target: "foretoken_engine", "{line}"),
            _ => tracing::info!(target: "foretoken_engine", "{line}"),
        }
        last = Some(line).filter(|line| !line.trim().is_empty()).or(last);
    }
    last
}
