//! How servers and built-in tools are used: started, asked for their tools, which are pinned, and called.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::Ordering;

use foretoken_protocol::{ErrorReport, PinChange};
use foretoken_tools::built_in::OwnTool;
use foretoken_tools::configuration::{ServerEntry, Transport};
use foretoken_tools::environment::for_server;
use foretoken_tools::{
    Configured, Definition, Launch, Offer, OfferedTool, Outcome, Reach, ServerError, ServerState,
};
use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::sync::MutexGuard as AsyncMutexGuard;

use super::entry::{self, Listed};
use super::error::ToolboxError;
use super::{Seen, Toolbox, begun};
use crate::blocking::blocking;

/// A server that may be used.
pub(super) struct Ready {
    pub(super) listed: Listed,
    /// Of what it runs or reaches now, which the person has agreed to.
    fingerprint: String,
}

impl Ready {
    /// Refuses to be taken for the server that a tool was offered of, if it is another.
    fn check(&self, tool: &OfferedTool) -> Result<(), ToolboxError> {
        if self.fingerprint == tool.server_fingerprint {
            Ok(())
        } else {
            Err(ToolboxError::OtherServer { name: self.listed.entry.name.clone() })
        }
    }
}

impl Toolbox {
    /// Starts a server that is switched on, however often it has failed, and asks it for its tools.
    pub(crate) async fn start(&self, slug: String) -> Result<(), ErrorReport> {
        let has_failed = matches!(self.servers.watch().borrow().get(&slug), Some(ServerState::Failed { .. }));
        if has_failed {
            self.servers.stop(&slug).await;
        }
        let started = self.tools(&slug, None).await;
        self.publish().await;
        Ok(started.map(drop)?)
    }

    /// What a chat offers its model when these sources are switched on: names of built-in tools and slugs of servers.
    /// Servers that do not run are started side by side; those that fail are told, by their names, and stay among the
    /// sources. What is switched off or not known is left out.
    pub(crate) async fn offer(&self, sources: &[String]) -> (Offer, Vec<ErrorReport>) {
        let own = self.own_tools(sources);
        let is_own = |source: &&String| OwnTool::all().any(|tool| tool.source() == source.as_str());
        let mut names: Vec<String> = sources.iter().filter(is_own).cloned().collect();
        let listed = match self.store.call(|store| entry::all(store)).await {
            Ok(listed) => listed,
            Err(error) => {
                return (Offer::new(names, &own, &[]).0, vec![error]);
            }
        };
        let is_meant = |server: &&Listed| server.is_on() && sources.contains(&server.entry.slug);
        let meant: Vec<_> = listed.iter().filter(is_meant).collect();
        let told = join_all(meant.iter().map(|server| self.tools(&server.entry.slug, None))).await;

        let (mut servers, mut errors) = (Vec::new(), Vec::new());
        for (server, told) in meant.into_iter().zip(told) {
            let ServerEntry { slug, name, .. } = &server.entry;
            match told {
                Ok((fingerprint, tools, _)) => servers.push((slug.clone(), fingerprint, tools)),
                // It was switched off or removed meanwhile.
                Err(ToolboxError::Off { .. } | ToolboxError::Server(ServerError::NotConfigured { .. })) => {
                    continue;
                }
                Err(error) => {
                    let report = ErrorReport::from(error);
                    errors.push(ErrorReport { message: format!("{name}: {}", report.message), ..report });
                }
            }
            names.push(slug.clone());
        }
        let (offer, left_out) = Offer::new(names, &own, &servers);
        for one in left_out {
            tracing::info!("the tool {:?} is not offered: {}", one.name, one.reason);
        }
        (offer, errors)
    }

    /// Calls a tool of an offer, once at most. What the person has to say to it is decided before; of what changes a
    /// file, they have `seen` that as it was. It ends early when `stop` does. A server that is switched off, or would
    /// run or reach something else than when it was offered, is not called, nor is a tool that is found to be another
    /// than before.
    pub(crate) async fn call(
        &self,
        tool: &OfferedTool,
        arguments: Map<String, Value>,
        seen: Option<String>,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<Outcome, ToolboxError> {
        let Some(slug) = &tool.server else {
            let name = tool.definition.name.clone();
            let own = OwnTool::named(&name).ok_or(ToolboxError::OtherTool { tool: name })?;
            return self.call_own(own, arguments, seen, stop).await;
        };
        let mut stop = pin!(stop);
        // First, so that a server that was started again meanwhile is known for what it is.
        let (_, _, changed) = tokio::select! {
            biased;
            () = stop.as_mut() => return Err(ServerError::Stopped.into()),
            told = self.tools(slug, Some(tool)) => told?,
        };
        if changed.contains(&tool.definition.name) {
            return Err(ToolboxError::OtherTool { tool: tool.name.clone() });
        }
        let (ready, changing) = tokio::select! {
            biased;
            () = stop.as_mut() => return Err(ServerError::Stopped.into()),
            ready = self.ready(slug) => ready?,
        };
        ready.check(tool)?;
        let calling = begun(self.servers.call(slug, &tool.definition.name, arguments, |_| {}, stop));
        drop(changing);
        Ok(calling.await?)
    }

    /// The fingerprint of what a server would run or reach now, if it is on and the person has agreed to that. Where
    /// the server has other tools than before, what was allowed of those is gone when this returns.
    pub(crate) async fn server_fingerprint(&self, slug: &str) -> Option<String> {
        self.see_again(slug).await;
        let listed = entry::find(&self.store, slug).await.ok()?;
        let (_, now) = self.as_it_is(&listed.entry).await.ok()?;
        Some(now).filter(|now| listed.agreed.as_ref() == Some(now))
    }

    /// The tools of a server, which is started if it does not run, and the fingerprint of the server; beside them the
    /// names of those that are found to be others than before. The server of a tool that was `offered` must be as it
    /// was then.
    async fn tools(
        &self,
        slug: &str,
        offered: Option<&OfferedTool>,
    ) -> Result<(String, Vec<Definition>, BTreeSet<String>), ToolboxError> {
        let (ready, changing) = self.agreed(slug).await?;
        if let Some(offered) = offered {
            ready.check(offered)?;
        }
        let listing = begun(self.servers.tools(slug));
        drop(changing);
        let tools = listing.await?;
        let changed = self.pin(slug, &tools).await?;
        Ok((ready.fingerprint, tools, changed))
    }

    /// Looks up a server as [`Self::ready`] does. One that would run or reach something else than the person has agreed
    /// to is switched off.
    pub(super) async fn agreed(&self, slug: &str) -> Result<(Ready, AsyncMutexGuard<'_, u64>), ToolboxError> {
        match self.ready(slug).await {
            Err(error @ ToolboxError::NotAgreed { .. }) => {
                self.switch_off(slug).await?;
                self.publish().await;
                Err(error)
            }
            ready => ready,
        }
    }

    /// Takes down the tools of a server that runs, if they are others than before.
    async fn see_again(&self, slug: &str) {
        let changing = self.changing().await;
        if !matches!(self.servers.watch().borrow().get(slug), Some(ServerState::Running { .. })) {
            return;
        }
        let listing = begun(self.servers.tools(slug));
        drop(changing);
        match listing.await {
            Ok(tools) => {
                if let Err(error) = self.pin(slug, &tools).await {
                    tracing::warn!("the tools of {slug} were not taken down: {error}");
                }
            }
            Err(error) => tracing::info!("the server {slug} does not tell its tools: {error}"),
        }
    }

    /// Takes down how the tools of a server are defined, and returns the names of those that were defined otherwise:
    /// nothing is allowed of them any more.
    async fn pin(&self, slug: &str, tools: &[Definition]) -> Result<BTreeSet<String>, ToolboxError> {
        let now: Seen = tools.iter().map(|tool| (tool.name.clone(), tool.fingerprint())).collect();
        if self.seen().get(slug) == Some(&now) {
            return Ok(BTreeSet::new());
        }
        let pins: Vec<_> = tools
            .iter()
            .map(|tool| (tool.name.clone(), tool.fingerprint(), serde_json::json!(tool).to_string()))
            .collect();
        let of = slug.to_owned();
        let pinned = self.store.call(move |store| {
            // It may have been removed meanwhile.
            if !store.tool_servers()?.iter().any(|server| server.slug == of) {
                return Ok(None);
            }
            let mut changed = BTreeSet::new();
            for (tool, fingerprint, definition) in pins {
                let change = store.pin_tool(&of, &tool, &fingerprint, &definition)?;
                if matches!(change, PinChange::Changed { .. }) {
                    changed.insert(tool);
                }
            }
            Ok(Some(changed))
        });
        match pinned.await? {
            Some(changed) => {
                if !changed.is_empty() {
                    self.revoke_temporary(slug, Some(changed.clone())).await;
                }
                self.seen().insert(slug.to_owned(), now);
                self.publish().await;
                Ok(changed)
            }
            None => Err(ServerError::NotConfigured { slug: slug.to_owned() }.into()),
        }
    }

    /// Looks up a server that is on and configures it. As long as what is returned beside it is held, it stays so.
    async fn ready(&self, slug: &str) -> Result<(Ready, AsyncMutexGuard<'_, u64>), ToolboxError> {
        loop {
            let seen = *self.changing().await;
            let listed = entry::find(&self.store, slug).await?;
            let Some(agreed) = listed.agreed.clone() else {
                return Err(ToolboxError::Off { name: listed.entry.name });
            };
            let (program, fingerprint) = self.as_it_is(&listed.entry).await?;
            if fingerprint != agreed {
                return Err(ToolboxError::NotAgreed { name: listed.entry.name });
            }
            let reach = self.reach(&listed, program).await?;
            let changing = self.changing().await;
            if self.closed.load(Ordering::Acquire) {
                return Err(ServerError::Stopped.into());
            }
            if *changing == seen {
                // What runs of it is gone before anything else of it starts; nobody has to wait for that here.
                drop(begun(self.servers.configure(Configured { slug: slug.to_owned(), reach })));
                return Ok((Ready { listed, fingerprint }, changing));
            }
        }
    }

    /// Where a server's program is now, if it is one, and the fingerprint of what would run or be reached.
    pub(super) async fn as_it_is(
        &self,
        entry: &ServerEntry,
    ) -> Result<(Option<PathBuf>, String), ToolboxError> {
        let program = match &entry.transport {
            Transport::Program { command, folder, .. } => {
                Some(self.surroundings.resolve(command, folder.as_deref()).await?)
            }
            Transport::Http { .. } => None,
        };
        let fingerprint = entry.fingerprint(program.as_deref());
        Ok((program, fingerprint))
    }

    /// How a server is reached, with the values of its variables or headers.
    async fn reach(&self, listed: &Listed, program: Option<PathBuf>) -> Result<Reach, ToolboxError> {
        let ServerEntry { slug, transport, .. } = &listed.entry;
        let values = self.values(slug, listed.names()).await?;
        match transport {
            Transport::Program { command, arguments, folder, .. } => {
                let folder = match folder {
                    Some(folder) => folder.clone(),
                    None => self.own_folder(slug).await?,
                };
                let path = self.surroundings.path().await;
                Ok(Reach::Program(Launch {
                    program: program.unwrap_or_else(|| command.into()),
                    arguments: arguments.iter().map(OsString::from).collect(),
                    environment: for_server(&self.surroundings.person, Some(path), &values),
                    folder,
                }))
            }
            Transport::Http { address, .. } => {
                let proxy = self.settings.current().hub.proxy;
                let client = self.surroundings.client(address, &proxy).await?;
                let access = self.access(listed, address).await?;
                let headers = values.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
                Ok(Reach::Http { address: address.clone(), headers: headers.collect(), client, access })
            }
        }
    }

    /// The folder of a server that names none.
    async fn own_folder(&self, slug: &str) -> Result<PathBuf, ToolboxError> {
        let folder = self.folder.join(slug);
        let made = move || match std::fs::create_dir_all(&folder) {
            Ok(()) => Ok(folder),
            Err(error) => Err(ToolboxError::FolderNotMade { path: folder, kind: error.kind() }),
        };
        blocking(made).await
    }
}
