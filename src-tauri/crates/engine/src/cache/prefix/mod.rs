//! The prefix cache: what rows had in their caches and states at places where a later prompt may go on.

mod disk;
mod entry;
mod store;
#[cfg(test)]
mod tests;

pub use disk::{DiskTier, DiskTierError};
pub use entry::{Prefix, StateSnapshot};
pub use store::{LEAST_GAIN, PrefixStore};
