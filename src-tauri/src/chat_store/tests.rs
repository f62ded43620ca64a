//! Tests of the thread that owns the store: imports, exports, backups and searches hold up no save of a reply, and a
//! damaged database is found and replaced by its newest backup.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::Instant;

use foretoken_protocol::{
    ChatId, Drafting, GenerationSettings, MessageId, Provenance, Sampling, SearchScope, Thinking,
};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::timeout;

use super::*;
use crate::testing::TIMEOUT;

fn chats() -> (TempDir, ChatStore) {
    let folder = tempfile::tempdir().unwrap();
    let chats = ChatStore::open(folder.path().join("chats.sqlite")).unwrap();
    (folder, chats)
}

/// For files that hold none.
fn no_picture(file: &Path, _: PictureDetail) -> Result<SeenPicture, ErrorReport> {
    panic!("{} is looked at", file.display())
}

fn settings() -> GenerationSettings {
    GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Off,
        max_tokens: 1,
        thinking: Thinking::Off,
        stop: Vec::new(),
    }
}

async fn begin_reply(chats: &ChatStore) -> MessageId {
    let begun = chats.call(|store| {
        let chat = store.create_chat("Being answered")?.id;
        let question = store.add_user_message(chat, None, "?")?.id;
        store.begin_reply(chat, question, "model", &settings())
    });
    begun.await.unwrap().id
}

async fn save(chats: &ChatStore, reply: MessageId) {
    let save = chats.call(move |store| store.append_to_reply(reply, "more ", "", &Provenance::default()));
    timeout(TIMEOUT, save).await.expect("a save waits for nobody").unwrap();
}

/// Adds so many chats of so many bytes each.
pub(crate) fn fill(store: &mut Store, count: usize, bytes: usize) -> Result<Vec<ChatId>, ChatsError> {
    let add = |number| {
        let chat = store.create_chat(&format!("Chat {number}"))?.id;
        store.add_user_message(chat, None, &"words ".repeat(bytes / 6))?;
        Ok(chat)
    };
    (0..count).map(add).collect()
}

/// Damages some of the middle of the file, as a disk does.
pub(crate) fn damage(path: &Path) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let middle = file.metadata().unwrap().len() / 2 / 4096 * 4096;
    file.write_all_at(&[0xa5; 3 * 4096], middle).unwrap();
}

#[tokio::test]
async fn damaged_chats_give_way_to_the_newest_copy_and_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.sqlite");
    let mut store = Store::open(&path).unwrap();
    store.create_chat("A chat").unwrap();
    store.back_up().unwrap();
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[..64].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();

    let chats = ChatStore::open(path.clone()).unwrap();
    let trouble = chats.trouble().await.unwrap();
    assert_eq!((trouble.error.code.as_str(), trouble.backups.len()), (DAMAGED, 1));
    assert_eq!(chats.call(|store| store.tags()).await.unwrap_err(), trouble.error);
    chats.restore().await.unwrap();
    assert_eq!(chats.trouble().await, None);
    let page = chats.call(|store| store.chat_page(None, None, 9)).await.unwrap();
    assert_eq!(page.chats[0].title, "A chat");
    assert_eq!(chats.restore().await.unwrap_err().code, "chats_not_damaged");
}

#[tokio::test]
async fn a_reply_is_saved_while_an_import_is_under_way() {
    let (folder, chats) = chats();
    let reply = begin_reply(&chats).await;
    let pipe = folder.path().join("chats.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let importing = tokio::spawn({
        let (chats, pipe) = (chats.clone(), pipe.clone());
        async move { chats.import(pipe, no_picture).await }
    });
    let chat = |number: usize| {
        let message = json!({"parent": null, "role": "user", "text": "words ".repeat(50_000), "thinking": "",
            "status": {"state": "finished", "reason": "stop"}, "created_at": 1});
        json!({"title": format!("New {number}"), "named": true, "pinned": false, "tags": [], "created_at": 1,
            "updated_at": number, "settings": {"system_prompt": ""}, "draft": "", "messages": [message]})
    };
    // More than the pipe holds, and more than one piece: what is written has arrived.
    let begun = blocking(move || {
        let mut file = File::options().write(true).open(&pipe).unwrap();
        write!(file, "{{\"format\":\"foretoken-chats\",\"version\":1,\"chats\":[{}", chat(0)).unwrap();
        (1..10).for_each(|number| write!(file, ",{}", chat(number)).unwrap());
        file
    });
    let mut file = timeout(TIMEOUT, begun).await.unwrap();
    save(&chats, reply).await;
    assert_eq!(chats.call(|store| store.chats()).await.unwrap().len(), 1, "nothing of it is seen");
    assert!(!importing.is_finished());
    file.write_all(b"]}").unwrap();
    drop(file);
    assert_eq!(timeout(TIMEOUT, importing).await.unwrap().unwrap().unwrap().chats, 10);
    assert_eq!(chats.call(|store| store.chats()).await.unwrap().len(), 11);
}

#[tokio::test]
async fn who_only_reads_waits_for_no_job_and_holds_up_none() {
    let (folder, chats) = chats();
    chats.call(|store| fill(store, 3, 1000)).await.unwrap();
    let (release, held) = mpsc::channel();
    let busy = tokio::spawn({
        let chats = chats.clone();
        async move { chats.call(move |store| held.recv().map(|()| store.create_chat("Late")).unwrap()).await }
    });
    let work = async {
        assert_eq!(
            chats.read(|reader| reader.search("words", &SearchScope::default(), 9)).await.unwrap().places,
            3
        );
        let file = folder.path().join("all.json");
        chats.read(move |reader| reader.export_json(None, Default::default(), &file)).await.unwrap();
        chats.back_up().await.unwrap();
        chats.check().await.unwrap();
    };
    timeout(TIMEOUT, work).await.expect("they have connections of their own");
    assert_eq!(backups(&chats.path).len(), 1);
    assert!(!busy.is_finished());
    release.send(()).unwrap();
    busy.await.unwrap().unwrap();

    let reply = begin_reply(&chats).await;
    let (release, held) = mpsc::channel();
    let (started, has_started) = oneshot::channel();
    let reading = tokio::spawn({
        let chats = chats.clone();
        async move {
            let slow = chats.read(move |reader| {
                let first = reader.search("words", &SearchScope::default(), 9)?;
                started.send(()).unwrap();
                held.recv().unwrap();
                Ok(first.places)
            });
            slow.await
        }
    });
    has_started.await.unwrap();
    save(&chats, reply).await;
    release.send(()).unwrap();
    assert_eq!(reading.await.unwrap().unwrap(), 3);
}

#[tokio::test]
async fn damage_that_is_looked_for_or_met_while_the_app_runs_is_restored_without_a_restart() {
    for met in [false, true] {
        let (_folder, chats) = chats();
        // Far more than SQLite keeps in memory or in its log.
        let before = chats.call(|store| fill(store, 100, 120_000)).await.unwrap();
        chats.check().await.unwrap();
        assert_eq!(chats.trouble().await, None);
        chats.back_up().await.unwrap();
        chats.call(|store| fill(store, 1, 10)).await.unwrap();
        damage(&chats.path);
        let files = || ["", "-wal"].map(|end| fs::read(format!("{}{end}", chats.path.display())).unwrap());
        let damaged = files();
        if met {
            let read =
                chats.call(move |store| before.iter().try_for_each(|&chat| store.messages(chat).map(drop)));
            assert_eq!(read.await.unwrap_err().code, DAMAGED);
        } else {
            assert_eq!(chats.check().await.unwrap_err().code, DAMAGED);
        }
        let trouble = chats.trouble().await.unwrap();
        assert_eq!((trouble.error.code.as_str(), trouble.backups.len()), (DAMAGED, 1));
        assert_eq!(*chats.watch().borrow(), Some(Err(trouble.error.clone())), "whoever follows it is told");
        assert_eq!(chats.call(|store| store.tags()).await.unwrap_err(), trouble.error);
        assert_eq!(
            chats.read(|reader| reader.search("x", &SearchScope::default(), 1)).await.unwrap_err(),
            trouble.error
        );
        assert!(files() == damaged, "they are left as they are");

        chats.restore().await.unwrap();
        assert_eq!(chats.trouble().await, None);
        assert_eq!(chats.call(|store| store.chats()).await.unwrap().len(), 100);
        chats.check().await.unwrap();
        chats.call(|store| fill(store, 1, 10)).await.unwrap();
    }
}

#[tokio::test]
async fn a_clock_that_was_changed_does_not_stop_daily_copies() {
    let (_folder, chats) = chats();
    chats.call(|store| fill(store, 1, 10)).await.unwrap();
    let count = || backups(&chats.path).len();
    chats.back_up().await.unwrap();
    chats.back_up().await.unwrap();
    assert_eq!(count(), 1, "one a day");
    // The clock was a year ahead, and was set back.
    let newest = File::options().write(true).open(&backups(&chats.path)[0].path).unwrap();
    newest.set_modified(SystemTime::now() + 365 * BACKUP_EVERY).unwrap();
    chats.back_up().await.unwrap();
    assert_eq!(count(), 2);
    assert!(backups(&chats.path)[0].made_at < backups(&chats.path)[1].made_at);

    let hours = |hours| Duration::from_hours(hours);
    let made = |at: Duration| ChatsBackup {
        path: String::new(),
        made_at: u64::try_from(at.as_millis()).unwrap(),
        bytes: 0,
    };
    for (made_at, now, due) in [(100, 101, false), (100, 123, false), (100, 125, true), (100, 99, true)] {
        assert_eq!(is_due(Some(&made(hours(made_at))), hours(now)), due, "made at {made_at} h, now {now} h");
    }
    assert!(is_due(None, hours(0)));
}

/// The long form: a gigabyte comes in, goes out, is copied, looked through and searched, while a reply is saved without
/// end.
#[tokio::test]
#[ignore = "takes minutes and five gigabytes of disk"]
async fn a_gigabyte_on_its_way_holds_up_no_save() {
    let (folder, chats) = chats();
    let reply = begin_reply(&chats).await;
    let file = folder.path().join("large.json");
    let mut out = std::io::BufWriter::new(File::create(&file).unwrap());
    let mut number = 0_u64;
    write!(out, "{{\"format\":\"foretoken-chats\",\"version\":1,\"chats\":[").unwrap();
    while out.get_ref().metadata().unwrap().len() < 1_000_000_000 {
        let text: String =
            (0..2000).map(|word| format!("w{} ", (number * 7919 + word * word) % 50_021)).collect();
        let messages: Vec<_> = (0..20_u32)
            .map(|before| {
                json!({"parent": (before > 0).then_some(before), "role": "user", "text": text, "thinking": "",
                       "status": {"state": "finished", "reason": "stop"}, "created_at": 1})
            })
            .collect();
        let chat = json!({"title": format!("Large {number}"), "named": true, "pinned": false, "tags": [],
            "created_at": 1, "updated_at": 1, "settings": {"system_prompt": ""}, "draft": "", "messages": messages});
        write!(out, "{}{chat}", if number == 0 { "" } else { "," }).unwrap();
        number += 1;
    }
    write!(out, "]}}").unwrap();
    drop(out);

    let mut saves = 0;
    for work in ["import", "export", "back up", "check", "search"] {
        let begun = Instant::now();
        let working = tokio::spawn({
            let (chats, file) = (chats.clone(), file.clone());
            async move {
                match work {
                    "import" => drop(chats.import(file, no_picture).await.unwrap()),
                    "export" => {
                        let export =
                            move |reader: &Reader| reader.export_json(None, Default::default(), &file);
                        chats.read(export).await.unwrap();
                    }
                    "back up" => chats.back_up().await.unwrap(),
                    "check" => chats.check().await.unwrap(),
                    _ => drop(
                        chats.read(|reader| reader.search("w1", &SearchScope::default(), 50)).await.unwrap(),
                    ),
                }
            }
        });
        let (mut during, mut longest) = (0, Duration::ZERO);
        while !working.is_finished() {
            let asked = Instant::now();
            save(&chats, reply).await;
            longest = longest.max(asked.elapsed());
            during += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        working.await.unwrap();
        saves += during;
        println!(
            "{work}: {:.1} s, {during} saves, the longest took {:.0} ms",
            begun.elapsed().as_secs_f64(),
            longest.as_secs_f64() * 1e3
        );
    }
    let text = chats.call(move |store| store.message(reply)).await.unwrap().text;
    assert_eq!(text, "more ".repeat(saves));
    println!("database {} MB", fs::metadata(&chats.path).unwrap().len() / 1_000_000);
}
