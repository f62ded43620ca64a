//! What others have made and the app carries, and under which licences. `cargo xtask notices` writes the file.

use foretoken_protocol::{ErrorReport, Notice};
use serde::Deserialize;

const FILE: &str = include_str!("../resources/notices.json");

#[derive(Deserialize)]
struct Notices {
    packages: Vec<Package>,
    texts: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    licence: String,
    texts: Vec<usize>,
}

/// All packages, without the texts of their licences. Takes some milliseconds.
pub(crate) fn all() -> Vec<Notice> {
    let notice = |Package { name, version, licence, .. }| Notice { name, version, licence };
    read().packages.into_iter().map(notice).collect()
}

/// The texts of the licences of the package at a place among [`all`].
pub(crate) fn text(place: usize) -> Result<String, ErrorReport> {
    let Notices { packages, texts } = read();
    let package = packages.get(place).ok_or_else(|| ErrorReport {
        code: "unknown_notice".into(),
        message: format!("There is no notice {place}."),
        hint: "Open the list again.".into(),
    })?;
    let texts: Vec<&str> =
        package.texts.iter().filter_map(|&text| texts.get(text)).map(String::as_str).collect();
    Ok(texts.join("\n\n\n"))
}

fn read() -> Notices {
    serde_json::from_str(FILE).expect("a test reads the notices")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_a_licence_and_its_text() {
        let notices = all();
        for name in ["MLX", "tauri", "react"] {
            assert!(notices.iter().any(|notice| notice.name == name), "{name}");
        }
        for (place, notice) in notices.iter().enumerate() {
            assert!(!notice.licence.is_empty(), "{notice:?}");
            let text = text(place).unwrap();
            assert!(text.len() > 200, "{notice:?}: {text}");
        }
        assert_eq!(text(notices.len()).unwrap_err().code, "unknown_notice");
    }
}
