//! The model library on the command line.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand};
use foretoken_library::{
    DownloadOptions, Hub, HubOptions, Intent, Library, LibraryError, Location, NoToken, Outcome, Progress,
    RepoId, Token, TokenSource, download,
};
use foretoken_protocol::ErrorReport;
use serde_json::json;
use tokio::sync::watch;

/// Fetches, lists and removes models.
///
/// Prints for people on a terminal, JSON lines otherwise. HF_ENDPOINT names the Hub, HF_TOKEN a token for it;
/// HTTPS_PROXY, HTTP_PROXY and NO_PROXY count.
#[derive(Debug, Parser)]
struct Arguments {
    /// The library's folder. Without it, the library is the app's.
    #[arg(long, value_name = "DIR")]
    library: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fetches a model, or goes on with fetching it. Ctrl-C stops and keeps what has arrived.
    Pull {
        /// ORGANISATION/NAME on the Hub.
        repo: RepoId,
        /// A branch, a tag or a commit.
        #[arg(long, default_value = "main")]
        revision: String,
        /// Requests at the same time.
        #[arg(long, default_value_t = DownloadOptions::default().connections)]
        connections: usize,
        /// The longest part of a file for one request, in bytes.
        #[arg(long, default_value_t = DownloadOptions::default().segment_bytes, hide = true)]
        segment_bytes: u64,
        /// How often progress is made safe, in milliseconds.
        #[arg(long, default_value_t = 2000, hide = true)]
        checkpoint_ms: u64,
    },
    /// Lists the models.
    List,
    /// Removes a model for good.
    Remove {
        /// Its name in the list.
        name: String,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", ErrorReport::from(error));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), LibraryError> {
    match arguments.command {
        Command::Pull { repo, revision, connections, segment_bytes, checkpoint_ms } => {
            let library = open(arguments.library.as_deref(), Library::create)?;
            let checkpoint = Duration::from_millis(checkpoint_ms);
            let options = DownloadOptions { connections, segment_bytes, checkpoint };
            pull(&library, &repo, &revision, &options).await
        }
        Command::List => list(&open(arguments.library.as_deref(), Library::open)?),
        Command::Remove { name } => open(arguments.library.as_deref(), Library::open)?.remove(&name),
    }
}

/// The library in a folder, or else the app's.
fn open(
    folder: Option<&Path>,
    at: impl FnOnce(&Path) -> Result<Library, LibraryError>,
) -> Result<Library, LibraryError> {
    match (folder, Location::of_this_person()) {
        (Some(folder), _) => at(folder),
        (None, Some(location)) => location.open(),
        (None, None) => Err(LibraryError::Offline { path: PathBuf::from("~") }),
    }
}

async fn pull(
    library: &Library,
    repo: &RepoId,
    revision: &str,
    options: &DownloadOptions,
) -> Result<(), LibraryError> {
    let token = std::env::var("HF_TOKEN").ok().and_then(|token| Token::new(&token));
    let tokens: Arc<dyn TokenSource> = match token {
        Some(token) => Arc::new(token),
        None => Arc::new(NoToken),
    };
    let hub = Hub::new(HubOptions::from_env(), tokens)?;
    let (intent, wanted) = watch::channel(Intent::Run);
    let (telling, progress) = watch::channel(Progress::default());
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            intent.send_replace(Intent::Pause);
        }
        std::future::pending::<()>().await;
    });
    let showing = tokio::spawn(show(progress));
    let outcome = download(&hub, library, repo, revision, options, wanted, &telling).await;
    drop(telling);
    // It ends with the sender, and its last line must be out before the next.
    let _ = showing.await;
    let terminal = std::io::stdout().is_terminal();
    match outcome? {
        Outcome::Complete { path, .. } if terminal => println!("{}", path.display()),
        Outcome::Complete { path, commit } => {
            println!("{}", json!({"type": "complete", "path": path, "commit": commit}));
        }
        Outcome::Paused | Outcome::Cancelled if terminal => println!("Stopped; the same command goes on."),
        Outcome::Paused | Outcome::Cancelled => println!("{}", json!({"type": "paused"})),
    }
    Ok(())
}

async fn show(mut progress: watch::Receiver<Progress>) {
    let terminal = std::io::stdout().is_terminal();
    while progress.changed().await.is_ok() {
        let now = progress.borrow_and_update().clone();
        let line = if terminal { format!("\r{}\x1b[K", bar(&now)) } else { json_line(&now) };
        print!("{line}");
        // Whoever reads this may have gone; the download goes on.
        let _ = std::io::stdout().flush();
    }
    if terminal {
        println!();
    }
}

fn json_line(progress: &Progress) -> String {
    format!("{}\n", json!({"type": "progress", "progress": progress}))
}

fn bar(progress: &Progress) -> String {
    const WIDTH: u64 = 30;
    let filled = (progress.bytes_done * WIDTH).checked_div(progress.bytes_total).unwrap_or(0) as usize;
    let rest = WIDTH as usize - filled;
    let mega = |bytes: f64| bytes / 1e6;
    let speed = progress.bytes_per_second.map_or(String::new(), |speed| format!(" {:.1} MB/s", mega(speed)));
    let left = progress.seconds_left.map_or(String::new(), |left| format!(" {left:.0} s left"));
    format!(
        "[{}{}] {:.0} of {:.0} MB{speed}{left}",
        "#".repeat(filled),
        " ".repeat(rest),
        mega(progress.bytes_done as f64),
        mega(progress.bytes_total as f64),
    )
}

fn list(library: &Library) -> Result<(), LibraryError> {
    let terminal = std::io::stdout().is_terminal();
    for model in library.models()? {
        if terminal {
            println!("{:>9.1} MB  {}  {:?}", model.disk_bytes as f64 / 1e6, model.name, model.state);
        } else {
            println!("{}", serde_json::to_value(&model).unwrap_or_default());
        }
    }
    Ok(())
}
