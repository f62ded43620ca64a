//! The process is killed at random moments.

mod common;

use std::time::Duration;

use common::*;
use foretoken_models::discard;
use foretoken_test_hub::{Fault, Stage, TestHub, Trouble};

const MODEL: &str = "org/model";
const KILLS: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_moment_leaves_a_whole_model_or_a_state_to_go_on_from() {
    let mut random = random();
    let files = model(3, 2_000_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(1_500_000)));
    let test = test_library();
    let (mut kills, mut partial, mut most) = (0, 0, 0);
    while kills < KILLS {
        let mut child = pull_apart(&hub, &test.library);
        tokio::time::sleep(Duration::from_millis(random.u64(0..900))).await;
        // `kill` is SIGKILL. A child that was done before it does not count.
        child.kill().unwrap();
        if !child.wait().unwrap().success() {
            kills += 1;
        }
        if assert_sound(&test.library, MODEL, &files) {
            test.library.delete("org--model").unwrap();
            test.library.empty_trash().unwrap();
            // Of a process that ended before it cleared up, the journal is left, whose files became the model.
            discard(&test.library, &id(MODEL)).unwrap();
        } else if let Some(model) = test.library.models().unwrap().first() {
            let foretoken_models::ModelState::Partial { bytes_done, .. } = model.state else {
                unreachable!()
            };
            partial += usize::from(bytes_done > 0);
            most = most.max(bytes_done);
        }
    }
    println!("{partial} of {KILLS} kills left a partial state, the largest of {most} bytes");
    assert!(partial > 0, "no kill came while bytes were arriving");
    hub.heal();
    assert!(pull_apart(&hub, &test.library).wait().unwrap().success());
    assert!(assert_sound(&test.library, MODEL, &files));
    let left: Vec<_> = read_folder(&test.library.root().join(".foretoken")).into_keys().collect();
    assert_eq!(left, ["library.json"], "something is left over");
}
