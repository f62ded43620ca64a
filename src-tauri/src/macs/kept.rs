//! What is kept of other Macs: this one's key in the keychain, and in a file who is paired, where they are, how fast
//! the way to them is, and which models are spread over them.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foretoken_peers::{Book, Identity, Peers, PublicKey};
use foretoken_protocol::{MacLink, SpreadPart};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex as AsyncMutex, OnceCell};

use super::MacsError;
use crate::blocking::blocking;
use crate::json_file;
use crate::keychain::SecretStore;

const FILE: &str = "macs.json";
/// Where the key is, where there is no keychain.
const KEY_FILE: &str = "macs-key.pem";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Contents {
    #[serde(flatten)]
    book: Book,
    /// Where each was last found.
    addresses: BTreeMap<PublicKey, String>,
    links: BTreeMap<PublicKey, MacLink>,
    /// The models that are spread, by their folders.
    spread: BTreeMap<String, Vec<SpreadPart>>,
}

/// What is kept.
pub(super) struct Kept {
    keychain: Arc<dyn SecretStore>,
    key_file: PathBuf,
    identity: OnceCell<Identity>,
    file: PathBuf,
    peers: Peers,
    contents: Mutex<Contents>,
    /// Held while the file is written: what is written last is what is new.
    writing: AsyncMutex<()>,
}

impl Kept {
    pub(super) fn open(keychain: Box<dyn SecretStore>, folder: &Path) -> Self {
        let file = folder.join(FILE);
        let contents: Contents = json_file::read(&file).unwrap_or_else(|| {
            // What cannot be read is not written over; as a rule there is none yet.
            let _ = std::fs::rename(&file, file.with_extension("damaged.json"));
            Contents::default()
        });
        Self {
            keychain: keychain.into(),
            key_file: folder.join(KEY_FILE),
            identity: OnceCell::new(),
            peers: Peers::new(contents.book.clone()),
            file,
            contents: Mutex::new(contents),
            writing: AsyncMutex::default(),
        }
    }

    /// Who is paired.
    pub(super) fn peers(&self) -> &Peers {
        &self.peers
    }

    pub(super) fn address(&self, key: &PublicKey) -> Option<String> {
        self.lock().addresses.get(key).cloned()
    }

    pub(super) fn link(&self, key: &PublicKey) -> Option<MacLink> {
        self.lock().links.get(key).copied()
    }

    /// The models that are spread, with their parts.
    pub(super) fn spread(&self) -> BTreeMap<String, Vec<SpreadPart>> {
        self.lock().spread.clone()
    }

    /// Notes where a Mac is; says whether that is new.
    pub(super) fn found_at(&self, key: PublicKey, address: String) -> bool {
        let mut contents = self.lock();
        let is_new = contents.addresses.get(&key) != Some(&address);
        contents.addresses.insert(key, address);
        is_new
    }

    pub(super) fn measured(&self, key: PublicKey, link: MacLink) {
        self.lock().links.insert(key, link);
    }

    /// Spreads a model as these parts, or not any more. Returns how it was before.
    pub(super) fn set_spread(&self, path: &str, parts: Option<Vec<SpreadPart>>) -> Option<Vec<SpreadPart>> {
        let mut contents = self.lock();
        match parts {
            Some(parts) => contents.spread.insert(path.to_owned(), parts),
            None => contents.spread.remove(path),
        }
    }

    /// Notes that the models of a folder are in another one now.
    pub(super) fn moved(&self, from: &Path, to: &Path) {
        let mut contents = self.lock();
        let moved = |path: String| match Path::new(&path).strip_prefix(from) {
            Ok(rest) => to.join(rest).to_string_lossy().into_owned(),
            Err(_) => path,
        };
        let spread = std::mem::take(&mut contents.spread);
        contents.spread = spread.into_iter().map(|(path, parts)| (moved(path), parts)).collect();
    }

    /// Forgets a Mac, and ends all that runs with it. Models that are spread over it are spread no more.
    pub(super) fn forget(&self, key: &PublicKey) {
        self.peers.remove(key);
        let mut contents = self.lock();
        contents.addresses.remove(key);
        contents.links.remove(key);
        let name = key.to_string();
        contents.spread.retain(|_, parts| !parts.iter().any(|part| part.key.as_ref() == Some(&name)));
    }

    /// Writes it down.
    pub(super) async fn write(&self) -> Result<(), MacsError> {
        let _one = self.writing.lock().await;
        let contents = {
            let mut contents = self.lock();
            contents.book = self.peers.book();
            contents.clone()
        };
        let file = self.file.clone();
        blocking(move || json_file::write(&file, &contents)).await.map_err(MacsError::NotKept)
    }

    /// This Mac's public key, if it was needed since the start.
    pub(super) fn known_key(&self) -> Option<PublicKey> {
        self.identity.get().map(Identity::key)
    }

    /// This Mac's key, which is made when it is needed for the first time. The person may be asked to unlock the
    /// keychain.
    pub(super) async fn identity(&self) -> Result<Identity, MacsError> {
        let (keychain, file) = (Arc::clone(&self.keychain), self.key_file.clone());
        let read = async || blocking(move || read_or_create(&*keychain, &file)).await;
        self.identity.get_or_try_init(read).await.cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_or_create(keychain: &dyn SecretStore, file: &Path) -> Result<Identity, MacsError> {
    let failed = |error: &dyn std::fmt::Display| MacsError::KeyNotKept(error.to_string());
    match keychain.read() {
        Ok(Some(text)) => Identity::from_text(&text).map_err(|error| failed(&error)),
        Ok(None) => {
            // It may be from before there was a keychain: others know this Mac by it.
            let before = std::fs::read_to_string(file).ok();
            let known = before.and_then(|text| Identity::from_text(&text).ok());
            let identity = known.map_or_else(Identity::generate, Ok).map_err(|error| failed(&error))?;
            keychain.write(&identity.to_text()).map_err(|error| failed(&error))?;
            Ok(identity)
        }
        // There is no keychain.
        Err(_) => match std::fs::read_to_string(file) {
            Ok(text) => Identity::from_text(&text).map_err(|error| failed(&error)),
            Err(_) => {
                let identity = Identity::generate().map_err(|error| failed(&error))?;
                write_secret(file, &identity.to_text()).map_err(|error| failed(&error))?;
                Ok(identity)
            }
        },
    }
}

/// Writes a file that only its owner can read.
fn write_secret(file: &Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(file))?;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
