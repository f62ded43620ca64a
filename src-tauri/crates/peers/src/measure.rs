//! How fast the link to another Mac is.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::error::PeerError;
use crate::tls;

/// Pings of one measurement, and the bytes of each.
pub(crate) const PINGS: u32 = 100;
const PING: usize = 1024;

/// Bytes that are sent each way unless the caller says otherwise.
pub const MEASURED_BYTES: u64 = 256 * 1024 * 1024;

/// The most that a Mac sends and receives for another's measurement.
pub(crate) const MOST_PINGS: u32 = 10_000;
pub(crate) const MOST_BYTES: u64 = 4 * MEASURED_BYTES;

/// The bytes are sent in so many parts, and the median of their speeds counts.
const ROUNDS: u64 = 8;
const PIECE: usize = 64 * 1024;

/// How long a measurement may take.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// How long 1 KiB takes there and back: the median of 100.
    pub round_trip: Duration,
    /// Bytes a second to the other Mac: the median of eight parts.
    pub sent_per_second: f64,
    /// Bytes a second from the other Mac: the median of eight parts.
    pub received_per_second: f64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.round_trip.as_secs_f64() * 1e3;
        let [sent, received] = [self.sent_per_second, self.received_per_second].map(|bytes| bytes / 1e9);
        write!(f, "There and back in {milliseconds:.2} ms, {sent:.2} GB/s there, {received:.2} GB/s back")
    }
}

/// The side of the Mac that was asked.
pub(crate) async fn serve(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    pings: u32,
    bytes: u64,
) -> Result<(), PeerError> {
    limited(async {
        let mut ping = [0; PING];
        for _ in 0..pings {
            stream.read_exact(&mut ping).await?;
            stream.write_all(&ping).await?;
            stream.flush().await?;
        }
        for part in parts(bytes) {
            receive(stream, part).await?;
            mark(stream).await?;
        }
        for part in parts(bytes) {
            stream.read_u8().await?;
            send(stream, part).await?;
        }
        Ok(())
    })
    .await
}

/// The side of the Mac that asks.
pub(crate) async fn run(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    pings: u32,
    bytes: u64,
) -> Result<Measured, PeerError> {
    limited(async {
        let mut ping = [0; PING];
        let (mut trips, mut sent, mut received) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..pings {
            let start = Instant::now();
            stream.write_all(&ping).await?;
            stream.flush().await?;
            stream.read_exact(&mut ping).await?;
            trips.push(start.elapsed().as_secs_f64());
        }
        for part in parts(bytes) {
            let start = Instant::now();
            send(stream, part).await?;
            stream.read_u8().await?;
            sent.push(per_second(part, start.elapsed()));
        }
        for part in parts(bytes) {
            let start = Instant::now();
            mark(stream).await?;
            receive(stream, part).await?;
            received.push(per_second(part, start.elapsed()));
        }
        Ok(Measured {
            round_trip: Duration::from_secs_f64(median(trips)),
            sent_per_second: median(sent),
            received_per_second: median(received),
        })
    })
    .await
}

async fn limited<T>(measuring: impl Future<Output = io::Result<T>>) -> Result<T, PeerError> {
    let measured = timeout(LONGEST, measuring).await.map_err(|_| PeerError::Silent { within: LONGEST })?;
    measured.map_err(tls::broken)
}

fn parts(bytes: u64) -> impl Iterator<Item = u64> {
    (0..ROUNDS).map(move |round| bytes / ROUNDS + u64::from(round < bytes % ROUNDS))
}

async fn send(stream: &mut (impl AsyncWrite + Unpin), bytes: u64) -> io::Result<()> {
    let mut zeros = tokio::io::repeat(0).take(bytes);
    let mut buffered = tokio::io::BufReader::with_capacity(PIECE, &mut zeros);
    tokio::io::copy_buf(&mut buffered, stream).await?;
    stream.flush().await
}

async fn receive(stream: &mut (impl AsyncRead + Unpin), bytes: u64) -> io::Result<()> {
    let mut buffered = tokio::io::BufReader::with_capacity(PIECE, stream.take(bytes));
    let received = tokio::io::copy_buf(&mut buffered, &mut tokio::io::sink()).await?;
    if received == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// One byte: it is the other side's turn.
async fn mark(stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    stream.write_u8(0).await?;
    stream.flush().await
}

fn per_second(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64().max(1e-9)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_sides_agree_on_how_much_is_sent() {
        for bytes in [0, 1, 9, 1_000_003] {
            let (mut a, mut b) = tokio::io::duplex(4096);
            let served = tokio::spawn(async move { serve(&mut b, 3, bytes).await });
            let measured = run(&mut a, 3, bytes).await.unwrap();
            served.await.unwrap().unwrap();
            assert!(measured.round_trip > Duration::ZERO && measured.sent_per_second >= 0.0);
            assert_eq!(measured.received_per_second > 0.0, bytes > 4);
        }
        assert_eq!((median(vec![3.0, 1.0, 2.0]), median(Vec::new())), (2.0, 0.0));
    }
}
