//! A disk that is really full: a small file system in memory, which needs the right to mount one.
#![cfg(target_os = "linux")]

mod common;

use std::path::Path;
use std::process::Command;

use common::*;
use foretoken_models::{Library, LibraryError, ModelState};
use foretoken_protocol::ErrorReport;
use foretoken_test_hub::{Fault, Stage, TestHub, Trouble};

const MODEL: &str = "org/model";

/// A mounted file system, taken away at the end.
struct Small(tempfile::TempDir);

impl Small {
    fn mount(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        eprintln!("SKIPPED: only root can mount a small file system, so a full disk was NOT tested");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

#[tokio::test]
async fn a_model_that_has_no_room_is_refused_before_anything_is_written() {
    let Some(disk) = Small::mount(20) else { return };
    let files = model(1, 8_000_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let library = Library::create(&disk.path().join("models")).unwrap();
    let error = pull(&client(&hub), &library, MODEL).await.unwrap_err();
    let LibraryError::DiskFull { needed, free, .. } = error else { panic!("{error}") };
    assert!(needed > free && needed > 8_000_000 && free < 20 << 20);
    assert_eq!(bytes_left(&library), 0);
    assert!(hub.seen().iter().all(|seen| seen.path.starts_with("/api/")));
}

#[tokio::test]
async fn a_disk_that_fills_up_on_the_way_stops_the_download_and_room_lets_it_go_on() {
    let Some(disk) = Small::mount(40) else { return };
    let files = model(2, 8_000_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let library = Library::create(&disk.path().join("models")).unwrap();
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(2_000_000)));
    // Another program takes all the room while the download runs.
    let hog = disk.path().join("hog");
    let client = client(&hub);
    let filling = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let filled = std::fs::write(&hog, vec![0; 64 << 20]);
        assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    };
    let (result, ()) = tokio::join!(pull(&client, &library, MODEL), filling);
    let error = result.unwrap_err();
    assert!(matches!(error, LibraryError::DiskFull { needed, .. } if needed > 1_000_000), "{error}");
    assert_eq!(ErrorReport::from(&error).code, "disk_full");
    assert!(!assert_sound(&library, MODEL, &files));
    assert!(matches!(library.models().unwrap()[0].state, ModelState::Partial { .. }));
    let again = pull(&client, &library, MODEL).await.unwrap_err();
    assert!(matches!(again, LibraryError::DiskFull { .. }), "{again}");
    std::fs::remove_file(&hog).unwrap();
    hub.heal();
    pull(&client, &library, MODEL).await.unwrap();
    assert!(assert_sound(&library, MODEL, &files));
}
