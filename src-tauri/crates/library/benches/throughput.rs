//! How fast a file arrives over the loopback interface, beside `curl` with the same number of connections.
//!
//! `cargo bench -p foretoken-library --bench throughput [-- MEGABYTES [RUNS]]`. Both fetch the same file from the same
//! server, a process of its own, in turns; `curl` fetches one range for each connection. `curl` only writes; the library
//! also hashes all of it and forces it to the disk, so the time at which the files of `curl` are on the disk too is told
//! beside. With `TMPDIR` in memory (`/dev/shm`) the disk's own speed is left out. All files are removed at the end.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use foretoken_library::{DownloadOptions, Hub, HubOptions, Intent, Library, NoToken, Progress, download};
use foretoken_test_hub::{Repo, TestHub};
use tokio::sync::watch;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const MODEL: &str = "org/model";
const FILE: &str = "model.safetensors";
/// The argument that makes this program the server.
const SERVE: &str = "serve";

/// Ends with the benchmark.
struct Server {
    child: Child,
    endpoint: String,
    bytes: usize,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let (megabytes, runs) = (numbers.first().copied().unwrap_or(1024), numbers.get(1).copied().unwrap_or(5));
    if arguments.iter().any(|argument| argument == SERVE) {
        return serve(megabytes << 20).await;
    }
    let server = start(megabytes)?;
    for connections in [1, 4] {
        compare(&server, connections, runs).await?;
    }
    Ok(())
}

/// Lets both fetch the file in turns and prints the medians.
async fn compare(server: &Server, connections: usize, runs: usize) -> Result<()> {
    let (mut ours, mut curls, mut synced) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..=runs {
        let (curl, sync) = with_curl(server, connections)?;
        let our = with_library(server, connections).await?;
        // The first run only warms up.
        if run > 0 {
            println!("run {run}: curl {curl:.2} s, on the disk after {sync:.2} s, library {our:.2} s");
            curls.push(curl);
            synced.push(sync);
            ours.push(our);
        }
    }
    let (our, curl, sync) = (median(&mut ours), median(&mut curls), median(&mut synced));
    let rate = |seconds: f64| server.bytes as f64 / 1e6 / seconds;
    println!("{connections} connections, medians of {runs}: library {:.0} MB/s", rate(our));
    println!("  curl {:.0} MB/s: the library has {:.0} %", rate(curl), 100.0 * curl / our);
    println!("  curl to the disk {:.0} MB/s: the library has {:.0} %", rate(sync), 100.0 * sync / our);
    Ok(())
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

async fn serve(bytes: usize) -> Result<()> {
    let mut data = vec![0; bytes];
    fastrand::Rng::with_seed(1).fill(&mut data);
    let hub = TestHub::start([Repo::new(MODEL, [(FILE, data), ("config.json", b"{}".to_vec())])]).await?;
    println!("{}", hub.endpoint());
    std::future::pending().await
}

fn start(megabytes: usize) -> Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([&megabytes.to_string(), SERVE]);
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().ok_or("the server has no output")?;
    let mut server = Server { child, endpoint: String::new(), bytes: megabytes << 20 };
    BufReader::new(stdout).read_line(&mut server.endpoint)?;
    server.endpoint = server.endpoint.trim().to_owned();
    Ok(server)
}

/// When `curl` ends, and when what it wrote is on the disk.
fn with_curl(server: &Server, connections: usize) -> Result<(f64, f64)> {
    let folder = tempfile::tempdir()?;
    let parts: Vec<_> = (0..connections).map(|part| folder.path().join(part.to_string())).collect();
    let url = format!("{}/{MODEL}/resolve/main/{FILE}", server.endpoint);
    let mut command = Command::new("curl");
    command.args(["--parallel", "--parallel-immediate", "--no-progress-meter"]);
    for (part, path) in parts.iter().enumerate() {
        let at = |part: usize| server.bytes / connections * part;
        let last = if part + 1 == connections { server.bytes } else { at(part + 1) } - 1;
        if part > 0 {
            command.arg("--next");
        }
        command.args(["--fail", "--location", "--noproxy", "*", "--range", &format!("{}-{last}", at(part))]);
        command.arg("--output").arg(path).arg(&url);
    }
    let begun = Instant::now();
    let status = command.status()?;
    let curl = begun.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("curl failed: {status}").into());
    }
    let mut arrived = 0;
    for path in parts {
        let file = File::open(path)?;
        file.sync_all()?;
        arrived += file.metadata()?.len();
    }
    assert_eq!(arrived, server.bytes as u64);
    Ok((curl, begun.elapsed().as_secs_f64()))
}

async fn with_library(server: &Server, connections: usize) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let library = Library::create(&folder.path().join("models"))?;
    let options = HubOptions { endpoint: server.endpoint.clone(), ..HubOptions::default() };
    let hub = Hub::new(options, Arc::new(NoToken))?;
    let (_intent, wanted) = watch::channel(Intent::Run);
    let progress = watch::Sender::new(Progress::default());
    let options = DownloadOptions { connections, ..DownloadOptions::default() };
    let begun = Instant::now();
    download(&hub, &library, &MODEL.parse()?, "main", &options, wanted, &progress).await?;
    let seconds = begun.elapsed().as_secs_f64();
    assert!(library.folder(&MODEL.parse()?).join(FILE).is_file());
    Ok(seconds)
}
