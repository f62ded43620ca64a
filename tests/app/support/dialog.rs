//! The system's dialogs, used with the keyboard of the screen: they are no part of the page.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use x11rb::NONE;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ConnectionExt, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use crate::support::sandbox::Sandbox;

/// How long the dialog may take to come or go.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Keys as X names them.
const RETURN: u32 = 0xff0d;
const SHIFT: u32 = 0xffe1;
const CONTROL: u32 = 0xffe3;
const ALT: u32 = 0xffe9;
const HOME: u32 = 0xff50;
const ESCAPE: u32 = 0xff1b;

/// The dialog that is open.
pub(crate) struct Dialog {
    connection: RustConnection,
    root: Window,
    window: Window,
    first_key: u8,
    /// What each key writes, alone and with the shift key.
    keys: Vec<[u32; 2]>,
}

impl Dialog {
    /// Waits for the dialog with this title.
    pub(crate) fn wait(sandbox: &Sandbox, title: &str) -> Self {
        let (connection, screen) =
            RustConnection::connect(Some(sandbox.display())).expect("the screen answers");
        let setup = connection.setup();
        let (root, first_key) = (setup.roots[screen].root, setup.min_keycode);
        let count = setup.max_keycode - first_key + 1;
        let map = connection.get_keyboard_mapping(first_key, count).unwrap().reply().unwrap();
        let keys = map.keysyms.chunks(map.keysyms_per_keycode.into()).map(|key| [key[0], key[1]]).collect();
        let begun = Instant::now();
        let window = loop {
            if let Some(window) = titled(&connection, root, title) {
                break window;
            }
            assert!(begun.elapsed() < TIMEOUT, "waited in vain for the dialog {title:?}");
            sleep(Duration::from_millis(50));
        };
        // There is no window manager to do it.
        connection.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME).unwrap();
        connection.flush().unwrap();
        Self { connection, root, window, first_key, keys }
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
            self.press(&[ALT], HOME);
        }
        // Opens the field for a place, whatever is shown.
        self.press(&[CONTROL], u32::from(b'l'));
        self.confirm(path);
    }

    /// Chooses where to write.
    pub(crate) fn save_as(self, path: &Path) {
        // The field for the name is open, and takes a whole path.
        self.press(&[CONTROL], u32::from(b'a'));
        self.confirm(path);
    }

    /// Presses the button that the keys begin with.
    pub(crate) fn agree(self) {
        self.press(&[], RETURN);
        self.wait_until_gone();
    }

    /// Chooses nothing.
    pub(crate) fn dismiss(self) {
        self.press(&[], ESCAPE);
        self.wait_until_gone();
    }

    fn confirm(&self, path: &Path) {
        // What is typed before the field has opened is lost.
        sleep(Duration::from_millis(300));
        for character in path.to_str().expect("a plain path").bytes() {
            let alone = self.keys.iter().any(|[alone, _]| *alone == u32::from(character));
            self.press(if alone { &[] } else { &[SHIFT] }, character.into());
        }
        sleep(Duration::from_millis(300));
        self.press(&[], RETURN);
        self.wait_until_gone();
    }

    fn press(&self, held: &[u32], key: u32) {
        for &key in held.iter().chain([&key]) {
            self.send(KEY_PRESS_EVENT, key);
        }
        for &key in [key].iter().chain(held.iter().rev()) {
            self.send(KEY_RELEASE_EVENT, key);
        }
        // One after the other, as fingers would.
        sleep(Duration::from_millis(8));
    }

    fn send(&self, kind: u8, key: u32) {
        let place = self.keys.iter().position(|pair| pair.contains(&key)).expect("the keyboard has the key");
        let code = self.first_key + place as u8;
        self.connection.xtest_fake_input(kind, code, 0, self.root, 0, 0, 0).unwrap();
        self.connection.flush().unwrap();
    }

    fn wait_until_gone(&self) {
        let begun = Instant::now();
        while is_shown(&self.connection, self.window) {
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
