//! A model over several Macs: where its layers would lie, where they are to lie, and the connections of those that
//! compute it.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Weak};

use foretoken_host::{Forming, KV_IN_8_BITS, Layers, Model, Ring, Rings};
use foretoken_peers::{Borrower, Inventory, Lead, PublicKey, Ring as PeerRing};
use foretoken_protocol::{ErrorReport, KvPrecision, SpreadOutlook, SpreadPart, Spreading};
use futures_util::future::join_all;
use serde::Deserialize;

use super::{Macs, MacsError, id_of, key_of, own_name};

/// What a hop takes where nobody has measured it, in milliseconds, and GB that go over it in a second: TCP over a
/// Thunderbolt cable.
const HOP_MS: f64 = 0.3;
const HOP_GB: f64 = 3.0;

/// What `place` says.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Placed {
    Fits { machines: Vec<PlacedMachine>, context: u64, seconds_per_token: f64 },
    TooBig { usable: u64 },
}

#[derive(Debug, Deserialize)]
struct PlacedMachine {
    /// Its place among those that were named.
    name: String,
    layers: u32,
    needed: u64,
    usable: u64,
}

/// A Mac that could have layers.
struct Candidate {
    /// `None` is this one.
    key: Option<PublicKey>,
    name: String,
    usable: u64,
    bytes_per_second: u64,
}

impl Macs {
    /// What paired Macs could do for the model in a folder.
    pub(crate) async fn outlook(
        &self,
        folder: &str,
        kv_precision: KvPrecision,
        draft_model: Option<&str>,
    ) -> Result<SpreadOutlook, ErrorReport> {
        let book = self.kept.peers().book();
        let lenders = book.peers.into_iter().filter(|(_, peer)| peer.lends);
        let asked = lenders.map(async |(key, peer)| {
            let inventory = match self.located(&key).await {
                Ok(borrower) => borrower.inventory().await.map_err(ErrorReport::from),
                Err(error) => Err(error),
            };
            (key, peer.name, inventory)
        });
        let here: Vec<(PublicKey, String, Inventory)> = join_all(asked)
            .await
            .into_iter()
            .filter_map(|(key, name, got)| Some((key, name, got.ok()?)))
            .collect();
        if here.is_empty() {
            return Ok(SpreadOutlook::Nobody);
        }
        let id = id_of(Path::new(folder));
        let (having, lacking): (Vec<_>, Vec<_>) = here.into_iter().partition(|(_, _, inventory)| {
            // Whoever has not got it is given its layers.
            inventory.keeps_bytes.is_some() || inventory.models.iter().any(|model| model.id == id)
        });
        if having.is_empty() {
            return Ok(SpreadOutlook::Lacking {
                macs: lacking.into_iter().map(|(_, name, _)| name).collect(),
            });
        }
        let own = Candidate {
            key: None,
            name: own_name(),
            usable: self.machine.usable_bytes,
            bytes_per_second: self.read_speed().await?,
        };
        let others = having.into_iter().map(|(key, name, inventory)| Candidate {
            key: Some(key),
            name,
            usable: inventory.usable_for(&id),
            bytes_per_second: inventory.bytes_per_second,
        });
        let candidates: Vec<Candidate> = std::iter::once(own).chain(others).collect();
        let place = async |all: bool| self.place(folder, kv_precision, draft_model, &candidates, all).await;
        let mut placed = place(false).await?;
        if matches!(&placed, Placed::Fits { machines, .. } if machines.len() == 1) {
            // It fits here; who asks wants others all the same.
            placed = place(true).await?;
        }
        Ok(match placed {
            Placed::TooBig { usable } => SpreadOutlook::TooBig { usable_bytes: usable },
            Placed::Fits { machines, context, seconds_per_token } => {
                let part = |placed: &PlacedMachine| {
                    let candidate = candidates.get(placed.name.parse::<usize>().ok()?)?;
                    Some(SpreadPart {
                        key: candidate.key.map(|key| key.to_string()),
                        name: candidate.name.clone(),
                        layers: placed.layers,
                        bytes: placed.needed,
                        usable_bytes: placed.usable,
                    })
                };
                let parts: Vec<SpreadPart> = machines.iter().filter_map(part).collect();
                let keys: Vec<Option<&str>> = parts.iter().map(|part| part.key.as_deref()).collect();
                let is_out =
                    |mac: &&Candidate| !keys.contains(&mac.key.map(|key| key.to_string()).as_deref());
                let left_out = candidates.iter().filter(is_out).map(|mac| mac.name.clone()).collect();
                let context = context.try_into().unwrap_or(u32::MAX);
                let spreading = Spreading { parts, context, tokens_per_second: 1.0 / seconds_per_token };
                SpreadOutlook::Fits { spreading, left_out }
            }
        })
    }

    async fn place(
        &self,
        folder: &str,
        kv_precision: KvPrecision,
        draft_model: Option<&str>,
        candidates: &[Candidate],
        all: bool,
    ) -> Result<Placed, ErrorReport> {
        let links = candidates.iter().filter_map(|mac| self.kept.link(mac.key.as_ref()?));
        let (mut latency, mut speed) = (HOP_MS, HOP_GB);
        for (number, link) in links.enumerate() {
            let (round, bytes) =
                (link.round_trip_ms / 2.0, link.sent_per_second.min(link.received_per_second) / 1e9);
            // The slowest of them counts.
            (latency, speed) =
                if number == 0 { (round, bytes) } else { (latency.max(round), speed.min(bytes)) };
        }
        let mut arguments: Vec<OsString> = vec!["place".into(), folder.into(), "--json".into()];
        for (number, mac) in candidates.iter().enumerate() {
            let (memory, read) = (mac.usable.max(1) as f64 / 1e9, mac.bytes_per_second.max(1) as f64 / 1e9);
            arguments.extend(["--machine".into(), format!("{number}={memory}@{read}").into()]);
        }
        arguments.extend([
            "--latency".into(),
            latency.to_string().into(),
            "--link".into(),
            speed.max(1e-6).to_string().into(),
        ]);
        if all {
            arguments.push("--all".into());
        }
        if kv_precision == KvPrecision::Eight {
            arguments.extend(KV_IN_8_BITS.map(OsString::from));
        }
        if let Some(draft) = draft_model {
            arguments.extend(["--draft-model".into(), draft.into()]);
        }
        let mut said = String::new();
        let ran = self.tool.lines(arguments, |line| said += line, std::future::pending()).await;
        match (serde_json::from_str(&said), ran) {
            (Ok(placed), _) => Ok(placed),
            (Err(_), Err(error)) => Err(error),
            (Err(error), Ok(_)) => Err(ErrorReport {
                code: "engine_not_understood".into(),
                message: format!("The engine does not say where the layers would lie: {error}."),
                hint: "Install Foretoken again.".into(),
            }),
        }
    }

    /// Where the layers of the model in a folder are to lie from now on: as the outlook says, or so many on each of its
    /// Macs. Returns how it was before, for [`Self::restore`].
    pub(crate) async fn choose(
        &self,
        folder: &str,
        outlook: SpreadOutlook,
        layers: Option<Vec<u32>>,
    ) -> Result<Option<Vec<SpreadPart>>, ErrorReport> {
        let SpreadOutlook::Fits { spreading: Spreading { mut parts, .. }, .. } = outlook else {
            return Err(MacsError::DoesNotFit.into());
        };
        if let Some(layers) = layers {
            let all = |layers: &mut dyn Iterator<Item = u32>| layers.map(u64::from).sum::<u64>();
            let is_same = all(&mut layers.iter().copied()) == all(&mut parts.iter().map(|part| part.layers));
            if layers.len() != parts.len() || layers.contains(&0) || !is_same {
                return Err(MacsError::DoesNotFit.into());
            }
            for (part, layers) in parts.iter_mut().zip(layers) {
                // About: the ends lie on this Mac whatever it has.
                part.bytes = (part.bytes as f64 * f64::from(layers) / f64::from(part.layers.max(1))) as u64;
                part.layers = layers;
            }
        }
        let before = self.kept.set_spread(folder, Some(parts));
        self.keep().await;
        Ok(before)
    }

    /// Spreads a model as it was, or on no other Mac.
    pub(crate) async fn restore(
        &self,
        folder: &str,
        parts: Option<Vec<SpreadPart>>,
    ) -> Option<Vec<SpreadPart>> {
        let before = self.kept.set_spread(folder, parts);
        self.keep().await;
        before
    }

    /// Follows the models of a folder to another one.
    pub(crate) async fn moved(&self, from: &Path, to: &Path) {
        self.kept.moved(from, to);
        self.keep().await;
    }

    /// How the layers of the model in a folder lie; `None`: all of them here.
    pub(crate) fn layers_of(&self, folder: &str) -> Option<Layers> {
        let parts = self.kept.spread().remove(folder)?;
        let (own, others) = parts.split_first()?;
        let others = others.iter().filter_map(|part| Some((part.key.clone()?, part.layers))).collect();
        Some(Layers { own: own.layers, others })
    }

    async fn form(&self, model: &Model, layers: &Layers) -> Result<Ring, ErrorReport> {
        let mut lenders: Vec<Borrower> = Vec::new();
        for (key, _) in &layers.others {
            lenders.push(self.located(&key_of(key)?).await?);
        }
        let own = std::iter::once(layers.own);
        let counts: Vec<u32> = own.chain(layers.others.iter().map(|(_, layers)| *layers)).collect();
        let id = self.give(Path::new(&model.folder), &lenders, &counts).await?;
        let mut ring = PeerRing::form(&lenders, &id, None).await?;
        let counts: Vec<usize> = counts.into_iter().map(|layers| layers as usize).collect();
        let lead = Lead::of(&mut ring, &lenders, &counts).await?;
        let (arguments, environment) = (lead.arguments.clone(), lead.environment.clone().into());
        let ended = Box::pin(async move {
            let _ = ring.ended().await;
            drop(lead);
        });
        Ok(Ring { arguments, environment, ended })
    }
}

/// Connects Macs for the engine.
#[derive(Debug)]
pub(crate) struct Connecting(pub(crate) Weak<Macs>);

impl Rings for Connecting {
    fn form(&self, model: Model, layers: Layers) -> Forming {
        let macs: Option<Arc<Macs>> = self.0.upgrade();
        Box::pin(async move {
            let macs = macs.ok_or_else(foretoken_host::closed)?;
            macs.form(&model, &layers).await
        })
    }
}
