//! Conversions, and what is measured before one, by the engine program.

use std::ffi::OsString;
use std::path::Path;

use foretoken_models::{Library, Source};
use foretoken_protocol::{ErrorReport, JobId, JobStage, MeasuringOutlook, QualityOffer, Weights};
use serde::Deserialize;
use serde_json::{Value, json};

use super::offers::not_kept;
use super::{ModelLibrary, evidence, folder_name};
use crate::blocking::blocking;
use crate::json_file;

/// A name that no model has: nothing is written to it.
const NOTHING: &str = "nothing";

/// A line of the engine's `convert --json` or `compare --json`.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Told {
    Progress {
        done: u64,
        total: u64,
        seconds_left: Option<f64>,
    },
    /// Texts are read, parts are measured, or the head behind them.
    #[serde(alias = "reading", alias = "guessing")]
    Probing {
        done: u64,
        total: u64,
    },
    Comparing {
        done: u64,
        total: u64,
    },
    Compared {
        evidence: Value,
        texts: Value,
        modules: Value,
    },
    Offered(QualityOffer),
    Outlook(MeasuringOutlook),
    #[serde(other)]
    Other,
}

impl ModelLibrary {
    /// What it takes to measure the parts of a model on a text of the person's, or on those of the program, and then to
    /// convert it; `None` where the engine does not say.
    pub(crate) async fn measuring_outlook(
        &self,
        path: &Path,
        text: Option<&Path>,
    ) -> Result<Option<MeasuringOutlook>, ErrorReport> {
        let mut arguments = self.arguments(&self.model(path)?.path, NOTHING, None)?;
        // It takes as long whatever it is to come to.
        arguments.extend(["--outlook".into(), "--quality".into(), "balanced".into()]);
        arguments.extend(read_text(text));
        let output = match self.tool.output(arguments).await {
            Ok(output) => output,
            Err(error) => {
                tracing::info!("what it takes to measure {} is not known: {error}", path.display());
                return Ok(None);
            }
        };
        Ok(output.lines().find_map(|line| match serde_json::from_str(line) {
            Ok(Told::Outlook(outlook)) => Some(outlook),
            _ => None,
        }))
    }

    /// Measures what each part of a model costs, and keeps what it can be converted to; false if it was stopped. Goes
    /// on where an earlier start was interrupted.
    pub(super) async fn probe_now(
        &self,
        job: JobId,
        source: &Path,
        text: Option<&Path>,
        stop: impl Future<Output = ()>,
    ) -> Result<bool, ErrorReport> {
        self.forget_other_offer(source, text).await?;
        let mut arguments = self.arguments(source, NOTHING, None)?;
        arguments.extend(["--offer".into(), "--measured".into(), self.place_of(source)?.measured.into()]);
        arguments.extend(read_text(text));
        let mut offered = None;
        let follow = |line: &str| {
            if let Some(offer) = self.follow(job, line) {
                offered = Some(offer);
            }
        };
        if !self.tool.lines(arguments, follow, stop).await? {
            return Ok(false);
        }
        let offer = offered.ok_or_else(nothing_offered)?;
        self.keep_offer(source, text.map(Path::to_owned), offer).await?;
        self.lock().jobs.set_note(job, self.texts().say("job-measured"));
        Ok(true)
    }

    /// Measures how close a model is to its original, and keeps that; false if it was stopped.
    pub(super) async fn compare_now(
        &self,
        job: JobId,
        model: &Path,
        original: &Path,
        stop: impl Future<Output = ()>,
    ) -> Result<bool, ErrorReport> {
        let (of, place) = {
            let (library, path) = (self.library()?, model.to_owned());
            let revision = self.model(model)?.revision;
            let identity = move || evidence::identity(&library, &path, revision.as_deref());
            (blocking(identity).await, self.place_of(model)?.evidence)
        };
        let mut arguments: Vec<OsString> = vec!["compare".into(), "--json".into()];
        arguments.extend(["--model".into(), model.into(), "--original".into(), original.into()]);
        let mut found = None;
        let follow = |line: &str| match serde_json::from_str(line) {
            Ok(Told::Compared { evidence, texts, modules }) => {
                found = Some(json!({ "evidence": evidence, "texts": texts, "modules": modules }));
            }
            _ => drop(self.follow(job, line)),
        };
        if !self.tool.lines(arguments, follow, stop).await? {
            return Ok(false);
        }
        let quality = found.ok_or_else(nothing_compared)?;
        let kept = json!({ "of": of, "source": { "path": original }, "quality": quality });
        let written = {
            let place = place.clone();
            blocking(move || json_file::write(&place, &kept)).await
        };
        written.map_err(|error| not_kept(&place, &error))?;
        self.lock().jobs.set_note(job, self.texts().say("job-compared"));
        Ok(true)
    }

    /// Converts a model; false if it was stopped, and then nothing writes any more. Goes on where an earlier start was
    /// interrupted.
    pub(super) async fn convert_now(
        &self,
        job: JobId,
        source: &Path,
        name: &str,
        weights: Weights,
        stop: impl Future<Output = ()>,
    ) -> Result<bool, ErrorReport> {
        let library = self.library()?;
        let origin = origin(&library, source);
        let target = library.conversion_folder(name, origin.as_ref())?;
        let is_chosen = matches!(weights, Weights::Chosen { .. });
        // An earlier start has left nothing to do, but for the last word. The folder gets its config last, after its
        // name: where there is none, the engine goes on, and so it does where it has not measured what came of it.
        if target.join("config.json").is_file() && (!is_chosen || evidence::read(&target).is_some()) {
            return Ok(true);
        }
        let mut arguments = self.arguments(source, name, origin.as_ref())?;
        match weights {
            Weights::Bits { bits } => arguments.extend(["--bits".into(), bits.to_string().into()]),
            Weights::Chosen { bytes } => {
                let place = self.place_of(source)?;
                arguments.extend(["--target-size".into(), gigabytes(bytes).into()]);
                arguments.extend(["--measured".into(), place.measured.into()]);
                arguments.extend(read_text(self.measured_text(source).await?.as_deref()));
            }
            Weights::Published => arguments.extend(["--bits".into(), "none".into()]),
        }
        let follow = |line: &str| drop(self.follow(job, line));
        self.tool.lines(arguments, follow, stop).await
    }

    /// What every conversion of a model into the library is told.
    fn arguments(
        &self,
        source: &Path,
        name: &str,
        origin: Option<&Source>,
    ) -> Result<Vec<OsString>, ErrorReport> {
        let target = self.library()?.conversion_folder(name, origin)?;
        let mut arguments: Vec<OsString> = vec!["convert".into(), "--json".into()];
        arguments.extend(["--source".into(), source.into(), "--out".into(), target.into()]);
        if let Some(origin) = origin {
            arguments.extend(["--revision".into(), origin.commit.to_string().into()]);
        }
        Ok(arguments)
    }

    /// Shows how far the engine is, and returns what it offers.
    fn follow(&self, job: JobId, line: &str) -> Option<QualityOffer> {
        let (stage, done, total, left) = match serde_json::from_str(line) {
            Ok(Told::Progress { done, total, seconds_left }) => {
                (JobStage::Converting, done, total, seconds_left)
            }
            Ok(Told::Probing { done, total }) => (JobStage::Probing, done, total, None),
            Ok(Told::Comparing { done, total }) => (JobStage::Comparing, done, total, None),
            Ok(Told::Offered(offer)) => return Some(offer),
            Ok(Told::Compared { .. } | Told::Outlook(_) | Told::Other) | Err(_) => return None,
        };
        let mut state = self.lock();
        if state.jobs.get(job).is_ok_and(|entry| entry.stage != stage) {
            state.jobs.set_stage(job, stage);
        }
        state.jobs.set_progress(job, done, total, left);
        drop(state);
        self.changed.notify_one();
        None
    }
}

/// Where the model in a folder came from, if it is one of the library's.
pub(super) fn origin(library: &Library, folder: &Path) -> Option<Source> {
    if folder.parent() == Some(library.root()) { library.source(&folder_name(folder)) } else { None }
}

/// A number of GB that the engine takes for so many bytes, to the last one.
fn gigabytes(bytes: u64) -> String {
    format!("{}.{:09}", bytes / 1_000_000_000, bytes % 1_000_000_000)
}

fn read_text(file: Option<&Path>) -> Vec<OsString> {
    file.map_or_else(Vec::new, |file| vec!["--calibrate".into(), file.into()])
}

fn nothing_compared() -> ErrorReport {
    ErrorReport {
        code: "nothing_compared".into(),
        message: "The engine has compared the models and not said what it found.".into(),
        hint: "Install Foretoken again.".into(),
    }
}

fn nothing_offered() -> ErrorReport {
    ErrorReport {
        code: "nothing_offered".into(),
        message: "The engine has measured the model and not said what it can be converted to.".into(),
        hint: "Install Foretoken again.".into(),
    }
}
