//! The token for the Hub. It is kept in the system's keychain and goes nowhere but to the Hub.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foretoken_models::{Token, TokenSource};
use foretoken_protocol::ErrorReport;
use thiserror::Error;

use crate::keychain::{KeychainError, SecretStore};
use crate::settings::SettingsFile;

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

/// The token as requests to the Hub find it. The settings say whether one is kept: the keychain, which may ask the
/// person for a password, is read when the Hub is first asked, and never where there is nothing in it.
#[derive(Debug)]
pub(super) struct HubToken {
    store: Box<dyn SecretStore>,
    settings: Arc<SettingsFile>,
    /// What the store holds, once it was read.
    read: Mutex<Option<Option<Token>>>,
}

impl HubToken {
    pub(super) fn new(store: Box<dyn SecretStore>, settings: Arc<SettingsFile>) -> Self {
        Self { store, settings, read: Mutex::new(None) }
    }

    /// Keeps a token, or removes it. Blocks.
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
        let is_kept = token.is_some();
        *self.lock() = Some(token);
        self.note(is_kept);
        Ok(())
    }

    /// Whether there is a token.
    pub(super) fn is_set(&self) -> bool {
        self.settings.current().has_hub_token
    }

    /// What cannot be read is as none until the next start, so that nobody is asked for a password again and again.
    fn read(&self) -> Option<Token> {
        // Why it cannot be read is in the log already.
        let secret = self.store.read().ok()?;
        let token = secret.as_deref().and_then(Token::new);
        if token.is_none() {
            // Somebody has removed it from the keychain.
            self.note(false);
        }
        token
    }

    fn note(&self, is_kept: bool) {
        // It is written by whoever writes the settings, and kept for the session otherwise.
        drop(self.settings.update(|settings| settings.has_hub_token = is_kept));
    }

    fn lock(&self) -> MutexGuard<'_, Option<Option<Token>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenSource for HubToken {
    fn token(&self) -> Option<Token> {
        if !self.is_set() {
            return None;
        }
        // Whoever asks meanwhile waits for the one answer.
        self.lock().get_or_insert_with(|| self.read()).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::keychain::HUB_TOKEN;

    /// A store in a file, which tests can look into and break, and which counts who reads it.
    #[derive(Debug)]
    struct InFile(PathBuf, Arc<AtomicUsize>);

    impl SecretStore for InFile {
        fn read(&self) -> Result<Option<String>, KeychainError> {
            self.1.fetch_add(1, Ordering::Relaxed);
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

    /// The token of an app that was just started, and how often its store was read.
    fn start(folder: &Path) -> (HubToken, Arc<AtomicUsize>) {
        let reads = Arc::<AtomicUsize>::default();
        let store = Box::new(InFile(folder.join("secret"), Arc::clone(&reads)));
        let settings = Arc::new(SettingsFile::open(folder.join("settings.json")).unwrap());
        (HubToken::new(store, settings), reads)
    }

    /// Whoever opens the next app finds what this one has written.
    fn end(token: HubToken) {
        token.settings.flush().wait().unwrap();
    }

    #[test]
    fn a_token_is_kept_used_and_removed_and_shown_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let (token, _) = start(folder.path());
        assert!(!token.is_set());
        token.set(Some(" hf_abc\n")).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("secret")).unwrap(), "hf_abc");
        assert!(token.token().is_some());
        assert!(!format!("{token:?}").contains("hf_abc"));
        end(token);

        let (again, _) = start(folder.path());
        assert!(again.is_set());
        assert!(again.token().is_some());
        again.set(None).unwrap();
        assert!(!again.is_set());
        assert!(again.token().is_none());
        assert!(!folder.path().join("secret").exists());
    }

    #[test]
    fn the_keychain_is_read_once_when_the_hub_is_first_asked_and_never_without_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let (token, reads) = start(folder.path());
        assert!(token.token().is_none());
        assert_eq!(reads.load(Ordering::Relaxed), 0, "nobody has kept a token");
        token.set(Some("hf_abc")).unwrap();
        end(token);

        let (again, reads) = start(folder.path());
        assert!(again.is_set());
        assert_eq!(reads.load(Ordering::Relaxed), 0, "the Hub was not asked yet");
        assert!(again.token().is_some());
        assert!(again.token().is_some());
        assert_eq!(reads.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_token_that_somebody_has_removed_from_the_keychain_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (token, _) = start(folder.path());
        token.set(Some("hf_abc")).unwrap();
        end(token);
        fs::remove_file(folder.path().join("secret")).unwrap();
        let (again, _) = start(folder.path());
        assert!(again.token().is_none());
        assert!(!again.is_set());
    }

    #[test]
    fn what_cannot_be_kept_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let (token, _) = start(folder.path());
        fs::create_dir(folder.path().join("secret")).unwrap();
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
        let folder = tempfile::tempdir().unwrap();
        let start = || {
            let settings = SettingsFile::open(folder.path().join("settings.json")).unwrap();
            HubToken::new(Box::new(HUB_TOKEN), Arc::new(settings))
        };
        let token = start();
        token.set(Some("hf_first")).unwrap();
        token.set(Some("hf_second")).unwrap();
        assert_eq!(HUB_TOKEN.read().unwrap().as_deref(), Some("hf_second"));
        end(token);
        let again = start();
        assert!(again.token().is_some());
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
