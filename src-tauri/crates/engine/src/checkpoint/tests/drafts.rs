//! Draft models: which configs describe one, and which target it goes with.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::assert_error;
use crate::checkpoint::fixture::Fixture;
use crate::checkpoint::{
    CheckpointError, Config, Convolutions, DraftArchitecture, DraftConfig, DraftLayout, Files, Metadata,
    SelectorDims, SkipReason, Visibility,
};

fn parse(fixture: &Fixture) -> Result<DraftConfig, CheckpointError> {
    DraftConfig::parse(fixture.config.as_object().unwrap())
}

fn plan(dir: &Path) -> Result<DraftLayout, CheckpointError> {
    let metadata = Metadata::read(dir, Files::Whole)?;
    let config = DraftConfig::of(&metadata)?.expect("a draft model");
    DraftLayout::of(&metadata, &config)
}

fn second() -> Fixture {
    [("conv_kernel_size", 2), ("conv_group_size", 16), ("selector_rank", 8), ("selector_top_k", 4)]
        .into_iter()
        .fold(
            Fixture::draft().set_top("architectures", json!(["DFlash2DraftModel"])),
            |fixture, (key, value)| fixture.set_top(&format!("dflash_config.{key}"), value),
        )
}

#[test]
fn both_schemas_are_read_and_what_is_nested_wins() {
    let config = parse(&Fixture::draft()).unwrap();
    assert_eq!((config.architecture, config.block_size), (DraftArchitecture::DFlash, 16));
    assert_eq!((config.mask_token_id, &config.target_layer_ids[..]), (255, &[0, 1, 3][..]));
    assert_eq!((config.target_layers, config.features()), (Some(4), 3 * 64));
    let rope = (config.attention.rope_theta, config.attention.rope_dims, config.rope_interleaved);
    assert_eq!(rope, (1e7, 64, false));
    assert_eq!((config.embedding_scale, config.logit_scale, config.logit_softcap), (1.0, 1.0, None));
    let nested = Fixture::draft()
        .set_top("dflash_config.block_size", 8)
        .set_top("dflash_config.num_target_layers", 41)
        .set_top("dflash_config.rope_interleaved", true)
        .set_top("rope_interleaved", false)
        .set_top("mask_token_id", 3)
        .set_top("final_logit_softcapping", 30.0)
        .set_top("dflash_config.final_logit_softcapping", 20.0)
        .set_top("dflash_config.input_embedding_scale", 2)
        .set_top("dflash_config.output_multiplier", 0.5);
    let config = parse(&nested).unwrap();
    assert_eq!((config.block_size, config.target_layers, config.mask_token_id), (8, Some(41), 255));
    assert!(config.rope_interleaved);
    assert_eq!((config.embedding_scale, config.logit_scale, config.logit_softcap), (2.0, 0.5, Some(20.0)));
    let config = parse(&Fixture::draft().set_top("rope_is_neox_style", false)).unwrap();
    assert!(config.rope_interleaved);
    let nameless = parse(&Fixture::draft().set_top("architectures", Value::Null)).unwrap();
    assert_eq!(nameless.architecture, DraftArchitecture::DFlash);
    let dims = (Convolutions { kernel: 2, group: 16 }, SelectorDims { rank: 8, top_k: 4 });
    assert_eq!(parse(&second()).unwrap().dflash2, Some(dims));
}

#[test]
fn causality_is_told_for_all_layers_or_follows_the_window() {
    let layers = |keys: &[(&str, Value)]| {
        let fixture = keys.iter().fold(Fixture::draft(), |f, (key, value)| f.set_top(key, value.clone()));
        parse(&fixture).unwrap().layers.iter().map(|layer| layer.causal).collect::<Vec<_>>()
    };
    assert_eq!(layers(&[]), [true, false]);
    assert_eq!(layers(&[("is_causal", Value::Null), ("dflash_config.causal", Value::Null)]), [true, false]);
    assert_eq!(layers(&[("is_causal", json!(false))]), [false, false]);
    assert_eq!(layers(&[("is_causal", json!(true))]), [true, true]);
    assert_eq!(layers(&[("dflash_config.causal", json!(true))]), [true, true]);
    let both = [("dflash_config.causal", json!(false)), ("is_causal", json!(true))];
    assert_eq!(layers(&both), [false, false]);
    assert_eq!(layers(&[("layer_types", Value::Null)]), [false, false]);
    let config = parse(&Fixture::draft()).unwrap();
    assert_eq!(config.layers[0], Visibility { window: Some(32), causal: true });
    assert_eq!(config.layers[1].window, None);
}

#[test]
fn the_rotation_is_found_where_configs_have_it() {
    let bare = || Fixture::draft().set_top("rope_theta", Value::Null);
    let yarn = json!({"rope_type": "yarn", "factor": 64.0, "original_max_position_embeddings": 4096,
        "beta_fast": 32, "beta_slow": 1, "rope_theta": 5e6});
    for key in ["rope_parameters", "rope_scaling"] {
        let attention = parse(&bare().set_top(key, yarn.clone())).unwrap().attention;
        let scaling = attention.rope_scaling.unwrap();
        assert_eq!((attention.rope_theta, scaling.factor), (5e6, 64.0));
        assert_eq!(scaling.original_max_position_embeddings, 4096);
        // What stands at the top wins.
        let attention = parse(&Fixture::draft().set_top(key, yarn.clone())).unwrap().attention;
        assert_eq!((attention.rope_theta, attention.rope_scaling), (1e7, Some(scaling)));
    }
    // The target rotates a quarter of its heads; its draft model rotates all of its own.
    let kept = json!({"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 0.25});
    let attention = parse(&bare().set_top("rope_parameters", kept)).unwrap().attention;
    assert_eq!((attention.rope_theta, attention.rope_dims), (1e6, 64));
    assert_error(parse(&bare()), "config_invalid", &["rope_theta", "nothing"]);
}

#[test]
fn impossible_draft_models_are_refused_with_key_and_value() {
    let cases: Vec<(&str, Value, &[&str])> = vec![
        ("hidden_size", json!(0), &["hidden_size", "0"]),
        ("intermediate_size", Value::Null, &["intermediate_size"]),
        ("vocab_size", Value::Null, &["vocab_size"]),
        ("num_key_value_heads", json!(3), &["num_key_value_heads", "3"]),
        ("head_dim", json!(33), &["head_dim", "33"]),
        ("block_size", json!(1), &["block_size", "1"]),
        ("block_size", Value::Null, &["block_size", "nothing"]),
        ("dflash_config.block_size", json!(1), &["block_size", "1"]),
        ("dflash_config.mask_token_id", Value::Null, &["mask_token_id", "nothing"]),
        ("dflash_config.mask_token_id", json!(-1), &["mask_token_id", "-1"]),
        ("dflash_config.target_layer_ids", Value::Null, &["target_layer_ids", "nothing"]),
        ("dflash_config.target_layer_ids", json!([]), &["target_layer_ids", "[]"]),
        ("dflash_config.target_layer_ids", json!([1, 0, 3]), &["target_layer_ids", "[1,0,3]"]),
        ("dflash_config.target_layer_ids", json!([1, 1, 3]), &["target_layer_ids", "[1,1,3]"]),
        ("dflash_config.target_layer_ids", json!([-1, 3]), &["target_layer_ids", "[-1,3]"]),
        ("dflash_config.target_layer_ids", json!(3), &["target_layer_ids", "3"]),
        ("layer_types", json!(["full_attention"]), &["layer_types", "2", "1"]),
        (
            "layer_types",
            json!(["full_attention", "chunked_attention"]),
            &["layer_types", "chunked_attention"],
        ),
        ("layer_types", json!("full_attention"), &["layer_types"]),
        ("sliding_window", Value::Null, &["sliding_window", "nothing", "sliding_attention"]),
        ("sliding_window", json!(0), &["sliding_window", "0"]),
        ("sliding_window", json!(1), &["sliding_window", "1"]),
        ("is_causal", json!("yes"), &["is_causal", "yes"]),
        ("rope_theta", json!(0), &["rope_theta", "0"]),
        ("rms_norm_eps", json!(2), &["rms_norm_eps", "2"]),
    ];
    for (key, value, operands) in cases {
        assert_error(parse(&Fixture::draft().set_top(key, value.clone())), "config_invalid", operands);
    }
    for (key, value, operands) in [
        ("conv_kernel_size", Value::Null, &["conv_kernel_size", "nothing"]),
        ("conv_group_size", json!(48), &["conv_group_size", "48"]),
        ("selector_rank", json!(0), &["selector_rank", "0"]),
        ("selector_top_k", json!(257), &["selector_top_k", "257"]),
    ] {
        assert_error(
            parse(&second().set_top(&format!("dflash_config.{key}"), value)),
            "config_invalid",
            operands,
        );
    }
    let mask = Fixture::draft().set_top("dflash_config.mask_token_id", 256);
    assert_error(parse(&mask), "draft_mask_token", &["mask_token_id is 256", "256 tokens"]);
    for (key, value) in [
        ("attention_bias", json!(true)),
        ("dflash_config.attention_sink_bias", json!(true)),
        ("hidden_act", json!("gelu")),
        ("rope_scaling", json!({"rope_type": "llama3", "factor": 8})),
    ] {
        assert_error(parse(&Fixture::draft().set_top(key, value)), "unsupported_config", &[]);
    }
}

#[test]
fn other_kinds_of_draft_models_are_refused_by_name() {
    for name in
        ["DFlashLagunaForCausalLM", "MuseGlimmerAssistantModel", "Qwen3ForCausalLM", "DFlash3DraftModel"]
    {
        let fixture = Fixture::draft().set_top("architectures", json!([name]));
        assert_error(parse(&fixture), "unsupported_draft", &[name]);
    }
    // Without what is a draft model's alone the last is a model of its own, and no supported one.
    for (name, is_draft) in [("MuseGlimmerAssistantModel", true), ("Qwen3ForCausalLM", false)] {
        let fixture = Fixture::draft().set_top("architectures", json!([name]));
        let dir = fixture.set_top("dflash_config", Value::Null).write();
        let metadata = Metadata::read(dir.path(), Files::Whole).unwrap();
        let code = if is_draft { "draft_model" } else { "unsupported_architecture" };
        assert_error(Config::of(&metadata), code, &[]);
        assert_eq!(matches!(DraftConfig::of(&metadata), Ok(None)), !is_draft);
    }
    assert!(matches!(
        DraftConfig::read(Fixture::raw().write().path()),
        Err(CheckpointError::NotAModelFolder { .. })
    ));
}

#[test]
fn a_draft_model_is_not_taken_for_a_model() {
    let dir = Fixture::draft().write();
    assert_error(Config::read(dir.path()), "draft_model", &["DFlashDraftModel"]);
}

#[test]
fn a_target_of_other_sizes_is_refused_with_both() {
    let target = |key: &str, value: Value| {
        let fixture = Fixture::raw().set("full_attention_interval", Value::Null).set(key, value);
        Config::parse(fixture.config.as_object().unwrap()).unwrap()
    };
    let draft = parse(&Fixture::draft()).unwrap();
    let fits = target("vocab_size", json!(256));
    assert_eq!(draft.check_target(&fits).unwrap(), None);
    let wide = target("hidden_size", json!(128));
    assert_error(draft.check_target(&wide), "draft_mismatch", &["hidden_size 64", "128"]);
    let wordy = target("vocab_size", json!(300));
    assert_error(draft.check_target(&wordy), "draft_mismatch", &["vocab_size 256", "300"]);
    let deep = parse(&Fixture::draft().set_top("dflash_config.target_layer_ids", json!([0, 4, 9]))).unwrap();
    assert_error(deep.check_target(&fits), "draft_mismatch", &["layer 4", "4 layers"]);
    let odd = parse(&Fixture::draft().set_top("num_target_layers", 41)).unwrap();
    let note = odd.check_target(&fits).unwrap().unwrap();
    let note = note.to_string();
    assert!(note.contains("41") && note.contains('4'), "{note}");
}

#[test]
fn tensors_are_planned_in_every_layout() {
    let plain = plan(Fixture::draft().write().path()).unwrap();
    // 3 + 11 for each layer.
    assert_eq!((plain.tensors.len(), plain.format().as_str()), (25, "bfloat16"));
    let parameters: usize = Fixture::draft().files["model.safetensors"]
        .tensors
        .values()
        .map(|(_, s)| s.iter().product::<usize>())
        .sum();
    assert_eq!((plain.parameters, plain.weight_bytes()), (parameters as u64, 2 * parameters as u64));
    let rename = |prefix: &'static str| {
        Fixture::draft().map_tensors(move |name, shape| vec![(format!("{prefix}{name}"), shape)])
    };
    for prefix in ["model.", "draft."] {
        let names = |layout: &DraftLayout| layout.tensors.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&plan(rename(prefix).write().path()).unwrap()), names(&plain));
    }
    let fused = Fixture::draft().map_tensors(|name, shape| match name.strip_suffix("q_proj.weight") {
        Some(path) => vec![(format!("{path}qkv_proj.weight"), vec![512, 64])],
        None if name.contains("k_proj") || name.contains("v_proj") => vec![],
        None => vec![(name, shape)],
    });
    let fused = plan(fused.write().path()).unwrap();
    assert_eq!((fused.weight_bytes(), fused.tensors.len()), (plain.weight_bytes(), 25));
    let twice = Fixture::draft().with("layers.0.self_attn.qkv_proj.weight", "BF16", &[512, 64]);
    assert_error(plan(twice.write().path()), "duplicate_tensor", &["layers.0.self_attn.q_proj"]);

    let stray = Fixture::draft().with("embed_tokens.weight", "BF16", &[256, 64]).with(
        "lm_head.weight",
        "BF16",
        &[256, 64],
    );
    let stray = plan(stray.write().path()).unwrap();
    let skipped: Vec<_> =
        stray.skipped.iter().map(|skipped| (skipped.name.as_str(), skipped.reason)).collect();
    let borrowed = SkipReason::Borrowed;
    assert_eq!(skipped, [("embed_tokens.weight", borrowed), ("lm_head.weight", borrowed)]);
    assert_eq!(stray.weight_bytes(), plain.weight_bytes());

    let mut quantized = Fixture::draft().quantized(4, 64, "affine");
    assert_eq!(plan(quantized.write().path()).unwrap().format(), "4-bit, group 64");
    quantized.config["quantization"] = Value::Null;
    quantized.config["quantization_config"] = Value::Null;
    let told = plan(quantized.write().path()).unwrap();
    assert!(
        told.format() == "4-bit, group 64" && told.notes[0].to_string().contains("4-bit"),
        "{:?}",
        told.notes
    );
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    for name in
        ["hidden_norm.weight", "layers.1.self_attn.k_norm.weight", "fc.weight", "layers.0.mlp.up_proj.weight"]
    {
        let dir = Fixture::draft().without(name).write();
        assert_error(plan(dir.path()), "missing_tensor", &[name]);
    }
    for name in ["fc_layernorm.weight", "layers.0.self_attn.g_proj.weight", "aux_hidden_norms.0.weight"] {
        let dir = Fixture::draft().with(name, "BF16", &[64]).write();
        assert_error(plan(dir.path()), "unexpected_tensor", &[name]);
    }
    let dir = Fixture::draft().set_top("dflash_config.target_layer_ids", json!([0, 1])).write();
    assert_error(plan(dir.path()), "misshapen_tensor", &["fc.weight", "192", "128", "target_layer_ids"]);
    let dir = Fixture::draft().set_top("num_hidden_layers", 1).set_top("layer_types", Value::Null).write();
    assert_error(plan(dir.path()), "config_contradicts_tensors", &["num_hidden_layers 1", "2 layers"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever a config says, there is a plan or an error, and a plan has every tensor.
    #[test]
    fn any_config_of_a_draft_model_has_an_answer(
        key in prop::sample::select(vec![
            "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
            "head_dim", "vocab_size", "block_size", "sliding_window", "dflash_config.target_layer_ids",
            "dflash_config.mask_token_id", "dflash_config.conv_group_size", "dflash_config.conv_kernel_size",
            "dflash_config.selector_rank", "dflash_config.selector_top_k", "layer_types", "rope_scaling",
        ]),
        value in prop_oneof![
            any::<u64>().prop_map(Value::from),
            (0u64..300).prop_map(Value::from),
            Just(json!(1u64 << 24)),
            any::<f64>().prop_map(Value::from),
            "[a-z_]{0,20}".prop_map(Value::from),
            prop::collection::vec(0u64..1100, 0..5).prop_map(Value::from),
            Just(json!({"rope_type": "yarn", "factor": 2})),
        ],
        is_second in any::<bool>(),
    ) {
        let fixture = if is_second { second() } else { Fixture::draft() };
        let dir = fixture.set_top(key, value).write();
        let metadata = Metadata::read(dir.path(), Files::Whole).unwrap();
        if let Ok(Some(config)) = DraftConfig::of(&metadata)
            && let Ok(layout) = DraftLayout::of(&metadata, &config)
        {
            prop_assert_eq!(layout.tensors.len(), 25);
        }
    }
}
