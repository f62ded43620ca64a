//! Whatever the bytes, there is an answer.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{SHARD_1, assert_error};
use crate::checkpoint::fixture::{Fixture, plan, write_file};
use crate::checkpoint::{FileHeader, Metadata, inspect};

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

#[test]
fn names_that_lead_out_of_the_folder_are_never_followed() {
    let dir = Fixture::raw().write();
    for shard in ["../config.json", "/etc/passwd", "/dev/zero", "a/../../x", "\0"] {
        let map = json!({"weight_map": {"gone.weight": shard}});
        fs::write(dir.path().join("model.safetensors.index.json"), map.to_string()).unwrap();
        assert_error(plan(dir.path()), "missing_file", &["gone.weight"]);
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
        planned += usize::from(inspect(&metadata, None).is_ok());
    }
    assert!(planned >= 2, "seeds that cannot be planned lead nowhere");
}
