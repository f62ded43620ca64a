//! A row reads the same alone and in any company, whoever joins, leaves, drafts or is rejected beside it.

use std::collections::BTreeMap;

use foretoken_engine::decode::{Batch, RowId, RowSpec};
use foretoken_engine::model::Qwen;
use foretoken_protocol::{FinishReason, Sampling};
use foretoken_tests::dice::Dice;
use foretoken_tests::fixtures::{Stored, demo_model, load, tiny_dense};
use foretoken_tests::known::{Known, known_rows, samplings};
use foretoken_tests::runs::{Reply, alone, forced, greedy, read};
use foretoken_tests::states::{Difference, F32_ROUNDING, fresh, states};

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

#[test]
fn every_kind_of_row_reads_the_same_alone_and_together() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Dice::new(1), samplings().len(), 24);
    for depth in [0, 1, 2, 3, 4, 8] {
        for rate in [0.0, 0.5, 1.0] {
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
fn order_does_not_matter() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Dice::new(2), 4, 16);
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
    let rows = known_rows(&model, &mut Dice::new(3), 4, 12);
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

#[test]
fn a_row_may_join_after_any_step_and_after_the_last_has_left() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Dice::new(4), 3, 28);
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for (i, order) in orders.into_iter().enumerate() {
        // With no drafts for the first, it ends after 28 steps; the others join around that.
        for offset in (i..40).step_by(orders.len()) {
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

/// A row whose drafts are all right takes the fewest steps there are, next to rows that reject everything.
#[test]
fn nobody_vetoes() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Dice::new(5), 4, 30);
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
    let rows = known_rows(&model, &mut Dice::new(6), 3, 24);
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
    let rows = known_rows(&model, &mut Dice::new(7), 1, 10);
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

/// Random rows, depths, acceptance, joins and removals; every prefix at every step is the solo text's.
fn fuzz(model: &Qwen, seed: u64) -> Difference {
    let mut dice = Dice::new(seed);
    let count = 3 + dice.below(4);
    let max_tokens = 8 + dice.below(20);
    let rows = known_rows(model, &mut dice, count, max_tokens);
    let specs: Vec<RowSpec> = rows
        .iter()
        .map(|row| match dice.below(6) {
            0 => RowSpec { drafts: false, ..row.spec.clone() },
            1 => row.spec.clone(),
            _ => forced(&row.spec, &row.tokens, dice.one_of(&[0.0, 0.3, 0.8, 1.0])),
        })
        .collect();
    let mut company = Company::new(model);
    let mut waiting: Vec<usize> = (0..count).collect();
    let mut most = Difference::default();
    while !waiting.is_empty() || !company.batch.rows().is_empty() {
        if !waiting.is_empty() && (company.batch.rows().is_empty() || dice.below(3) == 0) {
            let id = waiting.swap_remove(dice.below(waiting.len()));
            company.join(id, &specs[id]);
        }
        let depths: Vec<usize> = (0..count).map(|_| dice.one_of(&[0, 1, 2, 4, 8])).collect();
        company.step(|id| depths[id as usize]);
        for (id, row) in rows.iter().enumerate() {
            if let Some(reply) = company.replies.get(&(id as u64)) {
                assert_eq!(reply.tokens, row.tokens[..reply.tokens.len()], "seed {seed}, row {id}");
            }
        }
        let leaving: Vec<RowId> =
            company.batch.rows().iter().map(|row| row.id).filter(|_| dice.below(16) == 0).collect();
        company.batch.remove(&leaving).unwrap();
        if dice.below(4) == 0 {
            for (row, state) in company.batch.rows().iter().zip(states(&company.batch)) {
                let difference = Difference::between(&state, &fresh(model, row.context()));
                assert!(difference.most() < F32_ROUNDING, "seed {seed}, row {}: {difference:?}", row.id);
                most = most.or(difference);
            }
        }
    }
    most
}

#[test]
fn random_schedules() {
    let model = tiny_dense(Stored::F32);
    let most = (0..40).map(|seed| fuzz(&model, seed)).fold(Difference::default(), Difference::or);
    println!("random schedules: {most}");
}

/// The same on the demo model, whose head is really right most of the time.
#[test]
fn rows_of_the_demo_model_keep_their_text_in_company() {
    let model = load(&demo_model());
    let mut dice = Dice::new(8);
    let samplings = samplings();
    let rows: Vec<Known> = (0..4)
        .map(|i| {
            let length = 3 + dice.below(20);
            let prompt = (0..length).map(|_| dice.below(500) as u32).collect::<Vec<_>>();
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
    let plain = RowSpec { sampling: base, seed: 3, ..greedy(&Dice::new(9).prompt(8), 24) };
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
    let prompt = Dice::new(10).prompt(8);
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
