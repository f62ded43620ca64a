//! The tools for files, on real folders.
#![allow(missing_docs, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use foretoken_tools::built_in::files::{Difference, FileError, FileTool, Files};
use foretoken_tools::{Outcome, ResultPart};
use proptest::prelude::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What no call may ever give.
const SECRET: &str = "the secret that lies outside";

/// A folder with `Notes`, which the person has picked, and `outside`, which they have not.
struct World {
    top: TempDir,
}

impl World {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        for folder in ["Notes", "Notes/plans", "outside"] {
            fs::create_dir(top.path().join(folder)).unwrap();
        }
        let world = Self { top };
        world.write("Notes/today.txt", "Bread\nMilk\nTea\n");
        world.write("Notes/plans/summer.md", "Walk\n");
        world.write("outside/secret.txt", SECRET);
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.top.path().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(path), content).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn pipe(&self, path: &str) {
        assert!(Command::new("mkfifo").arg(self.path(path)).status().unwrap().success());
    }

    fn link(&self, target: impl AsRef<Path>, link: &str) {
        symlink(target, self.path(link)).unwrap();
    }

    fn files(&self) -> Files {
        Files::new([("Notes".to_owned(), self.path("Notes"))])
    }

    fn list(&self, path: &str) -> Result<String, String> {
        call(&self.files(), FileTool::List, json!({ "path": path }))
    }

    fn read(&self, path: &str) -> Result<String, String> {
        call(&self.files(), FileTool::Read, json!({ "path": path }))
    }

    fn search(&self, text: &str) -> String {
        call(&self.files(), FileTool::Search, json!({ "text": text })).unwrap()
    }

    fn put(&self, path: &str, content: &str) -> Result<String, String> {
        call(&self.files(), FileTool::Write, json!({ "path": path, "content": content }))
    }

    fn edit(&self, path: &str, old: &str, new: &str) -> Result<String, String> {
        call(&self.files(), FileTool::Edit, json!({ "path": path, "old": old, "new": new }))
    }

    fn preview(&self, tool: FileTool, arguments: &Value) -> Result<Difference, FileError> {
        self.files().preview(tool, arguments.as_object().unwrap()).unwrap()
    }

    /// What of `outside` anybody could notice.
    fn outside(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32, SystemTime)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path("outside")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let (path, metadata) = {
                    let entry = entry.unwrap();
                    (entry.path(), entry.metadata().unwrap())
                };
                if metadata.is_dir() {
                    folders.push(path.clone());
                }
                let content = fs::read(&path).unwrap_or_default();
                found.insert(path, (content, metadata.mode(), metadata.modified().unwrap()));
            }
        }
        found
    }
}

/// What the model reads, as a result or as a failure.
fn call(files: &Files, tool: FileTool, arguments: Value) -> Result<String, String> {
    told(files.call(tool, arguments.as_object().unwrap(), None))
}

fn told(outcome: Outcome) -> Result<String, String> {
    let Outcome { parts, failed } = outcome;
    let [ResultPart::Text { text }] = &parts[..] else { panic!("{parts:?}") };
    if failed { Err(text.clone()) } else { Ok(text.clone()) }
}

#[track_caller]
fn assert_refused(outcome: Result<String, String>, reason: &str) {
    let told = outcome.expect_err("it is refused");
    assert!(told.contains(reason), "{told}");
}

#[test]
fn folders_and_files_are_listed_with_kinds_and_sizes() {
    let world = World::new();
    world.link("today.txt", "Notes/link");
    world.write("Notes/a\nb", "x");
    let files = world.files();
    assert_eq!(call(&files, FileTool::List, json!({})).unwrap(), "Notes/");
    let expected = "a⟨U+000A⟩b (1 byte)\nlink (a link)\nplans/\ntoday.txt (15 bytes)";
    assert_eq!(world.list("Notes").unwrap(), expected);
    for arguments in [
        json!({ "folder": "Notes" }),
        json!({ "folder": "Notes", "path": "" }),
        json!({ "folder": "Notes", "path": "Notes" }),
        json!({ "path": "Notes/" }),
    ] {
        assert_eq!(call(&files, FileTool::List, arguments).unwrap(), expected);
    }
    for arguments in [
        json!({ "folder": "Notes", "path": "plans" }),
        json!({ "folder": "Notes", "path": "Notes/plans" }),
        json!({ "path": "Notes/plans" }),
    ] {
        assert_eq!(call(&files, FileTool::List, arguments).unwrap(), "summer.md (5 bytes)");
    }
    assert_refused(world.list("Notes/today.txt"), "is not a folder");
    assert_refused(world.list("Notes/none"), "\"Notes/none\" does not exist. Use list_files");
    assert_refused(call(&files, FileTool::List, json!({ "deep": true })), "unknown field `deep`");
}

#[test]
fn of_many_entries_five_hundred_are_listed() {
    let world = World::new();
    for number in 0..620 {
        world.write(&format!("Notes/plans/{number:03}"), "");
    }
    let told = world.list("Notes/plans").unwrap();
    assert!(
        told.starts_with("000 (0 bytes)\n001") && told.ends_with("499 (0 bytes)\n[121 more are not listed]")
    );
}

#[test]
fn without_folders_and_with_a_folder_that_is_gone_the_reason_is_told() {
    let world = World::new();
    let none = Files::new([]);
    assert!(none.is_empty());
    assert_refused(call(&none, FileTool::List, json!({})), "The user has picked no folder");
    assert_refused(call(&none, FileTool::Read, json!({ "path": "a" })), "The user has picked no folder");
    assert_refused(call(&none, FileTool::Search, json!({ "text": "a" })), "The user has picked no folder");
    let gone = Files::new([("Gone".to_owned(), world.path("gone")), ("Here".to_owned(), "relative".into())]);
    let told = call(&gone, FileTool::List, json!({})).unwrap();
    assert!(told.starts_with("Gone/ (cannot be opened: entity not found)\nHere/ (cannot"), "{told}");
    assert_refused(
        call(&gone, FileTool::Read, json!({ "path": "Gone/a" })),
        "The folder \"Gone\" cannot be opened",
    );
}

#[test]
fn texts_are_read_whole_and_by_lines() {
    let world = World::new();
    assert_eq!(world.read("Notes/today.txt").unwrap(), "Bread\nMilk\nTea\n");
    assert_eq!(world.read("notes/today.txt").unwrap(), "Bread\nMilk\nTea\n");
    let part = json!({ "path": "Notes/today.txt", "from_line": 2, "lines": 1 });
    assert_eq!(call(&world.files(), FileTool::Read, part).unwrap(), "Milk\n[lines 2 to 2 of 3]");
    let utf16: Vec<u8> = "\u{feff}Grüße".encode_utf16().flat_map(u16::to_le_bytes).collect();
    world.write("Notes/wide.txt", utf16);
    assert_eq!(world.read("Notes/wide.txt").unwrap(), "Grüße");
    world.write("Notes/latin.txt", b"Gr\xfc\xdfe aus einem alten Programm");
    let latin = world.read("Notes/latin.txt").unwrap();
    assert_eq!(latin, "Gr��e aus einem alten Programm\n[bytes that are no text are shown as �]");
    assert_refused(world.read("Notes/plans"), "is a folder");
    assert_refused(world.read("Notes"), "is a folder");
    assert_refused(world.read("Notes/today.txt/more"), "a part of it is not");
    assert_refused(world.read("Notes/TODAY.TXT"), "does not exist, but \"today.txt\" does");
}

#[test]
fn what_is_no_text_is_named_and_not_read() {
    let world = World::new();
    world.write("Notes/a.pdf", "%PDF-1.7\nall of it is letters");
    world.write("Notes/a.docx", b"PK\x03\x04\x14\0\0\0");
    world.write("Notes/a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    world.write("Notes/a.bin", [0_u8; 64]);
    assert_refused(world.read("Notes/a.pdf"), "is a PDF document; only text is read");
    assert_refused(world.read("Notes/a.pdf"), "Ask the user to attach it to a message");
    assert_refused(world.read("Notes/a.docx"), "is a Word document; only text");
    assert_refused(world.read("Notes/a.png"), "is a picture, not text");
    assert_refused(world.read("Notes/a.bin"), "is a binary file, not text");
    for path in ["Notes/a.pdf", "Notes/a.docx", "Notes/a.png", "Notes/a.bin"] {
        let before = fs::read(world.path(path)).unwrap();
        world.put(path, "text").unwrap_err();
        world.edit(path, "a", "b").unwrap_err();
        assert_eq!(fs::read(world.path(path)).unwrap(), before);
    }
}

#[test]
fn huge_files_are_refused_without_being_read() {
    let world = World::new();
    let file = fs::File::create(world.path("Notes/huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    let begun = Instant::now();
    assert_refused(world.read("Notes/huge"), "is larger than 16 MiB");
    assert_refused(world.put("Notes/huge", "a"), "is larger than 1 MiB");
    assert_refused(world.edit("Notes/huge", "a", "b"), "is larger than 1 MiB");
    assert_refused(world.put("Notes/new", &"a".repeat((1 << 20) + 1)), "is larger than 1 MiB");
    assert!(!world.path("Notes/new").exists());
    assert!(world.search("x").ends_with("; 1 skipped, which are no text or larger than 4 MiB]"));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn lines_are_found_in_either_case_and_folders_of_others_are_skipped() {
    let world = World::new();
    for folder in ["Notes/.git", "Notes/plans/node_modules", "Notes/.hidden"] {
        fs::create_dir(world.path(folder)).unwrap();
        world.write(&format!("{folder}/a"), "some milk\n");
    }
    world.write("Notes/bin", b"milk\0");
    world.write("Notes/large", vec![b'a'; (4 << 20) + 1]);
    world.link("today.txt", "Notes/link");
    world.link("../outside", "Notes/out");
    assert_eq!(
        world.search("MILK"),
        "Notes/.hidden/a:1: some milk\nNotes/today.txt:2: Milk\n[2 lines in 3 text files; 2 skipped, which are no \
         text or larger than 4 MiB]"
    );
    assert_eq!(
        world.search("secret"),
        "[0 lines in 3 text files; 2 skipped, which are no text or larger than 4 MiB]"
    );
    let within = |path: &str| call(&world.files(), FileTool::Search, json!({ "text": "walk", "path": path }));
    let expected = "Notes/plans/summer.md:1: Walk\n[1 line in 1 text file]";
    assert_eq!(within("Notes/plans").unwrap(), expected);
    assert_eq!(within("Notes/plans/summer.md").unwrap(), expected);
    assert_refused(within("Notes/out"), "leads out of the folder");
    assert_refused(within("Notes/none"), "does not exist");
    assert_refused(call(&world.files(), FileTool::Search, json!({ "text": "" })), "\"text\" is empty");
}

#[test]
fn of_many_lines_two_hundred_are_told() {
    let world = World::new();
    world.write("Notes/many", "the same\n".repeat(500));
    let told = world.search("same");
    assert_eq!(told.lines().count(), 201);
    assert!(told.contains(
        "Notes/many:200: the same\n[200 lines in 1 text file; not all was searched: there are more"
    ));
}

#[test]
fn a_file_is_created_replaced_and_edited() {
    let world = World::new();
    assert_eq!(
        world.put("Notes/new.txt", "Grüße\n").unwrap(),
        "Created Notes/new.txt, which has 8 bytes now."
    );
    assert_eq!(world.text("Notes/new.txt"), "Grüße\n");
    assert_eq!(world.put("Notes/new.txt", "A\n").unwrap(), "Replaced Notes/new.txt, which has 2 bytes now.");
    assert_eq!(
        world.edit("Notes/today.txt", "Milk", "Oat milk").unwrap(),
        "Changed Notes/today.txt, which has 19 bytes now."
    );
    assert_eq!(world.text("Notes/today.txt"), "Bread\nOat milk\nTea\n");
    assert_refused(world.put("Notes/new.txt", "A\n"), "has exactly this content already");
    assert_refused(
        world.put("Notes/none/new.txt", "A"),
        "The folder of \"Notes/none/new.txt\" does not exist",
    );
    assert_refused(world.put("Notes/plans", "A"), "is a folder");
    assert_refused(world.put("Notes/new/", "A"), "is a folder");
    assert_refused(world.put("Notes", "A"), "is a folder");
    assert_refused(world.put("Notes/zero", "A\0"), "U+0000");
    assert_refused(world.edit("Notes/none", "A", "B"), "does not exist");
    assert_refused(world.edit("Notes/today.txt", "Coffee", "B"), "\"old\" does not occur");
    assert_refused(world.edit("Notes/today.txt", "ea", "B"), "\"old\" occurs 2 times");
    assert_refused(world.edit("Notes/today.txt", "", "B"), "\"old\" is empty");
    assert_eq!(world.text("Notes/today.txt"), "Bread\nOat milk\nTea\n");
    assert_eq!(world.list("Notes").unwrap(), "new.txt (2 bytes)\nplans/\ntoday.txt (19 bytes)");
}

#[test]
fn an_edit_keeps_encoding_mark_and_line_ends() {
    let world = World::new();
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    world.write("Notes/wide", wide("\u{feff}one\r\ntwo\r\n"));
    world.edit("Notes/wide", "one\ntwo\n", "1\n2\n").unwrap();
    assert_eq!(fs::read(world.path("Notes/wide")).unwrap(), wide("\u{feff}1\r\n2\r\n"));
    world.write("Notes/marked", "\u{feff}a\n");
    world.put("Notes/marked", "b\n").unwrap();
    assert_eq!(world.text("Notes/marked"), "\u{feff}b\n");
    world.write("Notes/latin", b"Gr\xfc\xdfe aus einem alten Programm");
    assert_refused(world.edit("Notes/latin", "alten", "neuen"), "a change would damage it");
}

#[test]
fn permissions_and_attributes_stay_and_new_files_get_the_usual_ones() {
    let world = World::new();
    for mode in [0o600, 0o755, 0o640] {
        fs::set_permissions(world.path("Notes/today.txt"), fs::Permissions::from_mode(mode)).unwrap();
        world.put("Notes/today.txt", &format!("{mode}")).unwrap();
        assert_eq!(fs::metadata(world.path("Notes/today.txt")).unwrap().mode() & 0o7777, mode);
    }
    fs::set_permissions(world.path("Notes/today.txt"), fs::Permissions::from_mode(0o4755)).unwrap();
    world.put("Notes/today.txt", "not another's program").unwrap();
    assert_eq!(fs::metadata(world.path("Notes/today.txt")).unwrap().mode() & 0o7777, 0o755);
    world.write("Notes/usual", "");
    world.put("Notes/new", "").unwrap();
    let mode = |path: &str| fs::metadata(world.path(path)).unwrap().mode();
    assert_eq!(mode("Notes/new"), mode("Notes/usual"));
    fs::set_permissions(world.path("Notes/usual"), fs::Permissions::from_mode(0o444)).unwrap();
    assert_refused(world.put("Notes/usual", "A"), "is read-only");

    let (name, path) = ("user.foretoken", world.path("Notes/today.txt"));
    if rustix::fs::setxattr(&path, name, b"tag", rustix::fs::XattrFlags::empty()).is_ok() {
        world.put("Notes/today.txt", "tagged").unwrap();
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(&path, name, &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"tag");
    }
}

#[test]
fn every_way_out_is_refused() {
    let world = World::new();
    let outside = world.path("outside").to_string_lossy().into_owned();
    world.link("../outside", "Notes/up");
    world.link(&outside, "Notes/absolute");
    world.link("../outside/secret.txt", "Notes/file");
    world.link(format!("{outside}/secret.txt"), "Notes/absolute file");
    world.link("../up", "Notes/plans/chain");
    world.link("plans/../../outside/secret.txt", "Notes/over");
    world.link("/", "Notes/root");
    world.link("..", "Notes/top");
    world.link("../outside/new.txt", "Notes/dangling out");
    let before = world.outside();
    for path in [
        "Notes/up/secret.txt",
        "Notes/absolute/secret.txt",
        "Notes/file",
        "Notes/absolute file",
        "Notes/plans/chain/secret.txt",
        "Notes/over",
        "Notes/top/outside/secret.txt",
        "Notes/root/etc/passwd",
        "Notes/../outside/secret.txt",
        "Notes/plans/../../outside/secret.txt",
        "../outside/secret.txt",
        "Notes/dangling out",
        "outside/secret.txt",
        "/etc/passwd",
        "C:/secret.txt",
        "~/secret.txt",
        "Notes\\..\\outside\\secret.txt",
        "Notes/a\0/../../outside/secret.txt",
        &format!("{outside}/secret.txt"),
        &format!("Notes/{outside}/secret.txt"),
    ] {
        assert!(world.read(path).is_err(), "{path}");
        assert!(world.list(path).is_err(), "{path}");
        assert!(world.put(path, "overwritten").is_err(), "{path}");
        assert!(world.edit(path, SECRET, "overwritten").is_err(), "{path}");
        let search = json!({ "text": "secret", "path": path });
        assert!(call(&world.files(), FileTool::Search, search).is_err(), "{path}");
    }
    assert_refused(world.read("Notes/up/secret.txt"), "a link on the way leads out");
    assert_refused(world.read("Notes/root/etc/passwd"), "a link on the way leads out");
    assert_refused(world.put("Notes/up/new.txt", "A"), "a link on the way leads out");
    assert_eq!(world.outside(), before);
}

#[test]
fn links_within_are_followed_for_reading_and_not_at_the_end_for_writing() {
    let world = World::new();
    world.link("plans", "Notes/folder");
    world.link("today.txt", "Notes/file");
    world.link("../plans/../today.txt", "Notes/plans/back");
    world.link("nowhere", "Notes/dangling");
    world.link("loop", "Notes/loop");
    world.link("b", "Notes/a");
    world.link("a", "Notes/b");
    assert_eq!(world.read("Notes/folder/summer.md").unwrap(), "Walk\n");
    assert_eq!(world.read("Notes/file").unwrap(), "Bread\nMilk\nTea\n");
    assert_eq!(world.read("Notes/plans/back").unwrap(), "Bread\nMilk\nTea\n");
    assert_refused(world.read("Notes/dangling"), "does not exist");
    for path in ["Notes/loop", "Notes/a", "Notes/loop/x"] {
        assert_refused(world.read(path), "too many links");
        assert_refused(world.list(path), "too many links");
    }
    for path in ["Notes/file", "Notes/dangling", "Notes/loop"] {
        assert_refused(world.put(path, "A"), "is a link, through which nothing is written");
        assert_refused(world.edit(path, "Milk", "A"), "is a link, through which nothing is written");
    }
    assert_eq!(world.put("Notes/folder/new", "A").unwrap(), "Created Notes/plans/new, which has 1 byte now.");
    assert_eq!(world.text("Notes/plans/new"), "A");
    assert!(!world.path("Notes/nowhere").exists());
}

#[test]
fn a_hard_link_is_read_and_its_other_name_keeps_what_it_had() {
    let world = World::new();
    fs::hard_link(world.path("outside/secret.txt"), world.path("Notes/hard")).unwrap();
    assert_eq!(world.read("Notes/hard").unwrap(), SECRET);
    let before = world.outside();
    world.put("Notes/hard", "mine").unwrap();
    assert_eq!(world.text("Notes/hard"), "mine");
    assert_eq!(world.outside(), before);
}

#[test]
fn pipes_sockets_and_devices_are_never_opened() {
    let world = World::new();
    world.pipe("Notes/pipe");
    let _socket = UnixListener::bind(world.path("Notes/socket")).unwrap();
    world.link("pipe", "Notes/link");
    let begun = Instant::now();
    for (path, kind) in
        [("Notes/pipe", "a named pipe"), ("Notes/socket", "a socket"), ("Notes/link", "a named pipe")]
    {
        assert_refused(world.read(path), &format!("is {kind}, which is never opened"));
        world.put(path, "A").unwrap_err();
        world.edit(path, "A", "B").unwrap_err();
        world.list(path).unwrap_err();
    }
    assert_refused(world.put("Notes/pipe", "A"), "is a named pipe");
    assert_eq!(world.search("milk"), "Notes/today.txt:2: Milk\n[1 line in 2 text files]");
    assert!(world.list("Notes").unwrap().contains("pipe (a named pipe)\nplans/\nsocket (a socket)"));
    let devices = Files::new([("dev".to_owned(), "/dev".into())]);
    assert_refused(call(&devices, FileTool::Read, json!({ "path": "dev/zero" })), "is a device");
    assert_refused(
        call(&devices, FileTool::Write, json!({ "path": "dev/null", "content": "" })),
        "is a device",
    );
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_git_runs_is_not_written_by_whatever_name() {
    let world = World::new();
    fs::create_dir_all(world.path("Notes/.git/hooks")).unwrap();
    world.write("Notes/.git/config", "[core]\n");
    world.link(".git", "Notes/innocent");
    for path in ["Notes/.git/config", "Notes/.git/hooks/post-commit", "Notes/innocent/config"] {
        assert_refused(world.put(path, "A"), "git runs what stands in its own folder");
    }
    assert_eq!(world.read("Notes/innocent/config").unwrap(), "[core]\n");
    world.put("Notes/.gitignore", "target\n").unwrap();
}

#[test]
fn the_person_is_shown_what_changes() {
    let world = World::new();
    let edit = json!({ "path": "Notes/today.txt", "old": "Milk", "new": "Oat\u{202e} milk" });
    let shown = world.preview(FileTool::Edit, &edit).unwrap();
    assert_eq!(
        shown.text,
        "--- Notes/today.txt\n+++ Notes/today.txt\n@@ -1,3 +1,3 @@\n Bread\n-Milk\n+Oat⟨U+202E⟩ milk\n Tea\n"
    );
    assert_eq!(
        (shown.path.as_str(), shown.creates, shown.added, shown.removed),
        ("Notes/today.txt", false, 1, 1)
    );
    assert_eq!(world.text("Notes/today.txt"), "Bread\nMilk\nTea\n");

    let create = json!({ "path": "Notes/new", "content": "A\nB" });
    let shown = world.preview(FileTool::Write, &create).unwrap();
    assert_eq!(
        shown.text,
        "--- /dev/null\n+++ Notes/new\n@@ -0,0 +1,2 @@\n+A\n+B\n\\ No newline at end of file\n"
    );
    assert!(shown.creates && !world.path("Notes/new").exists());
    let stored: Difference = serde_json::from_value(json!(shown)).unwrap();
    assert_eq!(stored, shown);

    let wrong = json!({ "path": "Notes/today.txt", "old": "Coffee", "new": "" });
    let error = world.preview(FileTool::Edit, &wrong).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("tool_file_edit", "\"old\" does not occur in \"Notes/today.txt\".")
    );
    let read = json!({ "path": "Notes/today.txt" });
    assert_eq!(world.files().preview(FileTool::Read, read.as_object().unwrap()), None);
}

#[test]
fn a_large_difference_is_shown_soon() {
    let world = World::new();
    let text = |seed: usize| {
        (0..40_000).map(|line| format!("{}\n", (line * 7_919 + seed * 104_729) % 65_537)).collect::<String>()
    };
    world.write("Notes/large", text(1));
    let begun = Instant::now();
    let shown =
        world.preview(FileTool::Write, &json!({ "path": "Notes/large", "content": text(2) })).unwrap();
    assert!(
        shown.added == shown.removed && begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn nothing_is_written_where_the_file_is_another_than_the_one_that_was_seen() {
    let world = World::new();
    let files = world.files();
    let reason = "it has changed since the user was shown what this call does to it";
    let write = json!({ "path": "Notes/today.txt", "content": "Coffee\n" });
    let seen = world.preview(FileTool::Write, &write).unwrap().fingerprint;
    let run =
        |arguments: &Value, tool, seen| told(files.call(tool, arguments.as_object().unwrap(), Some(seen)));

    type Step<'a> = &'a dyn Fn(&World);
    let changes: [Step<'_>; 5] = [
        &|world| world.write("Notes/today.txt", "Bread\nMilk\nTea"),
        &|world| fs::remove_file(world.path("Notes/today.txt")).unwrap(),
        &|world| world.write("Notes/today.txt", b"\0\0"),
        &|world| world.write("Notes/today.txt", "Coffee\n"),
        &|world| world.write("Notes/today.txt", vec![b'a'; 2 << 20]),
    ];
    for change in changes {
        change(&world);
        let before = fs::read(world.path("Notes/today.txt")).ok();
        assert_refused(run(&write, FileTool::Write, &seen), reason);
        assert_eq!(fs::read(world.path("Notes/today.txt")).ok(), before);
    }
    world.write("Notes/today.txt", "Bread\nMilk\nTea\n");
    let other = json!({ "path": "Notes/today.txt", "content": "Nothing of that\n" });
    assert_refused(run(&other, FileTool::Write, &seen), reason);
    run(&write, FileTool::Write, &seen).unwrap();
    assert_eq!(world.text("Notes/today.txt"), "Coffee\n");

    // One that was to be created is there meanwhile, with the very content, and then on another way.
    let create = json!({ "path": "Notes/folder/new", "content": "A" });
    world.link("plans", "Notes/folder");
    let seen = world.preview(FileTool::Write, &create).unwrap().fingerprint;
    world.write("Notes/plans/new", "");
    assert_refused(run(&create, FileTool::Write, &seen), reason);
    fs::remove_file(world.path("Notes/plans/new")).unwrap();
    fs::create_dir(world.path("Notes/other")).unwrap();
    fs::remove_file(world.path("Notes/folder")).unwrap();
    world.link("other", "Notes/folder");
    assert_refused(run(&create, FileTool::Write, &seen), reason);
    assert!(!world.path("Notes/other/new").exists());

    // Another folder has the name of the one that was seen.
    let create = json!({ "path": "Notes/plans/new", "content": "A" });
    let seen = world.preview(FileTool::Write, &create).unwrap().fingerprint;
    fs::rename(world.path("Notes/plans"), world.path("Notes/old plans")).unwrap();
    fs::create_dir(world.path("Notes/plans")).unwrap();
    assert_refused(run(&create, FileTool::Write, &seen), reason);
    assert!(!world.path("Notes/plans/new").exists());
}

/// Tells the other thread to end, also when an assertion fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Puts what is at two names in the folder at the other one, in one step.
fn exchange(world: &World, one: &str, other: &str) {
    let path = |name: &str| world.path("Notes").join(name);
    let _ = renameat_with(CWD, path(one), CWD, path(other), RenameFlags::EXCHANGE);
}

#[test]
fn a_link_that_is_swapped_in_under_way_leads_nowhere() {
    let world = World::new();
    world.write("Notes/plans/secret.txt", "inside");
    world.write("Notes/file.txt", "inside");
    world.link("../outside", "Notes/other plans");
    world.link("../outside/secret.txt", "Notes/other file");
    let before = world.outside();
    let ended = AtomicBool::new(false);
    let (mut read, mut refused) = (0, 0);
    thread::scope(|scope| {
        let _ends = Ends(&ended);
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                exchange(&world, "plans", "other plans");
                exchange(&world, "file.txt", "other file");
            }
        });
        let until = Instant::now() + Duration::from_secs(2);
        let files = world.files();
        while Instant::now() < until {
            for path in ["Notes/plans/secret.txt", "Notes/file.txt"] {
                match call(&files, FileTool::Read, json!({ "path": path })) {
                    Ok(told) => {
                        assert_eq!(told, "inside");
                        read += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
            let told = call(&files, FileTool::Search, json!({ "text": "s", "path": "Notes" })).unwrap();
            assert!(!told.contains(SECRET), "{told}");
        }
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            for path in ["Notes/plans/secret.txt", "Notes/file.txt", "Notes/plans/new.txt"] {
                let _ = world.put(path, "inside");
                let _ = world.put(path, "inside too");
                let _ = world.edit(path, SECRET, "changed");
            }
            // A write may have taken the place of the link.
            if !world.path("Notes/other file").is_symlink() && !world.path("Notes/file.txt").is_symlink() {
                let _ = fs::remove_file(world.path("Notes/other file"));
                let _ = symlink("../outside/secret.txt", world.path("Notes/other file"));
            }
        }
    });
    assert!(read > 0 && refused > 0, "{read} {refused}");
    assert_eq!(world.outside(), before);
}

#[test]
fn a_pipe_that_is_swapped_in_under_way_is_not_waited_for() {
    let world = World::new();
    world.pipe("Notes/pipe");
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ends = Ends(&ended);
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                exchange(&world, "today.txt", "pipe");
            }
        });
        let (files, until) = (world.files(), Instant::now() + Duration::from_secs(1));
        while Instant::now() < until {
            let told = call(&files, FileTool::Read, json!({ "path": "Notes/today.txt" }));
            assert!(told.is_err() || told == Ok("Bread\nMilk\nTea\n".to_owned()), "{told:?}");
        }
    });
}

#[test]
fn writes_at_once_leave_a_whole_file_and_edits_at_once_are_all_kept() {
    let world = World::new();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ends = Ends(&ended);
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let world = &world;
                scope.spawn(move || {
                    for round in 0..12 {
                        let content = format!("{writer}{}", round % 7).repeat(50_000);
                        world.put("Notes/shared", &content).unwrap();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                if let Ok(text) = fs::read_to_string(world.path("Notes/shared")) {
                    assert_eq!(text.len(), 100_000);
                    assert_eq!(text, text[..2].repeat(50_000));
                }
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
    });
    let start: String = (0..4).map(|line| format!("<{line}>\n")).collect();
    world.write("Notes/lines", start);
    thread::scope(|scope| {
        for line in 0..4 {
            let world = &world;
            scope.spawn(move || {
                for _ in 0..10 {
                    world.edit("Notes/lines", &format!("<{line}>"), &format!("<{line}>x")).unwrap();
                }
            });
        }
    });
    let expected: String = (0..4).map(|line| format!("<{line}>{}\n", "x".repeat(10))).collect();
    assert_eq!(world.text("Notes/lines"), expected);
    assert_eq!(world.list("Notes").unwrap().lines().count(), 4);
}

#[test]
fn a_folder_that_another_program_holds_is_not_waited_for_without_end() {
    let world = World::new();
    let held = fs::File::open(world.path("Notes")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert_refused(world.put("Notes/new", "A"), "another program is writing in its folder");
    drop(held);
    world.put("Notes/new", "A").unwrap();
}

const WRITES_IN: &str = "FORETOKEN_TEST_WRITES_IN";

/// Is what the next test starts and kills; by itself it does nothing.
#[test]
fn a_program_that_writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(WRITES_IN) else { return };
    let files = Files::new([("Notes".to_owned(), folder.into())]);
    for round in 0.. {
        let content = if round % 2 == 0 { "a" } else { "b" }.repeat(1 << 20);
        call(&files, FileTool::Write, json!({ "path": "Notes/shared", "content": content })).unwrap();
    }
}

#[test]
fn who_is_killed_in_a_write_leaves_the_old_or_the_new_file_whole() {
    let world = World::new();
    for round in 0..12 {
        world.write("Notes/shared", "c".repeat(1 << 20));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_program_that_writes_until_it_is_killed", "--nocapture"])
            .env(WRITES_IN, world.path("Notes"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(20 + round * 13));
        child.kill().unwrap();
        child.wait().unwrap();
        let text = world.text("Notes/shared");
        assert_eq!(text.len(), 1 << 20);
        assert!(text.bytes().all(|byte| byte == text.as_bytes()[0]));
    }
    // What it had begun is not shown, and who is asked next writes.
    assert_eq!(world.list("Notes").unwrap().lines().count(), 3);
    world.put("Notes/shared", "whole").unwrap();
}

/// A step that another program makes, or a call.
#[derive(Debug, Clone)]
enum Step {
    Link { at: String, to: String },
    Folder { at: String },
    Call { tool: FileTool, arguments: Value },
}

fn paths() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "plans", "today.txt", "summer.md"]),
        2 => prop::sample::select(vec!["..", ".", "", "outside", "secret.txt", "Notes", "A", "/", "new", "~"]),
    ];
    let first = prop_oneof![8 => Just("Notes"), 1 => Just(".."), 1 => Just(""), 1 => Just("notes")];
    (first, prop::collection::vec(part, 0..5)).prop_map(|(first, parts)| {
        parts.into_iter().fold(first.to_owned(), |path, part| format!("{path}/{part}"))
    })
}

fn targets() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "..",
        "a",
        "b",
        "plans",
        "outside",
        "secret.txt",
        "Notes",
        "today.txt",
        ".",
    ]);
    let relative = prop::collection::vec(part, 1..6).prop_map(|parts| parts.join("/"));
    prop_oneof![4 => relative, 1 => Just("/OUTSIDE".to_owned()), 1 => Just("/OUTSIDE/secret.txt".to_owned())]
}

fn steps() -> impl Strategy<Value = Step> {
    let text = || prop::sample::select(vec!["a", "e", "Milk", "secret", "\n", "", "Bread\nMilk\nTea\n"]);
    let place = || prop::sample::select(vec!["a", "b", "plans/a", "plans/b", "a/b", "today.txt"]);
    prop_oneof![
        2 => (place(), targets()).prop_map(|(at, to)| Step::Link { at: at.into(), to }),
        1 => place().prop_map(|at| Step::Folder { at: at.into() }),
        1 => paths().prop_map(|path| Step::Call { tool: FileTool::List, arguments: json!({ "path": path }) }),
        2 => paths().prop_map(|path| Step::Call { tool: FileTool::Read, arguments: json!({ "path": path }) }),
        1 => (text(), paths()).prop_map(|(text, path)| Step::Call {
            tool: FileTool::Search,
            arguments: json!({ "text": text, "path": path }),
        }),
        3 => (paths(), text()).prop_map(|(path, content)| Step::Call {
            tool: FileTool::Write,
            arguments: json!({ "path": path, "content": content }),
        }),
        2 => (paths(), text(), text()).prop_map(|(path, old, new)| Step::Call {
            tool: FileTool::Edit,
            arguments: json!({ "path": path, "old": old, "new": new }),
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is called, and whatever links are there, nothing outside is read or touched.
    #[test]
    fn no_sequence_of_calls_reaches_what_is_outside(steps in prop::collection::vec(steps(), 1..25)) {
        let world = World::new();
        let files = world.files();
        let before = world.outside();
        let top = || fs::read_dir(world.top.path()).unwrap().count();
        for step in steps {
            match step {
                // As another program would; what is outside is not its either.
                Step::Link { at, to } => {
                    let at = world.path("Notes").join(at);
                    let within = at.parent().unwrap().canonicalize();
                    if within.is_ok_and(|within| within.starts_with(world.path("Notes").canonicalize().unwrap())) {
                        let _ = fs::remove_file(&at);
                        let _ = symlink(to.replace("/OUTSIDE", &world.path("outside").to_string_lossy()), at);
                    }
                }
                Step::Folder { at } => {
                    let at = world.path("Notes").join(at);
                    let within = at.parent().unwrap().canonicalize();
                    if within.is_ok_and(|within| within.starts_with(world.path("Notes").canonicalize().unwrap())) {
                        let _ = fs::create_dir(at);
                    }
                }
                Step::Call { tool, arguments } => {
                    let arguments = arguments.as_object().unwrap();
                    let shown = files.preview(tool, arguments);
                    let seen = shown.as_ref().and_then(|shown| shown.as_ref().ok());
                    let told = told(files.call(tool, arguments, seen.map(|shown| &shown.fingerprint)));
                    let all_told = format!("{told:?} {shown:?}");
                    prop_assert!(!all_told.contains(SECRET), "{}", all_told);
                    // What was shown happens, and what could not be shown does not.
                    if tool.changes() {
                        prop_assert_eq!(told.is_ok(), seen.is_some(), "{:?} {:?}", told, shown);
                    }
                }
            }
            prop_assert_eq!(world.outside(), before.clone());
            prop_assert_eq!(top(), 2);
        }
    }
}
