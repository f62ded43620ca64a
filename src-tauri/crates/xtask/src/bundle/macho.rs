//! What the header of a Mac's program or library says.

use object::Endianness;
use object::macho;
use object::read::macho::{LoadCommandVariant, MachHeader};

use super::signature::Signature;

/// Load commands, for programs that tests make.
#[cfg(test)]
pub(super) const SIGNATURE: u32 = macho::LC_CODE_SIGNATURE;
#[cfg(test)]
pub(super) const SEGMENT: u32 = macho::LC_SEGMENT_64;
#[cfg(test)]
pub(super) const BUILD_VERSION: u32 = macho::LC_BUILD_VERSION;

/// The facts that decide whether it can be loaded, and where it looks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The oldest macOS that it runs on.
    pub(super) oldest_system: Option<[u32; 2]>,
    /// Where it looks for what it names by `@rpath`.
    pub(super) rpaths: Vec<String>,
    /// The libraries that it loads.
    pub(super) libraries: Vec<String>,
    /// Its signature, if it has one.
    pub(super) signature: Option<Signature>,
}

/// Whether a file is a program or library of a Mac at all, for whichever processors.
pub(super) fn is_code(bytes: &[u8]) -> bool {
    let Some(Ok(magic)) = bytes.get(..4).map(<[u8; 4]>::try_from) else { return false };
    [
        macho::MH_MAGIC,
        macho::MH_CIGAM,
        macho::MH_MAGIC_64,
        macho::MH_CIGAM_64,
        macho::FAT_MAGIC,
        macho::FAT_MAGIC_64,
    ]
    .contains(&u32::from_be_bytes(magic))
}

/// Reads one that is for arm64 alone.
pub(super) fn read(bytes: &[u8]) -> Result<Facts, String> {
    let said = |error: object::Error| error.to_string();
    let header =
        macho::MachHeader64::<Endianness>::parse(bytes, 0).map_err(|_| "it is not for arm64 alone")?;
    let endian = header.endian().map_err(said)?;
    if header.cputype(endian) != macho::CPU_TYPE_ARM64 {
        return Err("it is not for arm64".into());
    }
    let mut facts = Facts::default();
    let mut commands = header.load_commands(endian, bytes, 0).map_err(said)?;
    while let Some(command) = commands.next().map_err(said)? {
        let text = |string| {
            let text = command.string(endian, string).map_err(said)?;
            Ok::<_, String>(String::from_utf8_lossy(text).into_owned())
        };
        match command.variant().map_err(said)? {
            LoadCommandVariant::BuildVersion(version) => {
                let version = version.minos.get(endian);
                facts.oldest_system = Some([version >> 16, version >> 8 & 0xff]);
            }
            LoadCommandVariant::Rpath(rpath) => facts.rpaths.push(text(rpath.path)?),
            LoadCommandVariant::Dylib(dylib) => facts.libraries.push(text(dylib.dylib.name)?),
            LoadCommandVariant::LinkeditData(data) if command.cmd() == macho::LC_CODE_SIGNATURE => {
                let (from, size) = (data.dataoff.get(endian) as usize, data.datasize.get(endian) as usize);
                facts.signature = Some(Signature::read(bytes, from, size)?);
            }
            _ => {}
        }
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_is_told_from_what_is() {
        assert!(is_code(&[0xcf, 0xfa, 0xed, 0xfe, 0]) && is_code(&[0xca, 0xfe, 0xba, 0xbe]));
        assert!(!is_code(b"#!/bin/sh") && !is_code(b"MTLB") && !is_code(b"\xcf"));
        assert_eq!(read(&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2]).unwrap_err(), "it is not for arm64 alone");
    }
}
