//! What a reply that may use tools is made of: rounds of the model, and calls between them.

use foretoken_calls::{Call, Tools};
use foretoken_host::Generation;
use foretoken_protocol::{ErrorReport, FinishReason, ReplyStats, ReplyStep, RequestId, UnseenPictures};
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};

/// The rounds of one reply. Whatever they do is in the store before it is done or shown.
pub(crate) trait Rounds: Send + Sync {
    /// The tools that the prompt of the round has; `None` where it has none.
    fn tools(&self) -> Option<Tools>;

    /// Takes down a round that has ended in calls, and returns it. The text of the round is in the store already.
    fn take(
        &self,
        reason: FinishReason,
        stats: ReplyStats,
        calls: Vec<Call>,
    ) -> BoxFuture<'_, Result<ReplyStep, ErrorReport>>;

    /// Decides about the calls of the last round and runs those that may run, unless the person is to be asked. Tells
    /// the round as it changes.
    fn settle(
        &self,
        stop: watch::Receiver<bool>,
        changes: mpsc::UnboundedSender<ReplyStep>,
    ) -> BoxFuture<'_, Result<Settled, ErrorReport>>;

    /// Begins the next round, which reads the results.
    fn next(&self) -> BoxFuture<'_, Result<Next, ErrorReport>>;

    /// Cancels the request of a round.
    fn cancel(&self, request: RequestId);
}

/// What has become of the calls of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    /// All have ended: the model reads their results.
    GoOn,
    /// The person is asked.
    Ask,
    /// The person is asked whether the reply is to go on.
    Pause,
    /// The person has stopped it.
    Stopped,
    /// The app ends.
    Interrupted,
}

/// A round that begins.
pub(crate) struct Next {
    /// The round, still without text.
    pub(crate) step: ReplyStep,
    /// What writes it.
    pub(crate) generation: Generation,
    /// The pictures that it is written without.
    pub(crate) unseen: watch::Receiver<UnseenPictures>,
}
