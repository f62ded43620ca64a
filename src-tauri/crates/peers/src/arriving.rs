//! Bytes of a file on their way from the network to the disk.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::error::PeerError;
use crate::partial::Partial;

/// Bytes that are written at a time, and how many such pieces the disk may be behind.
const PIECE: usize = 1024 * 1024;
pub(crate) const BEHIND: usize = 4;

/// How long nothing may arrive.
pub(crate) const STUCK: Duration = Duration::from_secs(30);

/// Writes what arrives of a file that has `bytes` in all, until it is whole: what there is then, how many bytes, and
/// why they are not all. `progress` is told how many there are. Fails where they cannot be written.
pub(crate) async fn receive(
    stream: &mut (impl AsyncRead + Unpin),
    partial: Partial,
    bytes: u64,
    mut progress: impl FnMut(u64),
) -> Result<(Partial, u64, io::Result<()>), PeerError> {
    let mut arrived = partial.bytes();
    let (pieces, arriving) = mpsc::channel(BEHIND);
    let appended = on_disk(move || partial.append(arriving));
    let received = async {
        // The receiver goes with this.
        let pieces = pieces;
        progress(arrived);
        while arrived < bytes {
            let mut piece = Vec::with_capacity(PIECE);
            let filled = fill(stream, &mut piece, bytes - arrived).await;
            arrived += piece.len() as u64;
            progress(arrived);
            if pieces.send(piece).await.is_err() {
                return Ok(());
            }
            filled?;
        }
        Ok(())
    };
    // The disk's failure comes first: it ends what is received.
    let (appended, received) = tokio::join!(appended, received);
    Ok((appended?, arrived, received))
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
pub(crate) async fn on_disk<T: Send + 'static, E: Send + 'static + From<PeerError>>(
    what: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let local = |error: tokio::task::JoinError| E::from(PeerError::Local { source: error.into() });
    spawn_blocking(what).await.map_err(local)?
}
