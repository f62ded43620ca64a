//! Many bytes through a ring's links, and how fast they are.

use std::time::Duration;

use foretoken_peers::{Ring, RingPlace};
use ring::digest::{Context, SHA256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::macs::{Laptop, Studio, Work, model};

const BYTES: usize = 64 << 20;
const PIECE: usize = 1 << 20;

/// Writes as many bytes as there are, no two pieces the same, and their digest after them.
async fn write(mut to: impl AsyncWrite + Unpin, seed: u8) {
    let (mut piece, mut context) = (vec![seed; PIECE], Context::new(&SHA256));
    for number in 0..BYTES / PIECE {
        piece[..8].copy_from_slice(&number.to_le_bytes());
        context.update(&piece);
        to.write_all(&piece).await.unwrap();
    }
    to.write_all(context.finish().as_ref()).await.unwrap();
    to.shutdown().await.unwrap();
}

/// Reads them to their end, and checks the digest.
async fn read(mut from: impl AsyncRead + Unpin) {
    let (mut piece, mut context, mut left) = (vec![0; PIECE], Context::new(&SHA256), BYTES);
    while left > 0 {
        let length = left.min(PIECE);
        let length = from.read(&mut piece[..length]).await.unwrap();
        assert_ne!(length, 0);
        context.update(&piece[..length]);
        left -= length;
    }
    let mut digest = Vec::new();
    from.read_to_end(&mut digest).await.unwrap();
    assert_eq!(digest, context.finish().as_ref());
}

/// Both at once on the way from rank 0.
fn both_ways(place: RingPlace, mut control: DuplexStream) -> JoinHandle<()> {
    tokio::spawn(async move {
        let listener = TcpListener::bind(place.listen).await.unwrap();
        let (before, _) = listener.accept().await.unwrap();
        let (from, to) = before.into_split();
        tokio::join!(write(to, 1), read(from));
        control.write_all(b"right").await.unwrap();
        let _ = control.read_to_end(&mut Vec::new()).await;
    })
}

/// Byte by byte, both ways.
fn bytes(place: RingPlace, mut control: DuplexStream) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut next = TcpStream::connect(place.next).await.unwrap();
        for byte in 0..=255 {
            next.write_all(&[byte]).await.unwrap();
            assert_eq!(next.read_u8().await.unwrap(), byte);
        }
        control.write_all(b"right").await.unwrap();
        let _ = control.read_to_end(&mut Vec::new()).await;
    })
}

async fn formed(work: fn(RingPlace, DuplexStream) -> JoinHandle<()>) -> (Studio, Ring) {
    let (studio, laptop) = (Studio::new(Work::Task(work)).await, Laptop::new());
    let ring = Ring::form(&[studio.paired(&laptop)], &model("small"), None).await.unwrap();
    (studio, ring)
}

async fn says_right(ring: &mut Ring) {
    let mut said = [0; 5];
    ring.controls[0].read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"right");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_megabytes_go_both_ways_and_each_way_ends_by_itself() {
    let (_studio, mut ring) = formed(both_ways).await;
    let (from, to) = TcpStream::connect(ring.place.next).await.unwrap().into_split();
    tokio::join!(write(to, 2), read(from));
    says_right(&mut ring).await;
}

#[tokio::test]
async fn single_bytes_are_not_held_back() {
    let (_studio, mut ring) = formed(bytes).await;
    let listener = TcpListener::bind(ring.place.listen).await.unwrap();
    let (mut before, _) = listener.accept().await.unwrap();
    for byte in 0..=255 {
        assert_eq!(before.read_u8().await.unwrap(), byte);
        before.write_all(&[byte]).await.unwrap();
    }
    says_right(&mut ring).await;
}

#[tokio::test]
async fn a_link_is_measured() {
    let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
    let measured = studio.paired(&laptop).measure(1 << 20).await.unwrap();
    assert!(measured.round_trip > Duration::ZERO);
    assert!(measured.sent_per_second > 0.0 && measured.received_per_second > 0.0);
}
