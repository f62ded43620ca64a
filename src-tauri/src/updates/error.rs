//! What can go wrong with a newer version, in the words of whoever wanted it. The version that runs stays in all cases.

use std::io::ErrorKind;

use foretoken_protocol::ErrorReport;
use tauri_plugin_updater::Error as PluginError;

/// More than any version takes, in bytes: a server that sends more is not believed.
pub(super) const LARGEST: usize = 2 << 30;

/// Why there is no newer version, or why it was not installed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// It was being looked for one.
    #[error(transparent)]
    Look(PluginError),
    /// It was being downloaded.
    #[error(transparent)]
    Download(PluginError),
    /// It was taking the place of the version that runs.
    #[error(transparent)]
    Install(PluginError),
    /// It was being downloaded, and there was no end of it.
    #[error("the server sends more than {LARGEST} bytes")]
    TooLarge,
}

const STILL_HERE: &str = "This version stays. Try again later.";

impl From<Error> for ErrorReport {
    fn from(error: Error) -> Self {
        use PluginError as E;
        let why = causes(&error);
        let (code, message, hint) = match &error {
            Error::TooLarge => (
                "update_too_large",
                "The server sends more than any version of Foretoken takes. What came was thrown away."
                    .into(),
                STILL_HERE,
            ),
            Error::Look(E::Reqwest(error)) if !error.is_decode() || error.is_timeout() => unreachable(&why),
            Error::Look(E::TargetNotFound(_) | E::TargetsNotFound(_)) => (
                "update_not_for_this_system",
                "There is a newer version, but not for this system.".into(),
                "The page of Foretoken says what it runs on.",
            ),
            Error::Look(_) => {
                ("update_answer_unknown", format!("The server's answer names no version: {why}."), STILL_HERE)
            }
            Error::Download(E::Reqwest(error)) if error.is_connect() => unreachable(&why),
            Error::Download(E::Reqwest(_) | E::Network(_)) => (
                "update_not_downloaded",
                format!("The new version cannot be downloaded: {why}."),
                "This version stays. Check the connection, and try again.",
            ),
            Error::Download(_) => (
                "update_not_genuine",
                format!(
                    "What was downloaded is not what the makers of Foretoken have signed, and was thrown away: \
                     {why}."
                ),
                "This version stays. If it happens again, do not install what the server offers by hand either.",
            ),
            Error::Install(E::Io(error)) if error.kind() == ErrorKind::StorageFull => (
                "update_disk_full",
                "There is not enough space for the new version.".into(),
                "This version stays. Free some space, and try again.",
            ),
            Error::Install(E::Io(error)) if error.kind() == ErrorKind::PermissionDenied => not_allowed(),
            Error::Install(E::AuthenticationFailed | E::PackageInstallFailed) => not_allowed(),
            Error::Install(E::PreviousAppNotRestored(kept)) => (
                "update_half_installed",
                format!(
                    "The new version could not be put in place, and this one lies in {} now.",
                    kept.display()
                ),
                "Move it back to the Applications folder.",
            ),
            Error::Install(E::InvalidUpdaterFormat | E::BinaryNotFoundInArchive) => (
                "update_unusable",
                format!("What was downloaded is signed, but cannot be installed here: {why}."),
                STILL_HERE,
            ),
            Error::Install(_) => (
                "update_not_installed",
                format!("The new version could not be installed: {why}."),
                STILL_HERE,
            ),
        };
        Self { code: code.into(), message, hint: hint.into() }
    }
}

fn unreachable(why: &str) -> (&'static str, String, &'static str) {
    (
        "updates_unreachable",
        format!("The server that has new versions cannot be reached: {why}."),
        "This version stays. Check the connection, and try again.",
    )
}

fn not_allowed() -> (&'static str, String, &'static str) {
    (
        "update_not_allowed",
        "The system has not installed the new version: it was not allowed, or there was no space.".into(),
        "This version stays. Try again with the password of somebody who may install programs.",
    )
}

/// An error with its causes, on one line and without a full stop.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text.trim_end_matches('.').replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn what_can_be_mended_says_how() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        let denied = || io::Error::from(ErrorKind::PermissionDenied);
        for (error, code, hint) in [
            (Error::Install(full().into()), "update_disk_full", "Free some space"),
            (Error::Install(denied().into()), "update_not_allowed", "password"),
            (Error::Install(PluginError::PackageInstallFailed), "update_not_allowed", "password"),
            (
                Error::Install(PluginError::PreviousAppNotRestored("/tmp/current_app".into())),
                "update_half_installed",
                "Applications",
            ),
            (Error::Install(io::Error::other("a disk").into()), "update_not_installed", "stays"),
            (Error::Look(PluginError::ReleaseNotFound), "update_answer_unknown", "stays"),
            (Error::Download(PluginError::MissingSignedVersion), "update_not_genuine", "stays"),
            (Error::TooLarge, "update_too_large", "stays"),
        ] {
            let report = ErrorReport::from(error);
            assert_eq!(report.code, code);
            assert!(report.hint.contains(hint) && report.message.ends_with('.'), "{report:?}");
        }
    }
}
