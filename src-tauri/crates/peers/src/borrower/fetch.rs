//! Files of models from a lending Mac: listed, and copied piece by piece.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc::{self, Sender};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Borrower;
use super::partial::Partial;
use super::stream::PeerStream;
use crate::ask::{Ask, Whole, ask};
use crate::book::Role;
use crate::error::PeerError;
use crate::files::{self, ModelFile};
use crate::line::LINE;
use crate::tls;

/// Bytes that are written at a time, and how many such pieces the disk may be behind.
const PIECE: usize = 1024 * 1024;
const BEHIND: usize = 4;

/// How long the other Mac may take to find its files.
const OPEN: Duration = Duration::from_secs(15);

/// How long nothing may arrive.
const STUCK: Duration = Duration::from_secs(30);

impl Borrower {
    /// The files of a model of the inventory. Fails where one of them has a name that is none.
    pub async fn files(&self, model: &str) -> Result<Vec<ModelFile>, PeerError> {
        let mut stream = self.connect().await?;
        let listing = Ask::Files { model: model.to_owned() };
        files::checked(ask(&mut stream, &listing, OPEN).await?)
    }

    /// Copies a file that is in the list of a model to `to`, in place of what is there. Until it is whole, it is beside
    /// that, with `.part` appended to its name, and what an earlier call left there is not fetched again. `progress` is
    /// told how many bytes of the file have arrived, those of before included.
    ///
    /// Fails, and keeps what has arrived, where the connection ends or the disk is full. Fails, and keeps nothing,
    /// where the content has another hash than the list says; of a file without one the size alone is checked. Where
    /// this is dropped, what has arrived is kept, too.
    pub async fn fetch(
        &self,
        model: &str,
        file: &ModelFile,
        to: &Path,
        mut progress: impl FnMut(u64),
    ) -> Result<(), PeerError> {
        let (wanted, place) = (file.clone(), to.to_owned());
        let partial = on_disk(move || Partial::open(wanted, place)).await?;
        let from = partial.bytes();
        let mut stream = self.connect().await?;
        let wants = Ask::File { model: model.to_owned(), name: file.name.clone(), from };
        let Whole { bytes } = ask(&mut stream, &wants, OPEN).await?;
        if bytes != file.bytes {
            return Err(PeerError::FileChanged { name: file.name.clone(), listed: file.bytes, bytes });
        }
        let (pieces, arriving) = mpsc::channel(BEHIND);
        let appended = on_disk(move || partial.append(arriving));
        let received = async {
            let received = self.receive(&mut stream, file, from, &pieces, &mut progress).await;
            drop(pieces);
            received
        };
        // The disk's failure comes first: it ends what is received.
        let (appended, received) = tokio::join!(appended, received);
        let partial = appended?;
        received?;
        on_disk(move || partial.finish()).await
    }

    /// Passes on what arrives of a file, until it is whole or nobody takes it.
    async fn receive(
        &self,
        stream: &mut PeerStream,
        file: &ModelFile,
        from: u64,
        pieces: &Sender<Vec<u8>>,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), PeerError> {
        let mut arrived = from;
        progress(arrived);
        while arrived < file.bytes {
            let mut piece = Vec::with_capacity(PIECE);
            let filled = fill(stream, &mut piece, file.bytes - arrived).await;
            arrived += piece.len() as u64;
            progress(arrived);
            if pieces.send(piece).await.is_err() {
                return Ok(());
            }
            filled.map_err(|error| self.ended(error, file, arrived))?;
        }
        // Its end says that the other Mac is ready for the next.
        let _ = timeout(LINE, stream.read_u8()).await;
        Ok(())
    }

    /// Why a file is not whole.
    fn ended(&self, error: io::Error, file: &ModelFile, arrived: u64) -> PeerError {
        match error.kind() {
            _ if !self.peers.has(&self.key, Role::Lender) => PeerError::NotPaired,
            io::ErrorKind::TimedOut => PeerError::Silent { within: STUCK },
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                PeerError::CutShort { name: file.name.clone(), arrived, bytes: file.bytes }
            }
            _ => tls::broken(error),
        }
    }
}

/// Reads a piece of the bytes that are left. Where that fails, `piece` has those that came before.
async fn fill(stream: &mut (impl AsyncRead + Unpin), piece: &mut Vec<u8>, left: u64) -> io::Result<()> {
    let mut stream = stream.take(left.min(PIECE as u64));
    while stream.limit() > 0 {
        if timeout(STUCK, stream.read_buf(piece)).await?? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// Does what waits for the disk where nobody else waits for it.
async fn on_disk<T: Send + 'static>(
    what: impl FnOnce() -> Result<T, PeerError> + Send + 'static,
) -> Result<T, PeerError> {
    let local = |error: tokio::task::JoinError| PeerError::Local { source: error.into() };
    spawn_blocking(what).await.map_err(local)?
}
