//! From logits to token ids: penalties, temperature, filters, XTC, and the noise that draws.
//!
//! Draft and target draw with the same noise, a pure function of (seed, position, token id), so a draft is accepted by
//! comparing ids, and a seeded reply reads the same with drafts or without.

mod distribution;
mod logprobs;
mod noise;
mod penalties;
mod sampler;
#[cfg(test)]
mod testing;

pub use distribution::Distribution;
pub use logprobs::Logprobs;
pub use noise::{NoiseKeys, Stream, gumbel, uniform};
pub use penalties::Counts;
pub(crate) use penalties::penalised;
pub use sampler::{Sampler, is_greedy};
