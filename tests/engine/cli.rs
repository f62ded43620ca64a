//! The engine as a command-line tool: what its commands print, and how they refuse.

mod cli_dflash;
mod cli_tools;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Output};

use foretoken_engine::mlx::Dtype;
use foretoken_engine::session::Session;
use foretoken_protocol::{ChatMessage, DraftingNote, ReplyStats, TokenLogprob};
use foretoken_tests::bad_models::bad_models;
use foretoken_tests::fixtures::{
    demo_model, edit_json, fixture, write_converted, write_demo_with, write_demo_with_value,
};
use foretoken_tests::programs::built;
use safetensors::SafeTensors;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

const STORY: &str = "Tell me a story.";
const STATS: [&str; 14] = [
    "prompt_tokens",
    "cached_tokens",
    "emitted",
    "steps",
    "tokens_per_pass",
    "tokens_per_second",
    "prefill_seconds",
    "decode_seconds",
    "time_to_first_token_seconds",
    "draft_seconds",
    "verify_seconds",
    "host_seconds",
    "peak_memory_bytes",
    "positions",
];

fn engine<S: AsRef<OsStr>>(arguments: &[S]) -> Output {
    // From a terminal nobody sets what cargo sets for the tests.
    Command::new(built("foretoken-engine")).args(arguments).env_remove("MLX_ENABLE_TF32").output().unwrap()
}

/// What a command that succeeds prints.
fn printed<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let output = engine(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn printed_json<S: AsRef<OsStr>>(arguments: &[S]) -> Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

/// The one line that a command that fails prints.
fn refusal<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let output = engine(arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[derive(Debug, Deserialize)]
struct TokenLine {
    id: u32,
    text: String,
    draft_position: Option<u8>,
    logprob: Option<f32>,
    #[serde(default)]
    top_logprobs: Vec<TokenLogprob>,
}

#[derive(Debug, Deserialize)]
struct FinishedLine {
    reason: String,
    text: String,
    ids: Vec<u32>,
    stats: ReplyStats,
    #[serde(default)]
    calls: Value,
}

/// What `generate --json` printed.
#[derive(Debug)]
struct Reply {
    tokens: Vec<TokenLine>,
    finished: FinishedLine,
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Runs `generate --json` on a model, and checks what holds for every reply.
fn generate_with(model: &Path, arguments: &[&str]) -> Reply {
    let mut all = vec!["generate", "--json", "--model", model.to_str().unwrap()];
    all.extend(arguments);
    let lines = printed(&all);
    let mut lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let finished = lines.pop().unwrap();
    assert_eq!(finished["type"], "finished");
    let mut expected = BTreeSet::from(["type", "reason", "text", "ids", "stats"]);
    if arguments.contains(&"--tools") {
        expected.insert("calls");
    }
    if arguments.contains(&"--ring-test") {
        expected.insert("sent");
    }
    assert_eq!(keys(&finished), expected);
    let missing: Vec<_> = STATS.iter().filter(|key| finished["stats"].get(key).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for line in &lines {
        assert_eq!(line["type"], "token");
        let mut expected = BTreeSet::from(["type", "id", "text", "draft_position"]);
        // The last line may hold text that no token brought.
        if arguments.contains(&"--logprobs") && !line["id"].is_null() {
            expected.extend(["logprob", "top_logprobs"]);
        }
        assert_eq!(keys(line), expected);
    }
    let tokens = lines.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
    let reply = Reply { tokens, finished: serde_json::from_value(finished).unwrap() };
    reply.check();
    reply
}

/// What `generate --json` prints with the demo model, greedy.
fn generate(arguments: &[&str]) -> Reply {
    let mut all = vec!["--temperature", "0"];
    all.extend(arguments);
    generate_with(&demo_model(), &all)
}

impl Reply {
    fn check(&self) {
        let Self { tokens, finished } = self;
        let stats = &finished.stats;
        assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), finished.ids);
        assert_eq!(tokens.iter().map(|token| token.text.as_str()).collect::<String>(), finished.text);
        assert_eq!(stats.emitted as usize, finished.ids.len());
        assert!(stats.prompt_tokens > 0 && stats.peak_memory_bytes > 0 && stats.chat_bytes > 0, "{stats:?}");
        assert!(stats.prefill_seconds <= stats.time_to_first_token_seconds, "{stats:?}");
        let parts = stats.draft_seconds + stats.verify_seconds + stats.host_seconds;
        assert!(parts <= stats.decode_seconds * 1.001 + 1e-6, "{stats:?}");
        // A stop token counts as emitted by a pass, though it is not part of the reply.
        let passes = f64::from(stats.steps) * stats.tokens_per_pass - f64::from(stats.emitted);
        assert!(passes.abs() < 1e-6 || (passes - 1.0).abs() < 1e-6, "{stats:?}");
        let own = tokens.iter().filter(|token| token.draft_position.is_none()).count();
        assert!(own <= stats.steps as usize, "{own} tokens of the model's own in {} steps", stats.steps);
        self.check_positions();
    }

    /// Every accepted draft is a token with its position; one of them can be the stop token, which is not shown.
    fn check_positions(&self) {
        let Self { tokens, finished } = self;
        let positions = &finished.stats.positions;
        let mut shown = vec![0; positions.len()];
        let mut before = 0;
        for token in tokens {
            if let Some(position) = token.draft_position {
                assert_eq!(position, before + 1, "drafts of a step follow each other");
                shown[usize::from(position) - 1] += 1;
            }
            before = token.draft_position.unwrap_or(0);
        }
        let hidden: u32 =
            positions.iter().zip(&shown).map(|(position, shown)| position.accepted - shown).sum();
        assert!(hidden <= u32::from(finished.reason == "stop"), "{positions:?}, shown {shown:?}");
        assert!(positions.iter().all(|position| position.accepted <= position.drafted), "{positions:?}");
        assert!(positions.is_sorted_by(|one, next| one.drafted >= next.drafted), "{positions:?}");
    }
}

/// A JSON file in a folder that goes with the test.
fn json_file(folder: &TempDir, name: &str, value: &Value) -> String {
    let path = folder.path().join(name);
    fs::write(&path, value.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A text that the demo model knows well, as tokens: a question, its answer, and so on to a length.
fn known_text(tokens: usize) -> Vec<u32> {
    let session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let question = [ChatMessage::user(STORY)];
    let prompt = session.chat_prompt(&question, None, false).unwrap().ids;
    let reply = generate(&["--prompt", STORY, "--thinking", "off", "--max-tokens", "80"]).finished.ids;
    // The model has learned to write replies, not questions.
    prompt.into_iter().chain(reply.into_iter().cycle()).take(tokens).collect()
}

#[test]
fn log_probabilities_are_the_models_own_with_drafts_and_without() {
    let question = ["--prompt", STORY, "--max-tokens", "30", "--logprobs", "3"];
    let plain = generate(&[&question[..], &["--speculation", "off"]].concat()).tokens;
    let drafted = generate(&[&question[..], &["--depth", "3"]].concat()).tokens;
    assert!(drafted.iter().any(|token| token.draft_position.is_some()));
    for (plain, drafted) in plain.iter().zip(&drafted) {
        let (a, b) = (plain.logprob.unwrap(), drafted.logprob.unwrap());
        assert!(a <= 0.0 && (a - b).abs() < 0.1, "{plain:?} and {drafted:?}");
        assert_eq!(plain.top_logprobs.len(), 3);
        assert_eq!(plain.top_logprobs[0].logprob, a, "greedy");
        assert!(plain.top_logprobs.is_sorted_by(|a, b| a.logprob >= b.logprob));
    }
    let without = generate(&["--prompt", STORY, "--max-tokens", "5"]).tokens;
    assert!(without.iter().all(|token| token.logprob.is_none()));
    let model = demo_model();
    let model = model.to_str().unwrap();
    let many = ["generate", "--model", model, "--prompt", STORY, "--json", "--logprobs", "21"];
    assert!(refusal(&many).contains("21 log-probabilities"));
}

#[test]
fn several_processes_of_one_machine_write_what_one_writes() {
    let question =
        ["--prompt", STORY, "--max-tokens", "60", "--temperature", "0.8", "--seed", "7", "--depth", "2"];
    let over = |ring: &[&str]| generate_with(&demo_model(), &[&question[..], ring].concat()).finished.ids;
    let one = over(&[]);
    assert_eq!(over(&["--ring-test", "2"]), one);
    assert_eq!(over(&["--ring-test", "3", "--layers", "5,1,2"]), one);
    let model = demo_model();
    let few = [
        "generate",
        "--model",
        model.to_str().unwrap(),
        "--prompt",
        STORY,
        "--ring-test",
        "2",
        "--layers",
        "3,4",
    ];
    assert!(refusal(&few).contains("[3, 4] is no way to spread 8 layers over 2 processes."));
    let alone = ["generate", "--model", model.to_str().unwrap(), "--prompt", STORY, "--layers", "4,4"];
    assert!(refusal(&alone).contains("--layers is for a model that is spread"));
}

#[test]
fn drafts_change_the_numbers_of_a_reply_and_not_its_text() {
    let question = ["--prompt", STORY, "--max-tokens", "400"];
    let plain = generate(&[&question[..], &["--speculation", "off"]].concat());
    assert_eq!(plain.finished.reason, "stop");
    assert_eq!(plain.finished.stats.tokens_per_pass, 1.0);
    assert!(plain.tokens.iter().all(|token| token.draft_position.is_none()));
    assert_eq!(plain.finished.stats.positions, []);
    assert!(plain.finished.stats.drafting_note.is_some());

    let drafted = generate(&[&question[..], &["--speculation", "mtp", "--depth", "3"]].concat());
    assert_eq!(drafted.finished.ids, plain.finished.ids);
    assert_eq!(drafted.finished.text, plain.finished.text);
    assert_eq!(drafted.finished.stats.positions.len(), 3);
    assert!(drafted.finished.stats.tokens_per_pass > 1.5, "{:?}", drafted.finished.stats);
    assert!(drafted.tokens.iter().any(|token| token.draft_position == Some(3)));

    let output = engine(
        &[&["generate", "--model", demo_model().to_str().unwrap(), "--temperature", "0"], &question[..]]
            .concat(),
    );
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), plain.finished.text + "\n");
    assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1);
}

#[test]
fn a_reply_ends_at_its_token_limit() {
    let long = generate(&["--prompt", STORY, "--max-tokens", "60"]).finished;
    for limit in [1, 2, 7] {
        let reply =
            generate(&["--prompt", STORY, "--depth", "3", "--max-tokens", &limit.to_string()]).finished;
        assert_eq!(reply.reason, "length");
        assert_eq!(reply.ids, long.ids[..limit]);
    }
}

#[test]
fn a_reply_ends_before_its_stop_text() {
    let question = ["--prompt", STORY, "--thinking", "off", "--max-tokens", "80", "--depth", "3"];
    let whole = generate(&question).finished;
    let from = whole.text.char_indices().nth(whole.text.chars().count() / 2).unwrap().0;
    // Begins and ends inside words, so inside tokens too.
    let stop: String = whole.text[from..].chars().take(9).collect();
    let before = &whole.text[..whole.text.find(&stop).unwrap()];
    let cut = generate(&[&question[..], &["--stop", "not in any story", "--stop", &stop]].concat()).finished;
    assert_eq!((cut.reason.as_str(), cut.text.as_str()), ("stop", before));
    assert!(cut.ids.len() < whole.ids.len() && whole.ids.starts_with(&cut.ids), "{cut:?}");
}

#[test]
fn a_seed_repeats_a_text() {
    let sampled = |more: &[&str]| {
        let arguments =
            ["--prompt", STORY, "--temperature", "2", "--top-p", "1", "--top-k", "0", "--max-tokens", "40"];
        generate_with(&demo_model(), &[&arguments, more].concat()).finished
    };
    let texts: Vec<_> = ["1", "2", "3"].map(|seed| sampled(&["--seed", seed])).into();
    assert_eq!(sampled(&["--seed", "1"]).ids, texts[0].ids);
    assert_eq!(sampled(&["--seed", "1", "--speculation", "off"]).ids, texts[0].ids);
    assert!(texts[0].ids != texts[1].ids && texts[1].ids != texts[2].ids && texts[0].ids != texts[2].ids);
    assert_eq!(texts.iter().map(|text| text.stats.seed).collect::<Vec<_>>(), [1, 2, 3]);

    let xtc = |more: &[&str]| {
        let arguments = ["--seed", "1", "--xtc-probability", "1", "--xtc-threshold", "0.01"];
        sampled(&[&arguments, more].concat()).ids
    };
    assert_ne!(xtc(&[]), texts[0].ids);
    assert_eq!(xtc(&[]), xtc(&["--speculation", "off"]));

    let rejection = |more: &[&str]| {
        let arguments = ["--seed", "1", "--acceptance", "rejection"];
        sampled(&[&arguments, more].concat()).ids
    };
    assert_eq!(rejection(&["--speculation", "off"]), texts[0].ids);
    let drafted = rejection(&["--depth", "2"]);
    assert_ne!(drafted, texts[0].ids);
    assert_eq!(rejection(&["--depth", "2"]), drafted, "the same drafts in the same places");

    let unseeded = sampled(&[]);
    assert_eq!(sampled(&["--seed", &unseeded.stats.seed.to_string()]).ids, unseeded.ids);
}

#[test]
fn the_model_thinks_only_where_it_may() {
    let session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let end = session.tokenizer().encode("</think>").unwrap();
    assert_eq!(end.len(), 1);
    let question = ["--prompt", "What is the capital of Kenya?"];
    let on = generate(&[&question[..], &["--thinking", "on"]].concat()).finished;
    let off = generate(&[&question[..], &["--thinking", "off"]].concat()).finished;
    assert!(on.ids.contains(&end[0]) && !off.ids.contains(&end[0]), "{on:?} {off:?}");
    assert!(!on.text.contains("think>") && on.text.contains("\n\n"), "{}", on.text);
    assert!(off.text.contains("Nairobi"), "{}", off.text);
    assert_eq!(generate(&question).finished.ids, on.ids, "on is the default");
}

#[test]
fn a_prompt_is_a_question_a_chat_or_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let chat = vec![
        ChatMessage::user("Who are you?"),
        ChatMessage::assistant("A small model."),
        ChatMessage::user("What is 19 + 16?"),
    ];
    let session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let ids = session.chat_prompt(&chat, None, true).unwrap().ids;
    let messages = json_file(&folder, "messages.json", &json!(chat));
    let tokens = json_file(&folder, "ids.json", &json!(ids));
    let last = json_file(&folder, "last.json", &json!(chat[2..]));

    let by_messages = generate(&["--messages", &messages]).finished;
    assert_eq!(by_messages.stats.prompt_tokens as usize, ids.len());
    assert_eq!(generate(&["--ids", &tokens]).finished.ids, by_messages.ids);
    let by_prompt = generate(&["--prompt", "What is 19 + 16?"]).finished;
    assert_eq!(generate(&["--messages", &last]).finished.ids, by_prompt.ids);
    assert!(by_prompt.stats.prompt_tokens < by_messages.stats.prompt_tokens);
}

#[test]
fn requests_that_cannot_be_served_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let demo = demo_model();
    let no_ids = json_file(&folder, "none.json", &json!([]));
    let unknown = json_file(&folder, "unknown.json", &json!([1, 2048]));
    let wrong = json_file(&folder, "wrong.json", &json!({ "ids": [1] }));
    let no_file = folder.path().join("no file.json").to_str().unwrap().to_owned();
    let nowhere = folder.path().join("nothing").to_str().unwrap().to_owned();
    let long = "owl ".repeat(5000);
    let demo = demo.to_str().unwrap();
    let generate: [(&str, &[&str]); 11] = [
        ("no tokens", &["--ids", &no_ids]),
        ("a token that the model does not know", &["--ids", &unknown]),
        ("tokens that are no list", &["--ids", &wrong]),
        ("messages that are no chat", &["--messages", &wrong]),
        ("no such file", &["--ids", &no_file]),
        ("no tokens to write", &["--prompt", "Hi", "--max-tokens", "0"]),
        ("too many drafts", &["--prompt", "Hi", "--depth", "9"]),
        ("a mass above one", &["--prompt", "Hi", "--top-p", "1.5"]),
        ("a negative chance", &["--prompt", "Hi", "--xtc-probability", "-1"]),
        ("a threshold above a half", &["--prompt", "Hi", "--xtc-threshold", "0.6"]),
        ("a prompt that is too long", &["--prompt", &long]),
    ];
    let mut told = String::new();
    let mut tell = |what: &str, message: String| {
        let message = message.replace(folder.path().to_str().unwrap(), "FOLDER");
        told += &format!("{what}:\n{message}");
    };
    for (what, arguments) in generate {
        tell(what, refusal(&[&["generate", "--model", demo], arguments].concat()));
    }
    tell("a token to score", refusal(&["score", "--model", demo, "--ids", &unknown]));
    tell("no such folder", refusal(&["inspect", &nowhere]));
    insta::assert_snapshot!("refusals", told);
}

#[test]
fn the_command_line_says_in_one_line_what_is_wrong_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut messages = Vec::new();
    for bad in bad_models(folder.path()) {
        let path = bad.path.to_str().unwrap();
        let mut commands = vec![vec!["generate", "--prompt", "Hello", "--model", path]];
        if !bad.only_for_chats {
            commands.push(vec!["inspect", path]);
        }
        for arguments in commands {
            let message = refusal(&arguments);
            bad.assert_told(&message);
            messages.push(message);
        }
    }
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), 6, "each kind has a message of its own: {messages:#?}");
}

#[test]
fn every_command_has_help_and_refuses_arguments_it_does_not_know() {
    let commands = [
        "inspect",
        "convert",
        "chat",
        "generate",
        "score",
        "compare",
        "bench",
        "draft-vocabulary",
        "document-text",
        "picture",
        "check",
        "serve",
    ];
    for command in [None].into_iter().chain(commands.map(Some)) {
        let with = |argument| command.into_iter().chain([argument]).collect::<Vec<_>>();
        let help = printed(&with("--help"));
        insta::assert_snapshot!(format!("help_{}", command.unwrap_or("engine")), help);
        assert!(misuse(&with("--frobnicate")).contains("--frobnicate"));
    }
    assert_eq!(printed(&["--version"]), concat!("foretoken-engine ", env!("CARGO_PKG_VERSION"), "\n"));
    // Nothing at all is a question for help.
    let output = engine::<&str>(&[]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("generate"));
}

#[test]
fn arguments_that_make_no_sense_are_refused_in_one_line() {
    let misused: [&[&str]; 12] = [
        &["talk"],
        &["generate", "--model", "m"],
        &["generate", "--prompt", "Hi"],
        &["generate", "--model", "m", "--prompt", "Hi", "--ids", "ids.json"],
        &["generate", "--model", "m", "--ids", "ids.json", "--tools", "tools.json"],
        &["generate", "--model", "m", "--prompt", "Hi", "--depth", "deep"],
        &["generate", "--model", "m", "--prompt", "Hi", "--speculation", "maybe"],
        &["bench", "--model", "m", "--runs", "many"],
        &["convert", "--source", "m", "--out", "o", "--target-bits", "4", "--bits", "4"],
        &["convert", "--source", "m", "--out", "o", "--target-bits", "4", "--quality", "small"],
        &["convert", "--source", "m", "--out", "o", "--calibrate", "text.md"],
        &["convert", "--source", "m", "--out", "o", "--quality", "close", "--measure", "text.md"],
    ];
    let told: String =
        misused.iter().map(|arguments| arguments.join(" ") + ":\n" + &misuse(arguments)).collect();
    insta::assert_snapshot!("misuse", told);
}

/// What is said of arguments that are refused before anything is done: one line.
fn misuse(arguments: &[&str]) -> String {
    let output = engine(arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.ends_with("Try --help.\n"), "{message}");
    message
}

/// All that is told of a small model, but for what depends on the machine: how much memory computing takes.
#[test]
fn inspect_says_what_a_small_model_is() {
    let model = fixture("tiny-dense");
    let text = printed(&["inspect", model.to_str().unwrap()]);
    let of_the_machine = ["  memory ", "working set", "copy of the output head"];
    let text: Vec<&str> =
        text.lines().filter(|line| !of_the_machine.iter().any(|part| line.contains(part))).collect();
    insta::assert_snapshot!("inspect_text", text.join("\n"));
    let mut json = printed_json(&["inspect", "--json", model.to_str().unwrap()]);
    let memory = json["memory"].as_object_mut().unwrap();
    for of_the_machine in ["total", "working_set", "loading", "draft_head"] {
        assert!(memory.remove(of_the_machine).is_some(), "{of_the_machine}");
    }
    insta::assert_snapshot!("inspect_json", serde_json::to_string_pretty(&json).unwrap());
}

/// The demo model without its head; the config goes on declaring it, or does not.
fn headless(declared: bool) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_demo_with(folder.path(), |tensors| {
        let all = tensors.len();
        tensors.retain(|name, _| !name.starts_with("mtp."));
        assert!(tensors.len() < all);
    });
    if !declared {
        edit_json(folder.path(), "config.json", |config| {
            config["text_config"]["mtp_num_hidden_layers"] = json!(0);
        });
    }
    folder
}

#[test]
fn a_model_without_a_head_writes_the_same_text_and_cannot_be_made_to_draft() {
    let question = ["--temperature", "0", "--prompt", STORY, "--max-tokens", "40"];
    let expected = generate_with(&demo_model(), &question).finished.ids;
    for declared in [true, false] {
        let folder = headless(declared);
        let reply = generate_with(folder.path(), &question).finished;
        assert_eq!(reply.ids, expected);
        assert_eq!((reply.stats.tokens_per_pass, reply.stats.positions.len()), (1.0, 0));
        assert_eq!(reply.stats.drafting_note, Some(DraftingNote::NoHead));

        let model = folder.path().to_str().unwrap();
        let arguments = [&["generate", "--model", model, "--speculation", "mtp"], &question[..]].concat();
        let message = refusal(&arguments);
        assert!(message.contains("no MTP head") && message.contains(model), "{message}");
    }
}

#[test]
fn inspect_tells_what_a_folder_holds() {
    let inspect = |folder: &Path| printed_json(&["inspect", "--json", folder.to_str().unwrap()]);
    let demo = inspect(&demo_model());
    let expected = [
        "name",
        "architecture",
        "parameters",
        "active_parameters",
        "format",
        "files",
        "linear_attention_layers",
        "full_attention_layers",
        "hidden_size",
        "vocab_size",
        "mtp",
        "hidden_mode",
        "pictures",
        "context_length",
        "memory",
        "skipped",
        "notes",
    ];
    assert_eq!(keys(&demo), BTreeSet::from(expected));
    assert_eq!(demo["architecture"], "qwen3_5");
    assert_eq!(demo["format"], "bfloat16");
    assert_eq!((&demo["linear_attention_layers"], &demo["full_attention_layers"]), (&json!(6), &json!(2)));
    assert_eq!(demo["context_length"], 4096);
    let mtp = json!({ "state": "present", "tensors": 15, "format": "bfloat16", "declared": true });
    assert_eq!(demo["mtp"], mtp);
    let bytes = fs::read(demo_model().join("model.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let count = |has: fn(&str) -> bool| {
        let tensors = file.tensors().into_iter().filter(|(name, _)| has(name));
        tensors.map(|(_, tensor)| tensor.shape().iter().product::<usize>()).sum::<usize>()
    };
    assert_eq!(demo["parameters"], count(|_| true));
    let is_embedding = |(name, _): &(String, _)| name.ends_with("embed_tokens.weight");
    let embedding = file.tensors().into_iter().find(is_embedding).unwrap().1;
    assert_eq!(json!(embedding.shape()), json!([demo["vocab_size"], demo["hidden_size"]]));
    // In two bytes each, but for the logarithms of decays.
    let wide = count(|name| name.ends_with("A_log"));
    assert_eq!(demo["memory"]["weights"], 2 * count(|_| true) + 2 * wide);
    let in_8_bits = printed_json(&["inspect", "--json", "--kv-bits", "8", demo_model().to_str().unwrap()]);
    let per_token = |told: &Value| told["memory"]["kv_per_token"].as_u64().unwrap();
    // 512 numbers of two bytes; a byte for each and four for 64 of them.
    assert_eq!((per_token(&demo), per_token(&in_8_bits)), (1024, 544));

    for (declared, state) in [(true, "stripped"), (false, "absent")] {
        let folder = headless(declared);
        let told = inspect(folder.path());
        assert_eq!(told["mtp"], json!({ "state": state }));
        assert_eq!(told["parameters"], count(|name| !name.starts_with("mtp.")));
        assert_eq!(told["notes"].as_array().unwrap().is_empty(), !declared, "{told:#}");
        let text = printed(&["inspect", folder.path().to_str().unwrap()]);
        assert_eq!(text.contains("declared, but its tensors are gone"), declared, "{text}");
    }
}

#[test]
fn score_dumps_what_its_figures_are_made_of() {
    // More than one chunk.
    const TOKENS: usize = 530;
    let folder = tempfile::tempdir().unwrap();
    let demo = demo_model();
    let text = known_text(TOKENS);
    let ids = json_file(&folder, "ids.json", &json!(text));
    let dump = folder.path().join("dump.safetensors");
    let score = ["score", "--model", demo.to_str().unwrap(), "--ids", &ids];
    let figures = printed_json(&[&score[..], &["--json", "--dump", dump.to_str().unwrap()]].concat());
    let bytes = fs::read(&dump).unwrap();
    let dump = SafeTensors::deserialize(&bytes).unwrap();
    assert!(dump.tensors().iter().all(|(_, tensor)| tensor.dtype() == safetensors::Dtype::F32));
    let shapes: HashMap<String, Vec<usize>> =
        dump.tensors().into_iter().map(|(name, tensor)| (name, tensor.shape().to_vec())).collect();
    let expected =
        [("logits", [TOKENS, 2048]), ("hidden", [TOKENS, 192]), ("mtp_logits", [TOKENS - 1, 2048])];
    assert_eq!(shapes, expected.map(|(name, shape)| (name.to_owned(), shape.to_vec())).into());

    let floats = |name: &str| -> Vec<f64> {
        let values = dump.tensor(name).unwrap().data().as_chunks().0.iter();
        values.map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
    };
    let mean_nll = |logits: &[f64], next: &[u32]| {
        let rows = logits.chunks(2048).zip(next);
        let nll = rows.map(|(row, &id)| row.iter().map(|x| x.exp()).sum::<f64>().ln() - row[id as usize]);
        nll.sum::<f64>() / next.len() as f64
    };
    let logits = floats("logits");
    let (nll, perplexity) = (figures["mean_nll"].as_f64().unwrap(), figures["perplexity"].as_f64().unwrap());
    let names = ["kv_precision", "tokens", "mean_nll", "perplexity", "mtp_acceptance"];
    assert_eq!(keys(&figures), BTreeSet::from(names));
    assert_eq!(figures["kv_precision"], "full");
    assert_eq!(figures["tokens"], TOKENS);
    assert!((mean_nll(&logits, &text[1..]) - nll).abs() < 1e-4, "{nll}");
    assert!((perplexity - nll.exp()).abs() < 1e-9 * perplexity);
    // A text like this is known by heart: to the trunk, and to the head two tokens ahead.
    assert!(nll < 1.5, "{nll}");
    let ahead = mean_nll(&floats("mtp_logits"), &text[2..]);
    assert!(ahead < 2.0, "{ahead}");

    // The first of those that rounding makes equal.
    let tops = |logits: &[f64]| -> Vec<usize> {
        let top = |row: &[f64]| (0..2048).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        logits.chunks(2048).map(top).collect()
    };
    let (choices, guesses) = (tops(&logits), tops(&floats("mtp_logits")));
    let right = guesses.iter().zip(&choices[1..]).filter(|(guess, choice)| guess == choice).count();
    let acceptance = figures["mtp_acceptance"].as_f64().unwrap();
    assert!((acceptance - right as f64 / (TOKENS - 1) as f64).abs() < 1e-9, "{acceptance}, {right}");

    let last = &logits[(TOKENS - 1) * 2048..];
    let top = (0..2048).max_by(|&a, &b| last[a].total_cmp(&last[b])).unwrap();
    assert_eq!(generate(&["--ids", &ids, "--max-tokens", "1"]).finished.ids, [top as u32]);
    assert!(printed(&score).contains(&format!("perplexity {perplexity:.3}")));
}

#[test]
fn score_tells_what_keys_and_values_in_8_bits_cost() {
    let folder = tempfile::tempdir().unwrap();
    let demo = demo_model();
    let ids = json_file(&folder, "ids.json", &json!(known_text(200)));
    let score = ["score", "--model", demo.to_str().unwrap(), "--ids", &ids, "--kv-bits", "8"];
    let text = printed(&[&score[..], &["--json"]].concat());
    let figures: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [full, eight] = &figures[..] else { panic!("{text}") };
    assert_eq!((&full["kv_precision"], &eight["kv_precision"]), (&json!("full"), &json!("eight")));
    let [full, eight] = [full, eight].map(|figures| figures["perplexity"].as_f64().unwrap());
    assert!(full != eight && (eight / full - 1.0).abs() < 0.01, "{full} {eight}");
    let text = printed(&score);
    assert!(text.contains("with keys and values in 8 bits: 200 tokens, "), "{text}");
    assert!(text.contains(&format!("perplexity {eight:.3}")), "{text}");
}

#[test]
fn compare_tells_how_far_a_conversion_is_from_its_original() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, converted) = (demo_model(), folder.path().join("converted"));
    fs::create_dir(&converted).unwrap();
    // Processors multiply what has scales of 32 bits several times faster.
    write_converted(&demo, &converted, 3, Dtype::Float32);
    let ids = json_file(&folder, "ids.json", &json!([known_text(60), known_text(40)]));
    let (model, original) = (converted.to_str().unwrap(), demo.to_str().unwrap());
    let compare = ["compare", "--model", model, "--original", original, "--ids", &ids];
    let compared = printed_json(&[&compare[..], &["--json"]].concat());
    let found = &compared["evidence"];
    assert_eq!((&found["tokens"], found["texts"].as_array().unwrap().len()), (&json!(100), 2));
    let number = |value: &Value| value.as_f64().unwrap();
    let [kl, same] = ["kl", "same_choice"].map(|name| number(&found[name]));
    assert!(kl > 1e-4 && kl < 1.0 && same > 0.8 && same < 1.0, "{found}");
    let text = printed(&compare);
    assert!(text.starts_with(&format!("100 tokens, KL divergence {kl:.5} ± ")), "{text}");
    for (line, name) in [("before: perplexity ", "reference"), ("after: perplexity ", "model")] {
        let perplexity = number(&found[name]["mean_nll"]).exp();
        assert!(text.contains(&format!("{line}{perplexity:.3}, MTP acceptance ")), "{text}");
    }
    // One text may stand alone, as without a comparison.
    let one = json_file(&folder, "one.json", &json!(known_text(20)));
    let compare = ["compare", "--model", model, "--original", original, "--ids", &one, "--json"];
    assert_eq!(printed_json(&compare)["evidence"]["kl_error"], Value::Null);
    // Without any, the program has its own, of which it reads what conversions are measured on.
    let text = folder.path().join("notes.md");
    fs::write(
        &text,
        (0..110)
            .map(|i| format!("# Note {i}\n{}\n\n", "An owl sat on a bell. ".repeat(4)))
            .collect::<String>(),
    )
    .unwrap();
    let compare = [
        "compare",
        "--model",
        model,
        "--original",
        original,
        "--calibrate",
        text.to_str().unwrap(),
        "--json",
    ];
    let lines = printed(&compare);
    let compared: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&compared["type"], &compared["texts"]["source"]["kind"]),
        (&json!("compared"), &json!("file"))
    );
    assert!(compared["evidence"]["tokens"].as_u64().unwrap() > 100, "{compared}");
    assert!(compared["texts"]["tokens"]["report"] == compared["evidence"]["tokens"], "{compared}");
    let modules = compared["modules"].as_object().unwrap();
    assert!(modules.len() > 20 && modules.values().any(|module| module["bits"] == 3), "{modules:?}");
}

#[test]
fn score_has_nothing_to_say_of_one_token() {
    let folder = tempfile::tempdir().unwrap();
    let ids = json_file(&folder, "ids.json", &json!([7]));
    let figures =
        printed_json(&["score", "--model", demo_model().to_str().unwrap(), "--ids", &ids, "--json"]);
    assert_eq!(
        figures,
        json!({
            "kv_precision": "full", "tokens": 1, "mean_nll": null, "perplexity": null, "mtp_acceptance": null,
        })
    );
}

#[test]
fn bench_prints_every_figure() {
    let demo = demo_model();
    let small = ["--prompt-tokens", "16", "--gen-tokens", "8", "--chat-tokens", "300"];
    let small = [&small[..], &["--runs", "1", "--depths", "0,2"]].concat();
    let bench = [&["bench", "--model", demo.to_str().unwrap()], &small[..]].concat();
    let report = printed_json(&[&bench[..], &["--force-acceptance", "1", "--json"]].concat());
    let environment = report["environment"].as_array().unwrap();
    assert!(environment.contains(&json!(["MLX_ENABLE_TF32", "0"])), "{environment:?}");
    let spread = BTreeSet::from(["median", "min", "max"]);
    for figure in ["load_seconds", "prefill_tokens_per_second", "peak_memory_bytes"] {
        assert_eq!(keys(&report[figure]), spread, "{figure}");
    }
    let second_turn = &report["second_turn"];
    for figure in ["seconds_without", "seconds_with", "gain"] {
        assert_eq!(keys(&second_turn[figure]), spread, "{figure}");
    }
    assert!(second_turn["cached_tokens"].as_u64() < second_turn["prompt_tokens"].as_u64());
    let depths = report["texts"][0]["depths"].as_array().unwrap();
    assert_eq!(depths.iter().map(|depth| &depth["depth"]).collect::<Vec<_>>(), [0, 2]);
    for depth in depths {
        for figure in [
            "tokens_per_second",
            "speed_up",
            "tokens_per_pass",
            "step_milliseconds",
            "host_milliseconds",
            "idle_milliseconds",
        ] {
            assert_eq!(keys(&depth[figure]), spread, "{figure}");
        }
    }
    assert_eq!((&report["runs"], &report["gen_tokens"]), (&json!(1), &json!(8)));
    assert_eq!(report["widths"].as_array().unwrap().len(), 3);
    assert_eq!(keys(&depths[1]["draft_milliseconds"]), spread);
    assert_eq!(depths[1]["positions"][1]["accepted"], depths[1]["positions"][1]["drafted"]);
    // One run, whose second turn goes on behind the first.
    let counters = &report["counters"];
    assert_eq!((&counters["prefix_lookups"], &counters["prefix_hits"]), (&json!(2), &json!(1)));
    assert_eq!(counters["prefix_hit_tokens"], second_turn["cached_tokens"]);
    let table = printed(&bench);
    assert!(table.contains("speed-up") && table.contains("1 of 2 lookups hit"), "{table}");
    for heading in ["\nprose: decoding 24 tokens\n", "\ncode: decoding 24 tokens\n"] {
        assert!(table.contains(heading), "{table}");
    }
    let told = misuse(&[&bench[..], &["--question", "Why?", "--texts", "code"]].concat());
    assert!(told.contains("--question"), "{told}");
}

#[test]
fn a_weight_that_is_no_number_is_refused_by_name() {
    let cases = [
        ("model.language_model.layers.1.mlp.down_proj.weight", "layers.1.mlp.down_proj.weight", f32::NAN),
        ("mtp.norm.weight", "mtp.norm.weight", f32::INFINITY),
        ("model.language_model.layers.0.linear_attn.A_log", "layers.0.linear_attn.A_log", f32::NEG_INFINITY),
    ];
    for (stored, name, value) in cases {
        let folder = tempfile::tempdir().unwrap();
        write_demo_with_value(folder.path(), stored, value);
        let error = Session::load(folder.path(), &mut |_, _| ControlFlow::Continue(())).unwrap_err();
        let report = foretoken_protocol::ErrorReport::from(&error);
        assert_eq!(report.code, "non_finite_tensor");
        assert!(report.message.contains(name), "{report}");
        let message = refusal(&["generate", "--prompt", "Hi", "--model", folder.path().to_str().unwrap()]);
        assert!(message.contains(&report.to_string()), "{message}");
    }
}
