//! A Hub for the window tests: the test Hub's program, which serves folders and ends with this.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use foretoken_tests::programs::built;
use serde_json::Value;

pub(crate) struct Hub {
    program: Child,
    endpoint: String,
}

impl Hub {
    /// A Hub with one model, which the catalogue knows; `options` as the program takes them.
    pub(crate) fn with(model: &Path, options: &[&str]) -> Self {
        let mut program = Command::new(built("foretoken-test-hub"))
            .arg(format!("{REPO}={}", model.display()))
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test Hub starts");
        let output = program.stdout.take().expect("its output is a pipe");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("the test Hub names its address");
        let told: Value = serde_json::from_str(&line).expect("its address is a line of JSON");
        let endpoint = told["endpoint"].as_str().expect("its address is a text").to_owned();
        Self { program, endpoint }
    }

    /// Its address.
    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// What the Hub serves.
pub(crate) const REPO: &str = "Qwen/Qwen3.5-0.8B";
/// What the page calls it.
pub(crate) const NAME: &str = "Qwen3.5-0.8B";
