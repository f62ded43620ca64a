//! The models that the picker lists: the one that came with the app, then the folders that were opened.

use std::path::Path;

use foretoken_protocol::ModelEntry;

use crate::settings::Settings;

/// What the picker calls the model that came with the app.
pub(crate) const BUILT_IN_NAME: &str = "Demo model";

/// The picker's list and how it relates to the settings.
#[derive(Debug)]
pub(crate) struct Picker {
    built_in: String,
}

impl Picker {
    /// The list that begins with the model in the folder `built_in`.
    pub(crate) fn new(built_in: &Path) -> Self {
        Self { built_in: built_in.to_string_lossy().into_owned() }
    }

    /// The models to choose from.
    pub(crate) fn entries(&self, settings: &Settings) -> Vec<ModelEntry> {
        let built_in = ModelEntry { path: self.built_in.clone(), name: BUILT_IN_NAME.into(), built_in: true };
        let opened = settings.model_folders.iter().map(|folder| ModelEntry {
            path: folder.clone(),
            name: display_name(Path::new(folder)),
            built_in: false,
        });
        std::iter::once(built_in).chain(opened).collect()
    }

    /// The folder of the chosen model.
    pub(crate) fn selected(&self, settings: &Settings) -> String {
        settings.selected_model.clone().unwrap_or_else(|| self.built_in.clone())
    }

    /// The name of the model in a folder.
    pub(crate) fn name(&self, path: &str) -> String {
        if path == self.built_in { BUILT_IN_NAME.into() } else { display_name(Path::new(path)) }
    }

    /// How the settings name the model in a folder.
    pub(crate) fn key(&self, path: &str) -> Option<String> {
        (path != self.built_in).then(|| path.to_owned())
    }
}

/// What people call the model in a folder: the folder's name without the organisation that the library and the Hugging
/// Face cache put before it, `organisation--name` and `models--organisation--name/snapshots/commit`.
pub(crate) fn display_name(path: &Path) -> String {
    let name_of = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let above = path.parent();
    let is_snapshot = above.and_then(name_of).is_some_and(|name| name == "snapshots");
    let named = if is_snapshot { above.and_then(Path::parent).unwrap_or(path) } else { path };
    let Some(name) = name_of(named) else { return path.to_string_lossy().into_owned() };
    match name.rsplit_once("--") {
        Some((_, name)) if !name.is_empty() => name.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_model_comes_first_and_is_the_default() {
        let models = Picker::new(Path::new("/app/demo-model"));
        let mut settings = Settings::default();
        assert_eq!(models.selected(&settings), "/app/demo-model");

        settings.model_folders = vec!["/models/Qwen3.5-4B".into(), "/".into()];
        settings.selected_model = Some("/models/Qwen3.5-4B".into());
        let names: Vec<_> =
            models.entries(&settings).into_iter().map(|entry| (entry.name, entry.built_in)).collect();
        assert_eq!(names, [("Demo model".into(), true), ("Qwen3.5-4B".into(), false), ("/".into(), false)]);
        assert_eq!(models.selected(&settings), "/models/Qwen3.5-4B");
    }

    #[test]
    fn names_are_without_what_programs_put_around_them() {
        let name = |path: &str| display_name(Path::new(path));
        assert_eq!(name("/models/Qwen--Qwen3.5-4B-4bit"), "Qwen3.5-4B-4bit");
        assert_eq!(name("/hub/models--Qwen--Qwen3.5-4B/snapshots/0123"), "Qwen3.5-4B");
        assert_eq!(name("/mine/snapshots/new"), "mine");
        assert_eq!(name("/models/a--"), "a--");
        assert_eq!(name("/"), "/");
    }

    #[test]
    fn the_built_in_model_is_remembered_without_its_folder() {
        let models = Picker::new(Path::new("/app/demo-model"));
        assert_eq!(models.key("/app/demo-model"), None);
        assert_eq!(models.key("/models/a"), Some("/models/a".into()));
        assert_eq!(models.name("/app/demo-model"), "Demo model");
        assert_eq!(models.name("/models/a"), "a");
    }
}
