//! An engine without a model, for tests of what is around it. It speaks the protocol, and each question tells it in
//! JSON how to behave: see [`Script`].

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use foretoken_protocol::{
    ChatMessage, DraftModelInfo, ErrorReport, Event, FinishReason, Input, KvPrecision, ModelInfo, MtpState,
    Part, PositionStats, ReplyStats, Request, RequestId, Sampling, TokenLogprob, TokenLogprobs, TokenText,
};
use serde::Deserialize;

/// Tokens that the model is said to read.
const CONTEXT: u32 = 1000;
/// How long a slow model loads.
const SLOW_LOAD: Duration = Duration::from_millis(800);
/// How often it says that it lives.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// How to answer; a line of the last question is one, or the question is said back.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Script {
    /// The tokens of the thinking; there are none where the request wants none.
    think: Vec<String>,
    /// The tokens of the answer.
    say: Vec<String>,
    /// Tokens of the prompt.
    prompt_tokens: u32,
    /// Of those, how many are cached.
    cached_tokens: u32,
    /// How long the prompt is read.
    prefill_ms: u64,
    /// How long each token takes.
    token_ms: u64,
    /// Says the answer so many times.
    times: u32,
    /// The process ends before this token.
    die_at: Option<usize>,
    /// The request fails with this code.
    fail: Option<String>,
    /// Says of these tools that they must be called and may get any arguments.
    unbound: Vec<String>,
    /// Says how many requests were cancelled so far.
    count_cancelled: bool,
    /// Says how many inputs it has counted so far.
    count_counted: bool,
    /// Says what it has read of the results of its calls, and of the tools that it may call.
    say_results: bool,
    /// What follows once it has called tools: one for each round of results, and the last for all later ones.
    then: Vec<Self>,
}

impl Script {
    /// The last line of a question that is one: programs put words of their own around what people write. Without one,
    /// the question is said back.
    fn in_question(question: &str) -> Self {
        let script = question.lines().rev().find_map(|line| serde_json::from_str(line).ok());
        script.unwrap_or_else(|| Self { say: vec![question.to_owned()], ..Self::default() })
    }

    /// Of this one and those that follow, the one for a round.
    fn of_round(mut self, round: usize) -> Self {
        let last = self.then.len();
        if round.min(last) == 0 { self } else { self.then.swap_remove(round.min(last) - 1) }
    }
}

#[derive(Debug, Clone)]
struct Engine {
    cancelled: Arc<Mutex<HashSet<RequestId>>>,
    counted: Arc<AtomicUsize>,
    out: Arc<Mutex<io::Stdout>>,
}

impl Engine {
    fn send(&self, event: &Event) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody may be left who reads it.
        let line = serde_json::to_string(event).expect("events are JSON");
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }

    fn is_cancelled(&self, id: RequestId) -> bool {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }

    /// A model whose folder is called `unloadable` does not load, one that is called `slow` takes a while, and one that
    /// is called `json-calls` writes calls as JSON.
    fn load(&self, id: RequestId, path: String, kv_precision: KvPrecision, draft_model: Option<String>) {
        if path.ends_with("unloadable") {
            let message = format!("{path} is damaged.");
            let error = ErrorReport { code: "damaged".into(), message, hint: String::new() };
            return self.send(&Event::Failed { id: Some(id), error });
        }
        if path.ends_with("slow") {
            thread::sleep(SLOW_LOAD);
        }
        let json_calls = path.ends_with("json-calls");
        let model = ModelInfo {
            name: "Scripted".into(),
            path,
            architecture: "qwen3_5".into(),
            parameters: 1,
            format: "bfloat16".into(),
            mtp: MtpState::Absent,
            context_length: CONTEXT,
            defaults: Sampling { temperature: 0.6, ..Sampling::default() },
            thinking: true,
            thinking_effort: false,
            opens_thinking: false,
            tools: true,
            json_calls,
            pictures: Box::default(),
            fingerprint: "c0ffee00".into(),
            weight_bytes: 1,
            kv_precision,
            draft_model: draft_model.map(|path| {
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                Box::new(DraftModelInfo { name, path, weight_bytes: 1, most_guesses: 7 })
            }),
            draft_model_refused: None,
            macs: Vec::new(),
            notes: Vec::new(),
        };
        self.send(&Event::Loaded { id, model: Box::new(model) });
    }

    /// Sleeps, and says whether the reply goes on.
    fn pass(&self, id: RequestId, milliseconds: u64) -> bool {
        let mut left = Duration::from_millis(milliseconds);
        while !left.is_zero() && !self.is_cancelled(id) {
            let nap = left.min(Duration::from_millis(10));
            thread::sleep(nap);
            left -= nap;
        }
        !self.is_cancelled(id)
    }

    fn finish(&self, id: RequestId, reason: FinishReason, stats: ReplyStats) {
        self.send(&Event::Finished { id, reason, stop: None, stats: Box::new(stats) });
    }

    fn write(&self, id: RequestId, script: &Script, seed: u64, max_tokens: u32, logprobs: bool) {
        let prompt_tokens = script.prompt_tokens.max(1);
        self.send(&Event::Prepared {
            id,
            tokens: prompt_tokens,
            context: CONTEXT,
            unbound_tools: script.unbound.clone(),
        });
        let failure =
            script.fail.clone().or_else(|| (prompt_tokens >= CONTEXT).then(|| "prompt_too_long".into()));
        if let Some(code) = failure {
            let message = "It failed in /home/somebody/models/secret.".into();
            let error = ErrorReport { code, message, hint: String::new() };
            return self.send(&Event::Failed { id: Some(id), error });
        }
        let mut stats = ReplyStats {
            prompt_tokens,
            cached_tokens: script.cached_tokens,
            seed,
            positions: vec![PositionStats { drafted: 4, accepted: 3 }],
            ..ReplyStats::default()
        };
        self.send(&Event::Reading { id, done: script.cached_tokens, total: prompt_tokens });
        if !self.pass(id, script.prefill_ms) {
            return self.finish(id, FinishReason::Cancelled, stats);
        }
        let thinking = script.think.iter().map(|text| (Part::Thinking, text));
        let answer =
            (0..script.times.max(1)).flat_map(|_| script.say.iter().map(|text| (Part::Answer, text)));
        for (index, (part, text)) in thinking.chain(answer).enumerate() {
            if script.die_at == Some(index) {
                std::process::exit(9);
            }
            if !self.pass(id, script.token_ms) {
                return self.finish(id, FinishReason::Cancelled, stats);
            }
            if stats.emitted == max_tokens {
                return self.finish(id, FinishReason::Length, stats);
            }
            let draft_position = (index % 2 == 1).then_some(1);
            let token = TokenText { text: text.clone(), part, draft_position };
            let chance =
                || TokenLogprob { id: 1, text: text.clone(), bytes: text.clone().into(), logprob: -0.5 };
            let logprobs = logprobs
                .then(|| TokenLogprobs { token: chance(), top: vec![chance()] })
                .into_iter()
                .collect();
            self.send(&Event::Tokens { id, tokens: vec![token], logprobs });
            stats.emitted += 1;
            stats.thinking.emitted += u32::from(part == Part::Thinking);
        }
        self.finish(id, FinishReason::Stop, stats);
    }
}

/// What the user last said: results of tools come behind it.
fn question(input: &Input) -> String {
    match input {
        Input::Chat(chat) => {
            let users = |message: &&ChatMessage| matches!(message, ChatMessage::User { .. });
            chat.messages
                .iter()
                .rfind(users)
                .map(|message| message.content().into_owned())
                .unwrap_or_default()
        }
        Input::Text { text, .. } => text.clone(),
        Input::Ids { ids } => format!("{ids:?}"),
    }
}

/// The results that stand behind the last question, and the names of the tools that are offered.
fn results(input: &Input) -> String {
    let Input::Chat(chat) = input else { return String::new() };
    let since = chat.messages.iter().rev().take_while(|message| !matches!(message, ChatMessage::User { .. }));
    let results = since.filter(|message| matches!(message, ChatMessage::Tool { .. }));
    let mut results: Vec<_> = results.map(|message| message.content().into_owned()).collect();
    results.reverse();
    let name = |tool: &serde_json::Value| tool["function"]["name"].as_str().unwrap_or_default().to_owned();
    let tools: Vec<_> = chat.tools.iter().map(name).collect();
    format!("[{}] of [{}]", results.join("|"), tools.join(" "))
}

/// How often the model has answered since.
fn round(input: &Input) -> usize {
    let Input::Chat(chat) = input else { return 0 };
    let since = chat.messages.iter().rev().take_while(|message| !matches!(message, ChatMessage::User { .. }));
    since.filter(|message| matches!(message, ChatMessage::Assistant { .. })).count()
}

fn main() {
    let engine = Engine {
        cancelled: Arc::default(),
        counted: Arc::default(),
        out: Arc::new(Mutex::new(io::stdout())),
    };
    engine.send(&Event::Ready { version: "0".into(), device: "cpu".into() });
    let alive = engine.clone();
    thread::spawn(move || {
        loop {
            alive.send(&Event::Heartbeat);
            thread::sleep(HEARTBEAT);
        }
    });
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match serde_json::from_str(&line).expect("requests are of the protocol") {
            Request::Load { id, model, kv_precision, draft_model } => {
                engine.load(id, model, kv_precision, draft_model);
            }
            Request::Generate { id, input, settings, logprobs, .. } => {
                let last = question(&input);
                let mut script = Script::in_question(&last).of_round(round(&input));
                if !settings.thinking.is_on() {
                    script.think.clear();
                }
                if script.say_results {
                    script.say = vec![results(&input)];
                }
                if script.count_cancelled {
                    let cancelled = engine.cancelled.lock().unwrap_or_else(PoisonError::into_inner);
                    script.say = vec![cancelled.len().to_string()];
                }
                if script.count_counted {
                    script.say = vec![engine.counted.load(Ordering::Relaxed).to_string()];
                }
                let seed = settings.sampling.seed.unwrap_or_default();
                let engine = engine.clone();
                thread::spawn(move || {
                    engine.write(id, &script, seed, settings.max_tokens, logprobs.is_some());
                });
            }
            Request::CountInput { id, input, .. } => {
                engine.counted.fetch_add(1, Ordering::Relaxed);
                let tokens = vec![question(&input).split_whitespace().count() as u32];
                engine.send(&Event::Counted { id, tokens });
            }
            Request::Count { id, texts } => {
                let tokens = texts.iter().map(|text| text.split_whitespace().count() as u32).collect();
                engine.send(&Event::Counted { id, tokens });
            }
            Request::Cancel { id } => {
                engine.cancelled.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
            }
        }
    }
}
