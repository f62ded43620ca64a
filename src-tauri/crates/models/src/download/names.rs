//! Which files of a repository are wanted, and which names may be written.

use std::collections::HashMap;

use crate::LibraryError;
use crate::hub::{ModelInfo, RepoFile};
use crate::store::RECORD;

/// Folders with other forms of the same model.
const OTHER_FORMS: [&str; 5] = ["original", "onnx", "gguf", "coreml", "openvino"];
/// Names that some systems give to devices, with any ending.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
const MAX_PATH_BYTES: usize = 400;
const MAX_NAME_BYTES: usize = 200;

/// The files to fetch. A hostile name among them refuses the whole repository.
pub(crate) fn wanted_files(info: &ModelInfo) -> Result<Vec<RepoFile>, LibraryError> {
    let files: Vec<RepoFile> = info.files.iter().filter(|file| is_wanted(&file.path)).cloned().collect();
    check(files.iter().map(|file| file.path.as_str()))?;
    let missing = |detail| Err(LibraryError::NotAModel { place: info.repo.to_string(), detail });
    if !files.iter().any(|file| file.path == "config.json") {
        return missing("config.json is missing");
    }
    if !files.iter().any(|file| file.path.ends_with(".safetensors")) {
        return missing("there are no safetensors files");
    }
    Ok(files)
}

/// Weights, and what is needed to read and to use them.
fn is_wanted(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut folders: Vec<&str> = lower.split(['/', '\\']).collect();
    let name = folders.pop().unwrap_or_default();
    let hidden = |part: &&str| part.starts_with('.') && part.chars().any(|letter| letter != '.');
    if folders.iter().any(|folder| OTHER_FORMS.contains(folder) || hidden(folder))
        || hidden(&name)
        || name.starts_with("consolidated")
    {
        return false;
    }
    if name.ends_with(".safetensors") || name.ends_with(".json") || name.ends_with(".jinja") {
        return true;
    }
    let stem = name.split('.').next().unwrap_or_default();
    matches!(name, "merges.txt" | "vocab.txt")
        || (folders.is_empty() && matches!(stem, "license" | "licence" | "notice" | "readme"))
}

/// Refuses names that lead out of the folder, that some file system cannot keep, or that fall together on one that
/// does not tell upper from lower case.
fn check<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<(), LibraryError> {
    // Each folded name with the spelling it was seen with, and whether it was a file.
    let mut seen: HashMap<String, (&str, bool)> = HashMap::new();
    for path in paths {
        let refuse = |reason| Err(LibraryError::FileName { path: path.to_owned(), reason });
        if path.len() > MAX_PATH_BYTES {
            return refuse("it is too long");
        }
        if !path.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            return refuse("it has characters other than plain printable ones");
        }
        if path.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
            return refuse("it has a character that means something to some file systems");
        }
        if path.starts_with('/') {
            return refuse("it is absolute");
        }
        for part in path.split('/') {
            if let Some(reason) = wrong_part(part) {
                return refuse(reason);
            }
        }
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        for end in ends {
            let (part, is_file) = (&path[..end], end == path.len());
            match seen.insert(part.to_ascii_lowercase(), (part, is_file)) {
                Some((other, other_is_file)) if other != part || other_is_file || is_file => {
                    return refuse("another file has the same name, but for upper and lower case");
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn wrong_part(part: &str) -> Option<&'static str> {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = |port: &str| {
        stem.strip_prefix(port)
            .is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
    };
    if part == ".." || part == "." || part.is_empty() {
        Some("it has a part that is not a name")
    } else if part.len() > MAX_NAME_BYTES {
        Some("it is too long")
    } else if part.ends_with(['.', ' ']) || part.starts_with(' ') {
        Some("it begins or ends with a character that some file systems drop")
    } else if DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt") {
        Some("it is the name of a device on some systems")
    } else if part.eq_ignore_ascii_case(RECORD) {
        Some("it is a name that Foretoken uses itself")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_s_own_files_are_wanted_and_other_forms_are_not() {
        let wanted = [
            "config.json",
            "tokenizer.json",
            "merges.txt",
            "chat_template.jinja",
            "model-00001-of-00002.safetensors",
            "model.safetensors.index.json",
            "optiq/mtp.safetensors",
            "LICENSE",
            "README.md",
            "../config.json",
            "a\\..\\b.safetensors",
        ];
        for path in wanted {
            assert!(is_wanted(path), "{path}");
        }
        let others = [
            "pytorch_model.bin",
            "model.gguf",
            "original/config.json",
            "consolidated.safetensors",
            "run.py",
            "x.pth",
            ".ipynb_checkpoints/config.json",
            ".hidden.json",
        ];
        for path in others {
            assert!(!is_wanted(path), "{path}");
        }
    }

    #[test]
    fn names_that_escape_or_fall_together_are_refused() {
        check(["config.json", "a/model.safetensors", "a/model2.safetensors", "com.json", "lpt10.json"])
            .unwrap();
        let hostile = [
            "/etc/x.json",
            "../x.json",
            "a/../../x.json",
            "a//x.json",
            "./x.json",
            "a\\x.json",
            "C:x.json",
            "x\u{0}.json",
            "x\n.json",
            "\u{202e}x.json",
            "nul.json",
            "COM1.json",
            "a/aux .json",
            "x.json.",
            "x.json ",
            "Foretoken-Library.json",
            "",
        ];
        for path in hostile {
            assert!(check([path]).is_err(), "{path:?}");
        }
        for pair in
            [["a.json", "A.json"], ["a/x.json", "A/y.json"], ["a", "a/x.json"], ["a/x.json", "A"], ["a", "a"]]
        {
            assert!(check(pair).is_err(), "{pair:?}");
        }
        assert!(check([&*"a".repeat(500)]).is_err());
    }
}
