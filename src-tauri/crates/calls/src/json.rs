//! Reads the JSON object that is a call of a tool, as Qwen3 and Qwen3-Next write it:
//!
//! ```text
//! {"name": NAME, "arguments": {PARAMETER: VALUE, …}}
//! ```
//!
//! It is read letter by letter, so that the letters may come in any pieces. Either key may come first, others are
//! passed over, and the arguments may be a text that is itself JSON.

use std::mem;

use crate::arguments::json;
use crate::parser::{CallPiece, is_name};

/// The object of a call in the making. It knows what pieces its letters make up.
#[derive(Debug)]
pub(crate) struct JsonCall {
    at: At,
    /// Whether the letters stand in the object of the arguments.
    inside: bool,
    /// The key whose value comes.
    key: String,
    has_name: bool,
    has_arguments: bool,
    /// Whether the letters are those of a text that has been given as it was written.
    respelled: bool,
    /// What was written and is in no piece yet.
    markup: String,
    /// What is decided; nobody is told before the name is known.
    pieces: Vec<CallPiece>,
}

/// Where in the object the next letter stands.
#[derive(Debug)]
enum At {
    /// Before a key, or the end of an object where nothing stands in it.
    Key { empty: bool },
    /// In a key.
    InKey(Quoted, String),
    /// Between a key and its value.
    Colon,
    /// Before a value.
    Value,
    /// In the tool's name.
    InName(Quoted, String),
    /// In an argument that is a text.
    InText(Quoted),
    /// In arguments that are a text themselves.
    InArguments(Quoted, String),
    /// In any other value.
    Other(Other),
    /// Behind a value.
    Next,
    /// Behind the object.
    Done,
    /// Where nothing may come.
    Never,
}

/// The letters are no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

impl JsonCall {
    /// Behind its `{`. `opening`: what was written up to there.
    pub(crate) fn new(opening: &str) -> Self {
        Self {
            at: At::Key { empty: true },
            inside: false,
            key: String::new(),
            has_name: false,
            has_arguments: false,
            respelled: false,
            markup: opening.to_owned(),
            pieces: Vec::new(),
        }
    }

    /// Whether the object has ended.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.at, At::Done)
    }

    /// Whether the tool is known.
    pub(crate) fn has_name(&self) -> bool {
        self.has_name
    }

    /// The pieces so far, once the tool is known; what was taken does not come again.
    pub(crate) fn take(&mut self) -> Vec<CallPiece> {
        if !self.has_name {
            return Vec::new();
        }
        self.end_markup();
        mem::take(&mut self.pieces)
    }

    /// Takes the next letter, unless it breaks there.
    pub(crate) fn push(&mut self, letter: char) -> Result<(), Broken> {
        let markup = self.markup.len();
        let next = match mem::replace(&mut self.at, At::Never) {
            At::InText(quoted) => self.in_text(quoted, letter),
            At::Other(other) => self.in_other(other, letter),
            at => {
                self.write(letter);
                self.next(at, letter)
            }
        };
        self.at = next.inspect_err(|_| self.markup.truncate(markup))?;
        Ok(())
    }

    /// Where a letter that was written leads to.
    fn next(&mut self, at: At, letter: char) -> Result<At, Broken> {
        match at {
            At::Key { .. } | At::Colon | At::Value | At::Next if letter.is_ascii_whitespace() => Ok(at),
            At::Key { .. } if letter == '"' => Ok(At::InKey(Quoted::default(), String::new())),
            At::Key { empty: true } | At::Next if letter == '}' => self.end_object(),
            At::Next if letter == ',' => Ok(At::Key { empty: false }),
            At::Colon if letter == ':' => Ok(At::Value),
            At::Value => self.begin_value(letter),
            At::InKey(mut quoted, mut key) => match quoted.push(letter)? {
                Spelled::End => self.end_key(key),
                spelled => {
                    key.extend(spelled.letter());
                    Ok(At::InKey(quoted, key))
                }
            },
            At::InName(mut quoted, mut name) => match quoted.push(letter)? {
                Spelled::End => self.end_name(name),
                spelled => {
                    name.extend(spelled.letter());
                    Ok(At::InName(quoted, name))
                }
            },
            At::InArguments(mut quoted, mut text) => match quoted.push(letter)? {
                Spelled::End => Ok(self.respell(&text)),
                spelled => {
                    text.extend(spelled.letter());
                    Ok(At::InArguments(quoted, text))
                }
            },
            _ => Err(Broken),
        }
    }

    fn in_text(&mut self, mut quoted: Quoted, letter: char) -> Result<At, Broken> {
        let spelled = quoted.push(letter)?;
        if matches!(spelled, Spelled::End) {
            self.write(letter);
            return Ok(At::Next);
        }
        if let Some(CallPiece::Quoted { written, text }) = self.pieces.last_mut() {
            written.extend((!self.respelled).then_some(letter));
            text.extend(spelled.letter());
        } else {
            let written = if self.respelled { String::new() } else { letter.into() };
            self.pieces.push(CallPiece::Quoted { written, text: spelled.letter().into_iter().collect() });
        }
        Ok(At::InText(quoted))
    }

    fn in_other(&mut self, mut other: Other, letter: char) -> Result<At, Broken> {
        match other.push(letter)? {
            Ended::No => {
                self.write(letter);
                Ok(At::Other(other))
            }
            Ended::With => {
                self.write(letter);
                self.end_other(&other.text)
            }
            Ended::Before => {
                let next = self.end_other(&other.text)?;
                let markup = self.markup.len();
                self.write(letter);
                self.next(next, letter).inspect_err(|_| self.markup.truncate(markup))
            }
        }
    }

    /// Takes arguments that are a text, letter by letter.
    fn respell(&mut self, text: &str) -> At {
        let text = text.trim();
        if text.is_empty() {
            return At::Next;
        }
        self.respelled = true;
        self.at = At::Value;
        let taken = text.chars().try_for_each(|letter| self.push(letter));
        self.respelled = false;
        let whole = taken.is_ok() && !self.inside && matches!(self.at, At::Next);
        if whole { At::Next } else { At::Never }
    }

    fn end_key(&mut self, key: String) -> Result<At, Broken> {
        if self.inside {
            self.end_markup();
            self.pieces.push(CallPiece::Parameter(key));
            return Ok(At::Colon);
        }
        let came = match key.as_str() {
            "name" => self.has_name,
            "arguments" => mem::replace(&mut self.has_arguments, true),
            _ => false,
        };
        self.key = key;
        if came { Err(Broken) } else { Ok(At::Colon) }
    }

    fn begin_value(&mut self, letter: char) -> Result<At, Broken> {
        match (self.inside, self.key.as_str(), letter) {
            (true, _, '"') => {
                self.end_markup();
                self.pieces.push(CallPiece::Quoted { written: String::new(), text: String::new() });
                Ok(At::InText(Quoted::default()))
            }
            (false, "name", '"') => Ok(At::InName(Quoted::default(), String::new())),
            (false, "arguments", '{') => {
                self.inside = true;
                Ok(At::Key { empty: true })
            }
            (false, "arguments", '"') if !self.respelled => {
                Ok(At::InArguments(Quoted::default(), String::new()))
            }
            // Instead of none, null may come.
            (false, "arguments", 'n') | (true, ..) => Other::begin(letter),
            (false, "arguments" | "name", _) => Err(Broken),
            (false, ..) => Other::begin(letter),
        }
    }

    fn end_name(&mut self, name: String) -> Result<At, Broken> {
        if !is_name(&name) {
            return Err(Broken);
        }
        self.end_markup();
        self.pieces.insert(self.pieces.len().min(1), CallPiece::Name(name));
        self.has_name = true;
        Ok(At::Next)
    }

    fn end_other(&mut self, text: &str) -> Result<At, Broken> {
        let value = json(text).ok_or(Broken)?;
        if self.inside {
            self.end_markup();
            self.pieces.push(CallPiece::Json(value.to_string()));
        } else if self.key == "arguments" && !value.is_null() {
            return Err(Broken);
        }
        Ok(At::Next)
    }

    fn end_object(&mut self) -> Result<At, Broken> {
        match (mem::replace(&mut self.inside, false), self.has_name) {
            (true, _) => Ok(At::Next),
            (false, true) => Ok(At::Done),
            (false, false) => Err(Broken),
        }
    }

    fn write(&mut self, letter: char) {
        if !self.respelled {
            self.markup.push(letter);
        }
    }

    fn end_markup(&mut self) {
        if !self.markup.is_empty() {
            self.pieces.push(CallPiece::Markup(mem::take(&mut self.markup)));
        }
    }
}

/// A JSON text in the making, behind its first quotation mark. Line breaks and other control characters in it are
/// letters, though strictly they are not allowed.
#[derive(Debug, Default)]
struct Quoted {
    /// The letters of an escape so far.
    escape: String,
}

/// What a letter of a JSON text adds to it.
#[derive(Debug, Clone, Copy)]
enum Spelled {
    /// Nothing yet.
    Open,
    /// This letter.
    Letter(char),
    /// Its end.
    End,
}

impl Spelled {
    fn letter(self) -> Option<char> {
        if let Self::Letter(letter) = self { Some(letter) } else { None }
    }
}

impl Quoted {
    fn push(&mut self, letter: char) -> Result<Spelled, Broken> {
        match (self.escape.is_empty(), letter) {
            (true, '"') => return Ok(Spelled::End),
            (true, '\\') => {
                self.escape.push(letter);
                return Ok(Spelled::Open);
            }
            (true, letter) => return Ok(Spelled::Letter(letter)),
            (false, letter) => self.escape.push(letter),
        }
        let escape = self.escape.as_bytes();
        let is_whole = match escape.len() {
            2 => letter != 'u',
            // Half of a pair needs its other half.
            6 => {
                !escape[2..4].eq_ignore_ascii_case(b"d8")
                    && !escape[2..4].eq_ignore_ascii_case(b"d9")
                    && !escape[2..4].eq_ignore_ascii_case(b"da")
                    && !escape[2..4].eq_ignore_ascii_case(b"db")
            }
            length => length >= 12,
        };
        if !is_whole {
            return if letter.is_ascii() { Ok(Spelled::Open) } else { Err(Broken) };
        }
        let text = serde_json::from_str::<String>(&format!("\"{}\"", mem::take(&mut self.escape)));
        text.ok().and_then(|text| text.chars().next()).map(Spelled::Letter).ok_or(Broken)
    }
}

/// A JSON value other than a text in the making.
#[derive(Debug, Default)]
struct Other {
    text: String,
    /// Objects and lists that are open.
    depth: usize,
    in_text: bool,
    escaped: bool,
}

/// Whether a value ends at a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    No,
    /// It is the last one of it.
    With,
    /// It is none of it.
    Before,
}

impl Other {
    fn begin(letter: char) -> Result<At, Broken> {
        let mut other = Self::default();
        match other.push(letter)? {
            Ended::No => Ok(At::Other(other)),
            Ended::With | Ended::Before => Err(Broken),
        }
    }

    /// Takes the next letter of it, of which only those that no value can have are refused.
    fn push(&mut self, letter: char) -> Result<Ended, Broken> {
        if self.in_text {
            self.in_text = self.escaped || letter != '"';
            self.escaped = !self.escaped && letter == '\\';
            match letter {
                // As in other texts, these are letters.
                '\0'..' ' => self.text.push_str(&format!("\\u{:04x}", letter as u32)),
                letter => self.text.push(letter),
            }
            return Ok(if self.in_text || self.depth > 0 { Ended::No } else { Ended::With });
        }
        match letter {
            ',' | '}' | ']' | ' ' | '\t' | '\n' | '\r' if self.depth == 0 => return Ok(Ended::Before),
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth -= 1,
            '"' => self.in_text = true,
            ' ' | '\t' | '\n' | '\r' | ',' | ':' | '+' | '-' | '.' => {}
            letter if letter.is_ascii_alphanumeric() => {}
            _ => return Err(Broken),
        }
        self.text.push(letter);
        let ended = self.depth == 0 && matches!(letter, '}' | ']');
        Ok(if ended { Ended::With } else { Ended::No })
    }
}
