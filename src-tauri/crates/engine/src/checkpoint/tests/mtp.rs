//! The MTP head: present, stripped, partial, undeclared, and how its norms are stored.

use foretoken_protocol::MtpState;
use serde_json::{Value, json};

use super::{assert_unused, present, tensor};
use crate::checkpoint::fixture::Fixture;
use crate::checkpoint::*;

#[test]
fn a_stripped_head_is_told_and_the_rest_loads() {
    let layout = Fixture::converted(Some(4)).without("mtp.").plan().unwrap();
    assert_eq!((&layout.mtp, layout.has_mtp()), (&MtpState::Stripped, false));
    assert!(layout.notes[0].to_string().contains("Convert the source"), "{:?}", layout.notes);
    let absent = Fixture::raw().without("mtp.").set("mtp_num_hidden_layers", 0).plan().unwrap();
    assert_eq!(absent.mtp, MtpState::Absent);
    assert!(absent.notes.is_empty());
}

#[test]
fn half_a_head_is_not_used() {
    for name in ["mtp.pre_fc_norm_hidden.weight", "mtp.layers.0.mlp.down_proj.weight", "mtp.fc.weight"] {
        let layout = Fixture::raw().without(name).plan().unwrap();
        assert_unused(&layout, &[name, "missing"]);
        assert_eq!(layout.notes.len(), 1, "{:?}", layout.notes);
    }
    // Nor one with a tensor twice.
    let twice = Fixture::raw().with("model.mtp.norm.weight", "BF16", &[64]).plan().unwrap();
    assert_unused(&twice, &["mtp.norm.weight", "again"]);
}

#[test]
fn an_undeclared_head_is_used_with_a_note() {
    let layout = Fixture::raw().set("mtp_num_hidden_layers", Value::Null).plan().unwrap();
    assert_eq!(present(&layout), (15, "bfloat16", false));
    assert!(layout.notes[0].to_string().contains("not declare"), "{:?}", layout.notes);
}

#[test]
fn heads_of_several_layers_are_not_used() {
    let two = Fixture::raw().set("mtp_num_hidden_layers", 2);
    assert_unused(&two.plan().unwrap(), &["mtp_num_hidden_layers", "2"]);
    assert_eq!(two.without("mtp.").plan().unwrap().mtp, MtpState::Stripped);
}

#[test]
fn what_a_config_says_of_a_head_never_blocks_the_trunk() {
    for (key, value) in [
        ("mtplx_mtp_norm_encoding", json!("imperial")),
        ("mtp_norm_encoding", json!(7)),
        ("rmsnorm_weight_format", json!("imperial")),
        ("mtplx_mtp_contract", json!({"base_hidden_variant": "mid"})),
        ("mtplx_mtp_contract", json!([])),
        ("mtp_hidden_state_mode", json!("mid")),
        ("mtp_use_dedicated_embeddings", json!(true)),
    ] {
        let operand = if value.is_object() { "base_hidden_variant" } else { key };
        let fixture = Fixture::raw().set(key, value);
        let layout = fixture.plan().unwrap();
        assert_unused(&layout, &["not used", operand]);
        assert_eq!(layout.skipped.len(), 15 + 2);
        let (trunk, head) = fixture.split_head();
        assert_unused(&trunk.clone().with_file("mtp.safetensors", head).plan().unwrap(), &[operand]);
        assert_eq!(trunk.plan().unwrap().mtp, MtpState::Stripped);
    }
}

/// Values that could be either: query and key norms below 1.25, all others of half or more.
fn ambiguous(mut fixture: Fixture) -> Fixture {
    fixture.values = vec![("norm", 1.0)];
    fixture
}

/// A converted trunk with a head of its own file: raw and declared origins decide, silence refuses.
#[test]
fn norms_of_the_head_are_decided_apart_from_the_trunk() {
    let (trunk, _) = ambiguous(Fixture::converted(None)).split_head();
    let mut head = Fixture::raw().split_head().1;
    let layout = trunk.clone().with_file("model-head.safetensors", head.clone()).plan().unwrap();
    assert_eq!((layout.trunk_norms, layout.mtp_norms), (NormEncoding::Gamma, Some(NormEncoding::Delta)));
    assert_eq!(tensor(&layout, "mtp.norm.weight").transform, Transform::AddOne);
    assert_eq!(tensor(&layout, "norm.weight").transform, Transform::None);

    head.format = Some("mlx");
    let mut fixture = trunk.with_file("model-head.safetensors", head);
    let layout = fixture.plan().unwrap();
    assert_eq!((layout.mtp, layout.mtp_norms), (MtpState::Unusable, None));
    for part in ["model-head.safetensors", "mtp_norm_encoding"] {
        assert!(layout.notes[0].to_string().contains(part), "{:?}", layout.notes);
    }
    assert_eq!(layout.skipped.len(), 15);
    assert!(layout.skipped.iter().all(|skipped| skipped.reason == SkipReason::UnusedHead));
    assert!(layout.tensors.iter().all(|tensor| !tensor.name.starts_with("mtp.")));
    fixture.config["mtp_norm_encoding"] = json!("gamma");
    assert_eq!(fixture.plan().unwrap().mtp_norms, Some(NormEncoding::Gamma));
    fixture.config["mtp_norm_encoding"] = json!("delta");
    assert_eq!(fixture.plan().unwrap().mtp_norms, Some(NormEncoding::Delta));
    fixture.config["mtp_norm_encoding"] = json!("maybe");
    assert_unused(&fixture.plan().unwrap(), &["mtp_norm_encoding", "maybe"]);
}

/// Two families of norms in the file, whose origin is unknown.
#[test]
fn values_decide_where_nothing_else_does() {
    let (trunk, _) = Fixture::converted(None).split_head();
    let mut head = Fixture::raw().split_head().1;
    head.format = Some("mlx");
    let fixture = trunk.with_file("model-head.safetensors", head);
    let (q, k, input) = ("mtp.layers.0.self_attn.q_norm.weight", "k_norm.weight", "input_layernorm.weight");
    for (values, decided) in [
        (vec![(q, 0.4), (k, 0.3), (input, -0.5)], Some(NormEncoding::Delta)),
        // True weights of the other norms may be small, as 0.27.
        (vec![(q, 1.5), (k, 1.1), (input, 0.27), ("norm", 1.0)], Some(NormEncoding::Gamma)),
        (vec![(q, 1.1), (k, 1.2), ("norm", 0.9)], None),
        (vec![(q, 1.5), (input, f32::NAN)], None),
    ] {
        let fixture = Fixture { values: values.clone(), ..fixture.clone() };
        assert_eq!(fixture.plan().unwrap().mtp_norms, decided, "{values:?}");
    }
}

#[test]
fn a_raw_trunk_with_a_converted_head_is_told_apart_too() {
    let (_, head) = Fixture::converted(None).split_head();
    let fixture = ambiguous(Fixture::raw().without("mtp.").with_file("model-head.safetensors", head));
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
    let mut fixture = ambiguous(Fixture::converted(None));
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
    let layout = fixture.plan().unwrap();
    assert_eq!(layout.mtp_norms, None);
    assert!(layout.notes[0].to_string().contains("model-2.safetensors"), "{:?}", layout.notes);
    fixture.files.values_mut().for_each(|shard| shard.format = Some("mlx"));
    assert_eq!(fixture.plan().unwrap().mtp_norms, Some(NormEncoding::Gamma));
}

/// Scales prove a conversion, whatever the names are, and MLX's own way of saving writes no format.
#[test]
fn a_quantized_head_is_not_raw_by_its_names() {
    let (trunk, _) = Fixture::converted(Some(4)).split_head();
    let mut head = Fixture::raw().split_head().1;
    head.quantize(4, 64, true);
    head.format = None;
    let (q, fixture) = ("q_norm.weight", trunk.with_file("model-head.safetensors", head));
    for (values, decided) in [
        (vec![(q, 1.5), ("norm", 1.0)], Some(NormEncoding::Gamma)),
        (vec![(q, 0.5), ("norm", -0.5)], Some(NormEncoding::Delta)),
        (vec![("norm", 1.0)], None),
    ] {
        let fixture = Fixture { values: values.clone(), ..fixture.clone() };
        assert_eq!(fixture.plan().unwrap().mtp_norms, decided, "{values:?}");
    }
    // Nor by a raw trunk with the same names.
    let mut fixture = Fixture { values: vec![("mtp.", 1.0)], ..Fixture::raw() };
    for shard in fixture.files.values_mut() {
        shard.format = None;
    }
    let (trunk, mut head) = fixture.split_head();
    head.quantize(4, 64, true);
    let layout = trunk.with_file("model-head.safetensors", head).plan().unwrap();
    assert_eq!((layout.trunk_norms, layout.mtp_norms), (NormEncoding::Delta, None));
}

/// Weights that are near zero were not shifted, whatever lies beside them; those well above one were.
#[test]
fn values_deny_what_neighbours_and_trunks_seem_to_say() {
    let spliced = Fixture::converted(None)
        .map_tensors(|name, shape| vec![(name.replace("language_model.mtp.", "mtp."), shape)]);
    let mut next = Fixture::converted(None).map_tensors(|name, shape| {
        vec![(name.replace("language_model.mtp.", "mtp.").replace("language_model.", ""), shape)]
    });
    let (trunk, head) = next.clone().split_head();
    next = trunk.with_file("model-head.safetensors", head);
    for fixture in [spliced, next] {
        for (values, decided) in [
            (vec![("mtp.", 0.0), ("norm", 1.0)], None),
            (vec![("norm", 1.0)], Some(NormEncoding::Gamma)),
            (vec![("q_norm", 1.5), ("layernorm", 0.27), ("norm", 1.0)], Some(NormEncoding::Gamma)),
        ] {
            let layout = Fixture { values: values.clone(), ..fixture.clone() }.plan().unwrap();
            assert_eq!(layout.mtp_norms, decided, "{values:?} {:?}", layout.notes);
            assert_eq!(layout.mtp == MtpState::Unusable, decided.is_none());
        }
    }
    let shifted = Fixture { values: vec![("q_norm", 1.5), ("norm", 0.5)], ..Fixture::raw() };
    let layout = shifted.plan().unwrap();
    assert_eq!(layout.mtp_norms, None);
    assert!(layout.notes[0].to_string().contains("mtp_norm_encoding"), "{:?}", layout.notes);
}
