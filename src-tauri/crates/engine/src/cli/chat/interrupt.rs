//! Ctrl-C while a reply is written: it stops the reply instead of the program, and no other key disturbs the text.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::SIGINT;

/// Whether a person wants the reply to stop. Until [`Interrupt::listen`], Ctrl-C ends the program.
#[derive(Debug, Default)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
    listens: bool,
}

impl Interrupt {
    /// From now on Ctrl-C stops replies.
    pub(super) fn listen(&mut self) -> io::Result<()> {
        signal_hook::flag::register(SIGINT, Arc::clone(&self.asked))?;
        self.listens = true;
        Ok(())
    }

    /// A reply begins. What is typed until the result is dropped is not shown, and is there for the next line.
    pub(super) fn begin(&self) -> Option<Quiet> {
        self.asked.store(false, Ordering::Relaxed);
        self.listens.then(Quiet::begin).flatten()
    }

    /// Whether Ctrl-C was pressed since.
    pub(super) fn is_asked_for(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// The terminal does not show what is typed.
#[derive(Debug)]
pub(super) struct Quiet {
    before: Termios,
}

impl Quiet {
    fn begin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &quiet).ok()?;
        Some(Self { before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
