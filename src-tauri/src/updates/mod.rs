//! Newer versions of the app: looked for as often as the person wishes, and installed when they say so, once no reply
//! is being written and nothing is being downloaded. Whatever goes wrong, the version that runs stays.

mod error;
mod source;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foretoken_protocol::{
    AppEvent, ErrorReport, JobStage, LibrarySnapshot, Release, UpdateCheck, UpdateState,
};
use tauri::async_runtime::{JoinHandle, spawn};
use tauri::{AppHandle, Url};
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
/// What a server is told of who asks.
const USER_AGENT: &str = "Foretoken";
/// How long the answer about the newest version may take in all.
const ANSWER: Duration = Duration::from_secs(30);
/// How often an app that runs for long asks itself whether it is time to look.
const PULSE: Duration = Duration::from_hours(6);
/// How old the last look may be where one looks weekly.
const WEEK: Duration = Duration::from_hours(7 * 24);

/// Looks for newer versions and installs them.
pub(crate) struct Updates {
    source: Option<Source>,
    state: Mutex<State>,
    settings: Arc<AppSettings>,
    replies: Arc<Replies>,
    library: Arc<ModelLibrary>,
    events: Arc<AppEvents>,
}

struct State {
    known: UpdateState,
    /// Which attempt to bring a version here is the current one. One that was given up changes nothing any more.
    attempt: u64,
    /// What carries it out.
    work: Option<JoinHandle<()>>,
}

/// An attempt was given up.
struct GivenUp;

/// Why an attempt has ended without a new version.
enum End {
    GivenUp,
    Failed(Error),
}

impl From<GivenUp> for End {
    fn from(GivenUp: GivenUp) -> Self {
        Self::GivenUp
    }
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
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
        let known = match (&source, Barrier::of_this_copy()) {
            (None, _) => UpdateState::Off,
            (Some(_), Some(barrier)) => UpdateState::Barred { error: barrier.into() },
            (Some(_), None) => UpdateState::Idle { checked: settings.current().updates_checked },
        };
        let state = Mutex::new(State { known, attempt: 0, work: None });
        Self { source, state, settings, replies, library, events }
    }

    /// What is known now.
    pub(crate) fn state(&self) -> UpdateState {
        self.lock().known.clone()
    }

    /// Looks for a newer version as often as the person wishes, for as long as the app runs. That there is none, or no
    /// connection, is worth no word.
    pub(crate) async fn look_regularly(&self, handle: AppHandle) {
        if self.settings.current().updates_since.is_none() {
            self.settings.file.update(|all| all.updates_since = Some(now()));
        }
        let mut first = true;
        loop {
            let settings = self.settings.current();
            let wish = settings.preferences.check_for_updates;
            let last = settings.updates_checked.max(settings.updates_since);
            if is_due(wish, last, now(), first)
                && let Some(before) = self.begin_look()
                && let Err(error) = self.look(&handle).await
            {
                tracing::info!("no look for a newer version: {}", error.message);
                self.end_look(before);
            }
            first = false;
            tokio::time::sleep(PULSE).await;
        }
    }

    /// Looks for a newer version because the person wants to know.
    pub(crate) async fn check(&self, handle: &AppHandle) {
        if self.begin_look().is_some()
            && let Err(error) = self.look(handle).await
        {
            self.end_look(UpdateState::Failed { release: None, error });
        }
    }

    /// Downloads and installs the version that was found; `restart` then starts the app again.
    pub(crate) fn install(self: &Arc<Self>, handle: &AppHandle, restart: fn(&AppHandle)) {
        let mut state = self.lock();
        let (UpdateState::Available { release, .. } | UpdateState::Failed { release: Some(release), .. }) =
            &state.known
        else {
            return;
        };
        let release = release.clone();
        state.attempt += 1;
        let attempt = state.attempt;
        let begun = UpdateState::Downloading { release: release.clone(), done: 0, total: release.bytes };
        self.publish(&mut state, begun);
        let (updates, handle) = (Arc::clone(self), handle.clone());
        state.work = Some(spawn(async move {
            match updates.bring(&handle, attempt, &release).await {
                Ok(()) => updates.start_again(&handle, restart).await,
                Err(End::GivenUp) => {}
                Err(End::Failed(error)) => {
                    tracing::warn!("{} was not installed: {error}", release.version);
                    let failed = UpdateState::Failed { release: Some(release), error: error.into() };
                    let _ = updates.step(attempt, failed);
                }
            }
        }));
    }

    /// Gives up what is being brought here. What takes its place already goes on.
    pub(crate) fn cancel(&self) {
        let mut state = self.lock();
        let (UpdateState::Downloading { release, .. } | UpdateState::Waiting { release }) = &state.known
        else {
            return;
        };
        let given_up = UpdateState::Available { release: release.clone(), postponed: false };
        state.attempt += 1;
        if let Some(work) = state.work.take() {
            work.abort();
        }
        self.publish(&mut state, given_up);
    }

    /// Says no more of the version that was found; it can still be installed.
    pub(crate) fn postpone(&self) {
        let mut state = self.lock();
        let (UpdateState::Available { release, .. } | UpdateState::Failed { release: Some(release), .. }) =
            &state.known
        else {
            return;
        };
        let release = release.clone();
        let version = release.version.clone();
        self.publish(&mut state, UpdateState::Available { release, postponed: true });
        self.settings.file.update(|all| all.postponed_update = Some(version));
    }

    /// Begins a look, unless something is under way that it would disturb. Returns what was known before.
    fn begin_look(&self) -> Option<UpdateState> {
        let mut state = self.lock();
        let may_look = matches!(
            state.known,
            UpdateState::Idle { .. } | UpdateState::Available { .. } | UpdateState::Failed { .. }
        );
        may_look.then(|| {
            let before = state.known.clone();
            self.publish(&mut state, UpdateState::Checking);
            before
        })
    }

    /// Ends a look with what is known now.
    fn end_look(&self, known: UpdateState) {
        let mut state = self.lock();
        if state.known == UpdateState::Checking {
            self.publish(&mut state, known);
        }
    }

    async fn look(&self, handle: &AppHandle) -> Result<(), ErrorReport> {
        let Some(source) = &self.source else { return Ok(()) };
        let found = self.find(handle, source).await?;
        self.end_look(self.found(found.as_ref()));
        Ok(())
    }

    /// The newest version, if it is newer than this one.
    async fn find(&self, handle: &AppHandle, source: &Source) -> Result<Option<Update>, Error> {
        let mut builder = handle.updater_builder().pubkey(source.key.clone()).timeout(ANSWER);
        // What leads to the Hub leads here too. It was checked when it was set.
        if let Ok(proxy) = Url::parse(&self.settings.current().hub.proxy) {
            builder = builder.proxy(proxy);
        }
        let builder = builder.configure_client(|client| {
            client.user_agent(USER_AGENT).connect_timeout(SILENCE).read_timeout(SILENCE)
        });
        let updater = builder.endpoints(vec![source.endpoint.clone()]).and_then(UpdaterBuilder::build);
        updater.map_err(Error::Look)?.check().await.map_err(Error::Look)
    }

    /// What is known of the version that was found, or that there is none.
    fn found(&self, found: Option<&Update>) -> UpdateState {
        let checked = now();
        self.settings.file.update(|all| all.updates_checked = Some(checked));
        let postponed = self.settings.current().postponed_update;
        match found {
            Some(update) => UpdateState::Available {
                release: release(update),
                postponed: postponed.as_ref() == Some(&update.version),
            },
            None => UpdateState::Idle { checked: Some(checked) },
        }
    }

    /// Puts the version in place that the person has agreed to. Where another is the newest by now, they are asked
    /// again.
    async fn bring(&self, handle: &AppHandle, attempt: u64, agreed: &Release) -> Result<(), End> {
        let Some(source) = &self.source else { return Err(End::GivenUp) };
        let update = match self.find(handle, source).await? {
            Some(update) if update.version == agreed.version => update,
            other => {
                self.step(attempt, self.found(other.as_ref()))?;
                return Err(End::GivenUp);
            }
        };
        let bytes = self.download(&update, attempt, agreed).await?;
        self.step(attempt, UpdateState::Waiting { release: agreed.clone() })?;
        let lease = self.nothing_to_disturb().await;
        self.step(attempt, UpdateState::Installing { release: agreed.clone() })?;
        blocking(move || update.install(bytes)).await.map_err(Error::Install)?;
        drop(lease);
        Ok(())
    }

    /// The archive, whose signature fits.
    async fn download(&self, update: &Update, attempt: u64, release: &Release) -> Result<Vec<u8>, Error> {
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
                // Whoever has given it up ends it soon.
                let _ = self.step(attempt, UpdateState::Downloading { release, done: done as u64, total });
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

    /// The new version is in place, and takes over once no reply is being written that has begun meanwhile.
    async fn start_again(&self, handle: &AppHandle, restart: fn(&AppHandle)) {
        loop {
            self.replies.all_ended().await;
            self.events.settle().await;
            if !self.replies.are_written() && !self.replies.has_requests() {
                return restart(handle);
            }
        }
    }

    /// Goes on with an attempt, unless it was given up.
    fn step(&self, attempt: u64, known: UpdateState) -> Result<(), GivenUp> {
        let mut state = self.lock();
        if state.attempt != attempt {
            return Err(GivenUp);
        }
        self.publish(&mut state, known);
        Ok(())
    }

    /// Tells what is known from now on, in the order in which it becomes so.
    fn publish(&self, state: &mut State, known: UpdateState) {
        state.known = known.clone();
        self.events.publish(&AppEvent::Updates { updates: known });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

/// Whether it is time to look; `first` at the start of the app. Nobody has looked, or could choose how often, before
/// `last`. Times are milliseconds since 1970.
fn is_due(wish: UpdateCheck, last: Option<u64>, now: u64, first: bool) -> bool {
    match wish {
        UpdateCheck::Never => false,
        UpdateCheck::EachStart => first,
        // A clock that was wrong must not keep it from looking for ever.
        UpdateCheck::Weekly => last.is_some_and(|last| Duration::from_millis(now.abs_diff(last)) >= WEEK),
    }
}

/// Whether the library is in the middle of something.
fn is_at_work(library: Option<&LibrarySnapshot>) -> bool {
    let runs = |stage: &JobStage| {
        matches!(
            stage,
            JobStage::Downloading
                | JobStage::Verifying
                | JobStage::Probing
                | JobStage::Converting
                | JobStage::Comparing
                | JobStage::Tuning
                | JobStage::Moving
        )
    };
    library.is_some_and(|library| library.jobs.iter().any(|job| runs(&job.stage)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_as_often_as_the_person_wishes() {
        let day = 24 * 3600 * 1000;
        let now = 100 * day;
        for (wish, last, first, due) in [
            (UpdateCheck::Never, None, true, false),
            (UpdateCheck::EachStart, Some(now), true, true),
            (UpdateCheck::EachStart, None, false, false),
            (UpdateCheck::Weekly, None, true, false),
            (UpdateCheck::Weekly, Some(now - 6 * day), true, false),
            (UpdateCheck::Weekly, Some(now - 7 * day), false, true),
            // Looked at by a clock that was ahead.
            (UpdateCheck::Weekly, Some(now + day), true, false),
            (UpdateCheck::Weekly, Some(now + 30 * day), true, true),
        ] {
            assert_eq!(is_due(wish, last, now, first), due, "{wish:?} {last:?} {first}");
        }
    }
}
