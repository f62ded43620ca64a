//! A row reads the same alone and in any company, whoever joins, leaves, drafts or is rejected beside it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use foretoken_engine::decode::{Batch, Row, RowId, RowSpec};
use foretoken_engine::mlx;
use foretoken_engine::model::Qwen;
use foretoken_protocol::{FinishReason, Sampling};
use foretoken_tests::fixtures::{Stored, demo_model, load, tiny_dense};
use foretoken_tests::known::{Known, known_rows, samplings};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, forced, greedy, read};
use foretoken_tests::states::{Difference, F32_ROUNDING, check_invariants, fresh, states};
use proptest::prelude::*;

/// One batch with everything that happens to it.
struct Company<'a> {
    model: &'a Qwen,
    batch: Batch,
    replies: BTreeMap<RowId, Reply>,
}

impl<'a> Company<'a> {
    fn new(model: &'a Qwen) -> Self {
        Self { model, batch: Batch::default(), replies: BTreeMap::new() }
    }

    fn join(&mut self, id: usize, spec: &RowSpec) {
        self.batch.join(read(self.model, id as u64, spec)).unwrap();
        self.replies.insert(id as u64, Reply::default());
    }

    fn step(&mut self, depth: impl Fn(RowId) -> usize) {
        let depths: Vec<usize> = self.batch.rows().iter().map(|row| depth(row.id)).collect();
        let advances = self.batch.step(self.model, &depths).unwrap().advances;
        assert_eq!(advances.len(), depths.len());
        for advance in &advances {
            self.replies.get_mut(&advance.row).unwrap().add(advance);
        }
    }

    fn finish(&mut self, depth: impl Fn(RowId) -> usize) {
        while !self.batch.rows().is_empty() {
            self.step(&depth);
        }
    }

    fn tokens(&self, id: usize) -> &[u32] {
        &self.replies[&(id as u64)].tokens
    }
}

/// At each depth with drafts that are right at so many of three rates, by turns.
fn read_the_same_alone_and_together(rates: usize) {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(1), samplings().len(), 24);
    for (turn, depth) in [0, 1, 2, 3, 4, 8].into_iter().enumerate() {
        for rate in [0.5, 0.0, 1.0].into_iter().cycle().skip(turn).take(rates) {
            let mut company = Company::new(&model);
            for (id, row) in rows.iter().enumerate() {
                let spec = forced(&row.spec, &row.tokens, rate);
                if rate == 0.5 {
                    assert_eq!(alone(&model, &spec, depth).tokens, row.tokens, "alone at depth {depth}");
                }
                company.join(id, &spec);
            }
            // Neighbours at other depths.
            company.finish(|id| if id % 2 == 0 { depth } else { depth / 2 });
            for (id, row) in rows.iter().enumerate() {
                assert_eq!(company.tokens(id), row.tokens, "row {id}, depth {depth}, rate {rate}");
            }
        }
    }
}

#[test]
fn every_kind_of_row_reads_the_same_alone_and_together() {
    read_the_same_alone_and_together(1);
}

#[test]
#[ignore = "takes a minute"]
fn every_kind_of_row_reads_the_same_alone_and_together_at_every_rate() {
    read_the_same_alone_and_together(3);
}

#[test]
fn order_does_not_matter() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(2), 4, 16);
    let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1], [3, 0, 1, 2]];
    for order in orders {
        let mut company = Company::new(&model);
        for id in order {
            company.join(id, &forced(&rows[id].spec, &rows[id].tokens, [0.0, 0.4, 0.8, 1.0][id]));
        }
        company.finish(|id| id as usize + 1);
        for (id, row) in rows.iter().enumerate() {
            assert_eq!(company.tokens(id), row.tokens, "row {id} in the order {order:?}");
        }
    }
}

#[test]
fn any_row_may_leave_at_any_step() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(3), 4, 12);
    for leaver in 0..rows.len() {
        for at in 0..8 {
            let mut company = Company::new(&model);
            for (id, row) in rows.iter().enumerate() {
                company.join(id, &forced(&row.spec, &row.tokens, [0.5, 0.0, 0.7, 0.3][id]));
            }
            (0..at).for_each(|_| company.step(|id| [2, 1, 4, 0][id as usize]));
            company.batch.remove(&[leaver as u64]).unwrap();
            company.finish(|id| [1, 3, 0, 2][id as usize]);
            for (id, row) in rows.iter().enumerate() {
                let (got, expected) = (company.tokens(id), row.tokens.as_slice());
                let expected = if id == leaver { &expected[..got.len()] } else { expected };
                assert_eq!(got, expected, "row {id}, when {leaver} leaves at step {at}");
            }
        }
    }
}

/// Rows that join after each number of steps, in so many of the orders that there are.
fn rows_may_join_after_any_step(orders: usize) {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(4), 3, 28);
    // With no drafts for the first, it ends after 28 steps; the others join around that.
    for offset in 1..=40 {
        for order in ORDERS.into_iter().cycle().skip(offset).take(orders) {
            let mut company = Company::new(&model);
            let spec = |id: usize| forced(&rows[id].spec, &rows[id].tokens, 0.6);
            let depth = |id: RowId| if id == order[0] as u64 { 0 } else { 2 };
            company.join(order[0], &spec(order[0]));
            for step in 0..offset + 3 {
                if step == offset {
                    company.join(order[1], &spec(order[1]));
                }
                company.step(depth);
            }
            company.join(order[2], &spec(order[2]));
            company.finish(depth);
            for (id, row) in rows.iter().enumerate() {
                assert_eq!(company.tokens(id), row.tokens, "row {id}, order {order:?}, offset {offset}");
            }
        }
    }
}

#[test]
fn a_row_may_join_after_any_step_and_after_the_last_has_left() {
    rows_may_join_after_any_step(1);
}

#[test]
#[ignore = "takes a minute"]
fn any_row_may_join_after_any_step() {
    rows_may_join_after_any_step(6);
}

/// The room that a row's first attention layer has left.
fn room_left(row: &Row) -> usize {
    let kv = &row.cache().kv[0];
    kv.buffers()[0].dim(2) as usize - kv.len()
}

/// A row's buffers grow while others join: at the step before, at that step, and after it.
#[test]
fn a_row_may_join_when_anothers_buffers_grow() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(13);
    // There is room for 256 tokens of the reply, and then for 256 more.
    let long = Known::new(&model, greedy(&rng.prompt(255), 275));
    let others = known_rows(&model, &mut rng, 2, 12);
    for depth in [0, 1, 4] {
        let mut joined_at = BTreeSet::new();
        for early in [0, depth, depth + 5] {
            let mut company = Company::new(&model);
            company.join(0, &forced(&long.spec, &long.tokens, 0.8));
            let mut grown = false;
            while let Some(row) = company.batch.rows().iter().find(|row| row.id == 0) {
                let (left, capacity) = (room_left(row), row.cache().kv[0].buffers()[0].dim(2));
                if !company.replies.contains_key(&1) && capacity == 512 && left <= early {
                    joined_at.insert(left);
                    company.join(1, &forced(&others[0].spec, &others[0].tokens, 0.5));
                }
                grown |= capacity > 512;
                if grown && !company.replies.contains_key(&2) {
                    company.join(2, &forced(&others[1].spec, &others[1].tokens, 0.5));
                }
                company.step(|_| depth);
                check_invariants(&company.batch);
            }
            company.finish(|_| depth);
            assert!(grown, "it has outgrown its first buffers");
            assert_eq!(company.tokens(0), long.tokens, "depth {depth}, {early} before it grows");
            for (id, other) in
                others.iter().enumerate().filter(|(id, _)| company.replies.contains_key(&(1 + *id as RowId)))
            {
                assert_eq!(company.tokens(1 + id), other.tokens, "depth {depth}, {early} before it grows");
            }
        }
        println!("depth {depth}: joined with room for {joined_at:?} left");
        // The very step that they join makes the buffers grow.
        assert!(joined_at.iter().any(|&left| left <= depth), "{joined_at:?}");
    }
}

/// All rows go through the weights together: a step runs as many matrix products as one of a single row, whichever its
/// rows and their depths are. Only the head reads on for every depth.
#[test]
fn weights_are_read_once_whoever_takes_part() {
    const KINDS: [&str; 2] = ["QuantizedMatmul", "Matmul"];
    let model = tiny_dense(Stored::Q4);
    let rows = known_rows(&model, &mut Rng::new(14), 3, 20);
    let batch = |depths: &[usize]| {
        let mut company = Company::new(&model);
        for (id, row) in rows.iter().enumerate().take(depths.len()) {
            // A prompt of one token leaves the head nothing to draft from.
            let spec = RowSpec { prompt: [vec![7, 8], row.spec.prompt.clone()].concat(), ..row.spec.clone() };
            company.join(id, &spec);
        }
        company.step(|id| depths[id as usize]);
        company.batch
    };
    let products = |depths: &[usize]| {
        // Each product is there once, whatever the machine would make of it.
        let counts = mlx::undivided(|| batch(depths).into_primitives(&model, depths)).unwrap();
        KINDS.map(|kind| counts.get(kind).copied().unwrap_or(0))
    };
    let (plain, drafting) = (products(&[0]), products(&[1]));
    assert!(plain[0] > 0 && drafting[0] > plain[0], "{plain:?} and {drafting:?}");
    for depths in [[0, 0, 0], [3, 0, 2], [1, 1, 1], [4, 4, 4]] {
        let deepest = depths.into_iter().max().unwrap();
        let expected = [0, 1].map(|kind| plain[kind] + deepest * (drafting[kind] - plain[kind]));
        let found = products(&depths);
        println!("{depths:?}: {found:?} products of {KINDS:?}");
        assert_eq!(found[0], expected[0], "{depths:?}");
        let mut company = Company::new(&model);
        (0..3).for_each(|id| company.join(id, &forced(&rows[id].spec, &rows[id].tokens, 0.6)));
        company.finish(|id| depths[id as usize]);
        (0..3).for_each(|id| assert_eq!(company.tokens(id), rows[id].tokens, "row {id} at {depths:?}"));
    }
}

/// So many rows beside each other, whatever their depths, over so many tokens: every text is the solo one.
fn each_reads_as_alone(tokens: usize, counts: &[usize]) {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(15), counts[counts.len() - 1], tokens);
    for &count in counts {
        for depths in [&[0][..], &[3, 8, 1, 4, 2, 0, 8]] {
            let mut company = Company::new(&model);
            for (id, row) in rows.iter().enumerate().take(count) {
                company.join(id, &forced(&row.spec, &row.tokens, [0.9, 0.7][id % 2]));
            }
            company.finish(|id| depths[(count + id as usize) % depths.len()]);
            let equal = (0..count).filter(|&id| company.tokens(id) == rows[id].tokens).count();
            assert_eq!(equal, count, "of {count} rows at depths {depths:?}");
        }
    }
}

#[test]
fn any_number_of_rows_reads_as_each_alone() {
    each_reads_as_alone(24, &[1, 2, 4, 16]);
    // Longer than the first buffers of the KV cache.
    each_reads_as_alone(280, &[2]);
}

#[test]
#[ignore = "takes minutes"]
fn any_number_of_long_rows_reads_as_each_alone() {
    each_reads_as_alone(600, &[1, 2, 4, 8, 16]);
}

/// A row whose drafts are all right takes the fewest steps there are, next to rows that reject everything.
#[test]
fn nobody_vetoes() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(5), 4, 30);
    for depth in [1, 2, 3, 4, 8] {
        let mut company = Company::new(&model);
        for (id, row) in rows.iter().enumerate() {
            // A prompt of one token leaves the head nothing to draft the first token from.
            let spec = RowSpec { prompt: [vec![7], row.spec.prompt.clone()].concat(), ..row.spec.clone() };
            let tokens = alone(&model, &spec, 0).tokens;
            company.join(id, &forced(&spec, &tokens, if id == 2 { 1.0 } else { 0.0 }));
        }
        company.finish(|_| depth);
        assert_eq!(company.replies[&2].steps, 30usize.div_ceil(depth + 1), "depth {depth}");
        for id in [0, 1, 3] {
            assert_eq!(company.replies[&id].steps, 30, "row {id} accepts nothing");
        }
    }
}

/// A stop token ends a row wherever it stands among the drafts, and is its last token.
#[test]
fn stop_tokens_end_rows_among_accepted_drafts() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(6), 3, 24);
    for row in &rows {
        for (at, &stop) in row.tokens.iter().enumerate().take(12) {
            let end = row.tokens.iter().position(|&token| token == stop).unwrap();
            let spec = RowSpec { stop_ids: vec![stop], ..forced(&row.spec, &row.tokens, 1.0) };
            for depth in [0, 1, 3, 8] {
                let reply = alone(&model, &spec, depth);
                assert_eq!(reply.tokens, row.tokens[..=end], "stop {at} at depth {depth}");
            }
        }
    }
}

/// The token limit holds at every depth, and no step drafts past it.
#[test]
fn token_limits_hold_at_every_depth() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(7), 1, 10);
    for limit in 1..=10 {
        for depth in [0, 1, 2, 3, 8] {
            let spec = RowSpec { max_tokens: limit, ..forced(&rows[0].spec, &rows[0].tokens, 1.0) };
            let mut batch = Batch::default();
            batch.join(read(&model, 0, &spec)).unwrap();
            let mut emitted = 0;
            while !batch.rows().is_empty() {
                let advances = batch.step(&model, &[depth]).unwrap().advances;
                assert!(advances[0].drafted < limit - emitted, "limit {limit}, depth {depth}");
                emitted += advances[0].tokens.len();
                assert_eq!(advances[0].finish.is_some(), emitted == limit);
                assert!(advances[0].finish.is_none_or(|reason| reason == FinishReason::Length));
            }
            assert_eq!(emitted, limit);
        }
    }
}

/// What may happen to a batch.
#[derive(Debug, Clone)]
enum Event {
    /// A row of the pool joins, if it has not been there yet. Its drafts are the head's, or right with this rate.
    Join { row: usize, rate: Option<f64> },
    /// A step; for each row of the pool how many drafts it wants.
    Step { depths: Vec<usize> },
    /// A row leaves, if it is there.
    Leave { row: usize },
    /// Every row is compared with a fresh prefill.
    Compare,
}

/// Rows of every kind.
const POOL: usize = 9;

fn event() -> impl Strategy<Value = Event> {
    let rate = prop::option::of(prop::sample::select(vec![0.0, 0.3, 0.8, 1.0]));
    let depth = prop::sample::select(vec![0, 1, 2, 4, 8]);
    prop_oneof![
        3 => (0..POOL, rate).prop_map(|(row, rate)| Event::Join { row, rate }),
        8 => prop::collection::vec(depth, POOL).prop_map(|depths| Event::Step { depths }),
        1 => (0..POOL).prop_map(|row| Event::Leave { row }),
        1 => Just(Event::Compare),
    ]
}

/// Lets it all happen, and then runs the rows that are there to their ends. Every prefix at every step is the solo
/// text's.
fn follow(model: &Qwen, pool: &[Known], events: &[Event]) -> Difference {
    let mut company = Company::new(model);
    let mut most = Difference::default();
    let last = Event::Step { depths: vec![0; POOL] };
    let rest = std::iter::repeat_n(&last, pool[0].spec.max_tokens);
    for event in events.iter().chain(rest) {
        match event {
            Event::Join { row, .. } if company.replies.contains_key(&(*row as RowId)) => {}
            Event::Join { row, rate } => {
                let Known { spec, tokens } = &pool[*row];
                // One of them is never drafted for, and some are padded.
                let spec = RowSpec { drafts: *row > 0, widths: 1 + *row % 3..=usize::MAX, ..spec.clone() };
                company.join(*row, &rate.map_or(spec.clone(), |rate| forced(&spec, tokens, rate)));
            }
            Event::Step { depths } => company.step(|id| depths[id as usize]),
            Event::Leave { row } => _ = company.batch.remove(&[*row as RowId]).unwrap(),
            Event::Compare => {
                for (row, state) in company.batch.rows().iter().zip(states(&company.batch)) {
                    let difference = Difference::between(&state, &fresh(model, row.context()));
                    assert!(difference.most() < F32_ROUNDING, "row {}: {difference:?}", row.id);
                    most = most.or(difference);
                }
            }
        }
        check_invariants(&company.batch);
        for (&id, reply) in &company.replies {
            assert_eq!(reply.tokens, pool[id as usize].tokens[..reply.tokens.len()], "row {id}");
        }
    }
    assert!(company.batch.rows().is_empty(), "all rows end");
    most
}

/// Joins, steps, removals in any order. What fails is told in its shortest form; `PROPTEST_CASES` makes them more.
#[test]
fn random_schedules() {
    let model = tiny_dense(Stored::F32);
    let pool = known_rows(&model, &mut Rng::new(12), POOL, 20);
    let most = Cell::new(Difference::default());
    // Those found before are tried in other tests, by what they were.
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { 12 };
    proptest!(ProptestConfig { cases, ..config }, |(events in prop::collection::vec(event(), 10..60))| {
        most.set(most.get().or(follow(&model, &pool, &events)));
    });
    println!("random schedules: {}", most.get());
}

/// Random schedules on the demo model, whose head is really right most of the time.
#[test]
fn rows_of_the_demo_model_keep_their_text_in_company() {
    let model = load(&demo_model());
    let mut rng = Rng::new(8);
    let samplings = samplings();
    let rows: Vec<Known> = (0..4)
        .map(|i| {
            let length = 3 + rng.below(20);
            let prompt = (0..length).map(|_| rng.below(500) as u32).collect::<Vec<_>>();
            let spec = RowSpec { sampling: samplings[i], seed: i as u64, ..greedy(&prompt, 60) };
            let tokens = alone(&model, &RowSpec { drafts: false, ..spec.clone() }, 0).tokens;
            Known { spec, tokens }
        })
        .collect();
    for depth in [1, 2, 3] {
        let mut company = Company::new(&model);
        for (id, row) in rows.iter().enumerate() {
            company.join(id, &row.spec);
            company.step(|_| depth);
        }
        company.finish(|id| depth + id as usize % 2);
        for (id, row) in rows.iter().enumerate() {
            assert_eq!(company.tokens(id), row.tokens, "row {id} at depth {depth}");
        }
        println!("depth {depth}: {:?}", company.replies[&0].accepted);
    }
}

/// XTC changes what a row reads like, and leaves alone the tokens that it must.
#[test]
fn xtc_never_excludes_exempt_tokens() {
    let model = tiny_dense(Stored::F32);
    let base = Sampling { temperature: 0.7, xtc_threshold: 0.001, ..Sampling::default() };
    let plain = RowSpec { sampling: base, seed: 3, ..greedy(&Rng::new(9).prompt(8), 24) };
    let text = alone(&model, &plain, 0).tokens;
    let always = RowSpec { sampling: Sampling { xtc_probability: 1.0, ..base }, ..plain };
    let exempt = RowSpec { xtc_exempt: text.clone(), ..always.clone() };
    for depth in [0, 1, 4] {
        assert_ne!(alone(&model, &always, depth).tokens, text);
        // Others are excluded, but what won against them wins without them.
        assert_eq!(alone(&model, &exempt, depth).tokens, text, "depth {depth}");
    }
}

fn penalised(sampling: &Sampling) -> bool {
    sampling.repetition_penalty != 1.0 || sampling.presence_penalty != 0.0
}

/// What drawing tokens adds to the graph of a step does not grow with the rows that draw, whichever their temperatures,
/// seeds and depths.
#[test]
fn rows_that_draw_alike_share_their_operations() {
    let model = tiny_dense(Stored::F32);
    let prompt = Rng::new(10).prompt(8);
    let primitives = |sampling: Sampling, rows: usize, depth: usize| -> usize {
        let mut batch = Batch::default();
        for id in 0..rows {
            let warmer = Sampling { temperature: sampling.temperature * (1.0 + id as f32 / 8.0), ..sampling };
            let spec = RowSpec { sampling: warmer, seed: id as u64, ..greedy(&prompt, 20) };
            // Drafts that are never right, so that what the step before leaves behind is the same for all.
            batch.join(read(&model, id as u64, &forced(&spec, &[], 0.0))).unwrap();
        }
        batch.step(&model, &vec![depth; rows]).unwrap();
        batch.into_primitives(&model, &vec![depth; rows]).unwrap().values().sum()
    };
    for sampling in samplings() {
        for depth in [0, 2] {
            let added = [1, 4, 8].map(|rows| {
                let greedy = primitives(Sampling::default(), rows, depth);
                primitives(sampling, rows, depth) - greedy
            });
            println!("{sampling:?} at depth {depth}: {added:?} primitives for 1, 4 and 8 rows");
            // Beside others a position's history must be picked out, and XTC may strike somebody.
            let more = 16 * (1 + depth);
            assert!(added[1] <= added[0] + more, "{sampling:?} at depth {depth}: {added:?}");
            // Each row's own history is written by itself.
            let own = if penalised(&sampling) { 8 } else { 0 };
            assert!(added[2] <= added[1] + own, "{sampling:?} at depth {depth}: {added:?}");
        }
    }
}
