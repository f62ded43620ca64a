//! A server by HTTP that lets nobody in who has not signed in, with the authorization server of the SDK for Python.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long Python may take to start on a busy machine.
const STARTING: Duration = Duration::from_secs(120);

/// Such a server, until it is dropped. Whoever opens the page of a sign-in is let in at once.
#[derive(Debug)]
pub struct Vault {
    process: Child,
    folder: tempfile::TempDir,
    /// Its address.
    pub address: String,
}

impl Vault {
    /// Starts one that grants access for so many seconds at a time.
    ///
    /// # Panics
    ///
    /// Where the set-up has not left the SDK, or nothing listens in time.
    pub fn start(seconds: u32) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = here.ancestors().nth(3).unwrap().join("target/tools/bin/mcp-python");
        assert!(python.is_file(), "{} is missing: run `cargo xtask setup`", python.display());
        // One that nobody has just now.
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let process = Command::new(python)
            .arg(here.join("vault.py"))
            .args([port.to_string(), seconds.to_string()])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let vault = Self { process, folder, address: format!("http://127.0.0.1:{port}/mcp") };
        let by = Instant::now() + STARTING;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < by, "it does not listen");
            sleep(Duration::from_millis(20));
        }
        vault
    }

    /// From now on whoever opens the page of a sign-in is refused.
    ///
    /// # Panics
    ///
    /// Where its folder cannot be written.
    pub fn refuse(&self) {
        fs::write(self.folder.path().join("refuse"), "").unwrap();
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
