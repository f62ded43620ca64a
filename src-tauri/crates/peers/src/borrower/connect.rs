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
