//! Who is not let in, and what reaches nobody.

use foretoken_peers::{Borrower, Identity, Peer, PeerError, Ring, RingId};
use rustls::version::{TLS12, TLS13};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
#[cfg(target_os = "linux")]
use tokio::net::TcpSocket;
use tokio::net::{TcpListener, TcpStream};

use crate::macs::{Laptop, Studio, Work, echoes, model};
use crate::raw;

fn lend(ring: &str) -> Vec<u8> {
    json!({"ask": "lend", "ring": ring, "rank": 1, "size": 2, "model": model("small")}).to_string().into()
}

/// Whether a connection is closed without a word.
async fn is_closed(stream: &mut (impl AsyncReadExt + Unpin)) -> bool {
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said).await;
    said.is_empty()
}

#[tokio::test]
async fn without_the_right_tls_nothing_is_heard() {
    let (studio, laptop) = (Studio::new(Work::Shell("cat")).await, Laptop::new());
    studio.paired(&laptop);
    let address = studio.address();
    let mut plain = TcpStream::connect(&address).await.unwrap();
    plain.write_all(&lend(&"00".repeat(16))).await.unwrap();
    plain.write_all(b"\n").await.unwrap();
    plain.shutdown().await.unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said).await;
    assert!(!String::from_utf8_lossy(&said).contains("granted"));
    let key = Some(raw::Shown::from(&laptop.identity));
    assert!(raw::connect(&address, key, &[&TLS12], &["foretoken/1"]).await.is_err());
    assert!(raw::connect(&address, key, &[&TLS13], &["foretoken/2"]).await.is_err());
    let stranger = Identity::generate().unwrap();
    for (key, protocols) in
        [(key, &[][..]), (None, &["foretoken/1"]), (Some((&stranger).into()), &["foretoken/1"])]
    {
        // In TLS 1.3 the client is done before the server has looked at it.
        if let Ok(mut stream) = raw::connect(&address, key, &[&TLS13], protocols).await {
            raw::write(&mut stream, &lend(&"00".repeat(16))).await;
            assert!(is_closed(&mut stream).await);
        }
    }
    assert!(studio.loans().is_empty());
    assert!(
        echoes(
            &mut laptop
                .borrower(&studio)
                .lend(RingId::random().unwrap(), 1, 2, &model("small"))
                .await
                .unwrap()
                .control
        )
        .await
    );
}

#[tokio::test]
async fn a_certificate_without_its_key_is_worth_nothing() {
    let (studio, laptop, thief) = (Studio::new(Work::Shell("cat")).await, Laptop::new(), Laptop::new());
    studio.paired(&laptop);
    let shown = raw::Shown { certificate: &laptop.identity, key: &thief.identity };
    let stolen = raw::connect(&studio.address(), Some(shown), &[&TLS13], &["foretoken/1"]).await;
    if let Ok(mut stream) = stolen {
        raw::write(&mut stream, &lend(&"00".repeat(16))).await;
        assert!(is_closed(&mut stream).await);
    }
    assert!(studio.loans().is_empty());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let key = studio.identity.key();
    let served = async {
        let (stream, _) = listener.accept().await.unwrap();
        let shown = raw::Shown { certificate: &studio.identity, key: &thief.identity };
        raw::accept_as(stream, shown).await
    };
    let borrower = Borrower::new(address, laptop.identity.clone(), key, laptop.peers.clone());
    let (answer, served) = tokio::join!(borrower.inventory(), served);
    assert!(matches!(answer, Err(PeerError::Stranger { .. })) && served.is_err());
}

#[tokio::test]
async fn a_key_with_another_role_is_refused() {
    let (studio, laptop) = (Studio::new(Work::Shell("cat")).await, Laptop::new());
    let mut book = studio.peers.book();
    let lends = Peer { name: "L".into(), borrows: None, lends: true };
    book.peers.insert(laptop.identity.key(), lends);
    studio.peers.replace(book);
    let error = studio.unpaired(&laptop).inventory().await.unwrap_err();
    assert!(matches!(error, PeerError::Unknown), "{error}");
    // Nor does a Mac use one that is not known to lend itself.
    laptop.peers.remove(&studio.identity.key());
    let error = laptop.borrower(&studio).inventory().await.unwrap_err();
    assert!(matches!(error, PeerError::NotPaired), "{error}");
}

#[tokio::test]
async fn another_mac_at_the_address_is_not_spoken_to() {
    let (studio, other, laptop) =
        (Studio::new(Work::None).await, Studio::new(Work::None).await, Laptop::new());
    studio.paired(&laptop);
    let key = studio.identity.key();
    let borrower = Borrower::new(other.address(), laptop.identity.clone(), key, laptop.peers.clone());
    assert!(matches!(borrower.inventory().await, Err(PeerError::OtherKey { .. })));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let nobody = Borrower::new(address, laptop.identity.clone(), key, laptop.peers.clone());
    assert!(matches!(nobody.inventory().await, Err(PeerError::Unreachable { .. })));
}

#[tokio::test]
async fn of_many_addresses_the_one_with_the_right_key_is_taken() {
    let (studio, other, laptop) =
        (Studio::new(Work::None).await, Studio::new(Work::None).await, Laptop::new());
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = listener.local_addr().unwrap().to_string();
    drop(listener);
    let (mute, key) = (mute.local_addr().unwrap().to_string(), studio.identity.key());
    let reach =
        async |addresses: &[String]| Borrower::first_reachable(addresses, &laptop.identity, key).await;
    let (own, others) = (studio.address(), other.address());
    assert_eq!(reach(&[nobody.clone(), mute.clone(), others.clone(), own.clone()]).await.unwrap(), own);
    let answered = reach(&[nobody.clone(), others.clone(), mute.clone(), nobody.clone()]).await.unwrap_err();
    assert!(matches!(answered, PeerError::OtherKey { address } if address == others));
    assert!(matches!(reach(&[nobody]).await, Err(PeerError::Unreachable { .. })));
    assert!(matches!(reach(&[mute]).await, Err(PeerError::Silent { .. })));
    assert!(matches!(reach(&[]).await, Err(PeerError::NoAddress)));
}

#[tokio::test]
async fn anothers_ring_is_as_unknown_as_none() {
    let (studio, owner, other) = (Studio::new(Work::Shell("cat")).await, Laptop::new(), Laptop::new());
    studio.paired(&owner);
    studio.paired(&other);
    let ring = "000000000000000000000000000000ff";
    let lend = lend(ring);
    let mut control = raw::connect_as(&studio.address(), &owner.identity).await;
    raw::write(&mut control, &lend).await;
    assert!(raw::read(&mut control).await.unwrap()["granted"].is_object());
    let place = studio.loans()[0].place;
    let worker = TcpListener::bind(place.listen).await.unwrap();
    for ask in ["ring_in", "ring_out"] {
        let line = format!(r#"{{"ask":"{ask}","ring":"{ring}"}}"#);
        let mut stream = raw::connect_as(&studio.address(), &other.identity).await;
        raw::write(&mut stream, line.as_bytes()).await;
        assert_eq!(raw::refused(raw::read(&mut stream).await), "ring_unknown");
        let unknown = line.replace(ring, "000000000000000000000000000000fe");
        let mut stream = raw::connect_as(&studio.address(), &owner.identity).await;
        raw::write(&mut stream, unknown.as_bytes()).await;
        assert_eq!(raw::refused(raw::read(&mut stream).await), "ring_unknown");
    }
    // Whoever may: the first connection that the worker's port sees.
    let mut stream = raw::connect_as(&studio.address(), &owner.identity).await;
    raw::write(&mut stream, format!(r#"{{"ask":"ring_in","ring":"{ring}"}}"#).as_bytes()).await;
    assert!(raw::read(&mut stream).await.unwrap()["granted"].is_object());
    raw::write(&mut stream, b"mine").await;
    let (mut first, _) = worker.accept().await.unwrap();
    let mut heard = [0; 4];
    first.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"mine");
}

#[tokio::test]
async fn odd_lines_are_refused_and_do_no_harm() {
    let (studio, laptop) = (Studio::new(Work::Shell("cat")).await, Laptop::new());
    let borrower = studio.paired(&laptop);
    let deep = "[".repeat(60_000);
    let long = format!(r#"{{"ask":"{}"}}"#, "x".repeat(70_000));
    let path = r#"{"ask":"ring_in","ring":"../../../../../../etc/passwd1"}"#;
    let rank = String::from_utf8(lend(&"00".repeat(16))).unwrap().replace(r#""rank":1"#, r#""rank":2"#);
    let much = r#"{"ask":"measure","pings":1,"bytes":18446744073709551615}"#;
    for (line, code) in [
        ("", "ask_not_understood"),
        ("\u{0}\u{1}", "ask_not_understood"),
        (r#"{"ask":"shutdown"}"#, "ask_not_understood"),
        (deep.as_str(), "ask_not_understood"),
        (path, "ask_not_understood"),
        (long.as_str(), "ask_too_long"),
        (rank.as_str(), "ring_place"),
        (much, "measure_too_much"),
    ] {
        let mut stream = raw::connect_as(&studio.address(), &laptop.identity).await;
        raw::write(&mut stream, line.as_bytes()).await;
        assert_eq!(
            raw::refused(raw::read(&mut stream).await),
            code,
            "{}",
            line.chars().take(80).collect::<String>()
        );
        assert!(is_closed(&mut stream).await);
    }
    assert!(studio.loans().is_empty());
    assert_eq!(borrower.inventory().await.unwrap().chip, "Apple M9");
}

#[tokio::test]
async fn a_ring_has_two_to_four_macs() {
    for count in [0, 4] {
        let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
        let lenders = vec![studio.paired(&laptop); count];
        let error = Ring::form(&lenders, &model("small"), None).await.unwrap_err();
        assert!(matches!(error, PeerError::Ranks { ranks } if ranks == count + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn those_who_say_nothing_are_closed() {
    let studio = Studio::new(Work::None).await;
    let mut silent = Vec::new();
    // More than are listened to at a time.
    for _ in 0..20 {
        silent.push(TcpStream::connect(studio.address()).await.unwrap());
    }
    for mut stream in silent {
        assert!(is_closed(&mut stream).await);
    }
}

/// Other addresses of this machine stand for other machines, which only Linux has without more.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_machine_that_says_nothing_keeps_no_paired_mac_out() {
    let (studio, laptop) = (Studio::new(Work::None).await, Laptop::new());
    let borrower = studio.paired(&laptop);
    let mut silent = Vec::new();
    for _ in 0..64 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        silent.push(socket.connect(studio.lender.address()).await.unwrap());
    }
    assert_eq!(borrower.inventory().await.unwrap().models[0].id, "small");
}
