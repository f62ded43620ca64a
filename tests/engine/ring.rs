//! One model over two and three processes, with MLX's ring between them, writes what one process writes.

use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use foretoken_protocol::KvPrecision;
use foretoken_tests::fixtures::demo_model;
use foretoken_tests::programs::built;
use foretoken_tests::rings::{RankPlan, RankReport, Scene, first_layers};

/// How long a ring may take.
const PATIENCE: Duration = Duration::from_secs(100);

const SCENE: Scene = Scene { seed: 3, requests: 6, rate: None, rough: false };

/// The reports of all ranks of a ring in which each has the layers up to its cut.
fn ring(model: &Path, cuts: &[usize], kv_precision: KvPrecision, scene: Scene) -> Vec<RankReport> {
    let folder = tempfile::tempdir().unwrap();
    let ports: Vec<TcpListener> = cuts.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts: Vec<[String; 1]> = ports.iter().map(|port| [port.local_addr().unwrap().to_string()]).collect();
    let hostfile = folder.path().join("hosts.json");
    std::fs::write(&hostfile, serde_json::to_string(&hosts).unwrap()).unwrap();
    drop(ports);
    let first = |rank: usize| if rank == 0 { 0 } else { cuts[rank - 1] };
    let start = |rank: usize| {
        let plan = RankPlan {
            model: model.to_owned(),
            layers: first(rank)..cuts[rank],
            kv_precision,
            epoch: 77,
            scene,
        };
        let mut process = Command::new(built("ring-rank"))
            .env("MLX_RANK", rank.to_string())
            .env("MLX_HOSTFILE", &hostfile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let plan = serde_json::to_string(&plan).unwrap();
        process.stdin.take().unwrap().write_all(plan.as_bytes()).unwrap();
        process
    };
    let processes: Vec<Child> = (0..cuts.len()).map(start).collect();
    let outputs = ends(processes);
    let report = |(rank, output): (usize, &Output)| {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "rank {rank}: {} {said}", output.status);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    outputs.iter().enumerate().map(report).collect()
}

/// What processes say, which must all come to their end by themselves.
fn ends(mut processes: Vec<Child>) -> Vec<Output> {
    let begin = Instant::now();
    while processes.iter_mut().any(|process| process.try_wait().unwrap().is_none()) {
        if begin.elapsed() > PATIENCE {
            processes.iter_mut().for_each(|process| _ = process.kill());
            let outputs: Vec<Output> =
                processes.into_iter().map(|process| process.wait_with_output().unwrap()).collect();
            panic!("the ring does not end: {outputs:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
    processes.into_iter().map(|process| process.wait_with_output().unwrap()).collect()
}

#[test]
fn several_processes_write_what_one_writes() {
    let model = demo_model();
    let whole = first_layers(&model, 8, KvPrecision::Full);
    let (expected, _) = SCENE.play(&whole);
    assert!(expected.len() == SCENE.requests && expected.values().all(|reply| reply.len() >= 10));
    for cuts in [&[4, 8][..], &[1, 8], &[3, 5, 8]] {
        let reports = ring(&model, cuts, KvPrecision::Full, SCENE);
        assert_eq!(reports[0].replies, expected, "{cuts:?}");
        // Of each pass a header, how everybody fared, and a hidden state; at the end one that says so.
        let passes = (reports[0].messages - 1) / 3;
        assert_eq!(reports[0].messages, 3 * passes + 1);
        for (rank, report) in reports.iter().enumerate().skip(1) {
            let is_last = rank + 1 == reports.len();
            let sent = if is_last { 2 * passes } else { 3 * passes + 1 };
            assert_eq!((report.messages, report.rows), (sent, 0), "rank {rank}");
        }
    }
}
