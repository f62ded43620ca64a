//! The tools that are part of the app, whatever they do.

use super::BuiltIn;
use super::files::FileTool;
use super::web::WebTool;
use crate::tool::{Definition, Effects};

/// A tool that is part of the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnTool {
    /// One that computes on this machine.
    Computes(BuiltIn),
    /// One that reads what others have put on the web.
    Web(WebTool),
    /// One that reads or writes files in folders that the person has picked.
    Files(FileTool),
}

impl From<BuiltIn> for OwnTool {
    fn from(tool: BuiltIn) -> Self {
        Self::Computes(tool)
    }
}

impl From<WebTool> for OwnTool {
    fn from(tool: WebTool) -> Self {
        Self::Web(tool)
    }
}

impl From<FileTool> for OwnTool {
    fn from(tool: FileTool) -> Self {
        Self::Files(tool)
    }
}

impl OwnTool {
    /// All of them, in the order in which they are listed.
    pub fn all() -> impl Iterator<Item = Self> {
        let computing = BuiltIn::all().iter().copied().map(Self::from);
        let web = WebTool::all().iter().copied().map(Self::from);
        computing.chain(web).chain(FileTool::all().iter().copied().map(Self::from))
    }

    /// The one that has this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|tool| tool.name() == name)
    }

    /// The name by which a model calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Computes(tool) => tool.name(),
            Self::Web(tool) => tool.name(),
            Self::Files(tool) => tool.name(),
        }
    }

    /// What a chat switches it on by, together with others: those that read files are one source, those that change
    /// files another, and each of the rest is one by itself.
    pub fn source(self) -> &'static str {
        match self {
            Self::Files(tool) if tool.changes() => "write_files",
            Self::Files(_) => "read_files",
            Self::Computes(_) | Self::Web(_) => self.name(),
        }
    }

    /// What the model and the person are told of it.
    pub fn definition(self) -> Definition {
        match self {
            Self::Computes(tool) => tool.definition(),
            Self::Web(tool) => tool.definition(),
            Self::Files(tool) => tool.definition(),
        }
    }

    /// What a call may do beside giving a result.
    pub fn effects(self) -> Effects {
        match self {
            Self::Computes(tool) => tool.effects(),
            Self::Web(tool) => tool.effects(),
            Self::Files(tool) => tool.effects(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_tool_has_a_name_of_its_own() {
        let names: BTreeSet<_> = OwnTool::all().map(OwnTool::name).collect();
        assert_eq!(names.len(), OwnTool::all().count());
        for tool in OwnTool::all() {
            assert_eq!(OwnTool::named(tool.name()), Some(tool));
            assert_eq!(tool.definition().name, tool.name());
        }
        assert_eq!(OwnTool::named("shell"), None);
    }

    #[test]
    fn what_changes_files_is_switched_on_by_itself() {
        let of = |source| {
            let tools = OwnTool::all().filter(move |tool| tool.source() == source);
            tools.map(OwnTool::name).collect::<Vec<_>>()
        };
        assert_eq!(of("read_files"), ["list_files", "read_file", "search_files"]);
        assert_eq!(of("write_files"), ["write_file", "edit_file"]);
        assert_eq!(of("read_page"), ["read_page"]);
        for tool in OwnTool::all() {
            assert_eq!(tool.effects().changes, tool.source() == "write_files", "{tool:?}");
        }
    }
}
