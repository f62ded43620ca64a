//! Draft models on disk: DFlash (arXiv 2602.06036) and DFlash2, small networks that guess a block of tokens at once
//! from hidden states of the model that they draft for, the target. They have neither embedding nor output head, but
//! borrow the target's, so a draft model belongs to one target.

mod config;
mod expected;
mod layout;
mod names;
mod target;

pub use config::{Convolutions, DraftArchitecture, DraftConfig, SelectorDims, Visibility};
pub use layout::DraftLayout;
