//! The Debian package.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::list::{Contents, Entry, files};
use super::metallib::find;
use crate::error::{Error, Result};
use crate::process;
use crate::setup::mlx;
use crate::workspace::Workspace;

const PACKAGE: &str = "foretoken";
/// Where Tauri looks for resources: named by the product.
const RESOURCES: &str = "usr/lib/Foretoken";
/// MLX within it, and how a program in `usr/bin` finds it.
const MLX: &str = "mlx-cpu";
const RPATH: &str = "$ORIGIN/../lib/Foretoken/mlx-cpu/mlx/lib";

/// The entry in the menus.
const DESKTOP: &str = "\
[Desktop Entry]
Type=Application
Name=Foretoken
Comment=Chat with language models on this computer
Exec=foretoken
Icon=foretoken
Categories=Utility;
StartupWMClass=foretoken
Terminal=false
";

/// Sizes of the icon, and their files.
const ICONS: [(&str, &str); 4] = [
    ("32x32/apps/foretoken.png", "32x32.png"),
    ("128x128/apps/foretoken.png", "128x128.png"),
    ("256x256/apps/foretoken.png", "128x128@2x.png"),
    ("scalable/apps/foretoken.svg", "foretoken.svg"),
];

/// Where the package is made.
pub(super) fn path(workspace: &Workspace, contents: &Contents) -> PathBuf {
    workspace.target().join("bundle").join(format!("{PACKAGE}_{}_amd64.deb", contents.version))
}

/// The folders of MLX's wheel that its libraries are in.
const LIBRARIES: [&str; 2] = ["mlx/lib", "mlx_cpu.libs"];

/// Whether a wheel is the one that the package has.
pub(super) fn has_libraries(wheel: &Path) -> bool {
    LIBRARIES.iter().all(|folder| wheel.join(folder).is_dir())
}

/// MLX's libraries, as they lie in its wheel: they find each other.
fn libraries(wheel: &Path) -> Result<Vec<Entry>> {
    let mut libraries = Vec::new();
    for folder in LIBRARIES {
        let found = files(&wheel.join(folder))?.into_iter().filter(|entry| is_library(&entry.to));
        libraries.extend(found.map(|entry| entry.below(folder)));
    }
    Ok(libraries)
}

fn is_library(file: &Path) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains(".so"))
}

/// Where each file lies on the system.
fn layout(contents: &Contents, libraries: &[Entry]) -> Vec<Entry> {
    let below = |entries: &[Entry], folder: &str| {
        entries.iter().cloned().map(|entry| entry.below(folder)).collect::<Vec<_>>()
    };
    let icons = ICONS.map(|(to, from)| Entry {
        to: Path::new("usr/share/icons/hicolor").join(to),
        from: contents.icons.join(from),
    });
    [
        below(&contents.programs, "usr/bin"),
        below(&contents.resources, RESOURCES),
        below(libraries, &format!("{RESOURCES}/{MLX}")),
        icons.to_vec(),
    ]
    .concat()
}

/// Makes the package.
pub(super) fn make(workspace: &Workspace, contents: &Contents, package: &Path) -> Result<()> {
    let root = package.with_extension("root");
    if root.exists() {
        fs::remove_dir_all(&root).map_err(Error::file(&root))?;
    }
    for Entry { to, from } in layout(contents, &libraries(&mlx::wheel(workspace)?)?) {
        place(&root.join(to), 0o644, |to| fs::copy(&from, to).map(drop).map_err(Error::file(&from)))?;
    }
    let write = |to: &str, text: &str| {
        place(&root.join(to), 0o644, |to| fs::write(to, text).map_err(Error::file(to)))
    };
    write("usr/share/applications/foretoken.desktop", DESKTOP)?;
    write("usr/share/doc/foretoken/copyright", COPYRIGHT)?;
    for program in &contents.programs {
        let program = root.join("usr/bin").join(&program.to);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(Error::file(&program))?;
        let mut patch = workspace.command("patchelf");
        process::log(patch.args(["--set-rpath", RPATH]).arg(&program), &workspace.log())?;
    }
    mark(&root.join("usr/bin/foretoken"))?;
    let depends = depends(workspace, &root)?;
    write("DEBIAN/control", &control(&contents.version, size(&root)?, &depends))?;
    let mut build = workspace.command("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "-z1", "--build"]);
    process::log(build.arg(&root).arg(package), &workspace.log())?;
    fs::remove_dir_all(&root).map_err(Error::file(&root))
}

/// Has the app know that it comes from a package, in the way of Tauri's own bundler: a newer version is a package too.
fn mark(program: &Path) -> Result<()> {
    const UNKNOWN: &[u8] = b"__TAURI_BUNDLE_TYPE_VAR_UNK";
    const DEBIAN: &[u8] = b"__TAURI_BUNDLE_TYPE_VAR_DEB";
    let mut bytes = fs::read(program).map_err(Error::file(program))?;
    let place = find(&bytes, UNKNOWN).ok_or_else(|| Error::Bundle {
        faults: format!("{}: Tauri's mark of its kind of bundle is not in it", program.display()),
    })?;
    bytes[place..place + DEBIAN.len()].copy_from_slice(DEBIAN);
    fs::write(program, bytes).map_err(Error::file(program))
}

/// Makes a file in a folder that may not be there yet.
fn place(to: &Path, mode: u32, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder).map_err(Error::file(folder))?;
    fill(to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).map_err(Error::file(to))
}

/// KiB of all files.
fn size(root: &Path) -> Result<u64> {
    files(root)?.iter().try_fold(0, |sum, entry| {
        Ok(sum + fs::metadata(&entry.from).map_err(Error::file(&entry.from))?.len().div_ceil(1024))
    })
}

/// The packages that have the libraries which programs and libraries below `root` ask for and which are not among them.
fn depends(workspace: &Workspace, root: &Path) -> Result<Vec<String>> {
    let (mut wanted, mut own) = (BTreeSet::new(), BTreeSet::new());
    for entry in files(root)? {
        if is_library(&entry.to) {
            own.insert(entry.to.file_name().unwrap_or_default().to_string_lossy().into_owned());
        } else if !entry.to.starts_with("usr/bin") {
            continue;
        }
        let mut read = workspace.command("readelf");
        wanted.extend(needed(&process::read(read.arg("--dynamic").arg(&entry.from))?));
    }
    let known = process::read(workspace.command("/sbin/ldconfig").arg("--print-cache"))?;
    let mut packages = BTreeSet::new();
    for library in wanted.difference(&own) {
        let file = in_cache(&known, library).ok_or_else(|| Error::Output {
            line: "ldconfig --print-cache".into(),
            why: format!("no {library}"),
        })?;
        packages.insert(owner(workspace, file)?);
    }
    packages
        .into_iter()
        .map(|package| {
            let mut query = workspace.command("dpkg-query");
            let version = process::read(query.args(["-W", "-f", "${source:Upstream-Version}", &package]))?;
            Ok(format!("{package} (>= {version})"))
        })
        .collect()
}

/// The libraries that `readelf --dynamic` names as needed.
fn needed(dynamic: &str) -> impl Iterator<Item = String> {
    dynamic.lines().filter(|line| line.contains("(NEEDED)")).filter_map(|line| {
        let (_, name) = line.split_once('[')?;
        Some(name.trim_end().trim_end_matches(']').to_owned())
    })
}

/// Where the linker finds a library, by `ldconfig --print-cache`.
fn in_cache<'a>(cache: &'a str, library: &str) -> Option<&'a str> {
    let mut lines = cache.lines().filter_map(|line| line.trim().split_once(" => "));
    lines.find_map(|(name, file)| {
        (name.split_whitespace().next() == Some(library) && name.contains("x86-64")).then_some(file)
    })
}

/// The package that a file is of. Of a system whose `/lib` is a link, packages name either path.
fn owner(workspace: &Workspace, file: &str) -> Result<String> {
    let real = fs::canonicalize(file).map_err(Error::file(Path::new(file)))?;
    let real = real.to_string_lossy().into_owned();
    let other = real.strip_prefix("/usr").unwrap_or(&real).to_owned();
    let mut search = workspace.command("dpkg-query");
    // It fails where it does not know one of the two, and still tells of the other.
    let output = search.args(["-S", &real, &other]).output();
    let told = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let package = told.lines().next().and_then(|line| line.split([':', ',']).next());
    package.map(str::to_owned).ok_or_else(|| Error::Output {
        line: format!("dpkg-query -S {real}"),
        why: "no package has it".into(),
    })
}

/// Where the licences are.
const COPYRIGHT: &str = "\
Foretoken is licensed under the Apache License 2.0: /usr/lib/Foretoken/licences/LICENSE,
/usr/share/common-licenses/Apache-2.0. What it is made of has the licences in
/usr/lib/Foretoken/licences/notices.json, which the app shows under Third-party notices.
";

fn control(version: &str, kibibytes: u64, depends: &[String]) -> String {
    format!(
        "Package: {PACKAGE}\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Maintainer: The Foretoken authors <foretoken@localhost>\n\
         Section: utils\n\
         Priority: optional\n\
         Installed-Size: {kibibytes}\n\
         Depends: {}\n\
         Description: chat with language models on this computer\n \
         Runs Qwen models with their multi-token-prediction head, in a window or for\n \
         other programs.\n",
        depends.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_program_are_read_as_readelf_tells_them() {
        let told = " 0x000000000000001d (RUNPATH)            Library runpath: [/a/b]\n \
                    0x0000000000000001 (NEEDED)             Shared library: [libmlx.so]\n \
                    0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]\n";
        assert_eq!(needed(told).collect::<Vec<_>>(), ["libmlx.so", "libc.so.6"]);
    }

    #[test]
    fn a_library_is_found_for_this_processor() {
        let cache = "2 libs found in cache `/etc/ld.so.cache'\n\
                     \tlibc.so.6 (libc6) => /lib/i386-linux-gnu/libc.so.6\n\
                     \tlibc.so.6 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libc.so.6\n";
        assert_eq!(in_cache(cache, "libc.so.6"), Some("/lib/x86_64-linux-gnu/libc.so.6"));
        assert_eq!(in_cache(cache, "libc.so"), None);
    }

    #[test]
    fn the_package_describes_itself_as_debian_wants_it() {
        let text = control("1.2.3", 7, &["libc6 (>= 2.36)".into(), "libgtk-3-0 (>= 3.24)".into()]);
        assert!(text.contains("\nVersion: 1.2.3\n") && text.contains("\nInstalled-Size: 7\n"), "{text}");
        assert!(text.contains("\nDepends: libc6 (>= 2.36), libgtk-3-0 (>= 3.24)\n"), "{text}");
        // A line of a description begins with a blank.
        assert!(text.ends_with("\n Runs Qwen models with their multi-token-prediction head, in a window or for\n other programs.\n"));
    }
}
