//! How the Hub is reached, and where its cache is: as the person wants it, or else as the environment has it. One
//! client is for those who wait in front of the window, one for downloads.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use directories::UserDirs;
use foretoken_models::{Hub, HubOptions, LibraryError, Places, RetryPolicy, TokenSource};
use foretoken_protocol::{ErrorReport, HubAccess, HubSettings};

use crate::settings::SettingsFile;

/// The variables that name a proxy for the Hub, in the order in which they count.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// The clients for the Hub, which follow the settings.
#[derive(Debug)]
pub(super) struct Hubs {
    /// What counts where the settings are empty.
    options: HubOptions,
    tokens: Arc<dyn TokenSource>,
    settings: Arc<SettingsFile>,
    clients: Mutex<Result<Clients, ErrorReport>>,
}

#[derive(Debug)]
struct Clients {
    /// For searches and model cards: with short time-outs and few retries.
    browsing: Hub,
    /// For downloads: with long time-outs and many retries.
    downloading: Hub,
}

impl Hubs {
    /// Clients by `settings`, and by `options` where those are empty. An address that is none is reported when the Hub
    /// is used.
    pub(super) fn new(
        options: HubOptions,
        tokens: Arc<dyn TokenSource>,
        settings: Arc<SettingsFile>,
    ) -> Self {
        let clients = clients(&options, &settings.current().hub, &tokens);
        Self { options, tokens, settings, clients: Mutex::new(clients) }
    }

    /// The client for those who wait in front of the window.
    pub(super) fn browsing(&self) -> Result<Hub, ErrorReport> {
        self.lock().as_ref().map(|clients| clients.browsing.clone()).map_err(ErrorReport::clone)
    }

    /// The client for downloads.
    pub(super) fn downloading(&self) -> Result<Hub, ErrorReport> {
        self.lock().as_ref().map(|clients| clients.downloading.clone()).map_err(ErrorReport::clone)
    }

    /// Takes over how the Hub is to be reached, from the next request on. An address or a folder that is none changes
    /// nothing.
    pub(super) async fn set(&self, settings: HubSettings) -> Result<(), ErrorReport> {
        let HubSettings { address, proxy, cache } = settings;
        let settings = HubSettings {
            address: address.trim().into(),
            proxy: proxy.trim().into(),
            // One that was named before may be on a disk that is away.
            cache: match cache.trim() == self.settings.current().hub.cache {
                true => cache.trim().into(),
                false => named_folder(cache.trim())?,
            },
        };
        let clients = clients(&self.options, &settings, &self.tokens)?;
        let writing = {
            let mut now = self.lock();
            *now = Ok(clients);
            self.settings.update(|all| all.hub = settings)
        };
        Ok(writing.written().await?)
    }

    /// What the page shows of it.
    pub(super) fn access(&self) -> HubAccess {
        let named = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
        HubAccess {
            settings: self.settings.current().hub,
            endpoint_variable: env::var("HF_ENDPOINT").ok().filter(|address| !address.trim().is_empty()),
            proxy_variable: PROXY_VARIABLES.iter().find(|name| named(name)).map(|&name| name.to_owned()),
            found_cache: Places::from_env().hugging_face.first().map(|cache| cache.to_string_lossy().into()),
        }
    }

    /// Where other programs keep models.
    pub(super) fn places(&self) -> Places {
        let (places, cache) = (Places::from_env(), self.settings.current().hub.cache);
        if cache.is_empty() { places } else { places.with_cache(Path::new(&cache)) }
    }

    fn lock(&self) -> MutexGuard<'_, Result<Clients, ErrorReport>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The whole path of a folder that a person named, where nothing stays nothing.
fn named_folder(text: &str) -> Result<String, LibraryError> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let of_home = text.strip_prefix("~/").and_then(|rest| Some(UserDirs::new()?.home_dir().join(rest)));
    let path = of_home.unwrap_or_else(|| PathBuf::from(text));
    if path.is_absolute() && path.is_dir() {
        Ok(path.to_string_lossy().into_owned())
    } else {
        Err(LibraryError::NoFolder { path })
    }
}

fn clients(
    options: &HubOptions,
    settings: &HubSettings,
    tokens: &Arc<dyn TokenSource>,
) -> Result<Clients, ErrorReport> {
    let chosen = |text: &String| Some(text).filter(|text| !text.is_empty()).cloned();
    let options = HubOptions {
        endpoint: chosen(&settings.address).unwrap_or_else(|| options.endpoint.clone()),
        proxy: chosen(&settings.proxy).or_else(|| options.proxy.clone()),
        ..options.clone()
    };
    Ok(Clients {
        browsing: Hub::new(interactive(options.clone()), Arc::clone(tokens))?,
        downloading: Hub::new(options, Arc::clone(tokens))?,
    })
}

/// Somebody who looks at the window is told soon that the Hub cannot be reached, or that it is busy and until when.
pub(super) fn interactive(options: HubOptions) -> HubOptions {
    HubOptions {
        connect_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(10),
        retry: RetryPolicy {
            attempts: 3,
            longest_asked_wait: Duration::from_secs(3),
            ..RetryPolicy::default()
        },
        ..options
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use foretoken_models::NoToken;

    use super::*;

    fn hubs(folder: &Path) -> Hubs {
        let settings = Arc::new(SettingsFile::open(folder.join("settings.json")).unwrap());
        Hubs::new(HubOptions::default(), Arc::new(NoToken), settings)
    }

    fn to(address: &str, proxy: &str) -> HubSettings {
        HubSettings { address: address.into(), proxy: proxy.into(), cache: String::new() }
    }

    fn in_cache(cache: &Path) -> HubSettings {
        HubSettings { cache: cache.to_string_lossy().into(), ..HubSettings::default() }
    }

    #[tokio::test]
    async fn the_hub_is_reached_as_the_person_wants_it_at_once_and_after_a_start() {
        let folder = tempfile::tempdir().unwrap();
        let hubs = hubs(folder.path());
        assert_eq!(hubs.browsing().unwrap().endpoint(), "https://huggingface.co");
        hubs.set(to(" https://mirror.example.org/ ", "")).await.unwrap();
        assert_eq!(hubs.browsing().unwrap().endpoint(), "https://mirror.example.org");
        assert_eq!(hubs.downloading().unwrap().endpoint(), "https://mirror.example.org");

        let again = self::hubs(folder.path());
        assert_eq!(again.downloading().unwrap().endpoint(), "https://mirror.example.org");
        again.set(to("", "")).await.unwrap();
        assert_eq!(again.browsing().unwrap().endpoint(), "https://huggingface.co");
    }

    #[tokio::test]
    async fn the_cache_is_where_the_person_says_and_else_where_it_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let hubs = hubs(folder.path());
        assert_eq!(hubs.places(), Places::from_env());
        let disk = folder.path().join("disk");
        std::fs::create_dir(&disk).unwrap();
        hubs.set(in_cache(&disk)).await.unwrap();
        assert_eq!(hubs.places().hugging_face, [disk.as_path()]);
        std::fs::remove_dir(&disk).unwrap();
        let proxy = "http://127.0.0.1:8080".to_owned();
        hubs.set(HubSettings { proxy, ..in_cache(&disk) }).await.unwrap();
        assert_eq!(hubs.places().hugging_face, [disk.as_path()], "it is kept, though its disk is away");
        hubs.set(HubSettings { cache: "~/".into(), ..HubSettings::default() }).await.unwrap();
        assert_eq!(Path::new(&hubs.access().settings.cache), UserDirs::new().unwrap().home_dir().join(""));
        hubs.set(HubSettings::default()).await.unwrap();
        assert_eq!(hubs.places(), Places::from_env());
    }

    #[tokio::test]
    async fn what_is_no_address_is_refused_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let hubs = hubs(folder.path());
        let kept = to("https://mirror.example.org", "http://127.0.0.1:8080");
        hubs.set(kept.clone()).await.unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for (wrong, code) in [
            (in_cache(&file), "no_folder"),
            (in_cache(Path::new("huggingface")), "no_folder"),
            (to("mirror.example.org", ""), "hub_endpoint"),
            (to("ftp://mirror.example.org", ""), "hub_endpoint"),
            (to("https://ines:secret@mirror.example.org", ""), "hub_endpoint"),
            (to("", "proxy"), "hub_proxy"),
            (to("", "socks5://proxy:1080"), "hub_proxy"),
            (to("", "http://proxy:8080/path"), "hub_proxy"),
            (to("", "http://ines:secret@proxy:8080"), "hub_proxy"),
        ] {
            let refused = hubs.set(wrong.clone()).await.unwrap_err();
            assert_eq!(refused.code, code, "{wrong:?}: {refused}");
        }
        assert_eq!(hubs.access().settings, kept);
        assert_eq!(hubs.downloading().unwrap().endpoint(), kept.address);
    }
}
