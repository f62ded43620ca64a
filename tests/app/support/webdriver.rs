//! The part of WebDriver that these tests speak, to `WebKitWebDriver`.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use ureq::Agent;

/// How long the driver may take to start, or to answer.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long what is drawn anew may not be clickable, and how often that is tried.
const CLICKABLE: Duration = Duration::from_secs(5);
const SHORT: Duration = Duration::from_millis(50);
/// Names an element in the protocol's JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys as WebDriver writes them.
pub(crate) mod keys {
    pub(crate) const BACKSPACE: char = '\u{e003}';
    pub(crate) const TAB: char = '\u{e004}';
    pub(crate) const ENTER: char = '\u{e007}';
    pub(crate) const SHIFT: char = '\u{e008}';
    pub(crate) const CONTROL: char = '\u{e009}';
    pub(crate) const ALT: char = '\u{e00a}';
    pub(crate) const ESCAPE: char = '\u{e00c}';
    pub(crate) const ARROW_UP: char = '\u{e013}';
    pub(crate) const ARROW_LEFT: char = '\u{e012}';
    pub(crate) const ARROW_RIGHT: char = '\u{e014}';
    pub(crate) const ARROW_DOWN: char = '\u{e015}';
    pub(crate) const PAGE_UP: char = '\u{e00e}';
    pub(crate) const PAGE_DOWN: char = '\u{e00f}';
    pub(crate) const F6: char = '\u{e036}';
}

/// A session with one window.
pub(crate) struct WebDriver {
    agent: Agent,
    session: String,
}

impl WebDriver {
    /// Waits for the driver on `port` and lets it open a program, or WebKit's own browser.
    pub(crate) fn connect(port: u16, program: Option<&Path>) -> Self {
        let agent: Agent =
            Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false).build().into();
        let address = format!("http://127.0.0.1:{port}");
        let started = Instant::now();
        while let Err(error) = agent.get(format!("{address}/status")).call() {
            assert!(
                started.elapsed() < TIMEOUT,
                "WebKitWebDriver does not answer (Debian package webkit2gtk-driver): {error}"
            );
            sleep(Duration::from_millis(20));
        }
        let options = program.map_or_else(
            || json!({}),
            |program| json!({ "webkitgtk:browserOptions": { "binary": program, "args": [] } }),
        );
        let mut driver = Self { agent, session: format!("{address}/session") };
        let opened =
            driver.post("", &json!({ "capabilities": { "alwaysMatch": options } })).expect("the app opens");
        let id = opened["sessionId"].as_str().expect("the session has a name");
        driver.session = format!("{address}/session/{id}");
        driver
    }

    /// Runs the body of a function in the page and returns what it returns.
    pub(crate) fn script(&self, body: &str, arguments: Value) -> Result<Value, String> {
        self.post("/execute/sync", &json!({ "script": body, "args": arguments }))
    }

    /// Runs the body of an async function in the page and returns what it comes to.
    pub(crate) fn async_script(&self, body: &str, arguments: Value) -> Result<Value, String> {
        let body = format!(
            "const done = arguments[arguments.length - 1];
             (async (...arguments) => {{ {body} }})(...arguments).then(done, (error) => done(`${{error}}`));"
        );
        self.post("/execute/async", &json!({ "script": body, "args": arguments }))
    }

    /// Goes to an address and waits until its page is there.
    pub(crate) fn go_to(&self, address: &str) -> Result<(), String> {
        self.post("/url", &json!({ "url": address })).map(drop)
    }

    /// Clicks the last element of a selector with the mouse.
    pub(crate) fn click(&self, selector: &str) -> Result<(), String> {
        let click = || {
            let found = self.post("/elements", &json!({ "using": "css selector", "value": selector }))?;
            let last = found.as_array().and_then(|elements| elements.last());
            let id = last.and_then(|element| element[ELEMENT].as_str()).ok_or("no such element")?;
            self.post(&format!("/element/{id}/click"), &json!({})).map(drop)
        };
        let end = Instant::now() + CLICKABLE;
        loop {
            match click() {
                // The page was drawn anew between the look and the click.
                Err(error) if error.contains("not interactable") && Instant::now() < end => sleep(SHORT),
                clicked => return clicked,
            }
        }
    }

    /// Presses and releases keys, one after the other, wherever the focus is; `held` stay down meanwhile.
    pub(crate) fn press(&self, held: &[char], keys: impl IntoIterator<Item = char>) -> Result<(), String> {
        let key = |kind: &str, key: char| json!({ "type": kind, "value": key });
        let mut actions: Vec<_> = held.iter().map(|&modifier| key("keyDown", modifier)).collect();
        actions.extend(keys.into_iter().flat_map(|pressed| [key("keyDown", pressed), key("keyUp", pressed)]));
        actions.extend(held.iter().rev().map(|&modifier| key("keyUp", modifier)));
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.post("/actions", &json!({ "actions": [keyboard] })).map(drop)
    }

    /// Lets go of all keys and buttons: one stays down whose window went before it came up.
    pub(crate) fn release(&self) -> Result<(), String> {
        read(self.agent.delete(format!("{}/actions", self.session)).call()).map(drop)
    }

    /// Turns the mouse wheel over an element; down is positive.
    pub(crate) fn scroll(&self, selector: &str, pixels: i32) -> Result<(), String> {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }))?;
        let turn =
            json!({ "type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": pixels, "origin": found });
        // The driver would count from where a wheel of the same name was turned to before.
        static WHEELS: AtomicUsize = AtomicUsize::new(0);
        let id = format!("wheel {}", WHEELS.fetch_add(1, Ordering::Relaxed));
        let wheel = json!({ "type": "wheel", "id": id, "actions": [turn] });
        self.post("/actions", &json!({ "actions": [wheel] })).map(drop)
    }

    /// Drags an element to the right by some pixels; to the left if negative.
    pub(crate) fn drag(&self, selector: &str, pixels: i32) -> Result<(), String> {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }))?;
        let to = |x: i32, origin: Value| json!({ "type": "pointerMove", "duration": 50, "x": x, "y": 0, "origin": origin });
        let button = |kind: &str| json!({ "type": kind, "button": 0 });
        let actions =
            [to(0, found), button("pointerDown"), to(pixels, json!("pointer")), button("pointerUp")];
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": actions });
        self.post("/actions", &json!({ "actions": [mouse] })).map(drop)
    }

    /// Moves the mouse to the middle of an element; its button stays as it is.
    pub(crate) fn point_at(&self, selector: &str) -> Result<(), String> {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }))?;
        self.mouse(&json!({ "type": "pointerMove", "duration": 50, "x": 0, "y": 0, "origin": found }))
    }

    /// Presses the button of the mouse where it is, or lets go of it.
    pub(crate) fn hold(&self, pressed: bool) -> Result<(), String> {
        self.mouse(&json!({ "type": if pressed { "pointerDown" } else { "pointerUp" }, "button": 0 }))
    }

    fn mouse(&self, action: &Value) -> Result<(), String> {
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": [action] });
        self.post("/actions", &json!({ "actions": [mouse] })).map(drop)
    }

    /// Speaks with what is in the frame with this number among those of a selector from now on; with the page itself
    /// again where there is none.
    pub(crate) fn enter_frame(&self, frame: Option<(&str, usize)>) -> Result<(), String> {
        let element = match frame {
            None => Value::Null,
            Some((selector, nth)) => {
                self.post("/elements", &json!({ "using": "css selector", "value": selector }))?[nth].clone()
            }
        };
        self.post("/frame", &json!({ "id": element })).map(drop)
    }

    /// Gives the window a size.
    pub(crate) fn resize(&self, width: u32, height: u32) -> Result<(), String> {
        self.post("/window/rect", &json!({ "x": 0, "y": 0, "width": width, "height": height })).map(drop)
    }

    /// The names of the windows that there are.
    pub(crate) fn windows(&self) -> Result<Vec<String>, String> {
        let handles = self.get("/window/handles")?;
        let names =
            |handles: &Vec<Value>| handles.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(handles.as_array().map(names).unwrap_or_default())
    }

    /// Speaks with the page of this window from now on.
    pub(crate) fn switch_to(&self, window: &str) -> Result<(), String> {
        self.post("/window", &json!({ "handle": window })).map(drop)
    }

    /// The page as a PNG file.
    pub(crate) fn screenshot(&self) -> Result<Vec<u8>, String> {
        let encoded = self.get("/screenshot")?;
        BASE64_STANDARD.decode(encoded.as_str().unwrap_or_default()).map_err(|error| error.to_string())
    }

    fn get(&self, path: &str) -> Result<Value, String> {
        read(self.agent.get(format!("{}{path}", self.session)).call())
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        read(self.agent.post(format!("{}{path}", self.session)).send_json(body))
    }
}

/// The value of an answer, or the driver's words about what went wrong.
fn read(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Value, String> {
    let mut answer = answer.map_err(|error| error.to_string())?;
    let mut body: Value = answer.body_mut().read_json().map_err(|error| error.to_string())?;
    let value = body["value"].take();
    if answer.status().is_success() { Ok(value) } else { Err(value.to_string()) }
}
