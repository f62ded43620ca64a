//! Every quantization of MLX, and what is not one.

use safetensors::Dtype;
use serde_json::{Value, json};

use super::{assert_error, assert_unused, tensor};
use crate::checkpoint::fixture::{EXPERTS, Fixture, HIDDEN};
use crate::checkpoint::*;
use crate::mlx::QuantMode;

#[test]
fn every_mode_loads_and_is_told_by_its_tensors_too() {
    for (bits, group_size, mode, parsed) in [
        (2, 32, "affine", QuantMode::Affine),
        (3, 32, "affine", QuantMode::Affine),
        (4, 64, "affine", QuantMode::Affine),
        (5, 64, "affine", QuantMode::Affine),
        (6, 32, "affine", QuantMode::Affine),
        (8, 64, "affine", QuantMode::Affine),
        (4, 32, "mxfp4", QuantMode::Mxfp4),
        (8, 32, "mxfp8", QuantMode::Mxfp8),
        (4, 16, "nvfp4", QuantMode::Nvfp4),
    ] {
        let spec = Some(WeightKind::Quantized(QuantSpec { group_size, bits, mode: parsed }));
        let fixtures = [
            Fixture::converted(None),
            Fixture::converted_moe(None),
            Fixture::next(),
            Fixture::moe().one_by_one("mtp."),
        ];
        for fixture in fixtures {
            let fixture = fixture.quantized(bits, group_size, mode);
            let layout = fixture.plan().unwrap_or_else(|error| panic!("{bits} {group_size} {mode}: {error}"));
            assert!(
                layout
                    .weights
                    .values()
                    .all(|weight| Some(WeightKind::Quantized(weight_spec(weight))) == spec)
            );
            assert_eq!(layout.compute, FloatType::Bfloat16);
            assert!(layout.notes.is_empty(), "{:?}", layout.notes);

            let mut silent = fixture;
            for key in ["quantization", "quantization_config"] {
                silent.config.as_object_mut().unwrap().remove(key);
            }
            let told = silent.plan().unwrap();
            assert_eq!(told.weights, layout.weights);
            assert_eq!(told.notes.len(), 1);
            assert!(told.notes[0].to_string().contains(&layout.format()), "{:?}", told.notes);
        }
    }
}

fn weight_spec(weight: &Weight) -> QuantSpec {
    match weight.kind {
        WeightKind::Quantized(spec) => spec,
        WeightKind::Dense => panic!("{weight:?} is dense"),
    }
}

#[test]
fn rows_of_128_may_be_one_group() {
    let mut fixture = Fixture::converted(None);
    let shard = fixture.files.values_mut().next().unwrap();
    let (name, entry) = shard.tensors.remove_entry("language_model.mtp.fc.weight").unwrap();
    let mut head = crate::checkpoint::fixture::Shard { format: Some("mlx"), ..Default::default() };
    head.tensors.insert(name, entry);
    head.quantize(4, 128, true);
    shard.tensors.append(&mut head.tensors);
    fixture.config["quantization"] = json!({"group_size": 128, "bits": 4});
    let layout = fixture.plan().unwrap();
    let spec = QuantSpec { group_size: 128, bits: 4, mode: QuantMode::Affine };
    assert_eq!(layout.kind("mtp.fc"), Some(WeightKind::Quantized(spec)));
    assert_eq!(layout.kind("embed_tokens"), Some(WeightKind::Dense));
}

#[test]
fn small_floats_have_scales_of_a_byte() {
    let layout = Fixture::converted_moe(None).quantized(4, 32, "mxfp4").plan().unwrap();
    let scales = tensor(&layout, "layers.0.mlp.switch_mlp.up_proj.scales");
    assert_eq!((scales.dtype, &scales.shape[..]), (Dtype::U8, &[EXPERTS, 64, 2][..]));
    assert!(layout.tensors.iter().all(|plan| !plan.name.ends_with(".biases")));
}

#[test]
fn a_mode_that_the_tensors_do_not_have_is_refused() {
    let said = |fixture: Fixture, entry: Value| Fixture {
        config: {
            let mut config = fixture.config.clone();
            config["quantization"] = entry;
            config
        },
        ..fixture
    };
    let affine = || Fixture::converted(Some(4));
    let mxfp4 = || Fixture::converted(None).quantized(4, 32, "mxfp4");
    assert_error(
        said(affine(), json!({"mode": "mxfp4"})).plan(),
        "config_contradicts_tensors",
        &["mxfp4 for embed_tokens", "biases"],
    );
    assert_error(
        said(mxfp4(), json!({"bits": 4, "group_size": 32})).plan(),
        "config_contradicts_tensors",
        &["4-bit, group 32 for embed_tokens", "mxfp4"],
    );
    assert_error(
        said(mxfp4(), json!({"mode": "nvfp4"})).plan(),
        "misshapen_tensor",
        &["embed_tokens.scales", "[256, 2]", "[256, 4]", "nvfp4"],
    );
    assert_error(
        said(mxfp4(), json!({"mode": "mxfp8"})).plan(),
        "misshapen_tensor",
        &["embed_tokens.weight", "[256, 8]", "[256, 16]", "mxfp8"],
    );
}

#[test]
fn what_no_quantization_packs_like_this_is_refused() {
    let mut fixture = Fixture::converted(Some(4));
    for key in ["quantization", "quantization_config"] {
        fixture.config.as_object_mut().unwrap().remove(key);
    }
    let head = fixture.clone().change("language_model.mtp.fc.scales", "BF16", &[HIDDEN, 3]);
    assert_unused(&head.plan().unwrap(), &["mtp.fc", "3 scales"]);
    let trunk = fixture.change("language_model.model.embed_tokens.scales", "BF16", &[256, 3]);
    assert_error(trunk.plan(), "config_contradicts_tensors", &["embed_tokens", "3 scales"]);
}

#[test]
fn mixed_recipes_use_the_names_of_either_form() {
    let router = |config: &mut Value, names: [&str; 2]| {
        for name in names {
            config["quantization"][name] = json!({"group_size": 64, "bits": 8});
        }
    };
    let name = "language_model.model.layers.0.mlp.gate";
    let mut fixture =
        Fixture::converted_moe(Some(4)).change(&format!("{name}.weight"), "U32", &[EXPERTS, 16]);
    router(&mut fixture.config, [name, "model.layers.0.mlp.gate"]);
    let layout = fixture.plan().unwrap();
    let eight = QuantSpec { group_size: 64, bits: 8, mode: QuantMode::Affine };
    assert_eq!(layout.kind("layers.0.mlp.gate"), Some(WeightKind::Quantized(eight)));

    let module = "model.layers.0.linear_attn.in_proj_qkvz";
    let mut next =
        Fixture::next().quantized(4, 64, "affine").change(&format!("{module}.weight"), "U32", &[384, 16]);
    router(&mut next.config, [module, module]);
    let layout = next.plan().unwrap();
    for name in ["in_proj_qkv", "in_proj_z"] {
        assert_eq!(layout.kind(&format!("layers.0.linear_attn.{name}")), Some(WeightKind::Quantized(eight)));
    }
    let scales = tensor(&layout, "layers.0.linear_attn.in_proj_qkv.scales");
    assert_eq!((scales.sources.len(), &scales.shape[..]), (3, &[256, 1][..]));
}

#[test]
fn quantizations_of_other_tools_are_named() {
    for (config, method) in [
        (json!({"quant_method": "fp8", "weight_block_size": [128, 128]}), "fp8"),
        (json!({"quant_method": "awq", "bits": 4, "group_size": 128}), "awq"),
        (json!({"quant_method": "gptq", "bits": 4, "desc_act": false}), "gptq"),
        (json!({"config_groups": {"group_0": {}}, "format": "pack-quantized"}), "compressed-tensors"),
        (json!({"load_in_4bit": true}), "bitsandbytes"),
    ] {
        let fixture = Fixture::raw().set("quantization_config", config);
        assert_error(fixture.plan(), "foreign_quantization", &[method, "quantization_config"]);
    }
}
