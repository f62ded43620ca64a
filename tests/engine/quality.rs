//! Conversions whose bits a text chooses: they keep to what was asked for, are closer to the original than uniform ones
//! of the same size, come to the same bytes wherever they were interrupted, and keep nothing of the text.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use foretoken_engine::calibration::{self, Document, Renderer, Split};
use foretoken_engine::convert::{Conversion, Limits};
use foretoken_engine::mlx;
use foretoken_engine::observe::{Source, evidence};
use foretoken_engine::quality::{self, Aim, Closeness, Made, Progress, Request, Texts};
use foretoken_protocol::{ConversionSettings, ErrorReport, HeadFormat, VisionFormat, WeightFormat};
use foretoken_tests::fixtures::{demo_model, fixture};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Texts that look random, of small ids.
fn texts() -> calibration::Texts {
    let ids = |number: usize| (0..24).map(|i| ((i * i + 31 * i + 7 * number) % 249) as u32).collect();
    of((1..=5).map(|place| Document { ids: ids(place), place }).collect())
}

fn of(documents: Vec<Document>) -> calibration::Texts {
    calibration::Texts { source: calibration::Source::File, sha256: String::new(), documents }
}

fn request<'a>(source: &'a Path, out: &'a Path, texts: &'a calibration::Texts, aim: Aim) -> Request<'a> {
    let settings = ConversionSettings { vision: VisionFormat::None, ..ConversionSettings::default() };
    let texts = Texts::Given(texts);
    Request { source, out, settings, revision: None, aim, texts, memory: 1 << 30, measured: None }
}

fn made(source: &Path, out: &Path, texts: &calibration::Texts, aim: Aim) -> Made {
    quality::convert(&request(source, out, texts, aim), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect()
}

fn record(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(out.join("foretoken.json")).unwrap()).unwrap()
}

/// What lies beside a result of this name.
fn beside(dir: &TempDir) -> Vec<String> {
    let mut names: Vec<String> = files_of(dir.path());
    names.sort();
    names
}

fn files_of(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn a_result_keeps_to_its_aim_and_is_closer_than_a_uniform_one_of_its_size() {
    let (source, texts, dir) = (fixture("tiny-dense"), texts(), tempfile::tempdir().unwrap());
    let uniform = dir.path().join("uniform");
    let settings = ConversionSettings {
        weights: WeightFormat::Affine { bits: 3, group_size: 64 },
        mtp_head: HeadFormat::Affine { bits: 4 },
        vision: VisionFormat::None,
        dtype: None,
    };
    let conversion = Conversion::plan(&source, &uniform, &settings, None, Limits::default()).unwrap();
    let bytes = conversion.run(&mut |_| ControlFlow::Continue(())).unwrap().bytes;

    let out = dir.path().join("chosen");
    let Made { report, evidence: found } = made(&source, &out, &texts, Aim::Bytes(bytes));
    let written = report.unwrap();
    assert!(written.bytes <= bytes && written.bytes * 10 > bytes * 9, "{} of {bytes}", written.bytes);
    let [original, uniform] = [&source, &uniform].map(|dir| Source::read(dir).unwrap());
    let report = Split::of(&texts.documents).unwrap().report;
    let than = evidence(&original, &uniform, &report, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(found.kl < 0.8 * than.kl, "{} for {} of a uniform one", found.kl, than.kl);

    let record = record(&out);
    let quality = &record["quality"];
    assert_eq!(quality["evidence"]["kl"].as_f64().map(|kl| (kl - found.kl).abs() < 1e-12), Some(true));
    assert_eq!((&quality["texts"]["documents"], &quality["texts"]["odd"]), (&json!(5), &json!(0)));
    assert_eq!(beside(&dir), ["chosen", "uniform"], "nothing else is left");

    // The same by bits, and a plan that a person can use: both come to the same bytes.
    let by_bits = dir.path().join("by-bits");
    let plan =
        quality::plan(&request(&source, &by_bits, &texts, Aim::Bits(written.bits_per_weight)), &mut |_| {
            ControlFlow::Continue(())
        });
    let (plan, offered) = plan.unwrap();
    assert_eq!((&plan.to_json()["modules"], offered.bytes), (&quality["modules"], written.bytes));
}

#[test]
fn the_smallest_that_is_close_enough_is_taken_and_what_cannot_be_is_refused() {
    let (source, texts, dir) = (fixture("tiny-dense"), texts(), tempfile::tempdir().unwrap());
    let out = dir.path().join("out");
    let offered = |aim| {
        quality::plan(&request(&source, &out, &texts, aim), &mut |_| ControlFlow::Continue(()))
            .map(|(_, offered)| offered)
    };
    let [small, balanced, close] = [Closeness::Small, Closeness::Balanced, Closeness::Close]
        .map(|closeness| offered(Aim::Closeness(closeness)).unwrap());
    assert!(small.bytes <= balanced.bytes && balanced.bytes <= close.bytes);
    assert!(close.kl <= Closeness::Close.most_kl() / 2.0, "{close:?}");
    assert!(small.bytes < close.bytes && small.kl > close.kl, "{small:?}, {close:?}");
    let there = dir.path().join("there");
    fs::create_dir(&there).unwrap();
    fs::write(there.join("notes.txt"), "mine").unwrap();
    let mut heard = 0;
    let taken = quality::convert(&request(&source, &there, &texts, Aim::Bits(4.0)), &mut |_| {
        heard += 1;
        ControlFlow::Continue(())
    });
    let taken = ErrorReport::from(&taken.unwrap_err());
    assert_eq!((taken.code.as_str(), heard), ("target_exists", 0), "before anything is measured");
    assert!(!dir.path().join("there.measured").exists());
    let refused = offered(Aim::Bits(0.5)).unwrap_err();
    assert!(refused.to_string().contains("cannot come to"), "{refused}");
    assert_eq!(ErrorReport::from(&refused).code, "target_too_small");
}

/// One text at a time, so that there are batches to go on with.
fn in_batches<'a>(source: &'a Path, out: &'a Path, texts: &'a calibration::Texts) -> Request<'a> {
    Request { memory: 0, ..request(source, out, texts, Aim::Bits(4.0)) }
}

/// Wherever it is stopped, going on comes to the same bytes as never stopping.
#[test]
fn an_interrupted_conversion_comes_to_the_same_bytes() {
    let (source, mut texts) = (fixture("tiny-dense"), texts());
    texts.documents.truncate(4);
    let whole = tempfile::tempdir().unwrap();
    let out = whole.path().join("out");
    let mut steps = 0;
    quality::convert(&in_batches(&source, &out, &texts), &mut |_| {
        steps += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    let expected = files(&out);

    let all = std::env::var_os("FORETOKEN_CASES").is_some();
    let stops = if all { (1..steps).collect() } else { vec![steps / 2, steps * 5 / 6] };
    for stop in stops {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let (mut heard, mut reached) = (0, 0);
        let stopped = quality::convert(&in_batches(&source, &out, &texts), &mut |progress| {
            heard += 1;
            if let Progress::Probing { done, total } = progress {
                // Of two texts the first is kept once the second is begun.
                reached = if done > total / 2 { total / 2 } else { 0 };
            }
            if heard == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        stopped.unwrap_err();
        let mut first = None;
        let again = quality::convert(&in_batches(&source, &out, &texts), &mut |progress| {
            if let Progress::Probing { done, .. } = progress {
                first.get_or_insert(done);
            }
            ControlFlow::Continue(())
        });
        again.unwrap();
        // What was measured of a text before is not measured again.
        assert!(first.is_none_or(|done| done >= reached), "{first:?} after {stop} steps, {reached}");
        assert!(files(&out) == expected, "stopped at {stop} of {steps}");
        assert_eq!(beside(&dir), ["out"]);
    }
}

/// Prose that the demo model knows, and in the middle what nobody would write.
fn with_an_odd_one() -> calibration::Texts {
    let renderer = Renderer::load(&demo_model()).unwrap();
    let mut documents = calibration::built_in(&renderer).unwrap().documents;
    documents.truncate(6);
    documents.iter_mut().for_each(|document| document.ids.truncate(40));
    documents[2].ids = (0..40).map(|i| (i * 7919 % 251) as u32 + 3).collect();
    of(documents)
}

#[test]
fn what_the_model_finds_odd_is_left_out_and_named() {
    let (source, texts, dir) = (demo_model(), with_an_odd_one(), tempfile::tempdir().unwrap());
    let out = dir.path().join("out");
    let mut left_out = Vec::new();
    let request = request(&source, &out, &texts, Aim::Bits(5.0));
    let stopped = quality::plan(&request, &mut |progress| match progress {
        Progress::Probing { .. } => ControlFlow::Break(()),
        Progress::LeftOut { place, perplexity } => {
            left_out.push((place, perplexity.unwrap()));
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Continue(()),
    });
    assert_eq!(ErrorReport::from(&stopped.unwrap_err()).code, "cancelled");
    assert!(matches!(left_out[..], [(3, perplexity)] if perplexity > 20.0), "{left_out:?}");
}

#[test]
fn two_cannot_convert_to_one_place_at_a_time() {
    let (source, texts, dir) = (fixture("tiny-dense"), texts(), tempfile::tempdir().unwrap());
    let out = dir.path().join("out");
    let request = request(&source, &out, &texts, Aim::Bits(4.0));
    let mut second = None;
    let first = quality::plan(&request, &mut |_| {
        second = quality::plan(&request, &mut |_| ControlFlow::Continue(())).err();
        ControlFlow::Break(())
    });
    first.unwrap_err();
    assert_eq!(ErrorReport::from(&second.unwrap()).code, "busy");
}

/// The model writes what it is then measured on, once, and what wrote it is gone.
#[test]
fn a_model_can_write_what_it_is_measured_on() {
    let (source, dir) = (demo_model(), tempfile::tempdir().unwrap());
    let out = dir.path().join("out");
    let texts = texts();
    let request = Request {
        texts: Texts::Replies { seed: 7, max_tokens: 4 },
        ..request(&source, &out, &texts, Aim::Bits(4.0))
    };
    let stop_at = |is_end: &dyn Fn(&Progress) -> bool| {
        let mut heard = Vec::new();
        let stopped = quality::convert(&request, &mut |progress| {
            heard.push(progress);
            if is_end(&progress) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(ErrorReport::from(&stopped.unwrap_err()).code, "cancelled");
        heard
    };
    let is_writing = |progress: &Progress| matches!(progress, Progress::Writing(_));
    let is_replying = |progress: &Progress| matches!(progress, Progress::Replying(_));
    stop_at(&is_writing);
    assert_eq!(beside(&dir), ["out.measured", "out.replies.partial"]);
    // The conversion that writes goes on, and then writes.
    assert!(is_writing(&stop_at(&is_replying)[0]));
    assert_eq!(beside(&dir), ["out.measured", "out.replies"]);
    if std::env::var_os("FORETOKEN_CASES").is_none() {
        return;
    }
    let heard = stop_at(&|progress| matches!(progress, Progress::Reading { .. }));
    assert!(is_replying(&heard[0]), "{:?}", heard[0]);
    let Progress::Replying(written) = heard[heard.len() - 2] else { panic!("{heard:?}") };
    assert!(written.replies == written.of && written.of > 50 && written.tokens > written.of, "{written:?}");
    assert_eq!(beside(&dir), ["out.measured"]);
    // What was written is kept.
    let heard = stop_at(&|progress| matches!(progress, Progress::Reading { .. }));
    assert!(matches!(heard[..], [Progress::Reading { .. }]), "{heard:?}");
}

/// What is told beforehand is never less memory than it takes, and not much more.
#[test]
fn what_it_takes_is_told_beforehand() {
    let dir = tempfile::tempdir().unwrap();
    let all = std::env::var_os("FORETOKEN_CASES").is_some();
    for source in [fixture("tiny-dense"), demo_model()].into_iter().take(if all { 2 } else { 1 }) {
        let out = dir.path().join("out");
        let texts = texts();
        let request = request(&source, &out, &texts, Aim::Bits(4.5));
        let told = quality::outlook(&request).unwrap();
        assert_eq!(told.tokens, 5 * 24);
        mlx::clear_cache();
        let before = mlx::active_memory();
        mlx::reset_peak_memory();
        let started = Instant::now();
        let (mut last, mut peaks) = (None, Vec::new());
        let made = quality::convert(&request, &mut |progress| {
            let stage = std::mem::discriminant(&progress);
            if last.replace(stage) != Some(stage) {
                peaks.push((mlx::peak_memory() - before) as u64);
                mlx::reset_peak_memory();
            }
            ControlFlow::Continue(())
        })
        .unwrap();
        peaks.push((mlx::peak_memory() - before) as u64);
        let (seconds, peak) = (started.elapsed().as_secs_f64(), peaks.iter().copied().max().unwrap());
        println!("{seconds:.2} s, {:.2} told; {peaks:?} bytes, {} told", told.seconds, told.peak_bytes);
        assert!(told.peak_bytes >= peak && told.peak_bytes * 4 <= peak * 5, "{peak} bytes, {told:?}");
        let bytes = made.report.unwrap().bytes;
        assert!(told.disk_bytes >= bytes && told.disk_bytes * 9 <= bytes * 10, "{bytes} bytes, {told:?}");
        fs::remove_dir_all(&out).unwrap();
    }
}

/// What was measured once is enough for every result that was offered, each of which comes to what was said of it.
#[test]
fn what_is_offered_can_be_made_without_measuring_again() {
    let (source, texts, dir) = (fixture("tiny-dense"), texts(), tempfile::tempdir().unwrap());
    let (out, measured) = (dir.path().join("out"), dir.path().join("kept.measured"));
    let wanted = |aim| Request { measured: Some(&measured), ..request(&source, &out, &texts, aim) };
    let ask = |heard: &mut u64| {
        let request = wanted(Aim::Closeness(Closeness::Small));
        let offers = quality::offers(&request, &mut |progress| {
            let measures = matches!(
                progress,
                Progress::Reading { .. } | Progress::Probing { .. } | Progress::Guessing { .. }
            );
            assert!(measures, "{progress:?}");
            *heard += 1;
            ControlFlow::Continue(())
        });
        offers.unwrap()
    };
    let (mut first, mut again) = (0, 0);
    let offers = ask(&mut first);
    assert_eq!(ask(&mut again), offers);
    assert!(first > 0 && again == 0, "{first} steps, then {again}");
    assert_eq!(beside(&dir), ["kept.measured"], "nothing else is written");

    let points = &offers.points;
    assert!(points.len() >= 8, "{points:?}");
    assert!(points.is_sorted_by(|a, b| a.bytes < b.bytes && a.kl >= b.kl), "{points:?}");
    for (named, closeness) in [
        (offers.small, Closeness::Small),
        (offers.balanced, Closeness::Balanced),
        (offers.close, Closeness::Close),
    ] {
        assert!(points.contains(&named), "{named:?}");
        let asked = quality::plan(&wanted(Aim::Closeness(closeness)), &mut |_| ControlFlow::Continue(()));
        assert_eq!(asked.unwrap().1, named);
    }
    // Of those without a name the ends will do.
    for point in [&points[0], &points[points.len() - 1]] {
        let asked = quality::plan(&wanted(Aim::Bytes(point.bytes)), &mut |_| ControlFlow::Continue(()));
        assert_eq!(asked.unwrap().1, *point);
    }
    let made = quality::convert(&wanted(Aim::Bytes(points[0].bytes)), &mut |progress| {
        let measures = matches!(
            progress,
            Progress::Reading { .. } | Progress::Probing { .. } | Progress::Guessing { .. }
        );
        assert!(!measures, "{progress:?}");
        ControlFlow::Continue(())
    });
    assert_eq!(made.unwrap().report.unwrap().bytes, points[0].bytes);
    assert_eq!(beside(&dir), ["kept.measured", "out"], "what was measured stays");
}
