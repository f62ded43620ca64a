//! Reference values, made by another implementation.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use foretoken_engine::mlx::{self, Array};
use serde_json::Value;

/// Lengths of the prompts.
pub const LENGTHS: [usize; 4] = [1, 7, 64, 300];

/// What the reference implementation gave for one checkpoint.
#[derive(Debug)]
pub struct Goldens {
    tensors: HashMap<String, Array>,
    json: Value,
}

impl Goldens {
    /// Reads a folder.
    pub fn read(folder: &Path) -> Self {
        let tensors = mlx::load_safetensors(&folder.join("goldens.safetensors")).unwrap();
        let json = serde_json::from_slice(&fs::read(folder.join("goldens.json")).unwrap()).unwrap();
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

    /// The lengths of the prompts whose logits are kept.
    pub fn lengths(&self) -> Vec<usize> {
        LENGTHS.into_iter().filter(|length| self.tensors.contains_key(&format!("logits_{length}"))).collect()
    }

    /// How far rounding to 16 bits takes another implementation from these logits: the root mean square of the
    /// difference, relative to that of the logits. `None` where these are the values of a model that computes in f32.
    pub fn rounding(&self, length: usize) -> Option<f64> {
        self.json[format!("rounding_{length}")].as_f64()
    }

    /// Whether the logits of an MTP head are known too.
    pub fn has_mtp(&self, length: usize) -> bool {
        self.tensors.contains_key(&format!("mtp_logits_{length}"))
    }

    /// The tokens that follow the prompt of a length, where they are known.
    pub fn greedy(&self, length: usize) -> Option<Vec<u32>> {
        let tokens = self.json["greedy"].get(length.to_string())?["tokens"].clone();
        Some(serde_json::from_value(tokens).unwrap())
    }

    /// What is no tensor.
    pub fn json(&self) -> &Value {
        &self.json
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
