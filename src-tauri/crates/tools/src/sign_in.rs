//! Signing in to a server that is reached by HTTP: OAuth 2.1 as the MCP specification has it, with the person's
//! browser, PKCE, and a redirect to this machine (RFC 8252). What the server grants is kept by whoever has a keychain.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
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
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
    AuthorizationRequest, AuthorizationSession, CredentialStore, InMemoryCredentialStore, OAuthHttpClient,
    OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::built_in::web::{Resolver, SystemResolver, may_be_reached};
use crate::configuration::Secret;
use crate::error::{ServerError, short};
use crate::http;

/// What the app is called where it asks to be let in.
const CLIENT: &str = "Foretoken";
/// Where a browser comes back to.
const CALLBACK: &str = "/callback";
/// The longest answer that is read.
const LONGEST: usize = 1 << 20;
/// The longest grant that is kept.
const LONGEST_GRANT: usize = 64 << 10;
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

/// What is kept of a sign-in.
#[derive(Serialize, Deserialize)]
struct Granted {
    authorization_endpoint: String,
    /// Where tokens are refreshed: nowhere else than where they were granted.
    token_endpoint: String,
    issuer: Option<String>,
    credentials: StoredCredentials,
}

impl Granted {
    /// What somebody else has made of it lets nobody in.
    fn of(kept: &Secret) -> Option<Self> {
        serde_json::from_str(kept.reveal()).ok()
    }

    fn secret(&self) -> Result<Secret, AuthError> {
        let told =
            serde_json::to_string(self).map_err(|error| AuthError::InternalError(error.to_string()))?;
        match told.len() {
            // All servers' secrets are in one entry of the keychain.
            ..=LONGEST_GRANT => Ok(Secret::new(told)),
            _ => Err(AuthError::InternalError("what was granted is too long".into())),
        }
    }

    /// Of a server that does not tell now.
    fn metadata(&self) -> AuthorizationMetadata {
        let mut metadata = AuthorizationMetadata::default();
        metadata.authorization_endpoint.clone_from(&self.authorization_endpoint);
        metadata.token_endpoint.clone_from(&self.token_endpoint);
        metadata.issuer.clone_from(&self.issuer);
        metadata
    }
}

/// How requests to a server are authorized.
#[derive(Clone)]
pub struct Access {
    /// What asks for tokens.
    pub client: SignInClient,
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
        let kept = self.tokens.load().await.map_err(AuthError::CredentialStoreError).map_err(failed)?;
        // Without tokens the server says that it wants a sign-in.
        let Some(granted) = kept.as_ref().and_then(Granted::of) else { return Ok(manager) };
        match manager.resolve_metadata().await.map(|found| found.metadata) {
            Ok(now) if now.token_endpoint == granted.token_endpoint && now.issuer == granted.issuer => {
                manager.set_metadata(now);
            }
            // A server that names another place gets the person's tokens there only from the person.
            Ok(_) => return Err(ServerError::SignInNeeded),
            Err(_) => manager.set_metadata(granted.metadata()),
        }
        manager.initialize_from_store().await.map_err(failed)?;
        Ok(manager)
    }
}

/// What asks for tokens. It follows no redirect: a token goes to where it was meant for.
#[derive(Debug, Clone)]
pub struct SignInClient {
    client: Client,
    /// Whether the server is in the person's own network, and may name what is there.
    is_near: bool,
}

/// For signing in to the server at `address`, by a proxy where there is one.
///
/// # Errors
///
/// [`ServerError::NoClient`].
pub async fn sign_in_client(address: &str, proxy: Option<String>) -> Result<SignInClient, ServerError> {
    let host = Url::parse(address).ok().and_then(|url| Some(url.host_str()?.to_owned())).unwrap_or_default();
    let found = found(&host).await;
    // One that only a proxy finds is in the world.
    let is_near = !found.is_empty() && !found.iter().any(|address| may_be_reached(*address));
    // To read whom the system trusts takes a while.
    let made = tokio::task::spawn_blocking(move || http::client(proxy.as_deref()));
    let client = made.await.unwrap_or_else(|error| Err(http::unusable(&error)))?;
    Ok(SignInClient { client, is_near })
}

/// The addresses of a host, which may be one; none where nobody tells.
async fn found(host: &str) -> Vec<IpAddr> {
    SystemResolver.addresses(host.trim_matches(['[', ']'])).await.unwrap_or_default()
}

impl SignInClient {
    /// Whether anything may be sent to an address that a server names: encrypted, and into the person's own network
    /// only where that server is there. By a proxy, or by one who answers otherwise a moment later, it may be
    /// elsewhere.
    async fn may_reach(&self, address: &Url) -> bool {
        let host = address.host_str().unwrap_or_default();
        let is_encrypted = address.scheme() == "https" || (address.scheme() == "http" && is_here(address));
        is_encrypted && (self.is_near || found(host).await.iter().all(|address| may_be_reached(*address)))
    }
}

/// Someone who is signing in.
pub struct SignIn {
    session: AuthorizationSession,
    /// Has what is granted, until somebody keeps it.
    granted: InMemoryCredentialStore,
    /// Where tokens are asked for, and who grants them.
    metadata: AuthorizationMetadata,
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
    pub async fn begin(server: &str, client: SignInClient) -> Result<Self, SignInError> {
        let port = |error: std::io::Error| SignInError::Port { detail: error.to_string() };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(port)?;
        let back = format!("http://{}{CALLBACK}", listener.local_addr().map_err(port)?);

        let mut manager = manager(server, client).await.map_err(failed)?;
        let found = manager.resolve_metadata().await.map_err(failed)?;
        let metadata = found.metadata;
        let is_told = found.source != AuthorizationMetadataSource::LegacyEndpointFallback;
        let may_register = is_told && metadata.registration_endpoint.is_some();
        manager.set_metadata(metadata.clone());
        let granted = InMemoryCredentialStore::new();
        manager.set_credential_store(granted.clone());
        let request = AuthorizationRequest::new(back).with_client_name(CLIENT).with_initial_scope_selection();
        let session =
            AuthorizationSession::new(manager, request).await.map_err(|(_, error)| match error {
                // Whoever signs in at such a server has been given an id for it, which nobody can ask for.
                AuthError::RegistrationFailed(detail) if !may_register => {
                    SignInError::NotOffered { detail: short(&detail) }
                }
                error => failed(error),
            })?;
        let told = session.get_authorization_url();
        let is_web = |url: &Url| url.scheme() == "https" || (url.scheme() == "http" && is_here(url));
        match Url::parse(told).ok().filter(is_web) {
            Some(address) => Ok(Self { session, granted, metadata, address, listener }),
            None => Err(SignInError::Address { address: short(told) }),
        }
    }

    /// What the browser is to open.
    pub fn address(&self) -> &str {
        self.address.as_str()
    }

    /// Where what the browser comes back with is exchanged for tokens.
    pub fn token_address(&self) -> &str {
        &self.metadata.token_endpoint
    }

    /// Waits for the browser to come back, however long that takes, and returns what was granted. The browser shows
    /// one of `pages` then, texts of HTML: the first where that succeeded.
    ///
    /// # Errors
    ///
    /// [`SignInError`].
    pub async fn finish(self, pages: [String; 2]) -> Result<Secret, SignInError> {
        let Self { session, granted, metadata, address, listener } = self;
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
        let ended = exchanged(&session, &granted, metadata, &query).await;
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
    metadata: AuthorizationMetadata,
    query: &str,
) -> Result<Secret, SignInError> {
    if let Some(error) = asked(query, "error") {
        let words = asked(query, "error_description").unwrap_or(error);
        return Err(SignInError::Failed { detail: short(&words) });
    }
    session.handle_callback_url(&format!("{}?{query}", session.redirect_uri)).await.map_err(failed)?;
    let nothing = || SignInError::Failed { detail: "nothing was granted".into() };
    let credentials = granted.load().await.map_err(failed)?.ok_or_else(nothing)?;
    let AuthorizationMetadata { authorization_endpoint, token_endpoint, issuer, .. } = metadata;
    Granted { authorization_endpoint, token_endpoint, issuer, credentials }.secret().map_err(failed)
}

async fn manager(server: &str, client: SignInClient) -> Result<AuthorizationManager, AuthError> {
    AuthorizationManager::new_with_oauth_http_client(server, Arc::new(client)).await
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

impl OAuthHttpClient for SignInClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let within = request.timeout.unwrap_or(WAITING);
            let answer = async {
                let request = reqwest::Request::try_from(request.request)?;
                if !self.may_reach(request.url()).await {
                    return Err(OAuthHttpClientError::from("an address may not be reached"));
                }
                let mut response = self.client.execute(request).await?;
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

impl Kept {
    async fn granted(&self) -> Result<Option<Granted>, AuthError> {
        let kept = self.0.load().await.map_err(AuthError::CredentialStoreError)?;
        Ok(kept.as_ref().and_then(Granted::of))
    }
}

#[async_trait]
impl CredentialStore for Kept {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.granted().await?.map(|granted| granted.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        // Whoever has signed out meanwhile is not signed in again.
        let Some(granted) = self.granted().await? else { return Ok(()) };
        let granted = Granted { credentials, ..granted }.secret()?;
        self.0.save(Some(granted)).await.map_err(AuthError::CredentialStoreError)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.0.save(None).await.map_err(AuthError::CredentialStoreError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tokens_are_asked_for_where_a_server_may_say_so() {
        let client = |is_near| SignInClient { client: http::client(None).unwrap(), is_near };
        for (address, of_the_world, near) in [
            ("https://93.184.216.34/token", true, true),
            ("https://192.168.1.1/token", false, true),
            ("https://[::1]/token", false, true),
            ("http://127.0.0.1:8000/token", false, true),
            ("http://localhost:8000/token", false, true),
            ("http://93.184.216.34/token", false, false),
            ("http://192.168.1.1/token", false, false),
            ("ftp://93.184.216.34/token", false, false),
        ] {
            let address = Url::parse(address).unwrap();
            assert_eq!(client(false).may_reach(&address).await, of_the_world, "{address}");
            assert_eq!(client(true).may_reach(&address).await, near, "{address}");
        }
    }
}
