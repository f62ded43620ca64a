//! Pictures: the vision tower, prompts with pictures and what follows them, against the values of Hugging Face
//! transformers (`fixtures/goldens/tiny-vision`).

use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use foretoken_engine::checkpoint::{Config, Index, Layout};
use foretoken_engine::decode::{DraftPlan, PromptPicture, RowSpec};
use foretoken_engine::mlx::{self, Array};
use foretoken_engine::model::{ImageSpan, Placed, Qwen, Vision};
use foretoken_engine::score::score_with_pictures;
use foretoken_pictures::Pixels;
use foretoken_tests::fixtures::fixture;
use foretoken_tests::goldens::Goldens;
use foretoken_tests::oracle::write_vision;
use foretoken_tests::runs::{alone, greedy};
use foretoken_tests::states::{relative_values, together};

const PICTURES: [&str; 4] = ["a", "b", "c", "d"];
const PROMPTS: [&str; 5] = ["plain", "one", "two", "close", "late"];

fn goldens() -> Goldens {
    Goldens::read(&fixture("goldens/tiny-vision"))
}

/// Loads a model with its tower.
fn load(dir: &Path) -> Qwen {
    let config = Config::read(dir).unwrap();
    let layout = Layout::plan(&config, &Index::read(dir, &config).unwrap()).unwrap();
    let mut model = Qwen::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap();
    let tower = layout.vision.tower().unwrap_or_else(|| panic!("{:?}", layout.vision));
    model.vision = Some(Vision::load(&config, tower, layout.compute).unwrap());
    model
}

fn tiny_vision(preset: &str, options: &[&str]) -> Qwen {
    let dir = tempfile::tempdir().unwrap();
    write_vision(preset, dir.path(), options);
    load(dir.path())
}

/// One of the pictures, as it is shown to the model.
fn picture(name: &str) -> Arc<Pixels> {
    let path = fixture("goldens/tiny-vision").join(format!("{name}.resized.png"));
    let mut reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    let (width, height) = (info.width as usize, info.height as usize);
    Arc::new(Pixels { width, height, rgb, digest: [name.as_bytes()[0]; 32] })
}

/// The pictures of a prompt and where they are.
fn placed(goldens: &Goldens, prompt: &str) -> Vec<PromptPicture> {
    let about = &goldens.json()["prompts"][prompt];
    let names = about["images"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let begins = about["begins"].as_array().unwrap().iter().map(|begin| begin.as_u64().unwrap() as usize);
    let of = |(name, begin): (&str, usize)| {
        let pixels = picture(name);
        let span = ImageSpan { begin, rows: pixels.height / 32, columns: pixels.width / 32 };
        PromptPicture { span, key: 1024 + u32::from(name.as_bytes()[0]), pixels }
    };
    names.zip(begins).map(of).collect()
}

fn features(model: &Qwen, pictures: &[PromptPicture]) -> Vec<Placed> {
    let tower = &model.vision.as_ref().unwrap().tower;
    let of = |PromptPicture { span, pixels, .. }: &PromptPicture| {
        (*span, tower.forward(&pixels.rgb, pixels.width, pixels.height).unwrap())
    };
    pictures.iter().map(of).collect()
}

/// The largest difference.
fn off(got: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(got.len(), expected.len());
    got.iter()
        .zip(expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |most, x| if x.is_nan() { f32::MAX } else { most.max(x) })
}

#[test]
fn the_tower_agrees_block_by_block() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    let tower = &model.vision.as_ref().unwrap().tower;
    for name in PICTURES {
        let pixels = picture(name);
        let mut pass = tower.begin(&pixels.rgb, pixels.width, pixels.height).unwrap();
        let compare = |what: &str, got: &Array| {
            let expected = goldens.floats(&format!("{name}_{what}"));
            // Of large pictures the first rows are kept.
            let got: Vec<f32> = got.to_vec().unwrap();
            let off = relative_values(&got[..expected.len()], &expected);
            assert!(off < 1e-5, "{name}_{what}: {off}");
        };
        compare("with_positions", pass.patches());
        for block in 0..tower.depth() {
            let merged = tower.advance(&mut pass, 1).unwrap();
            compare(&format!("block_{block}"), pass.patches());
            if let Some(merged) = merged {
                compare("merged", &merged);
            }
        }
        let whole = tower.forward(&pixels.rgb, pixels.width, pixels.height).unwrap();
        compare("merged", &whole);
    }
}

#[test]
fn prompts_with_pictures_agree() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    for prompt in PROMPTS {
        let ids = goldens.ints(&format!("{prompt}_ids"));
        let pictures = features(&model, &placed(&goldens, prompt));
        let kept: Vec<usize> =
            serde_json::from_value(goldens.json()["prompts"][prompt]["rows"].clone()).unwrap();
        for chunk in [1, 7, 16, 512] {
            let score = score_with_pictures(&model, &ids, &pictures, chunk).unwrap();
            let check = |name: &str, got: &[f32], bound: f32| {
                let off = off(got, &goldens.floats(&format!("{prompt}_{name}")));
                assert!(off < bound, "{prompt}_{name} in chunks of {chunk}: {off}");
            };
            check("hidden", &score.hidden.to_vec::<f32>().unwrap(), 2e-4);
            check("logits", &mlx::take_rows(&score.logits, &kept).unwrap().to_vec::<f32>().unwrap(), 2e-4);
            let kv = score.row.kv[0].values(mlx::Dtype::Float32).unwrap().unwrap();
            for (part, name) in [(0, "k3"), (1, "v3")] {
                check(name, &kv.slice_axis(0, part, part + 1).unwrap().to_vec::<f32>().unwrap(), 3e-4);
            }
            let mtp = score.mtp_logits.unwrap();
            let last = mtp.slice_axis(0, mtp.dim(0) - 1, mtp.dim(0)).unwrap();
            check("mtp_features", &last.to_vec::<f32>().unwrap(), 3e-4);
        }
    }
}

fn spec(goldens: &Goldens, prompt: &str) -> RowSpec {
    RowSpec {
        pictures: placed(goldens, prompt),
        ..greedy(&goldens.ints(&format!("{prompt}_ids")), expected(goldens, prompt).len())
    }
}

fn expected(goldens: &Goldens, prompt: &str) -> Vec<u32> {
    serde_json::from_value(goldens.json()["greedy"][prompt]["tokens"].clone()).unwrap()
}

#[test]
fn greedy_texts_behind_pictures_agree_at_every_depth_and_in_company() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    let specs = PROMPTS.map(|prompt| spec(&goldens, prompt));
    for (prompt, spec) in PROMPTS.iter().zip(&specs) {
        for depth in [0, 2] {
            assert_eq!(
                alone(&model, spec, depth).tokens,
                expected(&goldens, prompt),
                "{prompt} at depth {depth}"
            );
        }
    }
    // With the state after each step compared to that of a fresh prefill.
    let depth = |row: u64, step: usize| DraftPlan::from((row as usize + step) % 4);
    let short = specs.map(|spec| RowSpec { max_tokens: 10, ..spec });
    for (prompt, reply) in PROMPTS.iter().zip(together(&model, &short, depth, |_, _| {})) {
        assert_eq!(reply.tokens, expected(&goldens, prompt)[..10], "{prompt}");
    }
}
