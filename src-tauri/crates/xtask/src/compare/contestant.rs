//! Those that are compared: how each is started, and what it prints.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::table::{Figures, Measure};
use super::{PROMPT_TOKENS, QUESTION};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// The depths that are measured, of the MTP head and of a draft model.
const DRAFTS: &str = "1,2,3";
const BLOCKS: &str = "3,7";

/// A way to run a program. With a drafter it is a process of its own, so that one that cannot draft is measured
/// without.
#[derive(Debug)]
pub(super) struct Contestant {
    pub(super) program: Program,
    pub(super) drafter: Drafter,
}

/// Who drafts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Drafter {
    Nobody,
    /// The model's MTP head.
    Head,
    /// The draft model in a folder.
    DraftModel(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Program {
    /// The engine's program.
    Foretoken(PathBuf),
    Peer {
        name: &'static str,
        /// The Python that has it.
        python: PathBuf,
        script: PathBuf,
    },
}

/// What one process did.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) figures: Figures,
    /// metal, cuda or cpu.
    pub(super) device: String,
    /// Of Foretoken the model and its format, of a peer its version and MLX's.
    pub(super) about: String,
    /// Of a peer.
    pub(super) reply: Option<Reply>,
}

/// A greedy reply to the question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) prompt_tokens: usize,
    pub(super) ids: Vec<u32>,
}

impl Contestant {
    /// As the table names it.
    pub(super) fn program(&self) -> &'static str {
        match self.program {
            Program::Foretoken(_) => "Foretoken",
            Program::Peer { name, .. } => name,
        }
    }

    pub(super) fn name(&self) -> String {
        let with = match self.drafter {
            Drafter::Nobody => "",
            Drafter::Head => " with MTP",
            Drafter::DraftModel(_) => " with DFlash",
        };
        format!("{}{with}", self.program())
    }

    /// Measures a model once, in a process of its own.
    pub(super) fn run(&self, workspace: &Workspace, model: &Path, tokens: u32) -> Result<Run> {
        let mut command = match &self.program {
            Program::Foretoken(engine) => bench(workspace, engine, &self.drafter),
            Program::Peer { name, python, script } => {
                let mut command = workspace.command(python);
                command.env("HF_HUB_OFFLINE", "1").arg(script).arg(name);
                command.arg(model).arg(QUESTION).arg("--tokens").arg(tokens.to_string());
                match &self.drafter {
                    Drafter::Nobody => &mut command,
                    Drafter::Head => command.args(["--drafts", DRAFTS]),
                    Drafter::DraftModel(folder) => {
                        command.args(["--drafts", BLOCKS, "--draft-model"]).arg(folder)
                    }
                };
                command
            }
        };
        if let Program::Foretoken(_) = self.program {
            command.arg("--model").arg(model).arg("--gen-tokens").arg(tokens.to_string());
        }
        let text = process::read(command.args(["--prompt-tokens", &PROMPT_TOKENS.to_string()]))?;
        let run = match self.program {
            Program::Foretoken(_) => engine_run(&text, &self.drafter),
            Program::Peer { name, .. } => peer_run(&text, name, &self.drafter),
        };
        run.map_err(|error| Error::Output { line: process::line(&command), why: error.to_string() })
    }
}

/// Without drafts the head does not read the prompt either; with them, Auto knows what look-up costs.
fn bench(workspace: &Workspace, engine: &Path, drafter: &Drafter) -> Command {
    let mut command = workspace.command(engine);
    command.args(["bench", "--json", "--runs", "1", "--question", QUESTION]);
    match drafter {
        Drafter::Nobody => command.args(["--speculation", "off", "--decoding-only"]),
        Drafter::Head => command.args(["--depths", DRAFTS, "--decoding-only"]),
        Drafter::DraftModel(folder) => {
            let options = ["--speculation", "dflash", "--block-depths", BLOCKS, "--decoding-only"];
            command.args(options).arg("--draft-model").arg(folder)
        }
    };
    command
}

/// The engine's greedy reply, until the model ends it.
pub(super) fn engine_reply(workspace: &Workspace, engine: &Path, model: &Path, tokens: u32) -> Result<Reply> {
    let mut command = workspace.command(engine);
    command.arg("generate").arg("--model").arg(model).args(["--prompt", QUESTION, "--thinking", "off"]);
    command.args(["--speculation", "off", "--temperature", "0", "--repetition-penalty", "1"]);
    command.args(["--presence-penalty", "0", "--frequency-penalty", "0", "--json", "--max-tokens"]);
    let text = process::read(command.arg(tokens.to_string()))?;
    finished(&text).map_err(|error| Error::Output { line: process::line(&command), why: error.to_string() })
}

/// What the report of `bench` has of interest here.
#[derive(Deserialize)]
struct Report {
    model: String,
    format: String,
    device: String,
    load_seconds: Median,
    prefill_tokens_per_second: Median,
    /// One: the answer to the question.
    texts: [Text; 1],
}

#[derive(Deserialize)]
struct Text {
    depths: Vec<Depth>,
    dflash: Vec<Depth>,
    auto: Option<Speed>,
}

#[derive(Deserialize)]
struct Median {
    median: f64,
}

#[derive(Deserialize)]
struct Depth {
    depth: u8,
    tokens_per_second: Median,
}

#[derive(Deserialize)]
struct Speed {
    tokens_per_second: Median,
}

fn engine_run(text: &str, drafter: &Drafter) -> serde_json::Result<Run> {
    let report: Report = serde_json::from_str(text)?;
    let prefill = report.prefill_tokens_per_second.median;
    let [text] = &report.texts;
    let depths = if matches!(drafter, Drafter::DraftModel(_)) { &text.dflash } else { &text.depths };
    let mut figures: Figures = depths.iter().map(|depth| depth.figure(drafter)).collect();
    match drafter {
        Drafter::Nobody => {
            figures.extend([(Measure::Load, report.load_seconds.median), (Measure::Prefill, prefill)]);
        }
        Drafter::Head => {
            figures.insert(Measure::PrefillDrafting, prefill);
            figures.extend(text.auto.as_ref().map(|auto| (Measure::Auto, auto.tokens_per_second.median)));
        }
        Drafter::DraftModel(_) => {}
    }
    let about = format!("{}, {}", report.model, report.format);
    Ok(Run { figures, device: report.device, about, reply: None })
}

impl Depth {
    fn figure(&self, drafter: &Drafter) -> (Measure, f64) {
        let measure = match (self.depth, drafter) {
            (0, _) | (_, Drafter::Nobody) => Measure::Plain,
            (depth, Drafter::Head) => Measure::Drafts(depth),
            (depth, Drafter::DraftModel(_)) => Measure::Block(depth),
        };
        (measure, self.tokens_per_second.median)
    }
}

/// The last line of `generate`.
#[derive(Deserialize)]
struct Finished {
    ids: Vec<u32>,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    prompt_tokens: usize,
}

fn finished(text: &str) -> serde_json::Result<Reply> {
    let Finished { ids, stats } = serde_json::from_str(text.lines().last().unwrap_or_default())?;
    Ok(Reply { prompt_tokens: stats.prompt_tokens, ids })
}

/// What `peer.py` prints.
#[derive(Deserialize)]
struct Peer {
    version: String,
    mlx: String,
    device: String,
    prompt_tokens: usize,
    ids: Vec<u32>,
    load: Option<f64>,
    prefill: Option<f64>,
    /// Tokens per second, by depth.
    decode: Vec<(u8, f64)>,
}

/// A peer's modules may print lines of their own before.
fn peer_run(text: &str, name: &str, drafter: &Drafter) -> serde_json::Result<Run> {
    let peer: Peer = serde_json::from_str(text.lines().last().unwrap_or_default())?;
    let speeds =
        peer.decode.into_iter().map(|(depth, median)| Depth { depth, tokens_per_second: Median { median } });
    let mut figures: Figures = speeds.map(|depth| depth.figure(drafter)).collect();
    figures.extend(peer.load.map(|seconds| (Measure::Load, seconds)));
    figures.extend(peer.prefill.map(|speed| (Measure::Prefill, speed)));
    Ok(Run {
        figures,
        device: peer.device,
        about: format!("{name} {} on MLX {}", peer.version, peer.mlx),
        reply: Some(Reply { prompt_tokens: peer.prompt_tokens, ids: peer.ids }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{
        "model": "owl", "format": "4-bit", "device": "cpu", "runs": 1,
        "load_seconds": {"median": 0.5, "min": 0.5, "max": 0.5},
        "prefill_tokens_per_second": {"median": 900.0, "min": 900.0, "max": 900.0},
        "texts": [{
            "kind": "any",
            "depths": [
                {"depth": 1, "tokens_per_second": {"median": 110.0, "min": 110.0, "max": 110.0}, "speed_up": null},
                {"depth": 3, "tokens_per_second": {"median": 130.0, "min": 130.0, "max": 130.0}, "speed_up": null}
            ],
            "dflash": [{"depth": 7, "tokens_per_second": {"median": 150.0, "min": 150.0, "max": 150.0}}],
            "auto": {"tokens_per_second": {"median": 140.0, "min": 140.0, "max": 140.0}, "note": null}
        }]
    }"#;

    #[test]
    fn a_report_of_the_engine_gives_its_figures() {
        use Measure::{Auto, Block, Drafts, Load, Plain, Prefill, PrefillDrafting};
        let run = engine_run(REPORT, &Drafter::Head).unwrap();
        let expected = [(PrefillDrafting, 900.0), (Drafts(1), 110.0), (Drafts(3), 130.0), (Auto, 140.0)];
        assert_eq!(run.figures, expected.into());
        assert_eq!((run.device.as_str(), run.about.as_str()), ("cpu", "owl, 4-bit"));

        let plain: serde_json::Value = serde_json::from_str(REPORT).unwrap();
        let mut plain = plain;
        let depths = serde_json::json!([{"depth": 0, "tokens_per_second": {"median": 100.0}}]);
        plain["texts"] = serde_json::json!([{"depths": depths, "dflash": [], "auto": null}]);
        let run = engine_run(&plain.to_string(), &Drafter::Nobody).unwrap();
        assert_eq!(run.figures, [(Load, 0.5), (Prefill, 900.0), (Plain, 100.0)].into());
        let run = engine_run(REPORT, &Drafter::DraftModel("draft".into())).unwrap();
        assert_eq!(run.figures, [(Block(7), 150.0)].into());
        assert!(engine_run("{}", &Drafter::Nobody).is_err());
    }

    #[test]
    fn the_last_line_of_a_peer_gives_its_figures() {
        let text = "Loading …\n{\"version\": \"1.2\", \"mlx\": \"3.4\", \"device\": \"cpu\", \"prompt_tokens\": 26, \
            \"ids\": [5, 6], \"load\": 0.1, \"prefill\": 800.0, \"decode\": [[0, 90.0]]}\n";
        let run = peer_run(text, "mlx-lm", &Drafter::Nobody).unwrap();
        let expected = [(Measure::Load, 0.1), (Measure::Prefill, 800.0), (Measure::Plain, 90.0)];
        assert_eq!(run.figures, expected.into());
        assert_eq!(run.about, "mlx-lm 1.2 on MLX 3.4");
        assert_eq!(run.reply, Some(Reply { prompt_tokens: 26, ids: vec![5, 6] }));
        assert!(peer_run("", "mlx-lm", &Drafter::Nobody).is_err());
    }

    #[test]
    fn the_last_line_of_a_reply_has_its_tokens() {
        let text = "{\"type\":\"token\",\"id\":5}\n{\"type\":\"finished\",\"ids\":[5,6],\"stats\":{\"prompt_tokens\":26}}\n";
        assert_eq!(finished(text).unwrap(), Reply { prompt_tokens: 26, ids: vec![5, 6] });
    }
}
