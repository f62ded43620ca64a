//! What servers have for the person: files that go with a message, and prompts that one begins with.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use foretoken_protocol::{
    Attached, ErrorReport, FilledPrompt, PastedFile, PromptArgument, ServerOffers, ServerPrompt,
    ServerResource,
};
use foretoken_tools::{
    Connection, FileContent, PromptEntry, ResourceEntry, ServerError, ServerFile, visible,
};
use futures_util::future::join_all;
use serde_json::Value;
use tokio::time::timeout;

use super::entry::{self, Listed};
use super::error::ToolboxError;
use super::{Toolbox, begun};

/// How long a server may take to tell what it has: what the others have is shown only then.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of a name or a description.
const LONGEST: usize = 1024;
/// Characters of a prompt.
const LONGEST_PROMPT: usize = 200_000;
/// What a person fills in for a prompt.
const MOST_ARGUMENTS: usize = 32;

impl Toolbox {
    /// What all servers have that are switched on. Those that do not run are started side by side.
    pub(crate) async fn offers(&self) -> Result<Vec<ServerOffers>, ErrorReport> {
        let listed = self.store.call(|store| entry::all(store)).await?;
        let on = listed.into_iter().filter(Listed::is_on);
        let mut offers = join_all(on.map(|server| self.offers_of(server))).await;
        offers.sort_by_cached_key(|offers| (offers.name.to_lowercase(), offers.slug.clone()));
        Ok(offers)
    }

    async fn offers_of(&self, server: Listed) -> ServerOffers {
        let (slug, name) = (server.entry.slug, server.entry.name);
        let listing = |connection: Arc<Connection>| async move {
            Ok((connection.resources().await, connection.prompts().await))
        };
        let listed = match timeout(PATIENCE, self.ask_server(&slug, listing)).await {
            Ok(listed) => listed,
            // It goes on starting.
            Err(_) => Err(ServerError::Silent { within: PATIENCE }.into()),
        };
        let (resources, prompts, error) = match listed {
            Ok((resources, prompts)) => {
                let error = resources.as_ref().err().or(prompts.as_ref().err()).cloned();
                (resources.unwrap_or_default(), prompts.unwrap_or_default(), error.map(ErrorReport::from))
            }
            Err(error) => (Vec::new(), Vec::new(), Some(error.into())),
        };
        ServerOffers {
            slug,
            name,
            resources: resources.into_iter().map(resource).collect(),
            prompts: prompts.into_iter().map(prompt).collect(),
            error,
        }
    }

    /// What a resource of a server holds.
    pub(crate) async fn resource(&self, slug: &str, address: String) -> Result<Vec<PastedFile>, ErrorReport> {
        let reading = |connection: Arc<Connection>| async move { connection.read(&address).await };
        let files = self.ask_server(slug, reading).await?;
        Ok(files.into_iter().map(pasted).collect())
    }

    /// A prompt of a server with what was filled in: its text, in which nothing is hidden, and files that go with it.
    /// What is empty is left out.
    pub(crate) async fn prompt(
        &self,
        slug: &str,
        name: String,
        arguments: BTreeMap<String, String>,
    ) -> Result<(FilledPrompt, Vec<PastedFile>), ErrorReport> {
        let filled = arguments.into_iter().filter(|(_, text)| !text.trim().is_empty());
        let filled = filled.map(|(name, text)| (name, Value::from(text))).collect();
        let asking = |connection: Arc<Connection>| async move { connection.prompt(&name, filled).await };
        let prompt = self.ask_server(slug, asking).await?;
        let (text, _) = visible(&prompt.text);
        let mut filled = FilledPrompt { text, attached: Attached::default() };
        if let Some((end, _)) = filled.text.char_indices().nth(LONGEST_PROMPT) {
            filled.text.truncate(end);
            let told = format!("Only the first {LONGEST_PROMPT} characters of the prompt were taken over.");
            filled.attached.notes.push(told);
        }
        Ok((filled, prompt.files.into_iter().map(pasted).collect()))
    }

    /// Asks a server that is on for something that changes nothing.
    async fn ask_server<T: Send, Asking: Future<Output = Result<T, ServerError>> + Send>(
        &self,
        slug: &str,
        ask: impl FnOnce(Arc<Connection>) -> Asking + Send,
    ) -> Result<T, ToolboxError> {
        let (_, changing) = self.agreed(slug).await?;
        let asking = begun(self.servers.ask(slug, ask));
        drop(changing);
        Ok(asking.await?)
    }
}

/// For people, with what nobody would see made visible, and no longer than they read.
fn shown(text: Option<String>) -> String {
    let text: String = text.unwrap_or_default().trim().chars().take(LONGEST).collect();
    visible(&text).0
}

fn resource(resource: ResourceEntry) -> ServerResource {
    ServerResource {
        name: shown(Some(resource.name)),
        description: shown(resource.description),
        media_type: resource.media_type,
        bytes: resource.bytes,
        address: resource.address,
    }
}

fn prompt(prompt: PromptEntry) -> ServerPrompt {
    let argument = |argument: foretoken_tools::PromptArgument| PromptArgument {
        name: argument.name,
        description: shown(argument.description),
        required: argument.required,
    };
    ServerPrompt {
        title: shown(Some(prompt.title)),
        description: shown(prompt.description),
        arguments: prompt.arguments.into_iter().take(MOST_ARGUMENTS).map(argument).collect(),
        name: prompt.name,
    }
}

/// A file of a server as one that was pasted: only its name and its content are known.
fn pasted(file: ServerFile) -> PastedFile {
    let content = match file.content {
        FileContent::Text(text) => BASE64_STANDARD.encode(text),
        FileContent::Base64(bytes) => bytes,
    };
    PastedFile { name: file.name, content }
}
