//! A model uses tools: a person switches them on, looks at what they did, and is asked before a server's run.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use foretoken_tests::programs::built;
use serde_json::{Value, json};

use crate::support::dialog::Dialog;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{BACKSPACE, ENTER, ESCAPE};
use crate::support::window::Window;

/// The title of the system's dialog about the server.
const DIALOG: &str = "Switch on “Test”?";
const CHAT: [(u32, u32); 2] = [(1100, 760), (720, 520)];
const SETTINGS: [(u32, u32); 2] = [(880, 680), (720, 520)];

/// A place for an app whose model writes what a question tells it to.
pub(crate) fn scripted() -> Sandbox {
    let mut sandbox = Sandbox::new(1280, 900);
    sandbox.use_engine("scripted-engine");
    sandbox
}

/// A call as models of the family write it.
fn call(tool: &str, name: &str, value: &str) -> String {
    format!(
        "\n\n<tool_call>\n<function={tool}>\n<parameter={name}>\n{value}\n</parameter>\n</function>\n</tool_call>"
    )
}

/// A call of the server's tool that appends a line to its log.
fn append(line: &str) -> String {
    call("test__append", "text", line)
}

/// A question that has the model say this, and then what it has read: the results, and the names of the tools.
fn question(says: &str) -> String {
    let json = json!({ "say": [says], "then": [{ "say_results": true }] }).to_string();
    let key = |character: char| match character {
        ' '..='~' => character.to_string(),
        _ => format!("\\u{:04x}", u32::from(character)),
    };
    json.chars().map(key).collect()
}

/// The file of the server that gets a line for each call.
fn log_file(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join("log")
}

fn log(sandbox: &Sandbox) -> Vec<String> {
    let text = fs::read_to_string(log_file(sandbox)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Writes the server down in the form that is open in the settings.
fn fill_form(window: &Window<'_>, sandbox: &Sandbox) {
    window.fill("server-name", "Test");
    window.fill("server-command", built("foretoken-test-mcp").to_str().unwrap());
    window.fill("server-arguments", &format!("--log{ENTER}{}", log_file(sandbox).display()));
}

/// Adds the server in the settings, which stay open.
pub(crate) fn add_server(window: &Window<'_>, sandbox: &Sandbox) {
    window.open_settings("tools");
    window.click("add-server");
    fill_form(window, sandbox);
    window.click("save-server");
}

/// How the servers of the list are.
pub(crate) fn states(window: &Window<'_>) -> Vec<String> {
    let all =
        "return [...document.querySelectorAll('[data-testid=tool-server]')].map((row) => row.dataset.state)";
    serde_json::from_value(window.script(all, json!([]))).unwrap()
}

/// Switches the one server of the list on, and agrees in the system's dialog.
pub(crate) fn agree(window: &Window<'_>, sandbox: &Sandbox) {
    window.click("server-switch");
    Dialog::wait(sandbox, DIALOG).agree();
    window.wait_until("the server is on", || states(window) == ["stopped"]);
}

/// Lets the open chat use a source of tools, or no longer.
fn switch_source(window: &Window<'_>, source: &str) {
    window.choose("tools-control", &format!("tool-source-{source}"));
}

/// A card hears nobody for so long, who may have meant what stood there before.
const UNREAD: Duration = Duration::from_millis(600);

/// Asks something, and waits for the question of the app that follows.
fn ask_for_call(window: &Window<'_>, says: &str) {
    window.ask(&question(says));
    wait_for_card(window);
}

/// Waits until the app asks, and the person may have read that.
fn wait_for_card(window: &Window<'_>) {
    window.wait_until("the person is asked", || window.is_shown("call-question"));
    thread::sleep(UNREAD);
}

/// Waits for the end of a reply that had a question, and returns the last of what it says.
fn end(window: &Window<'_>) -> String {
    window.wait_until("the question is gone", || !window.is_shown("call-question"));
    window.wait_for_end();
    window.text("answer")
}

/// Loads the page once more.
fn reload(window: &Window<'_>) {
    window.script("window.isOld = true; location.reload()", json!([]));
    window.wait_until("the page begins anew", || {
        window.script("return !window.isOld", json!([])) == json!(true)
            && window.is_shown("message-assistant")
            && !window.is_shown("opening")
    });
}

/// Goes to the end of the chat, if it is out of view.
fn to_end(window: &Window<'_>) {
    if window.is_shown("latest") {
        window.click("latest");
        window.wait_until("the end is in view", || !window.is_shown("latest"));
    }
}

/// What fields of the page hold.
fn values(window: &Window<'_>, names: &[&str]) -> Value {
    let values =
        "return arguments[0].map((name) => document.querySelector(`[data-testid=${name}]`)?.value ?? null)";
    window.script(values, json!([names]))
}

#[test]
fn what_a_tool_worked_out_stands_in_the_reply_and_is_the_same_after_a_reload() {
    let sandbox = scripted();
    let window = sandbox.open();
    assert_eq!(window.answer("{\"say_results\": true}"), "[] of []", "nothing is on by itself");

    window.click("tools-control");
    window.click("tool-source-calculator");
    window.wait_until("it is counted", || window.text("tools-count").trim() == "1");
    window.press(&[], ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
    let sum = |sum: &str| call("calculator", "expression", sum);
    window.answer(&question(&[sum("1 + 1"), sum("2 + 2"), sum("1 / 0")].concat()));
    assert!(window.text("answer").starts_with("[2|4|"), "{}", window.text("answer"));
    window.answer(&question(&[sum("1 + 1"), sum("2 + 2"), sum("3 + 3")].concat()));
    assert!(window.text("call-group-toggle").starts_with("3 steps"));
    let answer = window.answer(&question(&format!("I compute.{}", sum("6 * 7"))));
    assert_eq!(answer, "[42] of [calculator]");
    assert!(window.texts("answer").iter().any(|text| text == "I compute."));

    let unfolded = || {
        // The last one. The list may still move after a reload, which this waits for.
        window.click("call-toggle");
        window.wait_until("the result is shown", || window.text("call-details").contains("Result"));
        window.text("call-details")
    };
    let said = window.texts("message-assistant");
    let details = unfolded();
    assert!(details.contains("6 * 7") && details.ends_with("42"), "{details}");
    reload(&window);
    window.wait_until("all is shown", || window.texts("message-assistant") == said);
    assert_eq!(unfolded(), details);

    let visual = VisualCheck::new(&window, &CHAT);
    to_end(&window);
    visual.check("tools-1-calls");
    window.click("tools-control");
    window.wait_until("the popover opens", || window.is_popover_shown());
    visual.check("tools-2-popover");
    window.click("tool-source-calculator");
    window.wait_until("it is off", || !window.is_shown("tools-count"));
    assert!(window.is_shown("tools-anew"), "the chat is read anew");
    window.press(&[], ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
    assert_eq!(window.answer("{\"say_results\": true}"), "[] of []");
}

#[test]
fn the_demo_model_chooses_a_tool_by_itself_and_says_what_it_gave() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    switch_source(&window, "calculator");
    window.choose("sampling-control", "sampling-greedy");
    let answer = window.answer("What is 4821 * 37?");
    assert!(answer.contains("178377"), "{answer}");
    assert!(window.text("call-toggle").contains("4821 * 37"), "{}", window.text("call-toggle"));
    VisualCheck::new(&window, &CHAT).check("tools-8-demo");
}

#[test]
fn a_call_runs_as_often_as_it_was_allowed_even_if_the_app_dies_while_it_asks() {
    let sandbox = scripted();
    let window = sandbox.open();
    add_server(&window, &sandbox);
    agree(&window, &sandbox);
    window.close_settings();
    switch_source(&window, "test");

    let long = format!("{}to its end.\u{202e}", "This is a line of which all must be read, ".repeat(20));
    ask_for_call(&window, &format!("I write.{}", append(&long)));
    let card = window.text("call-question");
    assert!(card.contains("may append of Test run?"), "{card}");
    assert!(card.contains(&long.replace('\u{202e}', "⟨U+202E⟩")), "all of it is shown: {card}");
    assert!(window.text("call-shown").contains("1 character would not be seen"), "{card}");
    for part in [built("foretoken-test-mcp"), log_file(&sandbox)] {
        assert!(window.text("call-origin").contains(part.to_str().unwrap()), "{card}");
    }
    let visual = VisualCheck::new(&window, &CHAT);
    visual.check("tools-3-question");
    window.click("deny-why");
    window.fill("deny-note", "Use the other file.");
    assert_eq!(log(&sandbox), [""; 0], "nothing has run");
    window.press(&[], ENTER);
    let answer = end(&window);
    assert!(answer.contains("did not allow this call. They say: Use the other file."), "{answer}");
    assert_eq!(log(&sandbox), [""; 0]);

    ask_for_call(&window, &append("first"));
    window.click("allow-once");
    assert!(end(&window).starts_with("[The line is on disk.]"), "{}", window.text("answer"));
    assert_eq!(log(&sandbox), ["first"]);

    ask_for_call(&window, &append("second"));
    reload(&window);
    window.wait_until("the question stands after a reload", || window.is_shown("call-question"));
    sandbox.kill("foretoken");
    window
        .wait_until("the server has ended with the app", || sandbox.running("foretoken-test-mcp").is_empty());
    drop(window);
    let window = sandbox.open();
    window.click("chat");
    wait_for_card(&window);
    assert!(window.text("call-arguments").contains("second"), "{}", window.text("call-arguments"));
    assert_eq!(log(&sandbox), ["first"]);
    window.click("allow-once");
    assert!(end(&window).starts_with("[The line is on disk.]"), "{}", window.text("answer"));
    assert_eq!(log(&sandbox), ["first", "second"]);

    ask_for_call(&window, &append("third"));
    window.click("edit-arguments");
    window.fill("arguments-json", "[1]");
    let refuses = "return document.querySelector('[data-testid=allow-once]').ariaDisabled";
    window.wait_until("a list cannot be sent", || window.script(refuses, json!([])) == json!("true"));
    window.fill("arguments-json", "{\"text\": \"changed\"}");
    window.wait_until("an object can", || window.script(refuses, json!([])).is_null());
    VisualCheck::new(&window, &CHAT).check("tools-4-edited");
    window.click("allow-once");
    let answer = end(&window);
    assert!(answer.contains("The user changed the arguments to"), "{answer}");
    assert_eq!(log(&sandbox), ["first", "second", "changed"]);
}

#[test]
fn a_file_is_changed_as_the_person_has_seen_it_and_never_unasked() {
    let sandbox = scripted();
    let notes = sandbox.home().join("Notes");
    fs::create_dir(&notes).unwrap();
    let today = notes.join("today.txt");
    fs::write(&today, "milk\nbread\n").unwrap();
    let settings = json!({ "tools": { "folders": [{ "name": "Notes", "path": notes }] } });
    fs::create_dir_all(sandbox.settings()).unwrap();
    fs::write(sandbox.settings().join("settings.json"), settings.to_string()).unwrap();
    let window = sandbox.open();
    for source in ["read_files", "write_files"] {
        switch_source(&window, source);
    }
    let edit = |old: &str, new: &str| {
        let parameter = |name: &str, value: &str| format!("<parameter={name}>\n{value}\n</parameter>\n");
        let parameters =
            [parameter("path", "Notes/today.txt"), parameter("old", old), parameter("new", new)].concat();
        format!("\n\n<tool_call>\n<function=edit_file>\n{parameters}</function>\n</tool_call>")
    };
    ask_for_call(&window, &edit("milk", "oat milk"));
    window.wait_until("the change is shown", || window.is_shown("difference"));
    let card = window.text("call-question");
    assert!(card.contains("Notes/today.txt") && window.text("difference").contains("oat milk"), "{card}");
    assert!(!window.is_shown("allow-longer"), "each change is asked about");
    VisualCheck::new(&window, &CHAT).check("tools-7-difference");
    thread::sleep(UNREAD);
    window.click("allow-once");
    end(&window);
    assert_eq!(fs::read_to_string(&today).unwrap(), "oat milk\nbread\n");

    ask_for_call(&window, &edit("bread", "rolls"));
    window.wait_until("the change is shown", || window.is_shown("difference"));
    fs::write(&today, "somebody else was here\nbread\n").unwrap();
    thread::sleep(UNREAD);
    window.click("allow-once");
    let answer = end(&window);
    assert!(answer.contains("Notes/today.txt"), "the model reads why not: {answer}");
    assert_eq!(fs::read_to_string(&today).unwrap(), "somebody else was here\nbread\n");

    window.open_settings("tools");
    window.wait_until("the folder is listed", || window.text("settings-tools").contains("Notes"));
    window.click("remove-tool-folder");
    window.wait_until("it is not", || !window.is_shown("remove-tool-folder"));
    window.fill("tool-search", &format!("search.example.org{ENTER}"));
    window.wait_until("what is wrong is said", || window.text("settings-tools").contains("no address"));
    window.close_settings();
}

#[test]
fn servers_come_in_switched_off_and_all_that_was_allowed_is_taken_back_at_once() {
    let sandbox = scripted();
    let window = sandbox.open();
    window.open_settings("tools");
    let visual = VisualCheck::new(&window, &SETTINGS);
    window.click("add-server");
    fill_form(&window, &sandbox);
    window.fill("server-folder", "notes");
    let fields = ["server-name", "server-command", "server-arguments", "server-folder"];
    let typed = values(&window, &fields);
    window.click("save-server");
    window.wait_until("it is refused", || window.text("server-form-error").contains("root"));
    assert_eq!(values(&window, &fields), typed, "what was typed is kept");
    assert!(typed.as_array().unwrap().iter().all(|value| !value.as_str().unwrap().is_empty()), "{typed}");
    visual.check("tools-5-form");
    window.fill("server-folder", &BACKSPACE.to_string());
    window.click("save-server");
    window.wait_until("it is listed as off", || states(&window) == ["off"]);
    window.click("server-switch");
    Dialog::wait(&sandbox, DIALOG).dismiss();
    assert_eq!(states(&window), ["off"], "the person has not agreed");
    agree(&window, &sandbox);
    let pasted = json!({ "mcpServers": {
        "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"] },
        "docs": { "url": "https://example.org/mcp" },
    } });
    window.fill("import-text", &pasted.to_string());
    window.click("import-servers");
    window.wait_until("both are added", || window.text("imported").contains("all switched off"));
    window.wait_until("they are off", || {
        let mut states = states(&window);
        states.sort();
        states == ["off", "off", "stopped"]
    });
    assert_eq!(values(&window, &["import-text"]), json!([""]), "keys that may be in it do not stay");
    window.close_settings();

    switch_source(&window, "test");
    ask_for_call(&window, &append("first"));
    window.choose_in_menu("allow-longer", "Always allow", "This tool, in this chat");
    end(&window);
    window.answer(&question(&append("second")));
    assert_eq!(log(&sandbox), ["first", "second"], "one is not asked again");
    window.open_settings("tools");
    window.wait_until("it is listed", || window.texts("revoke-permission").len() == 1);
    assert!(window.text("settings-tools").contains("append of Test"));
    let visual = VisualCheck::new(&window, &SETTINGS);
    window.click_one("server-fold", "Test");
    window.wait_until("its tools are shown", || window.is_shown("server-tool"));
    visual.check("tools-6-server");
    window.click("stop-tools");
    window.click("stop-tools-sheet-now");
    window.wait_until("the sheet closes", || !window.is_shown("stop-tools-sheet"));
    window.wait_until("nothing is allowed", || !window.is_shown("revoke-permission"));
    window.wait_until("its server ends", || sandbox.running("foretoken-test-mcp").is_empty());
    window.wait_until("all are told of", || !states(&window).contains(&"running".to_owned()));
    window.close_settings();
    ask_for_call(&window, &append("third"));
    assert_eq!(log(&sandbox), ["first", "second"]);
}
