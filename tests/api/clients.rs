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

#[test]
fn the_package_of_openai_for_node_understands_all_answers() {
    run_with("clients-node", &alone(), "openai_client.mjs");
}

#[test]
fn the_package_of_anthropic_for_node_understands_all_answers() {
    run_with("clients-node", &alone(), "anthropic_client.mjs");
}

/// What a schema or a choice of tools binds needs a model that writes.
#[test]
fn the_packages_get_the_forms_that_they_ask_for() {
    run_with("clients-python", &Server::real(&["--no-token"]), "structured_clients.py");
}

/// What is shown to a model needs one that sees.
#[test]
fn the_packages_show_pictures() {
    let (_model, server) = crate::pictures::seeing();
    run_with("clients-python", &server, "picture_clients.py");
}

/// And so does an agent.
#[test]
fn the_package_of_langchain_understands_all_answers() {
    run_with("clients-python", &Server::real(&["--no-token"]), "langchain_client.py");
}

#[test]
fn an_agent_of_langchain_takes_five_steps_with_two_tools() {
    run("langchain_agent.py");
}

/// A prompt that is read for longer than a connection may be silent.
#[test]
fn the_packages_wait_for_a_prompt_that_is_read_for_long() {
    run("patient_clients.py");
    run_with("clients-node", &alone(), "patient_client.mjs");
}

/// Whoever waits for long has a status before it is known whether the request can be answered.
#[test]
fn the_packages_raise_what_is_refused_late() {
    run_with("clients-python", &alone(), "late_refusals.py");
}

/// What other programs have sent, and their answers by the types of the packages.
#[test]
fn what_other_programs_send_is_answered_in_the_form_that_they_read() {
    run("recorded_clients.py");
}

/// A server that writes one reply at a time: whoever keeps the place is noticed.
fn alone() -> Server {
    Server::scripted(&["--no-token", "--rows", "1"])
}

/// Runs a program of a client against a server in front of the engine that does as it is told.
fn run(program: &str) {
    run_with("clients-python", &Server::scripted(&["--no-token"]), program);
}

/// Runs a program with an interpreter that the set-up has prepared.
fn run_with(interpreter: &str, server: &Server, program: &str) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let interpreter = tests.join("../target/tools/bin").join(interpreter);
    assert!(interpreter.is_file(), "{} is missing: run `cargo xtask setup`", interpreter.display());
    let output = Command::new(interpreter)
        .arg(tests.join("oracle").join(program))
        .arg(server.port.to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
