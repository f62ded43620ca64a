//! The test Hub as a program, for tests that start it beside the app.

use std::io::Read;
use std::path::PathBuf;

use clap::Parser;
use foretoken_test_hub::{Fault, Repo, Stage, TestHub, Trouble};

/// Serves folders as Hub repositories. Prints its address as one JSON line and ends when its input does.
#[derive(Debug, Parser)]
struct Arguments {
    /// A repository and the folder it serves: ORG/NAME=FOLDER.
    #[arg(required = true, value_parser = repository)]
    models: Vec<(String, PathBuf)>,
    /// The port; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Asks for this token.
    #[arg(long)]
    token: Option<String>,
    /// Sends large files at so many bytes a second and connection.
    #[arg(long)]
    rate: Option<usize>,
    /// Sends large files with a wrong bit.
    #[arg(long)]
    corrupt: bool,
}

fn repository(argument: &str) -> Result<(String, PathBuf), String> {
    match argument.split_once('=') {
        Some((id, folder)) if id.split('/').count() == 2 => Ok((id.to_owned(), folder.into())),
        _ => Err("write it as ORG/NAME=FOLDER".to_owned()),
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let mut repos = Vec::new();
    for (id, folder) in &arguments.models {
        let repo = Repo::folder(id, folder)?;
        repos.push(match &arguments.token {
            Some(token) => repo.gated(token),
            None => repo,
        });
    }
    let hub = TestHub::start_at(arguments.port, repos).await?;
    if let Some(rate) = arguments.rate {
        hub.fail(Fault::new(Stage::Content, Trouble::Slow(rate)));
    }
    if arguments.corrupt {
        hub.fail(Fault::new(Stage::Content, Trouble::Corrupt));
    }
    println!("{}", serde_json::json!({"endpoint": hub.endpoint()}));
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}
