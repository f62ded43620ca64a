//! Tests that what the prefix cache stores cannot do harm: unusable entries are forgotten, and replies stay the same;
//! and that a cancelled row which is still in the batch is nobody's.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use foretoken_protocol::{Priority, Sampling};
use tracing::Subscriber;
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

use super::*;
use crate::cache::{DeltaState, RowCache, RowKv, StateSnapshot};
use crate::checkpoint::{Config, Index, Layout};
use crate::decode::PassTimes;
use crate::decode::prefill_task::PrefillTask;
use crate::mlx::{Array, Dtype};

/// Tokens of the shorter and the longer cached prefix in these tests.
const FIRST: usize = 100;
const SECOND: usize = 180;

fn demo() -> Qwen {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../resources/demo-model/checkpoint"));
    let config = Config::read(dir).unwrap();
    let layout = Layout::plan(&config, &Index::read(dir, &config).unwrap()).unwrap();
    Qwen::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

fn spec(prompt: &[u32]) -> RowSpec {
    RowSpec {
        prompt: prompt.to_vec(),
        reply_from: prompt.len(),
        sampling: Sampling::default(),
        seed: 0,
        xtc_exempt: Vec::new(),
        max_tokens: 12,
        stop_ids: Vec::new(),
        message_starts: vec![FIRST, SECOND],
        drafts: true,
        logprobs: None,
        constraint: None,
        priority: Priority::default(),
        prediction: Arc::default(),
        pictures: Vec::new(),
        known_drafts: None,
        widths: 1..=usize::MAX,
        remember: None,
    }
}

fn scheduler(model: &Qwen) -> Scheduler {
    let limits = Limits { prefix_cache_bytes: u64::MAX, ..Limits::default() };
    let mut scheduler = Scheduler::new(model, limits, Policy::default());
    scheduler.rebalance(0);
    scheduler
}

/// Caches and snapshot of a row that has read these tokens.
fn read(model: &Qwen, tokens: &[u32]) -> (RowCache, StateSnapshot) {
    let prompt = [tokens, &[1]].concat();
    let mut task = PrefillTask::new(model, Row::new(0, spec(&prompt))).unwrap();
    task.read_all(model).unwrap();
    let hidden = task.row.last_hidden().cloned();
    (task.row.cache, StateSnapshot { states: task.states, hidden, remote: None })
}

/// Writes one reply. Returns its tokens, and how many tokens were already read where its prefill began, the first time
/// and the last.
fn write(model: &Qwen, scheduler: &mut Scheduler, prompt: &[u32]) -> (Vec<u32>, usize, usize) {
    scheduler.submit(1, spec(prompt), Drafting::Fixed { depth: 2 }).unwrap();
    written(model, scheduler)
}

/// Like [`write`], of a request that was submitted before.
fn written(model: &Qwen, scheduler: &mut Scheduler) -> (Vec<u32>, usize, usize) {
    let (mut tokens, mut begins) = (Vec::new(), Vec::new());
    let mut before = usize::MAX;
    while !scheduler.is_idle() {
        for event in scheduler.pump(model) {
            match event {
                SchedulerEvent::Advanced { advance, .. } => tokens.extend(advance.tokens),
                SchedulerEvent::Prefilling { done, .. } => {
                    if done <= before {
                        begins.push(done);
                    }
                    before = done;
                }
                SchedulerEvent::Waiting { .. } => {}
                SchedulerEvent::Looked { .. } => {}
                SchedulerEvent::Failed { error, .. } => panic!("{error}"),
            }
        }
    }
    (tokens, begins[0], begins[begins.len() - 1])
}

/// The states of one row, settled and each changed.
fn changed(states: &[DeltaState], committed: usize, change: impl Fn(&Array) -> Array) -> Vec<DeltaState> {
    let states = states.iter().map(|state| {
        let (state, tail) = state.resolve(&[committed]).unwrap();
        DeltaState::settled(change(&state), tail)
    });
    states.collect()
}

/// An array of the same shape whose entries are no numbers.
fn undefined(like: &Array) -> Array {
    mlx::broadcast_to(&Array::scalar(f32::NAN, Dtype::Float32).unwrap(), like.shape()).unwrap()
}

/// Whatever is wrong with what was stored, and wherever that shows, the reply is that of a prompt that was read in
/// full, and what was wrong is forgotten.
#[test]
fn an_unusable_cached_prefix_is_read_again() {
    let model = demo();
    let prompt: Vec<u32> = (0..=SECOND as u32 + 40).map(|i| (i * 37 + i * i) % 900 + 20).collect();
    let (expected, none, _) = write(&model, &mut scheduler(&model), &prompt);
    assert_eq!(none, 0);

    let misshapen: fn(&Array) -> Array = |state| Array::zeros(&[1, 1, 3, 3, 3], state.dtype()).unwrap();
    let all = prompt.len() - 1;
    let cases = [
        ("nothing", FIRST, None),
        ("states of another shape, more to read", FIRST, Some(misshapen)),
        ("states of another shape, all read", all, Some(misshapen)),
        ("states that are no numbers, more to read", FIRST, Some(undefined as fn(&Array) -> Array)),
        ("states that are no numbers, all read", all, Some(undefined)),
    ];
    for (what, end, damage) in cases {
        let mut scheduler = scheduler(&model);
        let (cache, mut snapshot) = read(&model, &prompt[..end]);
        if let Some(damage) = damage {
            snapshot.states = changed(&snapshot.states, 0, damage);
        }
        scheduler.prefixes.insert(&prompt[..end], &cache, &snapshot, true).unwrap();
        let (tokens, first, last) = write(&model, &mut scheduler, &prompt);
        assert_eq!(tokens, expected, "{what}");
        assert_eq!((first, last == 0), (end, damage.is_some()), "{what}");
        // What was read instead is stored in its place.
        let (tokens, first, last) = write(&model, &mut scheduler, &prompt);
        assert_eq!((tokens, first >= SECOND, last), (expected.clone(), true, first), "{what}");
    }

    // Keys and values that do not fit to those before them.
    let mut scheduler = scheduler(&model);
    for end in [FIRST, SECOND] {
        let (mut cache, snapshot) = read(&model, &prompt[..end]);
        if end == SECOND {
            let mut other = RowKv::default();
            other.append(&Array::zeros(&[2, 1, SECOND as i32, 3], Dtype::Float32).unwrap()).unwrap();
            cache.kv = vec![other];
        }
        scheduler.prefixes.insert(&prompt[..end], &cache, &snapshot, true).unwrap();
    }
    let (tokens, first, _) = write(&model, &mut scheduler, &prompt);
    assert_eq!((tokens, first), (expected, 0), "keys and values");
}

/// As many keys and values, each NaN.
fn undefined_kv(kv: &RowKv) -> RowKv {
    let like = &kv.buffers()[0];
    let number = Array::scalar(f32::NAN, like.dtype()).unwrap();
    let shape = [2, like.dim(1), kv.len() as i32, like.dim(3)];
    let mut other = RowKv::default();
    other.append(&mlx::broadcast_to(&number, &shape).unwrap()).unwrap();
    other
}

/// Two chats share a prefix, and what is cached of it is unusable: once one of them has found out, neither
/// goes on from it.
#[test]
fn a_prefix_that_was_unusable_in_one_chat_is_not_tried_again_in_another() {
    let model = demo();
    let prompt = |own: usize| -> Vec<u32> {
        let token = |i: usize| (i * 37 + i * i + if i < FIRST { 0 } else { own }) % 900 + 20;
        (0..=SECOND + 40).map(|i| token(i) as u32).collect()
    };
    let prompts = [prompt(1), prompt(2)];
    let expected = prompts.each_ref().map(|prompt| write(&model, &mut scheduler(&model), prompt).0);
    let mut scheduler = scheduler(&model);
    let (mut cache, snapshot) = read(&model, &prompts[0][..FIRST]);
    cache.kv = cache.kv.iter().map(undefined_kv).collect();
    scheduler.prefixes.insert(&prompts[0][..FIRST], &cache, &snapshot, true).unwrap();
    let (cache, snapshot) = read(&model, &prompts[1][..SECOND]);
    scheduler.prefixes.insert(&prompts[1][..SECOND], &cache, &snapshot, true).unwrap();

    let (tokens, first, last) = write(&model, &mut scheduler, &prompts[0]);
    assert_eq!((&tokens, first, last), (&expected[0], FIRST, 0));
    for which in [0, 1, 0, 1] {
        let (tokens, first, last) = write(&model, &mut scheduler, &prompts[which]);
        assert_eq!(tokens, expected[which]);
        assert!(first >= FIRST && last == first, "chat {which} went on at {first}, and then at {last}");
    }
}

/// Something that happens to a row in the batch.
type Happens = fn(&mut Batch);

/// A row that was cancelled is still in the batch, turn after turn, and its id names another request by now. Whether
/// the row goes on, comes to its end, fails or has logits that are not finite: nothing of it is taken for that request.
#[test]
fn a_cancelled_row_is_not_taken_for_a_request_that_has_its_id() {
    let model = demo();
    let [old, new] =
        [3, 5].map(|odd| (0..60).map(|i| (i * 37 + i * i * odd) % 900 + 20).collect::<Vec<u32>>());
    let (expected, ..) = write(&model, &mut scheduler(&model), &new);
    let cases: [(&str, usize, Happens); 4] = [
        ("it goes on", 2, |_| {}),
        ("it comes to its end", 20, |_| {}),
        ("its step fails", 2, |batch| batch.rows[0].spec.logprobs = Some(1_000_000)),
        ("its logits are not finite", 2, |batch| {
            batch.states = changed(&batch.states, batch.committed[0], undefined);
            batch.committed = vec![0];
        }),
    ];
    for (what, turns, happens) in cases {
        let mut scheduler = scheduler(&model);
        scheduler.submit(1, spec(&old), Drafting::Fixed { depth: 2 }).unwrap();
        while !scheduler.pump(&model).iter().any(|event| matches!(event, SchedulerEvent::Advanced { .. })) {}
        // As `cancel` leaves a row that cannot be taken out.
        scheduler.requests.clear();
        scheduler.leaving.push(1);
        happens(&mut scheduler.groups[0].batch);
        let taken = scheduler.reserved_bytes();
        scheduler.submit(1, spec(&new), Drafting::Fixed { depth: 2 }).unwrap();
        assert_eq!(scheduler.reserved_bytes(), taken, "{what}");
        for turn in 0..turns {
            for event in scheduler.turn(&model) {
                assert!(
                    matches!(event, SchedulerEvent::Waiting { row: 1, ahead: 0 }),
                    "{what}, {turn}: {event:?}"
                );
            }
            assert!(scheduler.waiting().eq([1]), "{what}");
        }
        let (tokens, ..) = written(&model, &mut scheduler);
        assert_eq!(tokens, expected, "{what}");
    }
}

/// The names of all spans that begin, each once.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<BTreeSet<&'static str>>>);

impl<S: Subscriber> Layer<S> for Names {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.0.lock().unwrap().insert(attributes.metadata().name());
    }
}

/// Two requests, one of which is preempted: all that takes time is traced.
#[test]
fn what_takes_time_is_a_span() {
    let names = Names::default();
    let subscriber = Registry::default().with(names.clone());
    tracing::subscriber::with_default(subscriber, || {
        let model = demo();
        let prompt: Vec<u32> = (0..40).map(|i| i * 37 % 900 + 20).collect();
        let mut scheduler = scheduler(&model);
        let long = RowSpec { max_tokens: 300, message_starts: Vec::new(), ..spec(&prompt) };
        scheduler.limits = Limits { memory: 2 * scheduler.footprint.row(60), reserve: 9, ..scheduler.limits };
        (1..3).for_each(|id| scheduler.submit(id, long.clone(), Drafting::Off).unwrap());
        while !scheduler.is_idle() {
            for event in scheduler.pump(&model) {
                assert!(!matches!(event, SchedulerEvent::Failed { .. }), "{event:?}");
            }
        }
    });
    let of_a_step = ["build drafts", "build verify", "build logits", "hand over", "wait", "commit"];
    let expected =
        ["prefill", "request", "step", "swap in", "swap out"].into_iter().chain(of_a_step).collect();
    assert_eq!(*names.0.lock().unwrap(), expected);
}

/// A person comes before programs, and these before what nobody waits for; but nobody waits for ever.
#[test]
fn classes_come_first_and_nobody_waits_for_ever() {
    let model = demo();
    let mut scheduler = scheduler(&model);
    let prompt: Vec<u32> = (0..700).map(|i| 3 + i % 1900).collect();
    let of = |priority| RowSpec { priority, message_starts: Vec::new(), max_tokens: 1, ..spec(&prompt) };
    for (id, priority) in
        (0..).zip([Priority::Normal, Priority::Normal, Priority::Background, Priority::Normal])
    {
        scheduler.submit(id, of(priority), Drafting::Off).unwrap();
    }
    scheduler.pump(&model);
    assert_eq!(scheduler.prefilling().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(scheduler.waiting().collect::<Vec<_>>(), [3, 2]);
    scheduler.submit(4, of(Priority::Interactive), Drafting::Off).unwrap();
    assert_eq!(scheduler.waiting().collect::<Vec<_>>(), [4, 3, 2]);
    // As many people as there may be: what waits in the background lets four requests pass.
    let mut ended = Vec::new();
    let mut next = 5;
    while !ended.contains(&2) {
        if scheduler.waiting().count() < 3 {
            scheduler.submit(next, of(Priority::Interactive), Drafting::Off).unwrap();
            next += 1;
        }
        for event in scheduler.pump(&model) {
            if let SchedulerEvent::Advanced { advance, .. } = event {
                ended.push(advance.row);
            }
        }
        assert!(next < 30, "{ended:?}");
    }
    let before = |id| ended.iter().position(|&other| other == id);
    assert!(before(4) < before(2), "{ended:?}");
    // Behind the two that were being read, the four that may pass, and one beside it.
    assert!(before(2) <= Some(7), "{ended:?}");
}

/// The next question, or the results of tools, go on where a reply has ended: what lies inside its prompt is given up
/// before that.
#[test]
fn the_end_of_a_reply_outlives_the_insides_of_its_prompt() {
    const THIRD: usize = 240;
    let model = demo();
    let mut scheduler = scheduler(&model);
    let prompt: Vec<u32> = (0..THIRD as u32 + 30).map(|i| (i * 37 + i * i) % 900 + 20).collect();
    let spec = RowSpec { message_starts: vec![FIRST, SECOND, THIRD], ..spec(&prompt) };
    scheduler.submit(1, spec, Drafting::Off).unwrap();
    let (reply, ..) = written(&model, &mut scheduler);
    let whole = [prompt, reply].concat();
    let prefixes = &mut scheduler.prefixes;
    assert_eq!(prefixes.snapshots(), 4);
    prefixes.set_budget(prefixes.bytes() - 1);
    assert_eq!(prefixes.snapshots(), 3);
    let mut found = |tokens: usize| prefixes.find(&whole[..tokens]).map(|prefix| prefix.len());
    assert_eq!(found(whole.len()), Some(whole.len() - 1));
    assert_eq!([found(SECOND + 1), found(THIRD + 1)], [Some(FIRST), Some(THIRD)]);
}

/// Where a row's steps are wide anyway, Auto has the head draft what filler would stand for; nobody else's choice
/// changes.
#[test]
fn auto_drafts_what_would_be_filler() {
    let model = demo();
    let run = |drafting: Drafting, least: usize| {
        let mut scheduler = scheduler(&model);
        let spec = RowSpec { widths: least..=usize::MAX, ..spec(&[5, 17, 40, 9, 33, 21, 8]) };
        scheduler.submit(1, spec, drafting).unwrap();
        let (mut tokens, mut widths) = (Vec::new(), Vec::new());
        while !scheduler.is_idle() {
            for event in scheduler.pump(&model) {
                if let SchedulerEvent::Advanced { advance, timing } = event {
                    tokens.extend(advance.tokens);
                    widths.push((advance.drafted, advance.width, timing.padded));
                }
            }
        }
        (tokens, widths)
    };
    let (expected, plain) = run(Drafting::Off, 1);
    assert!(plain.iter().all(|&step| step == (0, 1, false)), "{plain:?}");
    let (tokens, padded) = run(Drafting::Off, 3);
    assert_eq!(tokens, expected);
    assert!(padded.iter().all(|&step| step == (0, 3, true)), "{padded:?}");
    let (tokens, drafted) = run(Drafting::Auto, 3);
    assert_eq!(tokens, expected);
    assert!(drafted.iter().all(|&(_, width, _)| width >= 3), "{drafted:?}");
    assert!(drafted.iter().any(|&(drafted, _, padded)| drafted >= 2 && !padded), "{drafted:?}");
}

/// Where drafts do not pay, a device that is handed steps piece by piece has the next one before the last was read; the
/// reply is the same, also beside a row that comes and goes.
#[test]
fn while_drafting_is_parked_steps_are_begun_beforehand() {
    let prompt = |seed: u32| (0..30).map(|i| (i * 37 + i * i * seed) % 900 + 20).collect::<Vec<u32>>();
    let run = |layers_per_piece, drafting| {
        let mut model = demo();
        model.stack.layers_per_piece = layers_per_piece;
        // Each token costs the same, so that no draft can pay.
        let times = PassTimes {
            passes: [(1, 0.01), (2, 0.02), (4, 0.04), (8, 0.08), (16, 0.16)].into(),
            draft: Some(0.01),
            block: None,
        };
        let policy = Policy::new(PolicyState::default().with_costs(times));
        let mut scheduler = Scheduler::new(&model, Limits::default(), policy);
        let asked =
            |seed, max_tokens| RowSpec { max_tokens, message_starts: Vec::new(), ..spec(&prompt(seed)) };
        scheduler.submit(1, asked(1, 120), drafting).unwrap();
        let (mut replies, mut begun, mut pumps) = (BTreeMap::<RowId, Vec<u32>>::new(), 0, 0);
        while !scheduler.is_idle() {
            pumps += 1;
            if pumps == 40 {
                scheduler.submit(2, asked(3, 20), drafting).unwrap();
            }
            for event in scheduler.pump(&model) {
                if let SchedulerEvent::Advanced { advance, .. } = event {
                    replies.entry(advance.row).or_default().extend(advance.tokens);
                }
            }
            begun += usize::from(scheduler.batch().has_begun());
        }
        mlx::synchronize().unwrap();
        (replies, begun)
    };
    let (expected, never) = run(None, Drafting::Off);
    assert_eq!((expected[&1].len(), expected[&2].len(), never), (120, 20, 0));
    let (parked, begun) = run(Some(1), Drafting::Mtp);
    assert_eq!(parked, expected);
    assert!(begun > 40, "{begun}");
}
