//! Every quantization that mlx-lm writes, of trunk and head: all modes, bits and group sizes, mixed recipes, experts.

use foretoken_engine::mlx::Dtype;
use foretoken_tests::agreement::logits_agree;
use foretoken_tests::fixtures::{fixture, load, same_tensors, write_converted};
use foretoken_tests::goldens::Goldens;
use foretoken_tests::oracle::Cases;

foretoken_tests::test_cases! { "quantizations":
    affine_2_32
    affine_2_64
    affine_2_128
    affine_3_32
    affine_3_64
    affine_3_128
    affine_4_32
    affine_4_64
    affine_4_64_bfloat16
    affine_4_64_float16
    affine_4_128
    affine_5_32
    affine_5_64
    affine_5_128
    affine_6_32
    affine_6_64
    affine_6_128
    affine_8_32
    affine_8_64
    affine_8_128
    mixed_2_6
    mixed_3_4
    mixed_3_6
    mixed_4_6
    moe_affine_2_32
    moe_affine_3_64
    moe_affine_4_64
    moe_affine_4_64_float16
    moe_affine_6_32
    moe_affine_8_64
    moe_mixed_4_6
    moe_mxfp4
    moe_mxfp8
    moe_nvfp4
    mxfp4
    mxfp8
    next_affine_4_64
    nvfp4
}

/// Other tests read checkpoints that [`write_converted`] wrote.
#[test]
fn checkpoints_written_for_tests_are_what_mlx_lm_writes() {
    let cases = Cases::of("quantizations");
    for bits in [4, 8] {
        let name = format!("affine-{bits}-64");
        let dir = tempfile::tempdir().unwrap();
        write_converted(&cases.raw(&name), dir.path(), bits, Dtype::Float32);
        same_tensors(dir.path(), &cases.checkpoint(&name));
    }
}

/// The fork's own converter writes the same numbers for this checkpoint.
#[test]
fn quantized_experts_agree_with_the_fork_of_mlx_lm_that_has_a_head() {
    let model = load(&Cases::of("quantizations").checkpoint("moe-affine-4-64"));
    let goldens = Goldens::read(&fixture("goldens/tiny-moe-q4f32"));
    logits_agree(&model, &goldens, "moe-affine-4-64");
}
