//! Spreads a model over this Mac and others: connects them to a ring, and has the command carried out by a process of
//! its own that is rank 0 of it. A process has one place in one ring for as long as it lives.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use foretoken_engine::checkpoint::{PartFile, PartPiece, part_files};
use foretoken_engine::mlx::usable_memory;
use foretoken_engine::placement::{Hop, Machine, NoPlace, Placement, place, read_speed};
use foretoken_peers::{Borrower, Gift, GiftFile, GiftPiece, Lead, ModelId, Ring};
use foretoken_protocol::{ErrorReport, KvPrecision};
use tokio::process::Command;
use tokio::time::timeout;

use super::super::place::planned;
use super::super::{CliError, engine, harmless};
use super::peers::borrower;
use super::store::StoreOptions;
use super::{network, run};

/// How long rank 0 may take to say what became of a ring that is broken.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What is to be computed.
pub(crate) struct Model<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) kv_precision: KvPrecision,
    /// The folder of its draft model.
    pub(crate) draft: Option<&'a Path>,
}

/// The way to another Mac: its name, and a socket at whose other end its worker is.
#[derive(Debug, Clone)]
pub(crate) struct ChannelOption {
    pub(crate) name: String,
    pub(crate) socket: PathBuf,
}

impl std::str::FromStr for ChannelOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (socket, name) = text.split_once('=').ok_or("it must look like SOCKET=NAME")?;
        Ok(Self { name: name.to_owned(), socket: socket.into() })
    }
}

/// Carries the command of this process out over other Macs. `layers`: how many each gets, this one first; none for as
/// many as is best.
pub(crate) fn lead(
    names: &[String],
    model: &Model<'_>,
    layers: &[usize],
    macs: Option<PathBuf>,
) -> Result<ExitStatus, CliError> {
    let store = StoreOptions::at(macs).open()?;
    if let Some(twice) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
        return Err(CliError::Usage(format!("{} is named twice.", twice.1)));
    }
    let others: Vec<(&String, Borrower)> =
        names.iter().map(|name| Ok((name, borrower(&store, name)?))).collect::<Result<_, CliError>>()?;
    let name = std::fs::canonicalize(model.folder)
        .ok()
        .and_then(|model| Some(model.file_name()?.to_str()?.to_owned()));
    let name =
        name.ok_or_else(|| CliError::Usage(format!("{} is no folder of a model.", model.folder.display())))?;
    run(async {
        let machines = machines(&name, &others).await?;
        let (order, layers) = match layers {
            [] => {
                let placement = best(model, &machines)?;
                eprint!("{}", in_words(&placement));
                let others = placement.machines.iter().skip(1).map(|machine| machine.name.clone());
                (others.collect(), placement.machines.iter().map(|machine| machine.layers).collect())
            }
            layers => (names.to_vec(), layers.to_vec()),
        };
        let lenders: Vec<Borrower> = order
            .iter()
            .filter_map(|name| others.iter().find(|(other, _)| *other == name))
            .map(|(_, lender)| lender.clone())
            .collect();
        let id = give(model.folder, name, &lenders, &layers).await?;
        let mut ring = Ring::form(&lenders, &id, None).await.map_err(network)?;
        let lead = Lead::of(&mut ring, &lenders, &layers).await.map_err(network)?;
        let mut command = Command::new(std::env::current_exe().map_err(CliError::Output)?);
        let named = |name: &String| machines.iter().find(|machine| machine.name == *name);
        let used = machines.first().into_iter().chain(order.iter().filter_map(named));
        let speeds: Vec<String> = used.map(|machine| machine.bytes_per_second.to_string()).collect();
        command.args(arguments_without_macs()).args(&lead.arguments).args(["--speeds", &speeds.join(",")]);
        command.envs(lead.environment.clone());
        command.kill_on_drop(true);
        // Ctrl-C is for the process that does what was asked.
        tokio::spawn(async { while tokio::signal::ctrl_c().await.is_ok() {} });
        let mut process = command.spawn().map_err(CliError::Output)?;
        let ended = tokio::select! {
            ended = process.wait() => Some(ended),
            _ = ring.ended() => timeout(LAST_WORDS, process.wait()).await.ok(),
        };
        match ended {
            Some(ended) => ended.map_err(CliError::Output),
            None => {
                // It waits for somebody who has gone, and would do so for ever.
                let _ = process.start_kill();
                let _ = process.wait().await;
                Err(network(ErrorReport {
                    code: "mac_lost".into(),
                    message: "The connection between the Macs has ended.".into(),
                    hint: "Check that all of them are awake and connected, and try again.".into(),
                }))
            }
        }
    })
}

/// Gives each of the Macs what it has not got of its layers; what the model is called then.
async fn give(
    folder: &Path,
    name: String,
    lenders: &[Borrower],
    layers: &[usize],
) -> Result<ModelId, CliError> {
    let (layout, digest) = super::super::layers::planned(folder).map_err(engine)?;
    let id = ModelId { name, digest };
    let mut begin = layers.first().copied().unwrap_or(0);
    for (lender, count) in lenders.iter().zip(layers.iter().skip(1)) {
        let files = part_files(folder, &layout, begin..begin + count).map_err(engine)?;
        begin += count;
        let gift = Gift { model: id.clone(), files: files.into_iter().map(gift_file).collect() };
        let (mac, mut told, since, mut first) = (harmless(&lender.name()), None, Instant::now(), None);
        let progress = |done: u64, all: u64| {
            let first = *first.get_or_insert(done);
            let percent = done * 100 / all.max(1);
            if first < all && told != Some(percent) {
                told = Some(percent);
                let speed = (done - first) as f64 / since.elapsed().as_secs_f64().max(1e-3);
                let [done, all, speed] = [done as f64, all as f64, speed].map(|bytes| bytes / 1e9);
                eprint!("\r{mac} gets its layers: {done:.1} of {all:.1} GB, {speed:.2} GB/s");
            }
        };
        let given = lender.give(&gift, progress).await;
        if told.is_some() {
            eprintln!();
        }
        given.map_err(|error| network(error.of(lender.name())))?;
    }
    Ok(id)
}

fn gift_file(PartFile { name, header, length_first, pieces }: PartFile) -> GiftFile {
    let pieces =
        pieces.into_iter().map(|PartPiece { file, offset, bytes }| GiftPiece { file, offset, bytes });
    GiftFile { name, header, length_first, pieces: pieces.collect() }
}

/// What this process was called with, but for the Macs, which are connected here.
fn arguments_without_macs() -> Vec<OsString> {
    let mut left = Vec::new();
    let mut all = std::env::args_os().skip(1);
    while let Some(argument) = all.next() {
        match argument.to_str() {
            Some("--hosts" | "--macs" | "--layers") => _ = all.next(),
            Some(text) if ["--hosts=", "--macs=", "--layers="].iter().any(|name| text.starts_with(name)) => {}
            _ => left.push(argument),
        }
    }
    left
}

/// What this Mac and the others have for models. `id`: the model, for which a Mac may have more.
async fn machines(id: &str, others: &[(&String, Borrower)]) -> Result<Vec<Machine>, CliError> {
    let own_speed = read_speed().map_err(engine)?;
    let mut machines =
        vec![Machine { name: "This Mac".into(), usable: usable_memory(), bytes_per_second: own_speed }];
    for (name, lender) in others {
        let inventory = lender.inventory().await.map_err(network)?;
        let (usable, bytes_per_second) = (inventory.usable_for(id), inventory.bytes_per_second);
        machines.push(Machine { name: (*name).clone(), usable, bytes_per_second });
    }
    Ok(machines)
}

/// The way to spread a model over all of these machines by which a token takes least.
fn best(model: &Model<'_>, machines: &[Machine]) -> Result<Placement, CliError> {
    let (config, layout, draft) = planned(model.folder, model.kv_precision, model.draft).map_err(engine)?;
    place(&config, &layout, draft, machines, Hop::THUNDERBOLT, true).map_err(|error| match error {
        NoPlace::Checkpoint(error) => engine(error),
        error => CliError::Usage(error.to_string()),
    })
}

fn in_words(placement: &Placement) -> String {
    let part = |machine: &foretoken_engine::placement::Placed| {
        format!(
            "{}: {} layers, {:.1} GB",
            harmless(&machine.name),
            machine.layers,
            machine.needed as f64 / 1e9
        )
    };
    let parts: Vec<String> = placement.machines.iter().map(part).collect();
    format!("{}\n", parts.join("; "))
}
