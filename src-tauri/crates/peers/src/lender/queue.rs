//! Whose turn it is to say who it is: connections of which that is not known yet cost much, and come from anybody.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections of which it is not yet known who they are or what they want, at most. More of them wait.
const MOST_HANDSHAKES: usize = 8;
/// How many of these may be of one address.
const MOST_OF_ONE: usize = 2;
/// Connections of one address that wait or are looked at, at most. More of them are closed.
const MOST_WAITING: usize = 32;

/// By address: the handshakes that it may make at a time, and its connections.
type Addresses = BTreeMap<IpAddr, (Arc<Semaphore>, usize)>;

/// Connections that nobody knows yet. Copies are the same.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    handshakes: Arc<Semaphore>,
    /// By address: its handshakes, and how many of its connections there are.
    addresses: Arc<Mutex<Addresses>>,
}

/// A connection's place among those that nobody knows yet. Dropping it lets the next in.
#[derive(Debug)]
pub(super) struct Place {
    queue: Queue,
    address: IpAddr,
    own: Arc<Semaphore>,
}

/// That it is a connection's turn.
#[derive(Debug)]
pub(super) struct Turn {
    _permits: Option<[OwnedSemaphorePermit; 2]>,
    _place: Place,
}

impl Queue {
    /// A place for a connection from an address; `None` if too many of that address are there.
    pub(super) fn enter(&self, address: IpAddr) -> Option<Place> {
        let mut addresses = self.lock();
        let new = || (Arc::new(Semaphore::new(MOST_OF_ONE)), 0);
        let (own, places) = addresses.entry(address).or_insert_with(new);
        if *places >= MOST_WAITING {
            return None;
        }
        *places += 1;
        Some(Place { queue: self.clone(), address, own: Arc::clone(own) })
    }

    fn lock(&self) -> MutexGuard<'_, Addresses> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self { handshakes: Arc::new(Semaphore::new(MOST_HANDSHAKES)), addresses: Arc::default() }
    }
}

impl Place {
    /// Waits for its turn: behind others of the same address, then behind all.
    pub(super) async fn turn(self) -> Turn {
        let permits = async {
            let own = Arc::clone(&self.own).acquire_owned().await.ok()?;
            Some([own, Arc::clone(&self.queue.handshakes).acquire_owned().await.ok()?])
        };
        // They are never closed.
        Turn { _permits: permits.await, _place: self }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut addresses = self.queue.lock();
        if let Some((_, places)) = addresses.get_mut(&self.address) {
            *places -= 1;
            if *places == 0 {
                addresses.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::Ipv4Addr;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    /// The turn of a new connection, if it need not wait.
    async fn turn(queue: &Queue, last: u8) -> Option<Turn> {
        let mut turn = pin!(queue.enter(Ipv4Addr::new(10, 0, 0, last).into()).unwrap().turn());
        match poll_fn(|context| Poll::Ready(turn.as_mut().poll(context))).await {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn one_machine_takes_no_turn_from_another() {
        let queue = Queue::default();
        let mut turns = Vec::new();
        for last in 1..=4 {
            turns.extend([turn(&queue, last).await.unwrap(), turn(&queue, last).await.unwrap()]);
            assert!(turn(&queue, last).await.is_none());
        }
        assert!(turn(&queue, 5).await.is_none(), "eight at a time");
        turns.truncate(7);
        assert!(turn(&queue, 5).await.is_some());
        drop(turns);
        assert!(queue.lock().is_empty(), "nobody is remembered");
        let address = Ipv4Addr::LOCALHOST.into();
        let places: Vec<_> = (0..=MOST_WAITING).map(|_| queue.enter(address)).collect();
        assert_eq!(places.iter().flatten().count(), MOST_WAITING);
    }
}
