//! The app's own tools: what the person has set for them, what they may reach, what a call would change, and their
//! calls.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretoken_protocol::{CallDifference, ErrorReport, ToolFolder};
use foretoken_tools::built_in::OwnTool;
use foretoken_tools::built_in::files::{FileTool, Files, Fingerprint};
use foretoken_tools::built_in::web::{SystemResolver, Web, WebTool};
use foretoken_tools::{OfferedTool, Outcome, ServerError};
use reqwest::Url;
use serde_json::{Map, Value};

use super::error::ToolboxError;
use super::{Toolbox, revoke_of};
use crate::blocking::blocking;
use crate::settings::OwnToolSettings;

/// What permissions for the app's own tools name in the place of a server.
pub(crate) const OWN: &str = "";

impl Toolbox {
    /// Lets models have the files in a folder, which gets a name of its own.
    pub(crate) async fn add_folder(&self, path: PathBuf) -> Result<(), ErrorReport> {
        // Two at once would get one name.
        let _one_at_a_time = self.changing().await;
        let Some(written) = path.to_str() else { return Err(ToolboxError::NoUnicode { path }.into()) };
        let has_own_files = self.folder.starts_with(&path) || self.settings.file.path().starts_with(&path);
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|_| !has_own_files) else {
            return Err(ToolboxError::TooMuch { path }.into());
        };
        let folders = self.own_settings().folders;
        if folders.iter().any(|folder| Path::new(&folder.path) == path) {
            return Err(ToolboxError::FolderTaken { path }.into());
        }
        let folder = ToolFolder { name: free_name(name, &folders), path: written.to_owned() };
        self.set_own(|own| own.folders.push(folder), FileTool::all().iter().map(|tool| tool.name())).await
    }

    /// Takes a folder from the tools, with what was allowed there.
    pub(crate) async fn remove_folder(&self, name: &str) -> Result<(), ErrorReport> {
        let remove = |own: &mut OwnToolSettings| own.folders.retain(|folder| folder.name != name);
        self.set_own(remove, FileTool::all().iter().map(|tool| tool.name())).await
    }

    /// Sets the address of the search service; an empty one takes it away.
    pub(crate) async fn set_search(&self, address: &str) -> Result<(), ErrorReport> {
        let address = address.trim().to_owned();
        if !address.is_empty() && search_url(&address).is_none() {
            return Err(ToolboxError::NoSearchAddress { address }.into());
        }
        self.set_own(|own| own.search = address, [WebTool::Search.name()]).await
    }

    /// Changes what the person has set, and takes back what was allowed of these tools before.
    async fn set_own(
        &self,
        change: impl FnOnce(&mut OwnToolSettings) + Send,
        tools: impl IntoIterator<Item = &'static str> + Send,
    ) -> Result<(), ErrorReport> {
        let tools: BTreeSet<String> = tools.into_iter().map(str::to_owned).collect();
        let writing = self.settings.file.update(|settings| change(&mut settings.tools));
        let of = tools.clone();
        let revoked = self.store.call(move |store| revoke_of(store, OWN, Some(&of))).await;
        self.revoke_temporary(OWN, Some(tools)).await;
        self.publish().await;
        writing.written().await?;
        revoked
    }

    pub(super) fn own_settings(&self) -> OwnToolSettings {
        self.settings.current().tools
    }

    /// The tools of these sources, as far as what they need is set.
    pub(crate) fn own_tools(&self, sources: &[String]) -> Vec<OwnTool> {
        let own = self.own_settings();
        let is_ready = |tool: &OwnTool| match tool {
            OwnTool::Computes(_) | OwnTool::Web(WebTool::ReadPage) => true,
            OwnTool::Web(WebTool::Search) => search_url(&own.search).is_some(),
            OwnTool::Files(_) => !own.folders.is_empty(),
        };
        let is_chosen = |tool: &OwnTool| sources.iter().any(|source| source == tool.source());
        OwnTool::all().filter(is_chosen).filter(is_ready).collect()
    }

    /// What a call of one of the app's own tools reaches, for which it can be allowed beyond this call: the host of a
    /// page, the search service, the folders. `None` where each call is asked about, and where the chat has the tool as
    /// it no longer is.
    pub(crate) fn reach_of(&self, tool: &OfferedTool, arguments: &Map<String, Value>) -> Option<String> {
        let own = own(tool).filter(|own| own.definition().fingerprint() == tool.fingerprint)?;
        let settings = self.own_settings();
        match own {
            OwnTool::Web(WebTool::ReadPage) => {
                let address = arguments.get("address")?.as_str()?.trim();
                let url = Url::parse(address).ok()?;
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                let unencrypted = if url.scheme() == "http" { "http://" } else { "" };
                Some(format!("{unencrypted}{}{port}", url.host_str()?))
            }
            OwnTool::Web(WebTool::Search) => search_url(&settings.search).map(String::from),
            OwnTool::Files(tool) if !tool.changes() => serde_json::to_string(&settings.folders).ok(),
            OwnTool::Files(_) | OwnTool::Computes(_) => None,
        }
    }

    /// What a call would change in a file now; `None` of a tool that changes none. What the call would come to instead
    /// is an error.
    pub(crate) async fn difference(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Option<Result<CallDifference, ToolboxError>> {
        let OwnTool::Files(tool) = OwnTool::named(tool)? else { return None };
        let folders = self.own_settings().folders;
        let found = blocking(move || opened(folders).preview(tool, &arguments)).await?;
        let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
        Some(match found {
            Ok(found) => Ok(CallDifference {
                path: found.path,
                creates: found.creates,
                added: count(found.added),
                removed: count(found.removed),
                text: found.text,
                seen: found.fingerprint.0,
            }),
            Err(error) => Err(ToolboxError::NoDifference { told: error.told() }),
        })
    }

    /// Calls one of the app's own tools, once at most. What changes a file changes the one that the person has `seen`.
    pub(super) async fn call_own(
        &self,
        tool: OwnTool,
        arguments: Map<String, Value>,
        seen: Option<String>,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<Outcome, ToolboxError> {
        match tool {
            OwnTool::Computes(tool) => Ok(blocking(move || tool.call(&arguments, jiff::Zoned::now())).await),
            OwnTool::Web(tool) => {
                let web = self.web().await?;
                tokio::select! {
                    biased;
                    () = stop => Err(ServerError::Stopped.into()),
                    outcome = tool.call(&arguments, &web) => Ok(outcome),
                }
            }
            OwnTool::Files(tool) if tool.changes() && seen.is_none() => Err(ToolboxError::NotSeen),
            OwnTool::Files(tool) => {
                let folders = self.own_settings().folders;
                let seen = seen.map(Fingerprint);
                Ok(blocking(move || opened(folders).call(tool, &arguments, seen.as_ref())).await)
            }
        }
    }

    /// What reads pages, and searches where the person has said.
    async fn web(&self) -> Result<Web, ToolboxError> {
        // To read whom the system trusts takes a while.
        let make = || blocking(|| Web::new(Arc::new(SystemResolver), None));
        let web = self.web.get_or_try_init(make).await?;
        Ok(web.with_search(search_url(&self.own_settings().search)))
    }
}

/// The tool of the app's own that is offered so.
fn own(tool: &OfferedTool) -> Option<OwnTool> {
    if tool.server.is_some() { None } else { OwnTool::named(&tool.definition.name) }
}

fn opened(folders: Vec<ToolFolder>) -> Files {
    Files::new(folders.into_iter().map(|folder| (folder.name, folder.path.into())))
}

/// A name that no folder has, in whichever case.
fn free_name(name: &str, folders: &[ToolFolder]) -> String {
    let is_free =
        |name: &String| folders.iter().all(|folder| folder.name.to_lowercase() != name.to_lowercase());
    let numbered = (2..).map(|number| format!("{name} {number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

/// An address that can be one of a search service: of the web, without a sign-in in it.
fn search_url(address: &str) -> Option<Url> {
    let url = Url::parse(address).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.host().is_some();
    (matches!(url.scheme(), "http" | "https") && is_plain).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gets_a_name_that_no_other_one_has() {
        let folder = |name: &str| ToolFolder { name: name.into(), path: format!("/{name}") };
        assert_eq!(free_name("Notes", &[]), "Notes");
        assert_eq!(free_name("Notes", &[folder("notes"), folder("Notes 2")]), "Notes 3");
    }

    #[test]
    fn a_search_service_is_an_address_of_the_web() {
        for address in ["https://search.example.org", "http://localhost:8080/searx/"] {
            assert!(search_url(address).is_some(), "{address}");
        }
        for address in
            ["", "search.example.org", "file:///etc/passwd", "https://me:pw@example.org", "javascript:1"]
        {
            assert!(search_url(address).is_none(), "{address}");
        }
    }
}
