//! What fitted scales and biases are worth: how far a quantized model is from its source.

use std::ops::ControlFlow;
use std::path::Path;

use foretoken_engine::checkpoint::QuantSpec;
use foretoken_engine::convert::fit;
use foretoken_engine::mlx::{self, Array, Dtype, QuantMode};
use foretoken_engine::score::score;
use foretoken_engine::session::{ReplyRequest, Session};
use foretoken_protocol::{ChatMessage, Drafting, GenerationSettings, Sampling};
use foretoken_tests::fixtures::{demo_in_f32, demo_model, demo_questions, load, write_demo_with};

/// Questions and the demo model's replies to them, at least `tokens`, another text for each seed.
fn text(seed: u64, tokens: usize) -> Vec<u32> {
    let mut session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let mut ids = Vec::new();
    for question in demo_questions().into_iter().skip(seed as usize * 60) {
        let prompt = session.chat_prompt(&[ChatMessage::user(question)], None, false).unwrap();
        let settings = GenerationSettings {
            sampling: Sampling { temperature: 1.0, seed: Some(seed), ..Sampling::default() },
            drafting: Drafting::Fixed { depth: 2 },
            max_tokens: 120,
            thinking: false,
            stop: Vec::new(),
        };
        ids.extend(&prompt.ids);
        let request = ReplyRequest::new(prompt, settings);
        ids.extend(session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap().ids);
        if ids.len() >= tokens {
            break;
        }
    }
    ids
}

/// Mean over tokens of KL(one ‖ other) of what the models make of a text, in nats.
fn divergence(one: &Array, other: &Array) -> f64 {
    let log = |logits: &Array| logits.subtract(&mlx::logsumexp(logits, -1).unwrap()).unwrap();
    let (one, other) = (log(one), log(other));
    let kl = one.exp().unwrap().multiply(&one.subtract(&other).unwrap()).unwrap().sum(-1, false).unwrap();
    let kl = kl.to_vec::<f32>().unwrap();
    kl.iter().map(|&kl| f64::from(kl)).sum::<f64>() / kl.len() as f64
}

fn write_quantized(out: &Path, bits: usize, fitted: bool) {
    write_demo_with(out, |tensors| {
        for tensor in
            tensors.values_mut().filter(|tensor| tensor.shape().len() == 2 && tensor.dim(1) % 64 == 0)
        {
            let spec = QuantSpec { group_size: 64, bits, mode: QuantMode::Affine };
            let parts = match fitted {
                true => fit(tensor, spec, None).unwrap(),
                false => mlx::quantize(tensor, 64, bits as i32, QuantMode::Affine).unwrap(),
            };
            let wide = |part: &Array| part.astype(Dtype::Float32).unwrap();
            let (scales, biases) = (wide(&parts[1]), wide(&parts[2]));
            *tensor = mlx::dequantize(
                &parts[0],
                &scales,
                Some(&biases),
                64,
                bits as i32,
                QuantMode::Affine,
                Dtype::Float32,
            )
            .unwrap();
        }
        for tensor in tensors.values_mut() {
            *tensor = tensor.astype(Dtype::Float32).unwrap();
        }
    });
    foretoken_tests::fixtures::edit_json(out, "config.json", |c| {
        c["text_config"]["dtype"] = "float32".into()
    });
}

#[test]
fn fitted_models_are_closer() {
    let ids: Vec<Vec<u32>> = (0..3).map(|seed| text(seed, 1200)).collect();
    let float = demo_in_f32();
    let expected: Vec<Array> = ids.iter().map(|ids| score(&float, ids, 256).unwrap().logits).collect();
    for bits in [2, 3, 4, 6, 8] {
        let dir = tempfile::tempdir().unwrap();
        let kl = [false, true].map(|fitted| {
            let out = dir.path().join(fitted.to_string());
            let began = std::time::Instant::now();
            write_quantized(&out, bits, fitted);
            println!("written in {:?}", began.elapsed());
            let model = load(&out);
            let kl: Vec<f64> = ids
                .iter()
                .zip(&expected)
                .map(|(ids, expected)| divergence(expected, &score(&model, ids, 256).unwrap().logits))
                .collect();
            kl
        });
        let ratio: Vec<f64> = kl[0].iter().zip(&kl[1]).map(|(a, b)| b / a).collect();
        println!("{bits} bits: RTN {:.5?}, fit {:.5?}, ratio {:.3?}", kl[0], kl[1], ratio);
    }
}
