//! A ring over this Mac, which is rank 0, and lending Macs. Each link goes through this Mac.

use std::io;

use tokio::task::JoinSet;

use super::Borrower;
use super::stream::PeerStream;
use crate::ask::RingId;
use crate::error::PeerError;
use crate::forward::{Shape, join};
use crate::gift::ModelId;
use crate::lender::SIZES;
use crate::loopback::{RingPlace, Seat, way_in, way_out};

/// A ring whose connections are made. All of it ends when it is dropped: the workers are killed, and rank 0 sees its
/// neighbours gone.
#[derive(Debug)]
pub struct Ring {
    /// Where rank 0 stands.
    pub place: RingPlace,
    /// The inputs and outputs of the workers, those of rank 1 first. A worker ends with its stream.
    pub controls: Vec<PeerStream>,
    links: JoinSet<io::Result<()>>,
}

impl Ring {
    /// Starts a worker on each lending Mac, as ranks 1, 2 and so on, and connects each with the next, the last with
    /// rank 0, which a process of this Mac is to become. Fails if one of them refuses; the others' workers end then.
    /// `model`: which one, which each of them has or was given its part of; `shape`: how slow each link is to be;
    /// `None`: not at all.
    pub async fn form(
        lenders: &[Borrower],
        model: &ModelId,
        shape: Option<Shape>,
    ) -> Result<Self, PeerError> {
        let size = u32::try_from(lenders.len().saturating_add(1)).unwrap_or(u32::MAX);
        if !SIZES.contains(&size) {
            return Err(PeerError::Ranks { ranks: lenders.len() + 1 });
        }
        let (ring, seat) = (RingId::random()?, Seat::new(0, size).await?);
        let place = seat.place;
        let mut controls = Vec::new();
        for (rank, lender) in (1..).zip(lenders) {
            let lent = lender.lend(ring, rank, size, model).await;
            controls.push(lent.map_err(|error| error.of(lender.name()))?.control);
        }
        let mut links = JoinSet::new();
        // What the rank before the next one has for it; rank 0 has something when its process connects.
        let mut before: Option<PeerStream> = None;
        let mut next = Some(seat.next);
        for lender in lenders {
            let to = lender.ring_in(ring).await.map_err(|error| error.of(lender.name()))?;
            match (before.take(), next.take()) {
                (Some(from), _) => {
                    links.spawn(join(from, to, shape));
                }
                (None, Some(next)) => {
                    links.spawn(async move { join(way_out(next).await?, to, shape).await });
                }
                (None, None) => {}
            }
            before = Some(lender.ring_out(ring).await.map_err(|error| error.of(lender.name()))?);
        }
        if let Some(from) = before {
            links.spawn(async move { join(from, way_in(place.listen).await?, shape).await });
        }
        Ok(Self { place, controls, links })
    }

    /// Waits until one of the ring's connections ends: the ring is of no use any more. Fails as that one did.
    pub async fn ended(&mut self) -> io::Result<()> {
        match self.links.join_next().await {
            Some(Ok(ended)) => ended,
            Some(Err(error)) => Err(error.into()),
            None => Ok(()),
        }
    }
}
