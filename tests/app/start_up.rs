//! How long a start takes. A benchmark for people, who run it on a quiet machine: it asserts nothing about time.

use std::time::Instant;

use crate::support::sandbox::Sandbox;

/// Starts with the same home; the first is left out, since it makes folders and files.
const STARTS: usize = 8;

#[test]
#[ignore = "a benchmark of a minute; see tests/README.md"]
fn from_a_start_to_a_message_that_can_be_typed() {
    let sandbox = Sandbox::new(1280, 900);
    let mut seconds: Vec<_> = (0..STARTS)
        .map(|_| {
            let started = Instant::now();
            let window = sandbox.open();
            let took = started.elapsed().as_secs_f64();
            drop(window);
            took
        })
        .skip(1)
        .collect();
    seconds.sort_by(f64::total_cmp);
    let (least, middle, most) = (seconds[0], seconds[seconds.len() / 2], seconds[seconds.len() - 1]);
    println!("a start with a model that is loaded, driver included: {middle:.2} s ({least:.2} to {most:.2})");
}
