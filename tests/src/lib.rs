//! What the tests share: fixtures, programs, runs of the decoder, states to compare, a sampler by definition.

pub mod dice;
pub mod fixtures;
pub mod goldens;
pub mod known;
pub mod programs;
pub mod reference;
pub mod runs;
pub mod states;
