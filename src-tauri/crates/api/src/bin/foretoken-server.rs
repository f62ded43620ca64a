//! The local server without a window: one program for scripts, editors and CI.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use clap::Parser;
use directories::ProjectDirs;
use foretoken_api::{
    Access, Api, Limits, Models, NotLoaded, Offered, Reach, Server, Signer, Token, network_name, port_holder,
};
use foretoken_host::{Engine, EngineProgram, Model, Timeouts, allow_open_files};
use foretoken_models::{APP_FOLDER, Library, LibraryError, Location, ModelState, import_folder};
use foretoken_protocol::{
    ApiAlias, DEFAULT_MAX_TOKENS, Drafting, EngineState, ErrorReport, GenerationSettings, KvPrecision,
    MOST_API_ROWS, ModelInfo, PortHolder, Thinking,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;
use tracing_subscriber::EnvFilter;

/// How long those who are being answered have once the server is to end.
const GRACE: Duration = Duration::from_secs(5);

/// How long an engine rests that has given up.
const RELOAD_PAUSE: Duration = Duration::from_secs(5);

/// Lets other programs on this machine use a model, in OpenAI's dialect, at http://localhost:PORT/v1.
///
/// Prints one line once it listens. Ctrl-C ends it after the answers that are being written, a second one at once.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Where to listen; 0 takes a free port.
    #[arg(long, default_value_t = 3673)]
    port: u16,
    /// Listens on all addresses of this machine, so that other devices can use the model. They have to send the token.
    #[arg(long, conflicts_with = "no_token")]
    network: bool,
    /// The model that is loaded first: a folder, or a name in the library.
    #[arg(long, value_name = "NAME|DIR")]
    model: String,
    /// A draft model that is loaded beside it: a folder, or a name in the library. It guesses wherever that pays, and
    /// for requests that say `"foretoken": {"speculation": {"drafter": "dflash"}}`.
    #[arg(long, value_name = "NAME|DIR")]
    draft_model: Option<String>,
    /// Serves this model alone. Without it, a request that names another model of the library has that loaded.
    #[arg(long)]
    one_model: bool,
    /// Gives back the memory when nobody has asked for so many minutes; 0 never does. The next request takes it again.
    #[arg(long, default_value = "30", value_name = "MINUTES", value_parser = minutes)]
    unload_after: Duration,
    /// The origin of a page that may use the model from a browser: a scheme and a host, or a scheme that only apps have
    /// and `*`, such as vscode-webview://*. May come again.
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// The library's folder. Without it, the library is the app's.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// A file with the token that programs have to send; it is made if it is not there.
    #[arg(long, value_name = "FILE", conflicts_with = "no_token")]
    token_file: Option<PathBuf>,
    /// The token itself.
    #[arg(long, env = "FORETOKEN_API_TOKEN", hide_env_values = true, hide = true)]
    token: Option<String>,
    /// Asks for no token: every program of this machine may use the model.
    #[arg(long)]
    no_token: bool,
    /// Replies that are written at the same time.
    #[arg(long, default_value_t = 4, value_name = "N",
          value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_API_ROWS)))]
    rows: u8,
    /// Keeps keys and values in 8 bits, which takes about half the memory.
    #[arg(long)]
    kv_8: bool,
}

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Report(ErrorReport),
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error("port {port} is taken{}: choose another with --port", by(.holder.as_ref()))]
    PortTaken { port: u16, holder: Option<PortHolder> },
    #[error("FORETOKEN_API_TOKEN is no token: 1 to 512 visible characters")]
    TokenInvalid,
    #[error("this system names no home folder to keep files in")]
    NoHome,
    #[error("{model} does not go with {draft}: {reason}")]
    DraftModelUnusable { model: String, draft: String, reason: String },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Who has taken a port, in words.
fn by(holder: Option<&PortHolder>) -> String {
    holder.map_or_else(
        || ", perhaps by Foretoken itself".to_owned(),
        |PortHolder { name, pid }| format!(" by {name} (process {pid})"),
    )
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("FORETOKEN_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            if let Failure::Report(ErrorReport { hint, .. }) = failure {
                eprintln!("{hint}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    allow_open_files();
    let folders = ProjectDirs::from_path(PathBuf::from(APP_FOLDER)).ok_or(Failure::NoHome)?;
    let port = arguments.port;
    let reach = if arguments.network { Reach::Network } else { Reach::ThisMachine };
    let server = match Server::bind(reach, port).await {
        Ok(server) => server,
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            return Err(Failure::PortTaken { port, holder: port_holder(port).await });
        }
        Err(error) => return Err(error.into()),
    };
    let token = token(&arguments, &folders.config_dir().join("api-token"))?;
    let library = match &arguments.models {
        Some(folder) => Library::open(folder)?,
        None => Location::of_this_person().ok_or(Failure::NoHome)?.open()?,
    };
    let state = folders.cache_dir().join("engine");
    let (engine, supervisor) = Engine::new(EngineProgram::beside_this(&state)?, state, Timeouts::default());
    let engine = Arc::new(engine);
    engine.decoders().sweep().await;
    let models = Arc::new(LibraryModels::new(library, Arc::clone(&engine), &arguments)?);
    let supervising = tokio::spawn(supervisor.run());
    models.load_first().await?;
    engine.unload_after(Some(arguments.unload_after).filter(|idle| !idle.is_zero()));
    let limits = Limits { rows: arguments.rows.into(), ..Limits::default() };
    let origins = arguments.origins.iter().map(|origin| origin.trim_end_matches('/').to_owned()).collect();
    let access = Access { token, origins, network: arguments.network };
    let offered = Arc::clone(&models) as Arc<dyn Models>;
    let signer = Signer::of_file(&folders.config_dir().join("api-signing-key"));
    let api = Api::new(Arc::clone(&engine), offered, limits, server.port(), access, Arc::default(), signer);
    if let Some(name) = network_name().filter(|_| arguments.network) {
        println!("Other devices reach it at http://{name}:{}/v1", server.port());
    }
    println!("{} answers at http://localhost:{}/v1", models.first.id, server.port());
    let (mut interrupted, mut terminated) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut signalled =
        async move || tokio::select! { _ = interrupted.recv() => (), _ = terminated.recv() => () };
    let (close, closing) = tokio::sync::oneshot::channel();
    let running = server.run(
        Arc::new(api),
        async move {
            let _ = closing.await;
        },
        GRACE,
    );
    let ending = async move {
        signalled().await;
        let _ = close.send(());
        signalled().await;
    };
    tokio::select! { () = running => (), () = ending => (), () = keep_loaded(&engine, &models) => () }
    engine.shut_down();
    let _ = supervising.await;
    Ok(())
}

/// Loads the model again whenever the engine has given it up, as after many deaths: nobody is there to do that.
async fn keep_loaded(engine: &Engine, models: &LibraryModels) {
    let mut state = engine.watch();
    while state.wait_for(|state| matches!(state, EngineState::Failed { .. })).await.is_ok() {
        sleep(RELOAD_PAUSE).await;
        // A request may have had one loaded meanwhile.
        if !matches!(engine.state(), EngineState::Failed { .. }) {
            continue;
        }
        let folder = models.chosen().unwrap_or_else(|| models.first.path.clone());
        if let Err(error) = models.load_from(&folder).await {
            tracing::error!("{error}");
        }
    }
}

/// Minutes, also parts of them.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes: f64 = text.parse().map_err(|_| format!("{text:?} is no number of minutes"))?;
    Duration::try_from_secs_f64(minutes * 60.0).map_err(|error| error.to_string())
}

/// The token that programs have to send, if any.
fn token(arguments: &Arguments, default: &Path) -> Result<Option<Token>, Failure> {
    if arguments.no_token {
        return Ok(None);
    }
    if let Some(token) = &arguments.token {
        return Ok(Some(Token::parse(token).ok_or(Failure::TokenInvalid)?));
    }
    let file = arguments.token_file.as_deref().unwrap_or(default);
    let token = Token::read_or_create(file)?;
    println!("The token is in {}", file.display());
    Ok(Some(token))
}

/// The models of a library, and the one that is loaded first, which may lie elsewhere.
#[derive(Debug)]
struct LibraryModels {
    library: Library,
    engine: Arc<Engine>,
    first: Offered,
    /// The folder of the draft model that is loaded beside it.
    draft_model: Option<String>,
    /// The folder of the one that was loaded last.
    loaded: Mutex<String>,
    kv_precision: KvPrecision,
    /// Whether there is no other than the first.
    alone: bool,
}

impl LibraryModels {
    fn new(library: Library, engine: Arc<Engine>, arguments: &Arguments) -> Result<Self, Failure> {
        let listed = listed(&library);
        let first = named(&listed, &arguments.model)?;
        let draft_model = arguments.draft_model.as_deref().map(|draft| named(&listed, draft)).transpose()?;
        let draft_model = draft_model.map(|draft| draft.path);
        let kv_precision = if arguments.kv_8 { KvPrecision::Eight } else { KvPrecision::Full };
        let loaded = Mutex::new(first.path.clone());
        Ok(Self { library, engine, first, draft_model, loaded, kv_precision, alone: arguments.one_model })
    }

    /// Loads the first model. A draft model that was named is no good where it is left out without a word.
    async fn load_first(&self) -> Result<ModelInfo, Failure> {
        let info = self.load_from(&self.first.path).await.map_err(Failure::Report)?;
        match &self.draft_model {
            Some(draft) if info.draft_model.is_none() => {
                let notes = info.notes.iter().map(ToString::to_string);
                let said: Vec<String> = notes.chain(info.without_draft_model()).collect();
                Err(Failure::DraftModelUnusable {
                    model: info.name,
                    draft: draft.clone(),
                    reason: said.join(" "),
                })
            }
            _ => Ok(info),
        }
    }

    async fn load_from(&self, folder: &str) -> Result<ModelInfo, ErrorReport> {
        // It was made for the first one.
        let draft_model = self.draft_model.clone().filter(|_| folder == self.first.path);
        let (folder, kv_precision) = (folder.to_owned(), self.kv_precision);
        let info = self.engine.load(Model { draft_model, ..Model::new(folder, kv_precision) }).await?;
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = info.path.clone();
        Ok(info)
    }
}

/// The model that a person names: one of those that are listed, or a folder.
fn named(listed: &[Offered], chosen: &str) -> Result<Offered, Failure> {
    if let Some(model) = listed.iter().find(|model| model.id == chosen || model.name == chosen) {
        return Ok(model.clone());
    }
    let folder = Path::new(chosen).canonicalize();
    let model = import_folder(folder.as_deref().unwrap_or(Path::new(chosen)))?;
    let path = model.path.to_string_lossy().into_owned();
    let created = seconds(&model.path);
    let listed = listed.iter().find(|listed| listed.path == path).cloned();
    Ok(listed.unwrap_or_else(|| Offered {
        id: model.name.clone(),
        name: model.name,
        created,
        path,
        tuned: None,
    }))
}

impl Models for LibraryModels {
    fn offered(&self) -> Vec<Offered> {
        if self.alone {
            return vec![self.first.clone()];
        }
        let mut models = listed(&self.library);
        models.retain(|model| !is_draft_model(Path::new(&model.path)));
        if !models.iter().any(|model| model.path == self.first.path) {
            models.insert(0, self.first.clone());
        }
        models
    }

    fn chosen(&self) -> Option<String> {
        Some(self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn settings(&self, model: &ModelInfo) -> GenerationSettings {
        GenerationSettings {
            sampling: model.defaults,
            drafting: Drafting::default(),
            max_tokens: DEFAULT_MAX_TOKENS,
            thinking: Thinking::Normal,
            stop: Vec::new(),
        }
    }

    fn aliases(&self) -> Vec<ApiAlias> {
        ApiAlias::elsewhere()
    }

    fn may_load(&self, _folder: &str) -> Result<(), NotLoaded> {
        if self.alone { Err(NotLoaded::NotAllowed) } else { Ok(()) }
    }

    fn load<'a>(&'a self, folder: &'a str) -> BoxFuture<'a, Result<(), NotLoaded>> {
        async move { self.load_from(folder).await.map(drop).map_err(NotLoaded::Failed) }.boxed()
    }
}

/// When a model came, seconds since 1970; 0 where that is not known.
fn seconds(folder: &Path) -> u64 {
    let changed = folder.join("config.json").metadata().and_then(|file| file.modified()).ok();
    let since = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0, |time| time.as_secs())
}

/// Whether a folder holds a draft model, which answers nobody: all architectures of such are called so.
fn is_draft_model(folder: &Path) -> bool {
    let config = fs::read(folder.join("config.json")).ok();
    let config: Option<Value> = config.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let architectures = config.as_ref().and_then(|config| config["architectures"].as_array());
    architectures
        .into_iter()
        .flatten()
        .any(|name| name.as_str().is_some_and(|name| name.ends_with("DraftModel")))
}

/// The models of a library that can be loaded, and draft models.
fn listed(library: &Library) -> Vec<Offered> {
    let models = library.models().unwrap_or_else(|error| {
        tracing::warn!("{error}");
        Vec::new()
    });
    let usable =
        models.into_iter().filter(|model| matches!(model.state, ModelState::Ready | ModelState::Raw));
    usable
        .map(|model| {
            let repo = model.source.map(|source| source.repo.to_string());
            let short =
                repo.as_deref().and_then(|repo| repo.rsplit_once('/')).map(|(_, name)| name.to_owned());
            let name = short.unwrap_or_else(|| model.name.clone());
            Offered {
                id: repo.unwrap_or(model.name),
                name,
                path: model.path.canonicalize().unwrap_or(model.path.clone()).to_string_lossy().into_owned(),
                created: seconds(&model.path),
                tuned: None,
            }
        })
        .collect()
}
