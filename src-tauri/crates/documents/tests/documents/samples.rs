//! Documents that other programs have written: python-docx, openpyxl, xlwt, python-pptx, EbookLib and odfpy.

use foretoken_documents::DocumentText;

use crate::{text, whole};

#[test]
fn documents_of_other_programs_are_read() {
    let word = "# Owls\n\n# Hearing\n\nThey hear well[^c0]\n\n- one\n- two\n1. first\n2. second\n\n\
                | wide |  | c |\n| --- | --- | --- |\n| 0 | 1 | 2 |\n\n[^c0]: Comment by Anna: Really?";
    assert_eq!(text(include_bytes!("../files/sample.docx")), word);
    // The program that wrote this one does not compute.
    let note = "1 formula of the sheet “Birds” is left out: its result is not in the file.";
    let excel = "Bird,Seen,Share,Time\nOwl,2024-03-01,25%,07:30\nSnowy owl,2024-03-01 07:30,33.3%,25:00:00\n\n\
                 merged\n\n## Sheet: Hidden (hidden)\n\n3.3";
    let expected = DocumentText {
        text: format!("## Sheet: Birds\n\n[{note}]\n\n{excel}"),
        notes: vec![note.to_owned()],
    };
    assert_eq!(whole(include_bytes!("../files/sample.xlsx")), expected);
    assert_eq!(text(include_bytes!("../files/sample.xls")), "## Sheet: Birds\n\nGröße,Seen\n12.5,2024-03-01");
    let slides = "## Slide 1: Owls\n\n- They hear\n  - at night\n\nNotes: Slowly.\n\n## Slide 2: Table\n\n\
                  | 00 | 01 |\n| --- | --- |\n| 10 | 11 |";
    assert_eq!(text(include_bytes!("../files/sample.pptx")), slides);
    let book = "# The Bell\n\nBy Anna\n\n## Snow\n\nSnow fell\u{a0}here.";
    assert_eq!(text(include_bytes!("../files/sample.epub")), book);
    assert_eq!(text(include_bytes!("../files/sample.ods")), "## Sheet: Birds\n\nBird,Share\nOwl,25 %");
}
