//! A worker whose input and output are a connection.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, copy_buf};

use super::host::Worker;
use super::rings::Standing;
use crate::sockets;

/// Bytes that are under way in each direction, at most.
const BUFFER: usize = 64 * 1024;

/// Carries what the borrower writes to the worker, and the worker to the borrower, until either ends. The worker is
/// killed then, and the connection and all else of the ring closed.
pub(super) async fn work<S>(stream: S, mut worker: Worker, standing: Standing)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut from, mut to) = tokio::io::split(stream);
    let input = async {
        let mut buffer = vec![0; BUFFER];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            // A worker that reads no more may have something to say yet.
            let bytes = buffer.get(..length).unwrap_or_default();
            if worker.input.write_all(bytes).await.is_ok() {
                let _ = worker.input.flush().await;
            }
        }
    };
    let output = async {
        let mut output = BufReader::with_capacity(BUFFER, &mut worker.output);
        let _ = copy_buf(&mut output, &mut to).await;
        let _ = to.flush().await;
    };
    tokio::select! {
        () = input => {}
        () = output => {}
    }
    drop((worker, standing));
    sockets::leave(from.unsplit(to)).await;
}
