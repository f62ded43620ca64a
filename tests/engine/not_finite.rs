//! A token that makes the model compute infinite or undefined numbers: the reply with it ends there, with a named
//! error; those beside it and those that only had it as a draft read as if there were no such token; the
//! prefix cache keeps nothing of it.

use std::collections::BTreeMap;

use foretoken_engine::EngineError;
use foretoken_engine::decode::{
    Batch, KnownDrafts, Limits, Policy, RowError, RowId, RowSpec, Scheduler, SchedulerEvent,
};
use foretoken_engine::mlx::{Array, Dtype};
use foretoken_engine::model::{Embedding, Matrix, Qwen};
use foretoken_protocol::{Drafting, ErrorReport};
use foretoken_tests::fixtures::{Stored, tiny_dense};
use foretoken_tests::known::{Known, known_rows};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{alone, forced, greedy, read};

/// The small random model with one number in the vector of `token` replaced. Its output head stays as it was.
fn poisoned(token: u32, value: f32) -> Qwen {
    let mut model = tiny_dense(Stored::F32);
    let table = model.embed_tokens.arrays()[0].clone();
    let mut values = table.to_vec::<f32>().unwrap();
    values[token as usize * table.dim(1) as usize] = value;
    let table = Array::from_slice(&values, table.shape()).unwrap();
    model.embed_tokens = Embedding::new(Matrix::dense(table).unwrap(), Dtype::Float32);
    model
}

struct Outcome {
    tokens: BTreeMap<RowId, Vec<u32>>,
    failed: BTreeMap<RowId, RowError>,
}

fn run(scheduler: &mut Scheduler, model: &Qwen, specs: &[(RowSpec, Drafting)]) -> Outcome {
    for (id, (spec, drafting)) in specs.iter().enumerate() {
        scheduler.submit(id as RowId, spec.clone(), *drafting).unwrap();
    }
    let mut outcome = Outcome { tokens: BTreeMap::new(), failed: BTreeMap::new() };
    while !scheduler.is_idle() {
        for event in scheduler.pump(model) {
            match event {
                SchedulerEvent::Advanced { advance, .. } => {
                    assert!(!outcome.failed.contains_key(&advance.row));
                    outcome.tokens.entry(advance.row).or_default().extend(advance.tokens);
                }
                SchedulerEvent::Failed { row, error } => _ = outcome.failed.insert(row, error),
                SchedulerEvent::Waiting { .. }
                | SchedulerEvent::Prefilling { .. }
                | SchedulerEvent::Looked { .. } => {}
            }
        }
    }
    outcome
}

fn caching(model: &Qwen) -> Scheduler {
    let limits = Limits { prefix_cache_bytes: u64::MAX, ..Limits::default() };
    Scheduler::new(model, limits, Policy::default())
}

/// A token that `rows[which]` writes in the middle of its text, and nobody else has.
fn own_token(rows: &[Known], which: usize) -> (u32, usize) {
    let has = |row: &Known, token: &u32| row.spec.prompt.contains(token) || row.tokens.contains(token);
    let alone_with = |token: &u32| {
        rows.iter().enumerate().all(|(i, row)| i == which || !has(row, token))
            && !rows[which].spec.prompt.contains(token)
    };
    let tokens = &rows[which].tokens;
    let place = (3..tokens.len() - 2).find(|&i| !tokens[..i].contains(&tokens[i]) && alone_with(&tokens[i]));
    let place = place.expect("a text of its own");
    (tokens[place], place)
}

#[test]
fn a_reply_ends_where_the_numbers_do_and_the_others_go_on() {
    let healthy = tiny_dense(Stored::F32);
    let rows = known_rows(&healthy, &mut Rng::new(71), 7, 40);
    for which in [0, 1, 5] {
        let (token, place) = own_token(&rows, which);
        for (value, rate) in [(f32::INFINITY, 0.6), (f32::NAN, 1.0), (f32::NEG_INFINITY, 0.0)] {
            let model = poisoned(token, value);
            let drafting = |i: usize| [Drafting::Off, Drafting::Fixed { depth: 3 }, Drafting::Auto][i % 3];
            let specs: Vec<(RowSpec, Drafting)> = rows
                .iter()
                .enumerate()
                .map(|(i, row)| (forced(&row.spec, &row.tokens, rate), drafting(i + which)))
                .collect();
            let mut scheduler = caching(&model);
            let Outcome { tokens, failed } = run(&mut scheduler, &model, &specs);
            let emitted = place + 1;
            assert_eq!(failed, BTreeMap::from([(which as RowId, RowError::NotFinite { emitted })]));
            for (id, row) in rows.iter().enumerate() {
                let expected = if id == which { &row.tokens[..emitted] } else { &row.tokens };
                assert_eq!(tokens[&(id as RowId)], expected, "row {id} beside {which}, {value}");
            }
        }
    }
}

#[test]
fn nothing_of_it_is_cached() {
    let healthy = tiny_dense(Stored::F32);
    let mut rng = Rng::new(72);
    let prompt = rng.prompt(300);
    let spec = |prompt: &[u32]| RowSpec { message_starts: vec![100, 200], ..greedy(prompt, 30) };
    let rows = [Known::new(&healthy, spec(&prompt))];
    // Once written in the reply, once in the middle of the prompt, behind a place that would be cached.
    let (token, place) = own_token(&rows, 0);
    for (token, emitted) in [(token, place + 1), (prompt[150], 0)] {
        let model = poisoned(token, f32::INFINITY);
        for drafting in [Drafting::Off, Drafting::Fixed { depth: 2 }] {
            let mut scheduler = caching(&model);
            for _ in 0..2 {
                let outcome = run(&mut scheduler, &model, &[(spec(&prompt), drafting)]);
                assert_eq!(outcome.failed[&0], RowError::NotFinite { emitted });
                assert_eq!((scheduler.prefixes().snapshots(), scheduler.prefixes().bytes()), (0, 0));
            }
            // Others are cached as ever.
            let other: Vec<u32> =
                rng.prompt(250).iter().map(|&id| if id == token { 1 } else { id }).collect();
            let other = RowSpec { max_tokens: 2, ..spec(&other) };
            let outcome = run(&mut scheduler, &model, &[(other.clone(), drafting)]);
            assert!(outcome.failed.is_empty() && scheduler.prefixes().snapshots() > 0);
            assert_eq!(outcome.tokens[&0], alone(&healthy, &other, 0).tokens);
        }
    }
}

/// A draft that is not taken leaves nothing behind, whatever the model computes of it.
#[test]
fn a_draft_that_is_not_taken_does_no_harm() {
    let healthy = tiny_dense(Stored::F32);
    let rows = known_rows(&healthy, &mut Rng::new(73), 7, 30);
    for row in &rows {
        let bad = (0..900).find(|token| !row.tokens.contains(token) && !row.spec.prompt.contains(token));
        let bad = bad.unwrap();
        let model = poisoned(bad, f32::INFINITY);
        for depth in [1, 2, 3] {
            // Every third draft is the bad token.
            let drafts = row.tokens.iter().enumerate().map(|(i, &t)| if i % 3 == 2 { bad } else { t });
            let known = KnownDrafts { continuation: drafts.collect(), rate: 1.0 };
            let spec = RowSpec { known_drafts: Some(known), ..row.spec.clone() };
            let mut batch = Batch::of(read(&model, 0, &spec));
            let (mut tokens, mut taken_back) = (Vec::new(), 0);
            while !batch.rows().is_empty() {
                let stepped = batch.step(&model, &[depth]).unwrap();
                assert!(stepped.lost.is_empty());
                taken_back += usize::from(stepped.advances.is_empty());
                tokens.extend(stepped.advances.into_iter().flat_map(|advance| advance.tokens));
            }
            assert_eq!(tokens, row.tokens, "{:?} at depth {depth}", row.spec.sampling);
            println!("depth {depth}: {taken_back} steps taken back");
        }
    }
}

#[test]
fn the_error_has_a_name() {
    let report = ErrorReport::from(&EngineError::from(RowError::NotFinite { emitted: 12 }));
    assert_eq!(report.code, "not_finite");
    assert!(report.message.contains("12 tokens") && !report.hint.is_empty(), "{report:?}");
}
