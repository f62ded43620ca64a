//! The folder of a model, as other Macs may see it. A link counts where it leads into the folder, or to what the
//! Hugging Face cache keeps for it: whatever else it leads to is of no concern to them.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use foretoken_protocol::ErrorReport;
use tokio::fs::File;

use crate::files::{ModelFile, Sha256};

/// The files of the model in a folder.
pub fn files_of(folder: &Path) -> Vec<ModelFile> {
    files(folder).into_iter().map(|(file, _)| file).collect()
}

/// Opens one of them by its name.
pub async fn open_of(folder: &Path, name: &str) -> Result<File, ErrorReport> {
    let unreadable = |error: io::Error| ErrorReport {
        code: "mac_file_unreadable".into(),
        message: format!("The lending Mac cannot read {name}: {error}."),
        hint: "Check the folder of the model there.".into(),
    };
    let found = files(folder).into_iter().find(|(file, _)| file.name == name);
    let (_, path) = found.ok_or_else(|| unreadable(io::ErrorKind::NotFound.into()))?;
    File::open(path).await.map_err(unreadable)
}

/// The files in the folder of a model, and where each is.
fn files(folder: &Path) -> Vec<(ModelFile, PathBuf)> {
    let Ok(folder) = folder.canonicalize() else { return Vec::new() };
    // There a folder is snapshots/REVISION, and its files are links to the blobs beside snapshots.
    let snapshots = folder.parent().filter(|parent| parent.ends_with("snapshots"));
    let blobs = snapshots.and_then(Path::parent).map(|model| model.join("blobs"));
    let entries = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
    let files = entries.filter_map(|entry| {
        let (name, path) = (entry.file_name().into_string().ok()?, entry.path().canonicalize().ok()?);
        let is_blob = blobs.is_some() && path.parent() == blobs.as_deref();
        let metadata = path.metadata().ok().filter(Metadata::is_file)?;
        // A large file has its hash for a name there.
        let sha256 = if is_blob { Sha256::parse(path.file_name()?.to_str()?) } else { None };
        let file = ModelFile { name, bytes: metadata.len(), sha256 };
        (is_blob || path.starts_with(&folder)).then_some((file, path))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_out_of_a_model_are_none_of_its_files() {
        let home = tempfile::tempdir().unwrap();
        let (blobs, own) = (home.path().join("blobs"), home.path().join("snapshots/1"));
        fs::create_dir_all(own.join("folder")).unwrap();
        fs::create_dir(&blobs).unwrap();
        let hash = "0123456789abcdef".repeat(4);
        fs::write(blobs.join(&hash), "large").unwrap();
        fs::write(home.path().join("secret"), "mine").unwrap();
        fs::write(own.join("config.json"), "{}").unwrap();
        for (to, name) in [
            ("../../blobs/".to_owned() + &hash, "weights"),
            ("config.json".into(), "same"),
            ("../../secret".into(), "a"),
            ("/etc/passwd".into(), "b"),
            ("..".into(), "c"),
        ] {
            symlink(to, own.join(name)).unwrap();
        }
        let link = home.path().join("model");
        symlink(&own, &link).unwrap();
        for folder in [&own, &link] {
            let mut found = files(folder);
            found.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
            let of = |name: &str, bytes, sha256| ModelFile { name: name.into(), bytes, sha256 };
            let expected =
                [of("config.json", 2, None), of("same", 2, None), of("weights", 5, Sha256::parse(&hash))];
            assert_eq!(found.iter().map(|(file, _)| file.clone()).collect::<Vec<_>>(), expected);
            assert_eq!(fs::read(&found[2].1).unwrap(), b"large");
        }
    }
}
