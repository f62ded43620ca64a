//! Where the webview lets no request through to `ipc://`, as a release of macOS might: the page then speaks to the shell
//! in messages.

use serde_json::{Value, json};

use crate::support::endless_model::open_endless_model_for;
use crate::support::sandbox::Sandbox;
use crate::support::window::Window;

/// Refuses all requests to the scheme from here on, and counts them.
const BLOCK: &str = "
    const fetch = window.fetch;
    window.refused = 0;
    window.fetch = (to, ...more) => {
        if (!String(to).startsWith('ipc:')) return fetch(to, ...more);
        window.refused += 1;
        return Promise.reject(new TypeError('blocked'));
    };";

/// Notes when events come that the shell sends over channels which are opened from here on.
const NOTE: &str = "
    const { callbacks } = window.__TAURI_INTERNALS__;
    const set = Map.prototype.set.bind(callbacks);
    window.arrivals = [];
    callbacks.set = (id, callback) => set(id, (data) => {
        if (data?.message?.type === 'text') window.arrivals.push(performance.now());
        return callback(data);
    });";

/// Milliseconds from a command to its answer, a hundred times.
const ASK: &str = "
    const took = [];
    for (let turn = 0; turn < 100; turn += 1) {
        const begun = performance.now();
        await window.__TAURI_INTERNALS__.invoke('log_lines', { after: 1000000 });
        took.push(performance.now() - begun);
    }
    return took;";

#[test]
fn replies_come_in_messages_where_the_scheme_of_commands_is_blocked() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.script(BLOCK, json!([]));
    assert!(!window.answer("Hello!").is_empty());
    assert!(!window.answer("Tell me a story about an owl and a bell.").is_empty());
    let refused = window.script("return window.refused", json!([])).as_u64().unwrap();
    assert!(refused > 0, "the scheme was asked at least once, and no more once it was refused");
}

#[test]
#[ignore = "a benchmark; see tests/README.md"]
fn what_messages_cost_against_the_scheme() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model_for(&window, &sandbox, 600);
    window.script(NOTE, json!([]));
    measure(&window, "requests to ipc://");
    window.script(BLOCK, json!([]));
    measure(&window, "messages");
    measure(&window, "messages, again");
}

fn measure(window: &Window<'_>, what: &str) {
    let mut took = numbers(&window.driver.async_script(ASK, json!([])).expect("the shell answers"));
    window.script("window.arrivals = []", json!([]));
    window.ask("Count.");
    window.wait_for_end();
    let arrivals = numbers(&window.script("return window.arrivals", json!([])));
    let mut gaps: Vec<f64> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
    println!(
        "{what}: a command takes {:.1} ms (p95 {:.1}); {} events, one after the other in {:.1} ms (p95 {:.1}); {}",
        percentile(&mut took, 50),
        percentile(&mut took, 95),
        arrivals.len(),
        percentile(&mut gaps, 50),
        percentile(&mut gaps, 95),
        window.texts("reply-footer").last().cloned().unwrap_or_default(),
    );
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn percentile(numbers: &mut [f64], percent: usize) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get((numbers.len().max(1) - 1) * percent / 100).copied().unwrap_or(f64::NAN)
}
