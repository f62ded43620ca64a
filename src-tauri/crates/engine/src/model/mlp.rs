//! The gated MLP of decoder layers and experts, SwiGLU (arXiv 2002.05202): `down(silu(gate(x)) ⊙ up(x))`.

use std::rc::Rc;

use super::linear::{Linear, Projections};
use super::matrix::Matrix;
use crate::mlx::kernels::{Gated, Launch, Opened};
use crate::mlx::{Array, Gather, Result};

/// A gated MLP; with stacked matrices, one for each expert.
#[derive(Debug, Clone)]
pub struct Mlp {
    gate_up: Projections,
    down_proj: Linear,
    /// What opens the gate; operations where there is none.
    activation: Option<Gated>,
}

impl Mlp {
    /// From its three matrices.
    pub fn new(gate_proj: Matrix, up_proj: Matrix, down_proj: Matrix) -> Result<Self> {
        let gate_up = Projections::new(vec![gate_proj, up_proj])?;
        Ok(Self { gate_up, down_proj: Linear::new(down_proj)?, activation: None })
    }

    /// The same by a kernel.
    pub fn with_kernels(&self, launch: &Rc<dyn Launch>) -> Self {
        let strides = self.gate_up.strides();
        let activation = Gated::new(launch.clone(), Opened::Silu, strides[0], Some(strides[1]));
        Self { activation: Some(activation), ..self.clone() }
    }

    /// x `[T, H]` → `[T, H]`.
    pub fn forward(&self, x: &Array) -> Result<Array> {
        self.down_proj.forward(&self.activate(&self.gate_up.forward(x)?)?)
    }

    /// For stacked matrices: the vectors of x `[…, 1, H]` that `inputs` selects, each through the expert that it
    /// selects → `[…, 1, H]`. `inner` selects the same experts for the results of the first product.
    pub fn forward_experts(&self, x: &Array, inputs: Gather<'_>, inner: Gather<'_>) -> Result<Array> {
        let gate_up = self.gate_up.forward_experts(x, inputs)?;
        self.down_proj.forward_experts(&self.activate(&gate_up)?, inner)
    }

    /// silu(gate) ⊙ up.
    fn activate(&self, gate_up: &[Array]) -> Result<Array> {
        match &self.activation {
            Some(kernel) => kernel.run(&gate_up[0], &gate_up[1]),
            None => gate_up[0].silu()?.multiply(&gate_up[1]),
        }
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        [self.gate_up.arrays(), self.down_proj.arrays()].concat()
    }
}
