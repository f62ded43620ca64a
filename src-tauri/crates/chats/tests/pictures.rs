//! Pictures of messages, drafts and unsent edits: what has them, when their files go, and that none is lost.
#![cfg(unix)]

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::slice::from_ref;
use std::time::{Duration, SystemTime};

use foretoken_chats::{Reader, Store, restore_backup};
use foretoken_protocol::{
    ChatId, DeletionId, Draft, ErrorReport, MessageId, MessagePicture, PictureDetail, PictureFacts,
    PictureFormat,
};
use proptest::prelude::*;
use proptest::sample::Index;
use rusqlite::Connection;
use tempfile::TempDir;

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    (folder, path)
}

fn facts(view: &str) -> PictureFacts {
    PictureFacts {
        format: PictureFormat::Heic,
        width: 150,
        height: 100,
        resized_width: 160,
        resized_height: 96,
        tokens: 15,
        digest: String::new(),
        view: view.into(),
        notes: Vec::new(),
    }
}

/// Gives the store a picture whose file holds `content`.
fn give(store: &mut Store, content: &str) -> MessagePicture {
    let view = format!("view of {content}");
    let kept = store.picture_files().keep(content.as_bytes(), view.as_bytes(), &facts("view.jpg")).unwrap();
    store.add_picture(&kept, &format!("{content}.heic"), PictureDetail::High).unwrap()
}

/// Makes all pictures two days older.
fn age(path: &Path) {
    let days = Duration::from_secs(2 * 24 * 60 * 60);
    for file in files(path) {
        let file = File::open(file).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        file.set_modified(modified - days).unwrap();
    }
    let older = "UPDATE picture SET added_at = added_at - ?1";
    Connection::open(path).unwrap().execute(older, [days.as_millis() as u64]).unwrap();
}

/// The files of pictures beside the chats at `path`.
fn files(path: &Path) -> BTreeSet<PathBuf> {
    let entries = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    entries(&path.with_file_name("pictures")).iter().flat_map(|shard| entries(shard)).collect()
}

/// The files that pictures of these hashes have.
fn files_of(store: &Store, hashes: impl IntoIterator<Item = String>) -> BTreeSet<PathBuf> {
    let of = |hash: String| {
        let files = store.picture_files();
        [files.original(&hash).expect("the original is there"), files.view(&hash).expect("the view is there")]
    };
    hashes.into_iter().flat_map(of).collect()
}

fn purge(store: &mut Store) {
    store.forget_deletions().unwrap();
    while store.purge_deleted().unwrap() {}
}

#[test]
fn a_message_has_its_pictures_in_their_order_and_its_versions_and_copies_do() {
    let (folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let [owl, bell] = ["owl", "bell"].map(|content| give(&mut store, content));
    let told = MessagePicture {
        hash: owl.hash.clone(),
        name: "owl.heic".into(),
        format: PictureFormat::Heic,
        detail: PictureDetail::High,
        width: 150,
        height: 100,
        tokens: 15,
        bytes: 3,
        missing: false,
    };
    assert_eq!(owl, told);

    // The same picture may come twice, under two names and in two details.
    let again =
        MessagePicture { name: "“owl”.png".into(), detail: PictureDetail::Low, tokens: 4, ..owl.clone() };
    let pictures = [bell.clone(), owl.clone(), again];
    let asked = store.add_user_message_with_pictures(chat, None, "Who?", &pictures).unwrap();
    assert_eq!(asked.pictures, pictures);
    let plain = store.add_user_message(chat, Some(asked.id), "And?").unwrap();
    assert_eq!(plain.pictures, []);
    let kept = store.edit_message(asked.id, "Who is it?").unwrap();
    let changed = store.edit_message_with_pictures(asked.id, "Who?", from_ref(&owl)).unwrap();
    let removed = store.edit_message_with_pictures(changed.id, "Who?", &[]).unwrap();
    let copy = store.branch_into_new_chat(plain.id).unwrap().id;

    drop(store);
    let mut store = Store::open(&path).unwrap();
    let read = |store: &Store| {
        let of = |id| store.message(id).unwrap().pictures;
        assert_eq!([of(asked.id), of(kept.id)], [pictures.clone(), pictures.clone()]);
        assert_eq!([of(changed.id), of(removed.id)], [vec![owl.clone()], vec![]]);
        let copied = store.messages(copy).unwrap();
        assert_eq!([&copied[0].pictures[..], &copied[1].pictures[..]], [&pictures[..], &[]]);
    };
    read(&store);
    Reader::open(&path)
        .unwrap()
        .export_json(None, Default::default(), &folder.path().join("chats.json"))
        .unwrap();
    let deletion = store.delete_message(asked.id).unwrap();
    store.undo_deletion(deletion).unwrap();
    read(&store);
}

#[test]
fn a_draft_keeps_pictures_beside_its_text() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let owl = give(&mut store, "owl");
    for chat in [None, Some(chat)] {
        store.set_draft_pictures(chat, from_ref(&owl)).unwrap();
        let draft = |text: &str, pictures: &[MessagePicture]| Draft {
            text: text.into(),
            files: Vec::new(),
            pictures: pictures.into(),
        };
        assert_eq!(store.draft(chat).unwrap(), draft("", from_ref(&owl)));
        store.set_draft_text(chat, "Who?").unwrap();
        store.set_draft_text(chat, "").unwrap();
        store.set_draft_text(chat, "Who").unwrap();
        assert_eq!(store.draft(chat).unwrap(), draft("Who", from_ref(&owl)));
        age(&path);
        purge(&mut store);
        assert_eq!(files(&path), files_of(&store, [owl.hash.clone()]));
        store.set_draft_pictures(chat, &[]).unwrap();
        assert_eq!(store.draft(chat).unwrap(), draft("Who", &[]));
    }
    age(&path);
    purge(&mut store);
    assert_eq!(files(&path), BTreeSet::new());
}

#[test]
fn an_unsent_edit_keeps_the_pictures_that_it_changed() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let [owl, bell] = ["owl", "bell"].map(|content| give(&mut store, content));
    let asked = store.add_user_message_with_pictures(chat, None, "Who?", from_ref(&owl)).unwrap().id;
    let edit = |store: &Store| {
        let [edit] = <[_; 1]>::try_from(store.open_chat(chat).unwrap().edits).unwrap();
        (edit.text, edit.pictures)
    };
    store.set_edit(asked, Some("Who"), None).unwrap();
    assert_eq!(edit(&store), ("Who".into(), None), "those of the message");
    let changed = [bell.clone(), owl.clone()];
    store.set_edit(asked, Some("Who?"), Some(&changed)).unwrap();
    age(&path);
    purge(&mut store);
    drop(store);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(edit(&store), ("Who?".into(), Some(changed.to_vec())));
    assert_eq!(files(&path), files_of(&store, [owl.hash.clone(), bell.hash]));

    store.set_edit(asked, Some("Who?"), Some(&[])).unwrap();
    assert_eq!(edit(&store), ("Who?".into(), Some(Vec::new())), "all were taken away");
    let unknown = MessagePicture { hash: "0".repeat(64), ..owl.clone() };
    let refused = store.set_edit(asked, Some("Who?"), Some(&[unknown])).unwrap_err();
    assert_eq!(ErrorReport::from(refused).code, "unknown_picture");
    age(&path);
    purge(&mut store);
    assert_eq!(files(&path), files_of(&store, [owl.hash]), "nothing has the other any more");
}

#[test]
fn files_are_as_they_were_given_and_for_nobody_else() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let files = store.picture_files();
    let kept = files.keep(b"abc", b"a view", &facts("view.png")).unwrap();
    let picture = store.add_picture(&kept, "abc.png", PictureDetail::Standard).unwrap();
    assert_eq!(picture.hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let shard = path.with_file_name("pictures").join("ba");
    let (original, view) = (files.original(&picture.hash).unwrap(), files.view(&picture.hash).unwrap());
    assert_eq!(
        [&original, &view],
        [&shard.join(&picture.hash), &shard.join(format!("{}.view.png", picture.hash))]
    );
    assert_eq!([fs::read(&original).unwrap(), fs::read(&view).unwrap()], [&b"abc"[..], b"a view"]);
    for file in [original, view] {
        assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn what_is_no_picture_of_the_store_is_refused() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let owl = give(&mut store, "owl");
    let asked = store.add_user_message(chat, None, "Who?").unwrap();
    for hash in ["../../chats.db", "", "ä", &"é".repeat(32), &"0".repeat(64), &owl.hash.to_uppercase()] {
        assert_eq!((store.picture_files().original(hash), store.picture_files().view(hash)), (None, None));
        let unknown = [owl.clone(), MessagePicture { hash: hash.into(), ..owl.clone() }];
        let refused = [
            store.add_user_message_with_pictures(chat, None, "Who?", &unknown).unwrap_err(),
            store.edit_message_with_pictures(asked.id, "Who?", &unknown).unwrap_err(),
            store.set_draft_pictures(Some(chat), &unknown).unwrap_err(),
        ];
        assert_eq!(refused.map(|error| ErrorReport::from(error).code), ["unknown_picture"; 3]);
    }
    assert_eq!(store.messages(chat).unwrap(), [asked], "nothing was added");
    assert_eq!(store.draft(Some(chat)).unwrap(), Draft::default());
    let gone = store.picture_files().keep(b"gone", b"", &facts("view.jpg")).unwrap();
    files(&path).difference(&files_of(&store, [owl.hash])).for_each(|file| fs::remove_file(file).unwrap());
    let refused = store.add_picture(&gone, "gone.png", PictureDetail::Low).unwrap_err();
    assert_eq!(ErrorReport::from(refused).code, "unknown_picture");
}

#[test]
fn a_missing_file_is_said_and_ends_when_it_is_given_again() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let [owl, bell] = ["owl", "bell"].map(|content| give(&mut store, content));
    store.set_draft_pictures(Some(chat), from_ref(&owl)).unwrap();
    store.add_user_message_with_pictures(chat, None, "Who?", &[owl.clone(), bell]).unwrap();
    fs::remove_file(store.picture_files().original(&owl.hash).unwrap()).unwrap();
    let missing = |store: &Store| {
        let opened = store.open_chat(chat).unwrap();
        let of =
            |pictures: &[MessagePicture]| pictures.iter().map(|picture| picture.missing).collect::<Vec<_>>();
        (of(&opened.draft.pictures), of(&opened.messages[0].message.pictures))
    };
    assert_eq!(missing(&store), (vec![true], vec![true, false]));
    assert_eq!(store.picture_files().original(&owl.hash), None);
    give(&mut store, "owl");
    assert_eq!(missing(&store), (vec![false], vec![false, false]));
}

#[test]
fn files_go_a_day_after_nothing_has_them_any_more() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let [owl, bell, never_sent] = ["owl", "bell", "never sent"].map(|content| give(&mut store, content).hash);
    // Of a process that ended before it committed.
    store.picture_files().keep(b"orphan", b"", &facts("view.png")).unwrap();
    let part = files(&path).first().unwrap().with_file_name("part-Ab12Cd");
    fs::write(&part, "half of").unwrap();
    let of_a_person = part.with_file_name("notes.txt");
    fs::write(&of_a_person, "mine").unwrap();
    let of = |store: &mut Store, content: &str| [give(store, content)];
    let pictures = of(&mut store, "owl");
    store.add_user_message_with_pictures(chat, None, "Who?", &pictures).unwrap();
    let pictures = of(&mut store, "bell");
    let deleted = store.add_user_message_with_pictures(chat, None, "Where?", &pictures).unwrap().id;

    let everything = files(&path);
    assert_eq!(everything.len(), 10);
    purge(&mut store);
    assert_eq!(files(&path), everything, "what is new may be about to be sent");
    age(&path);
    give(&mut store, "never sent");
    store.delete_message(deleted).unwrap();
    store.purge_deleted().unwrap();
    let with_person = |files: BTreeSet<PathBuf>| &files | &BTreeSet::from([of_a_person.clone()]);
    let left = files_of(&store, [owl.clone(), bell, never_sent]);
    assert_eq!(
        files(&path),
        with_person(left),
        "what can be undone keeps its picture, and what was given again"
    );
    age(&path);
    drop(store);
    let mut store = Store::open(&path).unwrap();
    store.purge_deleted().unwrap();
    assert_eq!(files(&path), with_person(files_of(&store, [owl])));
}

#[test]
fn a_backup_has_its_pictures_as_long_as_it_is_there() {
    let (folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let [owl, bell] = ["owl", "bell"].map(|content| give(&mut store, content));
    let asked =
        store.add_user_message_with_pictures(chat, None, "Who?", &[owl.clone(), bell.clone()]).unwrap().id;
    store.back_up().unwrap();
    let links = |file: &Path| fs::metadata(file).unwrap().nlink();
    assert!(files(&path).iter().all(|file| links(file) == 2), "the backup costs no room");

    store.edit_message_with_pictures(asked, "Who?", from_ref(&owl)).unwrap();
    store.delete_message(asked).unwrap();
    age(&path);
    purge(&mut store);
    assert_eq!(files(&path), files_of(&store, [owl.hash.clone()]));
    drop(store);
    fs::remove_dir_all(path.with_file_name("pictures")).unwrap();
    fs::write(&path, "damaged").unwrap();
    restore_backup(&path).unwrap();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.message(asked).unwrap().pictures, [owl.clone(), bell.clone()]);
    let both = files_of(&store, [owl.hash.clone(), bell.hash]);
    assert_eq!(files(&path), both);

    store.edit_message_with_pictures(asked, "Who?", from_ref(&owl)).unwrap();
    store.delete_message(asked).unwrap();
    age(&path);
    purge(&mut store);
    let kept = || {
        let shards = fs::read_dir(folder.path().join("chats.db.backup-pictures")).unwrap();
        shards.map(|shard| fs::read_dir(shard.unwrap().path()).unwrap().count()).sum::<usize>()
    };
    store.back_up().unwrap();
    assert_eq!(kept(), 4, "the older backup has both");
    store.back_up().unwrap();
    assert_eq!(kept(), 2, "no backup has the other any more");
}

#[test]
fn chats_that_are_set_aside_have_all_their_pictures() {
    let (folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let [owl, bell] = ["owl", "bell"].map(|content| give(&mut store, content));
    store.add_user_message_with_pictures(chat, None, "Who?", from_ref(&owl)).unwrap();
    store.back_up().unwrap();
    // The backup knows nothing of it.
    let later = store.add_user_message_with_pictures(chat, None, "Where?", from_ref(&bell)).unwrap().id;
    drop(store);
    let layout = |path: &Path, layout: u32| {
        Connection::open(path).unwrap().pragma_update(None, "user_version", layout).unwrap();
    };
    let pragma = |db: Connection| db.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0));
    let known = pragma(Connection::open(&path).unwrap()).unwrap();
    layout(&path, 99);

    let set_aside = restore_backup(&path).unwrap().set_aside.unwrap();
    let mut store = Store::open(&path).unwrap();
    age(&path);
    purge(&mut store);
    assert_eq!(files(&path), files_of(&store, [owl.hash.clone()]));

    let again = folder.path().join("again");
    fs::create_dir(&again).unwrap();
    let mut pictures = set_aside.clone().into_os_string();
    pictures.push(".pictures");
    fs::rename(pictures, again.join("pictures")).unwrap();
    let path = again.join("chats.db");
    fs::rename(set_aside, &path).unwrap();
    layout(&path, known);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.message(later).unwrap().pictures, from_ref(&bell));
    assert_eq!(files(&path), files_of(&store, [owl.hash, bell.hash]));
}

#[test]
fn the_copy_from_before_a_change_of_the_layout_has_its_pictures() {
    let (folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let owl = give(&mut store, "owl");
    let asked = store.add_user_message_with_pictures(chat, None, "Who?", from_ref(&owl)).unwrap().id;
    drop(store);
    let older = "DROP TABLE call; DROP TABLE step; DROP TABLE permission_tool; DROP TABLE permission; DROP TABLE pin;
                 DROP TABLE server; ALTER TABLE chat DROP COLUMN tools_frozen; ALTER TABLE chat DROP COLUMN tools;
                 ALTER TABLE edit DROP COLUMN pictures; ALTER TABLE message DROP COLUMN edited;
                 ALTER TABLE chat DROP COLUMN without_standing; DROP TABLE prompt;
                 DROP INDEX chat_list; DROP INDEX chat_by_project; DROP INDEX chat_by_left_project;
                 ALTER TABLE chat DROP COLUMN project; ALTER TABLE chat DROP COLUMN left_project;
                 ALTER TABLE chat DROP COLUMN without_project;
                 CREATE INDEX chat_list ON chat (pinned, updated_at, id, deletion) WHERE deletion IS NULL;
                 DROP TABLE project_terms; DROP TABLE project_passage; DROP TABLE project_file; DROP TABLE project;
                 PRAGMA user_version = 7";
    Connection::open(&path).unwrap().execute_batch(older).unwrap();

    let mut store = Store::open(&path).unwrap();
    let links = |file: &PathBuf| fs::metadata(file).unwrap().nlink();
    assert!(files(&path).iter().all(|file| links(file) == 2), "the copy costs no room");
    store.delete_message(asked).unwrap();
    age(&path);
    purge(&mut store);
    assert_eq!(files(&path), BTreeSet::new());
    drop(store);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(restore_backup(&path).unwrap().backup, folder.path().join("chats.db.layout-7"));
    let store = Store::open(&path).unwrap();
    assert_eq!(store.message(asked).unwrap().pictures, from_ref(&owl));
    assert_eq!(files(&path), files_of(&store, [owl.hash]));
}

#[derive(Debug, Clone)]
enum Action {
    Ask(Option<Index>, Vec<u8>),
    Edit(Index, Option<Vec<u8>>),
    Draft(Vec<u8>),
    Delete(Index),
    Undo(Index),
    Branch(Index),
    Purge,
    Age,
}

fn action() -> impl Strategy<Value = Action> {
    let pictures = || prop::collection::vec(0u8..5, 0..3);
    prop_oneof![
        4 => (any::<Option<Index>>(), pictures()).prop_map(|(parent, pictures)| Action::Ask(parent, pictures)),
        3 => (any::<Index>(), prop::option::of(pictures())).prop_map(|(id, pictures)| Action::Edit(id, pictures)),
        2 => pictures().prop_map(Action::Draft),
        4 => any::<Index>().prop_map(Action::Delete),
        2 => any::<Index>().prop_map(Action::Undo),
        1 => any::<Index>().prop_map(Action::Branch),
        2 => Just(Action::Purge),
        3 => Just(Action::Age),
    ]
}

/// What each message should have: its parent and hashes. It is hidden if it or one before it is the top of a deletion.
#[derive(Debug, Default)]
struct Model {
    messages: BTreeMap<MessageId, (Option<MessageId>, Vec<String>)>,
    deletions: BTreeMap<DeletionId, MessageId>,
    draft: Vec<String>,
}

impl Model {
    fn visible(&self) -> Vec<MessageId> {
        let hidden = |id: &MessageId| {
            let mut path = std::iter::successors(Some(*id), |id| self.messages[id].0);
            path.any(|id| self.deletions.values().any(|&top| top == id))
        };
        self.messages.keys().copied().filter(|id| !hidden(id)).collect()
    }

    fn named(&self) -> BTreeSet<String> {
        self.messages.values().flat_map(|(_, hashes)| hashes).chain(&self.draft).cloned().collect()
    }
}

fn hashes(pictures: &[MessagePicture]) -> Vec<String> {
    assert!(pictures.iter().all(|picture| !picture.missing));
    pictures.iter().map(|picture| picture.hash.clone()).collect()
}

fn act(store: &mut Store, model: &mut Model, chat: ChatId, action: &Action, path: &Path) {
    let visible = model.visible();
    let chosen = |index: &Index| (!visible.is_empty()).then(|| visible[index.index(visible.len())]);
    let given = |store: &mut Store, pictures: &[u8]| -> Vec<MessagePicture> {
        pictures.iter().map(|number| give(store, &number.to_string())).collect()
    };
    match action {
        Action::Ask(parent, pictures) => {
            let pictures = given(store, pictures);
            let parent = parent.as_ref().and_then(chosen);
            let chat = parent.map_or(chat, |id| store.chat_of(id).unwrap());
            let asked = store.add_user_message_with_pictures(chat, parent, "?", &pictures).unwrap();
            model.messages.insert(asked.id, (parent, hashes(&pictures)));
        }
        Action::Edit(index, pictures) => {
            let Some(id) = chosen(index) else { return };
            let (parent, before) = model.messages[&id].clone();
            let (edited, after) = match pictures {
                None => (store.edit_message(id, "!").unwrap(), before),
                Some(pictures) => {
                    let pictures = given(store, pictures);
                    let edited = store.edit_message_with_pictures(id, "!", &pictures).unwrap();
                    (edited, hashes(&pictures))
                }
            };
            model.messages.insert(edited.id, (parent, after));
        }
        Action::Draft(pictures) => {
            let pictures = given(store, pictures);
            store.set_draft_pictures(Some(chat), &pictures).unwrap();
            model.draft = hashes(&pictures);
        }
        Action::Delete(index) => {
            let Some(id) = chosen(index) else { return };
            model.deletions.insert(store.delete_message(id).unwrap(), id);
        }
        Action::Undo(index) => {
            let deletions: Vec<_> = model.deletions.keys().copied().collect();
            if !deletions.is_empty() {
                let deletion = deletions[index.index(deletions.len())];
                store.undo_deletion(deletion).unwrap();
                model.deletions.remove(&deletion);
            }
        }
        Action::Branch(index) => {
            let Some(id) = chosen(index) else { return };
            let copy = store.branch_into_new_chat(id).unwrap().id;
            for copied in store.messages(copy).unwrap() {
                model.messages.insert(copied.id, (copied.parent, hashes(&copied.pictures)));
            }
            let path = store.path_to(id).unwrap();
            let copied = store.messages(copy).unwrap();
            assert!(
                path.iter().map(|message| &message.pictures).eq(copied.iter().map(|copy| &copy.pictures))
            );
        }
        Action::Purge => {
            purge(store);
            model.messages.retain(|id, _| visible.contains(id));
            model.deletions.clear();
        }
        Action::Age => {
            age(path);
            store.purge_deleted().unwrap();
            assert_eq!(files(path), files_of(store, model.named()), "every file is of a message or a draft");
        }
    }
    for (&id, (_, expected)) in &model.messages {
        assert_eq!(&hashes(&store.message(id).unwrap().pictures), expected);
    }
    assert_eq!(hashes(&store.draft(Some(chat)).unwrap().pictures), model.draft);
    assert!(files(path).is_superset(&files_of(store, model.named())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_sequence_of_actions_loses_no_picture_and_leaves_none(
        actions in prop::collection::vec(action(), 1..25),
    ) {
        let (_folder, path) = file();
        let mut store = Store::open(&path).unwrap();
        let chat = store.create_chat("pictures").unwrap().id;
        let mut model = Model::default();
        for action in actions.iter().chain([&Action::Age, &Action::Purge, &Action::Age]) {
            act(&mut store, &mut model, chat, action, &path);
        }
    }
}

/// Names the database to the writing process.
const DATABASE: &str = "FORETOKEN_CHATS_TEST_PICTURES";
const ROUNDS: u32 = 8;

/// Sends pictures and removes every other one without end, and says on stderr which messages stay.
fn write_until_killed(path: &Path) -> ! {
    let mut store = Store::open(path).unwrap();
    let chat = store.create_chat("killed").unwrap().id;
    for number in 0.. {
        let picture = give(&mut store, &format!("{chat} {number}"));
        let asked = store.add_user_message_with_pictures(chat, None, "?", &[picture]).unwrap().id;
        if number % 2 == 0 {
            // It fails when nobody listens any more, which ends this process.
            std::io::stderr().write_all(format!("{asked}\n").as_bytes()).expect("somebody listens");
            continue;
        }
        store.delete_message(asked).unwrap();
        age(path);
        purge(&mut store);
    }
    unreachable!("the numbers do not end")
}

#[test]
#[ignore = "the process that the next test starts and kills"]
fn writer() {
    let path = std::env::var_os(DATABASE).expect("is started by the other test");
    write_until_killed(Path::new(&path));
}

#[test]
fn a_killed_process_leaves_no_message_without_its_picture_and_no_file_for_good() {
    let (_folder, path) = file();
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "writer", "--nocapture"])
            .env(DATABASE, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let reader = std::thread::spawn(move || lines.lines().map(Result::unwrap).collect::<Vec<_>>());
        std::thread::sleep(Duration::from_millis(RandomState::new().hash_one(round) % 200));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{first}");
        let said = [first.trim_end().to_owned()].into_iter().chain(reader.join().unwrap());
        let said: Vec<MessageId> = said.map(|line| line.parse().expect(&line)).collect();

        let mut store = Store::open(&path).unwrap();
        let all = Connection::open(&path).unwrap();
        let mut all = all.prepare("SELECT id FROM message").unwrap();
        let ids = |all: &mut rusqlite::Statement<'_>| -> Vec<MessageId> {
            all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let of = |store: &Store, id| hashes(&store.message(id).unwrap().pictures);
        let found = ids(&mut all);
        assert!(said.iter().all(|id| found.contains(id)), "round {round}");
        found.iter().for_each(|&id| assert_eq!(of(&store, id).len(), 1, "round {round}"));
        age(&path);
        purge(&mut store);
        let named: Vec<_> = ids(&mut all).into_iter().flat_map(|id| of(&store, id)).collect();
        assert_eq!(files(&path), files_of(&store, named), "round {round}");
        println!("round {round}: {} messages stayed, {} there", said.len(), found.len());
    }
}

#[test]
fn what_is_older_than_the_clock_says_is_not_taken_for_an_orphan() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    let owl = give(&mut store, "owl").hash;
    for file in files(&path) {
        File::open(file).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    purge(&mut store);
    assert_eq!(files(&path), files_of(&store, [owl]), "its row is new");
}
