//! Projects in the running app.

use foretoken_protocol::{AppEvent, Attachment, Beginning, Destination};
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
