//! What a folder tells beside its tensors.

use std::fs;

use foretoken_protocol::Sampling;
use serde_json::{Value, json};

use super::assert_error;
use crate::checkpoint::*;

#[test]
fn the_files_of_metadata_are_known_by_their_place() {
    for path in ["config.json", "model.safetensors", "mtp/weights.safetensors", "optiq/mtp.safetensors"] {
        assert!(Metadata::wants(path), "{path}");
    }
    for path in
        [".x.safetensors", "../model.safetensors", "/model.safetensors", "a/config.json", "vocab.json"]
    {
        assert!(!Metadata::wants(path), "{path}");
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
