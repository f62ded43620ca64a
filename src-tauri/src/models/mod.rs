//! Models: the list that the picker shows, and the library.

pub(crate) mod library;
pub(crate) mod picker;
