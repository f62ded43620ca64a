//! Projects: their chats, their files and their end, whole whatever happens.

use std::fs;
use std::path::Path;

use foretoken_chats::{ChatsError, FolderFile, IndexedText, ReadFile, SeenPicture, Store};
use foretoken_protocol::{
    Attachment, ChatId, ChatSettings, ErrorReport, ExportedPictures, PictureDetail, ProjectId, ProjectText,
};
use tempfile::TempDir;

struct Test {
    folder: TempDir,
    store: Store,
}

impl Test {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("chats.db")).unwrap();
        Self { folder, store }
    }

    /// Closes the store and opens it again.
    fn reopened(self) -> Self {
        let Self { folder, store } = self;
        drop(store);
        let store = Store::open(&folder.path().join("chats.db")).unwrap();
        Self { folder, store }
    }

    fn project(&mut self, name: &str) -> ProjectId {
        self.store.create_project(name).unwrap().id
    }

    /// A chat with a message, in a project.
    fn chat(&mut self, title: &str, project: Option<ProjectId>) -> ChatId {
        let chat = self.store.create_chat(title).unwrap().id;
        self.store.add_user_message(chat, None, &format!("About {title}\n and more")).unwrap();
        self.store.move_chat(chat, project).unwrap();
        chat
    }

    fn chats_of(&self, project: ProjectId) -> Vec<ChatId> {
        let mut chats: Vec<_> =
            self.store.project_chats(project).unwrap().into_iter().map(|one| one.chat.id).collect();
        chats.sort_unstable();
        chats
    }

    fn listed(&self) -> Vec<ChatId> {
        let page = self.store.chat_page(None, None, 99).unwrap();
        assert_eq!(page.total as usize, page.chats.len());
        let mut chats: Vec<_> = page.chats.iter().map(|chat| chat.id).collect();
        chats.sort_unstable();
        chats
    }

    fn texts(&self, project: ProjectId, question: &str) -> Vec<ProjectText> {
        self.store.project_texts(project, question, &[], 2000, false).unwrap()
    }
}

fn file(name: &str, text: impl Into<String>) -> IndexedText {
    IndexedText::new(Attachment { name: name.into(), text: text.into() })
}

/// A report of several passages, one of which says what `fact` does.
fn report(fact: &str) -> String {
    let filler = "Nothing of note was written down on that day in the book.\n".repeat(60);
    format!("# Spring\n\n{filler}\n# Summer\n\n{fact}\n\n# Autumn\n\n{filler}")
}

#[test]
fn a_chat_stands_in_its_project_alone_and_a_tag_finds_it_there_too() {
    let mut test = Test::new();
    let (greenhouse, thesis) = (test.project("Greenhouse"), test.project("Thesis"));
    let (one, two) = (test.chat("one", Some(greenhouse)), test.chat("two", None));
    test.store.set_tags(one, &["garden".into()]).unwrap();
    assert_eq!((test.listed(), test.chats_of(greenhouse)), (vec![two], vec![one]));
    assert_eq!(test.store.chat(one).unwrap().project, Some(greenhouse));
    let excerpt = &test.store.project_chats(greenhouse).unwrap()[0].excerpt;
    assert_eq!(excerpt, "About one and more");
    let tagged = test.store.chat_page(Some("garden"), None, 9).unwrap();
    assert_eq!((tagged.chats[0].id, tagged.total), (one, 1));

    assert!(test.store.move_chat(one, Some(thesis)).unwrap());
    assert!(!test.store.move_chat(one, Some(thesis)).unwrap(), "it is there already");
    let counts: Vec<_> = test.store.projects().unwrap().iter().map(|project| project.chats).collect();
    assert_eq!((counts, test.chats_of(greenhouse)), (vec![0, 1], vec![]));
    let last = test.store.messages(one).unwrap()[0].id;
    let branch = test.store.branch_into_new_chat(last).unwrap();
    assert_eq!(branch.project, Some(thesis));
    test.store.move_chat(one, None).unwrap();
    assert_eq!(test.listed(), [one, two]);
    let error = test.store.move_chat(one, Some(99)).unwrap_err();
    assert_eq!(ErrorReport::from(error).code, "unknown_project");
}

#[test]
fn what_a_project_says_reaches_its_chats_unless_one_will_not_hear_it() {
    let mut test = Test::new();
    let project = test.project("  Greenhouse\n plan ");
    let (inside, outside) = (test.chat("in", Some(project)), test.chat("out", None));
    let settings = ChatSettings { system_prompt: "Short.".into(), ..ChatSettings::default() };
    test.store.change_project(project, Some("Greenhouse"), None, Some(&settings)).unwrap();
    test.store.change_project(project, None, Some("Metric units."), None).unwrap();
    let test = test.reopened();
    let kept = &test.store.projects().unwrap()[0];
    assert_eq!(
        (&*kept.name, &*kept.instructions, &kept.settings),
        ("Greenhouse", "Metric units.", &settings)
    );
    assert_eq!(test.store.chat_settings(inside).unwrap(), ChatSettings::default(), "it keeps its own");
    assert_eq!(test.store.project_instructions(inside).unwrap(), "Metric units.");
    assert_eq!(test.store.project_instructions(outside).unwrap(), "");
    let mut test = test;
    let without = ChatSettings { without_project: true, ..ChatSettings::default() };
    test.store.set_chat_settings(inside, &without).unwrap();
    assert_eq!(test.store.project_instructions(inside).unwrap(), "");
}

#[test]
fn a_deleted_project_leaves_its_chats_and_takes_back_those_that_went_nowhere_else() {
    let mut test = Test::new();
    let (greenhouse, thesis) = (test.project("Greenhouse"), test.project("Thesis"));
    let chats = ["stays", "moves", "gone"].map(|title| test.chat(title, Some(greenhouse)));
    let [stays, moves, gone] = chats;
    let before = test.store.delete_chat(gone).unwrap();
    assert_eq!(test.store.delete_project(greenhouse, false).unwrap(), [stays, moves]);
    assert_eq!(test.listed(), [stays, moves]);
    test.store.undo_deletion(before).unwrap();
    assert_eq!(test.listed(), chats, "what was deleted before comes back into the list");
    test.store.move_chat(moves, Some(thesis)).unwrap();
    assert_eq!(test.store.deleted_projects().unwrap()[0].name, "Greenhouse");
    assert!(test.store.project_chats(greenhouse).is_err());

    let mut back = test.store.restore_project(greenhouse).unwrap();
    back.sort_unstable();
    assert_eq!((back, test.chats_of(greenhouse)), (vec![stays, gone], vec![stays, gone]));
    assert_eq!((test.listed(), test.chats_of(thesis)), (vec![], vec![moves]));
    assert!(test.store.deleted_projects().unwrap().is_empty());
    assert!(matches!(test.store.restore_project(greenhouse), Err(ChatsError::UnknownProject { .. })));
}

#[test]
fn a_project_that_is_deleted_with_its_chats_comes_back_with_them_until_the_app_is_closed() {
    let mut test = Test::new();
    let project = test.project("Greenhouse");
    let chats = ["one", "two", "three"].map(|title| test.chat(title, Some(project)));
    let other = test.chat("other", None);
    test.store.add_project_file(project, &file("plan.txt", "Tomatoes.")).unwrap();
    let before = test.store.delete_chat(chats[1]).unwrap();
    assert_eq!(test.store.delete_project(project, true).unwrap(), [chats[0], chats[2]]);
    assert_eq!(test.listed(), [other]);
    assert_eq!(test.store.deleted_projects().unwrap()[0].chats, 2);
    let listed: Vec<_> = test.store.deletions().unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(listed, [before], "the chats come back with their project alone");
    test.store.restore_project(project).unwrap();
    assert_eq!(test.chats_of(project), [chats[0], chats[2]]);

    test.store.delete_project(project, true).unwrap();
    let mut test = test.reopened();
    assert!(test.store.deleted_projects().unwrap().is_empty());
    assert!(test.store.restore_project(project).is_err());
    while test.store.purge_deleted().unwrap() {}
    let ids: Vec<_> = test.store.chats().unwrap().iter().map(|chat| chat.id).collect();
    assert_eq!(ids, [other]);
    let db = rusqlite::Connection::open(test.folder.path().join("chats.db")).unwrap();
    for table in ["project", "project_file", "project_passage", "deletion"] {
        let left: u32 = db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
}

#[test]
fn files_are_searched_for_a_question_and_short_ones_are_read_whole() {
    let mut test = Test::new();
    let (project, other) = (test.project("Greenhouse"), test.project("Thesis"));
    let owl = report("The night owl rings the brass bell at seven.");
    let fig = report("The fig bears fruit in the warm corner.");
    for (name, text) in [("owls.txt", &owl), ("figs.txt", &fig)] {
        test.store.add_project_file(project, &file(name, text.as_str())).unwrap();
    }
    test.store.add_project_file(other, &file("owls too.txt", owl.as_str())).unwrap();
    let found = test.texts(project, "When does the owl ring its bells?");
    let names: Vec<_> = found.iter().map(|text| &*text.name).collect();
    assert!(names.contains(&"owls.txt"), "{names:?}");
    assert!(!names.contains(&"owls too.txt"), "another project's");
    let owls = found.iter().find(|text| text.name == "owls.txt").unwrap();
    assert!(
        owls.text.is_none() && owls.passages.iter().any(|one| one.text.contains("brass bell")),
        "{owls:?}"
    );

    let figs = test.texts(project, "figs");
    assert!(figs.iter().any(|text| text.name == "figs.txt"), "a file is found by its name: {figs:?}");
    assert_eq!(test.texts(project, "xylophone"), []);
    let begun = test.store.project_texts(project, "xylophone", &[], 300, true).unwrap();
    assert!(begun[0].passages[0].text.starts_with("# Spring"), "{begun:?}");

    let files = &test.store.projects().unwrap()[0].files;
    let whole = files.iter().find(|file| file.name == "figs.txt").unwrap().id;
    let read = test.store.project_texts(project, "owl", &[whole], 2000, false).unwrap();
    assert_eq!((&*read[0].name, read[0].text.as_ref()), ("figs.txt", Some(&fig)));
    assert_eq!((&*read[1].name, read[1].text.as_ref()), ("owls.txt", None));
}

#[test]
fn a_file_that_is_removed_or_replaced_is_found_no_more_and_can_come_back() {
    let mut test = Test::new();
    let project = test.project("Greenhouse");
    let add =
        |test: &mut Test, text: &str| test.store.add_project_file(project, &file("plan.txt", text)).unwrap();
    assert_eq!(add(&mut test, "Owls in spring."), None);
    let replaced = add(&mut test, "Bells in autumn.").unwrap();
    let found = |test: &Test, word: &str| test.texts(project, word).len();
    assert_eq!((found(&test, "owls"), found(&test, "bells")), (0, 1));
    test.store.restore_project_file(replaced).unwrap();
    assert_eq!((found(&test, "owls"), found(&test, "bells")), (1, 0), "it has its place again");
    test.store.remove_project_file(replaced).unwrap();
    assert!(test.store.remove_project_file(replaced).is_err());
    assert_eq!((found(&test, "owls"), found(&test, "bells")), (0, 0));
    assert_eq!(test.store.projects().unwrap()[0].files, []);

    let mut test = test.reopened();
    assert!(test.store.restore_project_file(replaced).is_err());
    test.store.purge_deleted().unwrap();
    let db = rusqlite::Connection::open(test.folder.path().join("chats.db")).unwrap();
    let left: u32 = db.query_row("SELECT count(*) FROM project_passage", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn what_was_deleted_is_purged_though_the_clock_was_set_back() {
    let mut test = Test::new();
    let project = test.project("Greenhouse");
    test.store.delete_project(project, false).unwrap();
    let db = rusqlite::Connection::open(test.folder.path().join("chats.db")).unwrap();
    db.execute("UPDATE project SET deleted_at = deleted_at + 86400000", []).unwrap();
    let mut test = test.reopened();
    assert!(test.store.deleted_projects().unwrap().is_empty());
    assert!(test.store.restore_project(project).is_err());
    while test.store.purge_deleted().unwrap() {}
    let left: u32 = db.query_row("SELECT count(*) FROM project", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
    let again = test.project("Thesis");
    test.store.delete_project(again, false).unwrap();
    assert_eq!(test.store.deleted_projects().unwrap().len(), 1, "and what is deleted next can come back");
}

#[test]
fn an_export_of_all_chats_carries_the_projects_once() {
    fn no_picture(file: &Path, _: PictureDetail) -> Result<SeenPicture, ErrorReport> {
        panic!("{} is looked at", file.display())
    }
    let mut test = Test::new();
    let project = test.project("Greenhouse");
    test.store.change_project(project, Some("Greenhouse"), Some("Metric."), None).unwrap();
    test.store.add_project_file(project, &file("plan.txt", "Tomatoes in the north.")).unwrap();
    let chat = test.chat("one", Some(project));
    let path = test.folder.path().join("all.json");
    test.store.export_json(None, ExportedPictures::WithoutMetadata, &path).unwrap();

    let mut to = Test::new();
    for _ in 0..2 {
        to.store.import(&path, &no_picture).unwrap();
    }
    let projects = to.store.projects().unwrap();
    assert_eq!((projects.len(), projects[0].chats, &*projects[0].instructions), (1, 2, "Metric."));
    assert_eq!(to.texts(projects[0].id, "tomato")[0].passages[0].text, "Tomatoes in the north.");

    test.store.export_json(Some(chat), ExportedPictures::WithoutMetadata, &path).unwrap();
    let alone = fs::read_to_string(&path).unwrap();
    assert!(!alone.contains("Tomatoes") && !alone.contains("\"project"), "{alone}");
}

#[test]
fn the_files_of_a_folder_are_kept_as_they_were_read_and_missed_by_name() {
    let mut test = Test::new();
    let project = test.project("Greenhouse");
    test.store.add_project_file(project, &file("plan.txt", "Owls by hand.")).unwrap();
    assert_eq!(test.store.project_folder(project).unwrap(), None);
    test.store.set_project_folder(project, Some("/notes")).unwrap();
    let at = |path: &str, size| FolderFile { path: path.into(), size, changed_at: 5 };
    let mut keep = |folder: &str, seen: &FolderFile, read: ReadFile| {
        test.store.keep_folder_file(project, folder, seen, &read).unwrap()
    };
    let text = |text: &str| ReadFile::Text(file("plan.txt", text));
    assert!(keep("/notes", &at("plan.txt", 1), text("Bells in the folder.")));
    assert!(keep("/notes", &at("plan.txt", 2), text("Kites in the folder.")), "it has changed");
    assert!(keep("/notes", &at("a.docx", 3), ReadFile::Trouble("It is damaged.".into())));
    assert!(keep("/notes", &at("b.png", 4), ReadFile::NoText));
    assert!(!keep("/elsewhere", &at("c.txt", 5), text("Foxes.")), "another folder was chosen");
    let (folder, mut files) = test.store.project_folder(project).unwrap().unwrap();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    assert_eq!((&*folder, files), ("/notes", vec![at("a.docx", 3), at("b.png", 4), at("plan.txt", 2)]));
    let found = |test: &Test, word: &str| test.texts(project, word).len();
    assert_eq!(["owls", "bells", "kites"].map(|word| found(&test, word)), [1, 0, 1]);
    let shown = |test: &Test| -> Vec<(String, bool, Option<String>)> {
        let files = test.store.projects().unwrap().remove(0).files;
        files.into_iter().map(|file| (file.name, file.in_folder, file.trouble)).collect()
    };
    let damaged = ("a.docx".to_owned(), true, Some("It is damaged.".to_owned()));
    let by_hand = ("plan.txt".to_owned(), false, None);
    assert_eq!(shown(&test), [damaged.clone(), by_hand.clone(), ("plan.txt".into(), true, None)]);

    test.store.miss_folder_files(project, &["plan.txt".into(), "b.png".into()]).unwrap();
    assert_eq!(["owls", "kites"].map(|word| found(&test, word)), [1, 0]);
    let missed = ("plan.txt".to_owned(), false, Some("It is no longer in the folder.".to_owned()));
    assert_eq!(shown(&test)[2], missed);
    let known = test.store.project_folder(project).unwrap().unwrap().1;
    assert_eq!(known, [at("a.docx", 3)], "what is missed is read again when it comes back");
    test.store.keep_folder_file(project, "/notes", &at("plan.txt", 2), &text("Kites again.")).unwrap();
    assert_eq!(found(&test, "kites"), 1);

    test.store.set_project_folder(project, None).unwrap();
    assert_eq!((shown(&test), found(&test, "kites")), (vec![by_hand], 0));
}
