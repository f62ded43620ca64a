//! Conversion: what it writes, what it refuses, what is left of it when it is interrupted, and the memory it takes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use foretoken_engine::EngineError;
use foretoken_engine::checkpoint::{
    CheckpointError, Config, Files, FloatType, Index, Layout, Metadata, QuantSpec, WeightKind,
};
use foretoken_engine::convert::{Conversion, Importance, Limits, Method, Plan};
use foretoken_engine::inspect::{Inspection, inspect_model};
use foretoken_engine::mlx::{Array, Dtype, QuantMode, argmax_axis, load_safetensors};
use foretoken_engine::score::{Score, figures, score};
use foretoken_engine::session::{ReplyRequest, Session};
use foretoken_protocol::{
    ChatMessage, ConversionProgress, ConversionReport, ConversionSettings, Drafting, ErrorReport,
    FloatFormat, GenerationSettings, HeadFormat, KvPrecision, Sampling, Thinking, WeightFormat,
};
use foretoken_tests::agreement::F32_BOUND;
use foretoken_tests::fixtures::{
    copy_demo_model, demo_model, edit_json, fixture, load, write_demo_with_value, write_raw, write_with_vocab,
};
use foretoken_tests::oracle::{Cases, mlx_lm_logits};
use foretoken_tests::programs::built;
use foretoken_tests::rng::Rng;
use foretoken_tests::states::relative_values;
use serde_json::{Value, json};
use tempfile::TempDir;

const FLOAT: WeightFormat = WeightFormat::Float;
/// So small that a conversion of the small random model has dozens of slabs, journal entries and files.
const SMALL: Limits = Limits { shard_bytes: 40_000, slab_bytes: 3_000, journal_bytes: 10_000 };
/// Where [`killed_conversion`] finds what to convert, to what, and when to be killed.
const KILLED: &str = "FORETOKEN_KILLED_CONVERSION";

fn affine(bits: u8) -> WeightFormat {
    WeightFormat::Affine { bits, group_size: 64 }
}

fn settings(weights: WeightFormat) -> ConversionSettings {
    ConversionSettings { weights, ..ConversionSettings::default() }
}

type Observe<'a> = &'a mut dyn FnMut(&ConversionProgress) -> ControlFlow<()>;

fn try_convert(
    source: &Path,
    out: &Path,
    settings: &ConversionSettings,
    limits: Limits,
    observe: Observe<'_>,
) -> Result<ConversionReport, ErrorReport> {
    let report = |error: EngineError| ErrorReport::from(&error);
    Conversion::plan(source, out, settings, None, limits).map_err(report)?.run(observe).map_err(report)
}

fn convert(source: &Path, out: &Path, settings: &ConversionSettings) -> ConversionReport {
    let mut go_on = |_: &ConversionProgress| ControlFlow::Continue(());
    try_convert(source, out, settings, Limits::default(), &mut go_on).unwrap()
}

fn fingerprint(source: &Path) -> u32 {
    Metadata::read(source, Files::Whole).unwrap().fingerprint().unwrap()
}

/// A plan with every width, every size of groups that fits, and some matrices left as they are; `shift` makes another.
fn mixed(source: &Path, method: Method, shift: usize) -> Plan {
    let layout = Layout::plan(&Config::read(source).unwrap(), &index(source)).unwrap();
    let spec = |number: usize, columns: usize| {
        let bits = *[4, 2, 3, 5, 6, 8].get((number + shift) % 7)?;
        let sizes = [[64, 32, 128], [32, 64, 128], [128, 64, 32]][number % 3];
        let specs = sizes.map(|group_size| QuantSpec { group_size, bits, mode: QuantMode::Affine });
        specs.into_iter().find(|spec| spec.divides(columns))
    };
    let modules = layout.weights.iter().enumerate();
    let modules = modules.map(|(number, (path, weight))| (path.clone(), spec(number, weight.columns)));
    Plan::new(fingerprint(source), modules.collect(), method, json!({ "seed": shift })).unwrap()
}

fn try_planned(
    source: &Path,
    out: &Path,
    plan: &Plan,
    importance: Option<Importance>,
    limits: Limits,
    observe: Observe<'_>,
) -> Result<ConversionReport, ErrorReport> {
    let report = |error: EngineError| ErrorReport::from(&error);
    let plan = (Arc::new(plan.clone()), importance.map(Arc::new));
    let planned = Conversion::planned(source, out, plan, &ConversionSettings::default(), None, limits);
    planned.map_err(report)?.run(observe).map_err(report)
}

fn convert_planned(source: &Path, out: &Path, plan: &Plan, limits: Limits) -> ConversionReport {
    try_planned(source, out, plan, None, limits, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn refusal(source: &Path, out: &Path, settings: &ConversionSettings) -> ErrorReport {
    let mut go_on = |_: &ConversionProgress| ControlFlow::Continue(());
    try_convert(source, out, settings, Limits::default(), &mut go_on).unwrap_err()
}

/// Everything in a folder by name, but the record of its making, which names the source.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    files
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .filter(|(name, _)| name != "foretoken.json")
        .collect()
}

fn inspected(dir: &Path) -> Result<Inspection, CheckpointError> {
    inspect_model(&Metadata::read(dir, Files::Whole)?, None, KvPrecision::Full)
}

fn index(dir: &Path) -> Index {
    Index::read(dir, &Config::read(dir).unwrap()).unwrap()
}

/// The tensors of a folder by name: shape, type and bytes.
fn tensors(dir: &Path) -> BTreeMap<String, (Vec<i32>, Dtype, Vec<u8>)> {
    let files = index(dir).files;
    files
        .iter()
        .flat_map(|file| load_safetensors(&file.path).unwrap())
        .map(|(name, tensor)| (name, (tensor.shape().to_vec(), tensor.dtype(), tensor.to_bytes().unwrap())))
        .collect()
}

fn same_tensors(one: &Path, other: &Path) {
    let (one, other) = (tensors(one), tensors(other));
    assert!(one.keys().eq(other.keys()));
    for (name, expected) in &other {
        assert_eq!(&one[name], expected, "{name}");
    }
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn work_folder(out: &Path) -> PathBuf {
    out.with_file_name(format!("{}.partial", out.file_name().unwrap().to_str().unwrap()))
}

/// The small random model, as it is and in f32.
fn raw(dir: &TempDir) -> [PathBuf; 2] {
    let f32 = dir.path().join("f32");
    fs::create_dir(&f32).unwrap();
    write_raw(&fixture("tiny-dense"), &f32, Dtype::Float32);
    [fixture("tiny-dense"), f32]
}

fn scored(model: &Path) -> Score {
    score(&load(model), &Rng::new(7).prompt(96), 64).unwrap()
}

fn off(got: &Array, expected: &Array) -> f32 {
    relative_values(&got.to_vec().unwrap(), &expected.to_vec::<f32>().unwrap())
}

/// The reference quantizes the layer that joins hidden state and token too.
#[test]
fn all_but_the_fusion_is_what_the_reference_converter_writes() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("out");
    let settings = ConversionSettings { dtype: Some(FloatFormat::Float32), ..settings(affine(4)) };
    convert(&fixture("tiny-dense"), &out, &settings);
    let (mut ours, mut theirs) = (tensors(&out), tensors(&fixture("tiny-dense-q4f32")));
    let fusion = |name: &String, _: &mut _| name.starts_with("language_model.mtp.fc.");
    let kept: Vec<_> = ours.extract_if(.., fusion).collect();
    assert_eq!(theirs.extract_if(.., fusion).count(), 3);
    assert!(ours.keys().eq(theirs.keys()));
    for (name, expected) in &theirs {
        assert_eq!(&ours[name], expected, "{name}");
    }
    let [(name, (shape, Dtype::Float32, bytes))] = &kept[..] else { panic!("{} tensors", kept.len()) };
    assert_eq!((name.as_str(), &shape[..]), ("language_model.mtp.fc.weight", &[64, 128][..]));
    let plain = dir.path().join("plain");
    convert(&fixture("tiny-dense"), &plain, &ConversionSettings { weights: FLOAT, ..settings });
    assert_eq!(&tensors(&plain)[name].2, bytes);
}

#[test]
fn the_config_records_the_recipe_under_the_names_of_mlx() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("out");
    let report = convert(&fixture("tiny-dense"), &out, &settings(affine(4)));
    let config = read_json(&out.join("config.json"));
    let expected = json!({ "bits": 4, "group_size": 64, "language_model.mtp.fc": false, "mode": "affine" });
    assert_eq!((&config["quantization"], &config["quantization_config"]), (&expected, &expected));
    assert!(config["vision_config"].is_null() && config["text_config"]["dtype"] == "bfloat16");
    assert!(config.as_object().unwrap().keys().is_sorted());
    let names: Vec<String> = contents(&out).into_keys().collect();
    let expected = [
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "model.safetensors.index.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ];
    assert_eq!(names, expected);

    let record = read_json(&out.join("foretoken.json"));
    assert_eq!(record["settings"]["weights"], json!({ "format": "affine", "bits": 4, "group_size": 64 }));
    assert!(record["source"]["path"].as_str().unwrap().ends_with("tiny-dense"), "{record}");
    assert_eq!(record["tool"]["version"], env!("CARGO_PKG_VERSION"));
    let size: u64 = tensors(&out).values().map(|(_, _, bytes)| bytes.len() as u64).sum();
    assert_eq!((report.bytes, report.parameters), (size, inspected(&out).unwrap().parameters));
    assert!((report.bits_per_weight - 8.0 * size as f64 / report.parameters as f64).abs() < 1e-9);
    assert!(report.mtp_bits_per_weight.unwrap() > report.bits_per_weight, "the fusion is not quantized");
}

#[test]
fn the_head_is_stored_as_asked() {
    let dir = TempDir::new().unwrap();
    for (mtp_head, expected) in [
        (HeadFormat::Same, "4-bit, group 64"),
        (HeadFormat::Affine { bits: 8 }, "8-bit, group 64"),
        (HeadFormat::Float, "bfloat16"),
    ] {
        let out = dir.path().join(expected);
        let report =
            convert(&fixture("tiny-dense"), &out, &ConversionSettings { mtp_head, ..settings(affine(4)) });
        let layout = Layout::plan(&Config::read(&out).unwrap(), &index(&out)).unwrap();
        for (path, weight) in &layout.weights {
            let stored = match weight.kind {
                WeightKind::Dense => "bfloat16".to_owned(),
                WeightKind::Quantized(spec) => spec.to_string(),
            };
            let wanted = match path.as_str() {
                "mtp.fc" => "bfloat16",
                _ if path.starts_with("mtp.") => expected,
                _ => "4-bit, group 64",
            };
            assert_eq!(stored, wanted, "{path}");
        }
        // The tower of this checkpoint has patches of 4 pixels.
        assert!(
            matches!(&report.notes[..], [note] if note.contains("sees no pictures")),
            "{:?}",
            report.notes
        );
    }
}

#[test]
fn without_quantization_the_logits_stay_the_same() {
    let dir = TempDir::new().unwrap();
    for (index, source) in raw(&dir).into_iter().chain([demo_model()]).enumerate() {
        let out = dir.path().join(format!("out-{index}"));
        let report = convert(&source, &out, &settings(FLOAT));
        assert!(report.mtp_bits_per_weight.is_some());
        let (before, after) = if index == 2 {
            let ids: Vec<u32> = (3..90).collect();
            (score(&load(&source), &ids, 64).unwrap(), score(&load(&out), &ids, 64).unwrap())
        } else {
            (scored(&source), scored(&out))
        };
        let bytes = |array: &Array| array.to_bytes().unwrap();
        assert!(bytes(&before.logits) == bytes(&after.logits), "{}", source.display());
        assert!(bytes(&before.mtp_logits.unwrap()) == bytes(&after.mtp_logits.unwrap()));
    }
}

/// What is written is a model of mlx-lm too, which leaves the head out.
#[test]
fn mlx_lm_gives_the_same_logits_for_what_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let (layouts, heads) = (Cases::of("layouts"), Cases::of("heads"));
    let layouts = [
        "tiny-dense",
        "tiny-dense-untied",
        "tiny-dense-flat",
        "tiny-dense-yarn",
        "tiny-moe-q35",
        "tiny-moe-q36",
        "tiny-moe-split",
        "tiny-next",
        "tiny-next-yarn",
    ]
    .map(|name| (name, layouts.checkpoint(name)));
    let heads = ["own-file-delta", "moe-own-file-per-expert"].map(|name| (name, heads.checkpoint(name)));
    let ids = Rng::new(7).prompt(64);
    let mut written = Vec::new();
    for (name, source) in layouts.into_iter().chain(heads) {
        for (recipe, weights) in [("float", FLOAT), ("4-bit", affine(4)), ("mxfp8", WeightFormat::Mxfp8)] {
            let name = format!("{name}-{recipe}");
            let out = dir.path().join(&name);
            convert(&source, &out, &settings(weights));
            written.push((name, out));
        }
    }
    let expected = mlx_lm_logits(&ids, &written);
    for (name, folder) in &written {
        let model = load(folder);
        assert!(model.mtp.is_some(), "{name} has lost its head");
        let got = score(&model, &ids, 64).unwrap().logits;
        let off = off(&got, &expected[name]);
        println!("{name}: {off:.1e}");
        assert!(off < F32_BOUND, "{name}: {off:.1e}");
    }
}

#[test]
fn mlx_lm_gives_the_same_logits_for_what_is_written_by_a_plan() {
    let dir = tempfile::tempdir().unwrap();
    let layouts = Cases::of("layouts");
    let ids = Rng::new(7).prompt(64);
    let mut written = Vec::new();
    let names = ["tiny-dense", "tiny-dense-untied", "tiny-moe-q35", "tiny-next"];
    for (name, (method, shift)) in
        names.into_iter().flat_map(|name| [(name, (Method::Fit, 0)), (name, (Method::Rtn, 3))])
    {
        let (source, out) = (layouts.checkpoint(name), dir.path().join(format!("{name}-{shift}")));
        let plan = mixed(&source, method, shift);
        convert_planned(&source, &out, &plan, Limits::default());
        // What the engine reads is what the plan says.
        let (file, layout) =
            (plan.to_json(), Layout::plan(&Config::read(&out).unwrap(), &index(&out)).unwrap());
        let said = file["modules"].as_object().unwrap();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (path, weight) in &layout.weights {
            let stored = match weight.kind {
                WeightKind::Dense => json!(false),
                WeightKind::Quantized(spec) => json!(spec),
            };
            assert_eq!(stored, said[path], "{name}: {path}");
            *counts.entry(stored.to_string()).or_default() += usize::from(stored != false);
        }
        assert!(counts.len() >= 6, "{counts:?}");
        let config = read_json(&out.join("config.json"));
        let default = json!({
            "bits": config["quantization"]["bits"],
            "group_size": config["quantization"]["group_size"],
            "mode": config["quantization"]["mode"],
        });
        let commonest = counts.values().max().unwrap();
        let of_default = said.values().filter(|spec| **spec == default).count();
        assert_eq!((of_default, &default), (*commonest, &file["default"]), "{counts:?}");
        written.push((format!("{name}-{shift}"), out));
    }
    let expected = mlx_lm_logits(&ids, &written);
    for (name, folder) in &written {
        let model = load(folder);
        assert!(model.mtp.is_some(), "{name} has lost its head");
        let (got, expected) = (score(&model, &ids, 64).unwrap().logits, &expected[name]);
        let off = off(&got, expected);
        println!("{name}: {off:.1e}");
        assert!(off < F32_BOUND, "{name}: {off:.1e}");
        let top = |logits: &Array| argmax_axis(logits, -1).unwrap().to_vec::<u32>().unwrap();
        assert_eq!(top(&got), top(expected), "{name}");
    }
}

#[test]
fn a_plan_gives_the_same_bytes_each_time_and_however_it_is_cut_up() {
    let dir = TempDir::new().unwrap();
    let source = Cases::of("layouts").checkpoint("tiny-moe-q35");
    let plan = mixed(&source, Method::Fit, 0);
    let [whole, again, cut] = ["whole", "again", "cut"].map(|name| dir.path().join(name));
    convert_planned(&source, &whole, &plan, Limits::default());
    convert_planned(&source, &again, &Plan::parse(&plan.to_json().to_string()).unwrap(), Limits::default());
    assert!(contents(&whole) == contents(&again));
    assert!(convert_planned(&source, &cut, &plan, SMALL).shards > 5);
    same_tensors(&whole, &cut);
    let record = read_json(&whole.join("foretoken.json"));
    assert_eq!(record["quality"]["plan"], plan.hash());
    assert_eq!(
        (&record["quality"]["method"], &record["quality"]["measured"]["seed"]),
        (&json!("fit"), &json!(0))
    );
    assert_eq!(record["quality"]["modules"], plan.to_json()["modules"]);
    assert!(record["settings"].get("weights").is_none(), "{record}");

    let rounded = dir.path().join("rounded");
    convert_planned(&source, &rounded, &mixed(&source, Method::Rtn, 0), Limits::default());
    assert!(tensors(&rounded) != tensors(&whole));
}

#[test]
fn importance_moves_the_matrices_that_it_names_however_they_are_cut_up() {
    let dir = TempDir::new().unwrap();
    let source = Cases::of("layouts").checkpoint("tiny-moe-q35");
    let layout = Layout::plan(&Config::read(&source).unwrap(), &index(&source)).unwrap();
    let plan = mixed(&source, Method::Fit, 0);
    let quantized = |path: &str| plan.to_json()["modules"][path] != false;
    let (path, weight) = layout
        .weights
        .iter()
        .find(|(path, weight)| weight.experts.is_some() && quantized(path))
        .expect("experts that are quantized");
    let values = weight.experts.unwrap() * weight.columns;
    let mut importance = Importance::default();
    importance.insert(path, (0..values).map(|value| (value * 31 % 17) as f32).collect());
    let convert = |name: &str, importance: Option<Importance>, limits: Limits| {
        let out = dir.path().join(name);
        let mut go_on = |_: &ConversionProgress| ControlFlow::Continue(());
        try_planned(&source, &out, &plan, importance, limits, &mut go_on).map(|_| tensors(&out))
    };
    let even = convert("even", None, Limits::default()).unwrap();
    let whole = convert("whole", Some(importance.clone()), Limits::default()).unwrap();
    assert!(whole == convert("cut", Some(importance.clone()), SMALL).unwrap());
    let moved: Vec<&String> =
        whole.iter().filter(|(name, tensor)| even[*name] != **tensor).map(|(name, _)| name).collect();
    assert!(!moved.is_empty() && moved.iter().all(|name| name.contains(path.as_str())), "{path}: {moved:?}");
    importance.insert(path, vec![1.0; 3]);
    let refused = convert("refused", Some(importance), Limits::default()).unwrap_err();
    assert_eq!(refused.code, "invalid_importance");
    assert!(!dir.path().join("refused").exists());
}

#[test]
fn a_plan_for_other_weights_is_refused_before_anything_is_written() {
    let dir = TempDir::new().unwrap();
    let (other, out) = (dir.path().join("other"), dir.path().join("out"));
    copy_demo_model(&other);
    // As if it was trained further.
    let tensors = other.join("model.safetensors");
    let mut bytes = fs::read(&tensors).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].iter_mut().for_each(|byte| *byte ^= 1);
    fs::write(&tensors, bytes).unwrap();
    let plan = mixed(&demo_model(), Method::Fit, 0);
    let mut go_on = |_: &ConversionProgress| ControlFlow::Continue(());
    for source in [fixture("tiny-dense"), other] {
        let refused = try_planned(&source, &out, &plan, None, Limits::default(), &mut go_on).unwrap_err();
        assert_eq!(refused.code, "plan_of_another_source", "{refused}");
    }
    let mut less = plan.to_json();
    less["modules"].as_object_mut().unwrap().remove("embed_tokens").unwrap();
    let less = Plan::parse(&less.to_string()).unwrap();
    let refused = try_planned(&demo_model(), &out, &less, None, Limits::default(), &mut go_on).unwrap_err();
    assert!(refused.code == "plan_does_not_fit" && refused.message.contains("embed_tokens"), "{refused}");
    assert!(!out.exists() && !work_folder(&out).exists());
}

#[test]
fn quantized_logits_come_closer_to_the_source_with_every_bit() {
    let dir = TempDir::new().unwrap();
    let ids: Vec<u32> = (3..90).collect();
    let scored = |weights: WeightFormat| {
        let out = dir.path().join(format!("{weights:?}"));
        let settings = ConversionSettings { dtype: Some(FloatFormat::Float32), ..settings(weights) };
        convert(&demo_model(), &out, &settings);
        score(&load(&out), &ids, 64).unwrap()
    };
    let expected = scored(FLOAT);
    let mut last = [f32::INFINITY; 2];
    for (bits, bound) in [(2, 2.0), (3, 1.5), (4, 1.0), (5, 0.7), (6, 0.4), (8, 0.2)] {
        let got = scored(affine(bits));
        let errors = [
            off(&got.logits, &expected.logits),
            off(got.mtp_logits.as_ref().unwrap(), expected.mtp_logits.as_ref().unwrap()),
        ];
        println!("{bits} bits: logits {:.4}, MTP logits {:.4}", errors[0], errors[1]);
        assert!(errors.iter().all(|&error| 0.0 < error && error < bound), "{bits} bits: {errors:?}");
        assert!(errors[0] < last[0] && errors[1] < last[1], "{bits} bits: {errors:?} after {last:?}");
        last = errors;
    }
}

#[test]
fn a_converted_model_converts_like_its_source() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name);
    convert(&fixture("tiny-dense"), &path("once"), &settings(FLOAT));
    convert(&path("once"), &path("twice"), &settings(FLOAT));
    assert!(contents(&path("once")) == contents(&path("twice")));
    convert(&fixture("tiny-dense"), &path("direct"), &settings(affine(4)));
    convert(&path("once"), &path("detour"), &settings(affine(4)));
    assert!(contents(&path("direct")) == contents(&path("detour")));

    let error = refusal(&path("direct"), &path("again"), &settings(affine(4)));
    assert_eq!(error.code, "already_quantized");
    assert!(!path("again").exists() && !work_folder(&path("again")).exists());
}

#[test]
fn how_it_is_cut_up_changes_no_tensor() {
    let dir = TempDir::new().unwrap();
    for (index, format) in [
        affine(4),
        affine(3),
        affine(6),
        WeightFormat::Affine { bits: 8, group_size: 32 },
        WeightFormat::Affine { bits: 5, group_size: 64 },
        FLOAT,
    ]
    .into_iter()
    .enumerate()
    {
        let [whole, cut] = ["whole", "cut"].map(|name| dir.path().join(format!("{name}-{index}")));
        let report = convert(&fixture("tiny-dense"), &whole, &settings(format));
        assert_eq!(report.shards, 1);
        let mut go_on = |_: &ConversionProgress| ControlFlow::Continue(());
        let report = try_convert(&fixture("tiny-dense"), &cut, &settings(format), SMALL, &mut go_on).unwrap();
        assert!(report.shards > 5, "{report:?}");
        same_tensors(&whole, &cut);

        let index = self::index(&cut);
        let listed = read_json(&cut.join("model.safetensors.index.json"));
        let listed = listed["weight_map"].as_object().unwrap();
        assert_eq!(listed.len(), index.tensors.len());
        assert!(listed.keys().is_sorted());
        for (name, tensor) in &index.tensors {
            assert_eq!(tensor.file, cut.join(listed[name].as_str().unwrap()), "{name}");
        }
        for (number, file) in index.files.iter().enumerate() {
            let name = format!("model-{:05}-of-{:05}.safetensors", number + 1, report.shards);
            assert_eq!(
                (file.path.as_path(), file.format.as_deref()),
                (cut.join(name).as_path(), Some("mlx"))
            );
            let tensors = index.tensors.values().filter(|tensor| tensor.file == file.path);
            let sizes: Vec<u64> = tensors.map(|tensor| tensor.bytes).collect();
            assert!(sizes.iter().sum::<u64>() <= SMALL.shard_bytes || sizes.len() == 1, "{sizes:?}");
        }
    }
}

/// Not a test of its own: a process that is killed, with no chance to tidy up, when a conversion has come this far.
#[test]
fn killed_conversion() {
    let Ok(job) = std::env::var(KILLED) else { return };
    let (source, out, at, plan): (PathBuf, PathBuf, u64, Option<String>) =
        serde_json::from_str(&job).unwrap();
    let mut observe = |progress: &ConversionProgress| {
        if progress.done >= at {
            let own = std::process::id().to_string();
            Command::new("kill").args(["-9", &own]).status().unwrap();
        }
        ControlFlow::Continue(())
    };
    match plan {
        None => try_convert(&source, &out, &settings(affine(4)), SMALL, &mut observe),
        Some(plan) => try_planned(&source, &out, &Plan::parse(&plan).unwrap(), None, SMALL, &mut observe),
    }
    .unwrap();
    panic!("nothing killed it");
}

fn kill_at(source: &Path, out: &Path, at: u64, plan: Option<&Plan>) {
    let plan = plan.map(|plan| plan.to_json().to_string());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed_conversion", "--nocapture"])
        .env(KILLED, serde_json::to_string(&(source, out, at, plan)).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), None, "killed by a signal");
    assert!(!out.exists());
    assert!(inspected(&work_folder(out)).is_err(), "half a result must not look like a model");
}

#[test]
fn a_conversion_that_was_killed_goes_on_to_the_same_result() {
    let dir = TempDir::new().unwrap();
    let (source, whole) = (fixture("tiny-dense"), dir.path().join("whole"));
    let mut total = 0;
    let mut count = |progress: &ConversionProgress| {
        total = progress.total;
        ControlFlow::Continue(())
    };
    let report = try_convert(&source, &whole, &settings(affine(4)), SMALL, &mut count).unwrap();
    assert!(!report.resumed);
    let expected = contents(&whole);
    for percent in [0, 20, 45, 70, 80, 99] {
        let out = dir.path().join(format!("out-{percent}"));
        kill_at(&source, &out, total * percent / 100, None);
        if percent == 70 {
            kill_at(&source, &out, total * 85 / 100, None);
        }
        let mut first = None;
        let mut observe = |progress: &ConversionProgress| {
            first.get_or_insert(*progress);
            ControlFlow::Continue(())
        };
        let report = try_convert(&source, &out, &settings(affine(4)), SMALL, &mut observe).unwrap();
        assert!(report.resumed);
        let found = contents(&out);
        assert!(found.keys().eq(expected.keys()), "{percent} %: {:?}", found.keys());
        for (name, bytes) in &found {
            assert!(bytes == &expected[name], "{percent} %: {name}");
        }
        let begun_at = first.unwrap().done * 100 / total;
        assert!(percent < 20 || begun_at + 15 >= percent.min(75), "{percent} %: went on at {begun_at} %");
        assert!(!work_folder(&out).exists());
    }
}

#[test]
fn a_killed_conversion_by_a_plan_goes_on_and_another_plan_begins_anew() {
    let dir = TempDir::new().unwrap();
    let (source, whole) = (fixture("tiny-dense"), dir.path().join("whole"));
    let [plan, other] = [0, 1].map(|shift| mixed(&source, Method::Fit, shift));
    let mut total = 0;
    let mut count = |progress: &ConversionProgress| {
        total = progress.total;
        ControlFlow::Continue(())
    };
    try_planned(&source, &whole, &plan, None, SMALL, &mut count).unwrap();
    for percent in [30, 60, 90] {
        let out = dir.path().join(format!("out-{percent}"));
        kill_at(&source, &out, total * percent / 100, Some(&plan));
        assert!(convert_planned(&source, &out, &plan, SMALL).resumed);
        assert!(contents(&out) == contents(&whole), "{percent} %");
    }
    let out = dir.path().join("other");
    kill_at(&source, &out, total / 2, Some(&other));
    assert!(!convert_planned(&source, &out, &plan, SMALL).resumed);
    assert!(contents(&out) == contents(&whole));
}

#[test]
fn what_was_begun_for_another_source_or_recipe_is_not_used() {
    let dir = TempDir::new().unwrap();
    let other = dir.path().join("other");
    copy_demo_model(&other);
    let stop_at = |source: &Path, out: &Path, settings: &ConversionSettings| {
        let mut calls = 0;
        let mut observe = |_: &ConversionProgress| {
            calls += 1;
            if calls > 200 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let error = try_convert(source, out, settings, SMALL, &mut observe).unwrap_err();
        assert_eq!(error.code, "cancelled");
        assert!(work_folder(out).join("journal.jsonl").exists() && !out.exists());
    };
    let mut go_on = |_: &ConversionProgress| ControlFlow::Continue(());

    let (out, expected) = (dir.path().join("out"), dir.path().join("expected"));
    try_convert(&fixture("tiny-dense"), &expected, &settings(affine(4)), SMALL, &mut go_on).unwrap();
    stop_at(&other, &out, &settings(affine(4)));
    let report = try_convert(&fixture("tiny-dense"), &out, &settings(affine(4)), SMALL, &mut go_on).unwrap();
    assert!(!report.resumed);
    assert!(contents(&out) == contents(&expected));

    let out = dir.path().join("recipe");
    stop_at(&fixture("tiny-dense"), &out, &settings(affine(8)));
    let report = try_convert(&fixture("tiny-dense"), &out, &settings(affine(4)), SMALL, &mut go_on).unwrap();
    assert!(!report.resumed);
    assert!(contents(&out) == contents(&expected));

    // The same folder, with other weights in it.
    let out = dir.path().join("weights");
    stop_at(&other, &out, &settings(affine(4)));
    fs::write(other.join("touched"), "").unwrap();
    let tensors = other.join("model.safetensors");
    fs::copy(demo_model().join("model.safetensors"), &tensors).unwrap();
    let later = fs::metadata(&tensors).unwrap().modified().unwrap() + std::time::Duration::from_secs(5);
    fs::File::options().write(true).open(&tensors).unwrap().set_modified(later).unwrap();
    assert!(!try_convert(&other, &out, &settings(affine(4)), SMALL, &mut go_on).unwrap().resumed);
}

#[test]
fn what_does_not_read_as_it_was_written_is_converted_again() {
    let dir = TempDir::new().unwrap();
    let [out, expected] = ["out", "expected"].map(|name| dir.path().join(name));
    convert(&fixture("tiny-dense"), &expected, &settings(affine(4)));
    let tensors = work_folder(&out).join("model.safetensors");
    let mut damaged = false;
    let mut damage = |progress: &ConversionProgress| {
        if progress.tensors_done == progress.tensors && !damaged {
            damaged = true;
            let mut bytes = fs::read(&tensors).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(&tensors, bytes).unwrap();
        }
        ControlFlow::Continue(())
    };
    let once = Limits::default();
    let error =
        try_convert(&fixture("tiny-dense"), &out, &settings(affine(4)), once, &mut damage).unwrap_err();
    assert_eq!(error.code, "damaged", "{error}");
    assert!(!out.exists() && inspected(&work_folder(&out)).is_err());
    assert!(convert(&fixture("tiny-dense"), &out, &settings(affine(4))).resumed);
    assert!(contents(&out) == contents(&expected));
}

#[test]
fn weights_that_are_no_numbers_are_named_and_leave_no_model() {
    let dir = TempDir::new().unwrap();
    let (source, out) = (dir.path().join("source"), dir.path().join("out"));
    write_demo_with_value(&source, "mtp.layers.0.mlp.up_proj.weight", f32::NAN);
    let error = refusal(&source, &out, &settings(affine(4)));
    assert_eq!(error.code, "non_finite_tensor");
    assert!(error.message.contains("mtp.layers.0.mlp.up_proj.weight"), "{error}");
    assert!(!out.exists() && inspected(&work_folder(&out)).is_err());

    let (source, out) = (dir.path().join("large"), dir.path().join("half"));
    write_demo_with_value(&source, "model.language_model.layers.0.mlp.up_proj.weight", 1e5);
    let half = ConversionSettings { dtype: Some(FloatFormat::Float16), ..settings(affine(4)) };
    let error = refusal(&source, &out, &half);
    assert_eq!(error.code, "overflow");
    assert!(
        error.message.contains("layers.0.mlp.up_proj.weight") && error.hint.contains("bfloat16"),
        "{error}"
    );
    convert(&source, &dir.path().join("bfloat16"), &settings(affine(4)));
}

#[test]
fn the_model_computes_in_the_type_that_was_asked_for() {
    let dir = TempDir::new().unwrap();
    for (dtype, expected) in
        [(FloatFormat::Float16, FloatType::Float16), (FloatFormat::Float32, FloatType::Float32)]
    {
        let out = dir.path().join(expected.name());
        convert(&demo_model(), &out, &ConversionSettings { dtype: Some(dtype), ..settings(affine(8)) });
        let config = Config::read(&out).unwrap();
        let layout = Layout::plan(&config, &index(&out)).unwrap();
        assert_eq!((layout.compute, config.dtype), (expected, Some(expected)));
        let ids: Vec<u32> = (3..90).collect();
        let error = off(
            &score(&load(&out), &ids, 64).unwrap().logits,
            &score(&load(&demo_model()), &ids, 64).unwrap().logits,
        );
        assert!(error < 0.1, "{expected}: {error}");
    }
}

#[test]
fn a_source_whose_head_cannot_be_used_is_refused() {
    let dir = TempDir::new().unwrap();
    let source = dir.path().join("source");
    fs::create_dir(&source).unwrap();
    for file in fs::read_dir(Cases::of("heads").checkpoint("stripped-raw")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), source.join(file.file_name())).unwrap();
    }
    fs::write(source.join("mtp.safetensors"), "half a file").unwrap();
    let refused = refusal(&source, &dir.path().join("out"), &settings(affine(4)));
    assert_eq!(refused.code, "head_unusable");
    assert!(refused.message.contains("mtp.safetensors"), "{refused}");
}

#[test]
fn what_is_in_the_way_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("out");
    let four = settings(affine(4));
    fs::create_dir(&out).unwrap();
    fs::write(out.join("notes.txt"), "mine").unwrap();
    assert_eq!(refusal(&demo_model(), &out, &four).code, "target_exists");
    assert_eq!(refusal(&demo_model(), &out.join("notes.txt"), &four).code, "target_exists");
    assert_eq!(refusal(&demo_model(), Path::new("/"), &four).code, "bad_target");

    let taken = dir.path().join("taken");
    fs::create_dir(work_folder(&taken)).unwrap();
    fs::write(work_folder(&taken).join("notes.txt"), "mine").unwrap();
    assert_eq!(refusal(&demo_model(), &taken, &four).code, "work_folder_taken");
    for file in [out.join("notes.txt"), work_folder(&taken).join("notes.txt")] {
        assert_eq!(fs::read_to_string(file).unwrap(), "mine");
    }

    // The name of a journal makes no journal.
    let work = work_folder(&taken);
    for journal in ["", "{\"mine\": 1}\n", "mine"] {
        fs::write(work.join("journal.jsonl"), journal).unwrap();
        assert_eq!(refusal(&demo_model(), &taken, &four).code, "work_folder_taken");
        assert_eq!(fs::read_to_string(work.join("journal.jsonl")).unwrap(), journal);
        assert_eq!(fs::read_to_string(work.join("notes.txt")).unwrap(), "mine");
    }
    // Nor does work that is thrown away take other files with it.
    let shared = dir.path().join("shared");
    let mut stop = |_: &ConversionProgress| ControlFlow::Break(());
    try_convert(&demo_model(), &shared, &four, Limits::default(), &mut stop).unwrap_err();
    fs::write(work_folder(&shared).join("notes.txt"), "mine").unwrap();
    try_convert(&demo_model(), &shared, &settings(affine(8)), Limits::default(), &mut stop).unwrap_err();
    assert_eq!(contents(&work_folder(&shared))["notes.txt"], b"mine");

    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let mut second = None;
    let mut observe = |_: &ConversionProgress| {
        second.get_or_insert_with(|| refusal(&demo_model(), &empty, &four));
        ControlFlow::Continue(())
    };
    try_convert(&demo_model(), &empty, &four, Limits::default(), &mut observe).unwrap();
    assert_eq!(second.unwrap().code, "busy");
    inspected(&empty).unwrap();
}

#[test]
fn a_conversion_whose_owner_is_just_ending_is_waited_for() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("out");
    let four = settings(affine(4));
    let mut stop = |_: &ConversionProgress| ControlFlow::Break(());
    let cancelled = try_convert(&demo_model(), &out, &four, Limits::default(), &mut stop).unwrap_err();
    assert_eq!(cancelled.code, "cancelled");
    let journal = fs::File::open(work_folder(&out).join("journal.jsonl")).unwrap();
    journal.lock().unwrap();
    let ending = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        drop(journal);
    });
    let mut go_on = |_: &ConversionProgress| ControlFlow::Continue(());
    try_convert(&demo_model(), &out, &four, Limits::default(), &mut go_on).unwrap();
    ending.join().unwrap();
    inspected(&out).unwrap();
}

#[test]
fn a_head_that_the_config_forgot_is_declared() {
    let dir = TempDir::new().unwrap();
    let (source, out) = (dir.path().join("source"), dir.path().join("out"));
    copy_demo_model(&source);
    edit_json(&source, "config.json", |config| {
        let text = config["text_config"].as_object_mut().unwrap();
        text.remove("mtp_num_hidden_layers");
        text.insert("mtp_norm_encoding".into(), json!("delta"));
    });
    convert(&source, &out, &settings(FLOAT));
    let config = read_json(&out.join("config.json"));
    assert_eq!(config["text_config"]["mtp_num_hidden_layers"], 1);
    convert(&demo_model(), &dir.path().join("plain"), &settings(FLOAT));
    same_tensors(&out, &dir.path().join("plain"));
    // Norms that have their one must not be declared to lack it.
    assert!(contents(&out)["config.json"] == contents(&dir.path().join("plain"))["config.json"]);
}

fn engine(arguments: &[&str]) -> Output {
    Command::new(built("foretoken-engine")).arg("convert").args(arguments).output().unwrap()
}

/// What the command has printed, a JSON object a line.
fn lines(output: &Output) -> Vec<Value> {
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn of_type(lines: &[Value], kind: &str) -> Vec<Value> {
    lines.iter().filter(|line| line["type"] == kind).cloned().collect()
}

#[test]
fn what_the_command_writes_loads_and_replies() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let source = demo_model().to_str().unwrap().to_owned();
    let output = engine(&["--json", "--source", &source, "--out", &path("out")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    let progress: Vec<ConversionProgress> =
        of_type(&lines, "progress").into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
    for at in &progress {
        assert!(at.done <= at.total && at.tensors_done <= at.tensors, "{at:?}");
        assert!((1..=at.shards).contains(&at.shard), "{at:?}");
    }
    assert!(progress.is_sorted_by_key(|at| at.done), "{progress:?}");
    let last = progress.last().unwrap();
    assert_eq!((last.done, last.tensors_done), (last.total, last.tensors));

    let report: ConversionReport = serde_json::from_value(of_type(&lines, "converted").remove(0)).unwrap();
    assert_eq!((report.path.clone(), report.resumed), (path("out"), false));
    assert!(report.bytes < report.source_bytes / 3, "{report:?}");
    let mut go_on = |_, _| ControlFlow::Continue(());
    let mut session = Session::load(Path::new(&report.path), &mut go_on).unwrap();
    assert_eq!((session.info.parameters, session.info.weight_bytes), (report.parameters, report.bytes));
    let message = ChatMessage::user("Tell me a story.");
    let settings = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Fixed { depth: 2 },
        max_tokens: 8,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    let prompt = session.chat_prompt(&[message], None, false).unwrap();
    let request = ReplyRequest::new(prompt, settings);
    let reply = session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(reply.stats.emitted, 8);

    let output = engine(&["--source", &report.path, "--out", &path("again")]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && message.contains("is quantized already"), "{message}");
    assert!(!Path::new(&path("again")).exists());
}

/// Nobody needs to be told any more, and what is done is kept.
#[test]
fn a_conversion_ends_where_nobody_reads_what_it_prints() {
    let dir = TempDir::new().unwrap();
    let (source, out) = (dir.path().join("large"), dir.path().join("out"));
    fs::create_dir(&source).unwrap();
    // A gigabyte of zeros to read.
    write_with_vocab(&source, 1 << 23);
    let mut process = Command::new(built("foretoken-engine"))
        .args(["convert", "--json", "--source", source.to_str().unwrap(), "--out", out.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("\"progress\"")));
    drop(lines);
    process.wait().unwrap();
    assert!(work_folder(&out).is_dir() && !out.exists());
}

#[test]
fn the_command_measures_what_has_changed_and_tells_what_it_does() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let ids: Vec<u32> = (3..90).collect();
    fs::write(path("ids"), json!(ids).to_string()).unwrap();
    let source = demo_model().to_str().unwrap().to_owned();
    let arguments = ["--source", &source, "--out", &path("out"), "--bits", "3", "--measure", &path("ids")];
    let output = engine(&[&arguments[..], &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    let (progress, converted) = (of_type(&lines, "progress"), of_type(&lines, "converted"));
    let (comparing, evidence) = (of_type(&lines, "comparing"), of_type(&lines, "evidence"));
    assert_eq!(progress.len() + converted.len() + comparing.len() + 1, lines.len());
    let [found] = &evidence[..] else { panic!("{evidence:?}") };
    for (figures_of, model) in [("reference", demo_model()), ("model", path("out").into())] {
        let expected = figures(&load(&model), &ids, 512).unwrap();
        // The logits here are not rounded to the type that the models compute in.
        let off = found[figures_of]["mean_nll"].as_f64().unwrap() - expected.mean_nll.unwrap();
        assert!(off.abs() < 0.02, "{found}, {expected:?}");
        let off = found[figures_of]["mtp_acceptance"].as_f64().unwrap() - expected.mtp_acceptance.unwrap();
        assert!(off.abs() < 0.05, "{found}, {expected:?}");
    }
    assert_ne!(found["reference"], found["model"]);
    assert!(found["tokens"] == 87 && found["kl"].as_f64().unwrap() > 1e-4, "{found}");
    let last = progress.last().unwrap();
    assert_eq!((&last["done"], &last["tensors_done"]), (&last["total"], &last["tensors"]));
    assert_eq!(converted[0]["path"], path("out").as_str());

    let output = engine(&["--source", &source, "--out", &path("out")]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && message.contains("not empty") && message.lines().count() == 1,
        "{message}"
    );
    for (wrong, said) in [
        (["--bits", "7"], "7 bits"),
        (["--group-size", "48"], "48"),
        (["--bits", "many"], "none"),
        (["--mtp-bits", "3"], "same"),
    ] {
        let output = engine(&[&["--source", &source, "--out", &path("wrong")], &wrong[..]].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(said), "{wrong:?}: {message}");
    }
    let output = engine(&["--source", &source, "--out", &path("wrong"), "--mode", "mxfp8", "--bits", "4"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("8 bits"));
    assert!(!Path::new(&path("wrong")).exists());
}

#[test]
fn the_command_says_what_it_will_take_and_does_no_more() {
    let dir = TempDir::new().unwrap();
    let (source, out) = (demo_model(), dir.path().join("out"));
    let [source, out] = [&source, &out].map(|path| path.to_str().unwrap());
    let output = engine(&["--source", source, "--out", out, "--target-bits", "4", "--outlook", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    let [told] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(told["type"], "outlook");
    for figure in ["seconds", "peak_bytes", "disk_bytes", "tokens"] {
        assert!(told[figure].as_f64().is_some_and(|value| value > 0.0), "{told}");
    }
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none(), "nothing is written");
}

#[test]
fn the_command_follows_a_plan() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let plan = mixed(&demo_model(), Method::Rtn, 0);
    fs::write(path("plan.json"), format!("{:#}", plan.to_json())).unwrap();
    let source = demo_model().to_str().unwrap().to_owned();
    let arguments = ["--source", &source, "--out", &path("out"), "--plan", &path("plan.json")];
    let output = engine(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    convert_planned(&demo_model(), &dir.path().join("direct"), &plan, Limits::default());
    assert!(contents(&dir.path().join("out")) == contents(&dir.path().join("direct")));

    fs::write(path("wrong.json"), plan.to_json().to_string().replace("rtn", "best")).unwrap();
    for (arguments, said) in [
        (&["--plan", &path("wrong.json")][..], "method is \"best\""),
        (&["--plan", &path("none.json")], "none.json"),
        (&["--plan", &path("plan.json"), "--bits", "4"], "--bits"),
        (&["--plan", &path("plan.json"), "--mtp-bits", "8"], "--mtp-bits"),
    ] {
        let output = engine(&[&["--source", &source, "--out", &path("refused")], arguments].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(said), "{arguments:?}: {message}");
    }
    assert!(!Path::new(&path("refused")).exists());
}

/// A limit on the size of files fails as a full disk does: in the middle of a write.
#[test]
fn a_full_disk_leaves_a_conversion_that_can_go_on() {
    let dir = TempDir::new().unwrap();
    let [out, expected] = ["out", "expected"].map(|name| dir.path().join(name));
    convert(&demo_model(), &expected, &settings(affine(4)));
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 400; exec \"$@\"", "sh"])
        .arg(built("foretoken-engine"))
        .args(["convert", "--source", demo_model().to_str().unwrap(), "--out", out.to_str().unwrap()])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && message.contains("Free some space"), "{message}");
    assert!(!out.exists() && inspected(&work_folder(&out)).is_err());
    let report = convert(&demo_model(), &out, &settings(affine(4)));
    assert!(report.resumed);
    assert!(contents(&out) == contents(&expected));
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the peak of a process's memory is read from /proc")]
fn memory_does_not_grow_with_a_tensor() {
    const MIB: u64 = 1 << 20;
    let peak = |tensor_bytes: u64| {
        let dir = TempDir::new().unwrap();
        let (source, out) = (dir.path().join("source"), dir.path().join("out"));
        fs::create_dir(&source).unwrap();
        write_with_vocab(&source, tensor_bytes / 128);
        let mut process = Command::new(built("foretoken-engine"))
            .args(["convert", "--json", "--source", source.to_str().unwrap(), "--out", out.to_str().unwrap()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let status_file = format!("/proc/{}/status", process.id());
        let mut peak = 0;
        for line in BufReader::new(process.stdout.take().unwrap()).lines() {
            line.unwrap();
            let status = fs::read_to_string(&status_file).unwrap_or_default();
            let high = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let high = high.and_then(|high| high.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
            peak = peak.max(high.unwrap_or(0) * 1024);
        }
        assert!(process.wait().unwrap().success());
        assert_eq!(inspected(&out).unwrap().files, 1);
        println!("{} MiB tensor: peak {} MiB", tensor_bytes / MIB, peak / MIB);
        peak
    };
    let (small, large) = (peak(128 * MIB), peak(640 * MIB));
    assert!(0 < small && large < 320 * MIB, "{small}, {large}");
    assert!(large < small + 32 * MIB, "{small}, {large}");
}
