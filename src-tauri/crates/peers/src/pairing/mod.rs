//! How two Macs get to know each other: both show six digits that depend on both keys, and both people say whether they
//! are the same. Whoever is between the two has keys of its own, so the digits differ.

mod attempt;
mod desk;
mod digits;
mod error;
mod exchange;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use tokio::time::timeout;

use self::desk::Desk;
pub(crate) use attempt::Lasts;
pub use attempt::{Attempt, Paired};
pub(crate) use desk::Slot;
pub use desk::{Clock, MOST_ATTEMPTS, OFTEN, OPEN, SystemClock};
pub(crate) use digits::Keys;
pub use error::PairingError;
pub(crate) use exchange::{answer, propose};

/// Whether this Mac may be asked to pair: no, unless its owner opens it. Copies are the same.
#[derive(Debug, Clone)]
pub struct Pairing {
    desk: Desk,
    /// Where attempts of the last opening go.
    attempts: Arc<Mutex<Option<mpsc::Sender<Attempt>>>>,
}

/// That a Mac may be asked to pair: for two minutes, by one Mac at a time, by each five times an hour. Ends
/// when it is dropped.
#[derive(Debug)]
pub struct Opening {
    desk: Desk,
    number: u64,
    attempts: mpsc::Receiver<Attempt>,
}

impl Pairing {
    /// Closed, with the time of this Mac.
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    /// Closed, with the time of a clock.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self { desk: Desk::new(clock), attempts: Arc::default() }
    }

    /// Opens it for two minutes. An earlier opening ends.
    pub fn open(&self) -> Opening {
        let (sender, attempts) = mpsc::channel(1);
        let number = self.desk.open();
        *self.attempts.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        Opening { desk: self.desk.clone(), number, attempts }
    }

    /// Whether strangers may ask.
    pub(crate) fn is_open(&self) -> bool {
        self.desk.is_open()
    }

    /// The right to one attempt of a machine at this address.
    pub(crate) fn begin(&self, from: IpAddr) -> Result<Slot, PairingError> {
        self.desk.begin(from)
    }

    /// Shows an attempt to the owner. It ends if nobody looks.
    pub(crate) async fn show(&self, attempt: Attempt) {
        let sender = self.attempts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(sender) = sender {
            let _ = sender.send(attempt).await;
        }
    }
}

impl Default for Pairing {
    fn default() -> Self {
        Self::new()
    }
}

impl Opening {
    /// The next attempt; `None` when the two minutes are over.
    pub async fn next(&mut self) -> Option<Attempt> {
        let left = self.desk.left(self.number)?;
        timeout(left, self.attempts.recv()).await.ok()?
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        self.desk.close(self.number);
    }
}
