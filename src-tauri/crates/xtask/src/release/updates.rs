//! What installed apps read of a release: the signature of its archive, and `latest.json`. Both are in the form of
//! tauri-plugin-updater, in which keys and signatures are minisign's files, each as one line of base64.

use std::env;
use std::fs::{self, File};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use minisign::{SecretKey, SecretKeyBox};
use minisign_verify::{PublicKey, Signature};
use serde_json::json;

use crate::error::{Error, Result};

/// The variables with the secret key, and with its password if it has one.
const KEY: &str = "FORETOKEN_UPDATE_KEY";
const PASSWORD: &str = "FORETOKEN_UPDATE_KEY_PASSWORD";
/// The one system that releases are made for, as the updater names it.
const TARGET: &str = "darwin-aarch64";

/// The secret key of the environment; `None` where there is none.
pub(super) fn key() -> Result<Option<SecretKey>> {
    let Some(key) = env::var(KEY).ok().filter(|key| !key.is_empty()) else { return Ok(None) };
    let password = env::var(PASSWORD).ok().filter(|password| !password.is_empty());
    decoded_key(&key, password).map(Some)
}

fn decoded_key(key: &str, password: Option<String>) -> Result<SecretKey> {
    let refused = |why: String| Error::Release { why: format!("{KEY} is no key of minisign's: {why}") };
    let text = text(key).map_err(refused)?;
    let file = || SecretKeyBox::from_string(&text).map_err(|error| refused(error.to_string()));
    let key = match password {
        Some(_) => file()?.into_secret_key(password),
        // Tauri's tool encrypts with an empty password where it is given none. With no password at all, minisign would
        // ask the terminal for one.
        None => match file()?.into_unencrypted_secret_key() {
            Ok(key) => Ok(key),
            Err(_) => file()?.into_secret_key(Some(String::new())),
        },
    };
    key.map_err(|error| refused(error.to_string()))
}

/// Signs an archive as that of a version: an app takes it for no other one.
pub(super) fn sign(archive: &Path, version: &str, time: u64, key: &SecretKey) -> Result<String> {
    let file = File::open(archive).map_err(Error::file(archive))?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let signed = format!("timestamp:{time}\tfile:{name}\tversion:{version}");
    let signature = minisign::sign(None, key, file, Some(&signed), Some("signature of a Foretoken release"));
    let signature = signature.map_err(|error| Error::Release { why: format!("{name}: {error}") })?;
    Ok(STANDARD.encode(signature.into_string()))
}

/// Looks whether apps that know a public key would take an archive, as they do.
pub(super) fn verify(archive: &Path, signature: &str, public_key: &str) -> Result<()> {
    let refused = |why: String| Error::Release {
        why: format!("apps would refuse {}, signed for updates.public_key: {why}", archive.display()),
    };
    let bytes = fs::read(archive).map_err(Error::file(archive))?;
    let public_key = read_public_key(public_key);
    let signature =
        text(signature).and_then(|text| Signature::decode(&text).map_err(|error| error.to_string()));
    let public_key = public_key.map_err(refused)?;
    let signature = signature.map_err(refused)?;
    public_key.verify(&bytes, &signature, false).map_err(|error| refused(error.to_string()))
}

pub(super) fn read_public_key(encoded: &str) -> std::result::Result<PublicKey, String> {
    text(encoded).and_then(|key| PublicKey::decode(&key).map_err(|error| error.to_string()))
}

fn text(encoded: &str) -> std::result::Result<String, String> {
    let bytes = STANDARD.decode(encoded.trim()).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// What is to be said of a release.
#[derive(Debug)]
pub(super) struct Latest<'a> {
    pub(super) version: &'a str,
    pub(super) notes: &'a str,
    /// Seconds since 1970.
    pub(super) time: u64,
    pub(super) url: &'a str,
    pub(super) signature: &'a str,
    /// Bytes of the archive. The updater reads over it; the app shows it.
    pub(super) size: u64,
}

impl Latest<'_> {
    /// The text of `latest.json`.
    pub(super) fn text(&self) -> Result<String> {
        let date = i64::try_from(self.time).ok().and_then(|time| Timestamp::from_second(time).ok());
        let date = date.ok_or_else(|| Error::Release { why: format!("{} is no time", self.time) })?;
        let manifest = json!({
            "version": self.version,
            "notes": self.notes,
            "pub_date": date.to_string(),
            "platforms": { TARGET: { "url": self.url, "signature": self.signature, "size": self.size } },
        });
        Ok(format!("{manifest:#}\n"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use minisign::KeyPair;

    use super::*;

    /// A key pair: the secret one, and the public one as apps have it.
    pub(in super::super) fn keys() -> (SecretKey, String) {
        let KeyPair { pk, sk } = KeyPair::generate_unencrypted_keypair().unwrap();
        (sk, STANDARD.encode(pk.to_box().unwrap().into_string()))
    }

    #[test]
    fn apps_take_an_archive_that_was_signed_and_no_other() {
        let place = tempfile::tempdir().unwrap();
        let archive = place.path().join("Foretoken_1.2.3_aarch64.app.tar.gz");
        fs::write(&archive, "an archive").unwrap();
        let (secret, public) = keys();
        let signature = sign(&archive, "1.2.3", 1_700_000_000, &secret).unwrap();
        verify(&archive, &signature, &public).unwrap();
        let said = text(&signature).unwrap();
        let fields = "timestamp:1700000000\tfile:Foretoken_1.2.3_aarch64.app.tar.gz\tversion:1.2.3\n";
        assert!(said.contains(&format!("\ntrusted comment: {fields}")), "{said}");

        let refused =
            |signature: &str, public: &str| verify(&archive, signature, public).unwrap_err().to_string();
        assert!(refused(&signature, &keys().1).contains("updates.public_key"), "another key");
        let older = STANDARD.encode(said.replace("version:1.2.3", "version:9.9.9"));
        refused(&older, &public);
        refused("no base64", &public);
        fs::write(&archive, "an archivf").unwrap();
        refused(&signature, &public);
    }

    #[test]
    fn a_key_is_read_as_the_tools_write_it_with_and_without_a_password() {
        let encoded = |key: &SecretKey| STANDARD.encode(key.to_box(None).unwrap().into_string());
        let plain = KeyPair::generate_unencrypted_keypair().unwrap().sk;
        assert_eq!(decoded_key(&encoded(&plain), None).unwrap(), plain);
        let refused = decoded_key("RWRTY0Iy", None).unwrap_err().to_string();
        assert!(refused.contains(KEY), "{refused}");
    }
}
