//! Whatever the bytes, there is an answer.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{SHARD_1, assert_error};
use crate::checkpoint::fixture::{EXPERT, EXPERTS, Fixture, HIDDEN, plan, write_file};
use crate::checkpoint::{Config, FileHeader, Files, Index, Layout, Metadata};
use crate::inspect::inspect;

#[path = "../../../fuzz/parts.rs"]
mod parts;

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

/// Every layout of a model with experts, and a quantized one without.
fn any_layout() -> impl Strategy<Value = Fixture> {
    let layouts: [fn() -> Fixture; 6] = [
        Fixture::moe,
        || Fixture::moe().one_by_one(""),
        || Fixture::converted_moe(None),
        || Fixture::converted_moe(Some(4)),
        Fixture::next,
        || Fixture::converted(Some(4)),
    ];
    prop::sample::select(layouts.to_vec()).prop_map(|layout| layout())
}

/// Sizes near those of the fixtures and far from them.
fn any_size() -> impl Strategy<Value = Value> {
    let near = [0, 1, 2, 3, EXPERTS, EXPERTS + 1, 31, 32, EXPERT, HIDDEN, 2 * HIDDEN, 256];
    let far = [1 << 14, 1 << 24, (1 << 24) + 1, 1 << 32, 1 << 40, u64::MAX];
    prop_oneof![
        6 => prop::sample::select(near.to_vec()).prop_map(Value::from),
        1 => prop::sample::select(far.to_vec()).prop_map(Value::from),
        1 => any_json(),
    ]
}

/// What a config may say of the quantization of a module.
fn any_entry() -> impl Strategy<Value = Value> {
    let mode = prop::sample::select(vec!["affine", "mxfp4", "mxfp8", "nvfp4", "int4"]);
    let (bits, group_size) = (0u64..10, prop::sample::select(vec![0u64, 16, 32, 64, 128, 1 << 40]));
    prop_oneof![
        4 => (bits, group_size, mode).prop_map(
            |(bits, group_size, mode)| json!({"bits": bits, "group_size": group_size, "mode": mode})
        ),
        1 => any::<bool>().prop_map(Value::from),
        1 => any_json(),
    ]
}

/// What a tool may say of a head, rightly and wrongly.
fn any_declaration() -> impl Strategy<Value = Value> {
    let keys = ["mtplx_mtp_norm_encoding", "mtp_norm_encoding", "rmsnorm_weight_format", "model_type"];
    let keys = [&keys[..], &["mtplx_mtp_contract", "mtp_hidden_state_mode", "text_config"]].concat();
    let words = ["delta", "gamma", "mlx_gamma", "post_norm", "pre_norm", "qwen3_5_mtp", ""];
    let value = prop_oneof![
        4 => prop::sample::select(words.to_vec()).prop_map(Value::from),
        1 => prop::sample::select(words.to_vec()).prop_map(|word| json!({"base_hidden_variant": word})),
        1 => any_json(),
    ];
    prop::collection::hash_map(prop::sample::select(keys), value, 0..3)
        .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Paths, most of which a config must not name.
fn any_path() -> impl Strategy<Value = String> {
    let parts = [
        "..",
        ".",
        "",
        "mtp",
        "head",
        "model",
        "weights.safetensors",
        "outside.safetensors",
        "config.json",
        "out",
        "~",
        "\\..",
        "C:",
        "\0",
        "é",
    ];
    let plain =
        prop::collection::vec(prop::sample::select(parts.to_vec()), 1..5).prop_map(|parts| parts.join("/"));
    prop_oneof![4 => plain, 1 => Just("head/weights.safetensors".to_owned()), 1 => any::<String>()]
}

/// Plans a folder; whether it can be. Its files are as long as their headers say.
fn check(dir: &Path) -> bool {
    Metadata::read(dir, Files::Whole).is_ok_and(|metadata| parts::check(&metadata))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_sizes_of_experts_and_projections_plan_soundly(
        mut fixture in any_layout(), changes in prop::collection::vec((any::<prop::sample::Index>(), any_size()), 0..3),
    ) {
        let nested = fixture.config.get("text_config").is_some();
        let config = if nested { &mut fixture.config["text_config"] } else { &mut fixture.config };
        let keys: Vec<String> = config.as_object().unwrap().keys().cloned().collect();
        let changed = !changes.is_empty();
        for (key, value) in changes {
            config[&keys[key.index(keys.len())]] = value;
        }
        let planned = check(fixture.write().path());
        prop_assert!(planned || changed);
    }

    #[test]
    fn any_entries_of_quantization_plan_soundly(
        mut fixture in any_layout(), default in prop::option::of(any_entry()),
        entries in prop::collection::vec((any::<prop::sample::Index>(), any_entry()), 0..4),
    ) {
        let names = fixture.files.values().flat_map(|file| file.tensors.keys());
        let names: Vec<String> = names.map(|name| name.trim_end_matches(".weight").to_owned()).collect();
        if let Some(default) = default {
            fixture.config["quantization"] = default;
        }
        if fixture.config["quantization"].is_object() {
            for (name, entry) in entries {
                fixture.config["quantization"][&names[name.index(names.len())]] = entry;
            }
        }
        check(fixture.write().path());
    }

    #[test]
    fn any_declarations_of_a_head_plan_soundly(
        own in any_declaration(), of_model in any_declaration(), manifest in prop::option::of(any_json()),
        folder in prop::sample::select(vec!["mtp", "optiq", "head"]), bits in prop::option::of(Just(4)),
    ) {
        let (mut trunk, mut head) = Fixture::converted(bits).split_head();
        if bits.is_none() {
            head = head.renamed("language_model.mtp.", "", Some("mlx"));
        }
        let place = format!("{folder}/{}", if folder == "optiq" { "mtp.safetensors" } else { "weights.safetensors" });
        for (key, value) in of_model.as_object().unwrap() {
            trunk = if key == "text_config" { trunk } else { trunk.set(key, value.clone()) };
        }
        trunk = trunk.set("mlx_lm_extra_tensors", json!({"mtp_file": &place})).with_file(&place, head);
        trunk.json.insert(format!("{folder}/config.json"), own);
        trunk.json.extend(manifest.map(|manifest| (format!("{folder}/manifest.json"), manifest)));
        check(trunk.write().path());
    }

    /// A folder beside the model's has a whole head, which no path may reach.
    #[test]
    fn any_path_of_a_head_stays_in_the_folder(path in any_path(), absolute: bool) {
        let outer = tempfile::tempdir().unwrap();
        let model = outer.path().join("model");
        let path = if absolute { format!("{}/{path}", outer.path().display()) } else { path };
        let (trunk, head) = Fixture::converted(None).split_head();
        let trunk = trunk.set("mlx_lm_extra_tensors", json!({"mtp_file": &path}));
        let mut beside = trunk.clone();
        beside.files = [("outside.safetensors".to_owned(), head.clone())].into();
        fs::rename(beside.write().keep(), outer.path().join("out")).unwrap();
        fs::rename(trunk.with_file("head/weights.safetensors", head).write().keep(), &model).unwrap();
        fs::copy(outer.path().join("out/outside.safetensors"), outer.path().join("outside.safetensors")).unwrap();
        let planned = check(&model);
        let inside = Path::new("head/weights.safetensors");
        // A file with "/." behind it is the same path and no file.
        if Path::new(&path) == inside && model.join(&path).is_file() {
            prop_assert!(plan(&model).unwrap().has_mtp());
        } else if planned {
            prop_assert!(!plan(&model).unwrap().has_mtp(), "{path} reached a head");
        }
    }

    #[test]
    fn any_config_value_is_taken_or_refused(
        key in any::<prop::sample::Index>(), value in any_json(), nested: bool, experts: bool,
    ) {
        let mut fixture = if experts { Fixture::moe().one_by_one("mtp.") } else { Fixture::raw() };
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

    /// Whatever is beside a model, the model stays.
    #[test]
    fn any_head_beside_the_model_leaves_it(bytes in prop::collection::vec(any::<u8>(), 0..200), own in any_json()) {
        let (mut trunk, head) = Fixture::converted(None).split_head();
        trunk = trunk.with_file("mtp/weights.safetensors", head);
        trunk.json = [("mtp/config.json".to_owned(), own)].into();
        let dir = trunk.write();
        prop_assert!(plan(dir.path()).is_ok());
        fs::write(dir.path().join("mtp/weights.safetensors"), &bytes).unwrap();
        let layout = plan(dir.path()).unwrap();
        prop_assert!(!layout.has_mtp() && layout.notes.len() == 1);
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

#[test]
fn names_that_lead_out_of_the_folder_are_never_followed() {
    let dir = Fixture::raw().write();
    for shard in ["../config.json", "/etc/passwd", "/dev/zero", "a/../../x", "\0"] {
        let index = dir.path().join("model.safetensors.index.json");
        let map = json!({"weight_map": {"model.language_model.norm.weight": SHARD_1, "gone.weight": shard}});
        fs::write(&index, map.to_string()).unwrap();
        assert_error(plan(dir.path()), "missing_file", &["gone.weight"]);
        // One that names no file of the model is of another one, and counts for nothing.
        fs::write(&index, json!({"weight_map": {"gone.weight": shard}}).to_string()).unwrap();
        let layout = plan(dir.path()).unwrap();
        let sources = layout.tensors.iter().flat_map(|tensor| &tensor.sources);
        assert!(sources.into_iter().all(|source| source.file.parent() == Some(dir.path())));
    }
}

#[cfg(unix)]
#[test]
fn links_that_go_in_circles_or_to_devices_are_refused() {
    use std::os::unix::fs::symlink;
    let dir = Fixture::raw().write();
    let path = dir.path().join(SHARD_1);
    for (target, code) in [(SHARD_1, "io"), ("/dev/zero", "header_unreadable"), ("/", "header_unreadable")] {
        fs::remove_file(&path).unwrap();
        symlink(target, &path).unwrap();
        assert_error(plan(dir.path()), code, &[SHARD_1]);
    }
}

#[test]
fn deep_and_long_texts_are_refused() {
    let dir = Fixture::raw().write();
    let config = dir.path().join("config.json");
    fs::write(&config, format!("{{\"a\":{}", "[".repeat(100_000))).unwrap();
    assert_error(plan(dir.path()), "config_unreadable", &["config.json"]);
    fs::write(&config, format!("{{\"a\":\"{}\"}}", "x".repeat(5 << 20))).unwrap();
    assert_error(plan(dir.path()), "config_unreadable", &["config.json", "longer than"]);
}

#[test]
fn what_the_fuzzer_began_with_has_an_answer() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/checkpoint");
    let mut planned = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let metadata: Metadata = parts::metadata(&fs::read(entry.unwrap().path()).unwrap());
        planned += usize::from(parts::check(&metadata));
    }
    assert!(planned >= 2, "seeds that cannot be planned lead nowhere");
}
