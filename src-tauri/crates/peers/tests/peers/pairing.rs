//! Two Macs get to know each other, and nobody comes between.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use foretoken_peers::{Attempt, Borrower, Clock, OPEN, Opening, Pairing, PairingError, PeerError, Peers};
use serde_json::json;
use tokio::net::TcpListener;

use crate::macs::{Laptop, Studio, Work};
use crate::raw;

/// Both sides of an attempt.
async fn attempts(laptop: &Laptop, address: &str, opening: &mut Opening) -> (Attempt, Attempt) {
    let ours = Borrower::pair(address, &laptop.identity, "Lap\ntop", &laptop.peers).await.unwrap();
    (ours, opening.next().await.unwrap())
}

fn is_empty(peers: &Peers) -> bool {
    peers.book().peers.is_empty()
}

fn refused(error: PairingError) -> String {
    let PairingError::Peer(PeerError::Refused(report)) = error else { panic!("{error}") };
    report.code
}

#[tokio::test]
async fn both_show_the_same_digits_and_know_each_other_when_both_confirm() {
    let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
    let mut opening = studio.pairing.open();
    let (ours, theirs) = attempts(&laptop, &studio.address(), &mut opening).await;
    assert_eq!(ours.digits(), theirs.digits());
    assert_eq!((ours.name(), theirs.name()), ("Studio", "Lap top"));
    let (ours, theirs) = tokio::join!(ours.confirm(true), theirs.confirm(true));
    assert_eq!(ours.unwrap().key, studio.identity.key());
    assert_eq!(theirs.unwrap().key, laptop.identity.key());
    let (here, there) = (laptop.peers.book(), studio.peers.book());
    let (lends, borrows) = (&here.peers[&studio.identity.key()], &there.peers[&laptop.identity.key()]);
    assert!(lends.lends && lends.borrows.is_none() && !borrows.lends && borrows.borrows.is_some());
    drop(opening);
    assert_eq!(laptop.borrower(&studio).inventory().await.unwrap().models[0].id, "small");
}

#[tokio::test]
async fn one_no_is_enough_on_either_side() {
    let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
    let mut opening = studio.pairing.open();
    for (here, there) in [(true, false), (false, true), (false, false)] {
        let (ours, theirs) = attempts(&laptop, &studio.address(), &mut opening).await;
        let (ours, theirs) = tokio::join!(ours.confirm(here), theirs.confirm(there));
        for (said, error) in [(here, ours.unwrap_err()), (there, theirs.unwrap_err())] {
            assert!(matches!(
                (said, error),
                (true, PairingError::DeclinedThere) | (false, PairingError::Declined)
            ));
        }
        assert!(is_empty(&studio.peers) && is_empty(&laptop.peers));
    }
}

#[tokio::test]
async fn whoever_goes_before_both_have_confirmed_is_not_known() {
    let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
    let mut opening = studio.pairing.open();
    let (ours, theirs) = attempts(&laptop, &studio.address(), &mut opening).await;
    drop(ours);
    assert!(theirs.confirm(true).await.is_err());
    let (ours, theirs) = attempts(&laptop, &studio.address(), &mut opening).await;
    drop(theirs);
    assert!(ours.confirm(true).await.is_err());
    assert!(is_empty(&studio.peers) && is_empty(&laptop.peers));
}

#[tokio::test]
async fn whoever_pairs_with_both_has_other_digits_for_each() {
    let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
    let (false_studio, false_laptop) = (Studio::new(Work::None).await, Laptop::new());
    let (mut opening, mut false_opening) = (studio.pairing.open(), false_studio.pairing.open());
    let (ours, _between) = attempts(&laptop, &false_studio.address(), &mut false_opening).await;
    let (_between, theirs) = attempts(&false_laptop, &studio.address(), &mut opening).await;
    assert_ne!(ours.digits(), theirs.digits());
}

#[tokio::test]
async fn lines_that_are_carried_between_other_keys_are_not_believed() {
    let (studio, laptop, between) = (Studio::new(Work::None).await, Laptop::new(), Laptop::new());
    let _opening = studio.pairing.open();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, studio_address) = (listener.local_addr().unwrap().to_string(), studio.address());
    let carried = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut victim = raw::accept_as(stream, (&between.identity).into()).await.unwrap();
        let mut studio = raw::connect_as(&studio_address, &between.identity).await;
        // The ask, the answer to it, what is revealed; and what the studio says to that.
        let ask = raw::read(&mut victim).await.unwrap();
        raw::write(&mut studio, ask.to_string().as_bytes()).await;
        let granted = raw::read(&mut studio).await.unwrap();
        raw::write(&mut victim, granted.to_string().as_bytes()).await;
        let reveal = raw::read(&mut victim).await.unwrap();
        raw::write(&mut studio, reveal.to_string().as_bytes()).await;
        let answer = raw::read(&mut studio).await;
        // The own number in place of one that the studio did not tell.
        raw::write(&mut victim, json!({ "granted": reveal }).to_string().as_bytes()).await;
        raw::refused(answer)
    });
    let ours = Borrower::pair(&address, &laptop.identity, "Laptop", &laptop.peers).await;
    assert!(matches!(ours, Err(PairingError::Mismatch)));
    assert_eq!(carried.await.unwrap(), "pairing_mismatch");
}

#[tokio::test]
async fn what_was_revealed_once_reveals_nothing_again() {
    let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
    let _opening = studio.pairing.open();
    let recorded = json!({ "nonce": "11".repeat(32) }).to_string();
    let pair = json!({ "ask": "pair", "name": "L", "commitment": "22".repeat(32) }).to_string();
    let mut stream = raw::connect_as(&studio.address(), &laptop.identity).await;
    raw::write(&mut stream, pair.as_bytes()).await;
    assert!(raw::read(&mut stream).await.unwrap()["granted"]["commitment"].is_string());
    raw::write(&mut stream, recorded.as_bytes()).await;
    assert_eq!(raw::refused(raw::read(&mut stream).await), "pairing_mismatch");
    assert!(is_empty(&studio.peers));
}

#[tokio::test]
async fn a_stranger_can_do_nothing_but_pair_and_that_only_while_it_is_open() {
    let (studio, laptop) = (Studio::new(Work::Shell("cat")).await, Laptop::new());
    let closed = Borrower::pair(&studio.address(), &laptop.identity, "L", &laptop.peers).await.unwrap_err();
    assert!(matches!(closed, PairingError::Closed), "{closed}");
    let opening = studio.pairing.open();
    let inventory = studio.unpaired(&laptop).inventory().await.unwrap_err();
    assert_eq!(inventory.code(), "peer_not_paired");
    drop(opening);
    let inventory = laptop.borrower(&studio).inventory().await.unwrap_err();
    assert!(matches!(inventory, PeerError::Unknown), "{inventory}");
    assert!(studio.loans().is_empty());
}

#[derive(Debug)]
struct ByHand(Instant, Mutex<Duration>);

impl Clock for ByHand {
    fn now(&self) -> Instant {
        self.0 + *self.1.lock().unwrap()
    }
}

#[tokio::test]
async fn one_attempt_at_a_time_five_an_hour_for_two_minutes() {
    let clock = Arc::new(ByHand(Instant::now(), Mutex::default()));
    let pairing = Pairing::with_clock(Arc::clone(&clock) as Arc<dyn Clock>);
    let (studio, laptop) = (Studio::with(Work::None, pairing).await, Laptop::new());
    let address = studio.address();
    let mut opening = studio.pairing.open();
    let (ours, theirs) = attempts(&laptop, &address, &mut opening).await;
    let second = Borrower::pair(&address, &laptop.identity, "L", &laptop.peers).await.unwrap_err();
    assert_eq!(refused(second), "pairing_busy");
    *clock.1.lock().unwrap() += OPEN;
    let (ours, theirs) = tokio::join!(ours.confirm(true), theirs.confirm(true));
    assert!(matches!(theirs, Err(PairingError::Expired { .. })));
    assert!(ours.is_err() && opening.next().await.is_none());
    assert!(is_empty(&studio.peers) && is_empty(&laptop.peers));
    let mut opening = studio.pairing.open();
    for _ in 0..4 {
        drop(attempts(&laptop, &address, &mut opening).await);
    }
    let sixth = Borrower::pair(&address, &laptop.identity, "L", &laptop.peers).await.unwrap_err();
    assert_eq!(refused(sixth), "pairing_too_often");
}
