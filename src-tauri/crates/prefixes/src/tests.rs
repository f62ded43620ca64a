//! Tests of the files: by example, on a real folder.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::json;
use tempfile::TempDir;

use super::*;

const ALL: Quota = Quota { bytes: u64::MAX, share_of_free: 1.0 };

fn open(folder: &Path) -> PrefixFiles {
    PrefixFiles::allow(folder).unwrap();
    PrefixFiles::open(folder, ALL).unwrap()
}

fn root() -> Key {
    Key::root("a model")
}

/// A body that tells which tokens it is of.
fn body(tokens: &[u32], kind: &str) -> Body {
    let bytes = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
    Body { form: json!({ "kind": kind, "tokens": tokens.len() }), bytes }
}

/// Keeps a chat that is cut at these ends, with a state behind the last of them.
fn keep(files: &mut PrefixFiles, owner: Owner, tokens: &[u32], ends: &[usize]) -> Key {
    let (mut place, mut begin) = (root(), 0);
    for &end in ends {
        files.flush();
        let stretch = &tokens[begin..end];
        if !files.has_stretch(&place.then(stretch)) {
            files.add_stretch(&place, stretch, body(stretch, "kv"));
        }
        (place, begin) = (place.then(stretch), end);
    }
    files.add_state(&place, owner, body(&tokens[..begin], "state"));
    place
}

/// How many tokens of a prompt are found; what is read must be what was kept.
fn found(files: &mut PrefixFiles, prompt: &[u32]) -> usize {
    let Some(found) = files.longest(&root(), prompt) else { return 0 };
    let stretches: Vec<Vec<u32>> = found.path.iter().map(|key| files.tokens(key).unwrap().to_vec()).collect();
    assert_eq!(stretches.concat(), prompt[..found.len]);
    let bodies: Vec<Body> = found.path.iter().map(|key| files.read_stretch(key).unwrap()).collect();
    let state = files.read_state(found.path.last().unwrap()).unwrap();
    assert_eq!(bodies, stretches.iter().map(|tokens| body(tokens, "kv")).collect::<Vec<_>>());
    assert_eq!(state, body(&prompt[..found.len], "state"));
    found.len
}

fn tokens(count: u32) -> Vec<u32> {
    (0..count).collect()
}

fn names(folder: &Path, end: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == end)).collect()
}

#[test]
fn a_chat_is_found_again_by_whoever_opens_the_folder_next() {
    let folder = TempDir::new().unwrap();
    let chat = tokens(100);
    keep(&mut open(folder.path()), 1, &chat, &[30, 70]);
    let mut files = open(folder.path());
    assert_eq!(found(&mut files, &chat), 70);
    assert_eq!(found(&mut files, &chat[..71]), 70);
    assert_eq!(found(&mut files, &chat[..70]), 0, "a token is left to be read");
    assert_eq!(files.longest(&Key::root("another model"), &chat), None);
    let parted = [&chat[..40], &[7; 40]].concat();
    assert_eq!(found(&mut files, &parted), 0, "there is a stretch of 30 tokens, but no state");
    keep(&mut files, 1, &chat, &[30]);
    assert_eq!(found(&mut files, &parted), 30);
    assert_eq!(files.longest(&root(), &[]), None);
}

#[test]
fn nobody_else_reads_the_files_and_no_backup_has_them() {
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join("prefixes");
    keep(&mut open(&inner), 1, &tokens(50), &[20, 50]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&inner), 0o700);
    let files = [names(&inner, "kv"), names(&inner, "state")].concat();
    assert_eq!(files.len(), 3);
    assert!(files.iter().all(|path| mode(path) == 0o600));
    assert!(
        fs::read_to_string(inner.join("CACHEDIR.TAG")).unwrap().starts_with("Signature: 8a477f597d28d172")
    );
}

/// Whatever bit of a file is changed and wherever it is cut, nothing is read from it, and it is gone.
#[test]
fn no_damage_goes_unnoticed() {
    let chat = tokens(12);
    for kind in ["kv", "state"] {
        let whole = {
            let folder = TempDir::new().unwrap();
            keep(&mut open(folder.path()), 1, &chat, &[8]);
            fs::read(&names(folder.path(), kind)[0]).unwrap()
        };
        let cuts = (0..whole.len()).map(|at| whole[..at].to_vec());
        let changes = (0..whole.len()).map(|at| {
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            changed
        });
        for damaged in cuts.chain(changes).step_by(7) {
            let folder = TempDir::new().unwrap();
            keep(&mut open(folder.path()), 1, &chat, &[8]);
            let path = names(folder.path(), kind).remove(0);
            fs::write(&path, damaged).unwrap();
            let mut files = open(folder.path());
            if let Some(found) = files.longest(&root(), &chat) {
                let [key] = &found.path[..] else { panic!("{found:?}") };
                assert!(files.read_stretch(key).is_err() || files.read_state(key).is_err(), "{kind}");
            }
            assert_eq!(files.longest(&root(), &chat), None);
            files.flush();
            assert!(names(folder.path(), "kv").is_empty() && names(folder.path(), "state").is_empty());
            keep(&mut files, 1, &chat, &[8]);
            assert_eq!(found(&mut files, &chat), 8, "it can be kept again");
        }
    }
}

#[test]
fn what_a_chat_has_kept_goes_with_it_and_what_others_need_stays() {
    let folder = TempDir::new().unwrap();
    let (one, mut other) = (tokens(90), tokens(90));
    other[40..].fill(7);
    let mut files = open(folder.path());
    keep(&mut files, 1, &one, &[30, 60]);
    keep(&mut files, 2, &other, &[30, 80]);
    files.retain_owners(|owner| owner != 1);
    assert_eq!((found(&mut files, &one), found(&mut files, &other)), (0, 80));
    files.flush();
    assert_eq!(names(folder.path(), "kv").len(), 2);
    // The same place may have been kept for two.
    keep(&mut files, 1, &other, &[30, 80]);
    files.retain_owners(|owner| owner != 2);
    assert_eq!(found(&mut files, &other), 80);
    assert_eq!(found(&mut open(folder.path()), &other), 80);
    keep(&mut files, 2, &[5; 50], &[40]);
    files.forget(&root(), &other);
    assert_eq!((found(&mut files, &other), found(&mut files, &[5; 50])), (0, 40));
    files.retain_owners(|_| false);
    files.flush();
    assert_eq!((files.bytes(), found(&mut files, &other)), (0, 0));
    assert!(names(folder.path(), "kv").is_empty() && names(folder.path(), "state").is_empty());
}

#[test]
fn a_chat_keeps_its_newest_states() {
    let folder = TempDir::new().unwrap();
    let chat = tokens(100);
    let mut files = open(folder.path());
    for end in 1..=9 {
        let ends: Vec<usize> = (1..=end).map(|end| end * 10).collect();
        keep(&mut files, 1, &chat, &ends);
    }
    files.flush();
    assert_eq!(names(folder.path(), "state").len(), 3);
    // Another model has read the chat too.
    let other = Key::root("another model");
    files.add_stretch(&other, &chat, body(&chat, "kv"));
    files.add_state(&other.then(&chat), 1, body(&chat, "state"));
    files.flush();
    assert_eq!(names(folder.path(), "state").len(), 4);
    assert_eq!(found(&mut files, &chat), 90);
    assert_eq!(found(&mut files, &chat[..75]), 70);
    assert_eq!(found(&mut files, &chat[..65]), 0);
}

#[test]
fn the_quota_is_kept_and_what_was_used_last_stays() {
    let folder = TempDir::new().unwrap();
    let chats: Vec<Vec<u32>> = (0..6).map(|chat| vec![chat; 1000]).collect();
    let one = {
        let mut files = open(folder.path());
        keep(&mut files, 9, &[9; 1000], &[900]);
        let bytes = files.bytes();
        files.retain_owners(|_| false);
        bytes
    };
    let quota = Quota { bytes: 3 * one + one / 2, ..ALL };
    let mut files = PrefixFiles::open(folder.path(), quota).unwrap();
    for (owner, chat) in (1..).zip(&chats) {
        keep(&mut files, owner, chat, &[900]);
        assert!(files.bytes() <= quota.bytes);
        assert_eq!(found(&mut files, chat), 900);
        // Somebody goes on with the first one again and again.
        assert_eq!(found(&mut files, &chats[0]), 900);
    }
    let kept: Vec<usize> = chats.iter().map(|chat| found(&mut files, chat)).collect();
    assert_eq!(kept, [900, 0, 0, 0, 900, 900]);
    drop(files);
    let mut full = PrefixFiles::open(folder.path(), Quota { share_of_free: 0.0, ..ALL }).unwrap();
    keep(&mut full, 1, &chats[1], &[900]);
    assert_eq!((full.bytes(), full.longest(&root(), &chats[0])), (0, None));
}

#[test]
fn what_is_unfinished_or_leads_nowhere_is_removed_and_other_files_are_not() {
    let folder = TempDir::new().unwrap();
    let chat = tokens(90);
    let key = keep(&mut open(folder.path()), 1, &chat, &[30, 60, 80]);
    let half = |name: &str, age: Duration| {
        let file = File::create(folder.path().join(format!("{key}.{name}new"))).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    };
    half("", Duration::from_secs(3600));
    // Another process may be at work on this one.
    half("5.", Duration::ZERO);
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let middle = root().then(&chat[..30]).then(&chat[30..60]);
    fs::remove_file(folder.path().join(format!("{middle}.kv"))).unwrap();
    let mut files = open(folder.path());
    assert_eq!(found(&mut files, &chat), 0);
    assert!(["kv", "state"].iter().all(|end| names(folder.path(), end).is_empty()));
    assert_eq!(names(folder.path(), "new").len(), 1);
    assert!(folder.path().join("notes.txt").exists());
}

/// Another process may remove files while this one has them in its list.
#[test]
fn what_another_process_removed_is_as_good_as_never_written() {
    let folder = TempDir::new().unwrap();
    let chat = tokens(90);
    let mut files = open(folder.path());
    keep(&mut files, 1, &chat, &[30, 60]);
    files.flush();
    open(folder.path()).retain_owners(|_| false);
    let listed = files.longest(&root(), &chat).unwrap();
    assert!(files.read_stretch(&listed.path[0]).is_err());
    assert_eq!((files.longest(&root(), &chat), files.bytes()), (None, 0));
    keep(&mut files, 1, &chat, &[30, 60]);
    assert_eq!(found(&mut files, &chat), 60);
    // Nobody has read them since.
    files.flush();
    open(folder.path()).retain_owners(|_| false);
    assert!(!files.has_stretch(&root().then(&chat[..30])));
    keep(&mut files, 1, &chat, &[30, 60]);
    assert_eq!(found(&mut files, &chat), 60);
}

#[test]
fn nothing_is_kept_where_that_is_not_allowed() {
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join("prefixes");
    assert!(PrefixFiles::open(&inner, ALL).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound));
    PrefixFiles::forbid(&inner).unwrap();
    let mut files = open(&inner);
    keep(&mut files, 1, &tokens(50), &[30]);
    PrefixFiles::forbid(&inner).unwrap();
    assert!(!inner.exists());
    keep(&mut files, 2, &[7; 50], &[30]);
    files.flush();
    assert!(!inner.exists(), "whoever has the folder open still does not bring it back");
}
