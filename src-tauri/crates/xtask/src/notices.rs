//! The notices of what others have made and the app carries: crates, npm packages, MLX and the libraries in it. They
//! are written into one file, which is compiled in and shown in the settings.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use spdx::Licensee;

use crate::error::{Error, Result};
use crate::licences;
use crate::prepared;
use crate::workspace::Workspace;

/// The programs that are shipped.
const ROOTS: [&str; 3] = ["foretoken", "foretoken-engine", "foretoken-models"];
/// The systems that they are shipped for.
const TARGETS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-unknown-linux-gnu"];
/// Where the file is.
const FILE: &str = "src-tauri/resources/notices.json";
/// How the names of files with licences begin, in small letters.
const LICENCE_FILES: [&str; 6] = ["license", "licence", "copying", "notice", "unlicense", "copyright"];

/// The file.
#[derive(Debug, Serialize)]
struct Notices {
    packages: Vec<Package>,
    /// Each text once.
    texts: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Package {
    name: String,
    version: String,
    licence: String,
    /// Places in [`Notices::texts`].
    texts: Vec<usize>,
    /// The kind of its registry in a package URL; `None` for what comes from none.
    #[serde(skip)]
    source: Option<&'static str>,
}

/// Something that is neither a crate nor an npm package, from `notices/native.json`. There, `libraries` are those that
/// it is in MLX's wheel for Linux.
#[derive(Debug, Deserialize)]
struct Native {
    name: String,
    version: String,
    licence: String,
    /// Its text, beside that file; without one the licence's own.
    file: Option<String>,
}

/// Writes the file anew.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    let changed = prepared::write(&workspace.root().join(FILE), &collect(workspace)?)?;
    println!("{FILE}: {}", if changed { "written" } else { "as it was" });
    Ok(())
}

/// Checks that the file says what the dependencies are now.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let file = workspace.root().join(FILE);
    let committed = fs::read_to_string(&file).map_err(Error::file(&file))?;
    if committed == collect(workspace)? { Ok(()) } else { Err(Error::Outdated { path: FILE.into() }) }
}

fn collect(workspace: &Workspace) -> Result<String> {
    let Collector { packages, texts, .. } = Collector::filled(workspace)?;
    let notices = Notices { packages, texts };
    let text = serde_json::to_string_pretty(&notices)
        .map_err(|error| Error::Output { line: FILE.into(), why: error.to_string() })?;
    Ok(text + "\n")
}

/// The bill of materials of the app with this version, in CycloneDX 1.6: all packages that the notices name.
pub(crate) fn bill_of_materials(workspace: &Workspace, version: &str) -> Result<String> {
    let collected = Collector::filled(workspace)?;
    let components: Vec<Value> = collected
        .packages
        .iter()
        .map(|package| {
            let Package { name, version, licence, source, .. } = package;
            let mut component = json!({ "type": "library", "name": name });
            if !version.is_empty() {
                component["version"] = json!(version);
            }
            component["licenses"] = json!([{ "expression": licence }]);
            if let Some(kind) = source {
                // Of a name, only the sign before a scope means something else in an address.
                component["purl"] = json!(format!("pkg:{kind}/{}@{version}", name.replace('@', "%40")));
            }
            component
        })
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": { "type": "application", "name": "Foretoken", "version": version }
        },
        "components": components,
    });
    Ok(format!("{bill:#}\n"))
}

#[derive(Debug, Default)]
struct Collector {
    allowed: Vec<Licensee>,
    packages: Vec<Package>,
    texts: Vec<String>,
    /// Where each text is.
    places: HashMap<String, usize>,
}

impl Collector {
    /// Everything that is shipped, by its name.
    fn filled(workspace: &Workspace) -> Result<Self> {
        let mut collector = Collector { allowed: licences::allowed(workspace)?, ..Collector::default() };
        for package in shipped_crates(workspace)?.values() {
            let text = |key: &str| package[key].as_str().unwrap_or_default();
            let folder = Path::new(text("manifest_path")).parent().unwrap_or(Path::new(""));
            let authors = package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let authors = authors.collect::<Vec<_>>().join(", ");
            let texts = texts_in(folder, package["license_file"].as_str())?;
            let named = (text("name"), text("version"), text("license"));
            collector.add(Some("cargo"), named, &authors, texts)?;
        }
        let npm = licences::npm_packages(&workspace.ui())?.installed;
        for package in npm.iter().filter(|package| package.is_shipped) {
            let texts = texts_in(&package.folder, None)?;
            collector.add(Some("npm"), (&package.name, &package.version, &package.licence), "", texts)?;
        }
        for native in natives(workspace)? {
            let file = native.file.map(|file| natives_folder(workspace).join(file));
            let text = file.map(|file| fs::read_to_string(&file).map_err(Error::file(&file))).transpose()?;
            let named = (&*native.name, &*native.version, &*native.licence);
            collector.add(None, named, "", text.into_iter().collect())?;
        }
        collector.packages.sort_by_cached_key(|package| {
            let name = package.name.trim_start_matches(|first: char| !first.is_alphanumeric());
            (name.to_lowercase(), package.version.clone())
        });
        Ok(collector)
    }

    /// Adds a package. Where it brings no text, those of its licences stand for it, and name who made it.
    fn add(
        &mut self,
        source: Option<&'static str>,
        (name, version, licence): (&str, &str, &str),
        authors: &str,
        mut texts: Vec<String>,
    ) -> Result<()> {
        texts.retain(|text| !text.trim_start().starts_with("GNU GENERAL PUBLIC LICENSE"));
        if texts.is_empty() {
            texts = self.standard_texts(name, licence, authors)?;
        }
        let texts: BTreeSet<usize> = texts.iter().map(|text| self.place(text)).collect();
        let (name, version, licence) = (name.to_owned(), version.to_owned(), licence.to_owned());
        self.packages.push(Package { name, version, licence, texts: texts.into_iter().collect(), source });
        Ok(())
    }

    /// The texts of the licences that a package is taken under: those of its choices that are allowed, or all.
    fn standard_texts(&self, name: &str, licence: &str, authors: &str) -> Result<Vec<String>> {
        let expression = licences::expression(name, licence)?;
        let chosen = expression
            .minimized_requirements(&self.allowed)
            .unwrap_or_else(|_| expression.requirements().map(|required| required.req.clone()).collect());
        let head = if authors.is_empty() { String::new() } else { format!("{name}, by {authors}\n\n") };
        let mut texts = Vec::new();
        for required in chosen {
            let text = required.license.id().map(spdx::LicenseId::text).ok_or_else(|| Error::NoLicence {
                package: name.to_owned(),
                why: format!("nobody knows the text of {required}"),
            })?;
            let exception = required.addition.as_ref().and_then(|addition| addition.id());
            let exception = exception.map(spdx::ExceptionId::text).unwrap_or_default();
            texts.push(format!("{head}{text}\n\n{exception}"));
        }
        Ok(texts)
    }

    /// Where a text is; texts that differ in white space at the ends of lines are one.
    fn place(&mut self, text: &str) -> usize {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let text = lines.join("\n").trim_matches('\n').to_owned();
        *self.places.entry(text.clone()).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        })
    }
}

/// The crates in the programs that are shipped, by name and version. What only runs while they are built is in none.
fn shipped_crates(workspace: &Workspace) -> Result<BTreeMap<(String, String), Value>> {
    let mut shipped = BTreeMap::new();
    for target in TARGETS {
        let metadata = workspace.metadata_for(&["--filter-platform", target])?;
        let by_id = |list: &Value| -> HashMap<String, Value> {
            let list = list.as_array().into_iter().flatten();
            list.filter_map(|one| Some((one["id"].as_str()?.to_owned(), one.clone()))).collect()
        };
        let (packages, nodes) = (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
        let is_root = |package: &Value| {
            package["source"].is_null() && ROOTS.iter().any(|root| package["name"] == *root)
        };
        let mut next: Vec<&String> =
            packages.iter().filter(|(_, package)| is_root(package)).map(|(id, _)| id).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = next.pop() {
            let (Some(package), Some(node)) = (packages.get(id), nodes.get(id)) else { continue };
            if !seen.insert(id) || is_macro(package) {
                continue;
            }
            if !package["source"].is_null() {
                let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
                shipped.insert((text("name"), text("version")), package.clone());
            }
            for dependency in node["deps"].as_array().into_iter().flatten() {
                let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
                let is_linked = kinds.into_iter().any(|kind| kind["kind"].is_null());
                let id = dependency["pkg"].as_str().and_then(|id| packages.get_key_value(id));
                next.extend(id.filter(|_| is_linked).map(|(id, _)| id));
            }
        }
    }
    Ok(shipped)
}

fn is_macro(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets.into_iter().any(|target| target["kind"][0] == "proc-macro")
}

/// The texts of the files with licences in a package's folder, by the names of the files.
fn texts_in(folder: &Path, named: Option<&str>) -> Result<Vec<String>> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_text =
            !matches!(path.extension().and_then(|end| end.to_str()), Some("spdx" | "rs" | "js" | "json"));
        if path.is_file() && is_text && LICENCE_FILES.iter().any(|begin| name.starts_with(begin)) {
            files.insert(path);
        }
    }
    files.extend(named.map(|named| folder.join(named)).filter(|file| file.is_file()));
    let read = |file: &PathBuf| {
        let bytes = fs::read(file).map_err(Error::file(file))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    files.iter().map(read).collect()
}

fn natives_folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("src-tauri/crates/xtask/notices")
}

fn natives(workspace: &Workspace) -> Result<Vec<Native>> {
    let file = natives_folder(workspace).join("native.json");
    let text = fs::read_to_string(&file).map_err(Error::file(&file))?;
    serde_json::from_str(&text)
        .map_err(|error| Error::Output { line: file.display().to_string(), why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_a_text_gets_that_of_its_licence_and_equal_texts_are_one() {
        let allowed = licences::allowed(&Workspace::locate()).unwrap();
        let mut collector = Collector { allowed, ..Collector::default() };
        let own = "Copyright Ines\n\nMIT\n".to_owned();
        collector.add(None, ("a", "1.0", "MIT"), "", vec![own.clone()]).unwrap();
        collector.add(None, ("b", "1.0", "MIT"), "", vec![own.replace('\n', " \r\n")]).unwrap();
        collector.add(None, ("c", "1.0", "GPL-3.0-only OR Apache-2.0"), "Ines", Vec::new()).unwrap();
        let gpl = "GNU GENERAL PUBLIC LICENSE".to_owned();
        collector.add(None, ("d", "1.0", "GPL-3.0-only OR MIT"), "", vec![gpl, own]).unwrap();
        let texts: Vec<&[usize]> = collector.packages.iter().map(|package| &*package.texts).collect();
        assert_eq!(texts, [&[0][..], &[0], &[1], &[0]]);
        assert!(collector.texts[1].starts_with("c, by Ines"), "{}", collector.texts[1]);
        assert!(collector.texts[1].contains("Apache License"));
        collector.add(None, ("e", "1.0", ""), "", Vec::new()).unwrap_err();
    }

    #[test]
    fn the_bill_of_materials_names_what_the_notices_name() {
        let workspace = Workspace::locate();
        let bill: Value = serde_json::from_str(&bill_of_materials(&workspace, "1.2.3").unwrap()).unwrap();
        assert_eq!(
            (&bill["bomFormat"], &bill["metadata"]["component"]["version"]),
            (&json!("CycloneDX"), &json!("1.2.3"))
        );
        let components = bill["components"].as_array().unwrap();
        let notices: Value =
            serde_json::from_str(&fs::read_to_string(workspace.root().join(FILE)).unwrap()).unwrap();
        let names =
            |list: &Value| list.as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
        assert_eq!(names(&bill["components"]), names(&notices["packages"]));
        let addresses: Vec<&str> = components.iter().filter_map(|one| one["purl"].as_str()).collect();
        for begin in
            ["pkg:cargo/tauri@2.", "pkg:cargo/mlx-rs@0.33.0", "pkg:npm/%40base-ui/react@", "pkg:npm/react@"]
        {
            assert!(addresses.iter().any(|address| address.starts_with(begin)), "{begin}");
        }
    }

    #[test]
    fn only_files_with_licences_are_read() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["LICENSE-MIT", "Copying", "README.md", "license.rs", "LICENSE.spdx", "terms"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        assert_eq!(texts_in(folder.path(), None).unwrap(), ["Copying", "LICENSE-MIT"]);
        assert_eq!(texts_in(folder.path(), Some("terms")).unwrap().len(), 3);
    }

    /// MLX's own licence is the one in its wheel, and every library that the wheel brings has a notice.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_notices_of_mlx_are_those_of_its_wheel() {
        let workspace = Workspace::locate();
        let wheel = crate::setup::mlx::wheel(&workspace).unwrap();
        let natives = natives(&workspace).unwrap();
        let mlx = natives.iter().find(|native| native.name == "MLX").unwrap();
        let theirs = wheel.join(format!("mlx-{}.dist-info/licenses/LICENSE", mlx.version));
        let ours = natives_folder(&workspace).join(mlx.file.as_ref().unwrap());
        let read = |file: &Path| {
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        };
        assert_eq!(read(&theirs).trim_end(), read(&ours).trim_end());
        // NVIDIA's libraries are packages of their own and not shipped.
        let parts: Value =
            serde_json::from_str(&read(&natives_folder(&workspace).join("native.json"))).unwrap();
        let known = parts.as_array().unwrap().iter().filter_map(|part| part["libraries"].as_array());
        let known: Vec<&str> = known.flatten().filter_map(Value::as_str).collect();
        for library in fs::read_dir(wheel.join("mlx_cpu.libs")).into_iter().flatten().flatten() {
            let library = library.file_name().to_string_lossy().into_owned();
            assert!(known.iter().any(|known| library.starts_with(known)), "{library} has no notice");
        }
    }
}
