//! Servers of others, as people use them: the reference servers for Node, and one that is written with the SDK for
//! Python. They are installed by `cargo xtask setup`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::future::pending;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use foretoken_tools::{Connection, Errors, Launch, Limits, Outcome, Reach, ResultPart, ServerError, http};
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::process::Command;
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

#[tokio::test]
async fn a_server_is_used_by_its_address() {
    let port = free_port();
    let mut server = Command::new(command("mcp-everything"))
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let listens = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(TIMEOUT, listens).await.expect("it listens");
    let reach = |path: &str, headers: &[(&str, &str)]| Reach::Http {
        address: format!("http://127.0.0.1:{port}/{path}"),
        headers: headers.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
        client: http::client(None).unwrap(),
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
