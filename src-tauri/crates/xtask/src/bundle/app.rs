//! The bundle for Macs: `Foretoken.app`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use plist::{Dictionary, Value};

use super::list::{Entry, files};
use super::macho;
use super::metallib::{self, find};
use super::seals;
use super::signing::{self, Demands};
use crate::error::{Error, Result};
use crate::setup::mlx::MACOS_26_FLOOR;

/// The identifier of the app, by which its folders are named.
pub(crate) const IDENTIFIER: &str = "dev.foretoken.Foretoken";
pub(super) const ENGINE: &str = "foretoken-engine";
const PROGRAMS: &str = "Contents/MacOS";
/// The program that the app starts with.
pub(super) const MAIN: &str = "Contents/MacOS/foretoken";
const LIBRARIES: &str = "Contents/Frameworks";
const RESOURCES: &str = "Contents/Resources";
const INFO: &str = "Contents/Info.plist";
/// The icon in layers, which macOS 26 draws as it draws others; and its name in there.
pub(super) const LAYERED_ICON: &str = "Assets.car";
pub(super) const LAYERED_ICON_NAME: &str = "Foretoken";

/// The oldest macOS that the app runs on.
const OLDEST_SYSTEM: [u32; 2] = [14, 0];

/// What an app calls itself.
#[derive(Debug)]
pub(super) struct Version {
    /// For people.
    pub(super) name: String,
    /// A number that only grows.
    pub(super) build: u32,
}

/// A build of MLX, and the engine that runs with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flavour {
    /// Behind the names of engine and folders.
    pub(super) name: &'static str,
    /// The oldest macOS that it runs on.
    oldest_system: [u32; 2],
    /// Whether it has kernels for M5's matrix units.
    has_matrix_units: bool,
}

pub(super) const FLAVOURS: [Flavour; 2] = [
    Flavour { name: "14", oldest_system: OLDEST_SYSTEM, has_matrix_units: false },
    Flavour { name: "26", oldest_system: MACOS_26_FLOOR, has_matrix_units: true },
];

impl Flavour {
    fn folder(self) -> String {
        format!("mlx-{}", self.name)
    }

    /// Where the engine of this flavour looks for MLX.
    pub(super) fn rpath(self) -> String {
        format!("@executable_path/../Frameworks/{}", self.folder())
    }

    /// The flavour that a file of the bundle is of.
    fn of(file: &Path) -> Option<Self> {
        let is_own = |part: &str, flavour: &Self| {
            part == flavour.folder() || part == format!("{ENGINE}-{}", flavour.name)
        };
        let parts = || file.iter().filter_map(|part| part.to_str());
        FLAVOURS.into_iter().find(|flavour| parts().any(|part| is_own(part, flavour)))
    }
}

/// Where each file lies in the app: programs, resources, and MLX by its flavour and the folder of its wheel.
pub(super) fn layout(
    programs: &[Entry],
    resources: &[Entry],
    wheels: &[(Flavour, PathBuf)],
    icon: &Path,
) -> Result<Vec<Entry>> {
    let mut entries = vec![Entry { to: Path::new(RESOURCES).join("icon.icns"), from: icon.to_owned() }];
    entries.extend(resources.iter().cloned().map(|entry| entry.below(RESOURCES)));
    for program in programs {
        if program.to != Path::new(ENGINE) {
            entries.push(program.clone().below(PROGRAMS));
        }
    }
    for (flavour, wheel) in wheels {
        let engine = programs.iter().filter(|program| program.to == Path::new(ENGINE));
        entries.extend(engine.map(|engine| {
            let from = engine.from.with_file_name(format!("{ENGINE}-{}", flavour.name));
            Entry { to: format!("{PROGRAMS}/{ENGINE}-{}", flavour.name).into(), from }
        }));
        let lib = wheel.join("mlx/lib");
        let library = |name: &str| Entry {
            to: Path::new(LIBRARIES).join(flavour.folder()).join(name),
            from: lib.join(name),
        };
        entries.push(library("libmlx.dylib"));
        // Only what libmlx loads.
        let mlx = fs::read(lib.join("libmlx.dylib")).map_err(Error::file(&lib))?;
        if macho::read(&mlx)
            .is_ok_and(|facts| facts.libraries.iter().any(|name| name == "@rpath/libjaccl.dylib"))
        {
            entries.push(library("libjaccl.dylib"));
        }
        entries.push(Entry {
            to: Path::new(RESOURCES).join(flavour.folder()).join("mlx.metallib"),
            from: lib.join("mlx.metallib"),
        });
    }
    entries.sort();
    Ok(entries)
}

/// Puts the app together.
pub(super) fn assemble(app: &Path, entries: &[Entry], version: &Version) -> Result<()> {
    if app.exists() {
        fs::remove_dir_all(app).map_err(Error::file(app))?;
    }
    for Entry { to, from } in entries {
        let to = app.join(to);
        let folder = to.parent().unwrap_or(app);
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        fs::copy(from, &to).map_err(Error::file(from))?;
        let mode = if folder.ends_with("MacOS") { 0o755 } else { 0o644 };
        fs::set_permissions(&to, fs::Permissions::from_mode(mode)).map_err(Error::file(&to))?;
    }
    let write = |name: &str, bytes: &[u8]| {
        let file = app.join(name);
        fs::write(&file, bytes).map_err(Error::file(&file))
    };
    let mut text = Vec::new();
    let info = Value::Dictionary(info(version, entries));
    info.to_writer_xml(&mut text)
        .map_err(|error| Error::Output { line: INFO.into(), why: error.to_string() })?;
    write(INFO, &text)?;
    write("Contents/PkgInfo", b"APPL????")
}

/// What is signed, in the order in which it must be; the app itself, with all that is in it, at the end.
pub(super) fn signed(entries: &[Entry]) -> Vec<&Path> {
    let in_folder = |folder: &'static str| {
        entries.iter().map(|entry| entry.to.as_path()).filter(move |file| file.starts_with(folder))
    };
    // The app's signature is that of its main program.
    let others = in_folder(PROGRAMS).filter(|file| *file != Path::new(MAIN));
    in_folder(LIBRARIES).chain(others).chain([Path::new("")]).collect()
}

/// What the system is told of an app with these files.
fn info(version: &Version, entries: &[Entry]) -> Dictionary {
    let models = "Foretoken reads models and files that you choose.";
    let texts = [
        ("CFBundleDevelopmentRegion", "en"),
        ("CFBundleDisplayName", "Foretoken"),
        ("CFBundleExecutable", "foretoken"),
        ("CFBundleIconFile", "icon.icns"),
        ("CFBundleIdentifier", IDENTIFIER),
        ("CFBundleInfoDictionaryVersion", "6.0"),
        ("CFBundleName", "Foretoken"),
        ("CFBundlePackageType", "APPL"),
        ("CFBundleShortVersionString", &version.name),
        ("LSApplicationCategoryType", "public.app-category.productivity"),
        ("LSMinimumSystemVersion", "14.0"),
        ("NSDesktopFolderUsageDescription", models),
        ("NSDocumentsFolderUsageDescription", models),
        ("NSDownloadsFolderUsageDescription", models),
        ("NSHumanReadableCopyright", "Copyright the Foretoken authors. Apache License 2.0."),
        (
            "NSLocalNetworkUsageDescription",
            "Foretoken finds Macs that you pair it with, to compute large models together, and answers programs on your \
             other devices where you have switched that on.",
        ),
        ("NSNetworkVolumesUsageDescription", models),
        ("NSRemovableVolumesUsageDescription", models),
    ];
    let mut info: Dictionary =
        texts.into_iter().map(|(key, text)| (key.to_owned(), Value::from(text))).collect();
    info.insert("CFBundleVersion".into(), version.build.to_string().into());
    info.insert("NSBonjourServices".into(), Value::Array(vec!["_foretoken._tcp".into()]));
    // The system's dialogs follow the language of the app where it is one of these.
    let languages = ["en", "de", "zh-Hans", "ja"].map(Value::from);
    info.insert("CFBundleLocalizations".into(), Value::Array(languages.into()));
    info.insert("LSArchitecturePriority".into(), Value::Array(vec!["arm64".into()]));
    info.insert("LSRequiresNativeExecution".into(), true.into());
    info.insert("NSHighResolutionCapable".into(), true.into());
    if entries.iter().any(|entry| entry.to == Path::new(RESOURCES).join(LAYERED_ICON)) {
        info.insert("CFBundleIconName".into(), LAYERED_ICON_NAME.into());
    }
    info.sort_keys();
    info
}

/// Whether the list of files should name a file of the app: signing adds others.
pub(super) fn is_in_list(file: &Path) -> bool {
    ![seals::SEALS, seals::TICKET].map(Path::new).contains(&file)
}

/// What is wrong with an app that should hold these files. `builder` are paths of the machine that built it, which no
/// program may know; `signed` says what its signatures must have, once it has them.
pub(super) fn faults(
    app: &Path,
    entries: &[Entry],
    version: &Version,
    builder: &[&str],
    signed: Option<Demands>,
) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    if let Some(demands) = signed {
        faults.extend(seals::faults(app, MAIN)?);
        faults.extend(signing::faults(app, entries, demands)?);
    }
    let expected: BTreeSet<PathBuf> = entries
        .iter()
        .map(|entry| entry.to.clone())
        .chain([INFO, "Contents/PkgInfo"].map(PathBuf::from))
        .collect();
    let found = files(app)?;
    let names: BTreeSet<PathBuf> = found.iter().map(|entry| entry.to.clone()).collect();
    faults.extend(expected.difference(&names).map(|file| format!("{} is missing", file.display())));
    let more = names.difference(&expected).filter(|file| is_in_list(file));
    faults.extend(more.map(|file| format!("{} is not in the list", file.display())));

    match plist::from_file::<_, Dictionary>(app.join(INFO)) {
        Ok(told) if told == info(version, entries) => {}
        Ok(told) => faults.push(format!("{INFO} says {told:?}")),
        Err(error) => faults.push(format!("{INFO} cannot be read: {error}")),
    }

    for Entry { to, from } in &found {
        let bytes = fs::read(from).map_err(Error::file(from))?;
        let mut add = |what: String| faults.push(format!("{}: {what}", to.display()));
        let flavour = Flavour::of(to);
        if to.extension().is_some_and(|extension| extension == "metallib") {
            match metallib::read(&bytes) {
                Ok(facts) => metallib_faults(&facts, flavour).into_iter().for_each(&mut add),
                Err(why) => add(why),
            }
        }
        // These folders are for signed code alone: anything else there is not sealed, or refused.
        let is_code_place = to.starts_with(PROGRAMS) || to.starts_with(LIBRARIES);
        match (is_code_place, macho::is_code(&bytes)) {
            (true, false) => add("it is no program or library".into()),
            (false, true) => add("programs and libraries are not signed there".into()),
            (false, false) => {}
            (true, true) => match macho::read(&bytes) {
                Ok(facts) => {
                    let is_program = to.starts_with(PROGRAMS);
                    code_faults(&facts, flavour, is_program).into_iter().for_each(&mut add);
                    // The wheels hold paths of whoever built them.
                    for path in builder.iter().filter(|_| is_program) {
                        if find(&bytes, path.as_bytes()).is_some() {
                            add(format!("it names {path}, a path of the machine that built it"));
                        }
                    }
                }
                Err(why) => add(why),
            },
        }
    }
    Ok(faults)
}

fn metallib_faults(facts: &metallib::Facts, flavour: Option<Flavour>) -> Vec<String> {
    let Some(flavour) = flavour else { return vec!["it is of no flavour".into()] };
    let mut faults = Vec::new();
    let [major, minor] = flavour.oldest_system;
    if facts.system != Some(format!("{major}.{minor}.0")) {
        faults.push(format!("it is for macOS {:?} and not {major}.{minor}", facts.system));
    }
    if !facts.has_quantized {
        faults.push("it has no products of quantized weights".into());
    }
    if facts.has_matrix_units != flavour.has_matrix_units {
        faults.push(format!("it has kernels for M5's matrix units: {}", facts.has_matrix_units));
    }
    faults
}

fn code_faults(facts: &macho::Facts, flavour: Option<Flavour>, is_program: bool) -> Vec<String> {
    let mut faults = Vec::new();
    // Programs run wherever the app does; of two engines the one is started that can run.
    let (oldest, exactly) = match flavour {
        Some(flavour) if !is_program => (flavour.oldest_system, true),
        _ => (OLDEST_SYSTEM, false),
    };
    match facts.oldest_system {
        Some(system) if system == oldest || !exactly && system < oldest => {}
        system => faults.push(format!("it runs on macOS from {system:?} on, and not from {oldest:?}")),
    }
    let wanted: Vec<String> = flavour.filter(|_| is_program).map(Flavour::rpath).into_iter().collect();
    if facts.rpaths != wanted {
        faults.push(format!("it looks for libraries in {:?}, and should in {wanted:?}", facts.rpaths));
    }
    let is_system =
        |name: &String| ["/System/Library/", "/usr/lib/"].iter().any(|folder| name.starts_with(folder));
    let is_own = |name: &String| ["@rpath/libmlx.dylib", "@rpath/libjaccl.dylib"].contains(&name.as_str());
    for library in facts.libraries.iter().filter(|name| !is_system(name) && !is_own(name)) {
        faults.push(format!("it loads {library}, which is not in the app"));
    }
    if facts.signature.as_ref().is_some_and(|signature| signature.has_entitlements) {
        faults.push("its signature claims rights, and the app needs none".into());
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::signature::tests::with_entitlements;
    use super::super::stand_ins::StandIns;
    use super::*;
    use crate::workspace::Workspace;

    fn version() -> Version {
        Version { name: "1.2.3".into(), build: 45 }
    }

    /// The app as it should be, and then with one mistake after the other.
    #[test]
    fn an_app_that_is_right_has_no_faults_and_each_mistake_is_found() {
        let workspace = Workspace::locate();
        if !StandIns::compiler(&workspace).is_file() {
            eprintln!("SKIPPED: there is no compiler for stand-ins; on Linux `cargo xtask setup` gets it");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let stand_ins = StandIns { workspace: &workspace, folder: place.path() };
        let app = place.path().join("Foretoken.app");
        let entries = stand_ins.assemble(&app, &version()).unwrap();
        let builder = "/Users/somebody/foretoken";
        let faults = || faults(&app, &entries, &version(), &[builder], None).unwrap();
        assert_eq!(faults(), Vec::<String>::new());

        let signed: Vec<_> = signed(&entries).into_iter().map(|file| file.to_str().unwrap()).collect();
        assert_eq!(signed.len(), 3 + 4 + 1, "{signed:?}");
        assert!(
            signed[..3].iter().all(|file| file.ends_with(".dylib")) && signed[7].is_empty(),
            "{signed:?}"
        );

        // What takes the place of a file, and what must be said of it.
        let small = b"MTLB, but not really".to_vec();
        let read = |name: &str| fs::read(app.join(name)).unwrap();
        let compiled =
            |arguments: &[&str]| fs::read(stand_ins.compile("mistake", arguments).unwrap()).unwrap();
        let (engine, shell) = ("Contents/MacOS/foretoken-engine-14", "Contents/MacOS/foretoken");
        let (old, new) = ("Contents/Resources/mlx-14/mlx.metallib", "Contents/Resources/mlx-26/mlx.metallib");
        let (old_mlx, new_mlx) =
            ("Contents/Frameworks/mlx-14/libmlx.dylib", "Contents/Frameworks/mlx-26/libmlx.dylib");
        let right = format!("-Wl,-rpath,{}", FLAVOURS[0].rpath());
        let info = String::from_utf8(read(INFO)).unwrap();
        let mistakes: [(&str, Option<Vec<u8>>, &str); 20] = [
            ("Contents/MacOS/mlx.metallib", Some(small.clone()), "is not in the list"),
            ("Contents/MacOS/mlx.metallib", Some(small.clone()), "no program or library"),
            ("Contents/Frameworks/mlx-14/README", Some(b"words".to_vec()), "no program or library"),
            (shell, Some(b"#!/bin/sh".to_vec()), "no program or library"),
            (shell, Some(compiled(&["-target", "aarch64-macos.15.0"])), "runs on macOS from Some([15, 0])"),
            (shell, Some(compiled(&["-target", "x86_64-macos"])), "not for arm64"),
            (shell, Some(compiled(&["-Wl,-rpath,/opt/homebrew/lib"])), "/opt/homebrew/lib"),
            (shell, Some(compiled(&[&format!("-DPATH=\"{builder}/target\"")])), "the machine that built it"),
            (shell, Some(with_entitlements(compiled(&[]))), "claims rights"),
            (engine, Some(compiled(&[])), "and should in [\"@executable_path/../Frameworks/mlx-14\"]"),
            (engine, Some(compiled(&[&right, "-Wl,-rpath,@executable_path/../../.."])), "../../.."),
            (engine, None, "is missing"),
            (old_mlx, Some(read(new_mlx)), "runs on macOS from Some([26, 2])"),
            (old, Some(read(new)), "for macOS Some(\"26.2.0\") and not 14.0"),
            (old, Some(read(new)), "matrix units: true"),
            (new, Some(read(new)[..1 << 20].to_vec()), "cut off"),
            (new, Some(small), "cut off"),
            ("Contents/Resources/tool", Some(compiled(&[])), "not signed there"),
            (INFO, Some(info.replace("14.0", "15.0").into_bytes()), "says"),
            ("Contents/Resources/licences/LICENSE", None, "is missing"),
        ];
        for (file, instead, told) in mistakes {
            let path = app.join(file);
            let before = fs::read(&path).ok();
            match instead {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let found = faults();
            let name = Path::new(file).file_name().unwrap().to_str().unwrap();
            assert!(
                found.iter().any(|fault| fault.contains(told) && fault.contains(name)),
                "{file} should be found: {told:?}, and not {found:#?}"
            );
            match before {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
        }
        assert_eq!(faults(), Vec::<String>::new(), "all are taken back");
    }

    #[test]
    fn the_system_is_told_one_version_and_why_files_are_read() {
        let icon = Entry { to: Path::new(RESOURCES).join(LAYERED_ICON), from: "".into() };
        assert_eq!(super::info(&version(), &[icon])["CFBundleIconName"].as_string(), Some("Foretoken"));
        let info = info(&version(), &[]);
        assert!(!info.contains_key("CFBundleIconName"), "a name of nothing hides the other icon");
        let text = |key: &str| info[key].as_string().unwrap();
        assert_eq!((text("CFBundleShortVersionString"), text("CFBundleVersion")), ("1.2.3", "45"));
        let tauri = Workspace::locate().root().join("src-tauri/tauri.conf.json");
        let tauri: serde_json::Value = serde_json::from_slice(&fs::read(tauri).unwrap()).unwrap();
        assert_eq!(text("CFBundleIdentifier"), tauri["identifier"]);
        assert_eq!(text("CFBundleName"), tauri["productName"]);
        assert_eq!(text("LSMinimumSystemVersion"), tauri["bundle"]["macOS"]["minimumSystemVersion"]);
        let [major, minor] = OLDEST_SYSTEM;
        assert_eq!(text("LSMinimumSystemVersion"), format!("{major}.{minor}"));
        for place in ["Desktop", "Documents", "Downloads"] {
            assert!(!text(&format!("NS{place}FolderUsageDescription")).is_empty());
        }
        // What is stored at the end must not be cut short.
        for absent in
            ["NSSupportsSuddenTermination", "NSSupportsAutomaticTermination", "CFBundleDocumentTypes"]
        {
            assert!(!info.contains_key(absent));
        }
    }
}
