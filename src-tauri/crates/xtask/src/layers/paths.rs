//! The paths that a Rust source names: what its `use` items bring in, and what it names from `crate`, `super`, `self`
//! or another crate of the workspace on. What is only for tests is left out.

/// A path, and the name that it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) line: usize,
    pub(super) path: Vec<String>,
    pub(super) name: String,
}

/// What a source names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    pub(super) named: Vec<Named>,
    /// Modules that it declares for tests alone.
    pub(super) test_modules: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Sign(char),
}

impl Paths {
    pub(super) fn of(source: &str) -> Self {
        let tokens = tokens(source);
        let mut reader = Reader { tokens: &tokens, at: 0, paths: Self::default() };
        while reader.at < tokens.len() {
            reader.item();
        }
        reader.paths
    }
}

struct Reader<'a> {
    tokens: &'a [(usize, Token<'a>)],
    at: usize,
    paths: Paths,
}

impl<'a> Reader<'a> {
    fn token(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.at + ahead).map(|(_, token)| *token)
    }

    fn is(&self, ahead: usize, sign: char) -> bool {
        self.token(ahead) == Some(Token::Sign(sign))
    }

    fn separator(&self, ahead: usize) -> bool {
        self.is(ahead, ':') && self.is(ahead + 1, ':')
    }

    fn follows(&self, token: Token<'_>) -> bool {
        self.at > 0 && self.tokens[self.at - 1].1 == token
    }

    fn item(&mut self) {
        let test = ["cfg", "test"].map(|word| Some(Token::Word(word)));
        if self.is(0, '#') && self.token(2) == test[0] && self.token(4) == test[1] && self.is(5, ')') {
            return self.skip_test_item();
        }
        match self.token(0) {
            Some(Token::Word("use")) => {
                self.at += 1;
                if self.separator(0) {
                    self.at += 2;
                }
                self.tree(Vec::new());
            }
            Some(Token::Word(word))
                if is_root(word)
                    && self.separator(1)
                    && !self.follows(Token::Sign(':'))
                    && !self.follows(Token::Word("in")) =>
            {
                self.tree(Vec::new());
            }
            _ => self.at += 1,
        }
    }

    /// Passes over an item that is only for tests, up to the end of its body or its semicolon.
    fn skip_test_item(&mut self) {
        self.at += 7;
        let mut depth = 0;
        while let Some(token) = self.token(0) {
            if let (Token::Word("mod"), Some(Token::Word(name)), true) =
                (token, self.token(1), self.is(2, ';'))
            {
                self.paths.test_modules.push(name.to_owned());
            }
            self.at += 1;
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']') => depth -= 1,
                Token::Sign('}') => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                Token::Sign(';') if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// A path, or several with the same beginning: `a::{b, c::d as e}`.
    fn tree(&mut self, mut path: Vec<String>) {
        while let Some((line, token)) = self.tokens.get(self.at).copied() {
            match token {
                Token::Word(word) => {
                    self.at += 1;
                    if word != "self" || path.is_empty() {
                        path.push(word.to_owned());
                    }
                    if self.separator(0) && !self.is(2, '<') {
                        self.at += 2;
                        continue;
                    }
                    let mut name = path.last().cloned().unwrap_or_default();
                    if let (Some(Token::Word("as")), Some(Token::Word(other))) =
                        (self.token(0), self.token(1))
                    {
                        name = other.to_owned();
                        self.at += 2;
                    }
                    return self.paths.named.push(Named { line, path, name });
                }
                Token::Sign('{') => {
                    self.at += 1;
                    while !self.is(0, '}') && self.at < self.tokens.len() {
                        if self.is(0, ',') {
                            self.at += 1;
                        } else {
                            self.tree(path.clone());
                        }
                    }
                    self.at += 1;
                    return;
                }
                Token::Sign(_) => {
                    // `*`: everything there is.
                    self.at += 1;
                    let name = "*".to_owned();
                    path.push(name.clone());
                    return self.paths.named.push(Named { line, path, name });
                }
            }
        }
    }
}

fn is_root(word: &str) -> bool {
    matches!(word, "crate" | "super" | "self") || word.starts_with("foretoken_")
}

/// Words and signs with their lines, from 1; comments and literals are left out.
fn tokens(source: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else if is_part(first) {
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            tokens.push((line, Token::Word(&rest[..length])));
            length
        } else {
            if !first.is_whitespace() {
                tokens.push((line, Token::Sign(first)));
            }
            first.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// The length of a text or a character that stands at the beginning, its quotes included. Of a lifetime it is the
/// quote.
fn literal(rest: &str) -> Option<usize> {
    let marks = rest.trim_start_matches(['b', 'c']);
    if let Some(raw) = marks.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let begin = rest.len() - raw.len() + hashes + 1;
            let end = format!("\"{}", "#".repeat(hashes));
            return Some(rest[begin..].find(&end).map_or(rest.len(), |at| begin + at + end.len()));
        }
    }
    let prefix = rest.len() - marks.len();
    if prefix < 2 && marks.starts_with('"') {
        return Some(prefix + quoted(marks, '"'));
    }
    if let Some(inner) = rest.strip_prefix('\'') {
        let mut inner = inner.chars();
        let is_character = matches!((inner.next(), inner.next()), (Some('\\'), _) | (Some(_), Some('\'')));
        return Some(if is_character { quoted(rest, '\'') } else { 1 });
    }
    None
}

/// The length of what stands in quotes at the beginning, with both of them.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_named_but_those_of_tests_comments_and_literals() {
        let source = r##"//! use crate::comment;
use std::fmt;
use super::{batch::{Batch, self}, row::Row as Line};
pub(in crate::decode) fn f<'a>(x: &'a str) -> crate::mlx::Result<char> { /* crate::no */
    let text = "crate::text \" crate::still"; let raw = r#"crate::raw""#;
    self::here::<u8>('"'); foretoken_chats::Store::open(b"x"); Ok('\'')
}
#[cfg(test)]
use crate::testing;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests { use crate::everything; fn g() {} }
use crate::last::*;
"##;
        let found = Paths::of(source);
        let named: Vec<(usize, String, &str)> = found
            .named
            .iter()
            .map(|named| (named.line, named.path.join("::"), named.name.as_str()))
            .collect();
        let named: Vec<(usize, &str, &str)> =
            named.iter().map(|(line, path, name)| (*line, path.as_str(), *name)).collect();
        assert_eq!(
            named,
            [
                (2, "std::fmt", "fmt"),
                (3, "super::batch::Batch", "Batch"),
                (3, "super::batch", "batch"),
                (3, "super::row::Row", "Line"),
                (4, "crate::mlx::Result", "Result"),
                (6, "self::here", "here"),
                (6, "foretoken_chats::Store::open", "open"),
                (14, "crate::last::*", "*"),
            ]
        );
        assert_eq!(found.test_modules, ["fixture"]);
    }
}
