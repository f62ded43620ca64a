//! A Mac that uses others: it opens every connection itself, and listens to nobody but itself.

mod connect;
mod expose;
mod fetch;
mod give;
mod ring;
mod stream;

use std::net::ToSocketAddrs;
use std::time::Duration;

use crate::ask::{Ask, Pipe, RingId, ask};
use crate::book::{Peers, Role};
use crate::error::PeerError;
use crate::gift::ModelId;
use crate::identity::{Identity, PublicKey};
use crate::lender::Inventory;
use crate::line::LINE;
use crate::measure::{self, Measured, PINGS};
use crate::pairing::{Attempt, Keys, Lasts, PairingError, propose};

pub use expose::{Exposed, expose};
pub use ring::Ring;
pub use stream::PeerStream;

/// How long a worker may take to start.
const START: Duration = Duration::from_secs(30);

/// What is needed to use a lending Mac. It holds no connection: each call makes one of its own.
#[derive(Debug, Clone)]
pub struct Borrower {
    address: String,
    identity: Identity,
    key: PublicKey,
    peers: Peers,
}

/// A worker on another Mac. It ends when this is dropped.
#[derive(Debug)]
pub struct Lent {
    /// Its input and its output.
    pub control: PeerStream,
}

impl Borrower {
    /// A lending Mac: its address as `host:port`, this Mac's keys, and that Mac's key.
    pub fn new(address: impl Into<String>, identity: Identity, key: PublicKey, peers: Peers) -> Self {
        Self { address: address.into(), identity, key, peers }
    }

    /// Asks a Mac that nobody knows yet to pair, whoever answers. `name`: what this Mac calls itself. Fails if nobody
    /// there has opened it for pairing.
    pub async fn pair(
        address: &str,
        identity: &Identity,
        name: &str,
        peers: &Peers,
    ) -> Result<Attempt, PairingError> {
        let mut connected = connect::reach(address, identity, None).await?;
        let keys = Keys { borrower: identity.key(), lender: connected.key };
        let agreed = propose(&mut connected.stream, &keys, name).await.map_err(|error| match error {
            // Strangers are not even listened to.
            PairingError::Peer(PeerError::Unknown) => PairingError::Closed,
            error => error,
        })?;
        let role = (connected.key, Role::Lender);
        Ok(Attempt::new(connected.stream, agreed, role, peers.clone(), Lasts::two_minutes()))
    }

    /// The first of a Mac's addresses, each as `host:port`, at which the key is the right one. They are tried one after
    /// the other, for 2 s each; who answers learns whose key this Mac has only if its own is `key`. Fails as the most
    /// telling of them did.
    pub async fn first_reachable(
        addresses: &[String],
        identity: &Identity,
        key: PublicKey,
    ) -> Result<String, PeerError> {
        connect::first_reachable(addresses, identity, key).await
    }

    /// Where the other Mac is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What the other Mac calls itself; its address, once it is not paired any more.
    pub fn name(&self) -> String {
        let paired = self.peers.book().peers.remove(&self.key);
        paired.map_or_else(|| self.address.clone(), |peer| peer.name)
    }

    /// Whether it is this very machine, whose processes share processors.
    pub fn is_here(&self) -> bool {
        self.address.to_socket_addrs().into_iter().flatten().any(|address| address.ip().is_loopback())
    }

    /// The other Mac's key.
    pub fn key(&self) -> PublicKey {
        self.key
    }

    /// What the other Mac has.
    pub async fn inventory(&self) -> Result<Inventory, PeerError> {
        let mut stream = self.connect().await?;
        ask(&mut stream, &Ask::Inventory, LINE).await.map(Inventory::cleaned)
    }

    /// Starts a worker there, as a rank of a ring, with a model of its library, or with what it was given of one.
    pub async fn lend(&self, ring: RingId, rank: u32, size: u32, model: &ModelId) -> Result<Lent, PeerError> {
        let lend = Ask::Lend { ring, rank, size, model: model.clone() };
        Ok(Lent { control: self.pipe(&lend, START).await? })
    }

    /// Measures the link to the other Mac. `bytes`: how many are sent each way, [`crate::MEASURED_BYTES`] as a rule.
    pub async fn measure(&self, bytes: u64) -> Result<Measured, PeerError> {
        let mut stream = self.pipe(&Ask::Measure { pings: PINGS, bytes }, LINE).await?;
        measure::run(&mut stream, PINGS, bytes).await
    }

    /// What leads to the worker there from the rank before it.
    async fn ring_in(&self, ring: RingId) -> Result<PeerStream, PeerError> {
        self.pipe(&Ask::RingIn { ring }, LINE).await
    }

    /// What leads from the worker there to the rank after it.
    async fn ring_out(&self, ring: RingId) -> Result<PeerStream, PeerError> {
        self.pipe(&Ask::RingOut { ring }, LINE).await
    }

    async fn pipe(&self, what: &Ask, within: Duration) -> Result<PeerStream, PeerError> {
        let mut stream = self.connect().await?;
        ask::<Pipe>(&mut stream, what, within).await?;
        Ok(stream)
    }

    async fn connect(&self) -> Result<PeerStream, PeerError> {
        let stay = || self.peers.stay(self.key, Role::Lender).ok_or(PeerError::NotPaired);
        let stays = [stay()?, stay()?];
        let connected = connect::reach(&self.address, &self.identity, Some(self.key)).await?;
        Ok(PeerStream::new(connected.stream, stays))
    }
}
