//! Whether Auto takes what pays: fresh processes that write the same reply with each depth and with Auto, one after the
//! other. The measurements are not part of the suite; see `README.md`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use foretoken_engine::session::{Prepared, ReplyRequest};
use foretoken_protocol::{
    ChatMessage, Drafting, DraftingNote, GenerationSettings, KvPrecision, ReplyStats, Role, Sampling,
    Thinking,
};
use foretoken_tests::fixtures::{demo_draft_model, demo_model, endless_model};
use foretoken_tests::oracle::write_preset;
use foretoken_tests::programs::{built, released};
use serde_json::Value;

/// Processes of each kind in a measurement.
const PROCESSES: usize = 24;
/// Steps after which Auto must have settled.
const SETTLED: usize = 32;

/// What a process wrote.
struct Written {
    ids: Vec<u32>,
    stats: ReplyStats,
}

/// A reply of a fresh process. Two threads keep a loaded machine busy for its first second.
fn write(engine: &Path, model: &Path, depth: &str, tokens: usize, loaded: bool) -> Written {
    let drafting: &[&str] = if depth == "0" { &["--speculation", "off"] } else { &["--depth", depth] };
    let process = Command::new(engine)
        .args([
            "generate",
            "--json",
            "--temperature",
            "0",
            "--prompt",
            "Tell me a story about an owl and a bell.",
        ])
        .args(["--max-tokens", &tokens.to_string(), "--model"])
        .arg(model)
        .args(drafting)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(1);
    let busy = |_| thread::spawn(move || while Instant::now() < until {});
    let load: Vec<_> = if loaded { (0..2).map(busy).collect() } else { Vec::new() };
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    load.into_iter().for_each(|thread| thread.join().unwrap());
    let last = String::from_utf8(output.stdout).unwrap();
    let finished: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    let part = |name: &str| finished[name].clone();
    Written {
        ids: serde_json::from_value(part("ids")).unwrap(),
        stats: serde_json::from_value(part("stats")).unwrap(),
    }
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Drafts of most steps once it has settled.
fn settled_depth(stats: &ReplyStats) -> usize {
    let settled = SETTLED.div_ceil(stats.depth.steps_per_entry as usize);
    median(stats.depth.depths[settled..].iter().map(|&depth| f64::from(depth))).round() as usize
}

/// A model, the depths that Auto is compared with, the tokens of the replies that are timed, and of those that go on
/// long enough for Auto to settle.
struct Case<'a> {
    name: &'a str,
    model: &'a Path,
    depths: &'a [&'a str],
    timed: usize,
    settled: usize,
}

impl Case<'_> {
    /// Prints how fast each depth was, and how Auto compares with the fastest of them.
    fn compare(&self) {
        let engine = released("foretoken-engine");
        for loaded in [false, true] {
            let write = |depth: &str, tokens| write(&engine, self.model, depth, tokens, loaded).stats;
            let mut fixed = vec![Vec::new(); self.depths.len()];
            let (mut auto, mut settled) = (Vec::new(), Vec::new());
            for _ in 0..PROCESSES {
                for (speeds, depth) in fixed.iter_mut().zip(self.depths) {
                    speeds.push(write(depth, self.timed).tokens_per_second);
                }
                auto.push(write("auto", self.timed).tokens_per_second);
                settled.push(settled_depth(&write("auto", self.settled)));
            }
            let medians: Vec<f64> = fixed.iter().map(|speeds| median(speeds.iter().copied())).collect();
            let best = (0..fixed.len()).max_by(|&a, &b| medians[a].total_cmp(&medians[b])).unwrap();
            let best_depth: usize = self.depths[best].parse().unwrap();
            let ratio = median(auto.iter().zip(&fixed[best]).map(|(auto, best)| auto / best));
            let near = settled.iter().filter(|depth| depth.abs_diff(best_depth) <= 1).count();
            let load = if loaded { ", loaded for the first second" } else { "" };
            println!("{}{load}: tokens/s at {:?}: {medians:.1?}", self.name, self.depths);
            println!("  Auto has {ratio:.3} of depth {best_depth} in the median");
            println!("  {near} of {PROCESSES} settle beside it: {settled:?}");
        }
    }
}

/// A random checkpoint in a folder of its own.
fn preset(name: &str, parent: &Path, options: &[&str]) -> PathBuf {
    let folder = parent.join(name);
    write_preset(name, &folder, options);
    folder
}

#[test]
#[ignore = "measures for minutes on a machine that does nothing else"]
fn on_the_demo_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = &endless_model(folder.path());
    let case = Case { name: "demo model", model, depths: &["0", "1", "2", "3"], timed: 512, settled: 128 };
    case.compare();
}

#[test]
#[ignore = "measures for minutes on a machine that does nothing else"]
fn where_drafts_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let model = &preset("small-dense", folder.path(), &["--markov", "0", "0"]);
    let depths = &["0", "1", "2", "7"];
    Case { name: "drafts are right", model, depths, timed: 48, settled: 300 }.compare();
}

#[test]
#[ignore = "measures for minutes on a machine that does nothing else"]
fn where_drafts_are_never_right() {
    let folder = tempfile::tempdir().unwrap();
    let model = &preset("small-dense", folder.path(), &[]);
    let case =
        Case { name: "drafts are never right", model, depths: &["0", "1", "2"], timed: 48, settled: 48 };
    case.compare();
}

/// Every process writes the same, and Auto says why where drafts are never right.
#[test]
fn every_depth_writes_the_same_text() {
    let folder = tempfile::tempdir().unwrap();
    let engine = built("foretoken-engine");
    let write = |model: &Path, depth, tokens| write(&engine, model, depth, tokens, false);
    let drafted = |stats: &ReplyStats| stats.positions.first().map_or(0, |first| first.drafted);
    let (demo, random) = (endless_model(folder.path()), preset("tiny-dense", folder.path(), &[]));
    for (model, right) in [(demo, true), (random, false)] {
        let plain = write(&model, "0", 48);
        assert_eq!(plain.ids.len(), 48);
        let like_plain = |depth, tokens| {
            let Written { ids, stats } = write(&model, depth, tokens);
            assert_eq!(ids[..48], plain.ids, "{model:?} at {depth}");
            stats
        };
        let stats = like_plain("2", 48);
        assert_eq!(stats.steps < 40, right, "{stats:?}");
        if right {
            like_plain("auto", 48);
            continue;
        }
        // What else the machine does can make steps without drafts look slow throughout a reply, though not each time.
        let mut tried = Vec::new();
        let gave_up = |stats: &ReplyStats| {
            drafted(stats) < stats.steps / 2
                && matches!(stats.drafting_note, Some(DraftingNote::NotPaying { .. }))
        };
        while !tried.last().is_some_and(gave_up) {
            assert!(tried.len() < 4, "{tried:?}");
            tried.push(like_plain("auto", 240));
        }
    }
}

/// Replies to each of these are timed.
const ROUNDS: usize = 40;

fn chat(messages: &[(Role, &str)]) -> Vec<ChatMessage> {
    messages.iter().map(|&(role, text)| ChatMessage::new(role, text)).collect()
}

/// Auto beside every fixed choice in one process, as in the app: each round writes the reply in every way, in another
/// order. Printed is what Auto has of the choice that is best over all rounds, with the interval of 95 % of the
/// geometric mean over the rounds.
#[test]
#[ignore = "measures for minutes on a machine that does nothing else"]
fn on_texts_of_each_kind() {
    let mut prepared = Prepared::read(&demo_model(), KvPrecision::Full).unwrap();
    prepared.set_draft_model(&demo_draft_model()).unwrap();
    let mut session = prepared.load(None, &mut |_, _| ControlFlow::Continue(())).unwrap();
    let words = "Repeat this: apple boat candle drum engine forest garden hammer island jacket kettle ladder mirror \
                 needle orange";
    let code = "This Python function adds two numbers:\n\n```python\ndef add(a, b):\n    return a + b\n```";
    let kinds = [
        ("a story", chat(&[(Role::User, "Tell me a story about an owl and a bell.")])),
        ("a text that is quoted", chat(&[(Role::User, words)])),
        (
            "code that is changed",
            chat(&[
                (Role::User, "Write a Python function that adds two numbers."),
                (Role::Assistant, code),
                (Role::User, "Write a Python function called sum2 that adds two numbers."),
            ]),
        ),
    ];
    let ways = [
        ("off", Drafting::Off),
        ("MTP 1", Drafting::Fixed { depth: 1 }),
        ("MTP 2", Drafting::Fixed { depth: 2 }),
        ("MTP 3", Drafting::Fixed { depth: 3 }),
        ("DFlash 3", Drafting::Dflash { depth: Some(3) }),
        ("DFlash 7", Drafting::Dflash { depth: Some(7) }),
        ("look-up", Drafting::Lookup),
        ("Auto", Drafting::Auto),
    ];
    for (kind, messages) in kinds {
        let mut speeds = ways.map(|_| Vec::with_capacity(ROUNDS));
        let mut written: Option<Vec<u32>> = None;
        for round in 0..=ROUNDS {
            for place in 0..ways.len() {
                let way = (place + round) % ways.len();
                let prompt = session.chat_prompt(&messages, None, false).unwrap();
                let settings = GenerationSettings {
                    sampling: Sampling { temperature: 0.0, ..Sampling::default() },
                    drafting: ways[way].1,
                    max_tokens: 256,
                    thinking: Thinking::Off,
                    stop: Vec::new(),
                };
                let request = ReplyRequest::new(prompt, settings);
                let reply = session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap();
                assert_eq!(*written.get_or_insert_with(|| reply.ids.clone()), reply.ids, "{}", ways[way].0);
                // The first round compiles and learns.
                if round > 0 {
                    speeds[way].push(reply.stats.tokens_per_second);
                }
            }
        }
        println!("{kind}, {} tokens:", written.unwrap_or_default().len());
        let plain = median(speeds[0].iter().copied());
        for ((name, _), speeds) in ways.iter().zip(&speeds) {
            let speed = median(speeds.iter().copied());
            println!("  {name}: {speed:.1} tokens/s, {:.2} times plain", speed / plain);
        }
        let [fixed @ .., auto] = &speeds;
        let best = (0..fixed.len())
            .max_by(|&a, &b| median(fixed[a].iter().copied()).total_cmp(&median(fixed[b].iter().copied())));
        let best = best.unwrap();
        let logs: Vec<f64> = auto.iter().zip(&fixed[best]).map(|(auto, best)| (auto / best).ln()).collect();
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let half = 1.96 * (variance / count).sqrt();
        println!(
            "  Auto has {:.3} of {} ({:.3} to {:.3})",
            mean.exp(),
            ways[best].0,
            (mean - half).exp(),
            (mean + half).exp()
        );
    }
}
