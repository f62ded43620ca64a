//! The files of a folder: which there are, whose they are, and which go where there is too much.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::file::{self, Body, Header, ReadError};
use crate::key::Key;
use crate::writer::Writer;

/// Whom a state was read for, a chat say.
pub type Owner = u64;

/// States that an owner has at most of a model: the newest. Older ones stand inside of a chat, where it rarely goes on.
const MOST_STATES: usize = 3;
/// A file that is older is being written by nobody.
const WRITING: Duration = Duration::from_secs(120);
const FORBID_TRIES: usize = 10;
/// Tells programs that make backups to leave the folder out; see bford.info/cachedir.
const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55\n";

/// How much the files may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    /// The most bytes.
    pub bytes: u64,
    /// The largest share of what is free on the disk, what the files take counted as free.
    pub share_of_free: f64,
}

impl Default for Quota {
    fn default() -> Self {
        Self { bytes: 10_000_000_000, share_of_free: 0.1 }
    }
}

/// The files of a folder. Another process may remove some at any time; they are then as good as never written.
#[derive(Debug)]
pub struct PrefixFiles {
    folder: PathBuf,
    quota: Quota,
    stretches: BTreeMap<Key, Stretch>,
    writer: Writer,
}

#[derive(Debug)]
struct Stretch {
    parent: Key,
    begin: usize,
    tokens: Vec<u32>,
    bytes: u64,
    states: Vec<State>,
}

#[derive(Debug)]
struct State {
    owner: Owner,
    bytes: u64,
    /// When it was written or last found.
    used: SystemTime,
}

/// A place from which a prompt can go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Tokens before it.
    pub len: usize,
    /// The stretches up to it.
    pub path: Vec<Key>,
}

impl PrefixFiles {
    /// Makes a folder for files. Without it nothing is ever written: whoever removes it takes back that files are kept.
    pub fn allow(folder: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        File::create(folder.join("CACHEDIR.TAG"))?.write_all(CACHE_TAG)
    }

    /// Removes a folder with all files, and whatever else is in it.
    pub fn forbid(folder: &Path) -> io::Result<()> {
        // Something may be written meanwhile.
        for _ in 0..FORBID_TRIES {
            match fs::remove_dir_all(folder) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                removed => return removed,
            }
        }
        fs::remove_dir_all(folder)
    }

    /// The files in a folder that there is. What is damaged, unfinished or leads nowhere is removed, unless it is so
    /// new that another process may just be writing it.
    pub fn open(folder: &Path, quota: Quota) -> io::Result<Self> {
        let writer = Writer::start()?;
        let mut files = Self { folder: folder.to_owned(), quota, stretches: BTreeMap::new(), writer };
        let mut states = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            match Name::parse(&path) {
                Some(Name::Stretch(key)) => match (Header::read(&path), fs::metadata(&path)) {
                    (Ok(Header { parent, begin, tokens, .. }), Ok(metadata))
                        if parent.then(&tokens) == key =>
                    {
                        let bytes = metadata.len();
                        files
                            .stretches
                            .insert(key, Stretch { parent, begin, tokens, bytes, states: Vec::new() });
                    }
                    _ => file::remove(&path),
                },
                Some(Name::State(key, owner)) => states.push((key, owner, path)),
                Some(Name::Unfinished) if is_old(&path) => file::remove(&path),
                Some(Name::Unfinished) | None => {}
            }
        }
        for (key, owner, path) in states {
            let metadata =
                fs::metadata(&path).and_then(|metadata| Ok((metadata.len(), metadata.modified()?)));
            match (files.stretches.get_mut(&key), metadata) {
                (Some(stretch), Ok((bytes, used))) => stretch.states.push(State { owner, bytes, used }),
                _ => file::remove(&path),
            }
        }
        files.prune();
        files.flush();
        Ok(files)
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        let states = |stretch: &Stretch| stretch.states.iter().map(|state| state.bytes).sum::<u64>();
        self.stretches.values().map(|stretch| stretch.bytes + states(stretch)).sum()
    }

    /// The longest beginning of a prompt behind which there is a state. At least one token of the prompt is left.
    pub fn longest(&self, root: &Key, prompt: &[u32]) -> Option<Found> {
        let prompt = &prompt[..prompt.len().checked_sub(1)?];
        let mut best: Option<Found> = None;
        let mut open = vec![Found { len: 0, path: Vec::new() }];
        while let Some(place) = open.pop() {
            let end = place.path.last().unwrap_or(root);
            for (key, next) in self.stretches.iter().filter(|(_, next)| next.parent == *end) {
                if prompt[place.len..].starts_with(&next.tokens) {
                    let mut path = place.path.clone();
                    path.push(key.clone());
                    open.push(Found { len: place.len + next.tokens.len(), path });
                }
            }
            let has_state = place.path.last().is_some_and(|key| !self.stretches[key].states.is_empty());
            if has_state && best.as_ref().is_none_or(|best| best.len < place.len) {
                best = Some(place);
            }
        }
        best
    }

    /// The tokens of a stretch.
    pub fn tokens(&self, key: &Key) -> Option<&[u32]> {
        self.stretches.get(key).map(|stretch| stretch.tokens.as_slice())
    }

    /// Reads a stretch. If it cannot be read, it is removed, with what stands on it.
    pub fn read_stretch(&mut self, key: &Key) -> Result<Body, ReadError> {
        self.writer.flush();
        file::read(&self.path(Name::Stretch(key.clone()))).inspect_err(|_| {
            self.remove_stretch(key);
            self.prune();
        })
    }

    /// Reads a state at the end of a stretch. If it cannot be read, it is removed.
    pub fn read_state(&mut self, key: &Key) -> Result<Body, ReadError> {
        self.writer.flush();
        let missing = || ReadError::Io(io::ErrorKind::NotFound.into());
        let state = self.stretches.get_mut(key).and_then(|stretch| stretch.states.last_mut());
        let state = state.ok_or_else(missing)?;
        let owner = state.owner;
        state.used = SystemTime::now();
        let (used, path) = (state.used, self.path(Name::State(key.clone(), owner)));
        let body = file::read(&path).inspect_err(|_| self.remove_state(key, owner))?;
        let touched = File::options().write(true).open(path).and_then(|file| file.set_modified(used));
        if let Err(error) = touched {
            tracing::debug!("a state's time stays as it was: {error}");
        }
        Ok(body)
    }

    /// Whether a stretch is there; one that is being written may not be yet.
    pub fn has_stretch(&self, key: &Key) -> bool {
        self.stretches.contains_key(key) && self.path(Name::Stretch(key.clone())).exists()
    }

    /// Whether there is a state of this owner at the end of a stretch; one that is being written may not be yet.
    pub fn has_state(&self, key: &Key, owner: Owner) -> bool {
        let states = self.stretches.get(key).map(|stretch| stretch.states.as_slice()).unwrap_or_default();
        states.iter().any(|state| state.owner == owner) && self.path(Name::State(key.clone(), owner)).exists()
    }

    /// The most bytes that the files may have now.
    pub fn most_bytes(&self) -> u64 {
        let of_free =
            |free: u64| (free.saturating_add(self.bytes()) as f64 * self.quota.share_of_free) as u64;
        let free = rustix::fs::statvfs(&self.folder).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        free.map_or(self.quota.bytes, |free| self.quota.bytes.min(of_free(free)))
    }

    fn path(&self, name: Name) -> PathBuf {
        self.folder.join(name.text())
    }

    /// Writes the stretch of these tokens behind `parent`; a state must follow, or it goes again.
    pub fn add_stretch(&mut self, parent: &Key, tokens: &[u32], body: Body) {
        let key = parent.then(tokens);
        let begin =
            self.stretches.get(parent).map_or(0, |parent| parent.begin.saturating_add(parent.tokens.len()));
        let header = Header::new(parent.clone(), begin, tokens.to_vec(), &body);
        let bytes = body.bytes.len() as u64;
        self.writer.write(self.path(Name::Stretch(key.clone())), header, body.bytes);
        let states = self.stretches.remove(&key).map(|stretch| stretch.states).unwrap_or_default();
        let (parent, tokens) = (parent.clone(), tokens.to_vec());
        self.stretches.insert(key, Stretch { parent, begin, tokens, bytes, states });
    }

    /// Writes a state at the end of a stretch, in place of the oldest where its owner has many, and then removes what
    /// is too much.
    pub fn add_state(&mut self, key: &Key, owner: Owner, body: Body) {
        let Some(stretch) = self.stretches.get_mut(key) else { return };
        let end = stretch.begin.saturating_add(stretch.tokens.len());
        let header = Header::new(key.clone(), end, Vec::new(), &body);
        let (bytes, used) = (body.bytes.len() as u64, SystemTime::now());
        stretch.states.retain(|state| state.owner != owner);
        stretch.states.push(State { owner, bytes, used });
        self.writer.write(self.path(Name::State(key.clone(), owner)), header, body.bytes);
        let root = self.root_of(key).clone();
        let own: Vec<(SystemTime, Key)> = self
            .states()
            .filter(|(key, state)| state.owner == owner && *self.root_of(key) == root)
            .map(|(key, state)| (state.used, key.clone()))
            .collect();
        if own.len() > MOST_STATES
            && let Some((_, oldest)) = own.into_iter().min()
        {
            self.remove_state(&oldest, owner);
        }
        self.shrink();
    }

    /// Whether files are still being written.
    pub fn is_writing(&mut self) -> bool {
        self.writer.is_busy()
    }

    /// Waits until all files are written.
    pub fn flush(&mut self) {
        self.writer.flush();
    }

    /// Removes the states of all other owners.
    pub fn retain_owners(&mut self, keep: impl Fn(Owner) -> bool) {
        self.remove_states(|state| !keep(state.owner));
    }

    /// Removes each stretch that these tokens begin with, and all that stands on it.
    pub fn forget(&mut self, root: &Key, tokens: &[u32]) {
        let begins = |stretch: &Stretch| stretch.parent == *root && tokens.starts_with(&stretch.tokens);
        let first = self.stretches.iter().filter(|(_, stretch)| begins(stretch)).map(|(key, _)| key.clone());
        first.collect::<Vec<_>>().iter().for_each(|key| self.remove_stretch(key));
        self.prune();
    }

    /// Removes the oldest states until what is left is within the quota.
    fn shrink(&mut self) {
        let most = self.most_bytes();
        while self.bytes() > most
            && let Some((key, owner)) = self
                .states()
                .min_by_key(|(_, state)| state.used)
                .map(|(key, state)| (key.clone(), state.owner))
        {
            self.remove_state(&key, owner);
        }
    }

    fn states(&self) -> impl Iterator<Item = (&Key, &State)> {
        self.stretches.iter().flat_map(|(key, stretch)| stretch.states.iter().map(move |state| (key, state)))
    }

    /// The place before the first token of a stretch's model.
    fn root_of<'a>(&'a self, key: &'a Key) -> &'a Key {
        let before = |key: &&'a Key| self.stretches.get(*key).map(|stretch| &stretch.parent);
        std::iter::successors(Some(key), before).last().unwrap_or(key)
    }

    fn remove_state(&mut self, key: &Key, owner: Owner) {
        if let Some(stretch) = self.stretches.get_mut(key) {
            stretch.states.retain(|state| state.owner != owner);
        }
        self.writer.remove(self.path(Name::State(key.clone(), owner)));
        self.prune();
    }

    fn remove_states(&mut self, which: impl Fn(&State) -> bool) {
        let gone: Vec<(Key, Owner)> = self
            .states()
            .filter(|(_, state)| which(state))
            .map(|(key, state)| (key.clone(), state.owner))
            .collect();
        for (key, owner) in gone {
            self.remove_state(&key, owner);
        }
    }

    /// Removes stretches that no state needs, and those that stand on nothing.
    fn prune(&mut self) {
        loop {
            let parents: BTreeSet<&Key> = self.stretches.values().map(|stretch| &stretch.parent).collect();
            let is_spare = |(key, stretch): &(&Key, &Stretch)| {
                let stands = stretch.begin == 0 || self.stretches.contains_key(&stretch.parent);
                !stands || (stretch.states.is_empty() && !parents.contains(key))
            };
            let spare: Vec<Key> =
                self.stretches.iter().filter(is_spare).map(|(key, _)| key.clone()).collect();
            if spare.is_empty() {
                return;
            }
            spare.iter().for_each(|key| self.remove_stretch(key));
        }
    }

    fn remove_stretch(&mut self, key: &Key) {
        for State { owner, .. } in
            self.stretches.remove(key).map(|stretch| stretch.states).unwrap_or_default()
        {
            self.writer.remove(self.path(Name::State(key.clone(), owner)));
        }
        self.writer.remove(self.path(Name::Stretch(key.clone())));
    }
}

/// Whether a file was written some time ago.
fn is_old(path: &Path) -> bool {
    let written = fs::metadata(path).and_then(|metadata| metadata.modified());
    written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > WRITING))
}

/// What a file's name says.
enum Name {
    Stretch(Key),
    State(Key, Owner),
    Unfinished,
}

impl Name {
    fn parse(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let parts: Vec<&str> = name.split('.').collect();
        match parts[..] {
            [key, "kv"] => Some(Self::Stretch(Key::parse(key)?)),
            [key, owner, "state"] => Some(Self::State(Key::parse(key)?, owner.parse().ok()?)),
            [key, .., "new"] => Key::parse(key).map(|_| Self::Unfinished),
            _ => None,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Stretch(key) => format!("{key}.kv"),
            Self::State(key, owner) => format!("{key}.{owner}.state"),
            Self::Unfinished => String::new(),
        }
    }
}
