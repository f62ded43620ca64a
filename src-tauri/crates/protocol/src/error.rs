//! Errors as they cross a process or reach the page: a stable code, a message and a hint.

use serde::{Deserialize, Serialize};
use specta::Type;

/// An error as people and programs see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ErrorReport {
    /// Stable, snake_case, for programs: `missing_tensor`.
    pub code: String,
    /// What is wrong, with the operands: one sentence.
    pub message: String,
    /// What to do about it: one sentence.
    pub hint: String,
}

impl std::fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.message, self.hint)
    }
}
