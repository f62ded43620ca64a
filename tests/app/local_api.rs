//! Other programs use the model that answers in the window.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::dialog::Dialog;
use crate::support::endless_model::open_endless_model;
use crate::support::notifications::Notifications;
use crate::support::sandbox::{Sandbox, free_port};
use crate::support::webdriver::keys::{CONTROL, ESCAPE};
use crate::support::window::Window;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The loopback addresses, as the system's tables of sockets write them.
const LOOPBACK: [&str; 2] = ["0100007F", "00000000000000000000000001000000"];

/// A sandbox whose app is to listen at a port of its own: tests run beside each other.
fn sandbox_for(port: u16) -> Sandbox {
    let sandbox = Sandbox::new(1280, 900);
    fs::create_dir_all(sandbox.settings()).unwrap();
    let settings = json!({"local_api": {"on": false, "port": port, "needs_token": true}});
    fs::write(sandbox.settings().join("settings.json"), settings.to_string()).unwrap();
    sandbox
}

/// The addresses and ports that the app and its engine listen at.
fn listened(sandbox: &Sandbox) -> BTreeSet<(String, u16)> {
    let programs = [sandbox.running("foretoken"), sandbox.running("foretoken-engine")].concat();
    let sockets: BTreeSet<String> = programs
        .iter()
        .filter_map(|id| fs::read_dir(format!("/proc/{id}/fd")).ok())
        .flatten()
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
        .filter_map(|path| Some(path.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let listens = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (address, port) = fields.get(1)?.split_once(':')?;
        let is_meant = fields.get(3) == Some(&"0A") && sockets.contains(*fields.get(9)?);
        Some((address.to_owned(), u16::from_str_radix(port, 16).ok()?)).filter(|_| is_meant)
    };
    tables.iter().flat_map(|table| table.lines()).filter_map(listens).collect()
}

/// An answer of which the head has come.
struct Answer {
    status: u16,
    body: BufReader<TcpStream>,
}

impl Answer {
    /// Reads on until there is this text, and returns what was read.
    fn until(&mut self, text: &str) -> String {
        let mut read = String::new();
        while !read.contains(text) {
            let before = read.len();
            self.body.read_line(&mut read).unwrap();
            assert_ne!(read.len(), before, "it ended without {text:?}: {read}");
        }
        read
    }

    /// The rest.
    fn rest(mut self) -> String {
        let mut rest = String::new();
        self.body.read_to_string(&mut rest).unwrap();
        rest
    }
}

fn send(port: u16, token: &str, method: &str, path: &str, body: &Value) -> Answer {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nUser-Agent: curl/8.9.1\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut body = BufReader::new(stream);
    let mut line = String::new();
    body.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    while line != "\r\n" {
        line.clear();
        body.read_line(&mut line).unwrap();
    }
    Answer { status, body }
}

/// Asks for an answer that goes on until something ends it.
fn ask_without_end(port: u16, token: &str) -> Answer {
    let body = json!({
        "model": "default", "messages": [{"role": "user", "content": "Tell me a story."}],
        "stream": true, "max_tokens": 3500,
    });
    let mut answer = send(port, token, "POST", "/v1/chat/completions", &body);
    assert_eq!(answer.status, 200);
    answer.until("\"content\":\"");
    answer
}

fn token_in(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

fn switch_on(window: &Window<'_>, port: u16) {
    window.click("api-on");
    let on = format!("On at http://localhost:{port}");
    window.wait_until("it is on", || window.text("api-state").starts_with(&on));
}

#[test]
fn a_program_is_answered_beside_a_chat_and_only_with_the_token() {
    let port = free_port();
    let sandbox = sandbox_for(port);
    let window = sandbox.open();
    // The driver listens too, in the app's process.
    let before = listened(&sandbox);
    assert!(!before.iter().any(|(_, other)| *other == port), "nothing listens until it is switched on");
    let token_file = sandbox.settings().join("api-token");
    assert!(!token_file.exists(), "nobody needs a token yet");
    open_endless_model(&window, &sandbox);
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_for_text(20);
    window.open_settings("local_api");
    assert_eq!(window.text("api-state"), "Off");
    switch_on(&window, port);
    let more = listened(&sandbox);
    let opened: Vec<_> = more.difference(&before).collect();
    assert!(!opened.is_empty());
    for (address, other) in opened {
        assert!(LOOPBACK.contains(&address.as_str()) && *other == port, "{address} {other}");
    }

    let token = token_in(&token_file);
    assert_eq!(send(port, "ft-wrong", "GET", "/v1/models", &Value::Null).status, 401);
    let short = json!({
        "model": "default", "messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 4,
    });
    let answer = send(port, &token, "POST", "/v1/chat/completions", &short);
    assert_eq!(answer.status, 200);
    let answer: Value = serde_json::from_str(&answer.rest()).unwrap();
    assert_eq!(answer["usage"]["completion_tokens"], 4, "{answer}");

    let mut stopped = ask_without_end(port, &token);
    window.wait_until("the request is shown", || window.text("api-request").contains("writing"));
    assert!(window.text("api-request").contains("curl"), "{}", window.text("api-request"));
    window.wait_until("it counts", || window.text("api-state").contains("1 request"));
    window.picture("local-api");
    window.click("stop-request");
    stopped.until("\"cancelled\"");
    let rest = stopped.rest();
    assert!(!rest.contains("[DONE]"), "{rest}");
    let outcomes =
        "return [...document.querySelectorAll('[data-testid=api-ended]')].map((row) => row.dataset.outcome)";
    window.wait_until("it is gone", || window.script(outcomes, json!([])) == json!(["stopped", "done"]));

    // The page has the token nowhere; a click on Copy brings it to the clipboard alone.
    let asked = "const invoke = window.__TAURI_INTERNALS__.invoke;
                 return document.documentElement.outerHTML + JSON.stringify(await invoke('snapshot'));";
    let known = window.driver.async_script(asked, json!([])).unwrap();
    assert!(known.as_str().unwrap().contains("localhost") && !known.as_str().unwrap().contains(&token[3..]));
    window.click("copy-token");
    window.wait_until("it is copied", || window.text("copy-token") == "Copied");
    window.click("api-more");
    window.fill("api-port", "");
    window.press(&[CONTROL], 'v');
    let typed = "return document.querySelector('[data-testid=api-port]').value";
    window.wait_until("it can be pasted", || window.script(typed, json!([])) == json!(token));

    let mut old = ask_without_end(port, &token);
    window.click("renew-token");
    window.click("renew-token-sure");
    old.until("\"cancelled\"");
    window.wait_until("there is another token", || {
        !token_in(&token_file).is_empty() && token_in(&token_file) != token
    });
    window.wait_until("it is on again", || window.text("api-state").starts_with("On at"));
    assert_eq!(send(port, &token, "GET", "/v1/models", &Value::Null).status, 401);
    assert_eq!(send(port, &token_in(&token_file), "GET", "/v1/models", &Value::Null).status, 200);

    window.click("api-on");
    window.wait_until("it is off", || window.text("api-state") == "Off");
    assert_eq!(listened(&sandbox), before);
    window.close_settings();
    assert!(window.is_shown("stop"), "the chat has gone on all the time");
}

#[test]
fn another_port_can_be_taken_and_the_end_asks_while_a_program_is_answered() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let sandbox = sandbox_for(port);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.open_settings("local_api");
    window.click("api-on");
    let holder = format!("(process {}) already uses port {port}", std::process::id());
    window.wait_until("the port is in use", || window.text("api-state").contains(&holder));
    window.click("take-free-port");
    window.wait_until("it is on", || window.text("api-state").starts_with("On at http://localhost:"));
    let on = window.text("api-state");
    let port: u16 = on.strip_prefix("On at http://localhost:").unwrap().parse().unwrap();
    let mut answer = ask_without_end(port, &token_in(&sandbox.settings().join("api-token")));
    window.close_settings();
    window.press(&[CONTROL], 'q');
    Dialog::wait(&sandbox, "Another program is using the model").dismiss();
    answer.until("\"content\":\"");
    window.press(&[CONTROL], 'q');
    Dialog::wait(&sandbox, "Another program is using the model").agree();
    window.wait_until("the app ends", || sandbox.running("foretoken").is_empty());
    assert!(!answer.rest().contains("[DONE]"));
    drop(window);

    let window = sandbox.open();
    window.open_settings("local_api");
    window.wait_until("it is on from the start", || window.text("api-state").starts_with(&on));
}

#[test]
fn programs_have_models_loaded_only_while_the_window_is_closed_and_the_persons_comes_back() {
    let port = free_port();
    let sandbox = Sandbox::new(1280, 900);
    fs::create_dir_all(sandbox.settings()).unwrap();
    let settings = json!({"local_api": {"on": true, "port": port, "needs_token": false, "may_load": true}});
    fs::write(sandbox.settings().join("settings.json"), settings.to_string()).unwrap();
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    let ask = |model: &str| {
        let body = json!({
            "model": model, "messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 4,
        });
        let answer = send(port, "", "POST", "/v1/chat/completions", &body);
        (answer.status, serde_json::from_str::<Value>(&answer.rest()).unwrap())
    };
    let (status, refused) = ask("demo-model");
    assert_eq!((status, &refused["error"]["code"]), (503, &json!("model_busy")), "{refused}");

    window.press(&[CONTROL], 'w');
    window.wait_until("the window is gone", || sandbox.shown_windows() == 0);
    assert_eq!(sandbox.running("foretoken").len(), 1, "the app goes on for those who use the model");
    let (status, answer) = ask("demo-model");
    assert_eq!((status, &answer["model"]), (200, &json!("Demo-model")), "{answer}");

    assert!(sandbox.launch_again());
    window.wait_until("the window is back", || sandbox.shown_windows() == 1);
    window.wait_until("the person's model is loaded again", || {
        window.text("model-picker").contains("endless") && !window.is_shown("engine-banner")
    });
    let (status, answer) = ask("default");
    assert_eq!((status, &answer["model"]), (200, &json!("endless")), "{answer}");
}

#[test]
fn closing_the_window_says_once_that_the_app_goes_on_for_other_programs() {
    let sandbox = Sandbox::new(1280, 900);
    fs::create_dir_all(sandbox.settings()).unwrap();
    let settings = json!({
        "preferences": {"keep_running": true, "notifications": false},
        "local_api": {"on": false, "port": free_port(), "needs_token": false},
    });
    fs::write(sandbox.settings().join("settings.json"), settings.to_string()).unwrap();
    let told = |notifications: &Notifications| {
        notifications.told().into_iter().map(|told| told.title).collect::<Vec<_>>()
    };
    {
        let window = sandbox.open();
        let notifications = Notifications::on(&sandbox);
        let close = || {
            window.press(&[CONTROL], 'w');
            window.wait_until("the window is gone", || sandbox.shown_windows() == 0);
            assert!(sandbox.launch_again());
            window.wait_until("the window is back", || sandbox.shown_windows() == 1);
        };
        close();
        window.open_settings("local_api");
        window.click("api-on");
        window.wait_until("it is on", || window.text("api-state").starts_with("On at"));
        window.close_settings();
        close();
        assert_eq!(told(&notifications), [""; 0], "nobody wants to be told");
        window.open_settings("general");
        window.click("notifications");
        window.close_settings();
        close();
        window.wait_until("it is told", || told(&notifications) == ["Foretoken keeps running"]);
        close();
        assert_eq!(told(&notifications).len(), 1);
        // The page may be gone before it answers.
        let _ = window.driver.press(&[CONTROL], ['q']);
        window.wait_until("the app ends", || sandbox.running("foretoken").is_empty());
    }
    let window = sandbox.open();
    let notifications = Notifications::on(&sandbox);
    window.press(&[CONTROL], 'w');
    window.wait_until("the window is gone", || sandbox.shown_windows() == 0);
    assert!(sandbox.launch_again());
    window.wait_until("the window is back", || sandbox.shown_windows() == 1);
    assert_eq!(told(&notifications), [""; 0], "it is told once, not at every start");
}

#[test]
fn a_model_that_nobody_asks_gives_back_its_memory_until_the_next_question() {
    let sandbox = Sandbox::new(1280, 900);
    fs::create_dir_all(sandbox.settings()).unwrap();
    // As a person cannot choose, and a test can wait for.
    let settings = json!({"preferences": {"unload_after": 0}});
    fs::write(sandbox.settings().join("settings.json"), settings.to_string()).unwrap();
    let window = sandbox.open();
    window.wait_until("the engine has ended", || sandbox.running("foretoken-engine").is_empty());
    assert!(!window.is_shown("engine-banner"), "nothing has failed");
    window.click("model-picker");
    window.wait_until("the picker says so", || window.is_shown("model-unloaded"));
    window.press(&[], ESCAPE);
    window.ask("Where do owls sleep?");
    window.wait_for_end();
    assert!(!window.text("answer").is_empty());
    window.wait_until("it has ended again", || sandbox.running("foretoken-engine").is_empty());
}
