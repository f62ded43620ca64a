//! Models on disk and on the Hugging Face Hub: find, fit, download, verify, import, manage.
//!
//! A model appears in the library only when each of its bytes is verified; until then there is a state to go on from.
//! Nothing outside of the library's own folder is ever changed.

mod catalogue;
mod disk;
mod download;
mod error;
mod folder;
mod hash;
mod hub;
mod import;
mod location;
mod machine;
mod queue;
mod speed;
mod store;

pub use catalogue::{
    Catalogue, CatalogueEntry, CatalogueSource, DraftModelEntry, Fit, Format, MemoryNeed, fit,
};
pub use disk::{disk_use, free_bytes};
pub use download::{
    DownloadOptions, DownloadProgress, FileProgress, Intent, Outcome, Phase, RemoteModel, RemoteShard,
    discard, download,
};
pub use error::LibraryError;
pub use hub::{
    Commit, ContentHash, Gate, Hub, HubOptions, ModelInfo, NoToken, RepoFile, RepoId, RetryPolicy, SearchHit,
    SearchQuery, Token, TokenSource,
};
pub use import::{FoundModel, Origin, Places, find_models, import_folder};
pub use location::{APP_FOLDER, Location};
pub use machine::Machine;
pub use queue::{ItemState, Queue, QueueItem, QueueOptions};
pub use speed::{ExpectedSpeed, MeasuredSpeed, Range, TokenCost, expected_speed};
pub use store::{Library, Model, ModelState, Record, Source, Trashed};
