//! Config, index and headers of a model: whatever the bytes, there is an answer, and what is planned is sound.

#![no_main]

#[path = "../parts.rs"]
mod parts;

use foretoken_engine::checkpoint::{Config, FileHeader, Index, Layout, Metadata};
use foretoken_engine::inspect::inspect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    parts::check(&parts::metadata(bytes));
});
