//! The app's window, in the words of somebody who uses it.

use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::dialog::Dialog;
use crate::support::picture::{Colour, is_painted};
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::{WebDriver, keys};

/// How long anything may take; machines that test are slow at times.
const TIMEOUT: Duration = Duration::from_secs(150);
/// What is to be clicked among things with the same name.
const MARKED: &str = "[data-marked]";
/// The page is asked again after a tenth of the time that was waited so far, but within these bounds: each question
/// costs the app some milliseconds of computing.
const POLL_INTERVAL: RangeInclusive<Duration> = Duration::from_millis(20)..=Duration::from_millis(200);

/// The second frame begins when the first is drawn.
const TWO_FRAMES: &str = "
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    await frame();";
/// The background of the page, as red, green and blue.
const BACKGROUND: &str = r"
    return getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).map(Number);";

pub(crate) struct Window<'sandbox> {
    pub(crate) driver: WebDriver,
    sandbox: &'sandbox Sandbox,
    bus: Child,
    /// What is around the page: pixels beside it and above it.
    frame: (u32, u32),
}

impl<'sandbox> Window<'sandbox> {
    /// Waits until the model is ready.
    pub(crate) fn open(sandbox: &'sandbox Sandbox, bus: Child, driver: WebDriver) -> Self {
        let window = Self { driver, sandbox, bus, frame: (0, 0) };
        window.wait_until("the app is ready for a message", || {
            window.is_shown("chats-trouble")
                || window.is_shown("composer")
                    && !window.is_shown("opening")
                    && !window.is_shown("engine-banner")
        });
        window
    }

    /// A window of a browser, which has its own controls above the page.
    pub(crate) fn browse(sandbox: &'sandbox Sandbox, bus: Child, driver: WebDriver) -> Self {
        let mut window = Self { driver, sandbox, bus, frame: (0, 0) };
        window.driver.resize(1000, 1000).expect("the window can be resized");
        window.frame = window.wait("the window has its size", || {
            let outside =
                "return [outerWidth, outerHeight, outerWidth - innerWidth, outerHeight - innerHeight]";
            let (width, height, beside, above): (u32, u32, u32, u32) =
                serde_json::from_value(window.script(outside, json!([]))).ok()?;
            ((width, height) == (1000, 1000)).then_some((beside, above))
        });
        window
    }

    /// Everything on the page with a name, as text.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let texts = self.script(
            "return [...document.querySelectorAll(arguments[0])].map((element) => element.textContent)",
            json!([selector(name)]),
        );
        serde_json::from_value(texts).expect("a list of texts")
    }

    /// The text of the last thing with a name; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> String {
        self.texts(name).pop().unwrap_or_default()
    }

    pub(crate) fn is_shown(&self, name: &str) -> bool {
        !self.texts(name).is_empty()
    }

    /// Clicks the last thing with a name as soon as it is there and can be used.
    pub(crate) fn click(&self, name: &str) {
        let selector = selector(name);
        // Where it was when it was last looked at: what still moves would be missed.
        let mut before = Value::Null;
        self.wait_until(&format!("{name} can be clicked"), || {
            let place = self.script(
                "const element = [...document.querySelectorAll(arguments[0])].at(-1);
                 const usable = element && element.getAttribute('aria-disabled') !== 'true';
                 const rests = usable && element.getAnimations({ subtree: true }).length === 0;
                 const { x, y, width, height } = rests ? element.getBoundingClientRect() : {};
                 return rests ? [x, y, width, height] : null",
                json!([selector]),
            );
            let rests = !place.is_null() && place == before;
            before = place;
            rests
        });
        self.driver.click(&selector).unwrap_or_else(|error| panic!("{name} was not clicked: {error}"));
    }

    /// Clicks the one thing with a name that says this.
    pub(crate) fn click_one(&self, name: &str, words: &str) {
        self.mark(&selector(name), words);
        self.driver.click(MARKED).unwrap_or_else(|error| panic!("{name} {words:?} was not clicked: {error}"));
    }

    /// Opens the menu behind the one button of a name whose label says `words`.
    pub(crate) fn open_menu(&self, button: &str, words: &str) {
        self.wait_until(&format!("{words:?} has a menu"), || {
            let marked = self.script(
                "document.querySelectorAll('[data-marked]').forEach((old) => delete old.dataset.marked);
                 const found = [...document.querySelectorAll(arguments[0])]
                     .find((element) => element.ariaLabel.includes(arguments[1]));
                 if (found) found.dataset.marked = '';
                 return Boolean(found)",
                json!([selector(button), words]),
            );
            marked == json!(true)
        });
        self.driver.click(MARKED).unwrap_or_else(|error| panic!("the menu did not open: {error}"));
    }

    /// Opens the menu behind the one button of a name whose label says `words`, and chooses something in it.
    pub(crate) fn choose_in_menu(&self, button: &str, words: &str, choice: &str) {
        self.open_menu(button, words);
        self.mark(".menu-item", choice);
        self.driver.click(MARKED).unwrap_or_else(|error| panic!("{choice:?} was not chosen: {error}"));
    }

    /// As [`Self::choose_in_menu`], of what closes the window: its page may be gone before it answers.
    pub(crate) fn choose_last_in_menu(&self, button: &str, words: &str, choice: &str) {
        self.open_menu(button, words);
        self.mark(".menu-item", choice);
        let _ = self.driver.click(MARKED);
    }

    /// Waits for the one element of a selector that says `words` and marks it, so that it can be clicked.
    fn mark(&self, selector: &str, words: &str) {
        self.wait_until(&format!("{words:?} is there"), || {
            let marked = self.script(
                "document.querySelectorAll('[data-marked]').forEach((old) => delete old.dataset.marked);
                 const found = [...document.querySelectorAll(arguments[0])]
                     .find((element) => element.textContent.includes(arguments[1]));
                 if (found) found.dataset.marked = '';
                 return Boolean(found && found.getAnimations({ subtree: true }).length === 0)",
                json!([selector, words]),
            );
            marked == json!(true)
        });
    }

    /// Replaces the text of a field.
    pub(crate) fn fill(&self, name: &str, text: &str) {
        // What is above the field may come and go, and move it away from under the mouse.
        self.wait_until(&format!("{name} has the focus"), || {
            self.click(name);
            self.focus() == name
        });
        self.driver.press(&[keys::CONTROL], ['a']).expect("keys arrive");
        self.type_text(text);
    }

    /// Types wherever the focus is.
    pub(crate) fn type_text(&self, text: &str) {
        self.driver.press(&[], text.chars()).expect("keys arrive");
    }

    /// Turns the mouse wheel over something; down is positive.
    pub(crate) fn scroll(&self, name: &str, pixels: i32) {
        self.driver.scroll(&selector(name), pixels).expect("the wheel turns");
    }

    /// Drags something to the right by some pixels; to the left if negative.
    pub(crate) fn drag(&self, name: &str, pixels: i32) {
        self.driver.drag(&selector(name), pixels).expect("it is dragged");
    }

    /// Presses the mouse on the one element of a name that says `words`, and does not let go.
    pub(crate) fn take(&self, name: &str, words: &str) {
        self.hold_over(name, words);
        self.driver.hold(true).expect("it is pressed");
    }

    /// Moves the mouse over the one element of a name that says `words`, with what it holds.
    pub(crate) fn hold_over(&self, name: &str, words: &str) {
        self.mark(&selector(name), words);
        self.driver.point_at(MARKED).expect("the mouse moves");
    }

    /// Lets go of what the mouse holds.
    pub(crate) fn let_go(&self) {
        self.driver.hold(false).expect("it is released");
    }

    /// Presses one key wherever the focus is.
    pub(crate) fn press(&self, held: &[char], key: char) {
        self.driver.press(held, [key]).expect("keys arrive");
    }

    /// The name of what has the focus.
    pub(crate) fn focus(&self) -> String {
        self.script("return document.activeElement?.dataset.testid ?? ''", json!([]))
            .as_str()
            .unwrap_or("")
            .to_owned()
    }

    /// Presses Tab until something has the focus.
    pub(crate) fn tab_to(&self, name: &str) {
        for _ in 0..80 {
            if self.focus() == name {
                return;
            }
            self.press(&[], keys::TAB);
        }
        panic!("{name} cannot be reached with Tab");
    }

    /// Asks something and waits until the reply is begun.
    pub(crate) fn ask(&self, question: &str) {
        // Not how many there are: only what is in view is drawn.
        let last = || {
            let last = "return [...document.querySelectorAll('[data-testid=message-assistant]')]
                            .at(-1)?.dataset.message ?? ''";
            self.script(last, json!([]))
        };
        let before = last();
        self.fill("composer", question);
        self.press(&[], keys::ENTER);
        self.wait_until("a reply begins", || last() != before);
    }

    /// Waits until no reply is being written.
    pub(crate) fn wait_for_end(&self) {
        self.wait_until("the reply ends", || !self.is_shown("stop"));
    }

    /// Asks something and returns the whole reply.
    pub(crate) fn answer(&self, question: &str) -> String {
        self.ask(question);
        self.wait_for_end();
        assert!(!self.is_shown("reply-error"), "{}", self.text("reply-error"));
        self.text("answer")
    }

    /// Waits until the reply that is being written is longer than this.
    pub(crate) fn wait_for_text(&self, characters: usize) -> String {
        self.wait("the reply grows", || {
            Some(self.text("answer")).filter(|text| text.chars().count() > characters)
        })
    }

    /// Goes over to the first window whose page shows this.
    pub(crate) fn enter(&self, name: &str) {
        self.wait_until(&format!("a window shows {name}"), || {
            let windows = self.driver.windows().expect("there are windows");
            windows.iter().any(|window| {
                self.driver.switch_to(window).is_ok()
                    && self
                        .driver
                        .script(
                            "return document.querySelector(arguments[0]) !== null",
                            json!([selector(name)]),
                        )
                        .is_ok_and(|found| found == json!(true))
            })
        });
    }

    /// Opens the window of the settings at a page; all else is done there until it is closed.
    pub(crate) fn open_settings(&self, page: &str) {
        self.press(&[keys::CONTROL], ',');
        self.enter_settings();
        self.click(&format!("open-{page}"));
        let opened = format!("settings-{page}");
        self.wait_until(&format!("{page} is open"), || self.is_shown(&opened));
    }

    /// Goes over to the window of the settings, which is opening.
    pub(crate) fn enter_settings(&self) {
        let windows = || self.driver.windows().expect("there are windows");
        self.wait_until("the settings have a window", || windows().len() == 2);
        self.wait_until("the settings are open", || {
            windows().iter().any(|window| {
                self.driver.switch_to(window).is_ok()
                    && self
                        .driver
                        .script("return location.href", json!([]))
                        .is_ok_and(|page| page != "about:blank")
                    && self.is_shown("settings-window")
            })
        });
    }

    /// Closes the window of the settings, and goes back to the one with the chats.
    pub(crate) fn close_settings(&self) {
        // The page that would answer is gone with the window.
        let _ = self.driver.press(&[], [keys::ESCAPE]);
        self.wait_until("the settings are closed", || {
            self.driver.windows().is_ok_and(|left| left.len() == 1)
        });
        let left = self.driver.windows().expect("there is a window");
        self.driver.switch_to(&left[0]).expect("the chats are there");
        self.driver.release().expect("the key comes up");
    }

    /// Opens the model in a folder through the picker.
    pub(crate) fn open_model(&self, path: &std::path::Path) {
        self.click("model-picker");
        self.choose_model(path);
    }

    /// Chooses a model folder through the picker, which is open.
    pub(crate) fn choose_model(&self, path: &std::path::Path) {
        self.click("open-folder");
        Dialog::wait(self.sandbox, "Open a model folder").choose(path);
    }

    /// Reads a file with chats.
    pub(crate) fn import_chats(&self, path: &std::path::Path) {
        self.choose_in_menu("chats-more", "More", "Import chats");
        Dialog::wait(self.sandbox, "Import chats").choose(path);
    }

    /// Opens a popover, chooses something in it, and waits until it is closed.
    pub(crate) fn choose(&self, control: &str, choice: &str) {
        self.click(control);
        self.click(choice);
        if self.is_popover_shown() {
            self.press(&[], keys::ESCAPE);
        }
        self.wait_until("the popover closes", || !self.is_popover_shown());
    }

    /// Gives the page a size and waits until it has it and has drawn at least one frame in it.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = || {
            let size = self.script("return [innerWidth, innerHeight]", json!([]));
            serde_json::from_value::<(u32, u32)>(size).expect("a width and a height")
        };
        self.driver.resize(width + self.frame.0, height + self.frame.1).expect("the window can be resized");
        self.wait_until(&format!("the page is {width}×{height}"), || size() == (width, height));
        self.driver.async_script(TWO_FRAMES, json!([])).expect("the page draws");
    }

    pub(crate) fn is_popover_shown(&self) -> bool {
        self.script("return document.querySelector('.popover') !== null", json!([])) == json!(true)
    }

    /// Runs the body of a function in the page.
    pub(crate) fn script(&self, body: &str, arguments: Value) -> Value {
        self.driver.script(body, arguments).expect("the page answers")
    }

    /// Waits until something is there, and returns it.
    pub(crate) fn wait<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(started.elapsed() < TIMEOUT, "waited in vain until {what}");
            sleep((started.elapsed() / 10).clamp(*POLL_INTERVAL.start(), *POLL_INTERVAL.end()));
        }
    }

    /// Waits until something is so.
    pub(crate) fn wait_until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        self.wait(what, || is_so().then_some(()));
    }

    /// Waits until the page is painted, and saves a picture of it for people to look at.
    pub(crate) fn picture(&self, name: &str) {
        let picture = self.painted(name);
        save(name, &picture).unwrap_or_else(|error| panic!("no picture {name}: {error}"));
    }

    /// Waits until the page is painted, and returns a picture of it, as a PNG file.
    pub(crate) fn painted(&self, name: &str) -> Vec<u8> {
        let background = self.script(BACKGROUND, json!([]));
        let background: Colour = serde_json::from_value(background).expect("the page has a background");
        self.wait(&format!("all of {name} is painted"), || {
            let picture = self.driver.screenshot().expect("the page can be seen");
            is_painted(&picture, background).then_some(picture)
        })
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let test = std::thread::current();
            let name = format!("failed-{}", test.name().unwrap_or("test"));
            // As it is: a page that is not painted may be why.
            let saved = self
                .driver
                .screenshot()
                .and_then(|picture| save(&name, &picture).map_err(|error| error.to_string()));
            if let Err(error) = saved {
                println!("no picture {name}: {error}");
            }
        }
        self.sandbox.kill_all();
        let _ = self.bus.wait();
    }
}

/// Puts a picture where people find it.
fn save(name: &str, picture: &[u8]) -> io::Result<()> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    let path = folder.join(format!("{}.png", name.replace("::", "-")));
    fs::create_dir_all(&folder)?;
    fs::write(&path, picture)?;
    println!("picture: {}", path.display());
    Ok(())
}

fn selector(name: &str) -> String {
    format!("[data-testid=\"{name}\"]")
}
