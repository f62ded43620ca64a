//! Reference values, made by another implementation.

use std::collections::HashMap;

use foretoken_engine::mlx::{self, Array};
use serde_json::Value;

use crate::fixtures::{Stored, fixture};

/// Lengths of the prompts.
pub const LENGTHS: [usize; 4] = [1, 7, 64, 300];

/// What the reference implementation gave for one checkpoint.
#[derive(Debug)]
pub struct Goldens {
    tensors: HashMap<String, Array>,
    json: Value,
}

impl Goldens {
    /// Reads those of a checkpoint.
    pub fn read(stored: Stored) -> Self {
        let dir = fixture("goldens").join(stored.goldens());
        let tensors = mlx::load_safetensors(&dir.join("goldens.safetensors")).unwrap();
        let json = serde_json::from_slice(&std::fs::read(dir.join("goldens.json")).unwrap()).unwrap();
        Self { tensors, json }
    }

    /// The prompt of a length.
    pub fn ids(&self, length: usize) -> Vec<u32> {
        self.ints(&format!("ids_{length}"))
    }

    /// Rows of the prompt whose logits are kept.
    pub fn rows(&self, length: usize) -> Vec<usize> {
        serde_json::from_value(self.json[format!("rows_{length}")].clone()).unwrap()
    }

    /// The 64 tokens that follow the prompt of a length.
    pub fn greedy(&self, length: usize) -> Vec<u32> {
        serde_json::from_value(self.json["greedy"][length.to_string()]["tokens"].clone()).unwrap()
    }

    /// A tensor of floats, row-major.
    pub fn floats(&self, name: &str) -> Vec<f32> {
        self.tensors[name].to_vec().unwrap()
    }

    /// A tensor of ids, row-major.
    pub fn ints(&self, name: &str) -> Vec<u32> {
        self.tensors[name].to_vec::<i32>().unwrap().into_iter().map(|id| id as u32).collect()
    }
}
