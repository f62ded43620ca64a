//! Chats and their messages in one SQLite file, so that nothing typed or answered is lost.
//!
//! A chat is a tree: each message names the one it follows. A retry or an edit adds a sibling and removes nothing.
//! What a [`Store`] has returned from is committed: no crash of the app takes it away.

mod backup;
mod branching;
mod calls;
mod deletion;
mod edits;
mod error;
mod exchange;
mod list;
mod lock;
mod opening;
mod permissions;
mod picture_store;
mod pictures;
mod pieces;
mod position;
mod project_files;
mod project_folders;
mod projects;
mod prompts;
mod replies;
mod rows;
mod schema;
mod search;
mod settings;
mod sql;
mod steps;
mod store;
mod temporary;
#[cfg(test)]
mod testing;
mod title;
mod tree;

pub use backup::{Restored, backups, restorable, restore_backup};
pub use calls::{CallEnd, Consent, NewCall};
pub use error::ChatsError;
pub use exchange::{Look, SeenPicture, WholeFile, import};
pub use pictures::{KeptPicture, PictureFiles};
pub use project_files::IndexedText;
pub use project_folders::{FolderFile, ReadFile};
pub use search::has_files;
pub use steps::BETWEEN_STEPS;
pub use store::{Piece, Reader, Store};
pub use temporary::{FIRST_TEMPORARY, is_temporary};
pub use title::title_from;
