//! Keeps the machine from falling asleep while it works for the person.

use foretoken_protocol::{Job, JobStage, LibrarySnapshot};
use keepawake::KeepAwake;
use tokio::sync::watch;

/// Keeps the machine awake while a reply is written, the library works or another Mac computes here, for as long as the
/// app runs. The screen may still go dark.
pub(crate) async fn stay_awake_at_work(
    mut replies: watch::Receiver<usize>,
    mut library: watch::Receiver<Option<LibrarySnapshot>>,
    mut lent: watch::Receiver<bool>,
) {
    let (mut worked, mut held) = (false, None);
    loop {
        let works = *replies.borrow_and_update() > 0
            || *lent.borrow_and_update()
            || library.borrow_and_update().as_ref().is_some_and(|library| library.jobs.iter().any(is_work));
        if works != worked {
            held = change(held, works).await;
            worked = works;
        }
        let goes_on = tokio::select! {
            changed = replies.changed() => changed.is_ok(),
            changed = library.changed() => changed.is_ok(),
            changed = lent.changed() => changed.is_ok(),
        };
        if !goes_on {
            return;
        }
    }
}

/// Whether a job needs the machine. One that waits or is paused does not.
fn is_work(job: &Job) -> bool {
    matches!(
        job.stage,
        JobStage::Downloading
            | JobStage::Verifying
            | JobStage::Probing
            | JobStage::Converting
            | JobStage::Comparing
            | JobStage::Moving
            | JobStage::Tuning
    )
}

/// Takes hold of the machine or lets it go. It asks the system, which may take its time.
async fn change(held: Option<KeepAwake>, works: bool) -> Option<KeepAwake> {
    let changed = tokio::task::spawn_blocking(move || {
        drop(held);
        works.then(hold).flatten()
    });
    match changed.await {
        Ok(held) => held,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

/// A hold on the machine. A system that knows no such thing falls asleep by its own rules.
fn hold() -> Option<KeepAwake> {
    let held = keepawake::Builder::default()
        .idle(true)
        .reason("A model is at work")
        .app_name("Foretoken")
        .app_reverse_domain("dev.foretoken.Foretoken")
        .create();
    match held {
        Ok(held) => Some(held),
        Err(error) => {
            tracing::debug!("the machine cannot be kept awake: {error}");
            None
        }
    }
}
