//! Finds the calls with which a thinking ends that is never closed: some models forget the tag that closes it.

use std::mem;

use crate::parser::{CALL_TAGS, Call, CallParser, CallPiece, Match, first, opening};

/// Holds back what may be calls at the end of a thinking, as its text comes in pieces.
///
/// Models draft calls in their thinking, too. One is meant only if it begins a line, is whole, and nothing comes behind
/// it but other calls: no thought, and no answer. What only mentions a tag is thought.
#[derive(Debug)]
pub struct Thoughts {
    /// Text that may belong to a call, or to the line breaks before one.
    held: String,
    /// Whether a line begins with it.
    line_start: bool,
    /// The calls that it may be.
    open: Option<Open>,
}

/// Text that may be calls.
#[derive(Debug, Default)]
struct Open {
    parser: CallParser,
    /// How many bytes of line breaks are held before it.
    from: usize,
    calls: Vec<Call>,
}

/// How a thinking ends that nothing has closed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ThoughtsEnd {
    /// The rest of the thoughts.
    pub thinking: String,
    /// The calls behind them, as they were written.
    pub written: String,
    /// The same calls.
    pub calls: Vec<Call>,
}

impl Default for Thoughts {
    fn default() -> Self {
        Self { held: String::new(), line_start: true, open: None }
    }
}

impl Thoughts {
    /// Takes the next piece of the thinking; gives what is thought for certain.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let mut thinking = String::new();
        let mut fresh = text.to_owned();
        loop {
            let Some(open) = &mut self.open else {
                match self.begin(&mut thinking) {
                    Some(begun) => fresh = begun,
                    None => return thinking,
                }
                continue;
            };
            let pieces = open.parser.push(&mem::take(&mut fresh));
            let given = if open.add(pieces) {
                open.from + CALL_TAGS[0].len()
            } else if open.parser.has_ended() {
                self.held.len() - open.parser.beyond().len()
            } else {
                return thinking;
            };
            self.open = None;
            self.give(given, &mut thinking);
        }
    }

    /// The rest of a thinking that is closed: no call was meant.
    pub fn close(&mut self) -> String {
        self.open = None;
        mem::take(&mut self.held)
    }

    /// The rest of a thinking with which the reply ends.
    pub fn finish(&mut self) -> ThoughtsEnd {
        let mut held = mem::take(&mut self.held);
        let Some(mut open) = self.open.take() else {
            return ThoughtsEnd { thinking: held, ..ThoughtsEnd::default() };
        };
        let pieces = open.parser.finish();
        let meant = !open.add(pieces) && open.calls.iter().all(|call| !call.cut);
        if !meant || open.calls.is_empty() {
            return ThoughtsEnd { thinking: held, ..ThoughtsEnd::default() };
        }
        // The line breaks before it are none of the thoughts, as those before the tag that closes them are not.
        let written = held.split_off(open.from);
        ThoughtsEnd { thinking: String::new(), written, calls: open.calls }
    }

    /// Gives the thoughts before the first place at which calls may begin; the text from there on if they do.
    fn begin(&mut self, thinking: &mut String) -> Option<String> {
        let begins_line = |at: usize| if at == 0 { self.line_start } else { self.held[..at].ends_with('\n') };
        let (at, found) =
            first(&self.held, |at| if begins_line(at) { opening(&self.held[at..]) } else { Match::No });
        let from = self.held[..at].trim_end_matches('\n').len();
        self.give(from, thinking);
        matches!(found, Match::Whole(_)).then(|| {
            self.open = Some(Open { from: at - from, ..Open::default() });
            self.held[at - from..].to_owned()
        })
    }

    fn give(&mut self, bytes: usize, thinking: &mut String) {
        if bytes == 0 {
            return;
        }
        let rest = self.held.split_off(bytes);
        let given = mem::replace(&mut self.held, rest);
        self.line_start = given.ends_with('\n');
        thinking.push_str(&given);
    }
}

impl Open {
    /// Adds what has come; whether it shows that no call was meant.
    fn add(&mut self, pieces: Vec<CallPiece>) -> bool {
        let mut mentioned = false;
        for piece in pieces {
            match piece {
                CallPiece::Text(text) => mentioned |= !text.trim_ascii().is_empty(),
                CallPiece::End(call) => {
                    mentioned |= call.broken;
                    self.calls.push(call);
                }
                _ => {}
            }
        }
        mentioned
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::chunks;

    const CALL: &str = "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>";
    const JSON: &str = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}\n</tool_call>";

    /// The thoughts, and the calls as they were written, of a thinking that is never closed.
    fn read<S: AsRef<str>>(pieces: &[S]) -> (String, String) {
        let mut thoughts = Thoughts::default();
        let mut thinking: String = pieces.iter().map(|piece| thoughts.push(piece.as_ref())).collect();
        let end = thoughts.finish();
        assert_eq!(end.calls.is_empty(), end.written.is_empty());
        thinking.push_str(&end.thinking);
        (thinking, end.written)
    }

    #[test]
    fn calls_at_the_end_are_meant() {
        for call in [CALL, JSON] {
            for (thinking, written) in [
                (format!("I look.\n\n{call}"), call.to_owned()),
                (format!("I look.\n{call}\n"), format!("{call}\n")),
                (format!("I look.\n\n{call}\n{call}"), format!("{call}\n{call}")),
                // Only its last tag is missing.
                (format!("I look.\n{}", &call[..call.len() - 5]), call[..call.len() - 5].to_owned()),
                (format!("I look.\n<tool_call>\n{call}"), String::new()),
            ] {
                if written.is_empty() {
                    let (thought, found) = read(&[&thinking]);
                    assert_eq!((thought.as_str(), found.as_str()), ("I look.\n<tool_call>", call));
                } else {
                    assert_eq!(read(&[&thinking]), ("I look.".to_owned(), written), "{thinking:?}");
                }
            }
            assert_eq!(read(&[call]), (String::new(), call.to_owned()));
        }
    }

    #[test]
    fn drafts_and_mentions_are_thought() {
        for thinking in [
            format!("I may write\n{CALL}\nor not."),
            format!("I may write\n{JSON}\nor not.\n"),
            format!("I write {CALL}"),
            format!("{CALL}\n<tool_response>\n12\n</tool_response>"),
            format!("Like this:\n{}", &CALL[..40]),
            "The tag\n<tool_call>\nbegins one.".to_owned(),
            "So:\n<tool_call>\n{\"name\": \"f\", \"arguments\": }\n</tool_call>".to_owned(),
            "So:\n<tool_call>\n{\"title\": 1}\n</tool_call>".to_owned(),
            "So:\n\n".to_owned(),
        ] {
            assert_eq!(read(&[&thinking]), (thinking.clone(), String::new()));
        }
        let (thought, call) = read(&[format!("First\n{CALL}\nno, rather\n{JSON}")]);
        assert_eq!((thought, call.as_str()), (format!("First\n{CALL}\nno, rather"), JSON));
    }

    #[test]
    fn what_is_thought_comes_as_soon_as_it_is_certain_and_a_closed_thinking_has_no_calls() {
        let mut thoughts = Thoughts::default();
        assert_eq!(thoughts.push("a <tool_call>\n"), "a <tool_call>");
        assert_eq!(thoughts.push("b\n<tool"), "\nb");
        assert_eq!(thoughts.push("s>"), "\n<tools>");
        assert_eq!(thoughts.push(&format!("\n{CALL}\n")), "");
        assert_eq!(thoughts.close(), format!("\n{CALL}\n"));
        assert_eq!(thoughts.finish(), ThoughtsEnd::default());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_cutting_reads_alike_and_no_text_is_lost(
            pieces in prop::collection::vec(prop::sample::select(vec![
                CALL, JSON, "<tool_call>", "\n", "\n", "{", "\"name\": \"f\"", "}", "</tool_call>", "<", "é", "So",
                "<tool_response>", "<function=f>", "</function>",
            ]), 0..12),
            cuts in prop::collection::vec(any::<usize>(), 0..10),
        ) {
            let thinking = pieces.concat();
            let whole = read(&[&thinking]);
            prop_assert_eq!(&whole, &read(&chunks(&thinking, &cuts)));
            let letters: Vec<String> = thinking.chars().map(String::from).collect();
            prop_assert_eq!(&whole, &read(&letters));
            let (thought, written) = whole;
            let breaks = thinking.strip_prefix(&thought).and_then(|rest| rest.strip_suffix(&written));
            prop_assert!(breaks.is_some_and(|breaks| breaks.trim_matches('\n').is_empty()));
        }
    }
}
