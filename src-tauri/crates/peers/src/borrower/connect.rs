//! How a lending Mac is reached.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::error::PeerError;
use crate::identity::{Identity, PublicKey};
use crate::sockets;
use crate::tls::{self, Connected};

/// How long a Mac has to take a connection.
const REACH: Duration = Duration::from_secs(5);
/// The same where there are more addresses to try.
const EACH: Duration = Duration::from_secs(2);

/// Connects to an address, `host:port`. `expected`: whose key it has to be; `None`: anybody's.
pub(super) async fn reach(
    address: &str,
    identity: &Identity,
    expected: Option<PublicKey>,
) -> Result<Connected, PeerError> {
    let unreachable = |source| PeerError::Unreachable { address: address.to_owned(), source };
    let stream = timeout(REACH, TcpStream::connect(address)).await;
    let stream = stream.map_err(|late| unreachable(late.into()))?.map_err(unreachable)?;
    sockets::set_up(&stream);
    tls::connect(identity, expected, stream, address).await
}

/// The first address at which a Mac with this key answers, each tried for 2 s.
pub(super) async fn first_reachable(
    addresses: &[String],
    identity: &Identity,
    key: PublicKey,
) -> Result<String, PeerError> {
    let mut failed = PeerError::NoAddress;
    for address in addresses {
        match timeout(EACH, reach(address, identity, Some(key))).await {
            Ok(Ok(_)) => return Ok(address.clone()),
            // That somebody answers says more than that nobody does.
            Ok(Err(error)) if says_less(&failed) => failed = error,
            Err(_) if says_less(&failed) => failed = PeerError::Silent { within: EACH },
            _ => {}
        }
    }
    Err(failed)
}

fn says_less(error: &PeerError) -> bool {
    matches!(error, PeerError::NoAddress | PeerError::Unreachable { .. } | PeerError::Silent { .. })
}
