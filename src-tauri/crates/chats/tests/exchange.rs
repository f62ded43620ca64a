//! Chats in files: Foretoken's own, and those of other programs.

use std::fs;
use std::path::{Path, PathBuf};

use foretoken_chats::{ChatsError, SeenPicture, Store};
use foretoken_protocol::{
    Attachment, BranchMessage, ChatSettings, DraftRun, Drafting, ErrorReport, ExportedPictures, FinishReason,
    GenerationSettings, ImportReport, Message, MessageStatus, PictureDetail, PositionStats, Provenance,
    ReplyStats, Role, Sampling, SearchScope, Thinking, UnsentEdit,
};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use tempfile::TempDir;

const WITHOUT_METADATA: ExportedPictures = ExportedPictures::WithoutMetadata;
const STOPPED: MessageStatus = MessageStatus::Finished { reason: FinishReason::Stop };

/// For files that hold none.
fn no_picture(file: &Path, _: PictureDetail) -> Result<SeenPicture, ErrorReport> {
    panic!("{} is looked at", file.display())
}

/// A folder, a store in it and room for files.
struct TestStore {
    folder: TempDir,
    store: Store,
}

impl TestStore {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("chats.db")).unwrap();
        Self { folder, store }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn export(&self) -> String {
        let path = self.file("export.json");
        self.store.export_json(None, WITHOUT_METADATA, &path).unwrap();
        fs::read_to_string(path).unwrap()
    }

    fn import(&mut self, content: impl AsRef<[u8]>) -> Result<ImportReport, ChatsError> {
        let path = self.file("import.json");
        fs::write(&path, content).unwrap();
        self.store.import(&path, &no_picture)
    }

    fn shown(&self) -> Vec<BranchMessage> {
        let chat = self.store.chats().unwrap()[0].id;
        self.store.branch(chat).unwrap()
    }
}

fn settings(temperature: f32, seed: Option<u64>) -> GenerationSettings {
    GenerationSettings {
        sampling: Sampling { temperature, seed, ..Default::default() },
        drafting: Drafting::Fixed { depth: 2 },
        max_tokens: 64,
        thinking: Thinking::Tokens { tokens: 70 },
        stop: vec!["\n".into()],
    }
}

fn texts(messages: &[BranchMessage]) -> Vec<&str> {
    messages.iter().map(|shown| shown.message.text.as_str()).collect()
}

/// What is told about a file that cannot be imported; nothing of it may have been added.
fn refusal(content: impl AsRef<[u8]>) -> String {
    let mut test = TestStore::new();
    let kept = test.store.create_chat("kept").unwrap();
    let before = test.export();
    let report = ErrorReport::from(test.import(content).unwrap_err());
    assert_eq!(report.code, "not_importable", "{report}");
    assert!(report.message.contains("import.json"), "{report}");
    assert_eq!(test.export(), before, "nothing is added");
    assert_eq!(test.store.chats().unwrap(), [kept]);
    assert_eq!(test.store.search("partial", &SearchScope::default(), 9).unwrap().places, 0);
    report.message
}

/// One step in making chats.
#[derive(Debug, Clone)]
enum Step {
    Chat { title: String, tags: Vec<String>, draft: String, pinned: bool },
    Preset { name: String, prompt: String, with_settings: bool },
    Settings { prompt: String, preset: Option<Index>, temperature: f32 },
    Ask { after: Option<Index>, text: String },
    Answer { after: Index, text: String, thinking: String, speed: f64, end: u8 },
    Show(Index),
    Branch(Index),
    Summarise(Index, String),
    Edit(Index, String),
    Delete(Index),
}

fn step() -> impl Strategy<Value = Step> {
    let text = || any::<String>();
    prop_oneof![
        2 => (text(), prop::collection::vec("[a-zé ]{0,6}", 0..3), text(), any::<bool>())
            .prop_map(|(title, tags, draft, pinned)| Step::Chat { title, tags, draft, pinned }),
        1 => (text(), text(), any::<bool>())
            .prop_map(|(name, prompt, with_settings)| Step::Preset { name, prompt, with_settings }),
        1 => (text(), any::<Option<Index>>(), 0f32..2.0)
            .prop_map(|(prompt, preset, temperature)| Step::Settings { prompt, preset, temperature }),
        4 => (any::<Option<Index>>(), text()).prop_map(|(after, text)| Step::Ask { after, text }),
        4 => (any::<Index>(), text(), text(), any::<f64>(), 0u8..6)
            .prop_map(|(after, text, thinking, speed, end)| Step::Answer { after, text, thinking, speed, end }),
        1 => any::<Index>().prop_map(Step::Show),
        2 => any::<Index>().prop_map(Step::Branch),
        1 => (any::<Index>(), text()).prop_map(|(last, text)| Step::Summarise(last, text)),
        2 => (any::<Index>(), text()).prop_map(|(index, text)| Step::Edit(index, text)),
        1 => any::<Index>().prop_map(Step::Delete),
    ]
}

/// Answers a message; of a reply whose end is past all ends, the text is still being written.
fn answer(store: &mut Store, chat: u32, after: u32, step: &Step) {
    let Step::Answer { text, thinking, speed, end, .. } = step else { panic!("{step:?} is no answer") };
    let reply = store.begin_reply(chat, after, "demo", &settings(0.1, Some(1))).unwrap().id;
    let run = |text: &str, position| vec![DraftRun(text.chars().count() as u32, position)];
    let provenance = Provenance { thinking: run(thinking, 0), answer: run(text, *end) };
    store.append_to_reply(reply, text, thinking, &provenance).unwrap();
    let reasons = [FinishReason::Stop, FinishReason::Length, FinishReason::Cancelled, FinishReason::Error];
    let status = match reasons.get(usize::from(*end)) {
        Some(&reason) => MessageStatus::Finished { reason },
        None if *end == 4 => MessageStatus::Interrupted,
        None => return, // still being written
    };
    let stats = ReplyStats {
        tokens_per_second: *speed,
        tokens_per_pass: 1.0 / 3.0,
        seed: u64::MAX,
        positions: vec![PositionStats { drafted: 3, accepted: 2 }],
        ..Default::default()
    };
    let error = ErrorReport { code: "c".into(), message: text.clone(), hint: "h".into() };
    store.finish_reply(reply, status, Some(&stats), Some(&error)).unwrap();
}

fn make(store: &mut Store, steps: &[Step]) {
    let mut chat = store.create_chat("first").unwrap().id;
    for step in steps {
        let messages: Vec<u32> =
            store.messages(chat).unwrap().into_iter().map(|message| message.id).collect();
        let pick = |index: &Index| (!messages.is_empty()).then(|| messages[index.index(messages.len())]);
        match step {
            Step::Chat { title, tags, draft, pinned } => {
                chat = store.create_chat("automatic").unwrap().id;
                store.rename_chat(chat, title).unwrap();
                store.set_tags(chat, tags).unwrap();
                store.set_draft_text(Some(chat), draft).unwrap();
                if *pinned {
                    let file = Attachment { name: "a.txt".into(), text: draft.clone() };
                    store.set_draft_files(Some(chat), &[file]).unwrap();
                }
                store.set_pinned(chat, *pinned).unwrap();
            }
            Step::Preset { name, prompt, with_settings } => {
                let generation = with_settings.then(|| settings(0.7, None));
                store.add_preset(name, prompt, generation.as_ref()).unwrap();
            }
            Step::Settings { prompt, preset, temperature } => {
                let presets = store.presets().unwrap();
                let preset = preset.as_ref().filter(|_| !presets.is_empty());
                let chosen = ChatSettings {
                    without_standing: true,
                    without_project: true,
                    system_prompt: prompt.clone(),
                    generation: Some(settings(*temperature, Some(u64::MAX))),
                    preset: preset.map(|index| presets[index.index(presets.len())].id),
                    tools: Vec::new(),
                };
                store.set_chat_settings(chat, &chosen).unwrap();
            }
            Step::Ask { after, text } => {
                store.add_user_message(chat, after.as_ref().and_then(pick), text).unwrap();
            }
            Step::Answer { after, .. } => {
                let Some(after) = pick(after) else { continue };
                answer(store, chat, after, step);
            }
            Step::Show(index) => {
                // Any message, not only one that is shown.
                let Some(id) = pick(index) else { continue };
                let versions = store.versions(id).unwrap();
                store.show_branch(versions[0]).unwrap();
            }
            Step::Branch(index) => {
                let Some(id) = pick(index) else { continue };
                chat = store.branch_into_new_chat(id).unwrap().id;
            }
            Step::Summarise(last, text) => {
                let Some(id) = pick(last) else { continue };
                chat = store.go_on_with_summary(id, text, "demo", &[id]).unwrap().id;
            }
            Step::Edit(index, text) => {
                let Some(id) = pick(index) else { continue };
                store.set_edit(id, Some(text), None).unwrap();
            }
            Step::Delete(index) => {
                let Some(id) = pick(index) else { continue };
                store.delete_message(id).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_exported_and_imported_is_exported_again_as_it_was(steps in prop::collection::vec(step(), 0..25)) {
        let mut from = TestStore::new();
        make(&mut from.store, &steps);
        let exported = from.export();
        let mut to = TestStore::new();
        let report = to.import(&exported).unwrap();
        prop_assert_eq!(report.chats as usize, from.store.chats().unwrap().len());
        prop_assert_eq!(report.left_out, 0);
        prop_assert_eq!(to.export(), exported);

        // One chat alone, beside others that are there already.
        let chat = from.store.chats().unwrap()[0].id;
        let (one, again) = (from.file("one.json"), from.file("again.json"));
        from.store.export_json(Some(chat), WITHOUT_METADATA, &one).unwrap();
        to.store.import(&one, &no_picture).unwrap();
        let added = to.store.chat_page(None, None, 1000).unwrap().chats.iter().map(|chat| chat.id).max().unwrap();
        to.store.export_json(Some(added), WITHOUT_METADATA, &again).unwrap();
        prop_assert_eq!(fs::read_to_string(again).unwrap(), fs::read_to_string(one).unwrap());
    }

    #[test]
    fn a_file_that_is_cut_or_changed_adds_all_or_nothing(cut in any::<Index>(), byte in any::<u8>(), at in any::<Index>()) {
        let mut from = TestStore::new();
        from.store.create_chat("partial").unwrap();
        let chat = from.store.create_chat("partial").unwrap().id;
        from.store.add_user_message(chat, None, "partial").unwrap();
        let mut bytes = from.export().into_bytes();
        refusal(&bytes[..cut.index(bytes.len() - 2)]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let mut to = TestStore::new();
        let before = to.export();
        match to.import(&bytes) {
            Ok(report) => prop_assert_eq!(report.chats as usize, to.store.chats().unwrap().len()),
            Err(_) => prop_assert_eq!(to.export(), before),
        }
    }
}

/// A message of an export, with its parent.
fn message(parent: Value) -> Value {
    json!({"parent": parent, "role": "user", "text": "partial", "thinking": "", "created_at": 1,
               "status": {"state": "finished", "reason": "stop"}, "stats": null, "error": null, "model": null,
               "settings": null})
}

/// A chat of an export with these messages; `extra` replaces other keys.
fn chat(messages: Vec<Value>, extra: Value) -> Value {
    let mut chat = json!({"title": "Partial", "named": true, "pinned": false, "tags": [], "created_at": 1,
            "updated_at": 1, "settings": {"system_prompt": "", "generation": null, "model": null, "preset": null},
            "draft": "", "origin": null, "shown": null, "messages": messages});
    for (key, value) in extra.as_object().unwrap() {
        chat[key] = value.clone();
    }
    chat
}

/// An export of these chats.
fn file(chats: Vec<Value>) -> Value {
    json!({"format": "foretoken-chats", "version": 1, "presets": [], "chats": chats})
}

fn good() -> Value {
    chat(vec![message(Value::Null), message(json!(1))], json!({}))
}

/// Files that cannot be read, and what must be said of each.
fn wrong_files() -> Vec<(String, Vec<&'static str>)> {
    let after_good = |bad: Value| file(vec![good(), bad]).to_string();
    vec![
        (String::new(), vec!["does not hold JSON"]),
        ("PK\u{3}\u{4}".to_owned(), vec!["does not hold JSON"]),
        (file(vec![good()]).to_string() + "x", vec!["trailing characters"]),
        (json!({"format": "other", "chats": []}).to_string(), vec!["other", "foretoken-chats"]),
        (
            json!({"format": "foretoken-chats", "version": 2}).to_string(),
            vec!["newer Foretoken", "version 2"],
        ),
        (json!({"format": "foretoken-chats", "version": 1}).to_string(), vec!["chats"]),
        (
            after_good(chat(vec![message(json!(1))], json!({}))),
            vec!["chat 2", "Partial", "message 1 follows message 1"],
        ),
        (after_good(chat(vec![message(json!(0))], json!({}))), vec!["chat 2", "message 1 follows message 0"]),
        (after_good(chat(vec![], json!({"shown": 1}))), vec!["chat 2", "message 1 is to be shown"]),
        (
            after_good(chat(vec![], json!({"origin": {"chat": 2, "message": null}}))),
            vec!["chat 2", "comes from chat 2"],
        ),
        (
            after_good(chat(vec![], json!({"origin": {"chat": 1, "message": 3}}))),
            vec!["chat 2", "comes from message 3 of chat 1"],
        ),
        (
            after_good(chat(
                vec![],
                json!({"settings": {"system_prompt": "", "generation": null, "model": null, "preset": 1}}),
            )),
            vec!["chat 2", "no preset 1"],
        ),
        (after_good(chat(vec![], json!({"created_at": u64::MAX}))), vec!["chat 2", "is no time"]),
        (after_good(chat(vec![], json!({"created_at": -1}))), vec!["chat 2", "line 1 column"]),
        (
            after_good(chat(vec![message(json!("x"))], json!({}))),
            vec!["chat 2", "invalid type", "line 1 column"],
        ),
        (after_good(json!({"title": "x"})), vec!["chat 2", "missing field"]),
        (json!([{"title": "x"}]).to_string(), vec!["chat 1", "missing field `mapping`"]),
        (json!({"name": "x"}).to_string(), vec!["chat 1", "missing field `messages`"]),
        ("[".repeat(100_000), vec!["chat 1"]),
    ]
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    assert!(TestStore::new().import(file(vec![good()]).to_string()).is_ok());
    for (content, expected) in wrong_files() {
        let message = refusal(&content);
        for part in expected {
            assert!(message.contains(part), "{message} does not say {part:?}");
        }
    }
}

#[test]
fn a_path_that_leads_nowhere_is_said() {
    let mut test = TestStore::new();
    let missing =
        ErrorReport::from(test.store.import(Path::new("/nowhere/at/all.json"), &no_picture).unwrap_err());
    assert_eq!(missing.code, "chats_file");
    let error =
        test.store.export_json(None, WITHOUT_METADATA, Path::new("/nowhere/at/all.json")).unwrap_err();
    assert_eq!(ErrorReport::from(error).code, "chats_file");
}

#[test]
fn a_failed_export_leaves_the_file_that_was_there_and_no_other() {
    let test = TestStore::new();
    let folder = test.file("exports");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("old.json");
    fs::write(&path, "old").unwrap();
    assert!(test.store.export_json(Some(99), WITHOUT_METADATA, &path).is_err());
    assert!(test.store.export_markdown(99, true, WITHOUT_METADATA, &path).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn what_is_typed_and_not_sent_goes_into_a_file_and_comes_back() {
    let mut from = TestStore::new();
    let store = &mut from.store;
    let chat = store.create_chat("Owls").unwrap().id;
    let question = store.add_user_message(chat, None, "Who?").unwrap().id;
    let hidden = store.edit_message(question, "Who is it?").unwrap().id;
    store.show_branch(question).unwrap();
    let gone = store.add_user_message(chat, Some(question), "Where?").unwrap().id;
    for (message, text) in [(question, "Who then?"), (hidden, ""), (gone, "Where then?")] {
        store.set_edit(message, Some(text), None).unwrap();
    }
    store.delete_message(gone).unwrap();
    store.set_draft_text(Some(chat), "And").unwrap();
    let exported = from.export();
    assert!(!exported.contains("Where then?"), "what is deleted stays out");

    let mut to = TestStore::new();
    to.store.create_chat("there already").unwrap();
    to.import(exported).unwrap();
    let chat = to.store.chats().unwrap().into_iter().find(|chat| chat.title == "Owls").unwrap().id;
    let opened = to.store.open_chat(chat).unwrap();
    assert_eq!(opened.draft.text, "And");
    let [shown] = opened.messages.as_slice() else { panic!("{:?}", opened.messages) };
    let edit = |message, text: &str| UnsentEdit { message, text: text.into(), pictures: None };
    assert_eq!(opened.edits, [edit(shown.versions[0], "Who then?"), edit(shown.versions[1], "")]);
}

#[test]
fn a_branch_is_exported_as_markdown() {
    let mut test = TestStore::new();
    let store = &mut test.store;
    let chat = store.create_chat("Sums").unwrap().id;
    let question = store.add_user_message(chat, None, "What is 1 + 1?\n").unwrap().id;
    let mut replies = ["It is **2**.", "Two."].map(|text| {
        let reply = store.begin_reply(chat, question, "demo", &settings(0.0, None)).unwrap().id;
        store.append_to_reply(reply, text, " One and one. ", &Provenance::default()).unwrap();
        store.finish_reply(reply, STOPPED, None, None).unwrap().id
    });
    replies.sort_unstable();
    let prompt = ChatSettings { system_prompt: "Be brief.".into(), ..Default::default() };
    store.set_chat_settings(chat, &prompt).unwrap();
    let path = test.folder.path().join("sums.md");
    store.export_markdown(replies[0], true, WITHOUT_METADATA, &path).unwrap();
    let expected = "# Sums\n\n## System\n\nBe brief.\n\n## You\n\nWhat is 1 + 1?\n\n## demo\n\n\
        <details>\n<summary>Thinking</summary>\n\nOne and one.\n\n</details>\n\nIt is **2**.\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    store.export_markdown(replies[1], false, WITHOUT_METADATA, &path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("## demo\n\nTwo.\n") && !text.contains("One and one"), "{text}");
    let short = store.go_on_with_summary(replies[1], "A sum.", "demo", &[]).unwrap().id;
    let summary = store.messages(short).unwrap()[0].id;
    store.export_markdown(summary, false, WITHOUT_METADATA, &path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("## Summary of what was said before\n\nA sum.\n"), "{text}");
}

/// A node of a ChatGPT conversation.
fn node(id: &str, parent: Option<&str>, children: &[&str], message: Value) -> (String, Value) {
    (id.to_owned(), json!({"id": id, "message": message, "parent": parent, "children": children}))
}

fn said(role: &str, time: f64, content: Value, more: Value) -> Value {
    let mut message = json!({"id": "m", "author": {"role": role, "name": null, "metadata": {}}, "create_time": time,
        "update_time": null, "content": content, "status": "finished_successfully", "end_turn": true, "weight": 1.0,
        "metadata": {}, "recipient": "all", "channel": null});
    for (key, value) in more.as_object().unwrap() {
        message[key] = value.clone();
    }
    message
}

fn words(text: &str) -> Value {
    json!({"content_type": "text", "parts": [text]})
}

/// The beginning of a conversation about a picture: a question, what the model thinks of it, and a call of a tool.
fn asked_about_a_picture() -> Vec<(String, Value)> {
    let image =
        json!({"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 1});
    vec![
        node("root", None, &["sys"], Value::Null),
        node("sys", Some("root"), &["q"], said("system", 0.0, words(""), json!({}))),
        node(
            "q",
            Some("sys"),
            &["t", "b"],
            said(
                "user",
                1_700_000_001.5,
                json!({"content_type": "multimodal_text", "parts": [image, "What is this?"]}),
                json!({}),
            ),
        ),
        node(
            "t",
            Some("q"),
            &["recap"],
            said(
                "assistant",
                1_700_000_002.0,
                json!({"content_type": "thoughts", "thoughts": [{"summary": "Looking", "content": "A cat."}]}),
                json!({}),
            ),
        ),
        node(
            "recap",
            Some("t"),
            &["call"],
            said(
                "assistant",
                1_700_000_003.0,
                json!({"content_type": "reasoning_recap", "content": "Thought for 2s"}),
                json!({}),
            ),
        ),
        node(
            "call",
            Some("recap"),
            &["out"],
            said(
                "assistant",
                1_700_000_003.0,
                json!({"content_type": "code", "language": "unknown", "text": "search('cat')"}),
                json!({"recipient": "browser"}),
            ),
        ),
        node(
            "out",
            Some("call"),
            &["a"],
            said(
                "tool",
                1_700_000_003.0,
                json!({"content_type": "execution_output", "text": "cats"}),
                json!({}),
            ),
        ),
    ]
}

/// How it goes on: two answers, and a further question that the model still thinks about.
fn answered_twice() -> Vec<(String, Value)> {
    let model = json!({"metadata": {"model_slug": "gpt-5"}});
    vec![
        node(
            "a",
            Some("out"),
            &["q2"],
            said(
                "assistant",
                1_700_000_004.0,
                words("It is a cat\u{e200}cite\u{e202}turn0\u{e201}."),
                model.clone(),
            ),
        ),
        node("b", Some("q"), &[], said("assistant", 1_700_000_009.0, words("A dog."), model)),
        node("q2", Some("a"), &["late"], said("user", 1_700_000_010.0, words("Sure?"), json!({}))),
        node(
            "late",
            Some("q2"),
            &[],
            said(
                "assistant",
                1_700_000_011.0,
                json!({"content_type": "thoughts", "parts": null, "thoughts": [{"summary": "Still thinking", "content": null}]}),
                json!({"metadata": null}),
            ),
        ),
    ]
}

/// That conversation, and one without a root.
fn chatgpt_export() -> Value {
    let mapping: serde_json::Map<String, Value> =
        asked_about_a_picture().into_iter().chain(answered_twice()).collect();
    json!([
        {"title": "A cat", "create_time": 1_700_000_000.0, "update_time": 1_700_000_020.25, "mapping": mapping,
         "moderation_results": [], "current_node": "late", "conversation_id": "c1"},
        {"title": null, "create_time": null, "update_time": null, "mapping": {
            "x": {"id": "x", "message": said("user", 5.0, words("No root\nat all"), json!({})), "parent": "gone", "children": []}},
         "current_node": "nowhere"},
    ])
}

#[test]
fn a_chatgpt_export_becomes_chats_with_their_branches() {
    let export = chatgpt_export();
    let mut test = TestStore::new();
    // With a byte order mark, as some editors leave it.
    let report = test.import(format!("\u{feff}{export}")).unwrap();
    assert_eq!(report, ImportReport { chats: 2, messages: 6, left_out: 3, missing_pictures: 0 });

    let chats = test.store.chat_page(None, None, 9).unwrap().chats;
    assert_eq!((chats[0].title.as_str(), chats[1].title.as_str()), ("No root", "A cat"));
    assert_eq!(
        (chats[1].created_at, chats[1].updated_at, chats[1].named),
        (1_700_000_000_000, 1_700_000_020_250, true)
    );
    let branch = test.store.branch(chats[1].id).unwrap();
    assert_eq!(texts(&branch), ["[image]\n\nWhat is this?", "It is a cat.", "Sure?", ""]);
    let reply = &branch[1].message;
    assert_eq!((reply.thinking.as_str(), reply.model.as_deref()), ("Looking\n\nA cat.", Some("gpt-5")));
    assert_eq!((reply.role, reply.status, reply.created_at), (Role::Assistant, STOPPED, 1_700_000_004_000));
    assert_eq!(branch[3].message.thinking, "Still thinking");
    assert_eq!(branch[0].message.created_at, 1_700_000_001_500);
    assert_eq!(branch[1].versions.len(), 2);
    let other: Message = test.store.message(branch[1].versions[1]).unwrap();
    assert_eq!((other.text.as_str(), other.thinking.as_str()), ("A dog.", ""));
    assert_eq!(test.store.search("cat", &SearchScope::default(), 9).unwrap().places, 2);
}

#[test]
fn a_chatgpt_export_with_a_circle_is_refused() {
    let circle = json!([{"title": "Round", "mapping": {
        "a": {"message": said("user", 1.0, words("partial"), json!({})), "parent": "b", "children": ["b"]},
        "b": {"message": said("user", 1.0, words("partial"), json!({})), "parent": "a", "children": ["a"]}}}]);
    let message = refusal(circle.to_string());
    assert!(
        message.contains("chat 1") && message.contains("Round") && message.contains("circle"),
        "{message}"
    );
}

#[test]
fn a_long_chatgpt_conversation_is_read_without_recursion() {
    let mut mapping = serde_json::Map::new();
    for number in 0..20_000 {
        let parent = (number > 0).then(|| format!("n{}", number - 1));
        let child = format!("n{}", number + 1);
        let message = said("user", 1.0, words("deep"), json!({}));
        let (id, node) = node(&format!("n{number}"), parent.as_deref(), &[&child], message);
        mapping.insert(id, node);
    }
    let mut test = TestStore::new();
    let report = test.import(json!([{"title": "Deep", "mapping": mapping}]).to_string()).unwrap();
    assert_eq!(report.messages, 20_000);
    assert_eq!(test.shown().len(), 20_000);
}

fn lm_studio_conversation() -> Value {
    let part = |text: &str| json!([{"type": "text", "text": text}]);
    let block = |text: &str, style: Value| {
        json!({"type": "contentBlock", "stepIdentifier": "1", "content": part(text), "style": style,
               "defaultShouldIncludeInContext": true, "shouldIncludeInContext": true})
    };
    let reply = |steps: Vec<Value>| json!({"type": "multiStep", "role": "assistant", "senderInfo": {"senderName": "qwen3-4b"}, "steps": steps});
    let thinking = json!({"type": "thinking", "ended": true, "title": "Thought for 1 second"});
    json!({
        "name": "Greetings", "pinned": true, "createdAt": 1_700_000_000_000_u64, "preset": "", "tokenCount": 12,
        "userLastMessagedAt": 1_700_000_005_000_u64, "systemPrompt": "old",
        "perChatPredictionConfig": {"fields": [{"key": "llm.prediction.temperature", "value": 0.2},
                                               {"key": "llm.prediction.systemPrompt", "value": "Be kind."}]},
        "clientInput": "and then", "clientInputFiles": [], "userFilesSizeBytes": 0, "notes": [],
        "lastUsedModel": {"identifier": "qwen3-8b"},
        "messages": [
            {"versions": [{"type": "singleStep", "role": "user", "content": [
                {"type": "file", "fileIdentifier": "1.png", "fileType": "image"}, {"type": "text", "text": "Hello"}]}],
             "currentlySelected": 0},
            {"versions": [
                reply(vec![block("<think>\nA greeting.\n</think>", thinking), block("Hi!", Value::Null),
                           json!({"type": "debugInfoBlock", "debugInfo": "x"})]),
                reply(vec![json!({"type": "toolStatus", "callId": 1}), block("Good day.", Value::Null)])],
             "currentlySelected": 1},
            {"versions": [{"type": "singleStep", "role": "user", "content": part("How are you?")}], "currentlySelected": 0},
        ]
    })
}

#[test]
fn an_lm_studio_conversation_becomes_a_chat() {
    let conversation = lm_studio_conversation();
    let mut test = TestStore::new();
    let report = test.import(serde_json::to_string_pretty(&conversation).unwrap()).unwrap();
    assert_eq!(report, ImportReport { chats: 1, messages: 4, left_out: 2, missing_pictures: 0 });
    let chat = test.store.chat_page(None, None, 9).unwrap().chats.remove(0);
    assert_eq!((chat.title.as_str(), chat.pinned, chat.named), ("Greetings", true, true));
    assert_eq!((chat.created_at, chat.updated_at), (1_700_000_000_000, 1_700_000_005_000));
    let opened = test.store.open_chat(chat.id).unwrap();
    assert_eq!(
        (opened.settings.system_prompt.as_str(), opened.draft.text.as_str()),
        ("Be kind.", "and then")
    );
    assert_eq!(texts(&opened.messages), ["[image]\n\nHello", "Good day.", "How are you?"]);
    let other = test.store.message(opened.messages[1].versions[0]).unwrap();
    assert_eq!((other.text.as_str(), other.thinking.as_str()), ("Hi!", "A greeting."));
    assert_eq!(other.model.as_deref(), Some("qwen3-4b"));
}

#[test]
fn an_old_lm_studio_conversation_becomes_a_chat() {
    let old = json!({"name": null, "messages": [{"role": "system", "content": "Rules"}, {"role": "user", "content": "Old file"}]});
    let mut test = TestStore::new();
    test.import(old.to_string()).unwrap();
    assert_eq!(test.store.chats().unwrap()[0].title, "Old file");
    assert_eq!(texts(&test.shown()), ["Rules", "Old file"]);
}

#[test]
fn what_is_wrong_with_an_lm_studio_conversation_is_said() {
    let mut bad = lm_studio_conversation();
    bad["messages"][1]["currentlySelected"] = json!(2);
    let message = refusal(bad.to_string());
    assert!(message.contains("message 2 has no version 3"), "{message}");
    bad["messages"][1]["currentlySelected"] = json!(0);
    bad["messages"][2]["versions"][0]["content"] = json!(7);
    let message = refusal(bad.to_string());
    assert!(message.contains("chat 1") && message.contains("neither a text nor a list"), "{message}");
    bad["messages"][2]["versions"][0]["content"] = json!("text");
    bad["messages"][0]["versions"][0]["role"] = json!("robot");
    let message = refusal(bad.to_string());
    assert!(message.contains("message 1 is written by \"robot\""), "{message}");
}
