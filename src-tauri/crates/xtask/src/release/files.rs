//! The files of a release, beside the image: the archive for updates with `latest.json`, the cask, and hashes of all.

use std::fs;
use std::path::{Path, PathBuf};

use minisign::SecretKey;
use plist::Dictionary;

use super::cask::{LEFTOVERS, cask};
use super::names::Names;
use super::updates::{self, Latest};
use super::{archive, changelog};
use crate::error::{Error, Result};

/// What a release is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Release<'a> {
    pub(super) version: &'a str,
    pub(super) changelog: &'a str,
    /// The app as others get it: signed, with Apple's ticket.
    pub(super) app: &'a Path,
    /// Where the image lies, and the files go.
    pub(super) folder: &'a Path,
    /// Seconds since 1970.
    pub(super) time: u64,
    pub(super) names: &'a Names,
    /// The key that archives are signed with.
    pub(super) key: Option<&'a SecretKey>,
}

/// The name of a release's image.
pub(super) fn image_name(version: &str) -> String {
    format!("Foretoken_{version}_aarch64.dmg")
}

impl Release<'_> {
    /// Makes the files, and returns why some are left out.
    pub(super) fn make(&self) -> Result<Vec<String>> {
        let refused = |why: String| Error::Release { why };
        let info = self.app.join("Contents/Info.plist");
        let told: Dictionary =
            plist::from_file(&info).map_err(|error| refused(format!("{}: {error}", info.display())))?;
        let told = told.get("CFBundleShortVersionString").and_then(|version| version.as_string());
        if told != Some(self.version) {
            return Err(refused(format!("{} is of version {told:?}, not {}", info.display(), self.version)));
        }
        let notes = changelog::section(self.changelog, self.version)
            .ok_or_else(|| refused(format!("the changelog does not tell of {}", self.version)))?;
        let mut left_out = Vec::new();

        let name = format!("Foretoken_{}_aarch64.app.tar.gz", self.version);
        let packed = self.folder.join(&name);
        archive::write(self.app, &packed, self.time)?;
        let url = self.names.address(self.version, &name);
        match (self.key, url) {
            (Some(key), Some(url)) => {
                let signature = updates::sign(&packed, self.version, self.time, key)?;
                updates::verify(&packed, &signature, &self.names.updates.public_key)?;
                let size = fs::metadata(&packed).map_err(Error::file(&packed))?.len();
                let (version, time) = (self.version, self.time);
                let latest = Latest { version, notes, time, url: &url, signature: &signature, size };
                self.write("latest.json", &latest.text()?)?;
            }
            (None, _) if !self.names.updates.public_key.is_empty() => {
                return Err(refused("there is no secret key to updates.public_key".into()));
            }
            (None, _) => left_out.push("latest.json, as there is no key to sign updates with".to_owned()),
            (_, None) => left_out.push("latest.json, as releases have no repository".to_owned()),
        }
        let image = image_name(self.version);
        match cask(self.names, self.version, &image, &sum(&self.folder.join(&image))?) {
            Some(cask) => self.write("foretoken.rb", &cask)?,
            None => left_out.push("the cask, as releases have no repository".to_owned()),
        }
        self.write("leftovers.txt", LEFTOVERS)?;
        self.write("SHA256SUMS", &self.sums()?)?;
        Ok(left_out)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.folder.join(name);
        fs::write(&file, text).map_err(Error::file(&file))
    }

    /// Hashes as `shasum --check` reads them, of each file in the folder.
    fn sums(&self) -> Result<String> {
        let entries = fs::read_dir(self.folder).map_err(Error::file(self.folder))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.is_file() && !file.ends_with("SHA256SUMS"));
        files.sort();
        let line = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(format!("{}  {name}\n", sum(file)?))
        };
        files.iter().map(line).collect()
    }
}

fn sum(file: &Path) -> Result<String> {
    let bytes = fs::read(file).map_err(Error::file(file))?;
    Ok(crate::bundle::hash(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::updates::tests::keys;
    use super::*;

    const CHANGES: &str = "## [Unreleased]\n\n## [1.2.3] - 2026-03-04\n\n- New.\n";

    /// What the updater reads of `latest.json`, by the types of tauri-plugin-updater.
    #[derive(serde::Deserialize)]
    struct Read {
        version: String,
        notes: Option<String>,
        pub_date: Option<String>,
        platforms: std::collections::HashMap<String, Platform>,
    }

    #[derive(serde::Deserialize)]
    struct Platform {
        url: String,
        signature: String,
    }

    fn app(place: &Path, version: &str) -> PathBuf {
        let app = place.join("Foretoken.app");
        fs::create_dir_all(app.join("Contents")).unwrap();
        let info = Dictionary::from_iter([("CFBundleShortVersionString", version)]);
        plist::to_file_xml(app.join("Contents/Info.plist"), &info).unwrap();
        app
    }

    #[test]
    fn every_file_of_a_release_is_of_one_version_and_apps_take_its_archive() {
        let place = tempfile::tempdir().unwrap();
        let app = app(place.path(), "1.2.3");
        let folder = place.path().join("release");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(image_name("1.2.3")), "an image").unwrap();
        let (secret, public_key) = keys();
        let mut names = Names { repository: "somebody/foretoken".into(), ..Names::default() };
        names.updates.public_key = public_key;
        let release = Release {
            version: "1.2.3",
            changelog: CHANGES,
            app: &app,
            folder: &folder,
            time: 1_700_000_000,
            names: &names,
            key: Some(&secret),
        };
        assert_eq!(release.make().unwrap(), Vec::<String>::new());

        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let latest: Read = serde_json::from_str(&read("latest.json")).unwrap();
        assert_eq!((latest.version.as_str(), latest.notes.as_deref()), ("1.2.3", Some("- New.")));
        assert_eq!(latest.pub_date.as_deref(), Some("2023-11-14T22:13:20Z"));
        let platform = &latest.platforms["darwin-aarch64"];
        let archive = "Foretoken_1.2.3_aarch64.app.tar.gz";
        assert!(platform.url.ends_with(&format!("/v1.2.3/{archive}")), "{}", platform.url);
        let archive = folder.join(archive);
        updates::verify(&archive, &platform.signature, &names.updates.public_key).unwrap();
        let size = serde_json::from_str::<Value>(&read("latest.json")).unwrap()["platforms"]["darwin-aarch64"]["size"].clone();
        assert_eq!(size, fs::metadata(&archive).unwrap().len());
        assert!(
            archive::names(&archive).unwrap().contains(&PathBuf::from("Foretoken.app/Contents/Info.plist"))
        );
        let image = sum(&folder.join(image_name("1.2.3"))).unwrap();
        assert!(read("foretoken.rb").contains(&format!("version \"1.2.3\"\n  sha256 \"{image}\"")));
        assert_eq!(read("SHA256SUMS").lines().count(), 5, "{}", read("SHA256SUMS"));
        assert!(read("SHA256SUMS").contains(&format!("{image}  Foretoken_1.2.3_aarch64.dmg\n")));

        // The same app, signed by a key that no app knows.
        let (stranger, _) = keys();
        let refused = |key| Release { key, ..release }.make().unwrap_err().to_string();
        assert!(refused(Some(&stranger)).contains("apps would refuse"));
        assert!(refused(None).contains("no secret key"), "apps would look for updates in vain");
    }

    #[test]
    fn what_cannot_be_made_without_names_and_keys_is_left_out_and_said() {
        let place = tempfile::tempdir().unwrap();
        let app = app(place.path(), "1.2.3");
        fs::write(place.path().join(image_name("1.2.3")), "an image").unwrap();
        let names = Names::default();
        let folder = place.path();
        let release = |version, changelog| {
            let (app, names) = (&*app, &names);
            Release { version, changelog, app, folder, time: 0, names, key: None }.make()
        };
        let left_out = release("1.2.3", CHANGES).unwrap();
        assert!(
            left_out[0].starts_with("latest.json") && left_out[1].starts_with("the cask"),
            "{left_out:?}"
        );
        assert!(!folder.join("latest.json").exists() && !folder.join("foretoken.rb").exists());
        let refused = |version, changes| release(version, changes).unwrap_err().to_string();
        assert!(refused("1.2.4", CHANGES).contains("is of version Some(\"1.2.3\"), not 1.2.4"));
        assert!(refused("1.2.3", "## [Unreleased]\n").contains("does not tell of 1.2.3"));
    }
}
