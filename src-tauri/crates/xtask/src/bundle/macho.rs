//! What the header of a Mac's program or library says.

use object::Endianness;
use object::macho;
use object::read::macho::{LoadCommandVariant, MachHeader};

/// The facts that decide whether it can be loaded, and where it looks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The oldest macOS that it runs on.
    pub(super) oldest_system: Option<[u32; 2]>,
    /// Where it looks for what it names by `@rpath`.
    pub(super) rpaths: Vec<String>,
    /// The libraries that it loads.
    pub(super) libraries: Vec<String>,
    /// Whether its signature claims rights.
    pub(super) has_entitlements: bool,
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
                let signature =
                    bytes.get(from..from.saturating_add(size)).ok_or("its signature is cut off")?;
                facts.has_entitlements = has_entitlements(signature);
            }
            _ => {}
        }
    }
    Ok(facts)
}

/// Whether a signature has a blob of entitlements that says anything. A super blob is its magic, its length and a
/// count, then a kind and a place for each blob, all big-endian (`cs_blobs.h` of XNU).
fn has_entitlements(signature: &[u8]) -> bool {
    const KINDS: [u32; 2] = [5, 7];
    /// Magic and length of a blob, before what is in it.
    const HEAD: usize = 8;
    let word = |at: usize| Some(u32::from_be_bytes(signature.get(at..at + 4)?.try_into().ok()?));
    let count = word(8).unwrap_or(0) as usize;
    (0..count.min(64)).any(|index| {
        let at = 12 + 8 * index;
        let (Some(kind), Some(place)) = (word(at), word(at + 4)) else { return false };
        let place = place as usize;
        let length = word(place + 4).unwrap_or(0) as usize;
        let text = signature.get(place + HEAD..place.saturating_add(length)).unwrap_or_default();
        // An empty dictionary in XML, or in DER, claims nothing.
        KINDS.contains(&kind) && text.windows(5).any(|part| part == b"<key>")
            || kind == KINDS[1] && length > 32
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A program whose signature claims a right.
    pub(in super::super) fn with_entitlements(mut program: Vec<u8>) -> Vec<u8> {
        let claimed =
            signature(5, b"<plist><dict><key>com.apple.security.get-task-allow</key><true/></dict></plist>");
        let word = |program: &[u8], at: usize| u32::from_le_bytes(program[at..at + 4].try_into().unwrap());
        let mut at = 32;
        while word(&program, at) != macho::LC_CODE_SIGNATURE {
            at += word(&program, at + 4) as usize;
        }
        let place = [program.len() as u32, claimed.len() as u32].map(u32::to_le_bytes).concat();
        program[at + 8..at + 16].copy_from_slice(&place);
        [program, claimed].concat()
    }

    #[test]
    fn what_is_no_program_is_told_from_what_is() {
        assert!(is_code(&[0xcf, 0xfa, 0xed, 0xfe, 0]) && is_code(&[0xca, 0xfe, 0xba, 0xbe]));
        assert!(!is_code(b"#!/bin/sh") && !is_code(b"MTLB") && !is_code(b"\xcf"));
        assert_eq!(read(&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2]).unwrap_err(), "it is not for arm64 alone");
    }

    /// A signature with one blob.
    fn signature(kind: u32, text: &[u8]) -> Vec<u8> {
        let words = [0xfade_0cc0, 28 + text.len() as u32, 1, kind, 20, 0xfade_7171, 8 + text.len() as u32];
        [&words.map(u32::to_be_bytes).concat(), text].concat()
    }

    #[test]
    fn rights_that_a_signature_claims_are_found() {
        let claimed = b"<plist><dict><key>com.apple.security.get-task-allow</key><true/></dict></plist>";
        assert!(has_entitlements(&signature(5, claimed)));
        assert!(!has_entitlements(&signature(5, b"<plist><dict/></plist>")));
        assert!(!has_entitlements(&signature(0, claimed)), "of another blob");
        assert!(!has_entitlements(&[]));
    }
}
