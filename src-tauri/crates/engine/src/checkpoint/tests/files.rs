//! Files that are not what they should be.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{SHARD_1, SHARD_2, assert_error, assert_unused, present};
use crate::checkpoint::fixture::{Fixture, Shard, plan, write_file};

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
    // The model does without its head, which is not said to be stripped.
    assert_unused(&plan(dir.path()).unwrap(), &[SHARD_2, "mtp.norm.weight", "missing", "Download"]);
    let head = Fixture::raw().split_head().1;
    let whole = Fixture::raw().without("mtp.").with_file("mtp.safetensors", head).write();
    write_index(whole.path(), json!({"mtp.norm.weight": "gone.safetensors", "norm.weight": SHARD_1}));
    let layout = plan(whole.path()).unwrap();
    assert_eq!(present(&layout).0, 15);
    assert!(layout.notes[0].to_string().contains("gone.safetensors"), "{:?}", layout.notes);
    let lost = "model.language_model.norm.weight";
    write_index(dir.path(), json!({"mtp.norm.weight": SHARD_2, lost: "gone.safetensors", "x": SHARD_1}));
    fs::remove_file(dir.path().join(SHARD_1)).unwrap();
    let rest = Fixture::raw().without(lost).write();
    fs::copy(rest.path().join(SHARD_1), dir.path().join(SHARD_1)).unwrap();
    assert_error(plan(dir.path()), "missing_file", &["gone.safetensors", lost]);
}

#[test]
fn an_index_is_not_needed_where_the_files_suffice() {
    let dir = Fixture::raw().write();
    write_index(dir.path(), json!({"mtp.norm.weight": "old.safetensors", "gone.weight": SHARD_1, "x": 3}));
    plan(dir.path()).unwrap();
    fs::write(dir.path().join("model.safetensors.index.json"), "{").unwrap();
    plan(dir.path()).unwrap();
    // Left over from the version before a conversion: it names no file that is there.
    write_index(dir.path(), json!({"model.layers.0.gone.weight": "model-00001-of-00026.safetensors"}));
    plan(dir.path()).unwrap();
    // A shard of nothing but pictures is not missed.
    write_index(dir.path(), json!({"norm.weight": SHARD_1, "model.visual.x": "model-00003.safetensors"}));
    plan(dir.path()).unwrap();
    fs::write(dir.path().join("._model.safetensors"), "what macOS leaves on foreign disks").unwrap();
    plan(dir.path()).unwrap();
}

#[test]
fn other_tensor_files_beside_a_model_are_left_out() {
    let stranger = Shard { tensors: [("lora_a".into(), ("F32".into(), vec![2]))].into(), ..Shard::default() };
    let other = "model-copy.safetensors";
    // Without an index, by their names; with one, whatever they are called.
    let adapted = Fixture::raw().with_file("adapters.safetensors", stranger).write();
    let twice = Fixture::raw().with_file(other, Fixture::raw().files[SHARD_1].clone()).write();
    assert_error(plan(twice.path()), "duplicate_tensor", &[other, SHARD_1]);
    write_index(twice.path(), json!({"mtp.norm.weight": SHARD_2, "norm.weight": SHARD_1}));
    for (dir, file) in [(&adapted, "adapters.safetensors"), (&twice, other)] {
        let layout = plan(dir.path()).unwrap();
        assert_eq!(present(&layout).0, 15);
        assert_eq!(layout.notes.len(), 1, "{:?}", layout.notes);
        assert!(
            layout.notes[0].to_string().contains(file) && layout.notes[0].to_string().contains("left out"),
            "{:?}",
            layout.notes
        );
    }
    fs::write(adapted.path().join("adapters.safetensors"), "damaged").unwrap();
    assert_eq!(present(&plan(adapted.path()).unwrap()).0, 15);
    // A head is found under any name, and a model whose files have no usual name is whole too.
    let (trunk, head) = Fixture::raw().split_head();
    let layout = trunk.clone().with_file("head.safetensors", head.clone()).plan().unwrap();
    assert_eq!((present(&layout).0, layout.notes.len()), (15, 0), "{:?}", layout.notes);
    let mut odd = trunk.with_file("head.safetensors", head);
    let shard = odd.files.remove(SHARD_1).unwrap();
    odd.files.remove(SHARD_2).unwrap();
    assert_eq!(present(&odd.with_file("weights.safetensors", shard).plan().unwrap()).0, 15);
}
