//! How whoever asks is answered.

use foretoken_protocol::ErrorReport;
use serde::Serialize;
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

use crate::ask::{Answer, Pipe};
use crate::{line, sockets};

pub(super) type Stream = TlsStream<TcpStream>;

/// Says yes. `None` if nobody hears it.
pub(super) async fn grant(mut stream: Stream, granted: impl Serialize) -> Option<Stream> {
    line::write(&mut stream, &Answer::Granted(granted)).await.ok()?;
    Some(stream)
}

/// Says no, and why.
pub(super) async fn refuse(mut stream: Stream, why: impl Into<ErrorReport>) {
    if line::write(&mut stream, &Answer::<Pipe>::Refused(why.into())).await.is_ok() {
        sockets::leave(stream).await;
    }
}
