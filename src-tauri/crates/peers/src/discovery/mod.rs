//! Macs that lend themselves are found by Bonjour. A record says that a Foretoken is here, what the Mac calls itself,
//! which version it speaks and the digest of its key, and no more. It proves nothing: whoever is at an address shows
//! its key in the handshake.

mod advert;
mod browser;
mod found;

use std::fmt::Display;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use mdns_sd::{MDNS_PORT, ServiceDaemon};
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::PeerError;
use crate::identity::PublicKey;

pub use advert::Advert;
pub use browser::Browser;
pub use found::Found;

/// The kind of service.
const SERVICE: &str = "_foretoken._tcp.local.";
/// What a record says beside name and port: the version that is spoken, and the digest of the key.
const VERSION_FIELD: &str = "v";
const KEY_FIELD: &str = "key";

/// Digits of the key that make the name of a record its own where two Macs call themselves alike.
const OWN_DIGITS: usize = 8;

/// What speaks multicast DNS, in a thread of its own until it is shut down. It shares the port with the system's
/// responder: both ask for that.
fn daemon() -> Result<ServiceDaemon, PeerError> {
    // The thread would only log it.
    check_port().map_err(bonjour)?;
    ServiceDaemon::new().map_err(bonjour)
}

/// Fails where another program keeps the port for itself.
fn check_port() -> io::Result<()> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, MDNS_PORT)).into())
}

fn bonjour(error: impl Display) -> PeerError {
    PeerError::Bonjour { detail: error.to_string() }
}

/// The first digits of a key.
fn digits(key: &PublicKey, count: usize) -> String {
    key.to_string().chars().take(count).collect()
}
