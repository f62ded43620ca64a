//! What models have read of chats, on disk: the engine writes and reads it; the app removes it where a person wants
//! none or a chat is gone.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use foretoken_prefixes::{FOLDER, Owner, PrefixFiles, Quota};
use foretoken_protocol::ChatId;

use crate::blocking::blocking;

/// The owner of what was read for other programs, which is no chat.
const OTHER_PROGRAMS: Owner = 0;

/// The files.
#[derive(Debug, Clone)]
pub(crate) struct KeptPrefixes {
    folder: PathBuf,
}

impl KeptPrefixes {
    /// Those of the engine that keeps its state in a folder.
    pub(crate) fn of(engine_state: &Path) -> Self {
        Self { folder: engine_state.join(FOLDER) }
    }

    /// Has files kept from now on, of the models that are loaded next; or keeps none, and removes those that there are.
    pub(crate) fn set_kept(&self, kept: bool) {
        let set = if kept { PrefixFiles::allow(&self.folder) } else { PrefixFiles::forbid(&self.folder) };
        if let Err(error) = set {
            tracing::error!(kept, "whether what was read of chats is kept could not be changed: {error}");
        }
    }

    /// Removes what was read of a chat.
    pub(crate) async fn forget(&self, chat: ChatId) {
        self.retain_owners(move |owner| owner != Owner::from(chat)).await;
    }

    /// Removes what is not of these chats.
    pub(crate) async fn retain(&self, chats: HashSet<ChatId>) {
        self.retain_owners(move |owner| {
            owner == OTHER_PROGRAMS || ChatId::try_from(owner).is_ok_and(|chat| chats.contains(&chat))
        })
        .await;
    }

    async fn retain_owners(&self, is_kept: impl Fn(Owner) -> bool + Send + 'static) {
        let folder = self.folder.clone();
        let changed = blocking(move || -> io::Result<()> {
            if folder.is_dir() {
                PrefixFiles::open(&folder, Quota::default())?.retain_owners(is_kept);
            }
            Ok(())
        });
        if let Err(error) = changed.await {
            tracing::error!("what was read of chats is still on disk: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use foretoken_prefixes::{Body, Key};
    use tempfile::TempDir;

    use super::*;

    fn kept(folder: &Path) -> Vec<u64> {
        let files = PrefixFiles::open(&folder.join(FOLDER), Quota::default()).unwrap();
        let root = Key::root("a model");
        (0..5).filter(|&owner| files.has_state(&root.then(&[owner as u32]), owner)).collect()
    }

    #[tokio::test]
    async fn what_is_of_no_chat_goes_and_at_last_all() {
        let folder = TempDir::new().unwrap();
        let prefixes = KeptPrefixes::of(folder.path());
        prefixes.retain(HashSet::from([1])).await;
        assert!(!folder.path().join(FOLDER).exists(), "nothing is made to be removed");
        prefixes.set_kept(true);
        let quota = Quota { bytes: u64::MAX, share_of_free: 1.0 };
        let mut files = PrefixFiles::open(&folder.path().join(FOLDER), quota).unwrap();
        let (root, body) = (Key::root("a model"), || Body { form: 1.into(), bytes: vec![1] });
        for owner in 0..5 {
            files.add_stretch(&root, &[owner as u32], body());
            files.add_state(&root.then(&[owner as u32]), owner, body());
        }
        drop(files);
        prefixes.retain(HashSet::from([1, 3])).await;
        assert_eq!(kept(folder.path()), [0, 1, 3]);
        prefixes.forget(1).await;
        assert_eq!(kept(folder.path()), [0, 3]);
        prefixes.set_kept(true);
        assert_eq!(kept(folder.path()), [0, 3]);
        prefixes.set_kept(false);
        assert!(!folder.path().join(FOLDER).exists());
    }
}
