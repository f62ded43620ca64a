//! What loading takes in passing.

use super::at_once::FINITE_BLOCK;
use crate::checkpoint::{Rows, TensorPlan, Transform};

/// What loading takes beside the weights: tensors are read one after the other and checked block by block, then the
/// projections of a layer that read the same input are put together.
pub(crate) fn loading(tensors: &[TensorPlan]) -> u64 {
    let reading = tensors.iter().map(|plan| {
        let parts = match &plan.sources[..] {
            [only] if only.rows == Rows::All && plan.stored == plan.dtype => 0,
            sources => sources.iter().map(|source| source.bytes).fold(0, u64::saturating_add),
        };
        let changed = if plan.transform == Transform::None { 0 } else { plan.loaded_bytes() };
        // Three truth values for each number: infinite either way, no number.
        let checked = 3 * (plan.loaded_bytes() * 8 / plan.dtype.bitsize() as u64).min(FINITE_BLOCK as u64);
        parts.saturating_add(changed).saturating_add(checked)
    });
    let fused = layer_paths(tensors).map(|path| {
        let tensors = tensors.iter().filter(|plan| plan.name.starts_with(&path) && is_fused(&plan.name));
        // Queries and gates are taken apart first.
        let copies = |plan: &TensorPlan| if plan.name.contains("q_proj") { 2 } else { 1 };
        tensors.map(|plan| plan.loaded_bytes().saturating_mul(copies(plan))).fold(0, u64::saturating_add)
    });
    reading.chain(fused).max().unwrap_or(0)
}

/// Whether a tensor is put together with others that read the same input.
fn is_fused(name: &str) -> bool {
    const FUSED: [&str; 7] =
        ["q_proj", "k_proj", "v_proj", "in_proj_", "mlp.gate_proj", "mlp.up_proj", "shared_expert."];
    FUSED.iter().any(|module| name.contains(module))
}

/// The beginnings of the names of each layer's tensors.
fn layer_paths(tensors: &[TensorPlan]) -> impl Iterator<Item = String> {
    let mut paths: Vec<String> = Vec::new();
    for plan in tensors {
        let depth = if plan.name.starts_with("mtp.") { 3 } else { 2 };
        let path = plan.name.split('.').take(depth).collect::<Vec<_>>().join(".") + ".";
        if path.contains("layers.") && paths.last() != Some(&path) {
            paths.push(path);
        }
    }
    paths.into_iter()
}
