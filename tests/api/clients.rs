//! The server as the packages see it that other programs are written with.

use std::path::Path;
use std::process::Command;

use crate::server::Server;

#[test]
fn the_package_of_openai_understands_all_answers() {
    run("openai_client.py");
}

#[test]
fn the_package_of_anthropic_understands_all_answers() {
    run("anthropic_client.py");
}

/// What a schema or a choice of tools binds needs a model that writes.
#[test]
fn the_packages_get_the_forms_that_they_ask_for() {
    run_against(&Server::real(&["--no-token"]), "structured_clients.py");
}

/// Runs a program of a client against a server in front of the engine that does as it is told.
fn run(program: &str) {
    run_against(&Server::scripted(&["--no-token"]), program);
}

fn run_against(server: &Server, program: &str) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = tests.join("../target/tools/bin/clients-python");
    assert!(python.is_file(), "{} is missing: run `cargo xtask setup`", python.display());
    let output = Command::new(python)
        .arg(tests.join("oracle").join(program))
        .arg(server.port.to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
