//! Several downloads in an order, over restarts.

mod common;

use std::time::Duration;

use common::*;
use foretoken_models::{ItemState, Library, LibraryError, Queue, QueueItem, QueueOptions};
use foretoken_test_hub::{Fault, Repo, Stage, TestHub, Trouble};

const MODELS: [&str; 3] = ["org/a", "org/b", "org/c"];

async fn hub() -> (TestHub, Files) {
    let files = model(1, 500_000);
    (TestHub::start(MODELS.map(|name| repo(name, &files))).await.unwrap(), files)
}

fn start(hub: &TestHub, library: &Library) -> Queue {
    let options = QueueOptions {
        base_delay: Duration::from_millis(20),
        max_delay: Duration::from_millis(100),
        download: options(),
        ..QueueOptions::default()
    };
    Queue::start(client(hub), library.clone(), options).unwrap()
}

/// Waits until the queue is as it should be.
async fn until(queue: &Queue, what: impl FnMut(&Vec<QueueItem>) -> bool) -> Vec<QueueItem> {
    let mut items = queue.items();
    let waited = tokio::time::timeout(Duration::from_secs(60), items.wait_for(what)).await;
    waited.expect("the queue never came to it").unwrap().clone()
}

/// Waits until nothing is left of a download. It leaves the list before what it wrote is removed.
async fn gone(library: &Library, name: &str) {
    let folder = downloads(library).join(name);
    let removed = async {
        while folder.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), removed).await.expect("a cancelled download stays");
}

fn states(items: &[QueueItem]) -> Vec<&ItemState> {
    items.iter().map(|item| &item.state).collect()
}

fn slow(hub: &TestHub) {
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(200_000)));
}

/// The order in which the Hub was asked for models.
fn order(hub: &TestHub) -> Vec<String> {
    let seen = hub.seen();
    let mut asked: Vec<String> = seen
        .iter()
        .filter_map(|seen| Some(seen.path.strip_prefix("/api/models/")?[..5].to_owned()))
        .collect();
    asked.dedup();
    asked
}

#[tokio::test]
async fn downloads_run_one_by_one_in_an_order_that_can_be_changed() {
    let (hub, files) = hub().await;
    let test = test_library();
    let queue = start(&hub, &test.library);
    slow(&hub);
    for name in MODELS {
        queue.add(id(name), "main").await.unwrap();
    }
    queue.add(id("org/a"), "main").await.unwrap();
    let items = until(&queue, |items| items.iter().any(|item| item.progress.bytes_done > 0)).await;
    assert_eq!(states(&items), [&ItemState::Running, &ItemState::Waiting, &ItemState::Waiting]);
    queue.move_to(&id("org/c"), 1).await.unwrap();
    hub.heal();
    until(&queue, |items| items.iter().all(|item| item.state == ItemState::Complete)).await;
    assert_eq!(order(&hub), ["org/a", "org/c", "org/b"]);
    for name in MODELS {
        assert!(assert_sound(&test.library, name, &files));
    }
    queue.cancel(&id("org/a")).await.unwrap();
    assert!(test.library.folder(&id("org/a")).exists(), "a complete model only leaves the list");
    let error = queue.pause(&id("org/a")).await.unwrap_err();
    assert!(matches!(error, LibraryError::Unknown { .. }), "{error}");
}

#[tokio::test]
async fn pause_resume_and_cancel_work_in_every_state() {
    let (hub, files) = hub().await;
    let test = test_library();
    let queue = start(&hub, &test.library);
    slow(&hub);
    queue.add(id("org/a"), "main").await.unwrap();
    queue.add(id("org/b"), "main").await.unwrap();
    until(&queue, |items| items[0].progress.bytes_done > 0).await;
    queue.pause(&id("org/a")).await.unwrap();
    // The next one gets its turn.
    until(&queue, |items| states(items) == [&ItemState::Paused, &ItemState::Running]).await;
    until(&queue, |items| items[1].progress.bytes_done > 0).await;
    queue.cancel(&id("org/b")).await.unwrap();
    until(&queue, |items| items.len() == 1).await;
    gone(&test.library, "org--b").await;
    // Paused and let go on at once, while it may still be stopping.
    queue.resume(&id("org/a")).await.unwrap();
    queue.pause(&id("org/a")).await.unwrap();
    queue.resume(&id("org/a")).await.unwrap();
    hub.heal();
    until(&queue, |items| items[0].state == ItemState::Complete).await;
    assert!(assert_sound(&test.library, "org/a", &files));
    slow(&hub);
    queue.add(id("org/c"), "main").await.unwrap();
    until(&queue, |items| items[1].progress.bytes_done > 0).await;
    queue.pause(&id("org/c")).await.unwrap();
    queue.cancel(&id("org/c")).await.unwrap();
    until(&queue, |items| items.len() == 1).await;
    gone(&test.library, "org--c").await;
}

#[tokio::test]
async fn the_queue_goes_on_where_the_last_process_left_it() {
    let (hub, files) = hub().await;
    let test = test_library();
    let queue = start(&hub, &test.library);
    slow(&hub);
    for name in MODELS {
        queue.add(id(name), "main").await.unwrap();
    }
    queue.pause(&id("org/b")).await.unwrap();
    until(&queue, |items| items[0].progress.bytes_done > 100_000).await;
    queue.stop().await;
    assert!(!assert_sound(&test.library, "org/a", &files));
    hub.heal();
    let queue = start(&hub, &test.library);
    let items =
        until(&queue, |items| items.iter().filter(|item| item.state == ItemState::Complete).count() == 2)
            .await;
    assert_eq!(states(&items), [&ItemState::Complete, &ItemState::Paused, &ItemState::Complete]);
    queue.stop().await;
    let queue = start(&hub, &test.library);
    let items = until(&queue, |items| !items.is_empty()).await;
    assert_eq!((items.len(), &items[0].repo), (1, &id("org/b")));
}

#[tokio::test]
async fn what_the_network_failed_is_tried_again_and_what_needs_the_person_is_not() {
    let (hub, files) = hub().await;
    hub.put(Repo::new("org/gated", [("config.json", "{}")]).gated("hf_x"));
    let test = test_library();
    let queue = start(&hub, &test.library);
    hub.fail(Fault::new(Stage::Content, Trouble::Status(503, None)));
    queue.add(id("org/gated"), "main").await.unwrap();
    queue.add(id("org/a"), "main").await.unwrap();
    let items = until(
        &queue,
        |items| matches!(items.last(), Some(last) if matches!(last.state, ItemState::Retrying { .. })),
    )
    .await;
    let ItemState::Failed { error } = &items[0].state else { panic!("{items:?}") };
    assert_eq!(error.code, "gated_no_token");
    hub.heal();
    let items = until(&queue, |items| items[1].state == ItemState::Complete).await;
    assert!(matches!(items[0].state, ItemState::Failed { .. }));
    assert!(assert_sound(&test.library, "org/a", &files));
}
