//! A trial of signing on Linux: an app of stand-ins, with MLX's real libraries and kernels, is signed from the inside
//! out with a certificate made for it, and then damaged.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::app::{self, Version};
use super::signing::{self, Demands};
use super::stand_ins::StandIns;
use super::{refuse, seals};
use crate::error::{Error, Result};
use crate::prepared::step;
use crate::process;
use crate::setup;
use crate::workspace::Workspace;

const DEMANDS: Demands = Demands { is_hardened: true, is_timestamped: false };

/// A mistake, and what must be said of it.
struct Mistake {
    file: &'static str,
    told: &'static str,
    make: fn(&Trial<'_>, &Path) -> Result<()>,
}

const MISTAKES: [Mistake; 11] = [
    Mistake {
        file: "Contents/Resources/mlx-14/mlx.metallib",
        told: "mlx.metallib: it was changed after it was sealed",
        make: |_, file| append(file, b"\0"),
    },
    Mistake {
        file: "Contents/Resources/licences/LICENSE",
        told: "LICENSE is sealed and missing",
        make: |_, file| fs::remove_file(file).map_err(Error::file(file)),
    },
    Mistake {
        file: "Contents/Resources/more.txt",
        told: "more.txt is not sealed",
        make: |_, file| append(file, b"more"),
    },
    Mistake {
        file: "Contents/Resources/icon.icns",
        told: "icon.icns: it leads to licences/LICENSE, and was sealed as None",
        make: |_, file| {
            fs::remove_file(file).map_err(Error::file(file))?;
            symlink("licences/LICENSE", file).map_err(Error::file(file))
        },
    },
    Mistake {
        file: "Contents/Frameworks/mlx-26/libmlx.dylib",
        told: "mlx-26/libmlx.dylib: it was changed after it was signed",
        make: |_, file| {
            let mut bytes = fs::read(file).map_err(Error::file(file))?;
            bytes[1 << 20] ^= 1;
            fs::write(file, bytes).map_err(Error::file(file))
        },
    },
    Mistake {
        file: "Contents/MacOS/foretoken-engine-26",
        told: "foretoken-engine-26: other code was sealed",
        make: |trial, file| trial.sign(file, Path::new("another"), true),
    },
    Mistake {
        file: "Contents/MacOS/foretoken-server",
        told: "foretoken-server: it is signed without the hardened runtime",
        make: |trial, file| {
            trial.compiled("foretoken-server", file)?;
            trial.sign(file, Path::new("foretoken-server"), false)
        },
    },
    Mistake {
        file: "Contents/MacOS/foretoken-models",
        told: "foretoken-models: nobody has signed it",
        make: |trial, file| trial.compiled("foretoken-models", file),
    },
    Mistake {
        file: "Contents/Info.plist",
        told: "for another Contents/Info.plist",
        make: |_, file| append(file, b"\n"),
    },
    Mistake {
        file: seals::SEALS,
        told: "libmlx.dylib: its seal does not say who may sign it",
        make: |_, file| {
            let seals = fs::read_to_string(file).map_err(Error::file(file))?;
            fs::write(file, seals.replace("<key>requirement<", "<key>none<")).map_err(Error::file(file))
        },
    },
    Mistake {
        file: seals::SEALS,
        told: "for another Contents/_CodeSignature",
        make: |_, file| append(file, b"\n"),
    },
];

/// Where the trial is made, and with what.
struct Trial<'a> {
    workspace: &'a Workspace,
    folder: PathBuf,
    rcodesign: PathBuf,
}

/// Signs the app, sees that nothing is wrong with it, and that each mistake is found.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let rcodesign = setup::signing(workspace)?;
    let trial = Trial { workspace, folder: workspace.target().join("bundle/trial"), rcodesign };
    let programs = trial.folder.join("programs");
    fs::create_dir_all(&programs).map_err(Error::file(&programs))?;
    let app = trial.folder.join("Foretoken.app");
    let version = Version { name: workspace.version()?, build: 1 };
    println!("An app of stand-ins: {}", app.display());
    let entries = StandIns { workspace, folder: &programs }.assemble(&app, &version)?;
    trial.certify()?;
    let parts = app::signed(&entries);
    step(&format!("{} signatures", parts.len()), false, || {
        parts.iter().try_for_each(|part| trial.sign(&signing::place(&app, part), part, true))
    })?;
    let faults = || app::faults(&app, &entries, &version, &[], Some(DEMANDS));
    step("Nothing is wrong with it", false, || refuse(faults()?))?;
    for mistake in MISTAKES {
        step(mistake.told, false, || trial.found(&app, &mistake, &faults))?;
    }
    step("All is taken back", false, || refuse(faults()?))
}

impl Trial<'_> {
    fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    /// Makes a certificate that nobody trusts.
    fn certify(&self) -> Result<()> {
        let mut make = self.workspace.command(&self.rcodesign);
        make.args(["generate-self-signed-certificate", "--person-name", "Nobody", "--pem-unified-file"]);
        process::log(make.arg(self.certificate()), &self.workspace.log())
    }

    /// Puts a program somewhere as the compiler made it.
    fn compiled(&self, name: &str, file: &Path) -> Result<()> {
        let program = self.folder.join("programs").join(name);
        fs::copy(&program, file).map(drop).map_err(Error::file(&program))
    }

    /// Signs one thing alone, as the part of the app that has this name.
    fn sign(&self, what: &Path, part: &Path, hardened: bool) -> Result<()> {
        let mut sign = self.workspace.command(&self.rcodesign);
        sign.args(["sign", "--shallow", "--timestamp-url", "none", "--pem-file"]).arg(self.certificate());
        sign.args(["--binary-identifier", &signing::identifier(part)]);
        if hardened {
            sign.args(["--code-signature-flags", "runtime"]);
        }
        // It would sign all code in an app once more, whatever it was signed as.
        for folder in ["Contents/Frameworks/**", "Contents/MacOS/foretoken-*"] {
            sign.args(["--exclude", folder]);
        }
        process::log(sign.arg(what), &self.workspace.log())
    }

    /// Makes a mistake, looks whether it is found, and takes it back.
    fn found(&self, app: &Path, mistake: &Mistake, faults: &dyn Fn() -> Result<Vec<String>>) -> Result<()> {
        let file = app.join(mistake.file);
        let kept = self.folder.join("kept");
        let was_there = file.exists();
        if was_there {
            fs::copy(&file, &kept).map_err(Error::file(&file))?;
        }
        (mistake.make)(self, &file)?;
        let found = faults()?;
        // What was made a link is no file to write to.
        if fs::symlink_metadata(&file).is_ok() {
            fs::remove_file(&file).map_err(Error::file(&file))?;
        }
        if was_there {
            fs::copy(&kept, &file).map_err(Error::file(&file))?;
        }
        match found.iter().any(|fault| fault.contains(mistake.told)) {
            true => Ok(()),
            false => {
                Err(Error::Missed { names: format!("{:?} of {}: {found:#?}", mistake.told, mistake.file) })
            }
        }
    }
}

fn append(file: &Path, bytes: &[u8]) -> Result<()> {
    let mut all = fs::read(file).unwrap_or_default();
    all.extend_from_slice(bytes);
    fs::write(file, all).map_err(Error::file(file))
}
