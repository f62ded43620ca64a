//! A server as the person configured it: what starts it or where it is reached, what it and its tools are called, and
//! how the files of other programs that name servers are read. Nothing here starts or reaches anything.

mod error;
mod import;
mod jsonc;
mod names;
mod placeholders;
mod places;
mod secret;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

pub use error::ConfigurationError;
pub use import::{Imported, ImportedServer, LARGEST_FILE, LeftOut, MOST_SERVERS, Unknown, read};
pub use names::{LONGEST_SLUG, LONGEST_TOOL_NAME, slug, tool_name};
pub use placeholders::Placeholder;
pub use places::{Place, usual_places};
pub use secret::Secret;

/// The longest name of a server, in characters.
pub const LONGEST_NAME: usize = 64;

/// Headers that the MCP client writes itself, in lower case.
const RESERVED_HEADERS: [&str; 4] = ["accept", "last-event-id", "mcp-protocol-version", "mcp-session-id"];

/// A server of the person's list. Values of environment variables and of headers are not in it, only their names: the
/// shell keeps the values in the keychain, under the slug and the name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEntry {
    /// What its tools' names begin with: lower-case letters, digits and `-`, 1 to 24 of them, its own alone.
    pub slug: String,
    /// What the person calls it.
    pub name: String,
    /// How it is spoken to.
    pub transport: Transport,
}

/// How a server is spoken to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Transport {
    /// A program on this machine, by its stdin and stdout.
    Program {
        /// Its name or its absolute path.
        command: String,
        /// Its arguments, one by one; no shell reads them.
        arguments: Vec<String>,
        /// The names of the environment variables that it gets beside the usual ones.
        environment: Vec<String>,
        /// The absolute path of the folder that it starts in; without one it gets a folder of its own.
        folder: Option<PathBuf>,
    },
    /// An address that is reached by HTTP.
    Http {
        /// The address, with `https` or, on this machine, `http`.
        address: String,
        /// The names of the headers that are sent with each request.
        headers: Vec<String>,
    },
}

impl ServerEntry {
    /// Says what is wrong with the entry, the first of several. Whether its program exists is another question.
    pub fn validate(&self) -> Result<(), ConfigurationError> {
        names::check_slug(&self.slug)?;
        if self.name.trim().is_empty()
            || self.name.chars().count() > LONGEST_NAME
            || self.name.chars().any(is_hidden)
        {
            return Err(ConfigurationError::NameUnusable { name: self.name.clone() });
        }
        match &self.transport {
            Transport::Program { command, arguments, environment, folder } => {
                check_command(command, arguments)?;
                check_folder(folder.as_deref())?;
                check_variables(environment)
            }
            Transport::Http { address, headers } => {
                check_address(address)?;
                check_headers(headers)
            }
        }
    }

    /// The SHA-256, in hexadecimal digits, over what would run or be reached: the absolute path of the program
    /// (`resolved`, where it is known; the command as it is written otherwise), its arguments, the names of its
    /// variables and its folder, or the address and the names of its headers. Two entries have the same one only if
    /// all of this is the same; the order of variables and headers, which changes nothing, does not count.
    pub fn fingerprint(&self, resolved: Option<&Path>) -> String {
        let mut hash = Fields::new("foretoken server 1");
        match &self.transport {
            Transport::Program { command, arguments, environment, folder } => {
                match resolved {
                    Some(program) => hash.text("program at").bytes(program.as_os_str().as_encoded_bytes()),
                    None => hash.text("program called").text(command),
                };
                hash.list(arguments.iter().map(String::as_str));
                hash.list(environment.iter().map(String::as_str).collect::<BTreeSet<_>>());
                match folder {
                    Some(folder) => hash.text("in").bytes(folder.as_os_str().as_encoded_bytes()),
                    None => hash.text("in its own"),
                };
            }
            Transport::Http { address, headers } => {
                hash.text("address").text(address);
                let headers: BTreeSet<_> = headers.iter().map(|name| name.to_ascii_lowercase()).collect();
                hash.list(headers.iter().map(String::as_str));
            }
        }
        hash.finish()
    }
}

impl Transport {
    /// Says what is wrong with the value of a variable or of a header. The value is not told.
    pub fn check_value(&self, name: &str, value: &Secret) -> Result<(), ConfigurationError> {
        match self {
            Self::Program { .. } if value.reveal().contains('\0') => {
                Err(ConfigurationError::VariableValue { name: name.into() })
            }
            Self::Http { .. } if HeaderValue::from_str(value.reveal()).is_err() => {
                Err(ConfigurationError::HeaderValue { name: name.into() })
            }
            Self::Program { .. } | Self::Http { .. } => Ok(()),
        }
    }
}

/// A hash over fields, each with its length in front, so that no two lists of fields are the same bytes.
struct Fields(Context);

impl Fields {
    fn new(of: &str) -> Self {
        let mut fields = Self(Context::new(&SHA256));
        fields.text(of);
        fields
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.count(bytes.len());
        self.0.update(bytes);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    fn list<'a>(&mut self, texts: impl IntoIterator<Item = &'a str, IntoIter: ExactSizeIterator>) {
        let texts = texts.into_iter();
        self.count(texts.len());
        for text in texts {
            self.text(text);
        }
    }

    fn count(&mut self, count: usize) {
        self.0.update(&(count as u64).to_le_bytes());
    }

    fn finish(self) -> String {
        hexadecimal(self.0.finish().as_ref())
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a character of a name is not seen, or moves those around it.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn check_command(command: &str, arguments: &[String]) -> Result<(), ConfigurationError> {
    if command.trim().is_empty() {
        return Err(ConfigurationError::CommandEmpty);
    }
    if command.contains('\0') {
        return Err(ConfigurationError::Nul { part: "command".into() });
    }
    match arguments.iter().position(|argument| argument.contains('\0')) {
        Some(place) => Err(ConfigurationError::Nul { part: format!("argument {}", place + 1) }),
        None => Ok(()),
    }
}

fn check_folder(folder: Option<&Path>) -> Result<(), ConfigurationError> {
    let Some(folder) = folder else { return Ok(()) };
    if folder.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(ConfigurationError::Nul { part: "folder".into() });
    }
    if !folder.is_absolute() {
        return Err(ConfigurationError::FolderRelative { folder: folder.into() });
    }
    Ok(())
}

fn check_variables(names: &[String]) -> Result<(), ConfigurationError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(ConfigurationError::VariableName { name: name.clone() });
        }
        if !seen.insert(name) {
            return Err(ConfigurationError::NamedTwice { name: name.clone() });
        }
    }
    Ok(())
}

fn check_headers(names: &[String]) -> Result<(), ConfigurationError> {
    let mut seen = BTreeSet::new();
    for name in names {
        let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else {
            return Err(ConfigurationError::HeaderName { name: name.clone() });
        };
        if RESERVED_HEADERS.contains(&header.as_str()) {
            return Err(ConfigurationError::HeaderReserved { name: name.clone() });
        }
        if !seen.insert(name.to_ascii_lowercase()) {
            return Err(ConfigurationError::NamedTwice { name: name.clone() });
        }
    }
    Ok(())
}

fn check_address(address: &str) -> Result<(), ConfigurationError> {
    // The parser would pass over these, and what is shown would not be what is reached.
    if address.chars().any(|character| character.is_whitespace() || is_hidden(character)) {
        return Err(ConfigurationError::AddressUnreadable {
            reason: "a space or an invisible character is in it".into(),
        });
    }
    let url = Url::parse(address)
        .map_err(|error| ConfigurationError::AddressUnreadable { reason: error.to_string() })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ConfigurationError::AddressScheme { scheme: url.scheme().into() });
    }
    let host = url.host_str().unwrap_or_default();
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConfigurationError::AddressCredentials { host: host.into() });
    }
    if url.scheme() == "http" && !is_loopback(host) {
        return Err(ConfigurationError::AddressUnencrypted { host: host.into() });
    }
    Ok(())
}

/// Whether a host, as an address has it, can only be this machine.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    fn program(command: &str, arguments: &[&str], environment: &[&str], folder: Option<&str>) -> ServerEntry {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        entry(Transport::Program {
            command: command.into(),
            arguments: owned(arguments),
            environment: owned(environment),
            folder: folder.map(PathBuf::from),
        })
    }

    fn http(address: &str, headers: &[&str]) -> ServerEntry {
        let headers = headers.iter().map(|&header| header.to_owned()).collect();
        entry(Transport::Http { address: address.into(), headers })
    }

    fn entry(transport: Transport) -> ServerEntry {
        ServerEntry { slug: "files".into(), name: "Files".into(), transport }
    }

    #[test]
    fn an_entry_reads_back_as_it_was_written() {
        for entry in [
            program("npx", &["-y", "server"], &["TOKEN"], Some("/tmp")),
            program("uvx", &[], &[], None),
            http("https://example.org/mcp", &["Authorization"]),
        ] {
            let written = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<ServerEntry>(&written).unwrap(), entry);
        }
    }

    #[test]
    fn what_can_be_used_is_accepted() {
        for entry in [
            program("npx", &["-y", "", "a b"], &["TOKEN", "token"], Some("/tmp")),
            program("/opt/my tools/server", &[], &[], None),
            http("https://example.org/mcp?key=1", &["Authorization", "X-Key"]),
            http("http://localhost:3000/mcp", &[]),
            http("http://127.0.0.1:1/", &[]),
            http("http://127.9.9.9", &[]),
            http("http://[::1]:1/", &[]),
        ] {
            assert_eq!(entry.validate(), Ok(()), "{entry:?}");
        }
    }

    #[test]
    fn each_mistake_in_an_entry_is_named() {
        let named = |name: &str| ServerEntry { name: name.into(), ..program("npx", &[], &[], None) };
        for (entry, told) in [
            (named(" "), "A server cannot be called \" \"."),
            (named("a\u{202e}b"), "A server cannot be called \"a\\u{202e}b\"."),
            (program(" ", &[], &[], None), "No program is named."),
            (program("a\0", &[], &[], None), "The command has a NUL character in it."),
            (program("a", &["b", "c\0"], &[], None), "The argument 2 has a NUL character in it."),
            (program("a", &[], &[], Some("b")), "The folder \"b\" is not named from the root on."),
            (program("a", &[], &[], Some("/b\0")), "The folder has a NUL character in it."),
            (program("a", &[], &["A=B"], None), "No environment variable can be called \"A=B\"."),
            (program("a", &[], &[""], None), "No environment variable can be called \"\"."),
            (program("a", &[], &["A", "A"], None), "\"A\" is there twice."),
            (http("example.org/mcp", &[]), "The address cannot be read: relative URL without a base."),
            (
                http("https://exa\tmple.org", &[]),
                "The address cannot be read: a space or an invisible character is in it.",
            ),
            (http("file:///etc/passwd", &[]), "Servers are not reached by \"file\"."),
            (
                http("https://a:b@example.org", &[]),
                "The address of \"example.org\" has a user or a password in it.",
            ),
            (
                http("https://a@example.org", &[]),
                "The address of \"example.org\" has a user or a password in it.",
            ),
            (http("http://example.org", &[]), "What is sent to \"example.org\" would not be encrypted."),
            (
                http("http://localhost.example.org", &[]),
                "What is sent to \"localhost.example.org\" would not be encrypted.",
            ),
            (http("http://10.0.0.1", &[]), "What is sent to \"10.0.0.1\" would not be encrypted."),
            (http("https://example.org", &["A B"]), "No header can be called \"A B\"."),
            (
                http("https://example.org", &["Accept"]),
                "The header \"Accept\" is written by this app itself.",
            ),
            (http("https://example.org", &["X-A", "x-a"]), "\"x-a\" is there twice."),
        ] {
            let error = entry.validate().unwrap_err();
            assert_eq!(error.to_string(), told);
            assert!(error.code().starts_with("server_") && error.hint().ends_with('.'), "{error:?}");
        }
    }

    #[test]
    fn no_password_of_an_address_is_told() {
        for address in
            ["https://u:hunter2@example.org", "https://u:hunter2@exa mple", "https://u:hunter2@h:99999"]
        {
            let error = http(address, &[]).validate().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn a_fingerprint_changes_with_each_thing_that_runs() {
        let entries = [
            program("npx", &["a", "b"], &["A", "B"], Some("/c")),
            program("npy", &["a", "b"], &["A", "B"], Some("/c")),
            program("npx", &["b", "a"], &["A", "B"], Some("/c")),
            program("npx", &["ab"], &["A", "B"], Some("/c")),
            program("npx", &["a", "b", "A"], &["B"], Some("/c")),
            program("npx", &["a", "b"], &["A"], Some("/c")),
            program("npx", &["a", "b"], &["A", "B"], None),
            program("npx", &["a", "b"], &["A", "B"], Some("/d")),
            http("https://example.org", &["A"]),
            http("https://example.org/", &["A"]),
            http("https://example.org", &["B"]),
            http("https://example.org", &[]),
        ];
        let mut all: BTreeSet<_> = entries.iter().map(|entry| entry.fingerprint(None)).collect();
        assert_eq!(all.len(), entries.len());
        for resolved in ["/usr/bin/npx", "/usr/local/bin/npx", "npx"] {
            all.insert(entries[0].fingerprint(Some(Path::new(resolved))));
        }
        assert_eq!(all.len(), entries.len() + 3);
        assert!(all.iter().all(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())));
    }

    #[test]
    fn a_fingerprint_stays_where_nothing_else_runs() {
        let one = program("npx", &["a"], &["A", "B"], None);
        let mut other = program("npx", &["a"], &["B", "A"], None);
        (other.slug, other.name) = ("b".into(), "B".into());
        assert_eq!(one.fingerprint(None), other.fingerprint(None));
        let resolved = Some(Path::new("/usr/bin/npx"));
        let called = program("/usr/bin/npx", &["a"], &["A", "B"], None);
        assert_eq!(one.fingerprint(resolved), called.fingerprint(resolved));
        let (one, other) = (http("https://a.org", &["X-A", "B"]), http("https://a.org", &["b", "x-a"]));
        assert_eq!(one.fingerprint(None), other.fingerprint(resolved));
        // Permissions are stored under it: it must be the same in each build.
        assert_eq!(
            program("npx", &[], &[], None).fingerprint(resolved),
            "2fe5a52abd539f2b7020231b8d487b0719e5330223647a0a9731c8d63eab9fe1"
        );
    }

    proptest! {
        #[test]
        fn entries_have_one_fingerprint_only_if_they_run_the_same(
            one in transports(), other in transports()
        ) {
            let same = one == other;
            prop_assert_eq!(entry(one).fingerprint(None) == entry(other).fingerprint(None), same);
        }
    }

    /// Transports of few and short texts, so that many are nearly the same.
    fn transports() -> impl Strategy<Value = Transport> {
        let texts = || vec("[ab]{0,2}", 0..3);
        let sorted =
            || texts().prop_map(|texts| texts.into_iter().collect::<BTreeSet<_>>().into_iter().collect());
        prop_oneof![
            ("[ab]{0,2}", texts(), sorted(), option::of("[ab]{0,2}")).prop_map(
                |(command, arguments, environment, folder)| Transport::Program {
                    command,
                    arguments,
                    environment,
                    folder: folder.map(PathBuf::from),
                }
            ),
            ("[ab]{0,2}", sorted()).prop_map(|(address, headers)| Transport::Http { address, headers }),
        ]
    }
}
