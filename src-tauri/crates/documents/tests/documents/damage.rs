//! Whatever the bytes are: a text, or an error with a name. `FORETOKEN_CASES=10000` for the long form.

use foretoken_documents::read;
use proptest::prelude::*;

use crate::{archive, word};

fn cases() -> u32 {
    std::env::var("FORETOKEN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64)
}

/// Documents that were written by other programs, one of each kind but .xls: what reads that sets aside as much as the
/// file claims to need, which the limits of the process end.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("a.docx", include_bytes!("../files/sample.docx").to_vec()),
        ("a.xlsx", include_bytes!("../files/sample.xlsx").to_vec()),
        ("a.pptx", include_bytes!("../files/sample.pptx").to_vec()),
        ("a.epub", include_bytes!("../files/sample.epub").to_vec()),
        ("a.ods", include_bytes!("../files/sample.ods").to_vec()),
        (
            "a.rtf",
            br"{\rtf1\ansi{\pard\outlinelevel0 Owls\par}\trowd\intbl a\cell\row\pard \u9731?\'fc\par}"
                .to_vec(),
        ),
        (
            "a.html",
            b"<title>A</title><ul><li>x<table><td>y<a href='http://z'>z</a></table><pre>p</pre>".to_vec(),
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_document_that_is_cut_or_changed_is_read_or_named(
        which in 0..7_usize,
        cut in proptest::option::of(0.0..1.0_f64),
        changes in proptest::collection::vec((0.0..1.0_f64, any::<u8>()), 0..6),
    ) {
        let (name, mut bytes) = samples().swap_remove(which);
        for (place, byte) in changes {
            let place = (place * bytes.len() as f64) as usize;
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate((cut * bytes.len() as f64) as usize);
        }
        if let Err(error) = read(&bytes, name) {
            prop_assert!(error.to_string().starts_with("This ") || error.to_string().starts_with("No text "), "{error}");
            prop_assert!(error.hint().ends_with('.'));
            prop_assert!(error.code() != "document_gave_up", "{error}");
        }
    }

    #[test]
    fn whatever_stands_in_a_part_is_read_or_named(part in "(<[a-z:]{1,4}( [a-z]=\"[^\"<]{0,3}\")?/?>|</[a-z:]{1,4}>|&[a-z#0-9]{1,4};|\\PC{0,4}){0,40}") {
        let _ = read(&archive(&[("word/document.xml", &part)]), "a.docx");
        let _ = read(&word::document(&part, &[("styles", &part), ("numbering", &part)]), "a.docx");
        let _ = read(part.as_bytes(), "a.html");
        let _ = read(&archive(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", &part)]), "a.odt");
    }
}
