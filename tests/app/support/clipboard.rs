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
        HTML: b"text/html",
        UTF8_STRING,
    }
}

/// The PNG picture on the clipboard; `None` where there is none.
pub(crate) fn copied_png(sandbox: &Sandbox) -> Option<Vec<u8>> {
    copied(sandbox, |atoms| atoms.PNG)
}

/// The text on the clipboard, and the same as HTML; empty where there is none.
pub(crate) fn copied_text(sandbox: &Sandbox) -> [String; 2] {
    let kinds: [fn(&Atoms) -> u32; 2] = [|atoms| atoms.UTF8_STRING, |atoms| atoms.HTML];
    kinds.map(|kind| String::from_utf8_lossy(&copied(sandbox, kind).unwrap_or_default()).into_owned())
}

/// What is on the clipboard in a form; `None` where there is none.
fn copied(sandbox: &Sandbox, form: impl Fn(&Atoms) -> u32) -> Option<Vec<u8>> {
    let (connection, screen) = RustConnection::connect(Some(sandbox.display())).expect("the screen answers");
    let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
    let form = form(&atoms);
    let root = connection.setup().roots[screen].root;
    let reader = connection.generate_id().unwrap();
    let (depth, class, no) = (COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
    connection.create_window(depth, reader, root, 0, 0, 1, 1, 0, class, 0, &no).unwrap();
    connection.convert_selection(reader, atoms.CLIPBOARD, form, form, CURRENT_TIME).unwrap();
    connection.flush().unwrap();
    let Event::SelectionNotify(told) = connection.wait_for_event().expect("the screen is there") else {
        return None;
    };
    if told.property == NONE {
        return None;
    }
    let (any, longs) = (AtomEnum::ANY, MOST_BYTES / 4);
    let found = connection.get_property(false, reader, form, any, 0, longs).unwrap().reply().unwrap();
    Some(found.value)
}
