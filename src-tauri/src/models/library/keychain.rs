//! The token for the Hub. It is kept in the system's keychain and goes nowhere but to the Hub.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_models::{Token, TokenSource};
use foretoken_protocol::ErrorReport;
use thiserror::Error;

/// What the keychain lists the token under.
const SERVICE: &str = "dev.foretoken.Foretoken";
const ACCOUNT: &str = "Hugging Face";

/// Where one secret is kept.
pub(super) trait SecretStore: Send + Sync + fmt::Debug {
    /// The secret, if there is one.
    fn read(&self) -> Result<Option<String>, KeychainError>;
    /// Keeps a secret in place of the one before.
    fn write(&self, secret: &str) -> Result<(), KeychainError>;
    /// Removes the secret, if there is one.
    fn remove(&self) -> Result<(), KeychainError>;
}

/// Why the keychain did not do what was asked.
#[derive(Debug, Error)]
pub(super) enum KeychainError {
    /// There is none, or it is locked.
    #[error("The system's keychain cannot be used, so no token is kept.")]
    Unavailable,
    /// The text cannot be a token.
    #[error("That text cannot be a Hugging Face token.")]
    NotAToken,
}

impl From<KeychainError> for ErrorReport {
    fn from(error: KeychainError) -> Self {
        let (code, hint) = match error {
            KeychainError::Unavailable if cfg!(target_os = "macos") => {
                ("keychain_unavailable", "Unlock the login keychain in Keychain Access and try again.")
            }
            KeychainError::Unavailable => (
                "keychain_unavailable",
                "Start a Secret Service, such as GNOME Keyring or KWallet, and try again.",
            ),
            KeychainError::NotAToken => {
                ("not_a_token", "Copy it from your Hugging Face settings; it begins with hf_.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// The system's keychain.
#[derive(Debug)]
pub(super) struct Keychain;

impl Keychain {
    fn entry() -> Result<keyring::Entry, KeychainError> {
        match keyring::Entry::store_status() {
            Ok(()) => keyring::Entry::new(SERVICE, ACCOUNT).map_err(|error| unavailable(&error)),
            Err(error) => Err(unavailable(error)),
        }
    }
}

impl SecretStore for Keychain {
    fn read(&self) -> Result<Option<String>, KeychainError> {
        match Self::entry()?.get_password() {
            Ok(secret) => Ok(Some(secret)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(unavailable(&error)),
        }
    }

    fn write(&self, secret: &str) -> Result<(), KeychainError> {
        Self::entry()?.set_password(secret).map_err(|error| unavailable(&error))
    }

    fn remove(&self) -> Result<(), KeychainError> {
        match Self::entry()?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

/// Logs what went wrong, without what some errors carry of the secret.
fn unavailable(error: &keyring::Error) -> KeychainError {
    use keyring::Error;
    match error {
        Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => {
            tracing::info!("the keychain: {cause}")
        }
        Error::BadEncoding(_) | Error::BadDataFormat(..) => tracing::info!("the keychain holds no token"),
        _ => tracing::info!("there is no keychain"),
    }
    KeychainError::Unavailable
}

/// The token as requests to the Hub find it: read once, then changed together with its store.
#[derive(Debug)]
pub(super) struct HubToken {
    store: Box<dyn SecretStore>,
    token: Mutex<Option<Token>>,
}

impl HubToken {
    pub(super) fn new(store: Box<dyn SecretStore>) -> Self {
        Self { store, token: Mutex::new(None) }
    }

    /// Reads the token from its store. Blocks, as [`HubToken::set`] does.
    pub(super) fn load(&self) {
        // Why it cannot be read is in the log already.
        if let Ok(secret) = self.store.read() {
            *self.lock() = secret.as_deref().and_then(Token::new);
        }
    }

    /// Keeps a token, or removes it.
    pub(super) fn set(&self, text: Option<&str>) -> Result<(), KeychainError> {
        let token = match text {
            Some(text) => {
                let token = Token::new(text).ok_or(KeychainError::NotAToken)?;
                self.store.write(text.trim())?;
                Some(token)
            }
            None => {
                self.store.remove()?;
                None
            }
        };
        *self.lock() = token;
        Ok(())
    }

    /// Whether there is a token.
    pub(super) fn is_set(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Token>> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenSource for HubToken {
    fn token(&self) -> Option<Token> {
        self.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A store in a file, which tests can look into and break.
    #[derive(Debug)]
    struct InFile(PathBuf);

    impl SecretStore for InFile {
        fn read(&self) -> Result<Option<String>, KeychainError> {
            Ok(fs::read_to_string(&self.0).ok())
        }

        fn write(&self, secret: &str) -> Result<(), KeychainError> {
            fs::write(&self.0, secret).map_err(|_| KeychainError::Unavailable)
        }

        fn remove(&self) -> Result<(), KeychainError> {
            let _ = fs::remove_file(&self.0);
            Ok(())
        }
    }

    #[test]
    fn a_token_is_kept_used_and_removed_and_shown_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let token = HubToken::new(Box::new(InFile(file.clone())));
        token.load();
        assert!(!token.is_set());
        token.set(Some(" hf_abc\n")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "hf_abc");
        assert!(token.token().is_some());
        assert!(!format!("{token:?}").contains("hf_abc"));

        let again = HubToken::new(Box::new(InFile(file.clone())));
        again.load();
        assert!(again.is_set());
        again.set(None).unwrap();
        assert!(!again.is_set());
        assert!(!file.exists());
    }

    #[test]
    fn what_cannot_be_kept_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let token = HubToken::new(Box::new(InFile(folder.path().join("no/such/folder"))));
        assert!(token.set(Some("hf_abc")).is_err());
        assert!(!token.is_set());
        let refused = ErrorReport::from(token.set(Some("hf\u{0}abc")).unwrap_err());
        assert_eq!(refused.code, "not_a_token");
        assert!(!refused.to_string().contains("abc"), "{refused}");
    }

    /// Runs in the session that the test below makes.
    #[test]
    #[ignore = "writes to the keychain of whoever runs it"]
    fn round_trip() {
        let token = HubToken::new(Box::new(Keychain));
        token.load();
        assert!(!token.is_set());
        token.set(Some("hf_first")).unwrap();
        token.set(Some("hf_second")).unwrap();
        assert_eq!(Keychain.read().unwrap().as_deref(), Some("hf_second"));
        let again = HubToken::new(Box::new(Keychain));
        again.load();
        assert!(again.is_set());
        again.set(None).unwrap();
        again.set(None).unwrap();
        assert_eq!(Keychain.read().unwrap(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_token_is_kept_in_a_real_keychain() {
        use std::os::unix::fs::DirBuilderExt;
        use std::process::Command;

        const DAEMON: &str = "gnome-keyring-daemon";
        if Command::new(DAEMON).arg("--version").output().is_err() {
            eprintln!(
                "SKIPPED: there is no {DAEMON} (Debian package gnome-keyring), so no real keychain was used"
            );
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let sockets = home.path().join("run");
        fs::DirBuilder::new().mode(0o700).create(&sockets).unwrap();
        // The daemon ends with the session's bus. Tests are named without their crate.
        let (_, module) = module_path!().split_once("::").unwrap();
        let script = format!(
            "printf secret | {DAEMON} --unlock --components=secrets >/dev/null && \
             exec \"$0\" --exact --ignored {module}::round_trip"
        );
        let output = Command::new("dbus-run-session")
            .args(["--", "sh", "-c", &script])
            .arg(std::env::current_exe().unwrap())
            .env_remove("DISPLAY")
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", &sockets)
            .env("XDG_DATA_HOME", home.path().join("data"))
            .output()
            .expect("dbus-run-session is installed (Debian package dbus)");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("1 passed"), "{told}\n{output:?}");
    }
}
