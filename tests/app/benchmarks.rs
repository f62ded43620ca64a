//! The Benchmarks screen: a model is measured, the result is kept and plotted, and one question is answered without
//! drafts and with them, side by side.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::endless_model::open_endless_model;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::ESCAPE;
use crate::support::window::Window;

const SIZES: [(u32, u32); 2] = [(1100, 760), (720, 560)];
const OWL: &str = "Tell me a story about an owl and a bell.";

/// How many points of the chart's canvas are painted.
const PAINTED: &str = "
    const canvas = document.querySelector('[data-testid=benchmark-chart] canvas');
    if (canvas === null || canvas.width === 0) return 0;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, index) => index % 4 === 3 && value > 0).length;";

fn painted(window: &Window<'_>) -> u64 {
    window.script(PAINTED, json!([])).as_u64().unwrap_or(0)
}

/// One test, since measuring takes longest.
#[test]
fn a_model_is_measured_and_the_result_is_kept_and_looks_right() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.click("open-benchmarks");
    window.wait_until("nothing was measured yet", || window.text("no-benchmarks").contains("Demo model"));
    VisualCheck::new(&window, &SIZES).check("benchmarks-1-empty");
    // One kind of text takes half as long; what both look like together is among the kept pictures.
    window.choose("measure-what", "plan-texts-prose");
    window.click("run-benchmark");
    window.wait_until("the model is being measured", || window.is_shown("benchmark-jobs"));
    window.wait_until("the result is shown", || window.is_shown("benchmark-result"));
    window.click("fold-figures");
    let table = window.text("benchmark-table");
    let ranges = window.text("ranges-prose");
    assert!(ranges.contains("a story, a letter") && !window.is_shown("ranges-code"), "{ranges}");
    for row in ["Plain", "1 ahead", "2 ahead", "3 ahead", "Auto", "DFlash 3", "DFlash 7", "Look-up"] {
        assert!(ranges.contains(row), "{row} is missing in {ranges}");
        assert_eq!(table.matches(row).count(), 1, "{row} is not there in {table}");
    }
    let sentence = window.text("benchmark-sentence");
    assert!(
        sentence.starts_with("Guessing ") || sentence.starts_with("Nothing beats plain here"),
        "{sentence}"
    );
    assert!(sentence.contains("for prose"), "{sentence}");
    window.wait_until("how long it takes is known now", || window.text("measure-time").contains("minute"));
    let result = window.text("benchmark-result");
    assert!(result.contains("a prompt of 512 tokens") && result.contains("Memory at most"), "{result}");
    window.wait_until("the chart is drawn", || painted(&window) > 100);
    let told = window.text("chart-sentence");
    assert!(told.starts_with("One benchmark on ") && told.contains("Plain: "), "{told}");
    window.click("metric-memory");
    window.wait_until("the memory is plotted", || window.text("chart-sentence").contains("Memory: "));
    drop(window);
    let measured = fs::read_to_string(history(&sandbox)).unwrap();

    let window = sandbox.open();
    window.click("open-benchmarks");
    window.wait_until("the result is there after a restart", || window.texts("benchmark-entry").len() == 1);
    assert_eq!(window.text("benchmark-sentence"), sentence);
    window.click("delete-benchmark");
    window.wait_until("it is deleted", || window.is_shown("no-benchmarks"));
    window.click("benchmark-undo");
    window.wait_until("it is back", || window.texts("benchmark-entry").len() == 1);
    window.click("delete-benchmark");
    window.wait_until("it is deleted", || window.is_shown("no-benchmarks"));
    drop(window);
    let window = sandbox.open();
    window.click("open-benchmarks");
    window.wait_until("it is gone for good", || window.is_shown("no-benchmarks"));
    drop(window);

    fs::write(history(&sandbox), format!("{}\n{measured}", earlier_one(&measured))).unwrap();
    results_look_right(&sandbox);
}

#[test]
fn a_benchmark_waits_for_the_chat_and_can_be_cancelled() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.ask(OWL);
    window.click("open-benchmarks");
    window.click("run-benchmark");
    window.wait_until("it says what it waits for", || {
        window.text("job-held").contains("no reply is being written")
    });
    window.wait_until("nothing can be compared meanwhile", || {
        window.text("side-by-side").contains("A reply is being written")
    });
    window.click("job-cancel");
    window.wait_until("it is cancelled", || !window.is_shown("benchmark-jobs"));
    assert!(window.is_shown("no-benchmarks"));
}

#[test]
fn a_question_is_answered_without_drafts_and_with_them() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.choose("mtp-control", "mtp-option-2");
    window.choose("sampling-control", "sampling-greedy");
    let answer = window.answer(OWL);
    window.choose_in_menu("message-more", "your message", "Compare with and without drafts");
    window.wait_until("both are written", || window.is_shown("comparison"));
    assert!(window.text("comparison").contains(OWL));
    assert_eq!(window.text("compare-verdict"), "Both texts are equal, token for token.");
    let ratio = window.text("compare-ratio");
    assert!(ratio.contains("times") || ratio.contains("no difference"), "{ratio}");
    window.click("replay-end");
    let (plain, drafted) = (window.text("replay-plain"), window.text("replay-drafted"));
    assert_eq!(plain, drafted);
    // The chat shows its marks as headings and lines.
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    assert!(letters(&plain).ends_with(&letters(&answer)), "{plain}\nis not what the chat says:\n{answer}");
    window.click("replay-play");
    window.wait_until("it plays to the end again", || window.text("replay-play") == "Play again");
    assert_eq!(window.text("replay-plain"), plain);

    window.fill("compare-prompt", "What is multi-token prediction?");
    window.click("compare-run");
    window.wait_until("the other question is compared", || {
        window.text("comparison").contains("What is multi-token prediction?")
    });
    assert_eq!(window.text("compare-verdict"), "Both texts are equal, token for token.");
    window.click("chat");
    window.wait_until("the chat is shown", || window.is_shown("message-user"));
    assert_eq!(window.texts("message-user").len(), 1, "nothing was added to the chat");
    assert_eq!(window.texts("chat").len(), 1);
}

#[test]
fn a_comparison_can_be_cancelled() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.click("open-benchmarks");
    window.click("compare-run");
    window.wait_until("it is written", || window.text("compare-running").contains("without drafts"));
    window.click("compare-cancel");
    window.wait_until("it has ended", || !window.is_shown("compare-running"));
    assert!(!window.is_shown("comparison") && !window.is_shown("compare-error"));
}

/// A copy of this line of the history, as if it had been measured a minute earlier, by a version that told no texts
/// apart.
fn earlier_one(measured: &str) -> Value {
    let mut earlier: Value = serde_json::from_str(measured).unwrap();
    earlier["measured_at"] = json!(earlier["measured_at"].as_u64().unwrap() - 60_000);
    let mut texts = earlier.as_object_mut().unwrap().remove("texts").unwrap();
    for name in ["depths", "dflash", "auto"] {
        earlier[name] = texts[0][name].take();
    }
    earlier
}

/// Where the benchmarks of a person are kept.
fn history(sandbox: &Sandbox) -> PathBuf {
    sandbox.data().join("benchmarks.jsonl")
}

/// With a result and an earlier one.
fn results_look_right(sandbox: &Sandbox) {
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    window.click("open-benchmarks");
    window.wait_until("both are listed", || window.texts("benchmark-entry").len() == 2);
    window.wait_until("the chart is drawn", || painted(&window) > 100);
    visual.check("benchmarks-2-result");
    window.scroll("benchmarks-screen", 720);
    visual.check("benchmarks-3-history");
    window.script(
        "document.querySelector('[data-testid=benchmark-entry]:last-child .word-button').click()",
        json!([]),
    );
    window.wait_until("the earlier one is shown", || window.is_shown("ranges-any"));
    window.scroll("benchmarks-screen", 0);
    window.click("measure-what");
    window.wait_until("the choice is open", || window.is_shown("plan-drafts"));
    visual.check("benchmarks-4-earlier");
    window.press(&[], ESCAPE);
    window.wait_until("the choice is closed", || !window.is_shown("plan-drafts"));
    let to_the_last = "[...document.querySelectorAll('[data-testid=delete-benchmark]')].at(-1)
        .scrollIntoView({ block: 'center' })";
    window.script(to_the_last, json!([]));
    window.click("delete-benchmark");
    window.wait_until("it can be brought back", || window.is_shown("benchmark-undo"));
    visual.check("benchmarks-5-deleted");
    window.click("compare-run");
    window.wait_until("both are written", || window.is_shown("comparison"));
    window.click("replay-end");
    window.scroll("benchmarks-screen", 4000);
    visual.check("benchmarks-6-side-by-side");
    // What was measured is told where it decides something.
    window.press(&[], ESCAPE);
    window.wait_until("the chat is back", || window.is_shown("mtp-control"));
    window.click("mtp-control");
    window.wait_until("the menu tells of gains", || window.text("mtp-option-3").contains('×'));
    visual.check("benchmarks-7-menu");
}
