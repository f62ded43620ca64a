//! Why a server cannot be configured so, or a file of another program not be taken over; each with a stable code for
//! programs and a hint for people. No value of a variable or a header, and no password, is ever told.

use std::path::PathBuf;

use foretoken_protocol::ErrorReport;

use super::{LARGEST_FILE, MOST_SERVERS};

/// What is wrong with a server, or with a file that names servers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// The server's name is empty, too long, or has characters that are not seen.
    #[error("A server cannot be called {name:?}.")]
    NameUnusable {
        /// The name.
        name: String,
    },
    /// The server's slug is none.
    #[error("The tools of a server cannot begin with {slug:?}.")]
    SlugUnusable {
        /// The slug.
        slug: String,
    },
    /// A tool has an empty name.
    #[error("A tool of {slug:?} has no name.")]
    ToolUnnamed {
        /// The server's slug.
        slug: String,
    },
    /// The command is empty.
    #[error("No program is named.")]
    CommandEmpty,
    /// A NUL, which no program can be given.
    #[error("The {part} has a NUL character in it.")]
    Nul {
        /// What it is in.
        part: String,
    },
    /// The folder depends on where the app was started.
    #[error("The folder {folder:?} is not named from the root on.")]
    FolderRelative {
        /// The folder.
        folder: PathBuf,
    },
    /// An environment variable cannot have this name.
    #[error("No environment variable can be called {name:?}.")]
    VariableName {
        /// The name.
        name: String,
    },
    /// A header cannot have this name.
    #[error("No header can be called {name:?}.")]
    HeaderName {
        /// The name.
        name: String,
    },
    /// A header that the client writes.
    #[error("The header {name:?} is written by this app itself.")]
    HeaderReserved {
        /// The name.
        name: String,
    },
    /// A header cannot have such a value.
    #[error("The value of the header {name:?} cannot be sent.")]
    HeaderValue {
        /// The name of the header.
        name: String,
    },
    /// A variable cannot have such a value.
    #[error("The value of the environment variable {name:?} has a NUL character in it.")]
    VariableValue {
        /// The name of the variable.
        name: String,
    },
    /// A variable or a header is named twice.
    #[error("{name:?} is there twice.")]
    NamedTwice {
        /// The name.
        name: String,
    },
    /// The address is none.
    #[error("The address cannot be read: {reason}.")]
    AddressUnreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// The address is of another kind than HTTP.
    #[error("Servers are not reached by {scheme:?}.")]
    AddressScheme {
        /// What the address begins with.
        scheme: String,
    },
    /// The address has a user or a password in it, which would be shown and stored with it.
    #[error("The address of {host:?} has a user or a password in it.")]
    AddressCredentials {
        /// The host of the address.
        host: String,
    },
    /// Everybody on the way could read and change what is sent.
    #[error("What is sent to {host:?} would not be encrypted.")]
    AddressUnencrypted {
        /// The host of the address.
        host: String,
    },
    /// The file is longer than what is read.
    #[error("This file has {bytes} bytes, more than the {} MB that are read.", LARGEST_FILE >> 20)]
    FileTooLarge {
        /// Its length, in bytes.
        bytes: usize,
    },
    /// The file is no JSON.
    #[error("This file is no JSON: {reason}.")]
    NotJson {
        /// What is wrong with it, and where.
        reason: String,
    },
    /// The file names no server.
    #[error("No servers are named in this file.")]
    NoServers,
    /// The file is the entry of one server without a name.
    #[error("This is a server without a name.")]
    ServerUnnamed,
    /// The file names more servers than are read.
    #[error("This file names {count} servers, more than the {MOST_SERVERS} that are read.")]
    TooManyServers {
        /// How many.
        count: usize,
    },
    /// A part of an entry is of another type than it must be.
    #[error("{key:?} is {found}, not {expected}.")]
    WrongType {
        /// Which part.
        key: String,
        /// What it must be.
        expected: &'static str,
        /// What there is instead.
        found: &'static str,
    },
    /// An entry has neither a command nor an address.
    #[error("Neither a command nor an address is there.")]
    TransportMissing,
    /// An entry has both a command and an address.
    #[error("Both a command and an address are there.")]
    TransportTwice,
    /// An entry is reached as servers were before 2025.
    #[error("This server is reached by HTTP+SSE, which is no longer in use.")]
    TransportOld,
    /// An entry is reached in a way that is not known.
    #[error("The type {kind:?} is not known.")]
    TransportUnknown {
        /// Its type.
        kind: String,
    },
    /// Without what another program would fill in, nothing can be started or reached.
    #[error("{key:?} has {placeholder} in it, which is not filled in here.")]
    Unfilled {
        /// Which part.
        key: &'static str,
        /// The placeholder.
        placeholder: String,
    },
}

impl ConfigurationError {
    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NameUnusable { .. } => "server_name",
            Self::SlugUnusable { .. } => "server_slug",
            Self::ToolUnnamed { .. } => "tool_unnamed",
            Self::CommandEmpty => "server_command_empty",
            Self::Nul { .. } => "server_nul",
            Self::FolderRelative { .. } => "server_folder_relative",
            Self::VariableName { .. } => "server_variable_name",
            Self::VariableValue { .. } => "server_variable_value",
            Self::HeaderName { .. } => "server_header_name",
            Self::HeaderReserved { .. } => "server_header_reserved",
            Self::HeaderValue { .. } => "server_header_value",
            Self::NamedTwice { .. } => "server_named_twice",
            Self::AddressUnreadable { .. } => "server_address",
            Self::AddressScheme { .. } => "server_address_scheme",
            Self::AddressCredentials { .. } => "server_address_credentials",
            Self::AddressUnencrypted { .. } => "server_address_unencrypted",
            Self::FileTooLarge { .. } => "server_file_too_large",
            Self::NotJson { .. } => "server_file_not_json",
            Self::NoServers => "server_file_empty",
            Self::ServerUnnamed => "server_unnamed",
            Self::TooManyServers { .. } => "server_file_too_many",
            Self::WrongType { .. } => "server_wrong_type",
            Self::TransportMissing => "server_transport_missing",
            Self::TransportTwice => "server_transport_twice",
            Self::TransportOld => "server_transport_old",
            Self::TransportUnknown { .. } => "server_transport_unknown",
            Self::Unfilled { .. } => "server_unfilled",
        }
    }

    /// What people can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NameUnusable { .. } => "Give it a name of 1 to 64 characters that can all be seen.",
            Self::SlugUnusable { .. } => "Use 1 to 24 of a-z, 0-9 and \"-\".",
            Self::ToolUnnamed { .. } => "Tell the people who make the server.",
            Self::CommandEmpty => "Write the name of the program that starts the server, such as npx.",
            Self::Nul { .. } | Self::VariableValue { .. } => "Write it anew, without what cannot be seen.",
            Self::FolderRelative { .. } => "Write the whole path, from \"/\" on.",
            Self::VariableName { .. } => "Write the name alone, without \"=\", and its value beside it.",
            Self::HeaderName { .. } => "Write the name alone, without \":\", and its value beside it.",
            Self::HeaderReserved { .. } => "Leave it out.",
            Self::HeaderValue { .. } => "Write it anew, on one line and without what cannot be seen.",
            Self::NamedTwice { .. } => "Leave one of them out.",
            Self::AddressUnreadable { .. } => "Write the whole address, beginning with https://.",
            Self::AddressScheme { .. } => "Use an address that begins with https://.",
            Self::AddressCredentials { .. } => {
                "Take them out of it and write a header Authorization instead."
            }
            Self::AddressUnencrypted { .. } => {
                "Use an address that begins with https://; only on this machine http:// will do."
            }
            Self::FileTooLarge { .. } => "Choose the file in which the other program keeps its servers.",
            Self::NotJson { .. } => "Open the file in an editor and mend that place.",
            Self::NoServers | Self::ServerUnnamed => {
                "The file must hold {\"mcpServers\": {\"a name\": {\"command\": …, \"args\": […]}}}."
            }
            Self::TooManyServers { .. } => "Copy those that you use into a file of their own.",
            Self::WrongType { .. } | Self::TransportUnknown { .. } => {
                "Compare it with what the people who make the server tell you to write."
            }
            Self::TransportMissing => "Write a \"command\" or a \"url\" into it.",
            Self::TransportTwice => "Leave one of them out.",
            Self::TransportOld => "Ask the people who make it for an address of type \"http\".",
            Self::Unfilled { .. } => "Write what it stands for in its place.",
        }
    }
}

impl From<&ConfigurationError> for ErrorReport {
    fn from(error: &ConfigurationError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}
