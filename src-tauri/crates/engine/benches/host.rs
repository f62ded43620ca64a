//! What a step costs beside its passes, without a model: drawing tokens, choosing draft depths, looking up a prompt.
//!
//! `cargo bench -p foretoken-engine`; Criterion compares each run with the one before.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use foretoken_engine::cache::{DeltaState, PrefixStore, RowCache, RowKv, StateSnapshot};
use foretoken_engine::decode::{PassTimes, Policy, PolicyState, RowOutcome, RowView, StepShape, StepView};
use foretoken_engine::mlx::{Array, Dtype, TopK};
use foretoken_engine::sample::{Drafts, History, SamplePosition, Sampler, sample};
use foretoken_protocol::{Drafting, Sampling};

/// Tokens of Qwen's vocabulary.
const VOCAB: i32 = 151_936;

/// A token for each position of a step of four rows with three drafts, greedily, with filters, and with penalties.
fn sampler(c: &mut Criterion) {
    const POSITIONS: usize = 16;
    let logits: Vec<f32> =
        (0..POSITIONS as i32 * VOCAB).map(|i| ((i % 7919) as f32 * 0.37).sin() * 8.0).collect();
    let logits = Array::from_slice(&logits, &[POSITIONS as i32, VOCAB]).unwrap();
    let chat = Sampling { temperature: 0.7, top_p: 0.8, top_k: 20, ..Sampling::default() };
    let cases = [
        ("greedy", Sampling { temperature: 0.0, ..chat }),
        ("top-k and top-p", chat),
        ("whole vocabulary", Sampling { temperature: 1.0, top_p: 1.0, top_k: 0, ..chat }),
        ("penalties", Sampling { presence_penalty: 1.5, repetition_penalty: 1.1, ..chat }),
    ];
    let mut group = c.benchmark_group("sampler");
    for (name, sampling) in &cases {
        let prompt: Vec<u32> = (0..2000).map(|i| i * 37 % VOCAB as u32).collect();
        let mut history = History::new(&prompt, &[], &[]);
        let seen = history.seen(VOCAB).unwrap();
        let positions: Vec<SamplePosition<'_>> = (0..POSITIONS)
            .map(|position| SamplePosition {
                sampler: Sampler { sampling, seed: 7, xtc_exempt: &[] },
                position,
                seen: (*name == "penalties").then(|| seen.clone()),
                before: Vec::new(),
                judged: None,
            })
            .collect();
        group.bench_function(*name, |b| {
            b.iter(|| {
                sample(&logits, &positions, &Drafts::default(), &TopK::default())
                    .unwrap()
                    .to_vec::<u32>()
                    .unwrap()
            });
        });
    }
}

/// The depths of a step, and what is learned from it.
fn policy(c: &mut Criterion) {
    let passes = [(1, 0.020), (2, 0.022), (3, 0.024), (4, 0.027), (8, 0.040), (16, 0.070)];
    let times = PassTimes { passes: passes.into(), draft: Some(0.001), block: None };
    let mut group = c.benchmark_group("policy");
    for rows in [1, 8] {
        let mut policy = Policy::new(PolicyState::default().with_costs(times.clone()));
        let views: Vec<RowView> = (0..rows)
            .map(|row| RowView {
                drafting: Drafting::Auto,
                room: 8,
                head: usize::MAX,
                block: 0,
                lookup: None,
                chat: policy.join(&[row], &[]),
            })
            .collect();
        group.bench_function(BenchmarkId::from_parameter(rows), |b| {
            b.iter(|| {
                let plans = policy.choose(black_box(&views));
                let outcomes: Vec<_> = views
                    .iter()
                    .zip(&plans)
                    .map(|(view, &drafts)| {
                        let accepted = drafts.depth * 3 / 4;
                        RowOutcome { chat: view.chat, drafts, accepted, lookup: None }
                    })
                    .collect();
                let shape = StepShape::of(&plans);
                let took = Some(Duration::from_millis(20 + 2 * shape.width as u64));
                policy.observe(&StepView {
                    rows: &outcomes,
                    shape,
                    took,
                    caught_up: false,
                    pipelined: None,
                    in_company: false,
                });
            });
        });
    }
}

/// Caches and snapshot of a row of so many tokens, of a small model.
fn row(tokens: usize) -> (RowCache, StateSnapshot) {
    let zeros = |shape: &[i32]| {
        let count = shape.iter().product::<i32>() as usize;
        Array::from_slice(&vec![0f32; count], shape).unwrap().astype(Dtype::Bfloat16).unwrap()
    };
    let mut kv = RowKv::default();
    kv.append(&zeros(&[2, 1, tokens as i32, 64])).unwrap();
    let states = vec![DeltaState::settled(zeros(&[1, 1, 4, 32, 32]), zeros(&[1, 3, 64]))];
    let cache = RowCache { kv: vec![kv], head: None, draft: None, remote: None };
    (cache, StateSnapshot { states, hidden: None, remote: None })
}

/// A prompt of 4,000 tokens in a store of many chats that begin with the same 1,000.
fn prefix_store(c: &mut Criterion) {
    let chat =
        |chat: u32| -> Vec<u32> { (0..1000).chain((0..3000).map(|i| 10_000 + chat * 3000 + i)).collect() };
    let mut group = c.benchmark_group("prefix store");
    for chats in [10, 200] {
        let mut store = PrefixStore::default();
        store.set_budget(u64::MAX);
        let (cache, snapshot) = row(4000);
        store.insert(&chat(0)[..1000], &cache, &snapshot, true).unwrap();
        for number in 0..chats {
            store.insert(&chat(number), &cache, &snapshot, true).unwrap();
        }
        let prompt = [chat(chats - 1), vec![1; 50]].concat();
        group.bench_function(BenchmarkId::new("find", chats), |b| {
            b.iter(|| assert_eq!(store.find(black_box(&prompt)).map(|prefix| prefix.len()), Some(4000)));
        });
        let mut number = chats;
        group.bench_function(BenchmarkId::new("insert and evict", chats), |b| {
            // One chat more than the budget has room for.
            store.set_budget(store.bytes());
            let mut next = || {
                number += 1;
                chat(number)
            };
            let insert = |prompt: Vec<u32>| store.insert(&prompt, &cache, &snapshot, true).unwrap();
            b.iter_batched(&mut next, insert, BatchSize::PerIteration);
        });
    }
}

criterion_group!(benches, sampler, policy, prefix_store);
criterion_main!(benches);
