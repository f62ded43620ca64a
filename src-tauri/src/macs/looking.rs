//! Who is there: whether paired Macs answer, and how fast the way to them is.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use foretoken_peers::{Borrower, Browser, Found, MEASURED_BYTES, Measured, PublicKey};
use foretoken_protocol::{ErrorReport, MacLink, MacState, NearMac};
use futures_util::future::join_all;
use tokio::time::{sleep, timeout};

use super::{Macs, key_of, pairing::whole_address};
use crate::clock::now;

/// How often paired Macs are asked whether they are there, while somebody looks.
const ASKED: Duration = Duration::from_secs(10);

/// How long a Mac that is not where it was may take to be found.
const FINDING: Duration = Duration::from_secs(3);

impl Macs {
    /// Looks who is there from now on, or not any more.
    pub(crate) fn look(self: &Arc<Self>, look: bool) {
        let macs = Arc::clone(self);
        let task = look.then(|| {
            tokio::spawn(async move {
                let ask = async {
                    loop {
                        macs.ask_all().await;
                        sleep(ASKED).await;
                    }
                };
                tokio::join!(ask, macs.browse());
            })
        });
        let before = {
            let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *looking, task)
        };
        if let Some(before) = before {
            before.abort();
        }
        if !look {
            self.lock().near.clear();
        }
    }

    /// Where a Mac is from now on.
    pub(crate) async fn set_address(self: &Arc<Self>, key: &str, address: &str) -> Result<(), ErrorReport> {
        let key = key_of(key)?;
        self.kept.found_at(key, whole_address(address)?);
        self.kept.write().await?;
        self.ask(key).await;
        Ok(())
    }

    /// Measures the way to a Mac.
    pub(crate) async fn test_link(&self, key: &str) -> Result<(), ErrorReport> {
        let key = key_of(key)?;
        let borrower = self.borrower(&key).await?;
        self.change(|standing| _ = standing.states.insert(key, MacState::Asking));
        let measured = borrower.measure(MEASURED_BYTES / 4).await;
        let tested = match measured {
            Ok(measured) => {
                self.kept.measured(key, link(measured));
                self.kept.write().await.map_err(ErrorReport::from)
            }
            Err(error) => Err(error.into()),
        };
        self.ask(key).await;
        tested
    }

    /// Follows which Macs lend themselves on this network.
    async fn browse(&self) {
        let mut browser = match Browser::start() {
            Ok(browser) => browser,
            Err(error) => return tracing::warn!("Macs are found by their addresses alone: {error}"),
        };
        while let Some(found) = browser.next().await {
            let book = self.kept.peers().book();
            let own = self.kept.known_key();
            let is_new = |found: &&Found| {
                let is_lender = |key: &PublicKey| book.peers.get(key).is_some_and(|peer| peer.lends);
                !found.key.is_some_and(|key| Some(key) == own || is_lender(&key))
            };
            let near = found.iter().filter(is_new).filter_map(|found| {
                let address = found.addresses.first()?;
                Some(NearMac { name: found.name.clone(), address: address.to_string() })
            });
            let near = near.collect();
            self.change(|standing| standing.near = near);
        }
    }

    /// A paired Mac as it is used, where it is now: where it was last, or where it says itself that it is.
    pub(super) async fn located(&self, key: &PublicKey) -> Result<Borrower, ErrorReport> {
        let borrower = self.borrower(key).await?;
        let identity = self.kept.identity().await?;
        let Err(error) = Borrower::first_reachable(&[borrower.address().to_owned()], &identity, *key).await
        else {
            return Ok(borrower);
        };
        let is_it = |found: &Found| found.key == Some(*key) && !found.addresses.is_empty();
        let found = timeout(FINDING, async {
            let mut browser = Browser::start().ok()?;
            loop {
                if let Some(found) = browser.next().await?.into_iter().find(is_it) {
                    return Some(found.addresses.iter().map(ToString::to_string).collect::<Vec<_>>());
                }
            }
        });
        let Some(addresses) = found.await.ok().flatten() else {
            return Err(error.of(borrower.name()).into());
        };
        let address = Borrower::first_reachable(&addresses, &identity, *key).await;
        let address = address.map_err(|error| error.of(borrower.name()))?;
        self.kept.found_at(*key, address);
        self.keep().await;
        Ok(self.borrower(key).await?)
    }

    async fn ask_all(&self) {
        let book = self.kept.peers().book();
        let lenders = book.peers.into_iter().filter(|(_, peer)| peer.lends).map(|(key, _)| self.ask(key));
        join_all(lenders).await;
    }

    /// Asks a Mac whether it is there, and tells.
    pub(super) async fn ask(&self, key: PublicKey) {
        self.change(|standing| {
            standing.states.entry(key).or_insert(MacState::Asking);
        });
        let inventory = match self.located(&key).await {
            Ok(borrower) => borrower.inventory().await.map_err(ErrorReport::from),
            Err(error) => Err(error),
        };
        let state = match inventory {
            Ok(inventory) => MacState::Here {
                chip: inventory.chip,
                free_bytes: inventory.free_bytes,
                models: inventory.models.len() as u32,
            },
            Err(error) => MacState::Away { error },
        };
        self.change(|standing| _ = standing.states.insert(key, state));
    }
}

fn link(measured: Measured) -> MacLink {
    MacLink {
        round_trip_ms: measured.round_trip.as_secs_f64() * 1e3,
        sent_per_second: measured.sent_per_second,
        received_per_second: measured.received_per_second,
        measured_at: now(),
    }
}
