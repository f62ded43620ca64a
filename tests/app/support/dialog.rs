//! The system's dialogs, used with the keyboard of the screen: they are no part of the page.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use x11rb::NONE;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, InputFocus, MapState, Window};
use x11rb::rust_connection::RustConnection;

use crate::support::sandbox::Sandbox;
use crate::support::screen_keys::{ALT, CONTROL, ESCAPE, HOME, RETURN, SHIFT, ScreenKeys};

/// How long the dialog may take to come or go.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The dialog that is open.
pub(crate) struct Dialog {
    keys: ScreenKeys,
    window: Window,
}

impl Dialog {
    /// Waits for the dialog with this title.
    pub(crate) fn wait(sandbox: &Sandbox, title: &str) -> Self {
        let keys = ScreenKeys::of(sandbox);
        let connection = &keys.connection;
        let begun = Instant::now();
        let window = loop {
            if let Some(window) = titled(connection, keys.root, title) {
                break window;
            }
            assert!(begun.elapsed() < TIMEOUT, "waited in vain for the dialog {title:?}");
            sleep(Duration::from_millis(50));
        };
        // There is no window manager to do it.
        connection.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME).unwrap();
        connection.flush().unwrap();
        Self { keys, window }
    }

    /// Whether there is a dialog with this title.
    pub(crate) fn is_open(sandbox: &Sandbox, title: &str) -> bool {
        let (connection, screen) =
            RustConnection::connect(Some(sandbox.display())).expect("the screen answers");
        titled(&connection, connection.setup().roots[screen].root, title).is_some()
    }

    /// Chooses an existing file or folder.
    pub(crate) fn choose(self, path: &Path) {
        // Among the files that were used last, no folder can be chosen.
        if path.is_dir() {
            self.keys.press(&[ALT], HOME);
        }
        // Opens the field for a place, whatever is shown.
        self.keys.press(&[CONTROL], u32::from(b'l'));
        self.confirm(path);
    }

    /// Chooses where to write.
    pub(crate) fn save_as(self, path: &Path) {
        // The field for the name is open, and takes a whole path.
        self.keys.press(&[CONTROL], u32::from(b'a'));
        self.confirm(path);
    }

    /// Presses the button that the keys begin with.
    pub(crate) fn agree(self) {
        self.keys.press(&[], RETURN);
        self.wait_until_gone();
    }

    /// Chooses nothing.
    pub(crate) fn dismiss(self) {
        self.keys.press(&[], ESCAPE);
        self.wait_until_gone();
    }

    fn confirm(&self, path: &Path) {
        // What is typed before the field has opened is lost.
        sleep(Duration::from_millis(300));
        for character in path.to_str().expect("a plain path").bytes() {
            let alone = self.keys.writes_alone(character);
            self.keys.press(if alone { &[] } else { &[SHIFT] }, character.into());
        }
        sleep(Duration::from_millis(300));
        self.keys.press(&[], RETURN);
        self.wait_until_gone();
    }

    fn wait_until_gone(&self) {
        let begun = Instant::now();
        while is_shown(&self.keys.connection, self.window) {
            assert!(begun.elapsed() < TIMEOUT, "the dialog does not close");
            sleep(Duration::from_millis(50));
        }
    }
}

fn is_shown(connection: &RustConnection, window: Window) -> bool {
    let attributes = connection.get_window_attributes(window).ok().and_then(|asked| asked.reply().ok());
    attributes.is_some_and(|attributes| attributes.map_state == MapState::VIEWABLE)
}

/// The visible window of this title.
fn titled(connection: &RustConnection, root: Window, title: &str) -> Option<Window> {
    let name = connection.intern_atom(false, b"_NET_WM_NAME").ok()?.reply().ok()?.atom;
    let mut windows = vec![root];
    while let Some(window) = windows.pop() {
        windows.extend(connection.query_tree(window).ok()?.reply().ok()?.children);
        let words = connection.get_property(false, window, name, NONE, 0, 256).ok()?.reply().ok()?.value;
        if words == title.as_bytes() && is_shown(connection, window) {
            return Some(window);
        }
    }
    None
}
