//! How fast models are: benchmarks, their history, and the comparison of one question with drafts and without.

use std::path::PathBuf;
use std::sync::Arc;

use foretoken_protocol::{
    BenchmarkFormat, BenchmarkHistory, BenchmarkId, BenchmarkPlan, Comparison, ComparisonProgress,
    ComparisonSource, ErrorReport, JobId,
};
use tauri::ipc::Channel;
use tauri::{Manager, State, WebviewWindow};

use super::dialogs::path_to_save;
use crate::app::App;
use crate::benchmarks::History;

/// All benchmarks that are kept. A benchmark that ends adds one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn benchmarks(app: State<'_, Arc<App>>) -> Result<BenchmarkHistory, ErrorReport> {
    app.benchmarks.with(History::all).await
}

/// Begins to measure a model for the history, as a job of the library.
#[tauri::command]
#[specta::specta]
pub(crate) async fn run_benchmark(
    app: State<'_, Arc<App>>,
    path: String,
    plan: BenchmarkPlan,
) -> Result<JobId, ErrorReport> {
    app.models.library.benchmark(PathBuf::from(path), plan).await
}

/// Deletes a benchmark. It can be restored until the app quits.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_benchmark(
    app: State<'_, Arc<App>>,
    benchmark: BenchmarkId,
) -> Result<(), ErrorReport> {
    app.benchmarks.with(move |history| history.delete(benchmark.0)).await?;
    app.models.library.refresh();
    Ok(())
}

/// Brings a deleted benchmark back.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_benchmark(
    app: State<'_, Arc<App>>,
    benchmark: BenchmarkId,
) -> Result<(), ErrorReport> {
    app.benchmarks.with(move |history| history.restore(benchmark.0)).await?;
    app.models.library.refresh();
    Ok(())
}

/// Lets the person choose a file in the system's dialog and writes all benchmarks into it. Returns where, or `null` if
/// they chose none.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_benchmarks(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    format: BenchmarkFormat,
) -> Result<Option<String>, ErrorReport> {
    let ending = if format == BenchmarkFormat::Csv { "csv" } else { "json" };
    let name = crate::app::texts(window.app_handle()).say("dialog-export-benchmarks.file");
    let Some(path) = path_to_save(&window, "dialog-export-benchmarks", format!("{name}.{ending}")).await
    else {
        return Ok(None);
    };
    let file = path.clone();
    app.benchmarks.with(move |history| history.export(format, &file)).await?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Answers a question without drafts and then with them, each alone in the engine. `null` if it was cancelled.
#[tauri::command]
#[specta::specta]
pub(crate) async fn compare(
    app: State<'_, Arc<App>>,
    source: ComparisonSource,
    progress: Channel<ComparisonProgress>,
) -> Result<Option<Comparison>, ErrorReport> {
    app.comparisons.compare(source, progress).await
}

/// Ends the comparison that runs, if there is one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_comparison(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.comparisons.cancel();
    Ok(())
}
