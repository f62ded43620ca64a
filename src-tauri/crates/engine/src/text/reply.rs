//! The text of one reply, from its token ids: decoded as they come, cut at stop texts, and divided into thinking and
//! answer.

use foretoken_protocol::{Part, TokenText};

use super::thinking::{CLOSE, OPEN, Tags};
use super::{ReplyStart, StopMatcher, StreamDecoder, TextError, ThinkingSplit, Tokenizer};

/// The text side of one reply: ids in, readable text by part out.
#[derive(Debug)]
pub struct ReplyText {
    decoder: StreamDecoder,
    stops: StopMatcher,
    split: ThinkingSplit,
    /// The tokens that open and close a thinking block, where the vocabulary has them.
    tags: Option<[(u32, &'static str); 2]>,
    /// Bytes of text so far.
    length: usize,
    /// The draft position of the last token, which is also that of text held back until the end.
    draft_position: Option<u8>,
}

impl ReplyText {
    /// A reply that begins as `start` says and ends before any of the stop texts, which are looked for in all that the
    /// model writes, tags included.
    pub fn new(tokenizer: Tokenizer, start: ReplyStart, stops: Vec<String>) -> Result<Self, TextError> {
        let tag = |text| Some((tokenizer.token_id(text)?, text));
        let tags = tag(OPEN).zip(tag(CLOSE)).map(|(open, close)| [open, close]);
        let split = ThinkingSplit::new(start, tags.map_or(Tags::Text, |_| Tags::At(Vec::new())));
        Ok(Self {
            decoder: StreamDecoder::new(tokenizer),
            stops: StopMatcher::new(stops)?,
            split,
            tags,
            length: 0,
            draft_position: None,
        })
    }

    /// The part of the reply that is being written.
    pub fn part(&self) -> Part {
        self.split.part()
    }

    /// Takes the next token; gives its text and whether a stop text ends the reply with it.
    ///
    /// There is at least one entry, so that every token shows where it came from, and two if it touches both parts.
    /// Text that was held back comes with the token that releases it.
    pub fn push(&mut self, id: u32, draft_position: Option<u8>) -> (Vec<TokenText>, bool) {
        self.draft_position = draft_position;
        let tag = self.tags.iter().flatten().find(|(token, _)| *token == id).map(|&(_, tag)| tag);
        let decoded = match tag {
            // The tag itself: a token that a tokenizer marks as special has no text.
            Some(tag) => self.decoder.finish() + tag,
            None => self.decoder.push(id),
        };
        self.length += decoded.len();
        if let Some(tag) = tag {
            self.split.expect_tag(self.length - tag.len());
        }
        let outcome = self.stops.push(&decoded);
        let mut pieces = self.split.push(&outcome.text);
        if outcome.stopped {
            pieces.extend(self.split.finish());
        }
        if pieces.is_empty() {
            pieces.push((self.split.part(), String::new()));
        }
        (self.entries(pieces), outcome.stopped)
    }

    /// The rest of a reply that has ended; nothing after a stop text. `cut`: the reply may be continued later, so the
    /// bytes of an unfinished character are left out, and the continuation writes the whole character.
    pub fn finish(&mut self, cut: bool) -> Vec<TokenText> {
        let decoded = if cut { String::new() } else { self.decoder.finish() };
        let mut text = self.stops.push(&decoded).text;
        text.push_str(&self.stops.finish());
        let mut pieces = self.split.push(&text);
        pieces.extend(self.split.finish());
        self.entries(pieces)
    }

    fn entries(&self, pieces: Vec<(Part, String)>) -> Vec<TokenText> {
        let entry = |(part, text)| TokenText { text, part, draft_position: self.draft_position };
        pieces.into_iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{TOKENIZER, with_special_tags};
    use super::*;

    const THINKING: ReplyStart = ReplyStart { part: Part::Thinking, resumed: false };
    const ANSWER: ReplyStart = ReplyStart { part: Part::Answer, resumed: false };

    /// The entries of every token up to the stop text, those of the end, and whether a stop text was found. Token n has
    /// draft position n.
    fn write(start: ReplyStart, ids: &[u32], stops: &[&str]) -> (Vec<Vec<TokenText>>, Vec<TokenText>, bool) {
        write_with(&TOKENIZER, start, ids, stops)
    }

    fn write_with(
        tokenizer: &Tokenizer,
        start: ReplyStart,
        ids: &[u32],
        stops: &[&str],
    ) -> (Vec<Vec<TokenText>>, Vec<TokenText>, bool) {
        let stops = stops.iter().map(|&stop| stop.to_owned()).collect();
        let mut reply = ReplyText::new(tokenizer.clone(), start, stops).unwrap();
        let mut tokens = Vec::new();
        let mut stopped = false;
        for (n, &id) in ids.iter().enumerate() {
            let (entries, stop) = reply.push(id, Some(n as u8));
            assert!(!entries.is_empty());
            assert!(entries.iter().all(|entry| entry.draft_position == Some(n as u8)));
            tokens.push(entries);
            if stop {
                stopped = true;
                break;
            }
        }
        let end = reply.finish(false);
        (tokens, end, stopped)
    }

    fn text_of<'a>(entries: impl IntoIterator<Item = &'a TokenText>, part: Part) -> String {
        entries.into_iter().filter(|entry| entry.part == part).map(|entry| entry.text.as_str()).collect()
    }

    #[test]
    fn thinking_and_answer_come_apart() {
        let ids = TOKENIZER.encode("I greet.\n</think>\n\nHello 🦀!").unwrap();
        let (tokens, end, stopped) = write(THINKING, &ids, &[]);
        let all: Vec<_> = tokens.iter().flatten().chain(&end).collect();
        assert!(!stopped);
        assert_eq!(text_of(all.iter().copied(), Part::Thinking), "I greet.");
        assert_eq!(text_of(all, Part::Answer), "Hello 🦀!");
        assert_eq!(tokens.len(), ids.len());
    }

    #[test]
    fn an_emoji_comes_with_its_last_token() {
        let ids = TOKENIZER.encode("🦀").unwrap();
        let (tokens, end, _) = write(ANSWER, &ids, &[]);
        let texts: Vec<&str> = tokens.iter().map(|entries| entries[0].text.as_str()).collect();
        assert_eq!(texts.concat(), "🦀");
        assert_eq!(*texts.last().unwrap(), "🦀");
        assert_eq!(end, []);
    }

    #[test]
    fn a_cut_emoji_and_held_text_come_at_the_end_as_the_last_tokens() {
        let mut ids = TOKENIZER.encode("a EN🦀").unwrap();
        ids.pop();
        let (_, end, stopped) = write(ANSWER, &ids, &["a END"]);
        assert!(!stopped);
        assert_eq!(text_of(&end, Part::Answer), "a EN\u{fffd}");
        assert!(end.iter().all(|entry| entry.draft_position == Some(ids.len() as u8 - 1)));
    }

    /// Wherever a reply is cut, its text has no half characters, and the tokens that are read when it is continued end
    /// where the text did: the continuation completes it.
    #[test]
    fn a_reply_that_is_cut_in_a_character_can_go_on() {
        let whole = "Ein 🦀 und 漢字👩\u{200d}👧é.";
        let ids = TOKENIZER.encode(whole).unwrap();
        assert!(ids.len() > whole.chars().count(), "the demo vocabulary spells some of these in bytes");
        for start in [ANSWER, THINKING] {
            let (part, resumed) = (start.part, ReplyStart { resumed: true, ..start });
            for cut in 0..=ids.len() {
                let mut reply = ReplyText::new(TOKENIZER.clone(), start, vec!["never".into()]).unwrap();
                let mut written: Vec<TokenText> =
                    ids[..cut].iter().flat_map(|&id| reply.push(id, None).0).collect();
                written.extend(reply.finish(true));
                let written = text_of(&written, part);
                assert!(whole.starts_with(&written), "{cut}: {written:?}");
                let read = TOKENIZER.encode_text(&written).unwrap();
                assert!(ids[..cut].starts_with(&read) && cut - read.len() <= 3, "{cut}: {written:?}");

                let (rest, end, _) = write(resumed, &ids[read.len()..], &[]);
                let rest = text_of(rest.iter().flatten().chain(&end), part);
                assert_eq!(written + &rest, whole, "{cut}");
            }
        }
    }

    #[test]
    fn tags_count_as_tokens_only() {
        let spelled = TOKENIZER.encode_text("a </think> b\n").unwrap();
        let ids = [spelled, TOKENIZER.encode("</think>\n\nc <think>").unwrap()].concat();
        for stops in [&[][..], &["k> bird", "never"]] {
            let (tokens, end, _) = write(THINKING, &ids, stops);
            let all: Vec<_> = tokens.iter().flatten().chain(&end).collect();
            assert_eq!(text_of(all.iter().copied(), Part::Thinking), "a </think> b");
            assert_eq!(text_of(all, Part::Answer), "c <think>");
        }
    }

    /// In some files the tags are special tokens, which have no text.
    #[test]
    fn tags_that_are_special_tokens_divide_a_reply_as_others_do() {
        let special = with_special_tags();
        let tag = TOKENIZER.token_id("</think>").unwrap();
        assert_eq!((TOKENIZER.decode(&[tag]).as_str(), special.decode(&[tag]).as_str()), ("</think>", ""));
        let open_character = {
            let mut crab = TOKENIZER.encode("Hm 🦀").unwrap();
            crab.pop();
            [crab, TOKENIZER.encode("</think>\n\nHello").unwrap()].concat()
        };
        let spelled = TOKENIZER.encode_text("a </think> b\n").unwrap();
        let cases = [
            (THINKING, special.encode("I greet.\n</think>\n\nHello 🦀!").unwrap(), "I greet.", "Hello 🦀!"),
            (ANSWER, special.encode("<think>\nI greet.</think>Hello").unwrap(), "I greet.", "Hello"),
            (THINKING, open_character, "Hm \u{fffd}", "Hello"),
            (THINKING, [spelled, special.encode("</think>c").unwrap()].concat(), "a </think> b", "c"),
            (ANSWER, special.encode("Hello").unwrap(), "", "Hello"),
        ];
        for (start, ids, thinking, answer) in cases {
            for stops in [&[][..], &["</think>!", "never"]] {
                let (tokens, end, _) = write_with(&special, start, &ids, stops);
                let all: Vec<_> = tokens.iter().flatten().chain(&end).collect();
                assert_eq!(text_of(all.iter().copied(), Part::Thinking), thinking);
                assert_eq!(text_of(all, Part::Answer), answer);
                assert_eq!((tokens, end, false), write(start, &ids, stops), "as where they are not special");
            }
        }
    }

    #[test]
    fn a_stop_text_across_tokens_ends_the_reply() {
        let ids = TOKENIZER.encode("One two three four").unwrap();
        let whole: Vec<String> = ids.iter().map(|&id| TOKENIZER.decode(&[id])).collect();
        assert!(!whole.iter().any(|token| token.contains("wo thr")), "{whole:?}");
        let (tokens, end, stopped) = write(ANSWER, &ids, &["wo thr"]);
        assert!(stopped);
        assert!(tokens.len() < ids.len());
        assert_eq!(text_of(tokens.iter().flatten(), Part::Answer), "One t");
        assert_eq!(end, []);
    }

    #[test]
    fn stop_texts_are_matched_before_the_tags_are_taken_out() {
        let ids = TOKENIZER.encode("I greet.\n\n</think>\n\nHello").unwrap();
        let (tokens, end, stopped) = write(THINKING, &ids, &["\n</think>"]);
        assert!(stopped);
        assert_eq!(text_of(tokens.iter().flatten(), Part::Thinking), "I greet.\n");
        assert_eq!(end, []);
        let (tokens, _, stopped) = write(THINKING, &ids, &["</think>\n\nH"]);
        assert!(stopped);
        assert_eq!(text_of(tokens.iter().flatten(), Part::Answer), "");
    }

    #[test]
    fn a_token_of_both_parts_has_an_entry_for_each() {
        // Without stop texts a token of the demo vocabulary is one part; held text makes it two.
        let ids = TOKENIZER.encode("ab</think>cd").unwrap();
        let (tokens, _, _) = write(THINKING, &ids, &["b</think>ce"]);
        let both = tokens.iter().find(|entries| entries.len() == 2).unwrap();
        assert_eq!((both[0].part, both[1].part), (Part::Thinking, Part::Answer));
        assert!(both[0].text.ends_with('b') && both[1].text.starts_with('c'));
    }

    #[test]
    fn an_empty_stop_text_is_refused() {
        let reply = ReplyText::new(TOKENIZER.clone(), ANSWER, vec![String::new()]);
        assert!(matches!(reply, Err(TextError::EmptyStopText)));
    }

    proptest! {
        #[test]
        fn without_tags_the_reply_is_the_one_shot_decode(ids in prop::collection::vec(0u32..1534, 0..40)) {
            let whole = TOKENIZER.reference_decode(&ids);
            let (tokens, end, _) = write(ANSWER, &ids, &["never written, yet held: \u{fffd}a"]);
            prop_assert_eq!(text_of(tokens.iter().flatten().chain(&end), Part::Answer), whole);
        }
    }
}
