//! The forms in which files hold a matrix of the model: as it is, one expert at a time, or as rows of a larger one.

use std::collections::BTreeSet;

use super::CheckpointError;
use super::dims::{AttentionDims, LinearDims};
use super::expected::Slot;
use super::plan::Rows;
use super::sort::{TextTensors, has_prefix};

/// A stored module that holds a matrix of the model, or a part of it.
#[derive(Debug)]
pub(super) struct Piece {
    /// Its canonical path.
    pub(super) module: String,
    /// The shape of its weight before quantization.
    pub(super) shape: Vec<usize>,
    /// Which of its rows are taken, in this order.
    pub(super) rows: Vec<Rows>,
}

/// The modules that make up a matrix, one after the other.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) pieces: Vec<Piece>,
}

impl Form {
    fn one(module: String, shape: Vec<usize>, rows: Vec<Rows>) -> Self {
        Self { pieces: vec![Piece { module, shape, rows }] }
    }

    /// The module that stands for all in a config and in messages.
    pub(super) fn module(&self) -> &str {
        &self.pieces[0].module
    }
}

/// Whose matrices are looked for, with the sizes that tell the rows of fused ones apart.
#[derive(Debug, Clone, Copy)]
pub(super) enum Family<'a> {
    /// A model or its MTP head.
    Model(&'a LinearDims),
    /// A draft model.
    Draft(&'a AttentionDims),
}

/// The one form in which a matrix is there; its own where it is not there at all.
pub(super) fn find(
    slot: &Slot,
    family: Family<'_>,
    tensors: &TextTensors<'_>,
) -> Result<Form, CheckpointError> {
    let own = Form::one(slot.name.clone(), slot.shape.clone(), vec![Rows::All]);
    let other = match (family, &slot.shape[..]) {
        (Family::Model(_), [experts, rows, columns]) => stacked(slot, [*experts, *rows, *columns], tensors)?,
        (Family::Model(dims), [_, columns]) => interleaved(slot, *columns, dims, tensors),
        (Family::Draft(dims), [_, columns]) => fused_qkv(slot, *columns, dims, tensors),
        _ => None,
    };
    match other {
        None => Ok(own),
        Some(other) if has_prefix(tensors, &format!("{}.", slot.name)) => Err(CheckpointError::TwoForms {
            module: slot.name.clone(),
            first: slot.name.clone(),
            second: other.module().to_owned(),
        }),
        Some(other) => Ok(other),
    }
}

/// Experts of Hugging Face: `experts.gate_up_proj`, whose first half is the gate, or `experts.0.gate_proj` and so on.
fn stacked(
    slot: &Slot,
    [experts, rows, columns]: [usize; 3],
    tensors: &TextTensors<'_>,
) -> Result<Option<Form>, CheckpointError> {
    let Some((mlp, projection)) = slot.name.split_once(".switch_mlp.") else { return Ok(None) };
    let one_by_one = expert_numbers(mlp, tensors);
    let fused = format!("{mlp}.experts.gate_up_proj");
    let half = ["gate_proj", "up_proj"].iter().position(|name| *name == projection);
    let fused = half.filter(|_| has_prefix(tensors, &format!("{fused}."))).map(|half| {
        let half = Rows::OfBlocks { block: 2 * rows, start: half * rows, end: (half + 1) * rows };
        Form::one(fused, vec![experts, 2 * rows, columns], vec![half])
    });
    let Some(last) = one_by_one.last() else { return Ok(fused) };
    if let Some(fused) = fused {
        return Err(CheckpointError::TwoForms {
            module: slot.name.clone(),
            first: fused.module().to_owned(),
            second: format!("{mlp}.experts.{last}.{projection}"),
        });
    }
    if *last >= experts {
        return Err(CheckpointError::Contradiction {
            config: format!("num_experts {experts}"),
            tensors: format!("that {mlp} has an expert {last}, counted from 0"),
        });
    }
    if let Some(expert) = (0..experts).find(|expert| !one_by_one.contains(expert)) {
        return Err(CheckpointError::MissingExpert { expert, experts, module: mlp.to_owned() });
    }
    let piece = |expert| Piece {
        module: format!("{mlp}.experts.{expert}.{projection}"),
        shape: vec![rows, columns],
        rows: vec![Rows::All],
    };
    Ok(Some(Form { pieces: (0..experts).map(piece).collect() }))
}

/// The numbers of the experts that have tensors of their own.
fn expert_numbers(mlp: &str, tensors: &TextTensors<'_>) -> BTreeSet<usize> {
    let prefix = format!("{mlp}.experts.");
    tensors
        .range(prefix.clone()..)
        .map_while(|(name, _)| name.strip_prefix(&prefix))
        .filter_map(|rest| rest.split('.').next()?.parse().ok())
        .collect()
}

/// Projections of Qwen3-Next, which has two matrices for four, put together key head by key head:
/// q, k, v and z in one, b and a in the other.
fn interleaved(slot: &Slot, columns: usize, dims: &LinearDims, tensors: &TextTensors<'_>) -> Option<Form> {
    let (layer, projection) = slot.name.split_once(".linear_attn.")?;
    let (key, shared) = (dims.key_head_dim, dims.value_heads_per_key());
    let value = shared * dims.value_head_dim;
    let (fused, widths, taken): (_, &[usize], _) = match projection {
        "in_proj_qkv" => ("in_proj_qkvz", &[key, key, value, value], 0..3),
        "in_proj_z" => ("in_proj_qkvz", &[key, key, value, value], 3..4),
        "in_proj_b" => ("in_proj_ba", &[shared, shared], 0..1),
        "in_proj_a" => ("in_proj_ba", &[shared, shared], 1..2),
        _ => return None,
    };
    let module = format!("{layer}.linear_attn.{fused}");
    let block = widths.iter().sum();
    let rows = taken.map(|index| {
        let start = widths[..index].iter().sum();
        Rows::OfBlocks { block, start, end: start + widths[index] }
    });
    has_prefix(tensors, &format!("{module}."))
        .then(|| Form::one(module, vec![dims.key_heads * block, columns], rows.collect()))
}

/// Projections of some draft models: queries, keys and values in one matrix, one after the other.
fn fused_qkv(slot: &Slot, columns: usize, dims: &AttentionDims, tensors: &TextTensors<'_>) -> Option<Form> {
    let (layer, projection) = slot.name.split_once(".self_attn.")?;
    let (query, kv) = (dims.query_dim(), dims.kv_dim());
    let (start, rows) = match projection {
        "q_proj" => (0, query),
        "k_proj" => (query, kv),
        "v_proj" => (query + kv, kv),
        _ => return None,
    };
    let (module, block) = (format!("{layer}.self_attn.qkv_proj"), query + 2 * kv);
    let rows = Rows::OfBlocks { block, start, end: start + rows };
    has_prefix(tensors, &format!("{module}.")).then(|| Form::one(module, vec![block, columns], vec![rows]))
}
