//! One model over two and three processes, with MLX's ring between them, writes what one process writes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use foretoken_engine::decode::RowId;
use foretoken_protocol::KvPrecision;
use foretoken_tests::fixtures::{demo_draft_model, demo_model};
use foretoken_tests::oracle::write_preset;
use foretoken_tests::programs::built;
use foretoken_tests::rings::{Played, RankPlan, RankReport, Scene, first_layers};
use tempfile::TempDir;

/// How long a ring may take.
const PATIENCE: Duration = Duration::from_secs(240);
/// How long a ring may take for one hidden state, where there are fewer processors than processes.
const STANDSTILL: Duration = Duration::from_secs(10);

/// A ring that is asked for.
struct Wanted<'a> {
    model: &'a Path,
    /// Of each rank, the end of its layers.
    cuts: &'a [usize],
    kv_precision: KvPrecision,
    draft_model: Option<(PathBuf, Vec<usize>)>,
    /// Steps of three rows and more that fail on all ranks but the first.
    faults: u32,
    /// A rank that takes itself for one of another ring.
    stranger: Option<usize>,
    scene: Scene,
    known: BTreeMap<RowId, Vec<u32>>,
}

impl<'a> Wanted<'a> {
    fn new(model: &'a Path, cuts: &'a [usize], scene: Scene) -> Self {
        Self {
            model,
            cuts,
            kv_precision: KvPrecision::Full,
            draft_model: None,
            faults: 0,
            stranger: None,
            scene,
            known: BTreeMap::new(),
        }
    }

    /// Its processes, and the folder that they need.
    fn start(&self) -> (Vec<Child>, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let ports: Vec<TcpListener> =
            self.cuts.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let hosts: Vec<[String; 1]> =
            ports.iter().map(|port| [port.local_addr().unwrap().to_string()]).collect();
        let hostfile = folder.path().join("hosts.json");
        std::fs::write(&hostfile, serde_json::to_string(&hosts).unwrap()).unwrap();
        drop(ports);
        let start = |rank: usize| {
            let plan = RankPlan {
                model: self.model.to_owned(),
                layers: if rank == 0 { 0 } else { self.cuts[rank - 1] }..self.cuts[rank],
                kv_precision: self.kv_precision,
                epoch: if self.stranger == Some(rank) { 78 } else { 77 },
                draft_model: self.draft_model.clone(),
                faults: self.faults,
                patience: STANDSTILL,
                scene: self.scene,
                known: self.known.clone(),
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
            writeln!(process.stdin.as_mut().unwrap(), "{plan}").unwrap();
            process
        };
        ((0..self.cuts.len()).map(start).collect(), folder)
    }

    /// The reports of all ranks.
    fn run(&self) -> Vec<RankReport> {
        let (processes, _folder) = self.start();
        let report = |(rank, output): (usize, &Output)| {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "rank {rank}: {} {said}", output.status);
            serde_json::from_slice(&output.stdout).unwrap()
        };
        ends(processes).iter().enumerate().map(report).collect()
    }
}

/// What processes say, which must all come to their end by themselves; one that fails ends the ring.
fn ends(mut processes: Vec<Child>) -> Vec<Output> {
    let begin = Instant::now();
    while processes.iter_mut().any(|process| process.try_wait().unwrap().is_none()) {
        if begin.elapsed() > PATIENCE {
            processes.iter_mut().for_each(|process| _ = process.kill());
            let outputs: Vec<Output> =
                processes.into_iter().map(|process| process.wait_with_output().unwrap()).collect();
            panic!("the ring does not end: {outputs:?}");
        }
        let failed =
            |process: &mut Child| process.try_wait().unwrap().is_some_and(|status| !status.success());
        if processes.iter_mut().any(failed) {
            processes.iter_mut().for_each(|process| drop(process.stdin.take()));
        }
        thread::sleep(Duration::from_millis(20));
    }
    processes.into_iter().map(|process| process.wait_with_output().unwrap()).collect()
}

/// Plays a scene in one process, and in rings with these cuts, which must come to the same.
fn same(model: &Path, all: &[&[usize]], kv_precision: KvPrecision, scene: Scene) -> Played {
    let layers = all[0][all[0].len() - 1];
    let draft = scene.dflash.then(demo_draft_model);
    let whole = first_layers(model, layers, kv_precision, draft.as_deref());
    let draft_model = draft.zip(whole.draft.as_ref().map(|draft| draft.taps().to_vec()));
    let none = BTreeMap::new();
    let known = if scene.rate.is_some() { scene.play(&whole, &none).replies } else { none };
    let expected = scene.play(&whole, &known);
    assert_eq!(expected.replies.len(), scene.requests * scene.questions);
    for cuts in all {
        let (known, draft_model) = (known.clone(), draft_model.clone());
        let wanted = Wanted { kv_precision, draft_model, known, ..Wanted::new(model, cuts, scene) };
        let reports = wanted.run();
        let played = &reports[0].played;
        assert_eq!(played.replies, expected.replies, "{cuts:?}");
        // Of each pass a header, how everybody fared, and a hidden state; at the end a frame that says so, and now and
        // then one with what is no longer needed.
        let sent: Vec<u64> = reports.iter().map(|report| report.messages).collect();
        let (last, others) = sent.split_last().unwrap();
        let ends = others[0] - last / 2 * 3;
        assert!(others.iter().all(|sent| *sent == others[0]), "{sent:?}");
        assert!((1..30).contains(&ends), "{sent:?}");
        assert!(reports[1..].iter().all(|report| report.passes == (last / 2, 0) && report.rows == 0));
        // Nothing is read there that is remembered here.
        if !scene.is_short {
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

/// What a machine could not compute is computed again, with what it needs of the rows.
#[test]
fn steps_that_fail_on_a_machine_are_made_again() {
    let (model, scene) = (demo_model(), Scene { seed: 15, ..SCENE });
    let whole = first_layers(&model, 8, KvPrecision::Full, None);
    let reports = Wanted { faults: 2, ..Wanted::new(&model, &[3, 5, 8], scene) }.run();
    assert_eq!(reports[0].played.replies, scene.play(&whole, &BTreeMap::new()).replies);
    // How many rows go together then, the scheduler decides.
    let failed: u64 = reports[1..].iter().map(|report| report.passes.1).sum();
    assert!((2..=4).contains(&failed), "{failed}");
    assert!(reports.iter().all(|report| report.rows == 0));
}

/// Whatever happens to one process, all others end by themselves.
#[test]
fn no_process_is_left_waiting() {
    let endless = Scene { requests: 400, seed: 17, ..SCENE };
    let model = demo_model();
    for (signal, rank) in [("-KILL", 1), ("-KILL", 0), ("-STOP", 2)] {
        let (mut processes, _folder) = Wanted::new(&model, &[3, 5, 8], endless).start();
        // In the middle of its work.
        let mut said = BufReader::new(processes[0].stderr.take().unwrap());
        assert_eq!(said.by_ref().lines().next().unwrap().unwrap(), "begun");
        thread::sleep(Duration::from_secs(1));
        assert!(processes.iter_mut().all(|process| process.try_wait().unwrap().is_none()));
        let begin = Instant::now();
        let id = processes[rank].id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let mut victim = processes.remove(rank);
        // Whoever is dead is known to be so.
        if signal == "-KILL" {
            victim.wait().unwrap();
            processes.iter_mut().for_each(|process| drop(process.stdin.take()));
        }
        let outputs = ends(processes);
        assert!(begin.elapsed() < STANDSTILL + Duration::from_secs(30), "{signal} {rank}");
        assert!(outputs.iter().all(|output| !output.status.success()), "{signal} {rank}: {outputs:?}");
        let _ = Command::new("kill").args(["-KILL", &id]).status();
        ends(vec![victim]);
    }
    // One that belongs to another ring refuses, and says so.
    let (processes, _folder) = Wanted { stranger: Some(1), ..Wanted::new(&model, &[4, 8], endless) }.start();
    let outputs = ends(processes);
    assert!(outputs.iter().all(|output| !output.status.success()));
    let said = String::from_utf8_lossy(&outputs[1].stderr).into_owned();
    assert!(said.contains("77") && said.contains("78"), "{said}");
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
