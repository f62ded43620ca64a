//! Signing in to servers that are reached by HTTP: the person sees where, signs in with their browser, and what the
//! server grants is kept in the keychain.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use foretoken_protocol::ErrorReport;
use foretoken_tools::configuration::{Secret, Transport};
use foretoken_tools::{Access, SignIn, SignInError, TokenStore};
use futures_util::future::BoxFuture;
use tauri::WebviewWindow;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::consent::Question;
use super::entry::{self, Listed};
use super::error::ToolboxError;
use super::secrets::{Secrets, Values};
use super::{Toolbox, begun};
use crate::blocking::blocking;
use crate::language::Texts;

/// How long a person may take in their browser.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// What was granted is called so among the secrets.
const GRANTED: &str = "granted";

/// What a server has granted.
#[derive(Debug)]
struct Granted {
    secrets: Arc<Secrets>,
    /// Where it is among the secrets: no server has such a slug.
    place: String,
}

impl Granted {
    async fn keep(&self, tokens: Option<Secret>) -> Result<(), ErrorReport> {
        let values: Values = tokens.map(|tokens| (GRANTED.to_owned(), tokens)).into_iter().collect();
        let (secrets, kept) = (Arc::clone(&self.secrets), BTreeMap::from([(self.place.clone(), values)]));
        Ok(blocking(move || secrets.keep(&kept)).await?)
    }
}

impl TokenStore for Granted {
    fn load(&self) -> BoxFuture<'_, Result<Option<Secret>, String>> {
        let (secrets, place) = (Arc::clone(&self.secrets), self.place.clone());
        Box::pin(async {
            let values = blocking(move || secrets.values(&place, &[GRANTED.to_owned()])).await;
            values.map(|mut values| values.remove(GRANTED)).map_err(|error| error.to_string())
        })
    }

    fn save(&self, tokens: Option<Secret>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { self.keep(tokens).await.map_err(|error| error.message) })
    }
}

impl Toolbox {
    /// Signs the person in to a server that is on. They are shown in a dialog of the system where, before their browser
    /// is, which `browse` has open an address. Returns whether they are signed in: they may not want to, or give up.
    pub(crate) async fn sign_in<Browsing: Future<Output = Result<(), ErrorReport>>>(
        &self,
        window: &WebviewWindow,
        texts: &Texts,
        slug: String,
        browse: impl FnOnce(String) -> Browsing,
    ) -> Result<bool, ErrorReport> {
        let page = |name| {
            format!(
                "<!doctype html><html lang=\"{}\"><meta charset=\"utf-8\"><title>Foretoken</title>\
                 <body style=\"font: 18px system-ui; margin: 25vh auto; text-align: center\">{}",
                texts.say("tool-sign-in.lang"),
                texts.say(name)
            )
        };
        let pages = [page("tool-sign-in.done"), page("tool-sign-in.not-done")];
        let open = async |name: String, [address, tokens]: [String; 2]| {
            // One dialog at a time: of several nobody reads any.
            let Ok(_asking) = self.asking.try_lock() else { return Ok(false) };
            if !Question::of_sign_in(name, &address, &tokens).ask(window.clone(), texts).await {
                return Ok(false);
            }
            browse(address).await.map(|()| true)
        };
        self.sign_in_by(&slug, pages, open).await
    }

    /// The same, where `open` shows the person the server's name, the address and where tokens are asked for, and opens
    /// the address if they want that.
    pub(super) async fn sign_in_by<Opening: Future<Output = Result<bool, ErrorReport>>>(
        &self,
        slug: &str,
        pages: [String; 2],
        open: impl FnOnce(String, [String; 2]) -> Opening,
    ) -> Result<bool, ErrorReport> {
        let (give_up, mut given_up) = oneshot::channel();
        // One that is under way gives way to this one.
        self.signing_in().insert(slug.to_owned(), give_up);
        self.publish().await;
        let signed_in = tokio::select! {
            biased;
            _ = &mut given_up => Ok(false),
            signed_in = self.granted(slug, pages, open) => signed_in,
        };
        if matches!(given_up.try_recv(), Err(oneshot::error::TryRecvError::Empty)) {
            self.signing_in().remove(slug);
        }
        self.publish().await;
        if signed_in? {
            self.start(slug.to_owned()).await?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Gives up signing in to a server.
    pub(crate) fn give_up_sign_in(&self, slug: &str) {
        if let Some(give_up) = self.signing_in().remove(slug) {
            // It may be over by now.
            let _ = give_up.send(());
        }
    }

    /// Gives up all that are under way.
    pub(super) fn give_up_sign_ins(&self) {
        self.signing_in().clear();
    }

    /// Whether the person is signing in to a server.
    pub(super) fn is_signing_in(&self, slug: &str) -> bool {
        self.signing_in().contains_key(slug)
    }

    /// Signs the person out of a server, which is stopped.
    pub(crate) async fn sign_out(&self, slug: String) -> Result<(), ErrorReport> {
        let signed_out = self.signed_out(&slug).await;
        self.publish().await;
        Ok(signed_out?)
    }

    async fn signed_out(&self, slug: &str) -> Result<(), ToolboxError> {
        let mut changing = self.changing().await;
        let listed = entry::find(&self.store, slug).await?;
        entry::put(&self.store, &Listed { signed_in: false, ..listed }).await?;
        *changing += 1;
        // What is being refreshed is given up before it is kept.
        self.servers.stop(slug).await;
        self.give_up_tokens(slug).await?;
        Ok(())
    }

    /// Keeps nothing any more that a server has granted.
    pub(super) async fn give_up_tokens(&self, slug: &str) -> Result<(), ErrorReport> {
        self.tokens(slug).keep(None).await
    }

    /// What authorizes requests to a server that the person has signed in to.
    pub(super) async fn access(
        &self,
        listed: &Listed,
        address: &str,
    ) -> Result<Option<Access>, ToolboxError> {
        if !listed.signed_in {
            return Ok(None);
        }
        let proxy = self.settings.current().hub.proxy;
        let client = self.surroundings.sign_in_client(address, &proxy).await?;
        Ok(Some(Access { client, tokens: Arc::new(self.tokens(&listed.entry.slug)) }))
    }

    /// Has a server grant access, and keeps that. The server is stopped then: it is to know who asks.
    async fn granted<Opening: Future<Output = Result<bool, ErrorReport>>>(
        &self,
        slug: &str,
        pages: [String; 2],
        open: impl FnOnce(String, [String; 2]) -> Opening,
    ) -> Result<bool, ToolboxError> {
        let (ready, changing) = self.agreed(slug).await?;
        drop(changing);
        let name = ready.listed.entry.name.clone();
        let failed = |error| ToolboxError::SignIn { name: name.clone(), error };
        let Transport::Http { address, .. } = &ready.listed.entry.transport else {
            return Err(failed(SignInError::NotOffered { detail: "it is a program".into() }));
        };
        let proxy = self.settings.current().hub.proxy;
        let client = self.surroundings.sign_in_client(address, &proxy).await?;
        let sign_in = SignIn::begin(address, client).await.map_err(failed)?;
        if !open(name.clone(), [sign_in.address(), sign_in.token_address()].map(str::to_owned)).await? {
            return Ok(false);
        }
        let minutes = PATIENCE.as_secs() / 60;
        let late = || SignInError::Failed { detail: format!("nobody came back within {minutes} min") };
        let granted = timeout(PATIENCE, sign_in.finish(pages)).await.unwrap_or_else(|_| Err(late()));
        let granted = granted.map_err(failed)?;

        let mut changing = self.changing().await;
        // It may have been changed while the person signed in to what it was.
        let listed = self.unchanged(ready.listed).await?;
        if !listed.is_on() {
            return Err(ToolboxError::Off { name });
        }
        // Whoever is said to be signed in without tokens is asked to sign in; tokens of nobody would stay.
        entry::put(&self.store, &Listed { signed_in: true, ..listed }).await?;
        self.tokens(slug).keep(Some(granted)).await?;
        *changing += 1;
        let stopping = begun(self.servers.stop(slug));
        drop(changing);
        stopping.await;
        Ok(true)
    }

    fn tokens(&self, slug: &str) -> Granted {
        Granted { secrets: Arc::clone(&self.secrets), place: format!("{slug} (signed in)") }
    }

    fn signing_in(&self) -> MutexGuard<'_, BTreeMap<String, oneshot::Sender<()>>> {
        self.signing_in.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
