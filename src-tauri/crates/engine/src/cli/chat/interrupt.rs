//! Ctrl-C while a reply is written: it stops the reply instead of the program, and no other key disturbs the text. A
//! thread of its own takes the signals, so that a reply that does not stop can be left, and the terminal shows again
//! what is typed, in its own style, whichever of them ends the program.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, ttyname};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// How long a reply may take to stop before another Ctrl-C ends the program: longer than pressing it twice takes.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the terminal may be busy with text of the reply before it is left as it is.
const RESET_TIMEOUT: Duration = Duration::from_millis(100);

/// Whether a person wants the reply to stop. Until [`Interrupt::listen`], Ctrl-C ends the program.
#[derive(Debug, Default)]
pub(super) struct Interrupt {
    asked: Asked,
    listens: bool,
}

/// Since when a person has wanted what runs to stop.
#[derive(Debug, Clone, Default)]
struct Asked(Arc<Mutex<Option<Instant>>>);

impl Asked {
    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ctrl-C was pressed; says whether it was long ago that it was pressed first, and in vain.
    fn again(&self, now: Instant) -> bool {
        now - *self.since().get_or_insert(now) >= STOP_TIMEOUT
    }
}

impl Interrupt {
    /// From now on Ctrl-C stops replies. `reset` is written to the terminal when a signal ends the program.
    pub(super) fn listen(&mut self, reset: String) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
        let (asked, before) = (self.asked.clone(), tcgetattr(io::stdin())?);
        let mut screen = reopened_screen();
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                if signal != SIGINT || asked.again(Instant::now()) {
                    restore(&before);
                    if let Ok(screen) = &mut screen
                        && is_in_foreground()
                    {
                        reset_screen(screen, reset.as_bytes());
                    }
                    let _ = emulate_default_handler(signal);
                }
            }
        })?;
        self.listens = true;
        Ok(())
    }

    /// A reply begins. What is typed until the result is dropped is not shown, and is there for the next line.
    pub(super) fn begin(&self) -> Writing {
        *self.asked.since() = None;
        Writing { asked: self.asked.clone(), before: self.listens.then(silence).flatten() }
    }

    /// Whether Ctrl-C was pressed since.
    pub(super) fn is_asked_for(&self) -> bool {
        self.asked.since().is_some()
    }
}

/// A reply is written, and the terminal does not show what is typed.
#[derive(Debug)]
pub(super) struct Writing {
    asked: Asked,
    /// How the terminal was before.
    before: Option<Termios>,
}

impl Drop for Writing {
    fn drop(&mut self) {
        *self.asked.since() = None;
        if let Some(before) = &self.before {
            restore(before);
        }
    }
}

/// Makes the terminal what it was, unless another program has it now: the modes are then the other's.
fn restore(before: &Termios) {
    if is_in_foreground() {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
    }
}

/// Whether no other program has the terminal. In the background this one would be stopped for changing it. Without job
/// control there is no other.
fn is_in_foreground() -> bool {
    tcgetpgrp(io::stdin()).map_or(true, |foreground| foreground == getpgrp())
}

/// The terminal of standard output for somebody who must not wait for it: the thread that writes a reply may be doing
/// that for ever.
fn reopened_screen() -> io::Result<File> {
    let name = ttyname(io::stdout(), Vec::new())?;
    let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
    let path = PathBuf::from(OsString::from_vec(name.into_bytes()));
    OpenOptions::new().write(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Writes to a terminal that is not waited for, beside whoever is writing to it at the moment. One that takes nothing
/// more stays as it is.
fn reset_screen(screen: &mut impl Write, reset: &[u8]) {
    let begun = Instant::now();
    while let Err(error) = screen.write_all(reset)
        && error.kind() == io::ErrorKind::WouldBlock
        && begun.elapsed() < RESET_TIMEOUT
    {
        thread::sleep(RESET_TIMEOUT / 20);
    }
}

/// Makes the terminal show nothing of what is typed. Returns how it was before.
fn silence() -> Option<Termios> {
    let before = tcgetattr(io::stdin()).ok()?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(io::stdin(), OptionalActions::Now, &silent).ok()?;
    Some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stop_that_was_in_vain_for_long_ends_the_program() {
        let interrupt = Interrupt::default();
        let writing = interrupt.begin();
        assert!(!interrupt.is_asked_for());
        let pressed = Instant::now();
        assert!(!interrupt.asked.again(pressed) && interrupt.is_asked_for());
        assert!(!interrupt.asked.again(pressed + STOP_TIMEOUT / 2));
        assert!(interrupt.asked.again(pressed + STOP_TIMEOUT));
        // The reply has stopped after all.
        drop(writing);
        assert!(!interrupt.is_asked_for() && !interrupt.asked.again(pressed + 2 * STOP_TIMEOUT));
        let _writing = interrupt.begin();
        assert!(!interrupt.is_asked_for());
    }
}
