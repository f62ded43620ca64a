//! A report of the app's state that can be shown to others: no chat, no token, no name of the person.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::path::Path;

use foretoken_host::Activity;
use foretoken_models::Machine;
use foretoken_protocol::{Counters, CrashReport, EngineState, Preferences};
use sysinfo::System;

use crate::log::Log;
use crate::settings::Settings;

/// How many lines of the log that tell of something wrong are in a report.
const PROBLEMS: usize = 30;
/// What every token of the Hub begins with.
const TOKEN: &str = "hf_";

/// What a report is made of.
pub(crate) struct Report<'a> {
    pub(crate) version: &'a str,
    pub(crate) engine: &'a EngineState,
    pub(crate) activity: Activity,
    pub(crate) settings: &'a Settings,
    pub(crate) log: &'a Log,
    /// The newest crash that the system has written a report about.
    pub(crate) crash: Option<&'a CrashReport>,
    /// The folder of the model library.
    pub(crate) models: &'a Path,
    /// The home of the person.
    pub(crate) home: Option<&'a Path>,
}

impl Report<'_> {
    /// The report, as text to be copied.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        let home = self.home.and_then(Path::to_str).filter(|home| home.len() > 1);
        let text = home.map_or(text.clone(), |home| text.replace(home, "~"));
        // Disks are mounted below the name of the person too.
        let name = self.home.and_then(Path::file_name).and_then(OsStr::to_str);
        let text = name.map_or(text.clone(), |name| text.replace(&format!("/{name}/"), "/…/"));
        without_tokens(&text)
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let webview = tauri::webview_version().unwrap_or_else(|error| error.to_string());
        writeln!(
            text,
            "Foretoken {} ({} build)",
            self.version,
            if cfg!(debug_assertions) { "debug" } else { "release" }
        )?;
        writeln!(text, "Tauri {}, webview {webview}", tauri::VERSION)?;
        writeln!(text)?;
        machine(text, self.models)?;
        writeln!(text)?;
        engine(text, self.engine)?;
        activity(text, self.activity)?;
        writeln!(text)?;
        settings(text, self.settings)?;
        writeln!(text)?;
        if let Some(CrashReport { file, program, at, exception }) = self.crash {
            writeln!(text, "Last crash: {program}, {at}, {exception} ({file})")?;
            writeln!(text)?;
        }
        let problems = self.log.problems(PROBLEMS);
        writeln!(text, "Errors and warnings{}", if problems.is_empty() { ": none" } else { ":" })?;
        for line in problems {
            writeln!(text, "- {:?} {}: {}", line.level, line.source, line.text)?;
        }
        Ok(())
    }
}

fn machine(text: &mut String, models: &Path) -> fmt::Result {
    let machine = Machine::detect(models);
    let system = System::long_os_version().unwrap_or_else(|error| error.to_string());
    writeln!(text, "System: {system} ({})", std::env::consts::ARCH)?;
    writeln!(text, "Processor: {}", machine.chip)?;
    writeln!(text, "Memory: {:.1} GB", gigabytes(machine.ram_bytes))
}

fn engine(text: &mut String, engine: &EngineState) -> fmt::Result {
    match engine {
        EngineState::Starting => writeln!(text, "Engine: starting"),
        EngineState::Loading { path, done, total } => {
            writeln!(text, "Engine: loading {path}, {done} of {total} bytes")
        }
        EngineState::Failed { error, .. } => {
            writeln!(text, "Engine: failed, {}: {}", error.code, error.message)
        }
        EngineState::Ready { model, device, in_memory } => {
            let memory = if *in_memory { "" } else { ", unloaded since nobody asks" };
            writeln!(text, "Engine: ready on {device}{memory}")?;
            writeln!(text, "Model: {}", model.path)?;
            writeln!(
                text,
                "It is {}, {}, {} parameters",
                model.architecture, model.format, model.parameters
            )?;
            writeln!(text, "MTP: {:?}", model.mtp)?;
            model.notes.iter().try_for_each(|note| writeln!(text, "Note: {note}"))
        }
    }
}

/// How often the engine was started anew, and what it has counted since it loaded its model.
fn activity(text: &mut String, activity: Activity) -> fmt::Result {
    let Activity { starts, counters, tokens_per_second: _ } = activity;
    let Counters { preemptions, swapped_out_bytes, swapped_in_bytes, .. } = counters;
    let Counters { prefix_lookups, prefix_hits, prefix_hit_tokens, probes, .. } = counters;
    writeln!(text, "Engine restarts: {}", starts.saturating_sub(1))?;
    writeln!(
        text,
        "Prefix cache: {prefix_hits} of {prefix_lookups} lookups hit, {prefix_hit_tokens} tokens not read"
    )?;
    writeln!(
        text,
        "Preemptions: {preemptions}, {swapped_out_bytes} bytes swapped out, {swapped_in_bytes} bytes swapped in"
    )?;
    writeln!(text, "Probes: {probes}")
}

/// Numbers and switches. What the person wrote, as stop texts, is counted.
fn settings(text: &mut String, settings: &Settings) -> fmt::Result {
    let Preferences { appearance, zoom, notifications, keep_running, .. } = settings.preferences.clone();
    let generation = &settings.generation;
    writeln!(
        text,
        "Preferences: {appearance:?}, zoom {zoom} %, notifications {}, keeps running {}",
        on(notifications),
        on(keep_running)
    )?;
    writeln!(
        text,
        "Replies: {:?}, at most {} tokens, thinking {:?}, {} stop texts",
        generation.drafting,
        generation.max_tokens,
        generation.thinking,
        generation.stop.len()
    )?;
    writeln!(text, "Sampling: {:?}", generation.sampling)?;
    writeln!(text, "Models opened: {}", settings.model_folders.len())
}

fn on(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

/// A text in which nothing looks like a token of the Hub. None is ever logged; this holds if one is typed elsewhere.
fn without_tokens(text: &str) -> String {
    let mut parts = text.split(TOKEN);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str("hf_…");
        clean.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    }
    clean
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{ErrorReport, GenerationSettings};
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn a_report_tells_what_is_wrong_and_names_nobody() {
        let log = Log::default();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(log.clone()), || {
            tracing::info!("nothing is wrong here");
            tracing::error!("/home/ines/models/a cannot be read, with hf_SeCret123 in it");
        });
        let default = Settings::default();
        let settings = Settings {
            generation: GenerationSettings {
                stop: vec!["private words".into()],
                ..default.generation.clone()
            },
            model_folders: vec!["/home/ines/private folder".into()],
            ..default
        };
        let error = ErrorReport {
            code: "no_folder".into(),
            message: "The folder /home/ines/models is missing, and /run/media/ines/disk too.".into(),
            hint: String::new(),
        };
        let engine = EngineState::Failed { error, model: None };
        let home = Some(Path::new("/home/ines"));
        let crash = CrashReport {
            file: "foretoken-engine-14-2026-11-21-090012.ips".into(),
            program: "foretoken-engine-14".into(),
            at: "2026-11-21 09:00".into(),
            exception: "EXC_CRASH (SIGABRT), Abort trap: 6".into(),
        };
        let report = Report {
            version: "1.2.3",
            engine: &engine,
            activity: Activity {
                starts: 3,
                counters: Counters { preemptions: 4, ..Counters::default() },
                tokens_per_second: 0.0,
            },
            settings: &settings,
            log: &log,
            crash: Some(&crash),
            models: Path::new("/home/ines/models"),
            home,
        }
        .text();
        for part in [
            "Foretoken 1.2.3",
            "Memory: ",
            "no_folder",
            "Engine restarts: 2",
            "Preemptions: 4, 0 bytes swapped out",
            "~/models/a cannot be read",
            "hf_… in it",
            "1 stop texts",
            "Last crash: foretoken-engine-14, 2026-11-21 09:00, EXC_CRASH (SIGABRT)",
        ] {
            assert!(report.contains(part), "{part} is missing in\n{report}");
        }
        for part in ["ines", "SeCret", "private", "nothing is wrong"] {
            assert!(!report.contains(part), "{part} is in\n{report}");
        }
    }
}
