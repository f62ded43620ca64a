//! What the desktop does for the app: it shows progress in the dock or the title bar, tells of the end of long work,
//! and opens folders and links.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretoken_protocol::{ErrorReport, Job, JobKind, JobStage, LibrarySnapshot};
use tauri::window::{ProgressBarState, ProgressBarStatus};
use tauri::{AppHandle, Manager, Url};
use tokio::sync::{broadcast, watch};

use crate::app::App;
use crate::conversations::replies::EndedReply;
use crate::events::chat_window;
use crate::language::Texts;
use crate::notifications::{self, Notification};
use crate::window::MAIN_WINDOW;

/// A reply that takes this long is one that people turn away from.
const LONG: Duration = Duration::from_secs(10);
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
        for (title, body) in endings(crate::app::texts(&handle), &before, &jobs) {
            notify(&handle, Notification { title, body, chat: None });
        }
        before = jobs;
    }
}

/// Tells of the end of long replies, and of those that ask something, for as long as the app runs.
pub(crate) async fn follow_replies(handle: AppHandle, mut ended: broadcast::Receiver<EndedReply>) {
    loop {
        let reply = match ended.recv().await {
            Ok(reply) => reply,
            Err(broadcast::error::RecvError::Lagged(_)) => continue,
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if reply.took < LONG && !reply.asks {
            continue;
        }
        let app = Arc::clone(&handle.state::<Arc<App>>());
        let title = app
            .conversations
            .store
            .call_for(reply.chat, move |store| store.chat(reply.chat))
            .await
            .map(|chat| chat.title);
        let body = match reply {
            EndedReply { failed: true, .. } => "told-reply-stopped",
            EndedReply { asks: true, .. } => "told-reply-asks",
            _ => "told-reply-ended",
        };
        let body = crate::app::texts(&handle).say(body);
        let title = title.unwrap_or_else(|_| "Foretoken".into());
        notify(&handle, Notification { title, body, chat: Some(reply.chat) });
    }
}

/// How far the work that goes on is, all told; `None` if there is none.
fn percent(jobs: &[Job]) -> Option<u64> {
    let runs = |job: &&Job| {
        matches!(
            job.stage,
            JobStage::Downloading
                | JobStage::Verifying
                | JobStage::Probing
                | JobStage::Converting
                | JobStage::Comparing
                | JobStage::Moving
        )
    };
    let (done, total) =
        jobs.iter().filter(runs).fold((0, 0), |(done, total), job| (done + job.done, total + job.total));
    (done * 100).checked_div(total)
}

/// What to tell of jobs that have come to an end, good or bad, since the list before: titles and messages.
fn endings(texts: &Texts, before: &[Job], now: &[Job]) -> Vec<(String, String)> {
    let stage_before = |id| before.iter().find(|job| job.id == id).map(|job| &job.stage);
    now.iter()
        .filter(|job| stage_before(job.id).is_some_and(|stage| *stage != job.stage))
        .filter_map(|job| {
            let (text, path) = match (&job.stage, job.kind) {
                (JobStage::Done { .. }, JobKind::Benchmark) => ("told-benchmark", ""),
                (JobStage::Done { .. }, JobKind::Probe) => ("told-probe", ""),
                (JobStage::Done { .. }, JobKind::Comparison) => ("told-comparison", ""),
                (JobStage::Done { path }, JobKind::Move) => ("told-move", path.as_str()),
                (JobStage::Done { .. }, _) => ("told-ready", ""),
                (JobStage::Failed { error }, _) => {
                    let title = texts.say_of("told-failed", [("name", job.name.as_str().into())]);
                    return Some((title, error.to_string()));
                }
                _ => return None,
            };
            let say =
                |text: &str| texts.say_of(text, [("name", job.name.as_str().into()), ("path", path.into())]);
            Some((say(text), say(&format!("{text}.message"))))
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
            Some(percent) => {
                crate::app::texts(handle).say_of("window-progress", [("percent", percent.into())])
            }
            None => "Foretoken".to_owned(),
        })
    });
    if let Err(error) = shown {
        tracing::debug!("progress cannot be shown: {error}");
    }
}

/// Tells whoever looks elsewhere. In the main window, and in that of the chat, there is the page.
fn notify(handle: &AppHandle, notification: Notification) {
    let is_before_them = |label: &str| {
        handle.get_webview_window(label).is_some_and(|window| window.is_focused().unwrap_or(false))
    };
    let of_chat = notification.chat.map(chat_window);
    let is_focused = is_before_them(MAIN_WINDOW) || of_chat.as_deref().is_some_and(is_before_them);
    let wanted = handle.state::<Arc<App>>().settings.current().preferences.notifications;
    if is_focused || !wanted {
        return;
    }
    let handle = handle.clone();
    // The first one may wait until the person allows it.
    tauri::async_runtime::spawn(async move { notifications::show(&handle, notification).await });
}

/// Tells once and for all that the app goes on without its window because other programs may use the model. Whoever
/// wants no notifications is not told.
pub(crate) async fn tell_of_going_on(handle: AppHandle) {
    let app = Arc::clone(&handle.state::<Arc<App>>());
    let settings = app.settings.current();
    if settings.told_of_going_on || !settings.preferences.notifications {
        return;
    }
    let texts = Texts::preferred(&settings.preferences);
    let (title, body) = (texts.say("told-going-on"), texts.say("told-going-on.message"));
    if notifications::show(&handle, Notification { title, body, chat: None }).await {
        app.settings.file.update(|all| all.told_of_going_on = true);
    }
}

/// Opens an address in the program that the person uses for it.
pub(crate) async fn open_link(address: &str) -> Result<(), ErrorReport> {
    let url = link(address)?;
    // It may wait for a browser to start.
    let opened =
        tokio::task::spawn_blocking(move || tauri_plugin_opener::open_url(url.as_str(), None::<&str>)).await;
    match opened {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(ErrorReport {
            code: "link_not_opened".into(),
            message: format!("The link cannot be opened: {error}."),
            hint: "Copy its address and open it in a browser.".into(),
        }),
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

/// The address of a page, or of one mailbox and a subject.
fn link(address: &str) -> Result<Url, ErrorReport> {
    let url = Url::parse(address).ok().filter(|url| is_page(url) || is_plain_mail(url));
    url.ok_or_else(|| ErrorReport {
        code: "link_refused".into(),
        message: "The link does not lead to a page, or to a mail to one mailbox.".into(),
        hint: "If you trust it, copy its address.".into(),
    })
}

/// The address of a page, without a name to sign in with: that could pass for the host.
fn is_page(url: &Url) -> bool {
    ["https", "http"].contains(&url.scheme()) && url.username().is_empty() && url.password().is_none()
}

/// The address of a mail that the person fills in: it attaches nothing, says nothing and reaches nobody else.
fn is_plain_mail(url: &Url) -> bool {
    // An encoded line break or comma would begin another field or mailbox.
    let plain = |text: &str| !["%0", "%1", "%2c", "%7f", ",", " "].iter().any(|part| text.contains(part));
    url.scheme() == "mailto"
        && url.path().contains('@')
        && plain(&url.path().to_ascii_lowercase())
        && url.query_pairs().all(|(name, value)| name == "subject" && !value.contains(char::is_control))
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

/// The same at the end of the app, when nobody waits for an answer.
pub(crate) fn reveal_last(path: &Path) {
    if let Err(error) = tauri_plugin_opener::reveal_item_in_dir(path) {
        tracing::error!("{} cannot be shown: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::Language;

    use super::*;

    fn job(id: u32, stage: JobStage, done: u64, total: u64) -> Job {
        Job {
            id,
            name: format!("model {id}"),
            repo: None,
            model: None,
            kind: JobKind::Download,
            followed_by: Vec::new(),
            stage,
            done,
            total,
            bytes_per_second: None,
            seconds_left: None,
            files: Vec::new(),
            note: None,
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
    fn links_lead_to_pages_and_mail_only() {
        for address in [
            "https://example.org/a?b#c",
            "http://example.org",
            "mailto:a@example.org",
            "mailto:a+b@example.org?subject=An%20owl",
        ] {
            assert_eq!(link(address).unwrap().as_str().trim_end_matches('/'), address);
        }
        for address in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "/etc/passwd",
            "smb://host/x",
            "vscode://x",
            "-h",
            "",
            "https://apple.com@example.org/",
            "https://:secret@example.org/",
            "mailto:",
            "mailto:a@example.org?body=x",
            "mailto:a@example.org?subject=x&attach=/etc/passwd",
            "mailto:a@example.org?subject=x%0D%0ABcc:b@example.org",
            "mailto:a@example.org,b@example.org",
            "mailto:a@example.org%2Cb@example.org",
            "mailto:a@example.org%0Acc:b@example.org",
        ] {
            assert_eq!(link(address).unwrap_err().code, "link_refused", "{address}");
        }
    }

    #[test]
    fn an_end_is_told_once_and_not_for_what_had_ended_before() {
        let done = || JobStage::Done { path: "/m".into() };
        let before = [job(1, JobStage::Tuning, 0, 0), job(2, done(), 0, 0)];
        let now = [job(1, done(), 0, 0), job(2, done(), 0, 0), job(3, done(), 0, 0)];
        let endings = |before: &[Job], now: &[Job]| endings(Texts::of(Language::En), before, now);
        assert_eq!(endings(&before, &now), [("model 1 is ready".into(), "It can be used now.".into())]);
        assert_eq!(endings(&now, &now), []);
        assert_eq!(endings(&[], &now), []);

        let a_move = |stage| Job { kind: JobKind::Move, ..job(4, stage, 0, 0) };
        let told = endings(&[a_move(JobStage::Moving)], &[a_move(done())]);
        assert_eq!(told, [("The model library has moved".into(), "It is in /m now.".into())]);
    }
}
