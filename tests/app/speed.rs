//! How the window shows where the speed of a reply comes from.

use serde_json::{Value, json};

use crate::support::endless_model::open_endless_model;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{ALT, CONTROL, ESCAPE};
use crate::support::window::Window;

const SIZES: [(u32, u32); 1] = [(1100, 760)];
const OWL: &str = "Tell me a story about an owl and a bell.";
const TABLE: &str = "Make a table with four countries and their capitals.";

#[test]
fn drafts_are_revealed_in_the_text() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    window.choose("mtp-control", "mtp-option-3");
    window.answer(TABLE);
    window.answer(OWL);
    window.wait_until("the wake has faded", || faded(&window));

    toggle(&window);
    window.wait_until("the drafts are marked", || marked(&window).iter().all(|&ranges| ranges > 0));
    assert_reveals(&window);
    visual.check("revealed");

    // The numbers of the last reply, with the key.
    window.press(&[CONTROL], 'i');
    window.wait_until("the numbers open", || window.is_shown("pass-picture"));
    for fold in ["fold-speed", "fold-guesses", "fold-parts"] {
        window.click(fold);
    }
    for shown in ["story", "position-3", "depth-line", "parts", "reveal-drafts"] {
        assert!(window.is_shown(shown), "{shown}");
    }
    visual.check("revealed-numbers");
    let switch = "return document.querySelector('[data-testid=reveal-drafts]').ariaChecked";
    assert_eq!(window.script(switch, json!([])), json!("true"));
    window.press(&[CONTROL], 'i');
    window.wait_until("the numbers close", || !window.is_shown("inspector"));
    drop(window);

    // In an old chat, after the app was started again.
    let window = sandbox.open();
    window.click("chat");
    window.wait_until("the chat is open", || window.texts("answer").len() == 2);
    window.wait_until("the drafts are marked", || marked(&window).iter().all(|&ranges| ranges > 0));
    assert_reveals(&window);
    window.click("reply-footer");
    window.click("reveal-drafts");
    window.wait_until("nothing is marked any more", || faded(&window));
    window.press(&[], ESCAPE);
    window.wait_until("the panel is closed", || !window.is_shown("inspector"));
}

/// Without being asked for: what is tinted while a reply is written is the end of what came from drafts.
#[test]
fn the_newest_words_are_tinted_by_where_they_came_from() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.choose("mtp-control", "mtp-option-3");
    for question in [OWL, TABLE] {
        window.answer(question);
        let replies = window.driver.async_script(COMPARE, json!([])).expect("the page compares");
        let reply = replies.as_array().and_then(|replies| replies.last()).expect("the reply is shown");
        let words =
            |name: &str, position: usize| reply[name][position].as_str().unwrap_or_default().to_owned();
        let count: usize = (0..3).map(|position| words("tinted", position).chars().count()).sum();
        assert!(count > 10, "{reply}");
        for position in 0..3 {
            let (tinted, expected) = (words("tinted", position), words("expected", position));
            assert!(expected.ends_with(&tinted), "{position}: {reply}");
        }
        window.wait_until("the wake has faded", || faded(&window));
    }
}

#[test]
fn drafts_are_revealed_and_numbers_stay_in_their_place_while_a_reply_streams() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.choose("mtp-control", "mtp-option-2");
    window.ask(OWL);
    window.wait_until("the newest words are tinted", || boxes(&window) > 0);
    window.picture("wake");
    toggle(&window);
    let first =
        window.wait("the first drafts are marked", || Some(total(&window)).filter(|&total| total > 0));
    window.script(WATCH, json!([]));
    window.wait_until("more are marked as the text grows", || total(&window) > first + 20);
    window.wait_until("the numbers have changed", || {
        window.script("return window.lines.size > 2", json!([])) == json!(true)
    });
    let places = window.script("return [...window.places]", json!([]));
    assert_eq!(places.as_array().map(Vec::len), Some(1), "height and places of the numbers: {places}");
    window.picture("revealed-streaming");
    window.click("stop");
    window.wait_for_end();
    window.wait_until("all of it is marked", || is_revealed(&window));
}

fn toggle(window: &Window<'_>) {
    window.press(&[CONTROL, ALT], 'd');
}

/// How many ranges of each draft position are marked.
fn marked(window: &Window<'_>) -> [u64; 3] {
    let sizes = window.script(
        "return [1, 2, 3].map((position) => CSS.highlights.get(`draft-${position}`)?.size ?? 0)",
        json!([]),
    );
    serde_json::from_value(sizes).expect("three numbers")
}

/// How many boxes lie behind the newest words.
fn boxes(window: &Window<'_>) -> u64 {
    let count = window.script("return document.querySelectorAll('.wake > :not(.caret)').length", json!([]));
    count.as_u64().expect("a number")
}

/// Whether no word is marked, not even faintly.
fn faded(window: &Window<'_>) -> bool {
    total(window) + boxes(window) == 0
}

fn total(window: &Window<'_>) -> u64 {
    marked(window).iter().sum()
}

/// What is marked in the answers that are shown is what the store says came from drafts: the same characters, but for
/// white space and marks of markdown.
fn assert_reveals(window: &Window<'_>) {
    window.wait_until("what is marked is what came from drafts", || is_revealed(window));
}

fn is_revealed(window: &Window<'_>) -> bool {
    let compared = window.driver.async_script(COMPARE, json!([])).expect("the page compares");
    let replies = compared.as_array().expect("a list").clone();
    assert!(!replies.is_empty());
    replies.iter().all(|reply| {
        let count = |name: &str| reply[name].as_u64().unwrap_or_else(|| panic!("{reply}"));
        assert_eq!(count("length"), count("covered"), "the stretches are as long as the text");
        assert!(count("drafted") > 20, "{reply}");
        Value::eq(&reply["marked"], &reply["expected"])
    })
}

/// For each reply whose answer is shown: the words that are marked, by position, those that have a box behind them, and
/// those that came from drafts.
const COMPARE: &str = r"
    const ask = window.__TAURI_INTERNALS__.invoke;
    const { open } = await ask('snapshot');
    // The numbers of a list are no text in the page.
    const solid = (text) => text.replace(/[^\p{L}]/gu, '');
    const found = [];
    for (const { message } of open.messages) {
        const reply = document.querySelector(`[data-message='${message.id}'] [data-testid=answer]`);
        if (!reply) continue;
        const { answer } = await ask('provenance', { message: message.id });
        const characters = [...message.text];
        const expected = ['', '', ''];
        let at = 0;
        for (const [count, position] of answer) {
            if (position > 0) expected[position - 1] += solid(characters.slice(at, at + count).join(''));
            at += count;
        }
        const inOrder = (a, b) => a.startContainer === b.startContainer
            ? a.startOffset - b.startOffset
            : 3 - (a.startContainer.compareDocumentPosition(b.startContainer) & 6);
        const marked = [1, 2, 3].map((position) =>
            [...CSS.highlights]
                .filter(([name]) => name.startsWith(`draft-${position}`))
                .flatMap(([, ranges]) => [...ranges])
                .filter((range) => reply.contains(range.startContainer))
                .sort(inOrder)
                .map((range) => solid(range.startContainer.data.slice(range.startOffset, range.endOffset)))
                .join(''));
        const boxes = [...reply.querySelectorAll('.wake > i')].map((box) => [box.className, box.getBoundingClientRect()]);
        const tinted = ['', '', ''];
        const texts = document.createTreeWalker(reply, NodeFilter.SHOW_TEXT);
        while (boxes.length > 0 && texts.nextNode()) {
            const { currentNode: text } = texts;
            for (let unit = 0; unit < text.length; unit += 1) {
                const range = document.createRange();
                range.setStart(text, unit);
                range.setEnd(text, unit + 1);
                const { left, width, top, height } = range.getBoundingClientRect();
                const [x, y] = [left + width / 2, top + height / 2];
                const box = boxes.find(([, at]) => at.left <= x && x <= at.right && at.top <= y && y <= at.bottom);
                const position = /draft-(\d)/.exec(box?.[0])?.[1];
                if (position) tinted[position - 1] += solid(text.data[unit]);
            }
        }
        found.push({
            expected,
            marked,
            tinted,
            length: characters.length,
            covered: at,
            drafted: expected.join('').length,
        });
    }
    return found;
";

/// Notes what the live line says, and where each of its numbers is.
const WATCH: &str = "
    window.lines = new Set();
    window.places = new Set();
    const look = () => {
        const line = document.querySelector('[data-testid=live-line]');
        const parts = [...(line?.querySelectorAll('.live-part') ?? [])];
        if (parts.length > 0) {
            window.lines.add(line.textContent);
            const places = parts.map((part) => Math.round(part.getBoundingClientRect().left));
            window.places.add(JSON.stringify([line.offsetHeight, ...places]));
        }
        requestAnimationFrame(look);
    };
    look();
";
