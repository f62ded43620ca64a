//! One model over several processes: of other Macs, or of this machine, as over as many Macs, to try what comes of it.

use std::env;
use std::io::{self, IsTerminal};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio, exit};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use foretoken_engine::link::{Channel, Clocks, Loss, OnLoss, write_hosts};
use foretoken_engine::mlx::environment::{HOSTS, RANK, set_ring};
use foretoken_engine::session::{Prepared, RingSeat};
use foretoken_protocol::ErrorReport;
use tempfile::TempDir;

use super::macs::{ChannelOption, Model, lead};
use super::{CliError, engine};

/// Over what a model is spread.
#[derive(Debug, Args)]
pub(super) struct RingOptions {
    /// Spread the model over so many processes of this machine, as over as many Macs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=8))]
    ring_test: Option<u8>,
    /// Spread the model over this Mac and these ones, which are paired with it and have the model too.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "ring_test")]
    hosts: Vec<String>,
    /// How many of its layers each gets, the first of them this one; by memory and speed where nothing is said.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    layers: Vec<usize>,
    /// The most steps that are under way at a time, where several replies are written, and chunks of a prompt; as many
    /// as there are Macs where nothing is said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    in_flight: Option<u8>,
    /// Where keys and paired Macs are kept.
    #[arg(long, value_name = "DIR", requires = "hosts")]
    macs: Option<PathBuf>,
    /// Where the other processes are, for the process that the ring was made for.
    #[arg(long, hide = true, value_name = "SOCKET=NAME", conflicts_with_all = ["hosts", "ring_test"])]
    channel: Vec<ChannelOption>,
    /// How many bytes of weights each of them reads in a second, this one first.
    #[arg(long, hide = true, requires = "channel", value_delimiter = ',')]
    speeds: Vec<u64>,
    /// All of them are on this machine, and share its processors.
    #[arg(long, hide = true, requires = "channel")]
    one_machine: bool,
}

/// The other processes, which end with this one.
#[derive(Debug)]
pub(super) struct OtherProcesses {
    channels: Vec<Channel>,
    /// Those that were started here.
    processes: Arc<Mutex<Vec<Child>>>,
    layers: Vec<usize>,
    most_in_flight: Option<usize>,
    /// How many bytes of weights each reads in a second; none where it is not known.
    speeds: Vec<u64>,
    clocks: Clocks,
    /// Where each listens, for as long as they join.
    _hosts: Option<TempDir>,
}

impl RingOptions {
    /// Whether the other processes are started from here, with a model that must be known.
    pub(super) fn starts(&self) -> bool {
        self.ring_test.is_some() || !self.hosts.is_empty()
    }

    /// Finds or starts the other processes, with the model in a folder, and gives this one its place. To be called
    /// first, while there is one thread. Over other Macs the command is carried out by another process, and this one
    /// ends with it.
    pub(super) fn start(&self, model: &Model<'_>) -> Result<Option<OtherProcesses>, CliError> {
        if !self.hosts.is_empty() {
            let ended = lead(&self.hosts, model, &self.layers, self.macs.clone())?;
            exit(ended.code().unwrap_or(1));
        }
        let (found, what) = match self.ring_test {
            Some(ranks) => (self.start_ranks(model.folder, ranks.into()), "started"),
            None if self.channel.is_empty() => {
                let for_rings =
                    [("--layers", !self.layers.is_empty()), ("--in-flight", self.in_flight.is_some())];
                return match for_rings.iter().find(|(_, is_given)| *is_given) {
                    Some((name, _)) => Err(CliError::Usage(format!(
                        "{name} is for a model that is spread, by --hosts or --ring-test."
                    ))),
                    None => Ok(None),
                };
            }
            None => (self.connect(), "reached"),
        };
        found.map(Some).map_err(|error| CliError::Usage(format!("The processes cannot be {what}: {error}.")))
    }

    /// Connects to processes that this one's place in a ring was made for.
    fn connect(&self) -> io::Result<OtherProcesses> {
        let channel = |ChannelOption { name, socket }: &ChannelOption| {
            let words = UnixStream::connect(socket)?;
            let orders = Box::new(words.try_clone()?);
            Ok(Channel { name: name.clone(), words: Box::new(words), orders })
        };
        Ok(OtherProcesses {
            channels: self.channel.iter().map(channel).collect::<io::Result<_>>()?,
            processes: Arc::default(),
            layers: self.layers.clone(),
            most_in_flight: self.in_flight.map(usize::from),
            speeds: self.speeds.clone(),
            clocks: if self.one_machine { Clocks::ONE_MACHINE } else { Clocks::MACHINES },
            _hosts: None,
        })
    }

    fn start_ranks(&self, model: &Path, ranks: usize) -> io::Result<OtherProcesses> {
        let folder = tempfile::tempdir()?;
        let file = write_hosts(ranks, folder.path())?;
        set_ring(0, &file);
        let (mut channels, mut processes) = (Vec::new(), Vec::new());
        for rank in 1..ranks {
            let mut process = Command::new(env::current_exe()?)
                .arg("worker")
                .arg(model)
                .env(RANK, rank.to_string())
                .env(HOSTS, &file)
                // Ctrl-C in a terminal is for whoever asks.
                .process_group(0)
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
        let (layers, clocks) = (self.layers.clone(), Clocks::ONE_MACHINE);
        let most_in_flight = self.in_flight.map(usize::from);
        Ok(OtherProcesses {
            channels,
            processes,
            layers,
            most_in_flight,
            speeds: Vec::new(),
            clocks,
            _hosts: Some(folder),
        })
    }
}

impl OtherProcesses {
    /// Spreads a model that is about to be loaded over the processes.
    pub(super) fn spread(mut self, prepared: &mut Prepared) -> Result<Self, CliError> {
        prepared.spread(self.seat()).map_err(engine)?;
        Ok(self)
    }

    /// How many bytes of weights each reads in a second, this one first; none where it is not known.
    pub(super) fn speeds(&self) -> &[u64] {
        &self.speeds
    }

    /// The place of this process among them, for the model that it is asked to load.
    pub(super) fn seat(&mut self) -> RingSeat {
        let (channels, layers) = (std::mem::take(&mut self.channels), self.layers.clone());
        let (most_in_flight, clocks) = (self.most_in_flight, self.clocks);
        RingSeat { channels, layers, most_in_flight, clocks, on_loss: self.on_loss() }
    }

    fn on_loss(&self) -> OnLoss {
        let processes = Arc::clone(&self.processes);
        Box::new(move |loss: &Loss| {
            kill(&processes);
            if io::stdin().is_terminal() {
                // It may be read from key by key.
                let _ = Command::new("stty").arg("sane").status();
            }
            eprintln!("foretoken-engine: {}", super::harmless(&ErrorReport::from(loss).to_string()));
        })
    }
}

impl Drop for OtherProcesses {
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
