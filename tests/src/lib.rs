//! What the tests of the engine share: fixtures, runs of the decoder, states to compare, a sampler by definition.

pub mod dice;
pub mod fixtures;
pub mod goldens;
pub mod reference;
pub mod runs;
pub mod states;
