//! What a chat looks like: replies with their thinking dimmed and their drafts marked, and all that is said beside
//! them. Without a terminal it is text and nothing else, and what is beside the replies goes to standard error where
//! nobody asked for it.

use std::env;
use std::io::{self, Write};
use std::os::fd::AsFd;

use foretoken_engine::session::Progress;
use foretoken_protocol::{Part, TokenText};
use rustix::termios::tcgetwinsize;
use unicode_width::UnicodeWidthChar;

use super::conversation::texts;
use super::report;
use crate::cli::harmless;

/// Prompts of fewer tokens are read before anybody wonders.
const LONG_PROMPT: usize = 1024;

const RESET: &str = "\x1b[0m";
const ERASE_BELOW: &str = "\x1b[J";
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

    /// What ends the style of a reply that is left in the middle, and takes back what stands below it.
    pub(super) fn reset(self) -> String {
        let style = if self.colours { RESET } else { "" };
        let below = if self.erases { ERASE_BELOW } else { "" };
        format!("{style}{below}")
    }
}

/// How wide a terminal is now; `None` where that cannot be told.
pub(super) fn columns(terminal: impl AsFd) -> Option<usize> {
    let columns = tcgetwinsize(terminal).ok()?.ws_col;
    (columns > 0).then_some(usize::from(columns))
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
    columns: fn() -> Option<usize>,
    /// Whether text that came from drafts is marked.
    pub(super) reveal: bool,
    style: Style,
    /// The part of the reply that was written last; `None` before its first text.
    part: Option<Part>,
    /// Whether the last character was a line break.
    at_line_start: bool,
    /// Where in its line the text ends.
    cursor: Cursor,
    /// How wide the terminal was when that was told last, if it was since the text began.
    width: Option<usize>,
    /// Whether a line is shown that the next text takes the place of.
    has_transient: bool,
    /// Whether the numbers so far are shown below the text.
    has_live: bool,
}

/// Where in a line of the terminal a text ends.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    column: usize,
    /// Whether terminals may disagree on where that is.
    is_doubtful: bool,
}

impl Cursor {
    /// Where the text ends once `c` is added, in a terminal with so many columns.
    fn after(self, c: char, columns: usize) -> Self {
        let Self { column, is_doubtful } = self;
        match c {
            '\n' => Self::default(),
            // Behind the last column a tab stays there, or does not.
            '\t' if column >= columns => Self { column, is_doubtful: true },
            '\t' => Self { column: ((column / 8 + 1) * 8).min(columns - 1), is_doubtful },
            c => {
                let width = c.width().unwrap_or(0);
                let column = if column + width > columns { width } else { column + width };
                // Emoji, and what joins with the character before it.
                Self { column, is_doubtful: is_doubtful || width == 0 || c >= '\u{1f000}' }
            }
        }
    }

    /// Whether more text goes on in the same line. Behind the last column a terminal waits for more before it begins
    /// another, and forgets that where the cursor moves.
    fn is_within(self, columns: usize) -> bool {
        !self.is_doubtful && self.column < columns
    }
}

impl<W: Write> Screen<W> {
    /// `columns` tells how wide the terminal is, if there is one.
    pub(super) fn new(out: W, look: Look, columns: fn() -> Option<usize>) -> Self {
        Self {
            out,
            look,
            columns,
            reveal: false,
            style: PLAIN,
            part: None,
            at_line_start: true,
            cursor: Cursor::default(),
            width: None,
            has_transient: false,
            has_live: false,
        }
    }

    /// Shows how a reply goes on.
    pub(super) fn show(&mut self, progress: &Progress) -> io::Result<()> {
        if let Progress::Reading { done, total } = progress
            && *total >= LONG_PROMPT
            // Read again in the middle of a reply, it would take the place of the text.
            && self.part.is_none()
        {
            self.transient(&format!("Reading the prompt … {} %", 100 * done / total))?;
        }
        for text in texts(progress).filter(|text| !text.text.is_empty()) {
            self.piece(text)?;
        }
        if let Progress::Tokens { live, .. } = progress
            && let Some(numbers) = report::live(live)
        {
            self.live(&numbers)?;
        }
        self.out.flush()
    }

    /// Ends the line of a reply, and whatever marks its text.
    pub(super) fn end_reply(&mut self) -> io::Result<()> {
        self.clear_transient()?;
        self.clear_live()?;
        self.restyle(PLAIN)?;
        if !self.at_line_start {
            writeln!(self.out)?;
        }
        (self.at_line_start, self.cursor, self.width) = (true, Cursor::default(), None);
        self.part = None;
        self.out.flush()
    }

    fn piece(&mut self, text: &TokenText) -> io::Result<()> {
        self.clear_transient()?;
        self.clear_live()?;
        if self.part != Some(text.part) {
            self.restyle(Style { part: text.part, draft: None })?;
            if self.part.is_some() {
                self.put("\n\n")?;
            }
            if text.part == Part::Thinking {
                self.put("Thinking: ")?;
            }
            self.part = Some(text.part);
        }
        self.restyle(Style { part: text.part, draft: text.draft_position.filter(|_| self.reveal) })?;
        self.put(&harmless(&text.text))
    }

    /// How wide the terminal is now. Where that has changed in the middle of a line, some terminals have broken the
    /// line anew and others have not.
    fn width(&mut self) -> Option<usize> {
        let columns = (self.columns)()?;
        let has_changed = self.width.replace(columns).is_some_and(|before| before != columns);
        self.cursor.is_doubtful |= has_changed && self.cursor.column > 0;
        Some(columns)
    }

    /// Adds to the text.
    fn put(&mut self, text: &str) -> io::Result<()> {
        self.at_line_start = text.ends_with('\n');
        if let Some(columns) = self.width() {
            self.cursor = text.chars().fold(self.cursor, |cursor, c| cursor.after(c, columns));
        }
        write!(self.out, "{text}")
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
                (None, Some(_)) => self.put("[")?,
                (Some(_), None) => self.put("]")?,
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
            let line = clipped(&harmless(text), (self.columns)().unwrap_or(usize::MAX));
            write!(self.out, "\r\x1b[2K{begin}{line}{end}")?;
            self.has_transient = true;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Shows numbers in the line below the text, until more text comes, and leaves the cursor where it was.
    fn live(&mut self, numbers: &str) -> io::Result<()> {
        self.clear_live()?;
        let Some(columns) = self.width() else { return Ok(()) };
        if self.look.erases && self.cursor.is_within(columns) {
            let (begin, end) = self.marks(DIM);
            let line = clipped(numbers, columns);
            // One line down and up again, so that there is one; the place is kept, and returned to.
            write!(self.out, "\x1bD\x1b[A\x1b7\x1b[B\r{begin}{line}{end}\x1b8")?;
            self.has_live = true;
        }
        Ok(())
    }

    /// Takes that line back.
    fn clear_live(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.has_live) { write!(self.out, "{ERASE_BELOW}") } else { Ok(()) }
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

/// As much of a line as a terminal with so many columns shows in one.
fn clipped(line: &str, columns: usize) -> String {
    let width = |column: &mut usize, c: char| {
        *column += c.width().unwrap_or(0);
        (*column < columns).then_some(c)
    };
    line.chars().scan(0, width).collect()
}

fn colour(position: u8) -> &'static str {
    DRAFTS[usize::from(position).clamp(1, DRAFTS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use foretoken_engine::session::ReplyToken;
    use foretoken_protocol::LiveStats;
    use proptest::prelude::*;

    use super::*;

    const TERMINAL: Look = Look { is_terminal: true, erases: true, colours: true };
    const PIPE: Look = Look { is_terminal: false, erases: false, colours: false };

    fn text(part: Part, draft_position: Option<u8>, text: &str) -> TokenText {
        TokenText { text: text.into(), part, draft_position }
    }

    /// A reply that thinks, drafts and holds an escape code.
    fn shown(look: Look, reveal: bool) -> String {
        let mut screen = Screen::new(Vec::new(), look, || None);
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

    /// A terminal of few lines, as far as chats need one: it wraps late, scrolls, and knows the codes that are sent.
    struct Terminal {
        columns: usize,
        /// All lines; the last [`ROWS`] of them are on the screen. The second half of a wide character is `\0`.
        lines: Vec<Vec<char>>,
        row: usize,
        column: usize,
        kept: (usize, usize),
    }

    /// What a code makes a terminal do.
    type Obey = fn(&mut Terminal);

    const ROWS: usize = 4;
    /// Text is as wide as this in the tests.
    const COLUMNS: usize = 12;

    impl Terminal {
        fn new() -> Self {
            Self { columns: COLUMNS, lines: vec![Vec::new(); ROWS], row: 0, column: 0, kept: (0, 0) }
        }

        fn top(&self) -> usize {
            self.lines.len() - ROWS
        }

        /// One line down; at the bottom all others go up.
        fn index(&mut self) {
            self.row += 1;
            if self.row == self.lines.len() {
                self.lines.push(Vec::new());
            }
        }

        /// The cursor moves, and a line that is full is not left behind any more.
        fn settle(&mut self) {
            self.column = self.column.min(self.columns - 1);
        }

        fn print(&mut self, c: char) {
            let width = c.width().unwrap();
            if self.column + width > self.columns {
                self.index();
                self.column = 0;
            }
            let line = &mut self.lines[self.row];
            line.resize(line.len().max(self.column + width), ' ');
            line[self.column] = c;
            line[self.column + 1..self.column + width].fill('\0');
            self.column += width;
        }

        fn write(&mut self, text: &str) {
            let mut rest = text;
            while let Some(c) = rest.chars().next() {
                let codes: [(&str, Obey); 11] = [
                    ("\n", |terminal| {
                        terminal.index();
                        terminal.column = 0;
                    }),
                    ("\r", |terminal| terminal.column = 0),
                    ("\t", |terminal| {
                        terminal.column = ((terminal.column / 8 + 1) * 8).min(terminal.columns - 1);
                    }),
                    ("\x1b[0m", |_| {}),
                    ("\x1b[2m", |_| {}),
                    ("\x1bD", |terminal| {
                        terminal.settle();
                        terminal.index();
                    }),
                    ("\x1b[A", |terminal| {
                        terminal.settle();
                        terminal.row = (terminal.row - 1).max(terminal.top());
                    }),
                    ("\x1b[B", |terminal| {
                        terminal.settle();
                        terminal.row = (terminal.row + 1).min(terminal.lines.len() - 1);
                    }),
                    // Places are those of the screen.
                    ("\x1b7", |terminal| terminal.kept = (terminal.row - terminal.top(), terminal.column)),
                    ("\x1b8", |terminal| {
                        (terminal.row, terminal.column) = (terminal.top() + terminal.kept.0, terminal.kept.1);
                    }),
                    ("\x1b[J", |terminal| {
                        terminal.lines[terminal.row].truncate(terminal.column);
                        terminal.lines[terminal.row + 1..].iter_mut().for_each(Vec::clear);
                    }),
                ];
                match codes.iter().find(|(code, _)| rest.starts_with(code)) {
                    Some((code, obey)) => {
                        obey(self);
                        rest = &rest[code.len()..];
                    }
                    None => {
                        assert!(c >= ' ', "{rest:?}");
                        self.print(c);
                        rest = &rest[c.len_utf8()..];
                    }
                }
            }
        }

        fn text(&self) -> String {
            let line = |line: &Vec<char>| -> String { line.iter().filter(|&&c| c != '\0').collect() };
            let lines: Vec<String> = self.lines.iter().map(|l| line(l).trim_end().to_owned()).collect();
            lines.join("\n").trim_end().to_owned()
        }
    }

    fn tokens(text_of_them: &str, acceptance: Option<f64>) -> Progress {
        let live =
            LiveStats { tokens_per_second: 12.34, tokens_per_pass: 1.5, acceptance, passes: Vec::new() };
        let text = vec![text(Part::Answer, None, text_of_them)];
        let token = ReplyToken { id: 0, text, draft_position: None, logprobs: None };
        Progress::Tokens { tokens: vec![token], live }
    }

    proptest! {
        /// Whatever the text, and wherever the screen ends: the text stays as it is, the numbers are below it, in one
        /// line, and nothing is left of them in the end.
        #[test]
        fn numbers_below_a_text_leave_it_as_it_is(
            pieces in prop::collection::vec("[a-z \n\t漢字é]{0,9}", 1..40),
        ) {
            let mut screen = Screen::new(Vec::new(), TERMINAL, || Some(COLUMNS));
            let (mut terminal, mut plain) = (Terminal::new(), Terminal::new());
            for piece in &pieces {
                screen.show(&tokens(piece, Some(0.5))).unwrap();
                terminal.write(&String::from_utf8(std::mem::take(&mut screen.out)).unwrap());
                plain.write(piece);
                let expected = plain.text();
                let shown = terminal.text();
                let below = if screen.has_live { "50 % of dra" } else { "" };
                prop_assert_eq!(shown.trim_end_matches(below).trim_end(), expected.trim_end());
                prop_assert!(shown.ends_with(below));
                prop_assert_eq!(terminal.column, plain.column);
            }
            screen.end_reply().unwrap();
            terminal.write(&String::from_utf8(screen.out).unwrap());
            prop_assert_eq!(terminal.text(), plain.text());
        }
    }

    #[test]
    fn numbers_are_shown_while_a_reply_is_written_where_they_can_be_taken_back() {
        let shown = |look, columns, acceptance, text| {
            let mut screen = Screen::new(Vec::new(), look, columns);
            screen.show(&tokens(text, acceptance)).unwrap();
            String::from_utf8(screen.out).unwrap()
        };
        let wide: fn() -> Option<usize> = || Some(80);
        let told = shown(TERMINAL, wide, Some(0.625), "One");
        assert_eq!(
            told,
            "One\x1bD\x1b[A\x1b7\x1b[B\r\x1b[2m62 % of drafts accepted, 12.3 tokens/s, 1.50 per pass\x1b[0m\x1b8"
        );
        assert!(shown(TERMINAL, wide, None, "One").contains("\x1b[2m12.3 tokens/s, 1.50 per pass\x1b[0m"));
        assert_eq!(shown(TERMINAL, || None, Some(0.5), "One"), "One");
        assert_eq!(shown(PIPE, wide, Some(0.5), "One"), "One");
        // How wide these are, terminals do not agree.
        assert_eq!(shown(TERMINAL, wide, Some(0.5), "🦉"), "🦉");
    }

    #[test]
    fn numbers_wait_for_the_next_line_where_the_width_has_changed() {
        thread_local! {
            static WIDTH: Cell<usize> = const { Cell::new(80) };
        }
        let mut screen = Screen::new(Vec::new(), TERMINAL, || Some(WIDTH.get()));
        let mut shows = |text| {
            screen.show(&tokens(text, Some(0.5))).unwrap();
            screen.has_live
        };
        assert!(shows("A line"));
        WIDTH.set(40);
        assert!(!shows(""));
        assert!(!shows(" and more of it"));
        assert!(shows("\n"));
        // Nothing is broken anew at the beginning of a line.
        WIDTH.set(60);
        assert!(shows("") && shows("Another"));
        WIDTH.set(80);
        assert!(!shows(""));
        screen.end_reply().unwrap();
        screen.show(&tokens("A reply", Some(0.5))).unwrap();
        assert!(screen.has_live);
    }

    #[test]
    fn a_line_that_gives_way_is_never_wider_than_the_terminal() {
        let mut screen = Screen::new(Vec::new(), TERMINAL, || Some(COLUMNS));
        screen.transient("Loading 漢字漢字漢字 … 12 %").unwrap();
        assert_eq!(String::from_utf8(screen.out).unwrap(), "\r\x1b[2K\x1b[2mLoading 漢\x1b[0m");
    }
}
