//! Files of models from a lending Mac: listed, and copied piece by piece.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use super::Borrower;
use crate::arriving::{STUCK, on_disk, receive};
use crate::ask::{Ask, Whole, ask};
use crate::book::Role;
use crate::error::PeerError;
use crate::files::{self, ModelFile};
use crate::line::LINE;
use crate::partial::Partial;
use crate::tls;

/// How long the other Mac may take to find its files.
const OPEN: Duration = Duration::from_secs(15);

impl Borrower {
    /// The files of a model of the inventory. Fails where one of them has a name that is none.
    pub async fn files(&self, model: &str) -> Result<Vec<ModelFile>, PeerError> {
        let mut stream = self.connect().await?;
        let listing = Ask::Files { model: model.to_owned() };
        files::checked(ask(&mut stream, &listing, OPEN).await?)
    }

    /// Copies a file that is in the list of a model to `to`, in place of what is there. Until it is whole, it is beside
    /// that, with `.part` appended to its name, and what an earlier call left there is not fetched again. `progress` is
    /// told how many bytes of the file have arrived, those of before included.
    ///
    /// Fails, and keeps what has arrived, where the connection ends or the disk is full. Fails, and keeps nothing,
    /// where the content has another hash than the list says; of a file without one the size alone is checked. Where
    /// this is dropped, what has arrived is kept, too.
    pub async fn fetch(
        &self,
        model: &str,
        file: &ModelFile,
        to: &Path,
        mut progress: impl FnMut(u64),
    ) -> Result<(), PeerError> {
        let (wanted, place) = (file.clone(), to.to_owned());
        let partial = on_disk(move || Partial::open(wanted, place, false)).await?;
        let from = partial.bytes();
        let mut stream = self.connect().await?;
        let wants = Ask::File { model: model.to_owned(), name: file.name.clone(), from };
        let Whole { bytes } = ask(&mut stream, &wants, OPEN).await?;
        if bytes != file.bytes {
            return Err(PeerError::FileChanged { name: file.name.clone(), listed: file.bytes, bytes });
        }
        let (partial, arrived, received) = receive(&mut stream, partial, file.bytes, &mut progress).await?;
        received.map_err(|error| self.ended(error, file, arrived))?;
        // Its end says that the other Mac is ready for the next.
        let _ = timeout(LINE, stream.read_u8()).await;
        on_disk(move || partial.finish()).await
    }

    /// Why a file is not whole.
    fn ended(&self, error: io::Error, file: &ModelFile, arrived: u64) -> PeerError {
        match error.kind() {
            _ if !self.peers.has(&self.key, Role::Lender) => PeerError::NotPaired,
            io::ErrorKind::TimedOut => PeerError::Silent { within: STUCK },
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                PeerError::CutShort { name: file.name.clone(), arrived, bytes: file.bytes }
            }
            _ => tls::broken(error),
        }
    }
}
