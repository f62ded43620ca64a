//! MTP heads in files of their own beside the model, where tools put them.

use super::CheckpointError;
use super::config::{Config, HEAD_ARCHITECTURE};
use super::declaration::HeadDeclaration;
use super::index::{Index, Sidecar, SidecarContent};
use super::json::Keys;
use super::kinds::NormEncoding;
use super::metadata::{FileHeader, Metadata};
use super::names::{Name, classify, is_mtp};

/// After the file that the config names, the first of these is used.
const PLACES: [&str; 5] =
    ["mtp.safetensors", "mtp/weights.safetensors", "model-mtp.safetensors", "mtp", "optiq/mtp.safetensors"];

impl Sidecar {
    /// Finds the heads beside a model, the first that counts first.
    pub(super) fn find(metadata: &Metadata, config: &Config) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for place in config.mtp_file.iter().map(String::as_str).chain(PLACES) {
            let (path, is_file) =
                (metadata.place(place), metadata.files.iter().any(|file| file.path == place));
            let files: Vec<&FileHeader> = match is_file {
                true => metadata.files.iter().filter(|file| file.path == place).collect(),
                false => metadata.files.iter().filter(|file| file.folder() == Some(place)).collect(),
            };
            if files.is_empty() || found.iter().any(|other| other.path.starts_with(&path)) {
                continue;
            }
            let home = if is_file { files[0].folder() } else { Some(place) };
            let content = SidecarContent::of(metadata, &files, home);
            // A whole model may have any name.
            let is_model =
                content.as_ref().is_ok_and(|content| content.index.tensors.keys().any(|raw| is_trunk(raw)));
            if home.is_none() && is_model {
                continue;
            }
            found.push(Self { path, content: content.map(Box::new) });
        }
        found
    }

    /// A file of any name in the model's folder, if nothing but an MTP head is in it.
    pub(super) fn of(metadata: &Metadata, file: &FileHeader) -> Option<Self> {
        let content = SidecarContent::of(metadata, &[file], None).ok()?;
        let names = &content.index.tensors;
        let is_head = |raw: &String| matches!(classify(raw), Name::Text(name) if is_mtp(&name));
        let path = metadata.place(&file.path);
        (!names.is_empty() && names.keys().all(is_head))
            .then(|| Self { path, content: Ok(Box::new(content)) })
    }
}

impl SidecarContent {
    /// From files in the folder `home`; `None` is that of the model itself.
    fn of(metadata: &Metadata, files: &[&FileHeader], home: Option<&str>) -> Result<Self, CheckpointError> {
        let mut index = Index::default();
        for file in files {
            index.add(metadata.place(&file.path), file)?;
        }
        let beside = |name: &str| home.map_or_else(|| name.to_owned(), |home| format!("{home}/{name}"));
        // The config of the model itself has been read already.
        let config = match home {
            Some(_) => metadata.object(&beside("config.json"))?,
            None => None,
        };
        // Other tools use this name for other things.
        let manifest = metadata.object(&beside("manifest.json")).ok().flatten();
        let mut keys = Keys(config.iter().chain(&manifest).collect());
        if let Some(text) = keys.object("text_config")? {
            keys.0.insert(0, text);
        }
        let mut declaration = HeadDeclaration::parse(&keys)?;
        let exported = config.as_ref().and_then(|config| config.get("model_type")?.as_str());
        if exported == Some(HEAD_ARCHITECTURE) && index.tensors.keys().all(|raw| !raw.contains("mtp.")) {
            // Such exports are in MLX's form; where names have kept their prefix, they were copied as they were.
            declaration.norms = declaration.norms.or(Some(NormEncoding::Gamma));
        }
        Ok(Self { index, declaration })
    }
}

fn is_trunk(raw: &str) -> bool {
    matches!(classify(raw), Name::Text(name) if !is_mtp(&name))
}
