//! The token of the local API: in the system's keychain, or where there is none, in a file that only the person can
//! read.

use std::io;
use std::path::PathBuf;

use foretoken_api::Token;
use foretoken_protocol::TokenPlace;

use crate::keychain::SecretStore;

/// Where the token is kept.
#[derive(Debug)]
pub(super) struct TokenStore {
    keychain: Box<dyn SecretStore>,
    file: PathBuf,
}

impl TokenStore {
    pub(super) fn new(keychain: Box<dyn SecretStore>, file: PathBuf) -> Self {
        Self { keychain, file }
    }

    /// The token, which is made where there is none. Blocks: the person may be asked to unlock the keychain.
    pub(super) fn read_or_create(&self) -> io::Result<(Token, TokenPlace)> {
        match self.keychain.read() {
            Ok(Some(secret)) => match Token::parse(&secret) {
                Some(token) => Ok((token, TokenPlace::Keychain)),
                None => self.renew(None),
            },
            Ok(None) => self.renew(None),
            Err(_) => Ok((Token::read_or_create(&self.file)?, TokenPlace::File)),
        }
    }

    /// Keeps a new token in place of the one before, which must open nothing from then on. Blocks.
    pub(super) fn renew(&self, before: Option<TokenPlace>) -> io::Result<(Token, TokenPlace)> {
        let token = Token::generate()?;
        match self.keychain.write(token.secret()) {
            Ok(()) => {
                if self.file.exists() {
                    token.replace(&self.file)?;
                }
                Ok((token, TokenPlace::Keychain))
            }
            // The next start would find the token from before there.
            Err(error) if before == Some(TokenPlace::Keychain) => Err(io::Error::other(error)),
            Err(_) => {
                token.replace(&self.file)?;
                Ok((token, TokenPlace::File))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Mutex;

    use super::*;
    use crate::keychain::KeychainError;

    /// A keychain that is there, or is not.
    #[derive(Debug, Default)]
    struct Fake {
        secret: Mutex<Option<String>>,
        is_missing: bool,
    }

    impl SecretStore for Fake {
        fn read(&self) -> Result<Option<String>, KeychainError> {
            if self.is_missing {
                Err(KeychainError::Unavailable)
            } else {
                Ok(self.secret.lock().unwrap().clone())
            }
        }

        fn write(&self, secret: &str) -> Result<(), KeychainError> {
            if self.is_missing {
                return Err(KeychainError::Unavailable);
            }
            *self.secret.lock().unwrap() = Some(secret.to_owned());
            Ok(())
        }

        fn remove(&self) -> Result<(), KeychainError> {
            Ok(())
        }
    }

    #[test]
    fn the_token_is_kept_in_the_keychain_until_it_is_renewed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let store = TokenStore::new(Box::new(Fake::default()), file.clone());
        let (first, place) = store.read_or_create().unwrap();
        assert_eq!(place, TokenPlace::Keychain);
        assert_eq!(store.read_or_create().unwrap().0.secret(), first.secret());
        let (second, _) = store.renew(Some(place)).unwrap();
        assert_ne!(second.secret(), first.secret());
        assert_eq!(store.read_or_create().unwrap().0.secret(), second.secret());
        assert!(!file.exists());
    }

    /// Or the one before would open the door again after the next start.
    #[test]
    fn a_token_in_a_keychain_that_was_locked_since_is_not_renewed_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let locked = TokenStore::new(Box::new(Fake { is_missing: true, ..Fake::default() }), file.clone());
        assert!(locked.renew(Some(TokenPlace::Keychain)).is_err());
        assert!(!file.exists());
        // Where the keychain comes back, the file has no token any more that nobody may use.
        let (first, place) = locked.read_or_create().unwrap();
        let open = TokenStore::new(Box::<Fake>::default(), file.clone());
        let (second, place) = open.renew(Some(place)).unwrap();
        assert_eq!(place, TokenPlace::Keychain);
        assert_ne!(first.secret(), second.secret());
        assert_eq!(fs::read_to_string(&file).unwrap().trim(), second.secret());
    }

    #[test]
    fn without_a_keychain_it_is_kept_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let store = TokenStore::new(Box::new(Fake { is_missing: true, ..Fake::default() }), file.clone());
        let (first, place) = store.read_or_create().unwrap();
        assert_eq!(place, TokenPlace::File);
        assert_eq!(fs::read_to_string(&file).unwrap().trim(), first.secret());
        let (second, _) = store.renew(Some(place)).unwrap();
        assert_ne!(second.secret(), first.secret());
        assert_eq!(store.read_or_create().unwrap().0.secret(), second.secret());
    }
}
