//! A worker whose input and output another Mac has.

use std::process::Command;

use foretoken_peers::{Lent, PeerError, RingId, Terms};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::macs::{Laptop, Studio, Work, echoes, model, until};

/// A worker that tells its process and then repeats what it hears.
const TELLS: Work = Work::Shell("echo $$; exec cat");

async fn lend(borrower: &foretoken_peers::Borrower) -> Result<Lent, PeerError> {
    borrower.lend(RingId::random().unwrap(), 1, 2, &model("small")).await
}

/// The worker's process, and its stream.
async fn started(lent: Lent) -> (u32, BufReader<foretoken_peers::PeerStream>) {
    let mut control = BufReader::new(lent.control);
    let mut line = String::new();
    control.read_line(&mut line).await.unwrap();
    (line.trim().parse().unwrap(), control)
}

fn runs(process: u32) -> bool {
    let exists = Command::new("sh").args(["-c", &format!("kill -0 {process} 2>/dev/null")]).status();
    exists.unwrap().success()
}

#[tokio::test]
async fn the_terms_come_with_the_loan_and_the_worker_ends_with_the_connection() {
    let (studio, laptop) = (Studio::new(TELLS).await, Laptop::new());
    let (process, mut control) = started(lend(&studio.paired(&laptop)).await.unwrap()).await;
    assert!(echoes(&mut control).await && runs(process));
    let loan = &studio.loans()[0];
    assert_eq!(loan.borrower, laptop.identity.key());
    assert_eq!(loan.terms, Terms { most_bytes: Some(1000), only_on_power: true });
    assert!(loan.place.listen.ip().is_loopback() && loan.place.next.ip().is_loopback());
    assert_eq!((loan.place.rank, loan.place.size), (1, 2));
    drop(control);
    until(|| !runs(process)).await;
}

#[tokio::test]
async fn the_end_of_what_is_sent_ends_the_worker_too() {
    let (studio, laptop) = (Studio::new(Work::Shell("echo $$; exec sleep 100")).await, Laptop::new());
    let (process, mut control) = started(lend(&studio.paired(&laptop)).await.unwrap()).await;
    control.shutdown().await.unwrap();
    assert_eq!(control.read(&mut [0]).await.unwrap(), 0);
    until(|| !runs(process)).await;
}

#[tokio::test]
async fn the_last_words_of_a_worker_arrive() {
    let (studio, laptop) = (Studio::new(Work::Shell("read line; echo \"last: $line\"")).await, Laptop::new());
    let mut control = lend(&studio.paired(&laptop)).await.unwrap().control;
    control.write_all(b"words\n").await.unwrap();
    // More than it reads: its end is not lost in that.
    let _ = control.write_all(&[b'x'; 100_000]).await;
    let mut said = String::new();
    control.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "last: words\n");
}

#[tokio::test]
async fn one_worker_at_a_time() {
    let (studio, laptop) = (Studio::new(Work::Shell("cat")).await, Laptop::new());
    let borrower = studio.paired(&laptop);
    let first = lend(&borrower).await.unwrap();
    let second = lend(&borrower).await.unwrap_err();
    assert_eq!(second.code(), "lender_busy");
    assert!(second.to_string().contains("1 of 1"));
    assert_eq!(studio.loans().len(), 1);
    drop(first);
    while lend(&borrower).await.is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_host_may_refuse_and_be_asked_again() {
    let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
    let borrower = studio.paired(&laptop);
    for _ in 0..2 {
        let PeerError::Refused(report) = lend(&borrower).await.unwrap_err() else { panic!() };
        assert_eq!((report.code.as_str(), report.hint.as_str()), ("on_battery", "Plug it in."));
    }
}

#[tokio::test]
async fn a_mac_that_is_removed_loses_its_worker_at_once() {
    for removed_by_lender in [true, false] {
        let (studio, laptop) = (Studio::new(TELLS).await, Laptop::new());
        let borrower = studio.paired(&laptop);
        let (process, mut control) = started(lend(&borrower).await.unwrap()).await;
        assert!(echoes(&mut control).await);
        let mut said = Vec::new();
        if removed_by_lender {
            assert!(studio.peers.remove(&laptop.identity.key()));
            let _ = control.read_to_end(&mut said).await;
            assert!(matches!(borrower.inventory().await, Err(PeerError::Unknown)));
        } else {
            assert!(laptop.peers.remove(&studio.identity.key()));
            assert!(control.read_to_end(&mut said).await.is_err());
            assert!(control.write_all(b"more").await.is_err());
            drop(control);
        }
        assert!(said.is_empty());
        until(|| !runs(process)).await;
    }
}

#[tokio::test]
async fn a_listener_that_stops_takes_its_workers_along() {
    let (studio, laptop) = (Studio::new(TELLS).await, Laptop::new());
    let borrower = studio.paired(&laptop);
    let (process, mut control) = started(lend(&borrower).await.unwrap()).await;
    studio.lender.stop().await;
    let _ = control.read_to_end(&mut Vec::new()).await;
    until(|| !runs(process)).await;
    assert!(matches!(borrower.inventory().await, Err(PeerError::Unreachable { .. })));
}
