//! What is asked of a conversion whose bits a text chooses, and what is told while it is made.

use std::ops::ControlFlow;
use std::path::Path;

use foretoken_protocol::{ConversionProgress, ConversionSettings};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::aim::Aim;
use super::offer::Offered;
use crate::calibration::{self, Written};

/// Bits to which each group is quantized to see what that costs.
pub(super) const PROBED_BITS: usize = 3;

/// Where the texts come from.
#[derive(Debug, Clone, Copy)]
pub enum Texts<'a> {
    /// From whoever asks for the conversion.
    Given(&'a calibration::Texts),
    /// From the model: it answers the program's prompts first.
    Replies {
        /// What its tokens are drawn by.
        seed: u64,
        /// Tokens of a reply at most.
        max_tokens: u32,
    },
}

impl Texts<'_> {
    /// What tells them from others.
    pub(super) fn identity(self) -> Value {
        match self {
            Self::Given(texts) => {
                let ids: Vec<&[u32]> = texts.documents.iter().map(|document| &document.ids[..]).collect();
                let bytes = serde_json::to_vec(&ids).unwrap_or_default();
                let digits =
                    digest(&SHA256, &bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
                Value::String(digits)
            }
            Self::Replies { seed, max_tokens } => json!({ "seed": seed, "max_tokens": max_tokens }),
        }
    }
}

/// What is to be converted, and to what.
#[derive(Debug)]
pub struct Request<'a> {
    /// The unquantized model.
    pub source: &'a Path,
    /// The folder to write.
    pub out: &'a Path,
    /// Vision tower and data type; the rest is chosen.
    pub settings: ConversionSettings,
    /// The source's revision, where its path does not tell.
    pub revision: Option<&'a str>,
    /// What it is to come to.
    pub aim: Aim,
    /// What is read.
    pub texts: Texts<'a>,
    /// Bytes that versions of the texts may take while it is measured what groups of matrices cost.
    pub memory: u64,
    /// The file that keeps what was measured, and stays; without one it lies beside the result until that is whole.
    pub measured: Option<&'a Path>,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// The model writes replies that bits are chosen by.
    Replying(Written),
    /// It is measured which texts the model finds odd: layers read in all batches of texts.
    Reading {
        /// Layers so far.
        done: u64,
        /// Layers in all.
        total: u64,
    },
    /// A document is left out because the model finds it odd.
    LeftOut {
        /// See [`Document::place`](crate::calibration::Document::place).
        place: usize,
        /// The model's perplexity on it; `None` where it is no number.
        perplexity: Option<f64>,
    },
    /// It is measured what each group of matrices costs: layers read in all batches of texts.
    Probing {
        /// Layers so far.
        done: u64,
        /// Layers in all.
        total: u64,
    },
    /// It is measured how many bits of the MTP head pay: layers read of the trunk as it will be.
    Guessing {
        /// Layers so far.
        done: u64,
        /// Layers in all.
        total: u64,
    },
    /// The plan is made.
    Planned(Offered),
    /// The result is written, or what writes replies.
    Writing(ConversionProgress),
    /// It is measured what has come of it: layers read of both models.
    Comparing {
        /// Layers so far.
        done: u64,
        /// Layers in all.
        total: u64,
    },
}

/// Who is told of progress, and can end it.
pub(super) type Observe<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;
