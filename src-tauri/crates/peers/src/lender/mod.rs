//! A Mac that lends itself: it listens at one port, and does what paired Macs may ask for.

mod answer;
mod door;
mod files;
mod folder;
mod gifts;
mod host;
mod queue;
mod refusal;
mod rings;
mod store;
mod work;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use self::door::Door;
use self::files::Copies;
use self::queue::Queue;
use self::rings::Rings;
use crate::book::{Peers, Role};
use crate::error::PeerError;
use crate::identity::Identity;
use crate::pairing::Pairing;
use crate::tls;

pub use folder::{files_of, open_of};
pub use host::{Host, Inventory, InventoryModel, Keep, Loan, Offer, Process, Worker};
pub(crate) use refusal::SIZES;
pub use store::{Held, LayerStore, StoreError, StoredModel};

/// After a connection could not be taken, as when too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// What a lending Mac is, has and allows.
#[derive(Clone)]
pub struct Lending {
    /// Its keys.
    pub identity: Identity,
    /// What it calls itself when it pairs.
    pub name: String,
    /// Who may use it.
    pub peers: Peers,
    /// Whether it may be asked to pair.
    pub pairing: Pairing,
    /// Its library and its workers.
    pub host: Arc<dyn Host>,
}

/// A lending Mac's listener. Nothing listens before it is started, and nothing after it is dropped: all its connections
/// end, and the workers with them.
#[derive(Debug)]
pub struct Lender {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Lender {
    /// Listens at an address, in the runtime of tokio that this is called in. Fails if somebody else does.
    pub async fn start(address: SocketAddr, lending: Lending) -> Result<Self, PeerError> {
        let (peers, pairing) = (lending.peers.clone(), lending.pairing.clone());
        let admits = Arc::new(move |key: &_| peers.has(key, Role::Borrower) || pairing.is_open());
        let door = Door {
            acceptor: tls::acceptor(&lending.identity, admits)?,
            key: lending.identity.key(),
            name: lending.name,
            peers: lending.peers,
            pairing: lending.pairing,
            host: lending.host,
            rings: Rings::default(),
            copies: Copies::default(),
        };
        let listens = async {
            let listener = TcpListener::bind(address).await?;
            Ok((listener.local_addr()?, listener))
        };
        let (address, listener) = listens.await.map_err(|source| PeerError::Listen { address, source })?;
        Ok(Self { address, task: tokio::spawn(listen(listener, Arc::new(door))) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it, and returns when it does not listen any more.
    pub async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for Lending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lending").field("identity", &self.identity).finish_non_exhaustive()
    }
}

async fn listen(listener: TcpListener, door: Arc<Door>) {
    let queue = Queue::default();
    // They end when this task does.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, from)) => {
                // One of a machine that has too many already is closed.
                if let Some(place) = queue.enter(from.ip()) {
                    let door = Arc::clone(&door);
                    connections.spawn(async move { door.serve(stream, from.ip(), place).await });
                }
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}
