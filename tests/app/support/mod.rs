//! What the window tests share: a sandbox in which the app runs, its window as a page object, and whatever else of a
//! desktop they need.

pub(crate) mod clipboard;
pub(crate) mod dialog;
pub(crate) mod drag;
pub(crate) mod endless_model;
pub(crate) mod hub;
pub(crate) mod models_screen;
pub(crate) mod native_window;
pub(crate) mod notifications;
pub(crate) mod picture;
pub(crate) mod releases;
pub(crate) mod sandbox;
pub(crate) mod screen_keys;
pub(crate) mod stored_chats;
pub(crate) mod visual_check;
pub(crate) mod webdriver;
pub(crate) mod window;
