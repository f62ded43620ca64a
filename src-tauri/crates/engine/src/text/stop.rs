//! Ends a reply before the first of its stop texts, which may lie across the pieces in which its text comes.

use super::TextError;

/// Finds the first stop text in a reply that comes in pieces, and cuts the reply there.
#[derive(Debug)]
pub struct StopMatcher {
    stops: Vec<String>,
    /// Text that may be the start of a stop text.
    held: String,
    stopped: bool,
    /// The text that was found.
    matched: Option<String>,
}

/// What one piece of text brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopOutcome {
    /// Text that is certainly part of the reply.
    pub text: String,
    /// Whether a stop text was found; nothing of the reply comes after `text`.
    pub stopped: bool,
}

impl StopMatcher {
    /// A matcher for these texts, none of them empty. Without any it passes everything on.
    pub fn new(stops: Vec<String>) -> Result<Self, TextError> {
        if stops.iter().any(String::is_empty) {
            return Err(TextError::EmptyStopText);
        }
        Ok(Self { stops, held: String::new(), stopped: false, matched: None })
    }

    /// Takes the next piece. Only what may be the start of a stop text is held back.
    pub fn push(&mut self, text: &str) -> StopOutcome {
        if self.stopped {
            return StopOutcome { text: String::new(), stopped: true };
        }
        self.held.push_str(text);
        let found = self.first_match();
        let open = self.first_open();
        // A longer stop text that began earlier may still win over one that is complete.
        self.stopped = found < self.held.len() && found <= open;
        let rest = self.held.split_off(found.min(open));
        if self.stopped {
            self.matched = self.stops.iter().find(|stop| rest.starts_with(*stop)).cloned();
        }
        let text = std::mem::replace(&mut self.held, if self.stopped { String::new() } else { rest });
        StopOutcome { text, stopped: self.stopped }
    }

    /// The stop text that has ended the reply.
    pub fn matched(&self) -> Option<&str> {
        self.matched.as_deref()
    }

    /// The rest of a reply that has ended: the text held back, up to a stop text in it.
    pub fn finish(&mut self) -> String {
        self.held.truncate(self.first_match());
        std::mem::take(&mut self.held)
    }

    /// Byte in the held text at which the leftmost complete stop text begins; its length if there is none.
    fn first_match(&self) -> usize {
        self.stops.iter().filter_map(|stop| self.held.find(stop)).min().unwrap_or(self.held.len())
    }

    /// Byte in the held text at which the leftmost stop text begins that is not complete yet; its length if there is
    /// none.
    fn first_open(&self) -> usize {
        let open = |&at: &usize| {
            let tail = &self.held[at..];
            self.stops.iter().any(|stop| stop.len() > tail.len() && stop.starts_with(tail))
        };
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0);
        let from = self.held.ceil_char_boundary(self.held.len().saturating_sub(longest));
        let mut starts = (from..self.held.len()).filter(|&at| self.held.is_char_boundary(at));
        starts.find(open).unwrap_or(self.held.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::chunks;
    use super::*;

    fn run(stops: &[String], pieces: &[String]) -> String {
        let mut matcher = StopMatcher::new(stops.to_vec()).unwrap();
        let mut text: String = pieces.iter().map(|piece| matcher.push(piece).text).collect();
        text.push_str(&matcher.finish());
        text
    }

    fn outcome(text: &str, stopped: bool) -> StopOutcome {
        StopOutcome { text: text.into(), stopped }
    }

    #[test]
    fn a_stop_text_is_found_across_pieces() {
        let mut matcher = StopMatcher::new(vec!["\nUser:".into()]).unwrap();
        assert_eq!(matcher.push("Hello\nU"), outcome("Hello", false));
        assert_eq!(matcher.push("ps\nUse"), outcome("\nUps", false));
        assert_eq!(matcher.push("r: more"), outcome("", true));
        assert_eq!(matcher.push("even more"), outcome("", true));
        assert_eq!(matcher.finish(), "");
    }

    #[test]
    fn what_was_held_back_comes_at_the_end() {
        let mut matcher = StopMatcher::new(vec!["END".into()]).unwrap();
        assert_eq!(matcher.push("the EN"), outcome("the ", false));
        assert_eq!(matcher.finish(), "EN");
    }

    #[test]
    fn the_leftmost_wins_even_if_it_completes_later() {
        let mut matcher = StopMatcher::new(vec!["bc".into(), "abcd".into()]).unwrap();
        assert_eq!(matcher.push("xabc"), outcome("x", false));
        assert_eq!(matcher.push("d"), outcome("", true));
        let mut matcher = StopMatcher::new(vec!["bc".into(), "abcd".into()]).unwrap();
        matcher.push("xabc");
        assert_eq!(matcher.push("e"), outcome("a", true));
        let mut matcher = StopMatcher::new(vec!["bc".into(), "abcd".into()]).unwrap();
        matcher.push("xabc");
        assert_eq!(matcher.finish(), "a");
    }

    #[test]
    fn nothing_longer_is_waited_for_where_a_stop_text_is_complete() {
        let mut matcher = StopMatcher::new(vec!["abc".into(), "ab".into()]).unwrap();
        assert_eq!(matcher.push("xab"), outcome("x", true));
    }

    #[test]
    fn an_empty_stop_text_is_refused() {
        assert!(matches!(StopMatcher::new(vec!["a".into(), String::new()]), Err(TextError::EmptyStopText)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_chunking_cuts_at_the_leftmost_stop_text(
            text in "[abé🦀]{0,20}",
            stops in prop::collection::vec("[abé🦀]{1,4}", 0..4),
            cuts in prop::collection::vec(any::<usize>(), 0..8),
        ) {
            let cut = stops.iter().filter_map(|stop| text.find(stop)).min().unwrap_or(text.len());
            prop_assert_eq!(run(&stops, &chunks(&text, &cuts)), &text[..cut]);
        }
    }
}
