//! Raw checkpoints in every layout in which the family is published, against two other implementations and the
//! definition: logits, MTP logits, and greedy text at every depth.

use foretoken_tests::agreement::logits_agree;
use foretoken_tests::fixtures::{fixture, load};
use foretoken_tests::goldens::Goldens;
use foretoken_tests::oracle::Cases;

foretoken_tests::test_cases! { "layouts":
    tiny_dense
    tiny_dense_bfloat16
    tiny_dense_flat
    tiny_dense_float16
    tiny_dense_untied
    tiny_dense_yarn
    tiny_moe_dense_mtp
    tiny_moe_q35
    tiny_moe_q36
    tiny_moe_q36_bfloat16
    tiny_moe_q36_flat
    tiny_moe_q36_float16
    tiny_moe_split
    tiny_next
    tiny_next_bfloat16
    tiny_next_float16
    tiny_next_mixed
    tiny_next_yarn
}

/// Compares checkpoints that hold the same numbers with values in `fixtures/goldens`.
fn agree(values: &str, names: &[&str]) {
    let cases = Cases::of("layouts");
    let goldens = Goldens::read(&fixture("goldens").join(values));
    for name in names {
        logits_agree(&load(&cases.checkpoint(name)), &goldens, &format!("{name} against {values}"));
    }
}

#[test]
fn experts_agree_with_the_fork_of_mlx_lm_that_has_a_head() {
    agree("tiny-moe-f32", &["tiny-moe-q35", "tiny-moe-q36", "tiny-moe-split", "tiny-next"]);
}

#[test]
fn dense_agrees_with_transformers() {
    agree("transformers/tiny-dense", &["tiny-dense"]);
}

#[test]
fn dense_yarn_agrees_with_transformers() {
    agree("transformers/tiny-dense-yarn", &["tiny-dense-yarn"]);
}

#[test]
fn experts_agree_with_transformers() {
    agree("transformers/tiny-moe", &["tiny-moe-q36"]);
}

#[test]
fn next_agrees_with_transformers() {
    agree("transformers/tiny-moe", &["tiny-next"]);
    agree("transformers/tiny-next-mixed", &["tiny-next-mixed"]);
    agree("transformers/tiny-next-yarn", &["tiny-next-yarn"]);
}
