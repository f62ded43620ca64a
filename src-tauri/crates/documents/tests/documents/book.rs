//! Books in ePub.

use foretoken_documents::DocumentText;

use crate::{archive, code, text, whole};

const CONTAINER: &str =
    "<container><rootfiles><rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>";
const PACKAGE: &str = "<package xmlns:dc=\"dc\"><metadata><dc:title>The Owl’s Bell</dc:title><dc:creator>Anna</dc:creator></metadata>
    <manifest><item id=\"c1\" href=\"text/one%20a.xhtml\" media-type=\"application/xhtml+xml\"/>
    <item id=\"c2\" href=\"text/two.xhtml\"/>
    <item id=\"ncx\" href=\"toc.ncx\" media-type=\"application/x-dtbncx+xml\"/></manifest>
    <spine toc=\"ncx\"><itemref idref=\"c2\"/><itemref idref=\"c1\"/></spine></package>";
const CONTENTS: &str = "<ncx><navMap><navPoint><navLabel><text>The Snow</text></navLabel><content src=\"text/two.xhtml#a\"/></navPoint>
    <navPoint><navLabel><text>Unused</text></navLabel><content src=\"text/one%20a.xhtml\"/></navPoint></navMap></ncx>";

fn book(more: &[(&str, &str)]) -> Vec<u8> {
    let one =
        "<?xml version=\"1.0\"?><!DOCTYPE html><html xmlns=\"h\"><head><title/><script src=\"a.js\"/></head>
        <body><h2>One</h2><p>The bell&nbsp;rang<sup>1</sup>.</p></body></html>";
    let two = "<html><body><p>Snow fell<br>and fell.<p>It stayed.</body></html>";
    let mut parts = vec![
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", CONTAINER),
        ("OEBPS/book.opf", PACKAGE),
        ("OEBPS/toc.ncx", CONTENTS),
        ("OEBPS/text/one a.xhtml", one),
        ("OEBPS/text/two.xhtml", two),
    ];
    parts.extend(more);
    archive(&parts)
}

#[test]
fn chapters_are_in_the_order_of_reading_with_their_titles() {
    let expected = "# The Owl’s Bell\n\nBy Anna\n\n## The Snow\n\nSnow fell\nand fell.\n\nIt stayed.\n\n## One\n\nThe bell\u{a0}rang^1.";
    assert_eq!(text(&book(&[])), expected);
}

#[test]
fn signs_that_are_escaped_belong_to_the_name_of_a_part() {
    let package = PACKAGE.replace("two.xhtml", "Two%20%232%3f.xhtml#start");
    let contents = CONTENTS.replace("two.xhtml#a", "Two%20%232%3f.xhtml#a");
    let bytes = archive(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", CONTAINER),
        ("OEBPS/book.opf", &package),
        ("OEBPS/toc.ncx", &contents),
        ("OEBPS/text/one a.xhtml", "<p>One.</p>"),
        ("OEBPS/text/Two #2?.xhtml", "<p>Two.</p>"),
    ]);
    assert_eq!(text(&bytes), "# The Owl’s Bell\n\nBy Anna\n\n## The Snow\n\nTwo.\n\n## Unused\n\nOne.");
}

#[test]
fn chapters_that_are_missing_are_named() {
    let package = PACKAGE
        .replace("</manifest>", "<item id=\"gone\" href=\"text/gone%20a.xhtml\"/></manifest>")
        .replace("<itemref idref=\"c1\"/>", "<itemref idref=\"gone\"/><itemref idref=\"c9\"/>");
    let bytes = archive(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", CONTAINER),
        ("OEBPS/book.opf", &package),
        ("OEBPS/text/two.xhtml", "<p>Two.</p>"),
    ]);
    let DocumentText { text, notes } = whole(&bytes);
    let expected = [
        "The chapter “OEBPS/text/gone a.xhtml” is missing from the file.",
        "The chapter “c9” is missing from the file.",
    ];
    assert_eq!(notes, expected);
    let [first, second] = expected;
    assert_eq!(text, format!("# The Owl’s Bell\n\nBy Anna\n\nTwo.\n\n[{first}]\n\n[{second}]"));
}

#[test]
fn fonts_may_be_scrambled_and_chapters_may_not() {
    let scrambled = |part: &str| {
        format!(
            "<encryption><EncryptedData><CipherData><CipherReference URI=\"{part}\"/></CipherData></EncryptedData></encryption>"
        )
    };
    let font = scrambled("OEBPS/fonts/a.otf");
    assert!(text(&book(&[("META-INF/encryption.xml", &font)])).contains("Snow fell"));
    let chapter = scrambled("OEBPS/text/one%20a.xhtml");
    assert_eq!(code(&book(&[("META-INF/encryption.xml", &chapter)])), "document_locked");
}
