//! Other Macs in the app: pairing with them, lending this one, and spreading a model over them.

mod giving;
mod keeping;
mod kept;
mod lending;
mod looking;
mod pairing;
mod spreading;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use foretoken_host::{Engine, EngineProgram, Tool};
use foretoken_peers::{Borrower, LayerStore, Pairing, PublicKey};
use foretoken_protocol::{
    AppEvent, ErrorReport, Giving, Lending, Loan, MacPairing, MacState, NearMac, OtherMacs, PairedMac,
    SpreadModel, StoredLayers,
};
use serde::Deserialize;
use sysinfo::System;
use thiserror::Error;
use tokio::sync::{Mutex as AsyncMutex, OnceCell, oneshot, watch};
use tokio::task::JoinHandle;

use self::kept::Kept;
use self::lending::Open;
pub(crate) use self::spreading::Connecting;
use crate::events::AppEvents;
use crate::keychain::SecretStore;
use crate::settings::AppSettings;

/// A model that is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shelved {
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// What it takes on the disk.
    pub(crate) bytes: u64,
}

impl Shelved {
    /// By what other Macs ask for it: the name of its folder.
    fn id(&self) -> String {
        id_of(&self.folder)
    }
}

/// By what Macs name the model in a folder to each other.
fn id_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The models that are here and can be used.
type Shelf = Arc<dyn Fn() -> Vec<Shelved> + Send + Sync>;

/// What this Mac is to others.
#[derive(Debug, Clone)]
pub(crate) struct OwnMachine {
    /// Its chip, empty where the system does not tell.
    pub(crate) chip: String,
    /// Memory that it gives models, in bytes.
    pub(crate) usable_bytes: u64,
}

/// Why other Macs are not used as the person wants.
#[derive(Debug, Error)]
enum MacsError {
    #[error("This Mac is not paired with that one.")]
    NotPaired,
    #[error("Nobody knows where that Mac is.")]
    NoAddress,
    #[error("{0:?} is no address of a Mac.")]
    NotAnAddress(String),
    #[error("Port {0} is not for this.")]
    Port(u16),
    #[error("This Mac does not lend itself.")]
    NotLending,
    #[error("No pairing is under way.")]
    NoPairing,
    #[error("The key of this Mac cannot be kept: {0}.")]
    KeyNotKept(String),
    #[error("This model does not fit on the Macs that are there.")]
    DoesNotFit,
    #[error("Giving the other Mac its layers was stopped.")]
    GivingStopped,
    #[error("What is known of other Macs cannot be kept: {0}.")]
    NotKept(std::io::Error),
}

impl From<MacsError> for ErrorReport {
    fn from(error: MacsError) -> Self {
        let (code, hint) = match &error {
            MacsError::NotPaired => ("mac_not_paired", "Pair the two Macs."),
            MacsError::NoAddress => ("mac_no_address", "Type its address, as its settings show it."),
            MacsError::NotAnAddress(_) => {
                ("mac_address_invalid", "Type it as the other Mac shows it, as studio.local:7421.")
            }
            MacsError::Port(_) => ("mac_port_invalid", "Choose a port between 1024 and 65535."),
            MacsError::NotLending => ("mac_not_lending", "Switch on that paired Macs may use this one."),
            MacsError::NoPairing => ("mac_no_pairing", "Begin it again."),
            MacsError::KeyNotKept(_) => ("mac_key_not_kept", "Unlock the keychain and try again."),
            MacsError::DoesNotFit => {
                ("macs_do_not_fit", "Lend more memory there, pair another Mac, or choose a smaller model.")
            }
            MacsError::GivingStopped => {
                ("mac_giving_stopped", "Load it again to go on: what has arrived there is kept.")
            }
            MacsError::NotKept(_) => {
                ("macs_not_kept", "Check that the folder of the app's data can be written to.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// What the engine says of this machine.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Measured {
    bytes_per_second: u64,
    on_battery: bool,
}

/// Other Macs.
pub(crate) struct Macs {
    engine: Arc<Engine>,
    program: EngineProgram,
    tool: Tool,
    settings: Arc<AppSettings>,
    events: Arc<AppEvents>,
    machine: OwnMachine,
    shelf: OnceLock<Shelf>,
    /// How many replies are being written.
    replies: watch::Receiver<usize>,
    kept: Kept,
    /// Layers that others have given this Mac.
    layers: LayerStore,
    pairing: Pairing,
    standing: Mutex<Standing>,
    /// The listener, while this Mac lends itself. Held while that changes.
    lender: AsyncMutex<Option<Open>>,
    /// Who looks for Macs.
    looking: Mutex<Option<JoinHandle<()>>>,
    /// Bytes that this machine reads in a second.
    read_speed: OnceCell<u64>,
    /// Whether another Mac computes here.
    lent: watch::Sender<bool>,
}

/// How all of it stands.
#[derive(Debug, Default)]
struct Standing {
    address: Option<String>,
    error: Option<ErrorReport>,
    in_use: Option<Loan>,
    stored: Vec<StoredLayers>,
    giving: Option<Giving>,
    /// Ends that.
    stop_giving: Option<oneshot::Sender<()>>,
    open_until: Option<u64>,
    states: BTreeMap<PublicKey, MacState>,
    near: Vec<NearMac>,
    pairing: Option<MacPairing>,
    /// Who waits for what the person says of the digits.
    answer: Option<oneshot::Sender<bool>>,
    /// Who does what belongs to pairing.
    task: Option<JoinHandle<()>>,
}

impl Macs {
    /// It keeps this Mac's key in a keychain, or beside the rest in `folder` where there is none.
    pub(crate) fn new(
        engine: Arc<Engine>,
        program: EngineProgram,
        settings: Arc<AppSettings>,
        events: Arc<AppEvents>,
        machine: OwnMachine,
        replies: watch::Receiver<usize>,
        (keychain, folder): (Box<dyn SecretStore>, PathBuf),
    ) -> Self {
        Self {
            tool: Tool::new(program.clone()),
            engine,
            program,
            settings,
            events,
            machine,
            shelf: OnceLock::new(),
            replies,
            kept: Kept::open(keychain, &folder),
            layers: LayerStore::at(folder.join("layers")),
            pairing: Pairing::new(),
            standing: Mutex::default(),
            lender: AsyncMutex::default(),
            looking: Mutex::default(),
            read_speed: OnceCell::new(),
            lent: watch::Sender::new(false),
        }
    }

    /// Lends this Mac if it is to be, and follows what must end a loan, for as long as the app runs. `shelf`: the
    /// models that are here.
    pub(crate) async fn run(self: Arc<Self>, shelf: impl Fn() -> Vec<Shelved> + Send + Sync + 'static) {
        // It is set once.
        let _ = self.shelf.set(Arc::new(shelf));
        self.look_at_layers().await;
        if self.settings.current().lending.on {
            self.apply_lending().await;
        }
        self.follow_owner().await;
    }

    /// What the page shows of them.
    pub(crate) fn shown(&self) -> OtherMacs {
        let standing = self.lock();
        let lending = Lending {
            settings: self.settings.current().lending,
            address: standing.address.clone(),
            error: standing.error.clone(),
            in_use: standing.in_use.clone(),
            open_until: standing.open_until,
            stored: standing.stored.clone(),
        };
        let mut paired: Vec<PairedMac> = self
            .kept
            .peers()
            .book()
            .peers
            .into_iter()
            .map(|(key, peer)| PairedMac {
                key: key.to_string(),
                name: peer.name,
                address: self.kept.address(&key),
                lends: peer.lends,
                borrows: peer.borrows.is_some(),
                state: standing.states.get(&key).cloned().unwrap_or_default(),
                link: self.kept.link(&key),
            })
            .collect();
        paired.sort_by_key(|mac| mac.name.to_lowercase());
        let spread = self.kept.spread().into_iter();
        OtherMacs {
            name: own_name(),
            chip: Some(self.machine.chip.clone()).filter(|chip| !chip.is_empty()),
            usable_bytes: self.machine.usable_bytes,
            lending,
            paired,
            near: standing.near.clone(),
            pairing: standing.pairing.clone(),
            giving: standing.giving.clone(),
            spread: spread.map(|(path, parts)| SpreadModel { path, parts }).collect(),
        }
    }

    /// Whether another Mac computes here.
    pub(crate) fn watch_loan(&self) -> watch::Receiver<bool> {
        self.lent.subscribe()
    }

    /// Ends what other Macs use here, and closes the port.
    pub(crate) async fn close(&self) {
        if let Some(open) = self.lender.lock().await.take() {
            open.lender.stop().await;
        }
    }

    fn shelved(&self) -> Vec<Shelved> {
        self.shelf.get().map(|shelf| shelf()).unwrap_or_default()
    }

    /// A paired Mac that lends itself, as it is used. Asks for this Mac's key, which may take a while.
    async fn borrower(&self, key: &PublicKey) -> Result<Borrower, MacsError> {
        if !self.kept.peers().book().peers.get(key).is_some_and(|peer| peer.lends) {
            return Err(MacsError::NotPaired);
        }
        let address = self.kept.address(key).ok_or(MacsError::NoAddress)?;
        let identity = self.kept.identity().await?;
        Ok(Borrower::new(address, identity, *key, self.kept.peers().clone()))
    }

    /// Changes how it stands, and tells the page.
    fn change<T>(&self, change: impl FnOnce(&mut Standing) -> T) -> T {
        let changed = change(&mut self.lock());
        self.publish();
        changed
    }

    fn publish(&self) {
        self.events.publish(&AppEvent::Macs { macs: self.shown() });
    }

    async fn measured(&self) -> Result<Measured, ErrorReport> {
        let told = self.tool.output(["check", "--machine"]).await?;
        serde_json::from_str(&told).map_err(|error| ErrorReport {
            code: "engine_not_understood".into(),
            message: format!("The engine does not say how fast this Mac is: {error}."),
            hint: "Install Foretoken again.".into(),
        })
    }

    /// Bytes that this machine reads in a second, measured once.
    async fn read_speed(&self) -> Result<u64, ErrorReport> {
        let measure = async || Ok(self.measured().await?.bytes_per_second);
        self.read_speed.get_or_try_init(measure).await.copied()
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Macs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Macs").finish_non_exhaustive()
    }
}

/// What this Mac calls itself.
fn own_name() -> String {
    let name = System::host_name().unwrap_or_else(|_| "A Mac".into());
    name.trim_end_matches(".local").to_owned()
}

fn key_of(text: &str) -> Result<PublicKey, ErrorReport> {
    Ok(text.parse()?)
}
