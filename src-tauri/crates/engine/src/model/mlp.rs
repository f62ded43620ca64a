use super::linear::{Linear, Projections};
use crate::mlx::{Array, Result};

/// down(silu(gate(x)) ⊙ up(x)).
#[derive(Debug)]
pub struct Mlp {
    gate_up: Projections,
    down_proj: Linear,
}

impl Mlp {
    /// From its three matrices.
    pub fn new(gate_proj: Linear, up_proj: Linear, down_proj: Linear) -> Result<Self> {
        Ok(Self { gate_up: Projections::new(vec![gate_proj, up_proj])?, down_proj })
    }

    /// x `[T, H]` → `[T, H]`.
    pub fn forward(&self, x: &Array) -> Result<Array> {
        let gate_up = self.gate_up.forward(x)?;
        self.down_proj.forward(&gate_up[0].silu()?.multiply(&gate_up[1])?)
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        [self.gate_up.arrays(), self.down_proj.arrays()].concat()
    }
}
