//! The files that lie beside the one that is read, as archives of other programs have the pictures of their chats
//! there. Messages name them. No path is made of what they say: it is looked for among the names that there are.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

/// The folder of LM Studio's chats, which may have others in it, and the one of their files, which is beside it.
const LM_STUDIO_CHATS: &str = "conversations";
const LM_STUDIO_FILES: &str = "user-files";

/// Regular files that messages may name.
pub(super) struct Beside {
    folders: Vec<PathBuf>,
    /// The names in each folder, once they are needed.
    names: Option<Vec<BTreeSet<String>>>,
}

impl Beside {
    /// Those beside `file`.
    pub(super) fn new(file: &Path) -> Self {
        let own = file.parent().map(Path::to_owned);
        let chats = file.ancestors().skip(1).find(|folder| folder.ends_with(LM_STUDIO_CHATS));
        let folders = own.into_iter().chain(chats.map(|chats| chats.with_file_name(LM_STUDIO_FILES)));
        Self { folders: folders.collect(), names: None }
    }

    /// The file that is called so.
    pub(super) fn called(&mut self, name: &str) -> Option<PathBuf> {
        self.find(|names| names.get(name))
    }

    /// The file whose name is this id, or begins with it as a whole.
    pub(super) fn of_id(&mut self, id: &str) -> Option<PathBuf> {
        self.find(|names| {
            let from = names.range::<str, _>((Bound::Included(id), Bound::Unbounded));
            let mut begin_so = from.take_while(|name| name.starts_with(id));
            begin_so.find(|name| !name[id.len()..].starts_with(|next: char| next.is_ascii_alphanumeric()))
        })
    }

    fn find(&mut self, find: impl Fn(&BTreeSet<String>) -> Option<&String>) -> Option<PathBuf> {
        let Self { folders, names } = self;
        let names = names.get_or_insert_with(|| folders.iter().map(|folder| listed(folder)).collect());
        let found = folders.iter().zip(names).filter_map(|(folder, names)| Some(folder.join(find(names)?)));
        // A link may lead anywhere.
        found.into_iter().find(|file| fs::symlink_metadata(file).is_ok_and(|about| about.is_file()))
    }
}

fn listed(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_names_alone() {
        let home = tempfile::tempdir().unwrap();
        let chats = home.path().join("conversations/work");
        let files = home.path().join("user-files");
        fs::create_dir_all(&chats).unwrap();
        fs::create_dir_all(&files).unwrap();
        for file in ["file-AB-owl.png", "file-ABC.dat", "file_0f.jpeg", "plain"] {
            fs::write(chats.join(file), file).unwrap();
        }
        fs::write(files.join("1 - owl.png"), "").unwrap();
        fs::write(home.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(home.path().join("secret"), chats.join("file-link.png")).unwrap();
        fs::create_dir(chats.join("file-folder.png")).unwrap();
        let mut beside = Beside::new(&chats.join("a.conversation.json"));
        for (id, found) in [
            ("file-AB", Some("file-AB-owl.png")),
            ("file-ABC", Some("file-ABC.dat")),
            ("file_0f", Some("file_0f.jpeg")),
            ("file-A", None),
            ("file-link", None),
            ("file-folder", None),
            ("../secret", None),
            ("../../secret", None),
        ] {
            assert_eq!(beside.of_id(id), found.map(|name| chats.join(name)), "{id}");
        }
        assert_eq!(beside.called("1 - owl.png"), Some(files.join("1 - owl.png")));
        assert_eq!(beside.called("plain"), Some(chats.join("plain")));
        for name in ["1 - owl", "../secret", "../../secret", "/etc/passwd", ""] {
            assert_eq!(beside.called(name), None, "{name}");
        }
    }
}
