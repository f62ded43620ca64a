//! The licences of dependencies: which are allowed, and those of the npm packages that are installed.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use spdx::{Expression, Licensee, ParseMode};

use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// The licences that `.cargo/deny.toml` allows, in its order.
pub(crate) fn allowed(workspace: &Workspace) -> Result<Vec<Licensee>> {
    let file = workspace.root().join(".cargo/deny.toml");
    let text = fs::read_to_string(&file).map_err(Error::file(&file))?;
    let broken = |why: String| Error::Output { line: file.display().to_string(), why };
    let rules: toml::Table = text.parse().map_err(|error: toml::de::Error| broken(error.to_string()))?;
    let names = rules.get("licenses").and_then(|licences| licences.get("allow")?.as_array());
    let names = names.ok_or_else(|| broken("no list licenses.allow".into()))?;
    let licensee = |name: &toml::Value| {
        Licensee::parse(name.as_str().unwrap_or_default()).map_err(|error| broken(error.to_string()))
    };
    names.iter().map(licensee).collect()
}

/// What a package says about its licence, as crates and npm packages say it.
pub(crate) fn expression(package: &str, licence: &str) -> Result<Expression> {
    Expression::parse_mode(licence, ParseMode::LAX)
        .map_err(|error| Error::NoLicence { package: package.to_owned(), why: error.to_string() })
}

/// A package that npm has installed.
#[derive(Debug)]
pub(crate) struct NpmPackage {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
    pub(crate) folder: PathBuf,
    /// Whether the page itself uses it, rather than what builds and checks the page.
    pub(crate) is_shipped: bool,
}

/// The packages of the page's lock file that are installed; others are for other systems.
pub(crate) fn npm_packages(workspace: &Workspace) -> Result<Vec<NpmPackage>> {
    let lock = workspace.ui().join("package-lock.json");
    let lock: Value = read_json(lock)?;
    let mut packages = Vec::new();
    for (place, locked) in lock["packages"].as_object().into_iter().flatten() {
        let folder = workspace.ui().join(place);
        if place.is_empty() || !folder.is_dir() {
            continue;
        }
        let told = read_json(folder.join("package.json"))?;
        let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
        let is_shipped = locked["dev"] != true && locked["devOptional"] != true;
        packages.push(NpmPackage {
            name: text("name"),
            version: text("version"),
            licence: text("license"),
            folder,
            is_shipped,
        });
    }
    Ok(packages)
}

/// Checks that every npm package has a licence that is allowed.
pub(crate) fn check_npm(workspace: &Workspace) -> Result<()> {
    let (allowed, packages) = (allowed(workspace)?, npm_packages(workspace)?);
    for package in &packages {
        check(&allowed, &format!("{} {}", package.name, package.version), &package.licence)?;
    }
    println!("{} npm packages, each with a licence that is allowed", packages.len());
    Ok(())
}

fn check(allowed: &[Licensee], package: &str, licence: &str) -> Result<()> {
    let satisfied = |required: &spdx::LicenseReq| allowed.iter().any(|one| one.satisfies(required));
    if expression(package, licence)?.evaluate(satisfied) {
        Ok(())
    } else {
        Err(Error::Licence { package: package.to_owned(), licence: licence.to_owned() })
    }
}

fn read_json(file: PathBuf) -> Result<Value> {
    let text = fs::read_to_string(&file).map_err(Error::file(&file))?;
    serde_json::from_str(&text)
        .map_err(|error| Error::Output { line: file.display().to_string(), why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_passes_if_one_of_its_choices_is_allowed() {
        let allowed = allowed(&Workspace::locate()).unwrap();
        for licence in ["MIT", "(MIT OR GPL-3.0-only)", "MIT/Apache-2.0", "Apache-2.0 AND ISC"] {
            check(&allowed, "owl", licence).unwrap();
        }
        for licence in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "SSPL-1.0"] {
            let refused = check(&allowed, "owl 1.0", licence).unwrap_err().to_string();
            assert!(refused.contains("owl 1.0") && refused.contains(licence), "{refused}");
        }
        for licence in ["", "UNLICENSED", "SEE LICENSE IN x"] {
            assert!(matches!(check(&allowed, "owl", licence), Err(Error::NoLicence { .. })), "{licence}");
        }
    }
}
