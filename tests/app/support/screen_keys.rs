//! The keyboard of the screen: what is pressed there goes to whoever has the keyboard, and to those who wait for keys
//! anywhere.

use std::thread::sleep;
use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, GrabMode, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, ModMask, Window};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use crate::support::sandbox::Sandbox;

/// Keys as X names them.
pub(crate) const RETURN: u32 = 0xff0d;
pub(crate) const SHIFT: u32 = 0xffe1;
pub(crate) const CONTROL: u32 = 0xffe3;
pub(crate) const ALT: u32 = 0xffe9;
pub(crate) const HOME: u32 = 0xff50;
pub(crate) const ESCAPE: u32 = 0xff1b;
pub(crate) const SPACE: u32 = 0x20;

pub(crate) struct ScreenKeys {
    pub(crate) connection: RustConnection,
    pub(crate) root: Window,
    first_key: u8,
    /// What each key writes, alone and with the shift key.
    keys: Vec<[u32; 2]>,
}

impl ScreenKeys {
    pub(crate) fn of(sandbox: &Sandbox) -> Self {
        let (connection, screen) =
            RustConnection::connect(Some(sandbox.display())).expect("the screen answers");
        let setup = connection.setup();
        let (root, first_key) = (setup.roots[screen].root, setup.min_keycode);
        let count = setup.max_keycode - first_key + 1;
        let map = connection.get_keyboard_mapping(first_key, count).unwrap().reply().unwrap();
        let keys = map.keysyms.chunks(map.keysyms_per_keycode.into()).map(|key| [key[0], key[1]]).collect();
        Self { connection, root, first_key, keys }
    }

    /// Whether a key writes this without the shift key.
    pub(crate) fn writes_alone(&self, character: u8) -> bool {
        self.keys.iter().any(|[alone, _]| *alone == u32::from(character))
    }

    /// Presses a key while others are held.
    pub(crate) fn press(&self, held: &[u32], key: u32) {
        for &key in held.iter().chain([&key]) {
            self.send(KEY_PRESS_EVENT, key);
        }
        for &key in [key].iter().chain(held.iter().rev()) {
            self.send(KEY_RELEASE_EVENT, key);
        }
        // One after the other, as fingers would.
        sleep(Duration::from_millis(8));
    }

    /// Takes keys for itself, as another program would, until it is dropped.
    pub(crate) fn take(&self, held: ModMask, key: u32) {
        let mode = GrabMode::ASYNC;
        let taken = self.connection.grab_key(false, self.root, held, self.code(key), mode, mode).unwrap();
        taken.check().expect("nobody has these keys yet");
    }

    fn send(&self, kind: u8, key: u32) {
        self.connection.xtest_fake_input(kind, self.code(key), 0, self.root, 0, 0, 0).unwrap();
        self.connection.flush().unwrap();
    }

    fn code(&self, key: u32) -> u8 {
        let place = self.keys.iter().position(|pair| pair.contains(&key)).expect("the keyboard has the key");
        self.first_key + place as u8
    }
}
