//! What is told of an engine that cannot do what was asked of it.

use std::path::Path;

use foretoken_protocol::ErrorReport;

use crate::process::Ending;

/// The code of an engine that ended by itself, or wrote what it must not.
const STOPPED: &str = "engine_stopped";
/// The code of an engine that neither ended nor did what it had to.
const HUNG: &str = "engine_hung";

/// A process has ended, and another is started in its place.
pub(crate) fn stopped(ending: &Ending) -> ErrorReport {
    ErrorReport {
        code: if let Ending::Hung(_) = ending { HUNG } else { STOPPED }.into(),
        message: ending.to_string(),
        hint: "It starts again by itself. Continue the reply, or ask again.".into(),
    }
}

/// The report of a process that has ended or hung, changed to say that no other is started until a model is chosen
/// again.
pub(crate) fn given_up(report: ErrorReport) -> ErrorReport {
    match report.code.as_str() {
        STOPPED | HUNG => ErrorReport {
            hint: "It ended again and again. Choose the model again, or another one.".into(),
            ..report
        },
        _ => report,
    }
}

/// A connection to another Mac has ended, and nobody has said why.
pub(crate) fn ring_ended() -> ErrorReport {
    ErrorReport {
        code: "mac_lost".into(),
        message: "The connection between the Macs has ended.".into(),
        hint: "Check that all of them are awake and connected, and load the model again.".into(),
    }
}

/// Nothing here connects Macs.
pub(crate) fn no_rings() -> ErrorReport {
    ErrorReport {
        code: "macs_unknown".into(),
        message: "This program does not use other Macs.".into(),
        hint: "Load the model on this Mac alone.".into(),
    }
}

/// The program is not there, or may not be run.
pub(crate) fn not_started(program: &Path, error: &std::io::Error) -> ErrorReport {
    ErrorReport {
        code: "engine_not_started".into(),
        message: format!("The engine at {} cannot be started: {error}.", program.display()),
        hint: "Install Foretoken again, then choose the model again.".into(),
    }
}

/// Nothing was loaded yet.
pub(crate) fn no_model() -> ErrorReport {
    ErrorReport {
        code: "no_model".into(),
        message: "No model is loaded.".into(),
        hint: "Choose a model.".into(),
    }
}

/// A load was given up for another one.
pub(crate) fn superseded() -> ErrorReport {
    ErrorReport {
        code: "another_model_chosen".into(),
        message: "Another model was chosen while this one was being loaded.".into(),
        hint: "Wait for that one, or choose this one again.".into(),
    }
}

/// Why nothing can be asked of the engine any more.
pub fn closed() -> ErrorReport {
    ErrorReport {
        code: "app_closed".into(),
        message: "The app was closed before the reply was complete.".into(),
        hint: "Continue the reply to go on.".into(),
    }
}
