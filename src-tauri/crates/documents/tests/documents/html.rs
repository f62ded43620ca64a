//! Pages of the web.

use foretoken_documents::{is_document, read};

fn text(source: &str) -> String {
    read(source.as_bytes(), "page.html").unwrap().text
}

#[test]
fn a_page_is_what_its_reader_sees() {
    let source = "<!doctype html><html><head><title>Owls  &amp;\n more</title><style>p { color: red }</style></head><body>
        <script>let hidden = '<p>no</p>';</script><noscript>no</noscript>
        <h2>Hearing</h2><p>They <b>hear</b> a
        mouse&nbsp;under <a href='https://snow.example/a'>the snow</a>.<p hidden>no<p style='color: red; DISPLAY : none'>no
        <p>Second<br>line.<div><div>Deep</div> down</div>
        <svg><text>no</text></svg><img src=a alt='An owl'><img src=b alt=''>
        <a href='#top'>up</a> <a href='javascript:no()'>go</a><button>no</button></body></html>";
    let expected = "# Owls & more\n\n## Hearing\n\nThey hear a mouse\u{a0}under [the snow](https://snow.example/a).\n\n\
                    Second\nline.\n\nDeep\n\ndown\n\n[Picture: An owl] up go";
    assert_eq!(text(source), expected);
}

#[test]
fn lists_tables_and_programs_are_markdown() {
    let source = "<h1>A</h1><ul><li>one<ul><li>deeper</ul><li><p>two</p><p>more</p></ul><ol start=3><li>three<li>four</ol>
        <table><caption>Birds</caption><tr><th rowspan=2>Owl<th colspan=2>Ears</tr><tr><td>left<td>right | up</tr><tr><td><td>a<br>b<td></table>
        <table><tr><td><p>Only</p><p>layout</p></td></tr></table><pre>if x:\n    y()\n</pre>";
    let expected = "# A\n\n- one\n  - deeper\n- two\n\nmore\n\n3. three\n4. four\n\n\
                    | Birds |  |  |\n| --- | --- | --- |\n| Owl | Ears |  |\n|  | left | right \\| up |\n|  | a<br>b |  |\n\n\
                    Only\nlayout\n\n```\nif x:\n    y()\n```";
    assert_eq!(text(source), expected);
}

#[test]
fn a_page_is_decoded_as_it_says() {
    let page = b"<meta charset=windows-1252><p>Gr\xfc\xdfe";
    assert_eq!(read(page, "a.htm").unwrap().text, "Grüße");
    let units: Vec<u8> = "\u{feff}<p>Grüße".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(is_document(&units, "a.html"));
    assert_eq!(read(&units, "a.html").unwrap().text, "Grüße");
}

#[test]
fn elements_may_lie_as_deep_as_they_like() {
    let source = format!("{}deep", "<div><span>".repeat(2_000));
    assert_eq!(text(&source), "deep");
}
