//! What a model writes, as it is shown: formulas, code in colours, tables, tasks, and scripts of both directions.

use serde_json::json;

use crate::support::clipboard::copied_text;
use crate::support::sandbox::Sandbox;
use crate::support::stored_chats::{ANSWER, StoredChat, write_chats};
use crate::support::visual_check::{Theme, VisualCheck};
use crate::support::webdriver::keys::ESCAPE;
use crate::support::window::Window;

fn open_with_answer(sandbox: &Sandbox) -> Window<'_> {
    let messages = vec!["How do bodies fall?".into(), ANSWER.into()];
    write_chats(&sandbox.data(), [StoredChat { title: "Falling bodies".into(), messages }]);
    let window = sandbox.open();
    window.click_one("chat", "Falling bodies");
    wait_for_drawing(&window);
    window
}

/// Formulas are drawn and code has its colours.
fn wait_for_drawing(window: &Window<'_>) {
    window.wait_until("the reply is drawn", || {
        let drawn = "return document.querySelectorAll('.formula math').length >= 10
                         && document.querySelectorAll('pre:has(.code-keyword, .code-name)').length === 3";
        window.script(drawn, json!([])) == json!(true)
    });
}

#[test]
fn a_stored_reply_shows_all_that_markdown_means() {
    let sandbox = Sandbox::new(1280, 900);
    let window = open_with_answer(&sandbox);
    let shown = window.script(
        "const answer = document.querySelector('[data-testid=answer]');
         const all = (selector) => [...answer.querySelectorAll(selector)];
         const texts = (selector) => all(selector).map((element) => element.textContent);
         const last = (text) => {
             const paragraph = all('p, li').find((element) => element.textContent.includes(text));
             const range = document.createRange();
             range.selectNodeContents(paragraph);
             const [line] = range.getClientRects();
             const box = paragraph.getBoundingClientRect();
             return Math.abs(line.right - box.right) < 2 ? 'right' : Math.abs(line.left - box.left) < 2 ? 'left' : line;
         };
         return {
             headings: texts('h2'),
             displayed: all('.formula.display math').length,
             sources: texts('.formula-source'),
             money: texts('p')[0].includes('costs $5 and a stopwatch $6, and $HOME is no formula.'),
             header: texts('th').filter((text) => !text.includes('∞') && text.trim() !== ''),
             rows: all('tbody tr').length,
             tasks: all('li.task input').map(({ checked }) => checked),
             numbers: [...new Set(texts('.code-number'))],
             code: all('pre').map((pre) => pre.textContent),
             hebrew: [last('גוף נופל'), last('ראשית'), last('Near the ground')],
             list: getComputedStyle(all('ul').at(-1)).direction,
             ball: getComputedStyle(all('li code').at(-1)).direction,
         };",
        json!([]),
    );
    assert_eq!(shown["headings"], json!(["Falling bodies", "What to do", "In other scripts"]));
    assert_eq!(shown["displayed"], json!(2));
    assert_eq!(shown["sources"], json!(["$\\frac{a}{$"]));
    assert_eq!(shown["money"], json!(true));
    assert_eq!(shown["rows"], json!(3));
    assert_eq!(shown["tasks"], json!([true, true, false]));
    assert_eq!(shown["hebrew"], json!(["right", "right", "left"]), "{shown:#}");
    assert_eq!(shown["list"], json!("rtl"));
    assert_eq!(shown["ball"], json!("ltr"));
    for number in ["55.0", "9.81", "44.1"] {
        assert!(shown["numbers"].as_array().unwrap().contains(&json!(number)), "{number}: {shown:#}");
    }
    let written =
        ANSWER.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap().1.trim_end());
    assert_eq!(shown["code"], json!(written.collect::<Vec<_>>()), "code is shown as it was written");

    window.click("copy-reply");
    window.wait_until("it is copied", || window.text("copy-reply") == "Copied");
    let [text, html] = copied_text(&sandbox);
    assert_eq!(text.trim_end(), ANSWER.trim_end());
    // The webview adds styles of its own, which say how plain text looks.
    for part in ["Falling bodies</h2>", "<math", "<table", "<code>from math", "☑ ", "<ol"] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    for part in ["<button", "class=\"code", "var(--"] {
        assert!(!html.contains(part), "{part} is in {html}");
    }
}

/// Were it otherwise, the text would move under the reader's eyes.
#[test]
fn colours_change_no_height() {
    let sandbox = Sandbox::new(1280, 900);
    let window = open_with_answer(&sandbox);
    let heights = window.script(
        "return [...document.querySelectorAll('pre')].map((pre) => {
             const colored = pre.getBoundingClientRect().height;
             pre.textContent = pre.textContent;
             return [colored, pre.getBoundingClientRect().height];
         })",
        json!([]),
    );
    for pair in heights.as_array().unwrap() {
        assert_eq!(pair[0], pair[1], "colours change no height");
    }
}

#[test]
fn formulas_that_come_late_do_not_move_what_is_read() {
    let sandbox = Sandbox::new(1280, 900);
    let plain = |number: usize| match number % 2 {
        0 => format!("Question {number}"),
        _ => "A sentence that is read.\n\n".repeat(40),
    };
    let messages = (0..40).map(|number| if number == 19 { ANSWER.into() } else { plain(number) });
    let chat = StoredChat { title: "Falling bodies".into(), messages: messages.collect() };
    write_chats(&sandbox.data(), [chat]);
    let window = sandbox.open();
    window.click_one("chat", "Falling bodies");
    window.wait_until("the end is drawn", || window.text("answer").contains("A sentence"));
    // On its way to the end the page draws what is above it too.
    window
        .driver
        .async_script(
            "const box = document.querySelector('[data-testid=conversation]');
             const frame = () => new Promise(requestAnimationFrame);
             for (let [height, same] = [0, 0]; same < 20; same += 1) {
                 await frame();
                 if (box.scrollHeight !== height) [height, same] = [box.scrollHeight, 0];
             }",
            json!([]),
        )
        .unwrap();
    let is_drawn = "return document.querySelector('.formula, .formula-source') !== null";
    assert_eq!(window.script(is_drawn, json!([])), json!(false), "no formula was drawn yet");

    // The wheel first: the view follows only a hand away from the end.
    window.scroll("conversation", -300);
    let moved = window.driver.async_script(
        "const box = document.querySelector('[data-testid=conversation]');
         const frame = () => new Promise(requestAnimationFrame);
         while (!document.querySelector('.formula, .formula-source')) {
             box.scrollTop -= 300;
             await frame();
             await frame();
         }
         const middle = box.getBoundingClientRect().top + box.clientHeight / 2;
         const read = [...document.querySelectorAll('p')].find((p) => p.getBoundingClientRect().top > middle);
         const before = read.getBoundingClientRect().top;
         while (document.querySelectorAll('.formula math').length < 10) await frame();
         let most = 0;
         for (let count = 0; count < 20; count += 1) {
             await frame();
             most = Math.max(most, Math.abs(read.getBoundingClientRect().top - before));
         }
         return read.isConnected ? most : 'what was read is gone';",
        json!([]),
    );
    let moved = moved.unwrap();
    assert!(moved.as_f64().is_some_and(|pixels| pixels < 2.0), "the text has moved by {moved}");
}

#[test]
fn the_address_of_a_link_stays_within_the_chat() {
    let sandbox = Sandbox::new(1280, 900);
    let address = format!("https://example.org/{}", "a-long-way/".repeat(12));
    let answer = format!("[See]({address}) and [there]({address})\n\n{}", "More of it.\n\n".repeat(60));
    let chat = StoredChat { title: "Links".into(), messages: vec!["Where?".into(), answer] };
    write_chats(&sandbox.data(), [chat]);
    let window = sandbox.open();
    for size in [(1100, 760), (800, 600)] {
        window.resize(size.0, size.1);
        window.click_one("chat", "Links");
        window.wait_until("the reply is drawn", || window.text("answer").contains("More of it."));
        // The wheel: the view follows only a hand away from the end.
        window.scroll("conversation", -9000);
        for below in [4, 60, 300] {
            let open = "const [below] = arguments;
                 const place = document.querySelector('[data-testid=conversation]').getBoundingClientRect();
                 const link = document.querySelector('.link');
                 if (!link) return false;
                 const scroller = document.querySelector('[data-testid=conversation]');
                 scroller.scrollTop += link.getBoundingClientRect().top - place.top - below;
                 link.click();
                 return true";
            window.wait_until("the link is clicked", || window.script(open, json!([below])) == json!(true));
            window.wait_until("its address is shown", || {
                let still = "const shown = document.querySelector('.link-address');
                             return shown !== null && getComputedStyle(shown).opacity === '1'";
                window.script(still, json!([])) == json!(true)
            });
            let outside = window.script(
                "const box = (selector) => document.querySelector(selector).getBoundingClientRect();
                 const [shown, chat] = [box('.link-address'), box('[data-testid=conversation]')];
                 return { left: shown.left < chat.left, right: shown.right > chat.right,
                          top: shown.top < chat.top, bottom: shown.bottom > chat.bottom }",
                json!([]),
            );
            let inside = json!({ "left": false, "right": false, "top": false, "bottom": false });
            assert_eq!(outside, inside, "{below} pixels below the top, {size:?}");
            if below == 4 {
                for theme in Theme::BOTH.into_iter().rev() {
                    theme.put_on(&window);
                    window.picture(&format!("link-address-{theme:?}-{}x{}", size.0, size.1));
                }
            }
            window.press(&[], ESCAPE);
            window.wait_until("it is put away", || !window.is_popover_shown());
        }
    }
}

#[test]
fn all_that_markdown_means_can_be_read() {
    let sandbox = Sandbox::new(2560, 2400);
    let window = open_with_answer(&sandbox);
    // High enough for all of it.
    VisualCheck::new(&window, &[(1100, 2300), (720, 520)]).check("markdown");
}
