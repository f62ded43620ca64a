//! The library as the page shows it.

use std::path::Path;

use foretoken_models::free_bytes;
use foretoken_protocol::{
    DeletedModel, KvPrecision, LibraryPlace, LibrarySnapshot, LocalModel, LocalState, ModelOrigin,
};

use super::local_models::ModelFolder;
use super::{ModelLibrary, State, fit};

impl ModelLibrary {
    /// Everything the Models screen shows. Asks the disk how full it is.
    pub(super) fn snapshot(&self) -> LibrarySnapshot {
        let folder = self.location.folder();
        let free_bytes = free_bytes(&folder).unwrap_or(0);
        let (context, kv_precision) = (self.context(), self.kv_precision());
        let state = self.lock();
        let own = state.local_models.iter().filter(|model| model.origin == ModelOrigin::Library);
        LibrarySnapshot {
            place: LibraryPlace {
                path: text(&folder),
                online: state.online,
                free_bytes,
                used_bytes: own.map(|model| model.disk_bytes).sum(),
            },
            models: state
                .local_models
                .iter()
                .map(|model| self.local_model(&state, model, context.chosen, kv_precision))
                .collect(),
            jobs: state.jobs.shown(),
            deleted: state.deleted.iter().map(|(model, _)| deleted_model(model)).collect(),
            context,
            kv_precision,
            has_token: self.token.is_set(),
        }
    }

    fn local_model(
        &self,
        state: &State,
        model: &ModelFolder,
        context: u32,
        kv_precision: KvPrecision,
    ) -> LocalModel {
        let known = self.inspector.known(&model.path);
        let facts = known.as_ref().and_then(|answer| answer.as_ref().ok());
        let refused = known.as_ref().and_then(|answer| answer.as_ref().err());
        let local_state = match (&model.state, refused) {
            (LocalState::Ready, Some(error)) => LocalState::Broken { error: error.clone() },
            (found, _) => found.clone(),
        };
        let newest = state.newest.get(&model.path);
        LocalModel {
            path: text(&model.path),
            name: model.name.clone(),
            origin: model.origin,
            repo: model.repo.clone(),
            revision: model.revision.clone(),
            state: local_state,
            disk_bytes: model.disk_bytes,
            last_used: self.statistics.last_used(&model.path).max(model.last_used),
            parameters: facts.map(|facts| facts.parameters),
            format: facts.map(|facts| facts.format.clone()),
            mtp: facts.map(|facts| facts.mtp.clone()),
            fit: facts.map(|facts| fit::fit(facts.at(context, kv_precision), self.machine.model_bytes)),
            update_available: newest.is_some() && newest != model.revision.as_ref(),
            tuning: self.statistics.tuning(&model.path),
        }
    }
}

fn deleted_model(model: &ModelFolder) -> DeletedModel {
    DeletedModel { path: text(&model.path), name: model.name.clone(), disk_bytes: model.disk_bytes }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
