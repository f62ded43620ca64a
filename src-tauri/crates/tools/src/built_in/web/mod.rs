//! The tools `read_page` and `search_web`: what they may reach, how much they read, and what the model gets of it.

mod addresses;
mod article;
mod charset;
mod error;
mod fetch;
mod resolver;
mod results;
#[cfg(test)]
mod tests;
mod tidy;
mod tool;

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use crate::error::ServerError;
use crate::tool::Outcome;
use article::{Article, main_text};
use charset::decoded;
use error::{WebError, shortened};
use fetch::{Fetched, Reach, fetch};

pub(crate) use resolver::may_be_reached;
use resolver::{Checking, Hosts};
pub use resolver::{Resolver, SystemResolver};
pub use tool::WebTool;

/// What is read: 5 MB within 20 s.
const LIMITS: Limits = Limits { body: 5_000_000, time: Duration::from_secs(20) };
/// What is read of pages.
const PAGES: [&str; 5] =
    ["text/html", "application/xhtml+xml", "text/markdown", "text/plain", "application/json"];
/// What is read of the search service.
const RESULTS: [&str; 1] = ["application/json"];
/// The longest address of a page, in bytes.
const LONGEST_ADDRESS: usize = 4_096;
/// The longest query, in characters.
const LONGEST_QUERY: usize = 400;
/// Who asks.
const USER_AGENT: &str = concat!("Foretoken/", env!("CARGO_PKG_VERSION"));

/// How much is read, and how long it may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// What is read of one page, in bytes, unpacked.
    body: usize,
    /// For everything, from the first look-up of a host to the text.
    time: Duration,
}

/// What reads pages and searches, with nothing of one request in the next one: no cookies, no referrer, no connection.
#[derive(Debug, Clone)]
pub struct Web {
    /// Reaches the web, and nothing of the person's own network.
    pages: Client,
    /// Reaches any host, and is only sent to the origin of `search`.
    searches: Client,
    search: Option<Url>,
    limits: Limits,
}

impl Web {
    /// With what tells where hosts are, and the address of the SearXNG that the person wants to search with.
    ///
    /// # Errors
    ///
    /// [`ServerError::NoClient`].
    pub fn new(resolver: Arc<dyn Resolver>, search: Option<Url>) -> Result<Self, ServerError> {
        let checking = |hosts| Checking::new(resolver.clone(), hosts);
        let (pages, searches) = (client(checking(Hosts::Public))?, client(checking(Hosts::Any))?);
        Ok(Self { pages, searches, search, limits: LIMITS })
    }

    /// The same, which searches elsewhere or not at all.
    #[must_use]
    pub fn with_search(&self, search: Option<Url>) -> Self {
        Self { search, ..self.clone() }
    }

    /// Reads the page at `address`: its title, where it was in the end, and its main text as Markdown. Who drops this
    /// ends the request.
    pub async fn read_page(&self, address: &str) -> Outcome {
        self.outcome(self.page(address.trim())).await
    }

    /// Searches for `query`: titles, addresses and snippets of a few pages. Who drops this ends the request.
    pub async fn search(&self, query: &str) -> Outcome {
        self.outcome(self.found(query.trim())).await
    }

    async fn outcome(&self, result: impl Future<Output = Result<String, WebError>>) -> Outcome {
        let within = self.limits.time;
        let result = tokio::time::timeout(within, result).await;
        match result.unwrap_or(Err(WebError::TooSlow { within })) {
            Ok(text) => Outcome::text(text),
            Err(error) => Outcome::failure(format!("{error} {}", error.hint())),
        }
    }

    async fn page(&self, address: &str) -> Result<String, WebError> {
        let no_address = || WebError::NoAddress { text: shortened(address) };
        let is_long = address.len() > LONGEST_ADDRESS;
        let url = (!is_long).then(|| address.parse().ok()).flatten().ok_or_else(no_address)?;
        let fetched = fetch(&self.pages, &Reach::Web, url, &PAGES, self.limits.body).await?;
        // It takes its time over a long page, and its length is bounded.
        let read = tokio::task::spawn_blocking(move || text_of(&fetched));
        read.await.unwrap_or(Err(WebError::Damaged))
    }

    async fn found(&self, query: &str) -> Result<String, WebError> {
        let search = self.search.as_ref().ok_or(WebError::NoSearch)?;
        if query.is_empty() || query.chars().count() > LONGEST_QUERY {
            return Err(WebError::Query { most: LONGEST_QUERY });
        }
        let address = search_address(search, query)?;
        let reach = Reach::Origin(search.clone());
        let fetched = fetch(&self.searches, &reach, address, &RESULTS, self.limits.body).await?;
        results::results(&fetched.body)
    }
}

/// A client that connects to where `checking` lets it, follows nothing by itself, and keeps nothing.
fn client(checking: Checking) -> Result<Client, ServerError> {
    let builder = Client::builder()
        .tls_backend_preconfigured(crate::http::trust()?)
        .dns_resolver(Arc::new(checking))
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        .pool_max_idle_per_host(0)
        .user_agent(USER_AGENT);
    builder.build().map_err(|error| ServerError::NoClient { detail: error.to_string() })
}

/// Where the person's SearXNG tells results.
fn search_address(search: &Url, query: &str) -> Result<Url, WebError> {
    let mut address = search.clone();
    let path = search.path().trim_end_matches('/');
    let path = if path.ends_with("/search") { path.to_owned() } else { format!("{path}/search") };
    address.set_path(&path);
    address.set_fragment(None);
    address.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    Ok(address)
}

/// A page as the model reads it.
fn text_of(page: &Fetched) -> Result<String, WebError> {
    let is_html = matches!(page.media_type.as_str(), "text/html" | "application/xhtml+xml");
    let text = decoded(&page.body, page.charset.as_deref(), is_html);
    let Article { title, author, published, text } =
        if is_html { main_text(&text, &page.address)? } else { Article { text, ..Article::default() } };
    let text = crate::stripped(text.trim()).0;
    if text.is_empty() {
        return Err(WebError::Empty);
    }
    let line =
        |before: &str, told: &str, after: &str| match told.split_whitespace().collect::<Vec<_>>().join(" ") {
            told if told.is_empty() => told,
            told => format!("{before}{}{after}", shortened(&told)),
        };
    let (title, author) = (line("# ", &title, "\n\n"), line("Author: ", &author, "\n"));
    let published = line("Published: ", &published, "\n");
    Ok(format!("{title}Address: {}\n{author}{published}\n{text}", page.address))
}
