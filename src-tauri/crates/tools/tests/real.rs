//! Servers of others, as people use them: the reference servers for Node, and one that is written with the SDK for
//! Python. They are installed by `cargo xtask setup`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::future::pending;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foretoken_test_mcp::Vault;
use foretoken_tools::configuration::Secret;
use foretoken_tools::{
    Access, Connection, Errors, Launch, Limits, Outcome, Reach, ResultPart, ServerError, SignIn, SignInError,
    TokenStore, http, sign_in_client,
};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

const TIMEOUT: Duration = Duration::from_secs(120);

/// A command that the set-up has left.
fn command(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let command = root.join("target/tools/bin").join(name);
    assert!(command.is_file(), "{} is missing: run `cargo xtask setup`", command.display());
    command
}

/// Longer than Node takes to start on a busy machine.
fn limits() -> Limits {
    Limits { start: Duration::from_secs(60), ..Limits::default() }
}

async fn open(name: &str, arguments: &[&str], folder: &Path) -> (Connection, Errors) {
    let environment = ["PATH", "HOME"].into_iter().filter_map(|name| Some((name.into(), env::var_os(name)?)));
    let launch = Launch {
        program: command(name),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: BTreeMap::from_iter(environment),
        folder: folder.to_owned(),
    };
    let (questions, _) = mpsc::channel(1);
    let errors = Errors::default();
    let opening = Connection::open(Reach::Program(launch), limits(), questions, errors.clone());
    let connection = timeout(TIMEOUT, opening).await.unwrap();
    (connection.unwrap_or_else(|error| panic!("{error}: {}", errors.text())), errors)
}

async fn call(connection: &Connection, tool: &str, with: Value) -> Result<Outcome, ServerError> {
    let with: Map<String, Value> = with.as_object().cloned().unwrap();
    timeout(TIMEOUT, connection.call(tool, with, |_| {}, pending())).await.unwrap()
}

fn text(outcome: &Outcome) -> String {
    let text = |part: &ResultPart| match part {
        ResultPart::Text { text } => Some(text.clone()),
        _ => None,
    };
    outcome.parts.iter().filter_map(text).collect()
}

#[tokio::test]
async fn the_reference_server_for_everything_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let (connection, _) = open("mcp-everything", &["stdio"], folder.path()).await;
    let tools = connection.tools().await.unwrap();
    let has = |name: &str| tools.iter().any(|tool| tool.name == name);
    assert!(has("echo") && has("get-sum"), "{:?}", tools.iter().map(|tool| &tool.name).collect::<Vec<_>>());
    assert!(text(&call(&connection, "echo", json!({ "message": "owls" })).await.unwrap()).contains("owls"));
    assert!(text(&call(&connection, "get-sum", json!({ "a": 2, "b": 40 })).await.unwrap()).contains("42"));
    let refused = call(&connection, "get-sum", json!({ "a": "two" })).await;
    assert!(refused.as_ref().map_or(true, |outcome| outcome.failed), "{refused:?}");

    let picture = call(&connection, "get-tiny-image", json!({})).await.unwrap();
    assert!(picture.parts.iter().any(|part| matches!(part, ResultPart::Picture { .. })), "{picture:?}");

    let mut heard = 0;
    let with = json!({ "duration": 1, "steps": 4 }).as_object().cloned().unwrap();
    let long = connection.call("trigger-long-running-operation", with, |_| heard += 1, pending());
    assert!(!timeout(TIMEOUT, long).await.unwrap().unwrap().failed);
    assert!(heard > 0, "it tells how far it is");

    assert!(!connection.resources().await.unwrap().is_empty());
    assert!(!connection.prompts().await.unwrap().is_empty());
    connection.close().await;
}

#[tokio::test]
async fn the_reference_server_for_files_reads_what_it_may_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::write(root.join("note.txt"), "Owls see well.").unwrap();
    fs::write(outside.path().join("secret.txt"), "not yours").unwrap();
    let (connection, _) = open("mcp-filesystem", &[root.to_str().unwrap()], &root).await;
    let read = |path: PathBuf| call(&connection, "read_text_file", json!({ "path": path }));
    assert!(text(&read(root.join("note.txt")).await.unwrap()).contains("Owls see well."));
    let escaped = read(outside.path().join("secret.txt")).await;
    assert!(escaped.as_ref().map_or(true, |outcome| outcome.failed), "{escaped:?}");
    assert!(!format!("{escaped:?}").contains("not yours"));

    let tools = connection.tools().await.unwrap();
    let write = tools.iter().find(|tool| tool.name == "write_file").unwrap();
    assert_ne!(write.claims.reads_only, Some(true));
    call(&connection, "write_file", json!({ "path": root.join("new.txt"), "content": "written" }))
        .await
        .unwrap();
    assert_eq!(fs::read_to_string(root.join("new.txt")).unwrap(), "written");
    connection.close().await;
}

/// A port that nobody has just now.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

async fn listens(port: u16) {
    let listens = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(TIMEOUT, listens).await.expect("it listens");
}

/// The reference server for everything, by HTTP.
async fn everything_at(port: u16) -> Child {
    let server = Command::new(command("mcp-everything"))
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    listens(port).await;
    server
}

#[tokio::test]
async fn a_server_is_used_by_its_address() {
    let port = free_port();
    let mut server = everything_at(port).await;
    let reach = |path: &str, headers: &[(&str, &str)]| Reach::Http {
        address: format!("http://127.0.0.1:{port}/{path}"),
        headers: headers.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
        client: http::client(None).unwrap(),
        access: None,
    };
    let open = async |reach| {
        let (questions, _) = mpsc::channel(1);
        timeout(TIMEOUT, Connection::open(reach, limits(), questions, Errors::default())).await.unwrap()
    };
    let connection = open(reach("mcp", &[("X-Key", "1234")])).await.unwrap();
    assert!(text(&call(&connection, "echo", json!({ "message": "owls" })).await.unwrap()).contains("owls"));
    assert!(connection.tools().await.unwrap().len() > 5);
    connection.close().await;

    let elsewhere = open(reach("nothing-here", &[])).await.unwrap_err();
    assert!(matches!(elsewhere, ServerError::NotUnderstood { .. } | ServerError::Gone), "{elsewhere:?}");
    let header = open(reach("mcp", &[("X-Key", "12\n34")])).await.unwrap_err();
    assert!(matches!(&header, ServerError::Header { name } if name == "X-Key"), "{header:?}");
    assert!(!header.to_string().contains("34"), "{header}");

    let connection = open(reach("mcp", &[])).await.unwrap();
    server.kill().await.unwrap();
    assert!(call(&connection, "echo", json!({ "message": "owls" })).await.is_err());
    connection.close().await;
}

/// Ten lines, as people write them.
const IN_PYTHON: &str = r#"
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server

server = Server("weather")

@server.tool()
def forecast(city: str, days: int = 1) -> str:
    """The weather of a city."""
    return f"{city}: rain for {days} days"

@server.tool()
def broken() -> str:
    """Fails."""
    raise ValueError("no weather today")

server.run()
"#;

#[tokio::test]
async fn a_server_that_is_written_with_the_sdk_for_python_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("weather.py");
    fs::write(&script, IN_PYTHON).unwrap();
    let (connection, _) = open("mcp-python", &[script.to_str().unwrap()], folder.path()).await;
    let tools = connection.tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["broken", "forecast"]);
    assert_eq!(tools[1].description, "The weather of a city.");
    let told = call(&connection, "forecast", json!({ "city": "Ulm", "days": 3 })).await.unwrap();
    assert!(text(&told).contains("Ulm: rain for 3 days"), "{told:?}");
    let failed = call(&connection, "broken", json!({})).await.unwrap();
    // The SDK keeps what an exception says to itself.
    assert!(failed.failed && text(&failed).contains("broken"), "{failed:?}");
    connection.close().await;
}

/// What a keychain would keep.
#[derive(Debug, Default)]
struct Kept(Mutex<Option<Secret>>);

impl TokenStore for Kept {
    fn load(&self) -> BoxFuture<'_, Result<Option<Secret>, String>> {
        let kept = self.0.lock().unwrap().clone();
        Box::pin(async { Ok(kept) })
    }

    fn save(&self, tokens: Option<Secret>) -> BoxFuture<'_, Result<(), String>> {
        *self.0.lock().unwrap() = tokens;
        Box::pin(async { Ok(()) })
    }
}

async fn open_by(address: &str, tokens: Option<Arc<Kept>>) -> Result<Connection, ServerError> {
    let access = match tokens {
        Some(tokens) => Some(Access { client: sign_in_client(address, None).await.unwrap(), tokens }),
        None => None,
    };
    let client = http::client(None).unwrap();
    let reach = Reach::Http { address: address.into(), headers: Vec::new(), client, access };
    let (questions, _) = mpsc::channel(1);
    timeout(TIMEOUT, Connection::open(reach, limits(), questions, Errors::default())).await.unwrap()
}

async fn begin(address: &str) -> Result<SignIn, SignInError> {
    SignIn::begin(address, sign_in_client(address, None).await.unwrap()).await
}

fn pages() -> [String; 2] {
    ["<p>You are in</p>", "<p>You are not in</p>"].map(String::from)
}

/// Opens an address as a browser does, and returns what it shows in the end.
async fn browse(address: &str) -> String {
    let browser = reqwest::Client::builder().tls_backend_preconfigured(no_tls()).no_proxy().build().unwrap();
    browser.get(address).send().await.unwrap().text().await.unwrap()
}

/// All that is reached is this machine.
fn no_tls() -> rustls::ClientConfig {
    rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

#[tokio::test]
async fn whoever_has_signed_in_with_a_browser_is_let_in_and_stays_in() {
    let vault = Vault::start(3);
    let address = vault.address.as_str();
    assert!(matches!(open_by(address, None).await.unwrap_err(), ServerError::SignInNeeded));
    let kept = Arc::new(Kept::default());
    assert!(matches!(open_by(address, Some(kept.clone())).await.unwrap_err(), ServerError::SignInNeeded));

    let sign_in = begin(address).await.unwrap();
    let asked = sign_in.address().to_owned();
    assert!(asked.contains("code_challenge_method=S256") && asked.contains("resource="), "{asked}");
    assert!(!format!("{sign_in:?}").contains("code_challenge"));
    let (granted, shown) = tokio::join!(sign_in.finish(pages()), browse(&asked));
    assert_eq!(shown, "<p>You are in</p>");
    let granted = granted.unwrap();
    kept.save(Some(granted.clone())).await.unwrap();

    let connection = open_by(address, Some(kept.clone())).await.unwrap();
    assert!(text(&call(&connection, "refreshed", json!({})).await.unwrap()).contains("refreshed 0 times"));
    // What it granted does not last; what refreshes it does, and is kept anew each time.
    sleep(Duration::from_secs(4)).await;
    let told = text(&call(&connection, "refreshed", json!({})).await.unwrap());
    assert!(!told.contains("refreshed 0 times"), "{told}");
    assert_ne!(*kept.0.lock().unwrap(), Some(granted));
    connection.close().await;

    // A server that names another place to refresh at gets nothing there.
    let now = kept.0.lock().unwrap().clone().unwrap();
    let elsewhere = now.reveal().replace("/token", "/elsewhere");
    assert_ne!(elsewhere, now.reveal());
    let moved = Arc::new(Kept(Mutex::new(Some(Secret::new(elsewhere)))));
    let moved = open_by(address, Some(moved)).await.unwrap_err();
    assert!(matches!(moved, ServerError::SignInNeeded), "{moved:?}");

    let connection = open_by(address, Some(kept.clone())).await.unwrap();
    call(&connection, "throw_out", json!({})).await.unwrap();
    let thrown_out = call(&connection, "refreshed", json!({})).await.unwrap_err();
    assert!(matches!(thrown_out, ServerError::SignInNeeded), "{thrown_out:?}");
    connection.close().await;
}

#[tokio::test]
async fn a_sign_in_ends_as_the_browser_says_and_by_nobody_else() {
    let vault = Vault::start(60);
    let address = vault.address.as_str();
    vault.refuse();
    let sign_in = begin(address).await.unwrap();
    let asked = sign_in.address().to_owned();
    let back = reqwest::Url::parse(&asked).unwrap();
    let back = back.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
    let finishing = tokio::spawn(sign_in.finish(pages()));
    // Whoever does not know what the browser was sent with ends nothing.
    for other in ["", "?code=1", "?code=1&state=2", "?error=access_denied&state="] {
        assert_eq!(browse(&format!("{back}{other}")).await, "", "{other}");
    }
    assert!(!finishing.is_finished());
    assert_eq!(browse(&asked).await, "<p>You are not in</p>");
    let refused = finishing.await.unwrap().unwrap_err();
    assert!(matches!(&refused, SignInError::Failed { detail } if detail == "access_denied"), "{refused:?}");

    // One that is given up leaves no port open.
    let sign_in = begin(address).await.unwrap();
    let asked = reqwest::Url::parse(sign_in.address()).unwrap();
    let back = asked.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
    let port = reqwest::Url::parse(&back).unwrap().port().unwrap();
    let finishing = tokio::spawn(sign_in.finish(pages()));
    listens(port).await;
    finishing.abort();
    let closed = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TIMEOUT, closed).await.expect("nothing listens any more");
}

#[tokio::test]
async fn a_server_without_a_way_to_sign_in_is_told_from_others() {
    let port = free_port();
    let nobody = begin(&format!("http://127.0.0.1:{port}/mcp")).await.unwrap_err();
    assert!(matches!(nobody, SignInError::Failed { .. } | SignInError::NotOffered { .. }), "{nobody:?}");
    let mut server = everything_at(port).await;
    let open = begin(&format!("http://127.0.0.1:{port}/mcp")).await.unwrap_err();
    assert!(matches!(open, SignInError::NotOffered { .. }), "{open:?}");
    server.kill().await.unwrap();
}
