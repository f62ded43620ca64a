//! What the person chose, in one JSON file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foretoken_protocol::{
    ApiAlias, DEFAULT_MAX_TOKENS, Drafting, GenerationChange, GenerationSettings, HubSettings, KvPrecision,
    LOCAL_API_PORT, LendingSettings, LocalApiSettings, MOST_API_ROWS, Preferences, Sampling, Thinking,
    ToolFolder,
};
use serde::{Deserialize, Serialize};

mod app_settings;
mod file;
mod reading;
#[cfg(test)]
mod tests;

pub(crate) use app_settings::AppSettings;
pub(crate) use file::SettingsFile;

/// The sizes of everything in the window, in percent.
pub(crate) const ZOOMS: &[u32] = &[80, 90, 100, 110, 125, 140, 160];

/// What the person has set for the app's own tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OwnToolSettings {
    /// Folders whose files models may have, each with a name of its own.
    pub(crate) folders: Vec<ToolFolder>,
    /// The address of a SearXNG, empty for none.
    pub(crate) search: String,
}

/// What the person chose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// How the next reply is written.
    pub(crate) generation: GenerationSettings,
    /// Folders with models that were opened, in that order.
    pub(crate) model_folders: Vec<String>,
    /// The folder of the chosen model; `None` is the built-in one.
    pub(crate) selected_model: Option<String>,
    /// The sampling that was chosen for a model, by its folder, in place of what the model recommends.
    pub(crate) sampling: BTreeMap<String, Sampling>,
    /// The sampling that was chosen for the built-in model, whose folder moves with the app.
    pub(crate) built_in_sampling: Option<Sampling>,
    /// The context that models are judged at, in tokens; `None` is the usual one.
    pub(crate) fit_context: Option<u32>,
    /// How models keep what their attention remembers of a chat.
    pub(crate) kv_precision: KvPrecision,
    /// Whether text that came from drafts is marked.
    pub(crate) reveal_drafts: bool,
    /// How the app looks and behaves.
    pub(crate) preferences: Preferences,
    /// Whether and where other programs may use the model.
    pub(crate) local_api: LocalApiSettings,
    /// On what terms other Macs may use this one.
    pub(crate) lending: LendingSettings,
    /// What models may reach beside writing.
    pub(crate) tools: OwnToolSettings,
    /// How the Hub is reached.
    pub(crate) hub: HubSettings,
    /// Whether the system's keychain holds a token for the Hub.
    pub(crate) has_hub_token: bool,
    /// Whether the person was told that the app goes on without its window while other programs may use the model.
    pub(crate) told_of_going_on: bool,
    /// When the app was first started of those that look for newer versions, milliseconds since 1970.
    pub(crate) updates_since: Option<u64>,
    /// When it was last looked for one, likewise.
    pub(crate) updates_checked: Option<u64>,
    /// The version that the person has put off.
    pub(crate) postponed_update: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            generation: GenerationSettings {
                sampling: Sampling::default(),
                drafting: Drafting::Auto,
                max_tokens: DEFAULT_MAX_TOKENS,
                thinking: Thinking::Normal,
                stop: Vec::new(),
            },
            model_folders: Vec::new(),
            selected_model: None,
            sampling: BTreeMap::new(),
            built_in_sampling: None,
            fit_context: None,
            kv_precision: KvPrecision::Full,
            reveal_drafts: false,
            preferences: Preferences::default(),
            local_api: LocalApiSettings::default(),
            lending: LendingSettings::default(),
            tools: OwnToolSettings::default(),
            hub: HubSettings::default(),
            has_hub_token: false,
            told_of_going_on: false,
            updates_since: None,
            updates_checked: None,
            postponed_update: None,
        }
    }
}

impl Settings {
    /// Changes settings of the next reply. Sampling that differs from before is the person's choice for the model.
    pub(crate) fn set_generation(&mut self, change: impl Into<GenerationChange>) {
        let generation = change.into().applied_to(self.generation.clone());
        if generation.sampling != self.generation.sampling {
            match &self.selected_model {
                Some(folder) => drop(self.sampling.insert(folder.clone(), generation.sampling)),
                None => self.built_in_sampling = Some(generation.sampling),
            }
        }
        self.generation = generation;
    }

    /// Chooses a model, with the sampling that the person chose for it or else the one that it recommends.
    pub(crate) fn select_model(&mut self, folder: Option<String>, recommended: Sampling) {
        self.generation.sampling = self.sampling_of(folder.as_ref(), recommended);
        if let Some(folder) = &folder {
            self.add_model(folder.clone());
        }
        self.selected_model = folder;
    }

    /// The sampling that the person chose for a model, or else the one that it recommends.
    pub(crate) fn sampling_of(&self, folder: Option<&String>, recommended: Sampling) -> Sampling {
        let chosen = match folder {
            Some(folder) => self.sampling.get(folder).copied(),
            None => self.built_in_sampling,
        };
        chosen.unwrap_or(recommended)
    }

    /// Lists the model in a folder.
    pub(crate) fn add_model(&mut self, folder: String) {
        if !self.model_folders.contains(&folder) {
            self.model_folders.push(folder);
        }
    }

    /// Takes the model in a folder off the list.
    pub(crate) fn forget_model(&mut self, folder: &str) {
        self.model_folders.retain(|other| other != folder);
    }

    /// Follows models whose folder `from` has become `to`.
    pub(crate) fn move_models(&mut self, from: &Path, to: &Path) {
        let moved = |folder: &String| {
            let rest = Path::new(folder).strip_prefix(from).ok()?;
            Some(to.join(rest).to_string_lossy().into_owned())
        };
        for folder in self.model_folders.iter_mut().chain(&mut self.selected_model) {
            if let Some(new) = moved(folder) {
                *folder = new;
            }
        }
        self.sampling = std::mem::take(&mut self.sampling)
            .into_iter()
            .map(|(folder, sampling)| (moved(&folder).unwrap_or(folder), sampling))
            .collect();
    }
}

/// Settings of the local API that can be had, of a file that somebody may have written.
pub(crate) fn local_api_in_bounds(settings: LocalApiSettings) -> LocalApiSettings {
    let LocalApiSettings { port, needs_token, network, rows, mut aliases, mut origins, .. } = settings;
    aliases.retain(is_alias);
    let mut names = BTreeSet::new();
    aliases.retain(|alias| names.insert(alias.name.to_lowercase()));
    origins.retain(|origin| is_origin(origin));
    LocalApiSettings {
        port: if port == 0 { LOCAL_API_PORT } else { port },
        needs_token: needs_token || network,
        rows: rows.clamp(1, MOST_API_ROWS),
        aliases,
        origins,
        ..settings
    }
}

/// Whether a text is an origin as browsers send it: a scheme and a host, and a port if need be; or a scheme that no web
/// page has, and `*` for all hosts.
pub(crate) fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let is_word = |word: &str, others: &[u8]| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
    };
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_word(scheme, b"+-.") && (is_word(host, b"-._:[]") || (host == "*" && !is_web))
}

/// Whether an alias has a name of its own: no name is not one, and neither are all.
pub(crate) fn is_alias(alias: &ApiAlias) -> bool {
    !alias.name.trim_end_matches('*').trim().is_empty()
}

/// Whether two aliases have one name.
pub(crate) fn is_same_alias(one: &ApiAlias, other: &ApiAlias) -> bool {
    one.name.to_lowercase() == other.name.to_lowercase()
}

/// Preferences whose numbers are ones that can be had.
pub(crate) fn in_bounds(preferences: Preferences) -> Preferences {
    let nearest = ZOOMS.iter().copied().min_by_key(|zoom| zoom.abs_diff(preferences.zoom));
    Preferences { zoom: nearest.unwrap_or(100), ..preferences }
}
