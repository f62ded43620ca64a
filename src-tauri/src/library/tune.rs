//! Measuring how many drafts pay with a model, with the engine's own benchmark.

use std::ffi::OsString;
use std::path::Path;

use foretoken_protocol::{ErrorReport, Tuning};
use serde::Deserialize;

use super::now;
use super::tool::Tool;

/// Long enough that a difference shows, short enough that nobody waits for it.
const SIZES: [&str; 7] = ["--depths-only", "--prompt-tokens", "64", "--gen-tokens", "32", "--runs", "3"];
/// Drafts must gain at least this much: less is within what two runs differ by.
const MARGIN: f64 = 1.02;

#[derive(Debug, Deserialize)]
struct Report {
    depths: Vec<Depth>,
}

#[derive(Debug, Deserialize)]
struct Depth {
    depth: u8,
    tokens_per_second: Spread,
}

#[derive(Debug, Deserialize)]
struct Spread {
    median: f64,
}

/// Measures the model in a folder. Dropping the future ends it.
pub(super) async fn measure(tool: &Tool, folder: &Path) -> Result<Tuning, ErrorReport> {
    let mut arguments: Vec<OsString> = vec!["bench".into(), "--model".into(), folder.into(), "--json".into()];
    arguments.extend(SIZES.map(OsString::from));
    let output = tool.output(arguments).await?;
    let report: Report = serde_json::from_str(&output).map_err(|error| ErrorReport {
        code: "engine_unreadable".into(),
        message: format!("The engine told its speed in words that cannot be read: {error}."),
        hint: "Install Foretoken again.".into(),
    })?;
    Ok(tuning(&report, now()))
}

fn tuning(report: &Report, measured_at: u64) -> Tuning {
    let tokens_per_second: Vec<f64> =
        report.depths.iter().map(|depth| depth.tokens_per_second.median).collect();
    let plain = report.depths.iter().find(|depth| depth.depth == 0);
    let plain = plain.map_or(f64::INFINITY, |depth| depth.tokens_per_second.median);
    let best = report
        .depths
        .iter()
        .filter(|depth| depth.tokens_per_second.median > plain * MARGIN)
        .max_by(|a, b| a.tokens_per_second.median.total_cmp(&b.tokens_per_second.median));
    Tuning { tokens_per_second, best_depth: best.map_or(0, |depth| depth.depth), measured_at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{demo_model, engine_program};

    fn best(medians: &[f64]) -> u8 {
        let depths = medians
            .iter()
            .zip(0..)
            .map(|(&median, depth)| Depth { depth, tokens_per_second: Spread { median } })
            .collect();
        tuning(&Report { depths }, 0).best_depth
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
        let tuning = measure(&Tool::new(engine_program(folder.path())), &demo_model()).await.unwrap();
        assert_eq!(tuning.tokens_per_second.len(), 4);
        assert!(tuning.tokens_per_second.iter().all(|&speed| speed > 0.0), "{tuning:?}");
    }
}
