//! A real MCP server that can misbehave on demand, for tests.

mod log;
mod server;
mod tools;
mod wire;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use clap::Parser;
use foretoken_test_mcp::Fault;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use log::Log;
use server::Server;
use wire::Output;

/// How long a server goes on that should have ended: no test leaves one behind for good.
const OVERSTAY: Duration = Duration::from_secs(1000);

/// Bytes that may wait between the library and the wire.
const BUFFER: usize = 1 << 16;

/// Serves a few tools over stdin and stdout until stdin ends.
#[derive(Debug, Parser)]
struct Arguments {
    /// What it does wrong.
    #[arg(long, value_name = "NAME")]
    fault: Option<Fault>,
    /// The file to which calls of `append`, `slow` and some faults append lines.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Speaks 2025-11-25 alone.
    #[arg(long)]
    legacy: bool,
}

#[tokio::main]
async fn main() {
    let status = match run(Arguments::parse()).await {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("foretoken-test-mcp: {error}");
            1
        }
    };
    // To return would wait for a read of stdin or a write to stdout that may never end.
    std::process::exit(status);
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let log = Log::new(arguments.log);
    // Held to the end, as it keeps SIGTERM from ending the process.
    let mut deaf = None;
    match arguments.fault {
        Some(Fault::SilentStart) => {
            tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await?;
            return Ok(());
        }
        Some(Fault::DiesAtStart) => {
            eprintln!("foretoken-test-mcp: the settings are missing");
            std::process::exit(3);
        }
        Some(Fault::Grandchild) => {
            let script = r#"trap "" TERM; sleep 1000"#;
            let child = Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn()?;
            log.line(&format!("grandchild {}", child.id()))?;
        }
        Some(Fault::FloodStderr) => {
            thread::spawn(flood_stderr);
        }
        Some(Fault::IgnoresEnd) => deaf = Some(signal(SignalKind::terminate())?),
        _ => {}
    }
    serve(arguments.fault, log, arguments.legacy).await?;
    if deaf.is_some() {
        tokio::time::sleep(OVERSTAY).await;
    }
    Ok(())
}

/// Serves until stdin has ended and the last answer is out.
async fn serve(fault: Option<Fault>, log: Log, legacy: bool) -> Result<(), ServerInitializeError> {
    let (outside, inside) = tokio::io::duplex(BUFFER);
    let (from_server, to_server) = tokio::io::split(outside);
    let (ended, ending) = watch::channel(false);
    let output = Output::new(fault);
    tokio::spawn(wire::read(to_server, legacy.then(|| output.clone()), ended));
    let written = tokio::spawn(output.carry(from_server));
    let served = match Server::new(fault, log, legacy, ending).serve(inside).await {
        Ok(service) => {
            let _ = service.waiting().await;
            Ok(())
        }
        // stdin ended before anybody said a word.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error),
    };
    let _ = written.await;
    served
}

/// Writes 1 MiB of lines ten times a second, until nobody reads them.
fn flood_stderr() {
    let lines = "foretoken-test-mcp: all is well, and I never tire of saying it\n".repeat((1 << 20) / 63);
    while std::io::stderr().write_all(lines.as_bytes()).is_ok() {
        thread::sleep(Duration::from_millis(100));
    }
}
