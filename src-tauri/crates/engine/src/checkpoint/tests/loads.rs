//! What loads.

use std::collections::BTreeSet;

use safetensors::Dtype;
use serde_json::{Value, json};

use super::{assert_error, present, tensor};
use crate::checkpoint::fixture::{Fixture, HIDDEN, demo, plan};
use crate::checkpoint::*;
use crate::mlx::QuantMode;

#[test]
fn the_demo_checkpoint_is_planned_completely() {
    let layout = plan(&demo()).unwrap();
    assert_eq!(layout.tensors.len(), 1 + 6 * 14 + 2 * 11 + 1 + 15);
    assert_eq!(layout.compute, FloatType::Bfloat16);
    assert_eq!(layout.format(), "bfloat16");
    assert_eq!(present(&layout), (15, "bfloat16", true));
    assert_eq!((layout.trunk_norms, layout.mtp_norms), (NormEncoding::Delta, Some(NormEncoding::Delta)));
    assert!(layout.notes.is_empty(), "{:?}", layout.notes);
    // Two bytes for each, and two more for the logarithms of decays: eight heads in six layers.
    assert_eq!(layout.weight_bytes(), 2 * layout.parameters() + 2 * 6 * 8);
    let norm = tensor(&layout, "layers.0.input_layernorm.weight");
    assert_eq!(norm.transform, Transform::AddOne);
    assert_eq!(norm.sources[0].name, "model.language_model.layers.0.input_layernorm.weight");
    assert_eq!(tensor(&layout, "layers.0.linear_attn.norm.weight").transform, Transform::None);
    assert_eq!(tensor(&layout, "layers.0.linear_attn.conv1d.weight").transform, Transform::ConvTranspose);
    assert_eq!(layout.kind("layers.3.self_attn.q_proj"), Some(WeightKind::Dense));
    assert_eq!(layout.kind("lm_head"), None);
}

#[test]
fn raw_shards_load_without_their_vision_tower() {
    let layout = Fixture::raw().plan().unwrap();
    let files: BTreeSet<_> = layout.tensors.iter().map(|tensor| &tensor.sources[0].file).collect();
    assert_eq!(files.len(), 2);
    let skipped: Vec<_> =
        layout.skipped.iter().map(|skipped| (skipped.name.as_str(), skipped.reason)).collect();
    assert_eq!(
        skipped,
        [
            ("model.visual.blocks.0.norm1.weight", SkipReason::Vision),
            ("model.visual.merger.norm.bias", SkipReason::Vision)
        ]
    );
    // The MTP head is in a file without convolutions, but its names and metadata are those of a raw checkpoint.
    assert_eq!(tensor(&layout, "mtp.norm.weight").transform, Transform::AddOne);
    let shifted = layout.tensors.iter().filter(|tensor| tensor.transform == Transform::AddOne).count();
    assert_eq!(shifted, 4 * 2 + 2 + 1 + 2 + 2 + 3);
}

#[test]
fn converted_names_and_layouts_need_no_transform() {
    let layout = Fixture::converted(None).plan().unwrap();
    assert!(layout.tensors.iter().all(|tensor| tensor.transform == Transform::None));
    assert_eq!((layout.trunk_norms, layout.mtp_norms), (NormEncoding::Gamma, Some(NormEncoding::Gamma)));
    assert_eq!(tensor(&layout, "layers.0.linear_attn.conv1d.weight").shape, [256, 4, 1]);
    let raw = Fixture::raw().plan().unwrap();
    assert_eq!(layout.parameters(), raw.parameters());
}

#[test]
fn quantized_triples_are_checked_by_arithmetic() {
    for bits in [2, 3, 4, 5, 6, 8] {
        let layout = Fixture::converted(Some(bits)).plan().unwrap();
        let spec = QuantSpec { group_size: 64, bits, mode: QuantMode::Affine };
        assert_eq!(layout.kind("mtp.fc"), Some(WeightKind::Quantized(spec)));
        assert_eq!(layout.format(), format!("{bits}-bit, group 64"));
        assert_eq!(layout.parameters(), Fixture::raw().plan().unwrap().parameters());
        assert_eq!(layout.compute, FloatType::Bfloat16);
        // 8 matrices with three tensors each, and 7 norms.
        assert_eq!(present(&layout), (8 * 3 + 7, layout.format().as_str(), true));
    }
}

#[test]
fn modules_may_have_their_own_quantization() {
    let mut fixture = Fixture::converted(Some(4))
        .change("language_model.model.layers.0.mlp.up_proj.weight", "U32", &[128, 16])
        .without("language_model.mtp.fc.")
        .with("language_model.mtp.fc.weight", "BF16", &[HIDDEN, 2 * HIDDEN]);
    let entries = json!({
        "group_size": 64, "bits": 4,
        "language_model.model.layers.0.mlp.up_proj": {"group_size": 64, "bits": 8},
        "language_model.mtp.fc": false
    });
    fixture.config["quantization"] = entries;
    let layout = fixture.plan().unwrap();
    let spec =
        |bits| Some(WeightKind::Quantized(QuantSpec { group_size: 64, bits, mode: QuantMode::Affine }));
    assert_eq!(layout.kind("layers.0.mlp.up_proj"), spec(8));
    assert_eq!(layout.kind("layers.1.mlp.up_proj"), spec(4));
    assert_eq!(layout.kind("mtp.fc"), Some(WeightKind::Dense));
    assert_eq!(layout.format(), "4-bit, group 64; parts bfloat16; 8-bit, group 64");
}

#[test]
fn a_module_without_scales_stays_dense_in_a_quantized_model() {
    let layout = Fixture::converted(Some(4))
        .without("layers.1.mlp.up_proj")
        .with("language_model.model.layers.1.mlp.up_proj.weight", "BF16", &[128, HIDDEN])
        .plan()
        .unwrap();
    assert_eq!(layout.kind("layers.1.mlp.up_proj"), Some(WeightKind::Dense));
}

#[test]
fn flat_and_nested_configs_say_the_same() {
    let nested = Fixture::raw();
    let mut flat = nested.clone();
    flat.config = flat.config["text_config"].take();
    flat.config["tie_word_embeddings"] = json!(true);
    let nested = Config::parse(nested.config.as_object().unwrap()).unwrap();
    let flat = Config::parse(flat.config.as_object().unwrap()).unwrap();
    assert_eq!(flat.architecture, "qwen3_5_text");
    assert_eq!(Config { architecture: nested.architecture.clone(), ..flat }, nested);
}

#[test]
fn layer_kinds_come_from_either_key() {
    let parse = |fixture: Fixture| Config::parse(fixture.config.as_object().unwrap()).unwrap().layers;
    let both = parse(Fixture::raw());
    assert_eq!(both[2..], [LayerKind::LinearAttention, LayerKind::FullAttention]);
    assert_eq!(parse(Fixture::raw().set("layer_types", Value::Null)), both);
    assert_eq!(parse(Fixture::raw().set("full_attention_interval", Value::Null)), both);
}

#[test]
fn rope_is_read_from_its_object_first() {
    let parse = |fixture: Fixture| Config::parse(fixture.config.as_object().unwrap()).unwrap().attention;
    let inner = parse(Fixture::raw().set("rope_theta", 5.0).set("partial_rotary_factor", 1.0));
    assert_eq!((inner.rope_theta, inner.rope_dims), (1e7, 16));
    let outer = parse(
        Fixture::raw()
            .set("rope_parameters", Value::Null)
            .set("rope_theta", 5e6)
            .set("partial_rotary_factor", 0.5),
    );
    assert_eq!((outer.rope_theta, outer.rope_dims), (5e6, 32));
}

#[test]
fn an_untied_model_has_its_own_head() {
    let mut fixture = Fixture::raw().with("lm_head.weight", "BF16", &[256, HIDDEN]);
    fixture.config["tie_word_embeddings"] = json!(false);
    let layout = fixture.plan().unwrap();
    assert_eq!(tensor(&layout, "lm_head.weight").sources[0].name, "lm_head.weight");
    let tied = Fixture::raw().plan().unwrap();
    assert_eq!(layout.parameters() - tied.parameters(), 256 * HIDDEN as u64);
    assert_error(fixture.without("lm_head").plan(), "missing_tensor", &["lm_head.weight"]);
}

#[test]
fn a_head_beside_a_tied_embedding_is_left_out() {
    let layout = Fixture::raw().with("lm_head.weight", "BF16", &[256, HIDDEN]).plan().unwrap();
    assert_eq!(layout.skipped[0].reason, SkipReason::TiedHead);
    assert_eq!(layout.notes.len(), 1);
    assert!(layout.notes[0].to_string().contains("tied"), "{:?}", layout.notes);
}

#[test]
fn the_hidden_that_the_head_reads_can_be_declared() {
    let mode = |fixture: Fixture| fixture.plan().map(|layout| layout.hidden_mode);
    assert_eq!(mode(Fixture::raw()).unwrap(), HiddenMode::PostNorm);
    assert_eq!(mode(Fixture::raw().set("mtp_hidden_state_mode", "pre_norm")).unwrap(), HiddenMode::PreNorm);
    let mut contract = Fixture::raw().set("mtp_hidden_state_mode", "pre_norm");
    contract.config["mtplx_mtp_contract"] = json!({"base_hidden_variant": "post_norm"});
    assert_eq!(mode(contract).unwrap(), HiddenMode::PostNorm);
}

#[test]
fn yarn_is_read_from_either_key() {
    let parse = |fixture: Fixture| Config::parse(fixture.config.as_object().unwrap()).unwrap();
    let short = json!({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048});
    let defaults = RopeScaling {
        factor: 4.0,
        original_max_position_embeddings: 2048,
        beta_fast: 32.0,
        beta_slow: 1.0,
        attention_factor: None,
        mscale: None,
        mscale_all_dim: None,
        truncate: true,
    };
    let outer = parse(Fixture::raw().set("rope_scaling", short));
    assert_eq!(outer.attention.rope_scaling, Some(defaults));
    assert_eq!((outer.attention.rope_theta, outer.max_position_embeddings), (1e7, 8192));
    let inner = parse(Fixture::raw().set(
        "rope_parameters",
        json!({
            "rope_type": "yarn", "rope_theta": 1e6, "partial_rotary_factor": 0.25, "factor": 2.0,
            "beta_fast": 16, "beta_slow": 2, "attention_factor": 1.1, "mscale": 0.5, "mscale_all_dim": 0.0,
            "truncate": false
        }),
    ));
    let all = RopeScaling {
        factor: 2.0,
        // Where no original context is given, the model's own is meant.
        original_max_position_embeddings: 4096,
        beta_fast: 16.0,
        beta_slow: 2.0,
        attention_factor: Some(1.1),
        mscale: Some(0.5),
        mscale_all_dim: Some(0.0),
        truncate: false,
    };
    assert_eq!((inner.attention.rope_scaling, inner.attention.rope_theta), (Some(all), 1e6));
    assert_eq!(inner.max_position_embeddings, 8192);
}

#[test]
fn tensors_of_other_float_types_are_cast() {
    let norm = "model.language_model.layers.1.input_layernorm.weight";
    let proj = "model.language_model.layers.1.mlp.up_proj.weight";
    let layout =
        Fixture::raw().change(norm, "F32", &[HIDDEN]).change(proj, "F16", &[128, HIDDEN]).plan().unwrap();
    for (name, stored) in
        [("layers.1.input_layernorm.weight", Dtype::F32), ("layers.1.mlp.up_proj.weight", Dtype::F16)]
    {
        let plan = tensor(&layout, name);
        assert_eq!((plan.stored, plan.dtype), (stored, Dtype::BF16), "{name}");
    }
    // What the recurrence multiplies by itself stays precise.
    let a_log = "model.language_model.layers.1.linear_attn.A_log";
    for (stored, loaded) in [("F32", Dtype::F32), ("F16", Dtype::F32), ("BF16", Dtype::BF16)] {
        let layout = Fixture::raw().change(a_log, stored, &[4]).plan().unwrap();
        assert_eq!(tensor(&layout, "layers.1.linear_attn.A_log").dtype, loaded, "{stored}");
    }
}

#[test]
fn tables_of_positions_are_skipped() {
    let name = "model.language_model.layers.3.self_attn.rotary_emb.inv_freq";
    let layout = Fixture::raw().with(name, "F32", &[8]).plan().unwrap();
    let skipped = layout.skipped.iter().find(|skipped| skipped.name == name).unwrap();
    assert_eq!(skipped.reason, SkipReason::Derived);
}
