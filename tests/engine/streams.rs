//! What the processors of a machine compute side by side is to the bit what one of them computes alone.

use foretoken_engine::mlx::{self, Array};
use foretoken_engine::model::Qwen;
use foretoken_engine::score::{Score, score};
use foretoken_tests::fixtures::{Stored, demo_model, load, tiny_dense};
use foretoken_tests::oracle::Cases;

/// A text long enough to be worth many streams, read in pieces of a length that no block divides.
fn outputs(model: &Qwen) -> Score {
    let vocab = model.embed_tokens.as_head().out_features() as u32;
    let ids: Vec<u32> = (0..731u32).map(|i| i.wrapping_mul(2_654_435_761) % vocab).collect();
    score(model, &ids, 350).unwrap()
}

fn bytes(score: &Score) -> Vec<Vec<u8>> {
    let arrays = [&score.logits, &score.hidden].into_iter().chain(&score.mtp_logits);
    arrays.map(|array: &Array| array.to_bytes().unwrap()).collect()
}

fn check(model: &Qwen) {
    let whole = mlx::undivided(|| bytes(&outputs(model)));
    assert!(bytes(&outputs(model)) == whole);
}

#[test]
fn of_the_demo_model_in_bfloat16() {
    check(&load(&demo_model()));
}

#[test]
fn of_quantized_weights() {
    check(&tiny_dense(Stored::Q4));
}

#[test]
fn of_experts() {
    let cases = Cases::of("layouts");
    for name in ["tiny-moe-q36", "tiny-moe-q36-bfloat16"] {
        check(&load(&cases.checkpoint(name)));
    }
}
