//! The same model with its MTP head shipped in every known way: in the main files or beside them, under every prefix,
//! with norms in either encoding, quantized like the trunk or not. Each must give the same logits and the same text.

use foretoken_engine::checkpoint::{Config, Index, Layout};
use foretoken_protocol::MtpState;
use foretoken_tests::oracle::Cases;

foretoken_tests::test_cases! { "heads":
    by_values_delta
    by_values_gamma
    converted
    converted_model_mtp
    float_head_q4_in_folder
    manifest_gamma
    model_mtp_file
    moe_converted
    moe_own_file_fused
    moe_own_file_per_expert
    moe_split_folder
    named_file
    next_own_file
    no_index
    optiq
    own_file_bfloat16
    own_file_delta
    own_file_delta_declared
    own_file_gamma
    own_file_gamma_declared
    q4_float_head
    q4_head_mxfp8_in_folder
    q4_head_q4
    q4_head_q8_by_path
    q4_head_q8_in_file
    split_folder
    split_folder_weights
    stale_index
    stripped
    stripped_raw
    undeclared
    weights_in_folder
}

#[test]
fn what_became_of_the_head_is_told() {
    let cases = Cases::of("heads");
    let state = |name: &str| {
        let folder = cases.checkpoint(name);
        let config = Config::read(&folder).unwrap();
        Layout::plan(&config, &Index::read(&folder, &config).unwrap()).unwrap().mtp
    };
    for name in ["stripped", "stripped-raw"] {
        assert_eq!(state(name), MtpState::Stripped, "{name}");
    }
    let undeclared = state("undeclared");
    assert!(matches!(undeclared, MtpState::Present { declared: false, .. }), "{undeclared:?}");
}
