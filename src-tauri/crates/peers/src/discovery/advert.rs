//! That this Mac lends itself, told to everyone on the network.

use std::fmt;
use std::time::Duration;

use mdns_sd::{ServiceDaemon, ServiceInfo};
use tokio::time::{sleep, timeout};

use super::{KEY_FIELD, OWN_DIGITS, SERVICE, VERSION_FIELD, bonjour, daemon, digits};
use crate::error::PeerError;
use crate::identity::PublicKey;
use crate::{text, tls};

/// The longest name of a record, in bytes: DNS has no room for more.
const LONGEST_LABEL: usize = 63;

/// Digits of the key in the name of the host. The Mac's own name belongs to the system's responder.
const HOST_DIGITS: usize = 16;

/// A goodbye is sent again after 120 ms.
const AGAIN: Duration = Duration::from_millis(200);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// A record that says: a Foretoken lends itself here. It is withdrawn when this is dropped, by one goodbye that nobody
/// waits for.
pub struct Advert {
    daemon: ServiceDaemon,
    record: String,
}

impl Advert {
    /// Tells everyone on the networks of this Mac, now and when its addresses change. `name`: what it calls itself;
    /// `port`: where its [`Lender`](crate::Lender) listens; `key`: its own. Fails where another program keeps Bonjour's
    /// port for itself; whether anybody hears of it is not known.
    pub fn publish(name: &str, port: u16, key: &PublicKey) -> Result<Self, PeerError> {
        let host = format!("foretoken-{}.local.", digits(key, HOST_DIGITS));
        let key_digits = key.to_string();
        let fields = [(VERSION_FIELD, tls::VERSION), (KEY_FIELD, &key_digits)];
        let service = ServiceInfo::new(SERVICE, &label(name, key), &host, "", port, &fields[..]);
        let service = service.map_err(bonjour)?.enable_addr_auto();
        let advert = Self { daemon: daemon()?, record: service.get_fullname().to_owned() };
        advert.daemon.register(service).map_err(bonjour)?;
        Ok(advert)
    }

    /// Withdraws it, and returns when that has been said twice, within 2 s.
    pub async fn withdraw(self) {
        if let Ok(said) = self.daemon.unregister(&self.record) {
            let _ = timeout(GOODBYE, said.recv_async()).await;
            sleep(AGAIN).await;
        }
        if let Ok(ended) = self.daemon.shutdown() {
            let _ = timeout(GOODBYE, ended.recv_async()).await;
        }
    }
}

impl Drop for Advert {
    fn drop(&mut self) {
        // It has ended if this fails.
        let _ = self.daemon.shutdown();
    }
}

impl fmt::Debug for Advert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Advert").field("record", &self.record).finish_non_exhaustive()
    }
}

/// The name of a record: what the Mac calls itself, and some digits of its key. Dots would part it in two.
fn label(name: &str, key: &PublicKey) -> String {
    let name = text::name(&name.replace(['.', '\\'], " "));
    let end = name.floor_char_boundary(LONGEST_LABEL - OWN_DIGITS - 1);
    let name = name.get(..end).unwrap_or_default().trim_end();
    format!("{name} {}", digits(key, OWN_DIGITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_record_fits_and_is_its_own() {
        let key: PublicKey = "0123456789abcdef".repeat(4).parse().unwrap();
        assert_eq!(label("Anna's Studio", &key), "Anna's Studio 01234567");
        assert_eq!(label("Mac 2.0\\b", &key), "Mac 2 0 b 01234567");
        assert_eq!(label("...", &key), "A Mac without a name 01234567");
        let long = label(&"ä".repeat(64), &key);
        assert_eq!(long, format!("{} 01234567", "ä".repeat(27)));
        assert!(long.len() <= LONGEST_LABEL);
    }
}
