//! PowerPoint's presentations.

use crate::{archive, relations, text};

const NAMES: &str = "xmlns:a=\"a\" xmlns:p=\"p\" xmlns:r=\"r\"";

fn shape(placeholder: &str, paragraphs: &[&str]) -> String {
    let paragraphs: String = paragraphs.iter().map(|text| format!("<a:p>{text}</a:p>")).collect();
    format!(
        "<p:sp><p:nvSpPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>"
    )
}

fn run(text: &str) -> String {
    format!("<a:r><a:t>{text}</a:t></a:r>")
}

fn slide(attributes: &str, shapes: &str) -> String {
    format!("<p:sld {NAMES} {attributes}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>")
}

#[test]
fn slides_are_in_the_order_of_the_presentation_with_titles_and_notes() {
    let presentation = format!(
        "<p:presentation {NAMES}><p:sldIdLst><p:sldId id=\"256\" r:id=\"rId5\"/><p:sldId id=\"257\" r:id=\"rId3\"/>\
         <p:sldId id=\"258\" r:id=\"rIdGone\"/></p:sldIdLst></p:presentation>"
    );
    let deeper = format!("<a:pPr lvl=\"1\"/>{}", run("at night"));
    let bare = format!("<a:pPr><a:buNone/></a:pPr>{}", run("No mark."));
    let link = "<a:r><a:rPr><a:hlinkClick r:id=\"rIdL\"/></a:rPr><a:t>more</a:t></a:r>";
    let first = slide(
        "",
        &[
            shape("<p:ph idx=\"1\"/>", &[&run("They hear"), &deeper, &bare, link]),
            shape("<p:ph type=\"title\"/>", &[&[run("Owls"), "<a:br/>".into(), run("hear")].concat()]),
            shape("<p:ph type=\"sldNum\"/>", &["<a:fld><a:t>1</a:t></a:fld>"]),
            shape("", &[&run("A box.")]),
        ]
        .concat(),
    );
    let cell = |text: &str| format!("<a:tc><a:txBody><a:p>{}</a:p></a:txBody></a:tc>", run(text));
    let table = format!(
        "<p:graphicFrame><a:graphic><a:tbl><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr></a:tbl></a:graphic></p:graphicFrame>",
        cell("Bird"),
        cell("Hz"),
        cell("Owl"),
        cell("8000")
    );
    let second = slide("show=\"0\"", &table);
    let notes = format!(
        "<p:notes {NAMES}>{}{}</p:notes>",
        shape("<p:ph type=\"body\" idx=\"1\"/>", &[&run("Speak slowly.")]),
        shape("<p:ph type=\"sldNum\"/>", &[&run("1")])
    );
    let diagram = format!(
        "<dgm:dataModel xmlns:dgm=\"d\" {NAMES}><dgm:pt><dgm:t><a:p>{}</a:p></dgm:t></dgm:pt></dgm:dataModel>",
        run("Ear")
    );
    let bytes = archive(&[
        ("_rels/.rels", &relations(&[("rId1", "officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml", &presentation),
        (
            "ppt/_rels/presentation.xml.rels",
            &relations(&[("rId3", "slide", "slides/slide1.xml"), ("rId5", "slide", "slides/slide2.xml")]),
        ),
        ("ppt/slides/slide2.xml", &first),
        (
            "ppt/slides/_rels/slide2.xml.rels",
            &relations(&[
                ("rIdL", "hyperlink", "https://owls.example"),
                ("rIdN", "notesSlide", "../notesSlides/notesSlide1.xml"),
                ("rIdD", "diagramData", "../diagrams/data1.xml"),
            ]),
        ),
        ("ppt/notesSlides/notesSlide1.xml", &notes),
        ("ppt/diagrams/data1.xml", &diagram),
        ("ppt/slides/slide1.xml", &second),
    ]);
    let expected = "## Slide 1: Owls hear\n\n- They hear\n  - at night\n\nNo mark.\n\n- [more](https://owls.example)\n\nA box.\n\n\
                    Ear\n\nNotes: Speak slowly.\n\n## Slide 2 (hidden)\n\n| Bird | Hz |\n| --- | --- |\n| Owl | 8000 |";
    assert_eq!(text(&bytes), expected);
}
