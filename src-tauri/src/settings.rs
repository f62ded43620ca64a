//! What the person chose, in one JSON file. Every change is written at once, and whole or not at all.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_protocol::{Drafting, ErrorReport, GenerationSettings, KvPrecision, Preferences, Sampling};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use thiserror::Error;

/// The longest reply, thinking included, until the person chooses another: what Qwen recommends for most questions. The
/// model's context may end one earlier.
const MAX_TOKENS: u32 = 32_768;

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
    /// The same for the built-in model, whose folder moves with the app.
    pub(crate) built_in_sampling: Option<Sampling>,
    /// The context that models are judged at, in tokens; `None` is the usual one.
    pub(crate) fit_context: Option<u32>,
    /// How models keep what their attention remembers of a chat.
    pub(crate) kv_precision: KvPrecision,
    /// Whether text that came from drafts is marked.
    pub(crate) reveal_drafts: bool,
    /// How the app looks and behaves.
    pub(crate) preferences: Preferences,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            generation: GenerationSettings {
                sampling: Sampling::default(),
                drafting: Drafting::Auto,
                max_tokens: MAX_TOKENS,
                thinking: true,
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
        }
    }
}

impl Settings {
    /// Takes over settings for the next reply. Sampling that differs from before is the person's choice for the model.
    pub(crate) fn set_generation(&mut self, generation: GenerationSettings) {
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

/// Why settings could not be written.
#[derive(Debug, Error)]
#[error("The settings in {} cannot be written: {source}.", path.display())]
pub(crate) struct SettingsError {
    path: PathBuf,
    source: std::io::Error,
}

impl From<SettingsError> for ErrorReport {
    fn from(error: SettingsError) -> Self {
        Self {
            code: "settings_not_written".into(),
            message: error.to_string(),
            hint: "Check that the folder can be written to and that the disk is not full; until then the settings hold as long as the app runs.".into(),
        }
    }
}

/// The settings and the file that keeps them.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    settings: Mutex<Settings>,
}

impl SettingsFile {
    /// Reads the file. One that cannot be read is kept as `….broken`, and the defaults hold.
    pub(crate) fn open(path: PathBuf) -> Self {
        let settings = match read(&path) {
            Ok(settings) => settings,
            Err(error) => {
                let aside = path.with_added_extension("broken");
                tracing::error!(
                    "{} cannot be read and is kept as {}: {error}",
                    path.display(),
                    aside.display()
                );
                if let Err(error) = std::fs::rename(&path, &aside) {
                    tracing::error!("{} cannot be renamed: {error}", path.display());
                }
                Settings::default()
            }
        };
        Self { path, settings: Mutex::new(settings) }
    }

    /// The settings as they are now.
    pub(crate) fn current(&self) -> Settings {
        self.lock().clone()
    }

    /// Changes the settings and writes them. They hold even where they cannot be written. Blocks on the disk.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Settings)) -> Result<(), SettingsError> {
        // The lock is held while writing, so that the file ends as the last change left it.
        let mut settings = self.lock();
        let before = settings.clone();
        change(&mut settings);
        if *settings == before {
            return Ok(());
        }
        write(&self.path, &settings).map_err(|source| SettingsError { path: self.path.clone(), source })
    }

    fn lock(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the file says; the defaults if there is none.
fn read(path: &Path) -> std::io::Result<Settings> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Settings::default()),
        Err(error) => Err(error),
    }
}

fn write(path: &Path, settings: &Settings) -> std::io::Result<()> {
    let folder = path.parent().ok_or_else(|| std::io::Error::other("the file has no folder"))?;
    std::fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec_pretty(settings)?)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::AcceptanceRule;

    use super::*;

    const WARM: Sampling = Sampling {
        temperature: 0.7,
        top_p: 0.9,
        top_k: 20,
        min_p: 0.0,
        xtc_probability: 0.0,
        xtc_threshold: 0.1,
        repetition_penalty: 1.0,
        presence_penalty: 0.0,
        frequency_penalty: 0.0,
        acceptance: AcceptanceRule::Coupled,
        seed: None,
    };

    fn greedy() -> Sampling {
        Sampling::default()
    }

    #[test]
    fn what_was_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/settings.json");
        let file = SettingsFile::open(path.clone());
        assert_eq!(file.current(), Settings::default());
        file.update(|settings| settings.select_model(Some("/models/a".into()), WARM)).unwrap();
        file.update(|settings| settings.generation.max_tokens = 7).unwrap();
        file.update(|settings| settings.kv_precision = KvPrecision::Eight).unwrap();

        let again = SettingsFile::open(path).current();
        assert_eq!(again, file.current());
        assert_eq!(again.generation.max_tokens, 7);
        assert_eq!(again.generation.sampling, WARM);
        assert_eq!(
            (again.model_folders, again.kv_precision),
            (vec!["/models/a".to_owned()], KvPrecision::Eight)
        );
    }

    #[test]
    fn an_unreadable_file_is_kept_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, "{\"generation\": 3").unwrap();
        let file = SettingsFile::open(path.clone());
        assert_eq!(file.current(), Settings::default());
        assert!(!path.exists());
        assert_eq!(
            std::fs::read_to_string(folder.path().join("settings.json.broken")).unwrap(),
            "{\"generation\": 3"
        );
    }

    #[test]
    fn a_file_that_lacks_an_entry_takes_its_default() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, "{\"model_folders\": [\"/models/a\"]}").unwrap();
        let settings = SettingsFile::open(path).current();
        assert_eq!(settings, Settings { model_folders: vec!["/models/a".into()], ..Settings::default() });
    }

    #[test]
    fn a_limit_that_an_older_version_has_kept_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let mut kept = serde_json::to_value(Settings::default()).unwrap();
        kept["generation"]["max_tokens"] = 1024.into();
        std::fs::write(&path, kept.to_string()).unwrap();
        assert_eq!(SettingsFile::open(path).current().generation.max_tokens, 1024);
    }

    #[test]
    fn settings_that_cannot_be_written_hold_and_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let file = SettingsFile::open(folder.path().join("file/settings.json"));
        let error = file.update(|settings| settings.generation.max_tokens = 7).unwrap_err();
        assert!(error.to_string().contains("settings.json"), "{error}");
        assert_eq!(file.current().generation.max_tokens, 7);
    }

    #[test]
    fn models_are_followed_when_the_library_moves() {
        let mut settings = Settings::default();
        settings.select_model(Some("/elsewhere/b".into()), greedy());
        settings.select_model(Some("/library/a".into()), greedy());
        settings.set_generation(GenerationSettings { sampling: WARM, ..settings.generation.clone() });
        settings.move_models(Path::new("/library"), Path::new("/disk/models"));
        assert_eq!(settings.model_folders, ["/elsewhere/b", "/disk/models/a"]);
        assert_eq!(settings.selected_model.as_deref(), Some("/disk/models/a"));
        assert_eq!(settings.sampling.keys().collect::<Vec<_>>(), ["/disk/models/a"]);
    }

    #[test]
    fn a_model_brings_its_sampling_until_the_person_chooses_one_for_it() {
        let mut settings = Settings::default();
        settings.select_model(None, WARM);
        assert_eq!(settings.generation.sampling, WARM);

        settings.set_generation(GenerationSettings { max_tokens: 9, ..settings.generation.clone() });
        settings.select_model(Some("/models/a".into()), greedy());
        assert_eq!(settings.generation.sampling, greedy());
        let chosen = Sampling { temperature: 1.5, ..greedy() };
        settings.set_generation(GenerationSettings { sampling: chosen, ..settings.generation.clone() });

        settings.select_model(None, WARM);
        assert_eq!(
            settings.generation.sampling, WARM,
            "only the token budget was changed while it was chosen"
        );
        settings.select_model(Some("/models/a".into()), greedy());
        assert_eq!(settings.generation.sampling, chosen);
        assert_eq!(settings.generation.max_tokens, 9);
        assert_eq!(settings.model_folders, ["/models/a"]);
    }
}
