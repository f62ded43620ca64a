//! What of the person's machine servers need: their environment, where programs are, and who sends requests.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use foretoken_tools::environment::{SHELL_TIME, login_path, resolve, with_usual_folders};
use foretoken_tools::{ServerError, SignInClient, http, sign_in_client};
use reqwest::{Client, Url};
use tokio::sync::OnceCell;

use super::error::ToolboxError;
use crate::blocking::blocking;

/// The person's machine, as servers see it.
pub(super) struct Surroundings {
    /// The environment of this app, of which servers get little.
    pub(super) person: BTreeMap<String, String>,
    /// Where programs are, once the person's shell was asked.
    path: OnceCell<OsString>,
    /// What sends requests, by the proxy that it goes by.
    clients: Arc<Mutex<BTreeMap<Option<String>, Client>>>,
    /// What signs in, by the server's address and the proxy.
    sign_in_clients: Mutex<BTreeMap<(String, Option<String>), SignInClient>>,
}

impl Surroundings {
    /// Those of whoever has started this app.
    pub(super) fn of_this_person() -> Self {
        let readable =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Self::of(std::env::vars_os().filter_map(readable).collect())
    }

    /// Those of somebody with this environment.
    pub(super) fn of(person: BTreeMap<String, String>) -> Self {
        Self { person, path: OnceCell::new(), clients: Arc::default(), sign_in_clients: Mutex::default() }
    }

    /// The home folder.
    pub(super) fn home(&self) -> Option<&Path> {
        self.person.get("HOME").map(Path::new)
    }

    /// Where programs are. The person's login shell is asked once; where it does not tell, this is as the app has it.
    pub(super) async fn path(&self) -> &OsStr {
        let ask = || async {
            let told = match self.person.get("SHELL") {
                Some(shell) => login_path(Path::new(shell), &self.person, SHELL_TIME).await,
                None => None,
            };
            told.unwrap_or_else(|| self.own_path())
        };
        self.path.get_or_init(ask).await
    }

    /// The same as far as it is known, without asking.
    pub(super) fn known_path(&self) -> OsString {
        self.path.get().cloned().unwrap_or_else(|| self.own_path())
    }

    fn own_path(&self) -> OsString {
        let path = self.person.get("PATH").map(String::as_str).unwrap_or_default();
        with_usual_folders(path.as_ref(), self.home())
    }

    /// The absolute path of the program that a command means, where programs are now.
    pub(super) async fn resolve(
        &self,
        command: &str,
        folder: Option<&Path>,
    ) -> Result<PathBuf, ToolboxError> {
        let (path, command) = (self.path().await.to_owned(), command.to_owned());
        let folder = folder.map(Path::to_owned);
        Ok(blocking(move || resolve(&command, &path, folder.as_deref())).await?)
    }

    /// What sends requests to an address, by this proxy.
    pub(super) async fn client(&self, address: &str, proxy: &str) -> Result<Client, ServerError> {
        let proxy = for_address(address, proxy);
        let clients = Arc::clone(&self.clients);
        // To read whom the system trusts takes a while.
        let made = blocking(move || {
            let mut clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(client) = clients.get(&proxy) {
                return Ok(client.clone());
            }
            let client = http::client(proxy.as_deref())?;
            clients.insert(proxy, client.clone());
            Ok(client)
        });
        made.await
    }

    /// What signs in to the server at an address, by this proxy.
    pub(super) async fn sign_in_client(
        &self,
        address: &str,
        proxy: &str,
    ) -> Result<SignInClient, ServerError> {
        let way = (address.to_owned(), for_address(address, proxy));
        let clients = || self.sign_in_clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients().get(&way) {
            return Ok(client.clone());
        }
        let client = sign_in_client(address, way.1.clone()).await?;
        clients().insert(way, client.clone());
        Ok(client)
    }
}

/// The proxy for an address. One without encryption is this machine's, which no proxy reaches.
fn for_address(address: &str, proxy: &str) -> Option<String> {
    let is_near = Url::parse(address).is_ok_and(|url| url.scheme() == "http");
    Some(proxy).filter(|proxy| !is_near && !proxy.is_empty()).map(str::to_owned)
}

impl fmt::Debug for Surroundings {
    /// The environment may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("path", &self.path.get()).finish_non_exhaustive()
    }
}
