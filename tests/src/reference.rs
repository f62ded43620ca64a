//! The law of the next token by its definition, in f64 on the host, over logits from a plain prefill. Nothing here
//! shares code with the decoder but the noise, whose own tests are the engine's.

use std::collections::HashMap;

use foretoken_engine::decode::RowSpec;
use foretoken_engine::mlx;
use foretoken_engine::model::Qwen;
use foretoken_engine::sample::{NoiseKeys, Stream, gumbel, uniform};
use foretoken_engine::score::{CHUNK, score};
use foretoken_protocol::Sampling;

/// Rounding of the logits must not decide what a filter keeps.
const SLACK: f64 = 1e-4;

/// How far the emitted tokens of a reply lie below the best choice of the definition, at worst. Zero where every token
/// is the best choice; a value within the rounding of the logits is a near tie; infinite where a filter forbids a
/// token.
pub fn shortfall(model: &Qwen, spec: &RowSpec, reply: &[u32]) -> f64 {
    let laws = laws(model, spec, reply);
    let tokens = reply.iter().zip(spec.prompt.len()..);
    laws.iter()
        .zip(tokens)
        .map(|(law, (&token, position))| law.below_best(Stream::Token, position, token, None))
        .fold(0.0, f64::max)
}

/// A step of a reply under rejection sampling whose drafts were known beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What was drafted.
    pub drafts: Vec<u32>,
    /// How many of them stayed.
    pub accepted: usize,
    /// What was emitted.
    pub tokens: Vec<u32>,
}

/// [`shortfall`] of a reply under rejection sampling with known drafts, which count as certain: one stays
/// with the probability that the model gives it, and otherwise another token is drawn. Infinite where a draft stayed
/// that should not have, or the other way round.
pub fn rejection_shortfall(model: &Qwen, spec: &RowSpec, steps: &[Step]) -> f64 {
    let RowSpec { prompt, seed, .. } = spec;
    let reply: Vec<u32> = steps.iter().flat_map(|step| step.tokens.iter().copied()).collect();
    let laws = laws(model, spec, &reply);
    let verdicts = steps.iter().flat_map(|step| {
        let verdict = |(i, &token)| (token, step.drafts.get(i).map(|&draft| (draft, i < step.accepted)));
        step.tokens.iter().enumerate().map(verdict)
    });
    let below = laws.iter().zip(verdicts).zip(prompt.len()..).map(|((law, (token, draft)), position)| {
        let Some((draft, stays)) = draft else { return law.below_best(Stream::Token, position, token, None) };
        let u = f64::from(uniform(Stream::Verdict, *seed, position));
        let (least, most) = law.probability(draft);
        match stays {
            true if token == draft && u < most + SLACK => 0.0,
            false if u > least - SLACK => law.below_best(Stream::Residual, position, token, Some(draft)),
            _ => f64::INFINITY,
        }
    });
    below.fold(0.0, f64::max)
}

/// The law of each token of a reply.
fn laws(model: &Qwen, spec: &RowSpec, reply: &[u32]) -> Vec<Law> {
    let RowSpec { prompt, sampling, seed, .. } = spec;
    let text = [prompt, reply].concat();
    let logits = score(model, &text, CHUNK).unwrap().logits;
    let vocab = logits.dim(1) as usize;
    let logits = logits.to_vec::<f32>().unwrap();
    let rows = logits.chunks(vocab).skip(prompt.len() - 1);
    (prompt.len()..text.len())
        .zip(rows)
        .map(|(position, row)| Law::new(penalised(row, &text[..position], spec), sampling, *seed, position))
        .collect()
}

/// Logits after the penalties for what a row's history holds: the repetition penalty looks at all of it, the others at
/// the reply, and none at the tokens that end replies.
fn penalised(logits: &[f32], history: &[u32], spec: &RowSpec) -> Vec<f64> {
    let sampling = &spec.sampling;
    let mut logits: Vec<f64> = logits.iter().map(|&l| f64::from(l)).collect();
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for (position, token) in history.iter().enumerate().filter(|(_, token)| !spec.stop_ids.contains(token)) {
        *counts.entry(*token).or_insert(0) += u32::from(position >= spec.reply_from);
    }
    for (token, in_reply) in counts {
        let logit = &mut logits[token as usize];
        let repetition = f64::from(sampling.repetition_penalty);
        *logit = if *logit < 0.0 { *logit * repetition } else { *logit / repetition };
        *logit -= if in_reply > 0 { f64::from(sampling.presence_penalty) } else { 0.0 };
        *logit -= f64::from(sampling.frequency_penalty) * f64::from(in_reply);
    }
    logits
}

/// What the token at one position is drawn from.
struct Law {
    /// Decides the noise; without, the most likely token is taken.
    seed: Option<u64>,
    /// The logits themselves where the most likely token is taken.
    log_p: Vec<f64>,
    /// Whether each token passes all filters, and whether it does so without coming close to their edges.
    passes: Vec<(bool, bool)>,
}

impl Law {
    fn new(logits: Vec<f64>, sampling: &Sampling, seed: u64, position: usize) -> Self {
        let temperature = f64::from(sampling.temperature);
        if temperature <= 0.0 {
            let passes = vec![(true, true); logits.len()];
            return Self { seed: None, log_p: logits, passes };
        }
        let tempered: Vec<f64> = logits.iter().map(|l| l / temperature).collect();
        let top = tempered.iter().copied().fold(f64::MIN, f64::max);
        let mass = tempered.iter().map(|l| (l - top).exp()).sum::<f64>().ln() + top;
        let log_p: Vec<f64> = tempered.iter().map(|l| l - mass).collect();
        let mut sorted = log_p.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let mass_before: Vec<f64> = std::iter::once(0.0)
            .chain(sorted.iter().scan(0.0, |mass, log_p| {
                *mass += log_p.exp();
                Some(*mass)
            }))
            .collect();

        // With slack a token passes that misses a filter by less than it; with negative slack one fails that just
        // passes.
        let filters_keep = |log_p: f64, slack: f64| {
            let mut above = sorted.partition_point(|&other| other > log_p + slack);
            let mut before = mass_before[above];
            if slack < 0.0 {
                above -= 1;
                before -= log_p.exp();
            }
            (sampling.top_k == 0 || above < sampling.top_k as usize)
                && (sampling.top_p >= 1.0 || before < f64::from(sampling.top_p) + slack)
                && (sampling.min_p <= 0.0 || log_p >= sorted[0] + f64::from(sampling.min_p).ln() - slack)
        };
        // XTC leaves the least likely of those above its threshold, by their share of what the filters keep.
        let filtered: Vec<f64> = sorted.iter().copied().filter(|&l| filters_keep(l, 0.0)).collect();
        let filtered_mass = filtered.iter().map(|l| l.exp()).sum::<f64>().ln();
        let excludes = uniform(Stream::Xtc, seed, position) < sampling.xtc_probability;
        let most_of_kept = |slack: f64| {
            let threshold = f64::from(sampling.xtc_threshold).ln() + filtered_mass + slack;
            let least = filtered.iter().copied().filter(|&l| l > threshold).fold(f64::INFINITY, f64::min);
            if excludes { least + slack.max(0.0) } else { f64::INFINITY }
        };
        let (most, surely_most) = (most_of_kept(SLACK), most_of_kept(-SLACK));
        let passes =
            |&l: &f64| (filters_keep(l, SLACK) && l <= most, filters_keep(l, -SLACK) && l <= surely_most);
        let passes = log_p.iter().map(passes).collect();
        Self { seed: Some(seed), log_p, passes }
    }

    /// What a token's score lacks to the best score among the tokens that surely pass, all without one that is out of
    /// the question.
    fn below_best(&self, stream: Stream, position: usize, token: u32, without: Option<u32>) -> f64 {
        if !self.passes[token as usize].0 || without == Some(token) {
            return f64::INFINITY;
        }
        let vocab = self.log_p.len();
        let noise = self.seed.map_or(vec![0.0; vocab], |seed| {
            let ids = mlx::arange(vocab as i32, mlx::Dtype::Uint32).unwrap().expand_dims(0).unwrap();
            gumbel(&NoiseKeys::new(stream, seed, position, 1).unwrap(), &ids).unwrap().to_vec().unwrap()
        });
        let score = |id: usize| self.log_p[id] + f64::from(noise[id]);
        let others = (0..vocab).filter(|&id| self.passes[id].1 && without != Some(id as u32));
        others.map(score).fold(f64::MIN, f64::max) - score(token as usize)
    }

    /// What a token is drawn with, at least and at most.
    fn probability(&self, token: u32) -> (f64, f64) {
        let mass = |passes: fn(&(bool, bool)) -> bool| {
            let kept = self.log_p.iter().zip(&self.passes).filter(|(_, p)| passes(p));
            kept.map(|(l, _)| l.exp()).sum::<f64>()
        };
        let p = self.log_p[token as usize].exp();
        let (passes, surely) = self.passes[token as usize];
        (if surely { p / mass(|p| p.0) } else { 0.0 }, if passes { p / mass(|p| p.1) } else { 0.0 })
    }
}
