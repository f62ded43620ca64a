//! What the server can do wrong, on demand.

use std::str::FromStr;

/// One way in which the server misbehaves; in all else it does as it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It reads and never answers.
    SilentStart,
    /// It writes one line to stderr and ends with status 3 before it reads anything.
    DiesAtStart,
    /// It writes lines that are no JSON before each of its messages.
    JunkOnStdout,
    /// It leaves out the newline after the first result of a call, and writes nothing after it.
    NoNewline,
    /// Each result of a call is a line of more than 20 MiB.
    LongLine,
    /// Each result of a call holds bytes that are no UTF-8.
    BadUtf8,
    /// Each result of a call holds escape codes of terminals and a model's control tokens.
    Ansi,
    /// The description of `add` changes after the first listing. It says so 100 ms later: to whoever listens, else
    /// unasked.
    ChangesTools,
    /// The structured content of `add` contradicts its schema, and the arguments of `ask` are a list by its schema.
    LiesAboutSchema,
    /// It ends with status 4 in a call of `append`, after the line is on disk and before there is an answer.
    DiesInCall,
    /// It starts a child that holds its stdout and stderr open, ignores SIGTERM, lives for 1,000 s and stays in its
    /// process group. The log gets a line `grandchild PID`.
    Grandchild,
    /// Each page of its tools has 100 of them and the cursor of the next one, without end.
    TenThousandTools,
    /// Each call asks for input, whatever was answered before.
    InputRequiredForever,
    /// No call ends; each reports progress every 50 ms, even once it is cancelled.
    SlowDrip,
    /// It writes 10 MiB a second to stderr.
    FloodStderr,
    /// It goes on for 1,000 s after stdin has ended, and does not heed SIGTERM.
    IgnoresEnd,
}

/// A fault that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("There is no fault \"{name}\".")]
pub struct UnknownFault {
    /// What was asked for.
    pub name: String,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::SilentStart,
        Self::DiesAtStart,
        Self::JunkOnStdout,
        Self::NoNewline,
        Self::LongLine,
        Self::BadUtf8,
        Self::Ansi,
        Self::ChangesTools,
        Self::LiesAboutSchema,
        Self::DiesInCall,
        Self::Grandchild,
        Self::TenThousandTools,
        Self::InputRequiredForever,
        Self::SlowDrip,
        Self::FloodStderr,
        Self::IgnoresEnd,
    ];

    /// What the program calls it after `--fault`.
    pub fn as_argument(self) -> &'static str {
        match self {
            Self::SilentStart => "silent_start",
            Self::DiesAtStart => "dies_at_start",
            Self::JunkOnStdout => "junk_on_stdout",
            Self::NoNewline => "no_newline",
            Self::LongLine => "long_line",
            Self::BadUtf8 => "bad_utf8",
            Self::Ansi => "ansi",
            Self::ChangesTools => "changes_tools",
            Self::LiesAboutSchema => "lies_about_schema",
            Self::DiesInCall => "dies_in_call",
            Self::Grandchild => "grandchild",
            Self::TenThousandTools => "ten_thousand_tools",
            Self::InputRequiredForever => "input_required_forever",
            Self::SlowDrip => "slow_drip",
            Self::FloodStderr => "flood_stderr",
            Self::IgnoresEnd => "ignores_end",
        }
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|fault| fault.as_argument() == name);
        found.ok_or_else(|| UnknownFault { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_found_by_its_argument() {
        for fault in Fault::ALL {
            assert_eq!(fault.as_argument().parse(), Ok(fault));
        }
        assert_eq!("none".parse::<Fault>().unwrap_err().to_string(), "There is no fault \"none\".");
    }
}
