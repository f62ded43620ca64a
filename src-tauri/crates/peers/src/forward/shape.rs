//! A way that is made slow, so that one machine shows what a network does.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::BUFFER;

/// Pieces that are under way, at most: 64 MiB.
const PIECES: usize = 1024;

/// How slow a way is, in each direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// How much later everything arrives. It does not limit how much is under way.
    pub delay: Duration,
    /// The most that leaves in a second; `None`: no limit.
    pub bytes_per_second: Option<u64>,
}

impl Shape {
    /// Carries bytes one way until they end, and passes on the end.
    pub(super) async fn carry(
        self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let (sender, mut pieces) = mpsc::channel::<(Instant, Vec<u8>)>(PIECES);
        let read = async move {
            let mut buffer = vec![0; BUFFER];
            // When all that was read until now has left.
            let mut free = Instant::now();
            loop {
                let length = from.read(&mut buffer).await?;
                free = free.max(Instant::now()) + self.takes(length);
                let piece = buffer.get(..length).unwrap_or_default().to_vec();
                // Nobody takes it: writing has failed, and that ends both.
                if sender.send((free + self.delay, piece)).await.is_err() || length == 0 {
                    return Ok(());
                }
            }
        };
        let write = async move {
            while let Some((due, piece)) = pieces.recv().await {
                sleep_until(due).await;
                if piece.is_empty() {
                    return to.shutdown().await;
                }
                to.write_all(&piece).await?;
                to.flush().await?;
            }
            Ok(())
        };
        tokio::try_join!(read, write).map(|_: ((), ())| ())
    }

    fn takes(&self, bytes: usize) -> Duration {
        let Some(rate) = self.bytes_per_second else { return Duration::ZERO };
        let nanoseconds = bytes as u128 * 1_000_000_000 / u128::from(rate.max(1));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX / 4))
    }
}
