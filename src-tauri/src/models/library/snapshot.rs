//! The library as the page shows it.

use std::path::Path;

use foretoken_models::{Catalogue, MeasuredSpeed, free_bytes};
use foretoken_protocol::{
    DeletedModel, Fit, FitVerdict, Job, LibraryPlace, LibrarySnapshot, LocalDraftModel, LocalModel,
    LocalState, ModelOrigin,
};

use super::draft_models::{self, Pairs};
use super::facts::{DraftFacts, Facts, Found};
use super::fit::Need;
use super::local_models::ModelFolder;
use super::{ModelLibrary, State, expected, fit};
use crate::models::picker::BUILT_IN_NAME;

/// The share of a model's parameters that may be missing in a conversion of it.
const LEFT_OUT: f64 = 0.1;

impl ModelLibrary {
    /// Everything the Models screen shows. Asks the disk how full it is.
    pub(super) fn snapshot(&self) -> LibrarySnapshot {
        let folder = self.location.folder();
        let free_bytes = free_bytes(&folder).unwrap_or(0);
        let (context, kv_precision) = (self.context(), self.kv_precision());
        let catalogue = Catalogue::load(self.catalogue.as_ref());
        let measured = self.measured_speeds();
        let state = self.lock();
        let pairs = self.pairs(&state.local_models, &catalogue);
        let (drafts, models): (Vec<_>, Vec<_>) =
            state.local_models.iter().partition(|folder| self.is_draft_model(folder, &catalogue));
        let look =
            Look { library: self, state: &state, pairs: &pairs, catalogue: &catalogue, measured: &measured };
        let own = state.local_models.iter().filter(|model| model.origin == ModelOrigin::Library);
        LibrarySnapshot {
            place: LibraryPlace {
                path: text(&folder),
                online: state.online,
                free_bytes,
                used_bytes: own.map(|model| model.disk_bytes).sum(),
            },
            models: models.into_iter().map(|model| look.model(model)).collect(),
            draft_models: drafts.into_iter().map(|draft| look.draft_model(draft)).collect(),
            jobs: state.jobs.shown().into_iter().map(|job| with_what_follows(job, &catalogue)).collect(),
            deleted: state.deleted.iter().map(|(model, _)| deleted_model(model)).collect(),
            context,
            kv_precision,
            hub: self.hubs.access(),
            has_token: self.token.is_set(),
        }
    }
}

/// The library at a moment.
struct Look<'a> {
    library: &'a ModelLibrary,
    state: &'a State,
    pairs: &'a Pairs,
    catalogue: &'a Catalogue,
    /// How fast the models here were.
    measured: &'a [MeasuredSpeed],
}

impl Look<'_> {
    fn model(&self, model: &ModelFolder) -> LocalModel {
        let (facts, state) = self.facts(model);
        let facts = match facts {
            Some(Found::Model(facts)) => Some(facts),
            Some(Found::DraftModel(_)) | None => None,
        };
        let facts = facts.as_ref();
        let draft = self.pairs.used_by(&model.path);
        let is_here =
            |repo: &str| self.state.local_models.iter().any(|other| other.repo.as_deref() == Some(repo));
        let offer = model.repo.as_deref().and_then(|repo| draft_models::offer(self.catalogue, repo));
        let beside = draft.map_or(0, |(_, bytes)| bytes);
        let fit = facts.map(|facts| self.fit(facts, beside));
        let sight = facts.map(|facts| facts.sight(beside, self.library.machine.model_bytes));
        let runs = fit.as_ref().is_some_and(|fit| fit.verdict != FitVerdict::TooBig);
        LocalModel {
            path: text(&model.path),
            name: model.name.clone(),
            origin: model.origin,
            repo: model.repo.clone(),
            revision: model.revision.clone(),
            state,
            disk_bytes: model.disk_bytes,
            last_used: self.library.statistics.last_used(&model.path).max(model.last_used),
            parameters: facts.map(|facts| facts.parameters),
            format: facts.map(|facts| facts.format.clone()),
            mtp: facts.map(|facts| facts.mtp.clone()),
            sight: sight.unwrap_or_default(),
            fit,
            update_available: self.has_update(model),
            tuning: self.library.statistics.tuning(&model.path),
            expected: facts
                .filter(|_| runs)
                .and_then(|facts| expected::of_model(facts, &self.library.machine.chip, self.measured)),
            draft_model: draft.map(|(path, _)| text(path)),
            draft_model_offer: offer.filter(|offer| draft.is_none() && !is_here(&offer.repo)),
            evidence: model.proven.as_ref().map(|proven| proven.evidence.clone()),
            original: self.original(model).map(|original| text(&original.path)),
        }
    }

    /// The model that a measured one was made from: in its place, or the same from the Hub. Of one that nobody has
    /// measured, an unquantized one of the same shape.
    fn original(&self, model: &ModelFolder) -> Option<&ModelFolder> {
        let Some(proven) = model.proven.as_ref() else { return self.likely_original(model) };
        let same = |other: &&ModelFolder| {
            let is_same = other.repo == model.repo && other.revision == model.revision;
            other.path == proven.original || (other.raw && model.repo.is_some() && is_same)
        };
        self.state.local_models.iter().find(same)
    }

    fn likely_original(&self, model: &ModelFolder) -> Option<&ModelFolder> {
        let facts = |folder: &ModelFolder| match self.facts(folder).0 {
            Some(Found::Model(facts)) => Some(facts),
            Some(Found::DraftModel(_)) | None => None,
        };
        let shape = |facts: &Facts| (facts.hidden_size, facts.layers, facts.vocab_size);
        let own = facts(model).filter(|_| !model.raw)?;
        let alike = self.state.local_models.iter().filter(|other| {
            let is_like = |found: &Facts| {
                let differ = found.parameters.abs_diff(own.parameters) as f64;
                // An MTP head or a vision tower may have been left out.
                shape(found) == shape(&own) && differ < LEFT_OUT * found.parameters as f64
            };
            other.raw && other.state == LocalState::Ready && facts(other).as_ref().is_some_and(is_like)
        });
        let alike: Vec<&ModelFolder> = alike.collect();
        // Of a family, such as one model and what it was tuned to, the name tells.
        let name = model.name.to_lowercase();
        let named = alike.iter().filter(|other| name.starts_with(&other.name.to_lowercase()));
        let only = alike.first().filter(|_| alike.len() == 1);
        named.max_by_key(|other| other.name.len()).or(only).copied()
    }

    fn draft_model(&self, draft: &ModelFolder) -> LocalDraftModel {
        let (facts, state) = self.facts(draft);
        let facts: Option<DraftFacts> = match facts {
            Some(Found::DraftModel(facts)) => Some(facts),
            Some(Found::Model(_)) | None => None,
        };
        let made_for = match draft.is_built_in_draft() {
            true => Some(BUILT_IN_NAME.into()),
            false => draft_models::made_for(self.catalogue, draft.repo.as_deref(), facts.as_ref()),
        };
        LocalDraftModel {
            path: text(&draft.path),
            name: draft.name.clone(),
            origin: draft.origin,
            repo: draft.repo.clone(),
            state,
            disk_bytes: draft.disk_bytes,
            format: facts.as_ref().map(|facts| facts.format.clone()),
            most_guesses: facts.as_ref().map(|facts| facts.most_guesses),
            made_for,
            targets: self.pairs.targets_of(&draft.path).map(text).collect(),
            update_available: self.has_update(draft),
        }
    }

    /// What is known of a folder, and whether it can be used.
    fn facts(&self, folder: &ModelFolder) -> (Option<Found>, LocalState) {
        match (&folder.state, self.library.inspector.known(&folder.path)) {
            (LocalState::Ready, Some(Err(error))) => (None, LocalState::Broken { error }),
            (state, known) => (known.and_then(Result::ok), state.clone()),
        }
    }

    /// Whether a model runs here, with `beside` bytes of a draft model.
    fn fit(&self, facts: &Facts, beside: u64) -> Fit {
        let need = facts.at(self.library.context().chosen, self.library.kv_precision());
        let bytes = need.bytes.saturating_add(beside);
        fit::fit(Need { bytes, ..need }, self.library.machine.model_bytes)
    }

    fn has_update(&self, folder: &ModelFolder) -> bool {
        let newest = self.state.newest.get(&folder.path);
        newest.is_some() && newest != folder.revision.as_ref()
    }
}

/// A job with what comes after it. Draft models, which say nothing by themselves, are not measured.
fn with_what_follows(job: Job, catalogue: &Catalogue) -> Job {
    let is_draft_model = job.repo.as_deref().is_some_and(|repo| catalogue.draft_model(repo).is_some());
    let followed_by = if is_draft_model { Vec::new() } else { job.followed_by };
    Job { followed_by, ..job }
}

fn deleted_model(model: &ModelFolder) -> DeletedModel {
    DeletedModel { path: text(&model.path), name: model.name.clone(), disk_bytes: model.disk_bytes }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
