//! Who tells where a host is, and who sees to it that a connection goes to an address that was checked.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::addresses::{is_near, is_own_name, is_public};
use super::error::WebError;

/// Tells where hosts are.
pub trait Resolver: fmt::Debug + Send + Sync {
    /// The addresses of the host with this name. It is asked once for each connection.
    fn addresses<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn addresses<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Which hosts may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Those of the web.
    Public,
    /// Any: the person has typed the address.
    Any,
}

/// Gives a connection the addresses that it may go to, and no other ones: those that were checked.
#[derive(Debug, Clone)]
pub(super) struct Checking {
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) hosts: Hosts,
    /// Where connections of tests go, to whatever address they should: it has been checked as ever before.
    #[cfg(test)]
    pub(super) detour: Option<IpAddr>,
}

impl Checking {
    /// What asks this resolver, for these hosts.
    pub(super) fn new(resolver: Arc<dyn Resolver>, hosts: Hosts) -> Self {
        Self {
            resolver,
            hosts,
            #[cfg(test)]
            detour: None,
        }
    }

    async fn checked(self, name: &str) -> Result<Vec<IpAddr>, WebError> {
        let host = || name.to_owned();
        if self.hosts == Hosts::Public && is_own_name(name) {
            return Err(WebError::OwnNetwork { host: host() });
        }
        let found = self.resolver.addresses(name).await.unwrap_or_default();
        if found.is_empty() {
            return Err(WebError::NoHost { host: host() });
        }
        // A host of the web has no address elsewhere: which one a connection takes is chance.
        if self.hosts == Hosts::Public && !found.iter().all(|address| may_be_reached(*address)) {
            return Err(WebError::OwnNetwork { host: host() });
        }
        #[cfg(test)]
        if let Some(detour) = self.detour {
            return Ok(vec![detour]);
        }
        Ok(found)
    }
}

/// Whether an address is the world's, and not near.
pub(crate) fn may_be_reached(address: IpAddr) -> bool {
    is_public(address) && !is_near(address)
}

impl Resolve for Checking {
    fn resolve(&self, name: Name) -> Resolving {
        let checking = self.clone();
        Box::pin(async move {
            let found = checking.checked(name.as_str()).await?;
            // The port is that of the page's address.
            Ok(Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}
