//! Finds the tool calls in an answer as its text comes in pieces, in the syntax of Qwen3.5 and Qwen3-Coder:
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
//! Where a JSON object follows `<tool_call>`, the call is written as Qwen3 does (`json.rs`).

use std::mem;

use serde_json::Value;

use crate::json::JsonCall;

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
    /// Whether it is in JSON up to some place only. Such a call must not be run.
    pub broken: bool,
    /// Whether it stands at the end of a thinking that the model has not closed. The parser never says so: it is for
    /// those to know who read the thinking.
    pub in_thinking: bool,
}

impl Call {
    /// Adds what a piece of its JSON says.
    fn add(&mut self, piece: &CallPiece) {
        match (piece, self.arguments.last_mut()) {
            (CallPiece::Name(name), _) => self.name.clone_from(name),
            (CallPiece::Parameter(name), _) => self.arguments.push(Argument::plain(name, "")),
            (CallPiece::Quoted { text, .. }, Some(argument)) => {
                argument.form = ValueForm::Quoted;
                argument.value.push_str(text);
            }
            (CallPiece::Json(json), Some(argument)) => {
                (argument.form, argument.value) = (ValueForm::Json, json.clone());
            }
            _ => {}
        }
    }
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The parameter.
    pub name: String,
    /// Its value: between tags exactly as written, without the line breaks that divide it from them; of a JSON text
    /// what it says; any other JSON in the one way that JSON is written here.
    pub value: String,
    /// How it was written.
    pub form: ValueForm,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValueForm {
    /// As it is, between tags: its type is the schema's to say.
    #[default]
    Plain,
    /// As a JSON text.
    Quoted,
    /// As any other JSON.
    Json,
}

impl Argument {
    /// A value that was written between tags.
    pub fn plain(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: value.to_owned(), form: ValueForm::Plain }
    }

    /// The value that it has where no schema says more.
    pub fn as_came(&self) -> Value {
        let json = || serde_json::from_str(&self.value).ok();
        let json = if self.form == ValueForm::Json { json() } else { None };
        json.unwrap_or_else(|| self.value.as_str().into())
    }
}

/// A piece of an answer. Together, [`CallPiece::written`] of all pieces is the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallPiece {
    /// Text outside of calls.
    Text(String),
    /// Tags of a call, what JSON writes around its values, and the white space beside them.
    Markup(String),
    /// A call of this tool has begun; its tag came as [`CallPiece::Markup`].
    Name(String),
    /// The value of this parameter begins; its tag came as [`CallPiece::Markup`].
    Parameter(String),
    /// More of the value.
    Value(String),
    /// More of the value, which is a JSON text.
    Quoted {
        /// As it stands there.
        written: String,
        /// What it says.
        text: String,
    },
    /// The whole value, which is other JSON; it came as [`CallPiece::Markup`].
    Json(String),
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
            Self::Quoted { written, .. } => written,
            Self::Name(_) | Self::Parameter(_) | Self::Json(_) | Self::End(_) => "",
        }
    }
}

/// Tells calls from text in an answer that comes in pieces, and says where the answer has to end.
///
/// A call begins with `<tool_call>` and `<function=NAME>`, or a JSON object with a name; without these the first is
/// text.
/// At the start of a line `<function=NAME>` alone begins one, too, where there is a tool of this name. A call in JSON
/// ends behind its object, or is broken where that cannot go on. Between tags, a value ends at the
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
    /// Text held back: it may be a tag, a part of one, or the line break before one, or a call in JSON without a name
    /// yet.
    held: String,
    /// The object of a call in JSON, and how many bytes of the held text it has taken.
    object: Option<JsonCall>,
    taken: usize,
    /// The call that is being written.
    call: Call,
    /// Whether a line begins with the held text.
    line_start: bool,
    /// What calls begin with that have no `<tool_call>` before them, and whether the one that is being written does.
    bare_openings: Vec<String>,
    bare: bool,
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
    /// Behind the `</function>` of a call without `<tool_call>`.
    BareEnd,
    /// In the object of a call in JSON. `behind`: it stands behind another call.
    Object { behind: bool },
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
pub(crate) enum Match {
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
        let (place, object, taken) = (Place::Text, None, 0);
        let (bare_openings, bare) = (Vec::new(), false);
        Self { place, held, object, taken, call, line_start: true, bare_openings, bare, over: false, beyond }
    }
}

impl CallParser {
    /// For an answer that may call the tools of these names. Calls of them that lack `<tool_call>` are found, too.
    pub fn for_tools<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let bare_openings = names.map(|name| format!("{FUNCTION}{name}>")).collect();
        Self { bare_openings, ..Self::default() }
    }

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
        let closed = matches!(self.place, Place::Tags { closed: true, stray: false } | Place::BareEnd);
        let whole = closed && !self.call.broken && CALL_END.starts_with(self.held.trim_start());
        let open = match self.place {
            Place::Text | Place::Behind if self.held.starts_with(CALL) => {
                self.give(all, CallPiece::Markup, &mut pieces);
                true
            }
            Place::Text | Place::Behind => {
                self.give(all, CallPiece::Text, &mut pieces);
                false
            }
            Place::Tags { .. } | Place::ValueStart | Place::BareEnd | Place::Object { .. } => {
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
            Place::BareEnd => self.bare_end(pieces),
            Place::Object { behind } => self.object(behind, pieces),
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
            first_of([opening(rest), self.bare_opening(at), response])
        });
        self.give(at, CallPiece::Text, pieces);
        match found {
            Match::Whole(_) if self.held.starts_with(RESPONSE) => self.end(),
            Match::Whole(tags) => self.begin_call(tags, pieces),
            Match::Open | Match::No => false,
        }
    }

    fn behind_call(&mut self, pieces: &mut Vec<CallPiece>) -> bool {
        self.give(blank(&self.held), CallPiece::Text, pieces);
        match first_of([opening(&self.held), self.bare_opening(0)]) {
            Match::Whole(tags) => self.begin_call(tags, pieces),
            Match::Open => false,
            Match::No => self.end(),
        }
    }

    fn begin_call(&mut self, tags: usize, pieces: &mut Vec<CallPiece>) -> bool {
        if self.held[..tags].ends_with('{') {
            self.object = Some(JsonCall::new(&self.held[..tags]));
            self.taken = tags;
            self.place = Place::Object { behind: self.place == Place::Behind };
            return true;
        }
        self.bare = self.held.starts_with(FUNCTION);
        self.call.name = name_in(&self.held[..tags]);
        self.give(tags, CallPiece::Markup, pieces);
        pieces.push(CallPiece::Name(self.call.name.clone()));
        self.place = Place::Tags { closed: false, stray: false };
        true
    }

    /// What begins a call without `<tool_call>` at byte `at` of the held text.
    fn bare_opening(&self, at: usize) -> Match {
        if !self.begins_line(at) {
            return Match::No;
        }
        let matches = self.bare_openings.iter().map(|opening| literal(&self.held[at..], opening));
        matches.fold(Match::No, |found, other| first_of([found, other]))
    }

    /// Ends a call without `<tool_call>`, with the `</tool_call>` that may follow all the same.
    fn bare_end(&mut self, pieces: &mut Vec<CallPiece>) -> bool {
        self.give(blank(&self.held), CallPiece::Markup, pieces);
        match literal(&self.held, CALL_END) {
            Match::Whole(orphan) => self.give(orphan, CallPiece::Markup, pieces),
            Match::Open => return false,
            Match::No => {}
        }
        self.end_call(false, pieces);
        self.place = Place::Behind;
        true
    }

    /// Has the object of a call take the held text, which stays held until the call has a name: without one it is text.
    fn object(&mut self, behind: bool, pieces: &mut Vec<CallPiece>) -> bool {
        let Some(object) = &mut self.object else { return false };
        let mut broken = false;
        for letter in self.held[self.taken..].chars() {
            broken = object.push(letter).is_err();
            if broken {
                break;
            }
            self.taken += letter.len_utf8();
            if object.is_done() {
                break;
            }
        }
        if object.has_name() {
            let (more, ended) = (object.take(), object.is_done());
            let rest = self.held.split_off(mem::take(&mut self.taken));
            self.line_start = mem::replace(&mut self.held, rest).ends_with('\n');
            more.iter().for_each(|piece| self.call.add(piece));
            pieces.extend(more);
            self.call.broken = broken;
            if broken || ended {
                (self.object, self.place) = (None, Place::Tags { closed: true, stray: false });
            }
            return broken || ended;
        }
        if broken && behind {
            return self.end();
        }
        if broken {
            (self.object, self.taken, self.place) = (None, 0, Place::Text);
            self.give(CALL.len(), CallPiece::Text, pieces);
        }
        broken
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
            self.place = if self.bare { Place::BareEnd } else { Place::Tags { closed: true, stray: false } };
        } else {
            let name = name_in(&self.held[..tag]);
            self.give(tag, CallPiece::Markup, pieces);
            pieces.push(CallPiece::Parameter(name.clone()));
            self.call.arguments.push(Argument::plain(&name, ""));
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
pub(crate) fn first(text: &str, look: impl Fn(usize) -> Match) -> (usize, Match) {
    let mut places = text.match_indices('<').map(|(at, _)| (at, look(at)));
    places.find(|(_, found)| *found != Match::No).unwrap_or((text.len(), Match::No))
}

/// `<tool_call>` and `<function=NAME>`, or the beginning of a JSON object.
pub(crate) fn opening(text: &str) -> Match {
    let Match::Whole(call) = literal(text, CALL) else { return literal(text, CALL) };
    match behind_blank(&text[call..], |next| first_of([named(next, FUNCTION), literal(next, "{")])) {
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
            use CallPiece::{Markup, Quoted, Stray, Text, Value};
            match (all.last_mut(), piece) {
                (Some(Text(before)), Text(more))
                | (Some(Markup(before)), Markup(more))
                | (Some(Value(before)), Value(more))
                | (Some(Stray(before)), Stray(more)) => before.push_str(&more),
                (Some(Quoted { written, text }), Quoted { written: letters, text: more }) => {
                    written.push_str(&letters);
                    text.push_str(&more);
                }
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
        let arguments = arguments.iter().map(|(name, value)| Argument::plain(name, value)).collect();
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
            |Argument { name, value, .. }: &Argument| format!("<parameter={name}>\n{value}\n</parameter>\n");
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
            ("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"", 'a'),
            ("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": [", ' '),
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
            "<tool_call>\n{\"title\": \"f\"}\n</tool_call>",
            "<tool_call>{ a }",
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

    /// A call in JSON, in pieces that show where its letters go.
    #[test]
    fn a_call_in_json_is_told_as_it_comes() {
        use CallPiece::{End, Json, Markup, Name, Parameter, Quoted, Text};
        let mut parser = CallParser::default();
        let markup = |text: &str| Markup(text.into());
        let quoted = |written: &str, text: &str| Quoted { written: written.into(), text: text.into() };
        assert_eq!(parser.push("So <tool_call>\n{\"na"), [Text("So ".into())]);
        let begun = [markup("<tool_call>\n{\"name\": \"f\""), Name("f".into()), markup(", ")];
        assert_eq!(parser.push("me\": \"f\", "), begun);
        let key = [markup("\"arguments\": {\"a\""), Parameter("a".into()), markup(": ")];
        assert_eq!(parser.push("\"arguments\": {\"a\": "), key);
        assert_eq!(parser.push("\"x\\u00e"), [markup("\""), quoted("x\\u00e", "x")]);
        let next = [quoted("9", "é"), markup("\", \"b\""), Parameter("b".into()), markup(": [1")];
        assert_eq!(parser.push("9\", \"b\": [1"), next);
        assert_eq!(parser.push(", 2]}"), [markup(", 2]"), Json("[1,2]".into()), markup("}")]);
        let json = |name: &str, value: &str, form| Argument { form, ..Argument::plain(name, value) };
        let arguments = vec![json("a", "xé", ValueForm::Quoted), json("b", "[1,2]", ValueForm::Json)];
        let call = Call { name: "f".into(), arguments, ..Call::default() };
        let end = [markup("}"), markup("\n"), markup("</tool_call>"), End(call)];
        assert_eq!(parser.push("}\n</tool_call>"), end);
        assert!(!parser.has_ended());
    }

    /// The name and the arguments, each with how it was written, of the only call in an answer.
    fn in_json(object: &str) -> (String, Vec<(String, String, ValueForm)>) {
        let (text, mut calls) = read(&format!("<tool_call>\n{object}\n</tool_call>"));
        assert_eq!((text.as_str(), calls.len()), ("", 1), "{object}");
        let Call { name, arguments, stray, unclosed, cut, broken, .. } = calls.remove(0);
        assert!(stray.is_empty() && unclosed.is_empty() && !cut && !broken, "{object}");
        (name, arguments.into_iter().map(|Argument { name, value, form }| (name, value, form)).collect())
    }

    #[test]
    fn json_may_be_written_in_any_order_and_with_any_blanks() {
        use ValueForm::{Json, Quoted};
        let one = |name: &str, value: &str, form| vec![(name.to_owned(), value.to_owned(), form)];
        for (object, arguments) in [
            (r#"{"name": "f", "arguments": {}}"#, vec![]),
            (r#"{"name": "f"}"#, vec![]),
            (r#"{"name": "f", "arguments": null}"#, vec![]),
            (r#"{"name": "f", "arguments": ""}"#, vec![]),
            (r#"{"arguments": {"a": "x"}, "name": "f"}"#, one("a", "x", Quoted)),
            ("{ \n\"name\" :\"f\",\"arguments\"\t:{ \"a\" : 1.50 } }", one("a", "1.5", Json)),
            (r#"{"id": [1, "}"], "name": "f", "arguments": {"a": true}}"#, one("a", "true", Json)),
            (r#"{"name": "f", "arguments": {"a": None}}"#, one("a", "null", Json)),
            (r#"{"name": "f", "arguments": "{\"a\": \"\\u00e9\\n\"}"}"#, one("a", "é\n", Quoted)),
            (r#"{"arguments": "{\"a\": {\"b\": 1}}", "name": "f"}"#, one("a", r#"{"b":1}"#, Json)),
            (r#"{"name": "f", "arguments": {"a": ""}}"#, one("a", "", Quoted)),
            (r#"{"name": "f", "arguments": {"a": "</tool_call>"}}"#, one("a", "</tool_call>", Quoted)),
            (r#"{"name": "f", "arguments": {"a": "\ud83e\uDD80 \/"}}"#, one("a", "🦀 /", Quoted)),
            ("{\"name\": \"f\", \"arguments\": {\"a\": \"x\ny\"}}", one("a", "x\ny", Quoted)),
            ("{\"name\": \"f\", \"arguments\": {\"a\": [\"x\ny\"]}}", one("a", r#"["x\ny"]"#, Json)),
        ] {
            assert_eq!(in_json(object), ("f".to_owned(), arguments));
        }
    }

    #[test]
    fn json_that_cannot_go_on_is_a_broken_call_or_text() {
        for object in [
            r#"{"name": "f", "arguments": {"a": 1}"#,
            r#"{"name": "f", "arguments": {"a": 01}}"#,
            r#"{"name": "f", "arguments": {"a": "\x"}}"#,
            r#"{"name": "f", "arguments": {"a": "\ud83e!"}}"#,
            r#"{"name": "f", "arguments": {"a": [1}}}"#,
            r#"{"name": "f", "arguments": {"a" 1}}"#,
            r#"{"name": "f", "arguments": {"a": 1,}}"#,
            r#"{"name": "f", "arguments": [1]}"#,
            r#"{"name": "f", "arguments": "x"}"#,
            r#"{"name": "f", "arguments": "{\"a\": 1"}"#,
            r#"{"name": "f", "arguments": "\"{}\""}"#,
            r#"{"name": "f", "name": "g"}"#,
            r#"{"name": "f", "arguments": {}, "arguments": {}}"#,
            "{\"name\": \"f\",\n<function=f>\n</function>",
        ] {
            let answer = format!("<tool_call>\n{object}\n</tool_call>");
            let (text, calls) = read(&answer);
            assert_eq!((text.as_str(), calls.len(), calls[0].name.as_str()), ("", 1, "f"), "{object}");
            assert!(calls[0].broken && !calls[0].cut, "{object}");
        }
        for object in [
            "{}",
            r#"{"name": 5}"#,
            r#"{"name": "a b", "arguments": {}}"#,
            r#"{"name": ""}"#,
            r#"{"arguments": {"a": 1}}"#,
            r#"{"arguments": {"a": [}, "name": "f"}"#,
            "{\"na</tool_call>",
        ] {
            let answer = format!("<tool_call>\n{object}\n</tool_call> So.");
            // The last one ends in its key.
            let is_open = object.ends_with('>');
            let read = read(&answer);
            assert_eq!(read.1.len(), usize::from(is_open), "{object}");
            assert!(is_open || read.0 == answer);
        }
        // What follows an object belongs to no argument.
        let (_, calls) = read("<tool_call>\n{\"name\": \"f\"}}\n</tool_call>");
        assert_eq!((calls[0].stray.as_str(), calls[0].broken), ("}", false));
    }

    #[test]
    fn an_open_call_in_json_is_cut_unless_only_its_last_tag_is_missing() {
        let whole = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}\n</tool_call>";
        let object = whole.find("}}").unwrap() + 2;
        for end in CALL.len()..whole.len() {
            let (text, calls) = read(&whole[..end]);
            assert_eq!((text.as_str(), calls.len()), ("", 1), "{:?}", &whole[..end]);
            assert_eq!(calls[0].cut, end < object, "{:?}", &whole[..end]);
        }
        let behind = "<tool_call>{\"name\": \"f\"}</tool_call>\n<tool_call>{\"title\": 1";
        let (pieces, beyond) = parse(&[behind]);
        assert_eq!((calls_of(&pieces).len(), beyond), (2, 0), "not yet broken");
        let (pieces, beyond) = parse(&[behind, "}"]);
        assert_eq!((calls_of(&pieces).len(), beyond), (1, 23));
    }

    #[test]
    fn calls_of_known_tools_need_no_tag_around_them() {
        let read = |answer: &str| {
            let parse = |pieces: &mut dyn Iterator<Item = String>| {
                let mut parser = CallParser::for_tools(["f", "go"].into_iter());
                let mut read: Vec<CallPiece> = pieces.flat_map(|piece| parser.push(&piece)).collect();
                read.extend(parser.finish());
                (text_of(&read), calls_of(&read), parser.beyond().len())
            };
            let whole = parse(&mut [answer.to_owned()].into_iter());
            assert_eq!(parse(&mut answer.chars().map(String::from)), whole, "{answer:?}");
            whole
        };
        let body = "<parameter=a>\nx\n</parameter>\n</function>";
        let one = call("f", &[("a", "x")]);
        for end in ["", "\n", "\n</tool_call>", "</tool_call>\n", "\n</tool"] {
            let (text, calls, beyond) = read(&format!("I look.\n\n<function=f>\n{body}{end}"));
            assert_eq!((text.trim_end(), calls, beyond), ("I look.", vec![one.clone()], 0), "{end:?}");
        }
        let two = format!("<function=f>\n{body}\n<function=go>\n</function>\n</tool_call>\n");
        assert_eq!(read(&two).1, [one.clone(), call("go", &[])]);
        assert_eq!(read(&format!("<function=f>\n{body}\nSo")).2, 2);
        assert_eq!(read(&format!("{}\n<function=f>\n{body}", written(&one))).1.len(), 2);
        for text in [
            "Call <function=f>\n</function>",
            "<function=g>\n</function>",
            "<function=fo>\n</function>",
            "<function=",
        ] {
            assert_eq!(read(text), (text.to_owned(), Vec::new(), 0));
        }
        assert!(read("<function=f>\n<parameter=a>\nx").1[0].cut);
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
            "{",
            "\"name\": \"f\"",
            "\"arguments\": ",
            ",",
            "\\",
            "\"",
            "}",
            "[",
            "]",
            "1",
            "é",
            "x",
        ]);
        let start = prop::sample::select(vec![
            "",
            "<tool_call>\n<function=f>\n",
            "<tool_call><function=f><parameter=b>\n",
            "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": ",
            "<tool_call>\n{\"arguments\": {\"a\": 1}",
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
        let argument = (name, content()).prop_map(|(name, value)| Argument::plain(&name, &value));
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
            let values: String = pieces.iter().map(|piece| match piece {
                CallPiece::Value(text) | CallPiece::Quoted { text, .. } | CallPiece::Json(text) => text.as_str(),
                _ => "",
            }).collect();
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
