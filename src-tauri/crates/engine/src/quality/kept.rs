//! What a conversion has measured before it begins to write, kept in a file: a mark, what was measured on what, and
//! then a line for each batch of texts. One that was interrupted goes on behind the last whole line; two cannot use it
//! at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::QualityError;
use crate::convert::lock;
use crate::error::EngineError;

/// The first line of every such file, by which it is told from others of that name.
const MARK: &str = r#"{"tool":"foretoken-engine","file":"measured for a conversion"}"#;

/// The file.
#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    file: File,
    /// Whole lines behind the first two.
    lines: Vec<String>,
    /// How many of them were asked for.
    read: usize,
}

impl Kept {
    /// Opens the file, or begins it anew where it is about something else.
    pub(super) fn open(file: &Path, about: &Value) -> Result<Self, QualityError> {
        let absolute = std::path::absolute(file);
        let path = absolute.map_err(|source| QualityError::Kept { path: file.to_owned(), source })?;
        let failed = |source| QualityError::Kept { path: path.clone(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(failed)?;
        lock(&file).map_err(|error| match error {
            TryLockError::WouldBlock => QualityError::Busy { path: path.clone() },
            TryLockError::Error(error) => failed(error),
        })?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines();
        match lines.next() {
            // One that broke off in its mark holds nothing.
            None if MARK.starts_with(text.trim_end()) => {}
            Some(MARK) => {}
            _ => return Err(QualityError::InTheWay { path }),
        }
        let about = about.to_string();
        let mut kept: Vec<String> = match lines.next() {
            Some(line) if line == about => lines.map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        // What is no JSON was written while the machine went down.
        let end = kept.iter().position(|line| serde_json::from_str::<Value>(line).is_err());
        kept.truncate(end.unwrap_or(kept.len()));
        let begin = [&[MARK.to_owned(), about], kept.as_slice()].concat().join("\n") + "\n";
        let begun = match text.starts_with(&begin) {
            true => file.set_len(begin.len() as u64),
            false => file.set_len(0).and_then(|()| file.write_all(begin.as_bytes())),
        };
        begun.and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(Self { path, file, lines: kept, read: 0 })
    }

    /// The next line; what `measure` finds where there is none, which is then added.
    pub(super) fn next<T: Serialize + DeserializeOwned>(
        &mut self,
        measure: impl FnOnce() -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let known = self.lines.get(self.read).and_then(|line| serde_json::from_str(line).ok());
        self.read += 1;
        match known {
            Some(known) => Ok(known),
            None => Ok(self.add(&measure()?)?),
        }
    }

    /// A line of which this holds.
    pub(super) fn find<T: DeserializeOwned>(&self, is: impl Fn(&T) -> bool) -> Option<T> {
        self.lines.iter().filter_map(|line| serde_json::from_str(line).ok()).find(is)
    }

    /// Adds a line, which is on the disk then, and returns it as it will be read: a number may lose its last bit, and
    /// whoever goes on must not come to something else than who never stopped.
    pub(super) fn add<T: Serialize + DeserializeOwned>(&mut self, value: &T) -> Result<T, QualityError> {
        let failed = |source| QualityError::Kept { path: self.path.clone(), source };
        let line = serde_json::to_string(value).map_err(|error| failed(error.into()))?;
        // What is not finite is written as nothing, and would not be read.
        let read = serde_json::from_str(&line).map_err(|_| QualityError::NotFinite)?;
        writeln!(self.file, "{line}").and_then(|()| self.file.sync_data()).map_err(failed)?;
        self.lines.push(line);
        Ok(read)
    }

    /// Removes the file, once the result says all that it has come to.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "what a finished conversion has measured stays");
        }
    }
}

/// The path of what belongs to a result: its own with something behind the name.
pub(super) fn beside(out: &Path, what: &str) -> Result<PathBuf, QualityError> {
    let absolute = std::path::absolute(out);
    let out = absolute.map_err(|source| QualityError::Kept { path: out.to_owned(), source })?;
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(what);
    Ok(out.with_file_name(name))
}

/// Puts these bytes in the place of a file. They are on the disk then.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut next = path.as_os_str().to_owned();
    next.push(".next");
    let mut file = File::create(&next)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&next, path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_measured_is_there_again_up_to_wherever_it_broke_off() {
        let dir = tempfile::tempdir().unwrap();
        let (out, about) = (dir.path().join("new/out.measured"), json!({ "texts": 7 }));
        let mut kept = Kept::open(&out, &about).unwrap();
        let values = [0.1 + 0.2, 1e-300, 7.0];
        let added = values.map(|value| kept.add(&value).unwrap());
        let path = kept.path.clone();
        let whole = fs::read(&path).unwrap();
        drop(kept);
        let measured = |kept: &mut Kept| kept.next(|| Err::<f64, _>(EngineError::Cancelled)).ok();
        for end in 0..=whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let mut again = Kept::open(&out, &about).unwrap();
            let known: Vec<f64> = (0..3).map_while(|_| measured(&mut again)).collect();
            assert_eq!(known, added[..again.lines.len()]);
            assert!(end < whole.len() || known.len() == 3);
            if end > whole.len() / 2 {
                assert!(whole.starts_with(&fs::read(&path).unwrap()), "what was measured stays there");
            }
        }
        assert_eq!(measured(&mut Kept::open(&out, &json!({ "texts": 8 })).unwrap()), None);
        let kept = Kept::open(&out, &about).unwrap();
        let error = Kept::open(&out, &about).unwrap_err();
        assert!(matches!(error, QualityError::Busy { .. }), "{error}");
        kept.remove();
        assert!(!path.exists());
        fs::write(&path, "my own notes\n").unwrap();
        let error = Kept::open(&out, &about).unwrap_err();
        assert!(matches!(error, QualityError::InTheWay { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "my own notes\n");
    }
}
