//! Searching all chats, and going through what was found in one.

use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::stored_chats::{StoredChat, write_chats};
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{ARROW_DOWN, ARROW_UP, CONTROL, ENTER, ESCAPE, SHIFT};
use crate::support::window::Window;

const LONG: usize = 400;

fn stored(title: &str, messages: &[&str]) -> StoredChat {
    StoredChat { title: title.into(), messages: messages.iter().map(|&message| message.into()).collect() }
}

/// A chat of many messages, of which three have the word, one of them twice.
fn long_chat() -> StoredChat {
    let words = |number| match number {
        20 => "Was that Frost, or only dew?".into(),
        201 => format!(
            "{}\n\nNo **frost** here. See [the table](https://frost.example).\n\n{}\n\n```\nlet fröst = 1;\n```\n",
            "Some words of an answer. ".repeat(60),
            "And more of them. ".repeat(200)
        ),
        398 => "How many degrees of frosts?".into(),
        _ if number % 2 == 0 => format!("Question {number}, with some words more."),
        _ => format!("Answer {number}.\n\n{}", "Words of an answer. ".repeat(1 + number % 20)),
    };
    StoredChat { title: "Cold nights in the greenhouse".into(), messages: (0..LONG).map(words).collect() }
}

fn write_all(sandbox: &Sandbox) {
    let plan = "Water in the morning, and stop watering in the evening when frost is forecast, since wet soil \
                freezes first.";
    let chats = [
        stored(
            "Letter to the landlord",
            &["A letter about the frost, please.", "The pipe, which the frost of January broke."],
        ),
        stored("A watering plan for winter", &["When do I water?", plan]),
        stored("Nothing of it", &["Hello", "Hello there."]),
        long_chat(),
    ];
    write_chats(&sandbox.data(), chats);
}

/// What is marked in the open chat, and where one is among it.
fn marks(window: &Window<'_>) -> (Vec<String>, Vec<String>) {
    let texts = "
        return ['found', 'found-current'].map((name) => [...(CSS.highlights.get(name) ?? [])].map((part) => {
            const range = document.createRange();
            range.setStart(part.startContainer, part.startOffset);
            range.setEnd(part.endContainer, part.endOffset);
            return range.toString();
        }))";
    serde_json::from_value(window.script(texts, json!([]))).expect("two lists of texts")
}

/// Whether the match that one is at stands in view, clear of the bar.
fn is_current_in_view(window: &Window<'_>) -> bool {
    let body = "
        const [part] = CSS.highlights.get('found-current') ?? [];
        if (!part) return false;
        const range = document.createRange();
        range.setStart(part.startContainer, part.startOffset);
        range.setEnd(part.endContainer, part.endOffset);
        const match = range.getBoundingClientRect();
        const view = document.querySelector('[data-testid=conversation]').getBoundingClientRect();
        const bar = document.querySelector('[data-testid=find-bar]').getBoundingClientRect();
        const covered = match.top < bar.bottom && match.bottom > bar.top && match.right > bar.left;
        return match.height > 0 && match.top >= view.top && match.bottom <= view.bottom && !covered";
    window.script(body, json!([])) == json!(true)
}

/// Waits until one is at a match that says this.
fn is_at(window: &Window<'_>, count: &str, text: &str) {
    window.wait_until(&format!("{count} is marked and in view"), || {
        window.text("find-count") == format!("Match {count}")
            && marks(window).1 == [text]
            && is_current_in_view(window)
    });
}

#[test]
fn places_are_gone_through_by_chat_and_then_in_the_chat() {
    let sandbox = Sandbox::new(1280, 700);
    write_all(&sandbox);
    let window = sandbox.open();
    window.press(&[CONTROL], 'f');
    window.wait_until("the search has the focus", || window.focus() == "chat-search");
    window.type_text("frost");
    window.wait_until("all are found", || window.texts("hit").len() == 6);
    assert_eq!(window.texts("found-chat").len(), 3);
    assert_eq!(window.texts("search-filter"), ["All 6 places"]);
    assert!(!window.is_shown("open-models"), "the keys of the search are at the foot");
    let marked =
        "return [...document.querySelectorAll('.hit mark')].map((mark) => mark.textContent.toLowerCase())";
    let marked: Vec<String> = serde_json::from_value(window.script(marked, json!([]))).unwrap();
    assert!(marked.len() >= 6 && marked.iter().all(|word| word.starts_with("fr")), "{marked:?}");

    // The places of the long chat stand in its order.
    let places = window.texts("hit");
    let second = places.iter().position(|place| place.contains("only dew")).expect("it is found") + 1;
    assert!(places[second].contains("No **frost** here"), "{places:?}");
    for _ in 0..=second + 1 {
        window.press(&[], ARROW_DOWN);
    }
    window.press(&[], ARROW_UP);
    window.press(&[], ENTER);
    is_at(&window, "2 of 4", "frost");
    assert_eq!(window.focus(), "hit", "the keys go on from the place");
    assert!(window.text("find-bar").contains("“frost” in this chat"));

    // Within one long message, then to messages that are far from view, and round the end.
    window.press(&[CONTROL], 'g');
    is_at(&window, "3 of 4", "fröst");
    window.press(&[CONTROL], 'g');
    is_at(&window, "4 of 4", "frosts");
    window.click("find-next");
    is_at(&window, "1 of 4", "Frost");
    window.press(&[CONTROL, SHIFT], 'g');
    is_at(&window, "4 of 4", "frosts");
    window.click("find-previous");
    window.click("find-previous");
    is_at(&window, "2 of 4", "frost");
    window.wait_until("the list says where one is", || {
        let current = "return document.querySelector('.hit[aria-current]')?.textContent ?? ''";
        window.script(current, json!([])).as_str().is_some_and(|text| text.contains("**frost** here"))
    });
    window.wait_until("both of the message are marked", || {
        let (others, current) = marks(&window);
        [others, current].concat().iter().all(|text| ["frost", "fröst"].contains(&text.as_str()))
    });

    // First the bar goes, then the search.
    window.press(&[], ESCAPE);
    window.wait_until("the bar is closed", || !window.is_shown("find-bar"));
    assert_eq!(marks(&window), (vec![], vec![]));
    assert!(window.is_shown("hit"), "what was found stays");
    window.click_one("hit", "A letter about");
    is_at(&window, "1 of 2", "frost");
    window.press(&[], ESCAPE);
    window.click("chat-search");
    window.press(&[], ENTER);
    window.wait_until("the first place is open", || window.is_shown("find-bar"));
    window.press(&[], ESCAPE);
    window.wait_until("the bar is closed again", || !window.is_shown("find-bar"));
    window.press(&[], ESCAPE);
    window.wait_until("the list is back", || window.is_shown("chat") && window.is_shown("open-models"));
    window.press(&[], ESCAPE);
    window.wait_until("one can write", || window.focus() == "composer");
}

#[test]
fn the_search_looks_right() {
    let sandbox = Sandbox::new(1280, 900);
    write_all(&sandbox);
    let window = sandbox.open();
    window.answer("Will there be frost?");
    window.choose_in_menu("chat-more", "A watering plan", "Pin");
    window.wait_until("it is pinned", || window.text("chat-list").contains("Pinned"));
    window.choose_in_menu("chat-more", "Letter to", "Tags");
    window.wait_until("the tags are asked for", || window.is_shown("tags-sheet"));
    window.fill("tags", "house, a tag with a name that is longer than the sidebar is wide");
    window.click("keep-tags");
    window.wait_until("the tags are kept", || !window.is_shown("tags-sheet"));
    window.fill("chat-search", "frost");
    window.wait_until("the filters are there", || window.texts("search-filter").len() == 5);
    let visual = VisualCheck::new(&window, &[(1100, 760), (760, 520)]);
    visual.check("search-1-found");
    window.click_one("search-filter", "Pinned");
    window.wait_until("only what is pinned is left", || window.texts("found-chat").len() == 1);
    assert!(window.text("found-chat").contains("A watering plan"));
    window.click_one("search-filter", "All");
    window.wait_until("all are back", || window.texts("found-chat").len() == 4);

    window.click_one("hit", "only dew");
    is_at(&window, "1 of 4", "Frost");
    for size in [(1100, 760), (760, 520)] {
        // Whoever is far from the end is offered the way there, which the check takes for a mistake.
        window.resize(size.0, size.1);
        for theme in crate::support::visual_check::Theme::BOTH {
            theme.put_on(&window);
            window.picture(&format!("search-2-place-{theme:?}-{}x{}", size.0, size.1));
        }
    }
    window.click_one("hit", "How many degrees");
    is_at(&window, "4 of 4", "frosts");
    if window.is_shown("latest") {
        window.click("latest");
    }
    visual.check("search-3-bar");
    window.fill("chat-search", "permafrost");
    window.wait_until("nothing is found", || window.text("hits").contains("No chat has “permafrost”"));
    assert!(window.text("hits").contains("408 messages were searched."), "{}", window.text("hits"));
    visual.check("search-4-nothing");
}
