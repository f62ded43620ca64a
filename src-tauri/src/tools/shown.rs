//! What the page shows of tools, servers and permissions.

use foretoken_protocol::{
    AppEvent, ErrorReport, OwnSource, ServerInfo, ServerStatus, ToolClaims, ToolInfo, ToolPin, ToolsState,
};
use foretoken_tools::built_in::OwnTool;
use foretoken_tools::configuration::{Transport, tool_name};
use foretoken_tools::environment::resolve;
use foretoken_tools::{Definition, ServerState, visible};

use super::Toolbox;
use super::entry::{self, Listed};
use crate::blocking::blocking;
use crate::settings::OwnToolSettings;

impl Toolbox {
    /// Tools, servers and permissions as they are now. What cannot be read is left out.
    pub(crate) async fn state(&self) -> ToolsState {
        let OwnToolSettings { folders, search } = self.own_settings();
        let stored = self.stored().await.unwrap_or_else(|error| {
            tracing::warn!("the servers of tools are not known: {error}");
            ToolsState::default()
        });
        let questions = self.questions.all();
        ToolsState { built_in: own_sources(), folders, search, questions, ..stored }
    }

    /// Tells the page.
    pub(crate) async fn publish(&self) {
        self.events.publish(&AppEvent::Tools { tools: self.state().await });
    }

    async fn stored(&self) -> Result<ToolsState, ErrorReport> {
        let (listed, permissions) = self
            .store
            .call(|store| {
                let listed = entry::all(store)?.into_iter();
                let pinned = listed.map(|server| Ok((store.tool_pins(&server.entry.slug)?, server)));
                Ok((pinned.collect::<Result<Vec<_>, _>>()?, store.tool_permissions()?))
            })
            .await?;
        let path = self.surroundings.known_path();
        let with_programs = move || {
            let located = listed.into_iter().map(|(pins, server)| {
                let program = match &server.entry.transport {
                    Transport::Program { command, folder, .. } => {
                        resolve(command, &path, folder.as_deref()).ok()
                    }
                    Transport::Http { .. } => None,
                };
                (pins, server, program.map(|program| program.to_string_lossy().into_owned()))
            });
            located.collect::<Vec<_>>()
        };
        let located = blocking(with_programs).await;
        let servers = located.into_iter().map(|(pins, server, program)| self.server(pins, server, program));
        let mut servers: Vec<_> = servers.collect();
        servers.sort_by_cached_key(|server| (server.name.to_lowercase(), server.slug.clone()));
        Ok(ToolsState { servers, permissions, ..ToolsState::default() })
    }

    fn server(&self, pins: Vec<ToolPin>, server: Listed, program: Option<String>) -> ServerInfo {
        let slug = &server.entry.slug;
        let status = match self.servers.watch().borrow().get(slug) {
            _ if self.is_signing_in(slug) => ServerStatus::SigningIn,
            Some(ServerState::Starting) => ServerStatus::Starting,
            Some(ServerState::Running { .. }) => ServerStatus::Running,
            Some(ServerState::Failed { error }) => ServerStatus::Failed { error: error.clone() },
            Some(ServerState::Stopped) | None => ServerStatus::Stopped,
        };
        let seen = self.seen().get(slug).cloned();
        // Of a server that has not run since the start all is shown that it ever had.
        let is_there = |pin: &ToolPin| seen.as_ref().is_none_or(|seen| seen.contains_key(&pin.tool));
        let definitions = pins.into_iter().filter(is_there);
        let definitions =
            definitions.filter_map(|pin| serde_json::from_str::<Definition>(&pin.definition).ok());
        let told = |definition: Definition| {
            let name = tool_name(slug, &definition.name).unwrap_or_else(|_| definition.name.clone());
            info(&name, definition)
        };
        let tools = definitions.map(told).collect();
        ServerInfo {
            slug: slug.clone(),
            transport: entry::for_page(&server.entry.transport),
            program: program.map(|program| visible(&program).0),
            enabled: server.is_on(),
            signed_in: server.signed_in,
            status,
            tools,
            name: server.entry.name,
        }
    }
}

/// The app's own tools, by what a chat switches them on by.
fn own_sources() -> Vec<OwnSource> {
    let mut sources: Vec<OwnSource> = Vec::new();
    for tool in OwnTool::all() {
        let (id, info) = (tool.source(), info(tool.name(), tool.definition()));
        match sources.iter_mut().find(|source| source.id == id) {
            Some(source) => source.tools.push(info),
            None => sources.push(OwnSource { id: id.to_owned(), tools: vec![info] }),
        }
    }
    sources
}

/// A tool for people, with what nobody would see made visible. `name` is what a model calls it by.
fn info(name: &str, definition: Definition) -> ToolInfo {
    let shown = |text: &str| visible(text).0;
    let listed = definition.listed(name).to_string();
    let claims = definition.claims;
    ToolInfo {
        name: shown(&definition.name),
        title: definition.title.as_deref().map(shown),
        description: shown(&definition.description),
        claims: ToolClaims {
            reads_only: claims.reads_only,
            destroys: claims.destroys,
            repeatable: claims.repeatable,
            reaches_out: claims.reaches_out,
        },
        listed,
    }
}
