//! Layers of models that other Macs have given to this one, on its disk. Each Mac has its own: what one has given, no
//! other uses. All of it waits for the disk.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use foretoken_protocol::ErrorReport;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::PeerError;
use crate::files::Sha256;
use crate::gift::{Announced, CONFIG, ModelId};
use crate::identity::PublicKey;
use crate::partial::beside;
use crate::text;

/// What is known of a model that is kept, beside its files.
const NOTE: &str = "kept.json";
/// Bytes of the disk that stay free.
const SPARE: u64 = 1 << 30;
/// The longest name of a model, in characters.
const LONGEST_MODEL: usize = 128;

/// Why layers are not kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Its owner does not want it.
    #[error("The lending Mac keeps no layers of models.")]
    Off,
    /// They are more than its owner allows.
    #[error(
        "The lending Mac may keep {:.1} GB of layers, and has no room for {:.1} GB more.",
        *most as f64 / 1e9,
        *needed as f64 / 1e9
    )]
    Full {
        /// What it may keep, in bytes.
        most: u64,
        /// What is to come, in bytes.
        needed: u64,
    },
    /// Its disk has too little room.
    #[error(
        "The disk of the lending Mac has {:.1} GB free, and {:.1} GB are to come.",
        *free as f64 / 1e9,
        *needed as f64 / 1e9
    )]
    Disk {
        /// Bytes that are free.
        free: u64,
        /// What is to come, in bytes.
        needed: u64,
    },
    /// Layers of the same model are on their way.
    #[error("The lending Mac is being given layers of this model already.")]
    Giving,
    /// A loan uses them.
    #[error("These layers are in use.")]
    InUse,
    /// Its disk fails, or what has arrived is not what was sent.
    #[error("The lending Mac cannot keep it: {0}")]
    Failed(Box<PeerError>),
}

impl StoreError {
    /// Of a file that was to be kept.
    pub(super) fn of(error: PeerError) -> Self {
        Self::Failed(Box::new(error))
    }

    fn code(&self) -> &str {
        match self {
            Self::Off => "store_off",
            Self::Full { .. } => "store_full",
            Self::Disk { .. } => "store_disk",
            Self::Giving => "store_giving",
            Self::InUse => "store_in_use",
            Self::Failed(error) => match &**error {
                PeerError::DiskFull { .. } => "store_disk_full",
                PeerError::HashDiffers { .. } => "store_differs",
                _ => "store_failed",
            },
        }
    }

    fn hint(&self) -> &str {
        match self {
            Self::Off => {
                "On that Mac, in Settings › Other Macs, allow layers of models to be kept, or copy the model there."
            }
            Self::Full { .. } => {
                "On that Mac, in Settings › Other Macs, allow more gigabytes or remove some."
            }
            Self::Disk { .. } => "Free some space there, then load the model again.",
            Self::Giving => "Wait until that has ended.",
            Self::InUse => "Wait until the other Mac has unloaded the model.",
            Self::Failed(error) => match &**error {
                PeerError::DiskFull { .. } => {
                    "Free some space there, then load the model again: what has arrived is kept."
                }
                PeerError::HashDiffers { .. } => "Load the model again: that file is sent anew.",
                _ => "Check the disk of that Mac, then load the model again.",
            },
        }
    }
}

impl From<PeerError> for StoreError {
    fn from(error: PeerError) -> Self {
        Self::of(error)
    }
}

impl From<StoreError> for ErrorReport {
    fn from(error: StoreError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint().into() }
    }
}

/// A folder for layers of models. Copies are the same one.
#[derive(Debug, Clone)]
pub struct LayerStore {
    folder: PathBuf,
    uses: Arc<Mutex<BTreeMap<String, Uses>>>,
}

/// What is done with a model that is kept.
#[derive(Debug, Default)]
struct Uses {
    loans: usize,
    is_given: bool,
}

/// A model of which layers are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredModel {
    /// By what it is removed.
    pub id: String,
    /// The name of the model.
    pub model: String,
    /// Who has given it, and what it was called then.
    pub borrower: PublicKey,
    /// See there.
    pub mac: String,
    /// How many layers.
    pub layers: u32,
    /// What all of it takes on the disk.
    pub bytes: u64,
    /// When it was used last, milliseconds since 1970.
    pub used: u64,
    /// Whether a loan uses it, or more of it is arriving.
    pub in_use: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    model: String,
    borrower: PublicKey,
    mac: String,
    used: u64,
}

/// That something is done with a model that is kept, until this is dropped. It stays on the disk meanwhile.
#[derive(Debug)]
pub struct Held {
    store: LayerStore,
    id: String,
    is_loan: bool,
}

/// Where a gift goes.
pub(super) struct Place(Held);

impl LayerStore {
    /// Keeps them in this folder, which need not be there.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder, uses: Arc::default() }
    }

    /// What is kept, what was used last at first.
    pub fn stored(&self) -> Vec<StoredModel> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let mut all: Vec<StoredModel> =
            entries.filter_map(|entry| self.look(entry.file_name().to_str()?)).collect();
        all.sort_by(|a, b| (b.used, &a.id).cmp(&(a.used, &b.id)));
        all
    }

    /// Removes a model that is kept. Fails while it is in use.
    pub fn remove(&self, id: &str) -> Result<(), StoreError> {
        // What is none of these names is no folder of this one.
        if !self.stored().iter().any(|stored| stored.id == id) {
            return Ok(());
        }
        let uses = self.lock();
        if uses.contains_key(id) {
            return Err(StoreError::InUse);
        }
        let path = self.folder.join(id);
        fs::remove_dir_all(&path).map_err(|source| PeerError::File { path, source }.into())
    }

    /// What a Mac has given of a model, for a worker: its folder. `None` where that is nothing.
    pub fn hold(&self, borrower: &PublicKey, model: &ModelId) -> Option<(PathBuf, Held)> {
        let id = id_of(borrower, &model.digest);
        let folder = self.folder.join(&id);
        let held = {
            let mut uses = self.lock();
            if !folder.join(CONFIG).is_file() {
                return None;
            }
            uses.entry(id.clone()).or_default().loans += 1;
            Held { store: self.clone(), id: id.clone(), is_loan: true }
        };
        if let Some(note) = self.note(&id) {
            // It may make way too early otherwise.
            let _ = self.write(&id, &Note { used: now(), ..note });
        }
        Some((folder, held))
    }

    /// Gets ready for files of a model: how many bytes of each are there, `None` of one that is whole. What no loan
    /// uses makes way for them, oldest first, so that all takes at most so many bytes.
    pub(super) fn begin(
        &self,
        (borrower, mac): (&PublicKey, &str),
        model: &ModelId,
        files: &[Announced],
        most: u64,
    ) -> Result<(Place, Vec<Option<u64>>), StoreError> {
        let id = id_of(borrower, &model.digest);
        let held = {
            let mut uses = self.lock();
            let uses = uses.entry(id.clone()).or_default();
            if uses.is_given {
                return Err(StoreError::Giving);
            }
            uses.is_given = true;
            Held { store: self.clone(), id: id.clone(), is_loan: false }
        };
        let place = Place(held);
        let arrived: Vec<Option<u64>> = files.iter().map(|file| place.arrived(file)).collect();
        let left =
            |(file, arrived): (&Announced, &Option<u64>)| arrived.map_or(0, |arrived| file.bytes - arrived);
        let needed: u64 = files.iter().zip(&arrived).map(left).sum();
        let created =
            |path: PathBuf| fs::create_dir_all(&path).map_err(|source| PeerError::File { path, source });
        created(self.folder.clone())?;
        self.make_way(&place, files, needed, most)?;
        created(self.folder.join(&id))?;
        let (model, mac) = (text::line(&model.name, LONGEST_MODEL), text::name(mac));
        self.write(&id, &Note { model, borrower: *borrower, mac, used: now() })?;
        Ok((place, arrived))
    }

    /// Removes what is oldest until there is room.
    fn make_way(&self, place: &Place, files: &[Announced], needed: u64, most: u64) -> Result<(), StoreError> {
        let mut others = self.stored();
        let mut kept: u64 = others.iter().map(|stored| stored.bytes).sum();
        let wanted: u64 = files.iter().map(|file| file.bytes).sum();
        let is_own = |stored: &StoredModel| stored.id == place.0.id;
        let in_use = others.iter().filter(|stored| stored.in_use && !is_own(stored));
        if in_use.map(|stored| stored.bytes).sum::<u64>().saturating_add(wanted) > most {
            // Nothing is removed in vain.
            return Err(StoreError::Full { most, needed });
        }
        others.retain(|stored| !stored.in_use);
        loop {
            let free = free_bytes(&self.folder)?;
            let is_allowed = kept.saturating_add(needed) <= most;
            let is_room = free >= needed.saturating_add(SPARE) || needed == 0;
            if is_allowed && is_room {
                return Ok(());
            }
            // The oldest is the last of them.
            let freed = match others.pop() {
                Some(oldest) => self.remove(&oldest.id).map_or(0, |()| oldest.bytes),
                None => match place.remove_unwanted(files) {
                    0 if !is_allowed => return Err(StoreError::Full { most, needed }),
                    0 => return Err(StoreError::Disk { free, needed }),
                    freed => freed,
                },
            };
            kept = kept.saturating_sub(freed);
        }
    }

    /// What there is under a name, if that is a model's.
    fn look(&self, id: &str) -> Option<StoredModel> {
        let Note { model, borrower, mac, used } = self.note(id)?;
        let files = fs::read_dir(self.folder.join(id)).ok()?.filter_map(Result::ok);
        let (mut layers, mut bytes) = (0, 0);
        for file in files {
            bytes += file.metadata().map_or(0, |metadata| metadata.len());
            layers += u32::from(file.path().extension().is_some_and(|end| end == "safetensors"));
        }
        let in_use = self.lock().contains_key(id);
        Some(StoredModel { id: id.to_owned(), model, borrower, mac, layers, bytes, used, in_use })
    }

    fn note(&self, id: &str) -> Option<Note> {
        serde_json::from_slice(&fs::read(self.folder.join(id).join(NOTE)).ok()?).ok()
    }

    fn write(&self, id: &str, note: &Note) -> Result<(), PeerError> {
        let folder = self.folder.join(id);
        let path = folder.join(NOTE);
        let written = || -> io::Result<()> {
            let mut file = NamedTempFile::new_in(&folder)?;
            file.write_all(&serde_json::to_vec(note)?)?;
            file.persist(&path)?;
            Ok(())
        };
        written().map_err(|source| PeerError::File { path: path.clone(), source })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Uses>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Where a file is once it is whole. Its name is one of a gift.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.store.folder.join(&self.0.id).join(name)
    }

    /// How many bytes of a file are there; `None`: all, in its place.
    fn arrived(&self, file: &Announced) -> Option<u64> {
        let path = self.path(&file.name);
        let length = |path: &Path| fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
        if length(&path) == file.bytes {
            return None;
        }
        // More than the whole is another file's.
        let part = beside(&path).map_or(0, |part| length(&part));
        Some(if part > file.bytes { 0 } else { part })
    }

    /// Removes what is there of other layers of the same model, unless a loan uses it: how many bytes.
    fn remove_unwanted(&self, files: &[Announced]) -> u64 {
        let Held { store, id, .. } = &self.0;
        if store.lock().get(id).is_some_and(|uses| uses.loans > 0) {
            return 0;
        }
        let mut freed = 0;
        for entry in fs::read_dir(store.folder.join(id)).into_iter().flatten().filter_map(Result::ok) {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_wanted = files.iter().any(|file| file.name == name.trim_end_matches(".part"));
            let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            if !is_wanted && name != NOTE && fs::remove_file(entry.path()).is_ok() {
                freed += bytes;
            }
        }
        freed
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut all = self.store.lock();
        if let Some(uses) = all.get_mut(&self.id) {
            if self.is_loan {
                uses.loans = uses.loans.saturating_sub(1);
            } else {
                uses.is_given = false;
            }
            if uses.loans == 0 && !uses.is_given {
                all.remove(&self.id);
            }
        }
    }
}

fn id_of(borrower: &PublicKey, digest: &Sha256) -> String {
    format!("{borrower}-{digest}")
}

/// Bytes that are free on the disk of a folder.
fn free_bytes(folder: &Path) -> Result<u64, PeerError> {
    let failed = |error: rustix::io::Errno| PeerError::File { path: folder.to_owned(), source: error.into() };
    let disk = rustix::fs::statvfs(folder).map_err(failed)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
