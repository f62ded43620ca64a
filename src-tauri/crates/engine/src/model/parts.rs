//! Parts of a network that are read and built alone: whoever reads a text layer by layer holds one of them at a time.

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use super::build::Builder;
use super::weights::Weights;
use super::{Embedding, Inputs, Layer, LoadError, Matrix, MtpHead};
use crate::checkpoint::{CheckpointError, Config, Layout, QuantSpec, TensorPlan};
use crate::mlx::{self, Array};

/// A part of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Token ids to vectors.
    Embedding,
    /// The trunk's layer of this number.
    Layer(usize),
    /// The final norm.
    Norm,
    /// The MTP head.
    MtpHead,
    /// Vectors to logits; the embedding itself where the two are tied.
    OutputHead,
}

impl Part {
    /// Whether a module is a part of it, in a model whose embedding is the output head too or not.
    pub fn holds(self, module: &str, tied: bool) -> bool {
        format!("{module}.").starts_with(&self.prefix(tied))
    }

    /// What the names of its tensors begin with.
    fn prefix(self, tied: bool) -> String {
        match self {
            Self::Embedding => "embed_tokens.".into(),
            Self::Layer(index) => format!("layers.{index}."),
            Self::Norm => "norm.".into(),
            Self::MtpHead => "mtp.".into(),
            Self::OutputHead if tied => Self::Embedding.prefix(tied),
            Self::OutputHead => "lm_head.".into(),
        }
    }

    /// Its tensors.
    fn plans<'a>(self, config: &Config, layout: &'a Layout) -> impl Iterator<Item = &'a TensorPlan> {
        let prefix = self.prefix(config.tied);
        layout.tensors.iter().filter(move |plan| plan.name.starts_with(&prefix))
    }
}

/// The weights of a part in memory, from which it is built, as they are or with some of them quantized. A clone shares
/// the memory.
#[derive(Debug, Clone)]
pub struct PartWeights<'a> {
    config: &'a Config,
    builder: Builder<'a>,
}

impl<'a> PartWeights<'a> {
    /// Reads the tensors of a part, and no others.
    pub fn read(config: &'a Config, layout: &Layout, part: Part) -> Result<Self, LoadError> {
        let plans = part.plans(config, layout);
        let weights = Weights::read(plans, &layout.weights, &mut |_, _| ControlFlow::Continue(()))?;
        // What earlier parts have left is not to add up.
        mlx::clear_cache();
        Ok(Self { config, builder: Builder::new(config, layout, weights) })
    }

    /// Reads some rows of an embedding or an output head, one range after the other: a part of so many rows.
    pub fn read_rows(
        config: &'a Config,
        layout: &Layout,
        part: Part,
        rows: &[Range<usize>],
    ) -> Result<Self, LoadError> {
        let weights = Weights::read_rows(part.plans(config, layout), &layout.weights, rows)?;
        Ok(Self { config, builder: Builder::new(config, layout, weights) })
    }

    /// The weight of a module as it is stored, `[rows, columns]` or `[experts, rows, columns]`.
    pub fn weight(&mut self, path: &str) -> Result<&Array, LoadError> {
        self.builder.weights().get(&format!("{path}.weight"))
    }

    /// Puts packed weight, scales and biases, in this order, in the place of a module's matrix.
    pub fn set_quantized(&mut self, path: &str, spec: QuantSpec, parts: Vec<Array>) {
        self.builder.weights().set_quantized(path, spec, parts);
    }

    /// Puts floats in the place of a module's matrix.
    pub fn set_dense(&mut self, path: &str, weight: Array) {
        self.builder.weights().set_dense(path, weight);
    }

    /// Has the inputs of a module's matrix added up, by whatever is built of these weights.
    pub fn observe(&mut self, path: &str) -> Rc<Inputs> {
        self.builder.weights().observe(path)
    }

    /// The embedding.
    pub fn embedding(mut self) -> Result<Embedding, LoadError> {
        self.builder.embedding()
    }

    /// The layer of this number.
    pub fn layer(mut self, index: usize) -> Result<Layer, LoadError> {
        let path = format!("layers.{index}");
        let Some(kind) = self.config.layers.get(index) else {
            return Err(CheckpointError::MissingTensor { name: path }.into());
        };
        self.builder.layer(&path, *kind)
    }

    /// The weight of the final norm, `[H]`.
    pub fn norm(mut self) -> Result<Array, LoadError> {
        self.builder.weights().tensor("norm.weight")
    }

    /// The MTP head.
    pub fn mtp_head(mut self) -> Result<MtpHead, LoadError> {
        self.builder.mtp_head()
    }

    /// The matrix `[V, H]` of the output head.
    pub fn output_head(mut self) -> Result<Matrix, LoadError> {
        let path = if self.config.tied { "embed_tokens" } else { "lm_head" };
        self.builder.weights().linear(path)
    }
}
