//! What sends requests to servers that are reached by HTTP.

use std::time::Duration;

use reqwest::redirect::Policy;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::error::ServerError;

/// Until somebody is there at all.
const CONNECTING: Duration = Duration::from_secs(10);

/// A client that trusts whom the system trusts, follows no redirect, keeps no cookies, and goes by `proxy` where there
/// is one, else as the system says.
///
/// # Errors
///
/// [`ServerError::NoClient`].
pub fn client(proxy: Option<&str>) -> Result<reqwest::Client, ServerError> {
    let mut client = reqwest::Client::builder()
        .tls_backend_preconfigured(trust()?)
        .redirect(Policy::none())
        .connect_timeout(CONNECTING);
    if let Some(proxy) = proxy {
        client = client.proxy(reqwest::Proxy::all(proxy).map_err(|error| unusable(&error))?);
    }
    client.build().map_err(|error| unusable(&error))
}

/// Whom the system trusts.
pub(crate) fn trust() -> Result<rustls::ClientConfig, ServerError> {
    let tls = rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map_err(|error| unusable(&error))?;
    Ok(tls.with_no_client_auth())
}

pub(crate) fn unusable(error: &dyn std::fmt::Display) -> ServerError {
    ServerError::NoClient { detail: error.to_string() }
}
