//! How fast models are expected to be on this machine, by what the models here have shown.

use foretoken_models::{CatalogueEntry, MeasuredSpeed, Range, TokenCost, expected_speed};
use foretoken_protocol::{Benchmark, DepthSpeed, ExpectedSpeed, MtpState, SpeedRange, TextSpeed, Tuning};

use super::ModelLibrary;
use super::facts::{Facts, Found};
use super::local_models::ModelFolder;

impl ModelLibrary {
    /// How fast the models here were on this machine: in their newest benchmark, or else in the measurement that
    /// follows their download. Blocks while benchmarks are written.
    pub(super) fn measured_speeds(&self) -> Vec<MeasuredSpeed> {
        let folders = self.lock().local_models.clone();
        let measured = |folder: &ModelFolder| {
            let Some(Ok(Found::Model(facts))) = self.inspector.known(&folder.path) else { return None };
            let cost = cost(&facts)?;
            let is_it =
                |one: &Benchmark| one.model == folder.name && bits(&one.format) == bits(&facts.format);
            match self.benchmarks.newest_here(is_it) {
                Some(benchmark) => of_benchmark(cost, &benchmark),
                None => of_tuning(cost, &self.statistics.tuning(&folder.path)?),
            }
        };
        folders.iter().filter_map(measured).collect()
    }
}

/// Of a model as it is kept.
pub(super) fn of_model(facts: &Facts, chip: &str, measured: &[MeasuredSpeed]) -> Option<ExpectedSpeed> {
    expected(cost(facts)?, has_head(facts), chip, measured)
}

/// Of a model whose weights take `weight_bytes` once it is converted.
pub(super) fn of_converted(
    facts: &Facts,
    weight_bytes: u64,
    chip: &str,
    measured: &[MeasuredSpeed],
) -> Option<ExpectedSpeed> {
    let cost = TokenCost::of(weight_bytes, facts.parameters, facts.active_parameters?)?;
    expected(cost, has_head(facts), chip, measured)
}

/// Of a model of the catalogue, which tells of it as it is once it is converted.
pub(super) fn of_entry(
    entry: &CatalogueEntry,
    chip: &str,
    measured: &[MeasuredSpeed],
) -> Option<ExpectedSpeed> {
    let cost = TokenCost::of(entry.memory.weight_bytes, entry.parameters_total, entry.parameters_active)?;
    expected(cost, entry.mtp, chip, measured)
}

fn expected(
    cost: TokenCost,
    has_head: bool,
    chip: &str,
    measured: &[MeasuredSpeed],
) -> Option<ExpectedSpeed> {
    let speed = expected_speed(&cost, has_head, chip, measured)?;
    let range = |range: Range| SpeedRange { low: range.low, high: range.high };
    Some(ExpectedSpeed { plain: range(speed.plain), guessing: speed.guessing.map(range) })
}

fn cost(facts: &Facts) -> Option<TokenCost> {
    TokenCost::of(facts.weight_bytes, facts.parameters, facts.active_parameters?)
}

fn has_head(facts: &Facts) -> bool {
    matches!(facts.mtp, MtpState::Present { .. })
}

/// A format without what only a note has room for.
fn bits(format: &str) -> &str {
    format.split([',', ';']).next().unwrap_or(format)
}

/// Plain decoding of the first kind of text, and what the best way of each kind gained, from the least to the most.
fn of_benchmark(cost: TokenCost, benchmark: &Benchmark) -> Option<MeasuredSpeed> {
    let plain_of = |text: &TextSpeed| {
        text.depths.iter().find(|depth| depth.depth == 0).map(|depth| depth.tokens_per_second.median)
    };
    let plain = benchmark.texts.iter().find_map(plain_of).filter(|&plain| plain > 0.0)?;
    let median = |depth: &&DepthSpeed| depth.tokens_per_second.median;
    let gains = benchmark.texts.iter().filter_map(|text| {
        let plain = plain_of(text).filter(|&plain| plain > 0.0)?;
        let guessing = text.depths.iter().filter(|depth| depth.depth > 0);
        let best = guessing.max_by(|a, b| median(a).total_cmp(&median(b)))?.tokens_per_second;
        Some(Range { low: best.min / plain, high: best.max / plain })
    });
    let gain = gains.reduce(|a, b| Range { low: a.low.min(b.low), high: a.high.max(b.high) });
    Some(MeasuredSpeed { cost, plain, gain })
}

fn of_tuning(cost: TokenCost, tuning: &Tuning) -> Option<MeasuredSpeed> {
    let (&plain, guessing) = tuning.tokens_per_second.split_first()?;
    let best = guessing.iter().copied().max_by(f64::total_cmp);
    let gain = best.map(|best| Range { low: best / plain, high: best / plain });
    (plain > 0.0).then_some(MeasuredSpeed { cost, plain, gain })
}

#[cfg(test)]
mod tests {
    use foretoken_models::Catalogue;
    use foretoken_protocol::{KvPrecision, Spread, TextKind};

    use super::*;

    fn cost() -> TokenCost {
        TokenCost::of(10_000_000_000, 20_000_000_000, 20_000_000_000).unwrap()
    }

    fn speed(depth: u8, median: f64) -> DepthSpeed {
        let spread = |median: f64| Spread { median, min: median - 5.0, max: median + 5.0 };
        DepthSpeed {
            depth,
            tokens_per_second: spread(median),
            speed_up: None,
            tokens_per_pass: spread(1.0),
            positions: Vec::new(),
        }
    }

    #[test]
    fn a_benchmark_tells_plain_decoding_and_the_range_of_its_best_number_of_guesses() {
        let mut benchmark = crate::benchmarks::benchmark(1);
        let text = |kind, depths| TextSpeed { kind, depths, dflash: Vec::new(), auto: None, lookup: None };
        let prose =
            text(TextKind::Prose, vec![speed(0, 20.0), speed(1, 30.0), speed(2, 35.0), speed(3, 25.0)]);
        benchmark.texts = vec![prose, text(TextKind::Code, vec![speed(0, 10.0), speed(1, 25.0)])];
        let gain = Some(Range { low: 1.5, high: 3.0 });
        assert_eq!(of_benchmark(cost(), &benchmark), Some(MeasuredSpeed { cost: cost(), plain: 20.0, gain }));
        benchmark.texts.truncate(1);
        benchmark.texts[0].depths.truncate(1);
        assert_eq!(of_benchmark(cost(), &benchmark).unwrap().gain, None);
        benchmark.texts[0].depths.clear();
        assert_eq!(of_benchmark(cost(), &benchmark), None);
    }

    #[test]
    fn so_does_the_measurement_after_a_download() {
        let of = |tokens_per_second: &[f64]| {
            let tuning = Tuning {
                tokens_per_second: tokens_per_second.into(),
                best_depth: 0,
                kv_precision: KvPrecision::Full,
                draft_vocabulary: None,
                strained: false,
                measured_at: 0,
            };
            of_tuning(cost(), &tuning)
        };
        let gain = Some(Range { low: 1.5, high: 1.5 });
        assert_eq!(of(&[20.0, 30.0, 25.0]), Some(MeasuredSpeed { cost: cost(), plain: 20.0, gain }));
        assert_eq!(of(&[20.0]).unwrap().gain, None);
        assert_eq!((of(&[]), of(&[0.0, 1.0])), (None, None));
    }

    #[test]
    fn models_of_the_catalogue_are_expected_as_converted_and_only_where_something_tells() {
        let catalogue = Catalogue::embedded();
        let expected = |chip: &str, measured: &[MeasuredSpeed]| -> Vec<(String, ExpectedSpeed)> {
            let of = |entry| Some((CatalogueEntry::clone(entry).id, of_entry(entry, chip, measured)?));
            catalogue.entries.iter().filter_map(of).collect()
        };
        assert!(expected("Some other processor", &[]).is_empty());
        let by_chip = expected("Apple M4 Max", &[]);
        assert!(by_chip.len() > 5 && by_chip.len() < catalogue.entries.len(), "not those that are tiny");
        for (id, speed) in by_chip {
            let head = catalogue.entries.iter().find(|entry| entry.id == id).unwrap().mtp;
            assert_eq!(speed.guessing.is_some(), head, "{id}");
        }
        let measured = [MeasuredSpeed { cost: cost(), plain: 40.0, gain: None }];
        let by_model = expected("", &measured);
        assert!(by_model.iter().any(|(id, _)| id == "qwen3.5-27b"));
        assert!(by_model.iter().all(|(id, _)| !id.contains("-a3b")), "no model with experts was measured");
    }
}
