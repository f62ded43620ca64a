//! Measuring how many drafts pay with a model, with the engine's own benchmark, behind the choice of the tokens that
//! they are drawn from.

use std::path::Path;

use foretoken_host::{Model, Tool};
use foretoken_protocol::{DepthSpeed, ErrorReport, KvPrecision, TextChoice, Tuning};

use crate::benchmarks::{self, Sizes};
use crate::clock::now;

/// Long enough that a difference shows, short enough that nobody waits for it. Of prose alone: most replies are, drafts
/// that pay there pay with code too, and without drafts both are equally fast.
pub(crate) const MEASUREMENT: Sizes =
    Sizes { texts: TextChoice::Prose, drafts: true, prompt_tokens: 64, gen_tokens: 12, runs: 3 };
/// Drafts must gain at least this much: less is within what two runs differ by.
const MARGIN: f64 = 1.02;
/// With fewer tokens the output head is no large part of what a draft reads, and drafts are drawn from all of them.
const LEAST_VOCABULARY: usize = 16_384;

/// Measures a model as it is loaded for replies, and leaves what passes take in `state`; `on_progress` is told how much
/// of it is done, and of how much. Dropping the future ends it. `vocab_size`: of the model; `sizes`: of the benchmark.
pub(super) async fn measure(
    tool: &Tool,
    model: &Model,
    state: &Path,
    vocab_size: usize,
    sizes: &Sizes,
    mut on_progress: impl FnMut(u64, u64),
) -> Result<Tuning, ErrorReport> {
    let mut draft_vocabulary = None;
    // Where there are two, each is half of the work.
    let halves = if vocab_size < LEAST_VOCABULARY { 1 } else { 2 };
    if halves == 2 {
        let first_half = |done, total| on_progress(done, halves * total);
        let folder = Path::new(&model.folder);
        draft_vocabulary = match benchmarks::choose_draft_vocabulary(tool, folder, first_half).await {
            Ok(figures) => Some(figures),
            Err(error) => {
                if error.code != "no_mtp_head" {
                    tracing::warn!(
                        "drafts of {} are drawn from all tokens: {}",
                        folder.display(),
                        error.message
                    );
                }
                None
            }
        };
    }
    let last_half = |done, total| on_progress((halves - 1) * total + done, halves * total);
    let report = benchmarks::measure(tool, model, state, sizes, last_half).await?;
    Ok(Tuning { draft_vocabulary, ..tuning(report.depths(), model.kv_precision, now()) })
}

fn tuning(depths: &[DepthSpeed], kv_precision: KvPrecision, measured_at: u64) -> Tuning {
    let tokens_per_second: Vec<f64> = depths.iter().map(|depth| depth.tokens_per_second.median).collect();
    let plain = depths.iter().find(|depth| depth.depth == 0);
    let plain = plain.map_or(f64::INFINITY, |depth| depth.tokens_per_second.median);
    let best = depths
        .iter()
        .filter(|depth| depth.tokens_per_second.median > plain * MARGIN)
        .max_by(|a, b| a.tokens_per_second.median.total_cmp(&b.tokens_per_second.median));
    Tuning {
        tokens_per_second,
        best_depth: best.map_or(0, |depth| depth.depth),
        kv_precision,
        draft_vocabulary: None,
        strained: false,
        measured_at,
    }
}

#[cfg(test)]
mod tests {
    use foretoken_host::testing::{demo_model, engine_program};
    use foretoken_protocol::Spread;

    use super::*;
    use crate::models::library::testing::SHORT_MEASUREMENT;

    fn best(medians: &[f64]) -> u8 {
        let exactly = |value: f64| Spread { median: value, min: value, max: value };
        let depths: Vec<DepthSpeed> = medians
            .iter()
            .zip(0..)
            .map(|(&median, depth)| DepthSpeed {
                depth,
                tokens_per_second: exactly(median),
                speed_up: None,
                tokens_per_pass: exactly(1.0),
                positions: Vec::new(),
            })
            .collect();
        tuning(&depths, KvPrecision::Full, 0).best_depth
    }

    #[test]
    fn the_fastest_depth_wins_if_it_beats_plain_decoding() {
        assert_eq!(best(&[10.0, 14.0, 16.0, 15.0]), 2);
        assert_eq!(best(&[10.0, 9.0, 8.0, 7.0]), 0);
        assert_eq!(best(&[10.0, 10.1, 8.0, 7.0]), 0, "a hundredth is noise");
        assert_eq!(best(&[10.0]), 0, "a model without a head");
        assert_eq!(best(&[]), 0);
    }

    #[tokio::test]
    async fn the_demo_model_is_measured_at_each_depth() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let model = folder.path().join("model");
        std::fs::create_dir(&model).unwrap();
        for entry in std::fs::read_dir(demo_model()).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), model.join(entry.file_name())).unwrap();
        }
        let mut told = Vec::new();
        let follow = |done, total| told.push(done as f64 / total as f64);
        let loaded = |kv_precision| {
            let folder = model.to_string_lossy().into_owned();
            Model::new(folder, kv_precision)
        };
        let eight = loaded(KvPrecision::Eight);
        let tuned = measure(&tool, &eight, folder.path(), LEAST_VOCABULARY, &SHORT_MEASUREMENT, follow);
        let tuning = tuned.await.unwrap();
        assert!(told.is_sorted() && told.last() == Some(&1.0) && told.contains(&0.5), "{told:?}");
        let figures = tuning.draft_vocabulary.clone().unwrap();
        assert!(
            figures.tokens < figures.vocabulary && figures.before.positions[0].accepted > 0,
            "{figures:?}"
        );
        assert_eq!(model.join("draft_vocabulary.json").exists(), figures.kept);
        assert_eq!(tuning.kv_precision, KvPrecision::Eight);
        assert_eq!(tuning.tokens_per_second.len(), 4);
        assert!(tuning.tokens_per_second.iter().all(|&speed| speed > 0.0), "{tuning:?}");

        // Without a choice of tokens the benchmark is all of the work. What it then comes to was seen.
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let follow = |done, total| _ = tell.send(done as f64 / total as f64);
        let full = loaded(KvPrecision::Full);
        tokio::select! {
            ended = measure(&tool, &full, folder.path(), LEAST_VOCABULARY - 1, &MEASUREMENT, follow) => {
                panic!("{ended:?}")
            }
            first = told.recv() => assert!(first.is_some_and(|part| part < 0.25), "{first:?}"),
        }
    }
}
