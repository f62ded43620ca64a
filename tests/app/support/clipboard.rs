//! The clipboard as another program reads it, by the selections of X11.

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, CreateWindowAux, WindowClass};
use x11rb::rust_connection::RustConnection;
use x11rb::{COPY_DEPTH_FROM_PARENT, CURRENT_TIME, NONE};

use crate::support::sandbox::Sandbox;

/// The most bytes that are read.
const MOST_BYTES: u32 = 1 << 20;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        CLIPBOARD,
        PNG: b"image/png",
    }
}

/// The PNG picture on the clipboard; `None` where there is none.
pub(crate) fn copied_png(sandbox: &Sandbox) -> Option<Vec<u8>> {
    let (connection, screen) = RustConnection::connect(Some(sandbox.display())).expect("the screen answers");
    let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
    let root = connection.setup().roots[screen].root;
    let reader = connection.generate_id().unwrap();
    let (depth, class, no) = (COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
    connection.create_window(depth, reader, root, 0, 0, 1, 1, 0, class, 0, &no).unwrap();
    connection.convert_selection(reader, atoms.CLIPBOARD, atoms.PNG, atoms.PNG, CURRENT_TIME).unwrap();
    connection.flush().unwrap();
    let Event::SelectionNotify(told) = connection.wait_for_event().expect("the screen is there") else {
        return None;
    };
    if told.property == NONE {
        return None;
    }
    let (any, longs) = (AtomEnum::ANY, MOST_BYTES / 4);
    let found = connection.get_property(false, reader, atoms.PNG, any, 0, longs).unwrap().reply().unwrap();
    Some(found.value)
}
