//! What a person asks for.

use super::terms::{Term, Terms};

/// More phrases than this are left out: nobody means them all.
const MOST_PHRASES: usize = 16;
/// More words of one phrase than this are left out.
const MOST_TERMS: usize = 64;

/// Words that must all be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    phrases: Vec<Phrase>,
}

/// Words that stand one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    terms: Vec<String>,
    /// Whether the last word also matches longer words that begin with it, as it does unless the phrase was quoted.
    open: bool,
}

impl Query {
    /// Reads what was typed. Any text will do: what is no word and no quote says nothing.
    pub(super) fn parse(text: &str) -> Self {
        // Every second piece was between quotes. A quote that nobody closed yet is no reason to find nothing.
        let phrases = text.split(['"', '“', '”', '„']).enumerate().flat_map(|(number, piece)| {
            let quoted = number % 2 == 1;
            let words: Vec<&str> = if quoted { vec![piece] } else { piece.split_whitespace().collect() };
            words.into_iter().map(move |word| Phrase::new(word, !quoted)).collect::<Vec<_>>()
        });
        Self { phrases: phrases.filter(|phrase| !phrase.terms.is_empty()).take(MOST_PHRASES).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// The query as an expression for `MATCH` of SQLite's full-text index (FTS5).
    pub(super) fn expression(&self) -> String {
        let phrases = self.phrases.iter().map(|Phrase { terms, open }| {
            let star = if *open { " *" } else { "" };
            format!("\"{}\"{star}", terms.join(" "))
        });
        phrases.collect::<Vec<_>>().join(" AND ")
    }

    /// How many of the last `terms` a phrase matches; the longest match counts.
    pub(super) fn matches_end_of(&self, terms: &[Term]) -> Option<usize> {
        let found = self.phrases.iter().filter(|phrase| phrase.matches_end_of(terms));
        found.map(|phrase| phrase.terms.len()).max()
    }
}

impl Phrase {
    fn new(words: &str, open: bool) -> Self {
        Self { terms: Terms::of(words).take(MOST_TERMS).map(|term| term.folded).collect(), open }
    }

    fn matches_end_of(&self, terms: &[Term]) -> bool {
        let Some((last, before)) = self.terms.split_last() else { return false };
        let Some((last_there, there)) = terms.split_last() else { return false };
        let last_matches = match self.open {
            true => last_there.folded.starts_with(last),
            false => last_there.folded == *last,
        };
        last_matches
            && there.len() >= before.len()
            && there[there.len() - before.len()..].iter().map(|term| &term.folded).eq(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_becomes_phrases() {
        let cases = [
            ("draft tokens", "\"draft\" * AND \"tokens\" *"),
            ("foo_bar  C++", "\"foo bar\" * AND \"c\" *"),
            ("say \"not yet\" loud", "\"say\" * AND \"not yet\" AND \"loud\" *"),
            ("“exact”", "\"exact\""),
            ("\"open", "\"open\""),
            ("AND OR NOT NEAR(", "\"and\" * AND \"or\" * AND \"not\" * AND \"near\" *"),
            ("写代码", "\"写 代 码\" *"),
        ];
        for (text, expression) in cases {
            assert_eq!(Query::parse(text).expression(), expression, "{text}");
        }
        for nothing in ["", " \t", "\"\"", "*", "\0-^:(){}", "🦊"] {
            assert!(Query::parse(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn long_queries_are_cut() {
        assert_eq!(Query::parse(&"a ".repeat(1000)).phrases.len(), MOST_PHRASES);
        assert_eq!(Query::parse(&"漢".repeat(1000)).phrases[0].terms.len(), MOST_TERMS);
    }
}
