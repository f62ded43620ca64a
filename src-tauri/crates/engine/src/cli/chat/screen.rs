//! What a chat looks like: replies with their thinking dimmed and their drafts marked, and all that is said beside
//! them. Without a terminal it is text and nothing else, and what is beside the replies goes to standard error where
//! nobody asked for it.

use std::env;
use std::io::{self, Write};

use foretoken_engine::session::Progress;
use foretoken_protocol::{Part, TokenText};

use super::conversation::texts;
use crate::cli::harmless;

/// Prompts of fewer tokens are read before anybody wonders.
const LONG_PROMPT: usize = 1024;

const RESET: &str = "\x1b[0m";
const DIM: &str = "2";
const RED: &str = "31";
/// Green, cyan, magenta and yellow for drafts at positions 1, 2, 3 and further on.
const DRAFTS: [&str; 4] = ["32", "36", "35", "33"];

/// What the place where a chat is shown can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    /// A person looks at a terminal.
    pub(super) is_terminal: bool,
    /// Lines can be taken back.
    erases: bool,
    /// Text can be coloured and dimmed.
    colours: bool,
}

impl Look {
    /// What the environment says of a terminal; without one nothing can be done.
    pub(super) fn of_environment(is_terminal: bool) -> Self {
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let erases = is_terminal && env::var_os("TERM").is_some_and(|term| term != "dumb");
        Self { is_terminal, erases, colours: erases && !is_set("NO_COLOR") }
    }
}

/// How a piece of a reply is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style {
    part: Part,
    /// Where drafts are marked, the position of the draft that it came from.
    draft: Option<u8>,
}

const PLAIN: Style = Style { part: Part::Answer, draft: None };

/// Where a chat is shown.
#[derive(Debug)]
pub(super) struct Screen<W> {
    out: W,
    look: Look,
    /// Whether text that came from drafts is marked.
    pub(super) reveal: bool,
    style: Style,
    /// The part of the reply that was written last; `None` before its first text.
    part: Option<Part>,
    /// Whether the last character was a line break.
    at_line_start: bool,
    /// Whether a line is shown that the next text takes the place of.
    has_transient: bool,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W, look: Look) -> Self {
        Self { out, look, reveal: false, style: PLAIN, part: None, at_line_start: true, has_transient: false }
    }

    /// Shows how a reply goes on.
    pub(super) fn show(&mut self, progress: &Progress) -> io::Result<()> {
        if let Progress::Reading { done, total } = progress
            && *total >= LONG_PROMPT
        {
            self.transient(&format!("Reading the prompt … {} %", 100 * done / total))?;
        }
        for text in texts(progress).filter(|text| !text.text.is_empty()) {
            self.piece(text)?;
        }
        self.out.flush()
    }

    /// Ends the line of a reply, and whatever marks its text.
    pub(super) fn end_reply(&mut self) -> io::Result<()> {
        self.clear_transient()?;
        self.restyle(PLAIN)?;
        if !self.at_line_start {
            writeln!(self.out)?;
        }
        self.at_line_start = true;
        self.part = None;
        self.out.flush()
    }

    fn piece(&mut self, text: &TokenText) -> io::Result<()> {
        self.clear_transient()?;
        if self.part != Some(text.part) {
            self.restyle(Style { part: text.part, draft: None })?;
            if self.part.is_some() {
                write!(self.out, "\n\n")?;
            }
            if text.part == Part::Thinking {
                write!(self.out, "Thinking: ")?;
            }
            self.part = Some(text.part);
        }
        self.restyle(Style { part: text.part, draft: text.draft_position.filter(|_| self.reveal) })?;
        let readable = harmless(&text.text);
        self.at_line_start = readable.ends_with('\n');
        write!(self.out, "{readable}")
    }

    /// From here on text has this style.
    fn restyle(&mut self, style: Style) -> io::Result<()> {
        if style == self.style {
            return Ok(());
        }
        if self.look.colours {
            write!(self.out, "{RESET}")?;
            if style.part == Part::Thinking {
                write!(self.out, "\x1b[{DIM}m")?;
            }
            if let Some(position) = style.draft {
                write!(self.out, "\x1b[{}m", colour(position))?;
            }
        } else {
            // Whoever sees no colours sees brackets.
            match (self.style.draft, style.draft) {
                (None, Some(_)) => write!(self.out, "[")?,
                (Some(_), None) => write!(self.out, "]")?,
                _ => {}
            }
        }
        self.style = style;
        Ok(())
    }

    /// Says what the marks of drafts mean.
    pub(super) fn explain_marks(&mut self) -> io::Result<()> {
        if !self.reveal {
            return self.note("Text that came from drafts is not marked.");
        }
        if !self.look.colours {
            return self.note("Text that came from drafts stands in [brackets].");
        }
        let positions = ["1st", "2nd", "3rd", "later"];
        let samples: Vec<String> = positions
            .iter()
            .zip(DRAFTS)
            .map(|(name, colour)| format!("\x1b[{colour}m{name}{RESET}"))
            .collect();
        let samples = samples.join(", ");
        writeln!(self.out, "Text that came from drafts is coloured by the draft's place: {samples}.")?;
        self.out.flush()
    }

    /// Says something that was asked for.
    pub(super) fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", harmless(text))?;
        self.out.flush()
    }

    /// Says how a reply went.
    pub(super) fn status(&mut self, text: &str) -> io::Result<()> {
        if !self.look.is_terminal {
            // Whoever does not listen there may still want the text.
            let _ = writeln!(io::stderr(), "{text}");
            return Ok(());
        }
        let (begin, end) = self.marks(DIM);
        writeln!(self.out, "{begin}{text}{end}\n")?;
        self.out.flush()
    }

    /// Says to a person what went wrong.
    pub(super) fn problem(&mut self, text: &str) -> io::Result<()> {
        let (begin, end) = self.marks(RED);
        writeln!(self.out, "{begin}{}{end}", harmless(text))?;
        self.out.flush()
    }

    fn marks(&self, style: &str) -> (String, &'static str) {
        if self.look.colours { (format!("\x1b[{style}m"), RESET) } else { (String::new(), "") }
    }

    /// Shows a line that gives way to the next text, where that can be done.
    pub(super) fn transient(&mut self, text: &str) -> io::Result<()> {
        if self.look.erases {
            let (begin, end) = self.marks(DIM);
            write!(self.out, "\r\x1b[2K{begin}{}{end}", harmless(text))?;
            self.has_transient = true;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Takes that line back.
    pub(super) fn clear_transient(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.has_transient) {
            write!(self.out, "\r\x1b[2K")?;
            self.out.flush()?;
        }
        Ok(())
    }
}

fn colour(position: u8) -> &'static str {
    DRAFTS[usize::from(position).clamp(1, DRAFTS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: Look = Look { is_terminal: true, erases: true, colours: true };
    const PIPE: Look = Look { is_terminal: false, erases: false, colours: false };

    fn text(part: Part, draft_position: Option<u8>, text: &str) -> TokenText {
        TokenText { text: text.into(), part, draft_position }
    }

    /// A reply that thinks, drafts and holds an escape code.
    fn shown(look: Look, reveal: bool) -> String {
        let mut screen = Screen::new(Vec::new(), look);
        screen.reveal = reveal;
        for piece in [
            text(Part::Thinking, None, "hm"),
            text(Part::Answer, None, "One"),
            text(Part::Answer, Some(1), " two"),
            text(Part::Answer, Some(2), " three"),
            text(Part::Answer, None, "\x1b[2J."),
        ] {
            screen.piece(&piece).unwrap();
        }
        screen.end_reply().unwrap();
        String::from_utf8(screen.out).unwrap()
    }

    #[test]
    fn thinking_is_marked_and_text_cannot_command_the_terminal() {
        assert_eq!(shown(PIPE, false), "Thinking: hm\n\nOne two three\u{fffd}[2J.\n");
        assert_eq!(
            shown(TERMINAL, false),
            "\x1b[0m\x1b[2mThinking: hm\x1b[0m\n\nOne two three\u{fffd}[2J.\n"
        );
    }

    #[test]
    fn drafts_are_coloured_or_stand_in_brackets() {
        assert_eq!(shown(PIPE, true), "Thinking: hm\n\nOne[ two three]\u{fffd}[2J.\n");
        let shown = shown(TERMINAL, true);
        assert!(shown.contains("One\x1b[0m\x1b[32m two\x1b[0m\x1b[36m three\x1b[0m\u{fffd}"), "{shown:?}");
    }
}
