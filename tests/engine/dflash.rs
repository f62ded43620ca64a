//! DFlash and DFlash2 draft models against the definition (`oracle/dflash.py`): logits, context and selection in every
//! layout; and that their context is the same however it was read.

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use foretoken_engine::cache::{ContextKv, DraftContext, DraftContextError};
use foretoken_engine::checkpoint::{CheckpointError, DraftConfig, DraftLayout, Files, Metadata};
use foretoken_engine::mlx::{self, Array, Result, load_safetensors, save_safetensors};
use foretoken_engine::model::{DraftBlock, DraftError, DraftModel, DraftRow, DraftTarget, LoadError};
use foretoken_tests::fixtures::fixture;
use serde::Deserialize;
use serde_json::{Value, json};

/// The largest difference from what is computed in f64, for logits and keys of about 1.
const BOUND: f32 = 1e-5;
/// How far matrix products of different numbers of rows are apart.
const ROUNDING: f32 = 2e-6;

type Tensors = HashMap<String, Array>;

/// What the script has written.
struct Goldens {
    weights: Tensors,
    values: Tensors,
    cases: Vec<Case>,
}

#[derive(Debug, Clone, Deserialize)]
struct Case {
    name: String,
    config: Value,
    weights: String,
    /// Positions of the context, and guesses.
    runs: Vec<(usize, usize)>,
    /// The token behind the context.
    last: u32,
    /// Whether keys and values of the context are known.
    context: bool,
}

impl Goldens {
    fn read() -> Self {
        let folder = fixture("goldens/dflash");
        Self {
            weights: load_safetensors(&folder.join("weights.safetensors")).unwrap(),
            values: load_safetensors(&folder.join("goldens.safetensors")).unwrap(),
            cases: serde_json::from_slice(&fs::read(folder.join("cases.json")).unwrap()).unwrap(),
        }
    }

    fn case(&self, name: &str) -> &Case {
        self.cases.iter().find(|case| case.name == name).unwrap()
    }

    fn values(&self, name: &str) -> Vec<f32> {
        floats(&self.values[name])
    }

    /// The tensors of a case's checkpoint, as published.
    fn tensors(&self, case: &Case) -> Tensors {
        let is_second = |name: &str| name.contains("_conv.") || name.starts_with("candidate_selector.");
        let is_draft =
            |name: &str| !["quantized.", "target.", "features"].iter().any(|p| name.starts_with(p));
        let plain = self.weights.iter().filter(|(name, _)| is_draft(name));
        let plain = plain.filter(|(name, _)| case.weights == "dflash2" || !is_second(name));
        let mut tensors: Tensors = plain.map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
        if case.weights == "quantized" {
            for (name, tensor) in &self.weights {
                if let Some(name) = name.strip_prefix("quantized.") {
                    tensors.insert(name.to_owned(), tensor.clone());
                }
            }
        }
        tensors
    }

    fn model(&self, name: &str) -> DraftModel {
        let case = self.case(name);
        load(&case.config, &self.tensors(case)).unwrap()
    }

    /// What the target computes for some positions; the rows that are stored, over and over.
    fn features(&self, start: usize, end: usize) -> Array {
        let stored = &self.weights["features"];
        let rows: Vec<usize> = (start..end).map(|position| position % stored.dim(0) as usize).collect();
        mlx::take_rows(stored, &rows).unwrap()
    }

    fn target(&self) -> Target {
        Target { embed: self.weights["target.embed"].clone(), head: self.weights["target.head"].clone() }
    }
}

/// The ends of a target.
struct Target {
    embed: Array,
    head: Array,
}

impl DraftTarget for Target {
    fn embed(&self, ids: &Array) -> Result<Array> {
        mlx::take(&self.embed, ids, 0)
    }

    fn head(&self, normed: &Array) -> Result<Array> {
        normed.matmul(&self.head.swapaxes(0, 1)?)
    }
}

/// Writes a checkpoint and loads it.
fn load(config: &Value, tensors: &Tensors) -> std::result::Result<DraftModel, LoadError> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), config, tensors);
    let metadata = Metadata::read(folder.path(), Files::Whole).unwrap();
    let config = DraftConfig::of(&metadata)?.expect("a draft model");
    let layout = DraftLayout::of(&metadata, &config)?;
    let model = DraftModel::load(&config, &layout, &mut |_, _| ControlFlow::Continue(()))?;
    // Of dense matrices a second view is counted, so this is a lower bound for these too.
    let bytes: usize = model.arrays().iter().map(|array| array.nbytes()).sum();
    assert!(bytes as u64 >= layout.weight_bytes());
    Ok(model)
}

fn write(folder: &Path, config: &Value, tensors: &Tensors) {
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let arrays = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor));
    save_safetensors(&folder.join("model.safetensors"), arrays).unwrap();
}

fn floats(array: &Array) -> Vec<f32> {
    array.astype(mlx::Dtype::Float32).unwrap().to_vec().unwrap()
}

fn last(token: u32) -> Array {
    Array::from_slice(&[token], &[1]).unwrap()
}

/// The largest difference. Of infinities only equal ones are near, and nothing is near a NaN.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let off = a.iter().zip(b).map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() });
    off.fold(0.0, |most, off| if off.is_nan() { f32::INFINITY } else { most.max(off) })
}

/// A context of the first positions, read in one go.
fn context(goldens: &Goldens, model: &DraftModel, positions: usize) -> DraftContext {
    let mut context = model.empty_context();
    model.read(&goldens.features(0, positions), 0, &mut context).unwrap();
    context
}

fn draft<'a>(
    goldens: &Goldens,
    model: &'a DraftModel,
    count: usize,
    context: &mut DraftContext,
) -> DraftBlock<'a> {
    guess(goldens, model, 17, count, context).unwrap().unwrap()
}

/// What is guessed for a single row behind token `before`.
fn guess<'a>(
    goldens: &Goldens,
    model: &'a DraftModel,
    before: u32,
    count: usize,
    context: &mut DraftContext,
) -> std::result::Result<Option<DraftBlock<'a>>, DraftError> {
    let row = DraftRow { last: last(before), count, context };
    Ok(model.draft(&goldens.target(), &mut [row])?.pop().unwrap())
}

fn logits(goldens: &Goldens, model: &DraftModel, count: usize, context: &mut DraftContext) -> Vec<f32> {
    floats(draft(goldens, model, count, context).logits())
}

/// What every layer shows of a context.
fn visible(context: &DraftContext) -> Vec<Vec<f32>> {
    let of = |layer: &ContextKv| floats(&layer.visible().unwrap().unwrap());
    context.layers().iter().map(of).collect()
}

#[test]
fn every_case_gives_what_the_definition_gives() {
    let goldens = Goldens::read();
    assert_eq!(goldens.cases.len(), 16);
    let mut most = 0.0f32;
    for case in &goldens.cases {
        let model = goldens.model(&case.name);
        for &(positions, count) in &case.runs {
            let mut context = context(&goldens, &model, positions);
            let block = guess(&goldens, &model, case.last, count, &mut context).unwrap().unwrap();
            // The place of the token that is known gives nothing.
            assert_eq!((block.len(), block.logits().shape()), (count, &[count as i32, 64][..]));
            let named = |what: &str| format!("{}.{what}_{positions}_{count}", case.name);
            let off = distance(&floats(block.logits()), &goldens.values(&named("logits")));
            assert!(off < BOUND, "{}: {off}", named("logits"));
            most = most.max(off);
            assert_eq!(block.is_independent(), case.weights != "dflash2");
            if block.is_independent() {
                continue;
            }
            let path = goldens.values[&named("path")].to_vec::<i32>().unwrap();
            let found: Vec<i32> =
                block.greedy().unwrap().to_vec::<u32>().unwrap().into_iter().map(|id| id as i32).collect();
            assert_eq!(found, path, "{}", named("path"));
            let before = [&[case.last as i32], &path[..]].concat();
            let scores: Vec<f32> = (0..count)
                .flat_map(|index| floats(&block.guess(index, &last(before[index] as u32)).unwrap()))
                .collect();
            let off = distance(&scores, &goldens.values(&named("scores")));
            assert!(off < BOUND, "{}: {off}", named("scores"));
        }
        if !case.context {
            continue;
        }
        // Of layers with a window, what comes next sees the last five positions.
        for (layer, found) in visible(&context(&goldens, &model, 20)).into_iter().enumerate() {
            let seen = if layer == 0 { 5 } else { 20 };
            let [keys, values] = ["keys", "values"].map(|part| {
                let heads = &goldens.values[&format!("{}.{part}_{layer}", case.name)];
                floats(&heads.slice_axis(0, 20 - seen, 20).unwrap().transpose(&[1, 0, 2]).unwrap())
            });
            let off = distance(&found, &[keys, values].concat());
            assert!(off < BOUND, "{} layer {layer}: {off}", case.name);
        }
    }
    println!("at most {most:.1e} off");
}

/// The reference values of the cases differ by far more than what is allowed for, so that a wrong mask or rotation is
/// seen.
#[test]
fn cases_differ() {
    let goldens = Goldens::read();
    let of = |name: &str| goldens.values(&format!("{name}.logits_20_5"));
    for (one, other) in [
        ("by_layer_halves", "causal_halves"),
        ("by_layer_halves", "bidirectional_halves"),
        ("causal_halves", "bidirectional_halves"),
        ("by_layer_halves", "by_layer_interleaved"),
        ("by_layer_halves", "by_layer_yarn"),
        ("by_layer_halves", "narrow"),
        ("by_layer_halves", "all_full"),
        ("by_layer_halves", "scaled"),
        ("by_layer_halves", "quantized"),
        ("dflash2_halves", "bidirectional_halves"),
    ] {
        assert!(distance(&of(one), &of(other)) > 1e3 * BOUND, "{one} {other}");
    }
    // What is selected is not just what is likeliest.
    let logits = &goldens.values["dflash2_halves.logits_20_5"];
    let likeliest = mlx::argmax_axis(logits, -1).unwrap().to_vec::<u32>().unwrap();
    let path = goldens.values["dflash2_halves.path_20_5"].to_vec::<i32>().unwrap();
    assert!(path.iter().zip(likeliest).any(|(one, other)| *one as u32 != other), "{path:?}");
}

#[test]
fn every_layout_is_the_same_model() {
    let goldens = Goldens::read();
    for name in ["by_layer_halves", "quantized", "dflash2_halves"] {
        let case = goldens.case(name);
        let tensors = goldens.tensors(case);
        let expected = {
            let model = goldens.model(name);
            logits(&goldens, &model, 5, &mut context(&goldens, &model, 20))
        };
        let same = |what: &str, config: &Value, tensors: &Tensors| {
            let model = load(config, tensors).unwrap();
            let found = logits(&goldens, &model, 5, &mut context(&goldens, &model, 20));
            assert_eq!(found, expected, "{name} {what}");
        };
        for prefix in ["model.", "draft."] {
            let renamed = tensors.iter().map(|(name, tensor)| (format!("{prefix}{name}"), tensor.clone()));
            same(prefix, &case.config, &renamed.collect());
        }
        same("fused", &case.config, &fused(&tensors));
        let mut borrowed = tensors.clone();
        borrowed.insert("model.embed_tokens.weight".into(), goldens.weights["target.head"].clone());
        borrowed.insert("lm_head.weight".into(), goldens.weights["target.embed"].clone());
        same("with an embedding and a head", &case.config, &borrowed);
        // The schema of June 2026, which wins over what stands at the top.
        let mut nested = case.config.clone();
        let kept = nested["dflash_config"].as_object_mut().unwrap();
        kept.insert("block_size".into(), json!(6));
        kept.insert("num_target_layers".into(), json!(6));
        nested["block_size"] = json!(16);
        nested["num_target_layers"] = json!(41);
        same("nested", &nested, &tensors);
    }
}

/// With queries, keys and values of each layer in one matrix.
fn fused(tensors: &Tensors) -> Tensors {
    let mut fused = tensors.clone();
    for layer in 0..2 {
        for part in ["weight", "scales", "biases"] {
            let name = |projection: &str| format!("layers.{layer}.self_attn.{projection}.{part}");
            let parts: Vec<Array> =
                ["q_proj", "k_proj", "v_proj"].iter().filter_map(|p| fused.remove(&name(p))).collect();
            if !parts.is_empty() {
                let joined = mlx::concatenate(&parts.iter().collect::<Vec<_>>(), 0).unwrap();
                fused.insert(name("qkv_proj"), joined);
            }
        }
    }
    fused
}

#[test]
fn what_is_missing_or_strange_is_named() {
    let goldens = Goldens::read();
    let case = goldens.case("dflash2_halves");
    let tensors = goldens.tensors(case);
    let refused = |tensors: &Tensors| match load(&case.config, tensors).unwrap_err() {
        LoadError::Checkpoint(error) => error,
        error => panic!("{error}"),
    };
    for name in tensors.keys() {
        let mut tensors = tensors.clone();
        tensors.remove(name);
        match refused(&tensors) {
            CheckpointError::MissingTensor { name: missing } => {
                assert_eq!(missing.trim_end_matches(".weight"), name.trim_end_matches(".weight"));
            }
            error => panic!("without {name}: {error}"),
        }
    }
    for strange in
        ["fc_layernorm.weight", "layers.0.self_attn.attention_sink_bias", "layers.1.self_attn.g_proj.weight"]
    {
        let mut tensors = tensors.clone();
        tensors.insert(strange.into(), goldens.weights["norm.weight"].clone());
        match refused(&tensors) {
            CheckpointError::UnexpectedTensor { name, .. } => assert_eq!(name, strange),
            error => panic!("{strange}: {error}"),
        }
    }
    let mut broken = tensors.clone();
    let norm = floats(&tensors["norm.weight"]).into_iter().map(|_| f32::NAN).collect::<Vec<_>>();
    broken.insert("norm.weight".into(), Array::from_slice(&norm, &[norm.len() as i32]).unwrap());
    assert!(matches!(refused(&broken), CheckpointError::NonFiniteTensor { name } if name == "norm.weight"));
    let mut narrow = tensors.clone();
    narrow.insert("hidden_norm.weight".into(), tensors["layers.0.self_attn.q_norm.weight"].clone());
    assert!(
        matches!(refused(&narrow), CheckpointError::MisshapenTensor { name, .. } if name == "hidden_norm.weight")
    );
}

#[test]
fn the_context_is_the_same_however_it_was_read() {
    let goldens = Goldens::read();
    for name in ["by_layer_halves", "by_layer_yarn", "bidirectional_halves"] {
        let model = goldens.model(name);
        for positions in [4, 20, 255, 256, 257, 700] {
            let mut whole = context(&goldens, &model, positions);
            let (shown, expected) = (visible(&whole), logits(&goldens, &model, 5, &mut whole));
            for chunks in [&[1][..], &[3], &[3, 5], &[255], &[256], &[257], &[300, 1, 2]] {
                let (mut context, mut start) = (model.empty_context(), 0);
                for chunk in chunks.iter().cycle() {
                    let end = positions.min(start + chunk);
                    model.read(&goldens.features(start, end), start, &mut context).unwrap();
                    start = end;
                    if start == positions {
                        break;
                    }
                    // The last one is not evaluated before the block is run on it.
                    mlx::eval(context.arrays()).unwrap();
                }
                assert_eq!(context.end(), positions);
                let found = logits(&goldens, &model, 5, &mut context);
                let what = format!("{name}, {positions} in portions of {chunks:?}");
                assert!(distance(&found, &expected) < ROUNDING, "{what}: {}", distance(&found, &expected));
                for (found, shown) in visible(&context).iter().zip(&shown) {
                    assert!(distance(found, shown) < ROUNDING, "{what}: {}", distance(found, shown));
                }
            }
        }
    }
}

#[test]
fn an_entry_depends_on_its_own_token_alone() {
    let goldens = Goldens::read();
    let model = goldens.model("all_full");
    let before = visible(&context(&goldens, &model, 20));
    let mut features = floats(&goldens.features(0, 20));
    features[7 * 96 + 40] += 1.0;
    let features = Array::from_slice(&features, &[20, 96]).unwrap();
    let mut changed = model.empty_context();
    model.read(&features, 0, &mut changed).unwrap();
    for (before, after) in before.iter().zip(visible(&changed)) {
        for (index, (before, after)) in before.chunks(8).zip(after.chunks(8)).enumerate() {
            assert_eq!(before != after, index % 20 == 7, "position {}", index % 20);
        }
    }
}

#[test]
fn a_block_leaves_nothing_behind() {
    let goldens = Goldens::read();
    for name in ["by_layer_halves", "causal_yarn", "dflash2_halves"] {
        let model = goldens.model(name);
        for positions in [3, 20, 256, 300] {
            let mut context = context(&goldens, &model, positions);
            let snapshot = context.clone();
            let (shown, first) = (visible(&context), logits(&goldens, &model, 5, &mut context));
            assert_eq!(logits(&goldens, &model, 2, &mut context).len(), 2 * 64);
            assert_eq!(logits(&goldens, &model, 5, &mut context), first);
            assert_eq!((context.end(), visible(&context)), (positions, shown.clone()));
            // What is read next stands where the block stood.
            let next = goldens.features(positions, positions + 2);
            let mut undisturbed = snapshot.clone();
            for context in [&mut context, &mut undisturbed] {
                model.read(&next, positions, context).unwrap();
            }
            assert_eq!(visible(&context), visible(&undisturbed), "{name} {positions}");
            let both = [&mut context, &mut undisturbed].map(|c| logits(&goldens, &model, 5, c));
            assert_eq!(both[0], both[1]);
            assert_eq!((snapshot.end(), visible(&snapshot)), (positions, shown));
        }
    }
}

#[test]
fn runs_that_overlap_are_cut_and_gaps_are_errors() {
    let goldens = Goldens::read();
    let model = goldens.model("by_layer_halves");
    let mut empty = model.empty_context();
    assert!(guess(&goldens, &model, 17, 5, &mut empty).unwrap().is_none());
    let refused = model.read(&goldens.features(1, 2), 1, &mut empty).unwrap_err();
    let DraftError::Context(gap) = refused else { panic!("{refused}") };
    assert_eq!(gap, DraftContextError::Gap { position: 1, end: 0 });
    let mut context = context(&goldens, &model, 10);
    let before = visible(&context);
    let refused = model.read(&goldens.features(12, 14), 12, &mut context).unwrap_err();
    assert!(refused.to_string().contains("position 10") && refused.to_string().contains("12"), "{refused}");
    // Known positions, wrong as they are, change nothing.
    let noise = goldens.features(3, 9);
    model.read(&noise, 4, &mut context).unwrap();
    assert_eq!((context.end(), visible(&context)), (10, before));
    let mut in_order = context.clone();
    model.read(&goldens.features(6, 13), 6, &mut context).unwrap();
    model.read(&goldens.features(10, 13), 10, &mut in_order).unwrap();
    assert_eq!((context.end(), visible(&context)), (13, visible(&in_order)));

    assert!(guess(&goldens, &model, 17, 0, &mut context).unwrap().is_none());
    let refused = guess(&goldens, &model, 17, 6, &mut context).unwrap_err();
    assert!(matches!(refused, DraftError::TooMany { asked: 6, most: 5 }), "{refused}");
    let narrow = goldens.features(13, 14).slice_axis(1, 0, 95).unwrap();
    let refused = model.read(&narrow, 13, &mut context).unwrap_err();
    assert!(matches!(refused, DraftError::WrongFeatures { found: 95, expected: 96 }), "{refused}");
}

#[test]
fn a_context_that_goes_back_is_as_if_no_more_had_been_read() {
    let goldens = Goldens::read();
    let model = goldens.model("by_layer_halves");
    let read = |positions: usize| {
        let mut context = model.empty_context();
        for start in (0..positions).step_by(20) {
            let end = positions.min(start + 20);
            model.read(&goldens.features(start, end), start, &mut context).unwrap();
        }
        context
    };
    for (positions, back) in
        [(20, 20), (20, 19), (20, 3), (20, 0), (260, 1), (400, 390), (400, 300), (400, 0)]
    {
        let (mut context, mut expected) = (read(positions), read(back));
        context.truncate(back).unwrap();
        assert_eq!(context.end(), back);
        for context in [&mut context, &mut expected] {
            model.read(&goldens.features(back, back + 20), back, context).unwrap();
        }
        for (found, expected) in visible(&context).iter().zip(visible(&expected)) {
            let off = distance(found, &expected);
            assert!(off < ROUNDING, "from {positions} back to {back}: {off}");
        }
    }
    // 261 positions fill the window and what may be beside it; then all but the window goes.
    let mut context = read(400);
    let shown = visible(&context);
    let refused = context.truncate(100).unwrap_err();
    let DraftContextError::Dropped { position: 100, earliest } = refused else { panic!("{refused}") };
    assert_eq!((context.end(), visible(&context)), (400, shown));
    context.clone().truncate(earliest).unwrap();
    assert_eq!(
        context.truncate(earliest - 1).unwrap_err(),
        DraftContextError::Dropped { position: earliest - 1, earliest }
    );
    // A snapshot from there can.
    let snapshot = read(100);
    assert_eq!(snapshot.clone().end(), 100);
}

/// A draft model computes in its own type, whatever its target's is.
#[test]
fn hidden_states_of_another_type_are_read_in_the_draft_models_own() {
    let goldens = Goldens::read();
    for name in ["by_layer_yarn", "dflash2_halves"] {
        let case = goldens.case(name);
        let tensors = goldens.tensors(case);
        let bf16 =
            tensors.iter().map(|(name, t)| (name.clone(), t.astype(mlx::Dtype::Bfloat16).unwrap())).collect();
        let model = load(&case.config, &bf16).unwrap();
        assert_eq!(model.dtype(), mlx::Dtype::Bfloat16);
        let expected = goldens.values(&format!("{name}.logits_20_5"));
        for dtype in [mlx::Dtype::Float16, mlx::Dtype::Float32, mlx::Dtype::Bfloat16] {
            let mut context = model.empty_context();
            model.read(&goldens.features(0, 20).astype(dtype).unwrap(), 0, &mut context).unwrap();
            let found = logits(&goldens, &model, 5, &mut context);
            let off = distance(&found, &expected);
            // 8 bits of precision; a wrong mask or rotation makes a difference of 0.3 and more.
            assert!(off > 0.0 && off < 0.1, "{name} from {dtype:?}: {off}");
            assert!(context.arrays().all(|array| array.dtype() == mlx::Dtype::Bfloat16));
        }
    }
}

#[test]
fn a_window_bounds_what_a_context_takes() {
    let goldens = Goldens::read();
    let bytes = |name: &str, positions: usize| {
        let model = goldens.model(name);
        let (mut context, mut most) = (model.empty_context(), 0);
        for start in (0..positions).step_by(50) {
            model.read(&goldens.features(start, start + 50), start, &mut context).unwrap();
            mlx::eval(context.arrays()).unwrap();
            most = most.max(context.bytes());
        }
        (context.bytes(), most)
    };
    // Two heads of keys and two of values, 8 numbers each, in f32.
    let per_position = 2 * 2 * 8 * 4;
    let (full, _) = bytes("all_full", 2000);
    assert!(full >= 2 * 2000 * per_position && full <= 2 * 2600 * per_position, "{full}");
    let (hybrid, most) = bytes("by_layer_halves", 2000);
    let window = most - full / 2;
    assert!(hybrid <= most && window >= 5 * per_position && window <= 768 * per_position, "{window}");
}
