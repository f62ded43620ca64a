//! The parts of this module together, on real files.

mod configs;
mod experts;
mod files;
mod fuzz;
mod loads;
mod mismatches;
mod mtp;
mod quantized;
mod sidecars;
mod told;

use foretoken_protocol::{ErrorReport, MtpState};

use super::{CheckpointError, Layout, TensorPlan};

const SHARD_1: &str = "model.safetensors-00001-of-00002.safetensors";
const SHARD_2: &str = "model.safetensors-00002-of-00002.safetensors";

fn tensor<'a>(layout: &'a Layout, name: &str) -> &'a TensorPlan {
    layout
        .tensors
        .iter()
        .find(|tensor| tensor.name == name)
        .unwrap_or_else(|| panic!("{name} is not planned"))
}

/// Asserts the code of an error and that its message names every operand.
#[track_caller]
fn assert_error<T: std::fmt::Debug>(result: Result<T, CheckpointError>, code: &str, operands: &[&str]) {
    let report = ErrorReport::from(result.expect_err("this checkpoint must be refused"));
    assert_eq!(report.code, code, "{report}");
    for operand in operands {
        assert!(report.message.contains(operand), "{:?} does not name {operand}", report.message);
    }
    assert!(!report.hint.is_empty());
}

#[track_caller]
fn present(layout: &Layout) -> (u32, &str, bool) {
    match &layout.mtp {
        MtpState::Present { tensors, format, declared } => (*tensors, format, *declared),
        other => panic!("{other:?}"),
    }
}
