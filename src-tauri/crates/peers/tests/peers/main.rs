//! Pairing, lending, rings and files over real TLS on 127.0.0.1.

mod files;
mod gifts;
mod lending;
mod macs;
mod pairing;
mod pipes;
mod raw;
mod refusals;
mod rings;
