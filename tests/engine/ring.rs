//! One model over two and three processes, with MLX's ring between them, writes what one process writes.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use foretoken_engine::decode::{Footprint, RowId};
use foretoken_protocol::KvPrecision;
use foretoken_tests::fixtures::{demo_draft_model, demo_model};
use foretoken_tests::oracle::write_preset;
use foretoken_tests::programs::built;
use foretoken_tests::rings::{Played, RankPlan, RankReport, Scene, first_layers};

/// How long a ring may take.
const PATIENCE: Duration = Duration::from_secs(100);

/// The reports of all ranks of a ring in which each has the layers up to its cut.
fn ring(
    model: &Path,
    cuts: &[usize],
    kv_precision: KvPrecision,
    (memory, draft_model): (u64, Option<(PathBuf, Vec<usize>)>),
    scene: Scene,
    known: &BTreeMap<RowId, Vec<u32>>,
) -> Vec<RankReport> {
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
            draft_model: draft_model.clone(),
            memory,
            scene,
            known: known.clone(),
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

/// Plays a scene in one process, and in rings with these cuts, which must come to the same.
fn same(model: &Path, all: &[&[usize]], kv_precision: KvPrecision, scene: Scene) -> Played {
    same_with(model, all, kv_precision, u64::MAX, scene)
}

/// The same where rows may take so many bytes on the other ranks.
fn same_with(model: &Path, all: &[&[usize]], kv_precision: KvPrecision, memory: u64, scene: Scene) -> Played {
    let layers = all[0][all[0].len() - 1];
    let draft = scene.dflash.then(demo_draft_model);
    let whole = first_layers(model, layers, kv_precision, draft.as_deref());
    let draft = draft.zip(whole.draft.as_ref().map(|draft| draft.taps().to_vec()));
    let none = BTreeMap::new();
    let known = if scene.rate.is_some() { scene.play(&whole, &none).replies } else { none };
    let expected = scene.play(&whole, &known);
    assert_eq!(expected.replies.len(), scene.requests * scene.questions);
    for cuts in all {
        let reports = ring(model, cuts, kv_precision, (memory, draft.clone()), scene, &known);
        let played = &reports[0].played;
        assert_eq!(played.replies, expected.replies, "{cuts:?}");
        // Of each pass a header, how everybody fared, and a hidden state; at the end a frame that says so, and before it
        // perhaps some of what is no longer kept.
        let sent: Vec<u64> = reports.iter().map(|report| report.messages).collect();
        let (last, others) = sent.split_last().unwrap();
        let ends = others[0] - last / 2 * 3;
        assert!(others.iter().all(|sent| *sent == others[0]), "{sent:?}");
        assert!(ends == 1 || scene.questions > 1 && (1..20).contains(&ends), "{sent:?}");
        assert!(reports.iter().all(|report| report.rows == 0), "{cuts:?}");
        // Nothing is read there that is remembered here.
        if !scene.is_short && memory == u64::MAX {
            let layers_run = played.layers_run * layers as u64;
            assert_eq!(layers_run, expected.layers_run * cuts[0] as u64, "{cuts:?}");
        }
    }
    expected
}

const SCENE: Scene =
    Scene { seed: 3, requests: 6, rate: None, cancels: false, is_short: false, dflash: false, questions: 1 };

#[test]
fn several_processes_write_what_one_writes() {
    let played = same(&demo_model(), &[&[4, 8], &[1, 8], &[3, 5, 8]], KvPrecision::Full, SCENE);
    assert!(played.replies.values().all(|reply| reply.len() >= 12));
}

#[test]
fn whatever_is_accepted_they_do() {
    for (rate, cuts) in [(0.0, &[7, 8][..]), (0.5, &[2, 6, 8]), (1.0, &[5, 8])] {
        let scene = Scene { rate: Some(rate), seed: 5, ..SCENE };
        same(&demo_model(), &[cuts], KvPrecision::Eight, scene);
    }
}

/// It reads outputs of layers wherever they lie.
#[test]
fn the_draft_model_drafts_for_layers_on_several_machines() {
    let scene = Scene { dflash: true, seed: 6, ..SCENE };
    same(&demo_model(), &[&[3, 8], &[1, 4, 8]], KvPrecision::Full, scene);
}

/// Where several rows are too many for a machine, fewer go together.
#[test]
fn a_machine_with_little_memory_fails_steps_and_nothing_is_lost() {
    let model = demo_model();
    let row = Footprint::of(&first_layers(&model, 8, KvPrecision::Full, None)).row(200);
    // Half of the layers, of some three rows.
    same_with(&model, &[&[4, 8]], KvPrecision::Full, 3 * row / 2, Scene { seed: 15, ..SCENE });
}

#[test]
fn rows_that_are_cancelled_or_swapped_out_leave_nothing_behind() {
    let scene = Scene { cancels: true, requests: 9, seed: 8, ..SCENE };
    let played = same(&demo_model(), &[&[4, 8]], KvPrecision::Full, scene);
    assert_eq!((played.replies[&3].len(), played.replies[&7].len()), (5, 5));
    let short = Scene { is_short: true, requests: 4, seed: 9, ..SCENE };
    let played = same(&demo_model(), &[&[4, 8]], KvPrecision::Full, short);
    assert!(played.preemptions > 0);
}

#[test]
fn the_next_question_is_read_from_where_the_last_one_ended() {
    let scene = Scene { questions: 3, requests: 4, seed: 11, ..SCENE };
    let played = same(&demo_model(), &[&[2, 5, 8]], KvPrecision::Full, scene);
    let forgetful = Scene { questions: 1, requests: 4, seed: 11, ..SCENE };
    let once = forgetful.play(&first_layers(&demo_model(), 8, KvPrecision::Full, None), &BTreeMap::new());
    assert!(played.layers_run < 3 * once.layers_run + 3 * 8 * 4, "{} {}", played.layers_run, once.layers_run);
}

#[test]
fn experts_lie_on_several_machines_too() {
    let folder = tempfile::tempdir().unwrap();
    write_preset("tiny-moe-q36", folder.path(), &["--no-tokenizer", "--dtype", "float32"]);
    same(folder.path(), &[&[2, 4, 8]], KvPrecision::Full, Scene { seed: 13, ..SCENE });
}
