//! Config, index and headers of a model: whatever the bytes, there is an answer.

#![no_main]

#[path = "../parts.rs"]
mod parts;

use foretoken_engine::checkpoint::{FileHeader, Metadata, inspect};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(inspection) = inspect(&parts::metadata(bytes), None) {
        let _ = inspection.to_string();
    }
});
