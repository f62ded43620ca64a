//! How every TCP socket to another Mac is set up, and how it is left.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A Mac without power or cable is noticed after this and three times [`PROBE`] without traffic.
const QUIET: Duration = Duration::from_secs(5);
const PROBE: Duration = Duration::from_secs(2);

/// How long whoever is left may go on sending, and how much.
const LEAVE: Duration = Duration::from_secs(1);
const MOST_LEFT: u64 = 1024 * 1024;

/// Sends small messages at once, and notices when nobody is there any more. A socket that has ended meanwhile says so
/// when it is used.
pub(crate) fn set_up(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let alive = TcpKeepalive::new().with_time(QUIET).with_interval(PROBE).with_retries(3);
    let _ = SockRef::from(stream).set_tcp_keepalive(&alive);
}

/// Closes a connection so that what was written last arrives: a socket that is closed with bytes unread takes back what
/// it has sent.
pub(crate) async fn leave(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let left = async {
        let _ = stream.shutdown().await;
        let _ = tokio::io::copy(&mut (&mut stream).take(MOST_LEFT), &mut tokio::io::sink()).await;
    };
    let _ = timeout(LEAVE, left).await;
}
