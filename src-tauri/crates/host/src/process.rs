//! One run of the engine program: requests go to its stdin, events come from its stdout, a line of JSON each.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use foretoken_protocol::{Event, Request};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::lines::{Line, Lines};
use crate::rings::Ring;
use crate::watchdog::Hang;

/// The longest event, in bytes. What one step adds to a reply is far shorter.
const LONGEST_EVENT: usize = 1 << 20;
/// The longest line of stderr, in bytes, that is logged whole.
const MAX_STDERR_LINE: usize = 2048;
/// Lines of stderr that are logged in a second; what is said beyond them is only counted.
const LOGGED_A_SECOND: u32 = 100;
/// How long a process that has closed its output may take to end.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// How long one that was killed may take; it may have to give back much memory.
const KILL_GRACE: Duration = Duration::from_secs(10);

/// The running program. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    requests: Requests,
    events: Lines<ChildStdout>,
    last_stderr_line: JoinHandle<Option<String>>,
}

/// Takes requests for a process, however long it does not read them. If it has ended, [`Process::next_event`] tells.
pub(crate) type Requests = mpsc::UnboundedSender<Request>;

/// How a run came to its end.
#[derive(Debug, Error)]
pub(crate) enum Ending {
    /// The program ended by itself, or something killed it.
    #[error("The engine stopped ({}){}", cause(*status), after(last_stderr_line.as_deref()))]
    Exited {
        status: ExitStatus,
        /// The last line it wrote to stderr.
        last_stderr_line: Option<String>,
    },
    /// It wrote something that is no event. What it was is not told: it may hold what was said in a chat.
    #[error("The engine wrote a line of {bytes} bytes that is no message.")]
    Unreadable { bytes: usize },
    /// It wrote a line that is too long to be an event.
    #[error("The engine wrote a line of more than {} MB.", LONGEST_EVENT >> 20)]
    Endless,
    /// It wrote many events that nobody waits for.
    #[error("The engine wrote {count} messages in a row that belong to nothing.")]
    Flood { count: u32 },
    /// Its thread that owns MLX does not move, or does not do what it is told.
    #[error("The engine {0} and was ended.")]
    Hung(Hang),
    /// Its output could not be read, or its exit not awaited.
    #[error("The engine cannot be reached: {0}.")]
    Io(std::io::Error),
}

impl Process {
    /// Starts the program as `PROGRAM serve --state-dir STATE_DIR`, and with what connects it to a ring.
    pub(crate) fn spawn(program: &Path, state_dir: &Path, ring: Option<&Ring>) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        let mut child = command
            .args(["serve", "--state-dir"])
            .arg(state_dir)
            .args(ring.into_iter().flat_map(|ring| &ring.arguments))
            .envs(ring.into_iter().flat_map(|ring| ring.environment.iter().cloned()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            // Ctrl-C in a terminal is for the program that started it, which ends it when it is ready to.
            .process_group(0)
            .spawn()?;
        let missing = || std::io::Error::other("the process has no pipe");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let (requests, queue) = mpsc::unbounded_channel();
        tokio::spawn(write_requests(stdin, queue));
        let last_stderr_line = tokio::spawn(log_lines(stderr));
        Ok(Self { child, requests, events: Lines::new(stdout, LONGEST_EVENT), last_stderr_line })
    }

    /// Where requests for it go.
    pub(crate) fn requests(&self) -> Requests {
        self.requests.clone()
    }

    /// The next event. Nothing is lost if the future is dropped before it is ready.
    pub(crate) async fn next_event(&mut self) -> Result<Event, Ending> {
        match self.events.next().await {
            Ok(Some(Line::Whole(line))) => {
                serde_json::from_slice(&line).map_err(|_| Ending::Unreadable { bytes: line.len() })
            }
            Ok(Some(Line::Cut(_))) => Err(Ending::Endless),
            Ok(None) => Err(self.exited().await),
            Err(error) => Err(Ending::Io(error)),
        }
    }

    async fn exited(&mut self) -> Ending {
        if timeout(EXIT_GRACE, self.child.wait()).await.is_err() {
            let _ = self.child.start_kill();
        }
        match timeout(KILL_GRACE, self.child.wait()).await.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
        {
            Ok(status) => {
                let last_stderr_line = timeout(EXIT_GRACE, &mut self.last_stderr_line).await;
                Ending::Exited {
                    status,
                    last_stderr_line: last_stderr_line.ok().and_then(Result::ok).flatten(),
                }
            }
            Err(error) => Ending::Io(error),
        }
    }

    /// Ends the program and waits until it is gone, but not for ever: what waits within the system cannot be ended.
    pub(crate) async fn kill(mut self) {
        match timeout(KILL_GRACE, self.child.kill()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!("the engine could not be ended: {error}"),
            Err(_) => tracing::error!("the engine was killed and has not ended yet"),
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

/// The end of a sentence about a process that has said something last, or has not.
fn after(last_stderr_line: Option<&str>) -> String {
    last_stderr_line.map_or_else(|| ".".into(), |line| format!(": {line}"))
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
    let mut lines = Lines::new(stderr, MAX_STDERR_LINE);
    let mut last = None;
    let (mut second, mut said) = (Instant::now(), 0);
    while let Ok(Some(line)) = lines.next().await {
        let line = line.text();
        if second.elapsed() >= Duration::from_secs(1) {
            tell_left_out(said);
            (second, said) = (Instant::now(), 0);
        }
        said += 1;
        if said <= LOGGED_A_SECOND {
            log(&line);
        }
        last = Some(line).filter(|line| !line.trim().is_empty()).or(last);
    }
    tell_left_out(said);
    last
}

fn log(line: &str) {
    // After the time, the engine's own log names the level.
    match line.split_whitespace().nth(1) {
        Some("ERROR") => tracing::error!(target: "foretoken_engine", "{line}"),
        Some("WARN") => tracing::warn!(target: "foretoken_engine", "{line}"),
        _ => tracing::info!(target: "foretoken_engine", "{line}"),
    }
}

/// So many lines were said within a second.
fn tell_left_out(said: u32) {
    if let Some(left_out @ 1..) = said.checked_sub(LOGGED_A_SECOND) {
        tracing::warn!(target: "foretoken_engine", "{left_out} more lines are left out");
    }
}
