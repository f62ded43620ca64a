use std::fs;
use std::path::Path;

use foretoken_protocol::{ErrorReport, MtpState, Sampling};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixture::{Fixture, HIDDEN, demo, plan, write_file};
use super::*;

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

#[track_caller]
fn present(layout: &Layout) -> (u32, &str, bool) {
    match &layout.mtp {
        MtpState::Present { tensors, format, declared } => (*tensors, format, *declared),
        other => panic!("{other:?}"),
    }
}

// What loads.

#[test]
fn the_demo_checkpoint_is_planned_completely() {
    let layout = plan(&demo()).unwrap();
    assert_eq!(layout.tensors.len(), 1 + 3 * 14 + 11 + 1 + 15);
    assert_eq!(layout.compute, FloatType::Bfloat16);
    assert_eq!(layout.format(), "bfloat16");
    assert_eq!(present(&layout), (15, "bfloat16", true));
    assert_eq!((layout.trunk_norms, layout.mtp_norms), (NormEncoding::Delta, Some(NormEncoding::Delta)));
    assert!(layout.notes.is_empty(), "{:?}", layout.notes);
    assert_eq!(layout.weight_bytes(), 2 * layout.parameters());
    let norm = tensor(&layout, "layers.0.input_layernorm.weight");
    assert_eq!(norm.transform, Transform::AddOne);
    assert_eq!(norm.source, "model.language_model.layers.0.input_layernorm.weight");
    assert_eq!(tensor(&layout, "layers.0.linear_attn.norm.weight").transform, Transform::None);
    assert_eq!(tensor(&layout, "layers.0.linear_attn.conv1d.weight").transform, Transform::ConvTranspose);
    assert_eq!(layout.kind("layers.3.self_attn.q_proj"), Some(WeightKind::Dense));
    assert_eq!(layout.kind("lm_head"), None);
}

#[test]
fn raw_shards_load_without_their_vision_tower() {
    let layout = Fixture::raw().plan().unwrap();
    assert_eq!(layout.by_file().count(), 2);
    assert_eq!(layout.by_file().map(|(_, plans)| plans.len()).sum::<usize>(), layout.tensors.len());
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
    assert_eq!(tensor(&layout, "lm_head.weight").source, "lm_head.weight");
    let tied = Fixture::raw().plan().unwrap();
    assert_eq!(layout.parameters() - tied.parameters(), 256 * HIDDEN as u64);
    assert_error(fixture.without("lm_head").plan(), "missing_tensor", &["lm_head.weight"]);
}

#[test]
fn a_head_beside_a_tied_embedding_is_left_out() {
    let layout = Fixture::raw().with("lm_head.weight", "BF16", &[256, HIDDEN]).plan().unwrap();
    assert_eq!(layout.skipped[0].reason, SkipReason::TiedHead);
    assert_eq!(layout.notes.len(), 1);
    assert!(layout.notes[0].contains("tied"), "{:?}", layout.notes);
}

#[test]
fn the_hidden_that_the_head_reads_can_be_declared() {
    let mode = |fixture: Fixture| {
        Config::parse(fixture.config.as_object().unwrap()).map(|config| config.hidden_mode)
    };
    assert_eq!(mode(Fixture::raw()).unwrap(), HiddenMode::PostNorm);
    assert_eq!(mode(Fixture::raw().set("mtp_hidden_state_mode", "pre_norm")).unwrap(), HiddenMode::PreNorm);
    let mut contract = Fixture::raw().set("mtp_hidden_state_mode", "pre_norm");
    contract.config["mtplx_mtp_contract"] = json!({"base_hidden_variant": "post_norm"});
    assert_eq!(mode(contract).unwrap(), HiddenMode::PostNorm);
    assert_error(mode(Fixture::raw().set("mtp_hidden_state_mode", "mid")), "config_invalid", &["mid"]);
}

// The MTP head.

#[test]
fn a_stripped_head_is_told_and_the_rest_loads() {
    let layout = Fixture::converted(Some(4)).without("mtp.").plan().unwrap();
    assert_eq!((&layout.mtp, layout.has_mtp()), (&MtpState::Stripped, false));
    assert!(layout.notes[0].contains("Convert the source"), "{:?}", layout.notes);
    let absent = Fixture::raw().without("mtp.").set("mtp_num_hidden_layers", 0).plan().unwrap();
    assert_eq!(absent.mtp, MtpState::Absent);
    assert!(absent.notes.is_empty());
}

#[test]
fn half_a_head_is_an_error() {
    for name in ["mtp.pre_fc_norm_hidden.weight", "mtp.layers.0.mlp.down_proj.weight", "mtp.fc.weight"] {
        assert_error(Fixture::raw().without(name).plan(), "missing_tensor", &[name]);
    }
}

#[test]
fn an_undeclared_head_is_used_with_a_note() {
    let layout = Fixture::raw().set("mtp_num_hidden_layers", Value::Null).plan().unwrap();
    assert_eq!(present(&layout), (15, "bfloat16", false));
    assert!(layout.notes[0].contains("not declare"), "{:?}", layout.notes);
}

#[test]
fn heads_that_cannot_be_run_are_refused() {
    let two = Fixture::raw().set("mtp_num_hidden_layers", 2);
    assert_error(two.plan(), "unsupported_config", &["mtp_num_hidden_layers", "2"]);
    assert_eq!(two.without("mtp.").plan().unwrap().mtp, MtpState::Stripped);
    let mut sidecar = Fixture::converted(None).without("mtp.");
    sidecar.files.insert("mtp.safetensors".into(), Fixture::raw().files.remove(SHARD_2).unwrap());
    assert_error(sidecar.plan(), "not_supported_yet", &["mtp.safetensors"]);
    let mut named = Fixture::converted(None).without("mtp.");
    named.config["mlx_lm_extra_tensors"] = json!({"mtp_file": "extra/head.safetensors"});
    assert_error(named.plan(), "not_supported_yet", &["extra/head.safetensors"]);
}

/// A converted trunk with a head of its own file: raw and declared origins decide, silence refuses.
#[test]
fn norms_of_the_head_are_decided_apart_from_the_trunk() {
    let mut fixture = Fixture::converted(None).without("mtp.");
    let mut head = Fixture::raw().files.remove(SHARD_2).unwrap();
    fixture.files.insert("model-mtp.safetensors".into(), head.clone());
    let layout = fixture.plan().unwrap();
    assert_eq!((layout.trunk_norms, layout.mtp_norms), (NormEncoding::Gamma, Some(NormEncoding::Delta)));
    assert_eq!(tensor(&layout, "mtp.norm.weight").transform, Transform::AddOne);
    assert_eq!(tensor(&layout, "norm.weight").transform, Transform::None);

    head.format = Some("mlx");
    fixture.files.insert("model-mtp.safetensors".into(), head);
    assert_error(fixture.plan(), "norms_undecided", &["model-mtp.safetensors"]);
    fixture.config["mtp_norm_encoding"] = json!("gamma");
    assert_eq!(fixture.plan().unwrap().mtp_norms, Some(NormEncoding::Gamma));
    fixture.config["mtp_norm_encoding"] = json!("delta");
    assert_eq!(fixture.plan().unwrap().mtp_norms, Some(NormEncoding::Delta));
    fixture.config["mtp_norm_encoding"] = json!("maybe");
    assert_error(fixture.plan(), "config_invalid", &["mtp_norm_encoding", "maybe"]);
}

#[test]
fn a_raw_trunk_with_a_converted_head_is_told_apart_too() {
    let mut fixture = Fixture::raw().without("mtp.");
    let mut head = Fixture::converted(None);
    let mut shard = head.files.pop_first().unwrap().1;
    shard.tensors.retain(|name, _| name.contains("mtp."));
    fixture.files.insert("model-mtp.safetensors".into(), shard);
    let layout = fixture.plan().unwrap();
    assert_eq!((layout.trunk_norms, layout.mtp_norms), (NormEncoding::Delta, Some(NormEncoding::Gamma)));
}

#[test]
fn a_converted_file_without_metadata_is_recognised_by_its_convolutions() {
    let mut fixture = Fixture::converted(None);
    fixture.files.values_mut().for_each(|shard| shard.format = None);
    let layout = fixture.plan().unwrap();
    assert_eq!((layout.trunk_norms, layout.mtp_norms), (NormEncoding::Gamma, Some(NormEncoding::Gamma)));
}

// Tensors that do not fit the config.

#[test]
fn every_missing_tensor_is_named() {
    let whole = Fixture::raw();
    let layout = whole.plan().unwrap();
    for planned in layout.tensors.iter().filter(|tensor| !tensor.name.starts_with("mtp.")) {
        assert_error(whole.clone().without(&planned.source).plan(), "missing_tensor", &[&planned.name]);
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
        "mtp.layers.1.mlp.up_proj.weight",
        "layers.0.mlp.up_proj.weight",
        "model.audio.weight",
    ] {
        let fixture = Fixture::raw().with(name, "BF16", &[4]);
        assert_error(fixture.plan(), "unexpected_tensor", &[name, SHARD_1]);
    }
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
        ("mtp.fc.weight", &[64, 64], "2 × hidden_size"),
    ] {
        let dtype = if name.ends_with("A_log") { "F32" } else { "BF16" };
        let fixture = Fixture::raw().change(name, dtype, shape);
        assert_error(fixture.plan(), "misshapen_tensor", &[name, key, &format!("{shape:?}")]);
    }
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
    for dtype in ["I32", "F16", "F32"] {
        assert_error(
            Fixture::raw().change(norm, dtype, &[HIDDEN]).plan(),
            "wrong_dtype",
            &[norm, dtype, "BF16"],
        );
    }
    let embed = "model.language_model.embed_tokens.weight";
    assert_error(Fixture::raw().change(embed, "I8", &[256, HIDDEN]).plan(), "wrong_dtype", &[embed, "I8"]);
    let a_log = "model.language_model.layers.1.linear_attn.A_log";
    assert_error(Fixture::raw().change(a_log, "F16", &[4]).plan(), "wrong_dtype", &[a_log, "BF16 or F32"]);
    let scales = "language_model.mtp.fc.scales";
    assert_error(
        Fixture::converted(Some(4)).change(scales, "F32", &[HIDDEN, 2]).plan(),
        "wrong_dtype",
        &[scales],
    );
    let packed = "language_model.mtp.fc.weight";
    assert_error(
        Fixture::converted(Some(4)).change(packed, "I32", &[HIDDEN, 16]).plan(),
        "wrong_dtype",
        &["U32"],
    );
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
    let mut silent = Fixture::converted(Some(4));
    silent.config.as_object_mut().unwrap().remove("quantization");
    silent.config.as_object_mut().unwrap().remove("quantization_config");
    assert_error(silent.plan(), "config_contradicts_tensors", &["embed_tokens is quantized"]);
    let mut denied = Fixture::converted(Some(4));
    denied.config["quantization"]["language_model.mtp.fc"] = json!(false);
    assert_error(denied.plan(), "config_contradicts_tensors", &["mtp.fc is quantized"]);
}

#[test]
fn one_tensor_under_two_names_is_refused() {
    let fixture = Fixture::raw().with("model.norm.weight", "BF16", &[HIDDEN]);
    assert_error(fixture.plan(), "duplicate_tensor", &["norm.weight", SHARD_1]);
    let mut twice = Fixture::raw();
    twice.files.insert("model-copy.safetensors".into(), twice.files[SHARD_2].clone());
    assert_error(twice.plan(), "duplicate_tensor", &["model-copy.safetensors", SHARD_2]);
}

// Files that are not what they should be.

#[test]
fn what_is_not_a_model_folder_is_told() {
    let dir = tempfile::tempdir().unwrap();
    assert_error(plan(&dir.path().join("gone")), "not_a_model_folder", &["gone", "does not exist"]);
    assert_error(plan(dir.path()), "not_a_model_folder", &["has no config.json"]);
    let file = dir.path().join("config.json");
    fs::write(&file, Fixture::raw().config.to_string()).unwrap();
    assert_error(plan(dir.path()), "not_a_model_folder", &["has no .safetensors file"]);
    assert_error(plan(&file), "not_a_model_folder", &["is a file"]);
    fs::write(&file, "{").unwrap();
    assert_error(plan(dir.path()), "config_unreadable", &["config.json"]);
    fs::write(&file, "[]").unwrap();
    assert_error(plan(dir.path()), "config_unreadable", &["not a JSON object"]);
    fs::write(&file, [0xff, 0xfe, 0x00]).unwrap();
    assert_error(plan(dir.path()), "config_unreadable", &["config.json"]);
}

#[test]
fn a_truncated_file_says_how_long_it_should_be() {
    let dir = Fixture::raw().write();
    let path = dir.path().join(SHARD_1);
    let whole = fs::metadata(&path).unwrap().len();
    let cut = |length| fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
    cut(whole + 1);
    assert_error(plan(dir.path()), "header_unreadable", &[SHARD_1, &whole.to_string()]);
    cut(whole - 1);
    assert_error(plan(dir.path()), "header_unreadable", &[&(whole - 1).to_string(), &whole.to_string()]);
    cut(100);
    assert_error(plan(dir.path()), "header_unreadable", &[SHARD_1, "100 bytes"]);
    cut(7);
    assert_error(plan(dir.path()), "header_unreadable", &[SHARD_1, "7 bytes"]);
    cut(0);
    assert_error(plan(dir.path()), "header_unreadable", &[SHARD_1, "0 bytes"]);
}

#[test]
fn headers_that_lie_are_refused() {
    let dir = Fixture::raw().write();
    let path = dir.path().join(SHARD_1);
    for length in [u64::MAX, 1 << 40, 100_000_001] {
        fs::write(&path, [&length.to_le_bytes()[..], b"{}"].concat()).unwrap();
        assert_error(plan(dir.path()), "header_unreadable", &[SHARD_1, &length.to_string()]);
    }
    fs::write(&path, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n").unwrap();
    assert_error(plan(dir.path()), "header_unreadable", &["Git LFS pointer"]);
    let entry =
        |shape: Value, offsets: Value| json!({"dtype": "BF16", "shape": shape, "data_offsets": offsets});
    let max = u64::MAX;
    for header in [
        json!({"a": entry(json!([4]), json!([0, 8])), "b": entry(json!([4]), json!([4, 12]))}),
        json!({"a": entry(json!([4]), json!([8, 0]))}),
        json!({"a": entry(json!([4]), json!([0, 6]))}),
        json!({"a": entry(json!([4]), json!([4, 12]))}),
        json!({"a": entry(json!([max, max]), json!([0, 8]))}),
        json!({"a": entry(json!([max / 2]), json!([0, max]))}),
        json!({"a": entry(json!([0]), json!([max, max]))}),
        json!({"a": entry(json!([-1]), json!([0, 8]))}),
        json!({"a": {"dtype": "X4", "shape": [4], "data_offsets": [0, 8]}}),
        json!({"a": 1}),
        json!([]),
    ] {
        write_file(&path, header.to_string().as_bytes(), 16);
        assert_error(plan(dir.path()), "header_unreadable", &[SHARD_1]);
    }
    write_file(&path, b"\xff\xff", 0);
    assert_error(plan(dir.path()), "header_unreadable", &[SHARD_1]);
}

fn write_index(dir: &Path, map: Value) {
    let index = json!({"metadata": {"total_size": 0}, "weight_map": map});
    fs::write(dir.join("model.safetensors.index.json"), index.to_string()).unwrap();
}

#[test]
fn a_shard_that_the_index_names_must_be_there() {
    let dir = Fixture::raw().write();
    write_index(dir.path(), json!({"mtp.norm.weight": SHARD_2, "norm.weight": SHARD_1}));
    plan(dir.path()).unwrap();
    fs::remove_file(dir.path().join(SHARD_2)).unwrap();
    assert_error(plan(dir.path()), "missing_file", &[SHARD_2, "mtp.norm.weight"]);
}

#[test]
fn an_index_is_not_needed_where_the_files_suffice() {
    let dir = Fixture::raw().write();
    write_index(dir.path(), json!({"mtp.norm.weight": "old.safetensors", "gone.weight": SHARD_1, "x": 3}));
    plan(dir.path()).unwrap();
    fs::write(dir.path().join("model.safetensors.index.json"), "{").unwrap();
    plan(dir.path()).unwrap();
    fs::write(dir.path().join("._model.safetensors"), "what macOS leaves on foreign disks").unwrap();
    plan(dir.path()).unwrap();
}

// Configs that no model can have, or that are not supported.

#[test]
fn impossible_configs_name_the_key_and_the_value() {
    for (key, value) in [
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
        ("rope_parameters", json!([1])),
        ("rope_parameters", json!({"rope_theta": 0})),
        ("rope_parameters", json!({"rope_theta": 1e7, "partial_rotary_factor": 0.05})),
        ("rope_parameters", json!({"rope_theta": 1e7, "partial_rotary_factor": 2})),
        ("rope_parameters", Value::Null),
        ("hidden_size", Value::Null),
        ("linear_key_head_dim", Value::Null),
        ("max_position_embeddings", Value::Null),
        ("quantization", json!(4)),
        ("quantization", json!({"bits": 7})),
        ("quantization", json!({"bits": 4, "group_size": 0})),
        ("quantization", json!({"mode": "ternary"})),
    ] {
        let fixture = Fixture::raw().set(key, value.clone());
        let result = Config::parse(fixture.config.as_object().unwrap());
        let error = result.expect_err(&format!("{key} {value}"));
        assert_eq!(error.code(), "config_invalid", "{key} {value}: {error}");
    }
    let error = |key, value: Value| Config::parse(Fixture::raw().set(key, value).config.as_object().unwrap());
    assert_error(error("hidden_size", json!(-64)), "config_invalid", &["hidden_size", "-64"]);
    assert_error(error("hidden_size", Value::Null), "config_invalid", &["hidden_size", "nothing"]);
}

#[test]
fn variations_that_are_not_computed_are_refused() {
    for (key, value) in [
        ("attn_output_gate", json!(false)),
        ("attention_bias", json!(true)),
        ("mtp_use_dedicated_embeddings", json!(true)),
        ("hidden_act", json!("gelu")),
        ("output_gate_type", json!("sigmoid")),
        ("rope_parameters", json!({"rope_type": "yarn", "rope_theta": 1e7})),
        ("rope_scaling", json!({"type": "linear", "factor": 2})),
        ("quantization_config", json!({"quant_method": "fp8"})),
    ] {
        assert_error(Fixture::raw().set(key, value).plan(), "unsupported_config", &[key]);
    }
    assert_error(Fixture::raw().set("num_experts", 8).plan(), "not_supported_yet", &["num_experts 8"]);
    let mut fixture = Fixture::converted(Some(4));
    fixture.config["quantization"] = json!({"mode": "mxfp4"});
    assert_error(fixture.plan(), "not_supported_yet", &["mxfp4", "embed_tokens"]);
}

#[test]
fn other_architectures_are_named() {
    let of = |model_type: Value| {
        let mut fixture = Fixture::raw();
        fixture.config["model_type"] = model_type;
        fixture.plan()
    };
    assert_error(of(json!("llama")), "unsupported_architecture", &["llama", "qwen3_5"]);
    for later in ["qwen3_5_moe", "qwen3_next", "qwen3_5_mtp"] {
        assert_error(of(json!(later)), "not_supported_yet", &[later]);
    }
    assert_error(of(json!(7)), "config_invalid", &["model_type", "7"]);
    assert!(of(Value::Null).is_ok(), "the text config names the type too");
}

// What people are told.

#[test]
fn the_demo_checkpoint_is_inspected() {
    let inspection = inspect(&demo()).unwrap();
    assert_eq!((inspection.name.as_str(), inspection.architecture.as_str()), ("demo-model", "qwen3_5"));
    assert_eq!((inspection.linear_attention_layers, inspection.full_attention_layers), (3, 1));
    let memory = &inspection.memory;
    assert_eq!(memory.kv_per_token, 2 * 2 * 64 * 2);
    assert_eq!(memory.mtp_kv_per_token, memory.kv_per_token);
    assert_eq!(memory.recurrent_state, 3 * (8 * 32 * 32 * 4 + 3 * 512 * 2));
    assert_eq!(memory.total, memory.weights + memory.recurrent_state + 4096 * 2 * memory.kv_per_token);
    let text = inspection.to_string();
    for part in ["demo-model", "3 linear attention, 1 full attention", "present, 15 tensors, bfloat16"] {
        assert!(text.contains(part), "{text}");
    }
    let json = serde_json::to_value(&inspection).unwrap();
    assert_eq!(json["mtp"]["state"], "present");
}

#[test]
fn an_inspection_counts_what_is_not_loaded() {
    let dir = Fixture::raw().with("lm_head.weight", "BF16", &[256, HIDDEN]).write();
    let inspection = inspect(dir.path()).unwrap();
    let groups: Vec<_> =
        inspection.skipped.iter().map(|group| (group.prefix.as_str(), group.tensors)).collect();
    assert_eq!(groups, [("lm_head", 1), ("model.visual", 2)]);
    assert!(inspection.to_string().contains("model.visual: 2 tensors, 128 B"), "{inspection}");
}

#[test]
fn a_loaded_model_is_described() {
    let (config, index) = (Config::read(&demo()).unwrap(), Index::read(&demo()).unwrap());
    let layout = Layout::plan(&config, &index).unwrap();
    let info = model_info(&demo(), &config, &layout, true).unwrap();
    assert_eq!((info.name.as_str(), info.context_length, info.thinking), ("demo-model", 4096, true));
    assert_eq!((info.defaults.temperature, info.defaults.top_p, info.defaults.top_k), (0.7, 0.9, 20));
}

#[test]
fn models_are_named_by_their_folder() {
    for (path, name) in [
        ("/models/Qwen3.5-4B", "Qwen3.5-4B"),
        ("/models/Qwen3.5-4B/", "Qwen3.5-4B"),
        ("/resources/demo-model/checkpoint", "demo-model"),
        ("/hub/models--Qwen--Qwen3.5-4B/snapshots/0123abc", "Qwen3.5-4B"),
        ("/checkpoint", "checkpoint"),
        ("/", "model"),
    ] {
        assert_eq!(model_name(Path::new(path)), name, "{path}");
    }
}

#[test]
fn sampling_defaults_follow_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("generation_config.json");
    let missing = sampling_defaults(dir.path()).unwrap();
    assert_eq!((missing.temperature, missing.top_p, missing.top_k), (0.7, 0.8, 20));
    let read = |value: Value| {
        fs::write(&path, value.to_string()).unwrap();
        sampling_defaults(dir.path())
    };
    let greedy = Sampling::default();
    assert_eq!(read(json!({"temperature": 0.6})).unwrap(), greedy);
    assert_eq!(read(json!({"do_sample": false, "temperature": 0.6})).unwrap(), greedy);
    let sampled = read(json!({"do_sample": true, "temperature": 0.6, "top_k": 20, "min_p": 0.05})).unwrap();
    assert_eq!(sampled, Sampling { temperature: 0.6, top_k: 20, min_p: 0.05, ..greedy });
    assert_error(read(json!({"do_sample": true, "top_p": 2})), "config_invalid", &["top_p", "2"]);
    assert_error(read(json!([])), "config_unreadable", &["generation_config.json"]);
}

// Whatever the bytes, there is an answer.

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0u64..70).prop_map(Value::from),
        "[a-z_0-9.]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z_]{1,12}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_config_value_is_taken_or_refused(key in any::<prop::sample::Index>(), value in any_json(), nested: bool) {
        let mut fixture = Fixture::raw();
        let keys: Vec<String> = fixture.config["text_config"].as_object().unwrap().keys().cloned().collect();
        if nested {
            fixture.config["quantization"] = value;
        } else {
            fixture = fixture.set(&keys[key.index(keys.len())], value);
        }
        let _ = fixture.plan();
    }

    #[test]
    fn any_bytes_are_a_header_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), framed: bool) {
        let dir = Fixture::raw().write();
        let path = dir.path().join(SHARD_1);
        if framed { write_file(&path, &bytes, 16) } else { fs::write(&path, &bytes).unwrap() }
        prop_assert!(plan(dir.path()).is_err());
    }

    #[test]
    fn any_flipped_byte_of_a_header_is_survived(at in any::<prop::sample::Index>(), byte: u8) {
        let fixture = Fixture::raw();
        let dir = fixture.write();
        let (header, data) = fixture.files[SHARD_1].header();
        let mut header = header.to_string().into_bytes();
        let at = at.index(header.len());
        header[at] = byte;
        write_file(&dir.path().join(SHARD_1), &header, data);
        let _ = plan(dir.path());
    }

    #[test]
    fn any_tensor_entry_is_survived(shape in prop::collection::vec(any::<u64>(), 0..4), start: u64, end: u64) {
        let fixture = Fixture::raw();
        let dir = fixture.write();
        let (mut header, data) = fixture.files[SHARD_1].header();
        header["model.language_model.norm.weight"] = json!({"dtype": "BF16", "shape": shape, "data_offsets": [start, end]});
        write_file(&dir.path().join(SHARD_1), header.to_string().as_bytes(), data);
        prop_assert!(plan(dir.path()).is_err());
    }
}
