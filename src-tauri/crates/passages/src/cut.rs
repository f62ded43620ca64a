//! A text cut into passages at its natural borders: headings, pages and slides, paragraphs, rows, sentences.

use serde::{Deserialize, Serialize};

use crate::tokens::likely_tokens;

/// How long a passage becomes, in tokens: 200 to 300 words.
const LENGTH: usize = 350;
/// From which length on a heading begins a passage of its own, in tokens.
const SHORT: usize = 100;

/// A passage and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    lines: String,
    /// The heading, page, slide or sheet that it begins under, and the one that it ends under.
    headings: [String; 2],
    /// Its first and its last line, from 1.
    from: usize,
    to: usize,
    /// The first row of the sheet that it is from, where it does not hold that row.
    head: Option<String>,
}

impl Cut {
    /// Its text, with what its columns are called.
    pub(crate) fn text(&self) -> String {
        match &self.head {
            Some(head) => format!("{head}\n{}", self.lines.trim_matches('\n')),
            None => self.lines.trim_matches('\n').to_owned(),
        }
    }

    /// What is searched of it: its headings belong to it.
    pub(crate) fn searched(&self) -> String {
        format!("{}\n{}", self.headings.join("\n"), self.text())
    }

    /// Where it stands, as people say it.
    pub(crate) fn place(&self) -> String {
        let [first, last] = &self.headings;
        let lines = if self.from == self.to {
            format!("line {}", self.from)
        } else {
            format!("lines {}–{}", self.from, self.to)
        };
        let is_page = |heading: &str| heading.starts_with("Page ") || heading.starts_with("Slide ");
        match (first.is_empty(), first == last) {
            (true, true) => lines,
            (false, true) if is_page(first) => first.clone(),
            (false, true) => format!("{first}, {lines}"),
            (true, false) => format!("before {last}, {lines}"),
            (false, false) => format!("{first} to {last}"),
        }
    }

    /// Adds the passage that follows.
    pub(crate) fn join(&mut self, next: &Self) {
        self.lines += &next.lines;
        self.to = next.to;
        self.headings[1].clone_from(&next.headings[1]);
    }
}

/// Cuts a text. Nothing of it is lost but empty lines at the borders.
pub fn cut(text: &str) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    let (mut heading, mut head, mut open) = (String::new(), None, false);
    let (mut in_sheet, mut length) = (false, 0);
    for (number, line) in (1..).zip(text.lines()) {
        let begins = heading_of(line);
        if let Some(begun) = &begins {
            heading.clone_from(begun);
            in_sheet = heading.starts_with("Sheet: ");
            head = None;
        }
        let border = begins.is_some() && (length >= SHORT || in_sheet);
        for piece in pieces(line) {
            let added = likely_tokens(piece);
            let is_blank = piece.trim().is_empty();
            // An empty line ends a passage that is long enough.
            if border && piece.as_ptr() == line.as_ptr()
                || length + added > LENGTH && length >= SHORT
                || is_blank && length * 4 >= LENGTH * 3
            {
                open = false;
            }
            if !open {
                if is_blank {
                    continue;
                }
                let head = head.clone();
                cuts.push(Cut {
                    lines: String::new(),
                    headings: [heading.clone(), heading.clone()],
                    from: number,
                    to: number,
                    head,
                });
                (open, length) = (true, 0);
            }
            if let Some(cut) = cuts.last_mut() {
                cut.lines += piece;
                cut.headings[1].clone_from(&heading);
                if !is_blank {
                    cut.to = number;
                }
            }
            length += added;
        }
        if let Some(cut) = cuts.last_mut().filter(|_| open) {
            cut.lines.push('\n');
        }
        if in_sheet && head.is_none() && begins.is_none() && !line.trim().is_empty() && !line.starts_with('[')
        {
            head = Some(line.to_owned());
        }
    }
    cuts
}

/// What a line says of where the lines after it are.
fn heading_of(line: &str) -> Option<String> {
    let text = line.trim_start_matches('#');
    let marks = line.len() - text.len();
    if (1..=6).contains(&marks) && text.starts_with(' ') {
        return Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    }
    let page = line.strip_prefix("[Page ")?.strip_suffix(']')?;
    page.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("Page {page}"))
}

/// A line in pieces of about the same length, none longer than a passage, at the ends of sentences where it has some.
fn pieces(line: &str) -> Vec<&str> {
    let whole = likely_tokens(line);
    if whole <= LENGTH {
        return vec![line];
    }
    let most = whole.div_ceil(whole.div_ceil(LENGTH));
    let (mut pieces, mut rest) = (Vec::new(), line);
    loop {
        let (mut twelfths, mut sentence, mut word, mut end) = (0, None, None, None);
        for (at, character) in rest.char_indices() {
            // Four letters are a token, and so are two thirds of another character.
            twelfths += if character.is_ascii() { 3 } else { 8 };
            if twelfths > most * 12 && at > 0 {
                end = Some(at);
                break;
            }
            let after = at + character.len_utf8();
            match character {
                '.' | '!' | '?' if rest.get(after..).is_some_and(|rest| rest.starts_with(' ')) => {
                    sentence = Some(after + 1);
                }
                '。' | '！' | '？' => sentence = Some(after),
                ' ' | '\t' | ',' => word = Some(after),
                _ => {}
            }
        }
        let Some(end) = end else { break };
        let (piece, after) = rest.split_at(sentence.or(word).unwrap_or(end));
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}
