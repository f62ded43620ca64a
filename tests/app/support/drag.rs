//! Files and folders dragged here from another program: the source's side of XDND, by which X11 programs drag and drop.

use std::path::Path;

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt, CreateWindowAux, EventMask, MapState, PropMode,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{COPY_DEPTH_FROM_PARENT, CURRENT_TIME, NONE};

use crate::support::sandbox::Sandbox;

/// The version of the protocol.
const VERSION: u32 = 5;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        XdndActionCopy,
        XdndAware,
        XdndDrop,
        XdndEnter,
        XdndLeave,
        XdndPosition,
        XdndSelection,
        XdndStatus,
        TARGETS,
        URI_LIST: b"text/uri-list",
    }
}

/// What is held over the app's window.
pub(crate) struct Drag {
    connection: RustConnection,
    atoms: Atoms,
    source: Window,
    target: Window,
    /// Where it is held, as the protocol writes it.
    place: u32,
    uris: String,
    accepted: bool,
}

impl Drag {
    /// Drags something to the middle of the app's window.
    pub(crate) fn over(sandbox: &Sandbox, path: &Path) -> Self {
        Self::all_over(sandbox, &[path])
    }

    /// Drags several things to the middle of the app's window.
    pub(crate) fn all_over(sandbox: &Sandbox, paths: &[&Path]) -> Self {
        let (connection, screen) =
            RustConnection::connect(Some(sandbox.display())).expect("the screen answers");
        let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
        let root = connection.setup().roots[screen].root;
        let source = connection.generate_id().unwrap();
        let (depth, class, no) = (COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
        connection.create_window(depth, source, root, 0, 0, 1, 1, 0, class, 0, &no).unwrap();
        connection.set_selection_owner(source, atoms.XdndSelection, CURRENT_TIME).unwrap();
        let (target, place) = window_under(&connection, &atoms, root).expect("a window that takes drops");
        let uris = paths.iter().map(|path| uri(path)).collect();
        let drag = Self { connection, atoms, source, target, place, uris, accepted: false };
        drag.tell(drag.atoms.XdndEnter, [VERSION << 24, drag.atoms.URI_LIST, 0, 0]);
        drag
    }

    /// Answers what the window asks, and holds it where it is. To be called over and over. True once the window
    /// would take it.
    pub(crate) fn hold(&mut self) -> bool {
        self.answer();
        self.tell(self.atoms.XdndPosition, [0, self.place, CURRENT_TIME, self.atoms.XdndActionCopy]);
        self.accepted
    }

    /// Takes it away again.
    pub(crate) fn leave(&self) {
        self.tell(self.atoms.XdndLeave, [0; 4]);
    }

    /// Lets it go. What the window asks then is still to be answered.
    pub(crate) fn release(&self) {
        self.tell(self.atoms.XdndDrop, [0, CURRENT_TIME, 0, 0]);
    }

    /// Answers what the window asks.
    pub(crate) fn answer(&mut self) {
        while let Some(event) = self.connection.poll_for_event().expect("the screen is there") {
            match event {
                Event::SelectionRequest(asked) => self.hand_over(&asked),
                Event::ClientMessage(told) if told.type_ == self.atoms.XdndStatus => {
                    self.accepted = told.data.as_data32()[1] & 1 == 1;
                }
                _ => {}
            }
        }
    }

    fn hand_over(&self, asked: &SelectionRequestEvent) {
        let (to, property) = (asked.requestor, asked.property);
        let replace = PropMode::REPLACE;
        if asked.target == self.atoms.URI_LIST {
            self.connection
                .change_property8(replace, to, property, asked.target, self.uris.as_bytes())
                .unwrap();
        } else if asked.target == self.atoms.TARGETS {
            let kinds = [self.atoms.URI_LIST];
            self.connection.change_property32(replace, to, property, AtomEnum::ATOM, &kinds).unwrap();
        }
        let known = [self.atoms.URI_LIST, self.atoms.TARGETS].contains(&asked.target);
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: to,
            selection: asked.selection,
            target: asked.target,
            property: if known { property } else { NONE },
        };
        self.connection.send_event(false, to, EventMask::NO_EVENT, answer).unwrap();
        self.connection.flush().unwrap();
    }

    /// Sends the window a message of the protocol; each begins with the source.
    fn tell(&self, kind: u32, [a, b, c, d]: [u32; 4]) {
        let message = ClientMessageEvent::new(32, self.target, kind, [self.source, a, b, c, d]);
        self.connection.send_event(false, self.target, EventMask::NO_EVENT, message).unwrap();
        self.connection.flush().unwrap();
    }
}

/// Where something is, as a line of a list of addresses. What is no Unicode is written in hexadecimal digits.
fn uri(path: &Path) -> String {
    let byte = |byte: &u8| match byte {
        b'%' | 0x80.. => format!("%{byte:02X}"),
        _ => char::from(*byte).to_string(),
    };
    let path: String = path.as_os_str().as_encoded_bytes().iter().map(byte).collect();
    format!("file://{path}\r\n")
}

/// The largest visible window that takes drops, and its middle.
fn window_under(connection: &RustConnection, atoms: &Atoms, root: Window) -> Option<(Window, u32)> {
    let mut found: Option<(u32, Window, u32)> = None;
    let mut windows = vec![root];
    while let Some(window) = windows.pop() {
        windows.extend(connection.query_tree(window).ok()?.reply().ok()?.children);
        let aware = connection
            .get_property(false, window, atoms.XdndAware, AtomEnum::ANY, 0, 1)
            .ok()?
            .reply()
            .ok()?;
        let shown =
            connection.get_window_attributes(window).ok()?.reply().ok()?.map_state == MapState::VIEWABLE;
        let size = connection.get_geometry(window).ok()?.reply().ok()?;
        let area = u32::from(size.width) * u32::from(size.height);
        if aware.value_len > 0 && shown && found.is_none_or(|(most, ..)| area > most) {
            let (x, y) = (size.width as i16 / 2, size.height as i16 / 2);
            let middle = connection.translate_coordinates(window, root, x, y).ok()?.reply().ok()?;
            let place = (middle.dst_x as u32) << 16 | middle.dst_y as u32;
            found = Some((area, window, place));
        }
    }
    found.map(|(_, window, place)| (window, place))
}
