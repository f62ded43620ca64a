//! What a step takes of the heap does not grow with the context or with the steps before, and is far from what building
//! anything large would take: no random generator, no parser and no table is made for a token.
//!
//! One test, since the counting allocator is the process's.

use std::alloc::System;

use cap::Cap;
use foretoken_engine::decode::{Batch, RowSpec};
use foretoken_engine::model::Qwen;
use foretoken_engine::session::{Progress, ReplyRequest, Session};
use foretoken_protocol::{ChatMessage, Drafting, GenerationSettings, Sampling, Thinking};
use foretoken_tests::fixtures::{Stored, endless_model, tiny_dense};
use foretoken_tests::known::samplings;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{forced, greedy, read};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Steps that are compared with each other.
const WINDOW: usize = 32;
/// The most that a step may take: far less than anything that is parsed or compiled, and than a table over all tokens.
const MOST: usize = 16 << 10;

/// The median of what each of some steps allocates, in bytes. A buffer that doubles now and then does not count.
fn median(mut bytes: Vec<usize>) -> usize {
    bytes.sort_unstable();
    bytes[bytes.len() / 2]
}

/// What `work` allocates in all.
fn allocated<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATOR.total_allocated();
    let result = work();
    (result, ALLOCATOR.total_allocated() - before)
}

/// What a step of one row allocates behind a prompt of so many tokens: the median over its first steps, and over steps
/// that come much later.
fn of_a_step(model: &Qwen, prompt: usize, sampling: Sampling, depth: usize) -> [usize; 2] {
    let spec = RowSpec { sampling, seed: 3, ..greedy(&Rng::new(5).prompt(prompt), 100_000) };
    let mut batch = Batch::default();
    // Drafts that are never right, so that all steps do the same.
    batch.join(read(model, 0, &forced(&spec, &[], 0.0))).unwrap();
    let mut steps = |count: usize| -> Vec<usize> {
        (0..count).map(|_| allocated(|| batch.step(model, &[depth]).unwrap()).1).collect()
    };
    steps(8);
    let early = median(steps(WINDOW));
    steps(120);
    [early, median(steps(WINDOW))]
}

fn steps_do_not_take_more_as_a_row_grows() {
    let model = tiny_dense(Stored::F32);
    let mut most = 0;
    // Greedy, drawn with XTC, and with two penalties.
    for sampling in [0, 4, 6].map(|kind| samplings()[kind]) {
        for depth in [0, 3] {
            let [short, long] = [10, 900].map(|prompt| of_a_step(&model, prompt, sampling, depth));
            println!("depth {depth}, {sampling:?}: {short:?} bytes behind 10 tokens, {long:?} behind 900");
            let all = [short, long].concat();
            let (least, largest) = (all.iter().min().unwrap(), all.iter().max().unwrap());
            assert!(largest - least <= least / 20, "{all:?}");
            most = most.max(*largest);
        }
    }
    println!("at most {most} bytes in a step");
    assert!(most <= MOST, "{most}");
}

/// Turns of a session, with everything around the decoder: text, stop texts, log-probabilities, numbers.
fn replies_do_not_take_more_as_they_grow() {
    let folder = tempfile::tempdir().unwrap();
    let mut session =
        Session::load(&endless_model(folder.path()), &mut |_, _| std::ops::ControlFlow::Continue(()))
            .unwrap();
    let message = ChatMessage::user("Tell me a story about an owl.");
    let prompt = session.chat_prompt(&[message], None, false).unwrap();
    let sampling = Sampling { temperature: 0.8, top_k: 40, seed: Some(4), ..Sampling::default() };
    let stop = vec!["never in any text".to_owned()];
    let settings = GenerationSettings {
        sampling,
        drafting: Drafting::Off,
        max_tokens: 400,
        thinking: Thinking::Off,
        stop,
    };
    session.submit(0, ReplyRequest { logprobs: Some(2), ..ReplyRequest::new(prompt, settings) }).unwrap();
    let mut turns = Vec::new();
    while !session.is_idle() {
        let (progress, bytes) = allocated(|| session.pump());
        if matches!(progress.as_slice(), [(_, Progress::Tokens { .. })]) {
            turns.push(bytes);
        }
    }
    assert!(turns.len() > 350, "{}", turns.len());
    let [early, late] = [8, turns.len() - WINDOW - 8].map(|at| median(turns[at..at + WINDOW].to_vec()));
    println!("a turn of a session: {early} bytes, {late} near its end");
    assert!(early.abs_diff(late) <= early / 20 && late <= MOST, "{early} and {late}");
}

#[test]
fn the_heap_does_not_grow_with_the_text() {
    steps_do_not_take_more_as_a_row_grows();
    replies_do_not_take_more_as_they_grow();
}
