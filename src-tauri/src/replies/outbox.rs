//! What a page has still to be told about a reply, joined so that one message a frame is enough.

use foretoken_protocol::{LiveStats, Part, ReplyEvent, TokenText};

/// Text in one message, in bytes of JSON. Messages above 8 kB take a slower way to the page.
const TEXT_BUDGET: usize = 7 * 1024;

/// Collects what happens between two frames.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Option<u32>,
    reading: Option<(u32, u32)>,
    thinking: String,
    answer: String,
    live: Option<LiveStats>,
}

impl Outbox {
    /// So many replies are still before this one.
    pub(super) fn waiting(&mut self, ahead: u32) {
        (self.reading, self.live) = (None, None);
        self.waiting = Some(ahead);
    }

    /// The prompt is being read, so the wait is over.
    pub(super) fn reading(&mut self, done: u32, total: u32) {
        (self.waiting, self.live) = (None, None);
        self.reading = Some((done, total));
    }

    /// Text was written.
    pub(super) fn token(&mut self, token: &TokenText) {
        match token.part {
            Part::Thinking => self.thinking.push_str(&token.text),
            Part::Answer => self.answer.push_str(&token.text),
        }
    }

    /// The numbers have changed.
    pub(super) fn live(&mut self, stats: LiveStats) {
        self.live = Some(stats);
    }

    /// Whether there is nothing to tell.
    pub(super) fn is_empty(&self) -> bool {
        let texts = [&self.thinking, &self.answer];
        let told = self.waiting.is_none() && self.reading.is_none() && self.live.is_none();
        told && texts.iter().all(|text| text.is_empty())
    }

    /// The next message. Numbers come a few times a second only, so they go before text and never hold it up.
    pub(super) fn next(&mut self) -> Option<ReplyEvent> {
        if let Some(ahead) = self.waiting.take() {
            return Some(ReplyEvent::Waiting { ahead });
        }
        if let Some((done, total)) = self.reading.take() {
            return Some(ReplyEvent::Reading { done, total });
        }
        if let Some(stats) = self.live.take() {
            return Some(ReplyEvent::Live { stats });
        }
        let mut budget = TEXT_BUDGET;
        let thinking = take(&mut self.thinking, &mut budget);
        let answer = take(&mut self.answer, &mut budget);
        (!thinking.is_empty() || !answer.is_empty()).then_some(ReplyEvent::Text { thinking, answer })
    }
}

/// Takes as many characters from the front as the budget has bytes for, and takes those from the budget.
fn take(text: &mut String, budget: &mut usize) -> String {
    let mut end = text.len();
    for (index, character) in text.char_indices() {
        let bytes = json_bytes(character);
        if bytes > *budget {
            end = index;
            *budget = 0;
            break;
        }
        *budget -= bytes;
    }
    text.drain(..end).collect()
}

/// The length of a character within a JSON string.
fn json_bytes(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: LiveStats =
        LiveStats { tokens_per_second: 58.0, tokens_per_pass: 1.8, acceptance: Some(0.81) };

    fn token(part: Part, text: &str) -> TokenText {
        TokenText { text: text.into(), part, draft_position: None }
    }

    #[test]
    fn tokens_of_one_frame_make_one_message() {
        let mut outbox = Outbox::default();
        assert!(outbox.is_empty());
        for (part, text) in
            [(Part::Thinking, "Hm"), (Part::Thinking, "…"), (Part::Answer, "Yes"), (Part::Answer, ".")]
        {
            outbox.token(&token(part, text));
        }
        assert!(!outbox.is_empty());
        let text = ReplyEvent::Text { thinking: "Hm…".into(), answer: "Yes.".into() };
        assert_eq!(outbox.next(), Some(text));
        assert!(outbox.is_empty());
        assert_eq!(outbox.next(), None);
    }

    #[test]
    fn only_the_latest_numbers_are_told_and_before_the_text() {
        let mut outbox = Outbox::default();
        outbox.reading(1, 9);
        outbox.reading(9, 9);
        outbox.token(&token(Part::Answer, "Yes"));
        outbox.live(LiveStats { tokens_per_second: 1.0, ..LIVE });
        outbox.live(LIVE);
        assert_eq!(outbox.next(), Some(ReplyEvent::Reading { done: 9, total: 9 }));
        assert_eq!(outbox.next(), Some(ReplyEvent::Live { stats: LIVE }));
        assert!(matches!(outbox.next(), Some(ReplyEvent::Text { .. })));
        assert_eq!(outbox.next(), None);
    }

    #[test]
    fn reading_ends_the_wait() {
        let mut outbox = Outbox::default();
        outbox.waiting(2);
        outbox.waiting(1);
        assert!(!outbox.is_empty());
        assert_eq!(outbox.next(), Some(ReplyEvent::Waiting { ahead: 1 }));
        outbox.waiting(0);
        outbox.reading(0, 9);
        assert_eq!(outbox.next(), Some(ReplyEvent::Reading { done: 0, total: 9 }));
        assert_eq!(outbox.next(), None);
    }

    /// Numbers and progress from before a wait must not come after it.
    #[test]
    fn a_wait_in_the_middle_of_a_reply_comes_after_what_was_before_it() {
        let mut outbox = Outbox::default();
        outbox.reading(3, 9);
        outbox.live(LIVE);
        outbox.token(&token(Part::Answer, "Yes"));
        outbox.waiting(0);
        assert_eq!(outbox.next(), Some(ReplyEvent::Waiting { ahead: 0 }));
        assert!(matches!(outbox.next(), Some(ReplyEvent::Text { .. })));
        assert_eq!(outbox.next(), None);
    }

    #[test]
    fn a_flood_is_cut_into_messages_below_eight_kilobytes_without_loss() {
        let thinking = "\"\\\n\u{1}é🦀x".repeat(900);
        let answer = "日本語 \t".repeat(900);
        let mut outbox = Outbox::default();
        outbox.token(&token(Part::Thinking, &thinking));
        outbox.token(&token(Part::Answer, &answer));
        let (mut thought, mut answered, mut messages) = (String::new(), String::new(), 0);
        while let Some(event) = outbox.next() {
            assert!(serde_json::to_vec(&event).unwrap().len() < 8192);
            let ReplyEvent::Text { thinking, answer } = event else { panic!("{event:?}") };
            assert!(answer.is_empty() || thought.len() + thinking.len() == "\"\\\n\u{1}é🦀x".len() * 900);
            thought += &thinking;
            answered += &answer;
            messages += 1;
        }
        assert_eq!((thought, answered), (thinking, answer));
        assert!(messages > 2);
    }
}
