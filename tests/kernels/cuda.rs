//! The texts behind the header by which they run on NVIDIA's GPUs, where none is.

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::KERNELS;

use crate::case::{Case, case_of};
use crate::cases;
use crate::program::{Build, CUDA, Order, Program};

fn judge(case: &Case, header: &str) -> Result<(), String> {
    let (kernel, choices) = (case.kernel, vec![case.choice.clone()]);
    let program = Program::by(CUDA, kernel, [header, kernel.text], choices, Build::Plain)?;
    case.judge(&program, Order { seed: 7, sum: 0 })
}

#[test]
fn every_kernel_computes_the_same_behind_the_header_for_cuda() {
    let cases = cases::all();
    for kernel in KERNELS {
        let case = case_of(&cases, kernel, Dtype::Bfloat16);
        judge(case, kernel.header).unwrap_or_else(|words| panic!("{}, {}: {words}", kernel.name, case.name));
    }
}

#[test]
fn a_wrong_header_for_cuda_is_found_out() {
    let cases = cases::all();
    let wrong = [
        ("gdn_step", "#undef PLACE\n#define PLACE(axis) threadIdx.axis", "no threadgroup but the first"),
        ("gated_norm", "#define simd_sum simd_max", "another reduction"),
        (
            "router",
            "#undef thread_index_in_simdgroup\n#define thread_index_in_simdgroup 0",
            "one lane for all",
        ),
    ];
    for (name, change, mistake) in wrong {
        let kernel = KERNELS.into_iter().find(|kernel| kernel.name == name).unwrap();
        let header = format!("{change}\n{}", kernel.header);
        let problem = judge(case_of(&cases, kernel, Dtype::Float32), &header).expect_err(mistake);
        let found = ["instead of", "write it", "never written"].iter().any(|words| problem.contains(words));
        assert!(found, "{mistake}: {problem}");
    }
}
