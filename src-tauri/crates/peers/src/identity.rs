//! Who a Mac is to other Macs: a pair of keys that it made itself, and the digest of the public one.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData};
use ring::digest::{SHA256, digest};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ParsedCertificate;
use serde::{Deserialize, Serialize};

use crate::error::PeerError;
use crate::hex::Hex;

/// The SHA-256 of a Mac's public key (its SubjectPublicKeyInfo), by which others know it. Shown as 64 hexadecimal
/// digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PublicKey(Hex<32>);

impl PublicKey {
    /// The key in a certificate; `None` where it is no certificate.
    pub(crate) fn of_certificate(certificate: &CertificateDer<'_>) -> Option<Self> {
        let parsed = ParsedCertificate::try_from(certificate).ok()?;
        Self::of_info(parsed.subject_public_key_info().as_ref())
    }

    /// The bytes of the digest.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0.0
    }

    fn of_info(info: &[u8]) -> Option<Self> {
        let bytes = digest(&SHA256, info).as_ref().try_into().ok()?;
        Some(Self(Hex(bytes)))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.0)
    }
}

impl FromStr for PublicKey {
    type Err = PeerError;

    /// Reads what `Display` writes; fails on any other text.
    fn from_str(text: &str) -> Result<Self, PeerError> {
        Hex::parse(text).map(Self).ok_or(PeerError::NoKey)
    }
}

/// A Mac's own pair of keys (ECDSA over P-256), with the certificate that it signs itself. A copy is the same Mac.
#[derive(Clone)]
pub struct Identity {
    keys: Arc<KeyPair>,
    certificate: CertificateDer<'static>,
    key: PublicKey,
}

impl Identity {
    /// Makes new keys. Fails where the system gives no random numbers.
    pub fn generate() -> Result<Self, PeerError> {
        Self::of(KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(identity)?)
    }

    /// Reads what [`Self::to_text`] wrote; fails on any other text.
    pub fn from_text(text: &str) -> Result<Self, PeerError> {
        Self::of(KeyPair::from_pem_and_sign_algo(text, &PKCS_ECDSA_P256_SHA256).map_err(identity)?)
    }

    /// The private key, in PEM. Whoever has this text is this Mac: it belongs into a keychain, or into a file that
    /// nobody else can read.
    pub fn to_text(&self) -> String {
        self.keys.serialize_pem()
    }

    /// What others know this Mac by.
    pub fn key(&self) -> PublicKey {
        self.key
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    pub(crate) fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.keys.serialize_der()))
    }

    fn of(keys: KeyPair) -> Result<Self, PeerError> {
        let certificate = CertificateParams::default().self_signed(&keys).map_err(identity)?;
        let key = PublicKey::of_info(&keys.subject_public_key_info()).ok_or(PeerError::NoKey)?;
        Ok(Self { certificate: certificate.der().clone(), keys: Arc::new(keys), key })
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("key", &self.key).finish_non_exhaustive()
    }
}

fn identity(source: rcgen::Error) -> PeerError {
    PeerError::Identity { detail: source.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_survives_as_text_and_is_never_printed() {
        let identity = Identity::generate().unwrap();
        let text = identity.to_text();
        let again = Identity::from_text(&text).unwrap();
        assert_eq!(again.key(), identity.key());
        assert_eq!(PublicKey::of_certificate(&again.certificate()), Some(identity.key()));
        assert_eq!(identity.key().to_string().parse::<PublicKey>().unwrap(), identity.key());
        let secret = text.lines().nth(1).unwrap();
        assert!(!format!("{identity:?}").contains(&secret[..16]));
        assert!(Identity::from_text("").is_err() && "12".parse::<PublicKey>().is_err());
        assert_ne!(Identity::generate().unwrap().key(), identity.key());
    }
}
