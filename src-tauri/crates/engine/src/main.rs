//! The engine's command-line tool. `serve` is what the app runs.

mod cli;

use std::alloc::System;
use std::io::ErrorKind;
use std::process::ExitCode;

use cap::Cap;
use clap::Parser;
use clap::error::ErrorKind as ClapError;
use foretoken_engine::{machine, mlx};
use tracing_subscriber::fmt::format::FmtSpan;

/// Counts what Rust takes of the heap, so that a command can have a limit. MLX's arrays are not among it.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// From now on the heap has at most so many bytes; a program that wants more is ended.
fn limit_memory(bytes: usize) {
    // It fails where more is in use already, and then the next allocation ends the program.
    let _ = ALLOCATOR.set_limit(bytes);
}

fn main() -> ExitCode {
    // First of all: nothing of MLX may have begun, and no thread.
    mlx::environment::prepare(machine::chip().as_deref());
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        // How long things take, for whoever asks for it by RUST_LOG.
        .with_span_events(FmtSpan::CLOSE)
        .init();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if is_misuse(&error) => {
            eprintln!("foretoken-engine: {}", one_line(&error));
            return ExitCode::from(2);
        }
        // Help and version are printed in full.
        Err(asked_for) => asked_for.exit(),
    };
    // In every command, or one of them would look for Metal's kernels where they were built.
    let ran = mlx::metallib::prepare().map_err(cli::engine).and_then(|()| cli.run());
    // A step that was begun may still be with the device. Whatever fails there concerns nobody any more.
    if mlx::waits() > 0 {
        let _ = mlx::synchronize();
    }
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(cli::CliError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("foretoken-engine: {}", cli::harmless(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn is_misuse(error: &clap::Error) -> bool {
    error.use_stderr() && error.kind() != ClapError::DisplayHelpOnMissingArgumentOrSubcommand
}

/// What is wrong with the arguments, without the lines that clap adds below it.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let added = |line: &str| line.starts_with("Usage:") || line.starts_with("For more information");
    let problem: Vec<&str> =
        text.lines().take_while(|line| !added(line)).flat_map(str::split_whitespace).collect();
    format!("{}. Try --help.", problem.join(" ").trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_with_a_limit_gets_no_more_memory() {
        const LIMIT: usize = 1 << 30;
        limit_memory(LIMIT);
        assert!(Vec::<u8>::new().try_reserve_exact(LIMIT).is_err(), "some of it is in use");
        assert!(Vec::<u8>::new().try_reserve_exact(LIMIT / 2).is_ok());
    }
}
