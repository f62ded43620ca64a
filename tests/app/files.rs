//! Files that go with a message, and files with chats: dropped on the window or chosen in the system's dialog.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::dialog::Dialog;
use crate::support::drag::Drag;
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys::{CONTROL, ENTER};
use crate::support::window::Window;

const STORY: &str = "Ines the owl keeps a bell. It rings at seven.\n";

/// Drops something on the window.
fn drop_on(window: &Window<'_>, sandbox: &Sandbox, path: &Path, done: impl Fn() -> bool) {
    drop_all_on(window, sandbox, &[path], done);
}

/// Drops several things on the window.
fn drop_all_on(window: &Window<'_>, sandbox: &Sandbox, paths: &[&Path], done: impl Fn() -> bool) {
    let mut drag = Drag::all_over(sandbox, paths);
    window.wait_until("the window would take it", || drag.hold() && window.is_shown("drop-target"));
    drag.release();
    window.wait_until("it has taken it", || {
        drag.answer();
        done()
    });
}

#[test]
fn a_file_that_is_dropped_goes_with_the_message_and_waits_for_it_through_a_restart() {
    let sandbox = Sandbox::new(1280, 900);
    let story = sandbox.home().join("story.txt");
    fs::write(&story, STORY).unwrap();
    let window = sandbox.open();
    drop_on(&window, &sandbox, &story, || window.text("file").contains("story.txt"));
    // The model is there, so its own count comes in the place of the estimate.
    let counted = |window: &Window<'_>| {
        window.text("file").contains("tokens") && !window.text("file").contains("about")
    };
    window.wait_until("its tokens are counted", || counted(&window));
    window.picture("attached-file");
    window.fill("composer", "Who keeps the bell?");
    window.wait_until("the draft is kept", || {
        let body = "const { text, files } = (await window.__TAURI_INTERNALS__.invoke('snapshot')).draft;
                    return text + files.length";
        window.script(body, Value::Array(Vec::new())) == "Who keeps the bell?1"
    });
    drop(window);

    let window = sandbox.open();
    assert!(window.text("file").contains("story.txt"), "{}", window.text("file"));
    window.wait_until("its tokens are counted", || counted(&window));
    window.click("send");
    window.wait_until("the message is sent", || window.text("message-user").contains("Who keeps the bell?"));
    window.wait_for_end();
    assert!(window.text("message-user").contains("story.txt"));
    assert_eq!(window.texts("file").len(), 1, "the next message has none");
    window.click("copy-question");
    window.fill("composer", "I asked: ");
    window.press(&[CONTROL], 'v');
    window.wait_until("what was written is copied, without the file", || {
        let typed = "return document.querySelector('[data-testid=composer]').value";
        window.script(typed, Value::Array(Vec::new())) == "I asked: Who keeps the bell?"
    });
    // The template, the question and the file together.
    let used: u32 = window
        .script(
            "const { messages } = (await window.__TAURI_INTERNALS__.invoke('snapshot')).open;
             return messages.at(-1).message.stats.prompt_tokens",
            Value::Array(Vec::new()),
        )
        .as_u64()
        .expect("the reply has numbers") as u32;
    assert!(used > 20, "the model has read the file: {used} tokens");
}

#[test]
fn a_file_that_is_pasted_goes_with_the_message_and_text_stays_text() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let paste = |name: &str, content: &str, text: &str| {
        let body = "const [name, content, text] = arguments;
                    const clipboardData = new DataTransfer();
                    if (text !== '') clipboardData.setData('text/plain', text);
                    clipboardData.items.add(new File([content], name));
                    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
                    return document.querySelector('[data-testid=composer]').dispatchEvent(paste)";
        window.script(body, json!([name, content, text])) == json!(true)
    };
    assert!(paste("cell.csv", "A cell", "A cell"), "the field takes the text");
    assert!(!paste("story.txt", STORY, ""), "the field takes no file");
    window.wait_until("it is attached", || window.text("file").contains("story.txt"));
    assert_eq!(window.texts("file").len(), 1);
    assert!(!paste("owl.png", "\0\u{1}", ""));
    window.wait_until("what is neither is refused", || {
        window.text("action-error").contains("owl.png is neither text, nor a document or a picture")
    });
    window.fill("composer", "Who keeps the bell?");
    window.click("send");
    window.wait_until("the message is sent", || window.text("message-user").contains("story.txt"));
    window.wait_for_end();

    window.click("inspector-toggle");
    window.click("inspector-page-this chat");
    window.wait_until("the panel says what the file takes", || {
        window.text("chat-files").contains("story.txt") && !window.text("chat-files").contains("about")
    });
    let left = window.script(
        "const tokens = ({ textContent }) => Number(textContent.replaceAll(',', ''));
         const parts = [...document.querySelectorAll('[data-testid=room-key] dd')].map(tokens);
         const { engine } = await window.__TAURI_INTERNALS__.invoke('snapshot');
         return engine.model.context_length - parts.reduce((sum, part) => sum + part, 0)",
        json!([]),
    );
    assert_eq!(left, json!(0), "what fills the context and what is free are all of it");
    for part in ["Files", "Messages", "Free"] {
        assert!(window.text("room-key").contains(part), "{part}");
    }
    window.picture("chat-with-a-file");
}

#[test]
fn a_message_waits_for_the_file_that_is_read_and_no_other_chat_gets_it() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Hello!");
    let paste = "const read = File.prototype.arrayBuffer;
                 File.prototype.arrayBuffer = async function () {
                     await new Promise((resolve) => { window.goOn = resolve; });
                     return read.call(this);
                 };
                 const clipboardData = new DataTransfer();
                 clipboardData.items.add(new File([arguments[0]], 'story.txt'));
                 const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
                 document.querySelector('[data-testid=composer]').dispatchEvent(paste)";
    window.script(paste, json!([STORY]));
    window.wait_until("it is being read", || window.text("file-arriving").contains("story.txt"));
    window.fill("composer", "Who keeps the bell?");
    window.press(&[], ENTER);
    window.script("document.querySelector('[data-testid=send]').click()", json!([]));
    window.picture("file-being-read");
    assert_eq!(window.texts("message-user"), ["Hello!"], "the message waits");

    window.click("new-chat");
    window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
    assert!(!window.is_shown("file-arriving"), "it is another chat's");
    window.script("window.goOn()", json!([]));
    window.click("chat");
    window.wait_until("the file is attached", || window.text("file").contains("story.txt"));
    window.click("new-chat");
    window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
    assert!(!window.is_shown("file"), "no other chat got it");
    window.click("chat");
    window.wait_until("its chat is open", || window.is_shown("file"));
    window.press(&[], ENTER);
    window.wait_until("the message is sent with it", || window.text("message-user").contains("story.txt"));
    window.wait_for_end();
}

#[test]
fn files_are_attached_and_chats_written_and_read_through_the_systems_dialog() {
    let sandbox = Sandbox::new(1280, 900);
    let notes = sandbox.home().join("notes.md");
    fs::write(&notes, STORY).unwrap();
    let picture = sandbox.home().join("owl.png");
    fs::write(&picture, [0x89, b'P', 0, 1]).unwrap();
    let window = sandbox.open();

    window.choose_in_menu("attach", "Attach", "Files");
    Dialog::wait(&sandbox, "Attach files").dismiss();
    assert!(!window.is_shown("file") && !window.is_shown("action-error"), "nothing was chosen");
    window.choose_in_menu("attach", "Attach", "Files");
    Dialog::wait(&sandbox, "Attach files").choose(&picture);
    window.wait_until("what is neither is refused", || {
        window.text("action-error").contains("is neither text, nor a document or a picture")
    });
    window.choose_in_menu("attach", "Attach", "Files");
    Dialog::wait(&sandbox, "Attach files").choose(&notes);
    window.wait_until("the file is attached", || window.text("file").contains("notes.md"));
    window.answer("Who keeps the bell?");

    let exported = sandbox.home().join("all.json");
    window.choose_in_menu("chats-more", "More", "Export all chats");
    Dialog::wait(&sandbox, "Export").save_as(&exported);
    window.wait_until("the chats are written", || exported.is_file());
    let written: Value = serde_json::from_str(&fs::read_to_string(&exported).unwrap()).unwrap();
    assert_eq!(written["chats"].as_array().unwrap().len(), 1);

    let page = sandbox.home().join("chat.html");
    window.choose_in_menu("chat-more", "More", "Export as HTML");
    Dialog::wait(&sandbox, "Export").save_as(&page);
    window.wait_until("the chat is written", || page.is_file() && window.text("note").contains("chat.html"));
    let page = fs::read_to_string(&page).unwrap();
    for part in [
        ".paper .turn",
        "default-src 'none'",
        "<p class=\"own\" dir=\"auto\">Who keeps the bell?</p>",
        "File: notes.md",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("<script"), "{page}");

    window.press(&[CONTROL], 'p');
    Dialog::wait(&sandbox, "Print").dismiss();

    window.import_chats(&exported);
    window.wait_until("the chats are read", || window.text("note").contains("1 chat with 2 messages added."));
    window.wait_until("both are listed", || window.texts("chat").len() == 2);
}

#[test]
fn of_several_files_with_chats_that_are_dropped_each_is_accounted_for() {
    let sandbox = Sandbox::new(1280, 900);
    let file = |name: &str, title: &str| {
        let message = json!({ "role": "user", "content": "Who keeps the bell?" });
        let path = sandbox.home().join(name);
        fs::write(&path, json!({ "name": title, "messages": [message] }).to_string()).unwrap();
        path
    };
    let (owl, fox) = (file("owl.json", "Owls"), file("fox.json", "Foxes"));
    let bad = sandbox.home().join("package.json");
    fs::write(&bad, "{}").unwrap();
    let window = sandbox.open();
    drop_all_on(&window, &sandbox, &[&owl, &bad, &fox], || window.is_shown("action-error"));
    let told = window.text("action-error");
    assert!(told.contains("2 chats with 2 messages added from 2 files."), "{told}");
    assert!(told.contains("package.json cannot be imported"), "{told}");
    window.wait_until("both are listed", || window.texts("chat").len() == 2);
    assert!(!window.is_shown("note"), "it is said once");
    window.picture("import-of-several");
}

#[test]
fn a_name_that_is_not_unicode_is_refused_with_the_reason_or_works() {
    let sandbox = Sandbox::new(1280, 900);
    let path = sandbox.home().join(OsStr::from_bytes(b"Z\xfcrich.txt"));
    fs::write(&path, STORY).unwrap();
    let window = sandbox.open();
    drop_on(&window, &sandbox, &path, || window.is_shown("action-error") || window.is_shown("file"));
    let told = window.text("action-error");
    assert!(told.contains("rich.txt cannot be found: its name is not Unicode"), "{told}");
    assert!(!window.is_shown("file"));
}

#[test]
fn of_a_document_that_is_too_long_the_parts_that_fit_each_question_are_read_and_shown() {
    let sandbox = Sandbox::new(1280, 900);
    let book = sandbox.home().join("book.html");
    let chapter = |number: usize| {
        let river = "The river goes on between its banks and nothing else happens there. ".repeat(20);
        let owl = if number == 31 { "The owl keeps a bell that rings at seven." } else { "" };
        format!("<h2>Chapter {number}</h2><p>{river}{owl}</p>")
    };
    fs::write(&book, (1..60).map(chapter).collect::<String>()).unwrap();
    let window = sandbox.open();
    drop_on(&window, &sandbox, &book, || window.text("file").contains("book.html"));
    window.wait_until("it says that it is long", || window.is_shown("file-long"));
    window.answer("When does the bell of the owl ring?");
    let asked = window.script(
        "const { messages } = (await window.__TAURI_INTERNALS__.invoke('snapshot')).open;
         return messages[0].message.text",
        Value::Array(Vec::new()),
    );
    let asked = asked.as_str().unwrap();
    assert!(asked.contains("[Part: Chapter 31, ") && asked.contains("rings at seven"), "{asked}");
    assert!(asked.len() < 12_000, "{} bytes were sent", asked.len());
    assert!(window.is_shown("file-long"), "the next question is about it too");
    window.click_one("source", "Chapter 31");
    window.wait_until("the passage is shown", || window.text("source-sheet").contains("rings at seven"));
    let marked = "return [...document.querySelectorAll('[data-testid=source-sheet] mark')].map((mark) => mark.textContent)";
    let marked = window.script(marked, Value::Array(Vec::new()));
    assert!(marked.as_array().unwrap().contains(&json!("bell")), "{marked}");
    window.picture("source");
}

#[test]
fn a_workbook_is_attached_as_its_sheets() {
    let sandbox = Sandbox::new(1280, 900);
    let sheet = sandbox.home().join("birds.xlsx");
    fs::write(&sheet, include_bytes!("../../src-tauri/crates/documents/tests/files/sample.xlsx")).unwrap();
    let window = sandbox.open();
    drop_on(&window, &sandbox, &sheet, || window.text("file").contains("birds.xlsx"));
    window.answer("What share have owls?");
    let message = window.script(
        "const { messages } = (await window.__TAURI_INTERNALS__.invoke('snapshot')).open;
         return messages[0].message.text",
        Value::Array(Vec::new()),
    );
    assert!(message.as_str().unwrap().contains("Owl,2024-03-01,25%,07:30"), "{message}");
}

#[test]
fn a_pdf_is_attached_as_its_text() {
    let sandbox = Sandbox::new(1280, 900);
    let paper = sandbox.home().join("paper.pdf");
    fs::write(&paper, pdf("Owls hear a mouse under the snow.")).unwrap();
    let window = sandbox.open();
    drop_on(&window, &sandbox, &paper, || window.text("file").contains("paper.pdf"));
    window.answer("What do owls hear?");
    let message = window.script(
        "const { messages } = (await window.__TAURI_INTERNALS__.invoke('snapshot')).open;
         return messages[0].message.text",
        Value::Array(Vec::new()),
    );
    assert!(message.as_str().unwrap().contains("Owls hear a mouse under the snow."), "{message}");
}

/// A PDF of one page with one line.
fn pdf(line: &str) -> String {
    let drawing = format!("BT /F1 24 Tf 72 700 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{drawing}\nendstream", drawing.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let (mut file, mut places) = (String::from("%PDF-1.4\n"), String::new());
    for (number, object) in (1..).zip(objects) {
        places += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let table = file.len();
    file + &format!(
        "xref\n0 6\n0000000000 65535 f \n{places}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"
    )
}
