//! The local API in the app: other programs of this machine use the model that answers in the window, once the person
//! has switched that on.

mod offers;
#[cfg(test)]
mod tests;
mod token;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foretoken_api::{
    Access, Api, Limits, Live, Offered, Reach, Server, Signer, Token, names_model, network_name, offered,
    port_holder,
};
use foretoken_host::Engine;
use foretoken_protocol::{
    ApiAlias, AppEvent, EngineState, ErrorReport, LocalApi as Shown, LocalApiSettings, LocalApiState,
    MOST_API_ROWS, TokenPlace,
};
use thiserror::Error;
use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use self::offers::Offers;
use self::token::TokenStore;
use crate::blocking::blocking;
use crate::clipboard::Clipboard;
use crate::conversations::replies::Replies;
use crate::events::AppEvents;
use crate::keychain::API_TOKEN;
use crate::models::Models;
use crate::settings::{AppSettings, is_alias, is_origin, is_same_alias};

/// What the page shows in place of the token, and what becomes the token when it is copied.
pub(crate) const TOKEN_SHOWN: &str = "ft-••••••••••••";

/// How long those who are being answered have to hear that the server closes.
const GRACE: Duration = Duration::from_secs(1);
/// How often requests are told to end that came while the server closes.
const CLOSING: Duration = Duration::from_millis(20);
/// The page hears of changes this often at most.
const TOLD: Duration = Duration::from_millis(250);
/// How many ports are tried for one that is free.
const TRIED: u16 = 100;

/// Why the local API does not do what the person wants.
#[derive(Debug, Error)]
enum LocalApiError {
    #[error("The token cannot be kept: {0}.")]
    TokenNotKept(io::Error),
    #[error("Foretoken cannot listen at port {port}: {error}.")]
    NotListening { port: u16, error: io::Error },
    #[error("Port 0 names no place to listen at.")]
    NoPort,
    #[error("The {TRIED} ports after {0} are all in use.")]
    NoneFree(u16),
    #[error("This request has ended already.")]
    NoRequest,
    #[error("Other devices of the network have to send the token.")]
    NetworkWithoutToken,
    #[error("{0:?} is no origin of a page.")]
    NotAnOrigin(String),
    #[error("A name that programs ask for cannot be empty.")]
    EmptyAlias,
    #[error("The name {0:?} is on the list twice.")]
    AliasTwice(String),
    #[error("{0:?} names a model already.")]
    AliasOfModel(String),
}

impl From<LocalApiError> for ErrorReport {
    fn from(error: LocalApiError) -> Self {
        let (code, hint) = match &error {
            LocalApiError::TokenNotKept(_) => (
                "api_token_not_kept",
                "Unlock the keychain, or check that the folder of the settings can be written to.",
            ),
            LocalApiError::NotListening { .. } => {
                ("api_not_listening", "Choose a port between 1024 and 65535.")
            }
            LocalApiError::NoPort => ("api_port_invalid", "Choose a port between 1024 and 65535."),
            LocalApiError::NoneFree(_) => ("api_no_free_port", "Choose another port."),
            LocalApiError::NoRequest => ("api_request_gone", "There is nothing left to stop."),
            LocalApiError::NetworkWithoutToken => {
                ("api_network_without_token", "Ask programs for the token, or leave other devices out.")
            }
            LocalApiError::NotAnOrigin(_) => (
                "api_origin_invalid",
                "An origin is a scheme and a host, as https://example.com or app://obsidian.md.",
            ),
            LocalApiError::EmptyAlias => ("api_alias_empty", "Write a name, or remove it."),
            LocalApiError::AliasTwice(_) => {
                ("api_alias_twice", "Choose the model for the one that is there, or write another name.")
            }
            LocalApiError::AliasOfModel(_) => (
                "api_alias_of_model",
                "Models keep their names, and \"default\" is the loaded one. Write another name.",
            ),
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// The local API, whether it listens or not.
pub(crate) struct LocalApi {
    engine: Arc<Engine>,
    offers: Arc<Offers>,
    settings: Arc<AppSettings>,
    events: Arc<AppEvents>,
    replies: Arc<Replies>,
    tokens: Arc<TokenStore>,
    /// Has the key that signs thinking.
    signing_key_file: PathBuf,
    clipboard: Arc<Clipboard>,
    live: Arc<Live>,
    standing: Mutex<Standing>,
    /// Held while it is switched on or off.
    running: AsyncMutex<Option<Running>>,
}

/// How it stands.
#[derive(Debug, Default)]
struct Standing {
    state: LocalApiState,
    token: Option<(Token, TokenPlace)>,
}

/// A server that answers.
#[derive(Debug)]
struct Running {
    close: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl Running {
    /// Ends the requests and closes the sockets.
    async fn end(self, live: &Live) {
        let Self { close, mut server } = self;
        // The server may have ended by itself.
        let _ = close.send(());
        loop {
            live.stop_all();
            tokio::select! {
                _ = &mut server => return,
                () = sleep(CLOSING) => {}
            }
        }
    }
}

impl LocalApi {
    /// It keeps its token in the keychain, or in `token_file` where there is none; beside that the key that signs
    /// thinking, which opens nothing.
    pub(crate) fn new(
        engine: Arc<Engine>,
        models: Arc<Models>,
        settings: Arc<AppSettings>,
        events: Arc<AppEvents>,
        replies: Arc<Replies>,
        token_file: PathBuf,
    ) -> Self {
        Self {
            engine,
            offers: Arc::new(Offers {
                models,
                settings: Arc::clone(&settings),
                replies: Arc::clone(&replies),
            }),
            settings,
            events,
            replies,
            signing_key_file: token_file.with_file_name("api-signing-key"),
            tokens: Arc::new(TokenStore::new(Box::new(API_TOKEN), token_file)),
            clipboard: Arc::default(),
            live: Arc::default(),
            standing: Mutex::default(),
            running: AsyncMutex::default(),
        }
    }

    /// What the page shows of it.
    pub(crate) fn shown(&self) -> Shown {
        let standing = self.lock();
        Shown {
            settings: self.settings.current().local_api,
            state: standing.state.clone(),
            token: standing.token.as_ref().map(|(_, place)| *place),
            model: self.model(),
            offered: offered(&*self.offers).into_iter().map(|model| model.id).collect(),
            network_name: network_name(),
            requests: self.live.requests(),
        }
    }

    /// Whether it listens.
    pub(crate) fn is_on(&self) -> bool {
        matches!(self.lock().state, LocalApiState::Starting | LocalApiState::On { .. })
    }

    /// What programs call the model that answers.
    fn model(&self) -> Option<String> {
        let EngineState::Ready { model, .. } = self.engine.state() else { return None };
        let offered = offered(&*self.offers).into_iter().find(|offered| offered.path == model.path);
        Some(offered.map_or_else(|| "default".into(), |offered| offered.id))
    }

    /// Takes over what the person chose. It holds at once; requests end where the sockets or who may use them change.
    pub(crate) async fn change(&self, settings: LocalApiSettings) -> Result<(), ErrorReport> {
        let before = self.settings.current().local_api;
        check(&settings)?;
        check_names(&before.aliases, &settings.aliases, &offered(&*self.offers))?;
        let writing = self.settings.file.update(|all| all.local_api = settings.clone());
        // What the page changes next, it changes in this.
        self.events.publish(&AppEvent::LocalApi { local_api: self.shown() });
        if !opened_alike(before, &settings) {
            self.apply().await;
        }
        Ok(writing.written().await?)
    }

    /// Listens at the next port that is free.
    pub(crate) async fn take_free_port(&self) -> Result<(), ErrorReport> {
        let settings = self.settings.current().local_api;
        match free_port(&settings).await {
            Some(port) => self.change(LocalApiSettings { port, ..settings }).await,
            None => Err(LocalApiError::NoneFree(settings.port).into()),
        }
    }

    /// Makes a new token. Whoever has the one before is let in no more, and its requests end.
    pub(crate) async fn renew_token(&self) -> Result<(), ErrorReport> {
        let tokens = Arc::clone(&self.tokens);
        let before = self.lock().token.as_ref().map(|(_, place)| *place);
        let token = blocking(move || tokens.renew(before)).await.map_err(LocalApiError::TokenNotKept)?;
        self.lock().token = Some(token);
        self.apply().await;
        Ok(())
    }

    /// Copies a text, with the token in place of [`TOKEN_SHOWN`].
    pub(crate) async fn copy(&self, text: &str) -> Result<(), ErrorReport> {
        let text = if text.contains(TOKEN_SHOWN) {
            text.replace(TOKEN_SHOWN, self.token().await?.secret())
        } else {
            text.to_owned()
        };
        let clipboard = Arc::clone(&self.clipboard);
        Ok(blocking(move || clipboard.set_secret(text)).await?)
    }

    /// Ends a request.
    pub(crate) fn stop(&self, request: &str) -> Result<(), ErrorReport> {
        if self.live.stop(request) { Ok(()) } else { Err(LocalApiError::NoRequest.into()) }
    }

    /// Does as the settings say: closes a server that listens, and opens one if it is to be on.
    pub(crate) async fn apply(&self) {
        let mut running = self.running.lock().await;
        if let Some(server) = running.take() {
            server.end(&self.live).await;
        }
        let settings = self.settings.current().local_api;
        let state = if settings.on {
            self.show(LocalApiState::Starting);
            match self.open(settings).await {
                Ok((server, port)) => {
                    *running = Some(server);
                    LocalApiState::On { port }
                }
                Err(state) => state,
            }
        } else {
            LocalApiState::Off
        };
        self.show(state);
    }

    /// Begins to listen and answer, or says what is in the way.
    async fn open(&self, settings: LocalApiSettings) -> Result<(Running, u16), LocalApiState> {
        let failed = |error: LocalApiError| LocalApiState::Failed { error: error.into() };
        let port = settings.port;
        let server = match Server::bind(reach(&settings), port).await {
            Ok(server) => server,
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let (holder, free) = tokio::join!(port_holder(port), free_port(&settings));
                return Err(LocalApiState::PortInUse { port, holder, free });
            }
            Err(error) => return Err(failed(LocalApiError::NotListening { port, error })),
        };
        let needs_token = settings.needs_token || settings.network;
        let token = if needs_token { Some(self.token().await.map_err(failed)?) } else { None };
        let models = Arc::clone(&self.offers) as Arc<dyn foretoken_api::Models>;
        let live = Arc::clone(&self.live);
        let access = Access { token, origins: settings.origins, network: settings.network };
        let limits = Limits { rows: settings.rows.clamp(1, MOST_API_ROWS).into(), ..Limits::default() };
        let key_file = self.signing_key_file.clone();
        let signer = blocking(move || Signer::of_file(&key_file)).await;
        let api = Api::new(Arc::clone(&self.engine), models, limits, port, access, live, signer);
        let (close, closing) = oneshot::channel();
        let closing = async move {
            // It closes too when nobody is left who could say so.
            let _ = closing.await;
        };
        Ok((Running { close, server: tokio::spawn(server.run(Arc::new(api), closing, GRACE)) }, port))
    }

    /// The token, which is made when it is needed for the first time.
    async fn token(&self) -> Result<Token, LocalApiError> {
        if let Some((token, _)) = &self.lock().token {
            return Ok(token.clone());
        }
        let tokens = Arc::clone(&self.tokens);
        let (token, place) =
            blocking(move || tokens.read_or_create()).await.map_err(LocalApiError::TokenNotKept)?;
        self.lock().token = Some((token.clone(), place));
        Ok(token)
    }

    fn show(&self, state: LocalApiState) {
        self.lock().state = state;
        self.events.publish(&AppEvent::LocalApi { local_api: self.shown() });
    }

    /// Counts requests among the replies that are written, for as long as the app runs.
    pub(crate) async fn count_requests(&self) {
        let mut count = self.live.count();
        while count.changed().await.is_ok() {
            let now = *count.borrow_and_update();
            self.replies.count_requests(now);
        }
    }

    /// Tells the windows that show requests how they go on, for as long as the app runs.
    pub(crate) async fn publish_changes(&self) {
        let (mut changes, mut engine) = (self.live.changes(), self.engine.watch());
        loop {
            let changed = tokio::select! {
                changed = changes.changed() => changed,
                changed = engine.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
            self.events.publish_beside_chats(&AppEvent::LocalApi { local_api: self.shown() });
            sleep(TOLD).await;
        }
    }

    /// Has the person's own model loaded again, and ends what another one writes for programs, whenever the person
    /// comes back and finds another, for as long as the app runs.
    pub(crate) async fn follow_returns(&self) {
        let models = &self.offers.models;
        let mut away = models.away();
        while away.changed().await.is_ok() {
            if !*away.borrow_and_update() && models.is_lent() {
                self.live.stop_all();
                models.load_selected().await;
            }
        }
    }

    /// Closes the server for good.
    pub(crate) async fn close(&self) {
        if let Some(server) = self.running.lock().await.take() {
            server.end(&self.live).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses what the person cannot mean.
fn check(settings: &LocalApiSettings) -> Result<(), LocalApiError> {
    if settings.port == 0 {
        return Err(LocalApiError::NoPort);
    }
    if settings.network && !settings.needs_token {
        return Err(LocalApiError::NetworkWithoutToken);
    }
    if let Some(origin) = settings.origins.iter().find(|origin| !is_origin(origin)) {
        return Err(LocalApiError::NotAnOrigin(origin.clone()));
    }
    if !settings.aliases.iter().all(is_alias) {
        return Err(LocalApiError::EmptyAlias);
    }
    Ok(())
}

/// Refuses names of which another meaning would win: one that is there twice, and one that a model has. A model that
/// came after its name was chosen is in the way of no other change.
fn check_names(before: &[ApiAlias], now: &[ApiAlias], models: &[Offered]) -> Result<(), LocalApiError> {
    for (index, alias) in now.iter().enumerate() {
        let is_same = |other: &ApiAlias| is_same_alias(alias, other);
        if now[..index].iter().any(is_same) {
            return Err(LocalApiError::AliasTwice(alias.name.clone()));
        }
        if !before.iter().any(is_same) && names_model(&alias.name, models) {
            return Err(LocalApiError::AliasOfModel(alias.name.clone()));
        }
    }
    Ok(())
}

/// The next port after the chosen one that is free.
async fn free_port(settings: &LocalApiSettings) -> Option<u16> {
    for port in settings.port.saturating_add(1)..=settings.port.saturating_add(TRIED) {
        if Server::bind(reach(settings), port).await.is_ok() {
            return Some(port);
        }
    }
    None
}

/// From where it can be reached.
fn reach(settings: &LocalApiSettings) -> Reach {
    if settings.network { Reach::Network } else { Reach::ThisMachine }
}

/// Whether a server that was opened for one of these settings does for the others.
fn opened_alike(one: LocalApiSettings, other: &LocalApiSettings) -> bool {
    let (aliases, sampling, may_load) = (other.aliases.clone(), other.sampling, other.may_load);
    LocalApiSettings { aliases, sampling, may_load, ..one } == *other
}
