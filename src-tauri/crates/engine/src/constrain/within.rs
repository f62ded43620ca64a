//! Grammars that programs have written, put where the text is not all that the model writes: between the tags of a
//! call.

/// What ends the text, or reads as something else of the call: no lexeme has it in it.
pub(super) const ENDS: &str = r"/(?s:.*)(<\/parameter>|\n<parameter=|<\/tool_call>)(?s:.*)/";
/// The same for lexemes of several lines. They take all that they can, the line break before the tag too, and so must
/// come to their end where the tag begins.
const ENDS_OF_LINES: &str = r"/(?s:.*)(<\/parameter>|\n<|<\/tool_call>)(?s:.*)/";
/// What makes lexemes take line breaks.
const BREAKS: [&str; 9] = ["\\s", "\\n", "[^", "\\W", "\\D", "(?", "%ignore", ".WS", ".NEWLINE"];

/// Whether a part of a grammar may have a lexeme that ends with as many line breaks as come.
pub(super) fn takes_breaks(grammar: &str) -> bool {
    BREAKS.iter().any(|mark| grammar.contains(mark))
}

fn without_tags(lexeme: &str) -> String {
    let ends = if takes_breaks(lexeme) { ENDS_OF_LINES } else { ENDS };
    format!("{lexeme} & ~{ends}")
}

/// A grammar in Lark, of which no lexeme has a tag of calls in it.
pub(super) fn call(grammar: &str) -> String {
    let mut lines = Vec::new();
    let mut lexemes = Vec::new();
    let prefix = unused(grammar);
    for item in items(grammar) {
        let whole: String = item.iter().map(Piece::text).collect();
        match (item.first(), whole.split_once(':')) {
            (Some(Piece::Name(name)), Some((head, body))) if is_terminal(name) => {
                lines.push(format!("{head}: {}", without_tags(&format!("({})", body.trim()))));
            }
            // What it imports or leaves out is short.
            (Some(Piece::Other("%")), _) => lines.push(whole),
            _ => lines.push(with_names(&item, &prefix, &mut lexemes)),
        }
    }
    let lexeme = |(index, regex): (usize, &str)| format!("{prefix}{index}: {}", without_tags(regex));
    lines.extend(lexemes.into_iter().enumerate().map(lexeme));
    lines.join("\n")
}

/// A rule with names in the place of its regular expressions, which `lexemes` gets: in rules, `&` is not known.
fn with_names<'a>(item: &[Piece<'a>], prefix: &str, lexemes: &mut Vec<&'a str>) -> String {
    let mut rule = String::new();
    for piece in item {
        match piece {
            // Of the rule's own attributes: what it ends with.
            Piece::Regex(regex) if !rule.trim_end().ends_with('=') => {
                rule.push_str(&format!(" {prefix}{} ", lexemes.len()));
                lexemes.push(regex);
            }
            piece => rule.push_str(piece.text()),
        }
    }
    rule
}

/// What no name of a grammar begins with.
fn unused(grammar: &str) -> String {
    let mut prefix = String::from("TEXT_");
    while grammar.contains(&prefix) {
        prefix.push('X');
    }
    prefix
}

/// Whether a name is a terminal's.
fn is_terminal(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|first: char| first.is_ascii_uppercase())
}

/// The definitions and statements of a grammar. One that goes on in the next line is on one.
fn items(grammar: &str) -> Vec<Vec<Piece<'_>>> {
    let mut items: Vec<Vec<Piece<'_>>> = Vec::new();
    let (mut at_start, mut depth) = (true, 0_usize);
    for piece in pieces(grammar) {
        match piece {
            Piece::Line if depth == 0 => at_start = true,
            Piece::Line => items.last_mut().into_iter().for_each(|item| item.push(Piece::Other(" "))),
            Piece::Other(" " | "\t" | "\r") if at_start => {}
            piece => {
                match piece {
                    Piece::Other("(" | "[" | "{") => depth += 1,
                    Piece::Other(")" | "]" | "}") => depth = depth.saturating_sub(1),
                    _ => {}
                }
                match items.last_mut() {
                    Some(item) if !at_start => item.push(piece),
                    Some(item) if matches!(piece, Piece::Other("|")) => {
                        item.extend([Piece::Other(" "), piece]);
                    }
                    _ => items.push(vec![piece]),
                }
                at_start = false;
            }
        }
    }
    items
}

/// A piece of a grammar in Lark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Name(&'a str),
    /// A regular expression with its slashes and what is said of it.
    Regex(&'a str),
    /// The end of a line.
    Line,
    /// A string, a character, or anything else.
    Other(&'a str),
}

impl<'a> Piece<'a> {
    fn text(&self) -> &'a str {
        match self {
            Self::Name(text) | Self::Regex(text) | Self::Other(text) => text,
            Self::Line => "\n",
        }
    }
}

/// The pieces of a grammar without its comments.
fn pieces<'a>(grammar: &'a str) -> impl Iterator<Item = Piece<'a>> {
    let mut rest = grammar;
    std::iter::from_fn(move || {
        while rest.starts_with("//") || rest.starts_with('#') {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        }
        let first = rest.chars().next()?;
        let (length, piece): (usize, fn(&'a str) -> Piece<'a>) = match first {
            '\n' => (1, |_| Piece::Line),
            '"' => (closed(rest, '"'), Piece::Other),
            '/' => {
                let end = closed(rest, '/');
                (end + run(&rest[end..], |flag| flag.is_ascii_lowercase()), Piece::Regex)
            }
            letter if letter.is_ascii_alphabetic() || letter == '_' => {
                (run(rest, |one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-')), Piece::Name)
            }
            other => (other.len_utf8(), Piece::Other),
        };
        let (text, behind) = rest.split_at(length);
        rest = behind;
        Some(piece(text))
    })
}

/// The bytes up to and with the second `quote`.
fn closed(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (place, character) in text.char_indices().skip(1) {
        if character == quote && !escaped {
            return place + character.len_utf8();
        }
        escaped = !escaped && character == '\\';
    }
    text.len()
}

/// The bytes at the beginning that are all of a kind.
fn run(text: &str, is_of_kind: impl Fn(char) -> bool) -> usize {
    text.find(|one| !is_of_kind(one)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lexeme_is_kept_from_the_tags_and_nothing_else_is_changed() {
        let grammar = concat!(
            "// A note with /slashes/\n",
            "start: line+ # and one\n",
            "?line: /a\\/[b:]+/i \":/x/\"\n",
            "  | \"say \\\"/y/\\\"\" WORD\n",
            "WORD.2: /w/\n",
            "  | \"v\"\n",
            "LINES: /[^x]+/\n",
            "rest[suffix=/z/]: WORD\n",
            "%import common.LF\n",
        );
        let expected = [
            "start: line+ ".to_owned(),
            "?line:  TEXT_0  \":/x/\" | \"say \\\"/y/\\\"\" WORD".into(),
            format!("WORD.2: (/w/ | \"v\") & ~{ENDS}"),
            format!("LINES: (/[^x]+/) & ~{ENDS_OF_LINES}"),
            "rest[suffix=/z/]: WORD".into(),
            "%import common.LF".into(),
            format!("TEXT_0: /a\\/[b:]+/i & ~{ENDS}"),
        ];
        assert_eq!(call(grammar).lines().collect::<Vec<_>>(), expected);
        assert!(call("start: TEXT_0\nTEXT_0: \"a\"").starts_with("start: TEXT_0\n"));
        for broken in ["start: /a", "start: \"a", "A", "|", "é: /é/", ""] {
            call(broken);
        }
    }
}
