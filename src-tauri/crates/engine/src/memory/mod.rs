//! The memory model: what a model, a row and a chunk of a prompt need, from config and layout alone, and how what the
//! machine has is shared out. Nothing here loads or decodes; the network and the decoder take the sizes from here of
//! which they compute at once.

mod at_once;
mod budget;
mod draft_head;
mod draft_model;
mod estimate;
mod loading;
mod row;
mod vision;

pub use at_once::{ChunkSizes, PREFILL_CHUNK};
pub(crate) use at_once::{FINITE_BLOCK, UNREAD_FEATURES, delta_chunk};
pub use budget::{MemoryBudget, PictureRoom};
pub use draft_head::DraftHead;
pub use draft_model::DraftMemory;
pub use estimate::{DraftNeed, MemoryEstimate, VisionNeed};
pub(crate) use loading::loading;
pub use row::RowMemory;
pub(crate) use vision::{KEPT_FEATURES, TOWER_ROWS, TowerScores, padded_head};
