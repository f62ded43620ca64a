//! A disk that is really full: a small file system of its own. On Linux it is in memory and needs the right to mount
//! one; a Mac has anybody mount an image.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::*;
use foretoken_models::{Library, LibraryError, ModelState};
use foretoken_protocol::ErrorReport;
use foretoken_test_hub::{Fault, Stage, TestHub, Trouble};

const MODEL: &str = "org/model";

/// A mounted file system, taken away at the end.
struct Small(tempfile::TempDir);

impl Small {
    fn new(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("disk")).unwrap();
        let small = Self(folder);
        match small.mount(megabytes) {
            Ok(()) => Some(small),
            Err(why) => {
                skipped("a full disk", &why);
                None
            }
        }
    }

    #[cfg(not(target_os = "macos"))]
    fn mount(&self, megabytes: u32) -> Result<(), String> {
        let size = format!("size={megabytes}m");
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(self.path()))
            .map_err(|told| format!("only root can mount a small file system ({told})"))
    }

    #[cfg(target_os = "macos")]
    fn mount(&self, megabytes: u32) -> Result<(), String> {
        let image = self.0.path().join("image.sparseimage");
        let size = format!("{megabytes}m");
        let create = ["create", "-quiet", "-type", "SPARSE", "-fs", "HFS+", "-volname", "Small", "-size"];
        run(Command::new("hdiutil").args(create).arg(&size).arg(&image))?;
        let attach = ["attach", "-quiet", "-nobrowse", "-mountpoint"];
        run(Command::new("hdiutil").args(attach).arg(self.path()).arg(&image))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("disk")
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let mut command = if cfg!(target_os = "macos") {
            let mut command = Command::new("hdiutil");
            command.args(["detach", "-quiet", "-force"]);
            command
        } else {
            Command::new("umount")
        };
        // There may be none.
        let _ = command.arg(self.path()).output();
    }
}

/// Runs a command, or says what it said.
fn run(command: &mut Command) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn a_model_that_has_no_room_is_refused_before_anything_is_written() {
    let Some(disk) = Small::new(20) else { return };
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
    let Some(disk) = Small::new(40) else { return };
    let files = model(2, 8_000_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let library = Library::create(&disk.path().join("models")).unwrap();
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(2_000_000)));
    // Another program takes all the room while the download runs.
    let hog = disk.path().join("hog");
    let client = client(&hub);
    let filling = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let filled = fs::write(&hog, vec![0; 64 << 20]);
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
    fs::remove_file(&hog).unwrap();
    hub.heal();
    pull(&client, &library, MODEL).await.unwrap();
    assert!(assert_sound(&library, MODEL, &files));
}
