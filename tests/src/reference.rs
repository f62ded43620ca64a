//! The law of the next token by its definition, in f64 on the host, over logits from a plain prefill. Nothing here
//! shares code with the decoder but the noise, whose own tests are the engine's.

use std::collections::HashMap;

use foretoken_engine::mlx;
use foretoken_engine::model::Qwen;
use foretoken_engine::sample::{NoiseKeys, Stream, gumbel, uniform};
use foretoken_engine::score::{CHUNK, score};
use foretoken_protocol::Sampling;

/// How far the emitted tokens of a reply lie below the best choice of the definition, at worst. Zero where every token
/// is the best choice; a value within the rounding of the logits is a near tie; infinite where a filter forbids a
/// token.
pub fn shortfall(model: &Qwen, prompt: &[u32], reply: &[u32], sampling: &Sampling, seed: u64) -> f64 {
    let text = [prompt, reply].concat();
    let logits = score(model, &text, CHUNK).unwrap().logits;
    let vocab = logits.dim(1) as usize;
    let logits = logits.to_vec::<f32>().unwrap();
    let rows = logits.chunks(vocab).skip(prompt.len() - 1);
    let positions = prompt.len()..text.len();
    positions
        .zip(rows)
        .map(|(position, row)| {
            let row = penalised(row, &text[..position], sampling);
            below_best(&row, sampling, seed, position, text[position] as usize)
        })
        .fold(0.0, f64::max)
}

/// Logits after the penalties for what the history holds.
fn penalised(logits: &[f32], history: &[u32], sampling: &Sampling) -> Vec<f64> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for &token in history {
        *counts.entry(token).or_insert(0) += 1;
    }
    let mut logits: Vec<f64> = logits.iter().map(|&l| f64::from(l)).collect();
    for (token, count) in counts {
        let logit = &mut logits[token as usize];
        let repetition = f64::from(sampling.repetition_penalty);
        *logit = if *logit < 0.0 { *logit * repetition } else { *logit / repetition };
        *logit -= f64::from(sampling.presence_penalty);
        *logit -= f64::from(sampling.frequency_penalty) * f64::from(count);
    }
    logits
}

/// What a token's score lacks to the best score among the tokens that surely pass the filters.
fn below_best(logits: &[f64], sampling: &Sampling, seed: u64, position: usize, token: usize) -> f64 {
    /// Rounding of the logits must not decide what a filter keeps.
    const SLACK: f64 = 1e-4;
    let temperature = f64::from(sampling.temperature);
    if temperature <= 0.0 {
        return logits.iter().copied().fold(f64::MIN, f64::max) - logits[token];
    }
    let tempered: Vec<f64> = logits.iter().map(|l| l / temperature).collect();
    let top = tempered.iter().copied().fold(f64::MIN, f64::max);
    let mass = tempered.iter().map(|l| (l - top).exp()).sum::<f64>().ln() + top;
    let log_p: Vec<f64> = tempered.iter().map(|l| l - mass).collect();
    let mut order: Vec<usize> = (0..log_p.len()).collect();
    order.sort_by(|&a, &b| log_p[b].total_cmp(&log_p[a]));
    let sorted: Vec<f64> = order.iter().map(|&id| log_p[id]).collect();
    let mass_before: Vec<f64> = std::iter::once(0.0)
        .chain(sorted.iter().scan(0.0, |mass, log_p| {
            *mass += log_p.exp();
            Some(*mass)
        }))
        .collect();

    // With slack a token passes that misses a filter by less than it; with negative slack one fails that just passes.
    let filters_keep = |id: usize, slack: f64| {
        let mut above = sorted.partition_point(|&other| other > log_p[id] + slack);
        let mut before = mass_before[above];
        if slack < 0.0 {
            above -= 1;
            before -= log_p[id].exp();
        }
        (sampling.top_k == 0 || above < sampling.top_k as usize)
            && (sampling.top_p >= 1.0 || before < f64::from(sampling.top_p) + slack)
            && (sampling.min_p <= 0.0 || log_p[id] >= sorted[0] + f64::from(sampling.min_p).ln() - slack)
    };
    // XTC leaves the least likely of those above its threshold, by their share of what the filters keep.
    let filtered: Vec<f64> = order.iter().filter(|&&id| filters_keep(id, 0.0)).map(|&id| log_p[id]).collect();
    let filtered_mass = filtered.iter().map(|l| l.exp()).sum::<f64>().ln();
    let excludes = uniform(Stream::Xtc, seed, position) < sampling.xtc_probability;
    let most_of_kept = |slack: f64| {
        let threshold = f64::from(sampling.xtc_threshold).ln() + filtered_mass + slack;
        let least = filtered.iter().copied().filter(|&l| l > threshold).fold(f64::INFINITY, f64::min);
        if excludes { least + slack.max(0.0) } else { f64::INFINITY }
    };
    if !filters_keep(token, SLACK) || log_p[token] > most_of_kept(SLACK) {
        return f64::INFINITY;
    }
    let ids = mlx::arange(logits.len() as i32, mlx::Dtype::Uint32).unwrap().expand_dims(0).unwrap();
    let noise = gumbel(&NoiseKeys::new(Stream::Token, seed, position, 1).unwrap(), &ids)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    let score = |id: usize| log_p[id] + f64::from(noise[id]);
    let most = most_of_kept(-SLACK);
    let surely_kept = order.iter().copied().filter(|&id| filters_keep(id, -SLACK) && log_p[id] <= most);
    let best = surely_kept.map(score).fold(f64::MIN, f64::max);
    best - score(token)
}
