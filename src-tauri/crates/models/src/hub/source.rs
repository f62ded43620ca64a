//! One file of a repository, range by range.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, RANGE};
use reqwest::{Response, StatusCode, Url};

use super::client::{broken, header, host};
use super::{Asked, Commit, Failure, Hub, RepoFile, RepoId};
use crate::LibraryError;

/// One file at one commit, and where its bytes were found last.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) repo: RepoId,
    commit: Commit,
    pub(crate) file: RepoFile,
    /// The content server's address, which is valid for a while.
    located: Mutex<Option<Url>>,
}

/// The bytes of a range as they arrive, never more than were asked for.
#[derive(Debug)]
pub(crate) struct ByteStream {
    response: Response,
    asked: Asked,
    /// Bytes of the body before the range.
    skip: u64,
    /// Bytes of the range still to come.
    left: u64,
}

/// The commit and the content (by its ETag) that the Hub itself names for a file when it sends it or redirects.
#[derive(Debug)]
pub(super) struct Announced {
    etag: Option<String>,
    commit: Option<String>,
}

impl Source {
    pub(crate) fn new(repo: RepoId, commit: Commit, file: RepoFile) -> Self {
        Self { repo, commit, file, located: Mutex::default() }
    }

    /// Asks for a range. An error says whether another attempt makes sense.
    pub(crate) async fn open(&self, hub: &Hub, range: Range<u64>) -> Result<ByteStream, Failure> {
        let asked = Asked { repo: Some(self.repo.clone()), what: self.file.path.clone() };
        let whole = range == (0..self.file.size);
        let bytes = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let wanted = if whole { None } else { Some((RANGE, bytes.as_str())) };
        let located = self.lock().clone();
        let response = match located {
            // The Hub counts its own requests, so it is asked for the way only once as long as the way works.
            Some(url) => match hub.send(&url, wanted, &asked).await {
                Ok((response, _)) => response,
                Err(failure) => {
                    *self.lock() = None;
                    return Err(failure);
                }
            },
            None => {
                let parts = [self.repo.organisation(), self.repo.name(), "resolve", self.commit.as_str()];
                let url = hub.url(parts.into_iter().chain(self.file.path.split('/')));
                let (response, announced) = hub.send(&url, wanted, &asked).await?;
                self.check(announced)?;
                if !hub.owns(response.url()) {
                    *self.lock() = Some(response.url().clone());
                }
                response
            }
        };
        ByteStream::new(response, asked, range, self.file.size)
    }

    /// The same commit must name the same content as when the download was planned.
    fn check(&self, announced: Option<Announced>) -> Result<(), Failure> {
        let Some(Announced { etag, commit }) = announced else { return Ok(()) };
        let differs = |expected: &str, found: Option<String>| match found {
            Some(found) if found != expected => {
                let (repo, path) = (self.repo.clone(), self.file.path.clone());
                Err(Failure::Final(LibraryError::Changed {
                    repo,
                    path,
                    expected: expected.to_owned(),
                    found,
                }))
            }
            _ => Ok(()),
        };
        differs(self.commit.as_str(), commit)?;
        differs(self.file.hash.digits(), etag)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Url>> {
        self.located.lock().expect("no holder of this lock can panic")
    }
}

impl ByteStream {
    fn new(response: Response, asked: Asked, range: Range<u64>, size: u64) -> Result<Self, Failure> {
        let host = host(response.url());
        let wrong = |detail: String| {
            let error = LibraryError::Protocol { host: host.clone(), what: asked.what.clone(), detail };
            Err(Failure::Transient(error, None))
        };
        let headers = response.headers();
        if response.status() == StatusCode::PARTIAL_CONTENT {
            let text = header(headers, &CONTENT_RANGE).unwrap_or_default();
            match content_range(&text) {
                Some((start, last, total)) if start == range.start && last < range.end && total == size => {
                    return Ok(Self { response, asked, skip: 0, left: last + 1 - start });
                }
                _ => return wrong(format!("the range {text:?} instead of {range:?} of {size}")),
            }
        }
        let length = header(headers, &CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if let Some(length) = length.filter(|&length| length != size) {
            return wrong(format!("{length} bytes instead of {size}"));
        }
        // Without support for ranges the whole file comes: what is before the range is read and thrown away.
        Ok(Self { response, asked, skip: range.start, left: range.end - range.start })
    }

    /// The next bytes of the range; `None` at its end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        while self.left > 0 {
            let chunk = self.response.chunk().await.map_err(|error| broken(self.response.url(), error))?;
            let Some(mut chunk) = chunk else {
                let (host, what) = (host(self.response.url()), self.asked.what.clone());
                let detail = format!("it ended {} bytes early", self.left);
                return Err(Failure::Transient(LibraryError::Protocol { host, what, detail }, None));
            };
            let skipped = self.skip.min(chunk.len() as u64);
            self.skip -= skipped;
            let mut chunk = chunk.split_off(skipped as usize);
            chunk.truncate(self.left.min(chunk.len() as u64) as usize);
            self.left -= chunk.len() as u64;
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}

impl Announced {
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        // For files outside of git the plain ETag is that of the redirect.
        let etag =
            header(headers, &HeaderName::from_static("x-linked-etag")).or_else(|| header(headers, &ETAG));
        let commit = header(headers, &HeaderName::from_static("x-repo-commit"))?;
        let etag = etag.map(|etag| etag.trim_start_matches("W/").trim_matches('"').to_owned());
        Some(Self { etag, commit: Some(commit) })
    }
}

/// First byte, last byte and total of `bytes FIRST-LAST/TOTAL`.
fn content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last, total) = (first.parse().ok()?, last.parse().ok()?, total.parse().ok()?);
    (first <= last && last < total).then_some((first, last, total))
}
