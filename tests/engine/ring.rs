//! One model over two and three processes, with MLX's ring between them, writes what one process writes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use foretoken_engine::checkpoint::Config;
use foretoken_engine::decode::RowId;
use foretoken_engine::link::{Served, write_hosts};
use foretoken_protocol::KvPrecision;
use foretoken_tests::fixtures::{demo_draft_model, demo_model};
use foretoken_tests::oracle::write_preset;
use foretoken_tests::programs::built;
use foretoken_tests::rings::{Played, RingPlan, RingReport, Scene, first_layers, part_folder};
use tempfile::TempDir;

/// How long a ring may take.
const PATIENCE: Duration = Duration::from_secs(240);
/// How long nobody may be heard of, and how long a ring may take for one hidden state, where there are fewer processors
/// than processes.
const STANDSTILL: Duration = Duration::from_secs(10);

/// A ring that is asked for.
struct Wanted<'a> {
    model: &'a Path,
    /// Of each rank, the end of its layers.
    cuts: &'a [usize],
    kv_precision: KvPrecision,
    draft_model: Option<PathBuf>,
    /// Steps of three rows and more that fail on all ranks but the first.
    faults: u32,
    /// Another model that the last rank has.
    other_model: Option<&'a Path>,
    scene: Scene,
    known: BTreeMap<RowId, Vec<u32>>,
}

/// The processes of a ring, rank by rank.
struct Running {
    processes: Vec<Child>,
    /// What rank 0 says that is not its report.
    said: BufReader<ChildStderr>,
    /// The ways from rank 0 to the others.
    channels: Vec<UnixStream>,
    _folder: TempDir,
}

impl<'a> Wanted<'a> {
    fn new(model: &'a Path, cuts: &'a [usize], scene: Scene) -> Self {
        Self {
            model,
            cuts,
            kv_precision: KvPrecision::Full,
            draft_model: None,
            faults: 0,
            other_model: None,
            scene,
            known: BTreeMap::new(),
        }
    }

    fn start(&self) -> Running {
        let (folder, ranks) = (tempfile::tempdir().unwrap(), self.cuts.len());
        let hostfile = write_hosts(ranks, folder.path()).unwrap();
        let start = |rank: usize| {
            let mut program = Command::new(built("ring-rank"));
            program.env("MLX_RANK", rank.to_string()).env("MLX_HOSTFILE", &hostfile).stderr(Stdio::piped());
            program
        };
        let paths: Vec<PathBuf> = (1..ranks).map(|rank| folder.path().join(rank.to_string())).collect();
        let listeners: Vec<UnixListener> =
            paths.iter().map(|path| UnixListener::bind(path).unwrap()).collect();
        let before = [0].iter().chain(self.cuts);
        let plan = RingPlan {
            model: self.model.to_owned(),
            layers: self.cuts.iter().zip(before).map(|(end, begin)| end - begin).collect(),
            channels: paths,
            kv_precision: self.kv_precision,
            draft_model: self.draft_model.clone(),
            patience: STANDSTILL,
            scene: self.scene,
            known: self.known.clone(),
        };
        let mut first = start(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        writeln!(first.stdin.as_mut().unwrap(), "{}", serde_json::to_string(&plan).unwrap()).unwrap();
        let said = BufReader::new(first.stderr.take().unwrap());
        let (mut processes, mut channels) = (vec![first], Vec::new());
        for (place, listener) in listeners.iter().enumerate() {
            let (channel, _) = listener.accept().unwrap();
            let model = self.other_model.filter(|_| place + 2 == ranks).unwrap_or(self.model);
            let end = || OwnedFd::from(channel.try_clone().unwrap());
            let mut rank = start(place + 1);
            rank.arg(model).arg(self.faults.to_string()).stdin(end()).stdout(end());
            processes.push(rank.spawn().unwrap());
            channels.push(channel);
        }
        Running { processes, said, channels, _folder: folder }
    }

    /// What rank 0 reports.
    fn run(&self) -> RingReport {
        let (said, outputs) = self.start().end();
        assert!(outputs.iter().all(|output| output.status.success()), "{said} {outputs:?}");
        serde_json::from_slice(&outputs[0].stdout).unwrap()
    }
}

impl Running {
    /// Waits until rank 0 has said so.
    fn wait_for(&mut self, word: &str) {
        let said: Vec<String> = self.said.by_ref().lines().map_while(Result::ok).take(1).collect();
        assert_eq!(said, [word]);
    }

    /// What rank 0 says, and what all say, which must come to their end by themselves.
    fn end(mut self) -> (String, Vec<Output>) {
        // Whoever has gone is known to be so, and nobody rests any longer.
        self.channels.clear();
        self.processes.iter_mut().for_each(|process| drop(process.stdin.take()));
        let begin = Instant::now();
        let alive = |process: &mut Child| process.try_wait().unwrap().is_none();
        while self.processes.iter_mut().any(alive) {
            let is_over = begin.elapsed() > PATIENCE;
            if is_over {
                self.processes.iter_mut().for_each(|process| _ = process.kill());
            }
            assert!(!is_over, "the ring does not end");
            thread::sleep(Duration::from_millis(20));
        }
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        (said, self.processes.into_iter().map(|process| process.wait_with_output().unwrap()).collect())
    }
}

/// Plays a scene in one process, and in rings with these cuts, which must come to the same.
fn same(model: &Path, all: &[&[usize]], kv_precision: KvPrecision, scene: Scene) -> Played {
    let layers = all[0][all[0].len() - 1];
    let draft = scene.dflash.then(demo_draft_model);
    let whole = first_layers(model, layers, kv_precision, draft.as_deref());
    let none = BTreeMap::new();
    let known = if scene.rate.is_some() { scene.play(&whole, &none).replies } else { none };
    let expected = scene.play(&whole, &known);
    assert_eq!(expected.replies.len(), scene.requests * scene.questions);
    for cuts in all {
        let (known, draft_model) = (known.clone(), draft.clone());
        let wanted = Wanted { kv_precision, draft_model, known, ..Wanted::new(model, cuts, scene) };
        let RingReport { played, messages, others } = wanted.run();
        assert_eq!(played.replies, expected.replies, "{cuts:?}");
        // Of each pass a header, how everybody fared, and a hidden state, but the last rank sends no header; at the end
        // a frame that says so, and now and then one with what is no longer needed, or to let the ranks rest.
        let (last, between) = others.split_last().unwrap();
        let frames = messages - 3 * last.passes;
        assert_eq!(last.messages, 2 * last.passes);
        assert!(between.iter().all(|rank| rank.messages == messages), "{messages} {others:?}");
        assert!((1..40).contains(&frames), "{messages} {others:?}");
        let all_passed = |rank: &Served| (rank.passes, rank.failed, rank.rows) == (last.passes, 0, 0);
        assert!(others.iter().all(all_passed), "{others:?}");
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

/// A machine that was given its own layers needs nothing else of a model.
#[test]
fn a_machine_that_has_its_own_layers_alone_writes_the_same() {
    let folder = tempfile::tempdir().unwrap();
    write_preset("tiny-moe-q36", folder.path(), &["--no-tokenizer", "--dtype", "float32"]);
    for (model, all) in
        [(&*demo_model(), 8), (folder.path(), Config::read(folder.path()).unwrap().layers.len())]
    {
        let part = part_folder(model, all - 3..all);
        let cuts = [all - 3, all];
        let wanted = Wanted { other_model: Some(part.path()), ..Wanted::new(model, &cuts, SCENE) };
        let whole = first_layers(model, all, KvPrecision::Full, None);
        assert_eq!(wanted.run().played.replies, SCENE.play(&whole, &BTreeMap::new()).replies);
    }
    let part = part_folder(&demo_model(), 6..8);
    let model = demo_model();
    let wanted = Wanted { other_model: Some(part.path()), ..Wanted::new(&model, &[5, 8], SCENE) };
    let (said, outputs) = wanted.start().end();
    assert!(outputs.iter().all(|output| !output.status.success()), "{outputs:?}");
    assert!(said.contains("lost: Mac 1: ") && said.contains("layers.5."), "{said}");
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
    let RingReport { played, others, .. } =
        Wanted { faults: 2, ..Wanted::new(&model, &[3, 5, 8], scene) }.run();
    assert_eq!(played.replies, scene.play(&whole, &BTreeMap::new()).replies);
    // How many rows go together then, the scheduler decides.
    let failed: u64 = others.iter().map(|rank| rank.failed).sum();
    assert!((2..=4).contains(&failed), "{failed}");
    assert!(others.iter().all(|rank| rank.rows == 0));
}

/// What happens to a ring in the middle of its work.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// A process is killed.
    Killed(usize),
    /// A process stands still.
    Stopped(usize),
    /// The way from rank 0 to a process is cut.
    Cut(usize),
}

/// Whatever happens to one process, all others end by themselves, and rank 0 says whose fault it is.
#[test]
fn no_process_is_left_waiting() {
    let (endless, model) = (Scene { requests: 400, seed: 17, ..SCENE }, demo_model());
    for (fault, loss) in [
        (Fault::Killed(1), "lost: Mac 1 has ended"),
        (Fault::Killed(0), ""),
        (Fault::Stopped(2), "lost: Mac 2 does not answer"),
        (Fault::Stopped(0), ""),
        (Fault::Cut(2), "lost: Mac 2 has ended"),
    ] {
        let mut ring = Wanted::new(&model, &[3, 5, 8], endless).start();
        ring.wait_for("begun");
        thread::sleep(Duration::from_secs(1));
        assert!(ring.processes.iter_mut().all(|process| process.try_wait().unwrap().is_none()));
        let begin = Instant::now();
        let mut victim = None;
        match fault {
            Fault::Killed(rank) => {
                ring.processes[rank].kill().unwrap();
            }
            Fault::Stopped(rank) => {
                let id = ring.processes[rank].id().to_string();
                assert!(Command::new("kill").args(["-STOP", &id]).status().unwrap().success());
                victim = Some(ring.processes.remove(rank));
            }
            Fault::Cut(rank) => ring.channels[rank - 1].shutdown(Shutdown::Both).unwrap(),
        }
        if fault == Fault::Stopped(0) {
            // What it would say, nobody waits for.
            ring.said = BufReader::new(ring.processes[0].stderr.take().unwrap());
        }
        let (said, outputs) = ring.end();
        victim.iter_mut().for_each(|victim| {
            victim.kill().unwrap();
            victim.wait().unwrap();
        });
        assert!(begin.elapsed() < STANDSTILL + Duration::from_secs(30), "{fault:?}");
        assert!(outputs.iter().all(|output| !output.status.success()), "{fault:?}: {outputs:?}");
        assert!(said.contains(loss), "{fault:?}: {said}");
    }
}

/// Whoever waits for a message keeps a processor busy, so nobody does while there is nothing to compute.
#[cfg(target_os = "linux")]
#[test]
fn a_rank_at_rest_computes_nothing() {
    let model = demo_model();
    let mut ring = Wanted::new(&model, &[4, 8], Scene { requests: 1, ..SCENE }).start();
    ring.wait_for("begun");
    ring.wait_for("rests");
    let computed = || foretoken_tests::programs::processor_time(ring.processes[1].id());
    // The last frame is on its way.
    thread::sleep(Duration::from_millis(500));
    let before = computed();
    thread::sleep(Duration::from_secs(2));
    let spent = computed() - before;
    assert!(spent < 20, "{spent} of 200");
    let (said, outputs) = ring.end();
    assert!(outputs.iter().all(|output| output.status.success()), "{said}");
}

/// A rank that has another model says so before anything is loaded, and the ring does not come about.
#[test]
fn all_ranks_have_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    write_preset("tiny-moe-q36", folder.path(), &["--no-tokenizer", "--dtype", "float32"]);
    let (model, other) = (demo_model(), folder.path());
    let wanted = Wanted { other_model: Some(other), ..Wanted::new(&model, &[3, 5, 8], SCENE) };
    let (said, outputs) = wanted.start().end();
    assert!(outputs.iter().all(|output| !output.status.success()), "{outputs:?}");
    assert!(said.contains("lost: Mac 2: The config.json there is that of another model"), "{said}");
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
