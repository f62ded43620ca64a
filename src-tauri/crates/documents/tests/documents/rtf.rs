//! Rich text, as Word, WordPad and TextEdit write it.

use crate::text;

#[test]
fn characters_are_decoded_however_they_are_written() {
    let source = br"{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Helvetica;}}{\*\generator no;}{\info{\title no}}
\f0 Gr\'fc\'dfe \u9731? and \u-10179\'3f\u-8704\'3f {\b bold}{\v hidden} \{x\}\~y\line z\par
{\uc0\u8364}5 \ldblquote a\rdblquote\emdash b\par}";
    assert_eq!(text(source), "Grüße ☃ and 😀 bold {x}\u{a0}y\nz\n\n€5 “a”—b");
    let japanese = br"{\rtf1\ansi\ansicpg932 \'83\'74\'83\'4e\'83\'8d\'83\'45}";
    assert_eq!(text(japanese), "フクロウ");
}

#[test]
fn headings_lists_tables_and_notes_are_markdown() {
    let source = br"{\rtf1\ansi{\pard\outlinelevel0 Owls\par}
\pard{\listtext\'b7\tab}one\par{\listtext 2.\tab}two\par
\pard Hear{\footnote \pard Well.} {\field{\*\fldinst HYPERLINK x}{\fldrslt this}}.{\pict 0a0b\bin4 }}}}}\par
\trowd\cellx1\cellx2\intbl a\cell b\par c\cell\row\trowd\cellx1\cellx2\pard\intbl\cell d\cell\row\pard After.\par}";
    let expected = "# Owls\n\n- one\n2. two\n\nHear [Note: Well.] this.\n\n| a | b<br>c |\n| --- | --- |\n|  | d |\n\nAfter.";
    assert_eq!(text(source), expected);
}

#[test]
fn fonts_have_character_sets_of_their_own() {
    let source = br"{\rtf1\ansi\ansicpg1252\deff2{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fnil\fcharset204{\*\falt Arial}Arial CYR;}{\f2\fcharset238 Arial CE;}\f3\fcharset128 Osaka;}
\'f8\par {\f0 Gr\'fc\'dfe {\f1\'d1\'ee\'e2\'e0 }\'fc}\par
\pard\plain\f3 \'83\'74\'83\'4e\'83\'8d\'83\'45\plain\'f8\par}";
    assert_eq!(text(source), "ř\n\nGrüße Сова ü\n\nフクロウř");
}

#[test]
fn tables_within_cells_keep_their_cells_and_rows_apart() {
    let source = br"{\rtf1\ansi\trowd\cellx1\cellx2\pard\intbl outer\cell
\pard\intbl\itap2 a\nestcell b\nestcell{\*\nesttableprops\trowd\cellx1\cellx2\nestrow}{\nonesttables\par}
\pard\intbl\itap2 c\nestcell d\nestcell{\*\nesttableprops\trowd\cellx1\cellx2\nestrow}{\nonesttables\par}
\pard\intbl after\cell\row\pard End.\par}";
    assert_eq!(text(source), "| outer | a\tb<br>c\td<br>after |\n| --- | --- |\n\nEnd.");
}
