//! The token for the Hub. It is kept in the system's keychain and goes nowhere but to the Hub.

use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_models::{Token, TokenSource};
use foretoken_protocol::ErrorReport;
use thiserror::Error;

use crate::keychain::{KeychainError, SecretStore};

/// Why a token is not kept.
#[derive(Debug, Error)]
pub(super) enum HubTokenError {
    /// The keychain does not keep it.
    #[error(transparent)]
    Keychain(#[from] KeychainError),
    /// The text cannot be a token.
    #[error("That text cannot be a Hugging Face token.")]
    NotAToken,
}

impl From<HubTokenError> for ErrorReport {
    fn from(error: HubTokenError) -> Self {
        match error {
            HubTokenError::Keychain(error) => error.into(),
            HubTokenError::NotAToken => Self {
                code: "not_a_token".into(),
                message: error.to_string(),
                hint: "Copy it from your Hugging Face settings; it begins with hf_.".into(),
            },
        }
    }
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
    pub(super) fn set(&self, text: Option<&str>) -> Result<(), HubTokenError> {
        let token = match text {
            Some(text) => {
                let token = Token::new(text).ok_or(HubTokenError::NotAToken)?;
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
    use crate::keychain::HUB_TOKEN;

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
        let token = HubToken::new(Box::new(HUB_TOKEN));
        token.load();
        assert!(!token.is_set());
        token.set(Some("hf_first")).unwrap();
        token.set(Some("hf_second")).unwrap();
        assert_eq!(HUB_TOKEN.read().unwrap().as_deref(), Some("hf_second"));
        let again = HubToken::new(Box::new(HUB_TOKEN));
        again.load();
        assert!(again.is_set());
        again.set(None).unwrap();
        again.set(None).unwrap();
        assert_eq!(HUB_TOKEN.read().unwrap(), None);
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
