//! The models that programs can name, and which one a name means.

use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use foretoken_protocol::{
    ApiAlias, EngineState, ErrorReport, GenerationSettings, ModelInfo, PictureInput, Tuning,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::api::Api;
use crate::error::ApiError;
use crate::figures::rounded;

/// Names the model that is loaded, whichever that is.
const DEFAULT: &str = "default";
/// What helps where a model is here and programs may not have it loaded.
const NOT_LOADED: &str = "It is here and not loaded. Load it in Foretoken, or ask for \"default\".";
/// What helps where an alias names a model that is not here any more.
const ALIAS_GONE: &str =
    "The name stands for a model that is not here any more. Change that in Foretoken's settings.";

/// That another model answers than the one that was named.
pub(crate) const ALIAS: &str = "model-alias";

/// Whose models they are: what there is, and how replies are written where a program does not say.
pub trait Models: Debug + Send + Sync {
    /// The models that are here.
    fn offered(&self) -> Vec<Offered>;

    /// The folder of the model that is loaded, or is to be once an engine runs.
    fn chosen(&self) -> Option<String>;

    /// How a model writes where a request says nothing.
    fn settings(&self, model: &ModelInfo) -> GenerationSettings;

    /// Names by which programs ask for other models than they get.
    fn aliases(&self) -> Vec<ApiAlias>;

    /// Whether programs may have the model in a folder loaded now.
    fn may_load(&self, folder: &str) -> Result<(), NotLoaded>;

    /// Loads the model in a folder in place of the one that is loaded. No program has an answer in the making.
    fn load<'a>(&'a self, folder: &'a str) -> BoxFuture<'a, Result<(), NotLoaded>>;
}

/// Why a model is not loaded for a program.
#[derive(Debug, Clone, PartialEq)]
pub enum NotLoaded {
    /// Programs may not have any loaded.
    NotAllowed,
    /// A person uses another one.
    Busy,
    /// It takes more memory than there is for models.
    TooBig,
    /// It failed.
    Failed(ErrorReport),
}

/// A model that is here.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// `organisation/name` of its repository, or the short name of its folder.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Its folder, which no program gets to see.
    pub path: String,
    /// When it came here, seconds since 1970.
    pub created: u64,
    /// What drafts bring, where that was measured here.
    pub tuned: Option<Tuned>,
}

/// What was measured of a model's drafts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuned {
    /// The number of drafts that is fastest; 0 where none is faster.
    pub depth: u8,
    /// Tokens per second with so many drafts, as a multiple of those without.
    pub speed_up: f64,
}

impl Tuned {
    /// What a measurement says, if it says something.
    pub fn of(tuning: &Tuning) -> Option<Self> {
        let speed = |depth: u8| tuning.tokens_per_second.get(usize::from(depth)).copied();
        let speed_up = speed(tuning.best_depth)? / speed(0)?;
        speed_up.is_finite().then_some(Self { depth: tuning.best_depth, speed_up })
    }
}

impl Offered {
    /// Whether a program means this model by `named`: its id, or what follows the organisation, in any case.
    fn is_called(&self, named: &str) -> bool {
        let bare = self.id.rsplit_once('/').map_or(self.id.as_str(), |(_, bare)| bare);
        [self.id.as_str(), bare, &self.name].iter().any(|name| name.eq_ignore_ascii_case(named))
    }
}

/// The models that are here, each with an id of its own: of equal ones the second is `…@2`.
pub fn offered(models: &dyn Models) -> Vec<Offered> {
    let mut models = models.offered();
    for index in 1..models.len() {
        let (before, rest) = models.split_at_mut(index);
        let model = &mut rest[0];
        let same = before.iter().filter(|other| base(&other.id) == model.id).count();
        if same > 0 {
            model.id = format!("{}@{}", model.id, same + 1);
        }
    }
    models
}

/// Whether a name means one of these models, or whichever is loaded. No alias of that name counts.
pub fn names_model(named: &str, models: &[Offered]) -> bool {
    named.eq_ignore_ascii_case(DEFAULT) || models.iter().any(|model| model.is_called(named))
}

fn base(id: &str) -> &str {
    id.rsplit_once('@').map_or(id, |(base, _)| base)
}

/// The model that answers a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) id: String,
    /// Its folder.
    pub(crate) folder: String,
    /// Whether the program has named another one.
    pub(crate) is_alias: bool,
}

/// The model that a program names, if it can answer. What names whichever is loaded means the one that is so now.
pub(crate) fn find(api: &Api, named: &str) -> Result<Found, ApiError> {
    let found = meant(api, named)?;
    // What cannot be loaded does not have to wait to hear that.
    check(api, &found)?;
    Ok(found)
}

/// The model that a program means, whether or not it can answer now.
fn meant(api: &Api, named: &str) -> Result<Found, ApiError> {
    let current = api.current_model();
    let models = offered(&*api.models);
    let whichever = |is_alias| {
        let folder = current.clone().ok_or(ApiError::NoModelLoaded)?;
        let loaded = models.iter().find(|model| model.path == folder);
        // One that was loaded from elsewhere is not on the list, and answers all the same.
        let id = loaded.map_or_else(|| DEFAULT.into(), |model| model.id.clone());
        Ok(Found { id, folder, is_alias })
    };
    let one =
        |model: &Offered, is_alias| Ok(Found { id: model.id.clone(), folder: model.path.clone(), is_alias });
    if named.eq_ignore_ascii_case(DEFAULT) {
        whichever(false)
    } else if let Some(model) = called(&models, named, current.as_deref()) {
        one(model, false)
    } else if let Some(alias) = api.models.aliases().iter().find(|alias| stands_for(alias, named)) {
        match alias.model.as_deref().map(|model| called(&models, model, current.as_deref())) {
            None => whichever(true),
            Some(Some(model)) => one(model, true),
            Some(None) => Err(ApiError::NoModel { name: named.to_owned(), hint: ALIAS_GONE.into() }),
        }
    } else {
        let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        let hint = format!("There are {} and {DEFAULT:?}, the one that is loaded.", ids.join(", "));
        Err(ApiError::NoModel { name: named.to_owned(), hint })
    }
}

/// Refuses a model that is not loaded and cannot be now.
fn check(api: &Api, found: &Found) -> Result<(), ApiError> {
    let current = api.current_model();
    if current.as_ref() == Some(&found.folder) {
        return Ok(());
    }
    api.models.may_load(&found.folder).map_err(|error| match error {
        NotLoaded::NotAllowed if current.is_none() => ApiError::NoModelLoaded,
        error => refusal(&found.id, error),
    })
}

/// Why a program does not get a model.
fn refusal(id: &str, error: NotLoaded) -> ApiError {
    let name = id.to_owned();
    match error {
        NotLoaded::NotAllowed => ApiError::NoModel { name, hint: NOT_LOADED.into() },
        NotLoaded::Busy => ApiError::ModelBusy { name },
        NotLoaded::TooBig => ApiError::ModelTooBig { name },
        NotLoaded::Failed(error) => match error.code.as_str() {
            "out_of_memory" => ApiError::ModelTooBig { name },
            // A person has chosen another one meanwhile.
            "another_model_chosen" => ApiError::ModelBusy { name },
            "engine_stopped" | "engine_hung" | "app_closed" => ApiError::EngineStopped,
            _ => ApiError::NotLoadable { name, code: error.code },
        },
    }
}

/// Has a model loaded, unless it is. What is asked of the engine from then on is written by it. A load that has begun
/// goes on also when nobody waits for it any more, so that whoever has it loaded knows what became of it.
pub(crate) async fn have(api: &Arc<Api>, found: &Found) -> Result<(), ApiError> {
    let (api, found) = (Arc::clone(api), found.clone());
    let loading = tokio::spawn(async move {
        let _switching = api.switching.lock().await;
        if api.current_model().as_ref() == Some(&found.folder) {
            return Ok(());
        }
        check(&api, &found)?;
        api.models.load(&found.folder).await.map_err(|error| refusal(&found.id, error))
    });
    loading.await.unwrap_or(Err(ApiError::EngineStopped))
}

/// Where the engine has failed, has the model that answered before tried once more.
pub(crate) async fn try_again(api: &Api) -> Result<(), ApiError> {
    let mut state = api.engine.watch();
    if matches!(*state.borrow_and_update(), EngineState::Failed { model: Some(_), .. }) {
        api.engine.load_again();
        // It comes to a state of its own, or another one has.
        state.changed().await.map_err(|_| ApiError::EngineStopped)?;
    }
    Ok(())
}

/// The model that is loaded, once it is. Another one may be by the time this is known.
pub(crate) async fn loaded(api: &Api) -> Result<ModelInfo, ApiError> {
    let mut state = api.engine.watch();
    let settled =
        |state: &EngineState| matches!(state, EngineState::Ready { .. } | EngineState::Failed { .. });
    let settled = state.wait_for(settled).await.map(|state| state.clone());
    let Ok(EngineState::Ready { model, .. }) = settled else { return Err(ApiError::NoModelLoaded) };
    Ok(*model)
}

/// Whether the model in a folder sees pictures, as far as that is known: the one that is loaded says so, and the config
/// of another one may describe no tower. Reads that.
pub(crate) fn sight(api: &Api, folder: &str) -> Option<PictureInput> {
    match api.engine.state() {
        EngineState::Ready { model, .. } if model.path == folder => Some(*model.pictures),
        _ => describes_no_tower(Path::new(folder)).then(PictureInput::default),
    }
}

fn describes_no_tower(folder: &Path) -> bool {
    let config = fs::read(folder.join("config.json")).ok();
    let config: Option<Value> = config.and_then(|config| serde_json::from_slice(&config).ok());
    config.is_some_and(|config| config.is_object() && config["vision_config"].is_null())
}

/// The model that is called so: by its id, else the one that is loaded, else the first.
fn called<'a>(models: &'a [Offered], named: &str, current: Option<&str>) -> Option<&'a Offered> {
    let all = || models.iter().filter(|model| model.is_called(named));
    let exact = models.iter().find(|model| model.id == named);
    exact.or_else(|| all().find(|model| Some(model.path.as_str()) == current)).or_else(|| all().next())
}

/// Whether an alias has this name; one that ends in `*` has every name that begins so.
fn stands_for(alias: &ApiAlias, named: &str) -> bool {
    let (named, name) = (named.to_lowercase(), alias.name.to_lowercase());
    name.strip_suffix('*').map_or(named == name, |begin| named.starts_with(begin))
}

/// The answer to `GET /v1/models`, for the packages of OpenAI and of Anthropic.
pub(crate) fn list(api: &Api) -> Value {
    let data: Vec<Value> = offered(&*api.models).iter().map(|model| entry(api, model)).collect();
    let id = |model: Option<&Value>| model.map(|model| model["id"].clone());
    json!({
        "object": "list",
        "first_id": id(data.first()),
        "last_id": id(data.last()),
        "has_more": false,
        "data": data,
    })
}

/// The answer to `GET /v1/models/{id}`, where any name may stand that a request can have: the entry of the model that
/// it means.
pub(crate) fn one(api: &Api, named: &str) -> Result<Value, ApiError> {
    let Found { id, folder, .. } = meant(api, named)?;
    let listed = offered(&*api.models).into_iter().find(|model| model.path == folder);
    // One that was loaded from elsewhere is known by its folder alone.
    let model =
        listed.unwrap_or_else(|| Offered { name: id.clone(), id, path: folder, created: 0, tuned: None });
    Ok(entry(api, &model))
}

fn entry(api: &Api, model: &Offered) -> Value {
    let info = match api.engine.state() {
        EngineState::Ready { model: info, .. } if info.path == model.path => Some(info),
        _ => None,
    };
    let context = info.as_ref().map(|info| info.context_length);
    let format = info.as_ref().map(|info| info.format.clone());
    let sees = sight(api, &model.path).map(|sight| matches!(sight, PictureInput::Available { .. }));
    json!({
        "id": model.id,
        "object": "model",
        "created": model.created,
        "owned_by": model.id.split_once('/').map_or("local", |(organisation, _)| organisation),
        "type": "model",
        "display_name": model.name,
        "created_at": rfc3339(model.created),
        "lifecycle": "active",
        "max_input_tokens": context,
        "max_tokens": context,
        "context_length": context,
        "max_model_len": context,
        "capabilities": {"vision": sees},
        "foretoken": {
            "loaded": info.is_some(),
            "format": format,
            "tools": info.as_ref().map(|info| info.tools),
            "mtp": info.as_ref().map(|info| &info.mtp),
            "draft_model": info.as_ref().and_then(|info| info.draft_model.as_ref()).map(|draft| &draft.name),
            "tuned_depth": model.tuned.map(|tuned| tuned.depth),
            "speed_up": model.tuned.map(|tuned| rounded(tuned.speed_up)),
        },
    })
}

/// A moment in UTC as RFC 3339 writes it.
fn rfc3339(seconds: u64) -> String {
    let moment = jiff::Timestamp::from_second(seconds.try_into().unwrap_or(i64::MAX)).unwrap_or_default();
    moment.to_string()
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::KvPrecision;

    use super::*;

    #[test]
    fn what_drafts_bring_is_told_as_it_was_measured() {
        let tuned = |tokens_per_second: &[f64], best_depth| {
            Tuned::of(&Tuning {
                tokens_per_second: tokens_per_second.to_vec(),
                best_depth,
                kv_precision: KvPrecision::Full,
                draft_vocabulary: None,
                strained: false,
                measured_at: 0,
            })
        };
        assert_eq!(tuned(&[10.0, 14.0, 16.0, 15.0], 2), Some(Tuned { depth: 2, speed_up: 1.6 }));
        assert_eq!(tuned(&[10.0, 9.0], 0), Some(Tuned { depth: 0, speed_up: 1.0 }));
        for nothing in [&[][..], &[10.0], &[0.0, 5.0]] {
            assert_eq!(tuned(nothing, 1), None, "{nothing:?}");
        }
    }
}
