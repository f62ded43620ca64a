//! Lists from an address that the person names, and which of them count.

use std::path::PathBuf;

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::Catalogue;
use crate::LibraryError;
use crate::disk::{read_json, write_json};
use crate::hub::{Asked, Document, Hub};

/// Names the address of a list. Without it the list that came with the app is the only one.
const VARIABLE: &str = "FORETOKEN_CATALOGUE";

/// Where newer lists come from, and where the newest one is kept.
#[derive(Debug, Clone)]
pub struct CatalogueSource {
    /// Its address.
    pub url: String,
    /// A file of ours in the cache folder.
    pub cache: PathBuf,
}

/// The newest list that was fetched.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// Where it came from.
    url: String,
    /// What the server calls this content.
    etag: Option<String>,
    list: Catalogue,
}

impl CatalogueSource {
    /// The address in `FORETOKEN_CATALOGUE`; `None` without it.
    pub fn from_env(cache: PathBuf) -> Option<Self> {
        let url = std::env::var(VARIABLE).ok().filter(|url| !url.trim().is_empty())?;
        Some(Self { url, cache })
    }

    /// What was kept of this address, if it is still good.
    fn kept(&self) -> Option<Kept> {
        let read = read_json::<Kept>(&self.cache).map_err(|error| error.to_string());
        let checked = read.and_then(|kept| kept.map(|kept| kept.list.check().map(|()| kept)).transpose());
        match checked {
            Ok(kept) => kept.filter(|kept| kept.url == self.url),
            Err(reason) => {
                tracing::warn!(file = %self.cache.display(), reason, "the kept list of models is not used");
                None
            }
        }
    }
}

impl Catalogue {
    /// The newest list at hand, without asking anyone.
    pub fn load(source: Option<&CatalogueSource>) -> Self {
        Self::newest(source.and_then(CatalogueSource::kept))
    }

    /// Fetches the list, and keeps it if it is newer than the one at hand, which is the answer otherwise. A list that
    /// cannot be used is as none; an error is that of the network or of the disk, and changes nothing.
    pub async fn refresh(hub: &Hub, source: &CatalogueSource) -> Result<Self, LibraryError> {
        let url = Url::parse(&source.url).map_err(|error| LibraryError::Endpoint {
            address: source.url.clone(),
            detail: error.to_string(),
        })?;
        let asked = Asked { repo: None, what: "the list of models".to_owned() };
        let kept = source.kept();
        let etag = kept.as_ref().and_then(|kept| kept.etag.clone());
        let document = hub.document(&url, etag.as_deref(), &asked).await?;
        let at_hand = Self::newest(kept);
        let Some(Document { body, etag }) = document else { return Ok(at_hand) };
        let list = match Self::parse(&body) {
            Ok(list) => list,
            Err(reason) => {
                tracing::warn!(url = source.url, reason, "the list of models from there is not used");
                return Ok(at_hand);
            }
        };
        if list.updated <= at_hand.updated {
            tracing::info!(
                url = source.url,
                updated = list.updated,
                "the list of models from there is no newer"
            );
            return Ok(at_hand);
        }
        let kept = Kept { url: source.url.clone(), etag, list };
        write_json(&source.cache, &kept)?;
        Ok(kept.list)
    }

    fn newest(kept: Option<Kept>) -> Self {
        let embedded = Self::embedded();
        let newer = kept.map(|kept| kept.list).filter(|list| list.updated > embedded.updated);
        newer.unwrap_or(embedded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_list_counts_only_when_it_is_newer_sound_and_from_the_same_address() {
        let folder = tempfile::tempdir().unwrap();
        let source = CatalogueSource {
            url: "http://127.0.0.1:1/list.json".into(),
            cache: folder.path().join("catalogue.json"),
        };
        let embedded = Catalogue::embedded();
        assert_eq!(Catalogue::load(Some(&source)), embedded);
        let mut newer = embedded.clone();
        newer.updated = "2999-01-01".into();
        newer.entries.truncate(1);
        let keep = |url: &str, list: &Catalogue| {
            let kept = Kept { url: url.into(), etag: None, list: list.clone() };
            write_json(&source.cache, &kept).unwrap();
            Catalogue::load(Some(&source))
        };
        assert_eq!(keep(&source.url, &newer), newer);
        assert_eq!(Catalogue::load(None), embedded, "what is kept of an address counts for nobody else");
        assert_eq!(keep("http://127.0.0.1:2/", &newer), embedded);
        assert_eq!(keep(&source.url, &Catalogue { updated: "2000-01-01".into(), ..newer.clone() }), embedded);
        assert_eq!(keep(&source.url, &Catalogue { entries: Vec::new(), ..newer }), embedded);
        std::fs::write(&source.cache, "{").unwrap();
        assert_eq!(Catalogue::load(Some(&source)), embedded);
    }
}
