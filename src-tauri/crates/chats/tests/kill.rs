//! A process that is killed in the middle of writing loses nothing that a call has returned from.
#![cfg(unix)]

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use foretoken_chats::Store;
use foretoken_protocol::{FinishReason, GenerationSettings, MessageId, MessageStatus, Provenance, Thinking};

/// Names the database to the writing process.
const DATABASE: &str = "FORETOKEN_CHATS_TEST_DATABASE";
const ROUNDS: u32 = 10;
const UPDATES: usize = 20;
const STOPPED: MessageStatus = MessageStatus::Finished { reason: FinishReason::Stop };

/// What the writing process says that a call has returned from.
#[derive(Debug, PartialEq)]
enum Done {
    Asked(MessageId),
    Begun(MessageId),
    Updated(MessageId, usize),
    Finished(MessageId),
}

impl Done {
    fn line(&self) -> String {
        match self {
            Self::Asked(id) => format!("asked {id} 0\n"),
            Self::Begun(id) => format!("begun {id} 0\n"),
            Self::Updated(id, update) => format!("updated {id} {update}\n"),
            Self::Finished(id) => format!("finished {id} 0\n"),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<_> = line.split_whitespace().collect();
        let [verb, id, update] = words.as_slice() else { return None };
        let (id, update) = (id.parse().ok()?, update.parse().ok()?);
        match *verb {
            "asked" => Some(Self::Asked(id)),
            "begun" => Some(Self::Begun(id)),
            "updated" => Some(Self::Updated(id, update)),
            "finished" => Some(Self::Finished(id)),
            _ => None,
        }
    }
}

fn question() -> String {
    "a question ".repeat(50)
}

fn text(update: usize) -> String {
    piece().repeat(update)
}

fn piece() -> String {
    "several words of an answer ".repeat(10)
}

fn settings() -> GenerationSettings {
    GenerationSettings {
        sampling: Default::default(),
        drafting: Default::default(),
        max_tokens: 64,
        thinking: Thinking::Off,
        stop: vec![],
    }
}

/// Asks and answers without end, and says on stderr what is done.
fn write_until_killed(path: &Path) -> ! {
    let say = |done: Done| {
        // One write a line; it fails when nobody listens any more, which ends this process.
        std::io::stderr().write_all(done.line().as_bytes()).expect("somebody listens");
    };
    let mut store = Store::open(path).unwrap();
    let chat = match store.chats().unwrap().first() {
        Some(chat) => chat.id,
        None => store.create_chat("killed").unwrap().id,
    };
    let mut parent = store.messages(chat).unwrap().last().map(|message| message.id);
    loop {
        let asked = store.add_user_message(chat, parent, &question()).unwrap().id;
        say(Done::Asked(asked));
        let reply = store.begin_reply(chat, asked, "demo", &settings()).unwrap().id;
        say(Done::Begun(reply));
        for update in 1..=UPDATES {
            store.append_to_reply(reply, &piece(), "", &Provenance::default()).unwrap();
            say(Done::Updated(reply, update));
        }
        store.finish_reply(reply, STOPPED, None, None).unwrap();
        say(Done::Finished(reply));
        parent = Some(reply);
    }
}

#[test]
#[ignore = "the process that the other test starts and kills"]
fn writer() {
    let path = std::env::var_os(DATABASE).expect("is started by the other test");
    write_until_killed(Path::new(&path));
}

/// Runs a writer, kills it after `delay` of writing, and returns what it had said.
fn killed_writer(path: &Path, delay: Duration) -> Vec<Done> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "writer", "--nocapture"])
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
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{first}");
    let mut said = vec![first.trim_end().to_owned()];
    said.extend(reader.join().unwrap());
    said.iter().map(|line| Done::parse(line).unwrap_or_else(|| panic!("the writer said {line:?}"))).collect()
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    kill_and_look(ROUNDS);
}

#[test]
#[ignore = "the long form of the test above, some minutes"]
fn nothing_acknowledged_is_lost_in_hundreds_of_kills() {
    kill_and_look(50 * ROUNDS);
}

fn kill_and_look(rounds: u32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let mut asked = Vec::new();
    let mut finished = Vec::new();
    for round in 0..rounds {
        let delay = Duration::from_millis(RandomState::new().hash_one(round) % 250);
        let said = killed_writer(&path, delay);
        let store = Store::open(&path).unwrap();
        for done in &said {
            let message =
                |id| store.message(id).unwrap_or_else(|error| panic!("round {round}, {done:?}: {error}"));
            match *done {
                Done::Asked(id) => {
                    assert_eq!(message(id).text, question());
                    asked.push(id);
                }
                Done::Begun(id) => assert_ne!(message(id).status, MessageStatus::Streaming),
                Done::Updated(id, update) => assert!(message(id).text.len() >= text(update).len()),
                Done::Finished(id) => finished.push(id),
            }
        }
        // What was under way is whole too: one update or another, never part of one.
        let chat = store.chats().unwrap()[0].id;
        let branch = store.messages(chat).unwrap();
        for reply in branch.iter().filter(|message| message.model.is_some()) {
            assert!((0..=UPDATES).any(|update| text(update) == reply.text), "round {round}, {}", reply.id);
        }
        // All earlier rounds are still there, in one line.
        let on_branch = |id: &MessageId| branch.iter().any(|message| message.id == *id);
        assert!(asked.iter().all(on_branch), "round {round}");
        for id in &finished {
            let reply = store.message(*id).unwrap();
            assert_eq!((reply.status, reply.text), (STOPPED, text(UPDATES)), "round {round}");
        }
        println!("round {round}: killed after {delay:?}, {} writes, {} messages", said.len(), branch.len());
    }
}
