//! Keys and values in 8 bits: smaller by as much as is told, nearly as good, and as exact in everything else.

use std::ops::ControlFlow;

use foretoken_engine::cache::RowCache;
use foretoken_engine::checkpoint::{Config, Index, Layout};
use foretoken_engine::decode::{Batch, RowSpec};
use foretoken_engine::model::Qwen;
use foretoken_engine::score::figures_with;
use foretoken_engine::session::{Prepared, ReplyRequest, Session};
use foretoken_protocol::{ChatMessage, Drafting, GenerationSettings, KvPrecision, Sampling, Thinking};
use foretoken_tests::fixtures::{demo_model, load_keeping};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{alone, greedy, read};
use foretoken_tests::states::{BF16_ROUNDING, Difference, fresh, states};

const QUESTION: &str = "Tell me a story about an owl and a bell. Then tell me another one, about a fox and a lamp, and \
                        a third one, about a bear and a kite.";

fn demo() -> Qwen {
    load_keeping(&demo_model(), KvPrecision::Eight)
}

fn session() -> Session {
    let prepared = Prepared::read(&demo_model(), KvPrecision::Eight).unwrap();
    prepared.load(None, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

/// A story that the model knows how to tell.
fn story(session: &mut Session) -> Vec<u32> {
    let messages = [ChatMessage::user(QUESTION)];
    let prompt = session.chat_prompt(&messages, None, false).unwrap();
    let settings = GenerationSettings {
        sampling: Sampling { temperature: 0.0, ..Sampling::default() },
        drafting: Drafting::Auto,
        max_tokens: 300,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    let mut ids = prompt.ids.clone();
    let request = ReplyRequest::new(prompt, settings);
    ids.extend(session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap().ids);
    ids
}

#[test]
fn drafts_do_not_change_the_text() {
    let model = demo();
    for seed in 0..4 {
        let prompt = Rng::new(seed).prompt(20 + 30 * seed as usize);
        for sampling in [Sampling { temperature: 0.0, ..Sampling::default() }, Sampling::default()] {
            let spec = RowSpec { sampling, seed, ..greedy(&prompt, 60) };
            let plain = alone(&model, &spec, 0).tokens;
            for depth in [1, 3, 8] {
                assert_eq!(alone(&model, &spec, depth).tokens, plain, "seed {seed}, depth {depth}");
            }
        }
    }
}

#[test]
fn company_does_not_change_the_text() {
    let model = demo();
    let specs: Vec<_> =
        (0..4).map(|seed| greedy(&Rng::new(seed).prompt(9 + 40 * seed as usize), 40)).collect();
    let expected: Vec<_> = specs.iter().map(|spec| alone(&model, spec, 2).tokens).collect();
    let mut batch = Batch::default();
    for (id, spec) in specs.iter().enumerate() {
        batch.join(read(&model, id as u64, spec)).unwrap();
    }
    let mut written = vec![Vec::new(); specs.len()];
    while !batch.rows().is_empty() {
        let ids: Vec<usize> = batch.rows().iter().map(|row| row.id as usize).collect();
        let advances = batch.step(&model, &vec![2; ids.len()]).unwrap().advances;
        for (id, advance) in ids.into_iter().zip(advances) {
            written[id].extend(advance.tokens);
        }
    }
    assert_eq!(written, expected);
}

/// A row that goes back and forth with its drafts keeps what a fresh prefill of its text gives: what differs is how
/// narrow and wide passes round, and then one of 255 levels.
#[test]
fn a_row_holds_the_keys_and_values_of_a_fresh_prefill() {
    let model = demo();
    for depth in [0, 1, 3, 8] {
        let spec = greedy(&Rng::new(7).prompt(30), 40);
        let mut batch = Batch::default();
        batch.join(read(&model, 0, &spec)).unwrap();
        let mut most = Difference::default();
        while let Some(row) = batch.rows().first() {
            let difference = Difference::between(&states(&batch)[0], &fresh(&model, row.context()));
            assert!(difference.most() < 2.0 * BF16_ROUNDING, "depth {depth}: {difference:?}");
            most = most.or(difference);
            batch.step(&model, &[depth]).unwrap();
        }
        println!("depth {depth}: {most}");
    }
}

#[test]
fn a_second_turn_goes_on_from_the_prefix_cache() {
    let (mut with, mut again) = (session(), session());
    let mut messages = vec![ChatMessage::user(QUESTION)];
    let settings = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Fixed { depth: 2 },
        max_tokens: 60,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    for turn in 0..3 {
        let reply = |session: &mut Session| {
            let prompt = session.chat_prompt(&messages, None, false).unwrap();
            let request = ReplyRequest::new(prompt, settings.clone());
            session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap()
        };
        let warm = reply(&mut with);
        // One that has read nothing before.
        let cold = reply(&mut again);
        again = session();
        assert_eq!(warm.ids, cold.ids, "turn {turn}");
        assert_eq!(warm.stats.cached_tokens > 0, turn > 0, "turn {turn}");
        messages.push(ChatMessage::assistant("Once there was an owl."));
        messages.push(ChatMessage::user(format!("And then, for the {turn} time?")));
    }
}

/// Bytes of what a row of so many tokens holds of the trunk.
fn held(model: &Qwen, tokens: usize) -> u64 {
    let spec = greedy(&Rng::new(3).prompt(tokens), 1);
    let task = read(model, 0, &spec);
    let mut batch = Batch::default();
    batch.join(task).unwrap();
    let RowCache { kv, .. } = batch.rows()[0].cache();
    kv.iter().flat_map(|kv| kv.buffers()).map(|buffer| buffer.nbytes() as u64).sum()
}

#[test]
fn it_takes_the_memory_that_is_told() {
    let [full, eight] = [KvPrecision::Full, KvPrecision::Eight].map(|kv| load_keeping(&demo_model(), kv));
    // 257 and one for the reply are 512 positions with the growth.
    let positions = 512;
    for model in [&full, &eight] {
        assert_eq!(held(model, 300), positions * model.row_memory.kv_per_token);
    }
    let share = eight.row_memory.kv_per_token as f64 / full.row_memory.kv_per_token as f64;
    assert!((0.5..0.55).contains(&share), "{share}");
    assert_eq!(eight.row_memory.head_cache_per_token, full.row_memory.head_cache_per_token);
}

#[test]
fn it_costs_next_to_nothing_in_perplexity() {
    let ids = story(&mut session());
    let model = demo();
    let [full, eight] =
        [KvPrecision::Full, KvPrecision::Eight].map(|kv| figures_with(&model, kv, &ids, 512).unwrap());
    let (full, eight) = (full.perplexity().unwrap(), eight.perplexity().unwrap());
    println!("perplexity {full} as computed, {eight} in 8 bits, over {} tokens", ids.len());
    assert!(full != eight, "nothing was quantized");
    assert!((eight / full - 1.0).abs() < 0.01, "{full} {eight}");
}

#[test]
fn heads_of_an_odd_size_are_refused() {
    let mut config = Config::read(&demo_model()).unwrap();
    let layout = Layout::plan(&config, &Index::read(&demo_model(), &config).unwrap()).unwrap();
    config.attention.head_dim = 80;
    let error = layout.keeping_kv(&config, KvPrecision::Eight).unwrap_err();
    assert_eq!(error.code(), "kv_not_quantizable");
    assert_eq!(
        error.to_string(),
        "The model's heads are 80 numbers wide; in 8 bits they must be a multiple of 32."
    );
}
