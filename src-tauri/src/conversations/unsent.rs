//! Which part of what is typed and not sent waits for its turn. All of it is stored as one draft, so that nothing is
//! lost if the app ends; a window that opens shows only the rest, as the one in which it waits sends it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_protocol::{ChatId, Draft};

/// What waits, by chat.
#[derive(Debug, Default)]
pub(crate) struct Unsent {
    waiting: Mutex<BTreeMap<ChatId, Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// What the field holds, where the stored text is more.
    typed: Option<String>,
    /// How many of the files and pictures wait: the first ones.
    files: u32,
    pictures: u32,
}

impl Unsent {
    /// Of the text that is stored, so much is in the field.
    pub(crate) fn typed(&self, chat: ChatId, text: &str, typed: &str) {
        self.lock().entry(chat).or_default().typed = (text != typed).then(|| typed.to_owned());
    }

    /// So many of the files wait.
    pub(crate) fn files_wait(&self, chat: ChatId, files: u32) {
        self.lock().entry(chat).or_default().files = files;
    }

    /// So many of the pictures wait.
    pub(crate) fn pictures_wait(&self, chat: ChatId, pictures: u32) {
        self.lock().entry(chat).or_default().pictures = pictures;
    }

    /// Takes what waits out of a draft.
    pub(crate) fn take_out(&self, chat: ChatId, draft: &mut Draft) {
        if let Some(Waiting { typed, files, pictures }) = self.lock().get(&chat) {
            draft.text = typed.clone().unwrap_or_else(|| std::mem::take(&mut draft.text));
            draft.files.drain(..draft.files.len().min(*files as usize));
            draft.pictures.drain(..draft.pictures.len().min(*pictures as usize));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ChatId, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_opens_shows_what_is_typed_and_not_what_waits() {
        let unsent = Unsent::default();
        let draft = || Draft { text: "Where?\n\nAnd".into(), ..Draft::default() };
        let shown = |unsent: &Unsent| {
            let mut draft = draft();
            unsent.take_out(7, &mut draft);
            draft.text
        };
        assert_eq!(shown(&unsent), draft().text);
        unsent.typed(7, "Where?\n\nAnd", "And");
        unsent.files_wait(7, 1);
        assert_eq!(shown(&unsent), "And");
        unsent.typed(7, "And", "And");
        assert_eq!(shown(&unsent), draft().text, "nothing waits any more");
    }
}
