//! Servers out of the files of Claude Desktop, LM Studio, Cursor and Visual Studio Code, which are written in nearly
//! the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use super::placeholders::{self, Placeholder};
use super::{ConfigurationError, Secret, ServerEntry, Transport, jsonc, slug};

/// The longest file that is read, in bytes.
pub const LARGEST_FILE: usize = 1 << 20;
/// The most servers that are read from a file.
pub const MOST_SERVERS: usize = 64;

/// What a file of another program holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The servers that can be used, in the order of the file.
    pub servers: Vec<ImportedServer>,
    /// The others.
    pub left_out: Vec<LeftOut>,
    /// What the file holds beside servers.
    pub unknown: Unknown,
}

/// A server out of a file. Whoever takes it over leaves it off until the person switches it on.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedServer {
    /// The server. Its slug is its own within the file; beside other servers it may need another.
    pub entry: ServerEntry,
    /// The values of its environment variables or headers, by name.
    pub values: BTreeMap<String, Secret>,
    /// What the other program would have filled in.
    pub placeholders: Vec<Placeholder>,
    /// What its entry holds that means nothing here.
    pub unknown: Unknown,
}

/// A server that cannot be used as the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// What the file calls it.
    pub name: String,
    /// Why.
    pub reason: ConfigurationError,
}

/// Parts of a file that mean nothing here, kept as they are. They may hold secrets: `Debug` writes their keys alone.
#[derive(Clone, Default, PartialEq)]
pub struct Unknown(Map<String, Value>);

impl Unknown {
    /// Their keys, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// All of it, for an export.
    pub fn reveal(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys()).finish()
    }
}

/// Reads the text of a file: an object of servers by name, alone or as `mcpServers`, as `servers`, or as `servers`
/// within `mcp`; comments and commas behind last entries are allowed. Nothing is filled in from the environment of this
/// app, and nothing runs.
pub fn read(text: &str) -> Result<Imported, ConfigurationError> {
    if text.len() > LARGEST_FILE {
        return Err(ConfigurationError::FileTooLarge { bytes: text.len() });
    }
    let (servers, unknown) = servers_of(parse(text)?)?;
    if servers.len() > MOST_SERVERS {
        return Err(ConfigurationError::TooManyServers { count: servers.len() });
    }
    let mut imported = Imported { servers: Vec::new(), left_out: Vec::new(), unknown: Unknown(unknown) };
    let mut slugs = BTreeSet::new();
    for (name, entry) in servers {
        match server(&name, entry, &slugs) {
            Ok(server) => {
                slugs.insert(server.entry.slug.clone());
                imported.servers.push(server);
            }
            Err(reason) => imported.left_out.push(LeftOut { name, reason }),
        }
    }
    Ok(imported)
}

fn parse(text: &str) -> Result<Map<String, Value>, ConfigurationError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = jsonc::to_json(text).map_err(|open| ConfigurationError::NotJson {
        reason: format!("the comment that begins on line {} has no end", open.line),
    })?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(file)) => Ok(file),
        Ok(_) => Err(ConfigurationError::NoServers),
        Err(error) => Err(ConfigurationError::NotJson { reason: error.to_string() }),
    }
}

type Object = Map<String, Value>;

/// The servers of a file by name, and what else it holds.
fn servers_of(mut file: Object) -> Result<(Object, Object), ConfigurationError> {
    for wrapper in ["mcpServers", "servers"] {
        // A server may be called so, too.
        if file.get(wrapper).is_some_and(|inner| inner.is_object() && !is_server(inner)) {
            return Ok((object(file.shift_remove(wrapper)), file));
        }
    }
    if file.get("mcp").is_some_and(|settings| settings["servers"].is_object()) {
        let mut settings = object(file.shift_remove("mcp"));
        let servers = object(settings.shift_remove("servers"));
        if !settings.is_empty() {
            file.insert("mcp".into(), settings.into());
        }
        return Ok((servers, file));
    }
    if file.get("command").or(file.get("url")).is_some_and(Value::is_string) {
        return Err(ConfigurationError::ServerUnnamed);
    }
    // Without a wrapper only what looks like a server is meant to be one.
    let (servers, unknown): (Object, Object) = file.into_iter().partition(|(_, entry)| is_server(entry));
    if servers.is_empty() { Err(ConfigurationError::NoServers) } else { Ok((servers, unknown)) }
}

fn is_server(entry: &Value) -> bool {
    ["command", "url", "serverUrl"].iter().any(|&key| entry[key].is_string())
}

fn object(value: Option<Value>) -> Object {
    match value {
        Some(Value::Object(object)) => object,
        _ => Object::new(),
    }
}

/// The server that an entry describes, with a slug beside these.
fn server(name: &str, entry: Value, slugs: &BTreeSet<String>) -> Result<ImportedServer, ConfigurationError> {
    let found = kind(&entry);
    let Value::Object(mut entry) = entry else {
        return Err(wrong(name, "an object", found));
    };
    let mut placeholders = Vec::new();
    let (transport, values) = match speaks(&mut entry)? {
        Speaks::Program => program(&mut entry, &mut placeholders)?,
        Speaks::Http => http(&mut entry, &mut placeholders)?,
    };
    let server = ServerEntry { slug: slug(name, slugs), name: name.into(), transport };
    server.validate()?;
    for (name, value) in &values {
        server.transport.check_value(name, value)?;
    }
    Ok(ImportedServer { entry: server, values, placeholders, unknown: Unknown(entry) })
}

enum Speaks {
    Program,
    Http,
}

/// How a server is spoken to: by its type, where it has one, and by what else there is.
fn speaks(entry: &mut Object) -> Result<Speaks, ConfigurationError> {
    let kind = taken(entry, "type", text)?;
    let is_there = |key: &str| entry.get(key).is_some_and(|value| !value.is_null());
    let command = is_there("command");
    let address = is_there("url") || is_there("serverUrl");
    match kind.as_deref() {
        Some("sse") => Err(ConfigurationError::TransportOld),
        Some("stdio") if command => Ok(Speaks::Program),
        Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") if address => {
            Ok(Speaks::Http)
        }
        Some("stdio" | "http" | "streamable-http" | "streamableHttp" | "streamable_http") => {
            Err(ConfigurationError::TransportMissing)
        }
        Some(kind) => Err(ConfigurationError::TransportUnknown { kind: kind.into() }),
        None => match (command, address) {
            (true, false) => Ok(Speaks::Program),
            (false, true) => Ok(Speaks::Http),
            (true, true) => Err(ConfigurationError::TransportTwice),
            (false, false) => Err(ConfigurationError::TransportMissing),
        },
    }
}

type Spoken = (Transport, BTreeMap<String, Secret>);

fn program(entry: &mut Object, placeholders: &mut Vec<Placeholder>) -> Result<Spoken, ConfigurationError> {
    let command = taken(entry, "command", text)?.unwrap_or_default();
    let arguments = taken(entry, "args", texts)?.unwrap_or_default();
    let folder = taken(entry, "cwd", text)?.filter(|folder| !folder.is_empty());
    let values = taken(entry, "env", pairs)?.unwrap_or_default();
    filled("command", &command)?;
    filled("cwd", folder.as_deref().unwrap_or_default())?;
    for (place, argument) in arguments.iter().enumerate() {
        note(&format!("args[{place}]"), argument, placeholders);
    }
    for (name, value) in &values {
        note(&format!("env.{name}"), value.reveal(), placeholders);
    }
    let environment = values.keys().cloned().collect();
    Ok((Transport::Program { command, arguments, environment, folder: folder.map(Into::into) }, values))
}

fn http(entry: &mut Object, placeholders: &mut Vec<Placeholder>) -> Result<Spoken, ConfigurationError> {
    let url = taken(entry, "url", text)?;
    let address = if url.is_some() { url } else { taken(entry, "serverUrl", text)? }.unwrap_or_default();
    let values = taken(entry, "headers", pairs)?.unwrap_or_default();
    filled("url", &address)?;
    for (name, value) in &values {
        note(&format!("headers.{name}"), value.reveal(), placeholders);
    }
    Ok((Transport::Http { address, headers: values.keys().cloned().collect() }, values))
}

/// Says so if a part that must be whole has something in it that another program would fill in.
fn filled(key: &'static str, text: &str) -> Result<(), ConfigurationError> {
    match placeholders::in_text(text).next() {
        Some(placeholder) => Err(ConfigurationError::Unfilled { key, placeholder }),
        None => Ok(()),
    }
}

fn note(at: &str, text: &str, placeholders: &mut Vec<Placeholder>) {
    placeholders.extend(placeholders::in_text(text).map(|text| Placeholder { at: at.into(), text }));
}

/// Takes a part out of an entry; `null` is how some writers leave it out.
fn taken<T>(
    entry: &mut Object,
    key: &str,
    read: impl Fn(&str, Value) -> Result<T, ConfigurationError>,
) -> Result<Option<T>, ConfigurationError> {
    entry.shift_remove(key).filter(|value| !value.is_null()).map(|value| read(key, value)).transpose()
}

fn text(key: &str, value: Value) -> Result<String, ConfigurationError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(wrong(key, "a text", kind(&other))),
    }
}

fn texts(key: &str, value: Value) -> Result<Vec<String>, ConfigurationError> {
    let Value::Array(values) = value else { return Err(wrong(key, "a list of texts", kind(&value))) };
    let text = |(place, value)| plain(&format!("{key}[{place}]"), value);
    values.into_iter().enumerate().map(text).collect()
}

fn pairs(key: &str, value: Value) -> Result<BTreeMap<String, Secret>, ConfigurationError> {
    let Value::Object(pairs) = value else { return Err(wrong(key, "an object of texts", kind(&value))) };
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_null());
    pairs
        .map(|(name, value)| Ok((name.clone(), Secret::new(plain(&format!("{key}.{name}"), value)?))))
        .collect()
}

/// A text, or a number or a truth value as the text that it is written as: people leave the quotes out.
fn plain(key: &str, value: Value) -> Result<String, ConfigurationError> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        other => Err(wrong(key, "a text", kind(&other))),
    }
}

fn wrong(key: &str, expected: &'static str, found: &'static str) -> ConfigurationError {
    ConfigurationError::WrongType { key: key.into(), expected, found }
}

/// What a JSON value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    fn one(entry: &str) -> ImportedServer {
        let mut imported = read(&format!("{{\"mcpServers\": {{\"One\": {entry}}}}}")).unwrap();
        assert_eq!((imported.servers.len(), &imported.left_out[..]), (1, &[][..]), "{entry}");
        imported.servers.remove(0)
    }

    fn values(server: &ImportedServer) -> Vec<(&str, &str)> {
        server.values.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect()
    }

    #[test]
    fn a_file_of_claude_desktop_is_read() {
        let imported = read(
            r#"{
              "globalShortcut": "",
              "mcpServers": {
                "File System": {
                  "command": "npx",
                  "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/anna/Notes"]
                },
                "github": {
                  "command": "docker",
                  "args": ["run", "-i", "--rm", "ghcr.io/github/github-mcp-server"],
                  "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "hunter2"}
                }
              }
            }"#,
        )
        .unwrap();
        let [files, github] = &imported.servers[..] else { panic!("{imported:?}") };
        assert_eq!((files.entry.slug.as_str(), files.entry.name.as_str()), ("file-system", "File System"));
        let Transport::Program { command, arguments, environment, folder } = &github.entry.transport else {
            panic!("{github:?}")
        };
        assert_eq!((command.as_str(), arguments.len(), folder), ("docker", 4, &None));
        assert_eq!(environment, &["GITHUB_PERSONAL_ACCESS_TOKEN"]);
        assert_eq!(values(github), [("GITHUB_PERSONAL_ACCESS_TOKEN", "hunter2")]);
        assert_eq!(imported.unknown.keys().collect::<Vec<_>>(), ["globalShortcut"]);
        assert!(imported.left_out.is_empty());
    }

    #[test]
    fn a_file_of_visual_studio_code_is_read_with_its_comments() {
        let imported = read(
            r#"// servers of mine
            {
              "inputs": [{"type": "promptString", "id": "key", "password": true}],
              "servers": {
                "search": {
                  "type": "http", /* remote */
                  "url": "https://example.org/mcp",
                  "headers": {"Authorization": "Bearer ${input:key}", "X-Plain": "1"},
                },
                "local": {
                  "type": "stdio", "command": "uvx", "args": ["server", "--root=${workspaceFolder}"],
                  "env": {"A": "${env:HOME}", "B": "b"}, "cwd": "/tmp", "envFile": "/home/anna/.env",
                },
              },
            }"#,
        )
        .unwrap();
        let [search, local] = &imported.servers[..] else { panic!("{imported:?}") };
        let told = |server: &ImportedServer| {
            server.placeholders.iter().map(|one| format!("{} {}", one.at, one.text)).collect::<Vec<_>>()
        };
        assert_eq!(
            search.entry.transport,
            Transport::Http {
                address: "https://example.org/mcp".into(),
                headers: vec!["Authorization".into(), "X-Plain".into()]
            }
        );
        assert_eq!(told(search), ["headers.Authorization ${input:key}"]);
        assert_eq!(told(local), ["args[1] ${workspaceFolder}", "env.A ${env:HOME}"]);
        // It is not looked up in this app's own environment.
        assert_eq!(values(local), [("A", "${env:HOME}"), ("B", "b")]);
        assert_eq!(local.unknown.keys().collect::<Vec<_>>(), ["envFile"]);
        assert_eq!(local.unknown.reveal()["envFile"], "/home/anna/.env");
        let Transport::Program { folder, .. } = &local.entry.transport else { panic!("{local:?}") };
        assert_eq!(folder, &Some(PathBuf::from("/tmp")));
    }

    #[test]
    fn the_wrapper_may_be_left_out_or_be_another() {
        let server = r#""time": {"command": "uvx", "args": ["mcp-server-time"]}"#;
        let bare = read(&format!("{{{server}, \"$schema\": \"x\", \"preferences\": {{}}}}")).unwrap();
        assert_eq!(bare.unknown.keys().collect::<Vec<_>>(), ["$schema", "preferences"]);
        for wrapped in ["mcpServers", "servers"] {
            let imported = read(&format!("\u{feff}{{\"{wrapped}\": {{{server}}}}}")).unwrap();
            assert_eq!(imported.servers, bare.servers);
        }
        let settings =
            read(&format!("{{\"mcp\": {{\"servers\": {{{server}}}, \"x\": 1}}, \"y\": 2}}")).unwrap();
        assert_eq!(settings.servers, bare.servers);
        assert_eq!(settings.unknown.keys().collect::<Vec<_>>(), ["y", "mcp"]);
        let called =
            read(r#"{"servers": {"command": "a"}, "mcpServers": {"url": "https://a.org"}}"#).unwrap();
        assert_eq!(called.servers.len(), 2);
        assert_eq!(read(r#"{"mcpServers": {}}"#).unwrap().servers, []);
    }

    #[test]
    fn entries_that_cannot_be_used_are_named_and_the_others_come_in() {
        let imported = read(
            r#"{"mcpServers": {
              "a": 5,
              "b": {},
              "c": {"command": "x", "url": "https://example.org"},
              "d": {"type": "sse", "url": "https://example.org/sse"},
              "e": {"type": "ws", "url": "wss://example.org"},
              "f": {"type": "stdio", "url": "https://example.org"},
              "g": {"command": ["npx", "-y"]},
              "h": {"command": "npx", "args": "-y x"},
              "i": {"command": "npx", "args": ["-y", ["x"]]},
              "j": {"command": "npx", "env": {"A": {"B": "hunter2"}}},
              "k": {"command": "${workspaceFolder}/run"},
              "l": {"command": "npx", "cwd": "${userHome}"},
              "m": {"url": "https://${input:host}/mcp"},
              "n": {"url": "http://example.org/mcp"},
              "o": {"url": "https://u:hunter2@example.org/mcp"},
              "p": {"url": "https://example.org", "headers": {"A": "hunter2\nB: c"}},
              "q": {"command": "npx", "env": {"A": "hunter2\u0000"}},
              "r": {"command": ""},
              "\u202es": {"command": "npx"},
              "t": {"command": "npx"}
            }}"#,
        )
        .unwrap();
        assert_eq!(
            imported.servers.iter().map(|server| server.entry.name.as_str()).collect::<Vec<_>>(),
            ["t"]
        );
        let told: Vec<_> =
            imported.left_out.iter().map(|one| format!("{}: {}", one.name, one.reason)).collect();
        assert_eq!(
            told,
            [
                "a: \"a\" is a number, not an object.",
                "b: Neither a command nor an address is there.",
                "c: Both a command and an address are there.",
                "d: This server is reached by HTTP+SSE, which is no longer in use.",
                "e: The type \"ws\" is not known.",
                "f: Neither a command nor an address is there.",
                "g: \"command\" is a list, not a text.",
                "h: \"args\" is a text, not a list of texts.",
                "i: \"args[1]\" is a list, not a text.",
                "j: \"env.A\" is an object, not a text.",
                "k: \"command\" has ${workspaceFolder} in it, which is not filled in here.",
                "l: \"cwd\" has ${userHome} in it, which is not filled in here.",
                "m: \"url\" has ${input:host} in it, which is not filled in here.",
                "n: What is sent to \"example.org\" would not be encrypted.",
                "o: The address of \"example.org\" has a user or a password in it.",
                "p: The value of the header \"A\" cannot be sent.",
                "q: The value of the environment variable \"A\" has a NUL character in it.",
                "r: No program is named.",
                "\u{202e}s: A server cannot be called \"\\u{202e}s\".",
            ]
        );
        assert!(!format!("{imported:?}").contains("hunter2"));
        for LeftOut { reason, .. } in &imported.left_out {
            assert!(reason.code().starts_with("server_") && reason.hint().ends_with('.'), "{reason:?}");
        }
    }

    #[test]
    fn what_people_leave_out_or_write_otherwise_is_understood() {
        let server =
            one(r#"{"command": "a", "args": [8080, true], "env": {"A": 1, "B": false, "C": null, "D": ""}}"#);
        let Transport::Program { arguments, environment, .. } = &server.entry.transport else { panic!() };
        assert_eq!(
            (&arguments[..], &environment[..]),
            (&["8080", "true"].map(String::from)[..], &["A", "B", "D"].map(String::from)[..])
        );
        assert_eq!(values(&server), [("A", "1"), ("B", "false"), ("D", "")]);
        let nulls =
            one(r#"{"command": "a", "args": null, "env": null, "cwd": "", "url": null, "type": null}"#);
        assert_eq!(nulls.entry.transport, one(r#"{"command": "a"}"#).entry.transport);
        let address = |entry| one(entry).entry.transport;
        assert_eq!(
            address(r#"{"serverUrl": "https://a.org"}"#),
            address(r#"{"url": "https://a.org", "type": "streamable-http"}"#)
        );
        let both = one(r#"{"type": "http", "url": "https://a.org", "command": "x"}"#);
        assert_eq!(both.unknown.keys().collect::<Vec<_>>(), ["command"]);
    }

    #[test]
    fn names_that_differ_only_in_their_characters_get_slugs_of_their_own() {
        let imported = read(r#"{"a b": {"command": "x"}, "A.B": {"command": "x"}}"#).unwrap();
        assert_eq!(imported.servers[0].entry.slug, "a-b");
        assert_eq!(imported.servers[1].entry.slug, "a-b-2");
    }

    #[test]
    fn a_file_that_holds_no_servers_says_why() {
        let many = |count: usize| {
            let servers: Vec<_> = (0..count).map(|i| format!("\"{i}\": {{\"command\": \"x\"}}")).collect();
            format!("{{{}}}", servers.join(","))
        };
        assert_eq!(read(&many(64)).unwrap().servers.len(), 64);
        for (text, told) in [
            ("".into(), "This file is no JSON: EOF while parsing a value at line 1 column 0."),
            ("{\n  \"a\": }".into(), "This file is no JSON: expected value at line 2 column 8."),
            ("{\n/* a".into(), "This file is no JSON: the comment that begins on line 2 has no end."),
            ("[]".into(), "No servers are named in this file."),
            ("{}".into(), "No servers are named in this file."),
            (r#"{"theme": "dark", "x": {}}"#.into(), "No servers are named in this file."),
            (r#"{"command": "npx", "args": []}"#.into(), "This is a server without a name."),
            (many(65), "This file names 65 servers, more than the 64 that are read."),
            (" ".repeat((1 << 20) + 1), "This file has 1048577 bytes, more than the 1 MB that are read."),
        ] {
            let error = read(&text).unwrap_err();
            assert_eq!(error.to_string(), told);
            assert!(error.code().starts_with("server_") && error.hint().ends_with('.'), "{error:?}");
        }
        assert!(read(&"[".repeat(1 << 20)).is_err());
    }

    proptest! {
        #[test]
        fn no_value_is_shown(value in "[a-z]{12}", place in 0..6_usize) {
            let entry = [
                format!(r#"{{"command": "x", "env": {{"A": "{value}"}}}}"#),
                format!(r#"{{"command": "x", "env": {{"A": ["{value}"]}}}}"#),
                format!(r#"{{"url": "https://a.org", "headers": {{"A": "{value}"}}}}"#),
                format!(r#"{{"url": "https://a.org", "headers": {{"A": "{value}\u0001"}}}}"#),
                format!(r#"{{"url": "https://a.org", "auth": {{"CLIENT_SECRET": "{value}"}}}}"#),
                format!(r#"{{"command": "x", "env": {{"A": "${{B:-{value}}}"}}}}"#),
            ][place].clone();
            let imported = read(&format!("{{\"mcpServers\": {{\"a\": {entry}}}}}")).unwrap();
            prop_assert_eq!(imported.servers.len() + imported.left_out.len(), 1);
            let errors: String = imported.left_out.iter().map(|one| one.reason.to_string()).collect();
            let shown = format!("{imported:?}{errors}");
            prop_assert!(!shown.contains(&value));
        }

        #[test]
        fn what_comes_in_can_be_used(entries in prop::collection::vec(entries(), 0..6)) {
            let named = |(i, entry)| (format!("{i}?"), entry);
            let servers: Object = entries.into_iter().enumerate().map(named).collect();
            let count = servers.len();
            let imported = read(&serde_json::json!({ "mcpServers": servers }).to_string()).unwrap();
            prop_assert_eq!(imported.servers.len() + imported.left_out.len(), count);
            for server in imported.servers {
                prop_assert_eq!(server.entry.validate(), Ok(()));
                let (Transport::Program { environment: names, .. } | Transport::Http { headers: names, .. }) =
                    server.entry.transport;
                prop_assert!(names.iter().eq(server.values.keys()));
            }
        }
    }

    /// Entries that are nearly right.
    fn entries() -> impl Strategy<Value = Value> {
        let keys: &'static [&str] =
            &["command", "args", "env", "cwd", "type", "url", "serverUrl", "headers", "x"];
        let texts: &'static [&str] =
            &["", "a", "/a", "stdio", "http", "https://a.org", "a\0", "${env:A}", "A="];
        let text = prop::sample::select(texts).prop_map(Value::from);
        let value = prop_oneof![
            6 => text.clone(),
            1 => Just(Value::Null),
            1 => Just(Value::from(1)),
            2 => prop::collection::vec(text.clone(), 0..3).prop_map(Value::from),
            4 => prop::collection::btree_map("[aAxX]{0,2}", text, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ];
        prop::collection::btree_map(prop::sample::select(keys), value, 0..4)
            .prop_map(|entry| entry.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}
