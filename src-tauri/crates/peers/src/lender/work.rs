//! A worker whose input and output are a connection.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, copy_buf};
use tokio::time::timeout;

use super::host::Worker;
use super::rings::Standing;
use crate::sockets;

/// Bytes that are under way in each direction, at most.
const BUFFER: usize = 64 * 1024;

/// How long a worker may leave its input unread once there is no room for more.
const STUCK: Duration = Duration::from_secs(30);

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
            let bytes = buffer.get(..length).unwrap_or_default();
            let written = async {
                worker.input.write_all(bytes).await?;
                worker.input.flush().await
            };
            // A worker that has closed its input may have something to say yet. One that lets it lie does not work.
            if timeout(STUCK, written).await.is_err() {
                return;
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
