//! The lines of a chat: typed by a person, who can edit them and get earlier ones back, or read from standard input.
//! They are read on a thread of their own, so that the thread that owns MLX can do something while it waits.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler,
    Helper, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};

use super::command::completions;

/// How long nobody asks anything before the model may leave the place where it can answer at once.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// What there is to read.
pub(super) enum Line {
    Text(String),
    /// Ctrl-C where nothing was typed.
    Interrupted,
    /// Nothing comes any more.
    End,
}

/// Lines, one at a time, when they are asked for.
pub(super) struct Lines {
    ask: Sender<()>,
    lines: Receiver<io::Result<Line>>,
}

impl Lines {
    /// Lines that a person types at a prompt.
    pub(super) fn typed() -> io::Result<Self> {
        Self::read_by(|| {
            let config =
                Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
            let mut editor = Editor::with_history(config, MemHistory::new()).map_err(other)?;
            editor.set_helper(Some(Commands));
            editor.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(ClearFirst)));
            editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
            Ok(move || match editor.readline("> ") {
                Ok(line) => Ok(Line::Text(line)),
                Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(error) => Err(other(error)),
            })
        })
    }

    /// The lines of standard input.
    pub(super) fn piped() -> io::Result<Self> {
        Self::read_by(|| {
            let mut lines = io::stdin().lines();
            Ok(move || lines.next().transpose().map(|line| line.map_or(Line::End, Line::Text)))
        })
    }

    /// `make` makes the reader on the thread on which it reads.
    fn read_by<R: FnMut() -> io::Result<Line>>(
        make: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<Self> {
        let (ask, asked) = channel();
        let (found, lines) = channel();
        thread::Builder::new().name("input".into()).spawn(move || {
            let mut read = match make() {
                Ok(read) => read,
                Err(error) => return drop(found.send(Err(error))),
            };
            while asked.recv().is_ok() && found.send(read()).is_ok() {}
        })?;
        Ok(Self { ask, lines })
    }

    /// The next line. `idle` is called once if it is long in coming.
    pub(super) fn next(&mut self, idle: impl FnOnce()) -> io::Result<Line> {
        // A reader that could not be made says so on the other channel.
        let _ = self.ask.send(());
        let line = match self.lines.recv_timeout(IDLE_TIMEOUT) {
            Err(RecvTimeoutError::Timeout) => {
                idle();
                self.lines.recv().ok()
            }
            line => line.ok(),
        };
        line.unwrap_or(Ok(Line::End))
    }
}

fn other(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        error => io::Error::other(error),
    }
}

/// Ctrl-C takes back what is typed; where nothing is, it ends the line.
struct ClearFirst;

impl ConditionalEventHandler for ClearFirst {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        Some(if context.line().is_empty() { Cmd::Interrupt } else { Cmd::Kill(Movement::WholeBuffer) })
    }
}

/// Completes commands with Tab.
struct Commands;

impl Completer for Commands {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(completions(line, cursor))
    }
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}
impl Validator for Commands {}
impl Helper for Commands {}
