//! The protocol that the app speaks with the engine, with the real process.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use foretoken_protocol::{
    ChatMessage, ConversionProgress, ConversionReport, ConversionSettings, Drafting, ErrorReport, Event,
    FinishReason, GenerationSettings, ModelInfo, ReplyStats, Request, RequestId, Role, Sampling,
};
use foretoken_tests::fixtures::{demo_model, endless_model, write_demo_with_value, write_with_vocab};
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

    fn convert(&mut self, id: RequestId, source: &Path, out: &Path) {
        let [source, out] = [source, out].map(|path| path.to_str().unwrap().to_owned());
        self.send(&Request::Convert { id, source, out, settings: ConversionSettings::default() });
    }

    /// Reads on to the end of a conversion; also the progress until then, which only grows.
    fn converted(
        &mut self,
        expected: RequestId,
    ) -> (Vec<ConversionProgress>, Result<ConversionReport, ErrorReport>) {
        let mut seen: Vec<ConversionProgress> = Vec::new();
        loop {
            match self.next().unwrap() {
                Event::Converting { id, progress } => {
                    assert_eq!(id, expected);
                    assert!(progress.done <= progress.total && progress.tensors_done <= progress.tensors);
                    assert!((1..=progress.shards).contains(&progress.shard), "{progress:?}");
                    assert!(seen.last().is_none_or(|last| last.done <= progress.done));
                    seen.push(progress);
                }
                Event::Converted { id, report } if id == expected => return (seen, Ok(report)),
                Event::Failed { id, error } if id == Some(expected) => return (seen, Err(error)),
                other => panic!("{other:?} while converting"),
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

#[test]
fn a_checkpoint_is_converted_and_loads() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut engine = Engine::start();
    engine.convert(2, &demo_model(), &out);
    let (progress, report) = engine.converted(2);
    let (last, report) = (progress.last().unwrap(), report.unwrap());
    assert_eq!((last.done, last.tensors_done), (last.total, last.tensors));
    assert_eq!((Path::new(&report.path), report.resumed), (out.as_path(), false));
    assert!(report.bytes < report.source_bytes / 3, "{report:?}");
    let model = engine.load(&out).unwrap();
    assert_eq!((model.parameters, model.weight_bytes), (report.parameters, report.bytes));
    engine.generate(3, 8);
    assert_eq!(engine.end(3).stats.emitted, 8);

    engine.convert(4, &demo_model(), &out);
    assert_eq!(engine.converted(4).1.unwrap_err().code, "target_exists");
    engine.convert(5, &out, &folder.path().join("again"));
    assert_eq!(engine.converted(5).1.unwrap_err().code, "already_quantized");
    engine.generate(6, 8);
    assert_eq!(engine.end(6).stats.emitted, 8, "a conversion leaves the loaded model");
}

#[test]
fn a_conversion_is_cancelled_and_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let (source, out, work) =
        (folder.path().join("large"), folder.path().join("out"), folder.path().join("out.partial"));
    std::fs::create_dir(&source).unwrap();
    // A gigabyte of zeros to read.
    write_with_vocab(&source, 1 << 23);
    let mut engine = Engine::start();
    engine.convert(2, &source, &out);
    engine.convert(3, &source, &folder.path().join("other"));
    assert!(matches!(engine.next(), Some(Event::Converting { id: 2, .. })));
    engine.send(&Request::Cancel { id: 3 });
    engine.send(&Request::Cancel { id: 2 });
    for id in [2, 3] {
        let (progress, report) = engine.converted(id);
        assert_eq!(report.unwrap_err().code, "cancelled");
        assert!(progress.iter().all(|progress| progress.done < progress.total));
    }
    assert!(work.is_dir() && !out.exists());
    for _ in 0..2 {
        engine.send(&Request::DiscardConversion { id: 4, out: out.to_str().unwrap().to_owned() });
        assert!(matches!(engine.next(), Some(Event::Discarded { id: 4 })));
        assert!(!work.exists());
    }
    engine.convert(5, &demo_model(), &out);
    assert!(!engine.converted(5).1.unwrap().resumed);
}
