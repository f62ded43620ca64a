//! What is kept of other Macs, in a folder of the person's own: the keys of this one, who is paired, and where they
//! are.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use directories::ProjectDirs;
use foretoken_peers::{Book, Identity, Peer, Peers, PublicKey};
use serde::{Deserialize, Serialize};
use sysinfo::System;
use tempfile::NamedTempFile;

use super::super::CliError;
use super::network;

/// The private key, which only its owner can read.
const KEY_FILE: &str = "key.pem";
const BOOK_FILE: &str = "macs.json";
/// How often it is looked for changes.
const FOLLOWING: Duration = Duration::from_secs(1);

/// Where all of it is kept.
#[derive(Debug, Args)]
pub(super) struct StoreOptions {
    /// Keep keys and paired Macs in this folder.
    #[arg(long, value_name = "DIR")]
    macs: Option<PathBuf>,
}

/// What is kept.
pub(super) struct Store {
    folder: PathBuf,
    pub(super) identity: Identity,
    pub(super) peers: Peers,
    /// Where those were that were reached.
    pub(super) addresses: BTreeMap<PublicKey, String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    book: Book,
    #[serde(default)]
    addresses: BTreeMap<PublicKey, String>,
}

impl StoreOptions {
    /// Options that name a folder.
    pub(super) fn at(macs: Option<PathBuf>) -> Self {
        Self { macs }
    }

    /// Reads what is kept; makes keys where there are none yet.
    pub(super) fn open(&self) -> Result<Store, CliError> {
        let own =
            || ProjectDirs::from("dev", "foretoken", "Foretoken").map(|dirs| dirs.data_dir().join("macs"));
        let folder = self.macs.clone().or_else(own);
        let folder =
            folder.ok_or_else(|| CliError::Usage("There is no home folder. Name one by --macs.".into()))?;
        let failed = |error: io::Error| cannot(&folder, &error);
        fs::create_dir_all(&folder).map_err(failed)?;
        let key = folder.join(KEY_FILE);
        let identity = match fs::read_to_string(&key) {
            Ok(text) => Identity::from_text(&text).map_err(network)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let identity = Identity::generate().map_err(network)?;
                write(&key, identity.to_text().as_bytes()).map_err(failed)?;
                identity
            }
            Err(error) => return Err(cannot(&key, &error)),
        };
        let kept = read(&folder.join(BOOK_FILE))?;
        Ok(Store { folder, identity, peers: Peers::new(kept.book), addresses: kept.addresses })
    }
}

impl Store {
    /// Changes what is kept of one Mac, beside whatever other programs have changed meanwhile. `address`: where it was
    /// reached, if it was.
    pub(super) fn keep(&mut self, key: PublicKey, address: Option<&str>) -> Result<(), CliError> {
        let mut kept = self.read()?;
        match self.peers.book().peers.remove(&key) {
            Some(peer) => {
                kept.book.peers.insert(key, peer);
                kept.addresses.extend(address.map(|address| (key, address.to_owned())));
            }
            None => {
                kept.book.peers.remove(&key);
                kept.addresses.remove(&key);
            }
        }
        let path = self.folder.join(BOOK_FILE);
        let written = serde_json::to_vec_pretty(&kept).map_err(io::Error::from);
        written.and_then(|text| write(&path, &text)).map_err(|error| cannot(&path, &error))?;
        self.addresses = kept.addresses;
        Ok(())
    }

    /// Where layers are that others have given this Mac.
    pub(super) fn layers(&self) -> PathBuf {
        self.folder.join("layers")
    }

    /// What is in the file now.
    fn read(&self) -> Result<Kept, CliError> {
        read(&self.folder.join(BOOK_FILE))
    }

    /// Takes over whatever other programs change: a Mac that is forgotten there is let go here.
    pub(super) async fn follow(&self) {
        let path = self.folder.join(BOOK_FILE);
        let changed = || fs::metadata(&path).and_then(|file| file.modified()).ok();
        let mut last = changed();
        loop {
            tokio::time::sleep(FOLLOWING).await;
            let now = changed();
            if now != last
                && let Ok(kept) = self.read()
            {
                self.peers.replace(kept.book);
                last = now;
            }
        }
    }

    /// The paired Mac of this name or key, or the one of those that lend themselves.
    pub(super) fn find(&self, name: &str, lends: bool) -> Result<PublicKey, CliError> {
        let is_meant = |peer: &Peer| peer.lends || !lends;
        let what = if lends { "paired Mac that lends itself" } else { "paired Mac" };
        let book = self.peers.book();
        let named: Vec<_> = book
            .peers
            .iter()
            .filter(|(key, peer)| is_meant(peer) && (peer.name == name || key.to_string() == name))
            .map(|(key, _)| *key)
            .collect();
        match named.as_slice() {
            [key] => Ok(*key),
            [] => Err(CliError::Usage(format!(
                "No {what} is called {name}. `peers list` tells which there are."
            ))),
            _ => Err(CliError::Usage(format!(
                "Several Macs are called {name}. Name one by its key, see `peers list`."
            ))),
        }
    }
}

fn read(path: &Path) -> Result<Kept, CliError> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| cannot(path, &error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Kept::default()),
        Err(error) => Err(cannot(path, &error)),
    }
}

/// What this Mac calls itself.
pub(super) fn own_name() -> String {
    let name = System::host_name().unwrap_or_else(|_| "A Mac".into());
    name.trim_end_matches(".local").to_owned()
}

fn cannot(path: &Path, error: &io::Error) -> CliError {
    CliError::Usage(format!("{} cannot be used: {error}.", path.display()))
}

/// Writes a file that only its owner can read, as a whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
