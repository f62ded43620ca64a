//! The sockets of MLX's ring on this Mac: it sees 127.0.0.1 alone.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::ask::random;
use crate::error::PeerError;
use crate::sockets;

/// How long a worker has until it listens: all ranks have read what the model is by then.
const WORKER: Duration = Duration::from_secs(120);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Ports that neither macOS nor Linux gives to those who ask for any: a worker takes a while until it listens, and
/// nobody else is to get its port meanwhile.
const PORTS: Range<u16> = 20_000..32_768;
const TRIES: usize = 100;

/// Where a process of a ring stands in it. All of it is on 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingPlace {
    /// Its place in the order of layers.
    pub rank: u32,
    /// How many processes there are.
    pub size: u32,
    /// Where it is to listen for the process before it.
    pub listen: SocketAddr,
    /// Where it is to connect to for the process after it.
    pub next: SocketAddr,
}

/// A place whose `next` is listened to.
pub(crate) struct Seat {
    pub(crate) place: RingPlace,
    pub(crate) next: TcpListener,
}

impl Seat {
    /// Finds two ports.
    pub(crate) async fn new(rank: u32, size: u32) -> Result<Self, PeerError> {
        let found = async {
            let (next, own) = (listener().await?, listener().await?);
            let place = RingPlace { rank, size, listen: own.local_addr()?, next: next.local_addr()? };
            // Its port is free from here on, for the process to listen at.
            drop(own);
            Ok(Self { place, next })
        };
        found.await.map_err(|source| PeerError::Local { source })
    }
}

/// Listens at a port that nobody has.
async fn listener() -> io::Result<TcpListener> {
    let mut tries = 0;
    loop {
        let random = random::<2>().map_err(io::Error::other)?;
        let port = PORTS.start + u16::from_ne_bytes(random.0) % (PORTS.end - PORTS.start);
        tries += 1;
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries < TRIES => {}
            bound => return bound,
        }
    }
}

/// What the process of a place connects with to its `next`. Nobody can connect there any more afterwards.
pub(crate) async fn way_out(next: TcpListener) -> io::Result<TcpStream> {
    let (stream, _) = next.accept().await?;
    sockets::set_up(&stream);
    Ok(stream)
}

/// Connects to where the process of a place listens, or will within two minutes.
pub(crate) fn way_in(listen: SocketAddr) -> impl Future<Output = io::Result<TcpStream>> {
    let tries = async move {
        loop {
            match TcpStream::connect(listen).await {
                // A port that nobody listens at can be given to this very socket, which then talks to itself. It has to
                // leave no trace there: the process is about to listen.
                Ok(stream) if stream.local_addr().ok() == Some(listen) => {
                    let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
                }
                Ok(stream) => {
                    sockets::set_up(&stream);
                    return stream;
                }
                Err(_) => {}
            }
            sleep(BETWEEN_TRIES).await;
        }
    };
    async { Ok(timeout(WORKER, tries).await?) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_seat_has_a_free_port_and_one_that_takes_one_connection() {
        let Seat { place, next } = Seat::new(1, 2).await.unwrap();
        assert!(
            [place.listen, place.next].iter().all(|at| at.ip().is_loopback() && PORTS.contains(&at.port()))
        );
        let listener = TcpListener::bind(place.listen).await.unwrap();
        let (to, from, accepted) = tokio::join!(way_in(place.listen), listener.accept(), async {
            let (to, from) = tokio::join!(TcpStream::connect(place.next), way_out(next));
            to.is_ok() && from.is_ok()
        });
        assert!(to.is_ok() && from.is_ok() && accepted);
        assert!(TcpStream::connect(place.next).await.is_err());
    }
}
