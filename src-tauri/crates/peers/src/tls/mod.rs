//! TLS between two Macs: version 1.3 alone, both sides show a certificate, and of a certificate counts the key alone.

mod verify;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;
use rustls::server::NoServerSessionStorage;
use rustls::version::TLS13;
use rustls::{AlertDescription, ClientConfig, ServerConfig};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::error::PeerError;
use crate::identity::{Identity, PublicKey};
use crate::sockets;

use verify::Verifier;

/// How long a handshake may take.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(5);

/// Both sides name it: whoever speaks another version is refused in the handshake.
const PROTOCOL: &[u8] = b"foretoken/1";
/// The version in it, as a Mac tells it to those that look for one.
pub(crate) const VERSION: &str = "1";

/// Says whether a key is let in.
pub(crate) type Admits = Arc<dyn Fn(&PublicKey) -> bool + Send + Sync>;

/// A connection, and whose it is.
pub(crate) struct Connected {
    pub(crate) stream: TlsStream<TcpStream>,
    pub(crate) key: PublicKey,
}

/// What accepts connections of whom `admits` says so, while it says so.
pub(crate) fn acceptor(identity: &Identity, admits: Admits) -> Result<TlsAcceptor, PeerError> {
    let (provider, verifier) = (provider(), Arc::new(Verifier::new(admits)));
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]);
    let mut config = builder
        .and_then(|builder| {
            let builder = builder.with_client_cert_verifier(verifier);
            builder.with_single_cert(vec![identity.certificate()], identity.private_key())
        })
        .map_err(unusable)?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    // A session that is resumed would pass by the verifier, and so outlive its pairing.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Takes a connection that came in; `None` if it is no good, or not within 5 s.
pub(crate) async fn accept(acceptor: &TlsAcceptor, stream: TcpStream) -> Option<Connected> {
    match timeout(HANDSHAKE, acceptor.accept(stream).into_fallible()).await.ok()? {
        Ok(stream) => identify(stream.into()),
        Err((_, stream)) => {
            // The other side is to hear why.
            sockets::leave(stream).await;
            None
        }
    }
}

/// Makes a connection secret. `expected`: whose key it has to be; `None`: anybody's. `address`: for errors.
pub(crate) async fn connect(
    identity: &Identity,
    expected: Option<PublicKey>,
    stream: TcpStream,
    address: &str,
) -> Result<Connected, PeerError> {
    let admits: Admits = Arc::new(move |key| expected.is_none_or(|expected| expected == *key));
    let (provider, verifier) = (provider(), Arc::new(Verifier::new(admits)));
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]);
    let mut config = builder
        .and_then(|builder| {
            let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
            builder.with_client_auth_cert(vec![identity.certificate()], identity.private_key())
        })
        .map_err(unusable)?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    // Nobody reads it.
    let name = ServerName::try_from("foretoken").map_err(|error| stranger(address, &error))?;
    let handshake = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let stream = match timeout(HANDSHAKE, handshake).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) if verify::is_other_key(&error) => {
            return Err(PeerError::OtherKey { address: address.to_owned() });
        }
        Ok(Err(error)) => return Err(stranger(address, &error)),
        Err(_) => return Err(PeerError::Silent { within: HANDSHAKE }),
    };
    identify(stream.into()).ok_or_else(|| stranger(address, &"it speaks another version"))
}

/// What the end of a connection means. That a key is unknown is heard after the handshake, in place of an answer.
pub(crate) fn broken(source: io::Error) -> PeerError {
    let refused = rustls::Error::AlertReceived(AlertDescription::AccessDenied);
    let tls = source.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    if tls == Some(&refused) { PeerError::Unknown } else { PeerError::Broken { source } }
}

fn identify(stream: TlsStream<TcpStream>) -> Option<Connected> {
    let (_, session) = stream.get_ref();
    // Who names no protocol passes the handshake.
    let speaks = session.alpn_protocol() == Some(PROTOCOL);
    let key = session.peer_certificates()?.first().and_then(PublicKey::of_certificate)?;
    speaks.then_some(Connected { stream, key })
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn unusable(error: rustls::Error) -> PeerError {
    PeerError::Identity { detail: error.to_string() }
}

fn stranger(address: &str, error: &dyn std::fmt::Display) -> PeerError {
    PeerError::Stranger { address: address.to_owned(), detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_told_is_the_one_that_is_spoken() {
        assert_eq!(PROTOCOL, format!("foretoken/{VERSION}").as_bytes());
    }
}
