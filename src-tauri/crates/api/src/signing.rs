//! Marks thinking as written here, for programs that drop thinking without a signature and send back what has one.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

use crate::token::Token;

/// What a signature begins with, so that later ones may be made otherwise.
const PREFIX: &str = "ft1.";

/// What signs thinking: the same text always alike, and differently on every installation.
#[derive(Clone)]
pub struct Signer(hmac::Key);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer")
    }
}

impl Signer {
    /// Signs with the key in a file that only its owner can read, which is made where there is none. Where it cannot
    /// be, signatures hold as long as the program runs: nothing is refused for want of one.
    pub fn of_file(file: &Path) -> Self {
        let key = Token::read_or_create(file).or_else(|error| {
            tracing::warn!("signatures of thinking end with this program: {error}");
            Token::generate()
        });
        let secret = key.as_ref().map(Token::secret).unwrap_or_default();
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
    }

    /// The signature of a thinking.
    pub(crate) fn sign(&self, thinking: &str) -> String {
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, thinking.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_text_and_one_installation_and_needs_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| Signer::of_file(&folder.path().join(name));
        let signature = of("a").sign("Hm");
        assert!(signature.starts_with(PREFIX) && signature.len() == PREFIX.len() + 43, "{signature}");
        assert_eq!(of("a").sign("Hm"), signature, "after a new start");
        assert_ne!(of("a").sign("Hm!"), signature);
        assert_ne!(of("b").sign("Hm"), signature);
    }

    #[test]
    fn where_no_key_can_be_kept_thinking_is_signed_all_the_same() {
        let nowhere = || Signer::of_file(Path::new("/proc/none/key"));
        let signer = nowhere();
        assert_eq!(signer.sign("Hm"), signer.sign("Hm"));
        assert_ne!(nowhere().sign("Hm"), signer.sign("Hm"), "no key that anybody knows");
    }
}
