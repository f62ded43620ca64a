//! Memory: what a request takes is given back when it ends, however it ends, and is no more than was set aside for it.
//!
//! One test, since the figures are the process's.

use foretoken_engine::cache::RowKv;
use foretoken_engine::decode::{
    Calibration, Footprint, Limits, PREFILL_CHUNK, RowId, RowSpec, Scheduler, SchedulerEvent,
};
use foretoken_engine::mlx::{self, Array, Dtype};
use foretoken_engine::model::Qwen;
use foretoken_protocol::{Drafting, KvPrecision};
use foretoken_tests::fixtures::{Stored, tiny_dense};
use foretoken_tests::known::samplings;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{eager_policy, greedy};

/// Requests of the soak; the full one is `FORETOKEN_SOAK=10000`.
const REQUESTS: usize = 400;
/// Requests in flight.
const COMPANY: usize = 6;

fn cancelled_requests_free_everything_at_once(model: &Qwen) {
    let mut scheduler = Scheduler::new(model, Limits::default(), eager_policy());
    let mut rng = Rng::new(1);
    let long = greedy(&rng.prompt(3 * PREFILL_CHUNK), 50);
    let short = greedy(&rng.prompt(10), 50);
    let baseline = mlx::active_memory();
    for running in [0, 1, 3] {
        for turns in [0, 1, 2, 6, 20] {
            for id in 0..running {
                scheduler.submit(id, short.clone(), Drafting::Fixed { depth: 2 }).unwrap();
            }
            while scheduler.batch().rows().len() < running as usize {
                scheduler.pump(model);
            }
            let before = mlx::active_memory();
            scheduler.submit(10, long.clone(), Drafting::Auto).unwrap();
            (0..turns).for_each(|_| _ = scheduler.pump(model));
            if running == 0 && turns > 0 {
                assert!(mlx::active_memory() > before, "{turns} turns: it holds something");
            }
            scheduler.cancel(model, &[10]);
            assert_eq!(scheduler.is_idle(), running == 0 || scheduler.batch().rows().is_empty());
            let ids: Vec<RowId> = (0..running).collect();
            scheduler.cancel(model, &ids);
            assert!(scheduler.is_idle());
            assert_eq!(mlx::active_memory(), baseline, "{running} rows, {turns} turns");
        }
    }
}

fn a_calibration_leaves_nothing_behind(model: &Qwen) {
    let baseline = mlx::active_memory();
    let Calibration { times, verdicts } = Calibration::run(model, &[0]).unwrap();
    assert_eq!(mlx::active_memory(), baseline);
    let measured = |width| times.passes.iter().any(|&(measured, seconds)| measured == width && seconds > 0.0);
    assert!((1..=4).all(measured) && times.draft.is_some_and(|seconds| seconds > 0.0), "{times:?}");
    assert!(
        [1, 2, 3].iter().all(|depth| verdicts.iter().any(|(_, drafted, _)| drafted == depth)),
        "{verdicts:?}"
    );
}

fn memory_stays_flat_over_many_requests(model: &Qwen, requests: usize) {
    let mut scheduler = Scheduler::new(model, Limits::default(), eager_policy());
    let mut rng = Rng::new(2);
    let samplings = samplings();
    let baseline = mlx::active_memory();
    let (mut submitted, mut in_flight, mut done) = (0, Vec::<RowId>::new(), 0);
    let mut highest = 0;
    while done < requests {
        while submitted < requests && in_flight.len() < COMPANY && submitted / 100 == done / 100 {
            // Coming and going is what counts; now and then one stays longer.
            let (prompt, reply) = if rng.below(16) == 0 { (40, 24) } else { (10, 6) };
            let length = 1 + rng.below(prompt);
            let spec = RowSpec {
                sampling: rng.one_of(&samplings),
                seed: submitted as u64,
                logprobs: (rng.below(8) == 0).then_some(3),
                ..greedy(&rng.prompt(length), 1 + rng.below(reply))
            };
            let depth = 1 + rng.below(4) as u8;
            let drafting = rng.one_of(&[Drafting::Off, Drafting::Auto, Drafting::Fixed { depth }]);
            scheduler.submit(submitted as RowId, spec, drafting).unwrap();
            in_flight.push(submitted as RowId);
            submitted += 1;
        }
        let mut ended: Vec<RowId> = Vec::new();
        for event in scheduler.pump(model) {
            match event {
                SchedulerEvent::Advanced { advance, .. } if advance.finish.is_some() => {
                    ended.push(advance.row)
                }
                SchedulerEvent::Failed { row, error } => panic!("request {row}: {error}"),
                _ => {}
            }
        }
        let held = mlx::active_memory() - baseline;
        let reserved = scheduler.reserved_bytes() as usize;
        assert!(held <= reserved + reserved / 20, "{held} bytes held, {reserved} set aside");
        highest = highest.max(held);
        if rng.below(20) == 0 && !in_flight.is_empty() {
            let id = rng.one_of(&in_flight);
            scheduler.cancel(model, &[id]);
            ended.push(id);
        }
        ended.sort_unstable();
        ended.dedup();
        in_flight.retain(|id| !ended.contains(id));
        done = submitted - in_flight.len();
        // Every hundred requests everything comes to rest.
        if in_flight.is_empty() {
            assert!(scheduler.is_idle());
            assert_eq!(mlx::active_memory(), baseline, "after {done} requests");
            assert_eq!(scheduler.reserved_bytes(), 0);
        }
    }
    println!("{done} requests; at most {highest} bytes held at a time");
}

/// The prefix cache is counted to the byte, more or less, and stays within its budget whatever comes.
fn the_prefix_cache_stays_within_its_budget(model: &Qwen, requests: usize) {
    let mut rng = Rng::new(3);
    let baseline = mlx::active_memory();
    let bytes_of_one = Footprint::of(model).row(300);
    let limits =
        Limits { memory: 8 * bytes_of_one, prefix_cache_bytes: 3 * bytes_of_one, ..Limits::default() };
    let mut scheduler = Scheduler::new(model, limits, eager_policy());
    let mut chats: Vec<Vec<u32>> = Vec::new();
    let mut highest = 0;
    for request in 0..requests {
        let mut prompt = if chats.is_empty() { Vec::new() } else { chats[rng.below(chats.len())].clone() };
        prompt.truncate(600 - rng.below(300));
        let mark = prompt.len();
        let length = 40 + rng.below(100);
        prompt.extend(rng.prompt(length));
        chats.push(prompt.clone());
        let spec =
            RowSpec { message_starts: vec![mark, prompt.len() - 3], ..greedy(&prompt, 1 + rng.below(40)) };
        scheduler.submit(request as RowId, spec, Drafting::Fixed { depth: 2 }).unwrap();
        let turns = if rng.below(4) == 0 { rng.below(30) } else { usize::MAX };
        for _ in 0..turns {
            if scheduler.is_idle() {
                break;
            }
            scheduler.pump(model);
            let held = (mlx::active_memory() - baseline) as u64;
            let counted = scheduler.reserved_bytes() + scheduler.prefixes().bytes();
            assert!(held <= counted + counted / 20, "{held} bytes held, {counted} counted");
            assert!(counted <= limits.memory && scheduler.prefixes().bytes() <= limits.prefix_cache_bytes);
        }
        scheduler.cancel(model, &[request as RowId]);
        let held = (mlx::active_memory() - baseline) as u64;
        let counted = scheduler.prefixes().bytes();
        assert!(held.abs_diff(counted) <= counted / 20, "{held} bytes held, {counted} counted");
        highest = highest.max(counted);
    }
    println!(
        "{requests} requests; at most {highest} of {} bytes prefix_cache_bytes",
        limits.prefix_cache_bytes
    );
    assert!(highest > limits.prefix_cache_bytes / 2);
    drop(scheduler);
    mlx::clear_cache();
    assert_eq!(mlx::active_memory(), baseline);
}

/// A row's buffer is written where it is; a handle that somebody keeps costs one copy of it, and only one.
fn appending_copies_nothing_unless_somebody_holds_the_buffer() {
    for precision in [KvPrecision::Full, KvPrecision::Eight] {
        appending_in_place(precision);
    }
}

fn appending_in_place(precision: KvPrecision) {
    let mut kv = RowKv::new(precision);
    kv.reserve(8192);
    let entry = Array::zeros(&[2, 8, 1, 64], Dtype::Float32).unwrap();
    let mut append = |held: bool| {
        let handles = held.then(|| kv.buffers().to_vec());
        let before = mlx::active_memory();
        mlx::reset_peak_memory();
        kv.append(&entry).unwrap();
        mlx::eval(kv.buffers()).unwrap();
        drop(handles);
        (mlx::peak_memory().saturating_sub(before), kv.buffers().iter().map(Array::nbytes).sum::<usize>())
    };
    append(false);
    for held in [false, true, false, false, true] {
        let (more, bytes) = append(held);
        if held {
            assert!((bytes..2 * bytes).contains(&more), "{more} bytes for a buffer of {bytes}");
        } else {
            assert!(more < bytes / 8, "{more} bytes for a buffer of {bytes}");
        }
    }
}

/// Replies that outgrow what was set aside for them take no more than there is, whoever has to wait for that.
fn replies_that_outgrow_their_memory_stay_within_it(model: &Qwen) {
    let mut rng = Rng::new(4);
    let baseline = mlx::active_memory();
    let memory = 3 * Footprint::of(model).row(30);
    for prefix_cache_bytes in [0, memory / 2] {
        let limits = Limits { memory, prefix_cache_bytes, reserve: 9, ..Limits::default() };
        let mut scheduler = Scheduler::new(model, limits, eager_policy());
        for id in 0..4 {
            let spec = greedy(&rng.prompt(10), 250 + 20 * id);
            scheduler.submit(id as RowId, spec, Drafting::Fixed { depth: 2 }).unwrap();
        }
        let mut waited_again = false;
        while !scheduler.is_idle() {
            let running = scheduler.batch().rows().len();
            scheduler.pump(model);
            waited_again |= scheduler.batch().rows().len() + scheduler.prefilling().count() < running;
            let held = (mlx::active_memory() - baseline) as u64;
            assert!(held <= memory + memory / 20, "{held} bytes held of {memory}");
        }
        assert!(waited_again);
        drop(scheduler);
        assert_eq!(mlx::active_memory(), baseline);
    }
}

#[test]
fn memory_is_given_back() {
    let requests = std::env::var("FORETOKEN_SOAK").map_or(REQUESTS, |requests| requests.parse().unwrap());
    let model = tiny_dense(Stored::F32);
    appending_copies_nothing_unless_somebody_holds_the_buffer();
    a_calibration_leaves_nothing_behind(&model);
    cancelled_requests_free_everything_at_once(&model);
    memory_stays_flat_over_many_requests(&model, requests);
    replies_that_outgrow_their_memory_stay_within_it(&model);
    // Its budget is full behind a few dozen.
    the_prefix_cache_stays_within_its_budget(&model, (requests / 50).max(50));
}
