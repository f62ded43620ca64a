//! The engine's own Metal kernels, whose texts are compiled and run here as they are, on the processor: against their
//! definition in f64 and the engine's operations, in many orders of threads, and broken on purpose. Where MLX has a
//! GPU, Apple's or NVIDIA's, it compiles them for that, and the same cases run there.

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "kernels are broken and reordered on Linux alone")
)]

mod case;
mod cases;
#[cfg(target_os = "linux")]
mod cuda;
#[cfg(target_os = "linux")]
mod dispatches;
#[cfg(target_os = "linux")]
mod engine;
#[cfg(target_os = "linux")]
mod front_end;
#[cfg(target_os = "linux")]
mod host;
mod launched;
#[cfg(target_os = "linux")]
mod layer;
#[cfg(target_os = "linux")]
mod mutants;
#[cfg(target_os = "linux")]
mod networks;
mod numbers;
mod program;
#[cfg(target_os = "linux")]
mod text;

/// Runs all cases of a kernel: here on the processor, and where MLX has a GPU, on that.
fn agree(cases: &[case::Case]) {
    #[cfg(target_os = "linux")]
    case::agree(cases);
    let device = foretoken_engine::mlx::kernels::of_device();
    #[cfg(not(target_os = "linux"))]
    let device = Some(device.expect("a Mac has Metal"));
    if let Some(device) = device {
        launched::agree(&*device, cases);
    }
}

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
