//! What it costs to draw a long answer while it is written, at its end against its start, and against the same text in
//! a plain element. A benchmark for people, who run it on a quiet machine: it asserts nothing about time.

use serde_json::{Value, json};

use crate::support::endless_model::open_endless_model;
use crate::support::sandbox::Sandbox;
use crate::support::stored_chats::ANSWER;
use crate::support::window::Window;

/// Characters of an answer.
const LENGTH: usize = 17_000;
/// 150 tokens a second, of four characters.
const CHARACTERS_PER_SECOND: usize = 600;
/// Milliseconds between two messages, as the shell sends them.
const FRAME: usize = 16;

/// Prepares the page: `window.stream(write, text, …)` hands over a text in pieces, as time goes by, and notes the time
/// between two pictures and the time that scripts take for a piece.
const PREPARE: &str = "
    window.stream = async (write, text, perSecond, frame) => {
        const pictures = [];
        const scripts = [];
        let sent = 0;
        let before = performance.now();
        const begun = before;
        const look = (now) => {
            pictures.push([sent, now - before]);
            before = now;
            looking = requestAnimationFrame(look);
        };
        let looking = requestAnimationFrame(look);
        await new Promise((done) => {
            const timer = setInterval(async () => {
                const due = Math.min(text.length, Math.ceil((performance.now() - begun) * perSecond / 1000));
                const piece = text.slice(sent, due);
                const at = sent;
                sent = due;
                const start = performance.now();
                write(piece);
                // What the page does at once, it does in microtasks.
                for (let turn = 0; turn < 10; turn += 1) await null;
                scripts.push([at, performance.now() - start]);
                if (sent < text.length) return;
                clearInterval(timer);
                done();
            }, frame);
        });
        cancelAnimationFrame(looking);
        return { pictures, scripts };
    };
    window.run = (write, ...how) => {
        window.measured = null;
        window.stream(write, ...how).then((measured) => { window.measured = measured; });
    };
    window.known = new Set(window.__TAURI_INTERNALS__.callbacks.keys());";

/// Writes into a plain element at the end of the conversation.
const PLAIN: &str = "
    const column = document.querySelector('.column');
    const box = document.querySelector('[data-testid=conversation]');
    const plain = document.createElement('div');
    plain.dataset.testid = 'plain';
    plain.style.whiteSpace = 'pre-wrap';
    plain.style.font = '15px/1.55 var(--font)';
    column.append(plain);
    const write = (piece) => { plain.append(piece); box.scrollTop = box.scrollHeight; };
    window.run(write, ...arguments);";

/// Writes into the reply that waits for its first token, over its own channel and as the shell would.
const REPLY: &str = "
    const { callbacks } = window.__TAURI_INTERNALS__;
    const channel = [...callbacks.keys()].find((key) => !window.known.has(key));
    const page = callbacks.get(channel);
    // What the shell says later comes after what is said here.
    let told = 0;
    callbacks.set(channel, (data) => page({ ...data, index: data.index + told }));
    const write = (answer) => {
        const provenance = { thinking: [], answer: [[answer.length, told % 3]] };
        page({ index: told, message: { type: 'text', thinking: '', answer, provenance } });
        told += 1;
    };
    window.run(write, ...arguments);";

#[test]
#[ignore = "a benchmark of some minutes; see tests/README.md"]
fn a_long_answer_costs_no_more_at_its_end_than_at_its_start() {
    let list = "1. **A point** of the list, with `code` and some words that tell what it is about.\n\n";
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    for (what, pattern) in [("an answer with everything in it", ANSWER), ("one long list", list)] {
        let text: String = pattern.chars().cycle().take(LENGTH).collect();
        println!("{what}, {LENGTH} characters at {CHARACTERS_PER_SECOND} a second");
        window.click("new-chat");
        let engine = sandbox.suspend("foretoken-engine", "serve");
        window.script(PREPARE, json!([]));
        window.ask("How do bodies fall?");
        let plain = measure(&window, PLAIN, &text, "plain");
        window.script("document.querySelector('[data-testid=plain]').remove()", json!([]));
        let reply = measure(&window, REPLY, &text, "answer");
        plain.tell("a plain element");
        reply.tell("the reply");
        println!(
            "  last fifth against first: {:.2}; against a plain element: {:.2}",
            reply.pictures.last / reply.pictures.first,
            reply.pictures.last / plain.pictures.last
        );
        engine.resume();
        window.click("stop");
        window.wait_for_end();
    }
}

/// Milliseconds, of which 95 in 100 are below, while the first and the last fifth of a text are written.
struct Fifths {
    first: f64,
    last: f64,
}

struct Measured {
    /// Between two pictures.
    pictures: Fifths,
    /// In scripts, for one piece.
    scripts: Fifths,
}

impl Measured {
    fn tell(&self, what: &str) {
        let Self { pictures, scripts } = self;
        println!(
            "  {what}: p95 between pictures {:.1} ms, then {:.1} ms; p95 in scripts {:.1} ms, then {:.1} ms",
            pictures.first, pictures.last, scripts.first, scripts.last
        );
    }
}

fn measure(window: &Window<'_>, run: &str, text: &str, place: &str) -> Measured {
    window.script(run, json!([text, CHARACTERS_PER_SECOND, FRAME]));
    let measured = window.wait("the text is written", || {
        Some(window.script("return window.measured", json!([]))).filter(|measured| !measured.is_null())
    });
    // Marks are not shown.
    let shown = window.text(place).chars().count();
    assert!(shown > LENGTH / 2, "only {shown} characters were shown");
    Measured { pictures: fifths(&measured["pictures"], text), scripts: fifths(&measured["scripts"], text) }
}

fn fifths(noted: &Value, text: &str) -> Fifths {
    let noted: Vec<(usize, f64)> = serde_json::from_value(noted.clone()).expect("places and milliseconds");
    let length = text.encode_utf16().count();
    let p95 = |from: usize, to: usize| {
        let mut times: Vec<f64> =
            noted.iter().filter(|(at, _)| (from..to).contains(at)).map(|&(_, time)| time).collect();
        times.sort_by(f64::total_cmp);
        times[(times.len() - 1) * 95 / 100]
    };
    Fifths { first: p95(1, length / 5), last: p95(length * 4 / 5, length) }
}
