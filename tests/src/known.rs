//! Rows of every kind, with what they write alone.

use foretoken_engine::decode::RowSpec;
use foretoken_engine::model::Qwen;
use foretoken_protocol::Sampling;

use crate::reference::shortfall;
use crate::rng::Rng;
use crate::runs::{alone, greedy};

/// Near ties within the rounding of f32 logits.
const TIE: f64 = 1e-4;

/// The ways to draw a token, each another path through the sampler.
pub fn samplings() -> Vec<Sampling> {
    let base = Sampling::default();
    vec![
        base,
        Sampling { temperature: 0.7, top_p: 0.9, top_k: 20, ..base },
        Sampling { temperature: 5.0, ..base },
        Sampling { temperature: 1.0, min_p: 0.05, ..base },
        Sampling { temperature: 0.8, top_k: 30, xtc_probability: 0.5, xtc_threshold: 0.02, ..base },
        Sampling { repetition_penalty: 1.3, ..base },
        Sampling { temperature: 0.9, top_k: 40, presence_penalty: 0.4, frequency_penalty: 0.2, ..base },
    ]
}

/// A row and what it writes alone, without drafts.
#[derive(Debug)]
pub struct Known {
    /// What is asked of it.
    pub spec: RowSpec,
    /// Its text.
    pub tokens: Vec<u32>,
}

impl Known {
    /// Runs the row alone and checks its text against the definition of its law.
    pub fn new(model: &Qwen, spec: RowSpec) -> Self {
        let tokens = alone(model, &RowSpec { drafts: false, ..spec.clone() }, 0).tokens;
        let below = shortfall(model, &spec, &tokens);
        assert!(below < TIE, "{:?}: {below} below the best choice", spec.sampling);
        Self { spec, tokens }
    }
}

/// Rows of every kind with short prompts.
pub fn known_rows(model: &Qwen, rng: &mut Rng, count: usize, max_tokens: usize) -> Vec<Known> {
    let samplings = samplings();
    (0..count)
        .map(|i| {
            let length = 1 + rng.below(24);
            let sampling = samplings[i % samplings.len()];
            let seed = rng.below(1 << 40) as u64;
            Known::new(model, RowSpec { sampling, seed, ..greedy(&rng.prompt(length), max_tokens) })
        })
        .collect()
}
