//! Why a server cannot be used, or did not answer; each with a stable code for programs and a hint for people.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foretoken_protocol::ErrorReport;

/// Why a server cannot be used, or a call to it came to nothing. Several who wait for one start get the same one.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ServerError {
    /// The program could not be started.
    #[error("{} could not be started: {source}.", program.display())]
    NotStarted {
        /// What was to be run.
        program: PathBuf,
        /// Why not.
        source: Arc<io::Error>,
    },
    /// Nothing that is an MCP server answered at first.
    #[error("The server did not answer within {} s.", within.as_secs())]
    Silent {
        /// How long it had.
        within: Duration,
    },
    /// It is there and is no MCP server, or speaks none of the versions that are spoken here.
    #[error("The server was not understood: {detail}.")]
    NotUnderstood {
        /// What came, in the words of the protocol.
        detail: String,
    },
    /// It wants to know who asks.
    #[error("The server wants a sign-in.")]
    SignInNeeded,
    /// Its program ended, or the connection broke.
    #[error("The server is gone.")]
    Gone,
    /// It refused what was asked.
    #[error("The server refused: {message} (error {code}).")]
    Refused {
        /// The number that JSON-RPC has for it.
        code: i32,
        /// In the server's words.
        message: String,
    },
    /// It answered with something else.
    #[error("The server answered something that was not asked.")]
    OtherAnswer,
    /// A call took too long.
    #[error("The server gave no result within {} s.", within.as_secs())]
    TimedOut {
        /// How long it had, since it began or since it last told how far it is.
        within: Duration,
    },
    /// The person ended the call. It may have happened.
    #[error("The call was stopped.")]
    Stopped,
    /// It asks back without end.
    #[error("The server asked back more than {most} times in one call.")]
    AsksOn {
        /// What is allowed.
        most: usize,
    },
    /// It has more tools than anybody can look at.
    #[error("The server has more than {most} {of}.")]
    TooMany {
        /// What is allowed.
        most: usize,
        /// Of what.
        of: &'static str,
    },
    /// It ended by itself, or did not start, again and again.
    #[error(
        "The server was started {restarts} times again within {} min, and is not any more. The last time: {last}",
        within.as_secs() / 60
    )]
    StartedTooOften {
        /// How often, after the first time.
        restarts: usize,
        /// In how long.
        within: Duration,
        /// What was wrong the last time, as a sentence.
        last: String,
    },
    /// Nobody has told how it is reached.
    #[error("There is no server called \"{slug}\".")]
    NotConfigured {
        /// What was asked for.
        slug: String,
    },
    /// No request can be sent to anybody.
    #[error("Nothing can be sent: {detail}.")]
    NoClient {
        /// What is wrong with the proxy, or with what the system trusts.
        detail: String,
    },
    /// A header cannot be sent.
    #[error(
        "The header {name} cannot be sent: its name or its value has a character that headers do not have."
    )]
    Header {
        /// Which.
        name: String,
    },
}

impl ServerError {
    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => "server_not_started",
            Self::Silent { .. } => "server_silent",
            Self::NotUnderstood { .. } => "server_not_understood",
            Self::SignInNeeded => "server_sign_in",
            Self::Gone => "server_gone",
            Self::Refused { .. } => "server_refused",
            Self::OtherAnswer => "server_other_answer",
            Self::TimedOut { .. } => "tool_timed_out",
            Self::Stopped => "tool_stopped",
            Self::AsksOn { .. } => "server_asks_on",
            Self::TooMany { .. } => "server_too_much",
            Self::StartedTooOften { .. } => "server_started_too_often",
            Self::NotConfigured { .. } => "server_not_configured",
            Self::NoClient { .. } => "server_no_client",
            Self::Header { .. } => "server_header",
        }
    }

    /// What people can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => "Check that the program is installed and may be run.",
            Self::Silent { .. } | Self::Gone => {
                "Look at the last lines that it wrote, and try its command in a terminal."
            }
            Self::NotUnderstood { .. } => "Check that the command or the address is that of an MCP server.",
            Self::SignInNeeded => "Sign in to it in the settings, or add the header with your key.",
            Self::Refused { .. } | Self::OtherAnswer => "Ask whoever makes the server, or try a newer one.",
            Self::TimedOut { .. } | Self::Stopped => {
                "It may or may not have happened; look before you try it again."
            }
            Self::AsksOn { .. } => "Try it again with all that it needs in the message.",
            Self::TooMany { .. } => {
                "Use a server with fewer, or ask its maker for a setting that leaves some out."
            }
            Self::StartedTooOften { .. } => {
                "Look at the last lines that it wrote, mend what is wrong, and start it in the settings."
            }
            Self::NotConfigured { .. } => "Add it in the settings, or use the chat without it.",
            Self::NoClient { .. } => "Check the proxy in the settings.",
            Self::Header { .. } => {
                "Type the header again; a key that was pasted may have brought a line break."
            }
        }
    }
}

impl From<ServerError> for ErrorReport {
    fn from(error: ServerError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint().into() }
    }
}

/// What a server says, as a part of a sentence.
pub(crate) fn short(text: &str) -> String {
    const LONGEST: usize = 300;
    let (seen, _) = crate::visible(text.trim().trim_end_matches('.'));
    let line = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
