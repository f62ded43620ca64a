//! What a server offers beside tools: resources, which become attachments, and prompts, which become entries of the
//! prompt library.

use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ResourceContents, Role,
};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::{Connection, failed};
use crate::error::ServerError;

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceEntry {
    /// By what it is asked for.
    pub address: String,
    /// What it is called.
    pub name: String,
    /// What it is, in the server's words.
    pub description: Option<String>,
    /// What it is said to be, such as `text/plain`.
    pub media_type: Option<String>,
    /// Its bytes, where the server says.
    pub bytes: Option<u64>,
}

/// A prompt with places to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptEntry {
    /// By what it is asked for.
    pub name: String,
    /// What people read.
    pub title: String,
    /// What it is for, in the server's words.
    pub description: Option<String>,
    /// What is filled in.
    pub arguments: Vec<PromptArgument>,
}

/// A place of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// Names it.
    pub name: String,
    /// What it is, in the server's words.
    pub description: Option<String>,
    /// Whether it must be filled in.
    pub required: bool,
}

/// A file that a server gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFile {
    /// What it is called, on one line.
    pub name: String,
    /// What is in it.
    pub content: FileContent,
}

/// What is in a file of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// A text.
    Text(String),
    /// Bytes, in base64 as they came.
    Base64(String),
}

/// A prompt with what was filled in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// What the person says with it. What the model is meant to have said stands in it as a quotation.
    pub text: String,
    /// What goes with it.
    pub files: Vec<ServerFile>,
}

/// Characters of a file's name.
const LONGEST_NAME: usize = 100;

impl Connection {
    /// What the server has to read; nothing where it offers none.
    ///
    /// # Errors
    ///
    /// [`ServerError`], also where there are more than the limit.
    pub async fn resources(&self) -> Result<Vec<ResourceEntry>, ServerError> {
        if !self.offers(|capabilities| capabilities.resources.is_some()) {
            return Ok(Vec::new());
        }
        let list = |cursor| async move {
            let page = self.peer().list_resources(cursor).await?;
            Ok((page.resources, page.next_cursor))
        };
        let entry = |resource: rmcp::model::Resource| ResourceEntry {
            address: resource.uri,
            name: resource.title.unwrap_or(resource.name),
            description: resource.description,
            media_type: resource.mime_type,
            bytes: resource.size,
        };
        Ok(self.all("resources", list).await?.into_iter().map(entry).collect())
    }

    /// What a resource holds.
    ///
    /// # Errors
    ///
    /// [`ServerError`].
    pub async fn read(&self, address: &str) -> Result<Vec<ServerFile>, ServerError> {
        let reading = self.peer().read_resource_once(ReadResourceRequestParams::new(address));
        match self.in_time(reading).await? {
            ReadResourceResponse::Complete(read) => Ok(read.contents.into_iter().filter_map(file).collect()),
            _ => Err(ServerError::OtherAnswer),
        }
    }

    /// The prompts that the server offers; none where it offers none.
    ///
    /// # Errors
    ///
    /// [`ServerError`], also where there are more than the limit.
    pub async fn prompts(&self) -> Result<Vec<PromptEntry>, ServerError> {
        if !self.offers(|capabilities| capabilities.prompts.is_some()) {
            return Ok(Vec::new());
        }
        let list = |cursor| async move {
            let page = self.peer().list_prompts(cursor).await?;
            Ok((page.prompts, page.next_cursor))
        };
        let entry = |prompt: rmcp::model::Prompt| {
            let arguments = prompt.arguments.unwrap_or_default().into_iter();
            PromptEntry {
                title: prompt.title.unwrap_or_else(|| prompt.name.clone()),
                name: prompt.name,
                description: prompt.description,
                arguments: arguments
                    .map(|argument| PromptArgument {
                        name: argument.name,
                        description: argument.description,
                        required: argument.required.unwrap_or(false),
                    })
                    .collect(),
            }
        };
        Ok(self.all("prompts", list).await?.into_iter().map(entry).collect())
    }

    /// A prompt with what was filled in.
    ///
    /// # Errors
    ///
    /// [`ServerError`].
    pub async fn prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Prompt, ServerError> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        match self.in_time(self.peer().get_prompt_once(params)).await? {
            GetPromptResponse::Complete(prompt) => Ok(filled(prompt.messages)),
            _ => Err(ServerError::OtherAnswer),
        }
    }

    fn offers(&self, what: impl Fn(&rmcp::model::ServerCapabilities) -> bool) -> bool {
        self.peer().peer_info().is_some_and(|told| what(&told.capabilities))
    }

    /// Within the time of a call.
    async fn in_time<T>(
        &self,
        asked: impl Future<Output = Result<T, rmcp::service::ServiceError>>,
    ) -> Result<T, ServerError> {
        let within = self.limits.call;
        timeout(within, asked).await.map_err(|_| ServerError::Silent { within })?.map_err(failed)
    }
}

/// What a resource holds, as a file.
fn file(contents: ResourceContents) -> Option<ServerFile> {
    let (address, media_type, content) = match contents {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            (uri, mime_type, FileContent::Text(text))
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            (uri, mime_type, FileContent::Base64(blob))
        }
        _ => return None,
    };
    Some(ServerFile { name: name_of(&address, media_type.as_deref()), content })
}

/// What is left of the way to a resource at its end. A name without an ending gets one that says what it is, by which
/// documents are told from texts.
fn name_of(address: &str, media_type: Option<&str>) -> String {
    let way = address.split(['?', '#']).next().unwrap_or(address);
    let last = way.split(['/', '\\']).rfind(|part| !part.is_empty()).unwrap_or(way);
    let (name, _) = crate::visible(last.trim());
    let name: String = name.chars().take(LONGEST_NAME).collect();
    let name = if name.is_empty() { "resource".into() } else { name };
    let ending = match media_type.map(|kind| kind.split(';').next().unwrap_or(kind).trim()) {
        _ if name.contains('.') => "",
        Some("text/html") => ".html",
        Some("text/markdown") => ".md",
        Some("text/csv") => ".csv",
        Some("application/json") => ".json",
        Some("application/pdf") => ".pdf",
        _ => "",
    };
    name + ending
}

/// What the messages of a prompt say, each with a line between it and the one before, and the files in them.
fn filled(messages: Vec<PromptMessage>) -> Prompt {
    let (mut said, mut files) = (Vec::new(), Vec::new());
    for PromptMessage { role, content, .. } in messages {
        let text = match content {
            ContentBlock::Text(text) => text.text,
            ContentBlock::ResourceLink(link) => {
                format!("{}: {}", link.title.unwrap_or(link.name), link.uri)
            }
            ContentBlock::Image(image) => {
                let name = format!("picture {}", files.len() + 1);
                files.push(ServerFile { name, content: FileContent::Base64(image.data) });
                continue;
            }
            ContentBlock::Resource(embedded) => {
                files.extend(file(embedded.resource));
                continue;
            }
            // Sounds, which no model here hears.
            _ => continue,
        };
        said.push(match role {
            Role::Assistant => text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"),
            _ => text,
        });
    }
    Prompt { text: said.join("\n\n"), files }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_called_by_the_end_of_its_address() {
        for (address, media_type, name) in [
            ("file:///notes/today.txt", None, "today.txt"),
            ("https://example.org/a/page?x=1#y", Some("text/html; charset=utf-8"), "page.html"),
            ("note://one", Some("text/markdown"), "one.md"),
            ("note://one/", None, "one"),
            ("db://table/report.v2", Some("application/json"), "report.v2"),
            ("://", None, ":"),
            ("", None, "resource"),
        ] {
            assert_eq!(name_of(address, media_type), name, "{address}");
        }
        assert!(!name_of("note://a\u{202e}txt", None).contains('\u{202e}'));
    }

    #[test]
    fn a_prompt_says_what_its_messages_say_and_brings_their_files() {
        let messages = json!([
            { "role": "user", "content": { "type": "text", "text": "What is wrong here?" } },
            { "role": "user", "content": { "type": "resource", "resource":
                { "uri": "file:///src/main.rs", "mimeType": "text/x-rust", "text": "fn main() {" } } },
            { "role": "user", "content": { "type": "image", "data": "AAAA", "mimeType": "image/png" } },
            { "role": "assistant", "content": { "type": "text", "text": "A brace\nis missing." } },
            { "role": "user", "content": { "type": "resource_link", "uri": "file:///a", "name": "a" } },
            { "role": "user", "content": { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" } },
        ]);
        let prompt = filled(serde_json::from_value(messages).unwrap());
        assert_eq!(prompt.text, "What is wrong here?\n\n> A brace\n> is missing.\n\na: file:///a");
        let file = |name: &str, content| ServerFile { name: name.into(), content };
        assert_eq!(
            prompt.files,
            [
                file("main.rs", FileContent::Text("fn main() {".into())),
                file("picture 2", FileContent::Base64("AAAA".into())),
            ]
        );
    }
}
