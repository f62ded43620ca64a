//! Other Macs: how two of them get to know each other, what one lends to the other, and the connections of a ring of
//! processes over several of them. MLX's ring sees 127.0.0.1 alone; here its bytes are carried through TLS, to Macs
//! whose key is known.
//!
//! A Mac that lends itself runs a [`Lender`], which listens at one port, and says so with an [`Advert`], which a
//! [`Browser`] finds. A Mac that uses others opens every connection, through a [`Borrower`] for each, and makes a
//! [`Ring`] of them.

mod arriving;
mod ask;
mod book;
mod borrower;
mod discovery;
mod error;
mod files;
mod forward;
mod gift;
mod hex;
mod identity;
mod lender;
mod line;
mod loopback;
mod measure;
mod pairing;
mod partial;
mod process;
mod sockets;
mod text;
mod tls;

pub use ask::RingId;
pub use book::{Book, Changes, Peer, Peers, Terms};
pub use borrower::{Borrower, Exposed, Lent, PeerStream, Ring, expose};
pub use discovery::{Advert, Browser, Found};
pub use error::PeerError;
pub use files::{ModelFile, Sha256};
pub use forward::{Shape, join};
pub use gift::{Gift, GiftFile, GiftPiece, ModelId};
pub use identity::{Identity, PublicKey};
pub use lender::{
    Held, Host, Inventory, InventoryModel, Keep, LayerStore, Lender, Lending, Loan, Offer, Process,
    StoreError, StoredModel, Worker, files_of, open_of,
};
pub use loopback::RingPlace;
pub use measure::{MEASURED_BYTES, Measured};
pub use pairing::{
    Attempt, Clock, MOST_ATTEMPTS, OFTEN, OPEN, Opening, Paired, Pairing, PairingError, SystemClock,
};
pub use process::{Lead, start_worker};
