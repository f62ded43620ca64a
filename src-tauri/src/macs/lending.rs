//! Lending this Mac: a listener, and workers that compute a part of a model for others. Its owner comes first.

use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use foretoken_peers::{
    Advert, Host, Inventory, InventoryModel, Keep, Lender, Lending, Loan as Asked, ModelFile, Offer, Terms,
    Worker, files_of, open_of, start_worker,
};
use foretoken_protocol::{EngineState, ErrorReport, LendingSettings, Loan};
use tokio::fs::File;

use super::{Macs, MacsError, Measured, key_of, own_name};
use crate::blocking::blocking;
use crate::clock::now;

impl Macs {
    /// Takes over on what terms this Mac lends itself. What runs on others ends.
    pub(crate) async fn set_lending(self: &Arc<Self>, lending: LendingSettings) -> Result<(), ErrorReport> {
        if lending.port < 1024 {
            return Err(MacsError::Port(lending.port).into());
        }
        let writing = self.settings.file.update(|settings| settings.lending = lending);
        self.apply_lending().await;
        Ok(writing.written().await?)
    }

    /// Ends what another Mac computes here. It may ask again.
    pub(crate) fn take_back(&self) {
        let Some(loan) = self.lock().in_use.clone() else { return };
        if let Ok(key) = loan.key.parse() {
            self.kept.peers().interrupt(&key);
        }
    }

    /// Sets whether a paired Mac may use this one.
    pub(crate) async fn allow(&self, key: &str, borrows: bool) -> Result<(), ErrorReport> {
        self.kept.peers().set_terms(&key_of(key)?, borrows.then(Terms::default));
        self.publish();
        Ok(self.kept.write().await?)
    }

    /// Does as the settings say: closes the listener, and opens one if there is to be one.
    pub(super) async fn apply_lending(self: &Arc<Self>) {
        let mut lender = self.lender.lock().await;
        if let Some(Open { lender, advert }) = lender.take() {
            if let Some(advert) = advert {
                advert.withdraw().await;
            }
            lender.stop().await;
        }
        let settings = self.settings.current().lending;
        let opened = if settings.on { self.open(settings.port).await.map(Some) } else { Ok(None) };
        if !matches!(opened, Ok(Some(_))) {
            self.stop_offering();
        }
        let (error, address) = match opened {
            Ok(opened) => {
                let address = opened.as_ref().map(|open| own_address(open.lender.address().port()));
                *lender = opened;
                (None, address)
            }
            Err(error) => (Some(error), None),
        };
        self.change(|standing| (standing.error, standing.address) = (error, address));
    }

    /// Nobody may pair where nobody can come.
    fn stop_offering(&self) {
        if self.lock().open_until.is_some() {
            self.close_pairing();
        }
    }

    async fn open(self: &Arc<Self>, port: u16) -> Result<Open, ErrorReport> {
        let identity = self.kept.identity().await?;
        let key = identity.key();
        let lending = Lending {
            identity,
            name: own_name(),
            peers: self.kept.peers().clone(),
            pairing: self.pairing.clone(),
            host: Arc::new(Here { macs: Arc::downgrade(self) }),
        };
        // Of both kinds of addresses.
        let address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
        let lender = match Lender::start(address, lending.clone()).await {
            Ok(lender) => lender,
            // A system without the newer kind.
            Err(_) => Lender::start(SocketAddr::from(([0, 0, 0, 0], port)), lending).await?,
        };
        let advert = Advert::publish(&own_name(), lender.address().port(), &key);
        if let Err(error) = &advert {
            tracing::warn!("other Macs find this one by its address alone: {error}");
        }
        Ok(Open { lender, advert: advert.ok() })
    }

    /// Ends a loan once this Mac's owner needs its memory, for as long as the app runs.
    pub(super) async fn follow_owner(self: &Arc<Self>) {
        let mut engine = self.engine.watch();
        while engine.changed().await.is_ok() {
            let is_needed = matches!(
                *engine.borrow_and_update(),
                EngineState::Loading { .. } | EngineState::Ready { in_memory: true, .. }
            );
            if is_needed && self.settings.current().lending.only_unused && *self.lent.borrow() {
                tracing::info!("the loan ends: this Mac's own model is loaded");
                self.take_back();
            }
        }
    }

    /// Bytes that a model of another Mac may take here.
    fn lent_bytes(&self) -> u64 {
        let LendingSettings { most_gigabytes, only_unused, .. } = self.settings.current().lending;
        let most = most_gigabytes.map_or(u64::MAX, |gigabytes| u64::from(gigabytes) * 1_000_000_000);
        // An idle model makes way unless its owner wants both.
        let taken = match self.engine.state() {
            EngineState::Ready { model, in_memory: true, .. } if !only_unused => model.weight_bytes,
            _ => 0,
        };
        most.min(self.machine.usable_bytes.saturating_sub(taken))
    }

    /// The folder of a model. What comes over the network is never a path: it is the name of a model here, or nothing.
    pub(super) fn folder(&self, model: &str) -> Result<PathBuf, ErrorReport> {
        let found = self.shelved().into_iter().find(|shelved| shelved.id() == model);
        found.map(|shelved| shelved.folder).ok_or_else(|| {
            let words = format!("It has no model called {model}.");
            refusal("mac_lacks_model", words, "Copy or download the model there.")
        })
    }

    async fn start_loan(self: &Arc<Self>, asked: Asked) -> Result<Worker, ErrorReport> {
        let (folder, held) = self.part(&asked).await?;
        let settings = self.settings.current().lending;
        let Measured { on_battery, .. } = self.measured().await?;
        if settings.only_on_power && on_battery {
            let words = "It is on battery, and lends itself on power alone.".into();
            return Err(refusal("mac_on_battery", words, "Plug it in."));
        }
        if settings.only_unused && (*self.replies.borrow() > 0 || !self.engine.unload().await) {
            let words = "Its owner is using a model there.".into();
            return Err(refusal("mac_in_use", words, "Wait until it is free, or ask its owner."));
        }
        let program = self.program.path().await;
        let worker = start_worker(program, &folder, Some(self.lent_bytes()), asked.place);
        let worker = worker.map_err(|error| {
            let words = format!("It could not start what computes: {error}.");
            refusal("worker_failed", words, "Try again; if it happens again, restart Foretoken there.")
        })?;
        let book = self.kept.peers().book();
        let mac = book.peers.get(&asked.borrower).map(|peer| peer.name.clone()).unwrap_or_default();
        let (key, model, since) = (asked.borrower.to_string(), asked.model.name, now());
        self.lent.send_replace(true);
        self.change(|standing| standing.in_use = Some(Loan { key, mac, model, since }));
        self.look_at_layers().await;
        Ok(worker.holding(held).holding(Ends { macs: Arc::downgrade(self), since }))
    }
}

/// A listener, and what tells others of it.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) lender: Lender,
    advert: Option<Advert>,
}

/// What this Mac does for others, in the eyes of its listener.
struct Here {
    macs: Weak<Macs>,
}

#[async_trait]
impl Host for Here {
    async fn inventory(&self) -> Inventory {
        let Some(macs) = self.macs.upgrade() else { return Inventory::default() };
        let models = macs.shelved().into_iter();
        Inventory {
            chip: macs.machine.chip.clone(),
            engine: env!("CARGO_PKG_VERSION").into(),
            free_bytes: macs.lent_bytes(),
            bytes_per_second: macs.read_speed().await.unwrap_or_default(),
            keeps_bytes: macs.keeps_bytes(),
            models: models.map(|model| InventoryModel { id: model.id(), bytes: model.bytes }).collect(),
        }
    }

    async fn start(&self, loan: Asked) -> Result<Worker, ErrorReport> {
        let macs = self.macs.upgrade().ok_or_else(foretoken_host::closed)?;
        macs.start_loan(loan).await
    }

    async fn keep(&self, offer: &Offer) -> Result<Keep, ErrorReport> {
        self.macs.upgrade().ok_or_else(foretoken_host::closed)?.take(offer).await
    }

    async fn files(&self, model: &str) -> Result<Vec<ModelFile>, ErrorReport> {
        let folder = self.macs.upgrade().ok_or_else(foretoken_host::closed)?.folder(model)?;
        Ok(blocking(move || files_of(&folder)).await)
    }

    async fn open(&self, model: &str, name: &str) -> Result<File, ErrorReport> {
        let folder = self.macs.upgrade().ok_or_else(foretoken_host::closed)?.folder(model)?;
        open_of(&folder, name).await
    }
}

/// Notes when a worker has ended.
struct Ends {
    macs: Weak<Macs>,
    since: u64,
}

impl Drop for Ends {
    fn drop(&mut self) {
        let Some(macs) = self.macs.upgrade() else { return };
        macs.change(|standing| {
            // Another may have begun.
            if standing.in_use.as_ref().is_some_and(|loan| loan.since == self.since) {
                standing.in_use = None;
                macs.lent.send_replace(false);
            }
        });
    }
}

fn refusal(code: &str, message: String, hint: &str) -> ErrorReport {
    ErrorReport { code: code.into(), message, hint: hint.into() }
}

/// What others type to find this Mac.
fn own_address(port: u16) -> String {
    let host = foretoken_api::network_name().unwrap_or_else(|| own_name() + ".local");
    format!("{host}:{port}")
}
