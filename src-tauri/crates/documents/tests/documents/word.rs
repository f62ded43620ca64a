//! Word's documents, as Word, LibreOffice and Google Docs write them.

use crate::{archive, code, relations, text};

const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
                 xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";

/// A document with this body, and further parts with the kinds by which it refers to them.
pub(crate) fn document(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let mut others: Vec<(String, String, String)> =
        vec![("rLink".into(), "hyperlink".into(), "https://owls.example/?a=1&amp;b=2".into())];
    for (kind, _) in parts {
        others.push((format!("r{kind}"), (*kind).into(), format!("{kind}.xml")));
    }
    let others: Vec<_> = others.iter().map(|(id, kind, target)| (&**id, &**kind, &**target)).collect();
    let document = format!("<?xml version=\"1.0\"?><w:document {W}><w:body>{body}</w:body></w:document>");
    let (main, links) = (relations(&[("rId1", "officeDocument", "word/document.xml")]), relations(&others));
    let named: Vec<_> =
        parts.iter().map(|(kind, content)| (format!("word/{kind}.xml"), content.replace("W:", W))).collect();
    let mut all = vec![
        ("_rels/.rels", &*main),
        ("word/document.xml", &*document),
        ("word/_rels/document.xml.rels", &*links),
    ];
    all.extend(named.iter().map(|(name, content)| (&**name, &**content)));
    archive(&all)
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

const STYLES: &str = r#"<w:styles W:>
    <w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
    <w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
    <w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift2"/></w:style>
    <w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/><w:basedOn w:val="Mine"/></w:style>
    <w:style w:type="paragraph" w:styleId="Liste"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
</w:styles>"#;

const NUMBERING: &str = r#"<w:numbering W:>
    <w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
    <w:abstractNum w:abstractNumId="8">
        <w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>
        <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/></w:lvl>
    </w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
    <w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
</w:numbering>"#;

#[test]
fn headings_are_told_by_the_names_of_their_styles_in_any_language() {
    let styled = |style: &str, text: &str| {
        format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = [
        styled("Titel", "Owls"),
        styled("berschrift1", "Hearing"),
        paragraph("They hear well."),
        styled("Mine", "Ears"),
        "<w:p><w:pPr><w:outlineLvl w:val=\"2\"/></w:pPr><w:r><w:t>Left</w:t></w:r></w:p>".to_owned(),
    ];
    let expected = "# Owls\n\n# Hearing\n\nThey hear well.\n\n## Ears\n\n### Left";
    assert_eq!(text(&document(&body.concat(), &[("styles", STYLES)])), expected);
}

#[test]
fn runs_are_joined_with_their_tabs_and_line_breaks() {
    let body = r#"<w:p><w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>
        <w:r><w:t xml:space="preserve">The ow</w:t></w:r><w:proofErr w:type="spellStart"/><w:r><w:t>l’s</w:t></w:r>
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t xml:space="preserve"> bell</w:t></w:r>
        <w:r><w:tab/><w:t>7</w:t><w:br/><w:t>a.m. &amp; p.m. &#x263A;</w:t><w:br w:type="page"/><w:noBreakHyphen/></w:r></w:p>"#;
    assert_eq!(text(&document(body, &[])), "The owl’s bell\t7\na.m. & p.m. ☺-");
}

#[test]
fn lists_have_their_marks_and_numbers() {
    let item = |list: &str, depth: &str, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{depth}\"/><w:numId w:val=\"{list}\"/></w:numPr></w:pPr>\
             <w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let styled = "<w:p><w:pPr><w:pStyle w:val=\"Liste\"/></w:pPr><w:r><w:t>by style</w:t></w:r></w:p>";
    let body = [
        item("1", "0", "bullet"),
        item("1", "1", "deeper"),
        item("2", "0", "three"),
        item("2", "1", "one"),
        item("2", "1", "two"),
        item("2", "0", "four"),
        item("2", "1", "one again"),
        item("0", "0", "no item"),
        styled.to_owned(),
    ];
    let parts = [("styles", STYLES), ("numbering", NUMBERING)];
    let expected = "- bullet\n  - deeper\n3. three\n  1. one\n  2. two\n4. four\n  1. one again\n\nno item\n\n- by style";
    assert_eq!(text(&document(&body.concat(), &parts)), expected);
}

#[test]
fn tables_keep_merged_cells_in_place_and_nested_ones_on_a_line() {
    let cell =
        |properties: &str, content: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>");
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let nested = format!(
        "<w:tbl>{}</w:tbl>{}",
        row(&[cell("", &paragraph("x")), cell("", &paragraph("y"))]),
        "<w:p/>"
    );
    let body = format!(
        "{}<w:tbl>{}{}{}</w:tbl>{}",
        paragraph("Before."),
        row(&[cell("<w:gridSpan w:val=\"2\"/>", &paragraph("wide")), cell("", &paragraph("c|d"))]),
        row(&[
            cell("<w:vMerge w:val=\"restart\"/>", &paragraph("tall")),
            cell("", &[paragraph("one"), paragraph("two")].concat()),
            cell("", &nested),
        ]),
        row(&[cell("<w:vMerge/>", "<w:p/>"), cell("", &paragraph("e")), cell("", "<w:p/>")]),
        paragraph("After."),
    );
    let expected = "Before.\n\n| wide |  | c\\|d |\n| --- | --- | --- |\n| tall | one<br>two | x \\| y |\n|  | e |  |\n\nAfter.";
    assert_eq!(text(&document(&body, &[])), expected);
}

#[test]
fn links_notes_and_comments_are_read_and_what_was_deleted_is_not() {
    let body = r#"<w:p><w:hyperlink r:id="rLink"><w:r><w:t>Owls</w:t></w:r></w:hyperlink>
        <w:hyperlink w:anchor="below"><w:r><w:t>, below</w:t></w:r></w:hyperlink>
        <w:del><w:r><w:delText>Cats</w:delText></w:r></w:del><w:ins><w:r><w:t xml:space="preserve"> hear</w:t></w:r></w:ins>
        <w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="2"/></w:r><w:r><w:commentReference w:id="0"/></w:r>
        <w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>.</w:t></w:r></w:p>"#;
    let footnotes = format!(
        r#"<w:footnotes W:><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
        <w:footnote w:id="2">{}</w:footnote></w:footnotes>"#,
        paragraph("Very well.")
    );
    let endnotes =
        format!("<w:endnotes W:><w:endnote w:id=\"2\">{}</w:endnote></w:endnotes>", paragraph("At night."));
    let comments = format!(
        "<w:comments W:><w:comment w:id=\"0\" w:author=\"Anna\" w:initials=\"A\">{}{}</w:comment></w:comments>",
        paragraph("Really?"),
        paragraph("Yes.")
    );
    let parts = [("footnotes", &*footnotes), ("endnotes", &endnotes), ("comments", &comments)];
    let expected = "[Owls](https://owls.example/?a=1&b=2), below hear[^2][^e2][^c0].\n\n[^2]: Very well.\n\n\
                    [^e2]: At night.\n\n[^c0]: Comment by Anna: Really?\nYes.";
    assert_eq!(text(&document(body, &parts)), expected);
}

#[test]
fn frames_are_read_once_and_pictures_by_their_descriptions() {
    let frame = |text: &str| format!("<w:txbxContent>{}</w:txbxContent>", paragraph(text));
    let body = format!(
        "<w:p><w:r><w:t>Outside</w:t></w:r><w:r><mc:AlternateContent xmlns:mc=\"m\"><mc:Choice>{}</mc:Choice>\
         <mc:Fallback>{}</mc:Fallback></mc:AlternateContent></w:r></w:p>\
         <w:p><w:r><w:drawing><wp:docPr xmlns:wp=\"p\" id=\"1\" name=\"Picture 1\" descr=\"An owl\"/></w:drawing></w:r></w:p>",
        frame("Inside"),
        frame("Inside")
    );
    assert_eq!(text(&document(&body, &[])), "Outside\n\nInside\n\n[Picture: An owl]");
}

#[test]
fn what_a_text_box_is_anchored_in_stays_what_it_is() {
    let frame = |content: &str| {
        format!(
            "<w:r><w:pict><w:txbxContent>{content}</w:txbxContent></w:pict><w:t xml:space=\"preserve\"> on</w:t></w:r>"
        )
    };
    let anchored = |properties: &str, content: &str| {
        format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>Owls</w:t></w:r>{}</w:p>", frame(content))
    };
    let link = format!(
        "<w:p><w:hyperlink r:id=\"rLink\"><w:r><w:t>link</w:t></w:r>{}</w:hyperlink></w:p>",
        frame(&paragraph("five"))
    );
    let list = "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"2\"/></w:numPr>";
    let cell = |content: &str| format!("<w:tc>{content}</w:tc>");
    let body = [
        anchored("<w:outlineLvl w:val=\"0\"/>", &paragraph("one")),
        anchored(
            list,
            &[paragraph("two"), anchored("<w:outlineLvl w:val=\"1\"/>", &paragraph("three"))].concat(),
        ),
        anchored(list, &paragraph("four")),
        link,
        format!(
            "<w:tbl><w:tr>{}{}</w:tr></w:tbl>",
            cell(&anchored("", &paragraph("six"))),
            cell(&paragraph("seven"))
        ),
    ];
    let expected = "# Owls on\n\none\n\n3. Owls on\n\ntwo\n\n## Owls on\n\nthree\n\n4. Owls on\n\nfour\n\n\
                    [link on](https://owls.example/?a=1&b=2)\n\nfive\n\n| Owls on<br>six | seven |\n| --- | --- |";
    let parts = [("styles", STYLES), ("numbering", NUMBERING)];
    assert_eq!(text(&document(&body.concat(), &parts)), expected);
}

#[test]
fn a_document_lies_where_its_archive_says() {
    let main = relations(&[("rId1", "officeDocument", "/word/document2.xml")]);
    let body = format!("<w:document {W}><w:body>{}</w:body></w:document>", paragraph("Here."));
    assert_eq!(text(&archive(&[("_rels/.rels", &main), ("word/document2.xml", &body)])), "Here.");
    // One without text, and one without its main part.
    assert_eq!(code(&document("<w:p/>", &[])), "document_empty");
    assert_eq!(code(&archive(&[("_rels/.rels", &main), ("word/other.xml", &body)])), "document_damaged");
}
