//! Configs that no model can have, or that are not supported.

use serde_json::{Value, json};

use super::assert_error;
use crate::checkpoint::Config;
use crate::checkpoint::fixture::Fixture;

/// Numbers and kinds of layers, heads and channels, each with the key of the config that holds it.
fn impossible_sizes() -> Vec<(&'static str, Value)> {
    vec![
        ("hidden_size", json!(0)),
        ("hidden_size", json!(-64)),
        ("hidden_size", json!(64.5)),
        ("hidden_size", json!("64")),
        ("hidden_size", json!(u64::MAX)),
        ("num_hidden_layers", json!(0)),
        ("num_hidden_layers", json!(1_000_000_000)),
        ("num_hidden_layers", json!(true)),
        ("num_attention_heads", json!(1_000_000)),
        ("num_key_value_heads", json!(3)),
        ("num_key_value_heads", json!(0)),
        ("head_dim", json!(1u64 << 40)),
        ("intermediate_size", json!([1])),
        ("vocab_size", json!(0)),
        ("rms_norm_eps", json!(0)),
        ("rms_norm_eps", json!(-1e-6)),
        ("linear_num_value_heads", json!(3)),
        ("linear_num_key_heads", json!(1_000_000)),
        ("linear_conv_kernel_dim", json!(1)),
        ("full_attention_interval", json!(0)),
        ("full_attention_interval", json!(3)),
        ("layer_types", json!(["full_attention"])),
        ("layer_types", json!(["a", "b", "c", "d"])),
        ("layer_types", json!("linear_attention")),
        ("max_position_embeddings", json!(0)),
        ("mtp_num_hidden_layers", json!(-1)),
        ("tie_word_embeddings", json!("yes")),
        ("dtype", json!("int4")),
        ("hidden_size", Value::Null),
        ("linear_key_head_dim", Value::Null),
        ("max_position_embeddings", Value::Null),
        ("num_experts", json!(1u64 << 40)),
        ("num_experts", json!("many")),
    ]
}

/// How positions are rotated.
fn impossible_positions() -> Vec<(&'static str, Value)> {
    vec![
        ("rope_parameters", json!([1])),
        ("rope_parameters", json!({"rope_theta": 0})),
        ("rope_parameters", json!({"rope_theta": 1e7, "partial_rotary_factor": 0.05})),
        ("rope_parameters", json!({"rope_theta": 1e7, "partial_rotary_factor": 2})),
        ("rope_parameters", Value::Null),
        ("rope_scaling", json!({"rope_type": "yarn"})),
        ("rope_scaling", json!({"rope_type": "yarn", "factor": 0.5})),
        ("rope_scaling", json!({"rope_type": "yarn", "factor": 4, "beta_fast": 0})),
        ("rope_scaling", json!({"rope_type": "yarn", "factor": 4, "truncate": 1})),
    ]
}

/// How weights are stored.
fn impossible_quantizations() -> Vec<(&'static str, Value)> {
    vec![
        ("quantization", json!(4)),
        ("quantization", json!({"bits": 7})),
        ("quantization", json!({"bits": 4, "group_size": 0})),
        ("quantization", json!({"bits": 4, "group_size": 16})),
        ("quantization", json!({"mode": "ternary"})),
        ("quantization", json!({"mode": "mxfp4", "bits": 8})),
        ("quantization", json!({"mode": "nvfp4", "group_size": 32})),
    ]
}

#[test]
fn impossible_configs_name_the_key_and_the_value() {
    for (key, value) in [impossible_sizes(), impossible_positions(), impossible_quantizations()].concat() {
        let fixture = Fixture::raw().set(key, value.clone());
        let result = Config::parse(fixture.config.as_object().unwrap());
        let error = result.expect_err(&format!("{key} {value}"));
        assert_eq!(error.code(), "config_invalid", "{key} {value}: {error}");
    }
    let error = |key, value: Value| Config::parse(Fixture::raw().set(key, value).config.as_object().unwrap());
    assert_error(error("hidden_size", json!(-64)), "config_invalid", &["hidden_size", "-64"]);
    assert_error(error("hidden_size", Value::Null), "config_invalid", &["hidden_size", "nothing"]);
    let entry = json!({"language_model.mtp.fc": {"bits": 7}});
    assert_error(
        error("quantization", entry),
        "config_invalid",
        &["quantization.language_model.mtp.fc.bits", "7"],
    );
}

#[test]
fn variations_that_are_not_computed_are_refused() {
    for (key, value) in [
        ("attn_output_gate", json!(false)),
        ("attention_bias", json!(true)),
        ("hidden_act", json!("gelu")),
        ("output_gate_type", json!("sigmoid")),
        ("rope_parameters", json!({"rope_type": "llama3", "rope_theta": 1e7})),
        ("rope_scaling", json!({"type": "linear", "factor": 2})),
    ] {
        assert_error(Fixture::raw().set(key, value).plan(), "unsupported_config", &[key]);
    }
}

#[test]
fn impossible_experts_name_the_key_and_the_value() {
    for (key, value) in [
        ("num_experts", json!(0)),
        ("num_experts_per_tok", json!(0)),
        ("num_experts_per_tok", json!(5)),
        ("num_experts_per_tok", Value::Null),
        ("moe_intermediate_size", json!(0)),
        ("moe_intermediate_size", Value::Null),
        ("shared_expert_intermediate_size", json!(-1)),
        ("norm_topk_prob", json!(1)),
        ("decoder_sparse_step", json!(0)),
        ("mlp_only_layers", json!("none")),
        ("mlp_only_layers", json!([-1])),
        // A dense layer needs the width of its MLP.
        ("mlp_only_layers", json!([1])),
    ] {
        let fixture = Fixture::moe().set(key, value.clone());
        let error = Config::parse(fixture.config.as_object().unwrap()).expect_err(&format!("{key} {value}"));
        assert_eq!(error.code(), "config_invalid", "{key} {value}: {error}");
    }
}

#[test]
fn a_file_of_the_head_must_be_inside_the_folder() {
    for file in ["/etc/passwd", "../other/mtp.safetensors", "a/../../b", "", "..\\mtp.safetensors"] {
        let mut fixture = Fixture::raw();
        fixture.config["mlx_lm_extra_tensors"] = json!({"mtp_file": file});
        assert_error(fixture.plan(), "config_invalid", &["mtp_file", "inside"]);
    }
}

#[test]
fn other_architectures_are_named() {
    let of = |model_type: Value| {
        let mut fixture = Fixture::raw();
        fixture.config["model_type"] = model_type;
        fixture.plan()
    };
    assert_error(of(json!("llama")), "unsupported_architecture", &["llama", "qwen3_5"]);
    assert_error(of(json!("qwen3_5_mtp")), "head_only", &["qwen3_5_mtp"]);
    assert_error(of(json!("qwen3_5_moe")), "config_invalid", &["num_experts", "qwen3_5_moe"]);
    assert_error(of(json!(7)), "config_invalid", &["model_type", "7"]);
    assert!(of(Value::Null).is_ok(), "the text config names the type too");
}
