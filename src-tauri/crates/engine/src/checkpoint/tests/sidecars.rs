//! MTP heads in files of their own.

use std::fs;
use std::os::unix::fs::symlink;

use foretoken_protocol::MtpState;
use serde_json::json;

use super::{assert_error, assert_unused, present, tensor};
use crate::checkpoint::fixture::{Fixture, Shard, plan};
use crate::checkpoint::*;

/// A quantized trunk without its head, and the head as it was published.
fn parts() -> (Fixture, Shard) {
    (Fixture::converted(Some(4)).split_head().0, Fixture::raw().split_head().1)
}

fn bare(format: Option<&'static str>) -> Shard {
    Fixture::raw().split_head().1.renamed("mtp.", "", format)
}

#[test]
fn a_head_is_found_wherever_tools_put_it() {
    let (trunk, head) = parts();
    for place in [
        "mtp.safetensors",
        "mtp/weights.safetensors",
        "model-mtp.safetensors",
        "mtp/model.safetensors",
        "optiq/mtp.safetensors",
    ] {
        for prefix in ["mtp.", "language_model.mtp.", "model.mtp.", ""] {
            let mut fixture =
                trunk.clone().with_file(place, head.clone().renamed("mtp.", prefix, Some("pt")));
            fixture.config["mtp_norm_encoding"] = json!("delta");
            let layout = fixture.plan().unwrap_or_else(|error| panic!("{place} {prefix}: {error}"));
            assert_eq!(present(&layout), (15, "bfloat16", true), "{place} {prefix} {:?}", layout.notes);
            assert!(tensor(&layout, "mtp.fc.weight").sources[0].file.ends_with(place));
            assert!(layout.notes.is_empty(), "{:?}", layout.notes);
        }
    }
}

#[test]
fn the_file_that_the_config_names_comes_first() {
    let (trunk, head) = parts();
    let mut fixture = trunk
        .with_file("extra/head.safetensors", head.clone())
        .with_file("mtp.safetensors", head.clone())
        .with_file("optiq/mtp.safetensors", head);
    fixture.config["mlx_lm_extra_tensors"] = json!({"mtp_file": "extra/head.safetensors"});
    let used = |fixture: &Fixture| tensor(&fixture.plan().unwrap(), "mtp.fc.weight").sources[0].file.clone();
    assert!(used(&fixture).ends_with("extra/head.safetensors"));
    let notes = fixture.plan().unwrap().notes;
    assert!(notes[0].to_string().contains("mtp.safetensors is left out"), "{notes:?}");
    fixture.files.remove("extra/head.safetensors");
    assert!(
        used(&fixture).ends_with("mtp.safetensors") && !used(&fixture).ends_with("optiq/mtp.safetensors")
    );
    let notes = fixture.plan().unwrap().notes;
    assert!(notes[0].to_string().contains("extra/head.safetensors, is not there"), "{notes:?}");
    fixture.files.retain(|name, _| name == "model.safetensors");
    let gone = fixture.plan().unwrap();
    assert_eq!((&gone.mtp, gone.has_mtp()), (&MtpState::Stripped, false));
    assert!(gone.notes[0].to_string().contains("extra/head.safetensors, is not there"), "{:?}", gone.notes);
}

#[test]
fn a_head_in_the_main_files_wins() {
    let fixture = Fixture::converted(None).with_file("mtp.safetensors", parts().1);
    let layout = fixture.plan().unwrap();
    assert!(tensor(&layout, "mtp.fc.weight").sources[0].file.ends_with("model.safetensors"));
    assert!(layout.notes[0].to_string().contains("mtp.safetensors is left out"), "{:?}", layout.notes);
}

#[test]
fn a_head_beside_the_model_stands_in_for_one_inside_that_cannot_be_used() {
    let fixture = Fixture::converted(None).without("mtp.norm.weight").with_file("mtp.safetensors", parts().1);
    let layout = fixture.plan().unwrap();
    assert_eq!(present(&layout).0, 15);
    assert!(tensor(&layout, "mtp.fc.weight").sources[0].file.ends_with("mtp.safetensors"));
    assert!(layout.notes[0].to_string().contains("mtp.norm.weight is missing"), "{:?}", layout.notes);
    assert_eq!(layout.skipped.len(), 14);
}

#[test]
fn an_undeclared_head_beside_the_model_is_used() {
    let (trunk, head) = parts();
    let layout = trunk.set("mtp_num_hidden_layers", 0).with_file("mtp.safetensors", head).plan().unwrap();
    assert_eq!(present(&layout), (15, "bfloat16", false));
    assert!(layout.notes[0].to_string().contains("not declare"), "{:?}", layout.notes);
}

#[test]
fn a_whole_model_may_have_the_name_of_a_head() {
    let mut fixture = Fixture::converted(None);
    let model = fixture.files.pop_first().unwrap().1;
    let layout = fixture.with_file("model-mtp.safetensors", model).plan().unwrap();
    assert_eq!(present(&layout).0, 15);
}

#[test]
fn the_norms_of_a_head_are_decided_by_its_own_file() {
    let decided = |shard: Shard, json: &[(&str, serde_json::Value)]| {
        let mut fixture = parts().0.with_file("mtp/weights.safetensors", shard);
        fixture.values = vec![("norm", 1.0)];
        fixture.json = json.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        fixture.plan().unwrap().mtp_norms
    };
    let (delta, gamma) = (Some(NormEncoding::Delta), Some(NormEncoding::Gamma));
    assert_eq!(decided(parts().1, &[]), delta);
    assert_eq!(decided(bare(Some("mlx")), &[]), gamma);
    assert_eq!(decided(bare(None), &[]), None);
    assert_eq!(decided(bare(None), &[("mtp/config.json", json!({"model_type": "qwen3_5_mtp"}))]), gamma);
    let format = |format: &str| json!({"artifact_schema_version": 1, "rmsnorm_weight_format": format});
    assert_eq!(decided(parts().1, &[("mtp/manifest.json", format("mlx_gamma"))]), gamma);
    assert_eq!(decided(bare(Some("mlx")), &[("mtp/manifest.json", format("delta"))]), delta);
    assert_eq!(decided(parts().1, &[("mtp/manifest.json", format("imperial"))]), None);
    assert_eq!(decided(bare(None), &[("mtp/config.json", json!({"mtp_norm_encoding": "delta"}))]), delta);
}

#[test]
fn raw_experts_tell_that_norms_are_raw() {
    let (trunk, _) = Fixture::converted_moe(Some(4)).split_head();
    for (head, norms) in [
        (Fixture::moe().one_by_one("").split_head().1, NormEncoding::Delta),
        (
            Fixture::converted_moe(None).split_head().1.renamed("language_model.mtp.", "mtp.", None),
            NormEncoding::Gamma,
        ),
    ] {
        let head = Shard { format: Some("mlx"), ..head };
        let mut fixture = trunk.clone().with_file("mtp.safetensors", head);
        fixture.values = vec![("norm", 1.0)];
        assert_eq!(fixture.plan().unwrap().mtp_norms, Some(norms));
    }
}

#[test]
fn a_head_has_its_own_quantization_and_type() {
    let (trunk, _) = parts();
    for (bits, group_size, affine, format) in
        [(8, 32, true, "8-bit, group 32"), (4, 16, false, "nvfp4"), (4, 64, true, "4-bit, group 64")]
    {
        let mut head = bare(Some("mlx"));
        head.quantize(bits, group_size, affine);
        let layout = trunk.clone().with_file("mtp.safetensors", head).plan().unwrap();
        assert_eq!(present(&layout).1, format);
        assert_eq!(
            layout.kind("layers.0.mlp.up_proj"),
            Fixture::converted(Some(4)).plan().unwrap().kind("mtp.fc")
        );
    }
    let mut half = parts().1;
    half.tensors.values_mut().for_each(|(dtype, _)| *dtype = "F16".into());
    let layout = trunk.with_file("mtp.safetensors", half).plan().unwrap();
    let fc = tensor(&layout, "mtp.fc.weight");
    assert_eq!((fc.stored, fc.dtype), (safetensors::Dtype::F16, safetensors::Dtype::BF16));
}

#[test]
fn the_config_of_a_head_may_declare_what_it_reads() {
    let with = |own: serde_json::Value| {
        let mut fixture = parts().0.with_file("mtp/weights.safetensors", bare(Some("mlx")));
        fixture.json = [("mtp/config.json".to_owned(), own)].into();
        fixture
    };
    let declared = with(json!({"model_type": "qwen3_5_mtp", "mtp_hidden_state_mode": "pre_norm"}));
    assert_eq!(declared.plan().unwrap().hidden_mode, HiddenMode::PreNorm);
    let overruled = declared.set("mtp_hidden_state_mode", "post_norm");
    assert_eq!(overruled.plan().unwrap().hidden_mode, HiddenMode::PostNorm);
    assert_eq!(with(json!({})).plan().unwrap().hidden_mode, HiddenMode::PostNorm);
}

#[test]
fn a_head_that_cannot_be_used_leaves_the_model() {
    let (trunk, head) = parts();
    let mut incomplete = head.clone();
    incomplete.tensors.remove("mtp.norm.weight").unwrap();
    let mut stranger = head.clone();
    stranger.tensors.insert("mtp.layers.1.x.weight".into(), ("BF16".into(), vec![1]));
    let mut other = head.clone();
    other.tensors.insert("mtp.fc.weight".into(), ("BF16".into(), vec![64, 192]));
    let experts = Fixture::moe().split_head().1;
    for (shard, parts) in [
        (incomplete, ["mtp.norm.weight is missing", "mtp.safetensors"]),
        (stranger, ["mtp.layers.1.x.weight", "does not have"]),
        (other, ["[64, 192]", "[64, 128]"]),
        (experts, ["num_experts", "mtp.layers.0.mlp"]),
    ] {
        let layout = trunk.clone().with_file("mtp.safetensors", shard).plan().unwrap();
        assert_unused(&layout, &parts);
        assert_eq!(layout.notes.len(), 1, "{:?}", layout.notes);
    }
    let two = trunk.clone().set("mtp_num_hidden_layers", 2).with_file("mtp.safetensors", head.clone());
    assert_unused(&two.plan().unwrap(), &["mtp_num_hidden_layers"]);

    // The next one is used where the first cannot be.
    let dir =
        trunk.with_file("mtp.safetensors", head.clone()).with_file("optiq/mtp.safetensors", head).write();
    fs::write(dir.path().join("mtp.safetensors"), "version https://git-lfs.github.com/spec/v1\n").unwrap();
    let layout = plan(dir.path()).unwrap();
    assert_eq!(present(&layout).0, 15);
    assert!(layout.notes[0].to_string().contains("Git LFS pointer"), "{:?}", layout.notes);
    fs::remove_file(dir.path().join("optiq/mtp.safetensors")).unwrap();
    assert_unused(&plan(dir.path()).unwrap(), &["Git LFS pointer", "Download"]);
}

#[test]
fn links_out_of_the_folder_are_followed_only_into_the_cache() {
    let (mut trunk, _) = parts();
    trunk.config["mlx_lm_extra_tensors"] = json!({"mtp_file": "head.safetensors"});
    let elsewhere = parts().0.with_file("head.safetensors", parts().1).write();
    let target = elsewhere.path().join("head.safetensors");
    let dir = trunk.write();
    symlink(&target, dir.path().join("head.safetensors")).unwrap();
    assert_error(plan(dir.path()), "config_invalid", &["mtp_file", "head.safetensors", "link"]);

    let cache = tempfile::tempdir().unwrap();
    let (blobs, snapshot) = (cache.path().join("blobs"), cache.path().join("snapshots/0123"));
    fs::create_dir_all(&blobs).unwrap();
    fs::create_dir_all(&snapshot).unwrap();
    for (name, from) in [
        ("config.json", dir.path()),
        ("model.safetensors", dir.path()),
        ("head.safetensors", elsewhere.path()),
    ] {
        fs::copy(from.join(name), blobs.join(name)).unwrap();
        symlink(format!("../../blobs/{name}"), snapshot.join(name)).unwrap();
    }
    assert_eq!(present(&plan(&snapshot).unwrap()).0, 15);
}
