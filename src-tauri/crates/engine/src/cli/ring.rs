//! One model over several processes of this machine, as over as many Macs: to try what comes of it, and for tests.

use std::env;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use foretoken_engine::link::{Channel, Clocks, Loss};
use foretoken_engine::mlx::environment::{HOSTS, RANK, set_ring};
use foretoken_engine::session::Prepared;
use foretoken_protocol::ErrorReport;
use tempfile::TempDir;

use super::{CliError, engine};

/// Over what a model is spread.
#[derive(Debug, Args)]
pub(super) struct RingOptions {
    /// Spread the model over so many processes of this machine, as over as many Macs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=8))]
    ring_test: Option<u8>,
    /// How many of its layers each process gets; as many as the others where nothing is said.
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "ring_test")]
    layers: Vec<usize>,
}

/// The other processes, which end with this one.
#[derive(Debug)]
pub(super) struct LocalRing {
    channels: Vec<Channel>,
    processes: Arc<Mutex<Vec<Child>>>,
    layers: Vec<usize>,
    /// Where each listens, for as long as they join.
    _hosts: TempDir,
}

impl RingOptions {
    /// Starts the other processes, with the model in a folder, and gives this one its place. To be called first, while
    /// there is one thread.
    pub(super) fn start(&self, model: &Path) -> Result<Option<LocalRing>, CliError> {
        let Some(ranks) = self.ring_test else { return Ok(None) };
        let started = self.start_ranks(model, ranks.into());
        started
            .map(Some)
            .map_err(|error| CliError::Usage(format!("The processes cannot be started: {error}.")))
    }

    fn start_ranks(&self, model: &Path, ranks: usize) -> io::Result<LocalRing> {
        let folder = tempfile::tempdir()?;
        // All ports are taken before one is given back, so that they differ.
        let ports: Vec<TcpListener> =
            (0..ranks).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<io::Result<_>>()?;
        let hosts: Vec<[String; 1]> =
            ports.iter().map(|port| Ok([port.local_addr()?.to_string()])).collect::<io::Result<_>>()?;
        let file = folder.path().join("hosts.json");
        std::fs::write(&file, serde_json::to_string(&hosts)?)?;
        drop(ports);
        set_ring(0, &file);
        let (mut channels, mut processes) = (Vec::new(), Vec::new());
        for rank in 1..ranks {
            let mut process = Command::new(env::current_exe()?)
                .arg("worker")
                .arg(model)
                .env(RANK, rank.to_string())
                .env(HOSTS, &file)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            if let (Some(orders), Some(words)) = (process.stdin.take(), process.stdout.take()) {
                let name = format!("Process {rank}");
                channels.push(Channel { name, words: Box::new(words), orders: Box::new(orders) });
            }
            processes.push(process);
        }
        let processes = Arc::new(Mutex::new(processes));
        Ok(LocalRing { channels, processes, layers: self.layers.clone(), _hosts: folder })
    }
}

impl LocalRing {
    /// Spreads a model that is about to be loaded over the processes.
    pub(super) fn spread(mut self, prepared: &mut Prepared) -> Result<Self, CliError> {
        let channels = std::mem::take(&mut self.channels);
        let (ranks, all) = (channels.len() + 1, prepared.layers());
        if self.layers.is_empty() {
            self.layers = (0..ranks).map(|rank| (rank + 1) * all / ranks - rank * all / ranks).collect();
        }
        let processes = Arc::clone(&self.processes);
        let on_loss = Box::new(move |loss: &Loss| {
            kill(&processes);
            eprintln!("foretoken-engine: {}", super::harmless(&ErrorReport::from(loss).to_string()));
        });
        prepared.spread(&self.layers, channels, Clocks::ONE_MACHINE, on_loss).map_err(engine)?;
        Ok(self)
    }
}

impl Drop for LocalRing {
    fn drop(&mut self) {
        kill(&self.processes);
    }
}

/// Ends processes, also one that stands still and would never end by itself.
fn kill(processes: &Mutex<Vec<Child>>) {
    for process in processes.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
        let _ = process.kill();
        let _ = process.wait();
    }
}
