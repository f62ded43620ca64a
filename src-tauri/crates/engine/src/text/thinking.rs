//! Divides a reply into thinking, between `<think>` and `</think>`, and answer, as its text comes in pieces.

use std::mem;

use foretoken_protocol::Part;

/// The tag that opens a thinking block.
pub(super) const OPEN: &str = "<think>";
/// The tag that closes a thinking block.
pub(crate) const CLOSE: &str = "</think>";

/// The part of a reply with which the model begins to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyStart {
    /// The part, thinking or answer.
    pub part: Part,
    /// Whether the part has text already, with which the prompt ends.
    pub resumed: bool,
}

/// How the model writes the tags.
#[derive(Debug)]
pub enum Tags {
    /// As text, since its vocabulary has no tokens for them.
    Text,
    /// As tokens of their own; the same text spelled out by other tokens is no tag. Holds the offsets in the reply, in
    /// bytes, at which tags begin that may still be in the held text.
    At(Vec<usize>),
}

/// Tells the model's thinking from its answer in text that comes in pieces.
///
/// A block opens only before any text of the answer: an answer that writes about the tag keeps it. The tags go, and
/// with them the newlines at the start and end of the thinking and those between it and the answer.
#[derive(Debug)]
pub struct ThinkingSplit {
    part: Part,
    tags: Tags,
    /// Bytes of the reply so far; `held` are the last of them.
    length: usize,
    /// Whether newlines are dropped until other text comes.
    trimming: bool,
    /// Whether a block may still open: the answer has no text yet.
    may_open: bool,
    /// Text held back: it may be a tag, a part of one, or newlines beside one.
    held: String,
}

impl ThinkingSplit {
    /// A split for a reply that begins as `start` says.
    pub fn new(start: ReplyStart, tags: Tags) -> Self {
        Self {
            part: start.part,
            tags,
            length: 0,
            trimming: start.part == Part::Thinking && !start.resumed,
            may_open: start.part == Part::Answer && !start.resumed,
            held: String::new(),
        }
    }

    /// The part that text belongs to now.
    pub fn part(&self) -> Part {
        self.part
    }

    /// A tag that is a token begins at this byte of the reply, which is still to come.
    pub fn expect_tag(&mut self, at: usize) {
        if let Tags::At(places) = &mut self.tags {
            let held_from = self.length - self.held.len();
            places.retain(|&place| place >= held_from);
            places.push(at);
        }
    }

    /// Takes the next piece; gives what is decided, in order, none of it empty.
    pub fn push(&mut self, text: &str) -> Vec<(Part, String)> {
        self.held.push_str(text);
        self.length += text.len();
        let mut pieces = Vec::new();
        loop {
            if self.trimming {
                let newlines = self.held.len() - self.held.trim_start_matches('\n').len();
                self.held.drain(..newlines);
                self.trimming = self.held.is_empty();
            }
            let tag = match self.part {
                Part::Thinking => self.close(&mut pieces),
                Part::Answer => self.open(),
            };
            if !tag {
                break;
            }
        }
        let end = match self.part {
            Part::Thinking => thinking_end(&self.held),
            Part::Answer if self.may_open => 0,
            Part::Answer => self.held.len(),
        };
        let rest = self.held.split_off(end);
        give(&mut pieces, self.part, mem::replace(&mut self.held, rest));
        pieces
    }

    /// The rest of a reply that has ended.
    pub fn finish(&mut self) -> Vec<(Part, String)> {
        let mut pieces = Vec::new();
        give(&mut pieces, self.part, mem::take(&mut self.held));
        pieces
    }

    /// Goes on to the answer if the block ends in the held text.
    fn close(&mut self, pieces: &mut Vec<(Part, String)>) -> bool {
        let mut found = self.held.match_indices(CLOSE).map(|(at, _)| at);
        let Some(at) = found.find(|&at| self.is_tag(at)) else { return false };
        let rest = self.held.split_off(at + CLOSE.len());
        give(pieces, Part::Thinking, self.held[..at].trim_end_matches('\n').to_owned());
        self.held = rest;
        (self.part, self.trimming, self.may_open) = (Part::Answer, true, true);
        true
    }

    /// Goes on to the thinking if a block opens in the held text, or finds that none can open any more.
    fn open(&mut self) -> bool {
        let body = self.held.trim_start();
        let complete = body.starts_with(OPEN);
        if self.may_open && complete && self.is_tag(self.held.len() - body.len()) {
            self.held = body[OPEN.len()..].to_owned();
            (self.part, self.trimming, self.may_open) = (Part::Thinking, true, false);
            return true;
        }
        self.may_open &= !complete && OPEN.starts_with(body);
        false
    }

    /// Whether the tag's text at byte `at` of the held text is a tag.
    fn is_tag(&self, at: usize) -> bool {
        match &self.tags {
            Tags::Text => true,
            Tags::At(places) => places.contains(&(self.length - self.held.len() + at)),
        }
    }
}

/// The number of leading bytes of a thinking text that cannot belong to the end of the block.
fn thinking_end(text: &str) -> usize {
    let tag = (1..CLOSE.len()).find(|&length| text.ends_with(&CLOSE[..length])).unwrap_or(0);
    text[..text.len() - tag].trim_end_matches('\n').len()
}

/// Adds a piece, unless it is empty.
fn give(pieces: &mut Vec<(Part, String)>, part: Part, text: String) {
    if !text.is_empty() {
        pieces.push((part, text));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::chunks;
    use super::*;

    const ANSWER: ReplyStart = ReplyStart { part: Part::Answer, resumed: false };
    const THINKING: ReplyStart = ReplyStart { part: Part::Thinking, resumed: false };

    /// All thinking and all answer of a reply that comes in these pieces.
    fn split<S: AsRef<str>>(start: ReplyStart, pieces: &[S]) -> (String, String) {
        let mut split = ThinkingSplit::new(start, Tags::Text);
        let mut given: Vec<_> = pieces.iter().flat_map(|piece| split.push(piece.as_ref())).collect();
        given.extend(split.finish());
        assert!(given.iter().all(|(_, text)| !text.is_empty()));
        let all =
            |wanted| given.iter().filter(|(part, _)| *part == wanted).map(|(_, t)| t.as_str()).collect();
        (all(Part::Thinking), all(Part::Answer))
    }

    fn parts(thinking: &str, answer: &str) -> (String, String) {
        (thinking.into(), answer.into())
    }

    #[test]
    fn tags_and_the_newlines_around_them_go() {
        let reply = ["<think>\n\nOne.\n\nTwo.\n</think>\n\nThree.\n\nFour.\n"];
        assert_eq!(split(ANSWER, &reply), parts("One.\n\nTwo.", "Three.\n\nFour.\n"));
        assert_eq!(split(THINKING, &["\nOne.\n</think>\n\nTwo."]), parts("One.", "Two."));
        assert_eq!(split(THINKING, &["\n\n</think>\n\nTwo."]), parts("", "Two."));
        assert_eq!(split(ANSWER, &["Just an answer.\n"]), parts("", "Just an answer.\n"));
    }

    #[test]
    fn text_comes_as_soon_as_it_is_certain() {
        let mut split = ThinkingSplit::new(THINKING, Tags::Text);
        assert_eq!(split.push("a\n"), [(Part::Thinking, "a".into())]);
        assert_eq!(split.push("b <"), [(Part::Thinking, "\nb ".into())]);
        assert_eq!(split.push("3\n\n</thi"), [(Part::Thinking, "<3".into())]);
        assert_eq!(split.push("nk>"), []);
        assert_eq!(split.part(), Part::Answer);
        assert_eq!(split.push("\n\nc <think>"), [(Part::Answer, "c <think>".into())]);
    }

    #[test]
    fn an_answer_may_write_about_the_tags() {
        let answer = "The tags are <think> and </think>.";
        assert_eq!(split(ANSWER, &[answer]), parts("", answer));
        assert_eq!(split(THINKING, &[format!("<think>?</think>{answer}")]), parts("<think>?", answer));
    }

    /// All thinking and all answer of a reply in tokens, of which some are tags and others may look like tags.
    fn split_tokens(start: ReplyStart, tokens: &[&str], is_tag: impl Fn(usize) -> bool) -> (String, String) {
        let mut split = ThinkingSplit::new(start, Tags::At(Vec::new()));
        let (mut thinking, mut answer, mut length) = (String::new(), String::new(), 0);
        let mut give = |pieces: Vec<(Part, String)>| {
            for (part, text) in pieces {
                if part == Part::Thinking { &mut thinking } else { &mut answer }.push_str(&text);
            }
        };
        for (i, token) in tokens.iter().enumerate() {
            if is_tag(i) {
                split.expect_tag(length);
            }
            length += token.len();
            give(split.push(token));
        }
        give(split.finish());
        (thinking, answer)
    }

    #[test]
    fn tags_that_are_spelled_out_are_text() {
        let tokens = ["<think>", "a</think>", "</", "think>", "b\n", "</think>", "\n\n<think>", "</think>"];
        let (first, fifth) = (|i| i == 0 || i == 5, |i| i == 5);
        assert_eq!(split_tokens(ANSWER, &tokens, first), parts("a</think></think>b", "<think></think>"));
        assert_eq!(
            split_tokens(THINKING, &tokens, fifth),
            parts("<think>a</think></think>b", "<think></think>")
        );
        let spelled = ["<th", "ink>", "a", "</think>"];
        assert_eq!(split_tokens(ANSWER, &spelled, |_| false), parts("", "<think>a</think>"));
        assert_eq!(split_tokens(THINKING, &spelled, |_| false), parts("<think>a</think>", ""));
        // A tag behind text that opens nothing any more.
        assert_eq!(split_tokens(ANSWER, &["a", "<think>", "b"], |i| i == 1), parts("", "a<think>b"));
    }

    #[test]
    fn a_resumed_part_keeps_its_newlines() {
        let thinking = ReplyStart { part: Part::Thinking, resumed: true };
        assert_eq!(split(thinking, &["\n\nSecond.\n</think>\n\nYes."]), parts("\n\nSecond.", "Yes."));
        let answer = ReplyStart { part: Part::Answer, resumed: true };
        assert_eq!(split(answer, &["\n\n<think>"]), parts("", "\n\n<think>"));
    }

    #[test]
    fn an_end_in_the_middle_loses_nothing() {
        assert_eq!(split(THINKING, &["One.\n\n</thin"]), parts("One.\n\n</thin", ""));
        assert_eq!(split(ANSWER, &[" \n<thin"]), parts("", " \n<thin"));
    }

    /// Text in which tags, parts of tags and newlines are frequent.
    fn reply() -> impl Strategy<Value = String> {
        let piece =
            prop_oneof![Just("<think>"), Just("</think>"), Just("\n"), Just("</th"), Just("<"), Just(" é"),];
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_chunking_splits_alike(
            reply in reply(),
            thinking in any::<bool>(),
            resumed in any::<bool>(),
            cuts in prop::collection::vec(any::<usize>(), 0..10),
        ) {
            let start = ReplyStart { part: if thinking { Part::Thinking } else { Part::Answer }, resumed };
            prop_assert_eq!(split(start, &chunks(&reply, &cuts)), split(start, &[&reply]));
        }

        #[test]
        fn a_whole_reply_comes_apart_as_it_was_put_together(
            thinking in "([a-z<>/🦀]([a-z<>/\n 🦀]{0,20}[a-z<>/🦀])?)?",
            answer in "[a-z🦀]([a-z<>/\n 🦀]{0,20})?",
            cuts in prop::collection::vec(any::<usize>(), 0..10),
        ) {
            prop_assume!(!thinking.contains(CLOSE));
            let raw = format!("\n{thinking}\n{CLOSE}\n\n{answer}");
            prop_assert_eq!(split(THINKING, &chunks(&raw, &cuts)), (thinking.clone(), answer.clone()));
            prop_assert_eq!(split(ANSWER, &chunks(&format!("{OPEN}{raw}"), &cuts)), (thinking, answer));
        }
    }
}
