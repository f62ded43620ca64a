//! What the app and its engine say while they run: to a file, and to whoever looks at the log in the window. No line
//! holds what was said in a chat.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foretoken_protocol::{LogLevel, LogLine};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::writer::{BoxMakeWriter, MakeWriterExt};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt as text};

use crate::clock::now;

/// What the log holds unless `RUST_LOG` says otherwise. What is said of a sign-in may have a part of it in it.
const FILTER: &str = "info,rmcp::transport::auth=off";
/// How many lines are kept to be looked at; the file has them all.
const LINES: usize = 2000;
/// The longest line that is kept, in characters.
const LONGEST: usize = 2000;
/// The most bytes of a file. There are two: when one is full, it takes the place of the one before.
const FILE_BYTES: usize = 8 * 1024 * 1024;

/// The newest lines of the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    lines: Arc<Mutex<Lines>>,
}

#[derive(Debug, Default)]
struct Lines {
    newest: VecDeque<LogLine>,
    count: u32,
}

impl Log {
    /// Logs from now on: to stderr, to the lines that are returned and, where it can be written, to a file that is
    /// begun anew.
    pub(crate) fn start(path: &Path) -> Self {
        let log = Self::default();
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
        let (writer, refused) = match LogFile::begin(path) {
            Ok(file) => (BoxMakeWriter::new(std::io::stderr.and(Mutex::new(file))), None),
            Err(error) => (BoxMakeWriter::new(std::io::stderr), Some(error)),
        };
        tracing_subscriber::registry()
            .with(filter)
            .with(text::layer().with_ansi(false).with_writer(writer))
            .with(log.clone())
            .init();
        if let Some(error) = refused {
            tracing::warn!("the log {} cannot be written: {error}", path.display());
        }
        log
    }

    /// The lines that came after the one of a number, oldest first.
    pub(crate) fn after(&self, number: u32) -> Vec<LogLine> {
        self.lock().newest.iter().filter(|line| line.number > number).cloned().collect()
    }

    /// The last `count` lines that tell of something wrong, oldest first.
    pub(crate) fn problems(&self, count: usize) -> Vec<LogLine> {
        let lines = self.lock();
        let wrong = lines.newest.iter().rev().filter(|line| line.level <= LogLevel::Warn).take(count);
        let mut wrong: Vec<_> = wrong.cloned().collect();
        wrong.reverse();
        wrong
    }

    fn add(&self, level: LogLevel, source: &str, text: String) {
        let mut lines = self.lock();
        lines.count += 1;
        let line = LogLine { number: lines.count, at: now(), level, source: source.into(), text };
        if lines.newest.len() == LINES {
            lines.newest.pop_front();
        }
        lines.newest.push_back(line);
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = match *event.metadata().level() {
            Level::ERROR => LogLevel::Error,
            Level::WARN => LogLevel::Warn,
            Level::INFO => LogLevel::Info,
            _ => LogLevel::Debug,
        };
        let mut words = Words::default();
        event.record(&mut words);
        let text = words.0.chars().take(LONGEST).collect();
        self.add(level, event.metadata().target(), text);
    }
}

/// What an event says: its message, then its fields.
#[derive(Default)]
struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

/// The file of the log. The one before is kept beside it.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
    bytes: usize,
}

impl LogFile {
    /// Begins a new file.
    fn begin(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if path.exists() {
            fs::rename(path, path.with_extension("previous.log"))?;
        }
        Ok(Self { path: path.to_owned(), file: File::create(path)?, bytes: 0 })
    }
}

impl io::Write for LogFile {
    /// Writes a line, or as much of it as a file holds.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let kept = &line[..line.len().min(FILE_BYTES)];
        if self.bytes + kept.len() > FILE_BYTES {
            *self = Self::begin(&self.path)?;
        }
        self.file.write_all(kept)?;
        self.bytes += kept.len();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_lines_in_their_order() {
        let log = Log::default();
        let subscriber = tracing_subscriber::registry().with(log.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!("a {}", 1);
            tracing::warn!(target: "foretoken_engine", seconds = 2, "slow");
            tracing::error!("{}", "é".repeat(2 * LONGEST));
        });
        let lines = log.after(0);
        let told: Vec<_> = lines.iter().map(|line| (line.number, line.level)).collect();
        assert_eq!(told, [(1, LogLevel::Info), (2, LogLevel::Warn), (3, LogLevel::Error)]);
        assert_eq!(lines[0].text, "a 1");
        assert_eq!(
            (lines[1].source.as_str(), lines[1].text.as_str()),
            ("foretoken_engine", "slow seconds=2")
        );
        assert_eq!(lines[2].text.chars().count(), LONGEST);
        assert_eq!(log.after(2), lines[2..]);
        assert_eq!(log.problems(1), lines[2..]);
        assert_eq!(log.problems(9), lines[1..]);
    }

    #[test]
    fn only_the_newest_lines_are_kept() {
        let log = Log::default();
        for number in 0..LINES + 5 {
            log.add(LogLevel::Info, "x", number.to_string());
        }
        let lines = log.after(0);
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[0].text, "5");
        assert_eq!(lines[0].number, 6);
    }

    #[test]
    fn the_log_of_the_start_before_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/foretoken.log");
        LogFile::begin(&path).unwrap();
        fs::write(&path, "first").unwrap();
        LogFile::begin(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
        assert_eq!(fs::read_to_string(folder.path().join("deep/foretoken.previous.log")).unwrap(), "first");
    }

    #[test]
    fn a_flood_fills_two_files_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("foretoken.log");
        let file = Mutex::new(LogFile::begin(&path).unwrap());
        let subscriber =
            tracing_subscriber::registry().with(text::layer().with_ansi(false).with_writer(file));
        tracing::subscriber::with_default(subscriber, || {
            let words = "the same again ".repeat(1000);
            for number in 0..3 * FILE_BYTES / words.len() {
                tracing::info!("{number} {words}");
            }
            tracing::warn!("{}", "x".repeat(2 * FILE_BYTES));
            tracing::info!("the last words");
        });
        let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 2, "{files:?}");
        for file in &files {
            assert!(fs::metadata(file).unwrap().len() <= FILE_BYTES as u64, "{}", file.display());
        }
        assert!(fs::read_to_string(&path).unwrap().ends_with("the last words\n"));
    }
}
