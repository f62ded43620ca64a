//! Fetches what is at an address, step by step: each step is checked before anything is sent.

use std::error::Error as _;
use std::io::{self, Write};
use std::net::IpAddr;

use flate2::write::MultiGzDecoder;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
};
use reqwest::{Client, Response, StatusCode, Url};

use super::error::{WebError, shortened};
use super::resolver::may_be_reached;

/// How often a page may lead to another one.
const MOST_REDIRECTS: usize = 5;

/// Where requests may go.
#[derive(Debug, Clone)]
pub(super) enum Reach {
    /// To any page of the web.
    Web,
    /// To the origin of this address, wherever it is.
    Origin(Url),
}

/// What is at an address.
#[derive(Debug)]
pub(super) struct Fetched {
    /// Where it was in the end.
    pub(super) address: Url,
    /// What it is said to be, in lower case, without parameters.
    pub(super) media_type: String,
    /// The encoding of its characters that the server tells.
    pub(super) charset: Option<String>,
    /// What it is.
    pub(super) body: Vec<u8>,
}

/// Fetches what is at `address`, if it is said to be one of these media types and has at most `most` bytes, unpacked.
/// It may take for ever.
pub(super) async fn fetch(
    client: &Client,
    reach: &Reach,
    address: Url,
    media_types: &[&str],
    most: usize,
) -> Result<Fetched, WebError> {
    reach.check(&address)?;
    let mut address = address;
    for _ in 0..=MOST_REDIRECTS {
        let response = sent(client, &address, media_types).await?;
        if is_redirect(response.status()) {
            let target = text(response.headers(), LOCATION).ok_or(WebError::NoTarget)?;
            address = next(reach, &address, &target)?;
            continue;
        }
        return received(response, address, media_types, most).await;
    }
    Err(WebError::Redirects { most: MOST_REDIRECTS })
}

impl Reach {
    /// Whether anything may be sent to this address. Names are looked up, and where they lead is checked, when a
    /// connection is made.
    fn check(&self, address: &Url) -> Result<(), WebError> {
        if !matches!(address.scheme(), "http" | "https") {
            return Err(WebError::Scheme { scheme: shortened(address.scheme()) });
        }
        if let Self::Origin(origin) = self {
            let is_same = address.origin() == origin.origin();
            return is_same.then_some(()).ok_or_else(|| WebError::OtherOrigin { target: origin_of(address) });
        }
        if !address.username().is_empty() || address.password().is_some() {
            return Err(WebError::Credentials);
        }
        let host = address.host_str().unwrap_or_default();
        // Every way to write an address of IPv4 has become the usual one when the whole was parsed.
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(literal) if !may_be_reached(literal) => Err(WebError::OwnNetwork { host: host.to_owned() }),
            _ => Ok(()),
        }
    }
}

/// Where a page leads that is at `from`.
fn next(reach: &Reach, from: &Url, target: &str) -> Result<Url, WebError> {
    let to = from.join(target).map_err(|_| WebError::NoTarget)?;
    reach.check(&to)?;
    if from.scheme() == "https" && to.scheme() == "http" {
        return Err(WebError::Unencrypted { target: shortened(to.as_str()) });
    }
    // The person has allowed the one site, and not what it leads to.
    if (from.host_str(), from.port()) != (to.host_str(), to.port()) {
        return Err(WebError::OtherSite { target: shortened(to.as_str()) });
    }
    Ok(to)
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

async fn sent(client: &Client, address: &Url, media_types: &[&str]) -> Result<Response, WebError> {
    let request =
        client.get(address.clone()).header(ACCEPT, media_types.join(", ")).header(ACCEPT_ENCODING, "gzip");
    request.send().await.map_err(|error| broken(address, &error))
}

async fn received(
    response: Response,
    address: Url,
    media_types: &[&str],
    most: usize,
) -> Result<Fetched, WebError> {
    let status = response.status();
    if !status.is_success() {
        return Err(WebError::Status { host: host(&address), status });
    }
    let content_type = text(response.headers(), CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
    let mut parts = content_type.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default().to_owned();
    if !media_types.contains(&media_type.as_str()) {
        let told =
            if media_type.is_empty() { "something that is not named".into() } else { shortened(&media_type) };
        return Err(WebError::MediaType { media_type: told });
    }
    let charset = parts.find_map(|part| Some(part.strip_prefix("charset=")?.trim_matches('"').to_owned()));
    let body = body(response, &address, most).await?;
    Ok(Fetched { address, media_type, charset, body })
}

async fn body(mut response: Response, address: &Url, most: usize) -> Result<Vec<u8>, WebError> {
    let packed = text(response.headers(), CONTENT_ENCODING).unwrap_or_default().to_ascii_lowercase();
    let mut unpacking = match packed.trim() {
        "" | "identity" => Unpacking::Nothing(Limited { body: Vec::new(), most }),
        "gzip" | "x-gzip" => {
            Unpacking::Gzip(Box::new(MultiGzDecoder::new(Limited { body: Vec::new(), most })))
        }
        other => return Err(WebError::Packed { encoding: shortened(other) }),
    };
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::FileTooLarge => WebError::TooLarge { most },
        _ => WebError::Broken { host: host(address), detail: "what came is damaged".into() },
    };
    let mut came = 0_usize;
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(address, &error))? {
        // Packed, too, it has an end: something can be packed that is nothing.
        came = came.saturating_add(chunk.len());
        if came > most {
            return Err(WebError::TooLarge { most });
        }
        match &mut unpacking {
            Unpacking::Nothing(body) => body.write_all(&chunk),
            Unpacking::Gzip(decoder) => decoder.write_all(&chunk),
        }
        .map_err(failed)?;
    }
    match unpacking {
        Unpacking::Nothing(body) => Ok(body.body),
        Unpacking::Gzip(decoder) => Ok(decoder.finish().map_err(failed)?.body),
    }
}

/// How a body becomes what it is.
enum Unpacking {
    Nothing(Limited),
    Gzip(Box<MultiGzDecoder<Limited>>),
}

/// Bytes, up to some length.
struct Limited {
    body: Vec<u8>,
    most: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.body.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.body.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why a request came to nothing: what the check of its host has found, or what is wrong with the connection.
fn broken(address: &Url, error: &reqwest::Error) -> WebError {
    let mut cause = error.source();
    let mut innermost = None;
    while let Some(one) = cause {
        if let Some(found) = one.downcast_ref::<WebError>() {
            return found.clone();
        }
        innermost = Some(one);
        cause = one.source();
    }
    let detail = innermost.map_or_else(|| "the connection broke".to_owned(), ToString::to_string);
    WebError::Broken { host: host(address), detail: shortened(&detail) }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    // Some servers write addresses as they are, in UTF-8.
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn host(address: &Url) -> String {
    shortened(address.host_str().unwrap_or_default())
}

/// An address as far as it says who is there.
fn origin_of(address: &Url) -> String {
    shortened(&address.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn led(reach: &Reach, from: &str, target: &str) -> Result<String, WebError> {
        next(reach, &from.parse().unwrap(), target).map(String::from)
    }

    #[test]
    fn what_is_encrypted_stays_so() {
        let target = "http://example.org/b".to_owned();
        let refused = Err(WebError::Unencrypted { target: target.clone() });
        assert_eq!(led(&Reach::Web, "https://example.org/a", &target), refused);
        for (from, to) in [("http", "http"), ("http", "https"), ("https", "https")] {
            let to = format!("{to}://example.org/b");
            assert_eq!(led(&Reach::Web, &format!("{from}://example.org/a"), &to), Ok(to.clone()));
        }
        assert_eq!(
            led(&Reach::Web, "https://example.org/a/", "//example.org/c").unwrap(),
            "https://example.org/c"
        );
    }

    #[test]
    fn a_site_leads_to_no_other_one() {
        for other in
            ["https://b.org/c", "//b.example.org/", "https://example.org:8443/", "https://example.org./"]
        {
            let led = led(&Reach::Web, "https://example.org/a", other);
            assert!(matches!(led, Err(WebError::OtherSite { .. })), "{other}: {led:?}");
        }
        let same = led(&Reach::Web, "http://example.org/a", "HTTPS://EXAMPLE.org:443/b");
        assert_eq!(same.unwrap(), "https://example.org/b");
    }

    #[test]
    fn every_way_to_write_an_address_of_ones_own_is_refused() {
        for own in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0177.1/",
            "http://１２７.0.0.1/",
            "http://127.0.0.1./",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::10.0.0.1]/",
            "http://[2002:c0a8:0001::1]/",
            "http://0/",
            "https://169.254.169.254/",
            "http://192.168.0.1:8080/",
            "http://[fe80::1]/",
        ] {
            let checked = Reach::Web.check(&own.parse().unwrap());
            assert!(matches!(checked, Err(WebError::OwnNetwork { .. })), "{own}: {checked:?}");
        }
        assert_eq!(Reach::Web.check(&"http://93.184.216.34:8080/".parse().unwrap()), Ok(()));
        assert_eq!(Reach::Web.check(&"http://[2606:4700::1111]/".parse().unwrap()), Ok(()));
    }

    #[test]
    fn only_pages_without_credentials_are_opened() {
        let checked = |address: &str| Reach::Web.check(&address.parse().unwrap());
        for address in ["http://a@example.org/", "https://a:b@example.org/", "http://:b@example.org/"] {
            assert_eq!(checked(address), Err(WebError::Credentials));
        }
        for address in ["file:///etc/passwd", "ftp://example.org/", "data:text/html,a", "javascript:alert(1)"]
        {
            assert!(matches!(checked(address), Err(WebError::Scheme { .. })), "{address}");
        }
    }

    #[test]
    fn a_search_stays_at_its_origin() {
        let address: Url = "http://10.0.0.2:8888/searx/search".parse().unwrap();
        let reach = Reach::Origin(address.clone());
        assert_eq!(led(&reach, address.as_str(), "/x?q=1").unwrap(), "http://10.0.0.2:8888/x?q=1");
        for other in ["http://10.0.0.2:8889/", "https://10.0.0.2:8888/", "http://10.0.0.3:8888/", "//a.org/"]
        {
            let led = led(&reach, address.as_str(), other);
            assert!(matches!(led, Err(WebError::OtherOrigin { .. })), "{other}: {led:?}");
        }
    }
}
