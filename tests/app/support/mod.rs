//! What the window tests share: a sandbox in which the app runs, its window as a page object, and whatever else of a
//! desktop they need.

pub(crate) mod bad_models;

#[cfg(target_os = "linux")]
pub(crate) mod dialog;
#[cfg(target_os = "linux")]
pub(crate) mod drag;
#[cfg(target_os = "linux")]
pub(crate) mod endless_model;
#[cfg(target_os = "linux")]
pub(crate) mod hub;
#[cfg(target_os = "linux")]
pub(crate) mod models_screen;
#[cfg(target_os = "linux")]
pub(crate) mod native_window;
#[cfg(target_os = "linux")]
pub(crate) mod notifications;
#[cfg(target_os = "linux")]
pub(crate) mod picture;
#[cfg(target_os = "linux")]
pub(crate) mod sandbox;
#[cfg(target_os = "linux")]
pub(crate) mod stored_chats;
#[cfg(target_os = "linux")]
pub(crate) mod visual_check;
#[cfg(target_os = "linux")]
pub(crate) mod webdriver;
#[cfg(target_os = "linux")]
pub(crate) mod window;
