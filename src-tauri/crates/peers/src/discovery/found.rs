//! What a record says. Everybody on the network can send one.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use mdns_sd::{ResolvedService, ScopedIp};

use super::{KEY_FIELD, OWN_DIGITS, SERVICE, VERSION_FIELD, digits};
use crate::identity::PublicKey;
use crate::{text, tls};

/// Addresses of one record at most.
const MOST_ADDRESSES: usize = 16;

/// A Mac that is said to lend itself. Nothing of it is proven: who is there shows in the handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it calls itself: one line of at most 64 characters.
    pub name: String,
    /// The key that it says to have; `None` where it says none.
    pub key: Option<PublicKey>,
    /// Where it may be, the best first: IPv4, IPv6, addresses of one link alone, and this Mac itself. There is at least
    /// one, and at most 16.
    pub addresses: Vec<SocketAddr>,
    /// The port of all addresses.
    pub port: u16,
    /// Whether it speaks the version that this Mac speaks. One that does not is listed all the same: its owner looks
    /// for it, and is to hear that it needs an update.
    pub same_version: bool,
}

impl Found {
    /// What a record says; `None` where nobody could be reached with it.
    pub(super) fn of(service: &ResolvedService) -> Option<Self> {
        let field = |name| service.get_property_val_str(name);
        let key = field(KEY_FIELD).and_then(|key| key.parse().ok());
        let port = service.port;
        let mut addresses: Vec<_> = service.addresses.iter().filter_map(|ip| address(ip, port)).collect();
        addresses.sort_by_key(|address| (rank(address), *address));
        addresses.dedup();
        addresses.truncate(MOST_ADDRESSES);
        let is_reachable = port != 0 && !addresses.is_empty();
        is_reachable.then(|| Self {
            name: text::name(own_name(&service.fullname, key.as_ref())),
            key,
            addresses,
            port,
            same_version: field(VERSION_FIELD) == Some(tls::VERSION),
        })
    }
}

/// What the Mac calls itself: the record's name without the service and the digits of the key, and what the responder
/// may have appended to them.
fn own_name<'a>(record: &'a str, key: Option<&PublicKey>) -> &'a str {
    let is_service =
        |rest: &str| rest.strip_prefix('.').is_some_and(|rest| rest.eq_ignore_ascii_case(SERVICE));
    let end = record.len().saturating_sub(SERVICE.len() + 1);
    let name = match record.split_at_checked(end) {
        Some((name, rest)) if is_service(rest) => name,
        _ => record,
    };
    let Some(key) = key else { return name };
    name.rsplit_once(&format!(" {}", digits(key, OWN_DIGITS))).map_or(name, |(name, _)| name)
}

/// An address that can be connected to.
fn address(ip: &ScopedIp, port: u16) -> Option<SocketAddr> {
    let scope = if let ScopedIp::V6(v6) = ip { v6.scope_id().index } else { 0 };
    socket_address(ip.to_ip_addr(), scope, port)
}

fn socket_address(ip: IpAddr, scope: u32, port: u16) -> Option<SocketAddr> {
    match ip.to_canonical() {
        ip if ip.is_unspecified() || ip.is_multicast() => None,
        IpAddr::V4(v4) if v4.is_broadcast() => None,
        // Without its link it leads nowhere.
        IpAddr::V6(v6) if v6.is_unicast_link_local() => {
            (scope != 0).then(|| SocketAddrV6::new(v6, port, 0, scope).into())
        }
        ip => Some(SocketAddr::new(ip, port)),
    }
}

/// The lower, the sooner to be tried.
fn rank(address: &SocketAddr) -> u8 {
    match address.ip() {
        ip if ip.is_loopback() => 4,
        IpAddr::V4(v4) if v4.is_link_local() => 2,
        IpAddr::V4(_) => 0,
        IpAddr::V6(v6) if v6.is_unicast_link_local() => 3,
        IpAddr::V6(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use mdns_sd::ServiceInfo;
    use proptest::prelude::*;

    use super::*;

    const DIGITS: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn found(name: &str, addresses: &str, port: u16, fields: &[(&str, &str)]) -> Option<Found> {
        let service = ServiceInfo::new(SERVICE, name, "h.local.", addresses, port, fields).unwrap();
        Found::of(&service.as_resolved_service())
    }

    #[test]
    fn a_record_is_read_and_what_is_odd_in_it_left_out() {
        let own = found("Studio 01234567", "10.0.0.2", 7421, &[("v", "1"), ("key", DIGITS)]).unwrap();
        assert_eq!((own.name.as_str(), own.port, own.same_version), ("Studio", 7421, true));
        assert_eq!(own.key, Some(DIGITS.parse().unwrap()));
        assert_eq!(own.addresses, ["10.0.0.2:7421".parse().unwrap()]);
        let renamed = found("Studio 01234567 (2)", "10.0.0.2", 1, &[("v", "2"), ("key", DIGITS)]).unwrap();
        assert_eq!((renamed.name.as_str(), renamed.same_version), ("Studio", false));
        let odd = found("\u{202e}\u{1b}[2J Stu\ndio", "10.0.0.2", 1, &[("key", "../../etc/passwd")]).unwrap();
        assert_eq!((odd.name.as_str(), odd.key, odd.same_version), ("[2J Stu dio", None, false));
        assert_eq!(found("S", "10.0.0.2", 0, &[]), None);
        assert_eq!(found("S", "0.0.0.0,224.0.0.251,255.255.255.255,fe80::1", 1, &[]), None);
        let many: Vec<_> = (0..100).map(|last| format!("10.0.0.{last}")).collect();
        assert_eq!(found("S", &many.join(","), 1, &[]).unwrap().addresses.len(), MOST_ADDRESSES);
    }

    #[test]
    fn addresses_come_in_the_order_of_their_worth() {
        let of = |ip: &str| socket_address(ip.parse().unwrap(), 5, 7);
        let in_order =
            ["10.0.0.2", "fd00::2", "169.254.1.2", "fe80::2", "127.0.0.1"].map(|ip| of(ip).unwrap());
        let mut sorted = in_order;
        sorted.reverse();
        sorted.sort_by_key(rank);
        assert_eq!(sorted, in_order);
        assert_eq!(in_order[3].to_string(), "[fe80::2%5]:7");
        assert_eq!(in_order[3].to_string().parse(), Ok(in_order[3]));
        assert_eq!(in_order[1].to_string(), "[fd00::2]:7");
        assert_eq!(of("::ffff:10.0.0.2"), Some(in_order[0]));
        assert_eq!(of("::ffff:224.0.0.1"), None);
    }

    proptest! {
        #[test]
        fn no_record_does_harm(record in "\\PC{0,80}", version in ".{0,20}", key in "[0-9a-fA-F]{0,70}") {
            let read = found(&record, "10.0.0.2", 1, &[("v", &version), ("key", &key)]).unwrap();
            prop_assert_eq!(text::name(&read.name), read.name);
            prop_assert_eq!(read.key.is_some(), key.len() == 64);
        }

        #[test]
        fn no_name_does_harm(record in ".{0,90}") {
            let key: PublicKey = DIGITS.parse().unwrap();
            let _ = own_name(&record, Some(&key));
            let _ = own_name(&record, None);
        }
    }
}
