//! Excel's workbooks, as Excel, LibreOffice, Google Sheets and programs write them.

use std::io::{Cursor, Write};

use foretoken_documents::{DocumentText, read};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{archive, relations, text, whole};

/// A workbook of sheets by their names and rows, with a styles part, the texts that cells share and what the workbook
/// says of dates.
fn workbook(sheets: &[(&str, &str)], shared: &[&str], properties: &str) -> Vec<u8> {
    const MAIN: &str = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
                        xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
    let mut listed = String::new();
    let mut others = vec![
        ("rIdS".to_owned(), "styles", "styles.xml".to_owned()),
        ("rIdT".to_owned(), "sharedStrings", "sharedStrings.xml".to_owned()),
    ];
    let mut parts = Vec::new();
    for (number, (name, rows)) in (1..).zip(sheets) {
        listed += &format!("<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>");
        others.push((format!("rId{number}"), "worksheet", format!("worksheets/sheet{number}.xml")));
        let sheet = format!(
            "<worksheet {MAIN}><dimension ref=\"A1:XFD1048576\"/><sheetData>{rows}</sheetData></worksheet>"
        );
        parts.push((format!("xl/worksheets/sheet{number}.xml"), sheet));
    }
    let others: Vec<_> = others.iter().map(|(id, kind, target)| (&**id, *kind, &**target)).collect();
    let shared: String = shared.iter().map(|text| format!("<si>{text}</si>")).collect();
    let styles = format!(
        "<styleSheet {MAIN}><numFmts count=\"6\"><numFmt numFmtId=\"164\" formatCode=\"0.0%\"/>\
         <numFmt numFmtId=\"165\" formatCode=\"[h]:mm:ss\"/>\
         <numFmt numFmtId=\"166\" formatCode=\"dd/mm/yyyy\\ hh:mm\"/>\
         <numFmt numFmtId=\"167\" formatCode=\"[$-en-US]mmmm\"/><numFmt numFmtId=\"168\" formatCode=\"[Red]hh:mm\"/>\
         <numFmt numFmtId=\"169\" formatCode=\"[$-de-DE]hh:mm\"/></numFmts>\
         <fonts count=\"1\"><font/></fonts><fills count=\"1\"><fill/></fills><borders count=\"1\"><border/></borders>\
         <cellXfs count=\"9\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\" applyNumberFormat=\"1\"/><xf numFmtId=\"9\"/>\
         <xf numFmtId=\"164\"/><xf numFmtId=\"165\"/><xf numFmtId=\"166\"/>\
         <xf numFmtId=\"167\"/><xf numFmtId=\"168\"/><xf numFmtId=\"169\"/></cellXfs></styleSheet>"
    );
    parts.extend([
        ("[Content_Types].xml".to_owned(), "<Types/>".to_owned()),
        ("_rels/.rels".to_owned(), relations(&[("rId1", "officeDocument", "xl/workbook.xml")])),
        (
            "xl/workbook.xml".to_owned(),
            format!("<workbook {MAIN}>{properties}<sheets>{listed}</sheets></workbook>"),
        ),
        ("xl/_rels/workbook.xml.rels".to_owned(), relations(&others)),
        ("xl/styles.xml".to_owned(), styles),
        ("xl/sharedStrings.xml".to_owned(), format!("<sst {MAIN}>{shared}</sst>")),
    ]);
    let parts: Vec<_> = parts.iter().map(|(name, content)| (&**name, &**content)).collect();
    archive(&parts)
}

#[test]
fn texts_are_shared_or_in_their_cells_and_may_be_in_runs() {
    let rows = r#"<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>
        <row r="2"><c r="A2" t="inlineStr"><is><r><t xml:space="preserve">in </t></r><r><t>runs</t></r></is></c><c r="C2" t="str"><f>A1</f><v>of a formula</v></c></row>
        <row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" t="e"><v>#DIV/0!</v></c><c r="C3" t="inlineStr"><is><t>a "b", c</t></is></c></row>"#;
    let shared = [
        "<t>plain</t>",
        "<r><t xml:space=\"preserve\">in </t></r><r><rPr><b/></rPr><t>pieces</t></r><rPh sb=\"0\" eb=\"1\"><t>x</t></rPh>",
    ];
    let expected = "## Sheet: Owls &amp; more\n\nplain,in pieces\nin runs,,of a formula\nTRUE,#DIV/0!,\"a \"\"b\"\", c\"";
    let expected = expected.replace("&amp;", "&");
    assert_eq!(text(&workbook(&[("Owls &amp; more", rows)], &shared, "")), expected);
}

#[test]
fn numbers_are_shown_as_their_formats_say() {
    let rows = r#"<row r="1"><c r="A1" s="1"><v>45352</v></c><c r="B1" s="2"><v>0.25</v></c><c r="C1" s="3"><v>0.1234</v></c></row>
        <row r="2"><c r="A2" s="4"><v>1.0423611</v></c><c r="B2" s="5"><v>45352.5</v></c><c r="C2"><v>0.30000000000000004</v></c></row>
        <row r="3"><c r="A3"><v>1E+25</v></c><c r="B3"><v>-1200.5</v></c><c r="C3"><v>12345678901</v></c></row>"#;
    let expected =
        "## Sheet: S\n\n2024-03-01,25%,12.3%\n25:01:00,2024-03-01 12:00,0.3\n1e25,-1200.5,12345678901";
    assert_eq!(text(&workbook(&[("S", rows)], &[], "")), expected);
    let since_1904 = workbook(
        &[("S", "<row r=\"1\"><c r=\"A1\" s=\"1\"><v>43890</v></c></row>")],
        &[],
        "<workbookPr date1904=\"1\"/>",
    );
    assert_eq!(text(&since_1904), "## Sheet: S\n\n2024-03-01");
}

#[test]
fn colours_and_languages_in_brackets_are_no_part_of_a_format() {
    let rows = r#"<row r="1"><c r="A1" s="6"><v>45352</v></c><c r="B1" s="7"><v>45352.5</v></c><c r="C1" s="8"><v>45352.5</v></c></row>"#;
    assert_eq!(text(&workbook(&[("S", rows)], &[], "")), "## Sheet: S\n\n2024-03-01,12:00,12:00");
}

#[test]
fn sheets_begin_at_their_first_cell_and_gaps_are_one_empty_line() {
    let rows = r#"<row r="3"><c r="C3"><v>1</v></c><c r="E3"><v>2</v></c></row><row r="900"><c r="D900"><v>3</v></c></row>
        <row r="901"><c r="XFA901"><v>4</v></c></row>"#;
    let DocumentText { text, notes } = whole(&workbook(&[("Far", rows), ("Empty", "")], &[], ""));
    let note = "Only the first 256 columns of the sheet “Far” were read.";
    assert_eq!(text, format!("## Sheet: Far\n\n[{note}]\n\n1,,2\n\n,3\n\n## Sheet: Empty"));
    assert_eq!(notes, [note]);
}

#[test]
fn of_a_long_sheet_the_first_rows_are_read_and_that_is_said() {
    let rows: String =
        (1..=20_500).map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\"><v>{row}</v></c></row>")).collect();
    let DocumentText { text, notes } = whole(&workbook(&[("Long", &rows)], &[], ""));
    assert_eq!(notes, ["Only the first 20000 of 20500 rows of the sheet “Long” were read."]);
    assert!(text.contains(&notes[0]) && text.ends_with("\n19999\n20000"), "{}", &text[text.len() - 40..]);
}

#[test]
fn formulas_that_were_never_computed_are_counted_in_a_note() {
    let rows = r#"<row r="1"><c r="A1"><v>2</v></c><c r="B1"><f>A1*2</f><v>4</v></c><c r="C1" t="str"><f>""</f><v></v></c><c r="D1" s="1"/></row>
        <row r="2"><c r="A2"><f>SUM(A1:B1)</f><v></v></c><c r="B2"><f t="shared" ref="B2:B3" si="0">A1+1</f></c></row>
        <row r="3"><c r="B3"><f t="shared" si="0"/></c></row>"#;
    let one = r#"<row r="1"><c r="A1"><f>1+1</f></c></row>"#;
    let DocumentText { text, notes } = whole(&workbook(&[("S", rows), ("T", one)], &[], ""));
    let expected = [
        "3 formulas of the sheet “S” are left out: their results are not in the file.",
        "1 formula of the sheet “T” is left out: its result is not in the file.",
    ];
    assert_eq!(notes, expected);
    assert_eq!(text, format!("## Sheet: S\n\n[{}]\n\n2,4\n\n## Sheet: T\n\n[{}]", expected[0], expected[1]));
}

#[test]
fn a_binary_workbook_is_read_however_far_apart_its_cells_are() {
    let words = |text: &str| {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [&u32::try_from(text.len()).unwrap().to_le_bytes()[..], &units].concat()
    };
    // Records: a type in one or two bytes, how many bytes follow, and those.
    let record =
        |kind: &[u8], content: &[u8]| [kind, &[u8::try_from(content.len()).unwrap()], content].concat();
    let row = |row: u32| record(&[0], &row.to_le_bytes());
    let cell = |column: u32, value: f64| {
        record(&[5], &[&column.to_le_bytes()[..], &[0; 4], &value.to_le_bytes()].concat())
    };
    let sheet = |id: &str, name: &str| record(&[0x9c, 1], &[vec![0; 8], words(id), words(name)].concat());
    let ends = [record(&[0x90, 1], &[]), record(&[0x9d, 1], &[])].concat();
    let book = [sheet("rId1", "Far"), sheet("rId2", "Gone"), ends].concat();
    let cells =
        [row(0), cell(1, 0.5), row(1), cell(0, 2.0), row(1_048_575), cell(255, 3.0), cell(16_383, 4.0)];
    let begins = [record(&[0x94, 1], &[0; 16]), record(&[0x91, 1], &[])].concat();
    let cells = [begins, cells.concat(), record(&[0x92, 1], &[])].concat();
    let others = relations(&[
        ("rId1", "worksheet", "worksheets/sheet1.bin"),
        ("rId2", "worksheet", "worksheets/sheet2.bin"),
    ]);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [
        ("xl/workbook.bin", &*book),
        ("xl/_rels/workbook.bin.rels", others.as_bytes()),
        ("xl/worksheets/sheet1.bin", &cells),
    ] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    let DocumentText { text, notes } = whole(&zip.finish().unwrap().into_inner());
    let note = "Only the first 256 columns of the sheet “Far” were read.";
    assert_eq!(notes, [note]);
    let expected = format!("## Sheet: Far\n\n[{note}]\n\n,0.5\n2\n\n{}3", ",".repeat(255));
    assert_eq!(text, expected);
}

#[test]
fn hidden_sheets_are_named_as_such() {
    let bytes = workbook(&[("S\" state=\"hidden", "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row>")], &[], "");
    assert_eq!(text(&bytes), "## Sheet: S (hidden)\n\n1");
}

#[test]
fn a_workbook_that_is_none_says_what_it_is() {
    // By its content, whatever it is called.
    let word = super::word::document("<w:p><w:r><w:t>A letter.</w:t></w:r></w:p>", &[]);
    assert_eq!(read(&word, "a.xlsx").unwrap().text, "A letter.");
    let error = read(&archive(&[("owls.txt", "Hoo.")]), "a.xlsx").unwrap_err();
    assert_eq!(error.code(), "document_format");
    assert_eq!(
        error.to_string(),
        "This is a ZIP archive without a document that is known, which cannot be read here."
    );
}
