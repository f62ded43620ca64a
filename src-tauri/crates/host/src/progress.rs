//! What happens to a reply, on its way to whoever follows it.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, Event, GenerationSettings, ModelInfo};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The most figures that may wait to be read.
const MAX_UNREAD: usize = 64;

/// Who writes a reply, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    /// The model that is loaded.
    pub model: ModelInfo,
    /// What it was told.
    pub settings: GenerationSettings,
}

/// What happens to a reply.
#[derive(Debug, PartialEq)]
pub enum ReplyProgress {
    /// The engine was asked for it. Comes first, unless it never comes to that.
    Begun(Box<Begun>),
    /// What the engine says of it: [`Event::Prepared`], [`Event::Waiting`], [`Event::Reading`], [`Event::Looking`],
    /// [`Event::Tokens`] and [`Event::Live`], then [`Event::Finished`] or [`Event::Failed`], which end it. The
    /// supervisor says these two itself of a reply that it does not ask the engine for.
    Event(Event),
    /// The engine stopped in the middle, which ends it.
    Interrupted(ErrorReport),
}

impl ReplyProgress {
    /// Whether the next one of its kind says all that it says.
    fn is_figure(&self) -> bool {
        matches!(
            self,
            Self::Event(
                Event::Prepared { .. }
                    | Event::Waiting { .. }
                    | Event::Reading { .. }
                    | Event::Looking { .. }
                    | Event::Live { .. }
            )
        )
    }
}

/// A channel for what happens to one reply. Nothing ever waits for its reader. Text, of which an engine may write no
/// more than was asked for, is never lost; figures are left out while many are unread, so that a flood of them takes
/// no memory.
pub fn channel() -> (ProgressSender, ProgressReceiver) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (ProgressSender { sender, unread: Arc::new(Semaphore::new(MAX_UNREAD)) }, ProgressReceiver(receiver))
}

/// The supervisor's end.
#[derive(Debug)]
pub struct ProgressSender {
    sender: mpsc::UnboundedSender<(ReplyProgress, Option<OwnedSemaphorePermit>)>,
    /// A permit for each figure that may still wait to be read; it comes back when the figure is.
    unread: Arc<Semaphore>,
}

impl ProgressSender {
    /// Tells whoever follows the reply, if somebody still does.
    pub fn send(&self, progress: ReplyProgress) {
        let permit = if progress.is_figure() {
            let Ok(permit) = Arc::clone(&self.unread).try_acquire_owned() else { return };
            Some(permit)
        } else {
            None
        };
        let _ = self.sender.send((progress, permit));
    }
}

/// The end of whoever follows the reply.
#[derive(Debug)]
pub struct ProgressReceiver(mpsc::UnboundedReceiver<(ReplyProgress, Option<OwnedSemaphorePermit>)>);

impl ProgressReceiver {
    /// What happens next, or `None` where nobody tells any more. Nothing is lost if the future is dropped before it is
    /// ready.
    pub async fn recv(&mut self) -> Option<ReplyProgress> {
        self.0.recv().await.map(|(progress, _)| progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reader_that_is_behind_misses_figures_and_no_text() {
        let (sender, mut receiver) = channel();
        for done in 0..1000 {
            sender.send(ReplyProgress::Event(Event::Reading { id: 1, done, total: 1000 }));
            sender.send(ReplyProgress::Event(Event::Tokens {
                id: 1,
                tokens: Vec::new(),
                logprobs: Vec::new(),
            }));
        }
        drop(sender);
        let (mut figures, mut text) = (Vec::new(), 0);
        while let Some(progress) = receiver.recv().await {
            match progress {
                ReplyProgress::Event(Event::Reading { done, .. }) => figures.push(done),
                _ => text += 1,
            }
        }
        assert_eq!((figures, text), ((0..64).collect(), 1000));
    }

    #[tokio::test]
    async fn what_was_read_makes_room() {
        let (sender, mut receiver) = channel();
        for ahead in 0..1000 {
            let waiting = || ReplyProgress::Event(Event::Waiting { id: 1, ahead });
            sender.send(waiting());
            assert_eq!(receiver.recv().await, Some(waiting()));
        }
    }
}
