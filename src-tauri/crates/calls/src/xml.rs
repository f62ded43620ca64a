//! Finds the tool calls in an answer as its text comes in pieces, in the syntax of Qwen3.5:
//!
//! ```text
//! <tool_call>
//! <function=NAME>
//! <parameter=NAME>
//! the value, of any number of lines
//! </parameter>
//! </function>
//! </tool_call>
//! ```
//!
//! A value is plain text without quotes or escapes; what type it has says only the tool's schema (`arguments.rs`).

use std::mem;

const CALL: &str = "<tool_call>";
const CALL_END: &str = "</tool_call>";
const FUNCTION: &str = "<function=";
const FUNCTION_END: &str = "</function>";
const PARAMETER: &str = "<parameter=";
const PARAMETER_END: &str = "</parameter>";
const RESPONSE: &str = "<tool_response>";

/// The tags around a call.
pub const CALL_TAGS: [&str; 2] = [CALL, CALL_END];

/// The tags of calls that vocabularies of the family have as tokens.
pub const TAG_TOKENS: [&str; 3] = [CALL, CALL_END, RESPONSE];

/// The most bytes of a name, and of white space between two tags that are looked at together: more than models write,
/// and a bound for the text that is held.
const MOST_NAME: usize = 256;
const MOST_WHITE: usize = 1024;

/// A call as the model wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// The tool; empty where the reply ended before its name was whole.
    pub name: String,
    /// What it is called with, in the order written.
    pub arguments: Vec<Argument>,
    /// Text between the tags that belongs to no argument. A call that has any is not what the model meant.
    pub stray: String,
    /// The parameters whose values ended without `</parameter>`. Where such a value ends is a guess.
    pub unclosed: Vec<String>,
    /// Whether the reply ended before the call did. Such a call must not be run.
    pub cut: bool,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The parameter.
    pub name: String,
    /// Its value, exactly as written, without the line breaks that divide it from the tags.
    pub value: String,
}

/// A piece of an answer. Together, [`CallPiece::written`] of all pieces is the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallPiece {
    /// Text outside of calls.
    Text(String),
    /// Tags of a call, and the white space beside them.
    Markup(String),
    /// A call of this tool has begun; its tag came as [`CallPiece::Markup`].
    Name(String),
    /// The value of this parameter begins; its tag came as [`CallPiece::Markup`].
    Parameter(String),
    /// More of the value.
    Value(String),
    /// More of what stands between the tags and belongs to no argument.
    Stray(String),
    /// The call has ended.
    End(Call),
}

impl CallPiece {
    /// The text of the answer that it stands for.
    pub fn written(&self) -> &str {
        match self {
            Self::Text(text) | Self::Markup(text) | Self::Value(text) | Self::Stray(text) => text,
            Self::Name(_) | Self::Parameter(_) | Self::End(_) => "",
        }
    }
}

/// Tells calls from text in an answer that comes in pieces, and says where the answer has to end.
///
/// A call begins with `<tool_call>` and `<function=NAME>`; without the second the first is text. A value ends at the
/// `</parameter>` behind which another tag of the call stands: any other is content. Where it is missing, the value
/// ends before a `</tool_call>` behind which another call or the end of the answer stands, with or without
/// `</function>` before it, or before a line that begins with `<parameter=NAME>`; the call says so. One line break
/// behind the opening tag and one before the tag that ends the value are not part of it. Names are of up to 256 of
/// `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`; tags with more than 1,024 bytes of white space between them do not belong
/// together.
///
/// The answer has to end where something other than white space or another call follows a call, and at a line outside
/// of calls that begins with `<tool_response>`: results are not the model's to write.
#[derive(Debug)]
pub struct CallParser {
    place: Place,
    /// Text held back: it may be a tag, a part of one, or the line break before one.
    held: String,
    /// The call that is being written.
    call: Call,
    /// Whether a line begins with the held text.
    line_start: bool,
    /// Whether no more text comes.
    over: bool,
    /// The text received that lies behind the end of the answer.
    beyond: String,
}

/// Where in an answer the held text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before any call.
    Text,
    /// Behind a call.
    Behind,
    /// Between the tags of a call. `closed`: behind `</function>`; `stray`: behind text that belongs to no argument.
    Tags { closed: bool, stray: bool },
    /// At the first character of a value.
    ValueStart,
    /// In a value.
    Value,
    /// Behind the end.
    Ended,
}

/// Whether a text begins with what is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    No,
    /// It may, with more text.
    Open,
    /// It does, in so many bytes.
    Whole(usize),
}

impl Default for CallParser {
    fn default() -> Self {
        let call = Call::default();
        let (held, beyond) = (String::new(), String::new());
        Self { place: Place::Text, held, call, line_start: true, over: false, beyond }
    }
}

impl CallParser {
    /// Takes the next piece of the answer; gives what is decided, in order.
    pub fn push(&mut self, text: &str) -> Vec<CallPiece> {
        if self.place == Place::Ended {
            self.beyond.push_str(text);
            return Vec::new();
        }
        self.held.push_str(text);
        let mut pieces = Vec::new();
        while self.advance(&mut pieces) {}
        pieces
    }

    /// Whether the answer has to end here: nothing that comes later belongs to it.
    pub fn has_ended(&self) -> bool {
        self.place == Place::Ended
    }

    /// The text received that lies behind the end.
    pub fn beyond(&self) -> &str {
        &self.beyond
    }

    /// The rest of an answer that has ended. A call that is still open is cut, unless only `</tool_call>` is missing.
    pub fn finish(&mut self) -> Vec<CallPiece> {
        let mut pieces = Vec::new();
        self.over = true;
        while self.advance(&mut pieces) {}
        let all = self.held.len();
        // Nothing of the call itself is missing then.
        let whole = matches!(self.place, Place::Tags { closed: true, stray: false })
            && CALL_END.starts_with(self.held.trim_start());
        let open = match self.place {
            Place::Text | Place::Behind if self.held.starts_with(CALL) => {
                self.give(all, CallPiece::Markup, &mut pieces);
                true
            }
            Place::Text | Place::Behind => {
                self.give(all, CallPiece::Text, &mut pieces);
                false
            }
            Place::Tags { .. } | Place::ValueStart => {
                self.give(all, CallPiece::Markup, &mut pieces);
                true
            }
            Place::Value => {
                let tag = self.held.strip_prefix('\n').unwrap_or(&self.held);
                let closed = tag.starts_with(PARAMETER_END) || tag.starts_with(FUNCTION_END);
                self.give_value(if closed { 0 } else { all }, &mut pieces);
                self.give(self.held.len(), CallPiece::Markup, &mut pieces);
                true
            }
            Place::Ended => false,
        };
        if open {
            self.end_call(!whole, &mut pieces);
        }
        self.place = Place::Ended;
        pieces
    }

    /// Decides about the beginning of the held text; whether more of it may be decided then.
    fn advance(&mut self, pieces: &mut Vec<CallPiece>) -> bool {
        match self.place {
            Place::Text => self.text(pieces),
            Place::Behind => self.behind_call(pieces),
            Place::Tags { closed, stray } => self.tags(closed, stray, pieces),
            Place::ValueStart => {
                let newline = self.held.starts_with('\n');
                let decided = !self.held.is_empty();
                self.give(usize::from(newline), CallPiece::Markup, pieces);
                if decided {
                    self.place = Place::Value;
                }
                decided
            }
            Place::Value => self.value(pieces),
            Place::Ended => false,
        }
    }

    fn text(&mut self, pieces: &mut Vec<CallPiece>) -> bool {
        let (at, found) = first(&self.held, |at| {
            let rest = &self.held[at..];
            let response = if self.begins_line(at) { literal(rest, RESPONSE) } else { Match::No };
            first_of([opening(rest), response])
        });
        self.give(at, CallPiece::Text, pieces);
        match found {
            Match::Whole(tags) if self.held.starts_with(CALL) => self.begin_call(tags, pieces),
            Match::Whole(_) => self.end(),
            Match::Open | Match::No => false,
        }
    }

    fn behind_call(&mut self, pieces: &mut Vec<CallPiece>) -> bool {
        self.give(blank(&self.held), CallPiece::Text, pieces);
        match opening(&self.held) {
            Match::Whole(tags) => self.begin_call(tags, pieces),
            Match::Open => false,
            Match::No => self.end(),
        }
    }

    fn begin_call(&mut self, tags: usize, pieces: &mut Vec<CallPiece>) -> bool {
        self.call.name = name_in(&self.held[..tags]);
        self.give(tags, CallPiece::Markup, pieces);
        pieces.push(CallPiece::Name(self.call.name.clone()));
        self.place = Place::Tags { closed: false, stray: false };
        true
    }

    fn tags(&mut self, closed: bool, mut stray: bool, pieces: &mut Vec<CallPiece>) -> bool {
        let (at, found) = first(&self.held, |at| {
            let rest = &self.held[at..];
            if closed { literal(rest, CALL_END) } else { tag_in_call(rest) }
        });
        let white = if stray { 0 } else { blank(&self.held) };
        self.give(white, CallPiece::Markup, pieces);
        if at > white {
            stray = true;
            self.call.stray.push_str(&self.held[..at - white]);
            self.give(at - white, CallPiece::Stray, pieces);
        }
        self.place = Place::Tags { closed, stray };
        let Match::Whole(tag) = found else { return false };
        if self.held.starts_with(CALL_END) {
            self.give(tag, CallPiece::Markup, pieces);
            self.end_call(false, pieces);
            self.place = Place::Behind;
        } else if self.held.starts_with(FUNCTION_END) {
            self.give(tag, CallPiece::Markup, pieces);
            self.place = Place::Tags { closed: true, stray: false };
        } else {
            let name = name_in(&self.held[..tag]);
            self.give(tag, CallPiece::Markup, pieces);
            pieces.push(CallPiece::Parameter(name.clone()));
            self.call.arguments.push(Argument { name, value: String::new() });
            self.place = Place::ValueStart;
        }
        true
    }

    fn value(&mut self, pieces: &mut Vec<CallPiece>) -> bool {
        let (at, found) =
            first(&self.held, |at| value_end(&self.held[at..], self.begins_line(at), self.over));
        let newline = usize::from(self.held[..at].ends_with('\n'));
        self.give_value(at - newline, pieces);
        if !matches!(found, Match::Whole(_)) {
            return false;
        }
        let closed = self.held[newline..].starts_with(PARAMETER_END);
        let tag = if closed { PARAMETER_END.len() } else { 0 };
        if !closed && let Some(argument) = self.call.arguments.last() {
            self.call.unclosed.push(argument.name.clone());
        }
        self.give(newline + tag, CallPiece::Markup, pieces);
        self.place = Place::Tags { closed: false, stray: false };
        true
    }

    fn end_call(&mut self, cut: bool, pieces: &mut Vec<CallPiece>) {
        let mut call = mem::take(&mut self.call);
        call.stray.truncate(call.stray.trim_end().len());
        pieces.push(CallPiece::End(Call { cut, ..call }));
    }

    /// Ends the answer before the held text.
    fn end(&mut self) -> bool {
        self.beyond = mem::take(&mut self.held);
        self.place = Place::Ended;
        false
    }

    fn give_value(&mut self, bytes: usize, pieces: &mut Vec<CallPiece>) {
        if let Some(argument) = self.call.arguments.last_mut() {
            argument.value.push_str(&self.held[..bytes]);
        }
        self.give(bytes, CallPiece::Value, pieces);
    }

    /// Gives the first `bytes` of the held text, if they are any.
    fn give(&mut self, bytes: usize, piece: fn(String) -> CallPiece, pieces: &mut Vec<CallPiece>) {
        if bytes == 0 {
            return;
        }
        let rest = self.held.split_off(bytes);
        let text = mem::replace(&mut self.held, rest);
        self.line_start = text.ends_with('\n');
        pieces.push(piece(text));
    }

    /// Whether a line begins at byte `at` of the held text.
    fn begins_line(&self, at: usize) -> bool {
        if at == 0 { self.line_start } else { self.held[..at].ends_with('\n') }
    }
}

/// The first `<` of a text at which `look` finds something, or may find it yet; else the end of the text.
fn first(text: &str, look: impl Fn(usize) -> Match) -> (usize, Match) {
    let mut places = text.match_indices('<').map(|(at, _)| (at, look(at)));
    places.find(|(_, found)| *found != Match::No).unwrap_or((text.len(), Match::No))
}

/// `<tool_call>` and `<function=NAME>`.
fn opening(text: &str) -> Match {
    let Match::Whole(call) = literal(text, CALL) else { return literal(text, CALL) };
    match behind_blank(&text[call..], |next| named(next, FUNCTION)) {
        Match::Whole(tag) => Match::Whole(call + tag),
        other => other,
    }
}

/// Any tag that can follow another one in a call.
fn tag_in_call(text: &str) -> Match {
    first_of([named(text, PARAMETER), literal(text, FUNCTION_END), literal(text, CALL_END)])
}

/// What ends a value; `over`: no more text comes.
fn value_end(text: &str, begins_line: bool, over: bool) -> Match {
    let call_end = |text: &str| match before(text, CALL_END, |next| literal(next, CALL)) {
        Match::Open if over && text.starts_with(CALL_END) => Match::Whole(CALL_END.len()),
        other => other,
    };
    first_of([
        before(text, PARAMETER_END, tag_in_call),
        before(text, FUNCTION_END, call_end),
        call_end(text),
        if begins_line { named(text, PARAMETER) } else { Match::No },
    ])
}

/// A tag behind which, after white space, another stands.
fn before(text: &str, tag: &str, next: impl Fn(&str) -> Match) -> Match {
    let Match::Whole(length) = literal(text, tag) else { return literal(text, tag) };
    match behind_blank(&text[length..], next) {
        Match::Whole(_) => Match::Whole(length),
        other => other,
    }
}

/// What `next` finds behind the white space with which a text begins, which counts with it.
fn behind_blank(text: &str, next: impl Fn(&str) -> Match) -> Match {
    match blank(text) {
        white if white > MOST_WHITE => Match::No,
        white => match next(&text[white..]) {
            Match::Whole(length) => Match::Whole(white + length),
            other => other,
        },
    }
}

fn literal(text: &str, tag: &str) -> Match {
    if text.starts_with(tag) {
        Match::Whole(tag.len())
    } else if tag.starts_with(text) {
        Match::Open
    } else {
        Match::No
    }
}

/// `tag`, a name and `>`.
fn named(text: &str, tag: &str) -> Match {
    let Match::Whole(from) = literal(text, tag) else { return literal(text, tag) };
    let name = &text[from..];
    match name.find(|c| !in_name(c)) {
        None if name.len() <= MOST_NAME => Match::Open,
        Some(end) if (1..=MOST_NAME).contains(&end) && name[end..].starts_with('>') => {
            Match::Whole(from + end + 1)
        }
        None | Some(_) => Match::No,
    }
}

/// The name in a tag that [`named`] has found.
fn name_in(tag: &str) -> String {
    tag.rsplit('=').next().unwrap_or_default().trim_end_matches('>').to_owned()
}

/// Whether tools and parameters can be called so.
pub fn is_name(text: &str) -> bool {
    (1..=MOST_NAME).contains(&text.len()) && text.chars().all(in_name)
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The first that is whole, else an open one.
fn first_of<const N: usize>(matches: [Match; N]) -> Match {
    let whole = matches.iter().copied().find(|found| matches!(found, Match::Whole(_)));
    whole.unwrap_or(if matches.contains(&Match::Open) { Match::Open } else { Match::No })
}

/// The bytes of white space with which a text begins.
fn blank(text: &str) -> usize {
    text.len() - text.trim_ascii_start().len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::chunks;

    /// The pieces of an answer, and the number of bytes behind its end.
    fn parse<S: AsRef<str>>(answer: &[S]) -> (Vec<CallPiece>, usize) {
        let mut parser = CallParser::default();
        let mut pieces: Vec<CallPiece> =
            answer.iter().flat_map(|piece| parser.push(piece.as_ref())).collect();
        let ended = parser.has_ended();
        pieces.extend(parser.finish());
        assert!(parser.has_ended() && (ended || parser.beyond().is_empty()));
        (merged(pieces), parser.beyond().len())
    }

    /// The pieces with neighbours of a kind joined.
    fn merged(pieces: Vec<CallPiece>) -> Vec<CallPiece> {
        let mut all: Vec<CallPiece> = Vec::new();
        for piece in pieces {
            use CallPiece::{Markup, Stray, Text, Value};
            match (all.last_mut(), piece) {
                (Some(Text(before)), Text(more))
                | (Some(Markup(before)), Markup(more))
                | (Some(Value(before)), Value(more))
                | (Some(Stray(before)), Stray(more)) => before.push_str(&more),
                (_, piece) => all.push(piece),
            }
        }
        all
    }

    fn text_of(pieces: &[CallPiece]) -> String {
        let text =
            |piece: &CallPiece| if let CallPiece::Text(text) = piece { text.clone() } else { String::new() };
        pieces.iter().map(text).collect()
    }

    fn calls_of(pieces: &[CallPiece]) -> Vec<Call> {
        let call =
            |piece: &CallPiece| if let CallPiece::End(call) = piece { Some(call.clone()) } else { None };
        pieces.iter().filter_map(call).collect()
    }

    fn call(name: &str, arguments: &[(&str, &str)]) -> Call {
        let argument = |&(name, value): &(&str, &str)| Argument { name: name.into(), value: value.into() };
        let arguments = arguments.iter().map(argument).collect();
        Call { name: name.into(), arguments, ..Call::default() }
    }

    /// The calls of an answer that is not over with them, and its text.
    fn read(answer: &str) -> (String, Vec<Call>) {
        let (pieces, beyond) = parse(&[answer]);
        assert_eq!(beyond, 0, "{answer:?}");
        (text_of(&pieces), calls_of(&pieces))
    }

    /// As the templates of the family write a call.
    fn written(call: &Call) -> String {
        let argument =
            |Argument { name, value }: &Argument| format!("<parameter={name}>\n{value}\n</parameter>\n");
        let arguments: String = call.arguments.iter().map(argument).collect();
        format!("<tool_call>\n<function={}>\n{arguments}</function>\n</tool_call>", call.name)
    }

    /// The calls of a call that is written like this between the tags of the function `f`.
    fn within(arguments: &str) -> Call {
        let (text, mut calls) =
            read(&format!("<tool_call>\n<function=f>\n{arguments}</function>\n</tool_call>"));
        assert_eq!((text.as_str(), calls.len()), ("", 1));
        calls.remove(0)
    }

    fn value(written: &str) -> String {
        let call = within(&format!("<parameter=a>\n{written}</parameter>\n"));
        assert_eq!((call.arguments.len(), call.stray.as_str()), (1, ""), "{written:?}");
        call.arguments[0].value.clone()
    }

    #[test]
    fn text_stands_before_calls_and_they_follow_each_other() {
        let weather = call("get_weather", &[("city", "Köln"), ("days", "3")]);
        let time = call("time.now-1", &[]);
        let answer = format!("I look.\n\n{}\n{}\n", written(&weather), written(&time));
        assert_eq!(read(&answer), ("I look.\n\n\n\n".into(), vec![weather, time]));
        assert_eq!(read("No call.\n"), ("No call.\n".into(), Vec::new()));
    }

    #[test]
    fn a_call_is_told_as_it_comes() {
        use CallPiece::{End, Markup, Name, Parameter, Text, Value};
        let mut parser = CallParser::default();
        let markup = |text: &str| Markup(text.into());
        assert_eq!(parser.push("Yes <b> <tool"), [Text("Yes <b> ".into())]);
        assert_eq!(parser.push("_call>\n<function=ti"), []);
        let begun = [markup("<tool_call>\n<function=time>"), Name("time".into()), markup("\n")];
        assert_eq!(parser.push("me>\n<"), begun);
        assert_eq!(parser.push("parameter=at>"), [markup("<parameter=at>"), Parameter("at".into())]);
        assert_eq!(parser.push("\nno"), [markup("\n"), Value("no".into())]);
        assert_eq!(parser.push("on\n"), [Value("on".into())]);
        assert_eq!(parser.push("</parameter>\n"), []);
        let rest = [markup("\n</parameter>"), markup("\n"), markup("</function>"), markup("\n")];
        assert_eq!(parser.push("</function>\n"), rest);
        let end = [markup("</tool_call>"), End(call("time", &[("at", "noon")]))];
        assert_eq!(parser.push("</tool_call>"), end);
        assert_eq!(parser.push("\n"), [Text("\n".into())]);
        assert!(!parser.has_ended());
        assert_eq!(parser.push("So"), []);
        assert!(parser.has_ended());
    }

    #[test]
    fn a_value_is_what_stands_between_one_line_break_and_another() {
        for (written, is) in [
            ("x\n", "x"),
            ("x", "x"),
            ("\n", ""),
            ("", ""),
            ("\n\n", "\n"),
            ("  x  \n\n", "  x  \n"),
            ("    def f():\n        return \"<b>\"\n", "    def f():\n        return \"<b>\""),
            ("false\n", "false"),
            ("x\r\n", "x\r"),
        ] {
            assert_eq!(value(written), is, "{written:?}");
        }
        assert_eq!(within("<parameter=a>x</parameter>").arguments, call("f", &[("a", "x")]).arguments);
    }

    #[test]
    fn tags_that_end_nothing_are_content() {
        for content in [
            "a</parameter>b",
            "</parameter>",
            "</parameter>\n</parameter>",
            "</parameter>\n<parameter=>",
            "</function>",
            "a\n</function>\n</tool>",
            "The tag </tool_call> ends a call.",
            "</tool_call>",
            "a\n</function>\n</tool_call>\n\nb",
            "</tool_call>\n<tool_cal",
            "say <parameter=b>",
            "<parameter=b c>",
            "<tool_call>\n<function=g>",
            "<tool_response>\n1\n</tool_response>",
            "<|im_end|>",
        ] {
            assert_eq!(value(&format!("{content}\n")), content);
        }
    }

    #[test]
    fn a_value_without_its_closing_tag_ends_where_the_next_tag_begins() {
        let unclosed = |names: &[&str], arguments: &[(&str, &str)]| {
            let unclosed = names.iter().map(|&name| name.to_owned()).collect();
            Call { unclosed, ..call("f", arguments) }
        };
        let two = |names: &[&str]| unclosed(names, &[("a", "x"), ("b", "y")]);
        assert_eq!(within("<parameter=a>\nx\n<parameter=b>\ny\n</parameter>\n"), two(&["a"]));
        assert_eq!(within("<parameter=a>\nx\n</parameter>\n<parameter=b>\ny\n"), two(&["b"]));
        assert_eq!(within("<parameter=a>\nx\n<parameter=b>\ny"), two(&["a", "b"]));
        let empty = unclosed(&["a", "b"], &[("a", ""), ("b", "y")]);
        assert_eq!(within("<parameter=a>\n<parameter=b>\ny\n"), empty);
        for (end, names) in [
            ("x\n</tool_call>", &["a"][..]),
            ("x</tool_call>", &["a"]),
            ("x</tool_call>\n\n", &["a"]),
            ("x\n</function></tool_call>\n", &["a"]),
            ("x\n</parameter>\n</tool_call>", &[]),
            ("x\n</parameter></tool_call>", &[]),
        ] {
            let answer = format!("<tool_call><function=f><parameter=a>{end}");
            let one = unclosed(names, &[("a", "x")]);
            assert_eq!(read(&answer).1, std::slice::from_ref(&one), "{end:?}");
            assert_eq!(read(&format!("{answer}{answer}")).1, [one.clone(), one], "{end:?}");
        }
    }

    /// Text that may be part of a tag is held, and looked at again with each piece: there is never much of it.
    #[test]
    fn little_text_is_held_whatever_comes() {
        const MANY: usize = 1_000_000;
        let value = "<tool_call><function=f><parameter=a>\n";
        for (start, endless) in [
            ("<tool_call>", ' '),
            ("<tool_call>", '\n'),
            ("<tool_call><function=", 'a'),
            ("<tool_call><function=f>", '\n'),
            ("<tool_call><function=f><parameter=", 'a'),
            (&format!("{value}</parameter>"), ' '),
            (&format!("{value}</function>"), '\n'),
            (&format!("{value}</tool_call>"), '\n'),
            (&format!("{value}<parameter="), 'a'),
        ] {
            let mut parser = CallParser::default();
            let mut written: String = parser.push(start).iter().map(CallPiece::written).collect();
            let mut looked_at = 0;
            for _ in 0..MANY {
                looked_at += parser.held.len() + 1;
                assert!(looked_at < 3 * MANY, "{start:?}");
                let pieces = parser.push(endless.encode_utf8(&mut [0; 4]));
                pieces.iter().for_each(|piece| written.push_str(piece.written()));
            }
            parser.finish().iter().for_each(|piece| written.push_str(piece.written()));
            assert!(written.len() == start.len() + MANY && parser.beyond().is_empty(), "{start:?}");
        }
    }

    #[test]
    fn names_and_white_space_have_a_most() {
        let open = |name: usize, white: usize| {
            read(&format!("<tool_call>{}<function={}>", " ".repeat(white), "a".repeat(name))).1.len()
        };
        assert_eq!([open(256, 1024), open(257, 0), open(1, 1025)], [1, 0, 0]);
        assert!(is_name(&"a".repeat(256)) && !is_name(&"a".repeat(257)));
    }

    #[test]
    fn a_tag_without_a_function_is_text() {
        for text in [
            "The tag <tool_call> begins a call.",
            "<tool_call>\n{\"name\": \"f\"}",
            "<tool_call><function=>",
            "<tool_call><function=a b>",
            "<tool_call><function=<|im_end|>>",
            "<function=f>\n</function>",
            "A <tool_response> holds a result.",
        ] {
            assert_eq!(read(text), (text.into(), Vec::new()));
        }
    }

    #[test]
    fn what_belongs_to_no_argument_is_kept_with_the_call() {
        let stray =
            |stray: &str, arguments: &[(&str, &str)]| Call { stray: stray.into(), ..call("f", arguments) };
        assert_eq!(within("Paris, please\n"), stray("Paris, please", &[]));
        assert_eq!(
            within("<parameter city>\nx\n</parameter>\n"),
            stray("<parameter city>\nx\n</parameter>", &[])
        );
        assert_eq!(
            within("<parameter=a>\nx\n</parameter>\n<parameter=b>\ny\n</parameter>\n<b> \n"),
            Call { unclosed: vec!["b".into()], ..stray("", &[("a", "x"), ("b", "y\n</parameter>\n<b> ")]) }
        );
        assert_eq!(within("</function>\n<parameter=a>\n"), stray("<parameter=a>\n</function>", &[]));
    }

    #[test]
    fn an_open_call_is_cut_unless_only_its_last_tag_is_missing() {
        let whole = written(&call("f", &[("a", "x\ny"), ("b", "")]));
        for end in whole.char_indices().map(|(at, _)| at).skip(CALL.len()) {
            let (text, calls) = read(&whole[..end]);
            assert_eq!((text.as_str(), calls.len()), ("", 1), "{:?}", &whole[..end]);
            let is_whole = whole[..end].contains(FUNCTION_END);
            assert!(calls[0].cut != is_whole && calls[0].stray.is_empty());
        }
        let cut = |answer: &str| read(answer).1.remove(0);
        let open = |arguments| Call { cut: true, ..call("f", arguments) };
        assert_eq!(cut("<tool_call>\n<function=wea"), Call { cut: true, ..call("", &[]) });
        let begun = "<tool_call>\n<function=f>\n<parameter=a>\nx";
        assert_eq!(cut(&format!("{begun}</para")), open(&[("a", "x</para")]));
        assert_eq!(cut(&format!("{begun}\n\n")), open(&[("a", "x\n\n")]));
        for closed in ["\n</parameter>", "\n</parameter>\n</func", "\n</function>", "\n</function>\n"] {
            assert_eq!(cut(&format!("{begun}{closed}")), open(&[("a", "x")]), "{closed:?}");
        }
    }

    #[test]
    fn the_answer_ends_behind_the_calls_and_before_a_result() {
        let one = written(&call("f", &[("a", "x")]));
        for beyond in ["So", "<tool_response>\n12", "<tool_call>{", "<function=f>", "<|im_end|>", "é"] {
            let (pieces, bytes) = parse(&[format!("{one}\n"), beyond.to_owned(), " more".to_owned()]);
            assert_eq!((calls_of(&pieces).len(), text_of(&pieces).as_str()), (1, "\n"), "{beyond}");
            assert_eq!(bytes, beyond.len() + 5, "{beyond}");
        }
        let (pieces, bytes) = parse(&["I know.\n<tool_resp", "onse>12"]);
        assert_eq!((text_of(&pieces).as_str(), bytes), ("I know.\n", RESPONSE.len() + 2));
        assert_eq!(parse(&["<tool_response>"]), (Vec::new(), RESPONSE.len()));
    }

    /// Answers in which tags, parts of tags and line breaks are frequent.
    fn answer() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "<tool_call>",
            "</tool_call>",
            "<function=f>",
            "</function>",
            "<parameter=a>",
            "<parameter=",
            "</parameter>",
            "<tool_response>",
            "\n",
            "\n",
            " ",
            "<",
            ">",
            "</",
            "tool_",
            "é",
            "x",
        ]);
        let start = prop::sample::select(vec![
            "",
            "<tool_call>\n<function=f>\n",
            "<tool_call><function=f><parameter=b>\n",
        ]);
        (start, prop::collection::vec(piece, 0..24))
            .prop_map(|(start, pieces)| start.to_owned() + &pieces.concat())
    }

    /// Values of which none ends where its content does not.
    fn content() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "</parameter>",
            "</function>",
            "</tool_call>",
            "<tool_call>",
            "<function=f>",
            "<parameter=",
            "<parameter=a>",
            "<",
            "</",
            "\n",
            " ",
            "\"",
            "é",
            "x",
            "🦀",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()).prop_filter(
            "ends inside",
            |value| {
                // The definition: no tag of a call behind a closing tag, no call behind the end of one, and no line
                // that opens a parameter.
                let whole = format!("\n{value}\n</parameter>\n");
                let tight: String = whole.split_ascii_whitespace().collect();
                !whole.contains("\n<parameter=a>")
                    && !tight.contains("</tool_call><tool_call>")
                    && !["<parameter=a>", "</function>", "</tool_call>"]
                        .iter()
                        .any(|tag| tight.contains(&format!("</parameter>{tag}")))
            },
        )
    }

    fn any_call() -> impl Strategy<Value = Call> {
        let name = "[A-Za-z0-9_.-]{1,8}";
        let argument = (name, content()).prop_map(|(name, value)| Argument { name, value });
        (name, prop::collection::vec(argument, 0..4)).prop_map(|(name, arguments)| Call {
            name,
            arguments,
            ..Call::default()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_split_reads_alike_and_no_text_is_lost(
            answer in answer(),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            let (pieces, beyond) = parse(&chunks(&answer, &cuts));
            let letters: Vec<String> = answer.chars().map(String::from).collect();
            prop_assert_eq!(&(pieces.clone(), beyond), &parse(&[&answer]));
            prop_assert_eq!(&(pieces.clone(), beyond), &parse(&letters));
            let all: String = pieces.iter().map(CallPiece::written).collect();
            prop_assert_eq!(&all, &answer[..answer.len() - beyond]);
            // What was told as it came is what the calls hold in the end.
            let values: String = pieces.iter().filter(|piece| matches!(piece, CallPiece::Value(_)))
                .map(CallPiece::written).collect();
            let calls = calls_of(&pieces);
            let arguments = || calls.iter().flat_map(|call| &call.arguments);
            prop_assert_eq!(values, arguments().map(|argument| argument.value.as_str()).collect::<String>());
            let count = |kind: fn(&CallPiece) -> bool| pieces.iter().filter(|piece| kind(piece)).count();
            prop_assert_eq!(count(|piece| matches!(piece, CallPiece::Parameter(_))), arguments().count());
        }

        #[test]
        fn calls_read_as_they_were_written(
            text in "[a-z .\n🦀]{0,12}",
            calls in prop::collection::vec(any_call(), 1..4),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            let all: Vec<String> = calls.iter().map(written).collect();
            let (pieces, beyond) = parse(&chunks(&format!("{text}{}", all.join("\n")), &cuts));
            prop_assert_eq!(beyond, 0);
            prop_assert_eq!(text_of(&pieces), text + &"\n".repeat(calls.len() - 1));
            prop_assert_eq!(calls_of(&pieces), calls);
        }
    }
}
