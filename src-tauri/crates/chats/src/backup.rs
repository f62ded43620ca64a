//! Copies of all chats, made while they are in use, and the way back to one when the file is damaged or of a newer
//! version of the app.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foretoken_protocol::ChatsBackup;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use tempfile::TempPath;

use crate::error::Fault;
use crate::lock::{Lock, beside};
use crate::pictures::{self, PictureFiles};
use crate::sql::first;
use crate::{ChatsError, Reader, schema};

/// How the backups are named, the newest first.
const ENDINGS: [&str; 2] = ["backup-1", "backup-2"];
/// What follows the name of the database in that of the folder with the pictures of all backups.
const PICTURES: &str = "backup-pictures";
/// What follows the name of any other copy, or of chats that were set aside, in that of the folder with its pictures.
const OWN_PICTURES: &str = "pictures";
/// What follows the name of the database in that of a copy that is not whole yet.
const PART: &str = "part-";

/// What [`restore_backup`] has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The backup that took the place of the chats; it is still there too.
    pub backup: PathBuf,
    /// Where the file is that was there before, with its write-ahead log and a folder of its pictures beside it: that
    /// name with `.pictures` after it. `None` if there was none.
    pub set_aside: Option<PathBuf>,
}

impl Reader {
    /// Copies all chats beside their file, for the case that it is damaged, and keeps the copy before. Takes about as
    /// long as reading the file.
    ///
    /// The copy is checked before it counts: a damaged one takes the place of no other. It has links to the pictures of
    /// its messages, so that they are there as long as it is.
    pub fn back_up(&self) -> Result<PathBuf, ChatsError> {
        let [newest, older] = ENDINGS.map(|ending| beside(&self.path, ending));
        let copy = copy_unnamed(&self.db, &self.path).map_err(|fault| fault.at(&self.path))?;
        give_pictures(&self.path, &copy, &pictures_beside(&self.path), &self.picture_files());
        if newest.exists() {
            fs::rename(&newest, &older).map_err(|error| ChatsError::io(&newest, error))?;
        }
        copy.persist(&newest).map_err(|error| ChatsError::io(&newest, error.error))?;
        // Where one of them cannot be read, all pictures stay.
        if let (Ok(named), Ok(named_by_older)) = (pictures_of(&newest), pictures_of(&older)) {
            pictures_beside(&self.path).remove_others(&(&named | &named_by_older), SystemTime::now());
        }
        Ok(newest)
    }
}

/// The backups of the chats at `path`, the newest first.
pub fn backups(path: &Path) -> Vec<ChatsBackup> {
    ENDINGS.iter().filter_map(|ending| about(&beside(path, ending))).collect()
}

/// The copies that can take the place of the chats at `path`, the best first: the backups of damaged ones; of chats
/// that a newer version of the app has written, what it copied before it changed the layout, and backups from before
/// that.
pub fn restorable(path: &Path) -> Vec<ChatsBackup> {
    if !is_newer(path) {
        return backups(path);
    }
    let backups = ENDINGS.iter().map(|ending| beside(path, ending));
    let before_changes = (1..=schema::MIGRATIONS.len()).map(|layout| of_layout(path, layout));
    let copies = backups.chain(before_changes).filter(|copy| is_known(copy));
    let mut found: Vec<ChatsBackup> = copies.filter_map(|copy| about(&copy)).collect();
    found.sort_by_key(|copy| Reverse(copy.made_at));
    found
}

fn about(copy: &Path) -> Option<ChatsBackup> {
    let about = fs::metadata(copy).ok()?;
    let since = about.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(ChatsBackup {
        path: copy.to_string_lossy().into_owned(),
        made_at: u64::try_from(since.as_millis()).ok()?,
        bytes: about.len(),
    })
}

/// Whether a database has a layout that is known here.
fn is_known(database: &Path) -> bool {
    open_untouched(database).is_ok_and(|db| schema::layout(&db, database).is_ok())
}

/// Puts the newest sound one of [`restorable`] in the place of the chats at `path`, which nobody may have open. The
/// file that was there is moved aside, never removed, and links to all pictures with it: what the backup does not name
/// is removed from the folder of the pictures later.
pub fn restore_backup(path: &Path) -> Result<Restored, ChatsError> {
    let _lock = Lock::take(path)?;
    let sound = restorable(path).into_iter().map(|copy| PathBuf::from(copy.path)).find_map(|backup| {
        let copy = sound_copy(&backup, path).inspect_err(
            |error| tracing::warn!(backup = %backup.display(), %error, "left out a backup that is not sound"),
        );
        Some((copy.ok()?, backup))
    });
    let (copy, backup) = sound.ok_or_else(|| ChatsError::NoBackup { path: path.to_owned() })?;
    for from in [pictures_beside(path), own_pictures(&backup)] {
        give_pictures(path, &copy, &PictureFiles::beside(path), &from);
    }
    let set_aside =
        set_aside(path, &PictureFiles::beside(path)).map_err(|error| ChatsError::io(path, error))?;
    copy.persist(path).map_err(|error| ChatsError::io(path, error.error))?;
    Ok(Restored { backup, set_aside })
}

/// The pictures of the backups of the database at `path`.
fn pictures_beside(path: &Path) -> PictureFiles {
    PictureFiles::at(beside(path, PICTURES))
}

/// The pictures of a copy that was made before the layout changed, or of chats that were set aside.
fn own_pictures(copy: &Path) -> PictureFiles {
    PictureFiles::at(beside(copy, OWN_PICTURES))
}

/// Where the database at `path` is kept as it was in an older layout.
fn of_layout(path: &Path, layout: usize) -> PathBuf {
    beside(path, &format!("layout-{layout}"))
}

/// Gives a folder the pictures that a copy of the database at `path` names, out of another, before that copy counts.
/// What cannot be given takes nothing from the texts.
fn give_pictures(path: &Path, copy: &Path, to: &PictureFiles, from: &PictureFiles) {
    let named = pictures_of(copy).map_err(|fault| fault.at(copy));
    let given =
        named.and_then(|named| to.take_missing(&named, from).map_err(|error| ChatsError::io(path, error)));
    if let Err(error) = given {
        tracing::warn!("pictures may be missing: {error}");
    }
}

/// The hashes of the pictures that a copy of a database names; none where its layout is older than pictures.
fn pictures_of(copy: &Path) -> Result<HashSet<String>, Fault> {
    let db = open_untouched(copy)?;
    let table = "SELECT 1 FROM sqlite_schema WHERE name = 'picture'";
    match first(&db, table, [], |_| Ok(()))? {
        Some(()) => Ok(pictures::hashes(&db)?),
        None => Ok(HashSet::new()),
    }
}

/// Removes what copies of the database at `path` have left that were interrupted. Nobody may be making one.
pub(crate) fn remove_leftovers(path: &Path) {
    let prefix = part_prefix(path);
    let is_part = |name: &OsStr| name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten().filter(|entry| is_part(&entry.file_name())) {
        let left = entry.path();
        match fs::remove_file(&left) {
            Ok(()) => tracing::info!("removed {}, which an interrupted backup has left", left.display()),
            Err(error) => tracing::warn!("{} cannot be removed: {error}", left.display()),
        }
    }
}

fn part_prefix(path: &Path) -> OsString {
    beside(path, PART).file_name().unwrap_or_default().to_owned()
}

/// Keeps the database at `path` as it is in this layout, with links to its pictures. The copy that was there before is
/// replaced at once and only by a whole and sound one.
pub(crate) fn keep_layout(db: &Connection, path: &Path, layout: usize) -> Result<(), Fault> {
    let to = of_layout(path, layout);
    let copy = copy_unnamed(db, path)?;
    give_pictures(path, &copy, &own_pictures(&to), &PictureFiles::beside(path));
    copy.persist(&to).map_err(|error| ChatsError::io(&to, error.error))?;
    // Those of the copy that was there before.
    match pictures_of(&to) {
        Ok(named) => own_pictures(&to).remove_others(&named, SystemTime::now()),
        Err(fault) => tracing::warn!("pictures of an older copy may be left: {}", fault.at(&to)),
    }
    Ok(())
}

/// Copies the database into a file beside `place` that vanishes unless it is given a name.
fn copy_unnamed(db: &Connection, place: &Path) -> Result<TempPath, Fault> {
    let part = tempfile::Builder::new()
        .prefix(&part_prefix(place))
        .tempfile_in(place.parent().unwrap_or(Path::new(".")))
        .map_err(|error| ChatsError::io(place, error))?
        .into_temp_path();
    let mut to = Connection::open(&part).map_err(|error| ChatsError::sqlite(&part, error))?;
    // The copy counts when it is whole and on the disk, for which one wait at the end is enough.
    to.pragma_update(None, "synchronous", "OFF")?;
    // All pages in one go: between two steps somebody could write, which would begin the copy anew.
    if Backup::new(db, &mut to)?.step(-1)? != StepResult::Done {
        return Err(ChatsError::Busy { path: place.to_owned() }.into());
    }
    // A file that stands alone, without a write-ahead log beside it.
    to.pragma_update(None, "journal_mode", "DELETE")?;
    schema::check(&to, place)?;
    to.close().map_err(|(_, error)| error)?;
    File::open(&part).and_then(|file| file.sync_all()).map_err(|error| ChatsError::io(&part, error))?;
    Ok(part)
}

/// A copy of a backup, if it is sound and of a layout that is known.
fn sound_copy(backup: &Path, place: &Path) -> Result<TempPath, ChatsError> {
    let sqlite = |error| ChatsError::sqlite(backup, error);
    let db = Connection::open_with_flags(backup, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(sqlite)?;
    schema::layout(&db, backup)?;
    schema::check(&db, backup)?;
    copy_unnamed(&db, place).map_err(|fault| fault.at(backup))
}

/// Keeps a database that cannot be read here, its write-ahead log and its pictures under a free name, which it returns
/// if there was a database. Which pictures it names nobody knows, so it gets all. The log is moved, and first: a
/// database without its log is only older, but a log that stayed beside the backup would damage that. The database is
/// linked or copied, so that it also stays in its place until the backup replaces it: a crash in between does not leave
/// the app without chats.
fn set_aside(path: &Path, pictures: &PictureFiles) -> std::io::Result<Option<PathBuf>> {
    let with = |path: &Path, ending: &str| {
        let mut name = OsString::from(path);
        name.push(ending);
        PathBuf::from(name)
    };
    let parts = ["-wal", "-shm", ""];
    let why = if is_newer(path) { "newer" } else { "damaged" };
    let aside = (1..)
        .map(|number: u32| beside(path, &format!("{why}-{number}")))
        .find(|aside| parts.iter().all(|part| !with(aside, part).exists()));
    let aside = aside.ok_or_else(|| std::io::Error::other("there is no free name beside it"))?;
    // First of all, and all of them: whatever the backup does not name is removed from the folder of the chats later.
    if path.exists() {
        own_pictures(&aside).take_all(pictures)?;
    }
    let mut kept = None;
    for part in parts {
        let (from, to) = (with(path, part), with(&aside, part));
        // Not every file system has links.
        let link = || fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(|_| ()));
        match if part.is_empty() { link() } else { fs::rename(&from, &to) } {
            Ok(()) if part.is_empty() => kept = Some(aside.clone()),
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(kept)
}

/// Whether a database has a layout that only a newer version of the app knows.
fn is_newer(database: &Path) -> bool {
    open_untouched(database)
        .is_ok_and(|db| matches!(schema::layout(&db, database), Err(ChatsError::Newer { .. })))
}

/// Opens a database to read what it is, and leaves no file beside it.
fn open_untouched(database: &Path) -> rusqlite::Result<Connection> {
    let mut log = OsString::from(database);
    log.push("-wal");
    if Path::new(&log).exists() {
        return Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY);
    }
    // Even to read, SQLite makes the log that is not there, unless the file is said to be changed by nobody.
    let name = database.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{name}?immutable=1"), flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_are_not_set_aside_without_their_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats.sqlite");
        let log = folder.path().join("chats.sqlite-wal");
        let hash = "ab".repeat(32);
        let shard = folder.path().join("pictures/ab");
        fs::create_dir_all(&shard).unwrap();
        fs::write(shard.join(&hash), "a picture").unwrap();
        fs::write(&path, "damaged").unwrap();
        fs::write(&log, "a log").unwrap();
        // Where the links would go is something else.
        fs::write(beside(&beside(&path, "damaged-1"), OWN_PICTURES), "in the way").unwrap();
        let pictures = PictureFiles::beside(&path);
        set_aside(&path, &pictures).unwrap_err();
        assert!(path.exists() && log.exists() && pictures.original(&hash).is_some(), "nothing was moved");
    }

    #[test]
    fn what_is_set_aside_stays_in_its_place_until_another_takes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats.sqlite");
        let log = folder.path().join("chats.sqlite-wal");
        let pictures = PictureFiles::beside(&path);
        assert_eq!(set_aside(&path, &pictures).unwrap(), None, "there may be none");
        fs::write(&path, "damaged").unwrap();
        fs::write(&log, "a log").unwrap();
        let aside = set_aside(&path, &pictures).unwrap().unwrap();
        assert_eq!(fs::read(&aside).unwrap(), b"damaged");
        assert!(path.exists() && !log.exists());
        fs::write(folder.path().join("copy"), "sound").unwrap();
        fs::rename(folder.path().join("copy"), &path).unwrap();
        assert_eq!(fs::read(&aside).unwrap(), b"damaged");
    }
}
