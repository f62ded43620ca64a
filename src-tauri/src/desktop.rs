//! What the desktop shows of long work: progress in the dock or the title bar, a notification at the end, folders in
//! the file manager.

use std::path::PathBuf;

use foretoken_protocol::{ErrorReport, Job, JobKind, JobStage, LibrarySnapshot};
use tauri::window::{ProgressBarState, ProgressBarStatus};
use tauri::{AppHandle, Manager};
use tauri_plugin_notification::NotificationExt;
use tokio::sync::watch;

use crate::setup::MAIN_WINDOW;

/// Shows the library's work for as long as the app runs.
pub(crate) async fn follow_library(handle: AppHandle, mut library: watch::Receiver<Option<LibrarySnapshot>>) {
    let (mut before, mut shown) = (Vec::new(), None);
    while library.changed().await.is_ok() {
        let Some(LibrarySnapshot { jobs, .. }) = library.borrow_and_update().clone() else { continue };
        let percent = percent(&jobs);
        if percent != shown {
            show_progress(&handle, percent);
            shown = percent;
        }
        for (title, body) in endings(&before, &jobs) {
            notify(&handle, &title, &body);
        }
        before = jobs;
    }
}

/// How far the work that goes on is, all told; `None` if there is none.
fn percent(jobs: &[Job]) -> Option<u64> {
    let runs = |job: &&Job| {
        matches!(
            job.stage,
            JobStage::Downloading | JobStage::Verifying | JobStage::Converting | JobStage::Moving
        )
    };
    let (done, total) =
        jobs.iter().filter(runs).fold((0, 0), |(done, total), job| (done + job.done, total + job.total));
    (done * 100).checked_div(total)
}

/// What to tell of jobs that have come to an end, good or bad, since the list before.
fn endings(before: &[Job], now: &[Job]) -> Vec<(String, String)> {
    let stage_before = |id| before.iter().find(|job| job.id == id).map(|job| &job.stage);
    now.iter()
        .filter(|job| stage_before(job.id).is_some_and(|stage| *stage != job.stage))
        .filter_map(|job| match &job.stage {
            JobStage::Done { .. } if job.kind == JobKind::Benchmark => Some((
                format!("{} is measured", job.name),
                "The Benchmarks screen shows how fast it is.".to_owned(),
            )),
            JobStage::Done { .. } => {
                Some((format!("{} is ready", job.name), "It can be used now.".to_owned()))
            }
            JobStage::Failed { error } => Some((format!("{} has stopped", job.name), error.to_string())),
            _ => None,
        })
        .collect()
}

fn show_progress(handle: &AppHandle, percent: Option<u64>) {
    let Some(window) = handle.get_webview_window(MAIN_WINDOW) else { return };
    let status = if percent.is_some() { ProgressBarStatus::Normal } else { ProgressBarStatus::None };
    let shown = window.set_progress_bar(ProgressBarState { status: Some(status), progress: percent });
    // On macOS the dock shows it, and the title is hidden.
    #[cfg(not(target_os = "macos"))]
    let shown = shown.and_then(|()| {
        window.set_title(&match percent {
            Some(percent) => format!("Foretoken, {percent} %"),
            None => "Foretoken".to_owned(),
        })
    });
    if let Err(error) = shown {
        tracing::debug!("progress cannot be shown: {error}");
    }
}

/// Tells whoever looks elsewhere. In the window itself there is the page.
fn notify(handle: &AppHandle, title: &str, body: &str) {
    let is_focused =
        handle.get_webview_window(MAIN_WINDOW).is_some_and(|window| window.is_focused().unwrap_or(false));
    if is_focused {
        return;
    }
    if let Err(error) = handle.notification().builder().title(title).body(body).show() {
        tracing::info!("no notification: {error}");
    }
}

/// Shows a folder in the system's file manager.
pub(crate) async fn reveal(folder: PathBuf) -> Result<(), ErrorReport> {
    // It may wait for a file manager to start.
    let shown = tokio::task::spawn_blocking(move || tauri_plugin_opener::reveal_item_in_dir(folder)).await;
    match shown {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(ErrorReport {
            code: "not_revealed".into(),
            message: format!("The folder cannot be shown: {error}."),
            hint: "Open the file manager yourself; the folder is on the page.".into(),
        }),
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u32, stage: JobStage, done: u64, total: u64) -> Job {
        Job {
            id,
            name: format!("model {id}"),
            repo: None,
            kind: JobKind::Download,
            stage,
            done,
            total,
            bytes_per_second: None,
            seconds_left: None,
            files: Vec::new(),
        }
    }

    #[test]
    fn progress_is_that_of_the_work_that_goes_on() {
        let jobs = [
            job(1, JobStage::Downloading, 10, 100),
            job(2, JobStage::Converting, 40, 100),
            job(3, JobStage::Paused, 0, 1000),
        ];
        assert_eq!(percent(&jobs), Some(25));
        assert_eq!(percent(&jobs[2..]), None);
        assert_eq!(percent(&[job(1, JobStage::Downloading, 0, 0)]), None);
    }

    #[test]
    fn an_end_is_told_once_and_not_for_what_had_ended_before() {
        let done = || JobStage::Done { path: "/m".into() };
        let before = [job(1, JobStage::Tuning, 0, 0), job(2, done(), 0, 0)];
        let now = [job(1, done(), 0, 0), job(2, done(), 0, 0), job(3, done(), 0, 0)];
        assert_eq!(endings(&before, &now), [("model 1 is ready".into(), "It can be used now.".into())]);
        assert_eq!(endings(&now, &now), []);
        assert_eq!(endings(&[], &now), []);
    }
}
