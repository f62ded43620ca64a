//! The pages that follow a reply while it is written: one for each window that shows its chat.

use foretoken_protocol::ReplyEvent;
use tauri::ipc::Channel;

use crate::events::MAIN_WINDOW;

/// Where the page of a window hears of a reply.
#[derive(Clone)]
pub(crate) struct Page {
    /// The label of the window.
    pub(crate) window: String,
    /// Takes what happens.
    pub(crate) events: Channel<ReplyEvent>,
}

impl From<Channel<ReplyEvent>> for Page {
    /// The page of the main window.
    fn from(events: Channel<ReplyEvent>) -> Self {
        Self { window: MAIN_WINDOW.to_owned(), events }
    }
}

/// All pages that follow one reply.
pub(super) struct Pages(Vec<Page>);

impl Pages {
    /// Those who follow from the beginning: the page that has asked.
    pub(super) fn new(asked: Page) -> Self {
        Self(vec![asked])
    }

    /// Lets one more page follow, in place of an earlier one of its window.
    pub(super) fn join(&mut self, page: Page) {
        self.0.retain(|other| other.window != page.window);
        self.0.push(page);
    }

    /// Tells all pages. One that is gone is no reason to stop: the reply goes on into the store.
    pub(super) fn tell(&mut self, event: &ReplyEvent) {
        self.0.retain(|page| page.events.send(event.clone()).is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::page;

    #[test]
    fn every_window_hears_a_reply_and_a_page_that_is_opened_anew_takes_the_place_of_the_one_before() {
        let ((first, mut to_first), (second, mut to_second), (anew, mut to_anew)) = (page(), page(), page());
        let event = |ahead| ReplyEvent::Waiting { ahead };
        let mut pages = Pages::new(Page::from(first));
        pages.tell(&event(2));
        pages.join(Page { window: "chat-7".into(), events: second });
        pages.tell(&event(1));
        pages.join(Page { window: "chat-7".into(), events: anew });
        pages.tell(&event(0));
        let heard = |page: &mut tokio::sync::mpsc::UnboundedReceiver<ReplyEvent>| {
            std::iter::from_fn(|| page.try_recv().ok()).collect::<Vec<_>>()
        };
        assert_eq!(heard(&mut to_first), [event(2), event(1), event(0)]);
        assert_eq!(heard(&mut to_second), [event(1)]);
        assert_eq!(heard(&mut to_anew), [event(0)]);
    }
}
