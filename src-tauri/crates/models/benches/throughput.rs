//! How fast a file arrives over the loopback interface, beside `curl` with the same number of connections.
//!
//! `cargo bench -p foretoken-models --bench throughput [-- MEGABYTES [RUNS]]`. Both fetch the same file from the same
//! server, a process of its own, in turns; `curl` fetches one range for each connection. `curl` only writes; the
//! library also hashes all of it and forces it to the disk, so what it takes until the files of `curl` are hashed and
//! on the disk is told beside. Times depend on what else the machine does; the processor seconds for a GB hardly do.
//! With `TMPDIR` in memory (`/dev/shm`) the disk's own speed is left out. All files are removed at the end.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Instant;

use foretoken_models::{
    DownloadOptions, DownloadProgress, Hub, HubOptions, Intent, Library, NoToken, download,
};
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

/// What one way of fetching the file took.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    /// Processor seconds of the program and of the server; none where the system does not tell.
    processor: (f64, f64),
}

/// Lets both fetch the file in turns and prints the medians.
async fn compare(server: &Server, connections: usize, runs: usize) -> Result<()> {
    let mut costs: [Vec<Cost>; 4] = Default::default();
    for run in 0..=runs {
        let [curl, hashed, synced] = with_curl(server, connections)?;
        let library = with_library(server, connections).await?;
        // The first run only warms up.
        if run > 0 {
            for (kept, cost) in costs.iter_mut().zip([library, curl, hashed, synced]) {
                kept.push(cost);
            }
        }
    }
    println!("{connections} connections, medians of {runs}:");
    let gigabytes = server.bytes as f64 / 1e9;
    let library = median(&costs[0], |cost| cost.seconds);
    for (name, costs) in ["library", "curl", "curl, hashed", "curl, hashed, on the disk"].iter().zip(&costs) {
        let seconds = median(costs, |cost| cost.seconds);
        let program = median(costs, |cost| cost.processor.0) / gigabytes;
        let server = median(costs, |cost| cost.processor.1) / gigabytes;
        let speed = 1e3 * gigabytes / seconds;
        let share = 100.0 * seconds / library;
        println!(
            "  {name:25} {speed:5.0} MB/s, {program:.2} + {server:.2} processor s/GB, the library has {share:.0} %"
        );
    }
    Ok(())
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let mut numbers: Vec<f64> = costs.iter().map(of).collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Counts from now on.
struct Meter {
    begun: Instant,
    processor: (f64, f64),
    server: u32,
}

impl Meter {
    fn start(server: &Server) -> Self {
        let server = server.child.id();
        Self { begun: Instant::now(), processor: processor(server), server }
    }

    fn read(&self) -> Cost {
        let (program, server) = processor(self.server);
        let spent = (program - self.processor.0, server - self.processor.1);
        Cost { seconds: self.begun.elapsed().as_secs_f64(), processor: spent }
    }
}

/// Processor seconds that this process with the children that have ended, and the server, have taken so far. Linux
/// tells.
fn processor(server: u32) -> (f64, f64) {
    let ticks = |process: &str, fields: usize| {
        let line = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let after_name = line.rsplit(')').next().unwrap_or_default();
        // User and system time are the twelfth and the thirteenth; those of children follow.
        let times = after_name.split_whitespace().skip(11).take(fields);
        times.filter_map(|time| time.parse::<f64>().ok()).sum::<f64>() / 100.0
    };
    (ticks("self", 4), ticks(&server.to_string(), 2))
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

/// What it takes until `curl` ends, until what it wrote is hashed too, and until all of it is on the disk.
fn with_curl(server: &Server, connections: usize) -> Result<[Cost; 3]> {
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
    let meter = Meter::start(server);
    succeed(command.status()?)?;
    let curl = meter.read();
    succeed(Command::new("sha256sum").args(&parts).stdout(Stdio::null()).status()?)?;
    let hashed = meter.read();
    let mut arrived = 0;
    for path in parts {
        let file = File::open(path)?;
        file.sync_all()?;
        arrived += file.metadata()?.len();
    }
    assert_eq!(arrived, server.bytes as u64);
    Ok([curl, hashed, meter.read()])
}

fn succeed(status: ExitStatus) -> Result<()> {
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}

async fn with_library(server: &Server, connections: usize) -> Result<Cost> {
    let folder = tempfile::tempdir()?;
    let library = Library::create(&folder.path().join("models"))?;
    let options = HubOptions { endpoint: server.endpoint.clone(), ..HubOptions::default() };
    let hub = Hub::new(options, Arc::new(NoToken))?;
    let (_intent, wanted) = watch::channel(Intent::Run);
    let progress = watch::Sender::new(DownloadProgress::default());
    let options = DownloadOptions { connections, ..DownloadOptions::default() };
    let meter = Meter::start(server);
    download(&hub, &library, &MODEL.parse()?, "main", &options, wanted, &progress).await?;
    let cost = meter.read();
    assert!(library.folder(&MODEL.parse()?).join(FILE).is_file());
    Ok(cost)
}
