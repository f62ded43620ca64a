//! The main text of a page, as Markdown.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dom_query::Document;
use dom_smoothie::{Config, Readability};
use reqwest::Url;

use super::error::WebError;
use super::tidy::{Tidy, tidy};

/// A main text of fewer bytes than this is perhaps only a part of it: then the whole page is, but for what is around.
const SHORTEST: usize = 500;
/// What is around the main text.
const AROUND: &str = "nav, header, footer, aside";
/// What stands at the end of a page that was not read to its end.
const CUT: &str = "\n\n[The page goes on.]";

/// The main text of a page, and what the page says of it; empty where it says nothing.
#[derive(Debug, Default)]
pub(super) struct Article {
    pub(super) title: String,
    /// Who has written it, and often when.
    pub(super) author: String,
    /// When it was published.
    pub(super) published: String,
    /// As Markdown.
    pub(super) text: String,
}

/// The main text of the page at `address`.
pub(super) fn main_text(source: &str, address: &Url) -> Result<Article, WebError> {
    let page = tidy(source, address);
    // What reads documents of strangers may panic.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let found = if page.is_heavy { None } else { found(&page) };
        let (main, author) = found.unwrap_or_default();
        if main.len() >= SHORTEST {
            return (main, author);
        }
        let body = whole(&page, AROUND);
        let body = if body.is_empty() { whole(&page, "") } else { body };
        // The whole has the author in it.
        if body.len() > main.len() { (body, String::new()) } else { (main, author) }
    }));
    let (mut text, author) = read.map_err(|_| WebError::Damaged)?;
    if text.is_empty() {
        return Err(WebError::Empty);
    }
    if page.is_cut {
        text += CUT;
    }
    Ok(Article { title: page.title, author, published: page.published, text })
}

/// The part of the page that is its main text, as Markdown, and its author, who is then not in the text.
fn found(page: &Tidy) -> Option<(String, String)> {
    let config = Config { disable_json_ld: true, ..Config::default() };
    let document = Document::from(page.html.as_str());
    let mut readability = Readability::with_document(document, None, Some(config)).ok()?;
    let article = readability.parse().ok()?;
    Some((markdown(&article.content), article.byline.unwrap_or_default()))
}

/// All that is on the page, without these elements, as Markdown.
fn whole(page: &Tidy, without: &str) -> String {
    let document = Document::from(page.html.as_str());
    if !without.is_empty() {
        document.select(without).remove();
    }
    markdown(&document.html())
}

/// HTML as Markdown, in the form of all documents; empty where nothing is in it.
fn markdown(html: &str) -> String {
    // By the mark it is known in which encoding this is, whatever is written in it.
    let bytes = format!("\u{feff}<!doctype html>{html}");
    let read = foretoken_documents::read(bytes.as_bytes(), "page.html");
    // A sign beside a heading that links to it is no part of it.
    let line = |line: &str| {
        if line.starts_with('#') { line.trim_end_matches(['¶', ' ']).to_owned() } else { line.to_owned() }
    };
    read.map(|read| read.text.lines().map(line).collect::<Vec<_>>().join("\n")).unwrap_or_default()
}
