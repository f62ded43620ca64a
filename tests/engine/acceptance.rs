//! Rejection sampling: what a row emits, how often, and what it leaves behind.

use std::collections::HashMap;
use std::ops::ControlFlow;

use foretoken_engine::decode::{Batch, DraftPlan, KnownDrafts, RowSpec};
use foretoken_engine::mlx::Dtype;
use foretoken_engine::model::Qwen;
use foretoken_engine::session::{ReplyRequest, Session};
use foretoken_protocol::{AcceptanceRule, ChatMessage, Drafting, GenerationSettings, Sampling, Thinking};
use foretoken_tests::drafted::{dflash, load_draft};
use foretoken_tests::fixtures::{
    Stored, demo_draft_model, demo_model, demo_questions, load, tiny_dense, write_raw,
};
use foretoken_tests::known::samplings;
use foretoken_tests::reference::{Step, rejection_shortfall};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, forced, greedy, read};
use foretoken_tests::states::{Difference, F32_ROUNDING, fresh, states};

/// Near ties within the rounding of logits in f32 and in bf16.
const TIE: f64 = 1e-4;

fn rejecting(sampling: Sampling) -> Sampling {
    Sampling { acceptance: AcceptanceRule::Rejection, ..sampling }
}

#[test]
fn greedy_rows_and_rows_without_drafts_read_the_same_under_both_rules() {
    let model = tiny_dense(Stored::F32);
    for (i, sampling) in samplings().into_iter().enumerate() {
        let coupled = RowSpec { sampling, seed: 4, ..greedy(&Rng::new(i as u64).prompt(9), 20) };
        let rejecting = RowSpec { sampling: rejecting(sampling), ..coupled.clone() };
        let depths: &[usize] = if sampling.temperature == 0.0 { &[0, 1, 3] } else { &[0] };
        for &depth in depths {
            for rate in [0.0, 0.6, 1.0] {
                let text = alone(&model, &coupled, 0).tokens;
                let replies =
                    [&coupled, &rejecting].map(|spec| alone(&model, &forced(spec, &text, rate), depth));
                assert_eq!(replies[0], replies[1], "{sampling:?} at depth {depth}");
            }
        }
    }
}

/// What happened in a step, as the next one finds it.
fn kind(step: &Step) -> &'static str {
    match step.accepted {
        _ if step.drafts.is_empty() => "plain",
        0 => "rejected",
        accepted if accepted == step.drafts.len() => "accepted",
        _ => "partial",
    }
}

/// Every verdict and every token by the definition, after every kind of step, with every kind of processor.
#[test]
fn verdicts_and_tokens_follow_the_definition() {
    // In f32, so that rounding decides nothing.
    let folder = tempfile::tempdir().unwrap();
    write_raw(&demo_model(), folder.path(), Dtype::Float32);
    let model = load(folder.path());
    let base = Sampling { temperature: 0.25, ..Sampling::default() };
    let cases = [
        base,
        Sampling { top_k: 12, top_p: 0.95, ..base },
        Sampling { temperature: 0.4, min_p: 0.02, ..base },
        Sampling { repetition_penalty: 1.2, frequency_penalty: 0.3, ..base },
        Sampling { xtc_probability: 0.5, xtc_threshold: 0.05, ..base },
        Sampling { presence_penalty: 0.4, top_k: 30, xtc_probability: 0.4, xtc_threshold: 0.1, ..base },
    ];
    let mut pairs: HashMap<(&str, &str), usize> = HashMap::new();
    let mut most = 0.0f64;
    for (i, sampling) in cases.into_iter().enumerate() {
        for seed in 0..4 {
            let prompt = Rng::new(seed).prompt(7);
            let spec = RowSpec { sampling: rejecting(sampling), seed, ..greedy(&prompt, 40) };
            // What it will most likely say, so that most drafts stay; in one case of four the first does not.
            let mut continuation = alone(&model, &greedy(&prompt, 40), 0).tokens;
            if seed == 3 {
                continuation.swap(0, 1);
            }
            let known = KnownDrafts { continuation, rate: 0.9 };
            let spec = RowSpec { known_drafts: Some(known.clone()), ..spec };
            let mut batch = Batch::default();
            batch.join(read(&model, 0, &spec)).unwrap();
            let mut steps: Vec<Step> = Vec::new();
            let mut emitted = 0;
            while !batch.rows().is_empty() {
                let depth = [1, 3, 2, 0][(steps.len() + i) % 4];
                let mut advances = batch.step(&model, &[depth]).unwrap().advances;
                let advance = advances.remove(0);
                let drafts = (emitted..emitted + advance.drafted).map(|index| known.draft(index)).collect();
                emitted += advance.tokens.len();
                let step = Step { drafts, accepted: advance.accepted, tokens: advance.tokens };
                *pairs.entry((steps.last().map_or("first", kind), kind(&step))).or_insert(0) += 1;
                steps.push(step);
            }
            let below = rejection_shortfall(&model, &spec, &steps);
            assert!(below < TIE, "{:?}, seed {seed}: {below} below the best choice", spec.sampling);
            most = most.max(below);
        }
    }
    println!("largest distance below the best choice: {most:.1e}; steps after steps: {pairs:?}");
    for before in ["first", "accepted", "partial", "rejected"] {
        for now in ["accepted", "rejected"] {
            assert!(pairs.contains_key(&(before, now)), "{now} after {before} never happened: {pairs:?}");
        }
    }
}

/// Rows beside each other, with their own heads' drafts and with known ones: each reads as if it were alone, and after
/// every step its state is that of a fresh prefill.
#[test]
fn rows_keep_their_text_and_their_state_in_company() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(31);
    let specs: Vec<RowSpec> = samplings()
        .into_iter()
        .enumerate()
        .map(|(i, sampling)| {
            let prompt = rng.prompt(3 + i);
            let spec = RowSpec { sampling: rejecting(sampling), seed: i as u64, ..greedy(&prompt, 18) };
            let text = alone(&model, &spec, 0).tokens;
            if i % 3 == 0 { spec } else { forced(&spec, &text, 0.7) }
        })
        .collect();
    let depth = |id: u64| [2, 4, 1][id as usize % 3];
    let mut batch = Batch::default();
    for (id, spec) in specs.iter().enumerate() {
        batch.join(read(&model, id as u64, spec)).unwrap();
    }
    let mut replies = vec![Reply::default(); specs.len()];
    let mut most = Difference::default();
    while !batch.rows().is_empty() {
        let depths: Vec<usize> = batch.rows().iter().map(|row| depth(row.id)).collect();
        for advance in batch.step(&model, &depths).unwrap().advances {
            replies[advance.row as usize].add(&advance);
        }
        for (row, state) in batch.rows().iter().zip(states(&batch)) {
            let difference = Difference::between(&state, &fresh(&model, row.context()));
            assert!(difference.most() < F32_ROUNDING, "row {}: {difference}", row.id);
            most = most.or(difference);
        }
    }
    for (id, (spec, reply)) in specs.iter().zip(&replies).enumerate() {
        assert_eq!(*reply, alone(&model, spec, depth(id as u64)), "row {id}");
    }
    println!("largest difference: {most}");
}

/// Every depth beside none, one and three others, under either rule and with rejections at every position: drafts,
/// verdicts and text are those of the row alone.
#[test]
fn every_depth_reads_the_same_in_any_company_under_either_rule() {
    const MAX_TOKENS: usize = 20;
    let model = tiny_dense(Stored::F32);
    let drawn = Sampling { temperature: 0.8, top_k: 30, ..Sampling::default() };
    let penalised = Sampling { repetition_penalty: 1.2, top_p: 0.95, ..drawn };
    for sampling in [[Sampling::default(); 2], [drawn, penalised], [rejecting(drawn), rejecting(penalised)]] {
        let specs: Vec<RowSpec> = [0.4, 0.8, 0.0, 1.0]
            .into_iter()
            .enumerate()
            .map(|(i, rate)| {
                let prompt = Rng::new(40 + i as u64).prompt(3 + i);
                let spec =
                    RowSpec { sampling: sampling[i % 2], seed: i as u64, ..greedy(&prompt, MAX_TOKENS) };
                let text = alone(&model, &spec, 0).tokens;
                forced(&spec, &text, rate)
            })
            .collect();
        for depth in [1, 2, 3, 4, 8] {
            let solo: Vec<Reply> = specs.iter().map(|spec| alone(&model, spec, depth)).collect();
            // What stays of right and wrong drafts; under rejection sampling the text is another, so nothing is right.
            let stays = |row: usize| solo[row].accepted.iter().sum::<usize>();
            assert!(sampling[0].acceptance == AcceptanceRule::Rejection || (stays(2) == 0 && stays(3) > 0));
            assert!(solo.iter().all(|reply| reply.drafted.len() == depth));
            for rows in [2, 4] {
                let mut batch = Batch::default();
                let mut replies = vec![Reply::default(); rows];
                let mut joined = 0;
                // Each joins a step later than the one before.
                while joined < rows || !batch.rows().is_empty() {
                    if joined < rows {
                        batch.join(read(&model, joined as u64, &specs[joined])).unwrap();
                        joined += 1;
                    }
                    let depths = vec![depth; batch.rows().len()];
                    for advance in batch.step(&model, &depths).unwrap().advances {
                        replies[advance.row as usize].add(&advance);
                    }
                }
                assert_eq!(replies, solo[..rows], "{:?}, depth {depth}, {rows} rows", sampling[0]);
            }
        }
    }
}

/// The first tokens of many replies, `count` each, by seed.
fn openings(model: &Qwen, spec: &RowSpec, seeds: std::ops::Range<u64>, plan: DraftPlan) -> Vec<Vec<u32>> {
    const TOGETHER: usize = 16;
    let mut replies = Vec::new();
    for seeds in seeds.collect::<Vec<_>>().chunks(TOGETHER) {
        let mut batch = Batch::default();
        for &seed in seeds {
            batch.join(read(model, seed, &RowSpec { seed, ..spec.clone() })).unwrap();
        }
        let mut texts: HashMap<u64, Vec<u32>> = HashMap::new();
        while !batch.rows().is_empty() {
            let plans = vec![plan; batch.rows().len()];
            for advance in batch.step(model, &plans).unwrap().advances {
                texts.entry(advance.row).or_default().extend(advance.tokens);
            }
        }
        replies.extend(texts.into_values());
    }
    replies
}

/// With the real head and the real draft model the tokens behind the first come as often as in plain sampling, each and
/// in pairs. `FORETOKEN_CASES=1000` for the long form.
#[test]
fn tokens_come_as_often_as_in_plain_sampling() {
    let replies = std::env::var("FORETOKEN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(250);
    let model = Qwen { draft: Some(load_draft(&demo_draft_model())), ..load(&demo_model()) };
    let prompt: Vec<u32> = Rng::new(5).prompt(6);
    let sampling = rejecting(Sampling { temperature: 2.0, top_k: 12, ..Sampling::default() });
    let spec = RowSpec { sampling, ..greedy(&prompt, 4) };
    let plain = openings(&model, &spec, 0..replies, 0.into());
    let by_head = openings(&model, &spec, replies..2 * replies, 3.into());
    let by_draft_model = openings(&model, &spec, 2 * replies..3 * replies, dflash(3));
    alike(&plain, &by_head);
    alike(&plain, &by_draft_model);
}

/// Whether tokens come as often in the one as in the other.
fn alike(plain: &[Vec<u32>], drafted: &[Vec<u32>]) {
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3)] {
        let counts = |replies: &[Vec<u32>]| {
            let mut counts: HashMap<Vec<u32>, f64> = HashMap::new();
            replies.iter().for_each(|reply| *counts.entry(reply[from..to].to_vec()).or_default() += 1.0);
            counts
        };
        let (a, b) = (counts(plain), counts(drafted));
        let (mut chi2, mut cells) = (0.0, 0.0);
        // What is rare counts together.
        let mut rare = (0.0, 0.0);
        let mut add = |a: f64, b: f64| {
            chi2 += (a - b).powi(2) / (a + b);
            cells += 1.0;
        };
        let mut keys: Vec<&Vec<u32>> = a.keys().chain(b.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let (a, b) = (a.get(key).copied().unwrap_or(0.0), b.get(key).copied().unwrap_or(0.0));
            if a + b < 16.0 { rare = (rare.0 + a, rare.1 + b) } else { add(a, b) }
        }
        if rare.0 + rare.1 > 0.0 {
            add(rare.0, rare.1);
        }
        let degrees: f64 = cells - 1.0;
        println!("tokens {from}..{to}: chi-square {chi2:.1} for {degrees}");
        assert!(degrees > 3.0);
        assert!(
            chi2 < degrees + 4.0 * (2.0 * degrees).sqrt() + 4.0,
            "tokens {from}..{to}: {chi2} for {degrees}"
        );
    }
}

/// How many drafts stay under either rule.
#[test]
fn drafts_of_the_demo_model_stay_under_either_rule() {
    let mut session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    for (temperature, depth) in [(0.7, 3), (1.5, 1)] {
        for acceptance in [AcceptanceRule::Coupled, AcceptanceRule::Rejection] {
            let (mut drafted, mut accepted, mut tokens, mut steps) = (0, 0, 0, 0);
            for (seed, question) in demo_questions().into_iter().take(6).enumerate() {
                let message = ChatMessage::user(question);
                let prompt = session.chat_prompt(&[message], None, false).unwrap();
                let seed = Some(seed as u64);
                let settings = GenerationSettings {
                    sampling: Sampling { temperature, acceptance, seed, ..Sampling::default() },
                    drafting: Drafting::Fixed { depth },
                    max_tokens: 64,
                    thinking: Thinking::Off,
                    stop: Vec::new(),
                };
                let request = ReplyRequest::new(prompt, settings);
                let reply = session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap();
                drafted += reply.stats.positions.iter().map(|position| position.drafted).sum::<u32>();
                accepted += reply.stats.positions.iter().map(|position| position.accepted).sum::<u32>();
                (tokens, steps) = (tokens + reply.stats.emitted, steps + reply.stats.steps);
            }
            let share = f64::from(accepted) / f64::from(drafted);
            let per_pass = f64::from(tokens) / f64::from(steps);
            println!(
                "{acceptance:?} at {temperature}, depth {depth}: {share:.3} accepted, {per_pass:.2} tokens a pass"
            );
            // Far more than chance: a token by chance is right once in two thousand times.
            assert!(share > 0.2, "{acceptance:?} at {temperature}: {share}");
        }
    }
}
