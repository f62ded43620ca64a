//! The history of benchmarks as a file for other programs.

use std::io::Write;
use std::path::Path;

use foretoken_chats::WholeFile;
use foretoken_protocol::{
    Benchmark, BenchmarkFormat, DepthSpeed, ErrorReport, KvPrecision, Spread, TextKind,
};
use jiff::Timestamp;

use super::measurement::name;

/// What the columns of a CSV file are called.
const COLUMNS: [&str; 27] = [
    "measured_at",
    "model",
    "format",
    "kv_bits",
    "app_version",
    "chip",
    "ram_bytes",
    "device",
    "runs",
    "gen_tokens",
    "prompt_tokens",
    "text",
    "drafts",
    "tokens_per_second",
    "tokens_per_second_min",
    "tokens_per_second_max",
    "speed_up",
    "speed_up_min",
    "speed_up_max",
    "tokens_per_pass",
    "acceptance_1",
    "acceptance_2",
    "acceptance_3",
    "prefill_tokens_per_second",
    "prefill_tokens_per_second_min",
    "prefill_tokens_per_second_max",
    "peak_memory_bytes",
];

/// Writes benchmarks into a file, which appears, or is replaced, when it is whole. Blocks on the disk.
pub(super) fn write(
    benchmarks: &[Benchmark],
    format: BenchmarkFormat,
    path: &Path,
) -> Result<(), ErrorReport> {
    save(benchmarks, format, path).map_err(|error| ErrorReport {
        code: "export_not_written".into(),
        message: format!("{} cannot be written: {error}.", path.display()),
        hint: "Choose another folder, or free some space.".into(),
    })
}

fn save(benchmarks: &[Benchmark], format: BenchmarkFormat, path: &Path) -> std::io::Result<()> {
    let text = match format {
        BenchmarkFormat::Json => serde_json::to_string_pretty(benchmarks)? + "\n",
        BenchmarkFormat::Csv => csv(benchmarks),
    };
    let mut file = WholeFile::begin(path)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}

/// As RFC 4180 has it. What was not measured is empty.
fn csv(benchmarks: &[Benchmark]) -> String {
    let mut text = row(COLUMNS.map(str::to_owned));
    for (benchmark, of) in benchmarks.iter().flat_map(|one| one.texts.iter().map(move |of| (one, of))) {
        let of_head = of.depths.iter().map(|depth| (depth.depth.to_string(), depth));
        let of_draft = of.dflash.iter().map(|depth| (format!("dflash {}", depth.depth), depth));
        for (drafts, depth) in of_head.chain(of_draft) {
            let acceptance: Vec<Option<f64>> =
                depth.positions.iter().map(|at| share(at.accepted, at.drafted)).collect();
            text += &line(benchmark, of.kind, drafts, depth, &acceptance);
        }
        for (drafts, speed) in [("auto", &of.auto), ("look-up", &of.lookup)] {
            let Some(speed) = speed else { continue };
            let depth = DepthSpeed {
                depth: 0,
                tokens_per_second: speed.tokens_per_second,
                speed_up: speed.speed_up,
                tokens_per_pass: speed.tokens_per_pass,
                positions: Vec::new(),
            };
            text += &line(benchmark, of.kind, drafts.into(), &depth, &[]);
        }
    }
    text
}

fn line(
    benchmark: &Benchmark,
    kind: TextKind,
    drafts: String,
    speed: &DepthSpeed,
    acceptance: &[Option<f64>],
) -> String {
    let time = i64::try_from(benchmark.measured_at).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    let [rate, least_rate, most_rate] = numbers(Some(speed.tokens_per_second));
    let [gain, least_gain, most_gain] = numbers(speed.speed_up);
    let [prefill, least_prefill, most_prefill] = numbers(benchmark.prefill_tokens_per_second);
    let accepted = |at: usize| acceptance.get(at).copied().flatten().map(number).unwrap_or_default();
    row([
        time.map(|time| time.to_string()).unwrap_or_default(),
        benchmark.model.clone(),
        benchmark.format.clone(),
        kv_bits(benchmark.kv_precision),
        benchmark.app_version.clone(),
        benchmark.machine.chip.clone(),
        benchmark.machine.ram_bytes.to_string(),
        benchmark.device.clone(),
        benchmark.runs.to_string(),
        benchmark.gen_tokens.to_string(),
        benchmark.prompt_tokens.to_string(),
        name(kind).into(),
        drafts,
        rate,
        least_rate,
        most_rate,
        gain,
        least_gain,
        most_gain,
        number(speed.tokens_per_pass.median),
        accepted(0),
        accepted(1),
        accepted(2),
        prefill,
        least_prefill,
        most_prefill,
        format!("{:.0}", benchmark.peak_memory_bytes.median),
    ])
}

/// Empty where they were as computed.
fn kv_bits(kv_precision: KvPrecision) -> String {
    match kv_precision {
        KvPrecision::Full => String::new(),
        KvPrecision::Eight => "8".into(),
    }
}

fn row(fields: [String; COLUMNS.len()]) -> String {
    fields.map(|field| quoted(&field)).join(",") + "\r\n"
}

fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

fn numbers(spread: Option<Spread>) -> [String; 3] {
    spread.map_or_else(Default::default, |spread| [spread.median, spread.min, spread.max].map(number))
}

fn number(value: f64) -> String {
    format!("{value:.4}")
}

fn share(accepted: u32, drafted: u32) -> Option<f64> {
    (drafted > 0).then(|| f64::from(accepted) / f64::from(drafted))
}

#[cfg(test)]
pub(super) mod tests {
    use foretoken_protocol::{AutoSpeed, BenchmarkPlan, MachineName, PositionStats, TextChoice, TextSpeed};

    use super::*;

    fn spread(median: f64) -> Spread {
        Spread { median, min: median / 2.0, max: median * 2.0 }
    }

    /// A benchmark of a time, with a name that needs care.
    pub(crate) fn benchmark(measured_at: u64) -> Benchmark {
        let depth = |depth: u8| DepthSpeed {
            depth,
            tokens_per_second: spread(40.0 + f64::from(depth)),
            speed_up: Some(spread(1.0 + f64::from(depth) / 40.0)),
            tokens_per_pass: spread(1.0),
            positions: vec![PositionStats { drafted: 4, accepted: 3 }; usize::from(depth)],
        };
        let auto = |tokens_per_second| AutoSpeed {
            tokens_per_second: spread(tokens_per_second),
            speed_up: None,
            tokens_per_pass: spread(1.1),
            note: None,
        };
        Benchmark {
            measured_at,
            model: "A \"small\" model, 4-bit".into(),
            format: "4-bit".into(),
            kv_precision: KvPrecision::Eight,
            app_version: "1.2.3".into(),
            machine: MachineName { chip: "M4".into(), ram_bytes: 16 << 30 },
            device: "metal".into(),
            strained: false,
            plan: BenchmarkPlan { texts: TextChoice::Both, drafts: true, prompt: false, thorough: false },
            runs: 3,
            gen_tokens: 64,
            prompt_tokens: 64,
            texts: vec![
                TextSpeed {
                    kind: TextKind::Prose,
                    depths: vec![depth(0), depth(2)],
                    dflash: vec![depth(3)],
                    auto: Some(auto(41.0)),
                    lookup: None,
                },
                TextSpeed {
                    kind: TextKind::Code,
                    depths: vec![depth(0)],
                    dflash: Vec::new(),
                    auto: None,
                    lookup: Some(auto(50.0)),
                },
            ],
            prefill_tokens_per_second: None,
            peak_memory_bytes: spread(1e9),
            load_seconds: spread(0.5),
        }
    }

    #[test]
    fn a_spreadsheet_has_a_line_for_each_way_and_text_and_nothing_where_nothing_was_measured() {
        let text = csv(&[benchmark(1_700_000_000_123)]);
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(
            lines.len(),
            8,
            "the names, four ways of prose, two of code, and the end of the last line"
        );
        assert!(lines[0].starts_with("measured_at,model,"));
        let start = "2023-11-14T22:13:20.123Z,\"A \"\"small\"\" model, 4-bit\",4-bit,8,1.2.3,M4,17179869184,metal,3,64,64,";
        assert_eq!(
            lines[2],
            format!(
                "{start}prose,2,42.0000,21.0000,84.0000,1.0500,0.5250,2.1000,1.0000,0.7500,0.7500,,,,,1000000000"
            )
        );
        assert!(lines[3].starts_with(&format!("{start}prose,dflash 3,43.0000,")), "{}", lines[3]);
        assert_eq!(lines[4], format!("{start}prose,auto,41.0000,20.5000,82.0000,,,,1.1000,,,,,,,1000000000"));
        assert!(lines[5].starts_with(&format!("{start}code,0,40.0000,")), "{}", lines[5]);
        assert!(lines[6].starts_with(&format!("{start}code,look-up,50.0000,")), "{}", lines[6]);
        let mut of_before = benchmark(1);
        of_before.texts[0].kind = TextKind::Any;
        let of_before = csv(&[of_before]);
        assert!(of_before.contains(",64,64,,2,42.0000,"), "what was not told apart has no name: {of_before}");
    }

    #[test]
    fn json_holds_everything_and_a_folder_that_is_gone_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        write(&[benchmark(7)], BenchmarkFormat::Json, &path).unwrap();
        let read: Vec<Benchmark> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(read, [benchmark(7)]);
        let nowhere = folder.path().join("gone/out.csv");
        let refused = write(&[], BenchmarkFormat::Csv, &nowhere).unwrap_err();
        assert!(refused.message.contains("gone/out.csv"), "{refused}");
    }
}
