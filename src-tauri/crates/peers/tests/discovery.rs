//! Macs find each other by Bonjour, over this machine's own networks. Others on the same network may be found, too:
//! what is expected is told apart by its key.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use foretoken_peers::{Advert, Browser, Found, Identity, PublicKey};
use mdns_sd::{MDNS_PORT, ServiceDaemon, ServiceInfo};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::time::timeout;

const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
const SERVICE: &str = "_foretoken._tcp.local.";

/// Nothing takes nearly so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether this machine hears its own multicast, and lets several programs listen at Bonjour's port. Where it does not,
/// there is nothing to test.
fn has_multicast() -> bool {
    let works = hears_itself().and_then(|()| shared_port().map(drop));
    if let Err(error) = &works {
        eprintln!("Not tested: there is no multicast on this machine ({error}).");
    }
    works.is_ok()
}

fn hears_itself() -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.join_multicast_v4(&GROUP, &Ipv4Addr::UNSPECIFIED)?;
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    socket.send_to(b"foretoken", (GROUP, socket.local_addr()?.port()))?;
    let mut heard = [0; 9];
    socket.recv_from(&mut heard).map(|_| ())
}

fn shared_port() -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, MDNS_PORT)).into())?;
    Ok(socket.into())
}

fn key() -> PublicKey {
    Identity::generate().unwrap().key()
}

fn with<'a>(list: &'a [Found], key: &PublicKey) -> Vec<&'a Found> {
    list.iter().filter(|found| found.key.as_ref() == Some(key)).collect()
}

/// The first list that is as it should be.
async fn seen(browser: &mut Browser, what: impl Fn(&[Found]) -> bool) -> Vec<Found> {
    let waits = async {
        loop {
            let list = browser.next().await.unwrap();
            assert!(list.len() <= 64);
            if what(&list) {
                return list;
            }
        }
    };
    timeout(PATIENCE, waits).await.expect("it is seen sooner or later")
}

#[tokio::test]
async fn a_mac_is_found_with_name_key_and_port_and_is_gone_when_it_lends_itself_no_more() {
    if !has_multicast() {
        return;
    }
    let (key, mut browser) = (key(), Browser::start().unwrap());
    let advert = Advert::publish("Anna's Mac. Studio", 7421, &key).unwrap();
    let list = seen(&mut browser, |list| !with(list, &key).is_empty()).await;
    let [found] = with(&list, &key)[..] else { panic!("{list:?}") };
    assert_eq!((found.name.as_str(), found.port, found.same_version), ("Anna's Mac Studio", 7421, true));
    assert!(!found.addresses.is_empty() && found.addresses.iter().all(|address| address.port() == 7421));
    // Whoever begins to look later finds it, too.
    let mut late = Browser::start().unwrap();
    seen(&mut late, |list| !with(list, &key).is_empty()).await;
    drop(advert);
    seen(&mut browser, |list| with(list, &key).is_empty()).await;
    seen(&mut late, |list| with(list, &key).is_empty()).await;
}

#[tokio::test]
async fn two_macs_that_call_themselves_alike_are_both_found() {
    if !has_multicast() {
        return;
    }
    let (one, other) = (key(), key());
    let advert = Advert::publish("MacBook Pro", 1001, &one).unwrap();
    let _other = Advert::publish("MacBook Pro", 1002, &other).unwrap();
    let mut browser = Browser::start().unwrap();
    let both = |list: &[Found]| with(list, &one).len() == 1 && with(list, &other).len() == 1;
    let list = seen(&mut browser, both).await;
    let of = |key| with(&list, key).into_iter().map(|found| (found.name.as_str(), found.port)).next();
    assert_eq!((of(&one), of(&other)), (Some(("MacBook Pro", 1001)), Some(("MacBook Pro", 1002))));
    advert.withdraw().await;
    let list = seen(&mut browser, |list| with(list, &one).is_empty()).await;
    assert_eq!(with(&list, &other).len(), 1);
}

/// Records as strangers like them.
struct Stranger {
    daemon: ServiceDaemon,
    host: String,
}

impl Stranger {
    fn new(mark: &str) -> Self {
        Self { daemon: ServiceDaemon::new().unwrap(), host: format!("stranger-{mark}.local.") }
    }

    fn publish(&self, name: &str, port: u16, fields: &[(&str, &str)]) {
        let service = ServiceInfo::new(SERVICE, name, &self.host, "", port, fields).unwrap();
        self.daemon.register(service.enable_addr_auto()).unwrap();
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.daemon.shutdown();
    }
}

#[tokio::test]
async fn odd_records_are_cleaned_and_odd_packets_do_no_harm() {
    if !has_multicast() {
        return;
    }
    let (mine, later, mut browser) = (key(), key(), Browser::start().unwrap());
    let (digits, long) = (mine.to_string(), "x".repeat(200));
    // So that another run of this test on the same network is not taken for this one.
    let mark = &digits[..6];
    let stranger = Stranger::new(mark);
    let odd = format!("\u{202e}\u{1b}[2Jo\nd\u{200b}d {mark}");
    stranger.publish(&odd, 7, &[("v", "1"), ("key", &digits), ("more", &long)]);
    stranger.publish(&format!("no key {mark}"), 8, &[("v", "2"), ("key", "../../etc/passwd")]);
    stranger.publish(&format!("no port {mark}"), 0, &[("v", "1")]);
    // Lengths that lead beyond the end, names that lead to themselves, and texts that are none.
    let sender = shared_port().unwrap();
    let header = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    for body in
        [&[0xc0, 12, 0, 16, 0, 1][..], &[63, b'x'], &[1, 0xff, 0, 0, 16, 0, 1, 0, 0, 0, 9, 0xff, 0xff]]
    {
        sender.send_to(&[&header, body].concat(), (GROUP, MDNS_PORT)).unwrap();
    }
    sender.send_to(&[0xff; 1400], (GROUP, MDNS_PORT)).unwrap();
    let of = |list: &[Found], port: u16| {
        list.iter().find(|found| found.port == port && found.name.ends_with(mark)).cloned()
    };
    let list = seen(&mut browser, |list| of(list, 7).is_some() && of(list, 8).is_some()).await;
    let (odd, unkeyed) = (of(&list, 7).unwrap(), of(&list, 8).unwrap());
    assert_eq!((odd.name, odd.key, odd.same_version), (format!("[2Jo dd {mark}"), Some(mine), true));
    assert_eq!((unkeyed.name, unkeyed.key, unkeyed.same_version), (format!("no key {mark}"), None, false));
    assert_eq!(of(&list, 0), None);
    let _advert = Advert::publish("Studio", 9, &later).unwrap();
    seen(&mut browser, |list| !with(list, &later).is_empty()).await;
}
