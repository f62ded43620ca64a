//! An answer as it is written: server-sent events that keep their connection alive and hold nobody up.

use std::future::Future;
use std::io;
use std::mem;
use std::pin::Pin;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::answer::Writer;
use crate::error::ApiError;
use crate::live::Listed;
use crate::replies::{Progress, Replies};

/// How long a stream is silent at most.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long a client may take nothing of its stream.
const CLIENT_PATIENCE: Duration = Duration::from_secs(120);
/// Bytes that may wait for a client.
const MOST_UNSENT: usize = 8 << 20;

/// The replies to a request once the engine has taken it on, or why it has not.
pub(crate) type Begun = Pin<Box<dyn Future<Output = Result<Replies, ApiError>> + Send>>;

/// Appends an event without a name.
pub(crate) fn data(out: &mut String, data: &Value) {
    out.push_str(&format!("data: {data}\n\n"));
}

/// Appends an event with a name.
pub(crate) fn named(out: &mut String, name: &str, data: &Value) {
    out.push_str(&format!("event: {name}\ndata: {data}\n\n"));
}

/// A piece of a stream on its way to the client.
#[derive(Debug)]
enum Piece {
    Bytes(Bytes),
    /// The stream is whole.
    End,
}

/// The answer as it is written.
pub(crate) fn streamed(begun: Begun, writer: impl Writer, listed_as: Listed) -> Response {
    // One piece at a time: what comes while the client takes none is sent together.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(StreamWriter::new(begun, writer, listed_as).run(sender));
    let pieces = stream::unfold(Some(receiver), async |receiver| {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Some(Piece::Bytes(bytes)) => Some((Ok(bytes), Some(receiver))),
            Some(Piece::End) => None,
            // Whoever finds the connection broken does not take what came for the whole.
            None => Some((Err(io::Error::from(io::ErrorKind::TimedOut)), None)),
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(pieces)).into_response()
}

/// Writes the events of a stream until it ends or nobody takes them any more, which ends the replies. They are given up
/// as soon as they have ended, however slowly their text is taken.
struct StreamWriter<W> {
    /// Until the engine has taken the request on.
    begun: Option<Begun>,
    replies: Option<Replies>,
    writer: W,
    /// Knows how far the request is.
    listed_as: Listed,
    /// What the client has not taken.
    unsent: String,
    /// When something was written last, and when the client took something last.
    written: Instant,
    taken: Instant,
}

impl<W: Writer> StreamWriter<W> {
    fn new(begun: Begun, writer: W, listed_as: Listed) -> Self {
        let now = Instant::now();
        let (replies, unsent) = (None, String::new());
        Self { begun: Some(begun), replies, writer, listed_as, unsent, written: now, taken: now }
    }

    async fn run(mut self, pieces: mpsc::Sender<Piece>) {
        while self.begun.is_some() || self.replies.is_some() || !self.unsent.is_empty() {
            tokio::select! {
                begun = async { self.begun.as_mut()?.await.into() }, if self.begun.is_some() => {
                    self.begun = None;
                    self.on_begun(begun);
                }
                next = async { self.replies.as_mut()?.next().await }, if self.replies.is_some() => self.on_next(next),
                place = pieces.reserve(), if !self.unsent.is_empty() => {
                    let Ok(place) = place else { return };
                    place.send(Piece::Bytes(mem::take(&mut self.unsent).into()));
                    self.taken = Instant::now();
                }
                () = sleep_until(self.written + KEEP_ALIVE), if self.unsent.is_empty() => {
                    let stage = self.listed_as.stage();
                    self.write(|writer, out| writer.keep_alive(stage, out));
                }
                () = sleep_until(self.taken + CLIENT_PATIENCE), if !self.unsent.is_empty() => return,
                () = pieces.closed() => return,
            }
            if self.unsent.len() > MOST_UNSENT {
                return;
            }
        }
        let _ = pieces.send(Piece::End).await;
    }

    fn on_begun(&mut self, begun: Option<Result<Replies, ApiError>>) {
        match begun {
            Some(Ok(replies)) => {
                self.write(Writer::begin);
                self.replies = Some(replies);
            }
            Some(Err(error)) => self.write(|writer, out| writer.fail(&error, out)),
            None => {}
        }
    }

    fn on_next(&mut self, next: Option<Result<(usize, Progress), ApiError>>) {
        match next {
            Some(Ok((index, progress))) => self.write(|writer, out| writer.progress(index, progress, out)),
            Some(Err(error)) => {
                self.replies = None;
                self.write(|writer, out| writer.fail(&error, out));
            }
            None => {
                self.replies = None;
                self.write(Writer::end);
            }
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut W, &mut String)) {
        let before = self.unsent.len();
        write(&mut self.writer, &mut self.unsent);
        if self.unsent.len() > before {
            self.written = Instant::now();
            if before == 0 {
                // What was taken before says nothing of this.
                self.taken = self.written;
            }
        }
    }
}
