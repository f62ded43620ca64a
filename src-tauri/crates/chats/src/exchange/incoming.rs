//! Pictures on their way from a file into the store. Each is written into a folder for a while when it is read, and
//! kept, its files before the rows that name it, when a message names it. One that is broken costs its pixels, never
//! the chat.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foretoken_protocol::{ErrorReport, MessagePicture, PictureDetail, PictureFacts};

use super::names;
use super::record::MessageRecord;
use crate::ChatsError;
use crate::pictures::{KeptPicture, PictureFiles, Stage, hash_of};

/// The most pictures of a message.
pub(super) const MOST: usize = 20;
/// The largest file of a picture, in bytes.
const LARGEST: usize = 32 << 20;

/// Looks at a picture's file, which anybody may have written, in a detail. This crate decodes nothing: who imports
/// should do so in a process of its own.
pub type Look<'a> = &'a dyn Fn(&Path, PictureDetail) -> Result<SeenPicture, ErrorReport>;

/// What is to be kept beside a picture's file.
#[derive(Debug, Clone)]
pub struct SeenPicture {
    /// What was found out about it.
    pub facts: PictureFacts,
    /// What people see of it, PNG or JPEG as its name in the facts says.
    pub view: Vec<u8>,
}

/// The pictures of a file.
pub(super) struct Incoming<'a> {
    look: Look<'a>,
    files: PictureFiles,
    /// Made with the first picture.
    stage: Option<Stage>,
    /// Where those are whose hashes are right.
    staged: HashMap<String, PathBuf>,
    /// What has become of those that messages name, in the details in which these show them.
    looked_at: HashMap<(String, PictureDetail), Option<KeptPicture>>,
    /// Those that nobody can see.
    missing: HashSet<String>,
    /// How many are named in their messages, which have too many.
    over: u32,
}

impl<'a> Incoming<'a> {
    pub(super) fn new(files: PictureFiles, look: Look<'a>) -> Self {
        Self {
            look,
            files,
            stage: None,
            staged: HashMap::new(),
            looked_at: HashMap::new(),
            missing: HashSet::new(),
            over: 0,
        }
    }

    /// Takes a picture out of the file: its hash and its content in base64.
    pub(super) fn stage(&mut self, hash: String, data: &str) -> Result<(), ChatsError> {
        if data.len() > LARGEST.div_ceil(3) * 4 {
            tracing::info!("the picture {hash:?} is larger than {} MB", LARGEST >> 20);
            return Ok(());
        }
        let content = match STANDARD.decode(data) {
            Ok(content) => content,
            Err(error) => {
                tracing::info!("the picture {hash:?} is damaged: {error}");
                return Ok(());
            }
        };
        if hash_of(&content) != hash {
            tracing::info!("a picture is not the one that {hash:?} stands for");
            return Ok(());
        }
        let path = self.write(&content).map_err(|error| self.files.refused(error))?;
        self.staged.insert(hash, path);
        Ok(())
    }

    /// Takes a picture out of a file beside the one that is read, and keeps it for a message. `None` if nobody can see
    /// it.
    pub(super) fn take(&mut self, file: &Path, name: &str) -> Result<Option<MessagePicture>, ChatsError> {
        let mut content = Vec::new();
        let read = File::open(file).and_then(|file| file.take(LARGEST as u64 + 1).read_to_end(&mut content));
        if let Err(error) = read {
            tracing::info!("{} cannot be read: {error}", file.display());
            return Ok(None);
        }
        if content.len() > LARGEST {
            tracing::info!("{} is larger than {} MB", file.display(), LARGEST >> 20);
            return Ok(None);
        }
        let (hash, detail) = (hash_of(&content), PictureDetail::default());
        if !self.staged.contains_key(&hash) {
            let path = self.write(&content).map_err(|error| self.files.refused(error))?;
            self.staged.insert(hash.clone(), path);
        }
        let kept = self.kept(&hash, detail)?;
        Ok(kept.map(|KeptPicture { hash, format, width, height, tokens, bytes }| MessagePicture {
            hash,
            name: names::plain(name),
            format,
            detail,
            width,
            height,
            tokens,
            bytes,
            missing: false,
        }))
    }

    /// Keeps the pictures that a message names. Those that are too many for one are named in its text.
    pub(super) fn keep_all(&mut self, message: &mut MessageRecord) -> Result<(), ChatsError> {
        let over = message.pictures.split_off(message.pictures.len().min(MOST));
        let lines: Vec<String> =
            over.iter().map(|picture| format!("[picture: {}]", names::plain(&picture.name))).collect();
        if !lines.is_empty() {
            self.over = self.over.saturating_add(u32::try_from(lines.len()).unwrap_or(u32::MAX));
            let gap = if message.text.is_empty() { "" } else { "\n\n" };
            message.text = format!("{}{gap}{}", message.text, lines.join("\n"));
        }
        message.pictures.iter_mut().try_for_each(|picture| self.keep(picture))
    }

    fn write(&mut self, content: &[u8]) -> io::Result<PathBuf> {
        let stage = match &mut self.stage {
            Some(stage) => stage,
            none => none.insert(self.files.stage()?),
        };
        stage.add(content)
    }

    /// Keeps the picture that a message names, and corrects what the file says of it. It is missing if it did not come
    /// with the file.
    fn keep(&mut self, picture: &mut MessagePicture) -> Result<(), ChatsError> {
        picture.name = names::plain(&picture.name);
        let kept = self.kept(&picture.hash, picture.detail)?;
        picture.missing = kept.is_none();
        if let Some(KeptPicture { format, width, height, tokens, bytes, .. }) = kept {
            (picture.format, picture.width, picture.height) = (format, width, height);
            (picture.tokens, picture.bytes) = (tokens, bytes);
        } else if self.files.original(&picture.hash).is_none() {
            self.missing.insert(picture.hash.clone());
        }
        Ok(())
    }

    /// What has become of a picture in a detail. It is looked at once.
    fn kept(&mut self, hash: &str, detail: PictureDetail) -> Result<Option<KeptPicture>, ChatsError> {
        let key = (hash.to_owned(), detail);
        if let Some(kept) = self.looked_at.get(&key) {
            return Ok(kept.clone());
        }
        let kept = self.look_at(hash, detail)?;
        self.looked_at.insert(key, kept.clone());
        Ok(kept)
    }

    fn look_at(&self, hash: &str, detail: PictureDetail) -> Result<Option<KeptPicture>, ChatsError> {
        let Some(path) = self.staged.get(hash) else { return Ok(None) };
        match (self.look)(path, detail) {
            Ok(SeenPicture { facts, view }) => {
                let original = fs::read(path).map_err(|error| self.files.refused(error))?;
                self.files.keep(&original, &view, &facts).map(Some)
            }
            Err(error) => {
                tracing::info!("the picture {hash} cannot be read: {error}");
                Ok(None)
            }
        }
    }

    /// How many pictures nobody can see, or not with their messages.
    pub(super) fn missing(&self) -> u32 {
        u32::try_from(self.missing.len()).unwrap_or(u32::MAX).saturating_add(self.over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_larger_than_pictures_may_be_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let look = |_: &Path, _| panic!("nothing is looked at");
        let mut incoming = Incoming::new(PictureFiles::at(folder.path().join("pictures")), &look);
        for (length, is_taken) in [(1000, true), (LARGEST + 3, false)] {
            let content = vec![0; length];
            incoming.stage(hash_of(&content), &STANDARD.encode(&content)).unwrap();
            assert_eq!(incoming.staged.contains_key(&hash_of(&content)), is_taken);
        }
        // Anybody may make a file that says it is long.
        let long = folder.path().join("long");
        File::create(&long).unwrap().set_len(LARGEST as u64 + 1).unwrap();
        assert!(incoming.take(&long, "long").unwrap().is_none());
        assert_eq!(incoming.staged.len(), 1);
    }
}
