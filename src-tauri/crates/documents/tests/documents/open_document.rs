//! Texts, sheets and presentations of LibreOffice.

use foretoken_documents::DocumentText;

use crate::{archive, code, text, whole};

const NAMES: &str = "xmlns:office=\"o\" xmlns:text=\"t\" xmlns:table=\"b\" xmlns:draw=\"d\" xmlns:xlink=\"x\" xmlns:dc=\"c\" \
                     xmlns:presentation=\"p\"";

fn document(kind: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content {NAMES}><office:automatic-styles><text:p>no</text:p></office:automatic-styles>\
         <office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    );
    let mimetype = format!("application/vnd.oasis.opendocument.{kind}");
    archive(&[("mimetype", &mimetype), ("content.xml", &content)])
}

#[test]
fn a_text_has_headings_lists_tables_notes_and_comments() {
    let body = "<text:tracked-changes><text:p>no</text:p></text:tracked-changes>
        <text:h text:outline-level=\"2\">Owls</text:h>
        <text:p>They<text:s text:c=\"2\"/>hear<text:note text:id=\"n\"><text:note-citation>1</text:note-citation><text:note-body><text:p>Well.</text:p></text:note-body></text:note>
        <office:annotation><dc:creator>Anna</dc:creator><dc:date>2024</dc:date><text:p>Really?</text:p></office:annotation>
        <text:a xlink:href=\"https://snow.example\">mice</text:a>.</text:p>
        <text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deeper</text:p></text:list-item></text:list></text:list-item>
        <text:list-item><text:p>two</text:p></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell table:number-columns-spanned=\"2\"><text:p>wide</text:p></table:table-cell><table:covered-table-cell/></table:table-row>
        <table:table-row><table:table-cell><text:p>a</text:p><text:p>b</text:p></table:table-cell><table:table-cell><text:p>c</text:p></table:table-cell></table:table-row></table:table>";
    let expected = "## Owls\n\nThey  hear[^1] [Comment by Anna: Really?] [mice](https://snow.example).\n\n\
                    - one\n  - deeper\n- two\n\n| wide |  |\n| --- | --- |\n| a<br>b | c |\n\n[^1]: Well.";
    assert_eq!(text(&document("text", body)), expected);
}

#[test]
fn sheets_show_what_their_cells_show_and_repeat_what_is_repeated() {
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let body = format!(
        "<table:table table:name=\"Owls\"><table:table-row>{}{}</table:table-row>\
         <table:table-row table:number-rows-repeated=\"2\">{}<table:table-cell table:number-columns-repeated=\"16000\"/></table:table-row>\
         <table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row></table:table>",
        cell("office:value-type=\"percentage\" office:value=\"0.25\"", "25 %"),
        cell("table:number-columns-repeated=\"2\"", "x, y"),
        cell("", "again")
    );
    assert_eq!(
        text(&document("spreadsheet", &body)),
        "## Sheet: Owls\n\n25 %,\"x, y\",\"x, y\"\nagain\nagain"
    );
}

#[test]
fn rows_that_are_repeated_count_as_rows() {
    let rows = |times: &str, text: &str| {
        format!(
            "<table:table-row table:number-rows-repeated=\"{times}\"><table:table-cell><text:p>{text}</text:p></table:table-cell></table:table-row>"
        )
    };
    let sheet = |rows: &[String]| {
        document("spreadsheet", &format!("<table:table table:name=\"Owls\">{}</table:table>", rows.concat()))
    };
    assert_eq!(text(&sheet(&[rows("1500", "a"), rows("1", "b")])).matches("a\n").count(), 1500);
    let DocumentText { text, notes } = whole(&sheet(&[rows("1000000", "a"), rows("1", "b")]));
    assert_eq!(notes, ["Only the first 20000 of 1000001 rows of the sheet “Owls” were read."]);
    assert_eq!((text.matches("a\n").count(), text.ends_with("\na")), (19_999, true));
    // However often they say that they are repeated, and wherever they begin.
    let endless = rows("18446744073709551615", "a");
    for sheet in
        [sheet(&[endless.clone(), rows("7", "b")]), sheet(&[rows("5000000000", ""), endless, rows("7", "b")])]
    {
        let DocumentText { notes, .. } = whole(&sheet);
        assert!(notes[0].starts_with("Only the first 20000 of 18446744073709"), "{notes:?}");
    }
}

#[test]
fn presentations_have_slides_and_notes() {
    let body = "<draw:page draw:name=\"page1\"><draw:frame><draw:text-box><text:p>Owls</text:p></draw:text-box></draw:frame>
        <presentation:notes><draw:frame><draw:text-box><text:p>Slowly.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>
        <draw:page draw:name=\"End\"><draw:frame><draw:text-box><text:p>Mice</text:p></draw:text-box></draw:frame></draw:page>";
    assert_eq!(
        text(&document("presentation", body)),
        "## Slide 1\n\nOwls\n\nNotes: Slowly.\n\n## Slide 2: End\n\nMice"
    );
}

#[test]
fn one_with_a_password_says_so() {
    let locked = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", "<manifest><file-entry><encryption-data/></file-entry></manifest>"),
        ("content.xml", "\u{1}\u{2}"),
    ]);
    assert_eq!(code(&locked), "document_locked");
}
