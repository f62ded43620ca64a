//! Temporary chats: in memory alone until they are kept.

use foretoken_chats::{Store, is_temporary};
use foretoken_protocol::{
    FinishReason, GenerationSettings, MessageStatus, OpenedChat, Provenance, SearchScope, Thinking,
};

fn settings() -> GenerationSettings {
    GenerationSettings {
        sampling: Default::default(),
        drafting: Default::default(),
        max_tokens: 64,
        thinking: Thinking::Off,
        stop: vec![],
    }
}

#[test]
fn a_temporary_chat_is_in_no_file_until_it_is_kept() {
    const NEEDLE: &str = "the-heron-nobody-knows";
    let folder = tempfile::tempdir().unwrap();
    let mut stored = Store::open(&folder.path().join("chats.db")).unwrap();
    let mut temporary = Store::temporary(&folder.path().join("temporary").join("chats")).unwrap();
    let chat = temporary.create_chat("Temporary chat").unwrap().id;
    let question = temporary.add_user_message(chat, None, NEEDLE).unwrap().id;
    let reply = temporary.begin_reply(chat, question, "demo", &settings()).unwrap().id;
    temporary.append_to_reply(reply, NEEDLE, NEEDLE, &Provenance::default()).unwrap();
    let status = MessageStatus::Finished { reason: FinishReason::Stop };
    temporary.finish_reply(reply, status, None, None).unwrap();
    let edited = temporary.edit_message(reply, "an edited heron").unwrap();
    temporary.set_draft_text(Some(chat), NEEDLE).unwrap();
    let first = stored.create_chat("stored").unwrap().id;
    assert!([chat, question, reply, edited.id].iter().all(|&number| is_temporary(number)));
    assert!(!is_temporary(first));
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(NEEDLE.len()).any(|part| part == NEEDLE.as_bytes()));
    }

    let before = temporary.open_chat(chat).unwrap();
    let kept = stored.adopt(&temporary, chat).unwrap();
    assert_eq!((kept.title.as_str(), kept.named, is_temporary(kept.id)), (NEEDLE, false, false));
    let opened = stored.open_chat(kept.id).unwrap();
    let texts = |opened: &OpenedChat| -> Vec<_> {
        let shown = opened.messages.iter();
        shown.map(|one| (one.message.text.clone(), one.message.edited, one.versions.len())).collect()
    };
    assert_eq!((texts(&opened), &opened.draft), (texts(&before), &before.draft));
    assert_eq!(stored.search("heron", &SearchScope::default(), 9).unwrap().chats[0].chat, kept.id);

    let other = temporary.create_chat("Temporary chat").unwrap().id;
    temporary.remove_all_but(Some(other)).unwrap();
    assert_eq!(temporary.chats().unwrap().iter().map(|chat| chat.id).collect::<Vec<_>>(), [other]);
    assert!(temporary.message(question).is_err());
    temporary.remove_all_but(None).unwrap();
    assert!(temporary.create_chat("Temporary chat").unwrap().id > other, "a number is never given twice");
}
