//! The `peers` command: pairs this Mac with another one that lends itself, lists those that are paired, tries the way
//! to them, copies models from them, and forgets them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use foretoken_peers::{Borrower, Browser, MEASURED_BYTES};
use tokio::time::timeout;

use super::super::CliError;
use super::store::{Store, StoreOptions, own_name};
use super::{confirms, grouped, network, run};

/// How long it is listened for Macs.
const LOOKING: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub(crate) struct Peers {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    store: StoreOptions,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Tell which Macs are paired.
    List,
    /// Tell which Macs of this network lend themselves.
    Near,
    /// Copy a model from a Mac, or go on with that.
    Copy {
        /// The Mac's name.
        name: String,
        /// The model, as `test` names it.
        model: String,
        /// The folder that gets the folder of the model.
        #[arg(long, value_name = "DIR", default_value = ".")]
        to: PathBuf,
    },
    /// Pair with a Mac that lends itself, at HOST:PORT. It has to be open for pairing.
    Pair {
        /// Where it is.
        address: String,
    },
    /// Forget a Mac.
    Forget {
        /// Its name, or its key.
        name: String,
    },
    /// Tell what a Mac has, and measure the way to it.
    Test {
        /// Its name.
        name: String,
        /// Megabytes to send each way.
        #[arg(long, default_value_t = MEASURED_BYTES / 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1000))]
        megabytes: u64,
    },
}

impl Peers {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let mut store = self.store.open()?;
        match self.command {
            Command::List => list(&store),
            Command::Near => near(),
            Command::Copy { name, model, to } => copy(&store, &name, &model, &to),
            Command::Pair { address } => pair(&mut store, &address),
            Command::Forget { name } => forget(&mut store, &name),
            Command::Test { name, megabytes } => test(&store, &name, megabytes),
        }
    }
}

fn list(store: &Store) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    for (key, peer) in store.peers.book().peers {
        let lends = if peer.lends { "lends itself" } else { "" };
        let borrows = if peer.borrows.is_some() { "may use this Mac" } else { "" };
        let roles: Vec<&str> = [lends, borrows].into_iter().filter(|role| !role.is_empty()).collect();
        let address = store.addresses.get(&key).map_or(String::new(), |address| format!(", at {address}"));
        writeln!(out, "{}: {}{address} ({key})", super::super::harmless(&peer.name), roles.join(", "))?;
    }
    Ok(())
}

/// Lists the Macs that are found within a while.
fn near() -> Result<(), CliError> {
    let found = run(async {
        let mut browser = Browser::start().map_err(network)?;
        let mut last = Vec::new();
        let _ = timeout(LOOKING, async {
            while let Some(found) = browser.next().await {
                last = found;
            }
        })
        .await;
        Ok(last)
    })?;
    let mut out = io::stdout().lock();
    for mac in &found {
        let address = mac.addresses.first().map_or(String::new(), |address| format!(", at {address}"));
        let version = if mac.same_version { "" } else { ", of another version" };
        writeln!(out, "{}{address}{version}", super::super::harmless(&mac.name))?;
    }
    if found.is_empty() {
        eprintln!("No Mac of this network lends itself, or the network keeps that to itself.");
    }
    Ok(())
}

fn copy(store: &Store, name: &str, model: &str, to: &Path) -> Result<(), CliError> {
    let mac = borrower(store, name)?;
    let folder = to.join(Path::new(model).file_name().unwrap_or(model.as_ref()));
    std::fs::create_dir_all(&folder)?;
    run(async {
        let files = mac.files(model).await.map_err(network)?;
        let all: u64 = files.iter().map(|file| file.bytes).sum();
        let mut before = 0;
        for file in &files {
            let place = folder.join(&file.name);
            // What is there already, in full, was copied before.
            if place.metadata().is_ok_and(|there| there.len() == file.bytes) {
                before += file.bytes;
                continue;
            }
            let mut told = 0;
            let progress = |done: u64| {
                let percent = (before + done) * 100 / all.max(1);
                if percent > told {
                    told = percent;
                    eprint!("\r{percent} %");
                }
            };
            mac.fetch(model, file, &place, progress).await.map_err(network)?;
            before += file.bytes;
        }
        Ok(())
    })?;
    eprintln!("\r{} is at {}.", super::super::harmless(model), folder.display());
    Ok(())
}

fn pair(store: &mut Store, address: &str) -> Result<(), CliError> {
    let paired = run(async {
        let attempt =
            Borrower::pair(address, &store.identity, &own_name(), &store.peers).await.map_err(network)?;
        let (name, digits) = (super::super::harmless(attempt.name()), grouped(attempt.digits()));
        let question = format!("{name} shows six digits. Are they {digits}?");
        let confirmed = tokio::task::spawn_blocking(move || confirms(&question)).await;
        let confirmed = confirmed.map_err(io::Error::other).and_then(|confirmed| confirmed)?;
        attempt.confirm(confirmed).await.map_err(network)
    })?;
    store.keep(paired.key, Some(address))?;
    eprintln!(
        "Paired with {}. Its owner could reconstruct the texts that it helps to compute.",
        super::super::harmless(&paired.name)
    );
    Ok(())
}

fn forget(store: &mut Store, name: &str) -> Result<(), CliError> {
    let key = store.find(name, false)?;
    store.peers.remove(&key);
    store.keep(key, None)
}

fn test(store: &Store, name: &str, megabytes: u64) -> Result<(), CliError> {
    let mac = borrower(store, name)?;
    let (inventory, measured) = run(async {
        let inventory = mac.inventory().await.map_err(network)?;
        Ok((inventory, mac.measure(megabytes * 1_000_000).await.map_err(network)?))
    })?;
    let mut out = io::stdout().lock();
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    writeln!(
        out,
        "{}: version {}, {:.0} GB for models, reads {:.0} GB/s",
        super::super::harmless(&inventory.chip),
        super::super::harmless(&inventory.engine),
        gigabytes(inventory.free_bytes),
        gigabytes(inventory.bytes_per_second)
    )?;
    for model in &inventory.models {
        writeln!(out, "  {} ({:.1} GB)", super::super::harmless(&model.id), gigabytes(model.bytes))?;
    }
    writeln!(out, "{measured}")?;
    Ok(())
}

/// A paired Mac that lends itself, by its name or key.
pub(super) fn borrower(store: &Store, name: &str) -> Result<Borrower, CliError> {
    let key = store.find(name, true)?;
    let address = store.addresses.get(&key).ok_or_else(|| {
        CliError::Usage(format!(
            "Nobody knows where {name} is. Pair with it again by `peers pair HOST:PORT`."
        ))
    })?;
    Ok(Borrower::new(address, store.identity.clone(), key, store.peers.clone()))
}
