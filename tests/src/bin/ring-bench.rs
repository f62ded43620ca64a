//! What it costs to have a model in several processes of this machine: tokens a second beside one process, by turns in
//! one run, and the messages and bytes that the first process sends for each step. With more processes than processors
//! the times say little.

use std::env;
use std::process::Command;

use foretoken_tests::fixtures::demo_model;
use serde_json::Value;

const ROUNDS: usize = 5;
const TOKENS: &str = "200";

/// What one reply took.
struct Run {
    tokens_per_second: f64,
    /// Messages and bytes for each step, those of the prompt among them.
    sent: Option<(f64, f64)>,
}

fn main() {
    let model = env::args_os().nth(1).map_or_else(demo_model, Into::into);
    let ways: [&[&str]; 3] = [&[], &["--ring-test", "2"], &["--ring-test", "3"]];
    for depth in ["0", "2"] {
        let mut runs: Vec<Vec<Run>> = ways.iter().map(|_| Vec::new()).collect();
        for _ in 0..ROUNDS {
            for (way, runs) in ways.iter().zip(&mut runs) {
                runs.push(run(model.as_os_str(), depth, way));
            }
        }
        println!("{depth} drafts a step, median of {ROUNDS} replies of {TOKENS} tokens, greedy");
        let alone = median(&runs[0]);
        for (way, runs) in ways.iter().zip(&runs) {
            let (processes, speed) = (way.last().unwrap_or(&"1"), median(runs));
            let sent = runs[0].sent.map_or(String::new(), |(messages, bytes)| {
                format!(", {messages:.2} messages and {:.2} KB a step (counted)", bytes / 1e3)
            });
            println!("  {processes}: {speed:.1} tokens/s, {:.2} of one process{sent}", speed / alone);
        }
    }
}

fn run(model: &std::ffi::OsStr, depth: &str, way: &[&str]) -> Run {
    let speculation: &[&str] =
        if depth == "0" { &["--speculation", "off"] } else { &["--speculation", "mtp", "--depth", depth] };
    let engine = env::current_exe().expect("it runs").with_file_name("foretoken-engine");
    let output = Command::new(engine)
        .args(["generate", "--json", "--prompt", "Tell me a long story about the sea.", "--model"])
        .arg(model)
        .args(["--max-tokens", TOKENS, "--temperature", "0", "--thinking", "off"])
        .args(speculation)
        .args(way)
        .output()
        .expect("the engine is built");
    let text = String::from_utf8_lossy(&output.stdout);
    let finished: Value =
        text.lines().last().map(|line| serde_json::from_str(line).unwrap()).unwrap_or_default();
    let stats = &finished["stats"];
    let number = |value: &Value| value.as_f64();
    let passes = number(&stats["steps"]).unwrap_or(1.0);
    let sent = number(&finished["sent"]["messages"]).zip(number(&finished["sent"]["bytes"]));
    Run {
        tokens_per_second: number(&stats["tokens_per_second"])
            .unwrap_or_else(|| panic!("{text} {}", String::from_utf8_lossy(&output.stderr))),
        sent: sent.map(|(messages, bytes)| (messages / passes, bytes / passes)),
    }
}

fn median(runs: &[Run]) -> f64 {
    let mut speeds: Vec<f64> = runs.iter().map(|run| run.tokens_per_second).collect();
    speeds.sort_by(f64::total_cmp);
    speeds[speeds.len() / 2]
}
