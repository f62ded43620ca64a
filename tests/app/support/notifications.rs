//! The desktop's notification service, as programs find it on the message bus: it shows nothing and remembers
//! everything.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use zbus::blocking::{Connection, connection};
use zbus::interface;
use zbus::zvariant::OwnedValue;

use crate::support::sandbox::Sandbox;

/// Where the service is.
const NAME: &str = "org.freedesktop.Notifications";
const PLACE: &str = "/org/freedesktop/Notifications";

/// What somebody at the sandbox would see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notification {
    pub(crate) title: String,
    pub(crate) body: String,
    /// Whether it can be clicked.
    pub(crate) clickable: bool,
}

/// The service of a sandbox on which the app is open. It ends when dropped.
pub(crate) struct Notifications {
    told: Arc<Mutex<Vec<Notification>>>,
    connection: Connection,
}

impl Notifications {
    pub(crate) fn on(sandbox: &Sandbox) -> Self {
        let told = Arc::default();
        let connection = connection::Builder::address(sandbox.bus().as_str())
            .and_then(|builder| builder.name(NAME))
            .and_then(|builder| builder.serve_at(PLACE, Service(Arc::clone(&told))))
            .and_then(connection::Builder::build)
            .expect("the bus of the sandbox has no such service yet");
        Self { told, connection }
    }

    /// All so far, oldest first.
    pub(crate) fn told(&self) -> Vec<Notification> {
        self.told.lock().expect("the service has not panicked").clone()
    }

    /// Clicks the last one.
    pub(crate) fn click_last(&self) {
        let id = self.told().len() as u32;
        let clicked =
            self.connection.emit_signal(None::<&str>, PLACE, NAME, "ActionInvoked", &(id, "default"));
        clicked.expect("the bus takes a signal");
    }
}

struct Service(Arc<Mutex<Vec<Notification>>>);

/// The methods of the Desktop Notifications Specification.
#[interface(name = "org.freedesktop.Notifications")]
impl Service {
    #[expect(clippy::too_many_arguments, reason = "the specification has so many")]
    fn notify(
        &self,
        _app_name: String,
        _replaces_id: u32,
        _app_icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _expire_timeout: i32,
    ) -> u32 {
        let mut told = self.0.lock().expect("no holder of this lock panics");
        told.push(Notification {
            title: summary,
            body,
            clickable: actions.iter().any(|action| action == "default"),
        });
        told.len() as u32
    }

    fn close_notification(&self, _id: u32) {}

    fn get_capabilities(&self) -> Vec<String> {
        vec!["body".to_owned(), "actions".to_owned()]
    }

    #[zbus(out_args("name", "vendor", "version", "spec_version"))]
    fn get_server_information(&self) -> (&str, &str, &str, &str) {
        ("foretoken-tests", "Foretoken", "1", "1.2")
    }
}
