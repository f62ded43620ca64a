//! Which replies belong to one chat.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::acceptance::{Records, Source};

/// Chats whose acceptance is kept.
const MOST_CHATS: usize = 64;

/// Names a chat as it was when a reply in it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chat(u64);

/// How often drafts were right in the chats that were at work last.
#[derive(Debug, Clone, Default)]
pub(super) struct Chats(Vec<(Chat, Records)>);

impl Chats {
    /// The chat of a prompt whose messages begin at `message_starts`. It goes on with what was learned behind the
    /// longest part of it that a reply was asked for before.
    pub(super) fn join(&mut self, prompt: &[u32], message_starts: &[usize]) -> Chat {
        let (mut hasher, mut begin) = (DefaultHasher::new(), 0);
        let ends = message_starts.iter().copied().filter(|&mark| mark > 0 && mark <= prompt.len());
        let mut parts: Vec<Chat> = ends
            .map(|end| {
                prompt[begin..end].iter().for_each(|id| id.hash(&mut hasher));
                begin = end;
                Chat(hasher.finish())
            })
            .collect();
        if parts.is_empty() {
            prompt.hash(&mut hasher);
            parts.push(Chat(hasher.finish()));
        }
        let chat = parts[parts.len() - 1];
        let known = parts.iter().rev().find_map(|part| self.0.iter().find(|(other, _)| other == part));
        let records = known.map(|&(_, records)| records).unwrap_or_default();
        self.0.retain(|(other, _)| *other != chat);
        if self.0.len() == MOST_CHATS {
            self.0.remove(0);
        }
        self.0.push((chat, records));
        chat
    }

    pub(super) fn records(&self, chat: Chat) -> Records {
        self.0.iter().find(|(other, _)| *other == chat).map(|&(_, records)| records).unwrap_or_default()
    }

    pub(super) fn observe(&mut self, chat: Chat, source: Source, drafted: usize, accepted: usize) {
        if let Some((_, records)) = self.0.iter_mut().find(|(other, _)| *other == chat) {
            records.of_mut(source).observe_text(drafted, accepted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_goes_on_with_what_was_learned_in_it_and_others_do_not() {
        let mut chats = Chats::default();
        // A system prompt, a question, and where the reply begins; then the reply, another question, another reply.
        let first = chats.join(&[1, 10, 1, 20, 1], &[0, 2, 4]);
        (0..20).for_each(|_| chats.observe(first, Source::Head, 1, 0));
        let learned = chats.records(first);
        assert_ne!(learned, Records::default());
        let second = chats.join(&[1, 10, 1, 20, 1, 30, 1, 40, 1], &[0, 2, 4, 6, 8]);
        assert_eq!(chats.records(second), learned);
        let again = chats.join(&[1, 10, 1, 20, 1], &[0, 2, 4]);
        assert_eq!((again, chats.records(again)), (first, learned));
        for (prompt, message_starts) in
            [(&[1, 10, 1, 21, 1][..], &[0, 2, 4][..]), (&[1, 10], &[]), (&[1, 20, 1], &[0, 2])]
        {
            let other = chats.join(prompt, message_starts);
            assert_eq!(chats.records(other), Records::default(), "{prompt:?}");
        }
    }

    #[test]
    fn the_oldest_chats_are_forgotten() {
        let mut chats = Chats::default();
        for id in 0..2 * MOST_CHATS as u32 {
            let chat = chats.join(&[id], &[]);
            chats.observe(chat, Source::Head, 1, 1);
            assert!(chats.0.len() <= MOST_CHATS && chats.records(chat) != Records::default());
        }
        let oldest = chats.join(&[0], &[]);
        assert_eq!(chats.records(oldest), Records::default());
    }
}
