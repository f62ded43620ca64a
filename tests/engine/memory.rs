//! The memory need that is told before loading against what MLX then counts.

use std::path::Path;
use std::sync::Arc;

use foretoken_engine::checkpoint::{Config, Files, Index, Layout, Metadata};
use foretoken_engine::decode::{Batch, DraftPlan, HeadInput, PromptPicture, RowSpec};
use foretoken_engine::inspect::inspect_drafted;
use foretoken_engine::mlx::{self, Dtype};
use foretoken_engine::model::{ImageSpan, Qwen, Vision};
use foretoken_pictures::{PIXELS_FILE, Pixels, PixelsFile};
use foretoken_protocol::KvPrecision;
use foretoken_tests::drafted::{dflash, draft_config, load_draft, write_draft};
use foretoken_tests::fixtures::{demo_model, edit_json, fixture, load_keeping, write_converted, write_raw};
use foretoken_tests::oracle::{Cases, write_random, write_vision};
use foretoken_tests::runs::{greedy, read};
use serde_json::{Value, json};

/// What the told need may be off by, relative to it.
const BOUND: f64 = 0.05;
/// What it may be off by in bytes: in models of a few megabytes, when MLX happens to free a buffer is more than 5 %.
const NOISE: f64 = 2e6;
/// Tokens of the reply at the end of the context.
const REPLY: usize = 2;

/// MLX's peak over loading the model in a folder, with the draft model in another, and a reply at the end of so many
/// tokens.
fn measured(dir: &Path, draft: Option<&Path>, kv_precision: KvPrecision, context: usize) -> u64 {
    mlx::clear_cache();
    let before = mlx::active_memory();
    mlx::reset_peak_memory();
    let model = load_keeping(dir, kv_precision);
    let model = Qwen { draft: draft.map(load_draft), ..model };
    let prompt: Vec<u32> = (0..(context - REPLY) as u32).map(|i| i * 7 % 250).collect();
    let mut batch = Batch::default();
    batch.join(read(&model, 0, &greedy(&prompt, REPLY))).unwrap();
    while !batch.rows().is_empty() {
        batch.step(&model, &[if draft.is_some() { dflash(1) } else { DraftPlan::from(1) }]).unwrap();
    }
    (mlx::peak_memory() - before) as u64
}

/// MLX's peak over loading the model in a folder and its tower, looking at a picture, and a reply at the end of so many
/// tokens, and the picture's pixels.
fn measured_with_picture(dir: &Path, side: u32, context: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let rgb = (0..side * side * 3).map(|i| (i * 7 % 251) as u8).collect();
    Pixels::new(side, side, rgb).write(folder.path()).unwrap();
    let pixels = Arc::new(PixelsFile::open(&folder.path().join(PIXELS_FILE)).unwrap());
    mlx::clear_cache();
    let before = mlx::active_memory();
    mlx::reset_peak_memory();
    let config = Config::read(dir).unwrap();
    let layout = Layout::plan(&config, &Index::read(dir, &config).unwrap()).unwrap();
    let model = load_keeping(dir, KvPrecision::Full);
    let vision = Vision::load(&config, layout.vision.tower().unwrap(), layout.compute).unwrap();
    let model = Qwen { vision: Some(vision), ..model };
    let prompt: Vec<u32> = (0..(context - REPLY) as u32).map(|i| i * 7 % 250).collect();
    let tokens = side as usize / 32;
    let span = ImageSpan { begin: 8, rows: tokens, columns: tokens };
    let pictures = vec![PromptPicture { span, key: 5000, pixels, head_input: HeadInput::Features }];
    let mut batch = Batch::default();
    batch.join(read(&model, 0, &RowSpec { pictures, ..greedy(&prompt, REPLY) })).unwrap();
    while !batch.rows().is_empty() {
        batch.step(&model, &[DraftPlan::from(1)]).unwrap();
    }
    (mlx::peak_memory() - before) as u64
}

fn large_draft(window: usize) -> Value {
    let mut config = draft_config(window);
    let kinds = [["sliding_attention"; 3].as_slice(), &["full_attention"]].concat().repeat(2);
    for (key, value) in [
        ("num_hidden_layers", json!(kinds.len())),
        ("layer_types", json!(kinds)),
        ("num_attention_heads", json!(8)),
        ("num_key_value_heads", json!(8)),
        ("head_dim", json!(64)),
    ] {
        config[key] = value;
    }
    config
}

#[test]
fn the_memory_told_beforehand_is_what_is_then_needed() {
    compare(false);
}

#[test]
#[ignore = "takes a minute more"]
fn the_memory_told_beforehand_is_what_is_then_needed_at_any_length() {
    compare(true);
}

/// Each model at a short and at a long context, or at one of them, by turns. MLX counts for the whole process, in which
/// nothing else may run.
fn compare(both: bool) {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, write: &dyn Fn(&Path)| {
        let dir = folder.path().join(name);
        std::fs::create_dir(&dir).unwrap();
        write(&dir);
        dir
    };
    let tiny = fixture("tiny-dense");
    let (layouts, quantized) = (Cases::of("layouts"), Cases::of("quantizations"));
    let mut wrong = Vec::new();
    let as_computed = [
        demo_model(),
        made("demo-f32", &|dir| write_raw(&demo_model(), dir, Dtype::Float32)),
        made("demo-q4", &|dir| write_converted(&demo_model(), dir, 4, Dtype::Bfloat16)),
        tiny.clone(),
        made("tiny-f32", &|dir| write_raw(&tiny, dir, Dtype::Float32)),
        fixture("tiny-dense-q4f32"),
        layouts.checkpoint("tiny-moe-q36"),
        layouts.checkpoint("tiny-next"),
        quantized.checkpoint("moe-affine-4-64"),
        made("small-dense", &|dir| write_random("small-dense", dir)),
    ];
    let in_8_bits = [demo_model(), folder.path().join("small-dense")].map(|dir| (dir, KvPrecision::Eight));
    // A draft model that keeps many times of what the model does, and for most of its layers only so far back.
    let with_drafts = [256, 768].map(|window| {
        let draft = made(&format!("draft-{window}"), &|dir| write_draft(dir, &large_draft(window)));
        (folder.path().join("tiny-f32"), KvPrecision::Full, Some(draft))
    });
    let alone = as_computed.map(|dir| (dir, KvPrecision::Full)).into_iter().chain(in_8_bits);
    for (index, (dir, kv, draft)) in alone.map(|(dir, kv)| (dir, kv, None)).chain(with_drafts).enumerate() {
        let [metadata, beside] =
            [Some(&dir), draft.as_ref()].map(|dir| dir.map(|dir| Metadata::read(dir, Files::Whole).unwrap()));
        let metadata = metadata.unwrap();
        let contexts = [256, if draft.is_some() { 2000 } else { 1024 }];
        for &context in if both { &contexts[..] } else { &contexts[index % 2..][..1] } {
            let told = inspect_drafted(&metadata, beside.as_ref(), Some(context), kv).unwrap().memory.total;
            // A peak is the most of several: on a busy machine less is in flight at once.
            let is_off = |most: u64| (told as f64 - most as f64).abs() > (BOUND * most as f64).max(NOISE);
            let peak = || measured(&dir, draft.as_deref(), kv, context as usize);
            let mut most = peak();
            for _ in 0..2 {
                if is_off(most) {
                    most = most.max(peak());
                }
            }
            let off = told as f64 - most as f64;
            let beside = if draft.is_some() { " with a draft model" } else { "" };
            let found =
                format!("{}{beside} at {context}, {kv:?}: {most} measured, {told} told", dir.display());
            println!("{found}, {:+.1} %", 100.0 * off / most as f64);
            if is_off(most) {
                wrong.push(found);
            }
        }
    }
    for (dtype, side, context) in [("float32", 640, 1024), ("bfloat16", 384, 256)] {
        let dir = made(&format!("wide-{dtype}"), &|dir| {
            write_vision("wide-vision", dir, &["--dtype", dtype]);
            edit_json(dir, "preprocessor_config.json", |file| {
                file["size"]["longest_edge"] = (side * side).into();
            });
        });
        let metadata = Metadata::read(&dir, Files::Whole).unwrap();
        let told = inspect_drafted(&metadata, None, Some(context), KvPrecision::Full).unwrap().memory;
        let vision = told.vision.unwrap();
        assert_eq!(vision.pixels, u64::from(side * side));
        let most = (0..2).map(|_| measured_with_picture(&dir, side, context as usize)).max().unwrap();
        let off = vision.total as f64 - most as f64;
        let found = format!("a picture in {dtype}: {most} measured, {vision:?} told");
        println!("{found}, {:+.1} %", 100.0 * off / most as f64);
        if off.abs() > (BOUND * most as f64).max(NOISE) {
            wrong.push(found);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
