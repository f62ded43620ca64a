//! Replies that use tools: their steps and calls, and what the person has allowed.

use std::path::Path;

use foretoken_chats::{CallEnd, ChatsError, Consent, NewCall, Store, is_temporary};
use foretoken_protocol::{
    CallDecision, CallId, CallState, ChatId, DraftRun, ErrorReport, ExportedPictures, FinishReason,
    GenerationSettings, MessageId, MessageStatus, PermittedTool, PermittedTools, PinChange, Provenance,
    ReplyStats, ReplyStep, SearchScope, StepIds, Thinking, ToolServer,
};
use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

const STOPPED: MessageStatus = MessageStatus::Finished { reason: FinishReason::Stop };

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("chats.db")).unwrap();
    (folder, store)
}

fn settings() -> GenerationSettings {
    GenerationSettings {
        sampling: Default::default(),
        drafting: Default::default(),
        max_tokens: 64,
        thinking: Thinking::Off,
        stop: vec![],
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, ChatsError>) -> String {
    ErrorReport::from(result.unwrap_err()).code
}

fn begin(store: &mut Store) -> (ChatId, MessageId) {
    let chat = store.create_chat("a chat").unwrap().id;
    let question = store.add_user_message(chat, None, "where do herons live?").unwrap().id;
    (chat, store.begin_reply(chat, question, "demo", &settings()).unwrap().id)
}

fn write(store: &mut Store, reply: MessageId, text: &str, thinking: &str) {
    store.append_to_reply(reply, text, thinking, &Provenance::default()).unwrap();
}

const READ: NewCall<'_> =
    NewCall { server: Some("files"), tool: "read_file", arguments: "{\"path\": \"a`b\"}" };
const ONCE: Consent<'_> =
    Consent { decision: CallDecision::AllowedOnce, grant: None, arguments: "{\"path\": \"b\"}", seen: None };
const BUILT_IN: Consent<'_> =
    Consent { decision: CallDecision::BuiltIn, grant: None, arguments: "{}", seen: None };
const DONE: CallEnd<'_> = CallEnd {
    state: &CallState::Done,
    result: Some("{\"text\": \"kingfisher\"}"),
    for_model: Some("kingfisher\n```\n</details>"),
    left_out: Some(7),
};

fn ids(byte: u8) -> StepIds {
    StepIds { ids: vec![byte, 0, 255], tokenizer: "hash".into() }
}

fn asking(store: &mut Store, reply: MessageId, step: u32) -> CallId {
    let call = store.add_calls(reply, step, &[READ]).unwrap()[0];
    store.ask_call(call, false).unwrap();
    call
}

/// A reply of three steps: a call that was done and one that was refused, one that runs and one that is asked about,
/// and an answer that is being written.
fn turn(store: &mut Store) -> (ChatId, MessageId) {
    let (chat, reply) = begin(store);
    write(store, reply, "I look.", "Hm.");
    assert_eq!(store.begin_step(reply).unwrap(), 0);
    let stats = ReplyStats { emitted: 7, ..Default::default() };
    store.end_step(reply, FinishReason::Stop, Some(&ids(1)), Some(&stats)).unwrap();
    let call = asking(store, reply, 0);
    store.start_call(call, Some(ONCE)).unwrap();
    store.end_call(call, DONE).unwrap();
    let refused = store.add_calls(reply, 0, &[NewCall { server: None, ..READ }]).unwrap()[0];
    store.refuse_call(refused, "There is no such tool.", "unknown tool").unwrap();
    store.begin_step(reply).unwrap();
    write(store, reply, "", "So");
    store.end_step(reply, FinishReason::Stop, Some(&ids(2)), None).unwrap();
    let running = asking(store, reply, 1);
    store.start_call(running, Some(ONCE)).unwrap();
    asking(store, reply, 1);
    store.begin_step(reply).unwrap();
    write(store, reply, "By ", "");
    write(store, reply, "lakes.", "");
    (chat, reply)
}

fn shapes(steps: &[ReplyStep]) -> Vec<(&str, &str, Vec<&CallState>)> {
    let mut shapes = Vec::new();
    for ReplyStep { text, thinking, calls, .. } in steps {
        shapes.push((text.as_str(), thinking.as_str(), calls.iter().map(|call| &call.state).collect()));
    }
    shapes
}

/// How the steps of [`turn`] stand where nothing runs and nobody is asked.
fn assert_settled(steps: &[ReplyStep]) {
    let refused = CallState::Refused { reason: "There is no such tool.".into() };
    let settled = [
        ("I look.", "Hm.", vec![&CallState::Done, &refused]),
        ("", "So", vec![&CallState::Unknown, &CallState::Stopped]),
        ("By lakes.", "", vec![]),
    ];
    assert_eq!(shapes(steps), settled);
    assert_eq!(steps[2].status, MessageStatus::Interrupted);
    let [done, refused] = &steps[0].calls[..] else { panic!("{steps:?}") };
    assert_eq!((done.decision, done.left_out), (Some(CallDecision::AllowedOnce), Some(7)));
    assert_eq!(done.result.as_deref(), DONE.result);
    assert_eq!(done.arguments_sent.as_deref(), Some(ONCE.arguments));
    assert!(done.asked_at <= done.started_at && done.started_at <= done.ended_at);
    assert_eq!((refused.decision, refused.result_for_model.as_deref()), (None, Some("unknown tool")));
    assert_eq!(steps[1].calls[1].decision, None);
    assert_eq!(steps[0].stats.as_ref().map(|stats| stats.emitted), Some(7));
}

#[test]
fn a_reply_has_the_texts_of_its_steps_and_a_plain_one_has_no_step() {
    let (_folder, mut store) = store();
    let (chat, plain) = begin(&mut store);
    write(&mut store, plain, "plain", "");
    store.finish_reply(plain, STOPPED, None, None).unwrap();
    assert_eq!(store.steps(plain).unwrap(), []);
    assert!(store.steps_of_chat(chat).unwrap().is_empty());

    let (chat, reply) = turn(&mut store);
    let steps = store.steps(reply).unwrap();
    assert_eq!(steps[2].text, "By lakes.");
    assert_eq!(
        steps.iter().map(|step| step.ids.clone()).collect::<Vec<_>>(),
        [Some(ids(1)), Some(ids(2)), None]
    );
    let asked: Vec<_> = store.pending_calls(chat).unwrap().into_iter().map(|call| call.id).collect();
    assert_eq!(asked, [CallId { message: reply, step: 1, ordinal: 1 }]);
    store.end_step(reply, FinishReason::Stop, None, None).unwrap();
    assert_eq!(code(store.append_to_reply(reply, "more", "", &Provenance::default())), "no_step");
    let message = store.finish_reply(reply, STOPPED, None, None).unwrap();
    assert_eq!((&*message.text, &*message.thinking), ("I look.\n\nBy lakes.", "Hm.\n\nSo"));
    let known = store.provenance(reply).unwrap().answer;
    assert_eq!(known, [DraftRun(18, 0)]);
    assert_eq!(store.steps_of_chat(chat).unwrap()[&reply], store.steps(reply).unwrap());
    // Neither arguments nor results are words of the chat.
    for (query, found) in [("lakes", 1), ("kingfisher", 0), ("path", 0)] {
        assert_eq!(store.search(query, &SearchScope::default(), 9).unwrap().places, found, "{query}");
    }
    assert_eq!(store.chats().unwrap()[0].title, "a chat");
    assert_eq!(code(store.begin_step(reply)), "unknown_message", "nobody writes it");
}

#[test]
fn a_step_that_was_cut_is_gone_on_with_unless_a_call_of_it_has_run() {
    let (_folder, mut store) = store();
    let (_, reply) = begin(&mut store);
    store.begin_step(reply).unwrap();
    write(&mut store, reply, "I lo", "");
    assert_eq!(code(store.begin_step(reply)), "no_step");
    store.end_step(reply, FinishReason::Length, Some(&ids(1)), None).unwrap();
    let cut = store.add_calls(reply, 0, &[READ]).unwrap()[0];
    store.refuse_call(cut, "It was cut.", "").unwrap();
    store.finish_reply(reply, STOPPED, None, None).unwrap();
    store.continue_reply(reply).unwrap();
    assert_eq!(store.continue_step(reply).unwrap(), 0);
    write(&mut store, reply, "ok.", "");
    let step = store.end_step(reply, FinishReason::Stop, None, None).unwrap();
    assert_eq!((&*step.text, step.calls.len(), step.ids), ("I look.", 0, None));
    let call = store.add_calls(reply, 0, &[READ]).unwrap()[0];
    store.start_call(call, Some(BUILT_IN)).unwrap();
    store.end_call(call, DONE).unwrap();
    assert_eq!(code(store.continue_step(reply)), "no_step");
}

#[test]
fn what_runs_when_the_process_ends_is_unknown_and_a_question_stands_again() {
    let (folder, mut store) = store();
    let (chat, reply) = turn(&mut store);
    let asked = CallId { message: reply, step: 1, ordinal: 1 };
    store.decide_call(asked, ONCE).unwrap();
    let checking = store.add_calls(reply, 2, &[READ]).unwrap()[0];
    drop(store);
    let mut store = Store::open(&folder.path().join("chats.db")).unwrap();
    let steps = store.steps(reply).unwrap();
    assert_eq!((&*steps[2].text, steps[2].status), ("By lakes.", MessageStatus::Interrupted));
    assert_eq!(steps[1].calls[0].state, CallState::Unknown);
    assert!(steps[1].calls[0].ended_at.is_some());
    let pending = store.pending_calls(chat).unwrap();
    assert_eq!((pending[0].id, pending[0].decision, pending.len()), (asked, None, 1));
    assert_eq!(store.call(checking).unwrap().state, CallState::Checking);
    assert_eq!(code(store.start_call(asked, None)), "call_undecided");
    assert_eq!(store.start_call(asked, Some(ONCE)).unwrap().state, CallState::Running);
}

#[test]
fn versions_and_branches_take_the_steps_along_and_nothing_of_them_runs() {
    let (_folder, mut store) = store();
    let (chat, reply) = turn(&mut store);
    store.freeze_tools(chat, "[tools]").unwrap();
    let branched = store.branch_into_new_chat(reply).unwrap().id;
    assert_eq!(store.frozen_tools(branched).unwrap().as_deref(), Some("[tools]"));
    let copy = store.messages(branched).unwrap().pop().unwrap().id;
    let steps = store.steps(copy).unwrap();
    assert_settled(&steps);
    assert_eq!(steps[0].ids, Some(ids(1)));
    assert_eq!(store.pending_calls(branched).unwrap(), []);
    assert_eq!(store.pending_calls(chat).unwrap().len(), 1, "there it is still asked");

    let edited = store.edit_message(copy, "I look.\n\nIn reeds.").unwrap().id;
    let steps = store.steps(edited).unwrap();
    assert_eq!(shapes(&steps)[2], ("In reeds.", "", vec![]));
    assert_eq!(
        steps.iter().map(|step| step.ids.clone()).collect::<Vec<_>>(),
        [Some(ids(1)), Some(ids(2)), None]
    );
    let edited = store.edit_message(copy, "Elsewhere.").unwrap().id;
    let steps = store.steps(edited).unwrap();
    assert_eq!(shapes(&steps)[0].0, "");
    assert_eq!((steps[0].ids.clone(), &*steps[2].text), (None, "Elsewhere."));
}

#[test]
fn a_deletion_hides_the_calls_undoing_brings_them_back_and_a_purge_removes_them() {
    let (folder, mut store) = store();
    let (chat, reply) = turn(&mut store);
    let before = store.steps(reply).unwrap();
    let asked = CallId { message: reply, step: 1, ordinal: 1 };
    let deletion = store.delete_message(reply).unwrap();
    assert_eq!(store.pending_calls(chat).unwrap(), []);
    assert_eq!(code(store.start_call(asked, Some(ONCE))), "unknown_message");
    store.undo_deletion(deletion).unwrap();
    assert_eq!(store.steps(reply).unwrap(), before);
    let whole = store.delete_chat(chat).unwrap();
    assert_eq!(store.pending_calls(chat).unwrap(), []);
    assert_eq!(code(store.start_call(asked, Some(ONCE))), "unknown_message");
    store.undo_deletion(whole).unwrap();
    assert_eq!(store.pending_calls(chat).unwrap().len(), 1);

    let tool = PermittedTool { tool: "read_file".into(), fingerprint: "t".into() };
    store.permit_tools("files", "s", &PermittedTools::One { tool }, Some(chat)).unwrap();
    store.delete_chat(chat).unwrap();
    assert_eq!(store.allowed(chat, "files", "s", "read_file", "t").unwrap(), None);
    assert_eq!(store.tool_permissions().unwrap(), []);
    store.forget_deletions().unwrap();
    while store.purge_deleted().unwrap() {}
    let db = Connection::open(folder.path().join("chats.db")).unwrap();
    for table in ["step", "call", "permission", "permission_tool"] {
        let rows: u32 = db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}

fn export(store: &Store, file: &Path) -> String {
    store.export_json(None, ExportedPictures::LeftOut, file).unwrap();
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn a_file_brings_steps_and_neither_servers_nor_permissions_nor_questions_nor_tokens() {
    let (folder, mut store) = store();
    let (chat, _) = turn(&mut store);
    let server = ToolServer {
        slug: "secret-server".into(),
        name: "Files".into(),
        transport: "{}".into(),
        enabled: true,
        created_at: 1,
    };
    store.put_tool_server(&server).unwrap();
    let tool = PermittedTool { tool: "read_file".into(), fingerprint: "secret-print".into() };
    store.permit_tools("secret-server", "secret-print", &PermittedTools::One { tool }, None).unwrap();
    store.freeze_tools(chat, "secret-tools").unwrap();
    let file = folder.path().join("chats.json");
    let exported = export(&store, &file);
    assert!(!exported.contains("secret") && !exported.contains("\"ids\""), "{exported}");
    let mut other = Store::open(&folder.path().join("other.db")).unwrap();
    other.import(&file, &|_, _| unreachable!("it holds no picture")).unwrap();
    let chat = other.chats().unwrap()[0].id;
    let reply = other.messages(chat).unwrap().pop().unwrap().id;
    let steps = other.steps(reply).unwrap();
    assert_settled(&steps);
    assert!(steps.iter().all(|step| step.ids.is_none()));
    assert_eq!(other.pending_calls(chat).unwrap(), []);
    assert!(other.tool_servers().unwrap().is_empty() && other.tool_permissions().unwrap().is_empty());
    assert_eq!(other.search("kingfisher", &SearchScope::default(), 9).unwrap().places, 0);
    let again = folder.path().join("again.json");
    // What had not ended has ended here, and no time is compared.
    let timeless = |text: String| text.replace(char::is_numeric, "").replace("\"ended_at\":,", "");
    assert_eq!(timeless(export(&other, &again)), timeless(exported.clone()));

    for state in ["running", "asking", "checking"] {
        let forged = exported.replace("\"state\":\"done\"", &format!("\"state\":\"{state}\""));
        std::fs::write(&file, forged).unwrap();
        other.import(&file, &|_, _| unreachable!("it holds no picture")).unwrap();
        let chat = other.chats().unwrap().iter().map(|chat| chat.id).max().unwrap();
        let reply = other.messages(chat).unwrap().pop().unwrap().id;
        let is = other.steps(reply).unwrap()[0].calls[0].state.clone();
        let expected = if state == "running" { CallState::Unknown } else { CallState::Stopped };
        assert_eq!(is, expected, "{state}");
    }
}

#[test]
fn markdown_has_a_call_on_one_line_and_its_result_folded() {
    let (folder, mut store) = store();
    let (_, reply) = turn(&mut store);
    let file = folder.path().join("chat.md");
    store.export_markdown(reply, false, ExportedPictures::LeftOut, &file).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let call = "I look.\n\n\
                > **files\\: read\\_file** ` {\"path\": \"b\"} `\n\n<details>\n<summary>Result</summary>\n\n\
                ````\nkingfisher\n```\n</details>\n````\n\n</details>\n\n\
                > **read\\_file** `` {\"path\": \"a`b\"} `` (not run)";
    assert!(text.contains(call), "{text}");
    assert!(text.ends_with("(stopped)\n\nBy lakes.\n"), "{text}");
    assert!(!text.contains("Hm."));
}

#[test]
fn a_temporary_chat_keeps_its_calls_in_memory_and_takes_them_along_when_it_is_kept() {
    let (folder, mut stored) = store();
    let mut temporary = Store::temporary(&folder.path().join("temporary").join("chats")).unwrap();
    let (chat, _) = turn(&mut temporary);
    temporary.freeze_tools(chat, "[tools]").unwrap();
    let tool = PermittedTool { tool: "read_file".into(), fingerprint: "t".into() };
    let permission = temporary.permit_tools("files", "s", &PermittedTools::One { tool }, Some(chat)).unwrap();
    assert!(is_temporary(permission));
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(10).any(|part| part == b"kingfisher"));
    }
    let kept = stored.adopt(&temporary, chat).unwrap().id;
    let reply = stored.messages(kept).unwrap().pop().unwrap().id;
    let steps = stored.steps(reply).unwrap();
    assert_settled(&steps);
    assert_eq!(steps[0].ids, Some(ids(1)));
    assert_eq!(stored.frozen_tools(kept).unwrap().as_deref(), Some("[tools]"));
    assert_eq!(stored.tool_permissions().unwrap(), []);
    temporary.remove_all_but(None).unwrap();
    assert_eq!(temporary.tool_permissions().unwrap(), []);
}

#[test]
fn a_permission_holds_for_a_server_and_a_tool_as_they_were() {
    let (_folder, mut store) = store();
    let (chat, other) = (store.create_chat("one").unwrap().id, store.create_chat("two").unwrap().id);
    let tool = |tool: &str| PermittedTool { tool: tool.into(), fingerprint: format!("{tool}-1") };
    for name in ["read", "write"] {
        assert_eq!(store.pin_tool("files", name, &format!("{name}-1"), "{}").unwrap(), PinChange::New);
        assert_eq!(store.pin_tool("files", name, &format!("{name}-1"), "{}").unwrap(), PinChange::Same);
    }
    let one = PermittedTools::One { tool: tool("read") };
    let every = PermittedTools::Every { tools: vec![tool("read"), tool("write")] };
    let always = store.permit_tools("files", "s", &one, None).unwrap();
    let in_chat = store.permit_tools("files", "s", &every, Some(chat)).unwrap();
    let given: Vec<_> =
        store.tool_permissions().unwrap().into_iter().map(|one| (one.id, one.tools)).collect();
    assert_eq!(given, [(always, one), (in_chat, every)]);
    let allowed = |store: &Store, chat, server, tool, print| {
        store
            .allowed(chat, "files", server, tool, print)
            .unwrap()
            .map(|grant| (grant.permission, grant.decision))
    };
    let (by_chat, by_always) =
        (Some((in_chat, CallDecision::AllowedInChat)), Some((always, CallDecision::AllowedAlways)));
    for (chat, server, tool, print, grant) in [
        (chat, "s", "read", "read-1", by_always),
        (other, "s", "read", "read-1", by_always),
        (chat, "s", "write", "write-1", by_chat),
        (other, "s", "write", "write-1", None),
        (chat, "other", "read", "read-1", None),
        (chat, "s", "read", "read-2", None),
        (chat, "s", "new", "new-1", None),
    ] {
        assert_eq!(allowed(&store, chat, server, tool, print), grant, "{chat} {server} {tool} {print}");
    }
    assert_eq!(store.allowed(chat, "mail", "s", "read", "read-1").unwrap(), None, "another server's");

    let changed = store.pin_tool("files", "read", "read-2", "{\"new\": 1}").unwrap();
    assert!(
        matches!(&changed, PinChange::Changed { before } if before.fingerprint == "read-1"),
        "{changed:?}"
    );
    store.pin_tool("files", "read", "read-1", "{}").unwrap();
    assert_eq!(allowed(&store, chat, "s", "read", "read-1"), None, "what it was once is no way back");
    assert_eq!(allowed(&store, chat, "s", "write", "write-1"), by_chat);
    assert_eq!(store.tool_permissions().unwrap().len(), 1);
    store.revoke(in_chat).unwrap();
    assert_eq!(allowed(&store, chat, "s", "write", "write-1"), None);
    store.permit_tools("files", "s", &PermittedTools::One { tool: tool("write") }, None).unwrap();
    store.revoke_all().unwrap();
    assert_eq!(store.tool_permissions().unwrap(), []);
    assert_eq!(
        code(store.permit_tools("files", "s", &PermittedTools::One { tool: tool("write") }, Some(99))),
        "unknown_chat"
    );
    assert_eq!(code(store.pin_tool("files", "read", "read-3", "{")), "not_json");
}

#[test]
fn a_server_goes_with_all_that_was_known_and_allowed_of_it() {
    let (_folder, mut store) = store();
    let server = |slug: &str, enabled| ToolServer {
        slug: slug.into(),
        name: "Files".into(),
        transport: "{\"command\": \"/bin/files\"}".into(),
        enabled,
        created_at: 5,
    };
    for slug in ["notes", "files"] {
        store.put_tool_server(&server(slug, false)).unwrap();
        store.pin_tool(slug, "read", "t", "{}").unwrap();
        let tool = PermittedTool { tool: "read".into(), fingerprint: "t".into() };
        store.permit_tools(slug, "s", &PermittedTools::One { tool }, None).unwrap();
    }
    store.put_tool_server(&ToolServer { created_at: 9, ..server("files", true) }).unwrap();
    assert_eq!(store.tool_servers().unwrap(), [server("files", true), server("notes", false)]);
    store.remove_tool_server("files").unwrap();
    assert_eq!(store.tool_servers().unwrap(), [server("notes", false)]);
    assert_eq!(store.tool_pins("files").unwrap(), []);
    assert_eq!(store.tool_pins("notes").unwrap().len(), 1);
    assert_eq!(store.tool_permissions().unwrap().len(), 1);
}

#[test]
fn the_tools_of_a_chat_are_set_once_and_replaced_by_an_own_call() {
    let (_folder, mut store) = store();
    let chat = store.create_chat("a chat").unwrap().id;
    assert_eq!(store.freeze_tools(chat, "first").unwrap(), "first");
    assert_eq!(store.freeze_tools(chat, "second").unwrap(), "first");
    store.replace_frozen_tools(chat, Some("third")).unwrap();
    assert_eq!(store.frozen_tools(chat).unwrap().as_deref(), Some("third"));
    store.replace_frozen_tools(chat, None).unwrap();
    assert_eq!(store.frozen_tools(chat).unwrap(), None);
    assert_eq!(code(store.freeze_tools(99, "")), "unknown_chat");
}

/// What is done to a call.
#[derive(Debug, Clone, Copy)]
enum Act {
    Refuse,
    Ask,
    Decide(Consent<'static>),
    Start(Option<Consent<'static>>),
    Deny,
    Withdraw,
    End(usize),
}

const ENDS: [CallState; 7] = [
    CallState::Done,
    CallState::Failed,
    CallState::Stopped,
    CallState::TimedOut,
    CallState::Unknown,
    CallState::Asking,
    CallState::Running,
];

fn consents() -> Vec<Consent<'static>> {
    use CallDecision::{AllowedAlways, AllowedInChat, AllowedOnce, BuiltIn, Denied};
    let of = |decision, grant| Consent { decision, grant, arguments: "{}", seen: None };
    let decisions = [AllowedOnce, AllowedInChat, AllowedAlways, BuiltIn, Denied];
    decisions.into_iter().flat_map(|decision| [of(decision, None), of(decision, Some(3))]).collect()
}

fn acts() -> Vec<Act> {
    let mut acts = vec![Act::Refuse, Act::Ask, Act::Start(None), Act::Deny, Act::Withdraw];
    acts.extend(consents().into_iter().flat_map(|consent| [Act::Decide(consent), Act::Start(Some(consent))]));
    acts.extend((0..ENDS.len()).map(Act::End));
    acts
}

fn act(store: &mut Store, call: CallId, act: Act) -> Result<(), ChatsError> {
    match act {
        Act::Refuse => store.refuse_call(call, "no", "no"),
        Act::Ask => store.ask_call(call, false),
        Act::Decide(consent) => store.decide_call(call, consent),
        Act::Start(consent) => store.start_call(call, consent),
        Act::Deny => store.deny_call(call, "no"),
        Act::Withdraw => store.withdraw_call(call, None),
        Act::End(end) => store.end_call(call, CallEnd { state: &ENDS[end], ..DONE }),
    }
    .map(drop)
}

/// Whether a consent is one in this state: written apart from the store's own rule.
fn consents_in(state: &CallState, consent: Consent<'_>) -> bool {
    match consent.decision {
        CallDecision::Denied => false,
        CallDecision::BuiltIn => true,
        CallDecision::AllowedOnce => *state == CallState::Asking,
        _ => *state == CallState::Asking || consent.grant.is_some(),
    }
}

/// The state after an act, where it is allowed, and whether a decision is stored then.
fn expected(state: &CallState, decided: bool, act: Act) -> Option<(CallState, bool)> {
    let is_open = matches!(state, CallState::Checking | CallState::Asking);
    match act {
        Act::Refuse if *state == CallState::Checking => {
            Some((CallState::Refused { reason: "no".into() }, decided))
        }
        Act::Ask if *state == CallState::Checking => Some((CallState::Asking, decided)),
        Act::Decide(consent) if is_open && consents_in(state, consent) => Some((state.clone(), true)),
        Act::Start(Some(consent)) if is_open && consents_in(state, consent) => {
            Some((CallState::Running, true))
        }
        Act::Start(None) if is_open && decided => Some((CallState::Running, true)),
        Act::Deny if *state == CallState::Asking => Some((CallState::Denied, true)),
        Act::Withdraw if *state == CallState::Asking => Some((CallState::Stopped, false)),
        Act::End(end) if *state == CallState::Running && end < 5 => Some((ENDS[end].clone(), decided)),
        _ => None,
    }
}

#[test]
fn every_change_of_a_call_is_allowed_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::temporary(&folder.path().join("chats")).unwrap();
    let (_, reply) = begin(&mut store);
    store.begin_step(reply).unwrap();
    let to: [&[Act]; 7] = [
        &[],
        &[Act::Refuse],
        &[Act::Ask],
        &[Act::Ask, Act::Deny],
        &[Act::Start(Some(BUILT_IN))],
        &[Act::Ask, Act::Withdraw],
        &[Act::Decide(BUILT_IN)],
    ];
    let ends: Vec<Vec<Act>> = (0..5).map(|end| vec![Act::Start(Some(BUILT_IN)), Act::End(end)]).collect();
    for path in to.into_iter().map(<[Act]>::to_vec).chain(ends) {
        for last in acts() {
            let call = store.add_calls(reply, 0, &[READ]).unwrap()[0];
            path.iter().for_each(|&one| act(&mut store, call, one).unwrap());
            let before = store.call(call).unwrap();
            let done = act(&mut store, call, last);
            let after = store.call(call).unwrap();
            match expected(&before.state, before.decision.is_some(), last) {
                Some((state, decided)) => {
                    done.unwrap();
                    assert_eq!(
                        (&after.state, after.decision.is_some()),
                        (&state, decided),
                        "{path:?} {last:?}"
                    );
                }
                None => {
                    let code = code(done);
                    assert!(["call_state", "call_undecided"].contains(&&*code), "{path:?} {last:?}: {code}");
                    assert_eq!(after, before, "{path:?} {last:?}");
                }
            }
        }
    }
    let nowhere = CallId { message: reply, step: 9, ordinal: 0 };
    assert_eq!(code(store.ask_call(nowhere, false)), "unknown_call");
    assert_eq!(code(store.add_calls(reply, 9, &[READ])), "no_step");
}

#[test]
fn not_even_the_database_lets_a_call_run_twice_or_undecided() {
    let (folder, mut store) = store();
    let (_, reply) = turn(&mut store);
    let db = Connection::open(folder.path().join("chats.db")).unwrap();
    for (step, ordinal) in [(0, 0), (0, 1), (1, 1)] {
        let run = "UPDATE call SET state = 'running', ended_at = NULL, started_at = ifnull(started_at, 1)
                   WHERE message = ?1 AND step = ?2 AND ordinal = ?3";
        assert!(db.execute(run, (reply, step, ordinal)).is_err(), "{step} {ordinal}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_call_runs_at_most_once_never_undecided_and_never_after_its_end(
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..24),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::temporary(&folder.path().join("chats")).unwrap();
        let (_, reply) = begin(&mut store);
        store.begin_step(reply).unwrap();
        let call = store.add_calls(reply, 0, &[READ]).unwrap()[0];
        let acts = acts();
        let (mut runs, mut ended) = (0, false);
        for chosen in chosen {
            let last = acts[chosen.index(acts.len())];
            let before = store.call(call).unwrap();
            let done = act(&mut store, call, last);
            let after = store.call(call).unwrap();
            let expected = expected(&before.state, before.decision.is_some(), last);
            prop_assert_eq!(done.is_ok(), expected.is_some());
            match expected {
                Some((state, _)) => prop_assert_eq!(&after.state, &state),
                None => prop_assert_eq!(&after, &before),
            }
            prop_assert!(!ended || after == before);
            if after.state == CallState::Running && before.state != CallState::Running {
                runs += 1;
                prop_assert!(after.decision.is_some_and(|decision| decision != CallDecision::Denied));
                prop_assert!(after.arguments_sent.is_some() && after.started_at.is_some());
            }
            prop_assert!(runs <= 1);
            ended = after.ended_at.is_some();
        }
    }
}
