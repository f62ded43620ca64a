//! Files of models, for Macs that are paired: read once, sent as they are, and no more than two at a time to each.

use std::collections::BTreeMap;
use std::io::{self, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foretoken_protocol::ErrorReport;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::host::Host;
use super::refusal::Refusal;
use crate::files::is_plain;
use crate::identity::PublicKey;

/// Files that a Mac copies at a time, at most. One that asks for more waits for a while.
const MOST: usize = 2;
const WAIT: Duration = Duration::from_secs(3);

/// Bytes that are read from the disk at a time.
const PIECE: usize = 1024 * 1024;

/// How long the other Mac may leave unread what was sent.
const STUCK: Duration = Duration::from_secs(30);

/// Who copies files at the moment.
#[derive(Debug, Default)]
pub(super) struct Copies {
    by_borrower: Mutex<BTreeMap<PublicKey, Arc<Semaphore>>>,
}

impl Copies {
    /// The right to copy one file, given back when it is dropped. Refused after 3 s without one.
    pub(super) async fn begin(&self, borrower: PublicKey) -> Result<OwnedSemaphorePermit, Refusal> {
        let free = {
            let mut all = self.by_borrower.lock().unwrap_or_else(PoisonError::into_inner);
            // Those who copy or wait hold theirs, too.
            all.retain(|_, free| Arc::strong_count(free) > 1);
            Arc::clone(all.entry(borrower).or_insert_with(|| Arc::new(Semaphore::new(MOST))))
        };
        // It is never closed.
        let begun = timeout(WAIT, free.acquire_owned()).await.ok().and_then(Result::ok);
        begun.ok_or(Refusal::Copies { most: MOST })
    }
}

/// A file of a model at the place where it is to be read from.
pub(super) struct Opened {
    file: File,
    /// The whole of it.
    pub(super) bytes: u64,
    left: u64,
}

/// Opens a file if its name is one, and is in the host's list.
pub(super) async fn open(host: &dyn Host, model: &str, name: &str, from: u64) -> Result<Opened, ErrorReport> {
    if !is_plain(name) {
        return Err(Refusal::FileName.into());
    }
    let missing = || Refusal::NoFile { name: name.to_owned() };
    if !host.files(model).await?.iter().any(|file| file.name == name) {
        return Err(missing().into());
    }
    let mut file = host.open(model, name).await?;
    let unreadable = |error: io::Error| Refusal::Unreadable { detail: error.to_string() };
    let metadata = file.metadata().await.map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(missing().into());
    }
    let bytes = metadata.len();
    let left = bytes.checked_sub(from).ok_or(Refusal::Beyond { from, bytes })?;
    file.seek(SeekFrom::Start(from)).await.map_err(unreadable)?;
    Ok(Opened { file, bytes, left })
}

/// Sends what is left of a file. Fails where it cannot be read, and where nobody takes it for 30 s; a file that has
/// become shorter meanwhile ends early.
pub(super) async fn send(to: &mut (impl AsyncWrite + Unpin), opened: Opened) -> io::Result<()> {
    let (mut file, mut buffer) = (opened.file.take(opened.left), vec![0; PIECE]);
    loop {
        let length = file.read(&mut buffer).await?;
        let bytes = buffer.get(..length).unwrap_or_default();
        if bytes.is_empty() {
            return timeout(STUCK, to.flush()).await?;
        }
        timeout(STUCK, to.write_all(bytes)).await??;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    #[tokio::test(start_paused = true)]
    async fn each_mac_copies_two_files_at_a_time() {
        let (copies, key) = (Copies::default(), || Identity::generate().unwrap().key());
        let (one, other) = (key(), key());
        let first = copies.begin(one).await.unwrap();
        let _second = copies.begin(one).await.unwrap();
        assert!(matches!(copies.begin(one).await, Err(Refusal::Copies { most: 2 })));
        drop(copies.begin(other).await.unwrap());
        let (third, ()) = tokio::join!(copies.begin(one), async { drop(first) });
        drop(third.unwrap());
        drop(copies.begin(one).await.unwrap());
        assert_eq!(copies.by_borrower.lock().unwrap().len(), 1);
    }
}
