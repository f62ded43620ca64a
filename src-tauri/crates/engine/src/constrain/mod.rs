//! What a reply may be: a form for its answer, calls that it must make, a limit to its thinking. Which tokens may come
//! next is a pure function of the tokens before, the drafts of a step among them, so that a bound reply reads the same
//! with drafts and without.
//!
//! The grammars are llguidance's, which nothing outside of this module sees.

mod compile;
mod error;
mod lark;
mod mask;
mod state;
#[cfg(test)]
mod tests;
mod vocabulary;
mod within;

pub use compile::{Compiled, Compiler};
pub use error::ConstraintError;
pub use mask::Mask;
pub use state::{Constraint, ConstraintState};
