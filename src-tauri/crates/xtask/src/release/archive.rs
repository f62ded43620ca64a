//! The archive that installed apps update themselves from: the same app gives the same bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
#[cfg(test)]
use std::path::PathBuf;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use crate::error::{Error, Result};

/// Writes an app with all that is in it, in the order of names, as nobody's and of one time.
pub(super) fn write(app: &Path, archive: &Path, time: u64) -> Result<()> {
    let file = File::create(archive).map_err(Error::file(archive))?;
    let packed = GzBuilder::new().write(BufWriter::new(file), Compression::best());
    let mut tar = Builder::new(packed);
    add(&mut tar, app, Path::new(app.file_name().unwrap_or_default()), time)?;
    let packed = tar.into_inner().and_then(|packed| packed.finish());
    packed
        .and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error))
        .map_err(Error::file(archive))?;
    Ok(())
}

fn add(tar: &mut Builder<impl io::Write>, from: &Path, to: &Path, time: u64) -> Result<()> {
    let facts = fs::symlink_metadata(from).map_err(Error::file(from))?;
    let mut header = Header::new_gnu();
    header.set_mtime(time);
    let runs = facts.is_dir() || facts.permissions().mode() & 0o100 != 0;
    header.set_mode(if runs { 0o755 } else { 0o644 });
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    if facts.is_symlink() {
        header.set_entry_type(EntryType::Symlink);
        let leads = fs::read_link(from).map_err(Error::file(from))?;
        return tar.append_link(&mut header, to, leads).map_err(Error::file(from));
    }
    if facts.is_file() {
        header.set_size(facts.len());
        let bytes = File::open(from).map_err(Error::file(from))?;
        return tar.append_data(&mut header, to, bytes).map_err(Error::file(from));
    }
    header.set_entry_type(EntryType::Directory);
    tar.append_data(&mut header, to.join(""), io::empty()).map_err(Error::file(from))?;
    let entries = fs::read_dir(from).map_err(Error::file(from))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>().map_err(Error::file(from))?;
    names.sort();
    names.iter().try_for_each(|name| add(tar, &from.join(name), &to.join(name), time))
}

/// Where each file of an app's archive lies in it.
#[cfg(test)]
pub(super) fn names(archive: &Path) -> Result<Vec<PathBuf>> {
    let file = File::open(archive).map_err(Error::file(archive))?;
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let entries = tar.entries().map_err(Error::file(archive))?;
    let names = entries.map(|entry| Ok(entry?.path()?.into_owned()));
    names.collect::<io::Result<_>>().map_err(Error::file(archive))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(place: &Path, mode: u32) -> PathBuf {
        let app = place.join("Foretoken.app");
        fs::create_dir_all(app.join("Contents/MacOS")).unwrap();
        fs::create_dir_all(app.join("Contents/Resources")).unwrap();
        let program = app.join("Contents/MacOS/foretoken");
        fs::write(&program, "program").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        // Longer than the names that the format has a place for.
        fs::write(app.join("Contents/Resources").join("long".repeat(40)), "words").unwrap();
        std::os::unix::fs::symlink("../MacOS", app.join("Contents/Resources/link")).unwrap();
        app
    }

    #[test]
    fn the_same_app_gives_the_same_archive_whoever_packs_it_and_when() {
        let places = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let archives = [(0o755, 0), (0o700, 1)].map(|(mode, place)| {
            let place = places[place as usize].path();
            let archive = place.join("a.tar.gz");
            write(&app(place, mode), &archive, 1_700_000_000).unwrap();
            archive
        });
        let bytes = archives.each_ref().map(|archive| fs::read(archive).unwrap());
        assert_eq!(bytes[0], bytes[1]);
        let unpacked = places[0].path().join("unpacked");
        let tar = flate2::read::GzDecoder::new(&bytes[0][..]);
        tar::Archive::new(tar).unpack(&unpacked).unwrap();
        let contents = unpacked.join("Foretoken.app/Contents");
        let program = contents.join("MacOS/foretoken");
        assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_link(contents.join("Resources/link")).unwrap(), Path::new("../MacOS"));
        assert_eq!(fs::read(contents.join("Resources").join("long".repeat(40))).unwrap(), b"words");
        let names = names(&archives[0]).unwrap();
        assert!(names.is_sorted() && names[0] == Path::new("Foretoken.app/"), "{names:?}");
    }
}
