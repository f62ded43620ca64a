//! The parts of this module together, on real files.

mod configs;
mod drafts;
mod experts;
mod files;
mod fuzz;
mod loads;
mod mismatches;
mod mtp;
mod parts;
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

/// Asserts that the trunk is planned, and that the notes tell why the MTP head is not.
#[track_caller]
fn assert_unused(layout: &Layout, parts: &[&str]) {
    assert_eq!((&layout.mtp, layout.has_mtp()), (&MtpState::Unusable, false), "{:?}", layout.notes);
    assert!(layout.tensors.iter().all(|plan| !plan.name.starts_with("mtp.")));
    let notes = layout.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(notes.contains(part), "{notes:?} does not name {part}");
    }
}

#[track_caller]
fn present(layout: &Layout) -> (u32, &str, bool) {
    match &layout.mtp {
        MtpState::Present { tensors, format, declared } => (*tensors, format, *declared),
        other => panic!("{other:?}"),
    }
}
