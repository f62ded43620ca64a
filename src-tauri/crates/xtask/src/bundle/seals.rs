//! The seals of a signed app, recomputed: each file's hash, where each link leads, the code that is signed by itself,
//! and what the main program's signature says of all that. Who signed, and whether Apple agrees, only a Mac can tell.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use plist::{Dictionary, Value};

use super::list::{Entry, files};
use super::macho;
use super::signature::{INFO_SLOT, RESOURCES_SLOT, Signature, hash};
use crate::error::{Error, Result};

/// Where the seals are.
pub(super) const SEALS: &str = "Contents/_CodeSignature/CodeResources";
/// Apple's ticket for a notarised app, which is put there after the app is signed.
pub(super) const TICKET: &str = "Contents/CodeResources";
const INFO: &str = "Contents/Info.plist";
/// What no seal is for: the seals, the ticket, and what the main program's signature covers or need not.
const UNSEALED: [&str; 4] = [SEALS, TICKET, INFO, "Contents/PkgInfo"];

/// What in a signed app is not as it was signed. `main` is its main program.
pub(super) fn faults(app: &Path, main: &str) -> Result<Vec<String>> {
    let seals = match plist::from_file::<_, Dictionary>(app.join(SEALS)) {
        Ok(seals) => seals,
        Err(error) => return Ok(vec![format!("{SEALS} cannot be read: {error}")]),
    };
    let empty = Dictionary::new();
    let seals = seals.get("files2").and_then(Value::as_dictionary).unwrap_or(&empty);
    let mut faults = Vec::new();
    let mut found = BTreeSet::new();
    for entry in files(app)? {
        let name = entry.to.display().to_string();
        if name == main {
            faults.extend(main_faults(app, &entry)?);
        } else if !UNSEALED.contains(&&*name) {
            // Seals are named from `Contents` on.
            let sealed = name.strip_prefix("Contents/").unwrap_or(&name).to_owned();
            match seals.get(&sealed) {
                Some(seal) => faults.extend(broken(&entry, seal)?.map(|why| format!("{name}: {why}"))),
                None => faults.push(format!("{name} is not sealed")),
            }
            found.insert(sealed);
        }
    }
    let is_optional =
        |seal: &Value| seal.as_dictionary().and_then(|seal| seal.get("optional")?.as_boolean()) == Some(true);
    let missing = seals.iter().filter(|(file, seal)| !found.contains(*file) && !is_optional(seal));
    faults.extend(missing.map(|(file, _)| format!("Contents/{file} is sealed and missing")));
    Ok(faults)
}

/// What is wrong with the signature of the main program, which covers the seals.
fn main_faults(app: &Path, main: &Entry) -> Result<Vec<String>> {
    let bytes = fs::read(&main.from).map_err(Error::file(&main.from))?;
    let told = |why: String| format!("{}: {why}", main.to.display());
    let signature = match signature(&bytes) {
        Ok(signature) => signature,
        Err(why) => return Ok(vec![told(why)]),
    };
    let mut faults = signature.faults(&bytes);
    let slots = signature.directory.map(|directory| directory.slots).unwrap_or_default();
    for (slot, file) in [(INFO_SLOT, INFO), (RESOURCES_SLOT, SEALS)] {
        let path = app.join(file);
        let bytes = fs::read(&path).map_err(Error::file(&path))?;
        if slots.get(&slot) != Some(&hash(&bytes)) {
            faults.push(format!("its signature is for another {file}"));
        }
    }
    Ok(faults.into_iter().map(told).collect())
}

/// Why a file is not what its seal says, if it is not.
fn broken(Entry { from, .. }: &Entry, seal: &Value) -> Result<Option<String>> {
    let seal = seal.as_dictionary();
    let of = |kind: &str| seal.and_then(|seal| seal.get(kind));
    let data = |kind: &str| of(kind).and_then(Value::as_data);
    let kind = fs::symlink_metadata(from).map_err(Error::file(from))?.file_type();
    if kind.is_symlink() {
        let to = fs::read_link(from).map_err(Error::file(from))?;
        let sealed = of("symlink").and_then(Value::as_string).map(PathBuf::from);
        return Ok((sealed.as_ref() != Some(&to))
            .then(|| format!("it leads to {}, and was sealed as {sealed:?}", to.display())));
    }
    let bytes = fs::read(from).map_err(Error::file(from))?;
    if !macho::is_code(&bytes) {
        let is_right = data("hash2") == Some(&hash(&bytes)[..]);
        return Ok((!is_right).then(|| "it was changed after it was sealed".into()));
    }
    let signature = match signature(&bytes) {
        Ok(signature) => signature,
        Err(why) => return Ok(Some(why)),
    };
    let faults = signature.faults(&bytes);
    // Of what nobody has signed, hashes say all.
    let is_named = of("requirement").and_then(Value::as_string).is_some_and(|text| !text.is_empty());
    let is_named = is_named || !signature.has_certificates;
    let code_hash = signature.directory.map(|directory| directory.code_hash);
    Ok(if !faults.is_empty() {
        Some(faults.join("; "))
    } else if data("cdhash") != code_hash.as_ref().map(|hash| &hash[..]) {
        Some("other code was sealed".into())
    } else if !is_named {
        Some("its seal does not say who may sign it".into())
    } else {
        None
    })
}

fn signature(bytes: &[u8]) -> std::result::Result<Signature, String> {
    macho::read(bytes)?.signature.ok_or_else(|| "it is not signed".into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::signature::tests::signed;
    use super::*;

    const MAIN: &str = "Contents/MacOS/foretoken";
    const WORDS: &str = "Contents/Resources/words.txt";
    const LINK: &str = "Contents/Resources/links/words.txt";
    const LIBRARY: &str = "Contents/Frameworks/mlx-14/libmlx.dylib";
    const PROGRAM: &str = "Contents/MacOS/foretoken-engine-14";
    const PROPERTIES: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>CFBundleExecutable</key><string>foretoken</string>
<key>CFBundleIdentifier</key><string>dev.foretoken.Foretoken</string>
<key>CFBundlePackageType</key><string>APPL</string>
</dict></plist>
"#;
    /// What rcodesign 0.29 wrote when it signed this app, and not the code in it, ad hoc.
    const SEALED: &str = include_str!("seals/CodeResources.xml");

    fn put(app: &Path, name: &str, bytes: &[u8]) {
        let file = app.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }

    /// A small app as it lies there signed.
    fn write(app: &Path) {
        put(app, INFO, PROPERTIES.as_bytes());
        put(app, "Contents/PkgInfo", b"APPL????");
        put(app, WORDS, b"These are sealed.\n");
        put(app, LIBRARY, &signed("library", "libmlx", [[0; 32]; 3]));
        put(app, PROGRAM, &signed("engine", "engine", [[0; 32]; 3]));
        put(app, SEALS, SEALED.as_bytes());
        fs::create_dir_all(app.join(LINK).parent().unwrap()).unwrap();
        symlink("../words.txt", app.join(LINK)).unwrap();
        put(app, MAIN, &main_program(SEALED));
    }

    fn main_program(seals: &str) -> Vec<u8> {
        let slots = [hash(PROPERTIES.as_bytes()), [0; 32], hash(seals.as_bytes())];
        signed("shell", "dev.foretoken.Foretoken", slots)
    }

    /// One mistake after the other, and what must be said of it.
    #[test]
    fn an_app_as_it_was_signed_has_no_faults_and_each_change_is_found() {
        type Mistake = (&'static str, fn(&Path));
        let mistakes: [Mistake; 12] = [
            ("words.txt: it was changed after it was sealed", |app| {
                put(app, WORDS, b"These are sealed.\n\n");
            }),
            ("Contents/Resources/more.txt is not sealed", |app| {
                put(app, "Contents/Resources/more.txt", b"more");
            }),
            ("Contents/_CodeSignature/more is not sealed", |app| {
                put(app, "Contents/_CodeSignature/more", b"more");
            }),
            ("Contents/Resources/words.txt is sealed and missing", |app| {
                fs::remove_file(app.join(WORDS)).unwrap();
            }),
            ("links/words.txt: it leads to ../../Info.plist, and was sealed as", |app| {
                fs::remove_file(app.join(LINK)).unwrap();
                symlink("../../Info.plist", app.join(LINK)).unwrap();
            }),
            ("links/words.txt: it was changed", |app| {
                // What the link leads to, in its place.
                fs::remove_file(app.join(LINK)).unwrap();
                put(app, LINK, b"These are sealed.\n");
            }),
            ("foretoken-engine-14: other code was sealed", |app| {
                put(app, PROGRAM, &signed("another", "engine", [[0; 32]; 3]));
            }),
            ("libmlx.dylib: it was changed after it was signed", |app| {
                let mut library = fs::read(app.join(LIBRARY)).unwrap();
                library[256] ^= 1;
                put(app, LIBRARY, &library);
            }),
            ("libmlx.dylib: it is not signed", |app| {
                let mut library = fs::read(app.join(LIBRARY)).unwrap();
                // One load command fewer, which was that of the signature.
                library[16] = 3;
                put(app, LIBRARY, &library);
            }),
            ("Contents/Frameworks/mlx-14/libjaccl.dylib is not sealed", |app| {
                put(app, "Contents/Frameworks/mlx-14/libjaccl.dylib", &signed("new", "new", [[0; 32]; 3]));
            }),
            ("foretoken: its signature is for another Contents/Info.plist", |app| {
                put(app, INFO, PROPERTIES.replace("APPL", "FMWK").as_bytes());
            }),
            ("foretoken: its signature is for another Contents/_CodeSignature", |app| {
                put(app, SEALS, SEALED.replace("cdhash", "hash").as_bytes());
            }),
        ];
        let place = tempfile::tempdir().unwrap();
        let app = place.path().join("Foretoken.app");
        write(&app);
        assert_eq!(faults(&app, MAIN).unwrap(), Vec::<String>::new());
        put(&app, TICKET, b"a ticket");
        assert_eq!(
            faults(&app, MAIN).unwrap(),
            Vec::<String>::new(),
            "a ticket is no part of what was signed"
        );
        for (told, make) in mistakes {
            fs::remove_dir_all(&app).unwrap();
            write(&app);
            make(&app);
            let found = faults(&app, MAIN).unwrap();
            assert!(found.iter().any(|fault| fault.contains(told)), "{told:?}, and not {found:#?}");
        }
        fs::remove_file(app.join(SEALS)).unwrap();
        assert!(faults(&app, MAIN).unwrap()[0].contains("cannot be read"));
    }
}
