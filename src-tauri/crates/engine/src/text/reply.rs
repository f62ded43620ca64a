//! The text of one reply, from its token ids: decoded as they come, cut at stop texts, divided into thinking and
//! answer, and searched for calls of tools.

use foretoken_calls::{Call, CallParser, CallPiece, TAG_TOKENS, Thoughts};
use foretoken_protocol::{Part, StopScope, TokenText};

use super::thinking::{CLOSE, OPEN, Tags};
use super::{ReplyStart, StopMatcher, StreamDecoder, TextError, ThinkingSplit, Tokenizer};

/// The text side of one reply: ids in, readable text by part out.
#[derive(Debug)]
pub struct ReplyText {
    decoder: StreamDecoder,
    stops: StopMatcher,
    stop_scope: StopScope,
    split: ThinkingSplit,
    /// The tokens that open and close a thinking block, where the vocabulary has them.
    tags: Option<[(u32, &'static str); 2]>,
    /// Looks for calls in the answer, where the prompt has offered tools.
    parser: Option<CallParser>,
    /// Looks for calls at the end of the thinking, in case that it is never closed.
    thoughts: Thoughts,
    /// The tokens of their tags, where the vocabulary has them.
    call_tags: Vec<(u32, &'static str)>,
    /// The calls so far.
    calls: Vec<Call>,
    /// Whether the reply ends behind the first of them.
    one_call: bool,
    /// Text of earlier tokens that was held back when the next one was found to lie behind the end.
    late: String,
    /// Bytes of text so far.
    length: usize,
    /// The draft position of the last token, which is also that of text held back until the end.
    draft_position: Option<u8>,
}

/// Where a reply ends by its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyEnd {
    /// In the text of this token, or behind it.
    With,
    /// Before this token, which like a stop token is not part of the reply.
    Before,
}

impl ReplyText {
    /// A reply that begins as `start` says and ends before any of the stop texts where they are looked for.
    pub fn new(
        tokenizer: Tokenizer,
        start: ReplyStart,
        (stops, stop_scope): (Vec<String>, StopScope),
    ) -> Result<Self, TextError> {
        let tag = |text| Some((tokenizer.token_id(text)?, text));
        let tags = tag(OPEN).zip(tag(CLOSE)).map(|(open, close)| [open, close]);
        let split = ThinkingSplit::new(start, tags.map_or(Tags::Text, |_| Tags::At(Vec::new())));
        Ok(Self {
            decoder: StreamDecoder::new(tokenizer),
            stops: StopMatcher::new(stops)?,
            stop_scope,
            split,
            tags,
            parser: None,
            thoughts: Thoughts::default(),
            call_tags: Vec::new(),
            calls: Vec::new(),
            one_call: false,
            late: String::new(),
            length: 0,
            draft_position: None,
        })
    }

    /// The same reply to a prompt with the tools of these names: calls are looked for in the answer, and it ends behind
    /// them, or behind the first where there is to be only one. Its text holds them as they are written. Where the
    /// thinking is never closed, calls at its end are found once the reply has ended; its text has them as thinking.
    pub fn with_calls(mut self, tokenizer: &Tokenizer, tools: &[String], one_call: bool) -> Self {
        let tag = |tag| Some((tokenizer.token_id(tag)?, tag));
        self.call_tags = TAG_TOKENS.into_iter().filter_map(tag).collect();
        self.parser = Some(CallParser::for_tools(tools.iter().map(String::as_str)));
        self.one_call = one_call;
        self
    }

    /// The calls in it; all of them once it has been finished.
    pub fn take_calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }

    /// The stop text that has ended it.
    pub fn stop_text(&self) -> Option<&str> {
        self.stops.matched()
    }

    /// The part of the reply that is being written.
    pub fn part(&self) -> Part {
        self.split.part()
    }

    /// Takes the next token; gives its text and whether the reply ends with it, at a stop text or behind calls.
    ///
    /// There is at least one entry, so that every token shows where it came from, and two if it touches both parts.
    /// Text that was held back comes with the token that releases it.
    pub fn push(&mut self, id: u32, draft_position: Option<u8>) -> (Vec<TokenText>, Option<ReplyEnd>) {
        self.draft_position = draft_position;
        let tag = self.tags.iter().flatten().find(|(token, _)| *token == id).map(|&(_, tag)| tag);
        let call_tag = self.call_tags.iter().find(|(token, _)| *token == id).map(|&(_, tag)| tag);
        let decoded = match tag.or(call_tag) {
            // The tag itself: a token that a tokenizer marks as special has no text.
            Some(tag) => self.decoder.finish() + tag,
            None => self.decoder.push(id),
        };
        self.length += decoded.len();
        if let Some(tag) = tag {
            self.split.expect_tag(self.length - tag.len());
        }
        let (mut pieces, stopped) = self.split_and_stop(&decoded);
        let mut end = stopped.then_some(ReplyEnd::With);
        if self.has_its_call() {
            end = Some(ReplyEnd::With);
        } else if let Some(parser) = &mut self.parser {
            if parser.has_ended() {
                let (beyond, held) = (parser.beyond().to_owned(), self.stops.finish());
                let (held, left) = match self.stop_scope {
                    StopScope::All => (String::new(), beyond + &held),
                    StopScope::Answer => (held, beyond),
                };
                end = Some(ReplyEnd::With);
                // The tokens before this one are in the reply, and so is their text: a tag that began no call.
                if pieces.is_empty()
                    && let Some(earlier) = (held.len() + left.len()).checked_sub(decoded.len())
                {
                    end = Some(ReplyEnd::Before);
                    self.late = (held + &left).get(..earlier).unwrap_or_default().to_owned();
                } else if !held.is_empty() {
                    pieces.push((Part::Answer, held));
                }
            } else if stopped && self.stop_scope == StopScope::All {
                pieces.extend(written(parser.finish(), &mut self.calls, self.one_call));
            }
        }
        if pieces.is_empty() {
            pieces.push((self.split.part(), String::new()));
        }
        (self.entries(pieces), end)
    }

    /// The rest of a reply that has ended; nothing after a stop text, and of text behind calls only what belongs to
    /// tokens of the reply. `cut`: the reply may be continued later, so the bytes of an unfinished character are left
    /// out, and the continuation writes the whole character.
    pub fn finish(&mut self, cut: bool) -> Vec<TokenText> {
        if self.has_its_call() {
            return Vec::new();
        }
        let decoded = if cut { String::new() } else { self.decoder.finish() };
        let mut pieces = self.split_and_stop(&decoded).0;
        match self.stop_scope {
            StopScope::All => {
                let mut rest = self.split.push(&self.stops.finish());
                rest.extend(self.split.finish());
                pieces.extend(self.parse(rest));
                if let Some(parser) = &mut self.parser {
                    pieces.extend(written(parser.finish(), &mut self.calls, self.one_call));
                }
            }
            StopScope::Answer => {
                let rest = self.split.finish();
                pieces.extend(self.stop_answer(rest).0);
                let mut text = String::new();
                // What is held stands behind a stop text, if there was one.
                if self.stops.matched().is_none()
                    && let Some(parser) = &mut self.parser
                {
                    let left = parser.finish();
                    self.stop_text_of(left, &mut text);
                }
                text.push_str(&self.stops.finish());
                pieces.extend(Some((Part::Answer, text)).filter(|(_, text)| !text.is_empty()));
            }
        }
        self.call_in_thinking();
        let late = std::mem::take(&mut self.late);
        if !late.is_empty() {
            pieces.insert(0, (Part::Answer, late));
        }
        self.entries(pieces)
    }

    /// The pieces of a decoded text up to a stop text, and whether there was one.
    fn split_and_stop(&mut self, decoded: &str) -> (Vec<(Part, String)>, bool) {
        match self.stop_scope {
            StopScope::All => {
                let outcome = self.stops.push(decoded);
                let mut pieces = self.split.push(&outcome.text);
                if outcome.stopped {
                    pieces.extend(self.split.finish());
                }
                (self.parse(pieces), outcome.stopped)
            }
            StopScope::Answer => {
                let pieces = self.split.push(decoded);
                self.stop_answer(pieces)
            }
        }
    }

    /// The pieces up to a stop text in those of the answer, calls left out, and whether there was one.
    fn stop_answer(&mut self, pieces: Vec<(Part, String)>) -> (Vec<(Part, String)>, bool) {
        let (mut kept, mut stopped) = (Vec::new(), false);
        for (part, text) in pieces {
            let text = match part {
                Part::Thinking => {
                    self.thoughts.push(&text);
                    text
                }
                Part::Answer => {
                    let pieces = match &mut self.parser {
                        Some(parser) => parser.push(&text),
                        None => vec![CallPiece::Text(text)],
                    };
                    let mut kept = String::new();
                    stopped |= self.stop_text_of(pieces, &mut kept);
                    kept
                }
            };
            if !text.is_empty() {
                kept.push((part, text));
            }
        }
        (kept, stopped)
    }

    /// Adds the text of these pieces up to a stop text outside of calls, and says whether there was one.
    fn stop_text_of(&mut self, pieces: Vec<CallPiece>, text: &mut String) -> bool {
        for piece in pieces {
            if self.has_its_call() {
                break;
            }
            if let CallPiece::Text(more) = piece {
                let outcome = self.stops.push(&more);
                text.push_str(&outcome.text);
                if outcome.stopped {
                    return true;
                }
                continue;
            }
            // No stop text begins before a call and ends in it.
            text.push_str(&self.stops.finish());
            text.push_str(piece.written());
            if let CallPiece::End(call) = piece {
                self.calls.push(call);
            }
        }
        false
    }

    /// The pieces as far as it is decided what they are, once calls have been looked for in those of the answer.
    fn parse(&mut self, pieces: Vec<(Part, String)>) -> Vec<(Part, String)> {
        let Some(parser) = &mut self.parser else { return pieces };
        let mut parsed = Vec::new();
        for (part, text) in pieces {
            match part {
                Part::Thinking => {
                    self.thoughts.push(&text);
                    parsed.push((part, text));
                }
                Part::Answer => {
                    let pieces = parser.push(&text);
                    parsed.extend(written(pieces, &mut self.calls, self.one_call));
                }
            }
        }
        parsed
    }

    /// Takes the calls at the end of a thinking with which the reply has ended.
    fn call_in_thinking(&mut self) {
        if self.parser.is_none() || self.split.part() != Part::Thinking {
            return;
        }
        let most = if self.one_call { 1 } else { usize::MAX };
        let calls = self.thoughts.finish().calls.into_iter().take(most);
        self.calls.extend(calls.map(|call| Call { in_thinking: true, ..call }));
    }

    /// Whether there was to be one call only, and it is there.
    fn has_its_call(&self) -> bool {
        self.one_call && !self.calls.is_empty()
    }

    fn entries(&self, pieces: Vec<(Part, String)>) -> Vec<TokenText> {
        let entry = |(part, text)| TokenText { text, part, draft_position: self.draft_position };
        pieces.into_iter().map(entry).collect()
    }
}

/// The text of the answer in these pieces, if any; the calls that have ended in them go to `calls`. `one_call`: what
/// stands behind the first is left out.
fn written(pieces: Vec<CallPiece>, calls: &mut Vec<Call>, one_call: bool) -> Option<(Part, String)> {
    let mut text = String::new();
    for piece in pieces {
        if one_call && !calls.is_empty() {
            break;
        }
        text.push_str(piece.written());
        if let CallPiece::End(call) = piece {
            calls.push(call);
        }
    }
    (!text.is_empty()).then_some((Part::Answer, text))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use foretoken_calls::Argument;
    use proptest::prelude::*;

    use super::super::testing::{TOKENIZER, with_special_tags, with_tags};
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
        let mut reply = ReplyText::new(tokenizer.clone(), start, (stops, StopScope::All)).unwrap();
        let mut tokens = Vec::new();
        let mut stopped = false;
        for (n, &id) in ids.iter().enumerate() {
            let (entries, end) = reply.push(id, Some(n as u8));
            assert!(!entries.is_empty());
            assert!(entries.iter().all(|entry| entry.draft_position == Some(n as u8)));
            tokens.push(entries);
            if end.is_some() {
                stopped = true;
                break;
            }
        }
        let end = reply.finish(false);
        (tokens, end, stopped)
    }

    /// All entries of a reply that is written by these tokens, as far as it goes.
    fn entries_of(reply: &mut ReplyText, ids: &[u32]) -> Vec<TokenText> {
        let mut entries = Vec::new();
        for &id in ids {
            let (more, end) = reply.push(id, None);
            entries.extend(more);
            if end.is_some() {
                break;
            }
        }
        entries.extend(reply.finish(false));
        entries
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
    fn a_stop_text_of_the_answer_may_stand_in_a_call_and_behind_none() {
        let call =
            "<tool_call>\n<function=f>\n<parameter=a>\nx END y\n</parameter>\n</function>\n</tool_call>";
        for (answer, is, calls) in [
            (format!("A.\n\n{call}"), format!("A.\n\n{call}"), 1),
            (format!("A. END {call}"), "A. ".to_owned(), 0),
            (format!("A. EN{call}"), format!("A. EN{call}"), 1),
            ("A <tool_call> EN".to_owned(), "A <tool_call> EN".to_owned(), 0),
            ("A <tool_call> END".to_owned(), "A <tool_call> ".to_owned(), 0),
            (format!("{call}\nSo END"), format!("{call}\n"), 1),
        ] {
            let ids = TOKENIZER.encode_text(&answer).unwrap();
            let stops = (vec!["END".to_owned()], StopScope::Answer);
            let mut reply =
                ReplyText::new(TOKENIZER.clone(), ANSWER, stops).unwrap().with_calls(&TOKENIZER, &[], false);
            let entries = entries_of(&mut reply, &ids);
            assert_eq!(text_of(&entries, Part::Answer), is, "{answer}");
            assert_eq!(reply.take_calls().len(), calls, "{answer}");
        }
    }

    #[test]
    fn a_stop_text_of_the_answer_may_stand_in_the_thinking_and_across_pieces() {
        let ids = TOKENIZER.encode("I END it.\n</think>\n\nSo EN. The END of it").unwrap();
        for (stop, scope, thinking, answer) in [
            ("END", StopScope::Answer, "I END it.", "So EN. The "),
            ("END", StopScope::All, "I ", ""),
            ("</think>", StopScope::Answer, "I END it.", "So EN. The END of it"),
            ("it.", StopScope::Answer, "I END it.", "So EN. The END of it"),
            ("of itself", StopScope::Answer, "I END it.", "So EN. The END of it"),
        ] {
            let stops = (vec![stop.to_owned()], scope);
            let mut reply = ReplyText::new(TOKENIZER.clone(), THINKING, stops).unwrap();
            let entries = entries_of(&mut reply, &ids);
            assert_eq!(text_of(&entries, Part::Thinking), thinking, "{stop} in {scope:?}");
            assert_eq!(text_of(&entries, Part::Answer), answer, "{stop} in {scope:?}");
        }
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
                let mut reply =
                    ReplyText::new(TOKENIZER.clone(), start, (vec!["never".into()], StopScope::All)).unwrap();
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

    /// The tokenizer of a fixture, whose vocabulary has the family's tags of calls.
    fn with_call_tags(special: bool) -> Tokenizer {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/tiny-dense");
        with_tags(&fixture, special)
    }

    const CALL: &str =
        "<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>";

    fn read_call(cut: bool) -> Call {
        let path = Argument::plain("path", "a.txt");
        Call { name: "read".into(), arguments: vec![path], cut, ..Call::default() }
    }

    /// The thinking, the answer and the calls of a reply whose prompt has offered tools; the tokens in it, and where it
    /// ends if its text ends it.
    fn write_calls(
        tokenizer: &Tokenizer,
        start: ReplyStart,
        ids: &[u32],
        stop: Option<&str>,
    ) -> (String, String, Vec<Call>, usize, Option<ReplyEnd>) {
        let stops = stop.into_iter().map(str::to_owned).collect();
        let mut reply = ReplyText::new(tokenizer.clone(), start, (stops, StopScope::All))
            .unwrap()
            .with_calls(tokenizer, &["read".to_owned()], false);
        let (mut entries, mut count, mut ended) = (Vec::new(), 0, None);
        for &id in ids {
            let (text, end) = reply.push(id, None);
            assert!(!text.is_empty());
            ended = end;
            if end == Some(ReplyEnd::Before) {
                assert!(text.iter().all(|entry| entry.text.is_empty()));
                break;
            }
            count += 1;
            entries.extend(text);
            if end.is_some() {
                break;
            }
        }
        entries.extend(reply.finish(ended.is_none()));
        let text = |part| text_of(&entries, part);
        (text(Part::Thinking), text(Part::Answer), reply.take_calls(), count, ended)
    }

    #[test]
    fn calls_are_found_in_the_answer_and_end_it() {
        for tokenizer in [with_call_tags(false), with_call_tags(true), TOKENIZER.clone()] {
            let before = format!("I look.\n\n{CALL}\n{CALL}\n");
            let own = tokenizer.encode(&before).unwrap();
            // The text of tokens of which some may be special.
            let written_by = |ids: &[u32]| -> String {
                let tag = |id| TAG_TOKENS.into_iter().find(|tag| tokenizer.token_id(tag) == Some(id));
                ids.iter().map(|&id| tag(id).map_or_else(|| tokenizer.decode(&[id]), str::to_owned)).collect()
            };
            for beyond in ["So", "<tool_response>\n12", "<tool_call>\n{\"title\": 1}", "<tool_call> é", "🦀"]
            {
                let ids = [&own[..], &tokenizer.encode(beyond).unwrap()].concat();
                let (thinking, answer, calls, count, end) = write_calls(&tokenizer, ANSWER, &ids, None);
                assert_eq!((thinking.as_str(), calls), ("", vec![read_call(false); 2]));
                assert!(answer.starts_with(&before) && end.is_some(), "{beyond}: {answer:?}");
                if beyond == "So" {
                    assert_eq!((count, end), (own.len(), Some(ReplyEnd::Before)));
                }
                if end == Some(ReplyEnd::Before) {
                    let written = written_by(&ids[..count]);
                    assert_eq!(answer, written.trim_end_matches('\u{fffd}'), "{beyond}: no half characters");
                }
            }
            let (_, answer, calls, count, end) = write_calls(&tokenizer, ANSWER, &own, None);
            assert_eq!((answer, calls.len(), count, end), (before, 2, own.len(), None));
        }
    }

    #[test]
    fn a_call_in_the_thinking_is_none() {
        let tokenizer = with_call_tags(false);
        let ids = tokenizer.encode(&format!("I may write\n{CALL}\nnow.\n</think>\n\n{CALL}")).unwrap();
        let (thinking, answer, calls, count, end) = write_calls(&tokenizer, THINKING, &ids, None);
        assert_eq!((thinking, answer), (format!("I may write\n{CALL}\nnow."), CALL.to_owned()));
        assert_eq!((calls, count, end), (vec![read_call(false)], ids.len(), None));
    }

    /// A model that forgets to close its thinking calls all the same; what it only drafts there is no call.
    #[test]
    fn a_call_at_the_end_of_a_thinking_that_is_never_closed_is_marked() {
        let tokenizer = with_call_tags(false);
        let json = "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>";
        let marked = |call: Call| Call { in_thinking: true, ..call };
        for scope in [StopScope::All, StopScope::Answer] {
            let write = |text: &str, one_call: bool| {
                let stops = (vec!["never".to_owned()], scope);
                let reply = ReplyText::new(tokenizer.clone(), THINKING, stops).unwrap();
                let mut reply = reply.with_calls(&tokenizer, &[], one_call);
                let entries = entries_of(&mut reply, &tokenizer.encode(text).unwrap());
                let thinking = text_of(&entries, Part::Thinking);
                assert_eq!(thinking + &text_of(&entries, Part::Answer), text.replace("\n</think>\n\n", ""));
                reply.take_calls()
            };
            let two = format!("I read it.\n\n{CALL}\n{CALL}");
            assert_eq!(write(&two, false), vec![marked(read_call(false)); 2]);
            assert_eq!(write(&two, true), [marked(read_call(false))]);
            let [in_json] = &write(&format!("I read it.\n{json}"), false)[..] else { panic!("{json}") };
            assert!(in_json.name == "read" && in_json.in_thinking);
            for none in [
                format!("{two}\nor not"),
                format!("I write {CALL}"),
                format!("{two}\n</think>\n\n"),
                format!("{two}\n</think>\n\nSo."),
                two[..two.len() - 30].to_owned(),
            ] {
                assert_eq!(write(&none, false), [], "{none:?}");
            }
        }
    }

    #[test]
    fn calls_in_json_and_without_a_tag_before_them_end_the_answer_too() {
        let tokenizer = with_call_tags(false);
        let json = "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>";
        let bare = CALL.trim_start_matches("<tool_call>\n");
        for call in [json, bare, bare.trim_end_matches("\n</tool_call>")] {
            let own = tokenizer.encode(&format!("I look.\n\n{call}\n")).unwrap();
            let ids = [&own[..], &tokenizer.encode("So").unwrap()].concat();
            let (_, answer, calls, count, end) = write_calls(&tokenizer, ANSWER, &ids, None);
            assert_eq!((answer, calls.len()), (format!("I look.\n\n{call}\n"), 1), "{call}");
            assert_eq!((calls[0].name.as_str(), calls[0].cut, calls[0].in_thinking), ("read", false, false));
            assert_eq!((count, end), (own.len(), Some(ReplyEnd::Before)), "{call}");
        }
    }

    /// Whatever ends it, a reply that is cut in a call holds all that was written of it.
    #[test]
    fn a_cut_call_keeps_its_text() {
        let tokenizer = with_call_tags(false);
        let ids = tokenizer.encode(CALL).unwrap();
        for end in 1..ids.len() {
            let (_, answer, calls, count, _) = write_calls(&tokenizer, ANSWER, &ids[..end], None);
            // Without its last tag alone it is whole.
            let is_whole = answer.contains("</function>");
            assert_eq!((answer, count), (tokenizer.decode(&ids[..end]), end));
            assert!(calls.len() == 1 && calls[0].cut != is_whole, "{calls:?}");
        }
        for stop in ["\n</function>", "</tool_call>"] {
            let (_, answer, calls, _, end) = write_calls(&tokenizer, ANSWER, &ids, Some(stop));
            assert_eq!(answer, CALL[..CALL.find(stop).unwrap()]);
            let is_cut = !answer.contains("</function>");
            assert_eq!((calls, end), (vec![read_call(is_cut)], Some(ReplyEnd::With)));
        }
    }

    #[test]
    fn an_empty_stop_text_is_refused() {
        let reply = ReplyText::new(TOKENIZER.clone(), ANSWER, (vec![String::new()], StopScope::All));
        assert!(matches!(reply, Err(TextError::EmptyStopText)));
    }

    proptest! {
        #[test]
        fn without_tags_the_reply_is_the_one_shot_decode(ids in prop::collection::vec(0u32..2042, 0..40)) {
            let whole = TOKENIZER.reference_decode(&ids);
            let (tokens, end, _) = write(ANSWER, &ids, &["never written, yet held: \u{fffd}a"]);
            prop_assert_eq!(text_of(tokens.iter().flatten().chain(&end), Part::Answer), whole);
        }
    }
}
