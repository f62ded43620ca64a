//! Secrets that are kept in the system's keychain.

use std::fmt;

use foretoken_protocol::ErrorReport;
use thiserror::Error;

/// What the keychain lists secrets under.
const SERVICE: &str = "dev.foretoken.Foretoken";

/// The token for the Hub.
pub(crate) const HUB_TOKEN: Keychain = Keychain { account: "Hugging Face" };
/// The token that other programs send.
pub(crate) const API_TOKEN: Keychain = Keychain { account: "Local API" };
/// What servers of tools get as variables and headers.
pub(crate) const TOOL_SERVERS: Keychain = Keychain { account: "Tool servers" };
/// The private key by which other Macs know this one.
pub(crate) const MACS_KEY: Keychain = Keychain { account: "Other Macs" };
/// Everything that the app keeps there.
pub(crate) const KEYCHAIN: [Keychain; 4] = [HUB_TOKEN, API_TOKEN, TOOL_SERVERS, MACS_KEY];

/// Where one secret is kept.
pub(crate) trait SecretStore: Send + Sync + fmt::Debug {
    /// The secret, if there is one.
    fn read(&self) -> Result<Option<String>, KeychainError>;
    /// Keeps a secret in place of the one before.
    fn write(&self, secret: &str) -> Result<(), KeychainError>;
    /// Removes the secret, if there is one.
    fn remove(&self) -> Result<(), KeychainError>;
}

/// Why the keychain did not do what was asked.
#[derive(Debug, Error)]
pub(crate) enum KeychainError {
    /// There is none, or it is locked.
    #[error("The system's keychain cannot be used.")]
    Unavailable,
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
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// One secret in the system's keychain.
#[derive(Debug)]
pub(crate) struct Keychain {
    /// What the keychain calls it.
    account: &'static str,
}

impl Keychain {
    fn entry(&self) -> Result<keyring::Entry, KeychainError> {
        match keyring::Entry::store_status() {
            Ok(()) => keyring::Entry::new(SERVICE, self.account).map_err(|error| unavailable(&error)),
            Err(error) => Err(unavailable(error)),
        }
    }
}

impl SecretStore for Keychain {
    fn read(&self) -> Result<Option<String>, KeychainError> {
        match self.entry()?.get_password() {
            Ok(secret) => Ok(Some(secret)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(unavailable(&error)),
        }
    }

    fn write(&self, secret: &str) -> Result<(), KeychainError> {
        self.entry()?.set_password(secret).map_err(|error| unavailable(&error))
    }

    fn remove(&self) -> Result<(), KeychainError> {
        match self.entry()?.delete_credential() {
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
