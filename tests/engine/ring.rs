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
    /// Frames that fail on all ranks but the first: those of so many rows and more, of these one in so many, and so
    /// many of them.
    faults: [u32; 3],
    most_in_flight: Option<usize>,
    /// A rank that ends or stands still, and at which point: as the program takes it.
    strike: Option<(usize, String)>,
    /// Another model that the last rank has.
    other_model: Option<&'a Path>,
    patience: Duration,
    scene: Scene,
    times: usize,
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
            faults: [0; 3],
            most_in_flight: None,
            strike: None,
            other_model: None,
            patience: STANDSTILL,
            scene,
            times: 1,
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
            most_in_flight: self.most_in_flight,
            patience: self.patience,
            scene: self.scene,
            times: self.times,
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
            rank.arg(model).args(self.faults.map(|number| number.to_string())).stdin(end()).stdout(end());
            rank.args(self.strike.iter().filter(|(other, _)| *other == place + 1).map(|(_, strike)| strike));
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
        let RingReport { played, messages, others, deepest } = wanted.run();
        assert!(deepest <= cuts.len(), "{deepest} of {cuts:?}");
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

const SCENE: Scene = Scene {
    seed: 3,
    requests: 6,
    rate: None,
    cancels: false,
    is_short: false,
    dflash: false,
    is_long: false,
    may_fail: false,
    questions: 1,
};

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
        Wanted { faults: [3, 1, 2], most_in_flight: Some(1), ..Wanted::new(&model, &[3, 5, 8], scene) }.run();
    assert_eq!(played.replies, scene.play(&whole, &BTreeMap::new()).replies);
    // How many rows go together then, the scheduler decides.
    let failed: u64 = others.iter().map(|rank| rank.failed).sum();
    assert!((2..=4).contains(&failed), "{failed}");
    assert!(others.iter().all(|rank| rank.rows == 0));
}

/// While one of the groups of rows is elsewhere, the first rank computes for another; and for the next chunk of a
/// prompt.
#[test]
fn steps_and_chunks_in_flight_change_nothing() {
    let (model, cuts) = (demo_model(), [3, 5, 8]);
    let scene = Scene { is_long: true, questions: 2, seed: 19, ..SCENE };
    let expected = scene.play(&first_layers(&model, 8, KvPrecision::Full, None), &BTreeMap::new());
    for most in 1..=3 {
        let ring = Wanted { most_in_flight: Some(most), ..Wanted::new(&model, &cuts, scene) };
        let RingReport { played, deepest, others, .. } = ring.run();
        assert_eq!(played.replies, expected.replies, "{most}");
        assert_eq!(played.layers_run * 8, expected.layers_run * cuts[0] as u64, "{most}");
        assert_eq!(deepest, most);
        assert!(others.iter().all(|rank| (rank.failed, rank.rows) == (0, 0)), "{others:?}");
    }
}

/// Frames that were sent before it was known that one of theirs failed fail as well, and nothing is left of them.
#[test]
fn steps_and_chunks_in_flight_may_fail() {
    failing(25);
}

/// The long form: a thousand failing steps and chunks leave nothing behind.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_failing_steps_leave_nothing_behind() {
    failing(1000);
}

/// Plays a scene in which so many frames fail on each of two ranks. Whoever gets through has written what one process
/// writes.
fn failing(times: u32) {
    // Tokens that are read again are rounded otherwise, which the other models show.
    let (folder, cuts) = (tempfile::tempdir().unwrap(), [3, 5, 8]);
    write_preset("tiny-moe-q36", folder.path(), &["--no-tokenizer", "--dtype", "float32"]);
    let model = folder.path();
    let scene = Scene { is_long: true, may_fail: true, requests: 3 * times as usize / 2, seed: 21, ..SCENE };
    let expected = scene.play(&first_layers(model, 8, KvPrecision::Full, None), &BTreeMap::new());
    let ring = Wanted { faults: [1, 11, times], ..Wanted::new(model, &cuts, scene) };
    let RingReport { played, deepest, others, .. } = ring.run();
    let through = || played.replies.iter().filter(|(id, _)| !played.failed.contains(id));
    for (id, reply) in through() {
        assert_eq!(expected.replies[id], *reply, "{id}");
    }
    assert!(through().count() > scene.requests / 4, "{:?} of {}", played.failed, scene.requests);
    assert_eq!(deepest, 3);
    assert!(others.iter().all(|rank| rank.rows == 0), "{others:?}");
    assert!(others.iter().any(|rank| rank.failed >= u64::from(times) / 2), "{others:?}");
}

/// Scenes of the soak; an hour of them is `FORETOKEN_RING_SOAK=400`.
#[cfg(target_os = "linux")]
const SCENES: usize = 16;

/// Requests come, are cancelled, swapped out and go on, and the ranks rest in between: none of them keeps anything.
#[cfg(target_os = "linux")]
#[test]
fn memory_of_every_rank_stays_flat() {
    let asked = std::env::var("FORETOKEN_RING_SOAK").ok();
    let scenes = asked.as_ref().map_or(SCENES, |scenes| scenes.parse().unwrap());
    // Whoever waits for an hour does something else on the machine meanwhile.
    let patience = if asked.is_some() { Duration::from_secs(120) } else { STANDSTILL };
    let model = demo_model();
    let scene = Scene { cancels: true, questions: 2, requests: 4, seed: 23, ..SCENE };
    let mut ring = Wanted { times: scenes, patience, ..Wanted::new(&model, &[3, 5, 8], scene) }.start();
    ring.wait_for("begun");
    let mut taken = vec![Vec::new(); ring.processes.len()];
    for scene in 1..=scenes {
        ring.wait_for("rests");
        for (process, taken) in ring.processes.iter().zip(&mut taken) {
            taken.push(foretoken_tests::programs::resident_memory(process.id()));
        }
        if scene % 50 == 0 {
            let last: Vec<Option<&u64>> = taken.iter().map(|taken| taken.last()).collect();
            println!("{scene} scenes: {last:?} bytes");
        }
    }
    let (said, outputs) = ring.end();
    assert!(outputs.iter().all(|output| output.status.success()), "{said}");
    let report: RingReport = serde_json::from_slice(&outputs[0].stdout).unwrap();
    assert!(report.others.iter().all(|rank| (rank.failed, rank.rows) == (0, 0)), "{:?}", report.others);
    for (rank, taken) in taken.iter().enumerate() {
        let before = *taken[scenes / 4..scenes / 2].iter().max().unwrap();
        let after = *taken[3 * scenes / 4..].iter().min().unwrap();
        assert!(after <= before + before / 20, "rank {rank}: {taken:?}");
    }
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

/// Wherever in its work a rank ends, with steps in flight or none, all others end by themselves and it is named.
#[test]
fn a_rank_that_ends_at_any_point_is_named() {
    for (place, point) in POINTS.into_iter().enumerate() {
        struck(1 + place % 2, point, "KILL", "has ended");
    }
}

/// It says all the time that it is there, and does not go on.
#[test]
fn a_step_that_takes_too_long_ends_the_ring() {
    struck(2, "Compute:9", "SLEEP", "has stopped computing");
}

/// The long form: each rank at each point, and those that stand still too.
#[test]
#[ignore = "takes minutes"]
fn each_rank_that_ends_or_stands_still_at_any_point_is_named() {
    for point in POINTS {
        for rank in [1, 2] {
            struck(rank, point, "KILL", "has ended");
            struck(rank, point, "STOP", "does not answer");
        }
    }
}

const POINTS: [&str; 6] = ["Receive:9", "State:9", "Compute:9", "Send:9", "Hidden:9", "Rest:1"];

fn struck(rank: usize, point: &str, signal: &str, becomes: &str) {
    let (model, endless) = (demo_model(), Scene { requests: 400, seed: 17, ..SCENE });
    let scene = if point.starts_with("Rest") { Scene { requests: 3, ..endless } } else { endless };
    let strike = Some((rank, format!("{point}:{signal}")));
    let mut ring = Wanted { strike, ..Wanted::new(&model, &[3, 5, 8], scene) }.start();
    let mut victim = ring.processes.remove(rank);
    if signal == "KILL" {
        // Its end of the channel is held here too.
        victim.wait().unwrap();
        ring.channels.clear();
    }
    let said: Vec<String> = ring.said.by_ref().lines().map_while(Result::ok).collect();
    victim.kill().unwrap();
    victim.wait().unwrap();
    let (_, outputs) = ring.end();
    assert!(outputs.iter().all(|output| !output.status.success()), "{rank} at {point}: {outputs:?}");
    // MLX says something there, too, in the same line perhaps.
    let lost = format!("lost: Mac {rank} {becomes}");
    assert!(said.iter().any(|line| line.contains(&lost)), "{rank} at {point}: {said:?}");
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
