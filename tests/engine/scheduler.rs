//! Requests come and go, wait, are read and drafted for as it happens: nothing of it shows in what a row reads like.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::time::Duration;

use foretoken_engine::decode::{
    Footprint, Limits, PREFILL_CHUNK, PolicyState, RowId, RowSpec, Scheduler, SchedulerEvent,
};
use foretoken_engine::model::Qwen;
use foretoken_engine::sample::Logprobs;
use foretoken_engine::score::score;
use foretoken_engine::session::{Prepared, ReplyRequest, Session};
use foretoken_protocol::{
    ChatMessage, Drafting, FinishReason, GenerationSettings, KvPrecision, Sampling, Thinking,
};
use foretoken_tests::drafted::drafted;
use foretoken_tests::fixtures::{Stored, demo_model, tiny_dense};
use foretoken_tests::known::{Known, known_rows, samplings};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, eager_policy, forced, greedy};
use foretoken_tests::states::{Difference, F32_ROUNDING, fresh, states};
use serde_json::json;

/// Nothing but one layer at a time between steps.
const NO_STALL: Limits =
    Limits { memory: u64::MAX, reserve: 4096, prefix_cache_bytes: 0, max_stall: Duration::ZERO };

/// A scheduler, and what it has said.
struct Harness<'a> {
    model: &'a Qwen,
    scheduler: Scheduler,
    replies: BTreeMap<RowId, Reply>,
    finished: BTreeMap<RowId, FinishReason>,
    /// Requests in the order of their admission.
    admitted: Vec<RowId>,
    /// The place that each request was last told.
    places: BTreeMap<RowId, usize>,
    /// Accepted drafts of the head, the draft model and look-up.
    accepted: [usize; 3],
}

impl<'a> Harness<'a> {
    fn new(model: &'a Qwen, limits: Limits) -> Self {
        Self {
            model,
            scheduler: Scheduler::new(model, limits, eager_policy()),
            replies: BTreeMap::new(),
            finished: BTreeMap::new(),
            admitted: Vec::new(),
            places: BTreeMap::new(),
            accepted: [0; 3],
        }
    }

    fn submit(&mut self, id: usize, spec: &RowSpec, drafting: Drafting) {
        self.scheduler.submit(id as RowId, spec.clone(), drafting).unwrap();
    }

    /// One turn, in which every row that takes part in steps must advance.
    fn pump(&mut self) {
        let running: Vec<RowId> = self.scheduler.batch().rows().iter().map(|row| row.id).collect();
        let mut advanced = Vec::new();
        for event in self.scheduler.pump(self.model) {
            match event {
                SchedulerEvent::Waiting { row, ahead } => _ = self.places.insert(row, ahead),
                SchedulerEvent::Looked { .. } => {}
                SchedulerEvent::Prefilling { row, done, total } => {
                    assert!(done <= total);
                    if !self.admitted.contains(&row) {
                        self.admitted.push(row);
                    }
                }
                SchedulerEvent::Advanced { advance, .. } => {
                    advanced.push(advance.row);
                    self.accepted[advance.drafter as usize] += advance.accepted;
                    self.replies.entry(advance.row).or_default().add(&advance);
                    if let Some(reason) = advance.finish {
                        self.finished.insert(advance.row, reason);
                    }
                }
                SchedulerEvent::Failed { row, error } => panic!("row {row}: {error}"),
            }
        }
        assert!(running.iter().all(|row| advanced.contains(row)), "{running:?} and {advanced:?}");
    }

    fn finish(&mut self) {
        while !self.scheduler.is_idle() {
            self.pump();
        }
    }

    fn tokens(&self, id: usize) -> &[u32] {
        self.replies.get(&(id as RowId)).map_or(&[], |reply| reply.tokens.as_slice())
    }

    fn is_running(&self, id: usize) -> bool {
        self.scheduler.batch().rows().iter().any(|row| row.id == id as RowId)
    }

    /// Room for so many rows like this one and no more.
    fn limits_for(model: &Qwen, rows: u64, spec: &RowSpec) -> Limits {
        let bytes = Footprint::of(model).row(spec.prompt.len() + spec.max_tokens);
        Limits { memory: rows * bytes + bytes / 2, ..Limits::default() }
    }
}

/// What a policy may have learned.
fn any_figures(rng: &mut Rng) -> PolicyState {
    let mut time = 0.0;
    let passes: BTreeMap<usize, f64> = (1..=32)
        .map(|width| {
            time += if rng.below(3) == 0 { 0.001 * rng.unit() } else { 0.0 } + 1e-6;
            (width, time)
        })
        .collect();
    let mut verdicts =
        || -> Vec<_> { (0..8).map(|_| json!({ "right": 15.0 * rng.unit(), "all": 15.0 })).collect() };
    let (accepted, dflash) = (verdicts(), verdicts());
    let cost = json!({ "passes": passes, "draft": 1e-5 * rng.unit(), "block": 2e-5 * rng.unit() });
    serde_json::from_value(json!({ "cost": cost, "accepted": accepted, "dflash": dflash })).unwrap()
}

fn any_drafting(rng: &mut Rng) -> Drafting {
    match rng.below(8) {
        0 => Drafting::Off,
        1 => Drafting::Fixed { depth: rng.one_of(&[1, 2, 4, 8]) },
        2 => Drafting::Mtp,
        3 => Drafting::Lookup,
        4 | 5 => Drafting::Dflash { depth: rng.one_of(&[None, Some(1), Some(4), Some(15)]) },
        _ => Drafting::Auto,
    }
}

/// Rows of every kind, some of whose prompts take more than a chunk.
fn pool(model: &Qwen) -> Vec<Known> {
    let mut rng = Rng::new(1000);
    let mut rows = known_rows(model, &mut rng, 12, 20);
    for length in [PREFILL_CHUNK + 1, PREFILL_CHUNK + 300] {
        rows.push(Known::new(model, greedy(&rng.prompt(length), 20)));
    }
    rows
}

/// When a request is cancelled: so many turns after it has so many tokens. That and not a turn, since how many turns
/// there are depends on the machine's speed.
struct Leaving {
    tokens: usize,
    turns: usize,
}

impl Leaving {
    /// For one request in three, some of which have not been read or even admitted then.
    fn any(rng: &mut Rng, max_tokens: usize) -> Option<Self> {
        let tokens = rng.one_of(&[0, 0, 1, max_tokens / 2]);
        let turns = rng.one_of(&[0, 0, 1, 5]);
        (rng.below(3) == 0).then_some(Self { tokens, turns })
    }

    /// Whether that is after this turn.
    fn is_now(&mut self, tokens: usize) -> bool {
        let reached = tokens >= self.tokens;
        let turns = self.turns;
        self.turns = turns.saturating_sub(usize::from(reached));
        reached && turns == 0
    }
}

/// Random requests, limits, policies and cancellations.
struct RandomRequests<'a> {
    seed: u64,
    rng: Rng,
    memory: u64,
    harness: Harness<'a>,
    /// What each request writes alone.
    rows: Vec<Known>,
    specs: Vec<RowSpec>,
    leaving: Vec<Option<Leaving>>,
    to_come: VecDeque<usize>,
    submitted: Vec<RowId>,
    /// With the tokens that each had then.
    cancelled: BTreeMap<RowId, usize>,
}

impl<'a> RandomRequests<'a> {
    fn new(model: &'a Qwen, pool: &[Known], seed: u64) -> Self {
        let mut rng = Rng::new(2000 + seed);
        let rows: Vec<Known> = (0..3 + rng.below(4))
            .map(|_| {
                let Known { spec, tokens } = &pool[rng.below(pool.len())];
                let max_tokens = 4 + rng.below(17);
                let spec = RowSpec { max_tokens, ..spec.clone() };
                Known { spec, tokens: tokens[..max_tokens].to_vec() }
            })
            .collect();
        let specs: Vec<RowSpec> = rows
            .iter()
            .map(|row| match rng.below(4) {
                0 => row.spec.clone(),
                _ => forced(&row.spec, &row.tokens, rng.one_of(&[0.0, 0.3, 0.8, 1.0])),
            })
            .collect();
        let roomy = Harness::limits_for(model, 1 + rng.below(3) as u64, &specs[0]);
        let memory = rng.one_of(&[u64::MAX, roomy.memory]);
        let max_stall = rng.one_of(&[Duration::ZERO, Duration::from_millis(5)]);
        let harness = Harness::new(model, Limits { memory, max_stall, ..Limits::default() });
        let leaving = rows.iter().map(|row| Leaving::any(&mut rng, row.spec.max_tokens)).collect();
        let to_come = (0..rows.len()).collect();
        let (submitted, cancelled) = (Vec::new(), BTreeMap::new());
        Self { seed, rng, memory, harness, rows, specs, leaving, to_come, submitted, cancelled }
    }

    /// Returns how many rows were completed, how many cancelled, and the accepted drafts of each drafter.
    fn run(mut self) -> [usize; 5] {
        while !self.to_come.is_empty() || !self.harness.scheduler.is_idle() {
            self.submit();
            if self.rng.below(4) == 0 {
                self.harness.scheduler.set_policy_state(any_figures(&mut self.rng));
            }
            self.harness.pump();
            self.check_turn();
            self.cancel();
            if self.rng.below(6) == 0 {
                self.check_states();
            }
        }
        self.check_end();
        let [head, dflash, lookup] = self.harness.accepted;
        [self.harness.finished.len(), self.cancelled.len(), head, dflash, lookup]
    }

    fn submit(&mut self) {
        let Self { rng, harness, .. } = self;
        while let Some(&id) = self.to_come.front()
            && (harness.scheduler.is_idle() || rng.below(3) == 0)
        {
            self.to_come.pop_front();
            let drafting = any_drafting(rng);
            // The smallest limits refuse the longest prompts.
            if harness.scheduler.submit(id as RowId, self.specs[id].clone(), drafting).is_ok() {
                self.submitted.push(id as RowId);
            }
        }
    }

    /// Memory is kept to, and every row reads so far what it reads alone.
    fn check_turn(&self) {
        let Self { seed, harness, .. } = self;
        let alone = harness.scheduler.prefilling().count() + harness.scheduler.batch().rows().len() == 1;
        assert!(alone || harness.scheduler.reserved_bytes() <= self.memory, "seed {seed}");
        assert!(harness.scheduler.prefilling().count() <= 2);
        for (id, row) in self.rows.iter().enumerate() {
            let tokens = harness.tokens(id);
            assert_eq!(tokens, &row.tokens[..tokens.len()], "seed {seed}, row {id}");
        }
    }

    /// Cancels what is to leave now, and now and then what is not there.
    fn cancel(&mut self) {
        let Self { rng, harness, submitted, cancelled, .. } = self;
        for (id, leaving) in self.leaving.iter_mut().enumerate() {
            let (row, tokens) = (id as RowId, harness.tokens(id).len());
            let is_there = submitted.contains(&row)
                && !harness.finished.contains_key(&row)
                && !cancelled.contains_key(&row);
            if is_there && leaving.as_mut().is_some_and(|leaving| leaving.is_now(tokens)) {
                cancelled.insert(row, tokens);
                harness.scheduler.cancel(harness.model, &[row]);
            }
            // Those that never were there, or have ended.
            if !is_there && rng.below(24) == 0 {
                harness.scheduler.cancel(harness.model, &[row]);
            }
        }
    }

    /// Each row's state is that of a fresh prefill.
    fn check_states(&self) {
        let (seed, batch) = (self.seed, self.harness.scheduler.batch());
        for (row, state) in batch.rows().iter().zip(states(batch)) {
            let difference = Difference::between(&state, &fresh(self.harness.model, row.context()));
            assert!(difference.most() < F32_ROUNDING, "seed {seed}, row {}: {difference}", row.id);
        }
    }

    /// Requests were admitted in order; who was not cancelled is complete, and nothing is left of anybody.
    fn check_end(&self) {
        let Self { seed, harness, rows, submitted, cancelled, .. } = self;
        let in_order: Vec<RowId> =
            submitted.iter().copied().filter(|id| harness.admitted.contains(id)).collect();
        assert_eq!(harness.admitted, in_order, "seed {seed}: first come, first served");
        for (id, row) in rows.iter().enumerate() {
            let complete = submitted.contains(&(id as RowId)) && !cancelled.contains_key(&(id as RowId));
            assert_eq!(complete, harness.finished.contains_key(&(id as RowId)), "seed {seed}, row {id}");
            if complete {
                assert_eq!(harness.tokens(id), row.tokens, "seed {seed}, row {id}");
            }
        }
        for (&row, &tokens) in cancelled {
            assert_eq!(harness.tokens(row as usize).len(), tokens, "seed {seed}, row {row} went on");
        }
        let kept = (harness.scheduler.reserved_bytes(), harness.scheduler.resident_bytes());
        assert_eq!(kept, (0, 0), "seed {seed}");
    }
}

#[test]
fn random_requests() {
    /// Seeds of a run; more by the environment.
    const SEEDS: u64 = 24;
    let seeds = std::env::var("FORETOKEN_FUZZ_SEEDS").map_or(SEEDS, |seeds| seeds.parse().unwrap());
    // Its draft model's window is full after a few tokens.
    let model = drafted(6);
    let pool = pool(&model);
    let [complete, cancelled, accepted @ ..] = (0..seeds)
        .map(|seed| RandomRequests::new(&model, &pool, seed).run())
        .fold([0; 5], |sums, run| std::array::from_fn(|i| sums[i] + run[i]));
    println!("{complete} rows completed, {cancelled} cancelled, {accepted:?} drafts accepted");
    // Random text hardly repeats itself, so what is looked up is hardly right.
    assert!(accepted[..2].iter().all(|&accepted| accepted as u64 > seeds), "{accepted:?}");
    assert!(complete as u64 >= 2 * seeds && cancelled as u64 >= seeds, "{complete} and {cancelled}");
}

/// Requests that do not fit wait in order, are told their places, and nobody passes one that is too large.
#[test]
fn requests_wait_for_memory_in_order() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(11);
    let spec = greedy(&rng.prompt(8), 12);
    let large = greedy(&rng.prompt(1200), 12);
    let bytes = |spec: &RowSpec| Footprint::of(&model).row(spec.prompt.len() + spec.max_tokens);
    let memory = bytes(&large).max(2 * bytes(&spec));
    assert!(3 * bytes(&spec) > memory && bytes(&large) + bytes(&spec) > memory);
    let mut harness = Harness::new(&model, Limits { memory, ..Limits::default() });
    let solo = |spec: &RowSpec| alone(&model, spec, 0).tokens;
    for id in 0..5 {
        harness.submit(id, if id == 3 { &large } else { &spec }, Drafting::Off);
    }
    harness.pump();
    assert_eq!(harness.admitted, [0, 1]);
    assert_eq!(harness.scheduler.waiting().collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(harness.places, BTreeMap::from([(2, 0), (3, 1), (4, 2)]));

    // Whoever waits may leave.
    harness.scheduler.cancel(&model, &[2]);
    harness.pump();
    assert_eq!((harness.places[&3], harness.places[&4]), (0, 1));
    while !harness.admitted.contains(&3) {
        assert!(!harness.admitted.contains(&4), "nobody passes");
        harness.pump();
    }
    assert!(
        harness.finished.contains_key(&0) && harness.finished.contains_key(&1),
        "the large one needs all there is"
    );
    harness.finish();
    assert_eq!(harness.admitted, [0, 1, 3, 4]);
    assert_eq!((harness.tokens(3), harness.tokens(4)), (&*solo(&large), &*solo(&spec)));
    assert!(harness.tokens(2).is_empty());
    assert_eq!(harness.scheduler.reserved_bytes(), 0);
}

/// A prompt that would not even fit alone is refused; a reply that might not is begun.
#[test]
fn only_prompts_that_never_fit_are_refused() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(12);
    let short = greedy(&rng.prompt(8), 12);
    let limits = Harness::limits_for(&model, 1, &short);
    let mut harness = Harness::new(&model, limits);
    let refused = harness.scheduler.submit(0, greedy(&rng.prompt(4000), 12), Drafting::Auto).unwrap_err();
    assert!(refused.needed > refused.available && refused.available == limits.memory);
    assert!(harness.scheduler.is_idle());
    // Twelve tokens are asked for, thousands would be allowed.
    let endless = RowSpec { max_tokens: 4000, ..short.clone() };
    let end = alone(&model, &short, 0).tokens;
    harness.submit(1, &RowSpec { stop_ids: vec![end[11]], ..endless }, Drafting::Off);
    harness.submit(2, &short, Drafting::Off);
    harness.pump();
    assert_eq!(harness.admitted, [1], "who is alone is let in, and nobody beside");
    harness.finish();
    assert_eq!(harness.finished[&1], FinishReason::Stop);
    assert_eq!(harness.tokens(2), end);
}

/// Between two steps of a running row at most one layer of a prompt is run where no stall is allowed; the prompt is
/// read all the same, and what it reads is no different for that.
#[test]
fn prompts_are_read_between_the_steps_of_others() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(13);
    // It outlasts the reading on any machine.
    let running = greedy(&rng.prompt(5), 100_000);
    let long = greedy(&rng.prompt(2 * PREFILL_CHUNK + 100), 10);
    let mut harness = Harness::new(&model, NO_STALL);
    harness.submit(0, &running, Drafting::Off);
    while !harness.is_running(0) {
        harness.pump();
    }
    harness.submit(1, &long, Drafting::Off);
    let begin = harness.scheduler.layers_run();
    let mut turns = 0;
    while !harness.is_running(1) {
        let before = (harness.scheduler.layers_run(), harness.tokens(0).len());
        harness.pump();
        turns += 1;
        assert!(harness.scheduler.layers_run() <= before.0 + 1);
        assert_eq!(harness.tokens(0).len(), before.1 + 1, "a step in every turn");
    }
    let layers = (harness.scheduler.layers_run() - begin) as usize;
    assert_eq!(layers, 3 * model.stack.layers.len(), "three chunks");
    assert!(turns >= layers);
    harness.scheduler.cancel(&model, &[0]);
    harness.finish();
    assert_eq!(harness.tokens(1), alone(&model, &long, 0).tokens);
    let written = harness.tokens(0);
    assert_eq!(written, alone(&model, &greedy(&running.prompt, written.len()), 0).tokens);
}

/// Two prompts take turns, chunk by chunk, so that a short one need not wait for the end of a long one.
#[test]
fn a_short_prompt_overtakes_a_long_one() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(14);
    let mut harness = Harness::new(&model, Limits::default());
    harness.submit(0, &greedy(&rng.prompt(4 * PREFILL_CHUNK), 4), Drafting::Auto);
    harness.submit(1, &greedy(&rng.prompt(20), 40), Drafting::Auto);
    harness.submit(2, &greedy(&rng.prompt(20), 4), Drafting::Auto);
    let mut first = None;
    while first.is_none() {
        harness.pump();
        assert!(harness.scheduler.prefilling().count() <= 2);
        first = (0..3).find(|&id| harness.is_running(id));
    }
    assert_eq!(first, Some(1));
    harness.finish();
    assert_eq!(harness.admitted, [0, 1, 2]);
}

/// Rows that share steps draft to different depths, and after everybody else has left the last one still drafts.
#[test]
fn every_row_keeps_its_own_depth() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(15), 3, 30);
    let drafting = [1, 4, 2].map(|depth| Drafting::Fixed { depth });
    let mut harness = Harness::new(&model, NO_STALL);
    for (id, row) in rows.iter().enumerate() {
        harness.submit(id, &forced(&row.spec, &row.tokens, [1.0, 0.0, 0.5][id]), drafting[id]);
    }
    harness.finish();
    let deepest: Vec<usize> = (0..3).map(|id| harness.replies[&id].drafted.len()).collect();
    assert_eq!(deepest, [1, 4, 2]);
    let slow = &harness.replies[&1];
    assert_eq!(slow.steps, 30, "it accepts nothing");
    // All but the last steps, whose budget is short, and the first, where a prompt of one token leaves nothing to read.
    assert!(slow.drafted[3] >= 25, "{:?}", slow.drafted);
    for (id, row) in rows.iter().enumerate() {
        assert_eq!(harness.tokens(id), row.tokens, "row {id}");
    }
}

/// Where a policy has learned that drafts pay, rows that leave it the choice get them, whoever is beside.
#[test]
fn the_policy_decides_for_rows_that_leave_it_the_choice() {
    let model = tiny_dense(Stored::F32);
    let rows = known_rows(&model, &mut Rng::new(16), 3, 24);
    let mut harness = Harness::new(&model, NO_STALL);
    for (id, row) in rows.iter().enumerate() {
        let drafting = if id == 1 { Drafting::Off } else { Drafting::Auto };
        let prompt = [vec![3, 5], row.spec.prompt.clone()].concat();
        let spec = RowSpec { prompt, ..row.spec.clone() };
        let tokens = alone(&model, &spec, 0).tokens;
        harness.submit(id, &forced(&spec, &tokens, 1.0), drafting);
    }
    harness.finish();
    // How long they go on with it follows from what this machine takes for a step.
    for id in [0, 2] {
        let reply = &harness.replies[&id];
        assert!(!reply.drafted.is_empty() && reply.steps < 24, "{reply:?}");
    }
    assert_eq!((harness.replies[&1].steps, harness.replies[&1].drafted.len()), (24, 0));
}

/// Log-probabilities are those of the model itself, whatever is drawn from it and however it was drafted.
#[test]
fn log_probabilities_follow_the_definition() {
    const TOP: usize = 5;
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(17);
    let mut harness = Harness::new(&model, NO_STALL);
    let mut specs = Vec::new();
    for (id, sampling) in samplings().into_iter().enumerate() {
        let spec = RowSpec { sampling, seed: 7, logprobs: Some(TOP), ..greedy(&rng.prompt(6), 12) };
        let tokens = alone(&model, &RowSpec { logprobs: None, ..spec.clone() }, 0).tokens;
        let drafting = [Drafting::Off, Drafting::Fixed { depth: 3 }][id % 2];
        // A neighbour that asks for none.
        let spec = RowSpec { logprobs: spec.logprobs.filter(|_| id != 4), ..spec };
        harness.submit(id, &forced(&spec, &tokens, 0.7), drafting);
        specs.push(spec);
    }
    let mut reports: BTreeMap<RowId, Vec<Logprobs>> = BTreeMap::new();
    while !harness.scheduler.is_idle() {
        for event in harness.scheduler.pump(&model) {
            if let SchedulerEvent::Advanced { advance, .. } = event {
                harness.replies.entry(advance.row).or_default().add(&advance);
                let expected = if advance.row == 4 { 0 } else { advance.tokens.len() };
                assert_eq!(advance.logprobs.len(), expected);
                reports.entry(advance.row).or_default().extend(advance.logprobs);
            }
        }
    }
    for (id, spec) in specs.iter().enumerate().filter(|(id, _)| *id != 4) {
        let text = [&spec.prompt, harness.tokens(id)].concat();
        let logits = score(&model, &text, PREFILL_CHUNK).unwrap().logits;
        let vocab = logits.dim(1) as usize;
        let logits = logits.to_vec::<f32>().unwrap();
        let rows = logits.chunks(vocab).skip(spec.prompt.len() - 1);
        for ((row, &token), Logprobs { emitted, top }) in
            rows.zip(harness.tokens(id)).zip(&reports[&(id as RowId)])
        {
            let mass = row.iter().map(|&l| f64::from(l).exp()).sum::<f64>().ln();
            let log_p = |token: u32| f64::from(row[token as usize]) - mass;
            assert!((f64::from(*emitted) - log_p(token)).abs() < 1e-3);
            let mut best: Vec<f64> = (0..vocab as u32).map(log_p).collect();
            best.sort_by(|a, b| b.total_cmp(a));
            for (&(token, value), best) in top.iter().zip(best) {
                assert!((f64::from(value) - log_p(token)).abs() < 1e-3 && (log_p(token) - best).abs() < 1e-3);
            }
        }
    }
}

fn load_demo(learned: Option<PolicyState>) -> Session {
    let prepared = Prepared::read(&demo_model(), KvPrecision::Full).unwrap();
    prepared.load(learned, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

/// What a session has learned about drafts can be stored, and spares the next one the measuring.
#[test]
fn what_the_policy_learned_outlives_the_session() {
    let settings = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Auto,
        max_tokens: 60,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    let mut session = load_demo(None);
    let loaded = serde_json::to_value(session.policy_state()).unwrap();
    let widths: BTreeMap<usize, f64> = serde_json::from_value(loaded["cost"]["passes"].clone()).unwrap();
    assert!((1..=4).all(|width| widths[&width] > 0.0), "measured when the model was loaded: {loaded}");
    assert!(loaded["cost"]["draft"].as_f64().unwrap() > 0.0);

    let question = ChatMessage::user("Tell me a story.");
    let prompt = session.chat_prompt(&[question], None, false).unwrap();
    let request =
        |drafting| ReplyRequest::new(prompt.clone(), GenerationSettings { drafting, ..settings.clone() });
    // Asked for, so that drafts are judged on any machine: where they do not pay, Auto makes none in so short a reply.
    let drafting = Drafting::Fixed { depth: 2 };
    let first = session.reply(request(drafting), &mut |_| ControlFlow::Continue(())).unwrap();
    let stored = serde_json::to_string(session.policy_state()).unwrap();
    // Reading a number from text may change its last bit.
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    assert_ne!(stored, loaded);
    let mut again = load_demo(Some(serde_json::from_value(stored.clone()).unwrap()));
    assert_eq!(serde_json::to_value(again.policy_state()).unwrap(), stored);
    for drafting in [Drafting::Auto, Drafting::Off] {
        let second = again.reply(request(drafting), &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(second.ids, first.ids);
    }
}
