//! The cases by whatever runs kernels for the engine: on a Mac, MLX on its GPU.

use foretoken_engine::mlx::Array;
use foretoken_engine::mlx::kernels::{Call, LEAST_ELEMENTS, Launch, Sizes};

use crate::case::Case;
use crate::program::{Outcome, size_of};

/// A GPU's own exponentials and roots are off by some units of the last place.
const SLACK: f64 = 8.0;

/// Runs all cases of a kernel once.
pub(crate) fn agree(launch: &dyn Launch, cases: &[Case]) {
    for case in cases {
        let outcome = launched(launch, case);
        if let Err(problem) = case.compare(&outcome, SLACK) {
            panic!("{}, {}: {problem}", case.kernel.name, case.name);
        }
    }
}

fn launched(launch: &dyn Launch, case: &Case) -> Outcome {
    let (kernel, dtype) = (case.kernel, case.choice.dtype);
    let integers = kernel.integers.iter().copied().zip(case.choice.integers.iter().copied());
    let sizes: Vec<(&'static str, i32)> = integers.chain(case.counts.iter().copied()).collect();
    let inputs: Vec<Array> = kernel
        .inputs
        .iter()
        .zip(case.bytes())
        .map(|(input, mut bytes)| {
            let width = size_of(input.scalar, dtype);
            // As the engine does: MLX hands smaller arrays over in another way.
            bytes.resize(bytes.len().max(LEAST_ELEMENTS * width), 0);
            let call = Call { kernel, dtype, sizes: Sizes(&sizes), inputs: &[] };
            Array::from_bytes(&bytes, &[(bytes.len() / width) as i32], call.dtype_of(input.scalar)).unwrap()
        })
        .collect();
    let inputs: Vec<&Array> = inputs.iter().collect();
    let outputs = launch.launch(&Call { kernel, dtype, sizes: Sizes(&sizes), inputs: &inputs }).unwrap();
    let empty = kernel.outputs.iter().map(|output| (output.shape)(&Sizes(&sizes)).contains(&0));
    let bytes = outputs.iter().zip(empty).map(|(output, empty)| match empty {
        true => Vec::new(),
        false => output.to_bytes().unwrap(),
    });
    Outcome { problems: Vec::new(), outputs: bytes.collect() }
}

/// The engine's kernels run here what the tests of each kernel run there.
#[cfg(target_os = "linux")]
#[test]
fn cases_are_handed_over_as_the_engine_hands_its_arrays() {
    let launch = crate::host::HostKernels::default();
    agree(&launch, &crate::cases::gdn_step::cases());
    agree(&launch, &crate::cases::add_norm::cases());
    let mut wrong = crate::cases::gated::cases();
    agree(&launch, &wrong);
    wrong[0].expected[0].values[0] += 1.0;
    assert!(wrong[0].compare(&launched(&launch, &wrong[0]), SLACK).is_err());
}
