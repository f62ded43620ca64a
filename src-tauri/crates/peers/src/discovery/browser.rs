//! The Macs around that say they lend themselves.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use mdns_sd::{Receiver, ServiceDaemon, ServiceEvent};
use tokio::time::sleep;

use super::found::Found;
use super::{SERVICE, bonjour, daemon};
use crate::error::PeerError;

/// Records that are listed at most: the first ones. Whoever sends thousands fills no memory and no window.
const MOST: usize = 64;

/// After so much was told that nobody could keep up.
const PAUSE: Duration = Duration::from_secs(1);

/// Looks for Macs that lend themselves, until it is dropped.
pub struct Browser {
    daemon: ServiceDaemon,
    events: Receiver<ServiceEvent>,
    records: Records,
    told: Vec<Found>,
}

/// What was heard of last, each by the name of its record.
#[derive(Debug, Default)]
struct Records(BTreeMap<String, Found>);

impl Browser {
    /// Begins to look, on all networks of this Mac. Fails where another program keeps Bonjour's port for itself; where
    /// the network lets no multicast through, nothing is ever found.
    pub fn start() -> Result<Self, PeerError> {
        let daemon = daemon()?;
        match daemon.browse(SERVICE) {
            Ok(events) => Ok(Self { daemon, events, records: Records::default(), told: Vec::new() }),
            Err(error) => {
                let _ = daemon.shutdown();
                Err(bonjour(error))
            }
        }
    }

    /// Waits until the list is another than the last one that this returned, and returns it: at most 64 records, by
    /// name. It may be dropped meanwhile, and nothing is lost. `None` when nothing is looked for any more.
    ///
    /// Nothing in it is proven, neither name nor key: a record is what somebody on the network sent.
    pub async fn next(&mut self) -> Option<Vec<Found>> {
        loop {
            match self.events.recv_async().await {
                Ok(event) => self.records.take(event),
                Err(_) => {
                    // Whoever reads too slowly is not told any more. The daemon still knows what there is.
                    sleep(PAUSE).await;
                    self.records = Records::default();
                    self.events = self.daemon.browse(SERVICE).ok()?;
                    continue;
                }
            }
            while let Ok(event) = self.events.try_recv() {
                self.records.take(event);
            }
            let list = self.records.list();
            if list != self.told {
                self.told.clone_from(&list);
                return Some(list);
            }
        }
    }
}

impl Records {
    fn take(&mut self, event: ServiceEvent) {
        match event {
            ServiceEvent::ServiceResolved(service) => {
                let has_room = self.0.len() < MOST || self.0.contains_key(&service.fullname);
                match Found::of(&service) {
                    Some(found) if has_room => {
                        self.0.insert(service.fullname, found);
                    }
                    Some(_) => {}
                    None => {
                        self.0.remove(&service.fullname);
                    }
                }
            }
            ServiceEvent::ServiceRemoved(_, record) => {
                self.0.remove(&record);
            }
            _ => {}
        }
    }

    fn list(&self) -> Vec<Found> {
        let mut list: Vec<_> = self.0.values().cloned().collect();
        list.sort_by(|a, b| (&a.name, a.key, a.port).cmp(&(&b.name, b.key, b.port)));
        list
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It has ended if this fails.
        let _ = self.daemon.shutdown();
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("records", &self.records).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use mdns_sd::ServiceInfo;

    use super::*;

    fn resolved(name: &str, port: u16) -> ServiceEvent {
        let service = ServiceInfo::new(SERVICE, name, "h.local.", "10.0.0.2", port, None).unwrap();
        ServiceEvent::ServiceResolved(Box::new(service.as_resolved_service()))
    }

    #[test]
    fn whoever_sends_many_records_fills_no_list() {
        let mut records = Records::default();
        for number in 0..1000 {
            records.take(resolved(&format!("Mac {number}"), 1));
        }
        assert_eq!(records.list().len(), MOST);
        let ports = |records: &Records| records.list().iter().map(|found| found.port).max();
        // What is listed changes and goes, and there is room again then.
        records.take(resolved("Mac 0", 2));
        assert_eq!((records.list().len(), ports(&records)), (MOST, Some(2)));
        records.take(ServiceEvent::ServiceRemoved(SERVICE.into(), format!("Mac 0.{SERVICE}")));
        records.take(resolved("Mac 1", 0));
        assert_eq!((records.list().len(), ports(&records)), (MOST - 2, Some(1)));
        records.take(resolved("Mac 999", 3));
        assert_eq!((records.list().len(), ports(&records)), (MOST - 1, Some(3)));
    }
}
