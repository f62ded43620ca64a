//! Newer versions of the app: looked for as often as the person wishes, and installed when they say so, once no reply
//! is being written and nothing is being downloaded. Whatever goes wrong, the version that runs stays.

mod error;
mod source;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foretoken_protocol::{
    AppEvent, ErrorReport, JobStage, LibrarySnapshot, Release, UpdateCheck, UpdateState,
};
use tauri::AppHandle;
use tauri::async_runtime::{JoinHandle, spawn};
use tauri_plugin_updater::{Update, UpdaterBuilder, UpdaterExt};
use tokio::sync::Notify;

use self::error::{Error, LARGEST};
use self::source::{Barrier, Source};
use crate::blocking::blocking;
use crate::clock::now;
use crate::conversations::replies::{EngineLease, Replies};
use crate::events::AppEvents;
use crate::models::library::ModelLibrary;
use crate::settings::AppSettings;

/// How long a server may take to take up a connection, and how long it may send nothing.
const SILENCE: Duration = Duration::from_secs(20);
/// How long the answer about the newest version may take in all.
const ANSWER: Duration = Duration::from_secs(30);
/// How often an app that runs for long asks itself whether it is time to look.
const PULSE: Duration = Duration::from_hours(6);
/// How old the last look may be where one looks weekly.
const WEEK: Duration = Duration::from_hours(7 * 24);

/// Looks for newer versions and installs them.
pub(crate) struct Updates {
    source: Option<Source>,
    state: Mutex<UpdateState>,
    /// What brings it here.
    work: Mutex<Option<JoinHandle<()>>>,
    settings: Arc<AppSettings>,
    replies: Arc<Replies>,
    library: Arc<ModelLibrary>,
    events: Arc<AppEvents>,
}

impl Updates {
    /// What this build and this copy of the app allow.
    pub(crate) fn new(
        settings: Arc<AppSettings>,
        replies: Arc<Replies>,
        library: Arc<ModelLibrary>,
        events: Arc<AppEvents>,
    ) -> Self {
        let source = Source::of_this_build();
        let state = match (&source, Barrier::of_this_copy()) {
            (None, _) => UpdateState::Off,
            (Some(_), Some(barrier)) => UpdateState::Barred { error: barrier.into() },
            (Some(_), None) => UpdateState::Idle { checked: settings.current().updates_checked },
        };
        Self { source, state: Mutex::new(state), work: Mutex::default(), settings, replies, library, events }
    }

    /// What is known now.
    pub(crate) fn state(&self) -> UpdateState {
        lock(&self.state).clone()
    }

    /// Looks for a newer version as often as the person wishes, for as long as the app runs. That there is none, or no
    /// connection, is worth no word.
    pub(crate) async fn look_regularly(&self, handle: AppHandle) {
        let mut first = true;
        loop {
            let settings = self.settings.current();
            let wish = settings.preferences.check_for_updates;
            if is_due(wish, settings.updates_checked, now(), first) && self.may_look() {
                let before = self.state();
                self.set(UpdateState::Checking);
                if let Err(error) = self.look(&handle).await {
                    tracing::info!("no look for a newer version: {}", error.message);
                    self.set(before);
                }
            }
            first = false;
            tokio::time::sleep(PULSE).await;
        }
    }

    /// Looks for a newer version because the person wants to know.
    pub(crate) async fn check(&self, handle: &AppHandle) {
        if !self.may_look() {
            return;
        }
        self.set(UpdateState::Checking);
        if let Err(error) = self.look(handle).await {
            self.set(UpdateState::Failed { release: None, error });
        }
    }

    /// Downloads and installs the version that was found, and starts the app again.
    pub(crate) fn install(self: &Arc<Self>, handle: &AppHandle) {
        let (UpdateState::Available { release, .. } | UpdateState::Failed { release: Some(release), .. }) =
            self.state()
        else {
            return;
        };
        self.set(UpdateState::Downloading { release: release.clone(), done: 0, total: release.bytes });
        let (updates, handle) = (Arc::clone(self), handle.clone());
        let work = spawn(async move {
            if let Err(error) = updates.bring(&handle, &release).await {
                tracing::warn!("{} was not installed: {error}", release.version);
                updates.set(UpdateState::Failed { release: Some(release), error: error.into() });
            }
        });
        *lock(&self.work) = Some(work);
    }

    /// Gives up what is being brought here. What takes its place already goes on.
    pub(crate) fn cancel(&self) {
        let mut state = lock(&self.state);
        let (UpdateState::Downloading { release, .. } | UpdateState::Waiting { release }) = &*state else {
            return;
        };
        if let Some(work) = lock(&self.work).take() {
            work.abort();
        }
        let given_up = UpdateState::Available { release: release.clone(), postponed: false };
        *state = given_up.clone();
        drop(state);
        self.events.publish(&AppEvent::Updates { updates: given_up });
    }

    /// Says no more of the version that was found; it can still be installed.
    pub(crate) fn postpone(&self) {
        let (UpdateState::Available { release, .. } | UpdateState::Failed { release: Some(release), .. }) =
            self.state()
        else {
            return;
        };
        let version = release.version.clone();
        self.settings.file.update(|all| all.postponed_update = Some(version));
        self.set(UpdateState::Available { release, postponed: true });
    }

    /// Whether nothing is under way that a look would disturb.
    fn may_look(&self) -> bool {
        matches!(
            self.state(),
            UpdateState::Idle { .. } | UpdateState::Available { .. } | UpdateState::Failed { .. }
        )
    }

    async fn look(&self, handle: &AppHandle) -> Result<(), ErrorReport> {
        let Some(source) = &self.source else { return Ok(()) };
        let found = find(handle, source).await?;
        self.found(found.as_ref());
        Ok(())
    }

    /// Tells of the version that was found, or that there is none.
    fn found(&self, found: Option<&Update>) {
        let checked = now();
        self.settings.file.update(|all| all.updates_checked = Some(checked));
        let postponed = self.settings.current().postponed_update;
        self.set(match found {
            Some(update) => UpdateState::Available {
                release: release(update),
                postponed: postponed.as_ref() == Some(&update.version),
            },
            None => UpdateState::Idle { checked: Some(checked) },
        });
    }

    /// Brings the version here that the person has agreed to. Where another is the newest by now, they are asked again.
    async fn bring(&self, handle: &AppHandle, agreed: &Release) -> Result<(), Error> {
        let Some(source) = &self.source else { return Ok(()) };
        let update = match find(handle, source).await? {
            Some(update) if update.version == agreed.version => update,
            other => {
                self.found(other.as_ref());
                return Ok(());
            }
        };
        let bytes = self.download(&update, agreed).await?;
        self.set(UpdateState::Waiting { release: agreed.clone() });
        let lease = self.nothing_to_disturb().await;
        self.set(UpdateState::Installing { release: agreed.clone() });
        blocking(move || update.install(bytes)).await.map_err(Error::Install)?;
        drop(lease);
        // The new version is in place, and takes over after replies that have begun meanwhile.
        self.replies.all_ended().await;
        self.events.settle().await;
        handle.request_restart();
        Ok(())
    }

    /// The archive, whose signature fits.
    async fn download(&self, update: &Update, release: &Release) -> Result<Vec<u8>, Error> {
        let (too_large, mut done, mut told) = (Notify::new(), 0, 0);
        let on_chunk = |more: usize, total: Option<u64>| {
            done += more;
            if done > LARGEST {
                too_large.notify_one();
            }
            // A thousandth is more than anybody sees.
            if done - told > total.map_or(1 << 20, |total| total as usize / 1000) {
                told = done;
                let (release, total) = (release.clone(), total.or(release.bytes));
                self.set(UpdateState::Downloading { release, done: done as u64, total });
            }
        };
        tokio::select! {
            bytes = update.download(on_chunk, || ()) => bytes.map_err(Error::Download),
            () = too_large.notified() => Err(Error::TooLarge),
        }
    }

    /// Waits until no reply is being written, no other program is answered, and the library works on nothing; replies
    /// that begin then wait.
    async fn nothing_to_disturb(&self) -> EngineLease {
        let mut library = self.library.watch();
        loop {
            self.replies.all_ended().await;
            // It fails only when the app ends.
            let _ = library.wait_for(|library| !is_at_work(library.as_ref())).await;
            if let Some(lease) = self.replies.lease_engine() {
                return lease;
            }
            tokio::task::yield_now().await;
        }
    }

    fn set(&self, state: UpdateState) {
        *lock(&self.state) = state.clone();
        self.events.publish(&AppEvent::Updates { updates: state });
    }
}

/// The newest version, if it is newer than this one.
async fn find(handle: &AppHandle, source: &Source) -> Result<Option<Update>, Error> {
    let builder = handle.updater_builder().pubkey(source.key.clone()).timeout(ANSWER);
    let builder = builder.configure_client(|client| client.connect_timeout(SILENCE).read_timeout(SILENCE));
    let updater = builder.endpoints(vec![source.endpoint.clone()]).and_then(UpdaterBuilder::build);
    updater.map_err(Error::Look)?.check().await.map_err(Error::Look)
}

/// What there is to say of a version.
fn release(update: &Update) -> Release {
    let platforms = update.raw_json["platforms"].as_object();
    let url = update.download_url.as_str();
    let own = platforms.and_then(|all| all.values().find(|one| one["url"] == url));
    Release {
        version: update.version.clone(),
        notes: update.body.clone().unwrap_or_default(),
        bytes: own.and_then(|one| one["size"].as_u64()),
    }
}

/// Whether it is time to look; `first` at the start of the app. Times are milliseconds since 1970.
fn is_due(wish: UpdateCheck, checked: Option<u64>, now: u64, first: bool) -> bool {
    match wish {
        UpdateCheck::Never => false,
        UpdateCheck::EachStart => first,
        // A clock that was wrong must not keep it from looking for ever.
        UpdateCheck::Weekly => {
            checked.is_none_or(|checked| Duration::from_millis(now.abs_diff(checked)) >= WEEK)
        }
    }
}

/// Whether the library is in the middle of something.
fn is_at_work(library: Option<&LibrarySnapshot>) -> bool {
    let runs = |stage: &JobStage| {
        matches!(
            stage,
            JobStage::Downloading
                | JobStage::Verifying
                | JobStage::Converting
                | JobStage::Tuning
                | JobStage::Moving
        )
    };
    library.is_some_and(|library| library.jobs.iter().any(|job| runs(&job.stage)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_as_often_as_the_person_wishes() {
        let day = 24 * 3600 * 1000;
        let now = 100 * day;
        for (wish, checked, first, due) in [
            (UpdateCheck::Never, None, true, false),
            (UpdateCheck::EachStart, Some(now), true, true),
            (UpdateCheck::EachStart, None, false, false),
            (UpdateCheck::Weekly, None, false, true),
            (UpdateCheck::Weekly, Some(now - 6 * day), true, false),
            (UpdateCheck::Weekly, Some(now - 7 * day), false, true),
            // Looked at by a clock that was ahead.
            (UpdateCheck::Weekly, Some(now + day), true, false),
            (UpdateCheck::Weekly, Some(now + 30 * day), true, true),
        ] {
            assert_eq!(is_due(wish, checked, now, first), due, "{wish:?} {checked:?} {first}");
        }
    }
}
