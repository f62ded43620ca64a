//! Pictures of every format, changed at random: each is prepared or refused by name, within the memory that the
//! command has, and of what is refused nothing is left. Decoders may panic, since the command is a process of its own;
//! how often they do is told. `FORETOKEN_CASES=10000` for the long form.

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use std::alloc::System;
use std::fs;
use std::panic::{catch_unwind, set_hook};

use cap::Cap;
use foretoken_pictures::{PIXELS_FILE, Pixels, SizeRule, prepare};
use image::{DynamicImage, ImageFormat};
use support::{animated_png, animated_webp, exif, fields, gif, jpeg, plainly, png, tiff, webp};
use tempfile::TempDir;

/// As the command limits it: whoever wants more ends this test.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, 3 << 29);

fn cases() -> usize {
    std::env::var("FORETOKEN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

fn originals() -> Vec<Vec<u8>> {
    let (one, two) = (fields(48, 40), fields(40, 48));
    let picture = DynamicImage::from(one.clone());
    vec![
        png(&picture, Some(exif(6, true))),
        png(&picture.to_rgba8().into(), None),
        animated_png(&[one.clone(), fields(48, 40)]),
        jpeg(&one, Some(exif(8, false))),
        plainly(&picture.to_luma8().into(), ImageFormat::Jpeg),
        webp(&picture, Some(exif(3, true))),
        animated_webp(&[one.clone(), fields(48, 40)]),
        gif(&[one.clone(), fields(48, 40)]),
        plainly(&picture, ImageFormat::Bmp),
        tiff(&[&one, &two], &[]),
        plainly(&picture.to_rgba16().into(), ImageFormat::Tiff),
        LOSSY_WEBP.to_vec(),
        PROGRESSIVE_JPEG.to_vec(),
    ]
}

/// Of 48 × 40 pixels, as other programs write them.
const LOSSY_WEBP: &[u8] = include_bytes!("reference/lossy.webp");
const PROGRESSIVE_JPEG: &[u8] = include_bytes!("reference/progressive.jpg");

/// What a seed gives, one number after the other.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // Marsaglia's generator, with its shifts.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn change(&mut self, file: &mut Vec<u8>) {
        let at = self.below(file.len());
        let length = self.below(16).min(file.len() - at);
        let byte = [0, 1, 0x7f, 0x80, 0xff, self.below(256) as u8][self.below(6)];
        match self.below(7) {
            0 => file.truncate(at),
            1 => drop(file.drain(at..at + length)),
            2 => drop(file.splice(at..at, vec![byte; length])),
            3 => file[at..at + length].fill(byte),
            4 => file.extend_from_within(at..at + length),
            // In the headers there is most to be got wrong.
            5 => {
                let at = self.below(file.len().min(64));
                if let Some(place) = file.get_mut(at) {
                    *place = byte;
                }
            }
            _ => file.iter_mut().skip(at).take(1).for_each(|place| *place ^= byte),
        }
    }
}

/// Gives the chunks of a PNG the checksums that they should have, or none of them would be looked at.
fn with_right_checksums(png: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = png.get(at..at + 4) {
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let Some(content) = png.get(at + 4..at + 8 + length) else { return };
        let sum = crc32fast::hash(content).to_be_bytes();
        let Some(place) = png.get_mut(at + 8 + length..at + 12 + length) else { return };
        place.copy_from_slice(&sum);
        at += 12 + length;
    }
}

#[test]
fn mutated_pictures_are_prepared_or_refused() {
    let originals = originals();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("picture");
    let rule = SizeRule::new(1024, 65_536);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut prepared, mut refused, mut panics) = (0, 0, 0);
    for (number, file) in originals.iter().enumerate() {
        fs::write(&path, file).unwrap();
        let facts = prepare(&path, &folder.path().join(format!("whole-{number}")), rule);
        assert!(facts.is_ok(), "{number} is sound: {facts:?}");
    }
    set_hook(Box::new(|_| {}));
    for case in 0..cases() {
        let mut file = originals[case % originals.len()].clone();
        (0..=random.below(4)).for_each(|_| random.change(&mut file));
        if file.starts_with(b"\x89PNG") && random.below(4) > 0 {
            with_right_checksums(&mut file);
        }
        fs::write(&path, &file).unwrap();
        let out = folder.path().join(format!("out-{case}"));
        match catch_unwind(|| prepare(&path, &out, rule)) {
            Ok(Ok(facts)) => {
                prepared += 1;
                let pixels = Pixels::read(&out.join(PIXELS_FILE)).unwrap();
                assert_eq!((pixels.width, pixels.height), (facts.resized_width, facts.resized_height));
                assert_eq!(out.read_dir().unwrap().count(), 2);
                fs::remove_dir_all(&out).unwrap();
            }
            Ok(Err(error)) => {
                refused += 1;
                assert!(!error.to_string().is_empty() && !out.exists(), "{error}");
            }
            Err(_) => {
                panics += 1;
                assert!(!out.exists());
            }
        }
    }
    eprintln!(
        "prepared {prepared}, refused {refused}, panics {panics}, at most {} MB",
        ALLOCATOR.max_allocated() >> 20
    );
    assert!(prepared > cases() / 10 && refused > cases() / 10, "{prepared} and {refused}");
}
