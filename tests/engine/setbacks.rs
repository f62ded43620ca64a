//! Requests that must wait again because others need the memory, and steps that fail: the text goes on as if nothing
//! had happened, and only the request that cannot go on ends.

use std::collections::BTreeMap;
use std::time::Duration;

use foretoken_engine::decode::{
    Batch, Footprint, Limits, PREFILL_CHUNK, PrefillTask, RowId, RowSpec, Scheduler, SchedulerEvent,
};
use foretoken_engine::model::Qwen;
use foretoken_protocol::{Drafting, KvPrecision, Sampling};
use foretoken_tests::drafted::drafted;
use foretoken_tests::fixtures::{Stored, demo_model, load_keeping, tiny_dense};
use foretoken_tests::known::{Known, known_rows, samplings};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{alone, eager_policy, forced, greedy, read};

/// A scheduler, and what it has said.
struct Harness<'a> {
    model: &'a Qwen,
    scheduler: Scheduler,
    tokens: BTreeMap<RowId, Vec<u32>>,
    finished: Vec<RowId>,
    failed: BTreeMap<RowId, String>,
    /// How often each request was told to wait after it had written something.
    interrupted: BTreeMap<RowId, usize>,
    /// Requests that were told to wait and have not been read since.
    waiting: Vec<RowId>,
    turns: usize,
}

impl<'a> Harness<'a> {
    fn new(model: &'a Qwen, limits: Limits) -> Self {
        Self {
            model,
            scheduler: Scheduler::new(model, limits, eager_policy()),
            tokens: BTreeMap::new(),
            finished: Vec::new(),
            failed: BTreeMap::new(),
            interrupted: BTreeMap::new(),
            waiting: Vec::new(),
            turns: 0,
        }
    }

    fn submit(&mut self, id: usize, spec: &RowSpec, drafting: Drafting) {
        self.scheduler.submit(id as RowId, spec.clone(), drafting).unwrap();
    }

    fn pump(&mut self) {
        self.turns += 1;
        assert!(self.turns < 20_000, "it never ends");
        for event in self.scheduler.pump(self.model) {
            match event {
                SchedulerEvent::Waiting { row, .. } => {
                    if !self.tokens(row as usize).is_empty() && !self.waiting.contains(&row) {
                        *self.interrupted.entry(row).or_default() += 1;
                    }
                    self.waiting.push(row);
                }
                SchedulerEvent::Prefilling { row, done, total } => {
                    assert!(done <= total);
                    self.waiting.retain(|&waiting| waiting != row);
                }
                SchedulerEvent::Advanced { advance, .. } => {
                    assert!(
                        !self.waiting.contains(&advance.row),
                        "a row that was told to wait is read first"
                    );
                    self.tokens.entry(advance.row).or_default().extend(&advance.tokens);
                    if advance.finish.is_some() {
                        self.finished.push(advance.row);
                    }
                }
                SchedulerEvent::Looked { .. } => {}
                SchedulerEvent::Failed { row, error } => {
                    assert!(self.failed.insert(row, error.to_string()).is_none(), "{row} failed twice");
                }
            }
        }
    }

    fn turn_until(&mut self, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            self.pump();
        }
    }

    fn tokens(&self, id: usize) -> &[u32] {
        self.tokens.get(&(id as RowId)).map_or(&[], Vec::as_slice)
    }
}

/// Long rows: one greedy, the others drawn in several ways.
fn long_rows(model: &Qwen, max_tokens: usize) -> Vec<Known> {
    let mut rng = Rng::new(21);
    let base = Sampling { temperature: 0.9, ..Sampling::default() };
    let samplings = [
        Sampling::default(),
        Sampling { top_p: 0.9, top_k: 40, xtc_probability: 0.3, xtc_threshold: 0.05, ..base },
        Sampling { repetition_penalty: 1.2, frequency_penalty: 0.1, ..base },
    ];
    let row = |(i, sampling)| {
        let spec = RowSpec { sampling, seed: 7 + i as u64, ..greedy(&rng.prompt(12 + i), max_tokens) };
        let tokens = alone(model, &RowSpec { drafts: false, ..spec.clone() }, 0).tokens;
        Known { spec, tokens }
    };
    samplings.into_iter().enumerate().map(row).collect()
}

/// Three replies outgrow what was set aside when they were admitted, and there is memory for two of them: the youngest
/// waits and goes on exactly where it was, which in bf16 and 8 bits only its own caches and states can give.
#[test]
fn replies_that_outgrow_their_memory_wait_and_go_on() {
    outgrow_memory(&tiny_dense(Stored::F32));
    for precision in [KvPrecision::Full, KvPrecision::Eight] {
        outgrow_memory(&load_keeping(&demo_model(), precision));
    }
}

fn outgrow_memory(model: &Qwen) {
    let rows = long_rows(model, 290);
    let footprint = Footprint::of(model);
    let memory = 3 * footprint.row(rows[2].spec.prompt.len() + 9);
    assert!(3 * footprint.row(290) > memory && 2 * footprint.row(320) < memory);
    // Where nothing may hold up the others, a row's caches and states are swapped a part at a time.
    for (prefix_cache_bytes, rate, max_stall) in
        [(0, Some(0.7), Limits::default().max_stall), (memory / 2, None, Duration::ZERO)]
    {
        let limits = Limits { memory, prefix_cache_bytes, reserve: 9, max_stall };
        let mut harness = Harness::new(model, limits);
        let drafting = [Drafting::Fixed { depth: 4 }, Drafting::Auto, Drafting::Fixed { depth: 2 }];
        for (id, row) in rows.iter().enumerate() {
            match rate {
                None => harness.submit(id, &row.spec, Drafting::Off),
                Some(rate) => harness.submit(id, &forced(&row.spec, &row.tokens, rate), drafting[id]),
            }
        }
        harness.turn_until(|harness| harness.scheduler.batch().rows().len() == 3);
        let read = harness.scheduler.layers_run();
        let (mut holding, mut moving) = (0, 0);
        while !harness.scheduler.is_idle() {
            let written = [0, 1].map(|id| harness.tokens(id).len());
            harness.pump();
            holding += usize::from(harness.scheduler.resident_bytes() > 0);
            moving += usize::from(harness.scheduler.prefilling().next().is_some());
            for (id, row) in rows.iter().enumerate() {
                let tokens = harness.tokens(id);
                assert_eq!(tokens, &row.tokens[..tokens.len()], "row {id}, rate {rate:?}");
                if let Some(&before) = written.get(id) {
                    assert!(tokens.len() > before || before == row.tokens.len(), "row {id} was held up");
                }
            }
        }
        // Each of its layers takes a turn, out of memory and back.
        assert_eq!(holding.min(moving) >= 4, max_stall.is_zero(), "{holding} and {moving} turns");
        for (id, row) in rows.iter().enumerate() {
            assert_eq!(harness.tokens(id), row.tokens, "row {id}, rate {rate:?}");
        }
        println!("interrupted: {:?}, {} turns", harness.interrupted, harness.turns);
        assert_eq!(harness.interrupted.keys().copied().collect::<Vec<_>>(), [2], "the older ones go on");
        assert!(harness.interrupted[&2] <= 2, "nobody has to wait again and again");
        assert_eq!(harness.scheduler.layers_run(), read, "nothing is read again");
        assert_eq!(harness.scheduler.reserved_bytes(), 0);
        let counters = harness.scheduler.counters();
        assert!(counters.preemptions >= harness.interrupted[&2] as u64, "{counters:?}");
        assert!(counters.swapped_out_bytes > 0, "{counters:?}");
        assert_eq!(counters.swapped_in_bytes, counters.swapped_out_bytes, "all comes back");
    }
}

/// Whoever waits again may be cancelled, however much of it has moved, and nothing is left of it.
#[test]
fn a_request_that_waits_again_may_leave() {
    let model = tiny_dense(Stored::F32);
    let rows = long_rows(&model, 290);
    let memory = 2 * Footprint::of(&model).row(40);
    let slowly = Limits { memory, reserve: 9, max_stall: Duration::ZERO, ..Limits::default() };
    let at_once = Limits { max_stall: Limits::default().max_stall, ..slowly };
    for (limits, when_stored) in [(at_once, true), (slowly, false), (slowly, true)] {
        let mut harness = Harness::new(&model, limits);
        (0..2).for_each(|id| harness.submit(id, &rows[id].spec, Drafting::Off));
        harness.turn_until(|harness| {
            harness.interrupted.contains_key(&1) && (!when_stored || harness.scheduler.resident_bytes() == 0)
        });
        assert_eq!(harness.scheduler.resident_bytes() == 0, when_stored);
        assert_eq!(harness.scheduler.waiting().collect::<Vec<_>>(), [1]);
        harness.scheduler.cancel(&model, &[1]);
        assert_eq!(harness.scheduler.resident_bytes(), 0);
        let written = harness.tokens(1).len();
        harness.turn_until(|harness| harness.scheduler.is_idle());
        assert_eq!(harness.tokens(0), rows[0].tokens);
        assert!(written > 0 && harness.tokens(1).len() == written);
        assert_eq!(harness.finished, [0]);
    }
}

/// The others are cancelled as soon as a row is preempted: it turns round where it is, and may leave on the way.
#[test]
fn a_row_that_is_wanted_back_turns_round() {
    let model = tiny_dense(Stored::F32);
    let rows = long_rows(&model, 290);
    let memory = 2 * Footprint::of(&model).row(40);
    let limits = Limits { memory, reserve: 9, max_stall: Duration::ZERO, ..Limits::default() };
    for leaves in [false, true] {
        let mut harness = Harness::new(&model, limits);
        (0..2).for_each(|id| harness.submit(id, &rows[id].spec, Drafting::Off));
        harness.turn_until(|harness| harness.interrupted.contains_key(&1));
        let held = harness.scheduler.resident_bytes();
        assert!(held > 0);
        let read = harness.scheduler.layers_run();
        harness.scheduler.cancel(&model, &[0]);
        harness.turn_until(|harness| {
            harness.scheduler.prefilling().eq([1]) || !harness.scheduler.batch().rows().is_empty()
        });
        if leaves {
            harness.scheduler.cancel(&model, &[1]);
            assert!(harness.scheduler.is_idle() && harness.scheduler.reserved_bytes() == 0);
            continue;
        }
        harness.turn_until(|harness| harness.scheduler.is_idle());
        assert_eq!(harness.tokens(1), rows[1].tokens);
        assert_eq!(harness.scheduler.layers_run(), read, "nothing is read again");
    }
}

/// A row whose step fails whoever is beside it: it asks for more alternatives than there are tokens.
fn failing(spec: &RowSpec) -> RowSpec {
    RowSpec { logprobs: Some(1_000_000), ..spec.clone() }
}

#[test]
fn a_row_that_makes_steps_fail_ends_and_the_others_go_on() {
    let head = [Drafting::Off, Drafting::Fixed { depth: 3 }, Drafting::Auto];
    some_rows_fail(&tiny_dense(Stored::F32), head);
    let draft_model = [Some(3), Some(7), None].map(|depth| Drafting::Dflash { depth });
    some_rows_fail(&drafted(6), draft_model);
}

fn some_rows_fail(model: &Qwen, drafting: [Drafting; 3]) {
    let count = samplings().len();
    let rows = known_rows(model, &mut Rng::new(22), count, 40);
    for (bad, after) in [(vec![0], 0), (vec![3], 0), (vec![3], 12), (vec![count - 1], 25), (vec![1, 4], 7)] {
        let mut harness = Harness::new(model, Limits::default());
        let drafting = |id: usize| drafting[id % 3];
        for (id, row) in rows.iter().enumerate().filter(|(id, _)| !bad.contains(id)) {
            harness.submit(id, &forced(&row.spec, &row.tokens, 0.6), drafting(id));
        }
        harness.turn_until(|harness| harness.tokens(2).len() >= after);
        for &id in &bad {
            harness.submit(id, &failing(&rows[id].spec), drafting(id));
        }
        harness.turn_until(|harness| harness.scheduler.is_idle());
        for (id, row) in rows.iter().enumerate() {
            if bad.contains(&id) {
                assert!(
                    harness.failed.contains_key(&(id as RowId)) && harness.tokens(id).is_empty(),
                    "row {id}"
                );
            } else {
                assert_eq!(harness.tokens(id), row.tokens, "row {id} beside {bad:?} after {after}");
            }
        }
        assert_eq!(harness.failed.len(), bad.len(), "{:?}", harness.failed);
        println!("{bad:?} after {after}: {} turns, {:?}", harness.turns, harness.failed);
    }
}

/// Two rows of one step make it fail, whoever is beside them: all keep their tokens, and read on as they would have.
#[test]
fn several_rows_may_fail_in_one_step() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(24), 5, 20);
    for depth in [0, 3] {
        let mut batch = Batch::default();
        let mut written = vec![Vec::new(); rows.len()];
        for (id, row) in rows.iter().enumerate() {
            batch.join(read(&model, id as RowId, &forced(&row.spec, &row.tokens, 0.7))).unwrap();
        }
        for _ in 0..3 {
            for advance in batch.step(&model, &[depth; 5]).unwrap().advances {
                written[advance.row as usize].extend(advance.tokens);
            }
        }
        // Two of them are asked for anew, and fail.
        for id in [1, 4] {
            batch.remove(&[id as RowId]).unwrap();
            batch.join(read(&model, id as RowId, &failing(&rows[id].spec))).unwrap();
            written[id].clear();
        }
        let failed = batch.step(&model, &[depth; 5]).unwrap_err();
        assert!(batch.rows().is_empty() && batch.settled_states().unwrap().is_empty());
        assert_eq!(failed.rows.len(), 5);
        for row in failed.rows {
            let id = row.id as usize;
            assert_eq!((row.emitted(), row.cache().arrays().count()), (&*written[id], 0));
            let mut task = PrefillTask::new(&model, row).unwrap();
            task.read_all(&model).unwrap();
            let mut alone = Batch::of(task);
            if [1, 4].contains(&id) {
                assert!(alone.step(&model, &[depth]).is_err());
                continue;
            }
            while !alone.rows().is_empty() {
                for advance in alone.step(&model, &[depth]).unwrap().advances {
                    written[id].extend(advance.tokens);
                }
            }
            assert_eq!(written[id], rows[id].tokens, "row {id}, depth {depth}");
        }
    }
}

/// While a long prompt is read, layer by layer, and another request joins, steps fail one after the other.
#[test]
fn steps_may_fail_while_others_are_read_and_join() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(25);
    let rows = known_rows(&model, &mut rng, 5, 30);
    let long = Known::new(&model, greedy(&rng.prompt(2 * PREFILL_CHUNK + 9), 12));
    for after in [1, 5, 11, 17, 24] {
        let limits = Limits { max_stall: Duration::ZERO, ..Limits::default() };
        let mut harness = Harness::new(&model, limits);
        (0..2).for_each(|id| harness.submit(id, &rows[id].spec, Drafting::Auto));
        harness.turn_until(|harness| harness.tokens(0).len() >= 4);
        harness.submit(5, &long.spec, Drafting::Auto);
        let begin = harness.scheduler.layers_run();
        harness.turn_until(|harness| harness.scheduler.layers_run() >= begin + after);
        assert!(harness.scheduler.prefilling().any(|id| id == 5));
        for id in [2, 3] {
            harness.submit(id, &failing(&rows[id].spec), Drafting::Fixed { depth: 2 });
        }
        harness.submit(4, &rows[4].spec, Drafting::Fixed { depth: 2 });
        harness.turn_until(|harness| harness.scheduler.is_idle());
        for id in [0, 1, 4] {
            assert_eq!(harness.tokens(id), rows[id].tokens, "row {id}, after {after} layers");
        }
        assert_eq!(harness.tokens(5), long.tokens, "after {after} layers");
        assert_eq!(harness.failed.keys().copied().collect::<Vec<_>>(), [2, 3]);
    }
}

/// Requests that come while rows are tried one by one wait their turn and read the same.
#[test]
fn requests_may_come_and_go_while_a_failure_is_looked_for() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(23), 6, 30);
    let mut harness = Harness::new(&model, Limits::default());
    (0..3).for_each(|id| harness.submit(id, &rows[id].spec, Drafting::Auto));
    harness.turn_until(|harness| harness.tokens(0).len() >= 4);
    harness.submit(3, &failing(&rows[3].spec), Drafting::Off);
    harness.turn_until(|harness| harness.scheduler.batch().rows().is_empty());
    harness.submit(4, &rows[4].spec, Drafting::Auto);
    harness.scheduler.cancel(&model, &[1]);
    let written = harness.tokens(1).to_vec();
    harness.submit(5, &failing(&rows[5].spec), Drafting::Off);
    harness.turn_until(|harness| harness.scheduler.is_idle());
    for id in [0, 2, 4] {
        assert_eq!(harness.tokens(id), rows[id].tokens, "row {id}");
    }
    assert_eq!((harness.tokens(1), &*written), (&*written, &rows[1].tokens[..written.len()]));
    assert_eq!(harness.failed.keys().copied().collect::<Vec<_>>(), [3, 5]);
}
