//! How a chat is divided for its summary: which messages stay, and which pieces the model reads of the others.

use foretoken_protocol::Role;

/// The longest piece in tokens, whatever the context: of shorter ones a model leaves out less, and the person sees how
/// far it is.
const LONGEST_PIECE: u32 = 16_384;
/// The longest summary in tokens.
const LONGEST_SUMMARY: u32 = 1024;

/// How a context is shared out between a summary and what is beside it, in tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// The most of the summary.
    pub(super) summary: u32,
    /// The most of the latest messages.
    kept: u32,
    /// The most of the last question with its answer, where that alone is more.
    last: u32,
    /// The most of a last question that has no answer yet.
    question: u32,
    /// The most of a piece; 0 where there is no room for one.
    pub(super) piece: u32,
}

impl Room {
    /// That of a model which can read so many tokens.
    pub(super) fn of(context: u32) -> Self {
        let summary = (context / 8).min(LONGEST_SUMMARY);
        // Beside a piece there are the summary before, the one that is written, and what the model is asked.
        let piece = (context - context / 8).saturating_sub(2 * summary + 160);
        let question = (context - context / 8).saturating_sub(summary + 160);
        Self { summary, kept: context / 4, last: context / 2, question, piece: piece.min(LONGEST_PIECE) }
    }

    /// The most of all that stays.
    pub(super) fn most_kept(self) -> u32 {
        self.question.max(self.last)
    }
}

/// The first of the messages that stay: whole questions with their answers, from the end, as many as there is room for.
/// Of a last one that is longer, a question that has no answer yet still stays.
pub(super) fn kept_from(roles: &[Role], tokens: &[u32], room: Room) -> usize {
    let questions = (0..roles.len()).filter(|&at| roles[at] == Role::User);
    let length = |from: usize| tokens[from..].iter().sum::<u32>();
    let last = questions.clone().next_back();
    let fitting = questions.filter(|&from| length(from) <= room.kept).min();
    let is_unanswered = |from: usize| from + 1 == roles.len();
    let alone = last.filter(|&from| length(from) <= room.last || is_unanswered(from));
    fitting.or(alone).unwrap_or(roles.len())
}

/// A text in two: where a word ends near its middle, or else in its middle. Of two characters or more none is empty.
pub(super) fn halves(text: &str) -> [&str; 2] {
    let middle = text.ceil_char_boundary(text.len() / 2);
    let space = text[..middle].rfind(char::is_whitespace).filter(|&space| space > middle / 2);
    let (before, behind) = text.split_at(space.unwrap_or(middle));
    [before, behind]
}

/// Texts with their tokens, put together to as few pieces as may be, in order. None of them is longer than `most`
/// tokens.
pub(super) fn pieces(texts: Vec<(String, u32)>, most: u32) -> Vec<String> {
    /// What stands between two texts.
    const BREAK: (&str, u32) = ("\n\n", 2);
    let mut pieces: Vec<(String, u32)> = Vec::new();
    for (text, tokens) in texts {
        match pieces.last_mut() {
            Some((piece, length)) if *length + BREAK.1 + tokens <= most => {
                piece.push_str(BREAK.0);
                piece.push_str(&text);
                *length += BREAK.1 + tokens;
            }
            _ => pieces.push((text, tokens)),
        }
    }
    pieces.into_iter().map(|(piece, _)| piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: Role = Role::User;
    const ASSISTANT: Role = Role::Assistant;

    #[test]
    fn what_is_asked_of_the_model_fits_its_context() {
        for context in [0, 300, 1000, 4096, 32_768, 262_144, u32::MAX] {
            let Room { summary, kept, last, question, piece } = Room::of(context);
            assert!(piece == 0 || piece + 2 * summary + 160 <= context, "{context}");
            assert!(summary + last.max(kept) <= context - context / 4, "{context}");
            assert!(question == 0 || summary + question < context, "{context}");
        }
        assert!(Room::of(4096).piece > 2000);
        assert_eq!(Room::of(300).piece, 29);
    }

    #[test]
    fn the_latest_turns_stay_as_many_as_fit() {
        let room = Room::of(4000);
        let roles = [USER, ASSISTANT, USER, ASSISTANT, USER, ASSISTANT];
        let from = |tokens: [u32; 6]| kept_from(&roles, &tokens, room);
        assert_eq!(from([900, 900, 300, 300, 200, 200]), 2);
        assert_eq!(from([900, 900, 300, 301, 200, 200]), 4, "turns stay whole");
        assert_eq!(from([100, 100, 100, 100, 100, 100]), 0);
        assert_eq!(from([100, 100, 100, 100, 900, 1000]), 4, "the last turn may take half of the context");
        assert_eq!(from([100, 100, 100, 100, 1000, 1001]), 6, "and no more");
        assert_eq!(kept_from(&[USER, ASSISTANT, USER], &[100, 100, 3000], room), 2, "but for a question");
        assert_eq!(kept_from(&[Role::System, USER, ASSISTANT], &[500, 2000, 900], room), 3);
        assert_eq!(kept_from(&[], &[], room), 0);
    }

    #[test]
    fn pieces_are_as_few_as_may_be_and_lose_nothing() {
        let texts = [("a", 4), ("b", 4), ("c", 5), ("d", 1), ("e", 10)];
        let texts = texts.map(|(text, tokens)| (text.to_owned(), tokens)).to_vec();
        assert_eq!(pieces(texts, 10), ["a\n\nb", "c\n\nd", "e"]);
        assert_eq!(pieces(Vec::new(), 10), Vec::<String>::new());
    }

    #[test]
    fn a_text_is_cut_between_words_and_never_within_a_character() {
        assert_eq!(halves("one two three four"), ["one two", " three four"]);
        for text in ["", "é", "éé", "猫头鹰的夜晚", "averylongwordwithoutend"] {
            assert_eq!(halves(text).concat(), text);
        }
        assert_eq!(halves("éé"), ["é", "é"]);
    }
}
