//! The protocol that the app speaks with the engine, with the real process.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use foretoken_engine::text::Tokenizer;
use foretoken_protocol::{
    ChatMessage, Counters, Drafting, DraftingNote, ErrorReport, Event, FinishReason, GenerationSettings,
    KvPrecision, MAX_DEPTH, ModelInfo, Part, PositionStats, Priority, ReplyStats, Request, RequestId,
    Sampling, StopScope, Thinking, TokenLogprobs,
};
use foretoken_tests::drafted::{draft_config, write_draft};
use foretoken_tests::fixtures::{demo_draft_model, demo_model, endless_model, write_demo_with_value};
use foretoken_tests::programs::built;
use serde_json::{Value, json};

const LOAD: RequestId = 1;
/// More tokens than a test waits for.
const ENDLESS: u32 = 4000;

/// A running engine; it ends with the test.
struct Engine {
    process: Child,
    /// `None` once it is closed.
    requests: Option<ChildStdin>,
    events: BufReader<ChildStdout>,
    /// Read already, and not asked for yet.
    early: VecDeque<Event>,
    /// How many have come; they are no answers.
    heartbeats: u32,
    /// What it counted last.
    counters: Counters,
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Engine {
    fn start() -> Self {
        Self::start_with(&[])
    }

    fn start_with(arguments: &[&OsStr]) -> Self {
        let mut command = Command::new(built("foretoken-engine"));
        command.arg("serve").args(arguments);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let requests = process.stdin.take();
        let events = BufReader::new(process.stdout.take().unwrap());
        let mut engine = Self {
            process,
            requests,
            events,
            early: VecDeque::new(),
            heartbeats: 0,
            counters: Counters::default(),
        };
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
        self.send_all(std::slice::from_ref(request));
    }

    /// Sends requests in one go.
    fn send_all(&mut self, requests: &[Request]) {
        let lines: String =
            requests.iter().map(|request| serde_json::to_string(request).unwrap() + "\n").collect();
        self.write(lines.as_bytes());
    }

    fn generate(&mut self, id: RequestId, max_tokens: u32) {
        self.send(&generate(id, max_tokens));
    }

    /// The next event about a request; those about others are kept for later.
    fn next_about(&mut self, expected: Option<RequestId>) -> Event {
        if let Some(index) = self.early.iter().position(|event| id_of(event) == expected) {
            return self.early.remove(index).unwrap();
        }
        loop {
            let event = self.read().expect("the engine runs");
            if id_of(&event) == expected {
                return event;
            }
            self.early.push_back(event);
        }
    }

    fn next(&mut self) -> Option<Event> {
        self.early.pop_front().or_else(|| self.read())
    }

    fn read(&mut self) -> Option<Event> {
        loop {
            let mut line = String::new();
            self.events.read_line(&mut line).unwrap();
            if line.is_empty() {
                return None;
            }
            match serde_json::from_str(&line).unwrap() {
                Event::Heartbeat => self.heartbeats += 1,
                Event::Counters { counters } => self.counters = counters,
                event => return Some(event),
            }
        }
    }

    fn load(&mut self, model: &Path) -> Result<ModelInfo, ErrorReport> {
        self.send(&load(LOAD, model));
        self.loaded(LOAD)
    }

    fn loaded(&mut self, expected: RequestId) -> Result<ModelInfo, ErrorReport> {
        let mut before = 0;
        loop {
            match self.next_about(Some(expected)) {
                Event::Loading { done, total, .. } => {
                    assert!(before <= done && done <= total && total > 0);
                    before = done;
                }
                Event::Loaded { model, .. } => return Ok(*model),
                Event::Failed { error, .. } => return Err(error),
                other => panic!("{other:?} while loading"),
            }
        }
    }

    /// Reads on until a reply's text begins, and returns the beginning.
    fn first_text(&mut self, expected: RequestId) -> String {
        loop {
            match self.next_about(Some(expected)) {
                Event::Prepared { .. } | Event::Waiting { .. } | Event::Reading { .. } => {}
                Event::Tokens { tokens, .. } => {
                    assert!(!tokens.is_empty());
                    return tokens.into_iter().map(|token| token.text).collect();
                }
                other => panic!("{other:?} before the text"),
            }
        }
    }

    /// Reads on to the end of a reply.
    fn end(&mut self, expected: RequestId) -> Ended {
        let (mut text, mut logprobs, mut waited) = (String::new(), Vec::new(), Vec::new());
        let (mut answer, mut prompt_tokens) = (String::new(), None);
        loop {
            match self.next_about(Some(expected)) {
                Event::Prepared { tokens, .. } => {
                    assert!(waited.is_empty() && text.is_empty());
                    prompt_tokens = Some(tokens);
                }
                Event::Waiting { ahead, .. } => {
                    assert!(text.is_empty());
                    waited.push(ahead);
                }
                Event::Reading { id, done, total } => {
                    assert!(done <= total && text.is_empty(), "reply {id}");
                }
                Event::Tokens { tokens, logprobs: some, .. } => {
                    let answered = tokens.iter().filter(|token| token.part == Part::Answer);
                    answer.extend(answered.map(|token| token.text.as_str()));
                    text.extend(tokens.into_iter().map(|token| token.text));
                    logprobs.extend(some);
                }
                Event::Live { .. } => {}
                Event::Finished { reason, stats, .. } => {
                    if let Some(prompt_tokens) = prompt_tokens.filter(|_| reason != FinishReason::Cancelled) {
                        assert_eq!(prompt_tokens, stats.prompt_tokens);
                    }
                    return Ended { reason, stats: *stats, text, answer, logprobs, waited };
                }
                other => panic!("{other:?} in reply {expected}"),
            }
        }
    }

    fn failure(&mut self, expected: Option<RequestId>) -> ErrorReport {
        loop {
            match self.next_about(expected) {
                Event::Prepared { .. } => {}
                Event::Failed { error, .. } => return error,
                other => panic!("{other:?} where a failure is due"),
            }
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
    /// Its text without the thinking.
    answer: String,
    logprobs: Vec<TokenLogprobs>,
    /// Replies before it, as it was told.
    waited: Vec<u32>,
}

fn id_of(event: &Event) -> Option<RequestId> {
    match event {
        Event::Ready { .. } | Event::Heartbeat | Event::Counters { .. } | Event::Ring { .. } => None,
        Event::Failed { id, .. } => *id,
        Event::Loading { id, .. }
        | Event::Loaded { id, .. }
        | Event::Counted { id, .. }
        | Event::Prepared { id, .. }
        | Event::Waiting { id, .. }
        | Event::Reading { id, .. }
        | Event::Looking { id, .. }
        | Event::Tokens { id, .. }
        | Event::Live { id, .. }
        | Event::Finished { id, .. } => Some(*id),
    }
}

fn load(id: RequestId, model: &Path) -> Request {
    let model = model.to_str().unwrap().to_owned();
    Request::Load { id, model, kv_precision: KvPrecision::Full, draft_model: None }
}

fn generate(id: RequestId, max_tokens: u32) -> Request {
    generate_with(id, max_tokens, Drafting::Fixed { depth: 2 })
}

/// A request for a reply, with nothing that most do not need.
fn asking(id: RequestId, messages: Vec<ChatMessage>, settings: GenerationSettings) -> Request {
    let input = messages.into();
    Request::Generate {
        id,
        input,
        settings,
        logprobs: None,
        stop_scope: StopScope::All,
        constraint: Box::default(),
        priority: Priority::Interactive,
        prediction: None,
        remember: None,
    }
}

fn generate_with(id: RequestId, max_tokens: u32, drafting: Drafting) -> Request {
    let settings = GenerationSettings {
        sampling: Sampling::default(),
        drafting,
        max_tokens,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    let question = ChatMessage::user("Tell me a story.");
    asking(id, vec![question], settings)
}

/// More text than any model here reads, which takes a while to be cut into tokens.
fn endless_question(id: RequestId) -> Request {
    let Request::Generate { settings, .. } = generate(id, 8) else { unreachable!() };
    let question = ChatMessage::user("A bell rings. ".repeat(500_000));
    asking(id, vec![question], settings)
}

/// A prompt that takes a while to be read.
fn long_question(id: RequestId, max_tokens: u32) -> Request {
    let Request::Generate { settings, .. } = generate(id, max_tokens) else { unreachable!() };
    let question = ChatMessage::user("A bell rings. ".repeat(500));
    asking(id, vec![question], settings)
}

#[test]
fn a_reply_goes_on_while_another_ones_prompt_is_made() {
    let mut engine = Engine::with_endless_model();
    engine.generate(2, ENDLESS);
    engine.first_text(2);
    engine.send_all(&[endless_question(3), generate(4, 8)]);
    let mut meanwhile = 0;
    let error = loop {
        match engine.next().expect("the engine answers") {
            Event::Failed { id: Some(3), error } => break error,
            Event::Tokens { id: 2, .. } => meanwhile += 1,
            Event::Live { id: 2, .. } | Event::Prepared { .. } => {}
            other => panic!("{other:?}: nobody overtakes, and the reply need not end first"),
        }
    };
    assert_eq!(error.code, "prompt_too_long");
    assert!(meanwhile > 20, "the reply stood still: {meanwhile}");
    assert_eq!(engine.end(4).stats.emitted, 8);

    // Whoever is not wanted any more leaves at once, and holds nobody up. Nothing comes of it later.
    engine.send_all(&[endless_question(5), generate(6, 8), load(7, &demo_model())]);
    for _ in 0..10 {
        assert!(matches!(engine.next(), Some(Event::Tokens { id: 2, .. } | Event::Live { id: 2, .. })));
    }
    engine.send_all(&[Request::Cancel { id: 5 }, Request::Cancel { id: 2 }]);
    let cancelled = engine.end(5);
    assert_eq!((cancelled.reason, cancelled.text.as_str()), (FinishReason::Cancelled, ""));
    assert_eq!(engine.end(6).stats.emitted, 8);
    engine.loaded(7).unwrap();
    engine.generate(5, 8);
    assert_eq!(engine.end(5).reason, FinishReason::Length);

    // The end of its input ends the engine, whatever it does.
    engine.send(&endless_question(8));
    let (last, status) = engine.close();
    assert!(status.success());
    assert!(
        matches!(last.last(), Some(Event::Finished { id: 8, reason: FinishReason::Cancelled, .. })),
        "{last:?}"
    );
}

#[test]
fn requests_are_answered() {
    let mut engine = Engine::start();
    engine.generate(2, 8);
    assert_eq!(engine.failure(Some(2)).code, "no_model");

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
fn what_the_engine_has_done_is_told_behind_each_reply() {
    let mut engine = Engine::start();
    engine.load(&demo_model()).unwrap();
    engine.send(&long_question(2, 8));
    engine.end(2);
    engine.send(&long_question(3, 8));
    let cached = engine.end(3).stats.cached_tokens;
    assert!(cached > 0);
    // What comes behind the reply has been read when this is answered.
    engine.send(&Request::Count { id: 4, texts: vec!["a bell".into()] });
    assert!(matches!(engine.next_about(Some(4)), Event::Counted { .. }));
    let Counters { prefix_lookups, prefix_hits, prefix_hit_tokens, .. } = engine.counters;
    assert_eq!((prefix_lookups, prefix_hits, prefix_hit_tokens), (2, 1, u64::from(cached)));
}

/// A chat of a question, or of an answer to it and another question too, of which `remember` is the owner.
fn in_a_chat(id: RequestId, first: Option<&Ended>, remember: Option<u64>) -> Request {
    let question = ChatMessage::user(format!("{} Tell me a story.", "A bell rings. ".repeat(60)));
    let behind = first.map(|first| [ChatMessage::assistant(&first.answer), ChatMessage::user("And then?")]);
    let messages = [question].into_iter().chain(behind.into_iter().flatten()).collect();
    let mut request = generate(id, 40);
    let Request::Generate { input, remember: owner, .. } = &mut request else { unreachable!() };
    *input = Vec::into(messages);
    *owner = remember;
    request
}

/// What an engine of its own answers to a request, and how much of the prompt it had not to read.
fn answered(state: &Path, request: &Request, precision: KvPrecision) -> (Ended, u32) {
    let mut engine = Engine::start_with(&["--state-dir".as_ref(), state.as_ref()]);
    let Request::Load { id, model, draft_model, .. } = load(LOAD, &demo_model()) else { unreachable!() };
    engine.send(&Request::Load { id, model, kv_precision: precision, draft_model });
    engine.loaded(LOAD).unwrap();
    engine.send(request);
    let ended = engine.end(request.id());
    assert!(engine.close().1.success());
    let cached = ended.stats.cached_tokens;
    (ended, cached)
}

fn prefix_files(state: &Path) -> Vec<PathBuf> {
    let Ok(folder) = fs::read_dir(state.join("prefixes")) else { return Vec::new() };
    let paths = folder.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "kv" || end == "state")).collect()
}

/// What is kept of it is read by the next process, which writes what one that read everything would.
#[test]
fn a_chat_that_is_to_be_remembered_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let full = |state: &Path, request: &Request| answered(state, request, KvPrecision::Full);
    let [kept, nothing] = ["kept", "nothing"].map(|name| folder.path().join(name));
    // Without a folder for them nothing is kept.
    let (first, _) = full(&kept, &in_a_chat(2, None, Some(7)));
    assert!(prefix_files(&kept).is_empty());
    [&kept, &nothing].into_iter().for_each(|state| fs::create_dir_all(state.join("prefixes")).unwrap());
    full(&kept, &in_a_chat(2, None, Some(7)));
    full(&nothing, &in_a_chat(2, None, None));
    assert!(!prefix_files(&kept).is_empty());
    assert!(prefix_files(&nothing).is_empty(), "it was not to be remembered");
    let go_on = |remember| in_a_chat(3, Some(&first), remember);
    let (fresh, cached) = full(&nothing, &go_on(None));
    assert_eq!(cached, 0);
    let prompt = fresh.stats.prompt_tokens;
    // Whoever is not to be remembered does not learn either what is on the disk.
    assert_eq!(full(&kept, &go_on(None)).1, 0);
    // Other keys and values are another model's.
    let eight = |state: &Path| answered(state, &go_on(Some(7)), KvPrecision::Eight);
    let (in_eight, cached) = eight(&kept);
    assert_eq!(cached, 0);
    let (again, cached) = eight(&kept);
    assert!(cached + 80 > prompt && again.text == in_eight.text, "{cached} of {prompt} tokens");
    let (again, cached) = full(&kept, &go_on(Some(7)));
    // All but the answer, whose template changes once it is answered, and what follows.
    assert!(cached + 80 > prompt, "{cached} of {prompt} tokens");
    assert_eq!(again.text, fresh.text);
    // Whoever comes now goes on from there, and so does another chat that begins alike.
    assert!(full(&kept, &go_on(Some(8))).1 >= cached);
    for path in prefix_files(&kept) {
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() - 100;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();
    }
    let (damaged, cached) = full(&kept, &go_on(Some(7)));
    assert_eq!((damaged.text.as_str(), cached), (fresh.text.as_str(), 0));
    assert!(full(&kept, &go_on(Some(7))).1 > 0, "it is kept anew");
}

/// The template drops the thinking of a turn that was answered, so that what comes behind the thinking is read again.
#[test]
fn what_the_next_turn_begins_with_is_read_while_nobody_asks() {
    let mut engine = Engine::start();
    engine.load(&demo_model()).unwrap();
    // Cached and read tokens of a second turn that comes some time after the first.
    let mut second_turn = |id: RequestId, priority: Priority, question: &str, pause: Duration| -> [u32; 2] {
        let mut messages = vec![ChatMessage::user(question)];
        let mut ask = |id: RequestId, messages: Vec<ChatMessage>, max_tokens: u32| {
            let mut request = generate(id, max_tokens);
            let Request::Generate { input, settings, priority: of, .. } = &mut request else {
                unreachable!()
            };
            (*input, settings.thinking, *of) = (messages.into(), Thinking::Normal, priority);
            engine.send(&request);
            engine.end(id)
        };
        let first = ask(id, messages.clone(), 400);
        assert!(
            first.reason == FinishReason::Stop && first.text.len() > first.answer.len(),
            "{}",
            first.text
        );
        sleep(pause);
        messages.extend([ChatMessage::assistant(first.answer), ChatMessage::user("And then?")]);
        let second = ask(id + 1, messages, 1).stats;
        [second.cached_tokens, second.prompt_tokens - second.cached_tokens]
    };
    let knight = "write something about a knight and an axe";
    let [_, read_for_a_program] = second_turn(10, Priority::Normal, knight, Duration::from_secs(1));
    // The question, and what begins the reply.
    const MOST: u32 = 24;
    assert!(read_for_a_program > 2 * MOST, "{read_for_a_program} tokens show nothing");
    // However slow this machine is.
    let read: Vec<[u32; 2]> = ["bee", "jar", "ship", "king", "fox"]
        .into_iter()
        .zip([1, 2, 4, 8, 16])
        .zip((20..).step_by(10))
        .map(|((about, pause), id)| {
            let question = format!("write something about a {about} and an axe");
            second_turn(id, Priority::Interactive, &question, Duration::from_secs(pause))
        })
        .scan(false, |done, turn| {
            let go_on = !*done;
            *done = turn[1] <= MOST;
            go_on.then_some(turn)
        })
        .collect();
    println!("cached and read: {read:?}; {read_for_a_program} read for a program");
    assert!(read.last().is_some_and(|turn| turn[1] <= MOST), "{read:?}");
}

/// The identities of the counts, on real replies: every pass emits the drafts that stay and one token of its own,
/// unless the reply ends with a draft.
#[test]
fn the_counts_of_a_reply_fit_together_and_to_its_tokens() {
    let mut engine = Engine::start();
    engine.load(&demo_model()).unwrap();
    let drafting =
        [Drafting::Off, Drafting::Auto, Drafting::Fixed { depth: 1 }, Drafting::Fixed { depth: 3 }];
    let cases = drafting.iter().flat_map(|&drafting| [(drafting, 7), (drafting, 400)]);
    for (id, (drafting, max_tokens)) in (2..).zip(cases) {
        let Request::Generate { input, settings, .. } = generate_with(id, max_tokens, drafting) else {
            unreachable!()
        };
        let settings = GenerationSettings { thinking: Thinking::Normal, ..settings };
        let sampling = settings.sampling;
        engine.send(&Request::Generate {
            id,
            input,
            settings,
            logprobs: Some(0),
            stop_scope: StopScope::All,
            constraint: Box::default(),
            priority: Priority::Interactive,
            prediction: None,
            remember: None,
        });
        let (mut tokens, mut from_drafts) = (0, 0);
        let (reason, stats) = loop {
            match engine.next_about(Some(id)) {
                Event::Tokens { tokens: texts, logprobs, .. } => {
                    // One entry a token; a token of both parts has two texts.
                    tokens += logprobs.len() as u32;
                    let mut drafts: Vec<u8> = texts.iter().filter_map(|text| text.draft_position).collect();
                    drafts.dedup();
                    if !logprobs.is_empty() {
                        from_drafts += drafts.len() as u32;
                    }
                }
                Event::Finished { reason, stats, .. } => break (reason, stats),
                Event::Failed { error, .. } => panic!("{error}"),
                _ => {}
            }
        };
        assert_eq!(tokens, stats.emitted, "{stats:?}");
        let accepted: u32 = stats.positions.iter().map(|position| position.accepted).sum();
        let drafted: u32 = stats.positions.iter().map(|position| position.drafted).sum();
        // The stop token is emitted by a pass and not counted; where it was a draft, it has no token after it.
        let unseen = accepted + stats.steps - stats.emitted;
        let stopped = reason == FinishReason::Stop;
        assert!(if stopped { (1..=2).contains(&unseen) } else { unseen == 0 }, "{reason:?} {stats:?}");
        assert_eq!(accepted - from_drafts, unseen.saturating_sub(1), "{stats:?}");
        assert_eq!(drafted == 0, drafting == Drafting::Off || stats.positions.is_empty());

        let per_pass = |position: &PositionStats| f64::from(position.accepted) / f64::from(stats.steps);
        assert!(stats.positions.is_sorted_by(|near, far| per_pass(near) >= per_pass(far)), "{stats:?}");

        let thinking = stats.thinking;
        assert!(thinking.steps > 0 && thinking.emitted <= stats.emitted && thinking.steps <= stats.steps);
        assert!(thinking.accepted <= thinking.drafted && thinking.drafted <= drafted);
        assert_eq!(thinking.steps < stats.steps, stopped, "the answer comes after the thinking: {stats:?}");

        let steps = stats.steps as usize;
        assert_eq!(stats.depth.depths.len(), steps.div_ceil(stats.depth.steps_per_entry as usize));
        assert!(stats.depth.depths.len() <= 64);
        assert_eq!((stats.sampling, stats.shared_steps), (sampling, 0));
        assert_eq!(stats.version, env!("CARGO_PKG_VERSION"));
        let known = stats.draft_seconds + stats.verify_seconds + stats.sample_seconds + stats.host_seconds;
        assert!(known <= stats.decode_seconds * 1.001 + 1e-6, "{stats:?}");
        if steps > 2 {
            assert!(stats.sample_seconds > 0.0, "{stats:?}");
        }
    }
}

#[test]
fn tokens_are_counted_beside_a_reply_as_the_model_reads_them() {
    let mut engine = Engine::start();
    // The last takes long enough to be noticed.
    let texts = vec![String::new(), "owl".into(), "An owl and a bell.".into(), "A bell. ".repeat(200_000)];
    engine.send(&Request::Count { id: 1, texts: texts.clone() });
    assert_eq!(engine.failure(Some(1)).code, "no_model");

    let mut engine = Engine::with_endless_model();
    engine.generate(2, 3000);
    engine.first_text(2);
    engine.send(&Request::Count { id: 3, texts });
    let mut meanwhile = 0;
    let tokens = loop {
        match engine.next().expect("the engine answers") {
            Event::Counted { id: 3, tokens } => break tokens,
            Event::Tokens { id: 2, .. } => meanwhile += 1,
            Event::Finished { .. } => panic!("the reply need not end first"),
            _ => {}
        }
    };
    assert!(meanwhile > 5, "the reply stood still: {meanwhile}");
    assert_eq!(tokens[0], 0);
    assert!(0 < tokens[1] && tokens[1] < tokens[2], "{tokens:?}");
    let demo = Tokenizer::load(&demo_model()).unwrap();
    assert_eq!(tokens[2] as usize, demo.encode("An owl and a bell.").unwrap().len());
    engine.send(&Request::Cancel { id: 2 });
    assert_eq!(engine.end(2).reason, FinishReason::Cancelled);
}

/// Whoever supervises the engine learns from them that it is not stuck.
#[test]
fn heartbeats_come_while_something_is_done_and_only_then() {
    let mut engine = Engine::with_endless_model();
    assert!(engine.heartbeats > 0, "while it loads");
    for id in 2..4 {
        engine.heartbeats = 0;
        let begin = Instant::now();
        engine.generate(id, ENDLESS);
        while engine.heartbeats < 3 {
            let event = engine.next_about(Some(id));
            assert!(!matches!(event, Event::Finished { .. }), "it is told while it is written");
        }
        engine.send(&Request::Cancel { id });
        assert_eq!(engine.end(id).reason, FinishReason::Cancelled);
        let most = begin.elapsed().as_millis() / 250 + 1;
        assert!(u128::from(engine.heartbeats) <= most, "{} in a time for {most}", engine.heartbeats);
    }
    engine.heartbeats = 0;
    sleep(Duration::from_secs(1));
    engine.send(&Request::Count { id: 4, texts: vec!["owl".into()] });
    assert!(matches!(engine.next_about(Some(4)), Event::Counted { .. }));
    assert_eq!(engine.heartbeats, 0, "nothing was done");
}

/// However long it takes to make a prompt: that is done elsewhere.
#[test]
fn heartbeats_come_while_a_prompt_is_made() {
    let mut engine = Engine::with_endless_model();
    engine.heartbeats = 0;
    let Request::Generate { settings, .. } = generate(2, 8) else { unreachable!() };
    engine.send(&asking(2, vec![ChatMessage::user("A bell. ".repeat(1_000_000))], settings));
    assert_eq!(engine.failure(Some(2)).code, "prompt_too_long");
    assert!(engine.heartbeats > 0);
}

/// Nobody but itself could end it.
#[test]
#[ignore = "takes a minute"]
fn an_engine_that_is_stuck_ends_a_minute_after_its_input_has() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(demo_model()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let tokenizer = folder.path().join("tokenizer.json");
    fs::remove_file(&tokenizer).unwrap();
    // Whoever opens it waits for a writer.
    assert!(Command::new("mkfifo").arg(&tokenizer).status().unwrap().success());
    let mut engine = Engine::start();
    engine.send(&load(LOAD, folder.path()));
    let (events, status) = engine.close();
    assert!(events.is_empty(), "{events:?}");
    assert!(!status.success());
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
    assert_eq!(engine.failure(Some(2)).code, "no_model");
    engine.load(&demo_model()).unwrap();
    engine.generate(3, 8);
    assert_eq!(engine.end(3).stats.emitted, 8);
}

/// Replies are written side by side, and read as they would alone.
#[test]
fn several_replies_are_written_at_once() {
    let mut engine = Engine::with_endless_model();
    engine.generate(2, 60);
    let alone = engine.end(2).text;
    // All of them are there when the model is. Two prompts are read at a time, and these take so long that others wait.
    let folder = tempfile::tempdir().unwrap();
    let mut requests =
        vec![load(LOAD, &endless_model(folder.path())), long_question(3, ENDLESS), long_question(4, ENDLESS)];
    requests.extend((5..=8).map(|id| generate(id, 60)));
    engine.send_all(&requests);
    engine.loaded(LOAD).unwrap();
    for id in 5..=8 {
        let reply = engine.end(id);
        assert_eq!((reply.reason, reply.text), (FinishReason::Length, alone.clone()));
        // They are told how many come before them. Those who came first may be at work when the last ones are taken in.
        let first = reply.waited.first();
        assert!(first.is_some_and(|&first| first <= id as u32 - 5), "reply {id}: {:?}", reply.waited);
        assert!(reply.waited.is_sorted_by(|a, b| a > b), "{:?}", reply.waited);
    }
    for id in [3, 4] {
        engine.send(&Request::Cancel { id });
        let long = engine.end(id);
        assert_eq!(long.reason, FinishReason::Cancelled);
        engine.send(&long_question(9, long.stats.emitted));
        assert_eq!(engine.end(9).text, long.text, "as alone");
    }
}

#[test]
fn replies_are_cancelled_while_they_wait_and_while_they_are_written() {
    let mut engine = Engine::with_endless_model();
    for id in 2..=4 {
        engine.generate(id, ENDLESS);
    }
    engine.first_text(2);
    engine.first_text(4);
    for id in [99, 3] {
        engine.send(&Request::Cancel { id });
    }
    assert_eq!(engine.end(3).reason, FinishReason::Cancelled);
    // Behind a load nothing begins before the others have ended.
    engine.send_all(&[load(5, &demo_model()), generate(6, ENDLESS), generate(7, 24)]);
    engine.send(&Request::Cancel { id: 6 });
    let waiting = engine.end(6);
    assert_eq!((waiting.reason, waiting.stats.emitted, &*waiting.text), (FinishReason::Cancelled, 0, ""));
    for id in [2, 4] {
        engine.send(&Request::Cancel { id });
        let ended = engine.end(id);
        assert_eq!(ended.reason, FinishReason::Cancelled);
        assert!(ended.stats.emitted > 0);
    }
    engine.loaded(5).unwrap();
    assert_eq!(engine.end(7).stats.emitted, 24, "the one that nobody cancelled");

    // Nothing waits: ids of the past and of nobody.
    for id in [2, 4, 99, 100] {
        engine.send(&Request::Cancel { id });
    }
    engine.generate(100, 8);
    assert_eq!(engine.end(100).stats.emitted, 8);
}

/// A load waits for the replies before it, and can be cancelled meanwhile and while it is at work.
#[test]
fn loads_wait_for_replies_and_can_be_cancelled() {
    let mut engine = Engine::with_endless_model();
    engine.generate(2, ENDLESS);
    engine.first_text(2);
    engine.send_all(&[load(3, &demo_model()), generate(4, 12), Request::Cancel { id: 3 }]);
    assert_eq!(engine.failure(Some(3)).code, "cancelled");
    // What waited behind it begins at once, beside the other.
    assert_eq!(engine.end(4).stats.emitted, 12);
    engine.send(&load(5, &demo_model()));
    engine.send(&Request::Cancel { id: 2 });
    assert_eq!(engine.end(2).reason, FinishReason::Cancelled);
    engine.loaded(5).unwrap();

    engine.send_all(&[
        load(6, &demo_model()),
        Request::Cancel { id: 6 },
        load(7, &demo_model()),
        generate(8, 12),
    ]);
    assert_eq!(engine.loaded(6).unwrap_err().code, "cancelled");
    engine.loaded(7).unwrap();
    assert_eq!(engine.end(8).stats.emitted, 12);
}

/// A model drafts with the draft model that it is loaded with, and goes without one that cannot be used.
#[test]
fn a_draft_model_is_loaded_with_its_target_or_left_out() {
    let mut engine = Engine::start();
    let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for entry in fs::read_dir(demo_draft_model()).unwrap() {
        let file = entry.unwrap();
        fs::copy(file.path(), own.path().join(file.file_name())).unwrap();
    }
    write_draft(other.path(), &draft_config(6));
    let mut load_with = |id, draft_model: &Path| {
        let Request::Load { model, kv_precision, .. } = load(id, &demo_model()) else { unreachable!() };
        let draft_model = Some(draft_model.to_str().unwrap().to_owned());
        engine.send(&Request::Load { id, model, kv_precision, draft_model });
        let info = engine.loaded(id).unwrap();
        engine.send(&generate_with(id + 1, 24, Drafting::Dflash { depth: Some(3) }));
        (info, engine.end(id + 1).stats)
    };
    let (without, stats) = load_with(10, other.path());
    let refused = without.draft_model_refused.unwrap();
    assert!(without.draft_model.is_none() && without.notes.is_empty());
    assert!(refused.code == "draft_mismatch" && refused.message.contains("hidden_size 64"), "{refused}");
    assert_eq!(stats.drafting_note, Some(DraftingNote::NoDraftModel));
    let (with, stats) = load_with(20, own.path());
    let draft_model = with.draft_model.unwrap();
    assert_eq!(with.draft_model_refused, None);
    assert_eq!((Path::new(&draft_model.path), draft_model.most_guesses), (own.path(), 7));
    assert_eq!(with.weight_bytes, without.weight_bytes + draft_model.weight_bytes);
    assert!(stats.by_draft_model.drafted > 0 && stats.positions.len() == 3, "{stats:?}");
    fs::write(own.path().join("model.safetensors"), "cut").unwrap();
    let (without, _) = load_with(30, own.path());
    assert!(without.draft_model.is_none() && without.draft_model_refused.is_some(), "{without:?}");
}

#[test]
fn log_probabilities_come_with_the_tokens() {
    let mut engine = Engine::with_endless_model();
    let Request::Generate { id, input, settings, .. } = generate(2, 20) else { unreachable!() };
    engine.send(&Request::Generate {
        id,
        input,
        settings,
        logprobs: Some(2),
        stop_scope: StopScope::All,
        constraint: Box::default(),
        priority: Priority::Interactive,
        prediction: None,
        remember: None,
    });
    engine.generate(3, 20);
    let (with, without) = (engine.end(2), engine.end(3));
    assert_eq!((with.logprobs.len(), without.logprobs.len()), (20, 0));
    let text: String = with.logprobs.iter().map(|entry| entry.token.text.as_str()).collect();
    assert_eq!(text, with.text);
    assert!(with.logprobs.iter().all(|entry| entry.top.len() == 2 && entry.top[0] == entry.token), "greedy");
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
        assert_eq!(engine.failure(named).code, "bad_request");
    }
    engine.write(b"\n  \n");
    engine.generate(2, 200);
    engine.first_text(2);
    for (line, named) in rubbish {
        engine.write(line);
        assert_eq!(engine.failure(named).code, "bad_request");
    }
    assert_eq!(engine.end(2).stats.emitted, 200);
}

#[test]
fn the_end_of_its_input_ends_a_reply_and_the_engine() {
    let mut engine = Engine::with_endless_model();
    engine.generate(2, ENDLESS);
    engine.generate(3, ENDLESS);
    engine.first_text(2);
    engine.first_text(3);
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

/// Runs an engine that keeps what it learns in `state` for one reply with as many drafts as pay, and returns how many
/// drafts each of its steps had.
fn drafts_of_a_reply(state: &Path, model: &Path) -> Vec<f32> {
    let mut engine = Engine::start_with(&["--state-dir".as_ref(), state.as_ref()]);
    engine.load(model).unwrap();
    let drafts = drafts_by_step(&mut engine, 2);
    assert!(engine.close().1.success());
    drafts
}

fn drafts_by_step(engine: &mut Engine, id: RequestId) -> Vec<f32> {
    engine.send(&generate_with(id, 24, Drafting::Auto));
    let stats = engine.end(id).stats;
    assert_eq!((stats.emitted, stats.depth.steps_per_entry), (24, 1));
    // What it has to write down of the reply, it writes before it answers anything else.
    engine.send(&Request::Count { id, texts: Vec::new() });
    assert!(matches!(engine.next_about(Some(id)), Event::Counted { .. }));
    stats.depth.depths
}

/// By [`cheap_drafts`] a reply begins with as many as there can be, whatever the machine takes for its steps.
const MOST: f32 = MAX_DEPTH as f32;
/// So many steps of a reply tell nothing yet of the machine against the figures that it began with.
const BELIEVING: usize = 5;

fn only_file_in(dir: &Path) -> PathBuf {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.into_iter().next().unwrap()
}

/// A model for which the last run has learned that drafts cost nothing gets many, one for which wide steps take
/// very long does not.
#[test]
fn what_is_learned_about_drafts_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("not/there/yet");
    let model = endless_model(folder.path());
    drafts_of_a_reply(&state, &model);

    let file = only_file_in(&state);
    let mut learned: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(learned["drafts"]["cost"]["passes"]["1"].as_f64().unwrap() > 0.0);
    learned["drafts"]["cost"] = cheap_drafts();
    fs::write(&file, learned.to_string()).unwrap();
    let cheap = drafts_of_a_reply(&state, &model);
    assert_eq!(cheap[0], MOST, "{cheap:?}");
    learned["drafts"]["cost"] = dear_drafts();
    let never = learned.to_string();
    fs::write(&file, &never).unwrap();
    let dear = drafts_of_a_reply(&state, &model);
    assert_eq!(dear[..BELIEVING], [0.0; BELIEVING], "{dear:?}");

    // What is about something else, or damaged, is as good as nothing, and is replaced.
    let with = |pointer: &str, value: Value| {
        let mut changed = learned.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed.to_string()
    };
    let unusable = [
        with("/origin/version", "0.0.0-other".into()),
        with("/origin/chip", "Another chip".into()),
        with("/origin/device", "another".into()),
        with("/origin/model/config", 1.into()),
        with("/origin/model/format", "another".into()),
        with("/drafts/cost/passes/1", (-1.0).into()),
        with("/drafts/cost/passes", json!({})),
        with("/drafts/accepted/0/right", 150.0.into()),
        with("/drafts", json!({})),
        never[..never.len() / 2].to_owned(),
        String::new(),
        "[".repeat(100_000),
    ];
    for content in unusable {
        fs::write(&file, &content).unwrap();
        drafts_of_a_reply(&state, &model);
        let replaced: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(replaced["origin"], learned["origin"]);
        let pass = replaced["drafts"]["cost"]["passes"]["2"].as_f64().unwrap();
        assert!(pass > 0.0 && pass < 100.0, "{content:.200}: {replaced}");
    }
}

/// Engines that share a folder replace each other's files as a whole, and leave nothing else behind.
#[test]
fn engines_that_write_at_once_damage_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let model = endless_model(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..3).for_each(|_| _ = drafts_of_a_reply(&state, &model)));
        }
    });
    let learned: Value = serde_json::from_slice(&fs::read(only_file_in(&state)).unwrap()).unwrap();
    assert!(learned["drafts"]["cost"]["passes"]["1"].as_f64().unwrap() > 0.0);
}

/// What another process measures while a model is loaded counts from the next reply on.
#[test]
fn a_measurement_elsewhere_counts_for_the_loaded_model() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let model = endless_model(folder.path());
    let mut engine = Engine::start_with(&["--state-dir".as_ref(), state.as_ref()]);
    engine.load(&model).unwrap();
    let mut drafted = |id| drafts_by_step(&mut engine, id);
    let file = only_file_in(&state);
    let read = || serde_json::from_slice::<Value>(&fs::read(&file).unwrap()).unwrap();
    let mut learned = read();
    let [cheap, dear] = [(2, cheap_drafts()), (3, dear_drafts())].map(|(id, cost)| {
        learned["drafts"]["cost"] = cost;
        fs::write(&file, learned.to_string()).unwrap();
        drafted(id)
    });
    assert_eq!(cheap[0], MOST, "{cheap:?}");
    // It may look at one, to see whether the figures hold.
    assert!(dear[..BELIEVING].iter().all(|&drafts| drafts <= 1.0), "{dear:?}");

    let bench =
        ["bench", "--depths", "0,1", "--decoding-only", "--runs", "1", "--gen-tokens", "8", "--model"];
    let bench =
        bench.map(OsStr::new).into_iter().chain([model.as_ref(), "--state-dir".as_ref(), state.as_ref()]);
    assert!(Command::new(built("foretoken-engine")).args(bench).output().unwrap().status.success());
    drafted(4);
    assert!(engine.close().1.success());
    assert!(read()["drafts"]["cost"]["passes"]["2"].as_f64().unwrap() < 100.0, "{}", read());
}

/// Figures by which drafts cost next to nothing; nothing at all is refused as damaged.
fn cheap_drafts() -> Value {
    json!({ "passes": { "1": 0.01, "2": 0.01 }, "draft": 1e-9 })
}

/// Figures by which no draft pays.
fn dear_drafts() -> Value {
    json!({ "passes": { "1": 0.001, "2": 1000.0 }, "draft": 0.001 })
}

/// A folder that cannot be written to is no reason to fail.
#[test]
fn replies_do_not_depend_on_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("a file");
    fs::write(&state, "").unwrap();
    drafts_of_a_reply(&state, &endless_model(folder.path()));
}
