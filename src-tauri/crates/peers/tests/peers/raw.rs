//! Those who do not keep to the protocol: TLS with any key, or none, and lines as one likes.

use std::io;
use std::sync::Arc;

use foretoken_peers::Identity;
use rcgen::{CertificateParams, KeyPair};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme,
    SupportedProtocolVersion,
};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

pub(crate) type Stream = TlsStream<TcpStream>;

/// Lets everybody in.
#[derive(Debug)]
struct Anybody;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Who one says to be: the certificate of one, and the private key of another.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) certificate: &'a Identity,
    pub(crate) key: &'a Identity,
}

impl<'a> From<&'a Identity> for Shown<'a> {
    fn from(identity: &'a Identity) -> Self {
        Self { certificate: identity, key: identity }
    }
}

impl Shown<'_> {
    fn resolver(self) -> Arc<SingleCertAndKey> {
        let keys = |identity: &Identity| KeyPair::from_pem(&identity.to_text()).unwrap();
        let certificate = CertificateParams::default().self_signed(&keys(self.certificate)).unwrap();
        let key = PrivatePkcs8KeyDer::from(keys(self.key).serialize_der()).into();
        let key = ring::sign::any_ecdsa_type(&key).unwrap();
        Arc::new(CertifiedKey::new(vec![certificate.der().clone()], key).into())
    }
}

/// Connects with a key or without, and these versions of TLS and of the protocol.
pub(crate) async fn connect(
    address: &str,
    shown: Option<Shown<'_>>,
    versions: &[&'static SupportedProtocolVersion],
    protocols: &[&str],
) -> io::Result<Stream> {
    let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(versions).unwrap();
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody));
    let mut config = match shown {
        Some(shown) => builder.with_client_cert_resolver(shown.resolver()),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("foretoken").unwrap();
    Ok(TlsConnector::from(Arc::new(config)).connect(name, stream).await?.into())
}

/// Connects as a Foretoken does.
pub(crate) async fn connect_as(address: &str, identity: &Identity) -> Stream {
    connect(address, Some(identity.into()), &[&rustls::version::TLS13], &["foretoken/1"]).await.unwrap()
}

/// Takes a connection as a Foretoken does, from anybody.
pub(crate) async fn accept_as(stream: TcpStream, shown: Shown<'_>) -> io::Result<Stream> {
    let builder = ServerConfig::builder_with_provider(provider());
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
    let builder = builder.with_client_cert_verifier(Arc::new(Anybody));
    let mut config = builder.with_cert_resolver(shown.resolver());
    config.alpn_protocols = vec![b"foretoken/1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)).accept(stream).await?.into())
}

pub(crate) async fn write(stream: &mut (impl AsyncWrite + Unpin), line: &[u8]) {
    // Whoever is refused early cannot write all of it.
    let _ = stream.write_all(line).await;
    let _ = stream.write_all(b"\n").await;
    let _ = stream.flush().await;
}

/// The next line; `None` where the connection ends.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Value> {
    let mut line = Vec::new();
    loop {
        match stream.read_u8().await.ok()? {
            b'\n' => return serde_json::from_slice(&line).ok(),
            byte => line.push(byte),
        }
    }
}

/// The code of a refusal.
pub(crate) fn refused(answer: Option<Value>) -> String {
    answer.unwrap()["refused"]["code"].as_str().unwrap().to_owned()
}

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}

impl ClientCertVerifier for Anybody {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}
