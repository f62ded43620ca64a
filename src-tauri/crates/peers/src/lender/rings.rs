//! The rings that workers of this Mac stand in, and whose they are.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpListener;
use tokio::sync::watch;

use super::refusal::Refusal;
use crate::ask::RingId;
use crate::identity::PublicKey;
use crate::loopback::Seat;

/// All of them. Copies are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Rings {
    lent: Arc<Mutex<BTreeMap<RingId, Lent>>>,
}

#[derive(Debug)]
struct Lent {
    borrower: PublicKey,
    /// What is left to connect.
    way_in: Option<SocketAddr>,
    way_out: Option<TcpListener>,
    /// Dropped with the ring.
    alive: watch::Sender<()>,
}

/// That a ring stands. Dropping it ends all that belongs to the ring.
#[derive(Debug)]
pub(super) struct Standing {
    rings: Rings,
    ring: RingId,
}

/// Lasts as long as a ring does.
#[derive(Debug)]
pub(super) struct Alive(watch::Receiver<()>);

impl Rings {
    /// Sets up a ring for a borrower, if there are fewer than `most`.
    pub(super) fn stand(
        &self,
        ring: RingId,
        borrower: PublicKey,
        seat: Seat,
        most: usize,
    ) -> Result<Standing, Refusal> {
        let mut lent = self.lock();
        if lent.len() >= most {
            return Err(Refusal::Busy { most });
        }
        let Entry::Vacant(place) = lent.entry(ring) else { return Err(Refusal::Taken) };
        let (way_in, way_out) = (Some(seat.place.listen), Some(seat.next));
        place.insert(Lent { borrower, way_in, way_out, alive: watch::Sender::new(()) });
        Ok(Standing { rings: self.clone(), ring })
    }

    /// Where the ring's worker listens. Once.
    pub(super) fn way_in(&self, ring: RingId, borrower: PublicKey) -> Result<(SocketAddr, Alive), Refusal> {
        self.take(ring, borrower, |lent| lent.way_in.take())
    }

    /// Where the ring's worker connects to. Once.
    pub(super) fn way_out(&self, ring: RingId, borrower: PublicKey) -> Result<(TcpListener, Alive), Refusal> {
        self.take(ring, borrower, |lent| lent.way_out.take())
    }

    /// Another's ring is as unknown as one that there is not.
    fn take<T>(
        &self,
        ring: RingId,
        borrower: PublicKey,
        what: impl FnOnce(&mut Lent) -> Option<T>,
    ) -> Result<(T, Alive), Refusal> {
        let mut all = self.lock();
        let lent = all.get_mut(&ring).filter(|lent| lent.borrower == borrower).ok_or(Refusal::NoRing)?;
        let taken = what(lent).ok_or(Refusal::Taken)?;
        Ok((taken, Alive(lent.alive.subscribe())))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RingId, Lent>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.rings.lock().remove(&self.ring);
    }
}

impl Alive {
    /// Waits for the end of the ring.
    pub(super) async fn ended(mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    #[tokio::test]
    async fn a_ring_is_its_borrowers_and_each_end_is_given_once() {
        let key = || Identity::generate().unwrap().key();
        let (owner, other) = (key(), key());
        let (rings, ring) = (Rings::default(), RingId::random().unwrap());
        let seat = async || Seat::new(1, 2).await.unwrap();
        let standing = rings.stand(ring, owner, seat().await, 1).unwrap();
        let second = rings.stand(RingId::random().unwrap(), other, seat().await, 1);
        assert!(matches!(second, Err(Refusal::Busy { most: 1 })));
        assert!(matches!(rings.way_in(ring, other), Err(Refusal::NoRing)));
        let (_, alive) = rings.way_in(ring, owner).unwrap();
        assert!(matches!(rings.way_in(ring, owner), Err(Refusal::Taken)));
        rings.way_out(ring, owner).unwrap();
        drop(standing);
        alive.ended().await;
        assert!(matches!(rings.way_out(ring, owner), Err(Refusal::NoRing)));
    }
}
