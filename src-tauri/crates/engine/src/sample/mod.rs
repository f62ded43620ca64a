//! From logits to token ids: what binds them, penalties, temperature, filters, XTC, and the noise that draws.
//!
//! Noise is a pure function of (seed, position, token id). Draft and target draw with the same, so a draft is accepted
//! by comparing ids, and a seeded reply reads the same with drafts or without. Rejection sampling, which keeps more
//! drafts but whose text depends on where there were some, is the other rule.

mod accept;
mod distribution;
mod logprobs;
mod noise;
mod penalties;
mod restrict;
mod sampler;
#[cfg(test)]
mod testing;

pub use logprobs::Logprobs;
pub use noise::{NoiseKeys, Stream, gumbel, uniform};
pub(crate) use penalties::penalised;
pub use penalties::{History, Seen};
pub use restrict::{Restriction, restricted};
pub use sampler::{Drafts, Judged, SamplePosition, Sampler, draft, is_greedy, judges, sample};
