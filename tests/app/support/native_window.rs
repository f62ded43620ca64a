//! The app's windows as the desktop has them: their titles, and whether the keyboard is theirs.

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, InputFocus, MapState, Window};
use x11rb::rust_connection::RustConnection;
use x11rb::{CURRENT_TIME, NONE};

use crate::support::sandbox::Sandbox;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        _NET_WM_NAME,
    }
}

/// The longest title that is read, in units of four bytes.
const LONGEST: u32 = 64;

pub(crate) struct NativeWindow {
    connection: RustConnection,
    atoms: Atoms,
    window: Window,
}

impl NativeWindow {
    /// The app's main window.
    pub(crate) fn on(sandbox: &Sandbox) -> Self {
        let (connection, screen) =
            RustConnection::connect(Some(sandbox.display())).expect("the screen answers");
        let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
        let root = connection.setup().roots[screen].root;
        let windows = connection.query_tree(root).unwrap().reply().unwrap().children;
        let is_it = |&window: &Window| {
            let attributes = connection.get_window_attributes(window).unwrap().reply();
            attributes.is_ok_and(|found| found.map_state == MapState::VIEWABLE)
                && title(&connection, &atoms, window).starts_with("Foretoken")
        };
        let window = windows.into_iter().find(is_it).expect("the app's window is shown");
        Self { connection, atoms, window }
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
}

fn title(connection: &RustConnection, atoms: &Atoms, window: Window) -> String {
    let name = connection.get_property(false, window, atoms._NET_WM_NAME, AtomEnum::ANY, 0, LONGEST);
    // A window may be gone by now.
    name.unwrap().reply().map(|name| String::from_utf8_lossy(&name.value).into_owned()).unwrap_or_default()
}
