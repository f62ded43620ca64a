//! The protocol that the app speaks with the engine, with the real process.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use foretoken_protocol::{
    ChatMessage, Drafting, ErrorReport, Event, FinishReason, GenerationSettings, ModelInfo, ReplyStats,
    Request, RequestId, Role, Sampling,
};
use foretoken_tests::fixtures::{demo_model, endless_model, write_demo_with_value};
use foretoken_tests::programs::built;

const LOAD: RequestId = 1;
/// More tokens than a test waits for.
const ENDLESS: u32 = 4000;

/// A running engine; it ends with the test.
struct Engine {
    process: Child,
    /// `None` once it is closed.
    requests: Option<ChildStdin>,
    events: BufReader<ChildStdout>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Engine {
    fn start() -> Self {
        let mut command = Command::new(built("foretoken-engine"));
        let mut process = command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let requests = process.stdin.take();
        let events = BufReader::new(process.stdout.take().unwrap());
        let mut engine = Self { process, requests, events };
        let ready = engine.next().unwrap();
        assert!(
            matches!(&ready, Event::Ready { version, device } if !version.is_empty() && !device.is_empty())
        );
        engine
    }

    /// Starts an engine with a model whose replies go on until something ends them.
    fn with_endless_model() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut engine = Self::start();
        engine.load(&endless_model(folder.path())).unwrap();
        engine
    }

    fn write(&mut self, bytes: &[u8]) {
        self.requests.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn send(&mut self, request: &Request) {
        let line = serde_json::to_string(request).unwrap() + "\n";
        self.write(line.as_bytes());
    }

    fn generate(&mut self, id: RequestId, max_tokens: u32) {
        self.send(&generate(id, max_tokens));
    }

    fn next(&mut self) -> Option<Event> {
        let mut line = String::new();
        self.events.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    fn load(&mut self, model: &Path) -> Result<ModelInfo, ErrorReport> {
        self.send(&Request::Load { id: LOAD, model: model.to_str().unwrap().to_owned() });
        let mut before = 0;
        loop {
            match self.next().unwrap() {
                Event::Loading { id: LOAD, done, total } => {
                    assert!(before <= done && done <= total && total > 0);
                    before = done;
                }
                Event::Loaded { id: LOAD, model } => return Ok(model),
                Event::Failed { id: Some(LOAD), error } => return Err(error),
                other => panic!("{other:?} while loading"),
            }
        }
    }

    /// Reads on until a reply's text begins.
    fn first_text(&mut self, expected: RequestId) {
        loop {
            match self.next().unwrap() {
                Event::Reading { id, .. } => assert_eq!(id, expected),
                Event::Tokens { id, tokens } => {
                    assert_eq!(id, expected);
                    assert!(!tokens.is_empty());
                    return;
                }
                other => panic!("{other:?} before the text"),
            }
        }
    }

    /// Reads on to the end of a reply; everything until then is about it.
    fn end(&mut self, expected: RequestId) -> Ended {
        let mut text = String::new();
        loop {
            match self.next().unwrap() {
                Event::Reading { id, done, total } => {
                    assert!(id == expected && done <= total && text.is_empty(), "reply {id}");
                }
                Event::Tokens { id, tokens } => {
                    assert_eq!(id, expected);
                    text.extend(tokens.into_iter().map(|token| token.text));
                }
                Event::Live { id, .. } => assert_eq!(id, expected),
                Event::Finished { id, reason, stats } => {
                    assert_eq!(id, expected);
                    return Ended { reason, stats, text };
                }
                other => panic!("{other:?} in reply {expected}"),
            }
        }
    }

    fn failure(&mut self) -> (Option<RequestId>, ErrorReport) {
        match self.next().unwrap() {
            Event::Failed { id, error } => (id, error),
            other => panic!("{other:?} where a failure is due"),
        }
    }

    /// Closes its input, and waits for its end. Also what it said last.
    fn close(mut self) -> (Vec<Event>, ExitStatus) {
        self.requests = None;
        let mut last = Vec::new();
        while let Some(event) = self.next() {
            last.push(event);
        }
        (last, self.process.wait().unwrap())
    }
}

/// A reply that has ended.
struct Ended {
    reason: FinishReason,
    stats: ReplyStats,
    text: String,
}

fn generate(id: RequestId, max_tokens: u32) -> Request {
    let settings = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Fixed { depth: 2 },
        max_tokens,
        thinking: false,
        stop: Vec::new(),
    };
    let question = ChatMessage { role: Role::User, content: "Tell me a story.".into() };
    Request::Generate { id, messages: vec![question], resume: None, settings }
}

#[test]
fn requests_are_answered_in_order() {
    let mut engine = Engine::start();
    engine.generate(2, 8);
    let (id, error) = engine.failure();
    assert_eq!((id, error.code.as_str()), (Some(2), "no_model"));

    let model = engine.load(&demo_model()).unwrap();
    assert_eq!((model.architecture.as_str(), model.format.as_str()), ("qwen3_5", "bfloat16"));
    engine.generate(3, 24);
    engine.generate(4, 12);
    let (long, short) = (engine.end(3), engine.end(4));
    assert_eq!((long.reason, long.stats.emitted), (FinishReason::Length, 24));
    assert_eq!((short.reason, short.stats.emitted), (FinishReason::Length, 12));
    assert!(!short.text.is_empty() && long.text.starts_with(&short.text));
    let (last, status) = engine.close();
    assert!(last.is_empty() && status.success(), "{last:?}, {status}");
}

#[test]
fn a_folder_that_is_refused_leaves_the_model_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::with_endless_model();
    let error = engine.load(folder.path()).unwrap_err();
    assert_eq!(error.code, "not_a_model_folder");
    engine.generate(2, 8);
    assert_eq!(engine.end(2).stats.emitted, 8);
}

/// Its weights take the place of the model before while they are read.
#[test]
fn weights_that_are_refused_leave_no_model() {
    let folder = tempfile::tempdir().unwrap();
    write_demo_with_value(folder.path(), "mtp.norm.weight", f32::NAN);
    let mut engine = Engine::with_endless_model();
    let error = engine.load(folder.path()).unwrap_err();
    assert_eq!(error.code, "non_finite_tensor");
    engine.generate(2, 8);
    assert_eq!(engine.failure().1.code, "no_model");
    engine.load(&demo_model()).unwrap();
    engine.generate(3, 8);
    assert_eq!(engine.end(3).stats.emitted, 8);
}

#[test]
fn replies_are_cancelled_while_they_wait_and_while_they_are_written() {
    let mut engine = Engine::with_endless_model();
    engine.generate(2, ENDLESS);
    engine.generate(3, ENDLESS);
    engine.generate(4, 24);
    engine.first_text(2);
    for id in [99, 3, 2] {
        engine.send(&Request::Cancel { id });
    }
    assert_eq!(engine.end(2).reason, FinishReason::Cancelled);
    let waiting = engine.end(3);
    assert_eq!(
        (waiting.reason, waiting.stats.emitted, waiting.text.as_str()),
        (FinishReason::Cancelled, 0, "")
    );
    let other = engine.end(4);
    assert_eq!(
        (other.reason, other.stats.emitted),
        (FinishReason::Length, 24),
        "the one that nobody cancelled"
    );

    // Nothing waits: ids of the past and of nobody.
    for id in [2, 4, 99] {
        engine.send(&Request::Cancel { id });
    }
    engine.generate(5, 8);
    assert_eq!(engine.end(5).stats.emitted, 8);
}

#[test]
fn a_line_that_is_no_request_is_refused_and_the_rest_goes_on() {
    let mut engine = Engine::with_endless_model();
    let rubbish: [(&[u8], Option<RequestId>); 5] = [
        (b"rubbish\n", None),
        (b"{\"type\":\"dance\",\"id\":7}\n", Some(7)),
        (b"[1,2]\n", None),
        (b"{\"type\":\"cancel\"\n", None),
        (b"\xff\xfe\n", None),
    ];
    for (line, named) in rubbish {
        engine.write(line);
        let (id, error) = engine.failure();
        assert_eq!((id, error.code.as_str()), (named, "bad_request"), "{error}");
    }
    engine.write(b"\n  \n");
    engine.generate(2, 200);
    engine.first_text(2);
    for (line, _) in rubbish {
        engine.write(line);
    }
    assert_eq!(engine.end(2).stats.emitted, 200);
    for (_, named) in rubbish {
        assert_eq!(engine.failure().0, named);
    }
}

#[test]
fn the_end_of_its_input_ends_a_reply_and_the_engine() {
    let mut engine = Engine::with_endless_model();
    engine.generate(2, ENDLESS);
    engine.generate(3, ENDLESS);
    engine.first_text(2);
    let (last, status) = engine.close();
    assert!(status.success(), "{status}");
    let ends: Vec<_> = last
        .iter()
        .filter_map(|event| match event {
            Event::Finished { id, reason, .. } => Some((*id, *reason)),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [(2, FinishReason::Cancelled), (3, FinishReason::Cancelled)]);
}

#[test]
fn a_request_that_breaks_off_is_refused_and_the_engine_ends() {
    let mut engine = Engine::start();
    engine.write(b"{\"type\":\"load\",\"id\":1,\"mod");
    let (last, status) = engine.close();
    assert!(status.success(), "{status}");
    match &last[..] {
        [Event::Failed { id: None, error }] => assert_eq!(error.code, "bad_request"),
        other => panic!("{other:?}"),
    }
}
