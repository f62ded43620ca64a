//! The memory need that is told before loading against what MLX then counts.

use std::path::Path;

use foretoken_engine::checkpoint::{Files, Metadata, inspect};
use foretoken_engine::decode::Batch;
use foretoken_engine::mlx::{self, Dtype};
use foretoken_tests::fixtures::{demo_model, fixture, load, write_converted, write_raw};
use foretoken_tests::runs::{greedy, read};

/// Tokens of the reply at the end of the context.
const REPLY: usize = 2;

/// MLX's peak over loading the model in a folder and a reply at the end of so many tokens.
fn measured(dir: &Path, context: usize) -> u64 {
    mlx::clear_cache();
    let before = mlx::active_memory();
    mlx::reset_peak_memory();
    let model = load(dir);
    let prompt: Vec<u32> = (0..(context - REPLY) as u32).map(|i| i * 7 % 250).collect();
    let mut batch = Batch::default();
    batch.join(read(&model, 0, &greedy(&prompt, REPLY))).unwrap();
    while !batch.rows().is_empty() {
        batch.step(&model, &[1]).unwrap();
    }
    (mlx::peak_memory() - before) as u64
}

// One test, because MLX counts for the whole process.
#[test]
fn the_memory_told_beforehand_is_what_is_then_needed() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, write: &dyn Fn(&Path)| {
        let dir = folder.path().join(name);
        std::fs::create_dir(&dir).unwrap();
        write(&dir);
        dir
    };
    let tiny = fixture("tiny-dense");
    let mut wrong = Vec::new();
    for dir in [
        demo_model(),
        made("demo-f32", &|dir| write_raw(&demo_model(), dir, Dtype::Float32)),
        made("demo-q4", &|dir| write_converted(&demo_model(), dir, 4, Dtype::Bfloat16)),
        tiny.clone(),
        made("tiny-f32", &|dir| write_raw(&tiny, dir, Dtype::Float32)),
        fixture("tiny-dense-q4f32"),
    ] {
        let metadata = Metadata::read(&dir, Files::Whole).unwrap();
        for context in [256, 512, 4096] {
            let told = inspect(&metadata, Some(context)).unwrap().memory.total;
            let measured = measured(&dir, context as usize);
            let error = told as f64 / measured as f64 - 1.0;
            println!(
                "{} at {context}: {measured} measured, {told} told, {:+.1} %",
                dir.display(),
                error * 100.0
            );
            if error.abs() > 0.05 {
                wrong.push(format!("{} at {context}: {:+.1} %", dir.display(), error * 100.0));
            }
        }
    }
    assert!(wrong.is_empty(), "more than 5 % off: {wrong:?}");
}
