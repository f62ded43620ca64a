//! Models that are read part by part: what they put out is what the same model puts out in memory, evidence about a
//! conversion is what both models' logits say, and a probe's cost of a group of matrices is that of the model in which
//! this group alone is quantized.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use foretoken_engine::checkpoint::QuantSpec;
use foretoken_engine::checkpoint::{Files, Metadata};
use foretoken_engine::convert::{Conversion, Importance, Limits, Method, Plan};
use foretoken_engine::mlx::{self, Array, Dtype};
use foretoken_engine::model::Qwen;
use foretoken_engine::observe::{
    Divergence, Group, ObserveError, Probe, Source, evidence, head, head_modules, head_spec, kl_divergence,
    likelihoods, outputs, probe,
};
use foretoken_engine::score::{CHUNK, Score, figures, score};
use foretoken_protocol::{ConversionSettings, FloatFormat, HeadFormat, VisionFormat, WeightFormat};
use foretoken_tests::fixtures::{demo_model, fixture, load, write_converted, write_raw, write_with_vocab};
use foretoken_tests::oracle::Cases;
use serde_json::Value;
use tempfile::TempDir;

/// Runs every group of every model instead of some.
fn all_cases() -> bool {
    std::env::var_os("FORETOKEN_CASES").is_some()
}

fn quietly(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Texts of these lengths that look random, of small ids.
fn texts(lens: &[usize]) -> Vec<Vec<u32>> {
    let text = |(index, len): (usize, &usize)| {
        (0..*len).map(|i| ((i * i + 31 * i + 7 * index) % 249) as u32).collect()
    };
    lens.iter().enumerate().map(text).collect()
}

fn values(array: &Array) -> Vec<f32> {
    array.astype(Dtype::Float32).unwrap().to_vec().unwrap()
}

/// The model in a folder in the layout of conversions, unquantized, in f32.
fn in_f32(dir: &Path) -> TempDir {
    let out = tempfile::tempdir().unwrap();
    let settings = ConversionSettings {
        weights: WeightFormat::Float,
        mtp_head: HeadFormat::Same,
        vision: VisionFormat::None,
        dtype: Some(FloatFormat::Float32),
    };
    let conversion = Conversion::plan(dir, out.path(), &settings, None, Limits::default()).unwrap();
    conversion.run(&mut |_| ControlFlow::Continue(())).unwrap();
    out
}

#[test]
fn parts_give_to_the_bit_what_the_whole_gives() {
    let layouts = Cases::of("layouts");
    let models = [
        demo_model(),
        fixture("tiny-dense-q4f32"),
        layouts.checkpoint("tiny-moe-q36"),
        layouts.checkpoint("tiny-next"),
    ];
    let texts = texts(&[CHUNK + 9, 1, 2]);
    for dir in models {
        let found = outputs(&Source::read(&dir).unwrap(), &texts, &mut quietly).unwrap();
        let model = load(&dir);
        for (index, text) in texts.iter().enumerate() {
            let Score { hidden, mtp_logits, logits, .. } = score(&model, text, CHUNK).unwrap();
            assert_eq!(values(&found.normed[index]), values(&hidden), "{dir:?}, text {index}");
            let of_parts = |normed: &Array| -> Vec<f32> {
                let cuts: Vec<i32> =
                    (1..).map(|i| i * CHUNK as i32).take_while(|cut| *cut < normed.dim(0)).collect();
                let pieces =
                    if cuts.is_empty() { vec![normed.clone()] } else { normed.split(&cuts, 0).unwrap() };
                pieces.iter().flat_map(|piece| values(&model.logits(piece).unwrap())).collect()
            };
            assert_eq!(of_parts(&found.normed[index]), values(&logits), "{dir:?}, text {index}");
            let guessed = found.guessed[index].as_ref().map(of_parts);
            assert_eq!(guessed, mtp_logits.as_ref().map(values), "{dir:?}, text {index}");
            assert_eq!(guessed.is_some(), text.len() > 1 && model.mtp.is_some());
        }
    }
}

/// KL(p ‖ q) of each row of two sets of logits, in f64.
fn kl_in_f64(p: &[f32], q: &[f32], vocab: usize) -> Vec<f64> {
    let log_softmax = |row: &[f32]| -> Vec<f64> {
        let most = row.iter().copied().fold(f32::MIN, f32::max);
        let sum: f64 = row.iter().map(|x| f64::from(x - most).exp()).sum();
        row.iter().map(|x| f64::from(x - most) - sum.ln()).collect()
    };
    let rows = p.chunks(vocab).zip(q.chunks(vocab));
    rows.map(|(p, q)| {
        let (p, q) = (log_softmax(p), log_softmax(q));
        p.iter().zip(&q).map(|(p, q)| p.exp() * (p - q)).sum()
    })
    .collect()
}

#[test]
fn small_divergences_are_exact_too() {
    let vocab = 5000;
    let p: Vec<f32> = (0..3 * vocab).map(|i| ((i * 7919 % 2003) as f32 / 2003.0 - 0.5) * 24.0).collect();
    for size in [1.0, 1e-1, 1e-2, 1e-3] {
        let q: Vec<f32> =
            p.iter().enumerate().map(|(i, x)| x + size * ((i * 613 % 997) as f32 / 997.0 - 0.5)).collect();
        let log_softmax = |x: &[f32]| {
            let x = Array::from_slice(x, &[3, vocab as i32]).unwrap();
            x.subtract(&mlx::logsumexp(&x, -1).unwrap()).unwrap()
        };
        let found = values(&kl_divergence(&log_softmax(&p), &log_softmax(&q)).unwrap());
        for (found, expected) in found.iter().zip(kl_in_f64(&p, &q, vocab)) {
            let off = (f64::from(*found) - expected).abs();
            assert!(off < 1e-3 * expected + 1e-9, "{found} for {expected}");
        }
    }
}

/// What the logits of two models in memory say.
fn by_hand(reference: &Qwen, model: &Qwen, texts: &[Vec<u32>]) -> (Vec<f64>, f64) {
    let (mut means, mut same, mut tokens) = (Vec::new(), 0, 0);
    for text in texts {
        let [p, q] = [reference, model].map(|model| score(model, text, CHUNK).unwrap().logits);
        let vocab = p.dim(1) as usize;
        let kl = kl_in_f64(&values(&p), &values(&q), vocab);
        means.push(kl.iter().sum::<f64>() / kl.len() as f64);
        let [p, q] = [p, q].map(|logits| mlx::argmax_axis(&logits, 1).unwrap().to_vec::<u32>().unwrap());
        same += p.iter().zip(&q).filter(|(p, q)| p == q).count();
        tokens += text.len();
    }
    (means, same as f64 / tokens as f64)
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-6 + 1e-3 * expected.abs()
}

#[test]
fn evidence_is_what_the_logits_of_both_models_say() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    write_raw(&fixture("tiny-dense"), dirs[0].path(), Dtype::Float32);
    write_converted(&fixture("tiny-dense"), dirs[1].path(), 3, Dtype::Float32);
    let [reference, model] = dirs.each_ref().map(|dir| Source::read(dir.path()).unwrap());
    let [in_memory, converted] = dirs.each_ref().map(|dir| load(dir.path()));
    let texts = texts(&[40, 25, 35]);
    let mut heard = Vec::new();
    let found = evidence(&reference, &model, &texts, &mut |done, all| {
        heard.push((done, all));
        ControlFlow::Continue(())
    });
    let found = found.unwrap();
    assert_eq!((heard.first(), heard.last()), (Some(&(0, 16)), Some(&(16, 16))));

    let (means, same) = by_hand(&in_memory, &converted, &texts);
    assert!(means.iter().all(|kl| *kl > 1e-4), "the models differ: {means:?}");
    assert!(found.texts.iter().zip(&means).all(|(kl, mean)| close(*kl, *mean)), "{found:?}, {means:?}");
    let weighted: f64 = means.iter().zip(&texts).map(|(mean, text)| mean * text.len() as f64).sum();
    assert!(close(found.kl, weighted / 100.0) && found.tokens == 100, "{found:?}");
    let mean = means.iter().sum::<f64>() / 3.0;
    let variance = means.iter().map(|kl| (kl - mean).powi(2)).sum::<f64>() / 2.0;
    assert!(close(found.kl_error.unwrap(), (variance / 3.0).sqrt()), "{found:?}");
    assert!(found.kl_p99 > found.kl, "{found:?}");
    assert!(close(found.same_choice, same) && same < 1.0, "{found:?}");
    // Of one text, the figures are those of the model in memory.
    let one = evidence(&reference, &model, &texts[..1], &mut quietly).unwrap();
    assert_eq!(one.kl_error, None);
    for (found, model) in [(&one.reference, &in_memory), (&one.model, &converted)] {
        let expected = figures(model, &texts[0], CHUNK).unwrap();
        assert!(close(found.mean_nll.unwrap(), expected.mean_nll.unwrap()), "{found:?}, {expected:?}");
        assert_eq!(found.mtp_acceptance, expected.mtp_acceptance);
    }
    // The same is found of the model alone, in as many batches as the memory asks for.
    let alone = [0, 1 << 30].map(|memory| likelihoods(&reference, &texts, memory, &mut quietly).unwrap());
    assert!(alone[0] == alone[1] && alone[0][0] == one.reference && alone[0].len() == 3, "{alone:?}");
    // A model is as itself.
    let Divergence { kl, same_choice, .. } = evidence(&reference, &reference, &texts, &mut quietly).unwrap();
    assert!(kl.abs() < 1e-7 && same_choice == 1.0, "{kl} {same_choice}");
}

/// What is in memory of embeddings and output heads is as much for any vocabulary.
#[test]
fn memory_does_not_grow_with_the_vocabulary() {
    let peak = |vocab: u64| {
        let dir = tempfile::tempdir().unwrap();
        write_with_vocab(dir.path(), vocab);
        let source = Source::read(dir.path()).unwrap();
        mlx::clear_cache();
        let before = mlx::active_memory();
        mlx::reset_peak_memory();
        let found = evidence(&source, &source, &texts(&[3]), &mut quietly).unwrap();
        // A table of zeros finds all tokens as likely.
        let expected = (vocab as f64).ln();
        assert!((found.model.mean_nll.unwrap() - expected).abs() < 1e-6 && found.kl == 0.0, "{found:?}");
        mlx::peak_memory() - before
    };
    let (small, large) = (peak(1 << 18), peak(1 << 20));
    assert!(large < small + (1 << 20) && small < 400 << 20, "{small}, {large}");
}

/// A conversion of a model with these matrices quantized and no others, fitted by what their columns count.
fn quantized(dir: &Path, modules: &BTreeMap<String, QuantSpec>, importance: &Importance) -> TempDir {
    let out = tempfile::tempdir().unwrap();
    let source = Source::read(dir).unwrap();
    let specs = source.layout.weights.keys().map(|path| (path.clone(), modules.get(path).copied()));
    let fingerprint = Metadata::read(dir, Files::Whole).unwrap().fingerprint().unwrap();
    let plan = Plan::new(fingerprint, specs.collect(), Method::Fit, Value::Null).unwrap();
    let (plan, importance) = (Arc::new(plan), Some(Arc::new(importance.clone())));
    let settings = ConversionSettings { vision: VisionFormat::None, ..ConversionSettings::default() };
    let conversion =
        Conversion::planned(dir, out.path(), (plan, importance), &settings, None, Limits::default()).unwrap();
    conversion.run(&mut |_| ControlFlow::Continue(())).unwrap();
    out
}

fn specs(group: &Group, bits: usize) -> BTreeMap<String, QuantSpec> {
    group.modules.iter().map(|module| (module.path.clone(), group.spec(bits))).collect()
}

/// A probe of texts of these lengths against the model with each group converted, every `step`th group.
fn check_probe(dir: &Path, lens: &[usize], step: usize) {
    let float = in_f32(dir);
    let source = Source::read(float.path()).unwrap();
    let texts = texts(lens);
    let found = probe(&source, &texts, 3, 1 << 30, &mut quietly).unwrap();
    let reference = load(float.path());
    for module in found.groups.iter().flat_map(|group| &group.group.modules) {
        let counted = found.importance.get(&module.path).map(<[f32]>::len);
        let expected = (module.path != "embed_tokens").then_some(module.weight.columns);
        assert_eq!(counted, expected, "{}", module.path);
    }
    for (index, group) in found.groups.iter().enumerate().filter(|(index, _)| index % step == 0) {
        let name = &group.group.modules[0].path;
        let ends = ["embed_tokens", "lm_head"].contains(&name.as_str());
        for bits in if ends { &[3, 8][..] } else { &[3][..] } {
            let alone = quantized(float.path(), &specs(&group.group, *bits), &found.importance);
            let model = load(alone.path());
            let (means, _) = by_hand(&reference, &model, &texts);
            for (kl, mean) in group.kl[bits].iter().zip(&means) {
                let off = (kl - mean).abs();
                assert!(off <= 0.01 * mean || off <= 1e-6, "{dir:?}, {name} in {bits} bits: {kl} for {mean}");
            }
            assert!(means.iter().any(|kl| *kl > 1e-6), "{dir:?}: {name} in {bits} bits is as the float one");
            if *bits == 3 {
                let by_parts =
                    evidence(&source, &Source::read(alone.path()).unwrap(), &texts, &mut quietly).unwrap();
                assert_eq!(group.figures.mtp_acceptance, by_parts.model.mtp_acceptance, "{name}");
                assert_eq!(found.reference, by_parts.reference, "{name}");
            }
        }
        // Of an output head there is no output but the logits. Where experts are chosen, errors need not fall evenly.
        let errors = group.local.len();
        assert_eq!(errors, if name == "lm_head" { 0 } else { 6 });
        assert!(errors == 0 || group.local[&8] < 0.1 * group.local[&2], "{:?}", group.local);
        // Costs that were not measured go with the errors.
        if !ends {
            let factor = group.local[&5] / group.local[&3];
            assert!(close(group.kl[&5][0], group.kl[&3][0] * factor), "{index}");
        }
    }
}

#[test]
fn a_probe_says_what_each_group_costs_alone() {
    let step = |some| if all_cases() { 1 } else { some };
    let layouts = Cases::of("layouts");
    check_probe(&fixture("tiny-dense"), &[24, 17], step(11));
    check_probe(&layouts.checkpoint("tiny-moe-q36"), &[9, 12], step(7));
    if all_cases() {
        check_probe(&layouts.checkpoint("tiny-next"), &[20], 1);
        check_probe(&demo_model(), &[30], 1);
    }
}

/// Texts that are read one after the other are fitted each by itself.
#[test]
fn a_probe_in_batches_is_that_of_each_text() {
    let source = Source::read(&fixture("tiny-dense")).unwrap();
    let texts = texts(&[9, 12]);
    let of = |texts: &[Vec<u32>], memory| probe(&source, texts, 3, memory, &mut quietly).unwrap();
    let costs = |found: &Probe, text: usize| -> Vec<f64> {
        found.groups.iter().map(|group| group.kl[&3][text]).collect()
    };
    let apart = of(&texts, 0);
    assert_eq!(
        [0, 1].map(|text| costs(&apart, text)),
        [0, 1].map(|text| costs(&of(&texts[text..=text], 0), 0))
    );
    // What columns count is known of all of them together.
    let together = of(&texts, 1 << 30);
    for module in together.groups.iter().flat_map(|group| &group.group.modules) {
        let [one, other] = [&apart, &together].map(|found| found.importance.get(&module.path));
        let pairs = one.into_iter().flatten().zip(other.into_iter().flatten());
        assert!(pairs.clone().all(|(one, other)| close((*one).into(), (*other).into())), "{}", module.path);
        assert_eq!(pairs.count(), one.map_or(0, <[f32]>::len));
    }
}

/// What a head is worth at a width is what the model does that has this head behind this trunk.
#[test]
fn a_heads_guesses_are_those_of_the_converted_model() {
    let dir = tempfile::tempdir().unwrap();
    write_raw(&fixture("tiny-dense"), dir.path(), Dtype::Float32);
    let source = Source::read(dir.path()).unwrap();
    let texts = texts(&[40, 25, 35]);
    let Probe { groups, mut importance, .. } = probe(&source, &texts, 3, 1 << 30, &mut quietly).unwrap();
    let mut modules: BTreeMap<String, QuantSpec> =
        groups.iter().flat_map(|found| specs(&found.group, 4)).collect();
    let found = head(&source, (&modules, &importance), &texts, &mut quietly).unwrap();
    assert_eq!(
        found.points.iter().map(|point| point.bits).collect::<Vec<_>>(),
        [2, 3, 4, 5, 6, 8].map(Some).into_iter().chain([None]).collect::<Vec<_>>()
    );
    assert!(found.points.is_sorted_by(|a, b| a.bytes < b.bytes) && found.output_bytes < found.trunk_bytes);
    found.add_to(&mut importance);
    for point in found.points.iter().filter(|point| [Some(2), Some(8), None].contains(&point.bits)) {
        if let Some(bits) = point.bits {
            modules.extend(
                head_modules(&source.layout.weights)
                    .map(|(path, weight)| (path.clone(), head_spec(weight, bits).unwrap())),
            );
        } else {
            modules.retain(|path, _| !path.starts_with("mtp."));
        }
        let converted = quantized(dir.path(), &modules, &importance);
        let evidence =
            evidence(&source, &Source::read(converted.path()).unwrap(), &texts, &mut quietly).unwrap();
        let (right, all) = point.guesses.iter().fold((0, 0), |sum, text| (sum.0 + text.0, sum.1 + text.1));
        assert_eq!(evidence.model.mtp_acceptance, Some(right as f64 / all as f64), "{:?} bits", point.bits);
    }
}

/// What a probe puts together covers each matrix of the trunk once.
#[test]
fn choices_cover_the_trunk() {
    let float = in_f32(&Cases::of("layouts").checkpoint("tiny-moe-q36"));
    let source = Source::read(float.path()).unwrap();
    let found = probe(&source, &texts(&[12]), 3, 1 << 30, &mut quietly).unwrap();
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for choice in found.choices() {
        choice.modules.into_iter().for_each(|module| *counted.entry(module).or_default() += 1);
    }
    assert!(counted.values().all(|count| *count == 1), "{counted:?}");
    for (path, weight) in source.layout.weights.iter().filter(|(path, _)| !path.starts_with("mtp.")) {
        let divides = weight.columns.is_multiple_of(32);
        assert!(counted.contains_key(path) || !divides, "{path} {weight:?}");
    }
}

#[test]
fn what_cannot_be_observed_is_refused() {
    let source = Source::read(&fixture("tiny-dense")).unwrap();
    assert_eq!(source.check(&[]), Err(ObserveError::NoText));
    assert_eq!(source.check(&[vec![1], vec![]]), Err(ObserveError::EmptyText { index: 1 }));
    let vocab = source.config.vocab_size;
    let unknown = vec![vec![1, vocab as u32]];
    let refusal = ObserveError::UnknownToken { index: 0, id: vocab as u32, vocab };
    assert_eq!(source.check(&unknown), Err(refusal.clone()));
    let told = outputs(&source, &unknown, &mut quietly).unwrap_err();
    assert_eq!(told.to_string(), refusal.to_string());
    let quantized = Source::read(&fixture("tiny-dense-q4f32")).unwrap();
    let told = probe(&quantized, &texts(&[3]), 3, 1 << 30, &mut quietly).unwrap_err().to_string();
    assert_eq!(told, "embed_tokens is quantized already: 4-bit, group 64.");
    let mut heard = 0;
    let cancelled = outputs(&source, &texts(&[3]), &mut |_, _| {
        heard += 1;
        if heard == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((cancelled.unwrap_err().to_string(), heard), ("It was cancelled.".to_owned(), 3));
}
