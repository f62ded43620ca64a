//! The process is killed at random moments, as by a loss of power but for the disk's own cache.

mod common;

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::*;
use foretoken_library::Library;
use foretoken_test_hub::{Fault, Stage, TestHub, Trouble};

const MODEL: &str = "org/model";
const KILLS: usize = 20;

fn start(hub: &TestHub, library: &Library) -> Child {
    Command::new(env!("CARGO_BIN_EXE_foretoken-models"))
        .args(["--library".as_ref(), library.root().as_os_str()])
        .args(["pull", MODEL, "--connections", "4", "--segment-bytes", "500000", "--checkpoint-ms", "50"])
        .env("HF_ENDPOINT", hub.endpoint())
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("HF_TOKEN")
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_moment_leaves_a_whole_model_or_a_state_to_go_on_from() {
    let seed = std::env::var("FORETOKEN_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("FORETOKEN_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let files = model(3, 2_000_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(1_500_000)));
    let place = place();
    let (mut kills, mut partial, mut most) = (0, 0, 0);
    while kills < KILLS {
        let mut child = start(&hub, &place.library);
        tokio::time::sleep(Duration::from_millis(random.u64(0..900))).await;
        // `kill` is SIGKILL. A child that was done before it does not count.
        child.kill().unwrap();
        if !child.wait().unwrap().success() {
            kills += 1;
        }
        if assert_sound(&place.library, MODEL, &files) {
            place.library.delete("org--model").unwrap();
            place.library.empty_trash().unwrap();
        } else if let Some(model) = place.library.models().unwrap().first() {
            let foretoken_library::ModelState::Partial { bytes_done, .. } = model.state else {
                unreachable!()
            };
            partial += usize::from(bytes_done > 0);
            most = most.max(bytes_done);
        }
    }
    println!("{partial} of {KILLS} kills left a partial state, the largest of {most} bytes");
    assert!(partial > 0, "no kill came while bytes were arriving");
    hub.heal();
    assert!(start(&hub, &place.library).wait().unwrap().success());
    assert!(assert_sound(&place.library, MODEL, &files));
    let left: Vec<_> = read_folder(&place.library.root().join(".foretoken")).into_keys().collect();
    assert_eq!(left, ["library.json"], "something is left over");
}
