//! Pictures on their way from a file into the store. Each is written into a folder for a while when it is read, and
//! kept, its files before the rows that name it, when a message names it. One that is broken costs its pixels, never
//! the chat.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foretoken_protocol::{ErrorReport, MessagePicture, PictureDetail, PictureFacts};

use super::names;
use crate::ChatsError;
use crate::pictures::{KeptPicture, PictureFiles, Stage, hash_of};

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
        }
    }

    /// Takes a picture out of the file: its hash and its content in base64.
    pub(super) fn stage(&mut self, hash: String, data: &str) -> Result<(), ChatsError> {
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

    fn write(&mut self, content: &[u8]) -> io::Result<PathBuf> {
        let stage = match &mut self.stage {
            Some(stage) => stage,
            none => none.insert(self.files.stage()?),
        };
        stage.add(content)
    }

    /// Keeps the picture that a message names, and corrects what the file says of it. It is missing if it did not come
    /// with the file.
    pub(super) fn keep(&mut self, picture: &mut MessagePicture) -> Result<(), ChatsError> {
        picture.name = names::plain(&picture.name);
        let key = (picture.hash.clone(), picture.detail);
        let kept = match self.looked_at.get(&key) {
            Some(kept) => kept.clone(),
            None => {
                let kept = self.look_at(&picture.hash, picture.detail)?;
                self.looked_at.insert(key, kept.clone());
                kept
            }
        };
        picture.missing = kept.is_none();
        if let Some(KeptPicture { format, width, height, tokens, bytes, .. }) = kept {
            (picture.format, picture.width, picture.height) = (format, width, height);
            (picture.tokens, picture.bytes) = (tokens, bytes);
        } else if self.files.original(&picture.hash).is_none() {
            self.missing.insert(picture.hash.clone());
        }
        Ok(())
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

    /// How many pictures nobody can see.
    pub(super) fn missing(&self) -> u32 {
        u32::try_from(self.missing.len()).unwrap_or(u32::MAX)
    }
}
