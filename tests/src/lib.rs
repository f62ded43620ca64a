//! What the tests share: fixtures, checkpoints of every layout, programs, runs of the decoder, states to compare, a
//! sampler by definition.

pub mod agreement;
pub mod bad_models;
pub mod chats;
pub mod drafted;
pub mod fixtures;
pub mod goldens;
pub mod known;
pub mod oracle;
pub mod programs;
pub mod reference;
pub mod replies;
pub mod rings;
pub mod rng;
pub mod runs;
pub mod states;
