//! How fast models arrive over the loopback interface, beside `curl` with the same number of connections.
//!
//! `cargo bench -p foretoken-library --bench throughput [-- CONNECTIONS [MEGABYTES [RUNS]]]`. Both fetch the same files
//! from the same server, a process of its own. `curl` only writes; the library also hashes what it reads back and
//! forces it to the disk, so the time at which the files of `curl` are on the disk too is told beside; with `TMPDIR` in
//! memory (`/dev/shm`) the disk's own speed is left out.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use foretoken_library::{DownloadOptions, Hub, HubOptions, Intent, Library, NoToken, Progress, download};
use foretoken_test_hub::{Repo, TestHub};
use tokio::sync::watch;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const MODEL: &str = "org/model";

/// Ends with the benchmark.
struct Server {
    child: Child,
    endpoint: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let of = |place: usize, default| numbers.get(place).copied().unwrap_or(default);
    let (connections, megabytes, runs) = (of(0, 4), of(1, 1024), of(2, 5));
    if std::env::args().any(|argument| argument == "serve") {
        return serve(connections, megabytes).await;
    }
    let server = start(connections, megabytes)?;
    let (mut ours, mut curls, mut synced) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..=runs {
        let ((curl, sync), our) =
            (with_curl(&server, connections)?, with_library(&server, connections).await?);
        // The first run only warms up.
        if run > 0 {
            println!("run {run}: curl {curl:.2} s, on the disk after {sync:.2} s, library {our:.2} s");
            curls.push(curl);
            synced.push(sync);
            ours.push(our);
        }
    }
    let (our, curl, sync) = (median(&mut ours), median(&mut curls), median(&mut synced));
    let rate = |seconds: f64| megabytes as f64 * 1.048_576 / seconds;
    println!("{megabytes} MiB, {connections} connections, medians of {runs}: library {:.0} MB/s", rate(our));
    println!("  curl {:.0} MB/s: the library has {:.0} %", rate(curl), 100.0 * curl / our);
    println!("  curl to the disk {:.0} MB/s: the library has {:.0} %", rate(sync), 100.0 * sync / our);
    Ok(())
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn shard_name(index: usize) -> String {
    format!("model-{index}.safetensors")
}

/// As many files as connections, so that `curl`, which knows no ranges of its own, uses all of them.
async fn serve(connections: usize, megabytes: usize) -> Result<()> {
    let mut data = vec![0; (megabytes << 20) / connections];
    fastrand::Rng::with_seed(1).fill(&mut data);
    let data = bytes::Bytes::from(data);
    let shards = (0..connections).map(|index| (shard_name(index), data.clone()));
    let files = shards.chain([("config.json".to_owned(), bytes::Bytes::from_static(b"{}"))]);
    let hub = TestHub::start([Repo::new(MODEL, files)]).await?;
    println!("{}", hub.endpoint());
    std::future::pending().await
}

fn start(connections: usize, megabytes: usize) -> Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([&connections.to_string(), &megabytes.to_string(), "serve"]);
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().ok_or("the server has no output")?;
    let mut server = Server { child, endpoint: String::new() };
    BufReader::new(stdout).read_line(&mut server.endpoint)?;
    server.endpoint = server.endpoint.trim().to_owned();
    Ok(server)
}

/// When `curl` ends, and when what it wrote is on the disk.
fn with_curl(server: &Server, connections: usize) -> Result<(f64, f64)> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new("curl");
    command.current_dir(folder.path()).args([
        "--silent",
        "--show-error",
        "--fail",
        "--location",
        "--parallel",
    ]);
    command.args([
        "--no-progress-meter",
        "--noproxy",
        "*",
        "--parallel-immediate",
        "--parallel-max",
        &connections.to_string(),
    ]);
    for index in 0..connections {
        command.args([
            "--remote-name",
            &format!("{}/{MODEL}/resolve/main/{}", server.endpoint, shard_name(index)),
        ]);
    }
    let begun = Instant::now();
    let status = command.status()?;
    if !status.success() {
        return Err(format!("curl failed: {status}").into());
    }
    let curl = begun.elapsed().as_secs_f64();
    for index in 0..connections {
        File::open(folder.path().join(shard_name(index)))?.sync_all()?;
    }
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
    assert!(Path::new(&library.folder(&MODEL.parse()?)).join(shard_name(0)).is_file());
    Ok(seconds)
}
