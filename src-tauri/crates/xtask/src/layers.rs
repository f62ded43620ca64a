//! The layers of the code, in one table: which crate may use which, which module of the engine and which folder of the
//! shell; and the crates in which the files of a folder use each other in one direction. Read from the paths that the
//! sources name; code that is only for tests may use anything.

mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use self::paths::{Named, Paths};
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// A name, and the names of what it may use.
type Row = (&'static str, &'static [&'static str]);

/// What may use what.
struct Layers {
    /// Crates, by the names of their folders.
    crates: &'static [Row],
    /// Top modules of a crate.
    modules: &'static [(&'static str, &'static [Row])],
    /// Crates whose files, folder by folder, use each other in no circle.
    lines: &'static [&'static str],
    /// Uses that close such a circle and are let through: a crate, a folder of it, a file there and one that it uses;
    /// `*` is any.
    known_circles: &'static [[&'static str; 4]],
}

/// The folder of the shell; all other crates are below [`CRATES`].
const SHELL: &str = "src-tauri/src";
const CRATES: &str = "src-tauri/crates";

/// From below to above, as far as there is an order.
const LAYERS: Layers = Layers {
    crates: &[
        ("protocol", &[]),
        ("affine", &[]),
        ("blas", &[]),
        ("calls", &[]),
        ("prefixes", &[]),
        ("models", &["protocol"]),
        ("pictures", &["protocol"]),
        ("documents", &["protocol"]),
        ("passages", &["protocol"]),
        ("chats", &["passages", "protocol"]),
        ("engine", &["affine", "blas", "calls", "documents", "peers", "pictures", "prefixes", "protocol"]),
        ("host", &["protocol"]),
        ("peers", &["protocol"]),
        ("api", &["calls", "host", "models", "pictures", "protocol"]),
        ("tools", &["calls", "documents", "protocol"]),
        ("test-hub", &[]),
        ("test-mcp", &[]),
        (
            "shell",
            &[
                "api",
                "calls",
                "chats",
                "documents",
                "host",
                "models",
                "passages",
                "peers",
                "pictures",
                "prefixes",
                "protocol",
                "tools",
            ],
        ),
        ("xtask", &[]),
    ],
    modules: &[
        (
            "engine",
            &[
                ("mlx", &[]),
                ("checkpoint", &["mlx"]),
                ("machine", &["checkpoint"]),
                ("link", &["checkpoint", "mlx"]),
                ("cache", &["link", "mlx"]),
                ("text", &[]),
                ("constrain", &["mlx", "text"]),
                ("sample", &["constrain", "mlx"]),
                ("memory", &["cache", "checkpoint", "link", "mlx"]),
                ("inspect", &["checkpoint", "memory", "mlx"]),
                ("model", &["cache", "checkpoint", "link", "memory", "mlx"]),
                ("placement", &["checkpoint", "memory", "mlx"]),
                ("worker", &["cache", "checkpoint", "error", "link", "memory", "mlx", "model"]),
                ("decode", &["cache", "constrain", "link", "memory", "mlx", "model", "sample"]),
                ("device_check", &["mlx"]),
                (
                    "error",
                    &["checkpoint", "constrain", "convert", "decode", "device_check", "mlx", "model", "text"],
                ),
                ("convert", &["checkpoint", "error", "machine", "mlx", "model"]),
                ("learned", &["decode", "machine", "mlx"]),
                ("score", &["cache", "error", "mlx", "model"]),
                ("observe", &["cache", "checkpoint", "convert", "error", "mlx", "model", "score"]),
                (
                    "session",
                    &[
                        "cache",
                        "checkpoint",
                        "constrain",
                        "decode",
                        "error",
                        "inspect",
                        "link",
                        "memory",
                        "mlx",
                        "model",
                        "sample",
                        "text",
                    ],
                ),
                ("calibration", &["error", "session", "text"]),
                (
                    "quality",
                    &[
                        "calibration",
                        "checkpoint",
                        "convert",
                        "error",
                        "memory",
                        "mlx",
                        "model",
                        "observe",
                        "session",
                    ],
                ),
                ("bench", &["decode", "error", "learned", "mlx", "model", "session"]),
                ("draft_vocabulary", &["checkpoint", "decode", "error", "mlx", "session"]),
                (
                    "serve",
                    &[
                        "constrain",
                        "device_check",
                        "error",
                        "learned",
                        "link",
                        "machine",
                        "mlx",
                        "session",
                        "text",
                    ],
                ),
                (
                    "cli",
                    &[
                        "bench",
                        "calibration",
                        "checkpoint",
                        "convert",
                        "device_check",
                        "draft_vocabulary",
                        "error",
                        "inspect",
                        "link",
                        "machine",
                        "memory",
                        "mlx",
                        "observe",
                        "placement",
                        "quality",
                        "score",
                        "serve",
                        "session",
                        "text",
                        "worker",
                    ],
                ),
            ],
        ),
        (
            "shell",
            &[
                ("accent", &[]),
                ("actions", &[]),
                ("awake", &[]),
                ("blocking", &[]),
                ("clipboard", &[]),
                ("clock", &[]),
                ("crash_reports", &[]),
                ("events", &[]),
                ("handed", &[]),
                ("instance", &[]),
                ("language", &[]),
                ("json_file", &[]),
                ("keychain", &[]),
                ("log", &["clock"]),
                ("notices", &[]),
                ("paper", &[]),
                ("places", &[]),
                ("preview", &[]),
                ("quitting", &[]),
                ("strain", &[]),
                ("termination", &["quitting"]),
                ("settings", &["events"]),
                ("stored", &["keychain", "places"]),
                ("diagnostics", &["log", "settings"]),
                ("benchmarks", &["blocking"]),
                ("kept_prefixes", &["blocking"]),
                ("macs", &["blocking", "clock", "events", "json_file", "keychain", "settings"]),
                (
                    "models",
                    &[
                        "benchmarks",
                        "blocking",
                        "clock",
                        "events",
                        "handed",
                        "json_file",
                        "keychain",
                        "macs",
                        "places",
                        "settings",
                        "strain",
                        "language",
                    ],
                ),
                ("pictures", &["blocking"]),
                ("chat_store", &["blocking"]),
                ("tools", &["blocking", "chat_store", "clock", "events", "keychain", "language", "settings"]),
                (
                    "conversations",
                    &[
                        "blocking",
                        "chat_store",
                        "events",
                        "kept_prefixes",
                        "models",
                        "pictures",
                        "settings",
                        "tools",
                        "language",
                    ],
                ),
                ("attachments", &["conversations"]),
                ("project_folders", &["attachments", "blocking", "conversations"]),
                ("comparison", &["conversations", "models", "settings"]),
                (
                    "local_api",
                    &["blocking", "clipboard", "conversations", "events", "keychain", "models", "settings"],
                ),
                ("updates", &["blocking", "clock", "conversations", "events", "models", "settings"]),
                (
                    "app",
                    &[
                        "benchmarks",
                        "chat_store",
                        "comparison",
                        "conversations",
                        "events",
                        "handed",
                        "kept_prefixes",
                        "keychain",
                        "local_api",
                        "log",
                        "macs",
                        "models",
                        "pictures",
                        "places",
                        "quitting",
                        "settings",
                        "stored",
                        "tools",
                        "updates",
                        "language",
                    ],
                ),
                ("window", &["accent", "app", "events", "preview"]),
                ("notifications", &["app", "events", "window"]),
                ("desktop", &["app", "conversations", "events", "notifications", "window", "language"]),
                ("quick", &["app", "window"]),
                ("quit", &["app", "desktop", "quitting", "termination", "window"]),
                ("chat_windows", &["app", "events", "quit", "window"]),
                ("menu", &["actions", "app", "quit", "window", "language"]),
                ("menu_bar", &["app", "quick", "quit", "window", "language"]),
                (
                    "commands",
                    &[
                        "actions",
                        "app",
                        "attachments",
                        "benchmarks",
                        "blocking",
                        "chat_windows",
                        "clipboard",
                        "conversations",
                        "crash_reports",
                        "desktop",
                        "diagnostics",
                        "events",
                        "handed",
                        "local_api",
                        "menu",
                        "menu_bar",
                        "notices",
                        "paper",
                        "project_folders",
                        "quick",
                        "quit",
                        "settings",
                        "stored",
                        "window",
                        "language",
                    ],
                ),
                ("bindings", &["commands"]),
                (
                    "setup",
                    &[
                        "app",
                        "awake",
                        "chat_windows",
                        "commands",
                        "desktop",
                        "events",
                        "instance",
                        "log",
                        "menu",
                        "menu_bar",
                        "notifications",
                        "places",
                        "preview",
                        "quick",
                        "quit",
                        "window",
                    ],
                ),
            ],
        ),
    ],
    lines: &["engine", "chats", "documents", "host", "peers", "pictures", "shell"],
    known_circles: &[
        // A conversion fails as the engine does, and the engine as a conversion.
        ["engine", "", "error", "convert"],
        // An array evaluates itself on the stream of its thread.
        ["engine", "mlx", "array", "runtime"],
        ["engine", "mlx", "array", "streams"],
    ],
};

/// Something that the layers forbid.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    file: PathBuf,
    line: usize,
    rule: String,
}

/// One source file of a crate.
struct Source {
    file: PathBuf,
    /// The path of its module in the crate.
    module: Vec<String>,
    paths: Paths,
}

/// That one module of a folder uses another, with the first place where it does.
type Edges = BTreeMap<(String, String), (PathBuf, usize)>;

/// Fails if a source uses what it may not.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let found = LAYERS.violations(workspace.root())?;
    if found.is_empty() {
        return Ok(());
    }
    let lines =
        found.iter().map(|Violation { file, line, rule }| format!("\n  {}:{line}: {rule}", file.display()));
    Err(Error::Layers { violations: lines.collect() })
}

impl Layers {
    fn violations(&self, root: &Path) -> Result<Vec<Violation>> {
        let mut found = BTreeSet::new();
        for (name, folder) in crates(root)? {
            let folder_file = folder.join("lib.rs");
            let Some(may_use) = row(self.crates, &name) else {
                let rule = format!("the crate {name} stands in no row of LAYERS");
                found.insert(Violation { file: folder_file, line: 1, rule });
                continue;
            };
            let rows = self.modules.iter().find(|(other, _)| *other == name).map(|(_, rows)| *rows);
            let sources = sources(root, &folder)?;
            let tree = Tree::of(&name, &sources);
            let mut edges: BTreeMap<Vec<String>, Edges> = BTreeMap::new();
            for source in &sources {
                for named in &source.paths.named {
                    let place = || (source.file.clone(), named.line);
                    if let Some(other) = other_crate(&named.path[0], &name)
                        && !may_use.contains(&other.as_str())
                    {
                        let ((file, line), rule) = (place(), refusal(&name, &other, may_use));
                        found.insert(Violation { file, line, rule });
                    }
                    if let Some((folder, from, to)) = tree.edge(source, named) {
                        edges.entry(folder).or_default().entry((from, to)).or_insert_with(place);
                    }
                }
            }
            if let Some(rows) = rows {
                found.extend(of_modules(rows, edges.get(&Vec::new())));
                found.extend(unlisted(rows, &sources));
            }
            if self.lines.contains(&name.as_str()) {
                edges
                    .into_iter()
                    .for_each(|(folder, edges)| found.extend(self.circles(&name, &folder, edges)));
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The uses in a folder that lead back to where they come from.
    fn circles(&self, name: &str, folder: &[String], mut edges: Edges) -> Vec<Violation> {
        let folder = folder.join("/");
        edges.retain(|(from, to), _| {
            let fits = |known: &str, is: &str| known == "*" || known == is;
            !self.known_circles.iter().any(|[a_crate, a_folder, a, b]| {
                (*a_crate, *a_folder) == (name, folder.as_str()) && fits(a, from) && fits(b, to)
            })
        });
        let leads_to = |start: &str, goal: &str| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![start.to_owned()]);
            while let Some(at) = next.pop() {
                if at == goal {
                    return true;
                }
                if seen.insert(at.clone()) {
                    next.extend(edges.keys().filter(|(from, _)| *from == at).map(|(_, to)| to.clone()));
                }
            }
            false
        };
        let in_circle = edges.iter().filter(|((from, to), _)| leads_to(to, from));
        let violation = |((from, to), (file, line)): (&(String, String), &(PathBuf, usize))| Violation {
            file: file.clone(),
            line: *line,
            rule: format!("{from} uses {to}, which leads back to {from}: files of a folder form no circle"),
        };
        in_circle.map(violation).collect()
    }
}

fn row(rows: &'static [Row], name: &str) -> Option<&'static [&'static str]> {
    rows.iter().find(|(other, _)| *other == name).map(|(_, may_use)| *may_use)
}

fn refusal(name: &str, other: &str, may_use: &[&str]) -> String {
    let may_use = if may_use.is_empty() { "nothing here".to_owned() } else { may_use.join(", ") };
    format!("{name} may not use {other}; it uses {may_use}")
}

fn of_modules(rows: &'static [Row], edges: Option<&Edges>) -> Vec<Violation> {
    let mut found = Vec::new();
    for ((from, to), (file, line)) in edges.into_iter().flatten() {
        if let Some(may_use) = row(rows, from).filter(|may_use| !may_use.contains(&to.as_str())) {
            found.push(Violation { file: file.clone(), line: *line, rule: refusal(from, to, may_use) });
        }
    }
    found
}

/// Modules of a crate that stand in no row.
fn unlisted(rows: &'static [Row], sources: &[Source]) -> Vec<Violation> {
    let tops = sources.iter().filter_map(|source| Some((source.module.first()?, source)));
    let unlisted = tops.filter(|(top, _)| row(rows, top).is_none()).map(|(top, source)| Violation {
        file: source.file.clone(),
        line: 1,
        rule: format!("{top} stands in no row of LAYERS"),
    });
    unlisted.collect()
}

/// The crate that a path begins with, if that is another one of the workspace.
fn other_crate(first: &str, own: &str) -> Option<String> {
    let name = first.strip_prefix("foretoken_")?.replace('_', "-");
    (name != own).then_some(name)
}

/// The crates by name, with the folders of their sources.
fn crates(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = vec![("shell".to_owned(), PathBuf::from(SHELL))];
    for name in names(&root.join(CRATES))? {
        let folder = Path::new(CRATES).join(&name).join("src");
        if root.join(&folder).is_dir() {
            found.push((name, folder));
        }
    }
    Ok(found)
}

/// What is in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        names.push(entry.map_err(Error::file(folder))?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The sources in a folder that are not for tests alone.
fn sources(root: &Path, folder: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    read(root, folder, &[], &mut sources)?;
    let tests: Vec<Vec<String>> = sources
        .iter()
        .flat_map(|source| {
            source.paths.test_modules.iter().map(|name| [&source.module[..], slice::from_ref(name)].concat())
        })
        .collect();
    sources.retain(|source| !tests.iter().any(|test| source.module.starts_with(test)));
    Ok(sources)
}

fn read(root: &Path, folder: &Path, module: &[String], sources: &mut Vec<Source>) -> Result<()> {
    for name in names(&root.join(folder))? {
        let file = folder.join(&name);
        if root.join(&file).is_dir() {
            read(root, &file, &[module, &[name]].concat(), sources)?;
        } else if let Some(stem) = name.strip_suffix(".rs") {
            let is_folder_itself = matches!(stem, "mod" | "lib" | "main");
            let own = if is_folder_itself { vec![] } else { vec![stem.to_owned()] };
            let path = root.join(&file);
            let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
            sources.push(Source { file, module: [module, &own].concat(), paths: Paths::of(&text) });
        }
    }
    Ok(())
}

/// The modules of a crate, and what each of them has from its children under names of its own.
struct Tree {
    /// As it is named from outside.
    own: String,
    modules: BTreeSet<Vec<String>>,
    renamed: BTreeMap<(Vec<String>, String), String>,
}

impl Tree {
    fn of(name: &str, sources: &[Source]) -> Self {
        let own = format!("foretoken_{}", name.replace('-', "_"));
        let ancestors =
            |module: &[String]| (0..=module.len()).map(|end| module[..end].to_vec()).collect::<Vec<_>>();
        let modules = sources.iter().flat_map(|source| ancestors(&source.module)).collect();
        let mut tree = Self { own, modules, renamed: BTreeMap::new() };
        for source in sources {
            for named in &source.paths.named {
                let child = [&source.module[..], &named.path[..1]].concat();
                let names_child = tree.modules.contains(&child);
                let path = tree
                    .resolve(source, named)
                    .or_else(|| names_child.then(|| [&source.module[..], &named.path[..]].concat()));
                if let Some(path) = path.filter(|path| path.len() > source.module.len() + 1)
                    && path.starts_with(&source.module)
                {
                    let child = path[source.module.len()].clone();
                    tree.renamed.insert((source.module.clone(), named.name.clone()), child);
                }
            }
        }
        tree
    }

    /// A path from the root of the crate on, if it begins at the root or relative to its module.
    fn resolve(&self, source: &Source, named: &Named) -> Option<Vec<String>> {
        let mut base = match named.path[0].as_str() {
            "crate" => Vec::new(),
            first if first == self.own => Vec::new(),
            "self" | "super" => source.module.clone(),
            _ => return None,
        };
        let ups = named.path.iter().take_while(|word| *word == "super").count();
        base.truncate(base.len().checked_sub(ups)?);
        Some([&base[..], &named.path[ups.max(1)..]].concat())
    }

    /// The folder in which a path leads from one module to another, and the two.
    fn edge(&self, source: &Source, named: &Named) -> Option<(Vec<String>, String, String)> {
        let target = self.resolve(source, named)?;
        let common = target.iter().zip(&source.module).take_while(|(a, b)| a == b).count();
        let (folder, from) = (source.module[..common].to_vec(), source.module.get(common)?);
        let to = target.get(common)?;
        let is_module = self.modules.contains(&[&folder[..], slice::from_ref(to)].concat());
        let to = if is_module { to } else { self.renamed.get(&(folder.clone(), to.clone()))? };
        (to != from).then(|| (folder, from.clone(), to.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Layers = Layers {
        crates: &[("shell", &["low"]), ("low", &[])],
        modules: &[("low", &[("base", &[]), ("upper", &["base"])])],
        lines: &["low"],
        known_circles: &[["low", "upper", "known", "other"]],
    };

    /// The violations of a workspace of these files, each as `file:line: rule`.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let always = [
            ("src-tauri/src/main.rs", "mod a;"),
            ("src-tauri/crates/low/src/lib.rs", "mod base; mod upper;"),
        ];
        for (file, text) in always.iter().chain(files) {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = SMALL.violations(root.path()).unwrap();
        found
            .iter()
            .map(|Violation { file, line, rule }| {
                format!("{}:{line}: {rule}", file.strip_prefix("src-tauri").unwrap().display())
            })
            .collect()
    }

    #[test]
    fn the_sources_keep_to_the_layers() {
        let found = LAYERS.violations(Workspace::locate().root()).unwrap();
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn what_a_row_allows_and_what_tests_use_passes() {
        let base = "pub struct Thing;\n#[cfg(test)]\nmod tests { use crate::upper::Other; }";
        let upper = "use crate::base::Thing;\nuse std::fmt;\n#[cfg(test)]\nmod checks;";
        let files = [
            ("src-tauri/src/a.rs", "use foretoken_low::Thing;"),
            ("src-tauri/crates/low/src/base.rs", base),
            ("src-tauri/crates/low/src/upper/mod.rs", upper),
            ("src-tauri/crates/low/src/upper/checks.rs", "use foretoken_high::Anything;"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_use_that_no_row_allows_is_named_with_file_line_and_rule() {
        let files = [
            ("src-tauri/crates/low/src/base.rs", "\nfn f() -> super::upper::Other { todo!() }"),
            ("src-tauri/crates/low/src/upper.rs", "use foretoken_shell::App;"),
            ("src-tauri/crates/low/src/third.rs", ""),
            ("src-tauri/crates/new/src/lib.rs", ""),
        ];
        let expected = [
            "crates/low/src/base.rs:2: base may not use upper; it uses nothing here",
            "crates/low/src/third.rs:1: third stands in no row of LAYERS",
            "crates/low/src/upper.rs:1: low may not use shell; it uses nothing here",
            "crates/new/src/lib.rs:1: the crate new stands in no row of LAYERS",
        ];
        assert_eq!(found(&files), expected);
        let renamed = [
            ("src-tauri/crates/low/src/lib.rs", "mod base; mod upper;\npub use upper::Other as Another;"),
            ("src-tauri/crates/low/src/upper.rs", "pub struct Other;"),
            ("src-tauri/crates/low/src/base.rs", "use crate::Another;"),
        ];
        assert_eq!(
            found(&renamed),
            ["crates/low/src/base.rs:1: base may not use upper; it uses nothing here"]
        );
    }

    #[test]
    fn files_of_a_folder_that_use_each_other_in_a_circle_are_named_unless_they_are_known() {
        let upper = |name: &str| format!("src-tauri/crates/low/src/upper/{name}.rs");
        let (module, a, b, c) = (upper("mod"), upper("a"), upper("b"), upper("c"));
        let (known, other) = (upper("known"), upper("other"));
        let files = [
            (module.as_str(), "mod a; mod b; mod c; mod known; mod other;\npub(crate) use c::Third;"),
            (a.as_str(), "use super::b::Second;"),
            (b.as_str(), "// Around.\nuse super::Third;"),
            (c.as_str(), "use crate::upper::a::First;"),
            (known.as_str(), "use super::other::Other;"),
            (other.as_str(), "use super::known::Known;\nuse super::a::First;"),
        ];
        let rule = |from, to| {
            format!("{from} uses {to}, which leads back to {from}: files of a folder form no circle")
        };
        let expected = [
            format!("crates/low/src/upper/a.rs:1: {}", rule("a", "b")),
            format!("crates/low/src/upper/b.rs:2: {}", rule("b", "c")),
            format!("crates/low/src/upper/c.rs:1: {}", rule("c", "a")),
        ];
        assert_eq!(found(&files), expected);
    }
}
