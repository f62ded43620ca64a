//! What a page has still to be told about a reply, joined so that one message a frame is enough.

use foretoken_protocol::{LiveStats, Looked, Part, Provenance, ReplyEvent};

use super::provenance::Traced;

/// Text in one message with where it came from, in bytes of JSON. Messages above 8 kB take a slower way to the page.
const TEXT_BUDGET: usize = 7 * 1024;
/// Bytes of a call's arguments in one message, each of which JSON writes in six at most.
const CALL_BYTES: usize = 1024;

/// Collects what happens between two frames.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Option<u32>,
    reading: Option<Reading>,
    thinking: Traced,
    answer: Traced,
    /// The call that is being written, and what is new of it.
    call: Option<(String, String)>,
    /// Whether something is new of it.
    calling: bool,
    live: Option<LiveStats>,
}

/// How far a prompt is read, in tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub(super) done: u32,
    pub(super) total: u32,
    /// Those that the prefix cache had, among those that are done.
    pub(super) cached: u32,
    /// How far its pictures are, while the model looks at them.
    pub(super) looked: Option<Looked>,
}

impl Outbox {
    /// So many replies are still before this one.
    pub(super) fn waiting(&mut self, ahead: u32) {
        (self.reading, self.live) = (None, None);
        self.waiting = Some(ahead);
    }

    /// The prompt is being read, so the wait is over.
    pub(super) fn reading(&mut self, reading: Reading) {
        (self.waiting, self.live) = (None, None);
        self.reading = Some(reading);
    }

    /// Text was written, out of a draft where there is a position.
    pub(super) fn text(&mut self, part: Part, text: &str, position: Option<u8>) {
        let traced = match part {
            Part::Thinking => &mut self.thinking,
            Part::Answer => &mut self.answer,
        };
        traced.push(text, position);
    }

    /// A call of a tool has begun. What was before it is told already.
    pub(super) fn call(&mut self, tool: String) {
        self.call = Some((tool, String::new()));
        self.calling = true;
    }

    /// More of its arguments was written.
    pub(super) fn arguments(&mut self, text: &str) {
        if let Some((_, written)) = &mut self.call {
            written.push_str(text);
            self.calling = true;
        }
    }

    /// The numbers have changed.
    pub(super) fn live(&mut self, stats: LiveStats) {
        self.live = Some(stats);
    }

    /// Whether there is nothing to tell.
    pub(super) fn is_empty(&self) -> bool {
        let texts = [&self.thinking, &self.answer];
        let told = self.waiting.is_none() && self.reading.is_none() && self.live.is_none() && !self.calling;
        told && texts.iter().all(|traced| traced.text.is_empty())
    }

    /// The next message. Numbers come a few times a second only, so they go before text and never hold it up.
    pub(super) fn next(&mut self) -> Option<ReplyEvent> {
        if let Some(ahead) = self.waiting.take() {
            return Some(ReplyEvent::Waiting { ahead });
        }
        if let Some(Reading { done, total, cached, looked }) = self.reading.take() {
            return Some(ReplyEvent::Reading { done, total, cached, looked });
        }
        if let Some(stats) = self.live.take() {
            return Some(ReplyEvent::Live { stats });
        }
        let mut budget = TEXT_BUDGET;
        let [thinking, answer] = [&mut self.thinking, &mut self.answer].map(|part| part.take(&mut budget));
        let provenance = Provenance { thinking: thinking.runs, answer: answer.runs };
        let (thinking, answer) = (thinking.text, answer.text);
        if !thinking.is_empty() || !answer.is_empty() {
            return Some(ReplyEvent::Text { thinking, answer, provenance });
        }
        self.calling().map(|(tool, written)| ReplyEvent::Calling { tool, written })
    }

    /// What is new of the call that is being written, as much as fits into a message.
    fn calling(&mut self) -> Option<(String, String)> {
        let (tool, unsent) = self.call.as_mut().filter(|_| self.calling)?;
        let end = unsent.floor_char_boundary(CALL_BYTES);
        let written = unsent.drain(..end).collect();
        self.calling = !unsent.is_empty();
        Some((tool.clone(), written))
    }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{DraftRun, TokenText};

    use super::*;

    const LIVE: LiveStats = LiveStats {
        tokens_per_second: 58.0,
        tokens_per_pass: 1.8,
        acceptance: Some(0.81),
        passes: Vec::new(),
    };

    impl Outbox {
        fn token(&mut self, TokenText { text, part, draft_position }: &TokenText) {
            self.text(*part, text, *draft_position);
        }
    }

    fn reading(done: u32) -> Reading {
        Reading { done, total: 9, cached: 1, looked: None }
    }

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
        let drafted = TokenText { draft_position: Some(1), ..token(Part::Answer, " And no.") };
        outbox.token(&drafted);
        let text = ReplyEvent::Text {
            thinking: "Hm…".into(),
            answer: "Yes. And no.".into(),
            provenance: Provenance {
                thinking: vec![DraftRun(3, 0)],
                answer: vec![DraftRun(4, 0), DraftRun(8, 1)],
            },
        };
        assert_eq!(outbox.next(), Some(text));
        assert!(outbox.is_empty());
        assert_eq!(outbox.next(), None);
    }

    #[test]
    fn only_the_latest_numbers_are_told_and_before_the_text() {
        let mut outbox = Outbox::default();
        outbox.reading(reading(1));
        outbox.reading(reading(9));
        outbox.token(&token(Part::Answer, "Yes"));
        outbox.live(LiveStats { tokens_per_second: 1.0, ..LIVE });
        outbox.live(LIVE);
        assert_eq!(outbox.next(), Some(ReplyEvent::Reading { done: 9, total: 9, cached: 1, looked: None }));
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
        outbox.reading(reading(0));
        assert_eq!(outbox.next(), Some(ReplyEvent::Reading { done: 0, total: 9, cached: 1, looked: None }));
        assert_eq!(outbox.next(), None);
    }

    /// Numbers and progress from before a wait must not come after it.
    #[test]
    fn a_wait_in_the_middle_of_a_reply_comes_after_what_was_before_it() {
        let mut outbox = Outbox::default();
        outbox.reading(reading(3));
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
        outbox.token(&token(Part::Answer, &answer));
        let thinking_bytes = thinking.len();
        // Tokens from drafts of a character each, so that there is more to say of the text than text.
        for (n, character) in thinking.char_indices() {
            let text = character.to_string();
            outbox.token(&TokenText { text, part: Part::Thinking, draft_position: Some(n as u8 % 4 + 1) });
        }
        let (mut thought, mut answered, mut messages) = (String::new(), String::new(), 0);
        while let Some(event) = outbox.next() {
            assert!(serde_json::to_vec(&event).unwrap().len() < 8192);
            let ReplyEvent::Text { thinking, answer, .. } = event else { panic!("{event:?}") };
            assert!(answer.is_empty() || thought.len() + thinking.len() == thinking_bytes);
            thought += &thinking;
            answered += &answer;
            messages += 1;
        }
        assert_eq!((thought, answered), (thinking, answer));
        assert!(messages > 2);
    }
}
