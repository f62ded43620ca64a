//! What a server offers beside tools: resources, which become attachments, and prompts, which become entries of the
//! prompt library.

use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, ReadResourceRequestParams, ReadResourceResponse, Role,
};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::{Connection, failed, outcome};
use crate::error::ServerError;
use crate::tool::ResultPart;

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
    /// Names of what is filled in, and whether it must be.
    pub arguments: Vec<(String, bool)>,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptText {
    /// Whether the model is meant to have said it.
    pub by_model: bool,
    /// What it says.
    pub part: ResultPart,
}

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
    pub async fn read(&self, address: &str) -> Result<Vec<ResultPart>, ServerError> {
        let reading = self.peer().read_resource_once(ReadResourceRequestParams::new(address));
        match self.in_time(reading).await? {
            ReadResourceResponse::Complete(read) => {
                Ok(read.contents.into_iter().map(outcome::contents).collect())
            }
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
                    .map(|argument| (argument.name, argument.required.unwrap_or(false)))
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
    pub async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptText>, ServerError> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        match self.in_time(self.peer().get_prompt_once(params)).await? {
            GetPromptResponse::Complete(prompt) => Ok(prompt
                .messages
                .into_iter()
                .map(|message| PromptText {
                    by_model: message.role == Role::Assistant,
                    part: outcome::part(message.content),
                })
                .collect()),
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
        timeout(within, asked).await.map_err(|_| ServerError::TimedOut { within })?.map_err(failed)
    }
}
