//! The words around what was found.

use std::ops::Range;

use foretoken_protocol::SnippetPart;

use super::query::Query;
use super::terms::{Term, Terms};

/// Characters before the first match.
const BEFORE: usize = 40;
/// Characters from the first match on.
const AFTER: usize = 160;

/// The part of `text` around the first match of `query`, on one line.
pub(super) fn snippet(text: &str, query: &Query) -> Vec<SnippetPart> {
    let mut terms: Vec<Term> = Vec::new();
    let mut matches: Vec<Range<usize>> = Vec::new();
    let mut limit = text.len();
    for term in Terms::of(text) {
        if term.range.start >= limit {
            break;
        }
        terms.push(term);
        let Some(length) = query.matches_end_of(&terms) else { continue };
        let found = terms[terms.len() - length].range.start..terms[terms.len() - 1].range.end;
        if matches.is_empty() {
            limit = found.end.max(forward(text, found.start, AFTER));
        }
        // A longer match may end where a shorter one began.
        while matches.last().is_some_and(|last| last.start >= found.start) {
            matches.pop();
        }
        match matches.last_mut() {
            Some(last) if last.end > found.start => last.end = last.end.max(found.end),
            _ => matches.push(found),
        }
    }
    let first = matches.first().map_or(0, |first| first.start);
    let earliest = backward(text, first, BEFORE);
    let start = match earliest {
        0 => 0,
        _ => terms.iter().map(|term| term.range.start).find(|&start| start >= earliest).unwrap_or(first),
    };
    if matches.is_empty() {
        limit = forward(text, 0, AFTER);
    }
    let last = matches.last().map_or(0, |last| last.end);
    let end = match limit < text.len() {
        // Not in the middle of a word.
        true => terms.iter().map(|term| term.range.end).rfind(|&end| end <= limit).unwrap_or(limit).max(last),
        false => text.len(),
    };
    parts(text, start..end, &matches)
}

fn parts(text: &str, shown: Range<usize>, matches: &[Range<usize>]) -> Vec<SnippetPart> {
    let mut parts = Vec::with_capacity(2 * matches.len() + 1);
    let mut push = |text: String, matched| {
        if !text.is_empty() {
            parts.push(SnippetPart { text, matched });
        }
    };
    let mut from = shown.start;
    let mut lead = if shown.start > 0 { "…" } else { "" };
    for found in matches {
        push(format!("{lead}{}", one_line(&text[from..found.start])), false);
        push(one_line(&text[found.clone()]), true);
        from = found.end;
        lead = "";
    }
    let rest = if shown.end < text.len() { "…" } else { "" };
    push(format!("{lead}{}{rest}", one_line(&text[from..shown.end])), false);
    parts
}

/// The text with one space for each run of white space and control characters, also at its ends.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_whitespace() && !c.is_control() {
            line.push(c);
        } else if !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line
}

/// The place `count` characters after `from`, or the end.
fn forward(text: &str, from: usize, count: usize) -> usize {
    text[from..].char_indices().nth(count).map_or(text.len(), |(offset, _)| from + offset)
}

/// The place `count` characters before `from`, or the beginning.
fn backward(text: &str, from: usize, count: usize) -> usize {
    text[..from].char_indices().rev().take(count).last().map_or(from, |(offset, _)| offset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The snippet with matches in brackets.
    fn marked(text: &str, query: &str) -> String {
        let parts = snippet(text, &Query::parse(query));
        parts
            .into_iter()
            .map(|part| if part.matched { format!("[{}]", part.text) } else { part.text })
            .collect()
    }

    #[test]
    fn matches_are_marked_in_the_words_of_the_text() {
        assert_eq!(marked("Où est Zürich?\n\nIci.", "zur OU"), "[Où] est [Zürich]? Ici.");
        let examples: serde_json::Value = serde_json::from_str(include_str!("examples.json")).unwrap();
        let cases: Vec<[String; 3]> = serde_json::from_value(examples["matches"].clone()).unwrap();
        for [text, query, expected] in cases {
            assert_eq!(marked(&text, &query), expected, "{query}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        let text = format!("{} needle {}", "before ".repeat(50), "after ".repeat(50));
        let expected = format!("…{}[needle] {}…", "before ".repeat(5), ["after"; 25].join(" "));
        assert_eq!(marked(&text, "needle"), expected);
        let word = "漢".repeat(500);
        assert_eq!(marked(&format!("針{word}"), "針"), format!("[針]{}…", "漢".repeat(159)));
    }

    proptest! {
        #[test]
        fn any_text_and_query_give_a_snippet_of_the_text(text in any::<String>(), query in any::<String>()) {
            let parts = snippet(&text, &Query::parse(&query));
            let shown: String = parts.iter().map(|part| part.text.as_str()).collect();
            let squeezed = |text: &str| one_line(text).replace(' ', "");
            let shown = squeezed(shown.trim_start_matches('…').trim_end_matches('…'));
            prop_assert!(squeezed(&text).contains(&shown));
        }

        #[test]
        fn what_is_in_the_text_is_marked(before in ".{0,80}", word in "\\w{1,12}", after in ".{0,80}") {
            let text = format!("{before} {word} {after}");
            let query = Query::parse(&word);
            let parts = snippet(&text, &query);
            prop_assert_eq!(parts.iter().any(|part| part.matched), !query.is_empty());
        }
    }
}
