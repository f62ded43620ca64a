//! Where the processes of a ring listen that are all on this machine.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Ports that neither macOS nor Linux gives to those who ask for any: a process takes a while until it listens, and
/// nobody else is to get its port meanwhile.
const PORTS: Range<u16> = 20_000..32_768;
const TRIES: usize = 100;

/// Writes a file for [`set_ring`](crate::mlx::environment::set_ring) with an address for each of so many processes into
/// a folder.
pub fn write_hosts(ranks: usize, folder: &Path) -> io::Result<PathBuf> {
    // All are taken before one is given back, so that they differ.
    let listeners: Vec<TcpListener> = (0..ranks).map(|_| listener()).collect::<io::Result<_>>()?;
    let address = |listener: &TcpListener| Ok([listener.local_addr()?.to_string()]);
    let hosts: Vec<[String; 1]> = listeners.iter().map(address).collect::<io::Result<_>>()?;
    let file = folder.join("hosts.json");
    std::fs::write(&file, serde_json::to_string(&hosts)?)?;
    Ok(file)
}

/// Listens at a port that nobody has.
fn listener() -> io::Result<TcpListener> {
    let mut tries = 0;
    loop {
        let random = RandomState::new().build_hasher().finish();
        let port = PORTS.start + (random % u64::from(PORTS.end - PORTS.start)) as u16;
        tries += 1;
        match TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries < TRIES => {}
            bound => return bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_process_has_an_address_of_its_own_on_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let file = write_hosts(8, folder.path()).unwrap();
        let hosts: Vec<[SocketAddr; 1]> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let ports: BTreeSet<u16> = hosts.iter().map(|[address]| address.port()).collect();
        assert_eq!((hosts.len(), ports.len()), (8, 8));
        assert!(hosts.iter().all(|[address]| address.ip().is_loopback() && PORTS.contains(&address.port())));
    }
}
