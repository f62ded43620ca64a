//! The engine's own Metal kernels, whose texts are compiled and run here as they are, on the processor: against their
//! definition in f64 and the engine's operations, in many orders of threads, and broken on purpose. Only on Linux;
//! where there is Metal, MLX compiles them.

#![cfg(target_os = "linux")]

mod case;
mod cases;
mod dispatches;
mod engine;
mod front_end;
mod host;
mod layer;
mod mutants;
mod networks;
mod numbers;
mod program;
mod text;

use crate::case::agree;

#[test]
fn gdn_step_agrees() {
    agree(&cases::gdn_step::cases());
}

#[test]
fn gdn_prepare_agrees() {
    agree(&cases::gdn_prepare::cases());
}

#[test]
fn gated_norm_agrees() {
    agree(&cases::gated_norm::cases());
}

#[test]
fn gated_agrees() {
    agree(&cases::gated::cases());
}

#[test]
fn add_norm_agrees() {
    agree(&cases::add_norm::cases());
}

#[test]
fn attention_prepare_agrees() {
    agree(&cases::attention_prepare::cases());
}

#[test]
fn moe_combine_agrees() {
    agree(&cases::moe_combine::cases());
}

#[test]
fn router_agrees() {
    agree(&cases::router::cases());
}

#[test]
fn top_k_blocks_agrees() {
    agree(&cases::top_k::cases()[0]);
}

#[test]
fn top_k_merge_agrees() {
    agree(&cases::top_k::cases()[1]);
}
