use serde::{Deserialize, Serialize};

use super::acceptance::Acceptance;
use super::cost::Cost;

/// What was measured of a model on a machine. Worth keeping: it saves the next start the trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyState {
    pub(super) cost: Cost,
    /// Over all rows.
    pub(super) accepted: Acceptance,
}

impl PolicyState {
    /// Whether a measurement may have given all figures.
    pub(crate) fn is_possible(&self) -> bool {
        self.clone().checked() == *self
    }

    /// The same without figures that no measurement gives.
    pub(super) fn checked(self) -> Self {
        Self { cost: self.cost.checked(), accepted: self.accepted.checked() }
    }
}
