//! Gives a lending Mac the layers of a model that it is to compute.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt, split};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Borrower;
use crate::arriving::{BEHIND, STUCK};
use crate::ask::{Ask, Has, Pipe, answer_to, ask};
use crate::book::Role;
use crate::error::PeerError;
use crate::gift::{Gift, GiftFile};
use crate::tls;

/// How long the other Mac may take until it knows what it has, and until a file is on its disk.
const LOOK: Duration = Duration::from_secs(60);
const STORE: Duration = Duration::from_secs(120);

impl Borrower {
    /// Gives the other Mac what it has not got of a gift. It keeps what has arrived when this fails or is dropped, and
    /// a later call goes on from there. `progress` is told how many bytes of all files are there, of so many; it is not
    /// called where the other Mac has the model itself.
    pub async fn give(&self, gift: &Gift, mut progress: impl FnMut(u64, u64)) -> Result<(), PeerError> {
        let mut stream = self.connect().await?;
        let give = Ask::Give { model: gift.model.clone(), files: gift.announced() };
        let there = match ask(&mut stream, &give, LOOK).await? {
            Has::Model => return Ok(()),
            Has::Files(there) if there.len() == gift.files.len() => there,
            Has::Files(_) => {
                let detail = "it tells of other files than it was offered".to_owned();
                return Err(PeerError::NotUnderstood { detail });
            }
        };
        let all = gift.files.iter().map(GiftFile::bytes).sum();
        let arrived = |(file, there): (&GiftFile, &Option<u64>)| there.unwrap_or(file.bytes());
        let mut done: u64 = gift.files.iter().zip(&there).map(arrived).sum();
        progress(done, all);
        let (mut from_there, mut to_there) = split(stream);
        for (file, from) in gift.files.iter().zip(there) {
            let Some(from) = from else { continue };
            // Whoever cannot take more says so while it is being sent.
            let answered = answer_to::<Pipe>(&mut from_there, Duration::MAX);
            tokio::pin!(answered);
            let sent = send(&mut to_there, file, from, |bytes| {
                done += bytes;
                progress(done, all);
            });
            let sent = tokio::select! {
                biased;
                answer = &mut answered => {
                    answer.map_err(|error| self.cut(error, file))?;
                    let detail = "it has a file before it was sent".to_owned();
                    return Err(PeerError::NotUnderstood { detail });
                }
                sent = sent => sent,
            };
            if let Err(error @ PeerError::Unreadable { .. }) = sent {
                return Err(error);
            }
            let stored = timeout(if sent.is_ok() { STORE } else { STUCK / 6 }, answered).await;
            match (sent, stored) {
                (_, Ok(Err(error @ PeerError::Refused(_)))) => return Err(error),
                (Err(error), _) => return Err(self.cut(error, file)),
                (Ok(()), Ok(stored)) => _ = stored.map_err(|error| self.cut(error, file))?,
                (Ok(()), Err(_)) => return Err(PeerError::Silent { within: STORE }),
            }
        }
        Ok(())
    }

    /// Why a file has not arrived.
    fn cut(&self, error: PeerError, file: &GiftFile) -> PeerError {
        match error {
            _ if !self.peers.has(&self.key, Role::Lender) => PeerError::NotPaired,
            PeerError::Broken { .. } => PeerError::GivingCut { name: file.name.clone() },
            error => error,
        }
    }
}

/// Sends a file from a byte on, and the hash of all of it. `progress` is told of each piece.
async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    file: &GiftFile,
    from: u64,
    mut progress: impl FnMut(u64),
) -> Result<(), PeerError> {
    let (sender, mut pieces) = mpsc::channel::<Vec<u8>>(BEHIND);
    let read = file.clone();
    let reading = spawn_blocking(move || read.read(from, &sender));
    let silent = |_| PeerError::Silent { within: STUCK };
    while let Some(piece) = pieces.recv().await {
        timeout(STUCK, to.write_all(&piece)).await.map_err(silent)?.map_err(tls::broken)?;
        progress(piece.len() as u64);
    }
    let sum = reading.await.map_err(|error| PeerError::Local { source: error.into() })??;
    let ended = async {
        to.write_all(&sum).await?;
        to.flush().await
    };
    timeout(STUCK, ended).await.map_err(silent)?.map_err(tls::broken)
}
