//! What fitted scales and biases are worth: how far a quantized model is from its source.

use std::path::Path;

use foretoken_engine::checkpoint::QuantSpec;
use foretoken_engine::convert::{Method, fit};
use foretoken_engine::mlx::{self, Array, Dtype, QuantMode};
use foretoken_engine::model::Qwen;
use foretoken_engine::score::score;
use foretoken_tests::fixtures::{demo_in_f32, demo_questions, edit_json, load, write_demo_with};
use foretoken_tests::replies::demo_replies;

const GROUP: i32 = 64;
/// Tokens per forward pass.
const CHUNK: usize = 256;
/// Divergence of fitted models at most, as a share of that of rounded ones with as many bits.
const BOUNDS: [(usize, f64); 4] = [(2, 0.6), (3, 0.75), (4, 0.95), (8, 0.7)];

/// Questions and the demo model's replies to them, other ones for each seed, at least `tokens` together.
fn texts(seed: u64, tokens: usize) -> Vec<Vec<u32>> {
    demo_replies(&mut demo_questions().into_iter().skip(seed as usize * 60), seed, tokens)
}

/// Mean over tokens of KL(one ‖ other) of what the models make of a text, in nats.
fn divergence(one: &Array, other: &Array) -> f64 {
    let log = |logits: &Array| logits.subtract(&mlx::logsumexp(logits, -1).unwrap()).unwrap();
    let (one, other) = (log(one), log(other));
    let kl = one.exp().unwrap().multiply(&one.subtract(&other).unwrap()).unwrap().sum(-1, false).unwrap();
    let kl = kl.to_vec::<f32>().unwrap();
    kl.iter().map(|&kl| f64::from(kl)).sum::<f64>() / kl.len() as f64
}

/// Writes the demo model in f32 with its matrices as they are after quantization with scales and biases in bf16.
fn write_quantized(out: &Path, bits: usize, method: Method) {
    let spec = QuantSpec { group_size: GROUP as usize, bits, mode: QuantMode::Affine };
    let bits = bits as i32;
    let wide = |array: &Array| array.astype(Dtype::Float32).unwrap();
    write_demo_with(out, |tensors| {
        for tensor in tensors.values_mut() {
            if tensor.shape().len() == 2 && tensor.dim(1) % GROUP == 0 {
                let parts = match method {
                    Method::Rtn => mlx::quantize(tensor, GROUP, bits, QuantMode::Affine).unwrap(),
                    Method::Fit => fit(tensor, spec, None).unwrap(),
                };
                let [scales, biases] = [1, 2].map(|part| wide(&parts[part]));
                let affine = QuantMode::Affine;
                *tensor =
                    mlx::dequantize(&parts[0], &scales, Some(&biases), GROUP, bits, affine, Dtype::Float32)
                        .unwrap();
            }
            *tensor = wide(tensor);
        }
    });
    edit_json(out, "config.json", |config| config["text_config"]["dtype"] = "float32".into());
}

/// What the model makes of texts, each from an empty state, one below the other.
fn logits(model: &Qwen, texts: &[Vec<u32>]) -> Array {
    let logits: Vec<Array> = texts.iter().map(|ids| score(model, ids, CHUNK).unwrap().logits).collect();
    mlx::concatenate(&logits.iter().collect::<Vec<_>>(), 0).unwrap()
}

/// `FORETOKEN_CASES=3` measures three sets of texts at each width.
#[test]
fn fitted_models_are_closer_to_their_source_than_rounded_ones() {
    let sets = std::env::var("FORETOKEN_CASES").ok().and_then(|cases| cases.parse().ok());
    let tokens = if sets.is_some() { 1500 } else { 200 };
    let sets: Vec<_> = (0..sets.unwrap_or(1)).map(|set| texts(set, tokens)).collect();
    let float = demo_in_f32();
    let expected: Vec<Array> = sets.iter().map(|texts| logits(&float, texts)).collect();
    for (bits, bound) in BOUNDS.into_iter().filter(|(bits, _)| sets.len() > 1 || [2, 8].contains(bits)) {
        let dir = tempfile::tempdir().unwrap();
        let [rounded, fitted] = [Method::Rtn, Method::Fit].map(|method| {
            let out = dir.path().join(format!("{method:?}"));
            write_quantized(&out, bits, method);
            let model = load(&out);
            let of_set = |(texts, expected): (&Vec<_>, &Array)| divergence(expected, &logits(&model, texts));
            std::iter::zip(&sets, &expected).map(of_set).collect::<Vec<f64>>()
        });
        let ratios: Vec<f64> =
            std::iter::zip(&fitted, &rounded).map(|(fitted, rounded)| fitted / rounded).collect();
        println!("{bits} bits: rounded {rounded:.5?}, fitted {fitted:.5?}, ratio {ratios:.3?}");
        assert!(ratios.iter().all(|ratio| *ratio < bound), "{bits} bits: {ratios:?}");
    }
}
