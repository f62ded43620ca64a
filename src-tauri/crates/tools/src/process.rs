//! The program of a server: in a process group of its own, what it writes to its standard error kept to be shown, and
//! ended with all that it started.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

use crate::error::ServerError;

/// Bytes of standard error that are kept: the newest.
const KEPT: usize = 64 << 10;
/// How long a program has to end by itself, first after its input is closed, then after it was told to.
const GRACE: Duration = Duration::from_secs(3);
/// How often it is looked whether a program has ended.
const LOOKING: Duration = Duration::from_millis(10);

/// How a program is started. Nothing of it goes through a shell. `Debug` shows no value of its environment.
#[derive(Clone, PartialEq, Eq)]
pub struct Launch {
    /// Its absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// All of its environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Where it works.
    pub folder: PathBuf,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("environment", &self.environment.keys())
            .field("folder", &self.folder)
            .finish()
    }
}

/// A program that runs.
#[derive(Debug)]
pub(crate) struct Process {
    /// Reaped once it is dropped, after its group is killed.
    _child: Child,
    group: Option<Pid>,
}

impl Process {
    /// Starts the program and returns the ends of its output and its input.
    pub(crate) fn start(
        launch: &Launch,
        errors: Errors,
    ) -> Result<(Self, ChildStdout, ChildStdin), ServerError> {
        let not_started = |source: std::io::Error| ServerError::NotStarted {
            program: launch.program.clone(),
            source: source.into(),
        };
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .env_clear()
            .envs(&launch.environment)
            .current_dir(&launch.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(not_started)?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(errors.keep(stderr));
        }
        let missing = || not_started(std::io::ErrorKind::BrokenPipe.into());
        let (output, input) =
            (child.stdout.take().ok_or_else(missing)?, child.stdin.take().ok_or_else(missing)?);
        Ok((Self { _child: child, group }, output, input))
    }

    /// Ends it, once its input is closed, with all processes of its group: waits, tells them to end, waits, and kills
    /// what is left.
    pub(crate) async fn end(self) {
        if timeout(GRACE, self.exited()).await.is_err() {
            self.signal(Signal::TERM);
            if timeout(GRACE, self.exited()).await.is_err() {
                self.killed().await;
            }
        }
    }

    /// Kills all processes of its group, and waits until the program has ended.
    pub(crate) async fn killed(&self) {
        self.signal(Signal::KILL);
        // Only one that waits for a broken disk takes longer, and nothing ends that.
        let _ = timeout(GRACE, self.exited()).await;
    }

    /// Waits until the program has ended, and does not reap it: its group keeps its number until it is killed.
    async fn exited(&self) {
        let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while let Some(program) = self.group
            && let Ok(None) = waitid(WaitId::Pid(program), looking)
        {
            sleep(LOOKING).await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails where nothing of the group is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// The newest of what a program wrote to its standard error.
#[derive(Debug, Clone, Default)]
pub struct Errors(Arc<Mutex<VecDeque<u8>>>);

impl Errors {
    /// As text; what is no UTF-8 is replaced.
    pub fn text(&self) -> String {
        let kept: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&kept).into_owned()
    }

    async fn keep(self, mut from: impl AsyncRead + Unpin) {
        let mut piece = vec![0; 8 << 10];
        while let Ok(read @ 1..) = from.read(&mut piece).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&piece[..read]);
            let surplus = kept.len().saturating_sub(KEPT);
            kept.drain(..surplus);
        }
    }
}
