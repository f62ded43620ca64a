//! Macs for the tests: lending ones with a host that is told what its workers are, and those that use them.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::{Arc, atomic::AtomicUsize, atomic::Ordering};

use foretoken_peers::{
    Book, Borrower, Host, Identity, Inventory, InventoryModel, Keep, LayerStore, Lender, Lending, Loan,
    ModelFile, ModelId, Offer, Pairing, Peer, Peers, Process, PublicKey, RingPlace, Sha256, StoreError,
    Terms, Worker,
};
use foretoken_protocol::ErrorReport;
use tempfile::TempDir;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::process::Command;
use tokio::task::JoinHandle;

/// A model by its name.
pub(crate) fn model(name: &str) -> ModelId {
    ModelId { name: name.into(), digest: Sha256::parse(&"07".repeat(32)).unwrap() }
}

/// What a worker is.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// A shell with a script.
    Shell(&'static str),
    /// A task that is told its place and has a pipe.
    Task(fn(RingPlace, DuplexStream) -> JoinHandle<()>),
    /// None: the host refuses.
    None,
}

/// A host that remembers whom it has lent to.
pub(crate) struct TestHost {
    pub(crate) work: Work,
    pub(crate) loans: Mutex<Vec<Loan>>,
    pub(crate) killed: Arc<AtomicUsize>,
    /// The folder of its one model. It offers all that is in it, whatever the name.
    pub(crate) model: TempDir,
    /// What it says of the content of its files.
    pub(crate) hashes: Mutex<BTreeMap<String, Sha256>>,
    /// What it was asked to open.
    pub(crate) opened: Mutex<Vec<String>>,
    /// Where it keeps layers, and how many bytes; `None`: it keeps none.
    pub(crate) store: Mutex<Option<(LayerStore, u64)>>,
}

struct Task(JoinHandle<()>, Arc<AtomicUsize>);

impl Process for Task {
    fn kill(&mut self) {
        self.0.abort();
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait::async_trait]
impl Host for TestHost {
    async fn inventory(&self) -> Inventory {
        let models = vec![InventoryModel { id: "small".into(), bytes: 17 }];
        Inventory {
            chip: "Apple M9".into(),
            engine: "0.1.0".into(),
            free_bytes: 1 << 40,
            bytes_per_second: 1 << 39,
            models,
            keeps_bytes: None,
        }
    }

    async fn start(&self, loan: Loan) -> Result<Worker, ErrorReport> {
        let place = loan.place;
        self.loans.lock().unwrap().push(loan);
        match self.work {
            Work::Shell(script) => {
                let mut command = Command::new("sh");
                command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
                Ok(Worker::of_child(command.spawn().unwrap()).unwrap())
            }
            Work::Task(task) => {
                let (ours, theirs) = tokio::io::duplex(1 << 16);
                let (output, input) = tokio::io::split(ours);
                let task = Task(task(place, theirs), Arc::clone(&self.killed));
                Ok(Worker::new(input, output, task))
            }
            Work::None => {
                let (code, message) = ("on_battery".into(), "The lending Mac is on battery.".into());
                Err(ErrorReport { code, message, hint: "Plug it in.".into() })
            }
        }
    }

    async fn files(&self, model: &str) -> Result<Vec<ModelFile>, ErrorReport> {
        if model != "small" {
            let (code, message) = ("mac_lacks_model".into(), "The lending Mac has no such model.".into());
            return Err(ErrorReport { code, message, hint: "Copy it there.".into() });
        }
        let entries = fs::read_dir(self.model.path()).unwrap().map(Result::unwrap);
        let files = entries.map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let sha256 = self.hashes.lock().unwrap().get(&name).copied();
            ModelFile { name, bytes: entry.metadata().unwrap().len(), sha256 }
        });
        Ok(files.collect())
    }

    async fn keep(&self, offer: &Offer) -> Result<Keep, ErrorReport> {
        if offer.model.name == "small" {
            return Ok(Keep::Model);
        }
        let store = self.store.lock().unwrap().clone();
        store.map(|(store, most)| Keep::In(store, most, Box::new(()))).ok_or_else(|| StoreError::Off.into())
    }

    async fn open(&self, _: &str, name: &str) -> Result<File, ErrorReport> {
        self.opened.lock().unwrap().push(name.to_owned());
        Ok(File::open(self.model.path().join(name)).await.unwrap())
    }
}

/// A lending Mac.
pub(crate) struct Studio {
    pub(crate) identity: Identity,
    pub(crate) peers: Peers,
    pub(crate) pairing: Pairing,
    pub(crate) host: Arc<TestHost>,
    pub(crate) lender: Lender,
}

impl Studio {
    pub(crate) async fn new(work: Work) -> Self {
        Self::with(work, Pairing::new()).await
    }

    pub(crate) async fn with(work: Work, pairing: Pairing) -> Self {
        let identity = Identity::generate().unwrap();
        let peers = Peers::new(Book::default());
        let host = Arc::new(TestHost {
            work,
            loans: Mutex::default(),
            killed: Arc::default(),
            model: tempfile::tempdir().unwrap(),
            hashes: Mutex::default(),
            opened: Mutex::default(),
            store: Mutex::default(),
        });
        let lending = Lending {
            identity: identity.clone(),
            name: "Studio".into(),
            peers: peers.clone(),
            pairing: pairing.clone(),
            host: Arc::clone(&host) as Arc<dyn Host>,
        };
        let lender = Lender::start("127.0.0.1:0".parse().unwrap(), lending).await.unwrap();
        Self { identity, peers, pairing, host, lender }
    }

    pub(crate) fn address(&self) -> String {
        self.lender.address().to_string()
    }

    /// The address of a Mac that has never been paired, and is in its own book only.
    pub(crate) fn unpaired(&self, laptop: &Laptop) -> Borrower {
        laptop.knows(self.identity.key());
        laptop.borrower(self)
    }

    /// As if the two had been paired.
    pub(crate) fn paired(&self, laptop: &Laptop) -> Borrower {
        let mut book = self.peers.book();
        let terms = Some(Terms { most_bytes: Some(1000), only_on_power: true });
        book.peers.insert(laptop.identity.key(), Peer { name: "L".into(), borrows: terms, lends: false });
        self.peers.replace(book);
        self.unpaired(laptop)
    }

    pub(crate) fn loans(&self) -> Vec<Loan> {
        self.host.loans.lock().unwrap().clone()
    }
}

/// A Mac that uses others.
pub(crate) struct Laptop {
    pub(crate) identity: Identity,
    pub(crate) peers: Peers,
}

impl Laptop {
    pub(crate) fn new() -> Self {
        Self { identity: Identity::generate().unwrap(), peers: Peers::new(Book::default()) }
    }

    pub(crate) fn borrower(&self, studio: &Studio) -> Borrower {
        let key = studio.identity.key();
        Borrower::new(studio.address(), self.identity.clone(), key, self.peers.clone())
    }

    pub(crate) fn knows(&self, key: PublicKey) {
        let mut book = self.peers.book();
        book.peers.insert(key, Peer { name: "S".into(), borrows: None, lends: true });
        self.peers.replace(book);
    }
}

/// Sends something and hears it again.
pub(crate) async fn echoes(stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin)) -> bool {
    let mut heard = [0; 5];
    stream.write_all(b"hello").await.is_ok()
        && stream.flush().await.is_ok()
        && stream.read_exact(&mut heard).await.is_ok()
        && &heard == b"hello"
}

/// Waits for something that happens sooner or later.
pub(crate) async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
