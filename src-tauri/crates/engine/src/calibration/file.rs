//! A file of the person's: text, Markdown, or a JSON object on each line. Nothing of what it says is in any error.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use foretoken_calls::Tools;
use foretoken_protocol::ChatMessage;
use serde::Deserialize;
use serde_json::Value;

use super::{CalibrationError, Document, LONGEST_SEQUENCE, Renderer, Source, Texts, digest};
use crate::text::TextError;

/// Tokens that a file must come to: eight full sequences.
pub const LEAST_TOKENS: usize = 8 * LONGEST_SEQUENCE;

/// Bytes that a file may hold.
pub const MOST_BYTES: u64 = 64 << 20;

/// A section of fewer tokens goes on in the next one: a heading alone says nothing.
const LEAST_SECTION: usize = 32;

/// The parts of a file, as the model reads them. Text and Markdown are divided at headings and blank lines into
/// documents of [`LONGEST_SEQUENCE`] tokens at most, longer ones where a paragraph is; of `.jsonl` each line is one.
pub fn from_file(path: &Path, renderer: &Renderer) -> Result<Texts, CalibrationError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let documents: fn(&str, &Renderer) -> Result<Vec<Document>, CalibrationError> =
        match extension.to_lowercase().as_str() {
            "txt" => |text, renderer| of_paragraphs(text, false, renderer),
            "md" => |text, renderer| of_paragraphs(text, true, renderer),
            "jsonl" => of_lines,
            _ => return Err(CalibrationError::OtherKind { path: path.to_owned() }),
        };
    let bytes = read(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = 1 + newlines(&bytes[..error.valid_up_to()]);
        CalibrationError::NotUtf8 { path: path.to_owned(), line }
    })?;
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(CalibrationError::Empty { path: path.to_owned() });
    }
    let documents = documents(text, renderer)?;
    let tokens = documents.iter().map(|document| document.ids.len()).sum();
    if tokens < LEAST_TOKENS {
        return Err(CalibrationError::TooShort { tokens, needed: LEAST_TOKENS });
    }
    Ok(Texts { source: Source::File, sha256: digest::of_bytes(&bytes), documents })
}

fn read(path: &Path) -> Result<Vec<u8>, CalibrationError> {
    let unreadable = |source| CalibrationError::Unreadable { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    // One more than allowed tells, whatever the file system says of its length.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(CalibrationError::TooLarge { path: path.to_owned(), most_bytes: MOST_BYTES });
    }
    Ok(bytes)
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// The documents of a text; `headings`: a Markdown heading begins one.
fn of_paragraphs(text: &str, headings: bool, renderer: &Renderer) -> Result<Vec<Document>, CalibrationError> {
    let (mut documents, mut ids) = (Vec::new(), Vec::new());
    let paragraphs = paragraphs(text, headings);
    // Nothing is left out but blank lines at the beginning.
    let read: usize = paragraphs.iter().map(|paragraph| paragraph.text.len()).sum();
    let mut line = 1 + newlines(&text.as_bytes()[..text.len() - read]);
    let mut place = line;
    for Paragraph { text, is_heading } in paragraphs {
        // It ends with its newlines, behind which a token always begins.
        let paragraph = renderer.text(text)?;
        let is_full = ids.len() + paragraph.len() > LONGEST_SEQUENCE;
        if !ids.is_empty() && (is_full || is_heading && ids.len() >= LEAST_SECTION) {
            documents.push(Document { ids: std::mem::take(&mut ids), place });
            place = line;
        }
        ids.extend(paragraph);
        line += newlines(text.as_bytes());
    }
    if !ids.is_empty() {
        documents.push(Document { ids, place });
    }
    Ok(documents)
}

/// Text up to the blank lines behind it, these included.
#[derive(Debug, PartialEq, Eq)]
struct Paragraph<'a> {
    text: &'a str,
    is_heading: bool,
}

/// A text in paragraphs, nothing left out but blank lines at its beginning. With `headings`, a heading of Markdown
/// begins one, and a fenced block of code is not divided.
fn paragraphs(text: &str, headings: bool) -> Vec<Paragraph<'_>> {
    let (mut found, mut begin, mut end) = (Vec::<Paragraph<'_>>::new(), 0, 0);
    let (mut behind_blank, mut is_heading, mut fence) = (true, false, None);
    for line in text.split_inclusive('\n') {
        let (content, is_blank) = (line.trim_start(), line.trim().is_empty());
        let heads = headings && fence.is_none() && is_heading_line(line);
        let begins = !is_blank && fence.is_none() && (behind_blank || heads);
        if begins {
            if !text[begin..end].trim().is_empty() {
                found.push(Paragraph { text: &text[begin..end], is_heading });
            }
            (begin, is_heading) = (end, heads);
        }
        if headings {
            fence = match fence {
                None => fence_mark(content),
                Some(mark) if closes(content, mark) => None,
                open => open,
            };
        }
        (behind_blank, end) = (is_blank, end + line.len());
    }
    if !text[begin..].trim().is_empty() {
        found.push(Paragraph { text: &text[begin..], is_heading });
    }
    found
}

/// Whether a line is `#` to `######` and a title.
fn is_heading_line(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - title.len())) && title.starts_with([' ', '\t'])
}

/// What a block of code that this line opens is fenced with.
fn fence_mark(line: &str) -> Option<char> {
    ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence))?.chars().next()
}

/// Whether a line ends a block of code that is fenced so.
fn closes(line: &str, mark: char) -> bool {
    fence_mark(line) == Some(mark) && line.trim_end().trim_start_matches(mark).is_empty()
}

/// The documents of a file with a JSON object on each line.
fn of_lines(text: &str, renderer: &Renderer) -> Result<Vec<Document>, CalibrationError> {
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    lines.map(|(line, text)| Ok(Document { ids: of_line(line, text, renderer)?, place: line })).collect()
}

fn of_line(line: usize, text: &str, renderer: &Renderer) -> Result<Vec<u32>, CalibrationError> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| CalibrationError::NotJson { line, column: error.column() })?;
    if !value.is_object() {
        return Err(CalibrationError::NotJson { line, column: 1 });
    }
    if let Some(messages) = value.get("messages").and_then(Value::as_array).filter(|all| !all.is_empty()) {
        let numbered = (1..).zip(messages);
        let messages =
            numbered.map(|(number, value)| message(line, number, value)).collect::<Result<Vec<_>, _>>()?;
        let thinks = messages
            .iter()
            .any(|message| matches!(message, ChatMessage::Assistant { reasoning_content: Some(_), .. }));
        return renderer.chat(&messages, &Tools::default(), thinks).map_err(|error| match error {
            // What it says may be of the messages.
            TextError::TemplateFailed { .. } => CalibrationError::Refused { line },
            error => error.into(),
        });
    }
    match value.get("text").and_then(Value::as_str) {
        Some(text) => Ok(renderer.text(text)?),
        None => Err(CalibrationError::NothingToRead { line }),
    }
}

fn message(line: usize, number: usize, value: &Value) -> Result<ChatMessage, CalibrationError> {
    let not_one = || CalibrationError::NotAMessage { line, message: number };
    match value.get("role").and_then(Value::as_str) {
        Some("system" | "user" | "assistant" | "tool") => {}
        Some(_) => return Err(CalibrationError::UnknownRole { line, message: number }),
        None => return Err(not_one()),
    }
    let message = ChatMessage::deserialize(value).map_err(|_| not_one())?;
    if message.pictures().next().is_some() {
        return Err(not_one());
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use foretoken_protocol::ErrorReport;
    use serde_json::json;

    use super::*;
    use crate::error::EngineError;
    use crate::text::testing::{TOKENIZER, demo};

    /// What no error may show.
    const SECRET: &str = "Zanzibar";

    /// A file of this name and content, read for the demo model.
    fn read_as(name: &str, content: impl AsRef<[u8]>) -> Result<Texts, CalibrationError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, content).unwrap();
        from_file(&path, &Renderer::load(demo()).unwrap())
    }

    /// The error of a file, of which nothing is told but where it is.
    fn refused(name: &str, content: impl AsRef<[u8]>) -> CalibrationError {
        let error = read_as(name, content).unwrap_err();
        assert!(!format!("{error:?} {error}").contains(SECRET), "{error:?}");
        error
    }

    /// A paragraph of more than fifty tokens that says its number.
    fn paragraph(number: usize) -> String {
        format!(
            "Number {number} is said here. {}",
            "The owl sees a bell in the garden. ".repeat(8).trim_end()
        )
    }

    fn text_of(document: &Document) -> String {
        TOKENIZER.decode(&document.ids)
    }

    #[test]
    fn a_text_is_divided_between_paragraphs_and_nothing_is_lost() {
        let text: String = (0..80).map(|number| paragraph(number) + "\n\n").collect();
        let text = format!("\n \n{text}");
        for name in ["notes.txt", "NOTES.MD"] {
            let texts = read_as(name, &text).unwrap();
            assert_eq!(texts.source, Source::File);
            assert_eq!(texts.sha256, digest::of_bytes(text.as_bytes()));
            assert!(texts.documents.len() > 8, "{}", texts.documents.len());
            assert!(texts.documents.iter().all(|document| document.ids.len() <= LONGEST_SEQUENCE));
            assert!(texts.documents.iter().all(|document| text_of(document).starts_with("Number ")));
            for document in &texts.documents {
                let line = text.lines().nth(document.place - 1).unwrap();
                assert!(text_of(document).starts_with(line), "{} is not where {line} is", document.place);
            }
            assert_eq!(texts.documents.iter().map(text_of).collect::<String>(), text.trim_start());
            let ids: Vec<u32> = texts.documents.iter().flat_map(|document| document.ids.clone()).collect();
            assert_eq!(
                ids,
                TOKENIZER.encode_text(text.trim_start()).unwrap(),
                "tokens are those of the text in one"
            );
        }
    }

    #[test]
    fn a_heading_begins_a_document_but_not_in_code_and_not_behind_a_heading_alone() {
        let code = "```sh\n# no heading\n\nls\n```\n#tag\n~~~\n## none\n~~~\n";
        let text = format!("\n# One\n## Part\nText.\n\n{code}###### Two\nEnd.");
        let text = text.as_str();
        let found = paragraphs(text, true);
        let heads: Vec<(&str, bool)> =
            found.iter().map(|part| (part.text.lines().next().unwrap(), part.is_heading)).collect();
        assert_eq!(heads, [("# One", true), ("## Part", true), ("```sh", false), ("###### Two", true)]);
        assert_eq!(found.iter().map(|part| part.text).collect::<String>(), text.trim_start());
        assert_eq!(paragraphs(text, false).len(), 3, "{:?}", paragraphs(text, false));

        let section = |number: usize| format!("# Part\n\n## Title {number}\n\n{}\n\n", paragraph(number));
        let text: String = (0..100).map(section).collect();
        let texts = read_as("notes.md", &text).unwrap();
        assert_eq!(texts.documents.len(), 100);
        assert!(texts.documents.iter().all(|document| text_of(document).starts_with("# Part\n\n## Title")));
    }

    #[test]
    fn each_line_of_json_is_a_document_in_the_template_or_as_it_is() {
        let chat = |number: usize| {
            json!({"messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": paragraph(number)},
                {"role": "assistant", "content": "Yes.", "reasoning_content": "Is it so?"},
            ]})
        };
        let text = |number: usize| json!({"text": paragraph(number) + "<|im_end|>", "source": 3});
        let lines: String =
            (0..40).map(|number| format!("{}\r\n\n{}\n", chat(2 * number), text(2 * number + 1))).collect();
        let texts = read_as("chats.jsonl", format!("\u{feff}{lines}")).unwrap();
        assert_eq!(texts.documents.len(), 80);
        let [start, end, open] =
            ["<|im_start|>", "<|im_end|>", "<think>"].map(|name| TOKENIZER.token_id(name));
        let [chat, text] = [&texts.documents[0].ids, &texts.documents[1].ids];
        let times = |ids: &[u32], id: Option<u32>| ids.iter().filter(|&&other| Some(other) == id).count();
        assert_eq!([start, end, open].map(|id| times(chat, id)), [3, 3, 1]);
        assert_eq!([start, end, open].map(|id| times(text, id)), [0, 0, 0]);
        assert!(text_of(&texts.documents[0]).contains("Is it so?"));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_line_and_nothing_of_its_text() {
        assert!(matches!(refused("a.pdf", SECRET), CalibrationError::OtherKind { .. }));
        assert!(matches!(refused("a", SECRET), CalibrationError::OtherKind { .. }));
        assert!(matches!(refused("a.txt", "\u{feff} \n\n"), CalibrationError::Empty { .. }));
        assert!(matches!(refused("a.jsonl", ""), CalibrationError::Empty { .. }));
        let latin = [format!("{SECRET}\n\n").as_bytes(), b"na\xefve"].concat();
        assert!(matches!(refused("a.md", latin), CalibrationError::NotUtf8 { line: 3, .. }));
        let error = refused("a.txt", paragraph(1) + SECRET);
        let CalibrationError::TooShort { tokens: 50..200, needed: LEAST_TOKENS } = error else {
            panic!("{error}")
        };

        let line = |text: &str| refused("a.jsonl", format!("{{\"text\": \"{SECRET}\"}}\n\n{text}\n"));
        assert!(matches!(line("{\"text\": Zanzibar}"), CalibrationError::NotJson { line: 3, column: 10 }));
        assert!(matches!(line("[\"Zanzibar\"]"), CalibrationError::NotJson { line: 3, .. }));
        for nothing in [json!({SECRET: 1}), json!({"messages": []}), json!({"text": [SECRET]})] {
            assert!(matches!(line(&nothing.to_string()), CalibrationError::NothingToRead { line: 3 }));
        }
        let messages = |messages: Value| line(&json!({ "messages": messages }).to_string());
        let user = json!({"role": "user", "content": SECRET});
        let error = messages(json!([user, {"role": SECRET, "content": "Hi"}]));
        assert!(matches!(error, CalibrationError::UnknownRole { line: 3, message: 2 }));
        let image = json!([{"type": "image", "pixels": SECRET}]);
        for other in [json!(SECRET), json!({"role": "user"}), json!({"role": "user", "content": image})] {
            let error = messages(json!([user, user, other]));
            assert!(matches!(error, CalibrationError::NotAMessage { line: 3, message: 3 }), "{error}");
        }
    }

    #[test]
    fn a_chat_that_the_template_refuses_is_told_by_its_line() {
        let dir = tempfile::tempdir().unwrap();
        fs::copy(demo().join("tokenizer.json"), dir.path().join("tokenizer.json")).unwrap();
        let template = "{{ raise_exception('I will not say ' + messages[0].content) }}";
        fs::write(dir.path().join("chat_template.jinja"), template).unwrap();
        let path = dir.path().join("a.jsonl");
        let chat = json!({"messages": [{"role": "user", "content": SECRET}]});
        fs::write(&path, format!("\n{chat}")).unwrap();
        let error = from_file(&path, &Renderer::load(dir.path()).unwrap()).unwrap_err();
        assert!(matches!(error, CalibrationError::Refused { line: 2 }));
        assert!(!format!("{error:?} {error}").contains(SECRET));
    }

    #[test]
    fn files_that_are_not_there_or_too_large_are_not_read() {
        let renderer = Renderer::load(demo()).unwrap();
        let missing = from_file(&PathBuf::from("/no/such.txt"), &renderer).unwrap_err();
        let report = ErrorReport::from(&EngineError::from(missing));
        assert_eq!(report.code, "io");
        assert!(report.message.starts_with("/no/such.txt cannot be read: "), "{}", report.message);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large.txt");
        fs::File::create(&path).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let report = ErrorReport::from(&EngineError::from(from_file(&path, &renderer).unwrap_err()));
        assert_eq!(report.code, "calibration_file_too_large");
        assert_eq!(report.message, format!("{} is larger than 64 MB.", path.display()));
        assert_eq!(report.hint, "Choose a part of it.");
    }
}
