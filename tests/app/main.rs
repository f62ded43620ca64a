//! The programs as a person runs them: the real window, driven through WebDriver on a screen of its own, and the
//! command line. The window tests need Linux; macOS has no WebDriver for the webview.

mod bad_models;
mod support;

#[cfg(target_os = "linux")]
mod benchmarks;
#[cfg(target_os = "linux")]
mod chat_list;
#[cfg(target_os = "linux")]
mod chat_model;
#[cfg(target_os = "linux")]
mod chat_settings;
#[cfg(target_os = "linux")]
mod damage;
#[cfg(target_os = "linux")]
mod deaths;
#[cfg(target_os = "linux")]
mod drafting;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod following;
#[cfg(target_os = "linux")]
mod keyboard;
#[cfg(target_os = "linux")]
mod library;
#[cfg(target_os = "linux")]
mod looks;
#[cfg(target_os = "linux")]
mod many;
#[cfg(target_os = "linux")]
mod markdown;
#[cfg(target_os = "linux")]
mod models_screen;
#[cfg(target_os = "linux")]
mod palette;
#[cfg(target_os = "linux")]
mod pointer;
#[cfg(target_os = "linux")]
mod quitting;
#[cfg(target_os = "linux")]
mod replies;
#[cfg(target_os = "linux")]
mod security;
#[cfg(target_os = "linux")]
mod settings;
#[cfg(target_os = "linux")]
mod speed;
#[cfg(target_os = "linux")]
mod stopping;
#[cfg(target_os = "linux")]
mod streaming;
#[cfg(target_os = "linux")]
mod versions;
