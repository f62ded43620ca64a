//! What becomes of one connection: who is it, what is asked, and is it granted.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::answer::{Stream, grant, refuse};
use super::files::{self, Copies};
use super::gifts;
use super::host::{Host, Loan, Offer};
use super::queue::Place;
use super::refusal::{Refusal, SIZES};
use super::rings::Rings;
use super::work::work;
use crate::ask::{Ask, Pipe, RingId, Whole};
use crate::book::{Peers, Role};
use crate::error::PeerError;
use crate::files::is_plain;
use crate::forward::join;
use crate::gift::ModelId;
use crate::hex::Hex;
use crate::identity::PublicKey;
use crate::line::{self, LINE, LONGEST_ASK};
use crate::loopback::{self, Seat};
use crate::pairing::{self, Attempt, Keys, Lasts, Pairing, PairingError};
use crate::tls::{self, Connected};
use crate::{measure, sockets};

/// What all connections share.
pub(super) struct Door {
    pub(super) acceptor: TlsAcceptor,
    pub(super) key: PublicKey,
    pub(super) name: String,
    pub(super) peers: Peers,
    pub(super) pairing: Pairing,
    pub(super) host: Arc<dyn Host>,
    pub(super) rings: Rings,
    pub(super) copies: Copies,
}

impl Door {
    /// Serves a connection from this address to its end, once it is its turn.
    pub(super) async fn serve(&self, stream: TcpStream, from: IpAddr, place: Place) {
        // Given back as soon as it is known what is asked.
        let handshake = place.turn().await;
        sockets::set_up(&stream);
        let Some(Connected { mut stream, key }) = tls::accept(&self.acceptor, stream).await else { return };
        let first = line::read(&mut stream, LONGEST_ASK, LINE).await;
        drop(handshake);
        match first {
            Ok(Ask::Pair { name, commitment }) => self.pair(stream, (key, from), &name, commitment).await,
            Ok(ask) => match self.peers.stay(key, Role::Borrower) {
                // All that a connection holds goes with it when it is not paired any more.
                Some(stay) => tokio::select! {
                    () = stay => {}
                    () = self.answer(stream, key, ask) => {}
                },
                None => refuse(stream, Refusal::NotPaired).await,
            },
            Err(PeerError::TooLong { most }) => refuse(stream, Refusal::TooLong { most }).await,
            Err(PeerError::NotUnderstood { .. }) => refuse(stream, Refusal::NotUnderstood).await,
            Err(_) => {}
        }
    }

    async fn answer(&self, stream: Stream, key: PublicKey, ask: Ask) {
        match ask {
            // Was told apart before.
            Ask::Pair { .. } => {}
            Ask::Inventory => {
                let inventory = self.host.inventory().await;
                if let Some(stream) = grant(stream, inventory).await {
                    sockets::leave(stream).await;
                }
            }
            Ask::Lend { ring, rank, size, model } => {
                self.lend(stream, key, ring, (rank, size), model).await;
            }
            Ask::Give { model, files } => {
                let from = self.peers.book().peers.remove(&key).map_or(String::new(), |peer| peer.name);
                gifts::take(stream, &*self.host, Offer { borrower: key, model }, from, files).await;
            }
            Ask::RingIn { ring } => match self.rings.way_in(ring, key) {
                Ok((listen, alive)) => {
                    let carried = async {
                        let stream = grant(stream, Pipe {}).await?;
                        join(stream, loopback::way_in(listen).await.ok()?, None).await.ok()
                    };
                    tokio::select! {
                        () = alive.ended() => {}
                        _ = carried => {}
                    }
                }
                Err(refusal) => refuse(stream, refusal).await,
            },
            Ask::RingOut { ring } => match self.rings.way_out(ring, key) {
                Ok((next, alive)) => {
                    let carried = async {
                        let stream = grant(stream, Pipe {}).await?;
                        join(loopback::way_out(next).await.ok()?, stream, None).await.ok()
                    };
                    tokio::select! {
                        () = alive.ended() => {}
                        _ = carried => {}
                    }
                }
                Err(refusal) => refuse(stream, refusal).await,
            },
            Ask::Files { model } => match self.host.files(&model).await {
                Ok(mut files) => {
                    // One that nobody may ask for is not offered.
                    files.retain(|file| is_plain(&file.name));
                    if let Some(stream) = grant(stream, files).await {
                        sockets::leave(stream).await;
                    }
                }
                Err(report) => refuse(stream, report).await,
            },
            Ask::File { model, name, from } => self.copy(stream, key, &model, &name, from).await,
            Ask::Measure { pings, bytes } => {
                if pings > measure::MOST_PINGS || bytes > measure::MOST_BYTES {
                    refuse(stream, Refusal::Measure { pings, bytes }).await;
                } else if let Some(mut stream) = grant(stream, Pipe {}).await {
                    let _ = measure::serve(&mut stream, pings, bytes).await;
                    sockets::leave(stream).await;
                }
            }
        }
    }

    async fn lend(
        &self,
        stream: Stream,
        key: PublicKey,
        ring: RingId,
        (rank, size): (u32, u32),
        model: ModelId,
    ) {
        if !SIZES.contains(&size) || rank == 0 || rank >= size {
            return refuse(stream, Refusal::Place { rank, size }).await;
        }
        let Some(terms) = self.peers.terms(&key) else { return refuse(stream, Refusal::NotPaired).await };
        let seat = match Seat::new(rank, size).await {
            Ok(seat) => seat,
            Err(error) => return refuse(stream, Refusal::NoPort { detail: error.to_string() }).await,
        };
        let loan = Loan { borrower: key, terms, model, place: seat.place };
        let standing = match self.rings.stand(ring, key, seat, self.host.most_workers()) {
            Ok(standing) => standing,
            Err(refusal) => return refuse(stream, refusal).await,
        };
        match self.host.start(loan).await {
            Ok(worker) => {
                if let Some(stream) = grant(stream, Pipe {}).await {
                    work(stream, worker, standing).await;
                }
            }
            Err(report) => {
                // Whoever hears of it may ask again at once.
                drop(standing);
                refuse(stream, report).await;
            }
        }
    }

    async fn copy(&self, stream: Stream, key: PublicKey, model: &str, name: &str, from: u64) {
        let copy = match self.copies.begin(key).await {
            Ok(copy) => copy,
            Err(refusal) => return refuse(stream, refusal).await,
        };
        match files::open(&*self.host, model, name, from).await {
            Ok(opened) => {
                let Some(mut stream) = grant(stream, Whole { bytes: opened.bytes }).await else { return };
                if files::send(&mut stream, opened).await.is_ok() {
                    // Whoever sees the end of it may ask for the next at once.
                    drop(copy);
                    sockets::leave(stream).await;
                }
            }
            Err(report) => {
                drop(copy);
                refuse(stream, report).await;
            }
        }
    }

    async fn pair(
        &self,
        mut stream: Stream,
        (key, from): (PublicKey, IpAddr),
        name: &str,
        commitment: Hex<32>,
    ) {
        let slot = match self.pairing.begin(from) {
            Ok(slot) => slot,
            Err(error) => return refuse(stream, error).await,
        };
        let keys = Keys { borrower: key, lender: self.key };
        match pairing::answer(&mut stream, &keys, &self.name, (name, commitment)).await {
            Ok(agreed) => {
                let (role, lasts) = ((key, Role::Borrower), Lasts::Open(slot));
                self.pairing.show(Attempt::new(stream, agreed, role, self.peers.clone(), lasts)).await;
            }
            Err(error @ PairingError::Mismatch) => refuse(stream, error).await,
            Err(_) => {}
        }
    }
}
