//! An attempt to pair, between the digits and what the people say to them.

use std::fmt;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

use super::desk::{OPEN, Slot};
use super::error::PairingError;
use super::exchange::Agreed;
use crate::book::{Peers, Role};
use crate::error::PeerError;
use crate::identity::PublicKey;
use crate::line::{self, LONGEST_ASK};
use crate::sockets;

/// What an attempt goes over.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Two Macs that show the same six digits, if nobody is between them. Dropping it ends the attempt.
pub struct Attempt {
    stream: Box<dyn Duplex>,
    agreed: Agreed,
    key: PublicKey,
    /// What the other Mac is going to be.
    role: Role,
    peers: Peers,
    lasts: Lasts,
}

/// Until when an attempt can be confirmed.
#[derive(Debug)]
pub(crate) enum Lasts {
    /// While this Mac is open for pairing.
    Open(Slot),
    /// Until two minutes after it began here.
    Until(Instant),
}

/// A Mac that is in the book now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paired {
    /// Its key.
    pub key: PublicKey,
    /// What it calls itself.
    pub name: String,
}

/// What a person said.
#[derive(Debug, Serialize, Deserialize)]
struct Said {
    confirmed: bool,
}

impl Attempt {
    pub(crate) fn new(
        stream: impl Duplex + 'static,
        agreed: Agreed,
        (key, role): (PublicKey, Role),
        peers: Peers,
        lasts: Lasts,
    ) -> Self {
        Self { stream: Box::new(stream), agreed, key, role, peers, lasts }
    }

    /// The six digits that the person compares with those of the other Mac.
    pub fn digits(&self) -> &str {
        &self.agreed.digits
    }

    /// What the other Mac calls itself: one line of at most 64 characters, and nothing that it could not lie about.
    pub fn name(&self) -> &str {
        &self.agreed.name
    }

    /// Tells the other Mac whether the person here confirms that the digits are the same, and waits for what the person
    /// there says. Both are in each other's books if both confirm; else nothing changes, and this fails.
    pub async fn confirm(mut self, confirmed: bool) -> Result<Paired, PairingError> {
        self.lasts.left()?;
        line::write(&mut self.stream, &Said { confirmed }).await?;
        if !confirmed {
            sockets::leave(self.stream).await;
            return Err(PairingError::Declined);
        }
        let left = self.lasts.left()?;
        let said = line::read(&mut self.stream, LONGEST_ASK, left).await;
        let said: Said = said.map_err(|error| match error {
            PeerError::Silent { .. } => expired(),
            error => error.into(),
        })?;
        if !said.confirmed {
            sockets::leave(self.stream).await;
            return Err(PairingError::DeclinedThere);
        }
        self.lasts.left()?;
        // Whoever gives up waiting does so before this or learns of it: nothing is waited for behind it.
        self.peers.pin(self.key, &self.agreed.name, self.role);
        tokio::spawn(sockets::leave(self.stream));
        Ok(Paired { key: self.key, name: self.agreed.name })
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt").field("key", &self.key).field("role", &self.role).finish_non_exhaustive()
    }
}

impl Lasts {
    pub(crate) fn two_minutes() -> Self {
        Self::Until(Instant::now() + OPEN)
    }

    fn left(&self) -> Result<Duration, PairingError> {
        let left = match self {
            Self::Open(slot) => slot.left(),
            Self::Until(until) => until.checked_duration_since(Instant::now()),
        };
        left.ok_or_else(expired)
    }
}

fn expired() -> PairingError {
    PairingError::Expired { within: OPEN }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;
    use crate::book::Book;
    use crate::identity::Identity;

    /// Whoever ends an attempt in the last moment would have a Mac in the book that nobody has heard of.
    #[tokio::test]
    async fn a_mac_that_is_paired_is_told_of_at_once() {
        let (peers, key) = (Peers::new(Book::default()), Identity::generate().unwrap().key());
        let (stream, mut other) = tokio::io::duplex(1024);
        let agreed = Agreed { digits: "123456".into(), name: "Studio".into() };
        let lasts = Lasts::two_minutes();
        let attempt = Attempt::new(stream, agreed, (key, Role::Lender), peers.clone(), lasts);
        // It has confirmed, and does not go.
        line::write(&mut other, &Said { confirmed: true }).await.unwrap();
        let mut confirming = pin!(attempt.confirm(true));
        let told = poll_fn(|context| Poll::Ready(confirming.as_mut().poll(context))).await;
        assert!(matches!(told, Poll::Ready(Ok(_))) && peers.has(&key, Role::Lender), "{told:?}");
    }
}
