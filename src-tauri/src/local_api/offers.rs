//! The models of the app, as other programs can name them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use foretoken_api::{NotLoaded, Offered, Tuned};
use foretoken_protocol::{ApiAlias, ApiSampling, FitVerdict, GenerationSettings, LocalState, ModelInfo};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::conversations::replies::Replies;
use crate::models::Models;
use crate::settings::AppSettings;

/// What the app offers: the models that it lists, written as its settings say.
pub(super) struct Offers {
    pub(super) models: Arc<Models>,
    pub(super) settings: Arc<AppSettings>,
    pub(super) replies: Arc<Replies>,
}

impl fmt::Debug for Offers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Offers")
    }
}

impl foretoken_api::Models for Offers {
    fn offered(&self) -> Vec<Offered> {
        let listed = self.models.library.watch();
        let listed = listed.borrow();
        let known = listed.iter().flat_map(|library| &library.models);
        let known = known.filter(|model| matches!(model.state, LocalState::Ready));
        let mut offered: Vec<Offered> = known
            .map(|model| Offered {
                tuned: model.tuning.as_ref().and_then(Tuned::of),
                ..offer(model.repo.as_deref(), &model.name, &model.path)
            })
            .collect();
        for entry in self.models.entries(&self.settings.current()) {
            if !offered.iter().any(|model| model.path == entry.path) && Path::new(&entry.path).is_dir() {
                offered.push(offer(None, &entry.name, &entry.path));
            }
        }
        offered
    }

    fn chosen(&self) -> Option<String> {
        self.models.loaded().or_else(|| Some(self.models.selected(&self.settings.current())))
    }

    fn settings(&self, model: &ModelInfo) -> GenerationSettings {
        let settings = self.settings.current();
        let sampling = match settings.local_api.sampling {
            ApiSampling::App => self.models.sampling_of(model),
            ApiSampling::Model => model.defaults,
        };
        GenerationSettings { sampling, stop: Vec::new(), ..settings.generation }
    }

    fn aliases(&self) -> Vec<ApiAlias> {
        self.settings.current().local_api.aliases
    }

    fn may_load(&self, folder: &str) -> Result<(), NotLoaded> {
        if !self.settings.current().local_api.may_load {
            return Err(NotLoaded::NotAllowed);
        }
        let listed = self.models.library.watch();
        let fit = listed.borrow().iter().flat_map(|library| &library.models).find_map(|model| {
            (model.path == folder).then(|| model.fit.as_ref().map(|fit| fit.verdict)).flatten()
        });
        if fit == Some(FitVerdict::TooBig) {
            return Err(NotLoaded::TooBig);
        }
        // The person's own replies are written by the person's model.
        if self.models.is_left() && !self.replies.are_written() { Ok(()) } else { Err(NotLoaded::Busy) }
    }

    fn load<'a>(&'a self, folder: &'a str) -> BoxFuture<'a, Result<(), NotLoaded>> {
        async move {
            self.models.lend(folder).await.map_err(NotLoaded::Failed)?;
            if self.models.is_left() {
                return Ok(());
            }
            // The person has come back meanwhile.
            self.models.load_selected().await;
            Err(NotLoaded::Busy)
        }
        .boxed()
    }
}

fn offer(repo: Option<&str>, name: &str, path: &str) -> Offered {
    // Programs take names with spaces badly.
    let id = repo.map_or_else(|| name.split_whitespace().collect::<Vec<_>>().join("-"), str::to_owned);
    let changed = Path::new(path).join("config.json").metadata().and_then(|file| file.modified()).ok();
    let since = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    Offered {
        id,
        name: name.to_owned(),
        path: path.to_owned(),
        created: since.map_or(0, |time| time.as_secs()),
        tuned: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_by_its_repository_or_its_name_without_spaces() {
        assert_eq!(offer(Some("a/b"), "b", "/b").id, "a/b");
        let offered = offer(None, "Demo model", "/nowhere");
        assert_eq!((offered.id.as_str(), offered.created), ("Demo-model", 0));
    }
}
