//! Mixtures of experts and Qwen3-Next, in every form in which files hold them.

use serde_json::json;

use super::{assert_error, assert_unused, present, tensor};
use crate::checkpoint::fixture::{EXPERT, EXPERTS, Fixture, HIDDEN};
use crate::checkpoint::*;

const MLP: &str = "model.language_model.layers.3.mlp";

fn forms() -> [(&'static str, Fixture); 5] {
    [
        ("fused", Fixture::moe()),
        ("one by one", Fixture::moe().one_by_one("")),
        ("head one by one", Fixture::moe().one_by_one("mtp.")),
        ("converted", Fixture::converted_moe(None)),
        ("next", Fixture::next()),
    ]
}

#[test]
fn every_form_is_the_same_model() {
    let names = |layout: &Layout| -> Vec<(String, Vec<usize>)> {
        layout.tensors.iter().map(|plan| (plan.name.clone(), plan.loaded_shape())).collect()
    };
    let fused = Fixture::moe().plan().unwrap();
    assert_eq!(fused.tensors.len(), 1 + 3 * 19 + 16 + 1 + 20);
    for (form, fixture) in forms() {
        let layout = fixture.plan().unwrap_or_else(|error| panic!("{form}: {error}"));
        assert_eq!(names(&layout), names(&fused), "{form}");
        assert_eq!(layout.parameters(), fused.parameters(), "{form}");
        assert_eq!(present(&layout), (20, "bfloat16", true), "{form}");
        assert!(layout.notes.is_empty(), "{form}: {:?}", layout.notes);
        // Every byte of a tensor comes from somewhere, and from there once.
        for plan in &layout.tensors {
            let bytes: u64 = plan.runs().map(|run| run.bytes).sum();
            let elements: usize = plan.shape.iter().product();
            assert_eq!(bytes, (elements * plan.stored.bitsize() / 8) as u64, "{form}: {}", plan.name);
        }
        let weight = layout.weights["layers.0.mlp.switch_mlp.gate_proj"];
        assert_eq!((weight.experts, weight.rows, weight.columns), (Some(EXPERTS), EXPERT, HIDDEN), "{form}");
    }
}

#[test]
fn the_gate_is_the_first_half_of_fused_experts() {
    let layout = Fixture::moe().plan().unwrap();
    for (projection, start) in [("gate_proj", 0), ("up_proj", EXPERT)] {
        let plan = tensor(&layout, &format!("layers.3.mlp.switch_mlp.{projection}.weight"));
        let [source] = &plan.sources[..] else { panic!("{:?}", plan.sources) };
        assert_eq!(source.name, format!("{MLP}.experts.gate_up_proj"));
        assert_eq!(source.rows, Rows::OfBlocks { block: 2 * EXPERT, start, end: start + EXPERT });
    }
}

#[test]
fn experts_are_stacked_in_the_order_of_their_numbers() {
    // The order of names is another one from the tenth on.
    let many = 12;
    let mut fixture = Fixture::moe().one_by_one("").set("num_experts", many);
    for shard in fixture.files.values_mut() {
        let templates: Vec<_> =
            shard.tensors.extract_if(.., |name, _| name.contains(".experts.0.")).collect();
        shard.tensors.retain(|name, _| !name.contains(".experts."));
        for (name, entry) in templates {
            for expert in 0..many {
                shard
                    .tensors
                    .insert(name.replace(".experts.0.", &format!(".experts.{expert}.")), entry.clone());
            }
        }
        for (name, (_, shape)) in &mut shard.tensors {
            if name.ends_with("mlp.gate.weight") {
                *shape = vec![many, HIDDEN];
            }
        }
    }
    let layout = fixture.plan().unwrap();
    let plan = tensor(&layout, "mtp.layers.0.mlp.switch_mlp.down_proj.weight");
    let names: Vec<_> = plan.sources.iter().map(|source| source.name.clone()).collect();
    let expected: Vec<_> =
        (0..many).map(|expert| format!("mtp.layers.0.mlp.experts.{expert}.down_proj.weight")).collect();
    assert_eq!(names, expected);
    assert_eq!(plan.shape, [many, HIDDEN, EXPERT]);
}

#[test]
fn a_missing_expert_is_named() {
    let split = || Fixture::moe().one_by_one("");
    assert_error(
        split().without("layers.3.mlp.experts.2.").plan(),
        "missing_tensor",
        &["Expert 2 of 4 in layers.3.mlp"],
    );
    let last = split().without("mtp.layers.0.mlp.experts.3.");
    assert_unused(&last.plan().unwrap(), &["Expert 3 of 4 in mtp.layers.0.mlp"]);
    let part = split().without("layers.1.mlp.experts.2.up_proj");
    assert_error(part.plan(), "missing_tensor", &["layers.1.mlp.experts.2.up_proj.weight"]);
    let more = split().set("num_experts", 3).set("num_experts_per_tok", 2);
    assert_error(more.plan(), "misshapen_tensor", &["mlp.gate.weight", "num_experts"]);
    let stray = split().with(&format!("{MLP}.experts.4.up_proj.weight"), "BF16", &[EXPERT, HIDDEN]);
    assert_error(stray.plan(), "config_contradicts_tensors", &["num_experts 4", "layers.3.mlp", "expert 4"]);
    for name in ["experts.gate_up_proj", "experts.down_proj", "mlp.gate.weight", "shared_expert.up_proj"] {
        assert_error(Fixture::moe().without(name).plan(), "missing_tensor", &["layers.0.mlp"]);
    }
}

#[test]
fn experts_in_two_forms_are_refused() {
    let fused = format!("{MLP}.experts.gate_up_proj");
    let one = format!("{MLP}.experts.0.gate_proj.weight");
    let stacked = format!("{MLP}.switch_mlp.gate_proj.weight");
    let shape = [EXPERTS, EXPERT, HIDDEN];
    for (fixture, parts) in [
        (
            Fixture::moe().with(&one, "BF16", &[EXPERT, HIDDEN]),
            ["experts.gate_up_proj", "experts.0.gate_proj"],
        ),
        (Fixture::moe().with(&stacked, "BF16", &shape), ["switch_mlp.gate_proj", "experts.gate_up_proj"]),
        (
            Fixture::converted_moe(None).with(&fused, "BF16", &[EXPERTS, 2 * EXPERT, HIDDEN]),
            ["switch_mlp.gate_proj", "experts.gate_up_proj"],
        ),
    ] {
        assert_error(fixture.plan(), "duplicate_tensor", &parts);
    }
}

#[test]
fn misshapen_experts_name_the_config_keys() {
    for (name, shape) in [
        (format!("{MLP}.experts.gate_up_proj"), vec![EXPERTS, EXPERT, HIDDEN]),
        (format!("{MLP}.experts.gate_up_proj"), vec![EXPERTS - 1, 2 * EXPERT, HIDDEN]),
        (format!("{MLP}.experts.down_proj"), vec![EXPERTS, EXPERT, HIDDEN + 1]),
        (format!("{MLP}.shared_expert_gate.weight"), vec![2, HIDDEN]),
    ] {
        let fixture = Fixture::moe().change(&name, "BF16", &shape);
        assert_error(fixture.plan(), "misshapen_tensor", &[&name, &format!("{shape:?}"), "hidden_size"]);
    }
    let name = format!("{MLP}.experts.1.up_proj.weight");
    let mixed = Fixture::moe().one_by_one("").change(&name, "F16", &[EXPERT, HIDDEN]);
    assert_error(mixed.plan(), "wrong_dtype", &[&name, "F16", "BF16 like the others"]);
}

#[test]
fn dense_layers_among_sparse_ones_are_named_in_the_config() {
    let layer = "model.language_model.layers.1.mlp";
    let mixed = Fixture::moe()
        .without("layers.1.mlp.")
        .with(&format!("{layer}.gate_proj.weight"), "BF16", &[96, HIDDEN])
        .with(&format!("{layer}.up_proj.weight"), "BF16", &[96, HIDDEN])
        .with(&format!("{layer}.down_proj.weight"), "BF16", &[HIDDEN, 96]);
    assert_error(
        mixed.plan(),
        "config_contradicts_tensors",
        &["layer 1 is a mixture of experts", "it is dense"],
    );
    let layout = mixed.set("mlp_only_layers", json!([1, 77])).set("intermediate_size", 96).plan().unwrap();
    assert_eq!(tensor(&layout, "layers.1.mlp.up_proj.weight").shape, [96, HIDDEN]);
    let steps = Fixture::moe().set("decoder_sparse_step", 2).set("intermediate_size", 96);
    assert_error(steps.plan(), "config_contradicts_tensors", &["layer 0 is dense", "a mixture of experts"]);
    let config = Config::parse(steps.config.as_object().unwrap()).unwrap();
    use MlpKind::{Dense, Sparse};
    assert_eq!(config.mlps, [Dense, Sparse, Dense, Sparse]);
}

#[test]
fn a_dense_head_of_a_sparse_model_is_told_by_its_tensors() {
    let head = "mtp.layers.0.mlp";
    let dense = Fixture::moe()
        .without("mtp.layers.0.mlp.")
        .with(&format!("{head}.gate_proj.weight"), "BF16", &[96, HIDDEN])
        .with(&format!("{head}.up_proj.weight"), "BF16", &[96, HIDDEN])
        .with(&format!("{head}.down_proj.weight"), "BF16", &[HIDDEN, 96]);
    assert_unused(&dense.plan().unwrap(), &["intermediate_size", "mtp.layers.0.mlp"]);
    assert_eq!(present(&dense.set("intermediate_size", 96).plan().unwrap()).0, 15);
}

#[test]
fn experts_may_go_without_a_shared_one_and_unnormalised() {
    let fixture = Fixture::moe().without("shared_expert").set("shared_expert_intermediate_size", 0);
    assert_eq!(fixture.plan().unwrap().tensors.len(), 1 + 3 * 15 + 12 + 1 + 16);
    let moe = |fixture: Fixture| Config::parse(fixture.config.as_object().unwrap()).unwrap().moe.unwrap();
    assert!(moe(fixture.clone()).norm_topk_prob);
    assert!(!moe(fixture.set("norm_topk_prob", false)).norm_topk_prob);
}

/// Two key heads of 32, each with two value heads of 32: [q 32 | k 32 | v 64 | z 64] and [b 2 | a 2].
#[test]
fn the_projections_of_next_are_told_apart_head_by_head() {
    let layout = Fixture::next().plan().unwrap();
    let rows = |projection: &str| -> Vec<Rows> {
        let plan = tensor(&layout, &format!("layers.0.linear_attn.{projection}.weight"));
        plan.sources.iter().map(|source| source.rows).collect()
    };
    let of = |block, start, end| Rows::OfBlocks { block, start, end };
    assert_eq!(rows("in_proj_qkv"), [of(192, 0, 32), of(192, 32, 64), of(192, 64, 128)]);
    assert_eq!(rows("in_proj_z"), [of(192, 128, 192)]);
    assert_eq!(rows("in_proj_b"), [of(4, 0, 2)]);
    assert_eq!(rows("in_proj_a"), [of(4, 2, 4)]);
    let name = "model.layers.0.linear_attn.in_proj_qkvz.weight";
    assert_error(
        Fixture::next().change(name, "BF16", &[320, HIDDEN]).plan(),
        "misshapen_tensor",
        &[name, "[384, 64]"],
    );
    let twice = Fixture::next().with("model.layers.0.linear_attn.in_proj_z.weight", "BF16", &[128, HIDDEN]);
    assert_error(twice.plan(), "duplicate_tensor", &["in_proj_z", "in_proj_qkvz"]);
}
