//! Projects in the running app.

use foretoken_protocol::{AppEvent, Attachment, Beginning, ChatId, ChatSummary, Destination};
use tokio::time::timeout;

use crate::testing::{Running, TIMEOUT, page, rest, running};

#[tokio::test]
async fn a_chat_that_is_begun_in_a_project_stays_with_it_and_the_window_hears_of_all() {
    let Running { app, .. } = &running().await;
    let conversations = &app.conversations;
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    let mut told = async || loop {
        let change = timeout(TIMEOUT, changes.recv()).await.expect("the window is told something").unwrap();
        if let AppEvent::Projects { projects, deleted } = change {
            let chats: Vec<u32> = projects.iter().map(|project| project.chats).collect();
            return (chats, deleted.len());
        }
    };
    let project = conversations.create_project("Greenhouse".into()).await.unwrap().id;
    assert_eq!(told().await, (vec![0], 0));
    let file = Attachment { name: "plan.txt".into(), text: "Tomatoes stand in the north.".into() };
    assert_eq!(conversations.add_project_file(project, file).await.unwrap(), None);
    assert_eq!(told().await, (vec![0], 0));
    let texts = conversations.store.read(move |chats| chats.project_texts(project, "tomato", &[], 99, false));
    assert_eq!(texts.await.unwrap()[0].passages[0].text, "Tomatoes stand in the north.");

    let begin = || {
        let begun = Beginning { navigation: Some(0), project: Some(project), ..Beginning::default() };
        Destination::New(begun)
    };
    let (channel, mut events) = page();
    let question = "Tell me about the sea.";
    let chat = conversations.ask(begin(), question.into(), channel).await.unwrap().chat;
    assert_eq!(told().await, (vec![1], 0));
    rest(&mut events).await;
    assert_eq!(conversations.show_chat(1, chat).await.unwrap().chat.project, Some(project));
    let shown = app.snapshot().await.unwrap();
    assert_eq!((shown.chats.total, shown.projects[0].chats, shown.projects[0].files.len()), (0, 1, 1));

    conversations.delete_project(project, true).await.unwrap();
    assert_eq!(told().await, (vec![], 1));
    assert_eq!(conversations.show_chat(2, chat).await.unwrap_err().code, "unknown_chat");
    conversations.restore_project(project).await.unwrap();
    assert_eq!(told().await, (vec![1], 0));
    conversations.move_chat(chat, None).await.unwrap();
    assert_eq!(told().await, (vec![0], 0));

    conversations.delete_project(project, false).await.unwrap();
    let (channel, _events) = page();
    let refused = conversations.ask(begin(), question.into(), channel).await.unwrap_err();
    assert_eq!(refused.code, "unknown_project");
    assert_eq!(app.snapshot().await.unwrap().chats.total, 1, "nothing was begun");
}

#[tokio::test]
async fn the_chats_of_a_project_go_and_come_back_in_one_event() {
    let Running { app, .. } = &running().await;
    let conversations = &app.conversations;
    let project = conversations.create_project("Greenhouse".into()).await.unwrap().id;
    let begun = conversations.store.call(move |store| {
        let titles = ["Tomatoes", "Beans", "Leeks"];
        let begin = |title| store.create_chat_in(Some(project), title).map(|chat| chat.id);
        titles.into_iter().map(begin).collect::<Result<Vec<_>, _>>()
    });
    let chats = begun.await.unwrap();
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    // What the window has heard of chats: where those are that have changed, or that they are gone.
    let mut told = || -> Vec<Vec<(ChatId, &'static str)>> {
        let place = |chat: ChatSummary| (chat.id, if chat.project.is_some() { "inside" } else { "outside" });
        let mut heard = Vec::new();
        while let Ok(change) = changes.try_recv() {
            match change {
                AppEvent::Chats { chats } => heard.push(chats.into_iter().map(place).collect()),
                AppEvent::ChatsGone { chats } => {
                    heard.push(chats.into_iter().map(|chat| (chat, "gone")).collect());
                }
                _ => {}
            }
        }
        heard.iter_mut().for_each(|chats: &mut Vec<_>| chats.sort_unstable());
        heard
    };
    let all = |place: &'static str| vec![chats.iter().map(|&chat| (chat, place)).collect::<Vec<_>>()];

    conversations.delete_project(project, true).await.unwrap();
    assert_eq!(told(), all("gone"));
    conversations.restore_project(project).await.unwrap();
    assert_eq!(told(), all("inside"));
    conversations.delete_project(project, false).await.unwrap();
    assert_eq!(told(), all("outside"));
    conversations.restore_project(project).await.unwrap();
    assert_eq!(told(), all("inside"));

    let empty = conversations.create_project("Shed".into()).await.unwrap().id;
    conversations.delete_project(empty, true).await.unwrap();
    conversations.restore_project(empty).await.unwrap();
    assert!(told().is_empty(), "nothing has happened to any chat");
}
