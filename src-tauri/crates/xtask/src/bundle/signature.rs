//! The signature inside a Mac's program or library: what it covers, and whether that is still as it was signed.
//! Its numbers are big-endian (`cs_blobs.h` of XNU).

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::metallib::find;

/// Kinds of blobs, by which a signature lists them.
const DIRECTORY: u32 = 0;
const ENTITLEMENTS: u32 = 5;
const ENTITLEMENTS_IN_DER: u32 = 7;
/// Directories with hashes of another kind begin here.
const FURTHER_DIRECTORIES: u32 = 0x1000;
const CERTIFICATES: u32 = 0x1_0000;
/// The magic number of a directory.
const DIRECTORY_MAGIC: u32 = 0xfade_0c02;
/// Hashes of a directory that are SHA-256, whole.
const SHA_256: [u8; 2] = [32, 2];
/// Magic and length of a blob, before what is in it.
const HEAD: usize = 8;

/// What begins a time that a server has signed: the object identifier of `id-aa-timeStampToken` (RFC 3161), in DER.
const TIMESTAMP: [u8; 13] = [0x06, 0x0b, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x0e];

/// Flags of a directory.
const RUNTIME: u32 = 0x1_0000;

/// What a directory has hashes of beside the code, by the number of its slot.
pub(super) const INFO_SLOT: usize = 1;
pub(super) const RESOURCES_SLOT: usize = 3;

pub(crate) type Hash = [u8; 32];

/// A signature.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Signature {
    /// Whether it claims rights.
    pub(super) has_entitlements: bool,
    /// Whether somebody signed it: a signature without certificates only says what the code is.
    pub(super) has_certificates: bool,
    /// Whether somebody else has signed when.
    pub(super) has_timestamp: bool,
    pub(super) directory: Option<Directory>,
    /// Where the signature begins in its file, and where it ends.
    place: (usize, usize),
}

/// The hashes that are signed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Directory {
    pub(super) identifier: String,
    /// By which the app's seal names this code: the beginning of the directory's own hash.
    pub(super) code_hash: [u8; 20],
    /// Whether the hardened runtime is asked for.
    pub(super) is_hardened: bool,
    /// Hashes of what is beside the code, by slot.
    pub(super) slots: BTreeMap<usize, Hash>,
    page: usize,
    limit: usize,
    pages: Vec<Hash>,
}

/// The hash that signatures, seals and lists of hashes have.
pub(crate) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

impl Signature {
    /// Reads the signature that lies at `from` in a file. A signature whose directory cannot be read has none.
    pub(super) fn read(bytes: &[u8], from: usize, size: usize) -> Result<Self, String> {
        let end = from.saturating_add(size);
        let signature = bytes.get(from..end).ok_or("its signature is cut off")?;
        let mut read = Self { place: (from, end), ..Self::default() };
        // A super blob: its magic, its length and a count, then a kind and a place for each blob.
        let count = word(signature, 8).unwrap_or(0) as usize;
        for index in 0..count.min(64) {
            let at = 12 + 8 * index;
            let (Some(kind), Some(place)) = (word(signature, at), word(signature, at + 4)) else { continue };
            let place = place as usize;
            let length = word(signature, place + 4).unwrap_or(0) as usize;
            let Some(blob) = signature.get(place..place.saturating_add(length)) else { continue };
            let text = blob.get(HEAD..).unwrap_or_default();
            match kind {
                // An empty dictionary in XML, or in DER, claims nothing.
                ENTITLEMENTS => read.has_entitlements |= find(text, b"<key>").is_some(),
                ENTITLEMENTS_IN_DER => {
                    let is_text = find(text, b"<key>").is_some();
                    read.has_entitlements |= is_text || length > 32;
                }
                CERTIFICATES => {
                    read.has_certificates = !text.is_empty();
                    read.has_timestamp = find(text, &TIMESTAMP).is_some();
                }
                DIRECTORY | FURTHER_DIRECTORIES.. => {
                    read.directory = read.directory.or_else(|| Directory::read(blob));
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// What of a file is not as this signature, which was read from it, says.
    pub(super) fn faults(&self, bytes: &[u8]) -> Vec<String> {
        let Some(directory) = &self.directory else {
            return vec!["its signature has no hashes of its code".into()];
        };
        let mut faults = Vec::new();
        let (begin, end) = self.place;
        if end != bytes.len() {
            faults.push("something stands behind its signature".into());
        }
        if directory.limit != begin {
            faults.push("its signature does not cover all of its code".into());
        }
        let code = bytes.get(..directory.limit.min(begin)).unwrap_or_default();
        let found: Vec<Hash> = code.chunks(directory.page).map(hash).collect();
        if found != directory.pages {
            faults.push("it was changed after it was signed".into());
        }
        faults
    }
}

impl Directory {
    fn read(blob: &[u8]) -> Option<Self> {
        let number = |at: usize| word(blob, at).map(|number| number as usize);
        if word(blob, 0)? != DIRECTORY_MAGIC || blob.get(36..38)? != SHA_256 {
            return None;
        }
        let (hashes, identifier) = (number(16)?, number(20)?);
        let (slots, pages) = (number(24)?, number(28)?);
        let hash_at = |at: usize| blob.get(at..at.checked_add(32)?)?.try_into().ok();
        let name = blob.get(identifier..)?.split(|&byte| byte == 0).next()?;
        // Those of the code go up from there, the others down.
        let below = |slot: usize| Some((slot, hash_at(hashes.checked_sub(32 * slot)?)?));
        Some(Self {
            identifier: String::from_utf8_lossy(name).into_owned(),
            code_hash: hash(blob)[..20].try_into().ok()?,
            is_hardened: word(blob, 12)? & RUNTIME != 0,
            slots: (1..=slots.min(16)).map(below).collect::<Option<_>>()?,
            // Without a size there is one page.
            page: match blob.get(39)? {
                0 => usize::MAX,
                size => 1_usize.checked_shl((*size).into())?,
            },
            limit: number(32)?,
            pages: (0..pages.min(1 << 20)).map(|page| hash_at(hashes + 32 * page)).collect::<Option<_>>()?,
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::macho;
    use super::*;

    const PAGE: usize = 1 << 12;

    /// A signature of these blobs.
    fn signature(blobs: &[(u32, &[u8])]) -> Vec<u8> {
        let begin = 12 + 8 * blobs.len();
        let size: usize = blobs.iter().map(|(_, blob)| blob.len()).sum();
        let mut words = vec![0xfade_0cc0, (begin + size) as u32, blobs.len() as u32];
        let mut at = begin;
        for (kind, blob) in blobs {
            words.extend([*kind, at as u32]);
            at += blob.len();
        }
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
        blobs.iter().for_each(|(_, blob)| bytes.extend_from_slice(blob));
        bytes
    }

    fn blob(text: &[u8]) -> Vec<u8> {
        [&[0xfade_7171, (HEAD + text.len()) as u32].map(u32::to_be_bytes).concat(), text].concat()
    }

    /// The smallest program of a Mac, signed for a name, with hashes of what is beside it in slots one, two and three.
    pub(in super::super) fn signed(text: &str, identifier: &str, slots: [Hash; 3]) -> Vec<u8> {
        const TEXT: usize = 256;
        let name = [identifier.as_bytes(), &[0]].concat();
        let mut code = vec![0; PAGE + 64];
        code[TEXT..][..text.len()].copy_from_slice(text.as_bytes());
        let code_pages = code.len().div_ceil(PAGE);
        let hashes = 44 + name.len() + 32 * slots.len();
        let length = hashes + 32 * code_pages;
        let (begin, size) = (code.len() as u32, (12 + 8 + length) as u32);
        let segment = |name: &str, from: u32, size: u32| {
            let words = [macho::SEGMENT, 72].map(u32::to_le_bytes).concat();
            let numbers = [from, size, from, size].map(|number| u64::from(number).to_le_bytes()).concat();
            let mut name = name.as_bytes().to_vec();
            name.resize(16, 0);
            [words, name, numbers, vec![0; 16]].concat()
        };
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let head = [
            words(&[0xfeed_facf, 0x100_000c, 0, 2, 4, 2 * 72 + 24 + 16, 0, 0]),
            segment("__TEXT", 0, begin),
            segment("__LINKEDIT", begin, size),
            words(&[macho::BUILD_VERSION, 24, 1, 14 << 16, 14 << 16, 0, macho::SIGNATURE, 16, begin, size]),
        ]
        .concat();
        code[..head.len()].copy_from_slice(&head);
        let numbers = [
            DIRECTORY_MAGIC,
            length as u32,
            0x2_0001,
            RUNTIME,
            hashes as u32,
            44,
            slots.len() as u32,
            code_pages as u32,
            begin,
        ];
        let mut directory = numbers.map(u32::to_be_bytes).concat();
        directory.extend([32, 2, 0, 12, 0, 0, 0, 0]);
        directory.extend(name);
        slots.iter().rev().for_each(|slot| directory.extend(slot));
        code.chunks(PAGE).for_each(|page| directory.extend(hash(page)));
        code.extend(signature(&[(DIRECTORY, &directory)]));
        code
    }

    const CLAIMED: &[u8] = b"<plist><dict><key>com.apple.security.get-task-allow</key><true/></dict></plist>";

    /// A program whose signature claims a right.
    pub(in super::super) fn with_entitlements(mut program: Vec<u8>) -> Vec<u8> {
        let claimed = signature(&[(ENTITLEMENTS, &blob(CLAIMED))]);
        let word = |program: &[u8], at: usize| u32::from_le_bytes(program[at..at + 4].try_into().unwrap());
        let mut at = 32;
        while word(&program, at) != macho::SIGNATURE {
            at += word(&program, at + 4) as usize;
        }
        let place = [program.len() as u32, claimed.len() as u32].map(u32::to_le_bytes).concat();
        program[at + 8..at + 16].copy_from_slice(&place);
        [program, claimed].concat()
    }

    #[test]
    fn rights_that_a_signature_claims_are_found() {
        let claims = |kind: u32, text: &[u8]| {
            let signature = signature(&[(kind, &blob(text))]);
            Signature::read(&signature, 0, signature.len()).unwrap().has_entitlements
        };
        assert!(claims(ENTITLEMENTS, CLAIMED));
        assert!(!claims(ENTITLEMENTS, b"<plist><dict/></plist>"));
        assert!(claims(ENTITLEMENTS_IN_DER, &[1; 40]) && !claims(ENTITLEMENTS_IN_DER, &[1; 8]));
        assert!(!claims(2, CLAIMED), "of another blob");
        assert_eq!(Signature::read(&[], 0, 0).unwrap(), Signature::default());
        assert!(Signature::read(&[0; 8], 4, 8).is_err(), "it is cut off");
    }

    #[test]
    fn code_that_was_changed_and_code_that_is_not_covered_are_found() {
        let program = signed("words", "a.b", [[0; 32], [0; 32], [7; 32]]);
        let read = |program: &[u8]| macho::read(program).unwrap().signature.unwrap();
        let signature = read(&program);
        assert_eq!(signature.faults(&program), Vec::<String>::new());
        let directory = signature.directory.as_ref().unwrap();
        assert_eq!((&*directory.identifier, directory.is_hardened), ("a.b", true));
        assert_eq!(directory.slots[&RESOURCES_SLOT], [7; 32]);
        for at in [256, PAGE + 1] {
            let mut changed = program.clone();
            changed[at] ^= 1;
            assert_eq!(read(&changed).faults(&changed), ["it was changed after it was signed"]);
        }
        let longer = [&program[..], b"more"].concat();
        assert_eq!(read(&longer).faults(&longer), ["something stands behind its signature"]);
        assert_ne!(read(&signed("other", "a.b", [[0; 32]; 3])), signature);
        let none = Signature::default().faults(&program);
        assert_eq!(none, ["its signature has no hashes of its code"]);
    }
}
