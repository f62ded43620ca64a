//! Pairing: with a Mac that is to be used, and with one that is to use this one. Both people compare six digits.

use std::sync::Arc;

use foretoken_peers::{Attempt, Borrower, OPEN, PublicKey};
use foretoken_protocol::{ErrorReport, LENDING_PORT, MacPairing};
use tokio::sync::oneshot;

use super::{Macs, MacsError, key_of, own_name};
use crate::clock::now;

impl Macs {
    /// Begins to pair with a Mac that lends itself, at `host` or `host:port`. What comes of it is told.
    pub(crate) fn pair_with(self: &Arc<Self>, address: &str) -> Result<(), ErrorReport> {
        let address = whole_address(address)?;
        let macs = Arc::clone(self);
        self.begin(MacPairing::Asking { whom: address.clone() }, async move {
            let attempted = async {
                let identity = macs.kept.identity().await?;
                let attempt = Borrower::pair(&address, &identity, &own_name(), macs.kept.peers()).await?;
                Ok::<_, ErrorReport>(attempt)
            };
            match attempted.await {
                Ok(attempt) => {
                    if let Some(key) = macs.compare(attempt, false).await {
                        macs.kept.found_at(key, address);
                        macs.keep().await;
                        macs.ask(key).await;
                    }
                }
                Err(error) => macs.change(|standing| standing.pairing = Some(MacPairing::Failed { error })),
            }
        });
        Ok(())
    }

    /// Lets other Macs pair with this one, for two minutes.
    pub(crate) fn open_for_pairing(self: &Arc<Self>) -> Result<(), ErrorReport> {
        if self.lock().address.is_none() {
            return Err(MacsError::NotLending.into());
        }
        let mut opening = self.pairing.open();
        let macs = Arc::clone(self);
        self.stop_pairing(None);
        let until = now() + OPEN.as_millis() as u64;
        let task = tokio::spawn(async move {
            while let Some(attempt) = opening.next().await {
                if macs.compare(attempt, true).await.is_some() {
                    macs.keep().await;
                    break;
                }
            }
            macs.change(|standing| standing.open_until = None);
        });
        self.change(|standing| (standing.open_until, standing.task) = (Some(until), Some(task)));
        Ok(())
    }

    /// Ends what is under way, and forgets what became of the last.
    pub(crate) fn close_pairing(&self) {
        self.stop_pairing(None);
        self.publish();
    }

    /// What the person says of the digits.
    pub(crate) fn answer_pairing(&self, same: bool) -> Result<(), ErrorReport> {
        let answer = self.lock().answer.take().ok_or(MacsError::NoPairing)?;
        // An attempt that is over tells so itself.
        let _ = answer.send(same);
        self.change(|standing| {
            if let Some(MacPairing::Compare { confirmed, .. }) = &mut standing.pairing {
                *confirmed = same;
            }
        });
        Ok(())
    }

    /// Forgets a Mac: what runs with it ends, and neither may use the other.
    pub(crate) async fn forget(&self, key: &str) -> Result<(), ErrorReport> {
        let key = key_of(key)?;
        self.kept.forget(&key);
        self.change(|standing| _ = standing.states.remove(&key));
        Ok(self.kept.write().await?)
    }

    fn begin(&self, stage: MacPairing, work: impl Future<Output = ()> + Send + 'static) {
        self.stop_pairing(Some(stage));
        let task = tokio::spawn(work);
        self.change(|standing| standing.task = Some(task));
    }

    fn stop_pairing(&self, stage: Option<MacPairing>) {
        let mut standing = self.lock();
        if let Some(task) = standing.task.take() {
            task.abort();
        }
        (standing.pairing, standing.answer, standing.open_until) = (stage, None, None);
    }

    /// Shows the digits and waits for both people: the other Mac's key, once they are paired.
    async fn compare(&self, attempt: Attempt, borrows: bool) -> Option<PublicKey> {
        let (answer, answered) = oneshot::channel();
        let (name, digits) = (attempt.name().to_owned(), attempt.digits().to_owned());
        self.change(|standing| {
            standing.answer = Some(answer);
            let until = standing.open_until.unwrap_or_else(|| now() + OPEN.as_millis() as u64);
            standing.pairing = Some(MacPairing::Compare { name, digits, until, borrows, confirmed: false });
        });
        let confirmed = tokio::time::timeout(OPEN, answered).await.is_ok_and(|answer| answer == Ok(true));
        let paired = attempt.confirm(confirmed).await;
        self.change(|standing| {
            standing.answer = None;
            match paired {
                Ok(paired) => {
                    standing.pairing = Some(MacPairing::Paired { name: paired.name, borrows });
                    Some(paired.key)
                }
                Err(error) => {
                    standing.pairing = Some(MacPairing::Failed { error: error.into() });
                    None
                }
            }
        })
    }

    /// Keeps what has changed; what cannot be kept lasts until the app ends.
    pub(super) async fn keep(&self) {
        if let Err(error) = self.kept.write().await {
            tracing::error!("{error}");
        }
        self.publish();
    }
}

/// An address with a port: the usual one where none is named.
pub(super) fn whole_address(address: &str) -> Result<String, MacsError> {
    let address = address.trim();
    let invalid = || MacsError::NotAnAddress(address.to_owned());
    // Without brackets it names no port.
    let is_v6 = address.matches(':').count() > 1 && !address.starts_with('[');
    let (host, port) = match address.rsplit_once(':') {
        _ if is_v6 => (format!("[{address}]"), LENDING_PORT),
        Some((host, port)) if !host.ends_with(':') && !port.ends_with(']') => {
            (host.to_owned(), port.parse().ok().filter(|port| *port > 0).ok_or_else(invalid)?)
        }
        _ => (address.to_owned(), LENDING_PORT),
    };
    let named = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
    let is_name = |c: char| c.is_alphanumeric() || "-._:%".contains(c);
    if named.is_empty() || named.len() > 255 || !named.chars().all(is_name) {
        return Err(invalid());
    }
    Ok(format!("{host}:{port}"))
}
