use proptest::prelude::*;

use super::*;
use crate::testing::chunks;

/// The pieces of an answer, and the number of bytes behind its end.
fn parse<S: AsRef<str>>(answer: &[S]) -> (Vec<CallPiece>, usize) {
    let mut parser = CallParser::default();
    let mut pieces: Vec<CallPiece> = answer.iter().flat_map(|piece| parser.push(piece.as_ref())).collect();
    let ended = parser.has_ended();
    pieces.extend(parser.finish());
    assert!(parser.has_ended() && (ended || parser.beyond().is_empty()));
    (merged(pieces), parser.beyond().len())
}

/// The pieces with neighbours of a kind joined.
fn merged(pieces: Vec<CallPiece>) -> Vec<CallPiece> {
    let mut all: Vec<CallPiece> = Vec::new();
    for piece in pieces {
        use CallPiece::{Markup, Quoted, Stray, Text, Value};
        match (all.last_mut(), piece) {
            (Some(Text(before)), Text(more))
            | (Some(Markup(before)), Markup(more))
            | (Some(Value(before)), Value(more))
            | (Some(Stray(before)), Stray(more)) => before.push_str(&more),
            (Some(Quoted { written, text }), Quoted { written: letters, text: more }) => {
                written.push_str(&letters);
                text.push_str(&more);
            }
            (_, piece) => all.push(piece),
        }
    }
    all
}

fn text_of(pieces: &[CallPiece]) -> String {
    let text =
        |piece: &CallPiece| if let CallPiece::Text(text) = piece { text.clone() } else { String::new() };
    pieces.iter().map(text).collect()
}

fn calls_of(pieces: &[CallPiece]) -> Vec<Call> {
    let call = |piece: &CallPiece| if let CallPiece::End(call) = piece { Some(call.clone()) } else { None };
    pieces.iter().filter_map(call).collect()
}

fn call(name: &str, arguments: &[(&str, &str)]) -> Call {
    let arguments = arguments.iter().map(|(name, value)| Argument::plain(name, value)).collect();
    Call { name: name.into(), arguments, ..Call::default() }
}

/// The calls of an answer that is not over with them, and its text.
fn read(answer: &str) -> (String, Vec<Call>) {
    let (pieces, beyond) = parse(&[answer]);
    assert_eq!(beyond, 0, "{answer:?}");
    (text_of(&pieces), calls_of(&pieces))
}

/// As the templates of the family write a call.
fn written(call: &Call) -> String {
    let argument =
        |Argument { name, value, .. }: &Argument| format!("<parameter={name}>\n{value}\n</parameter>\n");
    let arguments: String = call.arguments.iter().map(argument).collect();
    format!("<tool_call>\n<function={}>\n{arguments}</function>\n</tool_call>", call.name)
}

/// The calls of a call that is written like this between the tags of the function `f`.
fn within(arguments: &str) -> Call {
    let (text, mut calls) = read(&format!("<tool_call>\n<function=f>\n{arguments}</function>\n</tool_call>"));
    assert_eq!((text.as_str(), calls.len()), ("", 1));
    calls.remove(0)
}

fn value(written: &str) -> String {
    let call = within(&format!("<parameter=a>\n{written}</parameter>\n"));
    assert_eq!((call.arguments.len(), call.stray.as_str()), (1, ""), "{written:?}");
    call.arguments[0].value.clone()
}

#[test]
fn text_stands_before_calls_and_they_follow_each_other() {
    let weather = call("get_weather", &[("city", "Köln"), ("days", "3")]);
    let time = call("time.now-1", &[]);
    let answer = format!("I look.\n\n{}\n{}\n", written(&weather), written(&time));
    assert_eq!(read(&answer), ("I look.\n\n\n\n".into(), vec![weather, time]));
    assert_eq!(read("No call.\n"), ("No call.\n".into(), Vec::new()));
}

#[test]
fn a_call_is_told_as_it_comes() {
    use CallPiece::{End, Markup, Name, Parameter, Text, Value};
    let mut parser = CallParser::default();
    let markup = |text: &str| Markup(text.into());
    assert_eq!(parser.push("Yes <b> <tool"), [Text("Yes <b> ".into())]);
    assert_eq!(parser.push("_call>\n<function=ti"), []);
    let begun = [markup("<tool_call>\n<function=time>"), Name("time".into()), markup("\n")];
    assert_eq!(parser.push("me>\n<"), begun);
    assert_eq!(parser.push("parameter=at>"), [markup("<parameter=at>"), Parameter("at".into())]);
    assert_eq!(parser.push("\nno"), [markup("\n"), Value("no".into())]);
    assert_eq!(parser.push("on\n"), [Value("on".into())]);
    assert_eq!(parser.push("</parameter>\n"), []);
    let rest = [markup("\n</parameter>"), markup("\n"), markup("</function>"), markup("\n")];
    assert_eq!(parser.push("</function>\n"), rest);
    let end = [markup("</tool_call>"), End(call("time", &[("at", "noon")]))];
    assert_eq!(parser.push("</tool_call>"), end);
    assert_eq!(parser.push("\n"), [Text("\n".into())]);
    assert!(!parser.has_ended());
    assert_eq!(parser.push("So"), []);
    assert!(parser.has_ended());
}

#[test]
fn a_value_is_what_stands_between_one_line_break_and_another() {
    for (written, is) in [
        ("x\n", "x"),
        ("x", "x"),
        ("\n", ""),
        ("", ""),
        ("\n\n", "\n"),
        ("  x  \n\n", "  x  \n"),
        ("    def f():\n        return \"<b>\"\n", "    def f():\n        return \"<b>\""),
        ("false\n", "false"),
        ("x\r\n", "x\r"),
    ] {
        assert_eq!(value(written), is, "{written:?}");
    }
    assert_eq!(within("<parameter=a>x</parameter>").arguments, call("f", &[("a", "x")]).arguments);
}

#[test]
fn tags_that_end_nothing_are_content() {
    for content in [
        "a</parameter>b",
        "</parameter>",
        "</parameter>\n</parameter>",
        "</parameter>\n<parameter=>",
        "</function>",
        "a\n</function>\n</tool>",
        "The tag </tool_call> ends a call.",
        "</tool_call>",
        "a\n</function>\n</tool_call>\n\nb",
        "</tool_call>\n<tool_cal",
        "say <parameter=b>",
        "<parameter=b c>",
        "<tool_call>\n<function=g>",
        "<tool_response>\n1\n</tool_response>",
        "<|im_end|>",
    ] {
        assert_eq!(value(&format!("{content}\n")), content);
    }
}

#[test]
fn a_value_without_its_closing_tag_ends_where_the_next_tag_begins() {
    let unclosed = |names: &[&str], arguments: &[(&str, &str)]| {
        let unclosed = names.iter().map(|&name| name.to_owned()).collect();
        Call { unclosed, ..call("f", arguments) }
    };
    let two = |names: &[&str]| unclosed(names, &[("a", "x"), ("b", "y")]);
    assert_eq!(within("<parameter=a>\nx\n<parameter=b>\ny\n</parameter>\n"), two(&["a"]));
    assert_eq!(within("<parameter=a>\nx\n</parameter>\n<parameter=b>\ny\n"), two(&["b"]));
    assert_eq!(within("<parameter=a>\nx\n<parameter=b>\ny"), two(&["a", "b"]));
    let empty = unclosed(&["a", "b"], &[("a", ""), ("b", "y")]);
    assert_eq!(within("<parameter=a>\n<parameter=b>\ny\n"), empty);
    for (end, names) in [
        ("x\n</tool_call>", &["a"][..]),
        ("x</tool_call>", &["a"]),
        ("x</tool_call>\n\n", &["a"]),
        ("x\n</function></tool_call>\n", &["a"]),
        ("x\n</parameter>\n</tool_call>", &[]),
        ("x\n</parameter></tool_call>", &[]),
    ] {
        let answer = format!("<tool_call><function=f><parameter=a>{end}");
        let one = unclosed(names, &[("a", "x")]);
        assert_eq!(read(&answer).1, std::slice::from_ref(&one), "{end:?}");
        assert_eq!(read(&format!("{answer}{answer}")).1, [one.clone(), one], "{end:?}");
    }
}

/// Text that may be part of a tag is held, and looked at again with each piece: there is never much of it.
#[test]
fn little_text_is_held_whatever_comes() {
    const MANY: usize = 1_000_000;
    let value = "<tool_call><function=f><parameter=a>\n";
    for (start, endless) in [
        ("<tool_call>", ' '),
        ("<tool_call>", '\n'),
        ("<tool_call><function=", 'a'),
        ("<tool_call><function=f>", '\n'),
        ("<tool_call><function=f><parameter=", 'a'),
        (&format!("{value}</parameter>"), ' '),
        (&format!("{value}</function>"), '\n'),
        (&format!("{value}</tool_call>"), '\n'),
        (&format!("{value}<parameter="), 'a'),
        ("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"", 'a'),
        ("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": [", ' '),
    ] {
        let mut parser = CallParser::default();
        let mut written: String = parser.push(start).iter().map(CallPiece::written).collect();
        let mut looked_at = 0;
        for _ in 0..MANY {
            looked_at += parser.held.len() + 1;
            assert!(looked_at < 3 * MANY, "{start:?}");
            let pieces = parser.push(endless.encode_utf8(&mut [0; 4]));
            pieces.iter().for_each(|piece| written.push_str(piece.written()));
        }
        parser.finish().iter().for_each(|piece| written.push_str(piece.written()));
        assert!(written.len() == start.len() + MANY && parser.beyond().is_empty(), "{start:?}");
    }
}

#[test]
fn names_and_white_space_have_a_most() {
    let open = |name: usize, white: usize| {
        read(&format!("<tool_call>{}<function={}>", " ".repeat(white), "a".repeat(name))).1.len()
    };
    assert_eq!([open(256, 1024), open(257, 0), open(1, 1025)], [1, 0, 0]);
    assert!(is_name(&"a".repeat(256)) && !is_name(&"a".repeat(257)));
    assert!(is_parameter_name(&"é".repeat(128)) && !is_parameter_name(&"é".repeat(129)));
}

#[test]
fn parameters_may_be_called_as_their_tag_can_hold() {
    let names = ["$filter", "@type", "filter[x]", "a b", "größe", "a=b", "x:y/z", "\"q\"", "名前"];
    assert!(names.iter().all(|name| is_parameter_name(name)));
    let all: Vec<(&str, &str)> = names.iter().map(|name| (*name, "x\ny")).collect();
    let whole = call("f", &all);
    assert_eq!(read(&written(&whole)), (String::new(), vec![whole]));
    for name in ["", "a>b", "a<b", "a\nb", "a\u{7}"] {
        assert!(!is_parameter_name(name), "{name:?}");
    }
    // A line of a value that has no closing tag ends it by a name, and not by prose.
    let open = within("<parameter=a>\nx\n<parameter=$top>\ny\n</parameter>\n");
    assert_eq!(open, Call { unclosed: vec!["a".into()], ..call("f", &[("a", "x"), ("$top", "y")]) });
    let prose = within("<parameter=a>\nx\n<parameter=of a kind>\ny\n</parameter>\n");
    assert_eq!(prose, call("f", &[("a", "x\n<parameter=of a kind>\ny")]));
}

#[test]
fn a_tag_without_a_function_is_text() {
    for text in [
        "The tag <tool_call> begins a call.",
        "<tool_call>\n{\"title\": \"f\"}\n</tool_call>",
        "<tool_call>{ a }",
        "<tool_call><function=>",
        "<tool_call><function=a b>",
        "<tool_call><function=<|im_end|>>",
        "<function=f>\n</function>",
        "A <tool_response> holds a result.",
    ] {
        assert_eq!(read(text), (text.into(), Vec::new()));
    }
}

#[test]
fn what_belongs_to_no_argument_is_kept_with_the_call() {
    let stray =
        |stray: &str, arguments: &[(&str, &str)]| Call { stray: stray.into(), ..call("f", arguments) };
    assert_eq!(within("Paris, please\n"), stray("Paris, please", &[]));
    assert_eq!(
        within("<parameter city>\nx\n</parameter>\n"),
        stray("<parameter city>\nx\n</parameter>", &[])
    );
    assert_eq!(
        within("<parameter=a>\nx\n</parameter>\n<parameter=b>\ny\n</parameter>\n<b> \n"),
        Call { unclosed: vec!["b".into()], ..stray("", &[("a", "x"), ("b", "y\n</parameter>\n<b> ")]) }
    );
    assert_eq!(within("</function>\n<parameter=a>\n"), stray("<parameter=a>\n</function>", &[]));
}

#[test]
fn an_open_call_is_cut_unless_only_its_last_tag_is_missing() {
    let whole = written(&call("f", &[("a", "x\ny"), ("b", "")]));
    for end in whole.char_indices().map(|(at, _)| at).skip(CALL.len()) {
        let (text, calls) = read(&whole[..end]);
        assert_eq!((text.as_str(), calls.len()), ("", 1), "{:?}", &whole[..end]);
        let is_whole = whole[..end].contains(FUNCTION_END);
        assert!(calls[0].cut != is_whole && calls[0].stray.is_empty());
    }
    let cut = |answer: &str| read(answer).1.remove(0);
    let open = |arguments| Call { cut: true, ..call("f", arguments) };
    assert_eq!(cut("<tool_call>\n<function=wea"), Call { cut: true, ..call("", &[]) });
    let begun = "<tool_call>\n<function=f>\n<parameter=a>\nx";
    assert_eq!(cut(&format!("{begun}</para")), open(&[("a", "x</para")]));
    assert_eq!(cut(&format!("{begun}\n\n")), open(&[("a", "x\n\n")]));
    for closed in ["\n</parameter>", "\n</parameter>\n</func", "\n</function>", "\n</function>\n"] {
        assert_eq!(cut(&format!("{begun}{closed}")), open(&[("a", "x")]), "{closed:?}");
    }
}

#[test]
fn the_answer_ends_behind_the_calls_and_before_a_result() {
    let one = written(&call("f", &[("a", "x")]));
    for beyond in ["So", "<tool_response>\n12", "<tool_call>{", "<function=f>", "<|im_end|>", "é"] {
        let (pieces, bytes) = parse(&[format!("{one}\n"), beyond.to_owned(), " more".to_owned()]);
        assert_eq!((calls_of(&pieces).len(), text_of(&pieces).as_str()), (1, "\n"), "{beyond}");
        assert_eq!(bytes, beyond.len() + 5, "{beyond}");
    }
    let (pieces, bytes) = parse(&["I know.\n<tool_resp", "onse>12"]);
    assert_eq!((text_of(&pieces).as_str(), bytes), ("I know.\n", RESPONSE.len() + 2));
    assert_eq!(parse(&["<tool_response>"]), (Vec::new(), RESPONSE.len()));
}

/// A call in JSON, in pieces that show where its letters go.
#[test]
fn a_call_in_json_is_told_as_it_comes() {
    use CallPiece::{End, Json, Markup, Name, Parameter, Quoted, Text};
    let mut parser = CallParser::default();
    let markup = |text: &str| Markup(text.into());
    let quoted = |written: &str, text: &str| Quoted { written: written.into(), text: text.into() };
    assert_eq!(parser.push("So <tool_call>\n{\"na"), [Text("So ".into())]);
    let begun = [markup("<tool_call>\n{\"name\": \"f\""), Name("f".into()), markup(", ")];
    assert_eq!(parser.push("me\": \"f\", "), begun);
    let key = [markup("\"arguments\": {\"a\""), Parameter("a".into()), markup(": ")];
    assert_eq!(parser.push("\"arguments\": {\"a\": "), key);
    assert_eq!(parser.push("\"x\\u00e"), [markup("\""), quoted("x\\u00e", "x")]);
    let next = [quoted("9", "é"), markup("\", \"b\""), Parameter("b".into()), markup(": [1")];
    assert_eq!(parser.push("9\", \"b\": [1"), next);
    assert_eq!(parser.push(", 2]}"), [markup(", 2]"), Json("[1,2]".into()), markup("}")]);
    let json = |name: &str, value: &str, form| Argument { form, ..Argument::plain(name, value) };
    let arguments = vec![json("a", "xé", ValueForm::Quoted), json("b", "[1,2]", ValueForm::Json)];
    let call = Call { name: "f".into(), arguments, ..Call::default() };
    let end = [markup("}"), markup("\n"), markup("</tool_call>"), End(call)];
    assert_eq!(parser.push("}\n</tool_call>"), end);
    assert!(!parser.has_ended());
}

/// The name and the arguments, each with how it was written, of the only call in an answer.
fn in_json(object: &str) -> (String, Vec<(String, String, ValueForm)>) {
    let (text, mut calls) = read(&format!("<tool_call>\n{object}\n</tool_call>"));
    assert_eq!((text.as_str(), calls.len()), ("", 1), "{object}");
    let Call { name, arguments, stray, unclosed, cut, broken, .. } = calls.remove(0);
    assert!(stray.is_empty() && unclosed.is_empty() && !cut && !broken, "{object}");
    (name, arguments.into_iter().map(|Argument { name, value, form }| (name, value, form)).collect())
}

#[test]
fn json_may_be_written_in_any_order_and_with_any_blanks() {
    use ValueForm::{Json, Quoted};
    let one = |name: &str, value: &str, form| vec![(name.to_owned(), value.to_owned(), form)];
    for (object, arguments) in [
        (r#"{"name": "f", "arguments": {}}"#, vec![]),
        (r#"{"name": "f"}"#, vec![]),
        (r#"{"name": "f", "arguments": null}"#, vec![]),
        (r#"{"name": "f", "arguments": ""}"#, vec![]),
        (r#"{"arguments": {"a": "x"}, "name": "f"}"#, one("a", "x", Quoted)),
        ("{ \n\"name\" :\"f\",\"arguments\"\t:{ \"a\" : 1.50 } }", one("a", "1.5", Json)),
        (r#"{"id": [1, "}"], "name": "f", "arguments": {"a": true}}"#, one("a", "true", Json)),
        (r#"{"name": "f", "arguments": {"a": None}}"#, one("a", "null", Json)),
        (r#"{"name": "f", "arguments": "{\"a\": \"\\u00e9\\n\"}"}"#, one("a", "é\n", Quoted)),
        (r#"{"arguments": "{\"a\": {\"b\": 1}}", "name": "f"}"#, one("a", r#"{"b":1}"#, Json)),
        (r#"{"name": "f", "arguments": {"a": ""}}"#, one("a", "", Quoted)),
        (r#"{"name": "f", "arguments": {"a": "</tool_call>"}}"#, one("a", "</tool_call>", Quoted)),
        (r#"{"name": "f", "arguments": {"a": "\ud83e\uDD80 \/"}}"#, one("a", "🦀 /", Quoted)),
        ("{\"name\": \"f\", \"arguments\": {\"a\": \"x\ny\"}}", one("a", "x\ny", Quoted)),
        ("{\"name\": \"f\", \"arguments\": {\"a\": [\"x\ny\"]}}", one("a", r#"["x\ny"]"#, Json)),
    ] {
        assert_eq!(in_json(object), ("f".to_owned(), arguments));
    }
}

#[test]
fn json_that_cannot_go_on_is_a_broken_call_or_text() {
    for object in [
        r#"{"name": "f", "arguments": {"a": 1}"#,
        r#"{"name": "f", "arguments": {"a": 01}}"#,
        r#"{"name": "f", "arguments": {"a": "\x"}}"#,
        r#"{"name": "f", "arguments": {"a": "\ud83e!"}}"#,
        r#"{"name": "f", "arguments": {"a": [1}}}"#,
        r#"{"name": "f", "arguments": {"a" 1}}"#,
        r#"{"name": "f", "arguments": {"a": 1,}}"#,
        r#"{"name": "f", "arguments": [1]}"#,
        r#"{"name": "f", "arguments": "x"}"#,
        r#"{"name": "f", "arguments": "{\"a\": 1"}"#,
        r#"{"name": "f", "arguments": "\"{}\""}"#,
        r#"{"name": "f", "name": "g"}"#,
        r#"{"name": "f", "arguments": {}, "arguments": {}}"#,
        "{\"name\": \"f\",\n<function=f>\n</function>",
    ] {
        let answer = format!("<tool_call>\n{object}\n</tool_call>");
        let (text, calls) = read(&answer);
        assert_eq!((text.as_str(), calls.len(), calls[0].name.as_str()), ("", 1, "f"), "{object}");
        assert!(calls[0].broken && !calls[0].cut, "{object}");
    }
    for object in [
        "{}",
        r#"{"name": 5}"#,
        r#"{"name": "a b", "arguments": {}}"#,
        r#"{"name": ""}"#,
        r#"{"arguments": {"a": 1}}"#,
        r#"{"arguments": {"a": [}, "name": "f"}"#,
        "{\"na</tool_call>",
    ] {
        let answer = format!("<tool_call>\n{object}\n</tool_call> So.");
        // The last one ends in its key.
        let is_open = object.ends_with('>');
        let read = read(&answer);
        assert_eq!(read.1.len(), usize::from(is_open), "{object}");
        assert!(is_open || read.0 == answer);
    }
    // What follows an object belongs to no argument.
    let (_, calls) = read("<tool_call>\n{\"name\": \"f\"}}\n</tool_call>");
    assert_eq!((calls[0].stray.as_str(), calls[0].broken), ("}", false));
}

#[test]
fn an_open_call_in_json_is_cut_unless_only_its_last_tag_is_missing() {
    let whole = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}\n</tool_call>";
    let object = whole.find("}}").unwrap() + 2;
    for end in CALL.len()..whole.len() {
        let (text, calls) = read(&whole[..end]);
        assert_eq!((text.as_str(), calls.len()), ("", 1), "{:?}", &whole[..end]);
        assert_eq!(calls[0].cut, end < object, "{:?}", &whole[..end]);
    }
    let behind = "<tool_call>{\"name\": \"f\"}</tool_call>\n<tool_call>{\"title\": 1";
    let (pieces, beyond) = parse(&[behind]);
    assert_eq!((calls_of(&pieces).len(), beyond), (2, 0), "not yet broken");
    let (pieces, beyond) = parse(&[behind, "}"]);
    assert_eq!((calls_of(&pieces).len(), beyond), (1, 23));
}

#[test]
fn calls_of_known_tools_need_no_tag_around_them() {
    let read = |answer: &str| {
        let parse = |pieces: &mut dyn Iterator<Item = String>| {
            let mut parser = CallParser::for_tools(["f", "go"].into_iter());
            let mut read: Vec<CallPiece> = pieces.flat_map(|piece| parser.push(&piece)).collect();
            read.extend(parser.finish());
            (text_of(&read), calls_of(&read), parser.beyond().len())
        };
        let whole = parse(&mut [answer.to_owned()].into_iter());
        assert_eq!(parse(&mut answer.chars().map(String::from)), whole, "{answer:?}");
        whole
    };
    let body = "<parameter=a>\nx\n</parameter>\n</function>";
    let one = call("f", &[("a", "x")]);
    for end in ["", "\n", "\n</tool_call>", "</tool_call>\n", "\n</tool"] {
        let (text, calls, beyond) = read(&format!("I look.\n\n<function=f>\n{body}{end}"));
        assert_eq!((text.trim_end(), calls, beyond), ("I look.", vec![one.clone()], 0), "{end:?}");
    }
    let two = format!("<function=f>\n{body}\n<function=go>\n</function>\n</tool_call>\n");
    assert_eq!(read(&two).1, [one.clone(), call("go", &[])]);
    assert_eq!(read(&format!("<function=f>\n{body}\nSo")).2, 2);
    assert_eq!(read(&format!("{}\n<function=f>\n{body}", written(&one))).1.len(), 2);
    for text in [
        "Call <function=f>\n</function>",
        "<function=g>\n</function>",
        "<function=fo>\n</function>",
        "<function=",
    ] {
        assert_eq!(read(text), (text.to_owned(), Vec::new(), 0));
    }
    assert!(read("<function=f>\n<parameter=a>\nx").1[0].cut);
}

/// Answers in which tags, parts of tags and line breaks are frequent.
fn answer() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<tool_call>",
        "</tool_call>",
        "<function=f>",
        "</function>",
        "<parameter=a>",
        "<parameter=",
        "</parameter>",
        "<tool_response>",
        "\n",
        "\n",
        " ",
        "<",
        ">",
        "</",
        "tool_",
        "{",
        "\"name\": \"f\"",
        "\"arguments\": ",
        ",",
        "\\",
        "\"",
        "}",
        "[",
        "]",
        "1",
        "é",
        "x",
    ]);
    let start = prop::sample::select(vec![
        "",
        "<tool_call>\n<function=f>\n",
        "<tool_call><function=f><parameter=b>\n",
        "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": ",
        "<tool_call>\n{\"arguments\": {\"a\": 1}",
    ]);
    (start, prop::collection::vec(piece, 0..24))
        .prop_map(|(start, pieces)| start.to_owned() + &pieces.concat())
}

/// Values of which none ends where its content does not.
fn content() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "</parameter>",
        "</function>",
        "</tool_call>",
        "<tool_call>",
        "<function=f>",
        "<parameter=",
        "<parameter=a>",
        "<",
        "</",
        "\n",
        " ",
        "\"",
        "é",
        "x",
        "🦀",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()).prop_filter(
        "ends inside",
        |value| {
            // The definition: no tag of a call behind a closing tag, no call behind the end of one, and no line
            // that opens a parameter.
            let whole = format!("\n{value}\n</parameter>\n");
            let tight: String = whole.split_ascii_whitespace().collect();
            !whole.contains("\n<parameter=a>")
                && !tight.contains("</tool_call><tool_call>")
                && !["<parameter=a>", "</function>", "</tool_call>"]
                    .iter()
                    .any(|tag| tight.contains(&format!("</parameter>{tag}")))
        },
    )
}

fn any_call() -> impl Strategy<Value = Call> {
    let name = "[A-Za-z0-9_.-]{1,8}";
    let argument = (name, content()).prop_map(|(name, value)| Argument::plain(&name, &value));
    (name, prop::collection::vec(argument, 0..4)).prop_map(|(name, arguments)| Call {
        name,
        arguments,
        ..Call::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_split_reads_alike_and_no_text_is_lost(
        answer in answer(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let (pieces, beyond) = parse(&chunks(&answer, &cuts));
        let letters: Vec<String> = answer.chars().map(String::from).collect();
        prop_assert_eq!(&(pieces.clone(), beyond), &parse(&[&answer]));
        prop_assert_eq!(&(pieces.clone(), beyond), &parse(&letters));
        let all: String = pieces.iter().map(CallPiece::written).collect();
        prop_assert_eq!(&all, &answer[..answer.len() - beyond]);
        // What was told as it came is what the calls hold in the end.
        let values: String = pieces.iter().map(|piece| match piece {
            CallPiece::Value(text) | CallPiece::Quoted { text, .. } | CallPiece::Json(text) => text.as_str(),
            _ => "",
        }).collect();
        let calls = calls_of(&pieces);
        let arguments = || calls.iter().flat_map(|call| &call.arguments);
        prop_assert_eq!(values, arguments().map(|argument| argument.value.as_str()).collect::<String>());
        let count = |kind: fn(&CallPiece) -> bool| pieces.iter().filter(|piece| kind(piece)).count();
        prop_assert_eq!(count(|piece| matches!(piece, CallPiece::Parameter(_))), arguments().count());
    }

    #[test]
    fn calls_read_as_they_were_written(
        text in "[a-z .\n🦀]{0,12}",
        calls in prop::collection::vec(any_call(), 1..4),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let all: Vec<String> = calls.iter().map(written).collect();
        let (pieces, beyond) = parse(&chunks(&format!("{text}{}", all.join("\n")), &cuts));
        prop_assert_eq!(beyond, 0);
        prop_assert_eq!(text_of(&pieces), text + &"\n".repeat(calls.len() - 1));
        prop_assert_eq!(calls_of(&pieces), calls);
    }
}
