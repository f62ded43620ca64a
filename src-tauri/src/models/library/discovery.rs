//! What there is to get: searches of the Hub, recommendations, model cards and newer commits; and the context at which
//! models are judged.

use std::sync::Arc;

use foretoken_models::{Catalogue, Hub, LibraryError, MeasuredSpeed};
use foretoken_protocol::{ErrorReport, FitContext, HubSettings, KvPrecision, RemoteFilter, RemoteModel};

use super::remote::Judge;
use super::{ModelLibrary, fit, remote, work};
use crate::blocking::blocking;

impl ModelLibrary {
    /// The models to recommend. With `refresh` the Hub is asked for newer commits of the models that are here, and a
    /// newer list is fetched where the person has named a place for one.
    pub(crate) async fn suggestions(
        self: &Arc<Self>,
        refresh: bool,
    ) -> Result<Vec<RemoteModel>, ErrorReport> {
        let source = self.catalogue.as_ref();
        let mut catalogue = Catalogue::load(source);
        if refresh {
            let hub = self.hub()?;
            if let Some(source) = source {
                catalogue = Catalogue::refresh(&hub, source).await?;
            }
            self.look_for_updates(&hub).await?;
        }
        let measured = self.measured_here().await;
        Ok(remote::suggestions(&catalogue, &self.judge(&measured), self.texts(), |repo| self.installed(repo)))
    }

    /// Searches the Hub. Without `fresh`, what the last search found will do if it was for the same.
    pub(crate) async fn search(
        self: &Arc<Self>,
        filter: &RemoteFilter,
        fresh: bool,
    ) -> Result<Vec<RemoteModel>, ErrorReport> {
        let query = remote::query(filter);
        let kept = self.lock().last_search.clone().filter(|found| !fresh && found.is_for(&query));
        let found = match kept {
            Some(found) => found,
            None => {
                let found = remote::search(&self.hub()?, &self.inspector, query).await?;
                self.lock().last_search = Some(found.clone());
                found
            }
        };
        let measured = self.measured_here().await;
        Ok(found.shown(filter, &self.judge(&measured), |repo| self.installed(repo)))
    }

    /// What models there are to get are judged by.
    fn judge<'a>(&'a self, measured: &'a [MeasuredSpeed]) -> Judge<'a> {
        Judge {
            context: self.context().chosen,
            kv_precision: self.kv_precision(),
            available: self.machine.model_bytes,
            chip: &self.machine.chip,
            measured,
        }
    }

    /// How fast the models that are here were.
    async fn measured_here(self: &Arc<Self>) -> Vec<MeasuredSpeed> {
        let library = Arc::clone(self);
        blocking(move || library.measured_speeds()).await
    }

    /// The context that models are judged at.
    pub(super) fn context(&self) -> FitContext {
        fit::context(self.settings.current().fit_context)
    }

    /// How models keep keys and values.
    pub(super) fn kv_precision(&self) -> KvPrecision {
        self.settings.current().kv_precision
    }

    /// Tells the page what models are judged to be, after a setting or a measurement has changed that this follows
    /// from.
    pub(crate) fn refresh(&self) {
        self.changed.notify_one();
    }

    /// Chooses the context that models are judged at, in tokens.
    pub(crate) async fn set_context(&self, context: u32) -> Result<(), ErrorReport> {
        fit::check(context)?;
        let writing = self.settings.update(|settings| settings.fit_context = Some(context));
        self.changed.notify_one();
        Ok(writing.written().await?)
    }

    /// What a model's makers write about it.
    pub(crate) async fn model_card(&self, repo: &str) -> Result<String, ErrorReport> {
        remote::model_card(&self.hub()?, &repo.parse()?).await
    }

    /// Keeps a token for the Hub, or removes it.
    pub(crate) async fn set_token(self: &Arc<Self>, text: Option<String>) -> Result<(), ErrorReport> {
        let token = Arc::clone(&self.token);
        blocking(move || token.set(text.as_deref())).await?;
        self.changed.notify_one();
        Ok(())
    }

    /// Takes over how the Hub is to be reached. Downloads go on from where they are.
    pub(crate) async fn set_hub(&self, settings: HubSettings) -> Result<(), ErrorReport> {
        self.hubs.set(settings).await?;
        self.lock().last_search = None;
        // The library's watch opens it again, by the new way.
        self.close_queue().await;
        // Its cache may be another one.
        self.request_rescan();
        Ok(())
    }

    /// Asks for newer commits of the models that are here. What one repository says is noted in the log; a Hub that
    /// does not answer at all is an error.
    async fn look_for_updates(&self, hub: &Hub) -> Result<(), LibraryError> {
        let local_models = self.lock().local_models.clone();
        for model in local_models {
            let (Some(repo), Some(revision)) = (&model.repo, &model.revision) else { continue };
            let Ok(repo) = repo.parse() else { continue };
            let wanted = self.wanted_revision(hub, &repo).await;
            // Whoever has the newest commit is not led back to the one that the catalogue names.
            let has_newest = wanted != work::NEWEST
                && hub
                    .model_info(&repo, work::NEWEST)
                    .await
                    .is_ok_and(|info| info.commit.as_str() == revision);
            match hub.model_info(&repo, if has_newest { work::NEWEST } else { &wanted }).await {
                Ok(info) => drop(self.lock().newest.insert(model.path, info.commit.to_string())),
                // The others would have to wait as long for the same.
                Err(
                    error @ (LibraryError::Unreachable { .. }
                    | LibraryError::Busy { .. }
                    | LibraryError::Refused { status: 500.., .. }),
                ) => return Err(error),
                Err(error) => tracing::info!("{repo}: {error}"),
            }
        }
        self.changed.notify_one();
        Ok(())
    }

    /// The Hub for those who wait in front of the window.
    pub(super) fn hub(&self) -> Result<Hub, ErrorReport> {
        self.hubs.browsing()
    }

    /// Where the model of a repository is.
    fn installed(&self, repo: &str) -> Option<String> {
        let state = self.lock();
        let model = state.local_models.iter().find(|model| model.repo.as_deref() == Some(repo))?;
        Some(model.path.to_string_lossy().into_owned())
    }
}
