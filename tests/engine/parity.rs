//! Logits, hidden states, MTP logits, states and greedy text against the reference implementation's.

use foretoken_engine::mlx::Array;
use foretoken_engine::score::score;
use foretoken_tests::agreement::{F32_BOUND, rows};
use foretoken_tests::fixtures::{Stored, tiny_dense};
use foretoken_tests::goldens::{Goldens, LENGTHS};
use foretoken_tests::runs::{alone, greedy};
use foretoken_tests::states::{fresh, relative_values};

/// Tokens per forward pass.
const CHUNKS: [usize; 6] = [1, 3, 16, 64, 100, 512];

/// Compares the ids of the largest logits with the expected ones: the same, or as large within the bound.
fn same_top(logits: &Array, ids: &[u32], values: &[f32], what: &str) {
    let (tokens, vocab) = (logits.dim(0) as usize, logits.dim(1) as usize);
    let logits = logits.to_vec::<f32>().unwrap();
    let count = ids.len() / tokens;
    let mut swapped = 0;
    for (t, row) in logits.chunks(vocab).enumerate() {
        let (ids, values) = (&ids[t * count..][..count], &values[t * count..][..count]);
        let mut order: Vec<u32> = (0..vocab as u32).collect();
        order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
        for (rank, (&id, &value)) in ids.iter().zip(values).enumerate() {
            if order[rank] != id {
                swapped += 1;
                let off = (row[order[rank] as usize] - value).abs();
                assert!(off < F32_BOUND * values[0].abs(), "{what}, token {t}, rank {rank}: off by {off}");
            }
        }
    }
    // Two that are nearly equal may stand the other way round.
    assert!(swapped <= 2.max(ids.len() / 1000), "{what}: {swapped} of {} ids at another rank", ids.len());
}

fn outputs_agree(stored: Stored) {
    let model = tiny_dense(stored);
    let goldens = Goldens::read(&stored.goldens());
    let mut most = [0.0f32; 3];
    for length in LENGTHS {
        let ids = goldens.ids(length);
        let kept = goldens.rows(length);
        for chunk in CHUNKS {
            let score = score(&model, &ids, chunk).unwrap();
            let mut compare = |which: usize, name: &str, got: &[f32]| {
                let off = relative_values(got, &goldens.floats(&format!("{name}_{length}")));
                most[which] = most[which].max(off);
                assert!(off < F32_BOUND, "{name} at length {length}, chunk {chunk}: {off}");
            };
            compare(0, "logits", &rows(&score.logits, &kept));
            compare(1, "hidden", &score.hidden.to_vec().unwrap());
            let top = |prefix: &str, logits: &Array| {
                same_top(
                    logits,
                    &goldens.ints(&format!("{prefix}top_ids_{length}")),
                    &goldens.floats(&format!("{prefix}top_vals_{length}")),
                    &format!("{prefix}top at length {length}, chunk {chunk}"),
                );
            };
            top("", &score.logits);
            match &score.mtp_logits {
                None => assert_eq!(length, 1),
                Some(mtp_logits) => {
                    assert_eq!(mtp_logits.dim(0) as usize, length - 1);
                    let kept: Vec<usize> = kept.iter().copied().filter(|&row| row < length - 1).collect();
                    compare(2, "mtp_logits", &rows(mtp_logits, &kept));
                    top("mtp_", mtp_logits);
                }
            }
        }
    }
    println!("{stored:?}: logits {:.2e}, hidden {:.2e}, MTP logits {:.2e}", most[0], most[1], most[2]);
}

fn states_agree(stored: Stored) {
    let model = tiny_dense(stored);
    let goldens = Goldens::read(&stored.goldens());
    // The last token is not fed.
    let state = fresh(&model, &[goldens.ids(64), vec![0]].concat());
    let compare = |name: &str, got: &Array| {
        let off = relative_values(&got.to_vec().unwrap(), &goldens.floats(&format!("state_64_{name}")));
        println!("{stored:?}: {name} {off:.2e}");
        assert!(off < F32_BOUND, "{name}: {off}");
    };
    for layer in 0..3 {
        compare(&format!("{layer}_ssm"), &state.recurrent[layer]);
        compare(&format!("{layer}_conv"), &state.tails[layer]);
    }
    for (part, name) in [(0, "3_k"), (1, "3_v")] {
        compare(name, &state.kv[0].slice_axis(0, part, part + 1).unwrap());
    }
}

fn greedy_text_agrees(stored: Stored) {
    let model = tiny_dense(stored);
    let goldens = Goldens::read(&stored.goldens());
    for length in [7, 64] {
        let expected = goldens.greedy(length).unwrap();
        for depth in [0, 1, 2, 3] {
            let reply = alone(&model, &greedy(&goldens.ids(length), expected.len()), depth);
            assert_eq!(reply.tokens, expected, "after {length} tokens at depth {depth}");
        }
    }
}

#[test]
fn f32_outputs_agree() {
    outputs_agree(Stored::F32);
}

#[test]
fn q4_outputs_agree() {
    outputs_agree(Stored::Q4);
}

#[test]
fn q8_outputs_agree() {
    outputs_agree(Stored::Q8);
}

#[test]
fn states_after_64_tokens_agree() {
    for stored in [Stored::F32, Stored::Q4, Stored::Q8] {
        states_agree(stored);
    }
}

#[test]
fn greedy_texts_agree() {
    for stored in [Stored::F32, Stored::Q4, Stored::Q8] {
        greedy_text_agrees(stored);
    }
}
