//! The model library on the command line.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand};
use foretoken_models::{
    DownloadOptions, DownloadProgress, Hub, HubOptions, Intent, Library, LibraryError, Location, NoToken,
    Outcome, RepoId, Token, TokenSource, download,
};
use foretoken_protocol::ErrorReport;
use indicatif::{DecimalBytes, HumanDuration, MultiProgress, ProgressBar, ProgressStyle};
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
    let (telling, progress) = watch::channel(DownloadProgress::default());
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
            print_line(&json!({"type": "complete", "path": path, "commit": commit}));
        }
        Outcome::Paused | Outcome::Cancelled if terminal => println!("Stopped; the same command goes on."),
        Outcome::Paused | Outcome::Cancelled => print_line(&json!({"type": "paused"})),
    }
    Ok(())
}

async fn show(mut progress: watch::Receiver<DownloadProgress>) {
    let mut bars = std::io::stdout().is_terminal().then(Bars::new);
    while progress.changed().await.is_ok() {
        let now = progress.borrow_and_update().clone();
        match &mut bars {
            Some(bars) => bars.show(&now),
            None => print_line(&json!({"type": "progress", "progress": now})),
        }
    }
    if let Some(bars) = bars {
        bars.end();
    }
}

/// Whoever reads this may have gone; the download goes on.
fn print_line(line: &serde_json::Value) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A bar for the whole download, and above it one for each file that is arriving.
struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    files: HashMap<String, ProgressBar>,
}

impl Bars {
    fn new() -> Self {
        let all = MultiProgress::new();
        let total = all.add(bar("{wide_bar} {decimal_bytes} of {decimal_total_bytes}{msg}"));
        Self { all, total, files: HashMap::new() }
    }

    fn show(&mut self, progress: &DownloadProgress) {
        for file in &progress.files {
            let arriving = file.bytes_done > 0 && !file.verified;
            if !arriving {
                if let Some(bar) = self.files.remove(&file.path) {
                    self.all.remove(&bar);
                }
                continue;
            }
            let bar = self.files.entry(file.path.clone()).or_insert_with(|| {
                let bar = bar("{wide_msg} {bar:20} {percent:>3} %").with_message(file.path.clone());
                self.all.insert_before(&self.total, bar)
            });
            bar.set_length(file.bytes_total);
            bar.set_position(file.bytes_done);
        }
        self.total.set_length(progress.bytes_total);
        self.total.set_position(progress.bytes_done);
        self.total.set_message(words(progress));
    }

    /// Leaves the terminal to what is said at the end.
    fn end(self) {
        self.files.values().chain([&self.total]).for_each(ProgressBar::finish_and_clear);
    }
}

fn bar(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the templates of this program are right");
    ProgressBar::no_length().with_style(style)
}

/// Speed, time left and what goes wrong, as far as they are known.
fn words(progress: &DownloadProgress) -> String {
    let speed = progress.bytes_per_second.map(|speed| format!(", {}/s", DecimalBytes(speed as u64)));
    let left = progress.seconds_left.and_then(|left| Duration::try_from_secs_f64(left).ok());
    let left = left.map(|left| format!(", {} left", HumanDuration(left)));
    let trouble = progress.trouble.as_ref().map(|trouble| format!(" ({})", trouble.message));
    [speed, left, trouble].into_iter().flatten().collect()
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
