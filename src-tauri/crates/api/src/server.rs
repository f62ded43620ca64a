//! The sockets: listens on this machine alone or on all its addresses, and serves each connection within limits.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use crate::api::Api;
use crate::router::router;

/// Connections at a time; others wait.
const MOST_CONNECTIONS: usize = 64;
/// Of those, how many other devices may have: programs of this machine always find a place. More are closed.
const MOST_FROM_NETWORK: usize = 56;
/// Bytes of the head of a request.
const MOST_HEAD: usize = 16 * 1024;
/// How long the head of a request may take to come.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may take nothing of its answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(120);
/// How long a listener rests that cannot accept, as when no file can be opened.
const REST: Duration = Duration::from_millis(100);

/// From where a server can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// From this machine alone.
    ThisMachine,
    /// From every device that reaches this machine.
    Network,
}

/// What other devices of the network call this machine, where they resolve such names (mDNS); `None` if it has no name.
pub fn network_name() -> Option<String> {
    let names = rustix::system::uname();
    // Some networks give a machine a domain of theirs.
    let name = names.nodename().to_str().ok()?.split('.').next()?;
    (!name.is_empty()).then(|| format!("{name}.local"))
}

/// A server that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<TcpListener>,
    port: u16,
}

impl Server {
    /// Listens at a port; 0 takes one that is free.
    pub async fn bind(reach: Reach, port: u16) -> io::Result<Self> {
        // On macOS one program may listen on one address of a port and another one on all: asking tells.
        if port != 0 && TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let first = match reach {
            Reach::ThisMachine => TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?,
            // Takes connections to addresses of the fourth version too. Not every machine has those of the sixth.
            Reach::Network => {
                match TcpListener::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))).await {
                    Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
                        TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))).await?
                    }
                    listener => listener?,
                }
            }
        };
        let port = first.local_addr()?.port();
        let mut listeners = vec![first];
        if reach == Reach::ThisMachine {
            match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await {
                Ok(second) => listeners.push(second),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
                Err(error) => tracing::info!("not listening on ::1: {error}"),
            }
        }
        Ok(Self { listeners, port })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Answers until `closing` is done, and then for as long as `grace` to those who are being answered.
    pub async fn run(self, api: Arc<Api>, closing: impl Future<Output = ()>, grace: Duration) {
        let (close, closed) = watch::channel(false);
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let network_places = Arc::new(Semaphore::new(MOST_FROM_NETWORK));
        let mut accepting = JoinSet::new();
        for listener in self.listeners {
            let places = (Arc::clone(&places), Arc::clone(&network_places));
            accepting.spawn(accept(listener, Arc::clone(&api), places, closed.clone()));
        }
        closing.await;
        let _ = close.send(true);
        // Once nobody listens any more, another server can take the port.
        accepting.shutdown().await;
        let _ = timeout(grace, places.acquire_many(MOST_CONNECTIONS as u32)).await;
    }
}

/// Serves whoever connects, each for itself.
async fn accept(
    listener: TcpListener,
    api: Arc<Api>,
    (places, network_places): (Arc<Semaphore>, Arc<Semaphore>),
    closed: watch::Receiver<bool>,
) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("a connection was not accepted: {error}");
                sleep(REST).await;
                continue;
            }
        };
        let network_place = if peer.ip().to_canonical().is_loopback() {
            None
        } else if let Ok(place) = Arc::clone(&network_places).try_acquire_owned() {
            Some(place)
        } else {
            continue;
        };
        // A listener that waited for a connection with a place in its hands would keep that from the other one.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        tokio::spawn(serve(stream, Arc::clone(&api), (place, network_place), closed.clone()));
    }
}

/// Serves one connection until it ends, or has been answered once the server closes.
async fn serve(
    stream: TcpStream,
    api: Arc<Api>,
    _places: (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
    mut closed: watch::Receiver<bool>,
) {
    // Tokens are small and must not wait for one another.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_PATIENCE));
    let service = TowerToHyperService::new(router(api));
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_PATIENCE)
            .max_buf_size(MOST_HEAD)
            .serve_connection(TokioIo::new(Box::pin(stream)), service)
    );
    let is_closed = closed.wait_for(|closed| *closed);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = is_closed => connection.as_mut().graceful_shutdown(),
    }
    // Whoever leaves early, and whoever breaks the protocol, ends it.
    let _ = connection.await;
}
