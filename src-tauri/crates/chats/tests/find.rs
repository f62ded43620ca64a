//! The list of chats, tags, presets, drafts, and what a search finds.

use std::collections::BTreeSet;

use foretoken_chats::{ChatsError, Store};
use foretoken_protocol::{
    Attachment, ChatId, ChatPage, ChatSettings, ChatSummary, Draft, ErrorReport, GenerationSettings,
    MessageId, MessageStatus, Provenance, SearchHit, UnseenReply,
};
use proptest::prelude::*;
use tempfile::TempDir;

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
        thinking: true,
        stop: vec!["END".into()],
    }
}

fn code(error: ChatsError) -> String {
    ErrorReport::from(error).code
}

fn found(store: &Store, query: &str) -> Vec<Option<MessageId>> {
    store.search(query, 100).unwrap().hits.into_iter().map(|hit| hit.message).collect()
}

/// The snippet with matches in brackets.
fn marked(hit: &SearchHit) -> String {
    let mark = |part: &foretoken_protocol::SnippetPart| match part.matched {
        true => format!("[{}]", part.text),
        false => part.text.clone(),
    };
    hit.snippet.iter().map(mark).collect()
}

/// All pages of `limit` chats one after the other.
fn paged(store: &Store, tag: Option<&str>, limit: u32) -> Vec<ChatId> {
    let mut listed = Vec::new();
    let mut after = None;
    loop {
        let ChatPage { chats, next, total } = store.chat_page(tag, after, limit).unwrap();
        assert!(chats.len() <= limit as usize);
        listed.extend(chats.into_iter().map(|chat| chat.id));
        if next.is_none() {
            assert_eq!(listed.len(), total as usize);
            return listed;
        }
        after = next;
    }
}

#[test]
fn pages_follow_one_another_with_pinned_chats_first() {
    let (_folder, mut store) = store();
    assert!(paged(&store, None, 10).is_empty());
    let chats: Vec<_> = (0..25).map(|n| store.create_chat(&n.to_string()).unwrap().id).collect();
    for &pinned in [&chats[3], &chats[10], &chats[24]] {
        store.set_pinned(pinned, true).unwrap();
    }
    for &tagged in [&chats[3], &chats[7], &chats[20]] {
        store.set_tags(tagged, &["tag".into()]).unwrap();
    }
    let deleted = store.delete_chat(chats[20]).unwrap();
    let newest_first = |pick: &dyn Fn(usize) -> bool| {
        (0..25).rev().filter(|&n| n != 20 && pick(n)).map(|n| chats[n]).collect::<Vec<_>>()
    };
    let pinned = [3, 10, 24];
    let expected = [newest_first(&|n| pinned.contains(&n)), newest_first(&|n| !pinned.contains(&n))].concat();
    for limit in [1, 2, 3, 7, 24, 25, 100] {
        assert_eq!(paged(&store, None, limit), expected, "pages of {limit}");
        assert_eq!(paged(&store, Some("TAG"), limit), [chats[3], chats[7]], "pages of {limit}");
    }
    assert!(paged(&store, Some("no such tag"), 5).is_empty());
    store.undo_deletion(deleted).unwrap();
    assert_eq!(paged(&store, Some("tag"), 5), [chats[3], chats[20], chats[7]]);

    // What comes to the top between two pages is missed on none of the rest.
    let first = store.chat_page(None, None, 5).unwrap();
    store.add_user_message(chats[0], None, "to the top").unwrap();
    let rest: Vec<_> = std::iter::successors(Some(first.clone()), |page| {
        page.next.map(|next| store.chat_page(None, Some(next), 5).unwrap())
    })
    .flat_map(|page| page.chats)
    .map(|chat| chat.id)
    .collect();
    let all: BTreeSet<_> = rest.iter().collect();
    assert_eq!((rest.len(), all.len()), (24, 24), "all but the one that moved, each once");
}

#[test]
fn a_title_that_a_person_chose_stays() {
    let (_folder, mut store) = store();
    let chat = store.create_chat("First words").unwrap().id;
    store.add_user_message(chat, None, "First words of a question").unwrap();
    assert!(store.set_automatic_title(chat, "\n A\tquestion\nand more").unwrap());
    assert_eq!(store.chat(chat).unwrap().title, "A question");
    let before = store.chat(chat).unwrap().updated_at;
    let renamed = store.rename_chat(chat, "  My \n title ").unwrap();
    assert_eq!((renamed.title.as_str(), renamed.named, renamed.updated_at), ("My title", true, before));
    assert!(!store.set_automatic_title(chat, "Something else").unwrap());
    assert_eq!(store.chat(chat).unwrap(), renamed);
    assert_eq!(found(&store, "title"), [None]);
    let given_back = store.rename_chat(chat, " ").unwrap();
    assert_eq!((given_back.title.as_str(), given_back.named), ("First words of a question", false));
    assert!(store.set_automatic_title(chat, "Automatic").unwrap());
    assert_eq!(code(store.set_automatic_title(99, "x").unwrap_err()), "unknown_chat");
}

#[test]
fn tags_live_by_their_use() {
    let (_folder, mut store) = store();
    let [one, two] = ["one", "two"].map(|title| store.create_chat(title).unwrap().id);
    let tags = |store: &Store| -> Vec<_> {
        store.tags().unwrap().into_iter().map(|tag| (tag.name, tag.chats)).collect()
    };
    let set = |store: &mut Store, chat, tags: &[&str]| {
        let tags: Vec<_> = tags.iter().map(|&tag| tag.to_owned()).collect();
        store.set_tags(chat, &tags).unwrap().tags
    };
    assert_eq!(set(&mut store, one, &["Work", " big   plans ", "", "work"]), ["big plans", "Work"]);
    assert_eq!(set(&mut store, two, &["WORK", "漢字"]), ["Work", "漢字"], "one spelling");
    assert_eq!(tags(&store), [("big plans".into(), 1), ("Work".into(), 2), ("漢字".into(), 1)]);
    store.rename_tag("big plans", "work").unwrap();
    assert_eq!(tags(&store), [("work".into(), 2), ("漢字".into(), 1)]);
    store.rename_tag("work", "Job").unwrap();
    store.rename_tag("Job", " ").unwrap();
    assert_eq!(store.chat(one).unwrap().tags, ["Job"]);
    store.delete_tag("JOB").unwrap();
    assert_eq!(set(&mut store, two, &[]), [""; 0]);
    assert_eq!(tags(&store), []);
}

#[test]
fn what_ended_unseen_is_kept_until_it_is_seen() {
    let (folder, mut store) = store();
    let chat = store.create_chat("chat").unwrap().id;
    let before = store.chat(chat).unwrap();
    assert_eq!(before.unseen, None);
    for unseen in [UnseenReply::Written, UnseenReply::Failed] {
        assert!(store.set_unseen(chat, Some(unseen)).unwrap());
        assert!(!store.set_unseen(chat, Some(unseen)).unwrap(), "it was so");
        let marked = ChatSummary { unseen: Some(unseen), ..before.clone() };
        assert_eq!(store.chat(chat).unwrap(), marked, "it does not move in the list");
        assert_eq!(store.chat_page(None, None, 9).unwrap().chats, [marked]);
    }
    drop(store);

    let mut store = Store::open(&folder.path().join("chats.db")).unwrap();
    assert!(store.set_unseen(chat, None).unwrap());
    assert_eq!(store.chat(chat).unwrap(), before);
    assert_eq!(code(store.set_unseen(chat + 1, None).unwrap_err()), "unknown_chat");
}

#[test]
fn settings_drafts_and_presets_come_back() {
    let (folder, mut store) = store();
    let chat = store.create_chat("chat").unwrap().id;
    assert_eq!(store.chat_settings(chat).unwrap(), ChatSettings::default());
    let long = store.add_preset("Long", "Write at length.", Some(&settings())).unwrap();
    let brief = store.add_preset("brief", "", None).unwrap();
    let chosen = ChatSettings {
        system_prompt: long.system_prompt.clone(),
        generation: long.generation.clone(),
        preset: Some(long.id),
    };
    store.set_chat_settings(chat, &chosen).unwrap();
    let listed = store.chat(chat).unwrap();
    store.set_draft_text(Some(chat), "typed\0 here").unwrap();
    store.set_draft_text(None, "typed for a new chat").unwrap();
    store.set_draft_text(None, "typed for a new chat, more").unwrap();
    drop(store);

    let mut store = Store::open(&folder.path().join("chats.db")).unwrap();
    assert_eq!(store.chat(chat).unwrap(), listed, "none of it is writing in the chat");
    assert_eq!(store.presets().unwrap(), [brief.clone(), long.clone()]);
    assert_eq!(store.chat_settings(chat).unwrap(), chosen);
    assert_eq!(store.draft(Some(chat)).unwrap().text, "typed\0 here");
    assert_eq!(store.draft(None).unwrap().text, "typed for a new chat, more");
    store.set_draft_text(Some(chat), "").unwrap();
    assert_eq!(store.draft(Some(chat)).unwrap(), Draft::default());
    let files = vec![Attachment { name: "owl.txt".into(), text: "Owls hear\0 well.".into() }];
    store.set_draft_files(Some(chat), &files).unwrap();
    store.set_draft_text(Some(chat), "Read this").unwrap();
    assert_eq!(store.draft(Some(chat)).unwrap(), Draft { text: "Read this".into(), files: files.clone() });
    store.set_draft_text(Some(chat), "").unwrap();
    assert_eq!(store.open_chat(chat).unwrap().draft, Draft { text: String::new(), files });
    store.set_draft_files(Some(chat), &[]).unwrap();
    assert_eq!(store.draft(Some(chat)).unwrap(), Draft::default());

    let changed = foretoken_protocol::Preset { name: "A long one".into(), generation: None, ..long };
    store.change_preset(&changed).unwrap();
    assert_eq!(store.presets().unwrap(), [changed.clone(), brief]);
    store.delete_preset(changed.id).unwrap();
    assert_eq!(store.chat_settings(chat).unwrap(), ChatSettings { preset: None, ..chosen.clone() });
    for error in [
        store.delete_preset(changed.id).unwrap_err(),
        store.change_preset(&changed).unwrap_err(),
        store.set_chat_settings(chat, &chosen).unwrap_err(),
    ] {
        assert_eq!(code(error), "unknown_preset");
    }
}

#[test]
fn deleted_presets_come_back_with_their_chats_until_the_store_is_closed() {
    let (folder, mut store) = store();
    let owl = store.add_preset("Owl", "You are an owl.", Some(&settings())).unwrap();
    let fox = store.add_preset("Fox", "You are a fox.", None).unwrap();
    let [one, two, three] = ["one", "two", "three"].map(|title| store.create_chat(title).unwrap().id);
    let set_by = |preset: &foretoken_protocol::Preset| ChatSettings {
        system_prompt: "Its own words.".into(),
        generation: None,
        preset: Some(preset.id),
    };
    store.set_chat_settings(one, &set_by(&owl)).unwrap();
    store.set_chat_settings(two, &set_by(&owl)).unwrap();
    let preset = |store: &Store, chat| store.chat_settings(chat).unwrap().preset;

    store.delete_preset(owl.id).unwrap();
    store.delete_preset(fox.id).unwrap();
    assert_eq!(store.presets().unwrap(), []);
    assert_eq!(store.deleted_presets(), [fox.clone(), owl.clone()], "the last one first");
    assert_eq!(store.restore_preset(fox.id).unwrap(), [0; 0]);
    store.set_chat_settings(two, &set_by(&fox)).unwrap();
    assert_eq!(store.restore_preset(owl.id).unwrap(), [one], "the other one has another since");
    assert_eq!(store.presets().unwrap(), [fox.clone(), owl.clone()], "as they were");
    let presets = [one, two, three].map(|chat| preset(&store, chat));
    assert_eq!(presets, [Some(owl.id), Some(fox.id), None]);
    assert_eq!(store.chat_settings(one).unwrap(), set_by(&owl));
    assert_eq!(store.deleted_presets(), []);
    assert_eq!(code(store.restore_preset(owl.id).unwrap_err()), "unknown_preset");

    store.delete_preset(owl.id).unwrap();
    drop(store);
    let mut store = Store::open(&folder.path().join("chats.db")).unwrap();
    assert_eq!((store.presets().unwrap(), store.deleted_presets()), (vec![fox], vec![]));
    assert_eq!(code(store.restore_preset(owl.id).unwrap_err()), "unknown_preset");
}

#[test]
fn words_are_found_in_any_case_and_form() {
    let (_folder, mut store) = store();
    let chat = store.create_chat("Über Bäume").unwrap().id;
    let first = store.add_user_message(chat, None, "Où est le Café «Zürich»?").unwrap().id;
    let second = store.add_user_message(chat, Some(first), "我想用北京话写一首诗。").unwrap().id;
    let third = store.add_user_message(chat, Some(second), "한국어를 배우고 싶어요 / カタカナ").unwrap().id;
    let cases = [
        ("uber", vec![None]),
        ("BAUM", vec![None]),
        ("aume", vec![]),
        ("bäu", vec![None]),
        ("cafe", vec![Some(first)]),
        ("zur ou", vec![Some(first)]),
        ("\"est le\"", vec![Some(first)]),
        ("\"le est\"", vec![]),
        ("写", vec![Some(second)]),
        ("北京", vec![Some(second)]),
        ("京北", vec![]),
        ("写一首诗", vec![Some(second)]),
        ("국어", vec![Some(third)]),
        ("ｶﾅ", vec![Some(third)]),
        ("nothing", vec![]),
        ("", vec![]),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&store, query), expected, "{query}");
    }
    let hit = store.search("京", 9).unwrap().hits.remove(0);
    assert_eq!((hit.chat, hit.title.as_str(), hit.message), (chat, "Über Bäume", Some(second)));
    assert_eq!(hit.at, store.message(second).unwrap().created_at);
    assert_eq!(marked(&hit), "我想用北[京]话写一首诗。");
    assert_eq!(marked(&store.search("ube", 9).unwrap().hits[0]), "[Über] Bäume");
}

#[test]
fn what_changes_is_found_as_it_is_now() {
    let (folder, mut store) = store();
    let chat = store.create_chat("chat").unwrap().id;
    let question = store.add_user_message(chat, None, "question").unwrap().id;
    let reply = store.begin_reply(chat, question, "demo", &settings()).unwrap().id;
    store.append_to_reply(reply, "half", "", &Provenance::default()).unwrap();
    assert_eq!(found(&store, "half"), [], "a reply is found when it has ended");
    drop(store);
    let mut store = Store::open(&folder.path().join("chats.db")).unwrap();
    assert_eq!(found(&store, "half"), [Some(reply)], "or was interrupted");
    store.continue_reply(reply).unwrap();
    store.append_to_reply(reply, " and other", "", &Provenance::default()).unwrap();
    store.finish_reply(reply, MessageStatus::Interrupted, None, None).unwrap();
    for word in ["half", "other"] {
        assert_eq!(found(&store, word), [Some(reply)]);
    }
    let deletion = store.delete_message(reply).unwrap();
    assert_eq!(found(&store, "other"), []);
    store.undo_deletion(deletion).unwrap();
    assert_eq!(found(&store, "other"), [Some(reply)]);
    store.delete_message(reply).unwrap();
    store.forget_deletions().unwrap();
    assert!(!store.purge_deleted().unwrap(), "so little is done at once");
    assert_eq!(found(&store, "other"), []);
}

#[test]
fn the_best_and_newest_come_first_and_only_so_many() {
    let (_folder, mut store) = store();
    let chat = store.create_chat("apples").unwrap().id;
    let dense = store.add_user_message(chat, None, "pear pear pear").unwrap().id;
    let filler = "with many other words around it ".repeat(20);
    let thin = store.add_user_message(chat, None, &format!("pear {filler}")).unwrap().id;
    assert_eq!(found(&store, "pear"), [Some(dense), Some(thin)]);
    let twins = [0, 1].map(|_| store.add_user_message(chat, None, "a plum").unwrap().id);
    assert_eq!(
        found(&store, "plum"),
        [Some(twins[1]), Some(twins[0])],
        "the newer of two that match as well"
    );

    for number in 0..30 {
        let chat = store.create_chat(&format!("melon {number}")).unwrap().id;
        store.add_user_message(chat, None, "melon").unwrap();
    }
    let results = store.search("melon", 20).unwrap();
    let titles = results.hits.iter().filter(|hit| hit.message.is_none()).count();
    assert_eq!((results.hits.len(), titles, results.more), (20, 5, true));
    assert!(results.hits[..5].iter().all(|hit| hit.message.is_none()));
    assert!(!store.search("pear", 2).unwrap().more);
    assert!(store.search("pear", 1).unwrap().more);
    assert!(store.search("pear", 0).unwrap().hits.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_query_is_answered_and_any_word_is_found(
        texts in prop::collection::vec("(\\PC|[\\w\"'*^(){}: \n\0-]|[漢字가かカéß]){0,60}", 1..6),
        queries in prop::collection::vec(prop_oneof![any::<String>(), "[\"*:^()\0 a-zA-Z+-]{0,20}"], 1..12),
    ) {
        let (_folder, mut store) = store();
        let chat = store.create_chat(&texts[0]).unwrap().id;
        let ids: Vec<_> =
            texts.iter().map(|text| store.add_user_message(chat, None, text).unwrap().id).collect();
        for query in &queries {
            let results = store.search(query, 50).unwrap();
            for hit in &results.hits {
                prop_assert!(hit.snippet.iter().any(|part| part.matched), "{query:?} found {hit:?}");
            }
        }
        for (text, id) in texts.iter().zip(ids) {
            for word in text.split_whitespace() {
                let word = word.replace(['"', '“', '”', '„'], " ");
                let shown = store.search(&word, 50).unwrap();
                // A word without letters says nothing.
                if word.chars().any(|c| c.is_ascii_alphanumeric()) {
                    prop_assert!(shown.hits.iter().any(|hit| hit.message == Some(id)), "{word:?} in {text:?}");
                }
            }
        }
    }
}
