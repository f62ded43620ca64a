//! The bytes of one segment: requests until all of it is written.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use foretoken_protocol::ErrorReport;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::LibraryError;
use crate::disk::joined;
use crate::hub::{ByteStream, Failure, Hub, Retry, Source};

/// Bytes that are written at a time.
const WRITE: usize = 1 << 20;

/// A part of a file for one request.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) file: usize,
    pub(crate) range: Range<u64>,
}

/// What the tasks of a transfer tell it.
#[derive(Debug)]
pub(crate) enum Event {
    /// Written, not yet forced to the disk.
    Wrote { file: usize, range: Range<u64> },
    /// An attempt failed and is repeated.
    Trouble(ErrorReport),
}

/// What a task knows of its file.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) source: Arc<Source>,
    pub(crate) path: PathBuf,
    pub(crate) opened: Arc<File>,
}

/// What came of waiting for bytes.
#[derive(Debug, Default)]
struct Gathered {
    chunks: Vec<Bytes>,
    length: usize,
    /// How the request ended, if it has: false if it was stopped.
    end: Option<Result<bool, Failure>>,
}

/// Writes what arrives beside the arrival of what follows.
#[derive(Debug)]
struct Writer<'a> {
    target: &'a Target,
    events: &'a mpsc::UnboundedSender<Event>,
    file: usize,
    /// Up to where all is written.
    at: u64,
    /// The write that is being done, and where it ends.
    writing: Option<(u64, JoinHandle<io::Result<()>>)>,
}

/// Fetches one segment with as many attempts as it takes, each from where the last one came to.
pub(crate) async fn fetch(
    hub: Hub,
    target: Target,
    segment: Segment,
    events: mpsc::UnboundedSender<Event>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), LibraryError> {
    let mut retry = Retry::new(hub.retry_policy());
    let Segment { file, range } = segment;
    let mut writer = Writer { target: &target, events: &events, file, at: range.start, writing: None };
    while writer.at < range.end {
        let before = writer.at;
        let attempt = attempt(&hub, &mut writer, range.end, &mut stop).await;
        // What arrived before an interruption counts too.
        writer.finish().await?;
        if writer.at > before {
            retry.progressed();
        }
        match attempt {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(failure) => {
                if let Failure::Transient(error, _) = &failure {
                    tracing::debug!(%error, path = target.source.file.path, "repeating a request");
                    let _ = events.send(Event::Trouble(ErrorReport::from(error)));
                }
                let wait = retry.after(failure)?;
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    _ = stop.wait_for(|&stop| stop) => return Ok(()),
                }
            }
        }
    }
    Ok(())
}

/// One request, up to `end`. False if it was stopped.
async fn attempt(
    hub: &Hub,
    writer: &mut Writer<'_>,
    end: u64,
    stop: &mut watch::Receiver<bool>,
) -> Result<bool, Failure> {
    let mut stream = tokio::select! {
        biased;
        _ = stop.wait_for(|&stop| stop) => return Ok(false),
        stream = writer.target.source.open(hub, writer.at..end) => stream?,
    };
    loop {
        let gathered = gather(&mut stream, stop).await;
        writer.write(gathered.chunks, gathered.length).await?;
        if let Some(end) = gathered.end {
            return end;
        }
    }
}

/// Waits for enough bytes to write, or for the end of the request.
async fn gather(stream: &mut ByteStream, stop: &mut watch::Receiver<bool>) -> Gathered {
    let mut gathered = Gathered::default();
    while gathered.length < WRITE && gathered.end.is_none() {
        tokio::select! {
            biased;
            _ = stop.wait_for(|&stop| stop) => gathered.end = Some(Ok(false)),
            chunk = stream.next() => match chunk {
                Ok(Some(chunk)) => {
                    gathered.length += chunk.len();
                    gathered.chunks.push(chunk);
                }
                Ok(None) => gathered.end = Some(Ok(true)),
                Err(failure) => gathered.end = Some(Err(failure)),
            },
        }
    }
    gathered
}

impl Writer<'_> {
    /// Begins to write what follows what was written last, as soon as that is done.
    async fn write(&mut self, chunks: Vec<Bytes>, length: usize) -> Result<(), LibraryError> {
        self.finish().await?;
        if length > 0 {
            let (opened, start) = (self.target.opened.clone(), self.at);
            let task = tokio::task::spawn_blocking(move || write_at(&opened, &chunks, start));
            self.writing = Some((start + length as u64, task));
        }
        Ok(())
    }

    /// Waits for the write that is being done, if any.
    async fn finish(&mut self) -> Result<(), LibraryError> {
        let Some((end, task)) = self.writing.take() else { return Ok(()) };
        joined(task.await).map_err(|error| LibraryError::io(&self.target.path, error))?;
        let _ = self.events.send(Event::Wrote { file: self.file, range: self.at..end });
        self.at = end;
        Ok(())
    }
}

fn write_at(file: &File, chunks: &[Bytes], mut at: u64) -> io::Result<()> {
    for chunk in chunks {
        file.write_all_at(chunk, at)?;
        at += chunk.len() as u64;
    }
    Ok(())
}
