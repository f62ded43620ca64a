//! Times the engine and its peers on the same checkpoints, by turns: whatever else the machine does hits all alike, and
//! a ratio is of two figures of the same round.

mod contestant;
mod machine;
mod table;
mod tower;

use std::fs;
use std::path::{self, Path, PathBuf};

use clap::Args;

use self::contestant::{Contestant, Drafter, Program, Reply, Run, engine_reply};
use self::table::{Entry, table};
use crate::error::{Error, Result};
use crate::prepared::write;
use crate::process;
use crate::setup;
use crate::workspace::{DEMO_DRAFT_MODEL, DEMO_MODEL, Workspace};

/// What all decode behind.
const QUESTION: &str = "Tell me a story about an owl and a bell.";
/// Length of the prompt whose reading is timed.
const PROMPT_TOKENS: u32 = 512;
/// All others are set beside it.
const BASE: &str = "mlx-lm";
const SCRIPT: &str = include_str!("peer.py");

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A model folder; may be repeated. Without it, the demo model with its draft model.
    #[arg(long, value_name = "DIR")]
    model: Vec<PathBuf>,
    /// The folder of a draft model that belongs to the models.
    #[arg(long, value_name = "DIR", requires = "model")]
    draft_model: Option<PathBuf>,
    /// Rounds; in each, every program runs once.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Tokens to decode.
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(4..))]
    tokens: u32,
    /// Print the table as Markdown.
    #[arg(long)]
    markdown: bool,
    /// Compare vision towers instead: one of Qwen3.5-0.8B's shape, with random weights, beside mlx-vlm's.
    #[arg(long, conflicts_with_all = ["model", "runs", "tokens", "markdown"])]
    towers: bool,
}

/// Prepares the peers, builds the engine, measures each model and prints a table of it.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if options.towers {
        setup::engine(workspace)?;
        return tower::run(workspace, &release(workspace)?);
    }
    let models = models(workspace, &options.model)?;
    let draft_model = match (&options.draft_model, options.model.is_empty()) {
        (Some(folder), _) => Some(with_config(folder)?),
        (None, true) => Some(workspace.root().join(DEMO_DRAFT_MODEL)),
        (None, false) => None,
    };
    setup::engine(workspace)?;
    let mut left_out = Vec::new();
    let mut contestants = Vec::new();
    for (name, drafts, prepare) in PEERS {
        match prepare(workspace).and_then(|python| peer(workspace, name, python)) {
            Ok(program) if drafts => contestants.extend(ways(&program, draft_model.as_ref())),
            Ok(program) => contestants.push(Contestant { program, drafter: Drafter::Nobody }),
            Err(error) => leave_out(&mut left_out, name, &error),
        }
    }
    let engine = release(workspace)?;
    let ours = ways(&Program::Foretoken(engine.clone()), draft_model.as_ref());
    contestants = ours.into_iter().chain(contestants).collect();
    let version = version(workspace, &engine)?;
    for model in models {
        let comparison = Comparison::measure(workspace, &engine, &contestants, &model, options)?;
        let left_out = [left_out.as_slice(), &comparison.left_out].concat();
        println!("\n{}", comparison.told(workspace, &version, &left_out, options));
    }
    Ok(())
}

/// Builds the engine as it is shipped.
fn release(workspace: &Workspace) -> Result<PathBuf> {
    process::show(workspace.cargo().args(["build", "--release", "--locked", "--bin", "foretoken-engine"]))?;
    workspace.built("release", "foretoken-engine")
}

/// A peer's name, whether it drafts, and what installs it.
type Peer = (&'static str, bool, fn(&Workspace) -> Result<PathBuf>);

/// mlx-lm leaves the MTP head out.
const PEERS: [Peer; 2] = [(BASE, false, setup::mlx_lm), ("mlx-vlm", true, setup::mlx_vlm)];

/// The ways to run a program that drafts, the one without drafts first.
fn ways(program: &Program, draft_model: Option<&PathBuf>) -> Vec<Contestant> {
    let drafters =
        [Drafter::Nobody, Drafter::Head].into_iter().chain(draft_model.cloned().map(Drafter::DraftModel));
    drafters.map(|drafter| Contestant { program: program.clone(), drafter }).collect()
}

fn peer(workspace: &Workspace, name: &'static str, python: PathBuf) -> Result<Program> {
    let folder = workspace.target().join("compare");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let script = folder.join("peer.py");
    write(&script, SCRIPT)?;
    Ok(Program::Peer { name, python, script })
}

/// The folders that were asked for, seen from where the person is.
fn models(workspace: &Workspace, asked: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let demo = [workspace.root().join(DEMO_MODEL)];
    let folders = if asked.is_empty() { &demo[..] } else { asked };
    folders.iter().map(|folder| with_config(folder)).collect()
}

fn with_config(folder: &Path) -> Result<PathBuf> {
    let path = path::absolute(folder).map_err(Error::file(folder))?;
    if path.join("config.json").is_file() { Ok(path) } else { Err(Error::NoModel { path }) }
}

/// The engine's version and the commit that it was built from.
fn version(workspace: &Workspace, engine: &Path) -> Result<String> {
    let version = process::read(workspace.command(engine).arg("--version"))?;
    let version = version.trim().replace("foretoken-engine", "Foretoken");
    let commit = process::read(workspace.command("git").args(["describe", "--always", "--dirty"]));
    Ok(commit.map_or_else(|_| version.clone(), |commit| format!("{version} ({})", commit.trim())))
}

fn leave_out(left_out: &mut Vec<String>, name: &str, error: &Error) {
    let line = format!("{name} is left out: {}", last_line(&error.to_string()));
    eprintln!("{line}");
    left_out.push(line);
}

fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it did not say why")
}

/// Who runs in a round, in this order: each has every place in turn.
fn order(round: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |place| (place + round) % count)
}

/// The figures of one model.
struct Comparison {
    model: String,
    device: String,
    entries: Vec<Entry>,
    /// Versions of the peers.
    peers: Vec<String>,
    left_out: Vec<String>,
    text: Option<String>,
}

impl Comparison {
    fn measure(
        workspace: &Workspace,
        engine: &Path,
        contestants: &[Contestant],
        model: &Path,
        options: &Options,
    ) -> Result<Self> {
        // Before anything is timed: whoever loads first reads from the disk, and all others from memory.
        let reply = engine_reply(workspace, engine, model, options.tokens)?;
        let mut runs: Vec<Option<Vec<Run>>> = contestants.iter().map(|_| Some(Vec::new())).collect();
        let mut left_out = Vec::new();
        let mut device = None;
        for round in 0..options.runs as usize {
            for index in order(round, contestants.len()) {
                let (Some(contestant), Some(Some(so_far))) = (contestants.get(index), runs.get_mut(index))
                else {
                    continue;
                };
                eprintln!(
                    "{}, round {} of {}: {}",
                    model.display(),
                    round + 1,
                    options.runs,
                    contestant.name()
                );
                let run = contestant.run(workspace, model, options.tokens).and_then(|run| {
                    // The first of the first round is Foretoken.
                    let ours = device.get_or_insert_with(|| run.device.clone());
                    if *ours == run.device {
                        Ok(run)
                    } else {
                        Err(Error::Device { device: run.device, ours: ours.clone() })
                    }
                });
                match run {
                    Ok(run) => so_far.push(run),
                    // There is nothing to compare without the engine.
                    Err(error) if index == 0 => return Err(error),
                    Err(error) => {
                        leave_out(&mut left_out, &contestant.name(), &error);
                        runs[index] = None;
                    }
                }
            }
        }
        let mut comparison = Self {
            model: String::new(),
            device: device.unwrap_or_default(),
            entries: Vec::new(),
            peers: Vec::new(),
            left_out,
            text: None,
        };
        for (contestant, runs) in contestants.iter().zip(runs) {
            if let Some(runs) = runs {
                comparison.add(contestant, runs, &reply);
            }
        }
        Ok(comparison)
    }

    fn add(&mut self, contestant: &Contestant, runs: Vec<Run>, ours: &Reply) {
        if let Some(Run { about, reply, .. }) = runs.first() {
            match reply {
                None => self.model.clone_from(about),
                Some(_) if self.peers.contains(about) => {}
                Some(_) => self.peers.push(about.clone()),
            }
            if let Some(reply) = reply.as_ref().filter(|_| contestant.program() == BASE) {
                self.text = Some(same_text(ours, reply));
            }
        }
        let rounds = runs.into_iter().map(|run| run.figures).collect();
        self.entries.push(Entry { program: contestant.program(), rounds });
    }

    /// The table with what one must know to read it.
    fn told(&self, workspace: &Workspace, version: &str, left_out: &[String], options: &Options) -> String {
        let Self { model, device, peers, .. } = self;
        let programs: Vec<&str> = std::iter::once(version).chain(peers.iter().map(String::as_str)).collect();
        let mut notes = vec![
            machine::describe(workspace),
            programs.join("; "),
            format!(
                "Rounds: {}; in each of them every program once, in a fresh process, in another order. A ratio is of \
                 two figures of the same round. Without drafts, with MTP and with DFlash are processes of their own.",
                options.runs
            ),
            format!(
                "Prefill: {PROMPT_TOKENS} pseudo-random tokens, the same for all. Decoding: {} tokens, greedy, stop \
                 tokens ignored, after the same question. Each process does both once before it counts.",
                options.tokens
            ),
            format!(
                "Load: weights and tokenizer, less is better; starting a process and Python's imports do not count. \
                 Foretoken's is a first load, which also finds out what drafts take; later ones know it. \
                 {BASE} leaves the MTP head out: what is decoded with it stands beside {BASE}'s plain decoding. \
                 mlx-vlm's figures with drafts include that the drafter reads the question."
            ),
        ];
        notes.extend(self.text.clone());
        notes.extend_from_slice(left_out);
        let list: String = notes.iter().map(|note| format!("- {note}\n")).collect();
        let table = table(&self.entries, BASE, options.markdown);
        format!("{model}, on {device}, {}\n\n{table}\n{list}", machine::date(workspace))
    }
}

/// Whether a peer read and wrote the same tokens. The engine's reply ends where the model ends it.
fn same_text(ours: &Reply, peers: &Reply) -> String {
    if ours.prompt_tokens != peers.prompt_tokens {
        return format!(
            "WARNING: the question is {} tokens for Foretoken and {} for {BASE}: they do not do the same work.",
            ours.prompt_tokens, peers.prompt_tokens
        );
    }
    let equal = ours.ids.iter().zip(&peers.ids).take_while(|(ours, peers)| ours == peers).count();
    let compared = ours.ids.len().min(peers.ids.len());
    format!(
        "The question is {} tokens; of the greedy replies of Foretoken and {BASE} the first {equal} of {compared} \
         tokens are the same, up to where the model ends its reply.",
        ours.prompt_tokens
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(prompt_tokens: usize, ids: &[u32]) -> Reply {
        Reply { prompt_tokens, ids: ids.to_vec() }
    }

    #[test]
    fn each_has_every_place_in_turn() {
        let rounds: Vec<Vec<usize>> = (0..4).map(|round| order(round, 3).collect()).collect();
        assert_eq!(rounds, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
    }

    #[test]
    fn a_failure_is_told_by_its_last_line() {
        let trace = "`python` failed (exit status: 1):\nTraceback:\n  File \"x\"\nValueError: no head\n\n";
        assert_eq!(last_line(trace), "ValueError: no head");
    }

    #[test]
    fn other_work_is_named() {
        let told = same_text(&reply(26, &[1, 2, 3]), &reply(26, &[1, 2, 4, 5]));
        assert!(told.contains("26 tokens") && told.contains("first 2 of 3"), "{told}");
        let told = same_text(&reply(26, &[1]), &reply(30, &[1]));
        assert!(told.starts_with("WARNING") && told.contains("26") && told.contains("30"), "{told}");
    }

    #[test]
    fn a_folder_without_a_model_is_refused() {
        let workspace = Workspace::locate();
        assert_eq!(models(&workspace, &[]).unwrap(), [workspace.root().join(DEMO_MODEL)]);
        let refused = models(&workspace, &["/nowhere".into()]).unwrap_err().to_string();
        assert!(refused.contains("/nowhere") && refused.contains("--model"), "{refused}");
    }
}
