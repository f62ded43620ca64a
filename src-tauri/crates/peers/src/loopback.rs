//! The sockets of MLX's ring on this Mac: it sees 127.0.0.1 alone.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::error::PeerError;
use crate::sockets;

/// How long a worker has until it listens.
const WORKER: Duration = Duration::from_secs(20);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

const ANY_PORT: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

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
            let next = TcpListener::bind(ANY_PORT).await?;
            // Free in a moment, for the process to listen at.
            let listen = TcpListener::bind(ANY_PORT).await?.local_addr()?;
            Ok(Self { place: RingPlace { rank, size, listen, next: next.local_addr()? }, next })
        };
        found.await.map_err(|source| PeerError::Local { source })
    }
}

/// What the process of a place connects with to its `next`. Nobody can connect there any more afterwards.
pub(crate) async fn way_out(next: TcpListener) -> io::Result<TcpStream> {
    let (stream, _) = next.accept().await?;
    sockets::set_up(&stream);
    Ok(stream)
}

/// Connects to where the process of a place listens, or will within 20 s.
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
