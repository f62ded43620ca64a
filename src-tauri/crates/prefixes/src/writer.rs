//! Writes files on a thread of its own, so that no reply waits for a disk.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use crate::file::{self, Header};

/// A thread that writes. Dropped, it first writes what it was given.
#[derive(Debug)]
pub(crate) struct Writer {
    files: Option<Sender<Job>>,
    written: Receiver<()>,
    /// Files that it was given and has not written.
    open: usize,
    thread: Option<JoinHandle<()>>,
}

type Job = (PathBuf, Header, Vec<u8>);

impl Writer {
    pub(crate) fn start() -> io::Result<Self> {
        let (files, jobs) = channel::<Job>();
        let (done, written) = channel();
        let thread = thread::Builder::new().name("prefix files".into()).spawn(move || {
            for (path, header, bytes) in jobs {
                if let Err(error) = file::write(&path, &header, &bytes) {
                    tracing::warn!("{} is not written: {error}", path.display());
                }
                if done.send(()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { files: Some(files), written, open: 0, thread: Some(thread) })
    }

    /// Has a file written.
    pub(crate) fn write(&mut self, path: PathBuf, header: Header, bytes: Vec<u8>) {
        let is_sent = self.files.as_ref().is_some_and(|files| files.send((path, header, bytes)).is_ok());
        self.open += usize::from(is_sent);
    }

    /// Whether it is at work.
    pub(crate) fn is_busy(&mut self) -> bool {
        self.open -= self.written.try_iter().count().min(self.open);
        self.open > 0
    }

    /// Waits until everything is written.
    pub(crate) fn flush(&mut self) {
        while self.open > 0 && self.written.recv().is_ok() {
            self.open -= 1;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.files = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
