//! Penalised rows see the prompt and every token before each position, each once, drafts included.

use foretoken_engine::decode::RowSpec;
use foretoken_engine::model::Qwen;
use foretoken_protocol::Sampling;
use foretoken_tests::dice::Dice;
use foretoken_tests::fixtures::{Stored, tiny_dense};
use foretoken_tests::reference::shortfall;
use foretoken_tests::runs::{alone, forced, greedy};

const TIE: f64 = 1e-4;

fn cases() -> Vec<Sampling> {
    let base = Sampling::default();
    let penalties = [
        Sampling { repetition_penalty: 1.5, ..base },
        Sampling { repetition_penalty: 0.7, ..base },
        Sampling { presence_penalty: 0.8, ..base },
        Sampling { presence_penalty: -0.5, ..base },
        Sampling { frequency_penalty: 0.6, ..base },
        // Weak ones let tokens come again, so that it matters how often they were counted.
        Sampling { frequency_penalty: 0.1, ..base },
        Sampling { frequency_penalty: -0.1, ..base },
        Sampling { repetition_penalty: 1.2, presence_penalty: 0.3, frequency_penalty: 0.2, ..base },
    ];
    let sampled = penalties.map(|s| Sampling { temperature: 0.8, top_p: 0.95, top_k: 50, ..s });
    penalties.into_iter().chain(sampled).collect()
}

/// A row whose prompt ends with what the model would write anyway, so that the prompt's tokens compete.
fn spec(model: &Qwen, sampling: Sampling, seed: u64) -> RowSpec {
    let opening = Dice::new(seed).prompt(6);
    let written = alone(model, &greedy(&opening, 10), 0).tokens;
    RowSpec { sampling, seed, ..greedy(&[opening, written].concat(), 24) }
}

fn same_at_every_depth(model: &Qwen, sampling: Sampling, seed: u64) -> f64 {
    let spec = spec(model, sampling, seed);
    let plain = alone(model, &spec, 0).tokens;
    let below = shortfall(model, &spec.prompt, &plain, &sampling, seed);
    assert!(below < TIE, "{sampling:?}: {below} below the best choice");
    for depth in [1, 2, 3, 8] {
        assert_eq!(alone(model, &spec, depth).tokens, plain, "{sampling:?} at depth {depth}");
        for rate in [0.5, 1.0] {
            let reply = alone(model, &forced(&spec, &plain, rate), depth);
            assert_eq!(reply.tokens, plain, "{sampling:?} at depth {depth}, rate {rate}");
            if rate == 1.0 {
                assert_eq!(reply.accepted, reply.drafted, "{sampling:?}: right drafts are accepted");
            }
        }
    }
    below
}

#[test]
fn penalised_rows_follow_the_definition_at_every_depth() {
    let model = tiny_dense(Stored::F32);
    let unpenalised = alone(&model, &spec(&model, Sampling::default(), 1), 0).tokens;
    let mut changed = 0;
    let mut most = 0.0f64;
    for sampling in cases() {
        most = most.max(same_at_every_depth(&model, sampling, 1));
        let text = alone(&model, &spec(&model, sampling, 1), 0).tokens;
        changed += usize::from(sampling.temperature == 0.0 && text != unpenalised);
    }
    assert_eq!(changed, 8, "each penalty changes the greedy text");
    println!("largest distance below the best choice: {most:.1e}");
}
