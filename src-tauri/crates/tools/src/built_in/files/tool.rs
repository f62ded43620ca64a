//! What the tools are called, what they tell the model of themselves, and what they may do.

use serde_json::{Value, json};

use crate::tool::{Claims, Definition, Effects};

/// A tool for the files in the folders that the person has picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileTool {
    /// Names what is in a folder.
    List,
    /// Reads a text.
    Read,
    /// Finds words in texts.
    Search,
    /// Makes or replaces a text.
    Write,
    /// Replaces one place of a text.
    Edit,
}

impl FileTool {
    /// All of them, in the order in which they are listed.
    pub fn all() -> &'static [Self] {
        &[Self::List, Self::Read, Self::Search, Self::Write, Self::Edit]
    }

    /// The one that has this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().iter().copied().find(|tool| tool.name() == name)
    }

    /// The name by which a model calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list_files",
            Self::Read => "read_file",
            Self::Search => "search_files",
            Self::Write => "write_file",
            Self::Edit => "edit_file",
        }
    }

    /// Whether it writes.
    pub fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Edit)
    }

    /// What a call may do beside giving a result. Files are the person's, and whoever wrote their texts may have meant
    /// a model to read them.
    pub fn effects(self) -> Effects {
        let changes = self.changes();
        Effects { reads_private: true, reads_untrusted: !changes, changes, sends_out: false }
    }

    /// What the model and the person are told of it. It does not name the folders, so that it stays the same when the
    /// person picks others.
    pub fn definition(self) -> Definition {
        let (properties, required) = self.parameters();
        let schema = [
            ("type", json!("object")),
            ("properties", properties),
            ("required", json!(required)),
            ("additionalProperties", json!(false)),
        ];
        Definition {
            name: self.name().to_owned(),
            title: Some(self.title().to_owned()),
            description: self.description().to_owned(),
            parameters: schema.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            results: None,
            claims: Claims {
                reads_only: Some(!self.changes()),
                destroys: Some(self.changes()),
                repeatable: Some(self != Self::Edit),
                reaches_out: Some(false),
            },
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::List => "List files",
            Self::Read => "Read a file",
            Self::Search => "Search files",
            Self::Write => "Write a file",
            Self::Edit => "Edit a file",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::List => {
                "Lists the files and folders of one folder with their sizes. Without arguments it lists the folders \
                 that the user has picked; every path begins with the name of one of them."
            }
            Self::Read => {
                "Reads a text file in the folders that the user has picked, or some of its lines. Pictures, PDFs and \
                 office documents are not read."
            }
            Self::Search => {
                "Finds lines that contain a text, upper or lower case, in all text files of a folder and of the \
                 folders in it, and tells path, line number and line. It skips .git, node_modules, links and large \
                 files."
            }
            Self::Write => {
                "Creates a text file, or replaces the whole content of one, in the folders that the user has picked. \
                 The folder must exist. To change a part of a file, use edit_file."
            }
            Self::Edit => {
                "Replaces a text that occurs exactly once in a text file by another one. Read the file first, and copy \
                 \"old\" from it exactly."
            }
        }
    }

    /// The properties of its schema, and which of them are required.
    fn parameters(self) -> (Value, &'static [&'static str]) {
        let text = |description: &str| json!({ "type": "string", "description": description });
        let number =
            |description: &str| json!({ "type": "integer", "minimum": 1, "description": description });
        let path = || text("The file, as in Notes/plans/today.txt.");
        match self {
            Self::List => (
                json!({
                    "folder": text("The name of a folder that the user has picked."),
                    "path": text("A folder within, as in Notes/plans."),
                }),
                &[],
            ),
            Self::Read => (
                json!({
                    "path": path(),
                    "from_line": number("The first line to read, from 1."),
                    "lines": number("How many lines to read."),
                }),
                &["path"],
            ),
            Self::Search => (
                json!({
                    "text": text("What to find, within one line."),
                    "path": text("A folder or file to search, as in Notes/plans. Without it, all folders."),
                }),
                &["text"],
            ),
            Self::Write => {
                (json!({ "path": path(), "content": text("The whole new content.") }), &["path", "content"])
            }
            Self::Edit => (
                json!({
                    "path": path(),
                    "old": text("The text to replace, exactly as in the file."),
                    "new": text("What stands there afterwards."),
                }),
                &["path", "old", "new"],
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_tools_of_which_a_model_can_be_told() {
        let listed = FileTool::all().iter().map(|tool| tool.definition().listed(tool.name())).collect();
        let tools = foretoken_calls::Tools::new(listed).unwrap();
        assert!(tools.names().eq(["list_files", "read_file", "search_files", "write_file", "edit_file"]));
        for tool in FileTool::all() {
            assert_eq!(FileTool::named(tool.name()), Some(*tool));
            assert!(tool.definition().description.len() <= 1_024);
        }
        assert_eq!(FileTool::named("delete_file"), None);
    }

    #[test]
    fn only_two_change_something_and_none_sends_anything_out() {
        for tool in FileTool::all() {
            let (effects, claims) = (tool.effects(), tool.definition().claims);
            assert!(effects.reads_private && !effects.sends_out);
            assert_eq!(effects.changes, matches!(tool, FileTool::Write | FileTool::Edit));
            assert_eq!(effects.reads_untrusted, !effects.changes);
            assert_eq!((claims.reads_only, claims.destroys), (Some(!effects.changes), Some(effects.changes)));
        }
    }
}
