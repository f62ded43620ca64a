//! Which addresses pages may be read from: those that all the world can reach, and nothing of the person's own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Ranges of IPv4 that are not the world's: IANA's special-purpose registry, multicast and what is reserved, as the
/// address and the bits that count.
const OWN_V4: [(Ipv4Addr, u32); 14] = [
    // This network.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Shared by the customers of a provider.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // This machine.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // This link, on which clouds tell secrets, too.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Protocols, documentation, relays and measurements.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, what is reserved, and broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// Whether all the world can reach this address, as far as the address tells. One of IPv6 that stands for one of IPv4
/// is what that is.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let within = |(network, bits): &(Ipv4Addr, u32)| {
        (address.to_bits() ^ network.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0
    };
    !OWN_V4.iter().any(within)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // IPv4 written as IPv6, and what a network without IPv4 reaches it by.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(v4(high, low))
        }
        // 6to4.
        [0x2002, high, low, ..] => is_public_v4(v4(high, low)),
        // Protocols, Teredo among them, and documentation.
        [0x2001, 0x0000..=0x01ff | 0x0db8, ..] | [0x3fff, 0x0000..=0x0fff, ..] => false,
        // Nothing else is given to anybody in the world.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Whether this is an address of this machine or, of IPv6, of a machine on the same link: those have addresses of all
/// the world, though the person's network may not let all the world in. Nothing is sent.
pub(super) fn is_near(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let own = UdpSocket::bind((any, 0)).and_then(|socket| {
        // Any port will do: the system only chooses from which address it would send.
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    match (own.map(|own| own.ip()), address) {
        (Ok(IpAddr::V6(own)), IpAddr::V6(other)) => own.segments()[..4] == other.segments()[..4],
        (Ok(own), other) => own == other,
        // There is no way there at all.
        (Err(_), _) => false,
    }
}

/// Whether a name is only for this machine or this link.
pub(super) fn is_own_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    ["localhost", "local"]
        .iter()
        .any(|own| name.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// First and last addresses that are not the world's, written down anew from IANA's registries.
    const OWN: [(&str, &str); 13] = [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "255.255.255.255"),
    ];
    /// The relay of 6to4, which is nobody's any more.
    const RELAY: (&str, &str) = ("192.88.99.0", "192.88.99.255");

    fn ranges() -> Vec<(u32, u32)> {
        let bits = |text: &str| text.parse::<Ipv4Addr>().unwrap().to_bits();
        OWN.iter().chain([&RELAY]).map(|(first, last)| (bits(first), bits(last))).collect()
    }

    /// Every way in which IPv6 writes this address of IPv4 that something may take for it.
    fn forms(address: Ipv4Addr) -> [Ipv6Addr; 3] {
        let bits = u128::from(address.to_bits());
        let nat64 = u128::from(0x0064_ff9b_u32) << 96;
        let six_to_four = 0x2002_u128 << 112 | bits << 80 | 0x1234;
        [address.to_ipv6_mapped(), Ipv6Addr::from_bits(nat64 | bits), Ipv6Addr::from_bits(six_to_four)]
    }

    fn check(address: Ipv4Addr) {
        let is_own = ranges().iter().any(|(first, last)| (*first..=*last).contains(&address.to_bits()));
        assert_eq!(is_public(address.into()), !is_own, "{address}");
        for form in forms(address) {
            assert_eq!(is_public(form.into()), !is_own, "{address} as {form}");
        }
    }

    #[test]
    fn the_edges_of_each_range_are_known() {
        for (first, last) in ranges() {
            for edge in [first.saturating_sub(1), first, last, last.saturating_add(1)] {
                check(Ipv4Addr::from_bits(edge));
            }
        }
    }

    #[test]
    fn addresses_of_ipv6_that_are_not_the_worlds_are_refused() {
        for own in [
            "::",
            "::1",
            "::7f00:1",
            "::ffff:0:7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:20::1",
            "2001:db8::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
        ] {
            assert!(!is_public(own.parse().unwrap()), "{own}");
        }
        for public in ["2606:4700::1111", "2a00:1450:4001::200e", "2001:4860::8888", "2003::1", "3ffe::1"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn names_of_this_machine_and_link_are_known() {
        for own in ["localhost", "LocalHost.", "a.localhost", "local", "printer.local", "printer.LOCAL.."] {
            assert!(is_own_name(own), "{own}");
        }
        for other in ["example.org", "local.example.org", "mylocalhost", "thelocal"] {
            assert!(!is_own_name(other), "{other}");
        }
    }

    #[test]
    fn this_machine_is_near() {
        assert!(is_near(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_near(Ipv4Addr::new(93, 184, 216, 34).into()));
    }

    proptest! {
        #[test]
        fn an_address_is_what_the_registry_says(bits: u32) {
            check(Ipv4Addr::from_bits(bits));
        }

        #[test]
        fn an_address_within_a_range_is_refused(at in 0..OWN.len(), bits: u32) {
            let (first, last) = ranges()[at];
            check(Ipv4Addr::from_bits(first + bits % (last - first + 1)));
        }

        #[test]
        fn of_ipv6_nothing_outside_of_what_is_given_out_is_public(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            let stands_for_v4 = address.to_ipv4_mapped().is_some() || bits >> 32 == 0x0064_ff9b << 64;
            prop_assume!(!stands_for_v4);
            prop_assert!(bits >> 125 == 1 || !is_public(address.into()));
        }
    }
}
