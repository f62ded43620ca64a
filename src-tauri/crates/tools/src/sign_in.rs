//! Signing in to a server that is reached by HTTP: OAuth 2.1 as the MCP specification has it, with the person's
//! browser, PKCE, and a redirect to this machine (RFC 8252). What the server grants is kept by whoever has a keychain.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use futures_util::future::BoxFuture;
use reqwest::{Client, Url};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadataSource, AuthorizationRequest, AuthorizationSession,
    CredentialStore, InMemoryCredentialStore, OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture,
    OAuthHttpRequest, StoredCredentials,
};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::built_in::web::{Checking, Hosts, Resolver, SystemResolver, may_be_reached};
use crate::configuration::Secret;
use crate::error::{ServerError, short};
use crate::http;

/// What the app is called where it asks to be let in.
const CLIENT: &str = "Foretoken";
/// Where a browser comes back to.
const CALLBACK: &str = "/callback";
/// The longest answer that is read.
const LONGEST: usize = 1 << 20;
/// For an answer, where the protocol names no time.
const WAITING: Duration = Duration::from_secs(30);
/// For the last page to reach the browser.
const LEAVING: Duration = Duration::from_secs(2);

/// Why nobody was signed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// The server names no way, or none that a program can take by itself.
    #[error("The server offers no way to sign in with a browser: {detail}.")]
    NotOffered {
        /// What was missing.
        detail: String,
    },
    /// The browser would be sent somewhere else than to the web.
    #[error("The server wants the sign-in at {address}, which is no address of the web.")]
    Address {
        /// Where it would be sent.
        address: String,
    },
    /// No browser can come back.
    #[error("The browser cannot come back to the app: {detail}.")]
    Port {
        /// Why not.
        detail: String,
    },
    /// The server, or the person in the browser, has refused.
    #[error("Signing in did not succeed: {detail}.")]
    Failed {
        /// What was told.
        detail: String,
    },
}

/// Keeps what a server has granted: an access token, and mostly one to refresh it.
pub trait TokenStore: Send + Sync + fmt::Debug {
    /// What is kept; `None` where there is nothing.
    fn load(&self) -> BoxFuture<'_, Result<Option<Secret>, String>>;
    /// Keeps this in place of what was kept; `None` gives it up.
    fn save(&self, tokens: Option<Secret>) -> BoxFuture<'_, Result<(), String>>;
}

/// How requests to a server are authorized.
#[derive(Clone)]
pub struct Access {
    /// What asks for tokens: [`sign_in_client`].
    pub client: Client,
    /// Has the tokens.
    pub tokens: Arc<dyn TokenStore>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

impl Access {
    /// What puts tokens into the requests to the server at `address`, and refreshes them.
    pub(crate) async fn manager(&self, address: &str) -> Result<AuthorizationManager, ServerError> {
        let failed = |error: AuthError| ServerError::NotUnderstood { detail: short(&error.to_string()) };
        let mut manager = manager(address, self.client.clone()).await.map_err(failed)?;
        manager.set_credential_store(Kept(Arc::clone(&self.tokens)));
        // Without tokens the server says that it wants a sign-in.
        manager.initialize_from_store().await.map_err(failed)?;
        Ok(manager)
    }
}

/// A client, as [`http::client`](crate::http::client) makes them, for signing in to the server at `address`. What such
/// a server names is asked for tokens: where it is in the world, nothing of the person's own network is.
///
/// # Errors
///
/// [`ServerError::NoClient`].
pub async fn sign_in_client(address: &str, proxy: Option<String>) -> Result<Client, ServerError> {
    let host = Url::parse(address).ok().and_then(|url| Some(url.host_str()?.to_owned())).unwrap_or_default();
    let found = SystemResolver.addresses(host.trim_matches(['[', ']'])).await.unwrap_or_default();
    // One that only a proxy finds is in the world.
    let is_near = !found.iter().all(|address| may_be_reached(*address));
    let hosts = if is_near { Hosts::Any } else { Hosts::Public };
    let checking = Checking::new(Arc::new(SystemResolver), hosts);
    // To read whom the system trusts takes a while.
    let made = tokio::task::spawn_blocking(move || {
        let builder = http::builder(proxy.as_deref())?.dns_resolver(Arc::new(checking));
        builder.build().map_err(|error| http::unusable(&error))
    });
    made.await.unwrap_or_else(|error| Err(http::unusable(&error)))
}

/// Someone who is signing in.
pub struct SignIn {
    session: AuthorizationSession,
    /// Has what is granted, until somebody keeps it.
    granted: InMemoryCredentialStore,
    address: Url,
    listener: TcpListener,
}

impl fmt::Debug for SignIn {
    /// The address has what tells this sign-in from others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("host", &self.address.host_str()).finish_non_exhaustive()
    }
}

impl SignIn {
    /// Finds out how one signs in to the server at `server`, and makes the app known there.
    ///
    /// # Errors
    ///
    /// [`SignInError`].
    pub async fn begin(server: &str, client: Client) -> Result<Self, SignInError> {
        let port = |error: std::io::Error| SignInError::Port { detail: error.to_string() };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(port)?;
        let back = format!("http://{}{CALLBACK}", listener.local_addr().map_err(port)?);

        let mut manager = manager(server, client).await.map_err(failed)?;
        let found = manager.resolve_metadata().await.map_err(failed)?;
        let is_guessed = found.source == AuthorizationMetadataSource::LegacyEndpointFallback;
        manager.set_metadata(found.metadata);
        let granted = InMemoryCredentialStore::new();
        manager.set_credential_store(granted.clone());
        let request = AuthorizationRequest::new(back).with_client_name(CLIENT).with_initial_scope_selection();
        let session =
            AuthorizationSession::new(manager, request).await.map_err(|(_, error)| match error {
                // Whoever signs in at such a server has been given an id for it, which nobody can ask for.
                AuthError::RegistrationFailed(detail) if is_guessed || detail.contains("not supported") => {
                    SignInError::NotOffered { detail: short(&detail) }
                }
                error => failed(error),
            })?;
        let told = session.get_authorization_url();
        let is_web = |url: &Url| url.scheme() == "https" || (url.scheme() == "http" && is_here(url));
        match Url::parse(told).ok().filter(is_web) {
            Some(address) => Ok(Self { session, granted, address, listener }),
            None => Err(SignInError::Address { address: short(told) }),
        }
    }

    /// What the browser is to open.
    pub fn address(&self) -> &str {
        self.address.as_str()
    }

    /// Waits for the browser to come back, however long that takes, and returns what was granted. The browser shows
    /// one of `pages` then, texts of HTML: the first where that succeeded.
    ///
    /// # Errors
    ///
    /// [`SignInError`].
    pub async fn finish(self, pages: [String; 2]) -> Result<Secret, SignInError> {
        let Self { session, granted, address, listener } = self;
        let state = address.query_pairs().find(|(name, _)| name == "state");
        let state = state.map(|(_, state)| state.into_owned()).unwrap_or_default();
        let (sender, mut back) = mpsc::channel(1);
        let router = Router::new().route(CALLBACK, get(came_back)).with_state(Waiting { state, sender });
        let (over, is_over) = oneshot::channel::<()>();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async {
            let _ = is_over.await;
        });
        let mut serving = tokio::spawn(serving.into_future());

        let came: Option<Came> = tokio::select! {
            came = back.recv() => came,
            _ = &mut serving => None,
        };
        let Some(Came { query, shown }) = came else {
            return Err(SignInError::Port { detail: "nothing listens any more".into() });
        };
        let ended = exchanged(&session, &granted, &query).await;
        let [done, not_done] = pages;
        let _ = shown.send(if ended.is_ok() { done } else { not_done });
        let _ = over.send(());
        if timeout(LEAVING, &mut serving).await.is_err() {
            serving.abort();
        }
        ended
    }
}

/// A browser that has come back.
struct Came {
    /// With what.
    query: String,
    /// Is told which page it shows.
    shown: oneshot::Sender<String>,
}

/// What waits for it.
#[derive(Clone)]
struct Waiting {
    /// Tells the browser that was sent from whoever else asks.
    state: String,
    sender: mpsc::Sender<Came>,
}

async fn came_back(State(waiting): State<Waiting>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    if waiting.state.is_empty() || asked(&query, "state").as_ref() != Some(&waiting.state) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let (shown, page) = oneshot::channel();
    if waiting.sender.send(Came { query, shown }).await.is_err() {
        return StatusCode::GONE.into_response();
    }
    page.await.map_or_else(|_| StatusCode::GONE.into_response(), |page| Html(page).into_response())
}

/// What a query says of a name.
fn asked(query: &str, name: &str) -> Option<String> {
    let url = Url::parse(&format!("http://127.0.0.1{CALLBACK}?{query}")).ok()?;
    url.query_pairs().find(|(of, _)| of == name).map(|(_, value)| value.into_owned())
}

/// What is granted for what a browser has come back with.
async fn exchanged(
    session: &AuthorizationSession,
    granted: &InMemoryCredentialStore,
    query: &str,
) -> Result<Secret, SignInError> {
    if let Some(error) = asked(query, "error") {
        let words = asked(query, "error_description").unwrap_or(error);
        return Err(SignInError::Failed { detail: short(&words) });
    }
    session.handle_callback_url(&format!("{}?{query}", session.redirect_uri)).await.map_err(failed)?;
    let nothing = || SignInError::Failed { detail: "nothing was granted".into() };
    let granted = granted.load().await.map_err(failed)?.ok_or_else(nothing)?;
    serde_json::to_string(&granted).map(Secret::new).map_err(|_| nothing())
}

async fn manager(server: &str, client: Client) -> Result<AuthorizationManager, AuthError> {
    AuthorizationManager::new_with_oauth_http_client(server, Arc::new(Requests(client))).await
}

/// Whether an address is this machine's.
fn is_here(url: &Url) -> bool {
    matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"))
}

fn failed(error: AuthError) -> SignInError {
    match error {
        AuthError::NoAuthorizationSupport => SignInError::NotOffered { detail: "it names none".into() },
        error => SignInError::Failed { detail: short(&error.to_string()) },
    }
}

/// Sends what the protocol asks, and follows no redirect: a token goes to where it was meant for.
struct Requests(Client);

impl OAuthHttpClient for Requests {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let within = request.timeout.unwrap_or(WAITING);
            let answer = async {
                let mut response = self.0.execute(reqwest::Request::try_from(request.request)?).await?;
                let mut answer = axum::http::Response::builder().status(response.status());
                for (name, value) in response.headers() {
                    answer = answer.header(name, value);
                }
                let mut body = Vec::new();
                while let Some(chunk) = response.chunk().await? {
                    if body.len() + chunk.len() > LONGEST {
                        return Err(OAuthHttpClientError::from("the answer is too long"));
                    }
                    body.extend_from_slice(&chunk);
                }
                Ok(answer.body(body)?)
            };
            timeout(within, answer).await?
        })
    }
}

/// The tokens as the protocol's library wants them.
struct Kept(Arc<dyn TokenStore>);

#[async_trait]
impl CredentialStore for Kept {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let kept = self.0.load().await.map_err(AuthError::CredentialStoreError)?;
        // What somebody else has made of it lets nobody in.
        Ok(kept.and_then(|tokens| serde_json::from_str(tokens.reveal()).ok()))
    }

    async fn save(&self, tokens: StoredCredentials) -> Result<(), AuthError> {
        let tokens = serde_json::to_string(&tokens)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        self.0.save(Some(Secret::new(tokens))).await.map_err(AuthError::CredentialStoreError)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.0.save(None).await.map_err(AuthError::CredentialStoreError)
    }
}
