//! A server as it is stored: how it is reached, and what the person has agreed to.

use foretoken_chats::{ChatsError, Reader};
use foretoken_protocol::{ErrorReport, ServerTransport, ToolServer};
use foretoken_tools::ServerError;
use foretoken_tools::configuration::{ServerEntry, Transport};
use serde::{Deserialize, Serialize};

use super::error::ToolboxError;
use crate::chat_store::ChatStore;

/// A server of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listed {
    pub(super) entry: ServerEntry,
    /// The fingerprint of what the person has agreed to run or reach; `None` of a server that is off.
    pub(super) agreed: Option<String>,
    /// Whether the person has signed in to it.
    pub(super) signed_in: bool,
    /// When it was added, milliseconds since 1970.
    pub(super) created_at: u64,
}

/// What is stored of how a server is reached: its transport, and beside that what was agreed to,
/// and whether the person has signed in.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    transport: Transport,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agreed: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    signed_in: bool,
}

impl Listed {
    /// Of what is stored; `None`, and a line in the log, where that cannot be read.
    fn of(server: ToolServer) -> Option<Self> {
        let ToolServer { slug, name, transport, enabled, created_at } = server;
        match serde_json::from_str::<Stored>(&transport) {
            Ok(Stored { transport, agreed, signed_in }) => Some(Self {
                entry: ServerEntry { slug, name, transport },
                agreed: agreed.filter(|_| enabled),
                signed_in,
                created_at,
            }),
            Err(error) => {
                tracing::warn!("the server {slug} cannot be read: {error}");
                None
            }
        }
    }

    /// What is stored of it.
    fn stored(&self) -> Result<ToolServer, ErrorReport> {
        let Self { entry: ServerEntry { slug, name, transport }, agreed, signed_in, created_at } =
            self.clone();
        let enabled = agreed.is_some();
        let transport = serde_json::to_string(&Stored { transport, agreed, signed_in })
            .map_err(|error| unwritable(&error.to_string()))?;
        Ok(ToolServer { slug, name, transport, enabled, created_at })
    }

    /// Whether the person has agreed to something that it runs or reaches.
    pub(super) fn is_on(&self) -> bool {
        self.agreed.is_some()
    }

    /// The names of its variables or headers.
    pub(super) fn names(&self) -> &[String] {
        names(&self.entry.transport)
    }
}

/// The names of the variables or headers of a server.
pub(super) fn names(transport: &Transport) -> &[String] {
    match transport {
        Transport::Program { environment, .. } => environment,
        Transport::Http { headers, .. } => headers,
    }
}

/// As the page names it, with these names of variables or headers.
pub(super) fn of_page(transport: ServerTransport, names: Vec<String>) -> Transport {
    match transport {
        ServerTransport::Program { command, arguments, environment: _, folder } => Transport::Program {
            command: command.trim().to_owned(),
            arguments,
            environment: names,
            folder: folder.filter(|folder| !folder.is_empty()).map(Into::into),
        },
        ServerTransport::Http { address, headers: _ } => {
            Transport::Http { address: address.trim().to_owned(), headers: names }
        }
    }
}

/// As the page shows it.
pub(super) fn for_page(transport: &Transport) -> ServerTransport {
    match transport.clone() {
        Transport::Program { command, arguments, environment, folder } => ServerTransport::Program {
            command,
            arguments,
            environment,
            folder: folder.map(|folder| folder.to_string_lossy().into_owned()),
        },
        Transport::Http { address, headers } => ServerTransport::Http { address, headers },
    }
}

/// All servers of the list, by slug.
pub(super) fn all(store: &Reader) -> Result<Vec<Listed>, ChatsError> {
    Ok(store.tool_servers()?.into_iter().filter_map(Listed::of).collect())
}

/// The server of a slug.
pub(super) async fn find(store: &ChatStore, slug: &str) -> Result<Listed, ToolboxError> {
    let listed = store.call(|store| all(store)).await?;
    let found = listed.into_iter().find(|server| server.entry.slug == slug);
    Ok(found.ok_or_else(|| ServerError::NotConfigured { slug: slug.to_owned() })?)
}

/// Adds a server, or changes the one of its slug.
pub(super) async fn put(store: &ChatStore, server: &Listed) -> Result<(), ErrorReport> {
    let stored = server.stored()?;
    store.call(move |store| store.put_tool_server(&stored)).await
}

/// A path that is no UTF-8, which no page names.
fn unwritable(detail: &str) -> ErrorReport {
    ErrorReport {
        code: "server_not_kept".into(),
        message: format!("The server cannot be kept: {detail}."),
        hint: "Name a folder whose name has only usual characters.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_reads_back_and_is_a_transport() {
        let transports = [
            Transport::Program {
                command: "npx".into(),
                arguments: vec!["-y".into()],
                environment: vec!["TOKEN".into()],
                folder: Some("/tmp".into()),
            },
            Transport::Http { address: "https://example.org/mcp".into(), headers: vec!["X-Key".into()] },
        ];
        for transport in transports {
            for (agreed, signed_in) in [(None, true), (Some("ab".to_owned()), false)] {
                let entry = ServerEntry { slug: "s".into(), name: "S".into(), transport: transport.clone() };
                let listed = Listed { entry, agreed, signed_in, created_at: 7 };
                let stored = listed.stored().unwrap();
                assert_eq!(stored.enabled, listed.is_on());
                assert_eq!(serde_json::from_str::<Transport>(&stored.transport).unwrap(), transport);
                assert_eq!(Listed::of(stored).unwrap(), listed);
            }
        }
    }

    #[test]
    fn a_server_is_off_whose_agreement_is_not_there() {
        let stored = |enabled, transport: &str| ToolServer {
            slug: "s".into(),
            name: "S".into(),
            transport: transport.into(),
            enabled,
            created_at: 0,
        };
        let http = r#"{"kind":"http","address":"https://example.org","headers":[]}"#;
        let agreed = r#"{"kind":"http","address":"https://example.org","headers":[],"agreed":"ab"}"#;
        assert!(!Listed::of(stored(true, http)).unwrap().is_on());
        assert!(!Listed::of(stored(false, agreed)).unwrap().is_on());
        assert!(Listed::of(stored(true, agreed)).unwrap().is_on());
        assert_eq!(Listed::of(stored(true, "{}")), None);
    }
}
