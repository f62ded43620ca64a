//! What the page cannot do, whatever is written on it.

use std::fs;
use std::net::TcpListener;

use foretoken_tests::fixtures::{copy_demo_model, edit_json};
use serde_json::{Value, json};

use crate::support::sandbox::Sandbox;
use crate::support::stored_chats::{StoredChat, write_chats};
use crate::support::window::Window;

/// Tries to reach `origin` in every way a page knows. Returns what the content policy has refused.
const REACH_OUT: &str = "
    const [origin] = arguments;
    const refused = new Set();
    document.addEventListener('securitypolicyviolation', (event) => refused.add(event.effectiveDirective));
    const add = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
    await fetch(`${origin}/fetch`).catch(() => {});
    navigator.sendBeacon?.(`${origin}/beacon`);
    try { new WebSocket(origin.replace('http', 'ws')); } catch {}
    try { new EventSource(`${origin}/events`); } catch {}
    try { new Worker(`${origin}/worker.js`); } catch {}
    add('img', { src: `${origin}/image` });
    add('iframe', { src: `${origin}/frame` });
    add('object', { data: `${origin}/object` });
    add('video', { src: `${origin}/video` });
    add('script', { src: `${origin}/script` });
    add('link', { rel: 'stylesheet', href: `${origin}/style` });
    add('style', { textContent: `@import '${origin}/import'; body { background: url(${origin}/background) }` });
    add('script', { textContent: 'window.injected = \"a script element\"' });
    add('div', { innerHTML: '<img src=\"no-such-image\" onerror=\"window.injected = `a handler`\">' });
    const form = document.createElement('form');
    Object.assign(form, { action: `${origin}/form`, method: 'post' });
    document.body.append(form);
    form.submit();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return [...refused];";

/// What a model could write to be previewed: `ORIGIN` is where it wants to get.
const PREVIEWED: &str = r#"
```mermaid
graph LR
  A[Owl] --> B["<img src='ORIGIN/label' onerror='document.title=`ran`'>"]
  click A "ORIGIN/node"
```

```svg
<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" onload="document.title='ran'">
<script>document.title = 'ran'</script><image href="ORIGIN/image"/><circle r="9" cx="20" cy="15"/></svg>
```

```html
<meta http-equiv="refresh" content="0;url=ORIGIN/refresh"><link rel="stylesheet" href="ORIGIN/sheet">
<style>@import url(ORIGIN/import); body { background: url(ORIGIN/background); } h1 { color: red; }</style>
<script>document.title = 'ran'; fetch('ORIGIN/script')</script>
<h1>An owl</h1><img src="ORIGIN/picture" onerror="document.title = 'ran'"><iframe src="ORIGIN/frame"></iframe>
<svg onload="document.title = 'ran'"></svg><a href="ORIGIN/link">Link</a>
<form action="ORIGIN/form"><button>Send</button></form>
```
"#;

/// Tries, in the frame of a preview, what even a script that ran there could not do. Returns what came of it.
const REACH_OUT_OF_FRAME: &str = "
    const [origin] = arguments;
    const came = (run) => { try { return `${run()}` } catch (error) { return error.name } };
    const asked = (address, how) => fetch(address, how).then(() => 'answered', () => 'refused');
    const found = {
        title: document.title,
        internals: typeof window.__TAURI_INTERNALS__,
        parent: came(() => parent.document.title),
        storage: came(() => localStorage.length),
        network: await asked(`${origin}/fetch`),
        commands: await asked('ipc://localhost/quit', { method: 'POST', body: '{}' }),
        page: await asked('tauri://localhost/index.html'),
        window: came(() => window.open(`${origin}/window`)),
    };
    const message = { cmd: 'quit', callback: 1, error: 2, payload: {}, options: {}, __TAURI_INVOKE_KEY__: '' };
    came(() => window.ipc.postMessage(JSON.stringify(message)));
    came(() => window.webkit.messageHandlers.ipc.postMessage(JSON.stringify(message)));
    came(() => navigator.sendBeacon(`${origin}/beacon`));
    came(() => { top.location.href = `${origin}/top` });
    const add = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
    add('script', { textContent: 'document.title = `ran`' });
    add('script', { src: `${origin}/script` });
    add('iframe', { src: `${origin}/inner` });
    document.querySelector('a')?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
    document.querySelector('form')?.submit();
    await new Promise((resolve) => setTimeout(resolve, 500));
    location.href = `${origin}/navigation`;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { ...found, later: document.title };";

/// Shows all three, and looks at each from within.
fn previews_show_and_reach_nothing(window: &Window<'_>, origin: &str) {
    window.click_one("chat", "Previews");
    window.wait_until("they can be previewed", || window.texts("toggle-preview").len() == 3);
    window.script(
        "document.querySelectorAll('[data-testid=toggle-preview]').forEach((button) => button.click())",
        json!([]),
    );
    let here = window.script("return location.href", json!([]));
    for (nth, drawn) in [".node", "img", "h1"].into_iter().enumerate() {
        window.wait_until("a frame draws", || {
            window.driver.enter_frame(None).unwrap();
            window.driver.enter_frame(Some(("iframe.preview", nth))).is_ok()
                && window
                    .driver
                    .script("return document.querySelector(arguments[0]) !== null", json!([drawn]))
                    == Ok(json!(true))
        });
        let came = window.driver.async_script(REACH_OUT_OF_FRAME, json!([origin])).unwrap();
        let expected = json!({
            "title": "Preview", "internals": "undefined", "parent": "SecurityError", "storage": "SecurityError",
            "network": "refused", "commands": "refused", "page": "refused", "window": "null", "later": "Preview",
        });
        assert_eq!(came, expected, "in the frame with {drawn}");
        window.driver.enter_frame(None).unwrap();
    }
    window.picture("previews");
    let heights = window.script(
        "return [...document.querySelectorAll('iframe.preview')].map((frame) => frame.offsetHeight)",
        json!([]),
    );
    assert!(heights.as_array().unwrap().iter().all(|height| height.as_u64() >= Some(50)), "{heights}");
    assert_eq!(window.script("return location.href", json!([])), here);
    assert_eq!(window.driver.windows().unwrap().len(), 1);
}

#[test]
fn the_page_reaches_nothing_but_the_shell_and_previews_reach_not_even_that() {
    let sandbox = Sandbox::new(1280, 900);
    // A page that got out would be heard here.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let messages = vec!["Show me.".into(), PREVIEWED.replace("ORIGIN", &origin)];
    write_chats(&sandbox.data(), [StoredChat { title: "Previews".into(), messages }]);
    let window = sandbox.open();
    previews_show_and_reach_nothing(&window, &origin);

    let refused = window.driver.async_script(REACH_OUT, json!([origin])).unwrap();
    let refused: Vec<&str> = refused.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for directive in [
        "connect-src",
        "img-src",
        "frame-src",
        "object-src",
        "media-src",
        "script-src-elem",
        "script-src-attr",
        "style-src-elem",
        "form-action",
    ] {
        assert!(refused.contains(&directive), "{directive} was not refused, only {refused:?}");
    }
    assert_eq!(window.script("return window.injected ?? null", json!([])), Value::Null);
    assert!(listener.accept().is_err(), "something was asked for at {origin}");
}

#[test]
fn the_page_opens_no_windows_goes_nowhere_and_runs_no_text() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let here = window.script("return location.href", json!([]));

    assert_eq!(window.script("return window.open('https://example.org')", json!([])), Value::Null);
    window.script("location.href = 'https://example.org'", json!([]));
    window.script("location.href = 'data:text/html,elsewhere'", json!([]));
    let text = window.driver.async_script(
        "const works = (run) => { try { return run() === 2 } catch (error) { return false } };
         setTimeout('window.injected = true', 0);
         await new Promise((resolve) => setTimeout(resolve, 500));
         return { made: works(() => new Function('return 1 + 1')()), evaluated: works(() => eval('1 + 1')),
                  timed: window.injected === true }",
        json!([]),
    );
    assert_eq!(text.unwrap(), json!({ "made": false, "evaluated": false, "timed": false }));
    assert_eq!(window.script("return location.href", json!([])), here);
    assert_eq!(window.driver.windows().unwrap().len(), 1);
    assert!(window.is_shown("composer"));
}

/// Calls a command from the page, and says whether it was done or refused, with the answer.
fn call(window: &Window<'_>, command: &str, arguments: Value) -> String {
    let outcome = window.driver.async_script(
        "const [command, options] = arguments;
         return window.__TAURI_INTERNALS__.invoke(command, options)
             .then((answer) => `done: ${JSON.stringify(answer)}`, (error) => `refused: ${typeof error === 'string' ? error : JSON.stringify(error)}`)",
        json!([command, arguments]),
    );
    outcome.unwrap().as_str().unwrap().to_owned()
}

#[test]
fn the_page_may_call_the_commands_of_the_app_and_no_others() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    assert!(call(&window, "snapshot", json!({})).starts_with("done"));
    for (command, arguments) in
        [("reveal", json!({ "path": "/etc" })), ("delete_model", json!({ "path": "/etc" }))]
    {
        let outcome = call(&window, command, arguments);
        assert!(outcome.contains("unknown_model"), "{command}: {outcome}");
    }
    only_what_was_handed_over_is_opened(&window, &sandbox);
    other_addresses_and_places_are_refused(&window);
    commands_of_plugins_are_refused(&window);
    assert!(call(&window, "snapshot", json!({})).starts_with("done"));
}

/// What no dialog and no drop has given is not opened, also where it is what the command asks for.
fn only_what_was_handed_over_is_opened(window: &Window<'_>, sandbox: &Sandbox) {
    let model = sandbox.home().join("model");
    copy_demo_model(&model);
    let chats = sandbox.home().join("chats.json");
    fs::write(&chats, r#"{"chats": []}"#).unwrap();
    let library = sandbox.home().join("library");
    fs::create_dir(&library).unwrap();
    for (command, path) in [
        ("open_model", &model),
        ("select_model", &model),
        ("import_model", &model),
        ("move_library", &library),
        ("import_chats", &chats),
        ("attach_dropped", &chats),
        ("add_dropped_project_files", &chats),
        ("set_dropped_project_folder", &library),
    ] {
        let paths = json!({
            "path": path, "paths": [path], "files": [path], "folder": path, "project": 1,
            "reading": "__CHANNEL__:1",
        });
        let outcome = call(window, command, paths);
        assert!(outcome.contains("not_handed_over"), "{command}: {outcome}");
    }
    assert!(!window.is_shown("chat"), "no chats were read");
    assert_eq!(fs::read_dir(&library).unwrap().count(), 0, "the library has not moved");
    // For what the person chose for one thing, nothing else is done.
    window.open_model(&library);
    window.wait_until("there is no model", || window.is_shown("model-error"));
    assert!(call(window, "move_library", json!({ "path": &library })).contains("not_handed_over"));
}

fn other_addresses_and_places_are_refused(window: &Window<'_>) {
    for address in ["file:///etc/passwd", "javascript:alert(1)", "/usr/bin/id", "x-other-app://do"] {
        let outcome = call(window, "open_link", json!({ "address": address }));
        assert!(outcome.contains("link_refused"), "{address}: {outcome}");
    }
    for kind in ["home", "../..", "/etc"] {
        let outcome = call(window, "reveal_place", json!({ "kind": kind }));
        assert!(outcome.contains("unknown variant"), "{kind}: {outcome}");
    }
}

fn commands_of_plugins_are_refused(window: &Window<'_>) {
    for (command, arguments) in [
        ("plugin:dialog|open", json!({ "options": { "directory": true } })),
        ("plugin:dialog|save", json!({ "options": {} })),
        ("plugin:event|emit", json!({ "event": "x", "payload": null })),
        ("plugin:fs|read_text_file", json!({ "path": "/etc/passwd" })),
        ("plugin:notification|notify", json!({ "options": { "title": "x" } })),
        ("plugin:opener|open_url", json!({ "url": "https://example.org" })),
        ("plugin:path|resolve_directory", json!({ "directory": 21 })),
        ("plugin:shell|execute", json!({ "program": "id", "args": [] })),
        (
            "plugin:webview|create_webview_window",
            json!({ "options": { "label": "x", "url": "https://example.org" } }),
        ),
        ("plugin:window|close", json!({ "label": "main" })),
        ("plugin:window|set_title", json!({ "label": "main", "value": "x" })),
        ("plugin:window-state|restore_state", json!({ "label": "main", "flags": 63 })),
        ("no_such_command", json!({})),
    ] {
        let outcome = call(window, command, arguments);
        assert!(outcome.contains("not allowed") || outcome.contains("not found"), "{command}: {outcome}");
    }
}

#[test]
fn markup_in_messages_and_replies_is_text() {
    const MARKUP: &str =
        "<img src=x onerror=\"window.injected = true\"><b>bold</b><script>window.injected = true</script>";
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer(MARKUP);
    assert_eq!(window.text("message-user"), MARKUP);
    assert!(window.text("chat").contains("<img"), "the title is text too: {}", window.text("chat"));

    // This model writes a tag where a story has its title.
    let model = sandbox.home().join("tags");
    copy_demo_model(&model);
    edit_json(&model, "tokenizer.json", |file| {
        let vocabulary = file["model"]["vocab"].as_object_mut().unwrap();
        let id = vocabulary.remove("**").unwrap();
        assert!(vocabulary.insert("<b>".into(), id).is_none());
        let merges = file["model"]["merges"].as_array_mut().unwrap();
        merges.retain(|merge| {
            let (a, b) = (merge[0].as_str().unwrap(), merge[1].as_str().unwrap());
            a != "**" && b != "**" && format!("{a}{b}") != "**"
        });
    });
    window.open_model(&model);
    window.wait_until("the picker closes", || !window.is_popover_shown());
    window.click("new-chat");
    let answer = window.answer("Tell me a story about an owl and a bell.");
    assert!(answer.contains("<b>"), "{answer}");
    let made = window.script(
        "return document.querySelectorAll('img, b, script:not([type=module]), think').length",
        json!([]),
    );
    assert_eq!(made, json!(0), "no element was made from text");
    assert_eq!(window.script("return window.injected ?? null", json!([])), Value::Null);
}

#[test]
fn a_link_opens_in_the_browser_only_from_its_address() {
    let mut sandbox = Sandbox::new(1280, 900);
    let opened = sandbox.watch_browser();
    let file = sandbox.home().join("conversations.json");
    let message = |role: &str, text: &str| {
        json!({ "author": { "role": role }, "create_time": 1.0, "recipient": "all",
                "content": { "content_type": "text", "parts": [text] } })
    };
    let answer = "See [the page](https://apple.com@EXAMPLE.org/a?b=c).";
    let conversation = json!([{ "title": "Links", "create_time": 1.0, "update_time": 2.0, "current_node": "b",
        "mapping": {
            "root": { "message": null, "parent": null, "children": ["a"] },
            "a": { "message": message("user", "Where?"), "parent": "root", "children": ["b"] },
            "b": { "message": message("assistant", answer), "parent": "a", "children": [] },
        } }]);
    fs::write(&file, conversation.to_string()).unwrap();
    let window = sandbox.open();
    window.import_chats(&file);
    window.click_one("chat", "Links");
    let link = "return document.querySelector('.link')?.click() === undefined && document.querySelector('.link') !== null";
    window.wait_until("the link is clicked", || window.script(link, json!([])) == json!(true));
    window.wait_until("its address is shown", || {
        let shown = "return document.querySelector('.link-address code')?.textContent ?? ''";
        window.script(shown, json!([])) == json!("https://example.org/a?b=c")
    });
    let site = window.script("return document.querySelector('.link-address strong').textContent", json!([]));
    assert_eq!(site, json!("example.org"), "the site is stressed");
    window.picture("link-address");
    assert!(!opened.exists(), "the link itself opens nothing");
    window.click("open-link");
    let asked = window.wait("the browser is asked", || {
        fs::read_to_string(&opened).ok().filter(|asked| asked.ends_with('\n'))
    });
    assert_eq!(asked, "https://example.org/a?b=c\n");
    assert_eq!(window.driver.windows().unwrap().len(), 1);
}
