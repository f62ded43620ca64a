//! A process that is killed at a random moment of a turn: whatever it was at, no call is made twice, none is made that
//! nobody has allowed, and the turn comes to its end.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use foretoken_chats::Store;

use super::*;

/// Names the folder to the process that is killed.
const FOLDER: &str = "FORETOKEN_TURN_TEST";
/// How many are killed, where another number than a few is wanted.
const KILLS: &str = "FORETOKEN_KILLS";
const FEW: usize = 6;
const ROUNDS: usize = 5;
/// How long a process may live.
const LONGEST: u64 = 1500;

/// What the test has itself started as: it goes on with the turn in a folder, and allows whatever is asked.
#[test]
#[ignore = "it is the process that is killed, which another test starts"]
fn the_process_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(go_on(&folder));
}

async fn go_on(folder: &Path) {
    let app = &app_in(&folder).await;
    let Ok(chats) = app.conversations.store.call(|store| store.chats()).await else { return };
    let mut events = match chats.first() {
        None => {
            if app.toolbox.state().await.servers.is_empty() {
                add_server(app, folder, None).await;
            } else {
                app.toolbox.agree_to("test").await.unwrap();
            }
            let rounds: Vec<String> = (0..ROUNDS).map(round).collect();
            let rounds: Vec<&str> = rounds.iter().map(String::as_str).collect();
            ask(app, &["test", "calculator"], question(&rounds)).await.2
        }
        Some(chat) => {
            let chat = chat.id;
            let messages = app.conversations.store.call(move |store| store.messages(chat)).await.unwrap();
            let reply = messages[1].clone();
            if reply.status == ENDED {
                return;
            }
            match reply.status {
                MessageStatus::Asking => decided(app, &reply).await,
                _ => {
                    let (channel, events) = page();
                    app.conversations.continue_reply(reply.id, channel).await.unwrap();
                    events
                }
            }
        }
    };
    loop {
        let (_, reply) = rest(&mut events).await;
        if reply.status != MessageStatus::Asking {
            break;
        }
        events = decided(app, &reply).await;
    }
    app.toolbox.close().await;
}

/// Two calls of a round, one of which computes: none is like another.
fn round(number: usize) -> String {
    let sum = call("calculator", &[("expression", &format!("{number} + 1"))]);
    let append = |what: &str| call("test__append", &[("text", &format!("{what}-{number}."))]);
    format!("Round {number}.{sum}{}{}", append("one"), append("two"))
}

/// Allows all calls that are asked about, and returns what follows.
async fn decided(app: &Arc<App>, reply: &Message) -> UnboundedReceiver<ReplyEvent> {
    let asked =
        reply.steps.iter().flat_map(|step| &step.calls).filter(|call| call.state == CallState::Asking);
    let mut events = page().1;
    for call in asked.filter(|call| call.decision.is_none()) {
        let (channel, of_this) = page();
        app.conversations.decide(call.id, ONCE, channel).await.unwrap();
        events = of_this;
    }
    events
}

#[test]
fn a_turn_that_is_killed_again_and_again_runs_nothing_twice() {
    let kills = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(FEW);
    let random = |most: u64| RandomState::new().hash_one(0) % most;
    let (mut killed, mut unknown, mut turns) = (0, 0, 0);
    while killed < kills {
        let folder = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        while !is_at_its_end(folder.path()) {
            assert!(begun.elapsed() < Duration::from_secs(300), "the turn does not end");
            let mut process = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "conversations::turn::tests::kills::the_process_that_is_killed",
                    "--ignored",
                ])
                .env(FOLDER, folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let lives = Duration::from_millis(random(LONGEST));
            let until = Instant::now() + lives;
            while Instant::now() < until && process.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
            if process.try_wait().unwrap().is_none() && killed < kills {
                process.kill().unwrap();
                killed += 1;
            }
            process.wait().unwrap();
        }
        unknown += judged(folder.path());
        turns += 1;
    }
    println!("{killed} kills in {turns} turns; of {unknown} calls nobody knows whether they happened");
}

/// Opens the chats of a process that has ended.
fn store(folder: &Path) -> Store {
    Store::open(&folder.join("chats.sqlite")).unwrap()
}

fn is_at_its_end(folder: &Path) -> bool {
    let store = store(folder);
    let Some(chat) = store.chats().unwrap().first().map(|chat| chat.id) else { return false };
    store.messages(chat).unwrap()[1].status == ENDED
}

/// Compares what the server has done with what is stored, and returns of how many calls nobody knows.
fn judged(folder: &Path) -> usize {
    let store = store(folder);
    let chat = store.chats().unwrap()[0].id;
    let reply = store.messages(chat).unwrap()[1].id;
    let calls: Vec<ReplyCall> = store.steps(reply).unwrap().into_iter().flat_map(|step| step.calls).collect();
    let lines = log(folder);
    let mut unknown = 0;
    for call in calls.iter().filter(|call| call.tool == "append") {
        let arguments: serde_json::Value = serde_json::from_str(&call.arguments_written).unwrap();
        let text = arguments["text"].as_str().unwrap();
        let times = lines.iter().filter(|line| line.contains(text)).count();
        let may_be = match call.state {
            CallState::Done => 1..=1,
            CallState::Unknown => 0..=1,
            // The server has ended before the app did.
            CallState::Failed => 0..=1,
            _ => 0..=0,
        };
        assert!(may_be.contains(&times), "{text} was written {times} times: {call:?}");
        assert!(times == 0 || call.decision == Some(CallDecision::AllowedOnce), "{call:?}");
        unknown += usize::from(call.state == CallState::Unknown);
    }
    assert_eq!(calls.len(), 3 * ROUNDS, "each round has its calls");
    unknown
}
