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

#[cfg(test)]
mod tests;

use std::mem;

use serde_json::Value;

use crate::json::JsonCall;

/// What a call begins with.
pub const CALL: &str = "<tool_call>";
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
/// `</function>` before it, or before a line that begins with `<parameter=NAME>`; the call says so. Names of tools are
/// of up to 256 of `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`, those of parameters of up to 256 bytes without angle brackets
/// and control characters; tags with more than 1,024 bytes of white space between them do not belong together.
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
    match behind_blank(&text[call..], |next| first_of([named(next, FUNCTION, in_name), literal(next, "{")])) {
        Match::Whole(tag) => Match::Whole(call + tag),
        other => other,
    }
}

/// Any tag that can follow another one in a call.
fn tag_in_call(text: &str) -> Match {
    first_of([named(text, PARAMETER, in_parameter), literal(text, FUNCTION_END), literal(text, CALL_END)])
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
        // Here the tag alone says that the value has ended: prose between angle brackets does not.
        if begins_line {
            named(text, PARAMETER, |c| in_parameter(c) && !c.is_whitespace())
        } else {
            Match::No
        },
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

/// `tag`, a name of these characters and `>`.
fn named(text: &str, tag: &str, in_name: impl Fn(char) -> bool) -> Match {
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
    let (_, name) = tag.split_once('=').unwrap_or_default();
    name.strip_suffix('>').unwrap_or(name).to_owned()
}

/// Whether tools can be called so.
pub fn is_name(text: &str) -> bool {
    (1..=MOST_NAME).contains(&text.len()) && text.chars().all(in_name)
}

/// Whether parameters can be called so: whatever their tag can hold.
pub fn is_parameter_name(text: &str) -> bool {
    (1..=MOST_NAME).contains(&text.len()) && text.chars().all(in_parameter)
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// Line breaks and special tokens end the name of a parameter.
fn in_parameter(c: char) -> bool {
    !c.is_control() && !matches!(c, '<' | '>')
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
