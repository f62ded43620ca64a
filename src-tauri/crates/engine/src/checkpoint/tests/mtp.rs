//! The MTP head: present, stripped, partial, undeclared, and how its norms are stored.

use foretoken_protocol::MtpState;
use serde_json::{Value, json};

use super::{SHARD_2, assert_error, present, tensor};
use crate::checkpoint::fixture::Fixture;
use crate::checkpoint::*;

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

#[test]
fn norms_are_not_guessed_where_origin_and_trunk_disagree() {
    let mut fixture = Fixture::converted(None);
    let mut trunk = fixture.files.pop_first().unwrap().1;
    trunk.format = None;
    trunk.tensors = std::mem::take(&mut trunk.tensors)
        .into_iter()
        .map(|(name, entry)| (name.trim_start_matches("language_model.").to_owned(), entry))
        .collect();
    let mut head = trunk.clone();
    trunk.tensors.retain(|name, _| !name.starts_with("mtp."));
    head.tensors.retain(|name, _| name.starts_with("mtp."));
    fixture.files = [("model-1.safetensors".into(), trunk), ("model-2.safetensors".into(), head)].into();
    assert_error(fixture.plan(), "norms_undecided", &["model-2.safetensors"]);
    fixture.files.values_mut().for_each(|shard| shard.format = Some("mlx"));
    assert_eq!(fixture.plan().unwrap().mtp_norms, Some(NormEncoding::Gamma));
}
