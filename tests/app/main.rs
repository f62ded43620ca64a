//! The app as a person uses it: the real window, driven through WebDriver on a screen of its own. Only on Linux: macOS
//! has no WebDriver for the webview.

#![cfg(target_os = "linux")]

mod bad_models;
mod benchmarks;
mod blocked_scheme;
mod chat_list;
mod chat_model;
mod chat_settings;
mod chat_windows;
mod damage;
mod deaths;
mod draft_models;
mod drafting;
mod faults;
mod files;
mod first_start;
mod following;
mod gallery;
mod keyboard;
mod languages;
mod library;
mod local_api;
mod looks;
mod macs;
mod many;
mod markdown;
mod models_screen;
mod narrow;
mod offers;
mod package;
mod palette;
mod pictures;
mod pointer;
mod projects;
mod quick;
mod quitting;
mod replies;
mod search;
mod security;
mod settings;
mod speed;
mod start_up;
mod stopping;
mod streaming;
mod summary;
mod support;
mod tools;
mod updates;
mod versions;
