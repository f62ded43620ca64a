//! Other Macs on the command line: pairing with them, lending this one, and spreading a model over them.

mod lead;
mod lend;
mod peers;
mod store;

pub(super) use lead::{ChannelOption, Model, lead};
pub(super) use lend::Lend;
pub(super) use peers::Peers;

use std::future::Future;
use std::io;

use foretoken_protocol::ErrorReport;

use super::CliError;

/// Runs something of the network.
fn run<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| CliError::Usage(format!("The network cannot be used: {error}.")))?.block_on(work)
}

/// What another Mac or the network did not do, as a line for people.
fn network(error: impl Into<ErrorReport>) -> CliError {
    CliError::Engine(error.into())
}

/// Asks the person something that can be answered by yes; anything else is a no.
fn confirms(question: &str) -> io::Result<bool> {
    eprint!("{question} [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Six digits as people read them.
fn grouped(digits: &str) -> String {
    match digits.split_at_checked(3) {
        Some((first, last)) => format!("{first} {last}"),
        None => digits.to_owned(),
    }
}
