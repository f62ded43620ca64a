//! Where newer versions come from, and whether this copy of the app can be replaced by one.

use std::path::{Path, PathBuf};

use foretoken_protocol::ErrorReport;
use tauri::Url;

/// Where newer versions are published, and whose signature they have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// The file that names the newest version.
    pub(super) endpoint: Url,
    /// The minisign key, as one line of base64.
    pub(super) key: String,
}

impl Source {
    /// What `release.toml` said when this was built; `None` where it names none.
    pub(super) fn of_this_build() -> Option<Self> {
        // What others get takes no orders from its surroundings.
        #[cfg(debug_assertions)]
        if let (Ok(endpoint), Ok(key)) =
            (std::env::var("FORETOKEN_UPDATES_ENDPOINT"), std::env::var("FORETOKEN_UPDATES_KEY"))
        {
            return Self::new(&endpoint, &key);
        }
        Self::new(env!("UPDATES_ENDPOINT"), env!("UPDATES_PUBLIC_KEY"))
    }

    fn new(endpoint: &str, key: &str) -> Option<Self> {
        let endpoint = Url::parse(endpoint).ok()?;
        (!key.is_empty()).then(|| Self { endpoint, key: key.to_owned() })
    }
}

/// Why a copy of the app cannot be replaced from within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Barrier {
    #[error("Homebrew has installed this copy of Foretoken, and updates it.")]
    Homebrew,
    #[error("Foretoken runs from a disk image or another place that cannot be written to.")]
    ReadOnly,
    #[error("This copy of Foretoken was built on this machine, and is not installed.")]
    NotInstalled,
}

impl From<Barrier> for ErrorReport {
    fn from(barrier: Barrier) -> Self {
        let (code, hint) = match barrier {
            Barrier::Homebrew => {
                ("updated_by_homebrew", "Type `brew upgrade --cask foretoken` in the Terminal.")
            }
            Barrier::ReadOnly => {
                ("app_not_writable", "Move Foretoken to the Applications folder, and open it there.")
            }
            Barrier::NotInstalled => ("app_not_installed", "Get the newest source, and build it again."),
        };
        Self { code: code.into(), message: barrier.to_string(), hint: hint.into() }
    }
}

impl Barrier {
    /// What keeps the running copy from being replaced.
    pub(super) fn of_this_copy() -> Option<Self> {
        let program = std::env::current_exe().and_then(|program| program.canonicalize()).unwrap_or_default();
        let is_installed = match tauri::utils::platform::bundle_type() {
            // Everything on a Mac is said to be one, and what is not would lose the folder around it.
            Some(_) if cfg!(target_os = "macos") => app_of(&program).is_some(),
            bundle => bundle.is_some(),
        };
        let casks = ["/opt/homebrew/Caskroom", "/usr/local/Caskroom"].map(Path::new);
        let is_read_only = rustix::fs::statvfs(app_of(&program).unwrap_or(&program))
            .is_ok_and(|system| system.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY));
        if !is_installed {
            Some(Self::NotInstalled)
        } else if cfg!(target_os = "macos") && has_cask(&casks) {
            Some(Self::Homebrew)
        } else if is_translocated(&program) || is_read_only {
            Some(Self::ReadOnly)
        } else {
            None
        }
    }
}

/// The app that a program is the main one of.
fn app_of(program: &Path) -> Option<&Path> {
    let contents = program.parent()?.parent()?;
    let app = contents.parent()?;
    let is_app =
        contents.ends_with("Contents") && app.extension().is_some_and(|extension| extension == "app");
    is_app.then_some(app)
}

/// Whether Homebrew keeps a record of the app in one of its folders of casks.
fn has_cask(casks: &[&Path]) -> bool {
    casks.iter().any(|casks| casks.join("foretoken").is_dir())
}

/// Whether macOS shows the app elsewhere than it lies, as it does with what a browser has put into Downloads.
fn is_translocated(program: &Path) -> bool {
    program.components().collect::<PathBuf>().to_string_lossy().contains("/AppTranslocation/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_a_place_or_a_key_looks_for_nothing() {
        assert_eq!(Source::new("", ""), None);
        assert_eq!(Source::new("https://example.org/latest.json", ""), None);
        assert_eq!(Source::new("example", "key"), None);
        let source = Source::new("https://example.org/latest.json", "key").unwrap();
        assert_eq!((source.endpoint.as_str(), &*source.key), ("https://example.org/latest.json", "key"));
    }

    #[test]
    fn what_cannot_be_replaced_says_who_brings_the_next_version() {
        let app = |program: &str| app_of(Path::new(program)).map(Path::to_owned);
        assert_eq!(
            app("/Applications/Foretoken.app/Contents/MacOS/foretoken"),
            Some(PathBuf::from("/Applications/Foretoken.app"))
        );
        assert_eq!(app("/Users/a/foretoken/target/debug/foretoken"), None);
        assert_eq!(app("/foretoken"), None);
        assert!(is_translocated(Path::new(
            "/private/var/folders/x/T/AppTranslocation/0B/d/Foretoken.app/Contents/MacOS/foretoken"
        )));
        assert!(!is_translocated(Path::new("/Applications/Foretoken.app/Contents/MacOS/foretoken")));
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_cask(&[folder.path()]));
        std::fs::create_dir(folder.path().join("foretoken")).unwrap();
        assert!(has_cask(&[Path::new("/nowhere"), folder.path()]));
        // A test is a program that was built here.
        assert_eq!(Barrier::of_this_copy(), Some(Barrier::NotInstalled));
        for barrier in [Barrier::Homebrew, Barrier::ReadOnly, Barrier::NotInstalled] {
            let report = ErrorReport::from(barrier);
            assert!(!report.hint.is_empty() && report.message.ends_with('.'), "{report:?}");
        }
    }
}
