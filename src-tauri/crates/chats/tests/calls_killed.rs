//! A process that is killed in the middle of a turn with tools leaves every call as the table of states allows, and
//! nothing that runs.
#![cfg(unix)]

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use foretoken_chats::{CallEnd, Consent, NewCall, Store};
use foretoken_protocol::{
    CallDecision, CallState, FinishReason, GenerationSettings, MessageStatus, Provenance, StepIds, Thinking,
};

/// Names the database to the writing process.
const DATABASE: &str = "FORETOKEN_CHATS_TEST_CALLS";
const ROUNDS: u32 = 10;
const STEPS: u32 = 4;
const CONSENT: Consent<'_> =
    Consent { decision: CallDecision::AllowedOnce, grant: None, arguments: "{\"changed\": 1}", seen: None };

/// Answers with calls without end, and says on stderr which state of which call is stored.
fn write_until_killed(path: &Path) -> ! {
    let say = |reply: u32, step: u32, ordinal: u32, state: &str| {
        let line = format!("{reply} {step} {ordinal} {state}\n");
        std::io::stderr().write_all(line.as_bytes()).expect("somebody listens");
    };
    let mut store = Store::open(path).unwrap();
    let settings = GenerationSettings {
        sampling: Default::default(),
        drafting: Default::default(),
        max_tokens: 64,
        thinking: Thinking::Off,
        stop: vec![],
    };
    let new = NewCall { server: Some("files"), tool: "read", arguments: "{}" };
    loop {
        let chat = store.create_chat("killed").unwrap().id;
        let question = store.add_user_message(chat, None, "?").unwrap().id;
        let reply = store.begin_reply(chat, question, "demo", &settings).unwrap().id;
        for _ in 0..STEPS {
            let step = store.begin_step(reply).unwrap();
            for _ in 0..3 {
                store.append_to_reply(reply, "words ", "", &Provenance::default()).unwrap();
            }
            let ids = StepIds { ids: vec![1; 300], tokenizer: "hash".into() };
            store.end_step(reply, FinishReason::Stop, Some(&ids), None).unwrap();
            let calls = store.add_calls(reply, step, &[new; 3]).unwrap();
            say(reply, step, 0, "checking");
            store.refuse_call(calls[0], "no", "no").unwrap();
            say(reply, step, 0, "refused");
            for &call in &calls[1..] {
                store.ask_call(call, false).unwrap();
                say(reply, step, call.ordinal, "asking");
            }
            store.decide_call(calls[1], CONSENT).unwrap();
            store.start_call(calls[1], None).unwrap();
            say(reply, step, 1, "running");
            store.start_call(calls[2], Some(CONSENT)).unwrap();
            say(reply, step, 2, "running");
            for &call in &calls[1..] {
                let result = format!("\"{}\"", "r".repeat(5000));
                let end = CallEnd {
                    state: &CallState::Done,
                    result: Some(&result),
                    for_model: Some("r"),
                    left_out: None,
                };
                store.end_call(call, end).unwrap();
                say(reply, step, call.ordinal, "done");
            }
        }
        let stopped = MessageStatus::Finished { reason: FinishReason::Stop };
        store.finish_reply(reply, stopped, None, None).unwrap();
    }
}

#[test]
#[ignore = "the process that the other test starts and kills"]
fn caller() {
    let path = std::env::var_os(DATABASE).expect("is started by the other test");
    write_until_killed(Path::new(&path));
}

/// Runs a writer, kills it after `delay` of writing, and returns the last state that it told of each call.
fn killed_caller(path: &Path, delay: Duration) -> HashMap<(u32, u32, u32), String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "caller", "--nocapture"])
        .env(DATABASE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    let reader = std::thread::spawn(move || lines.lines().map(Result::unwrap).collect::<Vec<_>>());
    std::thread::sleep(delay);
    child.kill().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(9), "{first}");
    let told = [first.trim_end().to_owned()].into_iter().chain(reader.join().unwrap());
    told.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [reply, step, ordinal, state] = words[..] else { panic!("the writer said {line:?}") };
        let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("the writer said {line:?}"));
        ((number(reply), number(step), number(ordinal)), state.to_owned())
    })
    .collect()
}

#[test]
fn nothing_runs_after_a_kill_and_nothing_that_was_told_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let mut cut = 0;
    for round in 0..ROUNDS {
        let delay = Duration::from_millis(RandomState::new().hash_one(round) % 250);
        let told = killed_caller(&path, delay);
        let store = Store::open(&path).unwrap();
        for chat in store.chats().unwrap() {
            for (reply, steps) in store.steps_of_chat(chat.id).unwrap() {
                let message = store.message(reply).unwrap();
                assert_ne!(message.status, MessageStatus::Streaming);
                let texts: Vec<_> =
                    steps.iter().map(|step| step.text.as_str()).filter(|text| !text.is_empty()).collect();
                assert_eq!(message.text, texts.join("\n\n"), "round {round}");
                for step in &steps {
                    assert_ne!(step.status, MessageStatus::Streaming);
                    for call in &step.calls {
                        let told = told.get(&(reply, step.ordinal, call.id.ordinal)).map(String::as_str);
                        assert_is_left(told, call, round);
                        cut += u32::from(call.state == CallState::Unknown);
                    }
                }
            }
        }
        println!("round {round}: killed after {delay:?}, {} calls, {cut} unknown so far", told.len());
    }
}

/// Fails unless a call is as it may be after it was `told` to be in a state, or after the one behind that.
fn assert_is_left(told: Option<&str>, call: &foretoken_protocol::ReplyCall, round: u32) {
    let state = &call.state;
    let may_be = match told {
        // One of an earlier round, or one of which nothing was told yet.
        None => !matches!(state, CallState::Running),
        Some("checking") => matches!(state, CallState::Checking | CallState::Refused { .. }),
        Some("refused") => matches!(state, CallState::Refused { .. }),
        Some("asking") => matches!(state, CallState::Asking | CallState::Unknown),
        Some("running") => matches!(state, CallState::Unknown | CallState::Done),
        Some("done") => matches!(state, CallState::Done),
        Some(other) => panic!("{other}"),
    };
    assert!(may_be, "round {round}: told {told:?}, found {call:?}");
    let ran = matches!(state, CallState::Unknown | CallState::Done);
    assert_eq!((call.decision.is_some(), call.started_at.is_some()), (ran, ran), "round {round}: {call:?}");
    assert_eq!(call.result.is_some(), *state == CallState::Done, "round {round}: {call:?}");
}
