//! What bits chosen by a text are worth on the demo model: how far conversions are from their source on texts that took
//! no part, beside uniform ones of as many bytes.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use foretoken_engine::calibration::{self, Document};
use foretoken_engine::convert::{Conversion, Limits, Plan};
use foretoken_engine::mlx::Dtype;
use foretoken_engine::observe::{Divergence, Source, evidence};
use foretoken_engine::quality::{self, Aim, Request, Texts};
use foretoken_protocol::{ConversionSettings, HeadFormat, VisionFormat, WeightFormat};
use foretoken_tests::fixtures::{demo_model, demo_questions, write_raw};
use foretoken_tests::replies::demo_replies;
use serde_json::Value;

/// Tokens by which bits are chosen, and tokens of the report.
const CHOSEN_BY: usize = 2000;
const REPORTED: usize = 3000;
/// What divergence is at most of that of uniform conversions.
const WORTH: f64 = 0.4;
/// What of its drafts a quantized head may lose beside the float one behind the same trunk.
const LOST: f64 = 0.01;

/// Questions and the demo model's replies to them, other ones for each seed: texts to choose by, and texts for the
/// report.
fn texts(seed: u64) -> [Vec<Vec<u32>>; 2] {
    // Those of later seeds begin anew, and the replies to them are others.
    let mut questions = demo_questions().into_iter().cycle().skip(seed as usize * 120);
    [CHOSEN_BY, REPORTED].map(|tokens| demo_replies(&mut questions, seed, tokens))
}

/// How far a model is from its source.
fn found(source: &Path, out: &Path, report: &[Vec<u32>]) -> Divergence {
    let [original, result] = [source, out].map(|dir| Source::read(dir).unwrap());
    evidence(&original, &result, report, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

/// Converts uniformly; bytes and divergence of the result.
fn uniform(source: &Path, out: &Path, bits: u8, report: &[Vec<u32>]) -> (u64, Divergence) {
    let settings = ConversionSettings {
        weights: WeightFormat::Affine { bits, group_size: 64 },
        mtp_head: HeadFormat::Affine { bits: 4 },
        vision: VisionFormat::None,
        dtype: None,
    };
    let conversion = Conversion::plan(source, out, &settings, None, Limits::default()).unwrap();
    let bytes = conversion.run(&mut |_| ControlFlow::Continue(())).unwrap().bytes;
    (bytes, found(source, out, report))
}

/// The format that most modules of a plan have, without how their scales are found.
fn commonest<'a>(modules: impl Iterator<Item = &'a Value>) -> Value {
    let mut counts: Vec<(Value, usize)> = Vec::new();
    for module in modules.filter(|module| module.is_object()) {
        let mut format = module.clone();
        format
            .as_object_mut()
            .unwrap()
            .retain(|key, _| ["group_size", "bits", "mode"].contains(&key.as_str()));
        match counts.iter_mut().find(|(other, _)| *other == format) {
            Some((_, count)) => *count += 1,
            None => counts.push((format, 1)),
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).unwrap().0
}

/// The share of drafts that is accepted of the head in the source's numbers behind the trunk of a plan.
fn accepted_of_float_head(source: &Path, out: &Path, plan: &Plan, report: &[Vec<u32>]) -> f64 {
    let mut plan = plan.to_json();
    for (path, module) in plan["modules"].as_object_mut().unwrap() {
        if path.starts_with("mtp.") {
            *module = Value::Bool(false);
        }
    }
    plan["default"] = commonest(plan["modules"].as_object().unwrap().values());
    let plan = Arc::new(Plan::parse(&plan.to_string()).unwrap());
    let settings = ConversionSettings { vision: VisionFormat::None, ..ConversionSettings::default() };
    let conversion =
        Conversion::planned(source, out, (plan, None), &settings, None, Limits::default()).unwrap();
    conversion.run(&mut |_| ControlFlow::Continue(())).unwrap();
    found(source, out, report).model.mtp_acceptance.unwrap()
}

#[test]
#[ignore = "takes many minutes; see tests/README.md"]
fn chosen_bits_are_closer_than_uniform_ones_of_as_many_bytes() {
    let seeds = std::env::var("FORETOKEN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1);
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source");
    fs::create_dir(&source).unwrap();
    write_raw(&demo_model(), &source, Dtype::Float32);
    let (mut worth, mut lost) = (Vec::new(), Vec::new());
    for seed in 0..seeds {
        let [chosen_by, report] = texts(seed);
        let documents = (0..).zip(chosen_by).map(|(place, ids)| Document { ids, place }).collect();
        let texts =
            calibration::Texts { source: calibration::Source::File, sha256: String::new(), documents };
        let settings = ConversionSettings { vision: VisionFormat::None, ..ConversionSettings::default() };
        for bits in [3, 4, 5] {
            let (bytes, plain) = uniform(&source, &dir.path().join(format!("{seed}-{bits}")), bits, &report);
            let out = dir.path().join(format!("{seed}-chosen-{bits}"));
            let measured = dir.path().join(format!("{seed}.measured"));
            let request = Request {
                source: &source,
                out: &out,
                settings,
                revision: None,
                aim: Aim::Bytes(bytes),
                texts: Texts::Given(&texts),
                memory: 1 << 32,
                measured: Some(&measured),
            };
            let (plan, offered) = quality::plan(&request, &mut |_| ControlFlow::Continue(())).unwrap();
            quality::convert(&request, &mut |_| ControlFlow::Continue(())).unwrap();
            let found = found(&source, &out, &report);
            let ratio = found.kl / plain.kl;
            let float = dir.path().join(format!("{seed}-float-{bits}"));
            let float = accepted_of_float_head(&source, &float, &plan, &report);
            let accepted = found.model.mtp_acceptance.unwrap();
            println!(
                "seed {seed}, {bytes} bytes of uniform {bits} bits: KL {:.5} ± {:.5}, chosen {:.5} ± {:.5} (expected {:.5}, {} bytes), ratio \
                 {ratio:.3}; p99 {:.3} → {:.3}, same choice {:.3} → {:.3}, accepted {:.4} → \
                 {accepted:.4}, float head {float:.4}, float model {:.4}",
                plain.kl,
                plain.kl_error.unwrap(),
                found.kl,
                found.kl_error.unwrap(),
                offered.kl,
                offered.bytes,
                plain.kl_p99,
                found.kl_p99,
                plain.same_choice,
                found.same_choice,
                plain.model.mtp_acceptance.unwrap(),
                found.reference.mtp_acceptance.unwrap(),
            );
            if std::env::var_os("FORETOKEN_PLANS").is_some() {
                println!("{:#}", plan.to_json());
            }
            worth.push(ratio);
            lost.push(float - accepted);
        }
    }
    assert!(worth.iter().all(|ratio| *ratio <= WORTH), "{worth:?}");
    assert!(lost.iter().all(|lost| *lost <= LOST), "{lost:?}");
}
