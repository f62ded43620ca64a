//! Paths as a model writes them: the name of a folder that the person has picked, and the way from there.

use std::ffi::OsString;

use super::error::FileError;

/// Characters of a path that a message tells.
const LONGEST_TOLD: usize = 200;
/// Bytes of a path that is looked at.
const LONGEST_PATH: usize = 4_096;

/// A path that has been asked for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// Which of the folders it begins with.
    pub(super) folder: usize,
    /// The names on the way from there. None of them is empty, `.` or `..`.
    pub(super) parts: Vec<OsString>,
    /// As it was written, for messages.
    pub(super) told: String,
    /// Whether it ends in a slash, as only the path of a folder does.
    pub(super) is_folder: bool,
}

/// Takes `path` apart, which begins with one of the folders' `names`. Where two begin it, the longer one is meant; one
/// that differs in case is meant where it is the only one.
pub(super) fn asked(path: &str, names: &[&str]) -> Result<Asked, FileError> {
    let told = shortened(path);
    let refused = |reason| FileError::Path { path: told.clone(), reason };
    if names.is_empty() {
        return Err(FileError::NoFolders);
    }
    if path.len() > LONGEST_PATH {
        return Err(refused("it is too long"));
    }
    if path.contains('\0') || path.chars().any(char::is_control) {
        return Err(refused("it has control characters"));
    }
    if path.starts_with('/') || path.starts_with('~') {
        return Err(refused("it does not begin with the name of a folder that the user has picked"));
    }
    if path.contains('\\') {
        return Err(refused("its parts are not separated by slashes"));
    }
    if is_drive(path) {
        return Err(refused("it names a drive"));
    }
    let path = path.trim_start_matches("./");
    let Some((folder, rest)) = beginning(path, names) else {
        let known = names.iter().map(|name| (*name).to_owned()).collect();
        return Err(FileError::OtherFolder { path: told, known });
    };
    let parts: Vec<&str> = rest.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(refused("\"..\" is not followed"));
    }
    let parts = parts.into_iter().map(OsString::from).collect();
    Ok(Asked { folder, parts, is_folder: rest.ends_with('/'), told })
}

/// Whether this begins with the letter of a drive, as in `C:`.
fn is_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
        && matches!(bytes.next(), None | Some(b'/'))
}

/// Which of `names` the path begins with, and what follows.
fn beginning<'a>(path: &'a str, names: &[&str]) -> Option<(usize, &'a str)> {
    let begins = |name: &str, same: fn(&str, &str) -> bool| {
        let (first, rest) = path.split_at_checked(name.len())?;
        ((rest.is_empty() || rest.starts_with('/')) && same(first, name)).then_some(rest)
    };
    let found = |same: fn(&str, &str) -> bool| {
        let mut all: Vec<_> = names
            .iter()
            .enumerate()
            .filter_map(|(at, name)| Some((name.len(), at, begins(name, same)?)))
            .collect();
        all.sort_by_key(|(length, ..)| *length);
        all
    };
    let exact = found(|one, other| one == other);
    let (_, at, rest) = match exact.last() {
        Some(longest) => *longest,
        None => match found(|one, other| one.to_lowercase() == other.to_lowercase())[..] {
            [only] => only,
            _ => return None,
        },
    };
    Some((at, rest))
}

/// What a message tells of a text of the model's.
pub(super) fn shortened(text: &str) -> String {
    let (text, _) = crate::stripped(text);
    let line: String = text.chars().filter(|character| !character.is_control()).collect();
    match line.char_indices().nth(LONGEST_TOLD) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(path: &str, names: &[&str]) -> Result<(usize, Vec<OsString>), FileError> {
        asked(path, names).map(|asked| (asked.folder, asked.parts))
    }

    #[test]
    fn a_path_is_the_name_of_a_folder_and_the_way_from_there() {
        let names = ["Notes", "Notes/old", "Code"];
        for (path, folder, expected) in [
            ("Notes", 0, vec![]),
            ("Notes/", 0, vec![]),
            ("Notes/a b/ü.txt", 0, vec!["a b", "ü.txt"]),
            ("Notes//./a/", 0, vec!["a"]),
            ("./Code/a", 2, vec!["a"]),
            ("Notes/old/a", 1, vec!["a"]),
            ("Notes/older", 0, vec!["older"]),
            ("code/A", 2, vec!["A"]),
        ] {
            let expected: Vec<OsString> = expected.into_iter().map(OsString::from).collect();
            assert_eq!(parts(path, &names), Ok((folder, expected)), "{path}");
        }
    }

    #[test]
    fn a_name_in_another_case_is_meant_only_where_there_is_one() {
        assert!(matches!(parts("NOTES/a", &["Notes", "notes"]), Err(FileError::OtherFolder { .. })));
        assert_eq!(parts("notes/a", &["Notes", "notes"]).unwrap().0, 1);
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for path in [
            "/etc/passwd",
            "~/a",
            "Notes/..",
            "Notes/../a",
            "Notes/a/../b",
            "..",
            "../Notes",
            "Notes\\a",
            "C:",
            "c:/a",
            "C:\\a",
            "Notes/a\0b",
            "Notes/a\nb",
            "Note",
            "Notes2/a",
            "",
            ".",
            "file:///a",
        ] {
            let error = parts(path, &["Notes"]).unwrap_err();
            assert!(matches!(error, FileError::Path { .. } | FileError::OtherFolder { .. }), "{path}");
        }
        let long = format!("Notes/{}", "a/".repeat(5_000));
        assert!(matches!(parts(&long, &["Notes"]), Err(FileError::Path { .. })));
        assert_eq!(parts("Notes/a", &[]), Err(FileError::NoFolders));
    }

    proptest! {
        #[test]
        fn no_part_of_a_path_is_a_way_up_or_a_path(path in "(Notes|C:|)[./\\\\a\0é~]{0,12}") {
            if let Ok(asked) = asked(&path, &["Notes"]) {
                for part in asked.parts {
                    let part = part.to_str().unwrap();
                    prop_assert!(!part.is_empty() && !matches!(part, "." | "..") && !part.contains(['/', '\0']));
                }
            }
        }
    }
}
