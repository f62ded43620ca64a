//! Tensors that do not fit the config.

use serde_json::{Value, json};

use super::{SHARD_1, SHARD_2, assert_error, assert_unused};
use crate::checkpoint::fixture::{Fixture, HIDDEN};

#[test]
fn every_missing_tensor_is_named() {
    let whole = Fixture::raw();
    let layout = whole.plan().unwrap();
    for planned in layout.tensors.iter().filter(|tensor| !tensor.name.starts_with("mtp.")) {
        assert_error(
            whole.clone().without(&planned.sources[0].name).plan(),
            "missing_tensor",
            &[&planned.name],
        );
    }
    let quantized = || Fixture::converted(Some(4));
    for part in ["scales", "biases"] {
        let name = format!("layers.0.mlp.up_proj.{part}");
        assert_error(quantized().without(&name).plan(), "missing_tensor", &[&name]);
    }
}

#[test]
fn unexpected_tensors_are_named_with_their_file() {
    for name in [
        "model.language_model.layers.0.mlp.up_proj.bias",
        "model.language_model.layers.0.mlp.up_proj.biases",
        "model.language_model.layers.3.linear_attn.A_log",
        "layers.0.mlp.up_proj.weight",
        "model.audio.weight",
    ] {
        let fixture = Fixture::raw().with(name, "BF16", &[4]);
        assert_error(fixture.plan(), "unexpected_tensor", &[name, SHARD_1]);
    }
    let name = "mtp.layers.1.mlp.up_proj.weight";
    let layout = Fixture::raw().with(name, "BF16", &[4]).plan().unwrap();
    assert_unused(&layout, &[name, SHARD_1]);
}

#[test]
fn misshapen_tensors_are_named_with_the_config_key() {
    for (name, shape, key) in [
        ("model.language_model.embed_tokens.weight", &[255, 64][..], "vocab_size"),
        (
            "model.language_model.layers.3.self_attn.q_proj.weight",
            &[256, 64],
            "2 × num_attention_heads × head_dim",
        ),
        ("model.language_model.layers.3.self_attn.q_norm.weight", &[32], "head_dim"),
        ("model.language_model.layers.0.linear_attn.conv1d.weight", &[256, 4], "linear_conv_kernel_dim"),
        ("model.language_model.layers.2.linear_attn.conv1d.weight", &[256, 4, 1], "linear_conv_kernel_dim"),
        ("model.language_model.layers.0.linear_attn.A_log", &[4, 1], "linear_num_value_heads"),
    ] {
        let dtype = if name.ends_with("A_log") { "F32" } else { "BF16" };
        let fixture = Fixture::raw().change(name, dtype, shape);
        assert_error(fixture.plan(), "misshapen_tensor", &[name, key, &format!("{shape:?}")]);
    }
    let layout = Fixture::raw().change("mtp.fc.weight", "BF16", &[64, 64]).plan().unwrap();
    assert_unused(&layout, &["mtp.fc.weight", "2 × hidden_size", "[64, 64]"]);
    let wrong = Fixture::raw().set("hidden_size", 128);
    assert_error(
        wrong.plan(),
        "misshapen_tensor",
        &["embed_tokens.weight", "[256, 64]", "[256, 128]", "hidden_size"],
    );
}

#[test]
fn wrong_bits_are_a_misshapen_weight() {
    let mut fixture = Fixture::converted(Some(4));
    fixture.config["quantization"]["bits"] = json!(8);
    assert_error(
        fixture.plan(),
        "misshapen_tensor",
        &["embed_tokens.weight", "[256, 8]", "[256, 16]", "8-bit"],
    );
    fixture.config["quantization"] = json!({"group_size": 32, "bits": 4});
    assert_error(
        fixture.plan(),
        "misshapen_tensor",
        &["embed_tokens.scales", "[256, 1]", "[256, 2]", "group 32"],
    );
    fixture.config["quantization"] = json!({"group_size": 128, "bits": 4});
    assert_error(fixture.plan(), "config_contradicts_tensors", &["group 128", "64"]);
}

#[test]
fn wrong_data_types_are_named() {
    let norm = "model.language_model.layers.1.input_layernorm.weight";
    for dtype in ["I32", "F64"] {
        assert_error(
            Fixture::raw().change(norm, dtype, &[HIDDEN]).plan(),
            "wrong_dtype",
            &[norm, dtype, "BF16"],
        );
    }
    let embed = "model.language_model.embed_tokens.weight";
    assert_error(Fixture::raw().change(embed, "I8", &[256, HIDDEN]).plan(), "wrong_dtype", &[embed, "I8"]);
    let float8 =
        Fixture::raw().change("model.language_model.layers.0.mlp.up_proj.weight", "F8_E4M3", &[128, HIDDEN]);
    assert_error(float8.plan(), "foreign_quantization", &["fp8", "layers.0.mlp.up_proj"]);
    let a_log = "model.language_model.layers.1.linear_attn.A_log";
    assert_error(
        Fixture::raw().change(a_log, "I32", &[4]).plan(),
        "wrong_dtype",
        &[a_log, "BF16, F16 or F32"],
    );
    let scales = "language_model.mtp.fc.scales";
    let layout = Fixture::converted(Some(4)).change(scales, "I32", &[HIDDEN, 2]).plan().unwrap();
    assert_unused(&layout, &[scales, "I32"]);
    let packed = "language_model.mtp.fc.weight";
    let layout = Fixture::converted(Some(4)).change(packed, "I32", &[HIDDEN, 16]).plan().unwrap();
    assert_unused(&layout, &[packed, "U32"]);
}

#[test]
fn config_and_tensors_that_tell_of_different_models_are_refused() {
    let layers = |count| Fixture::raw().set("layer_types", Value::Null).set("num_hidden_layers", count);
    for count in [3, 5] {
        let named = format!("num_hidden_layers {count}");
        assert_error(layers(count).plan(), "config_contradicts_tensors", &[&named, "4 layers"]);
    }
    let kinds = Fixture::raw().set("layer_types", Value::Null).set("full_attention_interval", 2);
    assert_error(
        kinds.plan(),
        "config_contradicts_tensors",
        &["layer 1 is full attention", "linear attention"],
    );
    let mut denied = Fixture::converted(Some(4));
    denied.config["quantization"]["language_model.model.embed_tokens"] = json!(false);
    assert_error(denied.plan(), "config_contradicts_tensors", &["embed_tokens is quantized"]);
    let mut denied = Fixture::converted(Some(4));
    denied.config["quantization"]["language_model.mtp.fc"] = json!(false);
    assert_unused(&denied.plan().unwrap(), &["mtp.fc is quantized"]);
}

#[test]
fn one_tensor_under_two_names_is_refused() {
    let fixture = Fixture::raw().with("model.norm.weight", "BF16", &[HIDDEN]);
    assert_error(fixture.plan(), "duplicate_tensor", &["norm.weight", SHARD_1]);
    let mut twice = Fixture::raw();
    twice.files.insert("model-copy.safetensors".into(), twice.files[SHARD_2].clone());
    assert_error(twice.plan(), "duplicate_tensor", &["model-copy.safetensors", SHARD_2]);
}
