//! The list of chats, tags, presets, drafts, and what a search finds.

use std::collections::BTreeSet;

use foretoken_chats::{ChatsError, Store};
use foretoken_protocol::{
    Attachment, ChatId, ChatPage, ChatSettings, ChatSummary, Draft, ErrorReport, GenerationSettings,
    MessageId, MessageStatus, Provenance, SearchFilter, SearchResults, SearchScope, Searched, SnippetPart,
    Thinking, UnseenReply,
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
        thinking: Thinking::Normal,
        stop: vec!["END".into()],
    }
}

fn code(error: ChatsError) -> String {
    ErrorReport::from(error).code
}

fn search(store: &Store, query: &str, limit: u32) -> SearchResults {
    store.search(query, &SearchScope::default(), limit).unwrap()
}

/// The places that are told, in their order.
fn told(results: &SearchResults) -> Vec<Option<MessageId>> {
    let of = |chat: &foretoken_protocol::FoundChat| {
        let messages = chat.messages.iter().map(|found| Some(found.message));
        chat.titled.then_some(None).into_iter().chain(messages).collect::<Vec<_>>()
    };
    results.chats.iter().flat_map(of).collect()
}

fn found(store: &Store, query: &str) -> Vec<Option<MessageId>> {
    told(&search(store, query, 100))
}

/// A text with matches in brackets.
fn marked(parts: &[SnippetPart]) -> String {
    let mark = |part: &SnippetPart| match part.matched {
        true => format!("[{}]", part.text),
        false => part.text.clone(),
    };
    parts.iter().map(mark).collect()
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
        without_standing: false,
        without_project: false,
        system_prompt: long.system_prompt.clone(),
        generation: long.generation.clone(),
        preset: Some(long.id),
        tools: vec!["calculator".into()],
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
    assert_eq!(
        store.draft(Some(chat)).unwrap(),
        Draft { text: "Read this".into(), files: files.clone(), pictures: Vec::new() }
    );
    store.set_draft_text(Some(chat), "").unwrap();
    assert_eq!(store.open_chat(chat).unwrap().draft, Draft { files, ..Draft::default() });
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
        without_standing: false,
        without_project: false,
        system_prompt: "Its own words.".into(),
        generation: None,
        preset: Some(preset.id),
        tools: Vec::new(),
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
    let there = search(&store, "京", 9).chats.remove(0);
    assert_eq!((there.chat, marked(&there.title).as_str(), there.titled), (chat, "Über Bäume", false));
    assert_eq!(there.updated_at, store.chat(chat).unwrap().updated_at);
    assert_eq!((there.messages[0].message, there.messages.len()), (second, 1));
    assert_eq!(marked(&there.messages[0].snippet), "我想用北[京]话写一首诗。");
    let there = search(&store, "ube", 9).chats.remove(0);
    assert_eq!((marked(&there.title).as_str(), there.titled), ("[Über] Bäume", true));
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
    let twins = [0, 1].map(|_| {
        let chat = store.create_chat("twin").unwrap().id;
        store.add_user_message(chat, None, "a plum").unwrap().id
    });
    assert_eq!(
        found(&store, "plum"),
        [Some(twins[1]), Some(twins[0])],
        "the newer of two that match as well"
    );

    for number in 0..30 {
        let chat = store.create_chat(&format!("melon {number}")).unwrap().id;
        store.add_user_message(chat, None, "melon").unwrap();
    }
    let results = search(&store, "melon", 20);
    assert_eq!((told(&results).len(), results.places, results.counts.all), (20, 60, 60));
    assert!(results.chats[..5].iter().all(|chat| chat.titled));
    assert!(!results.capped);
    for (limit, expected) in [(2, 2), (1, 1), (0, 0)] {
        let results = search(&store, "pear", limit);
        assert_eq!((told(&results).len(), results.places), (expected, 2));
    }
}

#[test]
fn places_are_told_by_chat_in_the_order_of_the_chat() {
    let (_folder, mut store) = store();
    let long = store.create_chat("A watering plan").unwrap().id;
    let mut last = None;
    let places: Vec<_> = (0..8)
        .map(|number| {
            let words = ["ice ".repeat(1 + number % 4), "and other words".into()].concat();
            last = Some(store.add_user_message(long, last, &words).unwrap().id);
            last
        })
        .collect();
    let short = store.create_chat("Names for ice").unwrap().id;
    store.add_user_message(short, None, "Nothing of it").unwrap();
    let results = search(&store, "ice", 60);
    let chats: Vec<_> = results.chats.iter().map(|chat| (chat.chat, chat.titled, chat.places)).collect();
    assert_eq!(chats, [(short, true, 1), (long, false, 8)]);
    let told = told(&results);
    assert!(told[1..].is_sorted() && told[1..].iter().all(|place| places.contains(place)), "{told:?}");
    assert_eq!((told.len(), results.places), (6, 9), "five of one chat are told, and all are counted");
}

#[test]
fn filters_leave_their_places_and_each_is_counted() {
    let (_folder, mut store) = store();
    let chats: Vec<_> = (0..4)
        .map(|number| {
            let chat = store.create_chat(&format!("Frost {number}")).unwrap().id;
            store.add_user_message(chat, None, "The frost came early.").unwrap();
            chat
        })
        .collect();
    store.set_pinned(chats[0], true).unwrap();
    store.set_tags(chats[0], &["garden".into(), "winter".into()]).unwrap();
    store.set_tags(chats[1], &["Garden".into(), "unused".into()]).unwrap();
    store.delete_chat(chats[3]).unwrap();
    let other = store.create_chat("Sun").unwrap().id;
    store.set_tags(other, &["summer".into()]).unwrap();
    let now = store.chat(chats[2]).unwrap().updated_at;

    let scope = |filter, week| SearchScope { filter, week };
    let tag = |name: &str| SearchFilter::Tag { name: name.into() };
    let in_scope = |scope: &SearchScope| -> Vec<_> {
        let results = store.search("frost", scope, 60).unwrap();
        assert_eq!(told(&results).len(), results.places as usize);
        let mut chats: Vec<_> = results.chats.iter().map(|chat| chat.chat).collect();
        chats.sort_unstable();
        chats
    };
    assert_eq!(in_scope(&scope(SearchFilter::All, 0)), chats[..3]);
    assert_eq!(in_scope(&scope(SearchFilter::Pinned, 0)), chats[..1]);
    assert_eq!(in_scope(&scope(tag("GARDEN"), 0)), chats[..2]);
    assert_eq!(in_scope(&scope(tag("summer"), 0)), [0; 0]);
    assert_eq!(in_scope(&scope(SearchFilter::Week, 0)), chats[..3]);
    assert_eq!(in_scope(&scope(SearchFilter::Week, now + 1_000_000)), [0; 0]);

    let SearchResults { counts, searched, .. } =
        store.search("frost", &scope(tag("winter"), now + 1_000_000), 60).unwrap();
    assert_eq!((counts.all, counts.pinned, counts.week), (6, 2, 0), "whatever the filter");
    let tags: Vec<_> = counts.tags.iter().map(|tag| (tag.name.as_str(), tag.places)).collect();
    assert_eq!(tags, [("garden", 4), ("unused", 2), ("winter", 2)]);
    assert_eq!(searched, None, "something was found");
}

#[test]
fn what_was_looked_through_is_told_where_nothing_was_found() {
    let (_folder, mut store) = store();
    let chat = store.create_chat("chat").unwrap().id;
    let file = |name: &str| format!("\n\nFile: {name}\n```\nsome words\n```");
    let first =
        store.add_user_message(chat, None, &format!("Read{}{}", file("a.txt"), file("b"))).unwrap().id;
    store.begin_reply(chat, first, "demo", &settings()).unwrap();
    store.add_user_message(chat, None, "Which file?").unwrap();
    let gone = store.create_chat("gone").unwrap().id;
    store.add_user_message(gone, None, &format!("Read{}", file("c"))).unwrap();
    store.delete_chat(gone).unwrap();
    assert_eq!(search(&store, "words", 9).searched, None);
    assert_eq!(
        search(&store, "permafrost", 9).searched,
        Some(Searched { messages: 2, files: 2 }),
        "without what is deleted or still being written"
    );
    assert_eq!(search(&store, " \"\" ", 9), SearchResults::default(), "nothing was asked for");
}

#[test]
fn signs_of_the_index_are_words_or_nothing() {
    let (_folder, mut store) = store();
    let chat = store.create_chat("chat").unwrap().id;
    let text = "This AND that, NEAR(the end) NOT \"quoted* -- terms:x; DROP TABLE chat";
    let message = store.add_user_message(chat, None, text).unwrap().id;
    for query in
        ["AND that", "near(", "not", "\"quoted", "quoted*", "terms:x", "-- drop", "'; DROP TABLE", "^this"]
    {
        assert_eq!(found(&store, query), [Some(message)], "{query}");
    }
    for query in ["this OR absent", "that NOT absent", "absent*"] {
        assert_eq!(found(&store, query), [], "{query}");
    }
}

#[test]
fn more_matches_than_are_considered_are_said_to_be_more() {
    let (_folder, mut store) = store();
    let chat = store.create_chat("chat").unwrap().id;
    let add = |store: &mut Store| store.add_user_message(chat, None, "sand").unwrap();
    for _ in 0..1999 {
        add(&mut store);
    }
    let results = search(&store, "sand", 60);
    assert_eq!((results.places, results.capped, told(&results).len()), (1999, false, 5));
    add(&mut store);
    let results = search(&store, "sand", 60);
    assert_eq!((results.places, results.capped), (2000, true));
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
            let results = search(&store, query, 50);
            for chat in &results.chats {
                let titles = chat.titled.then_some(&chat.title).into_iter();
                for place in titles.chain(chat.messages.iter().map(|found| &found.snippet)) {
                    prop_assert!(place.iter().any(|part| part.matched), "{query:?} found {place:?}");
                }
            }
        }
        for (text, id) in texts.iter().zip(ids) {
            for word in text.split_whitespace() {
                let word = word.replace(['"', '“', '”', '„'], " ");
                let shown = found(&store, &word);
                // A word without letters says nothing.
                if word.chars().any(|c| c.is_ascii_alphanumeric()) {
                    prop_assert!(shown.contains(&Some(id)), "{word:?} in {text:?}");
                }
            }
        }
    }
}
