//! The settings of the running app, and the changes that the page is told of.

use std::sync::Arc;

use foretoken_protocol::{AppEvent, ErrorReport, GenerationChange, Preferences};

use super::{Settings, SettingsFile};
use crate::events::AppEvents;

/// The settings, and the page that is told of them.
pub(crate) struct AppSettings {
    pub(crate) file: Arc<SettingsFile>,
    events: Arc<AppEvents>,
}

impl AppSettings {
    /// The settings in a file, told on `events`.
    pub(crate) fn new(file: Arc<SettingsFile>, events: Arc<AppEvents>) -> Self {
        Self { file, events }
    }

    /// The settings as they are now.
    pub(crate) fn current(&self) -> Settings {
        self.file.current()
    }

    /// Changes settings of the next reply, and tells the page.
    pub(crate) async fn set_generation(
        &self,
        change: impl Into<GenerationChange>,
    ) -> Result<(), ErrorReport> {
        let writing = self.file.update(|settings| settings.set_generation(change));
        self.publish_generation();
        Ok(writing.written().await?)
    }

    /// Keeps whether text that came from drafts is marked, and tells the windows but the one where that was chosen.
    pub(crate) async fn set_reveal_drafts(&self, window: &str, reveal: bool) -> Result<(), ErrorReport> {
        let writing = self.file.update(|settings| settings.reveal_drafts = reveal);
        self.events.publish_to_others(window, &AppEvent::RevealDrafts { reveal });
        Ok(writing.written().await?)
    }

    /// Takes over how the app looks and behaves, and tells the page.
    pub(crate) async fn set_preferences(&self, preferences: Preferences) -> Result<(), ErrorReport> {
        let writing = self.file.update(|settings| settings.preferences = preferences);
        self.file.tell(|settings| {
            self.events.publish(&AppEvent::Preferences { preferences: settings.preferences.clone() })
        });
        Ok(writing.written().await?)
    }

    /// Tells the page how the next reply is written.
    pub(crate) fn publish_generation(&self) {
        self.file.tell(|settings| {
            self.events.publish(&AppEvent::Settings { settings: settings.generation.clone() })
        });
    }
}
