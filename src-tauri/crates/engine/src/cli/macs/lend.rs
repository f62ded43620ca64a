//! The `worker` command: computes layers for another process, or lends this Mac to others that are paired with it.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use clap::Args;
use foretoken_engine::mlx::usable_memory;
use foretoken_engine::placement::read_speed;
use foretoken_engine::{machine, worker};
use foretoken_peers::{
    Advert, Held, Host, Inventory, InventoryModel, Keep, LayerStore, Lender, Lending, Loan, ModelFile,
    ModelId, Offer, Pairing, Peers, PublicKey, StoreError, Worker, files_of, open_of, start_worker,
};
use foretoken_protocol::ErrorReport;
use tokio::fs::File;

use super::super::layers::planned;
use super::super::{CliError, engine, harmless};
use super::store::{StoreOptions, own_name};
use super::{confirms, grouped, network, run};

#[derive(Debug, Args)]
pub(crate) struct Lend {
    /// Compute some layers of the model in this folder for whoever is at standard input and output. Its place in the
    /// ring is in the environment.
    #[arg(required_unless_present = "listen", conflicts_with = "listen")]
    model: Option<PathBuf>,
    /// Lend this Mac to those that are paired with it: listen at this address, as 0.0.0.0:7421.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// The folder with the models that they may use.
    #[arg(long, value_name = "DIR", requires = "listen")]
    models: Option<PathBuf>,
    /// Keep layers of models that they give this Mac, up to so many gigabytes. What was used least makes way.
    #[arg(long, value_name = "GB", requires = "listen", value_parser = gigabytes)]
    keep: Option<u64>,
    /// Be open for pairing for two minutes.
    #[arg(long, requires = "listen")]
    pair: bool,
    /// Gigabytes that a model may take here; as many as this Mac gives models where nothing is said.
    #[arg(long, value_name = "GB", value_parser = gigabytes)]
    memory: Option<u64>,
    #[command(flatten)]
    store: StoreOptions,
}

/// Gigabytes as bytes.
fn gigabytes(text: &str) -> Result<u64, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 1e6);
    number.map(|number| (number * 1e9) as u64).ok_or_else(|| "it must be a number of gigabytes".into())
}

impl Lend {
    pub(crate) fn run(self) -> Result<(), CliError> {
        match (self.model, self.listen) {
            (Some(model), _) => {
                worker::run(&model, self.memory, io::stdin(), io::stdout()).map_err(CliError::Engine)
            }
            (None, Some(address)) => {
                let terms = (self.memory, self.keep);
                lend(address, self.models, terms, self.pair, &self.store)
            }
            // The command line does not let it come to this.
            (None, None) => Err(CliError::Usage("Name a model, or an address to listen at.".into())),
        }
    }
}

fn lend(
    address: SocketAddr,
    models: Option<PathBuf>,
    (memory, keep): (Option<u64>, Option<u64>),
    pair: bool,
    store: &StoreOptions,
) -> Result<(), CliError> {
    let mut store = store.open()?;
    let kept = keep.map(|most| (LayerStore::at(store.layers()), most));
    let library = Library { models, memory, kept, bytes_per_second: read_speed().map_err(engine)? };
    run(async {
        let (peers, pairing) = (store.peers.clone(), Pairing::new());
        let lending = Lending {
            identity: store.identity.clone(),
            name: own_name(),
            peers: peers.clone(),
            pairing: pairing.clone(),
            host: Arc::new(library),
        };
        let lender = Lender::start(address, lending).await.map_err(network)?;
        eprintln!("{} lends itself at {}. It ends with Ctrl-C.", own_name(), lender.address());
        // Where nobody else can come, nobody need find it.
        let is_open = !lender.address().ip().is_loopback();
        let advert =
            is_open.then(|| Advert::publish(&own_name(), lender.address().port(), &store.identity.key()));
        if let Some(Err(error)) = &advert {
            eprintln!("Other Macs do not find it by itself: {error}");
        }
        if pair && let Some(key) = be_paired(&pairing, &peers).await? {
            store.keep(key, None)?;
        }
        tokio::select! {
            ended = tokio::signal::ctrl_c() => ended.map_err(CliError::Output)?,
            () = store.follow() => {}
        }
        lender.stop().await;
        Ok(())
    })
}

/// Lets one Mac pair, if one comes within two minutes.
async fn be_paired(pairing: &Pairing, peers: &Peers) -> Result<Option<PublicKey>, CliError> {
    let mut opening = pairing.open();
    eprintln!("For two minutes another Mac can pair: foretoken-engine peers pair HOST:PORT");
    while let Some(attempt) = opening.next().await {
        let (name, digits) = (harmless(attempt.name()), grouped(attempt.digits()));
        let question = format!("{name} wants to use this Mac and shows six digits. Are they {digits}?");
        let confirmed = tokio::task::spawn_blocking(move || confirms(&question)).await;
        let confirmed = confirmed.map_err(io::Error::other).and_then(|confirmed| confirmed)?;
        match attempt.confirm(confirmed).await {
            Ok(paired) => {
                eprintln!("Paired with {}.", harmless(&paired.name));
                return Ok(Some(paired.key));
            }
            Err(error) => eprintln!("{}", ErrorReport::from(error)),
        }
    }
    if peers.book().peers.is_empty() {
        eprintln!("No Mac is paired with this one. Start this again with --pair.");
    }
    Ok(None)
}

/// The models of a folder, and what runs them.
struct Library {
    models: Option<PathBuf>,
    /// Bytes that a model may take; `None`: as many as this Mac gives models.
    memory: Option<u64>,
    /// Layers that others have given, and how many bytes these may be.
    kept: Option<(LayerStore, u64)>,
    bytes_per_second: u64,
}

#[async_trait]
impl Host for Library {
    async fn inventory(&self) -> Inventory {
        Inventory {
            chip: machine::chip().unwrap_or_default(),
            engine: env!("CARGO_PKG_VERSION").into(),
            free_bytes: self.memory.unwrap_or_else(usable_memory),
            bytes_per_second: self.bytes_per_second,
            keeps_bytes: self.kept.as_ref().map(|(_, most)| *most),
            models: self
                .folders()
                .into_iter()
                .map(|(id, folder)| InventoryModel { id, bytes: size(&folder) })
                .collect(),
        }
    }

    async fn start(&self, loan: Loan) -> Result<Worker, ErrorReport> {
        let (model, held) = self.part(&loan).await?;
        if loan.terms.only_on_power && machine::is_on_battery() {
            return Err(ErrorReport {
                code: "mac_on_battery".into(),
                message: "The lending Mac is on battery, and lends itself on power alone.".into(),
                hint: "Plug it in.".into(),
            });
        }
        let memory = self.memory.into_iter().chain(loan.terms.most_bytes).min();
        let started =
            std::env::current_exe().and_then(|program| start_worker(&program, &model, memory, loan.place));
        started.map(|worker| worker.holding(held)).map_err(|error| ErrorReport {
            code: "worker_failed".into(),
            message: format!("The lending Mac could not start its worker: {error}."),
            hint: "Try again; if it happens again, restart Foretoken there.".into(),
        })
    }

    async fn files(&self, model: &str) -> Result<Vec<ModelFile>, ErrorReport> {
        Ok(files_of(&self.folder(model)?))
    }

    async fn keep(&self, offer: &Offer) -> Result<Keep, ErrorReport> {
        if self.own(&offer.model).await.is_some() {
            return Ok(Keep::Model);
        }
        let kept = self.kept.clone().map(|(store, most)| Keep::In(store, most, Box::new(())));
        kept.ok_or_else(|| ErrorReport {
            hint: "Start the worker there with --keep GB, or copy the model to it.".into(),
            ..StoreError::Off.into()
        })
    }

    async fn open(&self, model: &str, name: &str) -> Result<File, ErrorReport> {
        open_of(&self.folder(model)?, name).await
    }
}

impl Library {
    /// The folder of a model that is here, whole and the same.
    async fn own(&self, model: &ModelId) -> Option<PathBuf> {
        let (folder, digest) = (self.folder(&model.name).ok()?, model.digest);
        let is_same = move || planned(&folder).is_ok_and(|(_, own)| own == digest).then_some(folder);
        tokio::task::spawn_blocking(is_same).await.ok().flatten()
    }

    /// Where a worker finds its layers, and what keeps them there.
    async fn part(&self, loan: &Loan) -> Result<(PathBuf, Option<Held>), ErrorReport> {
        if let Some(folder) = self.own(&loan.model).await {
            return Ok((folder, None));
        }
        let given = self.kept.as_ref().and_then(|(store, _)| store.hold(&loan.borrower, &loan.model));
        match given {
            Some((folder, held)) => Ok((folder, Some(held))),
            // One of that name that differs says by what.
            None => Ok((self.folder(&loan.model.name)?, None)),
        }
    }

    /// The folder of a model. What comes over the network is never a path: it is one of the names here, or nothing.
    fn folder(&self, model: &str) -> Result<PathBuf, ErrorReport> {
        let found = self.folders().into_iter().find(|(name, _)| name == model);
        found.map(|(_, folder)| folder).ok_or_else(|| ErrorReport {
            code: "mac_lacks_model".into(),
            message: format!("The lending Mac has no model called {model}."),
            hint: "Copy the folder of the model to it, under the same name.".into(),
        })
    }

    /// The folders that hold models, by their names.
    fn folders(&self) -> Vec<(String, PathBuf)> {
        let models = self.models.iter().flat_map(std::fs::read_dir);
        let entries = models.flatten().filter_map(Result::ok);
        let models = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
        models.filter(|(_, folder)| folder.join("config.json").is_file()).collect()
    }
}

/// Bytes of a folder's files.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}
