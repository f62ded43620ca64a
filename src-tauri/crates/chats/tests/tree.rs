//! The tree of messages: versions, branches, deletion and its undoing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foretoken_chats::{ChatsError, Store};
use foretoken_protocol::{
    ChatId, DeletionId, DraftRun, ErrorReport, FinishReason, GenerationSettings, Message, MessageId,
    MessageStatus, Provenance, Role, SearchScope, Thinking,
};
use proptest::prelude::*;
use proptest::sample::Index;
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

fn code(error: ChatsError) -> String {
    ErrorReport::from(error).code
}

fn ids(messages: &[Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}

fn reply(store: &mut Store, chat: ChatId, parent: MessageId, text: &str) -> MessageId {
    let id = store.begin_reply(chat, parent, "demo", &settings()).unwrap().id;
    store.append_to_reply(id, text, "thought", &Provenance::default()).unwrap();
    store.finish_reply(id, STOPPED, None, None).unwrap().id
}

/// A question with two replies, the first of which was followed by another exchange.
struct Family {
    chat: ChatId,
    question: MessageId,
    first: MessageId,
    follow_up: MessageId,
    answer: MessageId,
    second: MessageId,
}

fn family(store: &mut Store) -> Family {
    let chat = store.create_chat("family").unwrap().id;
    let question = store.add_user_message(chat, None, "question").unwrap().id;
    let first = reply(store, chat, question, "first");
    let follow_up = store.add_user_message(chat, Some(first), "follow-up").unwrap().id;
    let answer = reply(store, chat, follow_up, "answer");
    let second = reply(store, chat, question, "second");
    Family { chat, question, first, follow_up, answer, second }
}

#[test]
fn a_chosen_branch_is_remembered() {
    let (folder, mut store) = store();
    let Family { chat, question, first, follow_up, answer, second } = family(&mut store);
    assert_eq!(store.versions(first).unwrap(), [first, second]);
    assert_eq!(store.versions(question).unwrap(), [question]);
    assert_eq!(ids(&store.messages(chat).unwrap()), [question, second]);

    let listed = store.chat(chat).unwrap();
    store.show_branch(first).unwrap();
    assert_eq!(ids(&store.messages(chat).unwrap()), [question, first, follow_up, answer]);
    assert_eq!(store.chat(chat).unwrap(), listed, "looking is not writing");
    // Showing what is shown, though not to its end, changes nothing.
    store.show_branch(question).unwrap();
    assert_eq!(ids(&store.messages(chat).unwrap()), [question, first, follow_up, answer]);
    drop(store);

    let store = Store::open(&folder.path().join("chats.db")).unwrap();
    let branch = store.branch(chat).unwrap();
    let versions: Vec<_> = branch.iter().map(|shown| shown.versions.clone()).collect();
    assert_eq!(versions, [vec![question], vec![first, second], vec![follow_up], vec![answer]]);
    assert_eq!(store.open_chat(chat).unwrap().messages, branch);
    assert_eq!(ids(&store.path_to(follow_up).unwrap()), [question, first, follow_up]);
}

#[test]
fn an_edit_is_a_further_version() {
    let (_folder, mut store) = store();
    let Family { chat, question, first, answer, second, .. } = family(&mut store);
    let before = store.message(first).unwrap();
    let edited = store.edit_message(first, "first, edited").unwrap();
    assert_eq!((edited.role, edited.parent, edited.status), (Role::Assistant, Some(question), STOPPED));
    assert_eq!((edited.text.as_str(), edited.thinking.as_str()), ("first, edited", "thought"));
    assert_eq!((edited.model.as_deref(), &edited.stats, edited.edited), (Some("demo"), &None, true));
    assert_eq!(store.provenance(edited.id).unwrap(), Provenance::default());
    assert_eq!(store.message(first).unwrap(), before);
    let found = store.search("edited", &SearchScope::default(), 9).unwrap().chats;
    assert_eq!(found[0].messages.iter().map(|found| found.message).collect::<Vec<_>>(), [edited.id]);

    let copy = store.branch_into_new_chat(edited.id).unwrap().id;
    let copied = store.messages(copy).unwrap().pop().unwrap();
    assert_eq!((copied.text, copied.edited), (edited.text.clone(), true));
    store.delete_chat(copy).unwrap();

    // What the model adds leaves the mark, and knows nothing of what stands before it.
    store.continue_reply(edited.id).unwrap();
    let added = Provenance { answer: vec![DraftRun(5, 1)], ..Provenance::default() };
    store.append_to_reply(edited.id, " more", "", &added).unwrap();
    let grown = store.finish_reply(edited.id, STOPPED, None, None).unwrap();
    assert_eq!((grown.text.as_str(), grown.edited), ("first, edited more", true));
    assert_eq!(store.provenance(edited.id).unwrap().answer, [DraftRun(13, 0), DraftRun(5, 1)]);
    assert_eq!(store.versions(edited.id).unwrap(), [first, second, edited.id]);
    assert_eq!(ids(&store.messages(chat).unwrap()), [question, edited.id]);

    let asked = store.edit_message(question, "question, edited").unwrap();
    assert_eq!((asked.role, asked.parent, asked.edited), (Role::User, None, false));
    assert_eq!(ids(&store.messages(chat).unwrap()), [asked.id]);
    assert_eq!(ids(&store.path_to(answer).unwrap()).len(), 4);
}

#[test]
fn deleting_shows_what_is_beside_or_before() {
    let (_folder, mut store) = store();
    let Family { chat, question, first, follow_up, answer, second } = family(&mut store);
    let third = reply(&mut store, chat, question, "third");
    let shown = |store: &Store| ids(&store.messages(chat).unwrap());

    let last = store.delete_message(third).unwrap();
    assert_eq!(shown(&store), [question, second]);
    let middle = store.delete_message(second).unwrap();
    assert_eq!(shown(&store), [question, first, follow_up, answer]);
    let answers = store.delete_message(answer).unwrap();
    assert_eq!(shown(&store), [question, first, follow_up]);
    let rest = store.delete_message(question).unwrap();
    assert!(shown(&store).is_empty());
    assert_eq!(store.search("question", &SearchScope::default(), 9).unwrap().places, 0);

    // In any order: what stands below comes back with what is above.
    assert_eq!(store.undo_deletion(answers).unwrap(), chat);
    assert!(shown(&store).is_empty());
    assert_eq!(code(store.show_branch(answer).unwrap_err()), "unknown_message");
    store.undo_deletion(rest).unwrap();
    assert_eq!(shown(&store), [question, first, follow_up, answer]);
    store.undo_deletion(middle).unwrap();
    assert_eq!(shown(&store), [question, second]);
    store.undo_deletion(last).unwrap();
    assert_eq!(shown(&store), [question, third]);
    assert_eq!(store.versions(first).unwrap(), [first, second, third]);
    assert_eq!(code(store.undo_deletion(last).unwrap_err()), "unknown_deletion");
}

#[test]
fn a_deleted_chat_is_gone_until_it_is_brought_back() {
    let (_folder, mut store) = store();
    let Family { chat, question, second, .. } = family(&mut store);
    store.set_tags(chat, &["kept".to_owned()]).unwrap();
    store.set_draft_text(Some(chat), "half a thought").unwrap();
    let opened = store.open_chat(chat).unwrap();

    let deletion = store.delete_chat(chat).unwrap();
    assert!(store.chats().unwrap().is_empty() && store.tags().unwrap().is_empty());
    assert_eq!(store.chat_page(None, None, 9).unwrap().total, 0);
    assert_eq!(store.search("question", &SearchScope::default(), 9).unwrap().places, 0);
    assert_eq!(store.search("family", &SearchScope::default(), 9).unwrap().places, 0);
    for error in [
        store.messages(chat).unwrap_err(),
        store.open_chat(chat).unwrap_err(),
        store.delete_chat(chat).unwrap_err(),
        store.rename_chat(chat, "x").unwrap_err(),
        store.set_pinned(chat, true).unwrap_err(),
        store.set_draft_text(Some(chat), "x").unwrap_err(),
        store.add_user_message(chat, None, "x").unwrap_err(),
    ] {
        assert_eq!(code(error), "unknown_chat");
    }
    for error in [
        store.delete_message(question).unwrap_err(),
        store.edit_message(question, "x").unwrap_err(),
        store.continue_reply(second).unwrap_err(),
        store.branch_into_new_chat(second).unwrap_err(),
    ] {
        assert_eq!(code(error), "unknown_message");
    }
    assert_eq!(store.undo_deletion(deletion).unwrap(), chat);
    assert_eq!(store.open_chat(chat).unwrap(), opened);
    assert_eq!(store.search("family", &SearchScope::default(), 9).unwrap().places, 1);
}

#[test]
fn all_that_was_deleted_is_listed_until_it_is_back_or_gone_for_good() {
    let (folder, mut store) = store();
    let Family { chat, question, answer, second, .. } = family(&mut store);
    let other = store.create_chat("Owls").unwrap().id;
    let listed = |store: &Store| -> Vec<_> {
        let deletions = store.deletions().unwrap().into_iter();
        deletions.map(|one| (one.id, one.chat, one.message, one.title, one.excerpt)).collect()
    };
    let of_family = |id, message, excerpt: &str| (id, chat, message, "family".to_owned(), excerpt.to_owned());
    let owls = store.delete_chat(other).unwrap();
    let below = store.delete_message(answer).unwrap();
    let beside = store.delete_message(second).unwrap();
    let gone = (owls, other, None, "Owls".to_owned(), String::new());
    assert_eq!(
        listed(&store),
        [of_family(beside, Some(second), "second"), of_family(below, Some(answer), "answer"), gone.clone()]
    );

    // What is deleted with something else is listed again once that is back.
    let top = store.delete_message(question).unwrap();
    assert_eq!(listed(&store), [of_family(top, Some(question), "question"), gone.clone()]);
    let all = store.delete_chat(chat).unwrap();
    assert_eq!(listed(&store), [of_family(all, None, ""), gone.clone()]);
    store.undo_deletion(all).unwrap();
    store.undo_deletion(top).unwrap();
    store.undo_deletion(owls).unwrap();
    store.undo_deletion(below).unwrap();
    assert_eq!(listed(&store), [of_family(beside, Some(second), "second")]);
    drop(store);
    assert_eq!(listed(&Store::open(&folder.path().join("chats.db")).unwrap()), []);
}

#[test]
fn a_reply_that_is_deleted_while_it_is_written_is_written_on() {
    let (_folder, mut store) = store();
    let chat = store.create_chat("chat").unwrap().id;
    let question = store.add_user_message(chat, None, "?").unwrap().id;
    let writing = store.begin_reply(chat, question, "demo", &settings()).unwrap().id;
    let message = store.delete_message(question).unwrap();
    store.append_to_reply(writing, "half", "", &Provenance::default()).unwrap();
    let whole = store.delete_chat(chat).unwrap();
    store.append_to_reply(writing, " and whole", "", &Provenance::default()).unwrap();
    let ended = store.finish_reply(writing, STOPPED, None, None).unwrap();
    store.undo_deletion(whole).unwrap();
    store.undo_deletion(message).unwrap();
    assert_eq!(store.messages(chat).unwrap()[1], ended);
    assert_eq!(
        store.search("whole", &SearchScope::default(), 9).unwrap().chats[0].messages[0].message,
        writing
    );
}

#[test]
fn opening_again_purges_what_is_deleted_however_deep() {
    const DEPTH: usize = 2_500;
    let (folder, mut store) = store();
    let kept = family(&mut store);
    let chats = ["one message", "the whole chat"].map(|title| {
        let chat = store.create_chat(title).unwrap().id;
        let mut last = None;
        for number in 0..DEPTH {
            last = Some(store.add_user_message(chat, last, &format!("deep {number}")).unwrap().id);
        }
        (chat, store.messages(chat).unwrap()[0].id)
    });
    let [(one, first), (whole, _)] = chats;
    let copy = store.branch_into_new_chat(first).unwrap();
    let deletions = [store.delete_message(first).unwrap(), store.delete_chat(whole).unwrap()];
    assert_eq!(store.chat(copy.id).unwrap().origin.unwrap().message, None);
    drop(store);

    let mut store = Store::open(&folder.path().join("chats.db")).unwrap();
    for deletion in deletions {
        assert_eq!(code(store.undo_deletion(deletion).unwrap_err()), "unknown_deletion");
    }
    let mut pieces = 1;
    while store.purge_deleted().unwrap() {
        pieces += 1;
    }
    assert!(pieces > DEPTH / 1000, "others come in between");
    assert_eq!(code(store.message(first).unwrap_err()), "unknown_message");
    assert_eq!(store.messages(one).unwrap(), []);
    assert_eq!(code(store.messages(whole).unwrap_err()), "unknown_chat");
    assert_eq!(store.messages(kept.chat).unwrap().len(), 2);
    assert_eq!(store.search("deep", &SearchScope::default(), 9).unwrap().places, 1, "what was copied stays");
    // Ids are never given twice.
    assert!(store.create_chat("new").unwrap().id > copy.id);
}

#[test]
fn a_branch_becomes_a_chat_with_the_same_settings() {
    let (_folder, mut store) = store();
    let Family { chat, question, first, follow_up, .. } = family(&mut store);
    let preset = store.add_preset("short", "Be short.", None).unwrap().id;
    let chat_settings = foretoken_protocol::ChatSettings {
        without_standing: true,
        without_project: true,
        system_prompt: "Be short.".into(),
        generation: Some(settings()),
        preset: Some(preset),
        tools: vec!["calculator".into(), "files".into()],
    };
    store.set_chat_settings(chat, &chat_settings).unwrap();
    store.set_tags(chat, &["b".into(), "a".into()]).unwrap();
    store.set_draft_text(Some(chat), "not sent").unwrap();
    let before = store.open_chat(chat).unwrap();

    let copy = store.branch_into_new_chat(follow_up).unwrap();
    let origin = copy.origin.clone().unwrap();
    assert_eq!((origin.chat, origin.message), (chat, Some(follow_up)));
    assert_eq!(
        (copy.title.as_str(), copy.tags.as_slice()),
        ("family", &["a".to_owned(), "b".to_owned()][..])
    );
    let opened = store.open_chat(copy.id).unwrap();
    assert_eq!((opened.settings, opened.draft.text.as_str()), (chat_settings, ""));
    let sources = [question, first, follow_up].map(|id| store.message(id).unwrap());
    assert_eq!(opened.messages.len(), sources.len());
    let mut parent = None;
    for (copied, source) in opened.messages.iter().zip(sources) {
        let id = copied.message.id;
        assert_eq!(copied.message, Message { id, parent, ..source });
        assert_eq!(copied.versions, [id]);
        parent = Some(id);
    }
    assert_eq!(store.open_chat(chat).unwrap(), before);
    store.delete_chat(chat).unwrap();
    assert_eq!(store.chat(copy.id).unwrap().origin, None);
}

#[test]
fn a_chat_goes_on_in_a_new_one_behind_a_summary_that_can_be_changed() {
    let (_folder, mut store) = store();
    let Family { chat, follow_up, answer, .. } = family(&mut store);
    store.show_branch(answer).unwrap();
    store.set_tags(chat, &["a".into()]).unwrap();
    let before = store.open_chat(chat).unwrap();
    let texts = |messages: &[Message]| messages.iter().map(|one| one.text.clone()).collect::<Vec<_>>();

    let new = store.go_on_with_summary(answer, "In short.", "demo", &[follow_up, answer]).unwrap();
    let origin = new.origin.clone().unwrap();
    assert_eq!((origin.chat, origin.message, new.tags), (chat, Some(answer), vec!["a".to_owned()]));
    assert_eq!(store.open_chat(chat).unwrap(), before);
    let shown = store.messages(new.id).unwrap();
    assert_eq!(texts(&shown), ["In short.", "follow-up", "answer"]);
    assert!(shown[0].is_summary() && !shown[0].edited, "{:?}", shown[0]);
    let source = store.message(answer).unwrap();
    assert_eq!(shown[2], Message { id: shown[2].id, parent: Some(shown[1].id), ..source });
    assert_eq!(store.search("short", &SearchScope::default(), 9).unwrap().places, 1);

    let edited = store.edit_message(shown[0].id, "In other words.").unwrap();
    assert!(edited.is_summary() && edited.edited, "{edited:?}");
    assert_eq!(store.versions(edited.id).unwrap(), [shown[0].id, edited.id]);
    assert_eq!(texts(&store.messages(new.id).unwrap()), ["In other words.", "follow-up", "answer"]);
    store.show_branch(shown[0].id).unwrap();
    assert_eq!(store.messages(new.id).unwrap(), shown, "the one before is as it was");

    let alone = store.go_on_with_summary(answer, "Alone.", "demo", &[]).unwrap();
    assert_eq!(texts(&store.messages(alone.id).unwrap()), ["Alone."]);
    let chats = store.chats().unwrap().len();
    assert_eq!(code(store.go_on_with_summary(answer, "x", "demo", &[999]).unwrap_err()), "unknown_message");
    assert_eq!(store.chats().unwrap().len(), chats, "all of it or nothing");
}

/// What a person may do to a tree; an index chooses among the messages that there are.
#[derive(Debug, Clone)]
enum Action {
    Begin,
    Follow(Index),
    Edit(Index),
    Continue(Index),
    Retry(Index),
    Show(Index),
    Delete(Index),
    Undo(Index),
    Branch(Index),
    Purge,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        1 => Just(Action::Begin),
        5 => any::<Index>().prop_map(Action::Follow),
        3 => any::<Index>().prop_map(Action::Edit),
        2 => any::<Index>().prop_map(Action::Continue),
        3 => any::<Index>().prop_map(Action::Retry),
        3 => any::<Index>().prop_map(Action::Show),
        3 => any::<Index>().prop_map(Action::Delete),
        3 => any::<Index>().prop_map(Action::Undo),
        1 => any::<Index>().prop_map(Action::Branch),
        1 => Just(Action::Purge),
    ]
}

/// The tree as it should be. A message is hidden if it or one before it is the top of a deletion.
#[derive(Debug, Default)]
struct Model {
    messages: BTreeMap<MessageId, (Option<MessageId>, String)>,
    /// Replies that a person has edited.
    edited: BTreeSet<MessageId>,
    deletions: BTreeMap<DeletionId, MessageId>,
    /// The branch that was shown last.
    shown: Vec<MessageId>,
}

impl Model {
    fn path(&self, id: MessageId) -> Vec<MessageId> {
        let mut path: Vec<_> = std::iter::successors(Some(id), |id| self.messages[id].0).collect();
        path.reverse();
        path
    }

    fn hidden(&self, id: MessageId) -> bool {
        self.path(id).iter().any(|id| self.deletions.values().any(|top| top == id))
    }

    fn visible(&self) -> Vec<MessageId> {
        self.messages.keys().copied().filter(|&id| !self.hidden(id)).collect()
    }

    fn children(&self, parent: Option<MessageId>) -> Vec<MessageId> {
        self.visible().into_iter().filter(|id| self.messages[id].0 == parent).collect()
    }

    /// What must hold after every action. Takes over what is shown.
    fn check(&mut self, store: &Store, chat: ChatId) {
        let visible = self.visible();
        for (&id, (parent, text)) in &self.messages {
            let message = store.message(id).expect("nothing typed is lost");
            assert_eq!((&message.parent, &message.text), (parent, text));
            assert_eq!(message.edited, self.edited.contains(&id));
            assert!(parent.is_none_or(|parent| parent < id));
            match visible.contains(&id) {
                true => assert_eq!(store.versions(id).unwrap(), self.children(*parent)),
                false => assert_eq!(code(store.versions(id).unwrap_err()), "unknown_message"),
            }
        }
        let branch = store.branch(chat).unwrap();
        let shown: Vec<_> = branch.iter().map(|shown| shown.message.id).collect();
        assert_eq!(ids(&store.messages(chat).unwrap()), shown);
        match shown.last() {
            None => assert!(visible.is_empty()),
            Some(&leaf) => {
                assert_eq!(shown, self.path(leaf), "connected from the root on");
                assert!(shown.iter().all(|id| visible.contains(id)));
                assert!(self.children(Some(leaf)).is_empty(), "nothing is left out at the end");
            }
        }
        for shown in branch {
            assert_eq!(shown.versions, self.children(shown.message.parent));
        }
        self.shown = shown;
    }
}

/// Everything that can be seen of all chats.
fn everything(store: &Store, folder: &Path) -> String {
    let file = folder.join("all.json");
    store.export_json(None, Default::default(), &file).unwrap();
    std::fs::read_to_string(file).unwrap()
}

fn act(store: &mut Store, model: &mut Model, chat: ChatId, action: &Action, folder: &Path, number: usize) {
    let visible = model.visible();
    let chosen = |index: &Index| (!visible.is_empty()).then(|| visible[index.index(visible.len())]);
    let before = model.shown.clone();
    let text = format!("text {number}");
    let added = |model: &mut Model, store: &Store, message: Message| {
        model.messages.insert(message.id, (message.parent, message.text));
        model.check(store, chat);
        assert_eq!(model.shown.last(), Some(&message.id), "what is new is shown");
    };
    match action {
        Action::Begin => {
            let message = store.add_user_message(chat, None, &text).unwrap();
            added(model, store, message);
        }
        Action::Follow(index) => {
            let message = store.add_user_message(chat, chosen(index), &text).unwrap();
            assert_eq!(message.parent, chosen(index));
            added(model, store, message);
        }
        Action::Edit(index) => {
            let Some(id) = chosen(index) else { return };
            let message = store.edit_message(id, &text).unwrap();
            assert_eq!(message.parent, model.messages[&id].0);
            if message.role == Role::Assistant {
                model.edited.insert(message.id);
            }
            added(model, store, message);
        }
        Action::Continue(index) => {
            let Some(&id) = chosen(index).and_then(|id| model.edited.get(&id)) else { return };
            store.continue_reply(id).unwrap();
            store.append_to_reply(id, &text, "", &Provenance::default()).unwrap();
            let message = store.finish_reply(id, STOPPED, None, None).unwrap();
            model.messages.insert(id, (message.parent, message.text));
            model.check(store, chat);
            assert_eq!(model.shown, before, "it grows where it is");
        }
        Action::Retry(index) => {
            let Some(id) = chosen(index) else { return };
            let begun = store.begin_reply(chat, id, "demo", &settings()).unwrap().id;
            store.append_to_reply(begun, &text, "", &Provenance::default()).unwrap();
            let message = store.finish_reply(begun, STOPPED, None, None).unwrap();
            added(model, store, message);
        }
        Action::Show(index) => {
            let Some(id) = chosen(index) else { return };
            store.show_branch(id).unwrap();
            model.check(store, chat);
            assert!(model.shown.contains(&id));
            assert!(!before.contains(&id) || model.shown == before);
        }
        Action::Delete(index) => {
            let Some(id) = chosen(index) else { return };
            delete(store, model, chat, id, folder);
        }
        Action::Undo(index) => {
            let deletions: Vec<_> = model.deletions.keys().copied().collect();
            if deletions.is_empty() {
                return;
            }
            let deletion = deletions[index.index(deletions.len())];
            store.undo_deletion(deletion).unwrap();
            model.deletions.remove(&deletion);
            model.check(store, chat);
        }
        Action::Branch(index) => {
            let Some(id) = chosen(index) else { return };
            branch(store, model, chat, id);
        }
        Action::Purge => purge(store, model, chat),
    }
}

/// Deletes a message, brings it back, and deletes it again.
fn delete(store: &mut Store, model: &mut Model, chat: ChatId, id: MessageId, folder: &Path) {
    let before = model.shown.clone();
    let all = everything(store, folder);
    let undone = store.delete_message(id).unwrap();
    store.undo_deletion(undone).unwrap();
    assert_eq!(everything(store, folder), all, "undoing is exact");
    let deletion = store.delete_message(id).unwrap();
    model.deletions.insert(deletion, id);
    model.check(store, chat);
    assert!(before.contains(&id) || model.shown == before);
    // As much as can be of what was shown still is.
    let kept = before.iter().take_while(|&&shown| shown != id).count();
    assert_eq!(model.shown[..kept], before[..kept]);
}

/// Makes a chat of its own of what leads to a message; the chat stays as it is.
fn branch(store: &mut Store, model: &mut Model, chat: ChatId, id: MessageId) {
    let before = model.shown.clone();
    let copy = store.branch_into_new_chat(id).unwrap();
    let texts = |messages: Vec<Message>| messages.into_iter().map(|message| message.text).collect::<Vec<_>>();
    assert_eq!(texts(store.messages(copy.id).unwrap()), texts(store.path_to(id).unwrap()));
    model.check(store, chat);
    assert_eq!(model.shown, before);
}

/// Removes what is deleted for good, of which nothing is seen.
fn purge(store: &mut Store, model: &mut Model, chat: ChatId) {
    let (before, visible) = (model.shown.clone(), model.visible());
    store.forget_deletions().unwrap();
    while store.purge_deleted().unwrap() {}
    model.messages.retain(|id, _| visible.contains(id));
    model.deletions.clear();
    model.check(store, chat);
    assert_eq!(model.shown, before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_sequence_of_actions_keeps_a_whole_tree(actions in prop::collection::vec(action(), 1..30)) {
        let (folder, mut store) = store();
        let chat = store.create_chat("tree").unwrap().id;
        let mut model = Model::default();
        for (number, action) in actions.iter().enumerate() {
            act(&mut store, &mut model, chat, action, folder.path(), number);
        }
        let shown = model.shown.clone();
        drop(store);
        // Opening again makes deletions final, and otherwise changes nothing.
        let mut store = Store::open(&folder.path().join("chats.db")).unwrap();
        while store.purge_deleted().unwrap() {}
        let visible = model.visible();
        model.messages.retain(|id, _| visible.contains(id));
        model.deletions.clear();
        model.check(&store, chat);
        prop_assert_eq!(model.shown, shown);
    }
}
