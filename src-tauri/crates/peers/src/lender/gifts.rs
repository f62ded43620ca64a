//! What a lending Mac is given of a model: taken, checked and put where its workers find it.

use std::time::Duration;

use foretoken_protocol::ErrorReport;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep, timeout};

use super::answer::{Stream, grant, refuse};
use super::host::{Host, Keep, Offer};
use super::refusal::Refusal;
use super::store::{Place, StoreError};
use crate::arriving::{STUCK, on_disk, receive};
use crate::ask::{Answer, Has, Pipe};
use crate::error::PeerError;
use crate::files::{ModelFile, Sha256};
use crate::gift::{Announced, are_of_a_gift};
use crate::partial::Partial;
use crate::{line, sockets};

/// How long a Mac waits that wants to give while somebody else does, and how often it is tried.
const WAIT: Duration = Duration::from_secs(3);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Takes files of a model. What has arrived is kept, however this ends. `from`: what the Mac that gives is called.
pub(super) async fn take(stream: Stream, host: &dyn Host, offer: Offer, from: String, files: Vec<Announced>) {
    if !are_of_a_gift(&files) {
        return refuse(stream, Refusal::Gift).await;
    }
    let (store, most, held) = match host.keep(&offer).await {
        Ok(Keep::In(store, most, held)) => (store, most, held),
        Ok(Keep::Model) => {
            if let Some(stream) = grant(stream, Has::Model).await {
                sockets::leave(stream).await;
            }
            return;
        }
        Err(report) => return refuse(stream, report).await,
    };
    // Whoever stopped giving has it yet for a moment.
    let until = Instant::now() + WAIT;
    let begun = loop {
        let (store, offer, from, wanted) = (store.clone(), offer.clone(), from.clone(), files.clone());
        let begin = move || store.begin((&offer.borrower, &from), &offer.model, &wanted, most);
        match on_disk(begin).await {
            Err(StoreError::Giving) if Instant::now() < until => sleep(BETWEEN_TRIES).await,
            begun => break begun,
        }
    };
    let (place, arrived) = match begun {
        Ok(begun) => begun,
        Err(error) => return refuse(stream, error).await,
    };
    let missing: Vec<(Announced, u64)> =
        files.into_iter().zip(&arrived).filter_map(|(file, arrived)| Some((file, (*arrived)?))).collect();
    // Whoever hears that all is there may ask for more at once: nothing is held then.
    let mut holding = (!missing.is_empty()).then_some((place, held));
    let Some(mut stream) = grant(stream, Has::Files(arrived)).await else { return };
    let last = missing.len();
    for (number, (file, from)) in (1..).zip(missing) {
        let Some((place, _)) = &holding else { return };
        let taken = take_file(&mut stream, place, file, from).await;
        if taken.is_err() || number == last {
            holding = None;
        }
        match taken {
            Ok(()) if line::write(&mut stream, &Answer::Granted(Pipe {})).await.is_ok() => {}
            Ok(()) => return,
            // Whoever has gone hears nothing.
            Err(PeerError::Broken { .. }) => return,
            Err(error) => return refuse(stream, ErrorReport::from(StoreError::of(error))).await,
        }
    }
    sockets::leave(stream).await;
}

/// Takes what is missing of a file, and puts it to its place once it is whole and has the hash that is told last.
async fn take_file(stream: &mut Stream, place: &Place, file: Announced, from: u64) -> Result<(), PeerError> {
    let (to, bytes) = (place.path(&file.name), file.bytes);
    let wanted = ModelFile { name: file.name, bytes, sha256: None };
    let partial = on_disk(move || Partial::open(wanted, to, true)).await?;
    if partial.bytes() != from {
        return Err(PeerError::NotUnderstood { detail: "a file has changed meanwhile".to_owned() });
    }
    let broken = |source| PeerError::Broken { source };
    let (partial, _, received) = receive(stream, partial, bytes, |_| {}).await?;
    received.map_err(broken)?;
    let mut sum = [0; 32];
    timeout(STUCK, stream.read_exact(&mut sum)).await.map_err(|late| broken(late.into()))?.map_err(broken)?;
    on_disk(move || partial.finish_as(Sha256::of_bytes(sum))).await
}
