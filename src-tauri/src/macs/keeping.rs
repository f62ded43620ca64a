//! Layers of models that other Macs have given to this one: whether they are taken, where a worker finds them, and what
//! the owner sees of them.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use foretoken_peers::{Held, Keep, Loan as Asked, ModelId, Offer, StoreError};
use foretoken_protocol::{ErrorReport, StoredLayers};

use super::Macs;
use crate::blocking::blocking;

impl Macs {
    /// Removes layers that are kept here.
    pub(crate) async fn remove_layers(&self, id: String) -> Result<(), ErrorReport> {
        let store = self.layers.clone();
        let removed = blocking(move || store.remove(&id)).await;
        self.look_at_layers().await;
        Ok(removed?)
    }

    /// Bytes that layers may take here; `None`: none are kept.
    pub(super) fn keeps_bytes(&self) -> Option<u64> {
        let gigabytes = self.settings.current().lending.keep_gigabytes;
        gigabytes.map(|gigabytes| u64::from(gigabytes) * 1_000_000_000)
    }

    /// Where layers go that another Mac gives.
    pub(super) async fn take(self: &Arc<Self>, offer: &Offer) -> Result<Keep, ErrorReport> {
        if self.same(&offer.model).await.is_some() {
            return Ok(Keep::Model);
        }
        let most = self.keeps_bytes().ok_or(StoreError::Off)?;
        Ok(Keep::In(self.layers.clone(), most, Box::new(Looks(Arc::downgrade(self)))))
    }

    /// Where a worker finds its layers, and what keeps them there.
    pub(super) async fn part(
        self: &Arc<Self>,
        asked: &Asked,
    ) -> Result<(PathBuf, Option<(Held, Looks)>), ErrorReport> {
        if let Some(folder) = self.same(&asked.model).await {
            return Ok((folder, None));
        }
        let (store, borrower, model) = (self.layers.clone(), asked.borrower, asked.model.clone());
        match blocking(move || store.hold(&borrower, &model)).await {
            Some((folder, held)) => Ok((folder, Some((held, Looks(Arc::downgrade(self)))))),
            // One of that name that differs says by what.
            None => Ok((self.folder(&asked.model.name)?, None)),
        }
    }

    /// The folder of a model that is here, whole and the same.
    async fn same(&self, model: &ModelId) -> Option<PathBuf> {
        let folder = self.folder(&model.name).ok()?;
        let (own, _) = self.layers(&folder, None).await.ok()?;
        (own.digest == model.digest).then_some(folder)
    }

    /// Looks at what is kept, and tells the page.
    pub(super) async fn look_at_layers(&self) {
        let store = self.layers.clone();
        let stored = blocking(move || store.stored()).await.into_iter().map(|stored| StoredLayers {
            id: stored.id,
            model: stored.model,
            mac: stored.mac,
            layers: stored.layers,
            bytes: stored.bytes,
            in_use: stored.in_use,
        });
        let stored = stored.collect();
        self.change(|standing| standing.stored = stored);
    }
}

/// Has what is kept looked at once this is dropped.
pub(super) struct Looks(Weak<Macs>);

impl Drop for Looks {
    fn drop(&mut self) {
        let (Some(macs), Ok(runtime)) = (self.0.upgrade(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        runtime.spawn(async move { macs.look_at_layers().await });
    }
}
