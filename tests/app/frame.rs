//! The app's windows as the desktop has them: their titles, whether the keyboard is theirs, and its keys.

use std::path::Path;

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::{CURRENT_TIME, NONE};

use crate::desk::Desk;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        _NET_WM_NAME,
    }
}

/// The longest title that is read, in units of four bytes.
const LONGEST: u32 = 64;
/// Keys as X11 names them. Letters, digits and signs are named by their ASCII codes.
const RETURN: u32 = 0xff0d;
const SHIFT: u32 = 0xffe1;

pub(crate) struct Frame {
    connection: RustConnection,
    atoms: Atoms,
    root: Window,
    window: Window,
}

impl Frame {
    /// The app's main window.
    pub(crate) fn on(desk: &Desk) -> Self {
        Self::titled(desk, "Foretoken").expect("the app's window is shown")
    }

    /// The window whose title begins so, if it is shown.
    pub(crate) fn titled(desk: &Desk, beginning: &str) -> Option<Self> {
        let (connection, screen) = RustConnection::connect(Some(desk.display())).expect("the screen answers");
        let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
        let root = connection.setup().roots[screen].root;
        let windows = connection.query_tree(root).unwrap().reply().unwrap().children;
        let is_it = |&window: &Window| {
            let attributes = connection.get_window_attributes(window).unwrap().reply();
            attributes.is_ok_and(|found| found.map_state == MapState::VIEWABLE)
                && title(&connection, &atoms, window).starts_with(beginning)
        };
        let window = windows.into_iter().find(is_it)?;
        Some(Self { connection, atoms, root, window })
    }

    /// What its title bar says.
    pub(crate) fn title(&self) -> String {
        title(&self.connection, &self.atoms, self.window)
    }

    /// Gives it the keyboard.
    pub(crate) fn take_focus(&self) {
        self.focus(self.window);
    }

    /// Takes the keyboard away from it, as another window would.
    pub(crate) fn lose_focus(&self) {
        self.focus(NONE);
    }

    fn focus(&self, window: Window) {
        self.connection.set_input_focus(InputFocus::NONE, window, CURRENT_TIME).unwrap().check().unwrap();
    }

    /// Types a folder's path into it, which must be a dialog in which files are chosen, and chooses it.
    pub(crate) fn choose(&self, folder: &Path) {
        self.take_focus();
        let path = folder.to_str().expect("temporary folders have plain names");
        path.chars().map(u32::from).chain([RETURN]).for_each(|key| self.press(key));
        self.connection.flush().unwrap();
    }

    /// Presses and releases a key, with shift where it needs that.
    fn press(&self, key: u32) {
        let shift = self.place_of(SHIFT).0;
        let (place, shifted) = self.place_of(key);
        let strokes = [(KEY_PRESS_EVENT, place), (KEY_RELEASE_EVENT, place)];
        let before = shifted.then_some((KEY_PRESS_EVENT, shift));
        let after = shifted.then_some((KEY_RELEASE_EVENT, shift));
        for (event, place) in before.into_iter().chain(strokes).chain(after) {
            self.connection.xtest_fake_input(event, place, CURRENT_TIME, self.root, 0, 0, 0).unwrap();
        }
    }

    /// Where a key is on the keyboard, and whether it is there only with shift.
    fn place_of(&self, key: u32) -> (u8, bool) {
        let setup = self.connection.setup();
        let (first, count) = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1);
        let keys = self.connection.get_keyboard_mapping(first, count).unwrap().reply().unwrap();
        let columns = usize::from(keys.keysyms_per_keycode);
        let found = |shifted: usize| {
            let places = keys.keysyms.chunks(columns).zip(first..);
            places.filter(|(row, _)| row.get(shifted) == Some(&key)).map(|(_, place)| place).next()
        };
        let plain = found(0).map(|place| (place, false));
        plain.or_else(|| Some((found(1)?, true))).unwrap_or_else(|| panic!("the keyboard has no {key:#x}"))
    }
}

fn title(connection: &RustConnection, atoms: &Atoms, window: Window) -> String {
    let name = connection.get_property(false, window, atoms._NET_WM_NAME, AtomEnum::ANY, 0, LONGEST);
    // A window may be gone by now.
    name.unwrap().reply().map(|name| String::from_utf8_lossy(&name.value).into_owned()).unwrap_or_default()
}
