//! The journal of a conversion, `journal.jsonl` in its work folder: a mark, the fingerprint of the conversion, and a
//! line of JSON for each tensor of the source whose converted parts are on the disk, with their CRC-32 checksums. An
//! interrupted conversion that is started again with the same fingerprint skips these tensors.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ConvertError;

/// Its name in the work folder.
pub(super) const JOURNAL: &str = "journal.jsonl";
/// The first line of every journal, by which it is told from other files of that name.
const MARK: &[u8] = b"{\"tool\":\"foretoken-engine\",\"file\":\"conversion journal\"}\n";

/// Whose a file with the name of a journal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A journal.
    Whole,
    /// Empty, or a journal that broke off in its first line.
    Begun,
    /// Another program's.
    Foreign,
}

/// What is finished. After the mark a line tells what is converted to what; each further line names a tensor of the
/// source whose bytes in the result are on the disk, with their checksums. A line that broke off counts as not written.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    done: HashMap<String, Vec<u32>>,
    /// Finished, but not yet known to be on the disk.
    pending: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    tensor: String,
    crc32: Vec<u32>,
}

impl Mark {
    /// Reads the first line of a file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let mut start = Vec::new();
        let mut file = file;
        file.seek(SeekFrom::Start(0))?;
        file.take(MARK.len() as u64).read_to_end(&mut start)?;
        Ok(match MARK.starts_with(&start) {
            true if start.len() == MARK.len() => Self::Whole,
            true => Self::Begun,
            false => Self::Foreign,
        })
    }
}

impl Journal {
    /// Goes on with a journal, or starts it anew if it is about another conversion. Also whether it goes on. The file
    /// must not be foreign. `clear` removes what another conversion left, before anything of this one is noted.
    pub(super) fn open(
        file: File,
        path: &Path,
        fingerprint: &Value,
        clear: impl FnOnce() -> Result<(), ConvertError>,
    ) -> Result<(Self, bool), ConvertError> {
        let mut journal = Self { file, path: path.to_owned(), done: HashMap::new(), pending: Vec::new() };
        let mut bytes = Vec::new();
        let read = journal.file.seek(SeekFrom::Start(0)).and_then(|_| journal.file.read_to_end(&mut bytes));
        read.map_err(ConvertError::write(path))?;
        let after_mark = bytes.strip_prefix(MARK).unwrap_or_default();
        let mut lines =
            after_mark.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let first = lines
            .next()
            .filter(|line| serde_json::from_slice::<Value>(line).ok().as_ref() == Some(fingerprint));
        let Some(first) = first else {
            journal.cut_to_mark()?;
            clear()?;
            journal.rewrite(fingerprint)?;
            return Ok((journal, false));
        };
        let mut whole = (MARK.len() + first.len()) as u64;
        for line in lines {
            let Ok(entry) = serde_json::from_slice::<Entry>(line) else { break };
            whole += line.len() as u64;
            journal.done.insert(entry.tensor, entry.crc32);
        }
        journal.cut(whole)?;
        Ok((journal, true))
    }

    /// The checksums of a finished tensor's parts.
    pub(super) fn sums(&self, tensor: &str) -> Option<&[u32]> {
        self.done.get(tensor).map(Vec::as_slice)
    }

    /// Notes a tensor whose parts are written.
    pub(super) fn add(&mut self, tensor: &str, crc32: Vec<u32>) {
        self.pending.push(Entry { tensor: tensor.to_owned(), crc32 });
    }

    /// Writes what was added since the last time. The parts must be on the disk before.
    pub(super) fn commit(&mut self) -> Result<(), ConvertError> {
        let entries = std::mem::take(&mut self.pending);
        self.append(&entries)?;
        self.done.extend(entries.into_iter().map(|entry| (entry.tensor, entry.crc32)));
        Ok(())
    }

    /// Strikes tensors out, so that the next start converts them again.
    pub(super) fn forget(&mut self, tensors: &[&str], fingerprint: &Value) -> Result<(), ConvertError> {
        self.done.retain(|tensor, _| !tensors.contains(&tensor.as_str()));
        self.rewrite(fingerprint)
    }

    fn rewrite(&mut self, fingerprint: &Value) -> Result<(), ConvertError> {
        self.cut_to_mark()?;
        writeln!(self.file, "{fingerprint}").map_err(ConvertError::write(&self.path))?;
        let entries: Vec<Entry> = self
            .done
            .iter()
            .map(|(tensor, crc32)| Entry { tensor: tensor.clone(), crc32: crc32.clone() })
            .collect();
        self.append(&entries)
    }

    /// Leaves nothing but the mark. One that is there stays, so that the folder never looks like somebody else's.
    fn cut_to_mark(&mut self) -> Result<(), ConvertError> {
        if Mark::of(&self.file).map_err(ConvertError::write(&self.path))? != Mark::Whole {
            self.cut(0)?;
            self.append_bytes(MARK)?;
        }
        self.cut(MARK.len() as u64)
    }

    /// Goes on after the first `bytes`.
    fn cut(&mut self, bytes: u64) -> Result<(), ConvertError> {
        let cut = self.file.set_len(bytes).and_then(|()| self.file.seek(SeekFrom::Start(bytes)));
        cut.map(drop).map_err(ConvertError::write(&self.path))
    }

    fn append(&mut self, entries: &[Entry]) -> Result<(), ConvertError> {
        let mut text = Vec::new();
        for entry in entries {
            // Numbers and texts always have a form in JSON.
            if serde_json::to_writer(&mut text, entry).is_ok() {
                text.push(b'\n');
            }
        }
        self.append_bytes(&text)
    }

    fn append_bytes(&mut self, bytes: &[u8]) -> Result<(), ConvertError> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_all());
        written.map_err(ConvertError::write(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};

    use serde_json::json;

    use super::*;

    fn open(path: &Path, fingerprint: &Value) -> (Journal, bool) {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap();
        Journal::open(file, path, fingerprint, || Ok(())).unwrap()
    }

    #[test]
    fn only_what_was_committed_for_the_same_conversion_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(JOURNAL);
        let (one, other) = (json!({ "source": 1 }), json!({ "source": 2 }));
        let (mut journal, resumed) = open(&path, &one);
        assert!(!resumed);
        journal.add("a", vec![1, 2, 3]);
        journal.add("b", vec![4]);
        journal.commit().unwrap();
        journal.add("c", vec![5]);
        drop(journal);

        let (mut journal, resumed) = open(&path, &one);
        assert!(resumed);
        assert_eq!((journal.sums("a"), journal.sums("b")), (Some(&[1, 2, 3][..]), Some(&[4][..])));
        assert_eq!(journal.sums("c"), None);
        journal.forget(&["a"], &one).unwrap();
        let (journal, _) = open(&path, &one);
        assert_eq!((journal.sums("a"), journal.sums("b")), (None, Some(&[4][..])));

        assert!(!open(&path, &other).1);
        assert_eq!(open(&path, &other).0.sums("b"), None);
    }

    #[test]
    fn a_line_that_broke_off_and_what_follows_it_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(JOURNAL);
        let fingerprint = json!({ "source": 1 });
        let (mut journal, _) = open(&path, &fingerprint);
        for name in ["a", "b"] {
            journal.add(name, vec![7]);
            journal.commit().unwrap();
        }
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, resumed) = open(&path, &fingerprint);
            assert!(journal.sums("b").is_none(), "{length}");
            assert!(resumed || journal.sums("a").is_none(), "{length}");
            journal.add("c", vec![9]);
            journal.commit().unwrap();
            assert_eq!(open(&path, &fingerprint).0.sums("c"), Some(&[9][..]), "{length}");
        }
    }
}
