//! Jobs that people begin: measurements, benchmarks, probes and conversions. One that exists already goes on instead.

use std::path::PathBuf;

use foretoken_models::LibraryError;
use foretoken_protocol::{BenchmarkPlan, ConversionChoice, ErrorReport, JobId, ModelOrigin, Weights};

use super::jobs::Step;
use super::{ModelLibrary, folder_name};

impl ModelLibrary {
    /// Begins to measure a model.
    pub(crate) async fn tune(&self, path: PathBuf) -> Result<JobId, ErrorReport> {
        let model = self.model(&path)?;
        let twice = |step: &Step| matches!(step, Step::Tune { path: other, .. } if *other == path);
        let known = self.lock().jobs.with_step(twice).map(|job| job.id);
        if let Some(job) = known {
            self.resume_job(job).await?;
            return Ok(job);
        }
        Ok(self.add_job(model.name, Step::Tune { path, alone: true }))
    }

    /// Begins to measure a model for the history of benchmarks.
    pub(crate) async fn benchmark(&self, path: PathBuf, plan: BenchmarkPlan) -> Result<JobId, ErrorReport> {
        let model = self.model(&path)?;
        let same = Step::Benchmark { path, plan };
        let known = self.lock().jobs.with_step(|step| *step == same).map(|job| job.id);
        if let Some(job) = known {
            self.resume_job(job).await?;
            return Ok(job);
        }
        Ok(self.add_job(model.name, same))
    }

    /// Begins to measure what each part of a model costs, on a text of the person's or on those of the program.
    pub(crate) async fn probe(&self, path: PathBuf, text: Option<PathBuf>) -> Result<JobId, ErrorReport> {
        let model = self.model(&path)?;
        let same = Step::Probe { source: path, text };
        let known = self.lock().jobs.with_step(|step| *step == same).map(|job| job.id);
        if let Some(job) = known {
            self.resume_job(job).await?;
            return Ok(job);
        }
        Ok(self.add_job(model.name, same))
    }

    /// Begins to compare a model with the one that it was made from.
    pub(crate) async fn compare(&self, path: PathBuf, original: PathBuf) -> Result<JobId, ErrorReport> {
        let model = self.model(&path)?;
        self.model(&original)?;
        let same = Step::Compare { model: path, original };
        let known = self.lock().jobs.with_step(|step| *step == same).map(|job| job.id);
        if let Some(job) = known {
            self.resume_job(job).await?;
            return Ok(job);
        }
        Ok(self.add_job(model.name, same))
    }

    /// Begins to convert a model into the library.
    pub(crate) async fn convert(
        &self,
        path: PathBuf,
        choice: &ConversionChoice,
    ) -> Result<JobId, ErrorReport> {
        let model = self.model(&path)?;
        let weights = choice.weights;
        let remove_source = !choice.keep_raw && model.origin == ModelOrigin::Library;
        let folder = match &model.repo {
            Some(repo) => repo.replacen('/', "--", 1),
            None => model.name.clone(),
        };
        let names = [&folder, &model.name];
        let [name, shown] = match weights {
            Weights::Published => return Err(nothing_to_convert(&model.name)),
            Weights::Bits { bits } => names.map(|name| converted_name(name, bits)),
            Weights::Chosen { bytes } => {
                let bits = self.offered(&path, bytes).await?.bits_per_weight;
                names.map(|name| format!("{name}-{bits:.2}bpw"))
            }
        };
        // Refuses a name that is taken now rather than in an hour.
        let library = self.library()?;
        let origin = library.source(&folder_name(&path)).filter(|_| path.parent() == Some(library.root()));
        library.conversion_folder(&name, origin.as_ref())?;
        let step = Step::Convert { source: path.clone(), name: name.clone(), weights, remove_source };
        let (job, same) = {
            let mut state = self.lock();
            match state.jobs.maker_of(&name) {
                Some(maker) => (maker.id, maker.step.uses(&path)),
                None => (state.jobs.add(shown, step), true),
            }
        };
        if !same {
            return Err(LibraryError::NameTaken { name }.into());
        }
        // One that is new is as if it went on.
        self.resume_job(job).await?;
        Ok(job)
    }
}

/// What a model is called once it is converted.
pub(super) fn converted_name(name: &str, bits: u8) -> String {
    format!("{name}-{bits}bit")
}

fn nothing_to_convert(name: &str) -> ErrorReport {
    ErrorReport {
        code: "nothing_to_convert".into(),
        message: format!("{name} is in full precision already."),
        hint: "Choose to how many bits it is to be converted.".into(),
    }
}
