//! Models of other programs are found in their places, and nothing there changes.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use common::*;
use foretoken_models::{LibraryError, Origin, Places, find_models, import_folder};

fn write(folder: &Path, files: &Files) {
    fs::create_dir_all(folder).unwrap();
    for (name, data) in files {
        fs::write(folder.join(name), data).unwrap();
    }
}

/// A snapshot of links to blobs, as the Hugging Face libraries make it.
fn snapshot(repo: &Path, commit: &str, files: &Files) {
    let (blobs, snapshot) = (repo.join("blobs"), repo.join("snapshots").join(commit));
    fs::create_dir_all(&blobs).unwrap();
    fs::create_dir_all(&snapshot).unwrap();
    for (name, data) in files {
        let blob = format!("{commit}-{name}");
        fs::write(blobs.join(&blob), data).unwrap();
        symlink(Path::new("../../blobs").join(&blob), snapshot.join(name)).unwrap();
    }
}

#[test]
fn models_are_found_where_other_programs_keep_them() {
    let home = tempfile::tempdir().unwrap();
    let files = wanted(&model(2, 1000));
    let cache = home.path().join("hub");
    let whole = cache.join("models--Qwen--Qwen3.5-4B");
    snapshot(&whole, "aaaa", &files);
    snapshot(&whole, "bbbb", &files);
    fs::create_dir_all(whole.join("refs")).unwrap();
    fs::write(whole.join("refs/main"), "aaaa").unwrap();
    // Half fetched: one shard is a link to nothing.
    let half = cache.join("models--org--half");
    snapshot(&half, "cccc", &files);
    fs::remove_file(half.join("blobs/cccc-model-00002-of-00002.safetensors")).unwrap();
    fs::create_dir_all(cache.join("datasets--org--data/snapshots/dddd")).unwrap();
    let studio = home.path().join("studio");
    write(&studio.join("mlx-community/Qwen-4bit"), &files);
    fs::create_dir_all(studio.join("empty/nothing")).unwrap();
    let folders = home.path().join("folders");
    write(&folders.join("deep/down/mine"), &files);

    let before = read_folder(home.path());
    let places = Places {
        hugging_face: vec![cache, home.path().join("not-there")],
        lm_studio: vec![studio],
        folders: vec![folders],
    };
    let found = find_models(&places);
    let names: Vec<_> = found.iter().map(|model| (model.name.as_str(), model.origin)).collect();
    assert_eq!(
        names,
        [
            ("Qwen/Qwen3.5-4B", Origin::HuggingFace),
            ("mine", Origin::Folder),
            ("mlx-community/Qwen-4bit", Origin::LmStudio),
        ]
    );
    assert_eq!(found[0].commit.as_deref(), Some("aaaa"));
    assert!(found[0].path.ends_with("snapshots/aaaa") && found[0].disk_bytes > 300_000 && found[0].raw);
    assert_eq!(read_folder(home.path()), before, "something was changed");
}

#[test]
fn a_chosen_folder_is_a_model_or_says_why_not() {
    let home = tempfile::tempdir().unwrap();
    let mut files = wanted(&model(2, 1000));
    let folder = home.path().join("mine");
    write(&folder, &files);
    assert_eq!(import_folder(&folder).unwrap().name, "mine");
    let shard = "model-00002-of-00002.safetensors";
    fs::write(folder.join(shard), &files[shard][..900]).unwrap();
    let error = import_folder(&folder).unwrap_err();
    assert!(matches!(&error, LibraryError::Damaged { detail, .. } if detail.contains("00002")), "{error}");
    fs::remove_file(folder.join(shard)).unwrap();
    assert!(import_folder(&folder).unwrap_err().to_string().contains("is missing"));
    files.remove("config.json");
    let other = home.path().join("other");
    write(&other, &files);
    for path in [other, home.path().join("none")] {
        assert!(matches!(import_folder(&path), Err(LibraryError::NotAModel { .. })));
    }
}
