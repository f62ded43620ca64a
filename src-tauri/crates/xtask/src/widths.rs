//! Holds comments and prose to a width, as rustfmt and Biome hold code.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// Columns of a comment or a line of prose.
const WIDTH: usize = 120;

/// What is generated, or is data of a test although it looks like prose. Ends with `/` if it is a folder.
const EXEMPT: [&str; 3] = ["tests/app/support/answer.md", "tests/fixtures/", "ui/src/bridge/bindings.ts"];

/// How the comments of a file are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `//` to the end of the line, and `/*` to `*/`.
    Slashes,
    /// `#` to the end of the line.
    Hash,
    /// All of it but code and tables.
    Prose,
}

/// Fails if a comment or a line of prose is too wide, in the files of the checkout that git does not ignore.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut git = workspace.command("git");
    let listed = process::read(git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--deduplicate",
    ]))?;
    let mut lines = String::new();
    for name in listed.split_terminator('\0') {
        let Some(form) = form(name) else { continue };
        let text = match fs::read_to_string(workspace.root().join(name)) {
            Ok(text) => text,
            // Deleted, and not committed yet.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::file(Path::new(name))(error)),
        };
        for (line, width) in too_wide(&text, form) {
            lines += &format!("\n  {name}:{line}: {width} columns");
        }
    }
    if lines.is_empty() { Ok(()) } else { Err(Error::Widths { width: WIDTH, lines }) }
}

/// The form of a file's comments, if they are looked at.
fn form(name: &str) -> Option<Form> {
    let is_exempt = |exempt: &&str| name == *exempt || exempt.ends_with('/') && name.starts_with(exempt);
    if EXEMPT.iter().any(is_exempt) {
        return None;
    }
    match Path::new(name).extension()?.to_str()? {
        "rs" | "ts" | "tsx" | "mjs" | "css" | "h" | "cpp" => Some(Form::Slashes),
        "toml" | "py" | "yml" => Some(Form::Hash),
        "md" => Some(Form::Prose),
        _ => None,
    }
}

/// The numbers and widths of the lines that hold a comment or prose and are too wide. A line with an address may be as
/// wide as the address makes it.
fn too_wide(text: &str, form: Form) -> Vec<(usize, usize)> {
    let mut reader = Reader { form, inside: false, before: "" };
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let counts = reader.counts(line);
        let width = line.chars().count();
        if counts && width > WIDTH && !line.contains("://") {
            found.push((number, width));
        }
    }
    found
}

/// Reads a file line by line.
struct Reader<'a> {
    form: Form,
    /// In a comment of several lines; in Markdown, in a block of code.
    inside: bool,
    /// The line before.
    before: &'a str,
}

impl<'a> Reader<'a> {
    /// Whether the width of the next line counts.
    fn counts(&mut self, line: &'a str) -> bool {
        let words = line.trim_start();
        match self.form {
            Form::Slashes => self.is_comment(words),
            Form::Hash => words.starts_with('#') || ends_with_comment(words, " # "),
            Form::Prose => self.is_prose(line, words),
        }
    }

    fn is_comment(&mut self, words: &str) -> bool {
        let begins = words.starts_with("/*") || words.starts_with("{/*");
        let is_comment = self.inside || begins;
        if is_comment {
            self.inside = !words.contains("*/");
        }
        is_comment || words.starts_with("//") || ends_with_comment(words, " // ")
    }

    fn is_prose(&mut self, line: &'a str, words: &str) -> bool {
        let before = std::mem::replace(&mut self.before, line);
        if words.starts_with("```") {
            self.inside = !self.inside;
            return false;
        }
        let is_indented = |line: &str| line.starts_with("    ");
        let is_code = self.inside || is_indented(line) && (before.is_empty() || is_indented(before));
        !is_code && !words.starts_with('|')
    }
}

/// Whether a comment follows after code: its sign is not within a text in quotes.
fn ends_with_comment(line: &str, sign: &str) -> bool {
    line.match_indices(sign).any(|(at, _)| line[..at].matches('"').count().is_multiple_of(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are too wide, where `~` stands for a hundred and twenty columns of words.
    fn lines(text: &str, form: Form) -> Vec<usize> {
        let wide = "words ".repeat(20);
        too_wide(&text.replace('~', &wide), form).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_comment_may_have_as_many_columns_as_prose() {
        let comment = |letters: usize| format!("// {}", "é".repeat(letters));
        assert_eq!(too_wide(&comment(117), Form::Slashes), []);
        assert_eq!(too_wide(&comment(118), Form::Slashes), [(1, 121)]);
    }

    #[test]
    fn every_kind_of_comment_is_held_to_it_and_code_is_not() {
        let rust = "//! ~\n/// ~\nlet text = \"~\";\n    // ~\nlet a = 1; // ~\nlet b = \" // ~\";\n";
        assert_eq!(lines(rust, Form::Slashes), [1, 2, 4, 5]);
        let page = "/** ~ */\nconst a = `~`;\n{/* ~ */}\n/*\n * ~\n */\nconst b = `~`;\n";
        assert_eq!(lines(page, Form::Slashes), [1, 3, 5]);
        assert_eq!(lines("a = \"~\"\n# ~\nb = 1 # ~\nc = \" # ~\"\n", Form::Hash), [2, 3]);
    }

    #[test]
    fn prose_is_held_to_it_and_code_tables_and_addresses_are_not() {
        let text = "~.\n\n- ~.\n\n    code ~\n    code ~\n\n```\n~.\n```\n| ~ | ~ |\n[x](https://example.org) ~\n~.\n";
        assert_eq!(lines(text, Form::Prose), [1, 3, 13]);
    }

    #[test]
    fn what_is_generated_or_no_source_is_left_alone() {
        assert_eq!(form("ui/src/bridge/bindings.ts"), None);
        assert_eq!(form("tests/fixtures/goldens/README.md"), None);
        assert_eq!(form("src-tauri/icons/icon.png"), None);
        assert_eq!(form("ui/src/bridge/bridge.ts"), Some(Form::Slashes));
        assert_eq!(form("README.md"), Some(Form::Prose));
    }
}
