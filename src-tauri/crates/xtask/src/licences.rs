//! The licences of dependencies: which are allowed, and those of the npm packages that are installed.

use std::fs;
use std::path::{Path, PathBuf};

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

/// npm packages that say what their licence is in the file of its text alone, with that licence.
const SAID_IN_A_FILE: [(&str, &str); 1] = [("khroma", "MIT")];

/// The npm packages of the page's lock file.
#[derive(Debug, Default)]
pub(crate) struct NpmPackages {
    pub(crate) installed: Vec<NpmPackage>,
    /// The names of those that npm has not installed because the page can do without them here, with the systems that
    /// they are for.
    left_out: Vec<String>,
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

/// Reads the lock file in the page's folder, and what each package that is installed says of itself. Only packages that
/// the lock file calls optional may be missing.
pub(crate) fn npm_packages(ui: &Path) -> Result<NpmPackages> {
    let lock: Value = read_json(ui.join("package-lock.json"))?;
    let mut packages = NpmPackages::default();
    for (place, locked) in lock["packages"].as_object().into_iter().flatten() {
        let folder = ui.join(place);
        if place.is_empty() {
            continue;
        }
        if !folder.is_dir() {
            packages.left_out.push(left_out(place, locked)?);
            continue;
        }
        let told = read_json(folder.join("package.json"))?;
        let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
        let is_shipped = locked["dev"] != true && locked["devOptional"] != true;
        let (name, said) = (text("name"), text("license"));
        let unsaid = SAID_IN_A_FILE.iter().find(|(package, _)| said.is_empty() && *package == name);
        packages.installed.push(NpmPackage {
            version: text("version"),
            licence: unsaid.map_or(said, |(_, licence)| (*licence).to_owned()),
            name,
            folder,
            is_shipped,
        });
    }
    Ok(packages)
}

/// Names a package that is not installed, with the systems that it is for. An error if it is not optional.
fn left_out(place: &str, locked: &Value) -> Result<String> {
    let name = place.rsplit_once("node_modules/").map_or(place, |(_, name)| name).to_owned();
    if locked["optional"] != true {
        return Err(Error::NotInstalled { package: name });
    }
    let systems = ["os", "cpu", "libc"].iter().flat_map(|key| locked[key].as_array().into_iter().flatten());
    let systems: Vec<&str> = systems.filter_map(Value::as_str).collect();
    Ok(if systems.is_empty() { name } else { format!("{name} (for {})", systems.join(" ")) })
}

/// Checks that every npm package that is installed has a licence that is allowed, and names the others.
pub(crate) fn check_npm(workspace: &Workspace) -> Result<()> {
    let allowed = allowed(workspace)?;
    let NpmPackages { installed, left_out } = npm_packages(&workspace.ui())?;
    for package in &installed {
        check(&allowed, &format!("{} {}", package.name, package.version), &package.licence)?;
    }
    println!("{} npm packages, each with a licence that is allowed", installed.len());
    if !left_out.is_empty() {
        println!("SKIPPED: {} optional packages that are not installed here:", left_out.len());
        println!("{}", left_out.join(", "));
    }
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
    use serde_json::json;

    use super::*;

    #[test]
    fn only_optional_packages_may_be_missing_and_each_is_named_with_its_reason() {
        let ui = tempfile::tempdir().unwrap();
        let write = |file: &str, content: &Value| {
            let file = ui.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, content.to_string()).unwrap();
        };
        let lock = |packages: Value| write("package-lock.json", &json!({ "packages": packages }));
        write("node_modules/owl/package.json", &json!({"name": "owl", "version": "1.0", "license": "MIT"}));
        let fox = json!({"optional": true, "os": ["darwin"], "cpu": ["arm64"]});
        let hen = json!({"optional": true});
        lock(json!({
            "": {}, "node_modules/owl": {}, "node_modules/@a/fox": fox, "node_modules/owl/node_modules/hen": hen,
        }));
        let packages = npm_packages(ui.path()).unwrap();
        let installed: Vec<_> = packages.installed.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(installed, ["owl"]);
        assert_eq!(packages.left_out, ["@a/fox (for darwin arm64)", "hen"]);

        for needed in [json!({}), json!({"dev": true}), json!({"devOptional": true})] {
            lock(json!({ "node_modules/owl": {}, "node_modules/fox": needed }));
            let refused = npm_packages(ui.path()).unwrap_err();
            assert!(matches!(&refused, Error::NotInstalled { package } if package == "fox"), "{refused}");
        }
    }

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
