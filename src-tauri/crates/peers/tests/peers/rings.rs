//! A ring over a Mac and two that it uses.

use std::sync::atomic::Ordering;
use std::time::Duration;

use foretoken_peers::{Ring, RingPlace, Shape};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::macs::{Laptop, Studio, Work, model, until};

/// Connects as MLX's ring does: to the next rank, and from the one before.
async fn neighbours(place: RingPlace) -> (TcpStream, TcpStream) {
    // A process needs a moment until it listens.
    sleep(Duration::from_millis(100)).await;
    let listener = TcpListener::bind(place.listen).await.unwrap();
    let (next, before) = tokio::join!(TcpStream::connect(place.next), listener.accept());
    (next.unwrap(), before.unwrap().0)
}

/// Passes on a token with its own rank added, and sends its rank back; ends with its input.
fn token(place: RingPlace, mut control: DuplexStream) -> JoinHandle<()> {
    tokio::spawn(async move {
        let (mut next, mut before) = neighbours(place).await;
        let rank = b"0123"[place.rank as usize];
        before.write_all(&[rank]).await.unwrap();
        let mut token = vec![0; place.rank as usize];
        before.read_exact(&mut token).await.unwrap();
        token.push(rank);
        next.write_all(&token).await.unwrap();
        let _ = control.read_to_end(&mut Vec::new()).await;
    })
}

#[tokio::test]
async fn a_token_goes_round_and_words_go_back() {
    for shape in [None, Some(Shape { delay: Duration::from_millis(3), bytes_per_second: Some(1 << 20) })] {
        let (one, two) = (Studio::new(Work::Task(token)).await, Studio::new(Work::Task(token)).await);
        let laptop = Laptop::new();
        let lenders = [one.paired(&laptop), two.paired(&laptop)];
        let mut ring = Ring::form(&lenders, &model("small"), shape).await.unwrap();
        assert_eq!((ring.place.rank, ring.place.size, ring.controls.len()), (0, 3, 2));
        let (mut next, mut before) = neighbours(ring.place).await;
        assert_eq!(next.read_u8().await.unwrap(), b'1');
        next.write_all(b"0").await.unwrap();
        let mut token = [0; 3];
        tokio::select! {
            read = before.read_exact(&mut token) => assert!(read.is_ok()),
            ended = ring.ended() => panic!("a link is gone: {ended:?}"),
        }
        assert_eq!(&token, b"012");
        assert!(TcpStream::connect(ring.place.next).await.is_err(), "one connection and no more");
        // The end of the last rank is felt by rank 0 and ends its link.
        drop(ring.controls.pop());
        let _ = before.read_to_end(&mut Vec::new()).await;
        drop(before);
        let _ = ring.ended().await;
        drop((ring, next));
        until(|| [&one, &two].iter().all(|mac| mac.host.killed.load(Ordering::SeqCst) == 1)).await;
    }
}

#[tokio::test]
async fn a_ring_that_cannot_be_formed_leaves_no_worker() {
    let (one, two) = (Studio::new(Work::Task(token)).await, Studio::new(Work::None).await);
    let laptop = Laptop::new();
    let lenders = [one.paired(&laptop), two.paired(&laptop)];
    assert_eq!(Ring::form(&lenders, &model("small"), None).await.unwrap_err().code(), "on_battery");
    until(|| one.host.killed.load(Ordering::SeqCst) == 1).await;
}
