//! Conversations: the chats as they are kept, the questions that are asked in them, and the replies that are written.

pub(crate) mod asking;
pub(crate) mod filing;
pub(crate) mod open;
pub(crate) mod replies;
pub(crate) mod store;
mod titles;
