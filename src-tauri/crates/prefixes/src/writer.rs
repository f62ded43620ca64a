//! Writes and removes files on a thread of its own, one after the other, so that no reply waits for a disk.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use crate::file::{self, Header};

/// A thread that writes and removes. Dropped, it first does what it was given.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Option<Sender<Job>>,
    done: Receiver<()>,
    /// Jobs that it was given and has not done.
    open: usize,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Job {
    Write(Box<(PathBuf, Header, Vec<u8>)>),
    Remove(PathBuf),
}

impl Writer {
    pub(crate) fn start() -> io::Result<Self> {
        let (jobs, given) = channel::<Job>();
        let (told, done) = channel();
        let thread = thread::Builder::new().name("prefix files".into()).spawn(move || {
            for job in given {
                job.run();
                if told.send(()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { jobs: Some(jobs), done, open: 0, thread: Some(thread) })
    }

    /// Has a file written.
    pub(crate) fn write(&mut self, path: PathBuf, header: Header, bytes: Vec<u8>) {
        self.give(Job::Write(Box::new((path, header, bytes))));
    }

    /// Has a file removed.
    pub(crate) fn remove(&mut self, path: PathBuf) {
        self.give(Job::Remove(path));
    }

    fn give(&mut self, job: Job) {
        let is_given = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        self.open += usize::from(is_given);
    }

    /// Whether it is at work.
    pub(crate) fn is_busy(&mut self) -> bool {
        self.open -= self.done.try_iter().count().min(self.open);
        self.open > 0 && self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Waits until everything is done.
    pub(crate) fn flush(&mut self) {
        while self.open > 0 && self.done.recv().is_ok() {
            self.open -= 1;
        }
        self.open = 0;
    }
}

impl Job {
    fn run(self) {
        match self {
            Self::Write(file) => {
                let (path, header, bytes) = *file;
                if let Err(error) = file::write(&path, &header, &bytes) {
                    tracing::warn!("{} is not written: {error}", path.display());
                }
            }
            Self::Remove(path) => file::remove(&path),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
